/* jepsen_json.c: Jepsen's other models in JSON: bank, counter, set, register,
 * mutex, queue, long-fork.  The mapping is in jepsen_models.c; this is the
 * notation.
 *
 * There is no exporter: a history does not say which model it came from.
 */
#include "formats/formats_all.h"
#include "formats/jepsen_models.h"

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    return hf_jepsen_models_import(in, b, true, err);
}

static int detect(const hf_input *in)
{
    return hf_jepsen_models_detect(in, true);
}

const hf_format hf_format_jepsen_json = {
    .name = "jepsen-json",
    .summary = "Jepsen: bank, counter, set, register, mutex, queue, JSON",
    .extension = ".json",
    .detect = detect,
    .import = import,
};

/* elle_json.c: Elle's histories in JSON, as elle-cli reads them.
 *
 *     {"index":1,"type":"ok","process":0,"f":"txn",
 *      "value":[["r","x",[3]],["append","y",1]]}
 *
 * One array of objects, or one object a line.  Everything is in elle.c and
 * jepsen.c; this is the notation.
 */
#include "formats/elle.h"

#include "formats/formats_all.h"

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    hf_status st;
    hf_elle e;

    hf_elle_init(&e, in, b, true, err);
    st = hf_jepsen_import(&e.j);
    hf_elle_release(&e);
    return st;
}

static int detect(const hf_input *in)
{
    hf_jepsen_look look = hf_jepsen_look_at(in, true, false);

    if (look.elle == 0 || look.other > 0 || look.viper > 0)
        return look.events > 0 && look.elle > look.other + look.viper ? 40 : 0;
    return 95;
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    return hf_elle_export(h, out, true, err);
}

const hf_format hf_format_elle_json = {
    .name = "elle-json",
    .summary = "elle-cli: transactions of registers or lists, JSON",
    .extension = ".json",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

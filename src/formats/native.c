/* native.c: our own two forms, as rows of the table of formats. */
#include "formats/formats_all.h"

#include <string.h>

#include "base/json_in.h"
#include "history/binary.h"
#include "history/text.h"

/* ---- text ---------------------------------------------------------------- */

/* The first line is an object with a field that only our lines have. */
static int detect_text(const hf_input *in)
{
    static const char *const fields[] = {"holdfast", "ops", "initial", "order",
                                         "serial"};
    size_t length = in->length < 65536 ? in->length : 65536;
    int sure = 0;
    hf_json_in j;
    hf_str key;

    hf_json_in_init(&j, in->text, length);
    if (hf_json_in_peek(&j) == '{' && hf_json_in_open(&j, '{'))
        while (sure == 0 && hf_json_in_next_key(&j, &key)) {
            for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
                if (hf_str_eq(key, hf_str_of(fields[i])))
                    sure = i == 0 ? 100 : 90;
            if (hf_str_eq(key, HF_STR("tid"))) {
                sure = 0; /* a line of another format with "ops" */
                break;
            }
            (void)hf_json_in_skip(&j, NULL);
        }
    hf_json_in_release(&j);
    return sure;
}

static hf_status import_text(const hf_input *in, hf_builder *b, hf_error *err)
{
    return hf_text_read(in->text, in->length, b, err);
}

static hf_status export_text(const hf_history *h, hf_out *out, hf_error *err)
{
    (void)err;
    hf_text_write(h, out);
    return HF_OK;
}

const hf_format hf_format_text = {
    .name = "jsonl",
    .summary = "holdfast's own text form, JSON Lines",
    .extension = ".jsonl",
    .detect = detect_text,
    .import = import_text,
    .export_ = export_text,
};

/* ---- binary -------------------------------------------------------------- */

static int detect_binary(const hf_input *in)
{
    return in->length >= HF_BINARY_MAGIC_LENGTH &&
                   memcmp(in->text, HF_BINARY_MAGIC, HF_BINARY_MAGIC_LENGTH) ==
                       0
               ? 100
               : 0;
}

static hf_status load_binary(const hf_input *in, hf_history **ret_h,
                             hf_error *err)
{
    return hf_binary_read(in->text, in->length, in->budget, ret_h, err);
}

static hf_status export_binary(const hf_history *h, hf_out *out, hf_error *err)
{
    (void)err;
    hf_binary_write(h, out);
    return HF_OK;
}

const hf_format hf_format_binary = {
    .name = "binary",
    .summary = "holdfast's own binary form: checksummed, fast to load",
    .extension = ".hf",
    .detect = detect_binary,
    .load = load_binary,
    .export_ = export_binary,
};

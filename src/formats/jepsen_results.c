/* jepsen_results.c: Jepsen's results.edn, which is no history.
 *
 * It is what a checker said about a history: a map with :valid? and a map for
 * each part of the test.  It has the name and the notation of a history, so
 * it is recognized, in order to say what it is, and refused.
 */
#include "formats/formats_all.h"
#include "formats/edn.h"

#define LOOK_BYTES ((size_t)64 << 10)
#define LOOK_KEYS 1000

/* The keys of the outermost map: `valid` if :valid? is among them or in a map
 * inside, `event` if it looks like an event. */
static void look_at(const hf_input *in, bool *valid, bool *event)
{
    size_t length = in->length < LOOK_BYTES ? in->length : LOOK_BYTES;
    hf_edn_kind kind;
    hf_str key;
    hf_edn e;

    hf_edn_init(&e, in->text, length);
    if (hf_edn_peek(&e) == HF_EDN_MAP && hf_edn_open(&e, HF_EDN_MAP))
        for (int i = 0; i < LOOK_KEYS && hf_edn_next(&e); i++) {
            kind = hf_edn_peek(&e);
            if (kind != HF_EDN_KEYWORD || !hf_edn_name(&e, &key))
                break;
            if (hf_str_eq(key, HF_STR("valid?")))
                *valid = true;
            if (hf_str_eq(key, HF_STR("type")) ||
                hf_str_eq(key, HF_STR("process")))
                *event = true;
            if (hf_edn_peek(&e) == HF_EDN_MAP && hf_edn_open(&e, HF_EDN_MAP)) {
                if (hf_edn_peek(&e) == HF_EDN_KEYWORD &&
                    hf_edn_name(&e, &key) && hf_str_eq(key, HF_STR("valid?")))
                    *valid = true;
                break; /* one look inside is enough */
            }
            if (!hf_edn_skip(&e, NULL))
                break;
        }
    hf_edn_release(&e);
}

/* The words results.edn uses, in case its first key is a large map. */
static bool has_word(const hf_input *in)
{
    static const char word[] = ":valid? ";
    size_t length = in->length < LOOK_BYTES ? in->length : LOOK_BYTES;

    for (size_t i = 0; i + sizeof(word) - 1 <= length; i++)
        if (memcmp(in->text + i, word, sizeof(word) - 1) == 0)
            return true;
    return false;
}

static int detect(const hf_input *in)
{
    bool valid = false, event = false;
    size_t i = 0;

    if (in->is_directory)
        return 0;
    while (i < in->length && (unsigned char)in->text[i] <= ' ')
        i++;
    if (i == in->length || in->text[i] != '{')
        return 0;
    look_at(in, &valid, &event);
    if (event)
        return 0;
    return valid ? 90 : has_word(in) ? 50 : 0;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    (void)in;
    (void)b;
    return hf_fail(err, HF_ERR_INPUT,
                   "this is a result of Jepsen (results.edn), not a history; "
                   "give the history.edn beside it");
}

const hf_format hf_format_jepsen_results = {
    .name = "jepsen-results-edn",
    .summary = "Jepsen's results.edn: recognized and refused",
    .extension = ".edn",
    .detect = detect,
    .import = import,
};

/* formats_util.h: what the tests of importers and exporters share.
 *
 * Include after cmocka.h and its friends.
 */
#ifndef HF_FORMATS_UTIL_H
#define HF_FORMATS_UTIL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/format.h"
#include "history/history.h"

static inline const hf_format *format_named(const char *name)
{
    const hf_format *format = hf_format_find(hf_str_of(name));

    assert_non_null(format);
    return format;
}

/* Imports text held in memory.  The text is copied to a block of exactly its
 * size, so that a sanitizer sees every read beyond it. */
static inline hf_status import_bytes(const char *name, const char *text,
                                     size_t length, hf_history **ret_h,
                                     hf_error *err)
{
    char *copy = malloc(length ? length : 1);
    hf_input in = {.path = "test", .text = copy, .length = length};
    hf_status st;

    assert_non_null(copy);
    memcpy(copy, text, length);
    *err = (hf_error){.line = HF_NO_PLACE, .byte = HF_NO_PLACE};
    st = hf_import_history(&in, name ? format_named(name) : NULL, ret_h, err);
    free(copy);
    return st;
}

static inline hf_history *import_good(const char *name, const char *text,
                                      size_t length)
{
    hf_history *h = NULL;
    hf_error err;

    if (import_bytes(name, text, length, &h, &err) != HF_OK)
        fail_msg("%s: %s", name ? name : "any format", err.text);
    return h;
}

static inline hf_history *import_text(const char *name, const char *text)
{
    return import_good(name, text, strlen(text));
}

/* Exports into memory; the caller releases. */
static inline hf_status export_memory(const char *name, const hf_history *h,
                                      hf_out *out, hf_error *err)
{
    hf_out_init_memory(out);
    return format_named(name)->export_(h, out, err);
}

static inline hf_history *round_trip(const char *name, const hf_history *h)
{
    hf_history *again;
    hf_error err;
    hf_out out;

    if (export_memory(name, h, &out, &err) != HF_OK)
        fail_msg("%s: %s", name, err.text);
    again = import_good(name, out.at ? out.at : "", out.n);
    hf_out_release(&out);
    return again;
}

/* ---- looking at operations ---------------------------------------------- */

/* The value of an operation as text: "nil", "5", "[1 2]", "?" if it was not
 * recorded; followed by "*" if reading it is reading the initial version. */
static inline void value_text(const hf_history *h, hf_op_id op, char *text,
                              size_t size)
{
    hf_value_id v = h->op_value[op];
    hf_scalar s;

    if (v == HF_NONE) {
        (void)snprintf(text, size, "?");
        return;
    }
    s = hf_value_scalar(h, v);
    if (s.type == HF_NIL) {
        (void)snprintf(text, size, "nil");
    } else if (s.type == HF_LIST) {
        hf_value_id items[64];
        uint32_t n = hf_list_items(h, v, NULL);
        size_t used = 1;

        assert_true(n <= 64);
        (void)hf_list_items(h, v, items);
        text[0] = '[';
        for (uint32_t i = 0; i < n; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%lld",
                                     i > 0 ? " " : "",
                                     (long long)h->value_data[items[i]]);
        (void)snprintf(text + used, size - used, "]");
    } else if (s.type == HF_INT) {
        (void)snprintf(text, size, "%lld", (long long)s.number);
    } else {
        (void)snprintf(text, size, "\"%.*s\"", (int)s.length, s.text);
    }
}

/* One line a transaction: "s0 committed: read 1 0* | write 2 5\n".  If
 * `alike`, every initial value is written "*", whatever a format calls it. */
static inline char *history_text(const hf_history *h, bool alike)
{
    hf_out out;
    char *text;

    hf_out_init_memory(&out);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_out_format(&out, "s%u %s:", h->txn_session[t],
                      hf_outcome_name((hf_outcome)h->txn_outcome[t]));
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_op_kind kind = hf_op_kind_of(h, op);
            hf_scalar key = hf_key_scalar(h, h->op_key[op]);
            bool initial =
                hf_op_reads_item(kind) && h->op_value[op] != HF_NONE &&
                hf_value_is_initial(h, h->op_key[op], h->op_value[op]);
            char value[600];

            value_text(h, op, value, sizeof(value));
            hf_out_format(&out, "%s %s ", op > h->op_first[t] ? " |" : "",
                          hf_op_kind_name(kind));
            if (h->key_table && h->key_table[h->op_key[op]] != HF_NONE) {
                hf_str table = hf_string(h, h->key_table[h->op_key[op]]);

                hf_out_format(&out, "%.*s.", (int)table.len, table.ptr);
            }
            if (key.type == HF_INT)
                hf_out_int(&out, key.number);
            else
                hf_out_bytes(&out, key.text, key.length);
            hf_out_format(&out, " %s%s", initial && alike ? "" : value,
                          initial ? "*" : "");
        }
        hf_out_char(&out, '\n');
    }
    hf_out_char(&out, '\0');
    text = strdup(out.at);
    hf_out_release(&out);
    assert_non_null(text);
    return text;
}

static inline void assert_history(const hf_history *h, const char *wanted)
{
    char *text = history_text(h, false);

    assert_string_equal(text, wanted);
    free(text);
}

static inline void assert_same_history(const hf_history *a, const hf_history *b)
{
    char *wanted = history_text(a, true), *text = history_text(b, true);

    assert_string_equal(text, wanted);
    free(text);
    free(wanted);
}

#endif

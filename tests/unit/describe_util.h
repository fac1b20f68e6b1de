/* describe_util.h: a history as text, with everything these tests look at.
 *
 * One line a transaction:
 *
 *     NAME OUTCOME [BEGIN END] LEVEL: OPERATION | OPERATION
 *
 * Include after formats_util.h.
 */
#ifndef HF_DESCRIBE_UTIL_H
#define HF_DESCRIBE_UTIL_H

#include "history/extra.h"
#include "model/level.h"

static inline void put_time(hf_out *out, uint64_t time)
{
    if (time == HF_TIME_NONE)
        hf_out_char(out, '-');
    else
        hf_out_uint(out, time);
}

static inline void put_scalar(hf_out *out, hf_scalar s)
{
    if (s.type == HF_NIL)
        hf_out_text(out, "nil");
    else if (s.type == HF_INT || s.type == HF_BOOL)
        hf_out_int(out, s.number);
    else
        hf_out_bytes(out, s.text, s.length);
}

static inline void put_predicate(hf_out *out, const hf_history *h, hf_op_id op)
{
    hf_predicate p = hf_op_predicate(h, op);

    if (p.table != HF_NONE) {
        hf_out_str(out, hf_string(h, p.table));
        hf_out_char(out, ' ');
    }
    hf_out_char(out, '(');
    hf_out_str(out, hf_string(h, p.condition));
    hf_out_char(out, ')');
    if (!p.has_result_set)
        hf_out_text(out, " ?");
    for (uint32_t i = 0; i < p.n_results; i++) {
        hf_value_id v = p.results[i].value;

        hf_out_char(out, ' ');
        put_scalar(out, hf_key_scalar(h, h->value_key[v]));
        hf_out_char(out, '=');
        put_scalar(out, hf_value_scalar(h, v));
    }
}

static inline void put_sql(hf_out *out, const hf_history *h, hf_txn_id t,
                           hf_op_id op)
{
    hf_sql s = hf_op_sql(h, op);
    uint64_t start, end;

    hf_out_str(out, hf_string(h, s.text));
    if (hf_op_interval(h, t, op, &start, &end)) {
        hf_out_text(out, " @");
        put_time(out, start);
        hf_out_char(out, '-');
        put_time(out, end);
    }
    for (uint32_t i = 0; s.has_rows && i < s.n_columns; i++) {
        hf_out_text(out, i == 0 ? " {" : ",");
        hf_out_str(out, hf_string(h, s.names[i]));
    }
    for (uint32_t i = 0; s.has_rows && i < s.n_rows * s.n_columns; i++) {
        hf_out_text(out, i % s.n_columns == 0 ? "; " : ",");
        put_scalar(out, hf_extra_scalar(h, s.cells + 3 * (size_t)i));
    }
    if (s.has_rows)
        hf_out_char(out, '}');
}

static inline void put_operation(hf_out *out, const hf_history *h, hf_txn_id t,
                                 hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    char value[600];

    hf_out_format(out, "%s ", hf_op_kind_name(kind));
    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        hf_out_text(out, "FAILED ");
    if (kind == HF_OP_SQL) {
        put_sql(out, h, t, op);
    } else if (hf_op_has_predicate(kind)) {
        put_predicate(out, h, op);
    } else {
        if (h->key_table && h->key_table[h->op_key[op]] != HF_NONE) {
            hf_out_str(out, hf_string(h, h->key_table[h->op_key[op]]));
            hf_out_char(out, '.');
        }
        put_scalar(out, hf_key_scalar(h, h->op_key[op]));
        hf_out_char(out, ' ');
        if (kind == HF_OP_INCREMENT) {
            hf_out_int(out, hf_op_increment(h, op).amount);
        } else {
            value_text(h, op, value, sizeof(value));
            hf_out_text(out, value);
        }
    }
}

/* The caller frees. */
static inline char *describe(const hf_history *h)
{
    hf_out out;
    char *text;

    hf_out_init_memory(&out);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_string_id name = h->session_name[h->txn_session[t]];

        if (name == HF_NONE)
            hf_out_format(&out, "#%u", h->txn_session[t]);
        else
            hf_out_str(&out, hf_string(h, name));
        hf_out_format(&out, " %s [",
                      hf_outcome_name((hf_outcome)h->txn_outcome[t]));
        put_time(&out, hf_txn_begin_time(h, t));
        hf_out_char(&out, ' ');
        put_time(&out, hf_txn_end_time(h, t));
        hf_out_char(&out, ']');
        if (h->txn_level && h->txn_level[t] != HF_LEVEL_UNSET)
            hf_out_format(&out, " %s",
                          hf_level_get((hf_level)h->txn_level[t])->short_name);
        hf_out_char(&out, ':');
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_out_text(&out, op > h->op_first[t] ? " | " : " ");
            put_operation(&out, h, t, op);
        }
        hf_out_char(&out, '\n');
    }
    hf_out_char(&out, '\0');
    text = strdup(out.at);
    hf_out_release(&out);
    assert_non_null(text);
    return text;
}

/* Imports and compares; the format is found by content and must be `name`. */
static inline hf_history *assert_described(const char *name, const char *text,
                                           const char *wanted)
{
    hf_input in = {.path = "test", .text = text, .length = strlen(text)};
    const hf_format *found = hf_format_detect(&in);
    hf_history *h = import_text(name, text);
    char *got = describe(h);

    assert_non_null(found);
    assert_string_equal(found->name, name);
    assert_string_equal(got, wanted);
    free(got);
    return h;
}

/* The import fails at the line (0: no line) with `message` in its text. */
static inline void assert_refused_at(const char *name, const char *text,
                                     uint64_t line, const char *message)
{
    hf_history *h = NULL;
    hf_error err;

    if (import_bytes(name, text, strlen(text), &h, &err) == HF_OK)
        fail_msg("%s was accepted, wanted: %s", name, message);
    if (!strstr(err.text, message))
        fail_msg("%s: %s; wanted: %s", name, err.text, message);
    assert_null(strchr(err.text, '\n'));
    if (line > 0)
        assert_int_equal(err.line, line);
    else
        assert_true(err.line == HF_NO_PLACE);
}

/* Cut off anywhere, an input is refused or read, never worse. */
static inline size_t import_all_prefixes(const char *name, const char *text)
{
    size_t accepted = 0;

    for (size_t n = 0; n <= strlen(text); n++) {
        hf_history *h = NULL;
        hf_error err;

        if (import_bytes(name, text, n, &h, &err) == HF_OK)
            accepted++;
        else
            assert_true(err.text[0] != '\0');
        hf_history_free(h);
    }
    return accepted;
}

#endif

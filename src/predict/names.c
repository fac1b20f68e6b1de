/* names.c: results by which a transaction names the rows that it inserts.
 *
 * A value of the result is (a part of) the key of a row that is inserted later,
 * as the next number of an order is.  With another result it would insert
 * another row.  Told by equality of values, so this alone is for preferences.
 *
 * More is known if somebody else was seen to get that other result: u asked the
 * same statement with the same parameters of the version in question, and went
 * on to insert, by the same statement as t does, the row whose key has u's
 * value where t's has its own.  If t reads that version it inserts the very
 * row that u inserts, and a database refuses the second of them.  Only rows
 * that nobody else writes.
 *
 * O(statements with results, times the rows that are inserted later, times
 * cells), and for each source of a read that names one such comparison.
 */
#include "predict/events.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parts of keys ------------------------------------------------------- */

typedef struct parts {
    char digits[24];
    hf_str text; /* the key, or its parts with ":" between */
} parts;

static void parts_of(parts *p, hf_scalar key)
{
    p->text = (hf_str){key.text, key.length};
    if (key.type == HF_INT || !key.text)
        p->text = (hf_str){p->digits,
                           (size_t)snprintf(p->digits, sizeof p->digits, "%lld",
                                            (long long)key.number)};
}

/* The part that begins at *at, which moves on; false: there is none. */
static bool next_part(hf_str text, size_t *at, hf_str *ret)
{
    size_t end = *at;

    if (*at > text.len)
        return false;
    while (end < text.len && text.ptr[end] != ':')
        end++;
    *ret = (hf_str){text.ptr + *at, end - *at};
    *at = end + 1;
    return true;
}

static bool is_value(hf_str part, hf_scalar cell)
{
    parts c;

    if (cell.type != HF_INT && !cell.text)
        return false;
    parts_of(&c, cell);
    return hf_str_eq(part, c.text);
}

/* ---- statements ---------------------------------------------------------- */

static hf_scalar cell_of(const hf_history *h, const hf_sql *q, uint32_t i)
{
    return hf_extra_scalar(h, q->cells + (size_t)3 * i);
}

static bool is_param(const hf_history *h, const hf_sql *q, hf_str part)
{
    for (uint32_t i = 0; i < q->n_params; i++)
        if (is_value(part, hf_extra_scalar(h, q->params + (size_t)3 * i)))
            return true;
    return false;
}

/* Is the part a value of the result, and no parameter? */
static bool is_from(const hf_history *h, const hf_sql *q, hf_str part)
{
    for (uint32_t i = 0; i < q->n_rows * q->n_columns; i++)
        if (is_value(part, cell_of(h, q, i)))
            return !is_param(h, q, part);
    return false;
}

/* The statement that an operation inserts a row by; HF_NONE: none. */
static hf_op_id insert_of(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    hf_op_id sql = op;
    hf_str text;

    if (!hf_op_installs(hf_op_kind_of(h, op)))
        return HF_NONE;
    while (sql > h->op_first[t] && hf_op_kind_of(h, sql) != HF_OP_SQL)
        sql--;
    if (hf_op_kind_of(h, sql) != HF_OP_SQL)
        return HF_NONE;
    text = hf_string(h, hf_op_sql(h, sql).text);
    return text.len > 6 && strncasecmp(text.ptr, "insert", 6) == 0 ? sql
                                                                   : HF_NONE;
}

static bool has_part_from(const hf_history *h, const hf_sql *q, hf_key_id key)
{
    size_t at = 0;
    hf_str part;
    parts p;

    parts_of(&p, hf_key_scalar(h, key));
    while (next_part(p.text, &at, &part))
        if (is_from(h, q, part))
            return true;
    return false;
}

bool hf_names_rows(const hf_history *h, hf_txn_id t, hf_op_id sql)
{
    hf_sql q = hf_op_sql(h, sql);

    for (hf_op_id op = sql + 1; op < h->op_first[t + 1]; op++)
        if (insert_of(h, t, op) != HF_NONE &&
            has_part_from(h, &q, h->op_key[op]))
            return true;
    return false;
}

/* ---- the same row -------------------------------------------------------- */

/* Is there a column in which a has the one value and b the other? */
static bool has_column(const hf_history *h, const hf_sql *a, const hf_sql *b,
                       hf_str mine, hf_str other)
{
    for (uint32_t i = 0; i < a->n_rows * a->n_columns; i++)
        if (is_value(mine, cell_of(h, a, i)) &&
            is_value(other, cell_of(h, b, i)))
            return true;
    return false;
}

/* Is the second key the first one, with the values of the second result for
 * those of the first? */
static bool is_renamed(const hf_history *h, const hf_sql *a, hf_key_id mine,
                       const hf_sql *b, hf_key_id other)
{
    size_t i = 0, j = 0;
    bool differs = false, more, more_too;
    parts p, q;
    hf_str x, y;

    parts_of(&p, hf_key_scalar(h, mine));
    parts_of(&q, hf_key_scalar(h, other));
    for (;;) {
        more = next_part(p.text, &i, &x);
        more_too = next_part(q.text, &j, &y);
        if (!more || !more_too)
            return differs && more == more_too;
        if (is_from(h, a, x) ? !has_column(h, a, b, x, y) : !hf_str_eq(x, y))
            return false;
        differs = differs || !hf_str_eq(x, y);
    }
}

static bool is_only_writer(const hf_events *e, hf_key_id key)
{
    return e->write_first[key + 1] - e->write_first[key] == 1;
}

bool hf_names_same(const hf_events *e, hf_op_id mine, hf_op_id other)
{
    const hf_history *h = e->h;
    hf_txn_id t = hf_op_txn(h, mine), u = hf_op_txn(h, other);
    hf_sql a = hf_op_sql(h, mine), b = hf_op_sql(h, other);

    if (t == u || a.n_rows != b.n_rows || a.n_columns != b.n_columns)
        return false;
    for (hf_op_id x = mine + 1; x < h->op_first[t + 1]; x++) {
        hf_op_id by = insert_of(h, t, x);

        if (by == HF_NONE || !has_part_from(h, &a, h->op_key[x]))
            continue;
        for (hf_op_id y = other + 1; y < h->op_first[u + 1]; y++) {
            hf_op_id too = insert_of(h, u, y);

            if (too != HF_NONE &&
                hf_op_sql(h, by).text == hf_op_sql(h, too).text &&
                h->key_table &&
                h->key_table[h->op_key[x]] == h->key_table[h->op_key[y]] &&
                is_only_writer(e, h->op_key[y]) &&
                is_renamed(h, &a, h->op_key[x], &b, h->op_key[y]))
                return true;
        }
    }
    return false;
}

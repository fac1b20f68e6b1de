/* replay_query.c: a predicate operation or an aggregate, at its place.
 *
 * Without a version set, or with a snapshot, the result must be what the
 * condition gives on the rows that are there now: each row returned is
 * compared with the state, and no other row may satisfy the condition, which
 * takes counting only.  A version set that was listed speaks of its keys and
 * no others.  What was recorded of the versions looked at is compared with
 * the state as well (replay_looks.c).
 *
 * O(rows returned), plus a question to replay_rows.c.
 */
#include "check/replay.h"

#include <inttypes.h>

#include "base/error.h"

void hf_replay_cannot_say(hf_replay *p, hf_txn_id t, const hf_rows_condition *c)
{
    hf_str text =
        c->text == HF_NONE ? HF_STR("true") : hf_string(p->h, c->text);
    char name[80];

    hf_replay_undecided(p,
                        "a condition of T%" PRId64 " cannot be evaluated: %s "
                        "(%s)",
                        hf_txn_label(p->h, t),
                        hf_quote(name, sizeof(name), text.ptr, text.len),
                        c->why ? c->why : "for some row");
}

/* Is it a read of a whole value that does not see the own write? */
static bool is_internal(const hf_replay *p, hf_op_id op, hf_key_id key,
                        const hf_op_id *ops)
{
    hf_txn_id t = key == HF_NONE ? HF_NONE : p->cells[key].writer;

    return t != HF_NONE && hf_op_kind_of(p->h, op) == HF_OP_READ &&
           ops[1] != HF_NONE && p->h->op_first[t] <= op &&
           op < p->h->op_first[t + 1] && p->h->txn_outcome[t] == HF_COMMITTED &&
           hf_op_kind_of(p->h, ops[1]) != HF_OP_APPEND;
}

void hf_replay_note_key(hf_replay *p, hf_op_id op, hf_key_id key,
                        hf_value_id seen)
{
    hf_op_id ops[3] = {op, HF_NONE, HF_NONE};
    hf_txn_id writer = key == HF_NONE ? HF_NONE : p->cells[key].writer;

    if (p->count[HF_EXPECTED_STATE] <
        (p->options.most ? p->options.most : 100)) {
        if (writer != HF_NONE)
            ops[1] = hf_replay_last_write(
                p->h, writer, key,
                p->h->op_first[writer] <= op && op < p->h->op_first[writer + 1]
                    ? op
                    : HF_NONE);
        if (seen != HF_NONE)
            ops[2] = hf_replay_explain(p, seen);
        if (ops[2] == ops[1])
            ops[2] = HF_NONE;
    }
    if (is_internal(p, op, key, ops)) /* own write, read */
        hf_replay_note(p, HF_INTERNAL, (hf_op_id[]){ops[1], op}, 2);
    else
        hf_replay_note(p, HF_EXPECTED_STATE, ops, 3);
}

bool hf_replay_rows_twice(hf_replay *p, hf_op_id op, const hf_predicate *q)
{
    hf_replay_rows *rows = p->rows;
    bool twice = false;

    for (uint32_t i = 0; i < q->n_results; i++) {
        hf_key_id key = p->h->value_key[q->results[i].value];

        if (rows->row_stamp[key] == op) {
            twice |= rows->row_value[key] != q->results[i].value;
            continue;
        }
        rows->row_stamp[key] = op;
        rows->row_value[key] = q->results[i].value;
        rows->row_at[key] = i;
    }
    return twice;
}

/* ---- the whole table ----------------------------------------------------- */

typedef struct search {
    const hf_replay_rows *rows;
    hf_op_id op;
    hf_key_id found;
} search;

static bool is_returned(void *user, hf_key_id key)
{
    search *s = user;

    if (s->rows->row_stamp[key] == s->op)
        return true;
    s->found = key;
    return false;
}

static bool is_writer(const hf_replay *p, const hf_version_ref *row)
{
    hf_txn_id now = p->cells[p->h->value_key[row->value]].writer;

    if (row->writer == HF_NONE)
        return true;
    return row->writer == HF_WRITER_INITIAL ? now == HF_NONE
                                            : row->writer == now;
}

/* One row against the state and the condition; false: it was noted. */
static bool row_fits(hf_replay *p, hf_txn_id t, hf_op_id op,
                     const hf_rows_condition *c, const hf_version_ref *row)
{
    hf_key_id key = p->h->value_key[row->value];
    hf_sql_truth truth;

    if (p->cells[key].value == HF_REPLAY_OPEN) {
        hf_replay_undecided(p,
                            "T%" PRId64 " reads a key whose value is not "
                            "known after an increment",
                            hf_txn_label(p->h, t));
        return false;
    }
    if (hf_replay_is_nil(p->h, row->value)) {
        hf_replay_note(p, HF_RESULT_SET_MISMATCH, &op, 1);
        return false;
    }
    truth = p->rows->table_of[key] == c->table
                ? hf_rows_test(p->rows, c, row->value)
                : HF_SQL_ERROR;
    if (truth == HF_SQL_ERROR)
        hf_replay_cannot_say(p, t, c);
    if (truth == HF_SQL_FALSE || truth == HF_SQL_UNKNOWN) {
        hf_replay_note(p, HF_RESULT_SET_MISMATCH, &op, 1);
        return false;
    }
    if (!hf_replay_same(p->h, p->cells[key].value, row->value) ||
        !is_writer(p, row)) {
        hf_replay_note_key(p, op, key, row->value);
        return false;
    }
    return truth != HF_SQL_ERROR;
}

static uint32_t distinct_rows(const hf_predicate *q)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < q->n_results; i++) {
        uint32_t j = 0;

        while (j < i && q->results[j].value != q->results[i].value)
            j++;
        n += j == i;
    }
    return n;
}

static void compare_rows(hf_replay *p, hf_txn_id t, hf_op_id op,
                         const hf_predicate *q, hf_rows_condition *c)
{
    search s = {.rows = p->rows, .op = op, .found = HF_NONE};
    hf_rows_answer a;

    for (uint32_t i = 0; i < q->n_results; i++)
        if (!row_fits(p, t, op, c, &q->results[i]))
            return;
    a = hf_rows_ask(p->rows, c, HF_NONE);
    if (a.n == q->n_results && !a.unsaid)
        return;
    if (a.n != q->n_results && a.n != distinct_rows(q)) {
        hf_rows_each(p->rows, c, is_returned, &s);
        HF_ASSERT(s.found != HF_NONE);
        hf_replay_note_key(p, op, s.found, HF_NONE);
    } else if (a.unsaid) {
        hf_replay_cannot_say(p, t, c);
    }
}

/* The row that has the least or the greatest value. */
typedef struct extreme {
    const hf_replay_rows *rows;
    const hf_rows_table *table;
    uint32_t column, rank;
    hf_key_id found;
} extreme;

static bool is_not_extreme(void *user, hf_key_id key)
{
    extreme *x = user;
    const hf_ranked *k = &x->table->columns.at[x->column];
    hf_value_id value = x->table->now[x->rows->key_local[key]];

    if (k->rank[x->rows->local[value]] != x->rank)
        return true;
    x->found = key;
    return false;
}

static hf_key_id key_of_extreme(hf_replay *p, hf_rows_condition *c,
                                hf_op_kind kind, const hf_rows_answer *a)
{
    extreme x = {.rows = p->rows,
                 .table = &p->rows->tables.at[c->table],
                 .column = a->total.column,
                 .rank = kind == HF_OP_MIN ? a->least : a->most,
                 .found = HF_NONE};

    if ((kind == HF_OP_MIN || kind == HF_OP_MAX) && x.rank != HF_NONE)
        hf_rows_each(p->rows, c, is_not_extreme, &x);
    return x.found;
}

static void compare_total(hf_replay *p, hf_txn_id t, hf_op_id op,
                          const hf_predicate *q, hf_rows_condition *c)
{
    hf_op_kind kind = hf_op_kind_of(p->h, op);
    uint32_t column = hf_rows_column_of(p->rows, c->table, kind, q);
    hf_rows_answer a = hf_rows_ask(p->rows, c, column);

    switch (hf_rows_result_fits(p->rows, c->table, kind, q, &a)) {
    case HF_SQL_TRUE:
        break;
    case HF_SQL_ERROR:
        hf_replay_undecided(p,
                            "an aggregate of T%" PRId64 " cannot be computed "
                            "exactly",
                            hf_txn_label(p->h, t));
        break;
    default:
        hf_replay_note_key(p, op, key_of_extreme(p, c, kind, &a), HF_NONE);
    }
}

void hf_replay_query(hf_replay *p, hf_txn_id t, hf_op_id op)
{
    hf_predicate q = hf_op_predicate(p->h, op);
    hf_rows_condition *c = hf_rows_condition_of(p->rows, &q);
    bool aggregate = hf_op_is_aggregate(hf_op_kind_of(p->h, op));
    uint64_t noted = p->noted;
    hf_key_id key;

    if (!aggregate && hf_replay_rows_twice(p, op, &q)) {
        hf_replay_note(p, HF_TWO_VERSIONS, &op, 1);
        return;
    }
    if (!hf_rows_is_known(c)) {
        hf_replay_cannot_say(p, t, c);
        return;
    }
    if (p->rows->tables.at[c->table].odd) {
        hf_replay_undecided(p,
                            "T%" PRId64 " has a condition on a table with "
                            "lists, or values that are not known",
                            hf_txn_label(p->h, t));
        return;
    }
    if (q.has_version_set) {
        hf_replay_look_listed(p, t, op, &q, c);
        return;
    }
    if (q.has_result_set && aggregate)
        compare_total(p, t, op, &q, c);
    else if (q.has_result_set)
        compare_rows(p, t, op, &q, c);
    if (q.snapshot == HF_SNAPSHOT_NONE || p->noted != noted)
        return;
    key = hf_replay_look_snapshot(p, t, op, &q, c);
    if (key != HF_NONE)
        hf_replay_note_key(p, op, key, HF_NONE);
}

/* replay_looks.c: what an operation says it looked at, against the state.
 *
 * An entry of a version set is in order if it is the version that the state
 * has; or if it was not returned, and from the one to the other, both
 * included, no version of the key satisfies the condition: then nothing that
 * the condition asks about changed in between.  Here are listed sets, gone
 * through entry by entry, and what is wrong with the sets of an operation by
 * themselves; snapshots are in replay_snapshots.c.
 *
 * O(entries), and the versions in between for those that differ.
 */
#include "check/replay.h"

#include <inttypes.h>

#include "base/error.h"

/* ---- one key ------------------------------------------------------------- */

bool hf_replay_is_quiet(hf_replay *p, const hf_rows_condition *c,
                        const hf_replay_version *at, uint32_t a, uint32_t b)
{
    uint32_t last = a < b ? b : a;

    for (uint32_t i = a < b ? a : b; i <= last; i++) {
        hf_sql_truth truth;

        if (hf_replay_is_nil(p->h, at[i].value))
            continue;
        if (at[i].value == HF_REPLAY_OPEN)
            return false;
        truth = hf_rows_test(p->rows, c, at[i].value);
        if (truth == HF_SQL_TRUE)
            return false;
        if (truth == HF_SQL_ERROR)
            hf_replay_undecided(p, HF_REPLAY_BETWEEN);
    }
    return true;
}

/* ---- listed sets --------------------------------------------------------- */

typedef struct look {
    hf_replay *p;
    hf_txn_id t;
    hf_op_id op;
    const hf_predicate *q;
    hf_rows_condition *c;
    bool aggregate;
    hf_rows_answer answer;
} look;

static bool is_current(const look *x, const hf_version_ref *e, hf_key_id key)
{
    const hf_replay_cell *now = &x->p->cells[key];

    if (!hf_replay_same(x->p->h, now->value, e->value))
        return false;
    if (e->writer == HF_NONE)
        return true;
    return e->writer == HF_WRITER_INITIAL ? now->writer == HF_NONE
                                          : e->writer == now->writer;
}

/* Is it some version of the key from which nothing changed? */
static bool is_harmless(const look *x, const hf_version_ref *e, hf_key_id key)
{
    hf_replay *p = x->p;
    const hf_replay_version *at;
    uint32_t n = hf_replay_versions_of(p, key, &at);
    uint32_t now = hf_replay_version_at(at, n, p->order.place[x->t]);

    for (uint32_t i = 0; i < n; i++) {
        if (!hf_replay_same(p->h, at[i].value, e->value))
            continue;
        if (e->writer == HF_WRITER_INITIAL && i > 0)
            continue;
        if (e->writer < HF_WRITER_INITIAL &&
            (i == 0 || p->order.at[at[i].birth - 1] != e->writer))
            continue;
        if (i > 0 && p->order.at[at[i].birth - 1] == x->t)
            continue; /* its own later write */
        if (hf_replay_is_quiet(p, x->c, at, i, now))
            return true;
    }
    return false;
}

/* The entry and the row of the key; false: they do not fit. */
static bool row_agrees(look *x, const hf_version_ref *e, hf_key_id key,
                       bool match)
{
    const hf_replay_rows *rows = x->p->rows;
    bool returned = rows->row_stamp[key] == x->op;

    if (x->aggregate || !x->q->has_result_set)
        return true;
    return returned == match &&
           (!returned ||
            hf_replay_same(x->p->h, rows->row_value[key], e->value));
}

/* False: something is wrong and was noted. */
static bool entry_fits(look *x, const hf_version_ref *e)
{
    hf_replay *p = x->p;
    hf_key_id key = p->h->value_key[e->value];
    hf_sql_truth truth = HF_SQL_FALSE;

    if (p->set_stamp[key] == x->op)
        return true;
    p->set_stamp[key] = x->op;
    if (!hf_replay_is_nil(p->h, e->value))
        truth = p->rows->table_of[key] == x->c->table &&
                        p->h->value_type[e->value] != HF_LIST
                    ? hf_rows_test(p->rows, x->c, e->value)
                    : HF_SQL_ERROR;
    if (truth == HF_SQL_ERROR) {
        x->answer.unsaid = true;
    } else if (!row_agrees(x, e, key, truth == HF_SQL_TRUE)) {
        hf_replay_note(p, HF_RESULT_SET_MISMATCH, &x->op, 1);
        return false;
    }
    if (truth == HF_SQL_TRUE)
        hf_rows_add(p->rows, x->c->table, e->value, &x->answer);
    if (is_current(x, e, key))
        return true;
    if (truth != HF_SQL_TRUE && p->cells[key].writer != x->t &&
        is_harmless(x, e, key))
        return true;
    hf_replay_note_key(p, x->op, key, e->value);
    return false;
}

/* Rows of keys that the set does not list are items. */
static bool row_fits(look *x, const hf_version_ref *row)
{
    hf_replay *p = x->p;
    hf_key_id key = p->h->value_key[row->value];
    hf_sql_truth truth = HF_SQL_FALSE;

    if (p->set_stamp[key] == x->op)
        return true;
    if (!hf_replay_is_nil(p->h, row->value))
        truth = p->rows->table_of[key] == x->c->table
                    ? hf_rows_test(p->rows, x->c, row->value)
                    : HF_SQL_ERROR;
    if (truth == HF_SQL_ERROR) {
        x->answer.unsaid = true;
    } else if (truth != HF_SQL_TRUE) {
        hf_replay_note(p, HF_RESULT_SET_MISMATCH, &x->op, 1);
        return false;
    }
    if (is_current(x, row, key))
        return true;
    hf_replay_note_key(p, x->op, key, row->value);
    return false;
}

/* The aggregate over the entries; they are as in the state. */
static void judge_total(look *x)
{
    hf_op_kind kind = hf_op_kind_of(x->p->h, x->op);

    switch (
        hf_rows_result_fits(x->p->rows, x->c->table, kind, x->q, &x->answer)) {
    case HF_SQL_TRUE:
        break;
    case HF_SQL_ERROR:
        hf_replay_undecided(x->p,
                            "an aggregate of T%" PRId64 " cannot be computed "
                            "exactly",
                            hf_txn_label(x->p->h, x->t));
        break;
    default:
        hf_replay_note(x->p, HF_RESULT_SET_MISMATCH, &x->op, 1);
    }
}

void hf_replay_look_listed(hf_replay *p, hf_txn_id t, hf_op_id op,
                           const hf_predicate *q, hf_rows_condition *c)
{
    hf_op_kind kind = hf_op_kind_of(p->h, op);
    look x = {.p = p, .t = t, .op = op, .q = q, .c = c};
    bool fine = true;

    x.aggregate = hf_op_is_aggregate(kind);
    x.answer = hf_rows_nothing(
        x.aggregate ? hf_rows_column_of(p->rows, c->table, kind, q) : HF_NONE);
    if (!p->set_stamp) {
        p->set_stamp = HF_NEW_ARRAY(hf_op_id, (size_t)p->h->n_keys + 1);
        for (hf_key_id k = 0; k < p->h->n_keys; k++)
            p->set_stamp[k] = HF_NONE;
    }
    for (uint32_t i = 0; i < q->n_versions && fine; i++)
        fine = entry_fits(&x, &q->versions[i]);
    for (uint32_t i = 0; i < q->n_results && fine && !x.aggregate; i++)
        fine = row_fits(&x, &q->results[i]);
    if (!fine)
        return;
    if (x.aggregate && q->has_result_set)
        judge_total(&x);
    else if (x.answer.unsaid)
        hf_replay_cannot_say(p, t, c);
}

/* ---- sets by themselves -------------------------------------------------- */

static hf_sql_truth test(const look *x, hf_value_id value)
{
    const hf_replay_rows *rows = x->p->rows;

    if (hf_replay_is_nil(x->p->h, value))
        return HF_SQL_FALSE;
    if (rows->table_of[x->p->h->value_key[value]] != x->c->table ||
        rows->local[value] == HF_NONE)
        return HF_SQL_ERROR;
    return hf_rows_test(x->p->rows, x->c, value);
}

/* Rows and entries say the same; the result is that of the entries. */
static bool is_consistent(look *x)
{
    for (uint32_t i = 0; i < x->q->n_results && !x->aggregate; i++) {
        hf_sql_truth truth = test(x, x->q->results[i].value);

        if (truth == HF_SQL_FALSE || truth == HF_SQL_UNKNOWN)
            return false;
    }
    for (uint32_t i = 0; i < x->q->n_versions; i++) {
        const hf_version_ref *e = &x->q->versions[i];
        hf_sql_truth truth = test(x, e->value);

        if (truth == HF_SQL_ERROR) {
            x->answer.unsaid = true;
            continue;
        }
        if (!row_agrees(x, e, x->p->h->value_key[e->value],
                        truth == HF_SQL_TRUE))
            return false;
        if (truth == HF_SQL_TRUE)
            hf_rows_add(x->p->rows, x->c->table, e->value, &x->answer);
    }
    if (!x->aggregate || !x->q->has_version_set || !x->q->has_result_set)
        return true;
    return hf_rows_result_fits(x->p->rows, x->c->table,
                               hf_op_kind_of(x->p->h, x->op), x->q,
                               &x->answer) != HF_SQL_FALSE;
}

hf_anomaly hf_replay_set_fault(hf_replay *p, hf_op_id op)
{
    hf_predicate q = hf_op_predicate(p->h, op);
    hf_op_kind kind = hf_op_kind_of(p->h, op);
    look x = {.p = p, .op = op, .q = &q};

    x.c = hf_rows_condition_of(p->rows, &q);
    x.aggregate = hf_op_is_aggregate(kind);
    if (!x.aggregate && hf_replay_rows_twice(p, op, &q))
        return HF_TWO_VERSIONS;
    if (!hf_rows_is_known(x.c))
        return HF_ANOMALY_COUNT;
    x.answer =
        hf_rows_nothing(x.aggregate && q.has_version_set
                            ? hf_rows_column_of(p->rows, x.c->table, kind, &q)
                            : HF_NONE);
    return is_consistent(&x) ? HF_ANOMALY_COUNT : HF_RESULT_SET_MISMATCH;
}

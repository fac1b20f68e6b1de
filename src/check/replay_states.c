/* replay_states.c: which states of the order explain an operation.
 *
 * Crooks' read states: an item read is explained by the states that have its
 * version, from the one that installed it to the next of its key; a predicate
 * operation by the states in which the condition gives what it returned, one
 * state for the whole statement.  What is asked for is the last such state
 * that is not after a given one, for which one seldom goes far: versions of a
 * value are linked, and the rows of a condition are followed back event by
 * event (replay_times.c).
 *
 * Own writes before the operation take the place of what the state has of
 * their keys.
 *
 * O(log versions) for an item; for a condition O(rows returned + events up
 * to the answer); for a list O(its length); O(operations of the transaction)
 * to find own writes.
 */
#include "check/replay.h"

#include <inttypes.h>

#include "base/error.h"

typedef struct quest {
    hf_replay *p;
    hf_txn_id t;
    hf_op_id op;
    hf_op_kind kind;
    uint32_t least, most;
    hf_predicate q;
    hf_rows_condition *c;
} quest;

bool hf_replay_looks(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (h->op_kind[op] & HF_OP_FAILED)
        return false;
    if (hf_op_reads_item(kind))
        return h->op_value[op] != HF_NONE;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).has_result;
    return hf_op_has_predicate(kind);
}

/* ---- items --------------------------------------------------------------- */

/* The last state that has a version of the key with this value. */
static uint32_t state_of_value(const quest *x, hf_key_id key, hf_value_id value)
{
    const hf_replay_version *at;
    uint32_t n = hf_replay_versions_of(x->p, key, &at), i = HF_NONE;

    while ((i = hf_replay_candidate(x->p, key, value, i)) != HF_NONE) {
        uint32_t last = i + 1 < n ? at[i + 1].birth - 1 : UINT32_MAX;

        if (last < x->least)
            return HF_NONE; /* and so are all before it */
        if (at[i].birth <= x->most)
            return last < x->most ? last : x->most;
    }
    return HF_NONE;
}

static uint32_t item_state(const quest *x, hf_key_id key, hf_value_id value)
{
    const hf_history *h = x->p->h;
    hf_op_id own = hf_replay_last_write(h, x->t, key, x->op);

    if (own == HF_NONE)
        return state_of_value(x, key, value);
    if (hf_replay_written(h, own) == HF_REPLAY_OPEN)
        return HF_REPLAY_OPEN;
    return hf_replay_same(h, hf_replay_written(h, own), value) ? x->most
                                                               : HF_NONE;
}

/* ---- lists --------------------------------------------------------------- */

/* The list without own elements at its end; false if it does not end so. */
static bool cut_own(const quest *x, hf_value_id *list)
{
    const hf_history *h = x->p->h;

    for (hf_op_id o = x->op; o-- > h->op_first[x->t];) {
        if (h->op_key[o] != h->op_key[x->op] || !hf_replay_writes(h, o))
            continue;
        if (*list == HF_NONE || hf_list_last(h, *list) != h->op_value[o])
            return false;
        *list = hf_list_parent(h, *list);
    }
    return true;
}

/* Takes the elements of the transaction off the end, last first. */
static bool cut_elements(const quest *x, hf_txn_id u, hf_value_id *list)
{
    const hf_history *h = x->p->h;

    for (hf_op_id o = h->op_first[u + 1]; o-- > h->op_first[u];) {
        if (h->op_key[o] != h->op_key[x->op] || !hf_replay_writes(h, o))
            continue;
        if (*list == HF_NONE || hf_list_last(h, *list) != h->op_value[o])
            return false;
        *list = hf_list_parent(h, *list);
    }
    return true;
}

/* The list is what the versions up to some state make. */
static uint32_t list_state(const quest *x)
{
    hf_replay *p = x->p;
    const hf_history *h = p->h;
    hf_value_id list = h->op_value[x->op], rest;
    const hf_replay_version *at;
    uint32_t n, i, last;

    if (h->value_type[list] != HF_LIST)
        list = HF_NONE;
    if (!cut_own(x, &list))
        return HF_NONE;
    n = hf_replay_versions_of(p, h->op_key[x->op], &at);
    if (at[0].value != HF_NONE)
        return HF_REPLAY_OPEN;
    /* the version whose last element ends the list */
    for (i = list == HF_NONE
                 ? 0
                 : hf_replay_candidate(p, h->op_key[x->op],
                                       hf_list_last(h, list), HF_NONE);
         i != HF_NONE; i = hf_replay_candidate(p, h->op_key[x->op],
                                               hf_list_last(h, list), i)) {
        uint32_t j = i;

        rest = list;
        while (j > 0 && cut_elements(x, p->order.at[at[j].birth - 1], &rest))
            j--;
        if (j == 0 && rest == HF_NONE)
            break;
        if (list == HF_NONE)
            return HF_NONE;
    }
    if (i == HF_NONE)
        return HF_NONE;
    /* own elements stand after all that came before the transaction */
    if (hf_replay_last_write(h, x->t, h->op_key[x->op], x->op) != HF_NONE &&
        i != hf_replay_version_at(at, n, p->order.place[x->t]))
        return HF_NONE;
    last = i + 1 < n ? at[i + 1].birth - 1 : UINT32_MAX;
    if (last < x->least || at[i].birth > x->most)
        return HF_NONE;
    return last < x->most ? last : x->most;
}

/* ---- listed version sets ------------------------------------------------- */

static hf_sql_truth test(const quest *x, hf_value_id value)
{
    if (hf_replay_is_nil(x->p->h, value))
        return HF_SQL_FALSE;
    if (value == HF_REPLAY_OPEN || x->p->rows->local[value] == HF_NONE ||
        x->p->rows->table_of[x->p->h->value_key[value]] != x->c->table)
        return HF_SQL_ERROR;
    return hf_rows_test(x->p->rows, x->c, value);
}

/* The last state up to `most` that version i fits: it is there; or, if it was
 * not returned, no version from it on satisfies the condition. */
static uint32_t reach(const quest *x, const hf_replay_version *at, uint32_t n,
                      uint32_t i, bool row)
{
    uint32_t now = hf_replay_version_at(at, n, x->most), j = i;

    if (row)
        return i > now ? HF_NONE : i == now ? x->most : at[i + 1].birth - 1;
    while (j < now) {
        if (test(x, at[++j].value) == HF_SQL_TRUE)
            return at[j].birth - 1;
    }
    while (j > now)
        if (test(x, at[--j].value) == HF_SQL_TRUE)
            return HF_NONE;
    return x->most;
}

static bool is_by(const quest *x, const hf_version_ref *e,
                  const hf_replay_version *at, uint32_t i)
{
    hf_txn_id writer =
        i == 0 ? HF_WRITER_INITIAL : x->p->order.at[at[i].birth - 1];

    if (writer == x->t)
        return false; /* an own later write */
    return e->writer == HF_NONE || e->writer == writer;
}

/* The last state that fits one entry; `row`: it was returned. */
static uint32_t entry_state(const quest *x, const hf_version_ref *e, bool row)
{
    const hf_history *h = x->p->h;
    hf_key_id key = h->value_key[e->value];
    hf_op_id own = hf_replay_last_write(h, x->t, key, x->op);
    const hf_replay_version *at;
    uint32_t n, i = HF_NONE, best = HF_NONE;

    if (own != HF_NONE)
        return hf_replay_same(h, hf_replay_written(h, own), e->value) &&
                       (e->writer == HF_NONE || e->writer == x->t)
                   ? x->most
                   : HF_NONE;
    n = hf_replay_versions_of(x->p, key, &at);
    while ((i = hf_replay_candidate(x->p, key, e->value, i)) != HF_NONE) {
        uint32_t end = is_by(x, e, at, i) ? reach(x, at, n, i, row) : HF_NONE;

        if (end != HF_NONE && end >= x->least &&
            (best == HF_NONE || end > best))
            best = end;
    }
    return best;
}

/* Goes down until one state fits all entries. */
static uint32_t listed_state(quest *x)
{
    uint32_t most;
    hf_rows_answer a = hf_rows_nothing(
        hf_op_is_aggregate(x->kind)
            ? hf_rows_column_of(x->p->rows, x->c->table, x->kind, &x->q)
            : HF_NONE);

    do {
        most = x->most;
        for (uint32_t i = 0; i < x->q.n_versions + x->q.n_results; i++) {
            bool row = i >= x->q.n_versions;
            const hf_version_ref *e =
                row ? &x->q.results[i - x->q.n_versions] : &x->q.versions[i];
            hf_sql_truth truth = test(x, e->value);
            uint32_t state;

            if (truth == HF_SQL_ERROR)
                return HF_REPLAY_OPEN;
            state = entry_state(x, e, row || truth == HF_SQL_TRUE);
            if (state == HF_NONE)
                return HF_NONE;
            x->most = state;
        }
    } while (x->most != most);
    for (uint32_t i = 0; i < x->q.n_versions; i++)
        if (test(x, x->q.versions[i].value) == HF_SQL_TRUE)
            hf_rows_add(x->p->rows, x->c->table, x->q.versions[i].value, &a);
    if (!hf_op_is_aggregate(x->kind) || !x->q.has_result_set)
        return x->most;
    switch (hf_rows_result_fits(x->p->rows, x->c->table, x->kind, &x->q, &a)) {
    case HF_SQL_TRUE:
        return x->most;
    case HF_SQL_ERROR:
        return HF_REPLAY_OPEN;
    default:
        return HF_NONE;
    }
}

/* ---- conditions over time ------------------------------------------------ */

typedef HF_VEC(hf_key_id) key_list;

/* The keys of the table that the transaction wrote before. */
static void own_keys(const quest *x, key_list *ret)
{
    const hf_history *h = x->p->h;

    for (hf_op_id o = h->op_first[x->t]; o < x->op; o++) {
        bool known = false;

        if (!hf_replay_writes(h, o) ||
            x->p->rows->table_of[h->op_key[o]] != x->c->table)
            continue;
        for (size_t i = 0; i < ret->n && !known; i++)
            known = ret->at[i] == h->op_key[o];
        if (!known)
            hf_vec_push(ret, h->op_key[o]);
    }
}

static bool is_own(const key_list *own, hf_key_id key)
{
    for (size_t i = 0; i < own->n; i++)
        if (own->at[i] == key)
            return true;
    return false;
}

static hf_value_id value_at(const quest *x, hf_key_id key, uint32_t q)
{
    const hf_replay_version *at;
    uint32_t n = hf_replay_versions_of(x->p, key, &at);

    return at[hf_replay_version_at(at, n, q)].value;
}

/* Rows: how many of the state count, and how many of them were returned. */
typedef struct tally {
    uint32_t rows, returned, wanted;
} tally;

/* Own rows must be as they were written; false if they are not. */
static bool own_rows_fit(const quest *x, const key_list *own)
{
    const hf_replay_rows *rows = x->p->rows;

    for (size_t i = 0; i < own->n; i++) {
        hf_key_id key = own->at[i];
        hf_value_id value = hf_replay_written(
            x->p->h, hf_replay_last_write(x->p->h, x->t, key, x->op));
        bool match = test(x, value) == HF_SQL_TRUE;
        bool returned = rows->row_stamp[key] == x->op;

        if (match != returned || (match && rows->row_value[key] != value))
            return false;
    }
    return true;
}

static tally tally_at(const quest *x, const hf_replay_times *t,
                      const key_list *own, uint32_t n_events, uint32_t q)
{
    const hf_replay_rows *rows = x->p->rows;
    tally y = {.rows = n_events > 0 ? t->count[n_events - 1] : 0};

    for (size_t i = 0; i < own->n; i++)
        y.rows -= test(x, value_at(x, own->at[i], q)) == HF_SQL_TRUE;
    for (uint32_t i = 0; i < x->q.n_results; i++) {
        hf_value_id value = x->q.results[i].value;
        hf_key_id key = x->p->h->value_key[value];

        if (rows->row_at[key] != i || is_own(own, key))
            continue;
        y.wanted++;
        y.returned += hf_replay_same(x->p->h, value_at(x, key, q), value);
    }
    return y;
}

/* Takes the event back. */
static void undo(const quest *x, const hf_replay_event *e, tally *y)
{
    const hf_replay_rows *rows = x->p->rows;
    bool returned =
        rows->row_stamp[e->key] == x->op && rows->row_value[e->key] == e->value;

    if (e->added) {
        y->rows--;
        y->returned -= returned;
    } else {
        y->rows++;
        y->returned += returned;
    }
}

/* The last state up to `most` in which the rows are those returned. */
static uint32_t rows_state(const quest *x, const hf_replay_times *t,
                           const key_list *own)
{
    uint32_t n = hf_replay_events_to(t, x->most), q = x->most;
    tally y = tally_at(x, t, own, n, q);

    for (;;) {
        if (y.rows == y.wanted && y.returned == y.wanted)
            return q >= x->least ? q : HF_NONE;
        if (n == 0 || t->at[n - 1].q <= x->least)
            return HF_NONE;
        q = t->at[n - 1].q;
        for (; n > 0 && t->at[n - 1].q == q; n--)
            if (own->n == 0 || !is_own(own, t->at[n - 1].key))
                undo(x, &t->at[n - 1], &y);
        q--;
        if (hf_replay_spent(x->p))
            return HF_REPLAY_OPEN;
    }
}

/* What a state gives, with own rows in place of what it has of their keys. */
static hf_rows_answer answer_with_own(const quest *x, const key_list *own,
                                      uint32_t column, uint32_t q)
{
    const hf_rows_table *t = &x->p->rows->tables.at[x->c->table];
    hf_rows_answer a = hf_rows_nothing(column);

    for (uint32_t i = 0; i < t->n_keys; i++) {
        hf_key_id key = t->keys[i];
        hf_value_id value =
            is_own(own, key)
                ? hf_replay_written(
                      x->p->h, hf_replay_last_write(x->p->h, x->t, key, x->op))
                : value_at(x, key, q);
        hf_sql_truth truth = test(x, value);

        a.unsaid |= truth == HF_SQL_ERROR;
        if (truth == HF_SQL_TRUE)
            hf_rows_add(x->p->rows, x->c->table, value, &a);
    }
    return a;
}

/* The last state up to `most` in which the aggregate has its result. */
static uint32_t total_state(const quest *x, const hf_replay_times *t,
                            const key_list *own)
{
    hf_replay *p = x->p;
    uint32_t column = hf_rows_column_of(p->rows, x->c->table, x->kind, &x->q);
    uint32_t n = hf_replay_events_to(t, x->most), q = x->most;
    const hf_rows_answer *after =
        column == HF_NONE ? NULL : hf_replay_totals_of(p, x->c, column);

    for (;;) {
        hf_rows_answer a = hf_rows_nothing(column);

        if (own->n > 0)
            a = answer_with_own(x, own, column, q);
        else if (n > 0 && after)
            a = after[n - 1];
        else if (n > 0)
            a.n = t->count[n - 1];
        switch (hf_rows_result_fits(p->rows, x->c->table, x->kind, &x->q, &a)) {
        case HF_SQL_TRUE:
            return q >= x->least ? q : HF_NONE;
        case HF_SQL_ERROR:
            return HF_REPLAY_OPEN;
        default:
            break;
        }
        if (n == 0 || t->at[n - 1].q <= x->least)
            return HF_NONE;
        q = t->at[n - 1].q;
        while (n > 0 && t->at[n - 1].q == q)
            n--;
        q--;
        if (hf_replay_spent(p))
            return HF_REPLAY_OPEN;
    }
}

/* A recorded snapshot: only states in which the rows are the same as in that
 * one. */
static bool narrow_to_snapshot(quest *x, const hf_replay_times *t,
                               const key_list *own)
{
    hf_snapshot_sight sight = hf_replay_snapshot_sight(x->p, x->t, x->op, x->c);
    uint32_t n, first = 0, last = UINT32_MAX, q;

    if (sight == HF_SIGHT_NONE)
        return true; /* as if there were no version set */
    q = hf_replay_snapshot_state(x->p, x->t, &x->q);
    if (q == HF_NONE || sight == HF_SIGHT_ODD)
        return false;
    n = hf_replay_events_to(t, q);
    for (uint32_t i = n; i-- > 0;)
        if (!is_own(own, t->at[i].key)) {
            first = t->at[i].q;
            break;
        }
    for (uint32_t i = n; i < t->n; i++)
        if (!is_own(own, t->at[i].key)) {
            last = t->at[i].q - 1;
            break;
        }
    if (first > x->least)
        x->least = first;
    if (last < x->most)
        x->most = last;
    return true;
}

/* Rows whose writers were recorded are those versions. */
static uint32_t rows_by_writers(quest *x, const hf_replay_times *t,
                                const key_list *own)
{
    for (;;) {
        uint32_t state = rows_state(x, t, own), most;

        if (state >= HF_REPLAY_OPEN)
            return state;
        x->most = state;
        for (uint32_t i = 0; i < x->q.n_results; i++) {
            if (x->q.results[i].writer == HF_NONE)
                continue;
            most = entry_state(x, &x->q.results[i], true);
            if (most == HF_NONE)
                return most;
            x->most = most;
        }
        if (x->most == state)
            return state;
    }
}

static uint32_t search(quest *x)
{
    hf_replay *p = x->p;
    const hf_replay_times *t = hf_replay_times_of(p, x->c);
    key_list own = {0};
    uint32_t state = x->most;

    if (t->unsaid)
        return HF_REPLAY_OPEN;
    own_keys(x, &own);
    if (x->q.snapshot != HF_SNAPSHOT_NONE && !narrow_to_snapshot(x, t, &own))
        state = HF_REPLAY_OPEN;
    else if (x->least > x->most)
        state = HF_NONE;
    else if (x->q.has_result_set && hf_op_is_aggregate(x->kind))
        state = total_state(x, t, &own);
    else if (x->q.has_result_set)
        state = own_rows_fit(x, &own) ? rows_by_writers(x, t, &own) : HF_NONE;
    else
        state = x->most;
    hf_vec_release(&own);
    return state;
}

/* Rows that do not satisfy the condition, or are of no key of the table: no
 * state gives them. */
static uint32_t predicate_state(quest *x)
{
    hf_replay *p = x->p;

    x->q = hf_op_predicate(p->h, x->op);
    x->c = hf_rows_condition_of(p->rows, &x->q);
    if (!hf_rows_is_known(x->c) || p->rows->tables.at[x->c->table].odd)
        return HF_REPLAY_OPEN;
    if (!hf_op_is_aggregate(x->kind)) {
        if (hf_replay_rows_twice(p, x->op, &x->q))
            return HF_NONE;
        for (uint32_t i = 0; i < x->q.n_results; i++) {
            hf_sql_truth truth = test(x, x->q.results[i].value);

            if (truth == HF_SQL_ERROR)
                return HF_REPLAY_OPEN;
            if (truth != HF_SQL_TRUE)
                return HF_NONE;
        }
    }
    if (x->q.has_version_set)
        return listed_state(x);
    return search(x);
}

uint32_t hf_replay_state_of(hf_replay *p, hf_txn_id t, hf_op_id op,
                            uint32_t least, uint32_t most)
{
    const hf_history *h = p->h;
    quest x = {.p = p,
               .t = t,
               .op = op,
               .kind = hf_op_kind_of(h, op),
               .least = least,
               .most = most};
    hf_value_id value = h->op_value[op];

    if (hf_op_has_predicate(x.kind))
        return predicate_state(&x);
    if (x.kind == HF_OP_INCREMENT)
        value = hf_op_increment(h, op).before;
    else if (p->key_use[h->op_key[op]] & HF_REPLAY_LIST)
        return list_state(&x);
    if (p->key_use[h->op_key[op]] & HF_REPLAY_BLIND)
        return HF_REPLAY_OPEN;
    return item_state(&x, h->op_key[op], value);
}

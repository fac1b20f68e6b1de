/* predict_fix.c: what would have prevented a predicted execution.
 *
 * Levels: what happened when it was carried out is judged at each of a list;
 * the weakest that forbid it are the fix.  If it was not carried out, or not
 * confirmed, the predicted execution is judged, with what transactions that are
 * cut short were observed to write later: a level that aborts them for it does
 * help.  Unless the prediction is that they write something else.
 *
 * Locks: every edge of the cycle from a reader to a writer that came too late
 * for it goes away if the read locks the row (SELECT ... FOR UPDATE), because
 * then the one has to wait for the other and sees what it wrote.  What an
 * UPDATE reads is locked as it is, by every database that has row locks.  A row
 * that is not there cannot be locked; then both have to write a row that is (a
 * materialised conflict), or the level does.
 */
#include "cli/predicting.h"

#include <strings.h>

#include "base/error.h"
#include "history/extra.h"

/* Weaker ones first. */
static const hf_level levels[] = {
    HF_READ_COMMITTED_AXIOMATIC,
    HF_READ_ATOMIC,
    HF_CAUSAL,
    HF_PREFIX,
    HF_PARALLEL_SNAPSHOT_ISOLATION,
    HF_SNAPSHOT_ISOLATION,
    HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
    HF_SERIALIZABLE,
    HF_STRONG_SESSION_SERIALIZABLE,
};
#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))
_Static_assert(N_LEVELS <= HF_FIX_LEVELS, "room for all levels");

/* ---- statements ---------------------------------------------------------- */

hf_str hf_statement_text(const hf_history *h, hf_op_id sql)
{
    return hf_string(h, hf_op_sql(h, sql).text);
}

static bool is_comment(hf_str text)
{
    return text.len >= 4 && text.ptr[0] == '/' && text.ptr[1] == '*' &&
           text.ptr[text.len - 2] == '*' && text.ptr[text.len - 1] == '/';
}

hf_op_id hf_statement_before(const hf_history *h, hf_op_id op)
{
    hf_txn_id t = hf_op_txn(h, op);

    for (hf_op_id o = op + 1; o-- > h->op_first[t];)
        if (hf_op_kind_of(h, o) == HF_OP_SQL)
            return is_comment(hf_statement_text(h, o)) ? HF_NONE : o;
    return HF_NONE;
}

hf_str hf_txn_purpose(const hf_history *h, hf_txn_id t)
{
    hf_op_id first = h->op_first[t];
    hf_str text;

    if (first == h->op_first[t + 1] || hf_op_kind_of(h, first) != HF_OP_SQL)
        return HF_STR("");
    text = hf_statement_text(h, first);
    if (!is_comment(text))
        return HF_STR("");
    text = (hf_str){text.ptr + 2, text.len - 4};
    while (text.len > 0 && text.ptr[0] == ' ') {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* ---- levels -------------------------------------------------------------- */

/* Of those marked, the ones that imply no other (weakest), or that no other
 * implies (strongest). */
static unsigned extremes(const bool *marked, bool weakest, hf_level *ret)
{
    unsigned n = 0;

    for (size_t i = 0; i < N_LEVELS; i++) {
        bool extreme = marked[i];

        for (size_t k = 0; k < N_LEVELS && extreme; k++)
            if (k != i && marked[k] &&
                (weakest ? hf_level_implies(levels[i], levels[k])
                         : hf_level_implies(levels[k], levels[i])))
                extreme = false;
        if (extreme)
            ret[n++] = levels[i];
    }
    return n;
}

static hf_status find_levels(const hf_history *h, hf_budget *budget,
                             hf_fix *ret, hf_error *err)
{
    bool forbids[N_LEVELS] = {false}, allows[N_LEVELS] = {false};

    for (size_t i = 0; i < N_LEVELS; i++) {
        hf_result *r = NULL;
        hf_status st = hf_judged(h, levels[i], budget, &r, err);

        if (st != HF_OK)
            return st;
        forbids[i] = hf_result_verdict(r) == HF_INVALID;
        allows[i] = hf_result_verdict(r) == HF_VALID;
        hf_result_free(r);
    }
    ret->n_prevents = extremes(forbids, true, ret->prevents);
    ret->n_allows = extremes(allows, false, ret->allows);
    return HF_OK;
}

/* ---- locks --------------------------------------------------------------- */

static bool writes(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == key && hf_op_installs(hf_op_kind_of(h, o)))
            return true;
    return false;
}

/* Did the source leave no row?  The value of a row that was deleted is nil,
 * or negative where executions under control name it. */
static bool left_no_row(const hf_history *h, hf_txn_id source, hf_key_id key)
{
    bool gone = true, controlled;

    if (!h->key_table || h->key_table[key] == HF_NONE)
        return false; /* not a row */
    if (source == HF_NONE)
        return !h->key_initial || h->key_initial[key] == HF_NONE;
    controlled = hf_txn_purpose(h, source).len > 0;
    for (hf_op_id o = h->op_first[source]; o < h->op_first[source + 1]; o++) {
        if (h->op_key[o] != key || !hf_op_installs(hf_op_kind_of(h, o)) ||
            hf_op_has_extra(hf_op_kind_of(h, o)) || h->op_value[o] == HF_NONE)
            continue;
        gone = h->value_type[h->op_value[o]] == HF_NIL ||
               hf_op_kind_of(h, o) == HF_OP_DELETE ||
               (controlled && h->value_data[h->op_value[o]] < 0);
    }
    return gone;
}

static hf_fix_statement statement_of(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_op_id sql = hf_statement_before(h, op);
    bool locks = (hf_op_flags_of(h, op) & HF_OP_WITH_ITEMS) != 0;
    hf_str text;

    if (hf_op_installs(kind) || kind == HF_OP_PREDICATE_UPDATE ||
        kind == HF_OP_PREDICATE_DELETE)
        return HF_FIX_CHANGING;
    if (sql == HF_NONE)
        return locks ? HF_FIX_LOCKING : HF_FIX_SELECT;
    text = hf_statement_text(h, sql);
    if (text.len >= 6 && (strncasecmp(text.ptr, "update", 6) == 0 ||
                          strncasecmp(text.ptr, "delete", 6) == 0 ||
                          strncasecmp(text.ptr, "insert", 6) == 0))
        return HF_FIX_CHANGING;
    return locks ? HF_FIX_LOCKING : HF_FIX_SELECT;
}

static void add_lock(const hf_history *h, const hf_predicted_read *r,
                     hf_fix *ret)
{
    for (size_t i = 0; i < ret->locks.n; i++)
        if (ret->locks.at[i].txn == r->txn && ret->locks.at[i].key == r->key)
            return;
    hf_vec_push(&ret->locks,
                (hf_fix_lock){.txn = r->txn,
                              .op = r->op,
                              .key = r->key,
                              .absent = left_no_row(h, r->source, r->key),
                              .rewrites = writes(h, r->txn, r->key),
                              .statement = statement_of(h, r->op)});
}

static bool is_on_cycle(const hf_prediction *p, hf_key_id key)
{
    for (uint32_t e = 0; e < p->n_edges; e++)
        if (p->edges[e].key == key)
            return true;
    return false;
}

static void find_locks(const hf_history *h, const hf_prediction *p, hf_fix *ret)
{
    for (uint32_t e = 0; e < p->n_edges; e++)
        for (uint32_t i = 0;
             i < p->n_reads && p->edges[e].kind == HF_PREDICTED_RW; i++)
            if (p->reads[i].txn == p->edges[e].from &&
                p->reads[i].key == p->edges[e].key) {
                add_lock(h, &p->reads[i], ret);
                break;
            }
    if (ret->locks.n > 0)
        return;
    /* the order of two writers follows from somebody who reads the first */
    for (uint32_t i = 0; i < p->n_reads; i++)
        if (p->reads[i].changed &&
            (p->n_edges == 0 || is_on_cycle(p, p->reads[i].key)))
            add_lock(h, &p->reads[i], ret);
}

hf_status hf_fix_find(const hf_history *observed, const hf_told_prediction *t,
                      hf_budget *budget, hf_fix *ret, hf_error *err)
{
    hf_history *whole = NULL;
    hf_status st;

    *ret = (hf_fix){0};
    find_locks(observed, t->p, ret);
    if (t->validated && t->v.confirmed)
        return find_levels(t->v.run.history, budget, ret, err);
    if (t->p->n_others > 0) /* they do not write that */
        return find_levels(t->predicted, budget, ret, err);
    st = hf_prediction_whole(observed, t->p, &whole, err);
    if (st == HF_OK)
        st = find_levels(whole, budget, ret, err);
    hf_history_free(whole);
    return st;
}

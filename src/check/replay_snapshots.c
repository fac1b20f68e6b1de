/* replay_snapshots.c: recorded snapshots, against the state.
 *
 * A snapshot differs from the state only in keys written by transactions that
 * are in one of them and not in the other (replay_reach.c).  For snapshots
 * that follow the order there are about as many as run at one time, and their
 * writes are gone through.  Of an old snapshot there are many: then the keys
 * are asked for that came under the condition, or left it, in between
 * (replay_moves.c), most often none.
 *
 * Keys whose versions the certificate may order otherwise than the expected
 * order does are asked for one by one.
 *
 * For an operation O(log transactions + operations of those transactions) if
 * they are few; else O((1 + moves of rows under the condition) * log ranks).
 */
#include "check/replay_reach.h"

#include "base/error.h"

/* So few transactions are gone through one by one. */
#define FEW 32u

void hf_replay_release_snapshots(hf_replay *p)
{
    hf_replay_span_free(p->by_time);
    hf_replay_span_free(p->by_id);
    hf_vec_release(&p->odd_keys);
    p->by_time = p->by_id = NULL;
}

/* One operation with a snapshot. */
typedef struct sight {
    hf_replay *p;
    hf_txn_id t;
    hf_op_id op;
    hf_rows_condition *c;
    uint32_t from, end; /* all before `from` are held, nothing from `end` on */
    hf_key_id found;
} sight;

static hf_op_id entry_of(hf_replay *p, hf_txn_id t, hf_op_id op, hf_key_id key)
{
    if (!p->snapshots)
        p->snapshots = hf_snapshots_new(p->h);
    return hf_snapshot_others(p->snapshots, t, op, key);
}

/* The snapshot's version of the key, and the state's. */
static bool key_fits(const sight *x, hf_key_id key)
{
    hf_replay *p = x->p;
    const hf_replay_version *at;
    uint32_t n, now, held = 0;
    hf_op_id entry;

    if (p->cells[key].writer == x->t)
        return true;
    entry = entry_of(p, x->t, x->op, key);
    HF_ASSERT(entry != HF_NONE);
    n = hf_replay_versions_of(p, key, &at);
    now = hf_replay_version_at(at, n, p->order.place[x->t]);
    if (entry != HF_WRITER_INITIAL) {
        hf_txn_id w = hf_op_txn(p->h, entry);

        HF_ASSERT(w != x->t);
        if (p->order.place[w] == HF_NONE)
            return false;
        held = hf_replay_version_at(at, n, p->order.place[w] + 1);
    }
    return held == now || hf_replay_is_quiet(p, x->c, at, held, now);
}

/* No version that may be in question satisfies the condition.  Most keys are
 * done with here, unless there are too many versions. */
static bool is_out_of_sight(const sight *x, hf_key_id key)
{
    const hf_replay_version *at;
    uint32_t n, first, last;

    n = hf_replay_versions_of(x->p, key, &at);
    first = hf_replay_version_at(at, n, x->from);
    last = hf_replay_version_at(at, n, x->end);
    return last - first < FEW &&
           hf_replay_is_quiet(x->p, x->c, at, first, last);
}

static hf_key_id look_at_writes(const sight *x, uint32_t place)
{
    const hf_history *h = x->p->h;
    hf_txn_id u = x->p->order.at[place];

    for (hf_op_id o = h->op_first[u]; o < h->op_first[u + 1]; o++)
        if (hf_replay_writes(h, o) &&
            x->p->rows->table_of[h->op_key[o]] == x->c->table &&
            !is_out_of_sight(x, h->op_key[o]) && !key_fits(x, h->op_key[o]))
            return h->op_key[o];
    return HF_NONE;
}

static bool fits_again(void *user, hf_key_id key)
{
    sight *x = user;

    if (!key_fits(x, key))
        x->found = key;
    return x->found == HF_NONE;
}

/* Commit times that are not known, equal, or do not ascend; a version order
 * that is not whole; writers that the order does not have. */
static void mark_odd_keys(hf_replay *p, uint8_t *odd)
{
    const hf_history *h = p->h;
    const uint64_t *time = h->cert.commit_ts, *order = h->cert.order_first;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        const hf_replay_version *at;
        uint32_t n = hf_replay_versions_of(p, k, &at);
        uint64_t last = 0;

        odd[k] = order && order[k + 1] > order[k] &&
                 order[k + 1] - order[k] != n - 1;
        for (uint32_t i = 1; i < n && !odd[k]; i++) {
            hf_txn_id t = p->order.at[at[i].birth - 1];

            odd[k] =
                !time || time[t] == HF_TIME_NONE || (i > 1 && time[t] <= last);
            last = odd[k] ? 0 : time[t];
        }
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] != HF_ABORTED && p->order.place[t] == HF_NONE)
            for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
                if (hf_replay_writes(h, o))
                    odd[h->op_key[o]] = 1;
}

void hf_replay_find_odd_keys(hf_replay *p)
{
    uint8_t *odd;

    if (p->odd_keys_known)
        return;
    p->odd_keys_known = true;
    odd = HF_NEW_ZEROED(uint8_t, (size_t)p->h->n_keys + 1);
    mark_odd_keys(p, odd);
    for (hf_key_id k = 0; k < p->h->n_keys; k++)
        if (odd[k])
            hf_vec_push(&p->odd_keys, k);
    hf_free(odd);
}

hf_snapshot_sight hf_replay_snapshot_sight(hf_replay *p, hf_txn_id t,
                                           hf_op_id op,
                                           const hf_rows_condition *c)
{
    hf_snapshot_sight kind = HF_SIGHT_CLEAR;

    hf_replay_find_odd_keys(p);
    for (size_t i = 0; i < p->odd_keys.n; i++) {
        if (p->rows->table_of[p->odd_keys.at[i]] != c->table)
            continue;
        kind = HF_SIGHT_ODD;
        if (entry_of(p, t, op, p->odd_keys.at[i]) == HF_NONE)
            return HF_SIGHT_NONE;
    }
    return kind;
}

static hf_key_id look_at_odd_keys(const sight *x)
{
    const hf_replay *p = x->p;

    for (size_t i = 0; i < p->odd_keys.n; i++)
        if (p->rows->table_of[p->odd_keys.at[i]] == x->c->table &&
            !key_fits(x, p->odd_keys.at[i]))
            return p->odd_keys.at[i];
    return HF_NONE;
}

/* The places where the snapshot and the state differ; up to FEW of them are
 * put into `at`.  Returns how many there are, FEW + 1 for more. */
static uint32_t differences(const hf_reach *r, sight *x, uint32_t *at)
{
    uint32_t place = x->p->order.place[x->t], all = x->p->order.n;
    uint32_t n = 0, i;

    x->from = x->end = place;
    for (i = hf_reach_next_missed(r, 0, place); i < place && n <= FEW;
         i = hf_reach_next_missed(r, i + 1, place)) {
        x->from = i < x->from ? i : x->from;
        if (n < FEW)
            at[n] = i;
        n++;
    }
    for (i = hf_reach_next_held(r, place + 1, all); i < all && n <= FEW;
         i = hf_reach_next_held(r, i + 1, all)) {
        x->end = i + 1;
        if (n < FEW)
            at[n] = i;
        n++;
    }
    if (n > FEW && hf_reach_end(r) > place)
        x->end = hf_reach_end(r);
    return n;
}

/* Goes through all of them. */
static hf_key_id look_at_all(const hf_reach *r, const sight *x)
{
    uint32_t place = x->p->order.place[x->t];
    hf_key_id key = HF_NONE;

    for (uint32_t i = hf_reach_next_missed(r, x->from, place);
         i < place && key == HF_NONE; i = hf_reach_next_missed(r, i + 1, place))
        key = look_at_writes(x, i);
    for (uint32_t i = hf_reach_next_held(r, place + 1, x->end);
         i < x->end && key == HF_NONE; i = hf_reach_next_held(r, i + 1, x->end))
        key = look_at_writes(x, i);
    return key;
}

hf_key_id hf_replay_look_snapshot(hf_replay *p, hf_txn_id t, hf_op_id op,
                                  const hf_predicate *q, hf_rows_condition *c)
{
    hf_reach r = hf_reach_of(p, q);
    sight x = {.p = p, .t = t, .op = op, .c = c, .found = HF_NONE};
    uint32_t at[FEW], n;
    hf_key_id key;

    if (hf_replay_snapshot_sight(p, t, op, c) == HF_SIGHT_NONE)
        return HF_NONE;
    key = look_at_odd_keys(&x);
    if (key != HF_NONE)
        return key;
    n = differences(&r, &x, at);
    if (n > FEW) {
        if (hf_replay_moves_each(p, c, x.from, x.end, fits_again, &x))
            return x.found;
        return look_at_all(&r, &x);
    }
    for (uint32_t i = 0; i < n && key == HF_NONE; i++)
        key = look_at_writes(&x, at[i]);
    return key;
}

uint32_t hf_replay_snapshot_state(hf_replay *p, hf_txn_id t,
                                  const hf_predicate *q)
{
    hf_reach r = hf_reach_of(p, q);
    uint32_t place = p->order.place[t], n = p->order.n;
    uint32_t state = hf_reach_next_missed(&r, 0, n), held;

    /* the transaction itself is in no snapshot of its own */
    if (state >= place)
        return hf_reach_next_held(&r, place + 1, n) < n ? HF_NONE : place;
    held = hf_reach_next_held(&r, state, n);
    if (held == place)
        held = hf_reach_next_held(&r, held + 1, n);
    return held < n ? HF_NONE : state;
}

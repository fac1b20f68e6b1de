/* replay_snapshots.c: recorded snapshots, against the state.
 *
 * A snapshot differs from the state only in keys written by transactions that
 * are in one of them and not in the other.  With the greatest time up to each
 * place of the order and the least from each place on, the places where such
 * transactions can stand are found by binary search; for snapshots that
 * follow the order there are about as many as run at one time.
 *
 * Keys whose versions the certificate may order otherwise than the expected
 * order does are asked for one by one.
 *
 * O(log transactions + operations of those transactions) for an operation.
 */
#include "check/replay.h"

#include "base/error.h"

/* Times, or ids, of the transactions in the order. */
struct hf_replay_span {
    uint64_t *of;    /* at each place */
    uint64_t *most;  /* up to and with it */
    uint64_t *least; /* from it on */
    bool *reads;     /* writes nothing: in no snapshot, and out of none */
};

#define NEVER UINT64_MAX

static uint64_t biased(int64_t id)
{
    return (uint64_t)id ^ (uint64_t)1 << 63;
}

static bool writes_something(const hf_history *h, hf_txn_id t)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_replay_writes(h, o))
            return true;
    return false;
}

static struct hf_replay_span *make_span(const hf_replay *p, bool by_id)
{
    const hf_expected *e = &p->order;
    struct hf_replay_span *s = HF_NEW(struct hf_replay_span);

    s->of = HF_NEW_ARRAY(uint64_t, (size_t)e->n + 1);
    s->most = HF_NEW_ARRAY(uint64_t, (size_t)e->n + 1);
    s->least = HF_NEW_ARRAY(uint64_t, (size_t)e->n + 1);
    s->reads = HF_NEW_ARRAY(bool, (size_t)e->n + 1);
    for (uint32_t i = 0; i < e->n; i++) {
        uint64_t before = i > 0 ? s->most[i - 1] : 0;

        s->reads[i] = !writes_something(p->h, e->at[i]);
        if (by_id)
            s->of[i] = biased(hf_txn_label(p->h, e->at[i]));
        else
            s->of[i] =
                p->h->cert.commit_ts ? p->h->cert.commit_ts[e->at[i]] : NEVER;
        s->most[i] = !s->reads[i] && s->of[i] > before ? s->of[i] : before;
    }
    s->least[e->n] = NEVER;
    for (uint32_t i = e->n; i-- > 0;)
        s->least[i] = !s->reads[i] && s->of[i] < s->least[i + 1]
                          ? s->of[i]
                          : s->least[i + 1];
    return s;
}

static void free_span(struct hf_replay_span *s)
{
    if (!s)
        return;
    hf_free(s->of);
    hf_free(s->most);
    hf_free(s->least);
    hf_free(s->reads);
    hf_free(s);
}

void hf_replay_release_snapshots(hf_replay *p)
{
    free_span(p->by_time);
    free_span(p->by_id);
    hf_vec_release(&p->odd_keys);
    p->by_time = p->by_id = NULL;
}

/* What a snapshot holds: all below `min`, nothing from `max` on. */
typedef struct reach {
    const struct hf_replay_span *s;
    uint64_t min, max;
    hf_str active; /* ids between them that it does not hold */
} reach;

/* The number at the start of *text, and what follows its separator. */
static int64_t take_number(hf_str *text)
{
    hf_str digits = *text;
    int64_t n = 0;

    digits.len = 0;
    while (digits.len < text->len && digits.ptr[digits.len] != ':' &&
           digits.ptr[digits.len] != ',')
        digits.len++;
    (void)hf_str_to_int(digits, &n);
    text->ptr += digits.len;
    text->len -= digits.len;
    if (text->len > 0) {
        text->ptr++;
        text->len--;
    }
    return n;
}

static reach reach_of(hf_replay *p, const hf_predicate *q)
{
    reach r = {0};

    if (q->snapshot == HF_SNAPSHOT_TIME) {
        if (!p->by_time)
            p->by_time = make_span(p, false);
        r.s = p->by_time;
        r.min = r.max = q->snapshot_time + 1;
        return r;
    }
    if (!p->by_id)
        p->by_id = make_span(p, true);
    r.s = p->by_id;
    r.active = hf_string(p->h, q->snapshot_ids);
    r.min = biased(take_number(&r.active));
    r.max = biased(take_number(&r.active));
    return r;
}

static bool is_held(const reach *r, uint32_t place)
{
    uint64_t id = r->s->of[place];
    hf_str rest = r->active;

    if (id == NEVER || id >= r->max)
        return false;
    if (id < r->min)
        return true;
    while (rest.len > 0)
        if (biased(take_number(&rest)) == id)
            return false;
    return true;
}

/* The first place up to which something is at least `min`. */
static uint32_t first_missed(const reach *r, uint32_t n)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (r->s->most[middle] < r->min)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* After the last place from which on something is below `max`. */
static uint32_t end_of_held(const reach *r, uint32_t n)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (r->s->least[middle] < r->max)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One operation with a snapshot. */
typedef struct sight {
    hf_replay *p;
    hf_txn_id t;
    hf_op_id op;
    const hf_rows_condition *c;
    uint32_t from, end; /* all before `from` are held, nothing from `end` on */
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
 * done with here. */
static bool is_out_of_sight(const sight *x, hf_key_id key)
{
    const hf_replay_version *at;
    uint32_t n = hf_replay_versions_of(x->p, key, &at);

    return hf_replay_is_quiet(x->p, x->c, at,
                              hf_replay_version_at(at, n, x->from),
                              hf_replay_version_at(at, n, x->end));
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

hf_key_id hf_replay_look_snapshot(hf_replay *p, hf_txn_id t, hf_op_id op,
                                  const hf_predicate *q, hf_rows_condition *c)
{
    reach r = reach_of(p, q);
    uint32_t place = p->order.place[t];
    uint32_t from = first_missed(&r, p->order.n);
    uint32_t end = end_of_held(&r, p->order.n);
    sight x = {.p = p, .t = t, .op = op, .c = c};
    hf_key_id key;

    if (hf_replay_snapshot_sight(p, t, op, c) == HF_SIGHT_NONE)
        return HF_NONE;
    key = look_at_odd_keys(&x);
    x.from = from < place ? from : place;
    x.end = end > place ? end : place;
    for (uint32_t i = x.from; i < x.end && key == HF_NONE; i++)
        if (i != place && !r.s->reads[i] && is_held(&r, i) != (i < place))
            key = look_at_writes(&x, i);
    return key;
}

uint32_t hf_replay_snapshot_state(hf_replay *p, hf_txn_id t,
                                  const hf_predicate *q)
{
    reach r = reach_of(p, q);
    uint32_t place = p->order.place[t];
    uint32_t state = first_missed(&r, p->order.n);
    uint32_t end = end_of_held(&r, p->order.n);

    while (state < p->order.n &&
           (state == place || r.s->reads[state] || is_held(&r, state)))
        state++;
    for (uint32_t i = state; i < end; i++)
        if (i != place && !r.s->reads[i] && is_held(&r, i))
            return HF_NONE;
    if (state > place + 1)
        return HF_NONE; /* it holds what comes later */
    /* the transaction itself is in no snapshot of its own */
    return state > place ? place : state;
}

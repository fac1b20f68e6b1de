/* expected.c: see expected.h.
 *
 * The order is made from the raw history: a recorded list, or times sorted;
 * kept in the session.  A claim is checked by executing the order up to the
 * transaction: O(writes before it), plus, wherever a key changed that the
 * operations look at, what they cost (expected_fits.c).  At serializable that
 * is one state only.
 *
 * Equal times leave the order open.  At serializable that matters where two
 * of them write one key that is looked at, or one of them is T and the other
 * writes such a key; below, wherever two writers have equal times, as then
 * some states are not known.
 */
#include "verify/expected.h"

#include "base/sort.h"

/* ---- the order ----------------------------------------------------------- */

static const uint64_t *times_of(const hf_history *h, unsigned by)
{
    switch (by) {
    case HF_REST_BY_COMMIT:
        return h->cert.commit_ts;
    case HF_REST_BY_START:
        return h->cert.start_ts;
    case HF_REST_BY_END:
        return h->txn_end;
    default:
        return NULL;
    }
}

static bool writes(const hf_verifier *v, hf_txn_id t)
{
    return v->facts.write_first[t] < v->facts.write_first[t + 1];
}

static void put(hf_expectation *e, hf_txn_id t)
{
    e->place[t] = e->n;
    e->at[e->n++] = t;
}

/* One of unknown outcome happened if the database says that it committed. */
static bool has_happened(const hf_verifier *v, const bool *listed, hf_txn_id t)
{
    const hf_certificate *c = &v->h->cert;

    return v->h->txn_outcome[t] == HF_COMMITTED || listed[t] ||
           (c->commit_ts && c->commit_ts[t] != HF_TIME_NONE);
}

static bool order_by_time(hf_verifier *v, hf_expectation *e)
{
    const hf_history *h = v->h;
    hf_sortable *all = hf_zeros(v, h->n_txns, sizeof(*all));
    bool *listed = hf_zeros(v, h->n_txns, sizeof(*listed));
    uint32_t n = 0;

    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        listed[h->cert.serial[i]] = true;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (h->txn_outcome[t] == HF_ABORTED)
            continue;
        if (!has_happened(v, listed, t)) {
            e->is_open |= e->by != HF_REST_BY_COMMIT && writes(v, t);
            continue;
        }
        if (!e->time || e->time[t] != HF_TIME_NONE)
            all[n++] = (hf_sortable){e->time ? e->time[t] : t, t};
        else if (h->txn_outcome[t] == HF_COMMITTED)
            return hf_refuse(v, "%s has no place in the expected order",
                             hf_label_txn(h, t).text);
    }
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        put(e, (hf_txn_id)all[i].value);
    return true;
}

static bool order_by_list(hf_verifier *v, hf_expectation *e)
{
    const hf_history *h = v->h;

    for (uint32_t i = 0; i < h->cert.n_serial; i++) {
        hf_txn_id t = h->cert.serial[i];

        if (e->place[t] != HF_NONE || h->txn_outcome[t] == HF_ABORTED)
            return hf_refuse(v, "%s is twice in the serial order, or aborted",
                             hf_label_txn(h, t).text);
        put(e, t);
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_COMMITTED && e->place[t] == HF_NONE)
            return hf_refuse(v, "%s has no place in the serial order",
                             hf_label_txn(h, t).text);
    return true;
}

/* Two writers next to each other with equal times, readers left out. */
static bool find_ties(const hf_verifier *v, const hf_expectation *e)
{
    hf_txn_id last = HF_NONE;

    for (uint32_t i = 0; e->time && i < e->n; i++) {
        if (!writes(v, e->at[i]))
            continue;
        if (last != HF_NONE && e->time[last] == e->time[e->at[i]])
            return true;
        last = e->at[i];
    }
    return false;
}

const hf_expectation *hf_expectation_get(hf_verifier *v, unsigned by)
{
    const hf_history *h = v->h;
    hf_expectation *e = v->expectation;
    bool timed = by & (HF_REST_BY_COMMIT | HF_REST_BY_START | HF_REST_BY_END);

    if (e && e->by == by)
        return e;
    e = hf_kept_zeros(v, 1, sizeof(*e));
    e->by = by;
    e->time = times_of(h, by);
    if (timed && !e->time) {
        (void)hf_refuse(v, "the history has no such times");
        return NULL;
    }
    e->at = hf_kept_nones(v, h->n_txns, sizeof(*e->at));
    e->place = hf_kept_nones(v, h->n_txns, sizeof(*e->place));
    if (!(by == HF_REST_BY_SERIAL ? order_by_list(v, e) : order_by_time(v, e)))
        return NULL;
    e->has_ties = find_ties(v, e);
    v->expectation = e;
    return e;
}

/* ---- what a claim is about ----------------------------------------------- */

typedef struct claim {
    hf_verifier *v;
    const hf_expectation *e;
    hf_txn_id t;
    uint32_t n_probes;
    hf_probe *probes;
    uint32_t least; /* state */
    bool *watched;  /* per key: some operation looks at it */
} claim;

static bool refuse(const claim *c, const char *why)
{
    return hf_refuse(c->v, "the operations do not show %s: %s",
                     hf_anomaly_get(HF_EXPECTED_STATE)->name, why);
}

void hf_probe_watch(const hf_history *h, const hf_probe *p, bool *watched)
{
    hf_predicate q;

    if (p->key != HF_NONE) {
        watched[p->key] = true;
        return;
    }
    q = hf_op_predicate(h, p->op);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        watched[k] |= hf_table_of(h, k) == q.table;
    for (uint32_t i = 0; i < q.n_versions; i++)
        watched[h->value_key[q.versions[i].value]] = true;
    for (uint32_t i = 0; i < q.n_results; i++)
        watched[h->value_key[q.results[i].value]] = true;
}

static bool add_probe(claim *c, hf_op_id op)
{
    if (!hf_probe_open(c->v, c->e, c->t, op, &c->probes[c->n_probes]))
        return false;
    hf_probe_watch(c->v->h, &c->probes[c->n_probes++], c->watched);
    return true;
}

static bool is_read(const hf_history *h, hf_op_id op)
{
    return hf_op_has_predicate(hf_op_kind_of(h, op)) ||
           hf_item_reads(h, op) > 0;
}

/* ---- equal times --------------------------------------------------------- */

static bool writes_watched(const claim *c, hf_txn_id u)
{
    const hf_facts *f = &c->v->facts;

    for (uint32_t s = f->write_first[u]; s < f->write_first[u + 1]; s++)
        if (c->watched[f->write_key[s]])
            return true;
    return false;
}

/* One with the time of T writes what is looked at. */
static bool is_tied(const claim *c)
{
    const hf_expectation *e = c->e;
    uint32_t i = e->place[c->t];

    if (!e->time)
        return false;
    for (uint32_t j = i; j-- > 0 && e->time[e->at[j]] == e->time[c->t];)
        if (writes_watched(c, e->at[j]))
            return true;
    for (uint32_t j = i + 1; j < e->n && e->time[e->at[j]] == e->time[c->t];
         j++)
        if (writes_watched(c, e->at[j]))
            return true;
    return false;
}

/* ---- executing ----------------------------------------------------------- */

static hf_fit all_fit(const claim *c, const hf_scene *s)
{
    hf_fit fit = HF_FITS;

    for (uint32_t i = 0; i < c->n_probes; i++) {
        hf_fit one = hf_probe_fits(s, &c->probes[i]);

        if (one == HF_DIFFERS)
            return one;
        if (one == HF_FIT_UNKNOWN)
            fit = one;
    }
    return fit;
}

/* u's writes; *ret_changed: of a key that is looked at.  False: the order of
 * two writers is not known. */
static bool apply(const claim *c, hf_scene *s, hf_txn_id u, bool *ret_changed)
{
    const hf_verifier *v = c->v;
    const hf_facts *f = &v->facts;

    for (uint32_t w = f->write_first[u]; w < f->write_first[u + 1]; w++) {
        hf_key_id key = f->write_key[w];

        if (!c->watched[key])
            continue;
        *ret_changed = true;
        if (c->e->time && s->now[key] != HF_NONE &&
            c->e->time[hf_op_txn(v->h, f->write_op[s->now[key]])] ==
                c->e->time[u])
            return refuse(c, "two writers of one key have equal times");
        s->now[key] = w;
    }
    return true;
}

/* No state from `least` on fits all probes. */
static bool no_state_fits(claim *c)
{
    hf_verifier *v = c->v;
    uint32_t end = c->e->place[c->t];
    hf_scene s = {.v = v, .place = c->e->place, .t = c->t};
    bool changed = true;

    s.now = hf_nones(v, v->h->n_keys, sizeof(*s.now));
    for (;; s.q++) {
        if (s.q >= c->least && changed) {
            hf_fit fit = all_fit(c, &s);

            if (fit == HF_FITS)
                return refuse(c, "a state of the order fits them");
            if (fit == HF_FIT_UNKNOWN)
                return hf_give_up(v, HF_ERR_UNSUPPORTED,
                                  "a condition or a value is not known");
            changed = false;
        }
        if (s.q == end)
            return true;
        if (!apply(c, &s, c->e->at[s.q], &changed) || hf_out_of_budget(v))
            return false;
    }
}

/* ---- serializable -------------------------------------------------------- */

/* Did the operation return this value, or say that it looked at it? */
static bool has_seen(const hf_history *h, hf_op_id op, hf_value_id value)
{
    uint32_t n = hf_item_reads(h, op);

    for (uint32_t i = 0; i < n; i++) {
        hf_value_id seen = hf_item_read_at(h, op, i).value;

        if (seen == value ||
            (h->value_type[seen] == HF_LIST && hf_list_last(h, seen) == value))
            return true;
    }
    return false;
}

/* A write that explains: of a key that is looked at, and either in the state,
 * or older, or of a value that was seen. */
static bool explains(const claim *c, hf_op_id op)
{
    const hf_history *h = c->v->h;

    if (!hf_op_writes(h, op) || !c->watched[h->op_key[op]])
        return false;
    return c->e->place[hf_op_txn(h, op)] <= c->e->place[c->t] ||
           has_seen(h, c->probes[0].op, hf_op_written(h, op));
}

static bool check_serial(claim *c)
{
    hf_verifier *v = c->v;

    if (!add_probe(c, v->w->ops[0]))
        return false;
    c->least = c->e->place[c->t];
    if (is_tied(c))
        return refuse(c, "equal times leave its place open");
    for (uint32_t i = 1; i < v->w->n_ops; i++)
        if (!explains(c, v->w->ops[i]))
            return refuse(c, "a write that is named explains nothing");
    return no_state_fits(c);
}

/* ---- snapshots ----------------------------------------------------------- */

static void raise(claim *c, uint32_t state)
{
    if (state > c->least)
        c->least = state;
}

/* States from before another wrote the key, up to T. */
static void keep_conflict(claim *c, hf_key_id key)
{
    const hf_verifier *v = c->v;

    for (uint32_t i = 0; i < c->e->place[c->t]; i++)
        if (hf_facts_writes(&v->facts, c->e->at[i], key))
            raise(c, i + 1);
}

/* Session order and real time: those before T are in its snapshot. */
static void keep_before(claim *c)
{
    const hf_history *h = c->v->h;
    uint64_t begin = hf_txn_begin_time(h, c->t);

    for (uint32_t i = 0; i < c->e->place[c->t]; i++) {
        hf_txn_id u = c->e->at[i];
        uint64_t end = hf_txn_end_time(h, u);

        if (c->v->info->session_order && u < c->t &&
            h->txn_session[u] == h->txn_session[c->t])
            raise(c, i + 1);
        if (c->v->info->real_time && begin != HF_TIME_NONE && end < begin &&
            h->txn_outcome[u] == HF_COMMITTED)
            raise(c, i + 1);
    }
}

static bool check_states(claim *c)
{
    hf_verifier *v = c->v;

    for (uint32_t i = 0; i < v->w->n_ops; i++) {
        hf_op_id op = v->w->ops[i];

        if (hf_op_txn(v->h, op) != c->t)
            return refuse(c, "they are of several transactions");
        if (is_read(v->h, op) && !add_probe(c, op))
            return false;
        if (v->info->shape == HF_SHAPE_SNAPSHOT && hf_op_writes(v->h, op))
            keep_conflict(c, v->h->op_key[op]);
    }
    if (c->n_probes == 0)
        return refuse(c, "nothing is read");
    if (v->info->shape != HF_SHAPE_SNAPSHOT && c->n_probes > 1)
        return refuse(c, "expected one operation");
    if (v->info->shape == HF_SHAPE_SNAPSHOT)
        keep_before(c);
    return no_state_fits(c);
}

/* ---- read atomic --------------------------------------------------------- */

/* The greatest place + 1 of a version with this value before T; the initial
 * one is 0, none is HF_NONE.  *ret_n: how many versions have it. */
static uint32_t newest_with(const claim *c, hf_key_id key, hf_value_id value,
                            uint32_t *ret_n)
{
    const hf_verifier *v = c->v;
    const hf_facts *f = &v->facts;
    uint32_t newest = HF_NONE;

    *ret_n = 0;
    if (hf_value_is_initial(v->h, key, value)) {
        newest = 0;
        ++*ret_n;
    }
    for (uint32_t i = 0; i < c->e->place[c->t]; i++) {
        uint32_t slot = hf_facts_slot(f, c->e->at[i], key);

        if (slot == HF_NONE || hf_op_written(v->h, f->write_op[slot]) != value)
            continue;
        newest = i + 1;
        ++*ret_n;
    }
    return newest;
}

/* A read of T of another's version, with no own write before; rows too.  A
 * list is known by its last element. */
static bool reads_of_others(const claim *c, hf_op_id op, hf_key_id key,
                            hf_item_read *ret)
{
    hf_verifier *v = c->v;

    if (hf_op_txn(v->h, op) != c->t ||
        hf_own_write_before(v->h, &v->facts, c->t, op, key) != HF_NONE ||
        (v->facts.key_use[key] & HF_KEY_BLIND) ||
        !hf_read_of_key(v, op, key, ret) ||
        hf_look_at_key(c->v, op, key) != HF_LOOK_ITEM)
        return false;
    if (v->h->value_type[ret->value] == HF_LIST)
        ret->value = hf_list_last(v->h, ret->value);
    return true;
}

static bool is_visible(const claim *c, hf_txn_id u)
{
    const hf_verifier *v = c->v;
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    hf_op_id op;

    if (v->w->n_ops == 2)
        return u < c->t && h->txn_session[u] == h->txn_session[c->t];
    op = v->w->ops[2];
    for (uint32_t s = f->write_first[u]; s < f->write_first[u + 1]; s++) {
        hf_item_read read;
        uint32_t n;

        if (reads_of_others(c, op, f->write_key[s], &read) &&
            hf_op_written(h, f->write_op[s]) == read.value &&
            newest_with(c, read.key, read.value, &n) == c->e->place[u] + 1 &&
            n == 1)
            return true;
    }
    return false;
}

static bool check_atomic(claim *c)
{
    hf_verifier *v = c->v;
    const hf_op_id *ops = v->w->ops;
    hf_key_id key = v->h->op_key[ops[1]];
    hf_txn_id u = hf_op_txn(v->h, ops[1]);
    hf_item_read read;
    uint32_t newest, n;

    if (!hf_op_writes(v->h, ops[1]) || u == c->t ||
        c->e->place[u] >= c->e->place[c->t] ||
        !reads_of_others(c, ops[0], key, &read))
        return refuse(c, "expected a read and a write of its key by another "
                         "before it");
    if (!is_visible(c, u))
        return refuse(c, "the writer need not be visible");
    newest = newest_with(c, key, read.value, &n);
    return (newest != HF_NONE && newest < c->e->place[u] + 1) ||
           refuse(c, "the version read may be as new as the write");
}

/* ---- all ----------------------------------------------------------------- */

/* Two transactions in the wrong order? */
static bool is_reversed(const claim *c)
{
    const hf_verifier *v = c->v;
    const hf_history *h = v->h;
    hf_txn_id a, b;

    if (v->w->n_ops != 3 || v->w->ops[0] != v->w->ops[2])
        return false;
    a = c->t;
    b = hf_op_txn(h, v->w->ops[1]);
    if (a == b || c->e->place[b] == HF_NONE ||
        c->e->place[b] > c->e->place[a] ||
        (c->e->time && c->e->time[a] == c->e->time[b]))
        return false;
    if (v->info->session_order && a < b &&
        h->txn_session[a] == h->txn_session[b])
        return true;
    return v->info->real_time && h->txn_outcome[a] == HF_COMMITTED &&
           hf_txn_begin_time(h, b) != HF_TIME_NONE &&
           hf_txn_end_time(h, a) < hf_txn_begin_time(h, b);
}

static bool level_fits(hf_verifier *v)
{
    bool fits = v->info->shape == HF_SHAPE_SERIAL ||
                v->info->shape == HF_SHAPE_SNAPSHOT ||
                v->level == HF_READ_COMMITTED || v->level == HF_READ_ATOMIC;

    return fits ||
           hf_refuse(v, "%s is not given by states of an order", v->info->name);
}

static bool judge(claim *c)
{
    hf_verifier *v = c->v;

    if (c->e->is_open)
        return refuse(c, "a transaction of unknown outcome may have happened");
    if ((v->info->shape == HF_SHAPE_SERIAL ||
         v->info->shape == HF_SHAPE_SNAPSHOT) &&
        is_reversed(c))
        return true;
    if (v->info->shape == HF_SHAPE_SERIAL)
        return check_serial(c);
    if (c->e->has_ties)
        return refuse(c, "equal times leave states of the order open");
    return v->level == HF_READ_ATOMIC && v->w->n_ops > 1 ? check_atomic(c)
                                                         : check_states(c);
}

bool hf_verify_expected(hf_verifier *v)
{
    unsigned by = v->w->rests;
    claim c = {.v = v};

    if ((by & ~HF_REST_EXPECTED) || by == 0 || (by & (by - 1)))
        return hf_refuse(v,
                         "%s rests on one expected order, and the witness "
                         "does not say so",
                         hf_anomaly_get(HF_EXPECTED_STATE)->name);
    if (!level_fits(v))
        return false;
    if (v->w->n_ops == 0)
        return hf_refuse(v, "no operation is named");
    for (uint32_t i = 0; i < v->w->n_ops; i++)
        if (!hf_op_counts(v->h, v->w->ops[i]))
            return hf_refuse(v, "operation %u failed and had no effect",
                             (unsigned)v->w->ops[i]);
    c.e = hf_expectation_get(v, by);
    if (!c.e)
        return false;
    c.t = hf_op_txn(v->h, v->w->ops[0]);
    if (c.e->place[c.t] == HF_NONE)
        return refuse(&c, "the transaction did not happen");
    c.probes = hf_zeros(v, v->w->n_ops, sizeof(*c.probes));
    c.watched = hf_zeros(v, v->h->n_keys, sizeof(*c.watched));
    return judge(&c);
}

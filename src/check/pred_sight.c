/* pred_sight.c: what was looked at and read from, through snapshots by time.
 *
 * Of an operation with a snapshot by time nothing is listed but the rows that
 * it returned.  Whether it reads from an event of its chains, and whether a
 * version contradicts what it looked at, is asked when somebody wants to know,
 * and then exactly, by the rules of pred_weak.c.  Sources are gone through from
 * the newest one back, until neither they nor what is before them is of
 * interest.
 *
 * Needed are commit times that ascend along the versions of every key: then
 * what is behind a snapshot is what was committed after it.
 *
 * O(log versions) for each question; for the sources, that for each event of
 * interest.
 */
#include "check/pred_sight.h"

#include <stdlib.h>
#include <string.h>

typedef struct hf_pred_sight sight;

/* ---- what an operation looked at ----------------------------------------- */

static const hf_sight_row *row_of(const sight *s, uint32_t i, hf_key_id key)
{
    uint32_t low = s->row_first[i], high = s->row_first[i + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->rows.at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->row_first[i + 1] && s->rows.at[low].key == key
               ? &s->rows.at[low]
               : NULL;
}

static bool wrote_before(const sight *s, const hf_pred_op *o, hf_key_id key)
{
    hf_op_id own;

    return !o->fresh && hf_pred_own_write(s->g->h, o->txn, o->op, key, &own);
}

static void list_rows(sight *s, uint32_t i)
{
    hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    const hf_history *h = s->g->h;

    if (!hf_pred_sort_rows(p, &o->q)) {
        s->dead[i] = 1;
        return;
    }
    for (size_t k = 0; !o->aggregate && k < p->rows.n; k++) {
        hf_key_id key = h->value_key[p->rows.at[k].value];
        bool inside =
            p->table_of_key[key] == p->conditions.at[o->condition].table;
        uint32_t ver;

        if (wrote_before(s, o, key) || (inside && !o->q.has_result_set))
            continue;
        ver = inside ? hf_pred_version_at(p, o, key)
                     : hf_pred_version(p, o, p->rows.at[k], true);
        if (ver != HF_NONE)
            hf_vec_push(&s->rows, (hf_sight_row){key, ver});
    }
}

static void list_all_rows(sight *s)
{
    s->row_first = HF_NEW_ARRAY(uint32_t, s->p->ops.n + 1);
    s->dead = HF_NEW_ZEROED(uint8_t, s->p->ops.n + 1);
    for (uint32_t i = 0; i < s->p->ops.n; i++) {
        s->row_first[i] = (uint32_t)s->rows.n;
        list_rows(s, i);
    }
    s->row_first[s->p->ops.n] = (uint32_t)s->rows.n;
}

static bool is_flip(const hf_pred *p, const hf_pred_condition *c, uint32_t ver)
{
    return hf_pred_holds(p, c, ver) != hf_pred_holds(p, c, ver - 1);
}

/* Was version r of the key, in the snapshot, returned? */
static bool is_returned(const sight *s, uint32_t i, hf_key_id key, uint32_t r)
{
    const hf_pred_op *o = &s->p->ops.at[i];

    if (!o->all)
        return row_of(s, i, key) != NULL;
    return hf_pred_holds(s->p, &s->p->conditions.at[o->condition], r);
}

/* The operation has an event `ver` in its snapshot: does it read from it, not
 * as a row? */
static bool reads_event(const sight *s, uint32_t i, uint32_t ver,
                        hf_edge_kind *ret)
{
    const hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    hf_key_id key = p->ver_key[ver];
    uint32_t r = hf_pred_version_at(p, o, key);

    if (wrote_before(s, o, key))
        return false;
    if (is_returned(s, i, key, r)) {
        *ret = HF_EDGE_WR;
        return o->all && ver == r;
    }
    *ret = HF_EDGE_PWR;
    return is_flip(p, &p->conditions.at[o->condition], ver);
}

/* ---- all ----------------------------------------------------------------- */

void hf_sight_prepare(sight *s)
{
    size_t n = (size_t)s->g->h->n_txns + 1;

    s->place = HF_NEW_ZEROED(uint32_t, n);
    s->most = HF_NEW_ZEROED(uint32_t, n);
    s->wrote = HF_NEW_ZEROED(uint32_t, n);
    s->saw = HF_NEW_ZEROED(uint32_t, n);
    s->via = HF_NEW_ZEROED(uint32_t, n);
    s->tested = HF_NEW_ZEROED(uint32_t, n);
    s->passed = HF_NEW_ZEROED(uint32_t, n);
    list_all_rows(s);
}

void hf_sight_release(sight *s)
{
    hf_free(s->row_first);
    hf_free(s->dead);
    hf_free(s->place);
    hf_free(s->most);
    hf_free(s->wrote);
    hf_free(s->saw);
    hf_free(s->via);
    hf_free(s->reach);
    hf_free(s->tested);
    hf_free(s->passed);
    hf_vec_release(&s->rows);
}

bool hf_pred_is_timed(const hf_pred *p)
{
    if (p->ops.n == 0 || p->any_uncertain || !hf_pred_is_regular(p))
        return false;
    for (size_t i = 0; i < p->ops.n; i++)
        if (!p->ops.at[i].timed)
            return false;
    return true;
}

void hf_sight_bound_chains(sight *s)
{
    const hf_pred *p = s->p;
    uint32_t room = 0;

    for (size_t i = 0; i < p->chain.n; i++)
        room = hf_sight_later(room, p->chain.at[i].first + p->chain.at[i].n);
    s->reach =
        hf_alloc_large(hf_array_size((size_t)room + 1, sizeof(uint32_t)));
    for (size_t i = 0; i < p->chain.n; i++) {
        const hf_pred_chain *c = &p->chain.at[i];
        uint32_t most = 0;

        for (uint32_t k = c->first; k < c->first + c->n; k++)
            s->reach[k] = most =
                hf_sight_later(most, hf_sight_via(s, hf_pred_event_ver(p, k)));
    }
}

/* ---- what t reads from --------------------------------------------------- */

static bool take_source(sight *s, hf_txn_id t, hf_edge_kind kind, uint32_t ver,
                        hf_op_id op, bool via, hf_sight_work work)
{
    const hf_graph *g = s->g;
    hf_txn_id from = g->ver_txn[ver];
    hf_edge e = {kind, from, t, s->p->ver_key[ver], g->ver_op[ver], op};

    if (from == HF_NONE || from == t ||
        (via ? s->via[from] : hf_sight_rank(s, ver)) <= s->limit)
        return false;
    return work(s, &e);
}

static bool each_event(sight *s, uint32_t i, const hf_pred_chain *c, bool via,
                       hf_sight_work work)
{
    const hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    uint32_t until = hf_pred_events_before(p, c, o->ticks);

    for (uint32_t k = c->first + until; k-- > c->first;) {
        uint32_t ver = hf_pred_event_ver(p, k);
        hf_edge_kind kind;

        if ((via ? s->reach[k] : hf_sight_rank(s, ver)) <= s->limit)
            return false; /* nor any before it */
        if (via && hf_sight_via(s, ver) <= s->limit)
            continue;
        if (reads_event(s, i, ver, &kind) &&
            take_source(s, o->txn, kind, ver, o->op, via, work))
            return true;
    }
    return false;
}

static bool each_of_op(sight *s, uint32_t i, bool via, hf_sight_work work)
{
    const hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    if (s->dead[i])
        return false;
    for (uint32_t k = s->row_first[i]; k < s->row_first[i + 1]; k++)
        if (take_source(s, o->txn, HF_EDGE_WR, s->rows.at[k].ver, o->op, via,
                        work))
            return true;
    for (uint32_t k = 0; k < c->n_covers[o->all]; k++)
        if (each_event(s, i,
                       &p->chain.at[p->covers.at[c->cover_first[o->all] + k]],
                       via, work))
            return true;
    return false;
}

bool hf_sight_sources(sight *s, hf_txn_id t, bool via, hf_sight_work work)
{
    const hf_history *h = s->g->h;
    uint32_t next = s->p->op_first[t];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(s->g, o);

        if (ver != HF_NONE && take_source(s, t, HF_EDGE_WR, ver, o, via, work))
            return true;
        if (next < s->p->op_first[t + 1] && s->p->ops.at[next].op == o &&
            each_of_op(s, next++, via, work))
            return true;
    }
    return false;
}

/* ---- contradictions ------------------------------------------------------ */

/* t3's look with `op` is older than `ver`, of somebody visible; `first` is the
 * change that contradicts it. */
static void offer(sight *s, hf_edge_kind kind, hf_op_id op, uint32_t first,
                  uint32_t ver, const hf_edge *edge)
{
    const hf_graph *g = s->g;
    hf_key_id key = s->p->ver_key[ver];
    uint32_t n = 0;
    hf_edge e[6];

    e[n++] =
        (hf_edge){kind, s->t3, g->ver_txn[first], key, op, g->ver_op[first]};
    if (first != ver)
        e[n++] = (hf_edge){HF_EDGE_WW, g->ver_txn[first], g->ver_txn[ver],
                           key,        g->ver_op[first],  g->ver_op[ver]};
    e[n++] = *edge;
    memcpy(e + n, s->tail, s->n_tail * sizeof(hf_edge));
    n += s->n_tail;
    if (s->n_best == 0 || n < s->n_best) {
        memcpy(s->best, e, n * sizeof(hf_edge));
        s->n_best = n;
    }
}

/* The first version behind r that changes the matches, not t3's own, up to
 * ver; ver itself if it does. */
static uint32_t first_change(const sight *s, const hf_pred_condition *c,
                             uint32_t r, uint32_t ver)
{
    if (is_flip(s->p, c, ver))
        return ver;
    for (uint32_t v = r + 1; v < ver; v++)
        if (s->g->ver_txn[v] != s->t3 && is_flip(s->p, c, v))
            return v;
    return HF_NONE;
}

static void test_condition(sight *s, uint32_t i, uint32_t ver,
                           const hf_edge *edge)
{
    const hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    hf_key_id key = p->ver_key[ver];
    const hf_sight_row *returned = row_of(s, i, key);
    uint32_t r, first;

    if (s->dead[i])
        return;
    if (returned) {
        if (returned->ver < ver)
            offer(s, HF_EDGE_RW, o->op, ver, ver, edge);
        return;
    }
    if (p->table_of_key[key] != c->table || wrote_before(s, o, key))
        return;
    r = hf_pred_version_at(p, o, key);
    if (ver <= r)
        return;
    if (is_returned(s, i, key, r)) {
        offer(s, HF_EDGE_RW, o->op, ver, ver, edge);
        return;
    }
    first = first_change(s, c, r, ver);
    if (first != HF_NONE)
        offer(s, HF_EDGE_PRW, o->op, first, ver, edge);
}

/* A version of somebody visible, against all that t3 looked at. */
static void test_version(sight *s, uint32_t ver, const hf_edge *edge)
{
    const hf_history *h = s->g->h;
    hf_key_id key = s->p->ver_key[ver];
    uint32_t next = s->p->op_first[s->t3];
    hf_op_id o = h->op_first[s->t3];

    if (s->axiom & HF_AXIOM_EARLIER_READ)
        o = edge->to_op + 1;
    while (next < s->p->op_first[s->t3 + 1] && s->p->ops.at[next].op < o)
        next++;
    for (; o < h->op_first[s->t3 + 1]; o++) {
        uint32_t read = hf_graph_source(s->g, o);

        if (read != HF_NONE && h->op_key[o] == key && read < ver)
            offer(s, HF_EDGE_RW, o, ver, ver, edge);
        if (next < s->p->op_first[s->t3 + 1] && s->p->ops.at[next].op == o)
            test_condition(s, next++, ver, edge);
    }
}

bool hf_sight_test(sight *s, const hf_edge *edge)
{
    const hf_history *h = s->g->h;
    hf_txn_id t2 = edge->from;

    if (t2 == s->t3 || s->tested[t2] == s->round)
        return false;
    s->tested[t2] = s->round;
    for (hf_op_id w = h->op_first[t2]; w < h->op_first[t2 + 1]; w++) {
        uint32_t ver = hf_pred_installed(s->g, w);

        if (ver != HF_NONE)
            test_version(s, ver, edge);
    }
    return s->n_best > 0 && s->n_best <= s->n_tail + 2;
}

/* ---- for others ---------------------------------------------------------- */

hf_pred_sight *hf_pred_sight_new(hf_pred *p, const uint32_t *reach)
{
    sight *s = HF_NEW(sight);

    s->g = p->g;
    s->p = p;
    hf_sight_prepare(s);
    for (hf_txn_id t = 0; t < p->g->h->n_txns; t++)
        s->via[t] = p->rank[t] == HF_NONE
                        ? reach[t]
                        : hf_sight_later(reach[t], p->rank[t] + 1);
    hf_sight_bound_chains(s);
    return s;
}

void hf_pred_sight_free(hf_pred_sight *s)
{
    if (s)
        hf_sight_release(s);
    hf_free(s);
}

bool hf_pred_sight_misses(hf_pred_sight *s, hf_txn_id t3, hf_txn_id t2)
{
    hf_edge edge = hf_sight_so(t2, t3);

    s->t3 = t3;
    s->n_best = 0;
    s->round++;
    (void)hf_sight_test(s, &edge);
    return s->n_best > 0;
}

static bool pass_on(sight *s, const hf_edge *edge)
{
    s->work(s->user, edge->from);
    return false;
}

void hf_pred_sight_sources(hf_pred_sight *s, hf_txn_id t, uint32_t limit,
                           hf_pred_source_work work, void *user)
{
    s->limit = limit;
    s->work = work;
    s->user = user;
    (void)hf_sight_sources(s, t, true, pass_on);
}

/* serial.c: the forced order of a chosen execution, and its cycles.
 *
 * For each pair (b, c) where c reads from b there is a set of transactions
 * that write one of those keys as well: none of them may come between b and
 * c.  One matrix row for each pair; keys are forgotten.  The rules
 *
 *     a before c  =>  a before b      (ww)
 *     b before a  =>  c before a      (rw)
 *
 * for a in the set of (b, c) are then a few operations on words, repeated
 * until nothing changes.
 *
 * A predicate operation that a row is outside of says less: the last version
 * before it is one that does not match.  If there is one such version only,
 * it is a pair like the others; else serial_search.c looks at it.
 *
 * O(pairs * n / 64) for each round, O(n^2 / 64) for each edge found.
 */
#include "predict/serial_impl.h"

#include <string.h>

#include "base/error.h"

void hf_chosen_init(hf_chosen *x, const hf_events *e)
{
    x->cut = HF_NEW_ZEROED(uint32_t, e->sessions.n + 1);
    x->source = HF_NEW_ZEROED(uint32_t, e->reads.n + 1);
}

void hf_chosen_release(hf_chosen *x)
{
    hf_free(x->cut);
    hf_free(x->source);
    x->cut = x->source = NULL;
}

hf_serial *hf_serial_new(const hf_events *e)
{
    hf_serial *s = HF_NEW(hf_serial);

    s->e = e;
    s->n = e->n;
    s->words = (e->n + 63) / 64;
    s->after = HF_NEW_ZEROED(uint64_t, (size_t)s->n * s->words);
    s->before = HF_NEW_ZEROED(uint64_t, (size_t)s->n * s->words);
    s->pair_of = HF_NEW_ARRAY(uint32_t, (size_t)s->n * s->n);
    return s;
}

void hf_serial_free(hf_serial *s)
{
    if (!s)
        return;
    hf_free(s->after);
    hf_free(s->before);
    hf_free(s->pair_of);
    hf_vec_release(&s->pairs);
    hf_vec_release(&s->sets);
    hf_vec_release(&s->edges);
    hf_vec_release(&s->rows);
    hf_free(s);
}

/* ---- pairs --------------------------------------------------------------- */

static uint64_t *set_of(hf_serial *s, uint32_t b, uint32_t c)
{
    uint32_t *at = &s->pair_of[(size_t)b * s->n + c];

    if (*at == HF_NONE) {
        *at = (uint32_t)s->pairs.n;
        hf_vec_push(&s->pairs, (hf_serial_pair){b, c});
        hf_vec_reserve(&s->sets, s->words);
        memset(s->sets.at + s->sets.n, 0, s->words * sizeof(uint64_t));
        s->sets.n += s->words;
    }
    return s->sets.at + (size_t)*at * s->words;
}

static void add_pair(hf_serial *s, const hf_chosen *x, const hf_event_read *r,
                     uint32_t b)
{
    const hf_events *e = s->e;
    const hf_event_group *g = &e->groups.at[r->group];
    uint64_t *set = set_of(s, b, r->txn);

    for (uint32_t i = 0; i < g->n_writes; i++) {
        const hf_event_write *w = &e->writes.at[g->write + i];

        if (w->txn != b && w->txn != r->txn &&
            hf_chosen_has(e, x, w->txn, w->segment))
            hf_bit_set(set, w->txn);
    }
}

/* Is that version there at all? */
static bool source_has(const hf_serial *s, const hf_chosen *x,
                       const hf_event_read *r, uint32_t txn)
{
    const hf_event_write *w;

    if (txn == 0)
        return true;
    w = hf_events_write(s->e, r->key, txn);
    return w && hf_chosen_has(s->e, x, txn, w->segment);
}

/* A row outside of a result: those that match must not be last before it. */
static void add_row(hf_serial *s, const hf_chosen *x, uint32_t read)
{
    const hf_events *e = s->e;
    const hf_event_read *r = &e->reads.at[read];
    uint32_t outside = 0, inside = 0, only = 0;

    for (uint32_t i = 0; i < r->n_sources; i++) {
        const hf_event_source *from = &e->sources.at[r->source + i];

        if (!source_has(s, x, r, from->txn))
            continue;
        if (from->matches) {
            inside++;
        } else {
            outside++;
            only = from->txn;
        }
    }
    if (inside == 0)
        return;
    /* versions nobody can judge may be outside as well */
    if (outside == 1 && r->n_sources == hf_serial_versions(e, r))
        add_pair(s, x, r, only);
    else
        hf_vec_push(&s->rows, read);
}

uint32_t hf_serial_versions(const hf_events *e, const hf_event_read *r)
{
    const hf_event_group *g = &e->groups.at[r->group];
    uint32_t n = 1;

    for (uint32_t i = 0; i < g->n_writes; i++) {
        uint32_t w = e->writes.at[g->write + i].txn;

        n += w != r->txn && !hf_events_so(e, r->txn, w);
    }
    return n;
}

static void find_pairs(hf_serial *s, const hf_chosen *x)
{
    const hf_events *e = s->e;

    s->pairs.n = s->sets.n = s->rows.n = 0;
    memset(s->pair_of, 0xff, (size_t)s->n * s->n * sizeof(*s->pair_of));
    for (uint32_t i = 0; i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];
        const hf_event_source *from;

        if (x->source[i] == HF_NONE)
            continue;
        from = &e->sources.at[r->source + x->source[i]];
        if (from->matches)
            add_pair(s, x, r, from->txn);
        else
            add_row(s, x, i);
    }
}

/* ---- the forced order ---------------------------------------------------- */

/* u before v, and all that follows by going on. */
static void add_edge(hf_serial *s, uint32_t u, uint32_t v, unsigned kind,
                     uint32_t pair)
{
    uint64_t *row;

    if (s->cyclic)
        return;
    s->cyclic = hf_bit_get(hf_serial_after(s, v), u);
    hf_vec_push(&s->edges, (hf_serial_edge){u, v, kind, pair});
    if (hf_bit_get(hf_serial_after(s, u), v))
        return;
    for (uint32_t x = 0; x < s->n; x++) {
        if (x != u && !hf_bit_get(hf_serial_before(s, u), x))
            continue;
        row = hf_serial_after(s, x);
        for (uint32_t w = 0; w < s->words; w++)
            row[w] |= hf_serial_after(s, v)[w];
        hf_bit_set(row, v);
    }
    for (uint32_t x = 0; x < s->n; x++) {
        if (x != v && !hf_bit_get(hf_serial_after(s, v), x))
            continue;
        row = hf_serial_before(s, x);
        for (uint32_t w = 0; w < s->words; w++)
            row[w] |= hf_serial_before(s, u)[w];
        hf_bit_set(row, u);
    }
}

/* What follows from one pair. */
static void look_at_pair(hf_serial *s, uint32_t pair)
{
    uint32_t b = s->pairs.at[pair].b, c = s->pairs.at[pair].c;
    const uint64_t *set = s->sets.at + (size_t)pair * s->words;

    for (uint32_t w = 0; w < s->words; w++) {
        uint64_t ww = b == 0 ? 0
                             : set[w] & hf_serial_before(s, c)[w] &
                                   ~hf_serial_before(s, b)[w];
        uint64_t rw =
            set[w] & hf_serial_after(s, b)[w] & ~hf_serial_after(s, c)[w];

        for (; ww; ww &= ww - 1)
            add_edge(s, w * 64 + (uint32_t)__builtin_ctzll(ww), b,
                     HF_PREDICTED_WW, pair);
        for (; rw; rw &= rw - 1)
            add_edge(s, c, w * 64 + (uint32_t)__builtin_ctzll(rw),
                     HF_PREDICTED_RW, pair);
    }
}

static void close_pairs(hf_serial *s)
{
    bool more = true;

    while (more && !s->cyclic) {
        size_t n = s->edges.n;

        for (uint32_t i = 0; i < s->pairs.n && !s->cyclic; i++)
            look_at_pair(s, i);
        more = s->edges.n > n;
    }
}

static void known_edges(hf_serial *s)
{
    const hf_events *e = s->e;

    memset(s->after, 0, (size_t)s->n * s->words * sizeof(uint64_t));
    memset(s->before, 0, (size_t)s->n * s->words * sizeof(uint64_t));
    s->edges.n = 0;
    s->cyclic = false;
    for (uint32_t t = 1; t < s->n; t++)
        add_edge(s, e->before[t], t, HF_PREDICTED_SO, HF_NONE);
    for (uint32_t i = 0; i < s->pairs.n; i++)
        if (s->pairs.at[i].b != 0)
            add_edge(s, s->pairs.at[i].b, s->pairs.at[i].c, HF_PREDICTED_WR, i);
}

hf_serial_answer hf_serial_judge(hf_serial *s, const hf_chosen *x,
                                 hf_budget *budget, uint32_t *ret_place)
{
    find_pairs(s, x);
    known_edges(s);
    close_pairs(s);
    if (s->cyclic)
        return HF_SERIAL_CYCLE;
    return hf_serial_search(s, x, budget, ret_place);
}

/* ---- the cycle ----------------------------------------------------------- */

/* Shortest way from `from` back to it; the edges in reverse in ret. */
static uint32_t cycle_from(const hf_serial *s, uint32_t from, uint32_t most,
                           uint32_t *came, uint32_t *queue, uint32_t *ret)
{
    uint32_t head = 0, tail = 0, n = 0;

    memset(came, 0xff, s->n * sizeof(*came));
    queue[tail++] = from;
    for (uint32_t depth = 0; head < tail && depth < most; depth++)
        for (uint32_t level = tail; head < level; head++)
            for (uint32_t i = 0; i < s->edges.n; i++) {
                const hf_serial_edge *d = &s->edges.at[i];

                if (d->from != queue[head] || came[d->to] != HF_NONE)
                    continue;
                came[d->to] = i;
                if (d->to == from)
                    goto found;
                queue[tail++] = d->to;
            }
    return 0;
found:
    for (uint32_t at = from; n == 0 || at != from;) {
        ret[n++] = came[at];
        at = s->edges.at[came[at]].from;
    }
    return n;
}

/* A key that makes the edge. */
static hf_key_id key_of(const hf_serial *s, const hf_chosen *x,
                        const hf_serial_edge *d)
{
    const hf_events *e = s->e;
    uint32_t a = d->kind == HF_PREDICTED_WW   ? d->from
                 : d->kind == HF_PREDICTED_RW ? d->to
                                              : HF_NONE;

    for (uint32_t i = 0; d->pair != HF_NONE && i < e->reads.n; i++) {
        const hf_event_read *r = &e->reads.at[i];
        const hf_event_source *from;
        const hf_event_write *w;

        if (x->source[i] == HF_NONE || r->txn != s->pairs.at[d->pair].c)
            continue;
        from = &e->sources.at[r->source + x->source[i]];
        if (from->txn != s->pairs.at[d->pair].b)
            continue;
        w = a == HF_NONE ? NULL : hf_events_write(e, r->key, a);
        if (a == HF_NONE || (w && hf_chosen_has(e, x, a, w->segment)))
            return r->key;
    }
    return HF_NONE;
}

/* Steps along one session are one step. */
static uint32_t join_sessions(hf_predicted_edge *edges, uint32_t n)
{
    uint32_t kept = 1;

    for (uint32_t i = 1; i < n; i++) {
        if (edges[i].kind == HF_PREDICTED_SO &&
            edges[kept - 1].kind == HF_PREDICTED_SO)
            edges[kept - 1].to = edges[i].to;
        else
            edges[kept++] = edges[i];
    }
    if (kept > 1 && edges[0].kind == HF_PREDICTED_SO &&
        edges[kept - 1].kind == HF_PREDICTED_SO)
        edges[0].from = edges[--kept].from;
    return kept;
}

uint32_t hf_serial_cycle(hf_serial *s, const hf_chosen *x,
                         hf_predicted_edge *ret)
{
    uint32_t *room = HF_NEW_ARRAY(uint32_t, (size_t)4 * (s->n + 1));
    uint32_t *came = room, *queue = room + s->n + 1;
    uint32_t *found = queue + s->n + 1, *best = found + s->n + 1;
    uint32_t n_best = 0;

    for (uint32_t t = 1; t < s->n; t++) {
        uint32_t n;

        if (!hf_bit_get(hf_serial_after(s, t), t))
            continue;
        n = cycle_from(s, t, n_best ? n_best - 1 : s->n, came, queue, found);
        if (n == 0)
            continue;
        memcpy(best, found, n * sizeof(*best));
        n_best = n;
    }
    HF_ASSERT(n_best > 0);
    for (uint32_t i = 0; i < n_best; i++) {
        const hf_serial_edge *d = &s->edges.at[best[n_best - 1 - i]];

        ret[i] = (hf_predicted_edge){.from = s->e->txn_of[d->from],
                                     .to = s->e->txn_of[d->to],
                                     .kind = (hf_predicted_edge_kind)d->kind,
                                     .key = key_of(s, x, d)};
    }
    hf_free(room);
    return join_sessions(ret, n_best);
}

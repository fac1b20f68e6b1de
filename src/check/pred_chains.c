/* pred_chains.c: the changes of matches, in the order of time.
 *
 * A chain has the events that change what satisfies something: a condition, or
 * a range of values of a column.  An operation stands in one or several of
 * them (its covers): it depends on their events up to its snapshot, and the
 * later ones depend on it (pred_timed.c).
 *
 * A condition whose matches are a set has a chain of its own.  One that is
 * ranges of a column has a chain for each range; or, if there are so many and
 * so wide ones that the events of all these would be too many, it shares those
 * of a tree: its nodes are the ranges of 1, 2, 4, ... values that begin at a
 * multiple of their length, a version is an event where its value or the one
 * before it is inside, O(log) of them, and a range is put together from
 * O(log) nodes.  Nodes that no range needs have no chain.  Conditions that are
 * ranges of several columns together share parts of the table, which are found
 * in a like way (pred_parts.c), with a chain for each.
 *
 * Why several chains are as good as one.  Let condition C be the union of
 * disjoint ranges, or parts, T an operation's transaction with snapshot s, and
 * v an event of one of the ranges that is none of C: v and the version before
 * it, of key k, are both in C (in different ranges, or, where all changes
 * count, anyhow).  Let r be the version of k in the snapshot.  The edge between
 * the writer of v and T that follows from v in its chain stands for a path that
 * is there without it:
 *
 *   v <= r, r in C      r was returned: writer(r) -wr-> T, and v is r or
 *                       writer(v) -ww-> ... writer(r)
 *   v <= r, r not in C  some f in v+1 .. r leaves C: writer(f) -pwr-> T, and
 *                       writer(v) -ww-> ... writer(f)
 *   v > r, r in C       T -rw-> the writer of the version after r, which is v
 *                       or before v: -ww-> ... writer(v)
 *   v > r, r not in C   some f in r+1 .. v-1 enters C: T -prw-> writer(f) -ww->
 *                       ... writer(v)
 *
 * (Where such a writer is T, what is left of the path still leads on from T or
 * up to it.)  Each path has one edge from T or to T of the kind that the new
 * one would be, or of an item, and else ww; so for walks that treat pwr
 * like wr, prw like rw and a ww before a wr or behind a rw as nothing more, a
 * cycle with the new edge is one without it.  That is so of all walks but that
 * of repeatable read, which has rw and not prw: it takes the first two cases
 * only (pred_reads.c).  The conditions on what a transaction has seen, where ww
 * is no way, are asked about exactly (pred_visible.c).  In snapshot isolation
 * ww and wr lead from a commit to a start, rw from a start to a commit:
 * start(T) -rw-> commit(W) -ww-> start(V), commit(V); at prefix ww leads to the
 * commit, which is on the way as well. If T did not return what it should have,
 * the first and the third path are not there, but then the result is wrong,
 * which no level allows. What is shown is found again without chains
 * (pred_cut.c).
 *
 * The number of matches is the sum over the covers, as they are disjoint.
 *
 * With V versions, P operations and R the sum of the matches of all
 * conditions: O((V + P) log V) or O(R + P), whichever is less for the
 * conditions of one column; O((V + P) log^k V / k!) for those that are ranges
 * of k columns; R for those that are sets.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LEAVES (1u << 29)

/* ---- which chains -------------------------------------------------------- */

/* A chain that has a value, with its range. */
typedef struct cover {
    uint32_t chain; /* twice, plus 1 for all changes */
    uint32_t low, n;
} cover;

/* A column whose values have chains. */
typedef struct feed {
    uint32_t table;
    const hf_pred_column *column;
    uint64_t matches, uses; /* what chains of their own would cost */
    bool has_all;           /* some chain is of all changes */
    uint32_t *node[2];      /* of a tree: its chain; NULL: no tree */
    uint32_t size;          /* ... its leaves */
    HF_VEC(uint32_t) chains;
    uint32_t *first; /* per value: its covers */
    cover *list;
} feed;

/* Of the events of a chain so far. */
typedef struct tail {
    uint32_t at; /* where the next one goes */
    int32_t net; /* what the last one left */
} tail;

typedef struct maker {
    hf_pred *p;
    HF_VEC(feed) feeds;
    uint32_t *feed_of; /* per condition; HF_NONE: it has sets, or parts */
    hf_pred_shares shares[2];
    bool any_sets; /* some chains are of sets */
    bool any_tree;
    uint32_t *feed_first; /* per table: into by_table */
    uint32_t *by_table;
    /* chains of sets: their events, by version */
    uint32_t *first; /* per version */
    uint32_t *chain; /* of an event: twice, plus 1 if it matches */
    tail *ends;      /* per chain */
} maker;

static void find_feeds(maker *m)
{
    hf_pred *p = m->p;
    hf_map by_column;

    hf_map_init(&by_column);
    m->feed_of = HF_NEW_ARRAY(uint32_t, p->conditions.n + 1);
    for (size_t i = 0; i < p->conditions.n; i++) {
        const hf_pred_condition *c = &p->conditions.at[i];
        uint32_t n = (uint32_t)m->feeds.n, at = HF_NONE;

        if (c->n_axes == 1 && c->uses[0] + c->uses[1] > 0) {
            at = hf_map_add(&by_column,
                            (uint64_t)c->table << 32 | c->axes->column, n);
            if (at == n)
                hf_vec_push(
                    &m->feeds,
                    (feed){.table = c->table,
                           .column = &p->tables.at[c->table]
                                          .columns.at[c->axes->column]});
            for (unsigned all = 0; all < 2; all++) {
                m->feeds.at[at].matches += c->uses[all] ? c->n_within : 0;
                m->feeds.at[at].uses +=
                    (uint64_t)c->uses[all] * c->axes->n_spans;
            }
        }
        m->feed_of[i] = at;
    }
    hf_map_release(&by_column);
}

/* Is a tree less work than chains for each range? */
static void choose(maker *m)
{
    for (size_t i = 0; i < m->feeds.n; i++) {
        feed *f = &m->feeds.at[i];
        uint64_t versions = m->p->tables.at[f->table].n;

        if ((f->matches <=
                 (versions + f->uses) * hf_pred_depth(f->column->n_numbers) &&
             !m->p->g->options.share) ||
            f->column->n_numbers > MOST_LEAVES)
            continue;
        m->any_tree = true;
        f->size = (uint32_t)1 << hf_pred_depth(f->column->n_numbers);
        for (unsigned all = 0; all < 2; all++) {
            f->node[all] = HF_NEW_ARRAY(uint32_t, 2 * (size_t)f->size);
            memset(f->node[all], 0xff, 2 * (size_t)f->size * sizeof(uint32_t));
        }
    }
}

static uint32_t add_chain(hf_pred *p, hf_pred_chain chain)
{
    hf_vec_push(&p->chain, chain);
    return (uint32_t)p->chain.n - 1;
}

static void add_set(maker *m, uint32_t condition, bool all)
{
    hf_pred *p = m->p;
    const hf_pred_condition *c = &p->conditions.at[condition];
    hf_pred_chain chain = {.condition = condition, .part = HF_NONE, .all = all};

    for (uint32_t i = 0; i < c->match.n; i++)
        chain.start +=
            c->match.at[i] == p->g->ver_first[p->ver_key[c->match.at[i]]];
    m->any_sets = true;
    hf_vec_push(&p->covers, add_chain(p, chain));
}

static uint32_t add_range(maker *m, feed *f, uint32_t low, uint32_t end,
                          bool all)
{
    uint32_t chain = add_chain(m->p, (hf_pred_chain){.condition = HF_NONE,
                                                     .part = HF_NONE,
                                                     .low = low,
                                                     .end = end,
                                                     .all = all});

    hf_vec_push(&f->chains, chain);
    f->has_all |= all;
    return chain;
}

/* The node that is leaves i << level .. of the tree. */
static void add_node(maker *m, feed *f, uint32_t node, unsigned level, bool all)
{
    uint32_t low = (node << level) - f->size, end = low + (1u << level);

    if (end > f->column->n_numbers)
        end = f->column->n_numbers;
    if (f->node[all][node] == HF_NONE)
        f->node[all][node] = add_range(m, f, low, end, all);
    hf_vec_push(&m->p->covers, f->node[all][node]);
}

static void cover_span(maker *m, feed *f, hf_pred_span s, bool all)
{
    uint32_t low = s.low + f->size, end = s.end + f->size;

    if (!f->node[0]) {
        hf_vec_push(&m->p->covers, add_range(m, f, s.low, s.end, all));
        return;
    }
    for (unsigned level = 0; low < end; level++) {
        if (low & 1u)
            add_node(m, f, low++, level, all);
        if (end & 1u)
            add_node(m, f, --end, level, all);
        low >>= 1;
        end >>= 1;
    }
}

/* The chains of its parts; *at goes along with the conditions. */
static void add_parts(maker *m, uint32_t condition, bool all, size_t *at)
{
    const hf_pred_shares *from = &m->shares[all];

    for (; *at < from->n && from->at[*at].condition == condition; ++*at)
        hf_vec_push(&m->p->covers, from->at[*at].chain);
    m->any_sets = true;
}

static void cover_condition(maker *m, uint32_t condition, bool all, size_t *at)
{
    hf_pred_condition *c = &m->p->conditions.at[condition];
    feed *f = NULL;

    if (m->feed_of[condition] != HF_NONE)
        f = &m->feeds.at[m->feed_of[condition]];
    c->cover_first[all] = (uint32_t)m->p->covers.n;
    c->shares = c->n_axes > 1 || (f && f->node[0]);
    if (c->n_axes > 1)
        add_parts(m, condition, all, at);
    else if (!f)
        add_set(m, condition, all);
    for (uint32_t k = 0; f && k < c->axes->n_spans; k++)
        cover_span(m, f, c->axes->spans[k], all);
    c->n_covers[all] = (uint32_t)m->p->covers.n - c->cover_first[all];
}

static void add_chains(maker *m)
{
    size_t at[2] = {0, 0};

    hf_pred_make_parts(m->p, m->shares);
    for (uint32_t i = 0; i < m->p->conditions.n; i++)
        for (unsigned all = 0; all < 2; all++)
            if (m->p->conditions.at[i].uses[all] > 0)
                cover_condition(m, i, all, &at[all]);
}

/* ---- events of ranges ---------------------------------------------------- */

/* For each value the chains that have it. */
static void list_covers(maker *m, feed *f)
{
    const hf_pred_chain *chain = m->p->chain.at;
    uint32_t n = f->column->n_numbers;

    f->first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);
    for (size_t i = 0; i < f->chains.n; i++)
        for (uint32_t v = chain[f->chains.at[i]].low;
             v < chain[f->chains.at[i]].end; v++)
            f->first[v + 2]++;
    for (uint32_t v = 0; v < n; v++)
        f->first[v + 2] += f->first[v + 1];
    f->list = HF_NEW_ARRAY(cover, (size_t)f->first[n + 1] + 1);
    for (size_t i = 0; i < f->chains.n; i++) {
        const hf_pred_chain *c = &chain[f->chains.at[i]];
        cover made = {2 * f->chains.at[i] + c->all, c->low, c->end - c->low};

        for (uint32_t v = c->low; v < c->end; v++)
            f->list[f->first[v + 1]++] = made;
    }
}

/* How many initial versions have values of each chain. */
static void count_starts(maker *m, const feed *f)
{
    const hf_pred_table *t = &m->p->tables.at[f->table];
    uint32_t n = f->column->n_numbers;
    uint32_t *below = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);

    for (uint32_t i = 0; i < t->n; i++)
        if (m->p->g->ver_txn[t->ver[i]] == HF_NONE &&
            f->column->number[i] != HF_NONE)
            below[f->column->number[i] + 1]++;
    for (uint32_t v = 0; v < n; v++)
        below[v + 1] += below[v];
    for (size_t i = 0; i < f->chains.n; i++) {
        hf_pred_chain *c = &m->p->chain.at[f->chains.at[i]];

        c->start = (int64_t)below[c->end] - below[c->low];
    }
    hf_free(below);
}

/* Groups the columns by table. */
static void sort_feeds(maker *m)
{
    size_t n = m->p->tables.n;

    m->feed_first = HF_NEW_ZEROED(uint32_t, n + 2);
    m->by_table = HF_NEW_ARRAY(uint32_t, m->feeds.n + 1);
    for (size_t i = 0; i < m->feeds.n; i++)
        m->feed_first[m->feeds.at[i].table + 1]++;
    for (size_t t = 0; t < n; t++)
        m->feed_first[t + 1] += m->feed_first[t];
    for (size_t i = m->feeds.n; i-- > 0;)
        m->by_table[--m->feed_first[m->feeds.at[i].table + 1]] = (uint32_t)i;
    memmove(m->feed_first, m->feed_first + 1, n * sizeof(uint32_t));
    m->feed_first[n] = (uint32_t)m->feeds.n;
    for (size_t i = 0; i < m->feeds.n; i++) {
        list_covers(m, &m->feeds.at[i]);
        count_starts(m, &m->feeds.at[i]);
    }
}

static inline void put_event(maker *m, uint32_t chain, uint32_t tick,
                             int32_t change, bool matches)
{
    tail *e = &m->ends[chain];

    e->net += change;
    m->p->event[e->at++] = (hf_pred_event){tick, matches, e->net};
}

/* The events that a version is in the chains of a column: counts them, or
 * puts them there. */
static inline void feed_version(maker *m, const feed *f, uint32_t tick,
                                bool put)
{
    uint32_t place = m->p->ver_place[m->p->tick_ver[tick]];
    uint32_t now = f->column->number[place];
    uint32_t before = f->column->number[place - 1];
    const cover *c, *last;

    if (now == before && !f->has_all)
        return;
    c = f->list + (now == HF_NONE ? 0 : f->first[now]);
    last = f->list + (now == HF_NONE ? 0 : f->first[now + 1]);
    for (; c < last; c++) {
        bool stays = before - c->low < c->n;

        if (stays && !(c->chain & 1u))
            continue;
        if (put)
            put_event(m, c->chain / 2, tick, !stays, true);
        else
            m->ends[c->chain / 2].at++;
    }
    c = f->list + (before == HF_NONE ? 0 : f->first[before]);
    last = f->list + (before == HF_NONE ? 0 : f->first[before + 1]);
    for (; c < last; c++) {
        if (now - c->low < c->n)
            continue;
        if (put)
            put_event(m, c->chain / 2, tick, -1, false);
        else
            m->ends[c->chain / 2].at++;
    }
}

/* ---- events of sets ------------------------------------------------------ */

/* Calls back with every event of a chain: the flips of its condition; of one
 * of all changes, every match that somebody wrote and what ends one.  Both
 * sets ascend. */
typedef void (*event_work)(maker *m, uint32_t chain, uint32_t ver,
                           bool matches);

/* The same of a part: the versions before and after each are its neighbours,
 * if they are of its key. */
static inline void each_event_of_part(maker *m, uint32_t chain, event_work work)
{
    const hf_graph *g = m->p->g;
    const hf_pred_part *part = &m->p->parts.at[m->p->chain.at[chain].part];
    const uint32_t *ver = m->p->part_vers.at + part->first;
    bool changes = m->p->chain.at[chain].all;

    for (uint32_t i = 0; i < part->n; i++) {
        bool stays = i > 0 && ver[i - 1] == ver[i] - 1;
        bool goes = i + 1 == part->n || ver[i + 1] != ver[i] + 1;

        /* an initial version is no event, and the next key begins with one */
        if (g->ver_txn[ver[i]] != HF_NONE && (changes || !stays))
            work(m, chain, ver[i], true);
        if (goes && ver[i] + 1 < g->ver_end[m->p->ver_key[ver[i]]])
            work(m, chain, ver[i] + 1, false);
    }
}

static inline void each_event(maker *m, uint32_t chain, event_work work)
{
    const hf_pred *p = m->p;
    const hf_pred_condition *c;
    bool changes = p->chain.at[chain].all;

    if (p->chain.at[chain].part != HF_NONE)
        each_event_of_part(m, chain, work);
    if (p->chain.at[chain].condition == HF_NONE)
        return;
    c = &p->conditions.at[p->chain.at[chain].condition];
    for (uint32_t i = 0; i < c->flip.n; i++)
        if (!changes || !c->flip_on[i])
            work(m, chain, c->flip.at[i], c->flip_on[i]);
    for (uint32_t i = 0; changes && i < c->match.n; i++)
        if (p->g->ver_txn[c->match.at[i]] != HF_NONE)
            work(m, chain, c->match.at[i], true);
}

static inline void count_event(maker *m, uint32_t chain, uint32_t ver,
                               bool matches)
{
    (void)matches;
    m->first[ver + 2]++;
    m->ends[chain].at++;
}

static inline void list_event(maker *m, uint32_t chain, uint32_t ver,
                              bool matches)
{
    m->chain[m->first[ver + 1]++] = 2 * chain + matches;
}

/* Lists them by version; they are put in the order of time without being
 * compared. */
static void list_set_events(maker *m)
{
    uint32_t n_versions = m->p->g->n_versions;
    size_t total = 0;

    m->first = HF_NEW_ZEROED(uint32_t, (size_t)n_versions + 3);
    for (uint32_t i = 0; i < m->p->chain.n; i++)
        each_event(m, i, count_event);
    for (uint32_t v = 0; v < n_versions; v++)
        m->first[v + 2] += m->first[v + 1];
    total = m->first[n_versions + 1];
    m->chain = hf_alloc_large(hf_array_size(total + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < m->p->chain.n; i++)
        each_event(m, i, list_event);
}

/* ---- in the order of time ------------------------------------------------ */

/* The events of sets, of one version. */
static void put_listed(maker *m, uint32_t tick)
{
    uint32_t ver = m->p->tick_ver[tick];

    for (uint32_t k = m->first[ver]; k < m->first[ver + 1]; k++) {
        bool matches = m->chain[k] & 1u;

        put_event(m, m->chain[k] / 2, tick, matches ? 1 : -1, matches);
    }
}

static inline void feed_all(maker *m, bool put)
{
    const hf_pred *p = m->p;

    for (uint32_t tick = 0; tick < p->n_ticks; tick++) {
        uint32_t table = p->table_of_key[p->ver_key[p->tick_ver[tick]]];

        if (table == UINT32_MAX)
            continue;
        for (uint32_t k = m->feed_first[table]; k < m->feed_first[table + 1];
             k++)
            feed_version(m, &m->feeds.at[m->by_table[k]], tick, put);
        if (put && m->any_sets)
            put_listed(m, tick);
    }
}

/* Each version with a value of the range comes, and goes, at most once.  Where
 * the ranges are not many that is counting enough. */
static void limit_events(maker *m)
{
    for (size_t i = 0; i < m->feeds.n; i++) {
        const feed *f = &m->feeds.at[i];

        for (size_t k = 0; k < f->chains.n; k++) {
            const hf_pred_chain *c = &m->p->chain.at[f->chains.at[k]];

            m->ends[f->chains.at[k]].at = 2 * (f->column->number_first[c->end] -
                                               f->column->number_first[c->low]);
        }
    }
}

static void place_events(maker *m)
{
    hf_pred *p = m->p;
    uint32_t total = 0;

    m->ends = HF_NEW_ZEROED(tail, p->chain.n + 1);
    sort_feeds(m);
    if (m->any_sets)
        list_set_events(m);
    if (m->any_tree)
        feed_all(m, false);
    else
        limit_events(m);
    for (uint32_t i = 0; i < p->chain.n; i++) {
        uint32_t most = m->ends[i].at;

        p->chain.at[i].first = m->ends[i].at = total;
        total += most;
    }
    p->event =
        hf_alloc_large(hf_array_size((size_t)total + 1, sizeof(*p->event)));
    feed_all(m, true);
    for (uint32_t i = 0; i < p->chain.n; i++)
        p->chain.at[i].n = m->ends[i].at - p->chain.at[i].first;
}

static void release(maker *m)
{
    for (size_t i = 0; i < m->feeds.n; i++) {
        feed *f = &m->feeds.at[i];

        hf_free(f->node[0]);
        hf_free(f->node[1]);
        hf_free(f->first);
        hf_free(f->list);
        hf_vec_release(&f->chains);
    }
    hf_vec_release(&m->feeds);
    hf_vec_release(&m->shares[0]);
    hf_vec_release(&m->shares[1]);
    hf_free(m->feed_of);
    hf_free(m->feed_first);
    hf_free(m->by_table);
    hf_free(m->first);
    hf_free(m->chain);
    hf_free(m->ends);
}

void hf_pred_make_chains(hf_pred *p)
{
    maker m = {.p = p};

    if (!hf_pred_find_timed(p))
        return;
    find_feeds(&m);
    choose(&m);
    add_chains(&m);
    place_events(&m);
    release(&m);
}

static uint32_t search(const hf_pred *p, const hf_pred_chain *c, uint32_t low,
                       uint32_t high, uint32_t tick)
{
    const hf_pred_event *event = p->event + c->first;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (event[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t hf_pred_events_before(const hf_pred *p, const hf_pred_chain *c,
                               uint32_t tick)
{
    return search(p, c, 0, c->n, tick);
}

/* Most often there are few more. */
uint32_t hf_pred_events_from(const hf_pred *p, const hf_pred_chain *c,
                             uint32_t from, uint32_t tick)
{
    const hf_pred_event *event = p->event + c->first;
    uint32_t step = 1;

    if (from == c->n || event[from].tick >= tick)
        return from;
    while (step < c->n - from && event[from + step].tick < tick) {
        from += step;
        step *= 2;
    }
    return search(p, c, from, step < c->n - from ? from + step : c->n, tick);
}

/* graph_stamps.c: snapshot isolation against the database's own timestamps.
 *
 * Where every transaction has a recorded start and commit there is nothing to
 * search for: a read must return the newest version committed at or before
 * its transaction's start, and of two that write one key the later one must
 * have started after the earlier one's commit.  Whoever does not is named
 * (read outside snapshot, concurrent write), and the verdict rests on the
 * timestamps.  If all do, the starts and commits in the order of time are the
 * witness, which needs no timestamps to be checked.
 *
 * A commit at time c is in a snapshot taken at time s exactly if c <= s, but
 * never in its own.
 *
 * With mixed levels only transactions of a snapshot form are held against
 * their own start; whose commits they should have seen does not matter, a
 * commit is one at every level.  Then the search for an order goes on without
 * the timestamps.
 *
 * O(operations * log(versions of a key)), plus sorting.
 */
#include "check/graph.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

typedef struct stamped {
    uint64_t commit;
    uint32_t ver;
} stamped;

typedef struct stamper {
    hf_graph *g;
    const uint64_t *start, *commit;
    stamped *all;    /* blocks as of versions, but by commit */
    uint8_t *sorted; /* per key: versions and commits have one order */
    bool in_order;   /* known version orders agree with the commits */
} stamper;

/* Has any transaction both?  *ret_all: all have, and one that takes no time at
 * all only reads; else they do not make an order of events, but what they
 * contradict they contradict. */
static bool has_stamps(const hf_graph *g, bool *ret_all)
{
    const hf_history *h = g->h;
    const hf_certificate *c = &h->cert;
    bool any = false;

    *ret_all = true;
    for (hf_txn_id t = 0; c->start_ts && c->commit_ts && t < h->n_txns; t++) {
        if (!g->happened[t])
            continue;
        if (c->start_ts[t] == HF_TIME_NONE || c->commit_ts[t] == HF_TIME_NONE) {
            *ret_all = false;
            continue;
        }
        any = true;
        if (c->start_ts[t] < c->commit_ts[t])
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            *ret_all &= g->op_role[o] == HF_NONE || !(g->op_role[o] & 1u);
    }
    return any;
}

static int by_commit(const void *a, const void *b)
{
    const stamped *x = a, *y = b;

    if (x->commit != y->commit)
        return x->commit < y->commit ? -1 : 1;
    return (x->ver > y->ver) - (x->ver < y->ver);
}

/* Versions of each key by their commits. */
static void sort_versions(stamper *s)
{
    hf_graph *g = s->g;

    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        uint32_t first = g->ver_first[k] + 1, end = g->ver_end[k];

        s->sorted[k] = 1;
        for (uint32_t v = first; v < end; v++) {
            s->all[v] = (stamped){s->commit[g->ver_txn[v]], v};
            if (v == first || s->all[v - 1].commit < s->all[v].commit)
                continue;
            s->sorted[k] = 0;
            s->in_order &= v >= g->chain_end[k];
        }
        if (!s->sorted[k])
            qsort(s->all + first, end - first, sizeof(stamped), by_commit);
    }
}

/* The one that commits first is a: is it outside the snapshot of b?  The one
 * whose level forbids it is named last. */
static bool note_concurrent(stamper *s, const stamped *a, const stamped *b)
{
    hf_graph *g = s->g;
    hf_txn_id t = g->ver_txn[b->ver];

    if (b->commit == HF_TIME_NONE || !hf_graph_takes_snapshot(g, t) ||
        s->start[t] >= a->commit)
        return false;
    hf_graph_note(g, HF_CONCURRENT_WRITE, g->ver_op[a->ver], g->ver_op[b->ver],
                  HF_NONE, HF_NONE);
    return true;
}

static void look_at_writes(stamper *s)
{
    hf_graph *g = s->g;

    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t i = g->ver_first[k] + 2; i < g->ver_end[k]; i++) {
            const stamped *a = &s->all[i - 1], *b = &s->all[i];

            if (!note_concurrent(s, a, b) && a->commit == b->commit)
                (void)note_concurrent(s, b, a);
        }
}

/* The newest version of the key in the snapshot of t; the initial one if
 * there is none. */
static uint32_t newest_for(const stamper *s, hf_key_id key, hf_txn_id t)
{
    const hf_graph *g = s->g;
    uint32_t first = g->ver_first[key] + 1, low = first;
    uint32_t high = g->ver_end[key];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->all[middle].commit <= s->start[t])
            low = middle + 1;
        else
            high = middle;
    }
    if (low > first && g->ver_txn[s->all[low - 1].ver] == t)
        low--;
    return low > first ? s->all[low - 1].ver : g->ver_first[key];
}

/* Where versions are in the order of commits: is the next one too late for
 * the snapshot of t? */
static bool is_newest(const stamper *s, hf_key_id key, uint32_t ver,
                      hf_txn_id t)
{
    return s->sorted[key] && (ver + 1 == s->g->ver_end[key] ||
                              s->all[ver + 1].commit > s->start[t]);
}

static void look_at_read(stamper *s, hf_txn_id t, hf_op_id op, uint32_t ver)
{
    hf_graph *g = s->g;
    hf_txn_id from = g->ver_txn[ver];
    uint32_t newest;

    if (s->start[t] == HF_TIME_NONE ||
        (from != HF_NONE && s->commit[from] == HF_TIME_NONE))
        return;
    if (from != HF_NONE && s->commit[from] > s->start[t]) {
        hf_graph_note(g, HF_OUTSIDE_SNAPSHOT, op, g->ver_op[ver], HF_NONE,
                      HF_NONE);
        return;
    }
    if (is_newest(s, g->h->op_key[op], ver, t))
        return;
    newest = newest_for(s, g->h->op_key[op], t);
    if (newest == ver)
        return;
    if (from == HF_NONE || s->commit[from] < s->commit[g->ver_txn[newest]])
        hf_graph_note(g, HF_OUTSIDE_SNAPSHOT, op, g->ver_op[newest], HF_NONE,
                      HF_NONE);
    else
        s->in_order = false; /* equal commits: the stamps do not tell */
}

static void look_at_reads(stamper *s)
{
    hf_graph *g = s->g;
    const hf_history *h = g->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id o = h->op_first[t];
             hf_graph_takes_snapshot(g, t) && o < h->op_first[t + 1]; o++) {
            uint32_t role = g->op_role[o];

            if (!(role & 1u))
                look_at_read(s, t, o, role / 2);
            if (g->op_source && g->op_source[o] != HF_NONE)
                look_at_read(s, t, o, g->op_source[o] / 2);
        }
        if ((t & 0xff) == 0 && hf_graph_spent(g))
            return;
    }
}

/* ---- the witness --------------------------------------------------------- */

/* Session order, where the level has it. */
static bool keeps_sessions(const stamper *s)
{
    const hf_graph *g = s->g;

    for (hf_txn_id t = 0; g->session_prev && t < g->h->n_txns; t++)
        if (g->happened[t] && g->session_prev[t] != HF_NONE &&
            s->commit[g->session_prev[t]] > s->start[t])
            return false;
    return true;
}

/* Real time: the latest commit of those that ended before t began. */
static bool keeps_time(const stamper *s)
{
    const hf_graph *g = s->g;
    uint64_t *newest;
    bool fine = true;

    if (!g->time_txn)
        return true;
    newest = HF_NEW_ZEROED(uint64_t, (size_t)g->n_times + 1);
    for (uint32_t i = 0; i < g->n_times; i++) {
        uint64_t c = s->commit[g->time_txn[i]];

        newest[i + 1] = newest[i] > c ? newest[i] : c;
    }
    for (hf_txn_id t = 0; t < g->h->n_txns && fine; t++)
        fine = !g->happened[t] || newest[g->time_before[t]] <= s->start[t];
    hf_free(newest);
    return fine;
}

/* At one time: first commits, then transactions without length, then starts.
 * Sorting keeps the order of what is put in. */
static uint32_t put_events(const stamper *s, hf_sortable *e, unsigned round)
{
    const hf_graph *g = s->g;
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < g->h->n_txns; t++) {
        bool instant = s->start[t] == s->commit[t];

        if (!g->happened[t] || instant != (round == 1))
            continue;
        if (round > 0)
            e[n++] = (hf_sortable){s->start[t], 2 * (uint64_t)t};
        if (round < 2)
            e[n++] = (hf_sortable){s->commit[t], 2 * (uint64_t)t + 1};
    }
    return n;
}

static void write_events(const stamper *s, hf_result *r)
{
    uint32_t n = 0;
    hf_sortable *e = hf_alloc_large(
        hf_array_size(2 * (size_t)s->g->n_happened + 1, sizeof(*e)));
    hf_witness *w = &r->witness;

    for (unsigned round = 0; round < 3; round++)
        n += put_events(s, e + n, round);
    hf_sort(e, n);
    r->verdict = HF_VALID;
    w->kind = HF_WITNESS_SNAPSHOT;
    w->n_order = n;
    w->order = hf_arena_get(&r->arena, hf_array_size(n, sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++)
        w->order[i] = (uint32_t)e[i].value;
    hf_free(e);
}

/* Do the recorded times explain all that there is to explain? */
static bool is_explained(const hf_graph *g)
{
    for (unsigned a = 0; a < HF_G0; a++)
        if (g->places[a].count > 0 &&
            hf_level_forbids(g->level->level, (hf_anomaly)a))
            return false;
    return g->places[HF_OUTSIDE_SNAPSHOT].count == 0 &&
           g->places[HF_CONCURRENT_WRITE].count == 0 && hf_graph_is_plain(g) &&
           !g->predicates && !(g->options.assume & HF_REST_ASSUMABLE);
}

static void look(stamper *s)
{
    hf_graph *g = s->g;

    s->sorted = HF_NEW_ZEROED(uint8_t, (size_t)g->h->n_keys + 1);
    s->all = hf_alloc_large(
        hf_array_size((size_t)g->n_versions + 1, sizeof(*s->all)));
    sort_versions(s);
    look_at_writes(s);
    look_at_reads(s);
}

bool hf_graph_stamps(hf_graph *g, hf_result *r)
{
    stamper s = {.g = g,
                 .start = g->h->cert.start_ts,
                 .commit = g->h->cert.commit_ts,
                 .in_order = true};
    bool decided = false, all;

    if (!has_stamps(g, &all))
        return false;
    look(&s);
    for (size_t i = 0; i < g->listed.n; i++)
        s.in_order &= s.commit[g->ver_txn[g->listed.at[i].first]] <
                      s.commit[g->ver_txn[g->listed.at[i].then]];
    if (!g->own && !g->stopped && is_explained(g) && all && s.in_order &&
        keeps_sessions(&s) && keeps_time(&s)) {
        write_events(&s, r);
        decided = true;
    }
    hf_free(s.sorted);
    hf_free(s.all);
    return decided;
}

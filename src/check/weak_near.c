/* weak_near.c: stale reads that have few writers behind the version they read.
 *
 * An order satisfies the level if no read has a visible writer of its key
 * between the version it returned and itself.  So while the order is gone
 * through, the writers of each key are lined up, and those behind the version
 * that a stale read returned are asked, the last one first, whether they are
 * visible to the reader.  The first that is gives a forced edge, which changes
 * the next order; the others most likely change with it, and if not are found
 * then.  Nothing is remembered of such reads.
 *
 * Each question is a look at an array or two: at what the reader reads from
 * (marked beforehand), and at who reads from the writer, in the order of places
 * in session_txns, where a session is a range.
 *
 * If many writers stand behind the version it is left for those who find all
 * that is visible: weak_direct.c, weak_session.c.  (weak_causal.c does both
 * itself, since it needs its clocks for either.)
 *
 * O(operations), plus at most MOST_ASKED questions for each stale read.
 */
#include "check/weak.h"

#include <string.h>

/* Writers asked for one read, besides as many as its transaction has
 * operations; in a history of fewer transactions than FEW nobody is asked,
 * since all that is visible is soon found. */
#define MOST_ASKED 32u
#define FEW 64u

/* ---- lining up ----------------------------------------------------------- */

void hf_weak_line_begin(hf_weak *w)
{
    const hf_graph *g = w->g;
    size_t n = (size_t)g->n_versions + 1;

    if (!w->line) {
        w->line = hf_alloc_large(hf_array_size(n, sizeof(hf_weak_placed)));
        w->line_at = hf_alloc_large(hf_array_size(n, sizeof(uint32_t)));
        w->line_end = HF_NEW_ARRAY(uint32_t, (size_t)w->h->n_keys + 1);
    }
    for (hf_key_id k = 0; k < w->h->n_keys; k++) {
        w->line_at[g->ver_first[k]] = g->ver_first[k];
        w->line_end[k] = g->ver_first[k] + 1;
    }
}

void hf_weak_line_up(hf_weak *w, hf_txn_id t)
{
    const hf_history *h = w->h;
    hf_weak_placed p = {h->txn_session[t], w->pos[t]};

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = w->g->op_role[o], at;

        if (role == HF_NONE || !(role & 1u))
            continue;
        at = w->line_end[h->op_key[o]]++;
        w->line[at] = p;
        w->line_at[role / 2] = at;
    }
}

/* ---- who is visible ------------------------------------------------------ */

typedef struct asker {
    hf_weak *w;
    hf_txn_id t3;
    uint32_t first; /* of its session */
    /* per transaction: the reader that reads from it, and with what first */
    hf_txn_id *read_by;
    hf_op_id *read_at;
    /* per session: the reader that reads from it, and the last place read */
    hf_txn_id *session_by;
    uint32_t *session_at;
} asker;

/* The places of those that read from each transaction, ascending. */
static void list_readers(hf_weak *w)
{
    const hf_history *h = w->h;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 2);

    for (hf_op_id o = 0; o < h->n_ops; o++) {
        uint32_t v = hf_graph_source(w->g, o);

        if (v != HF_NONE && w->g->ver_txn[v] != HF_NONE)
            first[w->g->ver_txn[v] + 2]++;
    }
    for (uint32_t t = 0; t < h->n_txns; t++)
        first[t + 2] += first[t + 1];
    w->met_at = HF_NEW_ARRAY(uint32_t, (size_t)first[h->n_txns + 1] + 1);
    for (uint32_t i = 0; i < h->n_txns; i++) {
        hf_txn_id t = h->session_txns[i];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t v = hf_graph_source(w->g, o);

            if (v != HF_NONE && w->g->ver_txn[v] != HF_NONE)
                w->met_at[first[w->g->ver_txn[v] + 1]++] = i;
        }
    }
    w->met_first = first;
}

/* Does somebody at a place from first to end - 1 read from t2? */
static bool is_met(const hf_weak *w, hf_txn_id t2, uint32_t first, uint32_t end)
{
    uint32_t low = w->met_first[t2], high = w->met_first[t2 + 1];
    uint32_t stop = high;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (w->met_at[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stop && w->met_at[low] < end;
}

/* Has a session that t3 reads from met t2, by then? */
static bool is_met_by_source(const asker *a, hf_txn_id t2)
{
    const hf_weak *w = a->w;
    const hf_history *h = w->h;

    for (uint32_t i = w->met_first[t2]; i < w->met_first[t2 + 1];) {
        hf_session_id s = h->txn_session[h->session_txns[w->met_at[i]]];

        if (a->session_by[s] == a->t3 && w->met_at[i] <= a->session_at[s])
            return true;
        /* the first one of a session is enough */
        while (i < w->met_first[t2 + 1] &&
               w->met_at[i] < h->session_first[s + 1])
            i++;
    }
    return false;
}

static inline bool is_visible(const asker *a, hf_weak_placed p, hf_op_id read)
{
    const hf_weak *w = a->w;
    unsigned axiom = w->axiom;
    uint32_t mine = w->pos[a->t3];
    hf_txn_id t2;

    if ((axiom & HF_AXIOM_SO) && p.pos >= a->first && p.pos < mine)
        return true;
    if ((axiom & HF_AXIOM_SO_WR) && a->session_by[p.session] == a->t3 &&
        p.pos < a->session_at[p.session])
        return true;
    t2 = w->h->session_txns[p.pos];
    if ((axiom & (HF_AXIOM_WR | HF_AXIOM_EARLIER_READ)) &&
        a->read_by[t2] == a->t3 &&
        ((axiom & HF_AXIOM_WR) || a->read_at[t2] < read))
        return true;
    if ((axiom & HF_AXIOM_WR_SO) && is_met(w, t2, a->first, mine))
        return true;
    return (axiom & (HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR)) &&
           is_met_by_source(a, t2);
}

/* Marks what t3 reads from. */
static void mark_sources(asker *a, hf_txn_id t3)
{
    const hf_weak *w = a->w;
    const hf_history *h = w->h;
    bool sessions =
        w->axiom & (HF_AXIOM_SO_WR | HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR);

    a->t3 = t3;
    a->first = h->session_first[h->txn_session[t3]];
    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t v = hf_graph_source(w->g, o);
        hf_txn_id t = v == HF_NONE ? HF_NONE : w->g->ver_txn[v];
        hf_session_id s;

        if (t == HF_NONE)
            continue;
        if (a->read_by[t] != t3)
            a->read_at[t] = o;
        a->read_by[t] = t3;
        if (!sessions)
            continue;
        s = h->txn_session[t];
        if (a->session_by[s] != t3 || a->session_at[s] < w->pos[t])
            a->session_at[s] = w->pos[t];
        a->session_by[s] = t3;
    }
}

/* ---- asking -------------------------------------------------------------- */

/* Asks for the stale reads of t3; true if some have too many behind them. */
static bool ask(asker *a, hf_txn_id t3)
{
    hf_weak *w = a->w;
    const hf_history *h = w->h;
    uint32_t most = w->n_order / FEW, n = h->op_first[t3 + 1] - h->op_first[t3];
    bool left = false;

    most = (most < MOST_ASKED ? most : MOST_ASKED) + n;
    mark_sources(a, t3);
    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t first, i;

        if (!hf_weak_is_stale(w, o))
            continue;
        first = w->line_at[hf_graph_source(w->g, o)] + 1;
        i = w->line_end[h->op_key[o]];
        if (i - first > most) {
            left = true;
            continue;
        }
        w->state[o] = 0;
        while (i > first && !is_visible(a, w->line[i - 1], o))
            i--;
        if (i > first)
            hf_weak_force(w, h->session_txns[w->line[i - 1].pos], o);
    }
    return left;
}

/* Stale transactions are listed as they stand in the order. */
static void ask_all(asker *a)
{
    hf_weak *w = a->w;
    size_t next = 0, left = 0;

    for (uint32_t i = 0; i < w->n_order && next < w->stale.n; i++) {
        hf_txn_id t = w->order[i];

        if (w->stale.at[next] == t) {
            if (ask(a, t))
                w->stale.at[left++] = t;
            next++;
        }
        hf_weak_line_up(w, t);
        if ((i & 0xff) == 0 && hf_graph_spent(w->g))
            return;
    }
    w->stale.n = left;
}

static void *nones(size_t count)
{
    void *p = hf_alloc(hf_array_size(count + 1, sizeof(uint32_t)));

    memset(p, 0xff, (count + 1) * sizeof(uint32_t));
    return p;
}

void hf_weak_expand_near(hf_weak *w)
{
    const unsigned met = HF_AXIOM_WR_SO | HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR;
    asker a = {.w = w};

    if (w->all || w->n_order < FEW || (w->axiom & HF_AXIOM_CAUSAL))
        return;
    hf_weak_index_places(w);
    if ((w->axiom & met) && !w->met_first)
        list_readers(w);
    a.read_by = nones(w->h->n_txns);
    a.read_at = HF_NEW_ARRAY(hf_op_id, (size_t)w->h->n_txns + 1);
    a.session_by = nones(w->h->n_sessions);
    a.session_at = HF_NEW_ARRAY(uint32_t, (size_t)w->h->n_sessions + 1);
    hf_weak_line_begin(w);
    ask_all(&a);
    hf_free(a.read_by);
    hf_free(a.read_at);
    hf_free(a.session_by);
    hf_free(a.session_at);
}

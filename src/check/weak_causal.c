/* weak_causal.c: forced edges of causal consistency.
 *
 * In an order of the known edges, each transaction gets a clock: of every
 * session, the place of the last transaction that happened before it (or is
 * itself).  A clock is the maximum of those of its sources and of the one
 * before it in its session; sources that it has already cost nothing.
 *
 * A stale read is of a version that other writers of the key stand behind in
 * the order.  If these are few, the last of them that the reader's clock has is
 * looked for: the order has to change, and the others most likely come with it.
 * Otherwise, of each session that writes x, the last writer up to the clock is
 * the one that counts; and it need not be told that it comes before t1 if t1's
 * clock has it.
 *
 * With k sessions: O(edges * k) for the clocks, and for each stale read at most
 * the sessions that write its key, with a search that begins where the last one
 * ended.  That is the n * k of AWDIT but for the logarithm of a search that
 * is seldom far.  Clocks take n * k numbers; if there are too many sessions
 * they are looked at some at a time.
 */
#include "check/weak.h"

#include <string.h>

#define MOST_NUMBERS ((size_t)1 << 25) /* clocks held at a time */

/* Numbers are places in session_txns, plus one; 0: nobody.  They are signed
 * because more machines can compare many of those at once. */
struct hf_weak_clocks {
    hf_weak *w;
    hf_session_id first, end; /* the sessions of this round */
    uint32_t width;
    int32_t *at;      /* width numbers for each place in the first order */
    uint32_t *finger; /* per part: where the last search ended */
};
typedef struct hf_weak_clocks clocks;

static inline int32_t *clock_of(const clocks *c, hf_txn_id t)
{
    return c->at + (size_t)c->w->first_place[t] * c->width;
}

static inline void join(int32_t *restrict a, const int32_t *restrict b,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

/* What happened before t, and t itself. */
static void set_clock(const clocks *c, hf_txn_id t)
{
    const hf_weak *w = c->w;
    const hf_history *h = w->h;
    const hf_graph *g = w->g;
    int32_t *mine = clock_of(c, t);
    hf_session_id s;

    if (g->session_prev[t] != HF_NONE)
        memcpy(mine, clock_of(c, g->session_prev[t]), c->width * sizeof(*mine));
    else
        memset(mine, 0, c->width * sizeof(*mine));
    for (uint32_t i = w->dep_first[t]; i < w->dep_first[t + 1]; i++) {
        hf_txn_id from = w->dep[i];

        s = h->txn_session[from];
        if (s < c->first || s >= c->end ||
            mine[s - c->first] <= (int32_t)w->pos[from])
            join(mine, clock_of(c, from), c->width);
    }
    s = h->txn_session[t];
    if (s >= c->first && s < c->end)
        mine[s - c->first] = (int32_t)w->pos[t] + 1;
}

/* The last writer of part p (up to `end` in the block) at a place before
 * `limit`; the block's writers ascend, and the first is before it.  Returns a
 * place in the block. */
static inline uint32_t find_last(const clocks *c, uint32_t p, uint32_t end,
                                 uint32_t limit)
{
    const uint32_t *at = c->w->writer_at;
    uint32_t low = c->w->part[p], high = end, step = 1, guess = c->finger[p];

    if (at[guess] < limit) {
        for (low = guess; low + step < high && at[low + step] < limit;
             step *= 2)
            low += step;
        if (low + step < high)
            high = low + step;
    } else {
        high = guess;
        while (high - low > step && at[high - step] >= limit) {
            high -= step;
            step *= 2;
        }
        if (high - low > step)
            low = high - step;
    }
    while (high - low > 1) { /* at[low] < limit <= at[high], if it is there */
        uint32_t middle = low + (high - low) / 2;

        if (at[middle] < limit)
            low = middle;
        else
            high = middle;
    }
    c->finger[p] = low;
    return low;
}

/* Where the session of t3 itself ends for it: before it. */
static inline uint32_t limit_of(const clocks *c, const int32_t *mine,
                                hf_session_id s, hf_txn_id t3)
{
    return s == c->w->h->txn_session[t3] ? c->w->pos[t3]
                                         : (uint32_t)mine[s - c->first];
}

static void expand_read(const clocks *c, hf_txn_id t3, hf_op_id r)
{
    hf_weak *w = c->w;
    const hf_history *h = w->h;
    hf_key_id key = h->op_key[r];
    hf_txn_id t1 = hf_weak_source(w, r);
    const int32_t *mine = clock_of(c, t3);
    const int32_t *theirs = t1 == HF_NONE ? NULL : clock_of(c, t1);
    uint32_t n_parts = w->part_first[key + 1];

    for (uint32_t p = w->part_first[key]; p < n_parts; p++) {
        uint32_t at = w->writer_at[w->part[p]], limit, last, end;
        hf_session_id s = w->part_session[p];

        if (s < c->first || s >= c->end)
            continue;
        limit = limit_of(c, mine, s, t3);
        if (at >= limit || (theirs && (int32_t)limit <= theirs[s - c->first]))
            continue;
        end = p + 1 < n_parts ? w->part[p + 1] : w->g->ver_end[key];
        last = find_last(c, p, end, limit);
        if (!theirs || (int32_t)w->writer_at[last] >= theirs[s - c->first])
            hf_weak_force(w, h->session_txns[w->writer_at[last]], r);
    }
}

/* ---- what the order in hand has wrong ------------------------------------ */

/* The last writer in the order, after the version read, that is visible. */
static void expand_line(const clocks *c, hf_txn_id t3, hf_op_id r,
                        uint32_t first, uint32_t end)
{
    hf_weak *w = c->w;
    const int32_t *mine = clock_of(c, t3);

    for (uint32_t i = end; i-- > first;) {
        hf_weak_placed p = w->line[i];

        if (p.session < c->first || p.session >= c->end ||
            p.pos >= (uint32_t)mine[p.session - c->first])
            continue;
        hf_weak_force(w, w->h->session_txns[p.pos], r);
        return;
    }
}

/* If few writers stand between the version read and the reader these are
 * asked one by one, and the read again if it is stale in the next order. */
static void expand_txn(const clocks *c, hf_txn_id t)
{
    hf_weak *w = c->w;
    const hf_history *h = w->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_key_id key = h->op_key[o];
        uint32_t first, end;

        if (!hf_weak_is_stale(w, o))
            continue;
        first = w->line_at[hf_graph_source(w->g, o)] + 1;
        end = w->line_end[key];
        if (w->all || end - first > w->part_first[key + 1] - w->part_first[key])
            expand_read(c, t, o);
        else
            expand_line(c, t, o, first, end);
    }
}

/* What was asked one by one may be asked again. */
static void leave_open(const clocks *c, hf_txn_id t)
{
    hf_weak *w = c->w;

    for (hf_op_id o = w->h->op_first[t]; o < w->h->op_first[t + 1]; o++) {
        hf_key_id key = w->h->op_key[o];

        if (hf_weak_is_stale(w, o) && !w->all &&
            w->line_end[key] - w->line_at[hf_graph_source(w->g, o)] - 1 <=
                w->part_first[key + 1] - w->part_first[key])
            w->state[o] = 0;
    }
}

/* The first order has all known edges, and so do later ones. */
static void set_clocks(const clocks *c)
{
    hf_weak *w = c->w;

    for (uint32_t i = 0; i < w->n_order; i++) {
        set_clock(c, w->order[i]);
        if ((i & 0xff) == 0 && hf_graph_spent(w->g))
            return;
    }
}

/* Stale transactions are listed as they stand in the order. */
static void expand_all(const clocks *c, bool last)
{
    hf_weak *w = c->w;
    size_t next = 0;

    hf_weak_line_begin(w);
    for (uint32_t i = 0; i < w->n_order && next < w->stale.n; i++) {
        hf_txn_id t = w->order[i];

        if (w->stale.at[next] == t) {
            expand_txn(c, t);
            if (last)
                leave_open(c, t);
            next++;
        }
        hf_weak_line_up(w, t);
        if ((i & 0xff) == 0 && hf_graph_spent(w->g))
            return;
    }
}

void hf_weak_release_clocks(hf_weak *w)
{
    if (!w->clocks)
        return;
    hf_free(w->clocks->at);
    hf_free(w->clocks->finger);
    hf_free(w->clocks);
    w->clocks = NULL;
}

/* False if there is no room. */
static bool begin_clocks(hf_weak *w)
{
    size_t rows = (size_t)w->n_order + 1, width = MOST_NUMBERS / rows;
    uint32_t n_parts = w->part_first[w->h->n_keys];
    clocks *c;

    if (width > w->h->n_sessions)
        width = w->h->n_sessions;
    if (width < 1)
        width = 1;
    if (w->g->budget &&
        hf_budget_refuses(w->g->budget, rows * width * sizeof(int32_t))) {
        w->g->stopped = true;
        return false;
    }
    c = w->clocks = HF_NEW(clocks);
    c->w = w;
    c->width = (uint32_t)width;
    c->at = hf_alloc_large(hf_array_size(rows, width * sizeof(int32_t)));
    c->finger = HF_NEW_ARRAY(uint32_t, (size_t)n_parts + 1);
    memcpy(c->finger, w->part, (size_t)n_parts * sizeof(uint32_t));
    return true;
}

/* If there are few sessions the clocks are kept for later. */
void hf_weak_expand_causal(hf_weak *w)
{
    uint32_t n = w->h->n_sessions;
    clocks *c;
    bool fresh;

    if (!(w->axiom & HF_AXIOM_CAUSAL) || n == 0)
        return;
    hf_weak_index_sessions(w);
    hf_weak_note_places(w);
    fresh = !w->clocks;
    if (fresh && !begin_clocks(w))
        return;
    c = w->clocks;
    for (hf_session_id s = 0; s < n && !w->g->stopped; s = c->end) {
        c->first = s;
        c->end = n - s > c->width ? s + c->width : n;
        hf_budget_progress(w->g->budget, "sessions", s, n);
        if (fresh || c->width < n)
            set_clocks(c);
        expand_all(c, c->end == n);
    }
}

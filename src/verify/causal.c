/* causal.c: the causal condition, in a commit order.
 *
 * Each transaction gets a vector clock: for every session, how many of its
 * transactions are visible along (so + wr)+.  The order contains so and wr,
 * so one pass in its order computes them.  A stale read is then compared with
 * the last visible writer of its key in every session that writes the key;
 * within a session later writers are later in the order, so the last is
 * enough.  O(transactions * sessions), in time and memory.  Where that is too
 * much (a history in which nearly every transaction has its own session) the
 * search of window.c is used.
 */
#include "verify/commit.h"

/* Clocks of at most this many entries are kept: 512 MiB. */
#define MOST_ENTRIES (UINT64_C(1) << 27)

typedef struct clocks {
    hf_commit *c;
    uint32_t width;
    uint32_t *number; /* per transaction: its place in its session, from 1 */
    uint32_t *clock;  /* width entries for each place */
    /* the writers of a key, by session, then by number */
    uint32_t *writer_first;
    hf_txn_id *writers;
} clocks;

static void number_transactions(clocks *k)
{
    const hf_history *h = k->c->v->h;

    k->number = hf_zeros(k->c->v, h->n_txns, sizeof(*k->number));
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t n = 0;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++)
            if (k->c->w->place[h->session_txns[i]] != HF_NONE)
                k->number[h->session_txns[i]] = ++n;
    }
}

static void group_writers(clocks *k)
{
    const hf_history *h = k->c->v->h;
    const hf_facts *f = &k->c->v->facts;
    uint32_t *next = hf_zeros(k->c->v, h->n_keys, sizeof(*next));

    k->writer_first = k->c->w->writer_first;
    k->writers =
        hf_nones(k->c->v, k->writer_first[h->n_keys], sizeof(*k->writers));
    for (hf_key_id key = 0; key < h->n_keys; key++)
        next[key] = k->writer_first[key];
    for (uint32_t i = 0; i < h->n_txns; i++) {
        hf_txn_id t = h->session_txns[i];

        if (k->c->w->place[t] == HF_NONE)
            continue;
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            k->writers[next[f->write_key[s]]++] = t;
    }
}

/* Everything visible to t, and t itself, becomes visible. */
static void join(const clocks *k, uint32_t *clock, hf_txn_id t)
{
    const uint32_t *other;

    if (t == HF_NONE)
        return;
    other = k->clock + (size_t)k->c->w->place[t] * k->width;
    for (uint32_t s = 0; s < k->width; s++)
        if (other[s] > clock[s])
            clock[s] = other[s];
    if (k->number[t] > clock[k->c->v->h->txn_session[t]])
        clock[k->c->v->h->txn_session[t]] = k->number[t];
}

/* The end of the run of writers of one session, or of the visible ones. */
static uint32_t run_end(const clocks *k, uint32_t from, uint32_t end,
                        hf_session_id session, uint32_t visible)
{
    const hf_session_id *session_of = k->c->v->h->txn_session;

    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        hf_txn_id t = k->writers[middle];

        if (session_of[t] < session ||
            (session_of[t] == session && k->number[t] <= visible))
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

static bool check_read(const clocks *k, hf_txn_id reader,
                       const hf_world_read *r, const uint32_t *clock)
{
    uint32_t at = k->writer_first[r->key], end = k->writer_first[r->key + 1];
    int64_t age = hf_read_age(k->c->w, r);

    while (at < end) {
        hf_session_id s = k->c->v->h->txn_session[k->writers[at]];
        uint32_t seen = run_end(k, at, end, s, clock[s]);

        if (seen > at && k->c->w->place[k->writers[seen - 1]] > age)
            return hf_refuse_stale(k->c, reader, r, k->writers[seen - 1],
                                   "is in its causal past");
        at = run_end(k, seen, end, s, UINT32_MAX);
    }
    return true;
}

bool hf_commit_check_causal(hf_commit *c)
{
    hf_verifier *v = c->v;
    const hf_world *w = c->w;
    clocks k = {.c = c, .width = v->h->n_sessions};
    uint64_t entries = (uint64_t)w->n * k.width;

    if (entries > MOST_ENTRIES)
        return hf_commit_check_paths(c, true, false);
    if (v->budget && hf_budget_refuses(v->budget, entries * sizeof(uint32_t)))
        return hf_give_up(v, HF_ERR_LIMIT, "%s", hf_budget_reason(v->budget));
    number_transactions(&k);
    group_writers(&k);
    k.clock = hf_zeros(v, entries, sizeof(*k.clock));
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];
        uint32_t *clock = k.clock + (size_t)i * k.width;

        join(&k, clock, c->session_before[t]);
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            join(&k, clock, hf_read_from(&w->reads[r]));
        for (uint32_t s = c->stale_first[i]; s < c->stale_first[i + 1]; s++)
            if (!check_read(&k, t, &w->reads[c->stale[s]], clock))
                return false;
        if (hf_out_of_budget(v))
            return false;
    }
    return true;
}

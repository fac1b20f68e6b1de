/* session.c: the session guarantees, in a commit order.
 *
 * One session after the other is replayed.  Two tables indexed by key hold
 * the latest version written by the session so far (`own`) and the latest
 * version written by anyone the session has read from so far (`seen`).
 *
 *   t2 so t3             own, just before t3
 *   t2 wr;so t3          seen, just before t3
 *   t2 so;wr t3          own, just before the t' that t3 reads from
 *   t2 wr;so?;wr t3      seen, just after the reads of that t'
 *
 * For the last two, the transactions with stale reads wait at those they read
 * from.  Cost: operations, plus the keys written by each source once for
 * every session that reads from it, plus stale reads times sources of their
 * transactions.
 */
#include "verify/commit.h"

/* The conditions that use the table `seen`, and those that wait. */
#define NEED_SEEN (HF_AXIOM_WR_SO | HF_AXIOM_WR_WR)
#define NEED_WAITING (HF_AXIOM_SO_WR | HF_AXIOM_WR_WR)

typedef struct replay {
    hf_commit *c;
    unsigned axiom;
    hf_session_id session;
    /* per key, valid where the stamp is the session */
    hf_session_id *own_stamp, *seen_stamp;
    hf_txn_id *own, *seen;
    hf_session_id *met; /* per transaction: the last session it was met in */
    /* per transaction: readers of it that have stale reads */
    uint32_t *waiting_first;
    hf_txn_id *waiting;
} replay;

/* The stale reads of t against a table. */
static bool check_table(replay *p, hf_txn_id t, const hf_session_id *stamp,
                        const hf_txn_id *table, const char *how)
{
    hf_commit *c = p->c;
    uint32_t i = c->w->place[t];

    for (uint32_t s = c->stale_first[i]; s < c->stale_first[i + 1]; s++) {
        const hf_world_read *r = &c->w->reads[c->stale[s]];

        if (stamp[r->key] == p->session &&
            c->w->place[table[r->key]] > hf_read_age(c->w, r))
            return hf_refuse_stale(c, t, r, table[r->key], how);
    }
    return true;
}

static bool check_waiting(replay *p, hf_txn_id t, const hf_session_id *stamp,
                          const hf_txn_id *table, const char *how)
{
    for (uint32_t i = p->waiting_first[t]; i < p->waiting_first[t + 1]; i++)
        if (!check_table(p, p->waiting[i], stamp, table, how))
            return false;
    return true;
}

static void note(const replay *p, hf_session_id *stamp, hf_txn_id *table,
                 hf_txn_id writer)
{
    const hf_facts *f = &p->c->v->facts;
    const uint32_t *place = p->c->w->place;

    for (uint32_t s = f->write_first[writer]; s < f->write_first[writer + 1];
         s++) {
        hf_key_id key = f->write_key[s];

        if (stamp[key] == p->session && place[table[key]] > place[writer])
            continue;
        stamp[key] = p->session;
        table[key] = writer;
    }
}

static bool replay_one(replay *p, hf_txn_id t)
{
    const hf_world *w = p->c->w;

    if ((p->axiom & HF_AXIOM_SO) &&
        !check_table(p, t, p->own_stamp, p->own, "is before it in its session"))
        return false;
    if ((p->axiom & HF_AXIOM_WR_SO) &&
        !check_table(p, t, p->seen_stamp, p->seen,
                     "was read from before in its session"))
        return false;
    if ((p->axiom & HF_AXIOM_SO_WR) &&
        !check_waiting(p, t, p->own_stamp, p->own,
                       "is before one it reads from in the session of that"))
        return false;
    for (uint32_t r = w->read_first[t];
         (p->axiom & NEED_SEEN) && r < w->read_first[t + 1]; r++) {
        hf_txn_id source = hf_read_from(&w->reads[r]);

        if (source == HF_NONE || p->met[source] == p->session)
            continue;
        p->met[source] = p->session;
        note(p, p->seen_stamp, p->seen, source);
    }
    if ((p->axiom & HF_AXIOM_WR_WR) &&
        !check_waiting(p, t, p->seen_stamp, p->seen,
                       "was read from before what it reads was written"))
        return false;
    note(p, p->own_stamp, p->own, t);
    return true;
}

static void fill_waiting(replay *p)
{
    const hf_commit *c = p->c;
    const hf_world *w = c->w;
    uint32_t n_txns = c->v->h->n_txns;
    uint32_t *next = hf_zeros(c->v, n_txns, sizeof(*next));

    p->waiting_first = hf_zeros(c->v, (size_t)n_txns + 1, sizeof(uint32_t));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < w->n; i++) {
            hf_txn_id t = w->at[i];

            if (c->stale_first[i] == c->stale_first[i + 1])
                continue;
            for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
                hf_txn_id source = hf_read_from(&w->reads[r]);

                if (source == HF_NONE)
                    continue;
                if (pass == 0)
                    p->waiting_first[source + 1]++;
                else
                    p->waiting[next[source]++] = t;
            }
        }
        for (hf_txn_id t = 0; pass == 0 && t < n_txns; t++) {
            p->waiting_first[t + 1] += p->waiting_first[t];
            next[t] = p->waiting_first[t];
        }
        if (pass == 0)
            p->waiting =
                hf_zeros(c->v, p->waiting_first[n_txns], sizeof(*p->waiting));
    }
}

bool hf_commit_check_sessions(hf_commit *c)
{
    hf_verifier *v = c->v;
    const hf_history *h = v->h;
    replay p = {.c = c, .axiom = v->info->axiom};

    p.own_stamp = hf_nones(v, h->n_keys, sizeof(*p.own_stamp));
    p.seen_stamp = hf_nones(v, h->n_keys, sizeof(*p.seen_stamp));
    p.own = hf_nones(v, h->n_keys, sizeof(*p.own));
    p.seen = hf_nones(v, h->n_keys, sizeof(*p.seen));
    p.met = hf_nones(v, h->n_txns, sizeof(*p.met));
    if (p.axiom & NEED_WAITING)
        fill_waiting(&p);
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        p.session = s;
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (c->w->place[t] != HF_NONE && !replay_one(&p, t))
                return false;
            if (hf_out_of_budget(v))
                return false;
        }
    }
    return true;
}

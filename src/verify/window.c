/* window.c: no path of dependencies from an overwriter back to the reader.
 *
 * Consistent view and parallel snapshot isolation forbid a cycle of one
 * anti-dependency and otherwise ww, wr (and so) edges: a path from the writer
 * of the version after the one read to the reader.  All those edges point
 * forward in the commit order, so only overwriters placed before the reader
 * count, which are those of stale reads, and the path cannot leave the part
 * of the order between the oldest of them and the reader.  A search backward
 * from the reader within that part decides it.  Later overwriters need not be
 * looked at: they are reached from the first one along ww.
 *
 * The causal condition is the same with so and wr only; then every overwriter
 * in between counts for itself.
 *
 * Cost: for each transaction with stale reads, the operations of the
 * transactions in its part of the order that lead to it.
 */
#include "verify/commit.h"

typedef struct search {
    hf_commit *c;
    bool sessions, versions;
    uint32_t reader;   /* place; stamps both arrays below */
    uint32_t *goal;    /* per transaction */
    uint32_t *reached; /* per transaction */
    hf_txn_id *stack;  /* each is pushed once a search */
    uint32_t n_stack;
    int64_t oldest; /* the part of the order begins here */
} search;

static void push(search *p, hf_txn_id t)
{
    if (t == HF_NONE || p->reached[t] == p->reader ||
        p->c->w->place[t] < p->oldest)
        return;
    p->reached[t] = p->reader;
    p->stack[p->n_stack++] = t;
}

static void push_all_before(search *p, hf_txn_id t)
{
    const hf_world *w = p->c->w;
    const hf_facts *f = &p->c->v->facts;

    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
        push(p, hf_read_from(&w->reads[r]));
    if (p->sessions)
        push(p, p->c->session_before[t]);
    if (!p->versions)
        return;
    for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
        push(p, p->c->previous[s]);
}

static void set_goals(search *p, uint32_t place)
{
    hf_commit *c = p->c;

    p->reader = place;
    p->oldest = (int64_t)place;
    for (uint32_t s = c->stale_first[place]; s < c->stale_first[place + 1];
         s++) {
        const hf_world_read *r = &c->w->reads[c->stale[s]];
        const hf_world *w = c->w;
        uint32_t i = hf_world_writer_from(w, r->key, hf_read_age(w, r) + 1);

        while (i < w->writer_first[r->key + 1] &&
               w->place[w->writers[i]] < place) {
            p->goal[w->writers[i]] = place;
            if ((int64_t)w->place[w->writers[i]] < p->oldest)
                p->oldest = w->place[w->writers[i]];
            if (p->versions)
                break;
            i++;
        }
    }
}

/* For the message: the stale read that `goal` overwrites. */
static bool refuse_path(search *p, hf_txn_id reader, hf_txn_id goal)
{
    hf_commit *c = p->c;

    for (uint32_t s = c->stale_first[p->reader];
         s < c->stale_first[p->reader + 1]; s++) {
        const hf_world_read *r = &c->w->reads[c->stale[s]];

        if (hf_facts_writes(&c->v->facts, goal, r->key) &&
            c->w->place[goal] > hf_read_age(c->w, r))
            return hf_refuse_stale(c, reader, r, goal,
                                   "has a path of dependencies to it");
    }
    return hf_refuse(c->v, "%s depends on an overwriter of what it reads",
                     hf_label_txn(c->v->h, reader).text);
}

static bool search_from(search *p, uint32_t place)
{
    hf_txn_id reader = p->c->w->at[place];

    set_goals(p, place);
    p->n_stack = 0;
    push_all_before(p, reader);
    while (p->n_stack > 0) {
        hf_txn_id t = p->stack[--p->n_stack];

        if (p->goal[t] == place)
            return refuse_path(p, reader, t);
        push_all_before(p, t);
        if (hf_out_of_budget(p->c->v))
            return false;
    }
    return true;
}

bool hf_commit_check_paths(hf_commit *c, bool sessions, bool versions)
{
    search p = {.c = c, .sessions = sessions, .versions = versions};

    p.goal = hf_nones(c->v, c->v->h->n_txns, sizeof(*p.goal));
    p.reached = hf_nones(c->v, c->v->h->n_txns, sizeof(*p.reached));
    p.stack = hf_nones(c->v, c->v->h->n_txns, sizeof(*p.stack));
    for (uint32_t i = 0; i < c->w->n; i++) {
        if (c->stale_first[i] < c->stale_first[i + 1] && !search_from(&p, i))
            return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(c->v))
            return false;
    }
    return true;
}

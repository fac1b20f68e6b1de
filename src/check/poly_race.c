/* poly_race.c: two stages at once, each on a thread of its own.
 *
 * A walk finds orders quickly where there are many, reachability finds out
 * quickly that there is none; neither is good at both.  On two threads they run
 * side by side, and the first answer ends the other.  The verdict is the same
 * as on one thread, its witness may be another.
 *
 * The graph is only read.  What a search writes to it, that the budget is
 * spent, it writes to a copy of its own.
 */
#include "check/poly_stages.h"

#include <stdatomic.h>

#include "base/threads.h"

typedef struct contest contest;

typedef struct runner {
    contest *in;
    hf_graph g;
    hf_budget budget;
    hf_stages stages;
    hf_poly p;
    hf_order_answer answer;
} runner;

struct contest {
    hf_budget *budget; /* the user's; may be NULL */
    hf_walk_form form;
    bool walks;
    atomic_bool over;
    atomic_int winner; /* -1: nobody yet */
    runner runners[2];
};

static bool is_over(void *user)
{
    const runner *r = user;
    const hf_budget *b = r->in->budget;

    return atomic_load(&r->in->over) ||
           (b && b->interrupted && b->interrupted(b->user));
}

static void tell(void *user, const char *what, uint64_t done, uint64_t total)
{
    const runner *r = user;
    const hf_budget *b = r->in->budget;

    b->progress(b->user, what, done, total);
}

static void prepare(runner *r, contest *in, const hf_stages *s, bool tells)
{
    r->in = in;
    if (s->g->budget)
        r->budget = *s->g->budget;
    r->budget.interrupted = is_over;
    r->budget.progress = tells && r->budget.progress ? tell : NULL;
    r->budget.user = r;
    r->budget.countdown = 0;
    r->g = *s->g;
    r->g.budget = &r->budget;
    r->stages = (hf_stages){.g = &r->g};
    r->answer = HF_ORDER_LIMIT;
}

static void run(void *user, uint32_t i)
{
    contest *in = user;
    runner *r = &in->runners[i];
    int nobody = -1;

    if (i == 0) {
        r->answer = hf_stage_walks(&r->stages, &r->p, in->form, in->walks);
        if (r->answer == HF_ORDER_LIMIT && !r->g.stopped)
            r->answer = hf_stage_plain(&r->stages, &r->p, in->form);
    } else {
        r->answer = hf_stage_pruned(&r->stages, &r->p, in->form);
    }
    if (r->answer != HF_ORDER_LIMIT &&
        atomic_compare_exchange_strong(&in->winner, &nobody, (int)i))
        atomic_store(&in->over, true);
}

/* What was tried, by both. */
static void join(hf_stages *s, const runner *r)
{
    s->conflicts += r->stages.conflicts;
    s->searches += r->stages.searches;
    s->forced += r->stages.forced;
    s->guessed_sessions |= r->stages.guessed_sessions;
    s->pruned |= r->stages.pruned;
    if (r->stages.walk && !s->walk)
        s->walk = r->stages.walk;
    else
        hf_poly_walk_free(r->stages.walk);
}

hf_order_answer hf_stages_race(hf_stages *s, hf_poly *p, hf_walk_form form,
                               bool walks)
{
    contest *in = HF_NEW(contest);
    hf_order_answer answer = HF_ORDER_LIMIT;
    int winner;

    in->budget = s->g->budget;
    in->form = form;
    in->walks = walks;
    atomic_init(&in->over, false);
    atomic_init(&in->winner, -1);
    for (unsigned i = 0; i < 2; i++)
        prepare(&in->runners[i], in, s, i == 1);
    hf_threads_run(2, 2, run, in);
    winner = atomic_load(&in->winner);
    for (int i = 0; i < 2; i++) {
        runner *r = &in->runners[i];

        join(s, r);
        if (i != winner) {
            hf_poly_release(&r->p);
            continue;
        }
        hf_poly_release(p);
        *p = r->p;
        p->g = p->walk.g = s->g;
        answer = r->answer;
    }
    if (s->g->budget)
        s->g->budget->countdown = 0;
    (void)hf_graph_spent(s->g);
    hf_free(in);
    return answer;
}

/* pred_visible.c: the levels that ask what a transaction may have seen, where
 * all conditions were asked of snapshots by time.
 *
 * pred_weak.c lists what every operation looked at, operations times keys.
 * Here nothing is listed.  Let the versions of every key ascend by commit time,
 * and t3 have looked at the snapshot of time s.  What breaks the level is a
 * version v behind that snapshot whose writer t2 is visible to t3, and a change
 * of the matches up to v.  So t2 committed after s, and only transactions to
 * which somebody is visible who committed after one of their snapshots (or, for
 * an item, not before the version after the one they read) need be looked at.
 *
 *   1. For each transaction, bounds on the commit ranks of those it reads from,
 *      of those before it in its session, and of what they read from.  An
 *      operation reads from events of its chains up to its snapshot, and these
 *      ascend by rank, so the last one is a bound.  For what is visible
 *      through somebody that t3 reads from, the bounds of the events of a
 *      chain are kept as the greatest so far.
 *   2. Whose bound is not above any of its snapshots has seen nothing that it
 *      should not have.  The bounds are of more than is visible (an event of a
 *      chain may be no change of the condition, or of a key of which a later
 *      version was returned), never of less, so nothing is missed.
 *   3. For the others, what is visible is gone through from the newest to the
 *      snapshot: whether an event is one that the operation reads from, and
 *      whether a version contradicts what was looked at, is then asked exactly.
 *      The rules are those of pred_weak.c.
 *
 * With V versions, P operations, C chains of an operation: O((V + P C) log V),
 * and for each transaction of 3. what was committed after its snapshot and
 * might be visible, times log V; in the worst case, where everybody reads old
 * snapshots, their number squared.
 */
#include "check/pred_sight.h"

#include "check/cycle_name.h"

typedef struct hf_pred_sight sight;

#define THROUGH (HF_AXIOM_SO_WR | HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR)

/* ---- bounds -------------------------------------------------------------- */

/* What one operation reads from: the greatest rank, or `via` of it. */
static uint32_t bound_of_op(const sight *s, uint32_t i, bool via)
{
    const hf_pred *p = s->p;
    const hf_pred_op *o = &p->ops.at[i];
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    uint32_t most = 0;

    if (s->dead[i])
        return 0;
    for (uint32_t k = s->row_first[i]; k < s->row_first[i + 1]; k++)
        most = hf_sight_later(most, via ? hf_sight_via(s, s->rows.at[k].ver)
                                        : hf_sight_rank(s, s->rows.at[k].ver));
    for (uint32_t k = 0; k < c->n_covers[o->all]; k++) {
        const hf_pred_chain *chain =
            &p->chain.at[p->covers.at[c->cover_first[o->all] + k]];
        uint32_t until = hf_pred_events_before(p, chain, o->ticks);

        if (until > 0)
            most = hf_sight_later(
                most, via ? s->reach[chain->first + until - 1]
                          : hf_sight_rank(s, hf_pred_event_ver(
                                                 p, chain->first + until - 1)));
    }
    return most;
}

/* ... of one operation of any kind. */
static uint32_t bound_at(const sight *s, hf_op_id o, uint32_t *next,
                         hf_txn_id t, bool via)
{
    uint32_t ver = hf_graph_source(s->g, o), most = 0;

    if (ver != HF_NONE)
        most = via ? hf_sight_via(s, ver) : hf_sight_rank(s, ver);
    if (*next < s->p->op_first[t + 1] && s->p->ops.at[*next].op == o)
        most = hf_sight_later(most, bound_of_op(s, (*next)++, via));
    return most;
}

static uint32_t bound(const sight *s, hf_txn_id t, bool via)
{
    const hf_history *h = s->g->h;
    uint32_t next = s->p->op_first[t], most = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        most = hf_sight_later(most, bound_at(s, o, &next, t, via));
    return most;
}

static void bound_sessions(sight *s)
{
    const hf_history *h = s->g->h;

    for (hf_session_id who = 0; who < h->n_sessions; who++) {
        uint32_t wrote = 0, saw = 0;

        for (uint32_t i = h->session_first[who]; i < h->session_first[who + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            s->place[t] = i;
            s->wrote[t] = wrote;
            s->saw[t] = saw;
            if (!s->g->happened[t])
                continue;
            s->most[t] = bound(s, t, false);
            if (s->p->rank[t] != HF_NONE)
                wrote = hf_sight_later(wrote, s->p->rank[t] + 1);
            saw = hf_sight_later(saw, s->most[t]);
        }
    }
}

static void bound_through(sight *s)
{
    for (hf_txn_id t = 0; t < s->g->h->n_txns; t++) {
        if (s->axiom & HF_AXIOM_SO_WR)
            s->via[t] = hf_sight_later(s->via[t], s->wrote[t]);
        if (s->axiom & HF_AXIOM_WR_WR)
            s->via[t] = hf_sight_later(s->via[t], s->most[t]);
        if (s->axiom & HF_AXIOM_WR_SO_WR)
            s->via[t] = hf_sight_later(s->via[t], s->saw[t]);
    }
    hf_sight_bound_chains(s);
}

/* ---- visible ------------------------------------------------------------- */

/* Those before t in its session that are above the limit. */
static bool test_session(sight *s, hf_txn_id t)
{
    const hf_history *h = s->g->h;

    for (hf_txn_id at = t; s->wrote[at] > s->limit;) {
        hf_edge e = hf_sight_so(h->session_txns[s->place[at] - 1], t);

        if (s->g->happened[e.from] && s->p->rank[e.from] != HF_NONE &&
            s->p->rank[e.from] >= s->limit && hf_sight_test(s, &e))
            return true;
        at = e.from;
    }
    return false;
}

/* Those that somebody before t in its session read from. */
static bool test_seen(sight *s, hf_txn_id t)
{
    const hf_history *h = s->g->h;
    bool enough = false;

    for (hf_txn_id at = t; !enough && s->saw[at] > s->limit;) {
        hf_txn_id before = h->session_txns[s->place[at] - 1];

        if (s->g->happened[before] && s->most[before] > s->limit) {
            memmove(s->tail + 1, s->tail, s->n_tail * sizeof(hf_edge));
            s->tail[0] = hf_sight_so(before, t);
            s->n_tail++;
            enough = hf_sight_sources(s, before, false, hf_sight_test);
            s->n_tail--;
            memmove(s->tail, s->tail + 1, s->n_tail * sizeof(hf_edge));
        }
        at = before;
    }
    return enough;
}

static bool is_passed(sight *s, hf_txn_id t)
{
    bool before = s->passed[t] == s->round;

    s->passed[t] = s->round;
    return before;
}

/* Through whom t3 reads from. */
static bool test_near(sight *s, const hf_edge *edge)
{
    bool enough = false;

    if (is_passed(s, edge->from))
        return false;
    s->tail[0] = *edge;
    s->n_tail = 1;
    if (s->axiom & HF_AXIOM_SO_WR)
        enough = test_session(s, edge->from);
    if (!enough && (s->axiom & HF_AXIOM_WR_WR) &&
        s->most[edge->from] > s->limit)
        enough = hf_sight_sources(s, edge->from, false, hf_sight_test);
    s->n_tail = 0;
    return enough;
}

static bool test_far(sight *s, const hf_edge *edge)
{
    bool enough;

    if (is_passed(s, edge->from))
        return false;
    s->tail[0] = *edge;
    s->n_tail = 1;
    enough = test_seen(s, edge->from);
    s->n_tail = 0;
    return enough;
}

/* The shortest ways first. */
static void test_all(sight *s)
{
    s->round++;
    if (s->axiom & (HF_AXIOM_WR | HF_AXIOM_EARLIER_READ))
        (void)hf_sight_sources(s, s->t3, false, hf_sight_test);
    if (s->n_best != 2 && (s->axiom & HF_AXIOM_SO))
        (void)test_session(s, s->t3);
    if (s->n_best > 0 && s->n_best <= 3)
        return;
    s->round++;
    if (s->axiom & HF_AXIOM_WR_SO)
        (void)test_seen(s, s->t3);
    if (s->n_best > 0 && s->n_best <= 3)
        return;
    if (s->axiom & (HF_AXIOM_SO_WR | HF_AXIOM_WR_WR))
        (void)hf_sight_sources(s, s->t3, true, test_near);
    if (s->n_best > 0 && s->n_best <= 4)
        return;
    s->round++;
    if (s->axiom & HF_AXIOM_WR_SO_WR)
        (void)hf_sight_sources(s, s->t3, true, test_far);
}

/* ---- who need be looked at ----------------------------------------------- */

/* Ranks below this are no matter for what operation o looked at. */
static uint32_t limit_at(const sight *s, hf_op_id o, uint32_t next,
                         uint32_t seen)
{
    const hf_graph *g = s->g;
    const hf_pred *p = s->p;
    uint32_t ver = hf_graph_source(g, o), least = UINT32_MAX;

    if (ver != HF_NONE && ver + 1 < g->ver_end[p->ver_key[ver]])
        least = p->rank[g->ver_txn[ver + 1]];
    if (next < p->op_first[s->t3 + 1] && p->ops.at[next].op == o &&
        !s->dead[next]) {
        if (p->ops.at[next].ranks < least)
            least = p->ops.at[next].ranks;
        for (uint32_t k = s->row_first[next]; k < s->row_first[next + 1]; k++) {
            ver = s->rows.at[k].ver;
            if (ver + 1 < g->ver_end[p->ver_key[ver]] &&
                p->rank[g->ver_txn[ver + 1]] < least)
                least = p->rank[g->ver_txn[ver + 1]];
        }
    }
    return least < seen ? least : UINT32_MAX;
}

/* Finds the limit of t3; false: nobody is visible to it beyond what it looked
 * at. */
static bool is_suspect(sight *s)
{
    const hf_history *h = s->g->h;
    uint32_t next = s->p->op_first[s->t3], seen = 0, i = next;
    bool earlier = s->axiom & HF_AXIOM_EARLIER_READ;

    if (s->axiom & HF_AXIOM_WR)
        seen = hf_sight_later(seen, s->most[s->t3]);
    if (s->axiom & HF_AXIOM_SO)
        seen = hf_sight_later(seen, s->wrote[s->t3]);
    if (s->axiom & HF_AXIOM_WR_SO)
        seen = hf_sight_later(seen, s->saw[s->t3]);
    if (s->axiom & THROUGH)
        seen = hf_sight_later(seen, bound(s, s->t3, true));
    s->limit = UINT32_MAX;
    for (hf_op_id o = h->op_first[s->t3]; o < h->op_first[s->t3 + 1]; o++) {
        uint32_t limit = limit_at(s, o, i, seen);

        s->limit = limit < s->limit ? limit : s->limit;
        if (i < s->p->op_first[s->t3 + 1] && s->p->ops.at[i].op == o)
            i++;
        if (earlier)
            seen = hf_sight_later(seen, bound_at(s, o, &next, s->t3, false));
    }
    return s->limit != UINT32_MAX;
}

bool hf_pred_report_timed(hf_graph_report *r, const hf_walk *walk)
{
    sight s = {.r = r, .g = r->g, .p = r->g->pred};

    if (!hf_pred_is_timed(s.p))
        return false;
    s.axiom = r->g->level->shape == HF_SHAPE_OTV ? HF_AXIOM_EARLIER_READ
                                                 : r->g->level->axiom;
    hf_sight_prepare(&s);
    bound_sessions(&s);
    if (s.axiom & THROUGH)
        bound_through(&s);
    for (s.t3 = 0; s.t3 < r->g->h->n_txns && !hf_graph_spent(r->g); s.t3++) {
        if (walk->component[s.t3] == HF_NONE || !is_suspect(&s))
            continue;
        s.n_best = 0;
        test_all(&s);
        if (s.n_best > 0)
            hf_report_cycle(r, hf_cycle_name(s.best, s.n_best), s.best,
                            s.n_best);
    }
    hf_sight_release(&s);
    return true;
}

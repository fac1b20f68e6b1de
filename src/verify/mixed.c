/* mixed.c: snapshot orders in which each transaction has its own level.
 *
 * The starts and commits are executed one after the other.  A transaction that
 * has a start (snapshot forms, prefix) reads what is current there, others
 * what their own level lets them:
 *
 *   serializable, repeatable read   what is current at their commit
 *   read committed                  what was committed before it
 *   read uncommitted                nothing is asked
 *   consistent view, PSI, MAV and   that, and if they return something older
 *   the axiomatic levels            than what is current, no overwriter is
 *                                   visible: a search backward
 *
 * Of transactions that have no start only the place of their commit counts.
 * Edges are followed if the transaction they enter demands them, so sessions
 * are no chains: one that follows its session follows all before it, even if
 * those in between do not.
 *
 * Linear but for the last kind: there each reader of something old costs a
 * search in the part of the order between the oldest version it read and
 * itself; and for conditions, of which all that they saw is listed.
 */
#include "verify/mixed.h"

#include "verify/commit.h"

/* How the search came to a transaction, from the reader: the letters of the
 * way, last edge first; s(ession), r(eads from). */
typedef enum way {
    WAY_S,   /* t2 so t3 */
    WAY_R,   /* t2 wr t3 */
    WAY_SR,  /* t2 wr;so t3 */
    WAY_RS,  /* t2 so;wr t3 */
    WAY_RR,  /* t2 wr;wr t3 */
    WAY_RSR, /* t2 wr;so;wr t3 */
    WAY_ANY, /* any, where it does not matter */
    WAY_COUNT
} way;

typedef struct mixed {
    hf_verifier *v;
    const hf_world *w;
    const uint32_t *start, *commit; /* per transaction: events */
    hf_txn_id *current;             /* per key */
    hf_txn_id *previous;            /* per slot: the writer before, or NONE */
    /* the search: per transaction and way, the last reader that met it so */
    hf_txn_id *met[WAY_COUNT];
    hf_txn_id *stack;
    uint8_t *stack_way;
    size_t n_stack;
    /* of the reader in hand: its reads of old versions */
    const hf_world_read **stale;
    uint32_t n_stale;
    hf_txn_id reader;
    int64_t oldest; /* the age of the oldest of them */
} mixed;

/* ---- sessions and times -------------------------------------------------- */

/* The event before which those must commit that t follows. */
static uint32_t bound_of(const mixed *m, hf_txn_id t)
{
    return hf_level_has_start(hf_level_of(m->v, t)) ? m->start[t]
                                                    : m->commit[t];
}

static bool refuse_before(const mixed *m, hf_txn_id first, hf_txn_id t,
                          const char *what)
{
    return hf_refuse(m->v, "%s is before %s in %s, but not in the order",
                     hf_label_txn(m->v->h, first).text,
                     hf_label_txn(m->v->h, t).text, what);
}

static bool sessions_are_kept(const mixed *m)
{
    const hf_history *h = m->v->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE; /* the one that commits last, so far */

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (m->commit[t] == HF_NONE)
                continue;
            if (last != HF_NONE && hf_level_of(m->v, t)->session_order &&
                m->commit[last] > bound_of(m, t))
                return refuse_before(m, last, t, "their session");
            if (last == HF_NONE || m->commit[t] > m->commit[last])
                last = t;
        }
    }
    return true;
}

/* From the last event to the first: `who` ended first of those that commit
 * after the event in hand. */
static bool times_are_kept(const mixed *m)
{
    const hf_history *h = m->v->h;
    const hf_witness *w = m->v->w;
    hf_txn_id who = HF_NONE;

    for (uint32_t i = w->n_order; i-- > 0;) {
        hf_txn_id t = w->order[i] / 2;
        uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

        if (hf_level_of(m->v, t)->real_time && bound_of(m, t) == i &&
            begin != HF_TIME_NONE && who != HF_NONE &&
            hf_txn_end_time(h, who) < begin)
            return refuse_before(m, who, t, "real time");
        if (w->order[i] % 2 == 1 && h->txn_outcome[t] == HF_COMMITTED &&
            end != HF_TIME_NONE &&
            (who == HF_NONE || end < hf_txn_end_time(h, who)))
            who = t;
    }
    return true;
}

/* ---- what is visible ----------------------------------------------------- */

/* Does the way make visible to the reader whom it leads to? */
static bool is_seen(const hf_level_info *info, way how)
{
    static const unsigned axioms[WAY_COUNT] = {
        [WAY_S] = HF_AXIOM_SO,     [WAY_R] = HF_AXIOM_WR,
        [WAY_SR] = HF_AXIOM_WR_SO, [WAY_RS] = HF_AXIOM_SO_WR,
        [WAY_RR] = HF_AXIOM_WR_WR, [WAY_RSR] = HF_AXIOM_WR_SO_WR,
    };

    return how == WAY_ANY || (info->axiom & axioms[how]);
}

/* One more edge at its beginning; WAY_COUNT: no level asks about it. */
static way longer(way how, bool session)
{
    switch (how) {
    case WAY_ANY:
        return WAY_ANY;
    case WAY_S:
        return session ? WAY_COUNT : WAY_SR;
    case WAY_R:
        return session ? WAY_RS : WAY_RR;
    case WAY_RS:
        return session ? WAY_COUNT : WAY_RSR;
    default:
        return WAY_COUNT;
    }
}

/* The search comes to t.  What is as old as the oldest version read, or older,
 * cannot overwrite anything, nor does a way from an overwriter lead there. */
static void come_to(mixed *m, hf_txn_id t, way how)
{
    if (t == HF_NONE || how == WAY_COUNT || m->w->place[t] == HF_NONE ||
        (int64_t)m->w->place[t] <= m->oldest || m->met[how][t] == m->reader)
        return;
    m->met[how][t] = m->reader;
    m->stack[m->n_stack] = t;
    m->stack_way[m->n_stack++] = (uint8_t)how;
}

static void come_by_session(mixed *m, hf_txn_id t, way how)
{
    const hf_history *h = m->v->h;
    hf_session_id s = h->txn_session[t];

    if (!hf_level_of(m->v, t)->session_order || how == WAY_COUNT)
        return;
    for (uint32_t i = h->session_first[s];
         i < h->session_first[s + 1] && h->session_txns[i] != t; i++)
        come_to(m, h->session_txns[i], how);
}

static void come_by_reads(mixed *m, hf_txn_id t, way how)
{
    const hf_world *w = m->w;

    if (!hf_reads_matter_to(m->v, t))
        return;
    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
        come_to(m, hf_read_from(&w->reads[r]), how);
}

/* Where all dependencies count: versions and real time, too. */
static void come_by_order(mixed *m, hf_txn_id t)
{
    const hf_history *h = m->v->h;
    const hf_facts *f = &m->v->facts;
    uint64_t begin = hf_txn_begin_time(h, t);

    for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
        come_to(m, m->previous[s], WAY_ANY);
    if (!hf_level_of(m->v, t)->real_time || begin == HF_TIME_NONE)
        return;
    for (int64_t i = (int64_t)m->w->place[t] - 1; i > m->oldest; i--) {
        hf_txn_id u = m->w->at[i];

        if (h->txn_outcome[u] == HF_COMMITTED &&
            hf_txn_end_time(h, u) != HF_TIME_NONE &&
            hf_txn_end_time(h, u) < begin)
            come_to(m, u, WAY_ANY);
    }
}

/* Did t2, which the reader has seen, not overwrite what r returned? */
static bool is_no_newer(const mixed *m, const hf_world_read *r, hf_txn_id t2,
                        const char *how)
{
    const hf_history *h = m->v->h;

    if (t2 == m->reader || hf_world_age(m->w, t2) <= hf_read_age(m->w, r) ||
        !hf_facts_writes(&m->v->facts, t2, r->key))
        return true;
    return hf_refuse(
        m->v,
        "%s reads key %s from %s, although %s %s and wrote a later version",
        hf_label_txn(h, m->reader).text, hf_label_key(h, r->key).text,
        hf_label_txn(h, r->source).text, hf_label_txn(h, t2).text, how);
}

static bool all_no_newer(const mixed *m, hf_txn_id t2)
{
    for (uint32_t i = 0; i < m->n_stale; i++)
        if (!is_no_newer(m, m->stale[i], t2, "is visible to it"))
            return false;
    return true;
}

static bool search(mixed *m, bool any, bool versions)
{
    const hf_level_info *info = hf_level_of(m->v, m->reader);

    m->n_stack = 0;
    come_by_session(m, m->reader, any ? WAY_ANY : WAY_S);
    come_by_reads(m, m->reader, any ? WAY_ANY : WAY_R);
    if (versions)
        come_by_order(m, m->reader);
    while (m->n_stack > 0) {
        hf_txn_id t = m->stack[--m->n_stack];
        way how = (way)m->stack_way[m->n_stack];

        if (is_seen(info, how) && !all_no_newer(m, t))
            return false;
        come_by_session(m, t, longer(how, true));
        come_by_reads(m, t, longer(how, false));
        if (versions)
            come_by_order(m, t);
        if (hf_out_of_budget(m->v))
            return false;
    }
    return true;
}

/* The sources of earlier operations against each of the old reads. */
static bool check_earlier(mixed *m)
{
    const hf_world *w = m->w;
    hf_txn_id t = m->reader;

    for (uint32_t i = 0; i < m->n_stale; i++)
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
            hf_txn_id source = hf_read_from(&w->reads[r]);

            if (w->reads[r].op < m->stale[i]->op && source != HF_NONE &&
                !is_no_newer(m, m->stale[i], source, "was read from before"))
                return false;
        }
    return true;
}

static bool check_visible(mixed *m)
{
    const hf_level_info *info = hf_level_of(m->v, m->reader);
    unsigned axiom =
        info->shape == HF_SHAPE_OTV ? HF_AXIOM_EARLIER_READ : info->axiom;

    if ((axiom & HF_AXIOM_EARLIER_READ) && !check_earlier(m))
        return false;
    if (info->shape == HF_SHAPE_SINGLE)
        return search(m, true, true);
    if (axiom & HF_AXIOM_CAUSAL)
        return search(m, true, false);
    return !(axiom & ~HF_AXIOM_EARLIER_READ) || search(m, false, false);
}

/* ---- events -------------------------------------------------------------- */

static bool refuse_sight(const mixed *m, hf_txn_id t, const hf_world_read *r,
                         const char *why)
{
    return hf_refuse(m->v, "%s reads key %s from %s, which %s",
                     hf_label_txn(m->v->h, t).text,
                     hf_label_key(m->v->h, r->key).text,
                     hf_label_txn(m->v->h, r->source).text, why);
}

/* Is what the read saw what is current when `now` have committed? */
static bool is_current(const mixed *m, const hf_world_read *r, uint32_t now)
{
    switch (r->kind) {
    case HF_READ_ITEM:
        return r->source == m->current[r->key];
    case HF_READ_FROM:
        return m->w->place[r->source] < now;
    default:
        return r->change == HF_NONE || m->w->place[r->change] >= now;
    }
}

/* Repeatable read does not mind changes that a condition misses. */
static bool reads_are_current(const mixed *m, hf_txn_id t, uint32_t now)
{
    bool items = hf_level_of(m->v, t)->shape == HF_SHAPE_ITEM;
    const hf_world *w = m->w;

    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
        if (!is_current(m, &w->reads[r], now) &&
            !(items && w->reads[r].kind == HF_READ_VIEW))
            return refuse_sight(m, t, &w->reads[r],
                                "is not what is current where it reads");
    return true;
}

/* What t read was committed before; collects what is not current. */
static bool reads_are_committed(mixed *m, hf_txn_id t)
{
    const hf_world *w = m->w;

    m->n_stale = 0;
    m->reader = t;
    m->oldest = INT64_MAX;
    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
        const hf_world_read *read = &w->reads[r];

        if (hf_world_age(w, hf_read_from(read)) >= (int64_t)w->place[t])
            return refuse_sight(m, t, read, "commits after it");
        if (is_current(m, read, w->place[t]))
            continue;
        m->stale[m->n_stale++] = read;
        if (hf_read_age(w, read) < m->oldest)
            m->oldest = hf_read_age(w, read);
    }
    return true;
}

static bool keys_are_free(const mixed *m, hf_txn_id t)
{
    const hf_facts *f = &m->v->facts;

    for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
        hf_txn_id last = m->current[f->write_key[s]];

        if (last != HF_NONE && m->commit[last] > m->start[t])
            return hf_refuse(m->v,
                             "%s writes key %s and commits between start and "
                             "commit of %s",
                             hf_label_txn(m->v->h, last).text,
                             hf_label_key(m->v->h, f->write_key[s]).text,
                             hf_label_txn(m->v->h, t).text);
    }
    return true;
}

static bool may_commit(mixed *m, hf_txn_id t)
{
    const hf_level_info *info = hf_level_of(m->v, t);

    if (hf_level_is_prefix(info))
        return true; /* it was looked at when it started */
    switch (info->shape) {
    case HF_SHAPE_WW:
        return true;
    case HF_SHAPE_SNAPSHOT:
        return keys_are_free(m, t);
    case HF_SHAPE_SERIAL:
    case HF_SHAPE_ITEM:
        return reads_are_current(m, t, m->w->place[t]);
    case HF_SHAPE_W:
        return reads_are_committed(m, t);
    default:
        return reads_are_committed(m, t) &&
               (m->n_stale == 0 || check_visible(m));
    }
}

static bool replay(mixed *m)
{
    const hf_facts *f = &m->v->facts;
    const hf_witness *w = m->v->w;

    for (uint32_t i = 0; i < w->n_order; i++) {
        hf_txn_id t = w->order[i] / 2;

        if ((i & 0xff) == 0 && hf_out_of_budget(m->v))
            return false;
        if (w->order[i] % 2 == 0) {
            if (hf_level_has_start(hf_level_of(m->v, t)) &&
                !reads_are_current(m, t, m->w->now[t]))
                return false;
            continue;
        }
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            m->previous[s] = m->current[f->write_key[s]];
        if (!may_commit(m, t))
            return false;
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            m->current[f->write_key[s]] = t;
    }
    return true;
}

bool hf_verify_mixed(hf_verifier *v, hf_world *w, const uint32_t *start,
                     const uint32_t *commit)
{
    mixed m = {.v = v, .w = w, .start = start, .commit = commit};
    size_t n_txns = v->h->n_txns;

    if (v->w->rests & ~HF_REST_ASSUMABLE)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "mixed levels with a recorded order are not judged");
    if (!hf_facts_build(v))
        return false;
    if (!sessions_are_kept(&m) || !times_are_kept(&m) || !hf_world_build(v, w))
        return false;
    m.current = hf_nones(v, v->h->n_keys, sizeof(*m.current));
    m.previous = hf_nones(v, v->facts.write_first[n_txns], sizeof(*m.previous));
    for (unsigned i = 0; i < WAY_COUNT; i++)
        m.met[i] = hf_nones(v, n_txns, sizeof(*m.met[i]));
    m.stack = hf_nones(v, n_txns * WAY_COUNT, sizeof(*m.stack));
    m.stack_way = hf_zeros(v, n_txns * WAY_COUNT, sizeof(*m.stack_way));
    m.stale = hf_zeros(v, w->n_reads, sizeof(*m.stale));
    return replay(&m);
}

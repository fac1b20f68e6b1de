/* join.c: what the shards found, brought together in the order of time.
 *
 * A shard knows one row.  That two reads of a snapshot contradict each other
 * is seen here: a read of version v says that v's commit is before the
 * snapshot, a read that missed v says it is after.  Only where intervals
 * overlap this says more than the intervals do, so only those statements come
 * here, as edges between instants (order.h): the snapshot of a transaction or
 * statement, and commits.
 *
 * The certifiers that are about whole transactions (one instant for each:
 * timestamp order; a cycle of any dependencies) are a second graph of the
 * same kind; SSI and OCC look at anti-dependencies only: certify.c.
 *
 * Forgetting: order.c, certify.c.
 */
#include "watch/join.h"

#include <string.h>

#include "base/sort.h"

struct watch_join *hf_watch_join_new(hf_watch *w)
{
    struct watch_join *j = HF_NEW(struct watch_join);

    j->w = w;
    hf_watch_order_init(&j->instants);
    hf_watch_order_init(&j->txns);
    hf_watch_certify_init(j);
    return j;
}

void hf_watch_join_free(struct watch_join *j)
{
    if (!j)
        return;
    hf_watch_order_release(&j->instants);
    hf_watch_order_release(&j->txns);
    hf_watch_certify_release(j);
    hf_vec_release(&j->all);
    hf_vec_release(&j->order);
    hf_free(j);
}

void hf_watch_deliver(hf_watch *w, hf_violation *v)
{
    if (w->stopped)
        return;
    v->number = ++w->stats.violations;
    v->profile = &w->profile;
    w->stats.by_mechanism[v->mechanism]++;
    if (w->options.violation && !w->options.violation(w->options.user, v))
        w->stopped = true;
}

/* ---- instants ------------------------------------------------------------ */

static uint64_t name_of(const watch_instant *i, bool whole)
{
    return whole ? i->serial : i->serial << INSTANT_BITS | i->what;
}

static uint32_t node_of(hf_watch_order *g, const watch_instant *i, bool whole,
                        span at)
{
    uint64_t name = name_of(i, whole);
    uint32_t node = hf_watch_order_look(g, name);

    if (node == NO_ID) {
        node = hf_watch_order_node(g, name, at.lo, at.hi);
        g->nodes.at[node].txn = i->txn;
        g->nodes.at[node].what = whole ? 0 : i->what;
    }
    return node;
}

static void add_node_part(hf_violation *v, const hf_watch_order *g,
                          uint32_t node, bool whole)
{
    const hf_order_node *x = &g->nodes.at[node];
    bool commit = whole || x->what == INSTANT_COMMIT;

    for (unsigned i = 0; i < v->n_parts; i++)
        if (v->parts[i].txn == x->txn &&
            v->parts[i].part == (commit ? HF_PART_COMMIT : HF_PART_SNAPSHOT))
            return;
    hf_watch_part_add(v,
                      (hf_violation_part){.txn = x->txn,
                                          .key = UINT32_MAX,
                                          .before = x->lo,
                                          .after = x->hi,
                                          .part = commit ? HF_PART_COMMIT
                                                         : HF_PART_SNAPSHOT});
}

/* Tells the path that g found. */
static void tell(struct watch_join *j, const hf_watch_order *g, bool whole,
                 const watch_finding *f)
{
    hf_violation v;
    bool forced = false;

    memset(&v, 0, offsetof(hf_violation, parts));
    v.time = f->time;
    v.txn = f->kind == FOUND_INSTANTS && f->dependency == HF_WATCH_RW
                ? f->from.txn
                : f->to.txn;
    v.other = HF_WATCH_NO_TXN;
    v.key = f->key;
    for (size_t i = 0; i < g->path.n; i++) {
        const hf_order_edge *e = &g->edges.at[g->path.at[i]];
        const hf_order_node *from = &g->nodes.at[e->from];
        const hf_order_node *to = &g->nodes.at[e->to];

        forced |= e->is_forced;
        if (v.other == HF_WATCH_NO_TXN && from->txn != v.txn)
            v.other = from->txn;
        add_node_part(&v, g, e->from, whole);
        add_node_part(&v, g, e->to, whole);
        hf_watch_edge_add(&v, from->txn, to->txn, e->key,
                          (hf_watch_dependency)e->kind);
    }
    if (whole) {
        v.mechanism = HF_WATCH_SC;
        v.rule = j->w->profile.certifier == HF_WATCH_SC_TO ? HF_RULE_TIMESTAMP
                                                           : HF_RULE_CYCLE;
    } else if (forced) {
        v.mechanism =
            j->w->profile.first_updater_wins ? HF_WATCH_FUW : HF_WATCH_SC;
        v.rule = HF_RULE_LOST_UPDATE;
    } else {
        v.mechanism = HF_WATCH_CR;
        v.rule = HF_RULE_SKEWED;
    }
    hf_watch_deliver(j->w, &v);
}

static void join_instants(struct watch_join *j, const watch_finding *f)
{
    hf_watch_order *g = &j->instants;
    uint32_t from = node_of(g, &f->from, false, f->from.at);
    uint32_t to = node_of(g, &f->to, false, f->to.at);

    if (!hf_watch_order_bound(g, from, f->from.at.lo, f->from.at.hi) ||
        !hf_watch_order_bound(g, to, f->to.at.lo, f->to.at.hi) ||
        !hf_watch_order_add(g,
                            (hf_order_edge){.from = from,
                                            .to = to,
                                            .key = f->key,
                                            .kind = f->dependency,
                                            .is_forced = f->is_forced},
                            true))
        tell(j, g, false, f);
}

/* ---- whole transactions -------------------------------------------------- */

static bool is_timed(const struct watch_join *j)
{
    return j->w->profile.certifier == HF_WATCH_SC_TO;
}

/* The node of a transaction that committed; NO_ID: it is gone, and nothing
 * led to it.  Timed, its instant is between its first call and its commit;
 * else `hi` only says when it may be forgotten. */
static uint32_t whole_node(struct watch_join *j, uint64_t serial, uint64_t txn,
                           span at)
{
    uint32_t node = hf_watch_order_look(&j->txns, serial);
    const cert_txn *t;

    if (node != NO_ID)
        return node;
    if (serial < j->begin)
        return NO_ID;
    t = &j->ring[serial & j->mask];
    if (serial < j->end && t->has_ended) {
        at.lo = t->snapshot.lo;
        if (t->is_committed) /* else nobody was told, but it was seen */
            at.hi = t->commit.hi;
    }
    return node_of(&j->txns, &(watch_instant){.txn = txn, .serial = serial},
                   true, is_timed(j) ? at : (span){0, at.hi});
}

void hf_watch_join_whole(struct watch_join *j, const rw_edge *e, uint64_t time)
{
    uint32_t from = whole_node(j, e->from, e->from_txn, e->from_at);
    uint32_t to = whole_node(j, e->to, e->to_txn, e->to_at);
    watch_finding f = {.time = time, .key = e->key, .to = {.txn = e->to_txn}};

    if (from == NO_ID || to == NO_ID)
        return;
    if (!hf_watch_order_add(
            &j->txns,
            (hf_order_edge){
                .from = from, .to = to, .key = e->key, .kind = e->kind},
            is_timed(j)))
        tell(j, &j->txns, true, &f);
}

/* ---- the batch ----------------------------------------------------------- */

static void join_one(struct watch_join *j, const join_ref *r)
{
    const watch_finding *f = r->f;

    switch ((finding_kind)f->kind) {
    case FOUND_VIOLATION: {
        hf_violation *v = r->shard == SHARDS
                              ? &j->w->ready_violations.at[f->index]
                              : &j->w->shards[r->shard].violations.at[f->index];

        hf_watch_explain_read(j->w, v);
        hf_watch_deliver(j->w, v);
        break;
    }
    case FOUND_INSTANTS:
        join_instants(j, f);
        break;
    case FOUND_RW:
    case FOUND_EDGE:
        hf_watch_certify_edge(j, f);
        break;
    case FOUND_OWN:
        hf_watch_certify_own(j, f);
        break;
    case FOUND_END:
        hf_watch_certify_end(j, f);
        break;
    case FOUND_TOTAL:
        hf_watch_total_judge(
            j->w, f, j->w->shards[r->shard].total_parts.at[f->index].total);
        break;
    }
}

static void collect(struct watch_join *j, const watch_finding *at, size_t n,
                    uint32_t shard)
{
    for (size_t i = 0; i < n; i++) {
        /* what a transaction wrote itself is known before its end is */
        hf_vec_push(
            &j->order,
            (hf_sortable){2 * at[i].seq + (at[i].kind != FOUND_OWN), j->all.n});
        hf_vec_push(&j->all, (join_ref){&at[i], shard});
    }
}

void hf_watch_join_batch(hf_watch *w, uint64_t horizon)
{
    struct watch_join *j = w->join;

    j->all.n = j->order.n = 0;
    j->horizon = horizon;
    collect(j, w->ready.at, w->ready.n, SHARDS);
    for (uint32_t i = 0; i < SHARDS; i++)
        collect(j, w->shards[i].found.at, w->shards[i].found.n, i);
    if (j->all.n > 0) {
        hf_sort(j->order.at, j->order.n); /* by seq, then by time */
        for (size_t i = 0; i < j->order.n; i++)
            j->order.at[i].key = j->all.at[j->order.at[i].value].f->time;
        hf_sort(j->order.at, j->order.n);
        for (size_t i = 0; i < j->order.n && !w->stopped; i++)
            join_one(j, &j->all.at[j->order.at[i].value]);
    }
    w->ready.n = w->ready_violations.n = 0;
    for (uint32_t i = 0; i < SHARDS; i++)
        w->shards[i].found.n = w->shards[i].violations.n =
            w->shards[i].total_parts.n = w->shards[i].total_choices.n = 0;
    hf_watch_totals_trim(w);
    hf_watch_order_forget(&j->instants, horizon);
    if (is_timed(j))
        hf_watch_order_forget(&j->txns, horizon);
    else
        hf_watch_order_forget_first(&j->txns, horizon);
    hf_watch_certify_forget(j);
}

void hf_watch_join_stats(const struct watch_join *j, hf_watch_stats *ret)
{
    ret->edges_kept = j->instants.edges.n + j->txns.edges.n;
    ret->transactions_kept = j->txns.nodes.n;
    hf_watch_certify_stats(j, ret);
    ret->bytes +=
        hf_watch_order_bytes(&j->instants) + hf_watch_order_bytes(&j->txns) +
        j->all.cap * sizeof(*j->all.at) + j->order.cap * sizeof(*j->order.at);
}

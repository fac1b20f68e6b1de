/* graph_report.c: findings, put in order.
 *
 * What was noted while reads were taken becomes findings here, as far as the
 * level forbids it; so do versions that would have to be before themselves,
 * and lists that no version order explains.  The worst come first, then the
 * shortest.
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

#include "check/brute.h"

/* ---- anomalies without a cycle ------------------------------------------- */

/* Anomalies that are only noted where they count: against an assumption, or
 * against recorded timestamps. */
static bool rests_on_more(hf_anomaly a)
{
    return a == HF_CYCLIC_VERSIONS || a == HF_OUTSIDE_SNAPSHOT ||
           a == HF_CONCURRENT_WRITE;
}

hf_op_id hf_place_read(hf_anomaly anomaly, const hf_place *place)
{
    switch (anomaly) {
    case HF_GARBAGE_READ:
    case HF_FUTURE_READ:
    case HF_SEMANTIC_ERROR:
        return place->ops[0];
    case HF_INTERNAL:
    case HF_NON_REPEATABLE_READ:
    case HF_G1A:
        return place->ops[1];
    case HF_G1B:
        return place->ops[2];
    default:
        return HF_NONE;
    }
}

/* The last operation of a place. */
static hf_op_id last_op(const hf_place *place)
{
    hf_op_id last = place->ops[0];

    for (unsigned i = 1; i < 4; i++)
        if (place->ops[i] != HF_NONE)
            last = place->ops[i];
    return last;
}

bool hf_place_is_forbidden(const hf_graph *g, hf_anomaly anomaly,
                           const hf_place *place)
{
    hf_op_id op = hf_place_read(anomaly, place);

    if (op == HF_NONE)
        op = last_op(place);
    return rests_on_more(anomaly) ||
           hf_graph_forbids(g, hf_op_txn(g->h, op), anomaly);
}

static void report_place(hf_graph_report *r, hf_anomaly a,
                         const hf_place *place)
{
    hf_finding f = {.anomaly = a,
                    .witness = {.kind = HF_WITNESS_OPERATIONS, .anomaly = a}};

    if (a == HF_OUTSIDE_SNAPSHOT || a == HF_CONCURRENT_WRITE)
        f.witness.rests = HF_REST_TIMESTAMPS;
    if (a == HF_CYCLIC_VERSIONS)
        f.witness.rests = r->g->rests;
    f.witness.ops = hf_arena_get(r->arena, sizeof(hf_place));
    while (f.witness.n_ops < 4 && place->ops[f.witness.n_ops] != HF_NONE) {
        f.witness.ops[f.witness.n_ops] = place->ops[f.witness.n_ops];
        f.witness.n_ops++;
    }
    hf_vec_push(&r->found, f);
}

void hf_report_places(hf_graph_report *r)
{
    const hf_graph *g = r->g;

    for (unsigned a = 0; a < HF_G0; a++) {
        const hf_places *p = &g->places[a];
        uint64_t n = 0;

        for (size_t i = 0; i < p->kept.n; i++)
            if (hf_place_is_forbidden(g, (hf_anomaly)a, &p->kept.at[i])) {
                report_place(r, (hf_anomaly)a, &p->kept.at[i]);
                n++;
            }
        if (n > 0) /* but for mixed levels, all or none */
            r->count[a] += g->own ? n : p->count;
    }
}

/* Versions that would have to be before themselves, by assumption. */
void hf_report_circles(hf_graph_report *r)
{
    const hf_graph *g = r->g;

    for (size_t i = 0; i < g->circles.n; i += g->circles.at[i] + 1) {
        uint32_t n = g->circles.at[i];
        hf_finding f = {.anomaly = HF_CYCLIC_VERSIONS,
                        .witness = {.kind = HF_WITNESS_OPERATIONS,
                                    .anomaly = HF_CYCLIC_VERSIONS,
                                    .rests = g->rests,
                                    .n_ops = n}};

        f.witness.ops = hf_arena_get(r->arena, n * sizeof(hf_op_id));
        memcpy(f.witness.ops, &g->circles.at[i + 1], n * sizeof(hf_op_id));
        r->count[HF_CYCLIC_VERSIONS]++;
        hf_vec_push(&r->found, f);
    }
}

/* ---- lists that nothing explains ----------------------------------------- */

static bool core_has(const hf_txn_id *core, uint32_t n, hf_txn_id t)
{
    for (uint32_t i = 0; i < n; i++)
        if (core[i] == t)
            return true;
    return false;
}

/* The reader of the list and the writers of its elements, up to eight. */
static uint32_t core_of(const hf_graph *g, hf_op_id read, hf_txn_id *core)
{
    const hf_history *h = g->h;
    uint32_t n = 0;

    core[n++] = hf_op_txn(h, read);
    for (hf_value_id v = h->op_value[read]; v != HF_NONE && n < HF_BRUTE_NODES;
         v = hf_list_parent(h, v)) {
        hf_op_id op = g->value[hf_list_last(h, v)].op;
        hf_txn_id t;

        if (op == HF_NONE)
            continue;
        t = hf_op_txn(h, op);
        if (!core_has(core, n, t))
            core[n++] = t;
    }
    return n;
}

void hf_report_core(hf_graph_report *p, hf_txn_id *core, uint32_t n)
{
    const hf_graph *g = p->g;
    hf_brute_question q = {.level = g->own ? g->others : g->level->level,
                           .mixed = g->own != NULL,
                           .promised = g->options.assume & HF_REST_ASSUMABLE,
                           .dialect = g->options.dialect,
                           .budget = g->budget};
    hf_finding f = {
        .anomaly = HF_NO_ORDER,
        .witness = {.kind = HF_WITNESS_CORE,
                    .anomaly = HF_NO_ORDER,
                    .rests = g->options.assume & HF_REST_ASSUMABLE}};

    n = hf_brute_shrink(g->h, core, n, &q, &f.witness.minimal);
    if (n == 0)
        return;
    f.witness.order = hf_arena_get(p->arena, n * sizeof(*core));
    memcpy(f.witness.order, core, n * sizeof(*core));
    f.witness.n_order = n;
    f.witness.confirmed = !hf_budget_spent(g->budget);
    p->count[HF_NO_ORDER]++;
    hf_vec_push(&p->found, f);
}

/* Is list `longer` the other one, or does it go on from there? */
static bool goes_on(const hf_history *h, hf_value_id longer, hf_value_id list)
{
    while (longer != HF_NONE && longer != list)
        longer = hf_list_parent(h, longer);
    return longer != HF_NONE;
}

/* A read of the list, or of a longer one, by somebody who certainly happened;
 * else the read itself.  O(operations), where that is not certain. */
static hf_op_id certain_read(const hf_history *h, hf_op_id read)
{
    if (h->txn_outcome[hf_op_txn(h, read)] == HF_COMMITTED)
        return read;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             h->txn_outcome[t] == HF_COMMITTED && op < h->op_first[t + 1]; op++)
            if (h->op_key[op] == h->op_key[read] &&
                hf_op_reads_item(hf_op_kind_of(h, op)) &&
                !(hf_op_flags_of(h, op) & HF_OP_FAILED) &&
                h->op_value[op] != HF_NONE &&
                h->value_type[h->op_value[op]] == HF_LIST &&
                goes_on(h, h->op_value[op], h->op_value[read]))
                return op;
    return read;
}

/* The reader, the one transaction whose elements are wrong, and who wrote the
 * last element (without it the read would say nothing); if that is not
 * enough, as many of the writers as can be enumerated. */
static void report_few(hf_graph_report *p, hf_op_id read, hf_txn_id torn)
{
    const hf_history *h = p->g->h;
    hf_op_id last = p->g->value[hf_list_last(h, h->op_value[read])].op;
    hf_txn_id core[HF_BRUTE_NODES] = {hf_op_txn(h, read)};
    uint32_t n = 1;

    if (torn != HF_NONE && !core_has(core, n, torn))
        core[n++] = torn;
    if (last != HF_NONE && !core_has(core, n, hf_op_txn(h, last)))
        core[n++] = hf_op_txn(h, last);
    hf_report_core(p, core, n);
    if (p->found.n == 0)
        hf_report_core(p, core, core_of(p->g, read, core));
}

void hf_report_odd_lists(hf_graph_report *p)
{
    const hf_graph *g = p->g;

    for (size_t i = 0; i < g->odd.n; i++) {
        hf_op_id read = g->odd.at[i].ops[2];
        hf_edge edges[2];
        hf_txn_id torn;

        if (i > 0 && read == g->odd.at[i - 1].ops[2])
            continue;
        if (hf_graph_explain_torn(g, read, edges, &torn))
            hf_report_cycle(p, HF_G0, edges, 2);
        else if (p->found.n == 0)
            report_few(p, certain_read(g->h, read), torn);
    }
}

/* ---- order --------------------------------------------------------------- */

/* Worst first: wrong at every level, then what is read or written dirty,
 * then the rest from strong evidence to weak. */
static unsigned rank(hf_anomaly a)
{
    static const hf_anomaly order[] = {HF_GARBAGE_READ,
                                       HF_INTERNAL,
                                       HF_DUPLICATE_WRITE,
                                       HF_TWO_VERSIONS,
                                       HF_SEMANTIC_ERROR,
                                       HF_RESULT_SET_MISMATCH,
                                       HF_INCOMPATIBLE_ORDER,
                                       HF_CYCLIC_VERSIONS,
                                       HF_G0,
                                       HF_G0_SESSION,
                                       HF_G0_REALTIME,
                                       HF_G1A,
                                       HF_DIRTY_UPDATE,
                                       HF_G1B,
                                       HF_FUTURE_READ,
                                       HF_G1C,
                                       HF_G1C_SESSION,
                                       HF_G1C_REALTIME,
                                       HF_LOST_UPDATE,
                                       HF_NON_REPEATABLE_READ};
    unsigned n = sizeof(order) / sizeof(order[0]);

    for (unsigned i = 0; i < n; i++)
        if (order[i] == a)
            return i;
    /* what rests on timestamps comes after what stands by itself */
    if (a == HF_OUTSIDE_SNAPSHOT || a == HF_CONCURRENT_WRITE)
        n += HF_ANOMALY_COUNT;
    return n + (unsigned)a;
}

typedef struct sortable {
    hf_finding f;
    uint32_t place;
} sortable;

static int by_rank(const void *a, const void *b)
{
    const sortable *x = a, *y = b;
    unsigned p = rank(x->f.anomaly), q = rank(y->f.anomaly);

    if (p != q)
        return p < q ? -1 : 1;
    if (x->f.witness.n_edges != y->f.witness.n_edges)
        return x->f.witness.n_edges < y->f.witness.n_edges ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void sort_findings(hf_graph_findings *found)
{
    sortable *all = HF_NEW_ARRAY(sortable, found->n + 1);

    for (uint32_t i = 0; i < found->n; i++)
        all[i] = (sortable){found->at[i], i};
    qsort(all, found->n, sizeof(*all), by_rank);
    for (uint32_t i = 0; i < found->n; i++)
        found->at[i] = all[i].f;
    hf_free(all);
}

void hf_report_deliver(hf_graph_report *p, hf_result *r)
{
    size_t n = p->found.n;

    sort_findings(&p->found);
    r->verdict = HF_INVALID;
    r->witness = p->found.at[0].witness;
    r->n_findings = (uint32_t)n;
    r->findings = hf_arena_get(&r->arena, hf_array_size(n, sizeof(hf_finding)));
    memcpy(r->findings, p->found.at, n * sizeof(hf_finding));
    r->groups = hf_arena_get(&r->arena, hf_array_size(n, sizeof(hf_group)));
    for (size_t i = 0; i < n; i++) {
        hf_anomaly a = r->findings[i].anomaly;

        if (i == 0 || r->findings[i - 1].anomaly != a)
            r->groups[r->n_groups++] =
                (hf_group){a, p->count[a], p->at_least[a]};
    }
}

/* brute_cycles.c: cycles of certain edges that a level forbids.
 *
 * All simple cycles of the certain edges are gone through, shortest first.
 * Each is named by the table of the catalog (the first line that fits) and
 * kept if it proves the level broken.  For the dependency levels that is the
 * level's definition; for the axiomatic ones it follows from the axiom:
 *
 *   a cycle without rw (and prw) contradicts every commit order;
 *   t3 rw t2 <condition> t3 contradicts the axiom with that condition;
 *   for prefix, u (so + wr) t3 rw t2 puts u before t2 in the commit order,
 *   so a cycle is forbidden if a so or wr comes before each of its rw.
 *
 * Named -session or -realtime only where no cycle without such edges was
 * found among the same transactions.  Exponential in the number of nodes,
 * which is at most eight, and bounded by the budget.
 */
#include "check/brute.h"

#include <string.h>

#include "check/cycle_name.h"

typedef struct cycle {
    unsigned n;
    uint8_t nodes[HF_BRUTE_NODES];
    hf_edge edges[HF_BRUTE_NODES];
} cycle;

typedef struct finder {
    const hf_brute_case *c;
    const hf_level_info *level;
    hf_budget *budget;
    hf_arena *arena;
    hf_brute_findings *found;
    hf_brute_certain certain;
    /* what is looked for now: a class, then -session, -realtime */
    hf_anomaly class;
    unsigned form;
    unsigned length;
    cycle path;
    uint32_t steps_left;
} finder;

/* Far more than eight transactions need, unless nearly all pairs have edges
 * of nearly all kinds; a core is reported then. */
#define MAX_STEPS 4000000u

static bool is_anti(hf_edge_kind kind)
{
    return kind == HF_EDGE_RW || kind == HF_EDGE_PRW;
}

static bool is_wr(hf_edge_kind kind)
{
    return kind == HF_EDGE_WR || kind == HF_EDGE_PWR;
}

/* ---- names -------------------------------------------------------------- */

static unsigned count_kind(const cycle *x, hf_edge_kind kind)
{
    unsigned n = 0;

    for (unsigned i = 0; i < x->n; i++)
        n += x->edges[i].kind == kind;
    return n;
}

static unsigned count_anti(const cycle *x)
{
    return count_kind(x, HF_EDGE_RW) + count_kind(x, HF_EDGE_PRW);
}

static bool has_adjacent_anti(const cycle *x)
{
    for (unsigned i = 0; i < x->n; i++)
        if (is_anti(x->edges[i].kind) && is_anti(x->edges[(i + 1) % x->n].kind))
            return true;
    return false;
}

/* ---- what a cycle proves ------------------------------------------------ */

/* The path after the one rw of the cycle, from t2 back to t3, as letters: w
 * for wr and pwr, s for so, x for others. */
static void path_of(const cycle *x, char ret_path[HF_BRUTE_NODES + 1])
{
    unsigned first = 0, n = 0;

    while (!is_anti(x->edges[first].kind))
        first++;
    for (unsigned i = 1; i < x->n; i++) {
        hf_edge_kind kind = x->edges[(first + i) % x->n].kind;

        ret_path[n++] = is_wr(kind) ? 'w' : kind == HF_EDGE_SO ? 's' : 'x';
    }
    ret_path[n] = '\0';
}

/* The condition of the axiom that the path fulfils. */
static bool path_is_visible(const char *path, unsigned axiom)
{
    static const struct {
        unsigned axiom;
        const char *path;
    } paths[] = {
        {HF_AXIOM_SO, "s"},     {HF_AXIOM_WR, "w"},
        {HF_AXIOM_WR_SO, "ws"}, {HF_AXIOM_SO_WR, "sw"},
        {HF_AXIOM_WR_WR, "ww"}, {HF_AXIOM_WR_SO_WR, "wsw"},
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if ((axiom & paths[i].axiom) && strcmp(path, paths[i].path) == 0)
            return true;
    return (axiom & HF_AXIOM_CAUSAL) && !strchr(path, 'x');
}

/* A wr or so comes before each rw. */
static bool is_prefix_cycle(const cycle *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        hf_edge_kind before = x->edges[(i + x->n - 1) % x->n].kind;

        if (is_anti(x->edges[i].kind) && !is_wr(before) && before != HF_EDGE_SO)
            return false;
    }
    return true;
}

static bool breaks_axiom(const cycle *x, unsigned axiom)
{
    char path[HF_BRUTE_NODES + 1];

    if ((axiom & HF_AXIOM_PREFIX) && is_prefix_cycle(x))
        return true;
    if ((axiom & HF_AXIOM_EARLIER_READ) && hf_cycle_is_otv(x->edges, x->n))
        return true;
    if (count_anti(x) != 1)
        return false;
    path_of(x, path);
    return path_is_visible(path, axiom);
}

/* Is the level broken by this cycle alone? */
static bool breaks_level(const cycle *x, const hf_level_info *level)
{
    unsigned anti = count_anti(x);

    if ((count_kind(x, HF_EDGE_SO) > 0 && !level->session_order) ||
        (count_kind(x, HF_EDGE_RT) > 0 && !level->real_time))
        return false;
    if (level->shape == HF_SHAPE_WW)
        return count_kind(x, HF_EDGE_WW) == x->n;
    if (anti == 0)
        return true;
    switch (level->shape) {
    case HF_SHAPE_AXIOM:
        return breaks_axiom(x, level->axiom);
    case HF_SHAPE_OTV:
        return hf_cycle_is_otv(x->edges, x->n);
    case HF_SHAPE_SINGLE:
        return anti == 1;
    case HF_SHAPE_ITEM:
        return count_kind(x, HF_EDGE_PRW) == 0;
    case HF_SHAPE_SNAPSHOT:
        return !has_adjacent_anti(x);
    case HF_SHAPE_SERIAL:
        return true;
    default:
        return false;
    }
}

/* ---- search ------------------------------------------------------------- */

static bool nodes_within(const hf_brute_case *c, const hf_witness *w,
                         const cycle *x)
{
    for (uint32_t i = 0; i < w->n_edges; i++) {
        bool there = false;

        for (unsigned j = 0; j < x->n; j++)
            there = there || c->txn[x->nodes[j]] == w->edges[i].from;
        if (!there)
            return false;
    }
    return true;
}

static bool is_op_of(const hf_brute_case *c, const cycle *x, hf_op_id op)
{
    return hf_op_txn(c->h, op) == c->txn[x->nodes[0]] ||
           hf_op_txn(c->h, op) == c->txn[x->nodes[1]];
}

/* Explained already, by a cycle among some of the same transactions, or as
 * the lost update that it is? */
static bool is_known(const finder *f, const cycle *x)
{
    for (size_t i = 0; i < f->found->n; i++) {
        const hf_witness *w = &f->found->at[i].witness;

        if (w->kind == HF_WITNESS_CYCLE && nodes_within(f->c, w, x))
            return true;
        if (w->anomaly == HF_LOST_UPDATE &&
            hf_cycle_is_lost_update(x->edges, x->n) &&
            is_op_of(f->c, x, w->ops[0]) && is_op_of(f->c, x, w->ops[2]))
            return true;
    }
    return false;
}

static void keep(finder *f, const cycle *x)
{
    hf_anomaly name = hf_cycle_name(x->edges, x->n);
    hf_finding finding = {
        .anomaly = name,
        .alias = hf_cycle_alias(f->c->h, x->edges, x->n),
        .witness = {.kind = HF_WITNESS_CYCLE, .anomaly = name}};

    finding.witness.n_edges = x->n;
    finding.witness.edges =
        hf_arena_get(f->arena, x->n * sizeof(*finding.witness.edges));
    memcpy(finding.witness.edges, x->edges,
           x->n * sizeof(*finding.witness.edges));
    hf_vec_push(f->found, finding);
}

/* May an edge of this kind from `at` to `next` be part of the class?  Where
 * a wr is there, a ww between the same two shows nothing more. */
static bool is_useful(const finder *f, hf_edge_kind kind, unsigned at,
                      unsigned next)
{
    bool wr = hf_relation_has(&f->certain.has[HF_EDGE_WR], at, next);
    bool pwr = hf_relation_has(&f->certain.has[HF_EDGE_PWR], at, next);

    switch (kind) {
    case HF_EDGE_WW:
        return f->class == HF_G0 || (!wr && !pwr);
    case HF_EDGE_WR:
        return f->class != HF_G0;
    case HF_EDGE_PWR:
        return f->class != HF_G0 && (!wr || f->length == 2);
    case HF_EDGE_RW:
        return f->class != HF_G0 && f->class != HF_G1C;
    case HF_EDGE_PRW:
        return f->class == HF_G_SINGLE || f->class == HF_G_NONADJACENT ||
               f->class == HF_G2;
    case HF_EDGE_SO:
        return f->form >= 1;
    default:
        return f->form >= 2;
    }
}

/* Can the first n edges of the path be the beginning of the class? */
static bool is_promising(const finder *f, unsigned n)
{
    const hf_edge *e = f->path.edges;
    bool single = f->class == HF_G_SINGLE || f->class == HF_G_SINGLE_ITEM;
    bool apart =
        f->class == HF_G_NONADJACENT || f->class == HF_G_NONADJACENT_ITEM;

    if (!is_anti(e[n - 1].kind))
        return true;
    for (unsigned i = 0; single && i + 1 < n; i++)
        if (is_anti(e[i].kind))
            return false;
    return !apart || n < 2 || !is_anti(e[n - 2].kind);
}

static bool is_found(finder *f)
{
    f->path.n = f->length;
    return hf_cycle_name(f->path.edges, f->path.n) ==
               (hf_anomaly)(f->class + f->form) &&
           breaks_level(&f->path, f->level) && !is_known(f, &f->path);
}

static bool walk(finder *f, unsigned depth);

/* From the last node of the path to `next`, by an edge of every kind. */
static bool step(finder *f, unsigned depth, unsigned next)
{
    cycle *x = &f->path;
    unsigned at = x->nodes[depth];

    for (unsigned kind = 0; kind < HF_EDGE_KIND_COUNT; kind++) {
        if (!hf_relation_has(&f->certain.has[kind], at, next) ||
            !is_useful(f, (hf_edge_kind)kind, at, next))
            continue;
        x->edges[depth] = f->certain.edge[kind][at][next];
        if (!is_promising(f, depth + 1))
            continue;
        if (depth + 1 == f->length) {
            if (is_found(f))
                return true;
            continue;
        }
        x->nodes[depth + 1] = (uint8_t)next;
        if (walk(f, depth + 1))
            return true;
    }
    return false;
}

/* The path has `depth` edges.  It starts at its lowest node.  True: found. */
static bool walk(finder *f, unsigned depth)
{
    const uint8_t *nodes = f->path.nodes;

    if (f->steps_left == 0 || hf_budget_spent(f->budget)) {
        f->steps_left = 0;
        return false;
    }
    f->steps_left--;
    if (depth + 1 == f->length)
        return step(f, depth, nodes[0]);
    for (unsigned next = nodes[0] + 1u; next < f->c->n_nodes; next++)
        if (!memchr(nodes, (int)next, depth + 1) && step(f, depth, next))
            return true;
    return false;
}

/* The shortest cycles of one class, one for each set of transactions. */
static void find_class(finder *f, hf_anomaly class, unsigned form)
{
    f->class = class;
    f->form = form;
    for (f->length = 2; f->length <= f->c->n_nodes; f->length++) {
        for (unsigned first = 0; first < f->c->n_nodes; first++) {
            f->path.nodes[0] = (uint8_t)first;
            while (walk(f, 0))
                keep(f, &f->path);
        }
    }
}

void hf_brute_find_cycles(const hf_brute_case *c, const hf_level_info *level,
                          hf_budget *budget, hf_arena *arena,
                          hf_brute_findings *findings)
{
    static const hf_anomaly classes[] = {
        HF_G0,
        HF_G1C,
        HF_G_SINGLE_ITEM,
        HF_G_SINGLE,
        HF_G_NONADJACENT_ITEM,
        HF_G_NONADJACENT,
        HF_G2_ITEM,
        HF_G2,
    };
    finder *f = HF_NEW(finder);

    *f = (finder){.c = c,
                  .level = level,
                  .budget = budget,
                  .arena = arena,
                  .found = findings,
                  .steps_left = MAX_STEPS};
    hf_brute_certain_edges(c, level, &f->certain);
    for (unsigned form = 0; form < 3; form++)
        for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
            find_class(f, classes[i], form);
    hf_free(f);
}

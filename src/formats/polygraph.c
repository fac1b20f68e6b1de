/* polygraph.c: cobra-polygraph, read as a history.
 *
 *     n:3            nodes 0, 1, 2
 *     e:0,1          a known edge
 *     c:1,2|2,0      one of two edges, to be chosen
 *
 * A polygraph is satisfiable if some choice leaves no cycle; that is, if some
 * total order of the nodes has every known edge and one edge of each choice
 * pointing forward.  The history made here is serializable exactly if the
 * polygraph is satisfiable.  Every transaction has a session of its own.
 *
 * Known edge u->v.  u writes key u, v reads it.  Nobody else writes key u, so
 * this says "u before v" and nothing more.  For u = v an extra transaction s
 * stands between: u->s, s->u.
 *
 * Choice (a->b | c->d).  A fresh key with two writers W1, W2; R1 reads W1's
 * version and R2 reads W2's.  In a serial order the versions' lifetimes are
 * apart: R1 before W2, or R2 before W1 (where an Ri is absent, Wi stands for
 * it).  In addition Wi is before Ri.
 *
 *   direct   If d = a or d->a is known, and b = c or b->c is known (and the
 *            transactions that must differ do), take W1 = d, R1 = a, W2 = b,
 *            R2 = c, leaving out Ri = Wi.  "R1 before W2 or R2 before W1" is
 *            the choice and "Wi before Ri" was known.  Cobra's own choices
 *            have this shape.
 *   gadget   Else W1, W2, R1, R2 are four new transactions, with a->R1,
 *            c->R2, W1->d, W2->b as known edges.
 *            An order of the history restricted to the nodes satisfies the
 *            polygraph: R1 before W2 gives a < R1 < W2 < b, and R2 before W1
 *            gives c < R2 < W1 < d.
 *            Conversely let an acyclic choice be given.  Add R1->W2 if a->b
 *            was chosen, else R2->W1, to the known edges.  Into W1 (W2) leads
 *            at most the edge from R2 (R1), into R1 (R2) only those from a
 *            and W1 (c and W2).  So a path that passes through the new
 *            transactions between two nodes is a, R1, W2, b or c, R2, W1, d,
 *            which the chosen edge replaces; a cycle would be one of the
 *            polygraph.  Any topological order is serial.
 *
 * In direct choices nothing is added, so both arguments hold for all choices
 * together.  O(m log m) for m lines.
 */
#include "formats/polygraph.h"

#include <stdlib.h>

#include "base/vec.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

typedef struct edge {
    uint32_t from, to;
} edge;

typedef struct choice {
    edge first, second;
    uint32_t extra; /* first of its four extra transactions, or HF_NONE */
} choice;

typedef struct graph {
    hf_builder *b;
    uint64_t n_nodes, n_txns; /* without and with the extra ones */
    HF_VEC(edge) edges;
    HF_VEC(choice) choices;
} graph;

/* ---- parsing ------------------------------------------------------------- */

static bool take_node(const graph *g, const char **at, const char *end,
                      uint32_t *ret_node)
{
    uint64_t node;

    if (!hf_scan_uint_until(at, end, &node) || node >= g->n_nodes)
        return false;
    *ret_node = (uint32_t)node;
    return true;
}

static bool take_edge(const graph *g, const char **at, const char *end,
                      edge *ret_edge)
{
    if (!take_node(g, at, end, &ret_edge->from) || *at == end || **at != ',')
        return false;
    ++*at;
    return take_node(g, at, end, &ret_edge->to);
}

static bool parse_line(graph *g, hf_str line)
{
    const char *at = line.ptr + 2, *end = line.ptr + line.len;
    choice c = {.extra = HF_NONE};

    if (line.len < 3 || line.ptr[1] != ':')
        return false;
    if (line.ptr[0] == 'e') {
        if (!take_edge(g, &at, end, &c.first) || at != end)
            return false;
        hf_vec_push(&g->edges, c.first);
        return true;
    }
    if (line.ptr[0] != 'c' || !take_edge(g, &at, end, &c.first) || at == end ||
        *at++ != '|' || !take_edge(g, &at, end, &c.second) || at != end)
        return false;
    hf_vec_push(&g->choices, c);
    return true;
}

static bool parse_count(hf_str line, uint64_t *ret_count)
{
    const char *at = line.ptr + 2, *end = line.ptr + line.len;

    return line.len >= 3 && line.ptr[0] == 'n' && line.ptr[1] == ':' &&
           hf_scan_uint_until(&at, end, ret_count) && at == end;
}

/* The first line that is not empty.  A node takes memory, a digit does not:
 * large counts must have a large file behind them. */
static hf_status parse_head(graph *g, hf_lines *lines, const hf_input *in,
                            hf_error *err)
{
    hf_str line = {"", 0};
    char quoted[48];

    while (line.len == 0 && hf_lines_next(lines, &line))
        line = hf_str_trim(line);
    if (!parse_count(line, &g->n_nodes))
        return hf_fail_line(
            err, lines->number ? lines->number : 1,
            "expected \"n:COUNT\", found \"%s\"",
            hf_quote(quoted, sizeof(quoted), line.ptr, line.len));
    if (g->n_nodes > 1000000 && g->n_nodes > in->length)
        return hf_fail_line(err, lines->number,
                            "expected at most %zu nodes in %zu bytes, found a "
                            "count of %llu",
                            in->length, in->length,
                            (unsigned long long)g->n_nodes);
    return HF_OK;
}

static hf_status parse(graph *g, const hf_input *in, hf_error *err)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_status st = parse_head(g, &lines, in, err);
    hf_str line;

    while (st == HF_OK && hf_lines_next(&lines, &line)) {
        char quoted[48];

        line = hf_str_trim(line);
        if (line.len > 0 && !parse_line(g, line))
            return hf_fail_line(
                err, lines.number,
                "expected \"e:u,v\" or \"c:u,v|w,x\" with nodes below %llu, "
                "found \"%s\"",
                (unsigned long long)g->n_nodes,
                hf_quote(quoted, sizeof(quoted), line.ptr, line.len));
        if (in->budget && hf_budget_spent(in->budget))
            return hf_fail(err, HF_ERR_LIMIT, "%s",
                           hf_budget_reason(in->budget));
    }
    return st;
}

/* ---- from choices to transactions ---------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static bool is_known(const graph *g, size_t n_known, uint32_t from, uint32_t to)
{
    edge e = {from, to};

    return n_known > 0 && bsearch(&e, g->edges.at, n_known, sizeof(edge),
                                  compare_edges) != NULL;
}

static bool is_direct(const graph *g, size_t n_known, const choice *c)
{
    uint32_t a_ = c->first.from, b_ = c->first.to, c_ = c->second.from,
             d_ = c->second.to;

    return a_ != b_ && c_ != d_ && b_ != d_ && a_ != c_ &&
           (d_ == a_ || is_known(g, n_known, d_, a_)) &&
           (b_ == c_ || is_known(g, n_known, b_, c_));
}

/* Sorts the edges, each once; edges from a node to itself are replaced, behind
 * the others, by two through an extra transaction.  Returns how many are
 * sorted. */
static size_t tidy_edges(graph *g)
{
    HF_VEC(uint32_t) loops = {0};
    size_t n = 0;

    if (g->edges.n > 0)
        qsort(g->edges.at, g->edges.n, sizeof(edge), compare_edges);
    for (size_t i = 0; i < g->edges.n; i++) {
        edge e = g->edges.at[i];

        if (e.from == e.to)
            hf_vec_push(&loops, e.from);
        else if (n == 0 || compare_edges(&e, &g->edges.at[n - 1]) != 0)
            g->edges.at[n++] = e;
    }
    g->edges.n = n;
    for (size_t i = 0; i < loops.n; i++) {
        uint32_t extra = (uint32_t)g->n_txns++;

        hf_vec_push(&g->edges, (edge){loops.at[i], extra});
        hf_vec_push(&g->edges, (edge){extra, loops.at[i]});
    }
    hf_vec_release(&loops);
    return n;
}

/* Gives each choice that needs them its extra transactions and their edges. */
static void place_choices(graph *g, size_t n_known)
{
    for (size_t i = 0; i < g->choices.n; i++) {
        choice *c = &g->choices.at[i];
        uint32_t w1, w2, r1, r2;

        if (is_direct(g, n_known, c))
            continue;
        c->extra = w1 = (uint32_t)g->n_txns;
        w2 = w1 + 1;
        r1 = w1 + 2;
        r2 = w1 + 3;
        g->n_txns += 4;
        hf_vec_push(&g->edges, (edge){c->first.from, r1});
        hf_vec_push(&g->edges, (edge){w2, c->first.to});
        hf_vec_push(&g->edges, (edge){c->second.from, r2});
        hf_vec_push(&g->edges, (edge){w1, c->second.to});
    }
}

/* ---- building ------------------------------------------------------------ */

static void add_op(graph *g, hf_txn_id t, hf_op_kind kind, uint64_t number,
                   int64_t value)
{
    hf_key_id key = hf_builder_key_int(g->b, (int64_t)number);

    (void)hf_builder_op(g->b, t, kind, key, hf_builder_int(g->b, key, value));
}

static void add_choices(graph *g, bool writes)
{
    for (size_t i = 0; i < g->choices.n && !hf_builder_failed(g->b); i++) {
        const choice *c = &g->choices.at[i];
        uint64_t key = g->n_txns + i;
        bool direct = c->extra == HF_NONE;
        uint32_t w1 = direct ? c->second.to : c->extra,
                 w2 = direct ? c->first.to : c->extra + 1,
                 r1 = direct ? c->first.from : c->extra + 2,
                 r2 = direct ? c->second.from : c->extra + 3;

        if (writes) {
            add_op(g, w1, HF_OP_WRITE, key, 1);
            add_op(g, w2, HF_OP_WRITE, key, 2);
            continue;
        }
        if (r1 != w1)
            add_op(g, r1, HF_OP_READ, key, 1);
        if (r2 != w2)
            add_op(g, r2, HF_OP_READ, key, 2);
    }
}

/* In each transaction reads come first. */
static void build(graph *g)
{
    uint8_t *wrote = HF_NEW_ZEROED(uint8_t, g->n_txns);

    for (uint64_t i = 0; i < g->n_txns && !hf_builder_failed(g->b); i++) {
        hf_txn_id t = hf_builder_txn(g->b, hf_builder_session_fresh(g->b));

        hf_builder_label(g->b, t, (int64_t)i);
    }
    for (size_t i = 0; i < g->edges.n && !hf_builder_failed(g->b); i++)
        add_op(g, g->edges.at[i].to, HF_OP_READ, g->edges.at[i].from, 1);
    add_choices(g, false);
    for (size_t i = 0; i < g->edges.n && !hf_builder_failed(g->b); i++) {
        uint32_t from = g->edges.at[i].from;

        if (!wrote[from])
            add_op(g, from, HF_OP_WRITE, from, 1);
        wrote[from] = 1;
    }
    add_choices(g, true);
    hf_free(wrote);
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    graph g = {.b = b};
    hf_status st = parse(&g, in, err);

    if (st == HF_OK) {
        g.n_txns = g.n_nodes;
        place_choices(&g, tidy_edges(&g));
        if (g.n_txns < HF_NONE)
            build(&g);
        else
            st = hf_fail(err, HF_ERR_LIMIT, "more than 2^32 - 1 transactions");
    }
    hf_vec_release(&g.edges);
    hf_vec_release(&g.choices);
    return st;
}

static int detect(const hf_input *in)
{
    hf_lines lines =
        hf_lines_of(in->text, in->length < 4096 ? in->length : 4096);
    hf_str line = {"", 0};
    uint64_t count;

    while (line.len == 0 && hf_lines_next(&lines, &line))
        line = hf_str_trim(line);
    return parse_count(line, &count) ? 96 : 0;
}

const hf_format hf_format_polygraph = {
    .name = "cobra-polygraph",
    .summary = "nodes, edges and choices between edges: Cobra's polygraphs",
    .extension = ".polyg",
    .detect = detect,
    .import = import,
    .export_ = hf_polygraph_export,
};

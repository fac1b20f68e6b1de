/* pred_reads.c: what aggregates read as items, where that is told apart.
 *
 * Repeatable read knows item anti-dependencies and no others.  A predicate
 * read with its rows says which items it read.  An aggregate, or a read
 * without rows, read all that satisfies its condition: T -rw-> the writer of
 * the next version of each.  The chains of changes (pred_chains.c) are no help
 * for these: behind a snapshot they also have what came to satisfy the
 * condition later, and T did not read that.
 *
 * So there is a tree over the versions in the order of the condition's column.
 * While a version is the newest of its key its leaf leads to the writer of the
 * next one, and an inner node to its children; a range is put together from
 * O(log) nodes, and T leads to these.  Versions are gone through by commit
 * time.  A node is a node of the graph as it was when it was made: if leaves
 * below it change it is forgotten, and made anew when it is next asked for; so
 * nodes in which nothing changes between two snapshots are shared.  A
 * condition whose matches are a set has a tree of these; one whose matches are
 * put together from parts (pred_parts.c) reads the roots of their trees.
 *
 * Left out are keys that T wrote before the operation, which are no entries of
 * others, and versions whose next one is T's own: what follows that is behind T
 * by ww.
 *
 * What an operation depends on follows from the chains: ww, wr and pwr all
 * count (pred_chains.c, the first two cases).
 *
 * O((versions + operations) * log versions) for each column that conditions
 * are ranges of, the matches and operations times the log of these for each
 * condition that is a set, and for each part; times a few for each own write.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#define FORGOTTEN 0xfffffffeu

/* Of questions `column` is that of ranges (HF_NONE: none), `other` a chain
 * (HF_NONE: ranges of the column). */

typedef struct tree {
    hf_pred *p;
    uint32_t n;     /* leaves */
    uint32_t *node; /* 1 is the root, n the first leaf: what leads there, as in
                       hf_more_edge; HF_NONE: nothing; FORGOTTEN */
    uint32_t *leaf; /* per version: its leaf; HF_NONE */
    uint32_t done;  /* ticks, or events of the chain */
    HF_VEC(uint32_t) leaves; /* versions, in the order of leaves */
    HF_VEC(uint32_t) aside;  /* leaves without the own versions */
} tree;

/* ---- the tree ------------------------------------------------------------ */

static void set_leaf(tree *t, uint32_t leaf, uint32_t to)
{
    uint32_t at = leaf + t->n;

    if (t->node[at] == to)
        return;
    t->node[at] = to;
    for (at /= 2; at > 0 && t->node[at] != FORGOTTEN; at /= 2)
        t->node[at] = FORGOTTEN;
}

/* The node, made if need be. */
static uint32_t get_node(tree *t, uint32_t at)
{
    hf_pred *p = t->p;
    uint32_t left, right;

    if (t->node[at] != FORGOTTEN)
        return t->node[at];
    left = get_node(t, 2 * at);
    right = get_node(t, 2 * at + 1);
    if (left == HF_NONE || right == HF_NONE) {
        t->node[at] = left == HF_NONE ? right : left;
    } else {
        t->node[at] = p->g->h->n_txns + p->n_nodes++;
        hf_pred_add_edge(p, t->node[at], left, HF_EDGE_RW);
        hf_pred_add_edge(p, t->node[at], right, HF_EDGE_RW);
    }
    return t->node[at];
}

/* The writer of the next version. */
static hf_txn_id next_writer(const hf_pred *p, uint32_t ver)
{
    const hf_graph *g = p->g;

    return ver + 1 < g->ver_end[p->ver_key[ver]] ? g->ver_txn[ver + 1]
                                                 : HF_NONE;
}

static void come(tree *t, uint32_t ver)
{
    if (t->leaf[ver] != HF_NONE)
        set_leaf(t, t->leaf[ver], next_writer(t->p, ver));
}

static void go(tree *t, uint32_t ver)
{
    if (t->leaf[ver] != HF_NONE)
        set_leaf(t, t->leaf[ver], HF_NONE);
}

/* ---- over time ----------------------------------------------------------- */

/* The versions of a chain that is no range of a column. */
static hf_pred_set set_of(const hf_pred *p, const hf_pred_chain *chain)
{
    const hf_pred_part *part;

    if (chain->part == HF_NONE)
        return p->conditions.at[chain->condition].match;
    part = &p->parts.at[chain->part];
    return (hf_pred_set){p->part_vers.at + part->first, part->n};
}

static void list_leaves(tree *t, const hf_pred_question *q)
{
    const hf_pred *p = t->p;
    const hf_pred_table *table = &p->tables.at[q->table];

    t->leaves.n = 0;
    if (q->other == HF_NONE) {
        const hf_pred_column *c = &table->columns.at[q->column];

        for (uint32_t i = 0; i < c->n_sorted; i++)
            hf_vec_push(&t->leaves, table->ver[c->sorted[i]]);
    } else {
        hf_pred_set match = set_of(p, &p->chain.at[q->other]);

        for (uint32_t i = 0; i < match.n; i++)
            hf_vec_push(&t->leaves, match.at[i]);
    }
}

static void begin(tree *t, const hf_pred_question *q)
{
    const hf_pred *p = t->p;
    size_t n;

    list_leaves(t, q);
    t->n = 1;
    while (t->n < t->leaves.n)
        t->n *= 2;
    n = 2 * (size_t)t->n;
    t->done = 0;
    t->node = hf_alloc_large(hf_array_size(n, sizeof(uint32_t)));
    memset(t->node, 0xff, n * sizeof(uint32_t));
    for (uint32_t i = 0; i < t->leaves.n; i++) {
        uint32_t ver = t->leaves.at[i];

        t->leaf[ver] = i;
        if (p->g->ver_txn[ver] == HF_NONE)
            t->node[t->n + i] = next_writer(p, ver);
    }
    for (uint32_t i = 1; i < t->n; i++)
        t->node[i] = FORGOTTEN;
}

static void end(tree *t)
{
    for (size_t i = 0; i < t->leaves.n; i++)
        t->leaf[t->leaves.at[i]] = HF_NONE;
    hf_free(t->node);
    t->node = NULL;
}

/* What was committed by the snapshot: of the table, or the changes of the
 * chain. */
static void advance(tree *t, const hf_pred_question *q)
{
    const hf_pred *p = t->p;
    const hf_pred_chain *chain;

    if (q->other == HF_NONE) {
        for (; t->done < q->ticks; t->done++) {
            uint32_t ver = p->tick_ver[t->done];

            if (p->table_of_key[p->ver_key[ver]] != q->table)
                continue;
            go(t, ver - 1);
            come(t, ver);
        }
        return;
    }
    chain = &p->chain.at[q->other];
    for (;
         t->done < chain->n && p->event[chain->first + t->done].tick < q->ticks;
         t->done++) {
        uint32_t ver = hf_pred_event_ver(p, chain->first + t->done);

        go(t, ver - 1);
        come(t, ver);
    }
}

/* ---- operations ---------------------------------------------------------- */

/* Takes out what the operation's transaction wrote itself. */
static void leave_out(tree *t, const hf_pred_op *o)
{
    const hf_pred *p = t->p;
    const hf_history *h = p->g->h;
    uint32_t table = p->conditions.at[o->condition].table;

    t->aside.n = 0;
    for (hf_op_id w = h->op_first[o->txn]; w < h->op_first[o->txn + 1]; w++) {
        uint32_t ver;

        if (!hf_graph_writes(h, w) || p->table_of_key[h->op_key[w]] != table)
            continue;
        ver = hf_pred_version_at(p, o, h->op_key[w]);
        if (t->leaf[ver] == HF_NONE ||
            (w > o->op && next_writer(p, ver) != o->txn) ||
            t->node[t->n + t->leaf[ver]] == HF_NONE)
            continue;
        go(t, ver);
        hf_vec_push(&t->aside, ver);
    }
}

static void read_leaves(tree *t, const hf_pred_op *o, uint32_t low,
                        uint32_t end)
{
    low += t->n;
    end += t->n;
    for (; low < end; low /= 2, end /= 2) {
        uint32_t to = HF_NONE, more = HF_NONE;

        if (low & 1u)
            to = get_node(t, low++);
        if (end & 1u)
            more = get_node(t, --end);
        if (to != HF_NONE)
            hf_pred_add_edge(t->p, o->txn, to, HF_EDGE_RW);
        if (more != HF_NONE)
            hf_pred_add_edge(t->p, o->txn, more, HF_EDGE_RW);
    }
}

static void ask(tree *t, const hf_pred_question *q)
{
    const hf_pred *p = t->p;
    const hf_pred_op *o = &p->ops.at[q->op];
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    leave_out(t, o);
    if (q->other != HF_NONE)
        read_leaves(t, o, 0, (uint32_t)t->leaves.n);
    for (uint32_t i = 0; q->other == HF_NONE && i < c->axes->n_spans; i++) {
        const uint32_t *first =
            p->tables.at[q->table].columns.at[q->column].number_first;

        read_leaves(t, o, first[c->axes->spans[i].low],
                    first[c->axes->spans[i].end]);
    }
    for (size_t i = 0; i < t->aside.n; i++)
        come(t, t->aside.at[i]);
}

/* ---- all ----------------------------------------------------------------- */

/* One question, or one for each part. */
static void add_questions(const hf_pred *p, uint32_t op, hf_pred_questions *all)
{
    const hf_pred_op *o = &p->ops.at[op];
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    if (!o->timed || !o->all)
        return;
    if (c->is_spans && c->n_axes == 1) {
        hf_vec_push(all, (hf_pred_question){c->table, c->axes->column, HF_NONE,
                                            o->ticks, op});
        return;
    }
    for (uint32_t i = 0; i < c->n_covers[1]; i++)
        hf_vec_push(all, (hf_pred_question){c->table, HF_NONE,
                                            p->covers.at[c->cover_first[1] + i],
                                            o->ticks, op});
}

static void answer(void *user, const hf_pred_question *all, size_t n)
{
    tree *t = user;

    begin(t, &all[0]);
    for (size_t i = 0; i < n && !hf_graph_spent(t->p->g); i++) {
        advance(t, &all[i]);
        ask(t, &all[i]);
    }
    end(t);
}

void hf_pred_link_reads(hf_pred *p)
{
    hf_pred_questions all = {0};
    tree t = {.p = p};
    size_t bytes = ((size_t)p->g->n_versions + 1) * sizeof(uint32_t);

    for (uint32_t i = 0; i < p->ops.n; i++)
        add_questions(p, i, &all);
    if (all.n == 0)
        return;
    t.leaf = hf_alloc_large(bytes);
    memset(t.leaf, 0xff, bytes);
    hf_pred_ask_in_turn(p, &all, answer, &t);
    hf_free(t.node);
    hf_free(t.leaf);
    hf_vec_release(&t.leaves);
    hf_vec_release(&t.aside);
    hf_vec_release(&all);
}

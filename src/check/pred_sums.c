/* pred_sums.c: aggregates of conditions that share a tree.
 *
 * Many different ranges of one column, each of a large part of a table: to go
 * through the changes of each would be the product of both.  Instead the
 * versions stand in the order of the condition's column, as the leaves of a
 * tree; a leaf counts while its version is the newest of its key, an inner
 * node has the total of its leaves.  The versions are gone through by commit
 * time, once for all operations over one column, and each operation adds up
 * the nodes of its ranges when its snapshot is reached.
 *
 * O((versions + operations) * log versions) for each pair of a condition's
 * column and an aggregate's; 64 bytes for each of 2 * versions nodes.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

typedef struct node {
    hf_int128 sum;
    int64_t matches, rows;
    uint32_t odd[3];
    uint32_t least, most; /* places; HF_NONE */
} node;

/* What else a node has, if the aggregate's column is not all integers. */
typedef struct other {
    hf_int128 parts;
    int64_t decimals, texts;
} other;

typedef struct tree {
    hf_pred *p;
    const hf_pred_table *t;
    const hf_pred_column *by, *of; /* the condition's, the aggregate's */
    uint32_t n;                    /* leaves */
    node *nodes;                   /* 1 is the root, n the first leaf */
    other *others;                 /* the same, or NULL */
    uint32_t *leaf;                /* per version of the table; HF_NONE */
    uint32_t *now;                 /* per key: its newest version */
    uint32_t done;                 /* ticks */
    hf_pred_keys keys;
} tree;

static const node empty = {.least = HF_NONE, .most = HF_NONE};

/* ---- the tree ------------------------------------------------------------ */

/* The place with the better value; sign 1: the least. */
static uint32_t better(const tree *t, uint32_t a, uint32_t b, int sign)
{
    if (a == HF_NONE || b == HF_NONE)
        return a == HF_NONE ? b : a;
    return sign * hf_pred_order(&t->of->value[b], &t->of->value[a]) < 0 ? b : a;
}

static void join(const tree *t, const node *a, const node *b, node *ret)
{
    node made = {.sum = a->sum + b->sum,
                 .matches = a->matches + b->matches,
                 .rows = a->rows + b->rows};

    for (unsigned i = 0; i < 3; i++)
        made.odd[i] = a->odd[i] + b->odd[i];
    made.least = better(t, a->least, b->least, 1);
    made.most = better(t, a->most, b->most, -1);
    *ret = made;
}

static void join_others(const other *a, const other *b, other *ret)
{
    ret->parts = a->parts + b->parts;
    ret->decimals = a->decimals + b->decimals;
    ret->texts = a->texts + b->texts;
}

static void join_children(tree *t, uint32_t at)
{
    join(t, &t->nodes[2 * at], &t->nodes[2 * at + 1], &t->nodes[at]);
    if (t->others)
        join_others(&t->others[2 * at], &t->others[2 * at + 1], &t->others[at]);
}

/* The leaf of a version that is there. */
static void fill_leaf(tree *t, uint32_t at, uint32_t place)
{
    const hf_sql_value *v = &t->of->value[place];
    bool missing = t->of->missing[place];
    hf_pred_total total = {0};
    node made = empty;

    hf_pred_count_value(&total, made.odd, v, missing, 1);
    made.sum = total.sum;
    made.matches = total.matches;
    made.rows = total.rows;
    if (!missing && v->type != HF_SQL_NULL)
        made.least = made.most = place;
    t->nodes[at] = made;
    if (t->others)
        t->others[at] = (other){total.parts, total.decimals, total.texts};
}

static void empty_leaf(tree *t, uint32_t at)
{
    t->nodes[at] = empty;
    if (t->others)
        t->others[at] = (other){0};
}

static void set_leaf(tree *t, uint32_t ver, bool there)
{
    uint32_t place = t->p->ver_place[ver], at = t->leaf[place];

    if (at == HF_NONE)
        return;
    at += t->n;
    if (there)
        fill_leaf(t, at, place);
    else
        empty_leaf(t, at);
    for (at /= 2; at > 0; at /= 2)
        join_children(t, at);
}

static void add_node(const tree *t, uint32_t at, node *sum, other *more)
{
    join(t, sum, &t->nodes[at], sum);
    if (t->others)
        join_others(more, &t->others[at], more);
}

static node total_of(const tree *t, const hf_pred_condition *c, other *more)
{
    node sum = empty;

    for (uint32_t i = 0; i < c->axes->n_spans; i++) {
        uint32_t low = t->by->number_first[c->axes->spans[i].low] + t->n;
        uint32_t end = t->by->number_first[c->axes->spans[i].end] + t->n;

        for (; low < end; low /= 2, end /= 2) {
            if (low & 1u)
                add_node(t, low++, &sum, more);
            if (end & 1u)
                add_node(t, --end, &sum, more);
        }
    }
    return sum;
}

/* ---- over time ----------------------------------------------------------- */

static bool is_all_integers(const tree *t)
{
    for (uint32_t i = 0; i < t->t->n; i++)
        if (!t->of->missing[i] && t->of->value[i].type != HF_SQL_INT &&
            t->of->value[i].type != HF_SQL_NULL)
            return false;
    return true;
}

static void begin(tree *t, const hf_pred_question *q)
{
    const hf_graph *g = t->p->g;

    t->t = &t->p->tables.at[q->table];
    t->by = &t->t->columns.at[q->column];
    t->of = &t->t->columns.at[q->other];
    t->n = t->by->n_sorted;
    t->done = 0;
    t->leaf = HF_NEW_ARRAY(uint32_t, (size_t)t->t->n + 1);
    t->nodes =
        hf_alloc_large(hf_array_size(2 * (size_t)t->n + 2, sizeof(node)));
    t->others = is_all_integers(t) ? NULL
                                   : hf_alloc_large(hf_array_size(
                                         2 * (size_t)t->n + 2, sizeof(other)));
    memset(t->leaf, 0xff, ((size_t)t->t->n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < 2 * t->n + 2; i++)
        empty_leaf(t, i);
    for (uint32_t i = 0; i < t->n; i++)
        t->leaf[t->by->sorted[i]] = i;
    for (uint32_t i = 0; i < t->t->n; i++) {
        uint32_t ver = t->t->ver[i];

        if (g->ver_txn[ver] != HF_NONE)
            continue;
        t->now[t->p->ver_key[ver]] = ver;
        if (t->leaf[i] != HF_NONE)
            fill_leaf(t, t->n + t->leaf[i], i);
    }
    for (uint32_t i = t->n; i-- > 1;)
        join_children(t, i);
}

/* What was committed by the snapshot. */
static void advance(tree *t, uint32_t ticks)
{
    const hf_pred *p = t->p;

    for (; t->done < ticks; t->done++) {
        uint32_t ver = p->tick_ver[t->done];
        hf_key_id key = p->ver_key[ver];

        if (p->table_of_key[key] == UINT32_MAX ||
            &p->tables.at[p->table_of_key[key]] != t->t)
            continue;
        set_leaf(t, t->now[key], false);
        set_leaf(t, ver, true);
        t->now[key] = ver;
    }
}

static void ask(tree *t, const hf_pred_op *o)
{
    hf_pred *p = t->p;
    hf_pred_total total = {0}, own;
    other more = {0};
    node sum;

    hf_pred_own_total(p, o, t->of->name, &t->keys, &own);
    for (size_t i = 0; i < t->keys.n; i++)
        set_leaf(t, t->now[t->keys.at[i]], false);
    sum = total_of(t, &p->conditions.at[o->condition], &more);
    for (size_t i = 0; i < t->keys.n; i++)
        set_leaf(t, t->now[t->keys.at[i]], true);
    total.sum = sum.sum;
    total.parts = more.parts;
    total.decimals = more.decimals;
    total.texts = more.texts;
    total.matches = sum.matches;
    total.rows = sum.rows;
    total.has_extremes = sum.least != HF_NONE;
    if (total.has_extremes) {
        total.min = t->of->value[sum.least];
        total.max = t->of->value[sum.most];
    }
    hf_pred_note_odd(&total, sum.odd);
    hf_pred_join(&total, &own);
    hf_pred_judge_total(p, o, &o->q, &total);
}

/* Questions are told apart by the condition's column and the aggregate's. */
static void answer(void *user, const hf_pred_question *all, size_t n)
{
    tree *t = user;

    begin(t, &all[0]);
    for (size_t i = 0; i < n && !hf_graph_spent(t->p->g); i++) {
        advance(t, all[i].ticks);
        ask(t, &t->p->ops.at[all[i].op]);
    }
    hf_free(t->leaf);
    hf_free(t->nodes);
    hf_free(t->others);
}

void hf_pred_shared_totals(hf_pred *p)
{
    hf_pred_questions all = {0};
    tree t = {.p = p};

    for (uint32_t i = 0; i < p->ops.n; i++) {
        const hf_pred_op *o = &p->ops.at[i];
        const hf_pred_condition *c = &p->conditions.at[o->condition];

        if (!o->timed || !o->aggregate || !o->q.has_result_set ||
            c->n_axes != 1 || !(c->shares || c->n_covers[1] > 1))
            continue;
        hf_vec_push(&all, (hf_pred_question){c->table, c->axes->column,
                                             hf_pred_total_column(p, o, &o->q),
                                             o->ticks, i});
    }
    if (all.n == 0)
        return;
    t.now = HF_NEW_ARRAY(uint32_t, (size_t)p->g->h->n_keys + 1);
    hf_pred_ask_in_turn(p, &all, answer, &t);
    hf_vec_release(&all);
    hf_vec_release(&t.keys);
    hf_free(t.now);
}

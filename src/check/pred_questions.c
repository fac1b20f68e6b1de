/* pred_questions.c: operations by the tree that answers them, then by time.
 *
 * A tree over the versions of a table is filled as time goes on, and asked on
 * the way; so those that share one stand together, the older snapshots first.
 * O(n log n) for n questions.
 */
#include "check/pred.h"

#include <stdlib.h>

static int in_order(const void *a, const void *b)
{
    const hf_pred_question *x = a, *y = b;

    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->other != y->other)
        return x->other < y->other ? -1 : 1;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static bool share_tree(const hf_pred_question *a, const hf_pred_question *b)
{
    return a->table == b->table && a->column == b->column &&
           a->other == b->other;
}

void hf_pred_ask_in_turn(const hf_pred *p, hf_pred_questions *all,
                         hf_pred_answer *answer, void *user)
{
    size_t from = 0;

    if (all->n > 0)
        qsort(all->at, all->n, sizeof(*all->at), in_order);
    for (size_t i = 0; i < all->n && !hf_graph_spent(p->g); i++)
        if (i + 1 == all->n || !share_tree(&all->at[i], &all->at[i + 1])) {
            answer(user, all->at + from, i + 1 - from);
            from = i + 1;
        }
}

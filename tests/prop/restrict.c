/* restrict.c: dropping transactions, and the reads that depend on them. */
#include "restrict.h"

static bool is_kept(unsigned keep, int txn)
{
    return (keep >> txn) & 1u;
}

/* Does somebody who goes (else: stays) write this value to the key? */
static bool is_written(const tiny_history *t, unsigned keep, bool by_kept,
                       int key, int value)
{
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (is_kept(keep, i) == by_kept && hf_op_installs(op->kind) &&
                !op->failed && op->key == key && op->value == value)
                return true;
        }
    return false;
}

static bool has_own_write(const tiny_txn *x, int before, int key)
{
    for (int i = 0; i < before; i++)
        if (hf_op_installs(x->ops[i].kind) && !x->ops[i].failed &&
            x->ops[i].key == key)
            return true;
    return false;
}

/* Takes the elements of those who go out of the list; false if it then ends
 * in another element. */
static bool cut_list(const tiny_history *t, unsigned keep, tiny_op *op)
{
    int n = 0;
    bool last_kept = true;

    for (int i = 0; i < op->n_items; i++) {
        last_kept = !is_written(t, keep, false, op->key, op->items[i]);
        if (last_kept)
            op->items[n++] = op->items[i];
    }
    op->n_items = n;
    return last_kept;
}

/* What is left of the operation; false: nothing. */
static bool cut_op(const tiny_history *t, unsigned keep, const tiny_txn *x,
                   int index, tiny_op *op)
{
    if (op->kind == HF_OP_READ_LIST && op->value != TINY_UNRECORDED)
        return cut_list(t, keep, op);
    if (has_own_write(x, index, op->key))
        return true;
    if (op->kind == HF_OP_READ)
        return !is_written(t, keep, false, op->key, op->value);
    if (op->kind == HF_OP_INCREMENT && op->value != TINY_UNRECORDED &&
        is_written(t, keep, false, op->key, op->before))
        op->kind = HF_OP_WRITE;
    return true;
}

static void cut_txn(const tiny_history *t, unsigned keep, tiny_txn *x)
{
    tiny_txn before = *x;

    x->n_ops = 0;
    for (int i = 0; i < before.n_ops; i++) {
        tiny_op op = before.ops[i];

        if (cut_op(t, keep, &before, i, &op))
            x->ops[x->n_ops++] = op;
    }
}

static bool has_repeated_elements(const tiny_history *t, unsigned keep)
{
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (op->kind == HF_OP_APPEND && is_kept(keep, i) &&
                is_written(t, keep, false, op->key, op->value))
                return true;
        }
    return false;
}

bool restrict_history(const tiny_history *t, unsigned keep, tiny_history *ret)
{
    if (tiny_has_predicates(t) || has_repeated_elements(t, keep))
        return false;
    *ret = *t;
    for (int i = 0; i < t->n_txns; i++)
        if (is_kept(keep, i))
            cut_txn(t, keep, &ret->txns[i]);
    for (int i = t->n_txns - 1; i >= 0; i--)
        if (!is_kept(keep, i))
            *ret = tiny_without_txn(ret, i);
    return true;
}

/* random_change.c: things that go wrong in what was recorded. */
#include "random_history.h"

#include "fixtures.h"

/* ---- corruption ---------------------------------------------------------- */

static void corrupt_list(tiny_op *op, hf_rng *r)
{
    switch (hf_rng_below(r, 4)) {
    case 0:
        if (op->n_items > 0)
            op->n_items--;
        break;
    case 1:
        if (op->n_items > 1) {
            uint32_t i = hf_rng_below(r, (uint32_t)op->n_items - 1);
            int item = op->items[i];

            op->items[i] = op->items[i + 1];
            op->items[i + 1] = item;
        }
        break;
    case 2:
        op->n_items = 0;
        break;
    default:
        if (op->n_items < TINY_ITEMS)
            op->items[op->n_items++] = 1 + (int)hf_rng_below(r, 5);
        break;
    }
}

/* Another version of the key, of whatever kind. */
static int other_version(const tiny_history *t, int key, hf_rng *r)
{
    int value = t->initial[key];
    uint32_t n = 1;

    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++) {
            const tiny_op *op = &t->txns[i].ops[j];

            if (op->key == key && hf_op_installs(op->kind) && !op->failed &&
                op->value != TINY_UNRECORDED && hf_rng_below(r, ++n) == 0)
                value = op->value;
        }
    return value;
}

/* One thing about a predicate operation of the rich kind. */
static void corrupt_rich(const tiny_history *t, tiny_op *op, hf_rng *r)
{
    tiny_entry *e = &op->entries[hf_rng_below(r, (uint32_t)op->n_entries)];

    switch (hf_rng_below(r, 6)) {
    case 0:
        e->returned = !e->returned;
        break;
    case 1:
    case 2:
        e->value = other_version(t, e->key, r);
        e->writer = 0;
        if (hf_rng_chance(r, 50))
            e->returned = !e->returned;
        break;
    case 3: /* one row more, of a key that may be there already */
        if (op->n_entries < TINY_ENTRIES)
            op->entries[op->n_entries++] =
                (tiny_entry){.key = e->key,
                             .value = other_version(t, e->key, r),
                             .returned = true,
                             .unlisted = true};
        break;
    case 4:
        op->set = hf_rng_chance(r, 30) ? TINY_SET_NONE : op->set;
        op->time = (int)hf_rng_below(r, 50);
        break;
    default:
        if (op->kind > HF_OP_PREDICATE_DELETE)
            op->value = (int)hf_rng_below(r, 4) - 1;
        else
            op->no_rows = !op->no_rows;
    }
}

static void corrupt_entry(tiny_entry *e, hf_rng *r)
{
    if (hf_rng_chance(r, 15))
        e->returned = !e->returned;
    else
        e->value =
            hf_rng_chance(r, 25) ? TINY_NIL : 1 + (int)hf_rng_below(r, 5);
}

static void corrupt_entries(tiny_op *op, hf_rng *r)
{
    uint32_t i = hf_rng_below(r, (uint32_t)op->n_entries);

    if (op->n_entries < TINY_ENTRIES && op->where.form == 't' &&
        op->entries[i].returned && hf_rng_chance(r, 30)) {
        op->entries[op->n_entries] = op->entries[i];
        op->entries[op->n_entries].unlisted = true;
        op->entries[op->n_entries++].value++;
    } else {
        corrupt_entry(&op->entries[i], r);
    }
}

static void corrupt_op(tiny_op *op, hf_rng *r)
{
    if (op->kind == HF_OP_READ_LIST && op->value != TINY_UNRECORDED)
        corrupt_list(op, r);
    else if (op->kind == HF_OP_READ)
        op->value =
            hf_rng_chance(r, 25) ? TINY_NIL : 1 + (int)hf_rng_below(r, 5);
    else if (hf_op_has_predicate(op->kind) && op->n_entries > 0)
        corrupt_entries(op, r);
    else if (op->kind == HF_OP_INCREMENT && op->value != TINY_UNRECORDED)
        op->before = 1 + (int)hf_rng_below(r, 4);
}

static void corrupt_txn(tiny_txn *x, hf_rng *r)
{
    switch (hf_rng_below(r, 6)) {
    case 0:
        x->outcome = (hf_outcome)hf_rng_below(r, HF_OUTCOME_COUNT);
        break;
    case 1:
        if (x->n_ops > 1) {
            uint32_t i = hf_rng_below(r, (uint32_t)x->n_ops - 1);
            tiny_op op = x->ops[i];

            x->ops[i] = x->ops[i + 1];
            x->ops[i + 1] = op;
        }
        break;
    default:
        if (x->n_ops > 0)
            corrupt_op(&x->ops[hf_rng_below(r, (uint32_t)x->n_ops)], r);
        break;
    }
}

void random_corrupt_predicate(tiny_history *t, hf_rng *r)
{
    for (int tries = 0; tries < 20; tries++) {
        tiny_txn *x = &t->txns[hf_rng_below(r, (uint32_t)t->n_txns)];
        tiny_op *op = &x->ops[hf_rng_below(r, (uint32_t)x->n_ops + 1)];

        if (x->commit_ts != 0 && hf_rng_chance(r, 10)) {
            x->commit_ts = 10 * (int)hf_rng_below(r, 4);
            return;
        }
        if (op < x->ops + x->n_ops && hf_op_has_predicate(op->kind) &&
            op->n_entries > 0) {
            corrupt_rich(t, op, r);
            return;
        }
    }
}

void random_corrupt(tiny_history *t, hf_rng *r)
{
    uint32_t k = hf_rng_below(r, (uint32_t)t->n_keys);

    if (t->n_order[k] > 1 && hf_rng_chance(r, 30)) {
        uint32_t i = hf_rng_below(r, (uint32_t)t->n_order[k] - 1);
        int txn = t->order[k][i];

        t->order[k][i] = t->order[k][i + 1];
        t->order[k][i + 1] = txn;
        return;
    }
    corrupt_txn(&t->txns[hf_rng_below(r, (uint32_t)t->n_txns)], r);
}

/* One more operation, at a random place, or one more transaction. */
static void add_noise(tiny_history *t, hf_rng *r)
{
    uint32_t i = hf_rng_below(r, (uint32_t)t->n_txns + 1);
    tiny_txn *x = &t->txns[i];
    tiny_op op = {.key = (int)hf_rng_below(r, (uint32_t)t->n_keys)};

    if (i == (uint32_t)t->n_txns) {
        if (t->n_txns >= 6)
            return;
        t->n_txns++;
        *x = (tiny_txn){
            .session = (int)hf_rng_below(r, 3), .begin = -1, .end = -1};
    }
    if (hf_rng_chance(r, 50)) {
        op.kind = t->is_list[op.key] ? HF_OP_READ_LIST : HF_OP_READ;
        op.value = TINY_NIL;
        corrupt_op(&op, r);
    } else {
        op.kind = t->is_list[op.key] ? HF_OP_APPEND : HF_OP_WRITE;
        op.value = 1 + (int)hf_rng_below(r, 6);
    }
    if (x->n_ops < TINY_OPS)
        x->ops[x->n_ops++] = op;
    for (uint32_t at = hf_rng_below(r, (uint32_t)x->n_ops);
         at + 1 < (uint32_t)x->n_ops; at++) {
        tiny_op last = x->ops[x->n_ops - 1];

        x->ops[x->n_ops - 1] = x->ops[at];
        x->ops[at] = last;
    }
}

tiny_history random_fixture(hf_rng *r)
{
    unsigned n = 0;
    tiny_history t;

    while (fixture_at(n))
        n++;
    t = tiny_parse(fixture_at(hf_rng_below(r, n))->text);
    for (int i = 0; i < t.n_txns; i++) {
        if (hf_rng_chance(r, 10))
            t.txns[i].outcome = HF_UNKNOWN_OUTCOME;
        if (hf_rng_chance(r, 15))
            t.txns[i].session = (int)hf_rng_below(r, 3);
        if (hf_rng_chance(r, 15)) {
            t.txns[i].begin = (int)hf_rng_below(r, 8);
            t.txns[i].end = t.txns[i].begin + (int)hf_rng_below(r, 3);
        }
    }
    for (uint32_t i = hf_rng_below(r, 4); i > 0; i--)
        add_noise(&t, r);
    for (uint32_t i = hf_rng_below(r, 2); i > 0; i--)
        random_corrupt(&t, r);
    return t;
}

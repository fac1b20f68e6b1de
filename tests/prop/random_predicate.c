/* random_predicate.c: predicate operations of the random store.
 *
 * While a program runs, every predicate operation keeps of each key which
 * version it looked at and who wrote it.  Only when all is over it is decided
 * what of that was recorded: the version set with or without writers, all of
 * it or a part, a snapshot that says the same (or, where no snapshot can say
 * it, something else), or nothing.
 */
#include "random_store.h"

#include <stdio.h>
#include <string.h>

/* ---- running ------------------------------------------------------------- */

static hf_op_kind random_kind(hf_rng *r, bool may_write)
{
    unsigned pick = hf_rng_below(r, 100);

    if (pick < 50 || (!may_write && pick < 72))
        return HF_OP_PREDICATE_READ;
    if (pick < 63)
        return HF_OP_PREDICATE_UPDATE;
    if (pick < 72)
        return HF_OP_PREDICATE_DELETE;
    if (pick >= 95)
        return HF_OP_AVG;
    return (hf_op_kind)((unsigned)HF_OP_MIN + hf_rng_below(r, 4));
}

static hf_scalar scalar_of(const tiny_history *t, int key, int value,
                           char *text, size_t size)
{
    if (value == TINY_NIL)
        return (hf_scalar){.type = HF_NIL};
    if (!t->is_row[key])
        return (hf_scalar){.type = HF_INT, .number = value};
    row_text(value, text, size);
    return (hf_scalar){HF_ROW, 0, text, strlen(text)};
}

/* The aggregate of what was matched. */
static int result_of(const tiny_history *t, const tiny_op *op)
{
    int count = 0, sum = 0, least = 0, most = 0;

    for (int i = 0; i < op->n_entries; i++) {
        const tiny_entry *e = &op->entries[i];
        char text[80];
        int64_t n = 0;

        if (!e->returned ||
            (op->column != 0 &&
             !row_column(scalar_of(t, e->key, e->value, text, sizeof(text)),
                         op->column, &n)))
            continue;
        least = count == 0 || n < least ? (int)n : least;
        most = count == 0 || n > most ? (int)n : most;
        sum += (int)n;
        count++;
    }
    if (op->kind == HF_OP_COUNT_ROWS)
        return count;
    if (count == 0)
        return TINY_NIL;
    if (op->kind == HF_OP_AVG)
        return sum * TINY_AVERAGE / count;
    return op->kind == HF_OP_SUM ? sum : op->kind == HF_OP_MIN ? least : most;
}

/* Each key is looked at; a statement has one view, or one for each key. */
static void look(store *s, int txn, tiny_op *op)
{
    bool per_read = s->mode.per_read;

    if (per_read && hf_rng_chance(s->r, 60)) {
        s->seen[txn] = store_view(s, txn);
        s->mode.per_read = false;
    }
    for (int k = 0; k < s->t->n_keys; k++) {
        tiny_entry *e = &op->entries[op->n_entries];
        tiny_op read = {0};
        char text[80];
        int writer;

        if (s->t->is_row[k] != op->on_rows)
            continue;
        op->n_entries++;
        writer = store_read(s, txn, k, &read);
        *e = (tiny_entry){.key = k,
                          .value = read.value,
                          .writer = writer < 0 ? TINY_INITIAL : writer + 1};
        e->returned = !condition_is_odd(op->where.form) &&
                      condition_holds(op->where, scalar_of(s->t, k, e->value,
                                                           text, sizeof(text)));
    }
    s->mode.per_read = per_read;
    op->seen = s->seen[txn];
}

/* A predicate update is followed by the writes of its rows. */
static void write_rows(store *s, int txn, const tiny_op *op)
{
    tiny_txn *x = &s->t->txns[txn];

    for (int i = 0; i < op->n_entries && x->n_ops < TINY_OPS; i++) {
        const tiny_entry *e = &op->entries[i];
        bool delete = op->kind == HF_OP_PREDICATE_DELETE;

        if (!e->returned || hf_rng_chance(s->r, 4))
            continue;
        x->ops[x->n_ops++] =
            (tiny_op){.kind = delete ? HF_OP_DELETE : HF_OP_WRITE,
                      .key = e->key,
                      .value = delete ? TINY_NIL : store_new_value(s, e->key)};
        s->last_writer[e->key] = txn;
    }
}

void store_run_predicate(store *s, int txn)
{
    tiny_txn *x = &s->t->txns[txn];
    uint32_t any = hf_rng_below(s->r, (uint32_t)s->t->n_keys);
    tiny_op op = {.value = TINY_NIL, .on_rows = s->t->is_row[any]};

    if (x->n_ops >= TINY_OPS)
        return;
    op.kind = random_kind(s->r, x->n_ops < 4);
    op.where = hf_rng_chance(s->r, s->taste->odd)
                   ? condition_random_odd(s->r, op.on_rows)
                   : condition_random(s->r, op.on_rows);
    look(s, txn, &op);
    if (op.kind >= HF_OP_MIN) {
        op.column = !op.on_rows ? 'v' : hf_rng_chance(s->r, 50) ? 'a' : 'b';
        if (op.kind == HF_OP_COUNT_ROWS && hf_rng_chance(s->r, 50))
            op.column = 0;
        op.value = result_of(s->t, &op);
        if (op.kind == HF_OP_SUM && op.value == TINY_NIL &&
            hf_rng_chance(s->r, 50))
            op.value = 0;
    }
    x->ops[x->n_ops++] = op;
    if (op.kind == HF_OP_PREDICATE_UPDATE || op.kind == HF_OP_PREDICATE_DELETE)
        write_rows(s, txn, &op);
}

/* ---- recording ----------------------------------------------------------- */

/* How this recorder does it, in percent. */
typedef struct recorder {
    unsigned snapshots; /* of the operations that have one */
    bool times;         /* else ids */
    unsigned writers;   /* entries with their writer */
    unsigned missing;   /* operations without a version set */
    unsigned partial;   /* entries that are left out */
} recorder;

static recorder random_recorder(hf_rng *r)
{
    recorder c = {0};

    if (hf_rng_chance(r, 45))
        c.snapshots = hf_rng_chance(r, 75) ? 100 : 50;
    c.times = hf_rng_chance(r, 50);
    c.writers = hf_rng_chance(r, 40) ? 100 : hf_rng_chance(r, 30) ? 40 : 0;
    c.missing = hf_rng_chance(r, 6) ? 40 : 0;
    c.partial = hf_rng_chance(r, 15) ? 25 : 0;
    return c;
}

/* The labels of those that were seen are held, all others are not; some of
 * unknown outcome are, seen or not.  Own and aborted ones may be listed or not:
 * nothing follows from them. */
static void record_ids(const store *s, int txn, tiny_op *op)
{
    const tiny_history *t = s->t;
    unsigned all = op->seen;
    int least = 1000, most = 0, n;

    for (int i = 0; i < t->n_txns; i++)
        if (t->txns[i].outcome == HF_UNKNOWN_OUTCOME && hf_rng_chance(s->r, 30))
            all |= 1u << i;
    for (int i = 0; i < t->n_txns; i++) {
        bool held = all >> i & 1u;

        if (held && t->txns[i].id > most)
            most = t->txns[i].id;
        if (!held && t->txns[i].id < least)
            least = t->txns[i].id;
    }
    if (least > most + 1)
        least = most + 1;
    n = snprintf(op->ids, sizeof(op->ids), "%d:%d:", least, most + 1);
    for (int i = 0; i < t->n_txns; i++) {
        int id = t->txns[i].id;
        bool held = all >> i & 1u;
        bool idle = t->txns[i].outcome == HF_ABORTED || i == txn;

        if (held || id < least || id > most || n + 4 > (int)sizeof(op->ids) ||
            (idle && hf_rng_chance(s->r, 30)))
            continue;
        n += snprintf(op->ids + n, sizeof(op->ids) - (size_t)n, "%s%d",
                      op->ids[n - 1] == ':' ? "" : ",", id);
    }
}

/* The newest commit that was seen; what was committed before it and not seen
 * is in the snapshot nevertheless. */
static void record_time(const store *s, tiny_op *op)
{
    op->time = 1;
    for (int i = 0; i < s->n_commits; i++)
        if (op->seen >> s->commits[i] & 1u)
            op->time = 10 * (i + 1) + (int)hf_rng_below(s->r, 9);
}

static void record_listed(const store *s, const recorder *c, tiny_op *op)
{
    int n = 0;

    for (int i = 0; i < op->n_entries; i++) {
        tiny_entry e = op->entries[i];

        if (!hf_rng_chance(s->r, c->writers))
            e.writer = 0;
        if (hf_rng_chance(s->r, c->partial)) {
            if (!e.returned || op->kind >= HF_OP_MIN)
                continue;
            e.unlisted = true;
        }
        op->entries[n++] = e;
    }
    op->n_entries = n;
}

static void record_op(const store *s, const recorder *c, int txn, tiny_op *op)
{
    unsigned missing = s->taste->unlisted && op->kind < HF_OP_MIN
                           ? s->taste->unlisted
                           : c->missing;

    if (hf_rng_chance(s->r, 4))
        op->no_rows = true;
    if (hf_rng_chance(s->r, missing)) {
        op->set = TINY_SET_NONE;
    } else if (hf_rng_chance(s->r, c->snapshots)) {
        op->set = c->times ? TINY_SET_TIME : TINY_SET_IDS;
        if (c->times)
            record_time(s, op);
        else
            record_ids(s, txn, op);
    } else {
        record_listed(s, c, op);
    }
}

static void record_clock(store *s)
{
    unsigned missing = hf_rng_chance(s->r, 12) ? 25 : 0;

    for (int i = 0; i < s->n_commits; i++) {
        tiny_txn *x = &s->t->txns[s->commits[i]];

        if (!hf_rng_chance(s->r, missing))
            x->commit_ts = 10 * (i + 1);
    }
}

/* Labels in the order of the file, or in that of the commits from behind. */
static void record_labels(store *s)
{
    bool reverse = hf_rng_chance(s->r, 50);

    for (int i = 0; i < s->t->n_txns; i++)
        s->t->txns[i].id = reverse ? 10 + s->t->n_txns - i : 10 + i;
}

void store_record_sets(store *s)
{
    recorder c = random_recorder(s->r);

    if (c.snapshots > 0 && !c.times)
        record_labels(s);
    if (c.snapshots > 0 && (c.times || hf_rng_chance(s->r, 50)))
        record_clock(s);
    for (int i = 0; i < s->t->n_txns; i++)
        for (int j = 0; j < s->t->txns[i].n_ops; j++)
            if (hf_op_has_predicate(s->t->txns[i].ops[j].kind))
                record_op(s, &c, i, &s->t->txns[i].ops[j]);
}

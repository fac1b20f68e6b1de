/* replay_serial.c: the transactions, one after the other.
 *
 * Algorithm 4 of the paper "Practical White-Box Isolation Checking" (Emme and
 * Enne): a current state, every read compared with it, every write put into
 * it.  A key is one cell: its value and who wrote it, so that an operation
 * costs one access in an array.  As all transactions of the order happened,
 * own writes go straight into the state.
 *
 * Lists.  The value of a key is the longest list known to be a prefix of it,
 * and a tail of appends after that.  A list that is read must end in those
 * and begin with that list; it then takes its place, so that an element is
 * looked at once however long the list is.
 *
 * After a mismatch the replay goes on with the true state, so that further
 * ones are counted as they are.  O(operations), plus what predicates cost
 * (replay_rows.c).
 */
#include "check/replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/ratio.h"

hf_value_id hf_replay_written(const hf_history *h, hf_op_id op)
{
    if (hf_op_kind_of(h, op) == HF_OP_INCREMENT) {
        hf_increment i = hf_op_increment(h, op);

        return i.has_result ? i.after : HF_REPLAY_OPEN;
    }
    return h->op_value[op];
}

hf_op_id hf_replay_last_write(const hf_history *h, hf_txn_id t, hf_key_id key,
                              hf_op_id end)
{
    hf_op_id o = h->op_first[t + 1] < end ? h->op_first[t + 1] : end;

    while (o-- > h->op_first[t])
        if (h->op_key[o] == key && hf_replay_writes(h, o))
            return o;
    return HF_NONE;
}

/* One write of the value: of one that happened if there is one. */
hf_op_id hf_replay_explain(hf_replay *p, hf_value_id value)
{
    const hf_history *h = p->h;
    hf_op_id found = HF_NONE;

    if (value == HF_NONE)
        return HF_NONE;
    if (h->value_type[value] == HF_LIST)
        value = hf_list_last(h, value);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            if (h->op_key[o] != h->value_key[value] ||
                !hf_replay_writes(h, o) || hf_replay_written(h, o) != value)
                continue;
            if (p->order.place[t] != HF_NONE)
                return o;
            found = o;
        }
    return found;
}

/* ---- reads --------------------------------------------------------------- */

static void __attribute__((noinline))
odd_read(hf_replay *p, hf_op_id op, hf_key_id key, hf_value_id value)
{
    hf_value_id now = p->cells[key].value;

    if (now == HF_REPLAY_OPEN) {
        hf_replay_undecided(p,
                            "T%" PRId64 " reads a key that was incremented "
                            "before, and the result of that was not recorded",
                            hf_txn_label(p->h, hf_op_txn(p->h, op)));
        return;
    }
    if (!hf_replay_same(p->h, now, value))
        hf_replay_note_key(p, op, key, value);
}

/* Takes the tail from the end of the list; false if it does not end so. */
static bool cut_tail(const hf_replay *p, hf_op_id tail, hf_value_id *list)
{
    for (; tail != HF_NONE; tail = p->before[tail]) {
        if (*list == HF_NONE ||
            hf_list_last(p->h, *list) != p->h->op_value[tail])
            return false;
        *list = hf_list_parent(p->h, *list);
    }
    return true;
}

static void read_list(hf_replay *p, hf_op_id op)
{
    const hf_history *h = p->h;
    hf_key_id key = h->op_key[op];
    hf_value_id value = h->op_value[op], prefix;
    hf_replay_cell *c = &p->cells[key];

    if (value == HF_NONE)
        return;
    prefix = h->value_type[value] == HF_LIST ? value : HF_NONE;
    if (prefix == HF_NONE && h->value_type[value] != HF_NIL) {
        odd_read(p, op, key, value);
        return;
    }
    if (!p->tail) { /* nobody appends */
        if (c->value != prefix)
            odd_read(p, op, key, value);
        return;
    }
    if (!cut_tail(p, p->tail[key], &prefix) ||
        !hf_replay_same(h, prefix, c->value)) {
        hf_replay_note_key(p, op, key, value);
        return;
    }
    c->value = h->value_type[value] == HF_LIST ? value : HF_NONE;
    p->tail[key] = HF_NONE;
}

static bool is_list_key(const hf_replay *p, hf_key_id key)
{
    return p->tail && (p->tail[key] != HF_NONE ||
                       (p->cells[key].value < HF_REPLAY_OPEN &&
                        p->h->value_type[p->cells[key].value] == HF_LIST));
}

static void read_item(hf_replay *p, hf_op_id op)
{
    hf_key_id key = p->h->op_key[op];

    if (is_list_key(p, key))
        read_list(p, op);
    else
        odd_read(p, op, key, p->h->op_value[op]);
}

/* ---- writes -------------------------------------------------------------- */

static void append(hf_replay *p, hf_txn_id t, hf_op_id op)
{
    hf_key_id key = p->h->op_key[op];

    p->before[op] = p->tail[key];
    p->tail[key] = op;
    p->cells[key].writer = t;
}

static void put(hf_replay *p, hf_txn_id t, hf_key_id key, hf_value_id value)
{
    p->cells[key] = (hf_replay_cell){value, t};
    if (p->rows)
        hf_rows_set(p->rows, key, value);
}

/* What can be said of an operation without any state. */
void hf_replay_check_plain(hf_replay *p, hf_txn_id t, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(p->h, op);
    hf_increment i;

    if (p->h->op_kind[op] & HF_OP_FAILED)
        return;
    if (hf_op_is_opaque(p->h, op))
        hf_replay_undecided(p,
                            "T%" PRId64 " has a SQL statement, which is not "
                            "replayed",
                            hf_txn_label(p->h, t));
    if (kind != HF_OP_INCREMENT)
        return;
    i = hf_op_increment(p->h, op);
    if (i.has_result &&
        !hf_increment_fits(hf_value_scalar(p->h, i.before), i.amount,
                           hf_value_scalar(p->h, i.after)))
        hf_replay_note(p, HF_SEMANTIC_ERROR, &op, 1);
}

static void increment(hf_replay *p, hf_txn_id t, hf_op_id op)
{
    hf_increment i = hf_op_increment(p->h, op);
    hf_key_id key = p->h->op_key[op];

    if (!i.has_result) {
        put(p, t, key, HF_REPLAY_OPEN);
        return;
    }
    hf_replay_check_plain(p, t, op);
    if (p->cells[key].value != i.before)
        odd_read(p, op, key, i.before);
    put(p, t, key, i.after);
}

static void other(hf_replay *p, hf_txn_id t, hf_op_id op, hf_op_kind kind)
{
    if (hf_op_has_predicate(kind))
        hf_replay_query(p, t, op);
    else if (kind == HF_OP_APPEND)
        append(p, t, op);
    else if (kind == HF_OP_READ_LIST)
        read_list(p, op);
    else if (kind == HF_OP_INCREMENT)
        increment(p, t, op);
    else
        hf_replay_check_plain(p, t, op);
}

#define MARKS (1u << HF_OP_BEGIN | 1u << HF_OP_COMMIT | 1u << HF_OP_ABORT)
#define PUTS (1u << HF_OP_WRITE | 1u << HF_OP_INSERT | 1u << HF_OP_DELETE)

static void run(hf_replay *p, hf_txn_id t)
{
    const hf_history *h = p->h;
    hf_op_id end = h->op_first[t + 1];

    for (hf_op_id op = h->op_first[t]; op < end; op++) {
        uint8_t bits = h->op_kind[op];
        unsigned kind = bits & HF_OP_KIND_MASK;
        hf_value_id value = h->op_value[op];

        if (bits & HF_OP_FAILED)
            continue;
        if (kind == HF_OP_READ) {
            if (value != HF_NONE &&
                (p->tail || value != p->cells[h->op_key[op]].value))
                read_item(p, op);
        } else if (PUTS >> kind & 1) {
            put(p, t, h->op_key[op], value);
        } else if (!(MARKS >> kind & 1)) {
            other(p, t, op, (hf_op_kind)kind);
        }
    }
}

/* ---- start --------------------------------------------------------------- */

static void make_cells(hf_replay *p)
{
    const hf_history *h = p->h;
    bool lists = false;

    p->cells = HF_NEW_ARRAY(hf_replay_cell, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        p->cells[k] = (hf_replay_cell){
            h->key_initial ? h->key_initial[k] : HF_NONE, HF_NONE};
    for (hf_op_id op = 0; op < h->n_ops && !lists; op++)
        lists = hf_op_kind_of(h, op) == HF_OP_APPEND;
    if (!lists)
        return;
    p->tail = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_keys + 1);
    memset(p->tail, 0xff, ((size_t)h->n_keys + 1) * sizeof(*p->tail));
    p->before = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_ops + 1);
}

bool hf_replay_serial(hf_replay *p)
{
    make_cells(p);
    for (uint32_t i = 0; i < p->order.n; i++) {
        run(p, p->order.at[i]);
        if (p->first_only && p->found.n > 0)
            return true;
        if ((i & 0xff) == 0) {
            if (hf_replay_spent(p))
                return false;
            if ((i & 0xffff) == 0)
                hf_budget_progress(p->budget, "replaying", i, p->order.n);
        }
    }
    return true;
}

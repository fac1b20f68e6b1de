/* operations.c: anomalies without a cycle, shown by a few operations.
 *
 *   garbage read         read
 *   internal             own write, read
 *   non-repeatable read  read, read
 *   duplicate write      write, write; or a list read
 *   G1a                  aborted write, read
 *   G1b                  write, later write of the same transaction, read
 *   dirty update         aborted append, committed append, list read
 *   future read          read, later write of the same transaction
 *   incompatible order   list read, list read
 *   cyclic versions      pairs of reads and writes (versions.c)
 *   lost update          read, write of one; read, write of another
 *   phantom              predicate read, predicate read
 *   two versions         predicate operation
 *   result set mismatch  predicate operation
 *   semantic error       an increment that does not add up
 *   outside snapshot     read, write seen or missed (stamps.c)
 *   concurrent write     write, write (stamps.c)
 *   expected state       see expected.h
 *
 * Each is a fact about every world, so what it needs to know about sources
 * must be certain (certain.h), and the reader must certainly have happened.
 * The last part of each rule is the set of levels that forbid it.
 *
 * Cost: O(operations + values) once in a session; then the operations of the
 * transactions named and the length of the lists involved.
 */
#include "verify/counters.h"
#include "verify/operations.h"

#include "verify/expected.h"
#include "verify/sources.h"

typedef struct rule {
    hf_anomaly anomaly;
    uint32_t least, most; /* operations */
    bool (*check)(const hf_certain *c, const hf_cited *s, uint32_t n);
    bool (*forbidden)(const hf_level_info *level);
} rule;

/* ---- levels -------------------------------------------------------------- */

static bool everywhere(const hf_level_info *level)
{
    (void)level;
    return true;
}

static bool from_read_committed(const hf_level_info *level)
{
    return level->shape != HF_SHAPE_WW;
}

/* Repeated reads: INT, or a cycle with one anti-dependency. */
static bool where_reads_repeat(const hf_level_info *level)
{
    return level->internal || level->shape == HF_SHAPE_SINGLE ||
           level->shape == HF_SHAPE_ITEM;
}

static bool where_updates_stay(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_SINGLE || level->shape == HF_SHAPE_ITEM ||
           level->shape == HF_SHAPE_SNAPSHOT || level->shape == HF_SHAPE_SERIAL;
}

static bool where_sets_repeat(const hf_level_info *level)
{
    return level->internal || level->shape == HF_SHAPE_SINGLE;
}

/* Snapshots are what recorded timestamps are about. */
static bool with_snapshots(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_SNAPSHOT;
}

/* ---- helpers ------------------------------------------------------------- */

bool hf_refuse_steps(const hf_certain *c, const char *why)
{
    return hf_refuse(c->v, "the operations do not show %s: %s",
                     hf_anomaly_get(c->v->w->anomaly)->name, why);
}

static bool is_write(const hf_certain *c, const hf_cited *s)
{
    return hf_op_writes(c->v->h, s->op);
}

/* The key of a pair of operations: at least one of them has one. */
static hf_key_id key_of(const hf_cited *a, const hf_cited *b)
{
    return a->key != HF_NONE ? a->key : b->key;
}

static bool is_blind(const hf_certain *c, hf_key_id key)
{
    return c->v->facts.key_use[key] & HF_KEY_BLIND;
}

static bool is_list(const hf_certain *c, const hf_item_read *read)
{
    return (c->v->facts.key_use[read->key] & HF_KEY_LIST) &&
           c->v->h->value_type[read->value] == HF_LIST;
}

/* A read of key by one that happened, with no own write of it before. */
static bool reads_others(const hf_certain *c, const hf_cited *s, hf_key_id key,
                         hf_item_read *ret)
{
    return key != HF_NONE && c->happened[s->t] &&
           hf_read_of_key(c->v, s->op, key, ret) &&
           hf_own_write_before(c->v->h, &c->v->facts, s->t, s->op, key) ==
               HF_NONE &&
           !is_blind(c, key);
}

/* An item of a key with increments without results. */
static bool is_sum(const hf_certain *c, const hf_cited *s,
                   const hf_item_read *read)
{
    return hf_is_counter(&c->v->facts, read->key) &&
           !hf_op_has_predicate(hf_op_kind_of(c->v->h, s->op));
}

/* Two reads of such a key, with no own write before them, that differ. */
static bool reads_two_sums(const hf_certain *c, const hf_cited *s,
                           hf_key_id key)
{
    const hf_history *h = c->v->h;
    hf_item_read a, b;

    return (s[0].t == s[1].t && s[0].op < s[1].op && c->happened[s[0].t] &&
            hf_read_of_key(c->v, s[0].op, key, &a) &&
            hf_read_of_key(c->v, s[1].op, key, &b) && is_sum(c, &s[0], &a) &&
            is_sum(c, &s[1], &b) &&
            !hf_count_of(h, s[1].t, key, s[1].op).writes &&
            !hf_held_is_same(hf_held_of(h, a.value), hf_held_of(h, b.value))) ||
           hf_refuse_steps(c, "expected two different reads of a key, with no "
                              "own write before them");
}

/* Was the value, or the element, written only by aborted transactions? */
static bool only_aborted(const hf_certain *c, hf_key_id key, hf_value_id value)
{
    hf_txn_id writer = c->v->facts.writer[value];
    const uint8_t *outcomes;

    if (writer == HF_NONE || hf_value_is_initial(c->v->h, key, value))
        return false;
    if (writer != HF_SEVERAL)
        return c->v->h->txn_outcome[writer] == HF_ABORTED;
    outcomes = hf_writer_outcomes(c->v);
    return outcomes && outcomes[value] == 1u << HF_ABORTED;
}

/* Where in the list (elements counted from its end) the element stands, or
 * HF_NONE. */
static uint32_t from_end(const hf_history *h, hf_value_id list,
                         hf_value_id element)
{
    uint32_t n = 0;

    for (; list != HF_NONE; list = hf_list_parent(h, list), n++)
        if (hf_list_last(h, list) == element)
            return n;
    return HF_NONE;
}

/* ---- rules --------------------------------------------------------------- */

static bool check_garbage(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    const hf_facts *f = &c->v->facts;
    uint32_t reads = hf_item_reads(h, s->op);

    (void)n;
    if (!c->happened[s->t])
        return hf_refuse_steps(c, "the reader did not certainly commit");
    for (uint32_t i = 0; i < reads; i++) {
        hf_item_read read = hf_item_read_at(h, s->op, i);
        hf_txn_id writer;

        if (is_blind(c, read.key)) {
            if (is_sum(c, s, &read) &&
                !hf_count_of(h, s->t, read.key, s->op).sets &&
                !hf_counter_reaches(c->v, read.key, read.value))
                return true;
            continue;
        }
        if (hf_facts_origin(h, f, &read, &writer) == HF_FROM_NOBODY)
            return true;
        if (!is_list(c, &read))
            continue;
        for (hf_value_id x = read.value; x != HF_NONE; x = hf_list_parent(h, x))
            if (f->writer[hf_list_last(h, x)] == HF_NONE)
                return true;
    }
    return hf_refuse_steps(c, "somebody wrote what was read");
}

/* The own elements in the list are those appended before, in order, at its
 * end. */
static bool ends_with_own(const hf_certain *c, const hf_cited *read,
                          hf_value_id list)
{
    const hf_history *h = c->v->h;
    hf_value_id x = h->value_type[list] == HF_LIST ? list : HF_NONE;

    for (hf_op_id op = read->op; op-- > h->op_first[read->t];) {
        if (h->op_key[op] != read->key || !hf_op_writes(h, op))
            continue;
        if (x == HF_NONE || hf_list_last(h, x) != hf_op_written(h, op))
            return false;
        x = hf_list_parent(h, x);
    }
    for (; x != HF_NONE; x = hf_list_parent(h, x))
        if (c->v->facts.writer[hf_list_last(h, x)] == read->t)
            return false;
    return true;
}

static bool check_internal(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_key_id key = s[0].key;
    hf_item_read read;

    (void)n;
    if (s[0].t != s[1].t || !c->happened[s[0].t] || !is_write(c, &s[0]) ||
        !hf_read_of_key(c->v, s[1].op, key, &read))
        return hf_refuse_steps(c,
                               "expected an own write and a read of its key");
    if (hf_own_write_before(h, &c->v->facts, s[1].t, s[1].op, key) != s[0].op)
        return hf_refuse_steps(c,
                               "the write is not the last one before the read");
    if (is_blind(c, key)) {
        hf_counted own = hf_count_of(h, s[1].t, key, s[1].op);

        return (is_sum(c, &s[1], &read) && own.sets &&
                !hf_held_is_same(own.held, hf_held_of(h, read.value))) ||
               hf_refuse_steps(c, "the key has increments without results");
    }
    if (c->v->facts.key_use[key] & HF_KEY_LIST)
        return !ends_with_own(c, &(hf_cited){s[1].op, s[1].t, key, s[1].kind},
                              read.value) ||
               hf_refuse_steps(c, "the list ends with the own appends");
    return hf_op_written(h, s[0].op) != read.value ||
           (read.writer != HF_NONE && read.writer != s[1].t) ||
           hf_refuse_steps(c, "the read returns the own write");
}

static bool check_non_repeatable(const hf_certain *c, const hf_cited *s,
                                 uint32_t n)
{
    hf_item_read a, b;
    hf_key_id key = key_of(&s[0], &s[1]);

    (void)n;
    if (key != HF_NONE && is_blind(c, key))
        return reads_two_sums(c, s, key);
    if (s[0].t != s[1].t || s[0].op >= s[1].op ||
        !reads_others(c, &s[0], key, &a) || !reads_others(c, &s[1], key, &b))
        return hf_refuse_steps(
            c, "expected two reads of a key in one transaction, with "
               "no own write before them");
    if (hf_look_at_key(c->v, s[0].op, key) != HF_LOOK_ITEM ||
        hf_look_at_key(c->v, s[1].op, key) != HF_LOOK_ITEM)
        return hf_refuse_steps(c, "a condition did not return the row");
    return a.value != b.value ||
           hf_refuse_steps(c, "both reads return the same value");
}

/* An element stands in the list more often than it was appended, by whomever.
 */
static bool has_element_too_often(const hf_certain *c, hf_value_id list)
{
    const hf_history *h = c->v->h;
    hf_notes *met = hf_notes_begin(c->v, HF_NOTES_VALUES);

    for (hf_value_id x = list; x != HF_NONE; x = hf_list_parent(h, x))
        hf_note(met, hf_list_last(h, x),
                hf_note_of(met, hf_list_last(h, x)) + 1);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_value_id e = hf_op_writes(h, op) ? hf_op_written(h, op) : HF_NONE;

        if (e != HF_NONE && hf_note_of(met, e) > 0)
            hf_note(met, e, hf_note_of(met, e) - 1);
    }
    for (hf_value_id x = list; x != HF_NONE; x = hf_list_parent(h, x))
        if (hf_note_of(met, hf_list_last(h, x)) > 0 &&
            c->v->facts.writer[hf_list_last(h, x)] != HF_NONE)
            return true;
    return false;
}

static bool check_duplicate(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_item_read read;
    hf_value_id value;

    if (n == 1) {
        if (s->key == HF_NONE || !c->happened[s->t] ||
            !hf_read_of_key(c->v, s->op, s->key, &read) || !is_list(c, &read))
            return hf_refuse_steps(c,
                                   "expected a list read by a transaction that "
                                   "certainly committed");
        return has_element_too_often(c, read.value) ||
               hf_refuse_steps(c, "no element is in the list more often than "
                                  "it was appended");
    }
    if (!h->unique_values)
        return hf_refuse_steps(c, "unique values were not promised");
    if (s[0].op == s[1].op || !is_write(c, &s[0]) || !is_write(c, &s[1]))
        return hf_refuse_steps(c, "expected two writes");
    value = hf_op_written(h, s[0].op);
    return (value != HF_NONE && h->value_type[value] != HF_NIL &&
            value == hf_op_written(h, s[1].op)) ||
           hf_refuse_steps(c, "they do not write the same value of one key");
}

/* For a list an own append before the read is no excuse. */
static bool reads_dirty(const hf_certain *c, const hf_cited *s, hf_key_id key,
                        hf_item_read *ret)
{
    if (reads_others(c, s, key, ret))
        return true;
    return c->happened[s->t] && hf_read_of_key(c->v, s->op, key, ret) &&
           is_list(c, ret);
}

static bool check_g1a(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_item_read read;
    hf_value_id value;

    (void)n;
    if (!is_write(c, &s[0]) || h->txn_outcome[s[0].t] != HF_ABORTED ||
        !reads_dirty(c, &s[1], s[0].key, &read))
        return hf_refuse_steps(
            c, "expected a write of an aborted transaction and a read "
               "of its key by another");
    value = hf_op_written(h, s[0].op);
    if (is_list(c, &read) ? from_end(h, read.value, value) == HF_NONE
                          : read.value != value)
        return hf_refuse_steps(c, "the read does not return what was written");
    if (read.writer != HF_NONE && read.writer != s[0].t)
        return hf_refuse_steps(c, "the version read is another one");
    return read.writer == s[0].t || only_aborted(c, s[0].key, value) ||
           hf_refuse_steps(c, "the value may come from elsewhere");
}

static bool check_g1b(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_item_read read;
    hf_txn_id writer;
    hf_value_id value;

    (void)n;
    if (!is_write(c, &s[0]) || !is_write(c, &s[1]) || s[0].t != s[1].t ||
        s[0].key != s[1].key || s[0].op >= s[1].op || s[2].t == s[0].t ||
        !reads_others(c, &s[2], s[0].key, &read))
        return hf_refuse_steps(
            c, "expected two writes of a key by one transaction and a "
               "read by another");
    value = hf_op_written(h, s[0].op);
    if ((is_list(c, &read) ? hf_list_last(h, read.value) : read.value) != value)
        return hf_refuse_steps(c, "the read does not return the first write");
    if (hf_facts_origin(h, &c->v->facts, &read, &writer) != HF_FROM_TXN ||
        writer != s[0].t)
        return hf_refuse_steps(c, "the value may come from elsewhere");
    return !hf_facts_is_last(h, &c->v->facts, writer, value) ||
           hf_refuse_steps(c, "the transaction's last write is what was read");
}

static bool check_dirty_update(const hf_certain *c, const hf_cited *s,
                               uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_key_id key = s[0].key;
    hf_item_read read;
    uint32_t dirty, clean;

    (void)n;
    if (!is_write(c, &s[0]) || !is_write(c, &s[1]) || s[1].key != key ||
        h->txn_outcome[s[0].t] != HF_ABORTED || !c->happened[s[1].t] ||
        !c->happened[s[2].t] || !hf_read_of_key(c->v, s[2].op, key, &read) ||
        !is_list(c, &read))
        return hf_refuse_steps(
            c, "expected an aborted append, a committed append and a "
               "list read");
    dirty = from_end(h, read.value, hf_op_written(h, s[0].op));
    clean = from_end(h, read.value, hf_op_written(h, s[1].op));
    if (dirty == HF_NONE || clean == HF_NONE || clean > dirty)
        return hf_refuse_steps(c, "the list does not hold them in that order");
    return only_aborted(c, key, hf_op_written(h, s[0].op)) ||
           hf_refuse_steps(c, "the element may come from elsewhere");
}

static bool check_future(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_item_read read;
    hf_txn_id writer;
    hf_value_id value;

    (void)n;
    if (s[0].t != s[1].t || s[0].op >= s[1].op || !is_write(c, &s[1]) ||
        !reads_others(c, &s[0], s[1].key, &read))
        return hf_refuse_steps(
            c, "expected a read and a later write of its key by the "
               "same transaction");
    value = is_list(c, &read) ? hf_list_last(h, read.value) : read.value;
    if (value != hf_op_written(h, s[1].op))
        return hf_refuse_steps(c, "the read does not return that write");
    return (hf_facts_origin(h, &c->v->facts, &read, &writer) == HF_FROM_TXN &&
            writer == s[0].t) ||
           hf_refuse_steps(c, "the value may come from elsewhere");
}

/* ---- incompatible order -------------------------------------------------- */

/* Is the element in every world one that the list keeps?  From read-committed
 * up (`strict`), one of a transaction that did not happen is an error of its
 * own. */
static bool is_kept(const hf_certain *c, hf_value_id element, bool strict)
{
    hf_txn_id writer = c->v->facts.writer[element];
    unsigned kept = 1u << HF_COMMITTED;
    const uint8_t *outcomes;

    if (strict)
        kept |= 1u << HF_UNKNOWN_OUTCOME;
    if (writer == HF_NONE)
        return false;
    if (writer != HF_SEVERAL)
        return kept >> c->v->h->txn_outcome[writer] & 1;
    outcomes = hf_writer_outcomes(c->v);
    return outcomes && !(outcomes[element] & ~kept);
}

/* The kept elements of a list, in order; returns their number. */
static uint32_t kept_elements(const hf_certain *c, const hf_item_read *read,
                              bool strict, hf_value_id **ret)
{
    const hf_history *h = c->v->h;
    uint32_t length = hf_list_items(h, read->value, NULL), n = 0;
    hf_value_id *items = hf_zeros(c->v, length, sizeof(*items));

    hf_list_items(h, read->value, items);
    for (uint32_t i = 0; i < length; i++)
        if (is_kept(c, items[i], strict))
            items[n++] = items[i];
    *ret = items;
    return n;
}

static bool check_incompatible(const hf_certain *c, const hf_cited *s,
                               uint32_t n)
{
    hf_item_read a, b;
    hf_value_id *left, *right;
    uint32_t n_left, n_right;
    bool strict =
        hf_reads_matter_to(c->v, s[0].t) && hf_reads_matter_to(c->v, s[1].t);

    (void)n;
    if (s[0].key == HF_NONE || !c->happened[s[0].t] || !c->happened[s[1].t] ||
        !hf_read_of_key(c->v, s[0].op, s[0].key, &a) ||
        !hf_read_of_key(c->v, s[1].op, s[0].key, &b) || !is_list(c, &a) ||
        !is_list(c, &b))
        return hf_refuse_steps(c, "expected two list reads of one key");
    n_left = kept_elements(c, &a, strict, &left);
    n_right = kept_elements(c, &b, strict, &right);
    for (uint32_t i = 0; i < n_left && i < n_right; i++)
        if (left[i] != right[i])
            return true;
    return hf_refuse_steps(c, "one list is a prefix of the other");
}

/* ---- lost update, predicates --------------------------------------------- */

static bool check_lost_update(const hf_certain *c, const hf_cited *s,
                              uint32_t n)
{
    hf_key_id key = s[1].key;
    hf_txn_id first, second;

    (void)n;
    if (s[0].t != s[1].t || s[2].t != s[3].t || s[0].t == s[2].t ||
        !is_write(c, &s[1]) || !is_write(c, &s[3]) || s[3].key != key ||
        !c->happened[s[0].t] || !c->happened[s[2].t])
        return hf_refuse_steps(
            c, "expected a read and a write of a key by each of two "
               "transactions");
    if (!hf_certain_source(c, s[0].t, s[0].op, key, &first) ||
        !hf_certain_source(c, s[2].t, s[2].op, key, &second))
        return hf_refuse_steps(c, "it is not certain which versions were read");
    return first == second ||
           hf_refuse_steps(c, "they do not read the same version");
}

/* The keys of which op returned a row; without a recorded result, of the
 * entries that satisfy its condition. */
static uint32_t keys_returned(const hf_certain *c, hf_op_id op, hf_key_id **ret)
{
    hf_verifier *v = c->v;
    hf_predicate p = hf_op_predicate(v->h, op);
    bool listed = p.has_result_set || !hf_has_snapshot(v, op);
    uint32_t most = p.n_versions + p.n_results, n = 0;
    const hf_key_id *keys = NULL;

    if (!listed)
        most = hf_snapshot_keys(v->entries->snapshots, p.table, &keys);
    *ret = hf_zeros(v, most, sizeof(**ret));
    for (uint32_t i = 0; i < most; i++)
        if ((listed ? hf_look_at(v, op, i) : hf_look_at_key(v, op, keys[i])) ==
            HF_LOOK_ITEM)
            (*ret)[n++] = listed ? hf_item_read_at(v->h, op, i).key : keys[i];
    return n;
}

/* A row returned by a that b looked at and did not return? */
static bool returns_more(const hf_certain *c, hf_op_id a, hf_op_id b)
{
    hf_key_id *keys;
    uint32_t n = keys_returned(c, a, &keys);

    for (uint32_t i = 0; i < n; i++)
        if (hf_look_at_key(c->v, b, keys[i]) == HF_LOOK_VIEW ||
            hf_is_unlisted(c->v, hf_op_txn(c->v->h, b), b, keys[i]))
            return true;
    return false;
}

static bool is_set_read(const hf_history *h, const hf_cited *s)
{
    return s->kind >= HF_OP_PREDICATE_READ &&
           s->kind <= HF_OP_PREDICATE_DELETE && hf_op_counts(h, s->op);
}

static bool check_phantom(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    const hf_history *h = c->v->h;
    hf_predicate a, b;

    (void)n;
    if (s[0].t != s[1].t || s[0].op >= s[1].op || !c->happened[s[0].t] ||
        !is_set_read(h, &s[0]) || !is_set_read(h, &s[1]))
        return hf_refuse_steps(
            c, "expected two predicate operations of one transaction");
    a = hf_op_predicate(h, s[0].op);
    b = hf_op_predicate(h, s[1].op);
    if (a.table != b.table || a.condition != b.condition)
        return hf_refuse_steps(c, "they have different conditions");
    for (hf_op_id op = h->op_first[s[0].t]; op < s[1].op; op++)
        if (hf_op_writes(h, op))
            return hf_refuse_steps(c,
                                   "the transaction wrote before the second");
    return returns_more(c, s[0].op, s[1].op) ||
           returns_more(c, s[1].op, s[0].op) ||
           hf_refuse_steps(c,
                           "neither leaves out a row that the other returns");
}

/* What is wrong with the sets of one predicate operation. */
static bool check_sets(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    hf_set_fault fault;

    (void)n;
    if (!c->happened[s->t] || !hf_op_has_predicate(s->kind))
        return hf_refuse_steps(
            c, "expected a predicate operation by one that certainly "
               "committed");
    fault = hf_predicate_judge(c->v, s->op);
    if (fault == HF_SET_UNKNOWN)
        return hf_give_up(c->v, HF_ERR_UNSUPPORTED,
                          "the condition cannot be evaluated");
    return fault == (c->v->w->anomaly == HF_TWO_VERSIONS ? HF_SET_TWO_VERSIONS
                                                         : HF_SET_MISMATCH) ||
           hf_refuse_steps(c, "nothing like that is wrong with its sets");
}

static bool check_arithmetic(const hf_certain *c, const hf_cited *s, uint32_t n)
{
    (void)n;
    if (!c->happened[s->t] || s->kind != HF_OP_INCREMENT)
        return hf_refuse_steps(
            c, "expected an increment by one that certainly committed");
    return !hf_increment_adds_up(c->v->h, s->op) ||
           hf_refuse_steps(c, "it adds up");
}

static const rule rules[] = {
    {HF_GARBAGE_READ, 1, 1, check_garbage, everywhere},
    {HF_INTERNAL, 2, 2, check_internal, everywhere},
    {HF_NON_REPEATABLE_READ, 2, 2, check_non_repeatable, where_reads_repeat},
    {HF_DUPLICATE_WRITE, 1, 2, check_duplicate, everywhere},
    {HF_G1A, 2, 2, check_g1a, from_read_committed},
    {HF_G1B, 3, 3, check_g1b, from_read_committed},
    {HF_DIRTY_UPDATE, 3, 3, check_dirty_update, from_read_committed},
    {HF_FUTURE_READ, 2, 2, check_future, from_read_committed},
    {HF_INCOMPATIBLE_ORDER, 2, 2, check_incompatible, everywhere},
    {HF_CYCLIC_VERSIONS, 2, UINT32_MAX, hf_check_cyclic_versions, everywhere},
    {HF_LOST_UPDATE, 4, 4, check_lost_update, where_updates_stay},
    {HF_PHANTOM, 2, 2, check_phantom, where_sets_repeat},
    {HF_TWO_VERSIONS, 1, 1, check_sets, everywhere},
    {HF_RESULT_SET_MISMATCH, 1, 1, check_sets, everywhere},
    {HF_SEMANTIC_ERROR, 1, 1, check_arithmetic, everywhere},
    {HF_OUTSIDE_SNAPSHOT, 2, 2, hf_check_outside_snapshot, with_snapshots},
    {HF_CONCURRENT_WRITE, 2, 2, hf_check_concurrent_write, with_snapshots},
};

static const rule *find_rule(hf_anomaly anomaly)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].anomaly == anomaly)
            return &rules[i];
    return NULL;
}

/* By the level of the transaction that reads, which is that of the last
 * operation, but the first of a read outside its snapshot; of a lost update
 * there are two. */
static bool is_forbidden(hf_verifier *v, const rule *r, const hf_op_id *ops,
                         uint32_t n)
{
    uint32_t at = r->anomaly == HF_OUTSIDE_SNAPSHOT ? 0 : n - 1;
    const hf_level_info *info = hf_level_of(v, hf_op_txn(v->h, ops[at]));

    if (r->anomaly == HF_LOST_UPDATE && r->forbidden(info))
        info = hf_level_of(v, hf_op_txn(v->h, ops[0]));
    return r->forbidden(info) || hf_refuse(v, "%s allows %s", info->name,
                                           hf_anomaly_get(r->anomaly)->name);
}

bool hf_operations_show(const hf_certain *c, hf_anomaly anomaly,
                        const hf_op_id *ops, uint32_t n)
{
    const hf_history *h = c->v->h;
    const rule *r = find_rule(anomaly);
    hf_cited steps[4];

    if (!r || n < r->least || n > r->most || n > 4 ||
        !is_forbidden(c->v, r, ops, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!hf_op_counts(h, ops[i]))
            return false;
        steps[i] = (hf_cited){ops[i], hf_op_txn(h, ops[i]), h->op_key[ops[i]],
                              hf_op_kind_of(h, ops[i])};
    }
    return r->check(c, steps, n);
}

bool hf_verify_operations(hf_verifier *v)
{
    const rule *r = find_rule(v->w->anomaly);
    const char *name = hf_anomaly_get(v->w->anomaly)->name;
    const hf_certain *c;
    hf_cited *steps;

    if (v->w->anomaly == HF_EXPECTED_STATE)
        return hf_verify_expected(v);
    if (!r)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "\"%s\" is not decided by a few operations", name);
    if (v->w->n_ops < r->least || v->w->n_ops > r->most)
        return hf_refuse(v, "%u operations do not make %s",
                         (unsigned)v->w->n_ops, name);
    if (!is_forbidden(v, r, v->w->ops, v->w->n_ops))
        return false;
    if (r->forbidden == with_snapshots && !(v->w->rests & HF_REST_TIMESTAMPS))
        return hf_refuse(v, "%s rests on %s, and the witness does not say so",
                         name, hf_rest_name(HF_REST_TIMESTAMPS));
    steps = hf_zeros(v, v->w->n_ops, sizeof(*steps));
    for (uint32_t i = 0; i < v->w->n_ops; i++) {
        hf_op_id op = v->w->ops[i];

        steps[i] = (hf_cited){op, hf_op_txn(v->h, op), v->h->op_key[op],
                              hf_op_kind_of(v->h, op)};
        if (!hf_op_counts(v->h, op))
            return hf_refuse(v, "operation %u failed and had no effect",
                             (unsigned)op);
    }
    c = hf_certain_get(v);
    return c && r->check(c, steps, v->w->n_ops);
}

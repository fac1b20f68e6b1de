/* predicate.c: see predicate.h.
 *
 * To find the entry of a key in a set, the sets of one operation at a time
 * are spread over two arrays indexed by key.  O(entries) for an operation.
 */
#include "verify/predicate.h"

#include <string.h>

#include "history/extra.h"

/* The sets of one operation; in facts.sets. */
struct hf_sets {
    hf_op_id op; /* whose sets are spread out */
    hf_predicate p;
    const hf_condition *condition;
    const hf_condition **compiled; /* per string id */
    bool aggregate, two_versions;
    bool is_snapshot; /* entries are asked for, not spread */
    bool unknown;     /* the condition, for a version of the set */
    /* per key: the operation that has an entry, and its index */
    hf_op_id *version_op, *row_op;
    uint32_t *version_at, *row_at;
};

static struct hf_sets *sets_of(hf_verifier *v)
{
    uint32_t n_keys = v->h->n_keys;
    struct hf_sets *s = v->facts.sets;

    if (s)
        return s;
    s = v->facts.sets = hf_kept_zeros(v, 1, sizeof(*s));
    s->op = HF_NONE;
    s->compiled = hf_kept_zeros(v, v->h->n_strings, sizeof(*s->compiled));
    s->version_op = hf_kept_nones(v, n_keys, sizeof(*s->version_op));
    s->version_at = hf_kept_nones(v, n_keys, sizeof(*s->version_at));
    s->row_op = hf_kept_nones(v, n_keys, sizeof(*s->row_op));
    s->row_at = hf_kept_nones(v, n_keys, sizeof(*s->row_at));
    return s;
}

const hf_condition *hf_predicate_condition(hf_verifier *v, hf_op_id op)
{
    struct hf_sets *s = sets_of(v);
    hf_string_id text = hf_op_predicate(v->h, op).condition;

    if (text == HF_NONE) /* compiled[] has one entry more than strings */
        text = v->h->n_strings;
    if (!s->compiled[text])
        s->compiled[text] = hf_match_compile(v, text == v->h->n_strings
                                                    ? HF_STR("true")
                                                    : hf_string(v->h, text));
    return s->compiled[text];
}

static bool is_same(const hf_version_ref *a, const hf_version_ref *b)
{
    return a->value == b->value &&
           (a->writer == b->writer || a->writer == HF_NONE ||
            b->writer == HF_NONE);
}

/* Spreads one set; false if it has two versions of a key. */
static bool spread(const hf_history *h, hf_op_id op, const hf_version_ref *set,
                   uint32_t n, hf_op_id *stamp, uint32_t *at)
{
    bool fine = true;

    for (uint32_t i = 0; i < n; i++) {
        hf_key_id key = h->value_key[set[i].value];

        if (stamp[key] == op) {
            fine &= is_same(&set[at[key]], &set[i]);
            continue;
        }
        stamp[key] = op;
        at[key] = i;
    }
    return fine;
}

static struct hf_sets *open_sets(hf_verifier *v, hf_op_id op)
{
    struct hf_sets *s = sets_of(v);
    hf_op_kind kind = hf_op_kind_of(v->h, op);

    if (s->op == op)
        return s;
    s->op = op;
    s->p = hf_op_predicate(v->h, op);
    s->condition = hf_predicate_condition(v, op);
    s->is_snapshot = v->entries && s->p.snapshot != HF_SNAPSHOT_NONE;
    s->aggregate = hf_op_is_aggregate(kind);
    s->two_versions = !spread(v->h, op, s->p.versions, s->p.n_versions,
                              s->version_op, s->version_at);
    if (!spread(v->h, op, s->p.results, s->p.n_results, s->row_op, s->row_at))
        s->two_versions |= !s->aggregate;
    s->unknown = false;
    for (uint32_t i = 0; i < s->p.n_versions; i++)
        s->unknown |=
            hf_predicate_match(v, s->condition, s->p.versions[i].value) ==
            HF_MATCH_UNKNOWN;
    return s;
}

/* Every row satisfies the condition and is the version looked at; every
 * version that satisfies it is there.  One exception proves a mismatch, even
 * if there is no version set or the rest cannot be evaluated. */
static hf_set_fault judge_rows(hf_verifier *v, const struct hf_sets *s)
{
    const hf_history *h = v->h;
    bool unknown = s->unknown;

    for (uint32_t i = 0; i < s->p.n_results; i++) {
        const hf_version_ref *row = &s->p.results[i];
        hf_key_id key = h->value_key[row->value];
        hf_match m = hf_predicate_match(v, s->condition, row->value);

        if (m == HF_MATCH_NO ||
            (s->version_op[key] == s->op &&
             !is_same(&s->p.versions[s->version_at[key]], row)))
            return HF_SET_MISMATCH;
        unknown |= m == HF_MATCH_UNKNOWN;
    }
    for (uint32_t i = 0; i < s->p.n_versions; i++) {
        hf_value_id value = s->p.versions[i].value;

        if (hf_predicate_match(v, s->condition, value) == HF_MATCH_YES &&
            s->row_op[h->value_key[value]] != s->op)
            return HF_SET_MISMATCH;
    }
    return unknown ? HF_SET_UNKNOWN : HF_SET_FINE;
}

/* ---- snapshots and aggregates -------------------------------------------- */

static int compare_texts(hf_str a, hf_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static void add_text(hf_tally *t, hf_str x)
{
    if (t->n_texts == 0 || compare_texts(x, t->first) < 0)
        t->first = x;
    if (t->n_texts == 0 || compare_texts(x, t->last) > 0)
        t->last = x;
    t->n_texts++;
}

static void add_number(hf_tally *t, hf_scalar x)
{
    hf_wide units;

    if (x.type == HF_NIL)
        return;
    if (x.type == HF_TEXT)
        add_text(t, (hf_str){x.text, x.length});
    t->decimal |= x.type != HF_INT;
    if (!hf_decimal_of(x, &units)) {
        t->n++;
        t->mixed = true;
        return;
    }
    t->sum += t->overflow ? 0 : units;
    t->overflow |= t->sum > INT64_MAX * HF_DECIMAL_ONE ||
                   t->sum < INT64_MIN * HF_DECIMAL_ONE;
    t->least = t->n == 0 || units < t->least ? units : t->least;
    t->most = t->n == 0 || units > t->most ? units : t->most;
    t->n++;
}

static void add_match(hf_verifier *v, const struct hf_sets *s,
                      hf_value_id value, hf_tally *t)
{
    hf_str column =
        s->p.n_columns > 0 ? hf_string(v->h, s->p.columns[0]) : HF_STR("value");
    hf_scalar x;

    t->all++;
    if (hf_condition_column(hf_value_scalar(v->h, value), column, &x))
        add_number(t, x);
    else
        t->incomplete = true;
}

void hf_tally_begin(hf_verifier *v, hf_op_id op, hf_tally *ret)
{
    (void)open_sets(v, op);
    *ret = (hf_tally){0};
}

void hf_tally_add(hf_verifier *v, const hf_item_read *entry, hf_tally *t)
{
    const struct hf_sets *s = v->facts.sets;
    hf_match m = hf_predicate_match(v, s->condition, entry->value);
    hf_version_ref looked = {entry->value, entry->writer};

    if (m == HF_MATCH_NO)
        return;
    t->unknown |= m == HF_MATCH_UNKNOWN;
    if (s->aggregate) {
        if (m == HF_MATCH_YES)
            add_match(v, s, entry->value, t);
        return;
    }
    if (s->row_op[entry->key] != s->op)
        t->mismatch |= m == HF_MATCH_YES;
    else if (is_same(&looked, &s->p.results[s->row_at[entry->key]]))
        t->n_returned++;
    else
        t->mismatch = true;
}

/* Every row satisfies the condition, and those of the table are entries that
 * do, too. */
static void tally_rows(hf_verifier *v, hf_tally *t)
{
    const struct hf_sets *s = v->facts.sets;
    uint32_t expected = 0;

    for (uint32_t i = 0; i < s->p.n_results; i++) {
        hf_value_id value = s->p.results[i].value;
        hf_key_id key = v->h->value_key[value];
        hf_match m;

        if (s->row_at[key] != i)
            continue;
        m = hf_predicate_match(v, s->condition, value);
        t->mismatch |= m == HF_MATCH_NO;
        t->unknown |= m == HF_MATCH_UNKNOWN;
        expected += !t->gap && hf_table_of(v->h, key) == s->p.table;
    }
    t->mismatch |= t->n_returned != expected;
}

/* A count of all rows needs no column, one of a column no numbers. */
static bool is_computable(const struct hf_sets *s, hf_op_kind kind,
                          const hf_tally *t)
{
    if (t->unknown)
        return false;
    if (kind == HF_OP_COUNT_ROWS)
        return s->p.n_columns == 0 || !t->incomplete;
    if (t->incomplete || t->mixed)
        return false;
    return (kind != HF_OP_SUM && kind != HF_OP_AVG) || !t->overflow;
}

static hf_set_fault fault_if(bool wrong)
{
    return wrong ? HF_SET_MISMATCH : HF_SET_FINE;
}

static hf_set_fault fault_of(hf_ratio_fit fit)
{
    return fit == HF_RATIO_PERHAPS ? HF_SET_UNKNOWN
                                   : fault_if(fit == HF_RATIO_NO);
}

static hf_wide largest(const hf_tally *t)
{
    return -t->least > t->most ? -t->least : t->most;
}

static hf_set_fault judge_average(hf_scalar given, const hf_tally *t)
{
    uint64_t n = (uint64_t)t->n;

    return fault_of(t->decimal
                        ? hf_average_fits(t->sum, largest(t), n, given)
                        : hf_ratio_fits(t->sum, n, HF_DECIMAL_SCALE, given));
}

/* The least or greatest of texts: by bytes, if the dialect is known. */
static hf_set_fault judge_text(const hf_verifier *v, hf_op_kind kind,
                               hf_scalar given, const hf_tally *t)
{
    hf_str expected = kind == HF_OP_MIN ? t->first : t->last;

    if (v->dialect == HF_SQL_ANY || t->n_texts != t->n || t->unknown ||
        t->incomplete || (given.type != HF_TEXT && given.type != HF_NIL))
        return HF_SET_UNKNOWN;
    return fault_if(given.type == HF_NIL ||
                    !hf_str_eq((hf_str){given.text, given.length}, expected));
}

static hf_set_fault judge_total(hf_verifier *v, const struct hf_sets *s,
                                const hf_tally *t)
{
    hf_op_kind kind = hf_op_kind_of(v->h, s->op);
    hf_scalar given = s->p.result;
    bool nil = given.type == HF_NIL;
    hf_wide number = 0, expected = kind == HF_OP_MIN ? t->least : t->most;

    if ((kind == HF_OP_MIN || kind == HF_OP_MAX) && t->n_texts > 0)
        return judge_text(v, kind, given, t);
    if (!is_computable(s, kind, t) ||
        (!nil && !hf_decimal_of(given, &number) && kind != HF_OP_AVG))
        return HF_SET_UNKNOWN;
    if (kind == HF_OP_COUNT_ROWS)
        expected = (s->p.n_columns > 0 ? t->n : t->all) * HF_DECIMAL_ONE;
    else if (t->n == 0) /* nil; a sum may be 0 */
        return fault_if(!nil && (kind != HF_OP_SUM || number != 0));
    if (kind == HF_OP_AVG)
        return judge_average(given, t);
    if (kind == HF_OP_SUM && t->decimal)
        return fault_of(hf_sum_fits(t->sum, largest(t), (uint64_t)t->n, given));
    if (kind == HF_OP_SUM)
        expected = t->sum;
    return fault_if(nil || number != expected);
}

static hf_set_fault judge_aggregate(hf_verifier *v, const struct hf_sets *s)
{
    hf_tally t;

    hf_tally_begin(v, s->op, &t);
    t.unknown = s->unknown;
    for (uint32_t i = 0; i < s->p.n_versions; i++) {
        hf_value_id value = s->p.versions[i].value;

        if (s->version_at[v->h->value_key[value]] == i &&
            hf_predicate_match(v, s->condition, value) == HF_MATCH_YES)
            add_match(v, s, value, &t);
    }
    return judge_total(v, s, &t);
}

hf_set_fault hf_tally_end(hf_verifier *v, hf_tally *t)
{
    const struct hf_sets *s = v->facts.sets;

    if (s->two_versions)
        return HF_SET_TWO_VERSIONS;
    if (!s->p.has_result_set)
        return t->gap || t->unknown ? HF_SET_OPEN : HF_SET_FINE;
    if (s->aggregate)
        return t->gap ? HF_SET_OPEN : judge_total(v, s, t);
    tally_rows(v, t);
    if (t->mismatch)
        return HF_SET_MISMATCH;
    if (t->unknown)
        return HF_SET_UNKNOWN;
    return t->gap ? HF_SET_OPEN : HF_SET_FINE;
}

/* Every key of the table. */
static hf_set_fault judge_snapshot(hf_verifier *v, hf_op_id op)
{
    hf_txn_id txn = hf_op_txn(v->h, op);
    const hf_key_id *keys = NULL;
    uint32_t n;
    hf_tally t;

    hf_tally_begin(v, op, &t);
    t.gap = !hf_is_whole(v, txn, op);
    n = hf_snapshot_keys(v->entries->snapshots, v->facts.sets->p.table, &keys);
    for (uint32_t i = 0; i < n && !t.gap; i++) {
        hf_item_read entry;

        if (hf_entry_of(v, txn, op, keys[i], &entry))
            hf_tally_add(v, &entry, &t);
    }
    return hf_tally_end(v, &t);
}

/* ---- questions ----------------------------------------------------------- */

hf_set_fault hf_predicate_judge(hf_verifier *v, hf_op_id op)
{
    const struct hf_sets *s = open_sets(v, op);
    hf_set_fault fault = HF_SET_FINE;

    if (s->is_snapshot)
        return judge_snapshot(v, op);
    if (s->two_versions)
        return HF_SET_TWO_VERSIONS;
    if (s->p.has_result_set && !s->aggregate)
        fault = judge_rows(v, s);
    else if (s->p.has_result_set && s->p.has_version_set)
        fault = judge_aggregate(v, s);
    if (fault != HF_SET_FINE)
        return fault;
    return s->p.has_version_set && !s->unknown ? HF_SET_FINE : HF_SET_OPEN;
}

static hf_look_kind look_at_entry(hf_verifier *v, const struct hf_sets *s,
                                  const hf_item_read *entry)
{
    if (!s->aggregate && s->p.has_result_set)
        return s->row_op[entry->key] == s->op ? HF_LOOK_ITEM : HF_LOOK_VIEW;
    switch (hf_predicate_match(v, s->condition, entry->value)) {
    case HF_MATCH_YES:
        return HF_LOOK_ITEM;
    case HF_MATCH_NO:
        return HF_LOOK_VIEW;
    default:
        return HF_LOOK_SKIP;
    }
}

hf_look_kind hf_look_at(hf_verifier *v, hf_op_id op, uint32_t i)
{
    const struct hf_sets *s;
    hf_key_id key;

    if (!hf_op_has_predicate(hf_op_kind_of(v->h, op)))
        return HF_LOOK_ITEM;
    s = open_sets(v, op);
    if (i >= s->p.n_versions) {
        i -= s->p.n_versions;
        key = v->h->value_key[s->p.results[i].value];
        return s->aggregate || s->row_at[key] != i || s->version_op[key] == op
                   ? HF_LOOK_SKIP
                   : HF_LOOK_ITEM;
    }
    key = v->h->value_key[s->p.versions[i].value];
    if (s->version_at[key] != i)
        return HF_LOOK_SKIP;
    return look_at_entry(
        v, s, &(hf_item_read){.key = key, .value = s->p.versions[i].value});
}

hf_look_kind hf_look_at_key(hf_verifier *v, hf_op_id op, hf_key_id key)
{
    const struct hf_sets *s;
    hf_item_read entry;

    if (!hf_op_has_predicate(hf_op_kind_of(v->h, op)))
        return hf_item_reads(v->h, op) > 0 && v->h->op_key[op] == key
                   ? HF_LOOK_ITEM
                   : HF_LOOK_SKIP;
    if (!hf_op_counts(v->h, op))
        return HF_LOOK_SKIP;
    s = open_sets(v, op);
    if (s->version_op[key] == op)
        return hf_look_at(v, op, s->version_at[key]);
    if (s->is_snapshot && hf_entry_of(v, hf_op_txn(v->h, op), op, key, &entry))
        return look_at_entry(v, s, &entry);
    return !s->aggregate && s->row_op[key] == op ? HF_LOOK_ITEM : HF_LOOK_SKIP;
}

hf_item_read hf_read_at(hf_verifier *v, hf_op_id op, uint32_t i)
{
    hf_item_read read = hf_item_read_at(v->h, op, i), entry;

    return hf_has_snapshot(v, op) &&
                   hf_entry_of(v, hf_op_txn(v->h, op), op, read.key, &entry)
               ? entry
               : read;
}

bool hf_read_of_key(hf_verifier *v, hf_op_id op, hf_key_id key,
                    hf_item_read *ret)
{
    uint32_t n = hf_item_reads(v->h, op);

    if (hf_has_snapshot(v, op) && hf_op_counts(v->h, op) &&
        hf_entry_of(v, hf_op_txn(v->h, op), op, key, ret))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        *ret = hf_item_read_at(v->h, op, i);
        if (ret->key == key)
            return true;
    }
    return false;
}

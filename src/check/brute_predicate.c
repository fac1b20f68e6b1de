/* brute_predicate.c: predicate operations and aggregates of a case.
 *
 * A predicate operation looks at one version of each key of its version set
 * and returns those that satisfy its condition.  Each entry becomes a read of
 * the case.  Those returned count as reads of the item; all carry, as a set,
 * which versions of their key satisfy the condition, from which a world
 * derives the predicate edges (brute_edges.c).
 *
 * Two things can be wrong whatever the world: one key with two versions (N12)
 * and a result that the condition does not give on the version set (N11).
 *
 * Without a version set, or with a condition that cannot be evaluated, only
 * the returned rows are judged and the history can no longer be found valid.
 * Leaving constraints out never makes a valid history invalid.
 */
#include "check/brute.h"

#include <string.h>

#include "base/error.h"

typedef struct context {
    hf_brute_case *c;
    const hf_brute_own *own;
    uint8_t node;
    hf_op_id op;
    hf_predicate p;
    hf_str condition;
    bool aggregate;
} context;

static hf_key_id key_of(const context *x, const hf_version_ref *ref)
{
    return x->c->h->value_key[ref->value];
}

static hf_brute_match match(const context *x, hf_value_id value)
{
    const hf_history *h = x->c->h;

    if (h->value_type[value] == HF_LIST)
        return HF_BRUTE_MATCH_ERROR;
    return hf_brute_condition(x->condition, hf_value_scalar(h, value));
}

/* The entry of a set for this key, or NULL. */
static const hf_version_ref *entry_for(const context *x,
                                       const hf_version_ref *set, uint32_t n,
                                       hf_key_id key)
{
    for (uint32_t i = 0; i < n; i++)
        if (key_of(x, &set[i]) == key)
            return &set[i];
    return NULL;
}

static bool same_version(const hf_version_ref *a, const hf_version_ref *b)
{
    return a->value == b->value &&
           (a->writer == b->writer || a->writer == HF_NONE ||
            b->writer == HF_NONE);
}

/* Two different versions of one key in one set. */
static bool has_two_versions(const context *x, const hf_version_ref *set,
                             uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const hf_version_ref *first = entry_for(x, set, n, key_of(x, &set[i]));

        HF_ASSERT(first);
        if (!same_version(first, &set[i]))
            return true;
    }
    return false;
}

static void fault(const context *x, hf_anomaly anomaly)
{
    hf_brute_fault_add(x->c, anomaly, x->node, 1, &x->op);
}

/* ---- results ------------------------------------------------------------ */

/* Is the set of rows returned what the condition gives?  Every row must
 * satisfy it and be the version that was looked at; every version that
 * satisfies it must be there. */
static bool rows_agree(const context *x)
{
    const hf_predicate *p = &x->p;

    for (uint32_t i = 0; i < p->n_results; i++) {
        const hf_version_ref *seen =
            entry_for(x, p->versions, p->n_versions, key_of(x, &p->results[i]));

        if (match(x, p->results[i].value) == HF_BRUTE_MATCH_NO ||
            (seen && !same_version(seen, &p->results[i])))
            return false;
    }
    for (uint32_t i = 0; i < p->n_versions; i++)
        if (match(x, p->versions[i].value) == HF_BRUTE_MATCH_YES &&
            !entry_for(x, p->results, p->n_results, key_of(x, &p->versions[i])))
            return false;
    return true;
}

typedef struct total {
    int64_t rows, sum, min, max;
    bool unclear; /* not all integers, or an overflow */
} total;

static total add_up(const context *x)
{
    const hf_history *h = x->c->h;
    hf_str column = HF_STR("value");
    total t = {0};

    if (x->p.n_columns > 0)
        column = hf_string(h, x->p.columns[0]);
    for (uint32_t i = 0; i < x->p.n_versions; i++) {
        hf_value_id value = x->p.versions[i].value;
        hf_scalar v;

        if (match(x, value) != HF_BRUTE_MATCH_YES)
            continue;
        if (!hf_brute_column(hf_value_scalar(h, value), column, &v)) {
            t.unclear = true;
            return t;
        }
        if (v.type == HF_NIL)
            continue;
        t.min = t.rows == 0 || v.number < t.min ? v.number : t.min;
        t.max = t.rows == 0 || v.number > t.max ? v.number : t.max;
        t.rows++;
        if (v.type != HF_INT || __builtin_add_overflow(t.sum, v.number, &t.sum))
            t.unclear = true;
    }
    return t;
}

static bool aggregate_agrees(const context *x)
{
    total t = add_up(x);
    hf_scalar result = x->p.result;
    int64_t expected;

    switch (hf_op_kind_of(x->c->h, x->op)) {
    case HF_OP_COUNT_ROWS:
        /* count(*) has no column that could be unclear */
        return (t.unclear && x->p.n_columns > 0) || result.type != HF_INT ||
               result.number == t.rows;
    case HF_OP_SUM:
        expected = t.sum;
        break;
    case HF_OP_MIN:
        expected = t.min;
        break;
    default:
        expected = t.max;
    }
    if (t.unclear || (result.type != HF_INT && result.type != HF_NIL))
        return true;
    if (t.rows == 0) /* nil; a sum may be given as 0 */
        return result.type == HF_NIL || result.number == 0;
    return result.type == HF_INT && result.number == expected;
}

/* ---- entries ------------------------------------------------------------ */

/* Which versions of the key satisfy the condition: bit i for node i's last
 * write, bit 8 for the initial version.  False if one cannot be judged. */
static bool matching_versions(const context *x, hf_key_id key,
                              uint16_t *ret_matches)
{
    const hf_brute_case *c = x->c;
    const hf_history *h = c->h;
    hf_value_id initial = h->key_initial ? h->key_initial[key] : HF_NONE;
    uint16_t matches = 0;

    for (unsigned i = 0; i <= HF_BRUTE_INITIAL; i++) {
        hf_value_id value = initial;
        hf_brute_match m = HF_BRUTE_MATCH_NO;

        if (i < HF_BRUTE_INITIAL) {
            if (!((c->keys[key].writers >> i) & 1u))
                continue;
            value = c->writes.at[c->keys[key].last[i]].value;
            if (value == HF_NONE)
                return false;
        }
        if (value != HF_NONE)
            m = match(x, value);
        if (m == HF_BRUTE_MATCH_ERROR)
            return false;
        matches |= (uint16_t)((m == HF_BRUTE_MATCH_YES) << i);
    }
    *ret_matches = matches;
    return true;
}

/* Can everything the operation looked at, or could have, be judged? */
static bool is_decidable(const context *x)
{
    uint16_t matches;

    for (uint32_t i = 0; i < x->p.n_versions; i++)
        if (match(x, x->p.versions[i].value) == HF_BRUTE_MATCH_ERROR ||
            !matching_versions(x, key_of(x, &x->p.versions[i]), &matches))
            return false;
    for (uint32_t i = 0; i < x->p.n_results; i++)
        if (match(x, x->p.results[i].value) == HF_BRUTE_MATCH_ERROR)
            return false;
    return true;
}

/* Was this entry of the version set returned? */
static bool is_returned(const context *x, const hf_version_ref *entry)
{
    if (!x->aggregate && x->p.has_result_set)
        return entry_for(x, x->p.results, x->p.n_results, key_of(x, entry));
    return match(x, entry->value) == HF_BRUTE_MATCH_YES;
}

static hf_brute_read new_read(const context *x, const hf_version_ref *ref,
                              uint32_t index, bool item)
{
    return (hf_brute_read){.op = x->op,
                           .index = index,
                           .key = key_of(x, ref),
                           .value = ref->value,
                           .writer = ref->writer,
                           .node = x->node,
                           .item = item};
}

/* The entries of the version set.  Where a transaction that is not kept wrote
 * the key, what changes the matches is no longer known: only the item read
 * remains. */
static void add_entries(const context *x)
{
    for (uint32_t i = 0; i < x->p.n_versions; i++) {
        const hf_version_ref *ref = &x->p.versions[i];
        hf_brute_read r = new_read(x, ref, i, is_returned(x, ref));

        if (entry_for(x, x->p.versions, x->p.n_versions, r.key) != ref)
            continue; /* the same version twice */
        if (!x->c->keys[r.key].removed_writer)
            r.predicate = matching_versions(x, r.key, &r.matches);
        if (r.item || r.predicate)
            hf_brute_add_read(x->c, r, x->own);
    }
}

/* Rows that were returned, of keys that the version set does not name. */
static void add_rows(const context *x, bool versions_used)
{
    const hf_predicate *p = &x->p;

    for (uint32_t i = 0; !x->aggregate && i < p->n_results; i++) {
        hf_key_id key = key_of(x, &p->results[i]);

        if ((versions_used && entry_for(x, p->versions, p->n_versions, key)) ||
            entry_for(x, p->results, p->n_results, key) != &p->results[i])
            continue;
        hf_brute_add_read(
            x->c, new_read(x, &p->results[i], p->n_versions + i, true), x->own);
    }
}

static void explain_undecidable(const context *x, bool has_versions)
{
    char text[80];
    long long label = (long long)hf_txn_label(x->c->h, x->c->txn[x->node]);

    hf_quote(text, sizeof(text), x->condition.ptr, x->condition.len);
    if (has_versions)
        hf_brute_undecided(x->c, true,
                           "the condition \"%s\" of T%lld cannot be evaluated",
                           text, label);
    else
        hf_brute_undecided(x->c, true,
                           "the condition \"%s\" of T%lld has no version set",
                           text, label);
}

void hf_brute_add_predicate(hf_brute_case *c, uint8_t node, hf_op_id op,
                            const hf_brute_own *own)
{
    hf_op_kind kind = hf_op_kind_of(c->h, op);
    context x = {.c = c,
                 .own = own,
                 .node = node,
                 .op = op,
                 .p = hf_op_predicate(c->h, op),
                 .aggregate = kind >= HF_OP_MIN && kind <= HF_OP_COUNT_ROWS};
    bool decidable;

    x.condition = x.p.condition == HF_NONE ? HF_STR("true")
                                           : hf_string(c->h, x.p.condition);
    if (has_two_versions(&x, x.p.versions, x.p.n_versions) ||
        (!x.aggregate && has_two_versions(&x, x.p.results, x.p.n_results))) {
        fault(&x, HF_TWO_VERSIONS);
        return;
    }
    decidable = x.p.has_version_set && is_decidable(&x);
    if (!decidable) {
        explain_undecidable(&x, x.p.has_version_set);
        add_rows(&x, false);
        return;
    }
    if (x.p.has_result_set &&
        !(x.aggregate ? aggregate_agrees(&x) : rows_agree(&x)))
        fault(&x, HF_RESULT_SET_MISMATCH);
    add_entries(&x);
    add_rows(&x, true);
}

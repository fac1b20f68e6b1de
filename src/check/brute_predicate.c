/* brute_predicate.c: predicate operations and aggregates of a case.
 *
 * A predicate operation looks at one version of each key of its version set
 * and returns those that satisfy its condition.  Each entry becomes a read of
 * the case.  Those returned count as reads of the item; all carry, as a set,
 * which versions of their key satisfy the condition, from which a world
 * derives the predicate edges (brute_edges.c).
 *
 * Two things can be wrong whatever the world: rows with two versions of one
 * key (N12) and a result that the condition does not give (N11).  A returned
 * row that does not satisfy the condition is N11 even if no version set is
 * recorded.
 *
 * Our own small language (brute_condition.c) answers first; what it does not
 * know (decimals, LIKE, functions, CASE) is asked of sql/.
 *
 * If it cannot be evaluated whether the result is right (an odd condition, an
 * aggregate over anything but 64-bit integers) the history can no longer be
 * found valid at any level.  Where other versions cannot be evaluated, or an
 * aggregate has no version set, that is so only where reads matter.  Leaving
 * constraints out never makes a valid history invalid.
 */
#include "check/brute.h"

#include <string.h>

#include "base/error.h"
#include "base/ratio.h"
#include "sql/cache.h"

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

static hf_brute_match ask_sql(const context *x, hf_scalar row)
{
    const hf_sql_expr *e = hf_sql_condition(x->c->sql, x->condition, NULL);
    uint32_t n = e ? hf_sql_n_columns(e) : 0;
    hf_sql_value *columns;
    hf_sql_truth truth;

    if (!e)
        return HF_BRUTE_MATCH_ERROR;
    columns = hf_arena_get(&x->c->arena, hf_array_size(n, sizeof(*columns)));
    for (uint32_t i = 0; i < n; i++)
        if (!hf_sql_row_column(row, hf_sql_column_name(e, i), &x->c->arena,
                               &columns[i]))
            return HF_BRUTE_MATCH_ERROR;
    truth = hf_sql_test(e, columns, NULL);
    if (truth == HF_SQL_ERROR)
        return HF_BRUTE_MATCH_ERROR;
    return truth == HF_SQL_TRUE ? HF_BRUTE_MATCH_YES : HF_BRUTE_MATCH_NO;
}

/* What was appended is an element, not what a condition would look at. */
static hf_brute_match match(const context *x, hf_value_id value)
{
    const hf_history *h = x->c->h;
    hf_brute_match own;

    if (h->value_type[value] == HF_LIST || x->c->keys[h->value_key[value]].list)
        return HF_BRUTE_MATCH_ERROR;
    own = hf_brute_condition(x->condition, hf_value_scalar(h, value));
    return own == HF_BRUTE_MATCH_ERROR ? ask_sql(x, hf_value_scalar(h, value))
                                       : own;
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

/* Two different versions of one key among the rows.  In a version set they
 * would be bad input (history/promises.h). */
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

typedef enum agreement {
    AGREES,
    DIFFERS,
    UNCLEAR /* it depends on what cannot be evaluated */
} agreement;

/* Are the rows returned what the condition gives?  Every row must satisfy it
 * and be the version that was looked at; every version that satisfies it must
 * be there.  One that certainly breaks this is enough, whatever the rest. */
static agreement judge_rows(const context *x)
{
    const hf_predicate *p = &x->p;
    bool unclear = false;

    for (uint32_t i = 0; i < p->n_results; i++) {
        const hf_version_ref *seen =
            entry_for(x, p->versions, p->n_versions, key_of(x, &p->results[i]));
        hf_brute_match m = match(x, p->results[i].value);

        if (m == HF_BRUTE_MATCH_NO ||
            (seen && !same_version(seen, &p->results[i])))
            return DIFFERS;
        unclear |= m == HF_BRUTE_MATCH_ERROR;
    }
    for (uint32_t i = 0; i < p->n_versions; i++) {
        hf_brute_match m = match(x, p->versions[i].value);

        unclear |= m == HF_BRUTE_MATCH_ERROR;
        if (m == HF_BRUTE_MATCH_YES &&
            !entry_for(x, p->results, p->n_results, key_of(x, &p->versions[i])))
            return DIFFERS;
    }
    return unclear ? UNCLEAR : AGREES;
}

/* ---- aggregates --------------------------------------------------------- */

/* The versions that satisfy the condition, added up. */
typedef struct total {
    int64_t matches;       /* count(*) */
    int64_t rows;          /* those whose column is not nil */
    hf_wide sum, min, max; /* in units of HF_DECIMAL_ONE */
    int64_t texts;         /* of these rows */
    hf_str first, last;    /* the ends of the texts, by bytes */
    bool odd_condition, no_column, no_number, decimal, overflow;
} total;

static int compare_texts(hf_str a, hf_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static void add_text(total *t, hf_str x)
{
    if (t->texts == 0 || compare_texts(x, t->first) < 0)
        t->first = x;
    if (t->texts == 0 || compare_texts(x, t->last) > 0)
        t->last = x;
    t->texts++;
}

static void add_value(total *t, hf_scalar v)
{
    hf_wide x;

    if (v.type == HF_NIL)
        return;
    if (v.type == HF_TEXT)
        add_text(t, (hf_str){v.text, v.length});
    t->decimal |= v.type != HF_INT;
    t->no_number |= !hf_decimal_of(v, &x);
    if (!t->no_number) {
        t->min = t->rows == 0 || x < t->min ? x : t->min;
        t->max = t->rows == 0 || x > t->max ? x : t->max;
        t->sum += t->overflow ? 0 : x;
        t->overflow |= t->sum > INT64_MAX * HF_DECIMAL_ONE ||
                       t->sum < INT64_MIN * HF_DECIMAL_ONE;
    }
    t->rows++;
}

static hf_str aggregate_column(const context *x)
{
    return x->p.n_columns > 0 ? hf_string(x->c->h, x->p.columns[0])
                              : HF_STR("value");
}

static total add_up(const context *x)
{
    const hf_history *h = x->c->h;
    total t = {0};

    for (uint32_t i = 0; i < x->p.n_versions; i++) {
        const hf_version_ref *ref = &x->p.versions[i];
        hf_brute_match m = match(x, ref->value);
        hf_scalar v;

        if (entry_for(x, x->p.versions, x->p.n_versions, key_of(x, ref)) != ref)
            continue; /* the same version twice */
        t.odd_condition |= m == HF_BRUTE_MATCH_ERROR;
        if (m != HF_BRUTE_MATCH_YES)
            continue;
        t.matches++;
        if (hf_brute_column(hf_value_scalar(h, ref->value), aggregate_column(x),
                            &v))
            add_value(&t, v);
        else
            t.no_column = true;
    }
    return t;
}

/* Is it the least or greatest of texts and nothing else? */
static bool is_of_texts(const context *x, const total *t)
{
    hf_op_kind kind = hf_op_kind_of(x->c->h, x->op);

    return (kind == HF_OP_MIN || kind == HF_OP_MAX) && t->rows > 0 &&
           t->texts == t->rows;
}

/* Why an end of texts cannot be compared: a dialect orders them. */
static const char *why_no_end(const context *x)
{
    if (hf_sql_cache_dialect(x->c->sql) == HF_SQL_ANY)
        return "the order of texts is that of a database";
    if (x->p.result.type != HF_TEXT && x->p.result.type != HF_NIL)
        return "the recorded result is not a text";
    return NULL;
}

/* Why the result cannot be compared; NULL: it can.  count(*) needs no column,
 * count(column) no integers, and only a sum can overflow. */
static const char *why_unclear(const context *x, const total *t)
{
    hf_op_kind kind = hf_op_kind_of(x->c->h, x->op);
    bool count = kind == HF_OP_COUNT_ROWS;
    hf_wide result;

    if (t->odd_condition)
        return "the condition cannot be evaluated";
    if (t->no_column && !(count && x->p.n_columns == 0))
        return "a row does not have the column";
    if (is_of_texts(x, t))
        return why_no_end(x);
    if (t->no_number && !count)
        return "not all values are numbers";
    if (t->overflow && (kind == HF_OP_SUM || kind == HF_OP_AVG))
        return "the numbers overflow";
    if (x->p.result.type != HF_NIL && !hf_decimal_of(x->p.result, &result) &&
        kind != HF_OP_AVG)
        return "the recorded result is not a number";
    return NULL;
}

/* Databases that add up doubles round. */
#define ROUNDED "decimals may have been rounded"

static hf_wide largest(const total *t)
{
    return -t->min > t->max ? -t->min : t->max;
}

static agreement agreement_of(const total *t, hf_ratio_fit fit,
                              const char **ret_why)
{
    if (fit == HF_RATIO_YES)
        return AGREES;
    if (fit == HF_RATIO_NO)
        return DIFFERS;
    *ret_why = t->decimal ? ROUNDED : "the result may have been rounded";
    return UNCLEAR;
}

static agreement judge_average(const context *x, const total *t,
                               const char **ret_why)
{
    uint64_t n = (uint64_t)t->rows;

    if (t->decimal)
        return agreement_of(
            t, hf_average_fits(t->sum, largest(t), n, x->p.result), ret_why);
    return agreement_of(
        t, hf_ratio_fits(t->sum, n, HF_DECIMAL_SCALE, x->p.result), ret_why);
}

/* Is the recorded result what the version set gives?  ret_why is set if that
 * is unclear. */
static agreement judge_aggregate(const context *x, const char **ret_why)
{
    total t = add_up(x);
    hf_op_kind kind = hf_op_kind_of(x->c->h, x->op);
    hf_wide result = 0, expected = kind == HF_OP_MIN ? t.min : t.max;
    bool nil = x->p.result.type == HF_NIL;

    *ret_why = why_unclear(x, &t);
    if (*ret_why)
        return UNCLEAR;
    if (is_of_texts(x, &t)) {
        hf_str end = kind == HF_OP_MIN ? t.first : t.last;

        return !nil && hf_str_eq((hf_str){x->p.result.text, x->p.result.length},
                                 end)
                   ? AGREES
                   : DIFFERS;
    }
    (void)hf_decimal_of(x->p.result, &result);
    if (kind == HF_OP_COUNT_ROWS)
        expected = (x->p.n_columns > 0 ? t.rows : t.matches) * HF_DECIMAL_ONE;
    else if (t.rows == 0) /* nil; a sum may be given as 0 */
        return nil || (kind == HF_OP_SUM && result == 0) ? AGREES : DIFFERS;
    if (kind == HF_OP_SUM)
        expected = t.sum;
    if (kind == HF_OP_AVG)
        return judge_average(x, &t, ret_why);
    if (kind == HF_OP_SUM && t.decimal)
        return agreement_of(
            &t, hf_sum_fits(t.sum, largest(&t), (uint64_t)t.rows, x->p.result),
            ret_why);
    return !nil && result == expected ? AGREES : DIFFERS;
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

/* Can every version that the operation looked at, or could have, be judged? */
static bool is_decidable(const context *x)
{
    uint16_t matches;

    for (uint32_t i = 0; i < x->p.n_versions; i++)
        if (match(x, x->p.versions[i].value) == HF_BRUTE_MATCH_ERROR ||
            !matching_versions(x, key_of(x, &x->p.versions[i]), &matches))
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
 * remains.  Where a version of the key cannot be judged, it is known at least
 * which version was looked at. */
static long long label_of(const context *x)
{
    return (long long)hf_txn_label(x->c->h, x->c->txn[x->node]);
}

/* Conditions say nothing about lists. */
static bool is_list(const context *x, const hf_version_ref *ref)
{
    if (!x->c->keys[key_of(x, ref)].list &&
        x->c->h->value_type[ref->value] != HF_LIST)
        return false;
    hf_brute_undecided(x->c, false, "T%lld has a condition over a list",
                       label_of(x));
    return true;
}

static void add_entries(const context *x)
{
    for (uint32_t i = 0; i < x->p.n_versions; i++) {
        const hf_version_ref *ref = &x->p.versions[i];
        hf_brute_read r = new_read(x, ref, i, is_returned(x, ref));
        bool removed = x->c->keys[r.key].removed_writer;

        if (entry_for(x, x->p.versions, x->p.n_versions, r.key) != ref ||
            is_list(x, ref))
            continue; /* the same version twice */
        if (!removed)
            r.predicate = matching_versions(x, r.key, &r.matches);
        if (r.item || !removed)
            hf_brute_add_read(x->c, r, x->own);
    }
}

/* Rows that were returned, of keys that the version set does not name. */
static void add_rows(const context *x)
{
    const hf_predicate *p = &x->p;

    for (uint32_t i = 0; !x->aggregate && i < p->n_results; i++) {
        hf_key_id key = key_of(x, &p->results[i]);

        if (entry_for(x, p->versions, p->n_versions, key) ||
            entry_for(x, p->results, p->n_results, key) != &p->results[i] ||
            is_list(x, &p->results[i]))
            continue;
        hf_brute_add_read(
            x->c, new_read(x, &p->results[i], p->n_versions + i, true), x->own);
    }
}

/* ---- version sets that were not recorded --------------------------------- */

/* Only rows tell what such an operation saw: of each other key of its table
 * some version that does not satisfy the condition, and which one is part of
 * the world.  An aggregate might have seen anything, which is not tried. */
static bool has_rows_only(const context *x)
{
    return !x->p.has_version_set && !(x->aggregate && x->p.has_result_set);
}

/* False: it cannot be said which versions satisfy the condition. */
static bool add_unlisted(const context *x, hf_key_id key)
{
    hf_brute_case *c = x->c;
    hf_brute_read r = {.op = x->op,
                       .key = key,
                       .value = HF_NONE,
                       .writer = HF_NONE,
                       .node = x->node,
                       .n_candidates = 2,
                       .only_write = HF_NONE,
                       .predicate = true,
                       .unlisted = true};
    uint32_t mine = x->own->write[key];
    hf_value_id own;

    if (c->keys[key].removed_writer)
        return true;
    if (c->keys[key].list || !matching_versions(x, key, &r.matches))
        return false;
    if (mine == HF_NONE) {
        r.sources = (uint16_t)((c->keys[key].writers & ~(1u << x->node)) |
                               1u << HF_BRUTE_INITIAL);
        r.sources &= (uint16_t)~r.matches;
        hf_brute_push_read(c, r, x->own);
        return true;
    }
    own = c->writes.at[mine].value;
    if (own == HF_NONE || match(x, own) == HF_BRUTE_MATCH_ERROR)
        return false;
    r.previous = HF_NONE;
    if (match(x, own) == HF_BRUTE_MATCH_YES)
        hf_vec_push(&c->reads, r); /* it missed that: of no version at all */
    return true;
}

/* False: see above. */
static bool add_all_unlisted(const context *x)
{
    const hf_history *h = x->c->h;
    bool fine = true;

    for (hf_key_id key = 0; x->p.has_result_set && key < h->n_keys; key++)
        if ((h->key_table ? h->key_table[key] : HF_NONE) == x->p.table &&
            !entry_for(x, x->p.results, x->p.n_results, key))
            fine &= add_unlisted(x, key);
    return fine;
}

/* ---- reasons ------------------------------------------------------------ */

/* With reads_only it matters above read-uncommitted. */
static void explain_condition(const context *x, bool reads_only,
                              bool has_versions)
{
    char text[80];

    hf_quote(text, sizeof(text), x->condition.ptr, x->condition.len);
    if (has_versions)
        hf_brute_undecided(x->c, reads_only,
                           "the condition \"%s\" of T%lld cannot be evaluated",
                           text, label_of(x));
    else
        hf_brute_undecided(x->c, reads_only,
                           "the condition \"%s\" of T%lld has no version set",
                           text, label_of(x));
}

static void explain_aggregate(const context *x, const char *why)
{
    hf_op_kind kind = hf_op_kind_of(x->c->h, x->op);
    hf_str column = aggregate_column(x);
    char text[48], condition[64];

    hf_quote(text, sizeof(text), column.ptr, column.len);
    hf_quote(condition, sizeof(condition), x->condition.ptr, x->condition.len);
    hf_brute_undecided(x->c, false,
                       "the %s of \"%s\" where \"%s\" of T%lld cannot be "
                       "computed: %s",
                       hf_op_kind_name(kind), text, condition, label_of(x),
                       why);
}

/* An error at every level if the result is wrong; verdict unknown at every
 * level if that cannot be said. */
static void judge_result(const context *x)
{
    const char *why = NULL;
    agreement a;

    if (!x->p.has_result_set || (x->aggregate && !x->p.has_version_set))
        return;
    a = x->aggregate ? judge_aggregate(x, &why) : judge_rows(x);
    if (a == DIFFERS)
        fault(x, HF_RESULT_SET_MISMATCH);
    else if (a == UNCLEAR && x->aggregate)
        explain_aggregate(x, why);
    else if (a == UNCLEAR)
        explain_condition(x, false, true);
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
                 .aggregate = hf_op_is_aggregate(kind)};

    x.condition = x.p.condition == HF_NONE ? HF_STR("true")
                                           : hf_string(c->h, x.p.condition);
    if (!x.aggregate && has_two_versions(&x, x.p.results, x.p.n_results)) {
        fault(&x, HF_TWO_VERSIONS);
        return;
    }
    judge_result(&x);
    add_entries(&x);
    add_rows(&x);
    if (has_rows_only(&x) ? !add_all_unlisted(&x)
                          : !x.p.has_version_set || !is_decidable(&x))
        explain_condition(&x, true, x.p.has_version_set);
}

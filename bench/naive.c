/* naive.c: Algorithms 2 and 3 of the Emme paper, line by line.
 *
 * Every predicate is tested on every version of every object (P times V), and
 * on its version set for the result; edges go to plain lists of neighbours,
 * which are then searched for a cycle.
 *
 * It is not made slower than that: conditions are parsed once, the columns of
 * versions are decoded once, an edge is added once for each operation, and
 * the snapshot of an operation is expanded key by key by the same code that
 * the engine uses.  The paper's text asks for each version three times, as
 * `version`, as `prev`, and in the version set; a careful reader of it would
 * ask once and remember, and can be had as well.
 *
 * It follows docs/semantics.md in what the paper leaves open: aggregates read
 * the versions that match as items, own writes make no edges.
 */
#include "naive.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "history/snapshot.h"
#include "sql/sql.h"

typedef struct version {
    hf_txn_id txn; /* HF_NONE: the initial one */
    hf_op_id op;
    hf_value_id value; /* HF_NONE: absent */
    hf_sql_value c1;
} version;

typedef HF_VEC(hf_txn_id) neighbours;

typedef struct naive {
    const hf_history *h;
    hf_snapshots *snapshots;
    hf_sql_cache *cache;
    /* vo: the versions of key k, oldest first, from first[k] on */
    uint32_t *first;
    version *versions;
    uint32_t *place;    /* by operation: where its version is; or HF_NONE */
    uint32_t *of_value; /* by value: the same */
    bool careful;
    bool *matches; /* scratch of the careful, by version */
    const hf_sql_expr *query;
    neighbours *next; /* by transaction */
    /* by transaction: the operation whose deps it is in, before and after;
     * by value: the operation whose expected results it is in */
    hf_op_id *before, *after, *expected;
    naive_counts counts;
} naive;

static void die(const char *what, const char *more)
{
    fprintf(stderr, "bench_predicates: %s%s%s\n", what, more ? ": " : "",
            more ? more : "");
    exit(2);
}

/* ---- the version order --------------------------------------------------- */

static version make_version(const naive *n, hf_txn_id t, hf_op_id op,
                            hf_value_id value)
{
    version v = {t, op, value, {0}};

    if (value != HF_NONE && !hf_sql_row_column(hf_value_scalar(n->h, value),
                                               HF_STR("c1"), NULL, &v.c1))
        die("a row without column c1", NULL);
    return v;
}

static hf_op_id last_write(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    for (hf_op_id op = h->op_first[t + 1]; op-- > h->op_first[t];)
        if (h->op_key[op] == key && hf_op_installs(hf_op_kind_of(h, op)))
            return op;
    die("a version order lists a transaction that did not write", NULL);
    return HF_NONE;
}

static void add_version(naive *n, uint32_t at, hf_txn_id t, hf_op_id op,
                        hf_value_id value)
{
    n->versions[at] = make_version(n, t, op, value);
    if (value != HF_NONE)
        n->of_value[value] = at;
    if (op != HF_NONE)
        n->place[op] = at;
}

static void build_order(naive *n)
{
    const hf_history *h = n->h;
    uint32_t at = 0;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        n->first[k] = at;
        add_version(n, at++, HF_NONE, HF_NONE,
                    h->key_initial ? h->key_initial[k] : HF_NONE);
        for (uint64_t i = h->cert.order_first[k];
             i < h->cert.order_first[k + 1]; i++) {
            hf_txn_id t = h->cert.order_txn[i];
            hf_op_id op = last_write(h, t, k);

            add_version(n, at++, t, op, h->op_value[op]);
        }
    }
    n->first[h->n_keys] = at;
    n->counts.versions = at;
}

/* ---- edges --------------------------------------------------------------- */

static void add_edge(naive *n, hf_txn_id from, hf_txn_id to)
{
    if (from == to || from == HF_NONE || to == HF_NONE)
        return;
    hf_vec_push(&n->next[from], to);
    n->counts.edges++;
}

/* get_read_deps(): `at` is the version that t reads. */
static void read_deps(naive *n, hf_txn_id t, uint32_t at, hf_key_id key)
{
    add_edge(n, n->versions[at].txn, t);
    if (at + 1 < n->first[key + 1])
        add_edge(n, t, n->versions[at + 1].txn);
}

static void item_deps(naive *n, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = n->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];
    hf_value_id value = h->op_value[op];

    if (kind == HF_OP_READ) {
        uint32_t at =
            h->value_type[value] == HF_NIL ? n->first[key] : n->of_value[value];

        if (at == HF_NONE)
            return; /* an own write that was overwritten */
        if (n->versions[at].txn != t)
            read_deps(n, t, at, key);
    } else if (n->place[op] != HF_NONE) {
        add_edge(n, n->versions[n->place[op] - 1].txn, t);
    }
}

/* ---- predicates ---------------------------------------------------------- */

/* matches() */
static bool test(naive *n, const version *v)
{
    n->counts.tests++;
    return v->value != HF_NONE &&
           hf_sql_test(n->query, &v->c1, NULL) == HF_SQL_TRUE;
}

static void test_all(naive *n)
{
    for (uint32_t i = 0; i < n->counts.versions; i++)
        n->matches[i] = test(n, &n->versions[i]);
}

static bool matches(naive *n, uint32_t at)
{
    return n->careful ? n->matches[at] : test(n, &n->versions[at]);
}

/* add_pred_read_dep() or add_pred_anti_dep(), once for an operation. */
static void changed_deps(naive *n, hf_txn_id t, hf_op_id op, hf_key_id key,
                         uint32_t looked_at)
{
    for (uint32_t i = n->first[key] + 1; i < n->first[key + 1]; i++) {
        hf_txn_id other = n->versions[i].txn;
        hf_op_id *mark = i > looked_at ? n->after : n->before;

        if (matches(n, i) == matches(n, i - 1) || mark[other] == op)
            continue;
        mark[other] = op;
        if (i > looked_at)
            add_edge(n, t, other);
        else
            add_edge(n, other, t);
    }
}

/* One object of get_pred_deps(): its edges, and the version in the version
 * set if it matches (value HF_NONE: it does not). */
static version object_deps(naive *n, hf_txn_id t, hf_op_id op, hf_key_id key)
{
    const hf_history *h = n->h;
    hf_op_id from = hf_snapshot_version(n->snapshots, t, op, key);
    uint32_t at = n->first[key];
    version v = {.value = HF_NONE};

    if (from == HF_NONE)
        die("a snapshot does not say what it holds", NULL);
    if (from < h->op_first[t + 1] && from >= h->op_first[t]) {
        version own = make_version(n, t, from, h->op_value[from]);

        return test(n, &own) ? own : v;
    }
    if (from != HF_WRITER_INITIAL)
        at = n->place[from];
    changed_deps(n, t, op, key, at);
    if (!matches(n, at))
        return v;
    read_deps(n, t, at, key);
    return n->versions[at];
}

/* Are the rows returned those expected? */
static bool same_rows(const naive *n, hf_op_id op, const hf_predicate *p,
                      uint32_t n_expected)
{
    for (uint32_t i = 0; i < p->n_results; i++)
        if (n->expected[p->results[i].value] != op)
            return false;
    return p->n_results == n_expected;
}

static bool same_extreme(const hf_predicate *p, uint32_t n_expected,
                         int64_t best)
{
    if (n_expected == 0)
        return p->result.type == HF_NIL;
    return p->result.type == HF_INT && p->result.number == best;
}

/* get_pred_deps() */
static bool predicate_deps(naive *n, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = n->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_predicate p = hf_op_predicate(h, op);
    int64_t best = 0;
    uint32_t n_rows = 0;
    hf_error err;

    n->query = hf_sql_condition(n->cache, hf_string(h, p.condition), &err);
    if (!n->query)
        die("condition", err.text);
    n->counts.predicates++;
    if (n->careful)
        test_all(n);
    for (hf_key_id key = 0; key < h->n_keys; key++) {
        version v = object_deps(n, t, op, key);
        int64_t number = v.c1.integer;

        if (v.value == HF_NONE)
            continue;
        n->expected[v.value] = op;
        if (n_rows == 0 || (kind == HF_OP_MIN ? number < best : number > best))
            best = number;
        n_rows++;
    }
    return kind == HF_OP_MIN || kind == HF_OP_MAX
               ? same_extreme(&p, n_rows, best)
               : same_rows(n, op, &p, n_rows);
}

/* ---- cycles -------------------------------------------------------------- */

/* Depth first, with a stack of transactions and how far each has come. */
static bool has_cycle(const naive *n)
{
    uint32_t n_txns = n->h->n_txns, depth = 0;
    uint8_t *state = HF_NEW_ZEROED(uint8_t, (size_t)n_txns + 1);
    uint32_t *come = HF_NEW_ZEROED(uint32_t, (size_t)n_txns + 1);
    hf_txn_id *stack = HF_NEW_ARRAY(hf_txn_id, (size_t)n_txns + 1);
    bool found = false;

    for (hf_txn_id root = 0; root < n_txns && !found; root++) {
        if (state[root] == 0) {
            state[root] = 1;
            stack[depth++] = root;
        }
        while (depth > 0 && !found) {
            hf_txn_id t = stack[depth - 1], to;

            if (come[t] == n->next[t].n) {
                state[t] = 2;
                depth--;
                continue;
            }
            to = n->next[t].at[come[t]++];
            found = state[to] == 1;
            if (state[to] == 0) {
                state[to] = 1;
                stack[depth++] = to;
            }
        }
    }
    hf_free(state);
    hf_free(come);
    hf_free(stack);
    return found;
}

/* ---- the whole ----------------------------------------------------------- */

static bool all_deps(naive *n)
{
    const hf_history *h = n->h;
    bool ok = true;

    for (hf_txn_id t = 0; t < h->n_txns && ok; t++) {
        if (h->txn_outcome[t] != HF_COMMITTED)
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1] && ok; op++)
            if (hf_op_has_predicate(hf_op_kind_of(h, op)))
                ok = predicate_deps(n, t, op);
            else
                item_deps(n, t, op);
    }
    return ok;
}

static void fill(uint32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = HF_NONE;
}

bool naive_is_serializable(const hf_history *h, bool careful,
                           naive_counts *ret_counts)
{
    size_t most = (size_t)h->n_keys + h->cert.order_first[h->n_keys] + 1;
    naive n = {.h = h,
               .careful = careful,
               .snapshots = hf_snapshots_new(h),
               .cache = hf_sql_cache_new(HF_SQL_POSTGRES),
               .first = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1),
               .versions = HF_NEW_ARRAY(version, most),
               .place = HF_NEW_ARRAY(uint32_t, (size_t)h->n_ops + 1),
               .of_value = HF_NEW_ARRAY(uint32_t, (size_t)h->n_values + 1),
               .matches = HF_NEW_ARRAY(bool, most),
               .next = HF_NEW_ZEROED(neighbours, (size_t)h->n_txns + 1),
               .before = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_txns + 1),
               .after = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_txns + 1),
               .expected = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_values + 1)};
    bool ok;

    fill(n.place, h->n_ops);
    fill(n.of_value, h->n_values);
    fill(n.before, h->n_txns);
    fill(n.after, h->n_txns);
    fill(n.expected, h->n_values);
    build_order(&n);
    ok = all_deps(&n) && !has_cycle(&n);
    *ret_counts = n.counts;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        hf_vec_release(&n.next[t]);
    hf_free(n.next);
    hf_free(n.first);
    hf_free(n.versions);
    hf_free(n.place);
    hf_free(n.of_value);
    hf_free(n.matches);
    hf_free(n.before);
    hf_free(n.after);
    hf_free(n.expected);
    hf_sql_cache_free(n.cache);
    hf_snapshots_free(n.snapshots);
    return ok;
}

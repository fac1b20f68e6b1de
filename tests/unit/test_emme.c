/* Tests of the workloads emme-item and emme-predicate: their mixes, and that
 * what they record about conditions is the truth, told in three ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "history/snapshot.h"
#include "workload/generate.h"

#define ABSENT (-1)

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_generate_options defaults(hf_workload workload, hf_level level,
                                    uint64_t seed)
{
    hf_generate_options o;

    hf_generate_defaults(&o, workload, HF_BUG_NONE);
    o.level = level;
    o.seed = seed;
    return o;
}

/* ---- the mixes ----------------------------------------------------------- */

typedef struct shares {
    unsigned of[32]; /* by kind */
    unsigned n;
} shares;

static shares count_kinds(const hf_generate_options *o)
{
    hf_history *h = generate(o);
    shares s = {{0}, 0};

    for (hf_op_id op = 0; op < h->n_ops; op++)
        s.of[hf_op_kind_of(h, op)]++;
    s.n = (unsigned)o->transactions * o->max_ops;
    assert_true(h->n_ops >= s.n); /* increments and updates are several */
    hf_history_free(h);
    return s;
}

/* Within one percent of all. */
static void assert_percent(unsigned count, unsigned all, double percent)
{
    double is = 100.0 * count / all;

    if (is < percent - 1 || is > percent + 1)
        fail_msg("%u of %u is not %g %%", count, all, percent);
}

static void the_item_mix_is_kept(void **state)
{
    hf_generate_options o =
        defaults(HF_WORKLOAD_EMME_ITEM, HF_READ_COMMITTED, 1);
    shares s;

    (void)state;
    assert_int_equal(o.keys, 1000);
    assert_int_equal(o.min_ops, 5);
    assert_int_equal(o.max_ops, 5);
    o.transactions = 20000;
    o.loaded_percent = 100;
    s = count_kinds(&o);
    /* all rows exist: reads and those of increments; updates, inserts and the
     * updates of increments */
    assert_percent(s.of[HF_OP_READ], s.n, 60);
    assert_percent(s.of[HF_OP_WRITE], s.n, 60);
    assert_int_equal(s.of[HF_OP_INSERT], 0);
    o.loaded_percent = 0;
    o.keys = 1000000; /* hardly any exists: reads; a tenth is inserted */
    s = count_kinds(&o);
    assert_percent(s.of[HF_OP_INSERT], s.n, 10);
    assert_percent(s.of[HF_OP_READ], s.n, 90);
}

static void the_predicate_mix_is_kept(void **state)
{
    static const unsigned predicates[] = {0, 25, 50, 100};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        hf_generate_options o =
            defaults(HF_WORKLOAD_EMME_PREDICATE, HF_READ_COMMITTED, 1);
        double share = predicates[i] / 100.0;
        shares s;

        assert_int_equal(o.keys, 100);
        assert_int_equal(o.predicate_percent, 50);
        assert_int_equal(o.range_percent, 1);
        o.transactions = 20000;
        o.predicate_percent = predicates[i];
        s = count_kinds(&o);
        assert_percent(s.of[HF_OP_PREDICATE_READ], s.n, 15 * share);
        assert_percent(s.of[HF_OP_MIN], s.n, 15 * share);
        assert_percent(s.of[HF_OP_MAX], s.n, 15 * share);
        assert_percent(s.of[HF_OP_PREDICATE_UPDATE], s.n, 45 * share);
        assert_percent(s.of[HF_OP_READ], s.n, 45 * (1 - share));
    }
}

/* ---- snapshots ----------------------------------------------------------- */

static bool same_scalar(hf_scalar a, hf_scalar b)
{
    if (a.type != b.type)
        return false;
    if (a.type == HF_ROW || a.type == HF_TEXT)
        return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
    return a.type == HF_NIL || a.number == b.number;
}

static void assert_same_versions(const hf_history *a, hf_op_id op,
                                 const hf_history *b)
{
    hf_predicate p = hf_op_predicate(a, op), q = hf_op_predicate(b, op);

    assert_true(p.has_version_set && q.has_version_set);
    assert_int_equal(p.n_versions, q.n_versions);
    assert_int_equal(p.n_results, q.n_results);
    assert_true(same_scalar(p.result, q.result));
    for (uint32_t i = 0; i < p.n_versions + p.n_results; i++) {
        hf_value_id v = p.versions[i].value, w = q.versions[i].value;

        assert_int_equal(a->value_key[v], b->value_key[w]);
        assert_true(same_scalar(hf_value_scalar(a, v), hf_value_scalar(b, w)));
    }
}

/* The same run, once with sets written out by the store, which then looks at
 * every key, and once with snapshots and by the index: the same history.
 * Returns the number of predicate operations. */
static unsigned compare_sets(const hf_generate_options *o, hf_version_sets how)
{
    hf_generate_options p = *o, q = *o;
    hf_history *a, *b, *x;
    unsigned n = 0;

    p.version_sets = HF_VERSION_SETS_EXPLICIT;
    q.version_sets = how;
    a = generate(&p);
    b = generate(&q);
    x = hf_snapshots_expand(b, NULL);
    assert_int_equal(a->n_ops, x->n_ops);
    assert_int_equal(a->n_txns, x->n_txns);
    assert_memory_equal(a->op_kind, x->op_kind, a->n_ops);
    assert_memory_equal(a->op_key, x->op_key, 4 * (size_t)a->n_ops);
    assert_memory_equal(a->txn_outcome, x->txn_outcome, a->n_txns);
    for (hf_op_id op = 0; op < a->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(a, op);

        if (hf_op_has_predicate(kind)) {
            assert_int_not_equal(hf_op_predicate(b, op).snapshot,
                                 HF_SNAPSHOT_NONE);
            assert_same_versions(a, op, x);
            n++;
        } else {
            assert_true(same_scalar(hf_value_scalar(a, a->op_value[op]),
                                    hf_value_scalar(x, x->op_value[op])));
        }
    }
    hf_snapshots_collapse(x);
    hf_history_free(a);
    hf_history_free(b);
    return n;
}

static void snapshots_say_what_was_looked_at(void **state)
{
    static const hf_level levels[] = {HF_SERIALIZABLE, HF_SNAPSHOT_ISOLATION,
                                      HF_PREFIX, HF_READ_COMMITTED};
    unsigned n = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        hf_generate_options o =
            defaults(HF_WORKLOAD_EMME_PREDICATE, levels[seed % 4], seed);

        o.transactions = 150;
        o.keys = seed % 3 ? 20 : 100;
        o.range_percent = seed % 3 ? 10 : 1;
        o.abort_percent = seed % 5 ? 0 : 10;
        o.unknown_percent = seed % 6 ? 0 : 10;
        o.loaded_percent = seed % 7 ? 0 : 50;
        n += compare_sets(&o, HF_VERSION_SETS_TIME);
        n += compare_sets(&o, HF_VERSION_SETS_IDS);
    }
    assert_true(n > 5000);
}

/* The other workload, which deletes, and has no index. */
static void snapshots_serve_other_workloads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        hf_generate_options o = defaults(
            HF_WORKLOAD_PREDICATE,
            seed % 2 ? HF_SNAPSHOT_ISOLATION : HF_READ_COMMITTED, seed);

        o.transactions = 150;
        (void)compare_sets(&o, HF_VERSION_SETS_TIME);
        (void)compare_sets(&o, HF_VERSION_SETS_IDS);
    }
}

static void snapshots_need_a_clock(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_EMME_PREDICATE, HF_CAUSAL, 1);
    hf_history *h = generate(&o);
    hf_error err;

    (void)state;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)))
            assert_true(hf_op_predicate(h, op).has_version_set);
    hf_history_free(h);
    o.version_sets = HF_VERSION_SETS_TIME;
    assert_int_equal(hf_generate_check(&o, &err), HF_ERR_USAGE);
    o.level = HF_SERIALIZABLE;
    assert_int_equal(hf_generate_check(&o, &err), HF_OK);
    o.certificate = false;
    assert_int_equal(hf_generate_check(&o, &err), HF_ERR_USAGE);
}

/* ---- the serial order ---------------------------------------------------- */

/* The number after `name` in a text. */
static int64_t number_after(hf_str text, const char *name)
{
    char copy[128];
    const char *at;

    assert_true(text.len < sizeof(copy));
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    at = strstr(copy, name);
    assert_non_null(at);
    return strtoll(at + strlen(name), NULL, 10);
}

static int64_t column_of(const hf_history *h, hf_value_id v)
{
    hf_scalar s = hf_value_scalar(h, v);

    if (s.type == HF_NIL)
        return ABSENT;
    return number_after((hf_str){s.text, s.length}, "\"c1\":");
}

/* Keys in [low, high] in `rows`, which are by key. */
static void assert_rows(const hf_history *h, const hf_predicate *p,
                        const hf_value_id *now, int64_t low, int64_t high)
{
    uint32_t n = 0;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        int64_t c1 = now[k] == HF_NONE ? ABSENT : column_of(h, now[k]);

        if (c1 == ABSENT || c1 < low || c1 > high)
            continue;
        assert_true(n < p->n_results);
        assert_int_equal(p->results[n++].value, now[k]);
    }
    assert_int_equal(n, p->n_results);
}

static void assert_extreme(const hf_history *h, const hf_predicate *p,
                           const hf_value_id *now, int sign)
{
    int64_t best = ABSENT;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        int64_t c1 = now[k] == HF_NONE ? ABSENT : column_of(h, now[k]);

        if (c1 != ABSENT && (best == ABSENT || sign * c1 < sign * best))
            best = c1;
    }
    assert_int_equal(p->result.type, best == ABSENT ? HF_NIL : HF_INT);
    if (best != ABSENT)
        assert_int_equal(p->result.number, best);
}

static void replay_op(const hf_history *h, hf_op_id op, hf_value_id *now)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];
    hf_predicate p;

    if (kind == HF_OP_READ) {
        hf_value_id v = h->op_value[op];

        assert_int_equal(h->value_type[v] == HF_NIL ? HF_NONE : v, now[key]);
    } else if (kind == HF_OP_WRITE || kind == HF_OP_INSERT) {
        assert_true(kind == HF_OP_WRITE || now[key] == HF_NONE);
        now[key] = h->op_value[op];
    } else {
        p = hf_op_predicate(h, op);
        if (kind == HF_OP_MIN || kind == HF_OP_MAX)
            assert_extreme(h, &p, now, kind == HF_OP_MIN ? 1 : -1);
        else
            assert_rows(h, &p, now,
                        number_after(hf_string(h, p.condition), ">= "),
                        number_after(hf_string(h, p.condition), "<= "));
    }
}

static void the_serial_order_replays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        hf_generate_options o = defaults(seed % 4 ? HF_WORKLOAD_EMME_PREDICATE
                                                  : HF_WORKLOAD_EMME_ITEM,
                                         HF_SERIALIZABLE, seed);
        hf_value_id *now;
        uint32_t committed = 0;
        hf_history *h;

        o.transactions = 1000;
        o.keys = seed % 3 ? 30 : 100;
        o.range_percent = seed % 3 ? 5 : 1;
        o.version_sets = (hf_version_sets)(1 + seed % 3);
        h = generate(&o);
        now = HF_NEW_ARRAY(hf_value_id, h->n_keys);
        for (hf_key_id k = 0; k < h->n_keys; k++)
            now[k] = HF_NONE;
        for (hf_txn_id t = 0; t < h->n_txns; t++)
            committed += h->txn_outcome[t] == HF_COMMITTED;
        assert_true(committed > 200);
        assert_int_equal(h->cert.n_serial, committed);
        for (uint32_t i = 0; i < h->cert.n_serial; i++) {
            hf_txn_id t = h->cert.serial[i];

            for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
                replay_op(h, op, now);
        }
        hf_free(now);
        hf_history_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_item_mix_is_kept),
        cmocka_unit_test(the_predicate_mix_is_kept),
        cmocka_unit_test(snapshots_say_what_was_looked_at),
        cmocka_unit_test(snapshots_serve_other_workloads),
        cmocka_unit_test(snapshots_need_a_clock),
        cmocka_unit_test(the_serial_order_replays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

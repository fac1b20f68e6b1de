/* Generated histories: the same options give the same history, the
 * certificate tells the truth, a store without a bug keeps its level and a
 * store with one does not.  The reference engine is the judge. */
#include "workload/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "check/check.h"

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK)
        fail_msg("%s", err.text);
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_generate_options defaults(hf_workload workload, hf_level level)
{
    hf_generate_options o;

    hf_generate_defaults(&o, workload, HF_BUG_NONE);
    o.level = level;
    return o;
}

static hf_verdict judge(const hf_history *h, hf_level level)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_result *r = NULL;
    hf_verdict verdict;
    hf_error err;

    assert_non_null(brute);
    if (brute->check(h, level, NULL, NULL, &r, &err) != HF_OK)
        fail_msg("%s", err.text);
    verdict = r->verdict;
    hf_result_free(r);
    return verdict;
}

/* Few transactions on few keys: much happens between them. */
static void make_tiny(hf_generate_options *o, uint64_t seed)
{
    o->seed = seed;
    o->transactions = 5 + seed % 3;
    o->min_ops = 1 + seed % 2;
    o->max_ops = 2 + seed % 3;
    o->keys = 2 + seed % 2;
    o->sessions = 2 + seed % 4;
    o->range_percent = 40;
    if (o->workload >= HF_WORKLOAD_EMME_ITEM)
        o->loaded_percent = 50; /* else hardly any update finds a row */
}

/* ---- the same again ------------------------------------------------------ */

static bool same_columns(const hf_history *a, const hf_history *b)
{
    return a->n_ops == b->n_ops && a->n_txns == b->n_txns &&
           a->n_values == b->n_values && a->n_extra == b->n_extra &&
           memcmp(a->op_kind, b->op_kind, a->n_ops) == 0 &&
           memcmp(a->op_key, b->op_key, 4 * (size_t)a->n_ops) == 0 &&
           memcmp(a->op_value, b->op_value, 4 * (size_t)a->n_ops) == 0 &&
           memcmp(a->txn_outcome, b->txn_outcome, a->n_txns) == 0 &&
           memcmp(a->txn_session, b->txn_session, 4 * (size_t)a->n_txns) == 0 &&
           memcmp(a->txn_begin, b->txn_begin, 8 * (size_t)a->n_txns) == 0 &&
           memcmp(a->extra, b->extra, 4 * (size_t)a->n_extra) == 0;
}

static void a_seed_repeats_a_run(void **state)
{
    (void)state;
    for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++) {
        hf_generate_options o = defaults((hf_workload)w, HF_CAUSAL);
        hf_history *a = generate(&o), *b = generate(&o), *c;

        o.seed++;
        c = generate(&o);
        assert_true(same_columns(a, b));
        assert_false(same_columns(a, c));
        hf_history_free(a);
        hf_history_free(b);
        hf_history_free(c);
    }
}

static void it_is_as_large_as_asked(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_REGISTER, HF_SERIALIZABLE);
    hf_history *h;

    (void)state;
    o.transactions = 3000;
    o.min_ops = 2;
    o.max_ops = 4;
    o.sessions = 7;
    o.rmw_percent = 0;
    o.write_percent = 50;
    o.abort_percent = 20;
    o.unknown_percent = 10;
    h = generate(&o);
    assert_int_equal(h->n_txns, 3000);
    assert_int_equal(h->n_sessions, 7);
    assert_int_equal(h->n_keys, 100);
    assert_int_equal(h->time_unit, HF_TIME_UNIT_EVENT);
    assert_true(h->unique_values);
    unsigned outcomes[HF_OUTCOME_COUNT] = {0};
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint32_t n = h->op_first[t + 1] - h->op_first[t];

        assert_in_range(n, 2, 4);
        outcomes[h->txn_outcome[t]]++;
        assert_true(h->txn_begin[t] < h->txn_end[t]);
    }
    assert_true(outcomes[HF_ABORTED] >= 500);
    assert_in_range(outcomes[HF_UNKNOWN_OUTCOME], 150, 350);
    hf_history_free(h);
    o.transactions = 0;
    h = generate(&o);
    assert_int_equal(h->n_txns, 0);
    hf_history_free(h);
}

static void intervals_lie_in_their_transactions(void **state)
{
    (void)state;
    for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++) {
        hf_generate_options o = defaults((hf_workload)w, HF_SERIALIZABLE);
        hf_history *h;

        o.intervals = true;
        h = generate(&o);
        for (hf_txn_id t = 0; t < h->n_txns; t++) {
            uint64_t last = 0;

            for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
                uint64_t start, end;

                assert_true(hf_op_interval(h, t, op, &start, &end));
                assert_true(start > h->txn_begin[t] && start < end);
                assert_true(end < h->txn_end[t] && end >= last);
                last = end;
            }
        }
        hf_history_free(h);
    }
}

/* ---- options ------------------------------------------------------------- */

static const char *refusal(const hf_generate_options *o)
{
    static hf_error err;

    assert_int_equal(hf_generate_check(o, &err), HF_ERR_USAGE);
    return err.text;
}

static void impossible_options_are_refused(void **state)
{
    hf_generate_options good = defaults(HF_WORKLOAD_REGISTER, HF_SERIALIZABLE);
    hf_generate_options o = good;
    hf_error err;

    (void)state;
    assert_int_equal(hf_generate_check(&o, &err), HF_OK);
    o.read_percent = 90;
    assert_string_equal(refusal(&o), "the shares of reads, writes and "
                                     "read-modify-writes add up to 100, not "
                                     "140");
    o = good;
    o.keys = 0;
    assert_string_equal(refusal(&o), "keys are 1 to 268435456, not 0");
    o = good;
    o.min_ops = 9;
    (void)refusal(&o);
    o = good;
    o.abort_percent = 101;
    (void)refusal(&o);
    o = good;
    o.distribution = HF_DISTRIBUTION_ZIPF;
    o.theta = 0;
    (void)refusal(&o);
    o = good;
    o.bug = HF_BUG_PHANTOM;
    assert_string_equal(refusal(&o), "bug \"phantom\" does not show in "
                                     "workload \"register\" but in "
                                     "\"predicate\"");
    o = defaults(HF_WORKLOAD_APPEND, HF_SERIALIZABLE);
    o.unique_values = false;
    (void)refusal(&o);
    o = good;
    o.times = false;
    o.intervals = true;
    (void)refusal(&o);
}

static void a_spent_budget_ends_the_run(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_REGISTER, HF_SERIALIZABLE);
    hf_budget budget = {.seconds = 0.05};
    hf_builder *b = hf_builder_new();
    hf_error err;

    (void)state;
    hf_budget_start(&budget);
    o.transactions = 1u << 30;
    o.budget = &budget;
    hf_builder_set_budget(b, &budget);
    if (hf_generate(&o, b, &err) == HF_OK)
        assert_true(hf_builder_failed(b));
    hf_builder_free(b);
}

/* ---- distributions ------------------------------------------------------- */

static void count_keys(hf_generate_options *o, unsigned *ret_counts)
{
    hf_history *h;

    o->transactions = 4000;
    o->keys = 100;
    h = generate(o);
    for (hf_op_id op = 0; op < h->n_ops; op++)
        ret_counts[h->op_key[op]] += 10000;
    for (unsigned i = 0; i < 100; i++)
        ret_counts[i] /= h->n_ops; /* in hundredths of a percent */
    hf_history_free(h);
}

static void keys_follow_their_distribution(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_REGISTER, HF_READ_COMMITTED);
    unsigned n[100] = {0}, hot = 0;

    (void)state;
    count_keys(&o, n);
    for (unsigned i = 0; i < 100; i++)
        assert_in_range(n[i], 60, 140);
    memset(n, 0, sizeof(n));
    o.distribution = HF_DISTRIBUTION_ZIPF;
    o.theta = 1.0; /* 1/(i+1) of 5.187 */
    count_keys(&o, n);
    assert_in_range(n[0], 1800, 2050);
    assert_in_range(n[1], 870, 1060);
    assert_in_range(n[9], 150, 235);
    memset(n, 0, sizeof(n));
    o.distribution = HF_DISTRIBUTION_HOTSPOT;
    count_keys(&o, n);
    for (unsigned i = 0; i < 10; i++)
        hot += n[i];
    assert_in_range(hot, 8800, 9200);
    memset(n, 0, sizeof(n));
    o.distribution = HF_DISTRIBUTION_EXPONENTIAL;
    count_keys(&o, n);
    assert_in_range(n[0], 4800, 5200);
    assert_in_range(n[1], 2300, 2700);
    assert_int_equal(n[60], 0);
}

/* ---- the certificate ----------------------------------------------------- */

/* Executes the committed transactions in serial order; every read must
 * return what is there. */
static void replay_serially(const hf_history *h)
{
    hf_value_id *now = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_keys + 1);
    uint32_t committed = 0;

    memset(now, 0xff, sizeof(*now) * h->n_keys);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        committed += h->txn_outcome[t] == HF_COMMITTED;
    assert_int_equal(h->cert.n_serial, committed);
    for (uint32_t i = 0; i < h->cert.n_serial; i++) {
        hf_txn_id t = h->cert.serial[i];

        assert_int_equal(h->txn_outcome[t], HF_COMMITTED);
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_key_id key = h->op_key[op];
            hf_value_id v = h->op_value[op];

            if (hf_op_kind_of(h, op) == HF_OP_WRITE)
                now[key] = v;
            else if (now[key] == HF_NONE)
                assert_int_equal(h->value_type[v], HF_NIL);
            else
                assert_int_equal(v, now[key]);
        }
    }
    hf_free(now);
}

static void the_serial_order_explains_every_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        hf_generate_options o =
            defaults(HF_WORKLOAD_REGISTER, HF_STRICT_SERIALIZABLE);
        hf_history *h;

        o.transactions = 5000;
        o.keys = 5 * (uint32_t)seed;
        o.seed = seed;
        o.abort_percent = 5;
        h = generate(&o);
        replay_serially(h);
        hf_history_free(h);
    }
}

/* The last value t wrote to key before `end`, or HF_NONE. */
static hf_value_id written_by(const hf_history *h, hf_txn_id t, hf_key_id key,
                              hf_op_id end)
{
    hf_value_id v = HF_NONE;

    for (hf_op_id op = h->op_first[t]; op < end; op++)
        if (h->op_key[op] == key && hf_op_kind_of(h, op) == HF_OP_WRITE)
            v = h->op_value[op];
    return v;
}

/* What key holds at time `at`, by version order and commit timestamps. */
static hf_value_id state_at(const hf_history *h, hf_key_id key, uint64_t at)
{
    const hf_certificate *c = &h->cert;
    hf_value_id v = HF_NONE;

    for (uint64_t i = c->order_first[key]; i < c->order_first[key + 1]; i++) {
        hf_txn_id t = c->order_txn[i];

        if (c->commit_ts[t] < at)
            v = written_by(h, t, key, h->op_first[t + 1]);
    }
    return v;
}

/* Every read of a committed transaction, at snapshot isolation. */
static void replay_snapshots(const hf_history *h)
{
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (h->txn_outcome[t] != HF_COMMITTED)
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_key_id key = h->op_key[op];
            hf_value_id v;

            if (hf_op_kind_of(h, op) != HF_OP_READ)
                continue;
            v = written_by(h, t, key, op);
            if (v == HF_NONE)
                v = state_at(h, key, h->cert.start_ts[t]);
            if (v == HF_NONE)
                assert_int_equal(h->value_type[h->op_value[op]], HF_NIL);
            else
                assert_int_equal(h->op_value[op], v);
        }
    }
}

static void timestamps_explain_every_snapshot(void **state)
{
    /* many short transactions; some long ones; many sessions */
    static const uint32_t shapes[][4] = {
        {600, 8, 10, 10}, {60, 200, 60, 4}, {1000, 3, 30, 200}};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        hf_generate_options o =
            defaults(HF_WORKLOAD_REGISTER, HF_SNAPSHOT_ISOLATION);
        hf_history *h;

        o.transactions = shapes[i][0];
        o.max_ops = shapes[i][1];
        o.keys = shapes[i][2];
        o.sessions = shapes[i][3];
        h = generate(&o);
        replay_snapshots(h);
        hf_history_free(h);
    }
}

/* With intervals, or with aborts, other code makes the history. */
static void the_long_way_tells_the_truth_as_well(void **state)
{
    hf_generate_options o =
        defaults(HF_WORKLOAD_REGISTER, HF_SNAPSHOT_ISOLATION);
    hf_history *h;

    (void)state;
    o.intervals = true;
    o.keys = 10;
    h = generate(&o);
    replay_snapshots(h);
    hf_history_free(h);
    o.intervals = false;
    o.abort_percent = 10;
    h = generate(&o);
    replay_snapshots(h);
    hf_history_free(h);
}

/* The mix that was asked for, also where shares do not divide evenly. */
static void the_mix_is_kept(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_REGISTER, HF_READ_COMMITTED);
    unsigned reads = 0, writes = 0;
    hf_history *h;

    (void)state;
    o.transactions = 20000;
    o.read_percent = 33;
    o.write_percent = 67;
    o.rmw_percent = 0;
    h = generate(&o);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        reads += hf_op_kind_of(h, op) == HF_OP_READ;
        writes += hf_op_kind_of(h, op) == HF_OP_WRITE;
    }
    assert_int_equal(reads + writes, h->n_ops);
    assert_in_range(100 * reads, 32 * h->n_ops, 34 * h->n_ops);
    hf_history_free(h);
}

static void lists_are_prefixes_and_keys_rotate(void **state)
{
    hf_generate_options o = defaults(HF_WORKLOAD_APPEND, HF_SNAPSHOT_ISOLATION);
    hf_history *h;
    hf_value_id *longest;
    uint32_t n_longest = 0;

    (void)state;
    o.transactions = 3000;
    o.writes_per_key = 20;
    h = generate(&o);
    assert_true(h->n_keys > 50);
    longest = HF_NEW_ZEROED(hf_value_id, h->n_keys);
    memset(longest, 0xff, sizeof(*longest) * h->n_keys);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = h->op_value[op], *best = &longest[h->op_key[op]];

            if (h->txn_outcome[t] != HF_COMMITTED ||
                hf_op_kind_of(h, op) != HF_OP_READ_LIST ||
                h->value_type[v] != HF_LIST)
                continue;
            assert_true(hf_list_items(h, v, NULL) <= 20 + 10);
            /* one of the two lists is the beginning of the other */
            hf_value_id a = v, b = *best;
            uint32_t na = hf_list_items(h, a, NULL);
            uint32_t nb = b == HF_NONE ? 0 : hf_list_items(h, b, NULL);
            for (; na > nb; na--)
                a = hf_list_parent(h, a);
            for (; nb > na; nb--)
                b = hf_list_parent(h, b);
            assert_int_equal(a, b);
            if (*best == HF_NONE ||
                hf_list_items(h, v, NULL) > hf_list_items(h, *best, NULL))
                *best = v;
        }
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        n_longest += longest[k] != HF_NONE;
    assert_true(n_longest > 50);
    hf_free(longest);
    hf_history_free(h);
}

/* ---- a store without a bug ----------------------------------------------- */

#define CLEAN_SEEDS 200

/* Vary what else may be asked for. */
static void vary(hf_generate_options *o, uint64_t seed)
{
    make_tiny(o, seed);
    o->abort_percent = seed % 2 ? 0 : 15;
    o->unknown_percent = seed % 3 ? 0 : 15;
    o->certificate = seed % 4 != 0;
    if (o->workload != HF_WORKLOAD_APPEND)
        o->unique_values = seed % 5 != 0;
    o->intervals = seed % 7 == 0;
}

static void clean_runs_are_valid(hf_workload workload)
{
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        for (uint64_t seed = 1; seed <= CLEAN_SEEDS; seed++) {
            hf_generate_options o = defaults(workload, (hf_level)l);
            hf_history *h;

            vary(&o, seed);
            h = generate(&o);
            if (judge(h, (hf_level)l) != HF_VALID)
                fail_msg("%s at %s, seed %d", hf_workload_name(workload),
                         hf_level_get((hf_level)l)->name, (int)seed);
            hf_history_free(h);
        }
    }
}

static void clean_registers_are_valid(void **state)
{
    (void)state;
    clean_runs_are_valid(HF_WORKLOAD_REGISTER);
}

static void clean_lists_are_valid(void **state)
{
    (void)state;
    clean_runs_are_valid(HF_WORKLOAD_APPEND);
}

static void clean_predicates_are_valid(void **state)
{
    (void)state;
    clean_runs_are_valid(HF_WORKLOAD_PREDICATE);
}

static void clean_emme_mixes_are_valid(void **state)
{
    (void)state;
    clean_runs_are_valid(HF_WORKLOAD_EMME_ITEM);
    clean_runs_are_valid(HF_WORKLOAD_EMME_PREDICATE);
}

/* A level's histories do use the freedom it gives. */
static void weak_levels_are_weak(void **state)
{
    static const hf_level pairs[][2] = {
        {HF_READ_UNCOMMITTED, HF_READ_COMMITTED},
        {HF_READ_COMMITTED, HF_READ_ATOMIC},
        {HF_READ_ATOMIC, HF_CONSISTENT_VIEW},
        {HF_CAUSAL, HF_CONSISTENT_VIEW},
        {HF_PARALLEL_SNAPSHOT_ISOLATION, HF_SERIALIZABLE},
        {HF_PREFIX, HF_SNAPSHOT_ISOLATION},
        {HF_SNAPSHOT_ISOLATION, HF_SERIALIZABLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        bool weaker = false;

        for (uint64_t seed = 1; seed <= 200 && !weaker; seed++) {
            hf_generate_options o = defaults(HF_WORKLOAD_REGISTER, pairs[i][0]);
            hf_history *h;

            make_tiny(&o, seed);
            h = generate(&o);
            weaker = judge(h, pairs[i][1]) == HF_INVALID;
            hf_history_free(h);
        }
        if (!weaker)
            fail_msg("%s never breaks %s", hf_level_get(pairs[i][0])->name,
                     hf_level_get(pairs[i][1])->name);
    }
}

/* ---- a store with a bug -------------------------------------------------- */

/* The first seed whose history breaks the level the store claims; 0: none of
 * those tried. */
static uint64_t first_invalid(hf_workload workload, hf_store_bug bug,
                              uint64_t tries)
{
    for (uint64_t seed = 1; seed <= tries; seed++) {
        hf_generate_options o;
        hf_history *h;
        hf_verdict verdict;

        hf_generate_defaults(&o, workload, bug);
        make_tiny(&o, seed);
        o.transactions = 8;
        h = generate(&o);
        verdict = judge(h, o.level);
        hf_history_free(h);
        if (verdict == HF_INVALID)
            return seed;
    }
    return 0;
}

static void every_bug_shows(void **state)
{
    (void)state;
    for (unsigned i = 1; i < HF_BUG_COUNT; i++) {
        const hf_store_bug_info *info = hf_store_bug_get((hf_store_bug)i);

        for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++) {
            if (!(info->workloads & (1u << w)) ||
                info->anomaly == HF_ANOMALY_COUNT)
                continue;
            if (first_invalid((hf_workload)w, (hf_store_bug)i, 2000) == 0)
                fail_msg("bug %s does not show in workload %s", info->name,
                         hf_workload_name((hf_workload)w));
        }
    }
}

static void an_answer_lost_is_no_bug(void **state)
{
    (void)state;
    for (unsigned w = 0; w < HF_WORKLOAD_COUNT; w++)
        assert_int_equal(
            first_invalid((hf_workload)w, HF_BUG_COMMIT_ANSWER_LOST, 40), 0);
}

static void a_bug_that_never_strikes_does_not_show(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        hf_generate_options o;
        hf_history *h;

        hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, HF_BUG_LOST_UPDATE);
        make_tiny(&o, seed);
        o.bug_percent = 0;
        h = generate(&o);
        assert_int_equal(judge(h, o.level), HF_VALID);
        hf_history_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_repeats_a_run),
        cmocka_unit_test(it_is_as_large_as_asked),
        cmocka_unit_test(intervals_lie_in_their_transactions),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(a_spent_budget_ends_the_run),
        cmocka_unit_test(keys_follow_their_distribution),
        cmocka_unit_test(the_serial_order_explains_every_read),
        cmocka_unit_test(timestamps_explain_every_snapshot),
        cmocka_unit_test(the_long_way_tells_the_truth_as_well),
        cmocka_unit_test(the_mix_is_kept),
        cmocka_unit_test(lists_are_prefixes_and_keys_rotate),
        cmocka_unit_test(clean_registers_are_valid),
        cmocka_unit_test(clean_lists_are_valid),
        cmocka_unit_test(clean_predicates_are_valid),
        cmocka_unit_test(clean_emme_mixes_are_valid),
        cmocka_unit_test(weak_levels_are_weak),
        cmocka_unit_test(every_bug_shows),
        cmocka_unit_test(an_answer_lost_is_no_bug),
        cmocka_unit_test(a_bug_that_never_strikes_does_not_show),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

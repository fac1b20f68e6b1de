/* test_workloads.c: every workload of the list, one transaction after another
 * (see workload_world.h).
 *
 * At the end every tag in the database was handed out for the row it stands
 * in, the invariants hold, and they do not when a row is changed behind the
 * workload's back.  In a sick world the hunters find what they hunt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "unit/workload_world.h"
#include "workload/kv.h"

#define TRANSACTIONS 500u /* of every type */
#define COMPARED 40u      /* of them on src/sql as well */
#define LARGE 15          /* of an option without a smaller end */

static void many(world *w, hf_client *clients, const char *type)
{
    uint64_t before = w->committed;
    hf_drawn d;

    for (unsigned i = 0; i < TRANSACTIONS; i++) {
        hf_client *c = &clients[i % WORLD_CLIENTS];

        w->compare = i < COMPARED;
        hf_play_draw(w->play, c, &d);
        world_transact(w, c, &d);
    }
    w->compare = false;
    if (w->committed == before)
        fail_msg("%s: no transaction %s commits", w->workload->name, type);
}

/* ---- after the run ------------------------------------------------------- */

/* Every tag stands in the row it was handed out for. */
static void expect_tags(world *w, const table *t)
{
    char sql[100];
    sqlite3_stmt *s;

    snprintf(sql, sizeof(sql), "SELECT * FROM %s", t->name);
    s = world_prepare(w->db, w, sql);
    while (sqlite3_step(s) == SQLITE_ROW) {
        hf_sql_value key[HF_STEP_KEYS];
        int64_t tag = 0;
        hf_arena arena;
        char row[100];
        size_t used = (size_t)snprintf(row, sizeof(row), "%s", t->name);

        hf_arena_init(&arena);
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->columns[i].by)
                key[t->columns[i].by - 1] = world_cell(s, (int)i, &arena);
            if (strcmp(t->columns[i].name, "_tag") == 0)
                tag = sqlite3_column_int64(s, (int)i);
        }
        for (uint32_t i = 0; i < t->n_by; i++) {
            world_print(row + used, sizeof(row) - used, &key[i]);
            used = strlen(row);
        }
        if (tag != 0 && (tag < 0 || tag > (int64_t)w->tags.n ||
                         strcmp(w->tags.at[tag - 1].row, row) != 0))
            fail_msg("%s: row %s has tag %" PRId64 " of %s", w->workload->name,
                     row, tag,
                     tag > 0 && tag <= (int64_t)w->tags.n
                         ? w->tags.at[tag - 1].row
                         : "nobody");
        hf_arena_release(&arena);
    }
    sqlite3_finalize(s);
}

/* Does a check notice that this was done to the tables? */
static bool notices(world *w, const char *sql)
{
    uint64_t breaches;
    int changes = sqlite3_total_changes(w->db);

    world_do(w, "SAVEPOINT tampering");
    world_do(w, sql);
    breaches = sqlite3_total_changes(w->db) != changes ? world_check(w) : 0;
    world_do(w, "ROLLBACK TO tampering");
    world_do(w, "RELEASE tampering");
    return breaches > 0;
}

/* How many of the changes of table t are noticed. */
static unsigned tamper(world *w, const table *t)
{
    unsigned noticed = 0;
    char sql[300];

    for (uint32_t i = 0; i < t->n; i++) {
        const column *c = &t->columns[i];

        if (c->key || strcmp(c->name, "_tag") == 0)
            continue;
        snprintf(sql, sizeof(sql),
                 "UPDATE %s SET %s = %s WHERE rowid = "
                 "(SELECT min(rowid) FROM %s)",
                 t->name, c->name,
                 world_column(w, c).type == HF_SQL_TEXT ? "'4711,4711'"
                                                        : "-123457",
                 t->name);
        noticed += notices(w, sql);
    }
    snprintf(sql, sizeof(sql),
             "DELETE FROM %s WHERE rowid = (SELECT min(rowid) FROM %s)",
             t->name, t->name);
    return noticed + notices(w, sql);
}

static void show_breaches(const world *w)
{
    const hf_breach *b;

    for (unsigned i = 0; (b = hf_play_breach_at(w->play, i)) && i < 3; i++)
        print_error("%s: %s: %s\n", w->workload->name, b->name, b->text);
}

/* `set`: an option, or NULL. */
static void whole_workload(const hf_workload *workload, const char *set)
{
    hf_client clients[WORLD_CLIENTS];
    unsigned noticed = 0;
    world w;

    world_begin(&w, workload, set);
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        world_client(&clients[i], &w, i, true);
    for (unsigned type = 0; type <= workload->n_types; type++) {
        world_weigh(&w, type);
        many(&w, clients,
             type < workload->n_types ? workload->types[type].name : "mix");
    }
    for (uint32_t i = 0; i < w.n_tables; i++)
        if (w.tables[i].tagged)
            expect_tags(&w, &w.tables[i]);
    assert_non_null(workload->check);
    if (world_check(&w) > 0 || hf_play_breaches(w.play) > 0) {
        show_breaches(&w);
        fail_msg("%s: breaches in a serial run", workload->name);
    }
    for (uint32_t i = 0; i < w.n_tables; i++)
        noticed += tamper(&w, &w.tables[i]);
    if (noticed == 0)
        fail_msg("%s: its check notices nothing", workload->name);
    if (world_check(&w) != 0)
        fail_msg("%s: breaches although nothing is changed", workload->name);
    assert_true(w.recorded > 0);
    print_message("%-20s %6" PRIu64 " committed %5" PRIu64 " given up %4" PRIu64
                  " refused %6" PRIu64 " operations, %u noticed\n",
                  workload->name, w.committed, w.given_up, w.refused,
                  w.recorded, noticed);
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        hf_sql_result_release(&clients[i].rows);
    world_end(&w);
}

static const char *only; /* the first argument */

static void test_all(void **state)
{
    const hf_workload *w;
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; (w = hf_workload_at(i)); i++) {
        assert_ptr_equal(hf_workload_named(hf_str_of(w->name)), w);
        assert_true(w->n_types > 0);
        if (only && strcmp(only, w->name) != 0)
            continue;
        whole_workload(w, NULL);
        n++;
    }
    assert_true(n > 0);
    assert_null(hf_workload_named(HF_STR("no such")));
}

/* Sums and tags that the database adds up. */
static void test_adds(void **state)
{
    static const char *const names[] = {"lost-update", "bank", "bank-scan",
                                        "item-mix"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!only || strcmp(only, names[i]) == 0)
            whole_workload(hf_workload_named(hf_str_of(names[i])), "adds=1");
}

/* ---- sick worlds --------------------------------------------------------- */

typedef struct hunt {
    const char *workload, *set; /* an option, or NULL */
    world_sickness sickness;
    const char *breach; /* that must come */
} hunt;

static const hunt hunts[] = {
    {"lost-update", NULL, WORLD_STALE, "LU1"},
    {"on-call", NULL, WORLD_STALE, "OC1"},
    {"on-call", NULL, WORLD_MIXED, "OC1"},
    {"bank", NULL, WORLD_MIXED, "BK1"},
    {"bank", "negative=0", WORLD_STALE, "BK1"},
    {"bank-scan", NULL, WORLD_STALE, "BK1"},
    {"bank-server", "split-updates=yes", WORLD_STALE, "BS1"},
    {"ycsb-t", "keys=20", WORLD_STALE, "YT1"},
    {"long-fork", NULL, WORLD_MIXED, "LF1"},
    {"g2", NULL, WORLD_STALE, "G2"},
    {"dirty-read", NULL, WORLD_DIRTY, "DR1"},
    {"dirty-read", NULL, WORLD_MIXED, "DR2"},
    {"smallbank", "split-updates=yes", WORLD_STALE, "SB2"},
    {"smallbank", "accounts=3", WORLD_STALE, "SB4"},
    {"tpcc-tiny", NULL, WORLD_STALE, "CR10"},
    {"tpcc-tiny", NULL, WORLD_STALE, "NCR4"},
    {"tpcc-tiny", "split-updates=yes", WORLD_STALE, "CR1"},
    {"tpcc-tiny", "split-updates=yes", WORLD_STALE, "CR8"},
    {"tpcc-tiny", "split-updates=yes", WORLD_STALE, "NCR1"},
    {"voter-tiny", NULL, WORLD_STALE, "V1"},
    {"queues", NULL, WORLD_STALE, "QU1"},
    {"rooms", NULL, WORLD_STALE, "RM1"},
    {"rooms", NULL, WORLD_MIXED, "RM2"},
    {"seats", "seats=3", WORLD_STALE, "SE1"},
    {"seats", "customers=3", WORLD_STALE, "SE3"},
    {"seats", "split-updates=yes", WORLD_STALE, "SE2"},
    {"twitter", "users=10", WORLD_STALE, "TW1"},
    {"rubis", "users=3", WORLD_STALE, "RB1"},
    {"wikipedia", "pages=2", WORLD_STALE, "WP4"},
};

static void one_hunt(const hunt *h)
{
    const hf_workload *workload = hf_workload_named(hf_str_of(h->workload));
    hf_client clients[WORLD_CLIENTS];
    const hf_breach *b = NULL;
    hf_drawn d;
    world w;

    assert_non_null(workload);
    world_begin(&w, workload, h->set);
    w.sickness = h->sickness;
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        world_client(&clients[i], &w, i, true);
    for (unsigned i = 0; i < 2000; i++) {
        hf_play_draw(w.play, &clients[i % WORLD_CLIENTS], &d);
        world_transact(&w, &clients[i % WORLD_CLIENTS], &d);
    }
    (void)world_check(&w);
    for (unsigned i = 0; (b = hf_play_breach_at(w.play, i)); i++)
        if (strcmp(b->name, h->breach) == 0)
            break;
    if (!b)
        fail_msg("%s: %s not found", h->workload, h->breach);
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        hf_sql_result_release(&clients[i].rows);
    world_end(&w);
}

static void test_hunts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hunts) / sizeof(*hunts); i++)
        one_hunt(&hunts[i]);
}

/* A lost answer makes the expected number a range, and no more. */
static void test_unknown(void **state)
{
    world w;
    hf_client c;
    hf_drawn d;
    const hf_workload *workload = hf_workload_named(HF_STR("lost-update"));

    (void)state;
    world_begin(&w, workload, "keys=1");
    world_client(&c, &w, 0, true);
    world_weigh(&w, 0);
    hf_play_draw(w.play, &c, &d);
    workload->done(w.play, &c, &d, false); /* it did not happen, or did */
    assert_int_equal(world_check(&w), 0);
    assert_true(world_transact(&w, &c, &d)); /* one or two */
    assert_int_equal(world_check(&w), 0);
    world_do(&w, "UPDATE kv SET v = 2");
    assert_int_equal(world_check(&w), 0);
    world_do(&w, "UPDATE kv SET v = 3");
    assert_int_equal(world_check(&w), 1);
    world_do(&w, "UPDATE kv SET v = 0");
    assert_int_equal(world_check(&w), 1);
    hf_sql_result_release(&c.rows);
    world_end(&w);
}

/* ---- every option at its ends -------------------------------------------- */

/* False: breaches. */
static bool with_option(const hf_workload *workload, const char *set)
{
    hf_client clients[WORLD_CLIENTS];
    bool good;
    hf_drawn d;
    world w;

    if (!world_try(&w, workload, set))
        return true;
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        world_client(&clients[i], &w, i, true);
    for (unsigned type = 0; type <= workload->n_types; type++) {
        world_weigh(&w, type);
        for (unsigned i = 0; i < 20; i++) {
            hf_client *c = &clients[i % WORLD_CLIENTS];

            hf_play_draw(w.play, c, &d);
            world_transact(&w, c, &d);
        }
    }
    good = world_check(&w) == 0 && hf_play_breaches(w.play) == 0;
    if (!good) {
        show_breaches(&w);
        print_error("%s with %s: breaches in a serial run\n", workload->name,
                    set);
    }
    for (unsigned i = 0; i < WORLD_CLIENTS; i++)
        hf_sql_result_release(&clients[i].rows);
    world_end(&w);
    return good;
}

static void test_ends(void **state)
{
    const hf_workload *w;
    unsigned bad = 0;
    char set[100];

    (void)state;
    for (unsigned i = 0; (w = hf_workload_at(i)); i++)
        for (unsigned k = 0; k < w->n_options; k++) {
            const hf_workload_option *o = &w->options[k];

            if (only && strcmp(only, w->name) != 0)
                continue;
            assert_true(o->least <= o->value && o->value <= o->most);
            if (strcmp(o->name, "sleep") == 0)
                continue;
            snprintf(set, sizeof(set), "%s=%.15g", o->name, o->least);
            bad += !with_option(w, set);
            snprintf(set, sizeof(set), "%s=%.15g", o->name,
                     o->most < LARGE ? o->most : LARGE);
            if (LARGE > o->least)
                bad += !with_option(w, set);
        }
    assert_int_equal(bad, 0);
}

/* ---- options ------------------------------------------------------------- */

static void refuses(hf_play *p, bool mix, const char *text, const char *says)
{
    hf_error err = {0};
    hf_status st = mix ? hf_play_weigh(p, hf_str_of(text), &err)
                       : hf_play_set(p, hf_str_of(text), &err);

    assert_int_equal(st, HF_ERR_INPUT);
    if (!strstr(err.text, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, says);
}

static void test_options(void **state)
{
    const hf_workload *w = hf_workload_named(HF_STR("blindw-rw"));
    hf_play *p = hf_play_new(w, 2, 1);
    hf_error err = {0};

    (void)state;
    assert_true(hf_play_option(p, "keys") == 2000);
    world_set(p, "keys=17");
    assert_true(hf_play_option(p, "keys") == 17);
    world_set(p, "distribution=hotspot");
    assert_true(hf_play_option(p, "distribution") == 2);
    world_set(p, "hot_keys=12.5");
    assert_true(hf_play_option(p, "hot-keys") == 12.5);
    refuses(p, false, "keys", "NAME=VALUE");
    refuses(p, false, "=3", "NAME=VALUE");
    refuses(p, false, "keys=", "no value");
    refuses(p, false, "keys=3x", "no value");
    refuses(p, false, "keys=nan", "no value");
    refuses(p, false, "keys=0", "must be from 1 to");
    refuses(p, false, "distribution=odd", "no value");
    refuses(p, false, "kies=3", "it has keys, ops");
    refuses(p, true, "read=-1", "no weight");
    refuses(p, true, "rea=1", "it has read, write");
    assert_true(hf_play_option(p, "keys") == 17);
    assert_int_equal(hf_play_weigh(p, HF_STR("read=0"), &err), HF_OK);
    assert_int_equal(hf_play_weigh(p, HF_STR("write=0"), &err), HF_OK);
    assert_int_equal(hf_play_load(p, NULL, NULL, &err), HF_ERR_INPUT);
    hf_play_free(p);
    hf_play_free(NULL);
}

static void test_breaches(void **state)
{
    hf_play *p = hf_play_new(hf_workload_at(0), 1, 1);

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        hf_play_breach(p, "X1", "expected %u", i);
    assert_int_equal(hf_play_breaches(p), 1000);
    assert_string_equal(hf_play_breach_at(p, 7)->text, "expected 7");
    assert_null(hf_play_breach_at(p, 999));
    hf_play_free(p);
}

/* How often each of ten keys comes. */
static void draws(const char *set, unsigned counts[10])
{
    hf_play *p = hf_play_new(hf_workload_named(HF_STR("blindw-rw")), 1, 1);
    hf_chooser h = {0};
    hf_rng r;

    world_set(p, set);
    hf_chooser_init(&h, p, 10);
    hf_rng_seed(&r, 3);
    memset(counts, 0, 10 * sizeof(*counts));
    for (unsigned i = 0; i < 100000; i++) {
        int64_t k = hf_choose(&h, &r);

        assert_true(k >= 0 && k < 10);
        counts[k]++;
    }
    hf_play_free(p);
}

static void near(unsigned found, unsigned expected)
{
    unsigned slack = expected / 20 + 60;

    if (found + slack < expected || found > expected + slack)
        fail_msg("expected about %u, found %u", expected, found);
}

static void test_distributions(void **state)
{
    unsigned n[10];

    (void)state;
    draws("distribution=uniform", n);
    near(n[0], 10000);
    near(n[9], 10000);
    draws("theta=2", n); /* sum of 1/i^2 up to 10 is 1.5498 */
    near(n[0], 64525);
    near(n[1], 16131);
    draws("theta=1", n); /* 2.9290 */
    near(n[0], 34142);
    near(n[9], 3414);
    draws("distribution=hotspot", n); /* 2 keys get 80 % */
    near(n[0], 40000);
    near(n[9], 2500);
    draws("distribution=exponential", n);
    near(n[0], 50049);
    near(n[3], 6256);
    draws("distribution=zipf", n); /* theta 0.99: Gray's formula is rough */
    assert_true(n[0] > 32000 && n[0] < 36000);
    assert_true(n[1] > 15000 && n[1] < 19000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),      cmocka_unit_test(test_hunts),
        cmocka_unit_test(test_adds),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_ends),     cmocka_unit_test(test_options),
        cmocka_unit_test(test_breaches), cmocka_unit_test(test_distributions),
    };

    if (argc > 1)
        only = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Levels: the table, its names and the lattice. */
#include "model/level.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/pages.h"

/* The arrows, written down a second time: "stronger weaker weaker ...". */
static const char *const arrows[][4] = {
    {"SERr", "SERs", "SIr"},
    {"SERs", "SER", "SIs"},
    {"SER", "SI", "RR"},
    {"SIr", "SIs"},
    {"SIs", "SI", "PC", "PSIs"},
    {"SI", "PSI"},
    {"PSIs", "PSI", "CC"},
    {"PSI", "CV"},
    {"PC", "CC"},
    {"CC", "RA", "pram", "wfr"},
    {"pram", "ryw", "mr", "mw"},
    {"RA", "RCa", "ryw"},
    {"RCa", "MAV"},
    {"CV", "MAV"},
    {"MAV", "RC"},
    {"RC", "RU"},
    {"RR", "RC"},
    {"ryw", "RC"},
    {"mr", "RC"},
    {"mw", "RC"},
    {"wfr", "RC"},
};
#define N_ARROWS (sizeof(arrows) / sizeof(arrows[0]))

static hf_level by_name(const char *name)
{
    hf_level level = HF_LEVEL_COUNT;

    if (!hf_level_find(hf_str_of(name), &level, NULL))
        fail_msg("no level is called %s", name);
    return level;
}

static void table_is_complete(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const hf_level_info *info = hf_level_get((hf_level)i);

        assert_int_equal(info->level, i);
        assert_non_null(info->name);
        assert_non_null(info->short_name);
        assert_non_null(info->aliases);
        assert_non_null(info->implies);
        assert_true(strlen(info->summary) > 20);
        assert_true(strlen(info->definition) > 10);
        assert_null(strchr(info->summary, '\n'));
        assert_int_equal(info->axiom != 0, info->shape == HF_SHAPE_AXIOM);
        assert_true(info->session_order || !info->real_time);
    }
}

/* Closure of the arrows above by repeated squaring; compare all pairs. */
static void lattice_is_the_catalogs(void **state)
{
    static bool closed[HF_LEVEL_COUNT][HF_LEVEL_COUNT];

    (void)state;
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        closed[i][i] = true;
    for (size_t a = 0; a < N_ARROWS; a++) {
        for (unsigned k = 1; k < 4 && arrows[a][k]; k++)
            closed[by_name(arrows[a][0])][by_name(arrows[a][k])] = true;
    }
    for (unsigned m = 0; m < HF_LEVEL_COUNT; m++)
        for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
            for (unsigned j = 0; j < HF_LEVEL_COUNT; j++)
                closed[i][j] |= closed[i][m] && closed[m][j];
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        for (unsigned j = 0; j < HF_LEVEL_COUNT; j++)
            if (hf_level_implies((hf_level)i, (hf_level)j) != closed[i][j])
                fail_msg("%s -> %s", hf_level_get((hf_level)i)->name,
                         hf_level_get((hf_level)j)->name);
}

static void direct_arrows_are_the_catalogs(void **state)
{
    unsigned n = 0, expected = 0;

    (void)state;
    for (size_t a = 0; a < N_ARROWS; a++)
        for (unsigned k = 1; k < 4 && arrows[a][k]; k++)
            expected++;
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        for (const hf_level *l = hf_level_get((hf_level)i)->implies;
             *l != HF_LEVEL_COUNT; l++)
            n++;
    assert_int_equal(n, expected);
}

static void repeatable_read_stands_apart(void **state)
{
    (void)state;
    assert_false(
        hf_level_implies(HF_REPEATABLE_READ, HF_MONOTONIC_ATOMIC_VIEW));
    assert_false(hf_level_implies(HF_SNAPSHOT_ISOLATION, HF_REPEATABLE_READ));
    assert_true(hf_level_implies(HF_SERIALIZABLE, HF_REPEATABLE_READ));
    assert_false(hf_level_implies(HF_SERIALIZABLE, HF_READ_YOUR_WRITES));
    assert_false(hf_level_implies(HF_PREFIX, HF_CONSISTENT_VIEW));
    assert_false(hf_level_implies(HF_SNAPSHOT_ISOLATION, HF_PREFIX));
}

/* Calls f with every name of every level. */
static void each_name(void (*f)(hf_level level, const char *name))
{
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const hf_level_info *info = hf_level_get((hf_level)i);

        f(info->level, info->name);
        f(info->level, info->short_name);
        for (const char *const *a = info->aliases; *a; a++)
            f(info->level, *a);
    }
}

static void found_as(hf_level level, const char *name)
{
    if (by_name(name) != level)
        fail_msg("%s is also the name of another level", name);
}

static void every_name_finds_one_level(void **state)
{
    (void)state;
    each_name(found_as);
}

static void names_of_other_tools(void **state)
{
    (void)state;
    assert_int_equal(by_name("PL-3"), HF_SERIALIZABLE);
    assert_int_equal(by_name("pl-2.99"), HF_REPEATABLE_READ);
    assert_int_equal(by_name("PL-2+"), HF_CONSISTENT_VIEW);
    assert_int_equal(by_name("PL-SS"), HF_STRICT_SERIALIZABLE);
    assert_int_equal(by_name("rc"), HF_READ_COMMITTED);
    assert_int_equal(by_name("ra"), HF_READ_ATOMIC);
    assert_int_equal(by_name("cc"), HF_CAUSAL);
    assert_int_equal(by_name("awdit-rc"), HF_READ_COMMITTED_AXIOMATIC);
    assert_int_equal(by_name("strong snapshot isolation"),
                     HF_STRICT_SNAPSHOT_ISOLATION);
    assert_int_equal(by_name("SNAPSHOT_ISOLATION"), HF_SNAPSHOT_ISOLATION);
    assert_int_equal(by_name("oracle-serializable"), HF_SNAPSHOT_ISOLATION);
}

static const char *suggestion(const char *name)
{
    const char *text = "unset";
    hf_level level;

    assert_false(hf_level_find(hf_str_of(name), &level, &text));
    return text;
}

static void unknown_names_get_a_suggestion(void **state)
{
    (void)state;
    assert_string_equal(suggestion("serialisable"), "serializable");
    assert_string_equal(suggestion("snapshot-isolaton"), "snapshot-isolation");
    assert_string_equal(suggestion("casual"), "causal");
    assert_string_equal(suggestion("linear"), "linearizable");
    assert_null(suggestion("update-serializable-or-something-else"));
    assert_null(suggestion(""));
    assert_null(suggestion("qqqqqqq"));
}

/* Every short name stands in the drawing once, between blanks or lines. */
static void diagram_has_every_level(void **state)
{
    const char *text = hf_levels_diagram();

    (void)state;
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const char *name = hf_level_get((hf_level)i)->short_name;
        size_t n = strlen(name);
        unsigned found = 0;

        for (const char *at = strstr(text, name); at;
             at = strstr(at + 1, name)) {
            bool left = at == text || !strchr("RSCPIVMAEUryapmwfs", at[-1]);
            bool right = !strchr("RSCPIVMAEUryapmwfs", at[n]) || !at[n];

            found += left && right;
        }
        if (found != 1)
            fail_msg("%s is %u times in the drawing", name, found);
    }
}

static void page_names_every_level(void **state)
{
    hf_out out;

    (void)state;
    hf_out_init_memory(&out);
    hf_levels_page(&out);
    hf_out_char(&out, '\0');
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        const hf_level_info *info = hf_level_get((hf_level)i);
        char head[80];

        (void)snprintf(head, sizeof(head), "\n### %s\n", info->name);
        assert_non_null(strstr(out.at, head));
        assert_non_null(strstr(out.at, info->definition));
    }
    hf_out_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_complete),
        cmocka_unit_test(lattice_is_the_catalogs),
        cmocka_unit_test(direct_arrows_are_the_catalogs),
        cmocka_unit_test(repeatable_read_stands_apart),
        cmocka_unit_test(every_name_finds_one_level),
        cmocka_unit_test(names_of_other_tools),
        cmocka_unit_test(unknown_names_get_a_suggestion),
        cmocka_unit_test(diagram_has_every_level),
        cmocka_unit_test(page_names_every_level),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

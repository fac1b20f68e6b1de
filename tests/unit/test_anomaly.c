/* Anomalies and special forms: names, levels, examples. */
#include "model/anomaly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "history/text.h"
#include "model/pages.h"
#include "model/special.h"

static const hf_anomaly_info *at(unsigned i)
{
    return hf_anomaly_get((hf_anomaly)i);
}

static void check_texts(const char *name, const char *summary,
                        const char *meaning, const char *remedy)
{
    if (!summary || strlen(summary) < 20 || strchr(summary, '\n') ||
        summary[strlen(summary) - 1] == '.')
        fail_msg("summary of %s", name);
    if (!meaning || strlen(meaning) < 60 || !remedy || strlen(remedy) < 60)
        fail_msg("meaning or remedy of %s", name);
}

static void tables_are_complete(void **state)
{
    const hf_special_form *form;

    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++) {
        assert_int_equal(at(i)->anomaly, i);
        assert_non_null(at(i)->aliases);
        assert_non_null(at(i)->partly_at);
        assert_int_equal(at(i)->cycle, i >= HF_G0 && i < HF_NO_ORDER);
        check_texts(at(i)->name, at(i)->summary, at(i)->meaning, at(i)->remedy);
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++) {
        assert_true(at(form->anomaly)->cycle);
        check_texts(form->name, form->summary, form->meaning, form->remedy);
    }
}

/* ---- names --------------------------------------------------------------- */

typedef struct named {
    const char *text;
    unsigned row;
} named;

static unsigned add(named *list, unsigned n, unsigned row, const char *name,
                    const char *second, const char *const *aliases)
{
    list[n++] = (named){name, row};
    if (second[0])
        list[n++] = (named){second, row};
    for (; *aliases; aliases++)
        list[n++] = (named){*aliases, row};
    assert_true(n < 400);
    return n;
}

static void no_name_means_two_things(void **state)
{
    named list[420];
    unsigned n = 0;
    const hf_special_form *form;

    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        n = add(list, n, i, at(i)->name, at(i)->catalog, at(i)->aliases);
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        n = add(list, n, 1000 + i, form->name, form->catalog, form->aliases);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++)
            if (hf_str_same_name(hf_str_of(list[i].text),
                                 hf_str_of(list[k].text)))
                fail_msg("%s stands twice", list[i].text);
}

static hf_anomaly by_name(const char *name)
{
    hf_anomaly anomaly = HF_ANOMALY_COUNT;

    if (!hf_anomaly_find(hf_str_of(name), &anomaly, NULL))
        fail_msg("no anomaly is called %s", name);
    return anomaly;
}

static void names_are_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        assert_int_equal(by_name(at(i)->name), i);
    assert_int_equal(by_name("g1A"), HF_G1A);
    assert_int_equal(by_name("N5"), HF_G1A);
    assert_int_equal(by_name("G-single-process"), HF_G_SINGLE_SESSION);
    assert_int_equal(by_name("G-nonadjacent-item-process"),
                     HF_G_NONADJACENT_ITEM_SESSION);
    assert_int_equal(by_name("P4"), HF_LOST_UPDATE);
    assert_int_equal(by_name("lost-update"), HF_LOST_UPDATE);
    assert_int_equal(by_name("fuzzy read"), HF_NON_REPEATABLE_READ);
    assert_int_equal(by_name("duplicate_elements"), HF_DUPLICATE_WRITE);
    /* through a special form */
    assert_int_equal(by_name("write skew"), HF_G2_ITEM);
    assert_int_equal(by_name("A5A"), HF_G_SINGLE_ITEM);
    assert_int_equal(by_name("long-fork"), HF_G_NONADJACENT_ITEM);
    assert_string_equal(hf_special_find(HF_STR("A5B"))->name, "write skew");
    assert_null(hf_special_find(HF_STR("G2-item")));
}

static void unknown_names_get_a_suggestion(void **state)
{
    const char *text = "unset";
    hf_anomaly anomaly;

    (void)state;
    assert_false(hf_anomaly_find(HF_STR("wrte skew"), &anomaly, &text));
    assert_string_equal(text, "write skew");
    assert_false(hf_anomaly_find(HF_STR("G-singel"), &anomaly, &text));
    assert_string_equal(text, "G-single");
    assert_false(hf_anomaly_find(HF_STR("qqqqqqqq"), &anomaly, &text));
    assert_null(text);
}

/* ---- levels -------------------------------------------------------------- */

/* A list of weakest levels holds no level that another one of it implies. */
static void check_weakest(const char *name, const hf_level *list)
{
    for (const hf_level *a = list; *a != HF_LEVEL_COUNT; a++)
        for (const hf_level *b = list; *b != HF_LEVEL_COUNT; b++)
            if (a != b && hf_level_implies(*a, *b))
                fail_msg("levels of %s", name);
}

static void weakest_levels_are_incomparable(void **state)
{
    const hf_special_form *form;

    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++) {
        check_weakest(at(i)->name, at(i)->forbidden_at);
        check_weakest(at(i)->name, at(i)->partly_at);
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        check_weakest(form->name, form->forbidden_at);
}

static void forbidding_is_monotone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        for (unsigned s = 0; s < HF_LEVEL_COUNT; s++)
            for (unsigned w = 0; w < HF_LEVEL_COUNT; w++)
                if (hf_level_implies((hf_level)s, (hf_level)w) &&
                    hf_level_forbids((hf_level)w, (hf_anomaly)i) &&
                    !hf_level_forbids((hf_level)s, (hf_anomaly)i))
                    fail_msg("%s", at(i)->name);
}

/* What a form forbids, its class forbids at least partly, and the reverse. */
static void forms_agree_with_their_class(void **state)
{
    const hf_special_form *form;

    (void)state;
    for (unsigned i = 0; (form = hf_special_at(i)); i++) {
        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
            hf_level level = (hf_level)l;
            bool all = hf_level_forbids(level, form->anomaly);
            bool some = hf_level_forbids_partly(level, form->anomaly);
            bool own = hf_level_forbids_form(level, form);

            if ((all && !own) || (own && !all && !some))
                fail_msg("%s at %s", form->name, hf_level_get(level)->name);
        }
    }
}

/* A row of the catalog's matrix, in the order of hf_level. */
static void check_row(const char *name, const char *row)
{
    const hf_special_form *form = hf_special_find(hf_str_of(name));
    hf_anomaly anomaly = by_name(name);

    assert_int_equal(strlen(row), HF_LEVEL_COUNT);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        bool forbids = form ? hf_level_forbids_form((hf_level)l, form)
                            : hf_level_forbids((hf_level)l, anomaly);

        if (forbids != (row[l] == 'F'))
            fail_msg("%s at %s", name, hf_level_get((hf_level)l)->name);
    }
}

static void levels_are_the_catalogs(void **state)
{
    (void)state;
    check_row("garbage read", "FFFFFFFFFFFFFFFFFFFFFF");
    check_row("unexplained abort", "......................");
    check_row("G0", "FFFFFFFFFFFFFFFFFFFFFF");
    check_row("G1a", ".FFFFFFFFFFFFFFFFFFFFF");
    check_row("G1c", ".FFFFFFFFFFFFFFFFFFFFF");
    check_row("non-repeatable read", "....F.....FFFFFFFFFFFF");
    check_row("lost update", "...........FFFF.FFFFFF");
    check_row("phantom", "....F.....FF.FFFFFFFFF");
    check_row("read skew", "....F.....FFFFFFFFFFFF");
    check_row("OTV", "..FFF.....FFFFFFFFFFFF");
    check_row("causality violation", "........F.FFFFFFFFFFFF");
    check_row("long fork", "............F..FFFFFFF");
    check_row("write skew", "............F......FFF");
    check_row("read-only anomaly", "............F......FFF");
    check_row("read-your-writes violation", "....FF...FF...FF.FF.FF");
    check_row("monotonic-reads violation", "......F..FF...FF.FF.FF");
    check_row("monotonic-writes violation", ".......F.FF...FF.FF.FF");
    check_row("writes-follow-reads violation", "........F.F...FF.FF.FF");
    check_row("G0-session", "..F.FFFFFFF...FF.FF.FF");
    check_row("G1c-session", "..F.FFFFFFF...FF.FF.FF");
    check_row("session long fork", "...............F.FF.FF");
    check_row("stale read", "..................F..F");
    check_row("G1c-realtime", "..................F..F");
    check_row("two-ids", ".....................F");
    check_row("predicate long fork", "...............FFFFFFF");
    check_row("predicate write skew", "...................FFF");
    check_row("G2-session", "....................FF");
}

/* ---- examples ------------------------------------------------------------ */

static hf_history *parse(const char *name, const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("example of %s: %s", name, err.text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("example of %s: %s", name, err.text);
    return h;
}

static bool has_predicate(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        if (hf_op_has_predicate(hf_op_kind_of(h, op)))
            return true;
    }
    return false;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n > k && strcmp(name + n - k, suffix) == 0;
}

/* Sessions of several transactions, times and conditions are there exactly
 * if the class says so. */
static void check_example(const char *class, const char *name, const char *text)
{
    hf_history *h = parse(name, text);
    bool session = has_suffix(class, "-session");
    bool realtime = has_suffix(class, "-realtime");

    assert_in_range(h->n_txns, 1, 5);
    assert_in_range(h->n_ops, 1, 7);
    if (session != (h->n_sessions < h->n_txns))
        fail_msg("sessions in the example of %s", name);
    if (realtime != (h->txn_begin != NULL))
        fail_msg("times in the example of %s", name);
    if (strcmp(class, "G0") != 0 && strncmp(class, "G1c", 3) != 0 &&
        strncmp(class, "G0-", 3) != 0 &&
        has_predicate(h) == (strstr(class, "-item") != NULL))
        fail_msg("conditions in the example of %s", name);
    hf_history_free(h);
}

static void examples_parse(void **state)
{
    const hf_special_form *form;

    (void)state;
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++) {
        if (at(i)->cycle)
            check_example(at(i)->name, at(i)->name, at(i)->example);
        else
            hf_history_free(parse(at(i)->name, at(i)->example));
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        check_example(at(form->anomaly)->name, form->name, form->example);
}

static void page_shows_every_example(void **state)
{
    const hf_special_form *form;
    hf_out out;

    (void)state;
    hf_out_init_memory(&out);
    hf_anomalies_page(&out);
    hf_out_char(&out, '\0');
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++)
        assert_non_null(strstr(out.at, at(i)->example));
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        assert_non_null(strstr(out.at, form->example));
    hf_out_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(no_name_means_two_things),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(unknown_names_get_a_suggestion),
        cmocka_unit_test(weakest_levels_are_incomparable),
        cmocka_unit_test(forbidding_is_monotone),
        cmocka_unit_test(forms_agree_with_their_class),
        cmocka_unit_test(levels_are_the_catalogs),
        cmocka_unit_test(examples_parse),
        cmocka_unit_test(page_shows_every_example),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

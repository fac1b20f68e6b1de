/* Boxes over several columns: the order of a space against a loop; and what the
 * bounds of a condition say against the condition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "history/builder.h"
#include "verify/columns.h"
#include "verify/verifier.h"

#define MOST_KEYS 120
#define VALUES 12

typedef struct fixture {
    hf_rng r;
    hf_history *h;
    hf_verifier *v;
} fixture;

static int below(fixture *f, int n)
{
    return (int)hf_rng_below(&f->r, (uint32_t)n);
}

/* A number of few digits, or of more than a double keeps. */
static void spell(fixture *f, char ret[40])
{
    static const char *const ends[] = {".5",
                                       ".25",
                                       ".75",
                                       ".10000000000000001",
                                       ".4999999999999999999",
                                       ".50000000000000000000001"};
    int pick = below(f, 24);

    (void)snprintf(ret, 40, "%s%d%s", below(f, 8) ? "" : "-", below(f, VALUES),
                   pick < 10   ? ""
                   : pick < 20 ? ends[pick % 3]
                               : ends[3 + pick % 3]);
}

/* A value of a column: most are of its kind, some are of another, null or not
 * there. */
static void add_cell(fixture *f, char *text, size_t size, const char *name,
                     bool is_text)
{
    int pick = below(f, 100);
    size_t n = strlen(text);
    const char *comma = text[n - 1] == '{' ? "" : ",";
    char number[40];

    spell(f, number);
    text += n;
    size -= n;
    if (pick < 4)
        return;
    if (pick < 8)
        (void)snprintf(text, size, "%s\"%s\":null", comma, name);
    else if ((pick < 12) != is_text)
        (void)snprintf(text, size, "%s\"%s\":\"%c%s\"", comma, name,
                       'a' + below(f, VALUES), below(f, 3) ? "" : "x");
    else
        (void)snprintf(text, size, "%s\"%s\":%s", comma, name, number);
}

static void open_table(fixture *f, uint64_t seed)
{
    hf_builder *b = hf_builder_new();
    hf_string_id table = hf_builder_string(b, "t", 1);
    hf_error err;
    int n;

    hf_rng_seed(&f->r, seed);
    n = 1 + below(f, MOST_KEYS);
    for (int i = 0; i < n; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_fresh(b));
        hf_key_id key = hf_builder_key_row(
            b, table, (hf_scalar){.type = HF_INT, .number = i});
        char text[200] = "{";

        add_cell(f, text, sizeof(text), "a", false);
        add_cell(f, text, sizeof(text), "b", false);
        add_cell(f, text, sizeof(text), "d", true);
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "}");
        (void)hf_builder_op(
            b, t, HF_OP_WRITE, key,
            hf_builder_value(b, key,
                             (hf_scalar){HF_ROW, 0, text, strlen(text)}));
    }
    assert_int_equal(hf_builder_finish(b, &f->h, &err), HF_OK);
    f->v = hf_verify_open(f->h);
    hf_verify_set_eager(f->v);
    hf_verify_set_dialect(f->v, (hf_sql_dialect)(seed % HF_SQL_DIALECT_COUNT));
    assert_int_equal(hf_facts_build(f->v), true);
}

static void close_table(fixture *f)
{
    hf_verify_close(f->v);
    hf_history_free(f->h);
}

/* A comparison of one column, or none of its columns. */
static void add_test(fixture *f, char *text, size_t size)
{
    static const char *const signs[] = {"<", "<=", ">", ">=", "=", "<>"};
    size_t n = strlen(text);
    const char *name = below(f, 2) ? "a" : "b";
    const char *sign = signs[below(f, 6)];
    char x[40], y[40];
    int letter = 'a' + below(f, VALUES);

    spell(f, x);
    spell(f, y);
    text += n;
    size -= n;
    switch (below(f, 8)) {
    case 0:
        (void)snprintf(text, size, "%s BETWEEN %s AND %d", name, x,
                       below(f, VALUES + 4));
        break;
    case 1:
        (void)snprintf(text, size, "%s IN (%s, %d, %s)", name, x,
                       below(f, VALUES), y);
        break;
    case 2:
        (void)snprintf(text, size, "d = '%c'", letter);
        break;
    case 3:
        (void)snprintf(text, size, "NOT (%s %s %s)", name, sign, x);
        break;
    case 4:
        (void)snprintf(text, size, "d %s '%c'", sign, letter);
        break;
    case 5:
        (void)snprintf(text, size,
                       below(f, 2) ? "d LIKE '%c%%'" : "NOT (d >= '%c')",
                       letter);
        break;
    default:
        (void)snprintf(text, size, "%s %s %s", name, sign, x);
    }
}

static void make_condition(fixture *f, char *text, size_t size)
{
    int n = 1 + below(f, 4);

    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        bool group = hf_rng_chance(&f->r, 20);

        (void)snprintf(text + strlen(text), size - strlen(text), "%s%s",
                       i > 0 ? " AND " : "", group ? "(" : "");
        add_test(f, text, size);
        if (!group)
            continue;
        (void)snprintf(text + strlen(text), size - strlen(text), " %s ",
                       below(f, 2) ? "OR" : "AND");
        add_test(f, text, size);
        (void)snprintf(text + strlen(text), size - strlen(text), ")");
    }
}

typedef struct counts {
    unsigned long spaces, exact, tested;
    unsigned long decimals, texts; /* rows with a decimal; conditions with the
                                      order of texts; in exact intervals */
} counts;

static bool has_decimal(const fixture *f, uint32_t version)
{
    hf_scalar row = hf_value_scalar(f->h, hf_version_value(f->v, version));

    return memchr(row.text, '.', row.length) != NULL;
}

/* Every version is in one interval at most; those in exact ones satisfy the
 * condition, those in none do not. */
static void check_search(fixture *f, const char *text, counts *n)
{
    /* it borrows the text */
    const hf_condition *c = hf_match_compile(
        f->v, hf_str_of(hf_arena_text(&f->v->kept.arena, text, strlen(text))));
    const hf_column *column = hf_column_for(f->v, f->h->key_table[0], c);
    uint32_t all = hf_n_slots(f->v) + f->h->n_keys;
    uint8_t *met = hf_zeros(f->v, all, 1);
    hf_search s = {0};

    hf_column_search(f->v, column, c, &s);
    n->spaces += column->n_axes > 0;
    for (size_t i = 0; i < s.list.n; i++) {
        assert_true(s.list.at[i].from < s.list.at[i].to);
        for (uint32_t x = s.list.at[i].from; x < s.list.at[i].to; x++) {
            assert_int_equal(met[column->version[x]], 0);
            assert_int_equal(column->rank[column->version[x]], x);
            assert_int_equal(hf_search_has(&s, x), i < s.n_exact);
            met[column->version[x]] = i < s.n_exact ? 2 : 1;
        }
    }
    for (uint32_t i = 0; i < hf_n_slots(f->v); i++) {
        hf_match m = hf_predicate_match(f->v, c, hf_version_value(f->v, i));

        n->tested++;
        n->exact += met[i] == 2;
        n->decimals += met[i] == 2 && has_decimal(f, i);
        n->texts += met[i] == 2 && (strstr(text, "d <") || strstr(text, "d >"));
        if ((met[i] == 2 && m != HF_MATCH_YES) ||
            (met[i] == 0 && m == HF_MATCH_YES)) {
            hf_scalar row = hf_value_scalar(f->h, hf_version_value(f->v, i));

            print_message("%s on %.*s: %d, but %d\n", text, (int)row.length,
                          row.text, (int)m, (int)met[i]);
            fail();
        }
    }
    hf_search_release(&s);
}

static void searches_find_what_conditions_say(void **state)
{
    counts n = {0, 0, 0, 0, 0};

    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        fixture f = {.h = NULL};

        open_table(&f, seed);
        for (int i = 0; i < 60; i++) {
            char text[400];

            make_condition(&f, text, sizeof(text));
            check_search(&f, text, &n);
        }
        close_table(&f);
    }
    assert_true(n.spaces > 5000);
    assert_true(n.exact > 20000);
    assert_true(n.decimals > 10000);
    assert_true(n.texts > 10000);
    assert_true(n.exact < n.tested / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_find_what_conditions_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sql_exec.c: statements on tables in memory, and the database oracle.
 *
 * Random statements are compared with real databases in prop/; here are the
 * corners: atomic statements, conflicts, parameters, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "sql/exec.h"
#include "sql/oracle.h"
#include "sql/value.h"

/* ---- statements --------------------------------------------------------- */

typedef struct fixture {
    hf_sql_database *db;
    hf_sql_cache *cache;
    hf_sql_result result;
    hf_out text;
} fixture;

static int set_up(void **state)
{
    static const hf_sql_column columns[] = {
        {HF_STR("id"), HF_SQL_INT, HF_SQL_NOTE_INT4, -1, true},
        {HF_STR("a"), HF_SQL_INT, HF_SQL_NOTE_INT4, -1, false},
        {HF_STR("s"), HF_SQL_TEXT, 0, -1, false},
    };
    const uint32_t key = 0;
    fixture *f = HF_NEW(fixture);

    f->db = hf_sql_database_new(HF_SQL_POSTGRES);
    f->cache = hf_sql_cache_new(HF_SQL_POSTGRES);
    hf_sql_table_add(f->db, HF_STR("t"), columns, 3, &key, 1);
    hf_sql_table_add(f->db, HF_STR("u"), columns, 3, &key, 1);
    hf_sql_result_init(&f->result);
    hf_out_init_memory(&f->text);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    hf_out_release(&f->text);
    hf_sql_result_release(&f->result);
    hf_sql_cache_free(f->cache);
    hf_sql_database_free(f->db);
    hf_free(f);
    return 0;
}

/* The rows as "1,2 3,4", or the affected count as "#2", or "!reason". */
static const char *run_with(fixture *f, const char *text,
                            const hf_sql_value *params, uint32_t n)
{
    hf_error err = {0};
    const hf_sql_statement *s = hf_sql_parse(f->cache, hf_str_of(text), &err);
    const hf_sql_result *r = &f->result;
    hf_arena arena;

    hf_arena_init(&arena);
    f->text.n = 0;
    if (!s || hf_sql_execute(f->db, s, params, n, &f->result, &err) != HF_OK) {
        hf_out_format(&f->text, "!%s", err.text);
    } else if (r->n_columns == 0) {
        hf_out_format(&f->text, "#%u", (unsigned)r->affected);
    } else {
        for (uint64_t i = 0; i < r->n_rows * r->n_columns; i++) {
            const hf_sql_value *v = &r->cells[i];

            hf_out_text(&f->text, i == 0                  ? ""
                                  : i % r->n_columns == 0 ? " "
                                                          : ",");
            if (v->type == HF_SQL_NULL)
                hf_out_text(&f->text, "-");
            else
                hf_out_str(&f->text, hf_sql_print(v, HF_SQL_POSTGRES, &arena));
        }
    }
    hf_out_char(&f->text, '\0');
    hf_arena_release(&arena);
    return f->text.at;
}

#define RUN(text, expected)                                                    \
    assert_string_equal(run_with(*state, text, NULL, 0), expected)

static void fails_with(fixture *f, const char *text, const char *reason)
{
    const char *said = run_with(f, text, NULL, 0);

    if (said[0] != '!' || !strstr(said, reason))
        fail_msg("%s: \"%s\" without \"%s\"", text, said, reason);
}

static void statements_change_tables(void **state)
{
    RUN("INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, NULL, NULL)",
        "#3");
    RUN("SELECT * FROM t ORDER BY id DESC", "3,-,- 2,20,y 1,10,x");
    RUN("UPDATE t SET a = id, id = a + 1 WHERE a = 10 RETURNING id, a", "11,1");
    RUN("DELETE FROM t WHERE a IS NULL RETURNING id", "3");
    RUN("SELECT id FROM t WHERE id = 11", "11");
    RUN("SELECT id FROM t WHERE id = 1", "");
    RUN("INSERT INTO t (s, id) SELECT s || s, id + 1 FROM t WHERE id = 2",
        "#1");
    RUN("SELECT id, a, s FROM t WHERE s = 'yy'", "3,-,yy");
    RUN("DELETE FROM t", "#3");
    RUN("SELECT count(*), sum(a), max(s) FROM t", "0,-,-");
}

static void conflicts(void **state)
{
    RUN("INSERT INTO t VALUES (1, 10, 'x')", "#1");
    fails_with(*state, "INSERT INTO t VALUES (2, 1, 'n'), (1, 1, 'n')",
               "primary key");
    RUN("SELECT count(*) FROM t", "1"); /* nothing of it was done */
    RUN("INSERT INTO t VALUES (2, 1, 'n'), (1, 1, 'n') ON CONFLICT DO NOTHING",
        "#1");
    RUN("INSERT INTO t VALUES (1, 5, 'n') ON CONFLICT (id) DO UPDATE SET "
        "a = t.a + excluded.a WHERE t.a > 0 RETURNING a, s",
        "15,x");
    RUN("INSERT INTO t VALUES (1, 5, 'n') ON CONFLICT (id) DO UPDATE SET "
        "a = 0 WHERE t.a < 0",
        "#0");
    fails_with(*state,
               "INSERT INTO t VALUES (1, 5, 'n') ON CONFLICT (a) DO NOTHING",
               "primary key");
    fails_with(*state,
               "INSERT INTO t VALUES (1, 5, 'n') ON CONFLICT (id) DO UPDATE "
               "SET a = a + 1",
               "ambiguous");
    fails_with(*state, "UPDATE t SET id = 2 WHERE id = 1", "primary key");
    fails_with(*state, "UPDATE t SET id = 3 - id", "over each other");
    fails_with(*state, "UPDATE t SET id = NULL", "NULL");
    RUN("SELECT id, a FROM t ORDER BY id", "1,15 2,1");
}

static void a_failed_statement_changes_nothing(void **state)
{
    RUN("INSERT INTO t VALUES (1, 1, 'a'), (2, 0, 'b'), (3, 1, 'c')", "#3");
    fails_with(*state, "UPDATE t SET a = 10 / a", "zero");
    fails_with(*state, "UPDATE t SET a = a + 2147483647", "range");
    fails_with(*state, "DELETE FROM t WHERE 10 / a > 0", "zero");
    fails_with(*state, "INSERT INTO t SELECT id + 10, 10 / a, s FROM t",
               "zero");
    fails_with(*state, "UPDATE t SET a = 1 RETURNING 10 / (id - 2)", "zero");
    RUN("SELECT id, a FROM t ORDER BY id", "1,1 2,0 3,1");
}

static void queries(void **state)
{
    RUN("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, NULL)", "#3");
    RUN("INSERT INTO u VALUES (1, 1, 'p'), (2, 2, 'q'), (3, NULL, 'r')", "#3");
    RUN("SELECT t.id, u.s FROM t JOIN u ON t.a = u.a ORDER BY 1",
        "1,p 2,p 3,q");
    RUN("SELECT t.id, u.s FROM t, u WHERE t.a = u.a AND u.id < 2 ORDER BY 1",
        "1,p 2,p");
    RUN("SELECT u.id, t.id FROM u LEFT JOIN t ON t.a = u.a AND t.id > 1 "
        "ORDER BY 1",
        "1,2 2,3 3,-");
    RUN("SELECT u.id FROM u LEFT JOIN t USING (a) WHERE t.id IS NULL", "3");
    RUN("SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 1", "1,2");
    RUN("SELECT a + 1, max(id) FROM t GROUP BY a + 1 ORDER BY 2 DESC",
        "3,3 2,2");
    RUN("SELECT DISTINCT a FROM t ORDER BY a DESC LIMIT 1 OFFSET 1", "1");
    RUN("SELECT id FROM t ORDER BY s", "1 2 3");
    RUN("SELECT id FROM t ORDER BY s NULLS FIRST, id", "3 1 2");
    RUN("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND "
        "u.id = t.id)",
        "1");
    RUN("SELECT x.n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x ORDER "
        "BY x.n",
        "1 2");
    RUN("SELECT (SELECT max(id) FROM u), (VALUES (7))", "3,7");
    RUN("VALUES (1, 'x'), (2, 'y')", "1,x 2,y");
    RUN("SELECT count(DISTINCT a), count(s), avg(a) FROM t",
        "2,2,1.3333333333333333");
    fails_with(*state, "SELECT id, count(*) FROM t", "GROUP BY");
    fails_with(*state, "SELECT id FROM t, u", "ambiguous");
    fails_with(*state, "SELECT z FROM t", "no column");
    fails_with(*state, "SELECT 1 FROM nowhere", "no table");
    fails_with(*state, "SELECT (SELECT id FROM t)", "more than one row");
    fails_with(*state, "SELECT s + 1 FROM t", "no operator");
    fails_with(*state, "SELECT 1 WHERE 5", "truth");
    fails_with(*state, "SELECT 1 UNION SELECT 2", "UNION");
    fails_with(*state, "WITH x AS (SELECT 1) SELECT 1", "WITH");
    fails_with(*state, "CREATE TABLE x (a int)", "other than SELECT");
    fails_with(*state, "SELECT rank() OVER () FROM t", "window");
}

static void parameters(void **state)
{
    fixture *f = *state;
    hf_sql_value v[2] = {hf_sql_of_int(7), hf_sql_of_text(HF_STR("x'y"))};

    assert_string_equal(
        run_with(f, "INSERT INTO t (id, s) VALUES ($1, $2)", v, 2), "#1");
    assert_string_equal(run_with(f, "SELECT s FROM t WHERE id=? AND s=?", v, 2),
                        "x'y");
    assert_string_equal(
        run_with(f, "SELECT id FROM t WHERE id = :k OR a = :k", v, 1), "7");
    v[1] = hf_sql_of_text(HF_STR("7")); /* a text where an integer stands */
    assert_string_equal(
        run_with(f, "SELECT s FROM t WHERE id = $2 AND $1 > 0", v, 2), "x'y");
    assert_string_equal(run_with(f, "SELECT s FROM t WHERE id = $3", v, 2),
                        "!there is no parameter $3");
    assert_string_equal(run_with(f, "SELECT $1, ?", v, 2),
                        "!parameters are both numbered and not");
}

/* Many rows through the index, the gaps and the growth of the table. */
static void tables_grow_and_shrink(void **state)
{
    fixture *f = *state;
    hf_sql_value v[2] = {{0}};
    const hf_sql_table *t = hf_sql_table_find(f->db, HF_STR("t"));

    for (int i = 0; i < 3000; i++) {
        v[0] = hf_sql_of_int(i * 7);
        v[1] = hf_sql_of_int(i % 10);
        assert_string_equal(
            run_with(f, "INSERT INTO t (id, a) VALUES ($1, $2)", v, 2), "#1");
    }
    RUN("DELETE FROM t WHERE a <> 3", "#2700");
    assert_int_equal(t->n_rows, 300);
    assert_true(t->n_places < 1000); /* tidied */
    for (int i = 0; i < 3000; i++) {
        v[0] = hf_sql_of_int(i * 7);
        assert_string_equal(run_with(f, "SELECT a FROM t WHERE id = $1", v, 1),
                            i % 10 == 3 ? "3" : "");
    }
    RUN("UPDATE t SET id = id + 100000, a = 4", "#300");
    RUN("SELECT count(*), min(id), min(a) FROM t", "300,100021,4");
    RUN("SELECT a FROM t WHERE id = 100021", "4");
    RUN("SELECT a FROM t WHERE id = 21", "");
}

/* ---- the database oracle ------------------------------------------------ */

static void oracle_answers(void **state)
{
    const hf_sql_oracle_kind *k = &hf_sql_oracle_sqlite;
    hf_sql_oracle *o = k->open(NULL);
    const hf_str names[] = {HF_STR("value"), HF_STR("s\"x")};
    const hf_sql_value cells[] = {
        hf_sql_of_int(1),    hf_sql_of_text(HF_STR("abc")),
        hf_sql_of_int(5),    hf_sql_null(),
        hf_sql_of_real(2.5), hf_sql_of_text(HF_STR("")),
    };
    hf_sql_question q = {.n_columns = 2, .names = names, .n_rows = 3};
    hf_sql_truth t[3];

    (void)state;
    q.cells = cells;
    assert_non_null(o);
    q.condition = HF_STR("value > 2");
    assert_int_equal(k->ask(o, &q, NULL, t, NULL), HF_OK);
    assert_int_equal(t[0], HF_SQL_FALSE);
    assert_int_equal(t[1], HF_SQL_TRUE);
    assert_int_equal(t[2], HF_SQL_TRUE);
    q.condition = HF_STR("\"s\"\"x\" GLOB 'a*' OR instr(\"s\"\"x\", 'z')");
    assert_int_equal(k->ask(o, &q, NULL, t, NULL), HF_OK);
    assert_int_equal(t[0], HF_SQL_TRUE);
    assert_int_equal(t[1], HF_SQL_UNKNOWN);
    assert_int_equal(t[2], HF_SQL_FALSE);
    q.n_rows = 0;
    assert_int_equal(k->ask(o, &q, NULL, t, NULL), HF_OK);
    k->close(o);
    k->close(NULL);
}

/* Whatever the text is: an expression over the row, or refused. */
static void oracle_refuses_more_than_an_expression(void **state)
{
    static const char *const texts[] = {
        "",
        "value >",
        "1) OR (1",
        "1; DROP TABLE r",
        "1 -- x",
        "1 /* x",
        "1 FROM r",
        "value IN (SELECT 1)",
        "EXISTS (SELECT 1 FROM r)",
        "(SELECT count(*) FROM sqlite_master)",
        "count(*) = 1",
        "max(value)",
        "row_number() OVER () = 1",
        "load_extension('x')",
        "readfile('x')",
        "random() > 0",
        "value = ?",
        "value = :x",
        "'a",
        "\"nothere\" = 1",
        "[a",
        "1) UNION SELECT 1, (2",
        "current_timestamp > ''",
        "zeroblob(100000000) IS NULL",
        "value = 1) FROM r; ATTACH 'x' AS y; --",
        "(WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x FROM c) SELECT "
        "x FROM c)"};
    const hf_sql_oracle_kind *k = &hf_sql_oracle_sqlite;
    hf_sql_oracle *o = k->open(NULL);
    const hf_str name = HF_STR("value");
    hf_sql_value cell = hf_sql_of_int(1);
    hf_sql_question q = {.n_columns = 1, .names = &name, .n_rows = 1};
    hf_sql_truth t;

    (void)state;
    q.cells = &cell;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        hf_error err = {0};

        q.condition = hf_str_of(texts[i]);
        if (k->ask(o, &q, NULL, &t, &err) == HF_OK)
            fail_msg("taken: %s", texts[i]);
        assert_true(err.text[0] != '\0');
        /* and it still works */
        q.condition = HF_STR("value = 1");
        assert_int_equal(k->ask(o, &q, NULL, &t, NULL), HF_OK);
        assert_int_equal(t, HF_SQL_TRUE);
    }
    k->close(o);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void oracle_stops_when_told(void **state)
{
    const hf_sql_oracle_kind *k = &hf_sql_oracle_sqlite;
    hf_sql_oracle *o = k->open(NULL);
    const hf_str name = HF_STR("value");
    const uint32_t n = 200000;
    hf_sql_value *cells = HF_NEW_ZEROED(hf_sql_value, n);
    hf_sql_truth *t = HF_NEW_ZEROED(hf_sql_truth, n);
    hf_sql_question q = {.n_columns = 1, .names = &name, .n_rows = n};
    hf_budget budget = {.interrupted = always};
    hf_error err = {0};

    (void)state;
    q.cells = cells;
    q.condition = HF_STR("length(hex(value)) > 3");
    hf_budget_start(&budget);
    assert_int_equal(k->ask(o, &q, &budget, t, &err), HF_ERR_LIMIT);
    assert_string_equal(err.text, "interrupted");
    assert_int_equal(k->ask(o, &q, NULL, t, NULL), HF_OK);
    hf_free(cells);
    hf_free(t);
    k->close(o);
}

#define WITH_TABLES(test)                                                      \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TABLES(statements_change_tables),
        WITH_TABLES(conflicts),
        WITH_TABLES(a_failed_statement_changes_nothing),
        WITH_TABLES(queries),
        WITH_TABLES(parameters),
        WITH_TABLES(tables_grow_and_shrink),
        cmocka_unit_test(oracle_answers),
        cmocka_unit_test(oracle_refuses_more_than_an_expression),
        cmocka_unit_test(oracle_stops_when_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

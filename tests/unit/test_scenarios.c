/* test_scenarios.c: SQL scenarios of other tools as histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/scenario.h"
#include "formats_util.h"

#include "describe_util.h"

/* ---- statements ---------------------------------------------------------- */

static void test_split(void **state)
{
    static const char *const wanted[] = {"select ';' from \"a;b\"",
                                         "do $x$ begin; end $x$",
                                         "select 1 /* ; */ + 2"};
    hf_str rest =
        HF_STR(" ;select ';' from \"a;b\"; do $x$ begin; end $x$ ;\n"
               "-- a comment; here\n select 1 /* ; */ + 2;;/* x */ ; end");
    hf_str statement;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(hf_sql_next(&rest, &statement));
        assert_true(hf_str_eq(statement, hf_str_of(wanted[i])));
    }
    assert_true(hf_sql_next(&rest, &statement));
    assert_true(hf_str_eq(statement, HF_STR("end")));
    assert_false(hf_sql_next(&rest, &statement));
    rest = HF_STR("select 'open");
    assert_true(hf_sql_next(&rest, &statement));
    assert_false(hf_sql_next(&rest, &statement));
}

static void test_classify(void **state)
{
    static const struct {
        const char *text;
        hf_sql_class class_;
        uint8_t level;
    } cases[] = {
        {"BEGIN ISOLATION LEVEL REPEATABLE READ", HF_SQL_BEGIN,
         HF_REPEATABLE_READ},
        {"start transaction", HF_SQL_BEGIN, HF_LEVEL_UNSET},
        {"START SLAVE", HF_SQL_OTHER, HF_LEVEL_UNSET},
        {"Commit work", HF_SQL_COMMIT, HF_LEVEL_UNSET},
        {"commit prepared 'a'", HF_SQL_OTHER, HF_LEVEL_UNSET},
        {"end", HF_SQL_COMMIT, HF_LEVEL_UNSET},
        {"ABORT", HF_SQL_ROLLBACK, HF_LEVEL_UNSET},
        {"rollback to savepoint f", HF_SQL_ROLLBACK_TO, HF_LEVEL_UNSET},
        {"rollback work to f", HF_SQL_ROLLBACK_TO, HF_LEVEL_UNSET},
        {"set transaction isolation level serializable", HF_SQL_SET_LEVEL,
         HF_SERIALIZABLE},
        {"set session transaction isolation level read uncommitted",
         HF_SQL_SET_LEVEL, HF_READ_UNCOMMITTED},
        {"set transaction isolation level snapshot", HF_SQL_SET_LEVEL,
         HF_SNAPSHOT_ISOLATION},
        {"set x = 1", HF_SQL_OTHER, HF_LEVEL_UNSET},
        {"update t set begin = 1", HF_SQL_OTHER, HF_LEVEL_UNSET},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_str s = hf_str_of(cases[i].text);

        assert_int_equal(hf_sql_classify(s), cases[i].class_);
        assert_int_equal(hf_sql_level(s), cases[i].level);
    }
}

/* ---- PostgreSQL's isolation tests ---------------------------------------- */

static const char spec_sample[] =
    "# a test\n"
    "setup { CREATE TABLE t (a int); INSERT INTO t VALUES (1); }\n"
    "teardown { DROP TABLE t; }\n"
    "session s1\n"
    "setup { BEGIN ISOLATION LEVEL SERIALIZABLE; }\n"
    "step r1 { SELECT a FROM t; }\n"
    "step c1 { COMMIT; }\n"
    "session \"s2\"\n"
    "step \"w2\" { UPDATE t SET a = 2; }\n";

static void test_pg_spec(void **state)
{
    char text[sizeof(spec_sample) + 100];
    hf_history *h;

    (void)state;
    hf_history_free(assert_described(
        "pg-isolation-spec", spec_sample,
        "setup unknown [- -]: sql CREATE TABLE t (a int)\n"
        "setup unknown [- -]: sql INSERT INTO t VALUES (1)\n"
        "s1 unknown [- -] SER: sql BEGIN ISOLATION LEVEL SERIALIZABLE | sql "
        "SELECT a FROM t | sql COMMIT\n"
        "s2 unknown [- -]: sql UPDATE t SET a = 2\n"
        "teardown unknown [- -]: sql DROP TABLE t\n"));
    (void)snprintf(text, sizeof(text), "%s%s", spec_sample,
                   "permutation r1 w2(*) \"c1\" # one\n");
    h = assert_described(
        "pg-isolation-spec", text,
        "setup unknown [0 -]: sql CREATE TABLE t (a int) @0-1\n"
        "setup unknown [0 -]: sql INSERT INTO t VALUES (1) @0-1\n"
        "s1 unknown [2 -] SER: sql BEGIN ISOLATION LEVEL SERIALIZABLE @2-3 | "
        "sql SELECT a FROM t @4-5 | sql COMMIT @8-9\n"
        "s2 unknown [6 -]: sql UPDATE t SET a = 2 @6-7\n"
        "teardown unknown [10 -]: sql DROP TABLE t @10-11\n");
    assert_int_equal(h->time_unit, HF_TIME_UNIT_EVENT);
    assert_int_equal(h->txn_line[3], 9);
    hf_history_free(h);
    (void)snprintf(text, sizeof(text), "%s%s", spec_sample,
                   "permutation r1 w2 c1\npermutation w2 r1 c1\n");
    h = import_text("pg-isolation-spec", text);
    assert_int_equal(h->n_txns, 10);
    assert_true(hf_str_eq(hf_string(h, h->session_name[h->txn_session[7]]),
                          HF_STR("2:s1")));
    hf_history_free(h);
}

static void test_pg_spec_refusals(void **state)
{
    (void)state;
    assert_refused_at("pg-isolation-spec", "session s1\nstep a { BEGIN; \n", 2,
                      "closed with \"}\"");
    assert_refused_at("pg-isolation-spec", "step a { BEGIN; }", 1,
                      "a session before its steps");
    assert_refused_at("pg-isolation-spec",
                      "session s\nstep a { }\nstep a { x }", 3,
                      "two steps are called \"a\"");
    assert_refused_at("pg-isolation-spec",
                      "session s\nstep a { x }\npermutation a b\n", 3,
                      "the name of a step");
    assert_refused_at("pg-isolation-spec", "session s\nfoo\n", 2,
                      "session, step or permutation");
    assert_refused_at("pg-isolation-spec", "", 1, "at least one step");
    assert_refused_at("pg-isolation-spec",
                      "session s\nstep a {x}\npermutation a(", 3,
                      "closed with \")\"");
    (void)import_all_prefixes("pg-isolation-spec", spec_sample);
}

static const char out_sample[] = "Parsed test spec with 2 sessions\n"
                                 "\n"
                                 "starting permutation: r1 w2 c1 c2\n"
                                 "step r1: SELECT a, b\n"
                                 "  FROM t;\n"
                                 "a|b   \n"
                                 "-+----\n"
                                 "1|x y \n"
                                 "2|    \n"
                                 "(2 rows)\n"
                                 "\n"
                                 "step w2: UPDATE t SET a = 2; <waiting ...>\n"
                                 "step c1: COMMIT;\n"
                                 "step w2: <... completed>\n"
                                 "ERROR:  could not serialize access\n"
                                 "step c2: COMMIT;\n"
                                 "\n"
                                 "starting permutation: w2 r1 c2 c1\n"
                                 "step w2: UPDATE t SET a = 2;\n"
                                 "step r1: SELECT a, b\n"
                                 "  FROM t;\n"
                                 "a|b\n"
                                 "-+-\n"
                                 "(0 rows)\n"
                                 "\n"
                                 "step c2: COMMIT;\n"
                                 "step c1: COMMIT;\n";

static void test_pg_out(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "pg-isolation-out", out_sample,
        "1:session 1 committed [0 4]: sql SELECT a, b\n  FROM t @0-1 "
        "{a,b; 1,x y; 2,nil} | sql COMMIT @3-4\n"
        "1:session 2 aborted [2 7]: sql FAILED UPDATE t SET a = 2 @2-5 | "
        "sql COMMIT @6-7\n"
        "2:session 2 committed [8 13]: sql UPDATE t SET a = 2 @8-9 | sql "
        "COMMIT @12-13\n"
        "2:session 1 committed [10 15]: sql SELECT a, b\n  FROM t @10-11 "
        "{a,b} | sql COMMIT @14-15\n"));
    /* all interleavings tell sessions apart, whatever the names */
    hf_history_free(assert_described(
        "pg-isolation-out",
        "Parsed test spec with 2 sessions\n\n"
        "starting permutation: a b\nstep a: DELETE FROM t;\nstep b: BEGIN;\n\n"
        "starting permutation: b a\nstep b: BEGIN;\nstep a: DELETE FROM t;\n",
        "1:session 1 committed [0 1]: sql DELETE FROM t @0-1\n"
        "1:session 2 unknown [2 -]: sql BEGIN @2-3\n"
        "2:session 2 unknown [4 -]: sql BEGIN @4-5\n"
        "2:session 1 committed [6 7]: sql DELETE FROM t @6-7\n"));
    /* nothing tells them: each step for itself, nothing concluded */
    hf_history_free(assert_described(
        "pg-isolation-out",
        "Parsed test spec with 2 sessions\n\n"
        "starting permutation: a b c\nstep a: SELECT 1;\nstep b: BEGIN;\n"
        "step c: COMMIT;\n",
        "#0 unknown [0 -]: sql SELECT 1 @0-1\n"
        "#1 unknown [2 -]: sql BEGIN @2-3\n"
        "#2 unknown [4 -]: sql COMMIT @4-5\n"));
}

static void test_pg_out_refusals(void **state)
{
    (void)state;
    assert_refused_at("pg-isolation-out", "Parsed test spec with 1 sessions\n",
                      1, "found the end of the input");
    assert_refused_at("pg-isolation-out", "step a: x\n", 1,
                      "before the first step");
    assert_refused_at("pg-isolation-out", "starting permutation: a\nstep a\n",
                      2, "found no colon");
    assert_refused_at("pg-isolation-out",
                      "starting permutation: a\nstep a: <... completed>\n", 2,
                      "a step that waits");
    assert_refused_at("pg-isolation-out",
                      "starting permutation: a\nstep a: x;\na\n-\n1\n", 5,
                      "expected the end of a table");
    assert_refused_at(
        "pg-isolation-out",
        "starting permutation: a\nstep a: x;\na\n-\n1|2\n(1 row)\n", 5,
        "a row of 1 columns");
    (void)import_all_prefixes("pg-isolation-out", out_sample);
}

/* ---- the others ---------------------------------------------------------- */

static const char page_sample[] =
    "Testing isolation levels\n"
    "===\n"
    "```sql\n"
    "create table test (id int primary key, value int);\n"
    "```\n"
    "Prose.\n"
    "```bash\n"
    "update nothing; -- T1\n"
    "```\n"
    "```sql\n"
    "begin; set transaction isolation level read committed; -- T1\n"
    "begin; -- T2\n"
    "update test set value = 11 where id = 1; -- T1\n"
    "update test set value = 12 where id = 1; -- T2, BLOCKS\n"
    "rollback; -- T1. This unblocks T2\n"
    "select * from test; -- T2. Shows 1 => 12, 2 => -20\n"
    "select * from test where value = 7; -- T2. Returns nothing\n"
    "update test set value = 1; -- T2. Prints ERROR: deadlock\n"
    "commit; -- T2\n"
    "```\n";

static void test_hermitage(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "hermitage-md", page_sample,
        "setup unknown [0 -]: sql create table test (id int primary key, "
        "value int) @0-1\n"
        "T1 aborted [2 19] RC: sql begin @2-3 | sql set transaction isolation "
        "level read committed @2-3 | sql update test set value = 11 where id "
        "= 1 @10-11 | sql rollback @18-19\n"
        "T2 unknown [6 -]: sql begin @6-7 | sql update test set value = 12 "
        "where id = 1 @14-20 | sql select * from test @22-23 {id,value; 1,12; "
        "2,-20} | sql select * from test where value = 7 @26-27 {id,value} | "
        "sql FAILED update test set value = 1 @30-31 | sql commit @34-35\n"));
    assert_refused_at("hermitage-md", "A page\n===\nabout isolation level\n", 0,
                      "a page without one");
    assert_refused_at("hermitage-md", "```sql\nbegin; -- T1\n", 1,
                      "closed with ```");
    (void)import_all_prefixes("hermitage-md", page_sample);
}

static const char case_sample[] = "CREATE TABLE t (a INT)\n"
                                  "INSERT INTO t VALUES (1)\n"
                                  "\n"
                                  "RR\n"
                                  "BEGIN\n"
                                  "SELECT * FROM t\n"
                                  "COMMIT\n"
                                  "\n"
                                  "SER\n"
                                  "BEGIN;\n"
                                  "ROLLBACK;\n"
                                  "\n"
                                  "1-2-1-1-2\n"
                                  "END\n"
                                  "\n"
                                  "Error: something\n";

static void test_troc(void **state)
{
    char twice[2 * sizeof(case_sample)];
    hf_history *h;

    (void)state;
    hf_history_free(assert_described(
        "troc-case", case_sample,
        "setup unknown [0 -]: sql CREATE TABLE t (a INT) @0-1\n"
        "setup unknown [2 -]: sql INSERT INTO t VALUES (1) @2-3\n"
        "1 unknown [4 -] RR: sql BEGIN @4-5 | sql SELECT * FROM t @8-9 | sql "
        "COMMIT @10-11\n"
        "2 aborted [6 13] SER: sql BEGIN @6-7 | sql ROLLBACK @12-13\n"));
    (void)snprintf(twice, sizeof(twice), "%s%s", case_sample, case_sample);
    h = import_text("troc-case", twice);
    assert_int_equal(h->n_txns, 8);
    assert_true(hf_str_eq(hf_string(h, h->session_name[h->txn_session[7]]),
                          HF_STR("2:2")));
    hf_history_free(h);
    assert_refused_at("troc-case", "RR\nBEGIN\n", 2,
                      "begins with CREATE TABLE");
    assert_refused_at("troc-case", "CREATE TABLE t\n\nRX\n", 3, "a level");
    assert_refused_at("troc-case", "CREATE TABLE t\n\nRR\nBEGIN\n\n1-2\nEND", 6,
                      "a schedule of the transactions above");
    assert_refused_at("troc-case", "CREATE TABLE t\n\nRR\nBEGIN\n\n1-1\nEND", 6,
                      "more steps than the 1");
    assert_refused_at("troc-case",
                      "CREATE TABLE t\n\nRR\nBEGIN\nCOMMIT\n\n1\nEND", 7,
                      "leaves out statements of transaction 1");
    assert_refused_at("troc-case", "CREATE TABLE t\n\nRR\nBEGIN\n\n1\n", 6,
                      "expected END");
    (void)import_all_prefixes("troc-case", case_sample);
}

static const char yaml_sample[] = "# a bug\n"
                                  "initUrl: \"jdbc:mysql://host?a=b\"\n"
                                  "create: true\n"
                                  "createTableList:\n"
                                  "  - \"create table t(a int);\" # the table\n"
                                  "loadList: []\n"
                                  "operationList:\n"
                                  "  - trxId: \"7\"\n"
                                  "    sql: \"update t set a = \\\"x\\\";\"\n"
                                  "  - sql: 'insert into t values (''y'')'\n"
                                  "    trxId: 8\n"
                                  "  - trxId: \"7\"\n"
                                  "    sql: \"commit;\"\n"
                                  "  - trxId: \"7\"\n"
                                  "    sql: \"rollback;\"\n";

static void test_leopard(void **state)
{
    (void)state;
    hf_history_free(assert_described(
        "leopard-yml", yaml_sample,
        "setup unknown [0 -]: sql create table t(a int) @0-1\n"
        "7 unknown [2 -]: sql update t set a = \"x\" @2-3 | sql commit @6-7\n"
        "8 unknown [4 -]: sql insert into t values ('y') @4-5\n"
        "7 aborted [8 9]: sql rollback @8-9\n"));
    assert_refused_at("leopard-yml", "loadList: []\n", 0, "found none");
    assert_refused_at("leopard-yml",
                      "operationList:\n  - trxId: 1\n  - trxId: 2\n", 3,
                      "with trxId and sql");
    assert_refused_at("leopard-yml", "operationList:\n  - sql: \"open\n", 2,
                      "ends on its line");
    assert_refused_at("leopard-yml", "operationList: {}\n", 1,
                      "a list on the lines");
    assert_refused_at("leopard-yml", "operationList\n", 1, "a colon");
    (void)import_all_prefixes("leopard-yml", yaml_sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_classify),
        cmocka_unit_test(test_pg_spec),
        cmocka_unit_test(test_pg_spec_refusals),
        cmocka_unit_test(test_pg_out),
        cmocka_unit_test(test_pg_out_refusals),
        cmocka_unit_test(test_hermitage),
        cmocka_unit_test(test_troc),
        cmocka_unit_test(test_leopard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

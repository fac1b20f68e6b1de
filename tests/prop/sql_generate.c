/* sql_generate.c: random SQL, mostly of the right types.
 *
 * Tables t1 and t2 have one column of each type, with NULLs; numbers are
 * small so that comparisons, joins and groups hit, now and then at the ends
 * of their range so that overflow does.
 */
#include "sql_generate.h"

#include <stdio.h>

bool sql_is_pg(const sql_generator *g)
{
    return g->dialect == HF_SQL_POSTGRES;
}

unsigned sql_pick(sql_generator *g, unsigned n)
{
    return hf_rng_below(g->rng, n);
}

void sql_put(sql_generator *g, const char *text)
{
    hf_out_text(g->out, text);
}

/* ---- tables ------------------------------------------------------------- */

static const hf_sql_column columns[] = {
    {HF_STR("id"), HF_SQL_INT, HF_SQL_NOTE_INT4, -1, true},
    {HF_STR("a"), HF_SQL_INT, HF_SQL_NOTE_INT4, -1, false},
    {HF_STR("b"), HF_SQL_INT, HF_SQL_NOTE_INT8, -1, false},
    {HF_STR("n"), HF_SQL_DECIMAL, 0, -1, false},
    {HF_STR("r"), HF_SQL_REAL, 0, -1, false},
    {HF_STR("s"), HF_SQL_TEXT, 0, -1, false},
    {HF_STR("f"), HF_SQL_BOOL, 0, -1, false},
    {HF_STR("d"), HF_SQL_DATE, 0, -1, false},
};

void sql_schema(hf_sql_database *db)
{
    const uint32_t key = 0;
    uint32_t n = hf_sql_database_dialect(db) == HF_SQL_SQLITE ? 6 : 8;

    hf_sql_table_add(db, HF_STR("t1"), columns, n, &key, 1);
    hf_sql_table_add(db, HF_STR("t2"), columns, n, &key, 1);
}

const char *sql_create(hf_sql_dialect dialect, int which)
{
    if (dialect == HF_SQL_POSTGRES)
        return which == 1 ? "CREATE TABLE t1(id int PRIMARY KEY, a int, b "
                            "bigint, n numeric, r double precision, s text, "
                            "f boolean, d date)"
                          : "CREATE TABLE t2(id int PRIMARY KEY, a int, b "
                            "bigint, n numeric, r double precision, s text, "
                            "f boolean, d date)";
    return which == 1 ? "CREATE TABLE t1(id INTEGER PRIMARY KEY, a INTEGER, b "
                        "INTEGER, n NUMERIC, r REAL, s TEXT)"
                      : "CREATE TABLE t2(id INTEGER PRIMARY KEY, a INTEGER, b "
                        "INTEGER, n NUMERIC, r REAL, s TEXT)";
}

/* ---- literals ----------------------------------------------------------- */

void sql_int_literal(sql_generator *g)
{
    static const char *const far[] = {
        "2147483647", "-2147483648", "2147483648", "9223372036854775807",
        "100000",     "46341",       "-1",         "0"};

    if (sql_pick(g, 12) == 0)
        sql_put(g, far[sql_pick(g, 8)]);
    else
        hf_out_format(g->out, "%d", (int)sql_pick(g, 14) - 3);
}

static void dec_literal(sql_generator *g)
{
    static const char *const some[] = {"0.5",  "1.25", "10.00",   "-3.7",
                                       "2.5",  "1.0",  "100.001", "0.0",
                                       "7.77", "0.1",  "3.333",   "-0.25"};
    sql_put(g, some[sql_pick(g, 12)]);
}

static void text_literal(sql_generator *g)
{
    static const char *const some[] = {
        "'a'",   "'b'",    "'ab'",    "'B'", "''",         "'abc'", "'5'",
        "'A_b'", "'a b '", "'it''s'", "'z'", "'\303\244'", "'10'",  "'1.5'"};
    sql_put(g, some[sql_pick(g, 14)]);
}

static void date_literal(sql_generator *g)
{
    hf_out_format(g->out, "DATE '202%u-%02u-%02u'", sql_pick(g, 4),
                  sql_pick(g, 12) + 1, sql_pick(g, 28) + 1);
}

void sql_literal(sql_generator *g, kind k)
{
    switch (k) {
    case INT:
        sql_int_literal(g);
        break;
    case DEC:
        dec_literal(g);
        break;
    case REAL:
        sql_put(g, "CAST(");
        dec_literal(g);
        sql_put(g, " AS double precision)");
        break;
    case TEXT:
        text_literal(g);
        break;
    case BOOL:
        sql_put(g, sql_pick(g, 2) ? "TRUE" : "FALSE");
        break;
    default:
        date_literal(g);
    }
}

static void column(sql_generator *g, kind k)
{
    static const char *const names[] = {"a", "n", "r", "s", "f", "d"};
    const char *name = names[k];

    if (!g->table) {
        sql_literal(g, k);
        return;
    }
    if (k == INT)
        name = sql_pick(g, 3) == 0 ? "id" : sql_pick(g, 4) == 0 ? "b" : "a";
    if (k == BOOL && !sql_is_pg(g)) {
        sql_put(g, "(");
        sql_put(g, g->table);
        sql_put(g, ".a > 3)");
        return;
    }
    hf_out_format(g->out, "%s.%s", g->table, name);
}

/* ---- expressions -------------------------------------------------------- */

void sql_pair(sql_generator *g, kind k, const char *op, kind l, unsigned depth)
{
    sql_put(g, "(");
    sql_expr(g, k, depth);
    sql_put(g, op);
    sql_expr(g, l, depth);
    sql_put(g, ")");
}

static void call(sql_generator *g, const char *name, kind k, unsigned depth)
{
    hf_out_format(g->out, "%s(", name);
    sql_expr(g, k, depth);
    sql_put(g, ")");
}

/* What every type has: CASE, COALESCE, NULLIF. */
static void common(sql_generator *g, kind k, unsigned depth)
{
    switch (sql_pick(g, sql_is_pg(g) ? 5 : 4)) {
    case 0:
        sql_put(g, "CASE WHEN ");
        sql_expr(g, BOOL, depth);
        sql_put(g, " THEN ");
        sql_expr(g, k, depth);
        if (sql_pick(g, 3)) {
            sql_put(g, " ELSE ");
            sql_expr(g, k, depth);
        }
        sql_put(g, " END");
        break;
    case 1:
        sql_put(g, "CASE ");
        sql_expr(g, INT, depth);
        sql_put(g, " WHEN ");
        sql_int_literal(g);
        sql_put(g, " THEN ");
        sql_expr(g, k, depth);
        sql_put(g, " WHEN ");
        sql_expr(g, INT, depth);
        sql_put(g, " THEN ");
        sql_expr(g, k, depth);
        sql_put(g, " ELSE ");
        sql_expr(g, k, depth);
        sql_put(g, " END");
        break;
    case 2:
        sql_put(g, "COALESCE(");
        sql_expr(g, k, depth);
        sql_put(g, ", ");
        sql_expr(g, k, depth);
        sql_put(g, ")");
        break;
    case 3:
        sql_put(g, "NULLIF(");
        sql_expr(g, k, depth);
        sql_put(g, ", ");
        sql_expr(g, k, depth);
        sql_put(g, ")");
        break;
    default:
        sql_put(g, sql_pick(g, 2) ? "GREATEST(" : "LEAST(");
        sql_expr(g, k, depth);
        sql_put(g, ", ");
        sql_expr(g, k, depth);
        sql_put(g, ")");
    }
}

static const char *arithmetic_op(sql_generator *g, unsigned n)
{
    static const char *const ops[] = {" + ", " - ", " * ", " / ", " % "};

    return ops[sql_pick(g, n)];
}

static void int_expr(sql_generator *g, unsigned depth)
{
    switch (sql_pick(g, 10)) {
    case 0:
        call(g, "abs", INT, depth);
        break;
    case 1:
        call(g, "length", TEXT, depth);
        break;
    case 2:
        sql_put(g, "(- ");
        sql_expr(g, INT, depth);
        sql_put(g, ")");
        break;
    case 3:
        sql_put(g, "CAST(");
        sql_expr(g, sql_pick(g, 2) ? DEC : REAL, depth);
        sql_put(g, sql_pick(g, 2) ? " AS int)" : " AS bigint)");
        break;
    case 4:
        if (sql_is_pg(g))
            sql_pair(g, DATE, " - ", DATE, depth);
        else
            sql_pair(g, INT, " % ", TEXT, depth);
        break;
    case 5:
        if (g->subqueries) {
            sql_put(g, sql_pick(g, 2)
                           ? "(SELECT max(x.a) FROM t2 x WHERE x.id < "
                           : "(SELECT count(x.s) FROM t2 x WHERE x.a = ");
            sql_expr(g, INT, 0);
            sql_put(g, ")");
            break;
        }
        common(g, INT, depth);
        break;
    default:
        sql_pair(g, INT, arithmetic_op(g, 5), INT, depth);
    }
}

static void dec_expr(sql_generator *g, unsigned depth)
{
    static const char *const functions[] = {"abs", "ceil", "floor", "sign",
                                            "round"};

    switch (sql_pick(g, 8)) {
    case 0:
        if (sql_is_pg(g)) {
            sql_put(g, sql_pick(g, 2) ? "round(" : "trunc(");
            sql_expr(g, DEC, depth);
            hf_out_format(g->out, ", %d)", (int)sql_pick(g, 6) - 1);
            break;
        }
        /* fall through */
    case 1:
        call(g, functions[sql_pick(g, 5)], DEC, depth);
        break;
    case 2:
        sql_put(g, "CAST(");
        sql_expr(g, sql_pick(g, 2) ? INT : DEC, depth);
        sql_put(g, sql_is_pg(g) && sql_pick(g, 2) ? " AS numeric(12,3))"
                                                  : " AS numeric)");
        break;
    case 3:
        sql_pair(g, INT, arithmetic_op(g, sql_is_pg(g) ? 5 : 4), DEC, depth);
        break;
    default:
        sql_pair(g, DEC, arithmetic_op(g, sql_is_pg(g) ? 5 : 4),
                 sql_pick(g, 3) ? DEC : INT, depth);
    }
}

static void real_expr(sql_generator *g, unsigned depth)
{
    switch (sql_pick(g, 6)) {
    case 0:
        sql_put(g, "CAST(");
        sql_expr(g, sql_pick(g, 2) ? INT : DEC, depth);
        sql_put(g, " AS double precision)");
        break;
    case 1:
        call(g, sql_pick(g, 2) ? "floor" : "abs", REAL, depth);
        break;
    case 2:
        call(g, "round", REAL, depth);
        break;
    default:
        sql_pair(g, REAL, arithmetic_op(g, 4),
                 sql_pick(g, 3) ? REAL : (sql_pick(g, 2) ? INT : DEC), depth);
    }
}

static void text_expr(sql_generator *g, unsigned depth)
{
    static const char *const functions[] = {"lower", "upper", "ltrim", "rtrim"};

    switch (sql_pick(g, 8)) {
    case 0:
        call(g, functions[sql_pick(g, 4)], TEXT, depth);
        break;
    case 1:
        sql_put(g, "substr(");
        sql_expr(g, TEXT, depth);
        hf_out_format(g->out, ", %d", (int)sql_pick(g, 6) - 1);
        if (sql_pick(g, 2))
            hf_out_format(g->out, ", %u", sql_pick(g, 4));
        sql_put(g, ")");
        break;
    case 2:
        sql_put(g, "replace(");
        sql_expr(g, TEXT, depth);
        sql_put(g, ", ");
        text_literal(g);
        sql_put(g, ", ");
        text_literal(g);
        sql_put(g, ")");
        break;
    case 3:
        sql_put(g, "CAST(");
        sql_expr(g,
                 sql_pick(g, 2) ? INT
                                : (kind)sql_pick(g, sql_is_pg(g) ? N_KINDS : 4),
                 depth);
        sql_put(g, " AS text)");
        break;
    case 4:
        if (sql_is_pg(g)) {
            sql_put(g, sql_pick(g, 2) ? "left(" : "right(");
            sql_expr(g, TEXT, depth);
            hf_out_format(g->out, ", %d)", (int)sql_pick(g, 5) - 2);
            break;
        }
        /* fall through */
    default:
        sql_pair(g, TEXT, " || ", sql_pick(g, 3) ? TEXT : INT, depth);
    }
}

static void date_expr(sql_generator *g, unsigned depth)
{
    if (sql_pick(g, 3) == 0) {
        common(g, DATE, depth);
        return;
    }
    sql_put(g, "(");
    sql_expr(g, DATE, depth);
    sql_put(g, sql_pick(g, 2) ? " + " : " - ");
    hf_out_format(g->out, "%u)", sql_pick(g, 40));
}

/* ---- conditions --------------------------------------------------------- */

kind sql_comparable_kind(sql_generator *g)
{
    static const kind kinds[] = {INT,  INT,  INT,  DEC, REAL,
                                 TEXT, TEXT, DATE, BOOL};

    return kinds[sql_pick(g, sql_is_pg(g) ? 9 : 7)];
}

/* Beside an INT may also stand another number. */
static kind beside(sql_generator *g, kind k)
{
    if (k <= REAL && sql_pick(g, 4) == 0)
        return (kind)sql_pick(g, 3);
    if (!sql_is_pg(g) && sql_pick(g, 12) == 0)
        return (kind)sql_pick(g, 4);
    return k;
}

static void compare(sql_generator *g, unsigned depth)
{
    static const char *const ops[] = {" = ",  " <> ", " < ",
                                      " <= ", " > ",  " >= "};
    kind k = sql_comparable_kind(g);

    sql_expr(g, k, depth);
    sql_put(g, ops[sql_pick(g, 6)]);
    sql_expr(g, beside(g, k), depth);
}

static void in_list(sql_generator *g, unsigned depth)
{
    kind k = sql_comparable_kind(g);
    unsigned n = sql_pick(g, 4) + 1;

    sql_expr(g, k, depth);
    sql_put(g, sql_pick(g, 3) ? " IN (" : " NOT IN (");
    for (unsigned i = 0; i < n; i++) {
        if (i)
            sql_put(g, ", ");
        if (sql_pick(g, 12) == 0)
            sql_put(g, "NULL");
        else if (sql_pick(g, 4) == 0)
            sql_expr(g, k, 0);
        else
            sql_literal(g, k);
    }
    sql_put(g, ")");
}

static void like(sql_generator *g, unsigned depth)
{
    static const char *const patterns[] = {
        "'a%'",        "'%b%'", "'_'",     "'%'",  "'A%'", "'a_b%'",
        "'%\303\244'", "''",    "'%a%b%'", "'ab'", "'%5'", "'_b_'"};

    sql_expr(g, TEXT, depth);
    if (sql_is_pg(g) && sql_pick(g, 3) == 0)
        sql_put(g, sql_pick(g, 2) ? " ILIKE " : " NOT ILIKE ");
    else
        sql_put(g, sql_pick(g, 2) ? " LIKE " : " NOT LIKE ");
    sql_put(g, patterns[sql_pick(g, 12)]);
    if (sql_pick(g, 8) == 0)
        sql_put(g, " ESCAPE '_'");
}

static void is_test(sql_generator *g, unsigned depth)
{
    static const char *const tests[] = {" IS TRUE",  " IS NOT TRUE",
                                        " IS FALSE", " IS NOT FALSE",
                                        " IS NULL",  " IS NOT NULL"};
    kind k;

    if (sql_pick(g, 2)) {
        k = sql_comparable_kind(g);
        sql_expr(g, k, depth);
        sql_put(g, sql_pick(g, 2) ? " IS NULL" : " IS NOT NULL");
    } else if (sql_pick(g, 2)) {
        sql_put(g, "(");
        sql_expr(g, BOOL, depth);
        sql_put(g, ")");
        sql_put(g, tests[sql_pick(g, 6)]);
    } else {
        k = sql_comparable_kind(g);
        sql_expr(g, k, depth);
        sql_put(g, sql_pick(g, 2) ? " IS DISTINCT FROM "
                                  : " IS NOT DISTINCT FROM ");
        sql_expr(g, beside(g, k), depth);
    }
}

static void subquery_test(sql_generator *g)
{
    if (sql_pick(g, 2)) {
        sql_put(g, sql_pick(g, 2) ? "EXISTS (" : "NOT EXISTS (");
        sql_put(g, "SELECT 1 FROM t2 y WHERE y.a = ");
        sql_expr(g, INT, 0);
        sql_put(g, ")");
    } else {
        sql_expr(g, INT, 0);
        sql_put(g, sql_pick(g, 2) ? " IN (" : " NOT IN (");
        sql_put(g, "SELECT y.a FROM t2 y WHERE y.id > ");
        sql_int_literal(g);
        sql_put(g, ")");
    }
}

static void bool_expr(sql_generator *g, unsigned depth)
{
    kind k;

    sql_put(g, "(");
    switch (sql_pick(g, 12)) {
    case 0:
    case 1:
        sql_expr(g, BOOL, depth);
        sql_put(g, sql_pick(g, 2) ? " AND " : " OR ");
        sql_expr(g, BOOL, depth);
        if (sql_pick(g, 3) == 0) {
            sql_put(g, sql_pick(g, 2) ? " AND " : " OR ");
            sql_expr(g, BOOL, depth);
        }
        break;
    case 2:
        sql_put(g, "NOT ");
        sql_expr(g, BOOL, depth);
        break;
    case 3:
        k = sql_comparable_kind(g);
        sql_expr(g, k, depth);
        sql_put(g, sql_pick(g, 3) ? " BETWEEN " : " NOT BETWEEN ");
        if (sql_is_pg(g) && sql_pick(g, 4) == 0)
            sql_put(g, "SYMMETRIC ");
        sql_expr(g, beside(g, k), depth);
        sql_put(g, " AND ");
        sql_expr(g, beside(g, k), depth);
        break;
    case 4:
        in_list(g, depth);
        break;
    case 5:
        like(g, depth);
        break;
    case 6:
    case 7:
        is_test(g, depth);
        break;
    case 8:
        if (g->subqueries) {
            subquery_test(g);
            break;
        }
        /* fall through */
    default:
        compare(g, depth);
    }
    sql_put(g, ")");
}

void sql_expr(sql_generator *g, kind k, unsigned depth)
{
    if (g->wild && sql_pick(g, 60) == 0)
        k = (kind)sql_pick(g, sql_is_pg(g) ? N_KINDS : 4);
    if (k == DATE && !sql_is_pg(g))
        k = TEXT;
    if (depth == 0 || sql_pick(g, 5) == 0) {
        if (sql_pick(g, 25) == 0)
            sql_put(g, "NULL");
        else if (sql_pick(g, 5) < 3)
            column(g, k);
        else
            sql_literal(g, k);
        return;
    }
    if (k != BOOL && sql_pick(g, 6) == 0) {
        common(g, k, depth - 1);
        return;
    }
    switch (k) {
    case INT:
        int_expr(g, depth - 1);
        break;
    case DEC:
        dec_expr(g, depth - 1);
        break;
    case REAL:
        real_expr(g, depth - 1);
        break;
    case TEXT:
        text_expr(g, depth - 1);
        break;
    case BOOL:
        bool_expr(g, depth - 1);
        break;
    default:
        date_expr(g, depth - 1);
    }
}

void sql_condition(sql_generator *g)
{
    g->table = "t1";
    sql_expr(g, BOOL, 1 + sql_pick(g, 4));
}

/* sql_generate_query.c: random rows, queries and changes. */
#include "sql_generate.h"

#include <stdio.h>

/* ---- rows --------------------------------------------------------------- */

static void cell(sql_generator *g, kind k)
{
    if (sql_pick(g, 6) == 0)
        sql_put(g, "NULL");
    else
        sql_literal(g, k);
}

void sql_rows(sql_generator *g, int which, int n)
{
    static const kind kinds[] = {INT, DEC, REAL, TEXT, BOOL, DATE};

    hf_out_format(g->out, "INSERT INTO t%d VALUES ", which);
    for (int i = 1; i <= n; i++) {
        hf_out_format(g->out, "%s(%d, %d, ", i > 1 ? ", " : "", i,
                      (int)sql_pick(g, 8) - 1);
        cell(g, INT);
        for (unsigned k = DEC; k < (sql_is_pg(g) ? N_KINDS : BOOL); k++) {
            sql_put(g, ", ");
            cell(g, kinds[k]);
        }
        sql_put(g, ")");
    }
}

static kind any_kind(sql_generator *g)
{
    return (kind)sql_pick(g, sql_is_pg(g) ? N_KINDS : BOOL + 1);
}

/* ---- queries ------------------------------------------------------------ */

static void plain_query(sql_generator *g)
{
    unsigned n = sql_pick(g, 3) + 1;

    g->table = "t1";
    sql_put(g, "SELECT t1.id");
    for (unsigned i = 0; i < n; i++) {
        sql_put(g, ", ");
        sql_expr(g, any_kind(g), sql_pick(g, 4));
    }
    sql_put(g, " FROM t1");
    if (sql_pick(g, 3) == 0) {
        sql_put(g, " WHERE ");
        sql_expr(g, BOOL, 2);
    }
    sql_put(g, " ORDER BY t1.id");
    if (sql_pick(g, 4) == 0)
        hf_out_format(g->out, " LIMIT %u OFFSET %u", sql_pick(g, 6),
                      sql_pick(g, 3));
}

static void sorted_query(sql_generator *g)
{
    static const char *const nulls[] = {"", "", " NULLS FIRST", " NULLS LAST"};
    unsigned n = sql_pick(g, 2) + 1;

    g->table = "t1";
    sql_put(g, "SELECT id, a, s FROM t1 ORDER BY ");
    for (unsigned i = 0; i < n; i++) {
        if (sql_pick(g, 3) == 0)
            hf_out_format(g->out, "%u", sql_pick(g, 3) + 1);
        else
            /* not a bare constant: that would be an ordinal */
            sql_pair(g, INT, " + ", INT, sql_pick(g, 2));
        sql_put(g, sql_pick(g, 2) ? "" : " DESC");
        sql_put(g, nulls[sql_pick(g, 4)]);
        sql_put(g, ", ");
    }
    sql_put(g, "s");
    sql_put(g, sql_pick(g, 2) ? "" : " DESC");
    sql_put(g, nulls[sql_pick(g, 4)]);
    sql_put(g, ", id");
    if (sql_pick(g, 2))
        hf_out_format(g->out, " LIMIT %u", sql_pick(g, 6));
}

static void aggregate(sql_generator *g)
{
    static const kind kinds[] = {INT, INT, DEC, REAL};
    const char *distinct = sql_pick(g, 4) == 0 ? "DISTINCT " : "";

    switch (sql_pick(g, 6)) {
    case 0:
        sql_put(g, "count(*)");
        return;
    case 1:
        hf_out_format(g->out, "count(%s", distinct);
        sql_expr(g, sql_comparable_kind(g), 1);
        break;
    case 2:
        hf_out_format(g->out, "sum(%s", sql_pick(g, 4) ? "" : "DISTINCT ");
        /* the order of adding decides about floating point */
        sql_expr(g, sql_pick(g, 2) ? INT : sql_is_pg(g) ? DEC : INT, 1);
        break;
    case 3:
        sql_put(g, "avg(");
        sql_expr(g, sql_is_pg(g) ? kinds[sql_pick(g, 3)] : INT, 1);
        break;
    case 4:
        sql_put(g, "min(");
        sql_expr(g, kinds[sql_pick(g, 4)], 1);
        break;
    default:
        sql_put(g, "max(");
        sql_expr(g, sql_pick(g, 2) ? TEXT : INT, 1);
    }
    sql_put(g, ")");
}

static void group_query(sql_generator *g)
{
    static const char *const keys[] = {"t1.a", "t1.s", "t1.n", "t1.a % 2",
                                       "t1.a, t1.s"};
    const char *key = keys[sql_pick(g, 5)];
    bool grouped = sql_pick(g, 4) != 0;

    g->table = "t1";
    sql_put(g, "SELECT ");
    if (grouped)
        hf_out_format(g->out, "%s, ", key);
    aggregate(g);
    sql_put(g, ", ");
    aggregate(g);
    sql_put(g, " FROM t1");
    if (sql_pick(g, 2)) {
        sql_put(g, " WHERE ");
        sql_expr(g, BOOL, 1);
    }
    if (grouped)
        hf_out_format(g->out, " GROUP BY %s", key);
    if (sql_pick(g, 3) == 0) {
        sql_put(g, " HAVING ");
        aggregate(g);
        sql_put(g, sql_pick(g, 2) ? " > 1" : " IS NOT NULL");
    }
}

static void join_query(sql_generator *g)
{
    static const char *const joins[] = {
        "t1 JOIN t2 ON t1.a = t2.a",
        "t1 LEFT JOIN t2 ON t1.a = t2.a AND t2.id > 2",
        "t1 LEFT JOIN t2 ON t1.s = t2.s",
        "t1 CROSS JOIN t2",
        "t1 JOIN t2 ON t1.a < t2.b",
        "t1 LEFT JOIN t2 USING (a)",
        "t1 JOIN t2 ON t1.n = t2.n OR t1.id = t2.id",
        "(SELECT id, a + 1 AS a, b, n, r, s FROM t1 WHERE a > 0) t1 JOIN t2 "
        "ON t1.a = t2.a"};
    unsigned which = sql_pick(g, 8);

    sql_put(g, sql_pick(g, 5) ? "SELECT " : "SELECT DISTINCT ");
    sql_put(g, "t1.id, t2.id, ");
    g->table = "t2";
    sql_expr(g, sql_pick(g, 2) ? INT : TEXT, 1);
    hf_out_format(g->out, " FROM %s", joins[which]);
    if (sql_pick(g, 3)) {
        sql_put(g, " WHERE ");
        if (sql_pick(g, 2))
            sql_put(g, "t1.id = t2.id AND ");
        sql_expr(g, BOOL, 1);
        if (which < 7 && sql_pick(g, 2)) {
            sql_put(g, " AND ");
            g->table = "t1";
            sql_expr(g, BOOL, 1);
        }
    }
}

void sql_query(sql_generator *g, bool *ret_ordered)
{
    *ret_ordered = true;
    g->subqueries = false;
    switch (sql_pick(g, 10)) {
    case 0:
        sorted_query(g);
        break;
    case 1:
    case 2:
        group_query(g);
        *ret_ordered = false;
        break;
    case 3:
    case 4:
        join_query(g);
        *ret_ordered = false;
        break;
    case 5:
        g->subqueries = true;
        plain_query(g);
        break;
    default:
        plain_query(g);
    }
}

/* ---- changes ------------------------------------------------------------ */

static void insert(sql_generator *g)
{
    static const kind kinds[] = {INT, DEC, TEXT};
    static const char *const names[] = {"a", "n", "s"};
    unsigned which = sql_pick(g, 3);

    g->table = NULL;
    hf_out_format(g->out, "INSERT INTO t1 (id, %s) ", names[which]);
    if (sql_pick(g, 3) == 0) {
        g->table = "t2";
        sql_put(g, "SELECT id + 4, ");
        sql_expr(g, kinds[which], 1);
        sql_put(g, " FROM t2 WHERE id < 4");
    } else {
        sql_put(g, "VALUES ");
        for (unsigned i = 0, n = sql_pick(g, 3) + 1; i < n; i++) {
            hf_out_format(g->out, "%s(%u, ", i ? ", " : "",
                          sql_pick(g, 14) + 1);
            sql_expr(g, kinds[which], 1);
            sql_put(g, ")");
        }
    }
    if (sql_pick(g, 2) == 0)
        return;
    if (sql_pick(g, 2)) {
        sql_put(g, sql_pick(g, 2) ? " ON CONFLICT DO NOTHING"
                                  : " ON CONFLICT (id) DO NOTHING");
        return;
    }
    hf_out_format(g->out,
                  " ON CONFLICT (id) DO UPDATE SET %s = ", names[which]);
    g->table = sql_pick(g, 2) ? "t1" : "excluded";
    sql_expr(g, kinds[which], 1);
    if (sql_pick(g, 2)) {
        sql_put(g, " WHERE ");
        g->table = "t1";
        sql_expr(g, BOOL, 1);
    }
}

static void update(sql_generator *g)
{
    static const kind kinds[] = {INT, DEC, TEXT, REAL};
    static const char *const names[] = {"a", "n", "s", "r"};
    unsigned which = sql_pick(g, 4);

    g->table = "t1";
    hf_out_format(g->out, "UPDATE t1 SET %s = ", names[which]);
    sql_expr(g, kinds[which], 1);
    if (sql_pick(g, 5) == 0)
        sql_put(g, ", id = t1.id + 20");
    else if (sql_pick(g, 6) == 0)
        hf_out_format(g->out, ", id = %u", sql_pick(g, 10));
    if (sql_pick(g, 6)) {
        sql_put(g, " WHERE ");
        if (sql_pick(g, 3) == 0)
            hf_out_format(g->out, "id = %u", sql_pick(g, 10));
        else
            sql_expr(g, BOOL, 1);
    }
}

void sql_write(sql_generator *g)
{
    g->subqueries = false;
    switch (sql_pick(g, 3)) {
    case 0:
        insert(g);
        break;
    case 1:
        update(g);
        break;
    default:
        g->table = "t1";
        sql_put(g, "DELETE FROM t1 WHERE ");
        g->subqueries = true;
        sql_expr(g, BOOL, 2);
    }
    if (sql_pick(g, 2))
        sql_put(g, " RETURNING id, a, s");
}

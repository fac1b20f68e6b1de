/* sql_generate.h: random SQL that both a database and we should understand. */
#ifndef SQL_GENERATE_H
#define SQL_GENERATE_H

#include "base/out.h"
#include "base/rng.h"
#include "sql/table.h"

typedef struct sql_generator {
    hf_rng *rng;
    hf_out *out;
    hf_sql_dialect dialect;
    const char *table; /* whose columns may be used; NULL: none */
    bool subqueries;
    bool wild; /* sometimes of the wrong type */
} sql_generator;

/* The tables t1 and t2, the same for every case. */
void sql_schema(hf_sql_database *db);
/* CREATE TABLE for the real database, one for each of the two. */
const char *sql_create(hf_sql_dialect dialect, int which);
/* INSERT INTO t<which> VALUES ... with n rows, keys 1 .. n. */
void sql_rows(sql_generator *g, int which, int n);

/* A query whose rows come in a fixed order, or (ordered false) not. */
void sql_query(sql_generator *g, bool *ret_ordered);
/* A condition over the columns of t1. */
void sql_condition(sql_generator *g);
/* INSERT, UPDATE or DELETE on t1. */
void sql_write(sql_generator *g);

/* ---- between the two files ---------------------------------------------- */

typedef enum kind { INT, DEC, REAL, TEXT, BOOL, DATE, N_KINDS } kind;

bool sql_is_pg(const sql_generator *g);
unsigned sql_pick(sql_generator *g, unsigned n);
void sql_put(sql_generator *g, const char *text);
void sql_int_literal(sql_generator *g);
void sql_literal(sql_generator *g, kind k);
void sql_expr(sql_generator *g, kind k, unsigned depth);
void sql_pair(sql_generator *g, kind k, const char *op, kind l, unsigned depth);
kind sql_comparable_kind(sql_generator *g);

#endif

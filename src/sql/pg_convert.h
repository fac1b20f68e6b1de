/* pg_convert.h: libpg_query's tree into ours; for pg_*.c only.
 *
 * Nobody else sees libpg_query.  Its JSON is never used: it loses negative
 * integers.  Whatever has no place in our tree fails with its name.
 */
#ifndef HF_SQL_PG_CONVERT_H
#define HF_SQL_PG_CONVERT_H

#include <pg_query/pg_query.pb-c.h>

#include "sql/tree.h"

typedef struct hf_pg_convert {
    hf_arena *arena;
    hf_error *err;
    const hf_sql_lexed *lexed;
    unsigned depth;
    uint32_t n_params;
} hf_pg_convert;

/* All return NULL (or false) after filling the error. */
hf_sql_node *hf_pg_node(hf_pg_convert *c, hf_sql_kind kind, uint32_t n);
hf_sql_node *hf_pg_expr(hf_pg_convert *c, const PgQuery__Node *node);
bool hf_pg_exprs(hf_pg_convert *c, PgQuery__Node *const *nodes, size_t n,
                 hf_sql_node **ret);
hf_sql_select *hf_pg_select(hf_pg_convert *c, const PgQuery__SelectStmt *s);
hf_sql_statement *hf_pg_statement(hf_pg_convert *c, const PgQuery__Node *node);
/* The text of a String node; "" for any other. */
const char *hf_pg_string(const PgQuery__Node *node);
hf_sql_node *hf_pg_call(hf_pg_convert *c, const PgQuery__FuncCall *f);
hf_sql_node *hf_pg_cast(hf_pg_convert *c, const PgQuery__TypeCast *t);
hf_str hf_pg_text(hf_pg_convert *c, const char *c_string);
void *hf_pg_unsupported(hf_pg_convert *c, const char *what);

#endif

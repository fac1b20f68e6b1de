/* bind.h: what bind.c and bind_types.c share. */
#ifndef HF_SQL_BIND_H
#define HF_SQL_BIND_H

#include "sql/eval.h"

static inline bool hf_sql_is_static(const hf_sql_binder *b)
{
    return b->dialect == HF_SQL_POSTGRES;
}

static inline bool hf_sql_is_literal(const hf_sql_node *n)
{
    return n->kind == HF_N_CONST && n->value.type == HF_SQL_TEXT &&
           n->value.note & HF_SQL_NOTE_LITERAL;
}

/* A quoted literal or NULL: takes a type from its neighbours. */
static inline bool hf_sql_has_no_type(const hf_sql_node *n)
{
    return hf_sql_is_literal(n) ||
           (n->kind == HF_N_CONST && n->type == HF_SQL_NULL);
}

static inline bool hf_sql_is_numeric_type(unsigned type)
{
    return type >= HF_SQL_INT && type <= HF_SQL_REAL;
}

static inline bool hf_sql_is_time_type(unsigned type)
{
    return type == HF_SQL_DATE || type == HF_SQL_TIMESTAMP;
}

/* Fills the error; returns NULL. */
hf_sql_node *hf_sql_bind_refuse(hf_sql_binder *b, hf_status status,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A copy whose arguments are still to be filled in. */
hf_sql_node *hf_sql_copy_node(hf_sql_binder *b, const hf_sql_node *node);
/* A cast of a constant, done now instead of for every row. */
hf_sql_node *hf_sql_fold_cast(hf_sql_binder *b, hf_sql_node *cast);
/* Two sides of a comparison: literals take the other's type. */
bool hf_sql_fit_pair(hf_sql_binder *b, hf_sql_node **x, hf_sql_node **y);
/* Widens best to the type that both can become; false: none. */
bool hf_sql_wider(hf_sql_node *best, const hf_sql_node *n);

#endif

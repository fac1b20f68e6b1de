/* eval.h: evaluating bound expressions, and binding them.
 *
 * Evaluation is by values: each carries its type.  Binding (bind.c) has
 * already put in the casts that a database's static types ask for.
 *
 * Failures are of two kinds.  "Raised": the database itself would refuse
 * (division by zero in PostgreSQL); status HF_ERR_INPUT.  "Unsaid": databases
 * disagree, or we do not know; status HF_ERR_UNSUPPORTED.
 */
#ifndef HF_SQL_EVAL_H
#define HF_SQL_EVAL_H

#include "sql/tree.h"
#include "sql/value.h"

typedef struct hf_sql_frame {
    const hf_sql_value *row;
    const struct hf_sql_frame *outer;
} hf_sql_frame;

typedef struct hf_sql_eval hf_sql_eval;
struct hf_sql_eval {
    hf_sql_dialect dialect;
    /* Like a database: what is raised on the left of AND stays raised.  Else
     * FALSE AND anything is FALSE. */
    bool strict;
    hf_sql_frame frame; /* the row, and those of the queries around */
    hf_arena *arena;    /* for texts made on the way; see hf_sql_scratch() */
    hf_arena own;       /* used if arena is NULL */
    bool has_own;
    hf_error *err; /* may be NULL */
    hf_status status;
    /* subqueries: fills ret (IN, EXISTS: a BOOL or NULL); NULL: none */
    bool (*subquery)(hf_sql_eval *ev, const hf_sql_node *node,
                     hf_sql_value *ret);
    void *user;
};

/* False: failed, ev->status and *ev->err say how. */
bool hf_sql_value_of(hf_sql_eval *ev, const hf_sql_node *node,
                     hf_sql_value *ret);
/* HF_SQL_ERROR: failed. */
hf_sql_truth hf_sql_truth_of(hf_sql_eval *ev, const hf_sql_node *node);

/* Both return false. */
bool hf_sql_raise(hf_sql_eval *ev, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool hf_sql_unsaid(hf_sql_eval *ev, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Unsaid if the dialect is not known, else raised. */
bool hf_sql_refuse(hf_sql_eval *ev, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

hf_arena *hf_sql_scratch(hf_sql_eval *ev);
const char *hf_sql_type_name(unsigned type, unsigned note);

/* ---- the parts, each in its own file ------------------------------------ */

/* compare.c: -1, 0, 1 in *ret, or 2 for "unlike, but the order is not known"
 * (texts of a dialect not known).  Neither is NULL. */
bool hf_sql_compare(hf_sql_eval *ev, const hf_sql_value *a,
                    const hf_sql_value *b, hf_sql_affinity affinity_a,
                    hf_sql_affinity affinity_b, int *ret);
hf_sql_truth hf_sql_compare_truth(hf_sql_eval *ev, hf_sql_comparison op,
                                  const hf_sql_value *a, const hf_sql_value *b,
                                  const hf_sql_node *node_a,
                                  const hf_sql_node *node_b);
/* As ORDER BY, MIN, GROUP BY do: NULL is equal to NULL and before others. */
bool hf_sql_sort_order(hf_sql_eval *ev, const hf_sql_value *a,
                       const hf_sql_value *b, int *ret);
hf_sql_truth hf_sql_value_truth(hf_sql_eval *ev, const hf_sql_value *v);
bool hf_sql_like(hf_sql_eval *ev, const hf_sql_node *node, hf_sql_truth *ret);

/* arith.c */
bool hf_sql_arithmetic(hf_sql_eval *ev, char op, hf_sql_value a, hf_sql_value b,
                       hf_sql_value *ret);
bool hf_sql_negate(hf_sql_eval *ev, hf_sql_value a, hf_sql_value *ret);

/* cast.c: to a type of the dialect; assign: as an INSERT does it. */
bool hf_sql_cast(hf_sql_eval *ev, hf_sql_value v, unsigned type, unsigned note,
                 int32_t modifier, bool assign, hf_sql_value *ret);
/* A quoted literal takes the type of what it stands beside. */
bool hf_sql_literal_as(hf_sql_eval *ev, const hf_sql_value *like,
                       hf_sql_value *literal);
/* SQLite's conversions. */
hf_sql_value hf_sqlite_storage(hf_sql_value v); /* no booleans, no decimals */
hf_sql_value hf_sqlite_number(const hf_sql_value *v); /* for arithmetic */
hf_sql_value hf_sqlite_affinity(hf_sql_value v, hf_sql_affinity affinity,
                                hf_arena *arena);

/* call.c */
typedef enum hf_sql_function {
    HF_F_NONE = 0,
    HF_F_ABS,
    HF_F_LOWER,
    HF_F_UPPER,
    HF_F_LENGTH,
    HF_F_ROUND,
    HF_F_CEIL,
    HF_F_FLOOR,
    HF_F_TRUNC,
    HF_F_SIGN,
    HF_F_MOD,
    HF_F_SUBSTR,
    HF_F_TRIM,
    HF_F_LTRIM,
    HF_F_RTRIM,
    HF_F_REPLACE,
    HF_F_POSITION,
    HF_F_LEFT,
    HF_F_RIGHT,
    HF_F_COUNT
} hf_sql_function;
/* HF_F_NONE: not known, or not with so many arguments. */
hf_sql_function hf_sql_function_of(hf_str name, uint32_t n_args,
                                   hf_sql_dialect dialect);
bool hf_sql_call(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *args,
                 uint32_t n, hf_sql_value *ret);

/* ---- binding ------------------------------------------------------------ */

typedef struct hf_sql_scope hf_sql_scope;
/* What a name stands for; false: not found (or, err filled: ambiguous). */
typedef struct hf_sql_column_info {
    uint32_t slot;
    uint8_t type, note, affinity;
    uint16_t depth;
} hf_sql_column_info;

typedef struct hf_sql_binder hf_sql_binder;
struct hf_sql_binder {
    hf_sql_dialect dialect;
    hf_arena *arena;
    hf_error *err;
    hf_status status; /* of the failure */
    bool (*column)(hf_sql_binder *b, hf_str table, hf_str name,
                   hf_sql_column_info *ret);
    /* binds node->select into node->plan, static type of its first column
     * into node->type; NULL: subqueries are not supported here */
    bool (*select)(hf_sql_binder *b, hf_sql_node *node);
    const hf_sql_value *params;
    uint32_t n_params;
    bool allow_aggregates;
    bool in_aggregate;
    bool has_aggregates; /* one was met */
    unsigned depth;
    void *user;
};

/* A bound copy; NULL: err says why. */
hf_sql_node *hf_sql_bind(hf_sql_binder *b, const hf_sql_node *node);
/* The same, where a truth value is wanted. */
hf_sql_node *hf_sql_bind_truth(hf_sql_binder *b, const hf_sql_node *node);
/* A cast to the type around a bound node, unless it is of it. */
hf_sql_node *hf_sql_bind_cast(hf_sql_binder *b, hf_sql_node *node,
                              unsigned type, unsigned note);
/* The common type of some nodes, and casts to it. */
bool hf_sql_bind_common(hf_sql_binder *b, hf_sql_node **nodes, uint32_t n,
                        const char *what, hf_sql_node *ret_type);
/* Same meaning, node by node? */
bool hf_sql_same_node(const hf_sql_node *a, const hf_sql_node *b);

#endif

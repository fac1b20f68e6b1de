/* plan.h: a SELECT bound to tables, ready to run; for src/sql only. */
#ifndef HF_SQL_PLAN_H
#define HF_SQL_PLAN_H

#include "sql/eval.h"
#include "sql/exec.h"

typedef struct hf_sql_plan hf_sql_plan;

/* One table or subquery in FROM; its columns are slots base, base + 1, ... of
 * the joined row. */
typedef struct hf_sql_source {
    hf_str alias;
    const hf_sql_table *table; /* or */
    hf_sql_plan *plan;
    uint32_t base, n_columns;
    const hf_str *hidden; /* columns of USING: the left ones stand for them */
    uint32_t n_hidden;
} hf_sql_source;

struct hf_sql_scope {
    hf_sql_source *sources;
    uint32_t n, width; /* slots in all */
    const hf_sql_scope *outer;
    bool *uses_outer; /* of the plan, set when a name is found outside */
};

/* A part of WHERE, or of ON, that stands under AND only. */
typedef struct hf_sql_conjunct {
    hf_sql_node *node;
    uint32_t low, high; /* slots it uses; low > high: none */
    bool fixed;         /* has a subquery: is not moved */
    bool used;
} hf_sql_conjunct;

typedef struct hf_sql_conjuncts {
    hf_sql_conjunct *at;
    uint32_t n;
} hf_sql_conjuncts;

/* FROM; a node covers slots base .. base + width - 1. */
typedef struct hf_sql_join_plan hf_sql_join_plan;
struct hf_sql_join_plan {
    hf_sql_join kind;
    uint32_t base, width;
    uint32_t source; /* leaf */
    hf_sql_join_plan *left, *right;
    hf_sql_conjuncts on;
};

struct hf_sql_plan {
    const hf_sql_select *select;
    hf_sql_scope scope;
    hf_sql_join_plan *from; /* NULL: one row of nothing */
    hf_sql_node *where;
    hf_sql_conjuncts conjuncts; /* of WHERE */
    uint32_t n_out, n_all;      /* results; and with sort keys that are none */
    hf_sql_node **out;          /* n_all */
    hf_str *names;              /* n_out */
    uint32_t n_sort;
    uint32_t *sort; /* which of out */
    bool grouped;
    uint32_t n_group, n_aggregates;
    hf_sql_node **group;
    hf_sql_node **aggregates;
    hf_sql_node *having;
    hf_sql_node *limit, *offset;
    hf_sql_node ***rows; /* VALUES */
    bool uses_outer;     /* of a query around: cannot be kept */
    bool kept;           /* run once; the rows: */
    hf_sql_value **kept_rows;
    uint32_t n_kept;
};

/* One statement being executed. */
typedef struct hf_sql_run {
    hf_sql_database *db;
    hf_arena *arena;
    const hf_sql_value *params;
    uint32_t n_params;
    hf_error *err;
    hf_status status;
    unsigned depth;
    uint64_t steps; /* pairs of rows looked at by joins */
} hf_sql_run;

/* NULL: run->status and err say why. */
hf_sql_plan *hf_sql_plan_select(hf_sql_run *run, const hf_sql_select *s,
                                const hf_sql_scope *outer);
void hf_sql_plan_binder(hf_sql_run *run, const hf_sql_scope *scope,
                        hf_sql_binder *ret);
/* Results by name, with * written out; for SELECT and RETURNING. */
bool hf_sql_plan_targets(hf_sql_binder *b, const hf_sql_scope *scope,
                         const hf_sql_target *targets, uint32_t n,
                         hf_sql_node ***ret_nodes, hf_str **ret_names,
                         uint32_t *ret_n);
/* plan_from.c */
uint32_t hf_sql_count_sources(const hf_sql_from *f); /* f may be NULL */
hf_sql_join_plan *hf_sql_plan_from(hf_sql_run *run, hf_sql_plan *p,
                                   const hf_sql_from *f);
void hf_sql_plan_conjuncts(hf_arena *arena, hf_sql_node *node,
                           hf_sql_conjuncts *ret);

/* run.c: rows of n_out values each. */
bool hf_sql_run_plan(hf_sql_run *run, hf_sql_plan *p, const hf_sql_frame *outer,
                     hf_sql_value ***ret_rows, uint32_t *ret_n);
bool hf_sql_run_subquery(hf_sql_eval *ev, const hf_sql_node *node,
                         hf_sql_value *ret);
void hf_sql_run_eval(hf_sql_run *run, const hf_sql_frame *outer,
                     hf_sql_eval *ret);
/* Passes a failure of ev on to run; returns false. */
bool hf_sql_run_failed(hf_sql_run *run, const hf_sql_eval *ev);
bool hf_sql_run_refuse(hf_sql_run *run, hf_status status, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
bool hf_sql_run_full(hf_sql_run *run); /* too much memory: refuses */

/* join.c: the rows of FROM after WHERE, each from slot 0 on. */
bool hf_sql_run_from(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                     hf_sql_value ***ret_rows, uint32_t *ret_n);
/* The place of the one row that the conjuncts allow by the primary key:
 * UINT32_MAX if there is none.  False: they do not say. */
bool hf_sql_run_key(const hf_sql_table *t, uint32_t base,
                    const hf_sql_conjuncts *conjuncts, uint32_t *ret_place);

/* group.c: one row of group values and aggregates for each group. */
bool hf_sql_run_groups(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                       hf_sql_value ***rows, uint32_t *n);
/* Positions of equal rows: a set of rows by their first n values. */
typedef struct hf_sql_row_set {
    uint32_t *slots;
    uint32_t n_slots, n, width;
    hf_sql_value **rows;
    uint32_t cap;
    hf_arena *arena;
} hf_sql_row_set;
void hf_sql_row_set_init(hf_sql_row_set *s, hf_arena *arena, uint32_t width);
/* The number of the equal row, or of this one, now added. */
bool hf_sql_row_set_add(hf_sql_row_set *s, hf_sql_eval *ev, hf_sql_value *row,
                        uint32_t *ret, bool *ret_new);

/* write.c */
bool hf_sql_run_write(hf_sql_run *run, const hf_sql_statement *s,
                      hf_sql_result *ret);

#endif

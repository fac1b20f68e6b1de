/* pg_call.c: libpg_query's function calls and casts into ours. */
#include "sql/pg_convert.h"

#include <stdio.h>

static bool aggregate_of(hf_str name, hf_sql_aggregate *ret)
{
    static const char *const names[] = {"count", "sum", "avg", "min", "max"};

    for (unsigned i = 0; i < 5; i++)
        if (hf_str_eq(name, hf_str_of(names[i]))) {
            *ret = (hf_sql_aggregate)i;
            return true;
        }
    return false;
}

hf_sql_node *hf_pg_call(hf_pg_convert *c, const PgQuery__FuncCall *f)
{
    hf_sql_node *node = hf_pg_node(c, HF_N_CALL, (uint32_t)f->n_args);
    hf_sql_aggregate aggregate;

    if (f->over)
        return hf_pg_unsupported(c, "window functions are");
    if (f->n_agg_order > 0 || f->agg_within_group)
        return hf_pg_unsupported(c, "ORDER BY inside an aggregate is");
    if (f->agg_filter)
        return hf_pg_unsupported(c, "FILTER of an aggregate is");
    if (f->func_variadic || f->n_funcname == 0 ||
        (f->n_funcname == 2 &&
         strcmp(hf_pg_string(f->funcname[0]), "pg_catalog") != 0))
        return hf_pg_unsupported(c, "a function of a schema is");
    node->name = hf_pg_text(c, hf_pg_string(f->funcname[f->n_funcname - 1]));
    if (!hf_pg_exprs(c, f->args, f->n_args, node->args))
        return NULL;
    /* SQLite's min(a, b) is a plain function */
    if (aggregate_of(node->name, &aggregate) && f->n_args <= 1) {
        if (f->n_args == 0 && !(f->agg_star && aggregate == HF_AGG_COUNT))
            return hf_pg_unsupported(c, "an aggregate without argument is");
        node->kind = HF_N_AGGREGATE;
        node->op = (uint8_t)aggregate;
    } else if (f->agg_star) {
        return hf_pg_unsupported(c, "a function of * is");
    }
    if (f->agg_distinct)
        node->flags |= HF_NF_DISTINCT;
    return node;
}

typedef struct type_row {
    const char *name;
    uint8_t type, note;
} type_row;

static const type_row types[] = {
    {"int4", HF_SQL_INT, HF_SQL_NOTE_INT4},
    {"int8", HF_SQL_INT, HF_SQL_NOTE_INT8},
    {"integer", HF_SQL_INT, HF_SQL_NOTE_INT4},
    {"numeric", HF_SQL_DECIMAL, 0},
    {"float8", HF_SQL_REAL, 0},
    {"text", HF_SQL_TEXT, 0},
    {"varchar", HF_SQL_TEXT, 0},
    {"bool", HF_SQL_BOOL, 0},
    {"date", HF_SQL_DATE, 0},
    {"timestamp", HF_SQL_TIMESTAMP, 0},
};

/* varchar(n), numeric(p, s): what the numbers in parentheses are. */
static bool modifier_of(hf_pg_convert *c, const PgQuery__TypeName *t,
                        hf_sql_node *node)
{
    int32_t numbers[2] = {0, 0};

    node->modifier = -1;
    if (t->n_typmods == 0)
        return true;
    if (t->n_typmods > 2 || (node->type != HF_SQL_DECIMAL &&
                             (node->type != HF_SQL_TEXT || t->n_typmods > 1)))
        return hf_pg_unsupported(c, "a type with these parentheses is");
    for (size_t i = 0; i < t->n_typmods; i++) {
        const PgQuery__Node *n = t->typmods[i];

        if (n->node_case != PG_QUERY__NODE__NODE_A_CONST ||
            n->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
            n->a_const->ival->ival < 0 || n->a_const->ival->ival > 10000)
            return hf_pg_unsupported(c, "a type with these parentheses is");
        numbers[i] = n->a_const->ival->ival;
    }
    node->modifier = node->type == HF_SQL_TEXT
                         ? numbers[0]
                         : (numbers[0] << 16 | numbers[1]);
    return true;
}

hf_sql_node *hf_pg_cast(hf_pg_convert *c, const PgQuery__TypeCast *t)
{
    hf_sql_node *node;
    const char *name;
    char what[80];

    if (!t->type_name || t->type_name->n_names == 0 ||
        t->type_name->n_array_bounds > 0)
        return hf_pg_unsupported(c, "a cast to an array is");
    node = hf_pg_node(c, HF_N_CAST, 1);
    node->args[0] = hf_pg_expr(c, t->arg);
    if (!node->args[0])
        return NULL;
    name = hf_pg_string(t->type_name->names[t->type_name->n_names - 1]);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0) {
            node->type = types[i].type;
            node->note = types[i].note;
            return modifier_of(c, t->type_name, node) ? node : NULL;
        }
    (void)snprintf(what, sizeof(what), "type %.40s is", name);
    return hf_pg_unsupported(c, what);
}

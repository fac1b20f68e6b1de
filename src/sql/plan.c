/* plan.c: binding a SELECT to the tables it names.
 *
 * Aggregates: all expressions are bound over the joined row first; then, in a
 * grouped query, whatever is equal to a GROUP BY expression or is an
 * aggregate is replaced by a slot of the group's row (lift()), and a column
 * that is left over is an error.
 */
#include "sql/plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"

#define MAX_QUERIES 40u /* one inside the other */

typedef struct planner {
    hf_sql_run *run;
    const hf_sql_scope *scope;
} planner;

static bool refuse(hf_sql_binder *b, hf_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(hf_sql_binder *b, hf_status status, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    b->status = hf_fail(b->err, status, "%s", text);
    return false;
}

/* ---- names -------------------------------------------------------------- */

static hf_str source_column(const hf_sql_source *s, uint32_t i)
{
    return s->table ? s->table->columns[i].name : s->plan->names[i];
}

static bool is_hidden(const hf_sql_source *s, hf_str name)
{
    for (uint32_t i = 0; i < s->n_hidden; i++)
        if (hf_str_eq(s->hidden[i], name))
            return true;
    return false;
}

static void column_info(hf_sql_dialect dialect, const hf_sql_source *s,
                        uint32_t i, hf_sql_column_info *ret)
{
    static const uint8_t affinities[HF_SQL_TYPE_COUNT] = {
        [HF_SQL_BOOL] = HF_AFFINITY_NUMERIC,
        [HF_SQL_INT] = HF_AFFINITY_INTEGER,
        [HF_SQL_DECIMAL] = HF_AFFINITY_NUMERIC,
        [HF_SQL_REAL] = HF_AFFINITY_REAL,
        [HF_SQL_TEXT] = HF_AFFINITY_TEXT,
        [HF_SQL_DATE] = HF_AFFINITY_NUMERIC,
        [HF_SQL_TIMESTAMP] = HF_AFFINITY_NUMERIC,
    };

    ret->slot = s->base + i;
    ret->type = HF_SQL_TYPE_ANY;
    if (s->table) {
        ret->affinity = affinities[s->table->columns[i].type];
        if (dialect == HF_SQL_POSTGRES) {
            ret->type = (uint8_t)s->table->columns[i].type;
            ret->note = s->table->columns[i].note;
        }
    } else {
        ret->affinity = s->plan->out[i]->affinity;
        ret->type = s->plan->out[i]->type;
        ret->note = s->plan->out[i]->note;
    }
}

static bool find_in(hf_sql_binder *b, const hf_sql_scope *scope, hf_str table,
                    hf_str name, hf_sql_column_info *ret)
{
    bool found = false;

    for (uint32_t i = 0; i < scope->n; i++) {
        const hf_sql_source *s = &scope->sources[i];

        if (table.len ? !hf_str_eq(s->alias, table) : is_hidden(s, name))
            continue;
        for (uint32_t k = 0; k < s->n_columns; k++) {
            if (!hf_str_eq(source_column(s, k), name))
                continue;
            if (found)
                return refuse(b, HF_ERR_INPUT, "column \"%.*s\" is ambiguous",
                              (int)name.len, name.ptr);
            column_info(b->dialect, s, k, ret);
            found = true;
        }
    }
    return found;
}

static bool find_column(hf_sql_binder *b, hf_str table, hf_str name,
                        hf_sql_column_info *ret)
{
    const planner *p = b->user;
    uint16_t depth = 0;

    for (const hf_sql_scope *s = p->scope; s; s = s->outer, depth++) {
        if (find_in(b, s, table, name, ret)) {
            ret->depth = depth;
            /* every query in between runs again for each outer row */
            for (const hf_sql_scope *t = p->scope; t != s; t = t->outer)
                *t->uses_outer = true;
            return true;
        }
        if (b->status != HF_OK)
            return false;
    }
    return false;
}

static bool bind_subquery(hf_sql_binder *b, hf_sql_node *node)
{
    const planner *p = b->user;
    hf_sql_plan *plan = hf_sql_plan_select(p->run, node->select, p->scope);

    if (!plan) {
        b->status = p->run->status;
        return false;
    }
    if (node->kind != HF_N_EXISTS && plan->n_out != 1)
        return refuse(b, HF_ERR_INPUT, "a subquery must have one column");
    node->plan = plan;
    if (node->kind == HF_N_SCALAR_SELECT) {
        node->type = plan->out[0]->type;
        node->note = plan->out[0]->note;
        node->affinity = plan->out[0]->affinity;
    }
    return true;
}

void hf_sql_plan_binder(hf_sql_run *run, const hf_sql_scope *scope,
                        hf_sql_binder *ret)
{
    planner *p = hf_arena_get(run->arena, sizeof(*p));

    p->run = run;
    p->scope = scope;
    *ret = (hf_sql_binder){
        .dialect = hf_sql_database_dialect(run->db),
        .arena = run->arena,
        .err = run->err,
        .column = find_column,
        .select = bind_subquery,
        .params = run->params,
        .n_params = run->n_params,
        .user = p,
    };
}

/* ---- results ------------------------------------------------------------ */

typedef HF_VEC(hf_sql_node *) node_list;
typedef HF_VEC(hf_str) name_list;

static hf_sql_node *slot_node(hf_sql_binder *b, const hf_sql_source *s,
                              uint32_t i)
{
    hf_sql_node *node = hf_arena_get(b->arena, sizeof(*node));
    hf_sql_column_info info = {0};

    column_info(b->dialect, s, i, &info);
    node->kind = HF_N_COLUMN;
    node->slot = info.slot;
    node->type = info.type;
    node->note = info.note;
    node->affinity = info.affinity;
    return node;
}

static bool expand_star(hf_sql_binder *b, const hf_sql_scope *scope,
                        hf_str table, node_list *nodes, name_list *names)
{
    bool found = false;

    for (uint32_t i = 0; i < scope->n; i++) {
        const hf_sql_source *s = &scope->sources[i];

        if (table.len && !hf_str_eq(s->alias, table))
            continue;
        if (s->n_hidden && !table.len)
            return refuse(b, HF_ERR_UNSUPPORTED,
                          "* together with USING is not supported");
        for (uint32_t k = 0; k < s->n_columns; k++) {
            hf_vec_push(nodes, slot_node(b, s, k));
            hf_vec_push(names, source_column(s, k));
        }
        found = true;
    }
    return found || refuse(b, HF_ERR_INPUT, "* has no table to stand for");
}

static hf_str result_name(const hf_sql_target *t)
{
    if (t->name.len)
        return t->name;
    if (t->node->kind == HF_N_COLUMN || t->node->kind == HF_N_CALL ||
        t->node->kind == HF_N_AGGREGATE)
        return t->node->name;
    return HF_STR("");
}

bool hf_sql_plan_targets(hf_sql_binder *b, const hf_sql_scope *scope,
                         const hf_sql_target *targets, uint32_t n,
                         hf_sql_node ***ret_nodes, hf_str **ret_names,
                         uint32_t *ret_n)
{
    node_list nodes = {0};
    name_list names = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < n; i++) {
        const hf_sql_node *node = targets[i].node;
        hf_sql_node *made;

        if (node->kind == HF_N_STAR) {
            ok = expand_star(b, scope, node->table, &nodes, &names);
            continue;
        }
        made = hf_sql_bind(b, node);
        ok = made != NULL;
        hf_vec_push(&nodes, made);
        hf_vec_push(&names, result_name(&targets[i]));
    }
    *ret_n = (uint32_t)nodes.n;
    *ret_nodes = hf_arena_get(b->arena, (nodes.n + 1) * sizeof(**ret_nodes));
    *ret_names = hf_arena_get(b->arena, (nodes.n + 1) * sizeof(**ret_names));
    for (size_t i = 0; i < nodes.n; i++) {
        (*ret_nodes)[i] = nodes.at[i];
        (*ret_names)[i] = names.at[i];
    }
    hf_vec_release(&nodes);
    hf_vec_release(&names);
    return ok;
}

/* VALUES as a table: columns are called column1, column2, ... */
static bool plan_values(hf_sql_run *run, hf_sql_plan *p, hf_sql_binder *b)
{
    const hf_sql_select *s = p->select;
    hf_sql_node **column;

    p->n_out = p->n_all = s->n_targets;
    p->names = hf_arena_get(run->arena, (p->n_out + 1) * sizeof(hf_str));
    p->out = hf_arena_get(run->arena, (p->n_out + 1) * sizeof(*p->out));
    p->rows = hf_arena_get(run->arena, s->n_rows * sizeof(*p->rows));
    for (uint32_t r = 0; r < s->n_rows; r++) {
        p->rows[r] =
            hf_arena_get(run->arena, (p->n_out + 1) * sizeof(**p->rows));
        for (uint32_t i = 0; i < p->n_out; i++)
            if (!(p->rows[r][i] = hf_sql_bind(b, s->rows[r][i])))
                return false;
    }
    column = hf_arena_get(run->arena, s->n_rows * sizeof(*column));
    for (uint32_t i = 0; i < p->n_out; i++) {
        char name[24];
        int n = snprintf(name, sizeof(name), "column%u", (unsigned)i + 1);

        p->names[i] =
            (hf_str){hf_arena_text(run->arena, name, (size_t)n), (size_t)n};
        p->out[i] = hf_arena_get(run->arena, sizeof(**p->out));
        for (uint32_t r = 0; r < s->n_rows; r++)
            column[r] = p->rows[r][i];
        if (!hf_sql_bind_common(b, column, s->n_rows, "VALUES", p->out[i]))
            return false;
        for (uint32_t r = 0; r < s->n_rows; r++)
            p->rows[r][i] = column[r];
    }
    return true;
}

/* ---- GROUP BY, ORDER BY ------------------------------------------------- */

/* A whole number stands for a result, counted from 1. */
static bool is_ordinal(const hf_sql_node *node)
{
    return node->kind == HF_N_CONST && node->value.type == HF_SQL_INT;
}

static bool ordinal(hf_sql_binder *b, const hf_sql_plan *p,
                    const hf_sql_node *node, uint32_t *ret)
{
    if (node->value.integer < 1 || node->value.integer > p->n_out)
        return refuse(b, HF_ERR_INPUT, "there is no result %lld",
                      (long long)node->value.integer);
    *ret = (uint32_t)node->value.integer - 1;
    return true;
}

/* The result that a bare name means; n_out: none. */
static bool named_result(hf_sql_binder *b, const hf_sql_plan *p,
                         const hf_sql_node *node, uint32_t *ret)
{
    *ret = p->n_out;
    if (node->kind != HF_N_COLUMN || node->table.len)
        return true;
    for (uint32_t i = 0; i < p->n_out; i++) {
        if (!hf_str_eq(p->names[i], node->name))
            continue;
        if (*ret < p->n_out && !hf_sql_same_node(p->out[*ret], p->out[i]))
            return refuse(b, HF_ERR_INPUT, "\"%.*s\" is ambiguous",
                          (int)node->name.len, node->name.ptr);
        if (*ret == p->n_out)
            *ret = i;
    }
    return true;
}

static bool plan_group(hf_sql_binder *b, hf_sql_plan *p)
{
    const hf_sql_select *s = p->select;
    hf_sql_column_info info;
    uint32_t i_out = 0;

    p->n_group = s->n_group;
    p->group = hf_arena_get(b->arena, (s->n_group + 1) * sizeof(*p->group));
    b->allow_aggregates = false;
    for (uint32_t i = 0; i < s->n_group; i++) {
        const hf_sql_node *node = s->group[i];

        if (is_ordinal(node)) {
            if (!ordinal(b, p, node, &i_out))
                return false;
            p->group[i] = p->out[i_out];
            continue;
        }
        b->status = HF_OK;
        if (node->kind == HF_N_COLUMN && !node->table.len &&
            !find_column(b, node->table, node->name, &info) &&
            b->status == HF_OK) {
            if (!named_result(b, p, node, &i_out))
                return false;
            if (i_out < p->n_out) {
                p->group[i] = p->out[i_out];
                continue;
            }
        }
        if (!(p->group[i] = hf_sql_bind(b, node)))
            return false;
    }
    return true;
}

static bool plan_order(hf_sql_binder *b, hf_sql_plan *p)
{
    const hf_sql_select *s = p->select;
    hf_sql_node **all;
    uint32_t i_out = 0;

    all = hf_arena_get(b->arena, (p->n_out + s->n_order + 1) * sizeof(*all));
    memcpy(all, p->out, p->n_out * sizeof(*all));
    p->out = all;
    p->n_all = p->n_out;
    p->n_sort = s->n_order;
    p->sort = hf_arena_get(b->arena, (s->n_order + 1) * sizeof(*p->sort));
    for (uint32_t i = 0; i < s->n_order; i++) {
        const hf_sql_node *node = s->order[i].node;
        hf_sql_node *made;

        if (is_ordinal(node) ? !ordinal(b, p, node, &i_out)
                             : !named_result(b, p, node, &i_out))
            return false;
        if (i_out == p->n_out) {
            if (!(made = hf_sql_bind(b, node)))
                return false;
            i_out = 0;
            while (i_out < p->n_out && !hf_sql_same_node(all[i_out], made))
                i_out++;
            if (i_out == p->n_out) {
                if (s->distinct)
                    return refuse(b, HF_ERR_INPUT,
                                  "ORDER BY of a SELECT DISTINCT must be one "
                                  "of its results");
                i_out = p->n_all++;
                all[i_out] = made;
            }
        }
        p->sort[i] = i_out;
    }
    return true;
}

/* ---- groups: expressions over the group's row --------------------------- */

static hf_sql_node *group_slot(hf_sql_binder *b, const hf_sql_node *of,
                               uint32_t slot)
{
    hf_sql_node *node = hf_arena_get(b->arena, sizeof(*node));

    node->kind = HF_N_COLUMN;
    node->slot = slot;
    node->type = of->type;
    node->note = of->note;
    node->affinity = of->kind == HF_N_AGGREGATE ? 0 : of->affinity;
    return node;
}

static uint32_t aggregate_number(hf_sql_binder *b, hf_sql_plan *p,
                                 hf_sql_node *node)
{
    hf_sql_node **more;

    for (uint32_t i = 0; i < p->n_aggregates; i++)
        if (hf_sql_same_node(p->aggregates[i], node))
            return i;
    more = hf_arena_get(b->arena, (p->n_aggregates + 1) * sizeof(*more));
    if (p->n_aggregates)
        memcpy(more, p->aggregates, p->n_aggregates * sizeof(*more));
    more[p->n_aggregates] = node;
    p->aggregates = more;
    return p->n_aggregates++;
}

static hf_sql_node *lift(hf_sql_binder *b, hf_sql_plan *p, hf_sql_node *node)
{
    hf_sql_node *made;

    for (uint32_t i = 0; i < p->n_group; i++)
        if (hf_sql_same_node(p->group[i], node))
            return group_slot(b, node, i);
    if (node->kind == HF_N_AGGREGATE)
        return group_slot(b, node, p->n_group + aggregate_number(b, p, node));
    if (node->kind == HF_N_COLUMN && node->depth == 0) {
        if (b->dialect == HF_SQL_SQLITE)
            (void)refuse(b, HF_ERR_UNSUPPORTED,
                         "a column that is neither grouped nor in an "
                         "aggregate is not supported");
        else
            (void)refuse(b, HF_ERR_INPUT,
                         "column \"%.*s\" must be in GROUP BY or in an "
                         "aggregate",
                         (int)node->name.len, node->name.ptr);
        return NULL;
    }
    if (node->plan && ((hf_sql_plan *)node->plan)->uses_outer) {
        (void)refuse(b, HF_ERR_UNSUPPORTED,
                     "a subquery over columns of a grouped query is not "
                     "supported");
        return NULL;
    }
    made = hf_arena_get(b->arena, sizeof(*made));
    *made = *node;
    if (node->n > 0)
        made->args = hf_arena_get(b->arena, node->n * sizeof(*made->args));
    for (uint32_t i = 0; i < node->n; i++)
        if (!(made->args[i] = lift(b, p, node->args[i])))
            return NULL;
    return made;
}

static bool lift_all(hf_sql_binder *b, hf_sql_plan *p)
{
    for (uint32_t i = 0; i < p->n_all; i++)
        if (!(p->out[i] = lift(b, p, p->out[i])))
            return false;
    return !p->having || (p->having = lift(b, p, p->having)) != NULL;
}

/* ---- SELECT ------------------------------------------------------------- */

static bool plan_limit(hf_sql_binder *b, const hf_sql_node *node,
                       hf_sql_node **ret)
{
    if (!node)
        return true;
    *ret = hf_sql_bind(b, node);
    if (*ret && (*ret)->type == HF_SQL_TEXT && b->dialect == HF_SQL_POSTGRES)
        *ret = hf_sql_bind_cast(b, *ret, HF_SQL_INT, HF_SQL_NOTE_INT8);
    return *ret != NULL;
}

static bool plan_results(hf_sql_run *run, hf_sql_plan *p, hf_sql_binder *b)
{
    const hf_sql_select *s = p->select;

    if (s->n_rows > 0)
        return plan_values(run, p, b) && plan_order(b, p);
    b->allow_aggregates = false;
    if (s->where && !(p->where = hf_sql_bind_truth(b, s->where)))
        return false;
    hf_sql_plan_conjuncts(run->arena, p->where, &p->conjuncts);
    b->allow_aggregates = true;
    if (!hf_sql_plan_targets(b, &p->scope, s->targets, s->n_targets, &p->out,
                             &p->names, &p->n_out) ||
        !plan_group(b, p))
        return false;
    b->allow_aggregates = true;
    if (s->having && !(p->having = hf_sql_bind_truth(b, s->having)))
        return false;
    if (!plan_order(b, p))
        return false;
    p->grouped = s->n_group > 0 || s->having || b->has_aggregates;
    return !p->grouped || lift_all(b, p);
}

static bool plan_parts(hf_sql_run *run, hf_sql_plan *p)
{
    const hf_sql_select *s = p->select;
    uint32_t n = hf_sql_count_sources(s->from);
    hf_sql_binder b;
    bool ok;

    p->scope.sources =
        hf_arena_get(run->arena, (n + 1) * sizeof(*p->scope.sources));
    if (s->from && !(p->from = hf_sql_plan_from(run, p, s->from)))
        return false;
    hf_sql_plan_binder(run, &p->scope, &b);
    ok = plan_results(run, p, &b);
    if (ok) {
        b.allow_aggregates = false;
        ok = plan_limit(&b, s->limit, &p->limit) &&
             plan_limit(&b, s->offset, &p->offset);
    }
    if (!ok)
        run->status = b.status ? b.status : HF_ERR_UNSUPPORTED;
    return ok;
}

hf_sql_plan *hf_sql_plan_select(hf_sql_run *run, const hf_sql_select *s,
                                const hf_sql_scope *outer)
{
    hf_sql_plan *p = hf_arena_get(run->arena, sizeof(*p));
    bool ok;

    if (run->depth >= MAX_QUERIES) {
        (void)hf_sql_run_refuse(run, HF_ERR_UNSUPPORTED,
                                "queries nested so deeply are not supported");
        return NULL;
    }
    run->depth++;
    p->select = s;
    p->scope.outer = outer;
    p->scope.uses_outer = &p->uses_outer;
    ok = plan_parts(run, p);
    run->depth--;
    return ok ? p : NULL;
}

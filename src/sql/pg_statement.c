/* pg_statement.c: libpg_query's statements into ours. */
#include "sql/pg_convert.h"

#include "base/error.h"

#define MAX_SELECT_DEPTH 1400u

/* ---- FROM --------------------------------------------------------------- */

static hf_sql_from *from_item(hf_pg_convert *c, const PgQuery__Node *node);

static hf_sql_from *new_from(hf_pg_convert *c, hf_sql_join kind)
{
    hf_sql_from *f = hf_arena_get(c->arena, sizeof(*f));

    f->kind = kind;
    return f;
}

static bool table_name(hf_pg_convert *c, const PgQuery__RangeVar *r,
                       hf_str *ret_name, hf_str *ret_alias)
{
    if (!r)
        return hf_pg_unsupported(c, "a statement without table is");
    if (r->alias && r->alias->n_colnames > 0)
        return hf_pg_unsupported(c, "an alias that names columns is");
    *ret_name = hf_pg_text(c, r->relname); /* schemas are not told apart */
    *ret_alias = r->alias ? hf_pg_text(c, r->alias->aliasname) : *ret_name;
    return true;
}

static hf_sql_from *from_select(hf_pg_convert *c,
                                const PgQuery__RangeSubselect *s)
{
    hf_sql_from *f = new_from(c, HF_JOIN_SELECT);

    if (s->lateral)
        return hf_pg_unsupported(c, "LATERAL is");
    if (!s->subquery ||
        s->subquery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return hf_pg_unsupported(c, "a subquery of this form is");
    if (s->alias && s->alias->n_colnames > 0)
        return hf_pg_unsupported(c, "an alias that names columns is");
    if (s->alias)
        f->alias = hf_pg_text(c, s->alias->aliasname);
    f->select = hf_pg_select(c, s->subquery->select_stmt);
    return f->select ? f : NULL;
}

static hf_sql_from *from_join(hf_pg_convert *c, const PgQuery__JoinExpr *j)
{
    hf_sql_from *f = new_from(c, HF_JOIN_INNER);
    const PgQuery__Node *left = j->larg, *right = j->rarg;

    if (j->is_natural)
        return hf_pg_unsupported(c, "NATURAL JOIN is");
    if (j->alias || j->join_using_alias)
        return hf_pg_unsupported(c, "an alias of a join is");
    if (j->jointype == PG_QUERY__JOIN_TYPE__JOIN_LEFT)
        f->kind = HF_JOIN_LEFT;
    else if (j->jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT)
        return hf_pg_unsupported(c, "RIGHT JOIN is");
    else if (j->jointype != PG_QUERY__JOIN_TYPE__JOIN_INNER)
        return hf_pg_unsupported(c, "FULL JOIN is");
    f->left = from_item(c, left);
    f->right = f->left ? from_item(c, right) : NULL;
    if (!f->right)
        return NULL;
    if (j->quals && !(f->on = hf_pg_expr(c, j->quals)))
        return NULL;
    f->n_using = (uint32_t)j->n_using_clause;
    f->using_names = hf_arena_get(c->arena, (f->n_using + 1) * sizeof(hf_str));
    for (uint32_t i = 0; i < f->n_using; i++)
        f->using_names[i] = hf_pg_text(c, hf_pg_string(j->using_clause[i]));
    if (f->kind == HF_JOIN_INNER && !f->on && f->n_using == 0)
        f->kind = HF_JOIN_CROSS;
    return f;
}

static hf_sql_from *from_item(hf_pg_convert *c, const PgQuery__Node *node)
{
    hf_sql_from *f = NULL;

    if (c->depth >= MAX_SELECT_DEPTH)
        return hf_pg_unsupported(c, "a join nested so deeply is");
    c->depth++;
    switch (node ? node->node_case : PG_QUERY__NODE__NODE__NOT_SET) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        f = new_from(c, HF_JOIN_TABLE);
        if (!table_name(c, node->range_var, &f->name, &f->alias))
            f = NULL;
        break;
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        f = from_select(c, node->range_subselect);
        break;
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        f = from_join(c, node->join_expr);
        break;
    default:
        hf_pg_unsupported(c, "a function in FROM is");
    }
    c->depth--;
    return f;
}

/* The comma is a cross join. */
static bool from_list(hf_pg_convert *c, PgQuery__Node *const *items, size_t n,
                      hf_sql_from **ret)
{
    hf_sql_from *all = NULL;

    for (size_t i = 0; i < n; i++) {
        hf_sql_from *item = from_item(c, items[i]), *both;

        if (!item)
            return false;
        if (all) {
            both = new_from(c, HF_JOIN_CROSS);
            both->left = all;
            both->right = item;
            item = both;
        }
        all = item;
    }
    *ret = all;
    return true;
}

/* ---- SELECT ------------------------------------------------------------- */

static bool optional(hf_pg_convert *c, const PgQuery__Node *node,
                     hf_sql_node **ret)
{
    return !node || (*ret = hf_pg_expr(c, node)) != NULL;
}

static bool target_list(hf_pg_convert *c, PgQuery__Node *const *items, size_t n,
                        hf_sql_target **ret)
{
    hf_sql_target *t = hf_arena_get(c->arena, (n + 1) * sizeof(*t));

    for (size_t i = 0; i < n; i++) {
        const PgQuery__ResTarget *r;

        if (items[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
            return hf_pg_unsupported(c, "a result of this form is");
        r = items[i]->res_target;
        if (r->n_indirection > 0)
            return hf_pg_unsupported(c, "a part of a column is");
        t[i].name = hf_pg_text(c, r->name);
        if (r->val && !(t[i].node = hf_pg_expr(c, r->val)))
            return false;
    }
    *ret = t;
    return true;
}

static bool order_list(hf_pg_convert *c, PgQuery__Node *const *items, size_t n,
                       hf_sql_sort **ret)
{
    hf_sql_sort *o = hf_arena_get(c->arena, (n + 1) * sizeof(*o));

    for (size_t i = 0; i < n; i++) {
        const PgQuery__SortBy *s;

        if (items[i]->node_case != PG_QUERY__NODE__NODE_SORT_BY)
            return hf_pg_unsupported(c, "ORDER BY of this form is");
        s = items[i]->sort_by;
        if (s->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
            return hf_pg_unsupported(c, "ORDER BY ... USING is");
        if (!(o[i].node = hf_pg_expr(c, s->node)))
            return false;
        o[i].descending = s->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        o[i].nulls =
            s->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST  ? 1
            : s->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST ? 2
                                                                            : 0;
    }
    *ret = o;
    return true;
}

static bool values_rows(hf_pg_convert *c, const PgQuery__SelectStmt *s,
                        hf_sql_select *made)
{
    made->n_rows = (uint32_t)s->n_values_lists;
    made->rows = hf_arena_get(c->arena, made->n_rows * sizeof(*made->rows));
    for (uint32_t i = 0; i < made->n_rows; i++) {
        const PgQuery__Node *row = s->values_lists[i];

        if (row->node_case != PG_QUERY__NODE__NODE_LIST)
            return hf_pg_unsupported(c, "VALUES of this form is");
        if (i == 0)
            made->n_targets = (uint32_t)row->list->n_items;
        if (row->list->n_items != made->n_targets) {
            (void)hf_fail(c->err, HF_ERR_INPUT,
                          "the rows of VALUES are not equally long");
            return false;
        }
        made->rows[i] = hf_arena_get(c->arena, (made->n_targets + 1) *
                                                   sizeof(**made->rows));
        if (!hf_pg_exprs(c, row->list->items, row->list->n_items,
                         made->rows[i]))
            return false;
    }
    return true;
}

static bool refuse_select(hf_pg_convert *c, const PgQuery__SelectStmt *s)
{
    if (s->with_clause)
        return hf_pg_unsupported(c, "WITH is");
    if (s->op > PG_QUERY__SET_OPERATION__SETOP_NONE)
        return hf_pg_unsupported(c, "UNION, INTERSECT and EXCEPT are");
    if (s->into_clause)
        return hf_pg_unsupported(c, "SELECT INTO is");
    if (s->n_window_clause > 0)
        return hf_pg_unsupported(c, "window functions are");
    if (s->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES)
        return hf_pg_unsupported(c, "WITH TIES is");
    if (s->group_distinct)
        return hf_pg_unsupported(c, "GROUP BY DISTINCT is");
    /* DISTINCT is a list of one that holds nothing */
    if (s->n_distinct_clause > 1 ||
        (s->n_distinct_clause == 1 &&
         s->distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET))
        return hf_pg_unsupported(c, "DISTINCT ON is");
    return true;
}

static bool fill_select(hf_pg_convert *c, const PgQuery__SelectStmt *s,
                        hf_sql_select *made)
{
    made->distinct = s->n_distinct_clause > 0;
    made->locks = s->n_locking_clause > 0;
    made->n_targets = (uint32_t)s->n_target_list;
    made->n_group = (uint32_t)s->n_group_clause;
    made->n_order = (uint32_t)s->n_sort_clause;
    made->group =
        hf_arena_get(c->arena, (made->n_group + 1) * sizeof(*made->group));
    return target_list(c, s->target_list, s->n_target_list, &made->targets) &&
           from_list(c, s->from_clause, s->n_from_clause, &made->from) &&
           optional(c, s->where_clause, &made->where) &&
           hf_pg_exprs(c, s->group_clause, s->n_group_clause, made->group) &&
           optional(c, s->having_clause, &made->having) &&
           order_list(c, s->sort_clause, s->n_sort_clause, &made->order) &&
           optional(c, s->limit_count, &made->limit) &&
           optional(c, s->limit_offset, &made->offset) &&
           (s->n_values_lists == 0 || values_rows(c, s, made));
}

hf_sql_select *hf_pg_select(hf_pg_convert *c, const PgQuery__SelectStmt *s)
{
    hf_sql_select *made = hf_arena_get(c->arena, sizeof(*made));
    bool ok;

    if (c->depth >= MAX_SELECT_DEPTH)
        return hf_pg_unsupported(c, "a query nested so deeply is");
    c->depth++;
    ok = refuse_select(c, s) && fill_select(c, s, made);
    c->depth--;
    return ok ? made : NULL;
}

/* ---- INSERT, UPDATE, DELETE --------------------------------------------- */

static bool conflict(hf_pg_convert *c, const PgQuery__OnConflictClause *o,
                     hf_sql_statement *made)
{
    const PgQuery__InferClause *infer = o->infer;

    made->conflict =
        o->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_NOTHING
            ? HF_CONFLICT_NOTHING
            : HF_CONFLICT_UPDATE;
    if (infer && (infer->where_clause || infer->n_index_elems == 0))
        return hf_pg_unsupported(c, "ON CONFLICT on a constraint is");
    if (infer) {
        made->n_conflict_columns = (uint32_t)infer->n_index_elems;
        made->conflict_columns =
            hf_arena_get(c->arena, made->n_conflict_columns * sizeof(hf_str));
    }
    for (uint32_t i = 0; i < made->n_conflict_columns; i++) {
        const PgQuery__Node *e = infer->index_elems[i];

        if (e->node_case != PG_QUERY__NODE__NODE_INDEX_ELEM ||
            e->index_elem->expr)
            return hf_pg_unsupported(c, "ON CONFLICT on an expression is");
        made->conflict_columns[i] = hf_pg_text(c, e->index_elem->name);
    }
    made->n_sets = (uint32_t)o->n_target_list;
    return target_list(c, o->target_list, o->n_target_list, &made->sets) &&
           optional(c, o->where_clause, &made->where);
}

static bool insert(hf_pg_convert *c, const PgQuery__InsertStmt *s,
                   hf_sql_statement *made)
{
    made->verb = HF_SQL_INSERT;
    if (s->with_clause)
        return hf_pg_unsupported(c, "WITH is");
    if (!table_name(c, s->relation, &made->table, &made->alias))
        return false;
    made->n_columns = (uint32_t)s->n_cols;
    made->columns =
        hf_arena_get(c->arena, (made->n_columns + 1) * sizeof(hf_str));
    for (uint32_t i = 0; i < made->n_columns; i++) {
        if (s->cols[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            s->cols[i]->res_target->n_indirection > 0)
            return hf_pg_unsupported(c, "a part of a column is");
        made->columns[i] = hf_pg_text(c, s->cols[i]->res_target->name);
    }
    if (!s->select_stmt ||
        s->select_stmt->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return hf_pg_unsupported(c, "INSERT ... DEFAULT VALUES is");
    made->select = hf_pg_select(c, s->select_stmt->select_stmt);
    made->n_returning = (uint32_t)s->n_returning_list;
    return made->select &&
           (!s->on_conflict_clause ||
            conflict(c, s->on_conflict_clause, made)) &&
           target_list(c, s->returning_list, s->n_returning_list,
                       &made->returning);
}

static bool update(hf_pg_convert *c, const PgQuery__UpdateStmt *s,
                   hf_sql_statement *made)
{
    made->verb = HF_SQL_UPDATE;
    if (s->with_clause)
        return hf_pg_unsupported(c, "WITH is");
    if (s->n_from_clause > 0)
        return hf_pg_unsupported(c, "UPDATE ... FROM is");
    made->n_sets = (uint32_t)s->n_target_list;
    made->n_returning = (uint32_t)s->n_returning_list;
    return table_name(c, s->relation, &made->table, &made->alias) &&
           target_list(c, s->target_list, s->n_target_list, &made->sets) &&
           optional(c, s->where_clause, &made->where) &&
           target_list(c, s->returning_list, s->n_returning_list,
                       &made->returning);
}

static bool delete_rows(hf_pg_convert *c, const PgQuery__DeleteStmt *s,
                        hf_sql_statement *made)
{
    made->verb = HF_SQL_DELETE;
    if (s->with_clause)
        return hf_pg_unsupported(c, "WITH is");
    if (s->n_using_clause > 0)
        return hf_pg_unsupported(c, "DELETE ... USING is");
    made->n_returning = (uint32_t)s->n_returning_list;
    return table_name(c, s->relation, &made->table, &made->alias) &&
           optional(c, s->where_clause, &made->where) &&
           target_list(c, s->returning_list, s->n_returning_list,
                       &made->returning);
}

hf_sql_statement *hf_pg_statement(hf_pg_convert *c, const PgQuery__Node *node)
{
    hf_sql_statement *made = hf_arena_get(c->arena, sizeof(*made));
    bool ok = false;

    switch (node ? node->node_case : PG_QUERY__NODE__NODE__NOT_SET) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        made->verb = HF_SQL_SELECT;
        made->select = hf_pg_select(c, node->select_stmt);
        ok = made->select != NULL;
        break;
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        ok = insert(c, node->insert_stmt, made);
        break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        ok = update(c, node->update_stmt, made);
        break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        ok = delete_rows(c, node->delete_stmt, made);
        break;
    default:
        hf_pg_unsupported(
            c, "a statement other than SELECT, INSERT, UPDATE, DELETE is");
    }
    made->n_params = c->n_params;
    return ok ? made : NULL;
}

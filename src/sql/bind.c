/* bind.c: names to slots, and PostgreSQL's static types.
 *
 * PostgreSQL decides types before it runs: a quoted literal takes the type of
 * what it stands beside, the branches of CASE have one type, an operator that
 * does not exist is an error whatever the rows are.  Here this is done where
 * the types of columns are known; where they are not (a condition of a
 * history), values decide while evaluating.  SQLite has no static types, only
 * affinities of columns.  O(nodes).
 */
#include "sql/bind.h"

#include "base/error.h"

/* ---- leaves ------------------------------------------------------------- */

static hf_sql_node *bind_const(hf_sql_binder *b, hf_sql_node *made)
{
    if (b->dialect == HF_SQL_SQLITE)
        made->value = hf_sqlite_storage(made->value);
    made->kind = HF_N_CONST;
    made->type = made->value.type;
    made->note = made->value.note & (HF_SQL_NOTE_INT4 | HF_SQL_NOTE_INT8);
    return made;
}

static hf_sql_node *bind_column(hf_sql_binder *b, hf_sql_node *made)
{
    hf_sql_column_info info = {0};
    char table[64], name[64];

    b->status = HF_OK;
    if (!b->column(b, made->table, made->name, &info)) {
        if (b->status != HF_OK)
            return NULL;
        return hf_sql_bind_refuse(
            b, HF_ERR_INPUT, "there is no column \"%s%s%s\"",
            hf_quote(table, sizeof(table), made->table.ptr, made->table.len),
            made->table.len ? "." : "",
            hf_quote(name, sizeof(name), made->name.ptr, made->name.len));
    }
    made->slot = info.slot;
    made->depth = info.depth;
    made->type = info.type;
    made->note = info.note;
    made->affinity = info.affinity;
    return made;
}

static hf_sql_node *bind_param(hf_sql_binder *b, hf_sql_node *made)
{
    if (made->slot >= b->n_params)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT, "there is no parameter $%u",
                                  (unsigned)made->slot + 1);
    made->value = b->params[made->slot];
    if (made->value.type == HF_SQL_TEXT)
        made->value.note = HF_SQL_NOTE_LITERAL;
    return bind_const(b, made);
}

/* ---- operators ---------------------------------------------------------- */

static hf_sql_node *no_operator(hf_sql_binder *b, const hf_sql_node *node)
{
    return hf_sql_bind_refuse(
        b, HF_ERR_INPUT, "no operator %s %c %s",
        hf_sql_type_name(node->args[0]->type, node->args[0]->note), node->op,
        hf_sql_type_name(node->args[1]->type, node->args[1]->note));
}

static hf_sql_node *date_type(hf_sql_binder *b, hf_sql_node *made)
{
    unsigned x = made->args[0]->type, y = made->args[1]->type;

    if (x == HF_SQL_TIMESTAMP || y == HF_SQL_TIMESTAMP)
        return hf_sql_bind_refuse(b, HF_ERR_UNSUPPORTED,
                                  "arithmetic of timestamps is not supported");
    if (x == HF_SQL_DATE && y == HF_SQL_DATE && made->op == '-') {
        made->type = HF_SQL_INT;
        made->note = HF_SQL_NOTE_INT4;
    } else if ((x == HF_SQL_DATE && y == HF_SQL_INT &&
                (made->op == '+' || made->op == '-')) ||
               (x == HF_SQL_INT && y == HF_SQL_DATE && made->op == '+')) {
        made->type = HF_SQL_DATE;
    } else {
        return no_operator(b, made);
    }
    return made;
}

static hf_sql_node *bind_arithmetic(hf_sql_binder *b, hf_sql_node *made)
{
    hf_sql_node **x = &made->args[0], **y = &made->args[1];
    hf_sql_node best = {.type = HF_SQL_NULL};

    if (!hf_sql_is_static(b) || (*x)->type == HF_SQL_TYPE_ANY ||
        (*y)->type == HF_SQL_TYPE_ANY)
        return made;
    if (hf_sql_is_literal(*x) || hf_sql_is_literal(*y)) {
        if ((hf_sql_is_literal(*x) ? *y : *x)->type == HF_SQL_DATE)
            return hf_sql_bind_refuse(
                b, HF_ERR_UNSUPPORTED,
                "arithmetic of a date with a quoted literal is not "
                "supported");
        if (hf_sql_is_literal(*x) && hf_sql_is_literal(*y))
            return no_operator(b, made);
        if (!hf_sql_fit_pair(b, x, y))
            return NULL;
    }
    if ((*x)->type == HF_SQL_NULL || (*y)->type == HF_SQL_NULL) {
        if ((*x)->type == (*y)->type)
            return no_operator(b, made);
        made->type = (*x)->type == HF_SQL_NULL ? (*y)->type : (*x)->type;
        made->note = (*x)->type == HF_SQL_NULL ? (*y)->note : (*x)->note;
        if (!hf_sql_is_numeric_type(made->type))
            return hf_sql_bind_refuse(
                b, HF_ERR_UNSUPPORTED,
                "arithmetic with a plain NULL is not supported here");
        return made;
    }
    if (hf_sql_is_time_type((*x)->type) || hf_sql_is_time_type((*y)->type))
        return date_type(b, made);
    if (!hf_sql_is_numeric_type((*x)->type) ||
        !hf_sql_is_numeric_type((*y)->type))
        return no_operator(b, made);
    (void)hf_sql_wider(&best, *x);
    (void)hf_sql_wider(&best, *y);
    if (best.type == HF_SQL_REAL && made->op == '%')
        return no_operator(b, made);
    made->type = best.type;
    made->note = best.note;
    return made;
}

static hf_sql_node *bind_negate(hf_sql_binder *b, hf_sql_node *made)
{
    const hf_sql_node *arg = made->args[0];

    made->type = arg->type;
    made->note = arg->note;
    if (!hf_sql_is_static(b) || arg->type == HF_SQL_TYPE_ANY ||
        hf_sql_is_numeric_type(arg->type))
        return made;
    if (hf_sql_is_literal(arg) || arg->type == HF_SQL_NULL)
        return hf_sql_bind_refuse(
            b, HF_ERR_UNSUPPORTED,
            "the negative of a quoted literal is not supported");
    return hf_sql_bind_refuse(b, HF_ERR_INPUT, "no operator - %s",
                              hf_sql_type_name(arg->type, arg->note));
}

static hf_sql_node *bind_concat(hf_sql_binder *b, hf_sql_node *made)
{
    bool texts = false;

    made->type = hf_sql_is_static(b) ? HF_SQL_TEXT : HF_SQL_TYPE_ANY;
    if (!hf_sql_is_static(b))
        return made;
    for (uint32_t i = 0; i < 2; i++)
        texts |= made->args[i]->type == HF_SQL_TEXT ||
                 made->args[i]->type == HF_SQL_TYPE_ANY ||
                 made->args[i]->type == HF_SQL_NULL;
    if (!texts)
        return hf_sql_bind_refuse(
            b, HF_ERR_INPUT, "no operator %s || %s",
            hf_sql_type_name(made->args[0]->type, made->args[0]->note),
            hf_sql_type_name(made->args[1]->type, made->args[1]->note));
    return made;
}

static hf_sql_node *as_bool(const hf_sql_binder *b, hf_sql_node *made)
{
    if (hf_sql_is_static(b)) {
        made->type = HF_SQL_BOOL;
        made->note = 0;
    }
    return made;
}

static hf_sql_node *bind_against_first(hf_sql_binder *b, hf_sql_node *made)
{
    for (uint32_t i = 1; i < made->n; i++)
        if (!hf_sql_fit_pair(b, &made->args[0], &made->args[i]))
            return NULL;
    return as_bool(b, made);
}

static hf_sql_node *bind_like(hf_sql_binder *b, hf_sql_node *made)
{
    if (made->op == 1 && b->dialect == HF_SQL_SQLITE)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT, "SQLite has no ILIKE");
    for (uint32_t i = 0; hf_sql_is_static(b) && i < made->n; i++)
        if (made->args[i]->type != HF_SQL_TEXT &&
            made->args[i]->type != HF_SQL_TYPE_ANY &&
            made->args[i]->type != HF_SQL_NULL)
            return hf_sql_bind_refuse(
                b, HF_ERR_INPUT, "LIKE of %s",
                hf_sql_type_name(made->args[i]->type, made->args[i]->note));
    return as_bool(b, made);
}

/* ---- CASE, functions ---------------------------------------------------- */

static bool want_bool(hf_sql_binder *b, hf_sql_node **node)
{
    hf_sql_node *n = *node;

    if (!hf_sql_is_static(b) || n->type == HF_SQL_BOOL ||
        n->type == HF_SQL_NULL || n->type == HF_SQL_TYPE_ANY)
        return true;
    if (hf_sql_is_literal(n))
        return (*node = hf_sql_bind_cast(b, n, HF_SQL_BOOL, 0)) != NULL;
    hf_sql_bind_refuse(b, HF_ERR_INPUT, "%s is no truth value",
                       hf_sql_type_name(n->type, n->note));
    return false;
}

static hf_sql_node *bind_truths(hf_sql_binder *b, hf_sql_node *made)
{
    for (uint32_t i = 0; i < made->n; i++)
        if (!want_bool(b, &made->args[i]))
            return NULL;
    return as_bool(b, made);
}

static hf_sql_node *bind_case(hf_sql_binder *b, hf_sql_node *made)
{
    hf_sql_node **results;
    uint32_t n = 0;
    bool ok;

    if (hf_sql_is_static(b) && made->op && hf_sql_has_no_type(made->args[0]))
        made->args[0] = hf_sql_bind_cast(b, made->args[0], HF_SQL_TEXT, 0);
    for (uint32_t i = made->op; i + 1 < made->n; i += 2)
        if (made->op ? !hf_sql_fit_pair(b, &made->args[0], &made->args[i])
                     : !want_bool(b, &made->args[i]))
            return NULL;
    results = hf_arena_get(b->arena, made->n * sizeof(*results));
    for (uint32_t i = made->op + 1u; i < made->n; i += 2)
        results[n++] = made->args[i];
    results[n++] = made->args[made->n - 1];
    ok = hf_sql_bind_common(b, results, n, "CASE", made);
    n = 0;
    for (uint32_t i = made->op + 1u; i < made->n; i += 2)
        made->args[i] = results[n++];
    made->args[made->n - 1] = results[n];
    return ok ? made : NULL;
}

/* It is the left side of the implied = that comes back, as that has it. */
static hf_sql_node *bind_nullif(hf_sql_binder *b, hf_sql_node *made)
{
    if (!hf_sql_fit_pair(b, &made->args[0], &made->args[1]))
        return NULL;
    if (hf_sql_is_static(b) && hf_sql_is_numeric_type(made->args[0]->type) &&
        hf_sql_is_numeric_type(made->args[1]->type) &&
        made->args[1]->type > made->args[0]->type)
        made->args[0] =
            hf_sql_bind_cast(b, made->args[0], made->args[1]->type, 0);
    if (!made->args[0])
        return NULL;
    made->type = made->args[0]->type;
    made->note = made->args[0]->note;
    if (hf_sql_is_static(b) && made->type == HF_SQL_NULL) {
        made->type = made->args[1]->type;
        made->note = made->args[1]->note;
    }
    if (hf_sql_is_static(b) && made->type == HF_SQL_NULL)
        made->type = HF_SQL_TEXT;
    return made;
}

static bool text_args(hf_sql_function f)
{
    return f == HF_F_LOWER || f == HF_F_UPPER || f == HF_F_LENGTH ||
           f >= HF_F_SUBSTR;
}

static hf_sql_node *call_type(hf_sql_binder *b, hf_sql_node *made)
{
    const hf_sql_node *arg;
    bool wrong;

    /* of the overloaded numeric functions that of floating point is taken */
    if (!text_args((hf_sql_function)made->op) && made->n == 1 &&
        hf_sql_has_no_type(made->args[0]) &&
        !(made->args[0] = hf_sql_bind_cast(b, made->args[0], HF_SQL_REAL, 0)))
        return NULL;
    arg = made->args[0];
    wrong = text_args((hf_sql_function)made->op)
                ? arg->type != HF_SQL_TEXT
                : !hf_sql_is_numeric_type(arg->type) && !hf_sql_is_literal(arg);

    made->note = 0;
    if (wrong && arg->type != HF_SQL_NULL && arg->type != HF_SQL_TYPE_ANY)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT, "no function %.*s(%s)",
                                  (int)made->name.len, made->name.ptr,
                                  hf_sql_type_name(arg->type, arg->note));
    switch (made->op) {
    case HF_F_ABS:
        made->type = arg->type;
        made->note = arg->note;
        break;
    case HF_F_LENGTH:
    case HF_F_POSITION:
        made->type = HF_SQL_INT;
        made->note = HF_SQL_NOTE_INT4;
        break;
    case HF_F_ROUND:
    case HF_F_CEIL:
    case HF_F_FLOOR:
    case HF_F_TRUNC:
    case HF_F_SIGN:
        made->type = arg->type == HF_SQL_INT ? HF_SQL_REAL : arg->type;
        if (made->n == 2)
            made->type = HF_SQL_DECIMAL;
        break;
    case HF_F_MOD:
        made->kind = HF_N_ARITHMETIC;
        made->op = '%';
        return bind_arithmetic(b, made);
    default:
        made->type = HF_SQL_TEXT;
    }
    return made;
}

static hf_sql_node *bind_call(hf_sql_binder *b, hf_sql_node *made)
{
    hf_str name = made->name;
    char quoted[64];

    if (b->dialect == HF_SQL_SQLITE && made->n >= 2 &&
        (hf_str_eq(name, HF_STR("max")) || hf_str_eq(name, HF_STR("min")))) {
        made->kind = HF_N_GREATEST;
        made->op = hf_str_eq(name, HF_STR("min"));
        return made;
    }
    if (b->dialect != HF_SQL_POSTGRES && made->n == 2 &&
        hf_str_eq(name, HF_STR("ifnull"))) {
        made->kind = HF_N_COALESCE;
        return made;
    }
    made->op = (uint8_t)hf_sql_function_of(name, made->n, b->dialect);
    if (made->op == HF_F_NONE)
        return hf_sql_bind_refuse(
            b, HF_ERR_UNSUPPORTED,
            "function %s() is not known with %u arguments",
            hf_quote(quoted, sizeof(quoted), name.ptr, name.len),
            (unsigned)made->n);
    return hf_sql_is_static(b) ? call_type(b, made) : made;
}

static hf_sql_node *bind_greatest(hf_sql_binder *b, hf_sql_node *made)
{
    if (b->dialect == HF_SQL_SQLITE)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT,
                                  "SQLite has no greatest() and least()");
    return hf_sql_bind_common(b, made->args, made->n, "GREATEST", made) ? made
                                                                        : NULL;
}

static hf_sql_node *bind_cast(hf_sql_binder *b, hf_sql_node *made)
{
    static const uint8_t affinities[HF_SQL_TYPE_COUNT] = {
        [HF_SQL_INT] = HF_AFFINITY_INTEGER,
        [HF_SQL_DECIMAL] = HF_AFFINITY_NUMERIC,
        [HF_SQL_REAL] = HF_AFFINITY_REAL,
        [HF_SQL_TEXT] = HF_AFFINITY_TEXT};

    made->affinity = affinities[made->type];
    if (!hf_sql_is_static(b)) {
        made = hf_sql_fold_cast(b, made);
        if (made && made->kind == HF_N_CONST)
            made->type = made->value.type;
        return made;
    }
    return hf_sql_fold_cast(b, made);
}

/* ---- aggregates and subqueries ------------------------------------------ */

static hf_sql_node *aggregate_type(hf_sql_binder *b, hf_sql_node *made)
{
    const hf_sql_node *arg = made->n ? made->args[0] : NULL;
    bool numeric;

    if (made->op == HF_AGG_COUNT) {
        made->type = HF_SQL_INT;
        made->note = HF_SQL_NOTE_INT8;
        return made;
    }
    if (!hf_sql_is_static(b) || arg->type == HF_SQL_TYPE_ANY)
        return made;
    numeric = hf_sql_is_numeric_type(arg->type);
    if (made->op == HF_AGG_MIN || made->op == HF_AGG_MAX) {
        if (arg->type == HF_SQL_BOOL)
            return hf_sql_bind_refuse(b, HF_ERR_INPUT,
                                      "no function min(boolean)");
        made->type = arg->type == HF_SQL_NULL ? HF_SQL_TEXT : arg->type;
        made->note = arg->note;
        return made;
    }
    if (!numeric)
        return hf_sql_bind_refuse(
            b,
            hf_sql_is_literal(arg) || arg->type == HF_SQL_NULL
                ? HF_ERR_UNSUPPORTED
                : HF_ERR_INPUT,
            "no function sum(%s)", hf_sql_type_name(arg->type, arg->note));
    made->type = arg->type == HF_SQL_REAL ? HF_SQL_REAL : HF_SQL_DECIMAL;
    if (made->op == HF_AGG_SUM && arg->type == HF_SQL_INT &&
        arg->note == HF_SQL_NOTE_INT4) {
        made->type = HF_SQL_INT;
        made->note = HF_SQL_NOTE_INT8;
    }
    return made;
}

static hf_sql_node *bind_aggregate(hf_sql_binder *b, const hf_sql_node *node,
                                   hf_sql_node *made)
{
    if (!b->allow_aggregates)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT,
                                  "an aggregate is not allowed here");
    if (b->in_aggregate)
        return hf_sql_bind_refuse(b, HF_ERR_INPUT,
                                  "an aggregate inside an aggregate");
    b->in_aggregate = true;
    if (node->n > 0)
        made->args[0] = hf_sql_bind(b, node->args[0]);
    b->in_aggregate = false;
    b->has_aggregates = true;
    if (node->n > 0 && !made->args[0])
        return NULL;
    return aggregate_type(b, made);
}

static hf_sql_node *bind_select(hf_sql_binder *b, hf_sql_node *made)
{
    if (!b->select)
        return hf_sql_bind_refuse(b, HF_ERR_UNSUPPORTED,
                                  "a subquery is not supported in a condition");
    if (!b->select(b, made))
        return NULL;
    if (made->kind == HF_N_SCALAR_SELECT)
        return made;
    return as_bool(b, made);
}

/* ---- the walk ----------------------------------------------------------- */

static hf_sql_node *bind_kind(hf_sql_binder *b, hf_sql_node *made)
{
    switch (made->kind) {
    case HF_N_CONST:
        return bind_const(b, made);
    case HF_N_COLUMN:
        return bind_column(b, made);
    case HF_N_PARAM:
        return bind_param(b, made);
    case HF_N_ARITHMETIC:
        return bind_arithmetic(b, made);
    case HF_N_NEGATE:
        return bind_negate(b, made);
    case HF_N_CONCAT:
        return bind_concat(b, made);
    case HF_N_COMPARE:
    case HF_N_DISTINCT:
    case HF_N_IN:
    case HF_N_BETWEEN:
        return bind_against_first(b, made);
    case HF_N_AND:
    case HF_N_OR:
    case HF_N_NOT:
    case HF_N_IS_TRUTH:
        return bind_truths(b, made);
    case HF_N_IS_NULL:
        return as_bool(b, made);
    case HF_N_LIKE:
        return bind_like(b, made);
    case HF_N_CASE:
        return bind_case(b, made);
    case HF_N_COALESCE:
        return hf_sql_bind_common(b, made->args, made->n, "COALESCE", made)
                   ? made
                   : NULL;
    case HF_N_NULLIF:
        return bind_nullif(b, made);
    case HF_N_GREATEST:
        return bind_greatest(b, made);
    case HF_N_CAST:
        return bind_cast(b, made);
    case HF_N_CALL:
        return bind_call(b, made);
    case HF_N_EXISTS:
    case HF_N_IN_SELECT:
    case HF_N_SCALAR_SELECT:
        return bind_select(b, made);
    case HF_N_DEFAULT:
        return hf_sql_bind_refuse(b, HF_ERR_UNSUPPORTED,
                                  "DEFAULT is not supported here");
    default:
        return hf_sql_bind_refuse(b, HF_ERR_INPUT, "* is not allowed here");
    }
}

hf_sql_node *hf_sql_bind(hf_sql_binder *b, const hf_sql_node *node)
{
    hf_sql_node *made = hf_sql_copy_node(b, node);

    if (node->kind == HF_N_AGGREGATE)
        return bind_aggregate(b, node, made);
    if (node->flags & HF_NF_LOOSE && b->dialect != HF_SQL_POSTGRES)
        return hf_sql_bind_refuse(
            b, HF_ERR_UNSUPPORTED,
            "operators without parentheses that databases read "
            "differently");
    for (uint32_t i = 0; i < node->n; i++)
        if (!(made->args[i] = hf_sql_bind(b, node->args[i])))
            return NULL;
    return bind_kind(b, made);
}

hf_sql_node *hf_sql_bind_truth(hf_sql_binder *b, const hf_sql_node *node)
{
    hf_sql_node *made = hf_sql_bind(b, node);

    return made && want_bool(b, &made) ? made : NULL;
}

bool hf_sql_same_node(const hf_sql_node *a, const hf_sql_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->flags != b->flags ||
        a->type != b->type || a->note != b->note || a->n != b->n ||
        a->select != b->select || a->modifier != b->modifier)
        return false;
    if (a->kind == HF_N_COLUMN)
        return a->slot == b->slot && a->depth == b->depth;
    if (a->kind == HF_N_CONST &&
        (a->value.type != b->value.type || a->value.note != b->value.note ||
         a->value.scale != b->value.scale ||
         hf_sql_order(&a->value, &b->value) != 0))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!hf_sql_same_node(a->args[i], b->args[i]))
            return false;
    return true;
}

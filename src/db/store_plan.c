/* store_plan.c: what a statement has to read of the store.
 *
 * The tables of a statement become temporary tables on which src/sql runs it.
 * Which rows have to be in them is found here: if the condition pins the whole
 * primary key (k = $1 AND ..., or k IN (...)), those rows; if it says enough
 * about the columns rows are spread by, a range of buckets; else all.  More
 * rows than needed are never wrong, only slower and more likely to conflict.
 */
#include "db/store_db.h"

#include "base/error.h"
#include "sql/value.h"

/* A table in FROM, with the name the statement calls it by. */
typedef struct reference {
    hf_store_table *table;
    hf_str alias;
    bool whole; /* nothing is to be concluded from the condition */
} reference;

typedef struct planner {
    hf_store_space *space;
    hf_store_plan *plan;
    HF_VEC(reference) references;
    HF_VEC(const hf_sql_node *) conjuncts;
    hf_error *err;
    bool failed;
} planner;

static void add_reference(planner *p, hf_str name, hf_str alias, bool whole)
{
    hf_store_table *t = hf_store_table_find(p->space, name);

    if (!t && !p->failed) {
        p->failed = true;
        (void)hf_fail(p->err, HF_ERR_INPUT, "there is no table \"%.*s\"",
                      (int)name.len, name.ptr);
    }
    if (t)
        hf_vec_push(&p->references, (reference){t, alias, whole});
}

/* ---- all tables of a statement ------------------------------------------- */

static void see_select(planner *p, const hf_sql_select *s, bool whole);

static void see_node(planner *p, const hf_sql_node *n)
{
    if (!n)
        return;
    if (n->select)
        see_select(p, n->select, true);
    for (uint32_t i = 0; i < n->n; i++)
        see_node(p, n->args[i]);
}

static void see_conjuncts(planner *p, const hf_sql_node *n)
{
    if (!n)
        return;
    if (n->kind != HF_N_AND) {
        hf_vec_push(&p->conjuncts, n);
        return;
    }
    for (uint32_t i = 0; i < n->n; i++)
        see_conjuncts(p, n->args[i]);
}

static void see_from(planner *p, const hf_sql_from *f, bool whole)
{
    if (!f)
        return;
    if (f->kind == HF_JOIN_TABLE)
        add_reference(p, f->name, f->alias, whole);
    else if (f->kind == HF_JOIN_SELECT)
        see_select(p, f->select, true);
    see_from(p, f->left, whole);
    see_from(p, f->right, whole);
    see_node(p, f->on);
    if (f->kind == HF_JOIN_INNER && !whole)
        see_conjuncts(p, f->on);
}

static void see_select(planner *p, const hf_sql_select *s, bool whole)
{
    see_from(p, s->from, whole);
    for (uint32_t i = 0; i < s->n_targets && s->n_rows == 0; i++)
        see_node(p, s->targets[i].node);
    see_node(p, s->where);
    see_node(p, s->having);
    for (uint32_t i = 0; i < s->n_group; i++)
        see_node(p, s->group[i]);
    for (uint32_t i = 0; i < s->n_order; i++)
        see_node(p, s->order[i].node);
    for (uint32_t r = 0; r < s->n_rows; r++)
        for (uint32_t i = 0; i < s->n_targets; i++)
            see_node(p, s->rows[r][i]);
    if (!whole)
        see_conjuncts(p, s->where);
}

static void see_statement(planner *p)
{
    const hf_sql_statement *s = p->plan->s;

    if (s->verb == HF_SQL_SELECT) {
        see_select(p, s->select, false);
        return;
    }
    add_reference(p, s->table, s->alias.len ? s->alias : s->table, false);
    for (uint32_t i = 0; i < s->n_sets; i++)
        see_node(p, s->sets[i].node);
    see_node(p, s->where);
    if (s->verb == HF_SQL_INSERT)
        see_select(p, s->select, true);
    else
        see_conjuncts(p, s->where);
}

/* ---- conditions on columns ----------------------------------------------- */

static uint32_t column_of(const hf_store_table *t, hf_str name)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (hf_str_eq(t->columns[i].name, name))
            return i;
    return HF_NONE;
}

/* The column of this reference that the node is; HF_NONE: it is not. */
static uint32_t column(const planner *p, const reference *r,
                       const hf_sql_node *n)
{
    if (n->kind != HF_N_COLUMN)
        return HF_NONE;
    if (n->table.len > 0)
        return hf_str_eq(n->table, r->alias) ? column_of(r->table, n->name)
                                             : HF_NONE;
    for (size_t i = 0; i < p->references.n; i++)
        if (&p->references.at[i] != r &&
            column_of(p->references.at[i].table, n->name) != HF_NONE)
            return HF_NONE;
    return column_of(r->table, n->name);
}

static bool is_given(const hf_sql_node *n)
{
    return n->kind == HF_N_CONST || n->kind == HF_N_PARAM;
}

/* What column = given, if a conjunct says so; else NULL. */
static const hf_sql_node *equal_to(const planner *p, const reference *r,
                                   uint32_t wanted)
{
    for (size_t i = 0; i < p->conjuncts.n; i++) {
        const hf_sql_node *n = p->conjuncts.at[i];

        if (n->kind != HF_N_COMPARE || n->op != HF_CMP_EQ)
            continue;
        for (unsigned k = 0; k < 2; k++)
            if (column(p, r, n->args[k]) == wanted && is_given(n->args[1 - k]))
                return n->args[1 - k];
    }
    return NULL;
}

/* column IN (given, ...): the node, or NULL. */
static const hf_sql_node *one_of(const planner *p, const reference *r,
                                 uint32_t wanted)
{
    for (size_t i = 0; i < p->conjuncts.n; i++) {
        const hf_sql_node *n = p->conjuncts.at[i];
        uint32_t k = 1;

        if (n->kind != HF_N_IN || (n->flags & HF_NF_NEGATED) ||
            column(p, r, n->args[0]) != wanted)
            continue;
        while (k < n->n && is_given(n->args[k]))
            k++;
        if (k == n->n)
            return n;
    }
    return NULL;
}

/* The ends that conjuncts set to a column. */
static void find_range(const planner *p, const reference *r, hf_store_use *u)
{
    uint32_t wanted = r->table->spread_columns[0];

    for (size_t i = 0; i < p->conjuncts.n; i++) {
        const hf_sql_node *n = p->conjuncts.at[i];

        if (n->kind == HF_N_BETWEEN && !(n->flags & HF_NF_NEGATED) &&
            n->op == 0 && column(p, r, n->args[0]) == wanted &&
            is_given(n->args[1]) && is_given(n->args[2])) {
            u->low = n->args[1];
            u->high = n->args[2];
        }
        if (n->kind != HF_N_COMPARE || n->op < HF_CMP_LT)
            continue;
        for (unsigned k = 0; k < 2; k++) {
            bool less = n->op == HF_CMP_LT || n->op == HF_CMP_LE;

            if (column(p, r, n->args[k]) != wanted || !is_given(n->args[1 - k]))
                continue;
            if (less == (k == 0))
                u->high = n->args[1 - k];
            else
                u->low = n->args[1 - k];
        }
    }
}

/* a < b is b > a. */
static uint32_t turned(uint32_t comparison)
{
    switch ((hf_sql_comparison)comparison) {
    case HF_CMP_LT:
        return HF_CMP_GT;
    case HF_CMP_LE:
        return HF_CMP_GE;
    case HF_CMP_GT:
        return HF_CMP_LT;
    case HF_CMP_GE:
        return HF_CMP_LE;
    default:
        return comparison;
    }
}

/* BETWEEN is two comparisons. */
static void find_between(const planner *p, const reference *r,
                         const hf_sql_node *n, hf_store_use *u,
                         hf_store_term *terms)
{
    uint32_t c;

    if (n->kind != HF_N_BETWEEN || (n->flags & HF_NF_NEGATED) || n->op != 0 ||
        (c = column(p, r, n->args[0])) == HF_NONE)
        return;
    if (is_given(n->args[1]))
        terms[u->n_terms++] = (hf_store_term){c, HF_CMP_GE, n->args[1]};
    if (is_given(n->args[2]))
        terms[u->n_terms++] = (hf_store_term){c, HF_CMP_LE, n->args[2]};
}

/* All conjuncts that compare a column with something given. */
static void find_terms(const planner *p, const reference *r, hf_store_use *u)
{
    hf_store_term *terms = hf_arena_get(
        &p->plan->arena, (2 * p->conjuncts.n + 1) * sizeof(*terms));

    u->terms = terms;
    for (size_t i = 0; i < p->conjuncts.n; i++) {
        const hf_sql_node *n = p->conjuncts.at[i];

        find_between(p, r, n, u, terms);
        for (unsigned k = 0; k < 2 && n->kind == HF_N_COMPARE; k++) {
            uint32_t c = column(p, r, n->args[k]);

            if (c == HF_NONE || !is_given(n->args[1 - k]))
                continue;
            terms[u->n_terms++] = (hf_store_term){
                c, k == 0 ? n->op : turned(n->op), n->args[1 - k]};
            break;
        }
    }
}

/* ---- uses ---------------------------------------------------------------- */

/* Fills u->keys if the whole primary key is pinned. */
static bool find_keys(planner *p, const reference *r, hf_store_use *u)
{
    const hf_store_table *t = r->table;
    const hf_sql_node *in;

    if (t->n_key == 1 && (in = one_of(p, r, t->key[0]))) {
        u->n_keys = in->n - 1;
        u->keys = (const hf_sql_node **)(in->args + 1);
        return true;
    }
    u->keys = hf_arena_get(&p->plan->arena, (t->n_key + 1) * sizeof(*u->keys));
    for (uint32_t i = 0; i < t->n_key; i++)
        if (!(u->keys[i] = equal_to(p, r, t->key[i])))
            return false;
    u->n_keys = 1;
    return true;
}

static void find_rows(planner *p, const reference *r, hf_store_use *u)
{
    find_terms(p, r, u);
    u->how = HF_STORE_KEYS;
    if (find_keys(p, r, u))
        return;
    u->how = HF_STORE_ALL;
    for (uint32_t i = 0; i < r->table->n_spread; i++)
        u->equal[i] = equal_to(p, r, r->table->spread_columns[i]);
    if (r->table->spread == HF_SPREAD_ORDER && !u->equal[0])
        find_range(p, r, u);
}

/* One use for each table; a table that is there twice is read whole. */
static void make_uses(planner *p)
{
    hf_store_plan *plan = p->plan;

    plan->uses =
        hf_arena_get(&plan->arena, (p->references.n + 1) * sizeof(*plan->uses));
    for (size_t i = 0; i < p->references.n; i++) {
        const reference *r = &p->references.at[i];
        hf_store_use *u = NULL;

        for (uint32_t k = 0; k < plan->n_uses; k++)
            if (plan->uses[k].table == r->table)
                u = &plan->uses[k];
        if (u) {
            *u = (hf_store_use){.table = u->table,
                                .temporary = u->temporary,
                                .how = HF_STORE_ALL};
            continue;
        }
        u = &plan->uses[plan->n_uses++];
        u->table = r->table;
        u->temporary = hf_sql_table_add(plan->db, r->table->name,
                                        r->table->columns, r->table->n_columns,
                                        r->table->key, r->table->n_key);
        if (i == 0 && plan->s->verb == HF_SQL_INSERT)
            u->how = HF_STORE_NOTHING;
        else if (!r->whole)
            find_rows(p, r, u);
    }
    if (plan->s->verb != HF_SQL_SELECT)
        plan->target = &plan->uses[0];
}

/* ---- INSERT ... ON CONFLICT DO UPDATE ------------------------------------ */

/* The value that the INSERT has for a column; NULL: none, or not so simple. */
static const hf_sql_node *inserted(const hf_store_plan *plan, uint32_t wanted)
{
    const hf_sql_statement *s = plan->s;

    if (s->select->n_rows != 1)
        return NULL;
    for (uint32_t i = 0; i < s->select->n_targets; i++) {
        uint32_t c =
            s->n_columns ? column_of(plan->target->table, s->columns[i]) : i;

        if (c == wanted)
            return s->select->rows[0][i];
    }
    return NULL;
}

/* Is what it sets what it would insert? */
static bool sets_inserted(const hf_store_plan *plan, const hf_sql_target *set)
{
    uint32_t c = column_of(plan->target->table, set->name);
    const hf_sql_node *n = set->node, *other;

    if (c == HF_NONE)
        return false;
    if (n->kind == HF_N_COLUMN)
        return hf_str_eq(n->table, HF_STR("excluded")) &&
               hf_str_eq(n->name, set->name);
    other = inserted(plan, c);
    return n->kind == HF_N_PARAM && other && other->kind == HF_N_PARAM &&
           other->slot == n->slot;
}

/* Whatever is there, the row is the inserted one afterwards. */
static bool is_blind(const hf_store_plan *plan)
{
    const hf_sql_statement *s = plan->s;
    const hf_store_table *t = plan->target->table;

    if (s->conflict != HF_CONFLICT_UPDATE || s->where || s->n_returning ||
        s->n_sets + t->n_key != t->n_columns)
        return false;
    for (uint32_t i = 0; i < s->n_sets; i++)
        if (!sets_inserted(plan, &s->sets[i]))
            return false;
    return true;
}

/* ---- after a DELETE ------------------------------------------------------ */

bool hf_store_use_kept(const hf_store_use *u, size_t i, uint32_t *place)
{
    while (*place < u->temporary->n_places && !u->temporary->rows[*place])
        (*place)++;
    if (*place == u->temporary->n_places ||
        u->temporary->rows[*place] != u->origins.at[i].row)
        return false;
    (*place)++;
    return true;
}

/* ---- life ---------------------------------------------------------------- */

hf_store_plan *hf_store_plan_new(hf_store_space *space,
                                 const hf_sql_statement *s, hf_error *err)
{
    hf_store_plan *plan = HF_NEW(hf_store_plan);
    planner p = {.space = space, .plan = plan, .err = err};

    hf_arena_init(&plan->arena);
    plan->s = s;
    plan->db = hf_sql_database_new(HF_SQL_POSTGRES);
    plan->generation = space->generation;
    see_statement(&p);
    if (!p.failed) {
        make_uses(&p);
        plan->blind = s->verb == HF_SQL_INSERT && is_blind(plan);
    }
    hf_vec_release(&p.references);
    hf_vec_release(&p.conjuncts);
    if (p.failed) {
        hf_store_plan_free(plan);
        return NULL;
    }
    return plan;
}

void hf_store_plan_free(hf_store_plan *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n_uses; i++)
        hf_vec_release(&p->uses[i].origins);
    hf_sql_database_free(p->db);
    hf_arena_release(&p->arena);
    hf_free(p);
}

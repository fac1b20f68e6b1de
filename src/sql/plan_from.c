/* plan_from.c: FROM bound to tables, and conditions cut into their parts. */
#include "sql/plan.h"

#include "base/error.h"

/* ---- conjuncts ---------------------------------------------------------- */

static void slots_used(const hf_sql_node *node, hf_sql_conjunct *c)
{
    if (node->kind == HF_N_COLUMN && node->depth == 0) {
        if (node->slot < c->low)
            c->low = node->slot;
        if (node->slot > c->high)
            c->high = node->slot;
    }
    if (node->plan)
        c->fixed = true;
    for (uint32_t i = 0; i < node->n; i++)
        slots_used(node->args[i], c);
}

void hf_sql_plan_conjuncts(hf_arena *arena, hf_sql_node *node,
                           hf_sql_conjuncts *ret)
{
    ret->n = 0;
    if (!node)
        return;
    ret->n = node->kind == HF_N_AND ? node->n : 1;
    ret->at = hf_arena_get(arena, ret->n * sizeof(*ret->at));
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->at[i] = (hf_sql_conjunct){
            .node = node->kind == HF_N_AND ? node->args[i] : node,
            .low = UINT32_MAX,
        };
        slots_used(ret->at[i].node, &ret->at[i]);
    }
}

/* ---- FROM --------------------------------------------------------------- */

uint32_t hf_sql_count_sources(const hf_sql_from *f)
{
    if (!f)
        return 0;
    if (f->kind <= HF_JOIN_SELECT)
        return 1;
    return hf_sql_count_sources(f->left) + hf_sql_count_sources(f->right);
}

static bool add_source(hf_sql_run *run, hf_sql_plan *p, const hf_sql_from *f,
                       hf_sql_join_plan *j)
{
    hf_sql_source *s = &p->scope.sources[p->scope.n];

    s->alias = f->alias;
    s->base = p->scope.width;
    if (f->kind == HF_JOIN_TABLE) {
        s->table = hf_sql_table_find(run->db, f->name);
        if (!s->table)
            return hf_sql_run_refuse(run, HF_ERR_INPUT,
                                     "there is no table \"%.*s\"",
                                     (int)f->name.len, f->name.ptr);
        s->n_columns = s->table->n_columns;
    } else {
        s->plan = hf_sql_plan_select(run, f->select, NULL);
        if (!s->plan)
            return false;
        s->n_columns = s->plan->n_out;
    }
    for (uint32_t i = 0; i < p->scope.n; i++)
        if (s->alias.len && hf_str_eq(p->scope.sources[i].alias, s->alias))
            return hf_sql_run_refuse(run, HF_ERR_INPUT,
                                     "two tables are called \"%.*s\"",
                                     (int)s->alias.len, s->alias.ptr);
    j->source = p->scope.n++;
    p->scope.width += s->n_columns;
    return true;
}

/* USING (a, b): left.a = right.a AND ...; right's are hidden afterwards. */
static hf_sql_node *using_condition(hf_sql_run *run, hf_sql_plan *p,
                                    const hf_sql_from *f,
                                    const hf_sql_join_plan *j)
{
    hf_sql_node *all = hf_arena_get(run->arena, sizeof(*all));
    hf_sql_source *right;

    if (j->right->kind > HF_JOIN_SELECT) {
        (void)hf_sql_run_refuse(run, HF_ERR_UNSUPPORTED,
                                "USING with a join on its right is not "
                                "supported");
        return NULL;
    }
    right = &p->scope.sources[j->right->source];
    all->kind = HF_N_AND;
    all->n = f->n_using;
    all->args = hf_arena_get(run->arena, f->n_using * sizeof(*all->args));
    for (uint32_t i = 0; i < f->n_using; i++) {
        hf_sql_node *compare = hf_arena_get(run->arena, sizeof(*compare));
        hf_sql_node *sides = hf_arena_get(run->arena, 2 * sizeof(*sides));

        compare->kind = HF_N_COMPARE;
        compare->op = HF_CMP_EQ;
        compare->n = 2;
        compare->args = hf_arena_get(run->arena, 2 * sizeof(*compare->args));
        for (uint32_t k = 0; k < 2; k++) {
            sides[k].kind = HF_N_COLUMN;
            sides[k].name = f->using_names[i];
            compare->args[k] = &sides[k];
        }
        sides[1].table = right->alias;
        all->args[i] = compare;
    }
    right->hidden = f->using_names;
    right->n_hidden = f->n_using;
    return all;
}

static bool bind_on(hf_sql_run *run, hf_sql_plan *p, const hf_sql_from *f,
                    hf_sql_join_plan *j)
{
    hf_sql_node *on = f->on;
    hf_sql_scope seen = p->scope; /* only what stands in this join */
    hf_sql_binder b;

    if (f->n_using > 0 && !(on = using_condition(run, p, f, j)))
        return false;
    if (!on)
        return true;
    seen.sources = p->scope.sources;
    while (seen.n > 0 && seen.sources[0].base < j->base) {
        seen.sources++;
        seen.n--;
    }
    hf_sql_plan_binder(run, &seen, &b);
    on = hf_sql_bind_truth(&b, on);
    if (!on) {
        run->status = b.status;
        return false;
    }
    hf_sql_plan_conjuncts(run->arena, on, &j->on);
    return true;
}

hf_sql_join_plan *hf_sql_plan_from(hf_sql_run *run, hf_sql_plan *p,
                                   const hf_sql_from *f)
{
    hf_sql_join_plan *j = hf_arena_get(run->arena, sizeof(*j));

    j->kind = f->kind;
    j->base = p->scope.width;
    if (f->kind <= HF_JOIN_SELECT) {
        if (!add_source(run, p, f, j))
            return NULL;
    } else {
        j->left = hf_sql_plan_from(run, p, f->left);
        j->right = j->left ? hf_sql_plan_from(run, p, f->right) : NULL;
        if (!j->right)
            return NULL;
    }
    j->width = p->scope.width - j->base;
    if (f->kind > HF_JOIN_SELECT && !bind_on(run, p, f, j))
        return NULL;
    return j;
}

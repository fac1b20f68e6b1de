/* join.c: the rows of FROM, filtered by WHERE.
 *
 * One table: its rows are looked at where they are, or the one row that the
 * primary key leads to.  Joins: parts of WHERE move to the first join that
 * has all their columns (not into the right side of a LEFT JOIN); an equality
 * between both sides builds a hash table over the right side, so a join costs
 * its inputs and its result; without one, every pair is tried.
 */
#include "sql/plan.h"

#include "base/error.h"
#include "base/vec.h"

#define MAX_STEPS (UINT64_C(1) << 31)

typedef struct row_list {
    hf_sql_value **at;
    size_t n, cap;
} row_list;

typedef struct joiner {
    hf_sql_run *run;
    hf_sql_plan *plan;
    hf_sql_eval *ev;
    hf_sql_value *scratch; /* a whole joined row */
} joiner;

/* ---- the primary key ---------------------------------------------------- */

/* Would the column and the constant be compared as they are? */
static bool same_class(const hf_sql_column *c, const hf_sql_value *v)
{
    if (c->type == HF_SQL_INT)
        return v->type == HF_SQL_INT;
    if (c->type == HF_SQL_TEXT)
        return v->type == HF_SQL_TEXT;
    return v->type == (uint8_t)c->type && c->type != HF_SQL_REAL;
}

static const hf_sql_value *equal_constant(const hf_sql_node *node,
                                          uint32_t slot)
{
    if (node->kind != HF_N_COMPARE || node->op != HF_CMP_EQ)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (node->args[i]->kind == HF_N_COLUMN && node->args[i]->depth == 0 &&
            node->args[i]->slot == slot &&
            node->args[1 - i]->kind == HF_N_CONST)
            return &node->args[1 - i]->value;
    return NULL;
}

#define MAX_KEY 16u

bool hf_sql_run_key(const hf_sql_table *t, uint32_t base,
                    const hf_sql_conjuncts *conjuncts, uint32_t *ret_place)
{
    hf_sql_value key[MAX_KEY];

    if (t->n_key == 0 || t->n_key > MAX_KEY)
        return false;
    for (uint32_t i = 0; i < t->n_key; i++) {
        const hf_sql_value *v = NULL;

        for (uint32_t k = 0; k < conjuncts->n && !v; k++)
            v = equal_constant(conjuncts->at[k].node, base + t->key[i]);
        if (!v || !same_class(&t->columns[t->key[i]], v))
            return false;
        key[i] = *v;
    }
    *ret_place = hf_sql_table_place(t, key);
    return true;
}

/* ---- one table ---------------------------------------------------------- */

static bool source_rows(joiner *j, const hf_sql_source *s,
                        const hf_sql_conjuncts *conjuncts, row_list *ret)
{
    uint32_t place, n;
    hf_sql_value **rows;

    if (!s->table) {
        if (!hf_sql_run_plan(j->run, s->plan, NULL, &rows, &n))
            return false;
        for (uint32_t i = 0; i < n; i++)
            hf_vec_push(ret, rows[i]);
        return true;
    }
    if (conjuncts && hf_sql_run_key(s->table, s->base, conjuncts, &place)) {
        if (place != UINT32_MAX)
            hf_vec_push(ret, s->table->rows[place]);
        return true;
    }
    hf_vec_reserve(ret, s->table->n_rows);
    for (uint32_t i = 0; i < s->table->n_places; i++)
        if (s->table->rows[i])
            hf_vec_push(ret, s->table->rows[i]);
    return true;
}

/* Keeps the rows for which the condition is TRUE. */
static bool filter(joiner *j, const hf_sql_node *condition, uint32_t base,
                   uint32_t width, row_list *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->n; i++) {
        hf_sql_truth t;

        if (base == 0) {
            j->ev->frame.row = rows->at[i];
        } else {
            memcpy(j->scratch + base, rows->at[i], width * sizeof(*j->scratch));
            j->ev->frame.row = j->scratch;
        }
        t = hf_sql_truth_of(j->ev, condition);
        if (t == HF_SQL_ERROR)
            return hf_sql_run_failed(j->run, j->ev);
        if (t == HF_SQL_TRUE)
            rows->at[kept++] = rows->at[i];
    }
    rows->n = kept;
    return true;
}

/* ---- joins -------------------------------------------------------------- */

static bool covers(const hf_sql_join_plan *p, const hf_sql_conjunct *c)
{
    return c->low <= c->high && c->low >= p->base &&
           c->high < p->base + p->width;
}

static bool apply_where(joiner *j, const hf_sql_join_plan *p, row_list *rows)
{
    hf_sql_conjuncts *w = &j->plan->conjuncts;

    for (uint32_t i = 0; i < w->n; i++) {
        if (w->at[i].used || w->at[i].fixed || !covers(p, &w->at[i]))
            continue;
        w->at[i].used = true;
        if (!filter(j, w->at[i].node, p->base, p->width, rows))
            return false;
    }
    return true;
}

/* Sides of an equality that can be hashed: equal values have equal hashes
 * there. */
static bool hashable(hf_sql_dialect dialect, const hf_sql_node *a,
                     const hf_sql_node *b)
{
    if (a->kind != HF_N_COLUMN || b->kind != HF_N_COLUMN)
        return false;
    if (dialect == HF_SQL_SQLITE)
        return a->affinity == b->affinity && a->affinity != HF_AFFINITY_NONE;
    return a->type == b->type && a->type != HF_SQL_TYPE_ANY;
}

static bool inside(const hf_sql_join_plan *p, const hf_sql_node *column)
{
    return column->depth == 0 && column->slot >= p->base &&
           column->slot < p->base + p->width;
}

/* The first equality between left and right, among ON and WHERE. */
static bool find_hash(joiner *j, const hf_sql_join_plan *p,
                      const hf_sql_conjuncts *c, uint32_t *ret_left,
                      uint32_t *ret_right)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const hf_sql_node *n = c->at[i].node;

        if (n->kind != HF_N_COMPARE || n->op != HF_CMP_EQ ||
            !hashable(j->ev->dialect, n->args[0], n->args[1]))
            continue;
        for (int k = 0; k < 2; k++)
            if (inside(p->left, n->args[k]) &&
                inside(p->right, n->args[1 - k])) {
                *ret_left = n->args[k]->slot - p->left->base;
                *ret_right = n->args[1 - k]->slot - p->right->base;
                return true;
            }
    }
    return false;
}

typedef struct hash_side {
    uint32_t *heads, *next; /* row numbers, UINT32_MAX ends */
    uint32_t mask;
    bool hashed;
    uint32_t left_slot, right_slot;
} hash_side;

static void build_hash(hash_side *h, const row_list *right, hf_arena *arena)
{
    uint32_t n = 16;

    while (n < right->n * 2)
        n *= 2;
    h->mask = n - 1;
    h->heads = hf_arena_get(arena, n * sizeof(*h->heads));
    h->next = hf_arena_get(arena, (right->n + 1) * sizeof(*h->next));
    for (uint32_t i = 0; i < n; i++)
        h->heads[i] = UINT32_MAX;
    /* backwards, so that chains are in the order of the rows */
    for (size_t i = right->n; i-- > 0;) {
        uint32_t at =
            (uint32_t)hf_sql_hash(&right->at[i][h->right_slot]) & h->mask;

        h->next[i] = h->heads[at];
        h->heads[at] = (uint32_t)i;
    }
}

static uint32_t first_match(const hash_side *h, const hf_sql_value *left,
                            const row_list *right)
{
    if (!h->hashed)
        return right->n > 0 ? 0 : UINT32_MAX;
    return h->heads[(uint32_t)hf_sql_hash(&left[h->left_slot]) & h->mask];
}

static uint32_t next_match(const hash_side *h, uint32_t i,
                           const row_list *right)
{
    if (!h->hashed)
        return i + 1 < right->n ? i + 1 : UINT32_MAX;
    return h->next[i];
}

/* Is every part of ON true for the row in scratch? */
static hf_sql_truth on_holds(joiner *j, const hf_sql_join_plan *p)
{
    hf_sql_truth t = HF_SQL_TRUE;

    j->ev->frame.row = j->scratch;
    for (uint32_t i = 0; i < p->on.n && t == HF_SQL_TRUE; i++)
        t = hf_sql_truth_of(j->ev, p->on.at[i].node);
    return t;
}

static void keep_joined(joiner *j, const hf_sql_join_plan *p, row_list *ret)
{
    hf_sql_value *row =
        hf_arena_get(j->run->arena, (p->width + 1) * sizeof(*row));

    memcpy(row, j->scratch + p->base, p->width * sizeof(*row));
    hf_vec_push(ret, row);
}

static bool join_rows(joiner *j, const hf_sql_join_plan *p,
                      const row_list *left, const row_list *right,
                      const hash_side *h, row_list *ret)
{
    const size_t bytes = sizeof(hf_sql_value);

    for (size_t i = 0; i < left->n; i++) {
        bool matched = false;

        memcpy(j->scratch + p->left->base, left->at[i], p->left->width * bytes);
        for (uint32_t k = first_match(h, left->at[i], right); k != UINT32_MAX;
             k = next_match(h, k, right)) {
            hf_sql_truth t;

            if (++j->run->steps > MAX_STEPS || hf_sql_run_full(j->run))
                return hf_sql_run_refuse(j->run, HF_ERR_LIMIT,
                                         "a join is too large");
            memcpy(j->scratch + p->right->base, right->at[k],
                   p->right->width * bytes);
            t = on_holds(j, p);
            if (t == HF_SQL_ERROR)
                return hf_sql_run_failed(j->run, j->ev);
            if (t != HF_SQL_TRUE)
                continue;
            matched = true;
            keep_joined(j, p, ret);
        }
        if (!matched && p->kind == HF_JOIN_LEFT) {
            memset(j->scratch + p->right->base, 0, p->right->width * bytes);
            keep_joined(j, p, ret);
        }
    }
    return true;
}

static bool run_join(joiner *j, const hf_sql_join_plan *p, bool movable,
                     row_list *ret)
{
    row_list left = {0}, right = {0};
    hash_side h = {0};
    bool ok;

    if (p->kind <= HF_JOIN_SELECT)
        return source_rows(j, &j->plan->scope.sources[p->source],
                           movable ? &j->plan->conjuncts : NULL, ret) &&
               (!movable || apply_where(j, p, ret));
    ok = run_join(j, p->left, movable, &left) &&
         run_join(j, p->right, movable && p->kind != HF_JOIN_LEFT, &right);
    if (ok) {
        h.hashed =
            find_hash(j, p, &p->on, &h.left_slot, &h.right_slot) ||
            (p->kind != HF_JOIN_LEFT && movable &&
             find_hash(j, p, &j->plan->conjuncts, &h.left_slot, &h.right_slot));
        if (h.hashed)
            build_hash(&h, &right, j->run->arena);
        ok = join_rows(j, p, &left, &right, &h, ret) &&
             (!movable || apply_where(j, p, ret));
    }
    hf_vec_release(&left);
    hf_vec_release(&right);
    return ok;
}

/* ---- FROM and WHERE ----------------------------------------------------- */

static bool rest_of_where(joiner *j, row_list *rows)
{
    hf_sql_conjuncts *w = &j->plan->conjuncts;

    for (uint32_t i = 0; i < w->n; i++)
        if (!w->at[i].used &&
            !filter(j, w->at[i].node, 0, j->plan->scope.width, rows))
            return false;
    return true;
}

static bool all_rows(joiner *j, row_list *rows)
{
    hf_sql_plan *p = j->plan;

    if (!p->from) {
        hf_vec_push(rows, j->scratch);
    } else if (p->from->kind <= HF_JOIN_SELECT) {
        if (!source_rows(j, &p->scope.sources[0], &p->conjuncts, rows))
            return false;
    } else {
        for (uint32_t i = 0; i < p->conjuncts.n; i++)
            p->conjuncts.at[i].used = false; /* a subquery runs often */
        return run_join(j, p->from, true, rows) && rest_of_where(j, rows);
    }
    return !p->where || filter(j, p->where, 0, p->scope.width, rows);
}

bool hf_sql_run_from(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                     hf_sql_value ***ret_rows, uint32_t *ret_n)
{
    joiner j = {.run = run, .plan = p, .ev = ev};
    row_list rows = {0};
    bool ok;

    j.scratch =
        hf_arena_get(run->arena, (p->scope.width + 1) * sizeof(*j.scratch));
    ok = all_rows(&j, &rows);
    if (ok) {
        *ret_rows = hf_arena_get(run->arena, (rows.n + 1) * sizeof(**ret_rows));
        if (rows.n > 0)
            memcpy(*ret_rows, rows.at, rows.n * sizeof(**ret_rows));
        *ret_n = (uint32_t)rows.n;
    }
    hf_vec_release(&rows);
    return ok;
}

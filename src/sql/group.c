/* group.c: GROUP BY and aggregates, and sets of rows by hash.
 *
 * A group's row is its GROUP BY values followed by its aggregates.  Sums of
 * integers and decimals are exact; those of floating point are made in the
 * order of the rows.  O(rows) expected.
 */
#include "sql/plan.h"

#include "base/error.h"
#include "base/vec.h"

/* ---- sets of rows ------------------------------------------------------- */

void hf_sql_row_set_init(hf_sql_row_set *s, hf_arena *arena, uint32_t width)
{
    *s = (hf_sql_row_set){.arena = arena, .width = width};
}

static uint64_t hash_row(const hf_sql_row_set *s, const hf_sql_value *row)
{
    uint64_t hash = 1;

    for (uint32_t i = 0; i < s->width; i++)
        hash = (hash ^ hf_sql_hash(&row[i])) * 0x9e3779b97f4a7c15u;
    return hash >> 32;
}

static bool same_row(const hf_sql_row_set *s, hf_sql_eval *ev,
                     const hf_sql_value *a, const hf_sql_value *b, bool *ret)
{
    int order;

    *ret = false;
    for (uint32_t i = 0; i < s->width; i++) {
        if (a[i].type == HF_SQL_NULL || b[i].type == HF_SQL_NULL) {
            if (a[i].type != b[i].type)
                return true;
            continue;
        }
        if (!hf_sql_compare(ev, &a[i], &b[i], HF_AFFINITY_NONE,
                            HF_AFFINITY_NONE, &order))
            return false;
        if (order != 0)
            return true;
    }
    *ret = true;
    return true;
}

static void place_row(hf_sql_row_set *s, uint32_t number)
{
    uint32_t mask = s->n_slots - 1;
    uint32_t i = (uint32_t)hash_row(s, s->rows[number]) & mask;

    while (s->slots[i] != UINT32_MAX)
        i = (i + 1) & mask;
    s->slots[i] = number;
}

static void grow_set(hf_sql_row_set *s)
{
    uint32_t cap = s->cap ? s->cap * 2 : 8;
    hf_sql_value **rows = hf_arena_get(s->arena, cap * sizeof(*rows));

    if (s->n)
        memcpy(rows, s->rows, s->n * sizeof(*rows));
    s->rows = rows;
    s->cap = cap;
    s->n_slots = cap * 2;
    s->slots = hf_arena_get(s->arena, s->n_slots * sizeof(*s->slots));
    memset(s->slots, 0xff, s->n_slots * sizeof(*s->slots));
    for (uint32_t i = 0; i < s->n; i++)
        place_row(s, i);
}

bool hf_sql_row_set_add(hf_sql_row_set *s, hf_sql_eval *ev, hf_sql_value *row,
                        uint32_t *ret, bool *ret_new)
{
    uint32_t mask, i;
    bool same;

    if (s->n == s->cap)
        grow_set(s);
    mask = s->n_slots - 1;
    for (i = (uint32_t)hash_row(s, row) & mask; s->slots[i] != UINT32_MAX;
         i = (i + 1) & mask) {
        if (!same_row(s, ev, s->rows[s->slots[i]], row, &same))
            return false;
        if (same) {
            *ret = s->slots[i];
            *ret_new = false;
            return true;
        }
    }
    s->slots[i] = s->n;
    s->rows[s->n] = row;
    *ret = s->n++;
    *ret_new = true;
    return true;
}

/* ---- one aggregate ------------------------------------------------------ */

typedef struct collector {
    uint64_t count;     /* values that are not NULL */
    hf_sql_value value; /* sum, least or greatest; NULL: none yet */
    hf_int128 whole;    /* sum of integers */
    double real;        /* SQLite: the sum as floating point */
    bool all_int;
    hf_sql_row_set seen; /* DISTINCT */
} collector;

/* SQLite: integers stay exact, one other value makes the sum a real. */
static void sum_sqlite(collector *c, const hf_sql_value *v)
{
    hf_sql_value n = *v;

    if (v->type == HF_SQL_TEXT && !hf_sql_number(hf_sql_text_of(v), &n)) {
        n = hf_sqlite_number(v);
        n = hf_sql_of_real(hf_sql_to_real(&n));
    }
    n = hf_sqlite_storage(n);
    c->real += hf_sql_to_real(&n);
    if (n.type == HF_SQL_INT)
        c->whole += n.integer;
    else
        c->all_int = false;
}

static bool sum(hf_sql_eval *ev, collector *c, const hf_sql_value *v)
{
    hf_sql_value total;

    if (ev->dialect == HF_SQL_SQLITE) {
        sum_sqlite(c, v);
        return true;
    }
    if (v->type == HF_SQL_INT) {
        c->whole += v->integer;
        if (!c->all_int)
            return hf_sql_unsaid(ev, "a sum of integers and other numbers");
        return true;
    }
    if (c->count > 1 && c->all_int)
        return hf_sql_unsaid(ev, "a sum of integers and other numbers");
    c->all_int = false;
    if (v->type != HF_SQL_DECIMAL && v->type != HF_SQL_REAL)
        return hf_sql_refuse(ev, "a sum of %s",
                             hf_sql_type_name(v->type, v->note));
    if (c->value.type == HF_SQL_NULL) {
        c->value = *v;
        return true;
    }
    if (!hf_sql_arithmetic(ev, '+', c->value, *v, &total))
        return false;
    c->value = total;
    return true;
}

static bool extreme(hf_sql_eval *ev, hf_sql_aggregate op, collector *c,
                    const hf_sql_value *v)
{
    int order;

    if (c->value.type == HF_SQL_NULL) {
        c->value = *v;
        return true;
    }
    if (!hf_sql_sort_order(ev, v, &c->value, &order))
        return false;
    /* of equal ones PostgreSQL takes the last (1.0 and 1.00) */
    if ((op == HF_AGG_MIN ? order < 0 : order > 0) ||
        (order == 0 && ev->dialect == HF_SQL_POSTGRES))
        c->value = *v;
    return true;
}

static bool collect(hf_sql_eval *ev, const hf_sql_node *aggregate, collector *c)
{
    hf_sql_value v, *copy;
    uint32_t number;
    bool is_new;

    if (aggregate->n == 0) {
        c->count++;
        return true;
    }
    if (!hf_sql_value_of(ev, aggregate->args[0], &v))
        return false;
    if (v.type == HF_SQL_NULL)
        return true;
    if (aggregate->flags & HF_NF_DISTINCT) {
        copy = hf_arena_get(hf_sql_scratch(ev), sizeof(*copy));
        *copy = v;
        if (!hf_sql_row_set_add(&c->seen, ev, copy, &number, &is_new))
            return false;
        if (!is_new)
            return true;
    }
    c->count++;
    switch (aggregate->op) {
    case HF_AGG_COUNT:
        return true;
    case HF_AGG_SUM:
    case HF_AGG_AVG:
        return sum(ev, c, &v);
    default:
        return extreme(ev, (hf_sql_aggregate)aggregate->op, c, &v);
    }
}

/* A sum that fits into 38 digits, as a decimal. */
static bool whole_decimal(hf_sql_eval *ev, hf_int128 whole, hf_sql_value *ret)
{
    const hf_int128 limit = (hf_int128)1 << 126;

    if (whole > limit || whole < -limit)
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    *ret = hf_sql_of_decimal(whole, 0);
    return true;
}

static bool whole_int(hf_sql_eval *ev, hf_int128 whole, hf_sql_value *ret)
{
    if (whole > INT64_MAX || whole < INT64_MIN)
        return hf_sql_refuse(ev, "integer overflow");
    *ret = hf_sql_of_int((int64_t)whole);
    ret->note = HF_SQL_NOTE_INT8;
    return true;
}

static bool total(hf_sql_eval *ev, const hf_sql_node *aggregate,
                  const collector *c, hf_sql_value *ret)
{
    if (ev->dialect == HF_SQL_SQLITE && !c->all_int) {
        *ret = hf_sql_of_real(c->real);
        return true;
    }
    if (!c->all_int) {
        *ret = c->value;
        return true;
    }
    if (aggregate->type == HF_SQL_DECIMAL)
        return whole_decimal(ev, c->whole, ret);
    return whole_int(ev, c->whole, ret);
}

static bool average(hf_sql_eval *ev, const collector *c, hf_sql_value *ret)
{
    hf_sql_value all = c->value, n = hf_sql_of_int((int64_t)c->count);

    if (ev->dialect == HF_SQL_SQLITE) {
        *ret = hf_sql_of_real(c->real / (double)c->count);
        return true;
    }
    if (c->all_int && !whole_decimal(ev, c->whole, &all))
        return false;
    if (ev->dialect == HF_SQL_ANY) {
        /* all agree about an average that is whole */
        if (!c->all_int || c->whole % (hf_int128)c->count != 0)
            return hf_sql_unsaid(ev, "databases differ about averages");
        *ret = hf_sql_of_decimal(c->whole / (hf_int128)c->count, 0);
        return true;
    }
    return hf_sql_arithmetic(ev, '/', all, n, ret);
}

static bool finish(hf_sql_eval *ev, const hf_sql_node *aggregate,
                   const collector *c, hf_sql_value *ret)
{
    *ret = hf_sql_null();
    switch (aggregate->op) {
    case HF_AGG_COUNT:
        *ret = hf_sql_of_int((int64_t)c->count);
        ret->note = HF_SQL_NOTE_INT8;
        return true;
    case HF_AGG_SUM:
        return c->count == 0 || total(ev, aggregate, c, ret);
    case HF_AGG_AVG:
        return c->count == 0 || average(ev, c, ret);
    default:
        *ret = c->value;
        return true;
    }
}

/* ---- groups ------------------------------------------------------------- */

typedef struct grouping {
    hf_sql_run *run;
    hf_sql_plan *plan;
    hf_sql_eval *ev;
    hf_sql_row_set keys;
    HF_VEC(collector *) collectors; /* one array for each group */
} grouping;

static void new_group(grouping *g)
{
    uint32_t n = g->plan->n_aggregates;
    collector *c = hf_arena_get(g->run->arena, (n + 1) * sizeof(*c));

    for (uint32_t i = 0; i < n; i++) {
        c[i].all_int = true;
        hf_sql_row_set_init(&c[i].seen, g->run->arena, 1);
    }
    hf_vec_push(&g->collectors, c);
}

static bool add_row(grouping *g, const hf_sql_value *row)
{
    hf_sql_plan *p = g->plan;
    uint32_t width = p->n_group + p->n_aggregates, number;
    hf_sql_value *key = hf_arena_get(g->run->arena, (width + 1) * sizeof(*key));
    bool is_new;

    g->ev->frame.row = row;
    for (uint32_t i = 0; i < p->n_group; i++)
        if (!hf_sql_value_of(g->ev, p->group[i], &key[i]))
            return false;
    if (!hf_sql_row_set_add(&g->keys, g->ev, key, &number, &is_new))
        return false;
    if (is_new)
        new_group(g);
    for (uint32_t i = 0; i < p->n_aggregates; i++)
        if (!collect(g->ev, p->aggregates[i], &g->collectors.at[number][i]))
            return false;
    return true;
}

static bool make_groups(grouping *g, hf_sql_value **rows, uint32_t n)
{
    hf_sql_plan *p = g->plan;
    hf_sql_value *empty;
    uint32_t number;
    bool is_new;

    for (uint32_t i = 0; i < n; i++)
        if (!add_row(g, rows[i]))
            return false;
    /* without GROUP BY there is one group, rows or not */
    if (p->n_group == 0 && g->keys.n == 0) {
        empty =
            hf_arena_get(g->run->arena, (p->n_aggregates + 1) * sizeof(*empty));
        (void)hf_sql_row_set_add(&g->keys, g->ev, empty, &number, &is_new);
        new_group(g);
    }
    for (uint32_t i = 0; i < g->keys.n; i++)
        for (uint32_t k = 0; k < p->n_aggregates; k++)
            if (!finish(g->ev, p->aggregates[k], &g->collectors.at[i][k],
                        &g->keys.rows[i][p->n_group + k]))
                return false;
    return true;
}

static bool filter_groups(grouping *g, uint32_t *ret_n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < g->keys.n; i++) {
        hf_sql_truth t = HF_SQL_TRUE;

        g->ev->frame.row = g->keys.rows[i];
        if (g->plan->having)
            t = hf_sql_truth_of(g->ev, g->plan->having);
        if (t == HF_SQL_ERROR)
            return false;
        if (t == HF_SQL_TRUE)
            g->keys.rows[kept++] = g->keys.rows[i];
    }
    *ret_n = kept;
    return true;
}

bool hf_sql_run_groups(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                       hf_sql_value ***rows, uint32_t *n)
{
    grouping g = {.run = run, .plan = p, .ev = ev};
    bool ok;

    hf_sql_row_set_init(&g.keys, run->arena, p->n_group);
    ok = make_groups(&g, *rows, *n) && filter_groups(&g, n);
    hf_vec_release(&g.collectors);
    if (!ok)
        return hf_sql_run_failed(run, ev);
    *rows = g.keys.rows;
    return true;
}

/* insert.c: INSERT ... VALUES and INSERT ... SELECT, with ON CONFLICT. */
#include "sql/write.h"

#include "base/error.h"

typedef struct inserter {
    uint32_t *columns; /* where each value goes */
    uint32_t n;
    hf_sql_row_set keys; /* of the new rows */
    uint32_t *sets;      /* DO UPDATE: columns */
    hf_sql_node **set_nodes;
    hf_sql_node *where;
} inserter;

static bool insert_columns(hf_sql_writer *w, inserter *in, uint32_t n_values)
{
    const hf_sql_statement *s = w->s;

    in->n = s->n_columns ? s->n_columns : n_values;
    if (in->n != n_values || in->n > w->table->n_columns)
        return hf_sql_run_refuse(
            w->run, HF_ERR_INPUT, "INSERT has %u values for %u columns",
            (unsigned)n_values,
            (unsigned)(s->n_columns ? s->n_columns : w->table->n_columns));
    if (!s->n_columns && n_values < w->table->n_columns &&
        w->ev.dialect != HF_SQL_POSTGRES)
        return hf_sql_run_refuse(
            w->run, HF_ERR_INPUT, "INSERT has %u values for %u columns",
            (unsigned)n_values, (unsigned)w->table->n_columns);
    in->columns =
        hf_arena_get(w->run->arena, (in->n + 1) * sizeof(*in->columns));
    for (uint32_t i = 0; i < in->n; i++) {
        in->columns[i] = i;
        if (s->n_columns &&
            !hf_sql_write_column(w, s->columns[i], &in->columns[i]))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (in->columns[k] == in->columns[i])
                return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                                         "a column is there twice");
    }
    return true;
}

/* ON CONFLICT names exactly the primary key, or nothing. */
static bool bind_conflict(hf_sql_writer *w, inserter *in)
{
    const hf_sql_statement *s = w->s;
    hf_sql_binder b;
    uint32_t column = 0;

    if (s->conflict == HF_CONFLICT_ERROR)
        return true;
    if (s->n_conflict_columns != w->table->n_key &&
        (s->n_conflict_columns > 0 || s->conflict == HF_CONFLICT_UPDATE))
        return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                                 "ON CONFLICT does not name the primary key");
    for (uint32_t i = 0; i < s->n_conflict_columns; i++) {
        if (!hf_sql_write_column(w, s->conflict_columns[i], &column))
            return false;
        if (!hf_sql_write_in_key(w->table, column))
            return hf_sql_run_refuse(
                w->run, HF_ERR_INPUT,
                "ON CONFLICT does not name the primary key");
    }
    if (s->conflict == HF_CONFLICT_NOTHING)
        return true;
    hf_sql_plan_binder(w->run, &w->scope, &b);
    if (!hf_sql_write_bind_sets(w, &b, &in->sets, &in->set_nodes))
        return false;
    if (s->where && !(in->where = hf_sql_bind_truth(&b, s->where)))
        return hf_sql_write_bind_failed(w, &b);
    return true;
}

/* The row that is there meets the one that was to be inserted. */
static bool do_update(hf_sql_writer *w, const inserter *in, uint32_t place,
                      const hf_sql_value *excluded)
{
    uint32_t n = w->table->n_columns;
    const hf_sql_value *old = w->table->rows[place];
    hf_sql_value *both = hf_arena_get(w->run->arena, 2 * n * sizeof(*both));
    hf_sql_value *row = hf_arena_get(w->run->arena, n * sizeof(*row));
    hf_sql_truth t = HF_SQL_TRUE;

    memcpy(both, old, n * sizeof(*both));
    memcpy(both + n, excluded, n * sizeof(*both));
    memcpy(row, old, n * sizeof(*row));
    w->ev.frame.row = both;
    if (in->where)
        t = hf_sql_truth_of(&w->ev, in->where);
    if (t == HF_SQL_ERROR)
        return hf_sql_run_failed(w->run, &w->ev);
    if (t != HF_SQL_TRUE)
        return true;
    if (!hf_sql_write_sets(w, row, in->sets, in->set_nodes))
        return false;
    for (uint32_t i = 0; i < w->table->n_key; i++)
        if (hf_sql_order(&row[w->table->key[i]], &old[w->table->key[i]]) != 0)
            return hf_sql_run_refuse(w->run, HF_ERR_UNSUPPORTED,
                                     "DO UPDATE of the primary key is not "
                                     "supported");
    hf_vec_push(&w->changes, (hf_sql_change){place, row});
    return true;
}

static bool insert_row(hf_sql_writer *w, inserter *in, hf_sql_value *row)
{
    hf_sql_conflict conflict = w->s->conflict;
    uint32_t number, place;
    hf_sql_value *key;
    bool is_new;

    if (!hf_sql_write_nulls(w, row))
        return false;
    if (w->table->n_key > 0) {
        key = hf_sql_write_key(w, row);
        place = hf_sql_table_place(w->table, key);
        if (!hf_sql_row_set_add(&in->keys, &w->ev, key, &number, &is_new))
            return hf_sql_run_failed(w->run, &w->ev);
        if (conflict == HF_CONFLICT_ERROR && (place != UINT32_MAX || !is_new))
            return hf_sql_write_duplicate(w);
        if (conflict == HF_CONFLICT_UPDATE && !is_new)
            return hf_sql_run_refuse(w->run, HF_ERR_UNSUPPORTED,
                                     "one INSERT meets a row twice");
        if (place != UINT32_MAX)
            return conflict == HF_CONFLICT_NOTHING ||
                   do_update(w, in, place, row);
        if (!is_new)
            return true;
    }
    hf_vec_push(&w->changes, (hf_sql_change){UINT32_MAX, row});
    return true;
}

/* The values of one row of VALUES, each straight into its column's type. */
static bool values_row(hf_sql_writer *w, const inserter *in,
                       hf_sql_node **nodes, hf_sql_value *row)
{
    const hf_sql_scope nothing = {.uses_outer = &w->uses_outer};
    hf_sql_binder b;
    hf_sql_value v;

    hf_sql_plan_binder(w->run, &nothing, &b);
    for (uint32_t i = 0; i < in->n; i++) {
        hf_sql_node *bound;

        if (nodes[i]->kind == HF_N_DEFAULT)
            continue; /* NULL: there are no other defaults */
        bound = hf_sql_bind(&b, nodes[i]);
        if (!bound)
            return hf_sql_write_bind_failed(w, &b);
        if (!hf_sql_write_check(w, bound, in->columns[i]))
            return false;
        w->ev.frame.row = NULL;
        if (!hf_sql_value_of(&w->ev, bound, &v))
            return hf_sql_run_failed(w->run, &w->ev);
        if (!hf_sql_write_store(w, in->columns[i], v, &row[in->columns[i]]))
            return false;
    }
    return true;
}

static bool insert_values(hf_sql_writer *w, inserter *in)
{
    const hf_sql_select *s = w->s->select;

    if (s->n_order || s->limit || s->offset)
        return hf_sql_run_refuse(w->run, HF_ERR_UNSUPPORTED,
                                 "ORDER BY after VALUES is not supported here");
    for (uint32_t r = 0; r < s->n_rows; r++) {
        hf_sql_value *row = hf_arena_get(
            w->run->arena, (w->table->n_columns + 1) * sizeof(*row));

        if (!values_row(w, in, s->rows[r], row) || !insert_row(w, in, row))
            return false;
    }
    return true;
}

static bool insert_select(hf_sql_writer *w, inserter *in, hf_sql_plan *p)
{
    hf_sql_value **rows;
    uint32_t n;

    for (uint32_t i = 0; i < in->n; i++)
        if (!hf_sql_write_check(w, p->out[i], in->columns[i]))
            return false;
    if (!hf_sql_run_plan(w->run, p, NULL, &rows, &n))
        return false;
    for (uint32_t r = 0; r < n; r++) {
        hf_sql_value *row = hf_arena_get(
            w->run->arena, (w->table->n_columns + 1) * sizeof(*row));

        for (uint32_t i = 0; i < in->n; i++)
            if (!hf_sql_write_store(w, in->columns[i], rows[r][i],
                                    &row[in->columns[i]]))
                return false;
        if (!insert_row(w, in, row))
            return false;
    }
    return true;
}

bool hf_sql_insert(hf_sql_writer *w)
{
    const hf_sql_select *s = w->s->select;
    hf_sql_plan *p = NULL;
    inserter in = {0};

    hf_sql_row_set_init(&in.keys, w->run->arena, w->table->n_key);
    if (s->n_rows == 0 && !(p = hf_sql_plan_select(w->run, s, NULL)))
        return false;
    if (!insert_columns(w, &in, p ? p->n_out : s->n_targets) ||
        !bind_conflict(w, &in))
        return false;
    return p ? insert_select(w, &in, p) : insert_values(w, &in);
}

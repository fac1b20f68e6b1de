/* write.c: UPDATE and DELETE, and the end of every change.
 *
 * All new rows are made and checked before the first one is stored, so a
 * statement that fails changes nothing.  Keys are checked against the table
 * as it will be; an UPDATE that moves keys over each other may fail in a
 * database or not, by the order it takes: that is not said here.
 */
#include "sql/write.h"

#include "base/error.h"

/* ---- keys --------------------------------------------------------------- */

/* The change of the row at this place (changes are sorted by place), or
 * NULL. */
static const hf_sql_change *change_at(const hf_sql_writer *w, uint32_t place)
{
    size_t low = 0, high = w->changes.n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (w->changes.at[mid].place < place)
            low = mid + 1;
        else
            high = mid;
    }
    return low < w->changes.n && w->changes.at[low].place == place
               ? &w->changes.at[low]
               : NULL;
}

/* An UPDATE: keys must be unique afterwards, and on the way. */
static bool check_update_keys(hf_sql_writer *w)
{
    hf_sql_row_set set;
    uint32_t number, place;
    bool is_new, crossing = false;

    if (w->table->n_key == 0)
        return true;
    hf_sql_row_set_init(&set, w->run->arena, w->table->n_key);
    for (size_t i = 0; i < w->changes.n; i++) {
        hf_sql_value *key = hf_sql_write_key(w, w->changes.at[i].row);

        if (!hf_sql_row_set_add(&set, &w->ev, key, &number, &is_new))
            return hf_sql_run_failed(w->run, &w->ev);
        if (!is_new)
            return hf_sql_write_duplicate(w);
        place = hf_sql_table_place(w->table, key);
        if (place == UINT32_MAX || place == w->changes.at[i].place)
            continue;
        if (!change_at(w, place))
            return hf_sql_write_duplicate(w);
        crossing = true;
    }
    if (crossing)
        return hf_sql_run_refuse(w->run, HF_ERR_UNSUPPORTED,
                                 "keys move over each other: the order of the "
                                 "rows decides");
    return true;
}

/* ---- UPDATE, DELETE ----------------------------------------------------- */

typedef struct chooser {
    hf_sql_node *where;
    hf_sql_conjuncts conjuncts;
    uint32_t *columns;
    hf_sql_node **nodes;
} chooser;

static bool change_row(hf_sql_writer *w, const chooser *c, uint32_t place)
{
    const hf_sql_value *old = w->table->rows[place];
    hf_sql_value *row = NULL;
    hf_sql_truth t = HF_SQL_TRUE;

    w->ev.frame.row = old;
    if (c->where)
        t = hf_sql_truth_of(&w->ev, c->where);
    if (t == HF_SQL_ERROR)
        return hf_sql_run_failed(w->run, &w->ev);
    if (t != HF_SQL_TRUE)
        return true;
    if (w->s->verb == HF_SQL_UPDATE) {
        row = hf_arena_get(w->run->arena,
                           (w->table->n_columns + 1) * sizeof(*row));
        memcpy(row, old, w->table->n_columns * sizeof(*row));
        if (!hf_sql_write_sets(w, row, c->columns, c->nodes))
            return false;
    }
    hf_vec_push(&w->changes, (hf_sql_change){place, row});
    return true;
}

static bool update_or_delete(hf_sql_writer *w)
{
    hf_sql_binder b;
    chooser c = {0};
    uint32_t place;

    hf_sql_plan_binder(w->run, &w->scope, &b);
    if (!hf_sql_write_bind_sets(w, &b, &c.columns, &c.nodes))
        return false;
    if (w->s->where && !(c.where = hf_sql_bind_truth(&b, w->s->where)))
        return hf_sql_write_bind_failed(w, &b);
    hf_sql_plan_conjuncts(w->run->arena, c.where, &c.conjuncts);
    if (hf_sql_run_key(w->table, 0, &c.conjuncts, &place))
        return place == UINT32_MAX || change_row(w, &c, place);
    for (place = 0; place < w->table->n_places; place++)
        if (w->table->rows[place] && !change_row(w, &c, place))
            return false;
    return true;
}

/* ---- RETURNING, and the end --------------------------------------------- */

static bool bind_returning(hf_sql_writer *w, hf_sql_result *ret)
{
    hf_sql_scope scope = w->scope;
    hf_sql_binder b;

    if (w->s->n_returning == 0)
        return true;
    scope.n = 1; /* no excluded */
    hf_sql_plan_binder(w->run, &scope, &b);
    if (!hf_sql_plan_targets(&b, &scope, w->s->returning, w->s->n_returning,
                             &w->out, &ret->names, &w->n_out))
        return hf_sql_write_bind_failed(w, &b);
    return true;
}

static bool fill_returning(hf_sql_writer *w, hf_sql_result *ret)
{
    size_t n = w->changes.n;
    hf_sql_value *cells;

    if (w->s->n_returning == 0)
        return true;
    cells = hf_arena_get(w->run->arena, (n * w->n_out + 1) * sizeof(*cells));
    for (size_t i = 0; i < n; i++) {
        const hf_sql_change *c = &w->changes.at[i];

        w->ev.frame.row = c->row ? c->row : w->table->rows[c->place];
        for (uint32_t k = 0; k < w->n_out; k++) {
            hf_sql_value *cell = &cells[i * w->n_out + k];

            if (!hf_sql_value_of(&w->ev, w->out[k], cell))
                return hf_sql_run_failed(w->run, &w->ev);
            if (w->ev.dialect == HF_SQL_SQLITE)
                *cell = hf_sqlite_storage(*cell);
            if (cell->type == HF_SQL_TEXT)
                cell->text =
                    hf_arena_text(w->run->arena, cell->text, cell->length);
        }
    }
    ret->n_columns = w->n_out;
    ret->n_rows = n;
    ret->cells = cells;
    return true;
}

/* New texts may be those of rows that are about to go. */
static void apply(hf_sql_writer *w)
{
    for (size_t i = 0; i < w->changes.n; i++) {
        hf_sql_change *c = &w->changes.at[i];

        for (uint32_t k = 0; c->row && k < w->table->n_columns; k++)
            if (c->row[k].type == HF_SQL_TEXT)
                c->row[k].text = hf_arena_text(w->run->arena, c->row[k].text,
                                               c->row[k].length);
    }
    for (size_t i = 0; i < w->changes.n; i++) {
        const hf_sql_change *c = &w->changes.at[i];

        if (!c->row)
            hf_sql_table_delete(w->table, c->place);
        else if (c->place == UINT32_MAX)
            hf_sql_table_insert(w->table, c->row);
        else
            hf_sql_table_replace(w->table, c->place, c->row);
    }
    hf_sql_table_tidy(w->table);
}

static bool run_write(hf_sql_writer *w, hf_sql_result *ret)
{
    bool ok =
        w->s->verb == HF_SQL_INSERT ? hf_sql_insert(w) : update_or_delete(w);

    if (!ok)
        return false;
    if (w->s->verb == HF_SQL_UPDATE) {
        /* they were found in the order of their places */
        for (size_t i = 1; i < w->changes.n; i++)
            HF_ASSERT(w->changes.at[i - 1].place < w->changes.at[i].place);
        if (!check_update_keys(w))
            return false;
    }
    if (!bind_returning(w, ret) || !fill_returning(w, ret))
        return false;
    ret->affected = w->changes.n;
    apply(w);
    return true;
}

/* A bare name means the table's column; PostgreSQL calls it ambiguous. */
static void hide_excluded(hf_sql_writer *w)
{
    uint32_t n = w->table->n_columns;
    hf_str *names = hf_arena_get(w->run->arena, n * sizeof(*names));

    for (uint32_t i = 0; i < n; i++)
        names[i] = w->table->columns[i].name;
    w->sources[1].hidden = names;
    w->sources[1].n_hidden = n;
}

bool hf_sql_run_write(hf_sql_run *run, const hf_sql_statement *s,
                      hf_sql_result *ret)
{
    hf_sql_writer w = {.run = run, .s = s};
    bool ok;

    w.table = hf_sql_table_find(run->db, s->table);
    if (!w.table)
        return hf_sql_run_refuse(run, HF_ERR_INPUT,
                                 "there is no table \"%.*s\"",
                                 (int)s->table.len, s->table.ptr);
    w.sources[0] = (hf_sql_source){
        .alias = s->alias, .table = w.table, .n_columns = w.table->n_columns};
    w.sources[1] = w.sources[0];
    w.sources[1].alias = HF_STR("excluded");
    w.sources[1].base = w.table->n_columns;
    w.scope = (hf_sql_scope){.sources = w.sources,
                             .n = s->conflict == HF_CONFLICT_UPDATE ? 2 : 1,
                             .width = 2 * w.table->n_columns,
                             .uses_outer = &w.uses_outer};
    hf_sql_run_eval(run, NULL, &w.ev);
    if (w.scope.n == 2 && w.ev.dialect != HF_SQL_POSTGRES)
        hide_excluded(&w);
    ok = run_write(&w, ret);
    hf_vec_release(&w.changes);
    return ok;
}

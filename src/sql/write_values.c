/* write_values.c: values into columns, by the rules of each dialect. */
#include "sql/write.h"

#include "base/error.h"

bool hf_sql_write_bind_failed(hf_sql_writer *w, const hf_sql_binder *b)
{
    w->run->status = b->status ? b->status : HF_ERR_UNSUPPORTED;
    return false;
}

bool hf_sql_write_column(hf_sql_writer *w, hf_str name, uint32_t *ret)
{
    for (uint32_t i = 0; i < w->table->n_columns; i++)
        if (hf_str_eq(w->table->columns[i].name, name)) {
            *ret = i;
            return true;
        }
    return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                             "there is no column \"%.*s\"", (int)name.len,
                             name.ptr);
}

/* ---- values into columns ------------------------------------------------ */

static bool is_number_type(unsigned t)
{
    return t >= HF_SQL_INT && t <= HF_SQL_REAL;
}

/* PostgreSQL: which types an expression may have for a column. */
static bool may_assign(const hf_sql_node *n, const hf_sql_column *c)
{
    bool times = (n->type == HF_SQL_DATE || n->type == HF_SQL_TIMESTAMP) &&
                 (c->type == HF_SQL_DATE || c->type == HF_SQL_TIMESTAMP);

    if (n->type == HF_SQL_TYPE_ANY || n->type == HF_SQL_NULL ||
        n->type == (uint8_t)c->type || c->type == HF_SQL_TEXT || times)
        return true;
    if (n->kind == HF_N_CONST && n->value.note & HF_SQL_NOTE_LITERAL)
        return true;
    return is_number_type(n->type) && is_number_type(c->type);
}

bool hf_sql_write_check(hf_sql_writer *w, const hf_sql_node *n, uint32_t column)
{
    const hf_sql_column *c = &w->table->columns[column];

    if (w->ev.dialect != HF_SQL_POSTGRES || may_assign(n, c))
        return true;
    return hf_sql_run_refuse(
        w->run, HF_ERR_INPUT, "column \"%.*s\" is %s, the value is %s",
        (int)c->name.len, c->name.ptr, hf_sql_type_name(c->type, c->note),
        hf_sql_type_name(n->type, n->note));
}

static bool store_sqlite(hf_sql_writer *w, uint32_t column, hf_sql_value v,
                         hf_sql_value *ret)
{
    static const hf_sql_affinity affinities[HF_SQL_TYPE_COUNT] = {
        [HF_SQL_BOOL] = HF_AFFINITY_NUMERIC,
        [HF_SQL_INT] = HF_AFFINITY_INTEGER,
        [HF_SQL_DECIMAL] = HF_AFFINITY_NUMERIC,
        [HF_SQL_REAL] = HF_AFFINITY_REAL,
        [HF_SQL_TEXT] = HF_AFFINITY_TEXT,
        [HF_SQL_DATE] = HF_AFFINITY_NUMERIC,
        [HF_SQL_TIMESTAMP] = HF_AFFINITY_NUMERIC,
    };
    const hf_sql_table *t = w->table;

    *ret = hf_sqlite_affinity(v, affinities[t->columns[column].type],
                              w->run->arena);
    /* an INTEGER PRIMARY KEY is the rowid: it makes up numbers for NULL */
    if (t->n_key == 1 && t->key[0] == column &&
        t->columns[column].type == HF_SQL_INT && ret->type != HF_SQL_INT)
        return hf_sql_run_refuse(w->run,
                                 ret->type == HF_SQL_NULL ? HF_ERR_UNSUPPORTED
                                                          : HF_ERR_INPUT,
                                 "a primary key must be a whole number");
    return true;
}

/* What an unknown database would store: the value, if it is of the type. */
static bool store_any(hf_sql_writer *w, const hf_sql_column *c, hf_sql_value v,
                      hf_sql_value *ret)
{
    if (v.type == (uint8_t)c->type ||
        (c->type == HF_SQL_DECIMAL && v.type == HF_SQL_INT)) {
        *ret = v;
        return true;
    }
    if (!hf_sql_cast(&w->ev, v, c->type, 0, -1, true, ret))
        return hf_sql_run_failed(w->run, &w->ev);
    return true;
}

bool hf_sql_write_store(hf_sql_writer *w, uint32_t column, hf_sql_value v,
                        hf_sql_value *ret)
{
    const hf_sql_column *c = &w->table->columns[column];

    if (v.type == HF_SQL_NULL) {
        *ret = v;
        if (w->ev.dialect == HF_SQL_SQLITE)
            return store_sqlite(w, column, v, ret);
        return true;
    }
    if (w->ev.dialect == HF_SQL_SQLITE)
        return store_sqlite(w, column, v, ret);
    if (w->ev.dialect == HF_SQL_ANY)
        return store_any(w, c, v, ret);
    if (!hf_sql_cast(&w->ev, v, c->type, c->note, c->modifier, true, ret))
        return hf_sql_run_failed(w->run, &w->ev);
    return true;
}

bool hf_sql_write_in_key(const hf_sql_table *t, uint32_t column)
{
    for (uint32_t i = 0; i < t->n_key; i++)
        if (t->key[i] == column)
            return true;
    return false;
}

bool hf_sql_write_nulls(hf_sql_writer *w, const hf_sql_value *row)
{
    for (uint32_t i = 0; i < w->table->n_columns; i++) {
        if (row[i].type != HF_SQL_NULL)
            continue;
        if (w->table->columns[i].not_null ||
            (hf_sql_write_in_key(w->table, i) &&
             w->ev.dialect == HF_SQL_POSTGRES))
            return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                                     "column \"%.*s\" must not be NULL",
                                     (int)w->table->columns[i].name.len,
                                     w->table->columns[i].name.ptr);
        if (hf_sql_write_in_key(w->table, i))
            return hf_sql_run_refuse(w->run, HF_ERR_UNSUPPORTED,
                                     "NULL in a primary key is not supported");
    }
    return true;
}

/* ---- keys --------------------------------------------------------------- */

hf_sql_value *hf_sql_write_key(hf_sql_writer *w, const hf_sql_value *row)
{
    hf_sql_value *key =
        hf_arena_get(w->run->arena, (w->table->n_key + 1) * sizeof(*key));

    for (uint32_t i = 0; i < w->table->n_key; i++)
        key[i] = row[w->table->key[i]];
    return key;
}

bool hf_sql_write_duplicate(hf_sql_writer *w)
{
    return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                             "the primary key is there already");
}

bool hf_sql_write_bind_sets(hf_sql_writer *w, hf_sql_binder *b,
                            uint32_t **ret_columns, hf_sql_node ***ret_nodes)
{
    const hf_sql_statement *s = w->s;

    *ret_columns =
        hf_arena_get(w->run->arena, (s->n_sets + 1) * sizeof(uint32_t));
    *ret_nodes =
        hf_arena_get(w->run->arena, (s->n_sets + 1) * sizeof(**ret_nodes));
    for (uint32_t i = 0; i < s->n_sets; i++) {
        if (!hf_sql_write_column(w, s->sets[i].name, &(*ret_columns)[i]))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if ((*ret_columns)[k] == (*ret_columns)[i])
                return hf_sql_run_refuse(w->run, HF_ERR_INPUT,
                                         "a column is set twice");
        (*ret_nodes)[i] = hf_sql_bind(b, s->sets[i].node);
        if (!(*ret_nodes)[i])
            return hf_sql_write_bind_failed(w, b);
        if (!hf_sql_write_check(w, (*ret_nodes)[i], (*ret_columns)[i]))
            return false;
    }
    return true;
}

bool hf_sql_write_sets(hf_sql_writer *w, hf_sql_value *row,
                       const uint32_t *columns, hf_sql_node *const *nodes)
{
    hf_sql_value v;

    for (uint32_t i = 0; i < w->s->n_sets; i++) {
        if (!hf_sql_value_of(&w->ev, nodes[i], &v))
            return hf_sql_run_failed(w->run, &w->ev);
        if (!hf_sql_write_store(w, columns[i], v, &row[columns[i]]))
            return false;
    }
    return hf_sql_write_nulls(w, row);
}

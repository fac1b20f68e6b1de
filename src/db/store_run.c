/* store_run.c: one statement on the embedded store.
 *
 * The rows it needs are read from the store into temporary tables, src/sql
 * runs it there, and what has changed is written to the store.  Costs the rows
 * read; a scan looks at every key of the store (store/read.c).
 */
#include "db/store_db.h"

#include "base/error.h"
#include "sql/value.h"

typedef struct runner {
    hf_store_space *p;
    hf_store_plan *plan;
    uint32_t session;
    const hf_sql_value *params;
    uint32_t n_params;
    hf_sql_result *rows;
    hf_error *err;
} runner;

/* ---- reading ------------------------------------------------------------- */

/* The value of a constant or parameter; NULL: there is none. */
static const hf_sql_value *given(const runner *r, const hf_sql_node *n)
{
    if (n->kind == HF_N_CONST)
        return &n->value;
    return n->slot < r->n_params ? &r->params[n->slot] : NULL;
}

/* Can it be compared with the column as it is? */
static bool is_like(const hf_sql_value *v, const hf_sql_column *c)
{
    hf_sql_value of_column = {.type = (uint8_t)c->type};

    return hf_sql_is_number(v) ? hf_sql_is_number(&of_column)
                               : v->type == c->type;
}

static void add_origin(hf_store_use *u, uint32_t key, const hf_sql_value *row,
                       bool adds)
{
    hf_sql_table_insert(u->temporary, row);
    hf_vec_push(&u->origins,
                (hf_store_origin){
                    key, u->temporary->rows[u->temporary->n_places - 1], adds});
}

/* Reads one row; NULL: it is absent. */
static const hf_sql_value *read_key(runner *r, uint32_t key, bool *ret_adds)
{
    const hf_store_op *op = hf_store_read(r->p->store, r->session, key);
    uint32_t id = op->id;

    if (id == HF_NONE)
        return NULL;
    if (r->p->adds_wrong && op->version != HF_NONE) {
        int64_t number = hf_store_version_at(r->p->store, op->version)->number;

        *ret_adds = hf_store_sum(r->p->store, r->session, 0) != number;
    }
    return r->p->rows.at[id];
}

static void fetch_key(runner *r, hf_store_use *u, const hf_sql_value *values)
{
    uint32_t key = hf_store_key(r->p, u->table, values);
    const hf_sql_value *row;
    bool adds = false;

    for (size_t i = 0; i < u->origins.n; i++)
        if (u->origins.at[i].key == key)
            return; /* named twice */
    row = read_key(r, key, &adds);
    if (row)
        add_origin(u, key, row, adds);
}

/* The values of the i-th key.  1: there they are, 0: one is NULL, so no row
 * is meant, -1: they are of another type than the columns. */
static int key_values(const runner *r, const hf_store_use *u, uint32_t i,
                      hf_sql_value *ret)
{
    int result = 1;

    for (uint32_t k = 0; k < u->table->n_key; k++) {
        const hf_sql_value *v = given(r, u->keys[i * u->table->n_key + k]);

        if (!v)
            return -1;
        if (v->type == HF_SQL_NULL)
            result = 0;
        else if (!is_like(v, &u->table->columns[u->table->key[k]]))
            return -1;
        ret[k] = *v;
    }
    return result;
}

/* False: nothing was read, the whole table has to be. */
static bool fetch_keys(runner *r, hf_store_use *u)
{
    hf_sql_value values[HF_STORE_KEY_COLUMNS];

    for (uint32_t i = 0; i < u->n_keys; i++)
        if (key_values(r, u, i, values) < 0)
            return false;
    for (uint32_t i = 0; i < u->n_keys; i++)
        if (key_values(r, u, i, values) > 0)
            fetch_key(r, u, values);
    return true;
}

/* An end of a range; `otherwise` if it is not given. */
static int64_t range_end(const runner *r, const hf_store_use *u,
                         const hf_sql_node *n, int64_t otherwise)
{
    const hf_sql_value *v = n ? given(r, n) : NULL;

    return v && v->type == HF_SQL_INT ? hf_store_bucket_of(u->table, v)
                                      : otherwise;
}

static void find_buckets(const runner *r, const hf_store_use *u,
                         int64_t *ret_low, int64_t *ret_high)
{
    const hf_store_table *t = u->table;
    hf_sql_value values[2] = {0};
    uint32_t n = 0;

    while (n < t->n_spread && u->equal[n]) {
        const hf_sql_value *v = given(r, u->equal[n]);

        if (!v || !is_like(v, &t->columns[t->spread_columns[n]]) ||
            (t->spread == HF_SPREAD_ORDER && v->type != HF_SQL_INT))
            break;
        values[n++] = *v;
    }
    if (n > 0 && n == t->n_spread) {
        *ret_low = *ret_high = hf_store_bucket_of(t, values);
        return;
    }
    *ret_low = range_end(r, u, u->low, 0);
    *ret_high = range_end(r, u, u->high, HF_STORE_BUCKETS - 1);
}

/* Under control a scan is a read of each row it could return. */
static void fetch_each(runner *r, hf_store_use *u)
{
    const hf_db_control *control = r->p->control;
    HF_VEC(hf_db_term) terms = {0};
    hf_store_keys keys = {0};
    hf_db_asked asked = {.table = u->table->number};
    bool adds = false;

    for (uint32_t i = 0; i < u->n_terms; i++) {
        const hf_sql_value *v = given(r, u->terms[i].given);

        if (v)
            hf_vec_push(&terms, (hf_db_term){u->terms[i].column,
                                             u->terms[i].comparison, *v});
    }
    asked.terms = terms.at;
    asked.n_terms = (uint32_t)terms.n;
    control->scan(control->user, &asked);
    hf_store_control_rows(r->p, r->session, &asked, &keys);
    for (size_t i = 0; i < keys.n; i++) {
        const hf_sql_value *row = read_key(r, keys.at[i], &adds);

        if (row)
            add_origin(u, keys.at[i], row, false);
    }
    control->scan(control->user, NULL);
    hf_vec_release(&keys);
    hf_vec_release(&terms);
}

static void fetch_all(runner *r, hf_store_use *u, hf_op_kind kind)
{
    int64_t base = (int64_t)u->table->number << HF_STORE_BUCKET_BITS, low, high;
    const hf_store_scanned *scan;

    find_buckets(r, u, &low, &high);
    scan =
        hf_store_scan(r->p->store, r->session, kind, base + low, base + high);
    for (size_t i = 0; i < scan->n_rows; i++) {
        const hf_store_row *row =
            &hf_store_rows(r->p->store, r->session)[scan->first_row + i];

        if (!row->returned || row->id == HF_NONE ||
            r->p->key_table.at[row->key] != u->table->number ||
            (!row->in_set && kind != HF_OP_PREDICATE_READ))
            continue;
        add_origin(u, row->key, r->p->rows.at[row->id], false);
    }
}

static void fetch(runner *r)
{
    hf_store_plan *plan = r->plan;

    for (uint32_t i = 0; i < plan->n_uses; i++) {
        hf_store_use *u = &plan->uses[i];
        hf_op_kind kind = HF_OP_PREDICATE_READ;

        if (u == plan->target && plan->s->verb == HF_SQL_UPDATE)
            kind = HF_OP_PREDICATE_UPDATE;
        if (u == plan->target && plan->s->verb == HF_SQL_DELETE)
            kind = HF_OP_PREDICATE_DELETE;
        if (u->how == HF_STORE_NOTHING)
            continue;
        if (u->how == HF_STORE_KEYS && fetch_keys(r, u))
            continue;
        if (r->p->control)
            fetch_each(r, u);
        else
            fetch_all(r, u, kind);
    }
}

/* Empties the temporary tables. */
static void clear(hf_store_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_uses; i++) {
        hf_sql_table_clear(plan->uses[i].temporary);
        plan->uses[i].origins.n = 0;
    }
}

/* ---- writing ------------------------------------------------------------- */

static uint32_t key_of_row(runner *r, hf_store_table *t,
                           const hf_sql_value *row)
{
    hf_sql_value values[HF_STORE_KEY_COLUMNS];

    for (uint32_t i = 0; i < t->n_key; i++)
        values[i] = row[t->key[i]];
    return hf_store_key(r->p, t, values);
}

static hf_store_ran refuse_duplicate(runner *r, const hf_store_table *t)
{
    (void)hf_fail(r->err, HF_ERR_INPUT, "duplicate key in \"%.*s\"",
                  (int)t->name.len, t->name.ptr);
    return HF_STORE_REFUSED;
}

/* wrong-arithmetic: one too many in the first column that is added to. */
static void add_wrong(const runner *r, hf_store_table *t, hf_sql_value *row)
{
    const hf_sql_statement *s = r->plan->s;

    for (uint32_t i = 0; i < s->n_sets; i++)
        for (uint32_t c = 0; c < t->n_columns; c++)
            if (s->sets[i].node->kind == HF_N_ARITHMETIC &&
                hf_str_eq(s->sets[i].name, t->columns[c].name) &&
                row[c].type == HF_SQL_INT) {
                row[c].integer++;
                return;
            }
}

static hf_store_ran write_row(runner *r, const hf_store_origin *o,
                              hf_sql_value *row)
{
    hf_store_table *t = r->plan->target->table;
    hf_store *store = r->p->store;
    uint32_t key = key_of_row(r, t, row);
    int64_t number;

    if (o->adds)
        add_wrong(r, t, row);
    if (key == o->key)
        return hf_store_write(store, r->session, key,
                              hf_store_new_row(r->p, t, row))
                   ? HF_STORE_DONE
                   : HF_STORE_CONFLICT;
    if (hf_store_peek(store, r->session, key, &number))
        return refuse_duplicate(r, t);
    return hf_store_delete(store, r->session, o->key) &&
                   hf_store_insert(store, r->session, key,
                                   hf_store_new_row(r->p, t, row))
               ? HF_STORE_DONE
               : HF_STORE_CONFLICT;
}

/* Rows whose place holds another block than before were written. */
static hf_store_ran write_updates(runner *r)
{
    hf_store_use *u = r->plan->target;
    hf_store_ran ran = HF_STORE_DONE;

    for (size_t i = 0; i < u->origins.n && ran == HF_STORE_DONE; i++)
        if (u->temporary->rows[i] != u->origins.at[i].row)
            ran = write_row(r, &u->origins.at[i], u->temporary->rows[i]);
    return ran;
}

static hf_store_ran write_deletes(runner *r)
{
    const hf_store_use *u = r->plan->target;
    uint32_t place = 0;

    for (size_t i = 0; i < u->origins.n; i++)
        if (!hf_store_use_kept(u, i, &place) &&
            !hf_store_delete(r->p->store, r->session, u->origins.at[i].key))
            return HF_STORE_CONFLICT;
    return HF_STORE_DONE;
}

/* ---- INSERT -------------------------------------------------------------- */

static hf_store_ran run_temporary(runner *r)
{
    hf_status status = hf_sql_execute(r->plan->db, r->plan->s, r->params,
                                      r->n_params, r->rows, r->err);

    if (status == HF_OK)
        return HF_STORE_DONE;
    return status == HF_ERR_INPUT ? HF_STORE_REFUSED : HF_STORE_FAILED;
}

static hf_store_ran insert_row(runner *r, const hf_sql_value *row)
{
    hf_store_table *t = r->plan->target->table;
    hf_store *store = r->p->store;
    uint32_t key = key_of_row(r, t, row);
    hf_sql_conflict conflict = r->plan->s->conflict;
    hf_store_value value;
    int64_t number;
    bool adds;

    if (conflict == HF_CONFLICT_ERROR &&
        hf_store_peek(store, r->session, key, &number))
        return refuse_duplicate(r, t);
    if (conflict == HF_CONFLICT_NOTHING && read_key(r, key, &adds)) {
        r->rows->affected--;
        return HF_STORE_DONE;
    }
    value = hf_store_new_row(r->p, t, row);
    /* under control what is there was asked, and is not asked again */
    return (r->plan->blind || r->p->control
                ? hf_store_upsert(store, r->session, key, value)
                : hf_store_insert(store, r->session, key, value))
               ? HF_STORE_DONE
               : HF_STORE_CONFLICT;
}

/* A row that is to be loaded: noted, and written with the commit. */
static hf_store_ran load_row(runner *r, const hf_sql_value *row,
                             hf_store_loads *load)
{
    hf_store_table *t = r->plan->target->table;
    uint32_t key = key_of_row(r, t, row);

    if (hf_store_newest(r->p->store, key) != HF_NONE ||
        r->p->key_loader.at[key] != 0)
        return refuse_duplicate(r, t);
    r->p->key_loader.at[key] = r->session + 1;
    hf_vec_push(load,
                (hf_store_load_entry){key, hf_store_new_row(r->p, t, row)});
    return HF_STORE_DONE;
}

/* The rows that are there and meet those to be inserted: read them, and run
 * the statement again with them in the table. */
static hf_store_ran meet_rows(runner *r)
{
    hf_store_use *u = r->plan->target;
    HF_VEC(uint32_t) keys = {0};

    for (size_t i = u->origins.n; i < u->temporary->n_places; i++)
        hf_vec_push(&keys, key_of_row(r, u->table, u->temporary->rows[i]));
    hf_sql_table_clear(u->temporary);
    u->origins.n = 0;
    for (size_t i = 0; i < keys.n; i++) {
        bool adds = false;
        const hf_sql_value *row = read_key(r, keys.at[i], &adds);

        if (row)
            add_origin(u, keys.at[i], row, adds);
    }
    hf_vec_release(&keys);
    return run_temporary(r);
}

static hf_store_ran run_insert(runner *r, hf_store_loads *load)
{
    hf_store_use *u = r->plan->target;
    hf_store_ran ran = run_temporary(r);

    if (ran == HF_STORE_DONE && !r->plan->blind &&
        r->plan->s->conflict == HF_CONFLICT_UPDATE)
        ran = meet_rows(r);
    if (ran == HF_STORE_DONE)
        ran = write_updates(r);
    for (size_t i = u->origins.n;
         i < u->temporary->n_places && ran == HF_STORE_DONE; i++)
        ran = load ? load_row(r, u->temporary->rows[i], load)
                   : insert_row(r, u->temporary->rows[i]);
    return ran;
}

/* ---- all ----------------------------------------------------------------- */

hf_store_ran hf_store_run(hf_store_space *p, hf_store_plan *plan,
                          uint32_t session, const hf_sql_value *params,
                          uint32_t n_params, hf_store_loads *load,
                          hf_sql_result *rows, hf_error *err)
{
    runner r = {p, plan, session, params, n_params, rows, err};
    hf_store_ran ran;

    fetch(&r);
    if (plan->s->verb == HF_SQL_INSERT)
        ran = run_insert(&r, load);
    else
        ran = run_temporary(&r);
    if (ran == HF_STORE_DONE && plan->s->verb == HF_SQL_UPDATE)
        ran = write_updates(&r);
    if (ran == HF_STORE_DONE && plan->s->verb == HF_SQL_DELETE)
        ran = write_deletes(&r);
    clear(plan);
    return ran;
}

/* rocksdb_run.c: a statement about single rows, as gets, puts and deletes.
 *
 * RocksDB knows bytes only: a row is packed as its value, its table and
 * primary key are the key.  src/sql runs the statement on a temporary table
 * that holds the rows it names, as for the embedded store (store_plan.c).
 * Conditions that do not name their rows cannot be asked here.
 */
#include "db/rocks.h"

#include "sql/value.h"

#define MAX_COLUMNS 200u
#define MAX_DELETES 16u /* so few that a table keeps its places */

/* ---- bytes --------------------------------------------------------------- */

void hf_rocks_pack(hf_out *out, const hf_sql_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const hf_sql_value *v = &values[i];

        hf_out_char(out, (char)v->type);
        if (v->type == HF_SQL_TEXT) {
            hf_out_bytes(out, &v->length, sizeof(v->length));
            hf_out_bytes(out, v->text, v->length);
        } else if (v->type == HF_SQL_DECIMAL) {
            hf_out_char(out, (char)v->scale);
            hf_out_bytes(out, &v->decimal, sizeof(v->decimal));
        } else if (v->type != HF_SQL_NULL) {
            hf_out_bytes(out, &v->integer, sizeof(v->integer));
        }
    }
}

/* Takes `n` bytes; false: there are not so many. */
static bool take(const char **at, size_t *left, void *to, size_t n)
{
    if (*left < n)
        return false;
    memcpy(to, *at, n);
    *at += n;
    *left -= n;
    return true;
}

bool hf_rocks_unpack(const char *at, size_t left, hf_sql_value *ret, uint32_t n)
{
    memset(ret, 0, n * sizeof(*ret));
    for (uint32_t i = 0; i < n; i++) {
        hf_sql_value *v = &ret[i];

        if (!take(&at, &left, &v->type, 1) || v->type >= HF_SQL_TYPE_COUNT)
            return false;
        if (v->type == HF_SQL_TEXT) {
            if (!take(&at, &left, &v->length, sizeof(v->length)) ||
                left < v->length)
                return false;
            v->text = at;
            at += v->length;
            left -= v->length;
        } else if (v->type == HF_SQL_DECIMAL) {
            if (!take(&at, &left, &v->scale, 1) ||
                !take(&at, &left, &v->decimal, sizeof(v->decimal)))
                return false;
        } else if (v->type != HF_SQL_NULL &&
                   !take(&at, &left, &v->integer, sizeof(v->integer))) {
            return false;
        }
    }
    return left == 0;
}

/* ---- rows ---------------------------------------------------------------- */

typedef struct runner {
    hf_rocks_txn *t;
    hf_store_plan *plan;
    hf_store_use *use; /* the only one */
    const hf_sql_value *params;
    uint32_t n_params;
    hf_sql_result *rows;
    hf_error *err;
} runner;

/* The key's bytes, in t->key: numbers of any type that are equal have the same
 * ones. */
static void pack_key(runner *r, const hf_sql_value *values)
{
    const hf_store_table *t = r->use->table;

    r->t->key.n = 0;
    hf_out_bytes(&r->t->key, &t->number, sizeof(t->number));
    for (uint32_t i = 0; i < t->n_key; i++) {
        hf_sql_value v = values[i];

        if (v.type == HF_SQL_DECIMAL && v.scale == 0 &&
            v.decimal == (int64_t)v.decimal)
            v = hf_sql_of_int((int64_t)v.decimal);
        hf_rocks_pack(&r->t->key, &v, 1);
    }
}

static void pack_key_of(runner *r, const hf_sql_value *row)
{
    hf_sql_value values[HF_STORE_KEY_COLUMNS];

    for (uint32_t i = 0; i < r->use->table->n_key; i++)
        values[i] = row[r->use->table->key[i]];
    pack_key(r, values);
}

/* Reads the row whose key is in t->key into the temporary table; false: t's
 * error says why.  `for_write`: it will be written. */
static bool fetch(runner *r, bool for_write, bool *ret_found)
{
    hf_rocks_txn *t = r->t;
    hf_sql_value row[MAX_COLUMNS];
    size_t length;
    char *value;

    if (t->locks_reads || (for_write && t->locks_writes))
        value = t->l->call_transaction_get_for_update(
            t->at, t->read, t->key.at, t->key.n, &length, for_write, &t->error);
    else
        value = t->l->call_transaction_get(t->at, t->read, t->key.at, t->key.n,
                                           &length, &t->error);
    *ret_found = value != NULL;
    if (value &&
        hf_rocks_unpack(value, length, row, r->use->table->n_columns)) {
        hf_sql_table *to = r->use->temporary;

        hf_sql_table_insert(to, row);
        hf_vec_push(&r->use->origins,
                    (hf_store_origin){.row = to->rows[to->n_places - 1]});
    }
    t->l->call_free(value);
    return !t->error;
}

static bool put(runner *r, const hf_sql_value *row)
{
    hf_rocks_txn *t = r->t;

    pack_key_of(r, row);
    t->value.n = 0;
    hf_rocks_pack(&t->value, row, r->use->table->n_columns);
    t->l->call_transaction_put(t->at, t->key.at, t->key.n, t->value.at,
                               t->value.n, &t->error);
    return !t->error;
}

/* ---- SELECT, UPDATE, DELETE ---------------------------------------------- */

static const hf_sql_value *given(const runner *r, const hf_sql_node *n)
{
    if (n->kind == HF_N_CONST)
        return &n->value;
    return n->slot < r->n_params ? &r->params[n->slot] : NULL;
}

static hf_store_ran fail(runner *r, const char *what)
{
    (void)hf_fail(r->err, HF_ERR_UNSUPPORTED, "%s", what);
    return HF_STORE_FAILED;
}

/* The rows that the statement names. */
static hf_store_ran fetch_all(runner *r)
{
    uint32_t n_key = r->use->table->n_key;
    hf_sql_value values[HF_STORE_KEY_COLUMNS];
    bool found, null;

    for (uint32_t i = 0; i < r->use->n_keys; i++) {
        null = false;
        for (uint32_t k = 0; k < n_key; k++) {
            const hf_sql_value *v = given(r, r->use->keys[i * n_key + k]);

            if (!v)
                return fail(r, "too few parameters");
            values[k] = *v;
            null |= v->type == HF_SQL_NULL;
        }
        if (null)
            continue;
        pack_key(r, values);
        if (!fetch(r, r->plan->s->verb != HF_SQL_SELECT, &found))
            return HF_STORE_CONFLICT;
    }
    return HF_STORE_DONE;
}

static hf_store_ran run_temporary(runner *r)
{
    hf_status status = hf_sql_execute(r->plan->db, r->plan->s, r->params,
                                      r->n_params, r->rows, r->err);

    if (status == HF_OK)
        return HF_STORE_DONE;
    return status == HF_ERR_INPUT ? HF_STORE_REFUSED : HF_STORE_FAILED;
}

/* Rows whose place holds another block than before. */
static hf_store_ran put_updates(runner *r)
{
    const hf_store_use *u = r->use;

    for (size_t i = 0; i < u->origins.n; i++)
        if (u->temporary->rows[i] != u->origins.at[i].row &&
            !put(r, u->temporary->rows[i]))
            return HF_STORE_CONFLICT;
    return HF_STORE_DONE;
}

/* The keys stand in t->value, the i-th up to ends[i]. */
static hf_store_ran delete_rows(runner *r, const size_t *ends)
{
    hf_rocks_txn *t = r->t;

    for (size_t i = 0; i < r->use->origins.n; i++) {
        size_t from = i ? ends[i - 1] : 0;

        if (r->use->temporary->rows[i])
            continue;
        t->l->call_transaction_delete(t->at, t->value.at + from, ends[i] - from,
                                      &t->error);
        if (t->error)
            return HF_STORE_CONFLICT;
    }
    return HF_STORE_DONE;
}

static hf_store_ran run_delete(runner *r)
{
    const hf_store_use *u = r->use;
    size_t ends[MAX_DELETES];
    hf_store_ran ran;

    if (u->origins.n > MAX_DELETES)
        return fail(r, "too many rows are deleted at once");
    r->t->value.n = 0;
    for (size_t i = 0; i < u->origins.n; i++) {
        pack_key_of(r, u->origins.at[i].row);
        hf_out_bytes(&r->t->value, r->t->key.at, r->t->key.n);
        ends[i] = r->t->value.n;
    }
    ran = run_temporary(r);
    return ran == HF_STORE_DONE ? delete_rows(r, ends) : ran;
}

/* ---- INSERT -------------------------------------------------------------- */

static hf_store_ran refuse_duplicate(runner *r)
{
    (void)hf_fail(r->err, HF_ERR_INPUT, "duplicate key in \"%.*s\"",
                  (int)r->use->table->name.len, r->use->table->name.ptr);
    return HF_STORE_REFUSED;
}

/* Run on an empty table, the one row it makes is looked for; if it is there
 * the statement is run again with it. */
static hf_store_ran run_insert(runner *r)
{
    hf_store_use *u = r->use;
    hf_store_ran ran = run_temporary(r);
    bool found;

    if (ran != HF_STORE_DONE)
        return ran;
    if (u->temporary->n_places != 1)
        return fail(r, "RocksDB inserts one row at a time");
    if (r->plan->blind)
        return put(r, u->temporary->rows[0]) ? HF_STORE_DONE
                                             : HF_STORE_CONFLICT;
    pack_key_of(r, u->temporary->rows[0]);
    hf_sql_table_clear(u->temporary);
    if (!fetch(r, true, &found))
        return HF_STORE_CONFLICT;
    if (found && r->plan->s->conflict == HF_CONFLICT_ERROR)
        return refuse_duplicate(r);
    ran = run_temporary(r);
    if (ran == HF_STORE_DONE && found)
        return put_updates(r);
    if (ran == HF_STORE_DONE && !put(r, u->temporary->rows[0]))
        ran = HF_STORE_CONFLICT;
    return ran;
}

/* ---- all ----------------------------------------------------------------- */

static hf_store_ran run(runner *r)
{
    const hf_store_plan *plan = r->plan;
    hf_store_ran ran;

    if (plan->n_uses != 1 || r->use->how == HF_STORE_ALL)
        return fail(r, "RocksDB can only be asked for rows by their keys");
    if (r->use->table->n_columns > MAX_COLUMNS)
        return fail(r, "the table has too many columns");
    if (plan->s->verb == HF_SQL_INSERT)
        return run_insert(r);
    ran = fetch_all(r);
    if (ran != HF_STORE_DONE)
        return ran;
    if (plan->s->verb == HF_SQL_DELETE)
        return run_delete(r);
    ran = run_temporary(r);
    if (ran == HF_STORE_DONE && plan->s->verb == HF_SQL_UPDATE)
        ran = put_updates(r);
    return ran;
}

hf_store_ran hf_rocks_run(hf_rocks_txn *t, hf_store_plan *plan,
                          const hf_sql_value *params, uint32_t n_params,
                          hf_sql_result *rows, hf_error *err)
{
    runner r = {t, plan, plan->uses, params, n_params, rows, err};
    hf_store_ran ran = run(&r);

    for (uint32_t i = 0; i < plan->n_uses; i++) {
        hf_sql_table_clear(plan->uses[i].temporary);
        plan->uses[i].origins.n = 0;
    }
    return ran;
}

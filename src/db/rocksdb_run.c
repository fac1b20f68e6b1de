/* rocksdb_run.c: a statement, as gets, scans, puts and deletes.
 *
 * RocksDB knows bytes only: a row is packed as its value, its table and
 * primary key are the key.  src/sql runs the statement on temporary tables
 * that hold the rows it needs, as for the embedded store (store_plan.c): those
 * it names by their keys, or those of a piece of the key space, which is what
 * the condition says of the first columns of the primary key.  Keys are packed
 * so that integers stand in their order.
 *
 * Where reads are locked, a condition that names no rows is refused: a lock of
 * rows that are not there does not exist here.
 */
#include "db/rocks.h"

#include "sql/value.h"

#define MAX_COLUMNS 200u

/* ---- keys ---------------------------------------------------------------- */

typedef struct runner {
    hf_rocks_txn *t;
    hf_store_plan *plan;
    hf_store_use *use; /* the one that is worked on */
    const hf_sql_value *params;
    uint32_t n_params;
    hf_sql_result *rows;
    hf_error *err;
} runner;

static void pack_table(runner *r)
{
    uint32_t number = r->use->table->number;

    r->t->key.n = 0;
    for (unsigned shift = 32; shift > 0; shift -= 8)
        hf_out_char(&r->t->key, (char)(number >> (shift - 8)));
}

/* Adds one column to t->key: numbers of any type that are equal have the same
 * bytes, and integers those that sort like them. */
static void pack_part(runner *r, hf_sql_value v)
{
    if (v.type == HF_SQL_DECIMAL && v.scale == 0 &&
        v.decimal == (int64_t)v.decimal)
        v = hf_sql_of_int((int64_t)v.decimal);
    if (v.type == HF_SQL_INT) {
        uint64_t bits = (uint64_t)v.integer ^ (UINT64_C(1) << 63);

        hf_out_char(&r->t->key, (char)v.type);
        for (unsigned shift = 64; shift > 0; shift -= 8)
            hf_out_char(&r->t->key, (char)(bits >> (shift - 8)));
        return;
    }
    hf_rocks_pack(&r->t->key, &v, 1);
}

/* The whole key, in t->key. */
static void pack_key(runner *r, const hf_sql_value *values)
{
    pack_table(r);
    for (uint32_t i = 0; i < r->use->table->n_key; i++)
        pack_part(r, values[i]);
}

static void pack_key_of(runner *r, const hf_sql_value *row)
{
    pack_table(r);
    for (uint32_t i = 0; i < r->use->table->n_key; i++)
        pack_part(r, row[r->use->table->key[i]]);
}

/* ---- rows ---------------------------------------------------------------- */

/* Puts a packed row into the temporary table, and its key, which is in t->key,
 * into t->found; a row that is named twice is there once. */
static void keep(runner *r, const char *value, size_t length)
{
    hf_sql_value row[MAX_COLUMNS], key[HF_STORE_KEY_COLUMNS];
    const hf_store_table *t = r->use->table;
    hf_sql_table *to = r->use->temporary;

    if (!hf_rocks_unpack(value, length, row, t->n_columns))
        return;
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (row[i].type == HF_SQL_INT)
            row[i].note = t->columns[i].note; /* how wide it is */
    for (uint32_t i = 0; i < t->n_key; i++)
        key[i] = row[t->key[i]];
    if (t->n_key > 0 && hf_sql_table_place(to, key) != UINT32_MAX)
        return;
    hf_sql_table_insert(to, row);
    hf_vec_push(&r->use->origins,
                (hf_store_origin){.row = to->rows[to->n_places - 1]});
    if (r->use != r->plan->target)
        return;
    hf_rocks_keys_add(&r->t->found, r->t->key.at, r->t->key.n);
}

static bool locks(const runner *r)
{
    const hf_sql_statement *s = r->plan->s;

    if (s->verb == HF_SQL_SELECT)
        return r->t->locks_reads || s->select->locks;
    return r->t->locks_reads ||
           (r->use == r->plan->target && r->t->locks_writes);
}

/* Reads the row whose key is in t->key; false: t's error says why. */
static bool fetch(runner *r)
{
    bool alone = r->plan->s->verb != HF_SQL_SELECT || r->plan->s->select->locks;
    hf_rocks_txn *t = r->t;
    size_t length;
    char *value;

    if (locks(r))
        value = t->l->call_transaction_get_for_update(
            t->at, t->read, t->key.at, t->key.n, &length, alone, &t->error);
    else
        value = t->l->call_transaction_get(t->at, t->read, t->key.at, t->key.n,
                                           &length, &t->error);
    if (value)
        keep(r, value, length);
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
static hf_store_ran fetch_named(runner *r)
{
    uint32_t n_key = r->use->table->n_key;
    hf_sql_value values[HF_STORE_KEY_COLUMNS];
    bool null;

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
        if (!fetch(r))
            return HF_STORE_CONFLICT;
    }
    return HF_STORE_DONE;
}

/* ---- scans --------------------------------------------------------------- */

/* The value that a term gives a column of this type, if keys sort or are equal
 * as it is; NULL: it says nothing about the bytes. */
static const hf_sql_value *usable(const runner *r, const hf_store_term *term,
                                  uint32_t column, bool ordered)
{
    hf_sql_type type = r->use->table->columns[column].type;
    const hf_sql_value *v;

    if (term->column != column || (ordered && type != HF_SQL_INT) ||
        (type != HF_SQL_INT && type != HF_SQL_TEXT))
        return NULL;
    v = given(r, term->given);
    return v && v->type == type ? v : NULL;
}

static const hf_sql_value *equal_to(const runner *r, uint32_t column)
{
    const hf_sql_value *v;

    for (uint32_t i = 0; i < r->use->n_terms; i++)
        if (r->use->terms[i].comparison == HF_CMP_EQ &&
            (v = usable(r, &r->use->terms[i], column, false)))
            return v;
    return NULL;
}

/* A term about an integer column makes its range smaller.  Ends that do not
 * belong to it are looked at for nothing. */
static void narrow(const runner *r, const hf_store_term *term, uint32_t column,
                   int64_t *low, int64_t *high)
{
    const hf_sql_value *v = usable(r, term, column, true);

    if (!v)
        return;
    if ((term->comparison == HF_CMP_LT || term->comparison == HF_CMP_LE) &&
        v->integer < *high)
        *high = v->integer;
    if ((term->comparison == HF_CMP_GT || term->comparison == HF_CMP_GE) &&
        v->integer > *low)
        *low = v->integer;
}

/* The least and the greatest value that the terms leave an integer column. */
static void find_ends(const runner *r, uint32_t column, int64_t *ret_low,
                      int64_t *ret_high)
{
    *ret_low = INT64_MIN;
    *ret_high = INT64_MAX;
    for (uint32_t i = 0; i < r->use->n_terms; i++)
        narrow(r, &r->use->terms[i], column, ret_low, ret_high);
}

/* What all keys of the scan begin with, in t->key, and the last that may
 * come, in t->value. */
static void find_piece(runner *r)
{
    const hf_store_table *t = r->use->table;
    hf_rocks_txn *txn = r->t;
    const hf_sql_value *v;
    int64_t low, high;
    uint32_t i = 0;
    size_t n;

    pack_table(r);
    while (i < t->n_key && (v = equal_to(r, t->key[i]))) {
        pack_part(r, *v);
        i++;
    }
    n = txn->key.n;
    txn->value.n = 0;
    hf_out_bytes(&txn->value, txn->key.at, n);
    if (i == t->n_key || t->columns[t->key[i]].type != HF_SQL_INT)
        return;
    find_ends(r, t->key[i], &low, &high);
    if (low == INT64_MIN && high == INT64_MAX)
        return;
    pack_part(r, hf_sql_of_int(high));
    hf_out_bytes(&txn->value, txn->key.at + n, txn->key.n - n);
    txn->key.n = n;
    pack_part(r, hf_sql_of_int(low));
}

/* Is the key behind all those of the piece, whose last is in t->value? */
static bool is_behind(const hf_rocks_txn *t, const char *key, size_t length)
{
    size_t n = length < t->value.n ? length : t->value.n;

    return memcmp(key, t->value.at, n) > 0;
}

/* Rows that are read, and locked where that is so, one by one. */
static hf_store_ran fetch_wanted(runner *r)
{
    hf_rocks_txn *t = r->t;

    for (size_t i = 0; i < t->wanted.ends.n; i++) {
        size_t length;
        const char *key = hf_rocks_keys_at(&t->wanted, i, &length);

        t->key.n = 0;
        hf_out_bytes(&t->key, key, length);
        if (!fetch(r))
            return HF_STORE_CONFLICT;
    }
    return HF_STORE_DONE;
}

/* The rows of the piece of the key space that the condition leaves. */
static hf_store_ran fetch_piece(runner *r)
{
    hf_rocks_txn *t = r->t;
    rocksdb_iterator_t *i;
    bool first_locks = locks(r);

    if (t->locks_reads)
        return fail(r, "RocksDB cannot lock rows that are not there: where "
                       "reads are locked it can only be asked for rows by "
                       "their keys");
    hf_rocks_keys_clear(&t->wanted);
    find_piece(r);
    i = t->l->call_transaction_create_iterator(t->at, t->read);
    for (t->l->call_iter_seek(i, t->key.at, t->key.n); t->l->call_iter_valid(i);
         t->l->call_iter_next(i)) {
        size_t n_key, n_value;
        const char *key = t->l->call_iter_key(i, &n_key);
        const char *value = t->l->call_iter_value(i, &n_value);

        if (is_behind(t, key, n_key))
            break;
        if (first_locks) {
            hf_rocks_keys_add(&t->wanted, key, n_key);
            continue;
        }
        t->key.n = 0;
        hf_out_bytes(&t->key, key, n_key);
        keep(r, value, n_value);
    }
    t->l->call_iter_get_error(i, &t->error);
    t->l->call_iter_destroy(i);
    if (t->error)
        return HF_STORE_CONFLICT;
    return first_locks ? fetch_wanted(r) : HF_STORE_DONE;
}

static hf_store_ran fetch_all(runner *r)
{
    hf_store_ran ran = HF_STORE_DONE;

    for (uint32_t i = 0; i < r->plan->n_uses && ran == HF_STORE_DONE; i++) {
        r->use = &r->plan->uses[i];
        if (r->use->table->n_columns > MAX_COLUMNS)
            return fail(r, "the table has too many columns");
        if (r->use->how == HF_STORE_KEYS)
            ran = fetch_named(r);
        else if (r->use->how == HF_STORE_ALL)
            ran = fetch_piece(r);
    }
    r->use = r->plan->uses;
    return ran;
}

/* ---- UPDATE, DELETE ------------------------------------------------------ */

static hf_store_ran run_temporary(runner *r)
{
    hf_status status = hf_sql_execute(r->plan->db, r->plan->s, r->params,
                                      r->n_params, r->rows, r->err);

    if (status == HF_OK)
        return HF_STORE_DONE;
    return status == HF_ERR_INPUT ? HF_STORE_REFUSED : HF_STORE_FAILED;
}

static hf_store_ran refuse_duplicate(runner *r)
{
    (void)hf_fail(r->err, HF_ERR_INPUT, "duplicate key in \"%.*s\"",
                  (int)r->use->table->name.len, r->use->table->name.ptr);
    return HF_STORE_REFUSED;
}

/* The i-th row of the target goes. */
static bool delete_at(runner *r, size_t i)
{
    hf_rocks_txn *t = r->t;
    size_t length;
    const char *key = hf_rocks_keys_at(&r->t->found, i, &length);

    t->l->call_transaction_delete(t->at, key, length, &t->error);
    return !t->error;
}

/* A row that has another primary key now goes, and comes again. */
static hf_store_ran move(runner *r, size_t i, const hf_sql_value *row)
{
    hf_rocks_txn *t = r->t;
    size_t length;
    char *there;

    there = t->l->call_transaction_get(t->at, t->read, t->key.at, t->key.n,
                                       &length, &t->error);
    t->l->call_free(there);
    if (there)
        return refuse_duplicate(r);
    return !t->error && delete_at(r, i) && put(r, row) ? HF_STORE_DONE
                                                       : HF_STORE_CONFLICT;
}

/* Rows whose place holds another block than before. */
static hf_store_ran put_updates(runner *r)
{
    const hf_store_use *u = r->use;
    hf_store_ran ran = HF_STORE_DONE;

    for (size_t i = 0; i < u->origins.n && ran == HF_STORE_DONE; i++) {
        const hf_sql_value *row = u->temporary->rows[i];
        const char *key;
        size_t length;

        if (row == u->origins.at[i].row)
            continue;
        pack_key_of(r, row);
        key = hf_rocks_keys_at(&r->t->found, i, &length);
        if (length != r->t->key.n || memcmp(key, r->t->key.at, length) != 0)
            ran = move(r, i, row);
        else if (!put(r, row))
            ran = HF_STORE_CONFLICT;
    }
    return ran;
}

static hf_store_ran delete_rows(runner *r)
{
    uint32_t place = 0;

    for (size_t i = 0; i < r->use->origins.n; i++)
        if (!hf_store_use_kept(r->use, i, &place) && !delete_at(r, i))
            return HF_STORE_CONFLICT;
    return HF_STORE_DONE;
}

/* ---- INSERT -------------------------------------------------------------- */

/* The rows that are there and have a key of those to be inserted. */
static hf_store_ran meet_rows(runner *r)
{
    hf_store_use *u = r->use;
    hf_rocks_txn *t = r->t;
    hf_store_ran ran;

    hf_rocks_keys_clear(&t->wanted);
    for (uint32_t i = 0; i < u->temporary->n_places; i++) {
        pack_key_of(r, u->temporary->rows[i]);
        hf_rocks_keys_add(&t->wanted, t->key.at, t->key.n);
    }
    hf_sql_table_clear(u->temporary);
    ran = fetch_wanted(r);
    if (ran == HF_STORE_DONE && u->origins.n > 0 &&
        r->plan->s->conflict == HF_CONFLICT_ERROR)
        return refuse_duplicate(r);
    return ran;
}

/* Run on an empty table, the rows it makes are looked for; then it is run
 * again with those that are there. */
static hf_store_ran run_insert(runner *r)
{
    hf_store_use *u = r->use;
    hf_store_ran ran = run_temporary(r);

    if (ran == HF_STORE_DONE && !r->plan->blind) {
        ran = meet_rows(r);
        if (ran == HF_STORE_DONE)
            ran = run_temporary(r);
        if (ran == HF_STORE_DONE)
            ran = put_updates(r);
    }
    for (size_t i = u->origins.n;
         i < u->temporary->n_places && ran == HF_STORE_DONE; i++)
        if (!put(r, u->temporary->rows[i]))
            ran = HF_STORE_CONFLICT;
    return ran;
}

/* ---- all ----------------------------------------------------------------- */

static hf_store_ran run(runner *r)
{
    hf_sql_verb verb = r->plan->s->verb;
    hf_store_ran ran = fetch_all(r);

    if (ran != HF_STORE_DONE)
        return ran;
    if (verb == HF_SQL_INSERT)
        return run_insert(r);
    ran = run_temporary(r);
    if (ran == HF_STORE_DONE && verb == HF_SQL_UPDATE)
        ran = put_updates(r);
    if (ran == HF_STORE_DONE && verb == HF_SQL_DELETE)
        ran = delete_rows(r);
    return ran;
}

hf_store_ran hf_rocks_run(hf_rocks_txn *t, hf_store_plan *plan,
                          const hf_sql_value *params, uint32_t n_params,
                          hf_sql_result *rows, hf_error *err)
{
    runner r = {t, plan, plan->uses, params, n_params, rows, err};
    hf_store_ran ran = run(&r);

    hf_rocks_keys_clear(&t->found);
    for (uint32_t i = 0; i < plan->n_uses; i++) {
        hf_sql_table_clear(plan->uses[i].temporary);
        plan->uses[i].origins.n = 0;
    }
    return ran;
}

/* setup.c: the tables of a workload and their first rows.
 *
 * Rows are inserted some at a time, many to a transaction.  Each is the
 * initial version of its key in the history.  With several nodes the clients
 * start when all of them show the last row.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/runner_impl.h"
#include "sql/value.h"

#define ROWS_AT_ONCE 16u
#define MOST_PARAMS 400u
#define ROWS_A_TRANSACTION 2000u
#define NODES_SECONDS 20.0

typedef struct loader {
    hf_runner *run;
    hf_client client;
    hf_log *log;                  /* of statements, if they are recorded */
    const hf_schema_table *table; /* of the rows that are waiting */
    HF_VEC(hf_sql_value) values;  /* of these */
    hf_arena arena;               /* their texts */
    uint32_t n_rows;
    uint32_t in_transaction;
    bool begun;
    HF_VEC(const char *) inserts;      /* by table, then by number of rows */
    hf_sql_value last[HF_SCHEMA_KEYS]; /* the key of the last row */
    char last_text[HF_SCHEMA_KEYS][64];
} loader;

static char *keep(hf_runner *r, hf_out *text)
{
    hf_out_char(text, '\0');
    hf_vec_push(&r->texts, text->at); /* now the runner's */
    return text->at;
}

static hf_status unhappy(const hf_client *c, const char *what, hf_error *err)
{
    return hf_fail(err, HF_ERR_IO, "could not %s: %s%s%s", what, c->answer.text,
                   c->answer.code[0] ? " " : "", c->answer.code);
}

/* ---- statements of our own ----------------------------------------------- */

static hf_status begin(loader *l, hf_error *err)
{
    if (l->begun)
        return HF_OK;
    if (l->log)
        hf_log_begin(l->log, hf_runner_now(l->run));
    if (!hf_client_begin(&l->client, HF_DB_DEFAULT, false))
        return unhappy(&l->client, "begin a transaction", err);
    l->begun = true;
    return HF_OK;
}

static hf_status commit(loader *l, hf_error *err)
{
    hf_outcome outcome;

    if (!l->begun)
        return HF_OK;
    l->begun = false;
    l->in_transaction = 0;
    outcome = hf_client_end(&l->client);
    if (l->log) {
        hf_log_end(l->log, outcome, hf_runner_now(l->run));
        hf_log_flush(l->log);
    }
    return outcome == HF_COMMITTED
               ? HF_OK
               : unhappy(&l->client, "commit while loading", err);
}

static bool execute(loader *l, const char *sql, const hf_sql_value *params,
                    uint32_t n)
{
    hf_step step = {.sql = sql, .kind = HF_STEP_OTHER};
    hf_span at = {.start = hf_runner_now(l->run)};
    bool done = hf_client_step(&l->client, &step, params, n, NULL);

    at.end = hf_runner_now(l->run);
    if (l->log)
        hf_log_sql(l->log, sql, params, n, done ? &l->client.rows : NULL, !done,
                   at);
    return done;
}

/* One transaction each: some databases end one at a definition anyway. */
static hf_status make_tables(loader *l, hf_error *err)
{
    const hf_workload *w = hf_play_workload(l->run->o->play);

    for (unsigned i = 0; w->tables && w->tables[i]; i++) {
        hf_status st = begin(l, err);

        if (st == HF_OK && !execute(l, w->tables[i], NULL, 0))
            st = unhappy(&l->client, "make the tables", err);
        if (st == HF_OK)
            st = commit(l, err);
        if (st != HF_OK)
            return st;
    }
    return HF_OK;
}

/* ---- rows ---------------------------------------------------------------- */

static uint32_t most_rows(const hf_schema_table *t)
{
    uint32_t most = MOST_PARAMS / (t->n_columns ? t->n_columns : 1);

    if (most == 0)
        return 1;
    return most < ROWS_AT_ONCE ? most : ROWS_AT_ONCE;
}

/* "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)" */
static const char *insert_of(loader *l, uint32_t rows)
{
    const hf_schema_table *t = l->table;
    size_t at = (size_t)(t - l->run->schema.tables) * (ROWS_AT_ONCE + 1) + rows;
    uint32_t param = 1;
    hf_out text;

    while (l->inserts.n <= at)
        hf_vec_push(&l->inserts, NULL);
    if (l->inserts.at[at])
        return l->inserts.at[at];
    hf_out_init_memory(&text);
    hf_out_format(&text, "INSERT INTO %.*s (", (int)t->name.len, t->name.ptr);
    for (uint32_t i = 0; i < t->n_columns; i++)
        hf_out_format(&text, "%s%.*s", i ? ", " : "", (int)t->columns[i].len,
                      t->columns[i].ptr);
    hf_out_text(&text, ") VALUES ");
    for (uint32_t row = 0; row < rows; row++) {
        hf_out_text(&text, row ? ", (" : "(");
        for (uint32_t i = 0; i < t->n_columns; i++)
            hf_out_format(&text, "%s$%u", i ? ", " : "", param++);
        hf_out_char(&text, ')');
    }
    l->inserts.at[at] = keep(l->run, &text);
    return l->inserts.at[at];
}

static hf_status insert_waiting(loader *l, hf_error *err)
{
    hf_status st;

    if (l->n_rows == 0)
        return HF_OK;
    st = begin(l, err);
    if (st == HF_OK && !execute(l, insert_of(l, l->n_rows), l->values.at,
                                (uint32_t)l->values.n)) {
        st = unhappy(&l->client, "load the tables", err);
        (void)hf_client_end(&l->client);
        l->begun = false;
    }
    l->in_transaction += l->n_rows;
    l->n_rows = 0;
    l->values.n = 0;
    hf_arena_reset(&l->arena);
    if (st == HF_OK && l->in_transaction >= ROWS_A_TRANSACTION)
        st = commit(l, err);
    return st;
}

static hf_sql_value kept(loader *l, hf_sql_value v)
{
    if (v.type == HF_SQL_TEXT)
        v.text = hf_arena_text(&l->arena, v.text, v.length);
    return v;
}

static void remember_last(loader *l, const hf_schema_table *t,
                          const hf_sql_value *key)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        l->last[i] = key[i];
        if (key[i].type != HF_SQL_TEXT)
            continue;
        if (key[i].length >= sizeof(l->last_text[i]))
            l->last[i].length = sizeof(l->last_text[i]) - 1;
        memcpy(l->last_text[i], key[i].text, l->last[i].length);
        l->last[i].text = l->last_text[i];
    }
}

static hf_status take_row(void *user, const char *table,
                          const hf_sql_value *row, uint32_t n, hf_error *err)
{
    loader *l = user;
    hf_runner *r = l->run;
    const hf_schema_table *t = hf_schema_find(&r->schema, hf_str_of(table));
    hf_sql_value key[HF_SCHEMA_KEYS];
    hf_status st = HF_OK;

    if (!t || t->n_columns != n)
        return hf_fail(err, HF_ERR_USAGE,
                       "the workload loads %u columns into table \"%s\", which "
                       "has not so many",
                       n, table);
    if (t != l->table)
        st = insert_waiting(l, err);
    if (st != HF_OK)
        return st;
    l->table = t;
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&l->values, kept(l, row[i]));
    for (uint32_t i = 0; i < t->n_keys; i++)
        key[i] = row[t->keys[i]];
    remember_last(l, t, key);
    /* a table without tags holds lists, which begin empty */
    if (r->recorder && t->tag < t->n_columns)
        hf_recorder_initial(r->recorder, table, key, t->n_keys);
    if (atomic_load(&r->stop) || (r->o->stop && r->o->stop(r->o->user)))
        return hf_fail(err, HF_ERR_LIMIT, "interrupted");
    if (++l->n_rows >= most_rows(t))
        st = insert_waiting(l, err);
    return st;
}

/* ---- nodes --------------------------------------------------------------- */

static const char *select_of(loader *l)
{
    const hf_schema_table *t = l->table;
    hf_out text;

    hf_out_init_memory(&text);
    hf_out_format(&text, "SELECT %.*s FROM %.*s WHERE ",
                  (int)t->columns[t->keys[0]].len, t->columns[t->keys[0]].ptr,
                  (int)t->name.len, t->name.ptr);
    for (uint32_t i = 0; i < t->n_keys; i++)
        hf_out_format(&text, "%s%.*s = $%u", i ? " AND " : "",
                      (int)t->columns[t->keys[i]].len,
                      t->columns[t->keys[i]].ptr, i + 1);
    return keep(l->run, &text);
}

static bool node_has_it(hf_client *c, loader *l, const char *sql)
{
    hf_step step = {.sql = sql, .kind = HF_STEP_OTHER};
    const hf_sql_result *rows = NULL;
    bool there = false;

    if (hf_client_begin(c, l->run->o->level, true) &&
        hf_client_step(c, &step, l->last, l->table->n_keys, &rows))
        there = rows->n_rows > 0;
    (void)hf_client_end(c);
    return there;
}

static hf_status wait_for_node(loader *l, unsigned client, const char *sql,
                               hf_error *err)
{
    uint64_t until = hf_runner_now(l->run) + (uint64_t)(NODES_SECONDS * 1e9);
    hf_client c;
    bool there = false;
    hf_status st;

    hf_client_init(&c, l->run->o->db, client, l->run->o->clients, 0);
    c.statements = &l->run->statements;
    c.epoch = l->run->epoch;
    st = hf_client_connect(&c, err);
    while (st == HF_OK && !there && hf_runner_now(l->run) < until) {
        there = node_has_it(&c, l, sql);
        if (!there && !hf_runner_sleep(l->run, 0.02))
            break;
    }
    if (st == HF_OK && !there)
        st = hf_fail(err, HF_ERR_IO,
                     "the loaded rows did not reach all nodes within %.0f s",
                     NODES_SECONDS);
    hf_client_release(&c);
    return st;
}

static hf_status wait_for_nodes(loader *l, hf_error *err)
{
    const hf_run_options *o = l->run->o;
    hf_db_description about = {0};
    hf_status st = HF_OK;
    const char *sql;

    o->db->driver->describe(o->db, &about);
    if (about.nodes < 2 || !l->table)
        return HF_OK;
    sql = select_of(l);
    for (unsigned i = 0; i < about.nodes && i < o->clients && st == HF_OK; i++)
        st = wait_for_node(l, i, sql, err);
    return st;
}

/* ---- all of it ----------------------------------------------------------- */

static hf_status load(loader *l, hf_error *err)
{
    hf_runner *r = l->run;
    hf_status st = hf_client_connect(&l->client, err);

    if (st == HF_OK)
        st = make_tables(l, err);
    if (st == HF_OK)
        st = hf_play_load(r->o->play, take_row, l, err);
    if (st == HF_OK)
        st = insert_waiting(l, err);
    if (st == HF_OK)
        st = commit(l, err);
    if (r->recorder)
        hf_recorder_loaded(r->recorder);
    if (st == HF_OK)
        st = wait_for_nodes(l, err);
    return st;
}

hf_status hf_setup(hf_runner *r, hf_error *err)
{
    const hf_workload *w = hf_play_workload(r->o->play);
    loader l = {.run = r};
    hf_status st = r->o->db->driver->reset(r->o->db, err);

    if (st == HF_OK)
        st = hf_schema_read(&r->schema, w->tables, err);
    if (st == HF_OK && w->rows_by)
        st = hf_schema_rekey(&r->schema, w->rows_by, err);
    if (st != HF_OK)
        return st;
    hf_client_init(&l.client, r->o->db, 0, 1, r->o->seed);
    l.client.statements = &r->statements;
    l.client.epoch = r->epoch;
    if (r->recorder && r->o->sql)
        l.log = hf_recorder_log(r->recorder, r->o->clients + 1);
    hf_arena_init(&l.arena);
    st = load(&l, err);
    hf_client_release(&l.client);
    hf_vec_release(&l.values);
    hf_vec_release(&l.inserts);
    hf_arena_release(&l.arena);
    return st;
}

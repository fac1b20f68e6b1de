/* workload_world.c: a client and a database for tests of workloads, see
 * workload_world.h. */
#include "unit/workload_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sql/value.h"

void world_do(world *w, const char *sql)
{
    char *text = NULL;

    if (sqlite3_exec(w->db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s: %s", w->workload->name, sql, text);
}

/* SQLite has no FOR UPDATE, and needs none. */
sqlite3_stmt *world_prepare(sqlite3 *db, const world *w, const char *sql)
{
    static const char locking[] = " FOR UPDATE";
    size_t n = strlen(sql), end = sizeof(locking) - 1;
    sqlite3_stmt *s = NULL;
    const char *rest = "";

    if (n > end && strcmp(sql + n - end, locking) == 0)
        n -= end;
    if (sqlite3_prepare_v2(db, sql, (int)n, &s, &rest) != SQLITE_OK ||
        rest != sql + n)
        fail_msg("%s: %s: %s", w->workload->name, sql, sqlite3_errmsg(db));
    return s;
}

static void bind(world *w, sqlite3_stmt *s, int i, const hf_sql_value *v)
{
    switch (v->type) {
    case HF_SQL_NULL:
        sqlite3_bind_null(s, i);
        break;
    case HF_SQL_TEXT:
        sqlite3_bind_text(s, i, v->text, (int)v->length, SQLITE_TRANSIENT);
        break;
    case HF_SQL_BOOL:
    case HF_SQL_INT:
        sqlite3_bind_int64(s, i, v->integer);
        break;
    default:
        fail_msg("%s: a parameter of type %u", w->workload->name, v->type);
    }
}

hf_sql_value world_cell(sqlite3_stmt *s, int i, hf_arena *arena)
{
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        return hf_sql_of_int(sqlite3_column_int64(s, i));
    case SQLITE_FLOAT:
        return hf_sql_of_real(sqlite3_column_double(s, i));
    case SQLITE_TEXT: {
        size_t n = (size_t)sqlite3_column_bytes(s, i);
        const char *text = (const char *)sqlite3_column_text(s, i);

        return hf_sql_of_text((hf_str){hf_arena_text(arena, text, n), n});
    }
    default:
        return hf_sql_null();
    }
}

/* ---- tables -------------------------------------------------------------- */

static table *table_named(world *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_tables; i++)
        if (strcmp(w->tables[i].name, name) == 0)
            return &w->tables[i];
    fail_msg("%s: no table \"%s\"", w->workload->name, name);
    return NULL;
}

/* "t (a, b)": its rows are recorded by other columns than its key. */
static void rows_by(const world *w, table *t)
{
    const char *at = strchr(w->workload->rows_by, '(');

    assert_non_null(at);
    t->n_by = 0;
    for (uint32_t i = 0; i < t->n; i++)
        t->columns[i].by = 0;
    while (*at != ')') {
        size_t n = strspn(++at, " "), length = strcspn(at += n, ",)");
        uint32_t i = 0;

        while (i < t->n && (strlen(t->columns[i].name) != length ||
                            strncmp(t->columns[i].name, at, length) != 0))
            i++;
        assert_true(i < t->n);
        t->columns[i].by = (int)++t->n_by;
        at += length;
    }
}

static void look_at_columns(world *w, table *t)
{
    char sql[100];
    sqlite3_stmt *s;

    snprintf(sql, sizeof(sql), "PRAGMA table_info(%s)", t->name);
    s = world_prepare(w->db, w, sql);
    while (sqlite3_step(s) == SQLITE_ROW) {
        column *c = &t->columns[t->n++];

        assert_true(t->n < 40);
        snprintf(c->name, sizeof(c->name), "%s", sqlite3_column_text(s, 1));
        snprintf(c->type, sizeof(c->type), "%s", sqlite3_column_text(s, 2));
        c->key = c->by = sqlite3_column_int(s, 5);
        if (c->key)
            t->n_key++;
        if (strcmp(c->name, "_tag") == 0)
            t->tagged = true;
    }
    sqlite3_finalize(s);
    t->n_by = t->n_key;
    if (w->workload->rows_by &&
        strncmp(w->workload->rows_by, t->name, strlen(t->name)) == 0)
        rows_by(w, t);
}

hf_sql_column world_column(const world *w, const column *c)
{
    hf_sql_column made = {hf_str_of(c->name), HF_SQL_TEXT, 0, -1, c->key > 0};

    if (strcmp(c->type, "INT") == 0 || strcmp(c->type, "BIGINT") == 0) {
        made.type = HF_SQL_INT;
        made.note = c->type[0] == 'I' ? HF_SQL_NOTE_INT4 : HF_SQL_NOTE_INT8;
    } else if (strcmp(c->type, "BOOLEAN") == 0) {
        made.type = HF_SQL_BOOL;
    } else if (strcmp(c->type, "TEXT") != 0 &&
               strncmp(c->type, "VARCHAR(", 8) != 0) {
        fail_msg("%s: column %s has type %s, which is not portable",
                 w->workload->name, c->name, c->type);
    }
    return made;
}

static void add_to_memory(world *w, const table *t)
{
    hf_sql_column columns[40];
    uint32_t key[40];

    for (uint32_t i = 0; i < t->n; i++) {
        columns[i] = world_column(w, &t->columns[i]);
        if (t->columns[i].key)
            key[t->columns[i].key - 1] = i;
    }
    hf_sql_table_add(w->memory, hf_str_of(t->name), columns, t->n, key,
                     t->n_key);
}

static void look_at_tables(world *w)
{
    sqlite3_stmt *s = world_prepare(w->db, w,
                                    "SELECT name FROM sqlite_master WHERE "
                                    "type = 'table' ORDER BY rowid");

    while (sqlite3_step(s) == SQLITE_ROW) {
        table *t = &w->tables[w->n_tables++];

        assert_true(w->n_tables < 40);
        snprintf(t->name, sizeof(t->name), "%s", sqlite3_column_text(s, 0));
        look_at_columns(w, t);
        if (t->n_key == 0)
            fail_msg("%s: table %s has no primary key", w->workload->name,
                     t->name);
        add_to_memory(w, t);
    }
    sqlite3_finalize(s);
}

/* src/sql cannot roll back: its tables are copied from SQLite's. */
static void copy_to_memory(world *w)
{
    for (uint32_t i = 0; i < w->n_tables; i++) {
        const table *t = &w->tables[i];
        hf_sql_table *copy = hf_sql_table_find(w->memory, hf_str_of(t->name));
        char sql[100];
        sqlite3_stmt *s;

        hf_sql_table_clear(copy);
        snprintf(sql, sizeof(sql), "SELECT * FROM %s", t->name);
        s = world_prepare(w->db, w, sql);
        while (sqlite3_step(s) == SQLITE_ROW) {
            hf_sql_value row[40];
            hf_arena arena;

            hf_arena_init(&arena);
            for (uint32_t c = 0; c < t->n; c++) {
                row[c] = world_cell(s, (int)c, &arena);
                if (row[c].type == HF_SQL_INT)
                    row[c].note = copy->columns[c].note;
                if (copy->columns[c].type == HF_SQL_BOOL &&
                    row[c].type == HF_SQL_INT)
                    row[c].type = HF_SQL_BOOL;
            }
            hf_sql_table_insert(copy, row);
            hf_arena_release(&arena);
        }
        sqlite3_finalize(s);
    }
    w->stale = false;
}

/* ---- a step, looked at --------------------------------------------------- */

static void expect_columns(world *w, const hf_step *step, sqlite3_stmt *s)
{
    const table *t = table_named(w, step->table);
    uint32_t n = step->keys[0];

    if (strcmp(sqlite3_column_name(s, 0), "_tag") != 0)
        fail_msg("%s: %s: column 0 is no _tag", w->workload->name, step->sql);
    if (step->kind != HF_STEP_SCAN)
        return;
    if (n != t->n_by || (int)n >= sqlite3_column_count(s))
        fail_msg("%s: %s: %u key columns, the table has %u", w->workload->name,
                 step->sql, n, t->n_by);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->columns[i].by && strcmp(sqlite3_column_name(s, t->columns[i].by),
                                       t->columns[i].name) != 0)
            fail_msg("%s: %s: column %d is not %s", w->workload->name,
                     step->sql, t->columns[i].by, t->columns[i].name);
}

/* One row by its key: as many parameters as the key has columns. */
static void expect_keys(world *w, const hf_step *step, uint32_t n)
{
    const table *t = table_named(w, step->table);
    uint32_t keys = 0;

    while (keys < HF_STEP_KEYS && step->keys[keys])
        if (step->keys[keys++] > n)
            fail_msg("%s: %s: no such parameter", w->workload->name, step->sql);
    if (keys != t->n_by)
        fail_msg("%s: %s: %u key parameters, the table has %u",
                 w->workload->name, step->sql, keys, t->n_by);
    for (keys = 0; keys < HF_STEP_KEYS && step->to[keys]; keys++)
        assert_true(step->to[keys] <= n);
    assert_int_equal(keys, step->kind == HF_STEP_MOVE ? t->n_by : 0);
}

static void expect_step(world *w, const hf_step *step, sqlite3_stmt *s,
                        uint32_t n)
{
    bool writes = step->kind == HF_STEP_INSERT ||
                  step->kind == HF_STEP_UPSERT ||
                  step->kind == HF_STEP_UPDATE ||
                  step->kind == HF_STEP_APPEND || step->kind == HF_STEP_MOVE;

    if ((uint32_t)sqlite3_bind_parameter_count(s) != n)
        fail_msg("%s: %s: given %u parameters", w->workload->name, step->sql,
                 n);
    if (step->kind == HF_STEP_OTHER)
        return;
    assert_non_null(step->table);
    if (writes != (step->tag > 0) || step->tag > n)
        fail_msg("%s: %s: tag is %u", w->workload->name, step->sql, step->tag);
    if (step->kind == HF_STEP_READ || step->kind == HF_STEP_SCAN)
        expect_columns(w, step, s);
    if (step->kind != HF_STEP_SCAN)
        expect_keys(w, step, n);
    if (w->workload->plain && step->kind == HF_STEP_SCAN)
        fail_msg("%s: %s: not plain", w->workload->name, step->sql);
    if (w->workload->plain && strcmp(step->table, "kv") != 0)
        fail_msg("%s: %s: not plain", w->workload->name, step->sql);
}

static prepared *prepare(world *w, const hf_step *step, uint32_t n)
{
    prepared p = {step, NULL, NULL, NULL};
    hf_error err;

    for (size_t i = 0; i < w->steps.n; i++)
        if (w->steps.at[i].step == step)
            return &w->steps.at[i];
    p.statement = world_prepare(w->db, w, step->sql);
    expect_step(w, step, p.statement, n);
    if (w->old && sqlite3_column_count(p.statement) > 0)
        p.old = world_prepare(w->old, w, step->sql);
    p.parsed = hf_sql_parse(w->cache, hf_str_of(step->sql), &err);
    if (!p.parsed)
        fail_msg("%s: src/sql: %s: %s", w->workload->name, step->sql, err.text);
    hf_vec_push(&w->steps, p);
    return &w->steps.at[w->steps.n - 1];
}

/* ---- a step, run --------------------------------------------------------- */

static void fetch(sqlite3_stmt *s, hf_sql_result *ret)
{
    uint32_t n = (uint32_t)sqlite3_column_count(s);
    HF_VEC(hf_sql_value) cells = {0};

    ret->n_columns = n;
    do {
        for (uint32_t i = 0; i < n; i++)
            hf_vec_push(&cells, world_cell(s, (int)i, &ret->arena));
        ret->n_rows++;
    } while (sqlite3_step(s) == SQLITE_ROW);
    ret->cells = hf_arena_get(&ret->arena, (cells.n + 1) * sizeof(*cells.at));
    if (cells.n)
        memcpy(ret->cells, cells.at, cells.n * sizeof(*cells.at));
    hf_vec_release(&cells);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows as one text, in an order of our own. */
static char *text_of(const hf_sql_result *r)
{
    char **rows = HF_NEW_ZEROED(char *, r->n_rows + 1);
    size_t size = 1, used = 0;
    hf_arena arena;
    char *all;

    hf_arena_init(&arena);
    for (uint64_t i = 0; i < r->n_rows; i++) {
        HF_VEC(char) text = {0};

        for (uint32_t c = 0; c < r->n_columns; c++) {
            hf_sql_value v = r->cells[i * r->n_columns + c];
            hf_str s = HF_STR("null");

            if (v.type == HF_SQL_BOOL)
                v.type = HF_SQL_INT;
            if (v.type != HF_SQL_NULL)
                s = hf_sql_print(&v, HF_SQL_SQLITE, &arena);
            for (size_t b = 0; b < s.len; b++)
                hf_vec_push(&text, s.ptr[b]);
            hf_vec_push(&text, '|');
        }
        hf_vec_push(&text, '\0');
        size += text.n;
        rows[i] = text.at;
    }
    qsort(rows, r->n_rows, sizeof(*rows), compare_texts);
    all = HF_NEW_ZEROED(char, size + r->n_rows);
    for (uint64_t i = 0; i < r->n_rows; i++) {
        size_t n = strlen(rows[i]);

        memcpy(all + used, rows[i], n);
        used += n;
        all[used++] = '\n';
        hf_free(rows[i]);
    }
    hf_free(rows);
    hf_arena_release(&arena);
    return all;
}

/* The same statement on src/sql's tables. */
static void run_in_memory(world *w, const prepared *p,
                          const hf_sql_value *params, uint32_t n,
                          const hf_sql_result *expected, bool refused)
{
    hf_sql_result r;
    hf_error err;
    hf_status st;

    hf_sql_result_init(&r);
    st = hf_sql_execute(w->memory, p->parsed, params, n, &r, &err);
    if (refused) {
        if (st != HF_ERR_INPUT)
            fail_msg("%s: src/sql does not refuse: %s", w->workload->name,
                     p->step->sql);
    } else if (st != HF_OK) {
        fail_msg("%s: src/sql: %s: %s", w->workload->name, p->step->sql,
                 err.text);
    } else {
        char *ours = text_of(&r), *theirs = text_of(expected);

        if (strcmp(ours, theirs) != 0 || r.affected != expected->affected)
            fail_msg("%s: %s\nsrc/sql %" PRIu64 ":\n%sSQLite %" PRIu64 ":\n%s",
                     w->workload->name, p->step->sql, r.affected, ours,
                     expected->affected, theirs);
        hf_free(ours);
        hf_free(theirs);
    }
    hf_sql_result_release(&r);
}

void world_print(char *buffer, size_t size, const hf_sql_value *v)
{
    if (v->type == HF_SQL_TEXT)
        snprintf(buffer, size, "|%.*s", (int)v->length, v->text);
    else
        snprintf(buffer, size, "|%" PRId64, v->integer);
}

/* A tag of its own for this write, and which row it is for. */
static int64_t hand_out(world *w, const hf_step *step,
                        const hf_sql_value *params)
{
    const uint8_t *keys = step->kind == HF_STEP_MOVE ? step->to : step->keys;
    handed h;
    size_t used;

    used = (size_t)snprintf(h.row, sizeof(h.row), "%s", step->table);
    for (uint32_t i = 0; i < HF_STEP_KEYS && keys[i]; i++) {
        world_print(h.row + used, sizeof(h.row) - used, &params[keys[i] - 1]);
        used = strlen(h.row);
    }
    hf_vec_push(&w->tags, h);
    return (int64_t)w->tags.n -
           (step->guard ? params[step->guard - 1].integer : 0);
}

/* A read of a sick world may see the old state. */
static sqlite3_stmt *statement_of(hf_client *c, const prepared *p)
{
    const world *w = c->w;
    bool old = w->sickness == WORLD_STALE ||
               (w->sickness == WORLD_MIXED && hf_rng_chance(&c->rng, 50));

    return c->recorded && p->old && old ? p->old : p->statement;
}

/* Runs it; false: refused. */
static bool run_step(hf_client *c, const hf_step *step, sqlite3_stmt *s,
                     const hf_sql_value *given, uint32_t n)
{
    world *w = c->w;
    int code;

    sqlite3_reset(s);
    for (uint32_t i = 0; i < n; i++) {
        char name[16];

        /* SQLite numbers $2 by where it stands, not by its name */
        snprintf(name, sizeof(name), "$%u", i + 1);
        bind(w, s, sqlite3_bind_parameter_index(s, name), &given[i]);
    }
    code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        fetch(s, &c->rows);
    else if (code != SQLITE_DONE && code != SQLITE_CONSTRAINT)
        fail_msg("%s: %s: %s", w->workload->name, step->sql,
                 sqlite3_errmsg(w->db));
    if (code == SQLITE_DONE && sqlite3_column_count(s) == 0)
        c->rows.affected = (uint64_t)sqlite3_changes64(w->db);
    sqlite3_reset(s);
    return code != SQLITE_CONSTRAINT;
}

void hf_client_covers(hf_client *c, int64_t first, int64_t last)
{
    c->has_cover = true;
    c->cover_first = first;
    c->cover_last = last;
}

/* A step that says which keys it looks at returns all rows that have them,
 * and no others. */
static void expect_range(hf_client *c, const hf_step *step,
                         const hf_sql_value *given)
{
    const hf_step_range *r = &step->range;
    const table *t = table_named(c->w, step->table);
    int64_t first = r->lowest, last = r->highest;
    uint32_t n_prefix = 0;
    char sql[600] = "";
    sqlite3_stmt *s;
    size_t n;

    if (r->first) {
        first = given[r->first - 1].integer + r->open;
        last = given[r->last - 1].integer - r->open;
    }
    if (c->has_cover) {
        first = c->cover_first;
        last = c->cover_last;
    }
    n = (size_t)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE 1",
                         t->name);
    while (n_prefix < HF_STEP_KEYS - 1 && r->prefix[n_prefix])
        n_prefix++;
    assert_int_equal(n_prefix + 1, t->n_by);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->columns[i].by > 0 && (uint32_t)t->columns[i].by <= n_prefix)
            n += (size_t)snprintf(
                sql + n, sizeof(sql) - n, " AND %s = %lld", t->columns[i].name,
                (long long)given[r->prefix[t->columns[i].by - 1] - 1].integer);
        else if (t->columns[i].by > 0)
            n += (size_t)snprintf(
                sql + n, sizeof(sql) - n, " AND %s BETWEEN %lld AND %lld",
                t->columns[i].name, (long long)first, (long long)last);
    s = world_prepare(c->w->db, c->w, sql);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    if ((uint64_t)sqlite3_column_int64(s, 0) != c->rows.n_rows)
        fail_msg("%s: %s: %lld rows are in its range, %llu were returned",
                 c->w->workload->name, step->sql,
                 (long long)sqlite3_column_int64(s, 0),
                 (unsigned long long)c->rows.n_rows);
    sqlite3_finalize(s);
}

bool hf_client_step(hf_client *c, const hf_step *step,
                    const hf_sql_value *params, uint32_t n,
                    const hf_sql_result **ret_rows)
{
    world *w = c->w;
    prepared *p = prepare(w, step, n);
    hf_sql_value given[64];
    bool accepted;

    if (c->over)
        fail_msg("%s: a step after the end: %s", w->workload->name, step->sql);
    assert_true(n <= 64);
    for (uint32_t i = 0; i < n; i++)
        given[i] = params[i];
    if (step->tag)
        given[step->tag - 1] = hf_sql_of_int(hand_out(w, step, params));
    hf_sql_result_release(&c->rows);
    hf_sql_result_init(&c->rows);
    accepted = run_step(c, step, statement_of(c, p), given, n);
    if (w->compare)
        run_in_memory(w, p, given, n, &c->rows, !accepted);
    if (step->kind == HF_STEP_READ && c->rows.n_rows > 1)
        fail_msg("%s: %s: more than one row", w->workload->name, step->sql);
    w->recorded += c->recorded && step->kind != HF_STEP_OTHER;
    if (step->kind == HF_STEP_SCAN && w->sickness == 0 &&
        (c->has_cover || step->range.first || step->range.highest))
        expect_range(c, step, given);
    c->has_cover = false;
    if (!accepted) {
        w->refused++;
        c->over = true;
        return false;
    }
    if (ret_rows)
        *ret_rows = &c->rows;
    return true;
}

void hf_client_give_up(hf_client *c, const char *reason)
{
    assert_non_null(reason);
    assert_false(c->over);
    c->w->given_up++;
    c->over = true;
}

hf_rng *hf_client_rng(hf_client *c)
{
    return &c->rng;
}

unsigned hf_client_number(const hf_client *c)
{
    return c->number;
}

unsigned hf_client_count(const hf_client *c)
{
    (void)c;
    return WORLD_CLIENTS;
}

int64_t hf_client_fresh(hf_client *c)
{
    return 1000000000 + c->w->fresh++;
}

uint64_t hf_client_clock(const hf_client *c)
{
    return 1000 * (c->w->committed + c->w->given_up);
}

/* ---- running ------------------------------------------------------------- */

void world_client(hf_client *c, world *w, unsigned number, bool recorded)
{
    memset(c, 0, sizeof(*c));
    c->w = w;
    c->number = number;
    c->recorded = recorded;
    hf_rng_seed(&c->rng, 100 + number);
    hf_sql_result_init(&c->rows);
}

static sqlite3_stmt *insert_into(world *w, table *t)
{
    char sql[400];
    size_t used;

    if (t->insert)
        return t->insert;
    used =
        (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (", t->name);
    for (uint32_t i = 0; i < t->n; i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, "%s?",
                                 i ? "," : "");
    snprintf(sql + used, sizeof(sql) - used, ")");
    return t->insert = world_prepare(w->db, w, sql);
}

static hf_status take_row(void *user, const char *name, const hf_sql_value *row,
                          uint32_t n, hf_error *err)
{
    world *w = user;
    table *t = table_named(w, name);
    sqlite3_stmt *s = insert_into(w, t);

    (void)err;
    if (n != t->n)
        fail_msg("%s: a row of %s has %u columns, not %u", w->workload->name,
                 name, n, t->n);
    for (uint32_t i = 0; i < n; i++) {
        bind(w, s, (int)i + 1, &row[i]);
        if (strcmp(t->columns[i].name, "_tag") == 0)
            assert_int_equal(row[i].integer, 0);
    }
    if (sqlite3_step(s) != SQLITE_DONE)
        fail_msg("%s: %s: %s", w->workload->name, name, sqlite3_errmsg(w->db));
    sqlite3_reset(s);
    return HF_OK;
}

void world_set(hf_play *p, const char *text)
{
    hf_error err;

    if (hf_play_set(p, hf_str_of(text), &err) != HF_OK)
        fail_msg("%s: %s", text, err.text);
}

/* Nothing here waits. */
static void no_sleep(hf_play *p)
{
    const hf_workload *w = hf_play_workload(p);

    for (unsigned i = 0; i < w->n_options; i++)
        if (strcmp(w->options[i].name, "sleep") == 0)
            world_set(p, "sleep=0");
}

bool world_try(world *w, const hf_workload *workload, const char *set)
{
    hf_error err = {0};
    hf_status st;

    memset(w, 0, sizeof(*w));
    w->workload = workload;
    w->play = hf_play_new(workload, WORLD_CLIENTS, 7);
    w->cache = hf_sql_cache_new(HF_SQL_POSTGRES);
    w->memory = hf_sql_database_new(HF_SQL_POSTGRES);
    assert_int_equal(sqlite3_open(":memory:", &w->db), SQLITE_OK);
    for (unsigned i = 0; workload->tables[i]; i++)
        world_do(w, workload->tables[i]);
    look_at_tables(w);
    no_sleep(w->play);
    if (set)
        world_set(w->play, set);
    world_do(w, "BEGIN");
    st = hf_play_load(w->play, take_row, w, &err);
    world_do(w, "COMMIT");
    w->stale = true;
    if (st == HF_OK)
        return true;
    if (st != HF_ERR_INPUT || err.text[0] == '\0')
        fail_msg("%s: loading fails: %s", workload->name, err.text);
    world_end(w);
    return false;
}

void world_begin(world *w, const hf_workload *workload, const char *set)
{
    if (!world_try(w, workload, set))
        fail_msg("%s: refused: %s", workload->name, set ? set : "");
}

void world_end(world *w)
{
    for (uint32_t i = 0; i < w->n_tables; i++)
        sqlite3_finalize(w->tables[i].insert);
    for (size_t i = 0; i < w->steps.n; i++) {
        sqlite3_finalize(w->steps.at[i].statement);
        sqlite3_finalize(w->steps.at[i].old);
    }
    hf_vec_release(&w->steps);
    hf_vec_release(&w->tags);
    hf_sql_cache_free(w->cache);
    hf_sql_database_free(w->memory);
    sqlite3_close(w->db);
    sqlite3_close(w->old);
    hf_play_free(w->play);
}

/* The old state is a dozen transactions old at most. */
static void grow_old(world *w)
{
    sqlite3_backup *b;

    if (!w->old && sqlite3_open(":memory:", &w->old) != SQLITE_OK)
        fail_msg("no second database");
    if ((w->committed + w->given_up) % 12 != 0)
        return;
    b = sqlite3_backup_init(w->old, "main", w->db, "main");
    assert_non_null(b);
    assert_int_equal(sqlite3_backup_step(b, -1), SQLITE_DONE);
    sqlite3_backup_finish(b);
}

bool world_transact(world *w, hf_client *c, const hf_drawn *d)
{
    const hf_workload_type *type = &w->workload->types[d->type];
    int changes = sqlite3_total_changes(w->db);

    if (w->compare && w->stale)
        copy_to_memory(w);
    if (w->sickness == WORLD_STALE || w->sickness == WORLD_MIXED)
        grow_old(w);
    c->over = false;
    world_do(w, "BEGIN");
    type->run(w->play, c, d);
    if (!c->over && type->read_only && sqlite3_total_changes(w->db) != changes)
        fail_msg("%s: %s is not read-only", w->workload->name, type->name);
    world_do(w, c->over && w->sickness != WORLD_DIRTY ? "ROLLBACK" : "COMMIT");
    w->stale = !w->compare || c->over;
    if (c->over)
        return false;
    w->committed++;
    if (w->workload->done)
        w->workload->done(w->play, c, d, true);
    return true;
}

void world_weigh(world *w, unsigned type)
{
    char text[100];
    hf_error err;

    for (unsigned i = 0; i < w->workload->n_types; i++) {
        double weight = type == w->workload->n_types
                            ? w->workload->types[i].weight
                            : i == type;

        snprintf(text, sizeof(text), "%s=%g", w->workload->types[i].name,
                 weight);
        if (hf_play_weigh(w->play, hf_str_of(text), &err) != HF_OK)
            fail_msg("%s", err.text);
    }
}

uint64_t world_check(world *w)
{
    uint64_t before = hf_play_breaches(w->play);
    hf_client c;

    world_client(&c, w, 0, false);
    hf_play_check(w->play, &c);
    hf_sql_result_release(&c.rows);
    return hf_play_breaches(w->play) - before;
}

/* sql_live_sqlite.c: SQLite in this process, and how results are printed. */
#include "sql_live.h"

#include <sqlite3.h>
#include <stdio.h>

#include "sql/value.h"

typedef struct live {
    sql_live base;
    sqlite3 *db;
} live;

void sql_answer_init(sql_answer *a)
{
    *a = (sql_answer){0};
    hf_out_init_memory(&a->text);
}

void sql_answer_release(sql_answer *a)
{
    hf_out_release(&a->text);
}

static void put_cell(sqlite3_stmt *s, int i, hf_out *out)
{
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_NULL:
        hf_out_text(out, "NULL");
        break;
    case SQLITE_INTEGER:
        hf_out_format(out, "%lld", (long long)sqlite3_column_int64(s, i));
        break;
    case SQLITE_FLOAT:
        hf_out_format(out, "%.17gr", sqlite3_column_double(s, i));
        break;
    default:
        hf_out_format(out, "'%s'", (const char *)sqlite3_column_text(s, i));
    }
    hf_out_char(out, '|');
}

static void ask(sql_live *base, const char *text, sql_answer *ret)
{
    live *l = (live *)base;
    sqlite3_stmt *s = NULL;
    int status = sqlite3_prepare_v2(l->db, text, -1, &s, NULL);

    ret->text.n = 0;
    ret->affected = 0;
    if (status == SQLITE_OK) {
        int before = sqlite3_total_changes(l->db);

        while ((status = sqlite3_step(s)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(s); i++)
                put_cell(s, i, &ret->text);
            hf_out_char(&ret->text, '\n');
        }
        ret->affected = (uint64_t)(sqlite3_total_changes(l->db) - before);
    }
    ret->failed = status != SQLITE_OK && status != SQLITE_DONE;
    (void)snprintf(ret->message, sizeof(ret->message), "%s",
                   sqlite3_errmsg(l->db));
    sqlite3_finalize(s);
}

static void close_live(sql_live *base)
{
    live *l = (live *)base;

    sqlite3_close(l->db);
    hf_free(l);
}

sql_live *sql_live_sqlite(void)
{
    live *l = HF_NEW(live);

    l->base = (sql_live){HF_SQL_SQLITE, ask, close_live};
    if (sqlite3_open(":memory:", &l->db) != SQLITE_OK) {
        fprintf(stderr, "could not open SQLite\n");
        close_live(&l->base);
        return NULL;
    }
    return &l->base;
}

/* ---- ours --------------------------------------------------------------- */

static void put_value(const hf_sql_value *v, hf_sql_dialect dialect,
                      hf_arena *arena, hf_out *out)
{
    if (v->type == HF_SQL_NULL) {
        hf_out_text(out, "NULL");
    } else if (dialect == HF_SQL_POSTGRES) {
        if (v->type == HF_SQL_BOOL)
            hf_out_char(out, v->integer ? 't' : 'f');
        else
            hf_out_str(out, hf_sql_print(v, dialect, arena));
    } else if (v->type == HF_SQL_INT) {
        hf_out_int(out, v->integer);
    } else if (v->type == HF_SQL_TEXT) {
        hf_out_char(out, '\'');
        hf_out_str(out, hf_sql_text_of(v));
        hf_out_char(out, '\'');
    } else {
        hf_out_format(out, "%.17gr", hf_sql_to_real(v));
    }
    hf_out_char(out, '|');
}

void sql_print_result(const hf_sql_result *r, hf_sql_dialect dialect,
                      sql_answer *ret)
{
    hf_arena arena;

    hf_arena_init(&arena);
    ret->failed = false;
    ret->affected = r->affected;
    ret->text.n = 0;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        for (uint32_t k = 0; k < r->n_columns; k++)
            put_value(&r->cells[i * r->n_columns + k], dialect, &arena,
                      &ret->text);
        hf_out_char(&ret->text, '\n');
    }
    hf_arena_release(&arena);
}

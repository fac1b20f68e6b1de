/* sqlite_values.c: see sqlite_values.h. */
#include "db/sqlite_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "sql/value.h"

void hf_sqlite_rewrite(const char *sql, hf_out *out)
{
    static const hf_str locks[] = {{" FOR UPDATE", 11}, {" FOR SHARE", 10}};
    size_t n = strlen(sql);
    char quote = 0;

    /* there are no locks on rows */
    for (size_t i = 0; i < 2; i++)
        if (n > locks[i].len &&
            strcasecmp(sql + n - locks[i].len, locks[i].ptr) == 0)
            n -= locks[i].len;
    for (const char *c = sql; c < sql + n; c++) {
        if (quote)
            quote = *c == quote ? 0 : quote;
        else if (*c == '\'' || *c == '"')
            quote = *c;
        hf_out_char(
            out, !quote && *c == '$' && c[1] >= '0' && c[1] <= '9' ? '?' : *c);
    }
}

void hf_sqlite_declare(const char *type, hf_sqlite_column *ret)
{
    const char *comma;

    *ret = (hf_sqlite_column){0};
    if (!type)
        return;
    ret->is_bool = sqlite3_strnicmp(type, "bool", 4) == 0;
    ret->is_decimal = sqlite3_strnicmp(type, "decimal", 7) == 0 ||
                      sqlite3_strnicmp(type, "numeric", 7) == 0;
    comma = strchr(type, ',');
    if (ret->is_decimal && comma) {
        unsigned long scale = strtoul(comma + 1, NULL, 10);

        ret->scale = (uint8_t)(scale <= 15 ? scale : 15);
    }
}

int hf_sqlite_bind(sqlite3_stmt *at, int i, const hf_sql_value *v)
{
    hf_arena arena;
    hf_str text;
    int code;

    switch (v->type) {
    case HF_SQL_NULL:
        return sqlite3_bind_null(at, i);
    case HF_SQL_BOOL:
    case HF_SQL_INT:
        return sqlite3_bind_int64(at, i, v->integer);
    case HF_SQL_DECIMAL:
        if (v->scale == 0 && v->decimal == (int64_t)v->decimal)
            return sqlite3_bind_int64(at, i, (int64_t)v->decimal);
        return sqlite3_bind_double(at, i, hf_sql_to_real(v));
    case HF_SQL_REAL:
        return sqlite3_bind_double(at, i, v->real);
    case HF_SQL_TEXT:
        return sqlite3_bind_text(at, i, v->length ? v->text : "",
                                 (int)v->length, SQLITE_STATIC);
    default:
        hf_arena_init(&arena);
        text = hf_sql_print(v, HF_SQL_SQLITE, &arena);
        code =
            sqlite3_bind_text(at, i, text.ptr, (int)text.len, SQLITE_TRANSIENT);
        hf_arena_release(&arena);
        return code;
    }
}

/* The number with the digits its column was declared with. */
static hf_sql_value decimal_of(double r, unsigned scale)
{
    char text[400];
    hf_sql_value v;
    int length = snprintf(text, sizeof(text), "%.*f", (int)scale, r);

    if (!hf_sql_number((hf_str){text, (size_t)length}, &v))
        return hf_sql_of_real(r);
    return hf_sql_to_decimal(v);
}

hf_sql_value hf_sqlite_cell(sqlite3_stmt *at, int i, const hf_sqlite_column *c,
                            hf_arena *arena)
{
    const char *text;
    int length;

    switch (sqlite3_column_type(at, i)) {
    case SQLITE_INTEGER:
        if (c->is_bool)
            return hf_sql_of_bool(sqlite3_column_int64(at, i) != 0);
        if (c->is_decimal)
            return decimal_of((double)sqlite3_column_int64(at, i), c->scale);
        return hf_sql_of_int(sqlite3_column_int64(at, i));
    case SQLITE_FLOAT:
        if (c->is_decimal)
            return decimal_of(sqlite3_column_double(at, i), c->scale);
        return hf_sql_of_real(sqlite3_column_double(at, i));
    case SQLITE_NULL:
        return hf_sql_null();
    default:
        text = (const char *)sqlite3_column_text(at, i);
        length = sqlite3_column_bytes(at, i);
        text = hf_arena_text(arena, text ? text : "", (size_t)length);
        return hf_sql_of_text((hf_str){text, (size_t)length});
    }
}

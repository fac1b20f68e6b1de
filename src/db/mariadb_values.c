/* mariadb_values.c: values to MariaDB and back, in the binary protocol.
 *
 * Whole numbers and reals go as they are, all else as text, which the server
 * turns into the type of its place.
 */
#include "db/mariadb.h"

#include <stdio.h>
#include <string.h>

#include "sql/value.h"

/* ---- parameters ---------------------------------------------------------- */

static void bind_text(const hf_sql_value *v, MYSQL_BIND *b, hf_arena *arena)
{
    hf_str s = hf_sql_print(v, HF_SQL_POSTGRES, arena);

    b->buffer_type =
        v->type == HF_SQL_DECIMAL ? MYSQL_TYPE_NEWDECIMAL : MYSQL_TYPE_STRING;
    b->buffer = hf_arena_text(arena, s.ptr, s.len);
    b->buffer_length = s.len;
    b->length_value = s.len;
    b->length = &b->length_value;
}

void hf_my_params(const hf_my_sql *sql, const hf_sql_value *values,
                  MYSQL_BIND *ret, hf_arena *arena)
{
    memset(ret, 0, sql->n_places * sizeof(*ret));
    for (uint32_t i = 0; i < sql->n_places; i++) {
        const hf_sql_value *v = &values[sql->places[i]];
        MYSQL_BIND *b = &ret[i];
        int64_t *number;
        double *real;

        switch (v->type) {
        case HF_SQL_NULL:
            b->buffer_type = MYSQL_TYPE_NULL;
            break;
        case HF_SQL_BOOL:
        case HF_SQL_INT:
            number = hf_arena_get(arena, sizeof(*number));
            *number = v->integer;
            b->buffer_type = MYSQL_TYPE_LONGLONG;
            b->buffer = number;
            break;
        case HF_SQL_REAL:
            real = hf_arena_get(arena, sizeof(*real));
            *real = v->real;
            b->buffer_type = MYSQL_TYPE_DOUBLE;
            b->buffer = real;
            break;
        default:
            bind_text(v, b, arena);
            break;
        }
    }
}

/* ---- results ------------------------------------------------------------- */

#define SPARE 64u /* bytes for a date, whatever the library says */

static void bind_column(const MYSQL_FIELD *f, MYSQL_BIND *b, hf_arena *arena)
{
    b->is_null = &b->is_null_value;
    b->error = &b->error_value;
    b->length = &b->length_value;
    switch (f->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
        b->buffer_type = MYSQL_TYPE_LONGLONG;
        b->is_unsigned = (f->flags & UNSIGNED_FLAG) != 0;
        b->buffer_length = sizeof(int64_t);
        break;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
        b->buffer_type = MYSQL_TYPE_DOUBLE;
        b->buffer_length = sizeof(double);
        break;
    default:
        b->buffer_type = MYSQL_TYPE_STRING;
        b->buffer_length = f->max_length + SPARE;
        break;
    }
    b->buffer = hf_arena_get(arena, b->buffer_length);
}

static hf_sql_value whole(const MYSQL_FIELD *f, const MYSQL_BIND *b)
{
    hf_sql_value v;
    int64_t n;

    memcpy(&n, b->buffer, sizeof(n));
    if (f->type == MYSQL_TYPE_TINY && f->length == 1)
        return hf_sql_of_bool(n != 0);
    if (n < 0 && b->is_unsigned)
        return hf_sql_of_decimal((hf_int128)(uint64_t)n, 0);
    v = hf_sql_of_int(n);
    v.note =
        f->type == MYSQL_TYPE_LONGLONG ? HF_SQL_NOTE_INT8 : HF_SQL_NOTE_INT4;
    return v;
}

static hf_sql_value value_of(const MYSQL_FIELD *f, const MYSQL_BIND *b,
                             hf_arena *arena)
{
    hf_str s = {b->buffer, b->length_value};
    hf_sql_value v;
    int64_t count;
    double real;

    if (b->buffer_type == MYSQL_TYPE_LONGLONG)
        return whole(f, b);
    if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
        memcpy(&real, b->buffer, sizeof(real));
        return hf_sql_of_real(real);
    }
    if (f->type == MYSQL_TYPE_NEWDECIMAL && hf_sql_number(s, &v))
        return hf_sql_to_decimal(v);
    if (f->type == MYSQL_TYPE_DATE && hf_sql_date(s, &count))
        return hf_sql_of_time(HF_SQL_DATE, count);
    if ((f->type == MYSQL_TYPE_DATETIME || f->type == MYSQL_TYPE_TIMESTAMP) &&
        hf_sql_timestamp(s, &count))
        return hf_sql_of_time(HF_SQL_TIMESTAMP, count);
    return hf_sql_of_text((hf_str){hf_arena_text(arena, s.ptr, s.len), s.len});
}

static void name_columns(const MYSQL_FIELD *f, hf_sql_result *ret)
{
    for (uint32_t k = 0; k < ret->n_columns; k++)
        ret->names[k] =
            (hf_str){hf_arena_text(&ret->arena, f[k].name, f[k].name_length),
                     f[k].name_length};
}

static void refused(MYSQL_STMT *s, hf_db_answer *answer)
{
    hf_db_answer_set(answer, HF_DB_FAILED, "", "%s", mysql_stmt_error(s));
}

bool hf_my_rows(MYSQL_STMT *s, hf_arena *scratch, hf_sql_result *ret,
                hf_db_answer *answer)
{
    uint32_t n = mysql_stmt_field_count(s);
    MYSQL_RES *about = mysql_stmt_result_metadata(s);
    MYSQL_BIND *b = hf_arena_get(scratch, n * sizeof(*b));
    const MYSQL_FIELD *f;
    uint64_t room = 0;
    int state = 0;

    if (!about) {
        refused(s, answer);
        return false;
    }
    f = mysql_fetch_fields(about);
    hf_db_rows_start(ret, n);
    name_columns(f, ret);
    for (uint32_t k = 0; k < n; k++)
        bind_column(&f[k], &b[k], scratch);
    if (mysql_stmt_bind_result(s, b))
        state = 1;
    while (state == 0 && (state = mysql_stmt_fetch(s)) == 0) {
        hf_sql_value *row = hf_db_rows_add(ret, &room);

        for (uint32_t k = 0; k < n; k++)
            if (!b[k].is_null_value)
                row[k] = value_of(&f[k], &b[k], &ret->arena);
    }
    if (state != MYSQL_NO_DATA)
        refused(s, answer);
    mysql_free_result(about);
    return state == MYSQL_NO_DATA;
}

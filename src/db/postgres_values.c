/* postgres_values.c: values to PostgreSQL and back, as texts.
 *
 * Parameters go without a type: the server infers it from the place.  Results
 * become values by the type that the server names.
 */
#include "db/postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/value.h"

/* Types as pg_type numbers them. */
enum {
    OID_BOOL = 16,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_OID = 26,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_DATE = 1082,
    OID_TIMESTAMP = 1114,
    OID_NUMERIC = 1700
};

/* ---- parameters ---------------------------------------------------------- */

static const char *int_text(int64_t i, hf_arena *arena)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld", (long long)i);

    return hf_arena_text(arena, text, (size_t)n);
}

bool hf_pg_params(const hf_sql_value *values, uint32_t n, const char **ret,
                  hf_arena *arena, hf_db_answer *answer)
{
    for (uint32_t i = 0; i < n; i++) {
        const hf_sql_value *v = &values[i];
        hf_str s;

        if (v->type == HF_SQL_NULL) {
            ret[i] = NULL;
            continue;
        }
        if (v->type == HF_SQL_INT) {
            ret[i] = int_text(v->integer, arena);
            continue;
        }
        s = hf_sql_print(v, HF_SQL_POSTGRES, arena);
        if (s.len > 0 && memchr(s.ptr, '\0', s.len)) {
            hf_db_answer_set(answer, HF_DB_FAILED, "22021",
                             "PostgreSQL has no text with a zero byte");
            return false;
        }
        ret[i] = hf_arena_text(arena, s.ptr, s.len);
    }
    return true;
}

/* ---- results ------------------------------------------------------------- */

static hf_sql_value text_value(const char *text, size_t n, hf_arena *arena)
{
    return hf_sql_of_text((hf_str){hf_arena_text(arena, text, n), n});
}

static hf_sql_value number_value(Oid type, const char *text, size_t n,
                                 hf_arena *arena)
{
    hf_str s = {text, n};
    hf_sql_value v;

    if (type == OID_FLOAT4 || type == OID_FLOAT8)
        return hf_sql_of_real(strtod(text, NULL));
    if (!hf_sql_number(s, &v)) /* NaN, Infinity */
        return text_value(text, n, arena);
    if (type == OID_NUMERIC)
        return hf_sql_to_decimal(v);
    v.note = type == OID_INT4 || type == OID_INT2 ? HF_SQL_NOTE_INT4
                                                  : HF_SQL_NOTE_INT8;
    return v;
}

static hf_sql_value value_of(Oid type, const char *text, size_t n,
                             hf_arena *arena)
{
    hf_str s = {text, n};
    int64_t count;

    switch (type) {
    case OID_BOOL:
        return hf_sql_of_bool(text[0] == 't');
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_OID:
    case OID_NUMERIC:
    case OID_FLOAT4:
    case OID_FLOAT8:
        return number_value(type, text, n, arena);
    case OID_DATE:
        if (hf_sql_date(s, &count))
            return hf_sql_of_time(HF_SQL_DATE, count);
        break;
    case OID_TIMESTAMP:
        if (hf_sql_timestamp(s, &count))
            return hf_sql_of_time(HF_SQL_TIMESTAMP, count);
        break;
    default:
        break;
    }
    return text_value(text, n, arena);
}

void hf_pg_rows(const PGresult *r, hf_sql_result *ret)
{
    int columns = PQnfields(r), rows = PQntuples(r);
    bool returned = PQresultStatus(r) == PGRES_TUPLES_OK;
    const char *changed = PQcmdTuples((PGresult *)(uintptr_t)r);

    hf_db_rows_start(ret, returned ? (uint32_t)columns : 0);
    if (strncmp(PQcmdStatus((PGresult *)(uintptr_t)r), "SELECT", 6) != 0)
        ret->affected = strtoull(changed, NULL, 10);
    if (!returned)
        return;
    for (int k = 0; k < columns; k++) {
        hf_str name = hf_str_of(PQfname(r, k));

        ret->names[k] =
            (hf_str){hf_arena_text(&ret->arena, name.ptr, name.len), name.len};
    }
    ret->n_rows = (uint64_t)rows;
    ret->cells =
        hf_arena_get(&ret->arena, ((size_t)rows * (size_t)columns + 1) *
                                      sizeof(hf_sql_value));
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            if (!PQgetisnull(r, i, k))
                ret->cells[(size_t)i * (size_t)columns + (size_t)k] =
                    value_of(PQftype(r, k), PQgetvalue(r, i, k),
                             (size_t)PQgetlength(r, i, k), &ret->arena);
}

/* conditions.c: conditions, compiled once, and the rows they are asked about.
 */
#include "watch/conditions.h"

#include <pthread.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sql/sql.h"
#include "watch/columns.h"
#include "watch/value.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of the texts of rows, per generation. */
#define MOST_BYTES ((size_t)32 << 20)
#define MOST_COLUMNS 32u

typedef struct scan {
    uint32_t table;
    hf_str condition; /* in the arena */
    hf_str column;    /* of a total; there too */
    const hf_sql_expr *expr;
    hf_watch_total_kind total;
} scan;

typedef struct row {
    hf_scalar_type type;
    hf_str text;
    int64_t number;
} row;

typedef struct generation {
    hf_map places; /* value to the place in rows */
    HF_VEC(row) rows;
    hf_arena texts;
} generation;

struct hf_watch_scans {
    pthread_mutex_t mutex;
    hf_sql_cache *cache;
    bool by_bytes;
    hf_arena arena;
    HF_VEC(scan) scans;
    hf_map known; /* by hash; chains are not needed: see add */
    generation now, old;
    uint32_t strange;
};

static void generation_init(generation *g)
{
    *g = (generation){0};
    hf_map_init(&g->places);
    hf_arena_init(&g->texts);
}

static void generation_release(generation *g)
{
    hf_map_release(&g->places);
    hf_vec_release(&g->rows);
    hf_arena_release(&g->texts);
}

hf_watch_scans *hf_watch_scans_new(bool by_bytes)
{
    hf_watch_scans *s = HF_NEW(hf_watch_scans);

    pthread_mutex_init(&s->mutex, NULL);
    s->by_bytes = by_bytes;
    s->cache = hf_sql_cache_new(HF_SQL_ANY);
    hf_arena_init(&s->arena);
    hf_map_init(&s->known);
    generation_init(&s->now);
    generation_init(&s->old);
    return s;
}

void hf_watch_scans_free(hf_watch_scans *s)
{
    if (!s)
        return;
    generation_release(&s->now);
    generation_release(&s->old);
    hf_map_release(&s->known);
    hf_vec_release(&s->scans);
    hf_arena_release(&s->arena);
    hf_sql_cache_free(s->cache);
    pthread_mutex_destroy(&s->mutex);
    hf_free(s);
}

/* ---- scans --------------------------------------------------------------- */

static uint32_t add(hf_watch_scans *s, uint32_t table, hf_str condition,
                    hf_str column, hf_watch_total_kind total)
{
    uint64_t seed = XXH3_64bits_withSeed(column.ptr, column.len,
                                         ((uint64_t)total << 32) + table + 1);
    uint64_t hash = XXH3_64bits_withSeed(condition.ptr, condition.len, seed);
    uint32_t id = hf_map_get(&s->known, hash);
    scan new = {.table = table, .total = total};

    if (id != UINT32_MAX && s->scans.at[id].table == table &&
        s->scans.at[id].total == total &&
        hf_str_eq(s->scans.at[id].column, column) &&
        hf_str_eq(s->scans.at[id].condition, condition))
        return id;
    new.column =
        (hf_str){hf_arena_text(&s->arena, column.ptr, column.len), column.len};
    /* equal hashes of different texts: the second is simply not shared */
    new.condition = (hf_str){
        hf_arena_text(&s->arena, condition.ptr, condition.len), condition.len};
    new.expr = hf_sql_condition(s->cache, new.condition, NULL);
    if (new.expr && hf_sql_n_columns(new.expr) > MOST_COLUMNS)
        new.expr = NULL;
    s->strange += new.expr == NULL;
    id = (uint32_t)s->scans.n;
    hf_vec_push(&s->scans, new);
    hf_map_set(&s->known, hash, id);
    return id;
}

uint32_t hf_watch_scans_add(hf_watch_scans *s, uint32_t table, hf_str condition)
{
    uint32_t id;

    pthread_mutex_lock(&s->mutex);
    id = add(s, table, condition, HF_STR(""), HF_TOTAL_NONE);
    pthread_mutex_unlock(&s->mutex);
    return id;
}

uint32_t hf_watch_scans_total(hf_watch_scans *s, uint32_t table,
                              hf_str condition, hf_str column,
                              hf_watch_total_kind what)
{
    uint32_t id;

    pthread_mutex_lock(&s->mutex);
    id = add(s, table, condition, column, what);
    pthread_mutex_unlock(&s->mutex);
    return id;
}

/* ---- rows ---------------------------------------------------------------- */

static void keep(hf_watch_scans *s, uint64_t value, row r)
{
    generation *g = &s->now;

    if (g->texts.used > MOST_BYTES) {
        generation_release(&s->old);
        s->old = s->now;
        generation_init(&s->now);
    }
    if (hf_map_get(&g->places, value) != UINT32_MAX)
        return;
    if (r.text.len > 0)
        r.text.ptr = hf_arena_text(&g->texts, r.text.ptr, r.text.len);
    hf_map_set(&g->places, value, (uint32_t)g->rows.n);
    hf_vec_push(&g->rows, r);
}

void hf_watch_scans_row(hf_watch_scans *s, uint64_t value, hf_scalar r)
{
    if (value == HF_EVENT_NO_ROW || hf_watch_value_is_int(value))
        return;
    pthread_mutex_lock(&s->mutex);
    keep(s, value, (row){r.type, {r.text, r.length}, r.number});
    pthread_mutex_unlock(&s->mutex);
}

static bool find_row(hf_watch_scans *s, uint64_t value, hf_scalar *ret)
{
    const generation *g = &s->now;
    uint32_t at;
    row r;

    if (hf_watch_value_is_int(value)) {
        *ret = (hf_scalar){.type = HF_INT, .number = hf_watch_value_int(value)};
        return true;
    }
    at = hf_map_get(&g->places, value);
    if (at == UINT32_MAX) {
        g = &s->old;
        at = hf_map_get(&g->places, value);
    }
    if (at == UINT32_MAX)
        return false;
    r = g->rows.at[at];
    *ret = (hf_scalar){.type = r.type,
                       .number = r.number,
                       .text = r.text.ptr,
                       .length = r.text.len};
    return true;
}

/* ---- asking -------------------------------------------------------------- */

static hf_watch_match test(const hf_sql_expr *e, hf_scalar r, bool by_bytes,
                           hf_arena *arena)
{
    hf_sql_value columns[MOST_COLUMNS];

    for (uint32_t i = 0; i < hf_sql_n_columns(e); i++)
        if (!hf_sql_row_column(r, hf_sql_column_name(e, i), arena,
                               &columns[i]) ||
            (columns[i].type == HF_SQL_TEXT && !by_bytes))
            return HF_MATCH_UNKNOWN;
    switch (hf_sql_test(e, columns, NULL)) {
    case HF_SQL_TRUE:
        return HF_MATCH_YES;
    case HF_SQL_ERROR:
        return HF_MATCH_UNKNOWN;
    default:
        return HF_MATCH_NO;
    }
}

hf_watch_match hf_watch_scans_match(hf_watch_scans *s, uint32_t id,
                                    uint64_t value)
{
    hf_watch_match match = HF_MATCH_UNKNOWN;
    hf_arena arena;
    hf_scalar r;

    if (value == HF_EVENT_NO_ROW)
        return HF_MATCH_NO;
    hf_arena_init(&arena);
    pthread_mutex_lock(&s->mutex);
    if (id < s->scans.n && s->scans.at[id].expr && find_row(s, value, &r))
        match = test(s->scans.at[id].expr, r, s->by_bytes, &arena);
    pthread_mutex_unlock(&s->mutex);
    hf_arena_release(&arena);
    return match;
}

/* A row that satisfies the condition: its number. */
static hf_watch_match number_of(const scan *x, hf_scalar r, hf_arena *arena,
                                int64_t *ret)
{
    hf_sql_value v;

    *ret = 1;
    if (x->column.len == 0)
        return HF_MATCH_YES;
    if (!hf_sql_row_column(r, x->column, arena, &v))
        return HF_MATCH_UNKNOWN;
    if (v.type == HF_SQL_NULL)
        return HF_MATCH_NO;
    if (x->total == HF_TOTAL_COUNT)
        return HF_MATCH_YES;
    *ret = v.integer;
    return v.type == HF_SQL_INT ? HF_MATCH_YES : HF_MATCH_UNKNOWN;
}

hf_watch_match hf_watch_scans_counts(hf_watch_scans *s, uint32_t id,
                                     uint64_t value, int64_t *ret)
{
    hf_watch_match match = HF_MATCH_UNKNOWN;
    hf_arena arena;
    hf_scalar r;

    if (value == HF_EVENT_NO_ROW)
        return HF_MATCH_NO;
    hf_arena_init(&arena);
    pthread_mutex_lock(&s->mutex);
    if (id < s->scans.n && s->scans.at[id].expr && find_row(s, value, &r)) {
        match = test(s->scans.at[id].expr, r, s->by_bytes, &arena);
        if (match == HF_MATCH_YES)
            match = number_of(&s->scans.at[id], r, &arena, ret);
    }
    pthread_mutex_unlock(&s->mutex);
    hf_arena_release(&arena);
    return match;
}

uint32_t hf_watch_scans_count(hf_watch_scans *s)
{
    uint32_t n;

    pthread_mutex_lock(&s->mutex);
    n = (uint32_t)s->scans.n;
    pthread_mutex_unlock(&s->mutex);
    return n;
}

uint32_t hf_watch_scans_table(hf_watch_scans *s, uint32_t id)
{
    uint32_t table;

    pthread_mutex_lock(&s->mutex);
    table = s->scans.at[id].table;
    pthread_mutex_unlock(&s->mutex);
    return table;
}

hf_watch_total_kind hf_watch_scans_kind(hf_watch_scans *s, uint32_t id)
{
    hf_watch_total_kind kind;

    pthread_mutex_lock(&s->mutex);
    kind = s->scans.at[id].total;
    pthread_mutex_unlock(&s->mutex);
    return kind;
}

uint32_t hf_watch_scans_strange(hf_watch_scans *s)
{
    uint32_t n;

    pthread_mutex_lock(&s->mutex);
    n = s->strange;
    pthread_mutex_unlock(&s->mutex);
    return n;
}

void hf_watch_scans_print(hf_watch_scans *s, uint32_t id, hf_out *out)
{
    pthread_mutex_lock(&s->mutex);
    hf_out_str(out, s->scans.at[id].condition);
    pthread_mutex_unlock(&s->mutex);
}

static void print_row(hf_scalar r, hf_out *out)
{
    const size_t most = 60;
    char quoted[100];

    if (r.type == HF_INT)
        hf_out_int(out, r.number);
    else if (r.type == HF_BOOL)
        hf_out_text(out, r.number ? "true" : "false");
    else
        hf_out_format(out, r.type == HF_TEXT ? "\"%s\"" : "%s",
                      hf_quote(quoted, sizeof quoted, r.text,
                               r.length < most ? r.length : most));
}

void hf_watch_scans_value_print(hf_watch_scans *s, uint64_t value, hf_out *out)
{
    hf_scalar r;

    pthread_mutex_lock(&s->mutex);
    if (value == HF_EVENT_NO_ROW)
        hf_out_text(out, "nil");
    else if (value == HF_WATCH_PRESENT)
        hf_out_text(out, "a row");
    else if (value == HF_WATCH_NULL)
        hf_out_text(out, "null");
    else if (find_row(s, value, &r))
        print_row(r, out);
    else
        hf_out_format(out, "#%llx", (unsigned long long)value);
    pthread_mutex_unlock(&s->mutex);
}

size_t hf_watch_scans_bytes(hf_watch_scans *s)
{
    size_t bytes;

    pthread_mutex_lock(&s->mutex);
    bytes = s->arena.used + s->now.texts.used + s->old.texts.used;
    pthread_mutex_unlock(&s->mutex);
    return bytes;
}

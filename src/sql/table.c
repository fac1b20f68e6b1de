/* table.c: see table.h. */
#include "sql/table.h"

#include "base/error.h"
#include "base/vec.h"
#include "sql/value.h"

#define NO_PLACE UINT32_MAX

struct hf_sql_database {
    hf_sql_dialect dialect;
    hf_arena arena; /* tables and their names */
    HF_VEC(hf_sql_table *) tables;
};

hf_sql_database *hf_sql_database_new(hf_sql_dialect dialect)
{
    hf_sql_database *db = HF_NEW(hf_sql_database);

    db->dialect = dialect;
    hf_arena_init(&db->arena);
    return db;
}

void hf_sql_database_free(hf_sql_database *db)
{
    if (!db)
        return;
    for (size_t i = 0; i < db->tables.n; i++) {
        hf_sql_table_clear(db->tables.at[i]);
        hf_free(db->tables.at[i]->rows);
        hf_free(db->tables.at[i]->slots);
    }
    hf_vec_release(&db->tables);
    hf_arena_release(&db->arena);
    hf_free(db);
}

hf_sql_dialect hf_sql_database_dialect(const hf_sql_database *db)
{
    return db->dialect;
}

static hf_str copy_name(hf_arena *arena, hf_str s)
{
    return (hf_str){hf_arena_text(arena, s.ptr, s.len), s.len};
}

hf_sql_table *hf_sql_table_add(hf_sql_database *db, hf_str name,
                               const hf_sql_column *columns, uint32_t n_columns,
                               const uint32_t *key, uint32_t n_key)
{
    hf_sql_table *t = hf_arena_get(&db->arena, sizeof(*t));

    t->name = copy_name(&db->arena, name);
    t->n_columns = n_columns;
    t->n_key = n_key;
    t->columns =
        hf_arena_get(&db->arena, (n_columns + 1) * sizeof(*t->columns));
    for (uint32_t i = 0; i < n_columns; i++) {
        t->columns[i] = columns[i];
        t->columns[i].name = copy_name(&db->arena, columns[i].name);
    }
    t->key = hf_arena_get(&db->arena, (n_key + 1) * sizeof(*t->key));
    for (uint32_t i = 0; i < n_key; i++) {
        HF_ASSERT(key[i] < n_columns);
        t->key[i] = key[i];
    }
    hf_vec_push(&db->tables, t);
    return t;
}

hf_sql_table *hf_sql_table_find(const hf_sql_database *db, hf_str name)
{
    for (size_t i = 0; i < db->tables.n; i++)
        if (hf_str_eq(db->tables.at[i]->name, name))
            return db->tables.at[i];
    return NULL;
}

/* ---- the index ---------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const hf_sql_value *v)
{
    return (hash ^ hf_sql_hash(v)) * 0x9e3779b97f4a7c15u;
}

static uint64_t row_hash(const hf_sql_table *t, const hf_sql_value *row)
{
    uint64_t hash = 1;

    for (uint32_t i = 0; i < t->n_key; i++)
        hash = mix(hash, &row[t->key[i]]);
    return hash >> 32;
}

static void index_add(hf_sql_table *t, uint32_t place)
{
    uint32_t mask = t->n_slots - 1;
    uint32_t i = (uint32_t)row_hash(t, t->rows[place]) & mask;

    while (t->slots[i] != NO_PLACE)
        i = (i + 1) & mask;
    t->slots[i] = place;
}

static void index_rebuild(hf_sql_table *t, uint32_t room)
{
    uint32_t n = 16;

    if (t->n_key == 0)
        return;
    while (n < room * 2)
        n *= 2;
    hf_free(t->slots);
    t->slots = HF_NEW_ARRAY(uint32_t, n);
    t->n_slots = n;
    for (uint32_t i = 0; i < n; i++)
        t->slots[i] = NO_PLACE;
    for (uint32_t i = 0; i < t->n_places; i++)
        if (t->rows[i])
            index_add(t, i);
}

/* Takes a place out and moves back what was pushed on by it. */
static void index_remove(hf_sql_table *t, uint32_t place)
{
    uint32_t mask = t->n_slots - 1, i, j, home;

    if (t->n_key == 0)
        return;
    i = (uint32_t)row_hash(t, t->rows[place]) & mask;
    while (t->slots[i] != place)
        i = (i + 1) & mask;
    for (j = (i + 1) & mask; t->slots[j] != NO_PLACE; j = (j + 1) & mask) {
        home = (uint32_t)row_hash(t, t->rows[t->slots[j]]) & mask;
        if (((j - home) & mask) >= ((j - i) & mask)) {
            t->slots[i] = t->slots[j];
            i = j;
        }
    }
    t->slots[i] = NO_PLACE;
}

static bool same_key(const hf_sql_table *t, uint32_t place,
                     const hf_sql_value *key)
{
    for (uint32_t i = 0; i < t->n_key; i++)
        if (hf_sql_order(&t->rows[place][t->key[i]], &key[i]) != 0)
            return false;
    return true;
}

uint32_t hf_sql_table_place(const hf_sql_table *t, const hf_sql_value *key)
{
    uint64_t hash = 1;
    uint32_t mask = t->n_slots - 1, i;

    if (t->n_key == 0 || t->n_slots == 0)
        return NO_PLACE;
    for (uint32_t k = 0; k < t->n_key; k++)
        hash = mix(hash, &key[k]);
    for (i = (uint32_t)(hash >> 32) & mask; t->slots[i] != NO_PLACE;
         i = (i + 1) & mask)
        if (same_key(t, t->slots[i], key))
            return t->slots[i];
    return NO_PLACE;
}

/* ---- rows --------------------------------------------------------------- */

static hf_sql_value *make_row(const hf_sql_table *t, const hf_sql_value *from)
{
    size_t bytes = t->n_columns * sizeof(*from), text = 0;
    hf_sql_value *row;
    char *at;

    for (uint32_t i = 0; i < t->n_columns; i++)
        if (from[i].type == HF_SQL_TEXT)
            text += from[i].length;
    row = hf_alloc(bytes + text + 1);
    at = (char *)(row + t->n_columns);
    for (uint32_t i = 0; i < t->n_columns; i++) {
        row[i] = from[i];
        if (row[i].type != HF_SQL_TEXT)
            continue;
        row[i].note = 0;
        if (row[i].length > 0)
            memcpy(at, from[i].text, row[i].length);
        row[i].text = at;
        at += row[i].length;
    }
    return row;
}

void hf_sql_table_insert(hf_sql_table *t, const hf_sql_value *row)
{
    if (t->n_places == t->cap_places) {
        t->cap_places = t->cap_places ? t->cap_places * 2 : 16;
        t->rows =
            hf_realloc(t->rows, hf_array_size(t->cap_places, sizeof(*t->rows)));
    }
    t->rows[t->n_places++] = make_row(t, row);
    t->n_rows++;
    if (t->n_key == 0)
        return;
    if (t->n_rows * 2 > t->n_slots)
        index_rebuild(t, t->n_rows * 2);
    else
        index_add(t, t->n_places - 1);
}

void hf_sql_table_replace(hf_sql_table *t, uint32_t place,
                          const hf_sql_value *row)
{
    hf_sql_value *old = t->rows[place];

    index_remove(t, place);
    t->rows[place] = make_row(t, row);
    if (t->n_key > 0)
        index_add(t, place);
    hf_free(old); /* only now: the new row may have been made of it */
}

void hf_sql_table_delete(hf_sql_table *t, uint32_t place)
{
    index_remove(t, place);
    hf_free(t->rows[place]);
    t->rows[place] = NULL;
    t->n_rows--;
}

void hf_sql_table_tidy(hf_sql_table *t)
{
    uint32_t kept = 0;

    if (t->n_places < 32 || t->n_rows > t->n_places / 2)
        return;
    for (uint32_t i = 0; i < t->n_places; i++)
        if (t->rows[i])
            t->rows[kept++] = t->rows[i];
    t->n_places = kept;
    index_rebuild(t, t->n_rows + 8);
}

void hf_sql_table_clear(hf_sql_table *t)
{
    for (uint32_t i = 0; i < t->n_places; i++)
        hf_free(t->rows[i]);
    t->n_places = t->n_rows = 0;
    if (t->n_slots)
        index_rebuild(t, 8);
}

/* store_space.c: tables, keys and rows of SQL on the embedded store.
 *
 * A primary key is looked up by hash: O(1).  Rows are blocks of their own,
 * freed when no version that can still be read names them: all versions are
 * walked when there are twice as many rows as after the last time, so O(1) for
 * each write on average.
 */
#include "db/store_db.h"

#include "base/error.h"
#include "base/map.h"
#include "sql/value.h"

#define FEW_ROWS 50000u

void hf_store_space_init(hf_store_space *p)
{
    *p = (hf_store_space){.clean_at = FEW_ROWS};
    hf_arena_init(&p->arena);
}

void hf_store_space_release(hf_store_space *p)
{
    for (size_t i = 0; i < p->tables.n; i++)
        hf_free(p->tables.at[i]->slots);
    for (size_t i = 0; i < p->key_values.n; i++)
        hf_free(p->key_values.at[i]);
    for (size_t i = 0; i < p->rows.n; i++)
        hf_free(p->rows.at[i]);
    hf_vec_release(&p->tables);
    hf_vec_release(&p->key_values);
    hf_vec_release(&p->key_table);
    hf_vec_release(&p->key_loader);
    hf_vec_release(&p->rows);
    hf_vec_release(&p->spare);
    hf_arena_release(&p->arena);
    hf_store_free(p->store);
    p->store = NULL;
}

hf_store_table *hf_store_table_find(const hf_store_space *p, hf_str name)
{
    for (size_t i = 0; i < p->tables.n; i++)
        if (p->tables.at[i]->name.len > 0 &&
            hf_str_eq(p->tables.at[i]->name, name))
            return p->tables.at[i];
    return NULL;
}

/* A copy in one block, texts behind the values. */
static hf_sql_value *copy_values(const hf_sql_value *from, uint32_t n)
{
    size_t text = 0;
    hf_sql_value *to;
    char *at;

    for (uint32_t i = 0; i < n; i++)
        if (from[i].type == HF_SQL_TEXT)
            text += from[i].length;
    to = hf_alloc(n * sizeof(*to) + text + 1);
    at = (char *)(to + n);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        if (to[i].type != HF_SQL_TEXT)
            continue;
        if (to[i].length > 0)
            memcpy(at, from[i].text, to[i].length);
        to[i].text = at;
        at += to[i].length;
    }
    return to;
}

/* ---- keys ---------------------------------------------------------------- */

static uint64_t hash_of(const hf_sql_value *values, uint32_t n)
{
    uint64_t hash = n;

    for (uint32_t i = 0; i < n; i++)
        hash = hf_mix64(hash ^ hf_sql_hash(&values[i])) + i;
    return hash;
}

static bool same_values(const hf_sql_value *a, const hf_sql_value *b,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (hf_sql_order(&a[i], &b[i]) != 0)
            return false;
    return true;
}

static void grow(hf_store_space *p, hf_store_table *t)
{
    uint32_t n = t->n_slots ? t->n_slots * 2 : 64, mask = n - 1;
    uint32_t *slots = HF_NEW_ARRAY(uint32_t, n);

    memset(slots, 0xff, n * sizeof(*slots));
    for (uint32_t i = 0; i < t->n_slots; i++) {
        uint32_t key = t->slots[i], at;

        if (key == HF_NONE)
            continue;
        at = (uint32_t)hash_of(p->key_values.at[key], t->n_key) & mask;
        while (slots[at] != HF_NONE)
            at = (at + 1) & mask;
        slots[at] = key;
    }
    hf_free(t->slots);
    t->slots = slots;
    t->n_slots = n;
}

uint32_t hf_store_key(hf_store_space *p, hf_store_table *t,
                      const hf_sql_value *values)
{
    uint32_t at, mask, key;

    if (t->n_used * 2 >= t->n_slots)
        grow(p, t);
    mask = t->n_slots - 1;
    at = (uint32_t)hash_of(values, t->n_key) & mask;
    for (; (key = t->slots[at]) != HF_NONE; at = (at + 1) & mask)
        if (same_values(p->key_values.at[key], values, t->n_key))
            return key;
    key = hf_store_add_keys(p->store, 1);
    HF_ASSERT(key == p->key_values.n);
    hf_vec_push(&p->key_values, copy_values(values, t->n_key));
    hf_vec_push(&p->key_table, t->number);
    hf_vec_push(&p->key_loader, 0);
    t->slots[at] = key;
    t->n_used++;
    return key;
}

/* ---- buckets ------------------------------------------------------------- */

int64_t hf_store_bucket_of(const hf_store_table *t, const hf_sql_value *values)
{
    int64_t half = HF_STORE_BUCKETS / 2;

    switch (t->spread) {
    case HF_SPREAD_ORDER: /* rising, so that ranges stay ranges */
        if (values[0].type != HF_SQL_INT)
            return 0;
        if (values[0].integer < -half)
            return 0;
        if (values[0].integer >= half)
            return HF_STORE_BUCKETS - 1;
        return values[0].integer + half;
    case HF_SPREAD_HASH:
        return (int64_t)(hash_of(values, t->n_spread) >>
                         (64 - HF_STORE_BUCKET_BITS));
    default:
        return 0;
    }
}

int64_t hf_store_bucket(const hf_store_table *t, const hf_sql_value *row)
{
    hf_sql_value values[2] = {0};

    for (uint32_t i = 0; i < t->n_spread; i++)
        values[i] = row[t->spread_columns[i]];
    return hf_store_bucket_of(t, values);
}

/* ---- rows ---------------------------------------------------------------- */

hf_store_value hf_store_new_row(hf_store_space *p, const hf_store_table *t,
                                const hf_sql_value *row)
{
    hf_sql_value *copy = copy_values(row, t->n_columns);
    int64_t number = (int64_t)t->number << HF_STORE_BUCKET_BITS;
    uint32_t id;

    if (p->spare.n > 0) {
        id = p->spare.at[--p->spare.n];
        p->rows.at[id] = copy;
    } else {
        id = (uint32_t)p->rows.n;
        hf_vec_push(&p->rows, copy);
    }
    p->n_rows++;
    return (hf_store_value){number + hf_store_bucket(t, row), id};
}

static void mark(uint8_t *used, uint32_t id)
{
    if (id != HF_NONE)
        used[id] = 1;
}

/* Every version of every key, and what running transactions have written and
 * read. */
static void mark_all(const hf_store_space *p, uint32_t n_sessions,
                     uint8_t *used)
{
    for (uint32_t key = 0; key < p->key_values.n; key++) {
        uint32_t v = hf_store_newest(p->store, key);

        while (v != HF_NONE) {
            const hf_store_version *version = hf_store_version_at(p->store, v);

            mark(used, version->id);
            v = version->prev;
        }
    }
    for (uint32_t i = 0; i < n_sessions; i++) {
        hf_store_record r = hf_store_log(p->store, i);

        for (size_t k = 0; k < r.n_ops; k++)
            if (r.ops[k].key != HF_NONE)
                mark(used, r.ops[k].id);
    }
}

void hf_store_clean(hf_store_space *p, uint32_t n_sessions)
{
    uint8_t *used;

    if (p->keeps || p->n_rows < p->clean_at)
        return;
    used = HF_NEW_ZEROED(uint8_t, p->rows.n);
    mark_all(p, n_sessions, used);
    for (uint32_t id = 0; id < p->rows.n; id++) {
        if (used[id] || !p->rows.at[id])
            continue;
        hf_free(p->rows.at[id]);
        p->rows.at[id] = NULL;
        hf_vec_push(&p->spare, id);
        p->n_rows--;
    }
    hf_free(used);
    p->clean_at = p->n_rows * 2 < FEW_ROWS ? FEW_ROWS : p->n_rows * 2;
}

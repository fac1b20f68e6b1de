/* key_names.c: keys of a stream, interned. */
#include "watch/key_names.h"

#include <pthread.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "watch/columns.h"
#include "watch/event.h"

typedef struct entry {
    uint64_t initial;
    int64_t data;    /* the number, or the place among bytes */
    uint32_t length; /* of the text; UINT32_MAX: a number */
    uint32_t table;  /* COLUMN | row: it is one */
} entry;

#define COLUMN (1u << 31)

typedef struct column_link {
    uint32_t key, next; /* of the same row */
} column_link;

typedef struct slot {
    uint32_t hash, id; /* id UINT32_MAX: free */
} slot;

struct hf_watch_names {
    pthread_mutex_t mutex;
    HF_VEC(entry) keys;
    HF_VEC(entry) tables;
    HF_VEC(char) bytes;
    HF_VEC(column_link) columns;
    hf_map columns_of; /* row to the newest of its columns; then to: */
    hf_map column_at;  /* a column's key to its place */
    uint64_t initial;  /* of new keys */
    uint32_t complete; /* keys of which all is said that is known */
    slot *slots;
    size_t n_slots; /* a power of two */
};

hf_watch_names *hf_watch_names_new(void)
{
    hf_watch_names *n = HF_NEW(hf_watch_names);

    pthread_mutex_init(&n->mutex, NULL);
    hf_map_init(&n->columns_of);
    hf_map_init(&n->column_at);
    n->initial = HF_WATCH_NOT_SAID;
    return n;
}

void hf_watch_names_free(hf_watch_names *n)
{
    if (!n)
        return;
    pthread_mutex_destroy(&n->mutex);
    hf_vec_release(&n->keys);
    hf_vec_release(&n->tables);
    hf_vec_release(&n->bytes);
    hf_vec_release(&n->columns);
    hf_map_release(&n->columns_of);
    hf_map_release(&n->column_at);
    hf_free(n->slots);
    hf_free(n);
}

static int64_t put_bytes(hf_watch_names *n, hf_str s)
{
    int64_t at = (int64_t)n->bytes.n;

    hf_vec_reserve(&n->bytes, s.len);
    if (s.len > 0)
        memcpy(n->bytes.at + at, s.ptr, s.len);
    n->bytes.n += s.len;
    return at;
}

static hf_str text_of(const hf_watch_names *n, const entry *e)
{
    if (e->length == 0) /* there may be no bytes at all */
        return HF_STR("");
    return (hf_str){n->bytes.at + e->data, e->length};
}

/* ---- tables -------------------------------------------------------------- */

/* There are few. */
uint32_t hf_watch_names_table(hf_watch_names *n, hf_str table)
{
    entry e = {.length = UINT32_MAX};
    uint32_t i;

    pthread_mutex_lock(&n->mutex);
    for (i = 0; i < n->tables.n; i++) {
        const entry *t = &n->tables.at[i];

        if (table.ptr
                ? t->length != UINT32_MAX && hf_str_eq(text_of(n, t), table)
                : t->length == UINT32_MAX)
            break;
    }
    if (i == n->tables.n) {
        if (table.ptr) {
            e.data = put_bytes(n, table);
            e.length = (uint32_t)table.len;
        }
        hf_vec_push(&n->tables, e);
    }
    pthread_mutex_unlock(&n->mutex);
    return i;
}

/* ---- keys ---------------------------------------------------------------- */

static uint32_t hash_of(uint32_t table, hf_scalar key)
{
    uint64_t h =
        key.type == HF_INT
            ? XXH3_64bits_withSeed(&key.number, 8, table)
            : XXH3_64bits_withSeed(key.text, key.length, ~(uint64_t)table);

    return (uint32_t)(h ^ h >> 32);
}

static bool is_key(const hf_watch_names *n, const entry *e, uint32_t table,
                   hf_scalar key)
{
    if (e->table != table)
        return false;
    if (key.type == HF_INT)
        return e->length == UINT32_MAX && e->data == key.number;
    return e->length != UINT32_MAX &&
           hf_str_eq(text_of(n, e), (hf_str){key.text, key.length});
}

static void grow(hf_watch_names *n)
{
    size_t wanted = n->n_slots ? 2 * n->n_slots : 1024;
    slot *slots = hf_alloc_large(hf_array_size(wanted, sizeof(slot)));

    memset(slots, 0xff, wanted * sizeof(slot));
    for (size_t i = 0; i < n->n_slots; i++) {
        size_t at = n->slots[i].hash & (wanted - 1);

        if (n->slots[i].id == UINT32_MAX)
            continue;
        while (slots[at].id != UINT32_MAX)
            at = (at + 1) & (wanted - 1);
        slots[at] = n->slots[i];
    }
    hf_free(n->slots);
    n->slots = slots;
    n->n_slots = wanted;
}

/* Room for so many more keys. */
static void make_room(hf_watch_names *n, size_t more)
{
    while (2 * (n->keys.n + more) > n->n_slots)
        grow(n);
}

/* There is room. */
static uint32_t find_or_add(hf_watch_names *n, uint32_t table, hf_scalar key,
                            uint32_t hash)
{
    entry e = {.table = table,
               .data = key.number,
               .length = UINT32_MAX,
               .initial = n->initial};
    size_t at = hash & (n->n_slots - 1);

    for (; n->slots[at].id != UINT32_MAX; at = (at + 1) & (n->n_slots - 1))
        if (n->slots[at].hash == hash &&
            is_key(n, &n->keys.at[n->slots[at].id], table, key))
            return n->slots[at].id;
    if (key.type != HF_INT) {
        e.data = put_bytes(n, (hf_str){key.text, key.length});
        e.length = (uint32_t)key.length;
    }
    HF_ASSERT(n->keys.n < COLUMN - 1);
    n->slots[at] = (slot){hash, (uint32_t)n->keys.n};
    hf_vec_push(&n->keys, e);
    return n->slots[at].id;
}

uint32_t hf_watch_names_key(hf_watch_names *n, uint32_t table, hf_scalar key)
{
    uint32_t id;

    pthread_mutex_lock(&n->mutex);
    make_room(n, 1);
    id = find_or_add(n, table, key, hash_of(table, key));
    pthread_mutex_unlock(&n->mutex);
    return id;
}

/* Each step touches what the next one needs: a table of many keys is in no
 * cache, and lookups would wait one after the other. */
void hf_watch_names_keys(hf_watch_names *n, const uint32_t *tables,
                         const hf_scalar *keys, uint32_t count, uint32_t *ret)
{
    uint32_t hashes[HF_WATCH_NAMES_MOST];

    HF_ASSERT(count <= HF_WATCH_NAMES_MOST);
    pthread_mutex_lock(&n->mutex);
    make_room(n, count);
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = hash_of(tables[i], keys[i]);
        __builtin_prefetch(&n->slots[hashes[i] & (n->n_slots - 1)]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = n->slots[hashes[i] & (n->n_slots - 1)].id;

        if (id != UINT32_MAX)
            __builtin_prefetch(&n->keys.at[id]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = n->slots[hashes[i] & (n->n_slots - 1)].id;

        if (id != UINT32_MAX && n->keys.at[id].length != UINT32_MAX)
            __builtin_prefetch(n->bytes.at + n->keys.at[id].data);
    }
    for (uint32_t i = 0; i < count; i++)
        ret[i] = find_or_add(n, tables[i], keys[i], hashes[i]);
    pthread_mutex_unlock(&n->mutex);
}

/* ---- columns ------------------------------------------------------------- */

static void link_column(hf_watch_names *n, uint32_t row, uint32_t key)
{
    uint32_t place = (uint32_t)n->columns.n;
    uint64_t initial = n->keys.at[row].initial;

    hf_vec_push(&n->columns,
                (column_link){key, hf_map_get(&n->columns_of, row)});
    hf_map_set(&n->columns_of, row, place);
    hf_map_set(&n->column_at, key, place);
    /* a row that was there has other columns than those it came with */
    n->keys.at[key].initial =
        initial == HF_EVENT_NO_ROW ? initial : HF_WATCH_NOT_SAID;
}

uint32_t hf_watch_names_column(hf_watch_names *n, uint32_t key, hf_str column)
{
    hf_scalar name = {
        .type = HF_TEXT, .text = column.ptr, .length = column.len};
    uint32_t id, count;

    pthread_mutex_lock(&n->mutex);
    make_room(n, 1);
    count = (uint32_t)n->keys.n;
    id = find_or_add(n, COLUMN | key, name, hash_of(COLUMN | key, name));
    if (id == count)
        link_column(n, key, id);
    pthread_mutex_unlock(&n->mutex);
    return id;
}

static uint32_t column_key(const hf_watch_names *n, uint32_t place)
{
    return place == UINT32_MAX ? HF_WATCH_NO_KEY : n->columns.at[place].key;
}

uint32_t hf_watch_names_first_column(hf_watch_names *n, uint32_t key)
{
    uint32_t id;

    pthread_mutex_lock(&n->mutex);
    id = column_key(n, hf_map_get(&n->columns_of, key));
    pthread_mutex_unlock(&n->mutex);
    return id;
}

uint32_t hf_watch_names_next_column(hf_watch_names *n, uint32_t column)
{
    uint32_t id;

    pthread_mutex_lock(&n->mutex);
    id = column_key(n, n->columns.at[hf_map_get(&n->column_at, column)].next);
    pthread_mutex_unlock(&n->mutex);
    return id;
}

void hf_watch_names_all_absent(hf_watch_names *n)
{
    pthread_mutex_lock(&n->mutex);
    n->initial = HF_EVENT_NO_ROW;
    pthread_mutex_unlock(&n->mutex);
}

bool hf_watch_names_are_absent(hf_watch_names *n)
{
    bool absent;

    pthread_mutex_lock(&n->mutex);
    absent = n->initial == HF_EVENT_NO_ROW;
    pthread_mutex_unlock(&n->mutex);
    return absent;
}

void hf_watch_names_initial(hf_watch_names *n, uint32_t key, uint64_t value)
{
    pthread_mutex_lock(&n->mutex);
    n->keys.at[key].initial = value;
    pthread_mutex_unlock(&n->mutex);
}

/* ---- asking -------------------------------------------------------------- */

uint32_t hf_watch_names_count(hf_watch_names *n)
{
    uint32_t count;

    pthread_mutex_lock(&n->mutex);
    count = n->complete;
    pthread_mutex_unlock(&n->mutex);
    return count;
}

void hf_watch_names_complete(hf_watch_names *n)
{
    pthread_mutex_lock(&n->mutex);
    n->complete = (uint32_t)n->keys.n;
    pthread_mutex_unlock(&n->mutex);
}

uint32_t hf_watch_names_tables(hf_watch_names *n)
{
    uint32_t count;

    pthread_mutex_lock(&n->mutex);
    count = (uint32_t)n->tables.n;
    pthread_mutex_unlock(&n->mutex);
    return count;
}

static uint64_t place_of(const hf_watch_names *n, const entry *e)
{
    uint64_t place = 0;

    if (e->length == UINT32_MAX)
        return (uint64_t)e->data ^ (uint64_t)1 << 63;
    for (uint32_t i = 0; i < 8; i++)
        place = place << 8 |
                (i < e->length ? (uint8_t)n->bytes.at[e->data + i] : 0);
    return place;
}

uint32_t hf_watch_names_get(hf_watch_names *n, uint32_t from, uint32_t most,
                            hf_watch_name *ret)
{
    uint32_t i = 0;

    pthread_mutex_lock(&n->mutex);
    for (; i < most && from + i < n->complete; i++) {
        const entry *e = &n->keys.at[from + i];

        ret[i] =
            (hf_watch_name){e->table, from + i, e->initial, place_of(n, e)};
        if (e->table & COLUMN) {
            ret[i].row = e->table & ~COLUMN;
            ret[i].table = HF_WATCH_NO_KEY;
        }
    }
    pthread_mutex_unlock(&n->mutex);
    return i;
}

/* Control characters do not get to the terminal. */
static void put_safe(hf_str s, hf_out *out)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c < ' ' || c == 0x7f)
            hf_out_format(out, "\\x%02x", c);
        else
            hf_out_char(out, (char)c);
    }
}

void hf_watch_names_table_print(hf_watch_names *n, uint32_t table, hf_out *out)
{
    pthread_mutex_lock(&n->mutex);
    if (table < n->tables.n && n->tables.at[table].length != UINT32_MAX)
        put_safe(text_of(n, &n->tables.at[table]), out);
    pthread_mutex_unlock(&n->mutex);
}

void hf_watch_names_print(hf_watch_names *n, uint32_t key, hf_out *out)
{
    const entry *e, *column = NULL;

    pthread_mutex_lock(&n->mutex);
    HF_ASSERT(key < n->keys.n);
    e = &n->keys.at[key];
    if (e->table & COLUMN) {
        column = e;
        e = &n->keys.at[e->table & ~COLUMN];
    }
    if (n->tables.at[e->table].length != UINT32_MAX) {
        put_safe(text_of(n, &n->tables.at[e->table]), out);
        hf_out_char(out, '/');
    } else if (e->length == UINT32_MAX) {
        hf_out_text(out, "key "); /* a number alone reads like a value */
    }
    if (e->length == UINT32_MAX)
        hf_out_int(out, e->data);
    else
        put_safe(text_of(n, e), out);
    if (column) {
        hf_out_char(out, '.');
        put_safe(text_of(n, column), out);
    }
    pthread_mutex_unlock(&n->mutex);
}

size_t hf_watch_names_bytes(hf_watch_names *n)
{
    size_t bytes;

    pthread_mutex_lock(&n->mutex);
    bytes =
        n->keys.cap * sizeof(entry) + n->bytes.cap + n->n_slots * sizeof(slot);
    pthread_mutex_unlock(&n->mutex);
    return bytes;
}

/* key_names.c: keys of a stream, interned. */
#include "watch/key_names.h"

#include <pthread.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/vec.h"

typedef struct entry {
    uint64_t initial;
    int64_t data;    /* the number, or the place among bytes */
    uint32_t length; /* of the text; UINT32_MAX: a number */
    uint32_t table;
} entry;

typedef struct slot {
    uint32_t hash, id; /* id UINT32_MAX: free */
} slot;

struct hf_watch_names {
    pthread_mutex_t mutex;
    HF_VEC(entry) keys;
    HF_VEC(entry) tables;
    HF_VEC(char) bytes;
    slot *slots;
    size_t n_slots; /* a power of two */
};

hf_watch_names *hf_watch_names_new(void)
{
    hf_watch_names *n = HF_NEW(hf_watch_names);

    pthread_mutex_init(&n->mutex, NULL);
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

static uint32_t find_or_add(hf_watch_names *n, uint32_t table, hf_scalar key)
{
    uint32_t hash = hash_of(table, key);
    entry e = {.table = table, .data = key.number, .length = UINT32_MAX};
    size_t at;

    if (2 * (n->keys.n + 1) > n->n_slots)
        grow(n);
    at = hash & (n->n_slots - 1);
    for (; n->slots[at].id != UINT32_MAX; at = (at + 1) & (n->n_slots - 1))
        if (n->slots[at].hash == hash &&
            is_key(n, &n->keys.at[n->slots[at].id], table, key))
            return n->slots[at].id;
    if (key.type != HF_INT) {
        e.data = put_bytes(n, (hf_str){key.text, key.length});
        e.length = (uint32_t)key.length;
    }
    HF_ASSERT(n->keys.n < UINT32_MAX - 1);
    n->slots[at] = (slot){hash, (uint32_t)n->keys.n};
    hf_vec_push(&n->keys, e);
    return n->slots[at].id;
}

uint32_t hf_watch_names_key(hf_watch_names *n, uint32_t table, hf_scalar key)
{
    uint32_t id;

    pthread_mutex_lock(&n->mutex);
    id = find_or_add(n, table, key);
    pthread_mutex_unlock(&n->mutex);
    return id;
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
    count = (uint32_t)n->keys.n;
    pthread_mutex_unlock(&n->mutex);
    return count;
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

hf_watch_name hf_watch_names_get(hf_watch_names *n, uint32_t key)
{
    hf_watch_name name;

    pthread_mutex_lock(&n->mutex);
    name = (hf_watch_name){n->keys.at[key].table, n->keys.at[key].initial,
                           place_of(n, &n->keys.at[key])};
    pthread_mutex_unlock(&n->mutex);
    return name;
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
    const entry *e;

    pthread_mutex_lock(&n->mutex);
    HF_ASSERT(key < n->keys.n);
    e = &n->keys.at[key];
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

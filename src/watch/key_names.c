/* key_names.c: keys of a stream, interned.
 *
 * A table of many keys is in no cache, so a lookup touches two places: a slot
 * (half of the hash, and which key), and the key's entry.  Texts of up to 16
 * bytes, which nearly all keys are, stand in their entry as two words, and are
 * hashed and compared as such; longer ones stand apart.
 *
 * Keys that are complete are written down once more, for whoever announces
 * them, under a mutex of its own: the thread that adds is not held up.
 */
#include "watch/key_names.h"

#include <pthread.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "watch/columns.h"
#include "watch/event.h"

#define INLINE 16u /* bytes of text in an entry */
#define NUMBER UINT32_MAX

/* A key, or a table's name. */
typedef struct entry {
    uint64_t data[2]; /* the number; the text, with zeros after it; or, if it
                         is longer, its place among bytes */
    uint32_t length;  /* of the text; NUMBER: a number */
    uint32_t table;   /* COLUMN | row: it is one */
    uint64_t initial; /* as an event has it */
} entry;

/* Entries stand in chunks, each a huge page; the first one grows to that. */
#define CHUNK_BITS 16u
#define CHUNK_KEYS (1u << CHUNK_BITS)
#define CHUNK_BYTES (CHUNK_KEYS * sizeof(entry))
_Static_assert(CHUNK_BYTES == 2u << 20, "a chunk is a huge page");

#define COLUMN (1u << 31)

typedef struct column_link {
    uint32_t key, next; /* of the same row */
} column_link;

typedef struct slot {
    uint32_t hash, next_id; /* the id and one; 0: free */
} slot;

struct hf_watch_names {
    pthread_mutex_t mutex;
    HF_VEC(entry *) chunks;
    uint32_t n_keys, first_room; /* first_room: of the first chunk */
    HF_VEC(entry) tables;
    HF_VEC(char) bytes;
    HF_VEC(column_link) columns;
    hf_map columns_of; /* row to the newest of its columns; then to: */
    hf_map column_at;  /* a column's key to its place */
    uint64_t initial;  /* of new keys */
    uint32_t complete; /* keys of which all is said that is known */
    slot *slots;
    size_t n_slots; /* a power of two */
    pthread_mutex_t told_mutex;
    hf_watch_name_list told; /* complete, and not taken yet */
};

hf_watch_names *hf_watch_names_new(void)
{
    hf_watch_names *n = HF_NEW(hf_watch_names);

    pthread_mutex_init(&n->mutex, NULL);
    pthread_mutex_init(&n->told_mutex, NULL);
    hf_map_init(&n->columns_of);
    hf_map_init(&n->column_at);
    n->initial = HF_WATCH_NOT_SAID;
    return n;
}

/* Slots that are many come from the system, zeroed, and on huge pages. */
#define MANY_SLOTS ((size_t)1 << 18)

static slot *slots_get(size_t n)
{
    return n < MANY_SLOTS ? HF_NEW_ZEROED(slot, n)
                          : hf_pages_get(hf_array_size(n, sizeof(slot)));
}

static void slots_release(slot *slots, size_t n)
{
    if (n < MANY_SLOTS)
        hf_free(slots);
    else
        hf_pages_release(slots, n * sizeof(slot));
}

void hf_watch_names_free(hf_watch_names *n)
{
    if (!n)
        return;
    pthread_mutex_destroy(&n->mutex);
    pthread_mutex_destroy(&n->told_mutex);
    for (size_t i = 1; i < n->chunks.n; i++)
        hf_pages_release(n->chunks.at[i], CHUNK_BYTES);
    if (n->chunks.n > 0)
        hf_free(n->chunks.at[0]);
    hf_vec_release(&n->chunks);
    hf_vec_release(&n->tables);
    hf_vec_release(&n->bytes);
    hf_vec_release(&n->columns);
    hf_vec_release(&n->told);
    hf_map_release(&n->columns_of);
    hf_map_release(&n->column_at);
    slots_release(n->slots, n->n_slots);
    hf_free(n);
}

static entry *key_at(const hf_watch_names *n, uint32_t id)
{
    return &n->chunks.at[id >> CHUNK_BITS][id & (CHUNK_KEYS - 1)];
}

/* The next key's entry. */
static entry *new_key(hf_watch_names *n)
{
    uint32_t id = n->n_keys++;

    if (n->chunks.n == 0)
        hf_vec_push(&n->chunks, NULL);
    if (id < CHUNK_KEYS && id == n->first_room) {
        n->first_room = n->first_room ? 2 * n->first_room : 64;
        n->chunks.at[0] = hf_realloc(
            n->chunks.at[0], hf_array_size(n->first_room, sizeof(entry)));
    }
    if (id >> CHUNK_BITS == n->chunks.n)
        hf_vec_push(&n->chunks, hf_pages_get(CHUNK_BYTES));
    return key_at(n, id);
}

static uint64_t put_bytes(hf_watch_names *n, hf_str s)
{
    size_t at = n->bytes.n;

    hf_vec_reserve(&n->bytes, s.len);
    memcpy(n->bytes.at + at, s.ptr, s.len);
    n->bytes.n += s.len;
    return at;
}

/* Up to 8 bytes as a word, the first one lowest, without reading beyond. */
static uint64_t word_of(const char *text, size_t n)
{
    uint64_t word = 0;
    uint32_t first, last;

    if (n == 8) {
        memcpy(&word, text, 8);
        return word;
    }
    if (n >= 4) {
        memcpy(&first, text, 4);
        memcpy(&last, text + n - 4, 4);
        return first | (uint64_t)last << 8 * (n - 4);
    }
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(uint8_t)text[i] << 8 * i;
    return word;
}

/* The words of a key, but for long texts, whose words are not known yet. */
static entry entry_of(uint32_t table, hf_scalar key)
{
    entry e = {.table = table, .length = (uint32_t)key.length};

    if (key.type == HF_INT) {
        e.data[0] = (uint64_t)key.number;
        e.length = NUMBER;
    } else if (key.length <= 8) {
        e.data[0] = word_of(key.text, key.length);
    } else if (key.length <= INLINE) {
        e.data[0] = word_of(key.text, 8);
        e.data[1] = word_of(key.text + 8, key.length - 8);
    }
    return e;
}

static bool is_long(const entry *e)
{
    return e->length != NUMBER && e->length > INLINE;
}

/* The text of an entry that stays where it is. */
static hf_str text_of(const hf_watch_names *n, const entry *e)
{
    return (hf_str){is_long(e) ? n->bytes.at + e->data[0]
                               : (const char *)e->data,
                    e->length};
}

/* ---- tables -------------------------------------------------------------- */

/* There are few. */
uint32_t hf_watch_names_table(hf_watch_names *n, hf_str table)
{
    hf_scalar name = {.type = HF_TEXT, .text = table.ptr, .length = table.len};
    entry e = {.length = NUMBER};
    uint32_t i;

    pthread_mutex_lock(&n->mutex);
    for (i = 0; i < n->tables.n; i++) {
        const entry *t = &n->tables.at[i];

        if (table.ptr ? t->length != NUMBER && hf_str_eq(text_of(n, t), table)
                      : t->length == NUMBER)
            break;
    }
    if (i == n->tables.n) {
        if (table.ptr)
            e = entry_of(0, name);
        if (is_long(&e))
            e.data[0] = put_bytes(n, table);
        hf_vec_push(&n->tables, e);
    }
    pthread_mutex_unlock(&n->mutex);
    return i;
}

/* ---- keys ---------------------------------------------------------------- */

static uint32_t hash_of(const entry *e, hf_scalar key)
{
    uint64_t a = e->data[0] ^ 0x9e3779b97f4a7c15u, h;
    uint64_t b = e->data[1] ^ 0xd1b54a32d192ed03u;

    if (is_long(e))
        a ^= XXH3_64bits(key.text, key.length);
    a ^= ((uint64_t)e->table << 32 | e->length) * 0xff51afd7ed558ccdu;
    h = (a ^ a >> 29) * b;
    h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h >> 32);
}

/* e is what is looked for, but for the place of a long text. */
static bool is_same(const hf_watch_names *n, const entry *other, const entry *e,
                    hf_scalar key)
{
    if (other->table != e->table || other->length != e->length)
        return false;
    if (is_long(e))
        return memcmp(n->bytes.at + other->data[0], key.text, key.length) == 0;
    return other->data[0] == e->data[0] && other->data[1] == e->data[1];
}

static void grow(hf_watch_names *n)
{
    size_t wanted = n->n_slots ? 2 * n->n_slots : 1024;
    slot *slots = slots_get(wanted);

    for (size_t i = 0; i < n->n_slots; i++) {
        size_t at = n->slots[i].hash & (wanted - 1);

        if (n->slots[i].next_id == 0)
            continue;
        while (slots[at].next_id != 0)
            at = (at + 1) & (wanted - 1);
        slots[at] = n->slots[i];
    }
    slots_release(n->slots, n->n_slots);
    n->slots = slots;
    n->n_slots = wanted;
}

/* Room for so many more keys. */
static void make_room(hf_watch_names *n, size_t more)
{
    while (2 * (n->n_keys + more) > n->n_slots)
        grow(n);
}

/* There is room. */
static uint32_t find_or_add(hf_watch_names *n, const entry *e, hf_scalar key,
                            uint32_t hash)
{
    size_t at = hash & (n->n_slots - 1);
    uint32_t id = n->n_keys;
    entry *new;

    for (; n->slots[at].next_id != 0; at = (at + 1) & (n->n_slots - 1))
        if (n->slots[at].hash == hash &&
            is_same(n, key_at(n, n->slots[at].next_id - 1), e, key))
            return n->slots[at].next_id - 1;
    HF_ASSERT(id < COLUMN - 1);
    n->slots[at] = (slot){hash, id + 1};
    new = new_key(n);
    *new = *e;
    new->initial = n->initial;
    if (is_long(e))
        new->data[0] = put_bytes(n, (hf_str){key.text, key.length});
    return id;
}

/* Under the mutex. */
static uint32_t find_one(hf_watch_names *n, uint32_t table, hf_scalar key)
{
    entry e = entry_of(table, key);

    make_room(n, 1);
    return find_or_add(n, &e, key, hash_of(&e, key));
}

uint32_t hf_watch_names_key(hf_watch_names *n, uint32_t table, hf_scalar key)
{
    uint32_t id;

    pthread_mutex_lock(&n->mutex);
    id = find_one(n, table, key);
    pthread_mutex_unlock(&n->mutex);
    return id;
}

/* Each step touches what the next one needs: lookups would wait one after the
 * other. */
void hf_watch_names_keys(hf_watch_names *n, const uint32_t *tables,
                         const hf_scalar *keys, uint32_t count, uint32_t *ret)
{
    uint32_t hashes[HF_WATCH_NAMES_MOST];
    entry entries[HF_WATCH_NAMES_MOST];

    HF_ASSERT(count <= HF_WATCH_NAMES_MOST);
    pthread_mutex_lock(&n->mutex);
    make_room(n, count);
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = entry_of(tables[i], keys[i]);
        hashes[i] = hash_of(&entries[i], keys[i]);
        __builtin_prefetch(&n->slots[hashes[i] & (n->n_slots - 1)]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next_id = n->slots[hashes[i] & (n->n_slots - 1)].next_id;

        if (next_id != 0)
            __builtin_prefetch(key_at(n, next_id - 1));
    }
    for (uint32_t i = 0; i < count; i++)
        ret[i] = find_or_add(n, &entries[i], keys[i], hashes[i]);
    pthread_mutex_unlock(&n->mutex);
}

/* ---- columns ------------------------------------------------------------- */

static void link_column(hf_watch_names *n, uint32_t row, uint32_t key)
{
    uint32_t place = (uint32_t)n->columns.n;
    uint64_t initial = key_at(n, row)->initial;

    hf_vec_push(&n->columns,
                (column_link){key, hf_map_get(&n->columns_of, row)});
    hf_map_set(&n->columns_of, row, place);
    hf_map_set(&n->column_at, key, place);
    /* a row that was there has other columns than those it came with */
    key_at(n, key)->initial =
        initial == HF_EVENT_NO_ROW ? initial : HF_WATCH_NOT_SAID;
}

uint32_t hf_watch_names_column(hf_watch_names *n, uint32_t key, hf_str column)
{
    hf_scalar name = {
        .type = HF_TEXT, .text = column.ptr, .length = column.len};
    uint32_t id, count;

    pthread_mutex_lock(&n->mutex);
    count = n->n_keys;
    id = find_one(n, COLUMN | key, name);
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
    key_at(n, key)->initial = value;
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
    uint64_t word = e->data[0], place = 0;

    if (e->length == NUMBER)
        return word ^ (uint64_t)1 << 63;
    if (is_long(e))
        word = word_of(n->bytes.at + word, 8);
    for (unsigned i = 0; i < 64; i += 8)
        place = place << 8 | (word >> i & 255);
    return place;
}

void hf_watch_names_complete(hf_watch_names *n)
{
    pthread_mutex_lock(&n->mutex);
    pthread_mutex_lock(&n->told_mutex);
    hf_vec_reserve(&n->told, n->n_keys - n->complete);
    for (uint32_t i = n->complete; i < n->n_keys; i++) {
        const entry *e = key_at(n, i);
        bool is_column = (e->table & COLUMN) != 0;

        n->told.at[n->told.n++] =
            (hf_watch_name){.table = is_column ? HF_WATCH_NO_KEY : e->table,
                            .row = is_column ? e->table & ~COLUMN : i,
                            .initial = e->initial,
                            .place = place_of(n, e)};
    }
    n->complete = n->n_keys;
    pthread_mutex_unlock(&n->told_mutex);
    pthread_mutex_unlock(&n->mutex);
}

void hf_watch_names_take(hf_watch_names *n, hf_watch_name_list *list)
{
    hf_watch_name_list other = *list;

    pthread_mutex_lock(&n->told_mutex);
    *list = n->told;
    n->told = other;
    n->told.n = 0;
    pthread_mutex_unlock(&n->told_mutex);
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
    if (table < n->tables.n && n->tables.at[table].length != NUMBER)
        put_safe(text_of(n, &n->tables.at[table]), out);
    pthread_mutex_unlock(&n->mutex);
}

void hf_watch_names_print(hf_watch_names *n, uint32_t key, hf_out *out)
{
    const entry *e, *column = NULL;

    pthread_mutex_lock(&n->mutex);
    HF_ASSERT(key < n->n_keys);
    e = key_at(n, key);
    if (e->table & COLUMN) {
        column = e;
        e = key_at(n, e->table & ~COLUMN);
    }
    if (n->tables.at[e->table].length != NUMBER) {
        put_safe(text_of(n, &n->tables.at[e->table]), out);
        hf_out_char(out, '/');
    } else if (e->length == NUMBER) {
        hf_out_text(out, "key "); /* a number alone reads like a value */
    }
    if (e->length == NUMBER)
        hf_out_int(out, (int64_t)e->data[0]);
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
    bytes = n->first_room * sizeof(entry) + n->bytes.cap +
            n->n_slots * sizeof(slot);
    if (n->chunks.n > 1)
        bytes += (n->chunks.n - 1) * CHUNK_BYTES;
    pthread_mutex_unlock(&n->mutex);
    return bytes;
}

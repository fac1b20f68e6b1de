/* builder.c: interning and collecting.
 *
 * The cost of building is the cost of looking up values: one probe of a hash
 * index for each operation, a cache miss when there are millions of values.
 * The index keeps 32 bits of the hash beside the id, so that a probe touches
 * the value columns only to confirm a hit.  Plain integer keys below 2^20 go
 * through a table instead.
 */
#include "history/builder_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "history/canonical.h"

#define SMALL_KEYS ((uint32_t)1 << 20)
#define ID_LIMIT ((uint64_t)HF_NONE)

/* ---- failing ------------------------------------------------------------- */

void hf_builder_fail(hf_builder *b, hf_status status, const char *format, ...)
{
    char text[sizeof(b->error.text)];
    va_list args;

    if (b->status != HF_OK)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    b->status = hf_fail(&b->error, status, "%s", text);
}

bool hf_builder_failed(const hf_builder *b)
{
    return b->status != HF_OK;
}

bool hf_builder_grow_refused(hf_builder *b, uint64_t bytes)
{
    if (b->status != HF_OK)
        return true;
    if (!b->budget || bytes < ((uint64_t)1 << 20))
        return false;
    if (hf_budget_refuses(b->budget, (size_t)bytes) ||
        hf_budget_look(b->budget))
        hf_builder_fail(b, HF_ERR_LIMIT, "%s", hf_budget_reason(b->budget));
    return b->status != HF_OK;
}

/* ---- growing ------------------------------------------------------------- */

/* The next capacity of columns that hold n records of `width` bytes and need
 * room for one more; 0 if they may not grow. */
static uint64_t next_capacity(hf_builder *b, uint64_t cap, uint64_t width,
                              const char *what)
{
    uint64_t next = cap < 1024 ? 2048 : cap + cap / 2;

    if (next > ID_LIMIT)
        next = ID_LIMIT;
    if (next <= cap) {
        hf_builder_fail(b, HF_ERR_LIMIT, "more than 2^32 - 1 %s in one history",
                        what);
        return 0;
    }
    return hf_builder_grow_refused(b, (next - cap) * width) ? 0 : next;
}

#define GROW(column, cap)                                                      \
    ((column) = hf_realloc_large((column), (cap) * sizeof(*(column))))

static bool reserve_ops(hf_builder *b, uint64_t cap)
{
    hf_history *h = b->h;

    if (cap == 0)
        return false;
    GROW(h->op_kind, cap);
    GROW(h->op_key, cap);
    GROW(h->op_value, cap);
    if (b->op_times) {
        GROW(h->op_start, cap);
        GROW(h->op_length, cap);
    }
    if (b->interleaved)
        GROW(b->op_txn, cap);
    b->cap_ops = cap;
    return true;
}

static bool reserve_txns(hf_builder *b, uint64_t cap)
{
    hf_history *h = b->h;

    if (cap == 0)
        return false;
    GROW(h->op_first, cap + 1);
    GROW(h->txn_session, cap);
    GROW(h->txn_outcome, cap);
    if (h->txn_level)
        GROW(h->txn_level, cap);
    if (h->txn_begin) {
        GROW(h->txn_begin, cap);
        GROW(h->txn_end, cap);
    }
    if (h->txn_label)
        GROW(h->txn_label, cap);
    if (h->txn_line)
        GROW(h->txn_line, cap);
    if (h->cert.start_ts) {
        GROW(h->cert.start_ts, cap);
        GROW(h->cert.commit_ts, cap);
    }
    b->cap_txns = cap;
    return true;
}

static bool reserve_keys(hf_builder *b, uint64_t cap)
{
    hf_history *h = b->h;

    if (cap == 0)
        return false;
    GROW(h->key_type, cap);
    GROW(h->key_data, cap);
    if (h->key_table)
        GROW(h->key_table, cap);
    if (h->key_initial)
        GROW(h->key_initial, cap);
    b->cap_keys = cap;
    return true;
}

static bool reserve_values(hf_builder *b, uint64_t cap)
{
    hf_history *h = b->h;

    if (cap == 0)
        return false;
    GROW(h->value_key, cap);
    GROW(h->value_type, cap);
    GROW(h->value_data, cap);
    b->cap_values = cap;
    return true;
}

/* ---- the index ----------------------------------------------------------- */

static hf_index_slot *new_slots(uint32_t bits)
{
    size_t bytes = ((size_t)1 << bits) * sizeof(hf_index_slot);
    hf_index_slot *slots = hf_alloc_large(bytes);

    memset(slots, 0xff, bytes);
    return slots;
}

static bool index_grow(hf_builder *b, hf_index *x, uint32_t bits)
{
    hf_index old = *x;

    if (bits > 32 ||
        hf_builder_grow_refused(b, ((uint64_t)1 << bits) * sizeof(*x->slots)))
        return false;
    x->slots = new_slots(bits);
    x->bits = bits;
    for (uint64_t i = 0; old.bits && i < (uint64_t)1 << old.bits; i++) {
        uint64_t mask = ((uint64_t)1 << bits) - 1, at;

        if (old.slots[i].id == HF_NONE)
            continue;
        at = old.slots[i].hash >> (32 - bits);
        while (x->slots[at].id != HF_NONE)
            at = (at + 1) & mask;
        x->slots[at] = old.slots[i];
    }
    hf_free(old.slots);
    return true;
}

/* Room for one more at half full. */
static inline bool index_room(hf_builder *b, hf_index *x)
{
    if (x->bits && 2 * (x->n + 1) <= (uint64_t)1 << x->bits)
        return true;
    return index_grow(b, x, x->bits ? x->bits + 1 : 10);
}

/* ---- life ---------------------------------------------------------------- */

hf_builder *hf_builder_new(void)
{
    hf_builder *b = HF_NEW(hf_builder);

    b->h = HF_NEW(hf_history);
    b->h->name = HF_NONE;
    b->h->format = "memory";
    hf_map_init(&b->session_numbers);
    hf_map_init(&b->session_texts);
    hf_out_init_memory(&b->spelling);
    hf_vec_push(&b->string_first, 0);
    (void)reserve_txns(b, 256);
    (void)reserve_ops(b, 256);
    (void)reserve_keys(b, 16);
    (void)reserve_values(b, 256);
    return b;
}

void hf_builder_free(hf_builder *b)
{
    if (!b)
        return;
    hf_history_free(b->h);
    hf_vec_release(&b->extra);
    hf_vec_release(&b->wide);
    hf_vec_release(&b->string_bytes);
    hf_vec_release(&b->string_first);
    hf_vec_release(&b->session_name);
    hf_vec_release(&b->order);
    hf_vec_release(&b->serial);
    hf_vec_release(&b->empty_order);
    hf_vec_release(&b->list_next);
    hf_vec_release(&b->list_first);
    hf_free(b->strings.slots);
    hf_free(b->keys.slots);
    hf_free(b->values.slots);
    hf_free(b->small_keys);
    hf_map_release(&b->session_numbers);
    hf_map_release(&b->session_texts);
    hf_out_release(&b->spelling);
    hf_free(b->op_txn);
    hf_free(b->written);
    hf_free(b);
}

void hf_builder_set_budget(hf_builder *b, hf_budget *budget)
{
    b->budget = budget;
}

void hf_builder_expect(hf_builder *b, uint64_t ops, uint64_t txns,
                       uint64_t values)
{
    if (ops > b->cap_ops && ops < ID_LIMIT &&
        !hf_builder_grow_refused(b, ops * 9))
        (void)reserve_ops(b, ops);
    if (txns > b->cap_txns && txns < ID_LIMIT &&
        !hf_builder_grow_refused(b, txns * 9))
        (void)reserve_txns(b, txns);
    if (values > b->cap_values && values < ID_LIMIT &&
        !hf_builder_grow_refused(b, values * 13))
        (void)reserve_values(b, values);
    for (uint32_t bits = 10; bits < 31 && values > 0; bits++)
        if ((uint64_t)1 << bits >= 2 * values) {
            if (bits > b->values.bits)
                (void)index_grow(b, &b->values, bits);
            break;
        }
}

/* ---- strings ------------------------------------------------------------- */

static bool same_string(const hf_builder *b, uint32_t id, const char *text,
                        size_t length)
{
    uint64_t first = b->string_first.at[id];

    return b->string_first.at[id + 1] - first == length &&
           (length == 0 ||
            memcmp(b->string_bytes.at + first, text, length) == 0);
}

hf_string_id hf_builder_string(hf_builder *b, const char *text, size_t length)
{
    uint32_t hash = (uint32_t)(XXH3_64bits(text, length) >> 32), at, mask;
    hf_index_slot *slot;

    if (b->status != HF_OK || !index_room(b, &b->strings))
        return 0;
    mask = (uint32_t)(((uint64_t)1 << b->strings.bits) - 1);
    at = hash >> (32 - b->strings.bits);
    for (;; at = (at + 1) & mask) {
        slot = &b->strings.slots[at];
        if (slot->id == HF_NONE)
            break;
        if (slot->hash == hash && same_string(b, slot->id, text, length))
            return slot->id;
    }
    if (hf_builder_grow_refused(b, length) || b->string_first.n >= ID_LIMIT)
        return 0;
    *slot = (hf_index_slot){hash, (uint32_t)b->string_first.n - 1};
    b->strings.n++;
    hf_vec_reserve(&b->string_bytes, length);
    if (length > 0)
        memcpy(b->string_bytes.at + b->string_bytes.n, text, length);
    b->string_bytes.n += length;
    hf_vec_push(&b->string_first, b->string_bytes.n);
    return slot->id;
}

/* ---- sessions ------------------------------------------------------------ */

static hf_session_id add_session(hf_builder *b, hf_string_id name)
{
    if (b->session_name.n >= ID_LIMIT) {
        hf_builder_fail(b, HF_ERR_LIMIT, "more than 2^32 - 1 sessions");
        return 0;
    }
    hf_vec_push(&b->session_name, name);
    return (hf_session_id)(b->session_name.n - 1);
}

hf_session_id hf_builder_session_text(hf_builder *b, const char *name,
                                      size_t length)
{
    hf_string_id id = hf_builder_string(b, name, length);
    uint32_t known = hf_map_get(&b->session_texts, id);

    if (known != HF_NONE)
        return known;
    return hf_map_add(&b->session_texts, id, add_session(b, id));
}

hf_session_id hf_builder_session_number(hf_builder *b, int64_t number)
{
    uint32_t known = hf_map_get(&b->session_numbers, (uint64_t)number);
    char digits[24];
    int n;

    if (known != HF_NONE)
        return known;
    n = snprintf(digits, sizeof(digits), "%lld", (long long)number);
    return hf_map_add(&b->session_numbers, (uint64_t)number,
                      hf_builder_session_text(b, digits, (size_t)n));
}

hf_session_id hf_builder_session_fresh(hf_builder *b)
{
    return add_session(b, HF_NONE);
}

/* ---- keys ---------------------------------------------------------------- */

static void use_key_tables(hf_builder *b)
{
    b->h->key_table = HF_NEW_ARRAY(hf_string_id, b->cap_keys);
    memset(b->h->key_table, 0xff, b->h->n_keys * sizeof(hf_string_id));
}

static hf_key_id add_key(hf_builder *b, hf_string_id table, uint8_t type,
                         int64_t data)
{
    hf_history *h = b->h;

    if (h->n_keys == b->cap_keys &&
        !reserve_keys(b, next_capacity(b, b->cap_keys, 17, "keys")))
        return 0;
    if (table != HF_NONE && !h->key_table)
        use_key_tables(b);
    h->key_type[h->n_keys] = type;
    h->key_data[h->n_keys] = data;
    if (h->key_table)
        h->key_table[h->n_keys] = table;
    if (h->key_initial)
        h->key_initial[h->n_keys] = HF_NONE;
    return h->n_keys++;
}

static hf_key_id find_key(hf_builder *b, hf_string_id table, uint8_t type,
                          int64_t data)
{
    hf_history *h = b->h;
    uint32_t hash = (uint32_t)(hf_mix64((uint64_t)data * 31 + table +
                                        ((uint64_t)type << 56)) >>
                               32);
    uint32_t at, mask;
    hf_index_slot *slot;

    if (b->status != HF_OK || !index_room(b, &b->keys))
        return 0;
    mask = (uint32_t)(((uint64_t)1 << b->keys.bits) - 1);
    at = hash >> (32 - b->keys.bits);
    for (;; at = (at + 1) & mask) {
        hf_key_id k;

        slot = &b->keys.slots[at];
        k = slot->id;
        if (k == HF_NONE)
            break;
        if (slot->hash == hash && h->key_data[k] == data &&
            h->key_type[k] == type &&
            (h->key_table ? h->key_table[k] : HF_NONE) == table)
            return k;
    }
    *slot = (hf_index_slot){hash, add_key(b, table, type, data)};
    b->keys.n++;
    return slot->id;
}

static void grow_small_keys(hf_builder *b, uint32_t key)
{
    uint32_t n = b->n_small_keys ? b->n_small_keys : 64;

    while (n <= key)
        n *= 2;
    b->small_keys = hf_realloc(b->small_keys, n * sizeof(hf_key_id));
    memset(b->small_keys + b->n_small_keys, 0xff,
           (n - b->n_small_keys) * sizeof(hf_key_id));
    b->n_small_keys = n;
}

hf_key_id hf_builder_key_int(hf_builder *b, int64_t key)
{
    if (key < 0 || key >= SMALL_KEYS)
        return find_key(b, HF_NONE, HF_INT, key);
    if (key >= b->n_small_keys)
        grow_small_keys(b, (uint32_t)key);
    if (b->small_keys[key] == HF_NONE) {
        hf_key_id id = add_key(b, HF_NONE, HF_INT, key);

        if (b->status != HF_OK)
            return 0;
        b->small_keys[key] = id;
    }
    return b->small_keys[key];
}

hf_key_id hf_builder_key_text(hf_builder *b, const char *key, size_t length)
{
    return find_key(b, HF_NONE, HF_TEXT, hf_builder_string(b, key, length));
}

hf_key_id hf_builder_key_row(hf_builder *b, hf_string_id table, hf_scalar key)
{
    if (key.type == HF_INT)
        return table == HF_NONE ? hf_builder_key_int(b, key.number)
                                : find_key(b, table, HF_INT, key.number);
    return find_key(b, table, HF_TEXT,
                    hf_builder_string(b, key.text, key.length));
}

/* ---- values -------------------------------------------------------------- */

static hf_value_id add_value(hf_builder *b, hf_key_id key, uint8_t type,
                             int64_t data)
{
    hf_history *h = b->h;

    if (h->n_values == b->cap_values &&
        !reserve_values(b, next_capacity(b, b->cap_values, 13, "values")))
        return 0;
    h->value_key[h->n_values] = key;
    h->value_type[h->n_values] = type;
    h->value_data[h->n_values] = data;
    return h->n_values++;
}

static inline uint32_t value_hash(hf_key_id key, uint8_t type, int64_t data)
{
    uint64_t x = (uint64_t)data ^ ((uint64_t)type << 59);

    x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    x += (uint64_t)key * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return (uint32_t)((x * 0x94d049bb133111ebu) >> 32);
}

static hf_value_id find_value(hf_builder *b, hf_key_id key, uint8_t type,
                              int64_t data)
{
    hf_history *h = b->h;
    uint32_t hash = value_hash(key, type, data), at, mask;
    hf_index_slot *slot;

    if (b->status != HF_OK || !index_room(b, &b->values))
        return 0;
    mask = (uint32_t)(((uint64_t)1 << b->values.bits) - 1);
    at = hash >> (32 - b->values.bits);
    for (;; at = (at + 1) & mask) {
        hf_value_id v;

        slot = &b->values.slots[at];
        v = slot->id;
        if (v == HF_NONE)
            break;
        if (slot->hash == hash && h->value_data[v] == data &&
            h->value_key[v] == key && h->value_type[v] == type)
            return v;
    }
    *slot = (hf_index_slot){hash, add_value(b, key, type, data)};
    b->values.n++;
    return slot->id;
}

hf_value_id hf_builder_nil(hf_builder *b, hf_key_id key)
{
    return find_value(b, key, HF_NIL, 0);
}

hf_value_id hf_builder_int(hf_builder *b, hf_key_id key, int64_t value)
{
    return find_value(b, key, HF_INT, value);
}

hf_value_id hf_builder_int_fresh(hf_builder *b, hf_key_id key, int64_t value)
{
    return b->status == HF_OK ? add_value(b, key, HF_INT, value) : 0;
}

/* Decimals and rows: equal values must have one spelling. */
static hf_value_id spelled_value(hf_builder *b, hf_key_id key, hf_scalar value)
{
    hf_scalar same;

    if (!hf_canonical(value, &b->spelling, &same)) {
        hf_builder_fail(b, HF_ERR_USAGE, "expected %s as value",
                        value.type == HF_REAL ? "a decimal number"
                                              : "the text of a JSON object");
        return 0;
    }
    if (same.type == HF_INT)
        return find_value(b, key, HF_INT, same.number);
    return find_value(b, key, (uint8_t)same.type,
                      hf_builder_string(b, same.text, same.length));
}

hf_value_id hf_builder_value(hf_builder *b, hf_key_id key, hf_scalar value)
{
    HF_ASSERT(value.type != HF_LIST);
    if (value.type == HF_NIL)
        return hf_builder_nil(b, key);
    if (value.type == HF_INT || value.type == HF_BOOL)
        return find_value(b, key, (uint8_t)value.type, value.number);
    if (value.type == HF_REAL || value.type == HF_ROW)
        return spelled_value(b, key, value);
    return find_value(b, key, (uint8_t)value.type,
                      hf_builder_string(b, value.text, value.length));
}

hf_value_id hf_builder_list(hf_builder *b, hf_key_id key, hf_value_id shorter,
                            hf_value_id element)
{
    if (shorter != HF_NONE && b->h->n_values > 0 &&
        b->h->value_type[shorter] == HF_NIL)
        shorter = HF_NONE;
    return find_value(b, key, HF_LIST,
                      (int64_t)((uint64_t)shorter << 32 | element));
}

/* Entry i of a vector of guesses that is as long as it needs to be. */
static hf_value_id *guess(hf_builder *b, bool of_key, uint32_t i)
{
    size_t want = (size_t)i + 1;

    if (of_key) {
        while (b->list_first.n < want)
            hf_vec_push(&b->list_first, HF_NONE);
        return &b->list_first.at[i];
    }
    while (b->list_next.n < want)
        hf_vec_push(&b->list_next, HF_NONE);
    return &b->list_next.at[i];
}

hf_value_id hf_builder_list_int(hf_builder *b, hf_key_id key,
                                hf_value_id shorter, int64_t element)
{
    const hf_history *h = b->h;
    hf_value_id *next, list;

    if (b->status != HF_OK)
        return 0;
    if (shorter != HF_NONE && h->value_type[shorter] == HF_NIL)
        shorter = HF_NONE;
    next = guess(b, shorter == HF_NONE, shorter == HF_NONE ? key : shorter);
    if (*next != HF_NONE) {
        hf_value_id last = hf_list_last(h, *next);

        if (h->value_data[last] == element && h->value_type[last] == HF_INT)
            return *next;
    }
    list = hf_builder_list(b, key, shorter, hf_builder_int(b, key, element));
    if (b->status == HF_OK)
        *guess(b, shorter == HF_NONE, shorter == HF_NONE ? key : shorter) =
            list;
    return list;
}

void hf_builder_prefetch_int(const hf_builder *b, hf_key_id key, int64_t value)
{
    if (b->values.bits)
        __builtin_prefetch(&b->values.slots[value_hash(key, HF_INT, value) >>
                                            (32 - b->values.bits)]);
}

void hf_builder_initial(hf_builder *b, hf_key_id key, hf_value_id value)
{
    hf_history *h = b->h;

    if (b->status == HF_OK && (key >= h->n_keys || value >= h->n_values))
        hf_builder_fail(b, HF_ERR_USAGE, "there is no such key or value");
    if (b->status != HF_OK)
        return;
    if (!h->key_initial) {
        h->key_initial = HF_NEW_ARRAY(hf_value_id, b->cap_keys);
        memset(h->key_initial, 0xff, h->n_keys * sizeof(hf_value_id));
    }
    if (h->value_type[value] == HF_NIL)
        value = HF_NONE;
    if (h->key_initial[key] != HF_NONE && h->key_initial[key] != value)
        hf_builder_fail(b, HF_ERR_INPUT,
                        "a key has two different initial values");
    h->key_initial[key] = value;
}

static void update_written(hf_builder *b)
{
    const hf_history *h = b->h;

    b->written = hf_realloc(b->written, (size_t)h->n_values + 1);
    memset(b->written + b->written_values, 0, h->n_values - b->written_values);
    for (uint64_t i = b->written_ops; i < h->n_ops; i++) {
        hf_op_kind kind = hf_op_kind_of(h, (hf_op_id)i);

        if (hf_op_installs(kind) && kind != HF_OP_INCREMENT &&
            h->op_value[i] != HF_NONE)
            b->written[h->op_value[i]] = 1;
        else if (kind == HF_OP_INCREMENT &&
                 b->extra.at[h->op_value[i] + 4] != HF_NONE)
            b->written[b->extra.at[h->op_value[i] + 4]] = 1;
    }
    b->written_ops = h->n_ops;
    b->written_values = h->n_values;
}

bool hf_builder_is_written(hf_builder *b, hf_value_id value)
{
    if (b->status != HF_OK)
        return false;
    if (b->written_ops != b->h->n_ops || b->written_values != b->h->n_values)
        update_written(b);
    return b->written[value] != 0;
}

/* ---- transactions -------------------------------------------------------- */

hf_txn_id hf_builder_txn(hf_builder *b, hf_session_id session)
{
    hf_history *h = b->h;
    hf_txn_id t = h->n_txns;

    if (b->status != HF_OK ||
        (t == b->cap_txns &&
         !reserve_txns(b, next_capacity(b, b->cap_txns, 40, "transactions"))))
        return 0;
    h->op_first[t] = h->n_ops;
    h->txn_session[t] = session;
    h->txn_outcome[t] = HF_COMMITTED;
    if (h->txn_level)
        h->txn_level[t] = HF_LEVEL_UNSET;
    if (h->txn_begin)
        h->txn_begin[t] = h->txn_end[t] = HF_TIME_NONE;
    if (h->txn_label)
        h->txn_label[t] = (int64_t)t + 1;
    if (h->txn_line)
        h->txn_line[t] = 0;
    if (h->cert.start_ts)
        h->cert.start_ts[t] = h->cert.commit_ts[t] = HF_TIME_NONE;
    h->n_txns++;
    if (b->budget && (t & 4095) == 0 && hf_budget_look(b->budget))
        hf_builder_fail(b, HF_ERR_LIMIT, "%s", hf_budget_reason(b->budget));
    return t;
}

static bool knows_txn(hf_builder *b, hf_txn_id t)
{
    if (b->status == HF_OK && t >= b->h->n_txns)
        hf_builder_fail(b, HF_ERR_USAGE, "there is no transaction %lu",
                        (unsigned long)t);
    return b->status == HF_OK;
}

void hf_builder_outcome(hf_builder *b, hf_txn_id t, hf_outcome outcome)
{
    if (knows_txn(b, t))
        b->h->txn_outcome[t] = (uint8_t)outcome;
}

void hf_builder_level(hf_builder *b, hf_txn_id t, uint8_t level)
{
    hf_history *h = b->h;

    if (!knows_txn(b, t))
        return;
    if (!h->txn_level) {
        h->txn_level = HF_NEW_ARRAY(uint8_t, b->cap_txns);
        memset(h->txn_level, HF_LEVEL_UNSET, h->n_txns);
    }
    h->txn_level[t] = level;
}

static uint64_t *unset_times(const hf_builder *b)
{
    uint64_t *times = HF_NEW_ARRAY(uint64_t, b->cap_txns);

    memset(times, 0xff, b->h->n_txns * sizeof(*times));
    return times;
}

static void use_times(hf_builder *b)
{
    if (b->h->txn_begin)
        return;
    b->h->txn_begin = unset_times(b);
    b->h->txn_end = unset_times(b);
    if (b->h->time_unit == HF_TIME_UNIT_NONE)
        b->h->time_unit = HF_TIME_UNIT_NS;
}

/* Intervals are kept as offsets from the begin, which now changes. */
static void move_begin(hf_builder *b, hf_txn_id t, uint64_t begin)
{
    hf_history *h = b->h;
    uint64_t old = h->txn_begin[t];

    if (b->interleaved || t != h->n_txns - 1) {
        hf_builder_fail(b, HF_ERR_USAGE,
                        "the begin of a transaction came after its intervals");
        return;
    }
    for (hf_op_id op = h->op_first[t]; op < h->n_ops; op++) {
        uint64_t start = old + h->op_start[op];

        if (h->op_start[op] == UINT32_MAX)
            continue;
        if (start >= begin && start - begin < UINT32_MAX) {
            h->op_start[op] = (uint32_t)(start - begin);
            continue;
        }
        hf_vec_push(&b->wide,
                    (hf_wide_interval){start, start + h->op_length[op]});
        h->op_start[op] = UINT32_MAX;
        h->op_length[op] = (uint32_t)(b->wide.n - 1);
    }
}

void hf_builder_times(hf_builder *b, hf_txn_id t, uint64_t begin, uint64_t end)
{
    if (!knows_txn(b, t))
        return;
    use_times(b);
    if (b->op_times && b->h->txn_begin[t] != HF_TIME_NONE) {
        if (begin == HF_TIME_NONE)
            begin = b->h->txn_begin[t];
        else if (begin != b->h->txn_begin[t])
            move_begin(b, t, begin);
    }
    b->h->txn_begin[t] = begin;
    b->h->txn_end[t] = end;
}

void hf_builder_label(hf_builder *b, hf_txn_id t, int64_t label)
{
    hf_history *h = b->h;

    if (!knows_txn(b, t))
        return;
    if (!h->txn_label) {
        h->txn_label = HF_NEW_ARRAY(int64_t, b->cap_txns);
        for (uint32_t i = 0; i < h->n_txns; i++)
            h->txn_label[i] = (int64_t)i + 1;
    }
    h->txn_label[t] = label;
}

void hf_builder_line(hf_builder *b, hf_txn_id t, uint64_t line)
{
    hf_history *h = b->h;

    if (!knows_txn(b, t))
        return;
    if (!h->txn_line) {
        h->txn_line = HF_NEW_ARRAY(uint32_t, b->cap_txns);
        memset(h->txn_line, 0, h->n_txns * sizeof(*h->txn_line));
    }
    h->txn_line[t] = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

/* ---- operations ---------------------------------------------------------- */

/* From now on each operation says which transaction it belongs to. */
static void start_interleaving(hf_builder *b)
{
    const hf_history *h = b->h;

    b->interleaved = true;
    b->op_txn = HF_NEW_ARRAY(hf_txn_id, b->cap_ops);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_op_id end = t + 1 < h->n_txns ? h->op_first[t + 1] : h->n_ops;

        for (hf_op_id op = h->op_first[t]; op < end; op++)
            b->op_txn[op] = t;
    }
}

hf_op_id hf_builder_op(hf_builder *b, hf_txn_id t, unsigned kind, hf_key_id key,
                       hf_value_id value)
{
    hf_history *h = b->h;
    hf_op_id op = h->n_ops;

    if (!knows_txn(b, t))
        return 0;
    if (op == b->cap_ops &&
        !reserve_ops(b, next_capacity(b, b->cap_ops, 9, "operations")))
        return 0;
    if (!b->interleaved && t != h->n_txns - 1)
        start_interleaving(b);
    h->op_kind[op] = (uint8_t)kind;
    h->op_key[op] = key;
    h->op_value[op] = value;
    if (b->op_times)
        h->op_start[op] = h->op_length[op] = UINT32_MAX;
    if (b->interleaved)
        b->op_txn[op] = t;
    h->n_ops++;
    return op;
}

void hf_builder_op_flags(hf_builder *b, unsigned flags)
{
    if (b->status == HF_OK && b->h->n_ops > 0)
        b->h->op_kind[b->h->n_ops - 1] |= (uint8_t)(flags & ~HF_OP_KIND_MASK);
}

static void use_op_times(hf_builder *b)
{
    hf_history *h = b->h;

    b->op_times = true;
    h->op_start = HF_NEW_ARRAY(uint32_t, b->cap_ops);
    h->op_length = HF_NEW_ARRAY(uint32_t, b->cap_ops);
    memset(h->op_start, 0xff, h->n_ops * sizeof(uint32_t));
    memset(h->op_length, 0xff, h->n_ops * sizeof(uint32_t));
}

void hf_builder_interval(hf_builder *b, uint64_t start, uint64_t end)
{
    hf_history *h = b->h;
    hf_op_id op = h->n_ops - 1;
    hf_txn_id t;

    if (b->status != HF_OK || h->n_ops == 0 || h->n_txns == 0)
        return;
    use_times(b);
    if (!b->op_times)
        use_op_times(b);
    t = b->interleaved ? b->op_txn[op] : h->n_txns - 1;
    if (h->txn_begin[t] == HF_TIME_NONE)
        h->txn_begin[t] = start;
    if (start >= h->txn_begin[t] && start - h->txn_begin[t] < UINT32_MAX &&
        end >= start && end - start < UINT32_MAX) {
        h->op_start[op] = (uint32_t)(start - h->txn_begin[t]);
        h->op_length[op] = (uint32_t)(end - start);
        return;
    }
    h->op_length[op] = (uint32_t)b->wide.n;
    hf_vec_push(&b->wide, (hf_wide_interval){start, end});
}

/* ---- certificate and the whole ------------------------------------------- */

void hf_builder_order(hf_builder *b, hf_key_id key, hf_txn_id t)
{
    if (knows_txn(b, t) && key < b->h->n_keys)
        hf_vec_push(&b->order, (hf_order_entry){key, t});
}

void hf_builder_serial(hf_builder *b, hf_txn_id t)
{
    if (knows_txn(b, t))
        hf_vec_push(&b->serial, t);
}

void hf_builder_empty_order(hf_builder *b, hf_key_id key)
{
    if (key < b->h->n_keys)
        hf_vec_push(&b->empty_order, key);
}

void hf_builder_empty_serial(hf_builder *b)
{
    b->empty_serial = true;
}

void hf_builder_timestamps(hf_builder *b, hf_txn_id t, uint64_t start,
                           uint64_t commit)
{
    hf_history *h = b->h;

    if (!knows_txn(b, t))
        return;
    if (!h->cert.start_ts) {
        h->cert.start_ts = unset_times(b);
        h->cert.commit_ts = unset_times(b);
    }
    h->cert.start_ts[t] = start;
    h->cert.commit_ts[t] = commit;
}

void hf_builder_time_unit(hf_builder *b, hf_time_unit unit)
{
    b->h->time_unit = unit;
}

void hf_builder_unique_values(hf_builder *b, bool promised)
{
    b->h->unique_values = promised;
}

void hf_builder_partial_orders(hf_builder *b, bool partial)
{
    b->h->partial_orders = partial;
}

void hf_builder_name(hf_builder *b, const char *name, size_t length)
{
    b->h->name = hf_builder_string(b, name, length);
}

void hf_builder_format(hf_builder *b, const char *format)
{
    b->h->format = format;
}

void hf_builder_skip(hf_builder *b, uint64_t records)
{
    b->h->n_skipped += records;
}

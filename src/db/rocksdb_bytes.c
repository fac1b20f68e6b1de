/* rocksdb_bytes.c: rows and keys as the bytes that RocksDB holds, and lists of
 * keys. */
#include "db/rocks.h"

#include "sql/value.h"

/* ---- values -------------------------------------------------------------- */

void hf_rocks_pack(hf_out *out, const hf_sql_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const hf_sql_value *v = &values[i];

        hf_out_char(out, (char)v->type);
        if (v->type == HF_SQL_TEXT) {
            hf_out_bytes(out, &v->length, sizeof(v->length));
            hf_out_bytes(out, v->text, v->length);
        } else if (v->type == HF_SQL_DECIMAL) {
            hf_out_char(out, (char)v->scale);
            hf_out_bytes(out, &v->decimal, sizeof(v->decimal));
        } else if (v->type != HF_SQL_NULL) {
            hf_out_bytes(out, &v->integer, sizeof(v->integer));
        }
    }
}

/* Takes `n` bytes; false: there are not so many. */
static bool take(const char **at, size_t *left, void *to, size_t n)
{
    if (*left < n)
        return false;
    memcpy(to, *at, n);
    *at += n;
    *left -= n;
    return true;
}

bool hf_rocks_unpack(const char *at, size_t left, hf_sql_value *ret, uint32_t n)
{
    memset(ret, 0, n * sizeof(*ret));
    for (uint32_t i = 0; i < n; i++) {
        hf_sql_value *v = &ret[i];

        if (!take(&at, &left, &v->type, 1) || v->type >= HF_SQL_TYPE_COUNT)
            return false;
        if (v->type == HF_SQL_TEXT) {
            if (!take(&at, &left, &v->length, sizeof(v->length)) ||
                left < v->length)
                return false;
            v->text = at;
            at += v->length;
            left -= v->length;
        } else if (v->type == HF_SQL_DECIMAL) {
            if (!take(&at, &left, &v->scale, 1) ||
                !take(&at, &left, &v->decimal, sizeof(v->decimal)))
                return false;
        } else if (v->type != HF_SQL_NULL &&
                   !take(&at, &left, &v->integer, sizeof(v->integer))) {
            return false;
        }
    }
    return left == 0;
}

/* ---- lists of keys ------------------------------------------------------- */

void hf_rocks_keys_init(hf_rocks_keys *l)
{
    hf_out_init_memory(&l->bytes);
    l->ends.n = 0;
}

void hf_rocks_keys_release(hf_rocks_keys *l)
{
    hf_out_release(&l->bytes);
    hf_vec_release(&l->ends);
}

void hf_rocks_keys_clear(hf_rocks_keys *l)
{
    l->bytes.n = 0;
    l->ends.n = 0;
}

void hf_rocks_keys_add(hf_rocks_keys *l, const char *key, size_t length)
{
    hf_out_bytes(&l->bytes, key, length);
    hf_vec_push(&l->ends, l->bytes.n);
}

const char *hf_rocks_keys_at(const hf_rocks_keys *l, size_t i,
                             size_t *ret_length)
{
    size_t from = i ? l->ends.at[i - 1] : 0;

    *ret_length = l->ends.at[i] - from;
    return l->bytes.at + from;
}

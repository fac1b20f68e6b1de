/* log.c: a client writes down what it does.
 *
 * No lock is taken for an operation (but for a delete, which others may have
 * to wait for, see recorder.c); a log is handed over when it is some
 * milliseconds old or large, between two transactions.
 */
#include "run/log.h"

#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "sql/value.h"

#define HAND_OVER_NS 50000000u
#define HAND_OVER_BYTES ((size_t)16 << 10)
#define PIECE_BYTES ((size_t)512 << 10)
/* In memory at most; then clients wait. */
#define MOST_QUEUED ((size_t)64 << 20)

/* ---- chunks -------------------------------------------------------------- */

void hf_chunk_free(hf_chunk *c)
{
    if (!c)
        return;
    hf_vec_release(&c->ops);
    hf_vec_release(&c->txns);
    hf_vec_release(&c->bytes);
    hf_vec_release(&c->numbers);
    hf_vec_release(&c->cells);
    hf_vec_release(&c->statements);
    hf_free(c);
}

void hf_chunk_reset(hf_chunk *c)
{
    c->next = NULL;
    c->ops.n = c->txns.n = c->bytes.n = c->numbers.n = 0;
    c->cells.n = c->statements.n = 0;
    c->taken = 0;
}

size_t hf_chunk_bytes(const hf_chunk *c)
{
    return c->ops.n * sizeof(hf_log_op) + c->txns.n * sizeof(hf_log_txn) +
           c->bytes.n + c->numbers.n * sizeof(int64_t) +
           c->cells.n * sizeof(hf_log_cell) +
           c->statements.n * sizeof(hf_log_statement);
}

static int64_t put_bytes(hf_chunk *c, hf_str s)
{
    size_t at = c->bytes.n;

    hf_vec_reserve(&c->bytes, s.len);
    if (s.len > 0)
        memcpy(c->bytes.at + at, s.ptr, s.len);
    c->bytes.n += s.len;
    return (int64_t)at;
}

/* ---- keys ---------------------------------------------------------------- */

/* A part of a key as text; ':' parts them, so it is escaped where there are
 * several. */
static void put_part(hf_chunk *c, const hf_sql_value *v, bool several)
{
    hf_arena arena;
    hf_str s = HF_STR("null");

    hf_arena_init(&arena);
    if (v->type != HF_SQL_NULL)
        s = hf_sql_print(v, HF_SQL_POSTGRES, &arena);
    for (size_t i = 0; i < s.len; i++) {
        if (several && (s.ptr[i] == ':' || s.ptr[i] == '\\'))
            hf_vec_push(&c->bytes, '\\');
        hf_vec_push(&c->bytes, s.ptr[i]);
    }
    hf_arena_release(&arena);
}

void hf_log_put_key(hf_chunk *c, const hf_log_key *key, hf_log_op *op)
{
    op->table = key->table;
    if (key->n == 1 && (key->parts[0].type == HF_SQL_INT ||
                        key->parts[0].type == HF_SQL_BOOL)) {
        op->key = key->parts[0].integer;
        return;
    }
    op->text_key = true;
    op->key = (int64_t)c->bytes.n;
    for (uint32_t i = 0; i < key->n; i++) {
        if (i > 0)
            hf_vec_push(&c->bytes, ':');
        if (key->parts[i].type == HF_SQL_INT) {
            char digits[24];
            int n = snprintf(digits, sizeof(digits), "%lld",
                             (long long)key->parts[i].integer);

            (void)put_bytes(c, (hf_str){digits, (size_t)n});
        } else {
            put_part(c, &key->parts[i], key->n > 1);
        }
    }
    op->key_length = (uint32_t)(c->bytes.n - (size_t)op->key);
}

static uint64_t hash_bytes(uint64_t seed, const char *p, size_t n)
{
    uint64_t h = seed;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    return hf_mix64(h);
}

uint64_t hf_log_key_hash(const hf_chunk *c, const hf_log_op *op)
{
    uint64_t table =
        hash_bytes(14695981039346656037u, op->table, strlen(op->table));

    if (op->text_key)
        return hash_bytes(table, c->bytes.at + op->key, op->key_length);
    return hf_mix64(table ^ (uint64_t)op->key);
}

/* ---- operations ---------------------------------------------------------- */

static hf_log_op *add(hf_log *l, unsigned kind, hf_log_type type, hf_span at)
{
    hf_chunk *c = l->open;

    hf_vec_push(
        &c->ops,
        (hf_log_op){.kind = (uint8_t)kind, .type = (uint8_t)type, .at = at});
    return &c->ops.at[c->ops.n - 1];
}

void hf_log_issued(hf_log *l, uint32_t counter)
{
    atomic_store_explicit(&l->issued, counter, memory_order_release);
}

void hf_log_value(hf_log *l, unsigned kind, const hf_log_key *key, int64_t tag,
                  hf_span at)
{
    hf_log_op *op = add(l, kind, HF_LOG_TAG, at);

    hf_log_put_key(l->open, key, op);
    op->value = tag;
}

void hf_log_absent(hf_log *l, unsigned kind, const hf_log_key *key, hf_span at)
{
    hf_log_put_key(l->open, key, add(l, kind, HF_LOG_NIL, at));
    l->txn.has_absent = true;
}

void hf_log_delete(hf_log *l, const hf_log_key *key, hf_span at)
{
    hf_log_put_key(l->open, key, add(l, HF_OP_DELETE, HF_LOG_NIL, at));
    l->txn.has_delete = true;
}

void hf_log_deleting(hf_log *l, const hf_log_key *key, uint64_t at)
{
    hf_recorder *r = l->recorder;
    hf_chunk *c = l->open;
    size_t used = c->bytes.n;
    hf_log_op op = {0};
    uint64_t hash;

    hf_log_put_key(c, key, &op);
    hash = hf_log_key_hash(c, &op);
    c->bytes.n = used;
    pthread_mutex_lock(&r->mutex);
    hf_vec_push(&r->deleting, (hf_deleting){l->client, hash, at});
    pthread_mutex_unlock(&r->mutex);
    l->deleting = true;
}

void hf_log_list(hf_log *l, const hf_log_key *key, hf_str text, hf_span at)
{
    hf_chunk *c = l->open;
    hf_log_op *op = add(l, HF_OP_READ_LIST, HF_LOG_LIST, at);

    hf_log_put_key(c, key, op);
    op->value = (int64_t)c->numbers.n;
    while (text.len > 0) {
        const char *comma = memchr(text.ptr, ',', text.len);
        size_t n = comma ? (size_t)(comma - text.ptr) : text.len;
        int64_t number;

        /* what is no number is an element that nobody appended */
        if (!hf_str_to_int((hf_str){text.ptr, n}, &number))
            number = INT64_MIN;
        if (n > 0)
            hf_vec_push(&c->numbers, number);
        n += comma != NULL;
        text = (hf_str){text.ptr + n, text.len - n};
    }
    op->n = (uint32_t)(c->numbers.n - (size_t)op->value);
}

void hf_log_mark(hf_log *l, hf_op_kind kind, hf_span at)
{
    (void)add(l, kind, HF_LOG_NONE, at);
}

/* ---- statements ---------------------------------------------------------- */

static void put_text(hf_chunk *c, hf_scalar_type type, hf_str s)
{
    hf_log_cell cell = {.type = (uint8_t)type,
                        .length = (uint32_t)s.len,
                        .number = put_bytes(c, s)};

    hf_vec_push(&c->cells, cell);
}

static void put_cell(hf_chunk *c, const hf_sql_value *v)
{
    hf_arena arena;

    switch (v->type) {
    case HF_SQL_NULL:
        hf_vec_push(&c->cells, (hf_log_cell){.type = HF_NIL});
        return;
    case HF_SQL_INT:
    case HF_SQL_BOOL:
        hf_vec_push(
            &c->cells,
            (hf_log_cell){.type = v->type == HF_SQL_INT ? HF_INT : HF_BOOL,
                          .number = v->integer});
        return;
    default:
        hf_arena_init(&arena);
        put_text(c, hf_sql_is_number(v) ? HF_REAL : HF_TEXT,
                 hf_sql_print(v, HF_SQL_POSTGRES, &arena));
        hf_arena_release(&arena);
    }
}

void hf_log_sql(hf_log *l, const char *sql, const hf_sql_value *params,
                uint32_t n, const hf_sql_result *rows, bool failed, hf_span at)
{
    hf_chunk *c = l->open;
    hf_log_op *op =
        add(l, HF_OP_SQL | (failed ? HF_OP_FAILED : HF_OP_WITH_ITEMS),
            HF_LOG_SQL, at);
    hf_log_statement s = {
        .sql = sql, .n_params = n, .affected = UINT64_MAX, .cells = c->cells.n};

    op->value = (int64_t)c->statements.n;
    if (rows) {
        s.n_columns = rows->n_columns;
        s.n_rows = (uint32_t)rows->n_rows;
        s.has_rows = rows->n_columns > 0;
        if (!s.has_rows)
            s.affected = rows->affected;
    }
    for (uint32_t i = 0; i < s.n_columns; i++)
        put_text(c, HF_TEXT, rows->names[i]);
    for (uint32_t i = 0; i < n; i++)
        put_cell(c, &params[i]);
    for (uint64_t i = 0; i < (uint64_t)s.n_rows * s.n_columns; i++)
        put_cell(c, &rows->cells[i]);
    hf_vec_push(&c->statements, s);
}

/* ---- transactions -------------------------------------------------------- */

void hf_log_begin(hf_log *l, uint64_t at)
{
    l->txn = (hf_log_txn){.first_op = (uint32_t)l->open->ops.n,
                          .session = l->session,
                          .at = {at, HF_TIME_NONE}};
}

static void forget_deletes(hf_recorder *r, unsigned client)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->deleting.n; i++)
        if (r->deleting.at[i].client != client)
            r->deleting.at[kept++] = r->deleting.at[i];
    r->deleting.n = kept;
}

void hf_log_flush(hf_log *l)
{
    hf_recorder *r = l->recorder;
    hf_chunk *c = l->open;

    if (c->txns.n == 0)
        return;
    l->handed = c->txns.at[c->txns.n - 1].at.end;
    l->open = NULL;
    pthread_mutex_lock(&r->mutex);
    *l->last = c;
    l->last = &c->next;
    if (l->deleting)
        forget_deletes(r, l->client);
    l->deleting = false;
    if (r->spare) {
        l->open = r->spare;
        r->spare = l->open->next;
        l->open->next = NULL;
        r->n_spare--;
    }
    r->queued += hf_chunk_bytes(c);
    if (r->queued > PIECE_BYTES + r->left + r->left / 4 && !r->full) {
        r->full = true;
        pthread_cond_signal(&r->work);
    }
    while (r->queued > MOST_QUEUED && !r->closing &&
           atomic_load(&r->write_errno) == 0)
        pthread_cond_wait(&r->room, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
    if (!l->open)
        l->open = HF_NEW(hf_chunk);
}

void hf_log_end(hf_log *l, hf_outcome outcome, uint64_t at)
{
    hf_chunk *c = l->open;

    l->txn.outcome = (uint8_t)outcome;
    l->txn.at.end = at;
    l->txn.n_ops = (uint32_t)c->ops.n - l->txn.first_op;
    l->txn.counter = atomic_load_explicit(&l->issued, memory_order_relaxed);
    hf_vec_push(&c->txns, l->txn);
    if (at == HF_TIME_NONE || at - l->handed > HAND_OVER_NS ||
        hf_chunk_bytes(c) > HAND_OVER_BYTES)
        hf_log_flush(l);
}

void hf_log_new_session(hf_log *l)
{
    l->session++;
}

/* binary_read.c: reading the native binary form.
 *
 * First a walk over the frame heads, which are checked and counted; then the
 * columns are allocated at their final size and each batch is checksummed
 * and copied into its place.  A hostile file cannot make us allocate more
 * than a small multiple of its length.  At the end the history is validated
 * like any other.
 */
#include "history/binary.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "history/binary_layout.h"
#include "history/binary_stream.h"
#include "history/builder_internal.h"

typedef struct totals {
    uint64_t strings, string_bytes, sessions, keys, values, txns, ops, extra,
        wide, order, serial;
    unsigned columns; /* optional ones, of any batch */
} totals;

typedef struct reader {
    const char *bytes;
    size_t length; /* up to the last whole frame */
    hf_history *h;
    hf_budget *budget;
    totals all, done;
    bool ended; /* an END frame was there */
    uint64_t *order_fill;
    HF_VEC(hf_key_id) empty; /* keys with runs of length 0 */
    bool has_serial;
    bool is_checked; /* a checksum of all of it held */
    hf_error *err;
} reader;

/* Fuzzers do not guess checksums; they are to get past them. */
bool hf_checksum_holds(const char *bytes, size_t n, uint64_t checksum)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)bytes;
    (void)n;
    (void)checksum;
    return true;
#else
    return XXH3_64bits(bytes, n) == checksum;
#endif
}

static hf_status damaged(reader *r, uint64_t at, const char *what)
{
    return hf_fail_byte(r->err, at, "%s", what);
}

/* ---- the walk ------------------------------------------------------------ */

static bool add(uint64_t *total, uint64_t n, uint64_t limit)
{
    *total += n;
    return *total < limit;
}

static hf_status count_batch(reader *r, uint64_t at, uint64_t length)
{
    totals *a = &r->all;
    hf_batch b;
    bool fits;

    if (length < sizeof(b))
        return damaged(r, at, "a batch is too short for its counts");
    memcpy(&b, r->bytes + at, sizeof(b));
    if (hf_batch_bytes(&b) != length || (b.columns & ~HF_HAS_ALL) != 0)
        return damaged(r, at, "a batch's counts do not fit its length");
    fits = add(&a->strings, b.n_strings, HF_NONE) &&
           add(&a->sessions, b.n_sessions, HF_NONE) &&
           add(&a->keys, b.n_keys, HF_NONE) &&
           add(&a->values, b.n_values, HF_NONE) &&
           add(&a->txns, b.n_txns, HF_NONE) && add(&a->ops, b.n_ops, HF_NONE) &&
           add(&a->extra, b.n_extra, HF_NONE) &&
           add(&a->wide, b.n_wide, HF_NONE) &&
           add(&a->string_bytes, b.string_bytes, (uint64_t)1 << 48);
    a->columns |= b.columns;
    if (!fits)
        return damaged(r, at, "more than 2^32 - 1 of something");
    return HF_OK;
}

static hf_status count_order(reader *r, uint64_t at, uint64_t length)
{
    hf_order o;

    if (length < sizeof(o))
        return damaged(r, at, "a version order is too short for its counts");
    memcpy(&o, r->bytes + at, sizeof(o));
    if (hf_padded(8 + 8 * (uint64_t)o.n_runs + 4 * (uint64_t)o.n_entries) !=
        length)
        return damaged(r, at,
                       "a version order's counts do not fit its "
                       "length");
    r->all.order += o.n_entries;
    return HF_OK;
}

static hf_status count_serial(reader *r, uint64_t at, uint64_t length)
{
    uint32_t n;

    if (length < 8)
        return damaged(r, at, "a serial order is too short for its count");
    memcpy(&n, r->bytes + at, 4);
    if (hf_padded(4 + 4 * (uint64_t)n) != length)
        return damaged(r, at,
                       "a serial order's count does not fit its "
                       "length");
    if (!add(&r->all.serial, n, HF_NONE))
        return damaged(r, at, "more than 2^32 - 1 of something");
    return HF_OK;
}

static hf_status count_frame(reader *r, const hf_frame *f, uint64_t at)
{
    switch (f->type) {
    case HF_FRAME_ABOUT:
        return f->length >= sizeof(hf_about)
                   ? HF_OK
                   : damaged(r, at, "the description is too short");
    case HF_FRAME_BATCH:
        return count_batch(r, at, f->length);
    case HF_FRAME_ORDER:
        return count_order(r, at, f->length);
    case HF_FRAME_SERIAL:
        return count_serial(r, at, f->length);
    case HF_FRAME_END:
        r->ended = true;
        return f->length == sizeof(hf_end)
                   ? HF_OK
                   : damaged(r, at, "the end mark has a wrong length");
    default:
        return hf_fail_byte(r->err, at, "unknown frame type %" PRIu32, f->type);
    }
}

/* True if everything from here on is zero: space that was never written. */
static bool only_zeros(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

hf_status hf_frame_next(const char *bytes, uint64_t at, size_t length,
                        hf_frame *f, bool *ret_whole, hf_error *err)
{
    *ret_whole = false;
    if (length - at < sizeof(*f))
        return HF_OK; /* cut off */
    memcpy(f, bytes + at, sizeof(*f));
    if (f->magic != HF_FRAME_MAGIC ||
        !hf_checksum_holds(bytes + at, 24, f->head_checksum))
        return only_zeros(bytes + at, length - at)
                   ? HF_OK
                   : hf_fail_byte(err, at,
                                  "expected a frame, its head is damaged");
    if (f->length > length - at - sizeof(*f))
        return HF_OK; /* cut off */
    if (f->length % 8 != 0)
        return hf_fail_byte(err, at, "a frame's length is not a multiple of 8");
    *ret_whole = true;
    return HF_OK;
}

static hf_status walk(reader *r, size_t length)
{
    uint64_t at = HF_BINARY_HEAD;
    hf_status st;
    hf_frame f;
    bool whole;

    while (!r->ended) {
        st = hf_frame_next(r->bytes, at, length, &f, &whole, r->err);
        if (st != HF_OK)
            return st;
        if (!whole)
            break;
        st = count_frame(r, &f, at + sizeof(f));
        if (st != HF_OK)
            return st;
        at += sizeof(f) + f.length;
    }
    if (r->ended && at != length)
        return damaged(r, at, "there is something after the end mark");
    r->length = at;
    return HF_OK;
}

/* ---- allocation ---------------------------------------------------------- */

static uint64_t total_of(const totals *t, const hf_column *c)
{
    switch (c->count) {
    case offsetof(hf_batch, n_strings):
        return t->strings;
    case offsetof(hf_batch, string_bytes):
        return t->string_bytes;
    case offsetof(hf_batch, n_sessions):
        return t->sessions;
    case offsetof(hf_batch, n_keys):
        return t->keys;
    case offsetof(hf_batch, n_values):
        return t->values;
    case offsetof(hf_batch, n_txns):
        return t->txns;
    default:
        return t->ops;
    }
}

static void **column_of(hf_history *h, const hf_column *c)
{
    return (void **)(void *)((char *)h + c->place);
}

/* Bytes of a whole column in memory, a multiple of the cache line. */
static size_t column_room(const totals *a, int id)
{
    const hf_column *c = &hf_columns[id];
    uint64_t unit = id == HF_COLUMN_STRING_LENGTH ? 8 : c->unit;

    if (c->needs != 0 && (a->columns & c->needs) == 0)
        return 0;
    return (hf_array_size(total_of(a, c) + 1, unit) + 63) & ~(size_t)63;
}

/* All columns in one block: few page faults. */
static void allocate(reader *r)
{
    hf_history *h = r->h;
    const totals *a = &r->all;
    char *at;

    for (int i = 0; i < HF_COLUMN_COUNT; i++)
        h->block_size += column_room(a, i);
    at = h->block = hf_history_block(h->block_size);
    for (int i = 0; i < HF_COLUMN_COUNT; i++) {
        size_t room = column_room(a, i);

        if (room > 0)
            *column_of(h, &hf_columns[i]) = at;
        at += room;
    }
    h->string_first[0] = h->op_first[0] = 0;
    h->extra = HF_NEW_ARRAY(uint32_t, a->extra + 1);
    h->wide = HF_NEW_ARRAY(hf_wide_interval, a->wide + 1);
    if (a->order > 0) {
        h->cert.order_first = HF_NEW_ZEROED(uint64_t, a->keys + 2);
        h->cert.order_txn =
            hf_alloc_large(hf_array_size(a->order, sizeof(hf_txn_id)));
        r->order_fill = HF_NEW_ZEROED(uint64_t, a->keys + 1);
    }
    if (a->serial > 0)
        h->cert.serial =
            hf_alloc_large(hf_array_size(a->serial, sizeof(hf_txn_id)));
}

static uint64_t column_bytes(const totals *a)
{
    return 8 * a->strings + a->string_bytes + 4 * a->sessions + 17 * a->keys +
           13 * a->values + 60 * a->txns + 17 * a->ops + 4 * a->extra +
           16 * a->wide + 4 * a->order + 4 * a->serial;
}

/* ---- contents ------------------------------------------------------------ */

static hf_status sum_strings(reader *r, const char *p, const hf_batch *b)
{
    uint64_t *first = r->h->string_first + r->done.strings;
    uint64_t end = r->done.string_bytes + b->string_bytes;

    for (uint32_t i = 0; i < b->n_strings; i++) {
        uint32_t n;

        memcpy(&n, p + 4 * (size_t)i, 4);
        first[i + 1] = first[i] + n;
    }
    return first[b->n_strings] == end ? HF_OK : HF_ERR_INPUT;
}

static hf_status sum_ops(reader *r, const char *p, const hf_batch *b)
{
    hf_op_id *first = r->h->op_first + r->done.txns;
    uint64_t sum = r->done.ops, end = r->done.ops + b->n_ops;

    for (uint32_t i = 0; i < b->n_txns; i++) {
        uint32_t n;

        memcpy(&n, p + 4 * (size_t)i, 4);
        sum += n;
        first[i + 1] = (hf_op_id)sum;
        if (sum > end)
            return HF_ERR_INPUT;
    }
    return sum == end ? HF_OK : HF_ERR_INPUT;
}

/* A batch that lacks a column others have. */
static void fill_column(reader *r, int id, const hf_batch *b)
{
    const hf_column *c = &hf_columns[id];
    uint64_t from = total_of(&r->done, c), n = hf_batch_count(b, c);

    if ((c->needs & HF_HAS_LABEL) != 0)
        for (uint64_t i = 0; i < n; i++)
            r->h->txn_label[from + i] = (int64_t)(from + i + 1);
    else
        memset((char *)*column_of(r->h, c) + from * c->unit, c->fill,
               (size_t)n * c->unit);
}

static void count_done(reader *r, const hf_batch *b)
{
    totals *d = &r->done;

    d->strings += b->n_strings;
    d->string_bytes += b->string_bytes;
    d->sessions += b->n_sessions;
    d->keys += b->n_keys;
    d->values += b->n_values;
    d->txns += b->n_txns;
    d->ops += b->n_ops;
    d->extra += b->n_extra;
    d->wide += b->n_wide;
    r->h->n_strings = (uint32_t)d->strings;
    r->h->n_sessions = (uint32_t)d->sessions;
    r->h->n_keys = (uint32_t)d->keys;
    r->h->n_values = (uint32_t)d->values;
    r->h->n_txns = (uint32_t)d->txns;
    r->h->n_ops = (uint32_t)d->ops;
    r->h->n_extra = (uint32_t)d->extra;
    r->h->n_wide = (uint32_t)d->wide;
}

static hf_status take_batch(reader *r, uint64_t at)
{
    const hf_history *h = r->h;
    const hf_mark from = {h->n_sessions, h->n_keys, h->n_values, h->n_txns,
                          h->n_ops};
    const char *p = r->bytes + at;
    hf_status st = HF_OK;
    hf_batch b;

    memcpy(&b, p, sizeof(b));
    p += sizeof(b);
    for (int i = 0; i < HF_COLUMN_COUNT && st == HF_OK; i++) {
        const hf_column *c = &hf_columns[i];
        size_t bytes = (size_t)hf_batch_count(&b, c) * c->unit;

        if (!hf_batch_has(&b, c)) {
            if ((r->all.columns & c->needs) != 0)
                fill_column(r, i, &b);
            continue;
        }
        if (i == HF_COLUMN_STRING_LENGTH)
            st = sum_strings(r, p, &b);
        else if (i == HF_COLUMN_OP_COUNT)
            st = sum_ops(r, p, &b);
        else if (bytes > 0)
            memcpy((char *)*column_of(r->h, c) +
                       total_of(&r->done, c) * c->unit,
                   p, bytes);
        p += hf_padded(bytes);
    }
    if (st != HF_OK)
        return damaged(r, at, "a batch's lengths do not add up");
    if (b.n_extra > 0)
        memcpy(r->h->extra + r->done.extra, p, (size_t)b.n_extra * 4);
    p += hf_padded((uint64_t)b.n_extra * 4);
    if (b.n_wide > 0)
        memcpy(r->h->wide + r->done.wide, p, (size_t)b.n_wide * 16);
    count_done(r, &b);
    /* while it is in the cache; version sets may name later transactions and
     * are looked at when all are there */
    return hf_history_validate_from(h, &from, false, r->err);
}

/* Version orders are placed in two passes: lengths, then transactions. */
static hf_status take_order(reader *r, uint64_t at, bool place)
{
    hf_certificate *c = &r->h->cert;
    const char *keys, *counts, *txns;
    uint64_t left;
    hf_order o;

    memcpy(&o, r->bytes + at, sizeof(o));
    keys = r->bytes + at + sizeof(o);
    counts = keys + 4 * (size_t)o.n_runs;
    txns = counts + 4 * (size_t)o.n_runs;
    left = o.n_entries;
    for (uint32_t i = 0; i < o.n_runs; i++) {
        uint32_t key, n;

        memcpy(&key, keys + 4 * (size_t)i, 4);
        memcpy(&n, counts + 4 * (size_t)i, 4);
        if (key >= r->h->n_keys || n > left)
            return damaged(r, at, "a version order's runs do not add up");
        left -= n;
        if (n == 0 && !place)
            hf_vec_push(&r->empty, key);
        if (n == 0)
            continue;
        if (!place) {
            c->order_first[key + 1] += n;
            continue;
        }
        memcpy(c->order_txn + c->order_first[key] + r->order_fill[key], txns,
               (size_t)n * 4);
        r->order_fill[key] += n;
        txns += (size_t)n * 4;
    }
    return left == 0 ? HF_OK
                     : damaged(r, at, "a version order's runs do not add up");
}

static hf_status take_about(reader *r, uint64_t at, uint64_t length)
{
    hf_about a;

    memcpy(&a, r->bytes + at, sizeof(a));
    if (a.time_unit >= HF_TIME_UNIT_COUNT ||
        (a.name_length != UINT64_MAX &&
         hf_padded(sizeof(a) + a.name_length) != length))
        return damaged(r, at, "the description is malformed");
    r->h->time_unit = (hf_time_unit)a.time_unit;
    r->h->unique_values = a.flags & HF_ABOUT_UNIQUE;
    r->h->partial_orders = a.flags & HF_ABOUT_PARTIAL_ORDERS;
    r->h->n_skipped = a.n_skipped;
    return HF_OK;
}

/* The name is a string of the history; find it among the others. */
static void take_name(reader *r)
{
    hf_frame f;
    hf_about a;
    hf_str name;

    if (r->length < HF_BINARY_HEAD + sizeof(f) + sizeof(a))
        return;
    memcpy(&f, r->bytes + HF_BINARY_HEAD, sizeof(f));
    if (f.type != HF_FRAME_ABOUT)
        return;
    memcpy(&a, r->bytes + HF_BINARY_HEAD + sizeof(f), sizeof(a));
    if (a.name_length == UINT64_MAX)
        return;
    name = (hf_str){r->bytes + HF_BINARY_HEAD + sizeof(f) + sizeof(a),
                    (size_t)a.name_length};
    for (uint32_t i = 0; i < r->h->n_strings; i++)
        if (hf_str_eq(hf_string(r->h, i), name)) {
            r->h->name = i;
            return;
        }
}

static hf_status take_frame(reader *r, const hf_frame *f, uint64_t at,
                            bool certificates)
{
    if (certificates)
        return f->type == HF_FRAME_ORDER ? take_order(r, at, true) : HF_OK;
    if (!r->is_checked &&
        !hf_checksum_holds(r->bytes + at, f->length, f->checksum))
        return damaged(r, at, "a frame's checksum is wrong");
    switch (f->type) {
    case HF_FRAME_ABOUT:
        return take_about(r, at, f->length);
    case HF_FRAME_BATCH:
        return take_batch(r, at);
    case HF_FRAME_ORDER:
        return take_order(r, at, false);
    case HF_FRAME_SERIAL: {
        uint32_t n;

        memcpy(&n, r->bytes + at, 4);
        r->has_serial = true;
        if (n == 0)
            return HF_OK;
        memcpy(r->h->cert.serial + r->h->cert.n_serial, r->bytes + at + 4,
               (size_t)n * 4);
        r->h->cert.n_serial += n;
        return HF_OK;
    }
    default: {
        hf_end end;

        memcpy(&end, r->bytes + at, sizeof(end));
        return end.n_txns == r->all.txns && end.n_ops == r->all.ops
                   ? HF_OK
                   : damaged(r, at, "the end mark counts differ");
    }
    }
}

static hf_status take_all(reader *r, bool certificates)
{
    uint64_t at = HF_BINARY_HEAD;
    hf_status st = HF_OK;

    while (at < r->length && st == HF_OK) {
        hf_frame f;

        memcpy(&f, r->bytes + at, sizeof(f));
        st = take_frame(r, &f, at + sizeof(f), certificates);
        at += sizeof(f) + f.length;
        if (st == HF_OK && r->budget && hf_budget_look(r->budget))
            st = hf_fail(r->err, HF_ERR_LIMIT, "%s",
                         hf_budget_reason(r->budget));
        hf_budget_progress(r->budget, "reading", at, r->length);
    }
    return st;
}

/* In a prefix, a version set may name a writer that was cut off. */
static void forget_lost_writers(hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)))
            hf_extra_forget_writers(h, op);
}

/* Whatever a hostile file says of how much extra there is. */
static bool needs_extra(const hf_history *h)
{
    bool any = h->n_extra > 0;

    for (hf_op_id op = 0; op < h->n_ops && !any; op++)
        any = hf_op_has_extra(hf_op_kind_of(h, op));
    return any;
}

static hf_status finish(reader *r)
{
    hf_history *h = r->h;
    hf_status st;

    if (h->cert.order_first) {
        for (uint32_t k = 0; k < h->n_keys; k++)
            h->cert.order_first[k + 1] += h->cert.order_first[k];
        st = take_all(r, true);
        if (st != HF_OK)
            return st;
    }
    h->cert.empty_order = r->empty.at;
    h->cert.n_empty = (uint32_t)r->empty.n;
    r->empty.at = NULL;
    h->cert.empty_serial = r->has_serial && h->cert.n_serial == 0;
    take_name(r);
    h->format = "binary";
    h->cut_off = !r->ended;
    if (h->cut_off)
        forget_lost_writers(h);
    st = needs_extra(h) ? hf_history_validate(h, r->err)
                        : hf_history_validate_rest(h, r->err);
    if (st == HF_OK)
        st = hf_history_validate_times(h, true, r->err);
    if (st == HF_OK)
        hf_history_derive(h);
    return st;
}

static hf_status read_all(reader *r, size_t length)
{
    hf_status st = walk(r, length);

    if (st != HF_OK)
        return st;
    if (hf_budget_refuses(r->budget, (size_t)column_bytes(&r->all)))
        return hf_fail(r->err, HF_ERR_LIMIT, "%s", hf_budget_reason(r->budget));
    allocate(r);
    st = take_all(r, false);
    return st == HF_OK ? finish(r) : st;
}

/* is_checked: a checksum of all the bytes held, and they are no stream. */
static hf_status read_history(const char *bytes, size_t length,
                              hf_budget *budget, bool is_checked,
                              hf_history **ret_h, hf_error *err)
{
    reader r = {
        .bytes = bytes, .budget = budget, .is_checked = is_checked, .err = err};
    uint32_t version = 0;
    hf_status st;

    if (length < HF_BINARY_MAGIC_LENGTH ||
        memcmp(bytes, HF_BINARY_MAGIC, HF_BINARY_MAGIC_LENGTH) != 0)
        return hf_fail_byte(err, 0, "expected the mark of a binary history");
    if (length >= HF_BINARY_HEAD)
        memcpy(&version, bytes + 8, 4);
    if (length >= HF_BINARY_HEAD && version != HF_BINARY_VERSION)
        return hf_fail_byte(err, 8,
                            "this is version %" PRIu32
                            " of the binary form, known is %d",
                            version, HF_BINARY_VERSION);
    if (length < HF_BINARY_HEAD)
        return hf_fail_byte(err, length,
                            "the file ends before the first frame");
    if (!is_checked && hf_binary_is_stream(bytes, length))
        return hf_binary_read_stream(bytes, length, budget, ret_h, err);
    r.h = HF_NEW(hf_history);
    r.h->name = HF_NONE;
    st = read_all(&r, length);
    hf_free(r.order_fill);
    hf_free(r.empty.at);
    if (st != HF_OK) {
        hf_history_free(r.h);
        return st;
    }
    *ret_h = r.h;
    return HF_OK;
}

hf_status hf_binary_read(const char *bytes, size_t length, hf_budget *budget,
                         hf_history **ret_h, hf_error *err)
{
    return read_history(bytes, length, budget, false, ret_h, err);
}

hf_status hf_binary_read_piece(const char *bytes, size_t length,
                               hf_history **ret_h, hf_error *err)
{
    if (hf_binary_is_stream(bytes, length))
        return hf_fail_byte(err, 0, "a piece is made of pieces");
    return read_history(bytes, length, NULL, true, ret_h, err);
}

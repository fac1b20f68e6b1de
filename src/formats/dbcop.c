/* dbcop.c: dbcop-bincode, the history.bincode of dbcop, PolySI, VeriStrong.
 *
 * bincode 1.x: little-endian, fixed width, lengths are u64.
 *
 *     u64 x 5                      parameters, informational
 *     u64 length, bytes  x 3       info, start, end
 *     u64 sessions
 *       u64 transactions
 *         u64 events
 *           u8 write, u64 variable, u64 value, u8 success
 *         u8 success
 *
 * An event without success did not happen and is left out; a transaction
 * without success is aborted.  Reading 0 is reading the initial version.
 * Values may be written more than once.  Variables and values are kept as
 * their 64 bits: one above 2^63 shows as a negative number.
 *
 * Counts are checked against the bytes that are left before anything is done
 * with them.  Linear.
 */
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/zeros.h"

#define EVENT_BYTES 18

typedef struct reader {
    const unsigned char *at, *start, *end;
    hf_error *err;
    hf_status st; /* sticky */
} reader;

static void fail_at(reader *r, const char *expected)
{
    size_t left = (size_t)(r->end - r->at);

    if (r->st != HF_OK)
        return;
    if (left < 8)
        r->st = hf_fail_byte(r->err, (uint64_t)(r->at - r->start),
                             "expected %s, found the end of the input after "
                             "%zu more bytes",
                             expected, left);
    else
        r->st = hf_fail_byte(r->err, (uint64_t)(r->at - r->start),
                             "expected %s, found %02x %02x %02x %02x %02x "
                             "%02x %02x %02x",
                             expected, r->at[0], r->at[1], r->at[2], r->at[3],
                             r->at[4], r->at[5], r->at[6], r->at[7]);
}

static uint64_t peek_u64(const unsigned char *p)
{
    uint64_t n = 0;

    for (int i = 7; i >= 0; i--)
        n = n << 8 | p[i];
    return n;
}

static uint64_t take_u64(reader *r, const char *what)
{
    uint64_t n;

    if (r->st != HF_OK || r->end - r->at < 8) {
        fail_at(r, what);
        return 0;
    }
    n = peek_u64(r->at);
    r->at += 8;
    return n;
}

/* A count of things that take at least `width` bytes each. */
static uint64_t take_count(reader *r, uint64_t width, const char *what)
{
    uint64_t n = take_u64(r, what);

    if (r->st == HF_OK && n > (uint64_t)(r->end - r->at) / width) {
        r->at -= 8;
        fail_at(r, what);
        return 0;
    }
    return n;
}

static bool take_bool(reader *r, const char *what)
{
    if (r->st != HF_OK || r->at == r->end || *r->at > 1) {
        fail_at(r, what);
        return false;
    }
    return *r->at++ == 1;
}

static hf_str take_text(reader *r)
{
    uint64_t n = take_count(r, 1, "the length of a text");
    hf_str s = {(const char *)r->at, (size_t)n};

    r->at += n;
    return s;
}

/* Parameters and texts; the info text is the history's name. */
static hf_str take_head(reader *r)
{
    hf_str info;

    for (int i = 0; i < 5; i++)
        (void)take_u64(r, "five parameters of 8 bytes");
    info = take_text(r);
    (void)take_text(r);
    (void)take_text(r);
    return info;
}

static void read_event(reader *r, hf_builder *b, hf_txn_id t, hf_zeros *zeros)
{
    bool write = take_bool(r, "0 or 1, read or write"), success;
    int64_t variable = (int64_t)take_u64(r, "a variable");
    int64_t value = (int64_t)take_u64(r, "a value");
    hf_key_id key;

    success = take_bool(r, "0 or 1, the success of an event");
    if (r->st != HF_OK)
        return;
    if (!success) {
        hf_builder_skip(b, 1);
        return;
    }
    key = hf_builder_key_int(b, variable);
    (void)hf_builder_op(b, t, write ? HF_OP_WRITE : HF_OP_READ, key,
                        hf_zeros_int(zeros, b, key, value, write));
}

static void read_session(reader *r, hf_builder *b, hf_session_id s,
                         hf_zeros *zeros)
{
    uint64_t n_txns = take_count(r, 9, "the number of transactions");

    while (n_txns-- > 0 && r->st == HF_OK && !hf_builder_failed(b)) {
        uint64_t n_events = take_count(r, EVENT_BYTES, "the number of events");
        hf_txn_id t = hf_builder_txn(b, s);

        while (n_events-- > 0 && r->st == HF_OK && !hf_builder_failed(b))
            read_event(r, b, t, zeros);
        if (!take_bool(r, "0 or 1, the success of a transaction"))
            hf_builder_outcome(b, t, HF_ABORTED);
    }
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    const unsigned char *text = (const unsigned char *)in->text;
    reader r = {text, text, text + in->length, err, HF_OK};
    hf_str info = take_head(&r);
    uint64_t n_sessions = take_count(&r, 8, "the number of sessions");
    hf_zeros zeros = {0};

    if (r.st == HF_OK && info.len > 0)
        hf_builder_name(b, info.ptr, info.len);
    hf_builder_expect(b, in->length / EVENT_BYTES, 0, 0);
    for (uint64_t s = 0; s < n_sessions && r.st == HF_OK; s++) {
        if (hf_builder_failed(b))
            break;
        read_session(&r, b, hf_builder_session_number(b, (int64_t)s), &zeros);
    }
    if (r.st == HF_OK && !hf_builder_failed(b) && r.at != r.end)
        fail_at(&r, "the end of the input");
    if (r.st == HF_OK)
        hf_zeros_finish(&zeros, b);
    hf_zeros_release(&zeros);
    return r.st;
}

/* Texts are short and printable, and the first transaction makes sense. */
static int detect(const hf_input *in)
{
    const unsigned char *text = (const unsigned char *)in->text;
    reader r = {text, text, text + in->length, NULL, HF_OK};
    uint64_t n_sessions, n_txns = 0, n_events = 0;

    if (in->length < 72)
        return 0;
    r.at += 40;
    for (int i = 0; i < 3; i++) {
        hf_str s = take_text(&r);

        if (r.st != HF_OK || s.len > 4096)
            return 0;
        for (size_t c = 0; c < s.len; c++)
            if ((unsigned char)s.ptr[c] < 32)
                return 0;
    }
    n_sessions = take_count(&r, 8, "");
    if (n_sessions > 0)
        n_txns = take_count(&r, 9, "");
    if (n_txns > 0)
        n_events = take_count(&r, EVENT_BYTES, "");
    if (n_events > 0)
        (void)take_bool(&r, "");
    if (r.st != HF_OK)
        return 0;
    return n_sessions > 0 || r.at == r.end ? 90 : 0;
}

/* ---- export -------------------------------------------------------------- */

static void put_u64(hf_out *out, uint64_t n)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(n >> 8 * i);
    hf_out_bytes(out, bytes, 8);
}

static void put_text(hf_out *out, hf_str s)
{
    put_u64(out, s.len);
    hf_out_str(out, s);
}

static void write_txn(const hf_history *h, hf_txn_id t, hf_out *out)
{
    uint64_t n = 0;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        n += !hf_export_skips(hf_op_kind_of(h, op));
    put_u64(out, n);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_value_id v = h->op_value[op];

        if (hf_export_skips(kind))
            continue;
        hf_out_char(out, kind == HF_OP_WRITE);
        put_u64(out, (uint64_t)h->key_data[h->op_key[op]]);
        put_u64(out, hf_export_initial(h, v) ? 0 : (uint64_t)h->value_data[v]);
        hf_out_char(out, 1);
    }
    hf_out_char(out, h->txn_outcome[t] == HF_COMMITTED);
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_status st =
        hf_export_check(h, "dbcop-bincode",
                        HF_SAYS_ABORTED | HF_SAYS_EMPTY | HF_SAYS_INITIAL |
                            HF_SAYS_NEGATIVE | HF_ZERO_IS_INITIAL,
                        err);

    if (st != HF_OK)
        return st;
    put_u64(out, 0);
    put_u64(out, h->n_sessions);
    put_u64(out, h->n_keys);
    put_u64(out, h->n_txns);
    put_u64(out, h->n_ops);
    put_text(out, h->name == HF_NONE ? HF_STR("") : hf_string(h, h->name));
    put_text(out, HF_STR(""));
    put_text(out, HF_STR(""));
    put_u64(out, h->n_sessions);
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t first = h->session_first[s], end = h->session_first[s + 1];

        put_u64(out, end - first);
        for (uint32_t i = first; i < end; i++)
            write_txn(h, h->session_txns[i], out);
    }
    return HF_OK;
}

const hf_format hf_format_dbcop = {
    .name = "dbcop-bincode",
    .summary = "history.bincode: dbcop, PolySI, VeriStrong",
    .extension = ".bincode",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

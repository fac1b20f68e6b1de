/* binary_stream.c: streams of pieces, written and read. */
#include "history/binary_stream.h"

#include <string.h>

#include "history/binary.h"
#include "history/binary_layout.h"

/* ---- writing ------------------------------------------------------------- */

void hf_stream_begin(hf_out *out, const hf_stream_about *about)
{
    const uint32_t version = HF_BINARY_VERSION, zero = 0;
    hf_about a = {.time_unit = (uint32_t)about->time_unit,
                  .flags = about->unique_values ? HF_ABOUT_UNIQUE : 0,
                  .name_length =
                      about->name.ptr ? (uint64_t)about->name.len : UINT64_MAX};
    hf_out payload;

    hf_out_init_memory(&payload);
    hf_out_bytes(&payload, &a, sizeof(a));
    hf_out_str(&payload, about->name);
    hf_out_bytes(out, HF_BINARY_MAGIC, HF_BINARY_MAGIC_LENGTH);
    hf_out_bytes(out, &version, 4);
    hf_out_bytes(out, &zero, 4);
    hf_frame_put(out, HF_FRAME_ABOUT, hf_out_view(&payload));
    hf_out_release(&payload);
}

void hf_stream_piece(hf_out *out, const hf_history *piece)
{
    hf_out payload;

    hf_out_init_memory(&payload);
    hf_binary_write(piece, &payload);
    hf_frame_put(out, HF_FRAME_PIECE, hf_out_view(&payload));
    hf_out_release(&payload);
}

void hf_stream_end(hf_out *out, uint64_t n_txns, uint64_t n_ops)
{
    hf_end end = {n_txns, n_ops};

    hf_frame_put(out, HF_FRAME_END, (hf_str){(const char *)&end, sizeof(end)});
}

/* ---- reading ------------------------------------------------------------- */

typedef struct stream_reader {
    const char *bytes;
    size_t length;
    hf_budget *budget;
    hf_builder *b;
    uint64_t n_txns, n_ops;
    bool ended;
    hf_error *err;
} stream_reader;

/* The second frame of a stream is a piece, or its end. */
bool hf_binary_is_stream(const char *bytes, size_t length)
{
    uint64_t at = HF_BINARY_HEAD;
    bool whole;
    hf_frame f;

    if (length < at ||
        hf_frame_next(bytes, at, length, &f, &whole, NULL) != HF_OK || !whole ||
        f.type != HF_FRAME_ABOUT)
        return false;
    at += sizeof(f) + f.length;
    return hf_frame_next(bytes, at, length, &f, &whole, NULL) == HF_OK &&
           whole && f.type == HF_FRAME_PIECE;
}

hf_status hf_stream_read_about(const char *bytes, size_t length,
                               hf_stream_about *ret, uint64_t *ret_skipped,
                               hf_error *err)
{
    hf_about a;

    if (length < sizeof(a))
        return hf_fail_byte(err, 0, "the description is too short");
    memcpy(&a, bytes, sizeof(a));
    if (a.time_unit >= HF_TIME_UNIT_COUNT ||
        (a.name_length != UINT64_MAX &&
         (a.name_length > length ||
          hf_padded(sizeof(a) + a.name_length) != length)))
        return hf_fail_byte(err, 0, "the description is malformed");
    *ret = (hf_stream_about){.time_unit = (hf_time_unit)a.time_unit,
                             .unique_values = a.flags & HF_ABOUT_UNIQUE};
    if (a.name_length != UINT64_MAX)
        ret->name = (hf_str){bytes + sizeof(a), (size_t)a.name_length};
    *ret_skipped = a.n_skipped;
    return HF_OK;
}

hf_status hf_stream_read_piece(const char *bytes, size_t length,
                               hf_history **ret, hf_error *err)
{
    hf_history *piece = NULL;
    hf_status st;

    st = hf_binary_read_piece(bytes, length, &piece, err);
    if (st == HF_OK && piece->cut_off)
        st = hf_fail_byte(err, 0, "a piece is not whole");
    if (st == HF_OK && (piece->cert.order_first || piece->cert.serial))
        st = hf_fail_byte(err, 0, "a piece has an order of its own");
    if (st != HF_OK) {
        hf_history_free(piece);
        return st;
    }
    *ret = piece;
    return HF_OK;
}

/* What was said of a place in the payload is one in the file. */
static hf_status placed(hf_error *err, uint64_t at, hf_status st)
{
    if (st != HF_OK && err && err->byte != HF_NO_PLACE)
        err->byte += at;
    return st;
}

static hf_status take_about(stream_reader *r, uint64_t at, uint64_t length)
{
    hf_stream_about a;
    uint64_t skipped;
    hf_status st = hf_stream_read_about(r->bytes + at, (size_t)length, &a,
                                        &skipped, r->err);

    if (st != HF_OK)
        return placed(r->err, at, st);
    hf_builder_time_unit(r->b, a.time_unit);
    hf_builder_unique_values(r->b, a.unique_values);
    if (skipped > 0)
        hf_builder_skip(r->b, skipped);
    if (a.name.ptr)
        hf_builder_name(r->b, a.name.ptr, a.name.len);
    return HF_OK;
}

static hf_status take_piece(stream_reader *r, uint64_t at, uint64_t length)
{
    hf_history *piece = NULL;
    hf_status st =
        hf_stream_read_piece(r->bytes + at, (size_t)length, &piece, r->err);

    if (st != HF_OK)
        return placed(r->err, at, st);
    r->n_txns += piece->n_txns;
    r->n_ops += piece->n_ops;
    hf_builder_append(r->b, piece);
    hf_history_free(piece);
    return HF_OK;
}

static hf_status take_end(stream_reader *r, uint64_t at, uint64_t length)
{
    hf_end end;

    r->ended = true;
    if (length != sizeof(end))
        return hf_fail_byte(r->err, at, "the end mark has a wrong length");
    memcpy(&end, r->bytes + at, sizeof(end));
    if (end.n_txns != r->n_txns || end.n_ops != r->n_ops)
        return hf_fail_byte(r->err, at, "the end mark counts differ");
    if (at + length != r->length)
        return hf_fail_byte(r->err, at + length,
                            "there is something after the end mark");
    return HF_OK;
}

static hf_status take_frame(stream_reader *r, const hf_frame *f, uint64_t at)
{
    if (!hf_checksum_holds(r->bytes + at, (size_t)f->length, f->checksum))
        return hf_fail_byte(r->err, at, "a frame's checksum is wrong");
    if (f->type == HF_FRAME_ABOUT)
        return take_about(r, at, f->length);
    if (f->type == HF_FRAME_PIECE)
        return take_piece(r, at, f->length);
    if (f->type == HF_FRAME_END)
        return take_end(r, at, f->length);
    return hf_fail_byte(r->err, at,
                        "expected a piece, found a frame of type %u",
                        (unsigned)f->type);
}

static hf_status take_all(stream_reader *r)
{
    uint64_t at = HF_BINARY_HEAD;
    hf_status st = HF_OK;

    while (st == HF_OK && !r->ended && !hf_builder_failed(r->b)) {
        hf_frame f;
        bool whole;

        st = hf_frame_next(r->bytes, at, r->length, &f, &whole, r->err);
        if (st != HF_OK || !whole)
            break;
        st = take_frame(r, &f, at + sizeof(f));
        at += sizeof(f) + f.length;
        if (st == HF_OK && r->budget && hf_budget_look(r->budget))
            st = hf_fail(r->err, HF_ERR_LIMIT, "%s",
                         hf_budget_reason(r->budget));
        hf_budget_progress(r->budget, "reading", at, r->length);
    }
    return st;
}

hf_status hf_binary_read_stream(const char *bytes, size_t length,
                                hf_budget *budget, hf_history **ret_h,
                                hf_error *err)
{
    stream_reader r = {.bytes = bytes,
                       .length = length,
                       .budget = budget,
                       .b = hf_builder_new(),
                       .err = err};
    hf_history *h = NULL;
    hf_status st;

    hf_builder_set_budget(r.b, budget);
    hf_builder_format(r.b, "binary");
    st = take_all(&r);
    if (st != HF_OK) {
        hf_builder_free(r.b);
        return st;
    }
    st = hf_builder_finish(r.b, &h, err);
    if (st != HF_OK)
        return st;
    h->cut_off = !r.ended;
    *ret_h = h;
    return HF_OK;
}

/* pieces.c: a native history, read one piece after the other. */
#include "history/pieces.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "history/binary.h"
#include "history/binary_layout.h"
#include "history/binary_stream.h"
#include "history/skim.h"
#include "history/text.h"

#define READ_BYTES ((size_t)256 << 10)
/* Of text in one piece: more is not faster. */
#define LINES_BYTES ((size_t)1 << 20)

struct hf_pieces {
    int fd;
    bool grows, ended, at_end; /* at_end: of what is there now */
    hf_pieces_kind kind;
    HF_VEC(char) buffer;
    size_t at;      /* what is before is done */
    uint64_t first; /* place of buffer.at[0] in the input */
    uint64_t line;
    uint64_t n_txns, n_ops;
    bool unique, headed;
    char name[HF_PIECES_NAME];
    hf_time_unit unit; /* of text: said by its first line */
};

hf_pieces *hf_pieces_new(int fd, bool grows)
{
    hf_pieces *p = HF_NEW(hf_pieces);

    p->fd = fd;
    p->grows = grows;
    p->line = 1;
    p->unit = HF_TIME_UNIT_NS;
    return p;
}

void hf_pieces_free(hf_pieces *p)
{
    if (!p)
        return;
    hf_vec_release(&p->buffer);
    hf_free(p);
}

bool hf_pieces_ended(const hf_pieces *p)
{
    return p->ended;
}

uint64_t hf_pieces_bytes(const hf_pieces *p)
{
    return p->first + p->buffer.n;
}

bool hf_pieces_cut_off(const hf_pieces *p)
{
    return p->at < p->buffer.n;
}

bool hf_pieces_unique(const hf_pieces *p)
{
    return p->unique;
}

const char *hf_pieces_name(const hf_pieces *p)
{
    return p->name;
}

static void take_name(hf_pieces *p, hf_str name)
{
    size_t n = name.len < sizeof p->name ? name.len : sizeof p->name - 1;

    if (n > 0)
        memcpy(p->name, name.ptr, n);
    p->name[n] = '\0';
}

/* ---- bytes --------------------------------------------------------------- */

static void drop_done(hf_pieces *p)
{
    if (p->at == 0 || p->at < p->buffer.n / 2)
        return;
    memmove(p->buffer.at, p->buffer.at + p->at, p->buffer.n - p->at);
    p->buffer.n -= p->at;
    p->first += p->at;
    p->at = 0;
}

/* Some more; at_end: there is nothing now. */
static hf_status read_more(hf_pieces *p, hf_error *err)
{
    ssize_t n;

    drop_done(p);
    hf_vec_reserve(&p->buffer, READ_BYTES);
    do {
        n = read(p->fd, p->buffer.at + p->buffer.n, READ_BYTES);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN)
        return hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
    p->at_end = n <= 0;
    if (n > 0)
        p->buffer.n += (size_t)n;
    return HF_OK;
}

/* At least n bytes from `at` on, if they are there. */
static hf_status want(hf_pieces *p, uint64_t n, hf_error *err)
{
    hf_status st = HF_OK;

    p->at_end = false;
    while (st == HF_OK && p->buffer.n - p->at < n && !p->at_end)
        st = read_more(p, err);
    return st;
}

static bool has(const hf_pieces *p, uint64_t n)
{
    return p->buffer.n - p->at >= n;
}

/* Nothing more for now; for ever, if it does not grow. */
static hf_status no_more(hf_pieces *p)
{
    p->ended = !p->grows;
    return HF_OK;
}

/* ---- binary -------------------------------------------------------------- */

static hf_status take_end(hf_pieces *p, const char *payload, uint64_t length,
                          hf_error *err)
{
    hf_end end;

    p->ended = true;
    if (length != sizeof(end))
        return hf_fail_byte(err, 0, "the end mark has a wrong length");
    memcpy(&end, payload, sizeof(end));
    if (end.n_txns != p->n_txns || end.n_ops != p->n_ops)
        return hf_fail_byte(err, 0, "the end mark counts differ");
    return HF_OK;
}

static hf_status take_frame(hf_pieces *p, const hf_frame *f, hf_history **ret,
                            hf_error *err)
{
    const char *payload = p->buffer.at + p->at + sizeof(*f);
    hf_stream_about about;
    uint64_t skipped;
    hf_status st;

    if (!hf_checksum_holds(payload, (size_t)f->length, f->checksum))
        return hf_fail_byte(err, 0, "a frame's checksum is wrong");
    switch (f->type) {
    case HF_FRAME_ABOUT:
        st = hf_stream_read_about(payload, (size_t)f->length, &about, &skipped,
                                  err);
        p->unique = st == HF_OK && about.unique_values;
        if (st == HF_OK)
            take_name(p, about.name);
        return st;
    case HF_FRAME_PIECE:
        st = hf_stream_read_piece(payload, (size_t)f->length, ret, err);
        if (st == HF_OK) {
            p->n_txns += (*ret)->n_txns;
            p->n_ops += (*ret)->n_ops;
        }
        return st;
    case HF_FRAME_END:
        return take_end(p, payload, f->length, err);
    default:
        return hf_fail_byte(err, 0,
                            "expected a piece, found a frame of type %u",
                            (unsigned)f->type);
    }
}

/* The frame at `at`; *ret_whole: it is all there. */
static hf_status next_frame(hf_pieces *p, hf_frame *f, bool *ret_whole,
                            hf_error *err)
{
    hf_status st = want(p, sizeof(*f), err);

    *ret_whole = false;
    if (st != HF_OK || !has(p, sizeof(*f)))
        return st;
    memcpy(f, p->buffer.at + p->at, sizeof(*f));
    if (f->magic == HF_FRAME_MAGIC && f->length < (uint64_t)1 << 48)
        st = want(p, sizeof(*f) + f->length, err);
    if (st == HF_OK)
        st = hf_frame_next(p->buffer.at + p->at, 0, p->buffer.n - p->at, f,
                           ret_whole, err);
    return st;
}

static hf_status next_binary(hf_pieces *p, hf_history **ret, hf_error *err)
{
    hf_status st = HF_OK;

    while (st == HF_OK && !*ret && !p->ended) {
        uint64_t place = p->first + p->at;
        bool whole;
        hf_frame f;

        st = next_frame(p, &f, &whole, err);
        if (st == HF_OK && !whole)
            return no_more(p);
        place = p->first + p->at;
        if (st == HF_OK) {
            st = take_frame(p, &f, ret, err);
            p->at += sizeof(f) + (size_t)f.length;
        }
        if (st != HF_OK && err && err->byte != HF_NO_PLACE)
            err->byte += place;
    }
    return st;
}

/* ---- text ---------------------------------------------------------------- */

static uint64_t count_lines(const char *text, size_t n)
{
    uint64_t lines = 0;

    for (const char *end = text + n; (text = memchr(text, '\n', end - text));
         text++)
        lines++;
    return lines;
}

/* Whole lines that are there, some megabyte of them; all, at the end. */
static size_t lines_at(const hf_pieces *p)
{
    size_t n = p->buffer.n - p->at;
    const char *end;

    if (p->at_end && !p->grows)
        return n;
    end = n > 0 ? memrchr(p->buffer.at + p->at, '\n', n) : NULL;
    return end ? (size_t)(end + 1 - (p->buffer.at + p->at)) : 0;
}

static hf_status make_lines(hf_pieces *p, size_t n, hf_history **ret,
                            hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_status st;

    hf_builder_format(b, "native");
    hf_builder_time_unit(b, p->unit); /* the header may say otherwise */
    st = hf_text_read_lines(p->buffer.at + p->at, n, p->line, b, err);
    if (st != HF_OK) {
        hf_builder_free(b);
        return st;
    }
    p->line += count_lines(p->buffer.at + p->at, n);
    p->at += n;
    st = hf_builder_finish(b, ret, err);
    if (st != HF_OK || p->headed)
        return st;
    p->headed = true;
    p->unique = (*ret)->unique_values;
    p->unit = (*ret)->time_unit;
    if ((*ret)->name != HF_NONE)
        take_name(p, hf_string(*ret, (*ret)->name));
    return HF_OK;
}

static hf_status next_lines(hf_pieces *p, hf_history **ret, hf_error *err)
{
    hf_status st = want(p, LINES_BYTES, err);
    size_t n;

    if (st != HF_OK)
        return st;
    while (!p->at_end && lines_at(p) == 0 && st == HF_OK)
        st = read_more(p, err); /* one long line */
    n = lines_at(p);
    if (st != HF_OK || n == 0)
        return st != HF_OK ? st : no_more(p);
    return make_lines(p, n, ret, err);
}

/* ---- both ---------------------------------------------------------------- */

hf_status hf_pieces_look(hf_pieces *p, hf_pieces_kind *ret, hf_error *err)
{
    hf_status st = HF_OK;
    bool whole = false;
    hf_frame f;

    *ret = p->kind;
    if (p->kind != HF_PIECES_EMPTY)
        return HF_OK;
    st = want(p, 1, err);
    if (st != HF_OK || !has(p, 1))
        return st;
    if (p->buffer.at[p->at] != HF_BINARY_MAGIC[0]) {
        *ret = p->kind = HF_PIECES_LINES;
        return HF_OK;
    }
    st = want(p, HF_BINARY_HEAD + 4096, err);
    if (st != HF_OK || !has(p, HF_BINARY_HEAD))
        return st;
    p->kind = HF_PIECES_OTHER;
    if (memcmp(p->buffer.at, HF_BINARY_MAGIC, HF_BINARY_MAGIC_LENGTH) == 0) {
        uint64_t second = HF_BINARY_HEAD;

        st = hf_frame_next(p->buffer.at, second, p->buffer.n, &f, &whole, err);
        if (st == HF_OK && whole)
            second += sizeof(f) + f.length;
        if (st == HF_OK && whole && p->buffer.n - second >= sizeof(f)) {
            memcpy(&f, p->buffer.at + second, sizeof(f));
            if (f.type == HF_FRAME_PIECE || f.type == HF_FRAME_END)
                p->kind = HF_PIECES_STREAM;
        } else if (st == HF_OK) {
            p->kind = p->grows ? HF_PIECES_EMPTY : HF_PIECES_OTHER;
        }
    }
    if (p->kind == HF_PIECES_STREAM)
        p->at = HF_BINARY_HEAD;
    *ret = p->kind;
    return st;
}

hf_status hf_pieces_next(hf_pieces *p, hf_history **ret, hf_error *err)
{
    hf_pieces_kind kind;
    hf_status st = hf_pieces_look(p, &kind, err);

    *ret = NULL;
    if (st != HF_OK || p->ended)
        return st;
    switch (kind) {
    case HF_PIECES_STREAM:
        return next_binary(p, ret, err);
    case HF_PIECES_LINES:
        return next_lines(p, ret, err);
    case HF_PIECES_EMPTY:
        return no_more(p);
    default:
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "this is not a history in pieces");
    }
}

/* What comes next begins so many bytes later. */
static hf_status skip(hf_pieces *p, uint64_t n, hf_error *err)
{
    if (p->buffer.n - p->at >= n) {
        p->at += (size_t)n;
        return HF_OK;
    }
    p->first += p->at + n;
    p->at = p->buffer.n = 0;
    return lseek(p->fd, (off_t)p->first, SEEK_SET) >= 0
               ? HF_OK
               : hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
}

hf_status hf_pieces_skim(hf_pieces *p, hf_history **ret, hf_error *err)
{
    hf_pieces_kind kind;
    hf_status st = hf_pieces_look(p, &kind, err);
    uint64_t bytes, ops;
    struct stat about;

    if (st == HF_OK && kind == HF_PIECES_STREAM && !p->ended && !p->grows &&
        fstat(p->fd, &about) == 0 && S_ISREG(about.st_mode)) {
        *ret = hf_skim_piece(p->fd, p->first + p->at, (uint64_t)about.st_size,
                             &bytes, &ops);
        if (*ret) {
            p->n_txns += (*ret)->n_txns;
            p->n_ops += ops;
            return skip(p, bytes, err);
        }
    }
    return hf_pieces_next(p, ret, err);
}

hf_status hf_pieces_next_bytes(hf_pieces *p, hf_str *ret, hf_error *err)
{
    hf_status st = want(p, 1, err);

    *ret = (hf_str){p->buffer.at + p->at, p->buffer.n - p->at};
    p->at = p->buffer.n;
    return st != HF_OK || ret->len > 0 ? st : no_more(p);
}

/* skim.c: the sessions of a piece, without its operations.
 *
 * Three reads: the heads and counts at its beginning; strings and the names of
 * sessions, which come first; types of values and the columns of transactions,
 * which stand side by side.  O(strings + values + transactions) bytes, though a
 * value is one byte here.
 */
#include "history/skim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "history/binary.h"
#include "history/builder_internal.h"

#define HEAD_BYTES 4096u
/* Columns, as they are numbered in binary_layout.c. */
#define COLUMN_SESSION_NAME 2
#define COLUMN_VALUE_TYPE 10
#define COLUMN_TXN_SESSION 11
#define COLUMN_TXN_BEGIN 14

typedef struct skim {
    int fd;
    uint64_t columns; /* where the first column is, in the file */
    uint64_t at[HF_COLUMN_COUNT + 1]; /* of each, from there */
    hf_batch b;
    hf_history *h;
} skim;

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got =
            pread(fd, (char *)to + done, n - done, (off_t)(at + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool is_frame(const hf_frame *f, const char *bytes)
{
    return f->magic == HF_FRAME_MAGIC && f->length % 8 == 0 &&
           hf_checksum_holds(bytes, 24, f->head_checksum);
}

/* The counts of the only batch: after the mark and the description. */
static bool find_batch(skim *s, uint64_t at, uint64_t size, uint64_t *ret_bytes)
{
    char head[HEAD_BYTES];
    size_t n = size - at < HEAD_BYTES ? (size_t)(size - at) : HEAD_BYTES;
    uint64_t place = sizeof(hf_frame) + HF_BINARY_HEAD, end;
    hf_frame f;

    if (n < sizeof(f) || !read_at(s->fd, at, head, n))
        return false;
    memcpy(&f, head, sizeof(f));
    if (!is_frame(&f, head) || f.type != HF_FRAME_PIECE ||
        f.length > size - at - sizeof(f))
        return false;
    end = sizeof(f) + f.length;
    *ret_bytes = end;
    for (;;) {
        if (place + sizeof(f) + sizeof(s->b) > n)
            return false;
        memcpy(&f, head + place, sizeof(f));
        if (!is_frame(&f, head + place) || f.length > end - place - sizeof(f))
            return false;
        if (f.type == HF_FRAME_BATCH)
            break;
        if (f.type != HF_FRAME_ABOUT)
            return false;
        place += sizeof(f) + f.length;
    }
    memcpy(&s->b, head + place + sizeof(f), sizeof(s->b));
    s->columns = at + place + sizeof(f) + sizeof(s->b);
    /* it is the only one: nothing comes after it but the end mark */
    return hf_batch_bytes(&s->b) == f.length &&
           place + sizeof(f) + f.length + sizeof(f) + sizeof(hf_end) == end;
}

static void place_columns(skim *s)
{
    uint64_t at = 0;

    for (int i = 0; i < HF_COLUMN_COUNT; i++) {
        const hf_column *c = &hf_columns[i];

        s->at[i] = at;
        if (hf_batch_has(&s->b, c))
            at += hf_padded(hf_batch_count(&s->b, c) * c->unit);
    }
    s->at[HF_COLUMN_COUNT] = at;
}

/* Columns from `first` up to `last`; to be freed. */
static char *read_columns(const skim *s, int first, int last)
{
    size_t n = (size_t)(s->at[last + 1] - s->at[first]);
    char *bytes = hf_alloc(n + 1);

    if (read_at(s->fd, s->columns + s->at[first], bytes, n))
        return bytes;
    hf_free(bytes);
    return NULL;
}

static bool take_strings(skim *s)
{
    const hf_batch *b = &s->b;
    hf_history *h = s->h;
    char *bytes = read_columns(s, HF_COLUMN_STRING_LENGTH, COLUMN_SESSION_NAME);
    bool fine;

    if (!bytes)
        return false;
    h->string_first = HF_NEW_ARRAY(uint64_t, (size_t)b->n_strings + 1);
    h->string_bytes = hf_alloc((size_t)b->string_bytes + 1);
    h->session_name = HF_NEW_ARRAY(hf_string_id, (size_t)b->n_sessions + 1);
    h->string_first[0] = 0;
    for (uint32_t i = 0; i < b->n_strings; i++) {
        uint32_t n;

        memcpy(&n, bytes + 4 * (size_t)i, 4);
        h->string_first[i + 1] = h->string_first[i] + n;
    }
    memcpy(h->string_bytes, bytes + s->at[1], (size_t)b->string_bytes);
    memcpy(h->session_name, bytes + s->at[COLUMN_SESSION_NAME],
           (size_t)b->n_sessions * sizeof(*h->session_name));
    hf_free(bytes);
    fine = h->string_first[b->n_strings] == b->string_bytes;
    for (uint32_t i = 0; i < b->n_sessions; i++)
        fine &=
            h->session_name[i] == HF_NONE || h->session_name[i] < b->n_strings;
    h->n_strings = b->n_strings;
    h->n_sessions = b->n_sessions;
    return fine;
}

static bool has_rows(const char *types, uint32_t n)
{
    return n > 0 && memchr(types, HF_ROW, n) != NULL;
}

static bool take_txns(skim *s)
{
    const hf_batch *b = &s->b;
    hf_history *h = s->h;
    char *bytes = read_columns(s, COLUMN_VALUE_TYPE, COLUMN_TXN_BEGIN);
    const uint64_t first = s->at[COLUMN_VALUE_TYPE];
    bool fine;

    if (!bytes)
        return false;
    h->txn_session = HF_NEW_ARRAY(hf_session_id, (size_t)b->n_txns + 1);
    h->txn_begin = HF_NEW_ARRAY(uint64_t, (size_t)b->n_txns + 1);
    h->op_first = HF_NEW_ZEROED(hf_op_id, (size_t)b->n_txns + 1);
    memcpy(h->txn_session, bytes + (s->at[COLUMN_TXN_SESSION] - first),
           (size_t)b->n_txns * sizeof(*h->txn_session));
    memcpy(h->txn_begin, bytes + (s->at[COLUMN_TXN_BEGIN] - first),
           (size_t)b->n_txns * sizeof(*h->txn_begin));
    fine = !has_rows(bytes, b->n_values);
    hf_free(bytes);
    for (uint32_t i = 0; i < b->n_txns; i++)
        fine &= h->txn_session[i] < b->n_sessions &&
                h->txn_begin[i] != HF_TIME_NONE;
    h->n_txns = b->n_txns;
    return fine;
}

hf_history *hf_skim_piece(int fd, uint64_t at, uint64_t size,
                          uint64_t *ret_bytes, uint64_t *ret_ops)
{
    skim s = {.fd = fd};

    if (at > size || !find_batch(&s, at, size, ret_bytes) ||
        !(s.b.columns & HF_HAS_TIMES) || (s.b.columns & HF_HAS_INITIAL))
        return NULL;
    place_columns(&s);
    s.h = HF_NEW(hf_history);
    s.h->name = HF_NONE;
    if (!take_strings(&s) || !take_txns(&s)) {
        hf_history_free(s.h);
        return NULL;
    }
    hf_history_derive(s.h);
    *ret_ops = s.b.n_ops;
    return s.h;
}

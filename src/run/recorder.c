/* recorder.c: the thread that writes, and what may be written when.
 *
 * Clients hand over logs of finished transactions.  Some of what a finished
 * transaction read was written by transactions that are not finished, or not
 * handed over; a file with the one and without the other would show a read of
 * a value that nobody wrote, should we be killed now.  So a piece is closed:
 *
 *   - a tag names its client and how many tags that client used before, and
 *     clients hand over in order: tag (c, n) is in the file if n is not above
 *     the last tag of c's last written transaction.
 *   - an absent row has no tag.  It may have been deleted by a transaction
 *     that began before the read ended: deletes are made known before they are
 *     sent, and a transaction that found a row absent waits for those of this
 *     row.
 *
 * Of what is there the largest closed part is taken (a greatest fixed point,
 * so that transactions that read from each other go together), per client a
 * prefix.  What waits goes with a later piece; a transaction waits no longer
 * than the others that it read from take to end.  If so much waits that memory
 * would grow, clients wait as well, between transactions: the one that keeps
 * the others waiting holds its locks alone and comes to its end, at the latest
 * by the deadline of its call.  O(operations waiting) for each round; rounds
 * are few, and the more is waiting the rarer they are.
 */
#include "run/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "history/binary_stream.h"
#include "history/text.h"
#include "run/log.h"
#include "run/tag.h"

#define PIECE_EVERY_NS 100000000
#define INITIAL_KEYS 8192u
/* Empty chunks kept for each client, and how large one may be for that. */
#define SPARE_EACH 8u
#define SPARE_BYTES ((size_t)64 << 10)

typedef HF_VEC(hf_chosen) chosen_list;

/* ---- the closed part ----------------------------------------------------- */

/* Per log: how many of its waiting transactions are taken, and what the file
 * will have then. */
typedef struct part {
    chosen_list waiting;
    size_t taken;
    uint32_t available;
} part;

static void list_waiting(const hf_log *l, part *p)
{
    for (const hf_chunk *c = l->pending; c; c = c->next)
        for (size_t i = c->taken; i < c->txns.n; i++)
            hf_vec_push(&p->waiting, (hf_chosen){l, c, &c->txns.at[i]});
}

static void take_up_to(const hf_log *l, part *p, size_t n)
{
    p->taken = n;
    p->available = n > 0 ? p->waiting.at[n - 1].txn->counter : l->written;
}

static bool tag_is_there(const hf_recorder *r, const part *parts,
                         unsigned reader, int64_t tag)
{
    unsigned client = hf_tag_client(tag);
    uint32_t counter = hf_tag_counter(tag);

    return tag <= 0 || client == reader || client >= r->clients ||
           counter <= parts[client].available ||
           counter > atomic_load(&r->logs[client].issued);
}

/* Is a delete of this row still missing that the reader may have seen? */
static bool absence_is_there(const hf_recorder *r, const part *parts,
                             const hf_chosen *reader, const hf_log_op *read)
{
    uint64_t key = hf_log_key_hash(reader->chunk, read);
    uint64_t end = reader->txn->at.end;

    for (size_t i = 0; i < r->seen.n; i++)
        if (r->seen.at[i].key == key && r->seen.at[i].at <= end &&
            r->seen.at[i].client != reader->log->client)
            return false;
    for (unsigned l = 0; l < r->clients; l++)
        for (size_t i = parts[l].taken; i < parts[l].waiting.n; i++) {
            const hf_chosen *w = &parts[l].waiting.at[i];

            if (!w->txn->has_delete || w->txn->at.start > end ||
                l == reader->log->client)
                continue;
            for (uint32_t k = 0; k < w->txn->n_ops; k++) {
                const hf_log_op *op = &w->chunk->ops.at[w->txn->first_op + k];

                if ((op->kind & HF_OP_KIND_MASK) == HF_OP_DELETE &&
                    hf_log_key_hash(w->chunk, op) == key)
                    return false;
            }
        }
    return true;
}

static bool op_is_closed(const hf_recorder *r, const part *parts,
                         const hf_chosen *w, const hf_log_op *op)
{
    hf_op_kind kind = (hf_op_kind)(op->kind & HF_OP_KIND_MASK);
    unsigned client = w->log->client;

    if (kind == HF_OP_READ && op->type == HF_LOG_TAG)
        return tag_is_there(r, parts, client, op->value);
    if (kind == HF_OP_READ && op->type == HF_LOG_NIL)
        return absence_is_there(r, parts, w, op);
    for (uint32_t i = 0; op->type == HF_LOG_LIST && i < op->n; i++)
        if (!tag_is_there(r, parts, client,
                          w->chunk->numbers.at[op->value + i]))
            return false;
    return true;
}

static bool is_closed(const hf_recorder *r, const part *parts,
                      const hf_chosen *w)
{
    for (uint32_t i = 0; i < w->txn->n_ops; i++)
        if (!op_is_closed(r, parts, w, &w->chunk->ops.at[w->txn->first_op + i]))
            return false;
    return true;
}

/* Takes less and less until what is taken needs nothing else. */
static void close_parts(const hf_recorder *r, part *parts)
{
    bool changed;

    do {
        changed = false;
        for (unsigned l = 0; l < r->n_logs; l++)
            for (size_t i = 0; i < parts[l].taken; i++)
                if (!is_closed(r, parts, &parts[l].waiting.at[i])) {
                    take_up_to(&r->logs[l], &parts[l], i);
                    changed = true;
                }
    } while (changed);
}

/* By begin, so that a file reads as it happened. */
static void merge(const hf_recorder *r, const part *parts, chosen_list *ret)
{
    size_t *at = HF_NEW_ZEROED(size_t, r->n_logs);

    for (;;) {
        const hf_chosen *best = NULL;
        unsigned from = 0;

        for (unsigned l = 0; l < r->n_logs; l++) {
            const hf_chosen *w = &parts[l].waiting.at[at[l]];

            if (at[l] < parts[l].taken &&
                (!best || w->txn->at.start < best->txn->at.start)) {
                best = w;
                from = l;
            }
        }
        if (!best)
            break;
        hf_vec_push(ret, *best);
        at[from]++;
    }
    hf_free(at);
}

/* ---- writing ------------------------------------------------------------- */

static void flush(hf_recorder *r)
{
    hf_error err;

    if (hf_out_flush(&r->out, &err) != HF_OK)
        atomic_store(&r->write_errno,
                     r->out.write_errno ? r->out.write_errno : EIO);
    atomic_store(&r->n_bytes, r->out.flushed);
}

static void write_piece(hf_recorder *r, const hf_history *h)
{
    pthread_mutex_lock(&r->file); /* rows that are loaded come from another */
    if (r->text)
        hf_text_write_piece(h, &r->out);
    else
        hf_stream_piece(&r->out, h);
    flush(r);
    r->n_txns += h->n_txns;
    r->n_ops += h->n_ops;
    pthread_mutex_unlock(&r->file);
    if (r->piece)
        r->piece(r->user, h);
}

static void write_chosen(hf_recorder *r, const chosen_list *chosen)
{
    hf_history *h = NULL;
    hf_error err;

    if (chosen->n == 0 || atomic_load(&r->write_errno) != 0)
        return;
    if (hf_piece_make(r, chosen->at, chosen->n, &h, &err) != HF_OK)
        HF_BUG(err.text);
    write_piece(r, h);
    hf_history_free(h);
}

/* Chunks that are written go in front of *done; returns their bytes. */
static size_t drop_written(hf_log *l, const part *p, hf_chunk **done)
{
    size_t left = p->taken, bytes = 0;

    l->written = p->available;
    while (l->pending) {
        hf_chunk *c = l->pending;
        size_t n = c->txns.n - c->taken;

        if (left < n) {
            c->taken += left;
            break;
        }
        left -= n;
        bytes += hf_chunk_bytes(c);
        l->pending = c->next;
        c->next = *done;
        *done = c;
    }
    if (!l->pending)
        l->pending_last = &l->pending;
    return bytes;
}

/* Clients get them again, so that they need not grow: some are kept, the rest
 * is freed. */
static void give_back(hf_recorder *r, hf_chunk *done)
{
    unsigned room;

    pthread_mutex_lock(&r->mutex);
    room = SPARE_EACH * r->n_logs - r->n_spare;
    pthread_mutex_unlock(&r->mutex);
    while (done) {
        hf_chunk *c = done;
        bool kept = room > 0 && hf_chunk_bytes(c) <= SPARE_BYTES;

        done = c->next;
        if (!kept) {
            hf_chunk_free(c);
            continue;
        }
        room--;
        hf_chunk_reset(c);
        pthread_mutex_lock(&r->mutex);
        c->next = r->spare;
        r->spare = c;
        r->n_spare++;
        pthread_mutex_unlock(&r->mutex);
    }
}

/* One piece of what is waiting, of `waiting` bytes; `all`: whatever it needs,
 * as nothing more will come. */
static void write_waiting(hf_recorder *r, size_t waiting, bool all)
{
    part *parts = HF_NEW_ZEROED(part, r->n_logs);
    chosen_list chosen = {0};
    hf_chunk *done = NULL;
    size_t bytes = 0;

    for (unsigned l = 0; l < r->n_logs; l++) {
        list_waiting(&r->logs[l], &parts[l]);
        take_up_to(&r->logs[l], &parts[l], parts[l].waiting.n);
    }
    if (!all)
        close_parts(r, parts);
    merge(r, parts, &chosen);
    write_chosen(r, &chosen);
    hf_vec_release(&chosen);
    for (unsigned l = 0; l < r->n_logs; l++) {
        bytes += drop_written(&r->logs[l], &parts[l], &done);
        hf_vec_release(&parts[l].waiting);
    }
    hf_free(parts);
    give_back(r, done);
    pthread_mutex_lock(&r->mutex);
    r->queued -= bytes;
    r->left = waiting - bytes;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->mutex);
}

/* Under the mutex: what was handed over is now ours. */
static void take_handed(hf_recorder *r)
{
    for (unsigned i = 0; i < r->n_logs; i++) {
        hf_log *l = &r->logs[i];

        if (!l->first)
            continue;
        *l->pending_last = l->first;
        l->pending_last = l->last;
        l->first = NULL;
        l->last = &l->first;
    }
    r->seen.n = 0;
    for (size_t i = 0; i < r->deleting.n; i++)
        hf_vec_push(&r->seen, r->deleting.at[i]);
    r->full = false;
}

static struct timespec next_time(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += PIECE_EVERY_NS;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void *work(void *user)
{
    hf_recorder *r = user;
    bool closing = false;

    while (!closing) {
        struct timespec until = next_time();
        size_t waiting;
        int late = 0;

        pthread_mutex_lock(&r->mutex);
        while (!r->full && !r->closing && late == 0)
            late = pthread_cond_timedwait(&r->work, &r->mutex, &until);
        take_handed(r);
        closing = r->closing;
        waiting = r->queued;
        pthread_mutex_unlock(&r->mutex);
        write_waiting(r, waiting, closing);
    }
    return NULL;
}

/* ---- life ---------------------------------------------------------------- */

static void init_logs(hf_recorder *r)
{
    r->n_logs = r->clients + 2;
    r->logs = HF_NEW_ZEROED(hf_log, r->n_logs);
    for (unsigned i = 0; i < r->n_logs; i++) {
        hf_log *l = &r->logs[i];

        l->recorder = r;
        l->client = i;
        l->open = HF_NEW(hf_chunk);
        l->last = &l->first;
        l->pending_last = &l->pending;
    }
}

static void write_head(hf_recorder *r, const char *name)
{
    hf_stream_about about = {.time_unit = HF_TIME_UNIT_NS,
                             .unique_values = true,
                             .name = name ? hf_str_of(name) : (hf_str){0}};
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (!r->text) {
        hf_stream_begin(&r->out, &about);
        hf_builder_free(b);
        return;
    }
    hf_builder_time_unit(b, about.time_unit);
    hf_builder_unique_values(b, true);
    if (name)
        hf_builder_name(b, name, strlen(name));
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        HF_BUG(err.text);
    hf_text_write_head(h, &r->out);
    hf_history_free(h);
}

static hf_status open_file(hf_recorder *r, bool replace, hf_error *err)
{
    char quoted[160];
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL);

    r->fd = open(r->path, flags, 0666);
    if (r->fd >= 0)
        return HF_OK;
    hf_quote(quoted, sizeof(quoted), r->path, strlen(r->path));
    if (errno == EEXIST)
        return hf_fail(err, HF_ERR_IO, "history \"%s\" is there already",
                       quoted);
    return hf_fail(err, HF_ERR_IO, "could not write history \"%s\": %s", quoted,
                   strerror(errno));
}

static void release(hf_recorder *r)
{
    for (unsigned i = 0; i < r->n_logs; i++) {
        hf_log *l = &r->logs[i];

        hf_chunk_free(l->open);
        while (l->pending) {
            hf_chunk *c = l->pending;

            l->pending = c->next;
            hf_chunk_free(c);
        }
    }
    while (r->spare) {
        hf_chunk *c = r->spare;

        r->spare = c->next;
        hf_chunk_free(c);
    }
    hf_vec_release(&r->deleting);
    hf_vec_release(&r->seen);
    hf_builder_free(r->initial);
    hf_free(r->logs);
    hf_free(r->path);
    pthread_mutex_destroy(&r->mutex);
    pthread_mutex_destroy(&r->file);
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->room);
    hf_free(r);
}

static char *copy(const char *text)
{
    size_t n = strlen(text) + 1;

    return memcpy(hf_alloc(n), text, n);
}

hf_status hf_recorder_open(const hf_recorder_options *o, hf_recorder **ret,
                           hf_error *err)
{
    hf_recorder *r = HF_NEW(hf_recorder);
    pthread_condattr_t monotonic;
    hf_status st;

    r->clients = o->clients;
    r->text = o->text;
    r->label = o->label;
    r->piece = o->piece;
    r->user = o->user;
    r->path = copy(o->path);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_mutex_init(&r->file, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->work, &monotonic);
    pthread_cond_init(&r->room, NULL);
    pthread_condattr_destroy(&monotonic);
    st = open_file(r, o->replace, err);
    if (st != HF_OK) {
        release(r);
        return st;
    }
    hf_out_init_fd(&r->out, r->fd);
    write_head(r, o->name);
    flush(r); /* readable from now on */
    init_logs(r);
    if (pthread_create(&r->thread, NULL, work, r) != 0)
        st = hf_fail(err, HF_ERR_IO, "could not start a thread");
    r->has_thread = st == HF_OK;
    if (st != HF_OK) {
        hf_recorder_totals none;
        hf_error ignored;

        hf_status closed = hf_recorder_close(r, true, &none, &ignored);

        (void)closed;
        return st;
    }
    *ret = r;
    return HF_OK;
}

static hf_status end_file(hf_recorder *r, hf_error *err)
{
    int code = atomic_load(&r->write_errno);
    char quoted[160];
    hf_error ignored;

    if (code == 0 && !r->text)
        hf_stream_end(&r->out, r->n_txns, r->n_ops);
    if (hf_out_flush(&r->out, &ignored) != HF_OK && code == 0)
        code = r->out.write_errno;
    atomic_store(&r->n_bytes, r->out.flushed);
    hf_out_release(&r->out);
    if (close(r->fd) != 0 && code == 0)
        code = errno;
    if (code == 0)
        return HF_OK;
    return hf_fail(err, HF_ERR_IO, "could not write history \"%s\": %s",
                   hf_quote(quoted, sizeof(quoted), r->path, strlen(r->path)),
                   strerror(code));
}

hf_status hf_recorder_close(hf_recorder *r, bool remove,
                            hf_recorder_totals *ret, hf_error *err)
{
    hf_status st;

    *ret = (hf_recorder_totals){0};
    if (!r)
        return HF_OK;
    for (unsigned i = 0; i < r->n_logs; i++)
        hf_log_flush(&r->logs[i]);
    pthread_mutex_lock(&r->mutex);
    r->closing = true;
    pthread_cond_signal(&r->work);
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->mutex);
    if (r->has_thread)
        pthread_join(r->thread, NULL);
    st = end_file(r, err);
    *ret = (hf_recorder_totals){r->n_txns, r->n_ops, atomic_load(&r->n_bytes)};
    if (remove) {
        (void)unlink(r->path);
        st = HF_OK;
    }
    release(r);
    return st;
}

bool hf_recorder_failed(const hf_recorder *r)
{
    return atomic_load(&r->write_errno) != 0;
}

uint64_t hf_recorder_bytes(const hf_recorder *r)
{
    return atomic_load(&r->n_bytes);
}

hf_log *hf_recorder_log(hf_recorder *r, unsigned client)
{
    HF_ASSERT(client < r->n_logs);
    return &r->logs[client];
}

/* ---- what is not a client's ---------------------------------------------- */

void hf_recorder_initial(hf_recorder *r, const char *table,
                         const hf_sql_value *key, uint32_t n)
{
    hf_chunk *scratch = r->logs[r->n_logs - 1].open;
    size_t used = scratch->bytes.n;
    hf_log_op op = {0};

    if (!r->initial)
        r->initial = hf_builder_new();
    hf_log_put_key(scratch, &(hf_log_key){table, key, n}, &op);
    hf_piece_initial(r->initial, scratch, &op);
    scratch->bytes.n = used;
    if (++r->n_initial == INITIAL_KEYS)
        hf_recorder_loaded(r);
}

void hf_recorder_loaded(hf_recorder *r)
{
    hf_history *h = NULL;
    hf_error err;

    if (!r->initial || r->n_initial == 0)
        return;
    if (hf_builder_finish(r->initial, &h, &err) != HF_OK)
        HF_BUG(err.text);
    r->initial = NULL;
    r->n_initial = 0;
    if (atomic_load(&r->write_errno) == 0)
        write_piece(r, h);
    hf_history_free(h);
}

void hf_recorder_note(hf_recorder *r, const char *text, uint64_t begin,
                      uint64_t end)
{
    hf_log *l = &r->logs[r->clients];

    hf_log_begin(l, begin);
    hf_log_sql(l, text, NULL, 0, NULL, false, (hf_span){begin, end});
    hf_log_end(l, HF_ABORTED, end);
    hf_log_flush(l);
}

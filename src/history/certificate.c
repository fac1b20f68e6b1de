/* certificate.c: a certificate against its history.
 *
 * A version order names the writers of a key in an order of its own, so that
 * looking each of them up in the history would miss the cache every time.
 * Instead the writers of every key are gathered in one pass over the
 * operations.  They come out in the order of the file, from which the version
 * order seldom strays far: each entry is searched for around the place of the
 * one before it, in steps that double.  O(operations + entries * log of how
 * far they stray).
 *
 * Three things may say which of two writers of one key came first: a version
 * order, the serial order, commit times.  Each pair of the three is compared,
 * neighbour by neighbour: linear in the entries, and for the serial order
 * against times in the operations.
 */
#include "history/certificate.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "history/extra.h"
#include "history/promises.h"

/* The transactions that write key k, ascending, are txn[first[k]] up to
 * txn[last[k] - 1].  One that writes it twice is there twice. */
typedef struct writers {
    uint64_t *first, *last; /* by key; one more for operations without a key */
    hf_txn_id *txn;
    uint8_t *listed; /* by place in txn: a version order has it */
} writers;

#define INSTALLS                                                               \
    (1u << HF_OP_WRITE | 1u << HF_OP_APPEND | 1u << HF_OP_INSERT |             \
     1u << HF_OP_DELETE | 1u << HF_OP_INCREMENT)

/* 1 if the operation installs a version: computed, not decided, for reads and
 * writes come in no order that could be foreseen. */
static inline uint32_t installs(uint8_t kind)
{
    return (INSTALLS >> (kind & HF_OP_KIND_MASK)) &
           ((kind & HF_OP_FAILED) == 0);
}

static inline hf_key_id place_of_key(const hf_history *h, hf_op_id op)
{
    return h->op_key[op] < h->n_keys ? h->op_key[op] : h->n_keys;
}

static writers gather_writers(const hf_history *h)
{
    size_t n = (size_t)h->n_keys + 1;
    writers w = {HF_NEW_ZEROED(uint64_t, n), HF_NEW_ZEROED(uint64_t, n), NULL,
                 NULL};
    uint64_t total = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        w.last[place_of_key(h, op)] += installs(h->op_kind[op]);
    for (hf_key_id k = 0; k <= h->n_keys; k++) {
        w.first[k] = total;
        total += w.last[k] + 1; /* room for a write that does not count */
        w.last[k] = w.first[k];
    }
    w.txn = HF_NEW_ARRAY(hf_txn_id, total);
    w.listed = HF_NEW_ZEROED(uint8_t, total);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_key_id k = place_of_key(h, op);

            w.txn[w.last[k]] = t;
            w.last[k] += installs(h->op_kind[op]);
        }
    return w;
}

static void release_writers(writers *w)
{
    hf_free(w->first);
    hf_free(w->last);
    hf_free(w->txn);
    hf_free(w->listed);
}

/* The first place of t among the places low .. high - 1, which ascend; `near`
 * is a guess.  high if it is not there. */
static uint64_t find_writer(const hf_txn_id *txn, uint64_t low, uint64_t high,
                            uint64_t near, hf_txn_id t)
{
    uint64_t from = near, to = near, step = 1;

    while (from > low && txn[from - 1] >= t) {
        to = from - 1;
        from = from - low > step ? from - step : low;
        step *= 2;
    }
    step = 1;
    while (to < high && txn[to] < t) {
        from = to + 1;
        to = high - to > step ? to + step : high;
        step *= 2;
    }
    while (from < to) { /* txn[from - 1] < t <= txn[to] */
        uint64_t middle = from + (to - from) / 2;

        if (txn[middle] < t)
            from = middle + 1;
        else
            to = middle;
    }
    return from < high && txn[from] == t ? from : high;
}

static hf_status contradiction(const hf_history *h, hf_txn_id t,
                               const char *what, hf_error *err)
{
    return hf_fail(err, HF_ERR_INPUT,
                   "the certificate contradicts the history: %s lists "
                   "transaction %lld, which %s",
                   what, (long long)hf_txn_label(h, t),
                   h->txn_outcome[t] == HF_ABORTED ? "aborted"
                                                   : "it lists already");
}

/* Every committed writer of a key that has an order is in it. */
static hf_status check_gaps(const hf_history *h, const writers *w,
                            hf_key_id key, hf_error *err)
{
    char name[HF_KEY_WORDS];

    for (uint64_t i = w->first[key]; i < w->last[key]; i++) {
        hf_txn_id t = w->txn[i];

        if (w->listed[i] || h->txn_outcome[t] != HF_COMMITTED ||
            (i > w->first[key] && w->txn[i - 1] == t))
            continue;
        return hf_fail(err, HF_ERR_INPUT,
                       "the certificate contradicts the history: the version "
                       "order of key %s leaves out transaction %lld, which "
                       "wrote it and committed; orders that may leave out "
                       "writers are announced by \"orders\":\"partial\" in "
                       "the header",
                       hf_key_words(h, key, name),
                       (long long)hf_txn_label(h, t));
    }
    return HF_OK;
}

static hf_status check_all_gaps(const hf_history *h, const writers *w,
                                hf_error *err)
{
    const hf_certificate *c = &h->cert;
    hf_status st = HF_OK;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys && st == HF_OK; k++)
        if (c->order_first[k] < c->order_first[k + 1])
            st = check_gaps(h, w, k, err);
    for (uint32_t i = 0; i < c->n_empty && st == HF_OK; i++)
        st = check_gaps(h, w, c->empty_order[i], err);
    return st;
}

static hf_status check_order(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;
    writers w = gather_writers(h);
    hf_status st = HF_OK;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys && st == HF_OK; k++) {
        uint64_t low = w.first[k], high = w.last[k], near = low;

        for (uint64_t i = c->order_first[k];
             i < c->order_first[k + 1] && st == HF_OK; i++) {
            hf_txn_id t = c->order_txn[i];
            uint64_t at = find_writer(w.txn, low, high, near, t);

            if (h->txn_outcome[t] == HF_ABORTED || (at < high && w.listed[at]))
                st = contradiction(h, t, "a version order", err);
            else if (at == high)
                st = hf_fail(err, HF_ERR_INPUT,
                             "the certificate contradicts the history: a "
                             "version order lists transaction %lld, which "
                             "does not write the key",
                             (long long)hf_txn_label(h, t));
            else
                w.listed[near = at] = 1;
        }
    }
    if (!h->partial_orders && !h->cut_off && st == HF_OK)
        st = check_all_gaps(h, &w, err);
    release_writers(&w);
    return st;
}

/* ---- the serial order ---------------------------------------------------- */

/* Nobody is missing, unless the file is only the beginning of one. */
static hf_status check_missing(const hf_history *h, const uint32_t *place,
                               hf_error *err)
{
    for (hf_txn_id t = 0; t < h->n_txns && !h->cut_off; t++)
        if (h->txn_outcome[t] == HF_COMMITTED && place[t] == 0)
            return hf_fail(err, HF_ERR_INPUT,
                           "the certificate contradicts the history: the "
                           "serial order leaves out transaction %lld, which "
                           "committed",
                           (long long)hf_txn_label(h, t));
    return HF_OK;
}

/* Versions of a key are not in the reverse of the serial order. */
static hf_status check_agreement(const hf_history *h, const uint32_t *place,
                                 hf_error *err)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys; k++) {
        hf_txn_id last = HF_NONE; /* the last one that has a place */

        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            hf_txn_id t = c->order_txn[i];

            if (place[t] == 0)
                continue;
            if (last != HF_NONE && place[last] > place[t])
                return hf_fail(err, HF_ERR_INPUT,
                               "the certificate contradicts itself: "
                               "transaction %lld is before %lld in a version "
                               "order, and behind it in the serial order",
                               (long long)hf_txn_label(h, last),
                               (long long)hf_txn_label(h, t));
            last = t;
        }
    }
    return HF_OK;
}

/* The serial order: no transaction twice, none that aborted. */
static hf_status check_serial(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;
    uint32_t *place = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);
    hf_status st = HF_OK;

    for (uint32_t i = 0; i < c->n_serial && st == HF_OK; i++) {
        hf_txn_id t = c->serial[i];

        if (h->txn_outcome[t] == HF_ABORTED || place[t] > 0)
            st = contradiction(h, t, "the serial order", err);
        place[t] = i + 1;
    }
    if (st == HF_OK)
        st = check_missing(h, place, err);
    if (st == HF_OK)
        st = check_agreement(h, place, err);
    hf_free(place);
    return st;
}

/* ---- times --------------------------------------------------------------- */

static hf_status opposite_times(const hf_history *h, const char *order,
                                hf_txn_id first, hf_txn_id second, hf_key_id k,
                                hf_error *err)
{
    const uint64_t *time = h->cert.commit_ts;
    char name[HF_KEY_WORDS];

    return hf_fail(
        err, HF_ERR_INPUT,
        "the certificate contradicts itself: both wrote key %s, and "
        "%s has transaction %lld before %lld, but they committed "
        "at %llu and %llu",
        hf_key_words(h, k, name), order, (long long)hf_txn_label(h, first),
        (long long)hf_txn_label(h, second), (unsigned long long)time[first],
        (unsigned long long)time[second]);
}

/* Who stands directly behind whom in some version order: those behind t are
 * next[first[t]] up to next[first[t + 1] - 1]. */
typedef struct behind {
    uint64_t *first;
    hf_txn_id *next;
    uint32_t *before; /* per transaction: how often it is behind another */
} behind;

static behind gather_behind(const hf_history *h)
{
    const hf_certificate *c = &h->cert;
    behind b = {HF_NEW_ZEROED(uint64_t, (size_t)h->n_txns + 2),
                HF_NEW_ARRAY(hf_txn_id, c->order_first[h->n_keys] + 1),
                HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1)};

    for (int fill = 0; fill < 2; fill++) {
        for (hf_key_id k = 0; k < h->n_keys; k++)
            for (uint64_t i = c->order_first[k] + 1; i < c->order_first[k + 1];
                 i++) {
                hf_txn_id t = c->order_txn[i - 1], u = c->order_txn[i];

                if (fill)
                    b.next[b.first[t + 1]++] = u;
                else if (t + 2 <= h->n_txns)
                    b.first[t + 2]++;
                b.before[u] += (uint32_t)fill;
            }
        for (hf_txn_id t = 0; !fill && t < h->n_txns; t++)
            b.first[t + 1] += b.first[t];
    }
    return b;
}

/* Is there a circle in what the version orders say together?  Transactions
 * that nobody is in front of are taken away until none is left. */
static bool is_circular(const hf_history *h)
{
    behind b = gather_behind(h);
    hf_txn_id *stack = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
    uint32_t ready = 0, done = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (b.before[t] == 0)
            stack[ready++] = t;
    for (; ready > 0; done++) {
        hf_txn_id t = stack[--ready];

        for (uint64_t i = b.first[t]; i < b.first[t + 1]; i++)
            if (--b.before[b.next[i]] == 0)
                stack[ready++] = b.next[i];
    }
    hf_free(b.first);
    hf_free(b.next);
    hf_free(b.before);
    hf_free(stack);
    return done < h->n_txns;
}

/* The versions of a key stand as the commit times of their writers do.  Not if
 * the version orders go in a circle: no times would agree with them, and what
 * they show is a dirty write.  Where snapshots are given by time they must
 * agree all the same, else nobody knows what a snapshot holds. */
static hf_status check_order_times(const hf_history *h, bool snapshots,
                                   hf_error *err)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_txn_id last = HF_NONE; /* the last one with a time */

        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            hf_txn_id t = c->order_txn[i];

            if (c->commit_ts[t] == HF_TIME_NONE)
                continue;
            if (last != HF_NONE && c->commit_ts[t] < c->commit_ts[last])
                return !snapshots && is_circular(h)
                           ? HF_OK
                           : opposite_times(h, "its version order", last, t, k,
                                            err);
            last = t;
        }
    }
    return HF_OK;
}

/* Two that write one key stand in the serial order as they committed.  Others
 * may stand otherwise: a database that lets readers stay behind (SSI) has a
 * serial order of its own. */
static hf_status check_serial_times(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;
    hf_txn_id *last = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_keys + 1);
    hf_status st = HF_OK;

    memset(last, 0xff, ((size_t)h->n_keys + 1) * sizeof(*last));
    for (uint32_t i = 0; i < c->n_serial && st == HF_OK; i++) {
        hf_txn_id t = c->serial[i];
        uint64_t time = c->commit_ts[t];

        for (hf_op_id op = h->op_first[t];
             time != HF_TIME_NONE && op < h->op_first[t + 1] && st == HF_OK;
             op++) {
            hf_key_id k = h->op_key[op];

            if (!installs(h->op_kind[op]))
                continue;
            if (last[k] != HF_NONE && c->commit_ts[last[k]] > time)
                st = opposite_times(h, "the serial order", last[k], t, k, err);
            last[k] = t;
        }
    }
    hf_free(last);
    return st;
}

/* A transaction that wrote nothing and starts and commits at one time: the
 * time is that of the snapshot it should have had, not of its end. */
static bool is_momentary(const hf_history *h, hf_txn_id t)
{
    if (h->cert.start_ts[t] != h->cert.commit_ts[t])
        return false;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (installs(h->op_kind[op]))
            return false;
    return true;
}

/* No operation looks at a time after its transaction's commit. */
static hf_status check_snapshot_times(const hf_history *h, bool *ret_some,
                                      hf_error *err)
{
    const uint64_t *commit = h->cert.commit_ts;

    *ret_some = false;
    for (hf_txn_id t = 0; h->n_extra > 0 && t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            uint64_t time;

            if (!hf_op_has_predicate(hf_op_kind_of(h, op)) ||
                hf_op_snapshot_kind(h, op) != HF_SNAPSHOT_TIME)
                continue;
            *ret_some = true;
            time = hf_op_predicate(h, op).snapshot_time;
            if (h->txn_outcome[t] == HF_ABORTED || time <= commit[t] ||
                (h->op_kind[op] & HF_OP_FAILED) || is_momentary(h, t))
                continue; /* no time is the largest of all */
            (void)hf_fail(err, HF_ERR_INPUT,
                          "the certificate contradicts itself: T%lld looks at "
                          "the snapshot of time %llu, after its own commit at "
                          "%llu",
                          (long long)hf_txn_label(h, t),
                          (unsigned long long)time,
                          (unsigned long long)commit[t]);
            if (err && h->txn_line && h->txn_line[t] > 0)
                err->line = h->txn_line[t];
            return HF_ERR_INPUT;
        }
    return HF_OK;
}

static hf_status check_times(const hf_history *h, hf_error *err)
{
    bool snapshots;
    hf_status st = check_snapshot_times(h, &snapshots, err);

    if (st == HF_OK && h->cert.order_first)
        st = check_order_times(h, snapshots, err);
    return st == HF_OK ? check_serial_times(h, err) : st;
}

hf_status hf_certificate_check(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;
    hf_status st =
        c->order_first || c->n_empty > 0 ? check_order(h, err) : HF_OK;

    if (st == HF_OK && (c->n_serial > 0 || c->empty_serial))
        st = check_serial(h, err);
    return st == HF_OK && c->commit_ts ? check_times(h, err) : st;
}

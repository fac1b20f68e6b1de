/* replay_order.c: the expected order of transactions.
 *
 * Recorded as such, or the order of a time: commits (strict two-phase
 * locking), starts (timestamp ordering), ends by the clients' clock, places
 * in the file.  An order that contradicts the history (it lists a transaction
 * that aborted, or one twice, or misses one that committed; or a version
 * order of the certificate says otherwise) is bad input; but version orders
 * that contradict commit times because they go in a circle are unknown here.
 *
 * Equal times.  Transactions that do not conflict may stand either way; ours
 * is by their begin, then by the file.  If they conflict (one writes what the
 * other reads or writes, or a key of a table that the other has a condition
 * on) the order does not say what we need: unknown, with their names.
 *
 * Sorting by digits, and a pass over the operations of tied transactions:
 * linear.
 */
#include "check/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/out.h"
#include "base/sort.h"

typedef struct maker {
    const hf_history *h;
    hf_expected *e;
    hf_arena *arena;
    char *why;
    uint64_t *time; /* per transaction; NULL: not by time */
} maker;

const char *hf_expected_name(unsigned by)
{
    switch (by) {
    case HF_REST_BY_SERIAL:
        return "the recorded serial order";
    case HF_REST_BY_COMMIT:
        return "the order of commit times";
    case HF_REST_BY_START:
        return "the order of start times";
    case HF_REST_BY_END:
        return "the order of ends";
    default:
        return "the order of the file";
    }
}

void hf_expected_release(hf_expected *e)
{
    hf_free(e->at);
    hf_free(e->place);
    e->at = NULL;
    e->place = NULL;
}

static void say_why(maker *m, const char *text)
{
    m->why = hf_arena_text(m->arena, text, strlen(text));
}

/* ---- which order --------------------------------------------------------- */

static bool some_time(const hf_history *h, const uint64_t *time)
{
    for (hf_txn_id t = 0; time && t < h->n_txns; t++)
        if (h->txn_outcome[t] != HF_ABORTED && time[t] != HF_TIME_NONE)
            return true;
    return false;
}

static bool none_committed(const hf_history *h)
{
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_COMMITTED)
            return false;
    return true;
}

static void choose(maker *m, unsigned by)
{
    const hf_history *h = m->h;
    bool known = true;

    if (by == 0)
        by = h->cert.n_serial > 0 || !some_time(h, h->cert.commit_ts)
                 ? HF_REST_BY_SERIAL
                 : HF_REST_BY_COMMIT;
    m->e->by = by;
    if (by == HF_REST_BY_SERIAL)
        known = h->cert.n_serial > 0;
    else if (by == HF_REST_BY_COMMIT)
        m->time = h->cert.commit_ts;
    else if (by == HF_REST_BY_START)
        m->time = h->cert.start_ts;
    else if (by == HF_REST_BY_END)
        m->time = h->txn_end;
    if (by & (HF_REST_BY_COMMIT | HF_REST_BY_START | HF_REST_BY_END))
        known = some_time(h, m->time);
    if (!known && !none_committed(h))
        say_why(m, by == HF_REST_BY_SERIAL
                       ? "no expected order was recorded: a serial order, or "
                         "commit times, in the certificate would give one; "
                         "--order start, end or file names another"
                       : "these times were not recorded: --order serial, "
                         "commit, start, end or file names the order");
}

/* ---- placing ------------------------------------------------------------- */

/* Of unknown outcome: does the order say that it happened? */
static bool is_told(const maker *m, hf_txn_id t)
{
    const hf_certificate *c = &m->h->cert;

    return c->commit_ts && c->commit_ts[t] != HF_TIME_NONE;
}

static bool writes_something(const hf_history *h, hf_txn_id t)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_replay_writes(h, o))
            return true;
    return false;
}

static hf_status missing(const maker *m, hf_txn_id t, hf_error *err)
{
    return hf_fail(err, HF_ERR_INPUT,
                   "the certificate contradicts the history: %s leaves out "
                   "transaction %" PRId64 ", which committed",
                   hf_expected_name(m->e->by), hf_txn_label(m->h, t));
}

static hf_status place_serial(maker *m, hf_error *err)
{
    const hf_history *h = m->h;
    hf_expected *e = m->e;

    for (uint32_t i = 0; i < h->cert.n_serial; i++) {
        hf_txn_id t = h->cert.serial[i];

        if (h->txn_outcome[t] == HF_ABORTED || e->place[t] != HF_NONE)
            return hf_fail(
                err, HF_ERR_INPUT,
                "the certificate contradicts the history: the "
                "serial order lists transaction %" PRId64 ", which %s",
                hf_txn_label(h, t),
                e->place[t] != HF_NONE ? "it lists already" : "aborted");
        e->place[t] = e->n;
        e->at[e->n++] = t;
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_COMMITTED && e->place[t] == HF_NONE)
            return missing(m, t, err);
    return HF_OK;
}

/* Listed in the serial order, if there is one? */
static uint8_t *listed_ones(const hf_history *h)
{
    uint8_t *listed = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);

    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        listed[h->cert.serial[i]] = 1;
    return listed;
}

static hf_status collect(maker *m, hf_sortable *all, uint32_t *ret_n,
                         hf_error *err)
{
    const hf_history *h = m->h;
    uint8_t *listed = listed_ones(h);
    hf_status st = HF_OK;
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns && st == HF_OK; t++) {
        bool committed = h->txn_outcome[t] == HF_COMMITTED;
        bool timed = !m->time || m->time[t] != HF_TIME_NONE;

        if (h->txn_outcome[t] == HF_ABORTED)
            continue;
        if (!committed && !is_told(m, t) && !listed[t]) {
            if (m->e->by != HF_REST_BY_COMMIT && m->e->open == HF_NONE &&
                writes_something(h, t))
                m->e->open = t;
            continue;
        }
        if (timed)
            all[n++] = (hf_sortable){m->time ? m->time[t] : t, t};
        else if (committed)
            st = missing(m, t, err);
    }
    hf_free(listed);
    *ret_n = n;
    return st;
}

/* ---- equal times --------------------------------------------------------- */

typedef struct ties {
    maker *m;
    hf_map writer; /* key, or table + 2^32: who of them writes it */
} ties;

static bool other_writes(const ties *x, uint64_t what, hf_txn_id t,
                         hf_txn_id *ret)
{
    uint32_t w = hf_map_get(&x->writer, what);

    if (w == UINT32_MAX || w == t)
        return false;
    *ret = w;
    return true;
}

static uint64_t table_of(const hf_history *h, hf_key_id key)
{
    hf_string_id table = h->key_table ? h->key_table[key] : HF_NONE;

    return (uint64_t)1 << 32 | table;
}

/* Does t touch what another of them writes?  Two writers of one key are met
 * at the second. */
static bool touches(ties *x, hf_txn_id t, bool write, hf_txn_id *ret)
{
    const hf_history *h = x->m->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_op_kind kind = hf_op_kind_of(h, o);
        bool writes = hf_replay_writes(h, o);

        if (h->op_kind[o] & HF_OP_FAILED)
            continue;
        if (h->op_key[o] != HF_NONE && (!write || writes) &&
            other_writes(x, h->op_key[o], t, ret))
            return true;
        if (!write && hf_op_has_predicate(kind) &&
            other_writes(x, (uint64_t)1 << 32 | hf_op_predicate(h, o).table, t,
                         ret))
            return true;
        if (write && writes) {
            hf_map_set(&x->writer, h->op_key[o], t);
            (void)hf_map_add(&x->writer, table_of(h, h->op_key[o]), t);
        }
    }
    return false;
}

static void refuse_tie(maker *m, hf_txn_id a, hf_txn_id b)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_out_format(&out,
                  "T%" PRId64 " and T%" PRId64
                  " have equal times and conflict: %s does not say which is "
                  "first",
                  hf_txn_label(m->h, a), hf_txn_label(m->h, b),
                  hf_expected_name(m->e->by));
    m->why = hf_arena_text(m->arena, out.at, out.n);
    hf_out_release(&out);
}

/* Two writers of one table are found as one: a condition of the first must
 * not be taken to be safe from the second. */
static bool table_clash(ties *x, const hf_sortable *all, uint32_t n,
                        hf_txn_id *ret_a, hf_txn_id *ret_b)
{
    const hf_history *h = x->m->h;

    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t = (hf_txn_id)all[i].value;

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint64_t table;
            hf_txn_id w;

            if (!hf_replay_writes(h, o))
                continue;
            table = table_of(h, h->op_key[o]);
            if (!other_writes(x, table, t, &w))
                continue;
            /* the one that is noted must have no condition on the table */
            for (hf_op_id q = h->op_first[w]; q < h->op_first[w + 1]; q++)
                if (hf_op_has_predicate(hf_op_kind_of(h, q)) &&
                    ((uint64_t)1 << 32 | hf_op_predicate(h, q).table) ==
                        table) {
                    *ret_a = w;
                    *ret_b = t;
                    return true;
                }
        }
    }
    return false;
}

static void look_at_tie(maker *m, const hf_sortable *all, uint32_t n)
{
    ties x = {.m = m};
    hf_txn_id a = HF_NONE, b = HF_NONE;
    bool clash = false;

    hf_map_init(&x.writer);
    for (unsigned write = 2; write-- > 0 && !clash;)
        for (uint32_t i = 0; i < n && !clash; i++) {
            a = (hf_txn_id)all[i].value;
            clash = touches(&x, a, write, &b);
        }
    clash = clash || table_clash(&x, all, n, &a, &b);
    if (clash)
        refuse_tie(m, a < b ? a : b, a < b ? b : a);
    hf_map_release(&x.writer);
}

/* By begin, if all have one. */
static void sort_tie(const maker *m, hf_sortable *all, uint32_t n)
{
    uint64_t time = all[0].key;

    for (uint32_t i = 0; i < n; i++)
        if (hf_txn_begin_time(m->h, (hf_txn_id)all[i].value) == HF_TIME_NONE)
            return;
    for (uint32_t i = 0; i < n; i++)
        all[i].key = hf_txn_begin_time(m->h, (hf_txn_id)all[i].value);
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        all[i].key = time;
}

static void settle_ties(maker *m, hf_sortable *all, uint32_t n)
{
    for (uint32_t i = 0, end; i < n && !m->why; i = end) {
        for (end = i + 1; end < n && all[end].key == all[i].key;)
            end++;
        if (end - i < 2)
            continue;
        if (m->e->tied[0] == HF_NONE) {
            m->e->tied[0] = (hf_txn_id)all[i].value;
            m->e->tied[1] = (hf_txn_id)all[i + 1].value;
        }
        look_at_tie(m, all + i, end - i);
        sort_tie(m, all + i, end - i);
    }
}

static hf_status place_by_time(maker *m, hf_error *err)
{
    hf_expected *e = m->e;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)m->h->n_txns + 1, sizeof(*all)));
    uint32_t n = 0;
    hf_status st = collect(m, all, &n, err);

    if (st == HF_OK) {
        hf_sort(all, n);
        if (m->time)
            settle_ties(m, all, n);
        for (uint32_t i = 0; i < n; i++) {
            e->at[i] = (hf_txn_id)all[i].value;
            e->place[e->at[i]] = i;
        }
        e->n = n;
    }
    hf_free(all);
    return st;
}

/* ---- against version orders ---------------------------------------------- */

/* Version orders that go in a circle agree with no times: that is no mistake
 * of the certificate (history/certificate.c has refused those), but an
 * anomaly, which is not found along an order. */
static hf_status contradiction(maker *m, hf_key_id key, hf_txn_id first,
                               hf_txn_id second, hf_error *err)
{
    hf_scalar s = hf_key_scalar(m->h, key);
    char name[48], why[320];

    if (s.type == HF_INT)
        (void)snprintf(name, sizeof(name), "%" PRId64, s.number);
    else
        (void)hf_quote(name, sizeof(name), s.text, s.length);
    if (m->e->by == HF_REST_BY_COMMIT) {
        (void)snprintf(why, sizeof(why),
                       "the version order of key %s has T%" PRId64
                       " before T%" PRId64
                       ", %s has them the other way: the version orders go in "
                       "a circle; the other engines judge that",
                       name, hf_txn_label(m->h, first),
                       hf_txn_label(m->h, second), hf_expected_name(m->e->by));
        say_why(m, why);
        return HF_OK;
    }
    return hf_fail(err, HF_ERR_INPUT,
                   "the certificate contradicts itself: the version order of "
                   "key %s has T%" PRId64 " before T%" PRId64
                   ", %s has them the other way",
                   name, hf_txn_label(m->h, first), hf_txn_label(m->h, second),
                   hf_expected_name(m->e->by));
}

static hf_status check_version_orders(maker *m, hf_error *err)
{
    const hf_certificate *c = &m->h->cert;
    const uint32_t *place = m->e->place;

    for (hf_key_id k = 0; c->order_first && k < m->h->n_keys; k++) {
        hf_txn_id last = HF_NONE;

        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            hf_txn_id t = c->order_txn[i];

            if (place[t] == HF_NONE)
                continue;
            if (last != HF_NONE && place[last] > place[t])
                return contradiction(m, k, last, t, err);
            last = t;
        }
    }
    return HF_OK;
}

hf_status hf_expected_make(const hf_history *h, unsigned by, hf_arena *arena,
                           hf_expected *ret, char **ret_why, hf_error *err)
{
    maker m = {.h = h, .e = ret, .arena = arena};
    hf_status st = HF_OK;

    *ret = (hf_expected){.tied = {HF_NONE, HF_NONE}, .open = HF_NONE};
    *ret_why = NULL;
    choose(&m, by);
    if (!m.why) {
        ret->at = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);
        ret->place = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
        memset(ret->place, 0xff, ((size_t)h->n_txns + 1) * sizeof(uint32_t));
        st = ret->by == HF_REST_BY_SERIAL ? place_serial(&m, err)
                                          : place_by_time(&m, err);
    }
    if (st == HF_OK && !m.why)
        st = check_version_orders(&m, err);
    if (st != HF_OK)
        hf_expected_release(ret);
    *ret_why = m.why;
    return st;
}

/* ---- session order and real time ----------------------------------------- */

static bool breaks_sessions(const hf_history *h, const hf_expected *e,
                            hf_txn_id *ret_first, hf_txn_id *ret_second)
{
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (e->place[t] == HF_NONE)
                continue;
            if (last != HF_NONE && e->place[t] < e->place[last]) {
                *ret_first = last;
                *ret_second = t;
                return true;
            }
            last = t;
        }
    }
    return false;
}

static bool breaks_time(const hf_history *h, const hf_expected *e,
                        hf_txn_id *ret_first, hf_txn_id *ret_second)
{
    uint64_t earliest = HF_TIME_NONE; /* end of those behind */

    for (uint32_t i = e->n; i-- > 0;) {
        uint64_t begin = hf_txn_begin_time(h, e->at[i]);
        uint64_t end = hf_txn_end_time(h, e->at[i]);

        if (begin != HF_TIME_NONE && earliest < begin) {
            *ret_second = e->at[i];
            return true;
        }
        if (h->txn_outcome[e->at[i]] == HF_COMMITTED && end < earliest) {
            earliest = end;
            *ret_first = e->at[i];
        }
    }
    return false;
}

bool hf_expected_breaks(const hf_history *h, const hf_expected *e,
                        const hf_level_info *level, hf_txn_id *ret_first,
                        hf_txn_id *ret_second)
{
    return (level->session_order &&
            breaks_sessions(h, e, ret_first, ret_second)) ||
           (level->real_time && breaks_time(h, e, ret_first, ret_second));
}

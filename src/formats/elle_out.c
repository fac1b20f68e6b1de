/* elle_out.c: writing histories the way Jepsen writes them, EDN or JSON.
 *
 * Each transaction becomes an invocation, whose reads are nil, and a
 * completion: ok, fail or info.  If every transaction has its times, the
 * events stand in real-time order (at equal times invocations come first,
 * because such transactions do not precede each other).  Else there is no
 * real-time order to write down: the file is a bare list of outcomes,
 * completions without invocations, which is read back without times.
 *
 * Reads of a key's initial version are written as nil.  Refused: operations
 * other than reads and writes of registers, or appends and reads of lists;
 * both in one history; keys with a table; rows as values; levels of single
 * transactions; sessions whose transactions overlap; initial values other
 * than nil and 0; and a value written twice to a key, unless the history
 * itself promised that there is none: whoever reads the file takes that as
 * promised.  Left out: intervals of single operations, the certificate, times
 * that only some transactions have.
 *
 * O(n log n) in the number of transactions for sorting, else linear in the
 * output.
 */
#include <stdlib.h>

#include "base/json_in.h"
#include "formats/elle.h"
#include "formats/export.h"

typedef struct event {
    uint64_t time;
    hf_txn_id txn;
    uint8_t phase; /* what comes first at equal times */
    uint8_t type;  /* hf_jepsen_type */
} event;

#define PHASE_GIVEN_UP 0 /* info, before the next invocation */
#define PHASE_INVOKE 1
#define PHASE_COMPLETE 2

typedef struct writer {
    const hf_history *h;
    hf_out *out;
    hf_error *err;
    bool json;
    bool is_list;       /* a history of lists */
    bool name_keywords; /* EDN: all names of keys can be keywords */
    bool times, stamps; /* real-time order; with :time */
    hf_export_numbers numbers;
    hf_txn_id txn; /* being looked at */
} writer;

/* ---- what cannot be said ------------------------------------------------- */

static hf_status refuse(const writer *w, const char *what)
{
    return hf_fail(w->err, HF_ERR_UNSUPPORTED,
                   "T%lld has %s, which %s cannot express",
                   (long long)hf_txn_label(w->h, w->txn), what,
                   w->json ? "elle-json" : "elle-edn");
}

static hf_status check_scalar(const writer *w, hf_value_id v)
{
    hf_scalar s = hf_value_scalar(w->h, v);

    if (s.type == HF_ROW || s.type == HF_LIST)
        return refuse(w, "a value of several columns");
    if (s.type == HF_REAL && w->json && s.length > 0) {
        hf_json_in in;
        hf_scalar back;
        bool ok;

        hf_json_in_init(&in, s.text, s.length);
        ok = hf_json_in_scalar(&in, &back) && in.at == in.end;
        hf_json_in_release(&in);
        if (!ok)
            return refuse(w, "a number that is no JSON number");
    }
    return HF_OK;
}

static hf_status check_read(const writer *w, hf_op_kind kind, hf_value_id v)
{
    const hf_history *h = w->h;
    hf_status st = HF_OK;

    if (v == HF_NONE || hf_export_initial(h, v))
        return HF_OK;
    if (h->value_type[v] == HF_NIL)
        return refuse(w, "a read of nil that is not the initial value");
    if (kind == HF_OP_READ && w->is_list)
        return refuse(w, "a read of a register beside lists");
    if (kind == HF_OP_READ)
        return check_scalar(w, v);
    if (h->value_type[v] != HF_LIST)
        return refuse(w, "a list read that returns no list");
    for (; v != HF_NONE && st == HF_OK; v = hf_list_parent(h, v))
        st = check_scalar(w, hf_list_last(h, v));
    return st;
}

static hf_status check_write(const writer *w, hf_op_kind kind, hf_value_id v)
{
    if (kind == HF_OP_WRITE && w->is_list)
        return refuse(w, "a write of a register beside lists");
    if (v == HF_NONE || w->h->value_type[v] == HF_NIL)
        return refuse(w, "a write of nil");
    if (hf_export_initial(w->h, v))
        return refuse(w, "a write of the value the key had at first");
    return check_scalar(w, v);
}

static hf_status check_op(const writer *w, hf_op_id op)
{
    const hf_history *h = w->h;
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (hf_export_skips(kind))
        return HF_OK;
    if (kind > HF_OP_READ_LIST)
        return hf_fail(w->err, HF_ERR_UNSUPPORTED,
                       "T%lld has the operation %s, which %s cannot express",
                       (long long)hf_txn_label(h, w->txn),
                       hf_op_kind_name(kind),
                       w->json ? "elle-json" : "elle-edn");
    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return refuse(w, "a statement that failed");
    if (hf_op_flags_of(h, op))
        return refuse(w, "a locking read");
    if (h->key_table && h->key_table[h->op_key[op]] != HF_NONE)
        return refuse(w, "a key with a table");
    return hf_op_reads_item(kind) ? check_read(w, kind, h->op_value[op])
                                  : check_write(w, kind, h->op_value[op]);
}

/* Whoever committed: the promise covers all writes. */
static hf_status check_unique(const writer *w)
{
    const hf_history *h = w->h;
    hf_txn_id *writer_of = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    hf_status st = HF_OK;

    memset(writer_of, 0xff, h->n_values * sizeof(*writer_of));
    for (hf_op_id op = 0; op < h->n_ops && st == HF_OK; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        char key[HF_EXPORT_SHOWN], value[HF_EXPORT_SHOWN];
        hf_value_id v = h->op_value[op];
        hf_txn_id t;

        if (kind != HF_OP_WRITE && kind != HF_OP_APPEND)
            continue;
        t = hf_op_txn(h, op);
        if (writer_of[v] != HF_NONE)
            st = hf_fail(w->err, HF_ERR_UNSUPPORTED,
                         "the value %s is written twice to key %s, by T%lld "
                         "and T%lld, which %s cannot express",
                         hf_export_show(hf_value_scalar(h, v), value),
                         hf_export_show(hf_key_scalar(h, h->op_key[op]), key),
                         (long long)hf_txn_label(h, writer_of[v]),
                         (long long)hf_txn_label(h, t),
                         w->json ? "elle-json" : "elle-edn");
        writer_of[v] = t;
    }
    hf_free(writer_of);
    return st;
}

static hf_status check(writer *w)
{
    const hf_history *h = w->h;
    hf_status st = HF_OK;

    for (w->txn = 0; w->txn < h->n_txns; w->txn++) {
        if (h->txn_level && h->txn_level[w->txn] != HF_LEVEL_UNSET)
            return refuse(w, "a level of its own");
        for (hf_op_id op = h->op_first[w->txn]; op < h->op_first[w->txn + 1];
             op++) {
            st = check_op(w, op);
            if (st != HF_OK)
                return st;
        }
    }
    st = hf_export_check_initial(h, w->json ? "elle-json" : "elle-edn", w->err);
    return st == HF_OK && !h->unique_values ? check_unique(w) : st;
}

/* ---- choosing a form ----------------------------------------------------- */

static bool can_be_keyword(hf_str s)
{
    if (s.len == 0 || s.len > 200)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '-' || c == '_';

        if (!letter && !(other && i > 0))
            return false;
    }
    return true;
}

static void choose(writer *w)
{
    const hf_history *h = w->h;

    w->name_keywords = !w->json;
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_scalar s = hf_key_scalar(h, k);

        if (s.type == HF_TEXT && !can_be_keyword((hf_str){s.text, s.length}))
            w->name_keywords = false;
    }
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_APPEND ||
            hf_op_kind_of(h, op) == HF_OP_READ_LIST)
            w->is_list = true;
    w->times = h->txn_begin != NULL;
    w->stamps = h->time_unit == HF_TIME_UNIT_NS;
    for (hf_txn_id t = 0; t < h->n_txns && w->times; t++) {
        uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

        if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME)
            end = begin;
        if (begin == HF_TIME_NONE || end == HF_TIME_NONE || end < begin)
            w->times = false;
        if (begin > INT64_MAX || end > INT64_MAX)
            w->stamps = false;
    }
    w->numbers = hf_export_number(h);
}

/* ---- writing ------------------------------------------------------------- */

static void put_string(const writer *w, hf_str s)
{
    hf_out_char(w->out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == '"' || c == '\\') {
            hf_out_char(w->out, '\\');
            hf_out_char(w->out, (char)c);
        } else if (c < 0x20) {
            hf_out_format(w->out, "\\u%04x", c);
        } else {
            hf_out_char(w->out, (char)c);
        }
    }
    hf_out_char(w->out, '"');
}

static void put_scalar(const writer *w, hf_scalar s)
{
    switch (s.type) {
    case HF_INT:
        hf_out_int(w->out, s.number);
        break;
    case HF_BOOL:
        hf_out_text(w->out, s.number ? "true" : "false");
        break;
    case HF_TEXT:
        put_string(w, (hf_str){s.text, s.length});
        break;
    case HF_REAL:
        if (!w->json && s.length > 0 &&
            (s.text[0] == 'I' || s.text[0] == 'N' ||
             (s.length > 1 && s.text[1] == 'I')))
            hf_out_text(w->out, "##");
        hf_out_bytes(w->out, s.text, s.length);
        break;
    default:
        hf_out_text(w->out, w->json ? "null" : "nil");
        break;
    }
}

static void put_key(const writer *w, hf_key_id key)
{
    hf_scalar s = hf_key_scalar(w->h, key);

    if (s.type == HF_TEXT && w->name_keywords) {
        hf_out_char(w->out, ':');
        hf_out_bytes(w->out, s.text, s.length);
    } else {
        put_scalar(w, s);
    }
}

static void put_list(const writer *w, hf_value_id list)
{
    uint32_t n = hf_list_items(w->h, list, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, (size_t)n + 1);

    (void)hf_list_items(w->h, list, items);
    hf_out_char(w->out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            hf_out_char(w->out, w->json ? ',' : ' ');
        put_scalar(w, hf_value_scalar(w->h, items[i]));
    }
    hf_out_char(w->out, ']');
    hf_free(items);
}

static void put_name(const writer *w, const char *name)
{
    if (w->json)
        hf_out_format(w->out, "\"%s\"", name);
    else
        hf_out_format(w->out, ":%s", name);
}

/* reads: with the values that were read */
static void put_op(const writer *w, hf_op_id op, bool reads)
{
    const hf_history *h = w->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_value_id v = h->op_value[op];
    char gap = w->json ? ',' : ' ';

    hf_out_char(w->out, '[');
    put_name(w, hf_op_reads_item(kind) ? "r"
                : kind == HF_OP_APPEND ? "append"
                                       : "w");
    hf_out_char(w->out, gap);
    put_key(w, h->op_key[op]);
    if (hf_op_reads_item(kind) && reads && v == HF_NONE) {
        hf_out_char(w->out, ']'); /* not recorded */
        return;
    }
    hf_out_char(w->out, gap);
    if (hf_op_reads_item(kind) && (!reads || hf_export_initial(h, v)))
        hf_out_text(w->out, w->json ? "null" : "nil");
    else if (kind == HF_OP_READ_LIST)
        put_list(w, v);
    else
        put_scalar(w, hf_value_scalar(h, v));
    hf_out_char(w->out, ']');
}

static void put_value(const writer *w, hf_txn_id t, bool reads)
{
    const hf_history *h = w->h;
    bool first = true;

    hf_out_char(w->out, '[');
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (hf_export_skips(hf_op_kind_of(h, op)))
            continue;
        if (!first)
            hf_out_char(w->out, w->json ? ',' : ' ');
        first = false;
        put_op(w, op, reads);
    }
    hf_out_char(w->out, ']');
}

static void put_event(const writer *w, const event *e, uint64_t index)
{
    static const char *const types[] = {"invoke", "ok", "fail", "info"};
    bool reads = e->type == HF_JEPSEN_OK || e->type == HF_JEPSEN_FAIL;
    uint64_t process =
        hf_export_session(&w->numbers, w->h->txn_session[e->txn]);
    const char *gap = w->json ? "," : ", ", *is = w->json ? ":" : " ";

    hf_out_char(w->out, '{');
    put_name(w, "index");
    hf_out_format(w->out, "%s%llu%s", is, (unsigned long long)index, gap);
    put_name(w, "type");
    hf_out_text(w->out, is);
    put_name(w, types[e->type]);
    hf_out_text(w->out, gap);
    put_name(w, "process");
    hf_out_format(w->out, "%s%llu%s", is, (unsigned long long)process, gap);
    if (w->times && w->stamps) {
        put_name(w, "time");
        hf_out_format(w->out, "%s%llu%s", is, (unsigned long long)e->time, gap);
    }
    put_name(w, "f");
    hf_out_text(w->out, is);
    put_name(w, "txn");
    hf_out_text(w->out, gap);
    put_name(w, "value");
    hf_out_text(w->out, is);
    put_value(w, e->txn, reads);
    hf_out_text(w->out, "}\n");
}

/* ---- the order of events ------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return x->txn < y->txn ? -1 : x->txn > y->txn;
}

static uint8_t completion_type(const hf_history *h, hf_txn_id t)
{
    return h->txn_outcome[t] == HF_COMMITTED ? HF_JEPSEN_OK
           : h->txn_outcome[t] == HF_ABORTED ? HF_JEPSEN_FAIL
                                             : HF_JEPSEN_INFO;
}

/* Two events for each transaction; an unknown one is given up when its
 * session goes on, or at the end. */
static event *make_events(const writer *w)
{
    const hf_history *h = w->h;
    event *events = HF_NEW_ARRAY(event, 2 * (size_t)h->n_txns + 1);
    uint64_t last = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t end = hf_txn_end_time(h, t);

        if (hf_txn_begin_time(h, t) > last)
            last = hf_txn_begin_time(h, t);
        if (end != HF_TIME_NONE && end > last &&
            h->txn_outcome[t] != HF_UNKNOWN_OUTCOME)
            last = end;
    }
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];
            event *e = &events[2 * (size_t)t];

            e[0] = (event){hf_txn_begin_time(h, t), t, PHASE_INVOKE,
                           HF_JEPSEN_INVOKE};
            e[1] = (event){hf_txn_end_time(h, t), t, PHASE_COMPLETE,
                           completion_type(h, t)};
            if (e[1].type != HF_JEPSEN_INFO)
                continue;
            e[1].time = last;
            if (i + 1 < h->session_first[s + 1]) {
                e[1].time = hf_txn_begin_time(h, h->session_txns[i + 1]);
                e[1].phase = PHASE_GIVEN_UP;
            }
        }
    return events;
}

/* A process does one thing at a time, in the order of its session. */
static hf_status check_order(writer *w, const event *events)
{
    const hf_history *h = w->h;
    hf_txn_id *open = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_sessions + 1);
    uint32_t *done = HF_NEW_ARRAY(uint32_t, (size_t)h->n_sessions + 1);
    hf_status st = HF_OK;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        open[s] = HF_NONE;
        done[s] = h->session_first[s];
    }
    for (size_t i = 0; i < 2 * (size_t)h->n_txns && st == HF_OK; i++) {
        hf_session_id s = h->txn_session[events[i].txn];

        w->txn = events[i].txn;
        if (events[i].type != HF_JEPSEN_INVOKE) {
            if (open[s] != w->txn)
                st = refuse(w, "an end before its begin");
            open[s] = HF_NONE;
        } else if (open[s] != HF_NONE || h->session_txns[done[s]++] != w->txn) {
            st = refuse(w, "an interval that overlaps another transaction "
                           "of its session");
        } else {
            open[s] = w->txn;
        }
    }
    hf_free(open);
    hf_free(done);
    return st;
}

/* Writes them, but for the last one of a session that was given up: an
 * invocation without an end says the same. */
static void put_events(const writer *w, event *events)
{
    const hf_history *h = w->h;
    uint64_t index = 0, last = 0;

    for (size_t i = 0; i < 2 * (size_t)h->n_txns; i++) {
        event *e = &events[i];
        hf_session_id s = h->txn_session[e->txn];

        if (e->type == HF_JEPSEN_INFO &&
            h->session_txns[h->session_first[s + 1] - 1] == e->txn)
            continue;
        /* any time before the next event will do */
        if (e->phase == PHASE_GIVEN_UP && last + 1 < e->time)
            e->time = last + 1;
        last = e->time;
        put_event(w, e, index++);
    }
}

/* Without times: completions only, each session in its order. */
static void put_outcomes(const writer *w)
{
    const hf_history *h = w->h;
    uint32_t *done = HF_NEW_ARRAY(uint32_t, (size_t)h->n_sessions + 1);

    for (hf_session_id s = 0; s < h->n_sessions; s++)
        done[s] = h->session_first[s];
    for (hf_txn_id i = 0; i < h->n_txns; i++) {
        hf_txn_id t = h->session_txns[done[h->txn_session[i]]++];
        event e = {0, t, PHASE_COMPLETE, completion_type(h, t)};

        put_event(w, &e, i);
    }
    hf_free(done);
}

static hf_status put_history(writer *w)
{
    size_t n = 2 * (size_t)w->h->n_txns;
    event *events;
    hf_status st;

    if (!w->times) {
        put_outcomes(w);
        return HF_OK;
    }
    events = make_events(w);
    if (n > 0)
        qsort(events, n, sizeof(*events), by_time);
    st = check_order(w, events);
    if (st == HF_OK)
        put_events(w, events);
    hf_free(events);
    return st;
}

hf_status hf_elle_export(const hf_history *h, hf_out *out, bool json,
                         hf_error *err)
{
    writer w = {.h = h, .out = out, .err = err, .json = json};
    hf_status st;

    choose(&w);
    st = check(&w);
    return st == HF_OK ? put_history(&w) : st;
}

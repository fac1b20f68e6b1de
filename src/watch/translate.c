/* translate.c: transactions as events. */
#include "watch/translate.h"

#include "history/extra.h"
#include "watch/value.h"

/* One transaction in hand. */
typedef struct maker {
    hf_translator *t;
    const hf_history *h;
    hf_txn_id txn;
    hf_txn_part *part;
    hf_event e;     /* what all have */
    uint64_t start; /* of the operation before */
    uint64_t end;   /* the last answer so far */
    bool has_statement;
    bool begun, ended;
} maker;

void hf_translator_release(hf_translator *t)
{
    hf_vec_release(&t->keys);
    hf_vec_release(&t->tables);
    hf_vec_release(&t->events);
}

/* ---- keys ---------------------------------------------------------------- */

static uint32_t table_of(hf_translator *t, const hf_history *h, hf_string_id s)
{
    if (s == HF_NONE)
        return hf_watch_names_table(t->names, (hf_str){0});
    if (t->tables.at[s] == UINT32_MAX)
        t->tables.at[s] = hf_watch_names_table(t->names, hf_string(h, s));
    return t->tables.at[s];
}

void hf_translator_piece(hf_translator *t, const hf_history *h)
{
    uint32_t plain = hf_watch_names_table(t->names, (hf_str){0});

    t->tables.n = t->keys.n = 0;
    hf_vec_reserve(&t->tables, h->n_strings);
    for (uint32_t i = 0; i < h->n_strings; i++)
        t->tables.at[t->tables.n++] = UINT32_MAX;
    hf_vec_reserve(&t->keys, h->n_keys);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_string_id table = h->key_table ? h->key_table[k] : HF_NONE;
        uint32_t key = hf_watch_names_key(
            t->names, table == HF_NONE ? plain : table_of(t, h, table),
            hf_key_scalar(h, k));
        hf_value_id initial = h->key_initial ? h->key_initial[k] : HF_NONE;

        t->keys.at[t->keys.n++] = key;
        if (initial == HF_NONE)
            continue;
        hf_watch_names_initial(t->names, key, hf_watch_value_in(h, initial));
        hf_watch_scans_row(t->scans, hf_watch_value_in(h, initial),
                           hf_value_scalar(h, initial));
    }
}

/* ---- events -------------------------------------------------------------- */

static void put(maker *m, hf_event_kind kind, unsigned flags)
{
    m->e.kind = (uint8_t)kind;
    m->e.flags = (uint8_t)flags;
    hf_vec_push(&m->t->events, m->e);
}

static void put_item(maker *m, hf_event_kind kind, unsigned flags,
                     hf_key_id key, hf_value_id value)
{
    m->e.key = m->e.row = m->t->keys.at[key];
    m->e.value =
        value == HF_NONE ? HF_EVENT_NO_ROW : hf_watch_value_in(m->h, value);
    if (kind == HF_EVENT_WRITE && value != HF_NONE)
        hf_watch_scans_row(m->t->scans, m->e.value,
                           hf_value_scalar(m->h, value));
    put(m, kind, flags);
    m->e.key = m->e.row = 0;
    m->e.value = HF_EVENT_NO_ROW;
}

static unsigned flags_of(unsigned flags)
{
    return (flags & HF_OP_FOR_UPDATE ? HF_EVENT_FOR_UPDATE : 0u) |
           (flags & HF_OP_FOR_SHARE ? HF_EVENT_FOR_SHARE : 0u) |
           (flags & HF_OP_FAILED ? HF_EVENT_FAILED : 0u);
}

static void put_increment(maker *m, hf_op_id op, unsigned flags)
{
    hf_increment i = hf_op_increment(m->h, op);
    hf_key_id key = m->h->op_key[op];

    if (!i.has_result) {
        m->t->amounts++;
        return;
    }
    put_item(m, HF_EVENT_READ, flags | HF_EVENT_FOR_UPDATE, key, i.before);
    put_item(m, HF_EVENT_WRITE, flags, key, i.after);
}

static void put_predicate(maker *m, hf_op_id op, hf_op_kind kind,
                          unsigned flags)
{
    hf_predicate p = hf_op_predicate(m->h, op);
    uint32_t table = table_of(m->t, m->h, p.table);

    if (hf_op_is_aggregate(kind)) {
        m->t->aggregates++;
        return;
    }
    if (!p.has_result_set || (flags & HF_EVENT_FAILED))
        return;
    if (kind != HF_OP_PREDICATE_READ)
        flags |= HF_EVENT_FOR_UPDATE;
    m->e.extra =
        hf_watch_scans_add(m->t->scans, table, hf_string(m->h, p.condition));
    put(m, HF_EVENT_SCAN, flags);
    m->e.extra = 0;
    for (uint32_t i = 0; i < p.n_results; i++) {
        hf_value_id v = p.results[i].value;

        hf_watch_scans_row(m->t->scans, hf_watch_value_in(m->h, v),
                           hf_value_scalar(m->h, v));
        put_item(m, HF_EVENT_READ, flags, m->h->value_key[v], v);
    }
}

static void put_op(maker *m, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(m->h, op);
    unsigned flags = flags_of(hf_op_flags_of(m->h, op));
    hf_key_id key = m->h->op_key[op];
    hf_value_id value = m->h->op_value[op];

    switch (kind) {
    case HF_OP_READ:
    case HF_OP_READ_LIST:
        if (value != HF_NONE && !(flags & HF_EVENT_FAILED))
            put_item(m, HF_EVENT_READ, flags, key, value);
        break;
    case HF_OP_WRITE:
    case HF_OP_APPEND:
        put_item(m, HF_EVENT_WRITE, flags, key, value);
        break;
    case HF_OP_INSERT:
        put_item(m, HF_EVENT_WRITE, flags | HF_EVENT_INSERT, key, value);
        break;
    case HF_OP_DELETE:
        put_item(m, HF_EVENT_WRITE, flags | HF_EVENT_DELETE, key, HF_NONE);
        break;
    case HF_OP_INCREMENT:
        put_increment(m, op, flags);
        break;
    case HF_OP_SQL:
        m->t->opaque += hf_op_is_opaque(m->h, op);
        break;
    default:
        if (hf_op_has_predicate(kind))
            put_predicate(m, op, kind, flags);
    }
}

/* ---- times --------------------------------------------------------------- */

/* The times of an operation; and is it of the statement before? */
static void set_times(maker *m, hf_op_id op)
{
    uint64_t start, end;
    bool same;

    if (!hf_op_interval(m->h, m->txn, op, &start, &end)) {
        start = m->start;
        end = hf_txn_end_time(m->h, m->txn);
        same = false;
    } else {
        same = start == m->e.before && end == m->e.after && start < end;
    }
    if (!same || !m->has_statement)
        m->e.statement = m->part->statement++;
    m->has_statement = true;
    m->e.before = m->start = start;
    m->e.after = end;
    if (end != HF_TIME_NONE && end > m->end)
        m->end = end;
}

static void put_begin(maker *m, uint64_t start, uint64_t end)
{
    if (m->begun)
        return;
    m->begun = true;
    m->e.before = start;
    m->e.after = end < start ? start : end;
    m->e.statement = m->part->statement;
    put(m, HF_EVENT_BEGIN, 0);
    m->start = start;
}

/* Begin, commit, abort, as they were recorded. */
static bool put_mark(maker *m, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(m->h, op);
    bool failed = (hf_op_flags_of(m->h, op) & HF_OP_FAILED) != 0;
    uint64_t start, end;

    if (kind != HF_OP_BEGIN && kind != HF_OP_COMMIT && kind != HF_OP_ABORT)
        return false;
    if (failed || !hf_op_interval(m->h, m->txn, op, &start, &end))
        return true;
    if (kind == HF_OP_BEGIN) {
        put_begin(m, start, end);
        return true;
    }
    if (m->part->no_end)
        return true;
    m->ended = true;
    m->e.before = start;
    m->e.after = end;
    m->e.statement = m->part->statement++;
    if (m->h->txn_outcome[m->txn] == HF_UNKNOWN_OUTCOME)
        m->e.after = UINT64_MAX;
    put(m,
        m->h->txn_outcome[m->txn] == HF_ABORTED ? HF_EVENT_ABORT
                                                : HF_EVENT_COMMIT,
        0);
    return true;
}

static void put_end(maker *m)
{
    uint8_t outcome = m->h->txn_outcome[m->txn];

    if (m->ended || m->part->no_end)
        return;
    /* called after the last answer, answered by the end */
    m->e.before = m->end > m->start ? m->end : m->start;
    m->e.after = outcome == HF_UNKNOWN_OUTCOME ? UINT64_MAX
                                               : hf_txn_end_time(m->h, m->txn);
    if (m->e.before > m->e.after)
        m->e.before = m->start;
    m->e.statement = m->part->statement++;
    put(m, outcome == HF_ABORTED ? HF_EVENT_ABORT : HF_EVENT_COMMIT, 0);
}

/* When it begins, and the end of that: its first operation's start. */
static bool begin_of(const hf_history *h, hf_txn_id txn, uint64_t *ret_start,
                     uint64_t *ret_end)
{
    uint64_t begin = hf_txn_begin_time(h, txn), start, end;
    bool some = h->op_first[txn] < h->op_first[txn + 1] &&
                hf_op_interval(h, txn, h->op_first[txn], &start, &end);

    if (begin == HF_TIME_NONE && !some)
        return false;
    *ret_start = begin != HF_TIME_NONE ? begin : start;
    *ret_end = some ? start : hf_txn_end_time(h, txn);
    return true;
}

/* A transaction that aborted may have done so in its last statement: what that
 * would have written or locked, it may never have. */
static void doubt_last(maker *m)
{
    size_t i = m->t->events.n;
    uint16_t statement;

    if (m->h->txn_outcome[m->txn] != HF_ABORTED || i < 2 || m->part->no_end)
        return;
    i--; /* the end */
    statement = m->t->events.at[i - 1].statement;
    while (i-- > 0 && m->t->events.at[i].statement == statement) {
        hf_event *e = &m->t->events.at[i];

        if (e->kind == HF_EVENT_WRITE || e->kind == HF_EVENT_READ ||
            e->kind == HF_EVENT_SCAN)
            e->after = UINT64_MAX;
    }
}

size_t hf_translator_txn(hf_translator *t, const hf_history *h, hf_txn_id txn,
                         hf_txn_part *part, const hf_event **ret)
{
    maker m = {.t = t,
               .h = h,
               .txn = txn,
               .part = part,
               .e = {.txn = part->number},
               .start = part->last,
               .end = part->answered};
    hf_op_id first = h->op_first[txn], last = h->op_first[txn + 1];
    uint64_t start, end;

    t->events.n = 0;
    t->n_txns += !part->no_begin;
    if (!begin_of(h, txn, &start, &end)) {
        t->no_times++;
        return 0;
    }
    m.begun = part->no_begin;
    if (first == last || hf_op_kind_of(h, first) != HF_OP_BEGIN)
        put_begin(&m, start, end);
    for (hf_op_id op = first; op < last; op++) {
        if (put_mark(&m, op))
            continue;
        set_times(&m, op);
        put_op(&m, op);
    }
    put_end(&m);
    doubt_last(&m);
    part->answered = m.end;
    part->last = t->events.n > 0 ? t->events.at[t->events.n - 1].before : 0;
    *ret = t->events.at;
    return t->events.n;
}

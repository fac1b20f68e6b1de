/* translate.c: transactions as events. */
#include "watch/translate.h"

#include <string.h>

#include "base/out.h"
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
    uint64_t end;   /* the last answer so far that has a time */
    hf_op_id next;  /* the next operation that has times, or after the last */
    bool has_statement, in_scan;
    bool has_columns; /* of rows were named */
    bool begun, ended;
    bool is_blind; /* it wrote, and nobody knows how long before its commit */
    bool is_asked; /* whether it is */
} maker;

void hf_translator_release(hf_translator *t)
{
    hf_vec_release(&t->keys);
    hf_vec_release(&t->tables);
    hf_vec_release(&t->table_of_key);
    hf_columns_release(&t->columns);
    hf_vec_release(&t->initial_rows);
    hf_vec_release(&t->initial_texts);
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

/* Tables of the piece's keys, as they are numbered here. */
static void name_tables(hf_translator *t, const hf_history *h)
{
    uint32_t plain = hf_watch_names_table(t->names, (hf_str){0});
    hf_string_id last = HF_NONE; /* most are of the table before */
    uint32_t last_table = plain;

    t->tables.n = t->table_of_key.n = 0;
    hf_vec_reserve(&t->tables, h->n_strings);
    if (h->n_strings > 0)
        memset(t->tables.at, 0xff, h->n_strings * sizeof(*t->tables.at));
    t->tables.n = h->n_strings;
    hf_vec_reserve(&t->table_of_key, h->n_keys);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_string_id table = h->key_table ? h->key_table[k] : HF_NONE;

        if (table != last)
            last_table = table == HF_NONE ? plain : table_of(t, h, table);
        last = table;
        t->table_of_key.at[k] = last_table;
    }
    t->table_of_key.n = h->n_keys;
}

void hf_translator_survey(hf_translator *t, const hf_history *h)
{
    name_tables(t, h);
    t->columns.is_survey = true;
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (h->value_type[v] == HF_ROW && h->value_key[v] < h->n_keys)
            (void)hf_columns_meet(&t->columns,
                                  t->table_of_key.at[h->value_key[v]],
                                  hf_value_scalar(h, v));
    t->columns.is_survey = false;
    t->is_surveyed = true;
}

/* Conditions are about rows that are more than a number. */
static void keep_row(hf_translator *t, const hf_history *h, hf_value_id v,
                     uint64_t value)
{
    if (value != HF_EVENT_NO_ROW && !hf_watch_value_is_int(value))
        hf_watch_scans_row(t->scans, value, hf_value_scalar(h, v));
}

static bool has_columns(hf_translator *t, const hf_history *h, hf_key_id key,
                        hf_value_id value)
{
    return h->value_type[value] == HF_ROW &&
           hf_columns_meet(&t->columns, t->table_of_key.at[key],
                           hf_value_scalar(h, value)) == HF_TABLE_COLUMNS;
}

static uint64_t column_value(hf_translator *t, hf_scalar s)
{
    uint64_t value = s.type == HF_NIL ? HF_WATCH_NULL : hf_watch_value_of(s);

    if (s.type != HF_NIL)
        hf_watch_scans_row(t->scans, value, s);
    return value;
}

static void set_initial_columns(hf_translator *t, uint32_t key, hf_scalar row)
{
    hf_column_walk w;

    hf_watch_names_initial(t->names, key, HF_WATCH_PRESENT);
    hf_column_walk_begin(&w, row);
    while (hf_column_walk_next(&w))
        hf_watch_names_initial(t->names,
                               hf_watch_names_column(t->names, key, w.name),
                               column_value(t, w.value));
    hf_column_walk_end(&w);
}

static void keep_initial(hf_translator *t, uint32_t key, uint32_t table,
                         hf_scalar row)
{
    size_t at = t->initial_texts.n;

    hf_vec_reserve(&t->initial_texts, row.length + 1);
    memcpy(t->initial_texts.at + at, row.text, row.length);
    t->initial_texts.n += row.length;
    hf_vec_push(&t->initial_rows, (hf_initial_row){key, table, at, row.length});
}

void hf_translator_settle(hf_translator *t)
{
    for (size_t i = 0; i < t->initial_rows.n; i++) {
        const hf_initial_row *r = &t->initial_rows.at[i];
        hf_scalar row = {.type = HF_ROW,
                         .text = t->initial_texts.at + r->at,
                         .length = r->length};

        if (hf_columns_meet(&t->columns, r->table, row) == HF_TABLE_COLUMNS)
            set_initial_columns(t, r->key, row);
    }
    hf_vec_release(&t->initial_rows);
    hf_vec_release(&t->initial_texts);
    t->is_surveyed = false;
    hf_watch_names_complete(t->names);
}

static void take_initial(hf_translator *t, const hf_history *h, hf_key_id k,
                         hf_value_id initial)
{
    uint32_t key = t->keys.at[k];
    uint64_t value;

    if (!has_columns(t, h, k, initial)) {
        if (t->is_surveyed && h->value_type[initial] == HF_ROW)
            keep_initial(t, key, t->table_of_key.at[k],
                         hf_value_scalar(h, initial));
        value = hf_watch_value_in(h, initial);
        hf_watch_names_initial(t->names, key, value);
        keep_row(t, h, initial, value);
        return;
    }
    set_initial_columns(t, key, hf_value_scalar(h, initial));
}

/* Names keys from `from` on; how many. */
static uint32_t name_keys(hf_translator *t, const hf_history *h, hf_key_id from)
{
    hf_scalar keys[HF_WATCH_NAMES_MOST];
    uint32_t n = h->n_keys - from;

    if (n > HF_WATCH_NAMES_MOST)
        n = HF_WATCH_NAMES_MOST;
    for (uint32_t i = 0; i < n; i++)
        keys[i] =
            h->key_type[from + i] == HF_INT
                ? (hf_scalar){.type = HF_INT, .number = h->key_data[from + i]}
                : hf_key_scalar(h, from + i);
    hf_watch_names_keys(t->names, &t->table_of_key.at[from], keys, n,
                        &t->keys.at[from]);
    t->keys.n += n;
    return n;
}

void hf_translator_piece(hf_translator *t, const hf_history *h)
{
    name_tables(t, h);
    if (h->key_initial && !t->is_announced) {
        t->is_announced = true;
        hf_watch_names_all_absent(t->names);
    }
    t->keys.n = 0;
    hf_vec_reserve(&t->keys, h->n_keys);
    for (hf_key_id k = 0; k < h->n_keys;)
        k += name_keys(t, h, k);
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE)
            take_initial(t, h, k, h->key_initial[k]);
    if (!t->is_surveyed) /* else more may be said, until it is settled */
        hf_watch_names_complete(t->names);
}

/* ---- events -------------------------------------------------------------- */

static void put(maker *m, hf_event_kind kind, unsigned flags)
{
    m->e.kind = (uint8_t)kind;
    m->e.flags = (uint8_t)flags;
    hf_vec_push(&m->t->events, m->e);
}

static void put_key(maker *m, hf_event_kind kind, unsigned flags, uint32_t key,
                    uint64_t value)
{
    m->e.key = key;
    m->e.value = value;
    put(m, kind, flags);
}

/* A row, or some columns of it. */
static void put_columns(maker *m, hf_event_kind kind, unsigned flags,
                        uint32_t row, hf_scalar s)
{
    hf_translator *t = m->t;
    hf_column_walk w;
    bool is_empty = true;

    m->has_columns = true;
    m->e.row = row;
    if (kind == HF_EVENT_WRITE)
        put_key(m, kind, flags, row, HF_WATCH_PRESENT);
    hf_column_walk_begin(&w, s);
    while (hf_column_walk_next(&w)) {
        put_key(m, kind, flags, hf_watch_names_column(t->names, row, w.name),
                column_value(t, w.value));
        is_empty = false;
    }
    hf_column_walk_end(&w);
    /* a scan is told which rows it returned */
    if (kind == HF_EVENT_READ && (is_empty || m->in_scan))
        put_key(m, kind, flags, row, HF_WATCH_PRESENT);
    m->e.key = m->e.row = 0;
    m->e.value = HF_EVENT_NO_ROW;
}

/* The row is gone, and all that is known of it. */
static void delete_columns(maker *m, unsigned flags, uint32_t row)
{
    uint32_t key = hf_watch_names_first_column(m->t->names, row);

    m->e.row = row;
    for (; key != HF_WATCH_NO_KEY;
         key = hf_watch_names_next_column(m->t->names, key))
        put_key(m, HF_EVENT_WRITE, flags, key, HF_EVENT_NO_ROW);
    m->e.key = m->e.row = 0;
}

static void put_item(maker *m, hf_event_kind kind, unsigned flags,
                     hf_key_id key, hf_value_id value)
{
    if (value != HF_NONE && has_columns(m->t, m->h, key, value)) {
        put_columns(m, kind, flags, m->t->keys.at[key],
                    hf_value_scalar(m->h, value));
        return;
    }
    m->e.key = m->e.row = m->t->keys.at[key];
    m->e.value =
        value == HF_NONE ? HF_EVENT_NO_ROW : hf_watch_value_in(m->h, value);
    if (kind == HF_EVENT_WRITE && value != HF_NONE)
        keep_row(m->t, m->h, value, m->e.value);
    put(m, kind, flags);
    if (kind == HF_EVENT_WRITE && m->e.value == HF_EVENT_NO_ROW)
        delete_columns(m, flags, m->e.row);
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

/* A name that needs no quotes. */
static bool is_plain_name(hf_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!(s.ptr[i] == '_' || (s.ptr[i] >= 'a' && s.ptr[i] <= 'z') ||
              (i > 0 && s.ptr[i] >= '0' && s.ptr[i] <= '9')))
            return false;
    return s.len > 0;
}

/* What an aggregate says of rows that are not there, as a condition that no
 * row satisfies: nothing is below a minimum, nothing was counted.  False: it
 * says nothing of that kind. */
static bool none_satisfies(const hf_history *h, hf_op_kind kind,
                           const hf_predicate *p, hf_out *ret)
{
    hf_str column = p->n_columns > 0 ? hf_string(h, p->columns[0]) : HF_STR("");
    hf_str condition = hf_string(h, p->condition);

    hf_out_format(ret, "(%.*s)", (int)condition.len, condition.ptr);
    if (kind == HF_OP_COUNT_ROWS)
        return p->result.type == HF_INT && p->result.number == 0 &&
               p->n_columns == 0;
    if (!is_plain_name(column))
        return false;
    if (p->result.type == HF_NIL) {
        hf_out_format(ret, " and %.*s is not null", (int)column.len,
                      column.ptr);
        return true;
    }
    if (p->result.type != HF_INT || (kind != HF_OP_MIN && kind != HF_OP_MAX))
        return false;
    hf_out_format(ret, " and %.*s %c %lld", (int)column.len, column.ptr,
                  kind == HF_OP_MIN ? '<' : '>', (long long)p->result.number);
    return true;
}

/* The number that an aggregate returned, of all rows that may have counted. */
static bool put_total(maker *m, hf_op_kind kind, const hf_predicate *p,
                      uint32_t table, unsigned flags)
{
    hf_watch_total_kind what = kind == HF_OP_COUNT_ROWS ? HF_TOTAL_COUNT
                               : kind == HF_OP_SUM      ? HF_TOTAL_SUM
                               : kind == HF_OP_MIN      ? HF_TOTAL_MIN
                               : kind == HF_OP_MAX      ? HF_TOTAL_MAX
                                                        : HF_TOTAL_NONE;
    hf_str column =
        p->n_columns > 0 ? hf_string(m->h, p->columns[0]) : HF_STR("");

    if (what == HF_TOTAL_NONE || p->result.type != HF_INT ||
        (what != HF_TOTAL_COUNT && column.len == 0) ||
        !hf_watch_names_are_absent(m->t->names))
        return false;
    m->e.extra = hf_watch_scans_total(
        m->t->scans, table, hf_string(m->h, p->condition), column, what);
    m->e.value = hf_watch_value_of(p->result);
    hf_event_set_number(&m->e, p->result.number);
    put(m, HF_EVENT_SCAN, flags);
    m->e.extra = m->e.key = m->e.row = 0;
    m->e.value = HF_EVENT_NO_ROW;
    return true;
}

static void put_aggregate(maker *m, hf_op_kind kind, const hf_predicate *p,
                          uint32_t table, unsigned flags)
{
    hf_out condition;
    bool some = false;

    if ((flags & HF_EVENT_FAILED) || !p->has_result_set ||
        p->condition == HF_NONE) {
        m->t->aggregates += !(flags & HF_EVENT_FAILED);
        return;
    }
    hf_out_init_memory(&condition);
    if (none_satisfies(m->h, kind, p, &condition)) {
        m->e.extra =
            hf_watch_scans_add(m->t->scans, table, hf_out_view(&condition));
        put(m, HF_EVENT_SCAN, flags);
        m->e.extra = 0;
        some = true;
    }
    hf_out_release(&condition);
    some |= put_total(m, kind, p, table, flags);
    m->t->aggregates += !some;
}

static void put_predicate(maker *m, hf_op_id op, hf_op_kind kind,
                          unsigned flags)
{
    hf_predicate p = hf_op_predicate(m->h, op);
    uint32_t table = table_of(m->t, m->h, p.table);

    if (hf_op_is_aggregate(kind)) {
        put_aggregate(m, kind, &p, table, flags);
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
    m->in_scan = true;
    for (uint32_t i = 0; i < p.n_results; i++) {
        hf_value_id v = p.results[i].value;

        keep_row(m->t, m->h, v, hf_watch_value_in(m->h, v));
        put_item(m, HF_EVENT_READ, flags, m->h->value_key[v], v);
    }
    m->in_scan = false;
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

static void heard(maker *m, uint64_t answer)
{
    if (answer != HF_TIME_NONE && answer > m->end)
        m->end = answer;
}

/* When what has no times may begin: after the last answer. */
static uint64_t earliest(const maker *m)
{
    return m->end > m->start ? m->end : m->start;
}

static bool writes(const hf_history *h, hf_txn_id txn)
{
    for (hf_op_id op = h->op_first[txn]; op < h->op_first[txn + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (kind != HF_OP_READ && kind != HF_OP_BEGIN && kind != HF_OP_COMMIT &&
            kind != HF_OP_ABORT && kind != HF_OP_PREDICATE_READ)
            return true;
    }
    return false;
}

/* When it has ended: before the next call, by the end of all.  The engine
 * takes it that a call has ended when the commit begins; where that is not
 * known, and something was written, it is as if there had been no answer. */
static uint64_t latest(maker *m, hf_op_id op)
{
    hf_op_id last = m->h->op_first[m->txn + 1];
    uint64_t start = 0, end;

    if (m->next <= op)
        m->next = op + 1;
    while (m->next < last &&
           !hf_op_interval(m->h, m->txn, m->next, &start, &end))
        m->next++;
    if (m->next == last) {
        if (!m->is_asked)
            m->is_blind = m->part->no_begin || m->part->no_end ||
                          m->h->txn_outcome[m->txn] == HF_UNKNOWN_OUTCOME ||
                          writes(m->h, m->txn);
        m->is_asked = true;
        return m->is_blind ? UINT64_MAX : hf_txn_end_time(m->h, m->txn);
    }
    return start > earliest(m) ? start : earliest(m);
}

/* The times of an operation; and is it of the statement before? */
static void set_times(maker *m, hf_op_id op)
{
    uint64_t start, end;
    bool same = false;

    if (!hf_op_interval(m->h, m->txn, op, &start, &end)) {
        end = latest(m, op);
        start = earliest(m) <= end ? earliest(m) : m->start;
    } else {
        same = start == m->e.before && end == m->e.after && start < end;
        heard(m, end);
    }
    if (!same || !m->has_statement)
        m->e.statement = m->part->statement++;
    m->has_statement = true;
    m->e.before = m->start = start;
    m->e.after = end;
}

static bool is_weaker(const maker *m)
{
    unsigned level = m->h->txn_level ? m->h->txn_level[m->txn] : HF_LEVEL_UNSET;

    return level < HF_LEVEL_COUNT && m->t->is_weaker[level];
}

static void put_begin(maker *m, uint64_t start, uint64_t end)
{
    if (m->begun)
        return;
    m->begun = true;
    m->e.before = start;
    m->e.after = end < start ? start : end;
    m->e.statement = m->part->statement;
    put(m, HF_EVENT_BEGIN, is_weaker(m) ? HF_EVENT_WEAKER : 0);
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
        heard(m, end);
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
    m->e.before = earliest(m);
    m->e.after = outcome == HF_UNKNOWN_OUTCOME ? UINT64_MAX
                                               : hf_txn_end_time(m->h, m->txn);
    if (m->e.before > m->e.after)
        m->e.before = m->start;
    m->e.statement = m->part->statement++;
    put(m, outcome == HF_ABORTED ? HF_EVENT_ABORT : HF_EVENT_COMMIT, 0);
}

/* When it begins, and the end of that: the start of its first operation that
 * has times. */
static bool begin_of(const hf_history *h, hf_txn_id txn, uint64_t *ret_start,
                     uint64_t *ret_end)
{
    uint64_t begin = hf_txn_begin_time(h, txn), start, end;
    hf_op_id op = h->op_first[txn];
    bool some = false, first = true;

    for (; op < h->op_first[txn + 1] && !some; op++) {
        some = hf_op_interval(h, txn, op, &start, &end);
        first &= some || hf_op_kind_of(h, op) == HF_OP_BEGIN;
    }
    if (begin == HF_TIME_NONE && !(some && first))
        return false;
    *ret_start = begin != HF_TIME_NONE ? begin : start;
    *ret_end = some ? start : hf_txn_end_time(h, txn);
    return true;
}

bool hf_translator_begin(const hf_history *h, hf_txn_id txn, uint64_t *ret)
{
    uint64_t end;

    return begin_of(h, txn, ret, &end);
}

/* Is it a BEGIN that tells when it was called? */
static bool is_begin(const hf_history *h, hf_txn_id txn, hf_op_id op)
{
    uint64_t start, end;

    return hf_op_kind_of(h, op) == HF_OP_BEGIN &&
           !(hf_op_flags_of(h, op) & HF_OP_FAILED) &&
           hf_op_interval(h, txn, op, &start, &end);
}

/* A transaction that aborted may have done so in its last statement: what that
 * would have written or locked, it may never have. */
static void doubt_last(maker *m)
{
    size_t i = m->t->events.n;
    uint32_t statement;

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
    /* what came before says when it is, if this part has no times */
    bool goes_on = part->no_begin && (part->last > 0 || part->answered > 0);
    uint64_t start = 0, end = 0;

    t->events.n = 0;
    t->n_txns += !part->no_begin;
    if (!goes_on && !begin_of(h, txn, &start, &end)) {
        t->no_times++;
        return 0;
    }
    m.begun = part->no_begin;
    if (!m.begun && (first == last || !is_begin(h, txn, first)))
        put_begin(&m, start, end);
    for (hf_op_id op = first; op < last; op++) {
        if (put_mark(&m, op))
            continue;
        set_times(&m, op);
        put_op(&m, op);
    }
    put_end(&m);
    doubt_last(&m);
    t->no_times += m.is_blind;
    if (m.has_columns) /* they may be new */
        hf_watch_names_complete(t->names);
    part->answered = m.end;
    if (t->events.n > 0)
        part->last = t->events.at[t->events.n - 1].before;
    *ret = t->events.at;
    return t->events.n;
}

/* oracle_predicate.c: predicate operations as the oracle understands them.
 *
 * Version sets are taken as they were recorded.  Where a snapshot was recorded
 * instead, it is asked of every key what the snapshot held, by looking at all
 * transactions: see the text in history/snapshot.h, which is written out here
 * word by word and with nothing of its code.
 */
#include "oracle_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/extra.h"

#define NOT_SAID (-3) /* as a version: the certificate does not say */

/* ---- snapshots ----------------------------------------------------------- */

typedef struct snapshot {
    const o_model *m;
    int txn; /* whose it is: never in its own snapshot */
    bool by_time;
    uint64_t time;
    int64_t min, max;
    const char *active; /* ",5,7," */
} snapshot;

static uint64_t commit_time(const o_model *m, int t)
{
    return m->h->cert.commit_ts ? m->h->cert.commit_ts[t] : HF_TIME_NONE;
}

static bool may_be_held(const snapshot *s, int t, int key)
{
    return s->m->txns[t].outcome != HF_ABORTED && t != s->txn &&
           o_writes(s->m, t, key);
}

static int held_at_time(const snapshot *s, int key)
{
    uint64_t latest = 0;
    int held = O_INITIAL;

    for (int t = 0; t < s->m->n_txns; t++) {
        uint64_t time = commit_time(s->m, t);

        if (!may_be_held(s, t, key))
            continue;
        if (time == HF_TIME_NONE) {
            if (s->m->txns[t].outcome == HF_COMMITTED)
                return NOT_SAID;
        } else if (time <= s->time && time > latest) {
            latest = time;
            held = t;
        }
    }
    for (int t = 0; t < s->m->n_txns; t++)
        if (held >= 0 && t != held && may_be_held(s, t, key) &&
            commit_time(s->m, t) == latest)
            return NOT_SAID;
    return held;
}

static bool has_id(const snapshot *s, int t)
{
    int64_t id = hf_txn_label(s->m->h, (hf_txn_id)t);
    char text[24];

    (void)snprintf(text, sizeof(text), ",%lld,", (long long)id);
    return id < s->min || (id < s->max && !strstr(s->active, text));
}

/* Has any writer that did not abort a place in the order of the key? */
static bool is_ordered(const o_model *m, int key)
{
    for (int t = 0; t < m->n_txns; t++)
        if (m->txns[t].outcome != HF_ABORTED && m->rank[key][t] >= 0)
            return true;
    return false;
}

/* Have all of them commit times, no two the same? */
static bool is_timed(const o_model *m, int key)
{
    for (int a = 0; a < m->n_txns; a++) {
        if (m->txns[a].outcome == HF_ABORTED || !o_writes(m, a, key))
            continue;
        if (commit_time(m, a) == HF_TIME_NONE)
            return false;
        for (int b = 0; b < a; b++)
            if (m->txns[b].outcome != HF_ABORTED && o_writes(m, b, key) &&
                commit_time(m, a) == commit_time(m, b))
                return false;
    }
    return true;
}

static int held_by_ids(const snapshot *s, int key)
{
    const o_model *m = s->m;
    bool ordered = is_ordered(m, key), timed = !ordered && is_timed(m, key);
    int held = O_INITIAL, unplaced = O_INITIAL;
    int64_t latest = -1;

    for (int t = 0; t < m->n_txns; t++) {
        int64_t place = ordered ? m->rank[key][t]
                        : timed ? (int64_t)commit_time(m, t)
                                : -1;

        if (!may_be_held(s, t, key) || !has_id(s, t))
            continue;
        if (place < 0) {
            if (m->txns[t].outcome != HF_COMMITTED)
                continue;
            if (unplaced != O_INITIAL)
                return NOT_SAID;
            unplaced = t;
        } else if (place > latest) {
            latest = place;
            held = t;
        }
    }
    if (unplaced == O_INITIAL)
        return held;
    return held == O_INITIAL ? unplaced : NOT_SAID;
}

/* Adds what the snapshot held of the key; false if that is not said. */
static bool add_held(const snapshot *s, int key, int step, o_step *p)
{
    const o_model *m = s->m;
    o_entry e = {.key = key, .value = m->initial[key], .writer = s->txn};

    if (!o_own_write(m, s->txn, key, step, &e.value)) {
        e.writer = s->by_time ? held_at_time(s, key) : held_by_ids(s, key);
        if (e.writer == NOT_SAID)
            return false;
        if (e.writer != O_INITIAL)
            (void)o_own_write(m, e.writer, key, m->txns[e.writer].n_steps,
                              &e.value);
    }
    p->entries[p->n_entries++] = e;
    return true;
}

static bool fill_snapshot(const o_model *m, int txn, int step,
                          const hf_predicate *pred, o_step *p)
{
    char active[80] = ",";
    snapshot s = {.m = m, .txn = txn, .active = active};

    s.by_time = pred->snapshot == HF_SNAPSHOT_TIME;
    s.time = pred->snapshot_time;
    if (!s.by_time) {
        hf_str text = hf_string(m->h, pred->snapshot_ids);
        long long min = 0, max = 0;
        char list[64] = "";

        (void)snprintf(active, sizeof(active), "%.*s", (int)text.len, text.ptr);
        (void)sscanf(active, "%lld:%lld:%63s", &min, &max, list);
        (void)snprintf(active, sizeof(active), ",%s,", list);
        s.min = min;
        s.max = max;
    }
    for (int k = 0; k < m->n_keys; k++) {
        hf_string_id table =
            m->h->key_table ? m->h->key_table[k] : (hf_string_id)HF_NONE;

        if (table == pred->table && !add_held(&s, k, step, p))
            return false;
    }
    return true;
}

/* ---- version sets and rows ----------------------------------------------- */

static int writer_of(const hf_version_ref *v)
{
    if (v->writer == HF_NONE)
        return O_ANY_WRITER;
    return v->writer == HF_WRITER_INITIAL ? O_INITIAL : (int)v->writer;
}

static uint32_t plain(const hf_history *h, hf_value_id v)
{
    return h->value_type[v] == HF_NIL ? O_NIL : v;
}

static o_entry *entry_of(o_step *p, int key)
{
    for (int i = 0; i < p->n_entries; i++)
        if (p->entries[i].key == key)
            return &p->entries[i];
    return NULL;
}

static void fill_listed(const o_model *m, const hf_predicate *pred, o_step *p)
{
    for (uint32_t i = 0; i < pred->n_versions; i++) {
        const hf_version_ref *v = &pred->versions[i];
        int key = (int)m->h->value_key[v->value];

        if (!entry_of(p, key))
            p->entries[p->n_entries++] =
                (o_entry){.key = key,
                          .value = plain(m->h, v->value),
                          .writer = writer_of(v)};
    }
}

/* Every row is a match and the version that was looked at, every match is
 * there, no key twice.  Rows of other keys are read as items. */
static void judge_rows(const o_model *m, const hf_predicate *pred, o_step *p)
{
    uint32_t rows[O_KEYS];
    int n_listed = p->n_entries;

    memset(rows, 0xff, sizeof(rows));
    for (uint32_t i = 0; i < pred->n_results; i++) {
        uint32_t value = plain(m->h, pred->results[i].value);
        int key = (int)m->h->value_key[pred->results[i].value];
        o_entry *e = entry_of(p, key);

        if (!o_matches(m, p, value) || (e && e->value != value) ||
            (rows[key] != HF_NONE && rows[key] != value))
            p->wrong_rows = true;
        rows[key] = value;
        if (!e)
            p->entries[p->n_entries++] = (o_entry){.key = key,
                                                   .value = value,
                                                   .writer = O_ANY_WRITER,
                                                   .matches = true};
    }
    for (int i = 0; i < n_listed; i++)
        if (p->entries[i].matches && rows[p->entries[i].key] == HF_NONE)
            p->wrong_rows = true;
}

/* ---- aggregates ---------------------------------------------------------- */

/* The column of a version; false: null. */
static bool column_of(const o_model *m, const hf_predicate *pred,
                      uint32_t value, int64_t *ret)
{
    hf_str name = pred->n_columns > 0 ? hf_string(m->h, pred->columns[0])
                                      : HF_STR("value");

    *ret = 0;
    return row_column(hf_value_scalar(m->h, value), name.ptr[0], ret);
}

/* Recorded with six digits after the point. */
static bool is_average(hf_scalar result, int64_t sum, int64_t count)
{
    char text[40];

    if (result.type != HF_REAL)
        return false;
    (void)snprintf(text, sizeof(text), "%.*s", (int)result.length, result.text);
    return fabs(strtod(text, NULL) * (double)count - (double)sum) < 1e-5;
}

static bool is_result(const o_model *m, hf_op_kind kind,
                      const hf_predicate *pred, const o_step *p)
{
    int64_t count = 0, rows = 0, sum = 0, least = 0, most = 0, n;

    for (int i = 0; i < p->n_entries; i++) {
        if (!p->entries[i].matches)
            continue;
        rows++;
        if (!column_of(m, pred, p->entries[i].value, &n))
            continue;
        least = count == 0 || n < least ? n : least;
        most = count == 0 || n > most ? n : most;
        sum += n;
        count++;
    }
    if (kind == HF_OP_COUNT_ROWS)
        return pred->result.type == HF_INT &&
               pred->result.number == (pred->n_columns > 0 ? count : rows);
    if (count == 0)
        return pred->result.type == HF_NIL ||
               (kind == HF_OP_SUM && pred->result.number == 0);
    if (kind == HF_OP_AVG)
        return is_average(pred->result, sum, count);
    return pred->result.type == HF_INT &&
           pred->result.number == (kind == HF_OP_SUM   ? sum
                                   : kind == HF_OP_MIN ? least
                                                       : most);
}

/* ---- no version set ------------------------------------------------------ */

static bool is_list(const o_model *m, int key)
{
    for (int t = 0; t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++)
            if (m->txns[t].steps[i].key == key &&
                (m->txns[t].steps[i].kind == O_APPEND ||
                 m->txns[t].steps[i].kind == O_ADD))
                return true;
    return false;
}

/* Of every other key of its table it saw some version that does not match, or
 * its own write.  False: of one nothing can be said. */
static bool add_unlisted(const o_model *m, const hf_predicate *pred, o_step *p)
{
    bool said = true;

    for (int k = 0; k < m->n_keys; k++) {
        hf_string_id table =
            m->h->key_table ? m->h->key_table[k] : (hf_string_id)HF_NONE;

        if (table != pred->table || entry_of(p, k))
            continue;
        said &= !is_list(m, k);
        if (!is_list(m, k) && p->n_entries < O_ENTRIES)
            p->entries[p->n_entries++] =
                (o_entry){.key = k, .writer = O_ANY_WRITER, .unlisted = true};
    }
    return said;
}

/* ---- one operation ------------------------------------------------------- */

bool o_fill_predicate(o_model *m, int txn, int step)
{
    o_step *p = &m->txns[txn].steps[step];
    hf_op_kind kind = hf_op_kind_of(m->h, p->op);
    hf_predicate pred = hf_op_predicate(m->h, p->op);
    bool aggregate = kind > HF_OP_PREDICATE_DELETE;
    bool known = pred.has_version_set;

    if (!condition_parse(hf_string(m->h, pred.condition), &p->where) ||
        condition_is_odd(p->where.form) || pred.n_versions > O_ENTRIES / 2 ||
        pred.n_results > O_ENTRIES / 2)
        return false;
    if (known)
        fill_listed(m, &pred, p);
    else if (pred.snapshot != HF_SNAPSHOT_NONE)
        known = fill_snapshot(m, txn, step, &pred, p);
    if (!known)
        p->n_entries = 0;
    for (int i = 0; i < p->n_entries; i++)
        p->entries[i].matches = o_matches(m, p, p->entries[i].value);
    if (!aggregate && pred.has_result_set)
        judge_rows(m, &pred, p);
    else if (aggregate && pred.has_result_set && known)
        p->wrong_rows = !is_result(m, kind, &pred, p);
    if (!known && pred.has_result_set &&
        (aggregate || !add_unlisted(m, &pred, p)))
        m->blind_reads |= m->txns[txn].outcome != HF_ABORTED;
    return true;
}

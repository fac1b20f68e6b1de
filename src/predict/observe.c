/* observe.c: who wrote, who read from whom.
 *
 * One pass over the operations of each transaction that takes part gives the
 * last write of each key and the reads of what others wrote; a second one,
 * over the reads, finds the observed source of each by its value.  Equal
 * values leave a doubt: then a label (labels.c) tells, or it is the writer of
 * that value which stands last before the reader in the file.
 *
 * An append and an increment are a read of the newest version and a write.
 * A predicate operation reads each row of its table (rows.c).
 *
 * O(operations), and for predicate operations times the rows of the table.
 */
#include "predict/events.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/sort.h"
#include "history/snapshot.h"

#define UNREAD (HF_NONE - 1) /* raw read: found by position, not by value */

typedef struct pass {
    hf_observed *o;
    hf_events *e;
    const hf_history *h;
    hf_snapshots *snapshots;
    hf_event_labels *labels; /* NULL: none */
    uint32_t *mark;          /* per key: transaction that wrote it last */
    uint32_t *at;        /* per key: its write, if mark is the current one */
    hf_value_id *before; /* per value: the element before it in a list;
                            HF_NONE: not known, UNREAD: it is the first */
    HF_VEC(hf_value_id) value_of; /* per raw read: what it returned */
    HF_VEC(hf_key_id) key_of;     /* per write, before sorting */
    uint32_t statement, block;
    bool owned;    /* what follows belongs to a statement that was recorded */
    bool modifies; /* which is an UPDATE or the like */
    hf_error *err;
} pass;

/* ---- who takes part ------------------------------------------------------ */

static hf_value_id version_of(const hf_history *h, hf_value_id v)
{
    return v != HF_NONE && h->value_type[v] == HF_LIST ? hf_list_last(h, v) : v;
}

static bool is_done(const hf_history *h, hf_op_id op)
{
    return !(hf_op_flags_of(h, op) & HF_OP_FAILED);
}

/* Marks the transactions of unknown outcome that some kept one read from;
 * true if there was a new one. */
static bool keep_more(const hf_history *h, const hf_txn_id *unknown_of,
                      uint8_t *kept)
{
    bool more = false;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; kept[t] && op < h->op_first[t + 1];
             op++) {
            hf_value_id v =
                hf_op_reads_item(hf_op_kind_of(h, op)) && is_done(h, op)
                    ? version_of(h, h->op_value[op])
                    : HF_NONE;
            hf_txn_id w = v == HF_NONE ? HF_NONE : unknown_of[v];

            if (w != HF_NONE && !kept[w]) {
                kept[w] = 1;
                more = true;
            }
        }
    return more;
}

static void number_txns(hf_events *e)
{
    const hf_history *h = e->h;
    uint8_t *kept = HF_NEW_ZEROED(uint8_t, h->n_txns + 1);
    hf_txn_id *unknown_of = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);

    memset(unknown_of, 0xff, h->n_values * sizeof(*unknown_of));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        kept[t] = h->txn_outcome[t] == HF_COMMITTED;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME && is_done(h, op) &&
                hf_op_installs(hf_op_kind_of(h, op)) &&
                !hf_op_has_extra(hf_op_kind_of(h, op)) &&
                h->op_value[op] != HF_NONE)
                unknown_of[h->op_value[op]] = t;
    }
    while (keep_more(h, unknown_of, kept))
        ;
    e->n = 1;
    e->number = HF_NEW_ZEROED(uint32_t, h->n_txns + 1);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (kept[t])
            e->number[t] = e->n++;
    e->txn_of = HF_NEW_ARRAY(hf_txn_id, e->n);
    e->session_of = HF_NEW_ARRAY(uint32_t, e->n);
    e->before = HF_NEW_ZEROED(uint32_t, e->n);
    e->statements = HF_NEW_ZEROED(uint32_t, e->n);
    e->session_txns = HF_NEW_ZEROED(uint32_t, e->n);
    e->plain_at = HF_NEW_ARRAY(uint32_t, e->n);
    memset(e->plain_at, 0xff, e->n * sizeof(*e->plain_at));
    e->txn_of[0] = e->session_of[0] = HF_NONE;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (kept[t])
            e->txn_of[e->number[t]] = t;
    hf_free(kept);
    hf_free(unknown_of);
}

static void number_sessions(hf_events *e)
{
    const hf_history *h = e->h;
    uint32_t n = 0;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_event_session row = {.session = s, .first_txn = n};
        uint32_t last = 0;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            uint32_t t = e->number[h->session_txns[i]];

            if (t == 0)
                continue;
            HF_ASSERT(t > last);
            e->session_of[t] = (uint32_t)e->sessions.n;
            e->before[t] = last;
            e->session_txns[n++] = last = t;
        }
        row.n_txns = n - row.first_txn;
        hf_vec_push(&e->sessions, row);
    }
}

/* ---- operations ---------------------------------------------------------- */

static void put_read(pass *p, uint32_t t, hf_op_id op, hf_key_id key,
                     hf_value_id value, bool locking)
{
    hf_raw_read r = {.op = op,
                     .txn = t,
                     .key = key,
                     .statement = p->statement,
                     .condition = HF_NONE,
                     .locking = locking,
                     .modifies = p->modifies,
                     .matches = true};

    if (!locking && p->e->plain_at[t] == HF_NONE)
        p->e->plain_at[t] = p->statement;
    hf_vec_push(&p->o->reads, r);
    hf_vec_push(&p->value_of, value);
}

static void put_write(pass *p, uint32_t t, hf_op_id op, hf_key_id key,
                      hf_value_id value)
{
    const hf_raw_read *last =
        p->o->reads.n > 0 ? &p->o->reads.at[p->o->reads.n - 1] : NULL;
    hf_event_write w = {.txn = t,
                        .block = p->block,
                        .updates = last && last->op == op && last->txn == t,
                        .op = op,
                        .locked_at = p->statement,
                        .value = value};

    if (p->mark[key] == t) {
        w.locked_at = p->e->writes.at[p->at[key]].locked_at;
        p->e->writes.at[p->at[key]] = w;
        return;
    }
    p->mark[key] = t;
    p->at[key] = (uint32_t)p->e->writes.n;
    hf_vec_push(&p->e->writes, w);
    hf_vec_push(&p->key_of, key);
}

/* The rows that an operation looked at, or at least those it returned. */
static void put_rows(pass *p, uint32_t t, hf_op_id op)
{
    const hf_history *h = p->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_predicate q = hf_op_predicate(h, op);
    bool locking = (hf_op_flags_of(h, op) & HF_OP_WITH_ITEMS) ||
                   kind == HF_OP_PREDICATE_UPDATE ||
                   kind == HF_OP_PREDICATE_DELETE;
    uint32_t condition = hf_event_rows_condition(p->o->rows, q.condition);
    const hf_key_id *keys = NULL;
    uint32_t n = hf_event_rows_keys(p->o->rows, q.table, &keys);
    bool says = q.has_version_set || q.snapshot != HF_SNAPSHOT_NONE ||
                (q.has_result_set && !hf_op_is_aggregate(kind));

    if (!says) {
        p->e->ignored++;
        return;
    }
    if (condition == HF_NONE) {
        p->e->ignored++;
        for (uint32_t i = 0;
             q.has_result_set && !hf_op_is_aggregate(kind) && i < q.n_results;
             i++)
            if (p->mark[h->value_key[q.results[i].value]] != t)
                put_read(p, t, op, h->value_key[q.results[i].value],
                         q.results[i].value, locking);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (p->mark[keys[i]] == t)
            continue;
        put_read(p, t, op, keys[i], UNREAD, locking);
        p->o->reads.at[p->o->reads.n - 1].is_row = true;
        p->o->reads.at[p->o->reads.n - 1].condition = condition;
    }
}

static hf_status put_increment(pass *p, uint32_t t, hf_op_id op)
{
    hf_increment i = hf_op_increment(p->h, op);
    hf_key_id key = p->h->op_key[op];

    if (!i.has_result)
        return hf_fail(p->err, HF_ERR_UNSUPPORTED,
                       "T%lld has an increment without results, whose version "
                       "nobody can be seen to read",
                       (long long)hf_txn_label(p->h, p->e->txn_of[t]));
    if (p->mark[key] != t)
        put_read(p, t, op, key, i.before, true);
    put_write(p, t, op, key, i.after);
    return HF_OK;
}

static void put_append(pass *p, uint32_t t, hf_op_id op)
{
    hf_key_id key = p->h->op_key[op];

    if (p->mark[key] != t) {
        put_read(p, t, op, key, UNREAD, true);
        p->o->reads.at[p->o->reads.n - 1].modifies = true;
    }
    put_write(p, t, op, key, p->h->op_value[op]);
}

static hf_status put_op(pass *p, uint32_t t, hf_op_id op)
{
    const hf_history *h = p->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];

    if (!is_done(h, op) || hf_event_labels_has(p->labels, key))
        return HF_OK;
    if (kind == HF_OP_INCREMENT)
        return put_increment(p, t, op);
    if (hf_op_has_predicate(kind)) {
        put_rows(p, t, op);
    } else if (kind == HF_OP_APPEND) {
        put_append(p, t, op);
    } else if (hf_op_installs(kind)) {
        put_write(p, t, op, key, h->op_value[op]);
    } else if (hf_op_is_opaque(h, op)) {
        p->e->ignored++;
    } else if (hf_op_reads_item(kind)) {
        if (h->op_value[op] == HF_NONE)
            p->e->ignored++;
        else if (p->mark[key] != t)
            put_read(p, t, op, key, version_of(h, h->op_value[op]),
                     (hf_op_flags_of(h, op) & HF_OP_WITH_ITEMS) != 0);
    }
    return HF_OK;
}

/* A statement whose items follow it; a comment does nothing. */
static bool owns_items(const hf_history *h, hf_op_id op)
{
    hf_str text;

    if (hf_op_kind_of(h, op) != HF_OP_SQL || !is_done(h, op) ||
        hf_op_is_opaque(h, op))
        return false;
    text = hf_string(h, hf_op_sql(h, op).text);
    return text.len < 4 || text.ptr[0] != '/' || text.ptr[1] != '*' ||
           text.ptr[text.len - 2] != '*' || text.ptr[text.len - 1] != '/';
}

/* Does the statement change rows, and return nothing of them? */
static bool is_modifying(const hf_history *h, hf_op_id op)
{
    static const char *const words[] = {"update", "delete", "insert"};
    hf_str text = hf_string(h, hf_op_sql(h, op).text);
    bool found = false;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found =
            found || (text.len > 6 && strncasecmp(text.ptr, words[i], 6) == 0);
    for (size_t i = 0; found && i + 9 <= text.len; i++)
        found = (text.ptr[i] | 32) != 'r' ||
                strncasecmp(text.ptr + i, "returning", 9) != 0;
    return found;
}

/* Operations of one statement have one interval; without times they follow
 * the statement, if it was recorded. */
static bool same_statement(const pass *p, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = p->h;
    uint64_t a0, a1, b0, b1;

    if (op == h->op_first[t])
        return false;
    if (hf_op_interval(h, t, op - 1, &a0, &a1) &&
        hf_op_interval(h, t, op, &b0, &b1))
        return a0 == b0 && a1 == b1;
    return p->owned && hf_op_kind_of(h, op) != HF_OP_SQL;
}

static hf_status put_txn(pass *p, uint32_t t)
{
    hf_txn_id id = p->e->txn_of[t];
    hf_status st = HF_OK;

    p->statement = p->block = 0;
    p->owned = p->modifies = false;
    for (hf_op_id op = p->h->op_first[id];
         st == HF_OK && op < p->h->op_first[id + 1]; op++) {
        size_t n = p->o->reads.n;

        if (op > p->h->op_first[id] && !same_statement(p, id, op))
            p->statement++;
        if (hf_op_kind_of(p->h, op) == HF_OP_SQL) {
            p->owned = owns_items(p->h, op);
            p->modifies = p->owned && is_modifying(p->h, op);
        }
        st = put_op(p, t, op);
        p->block += p->o->reads.n > n;
    }
    p->e->statements[t] = p->statement + 1;
    return st;
}

/* ---- sources ------------------------------------------------------------- */

static void sort_writes(pass *p)
{
    hf_events *e = p->e;
    size_t n = e->writes.n;
    hf_event_write *sorted = HF_NEW_ARRAY(hf_event_write, n + 1);
    uint32_t *next;

    e->write_first = HF_NEW_ZEROED(uint32_t, (size_t)p->h->n_keys + 1);
    next = HF_NEW_ZEROED(uint32_t, (size_t)p->h->n_keys + 1);
    for (size_t i = 0; i < n; i++)
        e->write_first[p->key_of.at[i] + 1]++;
    for (hf_key_id k = 0; k < p->h->n_keys; k++)
        e->write_first[k + 1] += e->write_first[k];
    memcpy(next, e->write_first, p->h->n_keys * sizeof(*next));
    for (size_t i = 0; i < n; i++)
        sorted[next[p->key_of.at[i]]++] = e->writes.at[i];
    hf_free(next);
    hf_free(e->writes.at);
    e->writes.at = sorted;
    e->writes.cap = n + 1;
}

static void chain_values(hf_observed *o)
{
    hf_events *e = o->e;

    o->by_value = HF_NEW_ARRAY(uint32_t, (size_t)e->h->n_values + 1);
    o->next_same = HF_NEW_ARRAY(uint32_t, e->writes.n + 1);
    memset(o->by_value, 0xff, e->h->n_values * sizeof(*o->by_value));
    for (size_t i = e->writes.n; i-- > 0;) {
        hf_value_id v = e->writes.at[i].value;

        if (v == HF_NONE)
            continue;
        o->next_same[i] = o->by_value[v];
        o->by_value[v] = (uint32_t)i;
    }
}

/* The last writer of the key before t in the file; 0: the initial state. */
static uint32_t latest(const hf_events *e, hf_key_id key, uint32_t t)
{
    uint32_t found = 0;

    for (uint32_t i = e->write_first[key]; i < e->write_first[key + 1]; i++)
        if (e->writes.at[i].txn < t)
            found = e->writes.at[i].txn;
    return found;
}

/* Whose version of the key has this value; HF_NONE: nobody's. */
static uint32_t writer_of(const hf_observed *o, hf_key_id key, hf_value_id v,
                          uint32_t t)
{
    const hf_events *e = o->e;
    uint32_t before = HF_NONE, after = HF_NONE;

    for (uint32_t i = o->by_value[v]; i != HF_NONE; i = o->next_same[i]) {
        uint32_t w = e->writes.at[i].txn;

        if (w < t)
            before = w;
        else if (w > t && after == HF_NONE && !hf_events_so(e, t, w))
            after = w;
    }
    if (before != HF_NONE)
        return before;
    if (hf_value_is_initial(e->h, key, v))
        return 0;
    return after;
}

static hf_status no_source(const pass *p, const hf_raw_read *r)
{
    return hf_fail(p->err, HF_ERR_INPUT,
                   "T%lld reads a value that is neither initial nor the last "
                   "one a committed transaction wrote to its key; nothing can "
                   "be predicted from an execution with aborted, intermediate "
                   "or unexplained reads",
                   (long long)hf_txn_label(p->h, p->e->txn_of[r->txn]));
}

static void list_order(pass *p)
{
    const hf_history *h = p->h;

    p->before = HF_NEW_ARRAY(hf_value_id, (size_t)h->n_values + 1);
    memset(p->before, 0xff, h->n_values * sizeof(*p->before));
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (h->value_type[v] == HF_LIST) {
            hf_value_id parent = hf_list_parent(h, v);

            p->before[hf_list_last(h, v)] =
                parent == HF_NONE ? UNREAD : version_of(h, parent);
        }
}

/* What the append of an element found: told by the lists that were read, else
 * taken from the order of the file. */
static uint32_t append_source(const pass *p, const hf_raw_read *r)
{
    hf_value_id v = p->h->op_value[r->op];
    hf_value_id before = p->before[v];
    uint32_t w;

    if (before == UNREAD)
        return 0;
    if (before == HF_NONE)
        return latest(p->e, r->key, r->txn);
    w = writer_of(p->o, r->key, before, r->txn);
    return w == HF_NONE ? latest(p->e, r->key, r->txn) : w;
}

/* What the operation says of one key, in its version set or its result; rows
 * it does not name were outside of the result. */
static bool listed(const hf_version_ref *refs, uint32_t n, const hf_history *h,
                   hf_key_id key, hf_version_ref *ret)
{
    for (uint32_t i = 0; i < n; i++)
        if (h->value_key[refs[i].value] == key) {
            *ret = refs[i];
            return true;
        }
    return false;
}

static uint32_t row_by_ref(const pass *p, const hf_raw_read *r,
                           hf_version_ref ref)
{
    if (ref.writer == HF_WRITER_INITIAL)
        return 0;
    if (ref.writer != HF_NONE && ref.writer < p->h->n_txns &&
        p->e->number[ref.writer] != 0)
        return p->e->number[ref.writer];
    return writer_of(p->o, r->key, ref.value, r->txn);
}

/* By its label, else by its value. */
static uint32_t item_source(const pass *p, const hf_raw_read *r, hf_value_id v)
{
    hf_txn_id w;

    if (!hf_event_labels_source(p->labels, p->e->txn_of[r->txn], r->op, &w))
        return writer_of(p->o, r->key, v, r->txn);
    if (w == HF_NONE)
        return 0;
    return hf_events_write(p->e, r->key, p->e->number[w]) ? p->e->number[w]
                                                          : HF_NONE;
}

/* Some version outside of the result: the newest in the file. */
static uint32_t row_outside(const pass *p, const hf_raw_read *r)
{
    const hf_events *e = p->e;
    uint32_t found = HF_NONE;
    bool known;

    if (!hf_event_rows_match(p->o->rows, r->condition, r->key, 0, &known))
        found = 0;
    for (uint32_t i = e->write_first[r->key]; i < e->write_first[r->key + 1];
         i++) {
        uint32_t w = e->writes.at[i].txn;

        if ((w < r->txn || (found == HF_NONE && !hf_events_so(e, r->txn, w))) &&
            w != r->txn &&
            !hf_event_rows_match(p->o->rows, r->condition, r->key, w, &known))
            found = w;
    }
    return found;
}

static uint32_t row_source(const pass *p, const hf_raw_read *r)
{
    hf_predicate q = hf_op_predicate(p->h, r->op);
    bool plain = !hf_op_is_aggregate(hf_op_kind_of(p->h, r->op));
    hf_version_ref ref;

    if (q.has_result_set && plain &&
        listed(q.results, q.n_results, p->h, r->key, &ref))
        return row_by_ref(p, r, ref);
    if (listed(q.versions, q.has_version_set ? q.n_versions : 0, p->h, r->key,
               &ref))
        return row_by_ref(p, r, ref);
    if (q.snapshot != HF_SNAPSHOT_NONE && p->snapshots) {
        hf_op_id op = hf_snapshot_others(p->snapshots, p->e->txn_of[r->txn],
                                         r->op, r->key);

        if (op == HF_WRITER_INITIAL)
            return 0;
        if (op != HF_NONE)
            return p->e->number[hf_op_txn(p->h, op)];
    }
    return row_outside(p, r);
}

static hf_status find_sources(pass *p)
{
    for (size_t i = 0; i < p->o->reads.n; i++) {
        hf_raw_read *r = &p->o->reads.at[i];
        hf_value_id v = p->value_of.at[i];
        bool known = true;

        if (r->is_row) {
            r->observed = row_source(p, r);
            if (r->observed != HF_NONE)
                r->matches = hf_event_rows_match(p->o->rows, r->condition,
                                                 r->key, r->observed, &known);
        } else if (v == UNREAD)
            r->observed = append_source(p, r);
        else
            r->observed = item_source(p, r, v);
        if (r->observed == HF_NONE || r->observed == r->txn ||
            hf_events_so(p->e, r->txn, r->observed))
            return no_source(p, r);
    }
    return HF_OK;
}

hf_status hf_observe(hf_observed *o, hf_error *err)
{
    hf_events *e = o->e;
    const hf_history *h = e->h;
    pass p = {.o = o, .e = e, .h = h, .err = err};
    hf_status st = HF_OK;

    number_txns(e);
    number_sessions(e);
    p.labels = hf_event_labels_new(h);
    p.mark = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    p.at = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    if (hf_has_predicates(h)) {
        o->rows = hf_event_rows_new(e);
        p.snapshots = hf_snapshots_new(h);
    }
    for (uint32_t t = 1; st == HF_OK && t < e->n; t++)
        st = put_txn(&p, t);
    sort_writes(&p);
    chain_values(o);
    list_order(&p);
    if (st == HF_OK)
        st = find_sources(&p);
    hf_snapshots_free(p.snapshots);
    hf_event_labels_free(p.labels);
    hf_free(p.mark);
    hf_free(p.at);
    hf_free(p.before);
    hf_vec_release(&p.value_of);
    hf_vec_release(&p.key_of);
    return st;
}

void hf_observe_release(hf_observed *o)
{
    hf_vec_release(&o->reads);
    hf_free(o->by_value);
    hf_free(o->next_same);
    hf_event_rows_free(o->rows);
}

const hf_event_write *hf_events_write(const hf_events *e, hf_key_id key,
                                      uint32_t t)
{
    uint32_t low = e->write_first[key], high = e->write_first[key + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (e->writes.at[middle].txn < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->write_first[key + 1] && e->writes.at[low].txn == t
               ? &e->writes.at[low]
               : NULL;
}

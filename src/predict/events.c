/* events.c: choices and segments.
 *
 * observe.c has said who wrote and who read what; here the keys are put into
 * groups, each read gets its possible sources, reads that must agree become
 * one choice, and sessions are cut into segments (see events.h).
 *
 * O(operations + choices).
 */
#include "predict/events.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/map.h"
#include "base/sort.h"

/* ---- groups -------------------------------------------------------------- */

static bool same_writers(const hf_events *e, const hf_event_group *g,
                         hf_key_id key)
{
    uint32_t n = e->write_first[key + 1] - e->write_first[key];

    if (g->n_writes != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const hf_event_write *a = &e->writes.at[g->write + i];
        const hf_event_write *b = &e->writes.at[e->write_first[key] + i];

        if (a->txn != b->txn || a->block != b->block ||
            a->updates != b->updates)
            return false;
    }
    return true;
}

static uint64_t hash_writers(const hf_events *e, hf_key_id key)
{
    uint64_t hash = 1;

    for (uint32_t i = e->write_first[key]; i < e->write_first[key + 1]; i++) {
        const hf_event_write *w = &e->writes.at[i];

        hash = hf_mix64(hash ^ ((uint64_t)w->txn << 32 |
                                (uint64_t)w->block << 1 | w->updates));
    }
    return hash;
}

static void make_groups(hf_events *e)
{
    hf_map by_hash;

    hf_map_init(&by_hash);
    e->group_of = HF_NEW_ARRAY(uint32_t, (size_t)e->h->n_keys + 1);
    for (hf_key_id k = 0; k < e->h->n_keys; k++) {
        uint64_t hash = hash_writers(e, k);
        uint32_t g;

        for (;; hash++) {
            g = hf_map_add(&by_hash, hash, (uint32_t)e->groups.n);
            if (g == e->groups.n)
                hf_vec_push(
                    &e->groups,
                    (hf_event_group){e->write_first[k], e->write_first[k + 1] -
                                                            e->write_first[k]});
            if (same_writers(e, &e->groups.at[g], k))
                break;
        }
        e->group_of[k] = g;
    }
    hf_map_release(&by_hash);
}

/* ---- choices ------------------------------------------------------------- */

typedef struct chooser {
    hf_events *e;
    hf_observed *o;
    hf_map shared; /* transaction, group and kind: the read they share */
} chooser;

/* Is the write part of a DELETE?  Recorded as one, or by its statement: then
 * the value may be a mere name of the version. */
static bool is_deletion(const hf_history *h, hf_op_id op)
{
    hf_op_id sql = op;
    hf_str text;

    if (op == HF_NONE || hf_op_kind_of(h, op) == HF_OP_DELETE)
        return op != HF_NONE;
    while (sql > h->op_first[hf_op_txn(h, op)] &&
           hf_op_kind_of(h, sql) != HF_OP_SQL)
        sql--;
    if (hf_op_kind_of(h, sql) != HF_OP_SQL)
        return false;
    text = hf_string(h, hf_op_sql(h, sql).text);
    return text.len > 6 && strncasecmp(text.ptr, "delete", 6) == 0;
}

/* Did that transaction leave no row there? */
static bool is_absent(const hf_events *e, hf_key_id key, uint32_t txn)
{
    const hf_history *h = e->h;
    const hf_event_write *w = txn ? hf_events_write(e, key, txn) : NULL;
    hf_value_id v = txn              ? (w ? w->value : HF_NONE)
                    : h->key_initial ? h->key_initial[key]
                                     : HF_NONE;

    if (!h->key_table || h->key_table[key] == HF_NONE)
        return false; /* not a row */
    return v == HF_NONE || h->value_type[v] == HF_NIL ||
           (w && is_deletion(h, w->op));
}

static void add_source(chooser *c, const hf_raw_read *raw, hf_event_read *r,
                       uint32_t txn)
{
    hf_event_source s = {.txn = txn, .matches = true};
    bool known = true;

    if (raw->is_row)
        s.matches = txn == raw->observed
                        ? raw->matches
                        : hf_event_rows_match(c->o->rows, raw->condition,
                                              raw->key, txn, &known);
    if (!known && txn != raw->observed)
        return;
    s.as_before =
        txn == raw->observed || (raw->is_row && !s.matches && !raw->matches);
    s.absent = !raw->is_row && is_absent(c->e, raw->key, txn);
    if (txn == raw->observed)
        r->observed = r->n_sources;
    hf_vec_push(&c->e->sources, s);
    r->n_sources++;
}

/* Reads of one state by one transaction: HF_NONE if it stands alone. */
static uint64_t share_name(const chooser *c, const hf_raw_read *raw)
{
    uint64_t what = raw->is_row
                        ? hf_mix64((uint64_t)raw->condition << 32 | raw->key)
                        : c->e->group_of[raw->key];

    return hf_mix64(what << 2 | (uint64_t)raw->is_row << 1 | raw->locking) ^
           raw->txn;
}

static bool may_share(const chooser *c, const hf_raw_read *raw,
                      const hf_event_read *r)
{
    return r->txn == raw->txn && r->is_row == raw->is_row &&
           r->locking == raw->locking &&
           (raw->is_row ? r->key == raw->key
                        : r->group == c->e->group_of[raw->key]) &&
           c->e->sources.at[r->source + r->observed].txn == raw->observed;
}

/* The reading part of a statement that writes the row: its result does not
 * reach the application. */
static bool is_unseen(const hf_events *e, const hf_raw_read *raw)
{
    const hf_event_write *w = raw->modifies && raw->locking && !raw->is_row
                                  ? hf_events_write(e, raw->key, raw->txn)
                                  : NULL;

    return w && w->locked_at == raw->statement;
}

/* The read this one shares a choice with, or a new one; HF_NONE: no choice. */
static uint32_t choose(chooser *c, const hf_raw_read *raw)
{
    hf_events *e = c->e;
    const hf_event_group *g = &e->groups.at[e->group_of[raw->key]];
    uint64_t name = share_name(c, raw);
    hf_event_read r = {.txn = raw->txn,
                       .op = raw->op,
                       .key = raw->key,
                       .group = e->group_of[raw->key],
                       .statement = raw->statement,
                       .locking = raw->locking,
                       .is_row = raw->is_row,
                       .unseen = is_unseen(e, raw),
                       .source = (uint32_t)e->sources.n};
    uint32_t old;

    if (e->rules->internal) {
        old = hf_map_get(&c->shared, name);
        if (old != UINT32_MAX && may_share(c, raw, &e->reads.at[old])) {
            e->reads.at[old].unseen &= is_unseen(e, raw);
            return old;
        }
    }
    add_source(c, raw, &r, 0);
    for (uint32_t i = 0; i < g->n_writes; i++) {
        uint32_t w = e->writes.at[g->write + i].txn;

        if (w != raw->txn && !hf_events_so(e, raw->txn, w))
            add_source(c, raw, &r, w);
    }
    if (r.n_sources == 1) {
        e->sources.n = r.source;
        return HF_NONE;
    }
    hf_vec_push(&e->reads, r);
    if (e->rules->internal)
        hf_map_set(&c->shared, name, (uint32_t)e->reads.n - 1);
    return (uint32_t)e->reads.n - 1;
}

static void make_choices(hf_events *e, hf_observed *o)
{
    chooser c = {.e = e, .o = o};

    hf_map_init(&c.shared);
    for (size_t i = 0; i < o->reads.n; i++) {
        const hf_raw_read *raw = &o->reads.at[i];
        hf_event_seen s = {.op = raw->op,
                           .txn = raw->txn,
                           .key = raw->key,
                           .observed = raw->observed,
                           .is_row = raw->is_row,
                           .matches = raw->matches};

        s.read = choose(&c, raw);
        hf_vec_push(&e->seen, s);
    }
    hf_map_release(&c.shared);
}

/* ---- segments ------------------------------------------------------------ */

typedef struct cutter {
    hf_events *e;
    hf_sortable *writes; /* by transaction and operation */
    size_t next_write, next_seen;
    hf_event_session *session;
    bool has_write;
} cutter;

static unsigned *boundary(cutter *c)
{
    hf_event_session *s = c->session;

    return s->n_segments == 0 ? &s->flags
                              : &c->e->segments.at[c->e->segments.n - 1].flags;
}

/* A read without a choice: the boundary before it is as good as after it. */
static void allow_strict(cutter *c, hf_op_id op)
{
    unsigned *flags = boundary(c);

    if (*flags & HF_CUT_STRICT)
        return;
    *flags |= HF_CUT_STRICT;
    if (c->session->n_segments == 0)
        c->session->read = op;
    else
        c->e->segments.at[c->e->segments.n - 1].read = op;
}

static void close_segment(cutter *c, uint32_t t, hf_op_id op, unsigned flags)
{
    hf_vec_push(
        &c->e->segments,
        (hf_event_segment){.txn = t, .last = op, .read = op, .flags = flags});
    c->session->n_segments++;
    c->has_write = false;
}

/* Everything that one operation does; true if it reads at all, and in
 * *ret_choice whether that is a choice. */
static bool take_op(cutter *c, uint32_t t, hf_op_id op, bool *ret_choice)
{
    hf_events *e = c->e;
    uint32_t segment = (uint32_t)e->segments.n;
    bool reads = false;

    *ret_choice = false;
    for (; c->next_seen < e->seen.n && e->seen.at[c->next_seen].txn == t &&
           e->seen.at[c->next_seen].op == op;
         c->next_seen++) {
        const hf_event_seen *s = &e->seen.at[c->next_seen];

        reads = true;
        if (s->read == HF_NONE || e->reads.at[s->read].op != op ||
            e->reads.at[s->read].txn != t)
            continue;
        e->reads.at[s->read].segment = segment;
        *ret_choice = true;
    }
    for (; c->next_write < e->writes.n &&
           c->writes[c->next_write].key == ((uint64_t)t << 32 | op);
         c->next_write++) {
        e->writes.at[c->writes[c->next_write].value].segment = segment;
        c->has_write = true;
    }
    return reads;
}

static void cut_txn(cutter *c, uint32_t t)
{
    hf_events *e = c->e;
    hf_txn_id id = e->txn_of[t];
    hf_op_id last = e->h->op_first[id + 1];
    bool choice;

    c->has_write = false;
    for (hf_op_id op = e->h->op_first[id]; op < last; op++) {
        if (!take_op(c, t, op, &choice))
            continue;
        if (choice || c->has_write)
            close_segment(c, t, op, HF_CUT_STRICT);
        else
            allow_strict(c, op);
    }
    if (c->has_write)
        close_segment(c, t, last - 1, 0);
    *boundary(c) |= HF_CUT_RELAXED;
}

static void make_segments(hf_events *e)
{
    cutter c = {.e = e};
    size_t *first = HF_NEW_ZEROED(size_t, e->n + 1);
    size_t *first_write = HF_NEW_ZEROED(size_t, e->n + 1);

    c.writes = HF_NEW_ARRAY(hf_sortable, e->writes.n + 1);
    for (size_t i = 0; i < e->writes.n; i++)
        c.writes[i] = (hf_sortable){
            (uint64_t)e->writes.at[i].txn << 32 | e->writes.at[i].op, i};
    hf_sort(c.writes, e->writes.n);
    for (size_t i = e->seen.n; i-- > 0;)
        first[e->seen.at[i].txn] = i;
    for (size_t i = e->writes.n; i-- > 0;)
        first_write[c.writes[i].key >> 32] = i;
    for (size_t s = 0; s < e->sessions.n; s++) {
        c.session = &e->sessions.at[s];
        c.session->segment = (uint32_t)e->segments.n;
        for (uint32_t i = 0; i < c.session->n_txns; i++) {
            uint32_t t = e->session_txns[c.session->first_txn + i];

            c.next_seen = first[t];
            c.next_write = first_write[t];
            cut_txn(&c, t);
        }
    }
    hf_free(c.writes);
    hf_free(first);
    hf_free(first_write);
}

/* Reads of one transaction at the same operation have one place. */
static void number_places(hf_events *e)
{
    for (size_t i = 0; i < e->reads.n; i++) {
        hf_event_read *r = &e->reads.at[i];
        const hf_event_read *last = i > 0 ? r - 1 : NULL;

        if (last && last->txn == r->txn)
            r->place = last->place + (last->op != r->op);
    }
}

static void find_followed(hf_events *e)
{
    hf_op_id *last = HF_NEW_ZEROED(hf_op_id, e->n); /* write, + 1 */

    for (size_t i = 0; i < e->writes.n; i++) {
        const hf_event_write *w = &e->writes.at[i];

        if (w->op + 1 > last[w->txn])
            last[w->txn] = w->op + 1;
    }
    for (size_t i = 0; i < e->reads.n; i++)
        e->reads.at[i].followed =
            last[e->reads.at[i].txn] > e->reads.at[i].op + 1;
    hf_free(last);
}

hf_status hf_events_init(hf_events *e, const hf_history *h,
                         const hf_target_rules *rules, hf_error *err)
{
    hf_observed o = {.e = e};
    hf_status st;

    memset(e, 0, sizeof(*e));
    e->h = h;
    e->rules = rules;
    st = hf_observe(&o, err);
    if (st == HF_OK) {
        make_groups(e);
        make_choices(e, &o);
        make_segments(e);
        number_places(e);
        find_followed(e);
        hf_events_find_alike(e);
        e->n_reads = (uint32_t)e->seen.n;
        e->n_writes = (uint32_t)e->writes.n;
        e->unjudged = o.rows ? hf_event_rows_unjudged(o.rows) : 0;
    }
    hf_observe_release(&o);
    return st;
}

void hf_events_release(hf_events *e)
{
    hf_free(e->txn_of);
    hf_free(e->number);
    hf_free(e->session_of);
    hf_free(e->before);
    hf_free(e->statements);
    hf_free(e->session_txns);
    hf_free(e->plain_at);
    hf_vec_release(&e->sessions);
    hf_vec_release(&e->segments);
    hf_vec_release(&e->writes);
    hf_free(e->write_first);
    hf_vec_release(&e->groups);
    hf_free(e->group_of);
    hf_vec_release(&e->sources);
    hf_vec_release(&e->reads);
    hf_vec_release(&e->seen);
    memset(e, 0, sizeof(*e));
}

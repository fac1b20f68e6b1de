/* record.c: from the store's logs to the history.
 *
 * A transaction is handed over when it has ended, all at once, so that its
 * operations stand next to each other.  The certificate is written on the
 * way: commits come in version order.
 */
#include "workload/driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/bulk.h"

/* ---- predicates ---------------------------------------------------------- */

hf_value_id hf_record_nil(generator *g, uint32_t key)
{
    if (g->nil.at[key] == HF_NONE)
        g->nil.at[key] = hf_builder_nil(g->b, key);
    return g->nil.at[key];
}

/* The version a row was read in.  Its writer is named where the value does
 * not say it: after deletes, and if values repeat. */
static hf_version_ref ref_of(generator *g, const hf_store_row *row)
{
    hf_version_ref ref = {row->id, HF_NONE};

    if (ref.value == HF_NONE)
        ref.value = hf_record_nil(g, row->key);
    if ((row->id == HF_NONE || !g->o->unique_values) && row->writer != HF_NONE)
        ref.writer = g->txn_of.at[row->writer];
    return ref;
}

static hf_scalar number(int64_t n)
{
    return (hf_scalar){.type = HF_INT, .number = n};
}

static hf_scalar aggregate(hf_op_kind kind, const hf_store_row *rows, size_t n)
{
    int64_t count = 0, sum = 0, min = 0, max = 0;

    for (size_t i = 0; i < n; i++) {
        if (!rows[i].returned)
            continue;
        if (count == 0 || rows[i].number < min)
            min = rows[i].number;
        if (count == 0 || rows[i].number > max)
            max = rows[i].number;
        sum += rows[i].number;
        count++;
    }
    if (kind == HF_OP_COUNT_ROWS)
        return number(count);
    if (count == 0)
        return (hf_scalar){.type = HF_NIL};
    return number(kind == HF_OP_MIN ? min : kind == HF_OP_MAX ? max : sum);
}

/* "c1 >= 10 AND c1 <= 19", in g->text. */
static void write_condition(generator *g, const hf_store_scanned *scan)
{
    g->text.n = 0;
    if (scan->lo == INT64_MIN && scan->hi == INT64_MAX) {
        hf_out_text(&g->text, "TRUE");
        return;
    }
    hf_out_text(&g->text, g->column);
    hf_out_text(&g->text, " >= ");
    hf_out_int(&g->text, scan->lo);
    hf_out_text(&g->text, " AND ");
    hf_out_text(&g->text, g->column);
    hf_out_text(&g->text, " <= ");
    hf_out_int(&g->text, scan->hi);
}

static hf_scalar written_text(const generator *g)
{
    return (hf_scalar){
        .type = HF_TEXT, .text = g->text.at, .length = g->text.n};
}

static hf_scalar text_of(const char *text)
{
    if (!text)
        return (hf_scalar){.type = HF_NIL};
    return (hf_scalar){.type = HF_TEXT, .text = text, .length = strlen(text)};
}

/* ---- snapshots ----------------------------------------------------------- */

void hf_record_commit_time(generator *g, uint32_t i)
{
    uint32_t now = hf_store_clock(g->s);

    if (g->commit_times.n == 0) {
        hf_vec_push(&g->commit_times, 0);
        hf_vec_push(&g->commit_numbers, HF_NONE);
    }
    while (g->commit_times.n <= now) {
        hf_vec_push(&g->commit_times, g->clock);
        hf_vec_push(&g->commit_numbers, g->clients[i].number);
    }
}

static uint32_t label_of(uint32_t number)
{
    return number + 1;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void add_id(generator *g, const hf_store_scanned *scan, uint32_t number)
{
    if (number < scan->begun)
        hf_vec_push(&g->ids, number);
}

/* The transactions before scan->begun that the snapshot does not hold: those
 * that run, and those that committed since.  (Read-only and aborted ones that
 * have ended do not matter.) */
static void write_ids(generator *g, const hf_store_scanned *scan)
{
    uint32_t last = HF_NONE;

    g->ids.n = 0;
    for (uint32_t i = 0; i < g->o->sessions; i++)
        if (g->clients[i].running)
            add_id(g, scan, g->clients[i].number);
    for (size_t i = (size_t)scan->snapshot + 1; i < g->commit_numbers.n; i++)
        add_id(g, scan, g->commit_numbers.at[i]);
    if (g->ids.n > 1)
        qsort(g->ids.at, g->ids.n, sizeof(*g->ids.at), by_number);
    g->text.n = 0;
    hf_out_uint(&g->text, label_of(g->ids.n > 0 ? g->ids.at[0] : scan->begun));
    hf_out_char(&g->text, ':');
    hf_out_uint(&g->text, label_of(scan->begun));
    hf_out_char(&g->text, ':');
    for (size_t i = 0; i < g->ids.n; i++) {
        if (g->ids.at[i] == last)
            continue;
        if (i > 0)
            hf_out_char(&g->text, ',');
        last = g->ids.at[i];
        hf_out_uint(&g->text, label_of(last));
    }
}

/* What the store said it looked at. */
static hf_scalar snapshot_of(generator *g, uint32_t session,
                             const hf_store_scanned *scan)
{
    const client *c = &g->clients[session];
    uint64_t time = c->begin;

    if (g->sets == HF_VERSION_SETS_IDS) {
        write_ids(g, scan);
        return written_text(g);
    }
    if (scan->snapshot != c->seen)
        time = g->commit_times.at[scan->snapshot];
    return number((int64_t)time);
}

/* ---- scans -------------------------------------------------------------- */

/* Adds the rows in the version set, or those returned, to g->refs. */
static uint32_t add_refs(generator *g, const hf_store_row *rows, size_t n,
                         bool returned)
{
    size_t before = g->refs.n;

    for (size_t i = 0; i < n; i++)
        if (returned ? rows[i].returned : rows[i].in_set)
            hf_vec_push(&g->refs, ref_of(g, &rows[i]));
    return (uint32_t)(g->refs.n - before);
}

static void record_scan(generator *g, uint32_t session, hf_txn_id t,
                        const hf_store_op *op)
{
    hf_op_kind kind = (hf_op_kind)op->kind;
    const hf_store_scanned *scan = hf_store_scan_at(g->s, session, op->version);
    const hf_store_row *rows = hf_store_rows(g->s, session) + scan->first_row;
    bool aggregates = hf_op_is_aggregate(kind);
    const hf_scalar column = text_of(g->column);
    hf_predicate_in p = {.table = text_of(g->table), .has_result_set = true};
    hf_op_id at;

    g->refs.n = 0;
    if (g->sets == HF_VERSION_SETS_EXPLICIT) {
        p.has_version_set = true;
        p.n_versions = add_refs(g, rows, scan->n_rows, false);
    }
    if (aggregates) {
        p.result = aggregate(kind, rows, scan->n_rows);
        p.columns = &column;
        p.n_columns = kind == HF_OP_COUNT_ROWS ? 0 : 1;
    } else {
        p.n_results = add_refs(g, rows, scan->n_rows, true);
    }
    p.versions = g->refs.at;
    p.results = g->refs.at + p.n_versions;
    write_condition(g, scan);
    p.condition = written_text(g);
    at = hf_builder_predicate(g->b, t, kind, &p);
    if (g->sets != HF_VERSION_SETS_EXPLICIT && at != HF_NONE)
        hf_builder_snapshot(g->b, at, snapshot_of(g, session, scan));
}

/* ---- a transaction ------------------------------------------------------- */

/* The certificate of one transaction. */
static inline void record_commit(generator *g, hf_txn_id t, const client *c,
                                 const hf_store_record *r,
                                 const hf_store_end *end)
{
    /* dirty-write: versions do not stand in the order of commits */
    if (g->o->bug != HF_BUG_DIRTY_WRITE) {
        hf_order_entry *to = hf_bulk_orders(g->b, r->n_writes);

        for (size_t k = 0; k < r->n_writes; k++)
            to[k] = (hf_order_entry){r->writes[k].key, t};
    }
    if (g->replicated || g->o->bug == HF_BUG_DIRTY_WRITE)
        return; /* times that contradict the order of versions */
    hf_bulk_timestamps(g->b, t, g->snapshots ? c->begin : HF_TIME_NONE,
                       g->snapshots && end->stamp == 0 ? c->begin : g->clock);
    if (g->serial)
        hf_vec_push(&g->serials,
                    (serial_entry){end->stamp ? 2 * (uint64_t)end->stamp
                                              : 2 * (uint64_t)end->snapshot + 1,
                                   t});
}

/* The entry before it is what the increment read. */
static void record_increment(generator *g, uint32_t i, hf_txn_id t,
                             const hf_store_op *op)
{
    client *c = &g->clients[i];

    (void)hf_builder_increment(g->b, t, op->key, c->amounts.at[c->n_amounts++],
                               value_of(g, op - 1), value_of(g, op));
}

static void record_op(generator *g, uint32_t i, hf_txn_id t,
                      const hf_store_op *op)
{
    if (op->key == HF_NONE)
        record_scan(g, i, t, op);
    else if (op->kind == HF_OP_INCREMENT)
        record_increment(g, i, t, op);
    else
        (void)hf_builder_op(g->b, t, op->kind, op->key, value_of(g, op));
}

/* Each operation with the time since the end of the one before it. */
static void record_intervals(generator *g, uint32_t i, hf_txn_id t,
                             const hf_store_record *r)
{
    const client *c = &g->clients[i];
    uint64_t from = c->begin, to = c->begin;

    for (size_t k = 0; k < r->n_ops; k++) {
        record_op(g, i, t, &r->ops[k]);
        if (c->ends.at[k] != to) /* else: the same statement */
            from = to;
        to = c->ends.at[k];
        hf_builder_interval(g->b, from + 1 + c->skew, to + c->skew);
    }
}

static inline void record_ops(generator *g, uint32_t i, hf_txn_id t,
                              const hf_store_record *r)
{
    const hf_store_op *ops = r->ops;
    size_t n = r->n_ops;
    hf_bulk_columns to;

    if (g->intervals) {
        record_intervals(g, i, t, r);
    } else if (r->n_scans > 0 || g->clients[i].amounts.n > 0 ||
               !hf_bulk_ops(g->b, n, &to)) {
        for (size_t k = 0; k < n; k++)
            record_op(g, i, t, &ops[k]);
    } else {
        for (size_t k = 0; k < n; k++) {
            to.kind[k] = (uint8_t)ops[k].kind;
            to.key[k] = ops[k].key;
            to.value[k] = value_of(g, &ops[k]);
        }
    }
}

void hf_record(generator *g, uint32_t i, hf_outcome outcome,
               const hf_store_end *end)
{
    const client *c = &g->clients[i];
    hf_store_record r = hf_store_log(g->s, i);
    hf_txn_id t = hf_bulk_txn(g->b, c->id, outcome,
                              g->o->times ? c->begin + c->skew : HF_TIME_NONE,
                              g->clock + c->skew);

    if (g->needs_writers)
        g->txn_of.at[c->number] = t;
    if (g->sets == HF_VERSION_SETS_IDS)
        hf_builder_label(g->b, t, (int64_t)label_of(c->number));
    record_ops(g, i, t, &r);
    if (g->o->certificate && outcome != HF_ABORTED &&
        (end->installed || outcome == HF_COMMITTED))
        record_commit(g, t, c, &r, end);
}

/* ---- at the end ---------------------------------------------------------- */

/* Commits come in order, readers belong to their snapshot: counting sort. */
static void record_serial(generator *g)
{
    uint64_t places = 0, sum = 0;
    uint32_t *first;
    hf_txn_id *sorted;

    for (size_t i = 0; i < g->serials.n; i++)
        if (g->serials.at[i].place >= places)
            places = g->serials.at[i].place + 1;
    first = HF_NEW_ZEROED(uint32_t, (size_t)places + 1);
    sorted = HF_NEW_ARRAY(hf_txn_id, g->serials.n + 1);
    for (size_t i = 0; i < g->serials.n; i++)
        first[g->serials.at[i].place + 1]++;
    for (uint64_t p = 0; p < places; p++) {
        sum += first[p + 1];
        first[p + 1] = (uint32_t)sum;
    }
    for (size_t i = 0; i < g->serials.n; i++)
        sorted[first[g->serials.at[i].place]++] = g->serials.at[i].txn;
    for (size_t i = 0; i < g->serials.n; i++)
        hf_builder_serial(g->b, sorted[i]);
    hf_free(first);
    hf_free(sorted);
}

/* The version order as the store has it, for all keys. */
static void record_orders(generator *g)
{
    HF_VEC(uint32_t) chain = {0};

    for (uint32_t key = 0; key < g->nil.n; key++) {
        chain.n = 0;
        for (uint32_t v = hf_store_newest(g->s, key); v != HF_NONE;
             v = hf_store_version_at(g->s, v)->prev)
            hf_vec_push(&chain, v);
        while (chain.n > 0) {
            uint32_t v = chain.at[--chain.n];
            uint32_t writer = hf_store_version_at(g->s, v)->writer;

            if (writer != HF_NONE && g->txn_of.at[writer] != HF_NONE)
                hf_builder_order(g->b, key, g->txn_of.at[writer]);
        }
    }
    hf_vec_release(&chain);
}

void hf_record_rest(generator *g)
{
    if (!g->o->certificate)
        return;
    if (g->o->bug == HF_BUG_DIRTY_WRITE)
        record_orders(g);
    if (g->serial && g->serials.n > 0)
        record_serial(g);
}

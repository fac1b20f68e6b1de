/* replay_engine.c: the replay engine.
 *
 * Judges a history against one expected order of its transactions (Enne's
 * expected serialization order, and Crooks' state tests below serializable).
 *
 *   1. The order (replay_order.c); none, or one that equal times leave open:
 *      unknown.
 *   2. The transactions are executed in it.  Everything as recorded: the order
 *      is a serial witness, which proves every level but read-uncommitted.
 *   3. Serializable: what differs first is the finding.  Read-committed,
 *      read-atomic, snapshot isolation: is there another state before the
 *      transaction that explains what it saw (replay_weak.c)?  Others:
 *      unknown.
 *
 * Valid holds by the definition of the level.  Invalid speaks of the order:
 * the history might be valid in another one.  The findings say so (rests).
 */
#include "base/map.h"
#include "check/replay_engine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/replay.h"

#define KEPT 100u

/* ---- findings ------------------------------------------------------------ */

void hf_replay_note(hf_replay *p, hf_anomaly anomaly, const hf_op_id *ops,
                    uint32_t n)
{
    uint32_t most = p->options.most ? p->options.most : KEPT;
    hf_finding f = {.witness = {.kind = HF_WITNESS_OPERATIONS}};

    /* one of unknown outcome happened by the order only */
    if (anomaly != HF_DUPLICATE_WRITE &&
        p->h->txn_outcome[hf_op_txn(p->h, ops[0])] != HF_COMMITTED)
        anomaly = HF_EXPECTED_STATE;
    f.anomaly = f.witness.anomaly = anomaly;
    p->noted++;
    if (p->count[anomaly]++ >= most)
        return;
    if (anomaly == HF_EXPECTED_STATE)
        f.witness.rests = p->order.by;
    f.witness.ops = hf_arena_get(p->arena, hf_array_size(n, sizeof(*ops)));
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] != HF_NONE)
            f.witness.ops[f.witness.n_ops++] = ops[i];
    hf_vec_push(&p->found, f);
}

void hf_replay_undecided(hf_replay *p, const char *format, ...)
{
    va_list args;

    if (p->undecided[0])
        return;
    va_start(args, format);
    (void)vsnprintf(p->undecided, sizeof(p->undecided), format, args);
    va_end(args);
}

bool hf_replay_spent(hf_replay *p)
{
    if (!p->stopped && hf_budget_spent(p->budget))
        p->stopped = true;
    return p->stopped;
}

/* Values that were promised to be written once. */
static void look_for_duplicates(hf_replay *p)
{
    const hf_history *h = p->h;
    hf_op_id *first;

    if (!h->unique_values)
        return;
    first =
        hf_alloc_large(hf_array_size((size_t)h->n_values + 1, sizeof(*first)));
    memset(first, 0xff, ((size_t)h->n_values + 1) * sizeof(*first));
    for (hf_op_id o = 0; o < h->n_ops; o++) {
        hf_value_id value;
        hf_op_id pair[2];

        if (!hf_replay_writes(h, o))
            continue;
        value = hf_replay_written(h, o);
        if (value >= HF_REPLAY_OPEN || h->value_type[value] == HF_NIL)
            continue;
        pair[0] = first[value];
        pair[1] = o;
        if (pair[0] != HF_NONE)
            hf_replay_note(p, HF_DUPLICATE_WRITE, pair, 2);
        else
            first[value] = o;
    }
    hf_free(first);
}

/* ---- results ------------------------------------------------------------- */

static void set_unknown(hf_result *r, const char *reason)
{
    r->verdict = HF_UNKNOWN;
    r->reason = hf_arena_text(&r->arena, reason, strlen(reason));
}

static void set_invalid(hf_replay *p, hf_result *r)
{
    size_t n = p->found.n;

    r->verdict = HF_INVALID;
    r->findings = hf_arena_get(&r->arena, hf_array_size(n, sizeof(hf_finding)));
    r->groups = hf_arena_get(&r->arena,
                             hf_array_size(HF_ANOMALY_COUNT, sizeof(hf_group)));
    /* what stands by itself before what rests on the order */
    for (unsigned a = 0; a < HF_ANOMALY_COUNT; a++) {
        bool any = false;

        for (size_t i = 0; i < n; i++)
            if (p->found.at[i].anomaly == (hf_anomaly)a) {
                r->findings[r->n_findings++] = p->found.at[i];
                any = true;
            }
        if (any)
            r->groups[r->n_groups++] =
                (hf_group){(hf_anomaly)a, p->count[a], p->stopped};
    }
    r->witness = r->findings[0].witness;
}

static void set_serial(hf_replay *p, hf_result *r)
{
    hf_witness *w = &r->witness;

    r->verdict = HF_VALID;
    w->kind = HF_WITNESS_SERIAL;
    w->n_order = p->order.n;
    w->order =
        hf_arena_get(&r->arena, hf_array_size(p->order.n, sizeof(uint32_t)));
    if (p->order.n > 0)
        memcpy(w->order, p->order.at, p->order.n * sizeof(uint32_t));
    hf_replay_sources(p, NULL, w);
}

/* What stands by itself is left. */
static void drop_resting(hf_replay *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->found.n; i++) {
        if (p->found.at[i].witness.rests == 0)
            p->found.at[n++] = p->found.at[i];
        else
            p->count[p->found.at[i].anomaly] = 0;
    }
    p->found.n = n;
    for (size_t i = 0; i < n; i++)
        p->count[p->found.at[i].anomaly] +=
            p->count[p->found.at[i].anomaly] == 0;
}

/* Findings that rest on an order which equal times, or a transaction that may
 * have happened, leave open prove nothing. */
static bool is_shaken(hf_replay *p, hf_result *r)
{
    bool weak = p->level->shape != HF_SHAPE_SERIAL;
    char text[200];

    if (p->order.open != HF_NONE)
        (void)snprintf(text, sizeof(text),
                       "the outcome of T%" PRId64 " is not known, and %s does "
                       "not say whether it happened",
                       hf_txn_label(p->h, p->order.open),
                       hf_expected_name(p->order.by));
    else if (weak && p->order.tied[0] != HF_NONE)
        (void)snprintf(text, sizeof(text),
                       "T%" PRId64 " and T%" PRId64
                       " have equal times, so %s does not give all states",
                       hf_txn_label(p->h, p->order.tied[0]),
                       hf_txn_label(p->h, p->order.tied[1]),
                       hf_expected_name(p->order.by));
    else
        return false;
    drop_resting(p);
    if (p->found.n > 0)
        return false;
    set_unknown(r, text);
    return true;
}

static void forget_findings(hf_replay *p)
{
    p->found.n = 0;
    p->noted = 0;
    p->undecided[0] = 0;
    memset(p->count, 0, sizeof(p->count));
}

/* ---- judging ------------------------------------------------------------- */

/* The order must keep session order and real time, where the level does. */
static bool order_is_kept(hf_replay *p)
{
    hf_txn_id first, second;
    hf_op_id ops[3];

    if (!hf_expected_breaks(p->h, &p->order, p->level, &first, &second))
        return true;
    ops[0] = p->h->op_first[first];
    ops[1] = p->h->op_first[second];
    ops[2] = ops[0];
    if (ops[0] < p->h->op_first[first + 1] &&
        ops[1] < p->h->op_first[second + 1] &&
        p->level->shape != HF_SHAPE_AXIOM)
        hf_replay_note(p, HF_EXPECTED_STATE, ops, 3);
    else
        hf_replay_undecided(p,
                            "T%" PRId64 " comes before T%" PRId64
                            " by session or time, but not in %s",
                            hf_txn_label(p->h, first),
                            hf_txn_label(p->h, second),
                            hf_expected_name(p->order.by));
    return false;
}

/* True: the order is a serial one. */
static bool judge_serially(hf_replay *p, bool serial)
{
    p->first_only = !serial;
    look_for_duplicates(p);
    if (!hf_replay_serial(p))
        return false;
    if (p->found.n > 0 || p->undecided[0])
        return false;
    return order_is_kept(p);
}

/* Is a list among the keys of a table that a condition is about? */
static bool has_list_conditions(const hf_history *h)
{
    hf_map tables;
    bool found = false;

    if (h->n_extra == 0 || h->n_values == 0)
        return false;
    hf_map_init(&tables);
    for (hf_op_id o = 0; o < h->n_ops; o++)
        if (hf_op_kind_of(h, o) == HF_OP_APPEND ||
            hf_op_kind_of(h, o) == HF_OP_READ_LIST)
            (void)hf_map_add(
                &tables, h->key_table ? h->key_table[h->op_key[o]] : HF_NONE,
                1);
    for (hf_op_id o = 0; tables.n > 0 && o < h->n_ops && !found; o++)
        found = hf_op_has_predicate(hf_op_kind_of(h, o)) &&
                hf_map_get(&tables, hf_op_predicate(h, o).table) == 1;
    hf_map_release(&tables);
    return found;
}

static void judge(hf_replay *p, hf_result *r)
{
    bool serial = p->level->shape == HF_SHAPE_SERIAL;
    hf_witness w = {.kind = HF_WITNESS_NONE};

    if (has_list_conditions(p->h)) {
        set_unknown(r, "there is a condition over lists, which engine replay "
                       "does not judge");
        return;
    }
    if (judge_serially(p, serial)) {
        set_serial(p, r);
        return;
    }
    if (!serial && !p->stopped) {
        if (!hf_replay_has_states(p->level)) {
            set_unknown(r, "the expected order is not a serial one of these "
                           "transactions, and engine replay knows no other "
                           "test for this level");
            return;
        }
        forget_findings(p);
        p->first_only = false;
        look_for_duplicates(p);
        if (order_is_kept(p))
            (void)hf_replay_weak(p, &w);
    }
    if (p->found.n > 0) {
        if (!is_shaken(p, r))
            set_invalid(p, r);
    } else if (p->stopped) {
        set_unknown(r, hf_budget_reason(p->budget));
    } else if (p->undecided[0] || w.kind == HF_WITNESS_NONE) {
        set_unknown(r, p->undecided[0] ? p->undecided
                                       : "the expected order does not decide "
                                         "it");
    } else {
        r->verdict = HF_VALID;
        r->witness = w;
    }
}

static void release(hf_replay *p)
{
    hf_free(p->cells);
    hf_free(p->tail);
    hf_free(p->before);
    hf_rows_free(p->rows);
    hf_snapshots_free(p->snapshots);
    hf_replay_versions_free(p->versions);
    hf_replay_release_snapshots(p);
    hf_free(p->set_stamp);
    hf_replay_times_free(p);
    hf_replay_moves_free(p);
    hf_free(p->key_use);
    hf_expected_release(&p->order);
    hf_vec_release(&p->found);
}

hf_status hf_replay_check(const hf_history *h, hf_level level,
                          const hf_check_options *options, hf_budget *budget,
                          hf_result **ret, hf_error *err)
{
    uint64_t start = hf_clock_ns();
    hf_result *r = hf_result_new(level, "replay");
    hf_replay p = {.h = h,
                   .level = hf_level_get(level),
                   .budget = budget,
                   .arena = &r->arena};
    char *why;
    hf_status st;

    if (options)
        p.options = *options;
    st = hf_expected_make(h, p.options.order, &r->arena, &p.order, &why, err);
    if (st != HF_OK) {
        hf_result_free(r);
        return st;
    }
    if (why) {
        set_unknown(r, why);
    } else if (p.level->shape == HF_SHAPE_WW) {
        set_unknown(r, "engine replay does not judge read-uncommitted, where "
                       "reads do not matter");
    } else {
        p.rows = hf_rows_new(h, &p.order, &p.options, budget);
        judge(&p, r);
    }
    release(&p);
    r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = r;
    return HF_OK;
}

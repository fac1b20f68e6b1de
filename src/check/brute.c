/* brute.c: the reference engine.
 *
 * The textbook definition of every level, by enumeration: a history is valid
 * if one of its worlds is (docs/semantics.md).  It is there to be obviously
 * right and is the measure of every other engine, so it takes at most eight
 * transactions that may have happened.
 *
 * An invalid history is explained by, in this order, operations that show an
 * anomaly without a cycle; a cycle of edges that every world has; or, where
 * neither is there, transactions that are invalid by themselves.  With mixed
 * levels cycles are not looked for.
 *
 * Version sets that were recorded as snapshots are written out first; the
 * rest of the engine knows nothing of snapshots.
 */
#include "check/brute_engine.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "check/brute.h"
#include "history/snapshot.h"

static void set_reason(hf_result *r, const char *text)
{
    r->verdict = HF_UNKNOWN;
    r->reason = hf_arena_text(&r->arena, text, strlen(text));
}

static uint32_t count_nodes(const hf_history *h)
{
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        n += h->txn_outcome[t] != HF_ABORTED;
    return n;
}

static bool has_snapshots(const hf_history *h)
{
    for (hf_op_id op = 0; h->n_extra > 0 && op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)) &&
            hf_op_predicate(h, op).snapshot != HF_SNAPSHOT_NONE)
            return true;
    return false;
}

/* ---- cores -------------------------------------------------------------- */

/* What is asked. */
typedef struct question {
    const hf_history *h;
    hf_level level;
    bool mixed;
    hf_budget *budget;
} question;

/* Is the history restricted to the kept transactions invalid?  False as well
 * if the budget ran out. */
static bool is_invalid_core(const question *q, const uint8_t *kept,
                            uint64_t *worlds)
{
    hf_brute_levels levels;
    hf_brute_case c;
    hf_brute_search s;
    bool invalid;

    if (hf_brute_case_init(&c, q->h, kept, NULL) != HF_OK)
        return false;
    levels = hf_brute_levels_of(&c, q->level, q->mixed);
    hf_brute_search_init(&s, &c, &levels, q->budget);
    invalid = !hf_brute_search_run(&s) && !s.spent;
    *worlds += s.worlds;
    hf_brute_search_release(&s);
    hf_brute_case_release(&c);
    return invalid;
}

static bool is_core(question q, const hf_txn_id *txns, uint32_t n)
{
    const hf_history *h = q.h;
    uint8_t *kept;
    hf_history *plain;
    uint64_t worlds = 0;
    bool invalid;

    if (n > HF_BRUTE_NODES)
        return false;
    kept = HF_NEW_ZEROED(uint8_t, h->n_txns + 1u);
    plain = has_snapshots(h) ? hf_snapshots_expand(h) : NULL;
    for (uint32_t i = 0; i < n; i++)
        kept[txns[i]] = 1;
    q.h = plain ? plain : h;
    invalid = is_invalid_core(&q, kept, &worlds);
    hf_snapshots_collapse(plain);
    hf_free(kept);
    return invalid;
}

bool hf_brute_is_core(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                      hf_level level, hf_budget *budget)
{
    return is_core((question){h, level, false, budget}, txns, n);
}

bool hf_brute_is_mixed_core(const hf_history *h, const hf_txn_id *txns,
                            uint32_t n, hf_level level, hf_budget *budget)
{
    return is_core((question){h, level, true, budget}, txns, n);
}

/* Leaves out one transaction after the other as long as the rest is invalid.
 * If the budget runs out the core is larger than it need be. */
static void core_witness(const question *q, hf_result *r)
{
    const hf_history *h = q->h;
    uint8_t *kept = HF_NEW_ARRAY(uint8_t, h->n_txns + 1u);
    hf_witness *w = &r->witness;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        kept[t] = h->txn_outcome[t] != HF_ABORTED;
    if (!is_invalid_core(q, kept, &r->worlds))
        memset(kept, 1, h->n_txns); /* aborted ones are needed */
    for (hf_txn_id t = h->n_txns; t-- > 0;) {
        if (!kept[t] || hf_budget_spent(q->budget))
            continue;
        kept[t] = 0;
        if (!is_invalid_core(q, kept, &r->worlds))
            kept[t] = 1;
    }
    w->kind = HF_WITNESS_CORE;
    w->mixed = q->mixed;
    w->anomaly = HF_NO_ORDER;
    w->minimal = w->confirmed = !hf_budget_spent(q->budget);
    w->order =
        hf_arena_get(&r->arena, hf_array_size(h->n_txns, sizeof(*w->order)));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (kept[t])
            w->order[w->n_order++] = t;
    hf_free(kept);
}

/* ---- verdicts ----------------------------------------------------------- */

static void explain_invalid(const hf_brute_case *c,
                            const hf_brute_levels *levels, const question *q,
                            hf_result *r)
{
    hf_brute_findings found = {0};

    r->verdict = HF_INVALID;
    hf_brute_find_operations(c, levels, &r->arena, &found);
    if (!levels->mixed)
        hf_brute_find_cycles(c, levels->all, q->budget, &r->arena, &found);
    if (found.n == 0) {
        hf_finding core = {.anomaly = HF_NO_ORDER};

        core_witness(q, r);
        core.witness = r->witness;
        hf_vec_push(&found, core);
    }
    r->witness = found.at[0].witness;
    r->n_findings = (uint32_t)found.n;
    r->findings =
        hf_arena_get(&r->arena, hf_array_size(found.n, sizeof(hf_finding)));
    memcpy(r->findings, found.at, found.n * sizeof(hf_finding));
    hf_vec_release(&found);
}

static void judge(const hf_brute_case *c, const question *q, hf_result *r)
{
    const char *undecided = c->undecided;
    hf_brute_levels levels = hf_brute_levels_of(c, q->level, q->mixed);
    hf_brute_search s;
    bool found;

    if (!undecided && levels.readers)
        undecided = c->undecided_reads;
    hf_brute_search_init(&s, c, &levels, q->budget);
    found = hf_brute_search_run(&s);
    r->worlds = s.worlds;
    if (s.spent) {
        set_reason(r, hf_budget_reason(q->budget));
    } else if (found && undecided) {
        set_reason(r, undecided);
    } else if (found) {
        r->verdict = HF_VALID;
        hf_brute_witness_valid(c, &s.world, &levels, r);
    } else {
        explain_invalid(c, &levels, q, r);
    }
    hf_brute_search_release(&s);
}

static void too_many(hf_result *r, uint32_t n)
{
    char text[96];

    snprintf(text, sizeof(text),
             "engine brute judges at most %u transactions, this history has "
             "%lu",
             HF_BRUTE_NODES, (unsigned long)n);
    set_reason(r, text);
}

/* h has no snapshots, and not too many transactions. */
static hf_status check_plain(const hf_history *h,
                             const hf_check_options *options, hf_budget *budget,
                             hf_result *r, hf_error *err)
{
    hf_brute_case c;
    hf_status st = hf_brute_case_init(&c, h, NULL, err);

    if (st != HF_OK)
        return st;
    judge(&c, &(question){h, r->level, r->mixed, budget}, r);
    if (options && options->assume && r->verdict == HF_VALID) {
        set_reason(r, "engine brute knows nothing of assumptions");
        r->witness = (hf_witness){.kind = HF_WITNESS_NONE};
    }
    hf_brute_case_release(&c);
    return HF_OK;
}

hf_status hf_brute_check(const hf_history *h, hf_level level,
                         const hf_check_options *options, hf_budget *budget,
                         hf_result **ret, hf_error *err)
{
    uint32_t n = count_nodes(h);
    uint64_t start = hf_clock_ns();
    hf_result *r = hf_result_new(level, "brute");
    hf_status st = HF_OK;

    r->mixed = options && options->mixed;
    if (n > HF_BRUTE_NODES) {
        too_many(r, n);
    } else {
        hf_history *plain = has_snapshots(h) ? hf_snapshots_expand(h) : NULL;

        st = check_plain(plain ? plain : h, options, budget, r, err);
        hf_snapshots_collapse(plain);
    }
    if (st != HF_OK) {
        hf_result_free(r);
        return st;
    }
    r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = r;
    return HF_OK;
}

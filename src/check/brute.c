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
    hf_history *plain; /* the same, if snapshots were written out */
    hf_brute_question about;
    hf_sql_cache *sql;
} question;

/* Why one that looks valid is not known to be; NULL: it is valid. */
static const char *doubt_about(const hf_brute_case *c,
                               const hf_brute_levels *levels)
{
    if (c->undecided)
        return c->undecided;
    return levels->readers ? c->undecided_reads : NULL;
}

/* What the history restricted to the kept transactions is. */
static hf_verdict judge_part(const question *q, const uint8_t *kept,
                             uint64_t *worlds)
{
    hf_brute_levels levels;
    hf_brute_case c;
    hf_brute_search s;
    hf_verdict verdict = HF_INVALID;

    if (hf_brute_case_init(&c, q->h, kept, q->sql, NULL) != HF_OK)
        return HF_UNKNOWN;
    levels = hf_brute_levels_of(&c, q->about.level, q->about.mixed);
    hf_brute_search_init(&s, &c, &levels, q->about.promised, q->about.budget);
    if (hf_brute_search_run(&s))
        verdict = doubt_about(&c, &levels) ? HF_UNKNOWN : HF_VALID;
    if (s.spent)
        verdict = HF_UNKNOWN;
    *worlds += s.worlds;
    hf_brute_search_release(&s);
    hf_brute_case_release(&c);
    return verdict;
}

/* The question about h, with its snapshots written out as far as those that are
 * kept have any; close_question() gives it back. */
static question open_question(const hf_history *h, const uint8_t *kept,
                              const hf_brute_question *about)
{
    question q = {.h = h, .about = *about};

    q.plain = has_snapshots(h) ? hf_snapshots_expand(h, kept) : NULL;
    if (q.plain)
        q.h = q.plain;
    q.sql = hf_sql_cache_new(about->dialect);
    return q;
}

static void close_question(question *q)
{
    hf_sql_cache_free(q->sql);
    hf_snapshots_collapse(q->plain);
}

static uint8_t *mark(const hf_history *h, const hf_txn_id *txns, uint32_t n)
{
    uint8_t *kept = HF_NEW_ZEROED(uint8_t, h->n_txns + 1u);

    for (uint32_t i = 0; i < n; i++)
        kept[txns[i]] = 1;
    return kept;
}

hf_verdict hf_brute_core(const hf_history *h, const hf_txn_id *txns, uint32_t n,
                         const hf_brute_question *about)
{
    uint64_t worlds = 0;
    hf_verdict verdict;
    uint8_t *kept;
    question q;

    if (n > HF_BRUTE_NODES)
        return HF_UNKNOWN;
    kept = mark(h, txns, n);
    q = open_question(h, kept, about);
    verdict = judge_part(&q, kept, &worlds);
    close_question(&q);
    hf_free(kept);
    return verdict;
}

#define NEEDED 2 /* of those kept: the others without it are valid */

/* Leaves out one transaction after the other as long as the rest is invalid,
 * but those that are needed.  *ret_fewer: that was so.  False: the budget ran
 * out, or what is left cannot be evaluated, so perhaps there are more than need
 * be. */
static bool leave_out_once(const question *q, uint8_t *kept, uint64_t *worlds,
                           bool *ret_fewer)
{
    bool sure = true;

    *ret_fewer = false;
    for (hf_txn_id t = q->h->n_txns; t-- > 0;) {
        uint8_t before = kept[t];
        hf_verdict without;

        if (!before || before == NEEDED)
            continue;
        if (hf_budget_spent(q->about.budget))
            return false;
        kept[t] = 0;
        without = judge_part(q, kept, worlds);
        if (without != HF_INVALID)
            kept[t] = without == HF_VALID ? NEEDED : before;
        *ret_fewer |= without == HF_INVALID;
        sure &= without != HF_UNKNOWN;
    }
    return sure;
}

/* The same, again as long as it leaves out some and not all are known to be
 * needed: what could not be evaluated may be gone. */
static bool leave_out(const question *q, uint8_t *kept, uint64_t *worlds)
{
    bool fewer, sure;

    do
        sure = leave_out_once(q, kept, worlds, &fewer);
    while (!sure && fewer && !hf_budget_spent(q->about.budget));
    return sure;
}

static uint32_t list_kept(const hf_history *h, const uint8_t *kept,
                          hf_txn_id *ret)
{
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (kept[t])
            ret[n++] = t;
    return n;
}

uint32_t hf_brute_shrink(const hf_history *h, hf_txn_id *txns, uint32_t n,
                         const hf_brute_question *about, bool *ret_minimal)
{
    uint64_t worlds = 0;
    uint8_t *kept;
    question q;

    if (n > HF_BRUTE_NODES)
        return 0;
    kept = mark(h, txns, n);
    q = open_question(h, kept, about);
    if (judge_part(&q, kept, &worlds) == HF_INVALID) {
        *ret_minimal = leave_out(&q, kept, &worlds);
        n = list_kept(h, kept, txns);
    } else {
        n = 0;
    }
    close_question(&q);
    hf_free(kept);
    return n;
}

static void core_witness(const question *q, hf_result *r)
{
    const hf_history *h = q->h;
    uint8_t *kept = HF_NEW_ARRAY(uint8_t, h->n_txns + 1u);
    hf_witness *w = &r->witness;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        kept[t] = h->txn_outcome[t] != HF_ABORTED;
    if (judge_part(q, kept, &r->worlds) != HF_INVALID)
        memset(kept, 1, h->n_txns); /* aborted ones are needed */
    w->kind = HF_WITNESS_CORE;
    w->mixed = q->about.mixed;
    w->rests = q->about.promised;
    w->anomaly = HF_NO_ORDER;
    w->minimal = leave_out(q, kept, &r->worlds);
    w->confirmed = !hf_budget_spent(q->about.budget);
    w->order =
        hf_arena_get(&r->arena, hf_array_size(h->n_txns, sizeof(*w->order)));
    w->n_order = list_kept(h, kept, w->order);
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
        hf_brute_find_cycles(c, levels->all, q->about.budget, &r->arena,
                             &found);
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
    hf_brute_levels levels =
        hf_brute_levels_of(c, q->about.level, q->about.mixed);
    const char *undecided = doubt_about(c, &levels);
    hf_brute_search s;
    bool found;

    hf_brute_search_init(&s, c, &levels, q->about.promised, q->about.budget);
    found = hf_brute_search_run(&s);
    r->worlds = s.worlds;
    if (s.spent) {
        set_reason(r, hf_budget_reason(q->about.budget));
    } else if (found && undecided) {
        set_reason(r, undecided);
    } else if (found) {
        r->verdict = HF_VALID;
        hf_brute_witness_valid(c, &s.world, &levels, r);
        r->witness.rests = q->about.promised;
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

/* There are not too many transactions. */
static hf_status check_few(const hf_history *h, const hf_check_options *options,
                           hf_budget *budget, hf_result *r, hf_error *err)
{
    hf_brute_question about = {
        r->level, r->mixed, options ? options->assume & HF_REST_ASSUMABLE : 0,
        options ? options->dialect : HF_SQL_ANY, budget};
    question q = open_question(h, NULL, &about);
    hf_brute_case c;
    hf_status st = hf_brute_case_init(&c, q.h, NULL, q.sql, err);

    if (st == HF_OK) {
        judge(&c, &q, r);
        hf_brute_case_release(&c);
    }
    close_question(&q);
    return st;
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
    if (n > HF_BRUTE_NODES)
        too_many(r, n);
    else
        st = check_few(h, options, budget, r, err);
    if (st != HF_OK) {
        hf_result_free(r);
        return st;
    }
    r->seconds = (double)(hf_clock_ns() - start) / 1e9;
    *ret = r;
    return HF_OK;
}

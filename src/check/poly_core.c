/* poly_core.c: refutations, shrunk to few transactions.
 *
 * A proof of a search speaks of whatever the search came across.  Here its
 * transactions are cut out of the history (history/part.h) and judged by
 * themselves; what is invalid then has a proof of its own, mostly about fewer,
 * and so on.  At last transactions are left out, in halves and then one by
 * one: what is still invalid without some goes on without them, and one
 * without which the rest is valid is needed, for good: the rest of less is
 * valid all the more.  If all are needed the set is minimal.
 *
 * A part may be valid where the whole is not, though it has all transactions
 * that the proof names: an edge may rest on somebody it does not mention.
 * Those are added, the likely ones first (poly_grow.c).
 *
 * Where there are statements nothing is cut out; if the proof names few, they
 * are enumerated instead.  So is a small core, which may show that fewer are
 * enough: then these are the core, without a proof if the search has none.
 *
 * Each question costs a check of the part, so with k transactions left of n
 * that a proof names it takes about k log n of those.
 */
#include "check/poly_core.h"

#include <stdlib.h>
#include <string.h>

#include "check/brute.h"
#include "check/graph_engine.h"
#include "check/poly_shrink.h"

#define SECONDS 60.0 /* ... that shrinking takes at most, or */
#define TIMES 10.0   /* ... times as long as the check took */

/* ---- asking -------------------------------------------------------------- */

/* The proof as it is in the whole; one cycle is a proof of one step. */
static bool take_proof(hf_shrinker *s, const hf_part *part, const hf_witness *w)
{
    hf_step step = {HF_STEP_CYCLE, 0, w->n_edges, HF_NONE, HF_NONE, 0};
    hf_witness own = *w, whole;
    hf_arena arena;

    if (w->kind == HF_WITNESS_CYCLE) {
        own.kind = HF_WITNESS_PROOF;
        own.anomaly = HF_NO_ORDER;
        own.n_steps = 1;
        own.steps = &step;
        own.n_ops = 0;
    }
    if (own.kind != HF_WITNESS_PROOF || own.rests)
        return false;
    hf_arena_init(&arena);
    if (!hf_part_to_whole(part, &own, &arena, &whole)) {
        hf_arena_release(&arena);
        return false;
    }
    hf_arena_release(&s->arena);
    s->arena = arena;
    s->proof = whole;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const hf_txn_id *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void set_core(hf_shrinker *s)
{
    for (size_t i = 0; i < s->core.n; i++)
        s->in_core[s->core.at[i]] = 0;
    s->core.n = 0;
    for (size_t i = 0; i < s->set.n; i++) {
        s->in_core[s->set.at[i]] = 1;
        hf_vec_push(&s->core, s->set.at[i]);
    }
}

/* Are the transactions of the set impossible by themselves?  Invalid: the
 * core is the set, and there is a proof. */
static hf_verdict ask(hf_shrinker *s)
{
    hf_verdict answer = HF_UNKNOWN;
    hf_result *r = NULL;
    hf_part part;

    if (hf_budget_look(&s->budget))
        return HF_UNKNOWN;
    if (s->set.n > 0)
        qsort(s->set.at, s->set.n, sizeof(*s->set.at), by_id);
    hf_part_cut(&s->parts, s->set.at, (uint32_t)s->set.n, &part);
    if (hf_polygraph_check(part.h, s->level, &s->options, &s->budget, &r,
                           NULL) == HF_OK) {
        answer = r->is_excluded && s->unproved ? HF_INVALID : r->verdict;
        if (answer == HF_INVALID && r->verdict == HF_INVALID &&
            take_proof(s, &part, &r->witness))
            s->unproved = false; /* from now on it is */
        else if (answer == HF_INVALID && !s->unproved)
            answer = HF_UNKNOWN;
        hf_result_free(r);
    }
    hf_part_release(&part);
    if (answer == HF_INVALID)
        set_core(s);
    return answer;
}

/* ---- shrinking ----------------------------------------------------------- */

/* A first core: the transactions of the proof, and whom they need. */
static bool begin(hf_shrinker *s, const hf_witness *w)
{
    hf_shrink_gather(s, w);
    for (unsigned round = 1;; round++) {
        size_t n = s->set.n;

        if (ask(s) == HF_INVALID)
            return true;
        if (s->budget.spent || n == s->h->n_txns)
            return false;
        while (round < 3 && s->set.n == n)
            hf_shrink_grow(s, w, round++);
        if (s->set.n == n)
            hf_shrink_grow(s, w, round);
    }
}

/* As long as the proof at hand speaks of fewer. */
static void follow_proof(hf_shrinker *s)
{
    size_t n;

    do {
        n = s->core.n;
        hf_shrink_gather(s, &s->proof);
        if (s->set.n >= n)
            return;
        if (ask(s) != HF_INVALID) {
            hf_witness w = s->proof;

            hf_shrink_grow(s, &w, 1);
            if (s->set.n < n)
                (void)ask(s);
        }
    } while (s->core.n < n);
}

/* The set becomes the core without up to `most` of which it is not known
 * whether they are needed; the first of those, or HF_NONE. */
static hf_txn_id leave_out(hf_shrinker *s, size_t most)
{
    hf_txn_id first = HF_NONE;

    hf_shrink_clear(s);
    for (size_t i = 0; i < s->core.n; i++) {
        hf_txn_id t = s->core.at[i];

        if (s->needed[t] || most == 0) {
            hf_shrink_add(s, t);
            continue;
        }
        if (first == HF_NONE)
            first = t;
        most--;
    }
    return first;
}

static size_t count_open(const hf_shrinker *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->core.n; i++)
        n += !s->needed[s->core.at[i]];
    return n;
}

/* True: the core is minimal. */
static bool shrink(hf_shrinker *s)
{
    size_t chunk = s->core.n, open;
    bool doubt = false;

    while ((open = count_open(s)) > 0 && !s->budget.spent) {
        hf_txn_id first;
        hf_verdict answer;

        if (chunk > (open + 1) / 2)
            chunk = (open + 1) / 2;
        first = leave_out(s, chunk);
        answer = ask(s);
        if (answer == HF_INVALID) {
            if (!s->unproved)
                follow_proof(s);
            chunk *= 2;
        } else if (chunk > 1) {
            chunk /= 2;
        } else {
            s->needed[first] = 1;
            doubt |= answer != HF_VALID;
        }
    }
    return open == 0 && !doubt;
}

/* ---- by enumeration ------------------------------------------------------ */

static hf_brute_question question_of(hf_shrinker *s)
{
    return (hf_brute_question){.level = s->level,
                               .mixed = s->options.mixed,
                               .promised = s->options.assume,
                               .dialect = s->options.dialect,
                               .budget = &s->budget};
}

/* The set becomes those of it that are needed, or empty if it is not known to
 * be impossible.  True: it is minimal. */
static bool enumerate(hf_shrinker *s)
{
    hf_brute_question q = question_of(s);
    bool minimal = false;
    size_t n = s->set.n;

    for (size_t i = 0; i < n; i++)
        s->in[s->set.at[i]] = 0;
    s->set.n = hf_brute_shrink(s->h, s->set.at, (uint32_t)n, &q, &minimal);
    for (size_t i = 0; i < s->set.n; i++)
        s->in[s->set.at[i]] = 1;
    return minimal && !s->budget.spent;
}

/* Where nothing can be cut out of a history.  Those that the proof names, with
 * the sources of what it reads if that is not enough, are enumerated if they
 * are few.  True: what is left is minimal. */
static bool shrink_by_enumeration(hf_shrinker *s)
{
    hf_txn_id all[HF_BRUTE_NODES];
    bool minimal = false;

    for (unsigned round = 0; round < 3 && s->set.n <= HF_BRUTE_NODES; round++) {
        size_t n = s->set.n;

        memcpy(all, s->set.at, n * sizeof(*all));
        minimal = enumerate(s);
        if (s->set.n > 0) {
            set_core(s);
            break;
        }
        for (size_t i = 0; i < n; i++)
            hf_shrink_add(s, all[i]);
        for (size_t i = 0; i < n; i++)
            hf_shrink_add_read_sources(s, all[i], round > 0);
    }
    return minimal;
}

/* ---- all ----------------------------------------------------------------- */

/* Few that no proof is about are enumerated.  False: they are too many, or it
 * does not tell. */
static bool take_few(hf_shrinker *s, hf_witness *ret)
{
    if (s->core.n == 0 || s->core.n > HF_BRUTE_NODES)
        return false;
    hf_shrink_clear(s);
    for (size_t i = 0; i < s->core.n; i++)
        hf_shrink_add(s, s->core.at[i]);
    s->core.n = 0;
    *ret = (hf_witness){.kind = HF_WITNESS_CORE,
                        .anomaly = HF_NO_ORDER,
                        .rests = s->options.assume,
                        .minimal = shrink_by_enumeration(s),
                        .confirmed = true};
    return s->core.n > 0 && !s->budget.spent;
}

/* The proof at hand, about the core.  A small one is enumerated, and so is
 * whether it is minimal.  If fewer are enough, for which the search had no
 * proof, these are the core, and enumeration is all there is. */
static hf_witness take_core(hf_shrinker *s, bool minimal)
{
    hf_witness few = {.kind = HF_WITNESS_CORE, .anomaly = HF_NO_ORDER};
    size_t n = s->core.n;

    s->proof.minimal = minimal;
    s->proof.confirmed = false;
    if (n > HF_BRUTE_NODES)
        return s->proof;
    hf_shrink_clear(s);
    for (size_t i = 0; i < n; i++)
        hf_shrink_add(s, s->core.at[i]);
    s->proof.minimal = few.minimal = enumerate(s);
    s->proof.confirmed = few.confirmed = s->set.n > 0 && !s->budget.spent;
    if (!s->proof.confirmed)
        s->proof.minimal = false;
    else if (s->set.n < n && ask(s) != HF_INVALID) {
        set_core(s);
        return few;
    }
    return s->proof;
}

/* It becomes that of the result. */
static void store_witness(hf_shrinker *s, hf_witness w, hf_result *r)
{
    w.mixed = s->options.mixed;
    w.order = s->core.at;
    w.n_order = (uint32_t)s->core.n;
    hf_witness_copy(&w, &r->arena, &r->witness);
}

/* What was not known to be invalid is. */
static void store_core(hf_shrinker *s, bool minimal, hf_result *r)
{
    hf_finding *f = hf_arena_get(&r->arena, sizeof(*f));
    hf_group *g = hf_arena_get(&r->arena, sizeof(*g));
    hf_witness w;

    if (!s->unproved)
        w = take_core(s, minimal);
    else if (!take_few(s, &w))
        return;
    store_witness(s, w, r);
    r->verdict = HF_INVALID;
    r->reason = NULL;
    r->is_excluded = false;
    *f = (hf_finding){.anomaly = HF_NO_ORDER, .witness = r->witness};
    *g = (hf_group){HF_NO_ORDER, 1, false};
    r->findings = f;
    r->groups = g;
    r->n_findings = r->n_groups = 1;
}

/* What is found goes into the result. */
static void store(hf_shrinker *s, hf_witness w, hf_result *r)
{
    const hf_step *old = r->witness.steps;

    store_witness(s, w, r);
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (r->findings[i].witness.steps == old)
            r->findings[i].witness = r->witness;
}

/* A share of what is left. */
static double seconds_for(const hf_budget *b, const hf_result *r)
{
    double most = r->seconds * TIMES > SECONDS ? r->seconds * TIMES : SECONDS;
    double left;

    if (!b || b->seconds <= 0)
        return most;
    left = b->seconds - (double)(hf_clock_ns() - b->started_ns) / 1e9;
    return left / 2 < most ? left / 2 : most;
}

static void release(hf_shrinker *s)
{
    hf_parts_release(&s->parts);
    hf_map_release(&s->met);
    hf_arena_release(&s->arena);
    hf_vec_release(&s->set);
    hf_vec_release(&s->core);
    hf_free(s->in);
    hf_free(s->longest);
    hf_free(s->read_by);
    hf_free(s->in_core);
    hf_free(s->needed);
}

static void open_shrinker(hf_shrinker *s, const hf_check_options *options,
                          const hf_budget *budget, double seconds)
{
    size_t n = (size_t)s->h->n_txns + 1;

    s->options = (hf_check_options){
        .threads = 1, .no_chains = !hf_has_predicates(s->h), .is_part = true};
    if (options) {
        s->options.mixed = options->mixed;
        s->options.assume = options->assume & HF_REST_ASSUMABLE;
        s->options.dialect = options->dialect;
    }
    if (budget)
        s->budget = (hf_budget){.bytes = budget->bytes,
                                .interrupted = budget->interrupted,
                                .progress = budget->progress,
                                .user = budget->user};
    s->budget.seconds = seconds;
    hf_budget_start(&s->budget);
    s->in = HF_NEW_ZEROED(uint8_t, n);
    s->in_core = HF_NEW_ZEROED(uint8_t, n);
    s->needed = HF_NEW_ZEROED(uint8_t, n);
    hf_arena_init(&s->arena);
    hf_map_init(&s->met);
    hf_shrink_index(s);
}

void hf_poly_shrink(const hf_history *h, const hf_check_options *options,
                    hf_budget *budget, hf_result *r)
{
    uint64_t start = hf_clock_ns();
    hf_shrinker s = {.h = h, .level = r->level};
    double seconds = seconds_for(budget, r);
    bool cut;

    if (r->verdict != HF_INVALID || r->witness.kind != HF_WITNESS_PROOF ||
        r->witness.rests || r->witness.minimal || seconds <= 0 ||
        (budget && budget->spent))
        return;
    cut = hf_parts_init(&s.parts, h);
    if (!cut)
        hf_parts_list(&s.parts, h);
    open_shrinker(&s, options, budget, seconds);
    if (!cut) {
        hf_shrink_gather(&s, &r->witness);
        s.proof = r->witness;
        s.proof.minimal = shrink_by_enumeration(&s);
        s.proof.confirmed = true;
        if (s.core.n > 0 && !s.budget.spent)
            store(&s, s.proof, r);
    } else if (begin(&s, &r->witness)) {
        follow_proof(&s);
        store(&s, take_core(&s, shrink(&s)), r);
    }
    release(&s);
    r->seconds += (double)(hf_clock_ns() - start) / 1e9;
}

void hf_poly_confirm(const hf_history *h, const hf_check_options *options,
                     hf_budget *budget, hf_result *r)
{
    uint64_t start = hf_clock_ns();
    hf_shrinker s = {.h = h, .level = r->level, .unproved = true};
    double left = 0;

    if (budget && budget->seconds > 0)
        left = budget->seconds -
               (double)(hf_clock_ns() - budget->started_ns) / 1e9;
    if ((budget && (budget->spent || (budget->seconds > 0 && left <= 0))) ||
        !hf_parts_init(&s.parts, h))
        return;
    open_shrinker(&s, options, budget, left);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        hf_shrink_add(&s, t);
    if (ask(&s) == HF_INVALID)
        store_core(&s, shrink(&s), r);
    release(&s);
    r->seconds += (double)(hf_clock_ns() - start) / 1e9;
}

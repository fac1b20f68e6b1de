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
 * Those are added, the likely ones first (see grow()).
 *
 * Where there are statements, or snapshots, nothing is cut out; if the proof
 * names few, they are enumerated instead.
 *
 * Each question costs a check of the part, so with k transactions left of n
 * that a proof names it takes about k log n of those.
 */
#include "check/poly_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "check/brute.h"
#include "check/graph_engine.h"
#include "history/extra.h"
#include "history/part.h"

#define SECONDS 1.0

typedef HF_VEC(hf_txn_id) txn_list;

typedef struct shrinker {
    const hf_history *h;
    hf_level level;
    hf_check_options options;
    hf_budget budget; /* its own */
    hf_parts parts;
    uint8_t *in;        /* per transaction: is in `set` */
    txn_list set;       /* ascending, once sort_set() was called */
    hf_op_id *longest;  /* per key: read of the longest list; HF_NONE */
    hf_txn_id *read_by; /* per value: one that surely happened and read it */
    hf_map met;         /* (transaction, key) of chains: gone through */
    hf_arena arena;     /* of the proof at hand */
    hf_witness proof;   /* in ids of the whole */
    bool unproved;      /* ... is not wanted: a search that leaves nothing will
                         * do */
    txn_list core;      /* that it is about: invalid by itself; ascending */
    uint8_t *in_core;   /* per transaction */
    uint8_t *needed;    /* per transaction: the rest of the core is valid */
} shrinker;

/* ---- sets ---------------------------------------------------------------- */

static void clear_set(shrinker *s)
{
    for (size_t i = 0; i < s->set.n; i++)
        s->in[s->set.at[i]] = 0;
    s->set.n = 0;
}

/* Once there is a core nobody else is added. */
static void add(shrinker *s, hf_txn_id t)
{
    if (t == HF_NONE || s->in[t] || (s->core.n > 0 && !s->in_core[t]))
        return;
    s->in[t] = 1;
    hf_vec_push(&s->set, t);
}

static void add_writers(shrinker *s, hf_value_id v)
{
    for (uint32_t i = s->parts.write_first[v]; i < s->parts.write_first[v + 1];
         i++)
        add(s, s->parts.writers[i]);
}

static void add_writers_of_key(shrinker *s, hf_key_id key)
{
    const hf_history *h = s->h;
    hf_value_id v;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (h->op_key[op] == key && hf_part_writes(h, op, &v))
                add(s, t);
}

/* Those without whom a read would say nothing. */
static void add_sources(shrinker *s, hf_op_id op)
{
    hf_value_id v;

    if (op == HF_NONE)
        return;
    v = hf_part_read(s->h, op);
    if (v == HF_NONE)
        return;
    if (s->parts.blind[s->h->op_key[op]]) {
        add_writers_of_key(s, s->h->op_key[op]);
        return;
    }
    add_writers(s, s->h->value_type[v] == HF_LIST ? hf_list_last(s->h, v) : v);
}

static int by_id(const void *a, const void *b)
{
    const hf_txn_id *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Whose version of a key a condition looked at, and if it did not return it who
 * else changed the matches. */
static void add_looked_at(shrinker *s, hf_op_id op, hf_key_id key)
{
    const hf_history *h = s->h;
    hf_predicate q;

    if (op == HF_NONE || !hf_op_has_predicate(hf_op_kind_of(h, op)))
        return;
    q = hf_op_predicate(h, op);
    for (uint32_t i = 0; i < q.n_results; i++)
        if (h->value_key[q.results[i].value] == key) {
            add_writers(s, q.results[i].value);
            return;
        }
    add_writers_of_key(s, key);
}

/* ---- growing ------------------------------------------------------------- */

/* Those whose versions t looked at, or all who wrote such a key. */
static void add_read_sources(shrinker *s, hf_txn_id t, bool all)
{
    const hf_history *h = s->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_predicate q;

        add_sources(s, op);
        if (!hf_op_has_predicate(hf_op_kind_of(h, op)))
            continue;
        q = hf_op_predicate(h, op);
        for (uint32_t i = 0; i < q.n_versions + q.n_results; i++) {
            hf_version_ref ref =
                i < q.n_versions ? q.versions[i] : q.results[i - q.n_versions];

            add_writers(s, ref.value);
            if (all)
                add_writers_of_key(s, h->value_key[ref.value]);
        }
    }
}

/* Of t, which reads the key and then writes it: the only one that may have
 * written what it read.  HF_NONE: there is none, *ret_initial: nobody. */
static hf_txn_id source_of(const shrinker *s, hf_txn_id t, hf_key_id key,
                           bool *ret_initial)
{
    const hf_history *h = s->h;
    hf_value_id read = HF_NONE, v;
    bool wrote = false;
    uint32_t n;

    *ret_initial = false;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (h->op_key[op] != key)
            continue;
        v = hf_part_read(h, op);
        if (v != HF_NONE && !wrote)
            read = v;
        wrote |= hf_part_writes(h, op, &v);
    }
    if (read == HF_NONE || !wrote)
        return HF_NONE;
    if (h->value_type[read] == HF_LIST)
        read = hf_list_last(h, read);
    n = s->parts.write_first[read + 1] - s->parts.write_first[read];
    *ret_initial = n == 0;
    return n == 1 ? s->parts.writers[s->parts.write_first[read]] : HF_NONE;
}

/* From t back along those that read the key and replaced what they read, to
 * another of the set (or to the first): all in between are added. */
static void add_chain(shrinker *s, hf_txn_id t, hf_key_id key, bool to_first)
{
    txn_list way = {0};
    bool initial = false, ends = false;

    while (!ends) {
        t = source_of(s, t, key, &initial);
        if (t == HF_NONE ||
            hf_map_get(&s->met, (uint64_t)t << 32 | key) != UINT32_MAX)
            break;
        hf_map_set(&s->met, (uint64_t)t << 32 | key, 1);
        ends = s->in[t];
        hf_vec_push(&way, t);
    }
    for (size_t i = 0; (ends || (to_first && initial)) && i < way.n; i++)
        add(s, way.at[i]);
    hf_vec_release(&way);
}

static void add_reader_of_list(shrinker *s, hf_key_id key)
{
    if (key == HF_NONE || s->longest[key] == HF_NONE)
        return;
    add(s, hf_op_txn(s->h, s->longest[key]));
    add_sources(s, s->longest[key]);
}

/* What t needs so that its operations say what they say in the whole. */
static void support(shrinker *s, hf_txn_id t, bool all)
{
    const hf_history *h = s->h;
    hf_value_id v = HF_NONE;

    if (all)
        add_read_sources(s, t, false);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (all) {
            add_sources(s, op);
            add_reader_of_list(s, h->op_key[op]);
        }
        if (!hf_part_writes(h, op, &v))
            continue;
        add_chain(s, t, h->op_key[op], all);
        if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME && v != HF_NONE)
            add(s, s->read_by[v]);
    }
}

/* The transactions of the proof, and the sources of the reads in it. */
static void gather(shrinker *s, const hf_witness *w)
{
    clear_set(s);
    for (uint32_t i = 0; i < w->n_order; i++)
        add(s, w->order[i]); /* a core, already */
    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[i];

        add(s, e->from);
        add(s, e->to);
        add_sources(s, e->from_op);
        add_sources(s, e->to_op);
        add_looked_at(s, e->from_op, e->key);
        add_looked_at(s, e->to_op, e->key);
    }
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const hf_step *step = &w->steps[i];

        if (step->op != HF_NONE &&
            (step->kind == HF_STEP_SOURCES || step->kind == HF_STEP_HAPPENED ||
             step->kind == HF_STEP_LIST)) {
            add(s, hf_op_txn(s->h, step->op));
            add_sources(s, step->op);
            if (step->kind == HF_STEP_LIST)
                add(s, step->writer);
        }
    }
}

/* Adds those on whom something may rest that the proof does not mention:
 *   1  who read a list that orders two appends; who is between two versions
 *      of a chain; who read from one of unknown outcome
 *   2  all sources of all reads, and chains to their beginning; again and
 *      again, and if that adds nobody, everybody
 */
static void grow(shrinker *s, const hf_witness *w, unsigned round)
{
    size_t n = s->set.n;

    hf_map_release(&s->met);
    hf_map_init(&s->met);
    for (uint32_t i = 0; i < w->n_edges; i++)
        add_reader_of_list(s, w->edges[i].key);
    for (size_t i = 0; i < n; i++)
        support(s, s->set.at[i], round > 1);
    if (round > 1 && s->set.n == n)
        for (hf_txn_id t = 0; t < s->h->n_txns; t++)
            add(s, t);
}

/* ---- asking -------------------------------------------------------------- */

/* The proof as it is in the whole; one cycle is a proof of one step. */
static bool take_proof(shrinker *s, const hf_part *part, const hf_witness *w)
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

static void set_core(shrinker *s)
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
static hf_verdict ask(shrinker *s)
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
static bool begin(shrinker *s, const hf_witness *w)
{
    gather(s, w);
    for (unsigned round = 1;; round++) {
        size_t n = s->set.n;

        if (ask(s) == HF_INVALID)
            return true;
        if (s->budget.spent || n == s->h->n_txns)
            return false;
        while (round < 3 && s->set.n == n)
            grow(s, w, round++);
        if (s->set.n == n)
            grow(s, w, round);
    }
}

/* As long as the proof at hand speaks of fewer. */
static void follow_proof(shrinker *s)
{
    size_t n;

    do {
        n = s->core.n;
        gather(s, &s->proof);
        if (s->set.n >= n)
            return;
        if (ask(s) != HF_INVALID) {
            hf_witness w = s->proof;

            grow(s, &w, 1);
            if (s->set.n < n)
                (void)ask(s);
        }
    } while (s->core.n < n);
}

/* The set becomes the core without up to `most` of which it is not known
 * whether they are needed; the first of those, or HF_NONE. */
static hf_txn_id leave_out(shrinker *s, size_t most)
{
    hf_txn_id first = HF_NONE;

    clear_set(s);
    for (size_t i = 0; i < s->core.n; i++) {
        hf_txn_id t = s->core.at[i];

        if (s->needed[t] || most == 0) {
            add(s, t);
            continue;
        }
        if (first == HF_NONE)
            first = t;
        most--;
    }
    return first;
}

static size_t count_open(const shrinker *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->core.n; i++)
        n += !s->needed[s->core.at[i]];
    return n;
}

/* True: the core is minimal. */
static bool shrink(shrinker *s)
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

static hf_verdict judge_core(shrinker *s, const hf_txn_id *txns, uint32_t n)
{
    hf_brute_question q = {.level = s->level,
                           .mixed = s->options.mixed,
                           .dialect = s->options.dialect,
                           .budget = &s->budget};

    return hf_brute_core(s->h, txns, n, &q);
}

/* Where nothing can be cut out of a history.  Those that the proof names, with
 * the sources of what it reads if that is not enough, are enumerated if they
 * are few, and so are they without each.  True: what is left is minimal. */
static bool shrink_by_enumeration(shrinker *s)
{
    bool doubt = false;

    for (unsigned round = 0; round < 3 && s->set.n <= HF_BRUTE_NODES; round++) {
        size_t n = s->set.n;

        if (n > 0 && judge_core(s, s->set.at, (uint32_t)n) == HF_INVALID) {
            set_core(s);
            break;
        }
        for (size_t i = 0; i < n; i++)
            add_read_sources(s, s->set.at[i], round > 0);
    }
    for (size_t i = s->core.n; i-- > 0 && s->core.n > 1;) {
        hf_txn_id out = s->core.at[i], last = s->core.at[s->core.n - 1];
        hf_verdict rest;

        s->core.at[i] = last;
        rest = judge_core(s, s->core.at, (uint32_t)s->core.n - 1);
        if (rest == HF_INVALID) {
            s->core.n--;
        } else {
            doubt |= rest != HF_VALID;
            s->core.at[s->core.n - 1] = last;
            s->core.at[i] = out;
        }
    }
    if (s->core.n > 0)
        qsort(s->core.at, s->core.n, sizeof(*s->core.at), by_id);
    return !doubt;
}

/* A small core is enumerated; so is whether it is minimal. */
static void confirm(shrinker *s, hf_witness *w)
{
    hf_txn_id rest[HF_BRUTE_NODES];
    uint32_t n = (uint32_t)s->core.n;

    if (n > HF_BRUTE_NODES)
        return;
    w->confirmed = judge_core(s, s->core.at, n) == HF_INVALID;
    for (uint32_t i = 0; i < n && w->minimal; i++) {
        memcpy(rest, s->core.at, n * sizeof(*rest));
        rest[i] = rest[n - 1];
        w->minimal = judge_core(s, rest, n - 1) == HF_VALID;
    }
    if (s->budget.spent)
        w->minimal = w->confirmed = false;
}

/* ---- all ----------------------------------------------------------------- */

static void index_reads(shrinker *s)
{
    const hf_history *h = s->h;
    uint32_t *length = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);

    s->longest = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_keys + 1);
    s->read_by = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    memset(s->longest, 0xff, ((size_t)h->n_keys + 1) * sizeof(hf_op_id));
    memset(s->read_by, 0xff, ((size_t)h->n_values + 1) * sizeof(hf_txn_id));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = hf_part_read(h, op);
            hf_key_id key = h->op_key[op];
            uint32_t n;

            if (v == HF_NONE || h->txn_outcome[t] != HF_COMMITTED)
                continue;
            if (h->value_type[v] == HF_LIST) {
                n = hf_list_items(h, v, NULL);
                if (n > length[key]) {
                    length[key] = n;
                    s->longest[key] = op;
                }
                v = hf_list_last(h, v);
            }
            s->read_by[v] = t;
        }
    hf_free(length);
}

/* Few transactions that are impossible, without a proof. */
static void store_core(shrinker *s, hf_result *r)
{
    hf_finding *f = hf_arena_get(&r->arena, sizeof(*f));
    hf_group *g = hf_arena_get(&r->arena, sizeof(*g));
    hf_witness w = {.kind = HF_WITNESS_CORE,
                    .anomaly = HF_NO_ORDER,
                    .mixed = s->options.mixed,
                    .order = s->core.at,
                    .n_order = (uint32_t)s->core.n,
                    .minimal = true};

    if (s->unproved) {
        if (s->core.n == 0 || s->core.n > HF_BRUTE_NODES)
            return;
        clear_set(s);
        for (size_t i = 0; i < s->core.n; i++)
            add(s, s->core.at[i]);
        if (!shrink_by_enumeration(s))
            return;
        w.order = s->core.at;
        w.n_order = (uint32_t)s->core.n;
    } else {
        w = s->proof;
        w.order = s->core.at;
        w.n_order = (uint32_t)s->core.n;
        w.mixed = s->options.mixed;
    }
    hf_witness_copy(&w, &r->arena, &r->witness);
    confirm(s, &r->witness);
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
static void store(shrinker *s, bool minimal, hf_result *r)
{
    const hf_step *old = r->witness.steps;
    hf_witness w;

    s->proof.mixed = r->witness.mixed;
    s->proof.order = s->core.at;
    s->proof.n_order = (uint32_t)s->core.n;
    s->proof.minimal = minimal;
    hf_witness_copy(&s->proof, &r->arena, &w);
    confirm(s, &w);
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (r->findings[i].witness.steps == old)
            r->findings[i].witness = w;
    r->witness = w;
}

/* A share of what is left. */
static double seconds_for(const hf_budget *b, const hf_result *r)
{
    double most = r->seconds > SECONDS ? r->seconds : SECONDS, left;

    if (!b || b->seconds <= 0)
        return most;
    left = b->seconds - (double)(hf_clock_ns() - b->started_ns) / 1e9;
    return left / 2 < most ? left / 2 : most;
}

static void release(shrinker *s)
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

static void open_shrinker(shrinker *s, const hf_check_options *options,
                          const hf_budget *budget, double seconds)
{
    size_t n = (size_t)s->h->n_txns + 1;

    s->options = (hf_check_options){
        .threads = 1, .no_chains = !hf_has_predicates(s->h), .is_part = true};
    s->options.mixed = options && options->mixed;
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
    index_reads(s);
}

void hf_poly_shrink(const hf_history *h, const hf_check_options *options,
                    hf_budget *budget, hf_result *r)
{
    uint64_t start = hf_clock_ns();
    shrinker s = {.h = h, .level = r->level};
    double seconds = seconds_for(budget, r);
    bool cut, minimal;

    if (r->verdict != HF_INVALID || r->witness.kind != HF_WITNESS_PROOF ||
        r->witness.rests || r->witness.minimal || seconds <= 0 ||
        (budget && budget->spent))
        return;
    cut = hf_parts_init(&s.parts, h);
    if (!cut)
        hf_parts_list(&s.parts, h);
    open_shrinker(&s, options, budget, seconds);
    if (!cut) {
        gather(&s, &r->witness);
        s.proof = r->witness;
        minimal = shrink_by_enumeration(&s);
        if (s.core.n > 0 && !s.budget.spent)
            store(&s, minimal, r);
    } else if (begin(&s, &r->witness)) {
        follow_proof(&s);
        store(&s, shrink(&s), r);
    }
    release(&s);
    r->seconds += (double)(hf_clock_ns() - start) / 1e9;
}

void hf_poly_confirm(const hf_history *h, const hf_check_options *options,
                     hf_budget *budget, hf_result *r)
{
    uint64_t start = hf_clock_ns();
    shrinker s = {.h = h, .level = r->level, .unproved = true};
    double left = 0;

    if (budget && budget->seconds > 0)
        left = budget->seconds -
               (double)(hf_clock_ns() - budget->started_ns) / 1e9;
    if ((budget && (budget->spent || (budget->seconds > 0 && left <= 0))) ||
        !hf_parts_init(&s.parts, h))
        return;
    open_shrinker(&s, options, budget, left);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        add(&s, t);
    if (ask(&s) == HF_INVALID) {
        (void)shrink(&s);
        store_core(&s, r);
    }
    release(&s);
    r->seconds += (double)(hf_clock_ns() - start) / 1e9;
}

/* test_proof_brute.c: what a proof may say, against the reference engine.
 *
 *     test_proof_brute [HISTORIES [SEED]]
 *
 * For random tiny histories and levels, mixed ones too, every step that verify
 * accepts is collected: each simple cycle of each choice of edges and sources,
 * the steps about sources, outcomes and faults, and every place of a writer
 * that a list or a sum of increments without results speaks of.  Where the
 * reference finds the history valid the steps must not contradict each other: a
 * set of facts must satisfy them all, or else verify would accept a proof of
 * what is not so. Where it is invalid they must: a search finds a refutation by
 * resolution, which is written as JSON, read back, and must be accepted.  To
 * see that it does not matter what the maker of a proof knows, some of the
 * facts that verify knows are taken for open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "check/check.h"
#include "random_history.h"
#include "history/extra.h"
#include "report/report.h"
#include "states_store.h"
#include "verify/view.h"

#define MOST_CYCLES 8000
#define MOST_NODES 20000
#define LENGTH 5

typedef HF_VEC(hf_edge) edge_list;
typedef HF_VEC(uint32_t) id_list;

/* The proof that is made. */
typedef struct maker {
    const hf_history *h;
    hf_level level;
    bool mixed; /* each transaction by the level it names */
    hf_verify_session *session;
    HF_VEC(hf_step) steps;
    edge_list edges;
    id_list chosen, used;
    bool cut; /* not all cycles were tried */
} maker;

typedef struct run {
    long valid, refuted, open, cut, faulty, spent, failed;
    long steps, resolutions, sources, happened, lists, faults, pairs;
    /* valid, refuted, open; the last: mixed */
    long at_level[HF_LEVEL_COUNT + 1][3];
    int shown;
} run;

/* ---- steps --------------------------------------------------------------- */

static hf_claim claim_of(const maker *m)
{
    return (hf_claim){.verdict = HF_INVALID,
                      .level = m->level,
                      .witness = {.kind = HF_WITNESS_PROOF,
                                  .mixed = m->mixed,
                                  .anomaly = HF_NO_ORDER,
                                  .n_edges = (uint32_t)m->edges.n,
                                  .edges = m->edges.at,
                                  .n_steps = (uint32_t)m->steps.n,
                                  .steps = m->steps.at,
                                  .n_used = (uint32_t)m->used.n,
                                  .used = m->used.at,
                                  .chosen = m->chosen.at}};
}

/* Does verify let the step stand, by itself? */
static bool stands(const maker *m, const hf_edge *edges, const uint32_t *chosen,
                   hf_step step)
{
    maker one = {.h = m->h, .level = m->level, .mixed = m->mixed};
    hf_claim claim = claim_of(&one);
    hf_proof_view view;
    hf_arena arena;
    bool fine;

    step.first = 0;
    claim.witness.n_steps = 1;
    claim.witness.steps = &step;
    claim.witness.n_edges = step.n;
    claim.witness.edges = (hf_edge *)(uintptr_t)edges;
    claim.witness.chosen = (uint32_t *)(uintptr_t)chosen;
    hf_arena_init(&arena);
    fine = hf_verify_view(m->session, &claim, NULL, &arena, &view, NULL);
    hf_arena_release(&arena);
    return fine;
}

static void offer_cycle(maker *m, const hf_edge *edges, const uint32_t *chosen,
                        uint32_t n)
{
    hf_step step = {.kind = HF_STEP_CYCLE,
                    .first = (uint32_t)m->edges.n,
                    .n = n,
                    .op = HF_NONE,
                    .writer = HF_NONE};

    if (!stands(m, edges, chosen, step))
        return;
    hf_vec_push(&m->steps, step);
    for (uint32_t i = 0; i < n; i++) {
        hf_vec_push(&m->edges, edges[i]);
        hf_vec_push(&m->chosen, chosen[i]);
    }
}

static void offer_op(maker *m, hf_step_kind kind, hf_op_id op, hf_txn_id writer)
{
    hf_step step = {.kind = kind, .op = op, .writer = writer};

    if (stands(m, NULL, NULL, step))
        hf_vec_push(&m->steps, step);
}

/* ---- edges --------------------------------------------------------------- */

typedef struct choice {
    hf_edge edge;
    uint32_t chosen;
} choice;

typedef HF_VEC(choice) choice_list;

static bool writes(const hf_history *h, hf_op_id op)
{
    return hf_op_installs(hf_op_kind_of(h, op)) &&
           !(hf_op_flags_of(h, op) & HF_OP_FAILED);
}

static bool reads(const hf_history *h, hf_op_id op)
{
    return hf_op_reads_item(hf_op_kind_of(h, op)) ||
           hf_op_kind_of(h, op) == HF_OP_INCREMENT;
}

/* Everything that might be an edge; verify will say. */
static void list_item_edges(const hf_history *h, hf_txn_id a, hf_op_id x,
                            hf_txn_id b, hf_op_id y, choice_list *ret)
{
    hf_edge e = {HF_EDGE_WW, a, b, h->op_key[x], x, y};

    if (h->op_key[x] != h->op_key[y] || h->op_key[x] == HF_NONE)
        return;
    if (writes(h, x) && writes(h, y))
        hf_vec_push(ret, (choice){e, HF_CHOSEN_ONLY});
    e.kind = HF_EDGE_WR;
    if (writes(h, x) && reads(h, y))
        hf_vec_push(ret, (choice){e, HF_CHOSEN(a)});
    e.kind = HF_EDGE_RW;
    if (!reads(h, x) || !writes(h, y))
        return;
    hf_vec_push(ret, (choice){e, HF_CHOSEN_ONLY});
    hf_vec_push(ret, (choice){e, HF_CHOSEN_INITIAL});
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (t != a && t != b)
            hf_vec_push(ret, (choice){e, HF_CHOSEN(t)});
}

/* Might the edge be there in some world?  Asked with a way back that is
 * certainly none, so only the reason tells. */
static bool is_plausible(const maker *m, const choice *c)
{
    hf_edge back = {HF_EDGE_SO, c->edge.to, c->edge.from,
                    HF_NONE,    HF_NONE,    HF_NONE};
    hf_edge edges[2] = {c->edge, back};
    uint32_t chosen[2] = {c->chosen, HF_CHOSEN_ONLY};
    hf_step step = {.kind = HF_STEP_CYCLE, .n = 2, .op = HF_NONE};
    hf_claim claim = {.verdict = HF_INVALID,
                      .level = HF_STRICT_SERIALIZABLE,
                      .witness = {.kind = HF_WITNESS_PROOF,
                                  .anomaly = HF_NO_ORDER,
                                  .n_edges = 2,
                                  .edges = edges,
                                  .n_steps = 1,
                                  .steps = &step,
                                  .chosen = chosen}};
    hf_verification answer = {.accepted = false, .reason = ""};
    hf_error err;

    if (hf_verify_claim_in(m->session, &claim, NULL, &answer, &err) != HF_OK)
        return false;
    return answer.accepted || strstr(answer.reason, "session order") ||
           strstr(answer.reason, "no contradiction");
}

static void list_edges(const maker *m, hf_txn_id a, hf_txn_id b,
                       choice_list *ret)
{
    const hf_history *h = m->h;
    size_t n = 0;

    for (hf_op_id x = h->op_first[a]; x < h->op_first[a + 1]; x++)
        for (hf_op_id y = h->op_first[b]; y < h->op_first[b + 1]; y++)
            list_item_edges(h, a, x, b, y, ret);
    for (size_t i = 0; i < ret->n; i++)
        if (is_plausible(m, &ret->at[i]))
            ret->at[n++] = ret->at[i];
    ret->n = n;
    for (hf_edge_kind kind = HF_EDGE_SO; kind <= HF_EDGE_RT; kind++) {
        hf_edge e = {kind, a, b, HF_NONE, HF_NONE, HF_NONE};

        hf_vec_push(ret, (choice){e, HF_CHOSEN_ONLY});
    }
}

/* ---- cycles -------------------------------------------------------------- */

typedef struct walk {
    maker *m;
    choice_list between[TINY_TXNS][TINY_TXNS];
    hf_edge edges[LENGTH];
    uint32_t chosen[LENGTH];
    bool on_path[TINY_TXNS];
    long tried;
} walk;

static void extend(walk *w, hf_txn_id start, hf_txn_id at, uint32_t n)
{
    for (hf_txn_id to = start; to < w->m->h->n_txns; to++) {
        const choice_list *list = &w->between[at][to];

        if (to == at || (to != start && w->on_path[to]))
            continue;
        for (size_t i = 0; i < list->n; i++) {
            if (w->tried > MOST_CYCLES) {
                w->m->cut = true;
                return;
            }
            w->edges[n] = list->at[i].edge;
            w->chosen[n] = list->at[i].chosen;
            if (to == start) {
                w->tried++;
                offer_cycle(w->m, w->edges, w->chosen, n + 1);
            } else if (n + 2 <= LENGTH) {
                w->on_path[to] = true;
                extend(w, start, to, n + 1);
                w->on_path[to] = false;
            }
        }
    }
}

static void collect(maker *m)
{
    const hf_history *h = m->h;
    walk *w = HF_NEW(walk);

    w->m = m;
    for (hf_txn_id a = 0; a < h->n_txns; a++)
        for (hf_txn_id b = 0; b < h->n_txns; b++)
            if (a != b)
                list_edges(m, a, b, &w->between[a][b]);
    for (hf_txn_id a = 0; a < h->n_txns; a++)
        extend(w, a, a, 0);
    for (hf_txn_id a = 0; a < h->n_txns; a++)
        for (hf_txn_id b = 0; b < h->n_txns; b++)
            hf_vec_release(&w->between[a][b]);
    hf_free(w);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        offer_op(m, HF_STEP_SOURCES, op, HF_NONE);
        offer_op(m, HF_STEP_FAULT, op, HF_NONE);
        for (hf_txn_id t = 0; t < h->n_txns; t++) {
            offer_op(m, HF_STEP_HAPPENED, op, t);
            offer_op(m, HF_STEP_FAULT, op, t);
        }
    }
}

/* ---- lists --------------------------------------------------------------- */

/* The last operation of t that appends to key; HF_NONE. */
static hf_op_id append_of(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    hf_op_id last = HF_NONE;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (h->op_key[op] == key && writes(h, op) &&
            h->txn_outcome[t] != HF_ABORTED)
            last = op;
    return last;
}

static void offer_orders(maker *m, hf_op_id op, hf_txn_id writer,
                         const hf_edge *edges, uint32_t n)
{
    hf_step step = {.kind = HF_STEP_LIST,
                    .first = (uint32_t)m->edges.n,
                    .n = n,
                    .op = op,
                    .writer = writer};
    uint32_t chosen[TINY_TXNS * TINY_TXNS] = {0};

    if (!stands(m, edges, chosen, step))
        return;
    hf_vec_push(&m->steps, step);
    for (uint32_t i = 0; i < n; i++) {
        hf_vec_push(&m->edges, edges[i]);
        hf_vec_push(&m->chosen, HF_CHOSEN_ONLY);
    }
}

/* Each of the others before w, behind it, or not named. */
static void offer_around(maker *m, hf_op_id op, hf_txn_id w, hf_txn_id t,
                         hf_edge *edges, uint32_t n)
{
    const hf_history *h = m->h;
    hf_key_id key = h->op_key[op];
    hf_op_id a, b = append_of(h, w, key);

    while (t < h->n_txns && (t == w || append_of(h, t, key) == HF_NONE))
        t++;
    if (t == h->n_txns) {
        offer_orders(m, op, w, edges, n);
        return;
    }
    a = append_of(h, t, key);
    offer_around(m, op, w, t + 1, edges, n);
    edges[n] = (hf_edge){HF_EDGE_WW, t, w, key, a, b};
    offer_around(m, op, w, t + 1, edges, n + 1);
    edges[n] = (hf_edge){HF_EDGE_WW, w, t, key, b, a};
    offer_around(m, op, w, t + 1, edges, n + 1);
}

/* Every order of some of them, as a chain. */
static void offer_chains(maker *m, hf_op_id op, hf_txn_id last, unsigned in,
                         hf_edge *edges, uint32_t n)
{
    const hf_history *h = m->h;
    hf_key_id key = h->op_key[op];

    if (n > 0)
        offer_orders(m, op, HF_NONE, edges, n);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_op_id to = append_of(h, t, key);

        if (to == HF_NONE || (in >> t & 1u))
            continue;
        if (last != HF_NONE)
            edges[n] = (hf_edge){
                HF_EDGE_WW, last, t, key, append_of(h, last, key), to};
        offer_chains(m, op, t, in | 1u << t, edges, n + (last != HF_NONE));
    }
}

/* Sums: every order of some of them, with all that it says, of each. */
static void offer_sums(maker *m, hf_op_id op, hf_txn_id *order, uint32_t n)
{
    const hf_history *h = m->h;
    hf_key_id key = h->op_key[op];
    hf_edge edges[TINY_TXNS * TINY_TXNS];
    uint32_t n_edges = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            edges[n_edges++] = (hf_edge){HF_EDGE_WW,
                                         order[i],
                                         order[k],
                                         key,
                                         append_of(h, order[i], key),
                                         append_of(h, order[k], key)};
    for (uint32_t i = 0; i < n && n > 2; i++)
        offer_orders(m, op, order[i], edges, n_edges);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        bool in = append_of(h, t, key) == HF_NONE;

        for (uint32_t i = 0; i < n; i++)
            in |= order[i] == t;
        if (in)
            continue;
        order[n] = t;
        offer_sums(m, op, order, n + 1);
    }
}

static bool is_counter(const hf_history *h, hf_key_id key)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (h->op_key[op] == key && hf_op_kind_of(h, op) == HF_OP_INCREMENT &&
            !hf_op_increment(h, op).has_result)
            return true;
    return false;
}

static void offer_list(maker *m, hf_op_id op)
{
    hf_txn_id order[TINY_TXNS];
    const hf_history *h = m->h;
    hf_edge edges[TINY_TXNS];

    if (h->op_key[op] == HF_NONE || !hf_op_reads_item(hf_op_kind_of(h, op)))
        return;
    offer_orders(m, op, HF_NONE, edges, 0);
    for (hf_txn_id w = 0; w < h->n_txns; w++)
        if (append_of(h, w, h->op_key[op]) != HF_NONE)
            offer_around(m, op, w, 0, edges, 0);
    if (is_counter(h, h->op_key[op]))
        offer_sums(m, op, order, 0);
    else
        offer_chains(m, op, HF_NONE, 0, edges, 0);
}

static void collect_all(maker *m)
{
    collect(m);
    for (hf_op_id op = 0; op < m->h->n_ops; op++)
        offer_list(m, op);
}

/* ---- refutation ---------------------------------------------------------- */

#define NO_CLAUSE UINT32_MAX

typedef struct search {
    maker *m;
    HF_VEC(id_list) clauses; /* per step; those that say nothing are empty */
    HF_VEC(bool) is_asleep;
    int8_t *value; /* per fact: 0 open, 1 true, -1 false */
    long nodes;
} search;

static bool is_false(const search *s, uint32_t literal)
{
    int8_t value = s->value[literal / 2];

    return value != 0 && (value > 0) == (literal % 2 != 0);
}

static bool is_true(const search *s, uint32_t literal)
{
    return s->value[literal / 2] != 0 && !is_false(s, literal);
}

static bool has(const id_list *clause, uint32_t literal)
{
    for (size_t i = 0; i < clause->n; i++)
        if (clause->at[i] == literal)
            return true;
    return false;
}

/* A clause whose literals are all false, or else the open literals of the
 * clause that has fewest: *ret_literal is one of them, HF_NONE if all are
 * satisfied. */
static uint32_t look(const search *s, uint32_t *ret_literal)
{
    size_t fewest = SIZE_MAX;

    *ret_literal = HF_NONE;
    for (uint32_t i = 0; i < s->clauses.n; i++) {
        const id_list *c = &s->clauses.at[i];
        uint32_t open = HF_NONE;
        size_t n = 0;
        bool fine = s->is_asleep.at[i];

        for (size_t k = 0; k < c->n && !fine; k++) {
            fine = is_true(s, c->at[k]);
            if (!is_false(s, c->at[k])) {
                open = c->at[k];
                n++;
            }
        }
        if (fine)
            continue;
        if (n == 0)
            return i;
        if (n < fewest) {
            fewest = n;
            *ret_literal = open;
        }
    }
    return NO_CLAUSE;
}

/* The clause again, as the last step. */
static void repeat(search *s, uint32_t clause)
{
    hf_step step = {.kind = HF_STEP_RESOLVE,
                    .first = (uint32_t)s->m->used.n,
                    .n = 1,
                    .op = HF_NONE,
                    .writer = HF_NONE};

    hf_vec_push(&s->m->used, clause);
    hf_vec_push(&s->m->steps, step);
}

static uint32_t resolve(search *s, uint32_t with, uint32_t without,
                        uint32_t literal)
{
    hf_step step = {.kind = HF_STEP_RESOLVE,
                    .first = (uint32_t)s->m->used.n,
                    .n = 2,
                    .op = HF_NONE,
                    .writer = HF_NONE};
    id_list c = {0};

    for (int k = 0; k < 2; k++) {
        const id_list *from = &s->clauses.at[k ? without : with];

        for (size_t i = 0; i < from->n; i++)
            if (from->at[i] / 2 != literal / 2 && !has(&c, from->at[i]))
                hf_vec_push(&c, from->at[i]);
    }
    hf_vec_push(&s->m->used, with);
    hf_vec_push(&s->m->used, without);
    hf_vec_push(&s->m->steps, step);
    hf_vec_push(&s->clauses, c);
    hf_vec_push(&s->is_asleep, false);
    return (uint32_t)s->clauses.n - 1;
}

/* A clause that is false under the values in hand; NO_CLAUSE if all can be
 * satisfied, or the search was cut. */
static uint32_t refute(search *s)
{
    uint32_t literal, a, b, found = look(s, &literal);

    if (found != NO_CLAUSE || literal == HF_NONE)
        return found;
    if (++s->nodes > MOST_NODES)
        return NO_CLAUSE;
    s->value[literal / 2] = literal % 2 ? 1 : -1;
    a = refute(s);
    s->value[literal / 2] = 0;
    if (a == NO_CLAUSE || !has(&s->clauses.at[a], literal))
        return a;
    s->value[literal / 2] = literal % 2 ? -1 : 1;
    b = refute(s);
    s->value[literal / 2] = 0;
    if (b == NO_CLAUSE || !has(&s->clauses.at[b], literal ^ 1))
        return b;
    return resolve(s, a, b, literal);
}

/* Takes the clauses of the steps, without what is known; every `forget`th
 * fact that is known counts as open. */
static void open_search(search *s, maker *m, const hf_proof_view *view,
                        unsigned forget)
{
    *s = (search){.m = m};
    s->value = HF_NEW_ZEROED(int8_t, view->n_facts + 1);
    for (size_t i = 0; i < m->steps.n; i++) {
        id_list c = {0};
        bool asleep = false;

        for (size_t k = view->first[i]; k < view->first[i + 1]; k++) {
            uint32_t literal = view->literals[k], fact = literal / 2;
            bool known = view->known[fact] != HF_OPEN &&
                         (forget == 0 || fact % forget != 0);

            if (!known && !has(&c, literal))
                hf_vec_push(&c, literal);
            asleep |=
                known && view->known[fact] ==
                             (literal % 2 ? HF_KNOWN_FALSE : HF_KNOWN_TRUE);
            asleep |= has(&c, literal ^ 1);
        }
        hf_vec_push(&s->clauses, c);
        hf_vec_push(&s->is_asleep, asleep);
    }
}

static void close_search(search *s)
{
    for (size_t i = 0; i < s->clauses.n; i++)
        hf_vec_release(&s->clauses.at[i]);
    hf_vec_release(&s->clauses);
    hf_vec_release(&s->is_asleep);
    hf_free(s->value);
}

/* ---- one history --------------------------------------------------------- */

/* As JSON and back. */
static bool is_accepted(const maker *m, hf_error *why)
{
    hf_claim claim = claim_of(m), again;
    hf_verification answer = {.accepted = false, .reason = ""};
    hf_arena arena;
    hf_status st;
    hf_json j;
    hf_out out;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(m->h, m->level, HF_INVALID, &claim.witness, &j);
    hf_arena_init(&arena);
    st = hf_claim_read(m->h, out.at, out.n, &arena, &again, why);
    if (st == HF_OK)
        st = hf_verify_claim_in(m->session, &again, NULL, &answer, why);
    if (st == HF_OK && !answer.accepted)
        (void)hf_fail(why, HF_ERR_INPUT, "%s", answer.reason);
    hf_arena_release(&arena);
    hf_out_release(&out);
    return st == HF_OK && answer.accepted;
}

/* Only cycles, or nothing but that there is no order. */
static bool is_about_order(const hf_result *r)
{
    for (uint32_t i = 0; i < r->n_findings; i++)
        if (!hf_anomaly_get(r->findings[i].anomaly)->cycle &&
            r->findings[i].anomaly != HF_NO_ORDER &&
            r->findings[i].anomaly != HF_LOST_UPDATE &&
            r->findings[i].anomaly != HF_CYCLIC_VERSIONS)
            return false;
    return true;
}

static void show(run *total, const tiny_history *t, hf_level level,
                 uint64_t seed, const char *what)
{
    if (++total->shown > 5)
        return;
    printf("seed %" PRIu64 ", %s: %s\n", seed, hf_level_get(level)->name, what);
    tiny_print(t, stdout);
}

static void drop_resolutions(maker *m, size_t n_steps)
{
    m->steps.n = n_steps;
    m->used.n = 0;
}

/* Tries to refute the steps; `forget` as in open_search(). */
static void judge(run *total, maker *m, const tiny_history *t, uint64_t seed,
                  hf_verdict verdict, unsigned forget)
{
    size_t n_steps = m->steps.n;
    hf_claim claim = claim_of(m);
    hf_proof_view view;
    hf_arena arena;
    hf_error why = {{0}, 0, 0};
    search s;
    uint32_t last;
    bool refuted;

    hf_arena_init(&arena);
    if (m->steps.n == 0 ||
        !hf_verify_view(m->session, &claim, NULL, &arena, &view, NULL)) {
        total->failed += m->steps.n > 0;
        hf_arena_release(&arena);
        return;
    }
    open_search(&s, m, &view, forget);
    last = refute(&s);
    refuted = last != NO_CLAUSE;
    if (refuted)
        repeat(&s, last);
    if (s.nodes > MOST_NODES) {
        total->spent++;
    } else if (verdict == HF_VALID && refuted) {
        total->failed++;
        show(total, t, m->level, seed, "valid, and steps contradict");
    } else if (refuted && !is_accepted(m, &why)) {
        total->failed++;
        show(total, t, m->level, seed, why.text);
    } else if (!forget) {
        total->valid += verdict == HF_VALID;
        total->refuted += refuted;
        total->cut += verdict == HF_INVALID && !refuted && m->cut;
        total->at_level[m->mixed ? HF_LEVEL_COUNT : (unsigned)m->level]
                       [verdict == HF_VALID ? 0
                        : refuted           ? 1
                                            : 2]++;
        if (verdict == HF_INVALID && !refuted && !m->cut) {
            total->open++;
            total->failed++;
            show(total, t, m->level, seed, "invalid, and no refutation");
        }
    }
    total->resolutions += (long)(m->steps.n - n_steps);
    close_search(&s);
    drop_resolutions(m, n_steps);
    hf_arena_release(&arena);
}

static void try_level(run *total, const tiny_history *t, const hf_history *h,
                      hf_level level, bool mixed, uint64_t seed)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_check_options options = {.mixed = mixed};
    maker m = {
        .h = h, .level = level, .mixed = mixed, .session = hf_verify_open(h)};
    hf_result *r = NULL;
    hf_error err;

    if (brute->check(h, level, &options, NULL, &r, &err) != HF_OK ||
        r->verdict == HF_UNKNOWN ||
        (r->verdict == HF_INVALID && !is_about_order(r))) {
        total->faulty++;
    } else {
        collect_all(&m);
        total->steps += (long)m.steps.n;
        for (size_t i = 0; i < m.steps.n; i++) {
            total->sources += m.steps.at[i].kind == HF_STEP_SOURCES;
            total->happened += m.steps.at[i].kind == HF_STEP_HAPPENED;
            total->lists += m.steps.at[i].kind == HF_STEP_LIST;
            total->faults += m.steps.at[i].kind == HF_STEP_FAULT;
            total->pairs += m.steps.at[i].kind == HF_STEP_FAULT &&
                            m.steps.at[i].writer != HF_NONE;
        }
        judge(total, &m, t, seed, r->verdict, 0);
        judge(total, &m, t, seed, r->verdict, 1);
        judge(total, &m, t, seed, r->verdict, 2);
    }
    hf_result_free(r);
    hf_verify_close(m.session);
    hf_vec_release(&m.steps);
    hf_vec_release(&m.edges);
    hf_vec_release(&m.chosen);
    hf_vec_release(&m.used);
}

static const random_taste taste = {.few = 60,
                                   .weak = 60,
                                   .lists = 20,
                                   .certificates = 15,
                                   .rmw = 20,
                                   .unique = 20,
                                   .last_read = 20};

/* Lists whose elements repeat. */
static const random_taste list_taste = {.few = 60,
                                        .weak = 60,
                                        .lists = 75,
                                        .rmw = 10,
                                        .duplicates = 70,
                                        .unknown = 40,
                                        .last_read = 50};

/* Increments without results. */
static void try_counters(run *total, hf_rng *r, uint64_t seed)
{
    states_taste some = {.txns = 2 + hf_rng_below(r, 4),
                         .keys = 1 + hf_rng_below(r, 2),
                         .sessions = 1 + hf_rng_below(r, 3),
                         .ops = 1 + hf_rng_below(r, 3),
                         .values = 2 + hf_rng_below(r, 3),
                         .counters = 60,
                         .initial = 30,
                         .unknown = hf_rng_chance(r, 50) ? 30 : 0,
                         .aborted = 5,
                         .lag = hf_rng_below(r, 3),
                         .times = hf_rng_chance(r, 50),
                         .overlap = hf_rng_below(r, 4),
                         .change = 40};
    hf_history *h = states_history(&some, r);
    tiny_history none = {0};

    for (int i = 0; i < 4 && h->n_txns <= 5; i++)
        try_level(total, &none, h, (hf_level)hf_rng_below(r, HF_LEVEL_COUNT),
                  false, seed);
    hf_history_free(h);
}

static void try_seed(run *total, uint64_t seed)
{
    hf_rng r;
    tiny_history t;
    hf_history *h;
    hf_error err;

    hf_rng_seed(&r, seed);
    if (seed % 4 == 1) {
        try_counters(total, &r, seed);
        return;
    }
    t = random_history_of(seed % 3 ? &taste : &list_taste, &r);
    if (t.n_txns > 5)
        return;
    random_levels(&t, &r);
    h = tiny_build(&t, &err);
    if (!h)
        return;
    for (int i = 0; i < 5; i++)
        try_level(total, &t, h, (hf_level)hf_rng_below(&r, HF_LEVEL_COUNT),
                  i >= 3, seed);
    tiny_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run total = {0};

    for (long i = 0; i < n; i++)
        try_seed(&total, seed + (uint64_t)i);
    printf("valid %ld, refuted %ld, invalid without refutation %ld (cut "
           "%ld), other anomalies %ld, too long %ld\n",
           total.valid, total.refuted, total.open, total.cut, total.faulty,
           total.spent);
    printf("steps %ld (sources %ld, happened %ld, lists %ld, faults %ld, of "
           "two %ld), resolutions %ld\n",
           total.steps, total.sources, total.happened, total.lists,
           total.faults, total.pairs, total.resolutions);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
        printf("%-8s %6ld valid %6ld refuted %6ld open\n",
               hf_level_get((hf_level)l)->short_name, total.at_level[l][0],
               total.at_level[l][1], total.at_level[l][2]);
    printf("mixed    %6ld valid %6ld refuted %6ld open\n",
           total.at_level[HF_LEVEL_COUNT][0], total.at_level[HF_LEVEL_COUNT][1],
           total.at_level[HF_LEVEL_COUNT][2]);
    if (total.failed > 0)
        printf("FAILED: %ld\n", total.failed);
    return total.failed > 0 || total.refuted == 0 || total.resolutions == 0 ||
           total.sources == 0 || total.happened == 0 || total.lists == 0 ||
           total.pairs == 0;
}

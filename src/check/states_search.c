/* states_search.c: who comes next.
 *
 * Depth first, with a memory of the states that lead nowhere.  Transactions
 * that can be executed with nothing lost are, at once and without a choice:
 * those that change nothing, and those that neither overwrite nor write
 * anything that somebody still wants (hf_run_is_free()).  Where such a one
 * comes later in some order that explains everything, it can as well come now.
 * One of unknown outcome is tried only while somebody wants what it wrote.
 *
 * An attempt follows an order to begin with, and is given up after so many
 * failures; the next one prefers what does no harm to those who still want
 * to read, then come both again with some of the order shuffled and more
 * failures allowed.  What led nowhere is remembered from one attempt to the
 * next, so in the end one of them is complete.  When the memory is full the
 * new ones take the place of old ones.
 *
 * States are told apart by a hash of 64 bits.  If two had the same one an
 * order might be missed; what is found is replayed, and "there is none" is
 * confirmed by enumeration before anybody hears of it.
 *
 * A step costs a look at everybody who could be executed.
 */
#include "check/states.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STATES ((size_t)1 << 25) /* that are remembered: 512 MiB */

/* ---- states that led nowhere --------------------------------------------- */

typedef struct memory {
    uint64_t *at; /* 0: free */
    size_t n, cap;
} memory;

static size_t slot_of(const memory *m, uint64_t hash)
{
    size_t i = (size_t)hf_mix64(hash) & (m->cap - 1);

    while (m->at[i] != 0 && m->at[i] != hash)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static bool is_known(const memory *m, uint64_t hash)
{
    return m->cap > 0 && m->at[slot_of(m, hash | 1u)] != 0;
}

/* May the memory become twice as large? */
static bool may_grow(const memory *m, const hf_budget *budget)
{
    return m->n < MOST_STATES &&
           !(budget && budget->bytes > 0 &&
             hf_memory_held() + m->cap * 2 * sizeof(*m->at) > budget->bytes);
}

/* Where there is no room another one is forgotten: it is looked at again. */
static void remember(memory *m, uint64_t hash, const hf_budget *budget)
{
    if (m->n >= m->cap / 2 && (m->cap == 0 || may_grow(m, budget))) {
        memory old = *m;

        m->cap = old.cap ? old.cap * 2 : 1024;
        m->at = HF_NEW_ZEROED(uint64_t, m->cap);
        for (size_t i = 0; i < old.cap; i++)
            if (old.at[i])
                m->at[slot_of(m, old.at[i])] = old.at[i];
        hf_free(old.at);
    }
    if (m->n >= m->cap / 2) {
        m->at[(size_t)hf_mix64(hash | 1u) & (m->cap - 1)] = hash | 1u;
        return;
    }
    m->at[slot_of(m, hash | 1u)] = hash | 1u;
    m->n++;
}

/* ---- an attempt ---------------------------------------------------------- */

typedef struct candidate {
    uint64_t harm;
    uint32_t rank;
    uint32_t node;
    bool start, commit;
} candidate;

/* A place where there was a choice. */
typedef struct choice {
    uint32_t n_steps;
    uint32_t tried;
} choice;

typedef struct attempt {
    const hf_states *s;
    hf_run run;
    hf_states_limit *limit;
    memory memory;
    bool by_harm;         /* ... first, by rank second; else by rank alone */
    const uint32_t *rank; /* per event */
    uint64_t failures;    /* so many are left */
    uint32_t n_before;    /* steps of the parts before */
    HF_VEC(candidate) candidates;
    HF_VEC(choice) choices;
} attempt;

/* The next node of the part, from `node` on, that finds what it wants. */
static uint32_t next_ready(const attempt *a, uint32_t node)
{
    uint32_t end = a->s->part_first[a->run.at_part + 1];
    uint64_t word;

    if (node >= end)
        return end;
    word = a->run.ready[node / 64] >> (node % 64) << (node % 64);
    for (uint32_t i = node / 64;; word = a->run.ready[i]) {
        if (word) {
            node = i * 64 + (uint32_t)__builtin_ctzll(word);
            return node < end ? node : end;
        }
        if (i++ == (end - 1) / 64)
            return end;
    }
}

static void step(attempt *a, uint32_t node, bool start, bool commit)
{
    a->limit->n_steps++;
    hf_run_do(&a->run, node, start, commit);
}

/* Executes everybody who is free to go. */
static void close_up(attempt *a)
{
    uint32_t first = a->s->part_first[a->run.at_part];
    uint32_t end = a->s->part_first[a->run.at_part + 1];
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t node = next_ready(a, first); node < end;
             node = next_ready(a, node + 1))
            if (hf_run_is_free(&a->run, node) &&
                hf_run_may_start(&a->run, node)) {
                step(a, node, true, true);
                again = true;
            }
    }
}

static int by_preference(const void *x, const void *y)
{
    const candidate *a = x, *b = y;

    if (a->harm != b->harm)
        return a->harm < b->harm ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void consider(attempt *a, uint32_t node, bool start, bool commit)
{
    uint64_t harm = 0;

    if ((start && a->s->twin[node] != HF_NONE &&
         a->run.status[a->s->twin[node]] == HF_NODE_OUT) ||
        (start && !hf_run_may_start(&a->run, node)) ||
        (commit && !hf_run_may_commit(&a->run, node, &harm)) ||
        (a->s->maybe[node] && !hf_run_is_useful(&a->run, node)))
        return;
    harm = a->by_harm ? harm * 2 + a->s->maybe[node] : 0;
    hf_vec_push(&a->candidates, (candidate){harm, a->rank[node * 2 + commit],
                                            node, start, commit});
}

static void collect(attempt *a)
{
    const hf_run *r = &a->run;
    uint32_t end = a->s->part_first[r->at_part + 1];

    a->candidates.n = 0;
    for (uint32_t node = next_ready(a, a->s->part_first[r->at_part]);
         node < end && !hf_budget_spent(a->limit->budget);
         node = next_ready(a, node + 1))
        consider(a, node, true, !a->s->snapshots);
    for (size_t i = a->n_before; a->s->snapshots && i < r->steps.n; i++)
        if (r->status[r->steps.at[i].node] == HF_NODE_STARTED)
            consider(a, r->steps.at[i].node, false, true);
    if (a->candidates.n > 1)
        qsort(a->candidates.at, a->candidates.n, sizeof(candidate),
              by_preference);
}

static bool is_over(attempt *a)
{
    return a->limit->n_steps > a->limit->steps ||
           hf_budget_spent(a->limit->budget) || a->failures == 0;
}

/* Goes on from here with the next candidate of the newest choice that has one
 * left.  NONE: there is no choice left. */
static hf_states_answer go_on(attempt *a)
{
    while (a->choices.n > 0) {
        choice *c = &a->choices.at[a->choices.n - 1];

        while (a->run.steps.n > c->n_steps)
            hf_run_undo(&a->run);
        collect(a);
        if (c->tried < a->candidates.n) {
            candidate next = a->candidates.at[c->tried++];

            step(a, next.node, next.start, next.commit);
            return HF_STATES_FOUND;
        }
        if (a->failures > 0)
            a->failures--;
        if (is_over(a))
            return HF_STATES_OPEN;
        remember(&a->memory, a->run.hash, a->limit->budget);
        a->choices.n--;
    }
    return HF_STATES_NONE;
}

static hf_states_answer try_once(attempt *a)
{
    a->choices.n = 0;
    while (a->run.steps.n > a->n_before)
        hf_run_undo(&a->run);
    for (;;) {
        hf_states_answer answer;

        close_up(a);
        if (a->run.n_left == 0)
            return HF_STATES_FOUND;
        if (!hf_run_is_lost(&a->run) && !is_known(&a->memory, a->run.hash))
            hf_vec_push(&a->choices, (choice){(uint32_t)a->run.steps.n, 0});
        if (is_over(a))
            return HF_STATES_OPEN;
        answer = go_on(a);
        if (answer != HF_STATES_FOUND)
            return answer;
    }
}

/* ---- all ----------------------------------------------------------------- */

/* Can the demand never be met? */
static bool is_never(const hf_states *s, const uint8_t *there,
                     const hf_demand *x)
{
    if (s->kind[x->cell] == HF_CELL_REGISTER)
        return !there[x->wanted];
    return s->kind[x->cell] == HF_CELL_LIST && !s->on_path[x->wanted];
}

/* Somebody who certainly happened read what can never be there. */
static bool is_hopeless(const hf_states *s, uint32_t *ret_part)
{
    uint8_t *there = HF_NEW_ZEROED(uint8_t, (size_t)s->n_holdings + 1);
    bool hopeless = false;

    for (hf_key_id k = 0; k < s->h->n_keys; k++)
        there[s->initial[k]] = 1;
    for (size_t e = 0; e < s->effects.n; e++)
        if (s->effects.at[e].kind == HF_EFFECT_SET)
            there[s->effects.at[e].set] = 1;
    for (uint32_t p = 0; p < s->n_parts && !hopeless; p++) {
        *ret_part = p;
        for (uint32_t t = s->part_first[p]; t < s->part_first[p + 1]; t++) {
            hopeless |= s->broken[t];
            for (uint32_t d = s->demand_first[t];
                 !s->maybe[t] && d < s->demand_first[t + 1]; d++)
                hopeless |= is_never(s, there, &s->demands.at[d]);
        }
    }
    hf_free(there);
    return hopeless;
}

/* The order to begin with, with some of it shuffled. */
static void shuffle(const hf_states *s, const uint32_t *rank, hf_rng *rng,
                    unsigned round, uint32_t *ret)
{
    uint32_t reach = 4u << (round < 20 ? round : 20);

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t by = hf_rng_below(rng, reach);

        ret[2 * i] = rank[2 * i] + by;
        ret[2 * i + 1] = rank[2 * i + 1] + by;
    }
}

/* One part, in several attempts. */
static hf_states_answer search_part(attempt *a, const uint32_t *rank,
                                    uint32_t *other, hf_rng *rng)
{
    const hf_states *s = a->s;
    uint64_t failures = 200 + s->n / 8;
    hf_states_answer answer = HF_STATES_OPEN;

    a->rank = rank;
    a->n_before = (uint32_t)a->run.steps.n;
    for (unsigned round = 0; answer == HF_STATES_OPEN; round++) {
        if (round >= 2) {
            shuffle(s, rank, rng, round / 2, other);
            a->rank = other;
        }
        a->by_harm = round % 2 == 1;
        a->failures = failures;
        answer = try_once(a);
        if (a->limit->n_steps > a->limit->steps ||
            hf_budget_spent(a->limit->budget))
            break;
        if (round > 4)
            failures += failures / 2;
    }
    return answer;
}

static void list_events(const attempt *a, hf_states_order *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < a->run.steps.n; i++) {
        const hf_run_step *x = &a->run.steps.at[i];

        if (a->run.status[x->node] != HF_NODE_DONE)
            continue; /* started, and then left */
        if (x->start)
            hf_vec_push(ret, 2 * x->node);
        if (x->commit)
            hf_vec_push(ret, 2 * x->node + 1);
    }
}

hf_states_answer hf_states_search(const hf_states *s, const uint32_t *rank,
                                  hf_states_limit *limit, hf_states_order *ret)
{
    uint32_t *other = HF_NEW_ARRAY(uint32_t, 2 * (size_t)s->n + 2);
    hf_states_answer answer = HF_STATES_FOUND;
    attempt a = {.s = s, .limit = limit};
    hf_rng rng;

    hf_rng_seed(&rng, 1);
    hf_run_init(&a.run, s);
    limit->part = HF_NONE;
    if (is_hopeless(s, &limit->part))
        answer = HF_STATES_NONE;
    for (uint32_t p = 0; p < s->n_parts && answer == HF_STATES_FOUND; p++) {
        hf_run_enter(&a.run, p);
        limit->part = p;
        answer = search_part(&a, rank, other, &rng);
        limit->n_states += a.memory.n;
        hf_free(a.memory.at);
        a.memory = (memory){0};
    }
    if (answer == HF_STATES_FOUND)
        list_events(&a, ret);
    hf_run_release(&a.run);
    hf_vec_release(&a.candidates);
    hf_vec_release(&a.choices);
    hf_free(other);
    return answer;
}

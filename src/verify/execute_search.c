/* execute_search.c: who comes next.
 *
 * Depth first through the states of execute.c, with a memory of all that lead
 * nowhere, which are compared as they are, not by hashes.  What need not be
 * tried:
 *
 *   - Who finds what it reads, and writes only what nobody left will look at,
 *     is executed at once: later would be the same.  Of a register it is enough
 *     that nobody wants what is there, nor what it writes.
 *   - One of unknown outcome that writes only such things need not happen.
 *   - Of two that nothing tells apart the first comes first.
 *   - Where somebody who certainly happened wants what nobody left can bring
 *     about, there is no order: a register value, or a number outside of what
 *     the increments that are left can make of what is there or is set.
 *     The list that is there has to be the beginning of all that are still to
 *     be read.
 *   - What a key holds does not tell two states apart if nobody left will look
 *     at it, or it is a register and nobody wants it.
 *
 * At read committed a read finds what was there at any time before, but for
 * what one's own increments and appends were added to; so what has been there,
 * and somebody left wants, is part of a state, and writing a register hurts
 * nobody.
 *
 * A state costs the nodes that are left, with their deeds.
 */
#include "verify/execute.h"

#include <string.h>

#define MOST_BYTES ((size_t)1 << 30)
#define UNREAD 0xffffffffu   /* nobody looks at it any more */
#define UNWANTED 0xfffffffeu /* ... and wants it */

/* Where an execution stands. */
typedef struct place {
    hf_nodes *out;  /* neither begun nor given up */
    hf_nodes *open; /* begun */
    uint32_t *now;  /* per key */
    hf_nodes
        *been; /* per state that is known: it was there; at read committed */
} place;

/* What a node does to a counter. */
typedef struct count {
    uint32_t node;
    bool sets;
    hf_wide number; /* that it is set to, or that is added */
} count;

typedef struct search {
    hf_program *p;
    uint32_t n_keys;
    HF_VEC(place) places; /* by depth */
    uint32_t *local;      /* per key: what a node's own deeds make of it */
    hf_key_id *touched;
    uint32_t n_touched;
    uint32_t *wanted; /* states of registers that somebody wants */
    uint32_t n_wanted;
    HF_VEC(count) counts;  /* by key */
    uint32_t *count_first; /* per key; n_keys + 1 */
    /* states that lead nowhere: their words, and where they begin */
    size_t size; /* words of one */
    HF_VEC(uint32_t) memory;
    uint32_t *slots; /* number + 1; 0: free */
    size_t n_memory, n_slots, most;
    bool full;     /* that was not enough */
    uint32_t *key; /* of the state at hand */
    size_t n_been; /* words of what was there */
} search;

/* ---- deeds --------------------------------------------------------------- */

static uint32_t holds(const search *s, const place *at, hf_key_id key)
{
    return s->local[key] == HF_NONE ? at->now[key] : s->local[key];
}

static void forget_own(search *s)
{
    while (s->n_touched > 0)
        s->local[s->touched[--s->n_touched]] = HF_NONE;
}

static bool is_found(const search *s, const place *at, const hf_deed *d)
{
    if (s->p->past && s->local[d->key] == HF_NONE)
        return hf_nodes_has(at->been, d->state);
    return holds(s, at, d->key) == d->state;
}

/* Carries out the deeds of a node; false: it does not find something. */
static bool carry_out(search *s, const place *at, uint32_t node, bool finds)
{
    hf_program *p = s->p;

    forget_own(s);
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (d->kind == HF_DEED_FIND) {
            if (finds && !is_found(s, at, d))
                return false;
            continue;
        }
        if (s->local[d->key] == HF_NONE)
            s->touched[s->n_touched++] = d->key;
        s->local[d->key] = hf_program_after(p, holds(s, at, d->key), d);
    }
    return true;
}

/* ---- questions ----------------------------------------------------------- */

static bool meets(const search *s, const hf_nodes *a, const hf_nodes *b)
{
    for (uint32_t i = 0; i < s->p->words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

/* Does somebody else in both have it? */
static bool meets_other(const search *s, const hf_nodes *a, const hf_nodes *b,
                        uint32_t node)
{
    for (uint32_t i = 0; i < s->p->words; i++) {
        hf_nodes both = a[i] & b[i];

        if (i == node / HF_NODES_WORD)
            both &= ~((hf_nodes)1 << (node % HF_NODES_WORD));
        if (both)
            return true;
    }
    return false;
}

static bool is_wanted(const search *s, const place *at, uint32_t state,
                      uint32_t node)
{
    return state < s->p->n_known &&
           meets_other(s, s->p->wants[state], at->out, node);
}

/* Its order allows it, and nobody open writes its keys. */
static bool may_begin(const search *s, const place *at, uint32_t node)
{
    const hf_program *p = s->p;

    if ((p->twin[node] != HF_NONE && hf_nodes_has(at->out, p->twin[node])) ||
        meets(s, p->before[node], at->out) ||
        meets(s, p->before[node], at->open))
        return false;
    for (uint32_t i = p->first[node]; p->snapshots && i < p->first[node + 1];
         i++)
        if (p->deeds.at[i].kind != HF_DEED_FIND &&
            meets(s, p->writers[p->deeds.at[i].key], at->open))
            return false;
    return true;
}

/* Its deeds were carried out: does nobody left see a difference? */
static bool is_unseen(const search *s, const place *at, uint32_t node)
{
    for (uint32_t i = 0; i < s->n_touched; i++) {
        hf_key_id key = s->touched[i];

        if (!meets_other(s, s->p->readers[key], at->out, node) ||
            (s->p->past && s->p->kind[key] == HF_KEY_IS_REGISTER))
            continue;
        if (s->p->kind[key] != HF_KEY_IS_REGISTER ||
            is_wanted(s, at, at->now[key], node) ||
            is_wanted(s, at, s->local[key], node))
            return false;
    }
    return true;
}

/* May somebody left look at what it writes? */
static bool is_useful(const search *s, const place *at, uint32_t node)
{
    const hf_program *p = s->p;

    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (d->kind == HF_DEED_FIND ||
            !meets_other(s, p->readers[d->key], at->out, node))
            continue;
        if (p->kind[d->key] != HF_KEY_IS_REGISTER ||
            is_wanted(s, at, d->state, node))
            return true;
    }
    return false;
}

/* ---- dead ends ----------------------------------------------------------- */

static bool is_left(const place *at, uint32_t node)
{
    return hf_nodes_has(at->out, node) || hf_nodes_has(at->open, node);
}

static bool registers_are_lost(const search *s, const place *at)
{
    const hf_program *p = s->p;

    for (uint32_t i = 0; i < s->n_wanted; i++) {
        uint32_t state = s->wanted[i];
        bool sure = false;

        if ((p->past ? hf_nodes_has(at->been, state)
                     : at->now[p->states.at[state].key] == state) ||
            meets(s, p->leaves[state], at->out) ||
            meets(s, p->leaves[state], at->open))
            continue;
        for (uint32_t w = 0; w < p->words; w++)
            sure |= (p->wants[state][w] & at->out[w] & p->sure[w]) != 0;
        if (sure)
            return true;
    }
    return false;
}

/* Can what is there, or is set, and what others add make the number? */
static bool can_make(const search *s, const place *at, hf_key_id key,
                     uint32_t reader, hf_wide wanted)
{
    const hf_held *now = &s->p->states.at[at->now[key]].held;
    hf_wide low = 0, high = 0, base = now->is_number ? now->number : 0;

    for (uint32_t i = s->count_first[key]; i < s->count_first[key + 1]; i++) {
        const count *c = &s->counts.at[i];

        if (c->sets || c->node == reader || !is_left(at, c->node))
            continue;
        low += c->number < 0 ? c->number : 0;
        high += c->number > 0 ? c->number : 0;
    }
    if (base + low <= wanted && wanted <= base + high)
        return true;
    for (uint32_t i = s->count_first[key]; i < s->count_first[key + 1]; i++) {
        const count *c = &s->counts.at[i];

        if (c->sets && c->node != reader && is_left(at, c->node) &&
            c->number + low <= wanted && wanted <= c->number + high)
            return true;
    }
    return false;
}

/* It was there, which is enough: no own write is before it. */
static bool has_been(const search *s, const place *at, uint32_t node,
                     const hf_deed *d)
{
    return s->p->past && hf_nodes_has(at->been, d->state) &&
           hf_nodes_has(s->p->wants[d->state], node);
}

/* Is the list that is there the beginning of this one? */
static bool is_beginning(const search *s, uint32_t now, uint32_t list)
{
    while (list != now && list != HF_NONE)
        list = s->p->states.at[list].before;
    return list == now;
}

/* The same of a list. */
static bool lists_are_lost(const search *s, const place *at, uint32_t node)
{
    const hf_program *p = s->p;

    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];

        if (d->kind == HF_DEED_FIND && p->kind[d->key] == HF_KEY_IS_LIST &&
            !has_been(s, at, node, d) &&
            !is_beginning(s, at->now[d->key], d->state))
            return true;
    }
    return false;
}

/* Somebody who certainly happened reads what cannot be there any more. */
static bool sums_are_lost(const search *s, const place *at, uint32_t node)
{
    const hf_program *p = s->p;

    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const hf_deed *d = &p->deeds.at[i];
        hf_wide own = 0;
        bool set = false;

        if (d->kind != HF_DEED_FIND || p->kind[d->key] != HF_KEY_IS_COUNTER ||
            has_been(s, at, node, d))
            continue;
        for (uint32_t k = p->first[node]; k < i; k++) {
            const hf_deed *e = &p->deeds.at[k];

            set |= e->key == d->key && e->kind == HF_DEED_SET;
            if (e->key == d->key && e->kind == HF_DEED_ADD)
                own += e->amount;
        }
        if (!set && p->states.at[d->state].held.is_number &&
            !can_make(s, at, d->key, node,
                      p->states.at[d->state].held.number - own))
            return true;
    }
    return false;
}

static bool is_dead(const search *s, const place *at)
{
    if (registers_are_lost(s, at))
        return true;
    for (uint32_t i = 0; i < s->p->n; i++)
        if (hf_nodes_has(at->out, i) && hf_nodes_has(s->p->sure, i) &&
            ((s->counts.n > 0 && sums_are_lost(s, at, i)) ||
             lists_are_lost(s, at, i)))
            return true;
    return false;
}

/* ---- memory -------------------------------------------------------------- */

/* The state at hand in words, without what makes no difference. */
static void write_key(search *s, const place *at)
{
    const hf_program *p = s->p;
    size_t bits = p->words * sizeof(hf_nodes);

    memcpy(s->key, at->out, bits);
    memcpy(s->key + bits / 4, at->open, bits);
    for (hf_key_id k = 0; k < s->n_keys; k++) {
        uint32_t now = at->now[k];

        if (!meets(s, p->readers[k], at->out))
            now = UNREAD;
        else if (p->kind[k] == HF_KEY_IS_REGISTER &&
                 (p->past || !is_wanted(s, at, now, HF_NONE)))
            now = UNWANTED;
        s->key[2 * bits / 4 + k] = now;
    }
    for (size_t i = 0; i < s->n_been; i++) {
        hf_nodes been = at->been[i], left = been;

        for (; been; been &= been - 1) {
            uint32_t state =
                (uint32_t)(i * HF_NODES_WORD) + (uint32_t)__builtin_ctzll(been);

            if (!is_wanted(s, at, state, HF_NONE))
                left &= ~(been & -been);
        }
        memcpy(s->key + 2 * bits / 4 + s->n_keys + 2 * i, &left, sizeof(left));
    }
}

static uint64_t hash_key(const search *s, const uint32_t *key)
{
    uint64_t x = 0;

    for (size_t i = 0; i < s->size; i++)
        x = hf_mix64(x ^ key[i]) + i;
    return x;
}

/* Where the state at hand is, or would be. */
static size_t slot_of(const search *s, const uint32_t *key)
{
    size_t i = hash_key(s, key) & (s->n_slots - 1);

    while (s->slots[i] != 0 &&
           memcmp(s->memory.at + (s->slots[i] - 1) * s->size, key,
                  s->size * sizeof(*key)) != 0)
        i = (i + 1) & (s->n_slots - 1);
    return i;
}

static bool is_known(search *s, const place *at)
{
    write_key(s, at);
    return s->n_slots > 0 && s->slots[slot_of(s, s->key)] != 0;
}

static void grow(search *s)
{
    hf_free(s->slots);
    s->n_slots = s->n_slots ? 2 * s->n_slots : 1024;
    s->slots = HF_NEW_ZEROED(uint32_t, s->n_slots);
    for (size_t i = 0; i < s->n_memory; i++)
        s->slots[slot_of(s, s->memory.at + i * s->size)] = (uint32_t)i + 1;
}

/* False: there are too many. */
static bool remember(search *s, const place *at)
{
    s->full =
        s->n_memory >= s->most || s->memory.n * sizeof(uint32_t) >= MOST_BYTES;
    if (s->full)
        return false;
    if (2 * s->n_memory >= s->n_slots)
        grow(s);
    write_key(s, at);
    s->slots[slot_of(s, s->key)] = (uint32_t)++s->n_memory;
    for (size_t i = 0; i < s->size; i++)
        hf_vec_push(&s->memory, s->key[i]);
    return true;
}

/* ---- steps --------------------------------------------------------------- */

static void copy(const search *s, const place *from, place *to)
{
    memcpy(to->out, from->out, s->p->words * sizeof(hf_nodes));
    memcpy(to->open, from->open, s->p->words * sizeof(hf_nodes));
    memcpy(to->now, from->now, s->n_keys * sizeof(uint32_t));
    memcpy(to->been, from->been, s->n_been * sizeof(hf_nodes));
}

/* Who had to come before it, and need not have happened, did not. */
static void begin(const search *s, place *at, uint32_t node)
{
    for (uint32_t i = 0; i < s->p->words; i++) {
        at->out[i] &= ~s->p->ends[node][i];
        at->open[i] &= ~s->p->ends[node][i];
    }
    hf_nodes_clear(at->out, node);
}

/* What it wrote is there now; its deeds were carried out. */
static void write(const search *s, place *at)
{
    for (uint32_t i = 0; i < s->n_touched; i++) {
        uint32_t state = s->local[s->touched[i]];

        at->now[s->touched[i]] = state;
        if (s->p->past && state < s->p->n_known)
            hf_nodes_set(at->been, state);
    }
}

/* One that need not happen, and makes no difference. */
static bool drop_useless(search *s, place *at, uint32_t node)
{
    if (hf_nodes_has(s->p->sure, node) || !is_left(at, node) ||
        is_useful(s, at, node))
        return false;
    hf_nodes_clear(at->out, node);
    hf_nodes_clear(at->open, node);
    return true;
}

/* One who makes no difference to anybody but itself. */
static bool run_free(search *s, place *at, uint32_t node)
{
    const hf_program *p = s->p;

    if (!hf_nodes_has(p->sure, node))
        return false;
    if (hf_nodes_has(at->open, node)) {
        (void)carry_out(s, at, node, false);
        if (!is_unseen(s, at, node))
            return false;
        write(s, at);
        hf_nodes_clear(at->open, node);
        return true;
    }
    if (!hf_nodes_has(at->out, node) || !may_begin(s, at, node) ||
        meets(s, p->ends[node], at->out) || meets(s, p->ends[node], at->open) ||
        !carry_out(s, at, node, true) || !is_unseen(s, at, node))
        return false;
    begin(s, at, node);
    write(s, at);
    return true;
}

static void close_up(search *s, place *at)
{
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < s->p->n; i++)
            again |= drop_useless(s, at, i) || run_free(s, at, i);
    }
}

/* ---- the search ---------------------------------------------------------- */

static void add_place(search *s)
{
    hf_verifier *v = s->p->v;
    place x = {.out = hf_zeros(v, s->p->words, sizeof(hf_nodes)),
               .open = hf_zeros(v, s->p->words, sizeof(hf_nodes)),
               .now = hf_zeros(v, s->n_keys + 1, sizeof(uint32_t)),
               .been = hf_zeros(v, s->n_been + 1, sizeof(hf_nodes))};

    hf_vec_push(&s->places, x);
}

static bool is_done(const search *s, const place *at)
{
    for (uint32_t i = 0; i < s->p->words; i++)
        if ((at->out[i] | at->open[i]) & s->p->sure[i])
            return false;
    return true;
}

static bool go_on(search *s, uint32_t depth);

/* The node is next: it begins, or what began ends. */
static bool try_node(search *s, uint32_t depth, uint32_t node)
{
    const place *at = &s->places.at[depth];
    place *next = &s->places.at[depth + 1];
    bool ends = hf_nodes_has(at->open, node);

    if (!ends && (!hf_nodes_has(at->out, node) || !may_begin(s, at, node) ||
                  !carry_out(s, at, node, true)))
        return false;
    if (ends)
        (void)carry_out(s, at, node, false);
    copy(s, at, next);
    if (ends)
        hf_nodes_clear(next->open, node);
    else
        begin(s, next, node);
    if (ends || !s->p->snapshots || s->n_touched == 0)
        write(s, next);
    else
        hf_nodes_set(next->open, node);
    return go_on(s, depth + 1);
}

/* From the place at this depth: is there an order of the rest? */
static bool go_on(search *s, uint32_t depth)
{
    if (s->places.n < (size_t)depth + 2)
        add_place(s);
    close_up(s, &s->places.at[depth]);
    if (is_done(s, &s->places.at[depth]))
        return true;
    if (is_dead(s, &s->places.at[depth]) || is_known(s, &s->places.at[depth]) ||
        hf_out_of_budget(s->p->v))
        return false;
    for (uint32_t i = 0; i < s->p->n; i++) {
        if (try_node(s, depth, i))
            return true;
        if (s->full || s->p->v->status != HF_OK)
            return false;
    }
    (void)remember(s, &s->places.at[depth]);
    return false;
}

/* ---- all ----------------------------------------------------------------- */

static void list_wanted(search *s)
{
    const hf_program *p = s->p;

    s->wanted = hf_zeros(p->v, p->n_known, sizeof(*s->wanted));
    for (uint32_t i = 0; i < p->n_known; i++)
        if (p->kind[p->states.at[i].key] == HF_KEY_IS_REGISTER &&
            meets(s, p->wants[i], p->wants[i]))
            s->wanted[s->n_wanted++] = i;
}

static void list_counts(search *s)
{
    const hf_program *p = s->p;

    s->count_first = hf_zeros(p->v, s->n_keys + 1, sizeof(*s->count_first));
    for (hf_key_id k = 0; k < s->n_keys; k++) {
        s->count_first[k] = (uint32_t)s->counts.n;
        for (uint32_t i = 0; p->kind[k] == HF_KEY_IS_COUNTER && i < p->n; i++) {
            hf_counted c =
                hf_count_of(p->h, p->txn[i], k, p->h->op_first[p->txn[i] + 1]);

            if (c.writes)
                hf_vec_push(&s->counts,
                            (count){i, c.sets,
                                    !c.sets            ? c.added
                                    : c.held.is_number ? c.held.number
                                                       : 0});
        }
    }
    s->count_first[s->n_keys] = (uint32_t)s->counts.n;
}

bool hf_program_has_order(hf_program *p, size_t most, bool *ret_full)
{
    search s = {.p = p, .n_keys = p->h->n_keys, .most = most};
    bool found;

    s.local = hf_nones(p->v, s.n_keys + 1, sizeof(*s.local));
    s.touched = hf_zeros(p->v, s.n_keys + 1, sizeof(*s.touched));
    s.n_been = p->past ? p->n_known / HF_NODES_WORD + 1 : 0;
    s.size =
        2 * (size_t)p->words * sizeof(hf_nodes) / 4 + s.n_keys + 2 * s.n_been;
    s.key = hf_zeros(p->v, s.size, sizeof(*s.key));
    list_wanted(&s);
    list_counts(&s);
    add_place(&s);
    for (uint32_t i = 0; i < p->n; i++)
        hf_nodes_set(s.places.at[0].out, i);
    memcpy(s.places.at[0].now, p->initial, s.n_keys * sizeof(uint32_t));
    for (hf_key_id k = 0; p->past && k < s.n_keys; k++)
        hf_nodes_set(s.places.at[0].been, p->initial[k]);
    found = go_on(&s, 0);
    *ret_full = s.full;
    hf_vec_release(&s.places);
    hf_vec_release(&s.counts);
    hf_vec_release(&s.memory);
    hf_free(s.slots);
    return found;
}

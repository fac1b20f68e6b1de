/* proof.c: a proof that no world satisfies the level, step by step.
 *
 * First every step that rests on the history becomes a clause
 * (proof_steps.c); then the resolutions are carried out in their order.  The
 * last clause must be empty: in no good world one of no facts holds.
 *
 * What is known (proof.h) is left out of a clause where it is false.  A
 * clause with a fact that is known to be true says nothing.  The proof may
 * have been made by somebody who knew less, and took such a fact for open; so
 * a resolution on it must do no harm.  There nothing clashes, and the clause
 * that says something, or more than was thought, stands for both.  What stands
 * is always a clause that was derived, so this can never prove too much.
 * Otherwise a resolution is on one fact, whichever.
 *
 * Clauses are given back after their last use.  Time is linear in the lengths
 * of the clauses resolved, as many times as they are used.
 */
#include "verify/proof.h"

#include <stdio.h>

/* Of all clauses at one time, in literals: a hostile proof could double
 * their lengths at every step. */
#define MOST_LITERALS ((size_t)1 << 28)

typedef struct clause {
    uint32_t n;
    uint32_t *literals;
    /* as its maker may have it, with what we know left in */
    uint32_t n_whole;
    uint32_t *whole;
    bool is_short;  /* says more than the maker of the proof may think */
    bool is_silent; /* has a fact that is known to be true */
} clause;

/* Whatever is taken, it is true: a proof counts if one way ends it.  After all
 * three they are tried once more as if its maker had not named the literals
 * that are spare. */
enum { DOUBT_SHORTER, DOUBT_IN_HAND, DOUBT_OTHER, DOUBT_COUNT };

typedef struct resolver {
    const hf_proof *p;
    clause *clauses;    /* per step */
    uint32_t *last_use; /* per step: the last that uses it, or HF_NONE */
    size_t n_literals;
    /* the clause in hand: literals that are marked; the list may hold some
     * that no longer are, and some twice */
    bool *mark;
    hf_literals list;
    uint32_t n_marked;
    bool is_short;
    /* the same, as the maker of the proof may have it */
    bool *whole_mark;
    hf_literals whole;
    int doubt; /* which of two to take, if both say more than they had to */
    bool no_spare;
} resolver;

bool hf_refuse_in_step(hf_verifier *v, uint32_t step)
{
    char why[sizeof(v->ret->reason)];

    if (v->status != HF_OK)
        return false;
    memcpy(why, v->ret->reason, sizeof(why));
    return hf_refuse(v, "step %u: %.*s", (unsigned)step, (int)sizeof(why) - 32,
                     why);
}

/* ---- the clause in hand -------------------------------------------------- */

static void begin(resolver *r)
{
    for (size_t i = 0; i < r->list.n; i++)
        r->mark[r->list.at[i]] = false;
    r->list.n = 0;
    r->n_marked = 0;
    r->is_short = false;
}

static void add_whole(resolver *r, uint32_t literal)
{
    if (r->whole_mark[literal])
        return;
    r->whole_mark[literal] = true;
    hf_vec_push(&r->whole, literal);
}

static void begin_whole(resolver *r)
{
    for (size_t i = 0; i < r->whole.n; i++)
        r->whole_mark[r->whole.at[i]] = false;
    r->whole.n = 0;
}

static void add(resolver *r, uint32_t literal)
{
    if (r->mark[literal])
        return;
    r->mark[literal] = true;
    r->n_marked++;
    hf_vec_push(&r->list, literal);
}

static void take(resolver *r, const clause *c)
{
    begin(r);
    for (uint32_t i = 0; i < c->n; i++)
        add(r, c->literals[i]);
    r->is_short = c->is_short;
}

/* Left out: it is known to be false, and perhaps to be true as well. */
static bool is_ruled_out(const resolver *r, uint32_t literal)
{
    return r->p->known.at[literal / 2] &
           (literal % 2 ? HF_KNOWN_TRUE : HF_KNOWN_FALSE);
}

static bool is_known(const resolver *r, uint32_t literal)
{
    return r->p->known.at[literal / 2] ==
           (literal % 2 ? HF_KNOWN_FALSE : HF_KNOWN_TRUE);
}

static bool is_silent(const resolver *r)
{
    for (size_t i = 0; i < r->list.n; i++)
        if (r->mark[r->list.at[i]] && is_known(r, r->list.at[i]))
            return true;
    return false;
}

/* The clause in hand becomes that of the step. */
static bool keep(resolver *r, uint32_t step)
{
    clause *c = &r->clauses[step];

    c->is_short = r->is_short;
    c->is_silent = is_silent(r);
    c->n = 0;
    if (r->last_use[step] == HF_NONE)
        return true; /* nobody asks again */
    r->n_literals += r->n_marked;
    if (r->n_literals > MOST_LITERALS)
        return hf_give_up(r->p->v, HF_ERR_LIMIT,
                          "the clauses of the proof are too long");
    c->whole = HF_NEW_ARRAY(uint32_t, r->whole.n + 1);
    c->n_whole = 0;
    for (size_t i = 0; i < r->whole.n; i++) {
        if (r->whole_mark[r->whole.at[i]])
            c->whole[c->n_whole++] = r->whole.at[i];
        r->whole_mark[r->whole.at[i]] = false; /* here, too */
    }
    r->whole.n = 0;
    r->n_literals += c->n_whole;
    c->literals = HF_NEW_ARRAY(uint32_t, (size_t)r->n_marked + 1);
    for (size_t i = 0; i < r->list.n; i++) {
        uint32_t literal = r->list.at[i];

        if (r->mark[literal])
            c->literals[c->n++] = literal;
        r->mark[literal] = false; /* those that stand there twice */
    }
    r->list.n = 0;
    return true;
}

static void drop(resolver *r, uint32_t step)
{
    clause *c = &r->clauses[step];

    if (c->literals)
        r->n_literals -= c->n + c->n_whole;
    hf_free(c->literals);
    hf_free(c->whole);
    c->literals = c->whole = NULL;
}

/* ---- resolution ---------------------------------------------------------- */

/* Nothing clashes: of the clause in hand and this one, the one that says more
 * than the other thinks. */
static bool choose(resolver *r, const clause *c)
{
    bool silent = is_silent(r), change;

    if (c->is_silent)
        change = false;
    else if (silent)
        change = true;
    else if (c->is_short && r->is_short)
        change = r->doubt == DOUBT_SHORTER ? c->n < r->n_marked
                                           : r->doubt == DOUBT_OTHER;
    else if (c->is_short || r->is_short)
        change = c->is_short;
    else
        return hf_refuse(r->p->v, "no fact stands in one clause and negated "
                                  "in the other");
    if (change)
        take(r, c);
    r->is_short = true;
    return true;
}

/* The fact that the maker of the proof resolves on: the literal in c; HF_NONE:
 * it cannot be told.  What is known may stand there by chance. */
static uint32_t find_pivot(const resolver *r, const clause *c)
{
    uint32_t open = 0, known = 0, open_at = HF_NONE, known_at = HF_NONE;

    for (uint32_t i = 0; i < c->n_whole; i++) {
        uint32_t literal = c->whole[i];

        if (!r->whole_mark[literal ^ 1])
            continue;
        if (r->p->known.at[literal / 2] == HF_OPEN) {
            open++;
            open_at = literal;
        } else {
            known++;
            known_at = literal;
        }
    }
    if (open == 1)
        return open_at;
    return open == 0 && known == 1 ? known_at : HF_NONE;
}

/* A literal that was taken out and comes back stands in the list twice, which
 * does no harm: it is marked once. */
static void resolve_whole(resolver *r, const clause *c, uint32_t pivot)
{
    if (pivot != HF_NONE)
        r->whole_mark[pivot ^ 1] = false;
    for (uint32_t i = 0; i < c->n_whole; i++)
        if (c->whole[i] != pivot)
            add_whole(r, c->whole[i]);
}

static bool has(const clause *c, uint32_t literal)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->literals[i] == literal)
            return true;
    return false;
}

/* A literal of c whose negation is in hand; how many there are.  Several: its
 * maker took facts apart that are one.  What is left, whichever it is resolved
 * on, is true, and has another fact in both ways. */
static uint32_t find_clash(const resolver *r, const clause *c, uint32_t *ret_n)
{
    uint32_t clash = HF_NONE;

    *ret_n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (r->mark[c->literals[i] ^ 1]) {
            if ((*ret_n)++ == 0 || r->doubt == DOUBT_OTHER)
                clash = c->literals[i];
        }
    return clash;
}

static bool resolve_here(resolver *r, const clause *c);

/* If one of the two lacks what is resolved on it says more than its maker
 * thinks, and stands for the result. */
static bool resolve(resolver *r, const clause *c)
{
    uint32_t pivot = find_pivot(r, c), clash, n;

    if (pivot == HF_NONE) {
        clash = find_clash(r, c, &n);
        pivot = n > 1 ? clash : HF_NONE;
    }
    resolve_whole(r, c, pivot);
    if (pivot == HF_NONE)
        return resolve_here(r, c);
    if (!r->mark[pivot ^ 1]) {
        r->is_short = true;
        return true;
    }
    if (!has(c, pivot)) {
        take(r, c);
        r->is_short = true;
        return true;
    }
    r->mark[pivot ^ 1] = false;
    r->n_marked--;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->literals[i] != pivot)
            add(r, c->literals[i]);
    r->is_short |= c->is_short;
    return true;
}

static bool resolve_here(resolver *r, const clause *c)
{
    uint32_t n, pivot = find_clash(r, c, &n);

    if (n == 0)
        return choose(r, c);
    r->mark[pivot ^ 1] = false;
    r->n_marked--;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->literals[i] != pivot)
            add(r, c->literals[i]);
    r->is_short |= c->is_short;
    return true;
}

static bool run_resolution(resolver *r, uint32_t at)
{
    const hf_witness *w = r->p->v->w;
    const hf_step *step = &w->steps[at];
    const uint32_t *used = w->used + step->first;

    if (step->n == 0)
        return hf_refuse(r->p->v, "it resolves nothing");
    take(r, &r->clauses[used[0]]);
    begin_whole(r);
    resolve_whole(r, &r->clauses[used[0]], HF_NONE);
    for (uint32_t i = 1; i < step->n; i++) {
        if (!resolve(r, &r->clauses[used[i]]))
            return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(r->p->v))
            return false;
    }
    for (uint32_t i = 0; i < step->n; i++)
        if (r->last_use[used[i]] == at)
            drop(r, used[i]);
    return true;
}

static void take_step(resolver *r, uint32_t at)
{
    const hf_proof *p = r->p;

    begin(r);
    begin_whole(r);
    r->is_short = p->is_short[at];
    for (size_t i = p->first[at]; i < p->first[at + 1]; i++) {
        uint32_t literal = p->literals.at[i];

        add_whole(r, literal);
        r->is_short |= p->known.at[literal / 2] == HF_KNOWN_BOTH;
        if (!is_ruled_out(r, literal))
            add(r, literal);
    }
    for (size_t i = p->first_spare[at];
         i < p->first_spare[at + 1] && !r->no_spare; i++)
        add_whole(r, p->spare.at[i]);
}

/* What is left may be known by versions that no cycle named. */
static void drop_refuted(resolver *r)
{
    for (size_t i = 0; i < r->list.n && !hf_out_of_budget(r->p->v); i++)
        if (r->mark[r->list.at[i]] && hf_fact_is_refuted(r->p, r->list.at[i])) {
            r->mark[r->list.at[i]] = false;
            r->n_marked--;
        }
}

static bool run_steps(resolver *r)
{
    hf_verifier *v = r->p->v;
    const hf_witness *w = v->w;

    for (uint32_t i = 0; i < w->n_steps; i++) {
        bool fine = true;

        if (w->steps[i].kind == HF_STEP_RESOLVE)
            fine = run_resolution(r, i);
        else
            take_step(r, i);
        if (!fine)
            return hf_refuse_in_step(v, i);
        if (i + 1 == w->n_steps)
            drop_refuted(r);
        if (i + 1 == w->n_steps && r->n_marked > 0)
            return hf_refuse(v,
                             "the last step is no contradiction: %u facts "
                             "are left",
                             (unsigned)r->n_marked);
        if (!keep(r, i) || hf_out_of_budget(v))
            return false;
    }
    return true;
}

static bool resolve_all(const hf_proof *p)
{
    const hf_witness *w = p->v->w;
    resolver r = {.p = p};
    bool fine = false;

    r.clauses = hf_zeros(p->v, w->n_steps, sizeof(*r.clauses));
    r.last_use = hf_nones(p->v, w->n_steps, sizeof(*r.last_use));
    r.mark = hf_zeros(p->v, 2 * p->facts.n, sizeof(*r.mark));
    r.whole_mark = hf_zeros(p->v, 2 * p->facts.n, sizeof(*r.whole_mark));
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const hf_step *s = &w->steps[i];

        for (uint32_t k = 0; s->kind == HF_STEP_RESOLVE && k < s->n; k++)
            r.last_use[w->used[s->first + k]] = i;
    }
    for (int way = 0; !fine && way < (p->spare.n > 0 ? 2 : 1) * DOUBT_COUNT &&
                      !hf_out_of_budget(p->v);
         way++) {
        r.doubt = way % DOUBT_COUNT;
        r.no_spare = way >= DOUBT_COUNT;
        begin(&r);
        r.n_literals = 0;
        fine = run_steps(&r);
        for (uint32_t i = 0; i < w->n_steps; i++)
            drop(&r, i);
    }
    hf_vec_release(&r.list);
    hf_vec_release(&r.whole);
    return fine;
}

/* ---- the proof ----------------------------------------------------------- */

/* Numbers are in range, whoever made it: steps use earlier ones, and cycles
 * stand one after the other. */
static bool check_numbers(hf_verifier *v)
{
    const hf_witness *w = v->w;
    uint64_t edges = 0, used = 0;

    if (w->anomaly != HF_NO_ORDER)
        return hf_refuse(v, "a proof shows \"%s\", nothing else",
                         hf_anomaly_get(HF_NO_ORDER)->name);
    if (w->n_steps == 0 || w->n_steps > UINT32_MAX / 2)
        return hf_refuse(v, "a proof has at least one step");
    for (uint32_t i = 0; w->chosen && i < w->n_edges; i++)
        if (w->chosen[i] != HF_CHOSEN_INITIAL && w->chosen[i] > v->h->n_txns)
            return hf_refuse(v, "edge %u names a source that does not exist",
                             (unsigned)i);
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const hf_step *s = &w->steps[i];
        bool fine = (unsigned)s->kind < HF_STEP_KIND_COUNT;

        if (s->kind == HF_STEP_CYCLE || s->kind == HF_STEP_LIST ||
            s->kind == HF_STEP_PROMISE) {
            fine = s->first == edges && s->n <= w->n_edges - edges;
            edges += s->n;
        }
        if (s->kind == HF_STEP_RESOLVE) {
            fine = s->first == used && s->n <= w->n_used - used;
            for (uint32_t k = 0; fine && k < s->n; k++)
                fine = w->used[used + k] < i;
            used += s->n;
        } else if (fine && s->kind != HF_STEP_CYCLE &&
                   s->kind != HF_STEP_PROMISE) {
            fine = s->op < v->h->n_ops &&
                   (s->writer == HF_NONE || s->writer < v->h->n_txns) &&
                   s->entry <= v->h->n_keys;
        }
        if (!fine)
            return hf_refuse(v, "step %u names what does not exist",
                             (unsigned)i);
    }
    return edges == w->n_edges ||
           hf_refuse(v, "some edges are of no step of the proof");
}

static bool open_proof(hf_verifier *v, hf_proof *p)
{
    const hf_witness *w = v->w;

    *p = (hf_proof){.v = v, .c = hf_certain_get(v)};
    p->sources = hf_sources_get(v);
    if (!p->c || !p->sources || !hf_certain_index_reads(p->c))
        return false;
    if (w->mixed || hf_level_forbids(v->level, HF_LOST_UPDATE)) {
        p->chains = hf_chains_get(p->c, p->sources);
        if (!p->chains)
            return false;
    }
    for (uint32_t i = 0; i < w->n_steps; i++) {
        hf_key_id key = w->steps[i].kind == HF_STEP_LIST
                            ? v->h->op_key[w->steps[i].op]
                            : HF_NONE;

        if (key != HF_NONE && !p->told)
            p->told = hf_zeros(v, v->h->n_keys, sizeof(*p->told));
        if (key != HF_NONE)
            p->told[key] = true;
    }
    p->first = hf_zeros(v, (size_t)w->n_steps + 1, sizeof(*p->first));
    p->is_short = hf_zeros(v, w->n_steps, sizeof(*p->is_short));
    p->first_spare =
        hf_zeros(v, (size_t)w->n_steps + 1, sizeof(*p->first_spare));
    p->edge_before = hf_nones(v, w->n_edges, sizeof(*p->edge_before));
    p->edge_from = hf_nones(v, w->n_edges, sizeof(*p->edge_from));
    return true;
}

static void close_proof(hf_proof *p)
{
    hf_map_release(&p->before);
    hf_map_release(&p->from);
    hf_map_release(&p->happened);
    hf_map_release(&p->asked);
    hf_map_release(&p->entries);
    hf_vec_release(&p->facts);
    hf_vec_release(&p->known);
    hf_vec_release(&p->slots);
    hf_vec_release(&p->literals);
    hf_vec_release(&p->spare);
}

static void *copy(hf_arena *arena, const void *from, size_t n, size_t size)
{
    void *to = hf_arena_get(arena, hf_array_size(n + 1, size));

    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

static void keep_view(const hf_proof *p, hf_view_wanted *wanted)
{
    const hf_witness *w = p->v->w;
    hf_arena *arena = wanted->arena;

    wanted->is_kept = true;
    *wanted->ret = (hf_proof_view){
        .n_facts = (uint32_t)p->facts.n,
        .facts = copy(arena, p->facts.at, p->facts.n, sizeof(hf_fact)),
        .known = copy(arena, p->known.at, p->known.n, sizeof(uint8_t)),
        .first = copy(arena, p->first, (size_t)w->n_steps + 1, sizeof(size_t)),
        .literals =
            copy(arena, p->literals.at, p->literals.n, sizeof(uint32_t)),
        .edge_before =
            copy(arena, p->edge_before, w->n_edges, sizeof(uint32_t)),
        .edge_from = copy(arena, p->edge_from, w->n_edges, sizeof(uint32_t)),
    };
}

bool hf_verify_proof(hf_verifier *v)
{
    hf_proof p;
    bool fine;

    if (!check_numbers(v))
        return false;
    if (!open_proof(v, &p))
        return false;
    hf_map_init(&p.before);
    hf_map_init(&p.from);
    hf_map_init(&p.happened);
    hf_map_init(&p.asked);
    hf_map_init(&p.entries);
    fine = hf_proof_read_steps(&p);
    if (fine && v->view)
        keep_view(&p, v->view);
    fine = fine && resolve_all(&p);
    close_proof(&p);
    return fine;
}

bool hf_verify_view(hf_verify_session *session, const hf_claim *claim,
                    hf_budget *budget, hf_arena *arena, hf_proof_view *ret,
                    bool *ret_accepted)
{
    hf_view_wanted wanted = {arena, ret, false};
    hf_verification answer = {.accepted = false};
    hf_status st;

    if (claim->witness.kind != HF_WITNESS_PROOF)
        return false;
    session->view = &wanted;
    st = hf_verify_claim_in(session, claim, budget, &answer, NULL);
    session->view = NULL;
    if (ret_accepted)
        *ret_accepted = answer.accepted;
    return st == HF_OK && wanted.is_kept;
}

/* story.c: see story.h.  Propagation by counting: linear in the clauses. */
#include "report/story.h"

#include "base/error.h"

/* Steps that the last one needs. */
static bool *find_needed(const hf_witness *w)
{
    bool *needed = HF_NEW_ZEROED(bool, (size_t)w->n_steps + 1);

    needed[w->n_steps - 1] = true;
    for (uint32_t i = w->n_steps; i-- > 0;) {
        const hf_step *s = &w->steps[i];

        if (!needed[i] || s->kind != HF_STEP_RESOLVE)
            continue;
        for (uint32_t k = 0; k < s->n; k++)
            needed[w->used[s->first + k]] = true;
    }
    return needed;
}

static bool is_ruled_out(const hf_proof_view *v, uint32_t literal)
{
    return v->known[literal / 2] &
           (literal % 2 ? HF_KNOWN_TRUE : HF_KNOWN_FALSE);
}

static bool is_known(const hf_proof_view *v, uint32_t literal)
{
    return v->known[literal / 2] ==
           (literal % 2 ? HF_KNOWN_FALSE : HF_KNOWN_TRUE);
}

/* What is known anyway, but is derived in a step of the proof, has a reason
 * that can be told: then it counts as open.  Such a step says one thing that
 * is known to be true, and else what is known to be false.  None of those may
 * become open later, so that what a reason rests on is derived before it. */
static void find_told(hf_story *s, const bool *needed)
{
    const hf_proof_view *v = &s->view;
    bool *used = HF_NEW_ZEROED(bool, (size_t)v->n_facts + 1);

    for (uint32_t i = 0; i < s->w->n_steps; i++) {
        uint32_t told = HF_NONE;
        bool fits = needed[i] && s->w->steps[i].kind == HF_STEP_CYCLE;

        for (size_t k = v->first[i]; k < v->first[i + 1] && fits; k++) {
            uint32_t literal = v->literals[k];

            if (is_known(v, literal) && (told == HF_NONE || told == literal))
                told = literal;
            else
                fits = is_ruled_out(v, literal) && !is_known(v, literal);
        }
        if (!fits || told == HF_NONE || used[told / 2])
            continue;
        s->told[told / 2] = true;
        for (size_t k = v->first[i]; k < v->first[i + 1]; k++)
            used[v->literals[k] / 2] = true;
    }
    hf_free(used);
}

/* A clause that says nothing gets no literals and is never counted. */
static void copy_clauses(hf_story *s, const bool *needed)
{
    const hf_proof_view *v = &s->view;
    uint32_t *seen = HF_NEW_ZEROED(uint32_t, 2 * (size_t)v->n_facts + 1);
    size_t n = 0;

    for (uint32_t i = 0; i < s->w->n_steps; i++) {
        bool silent = !needed[i] || s->w->steps[i].kind == HF_STEP_RESOLVE;

        s->first[i] = n;
        s->n_false[i] = silent ? HF_NONE : 0;
        for (size_t k = v->first[i]; k < v->first[i + 1] && !silent; k++) {
            uint32_t literal = v->literals[k];
            bool told = s->told[literal / 2];

            silent = is_known(v, literal) && !told;
            if ((told || !is_ruled_out(v, literal)) && seen[literal] != i + 1)
                s->literals[n++] = literal;
            seen[literal] = i + 1;
        }
        if (silent) {
            n = s->first[i];
            s->n_false[i] = HF_NONE;
        }
    }
    s->first[s->w->n_steps] = n;
    hf_free(seen);
}

static void index_literals(hf_story *s)
{
    size_t n_literals = 2 * (size_t)s->view.n_facts;
    size_t n = s->first[s->w->n_steps];
    size_t *next;

    s->occurs_first =
        hf_arena_get(&s->arena, (n_literals + 2) * sizeof(size_t));
    s->occurs = hf_arena_get(&s->arena, (n + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++)
        s->occurs_first[s->literals[i] + 1]++;
    for (size_t l = 0; l < n_literals; l++)
        s->occurs_first[l + 1] += s->occurs_first[l];
    next = HF_NEW_ARRAY(size_t, n_literals + 1);
    memcpy(next, s->occurs_first, (n_literals + 1) * sizeof(size_t));
    for (uint32_t i = 0; i < s->w->n_steps; i++)
        for (size_t k = s->first[i]; k < s->first[i + 1]; k++)
            s->occurs[next[s->literals[k]]++] = i;
    hf_free(next);
}

void hf_story_init(hf_story *s, hf_verify_session *session, const hf_history *h,
                   hf_level level, const hf_witness *w)
{
    hf_claim claim = {HF_INVALID, level, *w};
    bool *needed, accepted = false;
    size_t n;

    *s = (hf_story){.h = h, .w = w};
    hf_arena_init(&s->arena);
    s->is_there =
        hf_verify_view(session, &claim, NULL, &s->arena, &s->view, &accepted) &&
        accepted;
    if (!s->is_there)
        return;
    n = s->view.first[w->n_steps];
    s->first =
        hf_arena_get(&s->arena, ((size_t)w->n_steps + 1) * sizeof(size_t));
    s->literals = hf_arena_get(&s->arena, (n + 1) * sizeof(uint32_t));
    s->n_false =
        hf_arena_get(&s->arena, ((size_t)w->n_steps + 1) * sizeof(uint32_t));
    s->value = hf_arena_get(&s->arena, (size_t)s->view.n_facts + 1);
    s->reason = hf_arena_get(&s->arena,
                             ((size_t)s->view.n_facts + 1) * sizeof(uint32_t));
    s->number = hf_arena_get(&s->arena,
                             ((size_t)s->view.n_facts + 1) * sizeof(uint32_t));
    s->told = hf_arena_get(&s->arena, (size_t)s->view.n_facts + 1);
    needed = find_needed(w);
    find_told(s, needed);
    copy_clauses(s, needed);
    hf_free(needed);
    index_literals(s);
}

void hf_story_release(hf_story *s)
{
    hf_vec_release(&s->trail);
    hf_arena_release(&s->arena);
}

static bool is_true(const hf_story *s, uint32_t literal)
{
    int8_t value = s->value[literal / 2];

    return value != 0 && (value > 0) == (literal % 2 == 0);
}

static void set_true(hf_story *s, uint32_t literal, uint32_t reason)
{
    s->value[literal / 2] = literal % 2 ? -1 : 1;
    s->reason[literal / 2] = reason;
    hf_vec_push(&s->trail, literal);
}

/* All but one of the step's facts are refuted. */
static void force(hf_story *s, uint32_t step)
{
    for (size_t k = s->first[step]; k < s->first[step + 1]; k++) {
        uint32_t literal = s->literals[k];

        if (s->value[literal / 2] == 0) {
            set_true(s, literal, step);
            return;
        }
        if (is_true(s, literal))
            return;
    }
}

static uint32_t propagate(hf_story *s)
{
    uint32_t refuted = HF_NONE;

    while (s->head < s->trail.n && refuted == HF_NONE) {
        uint32_t literal = s->trail.at[s->head++] ^ 1;

        for (size_t i = s->occurs_first[literal];
             i < s->occurs_first[literal + 1]; i++) {
            uint32_t step = s->occurs[i];
            size_t n = s->first[step + 1] - s->first[step];

            if (++s->n_false[step] == n && refuted == HF_NONE)
                refuted = step;
            else if (s->n_false[step] + 1 == n)
                force(s, step);
        }
    }
    return refuted;
}

uint32_t hf_story_assume(hf_story *s, uint32_t literal)
{
    if (literal != HF_NONE) {
        HF_ASSERT(s->value[literal / 2] == 0);
        set_true(s, literal, HF_NONE);
        return propagate(s);
    }
    for (uint32_t i = 0; i < s->w->n_steps; i++) {
        size_t n = s->first[i + 1] - s->first[i];

        if (s->n_false[i] == HF_NONE)
            continue;
        if (n == 0)
            return i;
        if (n == 1)
            force(s, i);
    }
    /* two units that contradict each other: the second one is refuted */
    return propagate(s);
}

void hf_story_undo(hf_story *s, size_t trail)
{
    while (s->trail.n > trail) {
        uint32_t literal = s->trail.at[--s->trail.n];

        s->value[literal / 2] = 0;
        if (s->trail.n >= s->head)
            continue;
        s->head = s->trail.n;
        for (size_t i = s->occurs_first[literal ^ 1];
             i < s->occurs_first[(literal ^ 1) + 1]; i++)
            s->n_false[s->occurs[i]]--;
    }
}

bool hf_story_is_assumed(const hf_story *s, uint32_t edge)
{
    uint32_t before, from;

    if (!s->is_there)
        return false;
    before = s->view.edge_before[edge];
    from = s->view.edge_from[edge];
    return (before != HF_NONE && s->view.known[before / 2] == HF_OPEN) ||
           (from != HF_NONE && s->view.known[from / 2] == HF_OPEN);
}

/* formula.c: see formula.h.
 *
 * Clauses that were learned follow from those before by resolution; "no" is
 * said when one of them is empty.  Of the learned ones, half of those with many
 * levels go from time to time.
 */
#include "verify/formula.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 2u       /* words of a clause before its literals */
#define UNIT 100u     /* conflicts between restarts, times Luby's numbers */
#define FEW_LEVELS 2u /* clauses with so few are kept */
#define MOST_WORDS ((size_t)1 << 28)

/* ---- memory -------------------------------------------------------------- */

void hf_formula_init(hf_formula *f, hf_verifier *v)
{
    *f = (hf_formula){.v = v, .step = 1, .most_learned = 4000};
}

void hf_formula_release(hf_formula *f)
{
    for (uint32_t i = 0; f->watches && i < 2 * f->n; i++)
        hf_vec_release(&f->watches[i]);
    hf_free(f->watches);
    hf_free(f->value);
    hf_free(f->phase);
    hf_free(f->seen);
    hf_free(f->level);
    hf_free(f->reason);
    hf_free(f->activity);
    hf_free(f->heap);
    hf_free(f->heap_at);
    hf_vec_release(&f->words);
    hf_vec_release(&f->trail);
    hf_vec_release(&f->trail_levels);
    hf_vec_release(&f->clause);
    hf_vec_release(&f->given);
    *f = (hf_formula){0};
}

hf_literal hf_formula_new(hf_formula *f)
{
    return 2 * f->n++;
}

void hf_formula_add(hf_formula *f, const hf_literal *lits, uint32_t n)
{
    hf_vec_push(&f->given, n);
    for (uint32_t i = 0; i < n; i++)
        hf_vec_push(&f->given, lits[i]);
}

static void get_room(hf_formula *f)
{
    size_t n = (size_t)f->n + 1;

    f->watches = HF_NEW_ZEROED(hf_watches, 2 * n);
    f->value = HF_NEW_ARRAY(int8_t, 2 * n);
    memset(f->value, -1, 2 * n);
    f->phase = HF_NEW_ZEROED(uint8_t, n);
    f->seen = HF_NEW_ZEROED(uint8_t, n);
    f->level = HF_NEW_ZEROED(uint32_t, n);
    f->reason = HF_NEW_ARRAY(uint32_t, n);
    f->activity = HF_NEW_ZEROED(double, n);
    f->heap = HF_NEW_ARRAY(uint32_t, n);
    f->heap_at = HF_NEW_ARRAY(uint32_t, n);
    for (uint32_t i = 0; i < f->n; i++)
        f->heap[i] = f->heap_at[i] = i;
    f->n_heap = f->n;
}

/* ---- the most active variable -------------------------------------------- */

static void put(hf_formula *f, uint32_t at, uint32_t var)
{
    f->heap[at] = var;
    f->heap_at[var] = at;
}

static void rise(hf_formula *f, uint32_t at)
{
    uint32_t var = f->heap[at];

    while (at > 0 && f->activity[f->heap[(at - 1) / 2]] < f->activity[var]) {
        put(f, at, f->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(f, at, var);
}

static void sink(hf_formula *f, uint32_t at)
{
    uint32_t var = f->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < f->n_heap &&
            f->activity[f->heap[child + 1]] > f->activity[f->heap[child]])
            child++;
        if (child >= f->n_heap ||
            f->activity[f->heap[child]] <= f->activity[var])
            break;
        put(f, at, f->heap[child]);
        at = child;
    }
    put(f, at, var);
}

static void put_back(hf_formula *f, uint32_t var)
{
    if (f->heap_at[var] != HF_NONE)
        return;
    put(f, f->n_heap, var);
    rise(f, f->n_heap++);
}

static uint32_t take_first(hf_formula *f)
{
    uint32_t var = f->heap[0];

    f->heap_at[var] = HF_NONE;
    if (--f->n_heap > 0) {
        put(f, 0, f->heap[f->n_heap]);
        sink(f, 0);
    }
    return var;
}

static void note_use(hf_formula *f, uint32_t var)
{
    f->activity[var] += f->step;
    if (f->activity[var] > 1e100) {
        for (uint32_t i = 0; i < f->n; i++)
            f->activity[i] *= 1e-100;
        f->step *= 1e-100;
    }
    if (f->heap_at[var] != HF_NONE)
        rise(f, f->heap_at[var]);
}

/* ---- values -------------------------------------------------------------- */

static uint32_t at_level(const hf_formula *f)
{
    return (uint32_t)f->trail_levels.n;
}

static void take(hf_formula *f, hf_literal lit, uint32_t reason)
{
    f->value[lit] = 1;
    f->value[HF_LITERAL_NOT(lit)] = 0;
    f->level[lit / 2] = at_level(f);
    f->reason[lit / 2] = reason;
    hf_vec_push(&f->trail, lit);
}

static void go_back(hf_formula *f, uint32_t level)
{
    if (at_level(f) <= level)
        return;
    while (f->trail.n > f->trail_levels.at[level]) {
        hf_literal lit = f->trail.at[--f->trail.n];

        f->value[lit] = f->value[HF_LITERAL_NOT(lit)] = -1;
        f->phase[lit / 2] = !(lit & 1u);
        put_back(f, lit / 2);
    }
    f->trail_levels.n = level;
    f->n_spread = (uint32_t)f->trail.n;
}

static void watch(hf_formula *f, uint32_t clause)
{
    const uint32_t *lits = f->words.at + clause + HEAD;

    hf_vec_push(&f->watches[lits[0]], (hf_watch){clause, lits[1]});
    hf_vec_push(&f->watches[lits[1]], (hf_watch){clause, lits[0]});
}

/* Its first literal is false: another one is watched instead (true), or the
 * second is all that is left of it. */
static bool move_watch(hf_formula *f, uint32_t *lits, uint32_t n,
                       uint32_t clause)
{
    for (uint32_t i = 2; i < n; i++)
        if (f->value[lits[i]] != 0) {
            uint32_t gone = lits[1];

            lits[1] = lits[i];
            lits[i] = gone;
            hf_vec_push(&f->watches[lits[1]], (hf_watch){clause, lits[0]});
            return true;
        }
    return false;
}

/* All that follows at once.  Returns a clause that is false, or HF_NONE. */
static uint32_t spread(hf_formula *f)
{
    while (f->n_spread < f->trail.n) {
        hf_literal gone = HF_LITERAL_NOT(f->trail.at[f->n_spread++]);
        hf_watches *w = &f->watches[gone];
        size_t kept = 0;
        uint32_t broken = HF_NONE;

        for (size_t i = 0; i < w->n; i++) {
            hf_watch x = w->at[i];
            uint32_t *lits = f->words.at + x.clause + HEAD;

            if (broken != HF_NONE || f->value[x.other] == 1) {
                w->at[kept++] = x;
                continue;
            }
            if (lits[0] == gone) {
                lits[0] = lits[1];
                lits[1] = gone;
            }
            x.other = lits[0];
            if (f->value[lits[0]] != 1 &&
                move_watch(f, lits, f->words.at[x.clause], x.clause))
                continue;
            w->at[kept++] = x;
            if (f->value[lits[0]] == 0)
                broken = x.clause;
            else if (f->value[lits[0]] < 0)
                take(f, lits[0], x.clause);
        }
        w->n = kept;
        if (broken != HF_NONE)
            return broken;
    }
    return HF_NONE;
}

/* ---- learning ------------------------------------------------------------ */

/* The literals of a clause, but for the one that it gave. */
static uint32_t mark(hf_formula *f, uint32_t clause, uint32_t given)
{
    uint32_t n = f->words.at[clause], open = 0;

    for (uint32_t i = 0; i < n; i++) {
        hf_literal lit = f->words.at[clause + HEAD + i];
        uint32_t var = lit / 2;

        if (var == given || f->seen[var] || f->level[var] == 0)
            continue;
        f->seen[var] = 1;
        note_use(f, var);
        if (f->level[var] == at_level(f))
            open++;
        else
            hf_vec_push(&f->clause, lit);
    }
    return open;
}

/* It follows from the others of the clause. */
static bool is_needless(const hf_formula *f, hf_literal lit)
{
    uint32_t reason = f->reason[lit / 2];

    if (reason == HF_NONE)
        return false;
    for (uint32_t i = 0; i < f->words.at[reason]; i++) {
        uint32_t var = f->words.at[reason + HEAD + i] / 2;

        if (var != lit / 2 && !f->seen[var] && f->level[var] > 0)
            return false;
    }
    return true;
}

/* Resolves back from a clause that is false until one literal of this level is
 * left, the first of f->clause.  Returns the level to go back to. */
static uint32_t learn(hf_formula *f, uint32_t clause)
{
    uint32_t open, at = (uint32_t)f->trail.n, back = 0;
    hf_literal lit = 0;
    size_t n = 1;

    f->clause.n = 0;
    hf_vec_push(&f->clause, 0);
    open = mark(f, clause, HF_NONE);
    for (;;) {
        do
            lit = f->trail.at[--at];
        while (!f->seen[lit / 2]);
        if (--open == 0)
            break;
        f->seen[lit / 2] = 0; /* of this level: not in the clause */
        open += mark(f, f->reason[lit / 2], lit / 2);
    }
    f->clause.at[0] = HF_LITERAL_NOT(lit);
    for (size_t i = 1; i < f->clause.n; i++) /* `seen` stays until it is done */
        if (is_needless(f, f->clause.at[i]))
            f->clause.at[i] |= 0x80000000u;
    f->seen[lit / 2] = 0;
    for (size_t i = 1; i < f->clause.n; i++) {
        hf_literal x = f->clause.at[i] & 0x7fffffffu;

        f->seen[x / 2] = 0;
        if (f->clause.at[i] != x)
            continue;
        f->clause.at[n] = x;
        if (f->level[x / 2] > back) {
            back = f->level[x / 2];
            f->clause.at[n] = f->clause.at[1];
            f->clause.at[1] = x;
        }
        n++;
    }
    f->clause.n = n;
    return back;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* How many levels the clause at hand has to do with. */
static uint32_t count_levels(const hf_formula *f)
{
    uint32_t *levels = HF_NEW_ARRAY(uint32_t, f->clause.n + 1), n = 0;

    for (size_t i = 0; i < f->clause.n; i++)
        levels[i] = f->level[f->clause.at[i] / 2];
    if (f->clause.n > 1)
        qsort(levels, f->clause.n, sizeof(*levels), by_number);
    for (size_t i = 0; i < f->clause.n; i++)
        n += i == 0 || levels[i] != levels[i - 1];
    hf_free(levels);
    return n;
}

/* The clause at hand, of two literals or more. */
static uint32_t store(hf_formula *f, uint32_t levels)
{
    uint32_t clause = (uint32_t)f->words.n;

    hf_vec_push(&f->words, (uint32_t)f->clause.n);
    hf_vec_push(&f->words, levels);
    for (size_t i = 0; i < f->clause.n; i++)
        hf_vec_push(&f->words, f->clause.at[i]);
    watch(f, clause);
    return clause;
}

/* ---- forgetting ---------------------------------------------------------- */

/* At level 0, where no reason is asked for any more: half of the learned
 * clauses go, those with the most levels. */
static void forget(hf_formula *f)
{
    uint32_t limit = FEW_LEVELS;
    uint64_t at_most[64] = {0}, kept = 0;
    size_t to = 0;

    for (size_t at = 0; at < f->words.n; at += HEAD + f->words.at[at]) {
        uint32_t levels = f->words.at[at + 1];

        if (levels > 0)
            at_most[levels < 63 ? levels : 63]++;
    }
    for (uint32_t i = 0; i < 63; i++) {
        kept += at_most[i];
        if (i > FEW_LEVELS && kept > f->n_learned / 2)
            break;
        limit = i > limit ? i : limit;
    }
    for (uint32_t i = 0; i < 2 * f->n; i++)
        f->watches[i].n = 0;
    f->n_learned = 0;
    for (size_t at = 0, next; at < f->words.n; at = next) {
        uint32_t n = f->words.at[at], levels = f->words.at[at + 1];

        next = at + HEAD + n;
        if (levels > limit)
            continue;
        memmove(f->words.at + to, f->words.at + at,
                (HEAD + n) * sizeof(*f->words.at));
        f->n_learned += levels > 0;
        to += HEAD + n;
    }
    f->words.n = to;
    for (uint32_t i = 0; i < f->trail.n; i++)
        f->reason[f->trail.at[i] / 2] = HF_NONE;
    for (size_t at = 0; at < f->words.n; at += HEAD + f->words.at[at])
        watch(f, (uint32_t)at);
}

/* ---- the search ---------------------------------------------------------- */

/* What a clause at level 0 says; false: it is empty. */
static bool settle(hf_formula *f, hf_literal lit)
{
    if (f->value[lit] < 0)
        take(f, lit, HF_NONE);
    return f->value[lit] == 1;
}

/* The clauses that were given, as they are at level 0. */
static bool take_given(hf_formula *f)
{
    for (size_t at = 0; at < f->given.n; at += 1 + f->given.at[at]) {
        uint32_t n = f->given.at[at];
        bool done = false;

        f->clause.n = 0;
        for (uint32_t i = 0; i < n; i++) {
            hf_literal lit = f->given.at[at + 1 + i];

            done |= f->value[lit] == 1;
            if (f->value[lit] < 0)
                hf_vec_push(&f->clause, lit);
        }
        if (done)
            continue;
        if (f->clause.n == 0 ||
            (f->clause.n == 1 &&
             (!settle(f, f->clause.at[0]) || spread(f) != HF_NONE)))
            return false;
        if (f->clause.n > 1)
            (void)store(f, 0);
        if (f->words.n > MOST_WORDS)
            return hf_give_up(f->v, HF_ERR_LIMIT, "the core has too many sums");
        if (hf_out_of_budget(f->v))
            return false;
    }
    hf_vec_release(&f->given);
    f->given.at = NULL;
    f->given.n = f->given.cap = 0;
    return spread(f) == HF_NONE;
}

static bool resolve(hf_formula *f, uint32_t broken)
{
    uint32_t back, levels;

    f->n_conflicts++;
    if (at_level(f) == 0)
        return false;
    back = learn(f, broken);
    levels = count_levels(f);
    go_back(f, back);
    if (f->clause.n == 1) {
        take(f, f->clause.at[0], HF_NONE);
    } else {
        uint32_t clause = store(f, levels);

        f->n_learned++;
        take(f, f->clause.at[0], clause);
    }
    f->step /= 0.95;
    return true;
}

static bool decide(hf_formula *f)
{
    while (f->n_heap > 0) {
        uint32_t var = take_first(f);

        if (f->value[2 * var] >= 0)
            continue;
        hf_vec_push(&f->trail_levels, (uint32_t)f->trail.n);
        take(f, 2 * var + !f->phase[var], HF_NONE);
        return true;
    }
    return false;
}

/* Luby's numbers: 1 1 2 1 1 2 4 ... */
static uint64_t luby(uint64_t i)
{
    uint64_t size = 1, power = 0;

    while (size < i + 1) {
        size = 2 * size + 1;
        power++;
    }
    while (size - 1 != i) {
        size = (size - 1) / 2;
        power--;
        i %= size;
    }
    return (uint64_t)1 << power;
}

bool hf_formula_is_possible(hf_formula *f)
{
    uint64_t until = UNIT, n_restarts = 0;

    get_room(f);
    if (!take_given(f))
        return false;
    for (;;) {
        uint32_t broken = spread(f);

        if (broken != HF_NONE) {
            if (!resolve(f, broken))
                return false;
            if (f->words.n > MOST_WORDS)
                return hf_give_up(f->v, HF_ERR_LIMIT,
                                  "deciding the core takes too much memory");
            continue;
        }
        if (hf_out_of_budget(f->v))
            return false;
        if (f->n_conflicts >= until) {
            go_back(f, 0);
            until = f->n_conflicts + UNIT * luby(++n_restarts);
            if (f->n_learned > f->most_learned) {
                forget(f);
                f->most_learned += f->most_learned / 10;
            }
        }
        if (!decide(f))
            return true;
    }
}

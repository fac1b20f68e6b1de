/* proof_counters.c: what a sum says about the order of those who added to it.
 *
 * A version of a key with increments without results holds what the operations
 * of its transaction make of the version before (counters.h).  A step names a
 * read of such a key and a writer w, and puts some of the others before or
 * behind w; it says that the read did not return what w left: the clause has
 * the negation of from(r, w).  After an own write of the key the reader is w,
 * and what it read is what it had made of the version before.
 *
 * If w sets the key, what it leaves is known.  Else let s be the last one
 * before w who does, or the initial version: all others who set it must be put
 * before s or behind w.  Whoever is put before s or behind w adds nothing;
 * who is put between s and w adds what it adds, if it happened; anybody else
 * adds that or nothing.  So the number that was read is outside of some bounds.
 * If it is not, those of unknown outcome of whom the step says nothing are
 * taken not to have happened, which the clause then says.
 *
 * O(operations of the writers of the key, times the orders that the step
 * names).
 */
#include "verify/counters.h"
#include "verify/proof.h"

typedef struct sum_step {
    hf_proof *p;
    hf_verifier *v;
    const hf_step *step;
    const hf_key_index *writers;
    hf_key_id key;
    hf_txn_id reader, w;
    hf_op_id end;   /* of w: what counts is before it */
    hf_txn_id last; /* who sets it before w; HF_NONE: the initial version */
    hf_wide low, high;
} sum_step;

/* ---- places -------------------------------------------------------------- */

static hf_counted count_of(const sum_step *s, hf_txn_id t)
{
    return hf_count_of(s->v->h, t, s->key,
                       t == s->w ? s->end : s->v->h->op_first[t + 1]);
}

static bool has_order(const sum_step *s, hf_txn_id a, hf_txn_id b)
{
    return hf_proof_has_order(s->p, a, b, s->key);
}

static bool is_named(const sum_step *s, hf_txn_id t)
{
    for (uint32_t i = 0; i < s->p->n_orders; i++)
        if (s->p->orders[i].from == t || s->p->orders[i].to == t)
            return true;
    return false;
}

static bool is_left_out(const sum_step *s, hf_txn_id t)
{
    return s->v->h->txn_outcome[t] == HF_UNKNOWN_OUTCOME && !is_named(s, t);
}

/* It is before the last one who sets the key, or behind w. */
static bool is_elsewhere(const sum_step *s, hf_txn_id t)
{
    return has_order(s, s->w, t) ||
           (s->last != HF_NONE && has_order(s, t, s->last));
}

/* The next of the others, from place *at of the writers on. */
static bool next_other(const sum_step *s, uint32_t *at, hf_txn_id *ret)
{
    while (*at < s->writers->first[s->key + 1]) {
        hf_txn_id t = s->writers->at[(*at)++];

        if (t == s->w || t == s->last || s->v->h->txn_outcome[t] == HF_ABORTED)
            continue;
        *ret = t;
        return true;
    }
    return false;
}

/* ---- who sets it --------------------------------------------------------- */

/* Are all others who set it put elsewhere?  `out`: or left out. */
static bool is_last(const sum_step *s, bool out)
{
    uint32_t at = s->writers->first[s->key];
    hf_txn_id t;

    while (next_other(s, &at, &t))
        if (count_of(s, t).sets && !is_elsewhere(s, t) &&
            !(out && is_left_out(s, t)))
            return false;
    return true;
}

static bool find_last(sum_step *s, bool out)
{
    for (uint32_t i = s->writers->first[s->key];
         i < s->writers->first[s->key + 1]; i++) {
        s->last = s->writers->at[i];
        if (s->last != s->w && s->v->h->txn_outcome[s->last] != HF_ABORTED &&
            has_order(s, s->last, s->w) && count_of(s, s->last).sets &&
            is_last(s, out))
            return true;
    }
    s->last = HF_NONE;
    return is_last(s, out);
}

/* ---- bounds -------------------------------------------------------------- */

static void add_others(sum_step *s, bool out)
{
    uint32_t at = s->writers->first[s->key];
    hf_txn_id t;

    while (next_other(s, &at, &t)) {
        hf_counted c = count_of(s, t);
        bool there = has_order(s, t, s->w) &&
                     (s->last == HF_NONE || has_order(s, s->last, t));

        if (c.sets || is_elsewhere(s, t) || (out && is_left_out(s, t)))
            continue;
        if (c.added < 0 || there)
            s->low += c.added;
        if (c.added > 0 || there)
            s->high += c.added;
    }
}

/* Is the number outside of the bounds?  `out`: those of whom nothing is said,
 * and who need not have happened, did not. */
static bool is_outside(sum_step *s, hf_held wanted, bool out)
{
    const hf_history *h = s->v->h;
    hf_counted mine = count_of(s, s->w);
    hf_held first =
        hf_held_of(h, h->key_initial ? h->key_initial[s->key] : HF_NONE);

    s->last = HF_NONE;
    if (mine.sets)
        return !hf_held_is_same(mine.held, wanted);
    if (!wanted.is_number)
        return true; /* a sum is a number */
    if (!find_last(s, out))
        return false;
    if (s->last != HF_NONE)
        first = count_of(s, s->last).held;
    if (wanted.rest != (first.is_number ? first.rest : 0))
        return true; /* whole numbers are added to it */
    s->low = s->high = mine.added + (first.is_number ? first.number : 0);
    add_others(s, out);
    return wanted.number < s->low || wanted.number > s->high;
}

/* What that takes for granted of who happened. */
static void assume_outcomes(const sum_step *s, bool out)
{
    hf_proof *p = s->p;
    uint32_t at = s->writers->first[s->key];
    hf_txn_id t;

    if (s->last != HF_NONE)
        hf_proof_assume(p, hf_fact_happened(p, s->last));
    while (next_other(s, &at, &t)) {
        uint32_t literal = hf_fact_happened(p, t);

        if (literal == HF_NONE)
            continue;
        if (out && is_left_out(s, t))
            hf_vec_push(&p->literals, literal);
        else if (!is_elsewhere(s, t) && has_order(s, t, s->w))
            hf_vec_push(&p->literals, literal ^ 1);
    }
}

/* ---- all ----------------------------------------------------------------- */

static bool open_sum(hf_proof *p, const hf_step *step, sum_step *s)
{
    hf_verifier *v = p->v;
    const hf_history *h = v->h;

    *s = (sum_step){.p = p,
                    .v = v,
                    .step = step,
                    .key = h->op_key[step->op],
                    .reader = hf_op_txn(h, step->op),
                    .w = step->writer};
    if (!hf_op_counts(h, step->op) || hf_item_reads(h, step->op) != 1 ||
        hf_op_has_predicate(hf_op_kind_of(h, step->op)))
        return hf_refuse(v, "operation %u reads no sum", (unsigned)step->op);
    if (h->txn_outcome[s->reader] == HF_ABORTED ||
        !hf_reads_matter_to(v, s->reader))
        return hf_refuse(v, "what operation %u reads proves nothing",
                         (unsigned)step->op);
    if (s->w == HF_NONE || h->txn_outcome[s->w] == HF_ABORTED ||
        hf_facts_slot(&v->facts, s->w, s->key) == HF_NONE)
        return hf_refuse(v, "nobody is named who wrote it");
    s->end = s->w == s->reader ? step->op : h->op_first[s->w + 1];
    s->writers = hf_writers_of_keys(v);
    return s->writers != NULL;
}

/* The read did not return what w left. */
static bool assume_source(const sum_step *s)
{
    hf_choice choice;
    bool own = hf_own_write_before(s->v->h, &s->v->facts, s->reader,
                                   s->step->op, s->key) != HF_NONE;

    if (own != (s->w == s->reader))
        return hf_refuse(s->v, "it is another's version that was read");
    if (own)
        return true;
    if (!hf_choice_of(s->v, s->p->sources, s->reader, s->step->op, &choice) ||
        !hf_choice_has(s->v, s->reader, s->step->op, &choice, s->w))
        return hf_refuse(s->v, "operation %u does not read from %s",
                         (unsigned)s->step->op,
                         hf_label_txn(s->v->h, s->w).text);
    hf_proof_assume(s->p,
                    hf_fact_from(s->p, s->reader, s->step->op, &choice, s->w));
    return true;
}

bool hf_proof_read_sum(hf_proof *p, const hf_step *step)
{
    hf_verifier *v = p->v;
    hf_held wanted;
    sum_step s;
    bool out;

    if (!open_sum(p, step, &s))
        return false;
    hf_proof_assume(p, hf_fact_happened(p, s.reader));
    if (!assume_source(&s))
        return false;
    for (uint32_t i = 0; i < p->n_orders; i++)
        if (p->orders[i].key != s.key || !hf_proof_order(p, &p->orders[i]))
            return v->status == HF_OK &&
                   hf_refuse(v, "its orders are of another key");
    wanted = hf_held_of(v->h, hf_item_read_at(v->h, step->op, 0).value);
    out = !is_outside(&s, wanted, false);
    if (out && !is_outside(&s, wanted, true))
        return v->status == HF_OK && hf_refuse(v, "it may add up");
    assume_outcomes(&s, out);
    return !hf_out_of_budget(v);
}

/* proof_lists.c: what a list says about the order of those who appended.
 *
 * The elements of a key stand in version order, those of one transaction next
 * to each other.  A list that somebody read, who happened, is a beginning of
 * that sequence which ends with the last element of a transaction; if the
 * reader appended before, with the last of its own; it has none that the
 * reader appended later.
 *
 * A step names a writer w of the key and puts every other one before it or
 * behind it; who is of unknown outcome and not named did not happen.  Then w's
 * elements begin at a place p that is known, though the order of those before
 * is not: the initial elements and theirs are p.  So
 *
 *   - a list longer than p has w's elements there, all of them; and nothing
 *     behind them, if nobody is behind w or w is the reader;
 *   - a reader who appended before is in its own list: if it is not before w,
 *     the list is longer than p;
 *   - a list that ends just behind w's elements was read from w.
 *
 * One that appends an element that is not in the list is behind all of it, and
 * need not be placed.
 *
 * A list that does not begin with the initial elements, or has one more often
 * than it was appended, or is longer than all that was appended, needs no w.
 *
 * At read uncommitted a list may have elements of those who did not happen
 * besides, at any place, and end anywhere.  There a step begins with the whole
 * order, and it is followed through the list.  Where all are judged so, a good
 * world remains one if nobody of unknown outcome happened: their elements need
 * no place any more, and nothing else is asked of them.  If only committed ones
 * append what is in the list, it is a beginning of the sequence, and a place p
 * tells what stands there, as above.  One of whom nothing is in the list stands
 * behind all of it that happened, or did not happen, and need not be placed.
 *
 * O(list + operations of the writers of the key); at read uncommitted the
 * product.
 */
#include "verify/counters.h"
#include "verify/proof.h"

typedef HF_VEC(hf_value_id) value_list;

typedef struct list_step {
    hf_proof *p;
    hf_verifier *v;
    const hf_step *step;
    const hf_key_index *writers;
    hf_txn_id reader;
    hf_key_id key;
    uint32_t own; /* appends of the reader before it */
    const hf_value_id *items;
    uint32_t n; /* both behind the initial elements */
} list_step;

/* Elements that t appends to the key and that may be in the list. */
static uint32_t count_elements(const list_step *s, hf_txn_id t)
{
    const hf_history *h = s->v->h;
    uint32_t n = 0;

    if (t == s->reader)
        return s->own;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        n += hf_writes_key(h, op, s->key);
    return n;
}

/* ---- the list ------------------------------------------------------------ */

static const hf_value_id *items_of(hf_verifier *v, hf_value_id value,
                                   uint32_t *ret_n)
{
    const hf_history *h = v->h;
    hf_value_id *items;

    *ret_n = 0;
    if (value == HF_NONE || h->value_type[value] != HF_LIST)
        return NULL;
    items = hf_zeros(v, hf_list_items(h, value, NULL), sizeof(*items));
    *ret_n = hf_list_items(h, value, items);
    return items;
}

/* False: it does not begin with the initial elements. */
static bool load_list(list_step *s)
{
    const hf_history *h = s->v->h;
    uint32_t n;
    const hf_value_id *initial =
        items_of(s->v, h->key_initial ? h->key_initial[s->key] : HF_NONE, &n);

    s->items = items_of(s->v, h->op_value[s->step->op], &s->n);
    if (s->n < n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (s->items[i] != initial[i])
            return false;
    if (n > 0)
        s->items += n;
    s->n -= n;
    return true;
}

/* An operation whose list is judged, of one that may have happened. */
static bool open_list(hf_proof *p, const hf_step *step, list_step *s)
{
    hf_verifier *v = p->v;
    const hf_history *h = v->h;
    hf_op_id op = step->op;

    *s = (list_step){.p = p, .v = v, .step = step};
    s->reader = hf_op_txn(h, op);
    s->key = h->op_key[op];
    if (s->key == HF_NONE || !hf_op_counts(h, op) ||
        !hf_op_reads_item(hf_op_kind_of(h, op)) || h->op_value[op] == HF_NONE ||
        v->facts.key_use[s->key] != HF_KEY_LIST ||
        (h->value_type[h->op_value[op]] != HF_LIST &&
         h->value_type[h->op_value[op]] != HF_NIL))
        return hf_refuse(v, "operation %u reads no list", (unsigned)op);
    if (h->txn_outcome[s->reader] == HF_ABORTED)
        return hf_refuse(v, "the transaction of operation %u was aborted",
                         (unsigned)op);
    s->writers = hf_writers_of_keys(v);
    if (!s->writers)
        return false;
    for (hf_op_id o = h->op_first[s->reader]; o < op; o++)
        s->own += hf_writes_key(h, o, s->key);
    return true;
}

/* ---- who happened -------------------------------------------------------- */

static bool is_in_list(const list_step *s, hf_value_id element)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->items[i] == element)
            return true;
    return false;
}

/* It appends what is not in the list: so none of its elements is. */
static bool is_elsewhere(const list_step *s, hf_txn_id t)
{
    const hf_history *h = s->v->h;

    for (hf_op_id op = h->op_first[t];
         t != s->reader && op < h->op_first[t + 1]; op++)
        if (hf_writes_key(h, op, s->key) &&
            !is_in_list(s, hf_op_written(h, op)))
            return true;
    return false;
}

/* Nothing that it appends is in the list. */
static bool is_absent(const list_step *s, hf_txn_id t)
{
    const hf_history *h = s->v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (hf_writes_key(h, op, s->key) && is_in_list(s, hf_op_written(h, op)))
            return false;
    return t != s->reader;
}

/* A literal that is not needed, and that who found it may have named. */
static void spare(const list_step *s, hf_txn_id t, bool happened)
{
    uint32_t literal = hf_fact_happened(s->p, t);

    if (literal != HF_NONE)
        hf_vec_push(&s->p->spare, happened ? literal : literal ^ 1);
}

/* One that the step does not name: it did not happen, or the clause holds. */
static bool leave_out(const list_step *s, hf_txn_id t)
{
    if (s->v->h->txn_outcome[t] == HF_COMMITTED)
        return hf_refuse(s->v, "%s is before or behind, which is not said",
                         hf_label_txn(s->v->h, t).text);
    if (s->v->info->shape == HF_SHAPE_WW && !s->v->w->mixed) {
        spare(s, t, true);
        return true; /* a world in which nobody of these happened will do */
    }
    hf_vec_push(&s->p->literals, hf_fact_happened(s->p, t));
    return true;
}

static bool is_named(const list_step *s, hf_txn_id t)
{
    if (s->step->n == 0 && s->step->writer == t)
        return true;
    for (uint32_t i = 0; i < s->p->n_orders; i++)
        if (s->p->orders[i].from == t || s->p->orders[i].to == t)
            return true;
    return false;
}

/* ---- without a writer ---------------------------------------------------- */

/* Is an element there more often than it was appended? */
static bool has_too_many(const list_step *s)
{
    const hf_history *h = s->v->h;

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t there = 0, appended = 0;

        for (uint32_t k = 0; k < s->n; k++)
            there += s->items[k] == s->items[i];
        for (uint32_t k = s->writers->first[s->key];
             k < s->writers->first[s->key + 1]; k++)
            for (hf_op_id op = h->op_first[s->writers->at[k]];
                 op < h->op_first[s->writers->at[k] + 1]; op++)
                appended += hf_writes_key(h, op, s->key) &&
                            hf_op_written(h, op) == s->items[i];
        if (there > appended)
            return true;
        if (hf_out_of_budget(s->v))
            return false;
    }
    return false;
}

/* There are not so many elements. */
static bool count_all(const list_step *s)
{
    const hf_history *h = s->v->h;
    uint64_t total = 0;

    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1]; k++) {
        hf_txn_id t = s->writers->at[k];

        if (h->txn_outcome[t] == HF_ABORTED)
            continue;
        if (is_named(s, t) || is_elsewhere(s, t))
            spare(s, t, !is_named(s, t));
        if (is_elsewhere(s, t))
            continue;
        if (h->txn_outcome[t] == HF_COMMITTED || is_named(s, t))
            total += count_elements(s, t);
        else
            hf_vec_push(&s->p->literals, hf_fact_happened(s->p, t));
    }
    return s->n > total || hf_refuse(s->v, "the list may be that long");
}

/* ---- with one ------------------------------------------------------------ */

/* How many elements are before those of w, by the orders; *ret_behind: does
 * anybody come after it? */
static bool place_writers(const list_step *s, uint64_t *ret_at,
                          bool *ret_behind)
{
    hf_proof *p = s->p;
    hf_txn_id w = s->step->writer;

    *ret_at = 0;
    *ret_behind = false;
    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1]; k++) {
        hf_txn_id t = s->writers->at[k];

        if (t == w || s->v->h->txn_outcome[t] == HF_ABORTED ||
            (k > s->writers->first[s->key] && s->writers->at[k - 1] == t))
            continue;
        if (hf_proof_has_order(p, w, t, s->key)) {
            *ret_behind |= !is_elsewhere(s, t);
        } else if (is_elsewhere(s, t)) {
            spare(s, t, !hf_proof_has_order(p, t, w, s->key));
        } else if (!hf_proof_has_order(p, t, w, s->key)) {
            if (!leave_out(s, t))
                return false;
        } else if (t == s->reader) {
            return hf_refuse(s->v, "the reader is before the writer");
        } else {
            *ret_at += count_elements(s, t);
            hf_proof_assume(p, hf_fact_happened(p, t));
        }
    }
    return true;
}

/* Do w's elements stand in the list from `at` on? */
static bool stand_there(const list_step *s, uint64_t at, uint64_t *ret_end)
{
    const hf_history *h = s->v->h;
    hf_txn_id w = s->step->writer;
    uint32_t n = 0, most = count_elements(s, w);

    *ret_end = at + most;
    if (*ret_end > s->n)
        return false;
    for (hf_op_id op = h->op_first[w]; op < h->op_first[w + 1] && n < most;
         op++)
        if (hf_writes_key(h, op, s->key) &&
            hf_op_written(h, op) != s->items[at + n++])
            return false;
    return true;
}

static bool follow_writer(const list_step *s)
{
    hf_verifier *v = s->v;
    hf_txn_id w = s->step->writer;
    hf_choice choice;
    uint64_t at, end;
    bool behind;

    if (v->h->txn_outcome[w] == HF_ABORTED ||
        hf_facts_slot(&v->facts, w, s->key) == HF_NONE)
        return hf_refuse(v, "%s does not append to it",
                         hf_label_txn(v->h, w).text);
    for (uint32_t i = 0; i < s->p->n_orders; i++)
        if (s->p->orders[i].key != s->key ||
            !hf_proof_order(s->p, &s->p->orders[i]))
            return v->status == HF_OK &&
                   hf_refuse(v, "its orders are of another key");
    hf_proof_assume(s->p, hf_fact_happened(s->p, w));
    if (!place_writers(s, &at, &behind))
        return false;
    if (s->n <= at)
        return s->own > 0 || hf_refuse(v, "the list ends before %s",
                                       hf_label_txn(v->h, w).text);
    if (w == s->reader && s->own == 0)
        return true; /* it cannot have what is appended later */
    if (!stand_there(s, at, &end) ||
        (end < s->n && (!behind || w == s->reader)))
        return true;
    if (end > s->n || w == s->reader || s->own > 0 ||
        !hf_choice_of(v, s->p->sources, s->reader, s->step->op, &choice) ||
        !hf_choice_has(v, s->reader, s->step->op, &choice, w) || end != s->n)
        return hf_refuse(v, "the list may be so");
    hf_vec_push(&s->p->literals,
                hf_fact_from(s->p, s->reader, s->step->op, &choice, w));
    return true;
}

/* ---- read uncommitted ---------------------------------------------------- */

/* An element that somebody appended who is not in the order. */
static bool may_be_dirty(const list_step *s, hf_value_id element)
{
    const hf_history *h = s->v->h;

    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1]; k++) {
        hf_txn_id t = s->writers->at[k];

        for (hf_op_id op = h->op_first[t];
             !is_named(s, t) && op < h->op_first[t + 1]; op++)
            if (hf_writes_key(h, op, s->key) && hf_op_written(h, op) == element)
                return true;
    }
    return false;
}

static void add_elements(const list_step *s, hf_txn_id t, value_list *values,
                         uint32_t *ret_own)
{
    const hf_history *h = s->v->h;
    uint32_t n = 0;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (!hf_writes_key(h, op, s->key))
            continue;
        hf_vec_push(values, hf_op_written(h, op));
        if (t == s->reader && ++n == s->own)
            *ret_own = (uint32_t)values->n;
    }
}

/* Is the list the beginning of `all`, with others in between?  After own
 * appends it ends with element number `own`. */
static bool is_beginning(const list_step *s, const value_list *all,
                         uint32_t own)
{
    bool *now = hf_zeros(s->v, all->n + 2, sizeof(*now));
    bool any = true, ends = false;

    now[0] = true;
    for (uint32_t i = 0; i < s->n && any && !hf_out_of_budget(s->v); i++) {
        bool dirty = may_be_dirty(s, s->items[i]);

        any = ends = false;
        for (size_t k = all->n + 1; k-- > 0;) {
            bool comes = k > 0 && now[k - 1] && all->at[k - 1] == s->items[i];

            now[k] = comes || (dirty && now[k]);
            any |= now[k];
            ends |= comes && k == own;
        }
    }
    return any && (s->own == 0 || ends);
}

/* Behind the order there may be more of it: that a is before c. */
static bool stands_in_chain(const list_step *s, hf_txn_id t)
{
    const hf_edge *e = s->p->orders;

    for (uint32_t i = 0; i < s->p->n_orders; i++) {
        if (i > 0 && e[i].from != e[i - 1].to)
            return false;
        if (e[i].from == t || e[i].to == t)
            return true;
    }
    return false;
}

static bool follow_order(const list_step *s)
{
    hf_proof *p = s->p;
    value_list all = {0};
    uint32_t own = 0;
    bool fine = true, chain = true;

    for (uint32_t i = 0; i < p->n_orders && fine; i++) {
        fine = p->orders[i].key == s->key && hf_proof_order(p, &p->orders[i]);
        chain &= i == 0 || p->orders[i].from == p->orders[i - 1].to;
        if (i == 0)
            add_elements(s, p->orders[i].from, &all, &own);
        if (chain)
            add_elements(s, p->orders[i].to, &all, &own);
        else
            fine &= stands_in_chain(s, p->orders[i].from) &&
                    stands_in_chain(s, p->orders[i].to);
    }
    if (p->n_orders == 0 && s->step->writer != HF_NONE)
        add_elements(s, s->step->writer, &all, &own);
    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1] && fine; k++) {
        hf_txn_id t = s->writers->at[k];

        if (s->v->h->txn_outcome[t] == HF_ABORTED)
            continue;
        if (is_named(s, t))
            hf_proof_assume(p, hf_fact_happened(p, t));
        else if (is_absent(s, t))
            spare(s, t, true);
        else
            fine = leave_out(s, t);
    }
    fine = fine && !is_beginning(s, &all, own);
    hf_vec_release(&all);
    return fine || hf_refuse(s->v, "the list may be so, or its orders are no "
                                   "order of all");
}

/* ---- read uncommitted, of committed ones --------------------------------- */

/* Whoever appends what is in the list was committed. */
static bool is_clean(const list_step *s)
{
    const hf_history *h = s->v->h;

    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1]; k++) {
        hf_txn_id t = s->writers->at[k];

        for (hf_op_id op = h->op_first[t];
             h->txn_outcome[t] != HF_COMMITTED && op < h->op_first[t + 1]; op++)
            if (hf_writes_key(h, op, s->key) &&
                is_in_list(s, hf_op_written(h, op)))
                return false;
    }
    return true;
}

/* Then it is a beginning of the sequence, wherever it ends: those before w and
 * w itself are in it as far as it goes. */
static bool follow_clean(const list_step *s)
{
    const hf_history *h = s->v->h;
    hf_proof *p = s->p;
    hf_txn_id w = s->step->writer;
    uint64_t at = 0;

    for (uint32_t i = 0; i < p->n_orders; i++)
        if (p->orders[i].key != s->key || !hf_proof_order(p, &p->orders[i]))
            return s->v->status == HF_OK &&
                   hf_refuse(s->v, "its orders are of another key");
    hf_proof_assume(p, hf_fact_happened(p, w));
    for (uint32_t k = s->writers->first[s->key];
         k < s->writers->first[s->key + 1]; k++) {
        hf_txn_id t = s->writers->at[k];

        if (t == w || h->txn_outcome[t] == HF_ABORTED ||
            hf_proof_has_order(p, w, t, s->key))
            continue;
        if (!hf_proof_has_order(p, t, w, s->key)) {
            if (is_absent(s, t))
                spare(s, t, true);
            else if (!leave_out(s, t))
                return false;
            continue;
        }
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            at += hf_writes_key(h, op, s->key);
        hf_proof_assume(p, hf_fact_happened(p, t));
    }
    for (hf_op_id op = h->op_first[w]; op < h->op_first[w + 1]; op++)
        if (hf_writes_key(h, op, s->key) && at < s->n &&
            hf_op_written(h, op) != s->items[at++])
            return true;
    return hf_refuse(s->v, "the list may be so");
}

/* ---- all ----------------------------------------------------------------- */

bool hf_proof_read_list(hf_proof *p, const hf_step *step)
{
    list_step s;

    p->orders = p->v->w->edges + step->first;
    p->n_orders = step->n;
    if (p->v->h->op_key[step->op] != HF_NONE &&
        hf_is_counter(&p->v->facts, p->v->h->op_key[step->op]))
        return hf_proof_read_sum(p, step);
    if (!open_list(p, step, &s))
        return false;
    p->is_short[p->at] = true; /* who found it may have named more */
    hf_proof_assume(p, hf_fact_happened(p, s.reader));
    if (!load_list(&s) || has_too_many(&s))
        return true;
    if (!hf_reads_matter_to(p->v, s.reader))
        return step->writer != HF_NONE && step->n > 0 && is_clean(&s)
                   ? follow_clean(&s)
                   : follow_order(&s);
    return step->writer == HF_NONE ? count_all(&s) : follow_writer(&s);
}

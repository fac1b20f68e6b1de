/* proof_faults.c: an operation that is wrong whatever else is so.
 *
 * Such a thing, done by a transaction that certainly happened, is an anomaly by
 * itself (operations.c).  By one of unknown outcome it says that this did not
 * happen: the clause of the step.  So the same rules are asked, with the
 * transaction taken to have happened; who did what else is found here, the step
 * names the operation alone:
 *
 *   garbage, an increment that does not add up, sets of a condition that
 *   contradict themselves, an element too often in a list: the operation
 *   an own write that was not seen, a read, a row or the order of a list that
 *   was not repeated: the operations of its transaction before it
 *   a condition that did not return a row, where its level has INT and another
 *   of its operations saw one of that key satisfy the condition
 *   from read-committed up a read with no possible source (sources.h), or a
 *   list with an element of aborted transactions alone
 *
 * With another transaction, taken to have happened as well, the clause says
 * that one of the two did not:
 *
 *   two lists of a key in different orders, or an update of a version that the
 *   other replaced: the operation, and what the other did
 *
 * O(operations of the transactions, times those of the rules; for lists those
 * of the history; for updates the reads of the other times the keys that both
 * write).
 */
#include "verify/operations.h"
#include "verify/proof.h"

typedef struct fault {
    const hf_proof *p;
    const hf_certain *c;
    const hf_history *h;
    hf_txn_id t;
    hf_op_id op;
} fault;

static bool shows(const fault *f, hf_anomaly anomaly, hf_op_id with)
{
    hf_op_id ops[2] = {with, f->op};

    return with == HF_NONE ? hf_operations_show(f->c, anomaly, &f->op, 1)
                           : hf_operations_show(f->c, anomaly, ops, 2);
}

/* By itself, or with what its transaction did before. */
static bool is_wrong_alone(const fault *f)
{
    const hf_history *h = f->h;
    hf_set_fault sets = HF_SET_FINE;

    if (hf_op_has_predicate(hf_op_kind_of(h, f->op)))
        sets = hf_predicate_judge(f->c->v, f->op);
    if (sets == HF_SET_MISMATCH || sets == HF_SET_TWO_VERSIONS ||
        shows(f, HF_SEMANTIC_ERROR, HF_NONE) ||
        shows(f, HF_GARBAGE_READ, HF_NONE) ||
        shows(f, HF_DUPLICATE_WRITE, HF_NONE))
        return true;
    for (hf_op_id op = f->op; op-- > h->op_first[f->t];)
        if (shows(f, HF_INTERNAL, op) || shows(f, HF_NON_REPEATABLE_READ, op) ||
            shows(f, HF_PHANTOM, op) || shows(f, HF_INCOMPATIBLE_ORDER, op))
            return true;
    return false;
}

/* What a condition did not return does not satisfy it; of rows without a
 * version set that is said where every version of the key can be judged. */
static bool is_not_returned(const fault *f, hf_key_id key)
{
    hf_verifier *v = f->c->v;
    hf_choice choice;

    if (v->facts.key_use[key] & (HF_KEY_LIST | HF_KEY_BLIND) ||
        hf_own_write_before(f->h, &v->facts, f->t, f->op, key) != HF_NONE)
        return false;
    return hf_look_at_key(v, f->op, key) == HF_LOOK_VIEW ||
           (hf_is_unlisted(v, f->t, f->op, key) &&
            hf_unlisted_choice(v, f->t, f->op, key, &choice));
}

/* A version of another that `op` returned satisfies the condition. */
static bool was_seen(const fault *f, hf_op_id op, const hf_item_read *read)
{
    hf_verifier *v = f->c->v;

    return hf_own_write_before(f->h, &v->facts, f->t, op, read->key) ==
               HF_NONE &&
           hf_look_at_key(v, op, read->key) == HF_LOOK_ITEM &&
           hf_predicate_match(v, hf_predicate_condition(v, f->op),
                              read->value) == HF_MATCH_YES;
}

static bool misses_what_was_seen(const fault *f)
{
    hf_verifier *v = f->c->v;
    const hf_history *h = f->h;

    if (!hf_op_has_predicate(hf_op_kind_of(h, f->op)) ||
        !hf_level_of(v, f->t)->internal || !hf_reads_matter_to(v, f->t))
        return false;
    for (hf_op_id op = h->op_first[f->t]; op < h->op_first[f->t + 1]; op++) {
        uint32_t n =
            op == f->op || !hf_op_counts(h, op) ? 0 : hf_item_reads(h, op);

        for (uint32_t i = 0; i < n; i++) {
            hf_item_read read = hf_read_at(v, op, i);

            if (was_seen(f, op, &read) && is_not_returned(f, read.key))
                return true;
        }
        if (hf_out_of_budget(v))
            return false;
    }
    return false;
}

/* Is it a read that nobody can have written so that it may be read? */
static bool has_no_source(const fault *f)
{
    hf_choice choice;

    return f->h->op_key[f->op] != HF_NONE &&
           hf_choice_of(f->c->v, f->p->sources, f->t, f->op, &choice) &&
           choice.n == 0 &&
           (choice.value != HF_NONE ||
            !(f->c->v->facts.key_use[f->h->op_key[f->op]] & HF_KEY_LIST));
}

/* A list with an element that only aborted ones appended. */
static bool has_aborted_element(const fault *f)
{
    const hf_history *h = f->h;
    hf_key_id key = h->op_key[f->op];

    if (key == HF_NONE || !(f->c->v->facts.key_use[key] & HF_KEY_LIST))
        return false;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (h->op_key[op] == key && hf_op_writes(h, op) &&
            h->txn_outcome[hf_op_txn(h, op)] == HF_ABORTED &&
            shows(f, HF_G1A, op))
            return true;
    return false;
}

/* ---- with another -------------------------------------------------------- */

/* The one of u's operations that installs its version of key; HF_NONE. */
static hf_op_id installs(const fault *f, hf_txn_id u, hf_key_id key)
{
    const hf_facts *facts = &f->c->v->facts;
    uint32_t slot = hf_facts_slot(facts, u, key);

    return slot == HF_NONE ? HF_NONE : facts->write_op[slot];
}

/* Do both read one version of a key and replace it? */
static bool updates_the_same(const fault *f, hf_txn_id u)
{
    const hf_history *h = f->h;
    const hf_facts *facts = &f->c->v->facts;

    for (uint32_t s = facts->write_first[f->t];
         s < facts->write_first[f->t + 1]; s++) {
        hf_op_id theirs = installs(f, u, facts->write_key[s]);
        hf_txn_id source;

        if (theirs == HF_NONE ||
            !hf_certain_source(f->c, f->t, f->op, facts->write_key[s], &source))
            continue;
        for (hf_op_id op = h->op_first[u]; op < h->op_first[u + 1]; op++) {
            hf_op_id ops[4] = {op, theirs, f->op, facts->write_op[s]};

            if (hf_operations_show(f->c, HF_LOST_UPDATE, ops, 4))
                return true;
        }
    }
    return false;
}

static bool is_wrong_with(const fault *f, hf_txn_id u)
{
    for (hf_op_id op = f->h->op_first[u]; op < f->h->op_first[u + 1]; op++)
        if (shows(f, HF_INCOMPATIBLE_ORDER, op))
            return true;
    return updates_the_same(f, u);
}

/* One of the two did not happen. */
static bool read_pair(hf_proof *p, const fault *f, hf_txn_id u)
{
    hf_verifier *v = p->v;
    bool first = f->c->happened[f->t], second = f->c->happened[u], wrong;

    if (u == f->t || v->h->txn_outcome[u] == HF_ABORTED)
        return hf_refuse(v, "%s is no other transaction that may have happened",
                         hf_label_txn(v->h, u).text);
    f->c->happened[f->t] = f->c->happened[u] = true;
    wrong = is_wrong_with(f, u);
    f->c->happened[f->t] = first;
    f->c->happened[u] = second;
    if (!wrong)
        return v->status == HF_OK &&
               hf_refuse(v, "nothing is wrong with operation %u and %s",
                         (unsigned)f->op, hf_label_txn(v->h, u).text);
    hf_proof_assume(p, hf_fact_happened(p, f->t));
    hf_proof_assume(p, hf_fact_happened(p, u));
    return !hf_out_of_budget(v);
}

bool hf_proof_read_fault(hf_proof *p, const hf_step *step)
{
    hf_verifier *v = p->v;
    fault f = {p, p->c, v->h, hf_op_txn(v->h, step->op), step->op};
    bool before, wrong = false;

    if (!hf_op_counts(v->h, f.op) || v->h->txn_outcome[f.t] == HF_ABORTED)
        return hf_refuse(v, "operation %u failed, or was aborted",
                         (unsigned)f.op);
    if (step->writer != HF_NONE)
        return read_pair(p, &f, step->writer);
    before = f.c->happened[f.t];
    f.c->happened[f.t] = true;
    wrong = is_wrong_alone(&f) || misses_what_was_seen(&f) ||
            (hf_reads_matter_to(v, f.t) &&
             (has_no_source(&f) || has_aborted_element(&f)));
    f.c->happened[f.t] = before;
    if (!wrong)
        return v->status == HF_OK &&
               hf_refuse(v, "nothing is wrong with operation %u by itself",
                         (unsigned)f.op);
    hf_proof_assume(p, hf_fact_happened(p, f.t));
    return !hf_out_of_budget(v);
}

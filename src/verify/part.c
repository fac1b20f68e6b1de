/* part.c: proofs that are about a core.
 *
 * Such a proof is one like any other, and is checked in the whole history as
 * those are.  Besides, it lists transactions, and holds in the history
 * restricted to those (history/part.h), where it is checked once more:
 * whatever it names is in the core, and what is known without words is known
 * of the core alone, so these transactions are impossible by themselves.  Only
 * in its core is a proof checked that has to do with who appended to a list,
 * which is another list with more, or with conditions.  What is impossible in a
 * part is so in the whole.
 *
 * A core of at most HF_CORE_MOST is enumerated as well (core_search.c), which
 * cuts the history by code of its own, if the witness says so; and so is the
 * rest of it without each of them, if it is to be minimal.  That larger ones
 * are minimal is not checked.  Where there are conditions nothing is cut; then
 * the proof is checked in the whole, and that the core is one by enumeration.
 *
 * O(operations of the history), and the proof in the core.
 */
#include "verify/verifier.h"

#include <stdlib.h>
#include <string.h>

#include "history/part.h"
#include "verify/core.h"
#include "verify/proof.h"

static int by_id(const void *a, const void *b)
{
    const hf_txn_id *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

hf_txn_id *hf_core_sorted(hf_verifier *v)
{
    const hf_witness *w = v->w;
    hf_txn_id *txns = hf_zeros(v, w->n_order, sizeof(*txns));

    memcpy(txns, w->order, w->n_order * sizeof(*txns));
    qsort(txns, w->n_order, sizeof(*txns), by_id);
    for (uint32_t i = 1; i < w->n_order; i++)
        if (txns[i] == txns[i - 1]) {
            (void)hf_refuse(v, "%s is in the core twice",
                            hf_label_txn(v->h, txns[i]).text);
            return NULL;
        }
    return txns;
}

/* Facts of the part, as the whole has them. */
static void turn_view(const hf_part *part, hf_proof_view *view)
{
    for (uint32_t i = 0; i < view->n_facts; i++) {
        hf_fact *f = &view->facts[i];

        f->key = f->key == HF_NONE ? HF_NONE : part->keys[f->key];
        f->a = f->a == HF_NONE ? HF_NONE : part->txns[f->a];
        f->b = f->b == HF_NONE ? HF_NONE : part->txns[f->b];
        f->op = f->op == HF_NONE ? HF_NONE : part->ops[f->op];
    }
}

static bool check_in(hf_verifier *v, const hf_part *part)
{
    hf_claim claim = {.verdict = HF_INVALID, .level = v->level};
    hf_verification answer = {.accepted = false};
    hf_verify_session *inner;

    if (!hf_part_from_whole(part, v->w, &v->claim.arena, &claim.witness))
        return hf_refuse(v, "the proof speaks of what is not in its core");
    claim.witness.order = NULL;
    claim.witness.n_order = 0;
    claim.witness.minimal = claim.witness.confirmed = false;
    inner = hf_verify_open(part->h);
    hf_verify_set_dialect(inner, v->dialect);
    inner->view = v->view;
    v->status = hf_verify_claim_in(inner, &claim, v->budget, &answer, v->err);
    hf_verify_close(inner);
    if (v->view && v->view->is_kept)
        turn_view(part, v->view->ret);
    if (v->status == HF_OK && !answer.accepted)
        return hf_refuse(v, "in its core, %s", answer.reason);
    return v->status == HF_OK;
}

/* As if it listed no core; that it holds in the core is what is shown. */
static bool check_whole(hf_verifier *v)
{
    struct hf_view_wanted *view = v->view;
    bool fine;

    if (hf_has_predicates(v->h))
        return true; /* others may have changed the matches */
    for (uint32_t i = 0; i < v->w->n_steps; i++)
        if (v->w->steps[i].kind == HF_STEP_LIST)
            return true; /* it speaks of all who appended: of the core */
    v->view = NULL;
    fine = hf_verify_proof(v);
    v->view = view;
    return fine;
}

/* Has the history, restricted to the transactions of w, an order? */
static bool has_order(hf_verifier *v, const hf_witness *w)
{
    const hf_witness *kept = v->w;
    hf_core *c = hf_zeros(v, 1, sizeof(*c));
    bool found;

    v->w = w;
    found = hf_core_build(v, c) && hf_core_has_order(c);
    v->w = kept;
    return found;
}

/* Where there are conditions the history is not cut: the proof is one about
 * the whole, and its core, if it is small, is enumerated. */
static bool check_apart(hf_verifier *v)
{
    if (v->w->n_order > HF_CORE_MOST)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "a proof about a core of more than %d transactions "
                          "is not checked where there are predicate "
                          "operations or statements",
                          HF_CORE_MOST);
    if (!hf_verify_proof(v))
        return false;
    if (has_order(v, v->w))
        return hf_refuse(v, "these transactions alone are valid at %s",
                         v->w->mixed ? "their levels" : v->info->name);
    return v->status == HF_OK && hf_verify_small(v);
}

bool hf_verify_part_proof(hf_verifier *v)
{
    hf_txn_id *txns = hf_core_sorted(v);
    hf_parts parts;
    hf_part part;
    bool fine;

    if (!txns)
        return false;
    if (!hf_parts_init(&parts, v->h))
        return check_apart(v);
    hf_part_cut(&parts, txns, v->w->n_order, &part);
    fine = check_whole(v) && check_in(v, &part);
    hf_part_release(&part);
    hf_parts_release(&parts);
    return fine && hf_verify_small(v);
}

/* ---- by enumeration ------------------------------------------------------ */

bool hf_verify_small(hf_verifier *v)
{
    const hf_witness *w = v->w;
    hf_witness rest = {.kind = HF_WITNESS_CORE, .mixed = w->mixed};
    hf_txn_id all[HF_CORE_MOST];

    if (w->n_order > HF_CORE_MOST)
        return !w->confirmed ||
               hf_refuse(v,
                         "a core of more than %d transactions is not "
                         "enumerated",
                         HF_CORE_MOST);
    rest.order = all;
    rest.n_order = w->n_order;
    memcpy(all, w->order, w->n_order * sizeof(*all));
    if (w->confirmed && w->kind == HF_WITNESS_PROOF && has_order(v, &rest))
        return hf_refuse(v, "the core was not confirmed: it is valid");
    rest.n_order--;
    for (uint32_t i = 0; w->minimal && w->n_order > 1 && i < w->n_order; i++) {
        memcpy(all, w->order, w->n_order * sizeof(*all));
        all[i] = all[w->n_order - 1];
        if (v->status == HF_OK && !has_order(v, &rest) && v->status == HF_OK)
            return hf_refuse(v,
                             "the core is not minimal: it is invalid "
                             "without %s",
                             hf_label_txn(v->h, w->order[i]).text);
    }
    return v->status == HF_OK;
}

/* proof_promises.c: the clause of what a witness assumes of two versions.
 *
 * The step names two operations on one key, of two transactions or of one, and
 * what each touches (rests.h): the version it reads, with no own write of the
 * key before, or the one that its transaction installs.  If an assumption of
 * the witness is about these two, the first version is before the second in
 * every world that keeps it, provided that both happened and that the reads
 * come from where the step says.  Where reads do not count, a read touches what
 * it certainly returned, if the writer of that happened.  Nothing is before the
 * initial version, so if that is the second, one of those is not so.
 *
 * Cost: that of the two reads (sources.h).
 */
#include "verify/proof.h"
#include "verify/rests.h"

/* At read-uncommitted: what the operation certainly returned, if its writer
 * happened. */
static bool read_certain(hf_proof *p, const hf_edge *e, hf_txn_id t,
                         hf_op_id op, hf_txn_id *ret_writer)
{
    hf_verifier *v = p->v;
    hf_item_read read;

    if (hf_own_write_before(v->h, &v->facts, t, op, e->key) != HF_NONE)
        return hf_refuse_edge(v, e, "it reads behind an own write");
    if (!hf_op_has_predicate(hf_op_kind_of(v->h, op))) {
        if (hf_item_reads(v->h, op) != 1)
            return hf_refuse_edge(v, e, "it reads nothing");
        read = hf_item_read_at(v->h, op, 0);
    } else if (hf_look_at_key(v, op, e->key) != HF_LOOK_ITEM ||
               (hf_has_snapshot(v, op)
                    ? !hf_entry_of(v, t, op, e->key, &read)
                    : !hf_read_of_key(v, op, e->key, &read))) {
        return hf_refuse_edge(v, e, "it did not return the key");
    }
    if (!hf_certainly_touches(v, t, &read, ret_writer))
        return hf_refuse_edge(v, e, "it is not certain what it read");
    if (*ret_writer != HF_NONE)
        hf_proof_assume(p, hf_fact_happened(p, *ret_writer));
    return true;
}

/* Who wrote the version that t's operation touches, HF_NONE: it is the initial
 * one; and what that takes for granted. */
static bool read_touch(hf_proof *p, const hf_edge *e, hf_txn_id t, hf_op_id op,
                       hf_txn_id *ret_writer)
{
    hf_verifier *v = p->v;
    size_t at = (size_t)(e - v->w->edges);
    uint32_t chosen = v->w->chosen ? v->w->chosen[at] : HF_CHOSEN_ONLY, slot;

    if (v->h->txn_outcome[t] == HF_ABORTED || !hf_op_counts(v->h, op))
        return hf_refuse_edge(v, e, "one of its transactions was aborted");
    hf_proof_assume(p, hf_fact_happened(p, t));
    if (e->kind == HF_EDGE_WW) {
        slot = hf_facts_slot(&v->facts, t, e->key);
        *ret_writer = t;
        return (slot != HF_NONE && v->facts.write_op[slot] == op) ||
               hf_refuse_edge(v, e, "it does not install its version");
    }
    if (e->kind != HF_EDGE_WR)
        return hf_refuse_edge(v, e, "it has no read of another's version");
    if (!hf_reads_matter_to(v, t))
        return read_certain(p, e, t, op, ret_writer);
    if (!hf_proof_check_read(p, e, t, op, chosen, ret_writer,
                             &p->edge_from[at]))
        return false;
    hf_proof_assume(p, p->edge_from[at]);
    return true;
}

/* Is an assumption about these two? */
static bool is_assumed(const hf_verifier *v, const hf_edge *e)
{
    unsigned rests = v->w->rests;

    return ((rests & HF_REST_LINEARIZABLE) &&
            hf_time_before(v->h, e->from, e->to)) ||
           ((rests & HF_REST_SEQUENTIAL) &&
            hf_session_before(v->h, e->from, e->to)) ||
           ((rests & HF_REST_READS) && e->from == e->to &&
            e[0].kind == HF_EDGE_WR && e[1].kind == HF_EDGE_WW);
}

/* A condition is about every key that it looked at. */
static bool is_about(const hf_history *h, hf_op_id op, hf_key_id key)
{
    return h->op_key[op] == key || hf_op_has_predicate(hf_op_kind_of(h, op));
}

static bool has_operations(const hf_verifier *v, const hf_edge *e)
{
    const hf_history *h = v->h;

    return e[0].from == e[1].from && e[0].to == e[1].to &&
           e[0].from_op == e[1].from_op && e[0].to_op == e[1].to_op &&
           e[0].key == e[1].key && e->key != HF_NONE && e->from_op < h->n_ops &&
           e->to_op < h->n_ops && hf_op_txn(h, e->from_op) == e->from &&
           hf_op_txn(h, e->to_op) == e->to && is_about(h, e->from_op, e->key) &&
           is_about(h, e->to_op, e->key);
}

bool hf_proof_read_promise(hf_proof *p, const hf_step *step)
{
    hf_verifier *v = p->v;
    const hf_edge *e = v->w->edges + step->first;
    hf_txn_id a, b;

    if (step->n != 2 || !has_operations(v, e))
        return hf_refuse(v, "a promise is about two operations on one key");
    if (!read_touch(p, &e[0], e->from, e->from_op, &a) ||
        !read_touch(p, &e[1], e->to, e->to_op, &b))
        return false;
    if (a == b || a == HF_NONE || !is_assumed(v, e))
        return hf_refuse_edge(v, e,
                              "no assumption puts the one version "
                              "before the other");
    if (b != HF_NONE) /* the other way round is not so */
        hf_proof_assume(p,
                        hf_fact_before(p, hf_facts_slot(&v->facts, b, e->key),
                                       hf_facts_slot(&v->facts, a, e->key)));
    return true;
}

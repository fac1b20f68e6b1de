/* versions.c: versions of a key in a circle, under assumptions.
 *
 * The operations are pairs: the version that the first of a pair touches is
 * before the version that the second touches, and the next pair goes on from
 * there.  The last leads back to where the first began, or to the initial
 * version, which is before all others.  A pair follows from an assumption of
 * the witness about these two operations, or from what is certain about the
 * two versions; one at least from an assumption.
 *
 * An increment touches two versions, the one it reads and the one it writes;
 * both are tried.  Linear in the pairs, apart from what certain.h costs.
 */
#include "verify/operations.h"
#include "verify/rests.h"

/* Where a chain of pairs has led to, with the last operation as a read [0]
 * and as a write [1]. */
typedef struct reach {
    bool there;
    bool assumed; /* a pair on the way follows from an assumption */
    hf_txn_id version;
} reach;

/* The version that a step touches, as a write or as a read.  It must exist in
 * every world. */
static bool version_of(const hf_certain *c, const hf_cited *s, hf_key_id key,
                       int as_write, hf_txn_id *ret)
{
    uint32_t slot;

    if (!c->happened[s->t])
        return false;
    if (!as_write)
        return hf_certain_source(c, s->t, s->op, key, ret) &&
               (*ret == HF_NONE || c->happened[*ret]);
    slot = hf_facts_slot(&c->v->facts, s->t, key);
    *ret = s->t;
    return slot != HF_NONE && c->v->facts.write_op[slot] == s->op;
}

/* Does an assumption put the version that a touches before that of b? */
static bool is_assumed(const hf_certain *c, const hf_cited *a,
                       const hf_cited *b, bool read_then_write)
{
    unsigned rests = c->v->w->rests;

    return ((rests & HF_REST_LINEARIZABLE) &&
            hf_time_before(c->v->h, a->t, b->t)) ||
           ((rests & HF_REST_SEQUENTIAL) &&
            hf_session_before(c->v->h, a->t, b->t)) ||
           ((rests & HF_REST_READS) && a->t == b->t && read_then_write);
}

/* One more pair, from `at` to `ret`. */
static bool extend(const hf_certain *c, const hf_cited *pair, hf_key_id key,
                   const reach *at, reach *ret)
{
    for (int role = 0; role < 4; role++) {
        int from = role / 2, to = role % 2;
        hf_txn_id a, b;
        bool assumed, known = false;

        if (!version_of(c, &pair[0], key, from, &a) ||
            !version_of(c, &pair[1], key, to, &b) || a == b)
            continue;
        for (int i = 0; i < 2; i++)
            known |= at[i].there && at[i].version == a;
        if (!known)
            continue;
        assumed =
            is_assumed(c, &pair[0], &pair[1], !from && to) ||
            (a != HF_NONE && b != HF_NONE && hf_recorded_before(c, a, b, key));
        if (!assumed && (b == HF_NONE || !hf_certainly_before(c, a, b, key)))
            continue;
        for (int i = 0; i < 2; i++)
            assumed |= at[i].there && at[i].version == a && at[i].assumed;
        ret[to].assumed = assumed || (ret[to].there && ret[to].assumed);
        ret[to].there = true;
        ret[to].version = b;
    }
    return ret[0].there || ret[1].there;
}

/* Follows the pairs from the version `start`. */
static bool leads_around(const hf_certain *c, const hf_cited *s, uint32_t n,
                         hf_key_id key, hf_txn_id start)
{
    reach at[2] = {{true, false, start}, {false, false, HF_NONE}};
    bool closed = false;

    for (uint32_t i = 0; i < n; i += 2) {
        reach next[2] = {{0}};

        if (!extend(c, &s[i], key, at, next))
            return hf_refuse(c->v,
                             "the operations do not show cyclic versions: "
                             "operations %u and %u do not continue the chain",
                             (unsigned)s[i].op, (unsigned)s[i + 1].op);
        at[0] = next[0];
        at[1] = next[1];
        if (hf_out_of_budget(c->v))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        bool back =
            at[i].there && (at[i].version == start || at[i].version == HF_NONE);

        closed |= back;
        if (back && at[i].assumed)
            return true;
    }
    return hf_refuse_steps(c, closed ? "no pair follows from an assumption"
                                     : "the versions do not form a circle");
}

bool hf_check_cyclic_versions(const hf_certain *c, const hf_cited *s,
                              uint32_t n)
{
    hf_key_id key = HF_NONE;
    hf_txn_id start;
    bool any = false;

    if (n % 2 != 0)
        return hf_refuse_steps(c, "expected pairs of operations");
    for (uint32_t i = 0; i < n; i++) {
        if (s[i].key == HF_NONE)
            continue;
        if (key != HF_NONE && s[i].key != key)
            return hf_refuse_steps(c, "they are not all of one key");
        key = s[i].key;
    }
    if (key == HF_NONE)
        return hf_refuse_steps(c, "expected reads and writes of a key");
    for (int as_write = 0; as_write < 2; as_write++) {
        if (!version_of(c, &s[0], key, as_write, &start))
            continue;
        any = true;
        if (leads_around(c, s, n, key, start))
            return true;
        if (c->v->status != HF_OK)
            return false;
    }
    return !any && hf_refuse_steps(c, "it is not certain which version the "
                                      "first operation touches");
}

/* chains.c: chains of read-modify-writes.
 *
 * Let b read x from a, with no own write of x before, and install x.  At a
 * level that forbids lost updates nothing stands between the two versions,
 * and b's is the later one:
 *
 *   - if b's were before a's there would be a cycle a -wr-> b -ww-> a, which
 *     every level from read-committed up forbids;
 *   - if a version of c were between them there would be a cycle
 *     b -rw-> c -ww-> b: b read a version before c's, and c's is before b's.
 *     It has one anti-dependency, of an item, and no two that are adjacent,
 *     so it is forbidden where no cycle may have exactly one (consistent
 *     view, parallel snapshot isolation and its strong-session form), where
 *     none may have an anti-dependency of items (repeatable read), where each
 *     must have two adjacent ones (snapshot isolation and its strong forms),
 *     and where there may be none at all (serializable and its strong forms).
 *     These are the levels that imply consistent view or repeatable read,
 *     which is where a lost update is an error.
 *
 * So for every third version, "before a's" and "before b's" are one fact,
 * provided that a and b happened in every good world and b's source is the
 * only possible one.  Where two transactions read and replaced one version, or
 * one read two versions before it wrote, no good world exists: any choice is
 * right then, and none is made.
 *
 * If b read and replaced the initial version of x, its chain is the first of
 * the key, for the same reasons: it is before every other.
 *
 * With mixed levels it is b's own level that matters: both cycles have no
 * other demand than b's, and the order of versions.
 *
 * O(operations), once.
 */
#include "verify/sources.h"

/* Two, or not the only one. */
#define NO_LINK (HF_NONE - 1)

typedef struct links {
    uint32_t *parent, *child; /* per slot: HF_NONE, NO_LINK */
    bool *leads;              /* per slot: replaced the initial version */
} links;

static void set_link(uint32_t *link, uint32_t slot)
{
    *link = *link == HF_NONE || *link == slot ? slot : NO_LINK;
}

/* The versions that t read and replaced. */
static void link_reads(const hf_certain *c, const hf_sources *s, hf_txn_id t,
                       links *l)
{
    hf_verifier *v = c->v;
    const hf_history *h = v->h;

    if (!hf_level_forbids(hf_level_of(v, t)->level, HF_LOST_UPDATE))
        return;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        uint32_t a, b;
        hf_choice choice;
        hf_txn_id source;

        if (s->first_read[op] == HF_NONE)
            continue;
        b = hf_facts_slot(&v->facts, t, h->op_key[op]);
        if (b == HF_NONE)
            continue;
        if (!hf_choice_of(v, s, t, op, &choice) ||
            !hf_choice_only(t, &choice, &source))
            continue;
        if (source == HF_NONE)
            l->leads[b] = true;
        if (source == HF_NONE || !c->happened[source])
            continue;
        a = hf_facts_slot(&v->facts, source, h->op_key[op]);
        set_link(&l->parent[b], a);
    }
}

static void walk(const hf_chains *chains, const links *l, uint32_t head)
{
    uint32_t place = 0, next;

    for (uint32_t at = head; at != HF_NONE; at = next) {
        next = l->child[at] < NO_LINK ? l->child[at] : HF_NONE;
        chains->head[at] = head;
        chains->place[at] = place++;
        chains->leads[at] = l->leads[head];
        chains->next[at] = next;
    }
    chains->length[head] = place;
}

const hf_chains *hf_chains_get(const hf_certain *c, const hf_sources *s)
{
    hf_verifier *v = c->v;
    uint32_t n_slots = v->facts.write_first[v->h->n_txns];
    unsigned which = v->w->mixed ? 1 + (unsigned)v->level : 0;
    hf_chains *chains = v->chains[which];
    links l;

    if (chains || hf_out_of_budget(v))
        return chains;
    chains = hf_kept_zeros(v, 1, sizeof(*chains));
    chains->head = hf_kept_zeros(v, n_slots, sizeof(*chains->head));
    chains->place = hf_kept_zeros(v, n_slots, sizeof(*chains->place));
    chains->leads = hf_kept_zeros(v, n_slots, sizeof(*chains->leads));
    chains->next = hf_kept_nones(v, n_slots, sizeof(*chains->next));
    chains->length = hf_kept_zeros(v, n_slots, sizeof(*chains->length));
    l.leads = hf_kept_zeros(v, n_slots, sizeof(*l.leads));
    l.parent = hf_nones(v, n_slots, sizeof(*l.parent));
    l.child = hf_nones(v, n_slots, sizeof(*l.child));
    for (hf_txn_id t = 0; t < v->h->n_txns; t++) {
        if (c->happened[t])
            link_reads(c, s, t, &l);
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return NULL;
    }
    for (uint32_t b = 0; b < n_slots; b++) {
        chains->head[b] = b;
        chains->length[b] = 1;
        if (l.parent[b] < NO_LINK)
            set_link(&l.child[l.parent[b]], b);
    }
    /* a circle has no head: its versions stay alone */
    for (uint32_t b = 0; b < n_slots; b++)
        if (l.parent[b] >= NO_LINK || l.child[l.parent[b]] != b)
            walk(chains, &l, b);
    v->chains[which] = chains;
    return chains;
}

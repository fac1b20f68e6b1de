/* certify.c: what the serialization certifiers are told, and what they say.
 *
 * A dependency counts once both of its ends have committed for certain; until
 * the one that read has ended, it waits with that one.  Then
 *
 *   SSI  T1 -rw-> T2 -rw-> T3, T1 and T2 concurrent, T3 the first of the
 *        three to commit, and before T1's snapshot if T1 wrote nothing
 *        (Ports and Grittner, README-SSI).  For the pivot T2 only the T3
 *        whose commit ends first and the T1 whose commit begins last can be
 *        the ones, so these two are all that is remembered.  If T1 is T3 the
 *        two edges are enough: whichever committed first, the other is a
 *        pivot.
 *   OCC  T1 -rw-> T2, T1 wrote something, T2 committed first.  Again two
 *        edges between the same two are enough.
 *   TO, cycle   the dependency becomes an edge between whole transactions
 *        (join.c).
 *
 * Everything is judged by intervals: "first" means certainly first.
 *
 * Garbage.  A transaction that ended before the horizon is concurrent with
 * nobody who runs or will; nobody can read what it overwrote without having
 * had a snapshot before its commit.  So no edge to or from it can be one that
 * is asked for, and its record goes, in the order of serials.
 *
 * Cost: O(1) for a dependency, besides the walk over the edges of one
 * transaction for the second edge of a pair.
 */
#include <string.h>

#include "watch/join.h"

#define PAIR_WALK 64u /* edges looked at for the second of a pair */

void hf_watch_certify_init(struct watch_join *j)
{
    j->mask = 255;
    j->ring = HF_NEW_ZEROED(cert_txn, j->mask + 1);
    j->free_edge = NO_ID;
}

void hf_watch_certify_release(struct watch_join *j)
{
    hf_free(j->ring);
    hf_vec_release(&j->edges);
}

/* ---- records ------------------------------------------------------------- */

static void grow(struct watch_join *j)
{
    uint64_t room = (j->mask + 1) * 2;
    cert_txn *more = HF_NEW_ARRAY(cert_txn, room);

    for (uint64_t i = j->begin; i != j->end; i++)
        more[i & (room - 1)] = j->ring[i & j->mask];
    hf_free(j->ring);
    j->ring = more;
    j->mask = room - 1;
}

/* NULL: it is gone. */
static cert_txn *record(struct watch_join *j, uint64_t serial)
{
    if (serial < j->begin)
        return NULL;
    while (j->end <= serial) {
        if (j->end - j->begin > j->mask)
            grow(j);
        j->ring[j->end++ & j->mask] =
            (cert_txn){.pending = NO_ID, .out = NO_ID, .out_hi = FOR_EVER};
    }
    return &j->ring[serial & j->mask];
}

static uint32_t new_edge(struct watch_join *j, rw_edge e)
{
    uint32_t at = j->free_edge;

    if (at == NO_ID) {
        at = (uint32_t)j->edges.n;
        hf_vec_push(&j->edges, e);
    } else {
        j->free_edge = j->edges.at[at].next;
        j->edges.at[at] = e;
    }
    j->n_edges++;
    return at;
}

static void free_list(struct watch_join *j, uint32_t *head)
{
    while (*head != NO_ID) {
        uint32_t at = *head;

        *head = j->edges.at[at].next;
        j->edges.at[at].next = j->free_edge;
        j->free_edge = at;
        j->n_edges--;
    }
}

/* ---- rules --------------------------------------------------------------- */

static void add_txn_parts(hf_violation *v, const cert_txn *t)
{
    hf_watch_part_add(v, (hf_violation_part){.txn = t->txn,
                                             .key = UINT32_MAX,
                                             .before = t->snapshot.lo,
                                             .after = t->snapshot.hi,
                                             .part = HF_PART_SNAPSHOT});
    hf_watch_part_add(v, (hf_violation_part){.txn = t->txn,
                                             .key = UINT32_MAX,
                                             .before = t->commit.lo,
                                             .after = t->commit.hi,
                                             .part = HF_PART_COMMIT});
}

static void report(struct watch_join *j, const rw_edge *in, const rw_edge *out,
                   hf_watch_rule rule, uint64_t time)
{
    hf_violation v;
    const rw_edge *edges[2] = {in, out};
    uint64_t told[3] = {NO_SERIAL, NO_SERIAL, NO_SERIAL};

    memset(&v, 0, offsetof(hf_violation, parts));
    v.mechanism = HF_WATCH_SC;
    v.rule = rule;
    v.time = time;
    v.key = in->key;
    v.other = HF_WATCH_NO_TXN;
    for (unsigned i = 0; i < 2 && edges[i]; i++) {
        uint64_t ends[2] = {edges[i]->from, edges[i]->to};

        for (unsigned k = 0; k < 2; k++) {
            const cert_txn *t = record(j, ends[k]);
            unsigned m = 0;

            while (m < 3 && told[m] != NO_SERIAL && told[m] != ends[k])
                m++;
            if (!t || m == 3 || told[m] == ends[k])
                continue;
            told[m] = ends[k];
            add_txn_parts(&v, t);
        }
        hf_watch_edge_add(&v, edges[i]->from_txn, edges[i]->to_txn,
                          edges[i]->key, HF_WATCH_RW);
    }
    /* the pivot; or who should not have committed */
    v.txn = out ? out->from_txn : in->from_txn;
    v.other = in->from_txn == v.txn ? in->to_txn : in->from_txn;
    hf_watch_deliver(j->w, &v);
}

/* The edge back, if there is one. */
static const rw_edge *edge_back(struct watch_join *j, const rw_edge *e)
{
    const cert_txn *to = record(j, e->to);
    uint32_t at = to ? to->out : NO_ID;

    for (unsigned i = 0; i < PAIR_WALK && at != NO_ID; i++) {
        if (j->edges.at[at].to == e->from)
            return &j->edges.at[at];
        at = j->edges.at[at].next;
    }
    return NULL;
}

static void look_at_pivot(struct watch_join *j, cert_txn *p, uint64_t time)
{
    const rw_edge *in = NULL;

    if (p->is_told || p->out_hi >= p->commit.lo)
        return;
    if (p->in_lo > p->out_hi && p->in.from != p->out_edge.to)
        in = &p->in;
    else if (p->reader_lo > p->out_hi && p->reader.from != p->out_edge.to)
        in = &p->reader;
    if (!in)
        return;
    p->is_told = true;
    report(j, in, &p->out_edge, HF_RULE_PIVOT, time);
}

static void certify_ssi(struct watch_join *j, const rw_edge *e, uint64_t time)
{
    cert_txn *from = record(j, e->from), *to = record(j, e->to);
    const rw_edge *back = edge_back(j, e);

    if (back && !from->is_told && !to->is_told) {
        from->is_told = to->is_told = true;
        report(j, e, back, HF_RULE_PIVOT, time);
        return;
    }
    if (to->commit.hi < from->out_hi) {
        from->out_hi = to->commit.hi;
        from->out_edge = *e;
        look_at_pivot(j, from, time);
    }
    if (to->snapshot.hi >= from->commit.lo)
        return; /* perhaps not concurrent */
    if (from->wrote && from->commit.lo > to->in_lo) {
        to->in_lo = from->commit.lo;
        to->in = *e;
        look_at_pivot(j, to, time);
    } else if (!from->wrote && from->snapshot.lo > to->reader_lo) {
        to->reader_lo = from->snapshot.lo;
        to->reader = *e;
        look_at_pivot(j, to, time);
    }
}

static void certify_occ(struct watch_join *j, const rw_edge *e, uint64_t time)
{
    const cert_txn *from = record(j, e->from), *to = record(j, e->to);
    const rw_edge *back;

    if (!from->wrote)
        return;
    back = edge_back(j, e);
    if (back || to->commit.hi < from->commit.lo)
        report(j, e, back, HF_RULE_OVERWRITTEN, time);
}

/* Both ends of e have committed. */
static void activate(struct watch_join *j, rw_edge e, uint64_t time)
{
    cert_txn *from, *to;
    uint32_t at;

    if (hf_watch_is_whole(j)) {
        hf_watch_join_whole(j, &e, time);
        return;
    }
    from = record(j, e.from);
    to = record(j, e.to);
    if (!from || !to || !to->is_committed)
        return;
    if (j->w->profile.certifier == HF_WATCH_SC_SSI)
        certify_ssi(j, &e, time);
    else
        certify_occ(j, &e, time);
    e.next = from->out;
    at = new_edge(j, e);
    record(j, e.from)->out = at;
}

/* ---- what comes in ------------------------------------------------------- */

void hf_watch_certify_edge(struct watch_join *j, const watch_finding *f)
{
    rw_edge e = {.from = f->from.serial,
                 .to = f->to.serial,
                 .from_txn = f->from.txn,
                 .to_txn = f->to.txn,
                 .from_at = f->from.at,
                 .to_at = f->to.at,
                 .key = f->key,
                 .kind = f->dependency};
    cert_txn *waits;

    if (e.from == e.to)
        return;
    if (j->w->profile.certifier == HF_WATCH_SC_OCC_ITEMS &&
        (f->flags & ITEM_UNSEEN))
        return; /* no row was read */
    waits = record(j, e.kind == HF_WATCH_RW ? e.from : e.to);
    if (!waits)
        return;
    if (!waits->has_ended) {
        uint32_t at;

        e.next = waits->pending;
        at = new_edge(j, e);
        waits->pending = at;
        return;
    }
    if (waits->is_committed)
        activate(j, e, f->time);
}

void hf_watch_certify_own(struct watch_join *j, const watch_finding *f)
{
    const cert_txn *t = record(j, f->from.serial);
    uint32_t at = t && !t->has_ended ? t->pending : NO_ID;

    for (; at != NO_ID; at = j->edges.at[at].next)
        if (j->edges.at[at].key == f->key &&
            j->edges.at[at].kind == HF_WATCH_RW)
            j->edges.at[at].is_void = true;
}

void hf_watch_certify_end(struct watch_join *j, const watch_finding *f)
{
    cert_txn *t = record(j, f->to.serial);

    if (!t || t->has_ended)
        return;
    t->txn = f->to.txn;
    t->snapshot = f->from.at;
    t->commit = f->to.at;
    t->has_ended = true;
    t->is_committed = (f->flags & END_COMMITTED) != 0;
    t->wrote = (f->flags & END_WROTE) != 0;
    if (t->is_committed) {
        uint32_t at = t->pending;

        while (at != NO_ID) {
            rw_edge e = j->edges.at[at];

            at = e.next;
            if (!e.is_void)
                activate(j, e, f->time);
        }
        t = record(j, f->to.serial);
    }
    free_list(j, &t->pending);
}

void hf_watch_certify_forget(struct watch_join *j)
{
    while (j->begin < j->end) {
        cert_txn *t = &j->ring[j->begin & j->mask];

        if (!t->has_ended || t->commit.hi >= j->horizon)
            break;
        free_list(j, &t->out);
        free_list(j, &t->pending);
        j->begin++;
    }
}

void hf_watch_certify_stats(const struct watch_join *j, hf_watch_stats *ret)
{
    ret->transactions_kept += j->end - j->begin;
    ret->edges_kept += j->n_edges;
    ret->bytes +=
        (j->mask + 1) * sizeof(*j->ring) + j->edges.cap * sizeof(*j->edges.at);
}

/* paper.c: the constraints of the IsoPredict paper, for Z3.
 *
 * Section 4 of Geng, Blanas, Bond and Wang (PLDI 2024) as it is written, kept
 * to compare with: choices and boundaries are integers, every relation is a
 * table of Booleans between transactions (the initial state is one), ranks
 * make the forced order (pco) the least one, and the exact strategy is one
 * formula "for all commit orders".  Every read of the history is an event,
 * whether it has a choice or not, and nothing is shared.
 *
 * Positions: operation i reads at 4i and writes at 4i + 1, and its transaction
 * ends at 4i + 2 if it is the last one.  The modified rules for events behind
 * the boundary, which the paper leaves to its extended version: a read counts
 * up to the boundary, a write before it.
 *
 * Not here: predicate reads, levels other than causal and read committed, and
 * the best strategy.  O(keys * writers^2 * readers + n^3) terms.
 */
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "predict/search.h"
#include "solver/smt.h"

#define FOREVER INT64_C(1000000000000000)

typedef HF_VEC(hf_term) terms;

/* One read, or one transaction's reads of a key. */
typedef struct paper_read {
    uint32_t txn, seen;
    int64_t at;
    hf_term choice;
    hf_term counts; /* it is not behind the boundary */
} paper_read;

typedef struct paper_key {
    hf_key_id key;
    uint32_t read, n_reads;   /* in by_key */
    uint32_t write, n_writes; /* in e->writes; the initial state is more */
} paper_key;

typedef struct paper {
    const hf_events *e;
    const hf_predict_options *options;
    hf_smt *s;
    uint32_t n;
    bool relaxed, exact;
    hf_term *boundary; /* per session */
    HF_VEC(paper_read) reads;
    HF_VEC(paper_key) keys;
    uint32_t *by_key;              /* reads, sorted by key */
    hf_term *wr, *hb, *pco, *rank; /* n * n */
    hf_term *changed;              /* per transaction: a read has changed */
    hf_term *co;                   /* per transaction */
    terms *ww, *rw, *weak;         /* n * n: disjuncts */
    terms room;
} paper;

/* ---- small words --------------------------------------------------------- */

static hf_term both(paper *p, hf_term a, hf_term b)
{
    return hf_smt_and(p->s, (hf_term[]){a, b}, 2);
}

static hf_term either(paper *p, hf_term a, hf_term b)
{
    return hf_smt_or(p->s, (hf_term[]){a, b}, 2);
}

static size_t at(const paper *p, uint32_t a, uint32_t b)
{
    return (size_t)a * p->n + b;
}

static hf_term boundary_of(const paper *p, uint32_t txn)
{
    return p->boundary[p->e->session_of[txn]];
}

static int64_t end_of(const paper *p, uint32_t txn)
{
    return 4 * (int64_t)p->e->h->op_first[p->e->txn_of[txn] + 1] - 2;
}

/* t's write of the key takes place; the initial state's always does. */
static hf_term writes(paper *p, const hf_event_write *w)
{
    return hf_smt_less(p->s, hf_smt_number(p->s, 4 * (int64_t)w->op + 1),
                       boundary_of(p, w->txn));
}

/* ---- 4.1, 4.5: choices and boundaries ------------------------------------ */

static hf_term number(paper *p, int64_t n)
{
    return hf_smt_number(p->s, n);
}

/* Boundaries are reads, or the ends of transactions, or beyond all. */
static void put_boundaries(paper *p)
{
    const hf_events *e = p->e;

    p->boundary = HF_NEW_ARRAY(hf_term, e->sessions.n + 1);
    for (uint32_t s = 0; s < e->sessions.n; s++) {
        const hf_event_session *row = &e->sessions.at[s];

        p->boundary[s] = hf_smt_int(p->s);
        p->room.n = 0;
        hf_vec_push(&p->room,
                    hf_smt_equal(p->s, p->boundary[s], number(p, FOREVER)));
        for (uint32_t i = 0; p->relaxed && i < row->n_txns; i++) {
            uint32_t t = e->session_txns[row->first_txn + i];

            hf_vec_push(&p->room, hf_smt_equal(p->s, p->boundary[s],
                                               number(p, end_of(p, t))));
        }
        for (size_t i = 0; !p->relaxed && i < e->seen.n; i++)
            if (e->session_of[e->seen.at[i].txn] == s)
                hf_vec_push(
                    &p->room,
                    hf_smt_equal(p->s, p->boundary[s],
                                 number(p, 4 * (int64_t)e->seen.at[i].op)));
        hf_smt_assert(p->s, hf_smt_or(p->s, p->room.at, (uint32_t)p->room.n));
    }
}

static bool may_write(const hf_events *e, uint32_t reader,
                      const hf_event_write *w)
{
    return w->txn != reader && !hf_events_so(e, reader, w->txn);
}

/* The writer is there, and is as it was observed. */
static void put_source(paper *p, const paper_read *r, const hf_event_write *w)
{
    hf_term takes =
        both(p, r->counts, hf_smt_equal(p->s, r->choice, number(p, w->txn)));

    hf_smt_assert(p->s, hf_smt_implies(p->s, takes, writes(p, w)));
    if (p->relaxed)
        hf_smt_assert(
            p->s,
            hf_smt_implies(p->s, takes, hf_smt_not(p->s, p->changed[w->txn])));
}

static void put_read(paper *p, uint32_t i)
{
    const hf_events *e = p->e;
    paper_read *r = &p->reads.at[i];
    const hf_event_seen *seen = &e->seen.at[r->seen];
    hf_term observed, before;

    p->room.n = 0;
    hf_vec_push(&p->room, hf_smt_equal(p->s, r->choice, number(p, 0)));
    for (uint32_t k = e->write_first[seen->key];
         k < e->write_first[seen->key + 1]; k++)
        if (may_write(e, r->txn, &e->writes.at[k]))
            hf_vec_push(&p->room, hf_smt_equal(p->s, r->choice,
                                               number(p, e->writes.at[k].txn)));
    hf_smt_assert(p->s, hf_smt_or(p->s, p->room.at, (uint32_t)p->room.n));
    observed = hf_smt_equal(p->s, r->choice, number(p, seen->observed));
    before =
        hf_smt_less(p->s, number(p, p->relaxed ? end_of(p, r->txn) : r->at),
                    boundary_of(p, r->txn));
    hf_smt_assert(p->s, hf_smt_implies(p->s, before, observed));
    for (uint32_t k = e->write_first[seen->key];
         k < e->write_first[seen->key + 1]; k++)
        if (may_write(e, r->txn, &e->writes.at[k]))
            put_source(p, r, &e->writes.at[k]);
}

static void put_changed(paper *p)
{
    terms *some = HF_NEW_ZEROED(terms, p->n);

    for (size_t i = 0; i < p->reads.n; i++) {
        const paper_read *r = &p->reads.at[i];
        hf_term same = hf_smt_equal(p->s, r->choice,
                                    number(p, p->e->seen.at[r->seen].observed));

        hf_vec_push(&some[r->txn], both(p, r->counts, hf_smt_not(p->s, same)));
    }
    p->changed = HF_NEW_ARRAY(hf_term, p->n);
    for (uint32_t t = 0; t < p->n; t++) {
        p->changed[t] = hf_smt_or(p->s, some[t].at, (uint32_t)some[t].n);
        hf_vec_release(&some[t]);
    }
    hf_free(some);
}

static void put_reads(paper *p)
{
    const hf_events *e = p->e;

    for (uint32_t i = 0; i < e->seen.n; i++) {
        paper_read r = {.txn = e->seen.at[i].txn,
                        .seen = i,
                        .at = 4 * (int64_t)e->seen.at[i].op};

        r.choice = hf_smt_int(p->s);
        r.counts = hf_smt_not(
            p->s, hf_smt_less(p->s, boundary_of(p, r.txn), number(p, r.at)));
        hf_vec_push(&p->reads, r);
    }
    put_changed(p);
    for (uint32_t i = 0; i < p->reads.n; i++)
        put_read(p, i);
}

/* Reads by key, each with the writers of the key. */
static void list_keys(paper *p)
{
    const hf_events *e = p->e;
    hf_sortable *sorted = HF_NEW_ARRAY(hf_sortable, p->reads.n + 1);

    for (size_t i = 0; i < p->reads.n; i++)
        sorted[i] = (hf_sortable){e->seen.at[p->reads.at[i].seen].key, i};
    hf_sort(sorted, p->reads.n);
    p->by_key = HF_NEW_ARRAY(uint32_t, p->reads.n + 1);
    for (size_t i = 0; i < p->reads.n; i++) {
        hf_key_id key = (hf_key_id)sorted[i].key;

        p->by_key[i] = (uint32_t)sorted[i].value;
        if (i == 0 || sorted[i - 1].key != sorted[i].key)
            hf_vec_push(
                &p->keys,
                (paper_key){key, (uint32_t)i, 0, e->write_first[key],
                            e->write_first[key + 1] - e->write_first[key]});
        p->keys.at[p->keys.n - 1].n_reads++;
    }
    hf_free(sorted);
}

/* ---- relations ----------------------------------------------------------- */

static hf_term define(paper *p, hf_term body)
{
    hf_term name = hf_smt_bool(p->s);

    hf_smt_assert(p->s, hf_smt_equal(p->s, name, body));
    return name;
}

/* wr_k(t1, t2): one of t2's reads of the key, up to the boundary, is t1's. */
static hf_term reads_from(paper *p, const paper_key *k, uint32_t t1,
                          uint32_t t2)
{
    p->room.n = 0;
    for (uint32_t i = k->read; i < k->read + k->n_reads; i++) {
        const paper_read *r = &p->reads.at[p->by_key[i]];

        if (r->txn == t2)
            hf_vec_push(&p->room,
                        both(p, r->counts,
                             hf_smt_equal(p->s, r->choice, number(p, t1))));
    }
    return p->room.n == 0
               ? NULL
               : define(p, hf_smt_or(p->s, p->room.at, (uint32_t)p->room.n));
}

static uint32_t writer(const paper *p, const paper_key *k, uint32_t i)
{
    return i == 0 ? 0 : p->e->writes.at[k->write + i - 1].txn;
}

static hf_term writer_counts(paper *p, const paper_key *k, uint32_t i)
{
    return i == 0 ? hf_smt_truth(p->s, true)
                  : writes(p, &p->e->writes.at[k->write + i - 1]);
}

/* The rules for t3 reading the key from t2, with another writer t1. */
static void put_rules(paper *p, const paper_key *k, uint32_t t2, uint32_t t3,
                      hf_term wr)
{
    for (uint32_t i = 0; i <= k->n_writes; i++) {
        uint32_t t1 = writer(p, k, i);
        hf_term both_write;

        if (t1 == t2 || t1 == t3)
            continue;
        both_write = both(p, wr, writer_counts(p, k, i));
        if (p->options->target == HF_PREDICT_CAUSAL)
            hf_vec_push(&p->weak[at(p, t1, t2)],
                        both(p, both_write, p->hb[at(p, t1, t3)]));
        if (p->exact) {
            hf_vec_push(
                &p->ww[at(p, t1, t2)],
                both(p, both_write, hf_smt_less(p->s, p->co[t1], p->co[t3])));
            continue;
        }
        hf_vec_push(
            &p->ww[at(p, t1, t2)],
            hf_smt_and(p->s,
                       (hf_term[]){both_write, p->pco[at(p, t1, t3)],
                                   hf_smt_less(p->s, p->rank[at(p, t1, t3)],
                                               p->rank[at(p, t1, t2)])},
                       3));
        hf_vec_push(
            &p->rw[at(p, t3, t1)],
            hf_smt_and(p->s,
                       (hf_term[]){both_write, p->pco[at(p, t2, t1)],
                                   hf_smt_less(p->s, p->rank[at(p, t2, t1)],
                                               p->rank[at(p, t3, t1)])},
                       3));
    }
}

static bool put_key(paper *p, const paper_key *k, terms *wr)
{
    uint32_t last = HF_NONE;

    for (uint32_t i = k->read; i < k->read + k->n_reads; i++) {
        uint32_t t3 = p->reads.at[p->by_key[i]].txn;

        if (t3 == last) /* reads of a key stand by transaction */
            continue;
        last = t3;
        for (uint32_t j = 0; j <= k->n_writes; j++) {
            uint32_t t2 = writer(p, k, j);
            hf_term takes;

            if (t2 == t3 || hf_events_so(p->e, t3, t2))
                continue;
            takes = reads_from(p, k, t2, t3);
            hf_vec_push(&wr[at(p, t2, t3)], takes);
            put_rules(p, k, t2, t3, takes);
        }
        if (hf_budget_spent(p->options->budget))
            return false;
    }
    return true;
}

/* 4.3.2: an earlier read of t3 is from t1, which writes the key that a later
 * one reads from t2. */
static void put_read_committed(paper *p, uint32_t later)
{
    const hf_events *e = p->e;
    const paper_read *r = &p->reads.at[later];
    hf_key_id key = e->seen.at[r->seen].key;
    uint32_t first = later;

    while (first > 0 && p->reads.at[first - 1].txn == r->txn)
        first--;
    for (uint32_t i = e->write_first[key]; i < e->write_first[key + 1]; i++) {
        const hf_event_write *w = &e->writes.at[i];

        p->room.n = 0;
        for (uint32_t j = first; j < later && p->reads.at[j].at < r->at; j++)
            hf_vec_push(&p->room, hf_smt_equal(p->s, p->reads.at[j].choice,
                                               number(p, w->txn)));
        if (p->room.n == 0 || !may_write(e, r->txn, w))
            continue;
        for (uint32_t k = e->write_first[key]; k <= e->write_first[key + 1];
             k++) {
            uint32_t t2 =
                k == e->write_first[key + 1] ? 0 : e->writes.at[k].txn;
            hf_term all[4] = {
                r->counts, hf_smt_or(p->s, p->room.at, (uint32_t)p->room.n),
                writes(p, w), hf_smt_equal(p->s, r->choice, number(p, t2))};

            if (t2 != w->txn && t2 != r->txn)
                hf_vec_push(&p->weak[at(p, w->txn, t2)],
                            hf_smt_and(p->s, all, 4));
        }
    }
}

static void make_tables(paper *p)
{
    size_t all = (size_t)p->n * p->n;

    p->wr = HF_NEW_ZEROED(hf_term, all);
    p->hb = HF_NEW_ZEROED(hf_term, all);
    p->pco = HF_NEW_ZEROED(hf_term, all);
    p->rank = HF_NEW_ZEROED(hf_term, all);
    p->ww = HF_NEW_ZEROED(terms, all);
    p->rw = HF_NEW_ZEROED(terms, all);
    p->weak = HF_NEW_ZEROED(terms, all);
    p->co = HF_NEW_ZEROED(hf_term, p->n);
    for (size_t i = 0; i < all; i++) {
        p->hb[i] = hf_smt_bool(p->s);
        if (!p->exact) {
            p->pco[i] = hf_smt_bool(p->s);
            p->rank[i] = hf_smt_int(p->s);
        }
    }
    for (uint32_t t = 0; t < p->n; t++)
        p->co[t] = hf_smt_int(p->s);
}

static hf_term so(paper *p, uint32_t a, uint32_t b)
{
    return hf_smt_truth(p->s, hf_events_so(p->e, a, b));
}

static hf_term any(paper *p, const terms *some)
{
    return hf_smt_or(p->s, some->at, (uint32_t)some->n);
}

/* hb(a, b) */
static void put_hb(paper *p, uint32_t a, uint32_t b)
{
    p->room.n = 0;
    hf_vec_push(&p->room, so(p, a, b));
    hf_vec_push(&p->room, p->wr[at(p, a, b)]);
    for (uint32_t m = 0; m < p->n; m++)
        if (m != a && m != b)
            hf_vec_push(&p->room,
                        both(p, p->hb[at(p, a, m)], p->hb[at(p, m, b)]));
    hf_smt_assert(
        p->s, hf_smt_equal(p->s, p->hb[at(p, a, b)],
                           hf_smt_or(p->s, p->room.at, (uint32_t)p->room.n)));
}

/* 4.2.2: pco(a, b), with ranks. */
static void put_pco(paper *p, uint32_t a, uint32_t b)
{
    hf_term rank = p->rank[at(p, a, b)];
    terms some = {0};

    hf_vec_push(&some, so(p, a, b));
    hf_vec_push(&some, p->wr[at(p, a, b)]);
    hf_vec_push(&some, any(p, &p->ww[at(p, a, b)]));
    hf_vec_push(&some, any(p, &p->rw[at(p, a, b)]));
    for (uint32_t m = 0; m < p->n; m++) {
        hf_term step[4];

        if (m == a || m == b)
            continue;
        step[0] = p->pco[at(p, a, m)];
        step[1] = p->pco[at(p, m, b)];
        step[2] = hf_smt_less(p->s, p->rank[at(p, a, m)], rank);
        step[3] = hf_smt_less(p->s, p->rank[at(p, m, b)], rank);
        hf_vec_push(&some, hf_smt_and(p->s, step, 4));
    }
    hf_smt_assert(p->s, hf_smt_equal(p->s, p->pco[at(p, a, b)], any(p, &some)));
    hf_vec_release(&some);
}

/* ---- what is asked ------------------------------------------------------- */

/* 4.2.1: no commit order keeps it all. */
static void put_exact(paper *p)
{
    terms all = {0};

    hf_vec_push(&all, hf_smt_distinct(p->s, p->co, p->n));
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++) {
            hf_term must;

            if (a == b)
                continue;
            must = either(p, either(p, so(p, a, b), p->wr[at(p, a, b)]),
                          any(p, &p->ww[at(p, a, b)]));
            hf_vec_push(&all,
                        hf_smt_implies(p->s, must,
                                       hf_smt_less(p->s, p->co[a], p->co[b])));
        }
    hf_smt_assert(
        p->s, hf_smt_for_all(
                  p->s, p->co, p->n,
                  hf_smt_not(p->s, hf_smt_and(p->s, all.at, (uint32_t)all.n))));
    hf_vec_release(&all);
}

static void put_cycle(paper *p)
{
    terms cycle = {0};

    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++)
            if (a != b) {
                put_pco(p, a, b);
                hf_vec_push(&cycle,
                            both(p, p->pco[at(p, a, b)], p->pco[at(p, b, a)]));
            }
    hf_smt_assert(p->s, any(p, &cycle));
    hf_vec_release(&cycle);
}

/* 4.3: an order that keeps the level; its places are the answer's. */
static hf_term *put_level(paper *p)
{
    hf_term *place = HF_NEW_ARRAY(hf_term, p->n);

    for (uint32_t t = 0; t < p->n; t++)
        place[t] = hf_smt_int(p->s);
    for (uint32_t i = 0;
         p->options->target == HF_PREDICT_READ_COMMITTED && i < p->reads.n; i++)
        put_read_committed(p, i);
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++) {
            if (a == b)
                continue;
            put_hb(p, a, b);
            hf_smt_assert(
                p->s, hf_smt_implies(p->s,
                                     either(p, p->hb[at(p, a, b)],
                                            any(p, &p->weak[at(p, a, b)])),
                                     hf_smt_less(p->s, place[a], place[b])));
        }
    return place;
}

/* False: the budget was spent. */
static bool encode(paper *p, hf_term **ret_place)
{
    terms *wr = HF_NEW_ZEROED(terms, (size_t)p->n * p->n);
    bool going = true;

    put_boundaries(p);
    put_reads(p);
    list_keys(p);
    make_tables(p);
    for (size_t i = 0; going && i < p->keys.n; i++)
        going = put_key(p, &p->keys.at[i], wr);
    for (size_t i = 0; i < (size_t)p->n * p->n; i++) {
        p->wr[i] = define(p, any(p, &wr[i]));
        hf_vec_release(&wr[i]);
    }
    hf_free(wr);
    if (!going)
        return false;
    *ret_place = put_level(p);
    if (p->exact)
        put_exact(p);
    else
        put_cycle(p);
    return true;
}

/* ---- what comes back ----------------------------------------------------- */

static void decode(paper *p, hf_chosen *x)
{
    const hf_events *e = p->e;

    for (uint32_t s = 0; s < e->sessions.n; s++) {
        const hf_event_session *row = &e->sessions.at[s];
        int64_t stop = hf_smt_value(p->s, p->boundary[s]);

        x->cut[s] = 0;
        while (x->cut[s] < row->n_segments &&
               4 * (int64_t)e->segments.at[row->segment + x->cut[s]].last <=
                   stop)
            x->cut[s]++;
    }
    for (uint32_t i = 0; i < e->reads.n; i++)
        x->source[i] = HF_NONE;
    for (size_t i = 0; i < p->reads.n; i++) {
        uint32_t read = e->seen.at[p->reads.at[i].seen].read;
        const hf_event_read *r = read == HF_NONE ? NULL : &e->reads.at[read];
        int64_t from = hf_smt_value(p->s, p->reads.at[i].choice);

        for (uint32_t j = 0;
             r && hf_chosen_has(e, x, r->txn, r->segment) && j < r->n_sources;
             j++)
            if (e->sources.at[r->source + j].txn == (uint32_t)from)
                x->source[read] = j;
    }
}

static void keep(paper *p, const hf_term *place, hf_predictions *ret)
{
    const hf_events *e = p->e;
    hf_serial *serial = hf_serial_new(e);
    hf_sortable *order = HF_NEW_ARRAY(hf_sortable, p->n);
    uint32_t *places = HF_NEW_ARRAY(uint32_t, p->n);
    hf_shapes *shapes = hf_shapes_new(e);
    hf_prediction q = {.target = p->options->target};
    hf_serial_answer a;
    hf_chosen x;

    hf_chosen_init(&x, e);
    decode(p, &x);
    for (uint32_t t = 0; t < p->n; t++)
        order[t] = (hf_sortable){
            (uint64_t)hf_smt_value(p->s, place[t]) + ((uint64_t)1 << 63), t};
    hf_sort(order, p->n);
    for (uint32_t t = 0; t < p->n; t++)
        places[order[t].value] = t;
    a = hf_serial_judge(serial, &x, NULL, NULL);
    if (a == HF_SERIAL_ORDER || (a == HF_SERIAL_NO_ORDER && !p->exact))
        HF_BUG("the paper's encoding predicts what is serializable");
    hf_prediction_fill(&q, e, &x, places,
                       p->relaxed ? HF_BOUNDARY_RELAXED : HF_BOUNDARY_STRICT);
    if (a == HF_SERIAL_CYCLE) {
        q.edges = HF_NEW_ARRAY(hf_predicted_edge, p->n);
        q.n_edges = hf_serial_cycle(serial, &x, q.edges);
    }
    q.shape = hf_shape_of(shapes, &q);
    hf_vec_push(ret, q);
    hf_shapes_free(shapes);
    hf_serial_free(serial);
    hf_chosen_release(&x);
    hf_free(order);
    hf_free(places);
}

static void release(paper *p)
{
    hf_smt_free(p->s);
    hf_free(p->boundary);
    hf_vec_release(&p->reads);
    hf_vec_release(&p->keys);
    hf_free(p->by_key);
    for (size_t i = 0; p->ww && i < (size_t)p->n * p->n; i++) {
        hf_vec_release(&p->ww[i]);
        hf_vec_release(&p->rw[i]);
        hf_vec_release(&p->weak[i]);
    }
    hf_free(p->ww);
    hf_free(p->rw);
    hf_free(p->weak);
    hf_free(p->wr);
    hf_free(p->hb);
    hf_free(p->pco);
    hf_free(p->rank);
    hf_free(p->changed);
    hf_free(p->co);
    hf_vec_release(&p->room);
}

static hf_status refuse(const hf_events *e, const hf_predict_options *o,
                        hf_error *err)
{
    if (o->strategy == HF_PREDICT_BEST)
        return hf_fail(err, HF_ERR_USAGE,
                       "the paper's encoding has no strategy \"best\": take "
                       "exact-strict, approx-strict or approx-relaxed");
    if (o->target != HF_PREDICT_CAUSAL &&
        o->target != HF_PREDICT_READ_COMMITTED)
        return hf_fail(err, HF_ERR_USAGE,
                       "the paper's encoding knows the levels causal and "
                       "read-committed-axiomatic only");
    for (size_t i = 0; i < e->seen.n; i++)
        if (e->seen.at[i].is_row)
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "the paper's encoding knows no predicate reads");
    return HF_OK;
}

hf_status hf_paper_search(const hf_events *e, const hf_predict_options *options,
                          hf_predictions *ret, hf_predict_stats *stats,
                          hf_search_end *ret_end, hf_error *err)
{
    paper p = {.e = e,
               .options = options,
               .n = e->n,
               .relaxed = options->strategy == HF_PREDICT_APPROX_RELAXED,
               .exact = options->strategy == HF_PREDICT_EXACT_STRICT};
    uint64_t start = hf_clock_cpu_ns(), encoded;
    hf_smt_answer answer = HF_SMT_LIMIT;
    hf_term *place = NULL;
    hf_status st = refuse(e, options, err);

    if (st != HF_OK)
        return st;
    p.s = hf_smt_new(options->budget);
    if (encode(&p, &place)) {
        encoded = hf_clock_cpu_ns();
        stats->encode_seconds += (double)(encoded - start) / 1e9;
        stats->literals = hf_smt_n_terms(p.s);
        answer = hf_smt_check(p.s);
        stats->solve_seconds += (double)(hf_clock_cpu_ns() - encoded) / 1e9;
    }
    stats->choices = (uint32_t)p.reads.n;
    *ret_end = answer == HF_SMT_NO    ? HF_SEARCH_ALL
               : answer == HF_SMT_YES ? HF_SEARCH_ENOUGH
                                      : HF_SEARCH_LIMIT;
    if (answer == HF_SMT_YES)
        keep(&p, place, ret);
    hf_free(place);
    release(&p);
    return HF_OK;
}

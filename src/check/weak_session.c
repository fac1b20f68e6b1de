/* weak_session.c: forced edges of what a session has seen.
 *
 *   WR_SO              somebody earlier in t3's session reads from t2
 *   WR_WR, WR_SO_WR    t3 reads from a session that has read from t2
 *
 * Both ask who, among those that a session has read from up to a place, writes
 * a key.  The questions are put in the order of sessions; for each session the
 * transactions it reads from are listed once by key, in the order in which it
 * met them.  An answer is then a beginning of such a list, without t1 itself.
 * These are not in any order among themselves, so that all of them have to
 * come before t1.  To tell that without a pair for each, a longer list gets a
 * tree of nodes, each for a part of it: every answer is O(log) of them.
 *
 * O(z + q log z) with q questions: a stale read and a session each; and z the
 * writes, of keys that were asked for, by those that a session reads from, each
 * once a session.
 */
#include "check/weak.h"

#include <string.h>

#define SMALL 6u /* no tree below */

/* What had the session met before place `limit`, that t3 reads too old? */
typedef struct question {
    uint32_t limit;
    hf_txn_id t3;
} question;

typedef struct entry {
    hf_key_id key;
    uint32_t place; /* of the one that read from t2 */
    hf_txn_id t2;
} entry;

/* The entries of one key. */
typedef struct seen_list {
    hf_session_id of; /* the session that the rest is about */
    uint32_t first, n;
    uint32_t tree; /* node i is tree + i; HF_NONE: no tree */
} seen_list;

typedef struct observer {
    hf_weak *w;
    uint32_t *question_first; /* per session */
    question *questions;
    seen_list *lists;      /* per key */
    hf_session_id *met_by; /* per transaction */
    uint32_t *met_at;      /* ... and where first */
    HF_VEC(entry) met;
    entry *sorted;
    size_t sorted_cap;
    HF_VEC(hf_key_id) keys;
} observer;

/* ---- questions ----------------------------------------------------------- */

typedef struct asked {
    hf_session_id session;
    question q;
} asked;
typedef HF_VEC(asked) asked_list;

/* One for each session that t3 reads from, up to the last one read. */
static void ask_sources(const hf_weak *w, hf_txn_id t3, asked_list *all)
{
    const hf_history *h = w->h;
    size_t first = all->n;

    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t v = hf_graph_source(w->g, o);
        hf_txn_id t = v == HF_NONE ? HF_NONE : w->g->ver_txn[v];
        size_t i = first;

        if (t == HF_NONE)
            continue;
        while (i < all->n && all->at[i].session != h->txn_session[t])
            i++;
        if (i == all->n)
            hf_vec_push(all, (asked){h->txn_session[t], {0, t3}});
        if (all->at[i].q.limit <= w->pos[t])
            all->at[i].q.limit = w->pos[t] + 1;
    }
}

static void collect_questions(observer *b)
{
    const hf_weak *w = b->w;
    const hf_history *h = w->h;
    asked_list all = {0};
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_sessions + 2);

    for (size_t i = 0; i < w->stale.n; i++) {
        hf_txn_id t3 = w->stale.at[i];

        if (w->axiom & HF_AXIOM_WR_SO)
            hf_vec_push(&all, (asked){h->txn_session[t3], {w->pos[t3], t3}});
        if (w->axiom & (HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR))
            ask_sources(w, t3, &all);
    }
    for (size_t i = 0; i < all.n; i++)
        first[all.at[i].session + 2]++;
    for (uint32_t s = 0; s < h->n_sessions; s++)
        first[s + 2] += first[s + 1];
    b->questions = HF_NEW_ARRAY(question, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        b->questions[first[all.at[i].session + 1]++] = all.at[i].q;
    b->question_first = first;
    hf_vec_release(&all);
}

/* ---- what a session has met ---------------------------------------------- */

/* The keys that are asked for; returns where the last question ends. */
static uint32_t want_keys(observer *b, hf_session_id s)
{
    const hf_weak *w = b->w;
    const hf_history *h = w->h;
    uint32_t end = 0;

    b->keys.n = 0;
    for (uint32_t i = b->question_first[s]; i < b->question_first[s + 1]; i++) {
        hf_txn_id t3 = b->questions[i].t3;

        if (b->questions[i].limit > end)
            end = b->questions[i].limit;
        for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
            seen_list *l;

            if (!hf_weak_is_stale(w, o))
                continue;
            l = &b->lists[h->op_key[o]];
            if (l->of == s)
                continue;
            *l = (seen_list){.of = s, .tree = HF_NONE};
            hf_vec_push(&b->keys, h->op_key[o]);
        }
    }
    return end;
}

static void meet(observer *b, hf_session_id s, uint32_t place, hf_txn_id t2)
{
    const hf_weak *w = b->w;
    const hf_history *h = w->h;

    if (b->met_by[t2] == s)
        return;
    b->met_by[t2] = s;
    b->met_at[t2] = place;
    for (hf_op_id o = h->op_first[t2]; o < h->op_first[t2 + 1]; o++) {
        hf_key_id key = h->op_key[o];

        if (w->g->op_role[o] == HF_NONE || !(w->g->op_role[o] & 1u) ||
            b->lists[key].of != s)
            continue;
        hf_vec_push(&b->met, (entry){key, place, t2});
        b->lists[key].n++;
    }
}

/* Entries by key; those of one key in the order of places. */
static void sort_met(observer *b)
{
    uint32_t at = 0;

    for (size_t i = 0; i < b->keys.n; i++) {
        seen_list *l = &b->lists[b->keys.at[i]];

        l->first = at;
        at += l->n;
        l->n = 0;
    }
    if (b->met.n > b->sorted_cap)
        hf_vec_grow((void **)&b->sorted, &b->sorted_cap, b->met.n,
                    sizeof(entry));
    for (size_t i = 0; i < b->met.n; i++) {
        seen_list *l = &b->lists[b->met.at[i].key];

        b->sorted[l->first + l->n++] = b->met.at[i];
    }
}

static void list_met(observer *b, hf_session_id s, uint32_t end)
{
    const hf_weak *w = b->w;
    const hf_history *h = w->h;

    b->met.n = 0;
    for (uint32_t i = h->session_first[s]; i < end; i++) {
        hf_txn_id t = h->session_txns[i];

        if (!w->g->happened[t])
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t v = hf_graph_source(w->g, o);

            if (v != HF_NONE && w->g->ver_txn[v] != HF_NONE)
                meet(b, s, i, w->g->ver_txn[v]);
        }
    }
    sort_met(b);
}

/* ---- answers ------------------------------------------------------------- */

/* How many entries of the list are of places before `limit`. */
static uint32_t count_before(const observer *b, const seen_list *l,
                             uint32_t limit)
{
    const entry *at = b->sorted + l->first;
    uint32_t low = 0, high = l->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (at[middle].place < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void plant(observer *b, seen_list *l)
{
    hf_weak *w = b->w;
    uint32_t base = w->n_nodes;

    l->tree = base;
    w->n_nodes += l->n;
    for (uint32_t i = 2; i < l->n; i++)
        hf_vec_push(&w->edges, (hf_weak_edge){base + i, base + i / 2, HF_NONE});
    for (uint32_t i = 0; i < l->n; i++)
        hf_vec_push(&w->edges, (hf_weak_edge){b->sorted[l->first + i].t2,
                                              base + (l->n + i) / 2, HF_NONE});
}

/* Node i of the tree; beyond the nodes are the entries themselves. */
static void force_node(observer *b, const seen_list *l, uint32_t i,
                       hf_op_id read)
{
    hf_weak *w = b->w;

    if (i >= l->n)
        hf_weak_force(w, b->sorted[l->first + i - l->n].t2, read);
    else
        hf_vec_push(&w->edges,
                    (hf_weak_edge){l->tree + i, hf_weak_source(w, read), read});
}

/* Entries from .. end - 1 come before what the read returned. */
static void force_range(observer *b, seen_list *l, uint32_t from, uint32_t end,
                        hf_op_id read)
{
    if (end <= from + SMALL || hf_weak_source(b->w, read) == HF_NONE) {
        for (uint32_t i = from; i < end; i++)
            hf_weak_force(b->w, b->sorted[l->first + i].t2, read);
        return;
    }
    if (l->tree == HF_NONE)
        plant(b, l);
    for (from += l->n, end += l->n; from < end; from /= 2, end /= 2) {
        if (from & 1u)
            force_node(b, l, from++, read);
        if (end & 1u)
            force_node(b, l, --end, read);
    }
}

static void answer(observer *b, hf_session_id s, const question *q,
                   hf_op_id read)
{
    const hf_weak *w = b->w;
    seen_list *l = &b->lists[w->h->op_key[read]];
    hf_txn_id t1 = hf_weak_source(w, read);
    uint32_t n = count_before(b, l, q->limit), at = n;

    if (t1 == HF_NONE && n > 1)
        n = 1; /* one is enough to show that it is too old */
    if (t1 != HF_NONE && b->met_by[t1] == s && b->met_at[t1] < q->limit)
        for (at = count_before(b, l, b->met_at[t1]);
             at < n && b->sorted[l->first + at].t2 != t1; at++)
            ;
    if (at >= n) {
        force_range(b, l, 0, n, read);
        return;
    }
    force_range(b, l, 0, at, read);
    force_range(b, l, at + 1, n, read);
}

/* ---- all ----------------------------------------------------------------- */

static void prepare(observer *b)
{
    const hf_history *h = b->w->h;

    b->lists = HF_NEW_ARRAY(seen_list, (size_t)h->n_keys + 1);
    memset(b->lists, 0xff, ((size_t)h->n_keys + 1) * sizeof(*b->lists));
    b->met_by = HF_NEW_ARRAY(hf_session_id, (size_t)h->n_txns + 1);
    memset(b->met_by, 0xff, ((size_t)h->n_txns + 1) * sizeof(*b->met_by));
    b->met_at = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
}

static void answer_session(observer *b, hf_session_id s)
{
    const hf_history *h = b->w->h;

    list_met(b, s, want_keys(b, s));
    for (uint32_t i = b->question_first[s]; i < b->question_first[s + 1]; i++) {
        const question *q = &b->questions[i];

        for (hf_op_id o = h->op_first[q->t3]; o < h->op_first[q->t3 + 1]; o++)
            if (hf_weak_is_stale(b->w, o))
                answer(b, s, q, o);
    }
}

void hf_weak_expand_sessions(hf_weak *w)
{
    observer b = {.w = w};

    if (w->stale.n == 0 ||
        !(w->axiom & (HF_AXIOM_WR_SO | HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR)))
        return;
    hf_weak_index_places(w);
    collect_questions(&b);
    prepare(&b);
    for (hf_session_id s = 0; s < w->h->n_sessions && !hf_graph_spent(w->g);
         s++)
        if (b.question_first[s] < b.question_first[s + 1])
            answer_session(&b, s);
    hf_free(b.question_first);
    hf_free(b.questions);
    hf_free(b.lists);
    hf_free(b.met_by);
    hf_free(b.met_at);
    hf_free(b.sorted);
    hf_vec_release(&b.met);
    hf_vec_release(&b.keys);
}

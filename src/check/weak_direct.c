/* weak_direct.c: forced edges of what a transaction, or a session, did itself.
 *
 *   EARLIER_READ, WR   t3 reads from t2
 *   SO                 t2 is earlier in t3's session
 *   SO_WR              t3 reads from somebody later in t2's session
 *
 * For the first two each source of t3 is compared with its stale reads: the
 * keys that the source writes are looked up among the keys of those reads, or
 * the reverse, whichever are fewer.  Summed over all pairs of a reader and a
 * source that is O(n^1.5), as AWDIT has it (Møldrup and Pavlogiannis), for
 * transactions that do not read one key again and again.
 *
 * For the others the last writer of the key in a session is found by binary
 * search: its earlier ones come before it anyway.  O(log n) for each stale read
 * and, for SO_WR, each session that t3 reads from, of which the last
 * transaction read is enough.
 */
#include "check/weak.h"

#include <string.h>

#define LONG_TXN 16u /* operations; shorter ones are compared one by one */

typedef struct expander {
    hf_weak *w;
    hf_txn_id t3;
    hf_op_id first, end;
    bool earlier; /* only earlier reads count */
    /* long transactions: stale reads of each key, linked */
    hf_txn_id *key_of; /* per key: the transaction that `head` is of */
    hf_op_id *head;
    hf_op_id *next; /* per operation of the transaction */
    size_t next_cap;
    hf_txn_id *met; /* per transaction: the reader it was looked at for */
    uint32_t n_stale;
    /* SO_WR, per session: the last transaction read from */
    hf_txn_id *session_of;
    uint32_t *session_at;
    HF_VEC(hf_session_id) sessions;
} expander;

/* ---- sources ------------------------------------------------------------- */

/* The transaction that operation o of t3 reads from; HF_NONE: none. */
static hf_txn_id source_of(const expander *x, hf_op_id o)
{
    uint32_t v = hf_graph_source(x->w->g, o);

    return v == HF_NONE ? HF_NONE : x->w->g->ver_txn[v];
}

static void expand_short(expander *x)
{
    hf_weak *w = x->w;

    for (hf_op_id o = x->first; o < x->end; o++) {
        hf_txn_id t2 = source_of(x, o);

        if (t2 == HF_NONE)
            continue;
        for (hf_op_id r = x->earlier ? o + 1 : x->first; r < x->end; r++)
            if (hf_weak_is_stale(w, r) && hf_weak_source(w, r) != t2 &&
                hf_weak_version_of(w, t2, w->h->op_key[r]) != HF_NONE)
                hf_weak_force(w, t2, r);
    }
}

/* Stale reads of t3 by key, the last one first. */
static void link_stale(expander *x)
{
    const hf_history *h = x->w->h;

    if (!x->key_of) {
        size_t n = (size_t)h->n_keys + 1;

        x->key_of = HF_NEW_ARRAY(hf_txn_id, n);
        x->head = HF_NEW_ARRAY(hf_op_id, n);
        memset(x->key_of, 0xff, n * sizeof(*x->key_of));
        n = (size_t)h->n_txns + 1;
        x->met = HF_NEW_ARRAY(hf_txn_id, n);
        memset(x->met, 0xff, n * sizeof(*x->met));
    }
    if (x->end - x->first > x->next_cap)
        hf_vec_grow((void **)&x->next, &x->next_cap, x->end - x->first,
                    sizeof(*x->next));
    x->n_stale = 0;
    for (hf_op_id o = x->first; o < x->end; o++) {
        hf_key_id key = h->op_key[o];

        if (!hf_weak_is_stale(x->w, o))
            continue;
        x->next[o - x->first] =
            x->key_of[key] == x->t3 ? x->head[key] : HF_NONE;
        x->key_of[key] = x->t3;
        x->head[key] = o;
        x->n_stale++;
    }
}

/* The stale reads of a key that t2 writes. */
static void force_key(expander *x, hf_txn_id t2, hf_key_id key, hf_op_id after)
{
    if (x->key_of[key] != x->t3)
        return;
    for (hf_op_id r = x->head[key]; r != HF_NONE && (!x->earlier || r > after);
         r = x->next[r - x->first])
        hf_weak_force(x->w, t2, r);
}

static void compare_long(expander *x, hf_txn_id t2, hf_op_id after)
{
    hf_weak *w = x->w;
    const hf_history *h = w->h;

    if (h->op_first[t2 + 1] - h->op_first[t2] <= x->n_stale) {
        for (hf_op_id o = h->op_first[t2]; o < h->op_first[t2 + 1]; o++)
            if (w->g->op_role[o] != HF_NONE && (w->g->op_role[o] & 1u))
                force_key(x, t2, h->op_key[o], after);
        return;
    }
    for (hf_op_id r = x->earlier ? after + 1 : x->first; r < x->end; r++)
        if (hf_weak_is_stale(w, r) &&
            hf_weak_version_of(w, t2, h->op_key[r]) != HF_NONE)
            hf_weak_force(w, t2, r);
}

static void expand_long(expander *x)
{
    link_stale(x);
    for (hf_op_id o = x->first; o < x->end; o++) {
        hf_txn_id t2 = source_of(x, o);

        if (t2 == HF_NONE || x->met[t2] == x->t3)
            continue;
        x->met[t2] = x->t3;
        compare_long(x, t2, o);
    }
}

/* ---- sessions ------------------------------------------------------------ */

static void expand_own_session(expander *x)
{
    hf_weak *w = x->w;
    const hf_history *h = w->h;
    uint32_t first = h->session_first[h->txn_session[x->t3]];

    for (hf_op_id r = x->first; r < x->end; r++) {
        hf_txn_id t2;

        if (!hf_weak_is_stale(w, r))
            continue;
        t2 = hf_weak_last_writer(w, h->op_key[r], first, w->pos[x->t3]);
        if (t2 != HF_NONE)
            hf_weak_force(w, t2, r);
    }
}

/* Of each session that t3 reads from, the last transaction. */
static void collect_sessions(expander *x)
{
    const hf_history *h = x->w->h;

    if (!x->session_of) {
        size_t n = (size_t)h->n_sessions + 1;

        x->session_of = HF_NEW_ARRAY(hf_txn_id, n);
        x->session_at = HF_NEW_ARRAY(uint32_t, n);
        memset(x->session_of, 0xff, n * sizeof(*x->session_of));
    }
    x->sessions.n = 0;
    for (hf_op_id o = x->first; o < x->end; o++) {
        hf_txn_id t = source_of(x, o);
        hf_session_id s;

        if (t == HF_NONE)
            continue;
        s = h->txn_session[t];
        if (x->session_of[s] != x->t3)
            hf_vec_push(&x->sessions, s);
        if (x->session_of[s] != x->t3 || x->w->pos[t] > x->session_at[s])
            x->session_at[s] = x->w->pos[t];
        x->session_of[s] = x->t3;
    }
}

static void expand_other_sessions(expander *x)
{
    hf_weak *w = x->w;
    const hf_history *h = w->h;

    collect_sessions(x);
    for (hf_op_id r = x->first; r < x->end; r++) {
        if (!hf_weak_is_stale(w, r))
            continue;
        for (size_t i = 0; i < x->sessions.n; i++) {
            hf_session_id s = x->sessions.at[i];
            hf_txn_id t2 = hf_weak_last_writer(
                w, h->op_key[r], h->session_first[s], x->session_at[s]);

            if (t2 != HF_NONE)
                hf_weak_force(w, t2, r);
        }
    }
}

/* ---- all ----------------------------------------------------------------- */

void hf_weak_expand_direct(hf_weak *w)
{
    const hf_history *h = w->h;
    expander x = {.w = w, .earlier = !(w->axiom & HF_AXIOM_WR)};

    if (w->stale.n == 0)
        return;
    if (w->axiom & (HF_AXIOM_SO | HF_AXIOM_SO_WR))
        hf_weak_index_sessions(w);
    for (size_t i = 0; i < w->stale.n; i++) {
        x.t3 = w->stale.at[i];
        x.first = h->op_first[x.t3];
        x.end = h->op_first[x.t3 + 1];
        if (w->axiom & (HF_AXIOM_WR | HF_AXIOM_EARLIER_READ)) {
            if (x.end - x.first <= LONG_TXN)
                expand_short(&x);
            else
                expand_long(&x);
        }
        if (w->axiom & HF_AXIOM_SO)
            expand_own_session(&x);
        if (w->axiom & HF_AXIOM_SO_WR)
            expand_other_sessions(&x);
        if ((i & 0xff) == 0 && hf_graph_spent(w->g))
            break;
    }
    hf_free(x.key_of);
    hf_free(x.head);
    hf_free(x.next);
    hf_free(x.met);
    hf_free(x.session_of);
    hf_free(x.session_at);
    hf_vec_release(&x.sessions);
}

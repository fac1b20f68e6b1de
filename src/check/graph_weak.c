/* graph_weak.c: the levels that ask what a transaction may have seen.
 *
 * If t3 reads x from t1, and t2 is visible to t3 and wrote a later version of
 * x, the level is broken.  With the order of versions known that is a question
 * about each read; what makes t2 visible depends on the level:
 *
 *   EARLIER_READ, WR   t3 itself reads from t2
 *   SO                 t2 is earlier in t3's session
 *   WR_SO              someone earlier in t3's session reads from t2
 *   SO_WR              t3 reads from someone later in t2's session
 *   WR_WR, WR_SO_WR    t3 reads from a session that has read from t2
 *
 * For the middle two the newest version of each key that a session has
 * written, or seen written, is carried along the session.  For the last two
 * those states are needed at places in the past of other sessions: they are
 * kept as a list of changes for each key and session, and looked up by binary
 * search.
 *
 * Cost: for each wr edge the writes of its writer; O(log) for each pair of a
 * read and a source of one transaction in the last two.
 */
#include "check/graph.h"

#include <stdlib.h>
#include <string.h>

#include "check/cycle_name.h"

/* The newest version of a key that a session knows of, and why. */
typedef struct known {
    uint32_t ver;   /* HF_NONE: none */
    hf_txn_id from; /* who read from its writer; HF_NONE: wrote it itself */
    hf_op_id read;  /* ... with this operation */
} known;

/* From place `at` of session_txns on, the session knows this of the key. */
typedef struct change {
    hf_key_id key;
    uint32_t at;
    known what;
} change;

typedef struct sight {
    hf_graph_report *r;
    const hf_graph *g;
    const hf_walk *walk;
    unsigned axiom;
    known *wrote, *saw; /* per key, for one session */
    hf_session_id *wrote_of, *saw_of;
    HF_VEC(change) written, seen;
    uint32_t *place;    /* per transaction: where it is in session_txns */
    hf_txn_id *met;     /* per transaction: the last reader it was seen by */
    hf_txn_id *learned; /* ... and that its session learned its writes from */
} sight;

/* ---- order of versions --------------------------------------------------- */

/* Both are there, in one session, where the level has session order. */
static bool is_earlier(const hf_graph *g, hf_txn_id first, hf_txn_id then)
{
    return g->session_prev && first != HF_NONE && then != HF_NONE &&
           first < then && g->h->txn_session[first] == g->h->txn_session[then];
}

static uint32_t previous(const hf_graph *g, uint32_t v)
{
    return g->total ? v - 1 : g->prev[v];
}

/* Is version a certainly before b, without anything in between? */
static bool is_just_before(const hf_graph *g, uint32_t a, uint32_t b)
{
    if (g->pair_first)
        for (uint32_t i = g->pair_first[b]; i < g->pair_first[b + 1]; i++)
            if (g->pairs[i].first == a)
                return true;
    return previous(g, b) == a || is_earlier(g, g->ver_txn[a], g->ver_txn[b]) ||
           g->ver_txn[a] == HF_NONE;
}

/* Is version a of the key certainly before version b?  Versions that follow
 * each other in a circle are gone round once: all this is asked only if the
 * edges without anti-dependencies have no circle (judge_middle() of
 * graph_cycles.c), but an end that rests on who asks is none. */
static bool is_before(const hf_graph *g, uint32_t a, uint32_t b)
{
    hf_key_id key = g->h->op_key[g->ver_op[b]];

    if (g->total || !g->open_key[key])
        return a < b;
    for (uint32_t n = g->ver_first[key];
         b != HF_NONE && b != a && n < g->ver_end[key]; b = g->prev[b], n++)
        if (is_just_before(g, a, b))
            return true;
    return false;
}

/* ---- evidence ------------------------------------------------------------ */

static hf_edge wr_edge(const hf_graph *g, hf_txn_id reader, hf_op_id read)
{
    uint32_t ver = hf_graph_source(g, read);

    return (hf_edge){HF_EDGE_WR,         g->ver_txn[ver], reader,
                     g->h->op_key[read], g->ver_op[ver],  read};
}

static hf_edge so_edge(hf_txn_id first, hf_txn_id then)
{
    return (hf_edge){HF_EDGE_SO, first, then, HF_NONE, HF_NONE, HF_NONE};
}

/* t3's `read` is older than `ver`, whose writer leads back to t3 by `way`.
 * Where versions are a tree, the way to `ver` is told step by step. */
static void report(sight *s, hf_txn_id t3, hf_op_id read, uint32_t ver,
                   const hf_edge *way, uint32_t n)
{
    const hf_graph *g = s->g;
    hf_key_id key = g->h->op_key[read];
    uint32_t first = hf_graph_source(g, read), steps = 0, at = ver;
    bool far = g->total ? !(g->key_use[key] & HF_USE_PATH)
                        : g->key_use[key] & HF_USE_LIST;
    hf_edge *e;

    for (; !far && !is_just_before(g, first, at); at = previous(g, at))
        steps++;
    e = HF_NEW_ARRAY(hf_edge, (size_t)n + steps + 1);
    e[0] = (hf_edge){HF_EDGE_RW, t3, g->ver_txn[at], key, read, g->ver_op[at]};
    at = ver;
    for (uint32_t i = steps; i > 0; i--, at = previous(g, at))
        e[i] =
            (hf_edge){HF_EDGE_WW, g->ver_txn[previous(g, at)], g->ver_txn[at],
                      key,        g->ver_op[previous(g, at)],  g->ver_op[at]};
    memcpy(e + 1 + steps, way, n * sizeof(*way));
    hf_report_cycle(s->r, hf_cycle_name(e, n + steps + 1), e, n + steps + 1);
    hf_free(e);
}

/* ---- t3 reads from t2 ---------------------------------------------------- */

/* The read of t3 that misses something t2 wrote; `after`: only reads after
 * this operation. */
static bool find_missed(const hf_graph *g, hf_txn_id t3, hf_txn_id t2,
                        hf_op_id after, hf_op_id *ret_read, uint32_t *ret_ver)
{
    const hf_history *h = g->h;

    for (hf_op_id w = h->op_first[t2]; w < h->op_first[t2 + 1]; w++) {
        uint32_t ver = g->op_role[w];

        if (ver == HF_NONE || !(ver & 1u))
            continue;
        for (hf_op_id o = after; o < h->op_first[t3 + 1]; o++) {
            uint32_t read;

            if (h->op_key[o] != h->op_key[w] ||
                (read = hf_graph_source(g, o)) == HF_NONE)
                continue;
            if (is_before(g, read, ver / 2)) {
                *ret_read = o;
                *ret_ver = ver / 2;
                return true;
            }
        }
    }
    return false;
}

/* Was this source of t3 looked at?  From now on it was. */
static bool is_known(sight *s, hf_txn_id t2, hf_txn_id t3)
{
    bool before = s->met[t2] == t3;

    s->met[t2] = t3;
    return before;
}

/* The first read from t2 has most behind it, so it is the one to look at. */
static bool look_at_sources(sight *s, hf_txn_id t3)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;
    bool any = s->axiom & HF_AXIOM_WR;

    if (!(s->axiom & (HF_AXIOM_WR | HF_AXIOM_EARLIER_READ)))
        return false;
    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t source = hf_graph_source(g, o), ver;
        hf_op_id read;

        if (source == HF_NONE || g->ver_txn[source] == HF_NONE ||
            is_known(s, g->ver_txn[source], t3))
            continue;
        if (hf_graph_spent(s->r->g))
            return false;
        if (find_missed(g, t3, g->ver_txn[source],
                        any ? h->op_first[t3] : o + 1, &read, &ver)) {
            hf_edge way = wr_edge(g, t3, o);

            report(s, t3, read, ver, &way, 1);
            return true;
        }
    }
    return false;
}

/* ---- within one session -------------------------------------------------- */

static void learn(sight *s, known *all, hf_session_id *of, hf_session_id who,
                  hf_key_id key, known k)
{
    if (of[key] != who) {
        of[key] = who;
        all[key].ver = HF_NONE;
    }
    if (all[key].ver == HF_NONE || is_before(s->g, all[key].ver, k.ver))
        all[key] = k;
}

/* What t3 knows from its own session: `way` gets the edges from the writer of
 * the version to t3; returns their number. */
static uint32_t way_from_known(const sight *s, const known *k, hf_txn_id t3,
                               hf_edge *way)
{
    uint32_t n = 0;
    hf_txn_id at = s->g->ver_txn[k->ver];

    if (k->from != HF_NONE) {
        way[n++] = wr_edge(s->g, k->from, k->read);
        at = k->from;
    }
    if (at != t3)
        way[n++] = so_edge(at, t3);
    return n;
}

/* Does t3 read something older than what its session knows of the key? */
static bool look_at_known(sight *s, hf_txn_id t3, const known *all,
                          const hf_session_id *of)
{
    const hf_history *h = s->g->h;
    hf_session_id who = h->txn_session[t3];

    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t read = hf_graph_source(s->g, o);
        hf_key_id key = h->op_key[o];
        hf_edge way[3];

        if (read == HF_NONE || of[key] != who ||
            s->g->ver_txn[all[key].ver] == t3 ||
            !is_before(s->g, read, all[key].ver))
            continue;
        report(s, t3, o, all[key].ver, way,
               way_from_known(s, &all[key], t3, way));
        return true;
    }
    return false;
}

/* What it wrote is the shorter evidence. */
static bool look_at_session(sight *s, hf_txn_id t3)
{
    if ((s->axiom & HF_AXIOM_SO) && look_at_known(s, t3, s->wrote, s->wrote_of))
        return true;
    return (s->axiom & HF_AXIOM_WR_SO) &&
           look_at_known(s, t3, s->saw, s->saw_of);
}

/* After t: what its session has now written, and seen. */
static void remember(sight *s, hf_txn_id t, uint32_t place)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;
    hf_session_id who = h->txn_session[t];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], source = hf_graph_source(g, o);
        hf_txn_id t2;

        if (role != HF_NONE && (role & 1u)) {
            known k = {role / 2, HF_NONE, HF_NONE};

            learn(s, s->wrote, s->wrote_of, who, h->op_key[o], k);
            if (s->axiom & HF_AXIOM_SO_WR)
                hf_vec_push(&s->written, (change){h->op_key[o], place,
                                                  s->wrote[h->op_key[o]]});
        }
        if (source == HF_NONE || (t2 = g->ver_txn[source]) == HF_NONE ||
            s->learned[t2] == t)
            continue;
        s->learned[t2] = t;
        for (hf_op_id w = h->op_first[t2]; w < h->op_first[t2 + 1]; w++) {
            known k = {g->op_role[w] / 2, t, o};

            if (g->op_role[w] == HF_NONE || !(g->op_role[w] & 1u))
                continue;
            learn(s, s->saw, s->saw_of, who, h->op_key[w], k);
            if (s->axiom & (HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR))
                hf_vec_push(&s->seen, (change){h->op_key[w], place,
                                               s->saw[h->op_key[w]]});
        }
    }
}

/* ---- other sessions ------------------------------------------------------ */

static int by_key_and_place(const void *a, const void *b)
{
    const change *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->what.ver > y->what.ver) - (x->what.ver < y->what.ver);
}

/* What the session of t knew of the key after place `last`. */
static const known *look_up(const sight *s, const change *list, size_t n,
                            hf_key_id key, hf_txn_id t, uint32_t last)
{
    uint32_t first = s->g->h->session_first[s->g->h->txn_session[t]];
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const change *c = &list[middle];

        if (c->key < key || (c->key == key && c->at <= last))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || list[low - 1].key != key || list[low - 1].at < first)
        return NULL;
    return &list[low - 1].what;
}

/* t3 reads `o` from t2', whose session knows a later version of what t3 reads
 * with `read`. */
static bool look_through(sight *s, hf_txn_id t3, hf_op_id o, hf_op_id read)
{
    const hf_graph *g = s->g;
    uint32_t version = hf_graph_source(g, read);
    hf_txn_id other = g->ver_txn[hf_graph_source(g, o)];
    hf_key_id key = g->h->op_key[read];
    hf_edge way[4];
    const known *k;
    uint32_t n;

    k = look_up(s, s->written.at, s->written.n, key, other,
                s->place[other] - 1);
    if (!k || s->place[other] == 0 || g->ver_txn[k->ver] == t3 ||
        !is_before(g, version, k->ver))
        k = look_up(s, s->seen.at, s->seen.n, key, other, s->place[other]);
    if (!k || g->ver_txn[k->ver] == t3 || !is_before(g, version, k->ver))
        return false;
    n = way_from_known(s, k, other, way);
    way[n++] = wr_edge(g, t3, o);
    report(s, t3, read, k->ver, way, n);
    return true;
}

static bool look_at_others(sight *s, hf_txn_id t3)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t3]; o < h->op_first[t3 + 1]; o++) {
        uint32_t source = hf_graph_source(g, o);

        if (source == HF_NONE || g->ver_txn[source] == HF_NONE ||
            is_known(s, g->ver_txn[source], t3))
            continue;
        if (hf_graph_spent(s->r->g))
            return false;
        for (hf_op_id r = h->op_first[t3]; r < h->op_first[t3 + 1]; r++)
            if (hf_graph_source(g, r) != HF_NONE && look_through(s, t3, o, r))
                return true;
    }
    return false;
}

/* ---- all ----------------------------------------------------------------- */

static void forget_met(sight *s)
{
    memset(s->met, 0xff, ((size_t)s->g->h->n_txns + 1) * sizeof(*s->met));
}

static void prepare(sight *s)
{
    size_t n = (size_t)s->g->h->n_keys + 1;

    s->wrote = HF_NEW_ARRAY(known, n);
    s->saw = HF_NEW_ARRAY(known, n);
    s->wrote_of = HF_NEW_ARRAY(hf_session_id, n);
    s->saw_of = HF_NEW_ARRAY(hf_session_id, n);
    memset(s->wrote_of, 0xff, n * sizeof(*s->wrote_of));
    memset(s->saw_of, 0xff, n * sizeof(*s->saw_of));
    s->place = HF_NEW_ZEROED(uint32_t, (size_t)s->g->h->n_txns + 1);
    s->met = HF_NEW_ARRAY(hf_txn_id, (size_t)s->g->h->n_txns + 1);
    forget_met(s);
    s->learned = HF_NEW_ARRAY(hf_txn_id, (size_t)s->g->h->n_txns + 1);
    memset(s->learned, 0xff,
           ((size_t)s->g->h->n_txns + 1) * sizeof(*s->learned));
}

static void release(sight *s)
{
    hf_free(s->wrote);
    hf_free(s->saw);
    hf_free(s->wrote_of);
    hf_free(s->saw_of);
    hf_free(s->place);
    hf_free(s->met);
    hf_free(s->learned);
    hf_vec_release(&s->written);
    hf_vec_release(&s->seen);
}

/* Every transaction that is part of a cycle, once it is known what its
 * session did before. */
static void go_through_sessions(sight *s)
{
    const hf_history *h = s->g->h;

    for (hf_session_id who = 0; who < h->n_sessions; who++)
        for (uint32_t i = h->session_first[who]; i < h->session_first[who + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (!s->g->happened[t])
                continue;
            s->place[t] = i;
            if (s->walk->component[t] != HF_NONE && !look_at_sources(s, t))
                (void)look_at_session(s, t);
            remember(s, t, i);
            if ((i & 0xff) == 0 && hf_graph_spent(s->r->g))
                return;
        }
}

void hf_report_weak(hf_graph_report *r, const hf_walk *walk)
{
    sight s = {.r = r, .g = r->g, .walk = walk, .axiom = r->g->level->axiom};

    if (r->g->level->shape == HF_SHAPE_OTV)
        s.axiom = HF_AXIOM_EARLIER_READ;
    prepare(&s);
    go_through_sessions(&s);
    if (s.axiom & (HF_AXIOM_SO_WR | HF_AXIOM_WR_WR | HF_AXIOM_WR_SO_WR)) {
        if (s.written.n > 0)
            qsort(s.written.at, s.written.n, sizeof(change), by_key_and_place);
        if (s.seen.n > 0)
            qsort(s.seen.at, s.seen.n, sizeof(change), by_key_and_place);
        forget_met(&s);
        for (hf_txn_id t = 0; t < r->g->h->n_txns; t++) {
            if (walk->component[t] != HF_NONE)
                (void)look_at_others(&s, t);
            if ((t & 0xff) == 0 && hf_graph_spent(r->g))
                break;
        }
    }
    release(&s);
}

/* poly_labels.c: what the edges of the search are, in the words of a witness.
 *
 * The solver's cycles speak of nodes: here each edge gets its kind and its
 * operations, from the choice that asked for it or from what is known.
 */
#include "check/poly_proof.h"

#include "base/error.h"

static bool is_start(const hf_poly *p, uint32_t node)
{
    return p->walk.form != HF_WALK_PLAIN && !(node & 1u);
}

static bool is_anti(hf_edge_kind kind)
{
    return kind == HF_EDGE_RW || kind == HF_EDGE_PRW;
}

/* ---- edges --------------------------------------------------------------- */

static hf_edge rw_edge(const hf_graph *g, hf_txn_id reader, uint32_t ver,
                       hf_txn_id to, hf_key_id key)
{
    uint32_t mine = hf_graph_version_of(g, to, key);

    return (hf_edge){HF_EDGE_RW,
                     reader,
                     to,
                     key,
                     hf_graph_read_of(g, reader, ver),
                     mine == HF_NONE ? HF_NONE : g->ver_op[mine]};
}

static hf_edge ww_edge(const hf_graph *g, uint32_t first, uint32_t then)
{
    return (hf_edge){HF_EDGE_WW,       g->ver_txn[first],
                     g->ver_txn[then], g->h->op_key[g->ver_op[then]],
                     g->ver_op[first], g->ver_op[then]};
}

hf_edge hf_poly_pair_edge(const hf_poly *p, hf_txn_id from, uint32_t a,
                          uint32_t b)
{
    const hf_graph *g = p->g;

    if (g->ver_txn[p->tail[a]] == from)
        return ww_edge(g, p->tail[a], b);
    return rw_edge(g, from, p->tail[a], g->ver_txn[b],
                   g->h->op_key[g->ver_op[b]]);
}

/* Of a source that was chosen: from the writer, or to a later one. */
static hf_told_edge from_edge(const hf_poly *p, hf_lit lit, uint32_t from,
                              uint32_t to)
{
    const hf_graph *g = p->g;
    hf_poly_var v = p->vars.at[HF_LIT_VAR(lit)];
    const hf_poly_choice *c = &p->choices.at[v.a];
    hf_poly_candidate x = p->candidates.at[c->first + v.b];
    hf_txn_id other = hf_poly_txn(p, to);
    hf_told_edge l = {.chosen = x.writer == HF_NONE ? HF_CHOSEN_INITIAL
                                                    : HF_CHOSEN(x.writer),
                      .forced = HF_NONE};

    if (other == c->reader && hf_poly_txn(p, from) == x.writer)
        l.e = (hf_edge){HF_EDGE_WR, x.writer,         c->reader,
                        c->key,     g->ver_op[x.ver], c->op};
    else
        l.e = (hf_edge){
            HF_EDGE_RW, c->reader,
            other,      c->key,
            c->op,      g->ver_op[hf_graph_version_of(g, other, c->key)]};
    return l;
}

/* From the last version of an initial atom to another. */
static bool initial_edge(const hf_poly *p, hf_txn_id from, hf_txn_id to,
                         hf_edge *ret)
{
    const hf_graph *g = p->g;

    for (hf_op_id o = g->h->op_first[to]; o < g->h->op_first[to + 1]; o++) {
        uint32_t role = g->op_role[o], mine = role / 2, first, last;

        if (role == HF_NONE || !(role & 1u) || p->atom[mine] != mine)
            continue;
        first = g->ver_first[g->h->op_key[o]];
        last = p->tail[first];
        if (mine != first && g->ver_txn[last] == from) {
            *ret = ww_edge(g, last, mine);
            return true;
        }
    }
    return false;
}

/* A known order of versions that goes through some that need not be there.
 * Those may follow each other in a circle, which is gone round once. */
static bool far_edge(const hf_poly *p, hf_txn_id from, hf_txn_id to,
                     hf_edge *ret)
{
    const hf_graph *g = p->g;

    for (hf_op_id o = g->h->op_first[to]; o < g->h->op_first[to + 1]; o++) {
        uint32_t role = g->op_role[o], v, n;

        if (role == HF_NONE || !(role & 1u) || !g->prev)
            continue;
        n = g->ver_first[g->h->op_key[o]];
        for (v = g->prev[role / 2]; v != HF_NONE && g->ver_txn[v] != HF_NONE &&
                                    n < g->ver_end[g->h->op_key[o]];
             v = g->prev[v], n++)
            if (g->ver_txn[v] == from) {
                *ret = ww_edge(g, v, role / 2);
                return true;
            }
    }
    return false;
}

/* Does an edge of the kind lead from this node to that? */
static bool leads(const hf_poly *p, hf_edge_kind kind, uint32_t from,
                  uint32_t to)
{
    bool late =
        is_anti(kind) || (p->walk.form == HF_WALK_PREFIX && kind == HF_EDGE_WW);

    return p->walk.form == HF_WALK_PLAIN ||
           (is_anti(kind) == is_start(p, from) && late != is_start(p, to));
}

/* ---- events -------------------------------------------------------------- */

void hf_prover_note_event(void *user, uint32_t from, uint32_t to,
                          hf_event_label label)
{
    hf_prover *v = user;

    hf_map_set(&v->event_of, (uint64_t)from << 32 | to, (uint32_t)v->events.n);
    hf_vec_push(&v->events, label);
}

/* False: it is not known, but may be forced. */
static bool find_event(const hf_prover *v, uint32_t from, uint32_t to,
                       hf_event_label *ret)
{
    uint32_t i = hf_map_get(&v->event_of, (uint64_t)from << 32 | to);

    if (i != UINT32_MAX)
        *ret = v->events.at[i];
    return i != UINT32_MAX;
}

hf_edge hf_poly_event_edge(const hf_graph *g, hf_event_label l, hf_txn_id from,
                           hf_txn_id to)
{
    if (l.kind == HF_EDGE_WW)
        return ww_edge(g, l.a, l.b);
    if (l.kind == HF_EDGE_WR)
        return (hf_edge){HF_EDGE_WR,        from,           to,
                         g->h->op_key[l.b], g->ver_op[l.a], l.b};
    if (l.kind == HF_EDGE_RW)
        return rw_edge(g, from, l.a, to, g->h->op_key[g->ver_op[l.b]]);
    return (hf_edge){l.kind, from, to, HF_NONE, HF_NONE, HF_NONE};
}

static hf_told_edge known_edge(hf_prover *v, uint32_t from, uint32_t to)
{
    const hf_poly *p = v->p;
    hf_txn_id a = hf_poly_txn(p, from), b = hf_poly_txn(p, to);
    hf_told_edge l = {.chosen = HF_CHOSEN_ONLY, .forced = HF_NONE};
    hf_event_label event;

    if (p->events && find_event(v, from, to, &event)) {
        l.e = hf_poly_event_edge(p->g, event, a, b);
        return l;
    }
    v->in.n = 0;
    if (!p->events)
        hf_graph_edges_into(p->g, b, p->walk.mask, &v->in);
    for (size_t i = 0; i < v->in.n; i++) {
        const hf_in_edge *x = &v->in.at[i];

        if (x->from != a || !leads(p, x->kind, from, to))
            continue;
        l.e = (hf_edge){x->kind, a, b, x->key, x->from_op, x->to_op};
        return l;
    }
    if (!p->events && !is_start(p, from) &&
        (initial_edge(p, a, b, &l.e) || far_edge(p, a, b, &l.e)))
        return l;
    l.forced = hf_map_get(&p->forced_edge, (uint64_t)from << 32 | to);
    if (l.forced == UINT32_MAX)
        HF_BUG("an edge of a proof is not known");
    l.e = hf_poly_pair_edge(p, a, p->forced.at[l.forced].a,
                            p->forced.at[l.forced].b);
    return l;
}

static hf_told_edge chosen_edge(hf_prover *v, uint32_t from, uint32_t to,
                                hf_lit lit)
{
    const hf_poly *p = v->p;
    hf_poly_var x;

    if (lit & HF_POLY_BOTH)
        return from_edge(p, p->both.at[lit & ~HF_POLY_BOTH].from, from, to);
    x = p->vars.at[HF_LIT_VAR(lit)];
    if (x.kind == HF_POLY_FROM)
        return from_edge(p, lit, from, to);
    if (x.kind == HF_POLY_HAPPENED)
        return known_edge(v, from, to);
    return (hf_told_edge){hf_poly_pair_edge(p, hf_poly_txn(p, from),
                                            lit & 1u ? x.b : x.a,
                                            lit & 1u ? x.a : x.b),
                          HF_CHOSEN_ONLY, HF_NONE};
}

/* Through nodes in between: real time, readers of one version. */
static hf_edge carried_edge(const hf_poly *p, uint32_t from, uint32_t via,
                            uint32_t to)
{
    const hf_graph *g = p->g;
    hf_txn_id a = hf_poly_txn(p, from), b = hf_poly_txn(p, to);
    uint32_t ver;

    if (via < p->nodes.groups)
        return (hf_edge){HF_EDGE_RT, a, b, HF_NONE, HF_NONE, HF_NONE};
    if (via < p->nodes.more)
        ver = g->group_ver[via - p->nodes.groups];
    else if (via >= p->nodes.n)
        ver = p->tail[p->gate_atom[via - p->nodes.n]];
    else
        HF_BUG("a proof goes through a predicate");
    for (hf_op_id o = g->h->op_first[a]; o < g->h->op_first[a + 1]; o++)
        if (hf_graph_source(g, o) == ver)
            return rw_edge(g, a, ver, b, g->h->op_key[o]);
    HF_BUG("a proof goes through a group without its reader");
}

/* ---- cycles -------------------------------------------------------------- */

/* Where to begin: at a node of a transaction. */
static uint32_t first_of(const hf_poly *p, const hf_order_step_edge *e,
                         uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (e[i].from < p->nodes.times)
            return i;
    HF_BUG("a cycle without transactions");
}

/* ... of events: the edge that leaves the last of them says what it is. */
static void carry_event(hf_prover *v, uint32_t from, uint32_t via, uint32_t to)
{
    const hf_poly *p = v->p;
    hf_txn_id a = hf_poly_txn(p, from), b = hf_poly_txn(p, to);
    hf_event_label l;

    if (!find_event(v, via, to, &l))
        HF_BUG("a proof goes through a node that nothing leaves");
    if (a != b) /* else a start and its commit */
        hf_vec_push(&v->cycle, (hf_told_edge){hf_poly_event_edge(p->g, l, a, b),
                                              HF_CHOSEN_ONLY, HF_NONE});
}

void hf_prover_label_way(hf_prover *v, const hf_order_step_edge *e, uint32_t n)
{
    const hf_poly *p = v->p;
    uint32_t from = n ? e[0].from : 0, via = HF_NONE, last = HF_NONE;

    v->cycle.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const hf_order_step_edge *x = &e[i];

        if (x->to >= p->nodes.times) {
            via = via == HF_NONE || !p->events ? x->to : via;
            last = x->to;
            continue;
        }
        if (via != HF_NONE && p->events)
            carry_event(v, from, last, x->to);
        else if (via != HF_NONE)
            hf_vec_push(&v->cycle,
                        (hf_told_edge){carried_edge(p, from, via, x->to),
                                       HF_CHOSEN_ONLY, HF_NONE});
        else if (x->tag != HF_NO_TAG)
            hf_vec_push(&v->cycle, chosen_edge(v, from, x->to, x->tag));
        else if (hf_poly_txn(p, from) != hf_poly_txn(p, x->to))
            hf_vec_push(&v->cycle, known_edge(v, from, x->to));
        via = HF_NONE;
        from = x->to;
    }
}

void hf_prover_label_cycle(hf_prover *v, const hf_order_step_edge *e,
                           uint32_t n)
{
    uint32_t first = first_of(v->p, e, n);
    hf_order_step_edge *turned = HF_NEW_ARRAY(hf_order_step_edge, n);

    for (uint32_t i = 0; i < n; i++)
        turned[i] = e[(first + i) % n];
    hf_prover_label_way(v, turned, n);
    hf_free(turned);
}

uint32_t hf_poly_enters_at(const hf_poly *p, const hf_edge *e)
{
    return is_anti(e->kind)        ? hf_poly_commit(p, e->to)
           : e->kind == HF_EDGE_WW ? hf_poly_entry(p, e->to)
                                   : hf_poly_start(p, e->to);
}

uint32_t hf_poly_leaves_from(const hf_poly *p, const hf_edge *e)
{
    return is_anti(e->kind) ? hf_poly_start(p, e->from)
                            : hf_poly_commit(p, e->from);
}

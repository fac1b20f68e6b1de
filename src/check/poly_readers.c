/* poly_readers.c: edges of readers whose source was chosen.
 *
 * The readers of a version are those that certainly read it, and those for whom
 * it was chosen: a list for each version that grows and shrinks with the
 * choices.  A chosen reader comes behind the writer at once, and before the
 * next version if that is known; otherwise it counts, like the others, when the
 * atom is compared with those behind it, and an edge then rests on two choices:
 * the order of the atoms and the source.
 *
 * Whoever need not have happened has no edges until it did.
 */
#include "check/poly_worlds.h"

#include "base/error.h"

bool hf_poly_happens(const hf_poly *p, hf_txn_id t)
{
    return !hf_poly_is_uncertain(p, t) ||
           (p->happened_of[t] != HF_NONE &&
            hf_order_value(p->order, 2 * p->happened_of[t]) == 1);
}

static bool has_anti(const hf_poly *p, hf_txn_id t)
{
    return (p->events[t] & HF_EVENT_ANTI) && hf_poly_happens(p, t);
}

static hf_txn_id reader_of(const hf_poly *p, uint32_t candidate)
{
    hf_lit var = p->candidates.at[candidate].var;

    return p->choices.at[p->vars.at[var].a].reader;
}

bool hf_poly_add_edge(hf_poly *p, uint32_t from, uint32_t to, uint32_t tag,
                      hf_lit *why, uint32_t n)
{
    uint32_t ends[2] = {from, to};

    for (unsigned i = 0; i < 2; i++) {
        hf_lit happened;

        if (ends[i] >= p->nodes.times)
            continue;
        happened = hf_poly_happened(p, ends[i] / 2);
        if (happened == HF_LIT_NONE || (n > 0 && why[n - 1] == happened) ||
            (n > 0 && why[0] == happened))
            continue;
        if (hf_order_value(p->order, happened) != 1)
            return true;
        why[n++] = happened;
    }
    return hf_order_edge(p->order, from, to, tag, why, n);
}

/* ---- sources ------------------------------------------------------------- */

static bool add_chosen(hf_poly *p, uint32_t from, uint32_t to, hf_lit lit)
{
    hf_lit why[3] = {lit};

    return hf_poly_add_edge(p, from, to, lit, why, 1);
}

static uint32_t candidate_of(const hf_poly *p, hf_lit lit)
{
    hf_poly_var v = p->vars.at[HF_LIT_VAR(lit)];

    return p->choices.at[v.a].first + v.b;
}

/* Of a key of known order: up to the next version that is certainly there. */
static bool link_closed(hf_poly *p, hf_txn_id r, hf_key_id key, uint32_t ver,
                        hf_lit lit)
{
    const hf_graph *g = p->g;

    for (uint32_t v = ver + 1; v < g->ver_end[key]; v++) {
        hf_txn_id t = g->ver_txn[v];

        if (t == r)
            return true;
        if (!add_chosen(p, hf_poly_start(p, r), hf_poly_commit(p, t), lit))
            return false;
        if (!hf_poly_is_uncertain(p, t))
            return true;
    }
    return true;
}

/* The edges of a source that is taken; the order of atoms apart.  False: a
 * conflict. */
static bool link_source(hf_poly *p, uint32_t candidate)
{
    const hf_graph *g = p->g;
    hf_poly_candidate x = p->candidates.at[candidate];
    const hf_poly_choice *c = &p->choices.at[p->vars.at[x.var].a];
    hf_txn_id r = c->reader;
    hf_key_id key = c->key;
    hf_lit lit = 2 * x.var;

    if (x.writer != HF_NONE && (p->events[r] & HF_EVENT_READS) &&
        !add_chosen(p, hf_poly_commit(p, x.writer), hf_poly_start(p, r), lit))
        return false;
    if (!(p->events[r] & HF_EVENT_ANTI))
        return true;
    if (p->key_index[key] == HF_NONE)
        return link_closed(p, r, key, x.ver, lit);
    if (p->next[x.ver] == HF_NONE)
        hf_poly_mark_dirty(p, p->atom[x.ver]);
    else if (g->ver_txn[p->next[x.ver]] != r)
        return add_chosen(p, hf_poly_start(p, r),
                          hf_poly_commit(p, g->ver_txn[p->next[x.ver]]), lit);
    return true;
}

void hf_poly_take_source(hf_poly *p, hf_lit lit)
{
    uint32_t i = candidate_of(p, lit);
    hf_poly_candidate *x = &p->candidates.at[i];

    x->next = p->chosen_head[x->ver];
    p->chosen_head[x->ver] = i;
    (void)link_source(p, i);
}

void hf_poly_drop_source(hf_poly *p, hf_lit lit)
{
    uint32_t i = candidate_of(p, lit);
    const hf_poly_candidate *x = &p->candidates.at[i];

    if (p->chosen_head[x->ver] != i)
        HF_BUG("sources are not taken back in their order");
    p->chosen_head[x->ver] = x->next;
}

void hf_poly_mark_chosen(hf_poly *p, hf_txn_id t)
{
    for (uint32_t i = p->choice_first[t]; i < p->choice_first[t + 1]; i++) {
        const hf_poly_choice *c = &p->choices.at[i];

        if (p->stale)
            hf_poly_mark_stale(p, i);
        if (p->key_index[c->key] == HF_NONE || c->entry)
            continue;
        for (uint32_t k = c->first; k < c->first + c->n; k++) {
            const hf_poly_candidate *x = &p->candidates.at[k];

            if (p->next[x->ver] == HF_NONE &&
                hf_order_value(p->order, 2 * x->var) == 1)
                hf_poly_mark_dirty(p, p->atom[x->ver]);
        }
    }
}

/* ---- outcomes ------------------------------------------------------------ */

/* Chosen readers of versions before v, in a key of known order. */
static bool link_back(hf_poly *p, hf_key_id key, uint32_t v)
{
    const hf_graph *g = p->g;
    uint32_t a = v;

    do {
        a--;
        for (uint32_t i = p->chosen_head[a]; i != HF_NONE;
             i = p->candidates.at[i].next)
            if ((p->events[reader_of(p, i)] & HF_EVENT_ANTI) &&
                !link_closed(p, reader_of(p, i), key, a,
                             2 * p->candidates.at[i].var))
                return false;
    } while (g->ver_txn[a] != HF_NONE &&
             hf_poly_is_uncertain(p, g->ver_txn[a]));
    return true;
}

bool hf_poly_link_happened(hf_poly *p, hf_txn_id t)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], v = role / 2;

        if (role == HF_NONE || !(role & 1u))
            continue;
        for (uint32_t i = p->chosen_head[v]; i != HF_NONE;
             i = p->candidates.at[i].next)
            if (!link_source(p, i))
                return false;
        if (p->key_index[h->op_key[o]] == HF_NONE) {
            if (!link_back(p, h->op_key[o], v))
                return false;
        } else {
            hf_poly_mark_dirty(p, p->atom[v]);
        }
    }
    for (uint32_t i = p->choice_first[t]; i < p->choice_first[t + 1]; i++) {
        const hf_poly_choice *c = &p->choices.at[i];

        for (uint32_t k = c->first; !c->entry && k < c->first + c->n; k++)
            if (hf_order_value(p->order, 2 * p->candidates.at[k].var) == 1 &&
                !link_source(p, k))
                return false;
    }
    for (uint32_t i = p->touch_first[t]; i < p->touch_first[t + 1]; i++)
        hf_poly_mark_dirty(p, p->touched[i]);
    return true;
}

/* ---- pairs --------------------------------------------------------------- */

static uint32_t behind(uint32_t from, uint32_t to)
{
    return from > to ? from - to : 0;
}

uint32_t hf_poly_far(const hf_poly *p, uint32_t a, uint32_t b)
{
    const hf_graph *g = p->g;
    const uint32_t *place = hf_order_place(p->order);
    uint32_t last = p->tail[a], worst, far;
    hf_txn_id t = g->ver_txn[b];
    uint32_t at = place[hf_poly_commit(p, t)];

    worst = behind(place[hf_poly_commit(p, g->ver_txn[last])],
                   place[hf_poly_entry(p, t)]);
    for (uint32_t i = g->reader_first ? g->reader_first[last] : 0;
         g->reader_first && i < g->reader_first[last + 1]; i++) {
        hf_txn_id r = g->reader_txn[i];

        if (r == t || !has_anti(p, r))
            continue;
        far = behind(place[hf_poly_start(p, r)], at);
        worst = far > worst ? far : worst;
    }
    for (uint32_t i = p->chosen_head[last]; i != HF_NONE;
         i = p->candidates.at[i].next) {
        hf_txn_id r = reader_of(p, i);

        if (r == t || !has_anti(p, r))
            continue;
        far = behind(place[hf_poly_start(p, r)], at);
        worst = far > worst ? far : worst;
    }
    return worst;
}

/* The tag of an edge that two choices ask for. */
static uint32_t tag_of(hf_poly *p, hf_lit pair, hf_lit from)
{
    uint64_t name = (uint64_t)pair << 32 | from;
    uint32_t number = hf_map_get(&p->both_of, name);

    if (number == UINT32_MAX) {
        number = (uint32_t)p->both.n;
        hf_vec_push(&p->both, (hf_poly_both){pair, from});
        hf_map_set(&p->both_of, name, number);
    }
    return HF_POLY_BOTH | number;
}

/* 1: added; 0: not needed; -1: a conflict. */
static int add_paired(hf_poly *p, uint32_t from, uint32_t to, hf_lit pair,
                      hf_lit source, bool all)
{
    const uint32_t *place = hf_order_place(p->order);
    hf_lit why[4] = {pair, source};

    if (!all && place[from] < place[to])
        return 0;
    if (source == HF_LIT_NONE)
        return hf_poly_add_edge(p, from, to, pair, why, 1) ? 1 : -1;
    return hf_poly_add_edge(p, from, to, tag_of(p, pair, source), why, 2) ? 1
                                                                          : -1;
}

bool hf_poly_link(hf_poly *p, hf_lit lit, bool all)
{
    const hf_graph *g = p->g;
    hf_poly_var pair = p->vars.at[HF_LIT_VAR(lit)];
    uint32_t a = lit & 1u ? pair.b : pair.a;
    uint32_t b = lit & 1u ? pair.a : pair.b;
    uint32_t last = p->tail[a], to;
    hf_txn_id t = g->ver_txn[b], w = g->ver_txn[last];
    int added;
    bool any;

    if (!hf_poly_happens(p, t) || !hf_poly_happens(p, w))
        return false;
    added = add_paired(p, hf_poly_commit(p, w), hf_poly_entry(p, t), lit,
                       HF_LIT_NONE, all);
    any = added != 0;
    to = hf_poly_commit(p, t);
    for (uint32_t i = g->reader_first ? g->reader_first[last] : 0;
         g->reader_first && i < g->reader_first[last + 1] && added >= 0; i++) {
        hf_txn_id r = g->reader_txn[i];

        if (r == t || !has_anti(p, r))
            continue;
        added = add_paired(p, hf_poly_start(p, r), to, lit, HF_LIT_NONE, all);
        any |= added != 0;
    }
    for (uint32_t i = p->chosen_head[last]; i != HF_NONE && added >= 0;
         i = p->candidates.at[i].next) {
        hf_txn_id r = reader_of(p, i);

        if (r == t || !has_anti(p, r))
            continue;
        added = add_paired(p, hf_poly_start(p, r), to, lit,
                           2 * p->candidates.at[i].var, all);
        any |= added != 0;
    }
    return any;
}

bool hf_poly_link_first(hf_poly *p, const uint32_t *atoms, uint32_t n)
{
    const hf_graph *g = p->g;
    const uint32_t *place = hf_order_place(p->order);
    bool any = false;

    for (uint32_t i = p->chosen_head[p->tail[atoms[0]]]; i != HF_NONE;
         i = p->candidates.at[i].next) {
        hf_txn_id r = reader_of(p, i);
        uint32_t start = hf_poly_start(p, r);

        for (uint32_t k = 1; k < n && has_anti(p, r); k++) {
            hf_txn_id t = g->ver_txn[atoms[k]];

            if (t == r)
                continue;
            if (place[hf_poly_commit(p, t)] > place[start])
                break;
            if (!add_chosen(p, start, hf_poly_commit(p, t),
                            2 * p->candidates.at[i].var))
                return true;
            any = true;
        }
    }
    return any;
}

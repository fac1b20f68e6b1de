/* brute_edges.c: the dependency relations of one world.
 *
 * The relations are closed along the version order: ww is "before in the
 * version order of some key", rw is "reads a version that is before".  The
 * catalog's direct edges have the same cycles of every class, because a ww
 * step may be inserted anywhere.
 *
 *   ww   i's version of x before j's
 *   wr   j reads i's version of an item
 *   rw   i reads a version of an item that is before j's
 *   pwr  j looked at a version of x that is i's or after it, and i's changes
 *        the matches
 *   prw  i looked at a version of x that is before j's, and j's changes the
 *        matches
 *
 * The last two are for entries of a version set that were not returned; a row
 * that was returned is an item that was read.  A read of an own write is not
 * in the case, so it makes no edge.
 */
#include "check/brute.h"

/* Nodes that wrote the key and are in the world. */
static uint8_t writers_of(const hf_brute_case *c, const hf_brute_world *w,
                          hf_key_id key)
{
    return c->keys[key].writers & w->committed;
}

void hf_brute_world_begin(const hf_brute_case *c, hf_brute_world *w)
{
    w->so = hf_relation_within(c->so, w->committed);
    w->rt = hf_relation_within(c->rt, w->committed);
    w->ww = w->wr = w->rw = w->pwr = w->prw = (hf_relation){0};
    for (size_t i = 0; i < c->written.n; i++) {
        uint8_t writers = c->written.at[i] & w->committed, earlier = 0;

        for (unsigned at = 0; at < w->n; at++) {
            unsigned t = w->order[at];

            if (!((writers >> t) & 1u))
                continue;
            w->ww.to[t] |= (uint8_t)(writers & ~earlier & ~(1u << t));
            earlier |= (uint8_t)(1u << t);
        }
    }
    for (size_t r = 0; r < c->reads.n; r++)
        w->source[r] = HF_BRUTE_UNSET;
}

bool hf_brute_changes(const hf_brute_case *c, const hf_brute_world *w,
                      const hf_brute_read *r, unsigned x)
{
    uint8_t writers = writers_of(c, w, r->key);
    unsigned before = HF_BRUTE_INITIAL;

    for (int at = 0; at < w->place[x]; at++)
        if ((writers >> w->order[at]) & 1u)
            before = w->order[at];
    return ((r->matches >> x) & 1u) != ((r->matches >> before) & 1u);
}

static void item_edges(const hf_brute_case *c, hf_brute_world *w, uint32_t i)
{
    const hf_brute_read *r = &c->reads.at[i];
    unsigned source = w->source[i];
    uint8_t writers = writers_of(c, w, r->key);

    if (source != HF_BRUTE_INITIAL) {
        hf_relation_add(&w->wr, source, r->node);
        w->from[i] |= (uint8_t)(1u << source);
    }
    for (unsigned t = 0; t < c->n_nodes; t++)
        if (((writers >> t) & 1u) && t != r->node &&
            w->place[t] > w->place[source])
            hf_relation_add(&w->rw, r->node, t);
}

static void predicate_edges(const hf_brute_case *c, hf_brute_world *w,
                            uint32_t i)
{
    const hf_brute_read *r = &c->reads.at[i];
    uint8_t writers = writers_of(c, w, r->key);

    for (unsigned t = 0; t < c->n_nodes; t++) {
        if (!((writers >> t) & 1u) || t == r->node ||
            !hf_brute_changes(c, w, r, t))
            continue;
        if (w->place[t] <= w->place[w->source[i]]) {
            hf_relation_add(&w->pwr, t, r->node);
            w->from[i] |= (uint8_t)(1u << t);
        } else {
            hf_relation_add(&w->prw, r->node, t);
        }
    }
}

void hf_brute_world_read(const hf_brute_case *c, hf_brute_world *w, uint32_t r)
{
    w->from[r] = 0;
    if (c->reads.at[r].item)
        item_edges(c, w, r);
    else
        predicate_edges(c, w, r);
}

/* ---- lists -------------------------------------------------------------- */

/* The elements of a key in version order, each with its writer. */
typedef struct sequence {
    const hf_brute_case *c;
    const hf_brute_world *w;
    hf_key_id key;
} sequence;

/* Element number `n` of the sequence as a write; HF_NONE past the end. */
static uint32_t element_at(const sequence *s, uint32_t n)
{
    const hf_brute_key *k = &s->c->keys[s->key];

    for (unsigned at = 0; at < s->w->n; at++) {
        unsigned t = s->w->order[at];

        if (n < k->n_writes[t])
            return s->c->appends[k->first_write[t] + n];
        n -= k->n_writes[t];
    }
    return HF_NONE;
}

/* Was this element appended by a transaction that did not happen here? */
static bool may_be_aborted(const sequence *s, const hf_brute_element *e)
{
    const hf_brute_write *w;

    for (uint32_t i = s->c->first_equal[e->value]; i != HF_NONE;
         i = w->next_equal) {
        w = &s->c->writes.at[i];
        if (w->node == HF_BRUTE_UNSET || !((s->w->committed >> w->node) & 1u))
            return true;
    }
    return false;
}

/* May the list end in this write?  A reader with own appends before must see
 * its last one; HF_NONE is the empty list or an aborted element. */
static bool may_end_in(const sequence *s, const hf_brute_read *r, uint32_t last)
{
    const hf_brute_key *k = &s->c->keys[r->key];

    return r->own_before == 0 ||
           last == s->c->appends[k->first_write[r->node] + r->own_before - 1];
}

/* Is the list, from element i on, what follows the first n elements of the
 * sequence, elements that may be aborted left out unless `reads_matter`
 * forbids them?  *ret_last is the write that the last element is, HF_NONE for
 * the empty list or an aborted one. */
static bool is_prefix(const sequence *s, const hf_brute_read *r,
                      bool reads_matter, uint32_t i, uint32_t n,
                      uint32_t *ret_last)
{
    const hf_brute_element *e = hf_brute_elements(s->c, r);
    uint32_t last = HF_NONE;

    for (; i < r->n_elements; i++, n++) {
        bool may_skip = !reads_matter && may_be_aborted(s, &e[i]);

        last = element_at(s, n);
        if (last == HF_NONE || s->c->writes.at[last].value != e[i].value) {
            if (!may_skip)
                return false;
            last = HF_NONE;
            n--;
        } else if (may_skip &&
                   is_prefix(s, r, reads_matter, i + 1, n, ret_last)) {
            return true; /* appended twice, this one by the aborted one */
        }
    }
    *ret_last = last;
    return may_end_in(s, r, last);
}

/* Where a list read comes from in this order. */
static bool list_source(const sequence *s, const hf_brute_read *r,
                        bool reads_matter, uint8_t *ret_source)
{
    const hf_brute_write *last;
    uint32_t i;

    if (!is_prefix(s, r, reads_matter, 0, 0, &i))
        return false;
    *ret_source = HF_BRUTE_UNSET;
    if (r->own_before > 0)
        return true;
    if (r->n_elements == 0)
        *ret_source = HF_BRUTE_INITIAL;
    if (r->n_elements == 0 || !reads_matter)
        return true;
    last = &s->c->writes.at[i];
    *ret_source = last->node;
    return last->last && last->node != r->node;
}

bool hf_brute_world_lists(const hf_brute_case *c, hf_brute_world *w,
                          uint8_t readers)
{
    if (c->n_appended == 0)
        return true;
    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i];
        sequence s = {.c = c, .w = w, .key = r->key};

        if (r->list && ((w->committed >> r->node) & 1u) &&
            !list_source(&s, r, readers >> r->node & 1u, &w->source[i]))
            return false;
        if (r->list && !(readers >> r->node & 1u))
            w->source[i] = HF_BRUTE_UNSET;
    }
    return true;
}

/* brute_promises.c: does a world keep what the user assumes of its versions?
 *
 * The definition (docs/semantics.md, "What a verdict may rest on") word by
 * word: who touches which version, and for each two touches of one key whether
 * an assumption puts the one version before the other.  Nothing about it
 * depends on levels, but that a transaction at read-uncommitted touches what it
 * certainly returned only.
 *
 * O(t^2) for t touches, once all sources of a world are chosen.
 */
#include "check/brute.h"

typedef struct touch {
    hf_key_id key;
    uint8_t node;
    uint8_t version; /* whose; HF_BRUTE_INITIAL */
    bool reads;
} touch;

typedef HF_VEC(touch) touches;

/* Where reads do not count: the one version it can have returned, if there is
 * one in this world.  Somebody may have written the value several times. */
static uint8_t certain_source(const hf_brute_case *c, const hf_brute_world *w,
                              const hf_brute_read *r)
{
    bool initial = (r->sources >> HF_BRUTE_INITIAL) & 1u;
    hf_value_id value = r->value;
    const hf_brute_write *last = NULL;

    if (r->counted)
        return HF_BRUTE_UNSET;
    if (r->list && r->n_elements > 0)
        value = c->elements.at[r->first_element + r->n_elements - 1].value;
    for (uint32_t i = c->first_equal[value]; i != HF_NONE;
         i = c->writes.at[i].next_equal) {
        const hf_brute_write *x = &c->writes.at[i];

        if (x->op == r->op || x->append != r->list ||
            (r->writer != HF_NONE && r->writer != x->txn))
            continue;
        if (initial || (last && (r->list || last->txn != x->txn)))
            return HF_BRUTE_UNSET;
        if (!last || x->last)
            last = x;
    }
    if (!last)
        return initial ? HF_BRUTE_INITIAL : HF_BRUTE_UNSET;
    if (last->node == HF_BRUTE_UNSET || !last->last || last->node == r->node ||
        !((w->committed >> last->node) & 1u))
        return HF_BRUTE_UNSET;
    return last->node;
}

static void add_reads(const hf_brute_search *s, touches *all)
{
    const hf_brute_case *c = s->c;
    const hf_brute_world *w = &s->world;

    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i];
        uint8_t from = HF_BRUTE_UNSET;

        if (!r->item || r->own_before > 0 || !((w->committed >> r->node) & 1u))
            continue;
        if ((s->levels->readers >> r->node) & 1u)
            from = w->source[i];
        else
            from = certain_source(c, w, r);
        if (from != HF_BRUTE_UNSET)
            hf_vec_push(all, (touch){r->key, r->node, from, true});
    }
}

static void add_writes(const hf_brute_search *s, touches *all)
{
    const hf_brute_case *c = s->c;

    for (uint32_t i = 0; i < c->writes.n; i++) {
        const hf_brute_write *x = &c->writes.at[i];

        if (x->last && x->node != HF_BRUTE_UNSET &&
            ((s->world.committed >> x->node) & 1u))
            hf_vec_push(all, (touch){x->key, x->node, x->node, false});
    }
}

/* Does an assumption put the version of a before that of b? */
static bool is_put_before(const hf_brute_search *s, const touch *a,
                          const touch *b)
{
    const hf_brute_case *c = s->c;

    if (a->key != b->key || a->version == b->version)
        return false;
    return ((s->promised & HF_REST_LINEARIZABLE) &&
            hf_relation_has(&c->rt, a->node, b->node)) ||
           ((s->promised & HF_REST_SEQUENTIAL) &&
            hf_relation_has(&c->so, a->node, b->node)) ||
           ((s->promised & HF_REST_READS) && a->node == b->node && a->reads &&
            !b->reads);
}

bool hf_brute_keeps_promises(const hf_brute_search *s)
{
    const int8_t *place = s->world.place;
    touches all = {0};
    bool kept = true;

    if (!s->promised)
        return true;
    add_reads(s, &all);
    add_writes(s, &all);
    for (size_t i = 0; i < all.n && kept; i++)
        for (size_t j = 0; j < all.n && kept; j++)
            kept = !is_put_before(s, &all.at[i], &all.at[j]) ||
                   place[all.at[i].version] < place[all.at[j].version];
    hf_vec_release(&all);
    return kept;
}

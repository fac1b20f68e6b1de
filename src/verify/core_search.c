/* core_search.c: every order of a core's transactions.
 *
 * Outcomes not known are tried both ways.  Then transactions are placed one
 * after the other in commit order, which is also the version order of every
 * key, and each is judged when it is placed by what stands before it: all
 * that the levels ask about a transaction lies in its past.
 *
 *   serializable, repeatable read   its reads return what is current
 *   snapshot isolation              there is a place for its start, between
 *                                   the commits, such that its reads return
 *                                   what was current there and nobody wrote
 *                                   its keys since
 *   read committed and above        each read is given a source among those
 *                                   placed, every way; then the condition of
 *                                   the level, with sets as bit masks
 *   read uncommitted                nothing but lists, once all are placed
 *
 * No graph is built and no cycle looked for.  At most 8! orders times the
 * ways to settle outcomes and sources; a wrong prefix is never continued.
 */
#include "verify/core.h"

#include "base/error.h"

typedef struct search {
    hf_core *c;
    unsigned in;     /* those that happened */
    unsigned placed; /* so far */
    uint32_t n_placed;
    uint32_t order[HF_CORE_MOST];
    /* of those placed: whom they read from; what is before them along
     * (so + wr)+; along ww, wr (and so) */
    unsigned sources[HF_CORE_MOST];
    unsigned causal[HF_CORE_MOST];
    unsigned depends[HF_CORE_MOST];
    /* sources chosen for the one being placed: bit or 0 for initial */
    unsigned *chosen;
} search;

static bool extend(search *s);

/* ---- states -------------------------------------------------------------- */

/* The value of key after the first n; *ret_initial if nobody wrote it. */
static hf_value_id value_after(const search *s, uint32_t n, uint32_t key,
                               bool *ret_initial)
{
    *ret_initial = false;
    while (n-- > 0)
        if (s->c->writers[key] & 1u << s->order[n])
            return s->c->txns[s->order[n]].last[key];
    *ret_initial = true;
    return HF_NONE;
}

/* Matches t's appends to key (at most `most`) against items from *at on. */
static bool match_appends(const hf_core_txn *t, uint32_t key, uint32_t most,
                          const hf_core_read *r, uint32_t *at)
{
    for (uint32_t i = 0; i < t->n_appends && most > 0; i++) {
        if (t->appends[i].key != key)
            continue;
        if (*at >= r->n_items || r->items[*at] != t->appends[i].value)
            return false;
        ++*at;
        most--;
    }
    return true;
}

/* Is the list r what the first n appended, plus the own appends before r? */
static bool list_is(const search *s, const hf_core_read *r, uint32_t n,
                    uint32_t reader)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!match_appends(&s->c->txns[s->order[i]], r->key, UINT32_MAX, r,
                           &at))
            return false;
    return match_appends(&s->c->txns[reader], r->key, r->own, r, &at) &&
           at == r->n_items;
}

static bool read_fits(const search *s, const hf_core_read *r, uint32_t n,
                      uint32_t reader)
{
    bool initial;
    hf_value_id value;

    if (r->is_list)
        return list_is(s, r, n, reader);
    value = value_after(s, n, r->key, &initial);
    return initial ? r->initial : value == r->value;
}

static bool reads_fit(const search *s, uint32_t t, uint32_t n)
{
    const hf_core_txn *x = &s->c->txns[t];

    for (uint32_t i = 0; i < x->n_reads; i++)
        if (!read_fits(s, &x->reads[i], n, t))
            return false;
    return true;
}

/* ---- snapshots ----------------------------------------------------------- */

static bool writes_overlap(const search *s, uint32_t t, uint32_t start)
{
    unsigned since = 0;

    for (uint32_t i = start; i < s->n_placed; i++)
        since |= 1u << s->order[i];
    for (uint32_t k = 0; k < s->c->n_keys; k++)
        if ((s->c->writers[k] & 1u << t) && (s->c->writers[k] & since))
            return true;
    return false;
}

static bool has_snapshot(const search *s, uint32_t t)
{
    unsigned follows = s->c->txns[t].follows & s->in;
    uint32_t least = 0;

    for (uint32_t i = 0; i < s->n_placed; i++)
        if (follows & 1u << s->order[i])
            least = i + 1;
    for (uint32_t start = least; start <= s->n_placed; start++)
        if (!writes_overlap(s, t, start) && reads_fit(s, t, start))
            return true;
    return false;
}

/* ---- conditions ---------------------------------------------------------- */

static unsigned union_over(unsigned set, const unsigned *table)
{
    unsigned all = 0;

    for (uint32_t i = 0; i < HF_CORE_MOST; i++)
        if (set & 1u << i)
            all |= table[i];
    return all;
}

/* Those before any of `set` in session order. */
static unsigned sessions_of(const search *s, unsigned set)
{
    unsigned all = 0;

    for (uint32_t i = 0; i < s->c->n; i++)
        if (set & 1u << i)
            all |= s->c->txns[i].session;
    return all & s->in;
}

/* Everything placed up to the last of `set`. */
static unsigned prefix_of(const search *s, unsigned set)
{
    unsigned all = 0, so_far = 0;

    for (uint32_t i = 0; i < s->n_placed; i++) {
        so_far |= 1u << s->order[i];
        if (set & 1u << s->order[i])
            all = so_far;
    }
    return all;
}

/* What is visible to t, whose sources are all chosen, but for the condition
 * on earlier reads. */
static unsigned visible_to(const search *s, uint32_t t, unsigned sources)
{
    unsigned axiom = s->c->v->info->axiom;
    unsigned session = s->c->txns[t].session & s->in;
    unsigned all = 0;

    if (s->c->v->info->shape == HF_SHAPE_SINGLE)
        return s->depends[t];
    if (axiom & HF_AXIOM_SO)
        all |= session;
    if (axiom & HF_AXIOM_WR)
        all |= sources;
    if (axiom & HF_AXIOM_WR_SO)
        all |= union_over(session, s->sources);
    if (axiom & HF_AXIOM_SO_WR)
        all |= sessions_of(s, sources);
    if (axiom & HF_AXIOM_WR_WR)
        all |= union_over(sources, s->sources);
    if (axiom & HF_AXIOM_WR_SO_WR)
        all |= union_over(sessions_of(s, sources), s->sources);
    if (axiom & HF_AXIOM_CAUSAL)
        all |= s->causal[t];
    if (axiom & HF_AXIOM_PREFIX)
        all |= prefix_of(s, sources | session);
    return all;
}

/* Writers of the key of read r placed after its source. */
static unsigned overwriters(const search *s, const hf_core_read *r,
                            unsigned source)
{
    unsigned later = s->placed;

    if (source)
        later &= ~prefix_of(s, source);
    return s->c->writers[r->key] & later;
}

static unsigned earlier_sources(const search *s, const hf_core_txn *x,
                                uint32_t before)
{
    unsigned all = 0;

    for (uint32_t i = 0; i < x->n_reads; i++)
        if (x->reads[i].op < x->reads[before].op)
            all |= s->chosen[i];
    return all;
}

static bool makes_no_edge(const hf_core_read *r)
{
    return r->is_list && r->own > 0;
}

static void note_past(search *s, uint32_t t, unsigned sources)
{
    unsigned session = s->c->txns[t].session & s->in;
    unsigned direct = sources;

    s->sources[t] = sources;
    s->causal[t] = sources | session;
    s->causal[t] |= union_over(s->causal[t], s->causal);
    if (s->c->v->info->session_order)
        direct |= session;
    for (uint32_t k = 0; k < s->c->n_keys; k++)
        if (s->c->writers[k] & 1u << t)
            direct |= s->c->writers[k] & s->placed;
    s->depends[t] = direct | union_over(direct, s->depends);
}

/* All sources of t are chosen: INT and the condition of the level. */
static bool condition_holds(search *s, uint32_t t)
{
    const hf_core_txn *x = &s->c->txns[t];
    const hf_level_info *info = s->c->v->info;
    bool earlier = info->shape == HF_SHAPE_OTV ||
                   (info->axiom & HF_AXIOM_EARLIER_READ);
    unsigned sources = 0, visible;

    for (uint32_t i = 0; i < x->n_reads; i++)
        sources |= s->chosen[i];
    note_past(s, t, sources);
    visible = visible_to(s, t, sources);
    for (uint32_t i = 0; i < x->n_reads; i++) {
        const hf_core_read *r = &x->reads[i];
        unsigned seen = visible;

        if (makes_no_edge(r))
            continue;
        if (earlier)
            seen |= earlier_sources(s, x, i);
        if (seen & overwriters(s, r, s->chosen[i]))
            return false;
        for (uint32_t j = 0; info->internal && j < i; j++)
            if (x->reads[j].key == r->key && !makes_no_edge(&x->reads[j]) &&
                s->chosen[j] != s->chosen[i])
                return false;
    }
    return true;
}

static void place(search *s, uint32_t t)
{
    s->order[s->n_placed++] = t;
    s->placed |= 1u << t;
}

static void take_back(search *s, uint32_t t)
{
    s->n_placed--;
    s->placed &= ~(1u << t);
}

static bool go_on_with(search *s, uint32_t t)
{
    bool found;

    place(s, t);
    found = extend(s);
    take_back(s, t);
    return found;
}

/* Sources for t's reads from number i on, every way; then the rest of the
 * order.  `chosen` is the part of the array that belongs to t. */
static bool choose(search *s, uint32_t t, uint32_t i, unsigned *chosen)
{
    const hf_core_txn *x = &s->c->txns[t];
    const hf_core_read *r;

    if (hf_out_of_budget(s->c->v))
        return false;
    s->chosen = chosen;
    if (i == x->n_reads)
        return condition_holds(s, t) && go_on_with(s, t);
    r = &x->reads[i];
    chosen[i] = 0;
    if (makes_no_edge(r))
        return list_is(s, r, s->n_placed, t) && choose(s, t, i + 1, chosen);
    if ((r->is_list ? r->n_items == 0 : r->initial) &&
        choose(s, t, i + 1, chosen))
        return true;
    for (uint32_t n = 0; n < s->n_placed; n++) {
        uint32_t w = s->order[n];

        if (!(s->c->writers[r->key] & 1u << w))
            continue;
        if (r->is_list ? !list_is(s, r, n + 1, t)
                       : s->c->txns[w].last[r->key] != r->value)
            continue;
        chosen[i] = 1u << w;
        if (choose(s, t, i + 1, chosen))
            return true;
    }
    return false;
}

/* ---- read uncommitted ---------------------------------------------------- */

/* Is the element of one that did not happen? */
static bool is_dirty(const search *s, uint32_t key, hf_value_id value)
{
    for (uint32_t t = 0; t < s->c->n; t++)
        for (uint32_t i = 0;
             !(s->in & 1u << t) && i < s->c->txns[t].n_appends; i++)
            if (s->c->txns[t].appends[i].key == key &&
                s->c->txns[t].appends[i].value == value)
                return true;
    return false;
}

/* The next element of key's sequence after the one at (*n, *i): moves on. */
static bool next_element(const search *s, uint32_t key, uint32_t *n,
                         uint32_t *i, hf_value_id *ret)
{
    for (; *n < s->n_placed; ++*n, *i = 0) {
        const hf_core_txn *t = &s->c->txns[s->order[*n]];

        for (; *i < t->n_appends; ++*i)
            if (t->appends[*i].key == key) {
                *ret = t->appends[(*i)++].value;
                return true;
            }
    }
    return false;
}

/* A list without its dirty elements is a prefix of the sequence; after own
 * appends it ends with the last of them. */
static bool dirty_list_fits(const search *s, const hf_core_read *r,
                            uint32_t reader)
{
    uint32_t n = 0, i = 0, own = 0, owner = HF_NONE;
    hf_value_id next = HF_NONE;
    bool more = next_element(s, r->key, &n, &i, &next), clean = false;

    for (uint32_t at = 0; at < r->n_items; at++) {
        clean = more && r->items[at] == next;
        if (!clean && !is_dirty(s, r->key, r->items[at]))
            return false;
        if (!clean)
            continue;
        owner = s->order[n];
        own += owner == reader;
        more = next_element(s, r->key, &n, &i, &next);
    }
    return r->own == 0 || (clean && owner == reader && own == r->own);
}

static bool dirty_lists_fit(const search *s)
{
    for (uint32_t t = 0; t < s->c->n; t++)
        for (uint32_t i = 0;
             (s->in & 1u << t) && i < s->c->txns[t].n_reads; i++)
            if (s->c->txns[t].reads[i].is_list &&
                !dirty_list_fits(s, &s->c->txns[t].reads[i], t))
                return false;
    return true;
}

/* ---- the search ---------------------------------------------------------- */

static bool try_next(search *s, uint32_t t)
{
    unsigned *chosen;

    switch (s->c->v->info->shape) {
    case HF_SHAPE_WW:
        return go_on_with(s, t);
    case HF_SHAPE_SERIAL:
    case HF_SHAPE_ITEM:
        return reads_fit(s, t, s->n_placed) && go_on_with(s, t);
    case HF_SHAPE_SNAPSHOT:
        return has_snapshot(s, t) && go_on_with(s, t);
    default:
        break;
    }
    chosen = HF_NEW_ZEROED(unsigned, s->c->txns[t].n_reads + 1);

    bool found = choose(s, t, 0, chosen);

    hf_free(chosen);
    return found;
}

static bool extend(search *s)
{
    if (s->placed == s->in)
        return s->c->v->info->shape != HF_SHAPE_WW || dirty_lists_fit(s);
    for (uint32_t t = 0; t < s->c->n; t++) {
        if (!(s->in & ~s->placed & 1u << t) ||
            (s->c->txns[t].before & s->in & ~s->placed))
            continue;
        if (hf_out_of_budget(s->c->v))
            return false;
        if (try_next(s, t))
            return true;
    }
    return false;
}

bool hf_core_has_order(hf_core *c)
{
    unsigned maybe = c->unknown;

    if (c->broken)
        return false;
    for (;;) {
        search s = {.c = c, .in = c->committed | maybe};
        bool broken = false;

        for (uint32_t t = 0; t < c->n; t++)
            broken |= (s.in & 1u << t) && c->txns[t].broken;
        if (!broken && extend(&s))
            return true;
        if (maybe == 0 || c->v->status != HF_OK)
            return false;
        maybe = (maybe - 1) & c->unknown;
    }
}

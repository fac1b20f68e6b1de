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
 *   mixed levels                    sources for all from read committed up,
 *                                   and for each the condition of its own
 *
 * Rows that a condition did not return may have been looked at in a version
 * that comes later in the order, if nothing in between changes the matches;
 * so they are judged when all are placed (views, below), in every way to
 * choose which version each was.
 *
 * No graph is built and no cycle looked for.  At most 8! orders times the
 * ways to settle outcomes and sources; a wrong prefix is never continued.
 */
#include "verify/core.h"

#include "verify/counters.h"
#include "verify/rests.h"

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
    /* per transaction and read: the source chosen, a bit or 0 for initial */
    unsigned *chosen[HF_CORE_MOST];
    /* once all are placed, per transaction and view: those whose changes it
     * saw; the place of the first change it did not see, or HF_NONE */
    bool complete;
    unsigned *seen[HF_CORE_MOST];
    uint32_t *missed[HF_CORE_MOST];
    /* read uncommitted: of one key; see dirty_list_fits() */
    hf_value_id *elements;
    bool *can;
} search;

static bool extend(search *s);

/* Sources are chosen at all levels above read-uncommitted: others may depend on
 * what somebody read. */
static bool chooses_all(const search *s)
{
    return s->c->v->w->mixed || (s->c->v->w->rests & HF_REST_TOUCHES);
}

static const hf_level_info *level_of(const search *s, uint32_t t)
{
    return hf_level_of(s->c->v, s->c->txns[t].id);
}

/* ---- states -------------------------------------------------------------- */

/* May the register read have come from w's last write? */
static bool may_come_from(const search *s, const hf_core_read *r, uint32_t w)
{
    const hf_core_txn *x = &s->c->txns[w];

    if (r->unlisted)
        return (s->c->writers[r->key] & 1u << w) && !(r->matches >> w & 1u);
    return (s->c->writers[r->key] & 1u << w) && x->last[r->key] == r->value &&
           (r->writer == HF_NONE || r->writer == x->id);
}

/* The last of the first n that wrote key, or HF_NONE. */
static uint32_t writer_after(const search *s, uint32_t n, uint32_t key)
{
    while (n-- > 0)
        if (s->c->writers[key] & 1u << s->order[n])
            return s->order[n];
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

/* Do the first n, and the reader before the read, make the number? */
static bool sum_is(const search *s, const hf_core_read *r, uint32_t n,
                   uint32_t reader)
{
    const hf_history *h = s->c->v->h;
    hf_txn_id mine = s->c->txns[reader].id;
    hf_held now =
        hf_held_of(h, h->key_initial ? h->key_initial[r->whole] : HF_NONE);
    hf_counted c;

    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t = s->c->txns[s->order[i]].id;

        c = hf_count_of(h, t, r->whole, h->op_first[t + 1]);
        now = hf_count_on(now, &c);
    }
    c = hf_count_of(h, mine, r->whole, r->op);
    return hf_held_is_same(hf_count_on(now, &c), hf_held_of(h, r->value));
}

static bool read_fits(const search *s, const hf_core_read *r, uint32_t n,
                      uint32_t reader)
{
    uint32_t writer;

    if (r->view)
        return true;
    if (r->is_sum)
        return sum_is(s, r, n, reader);
    if (r->is_list)
        return list_is(s, r, n, reader);
    writer = writer_after(s, n, r->key);
    return writer == HF_NONE ? r->initial : may_come_from(s, r, writer);
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

/* Did anyone commit a write of t's keys from `start` to before `end`? */
static bool writes_overlap(const search *s, uint32_t t, uint32_t start,
                           uint32_t end)
{
    unsigned since = 0;

    for (uint32_t i = start; i < end; i++)
        since |= 1u << s->order[i];
    for (uint32_t k = 0; k < s->c->n_keys; k++)
        if ((s->c->writers[k] & 1u << t) && (s->c->writers[k] & since))
            return true;
    return false;
}

static bool views_allow(const search *s, uint32_t t, uint32_t start);

/* Is there a start for t, which commits as number `end`? */
static bool has_snapshot(const search *s, uint32_t t, uint32_t end)
{
    unsigned follows = s->c->txns[t].follows & s->in;
    uint32_t least = 0;

    for (uint32_t i = 0; i < end; i++)
        if (follows & 1u << s->order[i])
            least = i + 1;
    for (uint32_t start = least; start <= end; start++)
        if (!writes_overlap(s, t, start, end) && reads_fit(s, t, start) &&
            views_allow(s, t, start))
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

/* Those placed that write a key of t. */
static unsigned rivals_of(const search *s, uint32_t t)
{
    unsigned all = 0;

    for (uint32_t k = 0; k < s->c->n_keys; k++)
        if (s->c->writers[k] & 1u << t)
            all |= s->c->writers[k] & s->placed;
    return all;
}

/* What is visible to t, whose sources are all chosen, but for the condition
 * on earlier reads.  With mixed levels this is asked at all of them: where
 * there is a snapshot, it holds what it must and all before that. */
static unsigned visible_to(const search *s, uint32_t t, unsigned sources)
{
    const hf_level_info *info = level_of(s, t);
    unsigned axiom = info->axiom;
    unsigned session = s->c->txns[t].session & s->in;
    unsigned all = 0;

    if (info->shape == HF_SHAPE_SINGLE)
        return s->depends[t];
    if (info->shape == HF_SHAPE_SERIAL || info->shape == HF_SHAPE_ITEM)
        return s->placed;
    if (info->shape == HF_SHAPE_SNAPSHOT)
        return prefix_of(s, sources | rivals_of(s, t) |
                                (s->c->txns[t].follows & s->in));
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

/* Writers of the key of read i that make it outdated if they are visible. */
static unsigned overwriters(const search *s, uint32_t t, uint32_t i)
{
    const hf_core_read *r = &s->c->txns[t].reads[i];
    unsigned later = s->placed;

    if (r->view) {
        for (uint32_t n = 0; n < s->n_placed; n++)
            if (s->missed[t][i] == HF_NONE || n < s->missed[t][i])
                later &= ~(1u << s->order[n]);
    } else if (s->chosen[t][i]) {
        later &= ~prefix_of(s, s->chosen[t][i]);
    }
    return s->c->writers[r->key] & later;
}

/* Whom read i of t makes it depend on. */
static unsigned read_from(const search *s, uint32_t t, uint32_t i)
{
    if (!s->c->txns[t].reads[i].view)
        return s->chosen[t][i];
    return s->complete ? s->seen[t][i] : 0;
}

static unsigned earlier_sources(const search *s, uint32_t t, uint32_t before)
{
    const hf_core_txn *x = &s->c->txns[t];
    unsigned all = 0;

    for (uint32_t i = 0; i < x->n_reads; i++)
        if (x->reads[i].op < x->reads[before].op)
            all |= read_from(s, t, i);
    return all;
}

/* Reads of lists after own appends say nothing about others. */
static bool makes_no_edge(const hf_core_read *r)
{
    return (r->is_list || r->is_sum) && r->own > 0;
}

static void note_past(search *s, uint32_t t, unsigned sources)
{
    unsigned session = s->c->txns[t].session & s->in;
    unsigned direct =
        sources | rivals_of(s, t) | (s->c->txns[t].follows & s->in);

    s->sources[t] = sources;
    s->causal[t] = sources | session;
    s->causal[t] |= union_over(s->causal[t], s->causal);
    s->depends[t] = direct | union_over(direct, s->depends);
}

/* INT among items. */
static bool items_repeat(const search *s, uint32_t t, uint32_t i)
{
    const hf_core_read *r = s->c->txns[t].reads;

    for (uint32_t j = 0; j < i; j++)
        if (r[j].key == r[i].key && !r[j].view && !makes_no_edge(&r[j]) &&
            s->chosen[t][j] != s->chosen[t][i])
            return false;
    return true;
}

/* All sources of t are chosen: INT and the condition of the level.  Views
 * count once the order is complete; leaving them out before that is right,
 * since they only add demands. */
static bool condition_holds(search *s, uint32_t t)
{
    const hf_core_txn *x = &s->c->txns[t];
    const hf_level_info *info = level_of(s, t);
    bool earlier =
        info->shape == HF_SHAPE_OTV || (info->axiom & HF_AXIOM_EARLIER_READ);
    unsigned sources = 0, visible;

    for (uint32_t i = 0; i < x->n_reads; i++)
        sources |= read_from(s, t, i);
    note_past(s, t, sources);
    visible = visible_to(s, t, sources);
    for (uint32_t i = 0; i < x->n_reads; i++) {
        const hf_core_read *r = &x->reads[i];
        unsigned seen = visible;

        if (makes_no_edge(r) ||
            (r->view && (!s->complete || info->shape == HF_SHAPE_ITEM)))
            continue;
        if (earlier)
            seen |= earlier_sources(s, t, i);
        if (seen & overwriters(s, t, i))
            return false;
        if (info->internal && !r->view && !items_repeat(s, t, i))
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

/* Sources for t's items from number i on, every way; then the rest of the
 * order. */
static bool choose(search *s, uint32_t t, uint32_t i)
{
    const hf_core_txn *x = &s->c->txns[t];
    const hf_core_read *r;

    if (hf_out_of_budget(s->c->v))
        return false;
    if (i == x->n_reads)
        return condition_holds(s, t) && go_on_with(s, t);
    r = &x->reads[i];
    s->chosen[t][i] = 0;
    if (r->view)
        return choose(s, t, i + 1);
    if (makes_no_edge(r))
        return read_fits(s, r, s->n_placed, t) && choose(s, t, i + 1);
    if ((r->is_list ? r->n_items == 0 : r->initial) && choose(s, t, i + 1))
        return true;
    for (uint32_t n = 0; n < s->n_placed; n++) {
        uint32_t w = s->order[n];

        if (r->is_list || r->is_sum ? !(s->c->writers[r->key] & 1u << w) ||
                                          !read_fits(s, r, n + 1, t)
                                    : !may_come_from(s, r, w))
            continue;
        s->chosen[t][i] = 1u << w;
        if (choose(s, t, i + 1))
            return true;
    }
    return false;
}

/* ---- views --------------------------------------------------------------- */

/* The order is complete and view i of t looked at the version of `source`
 * (HF_NONE: the initial one): which changes did it see, and which not? */
static void look(search *s, uint32_t t, uint32_t i, uint32_t source)
{
    const hf_core_read *r = &s->c->txns[t].reads[i];
    bool now = r->initial_matches, passed = source == HF_NONE;

    s->seen[t][i] = 0;
    s->missed[t][i] = HF_NONE;
    for (uint32_t n = 0; n < s->n_placed; n++) {
        uint32_t w = s->order[n];
        bool then = r->matches >> w & 1u;

        if (!(s->c->writers[r->key] & 1u << w))
            continue;
        if (then != now && !passed && w != t)
            s->seen[t][i] |= 1u << w;
        if (then != now && passed && s->missed[t][i] == HF_NONE)
            s->missed[t][i] = n;
        passed |= w == source;
        now = then;
    }
}

/* What the views of t saw was committed before `start`, what they missed was
 * not. */
static bool views_allow(const search *s, uint32_t t, uint32_t start)
{
    const hf_core_txn *x = &s->c->txns[t];
    bool misses = s->c->v->info->shape != HF_SHAPE_ITEM;
    unsigned before = 0;

    for (uint32_t n = 0; n < start; n++)
        before |= 1u << s->order[n];
    for (uint32_t i = 0; s->complete && i < x->n_reads; i++)
        if (x->reads[i].view &&
            ((s->seen[t][i] & ~before) || (misses && s->missed[t][i] < start)))
            return false;
    return true;
}

/* Everything is settled: goes through the order once more. */
static bool holds_with_views(search *s)
{
    hf_level_shape shape = s->c->v->info->shape;
    bool mixed = chooses_all(s);
    uint32_t all = s->n_placed;
    search without = *s; /* what is known of the past, but for views */
    bool fine = true;

    s->complete = true;
    for (uint32_t n = 0; n < all && fine; n++) {
        uint32_t t = s->order[n];

        if (level_of(s, t)->shape == HF_SHAPE_WW)
            continue;
        if (!mixed && shape == HF_SHAPE_SNAPSHOT) {
            fine = has_snapshot(s, t, n);
            continue;
        }
        if (!mixed && (shape == HF_SHAPE_SERIAL || shape == HF_SHAPE_ITEM)) {
            fine = views_allow(s, t, n);
            continue;
        }
        s->placed = 0;
        for (uint32_t i = 0; i < n; i++)
            s->placed |= 1u << s->order[i];
        s->n_placed = n;
        for (uint32_t i = 0; i < s->c->txns[t].n_reads; i++)
            fine &= !(read_from(s, t, i) & ~s->placed);
        fine = fine && condition_holds(s, t);
    }
    *s = without;
    return fine;
}

/* Versions for the views from view i of the one at place n on, every way. */
static bool choose_views(search *s, uint32_t n, uint32_t i)
{
    const hf_core_read *r;
    uint32_t t;

    if (hf_out_of_budget(s->c->v))
        return false;
    while (n < s->n_placed && i == s->c->txns[s->order[n]].n_reads) {
        n++;
        i = 0;
    }
    if (n == s->n_placed)
        return holds_with_views(s);
    t = s->order[n];
    r = &s->c->txns[t].reads[i];
    if (!r->view || level_of(s, t)->shape == HF_SHAPE_WW)
        return choose_views(s, n, i + 1);
    if (r->initial) {
        look(s, t, i, HF_NONE);
        if (choose_views(s, n, i + 1))
            return true;
    }
    for (uint32_t w = 0; w < s->c->n; w++) {
        if (w == t || !(s->in & 1u << w) || !may_come_from(s, r, w))
            continue;
        look(s, t, i, w);
        if (choose_views(s, n, i + 1))
            return true;
    }
    return false;
}

/* ---- read uncommitted ---------------------------------------------------- */

/* Is the element of one that did not happen? */
static bool is_dirty(const search *s, uint32_t key, hf_value_id value)
{
    for (uint32_t t = 0; t < s->c->n; t++)
        for (uint32_t i = 0; !(s->in & 1u << t) && i < s->c->txns[t].n_appends;
             i++)
            if (s->c->txns[t].appends[i].key == key &&
                s->c->txns[t].appends[i].value == value)
                return true;
    return false;
}

/* The elements of the key in the order of those placed; how many there are up
 * to the reader's own ones before r. */
static uint32_t lay_out(search *s, const hf_core_read *r, uint32_t reader,
                        uint32_t *ret_n)
{
    uint32_t n = 0, own = 0, places = 0;

    for (uint32_t at = 0; at < s->n_placed; at++) {
        const hf_core_txn *t = &s->c->txns[s->order[at]];

        for (uint32_t i = 0; i < t->n_appends; i++) {
            if (t->appends[i].key != r->key)
                continue;
            s->elements[n++] = t->appends[i].value;
            if (s->order[at] == reader && own++ < r->own)
                places = n;
        }
    }
    *ret_n = n;
    return places;
}

/* A list without some of its dirty elements is a prefix of the sequence; after
 * own appends it ends with the last of them.  An element may be the clean or
 * the dirty one of two that are equal: can[k], so many can be matched. */
static bool dirty_list_fits(search *s, const hf_core_read *r, uint32_t reader)
{
    uint32_t n, places = lay_out(s, r, reader, &n);
    bool *can = s->can, any = false, last = false;

    for (uint32_t k = 0; k <= n; k++)
        can[k] = k == 0;
    for (uint32_t at = 0; at < r->n_items; at++) {
        hf_value_id item = r->items[at];
        bool dirty = is_dirty(s, r->key, item);

        last = places > 0 && can[places - 1] && s->elements[places - 1] == item;
        for (uint32_t k = n + 1; k-- > 0;) {
            if (k < n && can[k] && s->elements[k] == item)
                can[k + 1] = true;
            can[k] &= dirty;
        }
    }
    for (uint32_t k = 0; k <= n; k++)
        any |= can[k];
    return r->own == 0 ? any : last;
}

static bool dirty_lists_fit(search *s)
{
    for (uint32_t t = 0; t < s->c->n; t++)
        for (uint32_t i = 0; (s->in & 1u << t) && i < s->c->txns[t].n_reads;
             i++)
            if (s->c->txns[t].reads[i].is_list &&
                level_of(s, t)->shape == HF_SHAPE_WW &&
                !dirty_list_fits(s, &s->c->txns[t].reads[i], t))
                return false;
    return true;
}

/* ---- the search ---------------------------------------------------------- */

static bool try_next(search *s, uint32_t t)
{
    hf_level_shape shape = level_of(s, t)->shape;

    if (chooses_all(s) && shape != HF_SHAPE_WW)
        return choose(s, t, 0); /* what it reads may matter to others */
    switch (shape) {
    case HF_SHAPE_WW:
        note_past(s, t, 0);
        return go_on_with(s, t);
    case HF_SHAPE_SERIAL:
    case HF_SHAPE_ITEM:
        return reads_fit(s, t, s->n_placed) && go_on_with(s, t);
    case HF_SHAPE_SNAPSHOT:
        return has_snapshot(s, t, s->n_placed) && go_on_with(s, t);
    default:
        return choose(s, t, 0);
    }
}

static bool extend(search *s)
{
    if (s->placed == s->in) {
        hf_core_order o = {s->in, s->order, s->chosen};

        if (!dirty_lists_fit(s) || !hf_core_keeps_promises(s->c, &o))
            return false;
        return !hf_reads_matter(s->c->v) || !s->c->has_views ||
               choose_views(s, 0, 0);
    }
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
    search s = {.c = c};
    unsigned maybe = c->unknown;
    size_t appends = 0;

    if (c->broken)
        return false;
    for (uint32_t t = 0; t < c->n; t++) {
        size_t n = c->txns[t].n_reads;

        appends += c->txns[t].n_appends;
        s.chosen[t] = hf_zeros(c->v, n, sizeof(*s.chosen[t]));
        s.seen[t] = hf_zeros(c->v, n, sizeof(*s.seen[t]));
        s.missed[t] = hf_zeros(c->v, n, sizeof(*s.missed[t]));
    }
    s.elements = hf_zeros(c->v, appends + 1, sizeof(*s.elements));
    s.can = hf_zeros(c->v, appends + 1, sizeof(*s.can));
    for (;;) {
        bool broken = false;

        s.in = c->committed | maybe;
        for (uint32_t t = 0; t < c->n; t++)
            broken |= (s.in & 1u << t) && c->txns[t].broken;
        if (!broken && extend(&s))
            return true;
        if (maybe == 0 || c->v->status != HF_OK)
            return false;
        maybe = (maybe - 1) & c->unknown;
    }
}

/* commit_times.c: commit orders of histories with conditions, by commit times.
 *
 * Where snapshots are by time nothing need be listed to know a bound of what
 * an operation read from: those before a place in the timeline.  From that
 * follows, for each way of a level to make one visible to another, a place
 * before which all that is visible to an operation stands:
 *
 *   an earlier read   the snapshots (and sources) of the operations before it
 *   wr                those of all operations of the transaction
 *   so                the places of those before it in its session
 *   wr;so             the snapshots of those
 *   so;wr             of any that its own snapshots may hold, those before it
 *                     in the session
 *   wr;so?;wr         of any of these, their snapshots, and of those before it
 *   causal            the same over and over, until nothing changes
 *
 * A version violates the level if it is visible and a look should not have
 * missed it.  Let the versions of each key stand in the timeline as they do in
 * the order, and let the look have place q and the bound u.  The entry of a key
 * is its last version before q, apart from own ones.  So a version that
 * violates is at q or later, and before u.  From the entry to it there is one,
 * not own, as those are not before the reader in the order, that satisfies the
 * condition or comes next after one that does: the next after the entry if
 * that satisfies it, else the first that changes the matches.  It stands at q
 * or later and before u, too.
 *
 * All versions of a column, and those next to them, are therefore the elements
 * of a tree over the order of the column (crossings.h), and each look asks for
 * those in its bound from q to u - 1.  Mostly there are none.  Each that is
 * found is judged exactly (commit_visible.c).
 *
 * This accepts only: what it does not is for those who list version sets.
 * Other version sets than snapshots by time, entries that are not known, and
 * versions that stand otherwise in the timeline are not for it either.
 *
 * Cost: for each version, look, and version found the logarithm of them; and
 * a limited number of exact steps.
 */
#include "base/sort.h"
#include "verify/commit_times.h"
#include "verify/crossings.h"

/* Rounds of the causal bounds; so many versions have 32-bit nodes. */
#define MOST_ROUNDS 32
#define MOST_VERSIONS (UINT32_MAX / 16)

/* What is tested while one look is asked. */
typedef struct asker {
    hf_times *x;
    bool *settled;             /* per transaction */
    bool *failed;              /* per transaction: it will not be */
    uint32_t *first, *next;    /* versions: see follow_versions() */
    hf_op_id *met;             /* per key: the last operation it was met for */
    const hf_column **columns; /* in use */
    uint32_t n_columns;
    hf_sortable *asks; /* (column, place), index of the look */
    uint32_t n_asks;
    hf_search search; /* of the look in hand */
} asker;

static uint32_t max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- may it be done? ----------------------------------------------------- */

/* Each key's versions stand as they do in the timeline; whoever is in a
 * snapshot happened. */
static bool versions_keep_time(const hf_times *x)
{
    const hf_world *w = x->c->w;
    const hf_timeline *line = x->line;

    for (uint32_t i = 0; i < line->n; i++)
        if (w->place[line->txn[i]] == HF_NONE && line->at[i] != HF_TIME_NONE)
            return false;
    for (hf_key_id k = 0; k < x->c->v->h->n_keys; k++)
        for (uint32_t i = w->writer_first[k]; i < w->writer_first[k + 1]; i++)
            if (i > w->writer_first[k] &&
                line->index[w->writers[i]] <= line->index[w->writers[i - 1]])
                return false;
    return true;
}

/* All predicate operations in the order; false if one has another kind of
 * version set than a snapshot by time, or one that is not known. */
static bool collect_looks(hf_times *x)
{
    const hf_world *w = x->c->w;
    hf_verifier *v = x->c->v;
    const hf_history *h = v->h;
    const uint32_t *doubtful = hf_doubt_of(v, HF_SNAPSHOT_TIME)->keys.first;
    uint32_t n = 0;

    x->look_first = hf_zeros(v, (size_t)h->n_txns + 1, sizeof(uint32_t));
    x->looks = hf_zeros(v, h->n_ops, sizeof(*x->looks));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        x->look_first[t] = n;
        for (hf_op_id op = h->op_first[t];
             w->place[t] != HF_NONE && op < h->op_first[t + 1]; op++) {
            hf_predicate p;
            uint32_t table;

            if (!hf_op_has_predicate(hf_op_kind_of(h, op)) ||
                !hf_op_counts(h, op))
                continue;
            p = hf_op_predicate(h, op);
            table = hf_table_place(h, p.table);
            if (p.snapshot != HF_SNAPSHOT_TIME || p.n_versions > 0 ||
                doubtful[table] < doubtful[table + 1])
                return false;
            x->looks[n++] = (hf_timed_look){
                .op = op, .place = hf_timeline_place(x->line, v, op)};
        }
    }
    x->look_first[h->n_txns] = n;
    return true;
}

/* ---- bounds -------------------------------------------------------------- */

static void bound_reads(hf_times *x)
{
    const hf_world *w = x->c->w;

    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t k = x->look_first[t]; k < x->look_first[t + 1]; k++)
            x->reads[t] = max(x->reads[t], x->looks[k].place);
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
            hf_txn_id source = hf_read_from(&w->reads[r]);

            if (source != HF_NONE)
                x->reads[t] = max(x->reads[t], hf_times_after(x, source));
        }
    }
}

static void bound_sessions(hf_times *x)
{
    const hf_history *h = x->c->v->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t places = 0, reads = 0;
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (x->c->w->place[t] == HF_NONE)
                continue;
            if (last != HF_NONE)
                x->session_after[last] = t;
            last = t;
            x->session[t] = places;
            x->session_reads[t] = reads;
            places = max(places, hf_times_after(x, t));
            reads = max(reads, x->reads[t]);
        }
    }
}

/* For each number of places the greatest among so many: of a, and of b unless
 * that is NULL. */
static uint32_t *greatest_before(const hf_times *x, const uint32_t *a,
                                 const uint32_t *b)
{
    const hf_timeline *line = x->line;
    uint32_t *most = hf_zeros(x->c->v, (size_t)line->n + 1, sizeof(*most));

    for (uint32_t i = 0; i < line->n; i++) {
        hf_txn_id t = line->txn[i];

        most[i + 1] = max(most[i], max(a[t], b ? b[t] : 0));
    }
    return most;
}

/* One round over all sessions; true if a bound has changed. */
static bool extend_causes(hf_times *x, const uint32_t *most, uint32_t *past)
{
    const hf_history *h = x->c->v->h;
    bool changed = false;

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t so_far = 0;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];
            uint32_t reads = x->reads[t], now;

            if (x->c->w->place[t] == HF_NONE)
                continue;
            now = max(max(reads, most[reads]), so_far);
            changed |= now > past[t];
            past[t] = max(past[t], now);
            so_far = max(so_far, max(past[t], hf_times_after(x, t)));
        }
    }
    return changed;
}

static bool bound_causes(hf_times *x)
{
    uint32_t *most = hf_zeros(x->c->v, (size_t)x->line->n + 1, sizeof(*most));

    for (int round = 0; round < MOST_ROUNDS; round++) {
        if (!extend_causes(x, most, x->bound))
            return true;
        for (uint32_t i = 0; i < x->line->n; i++)
            most[i + 1] = max(most[i], x->bound[x->line->txn[i]]);
    }
    return false;
}

static bool bound_all(hf_times *x)
{
    const hf_world *w = x->c->w;
    uint32_t *sessions = NULL;

    bound_reads(x);
    bound_sessions(x);
    if (x->axiom & HF_AXIOM_SO_WR)
        sessions = greatest_before(x, x->session, NULL);
    if (x->axiom & HF_AXIOM_WR_WR)
        x->read_by = greatest_before(x, x->reads, x->session_reads);
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];
        uint32_t *bound = &x->bound[t];

        if (x->axiom & HF_AXIOM_WR)
            *bound = max(*bound, x->reads[t]);
        if (x->axiom & HF_AXIOM_SO)
            *bound = max(*bound, x->session[t]);
        if (x->axiom & HF_AXIOM_WR_SO)
            *bound = max(*bound, x->session_reads[t]);
        if (sessions)
            *bound = max(*bound, sessions[x->reads[t]]);
        if (x->read_by)
            *bound = max(*bound, x->read_by[x->reads[t]]);
    }
    return !(x->axiom & HF_AXIOM_CAUSAL) || bound_causes(x);
}

/* ---- the operations of one transaction ----------------------------------- */

/* Goes through reads and looks side by side, both by operation: the bounds of
 * the looks, and the items.  False: an item may be too old. */
static bool walk(hf_times *x, hf_txn_id t)
{
    const hf_world *w = x->c->w;
    uint32_t r = w->read_first[t], i = x->look_first[t];
    uint32_t end = w->read_first[t + 1], looks = x->look_first[t + 1];
    bool earlier = x->axiom & HF_AXIOM_EARLIER_READ;
    uint32_t before = 0;

    while (r < end || i < looks) {
        hf_op_id op = r < end ? w->reads[r].op : HF_NONE;
        uint32_t bound = max(x->bound[t], earlier ? before : 0);

        if (i < looks && x->looks[i].op <= op)
            op = x->looks[i].op;
        for (; r < end && w->reads[r].op == op; r++) {
            hf_txn_id source = hf_read_from(&w->reads[r]);

            if (w->reads[r].kind == HF_READ_ITEM &&
                !hf_times_item_is_fine(x, t, &w->reads[r], bound))
                return false;
            if (source != HF_NONE)
                before = max(before, hf_times_after(x, source));
        }
        if (i < looks && x->looks[i].op == op) {
            x->looks[i].bound = bound;
            before = max(before, x->looks[i++].place);
        }
    }
    return true;
}

/* ---- conditions ---------------------------------------------------------- */

/* The first version of each key, and the one after each version. */
static void follow_versions(asker *a)
{
    const hf_world *w = a->x->c->w;
    hf_verifier *v = a->x->c->v;

    a->first = hf_nones(v, v->h->n_keys, sizeof(*a->first));
    a->next = hf_nones(v, hf_n_slots(v), sizeof(*a->next));
    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        uint32_t *to = &a->first[k];

        for (uint32_t i = w->writer_first[k]; i < w->writer_first[k + 1]; i++) {
            *to = hf_facts_slot(&v->facts, w->writers[i], k);
            to = &a->next[*to];
        }
    }
}

/* Of the version of rank r the elements are 2r, itself, and 2r + 1, the next
 * of its key. */
static void add_element(const asker *a, hf_crossings *tree, uint32_t i,
                        uint32_t slot)
{
    hf_txn_id t = a->x->c->v->facts.write_txn[slot];
    uint32_t place = a->x->line->index[t];

    if (a->x->c->w->place[t] != HF_NONE)
        hf_crossings_add(tree, i, place, place);
}

static hf_crossings *plant(const asker *a, const hf_column *c)
{
    hf_crossings *tree = hf_crossings_new(2 * c->n);
    const hf_verifier *v = a->x->c->v;

    for (uint32_t r = 0; r < c->n; r++) {
        uint32_t version = c->version[r];
        bool initial = hf_is_initial_version(v, version);
        uint32_t next =
            initial ? a->first[hf_version_key(v, version)] : a->next[version];

        if (!initial)
            add_element(a, tree, 2 * r, version);
        if (next != HF_NONE)
            add_element(a, tree, 2 * r + 1, next);
    }
    return tree;
}

/* The versions found for one look. */
static bool ask(asker *a, const hf_crossings *tree, const hf_column *c,
                const hf_timed_look *look)
{
    hf_verifier *v = a->x->c->v;
    hf_txn_id t = hf_op_txn(v->h, look->op);
    const hf_search *found = &a->search;

    hf_column_search(v, c, hf_predicate_condition(v, look->op), &a->search);
    for (size_t i = 0; i < found->list.n; i++) {
        uint32_t end = 2 * found->list.at[i].to;

        for (uint32_t e = hf_crossings_next(tree, 2 * found->list.at[i].from,
                                            end, look->bound);
             e != HF_NONE;
             e = hf_crossings_next(tree, e + 1, end, look->bound)) {
            hf_key_id key = hf_version_key(v, c->version[e / 2]);

            a->x->work++;
            if (a->met[key] == look->op)
                continue;
            a->met[key] = look->op;
            if (hf_times_is_tired(a->x) ||
                !hf_times_look_is_fine(a->x, t, look, key))
                return false;
        }
    }
    return true;
}

/* The looks of one column, by descending place. */
static bool ask_column(asker *a, const hf_column *c, const hf_sortable *asks,
                       uint32_t n)
{
    hf_crossings *tree = plant(a, c);
    bool fine = true;

    hf_crossings_begin(tree, false);
    for (uint32_t i = n; i-- > 0 && fine;) {
        const hf_timed_look *look = &a->x->looks[asks[i].value];
        hf_txn_id t = hf_op_txn(a->x->c->v->h, look->op);

        hf_crossings_move(tree, look->place);
        if (!a->failed[t])
            a->failed[t] = !ask(a, tree, c, look);
        fine = (i & 0xff) != 0 || !hf_out_of_budget(a->x->c->v);
    }
    hf_crossings_free(tree);
    return fine;
}

static bool add_ask(asker *a, uint32_t look)
{
    hf_verifier *v = a->x->c->v;
    hf_op_id op = a->x->looks[look].op;
    const hf_column *c = hf_column_for(v, hf_op_predicate(v->h, op).table,
                                       hf_predicate_condition(v, op));
    uint64_t column = 0;

    if (a->x->looks[look].place >= a->x->looks[look].bound)
        return true; /* nothing is between them */
    while (column < a->n_columns && a->columns[column] != c)
        column++;
    if (column == a->n_columns)
        a->columns[a->n_columns++] = c;
    a->asks[a->n_asks++] =
        (hf_sortable){column << 32 | a->x->looks[look].place, look};
    return c->n < MOST_VERSIONS;
}

static bool ask_all(asker *a)
{
    bool fine = true;

    hf_sort(a->asks, a->n_asks);
    for (uint32_t i = 0, end; i < a->n_asks && fine; i = end) {
        uint64_t column = a->asks[i].key >> 32;

        for (end = i; end < a->n_asks && a->asks[end].key >> 32 == column;)
            end++;
        fine = ask_column(a, a->columns[column], &a->asks[i], end - i);
    }
    return fine;
}

/* ---- all ----------------------------------------------------------------- */

static bool judge(asker *a)
{
    hf_times *x = a->x;
    const hf_world *w = x->c->w;
    hf_verifier *v = x->c->v;
    uint32_t n_looks = x->look_first[v->h->n_txns];

    a->failed = hf_zeros(v, v->h->n_txns, sizeof(*a->failed));
    a->met = hf_nones(v, v->h->n_keys, sizeof(*a->met));
    a->columns = hf_zeros(v, n_looks, sizeof(const hf_column *));
    a->asks = hf_zeros(v, n_looks, sizeof(*a->asks));
    follow_versions(a);
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        if (a->settled[t])
            continue;
        a->failed[t] = !walk(x, t);
        for (uint32_t k = x->look_first[t];
             !a->failed[t] && k < x->look_first[t + 1]; k++)
            if (!add_ask(a, k))
                return false;
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return ask_all(a);
}

static bool settle(hf_times *x, bool *settled)
{
    asker a = {.x = x, .settled = settled};
    const hf_world *w = x->c->w;
    bool judged = judge(&a), all = true;

    hf_search_release(&a.search);
    if (!judged)
        return false;
    for (uint32_t i = 0; i < w->n; i++) {
        settled[w->at[i]] |= !a.failed[w->at[i]];
        all &= settled[w->at[i]];
    }
    return all;
}

/* What the level makes visible, as far as it is known here; else 0. */
static unsigned axiom_of(const hf_level_info *info)
{
    const unsigned known = HF_AXIOM_EARLIER_READ | HF_AXIOM_SO | HF_AXIOM_WR |
                           HF_AXIOM_WR_SO | HF_AXIOM_SO_WR | HF_AXIOM_WR_WR |
                           HF_AXIOM_WR_SO_WR | HF_AXIOM_CAUSAL;
    bool follows = info->axiom & HF_AXIOM_WR_WR;

    if (info->shape == HF_SHAPE_OTV)
        return HF_AXIOM_EARLIER_READ;
    if (info->shape != HF_SHAPE_AXIOM || !info->session_order ||
        (info->axiom & ~known) ||
        follows != ((info->axiom & HF_AXIOM_WR_SO_WR) != 0))
        return 0;
    return info->axiom;
}

bool hf_commit_by_times(hf_commit *c, bool *settled)
{
    hf_verifier *v = c->v;
    hf_times x = {.c = c, .axiom = axiom_of(v->info)};
    uint32_t n = v->h->n_txns;

    if (!v->entries || x.axiom == 0)
        return false;
    x.line = hf_timeline_of(v, HF_SNAPSHOT_TIME);
    if (!versions_keep_time(&x) || !collect_looks(&x))
        return false;
    x.reads = hf_zeros(v, n, sizeof(*x.reads));
    x.session = hf_zeros(v, n, sizeof(*x.session));
    x.session_reads = hf_zeros(v, n, sizeof(*x.session_reads));
    x.bound = hf_zeros(v, n, sizeof(*x.bound));
    x.session_after = hf_nones(v, n, sizeof(*x.session_after));
    return bound_all(&x) && settle(&x, settled);
}

/* commit.c: commit orders, for the levels below snapshot isolation.
 *
 *   read-uncommitted       nothing beyond what world.c checked
 *   read-committed         writers before their readers
 *   axiomatic levels       that, session order, and the level's condition
 *   monotonic atomic view  read-committed and the condition on earlier reads
 *   consistent view, PSI   read-committed and no path of dependencies from
 *                          the overwriter of a read to the reader
 *
 * The version order of a key is the order of its writers, so "before t1" is a
 * comparison of places.
 *
 * Where there are conditions the short ways are tried first: commit_times.c,
 * which judges each transaction by the commit times of what is visible to it,
 * and for those that it leaves starts.c.  What both leave is listed.
 *
 * Cost: linear in the history, plus, for transactions with stale reads only:
 * reads times stale reads of the transaction (earlier read, wr); the keys
 * written by the sources a session reads from, each source once a session
 * (session guarantees); transactions times sessions (causal); a search
 * backward from the reader that does not leave the part of the order between
 * the version read and the reader (consistent view, PSI, and causal with very
 * many sessions).  The last is the one that can be slow: it is quadratic if
 * very many transactions read very old versions.
 */
#include "verify/commit.h"

#include "base/error.h"

bool hf_refuse_stale(hf_commit *c, hf_txn_id reader, const hf_world_read *r,
                     hf_txn_id t2, const char *how)
{
    const hf_history *h = c->v->h;

    return hf_refuse(c->v,
                     "%s reads key %s from %s, although %s %s and wrote a "
                     "later version",
                     hf_label_txn(h, reader).text, hf_label_key(h, r->key).text,
                     hf_label_txn(h, r->source).text, hf_label_txn(h, t2).text,
                     how);
}

/* ---- preparation --------------------------------------------------------- */

static bool writers_come_first(hf_verifier *v, const hf_world *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
            hf_txn_id source = hf_read_from(&w->reads[r]);

            if (source != HF_NONE && w->place[source] >= i)
                return hf_refuse(v,
                                 "%s reads key %s from %s, which is after "
                                 "it in the order",
                                 hf_label_txn(v->h, t).text,
                                 hf_label_key(v->h, w->reads[r].key).text,
                                 hf_label_txn(v->h, source).text);
        }
    }
    return true;
}

/* Not what is current at its place (for a view: as far as matters)? */
static bool is_stale(const hf_world *w, const hf_world_read *r, uint32_t place,
                     hf_txn_id current)
{
    switch (r->kind) {
    case HF_READ_ITEM:
        return r->source != current;
    case HF_READ_VIEW:
        return r->change != HF_NONE && w->place[r->change] < place;
    default:
        return false;
    }
}

/* Replays the order, noting the version before each version and the reads
 * that do not return the current one. */
static bool collect_stale(hf_commit *c)
{
    const hf_facts *f = &c->v->facts;
    const hf_world *w = c->w;
    hf_txn_id *current = hf_nones(c->v, c->v->h->n_keys, sizeof(*current));
    uint32_t n = 0;

    c->stale = hf_zeros(c->v, w->n_reads, sizeof(*c->stale));
    c->stale_first = hf_zeros(c->v, (size_t)w->n + 1, sizeof(uint32_t));
    c->previous =
        hf_nones(c->v, f->write_first[c->v->h->n_txns], sizeof(*c->previous));
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        c->stale_first[i] = n;
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            if (is_stale(w, &w->reads[r], i, current[w->reads[r].key]))
                c->stale[n++] = r;
        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++) {
            c->previous[s] = current[f->write_key[s]];
            current[f->write_key[s]] = t;
        }
        if ((i & 0xff) == 0 && hf_out_of_budget(c->v))
            return false;
    }
    c->stale_first[w->n] = n;
    return true;
}

/* The short ways, for each transaction by itself; true if all are settled.
 * What leads to one that has a start comes before it in the order, whatever
 * is known of others. */
static bool take_short_ways(hf_commit *c, hf_world *w, bool *settled)
{
    uint32_t n_txns = c->v->h->n_txns;
    bool *has, all = true;

    if (hf_commit_by_times(c, settled))
        return true;
    if (c->v->status != HF_OK)
        return false;
    has = hf_zeros(c->v, n_txns, sizeof(*has));
    if (hf_commit_has_starts(c, w, has))
        return true;
    for (uint32_t i = 0; i < w->n; i++) {
        settled[w->at[i]] |= has[w->at[i]];
        all &= settled[w->at[i]];
    }
    return all && c->v->status == HF_OK && c->v->info->shape != HF_SHAPE_SINGLE;
}

/* Whose views must all be known: those with stale reads, that the short ways
 * did not settle, where only their own reads and session count; else NULL for
 * everybody. */
static const bool *want_stale(const hf_commit *c, const bool *settled)
{
    const unsigned direct = HF_AXIOM_EARLIER_READ | HF_AXIOM_WR | HF_AXIOM_SO;
    const hf_level_info *info = c->v->info;
    bool *wanted;

    if (info->shape != HF_SHAPE_OTV &&
        (info->shape != HF_SHAPE_AXIOM || (info->axiom & ~direct)))
        return NULL;
    wanted = hf_zeros(c->v, c->v->h->n_txns, sizeof(*wanted));
    for (uint32_t i = 0; i < c->w->n; i++)
        wanted[c->w->at[i]] =
            c->stale_first[i] < c->stale_first[i + 1] && !settled[c->w->at[i]];
    return wanted;
}

static void collect_sessions(hf_commit *c)
{
    const hf_history *h = c->v->h;

    c->session_before = hf_nones(c->v, h->n_txns, sizeof(*c->session_before));
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_txn_id last = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            if (c->w->place[t] == HF_NONE)
                continue;
            c->session_before[t] = last;
            last = t;
        }
    }
}

/* ---- conditions on the reader's own reads -------------------------------- */

/* t3's other reads (with `earlier`: those of earlier operations) against one
 * of its stale reads. */
static bool check_own_reads(hf_commit *c, hf_txn_id t,
                            const hf_world_read *stale, bool earlier)
{
    const hf_world *w = c->w;
    int64_t age = hf_read_age(w, stale);

    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++) {
        hf_txn_id t2 = hf_read_from(&w->reads[r]);

        if (hf_world_age(w, t2) <= age)
            continue;
        if (earlier && w->reads[r].op >= stale->op)
            continue;
        if (hf_facts_writes(&c->v->facts, t2, stale->key))
            return hf_refuse_stale(c, t, stale, t2,
                                   earlier ? "was read from before"
                                           : "is read from as well");
    }
    return true;
}

static bool check_direct(hf_commit *c, bool earlier)
{
    for (uint32_t i = 0; i < c->w->n; i++)
        for (uint32_t s = c->stale_first[i]; s < c->stale_first[i + 1]; s++) {
            if (!check_own_reads(c, c->w->at[i], &c->w->reads[c->stale[s]],
                                 earlier))
                return false;
            if (hf_out_of_budget(c->v))
                return false;
        }
    return true;
}

/* co?;(so + wr): everything up to the last transaction that t reads from or
 * follows in its session is visible. */
static bool check_prefix(hf_commit *c)
{
    const hf_world *w = c->w;

    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];
        int64_t last = hf_world_age(w, c->session_before[t]);

        if (c->stale_first[i] == c->stale_first[i + 1])
            continue;
        for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
            if (hf_world_age(w, hf_read_from(&w->reads[r])) > last)
                last = hf_world_age(w, hf_read_from(&w->reads[r]));
        for (uint32_t s = c->stale_first[i]; s < c->stale_first[i + 1]; s++) {
            const hf_world_read *r = &w->reads[c->stale[s]];
            uint32_t at =
                hf_world_writer_from(w, r->key, hf_read_age(w, r) + 1);

            if (at < w->writer_first[r->key + 1] &&
                (int64_t)w->place[w->writers[at]] <= last)
                return hf_refuse_stale(c, t, r, w->writers[at],
                                       "is in the prefix it sees");
        }
        if (hf_out_of_budget(c->v))
            return false;
    }
    return true;
}

/* ---- all ----------------------------------------------------------------- */

static bool check_axiom(hf_commit *c, unsigned axiom)
{
    const unsigned session_axioms = HF_AXIOM_SO | HF_AXIOM_WR_SO |
                                    HF_AXIOM_SO_WR | HF_AXIOM_WR_WR |
                                    HF_AXIOM_WR_SO_WR;
    bool follows = axiom & HF_AXIOM_WR_WR;

    if (follows != ((axiom & HF_AXIOM_WR_SO_WR) != 0))
        return hf_give_up(c->v, HF_ERR_UNSUPPORTED,
                          "wr;wr and wr;so;wr are checked together only");
    if ((axiom & HF_AXIOM_EARLIER_READ) && !check_direct(c, true))
        return false;
    if ((axiom & HF_AXIOM_WR) && !check_direct(c, false))
        return false;
    if ((axiom & session_axioms) && !hf_commit_check_sessions(c))
        return false;
    if ((axiom & HF_AXIOM_CAUSAL) && !hf_commit_check_causal(c))
        return false;
    return !(axiom & HF_AXIOM_PREFIX) || check_prefix(c);
}

bool hf_verify_commit(hf_verifier *v, hf_world *w)
{
    hf_commit c = {.v = v, .w = w};

    if (v->info->shape == HF_SHAPE_WW)
        return true;
    if (!writers_come_first(v, w))
        return false;
    if (v->info->shape == HF_SHAPE_W)
        return true;
    if (!collect_stale(&c))
        return false;
    if (c.stale_first[w->n] == 0)
        return true;
    hf_world_collect_writers(v, w);
    collect_sessions(&c);
    if (v->facts.has_predicates && !w->is_full) {
        bool *settled = hf_zeros(v, v->h->n_txns, sizeof(*settled));

        if (take_short_ways(&c, w, settled))
            return true;
        if (v->status != HF_OK ||
            !hf_world_read_fully(v, w, want_stale(&c, settled)) ||
            !collect_stale(&c))
            return false;
    }
    switch (v->info->shape) {
    case HF_SHAPE_OTV:
        return check_axiom(&c, HF_AXIOM_EARLIER_READ);
    case HF_SHAPE_AXIOM:
        return check_axiom(&c, v->info->axiom);
    case HF_SHAPE_SINGLE:
        return hf_commit_check_paths(&c, v->info->session_order, true);
    default:
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "no rule for commit orders at %s", v->info->name);
    }
}

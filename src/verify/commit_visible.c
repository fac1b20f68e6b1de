/* commit_visible.c: one version and one reader, in a commit order judged by
 * commit times (see commit_times.c).
 *
 * Who reads from whom is asked for two transactions at a time: the entry of a
 * key in a snapshot is the last version before its place, and whether another
 * gives an edge depends on that one, on itself and on the one before it.  The
 * ways of a level to make one visible to another are gone through step by
 * step, as far as the places in the timeline allow that there is one.
 *
 * Where something is not known, or takes too long, the answer is that it may
 * be visible.
 *
 * The versions of a key stand in the timeline as they do in the order: that
 * has been checked.
 */
#include "verify/commit_times.h"

/* So many steps are too many. */
#define MOST_WORK (UINT64_C(1) << 24)

bool hf_times_is_tired(const hf_times *x)
{
    return x->work > MOST_WORK;
}

/* ---- versions of a key --------------------------------------------------- */

/* The first version of key that is not before `place` in the timeline: an
 * index into the writers. */
static uint32_t version_from(const hf_times *x, hf_key_id key, uint32_t place)
{
    const hf_world *w = x->c->w;
    uint32_t low = w->writer_first[key], high = w->writer_first[key + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (x->line->index[w->writers[middle]] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The version before that, but for one of t's own; HF_NONE: the initial one. */
static uint32_t entry_before(const hf_times *x, hf_txn_id t, hf_key_id key,
                             uint32_t at)
{
    const hf_world *w = x->c->w;

    while (at-- > w->writer_first[key])
        if (w->writers[at] != t)
            return at;
    return HF_NONE;
}

/* at: an index into the writers of key, or HF_NONE. */
static hf_match match(hf_times *x, hf_op_id op, hf_key_id key, uint32_t at)
{
    hf_verifier *v = x->c->v;
    uint32_t version = hf_n_slots(v) + key;
    hf_value_id value;

    x->work++;
    if (at != HF_NONE)
        version = hf_facts_slot(&v->facts, x->c->w->writers[at], key);
    value = hf_version_value(v, version);
    if (at == HF_NONE && value == HF_NONE)
        return HF_MATCH_NO;
    return hf_predicate_match(v, hf_predicate_condition(v, op), value);
}

static bool wrote_before(const hf_times *x, hf_txn_id t, hf_op_id op,
                         hf_key_id key)
{
    const hf_verifier *v = x->c->v;

    return hf_own_write_before(v->h, &v->facts, t, op, key) != HF_NONE;
}

/* ---- who reads from whom ------------------------------------------------- */

/* Does the look at key make t read from s, who is in the snapshot? */
static bool look_reads(hf_times *x, hf_txn_id t, const hf_timed_look *look,
                       hf_txn_id s, hf_key_id key)
{
    const hf_world *w = x->c->w;
    uint32_t entry = entry_before(x, t, key, version_from(x, key, look->place));
    uint32_t at = hf_world_writer_from(w, key, w->place[s]);
    hf_match before, now, last;

    if (wrote_before(x, t, look->op, key))
        return false;
    last = match(x, look->op, key, entry);
    if (last == HF_MATCH_YES)
        return entry == at;
    now = match(x, look->op, key, at);
    before =
        match(x, look->op, key, at == w->writer_first[key] ? HF_NONE : at - 1);
    return now != before || now == HF_MATCH_UNKNOWN || last == HF_MATCH_UNKNOWN;
}

/* Does an operation of t before `end` read from s? */
static bool reads_from(hf_times *x, hf_txn_id t, hf_op_id end, hf_txn_id s)
{
    const hf_verifier *v = x->c->v;
    const hf_world *w = x->c->w;

    x->work += w->read_first[t + 1] - w->read_first[t];
    for (uint32_t r = w->read_first[t]; r < w->read_first[t + 1]; r++)
        if (w->reads[r].op < end && hf_read_from(&w->reads[r]) == s)
            return true;
    for (uint32_t i = x->look_first[t]; i < x->look_first[t + 1]; i++) {
        const hf_timed_look *look = &x->looks[i];
        hf_string_id table = hf_op_predicate(v->h, look->op).table;

        x->work++;
        if (look->op >= end || x->line->index[s] >= look->place)
            continue;
        for (uint32_t slot = v->facts.write_first[s];
             slot < v->facts.write_first[s + 1]; slot++)
            if (hf_table_of(v->h, v->facts.write_key[slot]) == table &&
                look_reads(x, t, look, s, v->facts.write_key[slot]))
                return true;
    }
    return false;
}

/* ---- what is visible ----------------------------------------------------- */

/* One from t back in its session reads from t2. */
static bool session_reads(hf_times *x, hf_txn_id t, hf_txn_id t2)
{
    uint32_t place = x->line->index[t2];

    for (; t != HF_NONE; t = x->c->session_before[t]) {
        if ((x->reads[t] > place && reads_from(x, t, HF_NONE, t2)) ||
            hf_times_is_tired(x))
            return true;
        if (x->session_reads[t] <= place)
            return false;
        x->work++;
    }
    return false;
}

/* so;wr: t reads from one after t2 in its session. */
static bool reads_successor(hf_times *x, hf_txn_id t, hf_txn_id t2)
{
    const uint32_t *place = x->c->w->place;

    for (hf_txn_id s = x->session_after[t2];
         s != HF_NONE && place[s] < place[t]; s = x->session_after[s]) {
        uint32_t after = hf_times_after(x, s);

        x->work++;
        if ((after > 0 && after <= x->reads[t] &&
             reads_from(x, t, HF_NONE, s)) ||
            hf_times_is_tired(x))
            return true;
    }
    return false;
}

/* wr;so?;wr: t reads from one that reads from t2, or follows one that does. */
static bool reads_answer(hf_times *x, hf_txn_id t, hf_txn_id t2)
{
    const uint32_t *place = x->c->w->place;
    uint32_t old = x->line->index[t2], low = 0, high = x->reads[t];

    while (low < high) { /* the first that can have read from t2 */
        uint32_t middle = low + (high - low) / 2;

        if (x->read_by[middle + 1] <= old)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < x->reads[t]; low++) {
        hf_txn_id s = x->line->txn[low];

        x->work++;
        if (hf_times_is_tired(x))
            return true;
        if (place[s] == HF_NONE || place[s] >= place[t] ||
            (x->reads[s] <= old && x->session_reads[s] <= old))
            continue;
        if (reads_from(x, t, HF_NONE, s) && session_reads(x, s, t2))
            return true;
    }
    return false;
}

bool hf_times_may_see(hf_times *x, hf_txn_id t, hf_op_id op, hf_txn_id t2)
{
    const hf_session_id *session = x->c->v->h->txn_session;
    unsigned axiom = x->axiom;

    if (hf_times_is_tired(x) || (axiom & HF_AXIOM_CAUSAL))
        return true;
    return ((axiom & HF_AXIOM_SO) && session[t] == session[t2]) ||
           ((axiom & HF_AXIOM_EARLIER_READ) && reads_from(x, t, op, t2)) ||
           ((axiom & HF_AXIOM_WR) && reads_from(x, t, HF_NONE, t2)) ||
           ((axiom & HF_AXIOM_WR_SO) &&
            session_reads(x, x->c->session_before[t], t2)) ||
           ((axiom & HF_AXIOM_SO_WR) && reads_successor(x, t, t2)) ||
           ((axiom & HF_AXIOM_WR_WR) && reads_answer(x, t, t2));
}

/* ---- looks and items ----------------------------------------------------- */

/* The version at index i of the writers is before t in the order, and may be
 * visible by its place. */
static bool is_near(const hf_times *x, hf_txn_id t, uint32_t i, uint32_t bound)
{
    const hf_world *w = x->c->w;

    return w->place[w->writers[i]] < w->place[t] &&
           x->line->index[w->writers[i]] < bound;
}

bool hf_times_look_is_fine(hf_times *x, hf_txn_id t, const hf_timed_look *look,
                           hf_key_id key)
{
    const hf_world *w = x->c->w;
    uint32_t i = version_from(x, key, look->place);
    hf_match before;
    bool missed;

    if (wrote_before(x, t, look->op, key))
        return true;
    before = match(x, look->op, key, entry_before(x, t, key, i));
    missed = before == HF_MATCH_YES; /* whatever comes */
    for (; i < w->writer_first[key + 1] && is_near(x, t, i, look->bound); i++) {
        hf_match now = match(x, look->op, key, i);

        if (now == HF_MATCH_UNKNOWN || before == HF_MATCH_UNKNOWN)
            return false;
        missed |= now != before;
        before = now;
        if (missed && hf_times_may_see(x, t, look->op, w->writers[i]))
            return false;
    }
    return true;
}

bool hf_times_item_is_fine(hf_times *x, hf_txn_id t, const hf_world_read *r,
                           uint32_t bound)
{
    const hf_world *w = x->c->w;
    uint32_t i =
        hf_world_writer_from(w, r->key, hf_world_age(w, r->source) + 1);

    for (; i < w->writer_first[r->key + 1] && is_near(x, t, i, bound); i++)
        if (hf_times_may_see(x, t, r->op, w->writers[i]))
            return false;
    return true;
}

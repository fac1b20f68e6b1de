/* pred_times.c: commit times as the proof of a weak level.
 *
 * The weak levels are given by what a transaction may have seen.  If every
 * transaction read what was committed at one time s, its own snapshot, and
 * whatever its session did before was committed by then, the order of commits
 * is a commit order in which it saw a prefix, and all of these levels hold.
 * For read-committed-axiomatic and monotonic atomic view it is enough that the
 * times of its reads never go back.
 *
 * Only where that is not so need the dependencies be looked at one by one
 * (pred_weak.c), which is slow where there are many.  Transactions that write
 * nothing stand behind what they saw.
 *
 * O(operations + transactions log transactions).
 */
#include "check/pred.h"

#include <string.h>

typedef struct reader {
    uint64_t now;  /* the time of its reads so far */
    uint64_t last; /* ... before which it has to be (not included) */
    bool fixed;    /* a snapshot says which */
    bool any;
} reader;

static uint64_t commit_of(const hf_pred *p, uint32_t ver)
{
    hf_txn_id t = p->g->ver_txn[ver];

    return t == HF_NONE ? 0 : p->commit[t];
}

/* Until when the version was the newest, for t. */
static uint64_t end_of(const hf_pred *p, hf_key_id key, uint32_t ver,
                       hf_txn_id t)
{
    for (uint32_t v = ver + 1; v < p->g->ver_end[key]; v++)
        if (p->g->ver_txn[v] != t)
            return commit_of(p, v);
    return HF_TIME_NONE;
}

/* Every key in one order, and that of commits; no two commits at one time.
 * A snapshot by ids holds who is not listed only if that is certain, and a
 * clock of our own all of them: so in the tables that are asked, everybody
 * is. */
bool hf_pred_is_regular(const hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const uint64_t *commit = p->commit;

    if (!commit || !g->total)
        return false;
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        if (p->own_commit && p->table_of_key[k] != UINT32_MAX &&
            !hf_pred_is_listed(g, k))
            return false;
        for (uint32_t v = g->ver_first[k] + 1; v < g->ver_end[k]; v++)
            if (commit[g->ver_txn[v]] == HF_TIME_NONE ||
                (v > g->ver_first[k] + 1 &&
                 commit_of(p, v) <= commit_of(p, v - 1)))
                return false;
    }
    return true;
}

/* An item was read.  `single`: at the time of all others. */
static bool read_item(reader *r, const hf_pred *p, hf_key_id key, uint32_t ver,
                      hf_txn_id t, bool single)
{
    uint64_t begin = commit_of(p, ver), end = end_of(p, key, ver, t);

    r->any = true;
    if (begin > r->now) {
        if (single && r->fixed)
            return false;
        r->now = begin;
    }
    if (single) {
        if (end < r->last)
            r->last = end;
        return r->now < r->last;
    }
    return r->now < end;
}

/* A predicate operation with a snapshot by time. */
static bool read_snapshot(reader *r, uint64_t time, bool single)
{
    r->any = true;
    if (time < r->now || (single && r->fixed && time != r->now))
        return false;
    r->now = time;
    r->fixed = true;
    return !single || r->now < r->last;
}

static bool read_all(hf_pred *p, hf_txn_id t, bool single, reader *r)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    uint32_t next = p->op_first[t];

    *r = (reader){.last = HF_TIME_NONE};
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(g, o);

        if (ver != HF_NONE && !read_item(r, p, h->op_key[o], ver, t, single))
            return false;
        if (next == p->op_first[t + 1] || p->ops.at[next].op != o)
            continue;
        if (!p->ops.at[next].on_clock ||
            !read_snapshot(r, p->ops.at[next].moment, single))
            return false;
        next++;
    }
    return true;
}

static bool installs(const hf_graph *g, hf_txn_id t)
{
    for (hf_op_id o = g->h->op_first[t]; o < g->h->op_first[t + 1]; o++)
        if (hf_pred_installed(g, o) != HF_NONE)
            return true;
    return false;
}

/* Where t stands; false: its times do not fit. */
static bool place(hf_pred *p, hf_txn_id t, bool single, uint64_t *session,
                  uint64_t *ret)
{
    const uint64_t *commit = p->commit;
    reader r;

    if (!read_all(p, t, single, &r))
        return false;
    if (single && r.any && !r.fixed && *session > r.now) {
        if (*session >= r.last)
            return false; /* its session knew something newer */
        r.now = *session;
    }
    if (single && r.any && r.now < *session)
        return false;
    if (installs(p->g, t)) {
        if (r.any && r.now >= commit[t])
            return false;
        *ret = commit[t];
    } else {
        *ret = r.now > *session ? r.now : *session;
    }
    if (*ret < *session)
        return false;
    *session = *ret;
    return true;
}

uint32_t *hf_pred_order_by_time(hf_pred *p, uint32_t *ret_n)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_level_info *level = g->level;
    bool single =
        level->shape != HF_SHAPE_OTV && level->axiom != HF_AXIOM_EARLIER_READ;
    uint64_t *session = HF_NEW_ZEROED(uint64_t, (size_t)h->n_sessions + 1);
    uint64_t *last = HF_NEW_ZEROED(uint64_t, (size_t)h->n_sessions + 1);
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)h->n_txns + 1, sizeof(*all)));
    uint32_t *order = NULL, n = 0;
    bool fine = hf_pred_is_regular(p);

    for (hf_txn_id t = 0; fine && t < h->n_txns; t++) {
        uint64_t at;

        if (!g->happened[t])
            continue;
        fine = place(p, t, single, &session[h->txn_session[t]], &at) &&
               at < UINT64_MAX / 2;
        if (fine)
            all[n++] = (hf_sortable){2 * at + !installs(g, t), t};
        /* a reader stands behind the commit of its time: nobody of its session
         * may stand before it that comes later */
        fine = fine && all[n - 1].key >= last[h->txn_session[t]];
        if (fine)
            last[h->txn_session[t]] = all[n - 1].key;
    }
    if (fine) {
        hf_sort(all, n);
        order = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
        for (uint32_t i = 0; i < n; i++) {
            order[i] = (uint32_t)all[i].value;
            /* two commits at one time */
            fine &= i == 0 || (all[i].key & 1u) || all[i].key != all[i - 1].key;
        }
    }
    if (!fine) {
        hf_free(order);
        order = NULL;
    }
    hf_free(all);
    hf_free(session);
    hf_free(last);
    *ret_n = n;
    return order;
}

/* states_orders.c: what an order has to keep, and what can be ordered apart.
 *
 * Sessions and version orders of the certificate become edges: a transaction
 * waits for the last one before it that certainly happened, and those of
 * unknown outcome in between cannot come after it any more.  Real time is kept
 * by looking at who ended first (states_run.c).
 *
 * Transactions that share no keys, not even by way of others, are parts.  If
 * nothing else connects them each part is searched by itself.  With real time
 * that is so as well, as long as every order of a part can be taken for moments
 * within the intervals of its transactions: linearizability is local (Herlihy
 * and Wing).
 *
 * O(operations), plus sorting.
 */
#include "check/states.h"

#include <string.h>

/* ---- parts --------------------------------------------------------------- */

static uint32_t root_of(uint32_t *up, uint32_t x)
{
    while (up[x] != x) {
        up[x] = up[up[x]];
        x = up[x];
    }
    return x;
}

/* In every session each begins after the one before it ended. */
static bool sessions_keep_time(const hf_states *s)
{
    const hf_history *h = s->h;

    for (hf_session_id i = 0; i < h->n_sessions; i++) {
        uint64_t end = 0; /* of the one before */
        bool any = false;

        for (uint32_t j = h->session_first[i]; j < h->session_first[i + 1];
             j++) {
            hf_txn_id t = h->session_txns[j];

            if (!hf_states_keeps(s, t) || h->txn_outcome[t] == HF_ABORTED)
                continue;
            if (any && (hf_txn_begin_time(h, t) == HF_TIME_NONE ||
                        end >= hf_txn_begin_time(h, t)))
                return false;
            any = true;
            end = h->txn_outcome[t] == HF_COMMITTED ? hf_txn_end_time(h, t)
                                                    : HF_TIME_NONE;
        }
    }
    return true;
}

/* Orders of parts fit together: always, if nothing but the parts themselves is
 * kept; with real time, for whole transactions, whose places can be moments
 * within their intervals. */
static bool is_apart(const hf_states *s)
{
    if (!s->sessions && !s->times)
        return true;
    return !s->snapshots && s->times && (!s->sessions || sessions_keep_time(s));
}

/* Per transaction: one of the keys of its part; n_keys if it has none. */
static uint32_t *find_parts(hf_states *s)
{
    const hf_history *h = s->h;
    uint32_t *up = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    uint32_t *part = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);
    bool apart = is_apart(s);

    /* time says as much */
    s->sessions = s->sessions && !apart;
    for (hf_key_id k = 0; k <= h->n_keys; k++)
        up[k] = k;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        part[t] = h->n_keys;
        if (!hf_states_keeps(s, t) || h->txn_outcome[t] == HF_ABORTED)
            continue;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            if (h->op_key[o] >= h->n_keys)
                continue;
            if (part[t] < h->n_keys)
                up[root_of(up, part[t])] = root_of(up, h->op_key[o]);
            part[t] = h->op_key[o];
        }
    }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        part[t] = apart ? root_of(up, part[t]) : 0;
    hf_free(up);
    return part;
}

/* Transactions by part, then by begin, those without one first. */
hf_sortable *hf_states_in_parts(hf_states *s, uint32_t *ret_n)
{
    const hf_history *h = s->h;
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, (size_t)h->n_txns + 1);
    uint32_t n = 0, *part = find_parts(s);

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin = hf_txn_begin_time(h, t);

        if (hf_states_keeps(s, t) && h->txn_outcome[t] != HF_ABORTED)
            all[n++] = (hf_sortable){begin == HF_TIME_NONE ? 0 : begin, t};
    }
    hf_sort(all, n);
    for (uint32_t i = 0; i < n; i++)
        all[i].key = part[all[i].value];
    hf_sort(all, n);
    hf_free(part);
    *ret_n = n;
    return all;
}

/* ---- orders that are kept ------------------------------------------------ */

typedef struct edge {
    uint32_t from, to;
} edge;
typedef HF_VEC(edge) edges;

/* `line` must come one after the other: each waits for the last one that
 * certainly happened, and those in between cannot come after it. */
static void add_line(const hf_states *s, const uint32_t *line, uint32_t n,
                     edges *hard, edges *soft)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j-- > 0;) {
            hf_vec_push(s->maybe[line[j]] ? soft : hard,
                        (edge){line[j], line[i]});
            if (!s->maybe[line[j]])
                break;
        }
}

static void add_sessions(const hf_states *s, const uint32_t *node_of,
                         uint32_t *line, edges *hard, edges *soft)
{
    const hf_history *h = s->h;

    for (hf_session_id i = 0; i < h->n_sessions; i++) {
        uint32_t n = 0;

        for (uint32_t j = h->session_first[i]; j < h->session_first[i + 1]; j++)
            if (node_of[h->session_txns[j]] != HF_NONE)
                line[n++] = node_of[h->session_txns[j]];
        add_line(s, line, n, hard, soft);
    }
}

static bool has_written(const hf_history *h, hf_txn_id t, hf_key_id k)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == k && hf_states_writes(h, o))
            return true;
    return false;
}

static void add_certificate(const hf_states *s, const uint32_t *node_of,
                            uint32_t *line, edges *hard, edges *soft)
{
    const hf_certificate *c = &s->h->cert;

    for (hf_key_id k = 0; c->order_first && k < s->h->n_keys; k++) {
        uint32_t n = 0;

        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++)
            if (node_of[c->order_txn[i]] != HF_NONE &&
                has_written(s->h, c->order_txn[i], k) && n < s->n)
                line[n++] = node_of[c->order_txn[i]];
        add_line(s, line, n, hard, soft);
    }
}

static void link_edges(const edges *e, uint32_t n, bool by_from,
                       uint32_t **ret_first, uint32_t **ret)
{
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)n + 3);

    *ret = HF_NEW_ARRAY(uint32_t, e->n + 1);
    for (size_t i = 0; i < e->n; i++)
        first[(by_from ? e->at[i].from : e->at[i].to) + 2]++;
    for (uint32_t i = 0; i <= n; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < e->n; i++) {
        if (by_from)
            (*ret)[first[e->at[i].from + 1]++] = e->at[i].to;
        else
            (*ret)[first[e->at[i].to + 1]++] = e->at[i].from;
    }
    *ret_first = first;
}

static void sort_by_end(hf_states *s)
{
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, (size_t)s->n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (!s->maybe[i])
            all[n++] = (hf_sortable){s->end[i], i};
    s->by_end = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (uint32_t p = 0; p < s->n_parts; p++)
        hf_sort(all + s->part_sure_first[p],
                s->part_sure_first[p + 1] - s->part_sure_first[p]);
    for (uint32_t i = 0; i < n; i++)
        s->by_end[i] = (uint32_t)all[i].value;
    hf_free(all);
}

void hf_states_add_orders(hf_states *s)
{
    uint32_t *node_of = HF_NEW_ARRAY(uint32_t, (size_t)s->h->n_txns + 1);
    uint32_t *line = HF_NEW_ARRAY(uint32_t, (size_t)s->n + 1);
    edges hard = {0}, soft = {0};

    memset(node_of, 0xff, s->h->n_txns * sizeof(*node_of));
    for (uint32_t i = 0; i < s->n; i++)
        node_of[s->txn[i]] = i;
    if (s->sessions)
        add_sessions(s, node_of, line, &hard, &soft);
    add_certificate(s, node_of, line, &hard, &soft);
    link_edges(&hard, s->n, true, &s->out_first, &s->out);
    link_edges(&soft, s->n, false, &s->kill_first, &s->kill);
    s->waits = HF_NEW_ZEROED(uint32_t, (size_t)s->n + 1);
    for (size_t i = 0; i < hard.n; i++)
        s->waits[hard.at[i].to]++;
    sort_by_end(s);
    hf_vec_release(&hard);
    hf_vec_release(&soft);
    hf_free(node_of);
    hf_free(line);
}

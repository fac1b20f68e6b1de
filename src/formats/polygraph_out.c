/* polygraph_out.c: a history as a cobra-polygraph.
 *
 * Satisfiable exactly if the history is serializable with session order
 * (strong-session-serializable), as Cobra defines it.  Nodes are the
 * committed transactions in their order, then the initial state.
 *
 *   - the initial state before everybody; session order; writer to reader;
 *   - readers of the initial version of a key before its writers;
 *   - for two writers w1, w2 of a key, with readers R1 and R2 of their
 *     versions: a choice (r->w2 | w2->w1) for each r in R1 and (r->w1 |
 *     w1->w2) for each r in R2; without readers (w1->w2 | w2->w1); if w2
 *     itself is in R1, the order is known and the others in R1 come before w2;
 *   - a transaction that reads what no serial order could show it (an aborted,
 *     overwritten or own later value, or one that nobody wrote) gets an edge
 *     to itself.
 *
 * Refused: unknown outcomes, and values written twice, where the source of a
 * read is open.  Quadratic in the number of writers of one key.
 */
#include "formats/polygraph.h"

#include "base/map.h"
#include "base/vec.h"
#include "formats/export.h"

typedef struct reading {
    hf_value_id value;
    hf_txn_id reader;
} reading;

typedef struct maker {
    const hf_history *h;
    hf_out *out;
    hf_error *err;
    uint32_t *node;    /* by transaction; HF_NONE if not committed */
    uint32_t n_nodes;  /* without the initial state, which is this one */
    hf_txn_id *writer; /* by value: committed, and its last write */
    hf_txn_id *any;    /* by value: whoever writes it */
    hf_value_id *own;  /* by key: last write of the current transaction */
    hf_txn_id *own_of; /* by key: the transaction `own` is about */
    hf_map source;     /* (key, reader) to the value it read from others */
    uint32_t *first;   /* by value: its readers in `readers` */
    hf_txn_id *readers;
    HF_VEC(reading) readings;
} maker;

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static void put_pair(hf_out *out, uint32_t from, uint32_t to)
{
    hf_out_uint(out, from);
    hf_out_char(out, ',');
    hf_out_uint(out, to);
}

static void put_edge(const maker *m, uint32_t from, uint32_t to)
{
    hf_out_text(m->out, "e:");
    put_pair(m->out, from, to);
    hf_out_char(m->out, '\n');
}

/* Transactions here; from->to or back->on. */
static void put_choice(const maker *m, hf_txn_id from, hf_txn_id to,
                       hf_txn_id on)
{
    hf_out_text(m->out, "c:");
    put_pair(m->out, m->node[from], m->node[to]);
    hf_out_char(m->out, '|');
    put_pair(m->out, m->node[to], m->node[on]);
    hf_out_char(m->out, '\n');
}

/* ---- who writes, who reads ----------------------------------------------- */

static hf_status find_writers(maker *m)
{
    const hf_history *h = m->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t + 1]; op-- > h->op_first[t];) {
            hf_value_id v = h->op_value[op];
            hf_key_id key = h->op_key[op];

            if (hf_op_kind_of(h, op) != HF_OP_WRITE)
                continue;
            if (m->any[v] != HF_NONE && m->any[v] != t)
                return hf_fail(m->err, HF_ERR_UNSUPPORTED,
                               "T%lld and T%lld write the same value, which "
                               "cobra-polygraph cannot express",
                               (long long)hf_txn_label(h, m->any[v]),
                               (long long)hf_txn_label(h, t));
            m->any[v] = t;
            if (m->own_of[key] != t && m->node[t] != HF_NONE)
                m->writer[v] = t; /* from the end: the last write */
            m->own_of[key] = t;
        }
    memset(m->own_of, 0xff, h->n_keys * sizeof(*m->own_of));
    return HF_OK;
}

static void add_read(maker *m, hf_txn_id t, hf_key_id key, hf_value_id v)
{
    const hf_history *h = m->h;
    bool initial = hf_export_initial(h, v);
    hf_value_id known;

    if (m->own_of[key] == t) {
        if (m->own[key] != v)
            put_edge(m, m->node[t], m->node[t]);
        return;
    }
    if (!initial && (m->writer[v] == HF_NONE || m->writer[v] == t)) {
        put_edge(m, m->node[t], m->node[t]);
        return;
    }
    known = hf_map_get(&m->source, pair(key, t));
    if (known == v)
        return; /* read again */
    if (known == HF_NONE)
        hf_map_set(&m->source, pair(key, t), v);
    else
        put_edge(m, m->node[t], m->node[t]); /* two versions of one key */
    hf_vec_push(&m->readings, (reading){v, t});
    if (!initial)
        put_edge(m, m->node[m->writer[v]], m->node[t]);
}

static void find_readers(maker *m)
{
    const hf_history *h = m->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             m->node[t] != HF_NONE && op < h->op_first[t + 1]; op++) {
            hf_op_kind kind = hf_op_kind_of(h, op);
            hf_key_id key = h->op_key[op];

            if (kind == HF_OP_READ)
                add_read(m, t, key, h->op_value[op]);
            if (kind != HF_OP_WRITE)
                continue;
            m->own[key] = h->op_value[op];
            m->own_of[key] = t;
        }
}

/* Lists the readers of each value. */
static void sort_readers(maker *m)
{
    uint32_t n = m->h->n_values;

    m->first = HF_NEW_ZEROED(uint32_t, (size_t)n + 2);
    m->readers = HF_NEW_ARRAY(hf_txn_id, m->readings.n);
    for (size_t i = 0; i < m->readings.n; i++)
        m->first[m->readings.at[i].value + 2]++;
    for (uint32_t v = 0; v < n; v++)
        m->first[v + 2] += m->first[v + 1];
    for (size_t i = 0; i < m->readings.n; i++)
        m->readers[m->first[m->readings.at[i].value + 1]++] =
            m->readings.at[i].reader;
}

/* ---- the constraints of one key ------------------------------------------ */

static bool reads_from(const maker *m, hf_txn_id t, hf_value_id v)
{
    return hf_map_get(&m->source, pair(m->h->value_key[v], t)) == v;
}

/* w2 read v, which w1 wrote, and wrote the next version. */
static void put_known(const maker *m, hf_value_id v, hf_txn_id w2)
{
    for (uint32_t i = m->first[v]; i < m->first[v + 1]; i++)
        if (m->readers[i] != w2)
            put_edge(m, m->node[m->readers[i]], m->node[w2]);
}

static void put_writers(const maker *m, hf_value_id v1, hf_value_id v2)
{
    hf_txn_id w1 = m->writer[v1], w2 = m->writer[v2];
    bool known = false;

    if (reads_from(m, w2, v1)) {
        put_known(m, v1, w2);
        known = true;
    }
    if (reads_from(m, w1, v2)) {
        put_known(m, v2, w1);
        known = true;
    }
    if (known)
        return;
    for (uint32_t i = m->first[v1]; i < m->first[v1 + 1]; i++)
        put_choice(m, m->readers[i], w2, w1);
    for (uint32_t i = m->first[v2]; i < m->first[v2 + 1]; i++)
        put_choice(m, m->readers[i], w1, w2);
    if (m->first[v1] == m->first[v1 + 1] && m->first[v2] == m->first[v2 + 1])
        put_choice(m, w1, w2, w1);
}

/* Each value stands in `next` behind the one before it of its key that has a
 * committed writer, or is the key's initial one. */
static void put_keys(const maker *m)
{
    const hf_history *h = m->h;
    hf_value_id *last = HF_NEW_ARRAY(hf_value_id, h->n_keys);
    hf_value_id *next = HF_NEW_ARRAY(hf_value_id, h->n_values);

    memset(last, 0xff, h->n_keys * sizeof(*last));
    for (hf_value_id v = 0; v < h->n_values; v++) {
        hf_key_id key = h->value_key[v];

        if (m->writer[v] == HF_NONE)
            continue;
        next[v] = last[key];
        last[key] = v;
        for (hf_value_id u = next[v]; u != HF_NONE; u = next[u])
            put_writers(m, u, v);
    }
    for (hf_value_id v = 0; v < h->n_values; v++) {
        if (!hf_export_initial(h, v))
            continue;
        for (hf_value_id u = last[h->value_key[v]]; u != HF_NONE; u = next[u])
            put_known(m, v, m->writer[u]);
    }
    hf_free(last);
    hf_free(next);
}

/* ---- all ----------------------------------------------------------------- */

static void number_nodes(maker *m)
{
    const hf_history *h = m->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        m->node[t] = h->txn_outcome[t] == HF_COMMITTED ? m->n_nodes++ : HF_NONE;
}

static void put_orders(const maker *m)
{
    const hf_history *h = m->h;

    for (uint32_t i = 0; i < m->n_nodes; i++)
        put_edge(m, m->n_nodes, i);
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t before = HF_NONE;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            uint32_t node = m->node[h->session_txns[i]];

            if (node == HF_NONE)
                continue;
            if (before != HF_NONE)
                put_edge(m, before, node);
            before = node;
        }
    }
}

static uint32_t *none_array(size_t n)
{
    uint32_t *a = HF_NEW_ARRAY(uint32_t, n);

    memset(a, 0xff, n * sizeof(*a));
    return a;
}

hf_status hf_polygraph_export(const hf_history *h, hf_out *out, hf_error *err)
{
    maker m = {.h = h, .out = out, .err = err};
    hf_status st = hf_export_check(h, "cobra-polygraph",
                                   HF_SAYS_ABORTED | HF_SAYS_EMPTY |
                                       HF_SAYS_INITIAL | HF_SAYS_TEXT_KEYS |
                                       HF_SAYS_NEGATIVE | HF_SAYS_NO_VALUES,
                                   err);

    if (st != HF_OK)
        return st;
    m.node = none_array(h->n_txns);
    m.writer = none_array(h->n_values);
    m.any = none_array(h->n_values);
    m.own = none_array(h->n_keys);
    m.own_of = none_array(h->n_keys);
    hf_map_init(&m.source);
    number_nodes(&m);
    st = find_writers(&m);
    if (st == HF_OK) {
        hf_out_format(out, "n:%u\n", m.n_nodes + 1);
        put_orders(&m);
        find_readers(&m);
        sort_readers(&m);
        put_keys(&m);
    }
    hf_free(m.node);
    hf_free(m.writer);
    hf_free(m.any);
    hf_free(m.own);
    hf_free(m.own_of);
    hf_free(m.first);
    hf_free(m.readers);
    hf_map_release(&m.source);
    hf_vec_release(&m.readings);
    return st;
}

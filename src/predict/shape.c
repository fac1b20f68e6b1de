/* shape.c: which predictions are the same to a reader.
 *
 * A kind of transaction is what its code does: its statements, if they were
 * recorded, else the kinds of its operations and their tables, where repeats
 * in a row count once.  Two cycles have one shape if one can be turned into
 * the other's kinds of transactions, edges and tables.
 */
#include "predict/search.h"

#include <string.h>

#include "base/map.h"

struct hf_shapes {
    const hf_events *e;
    uint64_t *kind; /* per transaction number; 0: not known yet */
};

hf_shapes *hf_shapes_new(const hf_events *e)
{
    hf_shapes *s = HF_NEW(hf_shapes);

    s->e = e;
    s->kind = HF_NEW_ZEROED(uint64_t, e->n);
    return s;
}

void hf_shapes_free(hf_shapes *s)
{
    if (!s)
        return;
    hf_free(s->kind);
    hf_free(s);
}

static uint64_t table_of(const hf_history *h, hf_key_id key)
{
    return key == HF_NONE || !h->key_table || h->key_table[key] == HF_NONE
               ? 0
               : (uint64_t)h->key_table[key] + 1;
}

/* What one operation is in the code. */
static uint64_t op_kind(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    uint64_t what = table_of(h, h->op_key[op]);

    if (kind == HF_OP_SQL)
        what = hf_op_sql(h, op).text;
    else if (hf_op_has_predicate(kind))
        what = hf_op_predicate(h, op).table;
    return hf_mix64(what << 8 | h->op_kind[op]);
}

static uint64_t txn_kind(hf_shapes *s, uint32_t t)
{
    const hf_history *h = s->e->h;
    hf_txn_id id = s->e->txn_of[t];
    uint64_t hash = 7, last = 0;

    if (t == 0 || s->kind[t] != 0)
        return t == 0 ? 1 : s->kind[t];
    for (hf_op_id op = h->op_first[id]; op < h->op_first[id + 1]; op++) {
        uint64_t what = op_kind(h, op);

        if (what != last)
            hash = hf_mix64(hash * 31 + what);
        last = what;
    }
    return s->kind[t] = hash | 1;
}

uint64_t hf_shape_site(hf_shapes *s, uint32_t read, uint32_t source)
{
    const hf_event_read *r = &s->e->reads.at[read];
    uint32_t from = s->e->sources.at[r->source + source].txn;
    uint64_t hash = txn_kind(s, r->txn);

    hash = hf_mix64(hash * 31 + op_kind(s->e->h, r->op));
    return hf_mix64(hash * 31 + txn_kind(s, from));
}

static uint64_t edge_kind(hf_shapes *s, const hf_predicted_edge *d)
{
    uint64_t hash = txn_kind(s, s->e->number[d->from]);

    return hf_mix64(hash * 31 +
                    (table_of(s->e->h, d->key) << 3 | (unsigned)d->kind));
}

uint64_t hf_shape_of(hf_shapes *s, const hf_prediction *p)
{
    uint64_t best = UINT64_MAX, hash = 3;

    for (uint32_t from = 0; from < p->n_edges; from++) {
        hash = 5;
        for (uint32_t i = 0; i < p->n_edges; i++)
            hash = hf_mix64(hash * 31 +
                            edge_kind(s, &p->edges[(from + i) % p->n_edges]));
        if (hash < best)
            best = hash;
    }
    if (p->n_edges > 0)
        return best;
    for (uint32_t i = 0; i < p->n_reads; i++)
        if (p->reads[i].changed)
            hash = hf_mix64(hash * 31 +
                            txn_kind(s, s->e->number[p->reads[i].txn]) +
                            op_kind(s->e->h, p->reads[i].op));
    return hash;
}

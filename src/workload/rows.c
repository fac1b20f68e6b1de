/* rows.c: the register workload where it has to be fast.
 *
 * Most histories are made here, at tens of millions of operations a second:
 * registers whose values do not repeat, no intervals, and a store that takes
 * the short way (store/plain.h).  What register.c, generate.c and record.c do
 * with calls is one loop here:
 *
 *   - all choices are arithmetic, as nothing could predict them;
 *   - what changes with every operation is kept in variables;
 *   - a transaction is committed, recorded and followed by the next one in
 *     one piece.
 *
 * The histories are of the same kind, though not the same for the same seed.
 */
#include "history/bulk.h"
#include "store/plain.h"
#include "workload/driver.h"

/* What an operation needs of the generator. */
typedef struct hot {
    uint32_t read, write; /* shares of 65536; the rest is both */
    hf_value_id value;    /* the next to be made */
    hf_value_id end;      /* of the columns' room for values */
    int64_t last;         /* number written last */
    hf_key_id *value_key; /* columns */
    uint8_t *value_type;
    int64_t *value_data;
    bool quick; /* every transaction is committed */
} hot;

/* Makes room for values and looks where the columns are now; false: there is
 * no room to be had. */
static bool take_columns(generator *g, hot *x)
{
    hf_history *h = g->b->h;

    if (h->n_values == g->b->cap_values) {
        hf_value_id spare = hf_builder_int_fresh(g->b, 0, 0);

        if (hf_builder_failed(g->b))
            return false;
        h->n_values = spare; /* only the room was wanted */
    }
    x->value = h->n_values;
    x->end = (hf_value_id)g->b->cap_values;
    x->value_key = h->value_key;
    x->value_type = h->value_type;
    x->value_data = h->value_data;
    return true;
}

/* One operation of client c; a read-modify-write takes two. */
static inline void operate(hot *x, client *c, store_txn *t, hf_store *s,
                           uint32_t key, uint32_t bits)
{
    uint32_t draw = bits & 0xffff;
    uint32_t again = c->rmw_key != HF_NONE;
    uint32_t write = again | (draw - x->read < x->write);
    uint32_t rmw = (draw >= x->read + x->write) & ~again;

    key ^= (key ^ c->rmw_key) & -again;
    /* a value is made in any case, and kept if it is written */
    x->value_key[x->value] = key;
    x->value_type[x->value] = HF_INT;
    x->value_data[x->value] = x->last + 1;
    plain_touch(s, t, key, write, x->value);
    x->value += write;
    x->last += write;
    c->rmw_key = key | (rmw - 1); /* HF_NONE unless rmw */
    c->left -= 1 - rmw;
}

static inline void record_ops(generator *g, hf_txn_id txn, const store_txn *t)
{
    const hf_store_op *op = t->log.at;
    size_t n = t->log.n;
    hf_bulk_columns to;

    if (hf_bulk_ops(g->b, n, &to)) {
        for (size_t k = 0; k < n; k++) {
            to.kind[k] = (uint8_t)op[k].kind;
            to.key[k] = op[k].key;
            to.value[k] = value_of(g, &op[k]);
        }
    } else {
        for (size_t k = 0; k < n; k++)
            (void)hf_builder_op(g->b, txn, op[k].kind, op[k].key,
                                value_of(g, &op[k]));
    }
}

static inline void record_commit(generator *g, hf_txn_id txn, const client *c,
                                 const store_txn *t, hf_store_end end)
{
    size_t n = t->writes.n;
    hf_order_entry *to = hf_bulk_orders(g->b, n);
    uint64_t place = 2 * (uint64_t)end.stamp;

    for (size_t k = 0; k < n; k++)
        to[k] = (hf_order_entry){t->writes.at[k].key, txn};
    if (n == 0)
        place = 2 * (uint64_t)end.snapshot + 1;
    hf_bulk_timestamps(g->b, txn, g->snapshots ? c->begin : HF_TIME_NONE,
                       g->snapshots && n == 0 ? c->begin : g->clock);
    if (g->serial)
        hf_vec_push(&g->serials, (serial_entry){place, txn});
}

/* Commits, records, begins again. */
static void turn_quickly(generator *g, client *c, store_txn *t)
{
    const hf_generate_options *o = g->o;
    hf_store_end end = plain_commit(g->s, t);
    hf_txn_id txn = hf_bulk_txn(g->b, c->id, end.outcome,
                                o->times ? c->begin : HF_TIME_NONE, g->clock);

    record_ops(g, txn, t);
    if (o->certificate && end.outcome == HF_COMMITTED)
        record_commit(g, txn, c, t, end);
    g->n_ended++;
    g->n_begun++;
    g->clock += 2;
    (void)plain_begin(g->s, t);
    c->left = o->min_ops;
    if (o->max_ops > o->min_ops)
        c->left += hf_rng_below(&g->rng, o->max_ops - o->min_ops + 1);
    c->begin = g->clock;
}

/* A client has no operation left.  False: stop. */
static bool turn(generator *g, hot *x, uint32_t slot)
{
    uint32_t i = g->active[slot];
    client *c = &g->clients[i];
    hf_history *h = g->b->h;

    h->n_values = x->value;
    if (x->quick && c->running && g->n_begun < g->o->transactions &&
        ((g->n_ended + 1) & 1023) > 1)
        turn_quickly(g, c, &g->s->txns[i]);
    else
        hf_client_turn(g, slot);
    if (h->n_values != x->value && !take_columns(g, x))
        return false;
    return g->n_active > 0;
}

void hf_run_rows(generator *g)
{
    const hf_generate_options *o = g->o;
    client *const clients = g->clients;
    const hf_keys keys = g->keys;
    hf_store *const s = g->s;
    hot x = {.read = o->read_percent * 65536 / 100,
             .quick = o->abort_percent == 0 && o->unknown_percent == 0};

    x.write = 65536 - o->rmw_percent * 65536 / 100 - x.read;
    if (!take_columns(g, &x))
        return;
    while (g->n_active > 0) {
        uint64_t bits = next_bits(g);
        uint32_t slot = pick_client(g, g->n_active, bits);
        uint32_t i = g->active[slot];

        g->clock += 2;
        if (clients[i].left == 0) {
            if (!turn(g, &x, slot))
                return;
            continue;
        }
        operate(&x, &clients[i], &s->txns[i], s,
                hf_keys_pick(&keys, (uint32_t)(bits >> 16), &g->rng),
                (uint32_t)bits);
        if (x.value == x.end) {
            g->b->h->n_values = x.value;
            if (!take_columns(g, &x))
                return;
        }
    }
}

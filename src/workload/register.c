/* register.c: the register workload.
 *
 * Reads, blind writes, and reads followed by a write of the same key.  Every
 * value written is a new number, unless equal values are wanted: then few
 * numbers are used and some writes repeat what was read.
 */
#include "history/bulk.h"
#include "store/plain.h"
#include "workload/driver.h"

#define FEW 16

/* A value for the key that equals others now and then; `read` is what the
 * transaction has just read there, or 0. */
static hf_store_value repeated_value(generator *g, uint32_t key, int64_t read)
{
    int64_t number = ++g->last_value;

    if (read != 0 && hf_rng_chance(&g->rng, 50))
        number = read;
    else if (g->few_values)
        number = 1 + hf_rng_below(&g->rng, FEW);
    return (hf_store_value){number, hf_builder_int(g->b, key, number)};
}

static inline bool put(generator *g, uint32_t session, uint32_t key,
                       int64_t read)
{
    hf_store_value value;

    if (g->o->unique_values) {
        value.number = ++g->last_value;
        value.id = hf_bulk_int_fresh(g->b, key, value.number);
    } else {
        value = repeated_value(g, key, read);
    }
    return hf_store_write(g->s, session, key, value);
}

static int64_t number_of(const generator *g, const hf_store_op *op)
{
    if (op->version == HF_NONE)
        return 0;
    return hf_store_version_at(g->s, op->version)->number;
}

static inline bool next(generator *g, client *c, uint32_t session,
                        uint64_t bits)
{
    uint32_t key = c->rmw_key;
    const hf_store_op *op;
    choice what;

    if (key != HF_NONE) {
        c->rmw_key = HF_NONE;
        c->left--;
        return put(g, session, key, c->rmw_read);
    }
    key = pick_key(g, bits);
    what = choose(g, (uint32_t)bits);
    if (what == CHOOSE_WRITE) {
        c->left--;
        return put(g, session, key, 0);
    }
    op = hf_store_read(g->s, session, key);
    if (what == CHOOSE_READ) {
        c->left--;
    } else {
        c->rmw_key = key;
        c->rmw_read = g->o->unique_values ? 0 : number_of(g, op);
    }
    return true;
}

/* ---- the short way ------------------------------------------------------- */

/* Most histories are made here, at tens of millions of operations a second:
 * a store that takes the short way (store/plain.h), values that do not repeat,
 * no intervals.  All choices are arithmetic, as nothing could predict them,
 * and what changes with every operation is kept in variables until a client
 * has ended its transaction. */

/* What an operation needs of the generator. */
typedef struct hot {
    uint32_t read, write; /* shares of 65536; the rest is both */
    hf_value_id value;    /* the next to be made */
    hf_value_id end;      /* of the columns' room for values */
    int64_t last;         /* number written last */
    hf_key_id *value_key; /* columns */
    uint8_t *value_type;
    int64_t *value_data;
} hot;

/* Makes room for values; false: there is none to be had. */
static bool take_columns(generator *g, hot *x)
{
    hf_history *h = g->b->h;

    if (h->n_values == g->b->cap_values) {
        hf_value_id spare = hf_builder_int_fresh(g->b, 0, 0);

        if (hf_builder_failed(g->b))
            return false;
        h->n_values = spare; /* only the room was wanted */
    }
    x->read = g->o->read_percent * 65536 / 100;
    x->write = 65536 - g->o->rmw_percent * 65536 / 100 - x->read;
    x->value = h->n_values;
    x->end = (hf_value_id)g->b->cap_values;
    x->last = g->last_value;
    x->value_key = h->value_key;
    x->value_type = h->value_type;
    x->value_data = h->value_data;
    return true;
}

/* One operation of client c; a read-modify-write takes two. */
static inline void operate(hot *x, client *c, store_txn *t, hf_store *s,
                           uint32_t key, uint32_t bits)
{
    uint32_t choice = bits & 0xffff;
    uint32_t again = c->rmw_key != HF_NONE;
    uint32_t write = again | (choice - x->read < x->write);
    uint32_t rmw = (choice >= x->read + x->write) & ~again;

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

/* Runs operations until a client has none left, and returns its slot; or
 * until there is no room: then HF_NONE. */
static uint32_t run_some(generator *g)
{
    client *const clients = g->clients;
    const uint32_t *const active = g->active;
    const uint32_t n_active = g->n_active;
    const hf_keys keys = g->keys;
    hf_store *const s = g->s;
    uint64_t clock = g->clock;
    uint32_t slot = HF_NONE;
    hot x;

    if (!take_columns(g, &x))
        return HF_NONE;
    while (x.value < x.end) {
        uint64_t bits = next_bits(g);
        uint32_t i;

        slot = pick_client(g, n_active, bits);
        i = active[slot];
        clock += 2;
        if (clients[i].left == 0)
            break;
        operate(&x, &clients[i], &s->txns[i], s,
                hf_keys_pick(&keys, (uint32_t)(bits >> 16), &g->rng),
                (uint32_t)bits);
        slot = HF_NONE;
    }
    g->clock = clock;
    g->last_value = x.last;
    g->b->h->n_values = x.value;
    return slot;
}

static void run_plain(generator *g)
{
    while (g->n_active > 0) {
        uint32_t slot = run_some(g);

        if (slot != HF_NONE)
            hf_client_turn(g, slot);
        else if (hf_builder_failed(g->b))
            g->n_active = 0;
    }
}

void hf_run_register(generator *g)
{
    hf_generate_keys(g, g->o->keys);
    if (hf_store_is_plain(g->s) && !g->intervals)
        run_plain(g);
    else
        drive(g, next);
}

/* register.c: the register workload.
 *
 * Reads, blind writes, and reads followed by a write of the same key.  Every
 * value written is a new number, unless equal values are wanted: then few
 * numbers are used and some writes repeat what was read.
 *
 * If arithmetic is what the store does wrong, the write after a read is an
 * increment: by so much that its result is a new number.
 */
#include "history/bulk.h"
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

static bool increment(generator *g, client *c, uint32_t session, uint32_t key)
{
    const hf_store_op *op = hf_store_read(g->s, session, key);
    int64_t amount, sum;

    if (op->version == HF_NONE)
        return put(g, session, key, 0);
    amount = ++g->last_value - number_of(g, op);
    sum = hf_store_sum(g->s, session, amount);
    if (g->last_value < sum)
        g->last_value = sum;
    hf_vec_push(&c->amounts, amount);
    return hf_store_increment(
        g->s, session, key,
        (hf_store_value){sum, hf_bulk_int_fresh(g->b, key, sum)});
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
        if (g->o->bug == HF_BUG_WRONG_ARITHMETIC && g->o->unique_values)
            return increment(g, c, session, key);
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

void hf_run_register(generator *g)
{
    hf_generate_keys(g, g->o->keys);
    if (hf_store_is_plain(g->s) && !g->intervals)
        hf_run_rows(g);
    else
        drive(g, next);
}

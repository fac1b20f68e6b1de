/* predicate.c: the predicate workload.
 *
 * Rows with one column, `value`.  Reads of one row or of all rows in a range
 * of values, aggregates over a range, inserts, updates and deletes of one
 * row or of a range.  The values written are numbers that fill a range
 * evenly and, unless equal values are wanted, never repeat.
 */
#include "history/bulk.h"
#include "workload/driver.h"

#define SPAN_BITS 30
#define SPAN ((int64_t)1 << SPAN_BITS)
#define FEW 100

/* All values lie in 0 .. span-1. */
static int64_t span(const generator *g)
{
    return g->few_values ? FEW : SPAN;
}

/* Multiplication by an odd number permutes the numbers below a power of two;
 * this one spreads consecutive numbers evenly.  (When they are used up the
 * plain count goes on being new.) */
static hf_store_value new_value(generator *g, uint32_t key)
{
    uint64_t count = (uint64_t)++g->last_value;
    int64_t number = (int64_t)count;

    if (g->few_values) {
        number = hf_rng_below(&g->rng, FEW);
        return (hf_store_value){number, hf_builder_int(g->b, key, number)};
    }
    if (count < (uint64_t)SPAN)
        number = (int64_t)((count * 0x9e3779b1u) & (uint64_t)(SPAN - 1));
    return (hf_store_value){number, hf_bulk_int_fresh(g->b, key, number)};
}

static const hf_store_scanned *scan(generator *g, uint32_t session,
                                    hf_op_kind kind)
{
    int64_t all = span(g), width = all * g->o->range_percent / 100;
    int64_t lo = (int64_t)hf_rng_below(&g->rng, (uint32_t)all);

    if (width < 1)
        width = 1;
    return hf_store_scan(g->s, session, kind, lo, lo + width - 1);
}

static void read_range(generator *g, uint32_t session)
{
    static const hf_op_kind kinds[8] = {HF_OP_PREDICATE_READ,
                                        HF_OP_PREDICATE_READ,
                                        HF_OP_PREDICATE_READ,
                                        HF_OP_PREDICATE_READ,
                                        HF_OP_MIN,
                                        HF_OP_MAX,
                                        HF_OP_SUM,
                                        HF_OP_COUNT_ROWS};

    (void)scan(g, session, kinds[hf_rng_below(&g->rng, 8)]);
}

static bool write_range(generator *g, uint32_t session)
{
    bool deletes = hf_rng_chance(&g->rng, 30);
    const hf_store_scanned *found = scan(
        g, session, deletes ? HF_OP_PREDICATE_DELETE : HF_OP_PREDICATE_UPDATE);
    size_t first = found->first_row, n = found->n_rows;

    for (size_t i = first; i < first + n; i++) {
        const hf_store_row *row = &hf_store_rows(g->s, session)[i];
        uint32_t key = row->key;
        bool done;

        if (!row->returned || !row->in_set)
            continue;
        done = deletes ? hf_store_delete(g->s, session, key)
                       : hf_store_write(g->s, session, key, new_value(g, key));
        if (!done)
            return false;
    }
    return true;
}

static bool write_row(generator *g, uint32_t session, uint32_t key)
{
    int64_t old;

    if (!hf_store_peek(g->s, session, key, &old))
        return hf_store_insert(g->s, session, key, new_value(g, key));
    if (hf_rng_chance(&g->rng, 30))
        return hf_store_delete(g->s, session, key);
    return hf_store_write(g->s, session, key, new_value(g, key));
}

static inline bool next(generator *g, client *c, uint32_t session,
                        uint64_t bits)
{
    uint32_t key = c->rmw_key;
    bool range;
    choice what;

    if (key != HF_NONE) {
        c->rmw_key = HF_NONE;
        c->left--;
        return write_row(g, session, key);
    }
    key = pick_key(g, bits);
    what = choose(g, (uint32_t)bits);
    range = hf_rng_chance(&g->rng, g->o->predicate_percent);
    if (what == CHOOSE_RMW) {
        (void)hf_store_read(g->s, session, key);
        c->rmw_key = key;
        return true;
    }
    c->left--;
    if (what == CHOOSE_WRITE)
        return range ? write_range(g, session) : write_row(g, session, key);
    if (range)
        read_range(g, session);
    else
        (void)hf_store_read(g->s, session, key);
    return true;
}

void hf_run_predicate(generator *g)
{
    hf_generate_keys(g, g->o->keys);
    for (uint32_t key = 0; key < g->o->keys; key++) {
        hf_store_value value;

        if (!hf_rng_chance(&g->rng, g->o->loaded_percent))
            continue;
        value = new_value(g, key);
        hf_store_load(g->s, key, value);
        hf_builder_initial(g->b, key, value.id);
    }
    drive(g, next);
}

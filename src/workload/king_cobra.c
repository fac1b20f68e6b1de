/* king_cobra.c: the three mixes of King Cobra (WORKLOADS.md 3).
 *
 * Registers with unique values; a transaction does several operations, each
 * drawn by itself: read, blind write, or a read and then a write of one key.
 * All keys of a transaction differ.  The paper gives no sizes; Cobra's would
 * be 8 operations on 10 000 keys, here 1000 keys by default so that it loads
 * at once.
 */
#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_OPS 20u
#define KINDS MAX_OPS /* where kinds and values stand in the numbers */
#define VALUES (2 * MAX_OPS)

enum { READ, WRITE, RMW };

typedef struct state {
    hf_chooser chooser;
    int64_t keys;
    unsigned ops;
    double reads, writes;
} state;

#define OPTIONS(name, reads, writes)                                           \
    static const hf_workload_option name[] = {                                 \
        {"keys", 1000, 1, 1e7, "rows (Cobra: 10000)"},                         \
        {"ops", 8, 1, MAX_OPS, "operations of a transaction"},                 \
        {"read", reads, 0, 100, "percent of operations that read"},            \
        {"write", writes, 0, 100,                                              \
         "percent that write; the rest read and then write"},                  \
        HF_CHOOSER_OPTIONS(0, 0),                                              \
    }
OPTIONS(rmw_options, 25, 25);
OPTIONS(rw_options, 50, 50);
OPTIONS(heavy_options, 10, 80);

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->keys = hf_option(p, "keys");
    s->ops = (unsigned)hf_option(p, "ops");
    s->reads = hf_play_option(p, "read");
    s->writes = hf_play_option(p, "write");
    if (s->reads + s->writes > 100)
        return hf_fail(err, HF_ERR_INPUT,
                       "options \"read\" and \"write\" are more than 100 "
                       "percent together");
    hf_chooser_init(&s->chooser, p, s->keys);
    return hf_kv_load_all(p, s->keys, err);
}

static void check(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);

    hf_kv_check_all(p, c, s->keys);
}

static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    d->n = hf_choose_some(&s->chooser, r, s->ops, d->numbers);
    for (unsigned i = 0; i < d->n; i++) {
        double u = hf_rng_unit(r) * 100;

        d->numbers[KINDS + i] = u < s->reads               ? READ
                                : u < s->reads + s->writes ? WRITE
                                                           : RMW;
        d->numbers[VALUES + i] = hf_kv_value(r, d->numbers[i], s->keys);
    }
}

static void run(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const state *s = hf_play_state(p);

    for (unsigned i = 0; i < d->n; i++) {
        int64_t k = d->numbers[i], kind = d->numbers[KINDS + i], v;
        bool found;

        if (kind != WRITE) {
            if (!hf_kv_get(c, k, &v, &found))
                return;
            if (found)
                hf_kv_judge(p, "KV2", k, v, s->keys);
        }
        if (kind != READ && !hf_kv_put(c, k, d->numbers[VALUES + i]))
            return;
    }
}

static const hf_workload_type types[] = {{"mixed", 100, false, draw, run}};

#define KING_COBRA(symbol, name_, summary_, options_)                          \
    const hf_workload symbol = {.name = name_,                                 \
                                .summary = summary_,                           \
                                .plain = true,                                 \
                                .options = options_,                           \
                                .n_options = HF_COUNT(options_),               \
                                .types = types,                                \
                                .n_types = HF_COUNT(types),                    \
                                .tables = hf_kv_tables,                        \
                                .load = load,                                  \
                                .check = check,                                \
                                .state_size = sizeof(state)}
KING_COBRA(hf_workload_king_cobra_rmw, "king-cobra-rmw",
           "reads, writes, and half of it read-modify-writes (King Cobra)",
           rmw_options);
KING_COBRA(hf_workload_king_cobra_rw, "king-cobra-rw",
           "half reads, half blind writes in one transaction (King Cobra)",
           rw_options);
KING_COBRA(hf_workload_king_cobra_heavy, "king-cobra-heavy-write",
           "four of five operations are blind writes (King Cobra)",
           heavy_options);

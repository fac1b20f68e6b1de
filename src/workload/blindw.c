/* blindw.c: BlindW of Cobra, and its RW+ of Leopard (WORKLOADS.md 1).
 *
 * Every transaction does one kind of operation only, on different keys: reads,
 * or writes that look at nothing.  The payload is a number instead of 140
 * letters, so that it fits kv; the tag makes it unique.  By default 2000 keys
 * (Leopard's scale 1; Cobra has 10 000).
 */
#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_OPS 30u

typedef struct state {
    hf_chooser choice;
    int64_t keys, range;
    unsigned ops;
    double range_percent;
    bool by_transaction;
} state;

#define COMMON_OPTIONS                                                         \
    {"keys", 2000, 1, 1e7, "rows (Cobra: 10000)"},                             \
        {"ops", 8, 1, MAX_OPS, "operations of a transaction"},                 \
        HF_CHOOSER_OPTIONS(0, 0)
static const hf_workload_option options[] = {COMMON_OPTIONS};
static const hf_workload_option range_options[] = {
    COMMON_OPTIONS,
    {"range-percent", 50, 0, 100, "of reads that are reads of a range"},
    {"range-length", 10, 1, 1000, "keys of a range"},
    {"range-unit", 0, 0, 1,
     "what the percentage is of: operation, transaction"},
};

static const hf_step read_range = {
    "SELECT _tag, k, v FROM kv WHERE k BETWEEN $1 AND $2 ORDER BY k",
    HF_STEP_SCAN, .table = "kv", .keys = {1}, .range = {.first = 1, .last = 2}};

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->keys = hf_option(p, "keys");
    s->ops = (unsigned)hf_option(p, "ops");
    hf_chooser_init(&s->choice, p, s->keys);
    return hf_kv_load_all(p, s->keys, err);
}

static hf_status load_ranges(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->range_percent = hf_play_option(p, "range-percent");
    s->range = hf_option(p, "range-length");
    s->by_transaction = hf_option(p, "range-unit") == 1;
    return load(p, err);
}

static void check(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);

    hf_kv_check_all(p, c, s->keys);
}

/* ---- transactions -------------------------------------------------------- */

/* numbers: the keys, and from MAX_OPS on the values. */
static void draw_keys(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);

    d->n = hf_choose_some(&s->choice, hf_client_rng(c), s->ops, d->numbers);
}

static void draw_writes(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);

    draw_keys(p, c, d);
    for (unsigned i = 0; i < d->n; i++)
        d->numbers[MAX_OPS + i] =
            hf_kv_value(hf_client_rng(c), d->numbers[i], s->keys);
}

static bool read_key(hf_play *p, hf_client *c, int64_t k, int64_t *ret_v)
{
    const state *s = hf_play_state(p);
    bool found;

    if (!hf_kv_get(c, k, ret_v, &found))
        return false;
    if (found)
        hf_kv_judge(p, "KV2", k, *ret_v, s->keys);
    return true;
}

static void run_reads(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;

    for (unsigned i = 0; i < d->n; i++)
        if (!read_key(p, c, d->numbers[i], &v))
            return;
}

static void run_writes(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    for (unsigned i = 0; i < d->n; i++)
        if (!hf_kv_put(c, d->numbers[i], d->numbers[MAX_OPS + i]))
            return;
}

/* Half as many keys, each read and then written. */
static void run_rmw(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const state *s = hf_play_state(p);
    int64_t v;

    for (unsigned i = 0; i < (d->n + 1) / 2; i++)
        if (!read_key(p, c, d->numbers[i], &v) ||
            !hf_kv_put(c, d->numbers[i], v + s->keys))
            return;
}

static void draw_inserts(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);

    d->n = s->ops;
    for (unsigned i = 0; i < d->n; i++) {
        d->numbers[i] = hf_client_fresh(c) + s->keys;
        d->numbers[MAX_OPS + i] =
            hf_kv_value(hf_client_rng(c), d->numbers[i], s->keys);
    }
}

static void run_inserts(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    for (unsigned i = 0; i < d->n; i++)
        if (!hf_kv_insert(c, d->numbers[i], d->numbers[MAX_OPS + i]))
            return;
}

/* From MAX_OPS on: is it a range that begins here? */
static void draw_ranges(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    bool all = hf_coin(r, s->range_percent);
    int64_t last = s->keys > s->range ? s->keys - s->range : 0;

    draw_keys(p, c, d);
    for (unsigned i = 0; i < d->n; i++) {
        bool range = s->by_transaction ? all : hf_coin(r, s->range_percent);

        d->numbers[MAX_OPS + i] = range;
        if (range)
            d->numbers[i] = hf_uniform(r, 0, last);
    }
}

static bool read_keys(hf_play *p, hf_client *c, int64_t first)
{
    const state *s = hf_play_state(p);
    const hf_sql_result *rows;

    if (!HF_STEP(c, read_range, &rows, hf_i(first), hf_i(first + s->range - 1)))
        return false;
    for (uint64_t i = 0; i < rows->n_rows; i++)
        hf_kv_judge(p, "KV2", hf_cell(rows, i, 1), hf_cell(rows, i, 2),
                    s->keys);
    return true;
}

static void run_ranges(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;

    for (unsigned i = 0; i < d->n; i++)
        if (d->numbers[MAX_OPS + i] ? !read_keys(p, c, d->numbers[i])
                                    : !read_key(p, c, d->numbers[i], &v))
            return;
}

/* ---- the four ------------------------------------------------------------ */

#define TYPES(name, reads, writes)                                             \
    static const hf_workload_type name[] = {                                   \
        {"read", reads, true, draw_keys, run_reads},                           \
        {"write", writes, false, draw_writes, run_writes},                     \
        {"rmw", 0, false, draw_keys, run_rmw},                                 \
        {"insert", 0, false, draw_inserts, run_inserts},                       \
    }
TYPES(w_types, 0, 100);
TYPES(rw_types, 50, 50);
TYPES(rm_types, 90, 10);
static const hf_workload_type range_types[] = {
    {"read", 50, true, draw_ranges, run_ranges},
    {"write", 50, false, draw_writes, run_writes},
    {"rmw", 0, false, draw_keys, run_rmw},
    {"insert", 0, false, draw_inserts, run_inserts},
};

#define BLINDW(symbol, name_, summary_, types_)                                \
    const hf_workload symbol = {.name = name_,                                 \
                                .summary = summary_,                           \
                                .plain = true,                                 \
                                .options = options,                            \
                                .n_options = HF_COUNT(options),                \
                                .types = types_,                               \
                                .n_types = HF_COUNT(types_),                   \
                                .tables = hf_kv_tables,                        \
                                .load = load,                                  \
                                .check = check,                                \
                                .state_size = sizeof(state)}
BLINDW(hf_workload_blindw_w, "blindw-w", "blind writes only (Leopard)",
       w_types);
BLINDW(hf_workload_blindw_rw, "blindw-rw",
       "half reading, half blindly writing transactions (Cobra)", rw_types);
BLINDW(hf_workload_blindw_rm, "blindw-rm",
       "nine of ten transactions read, one writes blindly (Cobra)", rm_types);

const hf_workload hf_workload_blindw_rw_plus = {
    .name = "blindw-rw+",
    .summary = "blindw-rw with half of the reads over ranges (Leopard)",
    .options = range_options,
    .n_options = HF_COUNT(range_options),
    .types = range_types,
    .n_types = HF_COUNT(range_types),
    .tables = hf_kv_tables,
    .load = load_ranges,
    .check = check,
    .state_size = sizeof(state)};

/* mixes.c: the item and the predicate mix of Emme and Enne (WORKLOADS.md 2).
 *
 * Five operations a transaction, mixed freely, on a table that starts empty.
 * The paper's c0 is our tag, its c1 the value.  Item operations are those of
 * kv, so that key-value stores can run the item mix; predicates have a table
 * with an index on the value.
 *
 * min and max are asked for as the row that has it (ordered by value, then
 * key, one row), because the tag of that row is what tells where the answer
 * came from.  A predicate update is the predicate read and then one update of
 * each row it found: the paper's model of it; one statement would give all
 * rows one tag and tell nobody which they were.
 */
#include <inttypes.h>

#include "workload/kv.h"
#include "workload/play.h"
#include "workload/workloads.h"

#define MAX_OPS 16u
#define MAX_BREACHES 20u

/* Of an operation: kind, key or low end, value. */
enum { UPDATE, READ, INCREMENT, INSERT, RANGE, LEAST, MOST, RANGE_UPDATE };

typedef struct state {
    hf_chooser chooser;
    int64_t keys, values, width;
    unsigned ops;
    double percent[4]; /* item: update, read, increment; insert is the rest */
    double predicates;
    bool adds;
    hf_count increments;
    hf_memos notes;
} state;

#define COMMON_OPTIONS(keys)                                                   \
    {"keys", keys, 1, 1e6, "keys there can be"},                               \
        {"ops", 5, 1, MAX_OPS, "operations of a transaction"},                 \
        {"values", 1000, 1, 1e9, "values written: 0 up to this"},              \
        {"insert", 10, 0, 100, "percent of operations that insert"},           \
        HF_CHOOSER_OPTIONS(0, 0)
static const hf_workload_option item_options[] = {
    COMMON_OPTIONS(1000),
    {"update", 30, 0, 100, "percent of operations"},
    {"read", 40, 0, 100, "percent; the rest are increments"},
    HF_KV_ADDS,
};
static const hf_workload_option predicate_options[] = {
    COMMON_OPTIONS(100),
    {"predicates", 50, 0, 100, "percent of the rest that have a condition"},
    {"width", 10, 1, 1e6, "of a range of values"},
};

static void load_common(hf_play *p)
{
    state *s = hf_play_state(p);

    s->keys = hf_option(p, "keys");
    s->ops = (unsigned)hf_option(p, "ops");
    s->values = hf_option(p, "values");
    s->percent[INSERT] = hf_play_option(p, "insert");
    hf_chooser_init(&s->chooser, p, s->keys);
}

/* ---- the item mix -------------------------------------------------------- */

static hf_status load_items(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    load_common(p);
    s->percent[UPDATE] = hf_play_option(p, "update");
    s->percent[READ] = hf_play_option(p, "read");
    s->adds = hf_option(p, "adds") == 1;
    s->percent[INCREMENT] =
        100 - s->percent[INSERT] - s->percent[UPDATE] - s->percent[READ];
    if (s->percent[INCREMENT] < 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "options \"insert\", \"update\" and \"read\" are more "
                       "than 100 percent together");
    return HF_OK;
}

static void draw_items(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    for (unsigned i = 0; i < s->ops; i++) {
        double left = hf_rng_unit(r) * 100;
        int kind = UPDATE;

        while (kind < INSERT && left >= s->percent[kind])
            left -= s->percent[kind++];
        d->numbers[d->n++] = kind;
        d->numbers[d->n++] = hf_choose(&s->chooser, r);
        d->numbers[d->n++] = hf_uniform(r, 0, s->values - 1);
    }
}

static bool increment_item(const state *s, hf_client *c, int64_t k,
                           int64_t *notes)
{
    hf_kv_row row;

    if (!hf_kv_look(c, k, &row))
        return false;
    notes[0] += row.found;
    return !row.found || hf_kv_add(c, &row, 1, s->adds);
}

static void run_items(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c), ignored;
    bool found, on = true;

    for (unsigned i = 0; i + 2 < d->n && on; i += 3) {
        int64_t k = d->numbers[i + 1], v = d->numbers[i + 2];

        switch (d->numbers[i]) {
        case UPDATE:
            on = hf_kv_set(c, k, v);
            break;
        case READ:
            on = hf_kv_get(c, k, &ignored, &found);
            break;
        case INCREMENT:
            on = increment_item(s, c, k, notes);
            break;
        default:
            on = hf_kv_put(c, k, v);
        }
    }
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    (void)d;
    hf_count_add(&s->increments, hf_memo_of(&s->notes, c)[0], known);
}

/* No value is outside of what was written, incremented however often. */
static void judge(hf_play *p, int64_t k, int64_t v)
{
    state *s = hf_play_state(p);
    int64_t most = s->values - 1 + atomic_load(&s->increments.high);

    if (v < 0 || v > most)
        hf_play_breach(p, "EM1",
                       "key %" PRId64 ": expected a value from 0 to %" PRId64
                       ", found %" PRId64,
                       k, most, v);
}

static void check_items(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    uint64_t before = hf_play_breaches(p);
    int64_t v;
    bool found;

    for (int64_t k = 0; k < s->keys; k++) {
        if (hf_play_breaches(p) - before >= MAX_BREACHES ||
            !hf_kv_get(c, k, &v, &found))
            return;
        if (found)
            judge(p, k, v);
    }
}

static const hf_workload_type item_types[] = {
    {"mixed", 100, false, draw_items, run_items}};

const hf_workload hf_workload_item_mix = {
    .name = "item-mix",
    .summary = "reads, updates, increments and inserts of keys (Emme)",
    .plain = true,
    .options = item_options,
    .n_options = HF_COUNT(item_options),
    .types = item_types,
    .n_types = HF_COUNT(item_types),
    .tables = hf_kv_tables,
    .load = load_items,
    .check = check_items,
    .done = done,
    .state_size = sizeof(state)};

/* ---- the predicate mix --------------------------------------------------- */

static const char *const tables[] = {
    "CREATE TABLE pm (k BIGINT PRIMARY KEY, c1 BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE INDEX pm_c1 ON pm (c1)", NULL};

static const hf_step insert_row = {
    "INSERT INTO pm (k, c1, _tag) VALUES ($1, $2, $3) "
    "ON CONFLICT (k) DO UPDATE SET c1 = $2, _tag = $3",
    HF_STEP_UPSERT,
    .table = "pm",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step update_row = {
    "UPDATE pm SET c1 = $2, _tag = $3 WHERE k = $1",
    HF_STEP_UPDATE,
    .table = "pm",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step read_row = {"SELECT _tag, c1 FROM pm WHERE k = $1",
                                 HF_STEP_READ, .table = "pm", .keys = {1}};
static const hf_step read_range = {
    "SELECT _tag, k, c1 FROM pm WHERE c1 >= $1 AND c1 <= $2 ORDER BY k",
    HF_STEP_SCAN, .table = "pm", .keys = {1}};
static const hf_step read_least = {
    "SELECT _tag, k, c1 FROM pm ORDER BY c1, k LIMIT 1", HF_STEP_SCAN,
    .table = "pm", .keys = {1}};
static const hf_step read_most = {
    "SELECT _tag, k, c1 FROM pm ORDER BY c1 DESC, k LIMIT 1", HF_STEP_SCAN,
    .table = "pm", .keys = {1}};
static const hf_step read_all = {"SELECT _tag, k, c1 FROM pm ORDER BY k",
                                 HF_STEP_SCAN, .table = "pm", .keys = {1}};

static hf_status load_predicates(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    (void)err;
    load_common(p);
    s->predicates = hf_play_option(p, "predicates");
    s->width = hf_option(p, "width");
    return HF_OK;
}

/* Inserts; of the rest a share has a condition; half of each part reads. */
static int draw_kind(const state *s, hf_rng *r)
{
    if (hf_coin(r, s->percent[INSERT]))
        return INSERT;
    if (!hf_coin(r, s->predicates))
        return hf_coin(r, 50) ? READ : UPDATE;
    return hf_coin(r, 50) ? RANGE + (int)hf_rng_below(r, 3) : RANGE_UPDATE;
}

static void draw_predicates(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);

    for (unsigned i = 0; i < s->ops; i++) {
        int kind = draw_kind(s, r);

        d->numbers[d->n++] = kind;
        d->numbers[d->n++] = kind < RANGE ? hf_choose(&s->chooser, r)
                                          : hf_uniform(r, 0, s->values - 1);
        d->numbers[d->n++] = hf_uniform(r, 0, s->values - 1);
    }
}

/* The keys first: rows are valid until the next step only. */
static bool update_range(const state *s, hf_client *c, int64_t low, int64_t v)
{
    const hf_sql_result *rows;
    int64_t *keys;
    uint64_t n;
    bool on = true;

    if (!HF_STEP(c, read_range, &rows, hf_i(low), hf_i(low + s->width)))
        return false;
    n = rows->n_rows;
    keys = HF_NEW_ARRAY(int64_t, n + 1);
    for (uint64_t i = 0; i < n; i++)
        keys[i] = hf_cell(rows, i, 1);
    for (uint64_t i = 0; i < n && on; i++)
        on = HF_STEP(c, update_row, NULL, hf_i(keys[i]), hf_i(v), hf_tag());
    hf_free(keys);
    return on;
}

static bool run_one(hf_play *p, hf_client *c, const int64_t *op)
{
    const state *s = hf_play_state(p);
    int64_t k = op[1], v = op[2];

    switch (op[0]) {
    case UPDATE:
        return HF_STEP(c, update_row, NULL, hf_i(k), hf_i(v), hf_tag());
    case READ:
        return HF_STEP(c, read_row, NULL, hf_i(k));
    case RANGE:
        return HF_STEP(c, read_range, NULL, hf_i(k), hf_i(k + s->width));
    case LEAST:
        return hf_client_step(c, &read_least, NULL, 0, NULL);
    case MOST:
        return hf_client_step(c, &read_most, NULL, 0, NULL);
    case RANGE_UPDATE:
        return update_range(s, c, k, v);
    default:
        return HF_STEP(c, insert_row, NULL, hf_i(k), hf_i(v), hf_tag());
    }
}

static void run_predicates(hf_play *p, hf_client *c, const hf_drawn *d)
{
    for (unsigned i = 0; i + 2 < d->n; i += 3)
        if (!run_one(p, c, d->numbers + i))
            return;
}

static void check_predicates(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    uint64_t before = hf_play_breaches(p);
    hf_grid g;

    if (!hf_grid_read(c, &read_all, &g))
        return;
    for (uint64_t i = 0; i < g.n && hf_play_breaches(p) - before < MAX_BREACHES;
         i++) {
        const int64_t *row = hf_grid_row(&g, i);

        if (row[1] < 0 || row[1] >= s->keys)
            hf_play_breach(p, "EM2",
                           "expected keys 0 to %" PRId64 ", found %" PRId64,
                           s->keys - 1, row[1]);
        judge(p, row[1], row[2]);
    }
    hf_grid_release(&g);
}

static const hf_workload_type predicate_types[] = {
    {"mixed", 100, false, draw_predicates, run_predicates}};

const hf_workload hf_workload_predicate_mix = {
    .name = "predicate-mix",
    .summary = "reads and updates of keys and of ranges of values (Emme)",
    .options = predicate_options,
    .n_options = HF_COUNT(predicate_options),
    .types = predicate_types,
    .n_types = HF_COUNT(predicate_types),
    .tables = tables,
    .load = load_predicates,
    .check = check_predicates,
    .state_size = sizeof(state)};

/* ycsb.c: YCSB A to F, BenchBase's mix, and YCSB-T (WORKLOADS.md 4).
 *
 * One table with ten fields of text.  The first field begins with the row's
 * key, so that the check can tell a row that holds another's content.  By
 * default 1000 rows (Leopard: a million) and scans of up to 20 keys
 * (BenchBase: 1000); read-modify-writes take no lock unless asked for, or a
 * lost update could not happen.
 *
 * YCSB-T is CobraBench's closed economy: two keys swap their values, so that
 * the values as a whole stay what they were.
 */
#include <inttypes.h>
#include <stdio.h>

#include "workload/kv.h"
#include "workload/play.h"
#include "workload/workloads.h"

#define MAX_OPS 30u
#define MAX_FIELD 1000u
#define FIELDS 10u
#define MAX_BREACHES 20u

typedef struct state {
    hf_chooser chooser;
    int64_t keys, scan;
    unsigned ops;
    size_t field;
    bool latest, for_update;
    _Atomic int64_t next; /* key */
    hf_count rows;        /* inserted less deleted */
    hf_memos notes;
} state;

#define OPTIONS(name, latest)                                                  \
    static const hf_workload_option name[] = {                                 \
        {"keys", 1000, 1, 1e7, "rows (Leopard: a million)"},                   \
        {"ops", 1, 1, MAX_OPS, "operations of a transaction"},                 \
        {"field", 100, 1, MAX_FIELD, "letters of a field"},                    \
        {"scan", 20, 1, 1e6, "keys of a scan, at most (BenchBase: 1000)"},     \
        {"for-update", 0, 0, 1, "rmw locks what it reads (BenchBase: yes)"},   \
        {"latest", latest, 0, 1, "reads prefer the newest keys"},              \
        HF_CHOOSER_OPTIONS(1, 0.99),                                           \
    }
OPTIONS(options, 0);
OPTIONS(latest_options, 1);

static const char *const tables[] = {
    "CREATE TABLE usertable (ycsb_key BIGINT PRIMARY KEY, "
    "field1 TEXT NOT NULL, field2 TEXT NOT NULL, field3 TEXT NOT NULL, "
    "field4 TEXT NOT NULL, field5 TEXT NOT NULL, field6 TEXT NOT NULL, "
    "field7 TEXT NOT NULL, field8 TEXT NOT NULL, field9 TEXT NOT NULL, "
    "field10 TEXT NOT NULL, _tag BIGINT NOT NULL)",
    NULL};

#define FIELD_NAMES                                                            \
    "field1, field2, field3, field4, field5, field6, field7, field8, field9, " \
    "field10"
static const hf_step read_row = {
    "SELECT _tag, " FIELD_NAMES " FROM usertable WHERE ycsb_key = $1",
    HF_STEP_READ, .table = "usertable", .keys = {1}};
static const hf_step read_locked = {
    "SELECT _tag, " FIELD_NAMES " FROM usertable WHERE ycsb_key = $1 "
    "FOR UPDATE",
    HF_STEP_READ, .table = "usertable", .keys = {1}};
static const hf_step scan_rows = {
    "SELECT _tag, ycsb_key, " FIELD_NAMES " FROM usertable "
    "WHERE ycsb_key > $1 AND ycsb_key < $2 ORDER BY ycsb_key",
    HF_STEP_SCAN, .table = "usertable", .keys = {1},
    .range = {.first = 1, .last = 2, .open = true}};
static const hf_step update_row = {
    "UPDATE usertable SET field1 = $2, field2 = $3, field3 = $4, field4 = $5, "
    "field5 = $6, field6 = $7, field7 = $8, field8 = $9, field9 = $10, "
    "field10 = $11, _tag = $12 WHERE ycsb_key = $1",
    HF_STEP_UPDATE,
    .table = "usertable",
    .keys = {1},
    .tag = 12,
    .blind = true};
static const hf_step insert_row = {
    "INSERT INTO usertable (ycsb_key, " FIELD_NAMES ", _tag) VALUES ($1, $2, "
    "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    HF_STEP_INSERT, .table = "usertable", .keys = {1}, .tag = 12};
static const hf_step delete_row = {"DELETE FROM usertable WHERE ycsb_key = $1",
                                   HF_STEP_DELETE, .table = "usertable",
                                   .keys = {1}};
static const hf_step read_all = {
    "SELECT _tag, ycsb_key, field1 FROM usertable ORDER BY ycsb_key",
    HF_STEP_SCAN, .table = "usertable", .keys = {1}};

/* ---- rows ---------------------------------------------------------------- */

typedef struct content {
    hf_sql_value values[FIELDS + 2]; /* key, fields, tag */
    char text[FIELDS][MAX_FIELD + 24];
} content;

static void fill(content *row, int64_t key, size_t length, uint64_t seed)
{
    row->values[0] = hf_i(key);
    for (unsigned i = 0; i < FIELDS; i++) {
        size_t head = 0;

        if (i == 0)
            head = (size_t)snprintf(row->text[0], 24, "%" PRId64 ":", key);
        hf_letters(row->text[i] + head, length, seed + i);
        row->values[1 + i] = hf_t(row->text[i]);
    }
    row->values[1 + FIELDS] = hf_tag();
}

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);
    hf_status st = HF_OK;
    content *row = HF_NEW(content);

    s->keys = hf_option(p, "keys");
    s->ops = (unsigned)hf_option(p, "ops");
    s->scan = hf_option(p, "scan");
    s->field = (size_t)hf_option(p, "field");
    s->latest = hf_option(p, "latest") == 1;
    s->for_update = hf_option(p, "for-update") == 1;
    hf_chooser_init(&s->chooser, p, s->keys);
    atomic_store(&s->next, s->keys);
    for (int64_t k = 0; k < s->keys && st == HF_OK; k++) {
        fill(row, k, s->field, hf_play_seed(p) + (uint64_t)k * FIELDS);
        st = hf_play_row(p, "usertable", row->values, FIELDS + 2, err);
    }
    hf_free(row);
    return st;
}

static void check(hf_play *p, hf_client *c)
{
    state *s = hf_play_state(p);
    uint64_t before = hf_play_breaches(p);
    const hf_sql_result *rows;

    if (!hf_client_step(c, &read_all, NULL, 0, &rows))
        return;
    hf_count_expect(p, "YC1", &s->rows, s->keys, (int64_t)rows->n_rows,
                    "number of rows");
    for (uint64_t i = 0;
         i < rows->n_rows && hf_play_breaches(p) - before < MAX_BREACHES; i++) {
        char expected[24], found[24];
        int n = snprintf(expected, sizeof(expected), "%" PRId64 ":",
                         hf_cell(rows, i, 1));

        hf_cell_text(rows, i, 2, found, sizeof(found));
        if (strncmp(found, expected, (size_t)n) != 0)
            hf_play_breach(p, "YC2",
                           "row %" PRId64 ": expected field1 to begin with "
                           "\"%s\", found \"%s\"",
                           hf_cell(rows, i, 1), expected, found);
    }
}

/* ---- transactions -------------------------------------------------------- */

/* numbers: keys; from MAX_OPS on: lengths of scans, or seeds of contents. */
static void draw_keys(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t last = atomic_load(&s->next) - 1;

    d->n = hf_choose_some(&s->chooser, r, s->ops, d->numbers);
    for (unsigned i = 0; i < d->n; i++) {
        if (s->latest)
            d->numbers[i] = last - d->numbers[i];
        d->numbers[MAX_OPS + i] = (int64_t)(hf_rng_next(r) >> 1);
    }
}

static void draw_scans(hf_play *p, hf_client *c, hf_drawn *d)
{
    const state *s = hf_play_state(p);

    draw_keys(p, c, d);
    for (unsigned i = 0; i < d->n; i++)
        d->numbers[MAX_OPS + i] = hf_uniform(hf_client_rng(c), 1, s->scan);
}

static void draw_inserts(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);

    draw_keys(p, c, d);
    for (unsigned i = 0; i < d->n; i++)
        d->numbers[i] = atomic_fetch_add(&s->next, 1);
}

static void run_reads(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    for (unsigned i = 0; i < d->n; i++)
        if (!HF_STEP(c, read_row, NULL, hf_i(d->numbers[i])))
            return;
}

static void run_scans(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    for (unsigned i = 0; i < d->n; i++)
        if (!HF_STEP(c, scan_rows, NULL, hf_i(d->numbers[i]),
                     hf_i(d->numbers[i] + d->numbers[MAX_OPS + i])))
            return;
}

static bool write_row(hf_play *p, hf_client *c, const hf_step *step,
                      const hf_drawn *d, unsigned i)
{
    const state *s = hf_play_state(p);
    content row;

    fill(&row, d->numbers[i], s->field, (uint64_t)d->numbers[MAX_OPS + i]);
    return hf_client_step(c, step, row.values, FIELDS + 2, NULL);
}

static void run_updates(hf_play *p, hf_client *c, const hf_drawn *d)
{
    for (unsigned i = 0; i < d->n; i++)
        if (!write_row(p, c, &update_row, d, i))
            return;
}

static void run_rmw(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const state *s = hf_play_state(p);
    const hf_step *read = s->for_update ? &read_locked : &read_row;

    for (unsigned i = 0; i < d->n; i++) {
        hf_sql_value key = hf_i(d->numbers[i]);

        if (!hf_client_step(c, read, &key, 1, NULL) ||
            !write_row(p, c, &update_row, d, i))
            return;
    }
}

static void run_inserts(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);

    for (unsigned i = 0; i < d->n; i++) {
        if (!write_row(p, c, &insert_row, d, i))
            return;
        notes[0]++;
    }
}

static void run_deletes(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    const hf_sql_result *rows;

    for (unsigned i = 0; i < d->n; i++) {
        if (!HF_STEP(c, delete_row, &rows, hf_i(d->numbers[i])))
            return;
        notes[0] -= (int64_t)rows->affected;
    }
}

enum { READ, UPDATE, RMW, INSERT, DELETE, SCAN };

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    if (d->type == INSERT || d->type == DELETE)
        hf_count_add(&s->rows, hf_memo_of(&s->notes, c)[0], known);
}

#define YCSB(letter, name_, summary_, options_, reads, updates, rmws, inserts, \
             deletes, scans)                                                   \
    static const hf_workload_type types_##letter[] = {                         \
        {"read", reads, true, draw_keys, run_reads},                           \
        {"update", updates, false, draw_keys, run_updates},                    \
        {"rmw", rmws, false, draw_keys, run_rmw},                              \
        {"insert", inserts, false, draw_inserts, run_inserts},                 \
        {"delete", deletes, false, draw_keys, run_deletes},                    \
        {"scan", scans, true, draw_scans, run_scans},                          \
    };                                                                         \
    const hf_workload hf_workload_ycsb_##letter = {                            \
        .name = name_,                                                         \
        .summary = summary_,                                                   \
        .options = options_,                                                   \
        .n_options = HF_COUNT(options_),                                       \
        .types = types_##letter,                                               \
        .n_types = HF_COUNT(types_##letter),                                   \
        .tables = tables,                                                      \
        .load = load,                                                          \
        .check = check,                                                        \
        .done = done,                                                          \
        .state_size = sizeof(state)}

YCSB(a, "ycsb-a", "half reads, half updates of rows (YCSB)", options, 50, 50, 0,
     0, 0, 0);
YCSB(b, "ycsb-b", "19 of 20 are reads, the rest updates (YCSB)", options, 95, 5,
     0, 0, 0, 0);
YCSB(c, "ycsb-c", "reads only (YCSB)", options, 100, 0, 0, 0, 0, 0);
YCSB(d, "ycsb-d", "reads of the newest rows, and inserts (YCSB)",
     latest_options, 95, 0, 0, 5, 0, 0);
YCSB(e, "ycsb-e", "scans and inserts (YCSB)", options, 0, 0, 0, 5, 0, 95);
YCSB(f, "ycsb-f", "half reads, half read-modify-writes (YCSB)", options, 50, 0,
     50, 0, 0, 0);
YCSB(all, "ycsb", "all kinds of operations, as BenchBase mixes them", options,
     50, 10, 10, 5, 10, 15);

/* ---- YCSB-T -------------------------------------------------------------- */

typedef struct swap_state {
    hf_chooser chooser;
    int64_t keys;
} swap_state;

static const hf_workload_option swap_options[] = {
    {"keys", 1000, 2, 1e7, "rows"},
    HF_CHOOSER_OPTIONS(1, 0.99),
};

/* Each value is there once, and moves. */
static hf_status load_swap(hf_play *p, hf_error *err)
{
    swap_state *s = hf_play_state(p);

    s->keys = hf_option(p, "keys");
    hf_chooser_init(&s->chooser, p, s->keys);
    return hf_kv_load_all(p, s->keys, err);
}

static void draw_two(hf_play *p, hf_client *c, hf_drawn *d)
{
    const swap_state *s = hf_play_state(p);

    d->n = hf_choose_some(&s->chooser, hf_client_rng(c), 2, d->numbers);
}

static void run_swap(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v[2];
    bool found[2];

    (void)p;
    for (unsigned i = 0; i < 2; i++)
        if (!hf_kv_get(c, d->numbers[i], &v[i], &found[i]))
            return;
    if (!found[0] || !found[1]) {
        hf_client_give_up(c, "a row is missing");
        return;
    }
    if (hf_kv_set(c, d->numbers[0], v[1]))
        (void)hf_kv_set(c, d->numbers[1], v[0]);
}

/* Numbers have no letters to shuffle: the same is written again. */
static void run_rewrite(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;
    bool found;

    (void)p;
    if (hf_kv_get(c, d->numbers[0], &v, &found) && found)
        (void)hf_kv_set(c, d->numbers[0], v);
}

static void run_read(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;
    bool found;

    (void)p;
    (void)hf_kv_get(c, d->numbers[0], &v, &found);
}

static void check_swap(hf_play *p, hf_client *c)
{
    const swap_state *s = hf_play_state(p);
    uint32_t *times = HF_NEW_ZEROED(uint32_t, (size_t)s->keys);
    int64_t v, strange = 0;
    unsigned breaches = 0;
    bool found, on = true;

    for (int64_t k = 0; k < s->keys && on; k++) {
        on = hf_kv_get(c, k, &v, &found);
        if (on && found && v >= 0 && v < s->keys)
            times[v]++;
        else if (on)
            strange++;
    }
    if (on && strange > 0)
        hf_play_breach(p, "YT2",
                       "expected 0 rows missing or with a value that was "
                       "never there, found %" PRId64,
                       strange);
    for (int64_t i = 0; i < s->keys && on && breaches < MAX_BREACHES; i++)
        if (times[i] != 1) {
            hf_play_breach(p, "YT1",
                           "value %" PRId64 ": expected once, found %" PRIu32
                           " times",
                           i, times[i]);
            breaches++;
        }
    hf_free(times);
}

static const hf_workload_type swap_types[] = {
    {"read", 50, true, draw_two, run_read},
    {"swap", 50, false, draw_two, run_swap},
    {"update", 0, false, draw_two, run_rewrite},
};

const hf_workload hf_workload_ycsb_t = {
    .name = "ycsb-t",
    .summary = "two keys swap their values; none is lost (CobraBench)",
    .plain = true,
    .options = swap_options,
    .n_options = HF_COUNT(swap_options),
    .types = swap_types,
    .n_types = HF_COUNT(swap_types),
    .tables = hf_kv_tables,
    .load = load_swap,
    .check = check_swap,
    .state_size = sizeof(swap_state)};

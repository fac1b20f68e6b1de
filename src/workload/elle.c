/* elle.c: list-append and rw-register of Elle (WORKLOADS.md 14).
 *
 * A transaction has 1 to 4 operations on keys of a small pool; a key that was
 * written often enough leaves it and a new one takes its place, so that lists
 * stay short and old keys are left alone.  Elements of lists are the clients'
 * tags (Elle counts 1, 2, 3, ... per key); registers count per key as Elle
 * does, and the tag is beside them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "workload/kv.h"
#include "workload/workloads.h"

#define MAX_OPS 20u
#define MAX_POOL 1000u
#define MAX_BREACHES 20u
#define TABLES 3u

typedef struct slot {
    int64_t key;
    int64_t written, budget;
} slot;

typedef struct state {
    hf_chooser chooser;
    unsigned least, most, tables;
    double writes;
    hf_zipf budget;
    hf_count appended;
    hf_memos notes;
    /* under the play's lock */
    slot pool[MAX_POOL];
    int64_t next; /* key */
} state;

#define COMMON_OPTIONS                                                         \
    {"keys", 10, 1, MAX_POOL, "in use at one time (Elle, uniform: 3)"},        \
        {"min-ops", 1, 1, MAX_OPS, "operations of a transaction, at least"},   \
        {"max-ops", 4, 1, MAX_OPS, "and at most"},                             \
        {"write", 50, 0, 100, "percent of operations that write"},             \
        {"writes-per-key", 256, 1, 1e9,                                        \
         "at most, before a new key takes its place"},                         \
        HF_CHOOSER_OPTIONS(3, 0)
static const hf_workload_option list_options[] = {
    COMMON_OPTIONS,
    {"tables", 1, 1, TABLES, "over which the keys are spread"},
};
static const hf_workload_option register_options[] = {COMMON_OPTIONS};

/* ---- keys that come and go ----------------------------------------------- */

/* The play's lock is held, or nobody else runs. */
static void renew(state *s, slot *k, hf_rng *r)
{
    k->key = s->next++;
    k->written = 0;
    k->budget = 1 + hf_zipf_draw(&s->budget, r);
}

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);
    hf_rng r;

    s->least = (unsigned)hf_option(p, "min-ops");
    s->most = (unsigned)hf_option(p, "max-ops");
    s->writes = hf_play_option(p, "write");
    if (s->least > s->most)
        return hf_fail(err, HF_ERR_INPUT,
                       "option \"min-ops\" is above \"max-ops\"");
    hf_chooser_init(&s->chooser, p, hf_option(p, "keys"));
    hf_zipf_init(&s->budget, hf_option(p, "writes-per-key"), 1);
    hf_rng_seed(&r, hf_play_seed(p));
    for (int64_t i = 0; i < s->chooser.n; i++)
        renew(s, &s->pool[i], &r);
    return HF_OK;
}

static hf_status load_lists(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->tables = (unsigned)hf_option(p, "tables");
    return load(p, err);
}

/* numbers: of each operation the key, and the value or 0 for a read. */
static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    hf_rng *r = hf_client_rng(c);
    int64_t ops = hf_uniform(r, s->least, s->most);

    hf_play_lock(p);
    for (int64_t i = 0; i < ops; i++) {
        slot *k = &s->pool[hf_choose(&s->chooser, r)];

        d->numbers[d->n++] = k->key;
        d->numbers[d->n++] = hf_coin(r, s->writes) ? ++k->written : 0;
        if (k->written >= k->budget)
            renew(s, k, r);
    }
    hf_play_unlock(p);
}

static int64_t keys_so_far(hf_play *p)
{
    state *s = hf_play_state(p);
    int64_t n;

    hf_play_lock(p);
    n = s->next;
    hf_play_unlock(p);
    return n;
}

/* ---- lists --------------------------------------------------------------- */

#define CREATE(i)                                                              \
    "CREATE TABLE lists" i " (k BIGINT PRIMARY KEY, val TEXT NOT NULL)"
static const char *const list_tables[] = {CREATE("0"), CREATE("1"), CREATE("2"),
                                          NULL};

#define APPEND(i)                                                              \
    {                                                                          \
        "INSERT INTO lists" i " (k, val) VALUES ($1, $2) "                     \
        "ON CONFLICT (k) DO UPDATE SET val = lists" i ".val || ',' || $2",     \
            HF_STEP_APPEND, .table = "lists" i, .keys = {1}, .tag = 2          \
    }
static const hf_step append[TABLES] = {APPEND("0"), APPEND("1"), APPEND("2")};

#define LIST(i)                                                                \
    {                                                                          \
        "SELECT val FROM lists" i " WHERE k = $1", HF_STEP_LIST,               \
            .table = "lists" i, .keys = {                                      \
                1                                                              \
            }                                                                  \
    }
static const hf_step read_list[TABLES] = {LIST("0"), LIST("1"), LIST("2")};

static void run_lists(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    bool on = true;

    for (unsigned i = 0; i + 1 < d->n && on; i += 2) {
        int64_t k = d->numbers[i];
        unsigned t = (unsigned)(k % s->tables);

        if (d->numbers[i + 1] > 0) {
            on = HF_STEP(c, append[t], NULL, hf_i(k), hf_tag());
            notes[0]++;
        } else {
            on = HF_STEP(c, read_list[t], NULL, hf_i(k));
        }
    }
}

static void done_lists(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    (void)d;
    hf_count_add(&s->appended, hf_memo_of(&s->notes, c)[0], known);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* How many elements the list has; breaches if one is there twice or it is no
 * list. */
static int64_t judge_list(hf_play *p, int64_t k, hf_str s)
{
    int64_t *all = HF_NEW_ARRAY(int64_t, s.len + 1), n = 0;
    size_t begin = 0;

    for (size_t i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != ',')
            continue;
        if (!hf_str_to_int((hf_str){s.ptr + begin, i - begin}, &all[n]))
            hf_play_breach(p, "LA3",
                           "key %" PRId64
                           ": expected a list of numbers, found \"%.*s\"",
                           k, s.len < 60 ? (int)s.len : 60, s.ptr);
        else
            n++;
        begin = i + 1;
    }
    qsort(all, (size_t)n, sizeof(*all), compare);
    for (int64_t i = 1; i < n; i++)
        if (all[i] == all[i - 1])
            hf_play_breach(p, "LA2",
                           "key %" PRId64 ": expected element %" PRId64
                           " once, found it twice",
                           k, all[i]);
    hf_free(all);
    return n;
}

/* Nothing that was appended is missing, nothing is there twice. */
static void check_lists(hf_play *p, hf_client *c)
{
    state *s = hf_play_state(p);
    int64_t n = keys_so_far(p), elements = 0;

    for (int64_t k = 0; k < n; k++) {
        const hf_sql_result *rows;

        if (!HF_STEP(c, read_list[k % s->tables], &rows, hf_i(k)))
            return;
        if (rows->n_rows > 0 && rows->cells[0].type == HF_SQL_TEXT)
            elements += judge_list(
                p, k, (hf_str){rows->cells[0].text, rows->cells[0].length});
        else if (rows->n_rows > 0) /* a database that gives numbers */
            elements++;
    }
    hf_count_expect(p, "LA1", &s->appended, 0, elements,
                    "elements of all lists");
}

static const hf_workload_type list_types[] = {
    {"mixed", 100, false, draw, run_lists}};

const hf_workload hf_workload_list_append = {
    .name = "list-append",
    .summary = "appends to lists and reads of them (Elle)",
    .options = list_options,
    .n_options = HF_COUNT(list_options),
    .types = list_types,
    .n_types = HF_COUNT(list_types),
    .tables = list_tables,
    .load = load_lists,
    .check = check_lists,
    .done = done_lists,
    .state_size = sizeof(state)};

/* ---- registers ----------------------------------------------------------- */

static void run_registers(hf_play *p, hf_client *c, const hf_drawn *d)
{
    int64_t v;
    bool found, on = true;

    (void)p;
    for (unsigned i = 0; i + 1 < d->n && on; i += 2)
        on = d->numbers[i + 1] > 0
                 ? hf_kv_put(c, d->numbers[i], d->numbers[i + 1])
                 : hf_kv_get(c, d->numbers[i], &v, &found);
}

/* A register holds one of the values that were counted for it. */
static void check_registers(hf_play *p, hf_client *c)
{
    const state *s = hf_play_state(p);
    int64_t n = keys_so_far(p), v;
    unsigned breaches = 0;
    bool found;

    for (int64_t k = 0; k < n && breaches < MAX_BREACHES; k++) {
        if (!hf_kv_get(c, k, &v, &found))
            return;
        if (!found || (v >= 1 && v <= s->budget.n))
            continue;
        hf_play_breach(p, "RW1",
                       "key %" PRId64 ": expected a value from 1 to %" PRId64
                       ", found %" PRId64,
                       k, s->budget.n, v);
        breaches++;
    }
}

static const hf_workload_type register_types[] = {
    {"mixed", 100, false, draw, run_registers}};

const hf_workload hf_workload_rw_register = {
    .name = "rw-register",
    .summary = "reads and writes of registers (Elle)",
    .plain = true,
    .options = register_options,
    .n_options = HF_COUNT(register_options),
    .types = register_types,
    .n_types = HF_COUNT(register_types),
    .tables = hf_kv_tables,
    .load = load,
    .check = check_registers,
    .state_size = sizeof(state)};

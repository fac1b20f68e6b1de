/* g2.c: Jepsen's G2, a write skew through predicates (WORKLOADS.md 14).
 *
 * Two transactions for every number: both look for rows of that number whose
 * value can be divided by three in two tables, and if there are none one
 * inserts into the first table, the other into the second.  At most one may
 * succeed.
 *
 * The rows of a number n can only have the ids 2n and 2n + 1, and all of them
 * match the condition: so the recorder is told that those which it did not
 * return were not there, and the skew is one of items as well.  With `probe`
 * both rows are also read by their keys; but then locks on keys alone would
 * prevent it.
 */
#include <inttypes.h>

#include "workload/steps.h"
#include "workload/workloads.h"

#define MAX_BREACHES 20u

typedef struct state {
    int64_t value;
    bool probe;
    _Atomic int64_t next; /* transaction */
    hf_count inserted;
    hf_memos notes;
} state;

static const hf_workload_option options[] = {
    {"value", 30, 0, 1e9, "that is inserted (a multiple of three)"},
    {"probe", 0, 0, 1, "the two rows are read by their keys as well"},
};

#define CREATE(t)                                                              \
    "CREATE TABLE " t " (id BIGINT PRIMARY KEY, grp BIGINT NOT NULL, "         \
    "val BIGINT NOT NULL, _tag BIGINT NOT NULL)"
static const char *const tables[] = {
    CREATE("g2_a"), CREATE("g2_b"), "CREATE INDEX g2_a_grp ON g2_a (grp)",
    "CREATE INDEX g2_b_grp ON g2_b (grp)", NULL};

#define LOOK(t)                                                                \
    {                                                                          \
        "SELECT _tag, id, grp, val FROM " t                                    \
        " WHERE grp = $1 AND val % 3 = 0 ORDER BY id",                         \
            HF_STEP_SCAN, .table = t, .keys = {                                \
                1                                                              \
            }                                                                  \
    }
static const hf_step look[2] = {LOOK("g2_a"), LOOK("g2_b")};
#define PROBE(t)                                                               \
    {                                                                          \
        "SELECT _tag, val FROM " t " WHERE id = $1", HF_STEP_READ, .table = t, \
                                                                   .keys = {   \
                                                                       1       \
                                                                   }           \
    }
static const hf_step probe[2] = {PROBE("g2_a"), PROBE("g2_b")};
#define INSERT(t)                                                              \
    {                                                                          \
        "INSERT INTO " t " (id, grp, val, _tag) VALUES ($1, $2, $3, $4)",      \
            HF_STEP_INSERT, .table = t, .keys = {1}, .tag = 4                  \
    }
static const hf_step insert[2] = {INSERT("g2_a"), INSERT("g2_b")};
#define ALL(t)                                                                 \
    {                                                                          \
        "SELECT _tag, id, grp, val FROM " t " ORDER BY id", HF_STEP_SCAN,      \
            .table = t, .keys = {                                              \
                1                                                              \
            }                                                                  \
    }
static const hf_step read_all[2] = {ALL("g2_a"), ALL("g2_b")};

static hf_status load(hf_play *p, hf_error *err)
{
    state *s = hf_play_state(p);

    s->value = hf_option(p, "value");
    s->probe = hf_option(p, "probe") == 1;
    if (s->value % 3 != 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "option \"value\" is no multiple of three");
    return HF_OK;
}

/* The number, which table, the id of the row. */
static void draw(hf_play *p, hf_client *c, hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t i = atomic_fetch_add(&s->next, 1);

    (void)c;
    d->numbers[0] = i / 2;
    d->numbers[1] = i % 2;
    d->numbers[2] = i;
    d->n = 3;
}

static void run(hf_play *p, hf_client *c, const hf_drawn *d)
{
    state *s = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&s->notes, c);
    const hf_sql_result *rows;
    uint64_t found = 0;

    for (unsigned t = 0; t < 2; t++) {
        hf_client_covers(c, 2 * d->numbers[0], 2 * d->numbers[0] + 1);
        if (!HF_STEP(c, look[t], &rows, hf_i(d->numbers[0])))
            return;
        found += rows->n_rows;
        if (s->probe &&
            !HF_STEP(c, probe[t], NULL, hf_i(2 * d->numbers[0] + t)))
            return;
    }
    if (found == 0 &&
        HF_STEP(c, insert[d->numbers[1]], NULL, hf_i(d->numbers[2]),
                hf_i(d->numbers[0]), hf_i(s->value), hf_tag()))
        notes[0] = 1;
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    state *s = hf_play_state(p);

    (void)d;
    hf_count_add(&s->inserted, hf_memo_of(&s->notes, c)[0], known);
}

/* Ids are 2 * number and 2 * number + 1: at most one of them is there. */
static void check(hf_play *p, hf_client *c)
{
    state *s = hf_play_state(p);
    int64_t most = atomic_load(&s->next);
    uint8_t *rows_of = HF_NEW_ZEROED(uint8_t, (size_t)most / 2 + 1);
    unsigned breaches = 0;
    int64_t rows = 0;
    hf_grid g;

    for (unsigned t = 0; t < 2; t++) {
        if (!hf_grid_read(c, &read_all[t], &g)) {
            hf_free(rows_of);
            return;
        }
        for (uint64_t i = 0; i < g.n; i++) {
            const int64_t *row = hf_grid_row(&g, i);
            bool ours = row[1] >= 0 && row[1] < most && row[2] == row[1] / 2 &&
                        row[3] == s->value;

            if (ours && ++rows_of[row[2]] > 1 && breaches++ < MAX_BREACHES)
                hf_play_breach(p, "G2",
                               "number %" PRId64
                               ": expected one row at most, found two",
                               row[2]);
            if (!ours && breaches++ < MAX_BREACHES)
                hf_play_breach(p, "G2.2",
                               "expected a row that was inserted, found id "
                               "%" PRId64 " number %" PRId64 " value %" PRId64,
                               row[1], row[2], row[3]);
        }
        rows += (int64_t)g.n;
        hf_grid_release(&g);
    }
    hf_count_expect(p, "G2.3", &s->inserted, 0, rows, "number of rows");
    hf_free(rows_of);
}

static const hf_workload_type types[] = {{"insert", 100, false, draw, run}};

const hf_workload hf_workload_g2 = {
    .name = "g2",
    .summary = "two look for rows and insert if there are none (Jepsen)",
    .options = options,
    .n_options = HF_COUNT(options),
    .types = types,
    .n_types = HF_COUNT(types),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(state)};

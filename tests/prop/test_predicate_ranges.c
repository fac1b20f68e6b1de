/* test_predicate_ranges.c: many different ranges, of one column or several.
 *
 *     test_predicate_ranges [HISTORIES [SEED]]
 *
 * The engine "certificate" has chains of changes that wide ranges of a column
 * share, and totals by a tree (check/pred_chains.c, check/pred_sums.c), which
 * it uses where chains for each range would be more work.  Histories small
 * enough for the reference get there by asking a few rows very often: predicate
 * reads and aggregates over ranges, nearly each of them spelt in a way of its
 * own, all with snapshots by time.  Transactions run one after the other, on a
 * snapshot, or with a new snapshot for each statement; some results are wrong.
 * In some histories column b counts in quarters: whole numbers and decimals; in
 * some columns a and c do, and so do the conditions.
 *
 * In every second history the conditions are boxes: a range of column a and one
 * of column c, or of column d, which holds texts or dates, or of all three
 * (check/pred_boxes.c, pred_parts.c, pred_part_sums.c; verify/space.c).  These
 * never pay among so few rows, so the engine and verify are told to use them
 * all the same, each in half of these histories.
 *
 * At every level the engine agrees with the reference, and verify accepts its
 * witnesses.  Every second history is judged as if all components of the graph
 * were large ones, of which only some operations are looked at
 * (check/pred_needed.c); in every second all transactions are of three
 * sessions.  The levels that ask what was visible are judged without listing
 * version sets (check/pred_visible.c), and so is repeatable read
 * (check/pred_reads.c): enough histories must be invalid at one level and valid
 * at the next for this to be seen.  How many histories make the engine share is
 * counted by the rule it goes by; too few are a failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "base/rng.h"
#include "formats/format.h"
#include "history/builder.h"
#include "history/certificate.h"

#define KEYS 5
#define TXNS 7
#define OPS 9
#define VALUES 10 /* of column a: 0 .. */
#define RANGES 3
#define WORDS 5 /* values of column d */
#define MAX_SHOWN 3

typedef enum mode { SERIAL, SNAPSHOT, STATEMENT, MODES } mode;

typedef struct row {
    bool there;
    int a, b;          /* no two versions have the same b */
    int c, d;          /* c: -1 is null; d: a word */
    hf_value_id value; /* of the version */
} row;

typedef struct range {
    int low, high; /* both included */
} range;

/* Of all columns that it names a range must hold. */
typedef struct condition {
    char text[240];
    range ranges[RANGES]; /* of a */
    int n;
    bool has_a, has_c, has_d;
    range c, d; /* d: of words */
} condition;

/* What the engine's rule goes by. */
typedef struct question {
    condition c;
    bool all;
} question;

typedef struct world {
    hf_rng *r;
    hf_builder *b;
    hf_key_id key[KEYS];
    row state[TXNS + 1][KEYS]; /* after so many commits */
    mode mode;
    bool sessions;     /* few of them */
    bool quarters;     /* column b is in quarters */
    bool decimals;     /* columns a and c are */
    bool boxes;        /* conditions are */
    bool dates;        /* column d holds dates */
    int next_b, wrong; /* the operation whose result is wrong; -1 */
    int n_ops, n_versions;
    bool values[VALUES];
    question asked[TXNS * OPS];
    int n_asked, n_ends;
    int made[VALUES]; /* versions with the value */
} world;

typedef struct run {
    const hf_engine *engine, *reference;
    hf_engine large; /* the engine, for which all components are large */
    hf_sql_cache *cache;
    hf_out json;
    long passed, failed, shared, plain, histories;
    long boxes, ends; /* conditions over several columns; ends of texts */
    long verdicts[HF_VERDICT_COUNT];
    /* per level: how often it is valid where serializable is invalid, and the
     * reverse for read-committed */
    long kept[HF_LEVEL_COUNT], broken[HF_LEVEL_COUNT];
    int shown;
} run;

/* ---- conditions ---------------------------------------------------------- */

static int below(world *w, int n)
{
    return (int)hf_rng_below(w->r, (uint32_t)n);
}

/* An end that is beyond all values, spelt in one of many ways. */
static int beyond(world *w, bool above)
{
    return above ? VALUES + below(w, 500) : -1 - below(w, 500);
}

typedef struct spelt {
    char at[24];
} spelt;

/* "3", or in quarters "0.75" */
static spelt spell(int n, bool quarters)
{
    static const char *const parts[] = {"", ".25", ".5", ".75"};
    int size = n < 0 ? -n : n;
    spelt s;

    if (quarters)
        (void)snprintf(s.at, sizeof(s.at), "%s%d%s", n < 0 ? "-" : "", size / 4,
                       parts[size % 4]);
    else
        (void)snprintf(s.at, sizeof(s.at), "%d", n);
    return s;
}

/* As columns a and c have them. */
static spelt value(const world *w, int n)
{
    return spell(n, w->decimals);
}

static condition one_end(world *w)
{
    bool above = hf_rng_chance(w->r, 50);
    int at = hf_rng_chance(w->r, 40) ? below(w, VALUES) : beyond(w, !above);
    condition c = {.n = 1};

    c.ranges[0] = above ? (range){at, 10000} : (range){-10000, at};
    switch (below(w, 3)) {
    case 0:
        (void)snprintf(c.text, sizeof(c.text), "a %s %s",
                       above ? ">=" : "<=", value(w, at).at);
        break;
    case 1:
        (void)snprintf(c.text, sizeof(c.text), "a %s %s", above ? ">" : "<",
                       value(w, above ? at - 1 : at + 1).at);
        break;
    default:
        (void)snprintf(c.text, sizeof(c.text), "NOT (a %s %s)",
                       above ? "<" : ">", value(w, at).at);
    }
    return c;
}

static condition two_ends(world *w)
{
    int low = below(w, VALUES), high = low + below(w, VALUES - low);
    condition c = {.n = 1};

    if (hf_rng_chance(w->r, 60))
        low = beyond(w, false);
    if (hf_rng_chance(w->r, 30))
        high = beyond(w, true);
    c.ranges[0] = (range){low, high};
    (void)snprintf(c.text, sizeof(c.text),
                   hf_rng_chance(w->r, 50) ? "a BETWEEN %s AND %s"
                                           : "a >= %s AND a <= %s",
                   value(w, low).at, value(w, high).at);
    return c;
}

/* Several ranges with gaps between them. */
static condition with_gaps(world *w)
{
    int x = below(w, VALUES), y = x + 2 + below(w, 4);
    condition c = {.n = 2};

    if (hf_rng_chance(w->r, 30)) {
        c.ranges[0] = (range){-10000, x - 1};
        c.ranges[1] = (range){x + 1, 10000};
        (void)snprintf(c.text, sizeof(c.text), "a <> %s", value(w, x).at);
    } else if (hf_rng_chance(w->r, 50)) {
        c.ranges[0] = (range){-10000, x};
        c.ranges[1] = (range){y, 10000};
        (void)snprintf(c.text, sizeof(c.text), "a <= %s OR a >= %s",
                       value(w, x).at, value(w, y).at);
    } else {
        int z = beyond(w, true);

        c.n = 3;
        c.ranges[0] = (range){x, x};
        c.ranges[1] = (range){y, y};
        c.ranges[2] = (range){z, z};
        (void)snprintf(c.text, sizeof(c.text), "a IN (%s, %s, %s)",
                       value(w, z).at, value(w, x).at, value(w, y).at);
    }
    return c;
}

static condition range_of_a(world *w)
{
    int pick = below(w, 10);
    condition c = pick < 5 ? one_end(w) : pick < 8 ? two_ends(w) : with_gaps(w);

    c.has_a = true;
    return c;
}

static const char *word(const world *w, int i)
{
    static const char *const words[] = {"ant", "bee", "cat", "cow", "dog"};
    static const char *const dates[] = {
        "2023-12-31", "2024-01-01", "2024-02-29", "2024-02-30", "2024-10-01"};

    return w->dates ? dates[i] : words[i];
}

static void add_and(condition *c)
{
    size_t n = strlen(c->text);

    (void)snprintf(c->text + n, sizeof(c->text) - n, "%s",
                   n > 0 ? " AND " : "");
}

static void add_c(world *w, condition *c)
{
    int at = below(w, VALUES);
    size_t n;

    add_and(c);
    n = strlen(c->text);
    c->has_c = true;
    switch (below(w, 4)) {
    case 0:
        c->c = (range){at / 2, 10000};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "c >= %s",
                       value(w, at / 2).at);
        break;
    case 1:
        c->c = (range){0, at + 2};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "c < %s",
                       value(w, at + 3).at);
        break;
    case 2:
        c->c = (range){at, at + 4};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "c BETWEEN %s AND %s",
                       value(w, at).at, value(w, at + 4).at);
        break;
    default: /* as often as not, spelt in another way */
        c->c = (range){0, 10000};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "c > %s",
                       value(w, -1 - below(w, 300)).at);
    }
}

static void add_d(world *w, condition *c)
{
    int at = below(w, WORDS);
    size_t n;

    add_and(c);
    n = strlen(c->text);
    c->has_d = true;
    switch (below(w, 5)) {
    case 0:
        c->d = (range){at, WORDS};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "d >= '%s'",
                       word(w, at));
        break;
    case 1:
        c->d = (range){0, at - 1};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "d < '%s'",
                       word(w, at));
        break;
    case 2:
        c->d = (range){at, at};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "d = '%s'",
                       word(w, at));
        break;
    case 3:
        c->d = w->dates ? (range){1, 4} : (range){2, 3};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "d LIKE '%s'",
                       w->dates ? "2024%" : "c%");
        break;
    default:
        c->d = (range){at, at + 1};
        (void)snprintf(c->text + n, sizeof(c->text) - n, "d IN ('%s', '%s')",
                       word(w, at), word(w, at + 1 < WORDS ? at + 1 : at));
    }
}

static condition random_condition(world *w)
{
    condition c = {{0}, {{0, 0}}, 0, false, false, false, {0, 0}, {0, 0}};
    int columns = 1 + below(w, 7); /* bits */

    if (!w->boxes || (columns & 1)) {
        c = range_of_a(w);
        if (w->boxes && strstr(c.text, " OR ")) {
            char text[sizeof(c.text)];

            (void)snprintf(text, sizeof(text), "(%.*s)", 200, c.text);
            memcpy(c.text, text, sizeof(text));
        }
    }
    if (w->boxes && (columns & 2))
        add_c(w, &c);
    if (w->boxes && (columns & 4))
        add_d(w, &c);
    return c;
}

static bool is_in(range r, int x)
{
    return x >= r.low && x <= r.high;
}

static bool holds(const condition *c, const row *r)
{
    bool a = !c->has_a;

    for (int i = 0; i < c->n; i++)
        a |= is_in(c->ranges[i], r->a);
    return r->there && a && (!c->has_c || (r->c >= 0 && is_in(c->c, r->c))) &&
           (!c->has_d || is_in(c->d, r->d));
}

/* ---- operations ---------------------------------------------------------- */

static hf_scalar text_of(const char *text)
{
    return (hf_scalar){HF_TEXT, 0, text, strlen(text)};
}

static row new_row(world *w, int key, bool there)
{
    row r = {.there = there};
    char text[160];
    int n;

    w->n_versions++;
    r.value = hf_builder_nil(w->b, w->key[key]);
    if (!there)
        return r;
    r.a = below(w, VALUES);
    r.b = w->next_b++;
    w->values[r.a] = true;
    w->made[r.a]++;
    r.c = hf_rng_chance(w->r, 8) ? -1 : below(w, VALUES);
    r.d = below(w, WORDS);
    n = snprintf(text, sizeof(text),
                 "{\"a\":%s,\"b\":%s,\"c\":%s,\"d\":\"%s\"}", value(w, r.a).at,
                 spell(r.b, w->quarters).at,
                 r.c < 0 ? "null" : value(w, r.c).at, word(w, r.d));
    r.value = hf_builder_value(w->b, w->key[key],
                               (hf_scalar){HF_ROW, 0, text, (size_t)n});
    return r;
}

static void note_question(world *w, const condition *c, bool all)
{
    w->asked[w->n_asked++] = (question){*c, all};
}

static void read_rows(world *w, hf_txn_id t, const row *view,
                      hf_predicate_in *p, const condition *c)
{
    hf_version_ref rows[KEYS];
    int n = 0;

    for (int k = 0; k < KEYS; k++)
        if (holds(c, &view[k]))
            rows[n++] = (hf_version_ref){view[k].value, HF_NONE};
    if (w->n_ops == w->wrong && n > 0)
        n--;
    p->has_result_set = !hf_rng_chance(w->r, 8);
    p->results = rows;
    p->n_results = p->has_result_set ? (uint32_t)n : 0;
    note_question(w, c, !p->has_result_set);
    (void)hf_builder_predicate(w->b, t, HF_OP_PREDICATE_READ, p);
}

/* Of the rows that satisfy the condition, in one column. */
typedef struct total {
    int n, least, most, sum;
} total;

static total total_of(const row *view, const condition *c, char column)
{
    total t = {0, 0, 0, 0};

    for (int k = 0; k < KEYS; k++) {
        int v = column == 'a'   ? view[k].a
                : column == 'b' ? view[k].b
                                : view[k].d;

        if (!holds(c, &view[k]))
            continue;
        t.least = t.n == 0 || v < t.least ? v : t.least;
        t.most = t.n == 0 || v > t.most ? v : t.most;
        t.sum += v;
        t.n++;
    }
    return t;
}

/* The result as it would be recorded; the text is written to `room`. */
static hf_scalar result_of(const world *w, hf_op_kind kind, char column,
                           const total *t, char room[48])
{
    bool quarters = column == 'b' ? w->quarters : w->decimals;
    int wrong = w->n_ops == w->wrong;
    int n = kind == HF_OP_MIN ? t->least : kind == HF_OP_MAX ? t->most : t->sum;

    if (kind == HF_OP_COUNT_ROWS)
        return (hf_scalar){.type = HF_INT, .number = t->n + wrong};
    if (t->n == 0)
        return (hf_scalar){.type = HF_NIL};
    if (column == 'd')
        return text_of(word(w, (n + wrong) % WORDS));
    if (kind == HF_OP_AVG) {
        (void)snprintf(room, 48, "%.6f",
                       (double)t->sum / t->n / (quarters ? 4 : 1) + wrong);
        return (hf_scalar){HF_REAL, 0, room, strlen(room)};
    }
    n += wrong;
    if (!quarters || n % 4 == 0)
        return (hf_scalar){.type = HF_INT, .number = quarters ? n / 4 : n};
    (void)snprintf(room, 48, "%s", spell(n, true).at);
    return (hf_scalar){HF_REAL, 0, room, strlen(room)};
}

static void add_up(world *w, hf_txn_id t, const row *view, hf_predicate_in *p,
                   const condition *c)
{
    static const hf_op_kind kinds[] = {HF_OP_MIN, HF_OP_MAX, HF_OP_SUM,
                                       HF_OP_AVG, HF_OP_COUNT_ROWS};
    hf_op_kind kind = kinds[below(w, 5)];
    bool any = kind != HF_OP_SUM && kind != HF_OP_AVG;
    char name[2] = {"abd"[below(w, any ? 3 : 2)], '\0'}, room[48];
    hf_scalar column = text_of(name);
    total sum = total_of(view, c, name[0]);

    p->columns = &column;
    p->n_columns = kind != HF_OP_COUNT_ROWS || hf_rng_chance(w->r, 50);
    p->has_result_set = !hf_rng_chance(w->r, 8);
    p->result = result_of(w, kind, name[0], &sum, room);
    if (!p->has_result_set)
        p->result = (hf_scalar){.type = HF_NIL};
    w->n_ends += p->result.type == HF_TEXT;
    note_question(w, c, true);
    (void)hf_builder_predicate(w->b, t, kind, p);
}

static void ask(world *w, hf_txn_id t, int commits, const row *view)
{
    condition c = random_condition(w);
    hf_predicate_in p = {
        .table = text_of("t"),
        .condition = text_of(c.text),
        .snapshot = {.type = HF_INT, .number = 10 * commits + 5}};

    if (hf_rng_chance(w->r, 65))
        read_rows(w, t, view, &p, &c);
    else
        add_up(w, t, view, &p, &c);
}

/* ---- histories ----------------------------------------------------------- */

/* The transaction that commits as number i. */
static void run_txn(world *w, int i)
{
    hf_txn_id t = hf_builder_txn(
        w->b, w->sessions ? hf_builder_session_number(w->b, below(w, 3))
                          : hf_builder_session_fresh(w->b));
    int start = w->mode == SERIAL ? i : i - below(w, i < 3 ? i + 1 : 4);
    bool wrote[KEYS] = {false};
    row own[KEYS];
    int n = 3 + below(w, OPS - 3);

    memcpy(w->state[i + 1], w->state[i], sizeof(w->state[i]));
    hf_builder_timestamps(w->b, t, 10 * (uint64_t)start + 5,
                          10 * ((uint64_t)i + 1));
    for (int j = 0; j < n; j++, w->n_ops++) {
        int commits =
            w->mode == STATEMENT ? start + below(w, i - start + 1) : start;
        int k = below(w, KEYS);
        row view[KEYS];

        for (int v = 0; v < KEYS; v++)
            view[v] = wrote[v] ? own[v] : w->state[commits][v];
        if (hf_rng_chance(w->r, 22)) {
            own[k] = new_row(w, k, !hf_rng_chance(w->r, 20));
            if (wrote[k])
                w->n_versions--;
            wrote[k] = true;
            (void)hf_builder_op(w->b, t,
                                own[k].there ? HF_OP_WRITE : HF_OP_DELETE,
                                w->key[k], own[k].value);
        } else if (hf_rng_chance(w->r, 10)) {
            (void)hf_builder_op(w->b, t, HF_OP_READ, w->key[k], view[k].value);
        } else {
            ask(w, t, commits, view);
        }
    }
    for (int k = 0; k < KEYS; k++)
        if (wrote[k]) {
            w->state[i + 1][k] = own[k];
            hf_builder_order(w->b, w->key[k], t);
        }
}

static hf_history *random_world(world *w, uint64_t seed, hf_rng *r,
                                hf_error *err)
{
    hf_history *h = NULL;
    hf_string_id table;
    int n;

    hf_rng_seed(r, seed);
    *w = (world){.r = r, .b = hf_builder_new(), .wrong = -1};
    w->mode = (mode)below(w, MODES);
    w->sessions = hf_rng_chance(r, 50);
    w->quarters = hf_rng_chance(r, 40);
    w->boxes = hf_rng_chance(r, 50);
    w->dates = hf_rng_chance(r, 40);
    w->decimals = hf_rng_chance(r, 40);
    n = 3 + below(w, TXNS - 2);
    if (hf_rng_chance(r, 20))
        w->wrong = below(w, 6 * n);
    table = hf_builder_string(w->b, "t", 1);
    for (int k = 0; k < KEYS; k++) {
        w->key[k] = hf_builder_key_row(
            w->b, table, (hf_scalar){.type = HF_INT, .number = k});
        w->state[0][k] = new_row(w, k, hf_rng_chance(r, 75));
        if (w->state[0][k].there)
            hf_builder_initial(w->b, w->key[k], w->state[0][k].value);
    }
    for (int i = 0; i < n; i++)
        run_txn(w, i);
    return hf_builder_finish(w->b, &h, err) == HF_OK ? h : NULL;
}

/* Would chains for each range be more work than a tree? */
static bool is_shared(const world *w)
{
    int matches = 0, uses = 0, numbers = 0, depth = 1;

    for (int v = 0; v < VALUES; v++)
        numbers += w->values[v];
    for (int n = numbers; n >>= 1;)
        depth++;
    for (int i = 0; i < w->n_asked; i++) {
        const question *q = &w->asked[i];
        bool again = false;

        for (int k = 0; k < i; k++)
            again |= w->asked[k].all == q->all &&
                     strcmp(w->asked[k].c.text, q->c.text) == 0;
        for (int k = 0; k < q->c.n; k++) {
            bool any = false;

            for (int v = 0; v < VALUES; v++)
                if (v >= q->c.ranges[k].low && v <= q->c.ranges[k].high) {
                    any |= w->values[v];
                    matches += again ? 0 : w->made[v];
                }
            uses += any;
        }
    }
    return matches > (w->n_versions + uses) * depth;
}

/* ---- judging ------------------------------------------------------------- */

static void show(run *r, const hf_history *h, uint64_t seed, hf_level level,
                 agreement a, const hf_error *why)
{
    hf_error err;

    r->failed++;
    if (r->shown++ >= MAX_SHOWN)
        return;
    printf("seed %" PRIu64 ", %s: %s: %s\n%.*s\n", seed,
           hf_level_get(level)->name, agreement_name(a), why->text,
           (int)r->json.n, r->json.at);
    (void)fflush(stdout);
    if (hf_save_history(h, "/dev/stdout", hf_format_find(HF_STR("jsonl")),
                        &err) != HF_OK)
        printf("not printed: %s\n", err.text);
}

static hf_status check_large(const hf_history *h, hf_level level,
                             const hf_check_options *options, hf_budget *budget,
                             hf_result **ret, hf_error *err)
{
    hf_check_options o = {0};

    if (options)
        o = *options;
    o.large = 1;
    return hf_engine_find(HF_STR("certificate"))
        ->check(h, level, &o, budget, ret, err);
}

static void compare_levels(run *r, const hf_verdict *v)
{
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        r->kept[i] += v[i] == HF_VALID && v[HF_SERIALIZABLE] == HF_INVALID;
        r->broken[i] += v[i] == HF_INVALID && v[HF_READ_COMMITTED] == HF_VALID;
    }
}

/* The session levels, and those between them, tell histories apart. */
static void judge_levels(run *r)
{
    for (int i = HF_READ_COMMITTED_AXIOMATIC; i <= HF_PREFIX; i++) {
        printf("%s: %ld times valid and not serializable, %ld times invalid "
               "and read committed\n",
               hf_level_get((hf_level)i)->name, r->kept[i], r->broken[i]);
        if (r->histories >= 500 && (300 * r->kept[i] < r->histories ||
                                    300 * r->broken[i] < r->histories)) {
            printf("that is too rare\n");
            r->failed++;
        }
    }
}

static void try_history(run *r, uint64_t seed)
{
    hf_verdict verdicts[HF_LEVEL_COUNT];
    world w;
    hf_rng rng;
    hf_error err = {.text = ""};
    hf_history *h = random_world(&w, seed, &rng, &err);

    if (!h || hf_certificate_check(h, &err) != HF_OK) {
        printf("seed %" PRIu64 ": not built: %s\n", seed, err.text);
        r->failed++;
        hf_history_free(h);
        return;
    }
    r->histories++;
    r->plain += !w.boxes;
    r->shared += !w.boxes && is_shared(&w);
    r->ends += w.n_ends;
    for (int i = 0; i < w.n_asked; i++)
        r->boxes +=
            w.asked[i].c.has_a + w.asked[i].c.has_c + w.asked[i].c.has_d > 1;
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        agreement_case c = {.engine = seed % 2 ? r->engine : &r->large,
                            .reference = r->reference,
                            .cache = r->cache,
                            .dialect = HF_SQL_POSTGRES,
                            .share = w.boxes && seed % 4 < 2,
                            .eager = w.boxes && seed % 8 < 4,
                            .level = (hf_level)i};
        agreement_answers answers;
        agreement a = agree_level(h, &c, &r->json, &answers, &err);

        r->verdicts[answers.engine]++;
        verdicts[i] = answers.engine;
        if (a == AGREE)
            r->passed++;
        else
            show(r, h, seed, (hf_level)i, a, &err);
    }
    compare_levels(r, verdicts);
    hf_history_free(h);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run r = {.engine = hf_engine_find(HF_STR("certificate")),
             .reference = hf_engine_find(HF_STR("brute"))};

    r.large = *r.engine;
    r.large.check = check_large;
    hf_out_init_memory(&r.json);
    r.cache = hf_sql_cache_new(HF_SQL_POSTGRES);
    for (long i = 0; i < n; i++)
        try_history(&r, seed + (uint64_t)i);
    printf("%ld histories, in %ld ranges share chains; %ld times valid, %ld "
           "times invalid, %ld times unknown\n",
           r.histories, r.shared, r.verdicts[HF_VALID], r.verdicts[HF_INVALID],
           r.verdicts[HF_UNKNOWN]);
    printf("%ld conditions over several columns, %ld ends of texts\n", r.boxes,
           r.ends);
    if (r.boxes < 5 * n || r.ends < n / 2) {
        printf("that is too few\n");
        r.failed++;
    }
    if (4 * r.shared < r.plain || 5 * r.shared > 4 * r.plain) {
        printf("ranges share chains in too few or too many histories\n");
        r.failed++;
    }
    if (r.verdicts[HF_VALID] < n || r.verdicts[HF_INVALID] < n) {
        printf("some verdict is too rare\n");
        r.failed++;
    }
    judge_levels(&r);
    printf("%ld passed, %ld failed\n", r.passed, r.failed);
    hf_sql_cache_free(r.cache);
    hf_out_release(&r.json);
    return r.failed ? 1 : 0;
}

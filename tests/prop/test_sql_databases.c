/* test_sql_databases.c: our executor against real databases.
 *
 *   test_sql_databases [sqlite|postgres] [CASES] [SEED]
 *
 * Random queries, conditions and changes on two small random tables go to the
 * database and to us.  Where both answer, the answers must be the same: the
 * values, their printing (so the scale of decimals too) and, where ORDER BY
 * says so, their order.  Where the database refuses we must not answer, and
 * the reverse, but for the few cases where the order of evaluation decides
 * (it moves parts of WHERE, and computes constants in branches never taken).
 * "Cannot be said" and "not supported" are counted and bounded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/error.h"
#include "sql/exec.h"
#include "sql/value.h"
#include "sql_generate.h"
#include "sql_live.h"

typedef struct bench {
    sql_live *live;
    hf_sql_database *db;
    hf_sql_cache *cache;
    hf_rng rng;
    hf_sql_result result;
    sql_answer theirs, ours;
    hf_out text;    /* the case */
    hf_out rows[2]; /* INSERTs that made the tables */
    uint64_t cases, same, both_refuse, unsaid, only_they, only_we, failures;
    uint64_t ranges; /* of only_they: out of range */
    uint64_t zeros;  /* of same: but for zeros at the end, or their sign */
    bool verbose;
} bench;

static void begin_text(hf_out *out)
{
    out->n = 0;
}

static const char *end_text(hf_out *out)
{
    hf_out_char(out, '\0');
    out->n--;
    return out->at;
}

static sql_generator generator(bench *b, hf_out *out)
{
    begin_text(out);
    return (sql_generator){.rng = &b->rng,
                           .out = out,
                           .dialect = b->live->dialect,
                           .wild = hf_rng_below(&b->rng, 3) == 0};
}

/* ---- both sides --------------------------------------------------------- */

static hf_status ask_us(bench *b, const char *text, sql_answer *ret)
{
    hf_error err = {0};
    const hf_sql_statement *s = hf_sql_parse(b->cache, hf_str_of(text), &err);
    hf_status status = HF_ERR_UNSUPPORTED;

    ret->text.n = 0;
    ret->affected = 0;
    if (s)
        status = hf_sql_execute(b->db, s, NULL, 0, &b->result, &err);
    if (status == HF_OK)
        sql_print_result(&b->result, b->live->dialect, ret);
    ret->failed = status != HF_OK;
    (void)snprintf(ret->message, sizeof(ret->message), "%.250s", err.text);
    return status;
}

static void give_up(bench *b, const char *what, const char *text,
                    const char *message)
{
    fprintf(stderr, "%s: %s\n%s\n", what, text, message);
    b->live->close(b->live);
    exit(2);
}

static void must(bench *b, const char *text)
{
    b->live->ask(b->live, text, &b->theirs);
    if (b->theirs.failed)
        give_up(b, "the database refuses", text, b->theirs.message);
}

static void load_ours(bench *b, int which)
{
    hf_sql_table_clear(
        hf_sql_table_find(b->db, which == 0 ? HF_STR("t1") : HF_STR("t2")));
    if (ask_us(b, end_text(&b->rows[which]), &b->ours) != HF_OK)
        give_up(b, "we refuse", b->rows[which].at, b->ours.message);
}

static void new_tables(bench *b)
{
    must(b, "DELETE FROM t1");
    must(b, "DELETE FROM t2");
    for (int i = 0; i < 2; i++) {
        sql_generator g = generator(b, &b->rows[i]);

        sql_rows(&g, i + 1, (int)hf_rng_below(&b->rng, 9) + 2);
        must(b, end_text(&b->rows[i]));
        /* what was parsed is not needed again */
        hf_sql_cache_free(b->cache);
        b->cache = hf_sql_cache_new(b->live->dialect);
        load_ours(b, i);
    }
    if (b->live->dialect == HF_SQL_POSTGRES)
        must(b, "ANALYZE");
}

/* ---- comparing ---------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines of an answer whose order is open. */
static void sort_lines(hf_out *text)
{
    char *copy = hf_alloc(text->n + 1), *lines[4096], *at = copy;
    size_t n = 0;

    if (text->n > 0)
        memcpy(copy, text->at, text->n);
    copy[text->n] = '\0';
    while (*at && n < 4096) {
        lines[n++] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    qsort(lines, n, sizeof(lines[0]), compare_lines);
    text->n = 0;
    for (size_t i = 0; i < n; i++)
        hf_out_format(text, "%s\n", lines[i]);
    hf_free(copy);
}

static void show(bench *b, const char *what, const char *text)
{
    fprintf(stderr, "%s\n%s\n%s\n  %s\n", what, end_text(&b->rows[0]),
            end_text(&b->rows[1]), text);
    fprintf(stderr, "  they: %s%llu\n%s",
            b->theirs.failed ? b->theirs.message : "",
            (unsigned long long)b->theirs.affected, end_text(&b->theirs.text));
    fprintf(stderr, "  we: %s%llu\n%s", b->ours.failed ? b->ours.message : "",
            (unsigned long long)b->ours.affected, end_text(&b->ours.text));
}

static bool is_same(const bench *b)
{
    return b->ours.affected == b->theirs.affected &&
           hf_str_eq(hf_out_view(&b->ours.text), hf_out_view(&b->theirs.text));
}

/* Zeros at the end of a decimal, and the sign of zero, leave the number. */
static void drop_zeros(hf_out *text)
{
    size_t n = 0, point = 0;
    char last = '\0';

    for (size_t i = 0; i < text->n; i++) {
        char c = text->at[i];

        if (point > 0 && (c < '0' || c > '9')) {
            while (n > point && text->at[n - 1] == '0')
                n--;
            n -= n == point;
            point = 0;
        }
        text->at[n++] = c;
        if (c == '.' && last >= '0' && last <= '9')
            point = n;
        last = c;
    }
    text->n = n;
    for (size_t i = n = 0; i < text->n; i++) {
        bool zero = i + 2 < text->n && text->at[i + 1] == '0' &&
                    strchr("|\n", text->at[i + 2]);

        if (text->at[i] != '-' || !zero)
            text->at[n++] = text->at[i];
    }
    text->n = n;
}

/* Which of equal numbers DISTINCT, min and max keep (0.0 or 0.00, 0 or -0)
 * hangs on the order in which the database met the rows. */
static bool is_same_but_zeros(bench *b, const char *text)
{
    if (!strstr(text, "(DISTINCT ") && !strstr(text, "min(") &&
        !strstr(text, "max("))
        return false;
    drop_zeros(&b->theirs.text);
    drop_zeros(&b->ours.text);
    b->zeros += is_same(b);
    return is_same(b);
}

/* True: both answered, and alike. */
static bool judge(bench *b, const char *text, hf_status status, bool ordered)
{
    b->cases++;
    if (status == HF_ERR_UNSUPPORTED) {
        b->unsaid++;
        if (b->verbose)
            fprintf(stderr, "unsaid: %s: %s\n", b->ours.message, text);
        return false;
    }
    if (b->ours.failed && b->theirs.failed) {
        b->both_refuse++;
        return false;
    }
    if (b->ours.failed || b->theirs.failed) {
        (*(b->ours.failed ? &b->only_we : &b->only_they))++;
        b->ranges += !b->ours.failed &&
                     strstr(b->theirs.message, "out of range") != NULL;
        if (b->verbose)
            show(b, "ONE REFUSES", text);
        return false;
    }
    if (!ordered) {
        sort_lines(&b->theirs.text);
        sort_lines(&b->ours.text);
    }
    if (is_same(b) || is_same_but_zeros(b, text)) {
        b->same++;
        return true;
    }
    if (b->failures++ < 10)
        show(b, "DIFFERENT", text);
    return false;
}

static void one_query(bench *b)
{
    sql_generator g = generator(b, &b->text);
    bool ordered;
    const char *text;
    hf_status status;

    sql_query(&g, &ordered);
    text = end_text(&b->text);
    b->live->ask(b->live, text, &b->theirs);
    status = ask_us(b, text, &b->ours);
    (void)judge(b, text, status, ordered);
}

/* A change, then the whole table; undone afterwards. */
static void one_write(bench *b)
{
    static const char *const look = "SELECT * FROM t1 ORDER BY id";
    sql_generator g = generator(b, &b->text);
    const char *text;
    hf_status status;

    sql_write(&g);
    text = end_text(&b->text);
    must(b, "BEGIN");
    status = ask_us(b, text, &b->ours);
    b->live->ask(b->live, text, &b->theirs);
    if (judge(b, text, status, false)) {
        status = ask_us(b, look, &b->ours);
        b->live->ask(b->live, look, &b->theirs);
        (void)judge(b, text, status, true);
    }
    must(b, "ROLLBACK");
    load_ours(b, 0);
}

/* The condition by hf_sql_test(), on rows whose types nobody declared. */
static void one_condition(bench *b)
{
    sql_generator g = generator(b, &b->text);
    hf_out query;
    const hf_sql_expr *e;
    const hf_sql_table *t = hf_sql_table_find(b->db, HF_STR("t1"));

    sql_condition(&g);
    e = hf_sql_condition(b->cache, hf_str_of(end_text(&b->text)), NULL);
    hf_out_init_memory(&query);
    hf_out_format(&query, "SELECT id FROM t1 WHERE %s ORDER BY id", b->text.at);
    b->live->ask(b->live, end_text(&query), &b->theirs);
    b->ours = (sql_answer){.text = b->ours.text};
    b->ours.text.n = 0;
    b->ours.failed = !e;
    for (uint32_t i = 0; e && i < t->n_places && !b->ours.failed; i++) {
        hf_sql_value row[16];
        hf_sql_truth truth;

        for (uint32_t k = 0; k < hf_sql_n_columns(e); k++)
            for (uint32_t c = 0; c < t->n_columns; c++)
                if (hf_str_eq(hf_sql_column_name(e, k), t->columns[c].name))
                    row[k] = t->rows[i][c];
        truth = hf_sql_test(e, row, NULL);
        if (truth == HF_SQL_TRUE)
            hf_out_format(&b->ours.text, "%lld|\n",
                          (long long)t->rows[i][0].integer);
        b->ours.failed = truth == HF_SQL_ERROR;
    }
    (void)judge(b, query.at, b->ours.failed ? HF_ERR_UNSUPPORTED : HF_OK, true);
    hf_out_release(&query);
}

/* ---- the run ------------------------------------------------------------ */

static void run(bench *b, uint64_t cases)
{
    must(b, sql_create(b->live->dialect, 1));
    must(b, sql_create(b->live->dialect, 2));
    sql_schema(b->db);
    for (uint64_t i = 0; b->cases < cases; i++) {
        if (i % 100 == 0)
            new_tables(b);
        switch (hf_rng_below(&b->rng, 10)) {
        case 0:
            one_write(b);
            break;
        case 1:
        case 2:
            one_condition(b);
            break;
        default:
            one_query(b);
        }
    }
}

static int finish(bench *b, const char *name, uint64_t started)
{
    double n = (double)b->cases / 100;
    bool ok = b->failures == 0 && (double)b->only_they < 0.3 * n &&
              (double)b->only_we < 0.3 * n && (double)b->unsaid < 4 * n &&
              (double)b->same > 85 * n && (double)b->ranges < 0.1 * n &&
              (double)b->zeros < 0.1 * n + 1;

    printf("%s: %llu cases in %.1f s: %.1f%% same, %.1f%% refused by both, "
           "%.2f%% by them only, %.2f%% by us only, %.1f%% cannot be said, "
           "%llu different\n",
           name, (unsigned long long)b->cases,
           (double)(hf_clock_ns() - started) / 1e9, (double)b->same / n,
           (double)b->both_refuse / n, (double)b->only_they / n,
           (double)b->only_we / n, (double)b->unsaid / n,
           (unsigned long long)b->failures);
    return ok ? 0 : 1;
}

static int compare_with(const char *name, uint64_t cases, uint64_t seed)
{
    bool sqlite = strcmp(name, "sqlite") == 0;
    uint64_t started = hf_clock_ns();
    bench b = {.live = sqlite ? sql_live_sqlite() : sql_live_postgres(),
               .verbose = getenv("HF_VERBOSE") != NULL};
    int status;

    if (!b.live)
        return 1;
    hf_rng_seed(&b.rng, seed);
    b.db = hf_sql_database_new(b.live->dialect);
    b.cache = hf_sql_cache_new(b.live->dialect);
    hf_sql_result_init(&b.result);
    sql_answer_init(&b.theirs);
    sql_answer_init(&b.ours);
    hf_out_init_memory(&b.text);
    hf_out_init_memory(&b.rows[0]);
    hf_out_init_memory(&b.rows[1]);
    run(&b, cases);
    status = finish(&b, name, started);
    b.live->close(b.live);
    hf_out_release(&b.rows[0]);
    hf_out_release(&b.rows[1]);
    hf_out_release(&b.text);
    sql_answer_release(&b.theirs);
    sql_answer_release(&b.ours);
    hf_sql_result_release(&b.result);
    hf_sql_cache_free(b.cache);
    hf_sql_database_free(b.db);
    return status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "sqlite";
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;

    return compare_with(name, cases, seed);
}

/* elle_verdicts.c: compares verdicts with those that Elle and elle-cli
 * published, and with those of a separate checker.
 *
 *     elle_verdicts TABLE DIR [INDEX]
 *
 * TABLE has one line for each verdict of Elle; lines that start with '#' are
 * comments.  Its columns, separated by tabs:
 *
 *   path      of the history, relative to DIR
 *   level     ours, that means what Elle was asked
 *   assume    names of --assume joined by '+', or '-'
 *   elle      "valid", "invalid" or "unknown"; '-': Elle was not asked, the
 *             row explains a difference from a computed column
 *   named     Elle's names of the anomalies, joined by '+'; '-': not published
 *   ours      "valid", "invalid" or "unknown", or several joined by '/'
 *   names     our names, joined by '+', all of them; '-': not compared
 *   remark    '-', or the id of the remark in docs/compare-elle.md that
 *             explains a difference; a row whose verdicts differ, or whose
 *             names differ by more than spelling, must have one
 *
 * INDEX is the INDEX.tsv of a folder of histories (see corpora.c).  With it,
 * every history is also judged at the levels of its columns c_RC .. c_SSER,
 * which hold "ok" or "viol" as computed by a separate checker, or nothing.
 *
 * A history is judged as `holdfast check` does it: by the engines in the order
 * of their table until one decides; the witness is re-checked by verify/.
 *
 * A verdict or a list of names other than the row says is a failure; so is a
 * verdict that contradicts a computed column, and a refused witness.  Unknown
 * never contradicts a column: an order that the history does not tell may
 * stay open.  Prints a line for each failure, then the counts, last "N passed,
 * N failed"; exits 1 if any failed, 2 if a table cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "check/check.h"
#include "elle_table.h"
#include "formats/format.h"
#include "history/history.h"
#include "verify/verify.h"

#define SECONDS_EACH 30.0 /* of one check */
#define NAMES_MAX 1024    /* bytes of a list of names */
#define VERIFIED 5        /* findings re-checked besides the witness */
#define SLOW 5.0          /* seconds; a check that takes longer gets a line */

/* ---- judging ------------------------------------------------------------- */

/* One answer, kept after the result is gone. */
typedef struct answer {
    bool given;
    hf_verdict verdict;
    hf_anomaly_set found;
    char trouble[700]; /* an error, or why the witness was refused */
} answer;

static hf_anomaly_set collect_names(const hf_result *r)
{
    hf_anomaly_set found = 0;

    for (uint32_t i = 0; i < r->n_findings; i++)
        found |= (hf_anomaly_set)1 << r->findings[i].anomaly;
    for (uint32_t i = 0; i < r->n_groups; i++)
        found |= (hf_anomaly_set)1 << r->groups[i].anomaly;
    return found;
}

/* As in the table; `text` has room for NAMES_MAX bytes. */
static void write_names(hf_anomaly_set found, char *text)
{
    size_t at = 0;

    (void)snprintf(text, NAMES_MAX, "no anomaly");
    for (int i = 0; i < HF_ANOMALY_COUNT && at < NAMES_MAX; i++)
        if (found >> i & 1)
            at += (size_t)snprintf(text + at, NAMES_MAX - at, "%s%s",
                                   at > 0 ? "+" : "",
                                   hf_anomaly_get((hf_anomaly)i)->name);
}

static void verify_one(const hf_history *h, const hf_result *r,
                       const hf_witness *w, answer *a)
{
    hf_claim claim = {r->verdict, r->level, *w};
    hf_verification v;
    hf_error err;
    hf_status st;

    if (w->kind == HF_WITNESS_NONE || a->trouble[0])
        return;
    st = hf_verify_claim(h, &claim, NULL, &v, &err);
    if (st == HF_OK && v.accepted)
        return;
    (void)snprintf(a->trouble, sizeof a->trouble, "witness %s: %s",
                   st == HF_OK ? "refused" : "not checked",
                   st == HF_OK ? v.reason : err.text);
}

/* The engines in their order, until one decides. */
static void judge(const hf_history *h, hf_level level, unsigned assume,
                  answer *a)
{
    hf_check_options options = {.assume = assume};
    hf_result *r = NULL;
    hf_error err;
    hf_status st = HF_OK;

    *a = (answer){.given = true, .verdict = HF_UNKNOWN};
    for (unsigned i = 0; hf_engine_at(i); i++) {
        hf_budget budget = {.seconds = SECONDS_EACH};

        hf_result_free(r);
        r = NULL;
        hf_budget_start(&budget);
        st = hf_engine_at(i)->check(h, level, &options, &budget, &r, &err);
        if (st != HF_OK || r->verdict != HF_UNKNOWN)
            break;
    }
    if (st != HF_OK) {
        (void)snprintf(a->trouble, sizeof a->trouble, "%s", err.text);
        return;
    }
    a->verdict = r->verdict;
    a->found = collect_names(r);
    if (r->verdict != HF_UNKNOWN) {
        verify_one(h, r, &r->witness, a);
        for (uint32_t i = 0; i < r->n_findings && i < VERIFIED; i++)
            verify_one(h, r, &r->findings[i].witness, a);
    }
    hf_result_free(r);
}

/* ---- comparing ----------------------------------------------------------- */

typedef struct tally {
    unsigned same, unknown, different;
} tally;

typedef struct comparison {
    const char *directory;
    hf_elle_rows table;
    tally columns[HF_N_COMPUTED];
    tally elle;         /* against what Elle said */
    unsigned explained; /* differences from either that have a remark */
    unsigned passed, failed;
    double slowest;
    char slowest_name[256];
} comparison;

static void fail(comparison *c, hf_str path, hf_level level, const char *text)
{
    printf("%.*s: %s: %s\n", (int)path.len, path.ptr, hf_level_get(level)->name,
           text);
    (void)fflush(stdout);
    c->failed++;
}

/* Judges unless it was done; false, and a failure, if there was trouble. */
static bool get_answer(comparison *c, const hf_history *h, hf_str path,
                       hf_level level, unsigned assume, answer *a)
{
    uint64_t begin = hf_clock_ns();
    double seconds;

    if (a->given)
        return !a->trouble[0];
    judge(h, level, assume, a);
    seconds = (double)(hf_clock_ns() - begin) / 1e9;
    if (seconds > c->slowest) {
        c->slowest = seconds;
        (void)snprintf(c->slowest_name, sizeof c->slowest_name, "%.*s at %s",
                       (int)path.len, path.ptr, hf_level_get(level)->name);
    }
    if (seconds > SLOW) {
        printf("slow: %.*s: %s: %.1f s, %s\n", (int)path.len, path.ptr,
               hf_level_get(level)->name, seconds, hf_verdict_name(a->verdict));
        (void)fflush(stdout);
    }
    if (a->trouble[0])
        fail(c, path, level, a->trouble);
    return !a->trouble[0];
}

/* Does a row of the table explain why a computed column says otherwise? */
static bool is_exempt(const comparison *c, hf_str path, hf_level level)
{
    for (size_t i = 0; i < c->table.n; i++) {
        const hf_elle_row *r = &c->table.at[i];

        if (!r->judged && r->level == level && r->assume == 0 &&
            hf_str_eq(r->cell[HF_ELLE_PATH], path))
            return true;
    }
    return false;
}

static void compare_column(comparison *c, const hf_index_row *row, int column,
                           const answer *a)
{
    hf_str want = row->computed[column];
    hf_level level = hf_computed_level[column];
    tally *t = &c->columns[column];
    char text[160];

    if (a->verdict == HF_UNKNOWN) {
        t->unknown++;
        c->passed++;
    } else if (hf_str_eq(want, HF_STR("ok")) == (a->verdict == HF_VALID)) {
        t->same++;
        c->passed++;
    } else if (is_exempt(c, row->path, level)) {
        t->different++;
        c->explained++;
    } else {
        t->different++;
        (void)snprintf(text, sizeof text, "%s computed as \"%.*s\", %s here",
                       hf_computed_name[column], (int)want.len, want.ptr,
                       hf_verdict_name(a->verdict));
        fail(c, row->path, level, text);
    }
}

static bool is_as_expected(comparison *c, const hf_elle_row *r, const answer *a)
{
    const char *ours = hf_verdict_name(a->verdict);
    hf_str names = r->cell[HF_ELLE_NAMES];
    hf_anomaly_set wanted = hf_anomaly_set_read(names);
    char found[NAMES_MAX], text[NAMES_MAX + 600];

    if (!hf_str_lists(r->cell[HF_ELLE_OURS], '/', hf_str_of(ours)))
        (void)snprintf(
            text, sizeof text, "\"%.*s\" expected, %s here (Elle: %.*s)",
            (int)r->cell[HF_ELLE_OURS].len, r->cell[HF_ELLE_OURS].ptr, ours,
            (int)r->cell[HF_ELLE_VERDICT].len, r->cell[HF_ELLE_VERDICT].ptr);
    else if (wanted != HF_SET_ANY && wanted != a->found) {
        write_names(a->found, found);
        (void)snprintf(text, sizeof text, "\"%.*s\" expected, \"%s\" found",
                       (int)names.len, names.ptr, found);
    } else
        return true;
    fail(c, r->cell[HF_ELLE_PATH], r->level, text);
    return false;
}

static void compare_row(comparison *c, const hf_elle_row *r, const answer *a)
{
    bool same = hf_str_eq(hf_str_of(hf_verdict_name(a->verdict)),
                          r->cell[HF_ELLE_VERDICT]);

    if (is_as_expected(c, r, a)) {
        c->passed++;
        c->explained += r->judged && !same;
    }
    if (!r->judged)
        return;
    if (same)
        c->elle.same++;
    else if (a->verdict == HF_UNKNOWN)
        c->elle.unknown++;
    else
        c->elle.different++;
}

static bool is_wanted(const comparison *c, const hf_index_row *row)
{
    for (int i = 0; i < HF_N_COMPUTED; i++)
        if (row->computed[i].len > 0)
            return true;
    for (size_t i = 0; i < c->table.n; i++)
        if (hf_str_eq(c->table.at[i].cell[HF_ELLE_PATH], row->path))
            return true;
    return false;
}

/* Everything that is said about one history.  `answers` is by level, for
 * checks without assumptions. */
static void compare_all(comparison *c, const hf_history *h,
                        const hf_index_row *row, answer *answers)
{
    for (int i = 0; i < HF_N_COMPUTED; i++) {
        hf_level level = hf_computed_level[i];

        if (row->computed[i].len > 0 &&
            get_answer(c, h, row->path, level, 0, &answers[level]))
            compare_column(c, row, i, &answers[level]);
    }
    for (size_t i = 0; i < c->table.n; i++) {
        const hf_elle_row *r = &c->table.at[i];
        answer assumed = {.given = false};
        answer *a = r->assume ? &assumed : &answers[r->level];

        if (!hf_str_eq(r->cell[HF_ELLE_PATH], row->path))
            continue;
        if (get_answer(c, h, row->path, r->level, r->assume, a))
            compare_row(c, r, a);
    }
}

static void compare_history(comparison *c, const hf_index_row *row)
{
    size_t size = strlen(c->directory) + row->path.len + 2;
    char *full = hf_alloc(size);
    hf_history *h = NULL;
    answer *answers;
    hf_error err;

    for (size_t i = 0; i < c->table.n; i++)
        if (hf_str_eq(c->table.at[i].cell[HF_ELLE_PATH], row->path))
            c->table.at[i].seen = true;
    (void)snprintf(full, size, "%s/%.*s", c->directory, (int)row->path.len,
                   row->path.ptr);
    if (hf_load_history(full, NULL, NULL, &h, &err) != HF_OK) {
        printf("%s\n", err.text);
        c->failed++;
    } else {
        answers = HF_NEW_ZEROED(answer, HF_LEVEL_COUNT);
        compare_all(c, h, row, answers);
        hf_free(answers);
    }
    hf_history_free(h);
    hf_free(full);
}

/* ---- the report ---------------------------------------------------------- */

static void print_tally(const char *name, const tally *t)
{
    printf("%-38s %6u %8u %10u", name, t->same, t->unknown, t->different);
}

static void print_counts(const comparison *c, bool columns)
{
    tally all = {0};

    printf("%-38s %6s %8s %10s\n", "", "same", "unknown", "different");
    for (int i = 0; columns && i < HF_N_COMPUTED; i++) {
        const tally *t = &c->columns[i];

        print_tally(hf_level_get(hf_computed_level[i])->name, t);
        printf("\n");
        all.same += t->same;
        all.unknown += t->unknown;
        all.different += t->different;
    }
    if (columns) {
        print_tally("all computed columns", &all);
        printf("\n");
    }
    print_tally("Elle", &c->elle);
    printf("\n%u of the unknown and different have a remark\n", c->explained);
    printf("slowest check: %.2f s, %s\n", c->slowest, c->slowest_name);
    printf("%u passed, %u failed\n", c->passed, c->failed);
}

/* The histories of the index, then those that only the table names. */
static int compare_directory(comparison *c, const hf_index_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (is_wanted(c, &rows->at[i]))
            compare_history(c, &rows->at[i]);
    for (size_t i = 0; i < c->table.n; i++) {
        hf_index_row alone = {.path = c->table.at[i].cell[HF_ELLE_PATH]};

        if (!c->table.at[i].seen)
            compare_history(c, &alone);
    }
    print_counts(c, rows->n > 0);
    return c->failed > 0;
}

static bool open_or_say(hf_input *in, const char *path)
{
    hf_error err;

    if (hf_input_open(in, path, NULL, &err) == HF_OK)
        return true;
    fprintf(stderr, "elle_verdicts: could not read \"%s\": %s\n", path,
            err.text);
    return false;
}

int main(int argc, char **argv)
{
    comparison c = {0};
    hf_index_rows rows = {0};
    hf_input table = {0}, index = {0};
    bool good;
    int status = 2;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: elle_verdicts TABLE DIR [INDEX]\n");
        return 2;
    }
    c.directory = argv[2];
    if (!open_or_say(&table, argv[1]))
        return 2;
    good = hf_elle_read(argv[1], &table, &c.table);
    if (good && argc == 4) {
        good = open_or_say(&index, argv[3]);
        if (good && !hf_index_read(&index, &rows)) {
            fprintf(stderr, "elle_verdicts: a column is missing in \"%s\"\n",
                    argv[3]);
            good = false;
        }
    }
    if (good)
        status = compare_directory(&c, &rows);
    hf_input_close(&index);
    hf_input_close(&table);
    hf_vec_release(&rows);
    hf_vec_release(&c.table);
    return status;
}

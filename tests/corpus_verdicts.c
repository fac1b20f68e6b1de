/* corpus_verdicts.c: every published history with a known verdict, judged.
 *
 *     corpus_verdicts DIR REMARKS [ENGINE [SECONDS]]
 *
 * DIR/INDEX.tsv (see corpora.c) says of each history what its source published
 * and, in the columns c_RC .. c_SSER, what a separate checker computed.  Each
 * is a verdict at one of our levels; published ones are read from pieces like
 * "SER:viol", and from "linearizable" or "not linearizable", which for
 * operations on one register is strict serializability.  What Elle said is
 * compared by elle_verdicts.c and left out here, but for the computed columns.
 *
 * ENGINE is one of ours; without it, and for "auto", the choice is as in
 * `holdfast check`.  SECONDS limits one check.  Every witness is re-checked by
 * verify/.  An answer that is not the verdict (unknown is none) is a failure,
 * unless a line of REMARKS explains it:
 *
 *   path      of the history, relative to DIR; a prefix, if it ends with '*'
 *   level     ours, or '*'
 *   ours      "valid", "invalid" or "unknown"
 *   remark    its id in docs/compare-corpora.md
 *
 * A line that explains nothing is a failure, too, but for unknown: what is
 * decided within the limit depends on the machine.  Prints a line for each
 * failure, the counts of each folder, last "N passed, N failed"; exits 1 if
 * any failed, 2 if a table cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/vec.h"
#include "check/check.h"
#include "elle_table.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "history/history.h"
#include "verify/verify.h"

#define SECONDS_EACH 30.0 /* of one check, unless said */
#define SLOW 5.0          /* seconds; a check that takes longer gets a line */
#define VERIFIED 3        /* findings re-checked besides the witness */
#define MAX_FOLDERS 32

typedef struct remark {
    hf_str path, ours, id;
    hf_level level; /* HF_LEVEL_COUNT: any */
    unsigned used;
} remark;

typedef struct folder {
    hf_str name;
    unsigned same, unknown, different, explained;
} folder;

typedef struct comparison {
    const char *directory;
    const hf_engine *engine;
    double limit; /* seconds of one check */
    HF_VEC(remark) remarks;
    folder folders[MAX_FOLDERS];
    unsigned n_folders;
    unsigned histories, passed, failed;
    double seconds, slowest;
    char slowest_name[256];
} comparison;

/* What is known about one history, by level: -1 nothing, 0 violated, 1 ok. */
typedef struct known {
    signed char at[HF_LEVEL_COUNT];
} known;

/* ---- what was published -------------------------------------------------- */

static const struct {
    const char *name;
    hf_level level;
} published_levels[] = {
    {"RC", HF_READ_COMMITTED_AXIOMATIC},
    {"RA", HF_READ_ATOMIC},
    {"CC", HF_CAUSAL},
    {"CCv", HF_CAUSAL},
    {"SI", HF_STRONG_SESSION_SNAPSHOT_ISOLATION},
    {"SER", HF_STRONG_SESSION_SERIALIZABLE},
    {"SSI", HF_STRICT_SNAPSHOT_ISOLATION},
    {"SSER", HF_STRICT_SERIALIZABLE},
};

static bool ends_word(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

/* Is "NAME:WORD" there, as words? */
static bool says(hf_str text, const char *name, const char *word)
{
    size_t n = strlen(name), w = strlen(word);

    for (size_t i = 0; i + n + 1 + w <= text.len; i++)
        if (memcmp(text.ptr + i, name, n) == 0 && text.ptr[i + n] == ':' &&
            memcmp(text.ptr + i + n + 1, word, w) == 0 &&
            (i == 0 || ends_word(text.ptr[i - 1])) &&
            (i + n + 1 + w == text.len || ends_word(text.ptr[i + n + 1 + w])))
            return true;
    return false;
}

static bool ends_with(hf_str text, const char *end)
{
    size_t n = strlen(end);

    return text.len >= n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

static void read_published(hf_str text, known *k)
{
    if (hf_has_text(text.ptr, text.len, "Elle"))
        return;
    for (size_t i = 0;
         i < sizeof(published_levels) / sizeof(published_levels[0]); i++) {
        hf_level level = published_levels[i].level;

        if (says(text, published_levels[i].name, "ok"))
            k->at[level] = 1;
        if (says(text, published_levels[i].name, "viol"))
            k->at[level] = 0;
    }
    if (ends_with(text, "not linearizable"))
        k->at[HF_STRICT_SERIALIZABLE] = 0;
    else if (ends_with(text, "linearizable"))
        k->at[HF_STRICT_SERIALIZABLE] = 1;
}

/* The computed columns are later and win: they agree with what was published
 * wherever both are there, or the row says so. */
static known known_of(const hf_index_row *row, hf_str published)
{
    known k;

    memset(k.at, -1, sizeof(k.at));
    read_published(published, &k);
    for (int i = 0; i < HF_N_COMPUTED; i++)
        if (row->computed[i].len > 0)
            k.at[hf_computed_level[i]] =
                hf_str_eq(row->computed[i], HF_STR("ok"));
    return k;
}

/* ---- judging ------------------------------------------------------------- */

static bool is_accepted(const hf_history *h, const hf_result *r,
                        const hf_witness *w, char *text, size_t size)
{
    hf_claim claim = {r->verdict, r->level, *w};
    hf_verification v = {0};
    hf_error err = {{0}, 0, 0};
    hf_status st;

    if (w->kind == HF_WITNESS_NONE)
        return true;
    st = hf_verify_claim(h, &claim, NULL, &v, &err);
    if (st == HF_OK && v.accepted)
        return true;
    (void)snprintf(text, size, "the witness is refused: %s",
                   st == HF_OK ? v.reason : err.text);
    return false;
}

/* False: it was not judged, or a witness is wrong, and `text` says so. */
static bool judge(comparison *c, const hf_history *h, hf_level level,
                  hf_verdict *ret, char *text, size_t size)
{
    hf_budget budget = {.seconds = c->limit};
    hf_result *r = NULL;
    hf_error err;
    bool good;

    hf_budget_start(&budget);
    if (hf_engine_ask(c->engine, h, level, NULL, &budget, &r, &err) != HF_OK) {
        (void)snprintf(text, size, "%s", err.text);
        return false;
    }
    *ret = r->verdict;
    (void)snprintf(text, size, "%s", r->reason ? r->reason : "");
    good =
        r->verdict == HF_UNKNOWN || is_accepted(h, r, &r->witness, text, size);
    for (uint32_t i = 0; good && i < r->n_findings && i < VERIFIED; i++)
        good = is_accepted(h, r, &r->findings[i].witness, text, size);
    hf_result_free(r);
    return good;
}

static void note_time(comparison *c, hf_str path, hf_level level,
                      double seconds)
{
    c->seconds += seconds;
    if (seconds > c->slowest) {
        c->slowest = seconds;
        (void)snprintf(c->slowest_name, sizeof c->slowest_name, "%.*s at %s",
                       (int)path.len, path.ptr, hf_level_get(level)->name);
    }
    if (seconds > SLOW)
        printf("slow: %.*s: %s: %.1f s\n", (int)path.len, path.ptr,
               hf_level_get(level)->name, seconds);
}

/* ---- comparing ----------------------------------------------------------- */

static folder *folder_of(comparison *c, hf_str path)
{
    const char *slash = memchr(path.ptr, '/', path.len);
    hf_str name = {path.ptr, slash ? (size_t)(slash - path.ptr) : path.len};

    for (unsigned i = 0; i < c->n_folders; i++)
        if (hf_str_eq(c->folders[i].name, name))
            return &c->folders[i];
    if (c->n_folders < MAX_FOLDERS - 1)
        c->n_folders++;
    c->folders[c->n_folders - 1].name = name;
    return &c->folders[c->n_folders - 1];
}

static bool matches(const remark *r, hf_str path, hf_level level,
                    hf_verdict verdict)
{
    size_t n = r->path.len;

    if ((r->level != HF_LEVEL_COUNT && r->level != level) ||
        !hf_str_eq(r->ours, hf_str_of(hf_verdict_name(verdict))))
        return false;
    if (n > 0 && r->path.ptr[n - 1] == '*')
        return path.len >= n - 1 && memcmp(path.ptr, r->path.ptr, n - 1) == 0;
    return hf_str_eq(r->path, path);
}

static bool is_explained(comparison *c, hf_str path, hf_level level,
                         hf_verdict verdict)
{
    for (size_t i = 0; i < c->remarks.n; i++)
        if (matches(&c->remarks.at[i], path, level, verdict)) {
            c->remarks.at[i].used++;
            return true;
        }
    return false;
}

static void compare_level(comparison *c, const hf_history *h, hf_str path,
                          hf_level level, bool ok)
{
    folder *f = folder_of(c, path);
    hf_verdict verdict = HF_UNKNOWN;
    uint64_t begin = hf_clock_ns();
    char text[700];
    bool good = judge(c, h, level, &verdict, text, sizeof text);

    note_time(c, path, level, (double)(hf_clock_ns() - begin) / 1e9);
    if (good && verdict == (ok ? HF_VALID : HF_INVALID)) {
        f->same++;
        c->passed++;
        return;
    }
    f->unknown += verdict == HF_UNKNOWN;
    f->different += verdict != HF_UNKNOWN;
    if (good && is_explained(c, path, level, verdict)) {
        f->explained++;
        c->passed++;
        return;
    }
    c->failed++;
    printf("%.*s: %s: known as %s, %s here%s%s\n", (int)path.len, path.ptr,
           hf_level_get(level)->name, ok ? "valid" : "invalid",
           hf_verdict_name(verdict), text[0] ? ": " : "", text);
    (void)fflush(stdout);
}

static void compare_history(comparison *c, hf_str path, const known *k)
{
    size_t size = strlen(c->directory) + path.len + 2;
    char *full = hf_alloc(size);
    hf_history *h = NULL;
    hf_error err;

    (void)snprintf(full, size, "%s/%.*s", c->directory, (int)path.len,
                   path.ptr);
    c->histories++;
    if (hf_load_history(full, NULL, NULL, &h, &err) != HF_OK) {
        printf("%s\n", err.text);
        c->failed++;
    } else {
        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            if (k->at[l] >= 0)
                compare_level(c, h, path, (hf_level)l, k->at[l] == 1);
    }
    hf_history_free(h);
    hf_free(full);
}

/* ---- tables -------------------------------------------------------------- */

/* The next cell of a line, which is shortened by it. */
static bool take_cell(hf_str *line, hf_str *ret)
{
    const char *tab;

    if (!line->ptr)
        return false;
    tab = line->len > 0 ? memchr(line->ptr, '\t', line->len) : NULL;
    *ret = (hf_str){line->ptr, tab ? (size_t)(tab - line->ptr) : line->len};
    *line =
        tab ? (hf_str){tab + 1, line->len - ret->len - 1} : (hf_str){NULL, 0};
    return true;
}

/* What each history's source published, in the order of the rows. */
typedef HF_VEC(hf_str) texts;

static bool read_published_column(const hf_input *in, texts *ret)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    int column = -1;
    hf_str line, cell;

    if (!hf_lines_next(&lines, &line))
        return false;
    for (int i = 0; take_cell(&line, &cell); i++)
        if (hf_str_eq(cell, HF_STR("published")))
            column = i;
    while (hf_lines_next(&lines, &line)) {
        hf_str found = {"", 0}, path = {NULL, 0};

        for (int i = 0; take_cell(&line, &cell); i++) {
            path = i == 0 ? cell : path;
            found = i == column ? cell : found;
        }
        if (path.len > 0)
            hf_vec_push(ret, found);
    }
    return column >= 0;
}

static bool read_remarks(comparison *c, const hf_input *in)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_str line;

    while (hf_lines_next(&lines, &line)) {
        remark r = {.level = HF_LEVEL_COUNT};
        hf_str level = {NULL, 0}, shown = line;

        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (!take_cell(&line, &r.path) || !take_cell(&line, &level) ||
            !take_cell(&line, &r.ours) || !take_cell(&line, &r.id) ||
            (!hf_str_eq(level, HF_STR("*")) &&
             !hf_level_find(level, &r.level, NULL))) {
            fprintf(stderr, "corpus_verdicts: no remark: %.*s\n",
                    (int)shown.len, shown.ptr);
            return false;
        }
        hf_vec_push(&c->remarks, r);
    }
    return true;
}

static bool open_or_say(hf_input *in, const char *path)
{
    hf_error err;

    if (hf_input_open(in, path, NULL, &err) == HF_OK)
        return true;
    fprintf(stderr, "corpus_verdicts: could not read \"%s\": %s\n", path,
            err.text);
    return false;
}

/* ---- the whole ----------------------------------------------------------- */

static void print_counts(comparison *c)
{
    folder all = {.name = HF_STR("all")};

    for (size_t i = 0; i < c->remarks.n; i++) {
        const remark *r = &c->remarks.at[i];
        bool open = hf_str_eq(r->ours, HF_STR("unknown"));

        if (r->used > 0)
            continue;
        printf("%s: %.*s\n", open ? "no longer open" : "nothing to explain",
               (int)r->path.len, r->path.ptr);
        c->failed += !open;
    }
    printf("%-20s %6s %8s %10s %10s\n", "", "same", "unknown", "different",
           "explained");
    for (unsigned i = 0; i <= c->n_folders; i++) {
        const folder *f = i < c->n_folders ? &c->folders[i] : &all;

        printf("%-20.*s %6u %8u %10u %10u\n", (int)f->name.len, f->name.ptr,
               f->same, f->unknown, f->different, f->explained);
        all.same += f->same;
        all.unknown += f->unknown;
        all.different += f->different;
        all.explained += f->explained;
    }
    printf("%u histories, %.0f s; slowest check: %.2f s, %s\n", c->histories,
           c->seconds, c->slowest, c->slowest_name);
    printf("%u passed, %u failed\n", c->passed, c->failed);
}

static bool compare_all(comparison *c, const hf_input *index)
{
    hf_index_rows rows = {0};
    texts published = {0};
    bool good = hf_index_read(index, &rows) &&
                read_published_column(index, &published) &&
                rows.n == published.n;

    for (size_t i = 0; good && i < rows.n; i++) {
        known k = known_of(&rows.at[i], published.at[i]);
        bool any = false;

        for (int l = 0; l < HF_LEVEL_COUNT; l++)
            any |= k.at[l] >= 0;
        if (any)
            compare_history(c, rows.at[i].path, &k);
    }
    if (good)
        print_counts(c);
    else
        fprintf(stderr, "corpus_verdicts: a column of the index is missing\n");
    hf_vec_release(&rows);
    hf_vec_release(&published);
    return good;
}

int main(int argc, char **argv)
{
    comparison c = {0};
    hf_input index = {0}, remarks = {0};
    char path[4096];
    bool good;

    if (argc < 3 || argc > 5 || strlen(argv[1]) > sizeof(path) - 16) {
        fprintf(stderr,
                "usage: corpus_verdicts DIR REMARKS [ENGINE [SECONDS]]\n");
        return 2;
    }
    c.directory = argv[1];
    c.limit = argc > 4 ? strtod(argv[4], NULL) : SECONDS_EACH;
    if (argc > 3 && strcmp(argv[3], "auto") != 0 &&
        !(c.engine = hf_engine_find(hf_str_of(argv[3])))) {
        fprintf(stderr, "corpus_verdicts: no engine \"%s\"\n", argv[3]);
        return 2;
    }
    (void)snprintf(path, sizeof(path), "%s/INDEX.tsv", argv[1]);
    good = open_or_say(&index, path) && open_or_say(&remarks, argv[2]) &&
           read_remarks(&c, &remarks) && compare_all(&c, &index);
    hf_input_close(&index);
    hf_input_close(&remarks);
    hf_vec_release(&c.remarks);
    return !good ? 2 : c.failed > 0;
}

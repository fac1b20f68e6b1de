/* corpora.c: loads every history of a directory with an index and compares
 * what was loaded with what the index says.
 *
 *     corpora DIR
 *
 * DIR/INDEX.tsv has a line of column names, then one line a history: path
 * (relative to DIR), format, and counts, which may be empty.  The format is
 * found by content and must be the one of the index.  Prints a line for each
 * difference and, last, "N passed, N failed"; exits 1 if any failed, 2 if the
 * index cannot be read.
 *
 * How the index counts (found by comparing; it holds for all its rows):
 *   txns      committed transactions
 *   aborted   aborted transactions and those of unknown outcome
 *   sessions  sessions with at least one committed transaction
 *   keys      keys that have a version: a committed write of the key, or a
 *             committed read of its initial version.  (A key that is only read
 *             with a value that nobody committed is not counted.)
 *   reads     reads, of lists too, in committed transactions
 *   writes    writes and appends in committed transactions
 * A transaction of unknown outcome one of whose writes was read by a committed
 * one must have happened: the index counts it with the committed ones as well
 * as under aborted.
 *
 * Two kinds of files are listed that hold no history: a results file of
 * Jepsen, and pages of Hermitage without a line "-- T1", which describe a
 * database in words.  Such a row passes if the file is recognized as what it
 * is and refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "history/history.h"

enum column {
    COLUMN_PATH,
    COLUMN_FORMAT,
    COLUMN_TXNS,
    COLUMN_ABORTED,
    COLUMN_SESSIONS,
    COLUMN_KEYS,
    COLUMN_READS,
    COLUMN_WRITES,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "path", "format", "txns", "aborted", "sessions", "keys", "reads", "writes",
};

/* ---- counting ------------------------------------------------------------ */

static void count_txn(const hf_history *h, hf_txn_id t, uint8_t *has_version,
                      int64_t *counts)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_key_id key = h->op_key[op];
        hf_value_id v = h->op_value[op];

        if (hf_op_reads_item(kind)) {
            counts[COLUMN_READS]++;
            if (v != HF_NONE && hf_value_is_initial(h, key, v))
                has_version[key] = 1;
        } else if (hf_op_installs(kind)) {
            counts[COLUMN_WRITES]++;
            has_version[key] = 1;
        }
    }
}

/* By value: some committed transaction read it, alone or in a list. */
static uint8_t *find_observed(const hf_history *h)
{
    uint8_t *observed = HF_NEW_ZEROED(uint8_t, h->n_values);

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             h->txn_outcome[t] == HF_COMMITTED && op < h->op_first[t + 1];
             op++) {
            hf_value_id v = h->op_value[op];

            if (!hf_op_reads_item(hf_op_kind_of(h, op)))
                continue;
            while (v != HF_NONE && !observed[v]) {
                observed[v] = 1;
                if (h->value_type[v] != HF_LIST)
                    break;
                observed[hf_list_last(h, v)] = 1;
                v = hf_list_parent(h, v);
            }
        }
    return observed;
}

/* Did t happen, as far as the history can tell? */
static bool happened(const hf_history *h, hf_txn_id t, const uint8_t *observed)
{
    if (h->txn_outcome[t] != HF_UNKNOWN_OUTCOME)
        return h->txn_outcome[t] == HF_COMMITTED;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (hf_op_installs(kind) && !hf_op_has_extra(kind) &&
            observed[h->op_value[op]])
            return true;
    }
    return false;
}

static void count(const hf_history *h, int64_t *counts)
{
    uint8_t *has_version = HF_NEW_ZEROED(uint8_t, h->n_keys);
    uint8_t *observed = find_observed(h);

    memset(counts, 0, COLUMN_COUNT * sizeof(*counts));
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        bool committed = false;

        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_txn_id t = h->session_txns[i];

            counts[COLUMN_ABORTED] += h->txn_outcome[t] != HF_COMMITTED;
            if (!happened(h, t, observed))
                continue;
            committed = true;
            counts[COLUMN_TXNS]++;
            count_txn(h, t, has_version, counts);
        }
        counts[COLUMN_SESSIONS] += committed;
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        counts[COLUMN_KEYS] += has_version[k];
    hf_free(has_version);
    hf_free(observed);
}

/* ---- one row ------------------------------------------------------------- */

typedef struct row {
    hf_str cells[COLUMN_COUNT];
} row;

static bool compare(const char *name, const row *r, const hf_history *h)
{
    int64_t counts[COLUMN_COUNT], wanted;
    bool good = true;

    count(h, counts);
    if (!hf_str_eq(hf_str_of(h->format), r->cells[COLUMN_FORMAT])) {
        printf("%s: format %.*s in the index, %s found\n", name,
               (int)r->cells[COLUMN_FORMAT].len, r->cells[COLUMN_FORMAT].ptr,
               h->format);
        good = false;
    }
    for (int c = COLUMN_TXNS; c < COLUMN_COUNT; c++) {
        if (r->cells[c].len == 0 || !hf_str_to_int(r->cells[c], &wanted) ||
            wanted == counts[c])
            continue;
        printf("%s: %s %lld in the index, %lld found\n", name, column_names[c],
               (long long)wanted, (long long)counts[c]);
        good = false;
    }
    return good;
}

/* Is this file, by its content, one that cannot hold a history?  Then it must
 * still be recognized as what the index calls it. */
static bool holds_no_history(const char *path, hf_str name)
{
    const hf_format *format;
    hf_input in;
    bool none;

    if (hf_input_open(&in, path, NULL, NULL) != HF_OK)
        return false;
    format = hf_format_detect(&in);
    none = format && hf_str_eq(hf_str_of(format->name), name) &&
           (hf_str_eq(name, HF_STR("jepsen-results-edn")) ||
            (hf_str_eq(name, HF_STR("hermitage-md")) &&
             !hf_has_text(in.text, in.length, "-- T")));
    hf_input_close(&in);
    return none;
}

static bool check_row(const char *directory, const row *r)
{
    hf_str path = r->cells[COLUMN_PATH];
    size_t size = strlen(directory) + path.len + 2;
    char *full = hf_alloc(size);
    hf_history *h = NULL;
    hf_error err;
    bool good = false;

    (void)snprintf(full, size, "%s/%.*s", directory, (int)path.len, path.ptr);
    if (hf_load_history(full, NULL, NULL, &h, &err) != HF_OK) {
        good = holds_no_history(full, r->cells[COLUMN_FORMAT]);
        if (!good)
            printf("%s\n", err.text);
    } else {
        good = compare(full + strlen(directory) + 1, r, h);
    }
    hf_history_free(h);
    hf_free(full);
    return good;
}

/* ---- the index ----------------------------------------------------------- */

/* The next cell of a line, which is shortened by it. */
static bool take_cell(hf_str *line, hf_str *ret_cell)
{
    const char *tab;

    if (!line->ptr)
        return false;
    tab = line->len > 0 ? memchr(line->ptr, '\t', line->len) : NULL;
    *ret_cell =
        (hf_str){line->ptr, tab ? (size_t)(tab - line->ptr) : line->len};
    *line = tab ? (hf_str){tab + 1, line->len - ret_cell->len - 1}
                : (hf_str){NULL, 0};
    return true;
}

/* Where each column of ours stands; false if one is missing. */
static bool find_columns(hf_str line, int *places)
{
    hf_str cell;
    int found = 0;

    for (int place = 0; take_cell(&line, &cell); place++)
        for (int c = 0; c < COLUMN_COUNT; c++)
            if (hf_str_eq(cell, hf_str_of(column_names[c]))) {
                places[c] = place;
                found++;
            }
    return found == COLUMN_COUNT;
}

static row parse_row(hf_str line, const int *places)
{
    row r = {0};
    hf_str cell;

    for (int place = 0; take_cell(&line, &cell); place++)
        for (int c = 0; c < COLUMN_COUNT; c++)
            if (places[c] == place)
                r.cells[c] = cell;
    return r;
}

static int check_all(const char *directory, const hf_input *index)
{
    hf_lines lines = hf_lines_of(index->text, index->length);
    int places[COLUMN_COUNT] = {0};
    unsigned passed = 0, failed = 0;
    hf_str line;

    if (!hf_lines_next(&lines, &line) || !find_columns(line, places)) {
        fprintf(stderr, "corpora: the index has no line of column names\n");
        return 2;
    }
    while (hf_lines_next(&lines, &line)) {
        row r = parse_row(line, places);

        if (r.cells[COLUMN_PATH].len == 0)
            continue;
        if (check_row(directory, &r))
            passed++;
        else
            failed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}

int main(int argc, char **argv)
{
    hf_input index;
    hf_error err;
    char path[4096];
    int status;

    if (argc != 2 || strlen(argv[1]) > sizeof(path) - 16) {
        fprintf(stderr, "usage: corpora DIR\n");
        return 2;
    }
    (void)snprintf(path, sizeof(path), "%s/INDEX.tsv", argv[1]);
    if (hf_input_open(&index, path, NULL, &err) != HF_OK) {
        fprintf(stderr, "corpora: could not read \"%s\": %s\n", path, err.text);
        return 2;
    }
    status = check_all(argv[1], &index);
    hf_input_close(&index);
    return status;
}

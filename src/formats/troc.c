/* troc.c: Troc's test cases, two transactions and a schedule.
 *
 *     CREATE TABLE t (c1 INT, c2 INT)
 *     INSERT INTO t VALUES (0, 0)
 *
 *     RR
 *     BEGIN
 *     SELECT * FROM t
 *     COMMIT
 *
 *     RC
 *     BEGIN
 *     ...
 *
 *     1-1-2-2-1
 *     END
 *
 * The schedule says which transaction sends its next statement.  Sessions are
 * called 1, 2 and, with several cases in one file, 1:1, 2:1 and so on; setup
 * is a session.  The level is the transaction's own.  Text after END is prose
 * until a line that creates a table.
 *
 * The history is a schedule to replay; what came of it is unknown (see
 * scenario.h).  There is no exporter.  Linear.
 */
#include <stdio.h>

#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/scenario.h"
#include "model/level.h"

#define MAX_TXNS 99

typedef struct statement {
    hf_str text;
    uint64_t line;
} statement;

typedef struct case_txn {
    size_t first, n; /* in `statements` */
    size_t sent;
    uint8_t level;
} case_txn;

typedef struct troc {
    hf_scenario s;
    hf_lines lines;
    hf_str line;
    bool has_line;
    hf_error *err;
    uint32_t run, n_runs;
    HF_VEC(statement) statements;
    HF_VEC(case_txn) txns;
} troc;

static bool next_line(troc *t)
{
    t->has_line = hf_lines_next(&t->lines, &t->line);
    if (t->has_line)
        t->line = hf_str_trim(t->line);
    return t->has_line;
}

static hf_status expected(const troc *t, const char *what)
{
    char quoted[48];

    if (!t->has_line)
        return hf_fail_line(t->err, t->lines.number,
                            "expected %s, found the end of the input", what);
    return hf_fail_line(t->err, t->lines.number, "expected %s, found \"%s\"",
                        what,
                        hf_quote(quoted, sizeof(quoted), t->line.ptr,
                                 t->line.len < 24 ? t->line.len : 24));
}

static bool has_prefix(hf_str line, const char *word)
{
    size_t n = strlen(word);

    return line.len >= n &&
           hf_str_same_name((hf_str){line.ptr, n}, (hf_str){word, n});
}

/* A case begins where a table is made. */
static bool begins_case(hf_str line)
{
    return has_prefix(line, "create table");
}

static bool is_level(hf_str line, uint8_t *ret_level)
{
    static const struct {
        const char *name;
        hf_level level;
    } levels[] = {{"RU", HF_READ_UNCOMMITTED},
                  {"RC", HF_READ_COMMITTED},
                  {"RR", HF_REPEATABLE_READ},
                  {"SER", HF_SERIALIZABLE}};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (hf_str_eq(line, hf_str_of(levels[i].name))) {
            *ret_level = (uint8_t)levels[i].level;
            return true;
        }
    return false;
}

/* 1-1-2-2, at least one number and nothing else. */
static bool is_schedule(hf_str line)
{
    if (line.len == 0)
        return false;
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != '-' && (line.ptr[i] < '0' || line.ptr[i] > '9'))
            return false;
    return true;
}

/* ---- one case ------------------------------------------------------------ */

static hf_str number_name(char *buffer, size_t size, size_t number)
{
    int n = snprintf(buffer, size, "%zu", number);

    return (hf_str){buffer, (size_t)n};
}

static uint32_t run_of(const troc *t)
{
    return t->n_runs > 1 ? t->run : 0;
}

static hf_status read_setup(troc *t)
{
    hf_session_id id =
        hf_scenario_session_of(&t->s, HF_STR("setup"), run_of(t));
    hf_status st = HF_OK;

    while (st == HF_OK && t->has_line && t->line.len > 0) {
        st = hf_scenario_next(&t->s, id, t->line, t->lines.number);
        (void)next_line(t);
    }
    return st;
}

static hf_status read_txn(troc *t, uint8_t level)
{
    case_txn txn = {.first = t->statements.n, .level = level};

    if (t->txns.n >= MAX_TXNS)
        return expected(t, "no more than 99 transactions");
    while (next_line(t) && t->line.len > 0) {
        hf_vec_push(&t->statements, (statement){t->line, t->lines.number});
        txn.n++;
    }
    if (txn.n == 0)
        return expected(t, "the statements of a transaction");
    hf_vec_push(&t->txns, txn);
    return HF_OK;
}

static hf_status send(troc *t, uint64_t number)
{
    char name[24];
    hf_session_id id;
    const statement *x;
    case_txn *txn;

    if (number == 0 || number > t->txns.n)
        return expected(t, "a schedule of the transactions above");
    txn = &t->txns.at[number - 1];
    if (txn->sent >= txn->n)
        return hf_fail_line(t->err, t->lines.number,
                            "the schedule has more steps than the %zu "
                            "statements of transaction %llu",
                            txn->n, (unsigned long long)number);
    x = &t->statements.at[txn->first + txn->sent++];
    id = hf_scenario_session_of(
        &t->s, number_name(name, sizeof(name), (size_t)number), run_of(t));
    hf_scenario_level(&t->s, id, txn->level);
    return hf_scenario_next(&t->s, id, x->text, x->line);
}

static hf_status read_schedule(troc *t)
{
    const char *p = t->line.ptr, *end = p + t->line.len;
    hf_status st = HF_OK;
    uint64_t number;

    while (st == HF_OK && p < end) {
        if (!hf_scan_uint_until(&p, end, &number) || (p < end && *p != '-'))
            return expected(t, "a schedule such as 1-1-2-2");
        p += p < end;
        st = send(t, number);
    }
    for (size_t i = 0; i < t->txns.n && st == HF_OK; i++)
        if (t->txns.at[i].sent < t->txns.at[i].n)
            st = hf_fail_line(t->err, t->lines.number,
                              "the schedule leaves out statements of "
                              "transaction %zu",
                              i + 1);
    return st;
}

static hf_status read_case(troc *t)
{
    hf_status st;
    uint8_t level;

    t->run++;
    t->statements.n = t->txns.n = 0;
    st = read_setup(t);
    while (st == HF_OK && t->has_line && !is_schedule(t->line)) {
        if (t->line.len == 0)
            (void)next_line(t);
        else if (is_level(t->line, &level))
            st = read_txn(t, level);
        else
            st = expected(t, "a level (RU, RC, RR or SER) or a schedule");
    }
    if (st == HF_OK && !t->has_line)
        st = expected(t, "a schedule such as 1-1-2-2");
    if (st == HF_OK)
        st = read_schedule(t);
    if (st == HF_OK && next_line(t) && hf_str_eq(t->line, HF_STR("END")))
        (void)next_line(t);
    else if (st == HF_OK)
        st = expected(t, "END");
    return st;
}

/* ---- the file ------------------------------------------------------------ */

static uint32_t count_cases(hf_lines lines)
{
    uint32_t n = 0;
    hf_str line;

    while (hf_lines_next(&lines, &line))
        n += hf_str_eq(hf_str_trim(line), HF_STR("END"));
    return n;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    troc t = {.err = err};
    hf_status st = HF_OK;

    hf_scenario_init(&t.s, b, err);
    t.lines = hf_lines_of(in->text, in->length);
    t.n_runs = count_cases(t.lines);
    (void)next_line(&t);
    while (st == HF_OK && t.has_line) {
        if (begins_case(t.line))
            st = read_case(&t);
        else
            (void)next_line(&t);
    }
    if (st == HF_OK && t.run == 0)
        st = expected(&t, "a case that begins with CREATE TABLE");
    if (st == HF_OK)
        st = hf_scenario_finish(&t.s);
    hf_scenario_release(&t.s);
    hf_vec_release(&t.statements);
    hf_vec_release(&t.txns);
    return st;
}

static int detect(const hf_input *in)
{
    size_t length = in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES;
    bool table = false, level = false, schedule = false;
    uint8_t ignored;
    hf_lines lines;
    hf_str line;

    if (in->is_directory)
        return 0;
    lines = hf_lines_of(in->text, length);
    while (hf_lines_next(&lines, &line)) {
        line = hf_str_trim(line);
        table = table || begins_case(line);
        level = level || is_level(line, &ignored);
        schedule = schedule || is_schedule(line);
    }
    return table && level ? schedule ? 90 : 50 : 0;
}

const hf_format hf_format_troc = {
    .name = "troc-case",
    .summary = "Troc: transactions with levels and a schedule",
    .extension = ".txt",
    .detect = detect,
    .import = import,
};

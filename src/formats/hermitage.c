/* hermitage.c: Hermitage's pages, SQL scenarios in Markdown.
 *
 *     ```sql
 *     begin; set transaction isolation level read committed; -- T1
 *     update test set value = 12 where id = 1; -- T2, BLOCKS
 *     commit; -- T1. This unblocks T2
 *     select * from test; -- T1. Shows 1 => 12, 2 => 20
 *     ```
 *
 * A block whose lines name sessions is one scenario; with several of them
 * sessions are called 1:T1, 2:T1 and so on.  A block that names none is
 * setup.  The rest of the comment tells what was observed, in prose; taken
 * from it are: ERROR, BLOCKS and "unblocks Tn", and for `select *` the pairs
 * "1 => 12" as rows (id, value) and "returns nothing" as no rows.  The prose
 * does not say that a commit succeeded, so its outcome is unknown (see
 * scenario.h).
 *
 * Blocks in other languages and the text around them are passed over; a page
 * without any scenario is refused.  There is no exporter.  Linear.
 */
#include <stdio.h>

#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/scenario.h"

/* Places of a step: begin, end, and the end of one that it unblocks. */
#define CLOCK_STEP 4

typedef struct page {
    hf_scenario s;
    hf_lines lines;
    hf_error *err;
    uint32_t run; /* number of the scenario, from 1 */
    uint32_t n_runs;
    HF_VEC(size_t) last; /* by session: number of its last step, from 1 */
} page;

static bool is_fence(hf_str line)
{
    return hf_str_starts(line, HF_STR("```"));
}

/* "T12" at the beginning of a comment, or "either". */
static hf_str session_name(hf_str comment)
{
    size_t n = 1;

    comment = hf_str_trim(comment);
    if (hf_str_starts(comment, HF_STR("either")))
        return (hf_str){comment.ptr, 6};
    if (comment.len < 2 || comment.ptr[0] != 'T')
        return (hf_str){comment.ptr, 0};
    while (n < comment.len && comment.ptr[n] >= '0' && comment.ptr[n] <= '9')
        n++;
    return (hf_str){comment.ptr, n > 1 ? n : 0};
}

/* Cuts a line into its statements and the comment after them. */
static void split_line(hf_str line, hf_str *ret_sql, hf_str *ret_comment)
{
    char quote = 0;

    *ret_sql = line;
    *ret_comment = (hf_str){line.ptr + line.len, 0};
    for (size_t i = 0; i + 1 < line.len; i++) {
        char c = line.ptr[i];

        if (quote != 0) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '-' && line.ptr[i + 1] == '-') {
            *ret_sql = (hf_str){line.ptr, i};
            *ret_comment = (hf_str){line.ptr + i + 2, line.len - i - 2};
            return;
        }
    }
}

/* Does a block name sessions?  `lines` stands after its fence. */
static bool names_sessions(hf_lines lines)
{
    hf_str line, sql, comment;

    while (hf_lines_next(&lines, &line) && !is_fence(line)) {
        split_line(line, &sql, &comment);
        if (session_name(comment).len > 0)
            return true;
    }
    return false;
}

static const char *find(hf_str s, const char *needle)
{
    size_t n = strlen(needle);

    for (size_t i = 0; i + n <= s.len; i++)
        if (memcmp(s.ptr + i, needle, n) == 0)
            return s.ptr + i;
    return NULL;
}

/* ---- what a comment tells ------------------------------------------------ */

static void put_column(page *p, const char *name)
{
    hf_vec_push(
        &p->s.names,
        (hf_scalar){.type = HF_TEXT, .text = name, .length = strlen(name)});
}

static void begin_rows(page *p, hf_step *step)
{
    step->has_rows = true;
    step->first_name = (uint32_t)p->s.names.n;
    step->n_columns = 2;
    step->first_cell = (uint32_t)p->s.cells.n;
    put_column(p, "id");
    put_column(p, "value");
}

static bool read_int(const char **at, const char *end, int64_t *ret)
{
    const char *p = *at;
    uint64_t n;
    bool negative = p < end && *p == '-';

    p += negative;
    if (!hf_scan_uint_until(&p, end, &n))
        return false;
    *ret = negative ? -(int64_t)n : (int64_t)n;
    *at = p;
    return true;
}

/* "1 => 12, 2 => 20" anywhere in the comment. */
static void read_rows(page *p, hf_str comment, hf_step *step)
{
    const char *at = comment.ptr, *end = comment.ptr + comment.len;

    while (at < end) {
        int64_t id, value;
        const char *q = at;

        if (!read_int(&q, end, &id)) {
            at++;
            continue;
        }
        at = q;
        if (end - q < 4 || memcmp(q, " => ", 4) != 0)
            continue;
        q += 4;
        if (!read_int(&q, end, &value))
            continue;
        at = q;
        if (!step->has_rows)
            begin_rows(p, step);
        hf_vec_push(&p->s.cells, (hf_scalar){.type = HF_INT, .number = id});
        hf_vec_push(&p->s.cells, (hf_scalar){.type = HF_INT, .number = value});
        step->n_rows++;
    }
}

/* Statements that are one `select * ...` and nothing else. */
static bool selects_all(hf_str sql)
{
    hf_str statement;
    char head[9];

    if (!hf_sql_next(&sql, &statement) || statement.len < 8)
        return false;
    (void)snprintf(head, sizeof(head), "%.8s", statement.ptr);
    return hf_str_same_name((hf_str){head, 8}, HF_STR("select *")) &&
           !hf_sql_next(&sql, &statement);
}

/* If the last step of a session still waits, it does so until now. */
static void unblock(page *p, hf_session_id session, uint64_t now)
{
    hf_step *step;

    if (session >= p->last.n || p->last.at[session] == 0)
        return;
    step = &p->s.steps.at[p->last.at[session] - 1];
    if (step->end == HF_TIME_NONE)
        step->end = now;
}

static hf_status add_step(page *p, const hf_step *step)
{
    hf_status st = hf_scenario_step(&p->s, step);

    while (p->last.n <= step->session)
        hf_vec_push(&p->last, 0);
    p->last.at[step->session] = p->s.steps.n;
    return st;
}

static hf_status add_line(page *p, hf_str sql, hf_str comment)
{
    hf_str name = session_name(comment);
    hf_step step = {.text = sql, .line = p->lines.number};
    const char *unblocks = find(comment, "unblocks T");

    if (name.len == 0)
        name = HF_STR("unnamed");
    step.session =
        hf_scenario_session_of(&p->s, name, p->n_runs > 1 ? p->run : 0);
    step.start = p->s.clock;
    step.end = p->s.clock + 1;
    unblock(p, step.session, p->s.clock > 0 ? p->s.clock - 1 : 0);
    if (unblocks) {
        hf_str other = session_name((hf_str){
            unblocks + 9, (size_t)(comment.ptr + comment.len - unblocks - 9)});

        if (other.len > 0)
            unblock(p,
                    hf_scenario_session_of(&p->s, other,
                                           p->n_runs > 1 ? p->run : 0),
                    p->s.clock + 2);
    }
    p->s.clock += CLOCK_STEP;
    if (find(comment, "BLOCKS") || find(comment, "Blocks"))
        step.end = HF_TIME_NONE;
    if (find(comment, "ERROR") || find(comment, "Error:"))
        step.failed = true;
    else if (selects_all(sql)) {
        read_rows(p, comment, &step);
        if (!step.has_rows &&
            (find(comment, "eturns nothing") || find(comment, "hows nothing")))
            begin_rows(p, &step);
    }
    return add_step(p, &step);
}

/* ---- blocks -------------------------------------------------------------- */

static hf_status read_block(page *p)
{
    bool is_scenario = names_sessions(p->lines);
    uint64_t line_number = p->lines.number;
    hf_str line, sql, comment, rest, statement;
    hf_status st = HF_OK;

    p->run += is_scenario;
    while (st == HF_OK) {
        if (!hf_lines_next(&p->lines, &line))
            return hf_fail_line(p->err, line_number,
                                "expected a block that is closed with ```");
        if (is_fence(line))
            return HF_OK;
        split_line(line, &sql, &comment);
        rest = sql;
        if (!hf_sql_next(&rest, &statement))
            continue;
        if (is_scenario)
            st = add_line(p, sql, comment);
        else
            st = hf_scenario_next(
                &p->s, hf_scenario_session_of(&p->s, HF_STR("setup"), 0), sql,
                p->lines.number);
    }
    return st;
}

static hf_status read_page(page *p)
{
    hf_status st = HF_OK;
    hf_str line;

    while (st == HF_OK && hf_lines_next(&p->lines, &line)) {
        if (!is_fence(line))
            continue;
        if (hf_str_eq(hf_str_trim(line), HF_STR("```sql"))) {
            st = read_block(p);
        } else {
            while (hf_lines_next(&p->lines, &line) && !is_fence(line))
                ;
        }
    }
    return st;
}

static uint32_t count_scenarios(hf_lines lines)
{
    uint32_t n = 0;
    hf_str line;

    while (hf_lines_next(&lines, &line))
        if (hf_str_eq(hf_str_trim(line), HF_STR("```sql"))) {
            n += names_sessions(lines);
            while (hf_lines_next(&lines, &line) && !is_fence(line))
                ;
        }
    return n;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    page p = {.err = err};
    hf_status st;

    p.lines = hf_lines_of(in->text, in->length);
    p.n_runs = count_scenarios(p.lines);
    if (p.n_runs == 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "expected a block of SQL whose lines name sessions "
                       "(-- T1), found a page without one");
    hf_scenario_init(&p.s, b, err);
    st = read_page(&p);
    if (st == HF_OK)
        st = hf_scenario_finish(&p.s);
    hf_scenario_release(&p.s);
    hf_vec_release(&p.last);
    return st;
}

static int detect(const hf_input *in)
{
    size_t length = in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES;

    if (in->is_directory)
        return 0;
    if (hf_has_text(in->text, in->length, "```sql") &&
        count_scenarios(hf_lines_of(in->text, length)) > 0)
        return 90;
    /* a page of the same collection without a scenario */
    return hf_has_text(in->text, in->length, "\n===") &&
                   hf_has_text(in->text, in->length, "isolation level")
               ? 20
               : 0;
}

const hf_format hf_format_hermitage = {
    .name = "hermitage-md",
    .summary = "Hermitage: SQL scenarios in Markdown",
    .extension = ".md",
    .detect = detect,
    .import = import,
};

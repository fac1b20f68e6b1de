/* pg_out.c: expected output of PostgreSQL's isolation tests.
 *
 *     Parsed test spec with 2 sessions
 *
 *     starting permutation: r1 w2 c2 c1
 *     step r1: SELECT v FROM t;
 *     v
 *     -
 *     1
 *     (1 row)
 *
 *     step w2: UPDATE t SET v = 2; <waiting ...>
 *     step w2: <... completed>
 *     ERROR:  could not serialize access
 *
 * Each permutation is a run; its sessions are called 1:session 1 and so on.
 * A step's interval ends where it is reported complete; rows and errors are
 * those of the file; a commit shown without an error is committed, a
 * transaction with an error is aborted.  Cells are integers where they look
 * like it, an empty cell is nil.
 *
 * The file does not say which session a step belongs to; pg_sessions.c finds
 * out.  Where that fails every step is a session and a transaction of its own
 * with unknown outcome.  A session whose first end has no begin before it was
 * inside a transaction from the start: its setup, which is not shown, began
 * it.  There is no exporter.  Linear but for pg_sessions.c.
 */
#include "formats/pg_out.h"

#include <stdio.h>

#include "formats/formats_all.h"
#include "formats/scan.h"

#define MAX_WAITING 1000 /* at once; a session waits for one step at most */

typedef struct reader {
    hf_pg_out p;
    hf_scenario s;
    hf_lines lines;
    hf_str line; /* not taken yet */
    bool has_line;
    hf_error *err;
    size_t current; /* run that results belong to; SIZE_MAX: none */
    unsigned n_waiting;
} reader;

static bool next_line(reader *r)
{
    r->has_line = hf_lines_next(&r->lines, &r->line);
    return r->has_line;
}

static hf_str rest_of(hf_str s, size_t n)
{
    return (hf_str){s.ptr + n, s.len - n};
}

/* A line of dashes and plus signs under a table's head. */
static bool is_table_rule(hf_str s)
{
    if (s.len == 0 || s.ptr[0] != '-')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != '-' && s.ptr[i] != '+')
            return false;
    return true;
}

static bool ends_with(hf_str s, hf_str tail)
{
    return s.len >= tail.len &&
           memcmp(s.ptr + s.len - tail.len, tail.ptr, tail.len) == 0;
}

static bool is_marker(hf_str s)
{
    return hf_str_starts(s, HF_STR("step ")) ||
           hf_str_starts(s, HF_STR("starting permutation:")) ||
           hf_str_starts(s, HF_STR("ERROR:")) ||
           hf_str_starts(s, HF_STR("teardown failed:")) ||
           hf_str_starts(s, HF_STR("setup failed:"));
}

/* ---- tables -------------------------------------------------------------- */

static hf_scalar cell_of(hf_str s)
{
    int64_t number;

    s = hf_str_trim(s);
    if (s.len == 0)
        return (hf_scalar){.type = HF_NIL};
    if (hf_str_to_int(s, &number))
        return (hf_scalar){.type = HF_INT, .number = number};
    return (hf_scalar){.type = HF_TEXT, .text = s.ptr, .length = s.len};
}

/* The next part of a row, up to a bar; false after the last. */
static bool next_cell(hf_str *rest, bool *done, hf_str *ret_cell)
{
    const char *bar;

    if (*done)
        return false;
    bar = rest->len > 0 ? memchr(rest->ptr, '|', rest->len) : NULL;
    *ret_cell = *rest;
    if (bar) {
        ret_cell->len = (size_t)(bar - rest->ptr);
        *rest = rest_of(*rest, ret_cell->len + 1);
    } else {
        *done = true;
    }
    return true;
}

static void read_head(reader *r, hf_step *step)
{
    hf_str rest = r->line, cell;
    bool done = false;

    step->has_rows = true;
    step->first_name = (uint32_t)r->s.names.n;
    step->first_cell = (uint32_t)r->s.cells.n;
    step->n_columns = step->n_rows = 0;
    while (next_cell(&rest, &done, &cell)) {
        cell = hf_str_trim(cell);
        hf_vec_push(
            &r->s.names,
            (hf_scalar){.type = HF_TEXT, .text = cell.ptr, .length = cell.len});
        step->n_columns++;
    }
}

static hf_status read_row(reader *r, hf_step *step)
{
    hf_str rest = r->line, cell;
    bool done = false;
    uint32_t n = 0;

    if (r->s.cells.n > UINT32_MAX / 2)
        return hf_fail_line(r->err, r->lines.number,
                            "the file has more than 2^31 cells");
    while (next_cell(&rest, &done, &cell)) {
        if (n++ >= step->n_columns)
            return hf_fail_line(r->err, r->lines.number,
                                "expected a row of %u columns, found more",
                                step->n_columns);
        hf_vec_push(&r->s.cells, cell_of(cell));
    }
    for (; n < step->n_columns; n++)
        hf_vec_push(&r->s.cells, (hf_scalar){.type = HF_NIL});
    step->n_rows++;
    return HF_OK;
}

/* The head is in r->line and a rule follows. */
static hf_status read_table(reader *r)
{
    hf_step *step = &r->p.runs.at[r->current].what;
    hf_status st = HF_OK;

    read_head(r, step);
    (void)next_line(r); /* the rule */
    while (st == HF_OK) {
        if (!next_line(r))
            return hf_fail_line(r->err, r->lines.number,
                                "expected the end of a table, such as (2 "
                                "rows), found the end of the input");
        if (r->line.len > 5 && r->line.ptr[0] == '(' &&
            (ends_with(r->line, HF_STR(" rows)")) ||
             ends_with(r->line, HF_STR(" row)"))))
            break;
        if (is_marker(r->line))
            return hf_fail_line(r->err, r->lines.number,
                                "expected the end of a table, such as (2 "
                                "rows), found a step");
        st = read_row(r, step);
    }
    (void)next_line(r);
    return st;
}

/* ---- steps --------------------------------------------------------------- */

static bool next_is_rule(const reader *r)
{
    hf_lines ahead = r->lines;
    hf_str line;

    return hf_lines_next(&ahead, &line) && is_table_rule(line);
}

/* Cuts "<waiting ...>" off the end of a statement. */
static bool cut_waiting(hf_str *text)
{
    static const char mark[] = "<waiting ...>";

    *text = hf_str_trim(*text);
    if (!ends_with(*text, HF_STR(mark)))
        return false;
    text->len -= sizeof(mark) - 1;
    return true;
}

static hf_status complete(reader *r, hf_str name)
{
    size_t first = r->p.ends.n > 1 ? r->p.ends.at[r->p.ends.n - 2] : 0;

    for (size_t i = r->p.runs.n; i-- > first;) {
        hf_pg_run *run = &r->p.runs.at[i];

        if (run->is_waiting && hf_str_eq(run->name, name)) {
            run->is_waiting = false;
            r->n_waiting--;
            run->what.end = r->s.clock++;
            r->current = i;
            return HF_OK;
        }
    }
    return hf_fail_line(r->err, r->lines.number,
                        "expected the end of a step that waits, found "
                        "another one");
}

/* Lines that continue the statement: until something else can begin. */
static void read_statement(reader *r, hf_str *text)
{
    while (next_line(r)) {
        if (r->line.len == 0 || is_marker(r->line) || next_is_rule(r) ||
            ends_with(hf_str_trim(*text), HF_STR("<waiting ...>")))
            return;
        text->len = (size_t)(r->line.ptr + r->line.len - text->ptr);
    }
}

static hf_status read_step(reader *r)
{
    hf_str rest = rest_of(r->line, 5);
    const char *colon = memchr(rest.ptr, ':', rest.len);
    hf_pg_run run = {.what = {.is_shown = true, .line = r->lines.number}};

    if (!colon)
        return hf_fail_line(r->err, r->lines.number,
                            "expected \"step NAME: SQL\", found no colon");
    run.name = hf_str_trim((hf_str){rest.ptr, (size_t)(colon - rest.ptr)});
    run.what.text = rest_of(rest, (size_t)(colon + 1 - rest.ptr));
    if (hf_str_eq(hf_str_trim(run.what.text), HF_STR("<... completed>"))) {
        (void)next_line(r);
        return complete(r, run.name);
    }
    if (r->p.ends.n == 0)
        return hf_fail_line(r->err, r->lines.number,
                            "expected \"starting permutation:\" before the "
                            "first step");
    run.what.start = r->s.clock++;
    read_statement(r, &run.what.text);
    run.is_waiting = cut_waiting(&run.what.text);
    run.what.end = run.is_waiting ? HF_TIME_NONE : r->s.clock++;
    r->current = r->p.runs.n;
    hf_vec_push(&r->p.runs, run);
    r->n_waiting += run.is_waiting;
    if (r->p.runs.n > UINT32_MAX / 2 || r->n_waiting > MAX_WAITING)
        return hf_fail_line(r->err, run.what.line,
                            "more steps than a test can have, or more than "
                            "%d of them waiting",
                            MAX_WAITING);
    r->p.ends.at[r->p.ends.n - 1] = (uint32_t)r->p.runs.n;
    return HF_OK;
}

static hf_status read_one(reader *r)
{
    static const char parsed[] = "Parsed test spec with ";
    hf_str line = r->line;

    if (hf_str_starts(line, HF_STR("step ")))
        return read_step(r);
    if (hf_str_starts(line, HF_STR("starting permutation:"))) {
        hf_vec_push(&r->p.ends, (uint32_t)r->p.runs.n);
        r->current = SIZE_MAX;
        r->n_waiting = 0;
    } else if (hf_str_starts(line, HF_STR("ERROR:")) &&
               r->current != SIZE_MAX) {
        r->p.runs.at[r->current].what.failed = true;
    } else if (hf_str_starts(line, HF_STR(parsed))) {
        const char *p = line.ptr + sizeof(parsed) - 1;
        uint64_t n;

        if (hf_scan_uint_until(&p, line.ptr + line.len, &n) && n < 1000)
            r->p.n_sessions = (uint32_t)n;
    } else if (r->current != SIZE_MAX && line.len > 0 && next_is_rule(r)) {
        return read_table(r);
    }
    (void)next_line(r); /* notices and the like are passed over */
    return HF_OK;
}

/* ---- building ------------------------------------------------------------ */

/* What the first begin or end among a session's steps is. */
static bool ends_first(const hf_pg_out *p, size_t first, size_t end,
                       uint32_t group)
{
    for (size_t i = first; i < end; i++) {
        hf_str rest = p->runs.at[i].what.text, statement;

        if (p->groups.at[p->runs.at[i].step] != group)
            continue;
        while (hf_sql_next(&rest, &statement)) {
            hf_sql_class c = hf_sql_classify(statement);

            if (c == HF_SQL_BEGIN)
                return false;
            if (c == HF_SQL_COMMIT || c == HF_SQL_ROLLBACK)
                return true;
        }
    }
    return false;
}

static hf_session_id session_of(reader *r, const hf_pg_run *run, uint32_t k)
{
    char name[32];
    int n;

    if (!r->p.is_known)
        return hf_builder_session_fresh(r->s.b);
    n = snprintf(name, sizeof(name), "session %u",
                 r->p.groups.at[run->step] + 1);
    return hf_scenario_session_of(&r->s, (hf_str){name, (size_t)n}, k);
}

static hf_status build(reader *r)
{
    size_t first = 0;
    hf_status st = HF_OK;

    for (size_t k = 0; k < r->p.ends.n && st == HF_OK; k++) {
        size_t end = r->p.ends.at[k];
        uint32_t number = r->p.ends.n > 1 ? (uint32_t)k + 1 : 0;

        for (size_t i = first; i < end && st == HF_OK; i++) {
            hf_pg_run *run = &r->p.runs.at[i];
            uint32_t group = r->p.groups.at[run->step];
            hf_session_id id = session_of(r, run, number);

            run->what.session = id;
            if (!r->p.is_known)
                run->what.is_shown = false;
            else if (r->s.sessions.n <= id)
                hf_scenario_flags(
                    &r->s, id,
                    ends_first(&r->p, i, end, group) ? HF_SESSION_OPEN : 0);
            st = hf_scenario_step(&r->s, &run->what);
        }
        first = end;
    }
    return st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    reader r = {.err = err, .current = SIZE_MAX};
    hf_status st = HF_OK;

    hf_scenario_init(&r.s, b, err);
    r.s.error_aborts = true;
    r.lines = hf_lines_of(in->text, in->length);
    (void)next_line(&r);
    while (st == HF_OK && r.has_line)
        st = read_one(&r);
    if (st == HF_OK && r.p.runs.n == 0)
        st = hf_fail_line(err, r.lines.number,
                          "expected \"step NAME: SQL\" after \"starting "
                          "permutation:\", found the end of the input");
    if (st == HF_OK) {
        hf_pg_sessions(&r.p);
        st = build(&r);
    }
    if (st == HF_OK)
        st = hf_scenario_finish(&r.s);
    hf_scenario_release(&r.s);
    hf_vec_release(&r.p.runs);
    hf_vec_release(&r.p.ends);
    hf_vec_release(&r.p.steps);
    hf_vec_release(&r.p.groups);
    return st;
}

static int detect(const hf_input *in)
{
    if (in->is_directory)
        return 0;
    if (hf_has_text(in->text, in->length, "\nstarting permutation: "))
        return 95;
    return hf_has_text(in->text, in->length, "Parsed test spec with ") ? 80 : 0;
}

const hf_format hf_format_pg_out = {
    .name = "pg-isolation-out",
    .summary = "PostgreSQL isolation test: expected output",
    .extension = ".out",
    .detect = detect,
    .import = import,
};

/* pg_spec.c: specifications of PostgreSQL's isolation tests.
 *
 *     setup { SQL }
 *     session s1
 *     setup { BEGIN; }
 *     step a { SQL }
 *     permutation a b c
 *
 * Each permutation is a schedule: the common setup (session "setup"), the
 * setup of every session, the steps, the teardowns.  With several
 * permutations sessions are called 1:s1, 2:s1 and so on.  Without any, each
 * session's own order is all there is: no times.  Markers in parentheses
 * after a step's name say when its end is reported and are passed over.
 *
 * The history is a schedule to replay; what came of it is unknown (see
 * scenario.h), the expected output beside it has that (pg_out.c).  There is
 * no exporter.
 *
 * Linear in the steps that the permutations name; names are looked up in a
 * sorted table.
 */
#include <stdlib.h>

#include "formats/edn.h"
#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/scenario.h"

typedef struct block {
    hf_str sql; /* ptr NULL: none */
    uint64_t line;
} block;

typedef struct spec_session {
    hf_str name;
    block setup, teardown;
    uint32_t first_step, end_step;
} spec_session;

typedef struct spec_step {
    hf_str name;
    block sql;
    uint32_t session;
} spec_step;

typedef struct spec {
    const hf_input *in;
    const char *at, *end;
    hf_error *err;
    const char *counted; /* lines are counted up to here */
    uint64_t line;
    HF_VEC(block) setups;
    block teardown;
    HF_VEC(spec_session) sessions;
    HF_VEC(spec_step) steps;
    HF_VEC(spec_step) sorted; /* by name; session is the step's number */
    HF_VEC(uint32_t) order;   /* of all permutations, one after the other */
    HF_VEC(uint32_t) ends;    /* of each in `order` */
} spec;

static uint64_t line_at(const spec *s, const char *p)
{
    return hf_line_of(s->in->text, p);
}

/* ---- words --------------------------------------------------------------- */

static void skip_space(spec *s)
{
    while (s->at < s->end) {
        if (*s->at == '#') {
            const char *p = memchr(s->at, '\n', (size_t)(s->end - s->at));

            s->at = p ? p : s->end;
        } else if (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' ||
                   *s->at == '\r') {
            s->at++;
        } else {
            return;
        }
    }
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* A name, plain or quoted; len 0 if none is next.  Does not move. */
static hf_str peek_name(spec *s, const char **ret_after)
{
    const char *p;

    skip_space(s);
    p = s->at;
    if (p < s->end && *p == '"') {
        const char *quote = memchr(p + 1, '"', (size_t)(s->end - p - 1));

        if (!quote)
            return (hf_str){p, 0};
        *ret_after = quote + 1;
        return (hf_str){p + 1, (size_t)(quote - p - 1)};
    }
    while (p < s->end && is_name(*p))
        p++;
    *ret_after = p;
    return (hf_str){s->at, (size_t)(p - s->at)};
}

static hf_status expected(spec *s, const char *what)
{
    char quoted[48];
    size_t n = 0, left = (size_t)(s->end - s->at);

    while (n < left && n < 24 && s->at[n] != '\n')
        n++;
    if (left == 0)
        return hf_fail_line(s->err, line_at(s, s->at),
                            "expected %s, found the end of the input", what);
    return hf_fail_line(s->err, line_at(s, s->at), "expected %s, found \"%s\"",
                        what, hf_quote(quoted, sizeof(quoted), s->at, n));
}

static hf_status read_name(spec *s, const char *what, hf_str *ret_name)
{
    const char *after = s->at;

    *ret_name = peek_name(s, &after);
    if (ret_name->len == 0)
        return expected(s, what);
    s->at = after;
    return HF_OK;
}

/* { SQL } up to the first closing brace. */
static hf_status read_block(spec *s, block *ret_block)
{
    const char *close;

    skip_space(s);
    if (s->at >= s->end || *s->at != '{')
        return expected(s, "\"{\"");
    close = memchr(s->at, '}', (size_t)(s->end - s->at));
    if (!close)
        return expected(s, "a block that is closed with \"}\"");
    s->line += hf_line_of(s->counted, s->at) - 1;
    s->counted = s->at;
    *ret_block = (block){{s->at + 1, (size_t)(close - s->at - 1)}, s->line};
    s->at = close + 1;
    return HF_OK;
}

/* ---- reading ------------------------------------------------------------- */

static bool is_keyword(hf_str name)
{
    return hf_str_eq(name, HF_STR("setup")) ||
           hf_str_eq(name, HF_STR("teardown")) ||
           hf_str_eq(name, HF_STR("session")) ||
           hf_str_eq(name, HF_STR("step")) ||
           hf_str_eq(name, HF_STR("permutation"));
}

static hf_status read_setup(spec *s, bool setup)
{
    block sql = {{NULL, 0}, 0};
    hf_status st = read_block(s, &sql);
    spec_session *session;

    if (st != HF_OK)
        return st;
    if (s->sessions.n == 0) {
        if (setup)
            hf_vec_push(&s->setups, sql);
        else
            s->teardown = sql;
        return HF_OK;
    }
    session = &s->sessions.at[s->sessions.n - 1];
    if (setup)
        session->setup = sql;
    else
        session->teardown = sql;
    return HF_OK;
}

static hf_status read_session(spec *s)
{
    spec_session session = {.first_step = (uint32_t)s->steps.n,
                            .end_step = (uint32_t)s->steps.n};
    hf_status st = read_name(s, "the name of a session", &session.name);

    if (st == HF_OK)
        hf_vec_push(&s->sessions, session);
    return st;
}

static hf_status read_step(spec *s)
{
    spec_step step = {.session = (uint32_t)s->sessions.n - 1};
    hf_status st;

    if (s->sessions.n == 0)
        return expected(s, "a session before its steps");
    st = read_name(s, "the name of a step", &step.name);
    if (st == HF_OK)
        st = read_block(s, &step.sql);
    if (st != HF_OK)
        return st;
    hf_vec_push(&s->steps, step);
    s->sessions.at[s->sessions.n - 1].end_step = (uint32_t)s->steps.n;
    return HF_OK;
}

static int by_name(const void *a, const void *b)
{
    hf_str x = ((const spec_step *)a)->name, y = ((const spec_step *)b)->name;
    size_t n = x.len < y.len ? x.len : y.len;
    int order = n > 0 ? memcmp(x.ptr, y.ptr, n) : 0;

    return order != 0 ? order : x.len < y.len ? -1 : x.len > y.len;
}

static hf_status sort_steps(spec *s)
{
    if (s->sorted.n == s->steps.n)
        return HF_OK;
    s->sorted.n = 0;
    for (size_t i = 0; i < s->steps.n; i++) {
        spec_step step = s->steps.at[i];

        step.session = (uint32_t)i;
        hf_vec_push(&s->sorted, step);
    }
    qsort(s->sorted.at, s->sorted.n, sizeof(*s->sorted.at), by_name);
    for (size_t i = 1; i < s->sorted.n; i++) {
        char quoted[48];
        hf_str name = s->sorted.at[i].name;

        if (by_name(&s->sorted.at[i - 1], &s->sorted.at[i]) == 0)
            return hf_fail_line(
                s->err, s->sorted.at[i].sql.line, "two steps are called \"%s\"",
                hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
    }
    return HF_OK;
}

/* (*), (other), (other notices 2) after a step's name. */
static hf_status skip_marker(spec *s)
{
    const char *close;

    skip_space(s);
    if (s->at >= s->end || *s->at != '(')
        return HF_OK;
    close = memchr(s->at, ')', (size_t)(s->end - s->at));
    if (!close)
        return expected(s, "a marker that is closed with \")\"");
    s->at = close + 1;
    return HF_OK;
}

static hf_status read_permutation(spec *s)
{
    const char *after = s->at;
    hf_status st = sort_steps(s);

    for (;;) {
        hf_str name = peek_name(s, &after);
        spec_step wanted = {.name = name}, *found;
        bool quoted_name = s->at < s->end && *s->at == '"';

        if (st != HF_OK)
            return st;
        if (name.len == 0 || (!quoted_name && is_keyword(name)))
            break;
        found = s->sorted.n == 0 ? NULL
                                 : bsearch(&wanted, s->sorted.at, s->sorted.n,
                                           sizeof(wanted), by_name);
        if (!found)
            return expected(s, "the name of a step");
        hf_vec_push(&s->order, found->session);
        s->at = after;
        st = skip_marker(s);
    }
    hf_vec_push(&s->ends, (uint32_t)s->order.n);
    return HF_OK;
}

static hf_status read_spec(spec *s)
{
    hf_status st = HF_OK;
    hf_str name;

    for (skip_space(s); st == HF_OK && s->at < s->end; skip_space(s)) {
        const char *before = s->at;

        st = read_name(s, "setup, teardown, session, step or permutation",
                       &name);
        if (st != HF_OK)
            return st;
        if (hf_str_eq(name, HF_STR("setup"))) {
            st = read_setup(s, true);
        } else if (hf_str_eq(name, HF_STR("teardown"))) {
            st = read_setup(s, false);
        } else if (hf_str_eq(name, HF_STR("session"))) {
            st = read_session(s);
        } else if (hf_str_eq(name, HF_STR("step"))) {
            st = read_step(s);
        } else if (hf_str_eq(name, HF_STR("permutation"))) {
            st = read_permutation(s);
        } else {
            s->at = before;
            return expected(s, "setup, teardown, session, step or permutation");
        }
    }
    if (st == HF_OK)
        st = sort_steps(s);
    if (st == HF_OK && s->steps.n == 0)
        return expected(s, "a session with at least one step");
    return st;
}

/* ---- building ------------------------------------------------------------ */

static hf_status add_block(const spec *s, hf_scenario *out, hf_str session,
                           uint32_t run, const block *sql)
{
    hf_session_id id;
    hf_step step;

    if (!sql->sql.ptr)
        return HF_OK;
    id = hf_scenario_session_of(out, session, run);
    if (s->ends.n > 0)
        return hf_scenario_next(out, id, sql->sql, sql->line);
    step = (hf_step){.session = id,
                     .text = sql->sql,
                     .start = HF_TIME_NONE,
                     .end = HF_TIME_NONE,
                     .line = sql->line};
    return hf_scenario_step(out, &step);
}

static hf_status add_frame(const spec *s, hf_scenario *out, uint32_t run,
                           bool setup)
{
    hf_status st = HF_OK;

    for (size_t i = 0; setup && i < s->setups.n && st == HF_OK; i++)
        st = add_block(s, out, HF_STR("setup"), run, &s->setups.at[i]);
    for (size_t i = 0; i < s->sessions.n && st == HF_OK; i++) {
        const spec_session *x = &s->sessions.at[i];

        st = add_block(s, out, x->name, run, setup ? &x->setup : &x->teardown);
    }
    if (!setup && st == HF_OK)
        st = add_block(s, out, HF_STR("teardown"), run, &s->teardown);
    return st;
}

static hf_status add_runs(const spec *s, hf_scenario *out)
{
    hf_status st = HF_OK;
    uint32_t at = 0;

    for (size_t i = 0; i < s->ends.n && st == HF_OK; i++) {
        uint32_t run = s->ends.n > 1 ? (uint32_t)i + 1 : 0;

        st = add_frame(s, out, run, true);
        for (; at < s->ends.at[i] && st == HF_OK; at++) {
            const spec_step *step = &s->steps.at[s->order.at[at]];

            st = add_block(s, out, s->sessions.at[step->session].name, run,
                           &step->sql);
        }
        if (st == HF_OK)
            st = add_frame(s, out, run, false);
    }
    return st;
}

/* No permutation: one session after the other, without times. */
static hf_status add_sessions(const spec *s, hf_scenario *out)
{
    hf_status st = add_frame(s, out, 0, true);

    for (size_t i = 0; i < s->steps.n && st == HF_OK; i++)
        st = add_block(s, out, s->sessions.at[s->steps.at[i].session].name, 0,
                       &s->steps.at[i].sql);
    return st == HF_OK ? add_frame(s, out, 0, false) : st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    spec s = {.in = in,
              .at = in->text,
              .end = in->text + in->length,
              .counted = in->text,
              .line = 1,
              .err = err};
    hf_status st = read_spec(&s);
    hf_scenario out;

    hf_scenario_init(&out, b, err);
    if (st == HF_OK)
        st = s.ends.n > 0 ? add_runs(&s, &out) : add_sessions(&s, &out);
    if (st == HF_OK)
        st = hf_scenario_finish(&out);
    hf_scenario_release(&out);
    hf_vec_release(&s.setups);
    hf_vec_release(&s.sessions);
    hf_vec_release(&s.steps);
    hf_vec_release(&s.sorted);
    hf_vec_release(&s.order);
    hf_vec_release(&s.ends);
    return st;
}

/* Lines that begin with the words of the format. */
static int detect(const hf_input *in)
{
    size_t length = in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES;
    hf_lines lines;
    hf_str line;
    unsigned setup = 0, session = 0, step = 0;

    if (in->is_directory)
        return 0;
    lines = hf_lines_of(in->text, length);
    while (hf_lines_next(&lines, &line)) {
        setup += hf_str_starts(line, HF_STR("setup"));
        session += hf_str_starts(line, HF_STR("session "));
        step += (hf_str_starts(line, HF_STR("step ")) ||
                 hf_str_starts(line, HF_STR("step\t"))) &&
                memchr(line.ptr, ':', line.len < 60 ? line.len : 60) == NULL;
    }
    return session > 0 && step > 0 ? 90 : session > 0 && setup > 0 ? 50 : 0;
}

const hf_format hf_format_pg_spec = {
    .name = "pg-isolation-spec",
    .summary = "PostgreSQL isolation test: sessions, steps, permutations",
    .extension = ".spec",
    .detect = detect,
    .import = import,
};

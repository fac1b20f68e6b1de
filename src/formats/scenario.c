/* scenario.c: cutting the steps of a scenario into transactions.
 *
 * Steps are grouped by session (a stable counting sort), each session is cut
 * at its begins and ends, and the transactions are built in the order of
 * their first steps.  Linear, but for sorting transactions.
 */
#include "formats/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/level.h"

/* A file can name one step many times; this is where it stops being a
 * scenario. */
#define MAX_STEPS ((size_t)1 << 22)
#define MAX_BYTES ((uint64_t)1 << 30)

typedef struct cut {
    size_t order;      /* place of its first step in the schedule */
    size_t first, end; /* in the sorted steps */
    hf_session_id session;
    uint8_t outcome, level;
} cut;

void hf_scenario_init(hf_scenario *s, hf_builder *b, hf_error *err)
{
    *s = (hf_scenario){.b = b, .err = err};
}

void hf_scenario_release(hf_scenario *s)
{
    hf_vec_release(&s->steps);
    hf_vec_release(&s->sessions);
    hf_vec_release(&s->names);
    hf_vec_release(&s->cells);
}

static hf_scenario_session *session_at(hf_scenario *s, hf_session_id id)
{
    while (s->sessions.n <= id)
        hf_vec_push(&s->sessions,
                    (hf_scenario_session){.level = HF_LEVEL_UNSET});
    return &s->sessions.at[id];
}

hf_session_id hf_scenario_session_of(hf_scenario *s, hf_str name, uint32_t run)
{
    char text[256];
    int n;

    if (run == 0)
        return hf_builder_session_text(s->b, name.ptr, name.len);
    n = snprintf(text, sizeof(text), "%u:%.*s", run,
                 (int)(name.len < 200 ? name.len : 200), name.ptr);
    return hf_builder_session_text(s->b, text, (size_t)n);
}

void hf_scenario_flags(hf_scenario *s, hf_session_id session, unsigned flags)
{
    session_at(s, session)->flags = flags;
}

void hf_scenario_level(hf_scenario *s, hf_session_id session, uint8_t level)
{
    session_at(s, session)->level = level;
}

hf_status hf_scenario_step(hf_scenario *s, const hf_step *step)
{
    s->bytes += step->text.len;
    if (s->steps.n >= MAX_STEPS || s->bytes > MAX_BYTES)
        return hf_fail_line(s->err, step->line,
                            "the scenario has more than %zu steps or %llu MiB "
                            "of statements",
                            MAX_STEPS, (unsigned long long)(MAX_BYTES >> 20));
    (void)session_at(s, step->session);
    hf_vec_push(&s->steps, *step);
    return HF_OK;
}

hf_status hf_scenario_next(hf_scenario *s, hf_session_id session, hf_str text,
                           uint64_t line)
{
    hf_step step = {.session = session,
                    .text = text,
                    .start = s->clock,
                    .end = s->clock + 1,
                    .line = line};

    s->clock += 2;
    return hf_scenario_step(s, &step);
}

/* ---- statements ---------------------------------------------------------- */

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static inline bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

/* The place after a quoted text that begins at i. */
static size_t after_quote(hf_str s, size_t i)
{
    char quote = s.ptr[i++];

    while (i < s.len && s.ptr[i] != quote)
        i++;
    return i < s.len ? i + 1 : i;
}

/* The place after $tag$ ... $tag$, or i + 1 if it is none. */
static size_t after_dollar(hf_str s, size_t i)
{
    size_t n = 1, at;

    while (i + n < s.len && is_word(s.ptr[i + n]))
        n++;
    if (i + n >= s.len || s.ptr[i + n] != '$')
        return i + 1;
    n++;
    for (at = i + n; at + n <= s.len; at++)
        if (s.ptr[at] == '$' && memcmp(s.ptr + at, s.ptr + i, n) == 0)
            return at + n;
    return i + 1;
}

/* The place after a comment that begins at i, or i if there is none. */
static size_t after_comment(hf_str s, size_t i)
{
    if (i + 1 >= s.len)
        return i;
    if (s.ptr[i] == '-' && s.ptr[i + 1] == '-') {
        while (i < s.len && s.ptr[i] != '\n')
            i++;
        return i;
    }
    if (s.ptr[i] == '/' && s.ptr[i + 1] == '*') {
        for (i += 2; i + 1 < s.len; i++)
            if (s.ptr[i] == '*' && s.ptr[i + 1] == '/')
                return i + 2;
        return s.len;
    }
    return i;
}

/* Without white space and comments before it. */
static hf_str skip_front(hf_str s)
{
    size_t i = 0;

    for (;;) {
        size_t next;

        while (i < s.len && is_space(s.ptr[i]))
            i++;
        next = after_comment(s, i);
        if (next == i)
            break;
        i = next;
    }
    return (hf_str){s.ptr + i, s.len - i};
}

static size_t statement_end(hf_str s)
{
    size_t i = 0;

    while (i < s.len && s.ptr[i] != ';') {
        size_t next = after_comment(s, i);

        if (next != i)
            i = next;
        else if (s.ptr[i] == '\'' || s.ptr[i] == '"' || s.ptr[i] == '`')
            i = after_quote(s, i);
        else if (s.ptr[i] == '$')
            i = after_dollar(s, i);
        else
            i++;
    }
    return i;
}

bool hf_sql_next(hf_str *rest, hf_str *ret_statement)
{
    for (;;) {
        size_t end, length;

        *rest = skip_front(*rest);
        if (rest->len == 0)
            return false;
        end = length = statement_end(*rest);
        while (length > 0 && is_space(rest->ptr[length - 1]))
            length--;
        *ret_statement = (hf_str){rest->ptr, length};
        end += end < rest->len; /* the semicolon */
        *rest = (hf_str){rest->ptr + end, rest->len - end};
        if (length > 0)
            return true;
    }
}

/* Takes the next word off *s; compares without case. */
static hf_str next_word(hf_str *s)
{
    hf_str word;
    size_t n = 0;

    *s = skip_front(*s);
    while (n < s->len && is_word(s->ptr[n]))
        n++;
    word = (hf_str){s->ptr, n};
    if (n == 0 && s->len > 0)
        n = 1;
    *s = (hf_str){s->ptr + n, s->len - n};
    return word;
}

static bool is(hf_str word, const char *text)
{
    return hf_str_same_name(word, hf_str_of(text));
}

uint8_t hf_sql_level(hf_str statement)
{
    hf_str s = statement, word, before = {NULL, 0};
    hf_level level;
    char name[64];

    while (s.len > 0) {
        word = next_word(&s);
        if (is(before, "isolation") && is(word, "level"))
            break;
        before = word;
    }
    word = next_word(&s);
    if (word.len == 0 || word.len > 20)
        return HF_LEVEL_UNSET;
    before = next_word(&s);
    if ((is(word, "read") || is(word, "repeatable")) && before.len < 20) {
        (void)snprintf(name, sizeof(name), "%.*s-%.*s", (int)word.len, word.ptr,
                       (int)before.len, before.ptr);
        word = hf_str_of(name);
    } else if (is(word, "snapshot")) {
        return HF_SNAPSHOT_ISOLATION;
    }
    return hf_level_find(word, &level, NULL) ? (uint8_t)level : HF_LEVEL_UNSET;
}

hf_sql_class hf_sql_classify(hf_str statement)
{
    hf_str s = statement, first = next_word(&s), second = next_word(&s);

    if (is(first, "begin") || (is(first, "start") && is(second, "transaction")))
        return HF_SQL_BEGIN;
    if (is(first, "commit") || is(first, "end"))
        return is(second, "prepared") ? HF_SQL_OTHER : HF_SQL_COMMIT;
    if (is(first, "rollback") || is(first, "abort")) {
        hf_str third = next_word(&s);

        if (is(second, "prepared"))
            return HF_SQL_OTHER;
        return is(second, "to") || is(third, "to") ? HF_SQL_ROLLBACK_TO
                                                   : HF_SQL_ROLLBACK;
    }
    if (is(first, "set") && hf_sql_level(statement) != HF_LEVEL_UNSET)
        return HF_SQL_SET_LEVEL;
    return HF_SQL_OTHER;
}

/* ---- cutting ------------------------------------------------------------- */

/* One statement; a step has at least one. */
typedef struct piece {
    hf_str text;
    uint32_t step;
    bool is_last; /* of its step: has the step's result */
    uint8_t class_;
} piece;

typedef HF_VEC(piece) piece_vec;
typedef HF_VEC(cut) cut_vec;

static void split_steps(const hf_scenario *s, piece_vec *pieces)
{
    for (size_t i = 0; i < s->steps.n; i++) {
        hf_str rest = s->steps.at[i].text, statement;
        size_t before = pieces->n;

        while (hf_sql_next(&rest, &statement))
            hf_vec_push(pieces,
                        (piece){.text = statement,
                                .step = (uint32_t)i,
                                .class_ = (uint8_t)hf_sql_classify(statement)});
        if (pieces->n > before)
            pieces->at[pieces->n - 1].is_last = true;
    }
}

/* Stable: the pieces of each session one after the other. */
static piece *sort_by_session(const hf_scenario *s, const piece_vec *pieces,
                              size_t *first)
{
    piece *sorted = HF_NEW_ARRAY(piece, pieces->n + 1);

    memset(first, 0, (s->sessions.n + 1) * sizeof(*first));
    for (size_t i = 0; i < pieces->n; i++)
        first[s->steps.at[pieces->at[i].step].session + 1]++;
    for (size_t i = 0; i < s->sessions.n; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < pieces->n; i++)
        sorted[first[s->steps.at[pieces->at[i].step].session]++] =
            pieces->at[i];
    memmove(first + 1, first, s->sessions.n * sizeof(*first));
    first[0] = 0;
    return sorted;
}

typedef struct cutter {
    const hf_scenario *s;
    const piece *pieces;
    cut_vec *cuts;
    hf_session_id session;
    uint8_t session_level;
    bool is_open, has_failed;
    cut now;
} cutter;

static void open_cut(cutter *c, size_t at)
{
    c->is_open = true;
    c->has_failed = false;
    c->now = (cut){.order = c->pieces[at].step,
                   .first = at,
                   .session = c->session,
                   .level = c->session_level};
}

static void close_cut(cutter *c, size_t end, hf_outcome outcome)
{
    c->now.end = end;
    c->now.outcome = (uint8_t)outcome;
    hf_vec_push(c->cuts, c->now);
    c->is_open = false;
}

static hf_outcome end_outcome(const cutter *c, const piece *p)
{
    const hf_step *step = &c->s->steps.at[p->step];

    if (p->class_ == HF_SQL_ROLLBACK)
        return HF_ABORTED;
    if ((step->failed && p->is_last) || (c->has_failed && c->s->error_aborts))
        return HF_ABORTED;
    if (c->has_failed || !step->is_shown)
        return HF_UNKNOWN_OUTCOME;
    return HF_COMMITTED;
}

static void take_piece(cutter *c, size_t at, unsigned flags)
{
    const piece *p = &c->pieces[at];
    const hf_step *step = &c->s->steps.at[p->step];
    bool was_open = c->is_open;

    if (p->class_ == HF_SQL_SET_LEVEL && !was_open)
        c->session_level = hf_sql_level(p->text);
    if (p->class_ == HF_SQL_BEGIN && was_open &&
        !(flags & HF_SESSION_IMPLICIT)) {
        /* an implicit commit, or a warning: the file does not say */
        close_cut(c, at, HF_UNKNOWN_OUTCOME);
        was_open = false;
    }
    if (!was_open)
        open_cut(c, at);
    if (p->class_ == HF_SQL_BEGIN || p->class_ == HF_SQL_SET_LEVEL) {
        uint8_t level = hf_sql_level(p->text);

        if (level != HF_LEVEL_UNSET)
            c->now.level = level;
    }
    if (p->class_ == HF_SQL_ROLLBACK_TO)
        c->has_failed = false;
    if (p->class_ == HF_SQL_COMMIT || p->class_ == HF_SQL_ROLLBACK)
        close_cut(c, at + 1, end_outcome(c, p));
    else if (p->class_ != HF_SQL_BEGIN && !was_open &&
             !(flags & HF_SESSION_IMPLICIT))
        close_cut(c, at + 1, end_outcome(c, p)); /* by itself */
    else if (step->failed && p->is_last)
        c->has_failed = true;
}

static void cut_session(const hf_scenario *s, const piece *pieces,
                        hf_session_id session, size_t first, size_t end,
                        cut_vec *cuts)
{
    const hf_scenario_session *info = &s->sessions.at[session];
    cutter c = {.s = s,
                .pieces = pieces,
                .cuts = cuts,
                .session = session,
                .session_level = info->level};

    if ((info->flags & HF_SESSION_OPEN) && first < end)
        open_cut(&c, first);
    for (size_t i = first; i < end; i++)
        take_piece(&c, i, info->flags);
    if (c.is_open)
        close_cut(&c, end,
                  c.has_failed && s->error_aborts ? HF_ABORTED
                                                  : HF_UNKNOWN_OUTCOME);
}

/* ---- building ------------------------------------------------------------ */

static void build_statement(const hf_scenario *s, hf_txn_id t, const piece *p)
{
    const hf_step *step = &s->steps.at[p->step];
    hf_sql_in in = {
        .text = {.type = HF_TEXT, .text = p->text.ptr, .length = p->text.len},
        .affected = UINT64_MAX};

    if (p->is_last && step->has_rows) {
        in.has_rows = true;
        in.n_columns = step->n_columns;
        in.n_rows = step->n_rows;
        if (s->names.n > 0)
            in.names = s->names.at + step->first_name;
        if (s->cells.n > 0)
            in.cells = s->cells.at + step->first_cell;
    }
    (void)hf_builder_sql(s->b, t, &in);
    if (step->start != HF_TIME_NONE)
        hf_builder_interval(s->b, step->start, step->end);
    if (p->is_last && step->failed)
        hf_builder_op_flags(s->b, HF_OP_FAILED);
}

static void build(const hf_scenario *s, const piece *pieces, const cut *x)
{
    const hf_step *first = &s->steps.at[pieces[x->first].step];
    const hf_step *last = &s->steps.at[pieces[x->end - 1].step];
    hf_txn_id t = hf_builder_txn(s->b, x->session);

    hf_builder_outcome(s->b, t, (hf_outcome)x->outcome);
    hf_builder_line(s->b, t, first->line);
    if (x->level != HF_LEVEL_UNSET)
        hf_builder_level(s->b, t, x->level);
    if (first->start != HF_TIME_NONE)
        hf_builder_times(s->b, t, first->start,
                         x->outcome == HF_UNKNOWN_OUTCOME ? HF_TIME_NONE
                                                          : last->end);
    for (size_t i = x->first; i < x->end; i++)
        build_statement(s, t, &pieces[i]);
}

static int by_order(const void *a, const void *b)
{
    const cut *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

hf_status hf_scenario_finish(hf_scenario *s)
{
    piece_vec pieces = {0};
    cut_vec cuts = {0};
    size_t *first = HF_NEW_ARRAY(size_t, s->sessions.n + 1);
    piece *sorted;

    split_steps(s, &pieces);
    sorted = sort_by_session(s, &pieces, first);
    for (size_t i = 0; i < s->sessions.n; i++)
        cut_session(s, sorted, (hf_session_id)i, first[i], first[i + 1], &cuts);
    if (cuts.n > 0)
        qsort(cuts.at, cuts.n, sizeof(*cuts.at), by_order);
    hf_builder_time_unit(s->b, HF_TIME_UNIT_EVENT);
    for (size_t i = 0; i < cuts.n && !hf_builder_failed(s->b); i++)
        build(s, sorted, &cuts.at[i]);
    hf_vec_release(&pieces);
    hf_vec_release(&cuts);
    hf_free(sorted);
    hf_free(first);
    return HF_OK;
}

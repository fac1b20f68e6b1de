/* pg_parse.c: one text through libpg_query, by its protobuf.
 *
 * A condition is parsed as the WHERE of a SELECT without anything else; what
 * it adds beyond an expression (FROM, ORDER BY, a second statement) is seen
 * and refused.
 */
#include <pg_query.h>
#include <sys/mman.h>

#include "sql/pg_convert.h"

#include "base/error.h"

#define CONDITION_PREFIX "SELECT WHERE "

static const hf_sql_statement *refuse(hf_error *err, const char *what)
{
    (void)hf_fail(err, HF_ERR_INPUT, "%s", what);
    return NULL;
}

/* Nothing but an expression? */
static bool is_condition(const PgQuery__Node *node)
{
    const PgQuery__SelectStmt *s;

    if (!node || node->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return false;
    s = node->select_stmt;
    return s->where_clause && s->op <= PG_QUERY__SET_OPERATION__SETOP_NONE &&
           s->n_target_list == 0 && s->n_from_clause == 0 &&
           s->n_group_clause == 0 && !s->having_clause &&
           s->n_window_clause == 0 && s->n_values_lists == 0 &&
           s->n_sort_clause == 0 && !s->limit_offset && !s->limit_count &&
           s->n_locking_clause == 0 && !s->with_clause && !s->into_clause &&
           s->n_distinct_clause == 0;
}

static const hf_sql_statement *convert(hf_arena *arena,
                                       const PgQueryProtobuf *packed,
                                       const hf_sql_lexed *lexed,
                                       bool condition, hf_error *err)
{
    hf_pg_convert c = {.arena = arena, .err = err, .lexed = lexed};
    PgQuery__ParseResult *tree = pg_query__parse_result__unpack(
        NULL, packed->len, (const uint8_t *)packed->data);
    const hf_sql_statement *made = NULL;

    if (!tree)
        return refuse(err, "the parser's answer could not be read");
    if (tree->n_stmts != 1)
        made = refuse(err, tree->n_stmts == 0 ? "the text is empty"
                                              : "more than one statement");
    else if (condition && !is_condition(tree->stmts[0]->stmt))
        made = refuse(err, "this is more than a condition");
    else
        made = hf_pg_statement(&c, tree->stmts[0]->stmt);
    pg_query__parse_result__free_unpacked(tree, NULL);
    return made;
}

/* "syntax error at or near ..." of the parser, as our error. */
static void parse_error(const PgQueryError *e, hf_error *err)
{
    char text[300];

    (void)hf_fail(err, HF_ERR_INPUT, "%s",
                  hf_quote(text, sizeof(text), e->message, strlen(e->message)));
}

/* The parser ends the process if it gets no memory, so it is only called if
 * there is plenty: what it takes is a few hundred bytes for each of text. */
static bool has_room(size_t length)
{
    size_t size = length * 1000 + (8u << 20);
    void *probe = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       /* cppcheck-suppress invalidFunctionArg ; -1: no file */
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (probe == MAP_FAILED)
        return false;
    (void)munmap(probe, size);
    return true;
}

const hf_sql_statement *hf_sql_parse_text(hf_arena *arena, hf_str text,
                                          bool condition, hf_error *err)
{
    const hf_sql_statement *made = NULL;
    hf_sql_statement *changed;
    PgQueryProtobufParseResult r;
    hf_sql_lexed lexed;

    if (!hf_sql_lex(arena, text, condition ? CONDITION_PREFIX : "", &lexed,
                    err))
        return NULL;
    if (!has_room(lexed.text.len)) {
        (void)hf_fail(err, HF_ERR_LIMIT, "there is no memory to parse it");
        return NULL;
    }
    r = pg_query_parse_protobuf(lexed.text.ptr);
    if (r.error)
        parse_error(r.error, err);
    else
        made = convert(arena, &r.parse_tree, &lexed, condition, err);
    pg_query_free_protobuf_parse_result(r);
    if (made && lexed.param_names) {
        changed = hf_arena_get(arena, sizeof(*changed));
        *changed = *made;
        changed->param_names = lexed.param_names;
        made = changed;
    }
    return made;
}

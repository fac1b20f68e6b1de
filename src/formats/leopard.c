/* leopard.c: Leopard's scenarios, YAML with a list of operations.
 *
 *     createTableList:
 *       - "create table t(a int primary key, b int);"
 *     loadList: []
 *     operationList:
 *       - trxId: "1"
 *         sql: "update t set b=314 where a=1;"
 *
 * Operations stand in the order they were sent.  Each trxId is a session that
 * is always inside a transaction; commit and rollback end one.  The lists
 * before are the session "setup".  The history is a schedule to replay; what
 * came of it is unknown (see scenario.h).
 *
 * Of YAML only what these files use is understood: keys at the beginning of a
 * line, lists of scalars, a list of maps of scalars, plain and quoted scalars
 * of one line, comments.  Keys that are not known are passed over with what
 * belongs to them.  There is no exporter.  Linear.
 */
#include "base/vec.h"
#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/scenario.h"

typedef enum section {
    SECTION_OTHER = 0,
    SECTION_SETUP,
    SECTION_OPERATIONS
} section;

typedef struct leopard {
    hf_scenario s;
    hf_lines lines;
    hf_str line;
    hf_error *err;
    hf_arena texts; /* scalars with escapes */
    section section;
    bool any_operation;
    /* the operation being read */
    bool has_id, has_sql;
    hf_str id, sql;
    uint64_t sql_line;
} leopard;

static hf_status expected(const leopard *l, const char *what)
{
    char quoted[48];
    hf_str line = hf_str_trim(l->line);

    return hf_fail_line(l->err, l->lines.number, "expected %s, found \"%s\"",
                        what,
                        hf_quote(quoted, sizeof(quoted), line.ptr,
                                 line.len < 24 ? line.len : 24));
}

/* ---- scalars ------------------------------------------------------------- */

/* "a \"b\"" without its quotes; in YAML's single quotes '' is a quote. */
static hf_status read_quoted(leopard *l, hf_str s, hf_str *ret_text)
{
    char quote = s.ptr[0], *out = hf_arena_text(&l->texts, s.ptr, s.len);
    size_t i = 1, n = 0;

    for (; i < s.len; i++) {
        char c = s.ptr[i];

        if (quote == '"' && c == '\\' && i + 1 < s.len) {
            c = s.ptr[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        } else if (c == quote) {
            if (quote != '\'' || i + 1 >= s.len || s.ptr[i + 1] != '\'')
                break;
            i++;
        }
        out[n++] = c;
    }
    if (i >= s.len)
        return expected(l, "a quoted text that ends on its line");
    for (i++; i < s.len && s.ptr[i] != '#'; i++)
        if (s.ptr[i] != ' ' && s.ptr[i] != '\t')
            return expected(l, "nothing after a quoted text");
    *ret_text = (hf_str){out, n};
    return HF_OK;
}

static hf_status read_scalar(leopard *l, hf_str s, hf_str *ret_text)
{
    s = hf_str_trim(s);
    if (s.len > 0 && (s.ptr[0] == '"' || s.ptr[0] == '\''))
        return read_quoted(l, s, ret_text);
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '#' && (i == 0 || s.ptr[i - 1] == ' ')) {
            s.len = i;
            break;
        }
    *ret_text = hf_str_trim(s);
    return HF_OK;
}

/* ---- sections ------------------------------------------------------------ */

static hf_status end_operation(leopard *l)
{
    hf_session_id id;

    if (!l->has_id && !l->has_sql)
        return HF_OK;
    if (!l->has_id || !l->has_sql)
        return hf_fail_line(l->err, l->lines.number,
                            "expected an operation with trxId and sql before "
                            "this line");
    id = hf_scenario_session_of(&l->s, l->id, 0);
    hf_scenario_flags(&l->s, id, HF_SESSION_IMPLICIT);
    l->has_id = l->has_sql = false;
    l->any_operation = true;
    return hf_scenario_next(&l->s, id, l->sql, l->sql_line);
}

/* "key: value"; false if there is no colon. */
static bool split_pair(hf_str s, hf_str *ret_key, hf_str *ret_value)
{
    const char *colon = s.len > 0 ? memchr(s.ptr, ':', s.len) : NULL;

    if (!colon)
        return false;
    *ret_key = hf_str_trim((hf_str){s.ptr, (size_t)(colon - s.ptr)});
    *ret_value = (hf_str){colon + 1, (size_t)(s.ptr + s.len - colon - 1)};
    return true;
}

static hf_status read_key(leopard *l)
{
    hf_str key, value, text;
    hf_status st = end_operation(l);

    if (st != HF_OK)
        return st;
    if (!split_pair(l->line, &key, &value))
        return expected(l, "a key and a colon");
    l->section = SECTION_OTHER;
    if (hf_str_eq(key, HF_STR("operationList")))
        l->section = SECTION_OPERATIONS;
    else if (hf_str_eq(key, HF_STR("createTableList")) ||
             hf_str_eq(key, HF_STR("createDatabaseList")) ||
             hf_str_eq(key, HF_STR("loadList")))
        l->section = SECTION_SETUP;
    if (l->section == SECTION_OTHER)
        return HF_OK;
    st = read_scalar(l, value, &text);
    if (st == HF_OK && text.len > 0 && !hf_str_eq(text, HF_STR("[]")))
        return expected(l, "a list on the lines that follow");
    return st;
}

static hf_status read_setup(leopard *l, hf_str item)
{
    hf_str text;
    hf_status st = read_scalar(l, item, &text);

    if (st != HF_OK)
        return st;
    return hf_scenario_next(&l->s,
                            hf_scenario_session_of(&l->s, HF_STR("setup"), 0),
                            text, l->lines.number);
}

static hf_status read_field(leopard *l, hf_str pair)
{
    hf_str key, value, text;
    hf_status st;

    if (!split_pair(pair, &key, &value))
        return expected(l, "trxId or sql, and a colon");
    st = read_scalar(l, value, &text);
    if (st != HF_OK)
        return st;
    if (hf_str_eq(key, HF_STR("trxId"))) {
        if (l->has_id)
            return expected(l, "one trxId in an operation");
        if (text.len == 0)
            return expected(l, "a trxId that is not empty");
        l->has_id = true;
        l->id = text;
    } else if (hf_str_eq(key, HF_STR("sql"))) {
        if (l->has_sql)
            return expected(l, "one sql in an operation");
        l->has_sql = true;
        l->sql = text;
        l->sql_line = l->lines.number;
    }
    return HF_OK;
}

static hf_status read_line(leopard *l)
{
    hf_str line = hf_str_trim(l->line);
    bool is_item = line.len > 0 && line.ptr[0] == '-' &&
                   (line.len == 1 || line.ptr[1] == ' ');
    hf_status st = HF_OK;

    if (line.len == 0 || line.ptr[0] == '#' || hf_str_eq(line, HF_STR("---")))
        return HF_OK;
    if (!is_item && line.ptr == l->line.ptr)
        return read_key(l);
    if (l->section == SECTION_OTHER)
        return HF_OK;
    if (is_item)
        line = hf_str_trim((hf_str){line.ptr + 1, line.len - 1});
    if (l->section == SECTION_SETUP)
        return is_item ? read_setup(l, line) : expected(l, "an item of a list");
    if (is_item)
        st = end_operation(l);
    return st == HF_OK && line.len > 0 ? read_field(l, line) : st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    leopard l = {.err = err};
    hf_status st = HF_OK;

    hf_scenario_init(&l.s, b, err);
    hf_arena_init(&l.texts);
    l.lines = hf_lines_of(in->text, in->length);
    while (st == HF_OK && hf_lines_next(&l.lines, &l.line))
        st = read_line(&l);
    if (st == HF_OK)
        st = end_operation(&l);
    if (st == HF_OK && !l.any_operation)
        st = hf_fail(err, HF_ERR_INPUT,
                     "expected an operationList with at least one operation, "
                     "found none");
    if (st == HF_OK)
        st = hf_scenario_finish(&l.s);
    hf_scenario_release(&l.s);
    hf_arena_release(&l.texts);
    return st;
}

static int detect(const hf_input *in)
{
    if (in->is_directory ||
        !hf_has_text(in->text, in->length, "operationList:"))
        return 0;
    return hf_has_text(in->text, in->length, "trxId:") ? 90 : 60;
}

const hf_format hf_format_leopard = {
    .name = "leopard-yml",
    .summary = "Leopard: SQL operations in the order they were sent",
    .extension = ".yml",
    .detect = detect,
    .import = import,
};

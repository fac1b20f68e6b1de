/* dbcop_hist.c: dbcop-hist, the text form of new dbcop.
 *
 *     // a comment
 *     [x:=1 y==2 z==?]     a transaction: write, read, read of the initial
 *     [x==1]!              not committed
 *     ---                  dashes on a line of their own end a session
 *     [y:=2]
 *
 * Variables written like numbers become numbers.  Sessions without
 * transactions are not there.  Linear.
 */
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

typedef struct hist {
    hf_builder *b;
    hf_session_id session;
    bool in_session;
    int64_t n_sessions;
    hf_txn_id txn;
    bool in_txn;
    hf_error *err;
    uint64_t line;
} hist;

static bool is_name_char(char c)
{
    return (unsigned char)c > ' ' && c != '[' && c != ']' && c != ':' &&
           c != '=' && c != '!' && c != '?' && c != ',' && c != '/';
}

/* A decimal number as this tool would write it. */
static bool is_number(hf_str s, int64_t *ret_number)
{
    return s.len > 0 && s.ptr[0] >= '0' && s.ptr[0] <= '9' &&
           (s.ptr[0] != '0' || s.len == 1) && hf_str_to_int(s, ret_number);
}

/* "x:=1", "x==1", "x==?" at *s; false if it is none of them. */
static bool take_event(hist *p, hf_str *s)
{
    const char *at = s->ptr, *end = s->ptr + s->len;
    hf_str name = {at, 0};
    bool write, initial;
    uint64_t value = 0;
    int64_t number;
    hf_key_id key;

    while (at < end && is_name_char(*at))
        at++;
    name.len = (size_t)(at - name.ptr);
    if (name.len == 0 || end - at < 3 || (*at != ':' && *at != '=') ||
        at[1] != '=')
        return false;
    write = *at == ':';
    at += 2;
    initial = *at == '?' && !write;
    if (initial)
        at++;
    else if (!hf_scan_uint_until(&at, end, &value))
        return false;
    if (at < end && *at != ' ' && *at != '\t' && *at != ']')
        return false;
    *s = (hf_str){at, (size_t)(end - at)};
    if (!p)
        return true;
    key = is_number(name, &number)
              ? hf_builder_key_int(p->b, number)
              : hf_builder_key_text(p->b, name.ptr, name.len);
    (void)hf_builder_op(p->b, p->txn, write ? HF_OP_WRITE : HF_OP_READ, key,
                        initial ? hf_builder_nil(p->b, key)
                                : hf_builder_int(p->b, key, (int64_t)value));
    return true;
}

static hf_str skip_space(hf_str s)
{
    while (s.len > 0 && (*s.ptr == ' ' || *s.ptr == '\t')) {
        s.ptr++;
        s.len--;
    }
    return s;
}

static hf_str without_comment(hf_str line)
{
    for (size_t i = 0; i + 1 < line.len; i++)
        if (line.ptr[i] == '/' && line.ptr[i + 1] == '/')
            line.len = i;
    return hf_str_trim(line);
}

static hf_status expected(const hist *p, const char *what, hf_str found)
{
    char quoted[48];

    return hf_fail_line(p->err, p->line, "expected %s, found \"%s\"", what,
                        hf_quote(quoted, sizeof(quoted), found.ptr, found.len));
}

/* "[", a transaction begins. */
static void begin_txn(hist *p)
{
    if (!p->in_session)
        p->session = hf_builder_session_number(p->b, p->n_sessions++);
    p->in_session = p->in_txn = true;
    p->txn = hf_builder_txn(p->b, p->session);
    hf_builder_line(p->b, p->txn, p->line);
}

static hf_status parse_line(hist *p, hf_str s)
{
    for (s = skip_space(s); s.len > 0; s = skip_space(s)) {
        char c = *s.ptr;

        if (!p->in_txn && c != '[')
            return expected(p, "\"[\" or a line of dashes", s);
        if (p->in_txn && c != ']') {
            if (!take_event(p, &s))
                return expected(p,
                                "x:=1, x==1, x==? or \"]\" with numbers "
                                "below 2^63",
                                s);
            continue;
        }
        s.ptr++;
        s.len--;
        if (c == '[') {
            begin_txn(p);
            continue;
        }
        p->in_txn = false;
        if (s.len > 0 && *s.ptr == '!') {
            hf_builder_outcome(p->b, p->txn, HF_ABORTED);
            s.ptr++;
            s.len--;
        }
    }
    return HF_OK;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    hist p = {.b = b, .err = err};
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_status st = HF_OK;
    hf_str line;

    while (st == HF_OK && hf_lines_next(&lines, &line) &&
           !hf_builder_failed(b)) {
        line = without_comment(line);
        p.line = lines.number;
        if (!p.in_txn && line.len > 0 && hf_is_rule(line, '-', 2))
            p.in_session = false;
        else
            st = parse_line(&p, line);
    }
    if (st == HF_OK && p.in_txn && !hf_builder_failed(b))
        st = hf_fail_line(err, p.line,
                          "expected \"]\", found the end of the input");
    return st;
}

/* Passes over transactions without operations; true before an operation. */
static bool find_event(hf_str *line, bool *in_txn, unsigned *n_empty)
{
    for (*line = skip_space(*line); line->len > 0; *line = skip_space(*line)) {
        char c = *line->ptr;

        if (*in_txn && c != ']')
            return true;
        if (!*in_txn && c != '[')
            return false;
        line->ptr++;
        line->len--;
        *in_txn = c == '[';
        if (*in_txn)
            continue;
        ++*n_empty;
        if (line->len > 0 && *line->ptr == '!') {
            line->ptr++;
            line->len--;
            ++*n_empty; /* nobody else writes "[]!" */
        }
    }
    return false;
}

/* The first operation stands in a transaction, and nothing but transactions
 * without operations before it.  If there is none, "[]" alone is left to
 * those who write arrays that way. */
static int detect(const hf_input *in)
{
    hf_lines lines = hf_lines_of(
        in->text, in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES);
    bool in_txn = false;
    unsigned n_empty = 0;
    hf_str line;

    while (hf_lines_next(&lines, &line)) {
        line = without_comment(line);
        if (line.len == 0 || (!in_txn && hf_is_rule(line, '-', 2)))
            continue;
        if (find_event(&line, &in_txn, &n_empty))
            return take_event(NULL, &line) ? 95 : 0;
        if (line.len > 0)
            return 0;
    }
    return n_empty > 1 && !in_txn ? 60 : 0;
}

/* ---- export -------------------------------------------------------------- */

static hf_status check_keys(const hf_history *h, hf_error *err)
{
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_scalar key = hf_key_scalar(h, k);
        bool good = key.type == HF_INT || key.length > 0;
        int64_t number;

        if (key.type == HF_INT)
            continue;
        for (size_t i = 0; i < key.length; i++)
            good = good && is_name_char(key.text[i]);
        if (!good || is_number((hf_str){key.text, key.length}, &number))
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "a key that is empty, looks like a number or holds "
                           "spaces, brackets or any of \":=!?,/\" cannot be "
                           "expressed in dbcop-hist");
    }
    return HF_OK;
}

static void write_txn(const hf_history *h, hf_txn_id t, hf_out *out)
{
    const char *space = "";

    hf_out_char(out, '[');
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_value_id v = h->op_value[op];
        hf_scalar key;

        if (hf_export_skips(kind))
            continue;
        key = hf_key_scalar(h, h->op_key[op]);
        hf_out_text(out, space);
        if (key.type == HF_INT)
            hf_out_int(out, key.number);
        else
            hf_out_bytes(out, key.text, key.length);
        hf_out_text(out, kind == HF_OP_WRITE ? ":=" : "==");
        if (hf_export_initial(h, v))
            hf_out_char(out, '?');
        else
            hf_out_int(out, h->value_data[v]);
        space = " ";
    }
    hf_out_text(out, h->txn_outcome[t] == HF_COMMITTED ? "]\n" : "]!\n");
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_status st = hf_export_check(h, "dbcop-hist",
                                   HF_SAYS_ABORTED | HF_SAYS_EMPTY |
                                       HF_SAYS_INITIAL | HF_SAYS_TEXT_KEYS,
                                   err);
    const char *rule = "";

    if (st == HF_OK)
        st = check_keys(h, err);
    if (st != HF_OK)
        return st;
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        if (h->session_first[s] == h->session_first[s + 1])
            continue;
        hf_out_text(out, rule);
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++)
            write_txn(h, h->session_txns[i], out);
        rule = "---\n";
    }
    return HF_OK;
}

const hf_format hf_format_dbcop_hist = {
    .name = "dbcop-hist",
    .summary = "[x:=1 y==2] a transaction, sessions between dashes: new dbcop",
    .extension = ".hist",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

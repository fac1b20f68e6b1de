/* awdit.c: awdit-test, the text form of AWDIT's own tests.
 *
 *     w 0 1          operations, one a line: r KEY VALUE or w KEY VALUE
 *     r 1 2
 *     -----          dashes end a transaction
 *     r 0 1
 *     =====          equal signs end a session (and its transaction)
 *
 * Transactions and sessions without operations are not there.  A value that
 * nobody writes was never there: the format has no initial version, a history
 * that has one writes it in a session of its own.
 *
 * Linear.
 */
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

typedef struct awdit {
    hf_builder *b;
    hf_session_id session;
    hf_txn_id txn;
    bool in_session, in_txn;
    int64_t n_sessions;
} awdit;

/* "r 5 7"; the line has no spaces at its ends. */
static bool parse_op(hf_str line, bool *ret_write, uint64_t *ret_key,
                     uint64_t *ret_value)
{
    const char *at = line.ptr + 1, *end = line.ptr + line.len;
    uint64_t *numbers[2] = {ret_key, ret_value};

    if (line.len < 5 || (line.ptr[0] != 'r' && line.ptr[0] != 'w'))
        return false;
    for (int i = 0; i < 2; i++) {
        const char *before = at;

        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == before || !hf_scan_uint_until(&at, end, numbers[i]))
            return false;
    }
    *ret_write = line.ptr[0] == 'w';
    return at == end;
}

static void add_op(awdit *a, uint64_t line, bool write, uint64_t number,
                   uint64_t value)
{
    hf_key_id key = hf_builder_key_int(a->b, (int64_t)number);

    if (!a->in_session)
        a->session = hf_builder_session_number(a->b, a->n_sessions++);
    a->in_session = true;
    if (!a->in_txn) {
        a->txn = hf_builder_txn(a->b, a->session);
        hf_builder_line(a->b, a->txn, line);
    }
    a->in_txn = true;
    (void)hf_builder_op(a->b, a->txn, write ? HF_OP_WRITE : HF_OP_READ, key,
                        hf_builder_int(a->b, key, (int64_t)value));
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    awdit a = {.b = b};
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_str line;

    while (hf_lines_next(&lines, &line) && !hf_builder_failed(b)) {
        uint64_t key, value;
        char quoted[64];
        bool write;

        line = hf_str_trim(line);
        if (line.len == 0)
            continue;
        if (hf_is_rule(line, '-', 1)) {
            a.in_txn = false;
        } else if (hf_is_rule(line, '=', 1)) {
            a.in_txn = a.in_session = false;
        } else if (parse_op(line, &write, &key, &value)) {
            add_op(&a, lines.number, write, key, value);
        } else {
            return hf_fail_line(
                err, lines.number,
                "expected \"r KEY VALUE\" or \"w KEY VALUE\" with numbers "
                "below 2^63, dashes or equal signs, found \"%s\"",
                hf_quote(quoted, sizeof(quoted), line.ptr, line.len));
        }
    }
    return HF_OK;
}

static int detect(const hf_input *in)
{
    hf_lines lines =
        hf_lines_of(in->text, in->length < 4096 ? in->length : 4096);
    hf_str line;
    uint64_t key, value;
    bool write;

    while (hf_lines_next(&lines, &line)) {
        line = hf_str_trim(line);
        if (line.len == 0 || hf_is_rule(line, '-', 1) ||
            hf_is_rule(line, '=', 1))
            continue;
        return parse_op(line, &write, &key, &value) ? 95 : 0;
    }
    return 0;
}

static void write_txn(const hf_history *h, hf_txn_id t, hf_out *out)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (hf_export_skips(kind))
            continue;
        hf_out_text(out, kind == HF_OP_READ ? "r " : "w ");
        hf_out_int(out, h->key_data[h->op_key[op]]);
        hf_out_char(out, ' ');
        hf_out_int(out, h->value_data[h->op_value[op]]);
        hf_out_char(out, '\n');
    }
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_status st = hf_export_check(h, "awdit-test", 0, err);
    const char *rule = "";

    if (st != HF_OK)
        return st;
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1];
             i++) {
            hf_out_text(out, rule);
            write_txn(h, h->session_txns[i], out);
            rule = "-----\n";
        }
        if (h->session_first[s] < h->session_first[s + 1])
            rule = "=====\n";
    }
    return HF_OK;
}

const hf_format hf_format_awdit = {
    .name = "awdit-test",
    .summary = "lines r KEY VALUE and w KEY VALUE between rules: AWDIT's tests",
    .extension = ".txt",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

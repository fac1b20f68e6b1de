/* causal_register.c: histories of causal registers, in EDN.
 *
 *     {:type :ok, :f :write, :value [x 1], :process 0, :time 0,
 *      :position 0, :link nil, :index 0}
 *
 * Each operation is a transaction of its own, its process the session.  A
 * read of nil or 0 is a read of the initial version, unless the file writes
 * 0.  Only ok lines count, as in the checkers this form comes from:
 * invocations, failures and operations without an answer are skipped and
 * counted, so a write without an answer that was read looks as if nobody had
 * made it.  Times are those of completions only and are not taken.
 *
 * The file is read twice: first for writes of 0.  Linear.
 */
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/jepsen.h"

typedef struct causal {
    const hf_input *in;
    hf_builder *b;
    bool zero_written;
} causal;

/* [key value] of a read or write; false: the reader failed. */
static bool read_operation(hf_jread *r, hf_scalar *ret_key,
                           hf_scalar *ret_value)
{
    hf_jkind kind;

    if (!hf_jread_open(r, HF_J_SEQ) || !hf_jread_next(r))
        return hf_jread_expected(r, "a key and a value");
    kind = hf_jread_peek(r);
    if (kind != HF_J_INT && kind != HF_J_TEXT)
        return hf_jread_expected(r, "a key: an integer or a name");
    if (!hf_jread_scalar(r, ret_key))
        return false;
    if (!hf_jread_next(r))
        return hf_jread_expected(r, "a value before this");
    if (!hf_jread_scalar(r, ret_value))
        return false;
    return hf_jread_next(r) ? hf_jread_expected(r, "the end of a pair")
                            : !hf_jread_failed(r);
}

static bool counts(const hf_jepsen_event *e)
{
    return e->is_client && e->type == HF_JEPSEN_OK;
}

static bool writes_zero(const hf_input *in)
{
    hf_scalar key, value = {.type = HF_NIL};
    hf_jepsen_file file;
    hf_jepsen_event e;
    bool found = false;

    hf_jepsen_open(&file, false, (hf_str){in->text, in->length});
    while (!found && hf_jepsen_next(&file, &e)) {
        hf_jread r;

        if (!counts(&e) || e.f != HF_F_WRITE || !e.value.ptr)
            continue;
        hf_jread_init(&r, false, in->text, e.value);
        found = read_operation(&r, &key, &value) && value.type == HF_INT &&
                value.number == 0;
        hf_jread_release(&r);
    }
    hf_jepsen_close(&file);
    return found;
}

static void add(const causal *c, const hf_jepsen_event *e, hf_scalar key,
                hf_scalar value, uint64_t line)
{
    hf_session_id s = e->has_process
                          ? hf_builder_session_number(c->b, e->process)
                          : hf_builder_session_fresh(c->b);
    hf_txn_id t = hf_builder_txn(c->b, s);
    hf_key_id k = key.type == HF_INT
                      ? hf_builder_key_int(c->b, key.number)
                      : hf_builder_key_text(c->b, key.text, key.length);

    if (e->f == HF_F_READ && !c->zero_written && value.type == HF_INT &&
        value.number == 0)
        value.type = HF_NIL;
    hf_builder_line(c->b, t, line);
    (void)hf_builder_op(c->b, t, e->f == HF_F_READ ? HF_OP_READ : HF_OP_WRITE,
                        k, hf_builder_value(c->b, k, value));
}

static bool take(const causal *c, const hf_jepsen_event *e, uint64_t line,
                 hf_error *err)
{
    hf_scalar key, value;
    hf_jread r;
    bool ok;

    if (!counts(e)) {
        hf_builder_skip(c->b, 1);
        return true;
    }
    if ((e->f != HF_F_READ && e->f != HF_F_WRITE) || !e->value.ptr) {
        (void)hf_fail_line(err, line,
                           "expected a read or write with a value [key "
                           "value], found another event");
        return false;
    }
    hf_jread_init(&r, false, c->in->text, e->value);
    ok = read_operation(&r, &key, &value);
    if (ok)
        add(c, e, key, value, line);
    else if (err)
        *err = *hf_jread_error(&r);
    hf_jread_release(&r);
    return ok;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    causal c = {.in = in, .b = b, .zero_written = writes_zero(in)};
    const char *line_at = in->text;
    uint64_t line = 1, taken = 0;
    hf_jepsen_file file;
    hf_jepsen_event e;
    bool ok = true;

    hf_jepsen_open(&file, false, (hf_str){in->text, in->length});
    while (ok && !hf_builder_failed(b) && hf_jepsen_next(&file, &e)) {
        line += hf_line_of(line_at, e.at) - 1;
        line_at = e.at;
        taken++;
        ok = take(&c, &e, line, err);
    }
    if (ok && hf_jread_failed(&file.r)) {
        ok = false;
        if (err)
            *err = *hf_jread_error(&file.r);
    }
    hf_jepsen_close(&file);
    if (!ok)
        return HF_ERR_INPUT;
    if (taken == 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "expected the events of a history, found none");
    return HF_OK;
}

static int detect(const hf_input *in)
{
    hf_jepsen_look look = hf_jepsen_look_at(in, false, false);

    return look.pairs > 0 && look.other == 0 && look.elle == 0 &&
                   look.position > 0
               ? 97
               : 0;
}

/* ---- export -------------------------------------------------------------- */

static hf_status check_single(const hf_history *h, hf_error *err)
{
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        unsigned n = 0;

        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            n += !hf_export_skips(hf_op_kind_of(h, op));
        if (n != 1)
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "T%lld has %u operations, causal-register-edn has "
                           "transactions of one operation only",
                           (long long)hf_txn_label(h, t), n);
    }
    return HF_OK;
}

/* Names of keys must be symbols. */
static hf_status check_names(const hf_history *h, hf_error *err)
{
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_scalar s = hf_key_scalar(h, k);
        char quoted[64];
        bool ok = s.type == HF_INT || s.length > 0;

        for (size_t i = 0; s.type != HF_INT && i < s.length; i++) {
            char c = s.text[i];
            bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

            if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '_')))
                ok = false;
        }
        if (ok && s.type != HF_INT)
            ok = !hf_scalar_is(s, "nil") && !hf_scalar_is(s, "true") &&
                 !hf_scalar_is(s, "false");
        if (!ok)
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "the key \"%s\" is no symbol, which "
                           "causal-register-edn needs",
                           hf_quote(quoted, sizeof(quoted), s.text, s.length));
    }
    return HF_OK;
}

static void put_txn(const hf_history *h, const hf_export_numbers *numbers,
                    hf_txn_id t, hf_out *out)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_value_id v = h->op_value[op];
        hf_scalar key;

        if (hf_export_skips(kind))
            continue;
        key = hf_key_scalar(h, h->op_key[op]);
        hf_out_format(out, "{:type :ok, :f :%s, :value [",
                      kind == HF_OP_READ ? "read" : "write");
        if (key.type == HF_INT)
            hf_out_int(out, key.number);
        else
            hf_out_bytes(out, key.text, key.length);
        hf_out_char(out, ' ');
        if (kind == HF_OP_READ && hf_export_initial(h, v))
            hf_out_text(out, "nil");
        else
            hf_out_int(out, h->value_data[v]);
        hf_out_format(
            out,
            "], :process %llu, :time %u, :position %u, :link nil, "
            ":index %u}\n",
            (unsigned long long)hf_export_session(numbers, h->txn_session[t]),
            t, t, t);
    }
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_export_numbers numbers;
    hf_status st = hf_export_check(h, "causal-register-edn",
                                   HF_SAYS_INITIAL | HF_SAYS_TEXT_KEYS |
                                       HF_SAYS_NEGATIVE | HF_ZERO_IS_INITIAL,
                                   err);

    if (st == HF_OK)
        st = check_single(h, err);
    if (st == HF_OK)
        st = check_names(h, err);
    if (st != HF_OK)
        return st;
    numbers = hf_export_number(h);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        put_txn(h, &numbers, t, out);
    return HF_OK;
}

const hf_format hf_format_causal_register = {
    .name = "causal-register-edn",
    .summary = "single reads and writes of causal registers, EDN",
    .extension = ".edn",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

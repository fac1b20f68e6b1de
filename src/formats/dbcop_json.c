/* dbcop_json.c: dbcop-json, the two JSON forms of dbcop's histories.
 *
 * new:  {"params":..,"info":..,"start":..,"end":..,"data":[SESSION, ...]}
 *       with events {"Write":{"variable":0,"version":1}} and
 *       {"Read":{"variable":0,"version":null}}, null for the initial version,
 *       and "committed":true
 * old:  [SESSION, ...] with events {"write":true,"variable":0,"value":1,
 *       "success":true} and "success":true
 *
 * A SESSION is an array of transactions {"events":[...], ...}.  In the old
 * form an event without success did not happen, and reading 0 is reading the
 * initial version unless 0 is written.  Export writes the new form.  Linear.
 */
#include "base/json_in.h"
#include "base/json_out.h"
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/zeros.h"

typedef struct reader {
    hf_json_in j;
    hf_builder *b;
    hf_zeros zeros;
    int64_t n_sessions;
} reader;

typedef struct event {
    bool write, has_kind, has_value, is_null, success;
    bool numbered; /* old form: 0 may be initial */
    hf_key_id key; /* HF_NONE: not said yet */
    int64_t value;
} event;

static void take_variable(reader *r, event *e)
{
    hf_scalar key;

    if (!hf_json_in_scalar(&r->j, &key))
        return;
    if (key.type != HF_INT && key.type != HF_TEXT)
        (void)hf_json_in_fail(&r->j, "expected a variable that is a number or "
                                     "a string");
    else
        e->key = hf_builder_key_row(r->b, HF_NONE, key);
}

static void take_value(reader *r, event *e)
{
    e->has_value = true;
    e->is_null = hf_json_in_null(&r->j);
    if (!e->is_null)
        (void)hf_json_in_int(&r->j, &e->value);
}

/* {"variable":0,"version":1} */
static void take_version(reader *r, event *e)
{
    hf_str key;

    e->has_kind = true;
    (void)hf_json_in_open(&r->j, '{');
    while (hf_json_in_next_key(&r->j, &key)) {
        if (hf_str_eq(key, HF_STR("variable")))
            take_variable(r, e);
        else if (hf_str_eq(key, HF_STR("version")))
            take_value(r, e);
        else
            (void)hf_json_in_skip(&r->j, NULL);
    }
}

static void take_event(reader *r, event *e)
{
    hf_json_in *j = &r->j;
    hf_str key;

    *e = (event){.success = true, .key = HF_NONE};
    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("Write")) || hf_str_eq(key, HF_STR("Read"))) {
            e->write = key.ptr[0] == 'W';
            take_version(r, e);
        } else if (hf_str_eq(key, HF_STR("write"))) {
            e->has_kind = e->numbered = hf_json_in_bool(j, &e->write);
        } else if (hf_str_eq(key, HF_STR("variable"))) {
            take_variable(r, e);
        } else if (hf_str_eq(key, HF_STR("value"))) {
            take_value(r, e);
        } else if (hf_str_eq(key, HF_STR("success"))) {
            (void)hf_json_in_bool(j, &e->success);
        } else {
            (void)hf_json_in_skip(j, NULL);
        }
    }
    if (!j->failed && (!e->has_kind || e->key == HF_NONE))
        (void)hf_json_in_fail(j, "expected an event that says read or write "
                                 "and a variable");
    else if (!j->failed && (!e->has_value || (e->write && e->is_null)))
        (void)hf_json_in_fail(j, "expected an event with a value");
}

static void add_event(reader *r, hf_txn_id t, const event *e)
{
    hf_value_id value;

    if (!e->success) {
        hf_builder_skip(r->b, 1);
        return;
    }
    if (e->is_null)
        value = hf_builder_nil(r->b, e->key);
    else if (e->numbered)
        value = hf_zeros_int(&r->zeros, r->b, e->key, e->value, e->write);
    else
        value = hf_builder_int(r->b, e->key, e->value);
    (void)hf_builder_op(r->b, t, e->write ? HF_OP_WRITE : HF_OP_READ, e->key,
                        value);
}

static void take_txn(reader *r, hf_session_id session)
{
    hf_txn_id t = hf_builder_txn(r->b, session);
    bool committed = true, has_events = false;
    hf_json_in *j = &r->j;
    event e;
    hf_str key;

    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("events"))) {
            has_events = true;
            (void)hf_json_in_open(j, '[');
            while (!hf_builder_failed(r->b) && hf_json_in_next_item(j)) {
                take_event(r, &e);
                if (!j->failed)
                    add_event(r, t, &e);
            }
            if (hf_builder_failed(r->b))
                return;
        } else if (hf_str_eq(key, HF_STR("committed")) ||
                   hf_str_eq(key, HF_STR("success"))) {
            (void)hf_json_in_bool(j, &committed);
        } else {
            (void)hf_json_in_skip(j, NULL);
        }
    }
    if (!j->failed && !has_events)
        (void)hf_json_in_fail(j, "expected a transaction with events");
    if (!committed)
        hf_builder_outcome(r->b, t, HF_ABORTED);
}

static void take_sessions(reader *r)
{
    hf_json_in *j = &r->j;

    (void)hf_json_in_open(j, '[');
    while (!hf_builder_failed(r->b) && hf_json_in_next_item(j)) {
        hf_session_id s = hf_builder_session_number(r->b, r->n_sessions++);

        (void)hf_json_in_open(j, '[');
        while (!hf_builder_failed(r->b) && hf_json_in_next_item(j))
            take_txn(r, s);
    }
}

static void take_object(reader *r)
{
    bool has_data = false;
    hf_str key, info;

    (void)hf_json_in_open(&r->j, '{');
    while (!hf_builder_failed(r->b) && hf_json_in_next_key(&r->j, &key)) {
        if (hf_str_eq(key, HF_STR("data"))) {
            has_data = true;
            take_sessions(r);
        } else if (hf_str_eq(key, HF_STR("info")) &&
                   hf_json_in_peek(&r->j) == '"') {
            if (hf_json_in_string(&r->j, &info) && info.len > 0)
                hf_builder_name(r->b, info.ptr, info.len);
        } else {
            (void)hf_json_in_skip(&r->j, NULL);
        }
    }
    if (!r->j.failed && !hf_builder_failed(r->b) && !has_data)
        (void)hf_json_in_fail(&r->j, "expected an object with data");
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    reader r = {.b = b};
    hf_status st = HF_OK;

    hf_json_in_init(&r.j, in->text, in->length);
    if (hf_json_in_peek(&r.j) == '{')
        take_object(&r);
    else
        take_sessions(&r);
    if (!r.j.failed && !hf_builder_failed(b) && hf_json_in_peek(&r.j) != 0)
        (void)hf_json_in_fail(&r.j, "expected nothing after the history");
    if (r.j.failed) {
        if (err)
            *err = r.j.err;
        st = HF_ERR_INPUT;
    } else if (!hf_builder_failed(b)) {
        hf_zeros_finish(&r.zeros, b);
    }
    hf_zeros_release(&r.zeros);
    hf_json_in_release(&r.j);
    return st;
}

/* `[[` or `{`, then the words. */
static int detect(const hf_input *in)
{
    size_t n = in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES;
    hf_json_in j;
    char first, second;

    hf_json_in_init(&j, in->text, n);
    first = hf_json_in_peek(&j);
    (void)hf_json_in_open(&j, first == '{' ? '{' : '[');
    second = hf_json_in_peek(&j);
    hf_json_in_release(&j);
    if (first == '{' ? second != '"' : first != '[' || second != '[')
        return 0;
    if (!hf_has_text(in->text, n, "\"events\""))
        return 0;
    if (first == '{')
        return hf_has_text(in->text, n, "\"data\"") &&
                       hf_has_text(in->text, n, "\"variable\"")
                   ? 92
                   : 0;
    return hf_has_text(in->text, n, "\"variable\"") ||
                   hf_has_text(in->text, n, "\"success\"")
               ? 92
               : 0;
}

/* ---- export -------------------------------------------------------------- */

static void put_event(hf_json *j, const hf_history *h, hf_op_id op)
{
    hf_value_id v = h->op_value[op];
    bool write = hf_op_kind_of(h, op) == HF_OP_WRITE;

    hf_json_object(j);
    hf_json_key(j, write ? "Write" : "Read");
    hf_json_object(j);
    hf_json_key(j, "variable");
    hf_json_int(j, h->key_data[h->op_key[op]]);
    hf_json_key(j, "version");
    if (hf_export_initial(h, v))
        hf_json_null(j);
    else
        hf_json_int(j, h->value_data[v]);
    hf_json_end(j);
    hf_json_end(j);
}

static void put_txn(hf_json *j, const hf_history *h, hf_txn_id t)
{
    hf_json_object(j);
    hf_json_key(j, "events");
    hf_json_array(j);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (!hf_export_skips(hf_op_kind_of(h, op)))
            put_event(j, h, op);
    hf_json_end(j);
    hf_json_key(j, "committed");
    hf_json_bool(j, h->txn_outcome[t] == HF_COMMITTED);
    hf_json_end(j);
}

static void put_head(hf_json *j, const hf_history *h)
{
    static const char *const names[] = {"id", "n_node", "n_variable",
                                        "n_transaction", "n_event"};
    uint64_t numbers[] = {0, h->n_sessions, h->n_keys, h->n_txns, h->n_ops};

    hf_json_key(j, "params");
    hf_json_object(j);
    for (int i = 0; i < 5; i++) {
        hf_json_key(j, names[i]);
        hf_json_uint(j, numbers[i]);
    }
    hf_json_end(j);
    hf_json_key(j, "info");
    hf_json_str(j, h->name == HF_NONE ? HF_STR("") : hf_string(h, h->name));
    hf_json_key(j, "start");
    hf_json_text(j, "1970-01-01T00:00:00Z");
    hf_json_key(j, "end");
    hf_json_text(j, "1970-01-01T00:00:00Z");
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_status st =
        hf_export_check(h, "dbcop-json",
                        HF_SAYS_ABORTED | HF_SAYS_EMPTY | HF_SAYS_INITIAL, err);
    hf_json j;

    if (st != HF_OK)
        return st;
    hf_json_init(&j, out);
    hf_json_object(&j);
    put_head(&j, h);
    hf_json_key(&j, "data");
    hf_json_array(&j);
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        hf_json_array(&j);
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++)
            put_txn(&j, h, h->session_txns[i]);
        hf_json_end(&j);
    }
    hf_json_end(&j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
    return HF_OK;
}

const hf_format hf_format_dbcop_json = {
    .name = "dbcop-json",
    .summary = "sessions of transactions of events as JSON: dbcop, old and new",
    .extension = ".json",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

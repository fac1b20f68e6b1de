/* viper.c: the logs of Viper, one client thread a file.
 *
 *     {:type :ok :f :txn :value [[:w 1 :a true] [:r 2 nil false]
 *        [:range 1 9 [{:id 1, :sk 1, :val :a}] []]]}
 *
 * or the same in JSON.  An event without a type is committed, one without a
 * process belongs to the one session that the file is.  Micro-operations:
 *
 *     [:w k v done]          write; done false: it failed
 *     [:r k v dead]          read; nil is initial, dead true is a tombstone:
 *                            both are a read of nil
 *     [:i k v ...]           insert
 *     [:d k v ...]           delete, whatever tombstone it left
 *     [:range lo hi live dead ...]
 *                            predicate read "id >= lo and id <= hi" whose
 *                            rows are the records of `live`
 *
 * A last part that is false makes an insert or delete a failed one.  Parts
 * beyond those named are passed over.  No data of this form is at hand, so
 * this follows its description only.  There is no exporter.  Linear.
 */
#include <stdio.h>

#include "formats/formats_all.h"
#include "formats/jepsen.h"

typedef struct viper {
    hf_jepsen j;
    HF_VEC(hf_version_ref) rows;
} viper;

static hf_key_id key_of(viper *v, hf_scalar s)
{
    return s.type == HF_INT
               ? hf_builder_key_int(v->j.b, s.number)
               : hf_builder_key_text(v->j.b, s.text ? s.text : "", s.length);
}

static bool read_key(hf_jread *r, hf_scalar *ret_key)
{
    hf_jkind kind;

    if (!hf_jread_next(r))
        return hf_jread_expected(r, "a key before this");
    kind = hf_jread_peek(r);
    if (kind != HF_J_INT && kind != HF_J_TEXT)
        return hf_jread_expected(r, "a key: an integer or a name");
    return hf_jread_scalar(r, ret_key);
}

/* Passes over the rest of a micro-operation; the last part being a boolean
 * is told. */
static bool read_rest(hf_jread *r, hf_scalar *ret_last)
{
    *ret_last = (hf_scalar){.type = HF_NIL};
    while (hf_jread_next(r)) {
        *ret_last = (hf_scalar){.type = HF_NIL};
        if (hf_jread_peek(r) == HF_J_SCALAR ? !hf_jread_scalar(r, ret_last)
                                            : !hf_jread_skip(r, NULL))
            return false;
    }
    return !hf_jread_failed(r);
}

static bool is_false(hf_scalar s)
{
    return s.type == HF_BOOL && s.number == 0;
}

/* ---- ranges -------------------------------------------------------------- */

/* {:id k, :sk k, :val v} */
static bool read_record(viper *v, hf_jread *r)
{
    hf_scalar name, id = {.type = HF_NIL}, value = {.type = HF_NIL};
    hf_key_id key;

    if (!hf_jread_open(r, HF_J_MAP))
        return false;
    while (hf_jread_next_key(r, &name))
        if (hf_scalar_is(name, "id")    ? !hf_jread_scalar(r, &id)
            : hf_scalar_is(name, "val") ? !hf_jread_scalar(r, &value)
                                        : !hf_jread_skip(r, NULL))
            return false;
    if (hf_jread_failed(r))
        return false;
    if (id.type != HF_INT && id.type != HF_TEXT)
        return hf_jread_expected(r, "an id in the record before this");
    key = key_of(v, id);
    hf_vec_push(&v->rows, (hf_version_ref){hf_builder_value(v->j.b, key, value),
                                           HF_NONE});
    return true;
}

static void put_bound(char *out, size_t size, hf_scalar s)
{
    if (s.type == HF_INT)
        (void)snprintf(out, size, "%lld", (long long)s.number);
    else
        (void)snprintf(out, size, "'%.*s'",
                       (int)(s.length < 200 ? s.length : 200), s.text);
}

static void add_range(viper *v, hf_txn_id t, hf_scalar low, hf_scalar high,
                      bool recorded)
{
    char a[216], b[216], text[480];
    hf_predicate_in in = {.table = {.type = HF_NIL},
                          .has_result_set = recorded,
                          .results = v->rows.at,
                          .n_results = recorded ? (uint32_t)v->rows.n : 0};
    int n;

    put_bound(a, sizeof(a), low);
    put_bound(b, sizeof(b), high);
    n = snprintf(text, sizeof(text), "id >= %s and id <= %s", a, b);
    in.condition =
        (hf_scalar){.type = HF_TEXT, .text = text, .length = (size_t)n};
    (void)hf_builder_predicate(v->j.b, t, HF_OP_PREDICATE_READ, &in);
}

static bool read_range(viper *v, hf_jread *r, hf_txn_id t, bool committed)
{
    hf_scalar low, high, last;
    char kept[2][208];
    bool recorded = false;

    if (!read_key(r, &low))
        return false;
    if (low.type == HF_TEXT) { /* the reader's buffers are few */
        low.length = low.length < 200 ? low.length : 200;
        memcpy(kept[0], low.text, low.length);
        low.text = kept[0];
    }
    if (!read_key(r, &high))
        return false;
    if (high.type == HF_TEXT) {
        high.length = high.length < 200 ? high.length : 200;
        memcpy(kept[1], high.text, high.length);
        high.text = kept[1];
    }
    v->rows.n = 0;
    if (hf_jread_next(r)) {
        if (hf_jread_peek(r) == HF_J_SEQ) {
            recorded = committed;
            if (!hf_jread_open(r, HF_J_SEQ))
                return false;
            while (hf_jread_next(r))
                if (!read_record(v, r))
                    return false;
        } else if (!hf_jread_skip(r, NULL)) {
            return false;
        }
        if (!read_rest(r, &last))
            return false;
    }
    if (hf_jread_failed(r))
        return false;
    add_range(v, t, low, high, recorded);
    return true;
}

/* ---- micro-operations ---------------------------------------------------- */

static bool read_item(viper *v, hf_jread *r, hf_txn_id t, char f,
                      bool committed)
{
    hf_builder *b = v->j.b;
    hf_scalar name, value = {.type = HF_NIL}, last = {.type = HF_NIL};
    hf_value_id id = HF_NONE;
    hf_key_id key;
    unsigned kind;
    bool has_value;

    if (!read_key(r, &name))
        return false;
    key = key_of(v, name);
    has_value = hf_jread_next(r);
    if (has_value) {
        if (!hf_jread_scalar(r, &value))
            return false;
        id = hf_builder_value(b, key, value);
        if (!read_rest(r, &last))
            return false;
    }
    if (hf_jread_failed(r))
        return false;
    kind = f == 'r'   ? HF_OP_READ
           : f == 'w' ? HF_OP_WRITE
           : f == 'i' ? HF_OP_INSERT
                      : HF_OP_DELETE;
    if (f == 'd' || (f == 'r' && last.type == HF_BOOL && last.number))
        id = hf_builder_nil(b, key);
    if (f == 'r' && (!committed || !has_value))
        id = HF_NONE;
    else if (f != 'r' && f != 'd' && !has_value)
        return hf_jread_expected(r, "a value before this");
    if (f != 'r' && is_false(last))
        kind |= HF_OP_FAILED;
    (void)hf_builder_op(b, t, kind, key, id);
    return true;
}

static bool read_micro_op(viper *v, hf_jread *r, hf_txn_id t, bool committed)
{
    hf_str f;

    if (!hf_jread_open(r, HF_J_SEQ) || !hf_jread_next(r) ||
        hf_jread_peek(r) != HF_J_TEXT || !hf_jread_name(r, &f))
        return hf_jread_expected(r, "a micro-operation");
    if (hf_str_eq(f, HF_STR("range")))
        return read_range(v, r, t, committed);
    if (f.len == 1 && (f.ptr[0] == 'r' || f.ptr[0] == 'w' || f.ptr[0] == 'i' ||
                       f.ptr[0] == 'd'))
        return read_item(v, r, t, f.ptr[0], committed);
    return hf_jread_expected(r, "r, w, i, d or range before");
}

static hf_status emit(hf_jepsen *j, hf_txn_id t, const hf_jepsen_done *done)
{
    viper *v = j->user;
    const hf_jepsen_event *from = done->completion;
    hf_jread r;

    if (done->invocation && done->outcome == HF_UNKNOWN_OUTCOME)
        from = done->invocation;
    if (!from->value.ptr)
        return hf_jepsen_refuse(j, from, "a transaction without a value");
    hf_jepsen_value(j, &r, from->value);
    if (hf_jread_open(&r, HF_J_SEQ))
        while (hf_jread_next(&r))
            if (!read_micro_op(v, &r, t, done->outcome == HF_COMMITTED))
                break;
    return hf_jepsen_value_done(j, &r);
}

/* ---- the file ------------------------------------------------------------ */

static bool is_json(const hf_input *in)
{
    size_t length = in->length < 4096 ? in->length : 4096;

    /* the first character after the brackets: a quote or a colon */
    for (size_t i = 0; i < length; i++)
        if (in->text[i] == '"' || in->text[i] == ':')
            return in->text[i] == '"';
    return false;
}

static hf_status read_events(viper *v)
{
    hf_jepsen *j = &v->j;
    hf_jepsen_file file;
    hf_jepsen_event e;
    hf_status st = HF_OK;

    hf_jepsen_open(&file, j->json, (hf_str){j->in->text, j->in->length});
    file.is_type_optional = true;
    while (st == HF_OK && !hf_builder_failed(j->b) &&
           hf_jepsen_next(&file, &e)) {
        if (e.is_client && !e.has_process) {
            e.has_process = true;
            e.process = 0;
        }
        st = hf_jepsen_feed(j, &e);
    }
    if (st == HF_OK && hf_jread_failed(&file.r)) {
        st = HF_ERR_INPUT;
        if (j->err)
            *j->err = *hf_jread_error(&file.r);
    }
    hf_jepsen_close(&file);
    return st == HF_OK ? hf_jepsen_finish(j) : st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    viper v = {.rows = {0}};
    hf_status st;

    hf_jepsen_init(&v.j, in, b, is_json(in), err);
    v.j.emit = emit;
    v.j.user = &v;
    st = read_events(&v);
    hf_vec_release(&v.rows);
    hf_jepsen_release(&v.j);
    return st;
}

static int detect(const hf_input *in)
{
    hf_jepsen_look look;

    if (in->is_directory)
        return 0;
    look = hf_jepsen_look_at(in, is_json(in), true);
    return look.viper > 0 && look.other == 0 ? 96 : 0;
}

const hf_format hf_format_viper = {
    .name = "viper",
    .summary = "Viper: registers with ranges, inserts and deletes",
    .extension = ".edn",
    .detect = detect,
    .import = import,
};

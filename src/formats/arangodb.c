/* arangodb.c: arangodb-wal-jsonl, the write-ahead log of ArangoDB.
 *
 *     {"tick":"94","type":2200,"tid":"137", ...}               begin
 *     {"tick":"94","type":2300,"tid":"137","cuid":"h9/133",
 *      "data":{"_key":"3","rwAttr":1, ...}}                    write
 *     {"tick":"95","type":2302,"tid":"137","data":{"_key":"3"}} remove
 *     {"tick":"97","type":2201,"tid":"137", ...}               commit
 *
 * The log knows writers only: the history made of it has no reads, but the
 * order of ticks is the version order of every key and becomes the
 * certificate.  Records of other types are skipped.  Type 2202 is an abort; a
 * transaction with neither commit nor abort has an unknown outcome; a write
 * with tid 0 is a transaction by itself.
 *
 * The key is "_key", a number where it is written like one; the value is the
 * only attribute whose name does not begin with "_", or the whole document if
 * there are several.  Keys of a second collection carry its "cuid" as table.
 *
 * Import only: a log cannot say what was read.  O(n log n).
 */
#include <stdlib.h>

#include "base/json_in.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

enum {
    TYPE_BEGIN = 2200,
    TYPE_COMMIT = 2201,
    TYPE_ABORT = 2202,
    TYPE_WRITE = 2300,
    TYPE_REMOVE = 2302,
};

typedef struct entry {
    uint64_t tick, line;
    int64_t type, tid;
    hf_str text; /* the object */
} entry;

/* t wrote key; the last one of a transaction counts. */
typedef struct install {
    hf_key_id key;
    hf_txn_id txn;
} install;

typedef struct wal {
    hf_json_in j;
    hf_builder *b;
    HF_VEC(entry) entries;
    hf_map txns; /* by tid */
    hf_string_id first_collection;
    bool has_collection;
    HF_VEC(install) installs;
    HF_VEC(uint8_t) outcomes; /* by transaction */
} wal;

/* ---- fields -------------------------------------------------------------- */

/* A number, or a string that holds one. */
static bool take_number(hf_json_in *j, int64_t *ret_value)
{
    hf_str text;

    if (hf_json_in_peek(j) != '"')
        return hf_json_in_int(j, ret_value);
    return hf_json_in_string(j, &text) &&
           ((hf_str_to_int(text, ret_value) && *ret_value >= 0) ||
            hf_json_in_fail(j, "expected a number from 0 up in a string"));
}

/* The head of one record; its text is kept for later. */
static void take_entry(wal *w, entry *e)
{
    hf_json_in *j = &w->j;
    const char *begin;
    bool has_tick = false, has_type = false;
    int64_t tick = 0;
    hf_str key;

    (void)hf_json_in_peek(j);
    begin = j->at;
    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("tick")))
            has_tick = take_number(j, &tick);
        else if (hf_str_eq(key, HF_STR("type")))
            has_type = take_number(j, &e->type);
        else if (hf_str_eq(key, HF_STR("tid")))
            (void)take_number(j, &e->tid);
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (!j->failed && (!has_tick || !has_type))
        (void)hf_json_in_fail(j, "expected a record with tick and type");
    e->tick = (uint64_t)tick;
    e->text = (hf_str){begin, (size_t)(j->at - begin)};
}

static int by_tick(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static hf_status take_lines(wal *w, const hf_input *in, hf_error *err)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_str line;

    while (hf_lines_next(&lines, &line)) {
        entry e = {.line = lines.number};

        if (hf_str_trim(line).len == 0)
            continue;
        w->j.start = w->j.at = line.ptr;
        w->j.end = line.ptr + line.len;
        w->j.first_line = lines.number;
        take_entry(w, &e);
        if (!w->j.failed && hf_json_in_peek(&w->j) != 0)
            (void)hf_json_in_fail(&w->j, "expected one object a line");
        if (w->j.failed)
            return HF_OK; /* the caller looks */
        if (e.type == TYPE_BEGIN || e.type == TYPE_COMMIT ||
            e.type == TYPE_ABORT || e.type == TYPE_WRITE ||
            e.type == TYPE_REMOVE)
            hf_vec_push(&w->entries, e);
        else
            hf_builder_skip(w->b, 1);
        if (in->budget && hf_budget_spent(in->budget))
            return hf_fail(err, HF_ERR_LIMIT, "%s",
                           hf_budget_reason(in->budget));
    }
    return HF_OK;
}

/* ---- documents ----------------------------------------------------------- */

typedef struct document {
    hf_key_id key; /* HF_NONE: none */
    hf_scalar value;
    unsigned attributes;
} document;

/* In the first collection keys are plain. */
static hf_key_id key_of(wal *w, hf_str collection, hf_str name)
{
    hf_string_id id = hf_builder_string(w->b, collection.ptr, collection.len);
    hf_scalar key = {.type = HF_TEXT, .text = name.ptr, .length = name.len};

    if (!w->has_collection) {
        w->first_collection = id;
        w->has_collection = true;
    }
    if (hf_str_to_int(name, &key.number) && name.ptr[0] != '+' &&
        (name.ptr[0] != '0' || name.len == 1) && name.ptr[0] != '-')
        key.type = HF_INT;
    if (id != w->first_collection)
        return hf_builder_key_row(w->b, id, key);
    return key.type == HF_INT ? hf_builder_key_int(w->b, key.number)
                              : hf_builder_key_text(w->b, name.ptr, name.len);
}

/* The "data" object; j stands on it.  The name is copied: texts may move. */
static void take_data(wal *w, hf_str collection, document *d)
{
    hf_json_in *j = &w->j;
    hf_str name, key;

    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("_key"))) {
            if (hf_json_in_string(j, &name))
                d->key = key_of(w, collection, name);
        } else if (key.len > 0 && key.ptr[0] == '_') {
            (void)hf_json_in_skip(j, NULL);
        } else {
            d->attributes++;
            if (hf_json_in_peek(j) == '[')
                (void)hf_json_in_fail(j, "expected a number, a string or an "
                                         "object as value, found an array");
            else
                (void)hf_json_in_skip(j, NULL);
        }
    }
}

/* The value, once it is known that there is one attribute, or the document.
 */
static hf_value_id take_document_value(wal *w, hf_str data, const document *d)
{
    hf_json_in *j = &w->j;
    hf_scalar value = {.type = HF_ROW, .text = data.ptr, .length = data.len};
    hf_value_id id;
    hf_str key;

    if (d->attributes != 1)
        return hf_builder_value(w->b, d->key, value);
    id = hf_builder_nil(w->b, d->key);
    j->at = data.ptr;
    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (key.len > 0 && key.ptr[0] == '_')
            (void)hf_json_in_skip(j, NULL);
        else if (hf_json_in_scalar(j, &value))
            id = hf_builder_value(w->b, d->key, value);
    }
    return id;
}

static hf_txn_id txn_of(wal *w, const entry *e)
{
    hf_txn_id t =
        e->tid == 0 ? HF_NONE : hf_map_get(&w->txns, (uint64_t)e->tid);

    if (t != HF_NONE)
        return t;
    t = hf_builder_txn(w->b, hf_builder_session_fresh(w->b));
    if (hf_builder_failed(w->b))
        return 0;
    hf_builder_line(w->b, t, e->line);
    hf_builder_label(w->b, t, e->tid ? e->tid : -(int64_t)t - 1);
    while (w->outcomes.n <= t)
        hf_vec_push(&w->outcomes, HF_UNKNOWN_OUTCOME);
    if (e->tid == 0)
        w->outcomes.at[t] = HF_COMMITTED;
    else
        hf_map_set(&w->txns, (uint64_t)e->tid, t);
    return t;
}

static void add_write(wal *w, const entry *e)
{
    hf_json_in *j = &w->j;
    document d = {.key = HF_NONE};
    hf_str key, collection = {"", 0}, data = {NULL, 0};
    hf_value_id value;
    hf_txn_id t;

    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("data")))
            (void)hf_json_in_skip(j, &data);
        else if (hf_str_eq(key, HF_STR("cuid")))
            (void)hf_json_in_skip(j, &collection); /* with its quotes */
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (!j->failed && !data.ptr)
        (void)hf_json_in_fail(j, "expected a write with data");
    if (j->failed)
        return;
    j->at = data.ptr;
    take_data(w, collection, &d);
    if (!j->failed && d.key == HF_NONE)
        (void)hf_json_in_fail(j, "expected data with a _key");
    if (j->failed)
        return;
    t = txn_of(w, e);
    value = e->type == TYPE_REMOVE ? hf_builder_nil(w->b, d.key)
                                   : take_document_value(w, data, &d);
    (void)hf_builder_op(w->b, t,
                        e->type == TYPE_REMOVE ? HF_OP_DELETE : HF_OP_WRITE,
                        d.key, value);
    hf_vec_push(&w->installs, (install){d.key, t});
}

static void add_entries(wal *w)
{
    for (size_t i = 0; i < w->entries.n && !hf_builder_failed(w->b); i++) {
        const entry *e = &w->entries.at[i];
        hf_txn_id t;

        w->j.start = w->j.at = e->text.ptr;
        w->j.end = e->text.ptr + e->text.len;
        w->j.first_line = e->line;
        if (e->type == TYPE_WRITE || e->type == TYPE_REMOVE) {
            add_write(w, e);
            if (w->j.failed)
                return;
            continue;
        }
        if (e->tid == 0)
            continue;
        t = txn_of(w, e);
        if (e->type != TYPE_BEGIN && !hf_builder_failed(w->b))
            w->outcomes.at[t] =
                e->type == TYPE_COMMIT ? HF_COMMITTED : HF_ABORTED;
    }
}

/* The version order: of a transaction's writes of a key only the last one is
 * a version, so it is built from the end. */
static void add_order(wal *w)
{
    install *kept = HF_NEW_ARRAY(install, w->installs.n);
    size_t n = 0;
    hf_map seen;

    hf_map_init(&seen);
    for (size_t i = w->installs.n; i-- > 0;) {
        install x = w->installs.at[i];
        uint64_t pair = (uint64_t)x.key << 32 | x.txn;

        if (w->outcomes.at[x.txn] == HF_COMMITTED &&
            hf_map_get(&seen, pair) == UINT32_MAX) {
            hf_map_set(&seen, pair, 1);
            kept[n++] = x;
        }
    }
    while (n-- > 0)
        hf_builder_order(w->b, kept[n].key, kept[n].txn);
    for (size_t t = 0; t < w->outcomes.n; t++)
        hf_builder_outcome(w->b, (hf_txn_id)t, (hf_outcome)w->outcomes.at[t]);
    hf_map_release(&seen);
    hf_free(kept);
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    wal w = {.b = b};
    hf_status st;

    hf_json_in_init(&w.j, in->text, in->length);
    hf_map_init(&w.txns);
    st = take_lines(&w, in, err);
    if (st == HF_OK && !w.j.failed) {
        if (w.entries.n > 0)
            qsort(w.entries.at, w.entries.n, sizeof(entry), by_tick);
        add_entries(&w);
    }
    if (st == HF_OK && w.j.failed) {
        if (err)
            *err = w.j.err;
        st = HF_ERR_INPUT;
    }
    if (st == HF_OK && !hf_builder_failed(b))
        add_order(&w);
    hf_json_in_release(&w.j);
    hf_map_release(&w.txns);
    hf_vec_release(&w.entries);
    hf_vec_release(&w.installs);
    hf_vec_release(&w.outcomes);
    return st;
}

/* The first line is an object with a tick and a numeric type. */
static int detect(const hf_input *in)
{
    hf_lines lines = hf_lines_of(
        in->text, in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES);
    bool has_tick = false, has_type = false;
    hf_json_in j;
    hf_str line, key;

    if (in->length == 0 || in->text[0] != '{' || !hf_lines_next(&lines, &line))
        return 0;
    hf_json_in_init(&j, line.ptr, line.len);
    (void)hf_json_in_open(&j, '{');
    while (hf_json_in_next_key(&j, &key)) {
        char next = hf_json_in_peek(&j);

        if (hf_str_eq(key, HF_STR("tick")))
            has_tick = true;
        if (hf_str_eq(key, HF_STR("type")))
            has_type = next >= '0' && next <= '9';
        (void)hf_json_in_skip(&j, NULL);
    }
    hf_json_in_release(&j);
    return has_tick && has_type && !j.failed ? 97 : 0;
}

const hf_format hf_format_arangodb = {
    .name = "arangodb-wal-jsonl",
    .summary = "the write-ahead log of ArangoDB: writers and version order",
    .extension = ".log",
    .detect = detect,
    .import = import,
};

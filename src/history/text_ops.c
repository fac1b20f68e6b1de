/* text_ops.c: reading operations, keys and values of the native text form.
 *
 * Integer values are staged: the operation is added at once, its value looked
 * up when the whole transaction is read.
 */
#include "history/snapshot.h"
#include "history/text_reader.h"

/* ---- fields -------------------------------------------------------------- */

bool hf_text_unknown_field(hf_text_reader *r, hf_str key, const char *where)
{
    char quoted[64];

    if (hf_str_starts(key, HF_STR("x-")))
        return hf_json_in_skip(&r->j, NULL);
    return hf_json_in_fail(
        &r->j, "unknown field \"%s\" in %s (own fields begin with \"x-\")",
        hf_quote(quoted, sizeof(quoted), key.ptr, key.len), where);
}

/* A view that outlives the next strings. */
static hf_scalar keep(hf_text_reader *r, hf_scalar s)
{
    if (s.length > 0)
        s.text = hf_arena_text(&r->scratch, s.text, s.length);
    return s;
}

static bool kept_string(hf_text_reader *r, hf_scalar *ret)
{
    hf_str s;

    if (!hf_json_in_string(&r->j, &s))
        return false;
    *ret = keep(r, (hf_scalar){HF_TEXT, 0, s.ptr, s.len});
    return true;
}

/* ---- keys and values ----------------------------------------------------- */

static bool row_key(hf_text_reader *r, hf_key_id *ret_key)
{
    hf_json_in *j = &r->j;
    hf_scalar key;
    hf_string_id table;
    hf_str name;

    if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j) ||
        !hf_json_in_string(j, &name))
        return hf_json_in_fail(j, "expected a key such as [\"table\", 7]");
    table = hf_builder_string(r->b, name.ptr, name.len);
    if (!hf_json_in_next_item(j) || !hf_json_in_scalar(j, &key))
        return hf_json_in_fail(j, "expected a key such as [\"table\", 7]");
    if (key.type != HF_INT && key.type != HF_TEXT)
        return hf_json_in_fail(j, "expected a number or a string as key");
    *ret_key = hf_builder_key_row(r->b, table, key);
    if (hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected \"]\" after the primary key");
    return !j->failed;
}

bool hf_text_key(hf_text_reader *r, hf_key_id *ret_key)
{
    hf_json_in *j = &r->j;
    char c = hf_json_in_peek(j);
    int64_t number;
    hf_str text;

    if (c == '"') {
        if (!hf_json_in_string(j, &text))
            return false;
        *ret_key = hf_builder_key_text(r->b, text.ptr, text.len);
        return true;
    }
    if (c == '[')
        return row_key(r, ret_key);
    if (c != '-' && (c < '0' || c > '9'))
        return hf_json_in_fail(
            j, "expected a key: a number, a string or [\"table\", key]");
    if (!hf_json_in_int(j, &number))
        return false;
    *ret_key = hf_builder_key_int(r->b, number);
    return true;
}

static bool read_list(hf_text_reader *r, hf_key_id key, hf_value_id *ret_value)
{
    hf_json_in *j = &r->j;
    hf_value_id list = HF_NONE;

    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        hf_scalar s;

        if (!hf_json_in_scalar(j, &s))
            return false;
        if (s.type == HF_NIL)
            return hf_json_in_fail(j, "a list cannot hold null");
        if (s.type == HF_INT)
            list = hf_builder_list_int(r->b, key, list, s.number);
        else
            list = hf_builder_list(r->b, key, list,
                                   hf_builder_value(r->b, key, s));
    }
    *ret_value = list == HF_NONE ? hf_builder_nil(r->b, key) : list;
    return !j->failed;
}

bool hf_text_value(hf_text_reader *r, hf_key_id key, hf_value_id *ret_value)
{
    hf_scalar s;

    if (hf_json_in_peek(&r->j) == '[')
        return read_list(r, key, ret_value);
    if (!hf_json_in_scalar(&r->j, &s))
        return false;
    *ret_value = hf_builder_value(r->b, key, s);
    return true;
}

/* ---- operations, short form ---------------------------------------------- */

typedef struct kind_name {
    const char *name;
    hf_op_kind kind;
} kind_name;

static const kind_name kinds[] = {
    {"r", HF_OP_READ},
    {"w", HF_OP_WRITE},
    {"append", HF_OP_APPEND},
    {"insert", HF_OP_INSERT},
    {"delete", HF_OP_DELETE},
    {"inc", HF_OP_INCREMENT},
    {"pr", HF_OP_PREDICATE_READ},
    {"pu", HF_OP_PREDICATE_UPDATE},
    {"pd", HF_OP_PREDICATE_DELETE},
    {"min", HF_OP_MIN},
    {"max", HF_OP_MAX},
    {"sum", HF_OP_SUM},
    {"count", HF_OP_COUNT_ROWS},
    {"avg", HF_OP_AVG},
    {"begin", HF_OP_BEGIN},
    {"commit", HF_OP_COMMIT},
    {"abort", HF_OP_ABORT},
    {"sql", HF_OP_SQL},
};

static bool read_kind(hf_text_reader *r, hf_op_kind *ret_kind)
{
    char quoted[48];
    hf_str name;

    if (!hf_json_in_string(&r->j, &name))
        return false;
    if (name.len == 1 && (*name.ptr == 'r' || *name.ptr == 'w')) {
        *ret_kind = *name.ptr == 'r' ? HF_OP_READ : HF_OP_WRITE;
        return true;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is(name, kinds[i].name)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    return hf_json_in_fail(
        &r->j, "unrecognized operation \"%s\"",
        hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
}

/* What a read of this value is called, once it is known. */
static hf_op_kind kind_for(const hf_builder *b, hf_op_kind kind,
                           hf_value_id value)
{
    if (kind == HF_OP_READ && value != HF_NONE && b->h->n_values > 0 &&
        b->h->value_type[value] == HF_LIST)
        return HF_OP_READ_LIST;
    return kind;
}

/* The value part of an item operation; integers are staged. */
static bool item_value(hf_text_reader *r, hf_txn_id t, hf_op_kind kind,
                       hf_key_id key)
{
    hf_json_in *j = &r->j;
    char c = hf_json_in_peek(j);
    hf_value_id value;
    hf_op_kind real;
    bool is_list = c == '[';

    if (c == '-' || (c >= '0' && c <= '9')) {
        const char *begin = j->at;
        hf_staged s = {.key = key};

        if (hf_json_in_int(j, &s.number)) {
            hf_builder_prefetch_int(r->b, key, s.number);
            s.op = hf_builder_op(r->b, t, kind, key, HF_NONE);
            hf_vec_push(&r->staged, s);
            return true;
        }
        /* a decimal, or a number beyond 64 bits: take it as text */
        j->failed = false;
        j->at = begin;
    }
    if (!hf_text_value(r, key, &value))
        return false;
    real = kind_for(r->b, kind, value);
    if (is_list && kind == HF_OP_READ)
        real = HF_OP_READ_LIST;
    else if (is_list)
        return hf_json_in_fail(j, "a list can only be read");
    if (real == HF_OP_APPEND && r->b->h->value_type[value] == HF_NIL)
        return hf_json_in_fail(j, "cannot append null");
    (void)hf_builder_op(r->b, t, real, key, value);
    return true;
}

static bool short_item(hf_text_reader *r, hf_txn_id t, hf_op_kind kind)
{
    hf_json_in *j = &r->j;
    hf_key_id key;
    int64_t amount;

    if (!hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected a key in the operation");
    if (!hf_text_key(r, &key))
        return false;
    if (kind == HF_OP_DELETE) {
        (void)hf_builder_op(r->b, t, kind, key, hf_builder_nil(r->b, key));
    } else if (!hf_json_in_next_item(j)) {
        if (kind != HF_OP_READ)
            return hf_json_in_fail(j, "expected a value in the operation");
        if (j->failed)
            return false;
        (void)hf_builder_op(r->b, t, kind, key, HF_NONE);
        return true; /* the bracket is closed */
    } else if (kind == HF_OP_INCREMENT) {
        if (!hf_json_in_int(j, &amount))
            return false;
        (void)hf_builder_increment(r->b, t, key, amount, HF_NONE, HF_NONE);
    } else if (!item_value(r, t, kind, key)) {
        return false;
    }
    if (hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected \"]\" after the operation");
    return !j->failed;
}

static bool short_form(hf_text_reader *r, hf_txn_id t)
{
    hf_json_in *j = &r->j;
    hf_op_kind kind;

    if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected an operation such as "
                                  "[\"r\",\"x\",1]");
    if (!read_kind(r, &kind))
        return false;
    if (kind == HF_OP_BEGIN || kind == HF_OP_COMMIT || kind == HF_OP_ABORT) {
        (void)hf_builder_op(r->b, t, kind, HF_NONE, HF_NONE);
        if (hf_json_in_next_item(j))
            return hf_json_in_fail(j, "expected \"]\" after the operation");
        return !j->failed;
    }
    if (hf_op_has_predicate(kind) || kind == HF_OP_SQL)
        return hf_json_in_fail(j, "a %s needs the long form, {\"op\":...}",
                               hf_op_kind_name(kind));
    return short_item(r, t, kind);
}

/* Digits at p: the number, and p moved behind them; false if there are none or
 * more than 18. */
static inline bool digits(const char **p, int64_t *ret)
{
    const char *at = *p;
    uint64_t n = 0;
    unsigned digit;

    while ((digit = (unsigned)(unsigned char)*at - '0') <= 9 && at - *p <= 18) {
        n = n * 10 + digit;
        at++;
    }
    if (at == *p || at - *p > 18)
        return false;
    *p = at;
    *ret = (int64_t)n;
    return true;
}

/* The most common operations as clients write them, ["r",17,5] and
 * ["append","x",5] and so on, without white space.  False: nothing was read,
 * take the slow way. */
#define FAST_ROOM 128
static bool fast_item(hf_text_reader *r, hf_txn_id t)
{
    const char *p = r->j.at;
    hf_op_kind kind;
    hf_key_id key;
    int64_t number;

    if (r->j.end - p < FAST_ROOM || p[0] != '[' || p[1] != '"')
        return false;
    if (p[3] == '"' && (p[2] == 'r' || p[2] == 'w')) {
        kind = p[2] == 'r' ? HF_OP_READ : HF_OP_WRITE;
        p += 4;
    } else if (memcmp(p + 2, "append\"", 7) == 0) {
        kind = HF_OP_APPEND;
        p += 9;
    } else {
        return false;
    }
    if (*p++ != ',')
        return false;
    if (*p == '"') {
        const char *name = ++p;

        while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 &&
               p - name < 64)
            p++;
        if (*p != '"' || p[1] != ',')
            return false;
        key = hf_builder_key_text(r->b, name, (size_t)(p - name));
        p++;
    } else {
        if (!digits(&p, &number) || *p != ',')
            return false;
        key = hf_builder_key_int(r->b, number);
    }
    p++;
    if (!digits(&p, &number) || *p != ']')
        return false;
    hf_builder_prefetch_int(r->b, key, number);
    hf_vec_push(
        &r->staged,
        (hf_staged){hf_builder_op(r->b, t, kind, key, HF_NONE), key, number});
    r->j.at = p + 1;
    return true;
}

/* ---- operations, long form ----------------------------------------------- */

/* Everything a long form may say; filled in any order. */
typedef struct long_op {
    bool has_kind, has_key, has_value, has_at, has_where, has_by;
    bool has_versions, has_rows, has_text, failed, items;
    hf_op_kind kind;
    hf_key_id key;
    const char *value, *before, *after, *rows; /* places to read again */
    uint64_t start, end;
    unsigned flags;
    int64_t by;
    hf_scalar table, where, text, snapshot;
    uint64_t affected;
} long_op;

/* Remembers where a value stands and passes over it. */
static bool later(hf_text_reader *r, const char **ret_place)
{
    (void)hf_json_in_peek(&r->j);
    *ret_place = r->j.at;
    return hf_json_in_skip(&r->j, NULL);
}

static bool read_interval(hf_text_reader *r, long_op *o)
{
    hf_json_in *j = &r->j;

    o->has_at = true;
    if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j) ||
        !hf_json_in_uint(j, &o->start) || !hf_json_in_next_item(j) ||
        !(hf_json_in_null(j) ? (o->end = HF_TIME_NONE, true)
                             : hf_json_in_uint(j, &o->end)) ||
        hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected \"at\" as [start, end]");
    if (o->start > o->end && !r->is_part)
        return hf_json_in_fail(j, "an operation ends before it starts");
    return !j->failed;
}

static bool read_lock(hf_text_reader *r, long_op *o)
{
    hf_str text;

    if (!hf_json_in_string(&r->j, &text))
        return false;
    if (is(text, "update"))
        o->flags |= HF_OP_FOR_UPDATE;
    else if (is(text, "share"))
        o->flags |= HF_OP_FOR_SHARE;
    else
        return hf_json_in_fail(&r->j,
                               "expected \"update\" or \"share\" as lock");
    return true;
}

/* [[key, value], [key, value, id], ...] into r->versions or r->rows. */
static bool read_version(hf_text_reader *r, hf_version_ref *ret,
                         int64_t *ret_id, bool *ret_has_id)
{
    hf_json_in *j = &r->j;
    hf_key_id key;

    ret->writer = HF_NONE;
    *ret_has_id = false;
    if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j) ||
        !hf_text_key(r, &key) || !hf_json_in_next_item(j) ||
        !hf_text_value(r, key, &ret->value))
        return hf_json_in_fail(j, "expected a version as [key, value]");
    if (hf_json_in_next_item(j)) {
        if (!hf_json_in_int(j, ret_id))
            return false;
        *ret_has_id = true;
        if (hf_json_in_next_item(j))
            return hf_json_in_fail(j, "expected \"]\" after the version");
    }
    return !j->failed;
}

static bool read_versions(hf_text_reader *r, bool rows)
{
    hf_json_in *j = &r->j;

    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        hf_version_ref ref;
        bool has_id;
        hf_pending p = {.line = r->line};

        if (!read_version(r, &ref, &p.number, &has_id))
            return false;
        p.where = rows ? r->rows.n : r->versions.n;
        if (rows)
            hf_vec_push(&r->rows, ref);
        else
            hf_vec_push(&r->versions, ref);
        if (has_id && rows)
            hf_vec_push(&r->row_ids, p);
        else if (has_id)
            hf_vec_push(&r->version_ids, p);
    }
    return !j->failed;
}

static bool read_columns(hf_text_reader *r)
{
    hf_scalar name;

    if (!hf_json_in_open(&r->j, '['))
        return false;
    while (hf_json_in_next_item(&r->j)) {
        if (!kept_string(r, &name))
            return false;
        hf_vec_push(&r->columns, name);
    }
    return !r->j.failed;
}

static bool read_scalars(hf_text_reader *r, bool cells)
{
    hf_scalar s;

    if (!hf_json_in_open(&r->j, '['))
        return false;
    while (hf_json_in_next_item(&r->j)) {
        if (!hf_json_in_scalar(&r->j, &s))
            return false;
        if (cells)
            hf_vec_push(&r->cells, keep(r, s));
        else
            hf_vec_push(&r->params, keep(r, s));
    }
    return !r->j.failed;
}

/* A time, or the text of a snapshot by ids. */
bool hf_text_snapshot(hf_text_reader *r, hf_scalar *ret)
{
    hf_scalar s;

    if (!hf_json_in_scalar(&r->j, &s))
        return false;
    if (s.type == HF_NIL ||
        (s.type == HF_TEXT &&
         !hf_snapshot_text_ok((hf_str){s.text, s.length})) ||
        (s.type != HF_TEXT && (s.type != HF_INT || s.number < 0)))
        return hf_json_in_fail(&r->j,
                               "expected a snapshot: a time, or a text such "
                               "as \"100:104:100,102\"");
    *ret = keep(r, s);
    return true;
}

static bool long_field(hf_text_reader *r, long_op *o, hf_str name)
{
    hf_json_in *j = &r->j;

    if (is(name, "op"))
        return o->has_kind = true, read_kind(r, &o->kind);
    if (is(name, "key"))
        return o->has_key = true, hf_text_key(r, &o->key);
    if (is(name, "value"))
        return o->has_value = true, later(r, &o->value);
    if (is(name, "at"))
        return read_interval(r, o);
    if (is(name, "lock"))
        return read_lock(r, o);
    if (is(name, "failed"))
        return hf_json_in_bool(j, &o->failed);
    if (is(name, "items"))
        return hf_json_in_bool(j, &o->items);
    if (is(name, "by"))
        return o->has_by = true, hf_json_in_int(j, &o->by);
    if (is(name, "before"))
        return later(r, &o->before);
    if (is(name, "after"))
        return later(r, &o->after);
    if (is(name, "where"))
        return o->has_where = true, kept_string(r, &o->where);
    if (is(name, "table"))
        return kept_string(r, &o->table);
    if (is(name, "versions"))
        return o->has_versions = true, read_versions(r, false);
    if (is(name, "rows"))
        return o->has_rows = true, later(r, &o->rows);
    if (is(name, "snapshot"))
        return hf_text_snapshot(r, &o->snapshot);
    if (is(name, "columns"))
        return read_columns(r);
    if (is(name, "column")) {
        hf_scalar s;

        if (!kept_string(r, &s))
            return false;
        hf_vec_push(&r->columns, s);
        return true;
    }
    if (is(name, "text"))
        return o->has_text = true, kept_string(r, &o->text);
    if (is(name, "params"))
        return read_scalars(r, false);
    if (is(name, "affected"))
        return hf_json_in_uint(j, &o->affected);
    return hf_text_unknown_field(r, name, "an operation");
}

/* Reads a value whose place was remembered. */
static bool value_at(hf_text_reader *r, const char *place, hf_key_id key,
                     hf_value_id *ret)
{
    const char *back = r->j.at;
    bool ok;

    r->j.at = place;
    ok = hf_text_value(r, key, ret);
    if (ok)
        r->j.at = back;
    return ok;
}

static bool long_item(hf_text_reader *r, hf_txn_id t, const long_op *o)
{
    hf_value_id value = HF_NONE;
    unsigned kind = o->kind;

    if (!o->has_key)
        return hf_json_in_fail(&r->j, "expected \"key\" in a %s",
                               hf_op_kind_name(o->kind));
    if (o->kind == HF_OP_DELETE)
        value = hf_builder_nil(r->b, o->key);
    else if (!o->has_value && o->kind != HF_OP_READ)
        return hf_json_in_fail(&r->j, "expected \"value\" in a %s",
                               hf_op_kind_name(o->kind));
    else if (o->has_value && !value_at(r, o->value, o->key, &value))
        return false;
    if (o->has_value && *o->value == '[') {
        if (o->kind != HF_OP_READ)
            return hf_json_in_fail(&r->j, "a list can only be read");
        kind = HF_OP_READ_LIST;
    }
    (void)hf_builder_op(r->b, t, kind | o->flags, o->key, value);
    return true;
}

static bool long_increment(hf_text_reader *r, hf_txn_id t, const long_op *o)
{
    hf_value_id before = HF_NONE, after = HF_NONE;

    if (!o->has_key || !o->has_by)
        return hf_json_in_fail(&r->j,
                               "expected \"key\" and \"by\" in an increment");
    if (!o->before != !o->after)
        return hf_json_in_fail(
            &r->j, "expected both \"before\" and \"after\", or neither");
    if (o->before && (!value_at(r, o->before, o->key, &before) ||
                      !value_at(r, o->after, o->key, &after)))
        return false;
    (void)hf_builder_increment(r->b, t, o->key, o->by, before, after);
    hf_builder_op_flags(r->b, o->flags);
    return true;
}

/* Notes that the writers of the versions just added are numbers. */
static void note_writers(hf_text_reader *r, size_t extra_at,
                         size_t first_version, size_t n_versions)
{
    for (size_t i = 0; i < r->version_ids.n; i++) {
        hf_pending p = r->version_ids.at[i];

        p.where = extra_at + first_version + 2 * p.where + 1;
        hf_vec_push(&r->writers, p);
    }
    for (size_t i = 0; i < r->row_ids.n; i++) {
        hf_pending p = r->row_ids.at[i];

        p.where = extra_at + first_version + 2 * (n_versions + p.where) + 1;
        hf_vec_push(&r->writers, p);
    }
}

static bool long_predicate(hf_text_reader *r, hf_txn_id t, const long_op *o)
{
    bool aggregate = hf_op_is_aggregate(o->kind);
    hf_predicate_in p = {
        .table = o->table, .condition = o->where, .snapshot = o->snapshot};
    const char *back = r->j.at;
    size_t at = r->b->extra.n;

    if (!o->has_where)
        return hf_json_in_fail(&r->j, "expected \"where\" in a %s",
                               hf_op_kind_name(o->kind));
    if (o->has_versions && o->snapshot.type != HF_NIL)
        return hf_json_in_fail(
            &r->j, "expected \"versions\" or \"snapshot\", found both");
    if (o->rows) {
        r->j.at = o->rows;
        if (!read_versions(r, true))
            return false;
        r->j.at = back;
    }
    if (aggregate && o->has_value) {
        r->j.at = o->value;
        if (!hf_json_in_scalar(&r->j, &p.result))
            return false;
        r->j.at = back;
    }
    p.columns = r->columns.at;
    p.n_columns = (uint32_t)r->columns.n;
    p.has_version_set = o->has_versions;
    p.versions = r->versions.at;
    p.n_versions = (uint32_t)r->versions.n;
    p.has_result_set = aggregate ? o->has_value : o->has_rows;
    p.results = r->rows.at;
    p.n_results = (uint32_t)r->rows.n;
    (void)hf_builder_predicate(r->b, t, o->kind | o->flags, &p);
    note_writers(r, at,
                 r->b->extra.n - at - 2 * (r->versions.n + r->rows.n) - 2,
                 r->versions.n);
    return true;
}

static bool read_rows(hf_text_reader *r, uint32_t *ret_rows)
{
    size_t width = r->columns.n;

    if (!hf_json_in_open(&r->j, '['))
        return false;
    while (hf_json_in_next_item(&r->j)) {
        size_t before = r->cells.n;

        if (!read_scalars(r, true))
            return false;
        if (r->cells.n - before != width)
            return hf_json_in_fail(
                &r->j, "a row has %zu values, \"columns\" names %zu",
                r->cells.n - before, width);
        ++*ret_rows;
    }
    return !r->j.failed;
}

static bool long_sql(hf_text_reader *r, hf_txn_id t, const long_op *o)
{
    hf_sql_in s = {.text = o->text, .affected = o->affected};
    const char *back = r->j.at;

    if (!o->has_text)
        return hf_json_in_fail(&r->j, "expected \"text\" in a statement");
    if (o->rows) {
        r->j.at = o->rows;
        if (!read_rows(r, &s.n_rows))
            return false;
        r->j.at = back;
    }
    s.params = r->params.at;
    s.n_params = (uint32_t)r->params.n;
    s.has_rows = o->has_rows;
    s.names = r->columns.at;
    s.n_columns = (uint32_t)r->columns.n;
    s.cells = r->cells.at;
    (void)hf_builder_sql(r->b, t, &s);
    hf_builder_op_flags(r->b, o->flags);
    return true;
}

static bool long_form(hf_text_reader *r, hf_txn_id t)
{
    long_op o = {.affected = UINT64_MAX};
    hf_str name;
    bool ok;

    r->versions.n = r->rows.n = r->columns.n = r->params.n = r->cells.n = 0;
    r->version_ids.n = r->row_ids.n = 0;
    if (!hf_json_in_open(&r->j, '{'))
        return false;
    while (hf_json_in_next_key(&r->j, &name))
        if (!long_field(r, &o, name))
            return false;
    if (r->j.failed)
        return false;
    if (!o.has_kind)
        return hf_json_in_fail(&r->j, "expected \"op\" in the operation");
    if (o.failed)
        o.flags |= HF_OP_FAILED;
    if (o.items && o.kind != HF_OP_SQL)
        return hf_json_in_fail(&r->j, "\"items\" is of SQL statements");
    if (o.items)
        o.flags |= HF_OP_WITH_ITEMS;
    if (hf_op_has_predicate(o.kind)) {
        ok = long_predicate(r, t, &o);
    } else if (o.kind == HF_OP_SQL) {
        ok = long_sql(r, t, &o);
    } else if (o.kind == HF_OP_INCREMENT) {
        ok = long_increment(r, t, &o);
    } else if (o.kind >= HF_OP_BEGIN) {
        (void)hf_builder_op(r->b, t, o.kind | o.flags, HF_NONE, HF_NONE);
        ok = true;
    } else {
        ok = long_item(r, t, &o);
    }
    if (ok && o.has_at)
        hf_builder_interval(r->b, o.start, o.end);
    hf_arena_reset(&r->scratch);
    return ok;
}

bool hf_text_op(hf_text_reader *r, hf_txn_id t)
{
    if (fast_item(r, t))
        return true;
    return hf_json_in_peek(&r->j) == '{' ? long_form(r, t) : short_form(r, t);
}

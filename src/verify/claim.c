/* claim.c: reads a claim from JSON, in the form of docs/json.md.
 *
 * Fields may come in any order and what a field means may depend on `kind`,
 * so the long ones are first passed over and read once the kind is known.
 * Every number is checked against the history; fields that are not known are
 * ignored.  Nothing is said here about whether the claim is true.
 */
#include "verify/verify.h"

#include "base/json_in.h"
#include "base/vec.h"

/* A value passed over, to be read later. */
typedef struct part {
    hf_str text;
    uint64_t line;
    bool present;
} part;

typedef struct form {
    const hf_history *h;
    hf_arena *arena;
    hf_claim *claim;
    hf_error *err;
    bool has_verdict, has_level, has_kind, has_anomaly, has_witness;
    part order, sources, edges, operations, transactions;
} form;

typedef HF_VEC(uint32_t) id_list;

static void *copy(form *f, const void *from, size_t count, size_t size)
{
    void *to = hf_arena_get(f->arena, hf_array_size(count + 1, size));

    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* An id below `limit`. */
static bool read_id(hf_json_in *j, uint32_t limit, const char *what,
                    uint32_t *ret)
{
    uint64_t n;

    if (!hf_json_in_uint(j, &n))
        return false;
    if (n >= limit)
        return hf_json_in_fail(j, "expected %s below %u, found %llu", what,
                               (unsigned)limit, (unsigned long long)n);
    *ret = (uint32_t)n;
    return true;
}

static bool read_id_or_null(hf_json_in *j, uint32_t limit, const char *what,
                            uint32_t *ret)
{
    if (hf_json_in_peek(j) == 'n') {
        *ret = HF_NONE;
        return hf_json_in_null(j) ||
               hf_json_in_fail(j, "expected %s or null", what);
    }
    return read_id(j, limit, what, ret);
}

/* The next element must be there. */
static bool more(hf_json_in *j, const char *what)
{
    return hf_json_in_next_item(j) ||
           (!j->failed && hf_json_in_fail(j, "expected %s", what));
}

static bool no_more(hf_json_in *j)
{
    if (hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected the end of the array");
    return !j->failed;
}

/* ---- the parts ----------------------------------------------------------- */

static void read_ids(hf_json_in *j, uint32_t limit, const char *what,
                     id_list *ret)
{
    uint32_t id = 0;

    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j))
        if (read_id(j, limit, what, &id))
            hf_vec_push(ret, id);
        else
            return;
}

/* [transaction, "start"] or [transaction, "commit"] */
static bool read_event(hf_json_in *j, uint32_t limit, uint32_t *ret)
{
    hf_str word;
    uint32_t t = 0;

    if (!hf_json_in_open(j, '[') || !more(j, "a transaction") ||
        !read_id(j, limit, "a transaction", &t) ||
        !more(j, "\"start\" or \"commit\"") || !hf_json_in_string(j, &word))
        return false;
    if (hf_str_eq(word, HF_STR("commit")))
        *ret = 2 * t + 1;
    else if (hf_str_eq(word, HF_STR("start")))
        *ret = 2 * t;
    else
        return hf_json_in_fail(j, "expected \"start\" or \"commit\"");
    return no_more(j);
}

static void read_order(form *f, hf_json_in *j, id_list *ret)
{
    uint32_t event = 0;

    if (f->claim->witness.kind != HF_WITNESS_SNAPSHOT) {
        read_ids(j, f->h->n_txns, "a transaction", ret);
        return;
    }
    if (f->h->n_txns > UINT32_MAX / 2) {
        (void)hf_json_in_fail(j, "too many transactions for a list of events");
        return;
    }
    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j)) {
        if (!read_event(j, f->h->n_txns, &event))
            return;
        hf_vec_push(ret, event);
    }
}

static bool read_source(const hf_history *h, hf_json_in *j, hf_source *ret)
{
    return hf_json_in_open(j, '[') && more(j, "an operation") &&
           read_id(j, h->n_ops, "an operation", &ret->op) &&
           more(j, "an index") &&
           read_id(j, UINT32_MAX, "an index", &ret->index) &&
           more(j, "a transaction or null") &&
           read_id_or_null(j, h->n_txns, "a transaction", &ret->writer) &&
           no_more(j);
}

static void read_sources(form *f, hf_json_in *j)
{
    HF_VEC(hf_source) list = {0};
    hf_source s;

    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j)) {
        if (!read_source(f->h, j, &s))
            break;
        hf_vec_push(&list, s);
    }
    if (list.n >= HF_NONE)
        (void)hf_json_in_fail(j, "too many sources");
    f->claim->witness.n_sources = (uint32_t)list.n;
    f->claim->witness.sources = copy(f, list.at, list.n, sizeof(hf_source));
    hf_vec_release(&list);
}

/* ---- edges --------------------------------------------------------------- */

static bool read_edge_kind(hf_json_in *j, hf_edge_kind *ret)
{
    hf_str name;

    if (!hf_json_in_string(j, &name))
        return false;
    for (unsigned k = 0; k < HF_EDGE_KIND_COUNT; k++)
        if (hf_str_eq(name, hf_str_of(hf_edge_kind_name((hf_edge_kind)k)))) {
            *ret = (hf_edge_kind)k;
            return true;
        }
    return hf_json_in_fail(j, "unrecognized edge kind \"%.*s\"",
                           (int)(name.len < 32 ? name.len : 32), name.ptr);
}

/* Text as it is written: bytes that are no ASCII may have been replaced. */
static bool is_text(hf_str written, hf_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return true;
    return hf_str_eq(written, text);
}

/* The next value names the primary key part of `key`; consumes it. */
static bool is_plain_name(const hf_history *h, hf_json_in *j, hf_key_id key)
{
    hf_scalar written, s = hf_key_scalar(h, key);

    if (!hf_json_in_scalar(j, &written) || written.type != s.type)
        return false;
    return s.type == HF_INT ? written.number == s.number
                            : is_text((hf_str){written.text, written.length},
                                      (hf_str){s.text, s.length});
}

static bool is_name_of(const hf_history *h, const part *name, hf_key_id key)
{
    hf_json_in j;
    hf_str table;
    bool same;

    hf_json_in_init(&j, name->text.ptr, name->text.len);
    if (!h->key_table || h->key_table[key] == HF_NONE)
        same = hf_json_in_peek(&j) != '[' && is_plain_name(h, &j, key);
    else
        same = hf_json_in_peek(&j) == '[' && hf_json_in_open(&j, '[') &&
               hf_json_in_next_item(&j) && hf_json_in_string(&j, &table) &&
               is_text(table, hf_string(h, h->key_table[key])) &&
               hf_json_in_next_item(&j) && is_plain_name(h, &j, key);
    hf_json_in_release(&j);
    return same;
}

/* The key is the one its operations are about; a name that fits neither
 * leaves it HF_NONE, which the edge will be refused for. */
static hf_key_id key_of_edge(const hf_history *h, const hf_edge *e,
                             const part *name)
{
    const hf_op_id ops[2] = {e->from_op, e->to_op};

    if (e->kind == HF_EDGE_SO || e->kind == HF_EDGE_RT)
        return HF_NONE;
    for (int i = 0; i < 2; i++) {
        hf_key_id key = ops[i] == HF_NONE ? HF_NONE : h->op_key[ops[i]];

        if (key != HF_NONE && (!name->present || is_name_of(h, name, key)))
            return key;
    }
    return HF_NONE;
}

static bool pass_over(hf_json_in *j, part *ret)
{
    ret->line = hf_json_in_line(j);
    ret->present = hf_json_in_peek(j) != 'n';
    return hf_json_in_skip(j, &ret->text);
}

static bool read_edge(const hf_history *h, hf_json_in *j, hf_edge *ret)
{
    part name = {0};
    bool has_kind = false;
    hf_str key;

    *ret = (hf_edge){HF_EDGE_WW, HF_NONE, HF_NONE, HF_NONE, HF_NONE, HF_NONE};
    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("kind")))
            has_kind = read_edge_kind(j, &ret->kind);
        else if (hf_str_eq(key, HF_STR("from")))
            (void)read_id(j, h->n_txns, "a transaction", &ret->from);
        else if (hf_str_eq(key, HF_STR("to")))
            (void)read_id(j, h->n_txns, "a transaction", &ret->to);
        else if (hf_str_eq(key, HF_STR("from_op")))
            (void)read_id_or_null(j, h->n_ops, "an operation", &ret->from_op);
        else if (hf_str_eq(key, HF_STR("to_op")))
            (void)read_id_or_null(j, h->n_ops, "an operation", &ret->to_op);
        else if (hf_str_eq(key, HF_STR("key")))
            (void)pass_over(j, &name);
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (j->failed)
        return false;
    if (!has_kind || ret->from == HF_NONE || ret->to == HF_NONE)
        return hf_json_in_fail(j, "expected an edge with kind, from and to");
    ret->key = key_of_edge(h, ret, &name);
    return true;
}

static void read_edges(form *f, hf_json_in *j)
{
    HF_VEC(hf_edge) list = {0};
    hf_edge e;

    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j)) {
        if (!read_edge(f->h, j, &e))
            break;
        hf_vec_push(&list, e);
    }
    if (list.n >= HF_NONE)
        (void)hf_json_in_fail(j, "too many edges");
    f->claim->witness.n_edges = (uint32_t)list.n;
    f->claim->witness.edges = copy(f, list.at, list.n, sizeof(hf_edge));
    hf_vec_release(&list);
}

/* ---- the object ---------------------------------------------------------- */

static bool read_verdict(form *f, hf_json_in *j)
{
    hf_str name;

    if (!hf_json_in_string(j, &name))
        return false;
    for (unsigned v = 0; v < HF_VERDICT_COUNT; v++)
        if (hf_str_eq(name, hf_str_of(hf_verdict_name((hf_verdict)v)))) {
            if (f->has_verdict && f->claim->verdict != (hf_verdict)v)
                return hf_json_in_fail(j, "result and witness have different "
                                          "verdicts");
            f->claim->verdict = (hf_verdict)v;
            f->has_verdict = true;
            return true;
        }
    return hf_json_in_fail(j, "expected \"valid\", \"invalid\" or "
                              "\"unknown\"");
}

static bool read_level(form *f, hf_json_in *j)
{
    const char *near = NULL;
    char quoted[48];
    hf_level level;
    hf_str name;

    if (!hf_json_in_string(j, &name))
        return false;
    if (!hf_level_find(name, &level, &near))
        return hf_json_in_fail(
            j, "unrecognized level \"%s\"",
            hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
    if (f->has_level && f->claim->level != level)
        return hf_json_in_fail(j, "result and witness have different levels");
    f->claim->level = level;
    f->has_level = true;
    return true;
}

static bool read_kind(form *f, hf_json_in *j)
{
    char quoted[48];
    hf_str name;

    if (!hf_json_in_string(j, &name))
        return false;
    for (unsigned k = HF_WITNESS_NONE + 1; k < HF_WITNESS_KIND_COUNT; k++)
        if (hf_str_eq(name,
                      hf_str_of(hf_witness_kind_name((hf_witness_kind)k)))) {
            f->claim->witness.kind = (hf_witness_kind)k;
            f->has_kind = true;
            return true;
        }
    return hf_json_in_fail(
        j, "unrecognized kind of witness \"%s\"",
        hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
}

static bool read_anomaly(form *f, hf_json_in *j)
{
    const char *near = NULL;
    char quoted[48];
    hf_str name;

    if (!hf_json_in_string(j, &name))
        return false;
    f->has_anomaly = true;
    return hf_anomaly_find(name, &f->claim->witness.anomaly, &near) ||
           hf_json_in_fail(
               j, "unrecognized anomaly \"%s\"",
               hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
}

/* ["per-key-linearizable", ...] */
static void read_rests(form *f, hf_json_in *j)
{
    char quoted[48];
    hf_str name;

    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j)) {
        unsigned bit = 0;

        if (!hf_json_in_string(j, &name))
            return;
        while (bit < HF_REST_COUNT &&
               !hf_str_eq(name, hf_str_of(hf_rest_name(1u << bit))))
            bit++;
        if (bit == HF_REST_COUNT) {
            (void)hf_json_in_fail(
                j, "unrecognized assumption \"%s\"",
                hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
            return;
        }
        f->claim->witness.rests |= 1u << bit;
    }
}

static bool read_schema(hf_json_in *j)
{
    uint64_t n;

    return hf_json_in_uint(j, &n) &&
           (n == 1 || hf_json_in_fail(j, "expected schema 1, found %llu",
                                      (unsigned long long)n));
}

static void read_object(form *f, hf_json_in *j, bool inner);

static void read_field(form *f, hf_json_in *j, hf_str key, bool inner)
{
    const struct {
        const char *name;
        part *part;
    } parts[] = {{"order", &f->order},
                 {"sources", &f->sources},
                 {"edges", &f->edges},
                 {"operations", &f->operations},
                 {"transactions", &f->transactions}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (hf_str_eq(key, hf_str_of(parts[i].name))) {
            (void)pass_over(j, parts[i].part);
            return;
        }
    if (hf_str_eq(key, HF_STR("verdict")))
        (void)read_verdict(f, j);
    else if (hf_str_eq(key, HF_STR("level")))
        (void)read_level(f, j);
    else if (hf_str_eq(key, HF_STR("kind")))
        (void)read_kind(f, j);
    else if (hf_str_eq(key, HF_STR("anomaly")))
        (void)read_anomaly(f, j);
    else if (hf_str_eq(key, HF_STR("rests")))
        read_rests(f, j);
    else if (hf_str_eq(key, HF_STR("schema")))
        (void)read_schema(j);
    else if (!inner && hf_str_eq(key, HF_STR("witness")))
        read_object(f, j, true);
    else
        (void)hf_json_in_skip(j, NULL);
}

static void read_object(form *f, hf_json_in *j, bool inner)
{
    hf_str key;

    if (inner) {
        f->has_witness = true;
        if (hf_json_in_peek(j) == 'n' && hf_json_in_null(j))
            return;
    }
    if (!hf_json_in_open(j, '{'))
        return;
    while (hf_json_in_next_key(j, &key))
        read_field(f, j, key, inner);
}

/* ---- the parts, now that the kind is known ------------------------------- */

static hf_status read_part(form *f, part *p, const char *name,
                           void (*read)(form *f, hf_json_in *j))
{
    hf_json_in j;
    hf_status st = HF_OK;

    if (!p->present)
        return hf_fail(f->err, HF_ERR_INPUT, "expected a field \"%s\"", name);
    hf_json_in_init(&j, p->text.ptr, p->text.len);
    j.first_line = p->line;
    read(f, &j);
    if (j.failed) {
        *f->err = j.err;
        st = HF_ERR_INPUT;
    }
    hf_json_in_release(&j);
    return st;
}

static void set_ids(form *f, hf_json_in *j, id_list *ids, uint32_t *ret_n,
                    uint32_t **ret)
{
    if (ids->n >= HF_NONE)
        (void)hf_json_in_fail(j, "too many entries");
    *ret_n = (uint32_t)ids->n;
    *ret = copy(f, ids->at, ids->n, sizeof(uint32_t));
    hf_vec_release(ids);
}

static void read_order_part(form *f, hf_json_in *j)
{
    id_list ids = {0};

    read_order(f, j, &ids);
    set_ids(f, j, &ids, &f->claim->witness.n_order, &f->claim->witness.order);
}

static void read_operations_part(form *f, hf_json_in *j)
{
    id_list ids = {0};

    read_ids(j, f->h->n_ops, "an operation", &ids);
    set_ids(f, j, &ids, &f->claim->witness.n_ops, &f->claim->witness.ops);
}

static hf_status read_parts(form *f)
{
    hf_status st = HF_OK;

    switch (f->claim->witness.kind) {
    case HF_WITNESS_SERIAL:
    case HF_WITNESS_SNAPSHOT:
    case HF_WITNESS_COMMIT:
        st = read_part(f, &f->order, "order", read_order_part);
        if (st == HF_OK && f->sources.present)
            st = read_part(f, &f->sources, "sources", read_sources);
        return st;
    case HF_WITNESS_CORE:
        return read_part(f, &f->transactions, "transactions", read_order_part);
    default:
        break;
    }
    if (!f->has_anomaly)
        return hf_fail(f->err, HF_ERR_INPUT, "expected a field \"anomaly\"");
    if (f->claim->witness.kind == HF_WITNESS_CYCLE)
        return read_part(f, &f->edges, "edges", read_edges);
    return read_part(f, &f->operations, "operations", read_operations_part);
}

hf_status hf_claim_read(const hf_history *h, const char *text, size_t length,
                        hf_arena *arena, hf_claim *ret_claim, hf_error *err)
{
    hf_claim claim = {.verdict = HF_UNKNOWN};
    form f = {.h = h, .arena = arena, .claim = &claim, .err = err};
    hf_error ignored;
    hf_json_in j;
    bool failed;

    if (!err)
        f.err = &ignored;
    hf_json_in_init(&j, text, length);
    read_object(&f, &j, false);
    if (!j.failed && hf_json_in_peek(&j) != 0)
        (void)hf_json_in_fail(&j, "expected one object, found more after it");
    failed = j.failed;
    if (failed)
        *f.err = j.err;
    hf_json_in_release(&j);
    if (failed)
        return HF_ERR_INPUT;
    if (!f.has_verdict || !f.has_level)
        return hf_fail(f.err, HF_ERR_INPUT,
                       "expected an object with a verdict and a level");
    if (claim.verdict != HF_UNKNOWN || f.has_kind) {
        hf_status st;

        if (!f.has_kind)
            return hf_fail(f.err, HF_ERR_INPUT,
                           "expected a witness with a field \"kind\"");
        st = read_parts(&f);
        if (st != HF_OK)
            return st;
    }
    *ret_claim = claim;
    return HF_OK;
}

/* claim.c: reads a claim from JSON, in the form of docs/json.md.
 *
 * Fields may come in any order and what a field means may depend on `kind`,
 * so the long ones are first passed over and read once the kind is known.
 * Every number is checked against the history; fields that are not known are
 * ignored.  Nothing is said here about whether the claim is true.
 */
#include "verify/claim.h"

#include "base/vec.h"
#include "verify/facts.h"

typedef struct form {
    const hf_history *h;
    hf_arena *arena;
    hf_claim *claim;
    hf_error *err;
    bool has_verdict, has_level, has_kind, has_anomaly, has_witness;
    bool mixed; /* says the result; the witness must say the same */
    hf_claim_part order, sources, edges, operations, transactions, steps;
    hf_claim_part core;
} form;

typedef HF_VEC(uint32_t) id_list;

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
        if (hf_claim_id(j, limit, what, &id))
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
        !hf_claim_id(j, limit, "a transaction", &t) ||
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

/* {"key": ...}: of rows without a version set; behind what it read. */
static bool read_key_index(const hf_history *h, hf_json_in *j, hf_source *ret)
{
    hf_claim_part name = {0};
    hf_key_id id;
    hf_str key;

    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key))
        if (hf_str_eq(key, HF_STR("key")))
            (void)hf_claim_pass(j, &name);
        else
            (void)hf_json_in_skip(j, NULL);
    id = hf_claim_key(h, &name);
    if (j->failed || id == HF_NONE)
        return hf_json_in_fail(j, "expected a key of the history");
    ret->index = hf_item_reads(h, ret->op) + id;
    return true;
}

static bool read_source(const hf_history *h, hf_json_in *j, hf_source *ret)
{
    return hf_json_in_open(j, '[') && more(j, "an operation") &&
           hf_claim_id(j, h->n_ops, "an operation", &ret->op) &&
           more(j, "an index") &&
           (hf_json_in_peek(j) == '{'
                ? read_key_index(h, j, ret)
                : hf_claim_id(j, UINT32_MAX, "an index", &ret->index)) &&
           more(j, "a transaction or null") &&
           hf_claim_id_or_null(j, h->n_txns, "a transaction", &ret->writer) &&
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
    f->claim->witness.sources =
        hf_claim_copy(f->arena, list.at, list.n, sizeof(hf_source));
    hf_vec_release(&list);
}

/* ---- invalid ---------------------------------------------------------- */

static void read_edges(form *f, hf_json_in *j)
{
    HF_VEC(hf_edge) list = {0};
    hf_edge e;

    if (!hf_json_in_open(j, '['))
        return;
    while (hf_json_in_next_item(j)) {
        if (!hf_claim_edge(f->h, j, &e, NULL))
            break;
        hf_vec_push(&list, e);
    }
    if (list.n >= HF_NONE)
        (void)hf_json_in_fail(j, "too many edges");
    f->claim->witness.n_edges = (uint32_t)list.n;
    f->claim->witness.edges =
        hf_claim_copy(f->arena, list.at, list.n, sizeof(hf_edge));
    hf_vec_release(&list);
}

static void read_steps(form *f, hf_json_in *j)
{
    hf_claim_steps(f->h, j, f->arena, &f->claim->witness);
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

/* "enumeration", or null */
static bool read_confirmed(form *f, hf_json_in *j)
{
    hf_str how;

    if (hf_json_in_peek(j) == 'n')
        return hf_json_in_null(j);
    if (!hf_json_in_string(j, &how))
        return false;
    f->claim->witness.confirmed = true;
    return hf_str_eq(how, HF_STR("enumeration")) ||
           hf_json_in_fail(j, "expected \"enumeration\" or null");
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
        hf_claim_part *part;
    } parts[] = {{"order", &f->order},
                 {"sources", &f->sources},
                 {"edges", &f->edges},
                 {"operations", &f->operations},
                 {"transactions", &f->transactions},
                 {"steps", &f->steps},
                 {"core", &f->core}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (hf_str_eq(key, hf_str_of(parts[i].name))) {
            (void)hf_claim_pass(j, parts[i].part);
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
    else if (hf_str_eq(key, HF_STR("mixed")))
        (void)hf_json_in_bool(j, inner ? &f->claim->witness.mixed : &f->mixed);
    else if (hf_str_eq(key, HF_STR("minimal")))
        (void)hf_json_in_bool(j, &f->claim->witness.minimal);
    else if (hf_str_eq(key, HF_STR("confirmed")))
        (void)read_confirmed(f, j);
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

static hf_status read_part(form *f, hf_claim_part *p, const char *name,
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
    *ret = hf_claim_copy(f->arena, ids->at, ids->n, sizeof(uint32_t));
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
    case HF_WITNESS_PROOF:
        f->claim->witness.anomaly = HF_NO_ORDER;
        st = read_part(f, &f->steps, "steps", read_steps);
        if (st == HF_OK && f->core.present)
            st = read_part(f, &f->core, "core", read_order_part);
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
    if (!f.has_witness)
        claim.witness.mixed = f.mixed;
    else if (f.has_kind && claim.witness.mixed != f.mixed)
        return hf_fail(f.err, HF_ERR_INPUT,
                       "only one of result and witness is about mixed levels");
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

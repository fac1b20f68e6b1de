/* claim_edges.c: the edges of a claim, and the steps of a proof.
 *
 * A step has one field that says what it is; what does not belong to it is
 * ignored.  Steps of a resolution are checked to be earlier ones.
 */
#include "verify/claim.h"

#include "base/vec.h"
#include "verify/facts.h"

void *hf_claim_copy(hf_arena *arena, const void *from, size_t count,
                    size_t size)
{
    void *to = hf_arena_get(arena, hf_array_size(count + 1, size));

    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* An id below `limit`. */
bool hf_claim_id(hf_json_in *j, uint32_t limit, const char *what, uint32_t *ret)
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

bool hf_claim_id_or_null(hf_json_in *j, uint32_t limit, const char *what,
                         uint32_t *ret)
{
    if (hf_json_in_peek(j) == 'n') {
        *ret = HF_NONE;
        return hf_json_in_null(j) ||
               hf_json_in_fail(j, "expected %s or null", what);
    }
    return hf_claim_id(j, limit, what, ret);
}

/* Without the line, which takes a count of all lines before. */
static bool skip_part(hf_json_in *j, hf_claim_part *ret)
{
    ret->present = hf_json_in_peek(j) != 'n';
    return hf_json_in_skip(j, &ret->text);
}

bool hf_claim_pass(hf_json_in *j, hf_claim_part *ret)
{
    ret->line = hf_json_in_line(j);
    return skip_part(j, ret);
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

static bool is_name_of(const hf_history *h, const hf_claim_part *name,
                       hf_key_id key)
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

/* Two conditions may have looked at any key of that name.  O(keys). */
hf_key_id hf_claim_key(const hf_history *h, const hf_claim_part *name)
{
    for (hf_key_id key = 0; name->present && key < h->n_keys; key++)
        if (is_name_of(h, name, key))
            return key;
    return HF_NONE;
}

static bool is_condition(const hf_history *h, hf_op_id op)
{
    return op != HF_NONE && hf_op_has_predicate(hf_op_kind_of(h, op));
}

/* The key is the one its operations are about; a name that fits neither
 * leaves it HF_NONE, which the edge will be refused for. */
static hf_key_id key_of_edge(const hf_history *h, const hf_edge *e,
                             const hf_claim_part *name)
{
    const hf_op_id ops[2] = {e->from_op, e->to_op};

    if (e->kind == HF_EDGE_SO || e->kind == HF_EDGE_RT)
        return HF_NONE;
    for (int i = 0; i < 2; i++) {
        hf_key_id key = ops[i] == HF_NONE ? HF_NONE : h->op_key[ops[i]];

        if (key != HF_NONE && (!name->present || is_name_of(h, name, key)))
            return key;
    }
    if (is_condition(h, ops[0]) && is_condition(h, ops[1]))
        return hf_claim_key(h, name);
    return HF_NONE;
}

/* "source": a transaction, or "initial" */
static bool read_chosen(const hf_history *h, hf_json_in *j, uint32_t *ret)
{
    hf_str word;
    uint32_t t = 0;

    if (hf_json_in_peek(j) == '"') {
        *ret = HF_CHOSEN_INITIAL;
        return hf_json_in_string(j, &word) &&
               (hf_str_eq(word, HF_STR("initial")) ||
                hf_json_in_fail(j, "expected a transaction or \"initial\""));
    }
    if (!hf_claim_id(j, h->n_txns, "a transaction", &t))
        return false;
    *ret = HF_CHOSEN(t);
    return true;
}

bool hf_claim_edge(const hf_history *h, hf_json_in *j, hf_edge *ret,
                   uint32_t *ret_chosen)
{
    hf_claim_part name = {0};
    bool has_kind = false;
    hf_str key;

    if (ret_chosen)
        *ret_chosen = HF_CHOSEN_ONLY;
    *ret = (hf_edge){HF_EDGE_WW, HF_NONE, HF_NONE, HF_NONE, HF_NONE, HF_NONE};
    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("kind")))
            has_kind = read_edge_kind(j, &ret->kind);
        else if (hf_str_eq(key, HF_STR("from")))
            (void)hf_claim_id(j, h->n_txns, "a transaction", &ret->from);
        else if (hf_str_eq(key, HF_STR("to")))
            (void)hf_claim_id(j, h->n_txns, "a transaction", &ret->to);
        else if (hf_str_eq(key, HF_STR("from_op")))
            (void)hf_claim_id_or_null(j, h->n_ops, "an operation",
                                      &ret->from_op);
        else if (hf_str_eq(key, HF_STR("to_op")))
            (void)hf_claim_id_or_null(j, h->n_ops, "an operation", &ret->to_op);
        else if (hf_str_eq(key, HF_STR("key")))
            (void)skip_part(j, &name);
        else if (ret_chosen && hf_str_eq(key, HF_STR("source")))
            (void)read_chosen(h, j, ret_chosen);
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

/* ---- steps --------------------------------------------------------------- */

typedef struct steps {
    const hf_history *h;
    HF_VEC(hf_step) steps;
    HF_VEC(hf_edge) edges;
    HF_VEC(uint32_t) chosen, used;
} steps;

static bool read_edges(steps *s, hf_json_in *j, hf_step *ret)
{
    uint32_t chosen = HF_CHOSEN_ONLY;
    hf_edge e;

    ret->first = (uint32_t)s->edges.n;
    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        if (!hf_claim_edge(s->h, j, &e, &chosen))
            return false;
        if (s->edges.n >= HF_NONE - 1)
            return hf_json_in_fail(j, "too many edges");
        hf_vec_push(&s->edges, e);
        hf_vec_push(&s->chosen, chosen);
    }
    ret->n = (uint32_t)s->edges.n - ret->first;
    return !j->failed;
}

static bool read_used(steps *s, hf_json_in *j, hf_step *ret)
{
    uint32_t step = 0;

    ret->kind = HF_STEP_RESOLVE;
    ret->first = (uint32_t)s->used.n;
    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        if (!hf_claim_id(j, (uint32_t)s->steps.n, "an earlier step", &step))
            return false;
        if (s->used.n >= HF_NONE - 1)
            return hf_json_in_fail(j, "too many steps are used");
        hf_vec_push(&s->used, step);
    }
    ret->n = (uint32_t)s->used.n - ret->first;
    return !j->failed;
}

/* What a predicate operation saw: its key. */
static bool take_entry(const hf_history *h, uint32_t index, hf_step *step)
{
    if ((step->kind != HF_STEP_SOURCES && step->kind != HF_STEP_HAPPENED) ||
        step->op == HF_NONE || index >= hf_item_reads(h, step->op))
        return false;
    step->entry = hf_item_read_at(h, step->op, index).key + 1;
    return true;
}

/* ... of a key that rows without a version set speak of. */
static bool take_key(const hf_history *h, const hf_claim_part *name,
                     hf_step *step)
{
    hf_key_id key = hf_claim_key(h, name);

    if ((step->kind != HF_STEP_SOURCES && step->kind != HF_STEP_HAPPENED) ||
        step->op == HF_NONE || key == HF_NONE)
        return false;
    step->entry = key + 1;
    return true;
}

static bool read_step(steps *s, hf_json_in *j)
{
    hf_step step = {.op = HF_NONE, .writer = HF_NONE};
    uint32_t entry = HF_NONE;
    hf_claim_part name = {0};
    unsigned kinds = 0;
    hf_str key;

    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key)) {
        bool cycle = hf_str_eq(key, HF_STR("cycle"));
        bool resolve = hf_str_eq(key, HF_STR("resolve"));
        bool sources = hf_str_eq(key, HF_STR("sources"));
        bool happened = hf_str_eq(key, HF_STR("happened"));
        bool list = hf_str_eq(key, HF_STR("list"));
        bool promise = hf_str_eq(key, HF_STR("promise"));
        bool fault = hf_str_eq(key, HF_STR("fault"));

        kinds +=
            cycle || resolve || sources || happened || list || promise || fault;
        if (kinds > 1)
            return hf_json_in_fail(j, "a step is one thing only");
        if (cycle || promise) {
            step.kind = cycle ? HF_STEP_CYCLE : HF_STEP_PROMISE;
            (void)read_edges(s, j, &step);
        } else if (list) {
            step.kind = HF_STEP_LIST;
            step.first = (uint32_t)s->edges.n;
            (void)hf_claim_id(j, s->h->n_ops, "an operation", &step.op);
        } else if (hf_str_eq(key, HF_STR("orders")) &&
                   step.kind == HF_STEP_LIST) {
            (void)read_edges(s, j, &step);
        } else if (resolve) {
            (void)read_used(s, j, &step);
        } else if (sources || happened || fault) {
            step.kind = sources    ? HF_STEP_SOURCES
                        : happened ? HF_STEP_HAPPENED
                                   : HF_STEP_FAULT;
            (void)hf_claim_id(j, s->h->n_ops, "an operation", &step.op);
        } else if (hf_str_eq(key, HF_STR("writer"))) {
            (void)hf_claim_id(j, s->h->n_txns, "a transaction", &step.writer);
        } else if (hf_str_eq(key, HF_STR("entry"))) {
            (void)hf_claim_id(j, HF_NONE - 1, "a number", &entry);
        } else if (hf_str_eq(key, HF_STR("key"))) {
            (void)skip_part(j, &name);
        } else {
            (void)hf_json_in_skip(j, NULL);
        }
    }
    if (j->failed)
        return false;
    if (entry != HF_NONE && !take_entry(s->h, entry, &step))
        return hf_json_in_fail(j, "there is no such entry of a version set");
    if (name.present && !take_key(s->h, &name, &step))
        return hf_json_in_fail(j, "the history has no such key");
    if (kinds == 0)
        return hf_json_in_fail(j, "expected a step with a field \"cycle\", "
                                  "\"sources\", \"happened\", \"list\", "
                                  "\"promise\", \"fault\" or \"resolve\"");
    if (s->steps.n >= HF_NONE / 2)
        return hf_json_in_fail(j, "too many steps");
    hf_vec_push(&s->steps, step);
    return true;
}

void hf_claim_steps(const hf_history *h, hf_json_in *j, hf_arena *arena,
                    hf_witness *ret)
{
    steps s = {.h = h};

    if (hf_json_in_open(j, '['))
        while (hf_json_in_next_item(j) && read_step(&s, j))
            ;
    ret->n_steps = (uint32_t)s.steps.n;
    ret->steps = hf_claim_copy(arena, s.steps.at, s.steps.n, sizeof(hf_step));
    ret->n_edges = (uint32_t)s.edges.n;
    ret->edges = hf_claim_copy(arena, s.edges.at, s.edges.n, sizeof(hf_edge));
    ret->chosen =
        hf_claim_copy(arena, s.chosen.at, s.chosen.n, sizeof(uint32_t));
    ret->n_used = (uint32_t)s.used.n;
    ret->used = hf_claim_copy(arena, s.used.at, s.used.n, sizeof(uint32_t));
    hf_vec_release(&s.steps);
    hf_vec_release(&s.edges);
    hf_vec_release(&s.chosen);
    hf_vec_release(&s.used);
}

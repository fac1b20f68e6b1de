/* verify.c: one claim, one answer.
 *
 * Looks at nothing but the raw history and the witness.  Which file checks
 * what: order.c serial and snapshot orders, commit.c commit orders, values.c
 * both the short way, cycle.c cycles, operations.c anomalies of a few
 * operations, core.c cores; rests.h what a witness may rest on.
 */
#include "verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "verify/verifier.h"

bool hf_refuse(hf_verifier *v, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(v->ret->reason, sizeof(v->ret->reason), format, args);
    va_end(args);
    return false;
}

bool hf_give_up(hf_verifier *v, hf_status status, const char *format, ...)
{
    char text[sizeof(v->ret->reason)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    v->status = hf_fail(v->err, status, "%s", text);
    return false;
}

bool hf_out_of_budget(hf_verifier *v)
{
    if (!hf_budget_spent(v->budget))
        return false;
    if (v->status == HF_OK)
        (void)hf_give_up(v, HF_ERR_LIMIT, "%s", hf_budget_reason(v->budget));
    return true;
}

/* Large arrays come from the system, zeroed and on huge pages. */
#define LARGE ((size_t)1 << 20)

struct hf_pages {
    struct hf_pages *next;
    void *at;
    size_t size;
};

void *hf_zeros(hf_verifier *v, size_t count, size_t size)
{
    size_t bytes = hf_array_size(count + 1, size);
    struct hf_pages *p;

    if (bytes < LARGE)
        return hf_arena_get(&v->arena, bytes);
    p = hf_arena_get(&v->arena, sizeof(*p));
    *p = (struct hf_pages){v->pages, hf_pages_get(bytes), bytes};
    v->pages = p;
    return p->at;
}

void *hf_nones(hf_verifier *v, size_t count, size_t size)
{
    return memset(hf_zeros(v, count, size), 0xff,
                  hf_array_size(count + 1, size));
}

static void release(hf_verifier *v)
{
    for (struct hf_pages *p = v->pages; p; p = p->next)
        hf_pages_release(p->at, p->size);
    hf_arena_release(&v->arena);
}

hf_label hf_label_txn(const hf_history *h, hf_txn_id t)
{
    hf_label label;

    if (t >= h->n_txns)
        snprintf(label.text, sizeof(label.text), "the initial state");
    else
        snprintf(label.text, sizeof(label.text), "T%" PRId64,
                 hf_txn_label(h, t));
    return label;
}

hf_label hf_label_key(const hf_history *h, hf_key_id key)
{
    hf_label label;
    char table[16] = "", name[24];
    hf_scalar s;

    if (key >= h->n_keys) {
        snprintf(label.text, sizeof(label.text), "(none)");
        return label;
    }
    if (h->key_table && h->key_table[key] != HF_NONE) {
        hf_str t = hf_string(h, h->key_table[key]);

        (void)hf_quote(table, sizeof(table), t.ptr, t.len);
    }
    s = hf_key_scalar(h, key);
    if (s.type == HF_INT)
        snprintf(name, sizeof(name), "%" PRId64, s.number);
    else
        (void)hf_quote(name, sizeof(name), s.text, s.length);
    snprintf(label.text, sizeof(label.text), "%s%s%s", table,
             table[0] ? "/" : "", name);
    return label;
}

/* Ids are in range, whoever made the claim. */
static bool ids_exist(hf_verifier *v)
{
    const hf_witness *w = v->w;
    uint64_t limit = v->h->n_txns;

    if (w->rests >> HF_REST_COUNT)
        return hf_refuse(v, "the witness rests on what is not known");
    if (w->kind == HF_WITNESS_SNAPSHOT)
        limit *= 2;
    for (uint32_t i = 0; i < w->n_order; i++)
        if (w->order[i] >= limit)
            return hf_refuse(v, "the witness names a transaction that does "
                                "not exist");
    for (uint32_t i = 0; i < w->n_sources; i++)
        if (w->sources[i].op >= v->h->n_ops ||
            (w->sources[i].writer != HF_NONE &&
             w->sources[i].writer >= v->h->n_txns))
            return hf_refuse(v, "source %u names what does not exist",
                             (unsigned)i);
    for (uint32_t i = 0; i < w->n_edges; i++)
        if (w->edges[i].from >= v->h->n_txns ||
            w->edges[i].to >= v->h->n_txns ||
            (unsigned)w->edges[i].kind >= HF_EDGE_KIND_COUNT)
            return hf_refuse(v, "edge %u names what does not exist",
                             (unsigned)i);
    for (uint32_t i = 0; i < w->n_ops; i++)
        if (w->ops[i] >= v->h->n_ops)
            return hf_refuse(v, "the witness names an operation that does "
                                "not exist");
    return (unsigned)w->anomaly < HF_ANOMALY_COUNT ||
           hf_refuse(v, "the witness names an anomaly that does not exist");
}

static bool dispatch(hf_verifier *v)
{
    if (!ids_exist(v))
        return false;
    switch (v->w->kind) {
    case HF_WITNESS_SERIAL:
    case HF_WITNESS_SNAPSHOT:
    case HF_WITNESS_COMMIT:
        return hf_verify_order(v);
    case HF_WITNESS_CYCLE:
        return hf_facts_build(v) && hf_verify_cycle(v);
    case HF_WITNESS_OPERATIONS:
        return hf_facts_build(v) && hf_verify_operations(v);
    case HF_WITNESS_CORE:
        return hf_facts_build(v) && hf_verify_core(v);
    default:
        return hf_refuse(v, "there is no witness");
    }
}

hf_status hf_verify_claim(const hf_history *h, const hf_claim *claim,
                          hf_budget *budget, hf_verification *ret,
                          hf_error *err)
{
    hf_verifier v = {.h = h, .w = &claim->witness, .budget = budget};
    hf_verification answer = {.accepted = false, .reason = ""};

    if (claim->verdict == HF_UNKNOWN)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "a claim of verdict unknown proves nothing");
    if ((unsigned)claim->level >= HF_LEVEL_COUNT)
        return hf_fail(err, HF_ERR_USAGE, "no such level");
    v.level = claim->level;
    v.info = hf_level_get(claim->level);
    v.ret = &answer;
    v.err = err;
    if (claim->witness.kind == HF_WITNESS_NONE ||
        (unsigned)claim->witness.kind >= HF_WITNESS_KIND_COUNT ||
        hf_witness_proves(claim->witness.kind) != claim->verdict) {
        (void)hf_refuse(&v,
                        "a witness of this kind does not prove the "
                        "verdict \"%s\"",
                        hf_verdict_name(claim->verdict));
        *ret = answer;
        return HF_OK;
    }
    hf_arena_init(&v.arena);
    answer.accepted = dispatch(&v) && v.status == HF_OK;
    release(&v);
    if (v.status == HF_OK)
        *ret = answer;
    return v.status;
}

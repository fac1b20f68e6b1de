/* verify.c: one claim, one answer; or several about one history.
 *
 * Looks at nothing but the raw history and the witness.  Which file checks
 * what: order.c serial and snapshot orders, commit.c commit orders, values.c
 * both the short way, cycle.c cycles, operations.c anomalies of a few
 * operations, core.c cores, proof.c proofs, part.c those that
 * are about a core; rests.h what a witness may rest
 * on.  Conditions are match.c, version sets predicate.c and, for snapshots,
 * entries.h.
 */
#include "verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "history/bare_lists.h"
#include "verify/core.h"
#include "verify/entries.h"
#include "verify/expected.h"

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

static void *get(hf_store *store, size_t count, size_t size)
{
    size_t bytes = hf_array_size(count + 1, size);
    struct hf_pages *p;

    if (bytes < LARGE)
        return hf_arena_get(&store->arena, bytes);
    p = hf_arena_get(&store->arena, sizeof(*p));
    *p = (struct hf_pages){store->pages, hf_pages_get(bytes), bytes};
    store->pages = p;
    return p->at;
}

void *hf_zeros(hf_verifier *v, size_t count, size_t size)
{
    return get(&v->claim, count, size);
}

void *hf_nones(hf_verifier *v, size_t count, size_t size)
{
    return memset(hf_zeros(v, count, size), 0xff,
                  hf_array_size(count + 1, size));
}

void *hf_kept_zeros(hf_verifier *v, size_t count, size_t size)
{
    return get(&v->kept, count, size);
}

void *hf_kept_nones(hf_verifier *v, size_t count, size_t size)
{
    return memset(hf_kept_zeros(v, count, size), 0xff,
                  hf_array_size(count + 1, size));
}

static void release_pages(hf_store *store)
{
    for (struct hf_pages *p = store->pages; p; p = p->next)
        hf_pages_release(p->at, p->size);
    store->pages = NULL;
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
    case HF_WITNESS_PROOF:
        if (v->w->n_order == 0 && (v->w->minimal || v->w->confirmed))
            return hf_refuse(v, "there is no core that could be minimal");
        return hf_facts_build(v) && (v->w->n_order > 0 ? hf_verify_part_proof(v)
                                                       : hf_verify_proof(v));
    default:
        return hf_refuse(v, "there is no witness");
    }
}

/* ---- few transactions ---------------------------------------------------- */

/* An operation that nobody recorded the version set of can be judged with the
 * order of a witness only where that tells the state it saw.  Few transactions
 * are enumerated instead: whatever the witness says, they are possible at the
 * level, and keep what it rests on, or not. */
static bool is_possible(hf_verifier *v)
{
    const hf_witness *w = v->w;
    hf_txn_id all[HF_CORE_MOST];
    hf_witness core = {.kind = HF_WITNESS_CORE,
                       .mixed = w->mixed,
                       .rests = w->rests,
                       .order = all,
                       .n_order = v->h->n_txns};
    hf_core *c = hf_zeros(v, 1, sizeof(*c));
    bool possible;

    for (hf_txn_id t = 0; t < v->h->n_txns; t++)
        all[t] = t;
    v->w = &core;
    v->status = HF_OK;
    possible = hf_facts_build(v) && hf_core_build(v, c) &&
               hf_core_has_order(c) && !c->dropped_predicate;
    v->w = w;
    return possible && v->status == HF_OK;
}

static bool has_open_sets(const hf_verifier *v)
{
    const hf_history *h = v->h;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)) &&
            !hf_op_predicate(h, op).has_version_set)
            return true;
    return false;
}

/* The order alone did not tell. */
static bool accepts_few(hf_verifier *v, hf_verdict verdict)
{
    hf_status st = v->status;

    if (st != HF_ERR_UNSUPPORTED || verdict != HF_VALID ||
        v->h->n_txns > HF_CORE_MOST || (v->w->rests & ~HF_REST_ASSUMABLE) ||
        !has_open_sets(v))
        return false;
    if (is_possible(v))
        return true;
    v->status = st;
    return false;
}

/* ---- sessions ------------------------------------------------------------ */

hf_verify_session *hf_verify_open(const hf_history *h)
{
    hf_verifier *v = HF_NEW(hf_verifier);

    v->bare = hf_bare_lists(h);
    v->h = v->bare ? v->bare : h;
    hf_arena_init(&v->claim.arena);
    hf_arena_init(&v->kept.arena);
    return v;
}

void hf_verify_close(hf_verify_session *session)
{
    if (!session)
        return;
    hf_entries_close(session);
    hf_sql_cache_free(session->sql);
    release_pages(&session->claim);
    release_pages(&session->kept);
    hf_arena_release(&session->claim.arena);
    hf_arena_release(&session->kept.arena);
    hf_bare_lists_free(session->bare);
    hf_free(session);
}

void hf_verify_set_dialect(hf_verify_session *session, hf_sql_dialect dialect)
{
    session->dialect = dialect;
}

void hf_verify_set_eager(hf_verify_session *session)
{
    session->eager = true;
}

static bool can_prove(const hf_claim *claim)
{
    return claim->witness.kind != HF_WITNESS_NONE &&
           (unsigned)claim->witness.kind < HF_WITNESS_KIND_COUNT &&
           hf_witness_proves(claim->witness.kind) == claim->verdict;
}

static void take(hf_verifier *v, const hf_witness *w, hf_level level,
                 hf_budget *budget)
{
    v->w = w;
    v->level = level;
    v->info = hf_level_get(level);
    v->budget = budget;
    v->status = HF_OK;
}

static void drop(hf_verifier *v)
{
    release_pages(&v->claim);
    hf_arena_reset(&v->claim.arena);
    v->w = NULL;
    v->budget = NULL;
    v->ret = NULL;
    v->err = NULL;
}

hf_status hf_verify_claim_in(hf_verify_session *session, const hf_claim *claim,
                             hf_budget *budget, hf_verification *ret,
                             hf_error *err)
{
    hf_verifier *v = session;
    hf_verification answer = {.accepted = false, .reason = ""};

    if (claim->verdict == HF_UNKNOWN)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "a claim of verdict unknown proves nothing");
    if ((unsigned)claim->level >= HF_LEVEL_COUNT)
        return hf_fail(err, HF_ERR_USAGE, "no such level");
    take(v, &claim->witness, claim->level, budget);
    v->ret = &answer;
    v->err = err;
    if (can_prove(claim))
        answer.accepted = (dispatch(v) && v->status == HF_OK) ||
                          accepts_few(v, claim->verdict);
    else
        (void)hf_refuse(v,
                        "a witness of this kind does not prove the "
                        "verdict \"%s\"",
                        hf_verdict_name(claim->verdict));
    drop(v);
    if (v->status == HF_OK)
        *ret = answer;
    return v->status;
}

void hf_verify_explain(hf_verify_session *session, hf_level level,
                       hf_budget *budget, hf_arena *arena, hf_witness *w)
{
    hf_verifier *v = session;
    hf_verification answer = {.accepted = false, .reason = ""};
    hf_error err;

    if (w->kind != HF_WITNESS_OPERATIONS || w->anomaly != HF_EXPECTED_STATE)
        return;
    take(v, w, level, budget);
    v->ret = &answer;
    v->err = &err;
    if (ids_exist(v) && hf_facts_build(v))
        hf_expected_explain(v, arena, w);
    drop(v);
}

hf_status hf_verify_claim(const hf_history *h, const hf_claim *claim,
                          hf_budget *budget, hf_verification *ret,
                          hf_error *err)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_status st = hf_verify_claim_in(session, claim, budget, ret, err);

    hf_verify_close(session);
    return st;
}

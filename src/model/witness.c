/* witness.c: making and freeing results, and the names of their parts. */
#include "model/witness.h"

#include <string.h>

#include "base/error.h"

hf_result *hf_result_new(hf_level level, const char *engine)
{
    hf_result *r = HF_NEW(hf_result);

    r->verdict = HF_UNKNOWN;
    r->level = level;
    r->engine = engine;
    hf_arena_init(&r->arena);
    return r;
}

void hf_result_free(hf_result *r)
{
    if (!r)
        return;
    hf_arena_release(&r->arena);
    hf_free(r);
}

static void *copied(hf_arena *arena, const void *from, size_t n, size_t size)
{
    void *to;

    if (!from)
        return NULL;
    to = hf_arena_get(arena, hf_array_size(n + 1, size));
    memcpy(to, from, n * size);
    return to;
}

void hf_witness_copy(const hf_witness *w, hf_arena *arena, hf_witness *ret)
{
    hf_witness r = *w;

    r.order = copied(arena, w->order, w->n_order, sizeof(*w->order));
    r.sources = copied(arena, w->sources, w->n_sources, sizeof(*w->sources));
    r.edges = copied(arena, w->edges, w->n_edges, sizeof(*w->edges));
    r.ops = copied(arena, w->ops, w->n_ops, sizeof(*w->ops));
    r.steps = copied(arena, w->steps, w->n_steps, sizeof(*w->steps));
    r.used = copied(arena, w->used, w->n_used, sizeof(*w->used));
    r.chosen = copied(arena, w->chosen, w->n_edges, sizeof(*w->chosen));
    *ret = r;
}

hf_verdict hf_witness_proves(hf_witness_kind kind)
{
    switch (kind) {
    case HF_WITNESS_SERIAL:
    case HF_WITNESS_SNAPSHOT:
    case HF_WITNESS_COMMIT:
        return HF_VALID;
    case HF_WITNESS_CYCLE:
    case HF_WITNESS_OPERATIONS:
    case HF_WITNESS_CORE:
    case HF_WITNESS_PROOF:
        return HF_INVALID;
    case HF_WITNESS_NONE:
    case HF_WITNESS_KIND_COUNT:
        break;
    }
    return HF_UNKNOWN;
}

const char *hf_rest_name(unsigned bit)
{
    static const char *const names[HF_REST_COUNT] = {
        "per-key-linearizable", "per-key-sequential",  "writes-follow-reads",
        "recorded-order",       "recorded-timestamps", "serial-order",
        "commit-order",         "start-order",         "end-order",
        "file-order",
    };

    for (unsigned i = 0; i < HF_REST_COUNT; i++)
        if (bit == 1u << i)
            return names[i];
    HF_BUG("not one assumption");
}

const char *hf_edge_kind_name(hf_edge_kind kind)
{
    static const char *const names[HF_EDGE_KIND_COUNT] = {
        "ww", "wr", "rw", "pwr", "prw", "so", "rt",
    };

    HF_ASSERT((unsigned)kind < HF_EDGE_KIND_COUNT);
    return names[kind];
}

const char *hf_witness_kind_name(hf_witness_kind kind)
{
    static const char *const names[HF_WITNESS_KIND_COUNT] = {
        "none",  "serial",     "snapshot", "commit",
        "cycle", "operations", "core",     "proof",
    };

    HF_ASSERT((unsigned)kind < HF_WITNESS_KIND_COUNT);
    return names[kind];
}

const char *hf_verdict_name(hf_verdict verdict)
{
    static const char *const names[HF_VERDICT_COUNT] = {
        "valid",
        "invalid",
        "unknown",
    };

    HF_ASSERT((unsigned)verdict < HF_VERDICT_COUNT);
    return names[verdict];
}

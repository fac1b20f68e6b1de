/* core_promises.c: does an order of a core keep what its witness assumes?
 *
 * Who touches which version (rests.h): all that is placed installs its last
 * writes, and items that were read have a source.  Any two touches of one key
 * are compared, at most some hundred of a core.
 */
#include "verify/core.h"
#include "verify/rests.h"

/* Of versions: a number of the core, or this. */
#define INITIAL HF_CORE_MOST

typedef struct touch {
    uint32_t key; /* local number */
    uint32_t t;
    uint32_t version;
    bool reads;
} touch;

static uint32_t number_of(const hf_core *c, unsigned in, hf_txn_id writer)
{
    if (writer == HF_NONE)
        return INITIAL;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->txns[i].id == writer)
            return in & 1u << i ? i : HF_NONE;
    return HF_NONE;
}

/* The version that the read touches; HF_NONE: none. */
static uint32_t version_read(const hf_core *c, const hf_core_order *o,
                             uint32_t t, uint32_t i)
{
    const hf_core_read *r = &c->txns[t].reads[i];
    unsigned source = o->chosen[t][i];

    if (r->view || ((r->is_list || r->is_sum) && r->own > 0))
        return HF_NONE;
    if (hf_level_of(c->v, c->txns[t].id)->shape == HF_SHAPE_WW)
        return r->touches ? number_of(c, o->in, r->touched) : HF_NONE;
    for (uint32_t w = 0; w < c->n; w++)
        if (source == 1u << w)
            return w;
    return INITIAL;
}

static uint32_t list_touches(const hf_core *c, const hf_core_order *o,
                             touch *ret)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < c->n; t++) {
        if (!(o->in & 1u << t))
            continue;
        for (uint32_t i = 0; i < c->txns[t].n_reads; i++) {
            uint32_t version = version_read(c, o, t, i);

            if (version != HF_NONE)
                ret[n++] = (touch){c->txns[t].reads[i].key, t, version, true};
        }
        for (uint32_t k = 0; k < c->n_keys; k++)
            if (c->writers[k] & 1u << t)
                ret[n++] = (touch){k, t, t, false};
    }
    return n;
}

static bool is_put_before(const hf_core *c, const touch *a, const touch *b)
{
    unsigned rests = c->v->w->rests;
    hf_txn_id x = c->txns[a->t].id, y = c->txns[b->t].id;

    if (a->key != b->key || a->version == b->version)
        return false;
    return ((rests & HF_REST_LINEARIZABLE) && hf_time_before(c->v->h, x, y)) ||
           ((rests & HF_REST_SEQUENTIAL) && hf_session_before(c->v->h, x, y)) ||
           ((rests & HF_REST_READS) && x == y && a->reads && !b->reads);
}

static uint32_t place_of(const hf_core_order *o, uint32_t version)
{
    uint32_t at = 0;

    if (version == INITIAL)
        return 0;
    while (o->order[at] != version)
        at++;
    return at + 1;
}

bool hf_core_keeps_promises(const hf_core *c, const hf_core_order *o)
{
    size_t most = 0;
    touch *all;
    uint32_t n;
    bool kept = true;

    if (!(c->v->w->rests & HF_REST_TOUCHES))
        return true;
    for (uint32_t t = 0; t < c->n; t++)
        most += c->txns[t].n_reads + (size_t)c->n_keys;
    all = HF_NEW_ARRAY(touch, most + 1);
    n = list_touches(c, o, all);
    for (uint32_t i = 0; i < n && kept; i++)
        for (uint32_t j = 0; j < n && kept; j++)
            kept = !is_put_before(c, &all[i], &all[j]) ||
                   place_of(o, all[i].version) < place_of(o, all[j].version);
    hf_free(all);
    return kept;
}

/* plan.c: from an observed execution and new sources to a plan, see plan.h. */
#include "run/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

hf_str hf_plan_key_name(const hf_history *h, hf_key_id key, hf_arena *arena)
{
    hf_scalar k = hf_key_scalar(h, key);
    hf_str table = HF_STR(""), text = {k.text, k.length};
    char digits[24];
    char *name;
    size_t n;

    if (h->key_table && h->key_table[key] != HF_NONE)
        table = hf_string(h, h->key_table[key]);
    if (k.type == HF_INT) {
        n = (size_t)snprintf(digits, sizeof(digits), "%lld",
                             (long long)k.number);
        text = (hf_str){digits, n};
    }
    n = table.len + (table.len > 0) + text.len;
    name = hf_arena_get(arena, n + 1);
    if (table.len > 0) {
        memcpy(name, table.ptr, table.len);
        name[table.len] = '/';
    }
    if (text.len > 0)
        memcpy(name + n - text.len, text.ptr, text.len);
    return (hf_str){name, n};
}

typedef struct maker {
    hf_plan *plan;
    const hf_plan_in *in;
    hf_txn_id *writer; /* by value: who committed it, HF_NONE: initial */
    uint32_t *key;     /* by key of the history: of the plan, or HF_NONE */
    uint32_t *place;   /* by transaction: in the plan, or HF_NONE */
    uint32_t *index;   /* by transaction: in its session */
    uint32_t *next;    /* by session: the next one that has not run */
} maker;

static void find_writers(maker *m)
{
    const hf_history *h = m->in->observed;

    memset(m->writer, 0xff, (h->n_values + 1) * sizeof(*m->writer));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            if (h->txn_outcome[t] == HF_COMMITTED &&
                hf_op_installs(hf_op_kind_of(h, o)) &&
                !hf_op_has_extra(hf_op_kind_of(h, o)) &&
                h->op_value[o] != HF_NONE)
                m->writer[h->op_value[o]] = t;
}

static uint32_t key_of(maker *m, hf_key_id key)
{
    if (m->key[key] == HF_NONE) {
        m->key[key] = (uint32_t)m->plan->keys.n;
        hf_vec_push(&m->plan->keys,
                    hf_plan_key_name(m->in->observed, key, &m->plan->arena));
    }
    return m->key[key];
}

/* Who wrote what the read saw, and is to see. */
static void put_read(maker *m, const hf_plan_txn *t, hf_op_id o, bool counts)
{
    const hf_history *h = m->in->observed;
    hf_txn_id observed = m->writer[h->op_value[o]], source = observed;
    hf_plan_read r = {.key = key_of(m, h->op_key[o]), .source = HF_NONE};

    if (observed == t->txn)
        return; /* its own write */
    if (counts && m->in->sources[o] != HF_PLAN_AS_IS)
        source = m->in->sources[o];
    r.wish = !counts              ? HF_PLAN_BEYOND
             : source != observed ? HF_PLAN_CHANGED
                                  : HF_PLAN_KEPT;
    if (source != HF_NONE)
        r.source = m->place[source] != HF_NONE ? m->place[source] : HF_PLAN_ANY;
    hf_vec_push(&m->plan->reads, r);
}

static void put_txn(maker *m, hf_txn_id t)
{
    const hf_history *h = m->in->observed;
    hf_session_id s = h->txn_session[t];
    hf_plan_txn p = {.session = s,
                     .index = m->index[t],
                     .txn = t,
                     .first_read = (uint32_t)m->plan->reads.n,
                     .aborts = h->txn_outcome[t] != HF_COMMITTED};
    hf_op_id last = m->in->last[s];

    p.cut = last != HF_NONE && last + 1 < h->op_first[t + 1];

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_op_kind_of(h, o) == HF_OP_READ && h->op_value[o] != HF_NONE)
            put_read(m, &p, o, !p.aborts && (!p.cut || o <= last));
    p.n_reads = (uint32_t)m->plan->reads.n - p.first_read;
    m->place[t] = (uint32_t)m->plan->txns.n;
    hf_vec_push(&m->plan->txns, p);
}

void hf_plan_make(hf_plan *ret, const hf_plan_in *in)
{
    const hf_history *h = in->observed;
    maker m = {.plan = ret,
               .in = in,
               .writer = HF_NEW_ARRAY(hf_txn_id, h->n_values + 1),
               .key = HF_NEW_ARRAY(uint32_t, h->n_keys + 1),
               .place = HF_NEW_ARRAY(uint32_t, h->n_txns + 1),
               .index = HF_NEW_ZEROED(uint32_t, h->n_txns + 1),
               .next = HF_NEW_ZEROED(uint32_t, h->n_sessions + 1)};

    *ret = (hf_plan){0};
    hf_arena_init(&ret->arena);
    memset(m.key, 0xff, (h->n_keys + 1) * sizeof(*m.key));
    memset(m.place, 0xff, (h->n_txns + 1) * sizeof(*m.place));
    find_writers(&m);
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++)
            m.index[h->session_txns[i]] = i - h->session_first[s];
    for (uint32_t i = 0; i < in->n_order; i++) {
        hf_session_id s = h->txn_session[in->order[i]];
        uint32_t until = m.index[in->order[i]];

        for (; m.next[s] <= until; m.next[s]++)
            put_txn(&m, h->session_txns[h->session_first[s] + m.next[s]]);
    }
    hf_free(m.writer);
    hf_free(m.key);
    hf_free(m.place);
    hf_free(m.index);
    hf_free(m.next);
}

void hf_plan_release(hf_plan *p)
{
    hf_vec_release(&p->txns);
    hf_vec_release(&p->reads);
    hf_vec_release(&p->keys);
    hf_arena_release(&p->arena);
}

/* ---- as a file ----------------------------------------------------------- */

static void write_read(const hf_plan *p, const hf_history *h,
                       const hf_plan_read *r, hf_json *j)
{
    static const char *const wishes[] = {"kept", "changed", "beyond"};

    hf_json_object(j);
    hf_json_key(j, "key");
    hf_json_str(j, p->keys.at[r->key]);
    hf_json_key(j, "from");
    if (r->source < p->txns.n)
        hf_json_int(j, hf_txn_label(h, p->txns.at[r->source].txn));
    else
        hf_json_text(j, r->source == HF_PLAN_ANY ? "any" : "initial");
    hf_json_key(j, "read");
    hf_json_text(j, wishes[r->wish]);
    hf_json_end(j);
}

void hf_plan_write(const hf_plan *p, const hf_history *observed, hf_json *j)
{
    hf_json_key(j, "transactions");
    hf_json_array(j);
    for (size_t i = 0; i < p->txns.n; i++) {
        const hf_plan_txn *t = &p->txns.at[i];

        hf_json_object(j);
        hf_json_key(j, "transaction");
        hf_json_int(j, hf_txn_label(observed, t->txn));
        hf_json_key(j, "session");
        hf_json_uint(j, t->session);
        hf_json_key(j, "index");
        hf_json_uint(j, t->index);
        hf_json_key(j, "aborts");
        hf_json_bool(j, t->aborts);
        hf_json_key(j, "reads");
        hf_json_array(j);
        for (uint32_t k = 0; k < t->n_reads; k++)
            write_read(p, observed, &p->reads.at[t->first_read + k], j);
        hf_json_end(j);
        hf_json_end(j);
    }
    hf_json_end(j);
}

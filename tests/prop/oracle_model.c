/* oracle_model.c: the history as steps, and facts about them. */
#include "oracle_model.h"

#include <string.h>

#include "history/extra.h"

/* ---- from history to model ----------------------------------------------- */

static uint32_t plain(const hf_history *h, hf_value_id v)
{
    return v == HF_NONE || h->value_type[v] == HF_NIL ? O_NIL : v;
}

static o_step *add_step(o_txn *x, o_step_kind kind, hf_key_id key,
                        uint32_t value)
{
    o_step *s = &x->steps[x->n_steps++];

    s->kind = kind;
    s->key = (int)key;
    s->value = value;
    return s;
}

static bool add_list(o_txn *x, const hf_history *h, hf_op_id op)
{
    hf_value_id v = h->op_value[op];
    o_step *s = add_step(x, O_LIST, h->op_key[op], O_NIL);

    if (h->value_type[v] != HF_LIST)
        return h->value_type[v] == HF_NIL;
    if (hf_list_items(h, v, NULL) > O_ITEMS)
        return false;
    s->n_items = (int)hf_list_items(h, v, s->items);
    return true;
}

bool o_matches(const o_model *m, const o_step *step, uint32_t value)
{
    return value < m->h->n_values &&
           condition_holds(step->where, hf_value_scalar(m->h, value));
}

/* Keys whose value follows from the order: incremented without results. */
static void find_opaque(const hf_history *h, bool *opaque)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_INCREMENT &&
            !(hf_op_flags_of(h, op) & HF_OP_FAILED) &&
            !hf_op_increment(h, op).has_result)
            opaque[h->op_key[op]] = true;
}

static bool add_op(o_model *m, o_txn *x, const hf_history *h, hf_op_id op,
                   const bool *opaque)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];
    bool reads = hf_op_reads_item(kind) || kind == HF_OP_INCREMENT;

    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return true;
    if (hf_op_has_predicate(kind)) {
        add_step(x, O_PREDICATE, 0, O_NIL)->op = op;
        return true;
    }
    if (kind == HF_OP_SQL)
        return false;
    if (kind == HF_OP_BEGIN || kind == HF_OP_COMMIT || kind == HF_OP_ABORT)
        return true;
    if (hf_op_reads_item(kind) && h->op_value[op] == HF_NONE)
        return true;
    if (kind == HF_OP_INCREMENT && !hf_op_increment(h, op).has_result) {
        add_step(x, O_ADD, key, O_NIL - 1 - op)->amount =
            hf_op_increment(h, op).amount;
        return true;
    }
    if (kind == HF_OP_READ_LIST && opaque[key]) {
        m->blind = m->blind || x->outcome != HF_ABORTED;
        return true;
    }
    if (kind == HF_OP_READ_LIST)
        return add_list(x, h, op);
    if (kind == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(h, op);

        add_step(x, opaque[key] ? O_COUNT : O_READ, key, plain(h, inc.before))
            ->increments = true;
        add_step(x, O_WRITE, key, plain(h, inc.after));
        return true;
    }
    add_step(x,
             reads                  ? (opaque[key] ? O_COUNT : O_READ)
             : kind == HF_OP_APPEND ? O_APPEND
                                    : O_WRITE,
             key, plain(h, h->op_value[op]));
    return true;
}

static void fill_ranks(o_model *m, const hf_history *h)
{
    memset(m->rank, -1, sizeof(m->rank));
    if (!h->cert.order_first)
        return;
    for (int k = 0; k < m->n_keys; k++) {
        uint64_t first = h->cert.order_first[k];

        for (uint64_t i = first; i < h->cert.order_first[k + 1]; i++)
            m->rank[k][h->cert.order_txn[i]] = (int)(i - first);
    }
}

static bool fill_predicates(o_model *m)
{
    for (int t = 0; t < m->n_txns; t++)
        for (int i = 0; i < m->txns[t].n_steps; i++)
            if (m->txns[t].steps[i].kind == O_PREDICATE &&
                !o_fill_predicate(m, t, i))
                return false;
    return true;
}

bool o_model_fill(o_model *m, const hf_history *h)
{
    bool opaque[O_KEYS] = {false};

    memset(m, 0, sizeof(*m));
    if (h->n_txns > O_TXNS || h->n_keys > O_KEYS)
        return false;
    m->h = h;
    m->n_txns = (int)h->n_txns;
    m->n_keys = (int)h->n_keys;
    for (int k = 0; k < m->n_keys; k++)
        m->initial[k] = plain(h, h->key_initial ? h->key_initial[k] : HF_NONE);
    find_opaque(h, opaque);
    for (int t = 0; t < m->n_txns; t++) {
        o_txn *x = &m->txns[t];

        x->outcome = (hf_outcome)h->txn_outcome[t];
        x->session = h->txn_session[t];
        x->begin = hf_txn_begin_time(h, (hf_txn_id)t);
        x->end = hf_txn_end_time(h, (hf_txn_id)t);
        if (h->op_first[t + 1] - h->op_first[t] > O_STEPS / 2)
            return false;
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            if (!add_op(m, x, h, o, opaque))
                return false;
    }
    fill_ranks(m, h);
    return fill_predicates(m);
}

/* ---- facts --------------------------------------------------------------- */

bool o_own_write(const o_model *m, int txn, int key, int step,
                 uint32_t *ret_value)
{
    for (int i = step - 1; i >= 0; i--) {
        const o_step *s = &m->txns[txn].steps[i];

        if (s->key == key &&
            (s->kind == O_WRITE || s->kind == O_APPEND || s->kind == O_ADD)) {
            *ret_value = s->value;
            return true;
        }
    }
    return false;
}

bool o_writes(const o_model *m, int txn, int key)
{
    uint32_t ignored;

    return o_own_write(m, txn, key, m->txns[txn].n_steps, &ignored);
}

bool o_session_before(const o_world *w, int a, int b)
{
    return w->in[a] && w->in[b] && a < b &&
           w->m->txns[a].session == w->m->txns[b].session;
}

bool o_real_time_before(const o_world *w, int a, int b)
{
    const o_txn *x = &w->m->txns[a], *y = &w->m->txns[b];

    return w->in[a] && w->in[b] && x->outcome == HF_COMMITTED &&
           x->end != HF_TIME_NONE && y->begin != HF_TIME_NONE &&
           x->end < y->begin;
}

bool o_certified_before(const o_world *w, int a, int b)
{
    for (int k = 0; k < w->m->n_keys; k++) {
        int i = w->m->rank[k][a], j = w->m->rank[k][b];

        if (w->in[a] && w->in[b] && i >= 0 && j >= 0 && i < j)
            return true;
    }
    return false;
}

/* ---- predicates ---------------------------------------------------------- */

int o_place(const o_orders *o, int key, int txn)
{
    for (int i = 0; i < o->n[key]; i++)
        if (o->at[key][i] == txn)
            return i;
    return -1;
}

static uint32_t value_at(const o_world *w, const o_orders *o, int key,
                         int place)
{
    uint32_t value = w->m->initial[key];
    int t;

    if (place < 0)
        return value;
    t = o->at[key][place];
    (void)o_own_write(w->m, t, key, w->m->txns[t].n_steps, &value);
    return value;
}

bool o_changes(const o_world *w, const o_orders *o, const o_read *r, int place)
{
    const o_step *s = &w->m->txns[r->txn].steps[r->step];

    return s->kind == O_PREDICATE && place >= 0 &&
           o_matches(w->m, s, value_at(w, o, r->key, place)) !=
               o_matches(w->m, s, value_at(w, o, r->key, place - 1));
}

bool o_reads_from(const o_world *w, const o_orders *o, const o_read *r,
                  int place)
{
    int source = o_place(o, r->key, r->source);

    return r->view ? place <= source && o_changes(w, o, r, place)
                   : place == source && place >= 0;
}

bool o_misses(const o_world *w, const o_orders *o, const o_read *r, int place)
{
    int source = o_place(o, r->key, r->source);

    if (!r->view)
        return source < place;
    for (int i = source + 1; i <= place; i++)
        if (o_changes(w, o, r, i))
            return true;
    return false;
}

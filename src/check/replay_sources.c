/* replay_sources.c: who wrote what was read, where several could have.
 *
 * A witness names the source of a read whose value has more than one origin.
 * The state that a read saw has one version of its key: that is the source.
 * Of an entry that was not returned it may be another version, which does as
 * well: the one with its value that is nearest.  Histories of whole values
 * (or of lists) only are re-checked by their values and need no sources.
 *
 * O(operations), and a binary search for each read in doubt.
 */
#include "check/replay.h"

#include <stdlib.h>

#define MARKS (1u << HF_OP_BEGIN | 1u << HF_OP_COMMIT | 1u << HF_OP_ABORT)
#define READS (1u << HF_OP_READ | 1u << HF_OP_READ_LIST)
#define WRITES (1u << HF_OP_WRITE | 1u << HF_OP_INSERT | 1u << HF_OP_DELETE)
#define APPENDS (1u << HF_OP_APPEND)

typedef struct finder {
    hf_replay *p;
    const uint32_t *state;
    hf_txn_id *writer; /* per value: HF_NONE, the one, HF_REPLAY_OPEN: many */
    HF_VEC(hf_source) found;
} finder;

static bool is_plain(const hf_history *h)
{
    uint32_t kinds = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        kinds |= 1u << (h->op_kind[op] & HF_OP_KIND_MASK);
    return !(kinds & ~(READS | WRITES | MARKS)) ||
           (!(kinds & ~(READS | APPENDS | MARKS)) && !h->key_initial);
}

static void find_writers(finder *f)
{
    const hf_history *h = f->p->h;

    f->writer = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    for (hf_value_id v = 0; v < h->n_values; v++)
        f->writer[v] = HF_NONE;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_value_id v;

            if (!hf_replay_writes(h, o))
                continue;
            v = hf_replay_written(h, o);
            if (v < HF_REPLAY_OPEN)
                f->writer[v] = f->writer[v] == HF_NONE || f->writer[v] == t
                                   ? t
                                   : HF_REPLAY_OPEN;
        }
}

static bool in_doubt(const finder *f, hf_key_id key, hf_value_id value)
{
    if (f->p->h->value_type[value] == HF_LIST || f->writer[value] == HF_NONE)
        return false;
    return f->writer[value] == HF_REPLAY_OPEN ||
           hf_value_is_initial(f->p->h, key, value);
}

/* What was read, and by whom. */
typedef struct look {
    hf_txn_id t;
    hf_op_id op;
    uint32_t index;
    hf_version_ref version;
    const hf_rows_condition *c; /* of an entry that need not be current */
} look;

static bool may_be(finder *f, const look *x, const hf_replay_version *at,
                   uint32_t now, uint32_t j)
{
    hf_replay *p = f->p;
    hf_txn_id writer =
        j == 0 ? HF_WRITER_INITIAL : p->order.at[at[j].birth - 1];

    return hf_replay_same(p->h, at[j].value, x->version.value) &&
           writer != x->t &&
           (x->version.writer == HF_NONE || x->version.writer == writer) &&
           (j == now || !x->c || hf_replay_is_quiet(p, x->c, at, j, now));
}

/* The version of the key nearest to index i that it may be. */
static uint32_t nearest(finder *f, const look *x, const hf_replay_version *at,
                        uint32_t n, uint32_t i)
{
    for (uint32_t d = 0; d < n; d++)
        for (int side = 0; side < 2; side++) {
            uint32_t j = side ? i + d : i - d;

            if (j < n && may_be(f, x, at, i, j))
                return j;
        }
    return i;
}

static void add(finder *f, const look *x)
{
    hf_replay *p = f->p;
    hf_key_id key = p->h->value_key[x->version.value];
    const hf_replay_version *at;
    uint32_t n, i;

    if (!in_doubt(f, key, x->version.value) ||
        hf_replay_last_write(p->h, x->t, key, x->op) != HF_NONE)
        return;
    n = hf_replay_versions_of(p, key, &at);
    i = hf_replay_version_at(at, n,
                             f->state ? f->state[x->op] : p->order.place[x->t]);
    i = nearest(f, x, at, n, i);
    hf_vec_push(&f->found,
                (hf_source){x->op, x->index,
                            i == 0 ? HF_NONE : p->order.at[at[i].birth - 1]});
}

static void add_operation(finder *f, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = f->p->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    look x = {.t = t, .op = op, .version = {h->op_value[op], HF_NONE}};
    hf_predicate q;

    if (!hf_replay_looks(h, op))
        return;
    if (!hf_op_has_predicate(kind)) {
        if (kind == HF_OP_INCREMENT)
            x.version.value = hf_op_increment(h, op).before;
        add(f, &x);
        return;
    }
    q = hf_op_predicate(h, op);
    if (q.n_versions > 0)
        x.c = hf_rows_condition_of(f->p->rows, &q);
    for (; x.index < q.n_versions; x.index++) {
        x.version = q.versions[x.index];
        add(f, &x);
    }
    x.c = NULL;
    for (uint32_t i = 0; i < q.n_results; i++, x.index++) {
        x.version = q.results[i];
        add(f, &x);
    }
}

static void add_transaction(finder *f, hf_txn_id t)
{
    const hf_history *h = f->p->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        add_operation(f, t, o);
}

static bool any_in_doubt(const finder *f)
{
    const hf_history *h = f->p->h;

    for (hf_value_id v = 0; v < h->n_values; v++)
        if (in_doubt(f, h->value_key[v], v))
            return true;
    return false;
}

void hf_replay_sources(hf_replay *p, const uint32_t *state, hf_witness *w)
{
    const hf_history *h = p->h;
    finder f = {.p = p, .state = state};

    if (w->kind != HF_WITNESS_COMMIT && is_plain(h))
        return;
    find_writers(&f);
    if (any_in_doubt(&f))
        for (hf_txn_id t = 0; t < h->n_txns; t++)
            if (p->order.place[t] != HF_NONE)
                add_transaction(&f, t);
    w->n_sources = (uint32_t)f.found.n;
    w->sources =
        hf_arena_get(p->arena, hf_array_size(f.found.n, sizeof(hf_source)));
    for (size_t i = 0; i < f.found.n; i++)
        w->sources[i] = f.found.at[i];
    hf_vec_release(&f.found);
    hf_free(f.writer);
}

/* graph_reads.c: what every read means.
 *
 * A read after an own write must return that write.  Any other read of a
 * transaction that happened has one source: a version (its role in op_role),
 * the initial version, or something that is an anomaly by itself.  One pass,
 * O(operations): in short transactions the operations before a read are looked
 * through, in long ones two arrays by key remember them.
 */
#include "check/graph.h"

#include <string.h>

#include "base/error.h"
#include "check/counters.h"
#include "base/ratio.h"

#define LONG_TXN 16u

typedef struct reader {
    hf_graph *g;
    hf_txn_id t;
    hf_op_id first, end;
    bool blind; /* its reads make no edges, unlike those of others */
    /* for long transactions, by key: the last own write, the last read */
    hf_txn_id *stamp;
    hf_op_id *own, *seen;
} reader;

/* What the transaction did to the key before: its last write, and the last
 * read after that. */
typedef struct before {
    hf_op_id own, seen;
} before;

static bool reads_value(const hf_history *h, hf_op_id o)
{
    unsigned bits = h->op_kind[o];

    return !(bits & HF_OP_FAILED) &&
           hf_op_reads_item((hf_op_kind)(bits & HF_OP_KIND_MASK)) &&
           h->op_value[o] != HF_NONE;
}

static inline before look_back(const reader *r, hf_op_id op, hf_key_id key)
{
    const hf_history *h = r->g->h;
    before b = {HF_NONE, HF_NONE};

    if (r->stamp) {
        if (r->stamp[key] == r->t)
            b = (before){r->own[key], r->seen[key]};
        return b;
    }
    for (hf_op_id o = op; o-- > r->first;) {
        if (h->op_key[o] != key)
            continue;
        if (hf_graph_writes(h, o)) {
            b.own = o;
            return b;
        }
        if (b.seen == HF_NONE && reads_value(h, o))
            b.seen = o;
    }
    return b;
}

static void remember(reader *r, hf_op_id op, bool write)
{
    hf_key_id key = r->g->h->op_key[op];

    if (!r->stamp || key == HF_NONE)
        return;
    if (r->stamp[key] != r->t) {
        r->stamp[key] = r->t;
        r->own[key] = r->seen[key] = HF_NONE;
    }
    if (write) {
        r->own[key] = op;
        r->seen[key] = HF_NONE;
    } else {
        r->seen[key] = op;
    }
}

/* ---- sources ------------------------------------------------------------- */

/* The last write of the key in the transaction that wrote `op`. */
static hf_op_id last_write(const hf_history *h, hf_op_id op)
{
    hf_txn_id t = hf_op_txn(h, op);
    hf_op_id last = op;

    for (hf_op_id o = op + 1; o < h->op_first[t + 1]; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            last = o;
    return last;
}

static void open_read(hf_graph *g, hf_op_id op)
{
    if (g->open_reads++ == 0)
        g->open_read = op;
    hf_vec_push(&g->open, op);
}

/* The version that a world has the read return; HF_NONE: it does not say. */
static uint32_t settled_source(const hf_graph *g, hf_op_id op, hf_key_id key)
{
    uint32_t chosen = g->world.source ? g->world.source[op] : HF_CHOSEN_ONLY;

    if (chosen == HF_CHOSEN_ONLY)
        return HF_NONE;
    if (chosen == HF_CHOSEN_INITIAL)
        return g->ver_first[key];
    return hf_graph_version_of(g, chosen - 1, key);
}

/* A value that is no version. */
static void take_special(reader *r, hf_op_id op, hf_value_id v)
{
    hf_graph *g = r->g;
    hf_value_fact f = g->value[v];

    switch (f.ver) {
    case HF_VER_NOBODY:
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
        return;
    case HF_VER_ABORTED:
        hf_graph_note(g, HF_G1A, f.op, op, HF_NONE, HF_NONE);
        return;
    case HF_VER_INNER:
        if (f.op >= r->first && f.op < r->end)
            hf_graph_note(g, HF_FUTURE_READ, op, f.op, HF_NONE, HF_NONE);
        else
            hf_graph_note(g, HF_G1B, f.op, last_write(g->h, f.op), op, HF_NONE);
        return;
    case HF_VER_SEVERAL:
        if (!r->blind)
            open_read(g, op);
        return;
    default:
        return; /* need not have happened: allowed where reads do not matter */
    }
}

/* The version a read of value v of `key` returns, HF_NONE if it is none. */
static inline uint32_t source_of(reader *r, hf_op_id op, hf_key_id key,
                                 hf_value_id v)
{
    hf_graph *g = r->g;
    uint32_t ver = g->value[v].ver;

    if (ver == HF_VER_SEVERAL && g->world.source) {
        uint32_t settled = settled_source(g, op, key);

        if (settled != HF_NONE)
            return settled;
    }
    if (ver < HF_VER_MOST) {
        if (g->ver_txn[ver] != r->t)
            return ver;
        hf_graph_note(g, HF_FUTURE_READ, op, g->value[v].op, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    if (ver == HF_VER_NOBODY && hf_value_is_initial(g->h, key, v))
        return g->ver_first[key];
    take_special(r, op, v);
    return HF_NONE;
}

uint32_t hf_graph_take_value(hf_graph *g, hf_txn_id t, hf_op_id op,
                             hf_key_id key, hf_value_id v)
{
    reader r = {.g = g,
                .t = t,
                .first = g->h->op_first[t],
                .end = g->h->op_first[t + 1]};

    return source_of(&r, op, key, v);
}

/* A list that has elements to begin with: not judged further. */
static bool has_initial_list(const hf_history *h, hf_key_id key)
{
    return h->key_initial && h->key_initial[key] != HF_NONE &&
           h->value_type[h->key_initial[key]] == HF_LIST;
}

/* A list that does not begin with what was there, or goes on with what nobody
 * appended. */
static void check_initial_list(hf_graph *g, hf_op_id op, hf_value_id v)
{
    const hf_history *h = g->h;
    hf_value_id initial = h->key_initial[h->op_key[op]];
    bool garbage = false;

    for (; v != HF_NONE && v != initial && !garbage; v = hf_list_parent(h, v))
        garbage = h->value_type[v] != HF_LIST ||
                  g->value[hf_list_last(h, v)].ver == HF_VER_NOBODY;
    if (garbage || v == HF_NONE)
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
}

/* For a list: the version of its last element, or the initial one. */
static uint32_t source_of_list(reader *r, hf_op_id op, hf_key_id key,
                               hf_value_id v)
{
    hf_graph *g = r->g;
    const hf_history *h = g->h;
    hf_value_id e;
    uint32_t ver;

    if (hf_value_is_initial(h, key, v))
        return g->ver_first[key];
    if (hf_graph_is_loose(g, key))
        return settled_source(g, op, key);
    if (has_initial_list(h, key)) {
        check_initial_list(g, op, v);
        if (!r->blind)
            open_read(g, op);
        return HF_NONE;
    }
    if (h->value_type[v] != HF_LIST) {
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    if (!(g->key_use[key] & HF_USE_LIST)) {
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    hf_graph_look_at_list(g, op);
    if (g->key_use[key] & HF_USE_MURKY) {
        if (!r->blind)
            open_read(g, op);
        return HF_NONE;
    }
    e = hf_list_last(h, v);
    ver = g->value[e].ver;
    if (ver < HF_VER_MOST && g->ver_txn[ver] != r->t)
        return ver;
    if (ver < HF_VER_MOST || ver == HF_VER_INNER)
        (void)source_of(r, op, key, e);
    return HF_NONE;
}

static void check_own(reader *r, hf_op_id own, hf_op_id op, hf_value_id v)
{
    hf_graph *g = r->g;
    hf_value_id written = hf_graph_written(g->h, own);
    bool fine = written == v;

    if (hf_graph_is_loose(g, g->h->op_key[op]))
        return;
    if (has_initial_list(g->h, g->h->op_key[op])) {
        check_initial_list(g, op, v);
        return;
    }
    if (g->key_use[g->h->op_key[op]] & HF_USE_LIST) {
        if (g->h->value_type[v] == HF_LIST)
            hf_graph_look_at_list(g, op);
        fine = hf_graph_ends_with_own(g, r->t, op);
    }
    if (fine)
        return;
    hf_graph_note(g, HF_INTERNAL, own, op, HF_NONE, HF_NONE);
    if (g->value[v].ver == HF_VER_NOBODY && g->h->value_type[v] != HF_LIST &&
        !hf_value_is_initial(g->h, g->h->op_key[op], v))
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
}

static void repeated_read(reader *r, hf_op_id earlier, hf_op_id op,
                          hf_value_id v)
{
    if (r->g->h->op_value[earlier] != v)
        hf_graph_note(r->g, HF_NON_REPEATABLE_READ, earlier, op, HF_NONE,
                      HF_NONE);
}

/* Of a key with increments without results: what is wrong in every order. */
static bool is_no_sum(reader *r, before b, hf_op_id op, hf_value_id v)
{
    hf_graph *g = r->g;
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];
    hf_counting own = hf_counting_of(h, r->t, key, op);

    if (own.sets && !hf_amount_eq(own.left, hf_amount_of(h, v))) {
        hf_graph_note(g, HF_INTERNAL, b.own, op, HF_NONE, HF_NONE);
        return true;
    }
    if (!own.sets && !hf_counters_reach(g->counters, key, v)) {
        hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
        return true;
    }
    if (b.seen != HF_NONE && b.own == HF_NONE &&
        !hf_amount_eq(hf_amount_of(h, h->op_value[b.seen]), hf_amount_of(h, v)))
        hf_graph_note(g, HF_NON_REPEATABLE_READ, b.seen, op, HF_NONE, HF_NONE);
    return false;
}

static uint32_t take_counter(reader *r, hf_op_id op, hf_value_id v)
{
    hf_graph *g = r->g;
    hf_key_id key = g->h->op_key[op];
    before b = look_back(r, op, key);
    bool list = g->key_use[key] & HF_USE_LIST;
    uint32_t settled;

    if (!list && is_no_sum(r, b, op, v))
        return HF_NONE;
    if (list || (!g->world.counted && hf_graph_reads_matter(g, r->t)))
        hf_graph_undecided(g, list,
                           "T%lld reads a key that has increments without "
                           "results",
                           (long long)hf_txn_label(g->h, r->t));
    if (list || !g->world.counted || b.own != HF_NONE)
        return HF_NONE;
    settled = settled_source(g, op, key);
    if (settled == HF_NONE && !r->blind)
        open_read(g, op);
    return settled;
}

/* The version a read of others returns; reports what is wrong with it. */
static inline uint32_t take_read(reader *r, hf_op_id op, hf_value_id v)
{
    hf_graph *g = r->g;
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];
    before b;

    if (g->key_use[key] & HF_USE_BLIND)
        return take_counter(r, op, v);
    b = look_back(r, op, key);
    if (b.own != HF_NONE) {
        check_own(r, b.own, op, v);
        return HF_NONE;
    }
    if (b.seen != HF_NONE)
        repeated_read(r, b.seen, op, v);
    if (g->has_lists &&
        ((g->key_use[key] & HF_USE_LIST) || h->value_type[v] == HF_LIST))
        return source_of_list(r, op, key, v);
    return source_of(r, op, key, v);
}

/* ---- increments ---------------------------------------------------------- */

static void take_increment(reader *r, hf_op_id op)
{
    hf_graph *g = r->g;
    const hf_history *h = g->h;
    hf_increment inc = hf_op_increment(h, op);
    uint32_t ver;

    if (!inc.has_result)
        return;
    if (!hf_increment_fits(hf_value_scalar(h, inc.before), inc.amount,
                           hf_value_scalar(h, inc.after)))
        hf_graph_note(g, HF_SEMANTIC_ERROR, op, HF_NONE, HF_NONE, HF_NONE);
    if (inc.before == inc.after &&
        look_back(r, op, h->op_key[op]).own == HF_NONE &&
        !(g->key_use[h->op_key[op]] &
          HF_USE_BLIND)) { /* it cannot have read its own result */
        hf_op_id seen = look_back(r, op, h->op_key[op]).seen;

        if (seen != HF_NONE)
            repeated_read(r, seen, op, inc.before);
        if (g->value[inc.after].ver != HF_VER_SEVERAL &&
            g->value[inc.after].op == op)
            hf_graph_note(g, HF_GARBAGE_READ, op, HF_NONE, HF_NONE, HF_NONE);
        else if (settled_source(g, op, h->op_key[op]) != HF_NONE)
            g->op_source[op] =
                HF_ROLE_READ(settled_source(g, op, h->op_key[op]));
        else if (!r->blind)
            open_read(g, op);
        return;
    }
    ver = take_read(r, op, inc.before);
    if (ver != HF_NONE && !r->blind)
        g->op_source[op] = HF_ROLE_READ(ver);
}

/* ---- all ----------------------------------------------------------------- */

static void use_long(reader *r, bool on, hf_txn_id **stamp)
{
    if (on && !*stamp) {
        size_t n = (size_t)r->g->h->n_keys + 1;

        *stamp = HF_NEW_ARRAY(hf_txn_id, n);
        memset(*stamp, 0xff, n * sizeof(**stamp));
        r->own = HF_NEW_ARRAY(hf_op_id, n);
        r->seen = HF_NEW_ARRAY(hf_op_id, n);
    }
    r->stamp = on ? *stamp : NULL;
}

static inline void take_op(reader *r, hf_op_id o)
{
    hf_graph *g = r->g;
    const hf_history *h = g->h;
    unsigned bits = h->op_kind[o];
    hf_op_kind kind = (hf_op_kind)(bits & HF_OP_KIND_MASK);

    if (bits & HF_OP_FAILED)
        return;
    if (hf_op_reads_item(kind)) {
        hf_value_id v = h->op_value[o];
        uint32_t ver;

        if (v == HF_NONE)
            return;
        ver = take_read(r, o, v);
        if (ver != HF_NONE && !r->blind)
            g->op_role[o] = HF_ROLE_READ(ver);
        remember(r, o, false);
    } else if (hf_op_installs(kind)) {
        if (kind == HF_OP_INCREMENT)
            take_increment(r, o);
        remember(r, o, true);
    }
}

static void take_piece(hf_graph *g, void *user, uint32_t piece, uint32_t first,
                       uint32_t end)
{
    const hf_history *h = g->h;
    reader r = {.g = g};
    hf_txn_id *stamp = NULL;

    (void)user;
    (void)piece;
    for (hf_txn_id t = first; t < end; t++) {
        if (!g->happened[t])
            continue;
        r.t = t;
        r.blind = g->own && !hf_graph_reads_matter(g, t);
        r.first = h->op_first[t];
        r.end = h->op_first[t + 1];
        use_long(&r, r.end - r.first > LONG_TXN, &stamp);
        for (hf_op_id o = r.first; o < r.end; o++)
            take_op(&r, o);
    }
    hf_free(stamp);
    hf_free(r.own);
    hf_free(r.seen);
}

bool hf_graph_take_reads(hf_graph *g)
{
    for (hf_key_id k = 0; k < g->h->n_keys && !g->counters; k++)
        if (g->key_use[k] & HF_USE_BLIND)
            g->counters = hf_counters_new(g->h);
    hf_graph_in_pieces(g, g->h->n_txns, take_piece, NULL);
    return !g->stopped;
}

/* ---- readers of each version --------------------------------------------- */

/* Where the count of a read is kept; writes and the rest count for nothing,
 * in a place of their own: no branch has to be guessed. */
static inline uint32_t place_of(uint32_t role, uint32_t nowhere)
{
    return role & 1u ? nowhere : role / 2;
}

static void count_readers(const hf_graph *g, uint32_t *first)
{
    uint32_t nowhere = g->n_versions;

    for (hf_op_id o = 0; o < g->h->n_ops; o++)
        first[place_of(g->op_role[o], nowhere) + 2]++;
    for (hf_op_id o = 0; g->op_source && o < g->h->n_ops; o++)
        first[place_of(g->op_source[o], nowhere) + 2]++;
    first[nowhere + 2] = 1;
}

/* Two passes: count, then fill, in the order of transactions.  One that reads
 * a version twice is there twice, which does no harm. */
void hf_graph_link_readers(hf_graph *g)
{
    const hf_history *h = g->h;
    uint32_t *first, sum = 0, nowhere = g->n_versions, last;
    size_t room = (size_t)g->n_versions + 3;

    if (!g->reads_matter)
        return;
    first = hf_alloc_large(hf_array_size(room, sizeof(*first)));
    memset(first, 0, room * sizeof(*first));
    count_readers(g, first);
    for (uint32_t v = 0; v <= nowhere + 1; v++) {
        sum += first[v + 1];
        first[v + 1] = sum;
    }
    g->reader_txn =
        hf_alloc_large(hf_array_size((size_t)sum + 1, sizeof(hf_txn_id)));
    last = first[nowhere + 1];
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t *at = &first[place_of(g->op_role[o], nowhere) + 1];

            g->reader_txn[*at] = t;
            (*at)++;
            first[nowhere + 1] = last;
            if (g->op_source && !(g->op_source[o] & 1u))
                g->reader_txn[first[g->op_source[o] / 2 + 1]++] = t;
        }
    g->reader_first = first;
}

hf_op_id hf_graph_read_of(const hf_graph *g, hf_txn_id t, uint32_t ver)
{
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        if (g->op_role[o] == HF_ROLE_READ(ver))
            return o;
        if (g->op_source && g->op_source[o] == HF_ROLE_READ(ver))
            return o;
    }
    return HF_NONE;
}

/* ---- lost updates -------------------------------------------------------- */

/* Two that read one version of a key and both write it: one finding for each
 * transaction after the first. */
static void lost_updates_of(hf_graph *g, hf_txn_id t, hf_op_id read,
                            uint32_t ver, hf_txn_id *first)
{
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[read];
    uint32_t mine = hf_graph_version_of(g, t, key), theirs;

    if (mine == HF_NONE)
        return;
    if (first[ver] == HF_NONE) {
        first[ver] = t;
        return;
    }
    if (first[ver] == t)
        return;
    theirs = hf_graph_version_of(g, first[ver], key);
    hf_graph_note(g, HF_LOST_UPDATE, hf_graph_read_of(g, first[ver], ver),
                  g->ver_op[theirs], read, g->ver_op[mine]);
}

void hf_graph_lost_updates(hf_graph *g)
{
    const hf_history *h = g->h;
    hf_txn_id *first = HF_NEW_ARRAY(hf_txn_id, (size_t)g->n_versions + 1);

    memset(first, 0xff, ((size_t)g->n_versions + 1) * sizeof(*first));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t role = g->op_role[o];

            if (!(role & 1u) && hf_graph_read_of(g, t, role / 2) == o)
                lost_updates_of(g, t, o, role / 2, first);
            if (g->op_source && g->op_source[o] != HF_NONE &&
                hf_graph_read_of(g, t, g->op_source[o] / 2) == o)
                lost_updates_of(g, t, o, g->op_source[o] / 2, first);
        }
    hf_free(first);
}

/* graph_facts.c: who happened, and what the keys are.
 *
 * A transaction of unknown outcome happened if one that happened read from
 * it.  One pass over the operations then counts what each key can have in
 * versions, so that everything behind it is a flat array.
 *
 * O(operations + values).
 */
#include "check/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/counters.h"
#include "history/snapshot.h"

#define KEPT_PLACES 100u /* of each anomaly, unless more are asked for */

void hf_graph_note(hf_graph *g, hf_anomaly anomaly, hf_op_id a, hf_op_id b,
                   hf_op_id c, hf_op_id d)
{
    hf_places *p = &g->places[anomaly];
    uint32_t most =
        g->options.most > KEPT_PLACES ? g->options.most : KEPT_PLACES;

    p->count++;
    if (p->kept.n < most)
        hf_vec_push(&p->kept, (hf_place){{a, b, c, d}});
}

void hf_graph_undecided(hf_graph *g, bool everywhere, const char *format, ...)
{
    va_list args;

    if (g->undecided[0] && (g->undecided_everywhere || !everywhere))
        return;
    g->undecided_everywhere = everywhere;
    va_start(args, format);
    (void)vsnprintf(g->undecided, sizeof(g->undecided), format, args);
    va_end(args);
}

uint32_t hf_graph_version_of(const hf_graph *g, hf_txn_id t, hf_key_id key)
{
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t + 1]; o-- > h->op_first[t];)
        if (h->op_key[o] == key && g->op_role[o] != HF_NONE &&
            (g->op_role[o] & 1u))
            return g->op_role[o] / 2;
    return HF_NONE;
}

/* ---- kinds --------------------------------------------------------------- */

static long long label_of(const hf_history *h, hf_op_id op)
{
    return hf_txn_label(h, hf_op_txn(h, op));
}

static void look_at_special(hf_graph *g, hf_op_id op)
{
    const hf_history *h = g->h;
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (hf_op_has_predicate(kind)) {
        if (!g->predicates)
            hf_graph_undecided(g, true,
                               "T%lld has a predicate operation, which engine "
                               "graph does not judge",
                               label_of(h, op));
    } else if (kind == HF_OP_SQL) {
        hf_graph_undecided(g, true,
                           "T%lld has a SQL statement, which is not judged",
                           label_of(h, op));
    } else {
        hf_increment inc = hf_op_increment(h, op);

        g->has_increments = true;
        g->key_use[h->op_key[op]] |= HF_USE_WRITTEN;
        if (inc.after == HF_NONE)
            g->key_use[h->op_key[op]] |= HF_USE_BLIND;
    }
}

/* Room for those that the certificate lists and that did not happen. */
static uint64_t listed_in_vain(const hf_graph *g, hf_key_id key)
{
    const hf_certificate *c = &g->h->cert;
    uint64_t n = 0;

    if (!c->order_first || g->all_happened)
        return 0;
    for (uint64_t i = c->order_first[key]; i < c->order_first[key + 1]; i++)
        n += !g->happened[c->order_txn[i]];
    return n;
}

/* What each kind of operation does to its key. */
#define INSTALLS 128u
#define SPECIAL 64u
static void fill_uses(uint8_t *use)
{
    memset(use, 0, 256);
    for (unsigned bits = 0; bits < 256; bits++) {
        unsigned kind = bits & HF_OP_KIND_MASK;

        if (bits & HF_OP_FAILED)
            continue;
        if (kind == HF_OP_SQL && (bits & HF_OP_WITH_ITEMS) == HF_OP_WITH_ITEMS)
            continue;
        if (kind == HF_OP_WRITE || kind == HF_OP_INSERT || kind == HF_OP_DELETE)
            use[bits] = INSTALLS | HF_USE_WRITTEN;
        else if (kind == HF_OP_APPEND)
            use[bits] = INSTALLS | HF_USE_LIST;
        else if (kind == HF_OP_INCREMENT)
            use[bits] = INSTALLS | SPECIAL | HF_USE_WRITTEN;
        else if (kind == HF_OP_SQL || (kind < HF_OP_KIND_COUNT &&
                                       hf_op_has_predicate((hf_op_kind)kind)))
            use[bits] = SPECIAL;
    }
}

/* Use of keys, and how many versions each may have.  Reads and writes come in
 * no order that could be foreseen, so nothing here is decided by a branch. */
static void count_uses(hf_graph *g, uint32_t *count)
{
    const hf_history *h = g->h;
    uint8_t use[256];

    fill_uses(use);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        unsigned happened = g->happened[t];

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            unsigned u = use[h->op_kind[o]];
            hf_key_id key = h->op_key[o] < h->n_keys ? h->op_key[o] : h->n_keys;

            g->key_use[key] |= u & (HF_USE_LIST | HF_USE_WRITTEN);
            count[key] += u >> 7 & happened;
            if (u & SPECIAL)
                look_at_special(g, o);
        }
        if ((t & 0xff) == 0 && hf_graph_spent(g))
            return;
    }
}

static bool count_versions(hf_graph *g)
{
    const hf_history *h = g->h;
    uint32_t *count = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    uint64_t at = 0;

    count_uses(g, count);
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        g->ver_first[k] = (uint32_t)at;
        at += (uint64_t)count[k] + 1 + listed_in_vain(g, k);
    }
    if (at >= HF_VER_MOST || h->n_txns >= HF_VER_MOST / 2) {
        g->too_large = true;
        hf_free(count);
        return false;
    }
    g->ver_first[h->n_keys] = (uint32_t)at;
    g->n_versions = (uint32_t)at;
    g->has_lists =
        h->n_values > 0 && memchr(h->value_type, HF_LIST, h->n_values) != NULL;
    for (hf_key_id k = 0; k < h->n_keys && !g->has_lists; k++)
        g->has_lists = (g->key_use[k] & HF_USE_LIST) != 0;
    hf_free(count);
    return !g->stopped;
}

/* Lists and plain values on one key, or a list to begin with: the rules for
 * lists say nothing about those. */
static void look_at_keys(hf_graph *g)
{
    const hf_history *h = g->h;

    if (!g->has_lists)
        return;
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_value_id initial = h->key_initial ? h->key_initial[k] : HF_NONE;

        if (!(g->key_use[k] & HF_USE_LIST))
            continue;
        if (hf_graph_is_loose(g, k)) {
            g->key_use[k] |= HF_USE_MURKY;
            continue;
        }
        if (initial != HF_NONE && h->value_type[initial] != HF_NIL) {
            g->key_use[k] |= HF_USE_MURKY;
            hf_graph_undecided(g, true, "a list has elements to begin with");
        }
    }
}

/* ---- who happened -------------------------------------------------------- */

typedef struct spread {
    hf_graph *g;
    hf_txn_id *writer; /* per value: the only one, of unknown outcome */
    uint8_t *list_met;
    uint8_t *blind; /* per key: written with values that are not known */
    HF_VEC(hf_txn_id) stack;
    hf_snapshots *snapshots; /* NULL: there are none */
} spread;

#define MANY (HF_NONE - 1)

static void meet(spread *s, hf_value_id v)
{
    hf_txn_id t = s->writer[v];

    if (t >= MANY || s->g->happened[t] ||
        s->g->h->txn_outcome[t] != HF_UNKNOWN_OUTCOME)
        return;
    s->g->happened[t] = 1;
    hf_vec_push(&s->stack, t);
}

static bool own_write_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == h->op_key[op] && hf_graph_writes(h, o))
            return true;
    return false;
}

static void meet_txn(spread *s, hf_txn_id t)
{
    if (s->g->happened[t] || s->g->h->txn_outcome[t] != HF_UNKNOWN_OUTCOME)
        return;
    s->g->happened[t] = 1;
    hf_vec_push(&s->stack, t);
}

static bool own_key_before(const hf_history *h, hf_txn_id t, hf_op_id op,
                           hf_key_id key)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == key && hf_graph_writes(h, o))
            return true;
    return false;
}

static bool lists_key(const hf_history *h, const hf_predicate *p, hf_key_id key)
{
    for (uint32_t i = 0; i < p->n_versions; i++)
        if (h->value_key[p->versions[i].value] == key)
            return true;
    return p->snapshot != HF_SNAPSHOT_NONE &&
           (h->key_table ? h->key_table[key] : HF_NONE) == p->table;
}

static void meet_refs(spread *s, hf_txn_id t, hf_op_id op,
                      const hf_version_ref *refs, uint32_t n)
{
    const hf_history *h = s->g->h;

    for (uint32_t i = 0; i < n; i++) {
        hf_key_id key = h->value_key[refs[i].value];

        if (refs[i].writer == HF_WRITER_INITIAL ||
            own_key_before(h, t, op, key))
            continue;
        if (refs[i].writer != HF_NONE)
            meet_txn(s, refs[i].writer);
        else if (!s->blind[key] &&
                 !hf_value_is_initial(h, key, refs[i].value) &&
                 h->value_type[refs[i].value] != HF_LIST)
            meet(s, refs[i].value);
    }
}

/* The versions that a snapshot holds; false if that is not known. */
static bool meet_snapshot(spread *s, hf_txn_id t, hf_op_id op,
                          hf_string_id table)
{
    const hf_key_id *keys = NULL;
    uint32_t n = hf_snapshot_keys(s->snapshots, table, &keys);

    for (uint32_t i = 0; i < n; i++)
        if (hf_snapshot_version(s->snapshots, t, op, keys[i]) == HF_NONE)
            return false;
    for (uint32_t i = 0; i < n; i++) {
        hf_op_id w = hf_snapshot_version(s->snapshots, t, op, keys[i]);

        if (w != HF_WRITER_INITIAL)
            meet_txn(s, hf_op_txn(s->g->h, w));
    }
    return true;
}

/* What a predicate operation looked at, and rows that it did not list. */
static void meet_predicate(spread *s, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = s->g->h;
    hf_predicate p = hf_op_predicate(h, op);

    meet_refs(s, t, op, p.versions, p.n_versions);
    if (p.snapshot != HF_SNAPSHOT_NONE && !meet_snapshot(s, t, op, p.table))
        p.snapshot = HF_SNAPSHOT_NONE;
    for (uint32_t i = 0;
         !hf_op_is_aggregate(hf_op_kind_of(h, op)) && i < p.n_results; i++)
        if (!lists_key(h, &p, h->value_key[p.results[i].value]))
            meet_refs(s, t, op, &p.results[i], 1);
}

static void meet_sources(spread *s, hf_txn_id t)
{
    const hf_history *h = s->g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_op_kind kind = hf_op_kind_of(h, o);
        hf_value_id v = h->op_value[o];

        if (h->op_kind[o] & HF_OP_FAILED)
            continue;
        if (s->g->predicates && hf_op_has_predicate(kind)) {
            meet_predicate(s, t, o);
            continue;
        }
        if (kind == HF_OP_INCREMENT)
            v = hf_op_increment(h, o).before;
        else if (!hf_op_reads_item(kind))
            continue;
        if (v == HF_NONE || s->blind[h->op_key[o]])
            continue;
        if (h->value_type[v] != HF_LIST) {
            if (!hf_value_is_initial(h, h->op_key[o], v) &&
                !own_write_before(h, t, o))
                meet(s, v);
            continue;
        }
        for (; v != HF_NONE && !s->list_met[v]; v = hf_list_parent(h, v)) {
            s->list_met[v] = 1;
            meet(s, hf_list_last(h, v));
        }
    }
}

/* Transactions of unknown outcome that somebody who happened read from. */
static void spread_happened(hf_graph *g)
{
    const hf_history *h = g->h;
    spread s = {.g = g};

    s.writer = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    memset(s.writer, 0xff, h->n_values * sizeof(*s.writer));
    s.list_met = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);
    s.blind = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    if (g->predicates)
        s.snapshots = hf_snapshots_new(h);
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            hf_value_id v;

            if (!hf_graph_writes(h, o))
                continue;
            v = hf_graph_written(h, o);
            if (v == HF_NONE)
                s.blind[h->op_key[o]] = 1;
            else if (s.writer[v] == HF_NONE)
                s.writer[v] = t;
            else if (s.writer[v] != t)
                s.writer[v] = MANY;
        }
    /* an element that is there to begin with needs nobody */
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        for (hf_value_id v = h->key_initial[k];
             v != HF_NONE && h->value_type[v] == HF_LIST &&
             hf_list_last(h, v) != HF_NONE;
             v = hf_list_parent(h, v))
            s.writer[hf_list_last(h, v)] = MANY;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (g->happened[t] && hf_graph_reads_matter(g, t))
            meet_sources(&s, t);
        if ((t & 0xff) == 0 && hf_graph_spent(g))
            break;
    }
    while (s.stack.n > 0) {
        hf_txn_id t = s.stack.at[--s.stack.n];

        if (hf_graph_reads_matter(g, t))
            meet_sources(&s, t);
    }
    hf_vec_release(&s.stack);
    hf_free(s.writer);
    hf_free(s.list_met);
    hf_free(s.blind);
    hf_snapshots_free(s.snapshots);
}

static void find_happened(hf_graph *g)
{
    const hf_history *h = g->h;
    bool unknown = false;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        g->happened[t] = g->world.happened ? g->world.happened[t]
                                           : h->txn_outcome[t] == HF_COMMITTED;
        unknown |= h->txn_outcome[t] == HF_UNKNOWN_OUTCOME;
    }
    if (unknown && g->reads_matter && (!g->world.happened || g->world.spread))
        spread_happened(g);
    g->all_happened = true;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        g->n_happened += g->happened[t];
        g->all_happened &= g->happened[t] || h->txn_outcome[t] == HF_ABORTED;
    }
}

/* ---- all ----------------------------------------------------------------- */

static void *nones(size_t count)
{
    void *p = hf_alloc_large(hf_array_size(count + 1, sizeof(uint32_t)));

    memset(p, 0xff, (count + 1) * sizeof(uint32_t));
    return p;
}

static void get_memory(hf_graph *g)
{
    const hf_history *h = g->h;
    size_t values = (size_t)h->n_values + 1;

    g->value = hf_alloc_large(hf_array_size(values, sizeof(*g->value)));
    memset(g->value, 0xff, values * sizeof(*g->value));
    g->op_role = nones(h->n_ops);
    g->ver_txn = nones(g->n_versions);
    g->ver_op = nones(g->n_versions);
    g->ver_end = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    g->chain_end = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    if (g->has_increments)
        g->op_source = nones(h->n_ops);
}

/* Bytes that the engine will want; the budget may say no. */
static bool afford(hf_graph *g)
{
    const hf_history *h = g->h;
    size_t bytes = (size_t)h->n_values * sizeof(hf_value_fact) +
                   (size_t)h->n_ops * 12 + (size_t)g->n_versions * 16 +
                   (size_t)h->n_txns * 24;

    if (g->budget && hf_budget_refuses(g->budget, bytes))
        g->stopped = true;
    return !g->stopped;
}

bool hf_graph_build_facts(hf_graph *g)
{
    const hf_history *h = g->h;

    g->reads_matter = g->level->shape != HF_SHAPE_WW;
    g->open_read = HF_NONE;
    g->happened = HF_NEW_ZEROED(uint8_t, (size_t)h->n_txns + 1);
    g->key_use = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    g->ver_first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);
    find_happened(g);
    if (g->stopped || !count_versions(g) || !afford(g))
        return false;
    look_at_keys(g);
    get_memory(g);
    if (!hf_graph_place_writes(g))
        return false;
    hf_graph_use_recorded_order(g);
    if (g->has_lists)
        hf_graph_order_lists(g);
    if (g->stopped || !hf_graph_take_reads(g))
        return false;
    hf_graph_find_paths(g);
    hf_graph_find_open(g);
    return !g->stopped;
}

bool hf_graph_build_edges(hf_graph *g)
{
    hf_graph_link_readers(g);
    hf_graph_open_orders(g);
    return !g->stopped;
}

void hf_graph_release(hf_graph *g)
{
    void *all[] = {
        g->happened,     g->key_use,      g->value,        g->ver_first,
        g->ver_end,      g->chain_end,    g->ver_txn,      g->ver_op,
        g->op_role,      g->op_source,    g->reader_first, g->reader_txn,
        g->list_length,  g->list_kept,    g->list_several, g->list_times,
        g->list_on_path, g->longest_op,   g->list_bad,     g->prev,
        g->group_of,     g->group_ver,    g->group_alone,  g->pair_first,
        g->pairs,        g->session_prev, g->time_txn,     g->time_before,
        g->open_key};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        hf_free(all[i]);
    hf_counters_free(g->counters);
    hf_graph_release_findings(g);
}

void hf_graph_release_findings(hf_graph *g)
{
    for (unsigned i = 0; i < HF_G0; i++)
        hf_vec_release(&g->places[i].kept);
    hf_vec_release(&g->odd);
    hf_vec_release(&g->clashes);
    hf_vec_release(&g->listed);
    hf_vec_release(&g->circles);
    hf_vec_release(&g->open);
}

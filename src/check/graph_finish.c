/* graph_finish.c: completing what is not known, and saying what was missing.
 *
 * An order of all transactions that keeps every known edge settles the order
 * of every key's versions.  Replaying it shows whether every read sees what
 * it saw; then the history is serializable in that order.  For weaker levels
 * the completed orders are taken as if they had been known, and the level is
 * asked again.
 *
 * Replay is O(operations).
 */
#include "check/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- replay -------------------------------------------------------------- */

typedef struct state {
    const hf_graph *g;
    hf_value_id *value; /* per key: current value; lists: the last element */
    hf_txn_id *writer;  /* per key: who wrote it; HF_NONE: initial */
    hf_source_list *sources;
} state;

static hf_value_id initial_value(const hf_history *h, hf_key_id key)
{
    return h->key_initial ? h->key_initial[key] : HF_NONE;
}

/* Does a read of v see the current version of the key? */
static bool sees(const state *s, hf_op_id op, hf_value_id v)
{
    const hf_history *h = s->g->h;
    hf_key_id key = h->op_key[op];

    if (s->writer[key] == HF_NONE)
        return hf_value_is_initial(h, key, v);
    if (h->value_type[v] == HF_LIST)
        return hf_list_last(h, v) == s->value[key];
    return v == s->value[key];
}

static bool replay_read(state *s, hf_txn_id t, hf_op_id op, hf_value_id v)
{
    const hf_graph *g = s->g;
    const hf_history *h = g->h;
    hf_key_id key = h->op_key[op];

    if (v == HF_NONE)
        return true;
    for (hf_op_id o = op; o-- > h->op_first[t];)
        if (h->op_key[o] == key && hf_graph_writes(h, o))
            return true; /* own writes are looked at elsewhere */
    if (!sees(s, op, v))
        return false;
    if (h->value_type[v] != HF_LIST && g->value[v].ver == HF_VER_SEVERAL)
        hf_vec_push(s->sources, (hf_source){op, 0, s->writer[key]});
    return true;
}

static bool replay_txn(state *s, hf_txn_id t)
{
    const hf_history *h = s->g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_op_kind kind = hf_op_kind_of(h, o);

        if (h->op_kind[o] & HF_OP_FAILED)
            continue;
        if (hf_op_reads_item(kind) && !replay_read(s, t, o, h->op_value[o]))
            return false;
        if (kind == HF_OP_INCREMENT &&
            !replay_read(s, t, o, hf_op_increment(h, o).before))
            return false;
    }
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        if (!hf_graph_writes(h, o))
            continue;
        s->value[h->op_key[o]] = hf_graph_written(h, o);
        s->writer[h->op_key[o]] = t;
    }
    return true;
}

static int by_op(const void *a, const void *b)
{
    const hf_source *x = a, *y = b;

    return (x->op > y->op) - (x->op < y->op);
}

bool hf_graph_replay(const hf_graph *g, const hf_txn_id *order, uint32_t n,
                     hf_source_list *ret)
{
    size_t keys = (size_t)g->h->n_keys + 1;
    state s = {.g = g, .sources = ret};
    bool fine = true;

    ret->n = 0;
    s.value = HF_NEW_ARRAY(hf_value_id, keys);
    s.writer = HF_NEW_ARRAY(hf_txn_id, keys);
    memset(s.writer, 0xff, keys * sizeof(*s.writer));
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        s.value[k] = initial_value(g->h, k);
    for (uint32_t i = 0; i < n && fine; i++)
        fine = replay_txn(&s, order[i]);
    if (ret->n > 1)
        qsort(ret->at, ret->n, sizeof(*ret->at), by_op);
    hf_free(s.value);
    hf_free(s.writer);
    return fine;
}

/* The same where every key is one chain, by versions: each read finds the
 * version where it is, each write is the next one. */
static bool is_next(const hf_graph *g, uint32_t *current, hf_txn_id t)
{
    const hf_history *h = g->h;
    uint32_t wrong = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t role = g->op_role[o], *now;

        if (g->op_source && g->op_source[o] != HF_NONE)
            wrong |= current[h->op_key[o]] ^ g->op_source[o] / 2;
        if (role == HF_NONE)
            continue;
        now = &current[h->op_key[o]];
        wrong |= (*now + (role & 1u)) ^ role / 2;
        *now = role / 2;
    }
    return wrong == 0;
}

bool hf_graph_is_serial(const hf_graph *g, const hf_txn_id *order, uint32_t n)
{
    size_t bytes = hf_array_size(g->h->n_keys + 1u, sizeof(uint32_t));
    uint32_t *current = hf_alloc(bytes);
    bool fine = true;

    memcpy(current, g->ver_first, bytes);
    for (uint32_t i = 0; i < n && fine; i++) {
        fine = g->happened[order[i]] && is_next(g, current, order[i]);
    }
    hf_free(current);
    return fine;
}

/* ---- completing ---------------------------------------------------------- */

typedef struct ranked {
    uint32_t rank, ver;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void complete_key(hf_graph *g, hf_key_id key, const uint32_t *rank,
                         ranked *room, uint32_t *map)
{
    uint32_t base = g->ver_first[key] + 1, n = g->ver_end[key] - base;
    uint32_t *order = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++)
        room[i] = (ranked){rank[g->ver_txn[base + i]], base + i};
    qsort(room, n, sizeof(*room), by_rank);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = room[i].ver;
        map[room[i].ver] = base + i;
    }
    hf_graph_permute(g, key, order, n);
    g->chain_end[key] = g->ver_end[key];
    hf_free(order);
}

static void forget_open(hf_graph *g)
{
    hf_free(g->prev);
    hf_free(g->group_of);
    hf_free(g->group_ver);
    hf_free(g->group_alone);
    hf_free(g->pair_first);
    hf_free(g->pairs);
    g->prev = g->group_of = g->group_ver = g->group_alone = NULL;
    g->pair_first = NULL;
    g->pairs = NULL;
    g->n_groups = g->n_pairs = 0;
    g->total = true;
}

void hf_graph_complete(hf_graph *g, const hf_txn_id *order, uint32_t n)
{
    uint32_t *rank = HF_NEW_ZEROED(uint32_t, (size_t)g->h->n_txns + 1);
    uint32_t *map = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    ranked *room = HF_NEW_ARRAY(ranked, (size_t)g->n_versions + 1);

    for (uint32_t i = 0; i < n; i++)
        rank[order[i]] = i;
    for (uint32_t v = 0; v < g->n_versions; v++)
        map[v] = v;
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        if (g->open_key[k])
            complete_key(g, k, rank, room, map);
    hf_graph_remap(g, map);
    hf_free(g->reader_first);
    hf_free(g->reader_txn);
    g->reader_first = g->reader_txn = NULL;
    hf_graph_link_readers(g);
    forget_open(g);
    hf_free(rank);
    hf_free(map);
    hf_free(room);
}

/* ---- what was missing ---------------------------------------------------- */

static void print_key(const hf_history *h, hf_key_id key, hf_out *out)
{
    hf_scalar s = hf_key_scalar(h, key);

    if (h->key_table && h->key_table[key] != HF_NONE) {
        hf_out_str(out, hf_string(h, h->key_table[key]));
        hf_out_char(out, '/');
    }
    if (s.type == HF_INT)
        hf_out_int(out, s.number);
    else
        hf_out_bytes(out, s.text, s.length < 40 ? s.length : 40);
}

/* "x (T1, T4, T9 and 3 more)" */
static void print_open_key(const hf_graph *g, hf_key_id key, hf_out *out)
{
    uint32_t from = g->chain_end[key], n;

    if (!(g->key_use[key] & HF_USE_LIST))
        from = g->ver_first[key] + 1;
    n = g->ver_end[key] - from;
    print_key(g->h, key, out);
    hf_out_text(out, " (");
    for (uint32_t i = 0; i < n && i < 4; i++)
        hf_out_format(out, "%sT%" PRId64, i ? ", " : "",
                      hf_txn_label(g->h, g->ver_txn[from + i]));
    if (n > 4)
        hf_out_format(out, " and %" PRIu32 " more", n - 4);
    hf_out_char(out, ')');
}

static void print_open_keys(const hf_graph *g, hf_out *out)
{
    uint32_t shown = 0;
    bool lists = false, registers = false;

    hf_out_format(out,
                  "the order of versions is not known for %" PRIu32 " %s: ",
                  g->n_open_keys, g->n_open_keys == 1 ? "key" : "keys");
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        if (!g->open_key[k])
            continue;
        lists |= (g->key_use[k] & HF_USE_LIST) != 0;
        registers |= !(g->key_use[k] & HF_USE_LIST);
        if (shown < 3) {
            hf_out_text(out, shown ? ", " : "");
            print_open_key(g, k, out);
        }
        shown++;
    }
    if (shown > 3)
        hf_out_format(out, " and %" PRIu32 " more", shown - 3);
    hf_out_text(out, "; no way to complete it was found, and no "
                     "contradiction; ");
    if (lists)
        hf_out_text(out, "a later read of the whole list");
    if (lists && registers)
        hf_out_text(out, ", or ");
    if (registers)
        hf_out_text(out, "a certificate with the version order, or reads of "
                         "these keys by the transactions that write them,");
    hf_out_text(out, " would decide it");
}

char *hf_graph_missing(const hf_graph *g, hf_arena *arena)
{
    hf_out out;
    char *text;

    hf_out_init_memory(&out);
    if (g->n_open_keys > 0)
        print_open_keys(g, &out);
    if (g->open_reads > 0) {
        hf_op_id op = g->open_read;

        hf_out_format(&out,
                      "%s%" PRIu64 " %s could come from several writes of "
                      "the same value, the first of T%" PRId64,
                      out.n ? "; " : "", g->open_reads,
                      g->open_reads == 1 ? "read" : "reads",
                      hf_txn_label(g->h, hf_op_txn(g->h, op)));
        if (g->h->op_key[op] != HF_NONE) {
            hf_out_text(&out, " from ");
            print_key(g->h, g->h->op_key[op], &out);
        }
        hf_out_text(&out, "; unique values would decide it");
    }
    if (out.n == 0)
        hf_out_text(&out, "a list was read with an element that was appended "
                          "more than once; unique elements would decide it");
    text = hf_arena_text(arena, out.at, out.n);
    hf_out_release(&out);
    return text;
}

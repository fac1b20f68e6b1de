/* poly_prune.c: pairs that reachability decides.
 *
 * If the first writer of b reaches somebody who reads the last version of a,
 * then a cannot be before b, so b is before a.  Every such pair adds known
 * edges, which decide more pairs; a few rounds until nothing new comes.
 *
 * Reachability is a bit for each two nodes: rows are filled from the end of a
 * topological order; a successor that is in the row already adds nothing, so
 * only the edges of the transitive reduction cost a row.  O(n^2 / 8) bytes and
 * O(reduced edges * n / 64) a round, then for each key its atoms times the
 * readers of their last versions.
 *
 * The pairs found here are not told to the solver as variables: their edges
 * are known edges to it.  A proof that uses one explains it (poly_proof.c) by
 * the cycle there would be otherwise, in the graph of the round before.
 */
#include "check/poly.h"

#include <string.h>

#include "base/sort.h"

#define ROUNDS 8u

typedef struct pruner {
    hf_poly *p;
    uint32_t n;     /* nodes */
    size_t words;   /* in a row */
    uint64_t *rows; /* what a node reaches */
    /* known edges, by node */
    uint32_t *first, *to;
    HF_VEC(uint64_t) edges;
    uint32_t *order; /* topological */
    uint32_t *place;
} pruner;

static void add_edge(void *user, uint32_t from, uint32_t to)
{
    pruner *q = user;

    if (from != to)
        hf_vec_push(&q->edges, (uint64_t)from << 32 | to);
}

static void sort_edges(pruner *q)
{
    hf_free(q->first);
    hf_free(q->to);
    q->first = HF_NEW_ZEROED(uint32_t, (size_t)q->n + 2);
    q->to = HF_NEW_ARRAY(uint32_t, q->edges.n + 1);
    for (size_t i = 0; i < q->edges.n; i++)
        q->first[(q->edges.at[i] >> 32) + 1]++;
    for (uint32_t v = 0; v < q->n; v++)
        q->first[v + 1] += q->first[v];
    for (size_t i = q->edges.n; i-- > 0;)
        q->to[--q->first[(q->edges.at[i] >> 32) + 1]] =
            (uint32_t)q->edges.at[i];
    /* first[v + 1] is now where v begins */
    memmove(q->first, q->first + 1, (size_t)q->n * sizeof(uint32_t));
    q->first[q->n] = (uint32_t)q->edges.n;
}

/* Kahn's; false: there is a cycle. */
static bool sort_nodes(pruner *q)
{
    uint32_t *waits = HF_NEW_ZEROED(uint32_t, (size_t)q->n + 1);
    uint32_t head = 0, n = 0;

    for (size_t i = 0; i < q->edges.n; i++)
        waits[(uint32_t)q->edges.at[i]]++;
    for (uint32_t v = 0; v < q->n; v++)
        if (waits[v] == 0)
            q->order[n++] = v;
    for (; head < n; head++) {
        uint32_t v = q->order[head];

        q->place[v] = head;
        for (uint32_t i = q->first[v]; i < q->first[v + 1]; i++)
            if (--waits[q->to[i]] == 0)
                q->order[n++] = q->to[i];
    }
    hf_free(waits);
    return n == q->n;
}

static bool reaches(const pruner *q, uint32_t from, uint32_t to)
{
    return q->rows[from * q->words + to / 64] >> (to % 64) & 1u;
}

/* Successors in topological order: the nearest first. */
static void sort_successors(pruner *q, uint32_t v)
{
    uint32_t *to = q->to + q->first[v], n = q->first[v + 1] - q->first[v];

    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = to[i], j = i;

        for (; j > 0 && q->place[to[j - 1]] > q->place[x]; j--)
            to[j] = to[j - 1];
        to[j] = x;
    }
}

static bool fill_rows(pruner *q)
{
    for (uint32_t i = q->n; i-- > 0;) {
        uint32_t v = q->order[i];
        uint64_t *row = q->rows + v * q->words;

        memset(row, 0, q->words * sizeof(*row));
        sort_successors(q, v);
        for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++) {
            uint32_t x = q->to[k];
            const uint64_t *other = q->rows + x * q->words;

            if (row[x / 64] >> (x % 64) & 1u)
                continue;
            row[x / 64] |= 1ull << (x % 64);
            for (size_t w = 0; w < q->words; w++)
                row[w] |= other[w];
        }
        if ((i & 0x3f) == 0 && hf_graph_spent(q->p->g))
            return false;
    }
    return true;
}

/* Would "a before b" close a cycle? */
static bool is_impossible(const pruner *q, uint32_t a, uint32_t b)
{
    const hf_poly *p = q->p;
    const hf_graph *g = p->g;
    uint32_t last = p->tail[a];
    hf_txn_id t = g->ver_txn[b];
    uint32_t from = hf_poly_commit(p, t), entry = hf_poly_entry(p, t);
    uint32_t to = hf_poly_commit(p, g->ver_txn[last]);

    if (to == entry || reaches(q, entry, to))
        return true;
    for (uint32_t i = hf_graph_first_reader(g, last);
         i < hf_graph_end_reader(g, last); i++)
        if (g->reader_txn[i] != t &&
            hf_poly_comes_before(p, g->reader_txn[i]) &&
            reaches(q, from, hf_poly_start(p, g->reader_txn[i])))
            return true;
    return false;
}

/* Does the graph have all edges of "a before b" already? */
static bool is_known(const pruner *q, uint32_t a, uint32_t b,
                     hf_poly_edges *edges)
{
    edges->n = 0;
    hf_poly_edges_of(q->p, a, b, edges);
    for (size_t i = 0; i < edges->n; i++)
        if (edges->at[i].from != edges->at[i].to &&
            !reaches(q, edges->at[i].from, edges->at[i].to))
            return false;
    return true;
}

static void force(pruner *q, uint32_t a, uint32_t b, uint32_t round,
                  const hf_poly_edges *edges)
{
    hf_poly *p = q->p;

    for (size_t i = 0; i < edges->n; i++) {
        uint32_t from = edges->at[i].from, to = edges->at[i].to;

        if (from == to || reaches(q, from, to))
            continue; /* it follows from others */
        add_edge(q, from, to);
        (void)hf_map_add(&p->forced_edge, (uint64_t)from << 32 | to,
                         (uint32_t)p->forced.n);
    }
    hf_vec_push(&p->forced, (hf_poly_forced){a, b, round});
}

/* ... and not the initial one. */
static bool is_certain(const hf_poly *p, uint32_t atom)
{
    hf_txn_id t = p->g->ver_txn[atom];

    return t != HF_NONE && !hf_poly_is_uncertain(p, t);
}

/* All pairs of a key.  The initial atom is before all others anyway. */
static uint32_t prune_key(pruner *q, uint32_t key, uint32_t round,
                          hf_poly_edges *edges)
{
    const hf_poly *p = q->p;
    const uint32_t *atoms = p->atoms + p->atom_first[key];
    uint32_t n = p->atom_first[key + 1] - p->atom_first[key], found = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            uint32_t a = atoms[i], b = atoms[j];

            if (!is_certain(p, a) || !is_certain(p, b))
                continue;
            if (!is_impossible(q, a, b)) {
                b = atoms[i];
                a = atoms[j];
                if (!is_impossible(q, a, b))
                    continue;
            }
            /* a is not before b */
            if (is_known(q, b, a, edges))
                continue;
            force(q, b, a, round, edges);
            found++;
        }
    return found;
}

/* Nodes by how many are known to be before them, less how many behind. */
static uint32_t *balance_hint(const pruner *q)
{
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)q->n + 1);
    uint32_t *hint = HF_NEW_ARRAY(uint32_t, (size_t)q->n + 1);
    int64_t *balance = HF_NEW_ZEROED(int64_t, (size_t)q->n + 1);

    for (uint32_t v = 0; v < q->n; v++) {
        const uint64_t *row = q->rows + v * q->words;

        for (size_t w = 0; w < q->words; w++) {
            uint64_t bits = row[w];

            balance[v] -= __builtin_popcountll(bits);
            for (; bits; bits &= bits - 1)
                balance[w * 64 + (unsigned)__builtin_ctzll(bits)]++;
        }
    }
    for (uint32_t v = 0; v < q->n; v++)
        s[v] = (hf_sortable){(uint64_t)(balance[v] + q->n), v};
    hf_sort(s, q->n);
    for (uint32_t v = 0; v < q->n; v++)
        hint[v] = (uint32_t)s[v].value;
    hf_free(s);
    hf_free(balance);
    return hint;
}

static bool run(pruner *q, uint32_t **ret_hint)
{
    hf_poly_edges edges = {0};
    bool fine = true;

    for (uint32_t round = 0; round < ROUNDS && fine; round++) {
        uint32_t found = 0;

        sort_edges(q);
        if (!sort_nodes(q))
            break; /* a cycle: the solver will say so */
        fine = fill_rows(q);
        hf_budget_progress(q->p->g->budget, "rounds of pruning", round, 0);
        for (uint32_t k = 0; k < q->p->n_keys && fine; k++) {
            found += prune_key(q, k, round, &edges);
            fine = !hf_graph_spent(q->p->g);
        }
        if (fine && ret_hint && (found == 0 || round + 1 == ROUNDS))
            *ret_hint = balance_hint(q);
        if (found == 0)
            break;
    }
    hf_vec_release(&edges);
    return fine;
}

bool hf_poly_prune(hf_poly *p, size_t most_bytes, uint32_t **ret_hint)
{
    pruner q = {.p = p, .n = hf_poly_n_nodes(p)};
    size_t bytes;
    bool fine;

    q.words = (q.n + 63) / 64;
    bytes = (size_t)q.n * q.words * sizeof(uint64_t);
    if (ret_hint)
        *ret_hint = NULL;
    if (bytes > most_bytes || (p->g->budget && p->g->budget->bytes &&
                               bytes > p->g->budget->bytes - hf_memory_held()))
        return false;
    hf_poly_known(p, add_edge, &q);
    q.rows = hf_alloc_large(bytes + sizeof(uint64_t));
    q.order = HF_NEW_ARRAY(uint32_t, (size_t)q.n + 1);
    q.place = HF_NEW_ARRAY(uint32_t, (size_t)q.n + 1);
    fine = run(&q, ret_hint);
    hf_free(q.rows);
    hf_free(q.order);
    hf_free(q.place);
    hf_free(q.first);
    hf_free(q.to);
    hf_vec_release(&q.edges);
    return fine;
}

/* poly_grow.c: whom a refutation needs.
 *
 * A proof names transactions; what it says of them may rest on others, who
 * wrote what they read, stand between two versions of a chain or read a list
 * that orders two appends.  Those are added, the likely ones first.
 *
 * O(the proof, and the operations of those in the set) for each round.
 */
#include <string.h>

#include "check/poly_shrink.h"

/* ---- sets ---------------------------------------------------------------- */

void hf_shrink_clear(hf_shrinker *s)
{
    for (size_t i = 0; i < s->set.n; i++)
        s->in[s->set.at[i]] = 0;
    s->set.n = 0;
}

void hf_shrink_add(hf_shrinker *s, hf_txn_id t)
{
    if (t == HF_NONE || s->in[t] || (s->core.n > 0 && !s->in_core[t]))
        return;
    s->in[t] = 1;
    hf_vec_push(&s->set, t);
}

static void add_writers(hf_shrinker *s, hf_value_id v)
{
    for (uint32_t i = s->parts.write_first[v]; i < s->parts.write_first[v + 1];
         i++)
        hf_shrink_add(s, s->parts.writers[i]);
}

/* There are conditions, or sums, so that these are listed. */
static void add_writers_of_key(hf_shrinker *s, hf_key_id key)
{
    for (uint32_t i = s->parts.key_first[key]; i < s->parts.key_first[key + 1];
         i++)
        hf_shrink_add(s, s->parts.key_writers[i]);
}

/* Those without whom a read would say nothing. */
static void add_sources(hf_shrinker *s, hf_op_id op)
{
    hf_value_id v;

    if (op == HF_NONE)
        return;
    v = hf_part_read(s->h, op);
    if (v == HF_NONE)
        return;
    if (s->parts.blind[s->h->op_key[op]]) {
        add_writers_of_key(s, s->h->op_key[op]);
        return;
    }
    add_writers(s, s->h->value_type[v] == HF_LIST ? hf_list_last(s->h, v) : v);
}

/* Whose version of a key a condition looked at, and if it did not return it who
 * else changed the matches. */
static void add_looked_at(hf_shrinker *s, hf_op_id op, hf_key_id key)
{
    const hf_history *h = s->h;
    hf_predicate q;

    if (op == HF_NONE || !hf_op_has_predicate(hf_op_kind_of(h, op)))
        return;
    q = hf_op_predicate(h, op);
    for (uint32_t i = 0; i < q.n_results; i++)
        if (h->value_key[q.results[i].value] == key) {
            add_writers(s, q.results[i].value);
            return;
        }
    add_writers_of_key(s, key);
}

/* ---- growing ------------------------------------------------------------- */

void hf_shrink_add_read_sources(hf_shrinker *s, hf_txn_id t, bool all)
{
    const hf_history *h = s->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_predicate q;

        add_sources(s, op);
        if (!hf_op_has_predicate(hf_op_kind_of(h, op)))
            continue;
        q = hf_op_predicate(h, op);
        for (uint32_t i = 0; i < q.n_versions + q.n_results; i++) {
            hf_version_ref ref =
                i < q.n_versions ? q.versions[i] : q.results[i - q.n_versions];

            add_writers(s, ref.value);
            if (all)
                add_writers_of_key(s, h->value_key[ref.value]);
        }
    }
}

/* Of t, which reads the key and then writes it: the only one that may have
 * written what it read.  HF_NONE: there is none, *ret_initial: nobody. */
static hf_txn_id source_of(const hf_shrinker *s, hf_txn_id t, hf_key_id key,
                           bool *ret_initial)
{
    const hf_history *h = s->h;
    hf_value_id read = HF_NONE, v;
    bool wrote = false;
    uint32_t n;

    *ret_initial = false;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (h->op_key[op] != key)
            continue;
        v = hf_part_read(h, op);
        if (v != HF_NONE && !wrote)
            read = v;
        wrote |= hf_part_writes(h, op, &v);
    }
    if (read == HF_NONE || !wrote)
        return HF_NONE;
    if (h->value_type[read] == HF_LIST)
        read = hf_list_last(h, read);
    n = s->parts.write_first[read + 1] - s->parts.write_first[read];
    *ret_initial = n == 0;
    return n == 1 ? s->parts.writers[s->parts.write_first[read]] : HF_NONE;
}

/* From t back along those that read the key and replaced what they read, to
 * another of the set (or to the first): all in between are added. */
static void add_chain(hf_shrinker *s, hf_txn_id t, hf_key_id key, bool to_first)
{
    hf_shrink_set way = {0};
    bool initial = false, ends = false;

    while (!ends) {
        t = source_of(s, t, key, &initial);
        if (t == HF_NONE ||
            hf_map_get(&s->met, (uint64_t)t << 32 | key) != UINT32_MAX)
            break;
        hf_map_set(&s->met, (uint64_t)t << 32 | key, 1);
        ends = s->in[t];
        hf_vec_push(&way, t);
    }
    for (size_t i = 0; (ends || (to_first && initial)) && i < way.n; i++)
        hf_shrink_add(s, way.at[i]);
    hf_vec_release(&way);
}

static void add_reader_of_list(hf_shrinker *s, hf_key_id key)
{
    if (key == HF_NONE || s->longest[key] == HF_NONE)
        return;
    hf_shrink_add(s, hf_op_txn(s->h, s->longest[key]));
    add_sources(s, s->longest[key]);
}

/* What t needs so that its operations say what they say in the whole. */
static void support(hf_shrinker *s, hf_txn_id t, bool all)
{
    const hf_history *h = s->h;
    hf_value_id v = HF_NONE;

    if (all)
        hf_shrink_add_read_sources(s, t, false);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (all) {
            add_sources(s, op);
            add_reader_of_list(s, h->op_key[op]);
        }
        if (!hf_part_writes(h, op, &v))
            continue;
        add_chain(s, t, h->op_key[op], all);
        if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME && v != HF_NONE)
            hf_shrink_add(s, s->read_by[v]);
    }
}

void hf_shrink_gather(hf_shrinker *s, const hf_witness *w)
{
    hf_shrink_clear(s);
    for (uint32_t i = 0; i < w->n_order; i++)
        hf_shrink_add(s, w->order[i]); /* a core, already */
    for (uint32_t i = 0; i < w->n_edges; i++) {
        const hf_edge *e = &w->edges[i];

        hf_shrink_add(s, e->from);
        hf_shrink_add(s, e->to);
        add_sources(s, e->from_op);
        add_sources(s, e->to_op);
        add_looked_at(s, e->from_op, e->key);
        add_looked_at(s, e->to_op, e->key);
    }
    for (uint32_t i = 0; i < w->n_steps; i++) {
        const hf_step *step = &w->steps[i];

        if (step->op != HF_NONE &&
            (step->kind == HF_STEP_SOURCES || step->kind == HF_STEP_HAPPENED ||
             step->kind == HF_STEP_LIST || step->kind == HF_STEP_FAULT)) {
            hf_shrink_add(s, hf_op_txn(s->h, step->op));
            add_sources(s, step->op);
            if (step->kind == HF_STEP_LIST || step->kind == HF_STEP_FAULT)
                hf_shrink_add(s, step->writer);
        }
    }
}

void hf_shrink_grow(hf_shrinker *s, const hf_witness *w, unsigned round)
{
    size_t n = s->set.n;

    hf_map_release(&s->met);
    hf_map_init(&s->met);
    for (uint32_t i = 0; i < w->n_edges; i++)
        add_reader_of_list(s, w->edges[i].key);
    for (size_t i = 0; i < n; i++)
        support(s, s->set.at[i], round > 1);
    if (round > 1 && s->set.n == n)
        for (hf_txn_id t = 0; t < s->h->n_txns; t++)
            hf_shrink_add(s, t);
}

/* ---- reads --------------------------------------------------------------- */

void hf_shrink_index(hf_shrinker *s)
{
    const hf_history *h = s->h;
    uint32_t *length = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 1);

    s->longest = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_keys + 1);
    s->read_by = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    memset(s->longest, 0xff, ((size_t)h->n_keys + 1) * sizeof(hf_op_id));
    memset(s->read_by, 0xff, ((size_t)h->n_values + 1) * sizeof(hf_txn_id));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = hf_part_read(h, op);
            hf_key_id key = h->op_key[op];
            uint32_t n;

            if (v == HF_NONE || h->txn_outcome[t] != HF_COMMITTED)
                continue;
            if (h->value_type[v] == HF_LIST) {
                n = hf_list_items(h, v, NULL);
                if (n > length[key]) {
                    length[key] = n;
                    s->longest[key] = op;
                }
                v = hf_list_last(h, v);
            }
            s->read_by[v] = t;
        }
    hf_free(length);
}

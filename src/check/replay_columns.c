/* replay_columns.c: the columns of rows, decoded once.
 *
 * A column that conditions or aggregates use is taken out of every value that
 * the keys of a table ever have, sorted, and replaced by ranks: equal values
 * have one rank, and a range of values is a range of ranks.  After that no
 * row is parsed again.  O(V log V) for V values; integers are sorted by
 * digits.
 */
#include "check/replay.h"

#include <string.h>

#include "base/ratio.h"
#include "base/sort.h"

typedef struct decoder {
    hf_replay_rows *rows;
    hf_rows_table *t;
    hf_ranked *c;
    hf_sql_value *values; /* per value of the table */
    uint8_t *missing;
    uint32_t *order; /* those that are not missing */
    uint32_t n;
    bool plain; /* integers and nothing else */
} decoder;

static void decode(decoder *d)
{
    const hf_history *h = d->rows->h;

    d->plain = true;
    for (uint32_t i = 0; i < d->t->n_values; i++) {
        hf_scalar s = hf_value_scalar(h, d->t->values[i]);

        if (!hf_sql_row_column(s, d->c->name, &d->rows->arena, &d->values[i])) {
            d->missing[i] = 1;
            continue;
        }
        d->plain &= d->values[i].type == HF_SQL_INT;
        d->order[d->n++] = i;
    }
}

/* ---- sorting ------------------------------------------------------------- */

static void sort_integers(decoder *d)
{
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)d->n + 1, sizeof(*all)));

    for (uint32_t i = 0; i < d->n; i++)
        all[i] = (hf_sortable){(uint64_t)d->values[d->order[i]].integer ^
                                   (uint64_t)1 << 63,
                               d->order[i]};
    hf_sort(all, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        d->order[i] = (uint32_t)all[i].value;
    hf_free(all);
}

/* Merges runs of doubling length. */
static void sort_any(decoder *d)
{
    uint32_t *from = d->order;
    uint32_t *to = HF_NEW_ARRAY(uint32_t, (size_t)d->n + 1), *spare = to;

    for (uint64_t width = 1; width < d->n; width *= 2) {
        uint32_t *swap = from;

        for (uint64_t low = 0; low < d->n; low += 2 * width) {
            uint64_t middle = low + width < d->n ? low + width : d->n;
            uint64_t high = low + 2 * width < d->n ? low + 2 * width : d->n;
            uint64_t i = low, j = middle;

            for (uint64_t k = low; k < high; k++)
                to[k] = j >= high || (i < middle &&
                                      hf_sql_order(&d->values[from[i]],
                                                   &d->values[from[j]]) <= 0)
                            ? from[i++]
                            : from[j++];
        }
        from = to;
        to = swap;
    }
    if (from != d->order)
        memcpy(d->order, from, d->n * sizeof(*from));
    hf_free(spare);
}

/* ---- ranks --------------------------------------------------------------- */

static void rank_values(decoder *d)
{
    hf_ranked *c = d->c;

    c->at = hf_alloc_large(hf_array_size((size_t)d->n + 1, sizeof(*c->at)));
    for (uint32_t i = 0; i < d->n; i++) {
        const hf_sql_value *v = &d->values[d->order[i]];

        if (c->n_ranks == 0 ||
            (d->plain ? c->at[c->n_ranks - 1].integer != v->integer
                      : hf_sql_order(&c->at[c->n_ranks - 1], v) != 0))
            c->at[c->n_ranks++] = *v;
        c->rank[d->order[i]] = c->n_ranks - 1;
    }
    for (uint32_t i = 0; i < d->t->n_values; i++)
        if (d->missing[i])
            c->rank[i] = c->n_ranks;
}

/* A decimal that others can compute with, too. */
static bool is_small(const hf_sql_value *v)
{
    hf_int128 whole = v->decimal;

    for (unsigned i = 0; i < v->scale; i++)
        whole /= 10;
    return v->scale <= HF_DECIMAL_SCALE && whole <= INT64_MAX &&
           whole >= -INT64_MAX;
}

/* Sums are of integers, in units of the finest decimal. */
static void find_scale(hf_ranked *c)
{
    c->summable = true;
    for (uint32_t r = 0; r < c->n_ranks; r++) {
        const hf_sql_value *v = &c->at[r];

        if (v->type == HF_SQL_DECIMAL && v->scale > c->scale)
            c->scale = v->scale;
        c->summable &= v->type == HF_SQL_INT || v->type == HF_SQL_NULL ||
                       (v->type == HF_SQL_DECIMAL && is_small(v));
    }
}

uint32_t hf_rows_column(hf_replay_rows *rows, uint32_t table, hf_str name)
{
    hf_rows_table *t = &rows->tables.at[table];
    hf_ranked c = {.name = name};
    decoder d = {.rows = rows, .t = t, .c = &c};

    for (uint32_t i = 0; i < t->columns.n; i++)
        if (hf_str_eq(t->columns.at[i].name, name))
            return i;
    d.values = hf_alloc_large(
        hf_array_size((size_t)t->n_values + 1, sizeof(*d.values)));
    d.missing = HF_NEW_ZEROED(uint8_t, (size_t)t->n_values + 1);
    d.order = HF_NEW_ARRAY(uint32_t, (size_t)t->n_values + 1);
    c.rank = HF_NEW_ARRAY(uint32_t, (size_t)t->n_values + 1);
    decode(&d);
    if (d.plain)
        sort_integers(&d);
    else
        sort_any(&d);
    rank_values(&d);
    find_scale(&c);
    hf_free(d.values);
    hf_free(d.missing);
    hf_free(d.order);
    hf_vec_push(&t->columns, c);
    return (uint32_t)t->columns.n - 1;
}

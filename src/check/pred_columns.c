/* pred_columns.c: the versions of a table, column by column.
 *
 * A condition is asked about values of columns, so each column that some
 * condition uses is decoded once, for all versions.  An index is the places of
 * the versions, sorted by value: O(V log V), linear if all are integers.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"

#define MISSING HF_PRED_MISSING
#define NIL 2u

hf_value_id hf_pred_value_of(const hf_graph *g, uint32_t ver)
{
    const hf_history *h = g->h;
    hf_key_id key;

    if (g->ver_op[ver] != HF_NONE)
        return hf_graph_written(h, g->ver_op[ver]);
    key = g->pred->ver_key[ver];
    return h->key_initial ? h->key_initial[key] : HF_NONE;
}

/* ---- tables -------------------------------------------------------------- */

static hf_string_id table_of(const hf_history *h, hf_key_id key)
{
    return h->key_table ? h->key_table[key] : HF_NONE;
}

static void name_keys(hf_pred *p)
{
    const hf_graph *g = p->g;

    p->ver_key = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    p->ver_place = HF_NEW_ARRAY(uint32_t, (size_t)g->n_versions + 1);
    for (hf_key_id k = 0; k < g->h->n_keys; k++)
        for (uint32_t v = g->ver_first[k]; v < g->ver_first[k + 1]; v++)
            p->ver_key[v] = k;
}

/* Tables that predicate operations name. */
static void name_tables(hf_pred *p)
{
    const hf_history *h = p->g->h;
    hf_string_id last = HF_NONE;
    bool any = false;

    hf_map_init(&p->by_name);
    for (size_t i = 0; i < p->ops.n; i++) {
        hf_string_id name = p->ops.at[i].q.table;
        uint32_t n = (uint32_t)p->tables.n;

        if (any && name == last)
            continue;
        any = true;
        last = name;
        if (hf_map_add(&p->by_name, name, n) == n)
            hf_vec_push(&p->tables, (hf_pred_table){.name = name});
    }
    p->table_of_key = HF_NEW_ARRAY(uint32_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        p->table_of_key[k] = hf_map_get(&p->by_name, table_of(h, k));
}

bool hf_pred_is_listed(const hf_graph *g, hf_key_id key)
{
    const hf_certificate *c = &g->h->cert;
    uint64_t from = c->order_first ? c->order_first[key] : 0;
    uint64_t to = c->order_first ? c->order_first[key + 1] : 0;
    uint32_t first = g->ver_first[key] + 1, n = g->ver_end[key] - first;

    if (from == to && n == 1)
        return g->h->txn_outcome[g->ver_txn[first]] == HF_COMMITTED;
    if (to - from != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (c->order_txn[from + i] != g->ver_txn[first + i])
            return false;
    return true;
}

/* Do commit times say the same as the order of the key's versions? */
static bool is_regular(const hf_pred *p, hf_key_id key)
{
    const hf_graph *g = p->g;
    const uint64_t *commit = p->commit;
    uint64_t last = 0;

    if (!commit || g->open_key[key] || (g->key_use[key] & HF_USE_LIST) ||
        (p->own_commit && !hf_pred_is_listed(g, key)))
        return false;
    for (uint32_t v = g->ver_first[key] + 1; v < g->ver_end[key]; v++) {
        uint64_t time = commit[g->ver_txn[v]];

        if (time == HF_TIME_NONE || (v > g->ver_first[key] + 1 && time <= last))
            return false;
        last = time;
    }
    return true;
}

static void fill_tables(hf_pred *p)
{
    const hf_graph *g = p->g;

    for (size_t i = 0; i < p->tables.n; i++)
        p->tables.at[i].regular = true;
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        hf_pred_table *t;

        if (p->table_of_key[k] == UINT32_MAX)
            continue;
        t = &p->tables.at[p->table_of_key[k]];
        t->n += g->ver_end[k] - g->ver_first[k];
        t->n_keys++;
        t->has_open |= g->open_key[k];
        t->regular = t->regular && !p->uncertain[k] && is_regular(p, k);
    }
    for (size_t i = 0; i < p->tables.n; i++) {
        p->tables.at[i].ver =
            HF_NEW_ARRAY(uint32_t, (size_t)p->tables.at[i].n + 1);
        p->tables.at[i].n = 0;
    }
    for (hf_key_id k = 0; k < g->h->n_keys; k++) {
        hf_pred_table *t;

        if (p->table_of_key[k] == UINT32_MAX)
            continue;
        t = &p->tables.at[p->table_of_key[k]];
        for (uint32_t v = g->ver_first[k]; v < g->ver_end[k]; v++) {
            p->ver_place[v] = t->n;
            t->ver[t->n++] = v;
        }
    }
}

void hf_pred_make_tables(hf_pred *p)
{
    name_keys(p);
    name_tables(p);
    fill_tables(p);
}

/* ---- columns ------------------------------------------------------------- */

static void decode_one(hf_pred *p, const hf_pred_table *t, hf_pred_column *c,
                       uint32_t i)
{
    const hf_graph *g = p->g;
    hf_value_id v = hf_pred_value_of(g, t->ver[i]);
    hf_scalar s = {.type = HF_NIL};

    if (v != HF_NONE)
        s = hf_value_scalar(g->h, v);
    if (v == HF_NONE && g->ver_op[t->ver[i]] != HF_NONE)
        c->missing[i] = MISSING; /* an increment without result */
    else if (s.type == HF_NIL)
        c->missing[i] = NIL;
    else if (!hf_sql_row_column(s, c->name, &p->arena, &c->value[i]))
        c->missing[i] = MISSING;
}

/* In the order of the history, where values lie side by side; unless the
 * table is a small part of it. */
static void decode(hf_pred *p, uint32_t table, hf_pred_column *c)
{
    const hf_graph *g = p->g;
    const hf_pred_table *t = &p->tables.at[table];
    bool in_order = t->n >= g->h->n_ops / 8;

    for (uint32_t i = 0; i < t->n; i++) {
        hf_op_id o = g->ver_op[t->ver[i]];

        if (!in_order || o == HF_NONE || hf_pred_installed(g, o) != t->ver[i])
            decode_one(p, t, c, i);
    }
    for (hf_op_id o = 0; in_order && o < g->h->n_ops; o++) {
        uint32_t ver = hf_pred_installed(g, o);

        if (ver != HF_NONE && p->table_of_key[p->ver_key[ver]] == table &&
            g->ver_op[ver] == o)
            decode_one(p, t, c, p->ver_place[ver]);
    }
}

uint32_t hf_pred_column_of(hf_pred *p, uint32_t table, hf_str name)
{
    hf_pred_table *t = &p->tables.at[table];
    hf_pred_column c = {.name = name};

    for (uint32_t i = 0; i < t->columns.n; i++)
        if (hf_str_eq(t->columns.at[i].name, name))
            return i;
    c.value =
        hf_alloc_large(hf_array_size((size_t)t->n + 1, sizeof(hf_sql_value)));
    memset(c.value, 0, ((size_t)t->n + 1) * sizeof(hf_sql_value));
    c.missing = HF_NEW_ZEROED(uint8_t, (size_t)t->n + 1);
    decode(p, table, &c);
    hf_vec_push(&t->columns, c);
    return (uint32_t)t->columns.n - 1;
}

static int by_order(const void *a, const void *b, void *values)
{
    const hf_sql_value *v = values;

    return hf_sql_order(&v[*(const uint32_t *)a], &v[*(const uint32_t *)b]);
}

static void sort_integers(hf_pred_column *c)
{
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)c->n_sorted + 1, sizeof(*all)));

    for (uint32_t i = 0; i < c->n_sorted; i++)
        all[i] = (hf_sortable){(uint64_t)c->value[c->sorted[i]].integer ^
                                   (uint64_t)1 << 63,
                               c->sorted[i]};
    hf_sort(all, c->n_sorted);
    for (uint32_t i = 0; i < c->n_sorted; i++)
        c->sorted[i] = (uint32_t)all[i].value;
    hf_free(all);
}

unsigned hf_pred_class(const hf_sql_value *v)
{
    switch ((hf_sql_type)v->type) {
    case HF_SQL_NULL:
        return 0;
    case HF_SQL_BOOL:
        return 1;
    case HF_SQL_INT:
    case HF_SQL_DECIMAL:
    case HF_SQL_REAL:
        return 2;
    case HF_SQL_TEXT:
        return 3;
    case HF_SQL_DATE:
        return 4;
    default:
        return 5;
    }
}

static void find_classes(hf_pred_column *c)
{
    uint32_t i = 0;

    for (unsigned k = 0; k < 7; k++) {
        uint32_t low = i, high = c->n_sorted;

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (hf_pred_class(&c->value[c->sorted[middle]]) < k)
                low = middle + 1;
            else
                high = middle;
        }
        c->class_first[k] = i = low;
    }
}

void hf_pred_sort_column(hf_pred *p, uint32_t table, uint32_t column)
{
    hf_pred_table *t = &p->tables.at[table];
    hf_pred_column *c = &t->columns.at[column];
    bool integers = true;

    if (c->sorted)
        return;
    c->sorted = HF_NEW_ARRAY(uint32_t, (size_t)t->n + 1);
    for (uint32_t i = 0; i < t->n; i++)
        if (!c->missing[i]) {
            integers &= c->value[i].type == HF_SQL_INT;
            c->sorted[c->n_sorted++] = i;
        }
    if (integers)
        sort_integers(c);
    else
        qsort_r(c->sorted, c->n_sorted, sizeof(uint32_t), by_order, c->value);
    find_classes(c);
}

void hf_pred_number_column(hf_pred *p, uint32_t table, uint32_t column)
{
    const hf_pred_table *t = &p->tables.at[table];
    hf_pred_column *c = &p->tables.at[table].columns.at[column];
    uint32_t n = 0;

    if (c->number)
        return;
    c->complete = true;
    c->number = HF_NEW_ARRAY(uint32_t, (size_t)t->n + 1);
    c->number_first = HF_NEW_ARRAY(uint32_t, (size_t)c->n_sorted + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        c->number[i] = HF_NONE;
        c->complete &= c->missing[i] != MISSING;
    }
    for (uint32_t i = 0; i < c->n_sorted; i++) {
        if (i == 0 || hf_pred_order(&c->value[c->sorted[i - 1]],
                                    &c->value[c->sorted[i]]) != 0)
            c->number_first[n++] = i;
        c->number[c->sorted[i]] = n - 1;
    }
    c->number_first[n] = c->n_sorted;
    c->n_numbers = n;
}

void hf_pred_release_tables(hf_pred *p)
{
    for (size_t i = 0; i < p->tables.n; i++) {
        hf_pred_table *t = &p->tables.at[i];

        for (size_t j = 0; j < t->columns.n; j++) {
            hf_free(t->columns.at[j].value);
            hf_free(t->columns.at[j].missing);
            hf_free(t->columns.at[j].sorted);
            hf_free(t->columns.at[j].number);
            hf_free(t->columns.at[j].number_first);
        }
        hf_vec_release(&t->columns);
        hf_free(t->ver);
    }
    hf_vec_release(&p->tables);
    hf_map_release(&p->by_name);
    hf_free(p->table_of_key);
    hf_free(p->ver_key);
    hf_free(p->ver_place);
}

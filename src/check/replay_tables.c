/* replay_tables.c: the tables and conditions of a history, for its replay.
 *
 * A table is the keys that predicates on it may return, and all the values
 * these ever have.  A condition is parsed once for each text and table; what
 * it says about single columns is turned into ranges of ranks.
 *
 * O(keys + values) to make, plus the columns (replay_columns.c); a condition
 * takes O(ranges * log ranks).
 */
#include "check/replay.h"

#include <string.h>

#include "base/error.h"
#include "base/ratio.h"
#include "sql/cache.h"
#include "sql/oracle.h"

/* ---- tables -------------------------------------------------------------- */

uint32_t hf_rows_table_of(const hf_replay_rows *rows, hf_string_id name)
{
    for (uint32_t i = 0; i < rows->tables.n; i++)
        if (rows->tables.at[i].name == name)
            return i;
    return HF_NONE;
}

/* All tables that keys are of: which of them conditions ask about shows when
 * they do. */
static void find_tables(hf_replay_rows *rows)
{
    const hf_history *h = rows->h;
    hf_string_id last = HF_NONE - 1;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_string_id table = h->key_table ? h->key_table[k] : HF_NONE;

        if (table != last && hf_rows_table_of(rows, table) == HF_NONE)
            hf_vec_push(&rows->tables, (hf_rows_table){.name = table});
        last = table;
    }
}

static bool has_predicates(const hf_history *h, const hf_expected *e)
{
    for (uint32_t i = 0; h->n_extra > 0 && i < e->n; i++)
        for (hf_op_id o = h->op_first[e->at[i]]; o < h->op_first[e->at[i] + 1];
             o++)
            if (hf_op_has_predicate(hf_op_kind_of(h, o)))
                return true;
    return false;
}

static void fill_tables(hf_replay_rows *rows)
{
    const hf_history *h = rows->h;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        uint32_t i =
            hf_rows_table_of(rows, h->key_table ? h->key_table[k] : HF_NONE);

        rows->table_of[k] = i;
        if (i != HF_NONE)
            rows->key_local[k] = rows->tables.at[i].n_keys++;
    }
    for (hf_value_id v = 0; v < h->n_values; v++) {
        uint32_t i = rows->table_of[h->value_key[v]];

        if (i != HF_NONE && h->value_type[v] != HF_NIL &&
            h->value_type[v] != HF_LIST)
            rows->local[v] = rows->tables.at[i].n_values++;
    }
    for (uint32_t i = 0; i < rows->tables.n; i++) {
        hf_rows_table *t = &rows->tables.at[i];

        t->keys = HF_NEW_ARRAY(hf_key_id, (size_t)t->n_keys + 1);
        t->values = HF_NEW_ARRAY(hf_value_id, (size_t)t->n_values + 1);
        t->now = HF_NEW_ARRAY(hf_value_id, (size_t)t->n_keys + 1);
        memset(t->now, 0xff, ((size_t)t->n_keys + 1) * sizeof(*t->now));
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (rows->table_of[k] != HF_NONE)
            rows->tables.at[rows->table_of[k]].keys[rows->key_local[k]] = k;
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (rows->local[v] != HF_NONE)
            rows->tables.at[rows->table_of[h->value_key[v]]]
                .values[rows->local[v]] = v;
}

static uint32_t *nones(size_t n)
{
    uint32_t *a = hf_alloc_large(hf_array_size(n + 1, sizeof(*a)));

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

hf_replay_rows *hf_rows_new(const hf_history *h, const hf_expected *e,
                            const hf_check_options *options, hf_budget *budget)
{
    hf_replay_rows *rows;

    if (!has_predicates(h, e))
        return NULL;
    rows = HF_NEW(hf_replay_rows);
    rows->h = h;
    find_tables(rows);
    rows->own_cache = !options->cache;
    rows->cache =
        options->cache ? options->cache : hf_sql_cache_new(options->dialect);
    rows->oracle_kind = options->oracle;
    rows->budget = budget;
    hf_arena_init(&rows->arena);
    hf_map_init(&rows->by_text);
    rows->table_of = nones(h->n_keys);
    rows->key_local = nones(h->n_keys);
    rows->local = nones(h->n_values);
    rows->row_stamp = nones(h->n_keys);
    rows->row_value = nones(h->n_keys);
    rows->row_at = nones(h->n_keys);
    fill_tables(rows);
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE)
            hf_rows_set(rows, k, h->key_initial[k]);
    return rows;
}

static void free_condition(hf_rows_condition *c)
{
    hf_free(c->columns);
    hf_free(c->ranges);
    hf_free(c->asked);
    hf_free(c->member);
    hf_free(c->members);
    hf_vec_release(&c->totals);
}

static void free_table(hf_rows_table *t)
{
    for (uint32_t i = 0; i < t->columns.n; i++) {
        hf_ranked *k = &t->columns.at[i];

        hf_free(k->at);
        hf_free(k->rank);
        if (k->has_index)
            hf_row_index_release(&k->index);
    }
    hf_vec_release(&t->columns);
    hf_vec_release(&t->changes);
    hf_free(t->keys);
    hf_free(t->values);
    hf_free(t->now);
}

void hf_rows_free(hf_replay_rows *rows)
{
    if (!rows)
        return;
    for (uint32_t i = 0; i < rows->conditions.n; i++)
        free_condition(&rows->conditions.at[i]);
    for (uint32_t i = 0; i < rows->tables.n; i++)
        free_table(&rows->tables.at[i]);
    hf_vec_release(&rows->conditions);
    hf_vec_release(&rows->tables);
    hf_free(rows->table_of);
    hf_free(rows->key_local);
    hf_free(rows->local);
    hf_free(rows->row_stamp);
    hf_free(rows->row_value);
    hf_free(rows->row_at);
    hf_free(rows->scratch);
    hf_map_release(&rows->by_text);
    hf_arena_release(&rows->arena);
    if (rows->own_cache)
        hf_sql_cache_free(rows->cache);
    if (rows->oracle)
        rows->oracle_kind->close(rows->oracle);
    hf_free(rows);
}

/* ---- conditions ---------------------------------------------------------- */

/* Values of different classes are not compared by conditions. */
static unsigned class_of(unsigned type)
{
    return type >= HF_SQL_INT && type <= HF_SQL_REAL ? HF_SQL_INT : type;
}

/* The first rank whose value is not before v (after: is after it). */
static uint32_t rank_from(const hf_ranked *k, const hf_sql_value *v, bool after)
{
    uint32_t low = 0, high = k->n_ranks;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = hf_sql_order(&k->at[middle], v);

        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The ranks whose values are of a class. */
static hf_rank_range ranks_of_class(const hf_ranked *k, unsigned type)
{
    hf_rank_range r = {0, 0};

    while (r.first < k->n_ranks && class_of(k->at[r.first].type) != type) {
        /* classes follow each other: jump to the end of this one */
        uint32_t low = r.first, high = k->n_ranks;
        unsigned other = class_of(k->at[low].type);

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (class_of(k->at[middle].type) == other)
                low = middle + 1;
            else
                high = middle;
        }
        r.first = low;
    }
    r.end = r.first;
    while (r.end < k->n_ranks && class_of(k->at[r.end].type) == type) {
        uint32_t low = r.end, high = k->n_ranks;

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (class_of(k->at[middle].type) == type)
                low = middle + 1;
            else
                high = middle;
        }
        r.end = low;
    }
    return r;
}

typedef struct bounded {
    hf_rank_range *ranges;
    hf_rank_range spoken; /* nulls, and the class that is bounded */
    uint32_t n, n_sure;
    uint64_t width;
} bounded;

static void add_range(bounded *b, uint32_t first, uint32_t end)
{
    if (first >= end)
        return;
    b->ranges[b->n++] = (hf_rank_range){first, end};
    b->width += end - first;
}

/* The ranks of a bound, then those that it says nothing of. */
static bounded ranks_of(const hf_ranked *k, const hf_sql_bound *bound)
{
    hf_rank_range all = ranks_of_class(k, class_of(bound->class_of));
    uint32_t nulls = k->n_ranks > 0 && k->at[0].type == HF_SQL_NULL;
    bounded b = {.ranges =
                     HF_NEW_ARRAY(hf_rank_range, (size_t)bound->n_ranges + 3)};

    for (uint32_t i = 0; i < bound->n_ranges; i++) {
        const hf_sql_range *r = &bound->ranges[i];
        uint32_t first =
            r->has_low ? rank_from(k, &r->low, r->low_open) : all.first;
        uint32_t end =
            r->has_high ? rank_from(k, &r->high, !r->high_open) : all.end;

        add_range(&b, first > all.first ? first : all.first,
                  end < all.end ? end : all.end);
    }
    b.n_sure = b.n;
    b.spoken = all;
    add_range(&b, nulls, all.first);
    add_range(&b, all.end > nulls ? all.end : nulls, k->n_ranks + 1);
    return b;
}

/* The bound with the fewest ranks. */
static void choose_bound(hf_replay_rows *rows, hf_rows_condition *c)
{
    const hf_sql_bound *bounds;
    uint32_t n = hf_sql_bounds(c->expr, &bounds);
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t column = c->columns[bounds[i].column];
        bounded b =
            ranks_of(&rows->tables.at[c->table].columns.at[column], &bounds[i]);

        if (b.width >= least) {
            hf_free(b.ranges);
            continue;
        }
        least = b.width;
        hf_free(c->ranges);
        c->ranges = b.ranges;
        c->n_ranges = b.n;
        c->n_sure = b.n_sure;
        c->spoken = b.spoken;
        c->bound = column;
        c->exact = bounds[i].exact;
    }
}

static void parse(hf_replay_rows *rows, hf_rows_condition *c)
{
    hf_str text =
        c->text == HF_NONE ? HF_STR("true") : hf_string(rows->h, c->text);
    hf_error err;

    c->expr = hf_sql_condition(rows->cache, text, &err);
    if (!c->expr) {
        c->why = hf_arena_text(&rows->arena, err.text, strlen(err.text));
        (void)hf_rows_ask_database(rows, c);
        return;
    }
    c->n_columns = hf_sql_n_columns(c->expr);
    c->columns = HF_NEW_ARRAY(uint32_t, (size_t)c->n_columns + 1);
    for (uint32_t i = 0; i < c->n_columns; i++)
        c->columns[i] =
            hf_rows_column(rows, c->table, hf_sql_column_name(c->expr, i));
    if (c->n_columns > rows->n_scratch) {
        rows->n_scratch = c->n_columns;
        hf_free(rows->scratch);
        rows->scratch = HF_NEW_ARRAY(hf_sql_value, c->n_columns);
    }
    choose_bound(rows, c);
}

hf_rows_condition *hf_rows_condition_of(hf_replay_rows *rows,
                                        const hf_predicate *p)
{
    uint32_t table = hf_rows_table_of(rows, p->table), i;
    uint64_t key = (uint64_t)table << 32 | p->condition;
    hf_rows_condition c = {
        .text = p->condition, .table = table, .bound = HF_NONE};

    if (table == HF_NONE) { /* it has no keys */
        c.table = (uint32_t)rows->tables.n;
        hf_vec_push(&rows->tables, (hf_rows_table){.name = p->table});
        key = (uint64_t)c.table << 32 | p->condition;
    }
    i = hf_map_get(&rows->by_text, key);
    if (i == UINT32_MAX) {
        parse(rows, &c);
        i = (uint32_t)rows->conditions.n;
        hf_vec_push(&rows->conditions, c);
        hf_map_set(&rows->by_text, key, i);
    }
    return &rows->conditions.at[i];
}

/* ---- aggregates ---------------------------------------------------------- */

uint32_t hf_rows_column_of(hf_replay_rows *rows, uint32_t table,
                           hf_op_kind kind, const hf_predicate *p)
{
    if (p->n_columns == 0)
        return kind == HF_OP_COUNT_ROWS
                   ? HF_NONE
                   : hf_rows_column(rows, table, HF_STR("value"));
    return hf_rows_column(rows, table, hf_string(rows->h, p->columns[0]));
}

static hf_sql_truth truth(bool fits)
{
    return fits ? HF_SQL_TRUE : HF_SQL_FALSE;
}

static bool is_plain(hf_op_kind kind, hf_scalar result)
{
    hf_wide units;

    if (result.type == HF_TEXT)
        return kind == HF_OP_MIN || kind == HF_OP_MAX;
    return result.type == HF_NIL || hf_decimal_of(result, &units) ||
           (kind == HF_OP_AVG && result.type == HF_REAL);
}

/* The order of texts is that of a dialect. */
static hf_sql_truth extreme_fits(const hf_replay_rows *rows, const hf_ranked *k,
                                 uint32_t rank, const hf_predicate *p,
                                 const hf_rows_answer *a)
{
    bool numbers = a->total.odd == 0 && k->summable;
    bool texts = k->at[a->least].type == HF_SQL_TEXT &&
                 k->at[a->most].type == HF_SQL_TEXT &&
                 hf_sql_cache_dialect(rows->cache) != HF_SQL_ANY;

    if (p->result.type == HF_NIL)
        return numbers || texts ? HF_SQL_FALSE : HF_SQL_ERROR;
    if (p->result.type == HF_TEXT ? !texts : !numbers)
        return HF_SQL_ERROR;
    return truth(hf_sql_scalar_equal(p->result, &k->at[rank]));
}

/* In units of HF_DECIMAL_ONE; of summable columns only. */
static hf_wide units_of(hf_wide number, unsigned scale)
{
    for (; scale < HF_DECIMAL_SCALE; scale++)
        number *= 10;
    return number;
}

static hf_wide size_of(const hf_sql_value *v)
{
    hf_wide units = v->type == HF_SQL_DECIMAL ? units_of(v->decimal, v->scale)
                    : v->type == HF_SQL_INT   ? units_of(v->integer, 0)
                                              : 0;

    return units < 0 ? -units : units;
}

/* The largest number among them; of the whole column if they are not known. */
static hf_wide largest(const hf_ranked *k, const hf_rows_answer *a)
{
    bool known = a->least < k->n_ranks && a->most < k->n_ranks;
    hf_wide low = size_of(&k->at[known ? a->least : 0]);
    hf_wide high = size_of(&k->at[known ? a->most : k->n_ranks - 1]);

    if (!known && k->at[0].type == HF_SQL_NULL && k->n_ranks > 1)
        low = size_of(&k->at[1]);
    return low > high ? low : high;
}

/* A sum, or an average, of numbers. */
static hf_sql_truth sum_fits(const hf_ranked *k, hf_op_kind kind,
                             const hf_predicate *p, const hf_rows_answer *a)
{
    const hf_rows_total *t = &a->total;
    hf_sql_value v = hf_sql_of_decimal(t->sum, k->scale);
    hf_ratio_fit fit = HF_RATIO_NO;

    if (t->odd > 0 || !k->summable || t->sum > INT64_MAX || t->sum < INT64_MIN)
        return HF_SQL_ERROR;
    if (k->scale > 0) {
        hf_wide sum = units_of(t->sum, k->scale), most = largest(k, a);

        fit = kind == HF_OP_AVG ? hf_average_fits(sum, most, t->n, p->result)
                                : hf_sum_fits(sum, most, t->n, p->result);
    } else if (kind == HF_OP_AVG) {
        fit = hf_ratio_fits(t->sum, t->n, k->scale, p->result);
    } else if (p->result.type != HF_NIL && hf_sql_scalar_equal(p->result, &v)) {
        fit = HF_RATIO_YES;
    }
    if (fit == HF_RATIO_PERHAPS)
        return HF_SQL_ERROR;
    return truth(fit == HF_RATIO_YES);
}

hf_sql_truth hf_rows_result_fits(const hf_replay_rows *rows, uint32_t table,
                                 hf_op_kind kind, const hf_predicate *p,
                                 const hf_rows_answer *a)
{
    const hf_rows_total *t = &a->total;
    const hf_ranked *k;
    hf_sql_value v = hf_sql_of_int(a->n);

    if (a->unsaid || t->missing > 0 || !is_plain(kind, p->result))
        return HF_SQL_ERROR;
    if (kind == HF_OP_COUNT_ROWS) {
        if (t->column != HF_NONE)
            v = hf_sql_of_int(t->n);
        return truth(hf_sql_scalar_equal(p->result, &v));
    }
    if (t->n == 0) /* nil; a sum may be given as 0 */
        return truth(p->result.type == HF_NIL ||
                     (kind == HF_OP_SUM && p->result.type == HF_INT &&
                      p->result.number == 0));
    k = &rows->tables.at[table].columns.at[t->column];
    if (kind == HF_OP_SUM || kind == HF_OP_AVG)
        return sum_fits(k, kind, p, a);
    return extreme_fits(rows, k, kind == HF_OP_MIN ? a->least : a->most, p, a);
}

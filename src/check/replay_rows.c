/* replay_rows.c: the rows that are there now, and who satisfies what.
 *
 * A condition that bounds a column (=, <, BETWEEN, IN, prefixes, conjunctions
 * of them) becomes ranges of ranks of that column; its rows are found through
 * the column's ordered index (row_index.h), and tested further only where the
 * bound is not all the condition says.  Equal conditions are one.
 *
 * A condition that bounds nothing, and one whose rows were many when it was
 * last asked, keeps the set of its rows and what they add up to; when it is
 * asked again only the keys that changed in between are tested.
 *
 * Cost of a question: O(log ranks + rows in the ranges), or O(changes since
 * it was last asked), at most the rows of the table.  A change of a row costs
 * O(log ranks) for each column that some condition bounds.
 */
#include "check/replay.h"

#include <string.h>

#include "base/error.h"

/* Sets of rows are kept up to this much memory. */
#define KEPT_MOST ((size_t)256 << 20)
/* Ranges with fewer rows are walked each time. */
#define WALK_FREELY 32u

/* ---- one row ------------------------------------------------------------- */

static bool is_inside(const hf_rows_condition *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->n_sure; i++)
        if (rank >= c->ranges[i].first && rank < c->ranges[i].end)
            return true;
    return false;
}

static hf_sql_truth evaluate(hf_replay_rows *rows, const hf_rows_condition *c,
                             uint32_t local)
{
    const hf_rows_table *t = &rows->tables.at[c->table];

    if (c->bound != HF_NONE) {
        uint32_t rank = t->columns.at[c->bound].rank[local];
        bool inside = is_inside(c, rank);

        if (inside && c->exact)
            return HF_SQL_TRUE;
        if (!inside && rank >= c->spoken.first && rank < c->spoken.end)
            return HF_SQL_FALSE;
    }
    for (uint32_t i = 0; i < c->n_columns; i++) {
        const hf_ranked *k = &t->columns.at[c->columns[i]];
        uint32_t rank = k->rank[local];

        if (rank == k->n_ranks)
            return HF_SQL_ERROR;
        rows->scratch[i] = k->at[rank];
    }
    return c->expr ? hf_sql_test(c->expr, rows->scratch, NULL) : HF_SQL_ERROR;
}

hf_sql_truth hf_rows_test(hf_replay_rows *rows, const hf_rows_condition *c,
                          hf_value_id value)
{
    uint32_t local = rows->local[value];
    hf_sql_truth truth;

    HF_ASSERT(rows->tables.at[c->table].values[local] == value);
    if (c->asked)
        return (hf_sql_truth)c->asked[local];
    truth = evaluate(rows, c, local);
    if (truth == HF_SQL_ERROR && c->text != HF_NONE &&
        hf_rows_ask_database(rows,
                             &rows->conditions.at[c - rows->conditions.at]))
        return (hf_sql_truth)c->asked[local];
    return truth;
}

static hf_int128 power_of_ten(unsigned n)
{
    hf_int128 p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

/* The value times 10^scale of its column. */
static hf_int128 units(const hf_ranked *k, const hf_sql_value *v)
{
    if (v->type == HF_SQL_INT)
        return k->scale ? v->integer * power_of_ten(k->scale) : v->integer;
    return v->decimal * power_of_ten(k->scale - v->scale);
}

void hf_rows_count(const hf_ranked *k, uint32_t rank, int sign,
                   hf_rows_total *t)
{
    const hf_sql_value *v;

    if (rank == k->n_ranks) {
        t->missing += (uint32_t)sign;
        return;
    }
    v = &k->at[rank];
    if (v->type == HF_SQL_NULL)
        return;
    t->n += (uint32_t)sign;
    if (v->type < HF_SQL_INT || v->type > HF_SQL_REAL)
        t->odd += (uint32_t)sign;
    else if (k->summable)
        t->sum += sign * units(k, v);
}

hf_rows_answer hf_rows_nothing(uint32_t column)
{
    return (hf_rows_answer){
        .total.column = column, .least = HF_NONE, .most = HF_NONE};
}

void hf_rows_add(const hf_replay_rows *rows, uint32_t table, hf_value_id value,
                 hf_rows_answer *a)
{
    const hf_ranked *k;
    uint32_t rank;

    a->n++;
    if (a->total.column == HF_NONE)
        return;
    k = &rows->tables.at[table].columns.at[a->total.column];
    rank = k->rank[rows->local[value]];
    hf_rows_count(k, rank, 1, &a->total);
    if (rank == k->n_ranks || k->at[rank].type == HF_SQL_NULL)
        return;
    if (a->least == HF_NONE || rank < a->least)
        a->least = rank;
    if (a->most == HF_NONE || rank > a->most)
        a->most = rank;
}

/* ---- changes ------------------------------------------------------------- */

void hf_rows_set(hf_replay_rows *rows, hf_key_id key, hf_value_id value)
{
    uint32_t table = rows->table_of[key], row;
    hf_value_id old;
    hf_rows_table *t;

    if (table == HF_NONE)
        return;
    t = &rows->tables.at[table];
    row = rows->key_local[key];
    old = t->now[row];
    if (value == HF_REPLAY_OPEN || (value != HF_NONE && value != old &&
                                    rows->h->value_type[value] == HF_LIST)) {
        t->odd = true;
        value = HF_NONE;
    }
    if (value != HF_NONE && rows->h->value_type[value] == HF_NIL)
        value = HF_NONE;
    if (old == value)
        return;
    for (uint32_t i = 0; i < t->columns.n; i++) {
        hf_ranked *k = &t->columns.at[i];

        if (!k->has_index)
            continue;
        if (old != HF_NONE)
            hf_row_index_remove(&k->index, k->rank[rows->local[old]], row);
        if (value != HF_NONE)
            hf_row_index_add(&k->index, k->rank[rows->local[value]], row);
    }
    t->n_live += (value != HF_NONE) - (old != HF_NONE);
    t->now[row] = value;
    hf_vec_push(&t->changes, row);
}

/* The index of a column, made when it is first needed. */
static void need_index(hf_replay_rows *rows, uint32_t table, uint32_t column)
{
    hf_rows_table *t = &rows->tables.at[table];
    hf_ranked *k = &t->columns.at[column];

    if (k->has_index)
        return;
    k->has_index = true;
    hf_row_index_init(&k->index, k->n_ranks + 1, t->n_keys);
    for (uint32_t row = 0; row < t->n_keys; row++)
        if (t->now[row] != HF_NONE)
            hf_row_index_add(&k->index, k->rank[rows->local[t->now[row]]], row);
}

/* ---- sets that are kept -------------------------------------------------- */

static void put_member(hf_replay_rows *rows, hf_rows_condition *c,
                       hf_rows_table *t, uint32_t row, hf_value_id value)
{
    hf_sql_truth truth =
        value == HF_NONE ? HF_SQL_FALSE : hf_rows_test(rows, c, value);

    c->member[row] = truth == HF_SQL_TRUE ? 1 : truth == HF_SQL_ERROR ? 2 : 0;
    c->members[row] = value;
    c->n_members += truth == HF_SQL_TRUE;
    c->n_unsaid += truth == HF_SQL_ERROR;
    for (size_t i = 0; truth == HF_SQL_TRUE && i < c->totals.n; i++) {
        const hf_ranked *k = &t->columns.at[c->totals.at[i].column];

        hf_rows_count(k, k->rank[rows->local[value]], 1, &c->totals.at[i]);
    }
}

static void drop_member(hf_replay_rows *rows, hf_rows_condition *c,
                        hf_rows_table *t, uint32_t row)
{
    hf_value_id old = c->members[row];

    c->n_unsaid -= c->member[row] == 2;
    if (c->member[row] != 1)
        return;
    c->n_members--;
    for (size_t i = 0; i < c->totals.n; i++) {
        const hf_ranked *k = &t->columns.at[c->totals.at[i].column];

        hf_rows_count(k, k->rank[rows->local[old]], -1, &c->totals.at[i]);
    }
}

/* Brings the set up to date. */
static void update(hf_replay_rows *rows, hf_rows_condition *c)
{
    hf_rows_table *t = &rows->tables.at[c->table];
    bool all = t->changes.n - c->seen > t->n_keys;
    size_t n = all ? t->n_keys : t->changes.n - c->seen;

    for (size_t i = 0; i < n; i++) {
        uint32_t row = all ? (uint32_t)i : t->changes.at[c->seen + i];

        if (c->members[row] == t->now[row])
            continue;
        drop_member(rows, c, t, row);
        put_member(rows, c, t, row, t->now[row]);
    }
    c->seen = t->changes.n;
}

static void keep(hf_replay_rows *rows, hf_rows_condition *c)
{
    hf_rows_table *t = &rows->tables.at[c->table];
    size_t bytes = (size_t)t->n_keys * 5 + 5;

    if (rows->kept_bytes + bytes > KEPT_MOST)
        return;
    rows->kept_bytes += bytes;
    c->kept = true;
    c->member = HF_NEW_ZEROED(uint8_t, (size_t)t->n_keys + 1);
    c->members = HF_NEW_ARRAY(hf_value_id, (size_t)t->n_keys + 1);
    memset(c->members, 0xff, ((size_t)t->n_keys + 1) * sizeof(*c->members));
    for (uint32_t row = 0; row < t->n_keys; row++)
        if (t->now[row] != HF_NONE)
            put_member(rows, c, t, row, t->now[row]);
    c->seen = t->changes.n;
}

/* What its rows add up to in a column. */
static const hf_rows_total *total_of(hf_replay_rows *rows, hf_rows_condition *c,
                                     uint32_t column)
{
    const hf_rows_table *t = &rows->tables.at[c->table];
    const hf_ranked *k = &t->columns.at[column];
    hf_rows_total sum = {.column = column};

    for (size_t i = 0; i < c->totals.n; i++)
        if (c->totals.at[i].column == column)
            return &c->totals.at[i];
    for (uint32_t row = 0; row < t->n_keys; row++)
        if (c->member[row] == 1)
            hf_rows_count(k, k->rank[rows->local[c->members[row]]], 1, &sum);
    hf_vec_push(&c->totals, sum);
    return &c->totals.at[c->totals.n - 1];
}

static bool has_member(const hf_rows_condition *c, const hf_row_index *x,
                       uint32_t rank)
{
    for (uint32_t row = x->head[rank]; row != HF_NONE; row = x->next[row])
        if (c->member[row] == 1)
            return true;
    return false;
}

/* The least and the greatest value: from both ends of the column's index. */
static void find_ends(hf_replay_rows *rows, hf_rows_condition *c,
                      hf_rows_answer *a)
{
    hf_ranked *k = &rows->tables.at[c->table].columns.at[a->total.column];
    uint32_t nulls = k->n_ranks > 0 && k->at[0].type == HF_SQL_NULL;
    uint32_t r;

    if (a->total.n == 0)
        return;
    need_index(rows, c->table, a->total.column);
    for (r = hf_row_index_up(&k->index, nulls); r < k->n_ranks;
         r = hf_row_index_up(&k->index, r + 1))
        if (has_member(c, &k->index, r)) {
            a->least = r;
            break;
        }
    for (r = hf_row_index_down(&k->index, k->n_ranks - 1);
         r != HF_NONE && r >= nulls;
         r = r > 0 ? hf_row_index_down(&k->index, r - 1) : HF_NONE)
        if (has_member(c, &k->index, r)) {
            a->most = r;
            break;
        }
}

static hf_rows_answer ask_kept(hf_replay_rows *rows, hf_rows_condition *c,
                               uint32_t column)
{
    hf_rows_answer a = hf_rows_nothing(column);

    update(rows, c);
    a.n = c->n_members;
    a.unsaid = c->n_unsaid > 0;
    if (column == HF_NONE)
        return a;
    a.total = *total_of(rows, c, column);
    find_ends(rows, c, &a);
    return a;
}

/* ---- walks --------------------------------------------------------------- */

typedef struct walk {
    hf_replay_rows *rows;
    hf_rows_condition *c;
    hf_rows_table *t;
    hf_rows_answer *a; /* or: */
    hf_rows_visit visit;
    void *user;
    uint32_t cost;
    bool done;
} walk;

static void meet(walk *w, uint32_t row, bool sure)
{
    hf_value_id value = w->t->now[row];
    hf_sql_truth truth =
        sure ? HF_SQL_TRUE : hf_rows_test(w->rows, w->c, value);

    w->cost++;
    if (truth == HF_SQL_ERROR && w->a)
        w->a->unsaid = true;
    if (truth != HF_SQL_TRUE)
        return;
    if (w->a)
        hf_rows_add(w->rows, w->c->table, value, w->a);
    else
        w->done = !w->visit(w->user, w->t->keys[row]);
}

static void walk_ranges(walk *w)
{
    const hf_rows_condition *c = w->c;
    const hf_row_index *x = &w->t->columns.at[c->bound].index;

    for (uint32_t i = 0; i < c->n_ranges && !w->done; i++) {
        bool sure = c->exact && i < c->n_sure;
        uint32_t r = hf_row_index_up(x, c->ranges[i].first);

        for (; r < c->ranges[i].end && !w->done; r = hf_row_index_up(x, r + 1))
            for (uint32_t row = x->head[r]; row != HF_NONE && !w->done;
                 row = x->next[row])
                meet(w, row, sure);
    }
}

static void walk_all(walk *w)
{
    if (w->c->bound != HF_NONE) {
        need_index(w->rows, w->c->table, w->c->bound);
        walk_ranges(w);
        return;
    }
    for (uint32_t row = 0; row < w->t->n_keys && !w->done; row++)
        if (w->t->now[row] != HF_NONE)
            meet(w, row, false);
}

hf_rows_answer hf_rows_ask(hf_replay_rows *rows, hf_rows_condition *c,
                           uint32_t column)
{
    hf_rows_table *t = &rows->tables.at[c->table];
    hf_rows_answer a = hf_rows_nothing(column);
    walk w = {.rows = rows, .c = c, .t = t, .a = &a};

    if (!c->kept &&
        (c->bound == HF_NONE || (c->last_cost > WALK_FREELY &&
                                 c->last_cost / 2 > t->changes.n - c->seen)))
        keep(rows, c);
    if (c->kept)
        return ask_kept(rows, c, column);
    walk_all(&w);
    c->last_cost = w.cost;
    c->seen = t->changes.n;
    return a;
}

void hf_rows_each(hf_replay_rows *rows, hf_rows_condition *c,
                  hf_rows_visit visit, void *user)
{
    walk w = {.rows = rows,
              .c = c,
              .t = &rows->tables.at[c->table],
              .visit = visit,
              .user = user};

    walk_all(&w);
}

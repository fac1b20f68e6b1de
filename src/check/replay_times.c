/* replay_times.c: the rows of a condition over all states of the order.
 *
 * Each version that satisfies the condition adds a row when it is installed
 * and takes it away when the next one is.  In the order of states these events
 * tell the rows of every state, from any one of them by going forth or back.
 *
 * The versions are found through the ranks of the column that the condition
 * bounds: for each rank the versions with that value are listed once, so a
 * condition costs O(log ranks + versions in its ranges), not all versions;
 * one without bounds costs all versions of its table.  Equal conditions share
 * their events.  Sums and extremes after every event are one more pass.
 */
#include "check/replay.h"

#include <string.h>

#include "base/sort.h"

/* The versions of a table by the rank of one column. */
struct hf_replay_shelf {
    uint32_t table, column;
    uint32_t *first; /* per rank; n_ranks + 2 */
    uint32_t *key;   /* of the version */
    uint32_t *index; /* among those of the key */
    uint32_t n;
    bool open; /* there are versions that are not known */
};

/* ---- versions by rank ---------------------------------------------------- */

static uint32_t rank_of(const hf_replay *p, const hf_ranked *k,
                        hf_value_id value)
{
    if (value >= HF_REPLAY_OPEN || p->rows->local[value] == HF_NONE)
        return HF_NONE; /* nil */
    return k ? k->rank[p->rows->local[value]] : 0;
}

static void fill_shelf(hf_replay *p, struct hf_replay_shelf *s)
{
    const hf_rows_table *t = &p->rows->tables.at[s->table];
    const hf_ranked *k =
        s->column == HF_NONE ? NULL : &t->columns.at[s->column];
    uint32_t n_ranks = k ? k->n_ranks + 1 : 1;
    uint32_t *next;

    s->first = HF_NEW_ZEROED(uint32_t, (size_t)n_ranks + 2);
    for (int pass = 0; pass < 2; pass++) {
        next = s->first + (pass == 0);
        for (uint32_t i = 0; i < t->n_keys; i++) {
            const hf_replay_version *at;
            uint32_t n = hf_replay_versions_of(p, t->keys[i], &at);

            for (uint32_t j = 0; j < n; j++) {
                uint32_t rank = rank_of(p, k, at[j].value);

                s->open |= at[j].value == HF_REPLAY_OPEN;
                if (rank == HF_NONE)
                    continue;
                if (pass == 1) {
                    s->key[next[rank]] = t->keys[i];
                    s->index[next[rank]] = j;
                }
                next[rank]++;
            }
        }
        if (pass == 1)
            break;
        for (uint32_t r = 0; r < n_ranks; r++)
            s->first[r + 1] += s->first[r];
        s->n = s->first[n_ranks];
        s->key = HF_NEW_ARRAY(uint32_t, (size_t)s->n + 1);
        s->index = HF_NEW_ARRAY(uint32_t, (size_t)s->n + 1);
    }
    /* filling moved each rank to its end */
    memmove(s->first + 1, s->first, n_ranks * sizeof(*s->first));
    s->first[0] = 0;
}

static const struct hf_replay_shelf *shelf_of(hf_replay *p, uint32_t table,
                                              uint32_t column)
{
    struct hf_replay_shelf *s;

    for (size_t i = 0; i < p->n_shelves; i++)
        if (p->shelves[i].table == table && p->shelves[i].column == column)
            return &p->shelves[i];
    p->shelves =
        hf_realloc(p->shelves, (p->n_shelves + 1) * sizeof(*p->shelves));
    s = &p->shelves[p->n_shelves++];
    *s = (struct hf_replay_shelf){.table = table, .column = column};
    fill_shelf(p, s);
    return s;
}

/* ---- events -------------------------------------------------------------- */

typedef struct maker {
    hf_replay *p;
    const hf_rows_condition *c;
    hf_replay_times *t;
    HF_VEC(hf_sortable) events; /* 2 * state + added; 2 * place + removed */
    HF_VEC(hf_replay_event) made;
} maker;

static void add_version(maker *m, hf_key_id key, uint32_t index, bool sure)
{
    const hf_replay_version *at;
    uint32_t n = hf_replay_versions_of(m->p, key, &at);
    hf_sql_truth truth =
        sure ? HF_SQL_TRUE : hf_rows_test(m->p->rows, m->c, at[index].value);
    uint64_t i = m->made.n;

    m->t->unsaid |= truth == HF_SQL_ERROR;
    if (truth != HF_SQL_TRUE)
        return;
    hf_vec_push(&m->made,
                (hf_replay_event){.key = key, .value = at[index].value});
    /* at one state rows are first taken away, then added */
    hf_vec_push(&m->events,
                (hf_sortable){2 * (uint64_t)at[index].birth + 1, 2 * i});
    if (index + 1 < n)
        hf_vec_push(&m->events, (hf_sortable){2 * (uint64_t)at[index + 1].birth,
                                              2 * i + 1});
}

static void make_events(maker *m)
{
    const hf_rows_condition *c = m->c;
    const struct hf_replay_shelf *s = shelf_of(m->p, c->table, c->bound);

    m->t->open = s->open;
    if (c->bound == HF_NONE) {
        for (uint32_t i = 0; i < s->n; i++)
            add_version(m, s->key[i], s->index[i], false);
        return;
    }
    for (uint32_t i = 0; i < c->n_ranges; i++)
        for (uint32_t j = s->first[c->ranges[i].first];
             j < s->first[c->ranges[i].end]; j++)
            add_version(m, s->key[j], s->index[j], c->exact && i < c->n_sure);
}

static void sort_events(maker *m)
{
    hf_replay_times *t = m->t;
    uint32_t count = 0;

    hf_sort(m->events.at, m->events.n);
    t->n = (uint32_t)m->events.n;
    t->at = HF_NEW_ARRAY(hf_replay_event, (size_t)t->n + 1);
    t->count = HF_NEW_ARRAY(uint32_t, (size_t)t->n + 1);
    for (uint32_t i = 0; i < t->n; i++) {
        const hf_sortable *e = &m->events.at[i];

        t->at[i] = m->made.at[e->value / 2];
        t->at[i].q = (uint32_t)(e->key / 2);
        t->at[i].added = e->value % 2 == 0;
        count = t->at[i].added ? count + 1 : count - 1;
        t->count[i] = count;
    }
}

static hf_replay_times *slot_of(hf_replay *p, const hf_rows_condition *c)
{
    size_t i = (size_t)(c - p->rows->conditions.at);

    while (p->times.n <= i)
        hf_vec_push(&p->times, (hf_replay_times){0});
    return &p->times.at[i];
}

const hf_replay_times *hf_replay_times_of(hf_replay *p, hf_rows_condition *c)
{
    hf_replay_times *t = slot_of(p, c);
    maker m = {.p = p, .c = c, .t = t};

    if (t->made)
        return t;
    t->made = true;
    make_events(&m);
    sort_events(&m);
    hf_vec_release(&m.events);
    hf_vec_release(&m.made);
    return t;
}

uint32_t hf_replay_events_to(const hf_replay_times *t, uint32_t q)
{
    uint32_t low = 0, high = t->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->at[middle].q <= q)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- totals -------------------------------------------------------------- */

/* Extremes are found in an index whose rows are the versions of keys, one for
 * each key at a time. */
static void add_up(hf_replay *p, const hf_replay_times *t,
                   const hf_rows_condition *c, uint32_t column,
                   hf_rows_answer *after)
{
    const hf_rows_table *table = &p->rows->tables.at[c->table];
    const hf_ranked *k = &table->columns.at[column];
    uint32_t nulls = k->n_ranks > 0 && k->at[0].type == HF_SQL_NULL;
    hf_rows_answer a = hf_rows_nothing(column);
    hf_row_index x;

    hf_row_index_init(&x, k->n_ranks + 1, table->n_keys);
    for (uint32_t i = 0; i < t->n; i++) {
        const hf_replay_event *e = &t->at[i];
        uint32_t rank = k->rank[p->rows->local[e->value]];
        uint32_t row = p->rows->key_local[e->key];

        hf_rows_count(k, rank, e->added ? 1 : -1, &a.total);
        if (!e->added)
            hf_row_index_remove(&x, rank, row);
        else
            hf_row_index_add(&x, rank, row);
        a.n = t->count[i];
        a.least = hf_row_index_up(&x, nulls);
        if (a.least >= k->n_ranks)
            a.least = HF_NONE;
        a.most =
            k->n_ranks > 0 ? hf_row_index_down(&x, k->n_ranks - 1) : HF_NONE;
        if (a.most != HF_NONE && a.most < nulls)
            a.most = HF_NONE;
        after[i] = a;
    }
    hf_row_index_release(&x);
}

const hf_rows_answer *hf_replay_totals_of(hf_replay *p, hf_rows_condition *c,
                                          uint32_t column)
{
    const hf_replay_times *made = hf_replay_times_of(p, c);
    hf_replay_times *t = slot_of(p, c);
    hf_replay_totals total = {.column = column};

    for (size_t i = 0; i < t->totals.n; i++)
        if (t->totals.at[i].column == column)
            return t->totals.at[i].after;
    total.after = HF_NEW_ARRAY(hf_rows_answer, (size_t)made->n + 1);
    add_up(p, made, c, column, total.after);
    hf_vec_push(&t->totals, total);
    return total.after;
}

void hf_replay_times_free(hf_replay *p)
{
    for (size_t i = 0; i < p->times.n; i++) {
        hf_replay_times *t = &p->times.at[i];

        hf_free(t->at);
        hf_free(t->count);
        for (size_t j = 0; j < t->totals.n; j++)
            hf_free(t->totals.at[j].after);
        hf_vec_release(&t->totals);
    }
    hf_vec_release(&p->times);
    for (size_t i = 0; i < p->n_shelves; i++) {
        hf_free(p->shelves[i].first);
        hf_free(p->shelves[i].key);
        hf_free(p->shelves[i].index);
    }
    hf_free(p->shelves);
    p->shelves = NULL;
    p->n_shelves = 0;
}

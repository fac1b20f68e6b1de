/* columns.c: see columns.h.
 *
 * A space is made when conditions over its columns have left, with the best
 * single one, WORTH times as many versions as the table has: by then what it
 * costs is little more than what was spent without it.
 */
#include "verify/columns.h"

#include <stdlib.h>

#include "base/sort.h"

/* Of one session; conditions on more columns look at every row. */
#define MOST_COLUMNS 32
#define MOST_SPACES 8
/* More intervals of one column are not told apart. */
#define MOST_INTERVALS 16
/* A column that leaves no more is good enough. */
#define FEW 32
#define WORTH 8

/* Columns that conditions are ranges of together. */
typedef struct wish {
    uint32_t n_axes;
    const hf_column *axis[HF_MOST_AXES];
    uint64_t spent;   /* versions that single columns left */
    hf_column *space; /* NULL: not yet */
} wish;

struct hf_columns {
    uint32_t n_named;
    hf_column *first; /* by `next` */
    uint32_t n_wishes;
    wish wishes[MOST_SPACES];
};

/* ---- making one ---------------------------------------------------------- */

typedef struct cell {
    hf_str text;
    uint32_t version;
} cell;

typedef struct maker {
    hf_verifier *v;
    hf_column *c;
    hf_sortable *numbers;
    hf_wide *number; /* per version */
    bool fractions;
    cell *texts;
    uint32_t *rest;
    uint32_t n_rest;
} maker;

static int by_text(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    size_t n = x->text.len < y->text.len ? x->text.len : y->text.len;
    int order = n > 0 ? memcmp(x->text.ptr, y->text.ptr, n) : 0;

    if (order != 0)
        return order;
    if (x->text.len != y->text.len)
        return x->text.len < y->text.len ? -1 : 1;
    return (x->version > y->version) - (x->version < y->version);
}

/* What is behind the point; and the whole number below, in order. */
static uint64_t by_fraction(hf_wide number)
{
    hf_wide rest = number % HF_DECIMAL_ONE;

    return (uint64_t)(rest < 0 ? rest + HF_DECIMAL_ONE : rest);
}

static uint64_t by_whole(hf_wide number)
{
    hf_wide whole = (number - (hf_wide)by_fraction(number)) / HF_DECIMAL_ONE;

    return (uint64_t)(int64_t)whole ^ (UINT64_C(1) << 63);
}

static void add_number(maker *m, uint32_t version, hf_wide number)
{
    uint64_t fraction = by_fraction(number);

    m->number[version] = number;
    m->numbers[m->c->n_numbers++] = (hf_sortable){fraction, version};
    m->fractions |= fraction != 0;
}

/* Those of one whole number stay in the order of their fractions. */
static void sort_numbers(maker *m)
{
    if (m->fractions)
        hf_sort(m->numbers, m->c->n_numbers);
    for (uint32_t i = 0; i < m->c->n_numbers; i++)
        m->numbers[i].key = by_whole(m->number[m->numbers[i].value]);
    hf_sort(m->numbers, m->c->n_numbers);
}

static void add(maker *m, uint32_t version)
{
    hf_value_id value = hf_version_value(m->v, version);
    hf_scalar row, x;
    hf_wide number;

    if (hf_table_of(m->v->h, hf_version_key(m->v, version)) != m->c->table)
        return;
    if (value == HF_NONE) {
        if (!hf_is_initial_version(m->v, version))
            m->rest[m->n_rest++] = version;
        return;
    }
    row = hf_value_scalar(m->v->h, value);
    if (row.type == HF_NIL)
        return;
    if (m->c->name.len == 0 || row.type == HF_LIST ||
        !hf_condition_column(row, m->c->name, &x))
        m->rest[m->n_rest++] = version;
    else if (hf_condition_number(x, &number))
        add_number(m, version, number);
    else if (x.type == HF_TEXT)
        m->texts[m->c->n_texts++] = (cell){{x.text, x.length}, version};
    else if (x.type != HF_NIL)
        m->rest[m->n_rest++] = version;
}

static void add_all(maker *m)
{
    const hf_history *h = m->v->h;
    const hf_facts *f = &m->v->facts;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (uint32_t s = f->write_first[t];
             h->txn_outcome[t] != HF_ABORTED && s < f->write_first[t + 1]; s++)
            add(m, s);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        add(m, hf_n_slots(m->v) + k);
}

static void place(hf_column *c, uint32_t version)
{
    c->rank[version] = c->n;
    c->version[c->n++] = version;
}

static void fill(hf_verifier *v, maker *m)
{
    hf_column *c = m->c;

    sort_numbers(m);
    if (c->n_texts > 1)
        qsort(m->texts, c->n_texts, sizeof(*m->texts), by_text);
    c->version = hf_kept_zeros(v, (size_t)c->n_numbers + c->n_texts + m->n_rest,
                               sizeof(*c->version));
    c->number = hf_kept_zeros(v, c->n_numbers, sizeof(*c->number));
    c->text = hf_kept_zeros(v, c->n_texts, sizeof(*c->text));
    for (uint32_t i = 0; i < c->n_numbers; i++) {
        c->number[i] = m->number[m->numbers[i].value];
        place(c, (uint32_t)m->numbers[i].value);
    }
    for (uint32_t i = 0; i < c->n_texts; i++) {
        c->text[i] = m->texts[i].text;
        place(c, m->texts[i].version);
    }
    for (uint32_t i = 0; i < m->n_rest; i++)
        place(c, m->rest[i]);
}

static hf_column *make(hf_verifier *v, hf_string_id table, hf_str name)
{
    size_t n = (size_t)hf_n_slots(v) + v->h->n_keys;
    maker m = {.v = v};

    m.c = hf_kept_zeros(v, 1, sizeof(*m.c));
    m.c->table = table;
    m.c->name = name;
    m.c->rank = hf_kept_nones(v, n, sizeof(*m.c->rank));
    m.numbers = hf_alloc_zero(n + 1, sizeof(*m.numbers));
    m.number = hf_alloc_zero(n + 1, sizeof(*m.number));
    m.texts = hf_alloc_zero(n + 1, sizeof(*m.texts));
    m.rest = hf_alloc_zero(n + 1, sizeof(*m.rest));
    add_all(&m);
    fill(v, &m);
    hf_free(m.numbers);
    hf_free(m.number);
    hf_free(m.texts);
    hf_free(m.rest);
    return m.c;
}

/* ---- finding one --------------------------------------------------------- */

static hf_column *find(hf_verifier *v, hf_string_id table, hf_str name)
{
    struct hf_columns *all = v->tables.columns;
    hf_column *c;

    if (!all)
        all = v->tables.columns = hf_kept_zeros(v, 1, sizeof(*all));
    for (c = all->first; c; c = c->next)
        if (c->table == table && hf_str_eq(c->name, name))
            return c;
    if (name.len > 0 && all->n_named++ >= MOST_COLUMNS)
        return NULL;
    c = make(v, table, name);
    c->age = all->first ? all->first->age + 1 : 0;
    c->next = all->first;
    return all->first = c;
}

const hf_column *hf_column_named(hf_verifier *v, hf_string_id table,
                                 hf_str name)
{
    const hf_column *c = find(v, table, name);

    return c ? c : find(v, table, (hf_str){"", 0});
}

/* ---- searching ----------------------------------------------------------- */

/* The first number that is at least (or, if `after`, more than) this. */
static uint32_t number_from(const hf_column *c, hf_wide number, bool after)
{
    uint32_t low = 0, high = c->n_numbers;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (c->number[middle] < number ||
            (after && c->number[middle] == number))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t text_from(const hf_column *c, hf_str text, bool after)
{
    cell wanted = {text, after ? UINT32_MAX : 0};
    uint32_t low = 0, high = c->n_texts;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        cell here = {c->text[middle], after ? 0 : UINT32_MAX};

        /* equal ones are before the wanted if it is `after` them */
        if (by_text(&here, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return c->n_numbers + low;
}

static const hf_bound *bound_of(hf_verifier *v, const hf_column *c,
                                const hf_condition *condition)
{
    const hf_bounds *all = hf_predicate_bounds(v, condition);

    for (uint32_t i = 0; i < all->n; i++)
        if (hf_str_eq(all->at[i].column, c->name))
            return &all->at[i];
    return NULL;
}

static hf_interval place_range(const hf_column *c, const hf_bound *b,
                               const hf_range *r)
{
    hf_interval at;

    if (b->is_text)
        at = (hf_interval){text_from(c, r->from, r->from_open),
                           r->endless ? c->n_numbers + c->n_texts
                                      : text_from(c, r->to, !r->to_open)};
    else
        at = (hf_interval){number_from(c, r->low, false),
                           number_from(c, r->high, true)};
    if (at.to < at.from)
        at.to = at.from;
    return at;
}

static void add_part(hf_search *s, uint32_t from, uint32_t to)
{
    if (from < to)
        hf_vec_push(&s->list, ((hf_interval){from, to}));
}

/* The intervals of the ranges; what is too many for them is between two.  How
 * many of them are exact, if the bound is. */
static uint32_t place_ranges(const hf_column *c, const hf_bound *b,
                             hf_search *ret)
{
    bool exact = true;

    ret->list.n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        hf_interval at = place_range(c, b, &b->at[i]);
        hf_interval *last =
            ret->list.n > 0 ? &ret->list.at[ret->list.n - 1] : NULL;

        /* ends that were widened may overlap */
        if (last && at.from < last->to)
            at.from = last->to;
        if (ret->list.n < MOST_INTERVALS) {
            add_part(ret, at.from, at.to);
        } else if (at.from < at.to) {
            last->to = at.to;
            exact = false;
        }
    }
    return exact ? (uint32_t)ret->list.n : 0;
}

/* Ranks of which the bound does not speak. */
static uint32_t place_others(const hf_column *c, const hf_bound *b,
                             hf_interval ret[2])
{
    uint32_t n = 0;

    if (b->is_text && c->n_numbers > 0)
        ret[n++] = (hf_interval){0, c->n_numbers};
    ret[n].from = b->is_text ? c->n_numbers + c->n_texts : c->n_numbers;
    ret[n].to = c->n;
    return n + (ret[n].from < ret[n].to);
}

void hf_search_release(hf_search *s)
{
    hf_vec_release(&s->list);
}

uint64_t hf_search_size(const hf_search *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->list.n; i++)
        n += s->list.at[i].to - s->list.at[i].from;
    return n;
}

bool hf_search_has(const hf_search *s, uint32_t rank)
{
    uint32_t low = 0, high = s->n_exact;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->list.at[middle].to <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n_exact && s->list.at[low].from <= rank;
}

static void search_space(hf_verifier *v, const hf_column *space,
                         const hf_condition *condition, hf_search *ret)
{
    hf_side sides[HF_MOST_AXES] = {{{0}, {{0}}, 0}};

    for (uint32_t i = 0; i < space->n_axes; i++) {
        const hf_column *c = space->axis[i];
        const hf_bound *b = bound_of(v, c, condition);

        (void)place_ranges(c, b, &sides[i].inside);
        sides[i].n_aside = place_others(c, b, sides[i].aside);
    }
    hf_space_search(space, sides, ret);
    for (uint32_t i = 0; i < space->n_axes; i++)
        hf_search_release(&sides[i].inside);
}

void hf_column_search(hf_verifier *v, const hf_column *c,
                      const hf_condition *condition, hf_search *ret)
{
    const hf_bounds *all = hf_predicate_bounds(v, condition);
    const hf_bound *b;
    hf_interval others[2];
    uint32_t n;

    ret->list.n = 0;
    ret->n_exact = 0;
    if (c->n_axes > 0) {
        search_space(v, c, condition, ret);
        return;
    }
    b = bound_of(v, c, condition);
    if (!b) {
        add_part(ret, 0, c->n);
        if (c->name.len == 0 && hf_predicate_is_true(condition))
            ret->n_exact = (uint32_t)ret->list.n;
        return;
    }
    n = place_ranges(c, b, ret);
    if (all->exact && all->n == 1)
        ret->n_exact = n;
    n = place_others(c, b, others);
    for (uint32_t i = 0; i < n; i++)
        add_part(ret, others[i].from, others[i].to);
}

/* ---- choosing one -------------------------------------------------------- */

static uint64_t count_found(hf_verifier *v, const hf_column *c,
                            const hf_condition *condition)
{
    hf_search found = {0};
    uint64_t n;

    hf_column_search(v, c, condition, &found);
    n = hf_search_size(&found);
    hf_search_release(&found);
    return n;
}

/* Can a space say exactly where the condition holds? */
static bool is_box(const hf_bounds *b)
{
    if (!b->exact || b->n < 2 || b->n > HF_MOST_AXES)
        return false;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->at[i].n > MOST_INTERVALS)
            return false;
    return true;
}

/* In whatever order a condition names them. */
static int by_age(const void *a, const void *b)
{
    uint32_t x = (*(const hf_column *const *)a)->age;
    uint32_t y = (*(const hf_column *const *)b)->age;

    return (x > y) - (x < y);
}

static wish *wish_for(hf_verifier *v, hf_string_id table, const hf_bounds *b)
{
    struct hf_columns *all = v->tables.columns;
    wish made = {.n_axes = b->n};

    for (uint32_t i = 0; i < b->n; i++) {
        made.axis[i] = find(v, table, b->at[i].column);
        if (!made.axis[i])
            return NULL;
    }
    qsort(made.axis, made.n_axes, sizeof(made.axis[0]), by_age);
    for (uint32_t i = 0; i < all->n_wishes; i++)
        if (all->wishes[i].n_axes == made.n_axes &&
            memcmp(all->wishes[i].axis, made.axis, sizeof(made.axis)) == 0)
            return &all->wishes[i];
    if (all->n_wishes == MOST_SPACES)
        return NULL;
    all->wishes[all->n_wishes] = made;
    return &all->wishes[all->n_wishes++];
}

/* The space of the condition, or NULL: not worth it, or not yet.  `left`: what
 * the best column of it does. */
static const hf_column *space_for(hf_verifier *v, hf_string_id table,
                                  const hf_bounds *b, uint64_t left)
{
    wish *w;

    if (!is_box(b) || (left <= FEW && !v->eager))
        return NULL;
    w = wish_for(v, table, b);
    if (!w)
        return NULL;
    w->spent += left;
    if (!w->space && (w->spent > (uint64_t)WORTH * w->axis[0]->n || v->eager))
        w->space = hf_space_new(v, w->axis, w->n_axes);
    return w->space;
}

const hf_column *hf_column_for(hf_verifier *v, hf_string_id table,
                               const hf_condition *condition)
{
    const hf_bounds *bounds = hf_predicate_bounds(v, condition);
    const hf_column *best = NULL, *space;
    uint64_t fewest = 0;

    for (uint32_t i = 0; i < bounds->n; i++) {
        const hf_column *c = find(v, table, bounds->at[i].column);
        uint64_t n = c && bounds->n > 1 ? count_found(v, c, condition) : 0;

        if (c && (!best || n < fewest)) {
            best = c;
            fewest = n;
        }
    }
    space = best ? space_for(v, table, bounds, fewest) : NULL;
    if (space)
        return space;
    return best ? best : find(v, table, (hf_str){"", 0});
}

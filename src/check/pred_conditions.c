/* pred_conditions.c: which versions satisfy a condition.
 *
 * Each distinct condition is judged once, however many operations use it.  If
 * it bounds a column, only the versions whose column lies within the bounds
 * are candidates, and those are found in the column's index, for all the
 * conditions that bound the column together; if the bounds say all there is to
 * say, candidates are not even tested.  Other conditions are tested on every
 * version, column arrays in hand.
 *
 * A version changes the matches (is a flip) if it satisfies the condition and
 * the version before it does not, or the reverse.  Keys whose order is not
 * known have no flips.
 *
 * A condition that is ranges of one column and nothing else has no sets at all
 * where operations can do without (pred_spans.c), nor have many wide ones that
 * are ranges of several columns (pred_boxes.c).
 *
 * O(log V) for such a one, O(log V + candidates) for another with bounds, O(V)
 * for one without.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets ---------------------------------------------------------------- */

uint32_t hf_pred_below(const hf_pred_set *s, uint32_t ver)
{
    uint32_t low = 0, high = s->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->at[middle] < ver)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hf_pred_has(const hf_pred_set *s, uint32_t ver)
{
    uint32_t i = hf_pred_below(s, ver);

    return i < s->n && s->at[i] == ver;
}

typedef HF_VEC(uint32_t) versions;

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Sorts what was gathered; the set takes the memory. */
static hf_pred_set set_of(versions *v)
{
    hf_pred_set s;
    bool sorted = true;

    for (size_t i = 1; i < v->n && sorted; i++)
        sorted = v->at[i - 1] < v->at[i];
    if (!sorted)
        qsort(v->at, v->n, sizeof(uint32_t), ascending);
    s = (hf_pred_set){v->at, (uint32_t)v->n};
    *v = (versions){0};
    return s;
}

/* ---- judging ------------------------------------------------------------- */

typedef struct judge {
    hf_pred *p;
    hf_pred_condition *c;
    hf_pred_table *t;
    hf_sql_value *row;         /* room for the columns of one version */
    const hf_sql_bound *bound; /* the best one; NULL: all are tested */
    uint64_t n_candidates;     /* that it leaves */
    bool known;
    versions match, odd;
} judge;

static void note_why(judge *j, const char *why)
{
    if (!j->c->why)
        j->c->why = hf_arena_text(&j->p->arena, why, strlen(why));
}

/* Is the version at this place one that no condition holds for? */
static bool is_nil(const judge *j, uint32_t place)
{
    const hf_graph *g = j->p->g;
    hf_value_id v = hf_pred_value_of(g, j->t->ver[place]);

    if (v == HF_NONE)
        return g->ver_op[j->t->ver[place]] == HF_NONE;
    return g->h->value_type[v] == HF_NIL;
}

/* Of the condition and the columns in j->row.  Errors are rare: what one says
 * is asked for when it is the first. */
static void take_truth(judge *j, uint32_t place, hf_sql_truth truth)
{
    hf_error err;

    if (truth == HF_SQL_TRUE) {
        hf_vec_push(&j->match, j->t->ver[place]);
    } else if (truth == HF_SQL_ERROR) {
        if (!j->c->why) {
            err.text[0] = '\0';
            (void)hf_sql_test(j->c->expr, j->row, &err);
            note_why(j, err.text);
        }
        hf_vec_push(&j->odd, j->t->ver[place]);
    }
}

static void test(judge *j, uint32_t place)
{
    uint32_t n = hf_sql_n_columns(j->c->expr);

    for (uint32_t i = 0; i < n; i++) {
        const hf_pred_column *c = &j->t->columns.at[j->c->column[i]];

        if (c->missing[place]) {
            if (is_nil(j, place))
                return;
            note_why(j, "a row does not have the column");
            hf_vec_push(&j->odd, j->t->ver[place]);
            return;
        }
        j->row[i] = c->value[place];
    }
    take_truth(j, place, hf_sql_test(j->c->expr, j->row, NULL));
}

/* Every version.  A condition without columns says the same of all of them. */
static void test_all(judge *j)
{
    bool constant = hf_sql_n_columns(j->c->expr) == 0;
    hf_sql_truth truth = HF_SQL_UNKNOWN;

    if (constant)
        truth = hf_sql_test(j->c->expr, j->row, NULL);
    for (uint32_t place = 0; place < j->t->n; place++)
        if (!constant)
            test(j, place);
        else if (!is_nil(j, place))
            take_truth(j, place, truth);
}

/* How many candidates a bound leaves; UINT64_MAX: it is of no use. */
static uint64_t candidates(judge *j, const hf_sql_bound *b)
{
    uint32_t column = j->c->column[b->column];
    const hf_pred_column *c;
    unsigned class_ = hf_pred_bound_class(b);
    hf_pred_places of_class;
    uint64_t n;

    if (class_ == 0)
        return UINT64_MAX;
    hf_pred_sort_column(j->p, j->c->table, column);
    c = &j->t->columns.at[column];
    of_class = hf_pred_class_places(c, class_);
    n = c->n_sorted - (of_class.end - of_class.first); /* of other classes */
    for (uint32_t i = 0; i < b->n_ranges; i++) {
        hf_pred_places s = hf_pred_range_places(c, b, &b->ranges[i]);

        n += s.end - s.first;
    }
    return n;
}

/* The bound that leaves the fewest candidates; NULL: none helps. */
static const hf_sql_bound *best_bound(judge *j)
{
    const hf_sql_bound *bounds = NULL, *best = NULL;
    uint32_t n = hf_sql_bounds(j->c->expr, &bounds);
    uint64_t least = j->t->n;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t count = candidates(j, &bounds[i]);

        if (count < least || (count == least && !best)) {
            least = count;
            best = &bounds[i];
        }
    }
    j->n_candidates = least;
    return best;
}

bool hf_pred_is_odd(const hf_pred *p, const hf_pred_condition *c, hf_key_id key)
{
    const hf_graph *g = p->g;

    return c->odd.n > 0 && hf_pred_below(&c->odd, g->ver_end[key]) >
                               hf_pred_below(&c->odd, g->ver_first[key]);
}

void hf_pred_find_flips(hf_pred *p, hf_pred_condition *c)
{
    const hf_graph *g = p->g;
    uint32_t *flip = HF_NEW_ARRAY(uint32_t, 2 * (size_t)c->match.n + 1);
    uint8_t *on = HF_NEW_ARRAY(uint8_t, 2 * (size_t)c->match.n + 1);
    bool doubt = p->certain_only || c->odd.n > 0 || g->n_open_keys > 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->match.n; i++) {
        uint32_t v = c->match.at[i];
        hf_key_id key = p->ver_key[v];

        if (doubt &&
            (g->open_key[key] || (p->certain_only && p->uncertain[key]) ||
             hf_pred_is_odd(p, c, key)))
            continue;
        if (v > g->ver_first[key] && (i == 0 || c->match.at[i - 1] != v - 1)) {
            flip[n] = v;
            on[n++] = 1;
        }
        if (v + 1 < g->ver_end[key] &&
            (i + 1 == c->match.n || c->match.at[i + 1] != v + 1)) {
            flip[n] = v + 1;
            on[n++] = 0;
        }
    }
    c->flip = (hf_pred_set){flip, n};
    c->flip_on = on;
}

/* Parses the condition and finds its columns; false: not understood. */
static bool prepare(judge *j)
{
    hf_pred *p = j->p;
    hf_pred_condition *c = j->c;
    hf_error err = {.text = ""};
    uint32_t n;

    c->expr = hf_sql_condition(p->cache, hf_string(p->g->h, c->text), &err);
    if (!c->expr) {
        note_why(j, err.text);
        return false;
    }
    n = hf_sql_n_columns(c->expr);
    c->column = hf_arena_get(&p->arena, ((size_t)n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        c->column[i] =
            hf_pred_column_of(p, c->table, hf_sql_column_name(c->expr, i));
    return true;
}

static void finish(judge *j)
{
    j->c->match = set_of(&j->match);
    j->c->odd = set_of(&j->odd);
    hf_pred_find_flips(j->p, j->c);
    j->c->has_sets = true;
}

/* Asks the database about every version of the table: what the interpreter
 * does not know, or only of some. */
static void ask_database(judge *j)
{
    hf_pred *p = j->p;
    hf_value_id *values = HF_NEW_ARRAY(hf_value_id, (size_t)j->t->n + 1);
    uint32_t *places = HF_NEW_ARRAY(uint32_t, (size_t)j->t->n + 1), n = 0;
    hf_sql_truth *truth = HF_NEW_ARRAY(hf_sql_truth, (size_t)j->t->n + 1);
    hf_error err = {.text = ""};
    bool all = true;

    for (uint32_t i = 0; i < j->t->n; i++) {
        hf_value_id v = hf_pred_value_of(p->g, j->t->ver[i]);

        if (is_nil(j, i))
            continue;
        all &= v != HF_NONE;
        if (v != HF_NONE) {
            places[n] = i;
            values[n++] = v;
        }
    }
    if (all && hf_pred_ask(p, hf_string(p->g->h, j->c->text), values, n, truth,
                           &err)) {
        j->c->asked = true;
        j->match.n = j->odd.n = 0;
        for (uint32_t i = 0; i < n; i++)
            if (truth[i] == HF_SQL_TRUE)
                hf_vec_push(&j->match, j->t->ver[places[i]]);
    } else if (err.text[0]) {
        j->c->why = NULL;
        note_why(j, err.text);
    }
    hf_free(values);
    hf_free(places);
    hf_free(truth);
}

/* ---- many conditions at once --------------------------------------------- */

/* Conditions that bound one column.  Each value of the column has the list of
 * those that may hold for it; then versions are gone through in their order,
 * and each is put in the sets of its value's list, which come out sorted. */
typedef struct group {
    judge *all; /* per condition of the history */
    HF_VEC(uint32_t) members;
    uint32_t *first; /* per value: its list */
    uint32_t *list;  /* conditions, twice, plus 1 if no test is needed */
} group;

/* Calls for each value that a condition's bound leaves: counts, or fills. */
static void cover(group *u, const hf_pred_column *c, uint32_t condition,
                  bool fill)
{
    const hf_sql_bound *b = u->all[condition].bound;

    for (uint32_t i = 0; i < b->n_ranges; i++) {
        hf_pred_places s = hf_pred_range_places(c, b, &b->ranges[i]);
        uint32_t from, to;

        if (s.first == s.end)
            continue;
        from = c->number[c->sorted[s.first]];
        to = c->number[c->sorted[s.end - 1]];
        for (uint32_t v = from; v <= to; v++) {
            if (fill)
                u->list[u->first[v + 1]++] = 2 * condition + b->exact;
            else
                u->first[v + 2]++;
        }
    }
}

static void cover_all(group *u, const hf_pred_column *c)
{
    u->first = HF_NEW_ZEROED(uint32_t, (size_t)c->n_numbers + 3);
    for (size_t i = 0; i < u->members.n; i++)
        cover(u, c, u->members.at[i], false);
    for (uint32_t v = 0; v < c->n_numbers; v++)
        u->first[v + 2] += u->first[v + 1];
    u->list = HF_NEW_ARRAY(uint32_t, (size_t)u->first[c->n_numbers + 1] + 1);
    for (size_t i = 0; i < u->members.n; i++)
        cover(u, c, u->members.at[i], true);
}

/* A version that has not the column, or a value of another kind than the
 * bound (null satisfies none). */
static void test_odd_one(group *u, const hf_pred_column *c, uint32_t place)
{
    bool missing = c->missing[place] != 0;

    for (size_t i = 0; i < u->members.n; i++) {
        judge *j = &u->all[u->members.at[i]];

        if (missing ||
            (hf_pred_class(&c->value[place]) != 0 &&
             hf_pred_class(&c->value[place]) != hf_pred_bound_class(j->bound)))
            test(j, place);
    }
}

/* Are there versions for test_odd_one()? */
static bool is_mixed(const group *u, const hf_pred_column *c)
{
    for (size_t i = 0; i < u->members.n; i++)
        if (!hf_pred_is_uniform(c, u->all[u->members.at[i]].bound))
            return true;
    return false;
}

static void distribute(hf_pred *p, group *u, uint32_t table, uint32_t column)
{
    const hf_pred_table *t = &p->tables.at[table];
    const hf_pred_column *c = &t->columns.at[column];
    bool mixed = is_mixed(u, c);

    hf_pred_number_column(p, table, column);
    cover_all(u, c);
    for (size_t i = 0; i < u->members.n; i++) {
        judge *j = &u->all[u->members.at[i]];

        if (j->bound->exact)
            hf_vec_reserve(&j->match, j->n_candidates);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t v = c->number[i];

        if (v != HF_NONE)
            for (uint32_t k = u->first[v]; k < u->first[v + 1]; k++) {
                judge *j = &u->all[u->list[k] / 2];

                if (u->list[k] & 1u)
                    hf_vec_push(&j->match, t->ver[i]);
                else
                    test(j, i);
            }
        if (mixed || c->missing[i] == HF_PRED_MISSING)
            test_odd_one(u, c, i);
    }
    hf_free(u->first);
    hf_free(u->list);
}

/* ---- all ----------------------------------------------------------------- */

uint32_t hf_pred_condition_of(hf_pred *p, hf_string_id table, hf_string_id text)
{
    uint32_t n = (uint32_t)p->conditions.n, at;
    uint32_t t = hf_map_get(&p->by_name, table);

    at = hf_map_add(&p->by_text, (uint64_t)t << 32 | text, n);
    if (at == n)
        hf_vec_push(&p->conditions,
                    (hf_pred_condition){.text = text, .table = t});
    return at;
}

/* Groups the conditions by the column that their best bound is about, and
 * judges group by group. */
static void judge_groups(hf_pred *p, judge *all)
{
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, p->conditions.n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->conditions.n; i++) {
        const hf_pred_condition *c = &p->conditions.at[i];

        if (all[i].bound && !c->is_spans)
            s[n++] = (hf_sortable){
                (uint64_t)c->table << 32 | c->column[all[i].bound->column], i};
    }
    hf_sort(s, n);
    for (uint32_t i = 0; i < n && !hf_graph_spent(p->g);) {
        uint64_t key = s[i].key;
        group u = {.all = all};

        for (; i < n && s[i].key == key; i++)
            hf_vec_push(&u.members, (uint32_t)s[i].value);
        distribute(p, &u, (uint32_t)(key >> 32), (uint32_t)key);
        hf_vec_release(&u.members);
    }
    hf_free(s);
}

void hf_pred_judge_conditions(hf_pred *p)
{
    uint32_t n = (uint32_t)p->conditions.n, most = 1;
    judge *all = HF_NEW_ZEROED(judge, (size_t)n + 1);
    uint64_t *left = HF_NEW_ZEROED(uint64_t, (size_t)n + 1);
    hf_sql_value *row;

    for (uint32_t i = 0; i < n; i++) {
        judge *j = &all[i];

        *j = (judge){.p = p, .c = &p->conditions.at[i]};
        j->t = &p->tables.at[j->c->table];
        j->known = !hf_graph_spent(p->g) && prepare(j);
        if (!j->known)
            continue;
        if (hf_sql_n_columns(j->c->expr) > most)
            most = hf_sql_n_columns(j->c->expr);
        if (!hf_pred_make_spans(p, j->c)) {
            j->bound = best_bound(j);
            left[i] = j->n_candidates;
        }
        hf_budget_progress(p->g->budget, "conditions", i, n);
    }
    if (!p->g->stopped)
        hf_pred_choose_boxes(p, left);
    row = HF_NEW_ARRAY(hf_sql_value, most);
    for (uint32_t i = 0; i < n; i++)
        all[i].row = row;
    if (!p->g->stopped)
        judge_groups(p, all);
    for (uint32_t i = 0; i < n; i++) {
        judge *j = &all[i];

        if (j->known && !j->bound && !j->c->is_spans && !hf_graph_spent(p->g))
            test_all(j);
        if ((!j->known || j->odd.n > 0) && p->g->options.oracle)
            ask_database(j);
        j->c->judged = j->known || j->c->asked;
        if (!j->c->is_spans)
            finish(j);
    }
    hf_free(row);
    hf_free(left);
    hf_free(all);
}

hf_sql_truth hf_pred_test_value(hf_pred *p, uint32_t condition, hf_value_id v)
{
    const hf_pred_condition *c = &p->conditions.at[condition];
    hf_scalar s = hf_value_scalar(p->g->h, v);
    hf_sql_value row[16], *columns = row;
    hf_sql_truth truth = HF_SQL_ERROR;
    uint32_t n, i;

    if (s.type == HF_NIL)
        return HF_SQL_FALSE;
    if (c->asked)
        return hf_pred_ask(p, hf_string(p->g->h, c->text), &v, 1, &truth, NULL)
                   ? truth
                   : HF_SQL_ERROR;
    if (!c->expr)
        return HF_SQL_ERROR;
    n = hf_sql_n_columns(c->expr);
    if (n > 16)
        columns = HF_NEW_ARRAY(hf_sql_value, n);
    for (i = 0; i < n; i++)
        if (!hf_sql_row_column(s, hf_sql_column_name(c->expr, i), &p->arena,
                               &columns[i]))
            break;
    if (i == n)
        truth = hf_sql_test(c->expr, columns, NULL);
    if (columns != row)
        hf_free(columns);
    return truth;
}

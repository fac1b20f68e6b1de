/* pred_totals.c: min, max, sum, avg and count.
 *
 * For a version set that is listed the entries are added up.  For snapshots
 * by time, the aggregates of one condition and column are gone through in the
 * order of their snapshots while the changes of the condition's matches
 * are, so that each change is looked at once: counts and sums are kept, and
 * which of the column's numbered values are there, in sets (base/bits.h) that
 * know their least and their greatest member.  Conditions that share chains
 * are in pred_sums.c and pred_part_sums.c.
 *
 * O(changes + operations) for each condition and column, in whose order the
 * operations are sorted before; a column is sorted once.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/ratio.h"
#include "sql/cache.h"

/* ---- one total ----------------------------------------------------------- */

static bool is_number(const hf_sql_value *v)
{
    return v->type == HF_SQL_INT || v->type == HF_SQL_DECIMAL ||
           v->type == HF_SQL_REAL;
}

static bool is_ordered(const hf_sql_value *v)
{
    return is_number(v) || v->type == HF_SQL_DATE ||
           v->type == HF_SQL_TIMESTAMP;
}

/* So many can be added up in units of HF_DECIMAL_ONE without overflow. */
#define MOST_UNITS (HF_DECIMAL_ONE * 1000000000)

/* A decimal in these units; false if it is too fine or too large. */
static bool units_of(const hf_sql_value *v, hf_wide *ret)
{
    hf_wide units = v->decimal;

    if (v->type != HF_SQL_DECIMAL || v->scale > HF_DECIMAL_SCALE)
        return false;
    for (unsigned i = v->scale; i < HF_DECIMAL_SCALE; i++) {
        if (units > MOST_UNITS || units < -MOST_UNITS)
            return false;
        units *= 10;
    }
    *ret = units;
    return units <= MOST_UNITS && units >= -MOST_UNITS;
}

/* One that is no integer. */
static void note_other(hf_pred_total *t, const hf_sql_value *v, int sign)
{
    hf_wide units;

    t->texts += v->type == HF_SQL_TEXT ? sign : 0;
    if (!units_of(v, &units))
        return;
    t->decimals += sign;
    t->parts += sign * units;
}

static void note_value(hf_pred_total *t, const hf_sql_value *v, int sign)
{
    t->rows += sign;
    if (v->type == HF_SQL_INT)
        t->sum += sign * (hf_int128)v->integer;
    else
        note_other(t, v, sign);
}

static bool is_addable(const hf_sql_value *v)
{
    hf_wide units;

    return v->type == HF_SQL_INT || units_of(v, &units);
}

void hf_pred_add(hf_pred_total *t, const hf_sql_value *v, bool missing)
{
    t->matches++;
    if (missing) {
        t->missing = true;
        return;
    }
    if (v->type == HF_SQL_NULL)
        return;
    note_value(t, v, 1);
    t->no_sum |= !is_addable(v);
    t->no_order |= !is_ordered(v);
    if (t->has_extremes &&
        (is_number(v) != is_number(&t->min) || v->type == HF_SQL_REAL))
        t->no_order = true;
    if (!t->has_extremes || hf_pred_order(v, &t->min) < 0)
        t->min = *v;
    if (!t->has_extremes || hf_pred_order(v, &t->max) > 0)
        t->max = *v;
    t->has_extremes = true;
}

void hf_pred_join(hf_pred_total *t, const hf_pred_total *more)
{
    t->matches += more->matches;
    t->rows += more->rows;
    t->sum += more->sum;
    t->missing |= more->missing;
    t->decimals += more->decimals;
    t->texts += more->texts;
    t->parts += more->parts;
    t->no_sum |= more->no_sum;
    t->no_order |= more->no_order;
    if (!more->has_extremes)
        return;
    if (!t->has_extremes || hf_pred_order(&more->min, &t->min) < 0)
        t->min = more->min;
    if (!t->has_extremes || hf_pred_order(&more->max, &t->max) > 0)
        t->max = more->max;
    t->has_extremes = true;
}

void hf_pred_count_value(hf_pred_total *t, uint32_t odd[3],
                         const hf_sql_value *v, bool missing, int sign)
{
    t->matches += sign;
    if (missing) {
        odd[0] += (uint32_t)sign;
        return;
    }
    if (v->type == HF_SQL_NULL)
        return;
    note_value(t, v, sign);
    odd[1] += (uint32_t)(!is_addable(v) ? sign : 0);
    odd[2] += (uint32_t)(!is_number(v) || v->type == HF_SQL_REAL ? sign : 0);
}

void hf_pred_note_odd(hf_pred_total *t, const uint32_t odd[3])
{
    t->missing = odd[0] > 0;
    t->no_sum = odd[1] > 0;
    t->no_order = odd[2] > 0;
}

/* ---- judging ------------------------------------------------------------- */

/* All in units of HF_DECIMAL_ONE. */
static hf_wide sum_of(const hf_pred_total *t)
{
    return t->sum * HF_DECIMAL_ONE + t->parts;
}

static hf_wide size_of(const hf_sql_value *v)
{
    hf_wide units = 0;

    if (v->type == HF_SQL_INT)
        units = v->integer * HF_DECIMAL_ONE;
    else
        (void)units_of(v, &units);
    return units < 0 ? -units : units;
}

static hf_wide largest(const hf_pred_total *t)
{
    hf_wide low = size_of(&t->min), high = size_of(&t->max);

    return low > high ? low : high;
}

/* A sum or an average of one number or more against the result. */
static hf_ratio_fit sum_fits(const hf_pred_total *t, hf_op_kind kind,
                             hf_scalar given)
{
    uint64_t n = (uint64_t)t->rows;
    hf_sql_value v = hf_sql_of_int((int64_t)t->sum);

    if (t->decimals > 0)
        return kind == HF_OP_AVG
                   ? hf_average_fits(sum_of(t), largest(t), n, given)
                   : hf_sum_fits(sum_of(t), largest(t), n, given);
    if (kind == HF_OP_AVG)
        return hf_ratio_fits(t->sum, n, 0, given);
    return hf_sql_scalar_equal(given, &v) ? HF_RATIO_YES : HF_RATIO_NO;
}

static bool overflows(const hf_pred_total *t)
{
    if (t->sum > INT64_MAX || t->sum < INT64_MIN)
        return true;
    return t->decimals > 0 && (sum_of(t) > INT64_MAX * HF_DECIMAL_ONE ||
                               sum_of(t) < INT64_MIN * HF_DECIMAL_ONE);
}

/* Texts are ordered by a dialect, and numbers by themselves. */
static const char *why_no_end(const hf_pred *p, const hf_pred_total *t,
                              const hf_predicate *q)
{
    bool texts = t->texts > 0 && t->texts == t->rows;

    if (texts && hf_sql_cache_dialect(p->cache) == HF_SQL_ANY)
        return "the order of texts is that of a database: --dialect says which";
    if (!texts && t->no_order)
        return "the values have no order that all databases agree upon";
    if (q->result.type == HF_NIL || t->rows == 0)
        return NULL;
    return texts != (q->result.type == HF_TEXT)
               ? "the recorded result is of another type than the values"
               : NULL;
}

static const char *why_unclear(const hf_pred *p, const hf_pred_total *t,
                               hf_op_kind kind, const hf_predicate *q)
{
    if (t->missing && !(kind == HF_OP_COUNT_ROWS && q->n_columns == 0))
        return "a row does not have the column";
    if (kind == HF_OP_MIN || kind == HF_OP_MAX)
        return why_no_end(p, t, q);
    if (kind == HF_OP_COUNT_ROWS)
        return NULL;
    if (t->no_sum)
        return "not all values are numbers that can be added up exactly";
    if (overflows(t))
        return "the numbers overflow";
    if (t->rows > 0 && sum_fits(t, kind, q->result) == HF_RATIO_PERHAPS)
        return t->decimals > 0 ? "decimals may have been rounded"
                               : "the result may have been rounded";
    return NULL;
}

/* Nothing to add up: nil; a sum may be given as 0. */
static bool is_nothing(hf_op_kind kind, hf_scalar result)
{
    return result.type == HF_NIL ||
           (kind == HF_OP_SUM && result.type == HF_INT && result.number == 0);
}

void hf_pred_judge_total(hf_pred *p, const hf_pred_op *o, const hf_predicate *q,
                         const hf_pred_total *t)
{
    hf_op_kind kind = hf_op_kind_of(p->g->h, o->op);
    const char *why = why_unclear(p, t, kind, q);
    hf_sql_value v;
    bool right;

    if (why) {
        hf_pred_unclear(p, o, true, why);
        return;
    }
    if (kind == HF_OP_COUNT_ROWS)
        v = hf_sql_of_int(q->n_columns > 0 ? t->rows : t->matches);
    else
        v = kind == HF_OP_MIN ? t->min : t->max;
    if (kind != HF_OP_COUNT_ROWS && t->rows == 0)
        right = is_nothing(kind, q->result);
    else if (kind == HF_OP_SUM || kind == HF_OP_AVG)
        right = sum_fits(t, kind, q->result) == HF_RATIO_YES;
    else
        right = hf_sql_scalar_equal(q->result, &v);
    if (!right)
        hf_pred_mismatch(p, o);
}

uint32_t hf_pred_total_column(hf_pred *p, const hf_pred_op *o,
                              const hf_predicate *q)
{
    hf_str name =
        q->n_columns > 0 ? hf_string(p->g->h, q->columns[0]) : HF_STR("value");

    return hf_pred_column_of(p, p->conditions.at[o->condition].table, name);
}

/* ---- many, over time ----------------------------------------------------- */

typedef struct question {
    uint64_t group; /* condition and column */
    uint64_t time;
    uint32_t op;
} question;

typedef struct sweep {
    hf_pred *p;
    const hf_pred_condition *c;
    const hf_pred_table *t;
    const hf_pred_column *column;
    uint32_t *now; /* per key: the version that satisfies it now, or none */
    /* per numbered value of the column: how often it is there; of those that
     * are there the numbers.  All gone between two groups. */
    uint32_t *times;
    hf_bits there;
    uint32_t room; /* numbers */
    HF_VEC(uint32_t) aside;
    hf_pred_keys keys;
    hf_pred_total total;
    uint32_t odd[3]; /* matches now without column, sum, order */
} sweep;

/* The version at this place satisfies the condition from now on, or no
 * more. */
static void change(sweep *s, uint32_t place, int sign)
{
    const hf_sql_value *v = &s->column->value[place];
    bool missing = s->column->missing[place];

    uint32_t number = s->column->number[place];

    hf_pred_count_value(&s->total, s->odd, v, missing, sign);
    if (missing || v->type == HF_SQL_NULL)
        return;
    s->times[number] += (uint32_t)sign;
    if (sign < 0 && s->times[number] == 0)
        hf_bits_remove(&s->there, number);
    else if (sign > 0 && s->times[number] == 1)
        hf_bits_add(&s->there, number);
}

static void set_now(sweep *s, hf_key_id key, uint32_t ver, bool matches)
{
    if (s->now[key] != HF_NONE)
        change(s, s->p->ver_place[s->now[key]], -1);
    s->now[key] = matches ? ver : HF_NONE;
    if (matches)
        change(s, s->p->ver_place[ver], 1);
}

/* The initial versions that satisfy it come, or (with `clear`) what of their
 * keys is there goes. */
static void take_initial(sweep *s, uint32_t ver, bool clear)
{
    const hf_graph *g = s->p->g;
    hf_key_id key = s->p->ver_key[ver];

    if (clear)
        set_now(s, key, HF_NONE, false);
    else if (ver == g->ver_first[key])
        set_now(s, key, ver, true);
}

static void each_initial(sweep *s, bool clear)
{
    const hf_pred_condition *c = s->c;
    const hf_pred_column *column;

    for (uint32_t i = 0; !c->is_spans && i < c->match.n; i++)
        take_initial(s, c->match.at[i], clear);
    for (uint32_t i = 0; c->is_spans && i < c->axes->n_spans; i++) {
        column = &s->t->columns.at[c->axes->column];
        for (uint32_t k = column->number_first[c->axes->spans[i].low];
             k < column->number_first[c->axes->spans[i].end]; k++)
            take_initial(s, s->t->ver[column->sorted[k]], clear);
    }
}

static void begin(sweep *s)
{
    if (s->room < s->column->n_numbers) {
        s->room = s->column->n_numbers;
        hf_free(s->times);
        s->times = HF_NEW_ZEROED(uint32_t, s->room);
        hf_bits_release(&s->there);
        hf_bits_init(&s->there, s->room);
    }
    s->total = (hf_pred_total){0};
    memset(s->odd, 0, sizeof(s->odd));
    each_initial(s, false);
}

static void find_extremes(const sweep *s, hf_pred_total *t)
{
    const hf_pred_column *c = s->column;
    uint32_t least = hf_bits_up(&s->there, 0), most;

    t->has_extremes = least != HF_NONE;
    if (!t->has_extremes)
        return;
    most = hf_bits_down(&s->there, c->n_numbers);
    t->min = c->value[c->sorted[c->number_first[least]]];
    t->max = c->value[c->sorted[c->number_first[most]]];
}

void hf_pred_own_total(hf_pred *p, const hf_pred_op *o, hf_str column,
                       hf_pred_keys *ret_keys, hf_pred_total *ret)
{
    const hf_history *h = p->g->h;
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    ret_keys->n = 0;
    *ret = (hf_pred_total){0};
    for (hf_op_id w = o->fresh ? h->op_first[o->txn] : o->op;
         w-- > h->op_first[o->txn];) {
        hf_key_id key = h->op_key[w];
        hf_pred_entry e = {.key = key, .ver = HF_NONE, .own = true};
        hf_sql_value v = {0};
        hf_sql_truth truth;
        hf_op_id last;

        if (!hf_graph_writes(h, w) || p->table_of_key[key] != c->table)
            continue;
        (void)hf_pred_own_write(h, o->txn, o->op, key, &last);
        if (last != w)
            continue;
        hf_vec_push(ret_keys, key);
        e.value = hf_graph_written(h, w);
        e.ver = hf_pred_installed(p->g, w);
        truth = hf_pred_matches(p, o, &e);
        if (truth == HF_SQL_ERROR)
            hf_pred_unclear(p, o, true, c->why);
        if (truth == HF_SQL_TRUE) {
            bool missing = !hf_sql_row_column(hf_value_scalar(h, e.value),
                                              column, &p->arena, &v);

            hf_pred_add(ret, &v, missing);
        }
    }
}

/* Own writes before the operation: takes them for what is there, asks, and
 * puts back what was. */
static void ask(sweep *s, const hf_pred_op *o)
{
    hf_pred *p = s->p;
    hf_pred_total t, own;

    hf_pred_own_total(p, o, s->column->name, &s->keys, &own);
    s->aside.n = 0;
    for (size_t i = 0; i < s->keys.n; i++) {
        hf_key_id key = s->keys.at[i];

        if (s->now[key] != HF_NONE) {
            hf_vec_push(&s->aside, s->now[key]);
            set_now(s, key, HF_NONE, false);
        }
    }
    t = s->total;
    hf_pred_note_odd(&t, s->odd);
    find_extremes(s, &t);
    hf_pred_join(&t, &own);
    hf_pred_judge_total(p, o, &o->q, &t);
    for (size_t i = 0; i < s->aside.n; i++)
        set_now(s, p->ver_key[s->aside.at[i]], s->aside.at[i], true);
}

static void sweep_group(sweep *s, const question *q, size_t n)
{
    hf_pred *p = s->p;
    const hf_pred_op *first = &p->ops.at[q[0].op];
    hf_predicate r = first->q;
    hf_pred_chain chain = {0};
    uint32_t column = hf_pred_total_column(p, first, &r), done = 0;

    s->c = &p->conditions.at[first->condition];
    s->t = &p->tables.at[s->c->table];
    hf_pred_sort_column(p, s->c->table, column);
    hf_pred_number_column(p, s->c->table, column);
    s->column = &s->t->columns.at[column];
    if (s->c->n_covers[1] > 0)
        chain = p->chain.at[p->covers.at[s->c->cover_first[1]]];
    begin(s);
    for (size_t i = 0; i < n && !hf_graph_spent(p->g); i++) {
        uint32_t until =
            hf_pred_events_before(p, &chain, p->ops.at[q[i].op].ticks);

        for (; done < until; done++) {
            uint32_t ver = hf_pred_event_ver(p, chain.first + done);

            set_now(s, p->ver_key[ver], ver,
                    p->event[chain.first + done].matches);
        }
        ask(s, &p->ops.at[q[i].op]);
    }
    while (done > 0)
        set_now(s, p->ver_key[hf_pred_event_ver(p, chain.first + --done)],
                HF_NONE, false);
    each_initial(s, true);
}

static int by_group_and_time(const void *a, const void *b)
{
    const question *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* Several chains: see pred_sums.c and pred_part_sums.c. */
static bool is_shared(const hf_pred *p, const hf_pred_op *o)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    return c->shares || c->n_covers[1] > 1;
}

void hf_pred_timed_totals(hf_pred *p)
{
    HF_VEC(question) all = {0};
    sweep s = {.p = p};
    size_t from = 0;

    for (uint32_t i = 0; i < p->ops.n; i++) {
        const hf_pred_op *o = &p->ops.at[i];
        hf_predicate q;

        if (!o->timed || !o->aggregate || is_shared(p, o))
            continue;
        q = o->q;
        if (q.has_result_set)
            hf_vec_push(&all, (question){(uint64_t)o->condition << 32 |
                                             hf_pred_total_column(p, o, &q),
                                         o->time, i});
    }
    if (all.n > 1)
        qsort(all.at, all.n, sizeof(question), by_group_and_time);
    s.now = HF_NEW_ARRAY(uint32_t, (size_t)p->g->h->n_keys + 1);
    memset(s.now, 0xff, ((size_t)p->g->h->n_keys + 1) * sizeof(*s.now));
    for (size_t i = 0; i < all.n; i++)
        if (i + 1 == all.n || all.at[i + 1].group != all.at[i].group) {
            sweep_group(&s, all.at + from, i + 1 - from);
            from = i + 1;
        }
    hf_vec_release(&all);
    hf_free(s.times);
    hf_bits_release(&s.there);
    hf_vec_release(&s.aside);
    hf_vec_release(&s.keys);
    hf_pred_shared_totals(p);
    hf_pred_part_totals(p);
    hf_free(s.now);
}

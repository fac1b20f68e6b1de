/* match.c: does a version satisfy a condition?
 *
 * Our own small language (condition.h) answers first: it shares nothing with
 * the engines.  What it cannot say (decimals, LIKE, functions, the order of
 * texts in a dialect that has one) is asked of sql/, which parses each text
 * once in a session.  So are the bounds of what it cannot say: they are exact
 * where sql/ says so and no end is lost here.
 *
 * Operations with one condition ask about the same versions again and again:
 * what was answered last is kept in a table of fixed size, by condition and
 * value; one answer displaces another.
 */
#include "verify/condition_steps.h"
#include "verify/predicate.h"

struct hf_condition_memo {
    bool is_asked;
    bool is_bound_asked;
    hf_bounds bounds;
    uint32_t number;         /* of the condition, from 1 */
    const hf_sql_expr *expr; /* NULL: not understood there either */
    uint32_t n_columns;
    hf_sql_value *columns; /* scratch */
};

static const struct hf_condition_memo *ask(hf_verifier *v,
                                           const hf_condition *c)
{
    struct hf_condition_memo *memo = c->memo;

    if (memo->is_asked)
        return memo;
    memo->is_asked = true;
    if (!v->sql)
        v->sql = hf_sql_cache_new(v->dialect);
    memo->expr = hf_sql_condition(v->sql, c->text, NULL);
    if (memo->expr) {
        memo->n_columns = hf_sql_n_columns(memo->expr);
        memo->columns = hf_kept_zeros(v, memo->n_columns, sizeof(hf_sql_value));
    }
    return memo;
}

static bool is_outside(const hf_sql_bound *b, const hf_sql_value *value)
{
    bool number = value->type == HF_SQL_INT || value->type == HF_SQL_DECIMAL ||
                  value->type == HF_SQL_REAL;

    if (value->type == HF_SQL_NULL)
        return true;
    if ((number ? HF_SQL_INT : value->type) != b->class_of)
        return false;
    for (uint32_t i = 0; i < b->n_ranges; i++) {
        const hf_sql_range *r = &b->ranges[i];
        int low = r->has_low ? hf_sql_order(value, &r->low) : 1;
        int high = r->has_high ? hf_sql_order(value, &r->high) : -1;

        if ((low > 0 || (low == 0 && !r->low_open)) &&
            (high < 0 || (high == 0 && !r->high_open)))
            return false;
    }
    return true;
}

/* A row that lacks a column of the condition: whatever it held, the condition
 * is not true if a column that is there is outside of its bounds. */
static hf_match match_incomplete(hf_verifier *v, const hf_sql_expr *e,
                                 hf_scalar row)
{
    const hf_sql_bound *bounds = NULL;
    uint32_t n = hf_sql_bounds(e, &bounds);
    hf_sql_value value;

    for (uint32_t i = 0; i < n; i++)
        if (hf_sql_row_column(row, hf_sql_column_name(e, bounds[i].column),
                              &v->claim.arena, &value) &&
            is_outside(&bounds[i], &value))
            return HF_MATCH_NO;
    return HF_MATCH_UNKNOWN;
}

static hf_match match_sql(hf_verifier *v, const hf_condition *c, hf_scalar row)
{
    const struct hf_condition_memo *memo = ask(v, c);
    hf_sql_truth truth;

    if (!memo->expr || row.type == HF_LIST)
        return HF_MATCH_UNKNOWN;
    for (uint32_t i = 0; i < memo->n_columns; i++)
        if (!hf_sql_row_column(row, hf_sql_column_name(memo->expr, i),
                               &v->claim.arena, &memo->columns[i]))
            return match_incomplete(v, memo->expr, row);
    truth = hf_sql_test(memo->expr, memo->columns, NULL);
    if (truth == HF_SQL_ERROR)
        return HF_MATCH_UNKNOWN;
    return truth == HF_SQL_TRUE ? HF_MATCH_YES : HF_MATCH_NO;
}

const hf_condition *hf_match_compile(hf_verifier *v, hf_str text)
{
    hf_condition *c = hf_condition_compile(&v->kept.arena, text);

    c->memo = hf_kept_zeros(v, 1, sizeof(*c->memo));
    c->memo->number = ++v->tables.n_conditions;
    return c;
}

/* ---- answers ------------------------------------------------------------- */

/* Two bits of the answer and the number of the condition above them: more
 * conditions are not remembered. */
#define MOST_NUMBERED (1u << 30)
#define MOST_ANSWERS (1u << 18)
#define LEAST_ANSWERS (1u << 8)

struct hf_answer {
    hf_value_id value;
    uint32_t is; /* 0: none */
};

/* Its place in the table; NULL: it is not remembered. */
static struct hf_answer *place_of(hf_verifier *v, const hf_condition *c,
                                  hf_value_id value)
{
    hf_tables *t = &v->tables;
    uint64_t hash;

    if (c->memo->number >= MOST_NUMBERED)
        return NULL;
    if (!t->answers) {
        t->n_answers = LEAST_ANSWERS;
        while (t->n_answers < MOST_ANSWERS && t->n_answers / 4 < v->h->n_values)
            t->n_answers *= 2;
        t->answers = hf_kept_zeros(v, t->n_answers, sizeof(*t->answers));
    }
    hash = ((uint64_t)c->memo->number << 32 | value) *
           UINT64_C(0x9e3779b97f4a7c15);
    return &t->answers[(hash >> 32) & (t->n_answers - 1)];
}

hf_match hf_predicate_match(hf_verifier *v, const hf_condition *c,
                            hf_value_id value)
{
    struct hf_answer *a;
    hf_scalar row;
    hf_match m;

    if (value == HF_NONE)
        return HF_MATCH_UNKNOWN;
    a = place_of(v, c, value);
    if (a && a->is >> 2 == c->memo->number && a->value == value)
        return (hf_match)(a->is & 3u);
    row = hf_value_scalar(v->h, value);
    m = hf_condition_holds(c, row);
    if (m == HF_MATCH_UNKNOWN)
        m = match_sql(v, c, row);
    if (a)
        *a = (struct hf_answer){value, c->memo->number << 2 | (uint32_t)m};
    return m;
}

/* ---- bounds -------------------------------------------------------------- */

/* In units, see hf_condition_number(); false: it cannot be said. */
static bool units_of(const hf_sql_value *end, hf_wide *ret)
{
    const hf_wide most = HF_DECIMAL_ONE / 1000;

    if (end->type == HF_SQL_INT) {
        *ret = end->integer * HF_DECIMAL_ONE;
        return true;
    }
    if (end->type != HF_SQL_DECIMAL || end->scale > HF_DECIMAL_SCALE ||
        end->decimal >= most || end->decimal <= -most)
        return false;
    *ret = end->decimal;
    for (unsigned i = end->scale; i < HF_DECIMAL_SCALE; i++)
        *ret *= 10;
    return true;
}

/* An end that cannot be said is none.  False: it was one. */
static bool place_numbers(const hf_sql_range *from, hf_range *ret)
{
    bool low = from->has_low && units_of(&from->low, &ret->low);
    bool high = from->has_high && units_of(&from->high, &ret->high);

    ret->low = low ? ret->low + from->low_open : HF_LEAST_NUMBER;
    ret->high = high ? ret->high - from->high_open : HF_MOST_NUMBER;
    return low == from->has_low && high == from->has_high;
}

static hf_str text_of(const hf_sql_value *value)
{
    return (hf_str){value->text, value->length};
}

static void place_texts(const hf_sql_range *from, hf_range *ret)
{
    ret->from = from->has_low ? text_of(&from->low) : (hf_str){"", 0};
    ret->from_open = from->has_low && from->low_open;
    ret->endless = !from->has_high;
    ret->to_open = from->high_open;
    if (from->has_high)
        ret->to = text_of(&from->high);
}

/* Numbers and texts only; *exact is cleared if anything is lost. */
static bool add_bound(hf_verifier *v, const hf_sql_expr *e,
                      const hf_sql_bound *from, hf_bound *ret, bool *exact)
{
    *ret = (hf_bound){.column = hf_sql_column_name(e, from->column),
                      .is_text = from->class_of == HF_SQL_TEXT,
                      .n = from->n_ranges};
    if (from->class_of != HF_SQL_INT && !ret->is_text) {
        *exact = false;
        return false;
    }
    ret->at = hf_kept_zeros(v, from->n_ranges, sizeof(*ret->at));
    for (uint32_t i = 0; i < from->n_ranges; i++)
        if (ret->is_text)
            place_texts(&from->ranges[i], &ret->at[i]);
        else
            *exact &= place_numbers(&from->ranges[i], &ret->at[i]);
    return true;
}

static hf_bounds ask_bounds(hf_verifier *v, const hf_condition *c)
{
    const hf_sql_bound *from = NULL;
    const struct hf_condition_memo *memo = ask(v, c);
    hf_bounds ret = {0};
    uint32_t n = memo->expr ? hf_sql_bounds(memo->expr, &from) : 0;

    ret.exact = n > 0 && hf_sql_bounds_say_all(memo->expr);
    ret.at = hf_kept_zeros(v, n, sizeof(*ret.at));
    for (uint32_t i = 0; i < n; i++)
        ret.n += add_bound(v, memo->expr, &from[i], &ret.at[ret.n], &ret.exact);
    return ret;
}

/* Texts have an order if the dialect is known, but not in our language. */
static hf_bounds find_bounds(hf_verifier *v, const hf_condition *c)
{
    hf_bounds own = {0}, asked;

    if (c->understood)
        own = hf_condition_bounds(c, &v->kept.arena);
    if (own.exact || (c->understood && v->dialect == HF_SQL_ANY))
        return own;
    asked = ask_bounds(v, c);
    return asked.exact || own.n == 0 ? asked : own;
}

const hf_bounds *hf_predicate_bounds(hf_verifier *v, const hf_condition *c)
{
    struct hf_condition_memo *memo = c->memo;

    if (!memo->is_bound_asked)
        memo->bounds = find_bounds(v, c);
    memo->is_bound_asked = true;
    return &memo->bounds;
}

bool hf_predicate_is_true(const hf_condition *c)
{
    return c->understood && c->n == 1 && c->steps[0].code == PUSH &&
           c->steps[0].operand.type == HF_BOOL && c->steps[0].operand.number;
}

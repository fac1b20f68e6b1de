/* match.c: does a version satisfy a condition?
 *
 * Our own small language (condition.h) answers first: it shares nothing with
 * the engines.  What it cannot say (decimals, LIKE, functions, the order of
 * texts in a dialect that has one) is asked of sql/, which parses each text
 * once in a session.
 */
#include "verify/condition_steps.h"
#include "verify/predicate.h"

struct hf_condition_memo {
    bool is_asked;
    bool is_bound_asked, has_bound;
    hf_bound bound;
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

static hf_match match_sql(hf_verifier *v, const hf_condition *c, hf_scalar row)
{
    const struct hf_condition_memo *memo = ask(v, c);
    hf_sql_truth truth;

    if (!memo->expr || row.type == HF_LIST)
        return HF_MATCH_UNKNOWN;
    for (uint32_t i = 0; i < memo->n_columns; i++)
        if (!hf_sql_row_column(row, hf_sql_column_name(memo->expr, i),
                               &v->claim.arena, &memo->columns[i]))
            return HF_MATCH_UNKNOWN;
    truth = hf_sql_test(memo->expr, memo->columns, NULL);
    if (truth == HF_SQL_ERROR)
        return HF_MATCH_UNKNOWN;
    return truth == HF_SQL_TRUE ? HF_MATCH_YES : HF_MATCH_NO;
}

const hf_condition *hf_match_compile(hf_verifier *v, hf_str text)
{
    hf_condition *c = hf_condition_compile(&v->kept.arena, text);

    c->memo = hf_kept_zeros(v, 1, sizeof(*c->memo));
    return c;
}

hf_match hf_predicate_match(hf_verifier *v, const hf_condition *c,
                            hf_value_id value)
{
    hf_scalar row;
    hf_match own;

    if (value == HF_NONE)
        return HF_MATCH_UNKNOWN;
    row = hf_value_scalar(v->h, value);
    own = hf_condition_holds(c, row);
    return own == HF_MATCH_UNKNOWN ? match_sql(v, c, row) : own;
}

/* ---- bounds -------------------------------------------------------------- */

static int64_t end_of(const hf_sql_value *end, bool has_end, int64_t without)
{
    return has_end && end->type == HF_SQL_INT ? end->integer : without;
}

/* Of the ranges of numbers the interval around them, of texts one text. */
static bool bound_of(const hf_sql_expr *e, const hf_sql_bound *b, hf_bound *ret)
{
    const hf_sql_range *first, *last;

    if (b->n_ranges == 0)
        return false;
    first = &b->ranges[0];
    last = &b->ranges[b->n_ranges - 1];
    *ret = (hf_bound){.column = hf_sql_column_name(e, b->column)};
    if (b->class_of == HF_SQL_INT) {
        ret->low = end_of(&first->low, first->has_low, INT64_MIN);
        ret->high = end_of(&last->high, last->has_high, INT64_MAX);
        return ret->low > INT64_MIN || ret->high < INT64_MAX;
    }
    ret->is_text = true;
    ret->text = (hf_str){first->low.text, first->low.length};
    return b->class_of == HF_SQL_TEXT && first == last && first->has_low &&
           first->has_high && hf_sql_order(&first->low, &first->high) == 0;
}

static bool find_bound(hf_verifier *v, const hf_condition *c, hf_bound *ret)
{
    const struct hf_condition_memo *memo;
    const hf_sql_bound *bounds = NULL;
    uint32_t n;

    if (c->understood)
        return hf_condition_bound(c, ret);
    memo = ask(v, c);
    n = memo->expr ? hf_sql_bounds(memo->expr, &bounds) : 0;
    for (uint32_t i = 0; i < n; i++)
        if (bound_of(memo->expr, &bounds[i], ret))
            return true;
    return false;
}

bool hf_predicate_bound(hf_verifier *v, const hf_condition *c, hf_bound *ret)
{
    struct hf_condition_memo *memo = c->memo;

    if (!memo->is_bound_asked)
        memo->has_bound = find_bound(v, c, &memo->bound);
    memo->is_bound_asked = true;
    if (memo->has_bound)
        *ret = memo->bound;
    return memo->has_bound;
}

bool hf_predicate_is_true(const hf_condition *c)
{
    return c->understood && c->n == 1 && c->steps[0].code == PUSH &&
           c->steps[0].operand.type == HF_BOOL && c->steps[0].operand.number;
}

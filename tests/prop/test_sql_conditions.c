/* test_sql_conditions.c: conditions on rows of any types, without a database.
 *
 *   test_sql_conditions [CASES] [SEED]
 *
 * Four claims about random conditions and random rows:
 *   1. What is said for a database that is not known, PostgreSQL and SQLite
 *      say as well (both dialects are compared with the real ones by
 *      test_sql_databases).
 *   2. Bounds: outside of its ranges a condition is not TRUE, and inside of
 *      exact ones it is.
 *   3. Ranges are ascending and disjoint.
 *   4. Where the small evaluator of the brute-force engine answers, it gives
 *      the same answer; rows are JSON there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "check/brute.h"
#include "sql/sql.h"
#include "sql/value.h"
#include "sql_generate.h"

typedef struct tally {
    uint64_t tests, said, outside, inside, brute, failures;
} tally;

static hf_sql_value random_value(hf_rng *rng)
{
    static const char *const texts[] = {"a", "b",  "ab", "B",   "",
                                        "5", "z9", "10", "a b "};

    switch (hf_rng_below(rng, 9)) {
    case 0:
        return hf_sql_null();
    case 1:
    case 2:
        return hf_sql_of_text(hf_str_of(texts[hf_rng_below(rng, 9)]));
    case 3:
        return hf_sql_of_decimal((int)hf_rng_below(rng, 2000) - 500, 2);
    case 4:
        return hf_sql_of_decimal((int)hf_rng_below(rng, 80) - 20, 1);
    case 5:
        return hf_sql_of_real((double)hf_rng_below(rng, 40) / 4 - 2);
    case 6:
        return hf_sql_of_bool(hf_rng_below(rng, 2));
    default:
        return hf_sql_of_int((int)hf_rng_below(rng, 16) - 4);
    }
}

static void report(tally *t, const char *what, hf_str condition,
                   const hf_sql_expr *e, const hf_sql_value *row)
{
    hf_arena arena;

    if (t->failures++ > 10)
        return;
    hf_arena_init(&arena);
    fprintf(stderr, "%s: %.*s\n ", what, (int)condition.len, condition.ptr);
    for (uint32_t i = 0; i < hf_sql_n_columns(e); i++) {
        hf_str name = hf_sql_column_name(e, i), text = HF_STR("NULL");

        if (row[i].type != HF_SQL_NULL)
            text = hf_sql_print(&row[i], HF_SQL_POSTGRES, &arena);
        fprintf(stderr, " %.*s = %.*s (type %d)", (int)name.len, name.ptr,
                (int)text.len, text.ptr, row[i].type);
    }
    fprintf(stderr, "\n");
    hf_arena_release(&arena);
}

/* ---- 1: the dialects ---------------------------------------------------- */

static void compare_dialects(tally *t, hf_sql_cache *caches[3], hf_str text,
                             const hf_sql_value *row)
{
    const hf_sql_expr *any = hf_sql_condition(caches[HF_SQL_ANY], text, NULL);
    hf_sql_truth said, other;

    if (!any)
        return;
    t->tests++;
    said = hf_sql_test(any, row, NULL);
    if (said == HF_SQL_ERROR)
        return;
    t->said++;
    for (int d = HF_SQL_POSTGRES; d <= HF_SQL_SQLITE; d++) {
        const hf_sql_expr *e = hf_sql_condition(caches[d], text, NULL);

        if (!e)
            continue;
        other = hf_sql_test(e, row, NULL);
        if (other != said && other != HF_SQL_ERROR)
            report(t,
                   d == HF_SQL_SQLITE ? "SQLite disagrees"
                                      : "PostgreSQL disagrees",
                   text, e, row);
    }
}

/* ---- 2 and 3: bounds ---------------------------------------------------- */

static bool in_range(const hf_sql_range *r, const hf_sql_value *v)
{
    int order;

    if (r->has_low) {
        order = hf_sql_order(v, &r->low);
        if (order < 0 || (order == 0 && r->low_open))
            return false;
    }
    if (r->has_high) {
        order = hf_sql_order(v, &r->high);
        if (order > 0 || (order == 0 && r->high_open))
            return false;
    }
    return true;
}

static bool in_class(const hf_sql_bound *b, const hf_sql_value *v)
{
    return b->class_of == HF_SQL_INT ? hf_sql_is_number(v)
                                     : v->type == (uint8_t)b->class_of;
}

static bool well_formed(const hf_sql_bound *b)
{
    for (uint32_t i = 0; i + 1 < b->n_ranges; i++) {
        const hf_sql_range *r = &b->ranges[i], *s = &b->ranges[i + 1];

        if (!r->has_high || !s->has_low || hf_sql_order(&r->high, &s->low) > 0)
            return false;
    }
    return true;
}

static void check_bounds(tally *t, const hf_sql_expr *e, hf_str text,
                         const hf_sql_value *row)
{
    const hf_sql_bound *bounds;
    uint32_t n = hf_sql_bounds(e, &bounds);
    hf_sql_truth truth = hf_sql_test(e, row, NULL);

    for (uint32_t i = 0; i < n; i++) {
        const hf_sql_bound *b = &bounds[i];
        const hf_sql_value *v = &row[b->column];
        bool inside = false;

        if (!well_formed(b))
            report(t, "ranges overlap", text, e, row);
        if (!in_class(b, v) && v->type != HF_SQL_NULL)
            continue;
        for (uint32_t k = 0; k < b->n_ranges; k++)
            inside |= v->type != HF_SQL_NULL && in_range(&b->ranges[k], v);
        if (!inside) {
            t->outside++;
            if (truth == HF_SQL_TRUE)
                report(t, "TRUE outside of the ranges", text, e, row);
        } else if (b->exact) {
            t->inside++;
            if (truth != HF_SQL_TRUE)
                report(t, "not TRUE inside of exact ranges", text, e, row);
        }
    }
}

/* ---- 4: the small evaluator ---------------------------------------------- */

static void put_json(hf_out *out, const hf_sql_value *v, hf_arena *arena)
{
    if (v->type == HF_SQL_NULL)
        hf_out_text(out, "null");
    else if (v->type == HF_SQL_TEXT)
        hf_out_format(out, "\"%.*s\"", (int)v->length, v->text);
    else
        hf_out_str(out, hf_sql_print(v, HF_SQL_POSTGRES, arena));
}

static void compare_brute(tally *t, hf_sql_cache *cache, hf_str text,
                          const hf_sql_value *values)
{
    const hf_sql_expr *e = hf_sql_condition(cache, text, NULL);
    hf_sql_value row[2] = {{0}};
    hf_scalar scalar = {.type = HF_ROW};
    hf_sql_truth truth;
    hf_brute_match match;
    hf_arena arena;
    hf_out json;

    hf_arena_init(&arena);
    hf_out_init_memory(&json);
    hf_out_text(&json, "{\"a\":");
    put_json(&json, &values[0], &arena);
    hf_out_text(&json, ", \"b\":");
    put_json(&json, &values[1], &arena);
    hf_out_char(&json, '}');
    scalar.text = json.at;
    scalar.length = json.n;
    match = hf_brute_condition(text, scalar);
    for (uint32_t i = 0; e && i < hf_sql_n_columns(e); i++)
        if (!hf_sql_row_column(scalar, hf_sql_column_name(e, i), &arena,
                               &row[i]))
            report(t, "column not found", text, e, row);
    truth = e ? hf_sql_test(e, row, NULL) : HF_SQL_ERROR;
    if (match != HF_BRUTE_MATCH_ERROR && truth != HF_SQL_ERROR) {
        t->brute++;
        if ((truth == HF_SQL_TRUE) != (match == HF_BRUTE_MATCH_YES))
            report(t, "the small evaluator disagrees", text, e, row);
    }
    hf_out_release(&json);
    hf_arena_release(&arena);
}

/* ---- conditions that are mostly bounds ---------------------------------- */

static void atom(hf_rng *rng, hf_out *out)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    static const char *const names[] = {"a", "b", "a"};
    static const char *const values[] = {"1",   "2",   "3",    "2.5",
                                         "-1",  "'a'", "'b'",  "'ab'",
                                         "0.5", "5",   "2.50", "NULL"};
    const char *name = names[hf_rng_below(rng, 3)];
    const char *v = values[hf_rng_below(rng, 12)];
    const char *w = values[hf_rng_below(rng, 12)];
    const char *no = hf_rng_below(rng, 3) ? "" : "NOT ";

    switch (hf_rng_below(rng, 7)) {
    case 0:
        hf_out_format(out, "%s %sBETWEEN %s AND %s", name, no, v, w);
        break;
    case 1:
        hf_out_format(out, "%s %sIN (%s, %s, 3)", name, no, v, w);
        break;
    case 2:
        hf_out_format(out, "%s %sLIKE '%s%%'", name, no,
                      hf_rng_below(rng, 2) ? "a" : "5");
        break;
    case 3:
        hf_out_format(out, "%s %s %s", v, ops[hf_rng_below(rng, 6)], name);
        break;
    default:
        hf_out_format(out, "%s %s %s", name, ops[hf_rng_below(rng, 6)], v);
    }
}

static void bounded(hf_rng *rng, hf_out *out, unsigned depth)
{
    unsigned n = 2 + hf_rng_below(rng, 2);
    const char *op = hf_rng_below(rng, 2) ? " AND " : " OR ";

    if (depth == 0 || hf_rng_below(rng, 3) == 0) {
        atom(rng, out);
        return;
    }
    if (hf_rng_below(rng, 4) == 0)
        hf_out_text(out, "NOT ");
    hf_out_char(out, '(');
    for (unsigned i = 0; i < n; i++) {
        if (i)
            hf_out_text(out, op);
        bounded(rng, out, depth - 1);
    }
    hf_out_char(out, ')');
    if (hf_rng_below(rng, 8) == 0)
        hf_out_text(out, hf_rng_below(rng, 2) ? " IS TRUE" : " IS FALSE");
}

/* ---- the run ------------------------------------------------------------ */

static void one_case(tally *t, hf_rng *rng, hf_sql_cache *caches[3],
                     hf_out *out, bool bounds)
{
    sql_generator g = {.rng = rng, .out = out, .dialect = HF_SQL_SQLITE};
    hf_sql_value row[16];
    hf_str text;

    out->n = 0;
    if (bounds)
        bounded(rng, out, 3);
    else
        sql_condition(&g);
    text = hf_out_view(out);
    for (int r = 0; r < 12; r++) {
        for (int i = 0; i < 16; i++)
            row[i] = random_value(rng);
        compare_dialects(t, caches, text, row);
        if (bounds)
            compare_brute(t, caches[HF_SQL_ANY], text, row);
        for (int d = 0; d < 3; d++) {
            const hf_sql_expr *e = hf_sql_condition(caches[d], text, NULL);

            if (e)
                check_bounds(t, e, text, row);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    hf_sql_cache *caches[3] = {NULL};
    tally t = {0};
    hf_rng rng;
    hf_out out;

    hf_rng_seed(&rng, seed);
    hf_out_init_memory(&out);
    for (uint64_t i = 0; i < cases; i++) {
        if (i % 1000 == 0)
            for (int d = 0; d < 3; d++) {
                hf_sql_cache_free(caches[d]);
                caches[d] = hf_sql_cache_new((hf_sql_dialect)d);
            }
        one_case(&t, &rng, caches, &out, i % 2 == 0);
    }
    for (int d = 0; d < 3; d++)
        hf_sql_cache_free(caches[d]);
    hf_out_release(&out);
    printf("%llu tests, %.0f%% said for any database, %llu rows outside, %llu "
           "inside of exact bounds, %llu by the small evaluator too, %llu "
           "failures\n",
           (unsigned long long)t.tests,
           100 * (double)t.said / (double)(t.tests ? t.tests : 1),
           (unsigned long long)t.outside, (unsigned long long)t.inside,
           (unsigned long long)t.brute, (unsigned long long)t.failures);
    return t.failures || t.said * 4 < t.tests || !t.outside || !t.inside ||
           !t.brute;
}

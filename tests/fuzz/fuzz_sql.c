/* fuzz_sql.c: any text as a condition and as a statement, in every dialect.
 *
 * What is understood is evaluated on fixed rows and run on fixed tables.  A
 * condition must keep its bounds: not TRUE for a row outside of them, TRUE
 * for one inside of exact ones.  The database oracle gets the text as well;
 * where it and the interpreter for SQLite both answer they must agree.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "sql/exec.h"
#include "sql/oracle.h"
#include "sql/value.h"

#define MAX_COLUMNS 8u

void hf_fuzz_sql(const uint8_t *data, size_t size);

/* ---- conditions --------------------------------------------------------- */

static hf_sql_value sample(uint32_t i)
{
    switch (i % 9) {
    case 0:
        return hf_sql_of_int(5);
    case 1:
        return hf_sql_of_text(HF_STR("abc"));
    case 2:
        return hf_sql_null();
    case 3:
        return hf_sql_of_decimal(250, 2);
    case 4:
        return hf_sql_of_bool(true);
    case 5:
        return hf_sql_of_real(-0.5);
    case 6:
        return hf_sql_of_int(INT64_MIN);
    case 7:
        return hf_sql_of_text(HF_STR("12"));
    default:
        return hf_sql_of_text(HF_STR("2024-02-29"));
    }
}

static bool in_range(const hf_sql_range *r, const hf_sql_value *v)
{
    int low = r->has_low ? hf_sql_order(v, &r->low) : 1;
    int high = r->has_high ? hf_sql_order(v, &r->high) : -1;

    return (low > 0 || (low == 0 && !r->low_open)) &&
           (high < 0 || (high == 0 && !r->high_open));
}

static void check_bounds(const hf_sql_expr *e, const hf_sql_value *row,
                         hf_sql_truth t)
{
    const hf_sql_bound *b;

    for (uint32_t i = 0, n = hf_sql_bounds(e, &b); i < n; i++) {
        const hf_sql_value *v = &row[b[i].column];
        bool number = b[i].class_of == HF_SQL_INT && hf_sql_is_number(v);
        bool inside = false;

        if (!number && v->type != (uint8_t)b[i].class_of &&
            v->type != HF_SQL_NULL)
            continue;
        for (uint32_t k = 0; k < b[i].n_ranges; k++)
            inside |= v->type != HF_SQL_NULL && in_range(&b[i].ranges[k], v);
        if (!inside && t == HF_SQL_TRUE)
            HF_BUG("TRUE outside of its bounds");
        if (inside && b[i].exact && t != HF_SQL_TRUE)
            HF_BUG("not TRUE inside of exact bounds");
    }
}

/* Both know SQLite; the oracle's columns have no declared types. */
static void ask_oracle(const hf_sql_expr *e, hf_str text,
                       const hf_sql_value *row, hf_sql_truth said)
{
    static hf_sql_oracle *oracle;
    hf_str names[MAX_COLUMNS];
    hf_sql_question q = {.condition = text, .names = names, .n_rows = 1};
    hf_budget budget = {.seconds = 1};
    hf_sql_truth t;

    if (!oracle)
        oracle = hf_sql_oracle_sqlite.open(NULL);
    q.n_columns = hf_sql_n_columns(e);
    q.cells = row;
    for (uint32_t i = 0; i < q.n_columns; i++)
        names[i] = hf_sql_column_name(e, i);
    hf_budget_start(&budget);
    if (hf_sql_oracle_sqlite.ask(oracle, &q, &budget, &t, NULL) == HF_OK &&
        said != HF_SQL_ERROR && t != said)
        HF_BUG("SQLite gives another answer");
}

static void fuzz_condition(hf_sql_cache *c, hf_sql_dialect dialect, hf_str text)
{
    const hf_sql_expr *e = hf_sql_condition(c, text, NULL);
    hf_sql_value row[MAX_COLUMNS];
    hf_error err;

    if (!e || hf_sql_n_columns(e) > MAX_COLUMNS)
        return;
    for (uint32_t r = 0; r < 9; r++) {
        hf_sql_truth t;

        for (uint32_t i = 0; i < hf_sql_n_columns(e); i++)
            row[i] = sample(r + i * 4);
        t = hf_sql_test(e, row, &err);
        check_bounds(e, row, t);
        if (dialect == HF_SQL_SQLITE)
            ask_oracle(e, text, row, t);
    }
}

/* ---- statements --------------------------------------------------------- */

static void fuzz_statement(hf_sql_cache *c, hf_sql_dialect dialect, hf_str text)
{
    static const hf_sql_column columns[] = {
        {HF_STR("id"), HF_SQL_INT, HF_SQL_NOTE_INT4, -1, true},
        {HF_STR("a"), HF_SQL_INT, HF_SQL_NOTE_INT8, -1, false},
        {HF_STR("n"), HF_SQL_DECIMAL, 0, -1, false},
        {HF_STR("s"), HF_SQL_TEXT, 0, -1, false},
    };
    static const char *const rows =
        "VALUES (1, 10, 1.5, 'x'), (2, NULL, 2.25, 'y'), (3, 10, NULL, NULL)";
    const hf_sql_value params[] = {hf_sql_of_int(2),
                                   hf_sql_of_text(HF_STR("x"))};
    const uint32_t key = 0;
    const hf_sql_statement *s = hf_sql_parse(c, text, NULL);
    hf_sql_database *db;
    hf_sql_result result;
    char insert[120];

    if (!s)
        return;
    db = hf_sql_database_new(dialect);
    hf_sql_result_init(&result);
    for (int i = 0; i < 2; i++) {
        hf_sql_table_add(db, i ? HF_STR("u") : HF_STR("t"), columns, 4, &key,
                         1);
        (void)snprintf(insert, sizeof(insert), "INSERT INTO %c %s",
                       i ? 'u' : 't', rows);
        if (hf_sql_execute(db, hf_sql_parse(c, hf_str_of(insert), NULL), NULL,
                           0, &result, NULL) != HF_OK)
            HF_BUG("the fixed rows are refused");
    }
    for (int i = 0; i < 2; i++) {
        hf_error err = {0};

        if (hf_sql_execute(db, s, params, 2, &result, &err) != HF_OK &&
            err.text[0] == '\0')
            HF_BUG("refused without a reason");
    }
    hf_sql_result_release(&result);
    hf_sql_database_free(db);
}

void hf_fuzz_sql(const uint8_t *data, size_t size)
{
    hf_str text = {(const char *)data, size};

    for (int d = 0; d < HF_SQL_DIALECT_COUNT; d++) {
        hf_sql_cache *c = hf_sql_cache_new((hf_sql_dialect)d);

        fuzz_condition(c, (hf_sql_dialect)d, text);
        fuzz_statement(c, (hf_sql_dialect)d, text);
        hf_sql_cache_free(c);
    }
}

/* run.c: running a planned SELECT, its subqueries, and whole statements.
 *
 * FROM and WHERE (join.c), groups (group.c), then here: results, DISTINCT,
 * ORDER BY, LIMIT.  A subquery that uses nothing of the queries around it
 * runs once for a statement.
 */
#include "sql/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define MAX_BYTES ((size_t)1 << 30)

bool hf_sql_run_refuse(hf_sql_run *run, hf_status status, const char *format,
                       ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    run->status = hf_fail(run->err, status, "%s", text);
    return false;
}

bool hf_sql_run_failed(hf_sql_run *run, const hf_sql_eval *ev)
{
    HF_ASSERT(ev->status != HF_OK);
    run->status = ev->status;
    return false;
}

bool hf_sql_run_full(hf_sql_run *run)
{
    return run->arena->used > MAX_BYTES;
}

void hf_sql_run_eval(hf_sql_run *run, const hf_sql_frame *outer,
                     hf_sql_eval *ret)
{
    *ret = (hf_sql_eval){
        .dialect = hf_sql_database_dialect(run->db),
        .strict = true,
        .frame = {NULL, outer},
        .arena = run->arena,
        .err = run->err,
        .subquery = hf_sql_run_subquery,
        .user = run,
    };
}

/* ---- results ------------------------------------------------------------ */

static bool project(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                    hf_sql_value **rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hf_sql_value *made =
            hf_arena_get(run->arena, (p->n_all + 1) * sizeof(*made));

        if (hf_sql_run_full(run))
            return hf_sql_run_refuse(run, HF_ERR_LIMIT,
                                     "a result is too large");
        ev->frame.row = rows[i];
        for (uint32_t k = 0; k < p->n_all; k++) {
            if (!hf_sql_value_of(ev, p->out[k], &made[k]))
                return hf_sql_run_failed(run, ev);
            if (ev->dialect == HF_SQL_SQLITE)
                made[k] = hf_sqlite_storage(made[k]);
        }
        rows[i] = made;
    }
    return true;
}

static bool values(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                   hf_sql_value ***ret_rows, uint32_t *ret_n)
{
    uint32_t n = p->select->n_rows;
    hf_sql_value **rows = hf_arena_get(run->arena, n * sizeof(*rows));

    for (uint32_t i = 0; i < n; i++) {
        rows[i] = hf_arena_get(run->arena, (p->n_all + 1) * sizeof(**rows));
        for (uint32_t k = 0; k < p->n_out; k++)
            if (!hf_sql_value_of(ev, p->rows[i][k], &rows[i][k]))
                return hf_sql_run_failed(run, ev);
        if (p->n_all > p->n_out)
            return hf_sql_run_refuse(
                run, HF_ERR_UNSUPPORTED,
                "ORDER BY an expression after VALUES is not supported");
    }
    *ret_rows = rows;
    *ret_n = n;
    return true;
}

static bool distinct(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                     hf_sql_value **rows, uint32_t *n)
{
    hf_sql_row_set set;
    uint32_t number;
    bool is_new;

    hf_sql_row_set_init(&set, run->arena, p->n_out);
    for (uint32_t i = 0; i < *n; i++)
        if (!hf_sql_row_set_add(&set, ev, rows[i], &number, &is_new))
            return hf_sql_run_failed(run, ev);
    if (set.n > 0)
        memcpy(rows, set.rows, set.n * sizeof(*rows));
    *n = set.n;
    return true;
}

/* ---- ORDER BY ----------------------------------------------------------- */

typedef struct sort_item {
    hf_sql_value *row;
    uint32_t number;
} sort_item;

typedef struct sorter {
    const hf_sql_plan *plan;
    hf_sql_eval *ev;
    bool failed;
} sorter;

/* Where NULL stands if one of the two is. */
static bool null_order(sorter *s, const hf_sql_sort *by, bool a_null, int *ret)
{
    bool first;

    if (by->nulls != 0) {
        first = by->nulls == 1;
    } else {
        if (s->ev->dialect == HF_SQL_ANY)
            return hf_sql_unsaid(s->ev,
                                 "databases differ about NULL in ORDER BY");
        /* PostgreSQL: as if greater than all; SQLite: less */
        first = (s->ev->dialect == HF_SQL_SQLITE) != by->descending;
    }
    *ret = a_null == first ? -1 : 1;
    return true;
}

static int compare_rows(const void *x, const void *y, void *user)
{
    const sort_item *a = x, *b = y;
    sorter *s = user;
    int order;

    for (uint32_t i = 0; i < s->plan->n_sort && !s->failed; i++) {
        const hf_sql_sort *by = &s->plan->select->order[i];
        const hf_sql_value *v = &a->row[s->plan->sort[i]];
        const hf_sql_value *w = &b->row[s->plan->sort[i]];
        bool null_v = v->type == HF_SQL_NULL, null_w = w->type == HF_SQL_NULL;

        if (null_v && null_w)
            continue;
        if (null_v || null_w) {
            s->failed |= !null_order(s, by, null_v, &order);
            return s->failed ? 0 : order;
        }
        if (!hf_sql_sort_order(s->ev, v, w, &order)) {
            s->failed = true;
            return 0;
        }
        if (order != 0)
            return by->descending ? -order : order;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool sort(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                 hf_sql_value **rows, uint32_t n)
{
    sorter s = {p, ev, false};
    sort_item *items = hf_arena_get(run->arena, (n + 1) * sizeof(*items));

    for (uint32_t i = 0; i < n; i++)
        items[i] = (sort_item){rows[i], i};
    qsort_r(items, n, sizeof(*items), compare_rows, &s);
    if (s.failed)
        return hf_sql_run_failed(run, ev);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = items[i].row;
    return true;
}

/* ---- LIMIT -------------------------------------------------------------- */

static bool count_of(hf_sql_run *run, hf_sql_eval *ev, const hf_sql_node *node,
                     uint64_t otherwise, uint64_t *ret)
{
    hf_sql_value v;

    *ret = otherwise;
    if (!node)
        return true;
    if (!hf_sql_value_of(ev, node, &v))
        return hf_sql_run_failed(run, ev);
    if (v.type == HF_SQL_NULL && ev->dialect != HF_SQL_SQLITE)
        return true;
    if (v.type == HF_SQL_DECIMAL &&
        !hf_sql_cast(ev, v, HF_SQL_INT, HF_SQL_NOTE_INT8, -1, false, &v))
        return hf_sql_run_failed(run, ev);
    if (v.type != HF_SQL_INT)
        return hf_sql_run_refuse(run, HF_ERR_INPUT,
                                 "LIMIT must be a whole number");
    if (v.integer < 0) {
        if (ev->dialect == HF_SQL_SQLITE)
            return true;
        return hf_sql_run_refuse(run, HF_ERR_INPUT,
                                 "LIMIT must not be negative");
    }
    *ret = (uint64_t)v.integer;
    return true;
}

static bool limit(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                  hf_sql_value ***rows, uint32_t *n)
{
    uint64_t most, skip;

    ev->frame.row = NULL;
    if (!count_of(run, ev, p->limit, UINT64_MAX, &most) ||
        !count_of(run, ev, p->offset, 0, &skip))
        return false;
    if (skip > *n)
        skip = *n;
    *rows += skip;
    *n -= (uint32_t)skip;
    if (*n > most)
        *n = (uint32_t)most;
    return true;
}

/* ---- a query ------------------------------------------------------------ */

static bool run_query(hf_sql_run *run, hf_sql_plan *p, hf_sql_eval *ev,
                      hf_sql_value ***rows, uint32_t *n)
{
    if (p->rows)
        return values(run, p, ev, rows, n);
    return hf_sql_run_from(run, p, ev, rows, n) &&
           (!p->grouped || hf_sql_run_groups(run, p, ev, rows, n)) &&
           project(run, p, ev, *rows, *n);
}

bool hf_sql_run_plan(hf_sql_run *run, hf_sql_plan *p, const hf_sql_frame *outer,
                     hf_sql_value ***ret_rows, uint32_t *ret_n)
{
    hf_sql_eval ev;

    if (!p->kept) {
        hf_sql_run_eval(run, outer, &ev);
        if (hf_sql_run_full(run))
            return hf_sql_run_refuse(run, HF_ERR_LIMIT, "a query is too large");
        if (!run_query(run, p, &ev, &p->kept_rows, &p->n_kept) ||
            (p->select->distinct &&
             !distinct(run, p, &ev, p->kept_rows, &p->n_kept)) ||
            (p->n_sort > 0 && !sort(run, p, &ev, p->kept_rows, p->n_kept)) ||
            !limit(run, p, &ev, &p->kept_rows, &p->n_kept))
            return false;
        p->kept = !p->uses_outer;
    }
    *ret_rows = p->kept_rows;
    *ret_n = p->n_kept;
    return true;
}

static bool in_rows(hf_sql_eval *ev, const hf_sql_node *node,
                    hf_sql_value **rows, uint32_t n, hf_sql_value *ret)
{
    const hf_sql_plan *p = node->plan;
    hf_sql_value v;
    bool null = false;

    if (!hf_sql_value_of(ev, node->args[0], &v))
        return false;
    *ret = hf_sql_of_bool(false);
    for (uint32_t i = 0; i < n; i++) {
        hf_sql_truth t = hf_sql_compare_truth(ev, HF_CMP_EQ, &v, &rows[i][0],
                                              node->args[0], p->out[0]);

        if (t == HF_SQL_ERROR)
            return false;
        if (t == HF_SQL_TRUE) {
            *ret = hf_sql_of_bool(true);
            return true;
        }
        null |= t == HF_SQL_UNKNOWN;
    }
    if (null)
        *ret = hf_sql_null();
    return true;
}

bool hf_sql_run_subquery(hf_sql_eval *ev, const hf_sql_node *node,
                         hf_sql_value *ret)
{
    hf_sql_run *run = ev->user;
    hf_sql_value **rows;
    uint32_t n;

    if (!hf_sql_run_plan(run, node->plan, &ev->frame, &rows, &n)) {
        ev->status = run->status;
        return false;
    }
    switch (node->kind) {
    case HF_N_EXISTS:
        *ret = hf_sql_of_bool(n > 0);
        return true;
    case HF_N_IN_SELECT:
        return in_rows(ev, node, rows, n, ret);
    default:
        if (n > 1 && ev->dialect != HF_SQL_SQLITE)
            return hf_sql_refuse(ev, "a subquery gives more than one row");
        *ret = n > 0 ? rows[0][0] : hf_sql_null();
        return true;
    }
}

/* ---- statements --------------------------------------------------------- */

void hf_sql_result_init(hf_sql_result *r)
{
    *r = (hf_sql_result){0};
    hf_arena_init(&r->arena);
}

void hf_sql_result_release(hf_sql_result *r)
{
    if (r)
        hf_arena_release(&r->arena);
}

/* Texts of results must outlive the rows of the tables. */
static void own_texts(hf_sql_result *r)
{
    for (uint64_t i = 0; i < r->n_rows * r->n_columns; i++)
        if (r->cells[i].type == HF_SQL_TEXT)
            r->cells[i].text =
                hf_arena_text(&r->arena, r->cells[i].text, r->cells[i].length);
}

static bool run_select(hf_sql_run *run, const hf_sql_statement *s,
                       hf_sql_result *ret)
{
    hf_sql_plan *p = hf_sql_plan_select(run, s->select, NULL);
    hf_sql_value **rows;
    uint32_t n;

    if (!p || !hf_sql_run_plan(run, p, NULL, &rows, &n))
        return false;
    ret->n_columns = p->n_out;
    ret->names = p->names;
    ret->n_rows = n;
    ret->cells = hf_arena_get(run->arena,
                              ((size_t)n * p->n_out + 1) * sizeof(*ret->cells));
    for (uint32_t i = 0; i < n; i++)
        memcpy(ret->cells + (size_t)i * p->n_out, rows[i],
               p->n_out * sizeof(*ret->cells));
    own_texts(ret);
    return true;
}

hf_status hf_sql_execute(hf_sql_database *db, const hf_sql_statement *s,
                         const hf_sql_value *params, uint32_t n_params,
                         hf_sql_result *ret, hf_error *err)
{
    hf_sql_run run = {
        .db = db, .arena = &ret->arena, .params = params, .n_params = n_params};
    bool ok;

    run.err = err;
    hf_arena_reset(&ret->arena);
    ret->n_columns = 0;
    ret->n_rows = 0;
    ret->affected = 0;
    ok = s->verb == HF_SQL_SELECT ? run_select(&run, s, ret)
                                  : hf_sql_run_write(&run, s, ret);
    if (ok)
        return HF_OK;
    ret->n_rows = 0;
    return run.status != HF_OK ? run.status : HF_ERR_UNSUPPORTED;
}

/* oracle_sqlite.c: SQLite in memory as the database to ask.
 *
 * One question: a temporary table of the rows, one SELECT with the condition
 * as its result, one pass over it.  The table's columns have no declared
 * types, so values are compared as they are.  Rows go in by one prepared
 * INSERT inside a transaction.  O(rows), about a microsecond each.
 *
 * The condition is untrusted.  It is prepared alone inside parentheses (text
 * after its end is refused), under an authorizer that lets a SELECT read the
 * one table and call the usual functions, nothing else; ATTACH, PRAGMA,
 * files, extensions and writes are refused, and so is what would look beyond
 * the row (subqueries, aggregates, windows, randomness).  Time is bounded by
 * the budget through the progress handler.
 */
#include "sql/oracle.h"

#include <sqlite3.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "sql/value.h"

#define MAX_COLUMNS 500u
#define MAX_LENGTH (1 << 20) /* of the condition */

struct hf_sql_oracle {
    sqlite3 *db;
    bool guarded;     /* the condition is being prepared or run */
    unsigned selects; /* seen while it is */
    hf_budget *budget;
};

/* ---- the guard ---------------------------------------------------------- */

static int may(void *user, int action, const char *a, const char *b,
               const char *c, const char *d)
{
    static const char *const refused[] = {
        "load_extension", "readfile",       "writefile",
        "edit",           "random",         "randomblob",
        "zeroblob",       "changes",        "total_changes",
        "sqlite_offset",  "current_time",   "last_insert_rowid",
        "current_date",   "fts3_tokenizer", "current_timestamp"};
    hf_sql_oracle *o = user;

    (void)c;
    (void)d;
    if (!o->guarded)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT: /* ours; a subquery would see other rows */
        return o->selects++ == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_READ:
        return a && strcmp(a, "r") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        for (size_t i = 0; b && i < sizeof(refused) / sizeof(refused[0]); i++)
            if (sqlite3_stricmp(b, refused[i]) == 0)
                return SQLITE_DENY;
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int interrupted(void *user)
{
    hf_sql_oracle *o = user;

    return hf_budget_spent(o->budget);
}

static void set_limits(sqlite3 *db)
{
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 2 * MAX_LENGTH + 200000);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 500);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
}

/* ---- open, close -------------------------------------------------------- */

static void close_oracle(hf_sql_oracle *o)
{
    if (!o)
        return;
    sqlite3_close(o->db);
    hf_free(o);
}

static hf_sql_oracle *open_oracle(hf_error *err)
{
    hf_sql_oracle *o = HF_NEW(hf_sql_oracle);

    if (sqlite3_open_v2(":memory:", &o->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        (void)hf_fail(err, HF_ERR_IO, "could not open SQLite: %s",
                      sqlite3_errmsg(o->db));
        close_oracle(o);
        return NULL;
    }
    set_limits(o->db);
    sqlite3_db_config(o->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(o->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(o->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(o->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_set_authorizer(o->db, may, o);
    sqlite3_progress_handler(o->db, 10000, interrupted, o);
    return o;
}

static hf_status database_failed(hf_sql_oracle *o, hf_error *err)
{
    char text[300];
    const char *message = sqlite3_errmsg(o->db);

    if (o->budget && o->budget->spent)
        return hf_fail(err, HF_ERR_LIMIT, "%s", hf_budget_reason(o->budget));
    return hf_fail(err, HF_ERR_UNSUPPORTED, "SQLite: %s",
                   hf_quote(text, sizeof(text), message, strlen(message)));
}

/* ---- the rows ----------------------------------------------------------- */

static void quote_name(hf_out *out, hf_str name)
{
    hf_out_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"')
            hf_out_char(out, '"');
        hf_out_char(out, name.ptr[i]);
    }
    hf_out_char(out, '"');
}

static bool run_text(hf_sql_oracle *o, const char *text)
{
    return sqlite3_exec(o->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* A column of numbers, or of texts, is declared as such, so that what it is
 * compared with is converted as in a table that somebody made. */
static const char *type_of(const hf_sql_question *q, uint32_t column)
{
    bool numbers = true, texts = true;

    for (uint32_t i = 0; i < q->n_rows; i++) {
        uint8_t type = q->cells[(size_t)i * q->n_columns + column].type;

        if (type == HF_SQL_NULL)
            continue;
        numbers &= type == HF_SQL_INT || type == HF_SQL_DECIMAL ||
                   type == HF_SQL_REAL || type == HF_SQL_BOOL;
        texts &= type == HF_SQL_TEXT;
    }
    if (numbers == texts)
        return ""; /* both, or nothing but nulls */
    return numbers ? " NUMERIC" : " TEXT";
}

static bool create_table(hf_sql_oracle *o, const hf_sql_question *q)
{
    hf_out text;
    bool ok;

    hf_out_init_memory(&text);
    hf_out_text(&text, "CREATE TEMP TABLE r(");
    for (uint32_t i = 0; i < q->n_columns; i++) {
        quote_name(&text, q->names[i]);
        hf_out_text(&text, type_of(q, i));
        hf_out_char(&text, ',');
    }
    hf_out_text(&text, "\" row\" INTEGER PRIMARY KEY)");
    hf_out_char(&text, '\0');
    ok = run_text(o, text.at);
    hf_out_release(&text);
    return ok;
}

static int bind_value(sqlite3_stmt *s, int at, const hf_sql_value *v)
{
    hf_arena arena;
    hf_str text;
    int status;

    switch (v->type) {
    case HF_SQL_NULL:
        return sqlite3_bind_null(s, at);
    case HF_SQL_BOOL:
    case HF_SQL_INT:
        return sqlite3_bind_int64(s, at, v->integer);
    case HF_SQL_DECIMAL:
    case HF_SQL_REAL:
        return sqlite3_bind_double(s, at, hf_sql_to_real(v));
    case HF_SQL_TEXT:
        return sqlite3_bind_text(s, at, v->length ? v->text : "",
                                 (int)v->length, SQLITE_STATIC);
    default:
        hf_arena_init(&arena);
        text = hf_sql_print(v, HF_SQL_SQLITE, &arena);
        status =
            sqlite3_bind_text(s, at, text.ptr, (int)text.len, SQLITE_TRANSIENT);
        hf_arena_release(&arena);
        return status;
    }
}

/* One row more than was asked, of NULLs: an aggregate would show itself by
 * giving one row for them all. */
static bool insert_rows(hf_sql_oracle *o, const hf_sql_question *q)
{
    const hf_sql_value nothing = {0};
    sqlite3_stmt *insert = NULL;
    hf_out text;
    bool ok;

    hf_out_init_memory(&text);
    hf_out_text(&text, "INSERT INTO r VALUES(");
    for (uint32_t i = 0; i < q->n_columns; i++)
        hf_out_text(&text, "?,");
    hf_out_text(&text, "?)");
    ok = sqlite3_prepare_v2(o->db, text.at, (int)text.n, &insert, NULL) ==
         SQLITE_OK;
    hf_out_release(&text);
    for (uint32_t r = 0; ok && r <= q->n_rows; r++) {
        const hf_sql_value *row = q->cells + (size_t)r * q->n_columns;

        for (uint32_t i = 0; ok && i < q->n_columns; i++)
            ok = bind_value(insert, (int)i + 1,
                            r < q->n_rows ? &row[i] : &nothing) == SQLITE_OK;
        ok =
            ok &&
            sqlite3_bind_int64(insert, (int)q->n_columns + 1, r) == SQLITE_OK &&
            sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return ok;
}

/* ---- the condition ------------------------------------------------------ */

/* Balanced outside of quotes, no statement end, no comment: so that the
 * parentheses around it stay around it. */
static bool is_closed(hf_str s)
{
    unsigned depth = 0;
    char quote = 0;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i], next = i + 1 < s.len ? s.ptr[i + 1] : 0;

        if (c == '\0')
            return false;
        if (quote) {
            quote = c == quote ? 0 : quote;
            continue;
        }
        if (c == '\'' || c == '"' || c == '`')
            quote = c;
        else if (c == '[')
            quote = ']';
        else if (c == '(')
            depth++;
        else if ((c == ')' && depth-- == 0) || c == ';' ||
                 (c == '-' && next == '-') || (c == '/' && next == '*'))
            return false;
    }
    return depth == 0 && quote == 0;
}

static hf_status prepare(hf_sql_oracle *o, const hf_sql_question *q,
                         sqlite3_stmt **ret, hf_error *err)
{
    const char *tail = NULL;
    hf_out text;
    hf_status status = HF_OK;

    if (q->condition.len > MAX_LENGTH || !is_closed(q->condition))
        return hf_fail(err, HF_ERR_INPUT, "this is more than a condition");
    hf_out_init_memory(&text);
    /* the truth of an expression: NOT NOT keeps NULL */
    hf_out_text(&text, "SELECT \" row\", NOT NOT (\n");
    hf_out_str(&text, q->condition);
    /* again in WHERE, where no aggregate and no window may stand */
    hf_out_text(&text, "\n) FROM r WHERE 1 OR (\n");
    hf_out_str(&text, q->condition);
    hf_out_text(&text, "\n)");
    if (sqlite3_prepare_v2(o->db, text.at, (int)text.n, ret, &tail) !=
        SQLITE_OK)
        status = database_failed(o, err);
    else if (!*ret || (size_t)(tail - text.at) != text.n ||
             !sqlite3_stmt_readonly(*ret) || sqlite3_column_count(*ret) != 2 ||
             sqlite3_bind_parameter_count(*ret) != 0)
        status = hf_fail(err, HF_ERR_INPUT, "this is more than a condition");
    hf_out_release(&text);
    return status;
}

static hf_status test_rows(hf_sql_oracle *o, const hf_sql_question *q,
                           hf_sql_truth *ret, hf_error *err)
{
    sqlite3_stmt *select = NULL;
    hf_status status = prepare(o, q, &select, err);
    uint32_t seen = 0;
    int step = SQLITE_DONE;

    while (status == HF_OK && (step = sqlite3_step(select)) == SQLITE_ROW) {
        sqlite3_int64 row = sqlite3_column_int64(select, 0);

        if (row < 0 || row > q->n_rows || seen++ > q->n_rows)
            status =
                hf_fail(err, HF_ERR_INPUT, "this is more than a condition");
        else if (row == q->n_rows)
            continue;
        else if (sqlite3_column_type(select, 1) == SQLITE_NULL)
            ret[row] = HF_SQL_UNKNOWN;
        else
            ret[row] =
                sqlite3_column_int(select, 1) ? HF_SQL_TRUE : HF_SQL_FALSE;
    }
    if (status == HF_OK && step != SQLITE_DONE)
        status = database_failed(o, err);
    if (status == HF_OK && seen != q->n_rows + 1)
        status = hf_fail(err, HF_ERR_INPUT, "this is more than a condition");
    sqlite3_finalize(select);
    return status;
}

static hf_status ask(hf_sql_oracle *o, const hf_sql_question *q,
                     hf_budget *budget, hf_sql_truth *ret, hf_error *err)
{
    hf_status status;

    if (q->n_columns > MAX_COLUMNS)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "more than %u columns",
                       MAX_COLUMNS);
    o->budget = budget;
    if (!run_text(o, "BEGIN") || !create_table(o, q) || !insert_rows(o, q)) {
        status = database_failed(o, err);
    } else {
        o->guarded = true;
        o->selects = 0;
        status = test_rows(o, q, ret, err);
        o->guarded = false;
    }
    o->budget = NULL; /* the end is not to be interrupted */
    (void)run_text(o, "ROLLBACK");
    return status;
}

const hf_sql_oracle_kind hf_sql_oracle_sqlite = {
    .name = "sqlite",
    .dialect = HF_SQL_SQLITE,
    .open = open_oracle,
    .ask = ask,
    .close = close_oracle,
};

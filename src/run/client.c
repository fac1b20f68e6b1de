/* client.c: the steps of a workload, sent and written down.
 *
 * Times are taken around each call to the driver.  A write is in the log
 * whatever became of it, unless the database refused it: if its transaction
 * was aborted it must not be seen, and where it is the checker has to know
 * whose it was.
 */
#include "workload/client.h"

#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "run/client_impl.h"
#include "run/tag.h"
#include "sql/value.h"

#define FRESH_FROM 1000000000

/* ---- statements ---------------------------------------------------------- */

void hf_statements_init(hf_statements *s)
{
    pthread_mutex_init(&s->mutex, NULL);
    hf_map_init(&s->numbers);
}

void hf_statements_release(hf_statements *s)
{
    hf_map_release(&s->numbers);
    pthread_mutex_destroy(&s->mutex);
}

static uint32_t count_params(const char *sql)
{
    uint32_t most = 0;

    for (; *sql; sql++) {
        uint32_t n = 0;

        if (*sql != '$')
            continue;
        while (sql[1] >= '0' && sql[1] <= '9')
            n = 10 * n + (uint32_t)(*++sql - '0');
        most = n > most ? n : most;
    }
    return most;
}

hf_db_statement hf_statement_of(hf_statements *s, const char *sql,
                                bool returns_rows)
{
    hf_db_statement st = {.sql = sql,
                          .n_params = count_params(sql),
                          .returns_rows = returns_rows};

    pthread_mutex_lock(&s->mutex);
    st.number = hf_map_add(&s->numbers, (uint64_t)(uintptr_t)sql,
                           (uint32_t)s->numbers.n);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

/* ---- life ---------------------------------------------------------------- */

void hf_client_init(hf_client *c, hf_db *db, unsigned number, unsigned count,
                    uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->db = db;
    c->number = number;
    c->count = count;
    pthread_mutex_init(&c->lock, NULL);
    hf_rng_seed(&c->rng, hf_mix64(seed + 0x9e3779b97f4a7c15u * (number + 1)));
    hf_map_init(&c->known);
    hf_sql_result_init(&c->rows);
}

void hf_client_release(hf_client *c)
{
    hf_client_disconnect(c);
    hf_sql_result_release(&c->rows);
    hf_map_release(&c->known);
    hf_vec_release(&c->statement);
    hf_vec_release(&c->params);
    pthread_mutex_destroy(&c->lock);
}

hf_status hf_client_connect(hf_client *c, hf_error *err)
{
    hf_db_session *session = NULL;
    hf_status st = c->db->driver->connect(c->db, c->number, &session, err);

    if (st != HF_OK)
        return st;
    pthread_mutex_lock(&c->lock);
    c->session = session;
    pthread_mutex_unlock(&c->lock);
    return HF_OK;
}

void hf_client_disconnect(hf_client *c)
{
    hf_db_session *session;

    pthread_mutex_lock(&c->lock);
    session = c->session;
    c->session = NULL;
    pthread_mutex_unlock(&c->lock);
    if (session)
        c->db->driver->disconnect(session);
}

bool hf_client_interrupt(hf_client *c)
{
    bool can;

    pthread_mutex_lock(&c->lock);
    can = c->session && c->db->driver->interrupt;
    if (can)
        c->db->driver->interrupt(c->session);
    pthread_mutex_unlock(&c->lock);
    return can;
}

hf_rng *hf_client_rng(hf_client *c)
{
    return &c->rng;
}

unsigned hf_client_number(const hf_client *c)
{
    return c->number;
}

unsigned hf_client_count(const hf_client *c)
{
    return c->count;
}

int64_t hf_client_fresh(hf_client *c)
{
    return FRESH_FROM + (int64_t)c->fresh++ * c->count + c->number;
}

uint64_t hf_client_now(const hf_client *c)
{
    return hf_clock_ns() - c->epoch;
}

uint64_t hf_client_clock(const hf_client *c)
{
    return c->frozen ? c->frozen : hf_client_now(c);
}

/* ---- transactions -------------------------------------------------------- */

static hf_client_state state_of(hf_db_status status)
{
    switch (status) {
    case HF_DB_OK:
        return HF_CLIENT_LIVE;
    case HF_DB_ABORTED:
        return HF_CLIENT_ABORTED;
    case HF_DB_REFUSED:
        return HF_CLIENT_REFUSED;
    case HF_DB_LOST:
        return HF_CLIENT_LOST;
    case HF_DB_FAILED:
        break;
    }
    return HF_CLIENT_FAILED;
}

bool hf_client_begin(hf_client *c, hf_db_level level, bool read_only)
{
    hf_span at = {.start = hf_client_now(c)};

    if (c->log)
        hf_log_begin(c->log, at.start);
    c->seen = 0;
    c->answer = (hf_db_answer){0};
    c->db->driver->begin(c->session, level, read_only, &c->answer);
    c->state = state_of(c->answer.status);
    at.end = hf_client_now(c);
    if (c->log)
        hf_log_mark(c->log, HF_OP_BEGIN, at);
    return c->state == HF_CLIENT_LIVE;
}

bool hf_client_begin_look(hf_client *c, hf_db_level level)
{
    c->looks = true;
    return hf_client_begin(c, level, true);
}

/* What the answer to a commit means. */
static hf_outcome commit(hf_client *c)
{
    c->db->driver->commit(c->session, &c->answer);
    c->state = state_of(c->answer.status);
    switch (c->state) {
    case HF_CLIENT_LIVE:
        return HF_COMMITTED;
    case HF_CLIENT_LOST:
    case HF_CLIENT_FAILED:
        return HF_UNKNOWN_OUTCOME;
    default:
        return HF_ABORTED;
    }
}

hf_outcome hf_client_end(hf_client *c)
{
    hf_span at = {.start = hf_client_now(c)};
    bool live = c->state == HF_CLIENT_LIVE;
    hf_outcome outcome = HF_ABORTED;
    hf_db_answer ignored = {0};

    c->looks = c->looked = false;
    if (live)
        outcome = commit(c);
    if (c->state == HF_CLIENT_REFUSED || c->state == HF_CLIENT_GAVE_UP)
        c->db->driver->abort(c->session, &ignored);
    if (ignored.status == HF_DB_LOST || ignored.status == HF_DB_FAILED)
        hf_client_disconnect(c); /* which aborts it as well */
    at.end = outcome == HF_UNKNOWN_OUTCOME ? HF_TIME_NONE : hf_client_now(c);
    if (!c->log)
        return outcome;
    hf_log_mark(c->log,
                live && outcome != HF_ABORTED ? HF_OP_COMMIT : HF_OP_ABORT, at);
    hf_log_end(c->log, outcome, at.end);
    return outcome;
}

void hf_client_give_up(hf_client *c, const char *reason)
{
    (void)reason;
    if (c->state == HF_CLIENT_LIVE && !c->looked)
        c->state = HF_CLIENT_GAVE_UP;
}

/* ---- what a step means --------------------------------------------------- */

static bool writes(hf_step_kind kind)
{
    return kind == HF_STEP_INSERT || kind == HF_STEP_UPSERT ||
           kind == HF_STEP_UPDATE || kind == HF_STEP_APPEND ||
           kind == HF_STEP_MOVE;
}

static bool returns_rows(const hf_step *s)
{
    return s->kind == HF_STEP_READ || s->kind == HF_STEP_SCAN ||
           s->kind == HF_STEP_LIST ||
           (s->kind == HF_STEP_OTHER &&
            hf_str_same_name((hf_str){s->sql, strnlen(s->sql, 6)},
                             HF_STR("SELECT")));
}

static hf_log_key key_at(const hf_client *c, const hf_step *s,
                         const uint8_t *places, hf_sql_value *parts)
{
    hf_log_key key = {s->table, parts, 0};

    for (unsigned i = 0; i < HF_STEP_KEYS && places[i]; i++)
        if (places[i] <= c->params.n)
            parts[key.n++] = c->params.at[places[i] - 1];
    return key;
}

static hf_log_key key_of(const hf_client *c, const hf_step *s,
                         hf_sql_value *parts)
{
    return key_at(c, s, s->keys, parts);
}

/* Tags come as numbers; what is something else was written by nobody. */
static int64_t tag_in(const hf_sql_value *v)
{
    int64_t tag = INT64_MIN;

    if (v->type == HF_SQL_INT)
        return v->integer;
    if (v->type == HF_SQL_TEXT)
        (void)hf_str_to_int((hf_str){v->text, v->length}, &tag);
    return tag;
}

/* A read, and how it locks: by what its text ends in. */
static unsigned read_kind(const hf_step *s)
{
    static const hf_str update = {" FOR UPDATE", 11},
                        share = {" FOR SHARE", 10};
    hf_str sql = hf_str_of(s->sql);
    hf_str end = {sql.ptr + sql.len - update.len, update.len};

    if (sql.len > update.len && hf_str_eq(end, update))
        return HF_OP_READ | HF_OP_FOR_UPDATE;
    end = (hf_str){sql.ptr + sql.len - share.len, share.len};
    if (sql.len > share.len && hf_str_eq(end, share))
        return HF_OP_READ | HF_OP_FOR_SHARE;
    return HF_OP_READ;
}

static bool only_reads(const hf_step *s)
{
    return returns_rows(s) && read_kind(s) == HF_OP_READ;
}

static void log_read(hf_client *c, const hf_log_key *key, unsigned kind,
                     hf_span at)
{
    if (c->rows.n_rows == 0)
        hf_log_absent(c->log, kind, key, at);
    for (uint64_t i = 0; i < c->rows.n_rows; i++)
        hf_log_value(c->log, kind, key,
                     tag_in(&c->rows.cells[i * c->rows.n_columns]), at);
}

/* ---- ranges -------------------------------------------------------------- */

/* Longer ranges are not written out. */
#define MOST_COVERED 1024u

typedef struct range {
    hf_sql_value key[HF_STEP_KEYS]; /* the last one is the bounded column */
    uint32_t n;
    int64_t first, last;
} range;

void hf_client_covers(hf_client *c, int64_t first, int64_t last)
{
    c->has_cover = !c->no_cover;
    c->cover_first = first;
    c->cover_last = last;
}

static bool number_at(const hf_client *c, uint8_t param, int64_t *ret)
{
    const hf_sql_value *v =
        param > 0 && param <= c->params.n ? &c->params.at[param - 1] : NULL;

    if (v && v->type == HF_SQL_INT)
        *ret = v->integer;
    return v && v->type == HF_SQL_INT;
}

/* False: it is not known which keys the scan looked at, or they are many. */
static bool range_of(const hf_client *c, const hf_step *s, range *ret)
{
    const hf_step_range *r = &s->range;

    ret->n = 0;
    for (; ret->n < HF_STEP_KEYS - 1 && r->prefix[ret->n]; ret->n++) {
        if (r->prefix[ret->n] > c->params.n)
            return false;
        ret->key[ret->n] = c->params.at[r->prefix[ret->n] - 1];
    }
    if (c->has_cover) {
        ret->first = c->cover_first;
        ret->last = c->cover_last;
    } else if (r->first == 0) {
        ret->first = r->lowest;
        ret->last = r->highest;
        if (r->lowest == 0 && r->highest == 0)
            return false;
    } else if (!number_at(c, r->first, &ret->first) ||
               !number_at(c, r->last, &ret->last)) {
        return false;
    }
    if (r->open) {
        ret->first += ret->first < INT64_MAX;
        ret->last -= ret->last > INT64_MIN;
    }
    ret->n++;
    return ret->n == s->keys[0] &&
           (ret->first > ret->last ||
            (uint64_t)ret->last - (uint64_t)ret->first < MOST_COVERED);
}

/* The keys of the range that no row came for. */
static void log_missing(hf_client *c, const hf_step *s, range *r, hf_span at)
{
    uint64_t found[MOST_COVERED / 64] = {0};
    uint32_t n = c->rows.n_columns;

    for (uint64_t i = 0; i < c->rows.n_rows; i++) {
        const hf_sql_value *v = &c->rows.cells[i * n + r->n];
        uint64_t place = (uint64_t)v->integer - (uint64_t)r->first;

        if (v->type == HF_SQL_INT && v->integer >= r->first &&
            v->integer <= r->last)
            found[place / 64] |= (uint64_t)1 << (place % 64);
    }
    for (int64_t k = r->first; k <= r->last; k++) {
        uint64_t place = (uint64_t)k - (uint64_t)r->first;

        if (found[place / 64] >> (place % 64) & 1)
            continue;
        r->key[r->n - 1] = hf_sql_of_int(k);
        hf_log_absent(c->log, HF_OP_READ, &(hf_log_key){s->table, r->key, r->n},
                      at);
    }
}

static void log_scan(hf_client *c, const hf_step *s, unsigned kind, hf_span at)
{
    uint32_t n = c->rows.n_columns;
    range r;

    for (uint64_t i = 0; i < c->rows.n_rows && s->keys[0] < n; i++) {
        const hf_sql_value *row = &c->rows.cells[i * n];

        hf_log_value(c->log, kind, &(hf_log_key){s->table, row + 1, s->keys[0]},
                     tag_in(row), at);
    }
    if (range_of(c, s, &r) && s->keys[0] < n)
        log_missing(c, s, &r, at);
    else
        c->scans++;
}

static void log_list(hf_client *c, const hf_log_key *key, hf_span at)
{
    hf_str text = HF_STR("");

    if (c->rows.n_rows > 0 && c->rows.cells[0].type == HF_SQL_TEXT)
        text = hf_sql_text_of(&c->rows.cells[0]);
    if (c->rows.n_rows > 0 && c->rows.cells[0].type == HF_SQL_INT) {
        char digits[24]; /* a list of one, to a database with loose types */
        int n = snprintf(digits, sizeof(digits), "%lld",
                         (long long)c->rows.cells[0].integer);

        hf_log_list(c->log, key, (hf_str){digits, (size_t)n}, at);
        return;
    }
    hf_log_list(c->log, key, text, at);
}

static unsigned write_kind(hf_step_kind kind)
{
    if (kind == HF_STEP_INSERT)
        return HF_OP_INSERT;
    return kind == HF_STEP_APPEND ? HF_OP_APPEND : HF_OP_WRITE;
}

/* Gone from one key, there at another. */
static void log_move(hf_client *c, const hf_step *s, const hf_log_key *from,
                     hf_span at)
{
    unsigned failed = c->state == HF_CLIENT_REFUSED ? HF_OP_FAILED : 0;
    hf_sql_value parts[HF_STEP_KEYS];
    hf_log_key to = key_at(c, s, s->to, parts);

    if (!failed)
        hf_log_delete(c->log, from, at);
    hf_log_value(c->log, HF_OP_WRITE | failed, &to,
                 hf_tag_of(c->number, c->counter), at);
}

static void log_write(hf_client *c, const hf_step *s, const hf_log_key *key,
                      hf_span at)
{
    bool answered = c->state == HF_CLIENT_LIVE;
    unsigned failed = c->state == HF_CLIENT_REFUSED ? HF_OP_FAILED : 0;

    if (answered && c->rows.affected == 0 && s->guard)
        return; /* of another tag, or absent */
    if (answered && c->rows.affected == 0 &&
        (s->kind == HF_STEP_UPDATE || s->kind == HF_STEP_DELETE ||
         s->kind == HF_STEP_APPEND || s->kind == HF_STEP_MOVE))
        /* it looked as a writer does */
        hf_log_absent(c->log, HF_OP_READ | HF_OP_FOR_UPDATE, key, at);
    else if (s->kind == HF_STEP_MOVE)
        log_move(c, s, key, at);
    else if (s->kind == HF_STEP_DELETE && !failed)
        hf_log_delete(c->log, key, at);
    else if (s->kind != HF_STEP_DELETE)
        hf_log_value(c->log, write_kind(s->kind) | failed, key,
                     hf_tag_of(c->number, c->counter), at);
}

static void log_step(hf_client *c, const hf_step *s, hf_span at)
{
    bool answered = c->state == HF_CLIENT_LIVE;
    hf_sql_value parts[HF_STEP_KEYS];
    hf_log_key key = key_of(c, s, parts);

    if (c->sql)
        hf_log_sql(c->log, s->sql, c->params.at, (uint32_t)c->params.n,
                   answered ? &c->rows : NULL, !answered, at);
    if (writes(s->kind) || s->kind == HF_STEP_DELETE)
        log_write(c, s, &key, at);
    else if (!answered)
        return;
    else if (s->kind == HF_STEP_READ)
        log_read(c, &key, c->read_kind, at);
    else if (s->kind == HF_STEP_SCAN)
        log_scan(c, s, c->read_kind, at);
    else if (s->kind == HF_STEP_LIST)
        log_list(c, &key, at);
}

/* ---- a step -------------------------------------------------------------- */

/* A text means the same each time: it is looked at once. */
static uint32_t get_to_know(hf_client *c, const hf_step *s)
{
    bool rows = returns_rows(s);
    hf_db_statement st = hf_statement_of(c->statements, s->sql, rows);

    hf_vec_push(&c->statement,
                (hf_known_statement){st.number, rows, read_kind(s)});
    hf_map_set(&c->known, (uint64_t)(uintptr_t)s->sql,
               (uint32_t)(c->statement.n - 1));
    return (uint32_t)(c->statement.n - 1);
}

static hf_db_statement statement_of(hf_client *c, const hf_step *s)
{
    uint32_t known = hf_map_get(&c->known, (uint64_t)(uintptr_t)s->sql);
    const hf_known_statement *k;

    if (known == UINT32_MAX)
        known = get_to_know(c, s);
    k = &c->statement.at[known];
    c->read_kind = k->read_kind;
    return (hf_db_statement){.number = k->number,
                             .sql = s->sql,
                             .n_params = (uint32_t)c->params.n,
                             .returns_rows = k->returns_rows};
}

/* The tag of the write in hand, or what is to be added for it. */
static int64_t new_tag(const hf_client *c, const hf_step *s)
{
    int64_t tag = hf_tag_of(c->number, c->counter);

    if (s->guard > 0 && s->guard <= c->params.n)
        tag -= tag_in(&c->params.at[s->guard - 1]);
    return tag;
}

/* The parameters, with the tag in its place; what others may see from now on
 * is made known. */
static void prepare(hf_client *c, const hf_step *s, const hf_sql_value *params,
                    uint32_t n, uint64_t now)
{
    hf_sql_value parts[HF_STEP_KEYS];

    c->params.n = 0;
    hf_vec_reserve(&c->params, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        c->params.at[c->params.n++] = params[i];
    if (writes(s->kind)) {
        c->counter++;
        if (s->tag > 0 && s->tag <= n)
            c->params.at[s->tag - 1] = hf_sql_of_int(new_tag(c, s));
    }
    if (!c->log)
        return;
    if (writes(s->kind))
        hf_log_issued(c->log, c->counter);
    if (s->kind == HF_STEP_DELETE || s->kind == HF_STEP_MOVE) {
        hf_log_key key = key_of(c, s, parts);

        hf_log_deleting(c->log, &key, now);
    }
}

bool hf_client_step(hf_client *c, const hf_step *step,
                    const hf_sql_value *params, uint32_t n,
                    const hf_sql_result **ret_rows)
{
    hf_db_statement statement;
    hf_span at;

    if (c->looks && !only_reads(step))
        c->looked = true;
    if (c->state != HF_CLIENT_LIVE || c->looked)
        return false;
    c->seen++;
    at.start = hf_client_now(c);
    prepare(c, step, params, n, at.start);
    statement = statement_of(c, step);
    if (c->hooks)
        c->hooks->before(c->hooks_user, step);
    c->db->driver->execute(c->session, &statement, c->params.at,
                           (uint32_t)c->params.n, &c->rows, &c->answer);
    at.end = hf_client_now(c);
    c->state = state_of(c->answer.status);
    if (c->state == HF_CLIENT_LOST)
        at.end = HF_TIME_NONE;
    if (c->log)
        log_step(c, step, at);
    c->has_cover = false;
    if (c->hooks)
        c->hooks->after(c->hooks_user, c, step);
    if (ret_rows)
        *ret_rows = &c->rows;
    return c->state == HF_CLIENT_LIVE;
}

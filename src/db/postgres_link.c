/* postgres_link.c: one connection to PostgreSQL, never waiting for ever.
 *
 * libpq is used in its asynchronous form: send, then poll() on its socket and
 * on the session's wake-up descriptor until the answer is there, the deadline
 * has passed, or somebody woke us.  After the last two, and after any loss, the
 * link is lost for good: the socket is shut down at once, so that the server
 * ends the transaction (it looks for that even while it waits for a lock, see
 * hf_pg_join), and closed with the session.
 *
 * SQLSTATE decides what an error means; see `meanings`.
 */
#include "db/postgres.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what errors mean ---------------------------------------------------- */

/* The longest prefix counts; what is not here is HF_DB_FAILED. */
static const struct meaning {
    const char *state;
    hf_db_status status;
} meanings[] = {
    {"08", HF_DB_LOST},       /* connection */
    {"22", HF_DB_REFUSED},    /* value out of range, division by zero */
    {"23", HF_DB_REFUSED},    /* unique, foreign key, check, not null */
    {"25P02", HF_DB_REFUSED}, /* the transaction had an error before */
    {"25P03", HF_DB_LOST},    /* idle for too long: connection ended */
    {"40", HF_DB_ABORTED},    /* serialization failure, deadlock */
    {"40003", HF_DB_LOST},    /* completion unknown */
    {"44", HF_DB_REFUSED},    /* check of a view */
    {"53200", HF_DB_ABORTED}, /* no room for its locks or conflicts just now */
    {"55P03", HF_DB_ABORTED}, /* lock not available */
    {"57014", HF_DB_ABORTED}, /* cancelled, statement timeout */
    {"57P", HF_DB_LOST},      /* shutdown, crash, starting up */
    {"P0001", HF_DB_REFUSED}, /* raised by the application */
};

static hf_db_status meaning_of(const char *state)
{
    hf_db_status found = HF_DB_FAILED;
    size_t longest = 0;

    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        size_t n = strlen(meanings[i].state);

        if (n > longest && strncmp(state, meanings[i].state, n) == 0) {
            longest = n;
            found = meanings[i].status;
        }
    }
    return found;
}

static void say_error(const PGresult *r, hf_db_answer *ret)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

    if (!state) { /* libpq's own: the connection has gone */
        hf_db_answer_set(ret, HF_DB_LOST, "08006", "the connection was lost");
        return;
    }
    hf_db_answer_set(ret, meaning_of(state), state, "%s", text ? text : "");
}

/* ---- calls --------------------------------------------------------------- */

void hf_pg_link_drop(hf_pg_link *l)
{
    l->lost = true;
    if (l->c && PQsocket(l->c) >= 0)
        (void)shutdown(PQsocket(l->c), SHUT_RDWR);
}

/* An old server does not notice that nobody listens. */
static void cancel(const hf_pg_link *l)
{
    PGcancel *c = l->cancel ? PQgetCancel(l->c) : NULL;
    char text[256];

    if (!c)
        return;
    (void)PQcancel(c, text, sizeof(text));
    PQfreeCancel(c);
}

static void give_up(hf_pg_link *l, const char *why, hf_db_answer *ret)
{
    cancel(l);
    hf_pg_link_drop(l);
    hf_db_answer_set(ret, HF_DB_LOST, "", "%s", why);
}

/* Waits for the socket.  NULL: it is ready; else why it will not be. */
static const char *wait_socket(const hf_pg_link *l, short events,
                               uint64_t deadline)
{
    for (;;) {
        struct pollfd on[2] = {{PQsocket(l->c), events, 0},
                               {l->wake, POLLIN, 0}};
        uint64_t now = hf_db_clock();
        int n;

        if (now >= deadline)
            return "no answer before the deadline";
        n = poll(on, 2, (int)((deadline - now) / 1000000u) + 1);
        if (n < 0 && errno != EINTR)
            return "could not wait for the server";
        if (n > 0 && on[1].revents)
            return "interrupted";
        if (n > 0)
            return NULL;
    }
}

/* All that was sent is on its way. */
static bool flush(hf_pg_link *l, uint64_t deadline, hf_db_answer *ret)
{
    const char *why;
    int left;

    while ((left = PQflush(l->c)) > 0) {
        why = wait_socket(l, POLLIN | POLLOUT, deadline);
        if (why) {
            give_up(l, why, ret);
            return false;
        }
        if (PQconsumeInput(l->c) != 1)
            break;
    }
    return true; /* a broken connection shows in the result */
}

/* The next result, NULL after the last.  False: given up. */
static bool next_result(hf_pg_link *l, uint64_t deadline, PGresult **ret_result,
                        hf_db_answer *ret)
{
    const char *why;

    while (PQisBusy(l->c)) {
        why = wait_socket(l, POLLIN, deadline);
        if (why) {
            give_up(l, why, ret);
            return false;
        }
        if (PQconsumeInput(l->c) != 1)
            break; /* the result says so */
    }
    *ret_result = PQgetResult(l->c);
    return true;
}

/* The answer to what was sent: the first error, or the last result. */
static void collect(hf_pg_link *l, uint64_t deadline, PGresult **ret_result,
                    hf_db_answer *ret)
{
    PGresult *last = NULL, *r = NULL;

    hf_db_answer_ok(ret);
    if (!flush(l, deadline, ret))
        return;
    while (next_result(l, deadline, &r, ret) && r) {
        ExecStatusType s = PQresultStatus(r);

        if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK &&
            s != PGRES_EMPTY_QUERY && ret->status == HF_DB_OK)
            say_error(r, ret);
        PQclear(last);
        last = r;
        if (s == PGRES_COPY_IN || s == PGRES_COPY_OUT) {
            give_up(l, "COPY is not for this", ret);
            break;
        }
    }
    if (ret->status == HF_DB_OK && PQstatus(l->c) != CONNECTION_OK)
        hf_db_answer_set(ret, HF_DB_LOST, "08006", "the connection was lost");
    if (ret->status == HF_DB_LOST || PQstatus(l->c) != CONNECTION_OK)
        hf_pg_link_drop(l);
    if (ret->status == HF_DB_OK && ret_result)
        *ret_result = last;
    else
        PQclear(last);
}

static bool usable(const hf_pg_link *l, hf_db_answer *ret)
{
    if (l->c && !l->lost)
        return true;
    hf_db_answer_set(ret, HF_DB_LOST, "08003", "there is no connection");
    return false;
}

static void not_sent(hf_pg_link *l, hf_db_answer *ret)
{
    give_up(l, "the connection was lost", ret);
}

void hf_pg_link_ask(hf_pg_link *l, const char *sql, uint64_t deadline,
                    PGresult **ret_result, hf_db_answer *ret)
{
    if (!usable(l, ret))
        return;
    if (PQsendQuery(l->c, sql) != 1)
        not_sent(l, ret);
    else
        collect(l, deadline, ret_result, ret);
}

/* Its name on the server; prepares it if need be. */
static bool prepare(hf_pg_link *l, const hf_db_statement *s, uint64_t deadline,
                    char *name, size_t size, hf_db_answer *ret)
{
    hf_pg_prepared *p;
    bool known;

    while (l->prepared.n <= s->number)
        hf_vec_push(&l->prepared, (hf_pg_prepared){NULL, 0});
    p = &l->prepared.at[s->number];
    known = p->sql && strcmp(p->sql, s->sql) == 0;
    if (!known && p->sql) {
        p->version++; /* the number means something else now */
        hf_free(p->sql);
        p->sql = NULL;
    }
    (void)snprintf(name, size, "s%u_%u", s->number, p->version);
    if (known)
        return true;
    if (PQsendPrepare(l->c, name, s->sql, 0, NULL) != 1) {
        not_sent(l, ret);
        return false;
    }
    collect(l, deadline, NULL, ret);
    if (ret->status != HF_DB_OK)
        return false;
    p->sql = hf_alloc(strlen(s->sql) + 1);
    memcpy(p->sql, s->sql, strlen(s->sql) + 1);
    return true;
}

void hf_pg_link_execute(hf_pg_link *l, const hf_db_statement *s,
                        const char *const *params, uint32_t n,
                        uint64_t deadline, PGresult **ret_result,
                        hf_db_answer *ret)
{
    char name[32];

    if (!usable(l, ret) || !prepare(l, s, deadline, name, sizeof(name), ret))
        return;
    if (PQsendQueryPrepared(l->c, name, (int)n, params, NULL, NULL, 0) != 1)
        not_sent(l, ret);
    else
        collect(l, deadline, ret_result, ret);
}

/* ---- beginning and end --------------------------------------------------- */

/* libpq's message in one line. */
static hf_status connect_failed(const hf_pg_link *l, hf_error *err)
{
    char text[300];
    size_t n;

    (void)snprintf(text, sizeof(text), "%s", PQerrorMessage(l->c));
    n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return hf_fail(err, HF_ERR_IO, "%s", text);
}

static void quiet(void *user, const PGresult *r)
{
    (void)user;
    (void)r;
}

hf_status hf_pg_link_open(hf_pg_link *l, const char *info, int wake,
                          uint64_t deadline, hf_error *err)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    l->lost = l->cancel = false;
    l->wake = wake;
    l->c = PQconnectStart(info);
    if (!l->c || PQstatus(l->c) == CONNECTION_BAD) {
        hf_status st = connect_failed(l, err);

        hf_pg_link_close(l);
        return st;
    }
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        const char *why = wait_socket(
            l, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);

        if (why) {
            hf_pg_link_close(l);
            return hf_fail(err, HF_ERR_LIMIT,
                           "could not connect to PostgreSQL: %s", why);
        }
        state = PQconnectPoll(l->c);
    }
    if (state == PGRES_POLLING_OK) {
        (void)PQsetnonblocking(l->c, 1);
        (void)PQsetNoticeReceiver(l->c, quiet, NULL);
        return HF_OK;
    }
    (void)connect_failed(l, err);
    hf_pg_link_close(l);
    return HF_ERR_IO;
}

void hf_pg_link_close(hf_pg_link *l)
{
    if (l->c)
        PQfinish(l->c);
    l->c = NULL;
    for (size_t i = 0; i < l->prepared.n; i++)
        hf_free(l->prepared.at[i].sql);
    hf_vec_release(&l->prepared);
}

/* mariadb_link.c: one connection to MariaDB, never waiting for ever.
 *
 * libmariadb is used in its non-blocking form: a call is started, and as long
 * as it wants to wait we poll() its socket and the session's wake-up descriptor
 * for it.  When the deadline has passed or somebody woke us, the call is left
 * where it is and the socket is shut down: the link is lost for good.  The
 * server does not notice that while it waits for a lock, so the session has it
 * killed (see mariadb.c).
 *
 * The number of an error, else its SQLSTATE, says what it means.
 */
#include "db/mariadb.h"

#include <errno.h>
#include <errmsg.h>
#include <mysqld_error.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what errors mean ---------------------------------------------------- */

static const struct meaning {
    unsigned number;
    hf_db_status status;
} meanings[] = {
    {ER_CHECKREAD, HF_DB_ABORTED},         /* changed since the snapshot */
    {ER_LOCK_WAIT_TIMEOUT, HF_DB_ABORTED}, /* the driver rolls back */
    {ER_LOCK_DEADLOCK, HF_DB_ABORTED},     /* and Galera's conflicts */
    {ER_UNKNOWN_COM_ERROR, HF_DB_ABORTED}, /* Galera: no majority */
    {ER_STATEMENT_TIMEOUT, HF_DB_ABORTED},
    {ER_ERROR_DURING_COMMIT, HF_DB_LOST},
    {ER_SERVER_SHUTDOWN, HF_DB_LOST},
    {ER_NORMAL_SHUTDOWN, HF_DB_LOST},
    {ER_QUERY_INTERRUPTED, HF_DB_LOST}, /* of a server that shuts down */
    {ER_CONNECTION_KILLED, HF_DB_LOST},
    {ER_NEW_ABORTING_CONNECTION, HF_DB_LOST},
    {ER_ABORTING_CONNECTION, HF_DB_LOST},
    {ER_NET_READ_ERROR, HF_DB_LOST},
    {ER_NET_READ_INTERRUPTED, HF_DB_LOST},
    {ER_NET_ERROR_ON_WRITE, HF_DB_LOST},
    {ER_NET_WRITE_INTERRUPTED, HF_DB_LOST},
    {CR_CONNECTION_ERROR, HF_DB_LOST},
    {CR_CONN_HOST_ERROR, HF_DB_LOST},
    {CR_SERVER_GONE_ERROR, HF_DB_LOST},
    {CR_SERVER_LOST, HF_DB_LOST},
    {CR_SERVER_LOST_EXTENDED, HF_DB_LOST},
};

static hf_db_status meaning_of(unsigned number, const char *state)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].number == number)
            return meanings[i].status;
    if (strncmp(state, "08", 2) == 0)
        return HF_DB_LOST;
    if (strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0)
        return HF_DB_REFUSED; /* values, constraints */
    if (strncmp(state, "40", 2) == 0)
        return HF_DB_ABORTED;
    return number == ER_CONSTRAINT_FAILED ? HF_DB_REFUSED : HF_DB_FAILED;
}

static void drop(hf_my_link *l)
{
    l->lost = true;
    if (l->c && mysql_get_socket(l->c) != MARIADB_INVALID_SOCKET)
        (void)shutdown(mysql_get_socket(l->c), SHUT_RDWR);
}

static void say_error(hf_my_link *l, unsigned number, const char *state,
                      const char *text, hf_db_answer *ret)
{
    char code[16];

    (void)snprintf(code, sizeof(code), "%u", number);
    hf_db_answer_set(ret, meaning_of(number, state), code, "%s", text);
    if (ret->status == HF_DB_LOST)
        drop(l);
}

/* ---- waiting ------------------------------------------------------------- */

static void give_up(hf_my_link *l, const char *why, hf_db_answer *ret)
{
    l->left = true;
    drop(l);
    hf_db_answer_set(ret, HF_DB_LOST, "", "%s", why);
}

/* Waits for what the library waits for: *status, which becomes what came of
 * it.  NULL: something did; else why nothing will. */
static const char *wait_for(const hf_my_link *l, int *status, uint64_t deadline)
{
    uint64_t until = deadline;
    bool timer = (*status & MYSQL_WAIT_TIMEOUT) != 0;
    short events = 0;

    if (timer) {
        uint64_t ms = mysql_get_timeout_value_ms(l->c);

        if (hf_db_clock() + ms * 1000000u < until)
            until = hf_db_clock() + ms * 1000000u;
    }
    if (*status & MYSQL_WAIT_READ)
        events |= POLLIN;
    if (*status & MYSQL_WAIT_WRITE)
        events |= POLLOUT;
    if (*status & MYSQL_WAIT_EXCEPT)
        events |= POLLPRI;
    for (;;) {
        struct pollfd on[2] = {{mysql_get_socket(l->c), events, 0},
                               {l->wake, POLLIN, 0}};
        uint64_t now = hf_db_clock();
        int n =
            poll(on, 2, now < until ? (int)((until - now) / 1000000u) + 1 : 0);

        if (n < 0 && errno != EINTR)
            return "could not wait for the server";
        if (n > 0 && on[1].revents)
            return "interrupted";
        if (n > 0) {
            *status =
                (on[0].revents & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
                (on[0].revents & POLLPRI ? MYSQL_WAIT_EXCEPT : 0) |
                (on[0].revents & ~(POLLOUT | POLLPRI) ? MYSQL_WAIT_READ : 0);
            return NULL;
        }
        if (hf_db_clock() >= deadline)
            return "no answer before the deadline";
        if (timer && hf_db_clock() >= until) {
            *status = MYSQL_WAIT_TIMEOUT;
            return NULL;
        }
    }
}

/* Runs a call of the library to its end; false in its place: given up.  `cont`
 * goes on with the variable `events`. */
#define RUN(l, deadline, ret, done, start, cont)                               \
    do {                                                                       \
        int events = (start);                                                  \
        const char *why = NULL;                                                \
        while (events != 0 && !why) {                                          \
            why = wait_for((l), &events, (deadline));                          \
            if (!why)                                                          \
                events = (cont);                                               \
        }                                                                      \
        (done) = !why;                                                         \
        if (why)                                                               \
            give_up((l), why, (ret));                                          \
    } while (0)

static bool usable(const hf_my_link *l, hf_db_answer *ret)
{
    hf_db_answer_ok(ret);
    if (l->c && !l->lost)
        return true;
    hf_db_answer_set(ret, HF_DB_LOST, "2006", "there is no connection");
    return false;
}

/* ---- calls --------------------------------------------------------------- */

static void say(hf_my_link *l, hf_db_answer *ret)
{
    say_error(l, mysql_errno(l->c), mysql_sqlstate(l->c), mysql_error(l->c),
              ret);
}

void hf_my_link_ask(hf_my_link *l, const char *sql, uint64_t deadline,
                    MYSQL_RES **ret_result, hf_db_answer *ret)
{
    MYSQL_RES *rows = NULL;
    bool done;
    int failed = 0;

    if (ret_result)
        *ret_result = NULL;
    if (!usable(l, ret))
        return;
    RUN(l, deadline, ret, done,
        mysql_real_query_start(&failed, l->c, sql, strlen(sql)),
        mysql_real_query_cont(&failed, l->c, events));
    if (!done)
        return;
    if (failed) {
        say(l, ret);
        return;
    }
    if (mysql_field_count(l->c) == 0)
        return;
    RUN(l, deadline, ret, done, mysql_store_result_start(&rows, l->c),
        mysql_store_result_cont(&rows, l->c, events));
    if (!done)
        return;
    if (!rows)
        say(l, ret);
    else if (ret_result)
        *ret_result = rows;
    else
        mysql_free_result(rows);
}

static void say_statement(hf_my_link *l, MYSQL_STMT *s, hf_db_answer *ret)
{
    say_error(l, mysql_stmt_errno(s), mysql_stmt_sqlstate(s),
              mysql_stmt_error(s), ret);
}

static void forget(hf_my_prepared *p)
{
    if (p->statement)
        (void)mysql_stmt_close(p->statement);
    hf_free(p->source);
    hf_my_sql_release(&p->sql);
    memset(p, 0, sizeof(*p));
}

/* The statement as the server has it; NULL: see answer. */
static hf_my_prepared *prepare(hf_my_link *l, const hf_db_statement *s,
                               uint64_t deadline, hf_db_answer *ret)
{
    hf_my_prepared *p;
    size_t n = strlen(s->sql) + 1;
    bool done, yes = true;
    int failed = 0;

    while (l->prepared.n <= s->number)
        hf_vec_push(&l->prepared, (hf_my_prepared){0});
    p = &l->prepared.at[s->number];
    if (p->source && strcmp(p->source, s->sql) == 0)
        return p;
    forget(p);
    hf_my_rewrite(s->sql, &p->sql);
    p->statement = mysql_stmt_init(l->c);
    if (!p->statement) {
        say(l, ret);
        return NULL;
    }
    (void)mysql_stmt_attr_set(p->statement, STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
    RUN(l, deadline, ret, done,
        mysql_stmt_prepare_start(&failed, p->statement, p->sql.text,
                                 strlen(p->sql.text)),
        mysql_stmt_prepare_cont(&failed, p->statement, events));
    if (!done)
        return NULL;
    if (failed) {
        say_statement(l, p->statement, ret);
        return NULL;
    }
    p->source = hf_alloc(n);
    memcpy(p->source, s->sql, n);
    return p;
}

/* Sends the values and waits for the answer. */
static bool perform(hf_my_link *l, hf_my_prepared *p,
                    const hf_sql_value *params, hf_arena *scratch,
                    uint64_t deadline, hf_db_answer *ret)
{
    MYSQL_BIND *values = hf_arena_get(scratch, ((size_t)p->sql.n_places + 1) *
                                                   sizeof(MYSQL_BIND));
    bool done;
    int failed = 0;

    hf_my_params(&p->sql, params, values, scratch);
    if (p->sql.n_places > 0 && mysql_stmt_bind_param(p->statement, values)) {
        say_statement(l, p->statement, ret);
        return false;
    }
    RUN(l, deadline, ret, done, mysql_stmt_execute_start(&failed, p->statement),
        mysql_stmt_execute_cont(&failed, p->statement, events));
    if (!done)
        return false;
    if (!failed && mysql_stmt_field_count(p->statement) > 0) {
        RUN(l, deadline, ret, done,
            mysql_stmt_store_result_start(&failed, p->statement),
            mysql_stmt_store_result_cont(&failed, p->statement, events));
        if (!done)
            return false;
    }
    if (failed)
        say_statement(l, p->statement, ret);
    return !failed;
}

void hf_my_link_execute(hf_my_link *l, const hf_db_statement *s,
                        const hf_sql_value *params, uint32_t n_params,
                        hf_arena *scratch, uint64_t deadline,
                        hf_sql_result *rows, hf_db_answer *ret)
{
    hf_my_prepared *p = usable(l, ret) ? prepare(l, s, deadline, ret) : NULL;

    if (!p)
        return;
    for (uint32_t i = 0; i < p->sql.n_places; i++)
        if (p->sql.places[i] >= n_params) {
            hf_db_answer_set(ret, HF_DB_FAILED, "",
                             "the statement has more parameters than values");
            return;
        }
    if (mysql_stmt_param_count(p->statement) != p->sql.n_places) {
        hf_db_answer_set(ret, HF_DB_FAILED, "",
                         "the server counts other parameters than we do");
        return;
    }
    if (!perform(l, p, params, scratch, deadline, ret))
        return;
    if (mysql_stmt_field_count(p->statement) == 0)
        rows->affected =
            p->sql.upsert ? 1 : mysql_stmt_affected_rows(p->statement);
    else if (hf_my_rows(p->statement, scratch, rows, ret))
        (void)mysql_stmt_free_result(p->statement);
}

/* ---- beginning and end --------------------------------------------------- */

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void start_library(void)
{
    (void)mysql_server_init(0, NULL, NULL);
}

static void set_options(MYSQL *c, const hf_my_target *t)
{
    const unsigned tcp = MYSQL_PROTOCOL_TCP, seconds = 60, none = 0;

    (void)mysql_optionsv(c, MYSQL_OPT_NONBLOCK, 0);
    (void)mysql_optionsv(c, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    (void)mysql_optionsv(c, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    (void)mysql_optionsv(c, MYSQL_OPT_LOCAL_INFILE, &none);
    if (!t->socket)
        (void)mysql_optionsv(c, MYSQL_OPT_PROTOCOL, &tcp);
}

hf_status hf_my_link_open(hf_my_link *l, const hf_my_target *t, int wake,
                          uint64_t deadline, hf_error *err)
{
    hf_db_answer a = {0};
    MYSQL *connected = NULL;
    bool done;

    (void)pthread_once(&library_once, start_library);
    l->lost = l->left = false;
    l->wake = wake;
    l->c = mysql_init(NULL);
    if (!l->c)
        return hf_fail(err, HF_ERR_IO, "no memory for a connection");
    set_options(l->c, t);
    RUN(l, deadline, &a, done,
        mysql_real_connect_start(&connected, l->c, t->host, t->user,
                                 t->password ? t->password : "", NULL, t->port,
                                 t->socket, CLIENT_FOUND_ROWS),
        mysql_real_connect_cont(&connected, l->c, events));
    if (done && connected)
        return HF_OK;
    if (done)
        hf_db_answer_set(&a, HF_DB_LOST, "", "%s", mysql_error(l->c));
    hf_my_link_close(l);
    return hf_fail(err, done ? HF_ERR_IO : HF_ERR_LIMIT,
                   "could not connect to MariaDB: %s", a.text);
}

void hf_my_link_close(hf_my_link *l)
{
    if (l->c)
        mysql_close(l->c); /* its statements are ours alone then */
    l->c = NULL;
    for (size_t i = 0; i < l->prepared.n; i++)
        forget(&l->prepared.at[i]);
    hf_vec_release(&l->prepared);
}

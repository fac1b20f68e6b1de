/* sqlite_processes.c: SQLite with a process of its own for every client.
 *
 * Locks of a file are kept by the system for processes, those between threads
 * of one process by SQLite itself; and only a process can be killed.  So here
 * each session is a worker: a process that opens the file by the driver of
 * sqlite.c, is sent calls and sends answers.  The faults kill (-9) and pause
 * strike one of them, in the middle of whatever it does; the others have to
 * find out and roll back what it left (hot journal, WAL).
 *
 * SQLite must not be carried over a fork.  So before this process has opened
 * the file it forks the nursery, a small process that does nothing but fork
 * workers, kill them when asked to, and end with us: then the system ends the
 * workers, too.  Messages are of this program on this machine: plain structs,
 * texts after them.
 *
 * What it does not do: shared-cache, which is one process by its nature.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "db/common.h"
#include "db/drivers.h"
#include "model/witness.h"
#include "sql/value.h"

#define MOST_BYTES ((size_t)1 << 30) /* of a message */
#define GRACE_NS 2000000000u         /* a worker has its own deadline */

typedef HF_VEC(char) bytes;

/* ---- messages ------------------------------------------------------------ */

typedef enum what { BEGIN, EXECUTE, COMMIT, ABORT } what;

typedef struct call {
    uint32_t what, level, read_only;
    uint32_t number, n_params, returns_rows, sql_length;
} call;

typedef struct reply {
    hf_db_answer answer;
    uint32_t n_columns;
    uint64_t n_rows, affected;
} reply;

typedef struct reader {
    const char *at;
    size_t left;
    bool short_of; /* more was asked for than there is */
} reader;

static void put(bytes *b, const void *from, size_t n)
{
    hf_vec_reserve(b, n);
    if (n > 0)
        memcpy(b->at + b->n, from, n);
    b->n += n;
}

static const char *take(reader *r, size_t n)
{
    const char *at = r->at;

    if (n > r->left) {
        r->short_of = true;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return at;
}

static bool get(reader *r, void *to, size_t n)
{
    const char *from = take(r, n);

    if (from)
        memcpy(to, from, n);
    return from != NULL;
}

static void put_value(bytes *b, const hf_sql_value *v)
{
    put(b, v, sizeof(*v));
    if (v->type == HF_SQL_TEXT)
        put(b, v->text, v->length);
}

/* The text stays in the message, or goes to the arena. */
static bool get_value(reader *r, hf_arena *arena, hf_sql_value *ret)
{
    if (!get(r, ret, sizeof(*ret)))
        return false;
    if (ret->type != HF_SQL_TEXT)
        return true;
    ret->text = take(r, ret->length);
    if (ret->text && arena)
        ret->text = hf_arena_text(arena, ret->text, ret->length);
    return ret->text != NULL;
}

static bool send_all(int fd, const void *from, size_t n)
{
    const char *at = from;

    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_message(int fd, const bytes *b)
{
    uint32_t n = (uint32_t)b->n;

    return send_all(fd, &n, sizeof(n)) && send_all(fd, b->at, b->n);
}

/* Until `deadline` (UINT64_MAX: no end). */
static bool receive(int fd, void *to, size_t n, uint64_t deadline)
{
    char *at = to;

    while (n > 0) {
        struct pollfd p = {fd, POLLIN, 0};
        uint64_t now = hf_db_clock();
        int wait = -1;
        ssize_t got;

        if (deadline != UINT64_MAX)
            wait = now < deadline ? (int)((deadline - now) / 1000000) + 1 : 0;
        if (poll(&p, 1, wait) == 0)
            return false;
        got = recv(fd, at, n, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool receive_message(int fd, bytes *b, uint64_t deadline)
{
    uint32_t n;

    b->n = 0;
    if (!receive(fd, &n, sizeof(n), deadline) || n > MOST_BYTES)
        return false;
    hf_vec_reserve(b, n);
    b->n = n;
    return receive(fd, b->at, n, deadline);
}

/* ---- a worker ------------------------------------------------------------ */

typedef struct worker {
    hf_db *db;
    hf_db_session *session;
    bytes in, out;
    HF_VEC(hf_sql_value) params;
    hf_sql_result rows;
} worker;

static bool read_params(worker *w, reader *r, uint32_t n)
{
    hf_sql_value v;

    w->params.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!get_value(r, NULL, &v))
            return false;
        hf_vec_push(&w->params, v);
    }
    return true;
}

static void write_reply(worker *w, reply *a, bool with_rows)
{
    w->out.n = 0;
    if (with_rows) {
        a->n_columns = w->rows.n_columns;
        a->n_rows = w->rows.n_rows;
        a->affected = w->rows.affected;
    }
    put(&w->out, a, sizeof(*a));
    for (uint32_t i = 0; i < a->n_columns; i++) {
        uint32_t n = (uint32_t)w->rows.names[i].len;

        put(&w->out, &n, sizeof(n));
        put(&w->out, w->rows.names[i].ptr, n);
    }
    for (uint64_t i = 0; i < a->n_rows * a->n_columns; i++)
        put_value(&w->out, &w->rows.cells[i]);
}

/* False: no sense can be made of it. */
static bool answer_call(worker *w)
{
    const hf_db_driver *d = w->db->driver;
    reader r = {w->in.at, w->in.n, false};
    reply a;
    call c;

    memset(&a, 0, sizeof(a));
    if (!get(&r, &c, sizeof(c)))
        return false;
    if (c.what == BEGIN) {
        d->begin(w->session, (hf_db_level)c.level, c.read_only, &a.answer);
    } else if (c.what == COMMIT) {
        d->commit(w->session, &a.answer);
    } else if (c.what == ABORT) {
        d->abort(w->session, &a.answer);
    } else {
        hf_db_statement s = {c.number, take(&r, c.sql_length), c.n_params,
                             c.returns_rows};

        if (!s.sql || s.sql[c.sql_length - 1] != '\0' ||
            !read_params(w, &r, c.n_params))
            return false;
        d->execute(w->session, &s, w->params.at, c.n_params, &w->rows,
                   &a.answer);
    }
    write_reply(w, &a, c.what == EXECUTE && a.answer.status == HF_DB_OK);
    return true;
}

/* In the worker's process; does not return. */
static void work(int fd, unsigned client, const hf_db_options *o)
{
    worker w = {0};
    hf_error err = {0};
    hf_status st = hf_db_sqlite.open(o, &w.db, &err);
    reply first;

    hf_sql_result_init(&w.rows);
    if (st == HF_OK)
        st = hf_db_sqlite.connect(w.db, client, &w.session, &err);
    memset(&first, 0, sizeof(first));
    if (st != HF_OK)
        hf_db_answer_set(&first.answer, HF_DB_FAILED, "", "%s", err.text);
    write_reply(&w, &first, false);
    if (!send_message(fd, &w.out) || st != HF_OK)
        _exit(1);
    while (receive_message(fd, &w.in, UINT64_MAX) && answer_call(&w) &&
           send_message(fd, &w.out))
        ;
    hf_db_sqlite.disconnect(w.session);
    hf_db_close(w.db); /* the file is not its own: it stays */
    _exit(0);
}

/* ---- the nursery --------------------------------------------------------- */

typedef struct order {
    int32_t signal; /* 0: a new worker, its socket comes along */
    unsigned client;
    pid_t pid;
    char path[400];
    char variant[40];
    double call_seconds;
} order;

static int fd_in(struct msghdr *m)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fd = -1;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

static pid_t raise_worker(int nursery, int fd, const order *o)
{
    pid_t us = getpid(), child = fork();

    if (child == 0) {
        hf_db_options options = {.address = o->path,
                                 .variant = o->variant,
                                 .call_seconds = o->call_seconds,
                                 .clients = 1};

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)prctl(PR_SET_NAME, "hf-worker");
        if (getppid() != us)
            _exit(1);
        (void)close(nursery);
        work(fd, o->client, &options);
    }
    return child;
}

/* Only children that were not waited for are signalled: a number that is used
 * anew by another process is not among them. */
static bool is_child(pid_t pid)
{
    siginfo_t info = {0};

    return pid > 0 &&
           waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void nurse(int fd)
{
    for (;;) {
        order o;
        struct iovec part = {&o, sizeof(o)};
        _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
        struct msghdr m = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = room,
                           .msg_controllen = sizeof(room)};
        ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
        pid_t done = 0;
        int client;

        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof(o))
            _exit(0);
        client = fd_in(&m);
        if (o.signal == 0 && client >= 0)
            done = raise_worker(fd, client, &o);
        else if (is_child(o.pid) && kill(o.pid, o.signal) == 0)
            done = o.pid;
        if (client >= 0)
            (void)close(client);
        if (o.signal == 0) /* now and then */
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        if (send(fd, &done, sizeof(done), MSG_NOSIGNAL) < 0)
            _exit(0);
    }
}

static void become_nursery(int fd)
{
    int null = open("/dev/null", O_RDWR);

    (void)setsid();
    (void)prctl(PR_SET_NAME, "hf-nursery");
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGALRM, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    if (null < 0)
        _exit(1);
    for (int i = 0; i < 3; i++)
        if (null != i)
            (void)dup2(null, i);
    if (fd != 3)
        (void)dup2(fd, 3);
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    (void)close_range(4, ~0u, 0);
    nurse(3);
}

/* ---- the database -------------------------------------------------------- */

typedef struct database {
    hf_db base;
    hf_db_directory directory;
    hf_db *file; /* our own look at it: makes it, empties it, removes it */
    char path[400];
    char variant[40];
    pid_t nursery;
    int socket;
    pthread_mutex_t mutex; /* one order at a time */
    hf_db_roster roster;
    pid_t paused;
} database;

typedef struct session {
    hf_db_session base;
    hf_db_member member;
    pid_t pid;
    int fd;
    bool lost;
    bytes in, out;
} session;

/* The worker's number; 0: it could not be done. */
static pid_t give_order(database *d, order *o, int fd)
{
    struct iovec part = {o, sizeof(*o)};
    _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    pid_t done = 0;

    if (fd >= 0) {
        struct cmsghdr *c;

        m.msg_control = room;
        m.msg_controllen = sizeof(room);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    (void)pthread_mutex_lock(&d->mutex);
    if (sendmsg(d->socket, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*o) &&
        recv(d->socket, &done, sizeof(done), 0) != (ssize_t)sizeof(done))
        done = 0;
    (void)pthread_mutex_unlock(&d->mutex);
    return done;
}

static bool signal_worker(database *d, pid_t pid, int signal)
{
    order o;

    memset(&o, 0, sizeof(o));
    o.signal = signal;
    o.pid = pid;
    return give_order(d, &o, -1) == pid;
}

static void close_database(hf_db *db)
{
    database *d = (database *)(void *)db;

    if (d->socket >= 0)
        (void)close(d->socket);
    if (d->nursery > 0)
        while (waitpid(d->nursery, NULL, 0) < 0 && errno == EINTR)
            ;
    hf_db_close(d->file);
    hf_db_directory_close(&d->directory);
    hf_db_roster_release(&d->roster);
    (void)pthread_mutex_destroy(&d->mutex);
    hf_free(d);
}

static hf_status start_nursery(database *d, hf_error *err)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return hf_fail(err, HF_ERR_IO, "could not make a socket: %s",
                       strerror(errno));
    d->nursery = fork();
    if (d->nursery == 0)
        become_nursery(pair[1]);
    (void)close(pair[1]);
    d->socket = pair[0];
    if (d->nursery < 0)
        return hf_fail(err, HF_ERR_IO, "could not start a process: %s",
                       strerror(errno));
    return HF_OK;
}

static hf_status choose_file(database *d, const hf_db_options *o, hf_error *err)
{
    const char *variant = o->variant ? o->variant : "wal";
    const char *address = o->address;
    hf_status st = HF_OK;

    if (strcmp(variant, "shared-cache") == 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "a shared cache is of one process: use sqlite");
    (void)snprintf(d->variant, sizeof(d->variant), "%s", variant);
    if (!address)
        st = hf_db_directory_make(&d->directory, "SQLite", o->directory,
                                  o->keep, err);
    if (st != HF_OK)
        return st;
    if (address && strncmp(address, "//", 2) == 0)
        address += 2;
    if (snprintf(d->path, sizeof(d->path), "%s%s",
                 address ? address : hf_db_directory_path(&d->directory),
                 address ? "" : "/sqlite.db") >= (int)sizeof(d->path))
        return hf_fail(err, HF_ERR_USAGE, "the path of the file is too long");
    return HF_OK;
}

static hf_status open_database(const hf_db_options *o, hf_db **ret,
                               hf_error *err)
{
    database *d = HF_NEW(database);
    hf_db_options inner = *o;
    hf_status st;

    d->base.driver = &hf_db_sqlite_processes;
    d->base.options = *o;
    d->socket = -1;
    (void)pthread_mutex_init(&d->mutex, NULL);
    hf_db_roster_init(&d->roster);
    st = start_nursery(d, err); /* first: see the head */
    if (st == HF_OK)
        st = choose_file(d, o, err);
    if (st == HF_OK) {
        inner.address = d->path;
        inner.variant = d->variant;
        st = hf_db_sqlite.open(&inner, &d->file, err);
    }
    if (st != HF_OK) {
        close_database(&d->base);
        return st;
    }
    *ret = &d->base;
    return HF_OK;
}

static void describe(hf_db *db, hf_db_description *ret)
{
    database *d = (database *)(void *)db;
    size_t n;

    hf_db_sqlite.describe(d->file, ret);
    n = strlen(ret->product);
    (void)snprintf(ret->product + n, sizeof(ret->product) - n, ", processes");
}

static hf_status reset(hf_db *db, hf_error *err)
{
    return hf_db_sqlite.reset(((database *)(void *)db)->file, err);
}

/* ---- sessions ------------------------------------------------------------ */

static session *session_of_member(hf_db_member *m)
{
    return (session *)(void *)((char *)m - offsetof(session, member));
}

/* It is killed: whoever waits for it hears so at once. */
static void wake(hf_db_member *m)
{
    session *s = session_of_member(m);

    (void)signal_worker((database *)(void *)s->base.db, s->pid, SIGKILL);
}

static void lose(session *s, hf_db_answer *ret)
{
    hf_db_answer_set(ret, HF_DB_LOST, "", "the client's process has ended");
    s->lost = true;
}

/* Waits for the answer to a call, or the first. */
static bool hear(session *s, uint64_t deadline, reply *ret, reader *r)
{
    if (!receive_message(s->fd, &s->in, deadline))
        return false;
    *r = (reader){s->in.at, s->in.n, false};
    return get(r, ret, sizeof(*ret));
}

static void disconnect(hf_db_session *base)
{
    session *s = (session *)(void *)base;
    database *d;

    if (!s)
        return;
    d = (database *)(void *)base->db;
    hf_db_roster_leave(&d->roster, &s->member);
    if (s->lost && s->pid > 0) /* its locks with it */
        (void)signal_worker(d, s->pid, SIGKILL);
    if (s->fd >= 0)
        (void)close(s->fd);
    hf_vec_release(&s->in);
    hf_vec_release(&s->out);
    hf_free(s);
}

static hf_status start_worker(database *d, session *s, hf_error *err)
{
    int pair[2];
    order o;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return hf_fail(err, HF_ERR_IO, "could not make a socket: %s",
                       strerror(errno));
    memset(&o, 0, sizeof(o));
    o.client = s->base.client;
    o.call_seconds = d->base.options.call_seconds;
    memcpy(o.path, d->path, sizeof(o.path));
    memcpy(o.variant, d->variant, sizeof(o.variant));
    s->pid = give_order(d, &o, pair[1]);
    (void)close(pair[1]);
    s->fd = pair[0];
    return s->pid > 0 ? HF_OK
                      : hf_fail(err, HF_ERR_IO,
                                "could not start a process for a client");
}

static hf_status connect_session(hf_db *db, unsigned client,
                                 hf_db_session **ret, hf_error *err)
{
    database *d = (database *)(void *)db;
    session *s = HF_NEW(session);
    hf_status st;
    reply first;
    reader r;

    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
    s->member.wake = wake;
    s->fd = -1;
    st = start_worker(d, s, err);
    if (st == HF_OK && !hear(s, hf_db_deadline(db) + GRACE_NS, &first, &r)) {
        s->lost = true;
        st = hf_fail(err, HF_ERR_IO, "the client's process has ended");
    } else if (st == HF_OK && first.answer.status != HF_DB_OK) {
        st = hf_fail(err, HF_ERR_IO, "%s", first.answer.text);
    }
    if (st != HF_OK) {
        disconnect(&s->base);
        return st;
    }
    hf_db_roster_join(&d->roster, &s->member); /* faults spare beginners */
    *ret = &s->base;
    return HF_OK;
}

static void interrupt(hf_db_session *base)
{
    wake(&((session *)(void *)base)->member);
}

/* Sends what is in `out` and hears the answer. */
static bool ask(session *s, reply *a, reader *r, hf_db_answer *ret)
{
    uint64_t deadline = hf_db_deadline(s->base.db) + GRACE_NS;

    if (s->lost || !send_message(s->fd, &s->out) || !hear(s, deadline, a, r)) {
        lose(s, ret);
        return false;
    }
    *ret = a->answer;
    return true;
}

static void ask_short(hf_db_session *base, const call *c, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    reply a;
    reader r;

    s->out.n = 0;
    put(&s->out, c, sizeof(*c));
    (void)ask(s, &a, &r, ret);
}

static void begin(hf_db_session *base, hf_db_level level, bool read_only,
                  hf_db_answer *ret)
{
    ask_short(base, &(call){.what = BEGIN, .level = level, read_only}, ret);
}

static void commit(hf_db_session *base, hf_db_answer *ret)
{
    ask_short(base, &(call){.what = COMMIT}, ret);
}

static void abort_transaction(hf_db_session *base, hf_db_answer *ret)
{
    ask_short(base, &(call){.what = ABORT}, ret);
}

static void read_rows(reader *r, const reply *a, hf_sql_result *rows)
{
    uint64_t room = 0;

    hf_db_rows_start(rows, a->n_columns);
    rows->affected = a->affected;
    for (uint32_t i = 0; i < a->n_columns && !r->short_of; i++) {
        uint32_t n = 0;
        const char *name = get(r, &n, sizeof(n)) ? take(r, n) : NULL;

        if (name)
            rows->names[i] = (hf_str){hf_arena_text(&rows->arena, name, n), n};
    }
    for (uint64_t i = 0; i < a->n_rows && !r->short_of; i++) {
        hf_sql_value *row = hf_db_rows_add(rows, &room);

        for (uint32_t k = 0; k < a->n_columns; k++)
            (void)get_value(r, &rows->arena, &row[k]);
    }
}

static void execute(hf_db_session *base, const hf_db_statement *statement,
                    const hf_sql_value *params, uint32_t n_params,
                    hf_sql_result *rows, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    call c = {.what = EXECUTE,
              .number = statement->number,
              .n_params = n_params,
              .returns_rows = statement->returns_rows,
              .sql_length = (uint32_t)strlen(statement->sql) + 1};
    reply a;
    reader r;

    s->out.n = 0;
    put(&s->out, &c, sizeof(c));
    put(&s->out, statement->sql, c.sql_length);
    for (uint32_t i = 0; i < n_params; i++)
        put_value(&s->out, &params[i]);
    hf_db_rows_start(rows, 0);
    if (!ask(s, &a, &r, ret) || a.answer.status != HF_DB_OK)
        return;
    read_rows(&r, &a, rows);
    if (r.short_of)
        lose(s, ret);
}

/* ---- faults -------------------------------------------------------------- */

static bool can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    (void)db;
    if (f == HF_FAULT_KILL || f == HF_FAULT_PAUSE)
        return true; /* of a client's process */
    return hf_db_only_cuts(f, "SQLite", why, size);
}

static pid_t choose_worker(database *d, uint64_t seed)
{
    char *struck = d->base.struck;
    pid_t pid = 0;

    (void)snprintf(struck, sizeof(d->base.struck), "nobody");
    (void)pthread_mutex_lock(&d->roster.mutex);
    if (d->roster.members.n > 0) {
        hf_db_member *m =
            d->roster.members.at[hf_mix64(seed + 1) % d->roster.members.n];

        pid = session_of_member(m)->pid;
        (void)snprintf(struck, sizeof(d->base.struck), "client %u", m->client);
    }
    (void)pthread_mutex_unlock(&d->roster.mutex);
    return pid;
}

static hf_status fault(hf_db *db, hf_db_fault f, uint64_t seed, bool on,
                       hf_error *err)
{
    database *d = (database *)(void *)db;

    (void)err;
    if (f != HF_FAULT_PAUSE) {
        if (on)
            hf_db_roster_cut(&d->roster, db, seed);
        return HF_OK;
    }
    if (on)
        d->paused = choose_worker(d, seed);
    if (d->paused > 0)
        (void)signal_worker(d, d->paused, on ? SIGSTOP : SIGCONT);
    return HF_OK;
}

static const hf_db_promise promises[] = {
    {HF_DB_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
     "sqlite.org/isolation.html: transactions are serializable, and see all "
     "that was committed before"},
};

static const char *const variant_names[] = {"wal", "rollback", "wal-deferred",
                                            "rollback-deferred", NULL};

const hf_db_driver hf_db_sqlite_processes = {
    .name = "sqlite-processes",
    .summary = "SQLite, each client in a process of its own: wal, rollback, "
               "wal-deferred, rollback-deferred",
    .package = "libsqlite3-0",
    .heeds = HF_DB_HEEDS_ADDRESS | HF_DB_HEEDS_DEADLINE | HF_DB_HEEDS_KEEP,
    .variants = variant_names,
    .keeps = HF_REST_LINEARIZABLE,
    .promises = promises,
    .n_promises = sizeof(promises) / sizeof(promises[0]),
    .open = open_database,
    .close = close_database,
    .describe = describe,
    .reset = reset,
    .connect = connect_session,
    .disconnect = disconnect,
    .interrupt = interrupt,
    .begin = begin,
    .execute = execute,
    .commit = commit,
    .abort = abort_transaction,
    .can_fault = can_fault,
    .fault = fault,
};

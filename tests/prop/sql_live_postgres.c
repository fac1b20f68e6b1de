/* sql_live_postgres.c: a private PostgreSQL server for one test run.
 *
 * Everything is in one new directory under /tmp: the data, the socket, the
 * log.  No port is opened.  The server refuses to run as root, so root gives
 * up its rights before it starts it.
 */
#include "sql_live.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH 300

typedef struct live {
    sql_live base;
    char directory[PATH];
    char programs[PATH]; /* where initdb and postgres are */
    uid_t uid;
    gid_t gid;
    pid_t server;
    PGconn *connection;
} live;

/* ---- processes ---------------------------------------------------------- */

static bool find_programs(live *l)
{
    glob_t found;
    bool ok = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;

    if (ok)
        (void)snprintf(
            l->programs, sizeof(l->programs), "%.*s",
            (int)(strrchr(found.gl_pathv[0], '/') - found.gl_pathv[0]),
            found.gl_pathv[0]);
    else
        fprintf(stderr, "PostgreSQL was not found: install the package "
                        "postgresql-15 (\"make deps\")\n");
    globfree(&found);
    return ok;
}

/* Root becomes an ordinary user for the server. */
static bool choose_user(live *l)
{
    const struct passwd *user;

    l->uid = getuid();
    l->gid = getgid();
    if (l->uid != 0)
        return true;
    user = getpwnam("postgres");
    if (!user)
        user = getpwnam("nobody");
    if (!user) {
        fprintf(stderr, "there is no user to run PostgreSQL as\n");
        return false;
    }
    l->uid = user->pw_uid;
    l->gid = user->pw_gid;
    return chown(l->directory, l->uid, l->gid) == 0;
}

/* The first argument is the program.  PostgreSQL's programs look for each other
 * where they were started from, so it is called by its whole name. */
static pid_t start(live *l, const char **arguments)
{
    char path[PATH + 40], log[PATH + 40];
    pid_t child = fork();
    int fd;

    if (child != 0)
        return child;
    (void)snprintf(path, sizeof(path), "%s/%s", l->programs, arguments[0]);
    arguments[0] = path;
    (void)snprintf(log, sizeof(log), "%s/log", l->directory);
    if (chdir(l->directory) != 0 ||
        (getuid() == 0 && (setgid(l->gid) != 0 || setuid(l->uid) != 0)))
        _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT); /* it ends with us */
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        (void)dup2(fd, 1);
        (void)dup2(fd, 2);
    }
    (void)setenv("LC_ALL", "C", 1);
    execv(path, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static bool wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void show_log(const live *l)
{
    char path[PATH + 40], text[2000];
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof(path), "%s/log", l->directory);
    f = fopen(path, "r");
    if (!f)
        return;
    n = fread(text, 1, sizeof(text), f);
    fprintf(stderr, "%.*s\n", (int)n, text);
    (void)fclose(f);
}

static bool make_cluster(live *l)
{
    char data[PATH + 40];
    const char *arguments[] = {
        "initdb",          "-D",         data,        "-U", "hf", "-A", "trust",
        "--encoding=UTF8", "--locale=C", "--no-sync", NULL};

    (void)snprintf(data, sizeof(data), "%s/data", l->directory);
    if (wait_for(start(l, arguments)))
        return true;
    fprintf(stderr, "initdb failed:\n");
    show_log(l);
    return false;
}

static bool start_server(live *l)
{
    char data[PATH + 40], socket[PATH + 60];
    const char *arguments[] = {"postgres", "-D",
                               data,       "-F", /* no fsync */
                               "-c",       "listen_addresses=",
                               "-c",       socket,
                               "-c",       "max_connections=10",
                               "-c",       "shared_buffers=8MB",
                               "-c",       "autovacuum=off",
                               "-c",       "jit=off",
                               NULL};

    (void)snprintf(data, sizeof(data), "%s/data", l->directory);
    (void)snprintf(socket, sizeof(socket), "unix_socket_directories=%s",
                   l->directory);
    l->server = start(l, arguments);
    return l->server > 0;
}

static bool connect_to(live *l)
{
    char info[PATH + 80];

    (void)snprintf(info, sizeof(info),
                   "host=%s user=hf dbname=postgres connect_timeout=5",
                   l->directory);
    for (int i = 0; i < 300; i++) {
        const struct timespec pause = {0, 50 * 1000 * 1000};

        l->connection = PQconnectdb(info);
        if (PQstatus(l->connection) == CONNECTION_OK)
            return true;
        PQfinish(l->connection);
        l->connection = NULL;
        if (waitpid(l->server, NULL, WNOHANG) == l->server) {
            l->server = 0;
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    fprintf(stderr, "PostgreSQL did not start:\n");
    show_log(l);
    return false;
}

/* ---- asking ------------------------------------------------------------- */

static void ask(sql_live *base, const char *text, sql_answer *ret)
{
    live *l = (live *)base;
    PGresult *r = PQexec(l->connection, text);
    ExecStatusType status = PQresultStatus(r);

    ret->text.n = 0;
    ret->failed = status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
    (void)snprintf(ret->message, sizeof(ret->message), "%s",
                   PQresultErrorMessage(r));
    ret->affected = 0;
    if (!ret->failed && strncmp(PQcmdStatus(r), "SELECT", 6) != 0)
        ret->affected = strtoull(PQcmdTuples(r), NULL, 10);
    for (int i = 0; i < PQntuples(r); i++) {
        for (int k = 0; k < PQnfields(r); k++) {
            hf_out_text(&ret->text,
                        PQgetisnull(r, i, k) ? "NULL" : PQgetvalue(r, i, k));
            hf_out_char(&ret->text, '|');
        }
        hf_out_char(&ret->text, '\n');
    }
    PQclear(r);
}

static int remove_one(const char *path, const struct stat *s, int flag,
                      struct FTW *walk)
{
    (void)s;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void close_live(sql_live *base)
{
    live *l = (live *)base;

    if (l->connection)
        PQfinish(l->connection);
    if (l->server > 0) {
        (void)kill(l->server, SIGINT); /* fast shutdown */
        (void)wait_for(l->server);
    }
    if (l->directory[0])
        (void)nftw(l->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    hf_free(l);
}

sql_live *sql_live_postgres(void)
{
    live *l = HF_NEW(live);

    l->base = (sql_live){HF_SQL_POSTGRES, ask, close_live};
    if (find_programs(l)) {
        (void)snprintf(l->directory, sizeof(l->directory),
                       "/tmp/hf-postgres-XXXXXX");
        if (!mkdtemp(l->directory))
            l->directory[0] = '\0';
        else if (choose_user(l) && make_cluster(l) && start_server(l) &&
                 connect_to(l))
            return &l->base;
    }
    close_live(&l->base);
    return NULL;
}

/* server.c: see server.h; this is our side of the talk with the keeper. */
#include "db/server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "db/common.h"
#include "db/server_keeper.h"

struct hf_server {
    char name[40];
    char directory[HF_SERVER_PATH];
    bool keep;
    pid_t keeper;
    int socket;
    pthread_mutex_t mutex; /* one request at a time */
};

extern char **environ;

/* ---- finding programs ---------------------------------------------------- */

/* The shell looks: it knows PATH and patterns. */
static const char find_script[] =
    "name=$1 command=$2 places=$3 only=$4\n"
    "try() { [ -n \"$1\" ] && [ -f \"$1\" ] && [ -x \"$1\" ] && "
    "echo \"$1\" && exit 0; }\n"
    "if [ -n \"$only\" ]; then try \"$only/$name\"; exit 1; fi\n"
    "[ -z \"$command\" ] || try \"$($command 2>/dev/null)/$name\"\n"
    "try \"$(command -v \"$name\" 2>/dev/null)\"\n"
    "for place in $places; do try \"$place/$name\"; done\n"
    "exit 1\n";

static hf_status missing(const hf_server_program *p, hf_error *err)
{
    if (p->only)
        return hf_fail(err, HF_ERR_USAGE,
                       "could not find the program \"%s\" in \"%s\"", p->name,
                       p->only);
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "could not find the program \"%s\": install the Debian "
                   "package %s",
                   p->name, p->package);
}

/* Starts the shell with its output into a new pipe; the end to read, or -1. */
static int ask_shell(const hf_server_program *p, pid_t *ret_pid)
{
    const char *arguments[] = {"sh",
                               "-c",
                               find_script,
                               "sh",
                               p->name,
                               p->command ? p->command : "",
                               p->places ? p->places : "",
                               p->only ? p->only : "",
                               NULL};
    posix_spawn_file_actions_t actions;
    int pipe_fd[2], error;

    if (pipe2(pipe_fd, O_CLOEXEC) != 0)
        return -1;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY,
                                           0);
    (void)posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], 1);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                           0);
    error = posix_spawn(ret_pid, "/bin/sh", &actions, NULL,
                        (char *const *)(uintptr_t)arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(pipe_fd[1]);
    if (error) {
        (void)close(pipe_fd[0]);
        return -1;
    }
    return pipe_fd[0];
}

hf_status hf_server_find(const hf_server_program *p, char *ret, size_t size,
                         hf_error *err)
{
    char line[1000], *full;
    size_t used = 0;
    ssize_t n = 0;
    pid_t pid;
    int fd = ask_shell(p, &pid);
    bool fits;

    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "could not run \"/bin/sh\"");
    while (used + 1 < sizeof(line) &&
           ((n = read(fd, line + used, sizeof(line) - 1 - used)) > 0 ||
            (n < 0 && errno == EINTR)))
        used += n > 0 ? (size_t)n : 0;
    (void)close(fd);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    line[used] = '\0';
    line[strcspn(line, "\n")] = '\0';
    full = line[0] == '/' ? realpath(line, NULL) : NULL;
    if (!full)
        return missing(p, err);
    fits = snprintf(ret, size, "%s", full) < (int)size;
    free(full);
    return fits
               ? HF_OK
               : hf_fail(err, HF_ERR_USAGE,
                         "the path of the program \"%s\" is too long", p->name);
}

/* ---- asking the keeper --------------------------------------------------- */

static hf_status exchange(hf_server *s, const hf_keeper_request *r,
                          hf_keeper_reply *a)
{
    size_t size = offsetof(hf_keeper_request, text) + r->length;
    ssize_t n;

    if (send(s->socket, r, size, MSG_NOSIGNAL) != (ssize_t)size)
        return HF_ERR_IO;
    do
        n = recv(s->socket, a, sizeof(*a), 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*a) ? HF_OK : HF_ERR_IO;
}

static hf_status ask(hf_server *s, const hf_keeper_request *r,
                     hf_keeper_reply *a, hf_error *err)
{
    hf_status st;

    (void)pthread_mutex_lock(&s->mutex);
    st = exchange(s, r, a);
    (void)pthread_mutex_unlock(&s->mutex);
    if (st != HF_OK)
        return hf_fail(err, st, "the process that keeps %s has ended", s->name);
    if (a->error)
        return hf_fail(err, HF_ERR_IO, "%s", strerror(a->error));
    return HF_OK;
}

static hf_keeper_request *request(hf_keeper_what what, unsigned node)
{
    hf_keeper_request *r = HF_NEW(hf_keeper_request);

    HF_ASSERT(node < HF_SERVER_NODES);
    r->what = what;
    r->node = node;
    return r;
}

static hf_status put(hf_keeper_request *r, const char *text, hf_error *err)
{
    size_t n = strlen(text) + 1;

    if (r->length + n >= sizeof(r->text) ||
        r->n_arguments == HF_KEEPER_ARGUMENTS)
        return hf_fail(err, HF_ERR_USAGE, "the command line is too long");
    memcpy(r->text + r->length, text, n);
    r->length += (uint32_t)n;
    r->n_arguments++;
    return HF_OK;
}

static hf_status put_all(hf_keeper_request *r, const char *const *arguments,
                         hf_error *err)
{
    hf_status st = HF_OK;

    for (; *arguments && st == HF_OK; arguments++)
        st = put(r, *arguments, err);
    return st;
}

/* A request that cannot fail, or whose failure does not matter. */
static int32_t tell(hf_server *s, hf_keeper_request *r)
{
    hf_keeper_reply a = {0};
    hf_status st = ask(s, r, &a, NULL);

    hf_free(r);
    return st == HF_OK ? a.value : -1;
}

/* ---- beginning and end --------------------------------------------------- */

static hf_status fork_keeper(hf_server *s, bool network, hf_error *err)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return hf_fail(err, HF_ERR_IO, "could not make a socket: %s",
                       strerror(errno));
    s->keeper = fork();
    if (s->keeper == 0)
        hf_keeper_main(pair[1], s->keep, network);
    (void)close(pair[1]);
    s->socket = pair[0];
    if (s->keeper < 0)
        return hf_fail(err, HF_ERR_IO, "could not start a process: %s",
                       strerror(errno));
    return HF_OK;
}

/* The name of a directory to be made below `full`; false: too long. */
static bool name_directory(const char *full, char *ret, size_t size)
{
    return snprintf(ret, size, "%s/holdfast-XXXXXX", full) <=
           HF_SERVER_SOCKET - 20;
}

/* Servers of root run as a user who owns nothing: from the directory up to the
 * root, all may enter.  The path is cut meanwhile. */
static bool all_may_enter(char *path)
{
    struct stat of;
    char *slash;

    do {
        if (stat(path, &of) == 0 && !(of.st_mode & S_IXOTH))
            return false;
        slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    } while (slash && path[0] != '\0');
    return true;
}

const char *hf_db_directory_unfit(const char *parent)
{
    char template[HF_SERVER_PATH], *full = realpath(parent, NULL);
    const char *why = NULL;

    if (full && !name_directory(full, template, sizeof(template)))
        why = "is too long for the name of a socket";
    else if (full && geteuid() == 0 && !all_may_enter(full))
        why = "cannot be entered by the user that servers run as";
    free(full);
    return why;
}

static hf_status make_directory(hf_server *s, const char *parent, hf_error *err)
{
    hf_keeper_request *r = request(HF_KEEPER_MAKE, 0);
    hf_keeper_reply a = {0};
    hf_status st;
    char template[HF_SERVER_PATH], *full = realpath(parent, NULL);

    if (!full) {
        hf_free(r);
        return hf_fail(err, HF_ERR_IO, "could not use the directory \"%s\": %s",
                       parent, strerror(errno));
    }
    if (!name_directory(full, template, sizeof(template)))
        st = hf_fail(err, HF_ERR_USAGE,
                     "the name of the directory \"%s\" is too long for a "
                     "socket in it",
                     parent);
    else
        st = put(r, template, err);
    if (st == HF_OK) {
        st = ask(s, r, &a, err);
        if (st != HF_OK)
            hf_error_context(err, "could not make a directory in \"%s\"",
                             parent);
    }
    if (st == HF_OK)
        (void)snprintf(s->directory, sizeof(s->directory), "%s", a.text);
    free(full);
    hf_free(r);
    return st;
}

hf_status hf_server_new(const hf_server_options *o, hf_server **ret,
                        hf_error *err)
{
    hf_server *s = HF_NEW(hf_server);
    hf_status st;

    (void)snprintf(s->name, sizeof(s->name), "%s", o->name);
    s->keep = o->keep;
    s->socket = -1;
    (void)pthread_mutex_init(&s->mutex, NULL);
    st = fork_keeper(s, o->network, err);
    if (st == HF_OK)
        st = make_directory(s, o->parent ? o->parent : "/tmp", err);
    if (st != HF_OK) {
        hf_server_free(s);
        return st;
    }
    *ret = s;
    return HF_OK;
}

void hf_server_free(hf_server *s)
{
    if (!s)
        return;
    if (s->socket >= 0)
        (void)close(s->socket); /* the keeper clears up and ends */
    if (s->keeper > 0)
        while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    /* it may have been killed before it could */
    if (s->directory[0] != '\0' && !s->keep)
        hf_db_remove_tree(s->directory);
    (void)pthread_mutex_destroy(&s->mutex);
    hf_free(s);
}

/* ---- files --------------------------------------------------------------- */

const char *hf_server_directory(const hf_server *s)
{
    return s->directory;
}

/* What we make there as root belongs to the directory's owner. */
static int give(const hf_server *s, int fd)
{
    struct stat of;

    if (geteuid() != 0)
        return 0;
    if (stat(s->directory, &of) != 0)
        return -1;
    return fchown(fd, of.st_uid, of.st_gid);
}

static hf_status file_failed(const char *path, hf_error *err)
{
    return hf_fail(err, HF_ERR_IO, "could not write \"%s\": %s", path,
                   strerror(errno));
}

hf_status hf_server_write(hf_server *s, const char *name, const char *text,
                          bool append, hf_error *err)
{
    char path[HF_SERVER_PATH + 100];
    size_t length = strlen(text);
    bool done;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", s->directory, name);
    fd = open(path,
              O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
                  (append ? O_APPEND : O_TRUNC),
              0600);
    if (fd < 0)
        return file_failed(path, err);
    done = give(s, fd) == 0 && write(fd, text, length) == (ssize_t)length;
    if (!done)
        (void)file_failed(path, err);
    (void)close(fd);
    return done ? HF_OK : HF_ERR_IO;
}

hf_status hf_server_mkdir(hf_server *s, const char *name, hf_error *err)
{
    char path[HF_SERVER_PATH + 100];
    bool done;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", s->directory, name);
    if (mkdir(path, 0700) != 0)
        return file_failed(path, err);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    done = fd >= 0 && give(s, fd) == 0;
    if (!done)
        (void)file_failed(path, err);
    if (fd >= 0)
        (void)close(fd);
    return done ? HF_OK : HF_ERR_IO;
}

/* ---- logs ---------------------------------------------------------------- */

/* How much a line says about why: a full disk is the cause of what is
   complained about after it. */
static unsigned tells(const char *line)
{
    /* what MariaDB adds to the error before */
    if (strstr(line, "] Aborting") || strstr(line, "init function returned") ||
        strstr(line, "registration as a") || strstr(line, "Unknown/unsupp"))
        return 0;
    if (strstr(line, "No space left") || strstr(line, "out of disk space") ||
        strstr(line, "Disk full"))
        return 2;
    return strstr(line, "FATAL") || strstr(line, "PANIC") ||
           strstr(line, "ERROR") || strstr(line, "error") ||
           strstr(line, "could not");
}

/* The last of the lines that tell most. */
static void choose_line(char *text, char *ret, size_t size)
{
    char *rest = text, *line;
    unsigned most = 0;

    ret[0] = '\0';
    while ((line = strsep(&rest, "\n"))) {
        unsigned t = tells(line);

        if (*line == '\0' || t < most)
            continue;
        most = t;
        (void)snprintf(ret, size, "%s", line);
    }
    for (char *c = ret; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

const char *hf_server_last_line(hf_server *s, unsigned node, char *ret,
                                size_t size)
{
    char path[HF_SERVER_PATH + 20], text[4001];
    ssize_t n;
    off_t end;
    int fd;

    ret[0] = '\0';
    if (node == HF_SERVER_NODES)
        (void)snprintf(path, sizeof(path), "%s/log.tools", s->directory);
    else
        (void)snprintf(path, sizeof(path), "%s/log.%u", s->directory, node);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return ret;
    end = lseek(fd, 0, SEEK_END);
    n = pread(fd, text, sizeof(text) - 1, end > 4000 ? end - 4000 : 0);
    (void)close(fd);
    if (n > 0) {
        text[n] = '\0';
        choose_line(text, ret, size);
    }
    return ret;
}

/* ---- processes ----------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

hf_status hf_server_run(hf_server *s, const char *const *arguments,
                        double seconds, hf_error *err)
{
    hf_keeper_request *r = request(HF_KEEPER_RUN, 0);
    hf_keeper_reply a = {0};
    hf_status st = put_all(r, arguments, err);
    char line[300];

    r->milliseconds = (uint32_t)(seconds * 1000);
    if (st == HF_OK)
        st = ask(s, r, &a, err);
    hf_free(r);
    if (st != HF_OK) {
        hf_error_context(err, "could not run \"%s\"", base_name(arguments[0]));
        return st;
    }
    if (a.value == 0)
        return HF_OK;
    (void)hf_server_last_line(s, HF_SERVER_NODES, line, sizeof(line));
    if (a.value == HF_KEEPER_TIME_OVER)
        return hf_fail(err, HF_ERR_LIMIT,
                       "\"%s\" did not end within %.0f s: %s",
                       base_name(arguments[0]), seconds, line);
    return hf_fail(err, HF_ERR_IO, "\"%s\" failed: %s", base_name(arguments[0]),
                   line);
}

hf_status hf_server_start(hf_server *s, unsigned node,
                          const char *const *arguments, int quit, hf_error *err)
{
    hf_keeper_request *r = request(HF_KEEPER_START, node);
    hf_keeper_reply a = {0};
    hf_status st = put_all(r, arguments, err);

    r->signal = quit;
    if (st == HF_OK)
        st = ask(s, r, &a, err);
    hf_free(r);
    if (st != HF_OK)
        hf_error_context(err, "could not start %s", s->name);
    return st;
}

bool hf_server_running(hf_server *s, unsigned node)
{
    return tell(s, request(HF_KEEPER_STATE, node)) == 1;
}

hf_status hf_server_wait(hf_server *s, unsigned node, bool (*ready)(void *user),
                         void *user, double seconds, hf_error *err)
{
    uint64_t deadline = hf_db_clock() + (uint64_t)(seconds * 1e9);
    char line[300];

    for (;;) {
        if (ready(user))
            return HF_OK;
        if (!hf_server_running(s, node)) {
            (void)hf_server_last_line(s, node, line, sizeof(line));
            return hf_fail(err, HF_ERR_IO, "%s did not start: %s", s->name,
                           line[0] ? line : "it wrote no log");
        }
        if (hf_db_clock() > deadline) {
            (void)hf_server_last_line(s, node, line, sizeof(line));
            return hf_fail(err, HF_ERR_LIMIT,
                           "%s did not answer within %.0f s: %s", s->name,
                           seconds, line[0] ? line : "it wrote no log");
        }
        hf_db_sleep(10 * 1000 * 1000);
    }
}

void hf_server_stop(hf_server *s, unsigned node, int signal, double seconds)
{
    hf_keeper_request *r = request(HF_KEEPER_STOP, node);

    r->signal = signal;
    r->milliseconds = (uint32_t)(seconds * 1000);
    (void)tell(s, r);
}

static void signal_all(hf_server *s, unsigned node, int signal)
{
    hf_keeper_request *r = request(HF_KEEPER_SIGNAL, node);

    r->signal = signal;
    (void)tell(s, r);
}

void hf_server_kill(hf_server *s, unsigned node)
{
    signal_all(s, node, SIGKILL);
}

void hf_server_pause(hf_server *s, unsigned node, bool pause)
{
    signal_all(s, node, pause ? SIGSTOP : SIGCONT);
}

bool hf_server_pause_one(hf_server *s, unsigned node, pid_t process, bool pause)
{
    hf_keeper_request *r = request(HF_KEEPER_ONE, node);

    r->signal = pause ? SIGSTOP : SIGCONT;
    r->process = process;
    return tell(s, r) >= 0;
}

/* ---- their network ------------------------------------------------------- */

static bool network(hf_server *s, int what)
{
    hf_keeper_request *r = request(HF_KEEPER_NETWORK, 0);

    r->signal = what;
    return tell(s, r) == 1;
}

bool hf_server_has_network(hf_server *s)
{
    return network(s, -1);
}

bool hf_server_cut(hf_server *s, bool cut)
{
    return network(s, cut ? 0 : 1);
}

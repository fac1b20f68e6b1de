/* server_keeper.c: the process that owns private servers.
 *
 * It is forked from us before the first server starts, has one thread, its own
 * session (Ctrl-C does not reach it) and one open descriptor: a socket to us.
 * It starts and signals servers as told.  When the socket closes, because we
 * are done or because we were killed, it ends all of them, removes the
 * directory, and ends.  Nobody else can do that after a kill -9 of ours.
 *
 * Why not simply PR_SET_PDEATHSIG from us: that signal comes when the *thread*
 * ends that started the process, and a server that was started again by a
 * thread of its own must outlive it.  The keeper has one thread, so its
 * children do have that signal set, for the case that the keeper is killed.
 *
 * It is the reaper of all its descendants: what a killed server leaves behind
 * becomes its child and is found.  Processes are found by walking /proc, as
 * servers put their children into sessions of their own; O(processes of the
 * machine) for each stop, kill or pause.
 */
#include "db/server_keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/common.h"

#define TOOL HF_SERVER_NODES /* the node that tools are */
#define MAX_PROCESSES 4096u  /* that one keeper can see */
#define MAX_STARTED 1024u
#define QUIT_MS 5000u

typedef struct node {
    pid_t pid; /* 0: not running */
    int quit;  /* the signal that ends it at once */
    int status;
} node;

typedef struct keeper {
    int socket, children; /* children: SIGCHLD as a descriptor */
    bool gone;            /* they who asked are no more */
    bool keep;
    bool network; /* of its own */
    uid_t uid;    /* of servers, 0: as we are */
    gid_t gid;
    node nodes[HF_SERVER_NODES + 1];
    pid_t makers[MAX_STARTED]; /* who may have left shared memory */
    unsigned n_makers;
    char directory[HF_SERVER_PATH];
} keeper;

static uint64_t now_ms(void)
{
    return hf_db_clock() / 1000000u;
}

/* ---- all processes below one --------------------------------------------- */

typedef struct processes {
    pid_t pid[MAX_PROCESSES], parent[MAX_PROCESSES];
    bool dead[MAX_PROCESSES], below[MAX_PROCESSES];
    unsigned n;
} processes;

static processes all; /* the keeper's alone */

/* The parent and state in /proc/PID/stat, or of a thread with PID/task/TID;
 * false: it is gone. */
static bool read_stat(const char *pid, pid_t *ret_parent, char *ret_state)
{
    char path[80], text[512];
    const char *p;
    ssize_t n;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%.50s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name before may hold anything */
    if (!p || p[1] != ' ' || p[2] == '\0')
        return false;
    *ret_state = p[2];
    *ret_parent = (pid_t)strtol(p + 3, NULL, 10);
    return true;
}

static void read_processes(void)
{
    DIR *d = opendir("/proc");
    const struct dirent *e;
    char state;

    all.n = 0;
    while (d && all.n < MAX_PROCESSES && (e = readdir(d))) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
            !read_stat(e->d_name, &all.parent[all.n], &state))
            continue;
        all.pid[all.n] = (pid_t)strtol(e->d_name, NULL, 10);
        all.dead[all.n] = state == 'Z' || state == 'X';
        all.below[all.n] = false;
        all.n++;
    }
    if (d)
        (void)closedir(d);
}

static bool is_below(pid_t pid)
{
    for (unsigned i = 0; i < all.n; i++)
        if (all.pid[i] == pid)
            return all.below[i];
    return false;
}

/* Marks `root` and its descendants. */
static void mark_below(pid_t root)
{
    bool more = true;

    for (unsigned i = 0; i < all.n; i++)
        if (all.pid[i] == root)
            all.below[i] = true;
    while (more) {
        more = false;
        for (unsigned i = 0; i < all.n; i++)
            if (!all.below[i] && is_below(all.parent[i]))
                all.below[i] = more = true;
    }
}

static bool is_node(const keeper *k, pid_t pid)
{
    for (unsigned i = 0; i <= TOOL; i++)
        if (k->nodes[i].pid == pid)
            return true;
    return false;
}

/* Marks our children that nobody started here: orphans of dead servers. */
static void mark_orphans(const keeper *k)
{
    pid_t us = getpid();

    for (unsigned i = 0; i < all.n; i++)
        if (all.parent[i] == us && !is_node(k, all.pid[i]))
            mark_below(all.pid[i]);
}

static void note_maker(keeper *k, pid_t pid)
{
    for (unsigned i = 0; i < k->n_makers && i < MAX_STARTED; i++)
        if (k->makers[i] == pid)
            return;
    k->makers[k->n_makers++ % MAX_STARTED] = pid;
}

/* The signal to all that are marked; how many live ones there were. */
static unsigned signal_marked(keeper *k, int signal)
{
    unsigned n = 0;

    for (unsigned i = 0; i < all.n; i++) {
        if (!all.below[i] || all.dead[i])
            continue;
        if (signal == SIGKILL)
            note_maker(k, all.pid[i]);
        if (kill(all.pid[i], signal) == 0)
            n++;
    }
    return n;
}

/* ---- waiting ------------------------------------------------------------- */

static void reap(keeper *k)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    while (read(k->children, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (unsigned i = 0; i <= TOOL; i++)
            if (k->nodes[i].pid == pid) {
                k->nodes[i].pid = 0;
                k->nodes[i].status = status;
            }
}

/* Waits for a child's end, or for the asker's, at most until `deadline`.
 * False: the time is over. */
static bool wait_child(keeper *k, uint64_t deadline)
{
    struct pollfd on[2] = {{k->children, POLLIN, 0},
                           {k->gone ? -1 : k->socket, POLLRDHUP, 0}};
    uint64_t now = now_ms();

    if (now >= deadline)
        return false;
    if (poll(on, 2, (int)(deadline - now)) > 0 &&
        (on[1].revents & (POLLRDHUP | POLLHUP | POLLERR)))
        k->gone = true;
    reap(k);
    return true;
}

/* kill -9 of a node with all its processes, and of orphans. */
static void kill_node(keeper *k, unsigned i)
{
    uint64_t deadline = now_ms() + QUIT_MS;
    unsigned left;

    do {
        read_processes();
        if (k->nodes[i].pid > 0) {
            (void)kill(k->nodes[i].pid, SIGKILL); /* first: no new children */
            mark_below(k->nodes[i].pid);
        }
        mark_orphans(k);
        left = signal_marked(k, SIGKILL);
        reap(k);
        if (left > 0) {
            const struct timespec pause = {0, 2000000};

            (void)nanosleep(&pause, NULL);
            reap(k);
        }
    } while ((left > 0 || k->nodes[i].pid > 0) && now_ms() < deadline);
}

/* All threads of a process have stopped, or are gone. */
static bool has_stopped(pid_t pid)
{
    char path[64], task[64];
    const struct dirent *e;
    bool stopped = true;
    pid_t parent;
    char state;
    DIR *d;

    (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    d = opendir(path);
    while (d && stopped && (e = readdir(d))) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        (void)snprintf(task, sizeof(task), "%ld/task/%.20s", (long)pid,
                       e->d_name);
        stopped = !read_stat(task, &parent, &state) || state == 'T' ||
                  state == 't' || state == 'Z' || state == 'X';
    }
    if (d)
        (void)closedir(d);
    return stopped;
}

/* A thread stops when it is next looked at, which on a busy machine may be
 * after it has answered: whoever asks for a pause wants silence from now on. */
static void wait_stopped(void)
{
    const struct timespec pause = {0, 1000000};
    uint64_t deadline = now_ms() + QUIT_MS;

    for (unsigned i = 0; i < all.n; i++)
        while (all.below[i] && !all.dead[i] && !has_stopped(all.pid[i]) &&
               now_ms() < deadline)
            (void)nanosleep(&pause, NULL);
}

static void signal_node(keeper *k, unsigned i, int signal)
{
    /* the second time for what was started meanwhile */
    for (unsigned round = 0; round < 2 && k->nodes[i].pid > 0; round++) {
        if (signal == SIGSTOP)
            (void)kill(k->nodes[i].pid, signal);
        read_processes();
        mark_below(k->nodes[i].pid);
        (void)signal_marked(k, signal);
        if (signal != SIGSTOP)
            return;
    }
    wait_stopped();
}

static void stop_node(keeper *k, unsigned i, int signal, uint32_t milliseconds)
{
    uint64_t deadline = now_ms() + milliseconds;

    if (k->nodes[i].pid <= 0)
        return;
    signal_node(k, i, SIGCONT);
    (void)kill(k->nodes[i].pid, signal);
    while (k->nodes[i].pid > 0 && wait_child(k, deadline))
        ;
    kill_node(k, i);
}

/* ---- starting ------------------------------------------------------------ */

static void drop_rights(const keeper *k)
{
    if (k->uid == 0)
        return;
    if (setgroups(0, NULL) != 0 || setgid(k->gid) != 0 || setuid(k->uid) != 0)
        _exit(126);
}

/* In the child: becomes the program. */
static void become(const keeper *k, unsigned i, char **arguments)
{
    static char *environment[] = {
        (char *)(uintptr_t) "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                            "/usr/bin:/sbin:/bin",
        (char *)(uintptr_t) "LC_ALL=C", (char *)(uintptr_t) "TZ=UTC",
        (char *)(uintptr_t) "HOME=/nonexistent", NULL};
    char log[32];
    pid_t parent = getppid();
    sigset_t none;
    int fd;

    (void)setsid();
    drop_rights(k);
    (void)prctl(PR_SET_PDEATHSIG, k->nodes[i].quit);
    if (getppid() != parent || chdir(k->directory) != 0)
        _exit(126);
    (void)umask(077);
    (void)snprintf(log, sizeof(log), i == TOOL ? "log.tools" : "log.%u", i);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(126);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGQUIT, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(arguments[0], arguments, environment);
    (void)dprintf(2, "could not run \"%s\": %s\n", arguments[0],
                  strerror(errno));
    _exit(127);
}

static int start(keeper *k, unsigned i, hf_keeper_request *r)
{
    char *arguments[HF_KEEPER_ARGUMENTS + 1];
    char *at = r->text, *end = r->text + r->length;
    pid_t pid;

    for (uint32_t n = 0; n < r->n_arguments; n++) {
        if (at >= end)
            return EINVAL;
        arguments[n] = at;
        at += strlen(at) + 1;
    }
    arguments[r->n_arguments] = NULL;
    k->nodes[i].quit = i == TOOL ? SIGKILL : r->signal;
    pid = fork();
    if (pid < 0)
        return errno;
    if (pid == 0)
        become(k, i, arguments);
    k->nodes[i].pid = pid;
    k->nodes[i].status = 0;
    note_maker(k, pid);
    return 0;
}

static int run_tool(keeper *k, hf_keeper_request *r, int32_t *ret)
{
    uint64_t deadline = now_ms() + r->milliseconds;
    int error = start(k, TOOL, r), status;

    if (error)
        return error;
    while (k->nodes[TOOL].pid > 0 && !k->gone && wait_child(k, deadline))
        ;
    if (k->nodes[TOOL].pid > 0) {
        kill_node(k, TOOL);
        *ret = HF_KEEPER_TIME_OVER;
        return 0;
    }
    status = k->nodes[TOOL].status;
    *ret = WIFEXITED(status) ? WEXITSTATUS(status) : HF_KEEPER_SIGNALLED;
    return 0;
}

/* ---- the directory ------------------------------------------------------- */

/* Root's servers are nobody's. */
static int choose_user(keeper *k)
{
    const struct passwd *user;

    k->uid = 0;
    k->gid = 0;
    if (geteuid() != 0)
        return 0;
    /* cppcheck-suppress getpwnamCalled ; one thread */
    user = getpwnam("nobody");
    if (!user || user->pw_uid == 0)
        return ESRCH;
    k->uid = user->pw_uid;
    k->gid = user->pw_gid;
    return 0;
}

static int make_directory(keeper *k, const char *template, char *ret)
{
    int error = choose_user(k);

    if (error)
        return error;
    if (snprintf(k->directory, sizeof(k->directory), "%s", template) >=
        (int)sizeof(k->directory)) {
        k->directory[0] = '\0';
        return ENAMETOOLONG;
    }
    if (!mkdtemp(k->directory)) {
        error = errno;
        k->directory[0] = '\0';
        return error;
    }
    if (k->uid != 0 && chown(k->directory, k->uid, k->gid) != 0)
        return errno;
    (void)snprintf(ret, HF_SERVER_PATH, "%s", k->directory);
    return 0;
}

/* Shared memory of the old kind outlives a process that was killed: a server,
 * or one that a tool has started. */
static void remove_shared_memory(const keeper *k)
{
    struct shm_info info;
    struct shmid_ds s;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

    for (int i = 0; i <= last; i++) {
        int id = shmctl(i, SHM_STAT, &s);

        if (id < 0 || s.shm_nattch != 0)
            continue;
        for (unsigned n = 0; n < k->n_makers && n < MAX_STARTED; n++)
            if (k->makers[n] == s.shm_cpid)
                (void)shmctl(id, IPC_RMID, NULL);
    }
}

/* All at once: each gets the signal, then they are waited for. */
static void finish(keeper *k)
{
    uint64_t deadline = now_ms() + QUIT_MS;
    bool some = true;

    for (unsigned i = 0; i <= TOOL; i++)
        if (k->nodes[i].pid > 0) {
            signal_node(k, i, SIGCONT);
            (void)kill(k->nodes[i].pid, k->nodes[i].quit);
        }
    while (some) {
        some = false;
        for (unsigned i = 0; i <= TOOL; i++)
            some = some || k->nodes[i].pid > 0;
        some = some && wait_child(k, deadline);
    }
    for (unsigned i = 0; i <= TOOL; i++)
        kill_node(k, i);
    remove_shared_memory(k);
    if (k->directory[0] != '\0' && !k->keep)
        hf_db_remove_tree(k->directory);
}

/* ---- requests ------------------------------------------------------------ */

static void signal_one(keeper *k, const hf_keeper_request *r,
                       hf_keeper_reply *a)
{
    read_processes();
    if (k->nodes[r->node].pid > 0)
        mark_below(k->nodes[r->node].pid);
    if (r->process <= 0 || !is_below(r->process) ||
        kill(r->process, r->signal) != 0)
        a->error = ESRCH;
}

static void answer(keeper *k, hf_keeper_request *r, hf_keeper_reply *a)
{
    switch ((hf_keeper_what)r->what) {
    case HF_KEEPER_MAKE:
        a->error = make_directory(k, r->text, a->text);
        break;
    case HF_KEEPER_RUN:
        a->error = run_tool(k, r, &a->value);
        break;
    case HF_KEEPER_START:
        if (k->nodes[r->node].pid > 0)
            stop_node(k, r->node, SIGKILL, QUIT_MS);
        a->error = start(k, r->node, r);
        a->value = k->nodes[r->node].pid;
        break;
    case HF_KEEPER_STATE:
        reap(k);
        a->value = k->nodes[r->node].pid > 0;
        break;
    case HF_KEEPER_STOP:
        stop_node(k, r->node, r->signal, r->milliseconds);
        break;
    case HF_KEEPER_SIGNAL:
        if (r->signal == SIGKILL)
            kill_node(k, r->node);
        else
            signal_node(k, r->node, r->signal);
        break;
    case HF_KEEPER_ONE:
        signal_one(k, r, a);
        break;
    case HF_KEEPER_NETWORK:
        a->value = k->network;
        if (k->network && (r->signal == 0 || r->signal == 1) &&
            !hf_network_set(r->signal == 1))
            a->error = EIO;
        break;
    default:
        a->error = EINVAL;
    }
}

/* False: there will be no more. */
static bool serve(keeper *k)
{
    static hf_keeper_request r;
    hf_keeper_reply a;
    ssize_t n;

    memset(&r, 0, sizeof(r));
    memset(&a, 0, sizeof(a));
    do
        n = recv(k->socket, &r, sizeof(r) - 1, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    if (r.node >= HF_SERVER_NODES || r.length >= HF_KEEPER_TEXT ||
        r.n_arguments > HF_KEEPER_ARGUMENTS)
        a.error = EINVAL;
    else
        answer(k, &r, &a);
    return !k->gone &&
           send(k->socket, &a, sizeof(a), MSG_NOSIGNAL) == (ssize_t)sizeof(a);
}

/* Nothing of ours stays open but the socket, which becomes 3. */
static void let_go(keeper *k, int socket)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0)
        _exit(126);
    for (int i = 0; i < 3; i++)
        if (null != i)
            (void)dup2(null, i);
    if (socket != 3)
        (void)dup2(socket, 3);
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    (void)close_range(4, ~0u, 0);
    k->socket = 3;
}

void hf_keeper_main(int socket, bool keep, bool network)
{
    static keeper k;
    sigset_t child;

    (void)setsid();
    (void)prctl(PR_SET_NAME, "hf-keeper");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    let_go(&k, socket);
    k.keep = keep;
    k.network = network && hf_network_enter();
    (void)chdir("/");
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &child, NULL);
    k.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (k.children < 0)
        _exit(126);
    for (;;) {
        struct pollfd on[2] = {{k.socket, POLLIN, 0}, {k.children, POLLIN, 0}};

        if (poll(on, 2, -1) < 0)
            continue;
        if (on[1].revents)
            reap(&k);
        if (on[0].revents && !serve(&k))
            break;
    }
    k.gone = true;
    finish(&k);
    _exit(0);
}

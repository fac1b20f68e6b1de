/* watch_listen.c: events from a local socket, many connections at once.
 *
 * One thread, poll().  A connection has a buffer of at most one line; a client
 * that sends faster than its events are judged waits in its write().
 */
#include "cli/watch_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#define MOST_CONNECTIONS 1024u
#define WAIT_MS 50
#define READ_BYTES 65536

typedef struct connection {
    int fd;
    hf_lines lines;
} connection;

typedef struct server {
    hf_watch_source *s;
    HF_VEC(connection *) connections;
    HF_VEC(struct pollfd) polled;
    bool wanted;
} server;

/* ---- the socket ---------------------------------------------------------- */

static hf_status refuse(const hf_watch_source *s, const char *why,
                        hf_error *err)
{
    char quoted[160];

    return hf_fail(err, HF_ERR_IO, "could not listen at \"%s\": %s",
                   hf_quote(quoted, sizeof quoted, s->path, strlen(s->path)),
                   why);
}

/* A socket that nobody listens at is what a killed program left. */
static void remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat st;

    if (fd < 0)
        return;
    if (lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    (void)close(fd);
}

hf_status hf_source_listen(hf_watch_source *s, hf_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mode_t before;
    int bound;

    s->fd = -1;
    s->listener = -1;
    if (strlen(s->path) >= sizeof address.sun_path)
        return refuse(s, "the path is too long for a socket", err);
    memcpy(address.sun_path, s->path, strlen(s->path) + 1);
    remove_stale(&address);
    s->listener =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener < 0)
        return refuse(s, strerror(errno), err);
    before = umask(0177); /* 0600, from its first moment on */
    bound = bind(s->listener, (struct sockaddr *)&address, sizeof address);
    (void)umask(before);
    if (bound != 0 || listen(s->listener, 64) != 0) {
        hf_status st = refuse(s, strerror(errno), err);

        (void)close(s->listener);
        s->listener = -1;
        return st;
    }
    return HF_OK;
}

/* ---- connections --------------------------------------------------------- */

static void welcome(server *v)
{
    connection *c;
    int fd = accept4(v->s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (v->connections.n >= MOST_CONNECTIONS) {
        hf_lines_refused(&v->s->hub);
        (void)close(fd);
        return;
    }
    c = HF_NEW(connection);
    c->fd = fd;
    hf_lines_init(&c->lines, &v->s->hub);
    hf_vec_push(&v->connections, c);
}

static void part(server *v, size_t i)
{
    connection *c = v->connections.at[i];

    hf_lines_close(&c->lines);
    (void)close(c->fd);
    hf_free(c);
    v->connections.at[i] = v->connections.at[--v->connections.n];
}

/* False: it was closed. */
static bool hear(server *v, connection *c)
{
    static char bytes[READ_BYTES];
    ssize_t n = read(c->fd, bytes, sizeof bytes);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    v->wanted = hf_lines_feed(&c->lines, bytes, (size_t)n);
    return true;
}

static void serve_once(server *v)
{
    size_t n = v->connections.n;

    v->polled.n = 0;
    hf_vec_push(&v->polled,
                (struct pollfd){.fd = v->s->listener, .events = POLLIN});
    for (size_t i = 0; i < n; i++)
        hf_vec_push(&v->polled, (struct pollfd){.fd = v->connections.at[i]->fd,
                                                .events = POLLIN});
    if (poll(v->polled.at, v->polled.n, WAIT_MS) <= 0)
        return;
    for (size_t i = n; i-- > 0 && v->wanted;)
        if (v->polled.at[i + 1].revents != 0 && !hear(v, v->connections.at[i]))
            part(v, i);
    if (v->polled.at[0].revents != 0)
        welcome(v);
}

void *hf_source_serve(void *source)
{
    server v = {.s = source, .wanted = true};

    v.s->hub.watcher = v.s->watching->watcher;
    while (v.wanted && !atomic_load(&v.s->stop) &&
           !(v.s->once && v.s->hub.n_connections > 0 && v.connections.n == 0))
        serve_once(&v);
    /* interrupted: nobody knows what they were about to say */
    if (v.connections.n > 0)
        hf_watcher_hole(v.s->watching->watcher);
    while (v.connections.n > 0)
        part(&v, 0);
    hf_vec_release(&v.connections);
    hf_vec_release(&v.polled);
    hf_watcher_end(v.s->watching->watcher);
    return NULL;
}

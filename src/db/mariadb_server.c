/* mariadb_server.c: where the server is: addresses, private servers, faults.
 *
 * A private server has its data in n0 (n1, n2: Galera's others) of its
 * directory and its sockets there; no port is opened for clients.  The log is
 * written at every commit but not synced: what is committed survives a kill of
 * the server, not of the machine.
 */
#include "db/mariadb.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"

#define MAX_ARGUMENTS 64u
#define LOOPBACK "127.0.0.1"

/* ---- addresses ----------------------------------------------------------- */

void hf_my_target_release(hf_my_target *t)
{
    hf_free(t->host);
    hf_free(t->user);
    hf_free(t->password);
    hf_free(t->socket);
    memset(t, 0, sizeof(*t));
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *at;

    at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* A part of an address, %xx as the bytes they are; NULL: they are wrong. */
static char *decode(const char *from, const char *to)
{
    char *ret = hf_alloc((size_t)(to - from) + 1), *at = ret;

    for (; from < to; from++) {
        *at = *from;
        if (*from == '%') {
            int high = to - from > 2 ? hex(from[1]) : -1;
            int low = high >= 0 ? hex(from[2]) : -1;

            if (low < 0 || high + low == 0) {
                hf_free(ret);
                return NULL;
            }
            *at = (char)(high * 16 + low);
            from += 2;
        }
        at++;
    }
    *at = '\0';
    return ret;
}

static const char *last_of(const char *from, const char *to, char c)
{
    while (to > from)
        if (*--to == c)
            return to;
    return NULL;
}

/* user:password@ */
static bool read_user(hf_my_target *t, const char *from, const char *to)
{
    const char *colon = memchr(from, ':', (size_t)(to - from));

    t->user = decode(from, colon ? colon : to);
    if (colon)
        t->password = decode(colon + 1, to);
    return t->user && (t->password || !colon);
}

/* host:port */
static bool read_host(hf_my_target *t, const char *from, const char *to)
{
    const char *colon = last_of(from, to, ':');
    bool bracket = from < to && *from == '[';
    char *end = NULL;

    t->port = 3306;
    if (colon && (!bracket || colon[-1] == ']')) {
        unsigned long port = strtoul(colon + 1, &end, 10);

        if (end != to || colon + 1 == to || port == 0 || port > 65535)
            return false;
        t->port = (unsigned)port;
        to = colon;
    }
    if (bracket && to[-1] == ']') {
        from++;
        to--;
    }
    if (to == from) {
        from = LOOPBACK;
        to = from + strlen(from);
    }
    t->host = decode(from, to);
    return t->host != NULL;
}

/* ?socket=/path */
static bool read_more(hf_my_target *t, const char *at)
{
    if (*at == '\0')
        return true;
    if (strncmp(at, "?socket=", 8) != 0 || at[8] != '/')
        return false;
    t->socket = decode(at + 8, at + strlen(at));
    return t->socket != NULL;
}

/* An address: user:password@host:port/database?socket=/path; the database in
 * it is not touched: ours is the one of --schema. */
static bool read_parts(hf_my_db *p, const char *a)
{
    hf_my_target *t = &p->target[0];
    size_t slashes = strncmp(a, "//", 2) == 0 ? 2 : 0;
    const char *host = a + slashes, *end = host + strcspn(host, "/?"), *at;
    char *name;

    at = last_of(host, end, '@');
    if (at && !read_user(t, host, at))
        return false;
    host = at ? at + 1 : host;
    if (!read_host(t, host, end))
        return false;
    if (*end == '/') {
        at = end + 1 + strcspn(end + 1, "?");
        name = decode(end + 1, at);
        if (!name || strlen(name) >= sizeof(p->schema)) {
            hf_free(name);
            return false;
        }
        hf_free(name);
        end = at;
    }
    return read_more(t, end);
}

hf_status hf_my_read_address(hf_my_db *p, hf_error *err)
{
    const char *a = p->base.options.address;

    p->base.options.address = NULL; /* what is shown comes from `where` */
    if (read_parts(p, a))
        return HF_OK;
    return hf_fail(err, HF_ERR_USAGE,
                   "the address is not understood; expected "
                   "mariadb://user:password@host:port/database");
}

/* ---- making -------------------------------------------------------------- */

hf_status hf_my_find_programs(hf_my_db *p, hf_error *err)
{
    const hf_server_program server = {"mariadbd", NULL,
                                      "/usr/sbin /usr/local/sbin "
                                      "/usr/libexec /usr/local/libexec",
                                      NULL, p->base.driver->package};

    return hf_server_find(&server, p->program, sizeof(p->program), err);
}

static hf_status install(hf_my_db *p, hf_error *err)
{
    const hf_server_program tool = {"mariadb-install-db", NULL,
                                    "/usr/bin /usr/local/bin "
                                    "/usr/local/mysql/scripts",
                                    NULL, p->base.driver->package};
    char program[HF_SERVER_PATH * 2], data[HF_SERVER_PATH + 40];
    char temporary[HF_SERVER_PATH + 40]; /* /tmp is cleared by other servers */
    const char *arguments[] = {program,
                               "--no-defaults",
                               data,
                               temporary,
                               "--auth-root-authentication-method=normal",
                               "--skip-test-db",
                               "--skip-name-resolve",
                               "--innodb-log-file-size=32M",
                               "--innodb-buffer-pool-size=32M",
                               "--innodb-flush-method=nosync",
                               NULL};
    hf_status st = hf_server_find(&tool, program, sizeof(program), err);

    if (st != HF_OK)
        return st;
    (void)snprintf(data, sizeof(data), "--datadir=%s/n0",
                   hf_server_directory(p->server));
    (void)snprintf(temporary, sizeof(temporary), "--tmpdir=%s",
                   hf_server_directory(p->server));
    return hf_server_run(p->server, arguments, 120, err);
}

static void set_target(hf_my_db *p, unsigned node)
{
    hf_my_target *t = &p->target[node];
    size_t size = HF_SERVER_PATH + 20;

    hf_my_target_release(t);
    t->user = hf_alloc(5);
    memcpy(t->user, "root", 5);
    t->socket = hf_alloc(size);
    (void)snprintf(t->socket, size, "%s/s%u", hf_server_directory(p->server),
                   node);
}

hf_status hf_my_make(hf_my_db *p, bool network, hf_error *err)
{
    const hf_server_options o = {p->nodes > 1 ? "Galera" : "MariaDB",
                                 p->base.options.directory,
                                 p->base.options.keep, network};
    hf_status st = hf_my_find_programs(p, err);

    if (st == HF_OK)
        st = hf_server_new(&o, &p->server, err);
    return st == HF_OK ? install(p, err) : st;
}

/* ---- starting ------------------------------------------------------------ */

typedef struct waiting {
    hf_my_db *p;
    unsigned node;
    bool (*ready)(hf_my_link *l);
} waiting;

static bool is_ready(void *user)
{
    const waiting *w = user;
    hf_my_link l = {.wake = -1};
    bool ready = hf_my_link_open(&l, &w->p->target[w->node], -1, hf_my_in(2),
                                 NULL) == HF_OK;

    if (ready && w->ready)
        ready = w->ready(&l);
    hf_my_link_close(&l);
    return ready;
}

hf_status hf_my_start(hf_my_db *p, unsigned node, const char *const *more,
                      bool (*ready)(hf_my_link *l), double seconds,
                      hf_error *err)
{
    static const char *const fixed[] = {"--skip-networking",
                                        "--skip-name-resolve",
                                        "--innodb-flush-log-at-trx-commit=2",
                                        "--innodb-log-file-size=32M",
                                        "--innodb-buffer-pool-size=64M",
                                        "--max-prepared-stmt-count=1000000",
                                        "--skip-slow-query-log",
                                        "--performance-schema=OFF",
                                        "--skip-stack-trace",
                                        NULL};
    const char *d = hf_server_directory(p->server), *a[MAX_ARGUMENTS];
    char data[HF_SERVER_PATH + 40], socket[HF_SERVER_PATH + 40],
        pid[HF_SERVER_PATH + 40], temporary[HF_SERVER_PATH + 40], most[60];
    waiting w = {p, node, ready};
    unsigned n = 0;
    hf_status st;

    (void)snprintf(data, sizeof(data), "--datadir=%s/n%u", d, node);
    (void)snprintf(socket, sizeof(socket), "--socket=%s/s%u", d, node);
    (void)snprintf(pid, sizeof(pid), "--pid-file=%s/p%u", d, node);
    (void)snprintf(temporary, sizeof(temporary), "--tmpdir=%s", d);
    (void)snprintf(most, sizeof(most), "--max-connections=%u",
                   p->base.options.clients * 2 + 50);
    a[n++] = p->program;
    a[n++] = "--no-defaults";
    a[n++] = data;
    a[n++] = socket;
    a[n++] = pid;
    a[n++] = temporary;
    a[n++] = most;
    for (unsigned i = 0; fixed[i]; i++)
        a[n++] = fixed[i];
    for (unsigned i = 0; more && more[i] && n + 1 < MAX_ARGUMENTS; i++)
        a[n++] = more[i];
    a[n] = NULL;
    set_target(p, node);
    st = hf_server_start(p->server, node, a, SIGKILL, err);
    if (st != HF_OK)
        return st;
    return hf_server_wait(p->server, node, is_ready, &w, seconds, err);
}

/* ---- faults -------------------------------------------------------------- */

bool hf_my_can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    const hf_my_db *p = (const hf_my_db *)db;

    if (f == HF_FAULT_CUT_CLIENT)
        return true;
    if (!p->server) {
        (void)snprintf(why, size, "the server is not ours");
        return false;
    }
    if (f == HF_FAULT_PARTITION && p->nodes < 2) {
        (void)snprintf(why, size, "there is one node: nothing to part");
        return false;
    }
    return f < HF_FAULT_COUNT;
}

static hf_status start_again(hf_my_db *p, unsigned node, hf_error *err)
{
    if (p->nodes > 1)
        return hf_galera_start(p, node, false, err);
    return hf_my_start(p, node, NULL, NULL, 60, err);
}

static hf_status do_fault(hf_my_db *p, hf_db_fault f, uint64_t seed, bool begin,
                          hf_error *err)
{
    unsigned node = p->fault_node[f];

    switch (f) {
    case HF_FAULT_KILL:
        if (!begin)
            return start_again(p, node, err);
        hf_server_kill(p->server, node);
        return HF_OK;
    case HF_FAULT_RESTART:
        if (!begin)
            return start_again(p, node, err);
        hf_server_stop(p->server, node, SIGTERM, 20);
        return HF_OK;
    case HF_FAULT_PAUSE:
        hf_server_pause(p->server, node, begin);
        return HF_OK;
    default:
        return hf_galera_part(p, node, seed, begin, err);
    }
}

hf_status hf_my_fault(hf_db *db, hf_db_fault f, uint64_t seed, bool begin,
                      hf_error *err)
{
    hf_my_db *p = (hf_my_db *)db;
    char why[100];
    hf_status st;

    if (!hf_my_can_fault(db, f, why, sizeof(why)))
        return hf_fail(err, HF_ERR_USAGE, "%s", why);
    if (f == HF_FAULT_CUT_CLIENT) {
        if (begin)
            hf_db_roster_cut(&p->roster, db, seed);
        return HF_OK;
    }
    (void)pthread_mutex_lock(&p->mutex);
    if (begin)
        p->fault_node[f] = (unsigned)(hf_mix64(seed) % p->nodes);
    if (begin && p->nodes < 2)
        (void)snprintf(db->struck, sizeof(db->struck), "the server");
    else if (begin)
        (void)snprintf(db->struck, sizeof(db->struck), "node %u",
                       p->fault_node[f]);
    st = do_fault(p, f, seed, begin, err);
    if (begin && f == HF_FAULT_PARTITION && p->all_cut)
        (void)snprintf(db->struck, sizeof(db->struck), "all nodes");
    (void)pthread_mutex_unlock(&p->mutex);
    return st;
}

/* postgres_server.c: private PostgreSQL servers, and what is done to them.
 *
 * Everything is in one directory: the data of node i in "n0", "n1", the sockets
 * in the directory itself, named by port 5432 + i.  No port is opened.  Nothing
 * is synced to disk: what is written survives a kill of the server, not of the
 * machine, which is all that a throw-away server needs.
 *
 * With a standby, both run in a network namespace of their own where one can be
 * had: the standby follows the primary through its loopback, and to part the
 * two the loopback is taken down.  Clients use the sockets, which do not care.
 * Elsewhere the standby follows through the socket too, and to part them its
 * receiver process is stopped: the connection stays, nothing gets through.
 */
#include "db/postgres.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"

#define START_SECONDS 60.0
#define LOOPBACK "127.0.0.1"

/* ---- making -------------------------------------------------------------- */

/* enable_seqscan: a scan of a small table would lock all of it against
 * writers at serializable, and half of the transactions would fail.
 * full_page_writes stays on: kill -9 may tear a page.
 * max_connections is far more than there are: the tables for conflicts of
 * serializable transactions are as large as it, and the longest run fills
 * them. */
static const char settings[] =
    "listen_addresses = '%s'\n"
    "unix_socket_directories = '%s'\n"
    "unix_socket_permissions = 0700\n"
    "port = 5432\n"
    "max_connections = %u\n"
    "shared_buffers = 64MB\n"
    "dynamic_shared_memory_type = mmap\n"
    "fsync = off\n"
    "default_transaction_isolation = 'read committed'\n"
    "enable_seqscan = off\n"
    "jit = off\n"
    "track_commit_timestamp = on\n"
    "deadlock_timeout = 10ms\n"
    "max_pred_locks_per_transaction = 256\n"
    "wal_level = replica\n"
    "max_wal_senders = 10\n"
    "max_replication_slots = 10\n"
    "hot_standby = on\n"
    "hot_standby_feedback = on\n"
    "wal_retrieve_retry_interval = 100ms\n"
    "wal_sender_timeout = 3s\n"
    "wal_receiver_timeout = 3s\n"
    "wal_receiver_status_interval = 1s\n"
    "log_min_messages = log\n"
    "log_line_prefix = ''\n"
    "log_checkpoints = off\n";

static void data_path(const hf_pg_db *p, unsigned node, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/n%u", hf_server_directory(p->server), node);
}

static void program(const hf_pg_db *p, const char *name, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/%s", p->bin, name);
}

static hf_status find_programs(hf_pg_db *p, hf_error *err)
{
    const char *v = p->base.options.variant;
    const hf_server_program initdb = {
        "initdb", "pg_config --bindir", "/usr/lib/postgresql/*/bin",
        v && v[0] == '/' ? v : NULL, p->base.driver->package};
    hf_status st;

    if (v && v[0] != '/')
        return hf_fail(err, HF_ERR_USAGE,
                       "unknown variant \"%s\" of %s: it may be the directory "
                       "of its programs",
                       v, p->base.driver->name);
    st = hf_server_find(&initdb, p->bin, sizeof(p->bin), err);
    if (st == HF_OK)
        *strrchr(p->bin, '/') = '\0';
    return st;
}

static hf_status write_settings(hf_pg_db *p, hf_error *err)
{
    char text[sizeof(settings) + HF_SERVER_PATH + 40];

    if (strchr(hf_server_directory(p->server), '\''))
        return hf_fail(err, HF_ERR_USAGE,
                       "the directory's name has a quote in it");
    (void)snprintf(text, sizeof(text), settings, p->network ? LOOPBACK : "",
                   hf_server_directory(p->server),
                   p->base.options.clients * p->nodes * 4 + 100);
    return hf_server_write(p->server, "n0/postgresql.conf", text, true, err);
}

static hf_status make_cluster(hf_pg_db *p, hf_error *err)
{
    char initdb[500], data[300];
    const char *arguments[] = {initdb,     "-D",         data,        "-U",
                               "holdfast", "-A",         "trust",     "-E",
                               "UTF8",     "--locale=C", "--no-sync", NULL};
    hf_status st;

    program(p, "initdb", initdb, sizeof(initdb));
    data_path(p, 0, data, sizeof(data));
    st = hf_server_run(p->server, arguments, START_SECONDS, err);
    return st == HF_OK ? write_settings(p, err) : st;
}

static void set_info(hf_pg_db *p, unsigned node)
{
    char info[HF_SERVER_PATH + 200];

    (void)snprintf(info, sizeof(info),
                   "host='%s' port=%u user=holdfast dbname=postgres "
                   "options='' application_name=holdfast sslmode=disable "
                   "gssencmode=disable target_session_attrs=any",
                   hf_server_directory(p->server), 5432 + node);
    hf_free(p->info[node]);
    p->info[node] = hf_alloc(strlen(info) + 1);
    memcpy(p->info[node], info, strlen(info) + 1);
}

typedef struct waiting {
    hf_pg_db *p;
    unsigned node;
} waiting;

static bool is_ready(void *user)
{
    waiting *w = user;
    hf_pg_link l = {0};
    bool ready = hf_pg_link_open(&l, w->p->info[w->node], -1, hf_pg_in(2),
                                 NULL) == HF_OK;

    hf_pg_link_close(&l);
    return ready;
}

/* What a killed server leaves, which would stop the next: nobody of them is
 * alive. */
static void remove_locks(const hf_pg_db *p, unsigned node)
{
    char path[400];

    (void)snprintf(path, sizeof(path), "%s/n%u/postmaster.pid",
                   hf_server_directory(p->server), node);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/.s.PGSQL.%u.lock",
                   hf_server_directory(p->server), 5432 + node);
    (void)unlink(path);
}

hf_status hf_pg_start(hf_pg_db *p, unsigned node, hf_error *err)
{
    char postgres[500], data[300], port[20];
    const char *arguments[] = {postgres, "-D", data, "-c", port, NULL};
    waiting w = {p, node};
    hf_status st;

    program(p, "postgres", postgres, sizeof(postgres));
    data_path(p, node, data, sizeof(data));
    (void)snprintf(port, sizeof(port), "port=%u", 5432 + node);
    remove_locks(p, node);
    set_info(p, node);
    st = hf_server_start(p->server, node, arguments, SIGQUIT, err);
    if (st != HF_OK)
        return st;
    return hf_server_wait(p->server, node, is_ready, &w, START_SECONDS, err);
}

hf_status hf_pg_make(hf_pg_db *p, hf_error *err)
{
    const hf_server_options o = {"PostgreSQL", p->base.options.directory,
                                 p->base.options.keep, p->nodes > 1};
    hf_status st = find_programs(p, err);

    if (st == HF_OK)
        st = hf_server_new(&o, &p->server, err);
    if (st == HF_OK) {
        p->network = hf_server_has_network(p->server);
        st = make_cluster(p, err);
    }
    if (st == HF_OK)
        st = hf_pg_start(p, 0, err);
    return st;
}

hf_status hf_pg_make_standby(hf_pg_db *p, hf_error *err)
{
    char backup[500], data[300];
    const char *host = p->network ? LOOPBACK : hf_server_directory(p->server);
    const char *arguments[] = {backup, "-h",       host,        "-p", "5432",
                               "-U",   "holdfast", "-D",        data, "-R",
                               "-C",   "-S",       "standby",   "-X", "stream",
                               "-c",   "fast",     "--no-sync", NULL};
    hf_status st;

    program(p, "pg_basebackup", backup, sizeof(backup));
    data_path(p, 1, data, sizeof(data));
    st = hf_server_run(p->server, arguments, START_SECONDS, err);
    return st == HF_OK ? hf_pg_start(p, 1, err) : st;
}

/* ---- faults -------------------------------------------------------------- */

bool hf_pg_can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    const hf_pg_db *p = (const hf_pg_db *)db;

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

/* The process of the standby that listens to the primary; 0: none. */
static pid_t find_receiver(hf_pg_db *p)
{
    hf_pg_link l = {0};
    PGresult *r = NULL;
    hf_db_answer a;
    pid_t pid = 0;

    if (hf_pg_link_open(&l, p->info[1], -1, hf_pg_in(2), NULL) != HF_OK)
        return 0;
    hf_pg_link_ask(&l, "SELECT pid FROM pg_stat_wal_receiver", hf_pg_in(2), &r,
                   &a);
    if (a.status == HF_DB_OK && PQntuples(r) == 1)
        pid = (pid_t)strtol(PQgetvalue(r, 0, 0), NULL, 10);
    PQclear(r);
    hf_pg_link_close(&l);
    return pid;
}

static hf_status part(hf_pg_db *p, bool begin, hf_error *err)
{
    if (p->network) {
        if (hf_server_cut(p->server, begin))
            return HF_OK;
        return hf_fail(err, HF_ERR_IO,
                       "could not part the standby from its primary");
    }
    if (!begin) {
        if (p->stopped > 0)
            (void)hf_server_pause_one(p->server, 1, p->stopped, false);
        p->stopped = 0;
        return HF_OK;
    }
    for (unsigned i = 0; i < 100 && p->stopped == 0; i++) {
        pid_t pid = find_receiver(p);

        if (pid > 0 && hf_server_pause_one(p->server, 1, pid, true))
            p->stopped = pid;
        else
            hf_db_sleep(100u * 1000 * 1000);
    }
    if (p->stopped > 0)
        return HF_OK;
    return hf_fail(err, HF_ERR_IO,
                   "could not part the standby from its primary: it does not "
                   "follow");
}

static hf_status do_fault(hf_pg_db *p, hf_db_fault f, unsigned node, bool begin,
                          hf_error *err)
{
    switch (f) {
    case HF_FAULT_KILL:
        if (!begin)
            return hf_pg_start(p, node, err);
        hf_server_kill(p->server, node);
        return HF_OK;
    case HF_FAULT_RESTART:
        if (!begin)
            return hf_pg_start(p, node, err);
        hf_server_stop(p->server, node, SIGINT, 20);
        return HF_OK;
    case HF_FAULT_PAUSE:
        hf_server_pause(p->server, node, begin);
        return HF_OK;
    default:
        return part(p, begin, err);
    }
}

hf_status hf_pg_fault(hf_db *db, hf_db_fault f, uint64_t seed, bool begin,
                      hf_error *err)
{
    hf_pg_db *p = (hf_pg_db *)db;
    char why[100];
    hf_status st = HF_OK;

    if (!hf_pg_can_fault(db, f, why, sizeof(why)))
        return hf_fail(err, HF_ERR_USAGE, "%s", why);
    if (f == HF_FAULT_CUT_CLIENT) {
        if (begin)
            hf_db_roster_cut(&p->roster, db, seed);
        return HF_OK;
    }
    (void)pthread_mutex_lock(&p->mutex);
    if (begin)
        p->fault_node[f] = (unsigned)(hf_mix64(seed) % p->nodes);
    if (begin)
        (void)snprintf(db->struck, sizeof(db->struck), "%s",
                       p->nodes < 2              ? "the server"
                       : f == HF_FAULT_PARTITION ? "primary from standby"
                       : p->fault_node[f] == 0   ? "the primary"
                                                 : "the standby");
    st = do_fault(p, f, p->fault_node[f], begin, err);
    (void)pthread_mutex_unlock(&p->mutex);
    return st;
}

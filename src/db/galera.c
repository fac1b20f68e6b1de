/* galera.c: MariaDB as a Galera cluster of three private nodes.
 *
 * Client i talks to node i % 3.  A commit is sent to all nodes, in one order,
 * and certified: of two transactions on different nodes that write the same row
 * at the same time, the second in that order is aborted (error 1213).  Reads
 * are not certified, and the other nodes apply a commit some time after its
 * client was told of it (wsrep_sync_wait is off).  So, between nodes:
 *
 * - Every node shows a prefix of the one order of commits: no strict level,
 *   but a session stays on its node.
 * - Serializable locks what is read on the node only: write skew between
 *   nodes commits.  All that was read is still the newest of the node when the
 *   commit is sent, and the writes are certified: snapshot isolation.
 * - At the lower levels a transaction sees what MariaDB shows there.
 *
 * At serializable a node may come to a stop: the thread that applies the
 * commits of others waits for a row that a local transaction has read, which is
 * in its commit and waits for its turn; neither is aborted.  By default the
 * node's queue then stops the whole cluster (flow control) some writes later;
 * here the limit of that queue is so high that the other nodes go on.
 *
 * Nodes talk through a network namespace of their own where one can be had,
 * else through free ports of the loopback; a joining node gets its data by
 * rsync.  The fault `partition` isolates one node, which is Galera's own
 * setting for tests, or (in a network of their own, one time out of four) takes
 * the network down, so that each node is alone.
 */
#include "db/mariadb.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/map.h"
#include "db/drivers.h"
#include "model/witness.h"

#define START_SECONDS 150.0

static const hf_db_promise promises[] = {
    {HF_DB_REPEATABLE_READ, HF_READ_COMMITTED,
     "MariaDB, SET TRANSACTION: a snapshot for plain SELECT only; locking "
     "reads and writes see the newest rows of the node"},
    {HF_DB_READ_COMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "MariaDB, SET TRANSACTION: each consistent read has a fresh snapshot"},
    {HF_DB_READ_UNCOMMITTED, HF_READ_UNCOMMITTED,
     "MariaDB, SET TRANSACTION: dirty reads on the node"},
    {HF_DB_SNAPSHOT, HF_SNAPSHOT_ISOLATION,
     "Galera, isolation levels: snapshot isolation between nodes, the first "
     "to commit wins"},
    {HF_DB_SERIALIZABLE, HF_SNAPSHOT_ISOLATION,
     "Galera, isolation levels: serializable within a node only, snapshot "
     "isolation between nodes"},
};

static const hf_db_promise repeatable_snapshot = {
    HF_DB_REPEATABLE_READ, HF_SNAPSHOT_ISOLATION,
    "Galera, isolation levels: snapshot isolation between nodes, the first to "
    "commit wins"};

#define N_PROMISES (sizeof(promises) / sizeof(promises[0]))

static const hf_db_promise *promise_of(const hf_db *db, hf_db_level level)
{
    const hf_my_db *p = (const hf_my_db *)db;

    if (level == HF_DB_DEFAULT)
        level = HF_DB_REPEATABLE_READ;
    if (level == HF_DB_SNAPSHOT && !p->snapshot_option)
        return NULL;
    if (level == HF_DB_REPEATABLE_READ && p->snapshot_always)
        return &repeatable_snapshot;
    for (size_t i = 0; i < N_PROMISES; i++)
        if (promises[i].level == level)
            return &promises[i];
    return NULL;
}

/* ---- what it needs ------------------------------------------------------- */

static hf_status find_provider(hf_my_db *p, hf_error *err)
{
    static const char *const places[] = {"/usr/lib/galera/libgalera_smm.so",
                                         "/usr/lib/libgalera_smm.so",
                                         "/usr/lib64/galera-4/libgalera_smm.so",
                                         "/usr/lib64/galera/libgalera_smm.so",
                                         "/usr/local/lib/libgalera_smm.so"};
    const hf_server_program rsync = {"rsync", NULL, "/usr/bin", NULL, "rsync"};
    char path[HF_SERVER_PATH * 2];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], R_OK) == 0) {
            (void)snprintf(p->provider, sizeof(p->provider), "%s", places[i]);
            return hf_server_find(&rsync, path, sizeof(path), err);
        }
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "could not find the library \"libgalera_smm.so\": install "
                   "the Debian package galera-4");
}

static bool port_is_free(unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free;

    if (fd < 0)
        return false;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_free =
        bind(fd, (const struct sockaddr *)(const void *)&a, sizeof(a)) == 0;
    (void)close(fd);
    return is_free;
}

/* Three a node: the group's, two for catching up. */
static hf_status choose_ports(hf_my_db *p, hf_error *err)
{
    bool own = hf_server_has_network(p->server);
    unsigned first = 20000;

    for (unsigned i = 0; i < 200; i++) {
        unsigned n = 0;

        if (!own)
            first =
                20000 +
                (unsigned)(hf_mix64((uint64_t)getpid() * 256 + i) % 1200) * 10;
        while (n < 3 * HF_MY_NODES && (own || port_is_free(first + n)))
            n++;
        if (n < 3 * HF_MY_NODES)
            continue;
        for (unsigned k = 0; k < HF_MY_NODES; k++)
            p->group_port[k] = first + 3 * k;
        return HF_OK;
    }
    return hf_fail(err, HF_ERR_IO, "could not find free ports for Galera");
}

/* ---- nodes --------------------------------------------------------------- */

/* The value of a variable of the cluster's state. */
static bool state_is(hf_my_link *l, const char *name, const char *wanted)
{
    MYSQL_RES *r = NULL;
    MYSQL_ROW row;
    hf_db_answer a;
    char sql[100];
    bool is;

    (void)snprintf(sql, sizeof(sql), "SHOW STATUS LIKE '%s'", name);
    hf_my_link_ask(l, sql, hf_my_in(2), &r, &a);
    row = r ? mysql_fetch_row(r) : NULL;
    is = row && row[1] && strcmp(row[1], wanted) == 0;
    mysql_free_result(r);
    return is;
}

static bool is_synced(hf_my_link *l)
{
    return state_is(l, "wsrep_local_state_comment", "Synced") &&
           state_is(l, "wsrep_ready", "ON");
}

hf_status hf_galera_start(hf_my_db *p, unsigned node, bool first, hf_error *err)
{
    unsigned g = p->group_port[node];
    char provider[HF_SERVER_PATH * 2 + 40], group[120], address[60],
        receive[60], options[500];
    const char *more[] = {"--wsrep-on=ON",
                          "--binlog-format=ROW",
                          "--innodb-autoinc-lock-mode=2",
                          "--wsrep-cluster-name=holdfast",
                          "--wsrep-sst-method=rsync",
                          "--wsrep-sync-wait=0",
                          provider,
                          group,
                          address,
                          receive,
                          options,
                          first ? "--wsrep-new-cluster" : NULL,
                          NULL};

    (void)snprintf(provider, sizeof(provider), "--wsrep-provider=%s",
                   p->provider);
    (void)snprintf(group, sizeof(group),
                   "--wsrep-cluster-address=gcomm://127.0.0.1:%u,127.0.0.1:%u,"
                   "127.0.0.1:%u",
                   p->group_port[0], p->group_port[1], p->group_port[2]);
    (void)snprintf(address, sizeof(address),
                   "--wsrep-node-address=127.0.0.1:%u", g);
    (void)snprintf(receive, sizeof(receive),
                   "--wsrep-sst-receive-address=127.0.0.1:%u", g + 2);
    (void)snprintf(options, sizeof(options),
                   "--wsrep-provider-options=gmcast.listen_addr=tcp://"
                   "127.0.0.1:%u;ist.recv_addr=127.0.0.1:%u;gcache.size=32M;"
                   "pc.recovery=false;evs.keepalive_period=PT0.5S;"
                   "evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT3S;"
                   "evs.inactive_timeout=PT6S;evs.install_timeout=PT6S;"
                   "gcs.fc_limit=100000",
                   g, g + 1);
    return hf_my_start(p, node, more, is_synced, START_SECONDS, err);
}

static hf_status start_all(hf_my_db *p, hf_error *err)
{
    hf_status st = choose_ports(p, err);
    char name[8];

    for (unsigned i = 0; i < HF_MY_NODES && st == HF_OK; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        if (i > 0)
            st = hf_server_mkdir(p->server, name, err);
        if (st == HF_OK)
            st = hf_galera_start(p, i, i == 0, err);
    }
    return st;
}

static hf_status open_cluster(const hf_db_options *o, hf_db **ret,
                              hf_error *err)
{
    hf_my_db *p = hf_my_new(&hf_db_galera, o);
    hf_status st = hf_my_check_names(p, err);

    p->nodes = HF_MY_NODES;
    if (st == HF_OK && o->address)
        st = hf_fail(err, HF_ERR_USAGE,
                     "galera is always private: it has no address");
    if (st == HF_OK)
        st = find_provider(p, err);
    if (st == HF_OK)
        st = hf_my_make(p, true, err);
    if (st == HF_OK)
        st = start_all(p, err);
    if (st == HF_OK)
        st = hf_my_look(p, err);
    if (st != HF_OK) {
        hf_my_close(&p->base);
        return st;
    }
    *ret = &p->base;
    return HF_OK;
}

/* ---- partitions ---------------------------------------------------------- */

static hf_status isolate(hf_my_db *p, unsigned node, bool begin, hf_error *err)
{
    hf_my_link l = {.wake = -1};
    hf_db_answer a;
    hf_status st = hf_my_link_open(&l, &p->target[node], -1, hf_my_in(10), err);

    if (st != HF_OK)
        return st;
    hf_my_link_ask(&l,
                   begin ? "SET GLOBAL wsrep_provider_options = "
                           "'gmcast.isolate=1'"
                         : "SET GLOBAL wsrep_provider_options = "
                           "'gmcast.isolate=0'",
                   hf_my_in(20), NULL, &a);
    hf_my_link_close(&l);
    if (a.status == HF_DB_OK)
        return HF_OK;
    return hf_fail(err, HF_ERR_IO, "could not part node %u: %s", node, a.text);
}

hf_status hf_galera_part(hf_my_db *p, unsigned node, uint64_t seed, bool begin,
                         hf_error *err)
{
    if (begin)
        p->all_cut =
            hf_server_has_network(p->server) && hf_mix64(seed + 1) % 4 == 0;
    if (!p->all_cut)
        return isolate(p, node, begin, err);
    if (hf_server_cut(p->server, begin))
        return HF_OK;
    return hf_fail(err, HF_ERR_IO, "could not part the nodes");
}

static const char *const variant_names[] = {"snapshot", NULL};

const hf_db_driver hf_db_galera = {
    .name = "galera",
    .summary = "MariaDB: three private nodes of a Galera cluster",
    .package = "mariadb-server",
    .heeds = HF_DB_HEEDS_SERVER,
    .variants = variant_names,
    .keeps = HF_REST_SEQUENTIAL | HF_REST_READS,
    .promises = promises,
    .n_promises = N_PROMISES,
    .promise = promise_of,
    .open = open_cluster,
    .close = hf_my_close,
    .describe = hf_my_describe,
    .reset = hf_my_reset,
    .connect = hf_my_connect,
    .disconnect = hf_my_disconnect,
    .interrupt = hf_my_interrupt,
    .begin = hf_my_begin,
    .execute = hf_my_execute,
    .commit = hf_my_commit,
    .abort = hf_my_abort,
    .can_fault = hf_my_can_fault,
    .fault = hf_my_fault,
};

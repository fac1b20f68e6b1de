/* standby.c: PostgreSQL as a cluster: a primary and a standby that serves
 * reads.
 *
 * The standby follows asynchronously: a commit is acknowledged before the
 * standby has it.  Clients with an odd number send their read-only transactions
 * there, all others go to the primary.  So what holds across the two is little:
 *
 * - A reader there may miss what was committed long ago, its own session's
 *   writes as well: no strict level, no session guarantee.
 * - Commits become visible on the primary in another order than in its log, by
 *   which the standby goes: two readers may disagree about the order of two
 *   writers (long fork).  So no snapshot isolation, but parallel snapshot
 *   isolation: whatever a writer has seen stands before it in the log.
 * - There is no serializable on a standby: it reads at repeatable read then.
 *
 * With the fault `partition` the standby does not hear of commits for a while;
 * how, is in postgres_server.c.
 */
#include "db/postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "db/drivers.h"
#include "model/witness.h"

static const hf_db_promise promises[] = {
    {HF_DB_READ_COMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "PostgreSQL manual 13.2.1 and 27.4.1: reads may be stale"},
    {HF_DB_READ_UNCOMMITTED, HF_MONOTONIC_ATOMIC_VIEW,
     "PostgreSQL manual 13.2: behaves like read committed"},
    {HF_DB_REPEATABLE_READ, HF_PARALLEL_SNAPSHOT_ISOLATION,
     "PostgreSQL manual 13.2.2 and 27.4.1: a snapshot, of either node"},
    {HF_DB_SNAPSHOT, HF_PARALLEL_SNAPSHOT_ISOLATION,
     "PostgreSQL manual 13.2.2 and 27.4.1: a snapshot, of either node"},
    {HF_DB_SERIALIZABLE, HF_PARALLEL_SNAPSHOT_ISOLATION,
     "PostgreSQL manual 27.4.1: the standby reads at repeatable read"},
};

/* The end of the primary's log as text; false: see answer. */
static bool end_of_log(hf_pg_session *s, uint64_t deadline, char *ret,
                       size_t size, hf_db_answer *answer)
{
    PGresult *r = NULL;

    hf_pg_link_ask(&s->link[0], "SELECT pg_current_wal_lsn()", deadline, &r,
                   answer);
    if (r)
        (void)snprintf(ret, size, "%s", PQgetvalue(r, 0, 0));
    PQclear(r);
    return answer->status == HF_DB_OK;
}

void hf_pg_catch_up(hf_pg_session *s, hf_db_answer *ret)
{
    hf_pg_db *p = (hf_pg_db *)s->base.db;
    uint64_t deadline = hf_db_deadline(&p->base);
    char end[40], sql[120];

    if (__atomic_load_n(&p->caught_up, __ATOMIC_SEQ_CST) ||
        !end_of_log(s, deadline, end, sizeof(end), ret))
        return;
    (void)snprintf(sql, sizeof(sql),
                   "SELECT pg_last_wal_replay_lsn() >= '%s'::pg_lsn", end);
    for (;;) {
        PGresult *r = NULL;
        bool reached;

        hf_pg_link_ask(&s->link[1], sql, deadline, &r, ret);
        reached = r && PQgetvalue(r, 0, 0)[0] == 't';
        PQclear(r);
        if (ret->status != HF_DB_OK)
            return;
        if (reached)
            break;
        if (hf_db_clock() > deadline) {
            hf_db_answer_set(ret, HF_DB_LOST, "",
                             "the standby does not catch up");
            return;
        }
        hf_db_sleep(5 * 1000 * 1000);
    }
    __atomic_store_n(&p->caught_up, true, __ATOMIC_SEQ_CST);
}

static hf_status open_both(const hf_db_options *o, hf_db **ret, hf_error *err)
{
    hf_pg_db *p = hf_pg_new(&hf_db_postgres_standby, o);
    hf_status st = hf_pg_check_schema(p, err);

    p->nodes = 2;
    if (st == HF_OK && o->address)
        st = hf_fail(err, HF_ERR_USAGE,
                     "postgres-standby is always private: it has no address");
    if (st == HF_OK)
        st = hf_pg_make(p, err);
    if (st == HF_OK)
        st = hf_pg_make_standby(p, err);
    if (st == HF_OK)
        st = hf_pg_look(p, err);
    if (st != HF_OK) {
        hf_pg_close(&p->base);
        return st;
    }
    *ret = &p->base;
    return HF_OK;
}

const hf_db_driver hf_db_postgres_standby = {
    .name = "postgres-standby",
    .summary = "PostgreSQL: a private primary, and a standby that odd clients "
               "read from",
    .package = "postgresql",
    .heeds = HF_DB_HEEDS_SERVER | HF_DB_HEEDS_PROGRAMS,
    .keeps = HF_REST_READS,
    .readers_apart = true,
    .promises = promises,
    .n_promises = sizeof(promises) / sizeof(promises[0]),
    .open = open_both,
    .close = hf_pg_close,
    .describe = hf_pg_describe,
    .reset = hf_pg_reset,
    .connect = hf_pg_connect,
    .disconnect = hf_pg_disconnect,
    .interrupt = hf_pg_interrupt,
    .begin = hf_pg_begin,
    .execute = hf_pg_execute,
    .commit = hf_pg_commit,
    .abort = hf_pg_abort,
    .can_fault = hf_pg_can_fault,
    .fault = hf_pg_fault,
};

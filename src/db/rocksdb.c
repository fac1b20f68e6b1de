/* rocksdb.c: RocksDB in this process, with its transactions.
 *
 * Variants: pessimistic (TransactionDB: rows are locked, circles of waiting are
 * found) and optimistic (OptimisticTransactionDB: commit looks whether
 * anything has changed).  Levels:
 *
 *   snapshot        SetSnapshot at the beginning, reads see that snapshot;
 *                   what is written must not have changed since
 *   serializable    reads are GetForUpdate: locked until the end (shared), or
 *                   checked at commit
 *   read-committed  no snapshot, reads see the newest; UPDATE locks its row
 *                   before it looks at it
 *
 * Statements are run here, on the rows that they name by their keys or that a
 * scan of the primary key finds (rocksdb_run.c).  What is not there cannot be
 * locked, so at serializable rows are asked for by their keys only.  Without an
 * address the files stand in a private directory; with one in a directory that
 * does not exist yet, is empty or bears our mark.  RocksDB allows one process
 * at a time.
 */
#include "db/rocks.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/common.h"
#include "db/drivers.h"
#include "hf_rocksdb.h"
#include "model/witness.h"

/* A lock is waited for at most so long: a wait cannot be interrupted. */
#define LOCK_MILLISECONDS 250
#define MARK "HOLDFAST"

typedef struct database {
    hf_db base;
    hf_rocks_library l;
    hf_db_directory directory;
    char path[400];
    bool made; /* the directory is ours to remove */
    bool optimistic;
    rocksdb_transactiondb_t *locking;
    rocksdb_optimistictransactiondb_t *checking;
    rocksdb_writeoptions_t *write;
    pthread_mutex_t mutex; /* of the tables */
    hf_store_space space;  /* without a store: only tables */
    hf_db_roster roster;
} database;

typedef struct prepared {
    char *sql; /* NULL: nothing */
    hf_store_plan *plan;
} prepared;

typedef struct session {
    hf_db_session base;
    hf_db_member member;
    hf_rocks_txn txn;
    const rocksdb_snapshot_t *snapshot;
    rocksdb_transaction_options_t *locking_options;
    rocksdb_optimistictransaction_options_t *checking_options;
    bool running, refused;
    hf_sql_cache *cache;
    HF_VEC(prepared) statements;
    hf_rng rng;
} session;

static database *database_of(const session *s)
{
    return (database *)(void *)s->base.db;
}

/* ---- the library --------------------------------------------------------- */

static hf_status load_library(hf_rocks_library *l, hf_error *err)
{
    l->handle = dlopen(HF_ROCKS_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "RocksDB is not installed: the Debian package is "
                       "librocksdb-dev");
#define F(name)                                                                \
    *(void **)&l->call_##name = dlsym(l->handle, "rocksdb_" #name);            \
    if (!l->call_##name)                                                       \
        return hf_fail(err, HF_ERR_UNSUPPORTED,                                \
                       "this RocksDB has no function rocksdb_" #name);
    HF_ROCKS_FUNCTIONS(F)
#undef F
    return HF_OK;
}

/* ---- the directory ------------------------------------------------------- */

/* Ours, or empty? */
static bool is_usable(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    bool marked = false, empty = true;

    while (d && (e = readdir(d))) {
        marked |= strcmp(e->d_name, MARK) == 0;
        empty &= strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    }
    if (d)
        (void)closedir(d);
    return d && (marked || empty);
}

static hf_status mark_directory(const database *d, hf_error *err)
{
    char path[sizeof(d->path) + 16];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/" MARK, d->path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "could not write in \"%s\": %s", d->path,
                       strerror(errno));
    (void)close(fd);
    return HF_OK;
}

static hf_status choose_path(database *d, hf_error *err)
{
    const char *address = d->base.options.address;
    int length;

    if (!address) {
        hf_status status = hf_db_directory_make(&d->directory, "RocksDB",
                                                d->base.options.directory,
                                                d->base.options.keep, err);

        if (status != HF_OK)
            return status;
        length = snprintf(d->path, sizeof(d->path), "%s/rocksdb",
                          hf_db_directory_path(&d->directory));
    } else {
        if (strncmp(address, "//", 2) == 0)
            address += 2;
        length = snprintf(d->path, sizeof(d->path), "%s", address);
    }
    if (length >= (int)sizeof(d->path))
        return hf_fail(err, HF_ERR_USAGE,
                       "the path of the directory is too long");
    d->made = mkdir(d->path, 0700) == 0;
    if (!d->made && errno != EEXIST)
        return hf_fail(err, HF_ERR_IO, "could not make \"%s\": %s", d->path,
                       strerror(errno));
    if (!is_usable(d->path))
        return hf_fail(err, HF_ERR_USAGE,
                       "the directory \"%s\" holds files that are not ours; "
                       "name one that does not exist yet",
                       d->path);
    return mark_directory(d, err);
}

/* ---- open, close --------------------------------------------------------- */

static void close_database(hf_db *db)
{
    database *d = (database *)(void *)db;

    if (d->locking)
        d->l.call_transactiondb_close(d->locking);
    if (d->checking)
        d->l.call_optimistictransactiondb_close(d->checking);
    if (d->write)
        d->l.call_writeoptions_destroy(d->write);
    if (d->made && !d->base.options.keep)
        hf_db_remove_tree(d->path);
    hf_db_directory_close(&d->directory);
    hf_store_space_release(&d->space);
    hf_db_roster_release(&d->roster);
    (void)pthread_mutex_destroy(&d->mutex);
    hf_free(d);
}

static hf_status open_files(database *d, hf_error *err)
{
    const hf_rocks_library *l = &d->l;
    rocksdb_options_t *o = l->call_options_create();
    rocksdb_transactiondb_options_t *t = l->call_transactiondb_options_create();
    char *error = NULL;
    hf_status status = HF_OK;

    l->call_options_set_create_if_missing(o, 1);
    l->call_options_set_write_buffer_size(o, 16u << 20);
    /* commit looks for changes in what is still in memory */
    l->call_options_set_max_write_buffer_size_to_maintain(o, 64 << 20);
    if (d->optimistic)
        d->checking = l->call_optimistictransactiondb_open(o, d->path, &error);
    else
        d->locking = l->call_transactiondb_open(o, t, d->path, &error);
    if (error)
        status = hf_fail(err, HF_ERR_IO, "could not open RocksDB in \"%s\": %s",
                         d->path, error);
    l->call_free(error);
    l->call_options_destroy(o);
    l->call_transactiondb_options_destroy(t);
    d->write = l->call_writeoptions_create();
    return status;
}

static hf_status open_database(const hf_db_options *o, hf_db **ret,
                               hf_error *err)
{
    hf_status status;
    database *d;

    if (o->variant && strcmp(o->variant, "pessimistic") != 0 &&
        strcmp(o->variant, "optimistic") != 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "rocksdb has no variant \"%s\": it has pessimistic, "
                       "optimistic",
                       o->variant);
    d = HF_NEW(database);
    d->base.driver = &hf_db_rocksdb;
    d->base.options = *o;
    d->optimistic = o->variant && strcmp(o->variant, "optimistic") == 0;
    (void)pthread_mutex_init(&d->mutex, NULL);
    hf_db_roster_init(&d->roster);
    hf_store_space_init(&d->space);
    status = load_library(&d->l, err);
    if (status == HF_OK)
        status = choose_path(d, err);
    if (status == HF_OK)
        status = open_files(d, err);
    if (status != HF_OK) {
        close_database(&d->base);
        return status;
    }
    *ret = &d->base;
    return HF_OK;
}

static void describe(hf_db *db, hf_db_description *ret)
{
    const database *d = (const database *)(const void *)db;

    (void)snprintf(ret->product, sizeof(ret->product), "RocksDB %s, %s",
                   HF_ROCKS_VERSION,
                   d->optimistic ? "optimistic" : "pessimistic");
    (void)snprintf(ret->where, sizeof(ret->where), "%s%.180s",
                   d->directory.keeper ? "private, " : "", d->path);
    ret->nodes = 1;
}

/* All keys go: they are all ours. */
static hf_status remove_keys(database *d, hf_error *err)
{
    const hf_rocks_library *l = &d->l;
    rocksdb_t *base =
        d->optimistic ? l->call_optimistictransactiondb_get_base_db(d->checking)
                      : NULL;
    rocksdb_readoptions_t *read = l->call_readoptions_create();
    rocksdb_iterator_t *i =
        base ? l->call_create_iterator(base, read)
             : l->call_transactiondb_create_iterator(d->locking, read);
    char *error = NULL;

    for (l->call_iter_seek_to_first(i); l->call_iter_valid(i) && !error;
         l->call_iter_next(i)) {
        size_t length;
        const char *key = l->call_iter_key(i, &length);

        if (base)
            l->call_delete(base, d->write, key, length, &error);
        else
            l->call_transactiondb_delete(d->locking, d->write, key, length,
                                         &error);
    }
    l->call_iter_destroy(i);
    l->call_readoptions_destroy(read);
    if (base)
        l->call_optimistictransactiondb_close_base_db(base);
    if (!error)
        return HF_OK;
    (void)hf_fail(err, HF_ERR_IO, "could not empty \"%s\": %s", d->path, error);
    l->call_free(error);
    return HF_ERR_IO;
}

static hf_status reset(hf_db *db, hf_error *err)
{
    database *d = (database *)(void *)db;
    uint32_t generation = d->space.generation;
    hf_status status = remove_keys(d, err);

    (void)pthread_mutex_lock(&d->mutex);
    hf_store_space_release(&d->space);
    hf_store_space_init(&d->space);
    d->space.generation = generation + 1;
    (void)pthread_mutex_unlock(&d->mutex);
    return status;
}

/* ---- sessions ------------------------------------------------------------ */

static void forget(prepared *p)
{
    hf_store_plan_free(p->plan);
    hf_free(p->sql);
    *p = (prepared){0};
}

static void forget_error(session *s)
{
    s->txn.l->call_free(s->txn.error);
    s->txn.error = NULL;
}

static void end_snapshot(session *s)
{
    s->txn.l->call_readoptions_set_snapshot(s->txn.read, NULL);
    s->txn.l->call_free((void *)s->snapshot);
    s->snapshot = NULL;
}

static void roll_back(session *s)
{
    forget_error(s);
    if (s->running)
        s->txn.l->call_transaction_rollback(s->txn.at, &s->txn.error);
    forget_error(s);
    end_snapshot(s);
    s->running = s->refused = false;
}

static void disconnect(hf_db_session *base)
{
    session *s = (session *)(void *)base;
    const hf_rocks_library *l;

    if (!s)
        return;
    l = s->txn.l;
    hf_db_roster_leave(&database_of(s)->roster, &s->member);
    roll_back(s);
    if (s->txn.at)
        l->call_transaction_destroy(s->txn.at);
    l->call_readoptions_destroy(s->txn.read);
    l->call_transaction_options_destroy(s->locking_options);
    l->call_optimistictransaction_options_destroy(s->checking_options);
    for (size_t i = 0; i < s->statements.n; i++)
        forget(&s->statements.at[i]);
    hf_vec_release(&s->statements);
    hf_sql_cache_free(s->cache);
    hf_out_release(&s->txn.key);
    hf_out_release(&s->txn.value);
    hf_rocks_keys_release(&s->txn.found);
    hf_rocks_keys_release(&s->txn.wanted);
    hf_free(s);
}

static hf_status connect_session(hf_db *db, unsigned client,
                                 hf_db_session **ret, hf_error *err)
{
    database *d = (database *)(void *)db;
    session *s = HF_NEW(session);

    (void)err;
    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
    s->txn.l = &d->l;
    s->txn.read = d->l.call_readoptions_create();
    s->locking_options = d->l.call_transaction_options_create();
    d->l.call_transaction_options_set_deadlock_detect(s->locking_options, 1);
    d->l.call_transaction_options_set_lock_timeout(s->locking_options,
                                                   LOCK_MILLISECONDS);
    s->checking_options = d->l.call_optimistictransaction_options_create();
    hf_out_init_memory(&s->txn.key);
    hf_out_init_memory(&s->txn.value);
    hf_rocks_keys_init(&s->txn.found);
    hf_rocks_keys_init(&s->txn.wanted);
    s->cache = hf_sql_cache_new(HF_SQL_POSTGRES);
    hf_rng_seed(&s->rng, d->base.options.seed * 1000003u + client);
    hf_db_roster_join(&d->roster, &s->member);
    *ret = &s->base;
    return HF_OK;
}

static void interrupt(hf_db_session *base)
{
    atomic_store(&((session *)(void *)base)->member.cut, true);
}

/* ---- answers ------------------------------------------------------------- */

/* What RocksDB says when another transaction was in the way. */
static bool is_conflict(const char *error)
{
    static const char *const words[] = {"Resource busy", "Operation timed out",
                                        "Operation failed. Try again",
                                        "Operation expired"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(error, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The transaction is over. */
static void explain(session *s, hf_db_answer *ret)
{
    const char *error = s->txn.error ? s->txn.error : "";

    hf_db_answer_set(ret, is_conflict(error) ? HF_DB_ABORTED : HF_DB_FAILED, "",
                     "%s", error);
    roll_back(s);
}

static bool start_call(session *s, hf_db_answer *ret)
{
    hf_db_answer_ok(ret);
    if (!atomic_load(&s->member.cut))
        return true;
    roll_back(s);
    hf_db_answer_set(ret, HF_DB_LOST, "", "interrupted");
    return false;
}

/* ---- transactions -------------------------------------------------------- */

static void start(session *s, hf_db_level level)
{
    database *d = database_of(s);
    bool snapshot = level == HF_DB_DEFAULT || level == HF_DB_SNAPSHOT;

    s->txn.locks_reads = level == HF_DB_SERIALIZABLE;
    s->txn.locks_writes = level == HF_DB_READ_COMMITTED;
    if (d->optimistic) {
        d->l.call_optimistictransaction_options_set_set_snapshot(
            s->checking_options, snapshot);
        s->txn.at = d->l.call_optimistictransaction_begin(
            d->checking, d->write, s->checking_options, s->txn.at);
    } else {
        d->l.call_transaction_options_set_set_snapshot(s->locking_options,
                                                       snapshot);
        s->txn.at = d->l.call_transaction_begin(d->locking, d->write,
                                                s->locking_options, s->txn.at);
    }
    s->running = true;
    s->refused = false;
    if (snapshot) {
        s->snapshot = d->l.call_transaction_get_snapshot(s->txn.at);
        d->l.call_readoptions_set_snapshot(s->txn.read, s->snapshot);
    }
}

static void begin(hf_db_session *base, hf_db_level level, bool read_only,
                  hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    (void)read_only;
    if (!start_call(s, ret))
        return;
    roll_back(s);
    if (level == HF_DB_READ_UNCOMMITTED || level == HF_DB_REPEATABLE_READ)
        hf_db_answer_set(ret, HF_DB_FAILED, "", "RocksDB has no level \"%s\"",
                         hf_db_level_name(level));
    else
        start(s, level);
}

static void end(session *s, hf_db_answer *ret)
{
    if (s->refused || !s->running) {
        roll_back(s);
        hf_db_answer_set(ret, HF_DB_ABORTED, "",
                         "the transaction was aborted before");
        return;
    }
    s->txn.l->call_transaction_commit(s->txn.at, &s->txn.error);
    if (s->txn.error) {
        explain(s, ret);
        return;
    }
    s->running = false;
    end_snapshot(s);
}

static void commit(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    /* cut off before the commit or after it: the client cannot tell */
    if (atomic_load(&s->member.cut) && hf_rng_chance(&s->rng, 50))
        end(s, ret);
    if (start_call(s, ret))
        end(s, ret);
}

static void abort_transaction(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    roll_back(s);
    (void)start_call(s, ret);
}

/* ---- statements ---------------------------------------------------------- */

static hf_store_plan *prepare(session *s, const hf_db_statement *statement,
                              hf_error *err)
{
    database *d = database_of(s);
    const hf_sql_statement *parsed;
    prepared *p;

    while (s->statements.n <= statement->number)
        hf_vec_push(&s->statements, (prepared){0});
    p = &s->statements.at[statement->number];
    if (p->sql && strcmp(p->sql, statement->sql) == 0 &&
        p->plan->generation == d->space.generation)
        return p->plan;
    forget(p);
    parsed = hf_sql_parse(s->cache, hf_str_of(statement->sql), err);
    (void)pthread_mutex_lock(&d->mutex);
    p->plan = parsed ? hf_store_plan_new(&d->space, parsed, err) : NULL;
    (void)pthread_mutex_unlock(&d->mutex);
    if (!p->plan)
        return NULL;
    p->sql = hf_alloc(strlen(statement->sql) + 1);
    memcpy(p->sql, statement->sql, strlen(statement->sql) + 1);
    return p->plan;
}

static void define(session *s, const char *sql, hf_db_answer *ret)
{
    database *d = database_of(s);
    hf_error err = {.text = ""};

    (void)pthread_mutex_lock(&d->mutex);
    if (hf_store_define(&d->space, sql, &err) != HF_OK)
        hf_db_answer_set(ret, HF_DB_FAILED, "", "%s", err.text);
    (void)pthread_mutex_unlock(&d->mutex);
}

static void run_plan(session *s, hf_store_plan *plan,
                     const hf_sql_value *params, uint32_t n_params,
                     hf_sql_result *rows, hf_db_answer *ret)
{
    hf_error err = {.text = ""};

    switch (hf_rocks_run(&s->txn, plan, params, n_params, rows, &err)) {
    case HF_STORE_DONE:
        return;
    case HF_STORE_CONFLICT:
        explain(s, ret);
        break;
    case HF_STORE_REFUSED:
        hf_db_answer_set(ret, HF_DB_REFUSED, "refused", "%s", err.text);
        s->refused = true;
        break;
    case HF_STORE_FAILED:
        hf_db_answer_set(ret, HF_DB_FAILED, "", "%s", err.text);
        roll_back(s);
        break;
    }
    rows->n_rows = 0;
}

static void execute(hf_db_session *base, const hf_db_statement *statement,
                    const hf_sql_value *params, uint32_t n_params,
                    hf_sql_result *rows, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    hf_error err = {.text = ""};
    bool alone = !s->running;
    hf_store_plan *plan;

    hf_db_rows_start(rows, 0);
    if (!start_call(s, ret))
        return;
    if (hf_store_is_definition(statement->sql)) {
        define(s, statement->sql, ret);
        return;
    }
    if (s->refused) {
        hf_db_answer_set(ret, HF_DB_REFUSED, "refused",
                         "the transaction has to be aborted");
        return;
    }
    plan = prepare(s, statement, &err);
    if (!plan) {
        hf_db_answer_set(ret, HF_DB_FAILED, "", "%s", err.text);
        return;
    }
    if (alone)
        start(s, HF_DB_DEFAULT);
    run_plan(s, plan, params, n_params, rows, ret);
    if (alone && ret->status == HF_DB_OK)
        end(s, ret);
    else if (alone)
        roll_back(s);
}

/* ---- faults -------------------------------------------------------------- */

static bool can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    (void)db;
    return hf_db_only_cuts(f, "RocksDB", why, size);
}

static hf_status fault(hf_db *db, hf_db_fault f, uint64_t seed, bool on,
                       hf_error *err)
{
    if (f != HF_FAULT_CUT_CLIENT)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "RocksDB has no server");
    if (on)
        hf_db_roster_cut(&((database *)(void *)db)->roster, db, seed);
    return HF_OK;
}

static const hf_db_promise promises[] = {
    {HF_DB_SNAPSHOT, HF_STRICT_SNAPSHOT_ISOLATION,
     "RocksDB wiki, Transactions: SetSnapshot, and what is written is "
     "validated against it"},
    {HF_DB_SERIALIZABLE, HF_STRICT_SERIALIZABLE,
     "RocksDB wiki, Transactions: GetForUpdate, reads are locked or validated"},
    {HF_DB_READ_COMMITTED, HF_READ_COMMITTED,
     "RocksDB wiki, Transactions: reads see what is committed"},
};

static const char *const variant_names[] = {"pessimistic", "optimistic", NULL};

const hf_db_driver hf_db_rocksdb = {
    .name = "rocksdb",
    .summary = "RocksDB, in this process: pessimistic, optimistic",
    .package = "librocksdb-dev",
    .heeds = HF_DB_HEEDS_ADDRESS | HF_DB_HEEDS_KEEP,
    .variants = variant_names,
    .by_key = 1u << HF_DB_SERIALIZABLE,
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

/* store.c: the embedded store (src/store) as a database that speaks SQL.
 *
 * Any level of ours, any bug of its catalogue: the store is opened at one
 * level (options.level), which is what HF_DB_DEFAULT means; other levels may be
 * named if the store's implies them.  Statements go through src/sql
 * (store_run.c).
 *
 * One mutex: the store itself knows no threads.  Between calls the thread
 * yields, and now and then sleeps for some microseconds, so that transactions
 * meet as they do over a network; variant "eager" does not.  Variant
 * "controlled" is eager, keeps all versions, and may be told what reads see
 * (control.h).
 *
 * Rows that are inserted before anything is read are loaded: there from the
 * beginning, for every replica and every snapshot.  Nothing is waited for: a
 * conflict ends the transaction.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/map.h"
#include "base/rng.h"
#include "db/common.h"
#include "db/drivers.h"
#include "db/store_db.h"
#include "model/witness.h"

typedef struct session session;

typedef struct database {
    hf_db base;
    pthread_mutex_t mutex; /* of all that follows */
    hf_store_space space;
    hf_store_options store_options;
    session **slots; /* sessions of the store; NULL: free */
    uint32_t n_slots;
    bool loading; /* nothing but INSERT so far */
    bool eager;
    bool controlled; /* reads may be commanded: control.h */
    hf_db_promise promise;
    hf_db_roster roster;
} database;

typedef struct prepared {
    char *sql; /* NULL: nothing */
    hf_store_plan *plan;
} prepared;

struct session {
    hf_db_session base;
    hf_db_member member;
    uint32_t slot;
    bool running; /* a transaction */
    bool refused; /* a statement of it was: it can only be aborted */
    hf_sql_cache *cache;
    hf_store_loads loads; /* INSERTs of this transaction while loading */
    HF_VEC(prepared) statements;
    hf_rng rng;
};

hf_store_space *hf_store_space_of(hf_db *db)
{
    return &((database *)(void *)db)->space;
}

static database *database_of(const session *s)
{
    return (database *)(void *)s->base.db;
}

/* ---- open, close --------------------------------------------------------- */

static void new_space(database *d)
{
    hf_store_space_init(&d->space);
    d->space.store = hf_store_new(&d->store_options);
    d->space.keeps = d->store_options.bug != HF_BUG_NONE;
    d->space.adds_wrong = d->store_options.bug == HF_BUG_WRONG_ARITHMETIC;
    d->space.can_be_controlled = d->controlled;
    d->space.keeps |= d->controlled;
    d->loading = true;
}

static void close_database(hf_db *db)
{
    database *d = (database *)(void *)db;

    hf_store_space_release(&d->space);
    hf_free(d->slots);
    hf_db_roster_release(&d->roster);
    (void)pthread_mutex_destroy(&d->mutex);
    hf_free(d);
}

static hf_status find_bug(const char *name, hf_store_bug *ret, hf_error *err)
{
    const char *near_name = NULL;

    *ret = HF_BUG_NONE;
    if (!name || hf_store_bug_find(hf_str_of(name), ret, &near_name))
        return HF_OK;
    return hf_fail(err, HF_ERR_USAGE, "the store has no bug \"%s\"%s%s%s", name,
                   near_name ? "; did you mean \"" : "",
                   near_name ? near_name : "", near_name ? "\"?" : "");
}

static hf_status open_database(const hf_db_options *o, hf_db **ret,
                               hf_error *err)
{
    database *d;
    hf_store_bug bug;
    hf_status status = find_bug(o->bug, &bug, err);

    if (status != HF_OK)
        return status;
    if (o->variant && strcmp(o->variant, "eager") != 0 &&
        strcmp(o->variant, "yielding") != 0 &&
        strcmp(o->variant, "controlled") != 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "the store has no variant \"%s\": it has yielding, "
                       "eager, controlled",
                       o->variant);
    d = HF_NEW(database);
    d->base.driver = &hf_db_store;
    d->base.options = *o;
    d->controlled = o->variant && strcmp(o->variant, "controlled") == 0;
    d->eager =
        d->controlled || (o->variant && strcmp(o->variant, "eager") == 0);
    d->n_slots = 2 * o->clients + 16;
    d->slots = HF_NEW_ZEROED(session *, d->n_slots);
    d->store_options = (hf_store_options){
        .level = o->level,
        .bug = bug,
        .bug_percent =
            o->bug_percent ? o->bug_percent : hf_store_bug_get(bug)->percent,
        .sessions = d->n_slots,
        .seed = o->seed,
        .keep_versions = d->controlled};
    d->promise = (hf_db_promise){HF_DB_DEFAULT, o->level,
                                 "the level the store was opened at"};
    (void)pthread_mutex_init(&d->mutex, NULL);
    hf_db_roster_init(&d->roster);
    new_space(d);
    *ret = &d->base;
    return HF_OK;
}

static void describe(hf_db *db, hf_db_description *ret)
{
    const database *d = (const database *)(const void *)db;
    const hf_store_bug_info *bug = hf_store_bug_get(d->store_options.bug);

    (void)snprintf(ret->product, sizeof(ret->product), "embedded store, %s",
                   hf_level_get(d->store_options.level)->name);
    (void)snprintf(ret->where, sizeof(ret->where), "in this process%s%s",
                   bug->bug != HF_BUG_NONE ? ", with the bug " : "",
                   bug->bug != HF_BUG_NONE ? bug->name : "");
    ret->nodes = 1;
}

/* Running transactions are gone, statements have to be planned anew. */
static hf_status reset(hf_db *db, hf_error *err)
{
    database *d = (database *)(void *)db;
    uint32_t generation = d->space.generation;

    (void)err;
    (void)pthread_mutex_lock(&d->mutex);
    hf_store_space_release(&d->space);
    new_space(d);
    d->space.generation = generation + 1;
    for (uint32_t i = 0; i < d->n_slots; i++)
        if (d->slots[i]) {
            d->slots[i]->running = false;
            d->slots[i]->loads.n = 0;
        }
    (void)pthread_mutex_unlock(&d->mutex);
    return HF_OK;
}

/* ---- levels -------------------------------------------------------------- */

static const hf_level levels[HF_DB_LEVEL_COUNT] = {
    [HF_DB_READ_UNCOMMITTED] = HF_READ_UNCOMMITTED,
    [HF_DB_READ_COMMITTED] = HF_READ_COMMITTED,
    [HF_DB_REPEATABLE_READ] = HF_REPEATABLE_READ,
    [HF_DB_SNAPSHOT] = HF_SNAPSHOT_ISOLATION,
    [HF_DB_SERIALIZABLE] = HF_SERIALIZABLE,
};

static const hf_db_promise promises[] = {
    {HF_DB_SERIALIZABLE, HF_SERIALIZABLE, "store/store.h"},
    {HF_DB_SNAPSHOT, HF_SNAPSHOT_ISOLATION, "store/store.h"},
    {HF_DB_REPEATABLE_READ, HF_REPEATABLE_READ, "store/store.h"},
    {HF_DB_READ_COMMITTED, HF_READ_COMMITTED, "store/store.h"},
    {HF_DB_READ_UNCOMMITTED, HF_READ_UNCOMMITTED, "store/store.h"},
};

static bool offers(const database *d, hf_db_level level)
{
    return level == HF_DB_DEFAULT ||
           hf_level_implies(d->store_options.level, levels[level]);
}

/* The level it was opened at is promised, whatever name was used for it. */
static const hf_db_promise *promise(const hf_db *db, hf_db_level level)
{
    const database *d = (const database *)(const void *)db;

    if (level == HF_DB_DEFAULT)
        return &d->promise;
    for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++)
        if (promises[i].level == level && offers(d, level))
            return &promises[i];
    return NULL;
}

/* ---- sessions ------------------------------------------------------------ */

static void forget(prepared *p)
{
    hf_store_plan_free(p->plan);
    hf_free(p->sql);
    *p = (prepared){0};
}

/* With the mutex held. */
static void drop_loads(session *s)
{
    database *d = database_of(s);

    for (size_t i = 0; i < s->loads.n; i++)
        d->space.key_loader.at[s->loads.at[i].key] = 0;
    s->loads.n = 0;
}

/* With the mutex held. */
static void roll_back(session *s)
{
    database *d = database_of(s);

    if (s->running)
        (void)hf_store_abort(d->space.store, s->slot);
    drop_loads(s);
    s->running = s->refused = false;
}

static void disconnect(hf_db_session *base)
{
    session *s = (session *)(void *)base;
    database *d;

    if (!s)
        return;
    d = database_of(s);
    hf_db_roster_leave(&d->roster, &s->member);
    (void)pthread_mutex_lock(&d->mutex);
    roll_back(s);
    d->slots[s->slot] = NULL;
    (void)pthread_mutex_unlock(&d->mutex);
    for (size_t i = 0; i < s->statements.n; i++)
        forget(&s->statements.at[i]);
    hf_vec_release(&s->statements);
    hf_vec_release(&s->loads);
    hf_sql_cache_free(s->cache);
    hf_free(s);
}

/* The client's own slot if it is free, so that it stays with its replica. */
static bool take_slot(database *d, session *s, unsigned client)
{
    bool found = false;

    (void)pthread_mutex_lock(&d->mutex);
    for (uint32_t i = 0; i < d->n_slots && !found; i++) {
        s->slot = (client + i) % d->n_slots;
        if (!d->slots[s->slot]) {
            d->slots[s->slot] = s;
            found = true;
        }
    }
    (void)pthread_mutex_unlock(&d->mutex);
    return found;
}

static hf_status connect_session(hf_db *db, unsigned client,
                                 hf_db_session **ret, hf_error *err)
{
    database *d = (database *)(void *)db;
    session *s = HF_NEW(session);

    if (!take_slot(d, s, client)) {
        hf_free(s);
        return hf_fail(err, HF_ERR_USAGE,
                       "the store was opened for %u clients, there are more",
                       d->base.options.clients);
    }
    s->base.db = db;
    s->base.client = client;
    s->member.client = client;
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

/* ---- calls --------------------------------------------------------------- */

/* Takes the mutex; false: the session was cut, and the mutex is not held. */
static bool enter(session *s, hf_db_answer *ret)
{
    database *d = database_of(s);

    hf_db_answer_ok(ret);
    (void)pthread_mutex_lock(&d->mutex);
    if (!atomic_load(&s->member.cut)) {
        hf_store_deliver(d->space.store);
        return true;
    }
    roll_back(s);
    (void)pthread_mutex_unlock(&d->mutex);
    hf_db_answer_set(ret, HF_DB_LOST, "", "interrupted");
    return false;
}

/* Gives the others a chance. */
static void leave(session *s)
{
    database *d = database_of(s);
    uint32_t chance;
    bool quiet;

    quiet = d->eager || d->loading;
    (void)pthread_mutex_unlock(&d->mutex);
    if (quiet)
        return;
    chance = hf_rng_below(&s->rng, 16);
    if (chance == 0)
        hf_db_sleep(1000u * hf_rng_below(&s->rng, 200));
    else if (chance < 10)
        (void)sched_yield();
}

/* Loading is over: what is not committed yet is written as any other row. */
static void end_loading(database *d)
{
    d->loading = false;
    for (uint32_t i = 0; i < d->n_slots; i++) {
        session *s = d->slots[i];

        if (!s)
            continue;
        for (size_t k = 0; k < s->loads.n; k++)
            (void)hf_store_insert(d->space.store, s->slot, s->loads.at[k].key,
                                  s->loads.at[k].value);
        drop_loads(s);
    }
}

void hf_store_end_loading(hf_db *db)
{
    database *d = (database *)(void *)db;

    if (d->loading)
        end_loading(d);
}

/* ---- statements ---------------------------------------------------------- */

/* A statement that is no INSERT is tried on empty tables first: what is wrong
 * then is wrong with the statement. */
static hf_status try_plan(hf_store_plan *plan, const hf_sql_value *params,
                          uint32_t n_params, hf_error *err)
{
    hf_sql_result nothing;
    hf_status status = HF_OK;

    hf_sql_result_init(&nothing);
    if (plan->s->verb != HF_SQL_INSERT)
        status =
            hf_sql_execute(plan->db, plan->s, params, n_params, &nothing, err);
    hf_sql_result_release(&nothing);
    return status;
}

static hf_store_plan *prepare(session *s, const hf_db_statement *statement,
                              const hf_sql_value *params, uint32_t n_params,
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
    p->plan = parsed ? hf_store_plan_new(&d->space, parsed, err) : NULL;
    if (!p->plan || try_plan(p->plan, params, n_params, err) != HF_OK) {
        forget(p);
        return NULL;
    }
    p->sql = hf_alloc(strlen(statement->sql) + 1);
    memcpy(p->sql, statement->sql, strlen(statement->sql) + 1);
    return p->plan;
}

static bool can_load(const database *d, const hf_store_plan *plan)
{
    return d->loading && plan->s->verb == HF_SQL_INSERT && plan->n_uses == 1 &&
           plan->s->conflict == HF_CONFLICT_ERROR;
}

static void run_plan(session *s, hf_store_plan *plan,
                     const hf_sql_value *params, uint32_t n_params,
                     hf_sql_result *rows, hf_db_answer *ret)
{
    database *d = database_of(s);
    hf_error err = {.text = ""};
    bool load = can_load(d, plan);

    if (d->loading && !load)
        end_loading(d);
    switch (hf_store_run(&d->space, plan, s->slot, params, n_params,
                         load ? &s->loads : NULL, rows, &err)) {
    case HF_STORE_DONE:
        return;
    case HF_STORE_CONFLICT:
        hf_db_answer_set(ret, HF_DB_ABORTED, "locked",
                         "a row is being written by another transaction, or "
                         "was");
        roll_back(s);
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

/* ---- transactions -------------------------------------------------------- */

static void start(session *s)
{
    (void)hf_store_begin(database_of(s)->space.store, s->slot);
    s->running = true;
    s->refused = false;
}

static void begin(hf_db_session *base, hf_db_level level, bool read_only,
                  hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    const database *d = database_of(s);

    (void)read_only;
    if (!enter(s, ret))
        return;
    roll_back(s);
    if (offers(d, level))
        start(s);
    else
        hf_db_answer_set(ret, HF_DB_FAILED, "",
                         "the store was opened at %s, which is not enough for "
                         "%s",
                         hf_level_get(d->store_options.level)->name,
                         hf_db_level_name(level));
    leave(s);
}

/* With the mutex held and a transaction running. */
static hf_outcome finish(session *s)
{
    database *d = database_of(s);
    hf_outcome outcome;

    for (size_t i = 0; i < s->loads.n; i++)
        hf_store_load(d->space.store, s->loads.at[i].key, s->loads.at[i].value);
    drop_loads(s);
    outcome = hf_store_commit(d->space.store, s->slot).outcome;
    s->running = false;
    if (!d->loading)
        hf_store_clean(&d->space, d->n_slots);
    return outcome;
}

static void end(session *s, hf_db_answer *ret)
{
    if (s->refused || !s->running) {
        hf_db_answer_set(ret, HF_DB_ABORTED, "aborted",
                         "the transaction was aborted before");
        roll_back(s);
        return;
    }
    switch (finish(s)) {
    case HF_COMMITTED:
        break;
    case HF_ABORTED:
        hf_db_answer_set(ret, HF_DB_ABORTED, "conflict",
                         "conflict with another transaction");
        break;
    default:
        hf_db_answer_set(ret, HF_DB_LOST, "", "the answer was lost");
        atomic_store(&s->member.cut, true);
        break;
    }
}

/* Cut off before the commit or after it: the client cannot tell. */
static void commit_unheard(session *s, hf_db_answer *ret)
{
    database *d = database_of(s);

    (void)pthread_mutex_lock(&d->mutex);
    if (s->running && !s->refused && hf_rng_chance(&s->rng, 50))
        (void)finish(s);
    (void)pthread_mutex_unlock(&d->mutex);
    (void)enter(s, ret);
}

static void commit(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    if (atomic_load(&s->member.cut)) {
        commit_unheard(s, ret);
        return;
    }
    if (!enter(s, ret))
        return;
    end(s, ret);
    leave(s);
}

static void abort_transaction(hf_db_session *base, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;

    if (!enter(s, ret))
        return;
    roll_back(s);
    leave(s);
}

/* A statement outside of a transaction is one of its own. */
static void execute(hf_db_session *base, const hf_db_statement *statement,
                    const hf_sql_value *params, uint32_t n_params,
                    hf_sql_result *rows, hf_db_answer *ret)
{
    session *s = (session *)(void *)base;
    hf_error err = {.text = ""};
    bool alone;
    hf_store_plan *plan;

    hf_db_rows_start(rows, 0);
    if (!enter(s, ret))
        return;
    alone = !s->running;
    if (hf_store_is_definition(statement->sql)) {
        if (hf_store_define(&database_of(s)->space, statement->sql, &err) !=
            HF_OK)
            hf_db_answer_set(ret, HF_DB_FAILED, "", "%s", err.text);
    } else if (s->refused) {
        hf_db_answer_set(ret, HF_DB_REFUSED, "refused",
                         "the transaction has to be aborted");
    } else if (!(plan = prepare(s, statement, params, n_params, &err))) {
        hf_db_answer_set(ret, HF_DB_FAILED, "", "%s", err.text);
    } else {
        if (alone)
            start(s);
        run_plan(s, plan, params, n_params, rows, ret);
        if (alone && ret->status == HF_DB_OK)
            end(s, ret);
        else if (alone)
            roll_back(s);
    }
    leave(s);
}

/* ---- clocks -------------------------------------------------------------- */

#define MOST_SKEW_NS 20000000u

static uint64_t clock_skew(const hf_db *db, unsigned client)
{
    const database *d = (const database *)(const void *)db;
    hf_rng rng;

    if (d->store_options.bug != HF_BUG_CLOCK_SKEW)
        return 0;
    hf_rng_seed(&rng, hf_mix64(d->store_options.seed + client));
    if (!hf_rng_chance(&rng, d->store_options.bug_percent))
        return 0;
    return hf_rng_below(&rng, MOST_SKEW_NS);
}

/* ---- faults -------------------------------------------------------------- */

static bool can_fault(hf_db *db, hf_db_fault f, char *why, size_t size)
{
    (void)db;
    return hf_db_only_cuts(f, "the store", why, size);
}

static hf_status fault(hf_db *db, hf_db_fault f, uint64_t seed, bool on,
                       hf_error *err)
{
    if (f != HF_FAULT_CUT_CLIENT)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "the store has no server");
    if (on)
        hf_db_roster_cut(&((database *)(void *)db)->roster, db, seed);
    return HF_OK;
}

static const char *const variant_names[] = {"yielding", "eager", NULL};

const hf_db_driver hf_db_store = {
    .name = "store",
    .summary = "the embedded store, in this process: any level, any injected "
               "bug",
    .package = "holdfast",
    .heeds = HF_DB_HEEDS_BUGS,
    .variants = variant_names,
    .keeps = HF_REST_LINEARIZABLE,
    .promises = promises,
    .n_promises = sizeof(promises) / sizeof(promises[0]),
    .promise = promise,
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
    .clock_skew = clock_skew,
    .can_fault = can_fault,
    .fault = fault,
};

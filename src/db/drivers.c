/* drivers.c: the databases there are, and the names of levels.
 *
 * A new database is one line here.
 */
#include "db/drivers.h"

#include "base/mem.h"
#include "base/str.h"

static const hf_db_driver *const drivers[] = {
    &hf_db_sqlite,   &hf_db_sqlite_processes, &hf_db_store,   &hf_db_rocksdb,
    &hf_db_postgres, &hf_db_postgres_standby, &hf_db_mariadb, &hf_db_galera,
};

#define N_DRIVERS (sizeof(drivers) / sizeof(drivers[0]))

/* ---- levels -------------------------------------------------------------- */

static const char *const level_names[HF_DB_LEVEL_COUNT] = {
    "default",         "read-uncommitted", "read-committed",
    "repeatable-read", "snapshot",         "serializable"};

/* Our levels as databases call them; HF_DB_DEFAULT: they have no name. */
static hf_db_level level_of(hf_level level)
{
    switch (level) {
    case HF_READ_UNCOMMITTED:
        return HF_DB_READ_UNCOMMITTED;
    case HF_READ_COMMITTED:
    case HF_READ_COMMITTED_AXIOMATIC:
    case HF_MONOTONIC_ATOMIC_VIEW:
        return HF_DB_READ_COMMITTED;
    case HF_REPEATABLE_READ:
        return HF_DB_REPEATABLE_READ;
    case HF_SNAPSHOT_ISOLATION:
    case HF_STRONG_SESSION_SNAPSHOT_ISOLATION:
    case HF_STRICT_SNAPSHOT_ISOLATION:
        return HF_DB_SNAPSHOT;
    case HF_SERIALIZABLE:
    case HF_STRONG_SESSION_SERIALIZABLE:
    case HF_STRICT_SERIALIZABLE:
        return HF_DB_SERIALIZABLE;
    default:
        return HF_DB_DEFAULT;
    }
}

const char *hf_db_level_name(hf_db_level level)
{
    return level < HF_DB_LEVEL_COUNT ? level_names[level] : "unknown";
}

bool hf_db_level_find(hf_str name, hf_db_level *ret)
{
    hf_level level;

    for (unsigned i = 0; i < HF_DB_LEVEL_COUNT; i++)
        if (hf_str_same_name(name, hf_str_of(level_names[i]))) {
            *ret = (hf_db_level)i;
            return true;
        }
    if (!hf_level_find(name, &level, NULL) || level_of(level) == HF_DB_DEFAULT)
        return false;
    *ret = level_of(level);
    return true;
}

const hf_db_promise *hf_db_promise_of(const hf_db *db, hf_db_level level)
{
    const hf_db_driver *d = db->driver;

    if (d->promise)
        return d->promise(db, level);
    for (unsigned i = 0; i < d->n_promises; i++)
        if (level == HF_DB_DEFAULT || d->promises[i].level == level)
            return &d->promises[i];
    return NULL;
}

/* ---- drivers ------------------------------------------------------------- */

const hf_db_driver *hf_db_driver_at(unsigned i)
{
    return i < N_DRIVERS ? drivers[i] : NULL;
}

const hf_db_driver *hf_db_driver_find(hf_str name)
{
    static const struct {
        const char *other, *name;
    } aliases[] = {{"postgresql", "postgres"}, {"mysql", "mariadb"}};

    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (hf_str_same_name(name, hf_str_of(aliases[i].other)))
            name = hf_str_of(aliases[i].name);
    for (size_t i = 0; i < N_DRIVERS; i++)
        if (hf_str_same_name(name, hf_str_of(drivers[i]->name)))
            return drivers[i];
    return NULL;
}

static hf_status unknown(hf_str name, hf_error *err)
{
    const char *near_name = NULL;
    char text[60];

    for (size_t i = 0; i < N_DRIVERS && !near_name; i++)
        if (hf_str_distance(name, hf_str_of(drivers[i]->name), 2) <= 2)
            near_name = drivers[i]->name;
    (void)hf_quote(text, sizeof(text), name.ptr, name.len);
    if (near_name)
        return hf_fail(err, HF_ERR_USAGE,
                       "unknown database \"%s\"; did you mean \"%s\"?", text,
                       near_name);
    return hf_fail(err, HF_ERR_USAGE, "unknown database \"%s\"", text);
}

hf_status hf_db_open(const char *name, const hf_db_options *o, hf_db **ret,
                     hf_error *err)
{
    const char *colon = strchr(name, ':');
    hf_str driver_name = {name, colon ? (size_t)(colon - name) : strlen(name)};
    const hf_db_driver *d = hf_db_driver_find(driver_name);
    hf_db_options options = *o;

    if (!d)
        return unknown(driver_name, err);
    if (colon && colon[1] != '\0')
        options.address = colon + 1;
    return d->open(&options, ret, err);
}

void hf_db_close(hf_db *db)
{
    if (db)
        db->driver->close(db);
}

/* watch_profiles.c: which profile belongs to a driver of src/db, and to one of
 * our own levels. */
#include <stdio.h>

#include "cli/watching.h"
#include "model/level.h"

typedef struct row {
    const char *driver, *variant; /* NULL: any */
    const char *isolation;        /* NULL: any; else as src/db names it */
    const char *profile;          /* "": none */
} row;

/* The first that fits. */
static const row rows[] = {
    {"postgres", NULL, "read-uncommitted", "postgresql/read-committed"},
    {"postgres", NULL, "read-committed", "postgresql/read-committed"},
    {"postgres", NULL, "serializable", "postgresql/serializable"},
    {"postgres", NULL, NULL, "postgresql/repeatable-read"},
    {"mariadb", NULL, "read-uncommitted", "mariadb/read-uncommitted"},
    {"mariadb", NULL, "read-committed", "mariadb/read-committed"},
    {"mariadb", NULL, "serializable", "mariadb/serializable"},
    {"mariadb", NULL, "snapshot", "mariadb/repeatable-read"},
    {"mariadb", NULL, "repeatable-read",
     "mariadb/repeatable-read, no snapshot isolation"},
    {"sqlite", "shared-cache", NULL, ""},
    {"sqlite", NULL, "read-uncommitted", ""},
    {"sqlite", "rollback", NULL, "sqlite/serializable"},
    {"sqlite", NULL, NULL, "sqlite/wal"},
    {"rocksdb", "optimistic", NULL, "rocksdb/optimistic"},
    {"rocksdb", NULL, "read-committed", "rocksdb/pessimistic, no snapshot"},
    {"rocksdb", NULL, "snapshot", "rocksdb/pessimistic"},
    {"rocksdb", NULL, NULL, "rocksdb/pessimistic, no snapshot"},
};

const hf_profile *hf_watching_profile_of(const char *driver,
                                         const char *variant,
                                         const char *isolation)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];

        if (strcmp(r->driver, driver) == 0 &&
            (!r->variant || (variant && strcmp(r->variant, variant) == 0)) &&
            (!r->isolation || strcmp(r->isolation, isolation) == 0))
            return r->profile[0] ? hf_profile_find(hf_str_of(r->profile), NULL)
                                 : NULL;
    }
    return NULL;
}

/* What follows from the level itself, whatever the database does.  A level
 * that says nothing about real time has no such row: it allows old
 * snapshots. */
static const hf_profile by_definition[] = {
    {.database = "any database",
     .level = "strict-serializable",
     .promise = "strict-serializable",
     .certifier = HF_WATCH_SC_TO,
     .where = "the definition of the level",
     .note = ""},
    {.database = "any database",
     .level = "strict-snapshot-isolation",
     .promise = "strict-snapshot-isolation",
     .read = HF_WATCH_READ_TRANSACTION,
     .snapshot = HF_WATCH_BY_FIRST,
     .first_updater_wins = true,
     .inserts_conflict = true,
     .where = "the definition of the level",
     .note = ""},
};

const hf_profile *hf_watching_profile_of_level(unsigned level)
{
    for (size_t i = 0; i < sizeof by_definition / sizeof *by_definition; i++)
        if (level < HF_LEVEL_COUNT &&
            strcmp(by_definition[i].level,
                   hf_level_get((hf_level)level)->name) == 0)
            return &by_definition[i];
    return NULL;
}

const hf_profile *hf_watching_profile_of_store(unsigned level)
{
    const hf_profile *best = NULL;
    hf_level kept;

    /* the strongest row that the level implies */
    for (size_t i = 0; i < hf_profile_count(); i++) {
        const hf_profile *p = hf_profile_at(i);

        if (strcmp(p->database, "store") != 0 ||
            !hf_level_find(hf_str_of(p->level), &kept, NULL))
            continue;
        if (hf_level_implies((hf_level)level, kept) && !best)
            best = p;
    }
    return best;
}

/* "smallbank, SQLite 3.40.1, wal at serializable", as hf_running_open() calls a
 * history.  Of "PostgreSQL 15.18 with a standby" no row knows what its nodes
 * promise together. */
const hf_profile *hf_watching_profile_of_name(const char *name)
{
    static const char *const drivers[][2] = {{"embedded store", "store"},
                                             {"PostgreSQL", "postgres"},
                                             {"MariaDB", "mariadb"},
                                             {"SQLite", "sqlite"},
                                             {"RocksDB", "rocksdb"}};
    const char *product = strstr(name, ", "), *at = NULL, *variant;
    char word[40] = "";
    hf_level level;

    for (const char *p = name; (p = strstr(p, " at ")); p++)
        at = p;
    if (!product || !at || at < product || strstr(product, " with "))
        return NULL;
    product += 2;
    variant = strstr(product, ", ");
    if (variant && variant < at)
        (void)snprintf(word, sizeof word, "%.*s",
                       (int)strcspn(variant + 2, ", "), variant + 2);
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        size_t n = strlen(drivers[i][0]);

        if (strncmp(product, drivers[i][0], n) != 0 ||
            (product[n] != ' ' && product[n] != ','))
            continue;
        if (i > 0)
            return hf_watching_profile_of(drivers[i][1], word, at + 4);
        return hf_level_find(hf_str_of(at + 4), &level, NULL)
                   ? hf_watching_profile_of_store(level)
                   : NULL;
    }
    return NULL;
}

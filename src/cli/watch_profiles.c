/* watch_profiles.c: which profile belongs to a driver of src/db, and to one of
 * our own levels. */
#include <stdio.h>

#include "cli/watching.h"
#include "model/level.h"

typedef struct row {
    const char *driver, *variant; /* NULL: any */
    const char *isolation;        /* NULL: any; else as src/db names it */
    const char *profile;          /* "%s" is the isolation */
} row;

/* The first that fits. */
static const row rows[] = {
    {"postgres", NULL, "read-uncommitted", "postgresql/read-committed"},
    {"postgres", NULL, "snapshot", "postgresql/repeatable-read"},
    {"postgres", NULL, NULL, "postgresql/%s"},
    {"mariadb", NULL, "snapshot", "mariadb/snapshot"},
    {"mariadb", NULL, NULL, "mariadb/%s"},
    {"sqlite", "rollback", NULL, "sqlite/rollback"},
    {"sqlite", "shared-cache", NULL, ""},
    {"sqlite", NULL, "read-uncommitted", ""},
    {"sqlite", NULL, NULL, "sqlite/wal"},
    {"rocksdb", "optimistic", NULL, "rocksdb/optimistic"},
    {"rocksdb", NULL, NULL, "rocksdb/pessimistic"},
};

const char *hf_watching_profile_of(const char *driver, const char *variant,
                                   const char *isolation, char *buffer,
                                   size_t size)
{
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        const char *place = strchr(r->profile, '%');

        if (strcmp(r->driver, driver) != 0 ||
            (r->variant && (!variant || strcmp(r->variant, variant) != 0)) ||
            (r->isolation && strcmp(r->isolation, isolation) != 0))
            continue;
        (void)snprintf(
            buffer, size, "%.*s%s",
            (int)(place ? place - r->profile : (ptrdiff_t)strlen(r->profile)),
            r->profile, place ? isolation : "");
        break;
    }
    if (buffer[0] && !hf_profile_find(hf_str_of(buffer), NULL))
        buffer[0] = '\0';
    return buffer;
}

const char *hf_watching_profile_of_level(unsigned level, char *buffer,
                                         size_t size)
{
    buffer[0] = '\0';
    if (level < HF_LEVEL_COUNT)
        (void)snprintf(buffer, size, "store/%s",
                       hf_level_get((hf_level)level)->name);
    if (buffer[0] && !hf_profile_find(hf_str_of(buffer), NULL))
        buffer[0] = '\0';
    return buffer;
}

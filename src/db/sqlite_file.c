/* sqlite_file.c: the file of an SQLite database under test.
 *
 * A file that is there already is used only if it bears our mark
 * (application_id) and holds nothing else: what lacks the column _tag is not
 * ours, and never touched.  A file that we made is removed at the end unless it
 * is to be kept.
 */
#include "db/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APPLICATION_ID 0x68664442 /* "hfDB" */

static const hf_sqlite_variant variants[] = {
    {"wal", true, false, false},
    {"rollback", false, false, false},
    {"shared-cache", false, true, false},
    {"wal-deferred", true, false, true},
    {"rollback-deferred", false, false, true},
};

static hf_status failed(const hf_sqlite_file *f, sqlite3 *at, const char *what,
                        hf_error *err)
{
    return hf_fail(err, HF_ERR_IO, "could not %s \"%s\": %s", what, f->path,
                   at ? sqlite3_errmsg(at) : "out of memory");
}

static hf_status run_text(const hf_sqlite_file *f, sqlite3 *at, const char *sql,
                          hf_error *err)
{
    if (sqlite3_exec(at, sql, NULL, NULL, NULL) == SQLITE_OK)
        return HF_OK;
    return failed(f, at, "set up", err);
}

/* The first column of the only row, as a number. */
static int64_t ask_number(sqlite3 *at, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t number = -1;

    if (sqlite3_prepare_v2(at, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return number;
}

hf_status hf_sqlite_file_connect(const hf_sqlite_file *f, sqlite3 **ret,
                                 hf_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                SQLITE_OPEN_FULLMUTEX |
                (f->variant->shared ? SQLITE_OPEN_SHAREDCACHE
                                    : SQLITE_OPEN_PRIVATECACHE);
    hf_status status = HF_OK;

    if (sqlite3_open_v2(f->path, ret, flags, NULL) != SQLITE_OK) {
        status = failed(f, *ret, "open", err);
        sqlite3_close(*ret);
        *ret = NULL;
        return status;
    }
    sqlite3_extended_result_codes(*ret, 1);
    sqlite3_busy_timeout(*ret, 5000);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    /* What a crash of the machine does is not what is tested here. */
    if (sqlite3_exec(*ret, "PRAGMA synchronous = OFF", NULL, NULL, NULL) !=
        SQLITE_OK) {
        status = failed(f, *ret, "open", err);
        sqlite3_close(*ret);
        *ret = NULL;
    }
    return status;
}

/* Tables that are not ours. */
#define FOREIGN                                                                \
    "SELECT count(*) FROM sqlite_master m WHERE m.name NOT LIKE 'sqlite%' "    \
    "AND m.type IN ('table', 'view') AND NOT EXISTS (SELECT 1 FROM "           \
    "pragma_table_info(m.name) WHERE name = '_tag')"

/* Ours, or new and now ours; anything else is left alone. */
static hf_status mark_file(hf_sqlite_file *f, hf_error *err)
{
    char text[80];
    hf_status status;
    int64_t id = ask_number(f->keeper, "PRAGMA application_id");
    int64_t foreign = ask_number(f->keeper, FOREIGN);

    if (id < 0 || foreign < 0)
        return failed(f, f->keeper, "read", err);
    if ((id != APPLICATION_ID && !f->made) || foreign > 0)
        return hf_fail(err, HF_ERR_USAGE,
                       "the database \"%s\" is not ours, or "
                       "holds tables that are not ours; name a file that does "
                       "not exist yet",
                       f->path);
    (void)snprintf(text, sizeof(text), "PRAGMA journal_mode = %s",
                   f->variant->wal ? "WAL" : "DELETE");
    status = run_text(f, f->keeper, text, err);
    if (status == HF_OK && id != APPLICATION_ID) {
        (void)snprintf(text, sizeof(text), "PRAGMA application_id = %d",
                       APPLICATION_ID);
        status = run_text(f, f->keeper, text, err);
    }
    return status;
}

static hf_status choose_path(hf_sqlite_file *f, hf_error *err)
{
    const char *address = f->options.address;
    int length, fd;

    if (!address) {
        hf_status status =
            hf_db_directory_make(&f->directory, "SQLite", f->options.directory,
                                 f->options.keep, err);

        if (status != HF_OK)
            return status;
        length = snprintf(f->path, sizeof(f->path), "%s/sqlite.db",
                          hf_db_directory_path(&f->directory));
    } else {
        if (strncmp(address, "//", 2) == 0)
            address += 2;
        length = snprintf(f->path, sizeof(f->path), "%s", address);
    }
    if (length >= (int)sizeof(f->path))
        return hf_fail(err, HF_ERR_USAGE, "the path of the file is too long");
    /* SQLite would make the file as well, but not say so. */
    fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
        return hf_fail(err, HF_ERR_IO, "could not make \"%s\": %s", f->path,
                       strerror(errno));
    f->made = fd >= 0;
    if (fd >= 0)
        (void)close(fd);
    return HF_OK;
}

static void remove_file(const hf_sqlite_file *f)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[sizeof(f->path) + 16];

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", f->path, endings[i]);
        (void)unlink(path);
    }
}

static const hf_sqlite_variant *find_variant(const char *name)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        if (!name ||
            hf_str_same_name(hf_str_of(name), hf_str_of(variants[i].name)))
            return &variants[i];
    return NULL;
}

hf_status hf_sqlite_file_open(hf_sqlite_file *f, const hf_db_options *o,
                              hf_error *err)
{
    hf_status status;

    f->options = *o;
    f->variant = find_variant(o->variant);
    if (!f->variant)
        return hf_fail(err, HF_ERR_USAGE,
                       "sqlite has no variant \"%s\": it has wal, rollback, "
                       "shared-cache, wal-deferred, rollback-deferred",
                       o->variant);
    status = choose_path(f, err);
    if (status == HF_OK)
        status = hf_sqlite_file_connect(f, &f->keeper, err);
    if (status == HF_OK)
        status = mark_file(f, err);
    return status;
}

void hf_sqlite_file_close(hf_sqlite_file *f)
{
    sqlite3_close_v2(f->keeper);
    if (f->made && !f->options.keep)
        remove_file(f);
    hf_db_directory_close(&f->directory);
}

hf_status hf_sqlite_file_reset(hf_sqlite_file *f, hf_error *err)
{
    static const char list[] =
        "SELECT format('DROP TABLE IF EXISTS \"%w\"', name) FROM sqlite_master "
        "WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND EXISTS (SELECT "
        "1 FROM pragma_table_info(sqlite_master.name) WHERE name = '_tag')";
    hf_status status = run_text(f, f->keeper, "BEGIN IMMEDIATE", err);
    sqlite3_stmt *s = NULL;
    HF_VEC(char *) drops = {0};

    if (status != HF_OK)
        return status;
    if (sqlite3_prepare_v2(f->keeper, list, -1, &s, NULL) != SQLITE_OK)
        status = failed(f, f->keeper, "read", err);
    while (status == HF_OK && sqlite3_step(s) == SQLITE_ROW)
        hf_vec_push(&drops, strdup((const char *)sqlite3_column_text(s, 0)));
    sqlite3_finalize(s);
    for (size_t i = 0; i < drops.n; i++) {
        if (status == HF_OK && drops.at[i])
            status = run_text(f, f->keeper, drops.at[i], err);
        free(drops.at[i]);
    }
    hf_vec_release(&drops);
    if (status == HF_OK)
        return run_text(f, f->keeper, "COMMIT", err);
    (void)sqlite3_exec(f->keeper, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

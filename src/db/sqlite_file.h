/* sqlite_file.h: the file of an SQLite database under test; for sqlite.c. */
#ifndef HF_DB_SQLITE_FILE_H
#define HF_DB_SQLITE_FILE_H

#include <sqlite3.h>

#include "db/common.h"

typedef struct hf_sqlite_variant {
    const char *name;
    bool wal, shared, deferred;
} hf_sqlite_variant;

typedef struct hf_sqlite_file {
    hf_db_options options;
    const hf_sqlite_variant *variant;
    hf_db_directory directory; /* private; none if there is an address */
    char path[400];
    bool made;       /* the file is ours to remove */
    sqlite3 *keeper; /* a connection that makes and marks the file */
} hf_sqlite_file;

/* Finds or makes the file and marks it as ours.  If it fails, f is to be
 * closed all the same. */
HF_MUST_USE hf_status hf_sqlite_file_open(hf_sqlite_file *f,
                                          const hf_db_options *o,
                                          hf_error *err);
/* Removes what was made unless it is to be kept. */
void hf_sqlite_file_close(hf_sqlite_file *f);
HF_MUST_USE hf_status hf_sqlite_file_connect(const hf_sqlite_file *f,
                                             sqlite3 **ret, hf_error *err);
/* Drops all tables: they are all ours. */
HF_MUST_USE hf_status hf_sqlite_file_reset(hf_sqlite_file *f, hf_error *err);

#endif

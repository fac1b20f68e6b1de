/* mariadb_none.c: the MariaDB drivers of a build without libmariadb. */
#include "db/drivers.h"

static hf_status open_none(const hf_db_options *o, hf_db **ret, hf_error *err)
{
    (void)o;
    (void)ret;
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "this build cannot talk to MariaDB: install the Debian "
                   "package libmariadb-dev and build again");
}

const hf_db_driver hf_db_mariadb = {
    .name = "mariadb",
    .summary = "MariaDB (not in this build: libmariadb-dev was missing)",
    .package = "libmariadb-dev",
    .open = open_none,
};

const hf_db_driver hf_db_galera = {
    .name = "galera",
    .summary = "MariaDB as a Galera cluster (not in this build)",
    .package = "libmariadb-dev",
    .open = open_none,
};

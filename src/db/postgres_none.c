/* postgres_none.c: the PostgreSQL drivers of a build without libpq. */
#include "db/drivers.h"

static hf_status open_none(const hf_db_options *o, hf_db **ret, hf_error *err)
{
    (void)o;
    (void)ret;
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "this build cannot talk to PostgreSQL: install the Debian "
                   "package libpq-dev and build again");
}

const hf_db_driver hf_db_postgres = {
    .name = "postgres",
    .summary = "PostgreSQL (not in this build: libpq-dev was missing)",
    .package = "libpq-dev",
    .open = open_none,
};

const hf_db_driver hf_db_postgres_standby = {
    .name = "postgres-standby",
    .summary = "PostgreSQL with a standby (not in this build)",
    .package = "libpq-dev",
    .open = open_none,
};

/* rocksdb_none.c: in place of RocksDB where its header was not there. */
#include "base/error.h"
#include "db/drivers.h"

static hf_status open_nothing(const hf_db_options *o, hf_db **ret,
                              hf_error *err)
{
    (void)o;
    (void)ret;
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "this build is without RocksDB: install the Debian package "
                   "librocksdb-dev and build again");
}

const hf_db_driver hf_db_rocksdb = {
    .name = "rocksdb",
    .summary = "RocksDB (not in this build)",
    .package = "librocksdb-dev",
    .open = open_nothing,
};

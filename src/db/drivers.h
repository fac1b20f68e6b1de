/* drivers.h: the drivers, one file each; for src/db only. */
#ifndef HF_DB_DRIVERS_H
#define HF_DB_DRIVERS_H

#include "db/db.h"

extern const hf_db_driver hf_db_sqlite;
extern const hf_db_driver hf_db_sqlite_processes;
extern const hf_db_driver hf_db_store;
extern const hf_db_driver hf_db_rocksdb;
extern const hf_db_driver hf_db_postgres;
extern const hf_db_driver hf_db_postgres_standby;
extern const hf_db_driver hf_db_mariadb;
extern const hf_db_driver hf_db_galera;

#endif

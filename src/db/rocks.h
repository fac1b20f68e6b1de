/* rocks.h: RocksDB's C interface, loaded when it is asked for; for rocksdb*.c.
 *
 * The library is large and C++: linking it would make every start of the
 * program slower.  Its header says how the functions look, dlsym() where they
 * are.
 */
#ifndef HF_DB_ROCKS_H
#define HF_DB_ROCKS_H

#include <rocksdb/c.h>

#include "base/error.h"
#include "base/out.h"
#include "base/vec.h"
#include "db/store_db.h"

/* What we call, without the prefix rocksdb_. */
#define HF_ROCKS_FUNCTIONS(F)                                                  \
    F(options_create)                                                          \
    F(options_destroy)                                                         \
    F(options_set_create_if_missing)                                           \
    F(options_set_write_buffer_size)                                           \
    F(options_set_max_write_buffer_size_to_maintain)                           \
    F(transactiondb_options_create)                                            \
    F(transactiondb_options_destroy)                                           \
    F(transactiondb_open)                                                      \
    F(transactiondb_close)                                                     \
    F(transactiondb_create_iterator)                                           \
    F(transactiondb_delete)                                                    \
    F(optimistictransactiondb_open)                                            \
    F(optimistictransactiondb_close)                                           \
    F(optimistictransactiondb_get_base_db)                                     \
    F(optimistictransactiondb_close_base_db)                                   \
    F(create_iterator)                                                         \
    F(delete)                                                                  \
    F(iter_seek_to_first)                                                      \
    F(iter_seek)                                                               \
    F(iter_valid)                                                              \
    F(iter_next)                                                               \
    F(iter_key)                                                                \
    F(iter_value)                                                              \
    F(iter_get_error)                                                          \
    F(iter_destroy)                                                            \
    F(transaction_create_iterator)                                             \
    F(transaction_options_create)                                              \
    F(transaction_options_destroy)                                             \
    F(transaction_options_set_set_snapshot)                                    \
    F(transaction_options_set_deadlock_detect)                                 \
    F(transaction_options_set_lock_timeout)                                    \
    F(optimistictransaction_options_create)                                    \
    F(optimistictransaction_options_destroy)                                   \
    F(optimistictransaction_options_set_set_snapshot)                          \
    F(writeoptions_create)                                                     \
    F(writeoptions_destroy)                                                    \
    F(readoptions_create)                                                      \
    F(readoptions_destroy)                                                     \
    F(readoptions_set_snapshot)                                                \
    F(transaction_begin)                                                       \
    F(optimistictransaction_begin)                                             \
    F(transaction_get)                                                         \
    F(transaction_get_for_update)                                              \
    F(transaction_put)                                                         \
    F(transaction_delete)                                                      \
    F(transaction_commit)                                                      \
    F(transaction_rollback)                                                    \
    F(transaction_destroy)                                                     \
    F(transaction_get_snapshot)                                                \
    F(free)

typedef struct hf_rocks_library {
    void *handle; /* stays open: it must not be unloaded */
#define F(name) __typeof__(rocksdb_##name) *call_##name;
    HF_ROCKS_FUNCTIONS(F)
#undef F
} hf_rocks_library;

/* ---- bytes --------------------------------------------------------------- */

void hf_rocks_pack(hf_out *out, const hf_sql_value *values, uint32_t n);
/* False: these are not n packed values.  Texts point into the bytes. */
bool hf_rocks_unpack(const char *bytes, size_t length, hf_sql_value *ret,
                     uint32_t n);

/* Keys, the i-th up to ends[i]. */
typedef struct hf_rocks_keys {
    hf_out bytes;
    HF_VEC(size_t) ends;
} hf_rocks_keys;

void hf_rocks_keys_init(hf_rocks_keys *l);
void hf_rocks_keys_release(hf_rocks_keys *l);
void hf_rocks_keys_clear(hf_rocks_keys *l);
void hf_rocks_keys_add(hf_rocks_keys *l, const char *key, size_t length);
const char *hf_rocks_keys_at(const hf_rocks_keys *l, size_t i,
                             size_t *ret_length);

/* ---- one statement ------------------------------------------------------- */

/* A transaction, and how it reads. */
typedef struct hf_rocks_txn {
    const hf_rocks_library *l;
    rocksdb_transaction_t *at;
    rocksdb_readoptions_t *read;
    bool locks_reads;     /* what is read is locked, or checked at commit */
    bool locks_writes;    /* the row of an UPDATE is locked before it is read */
    char *error;          /* RocksDB's, to be freed; NULL: none */
    hf_out key, value;    /* room to write them in */
    hf_rocks_keys found;  /* of the rows that a write has read */
    hf_rocks_keys wanted; /* of those that are to be read one by one */
} hf_rocks_txn;

/* Runs a plan.  HF_STORE_CONFLICT: something went wrong, see t->error. */
hf_store_ran hf_rocks_run(hf_rocks_txn *t, hf_store_plan *plan,
                          const hf_sql_value *params, uint32_t n_params,
                          hf_sql_result *rows, hf_error *err);

#endif

/* kv.h: what the workloads over one table of keys and values share.
 *
 * The table is kv(k, v, _tag), so that key-value stores can run them: only
 * single rows by their key.  Which key is next is chosen by a distribution
 * that the options name.  Most of them write values that tell where they
 * belong (value mod number of keys = key): whatever the isolation, a value at
 * another key's place was invented or misdirected.
 */
#ifndef HF_WORKLOAD_KV_H
#define HF_WORKLOAD_KV_H

#include "workload/steps.h"

extern const char *const hf_kv_tables[];
extern const hf_step hf_kv_read_step, hf_kv_insert_step, hf_kv_upsert_step,
    hf_kv_update_step, hf_kv_delete_step;

/* False: the transaction is over.  ret_found false: there is no such row. */
bool hf_kv_get(hf_client *c, int64_t k, int64_t *ret_v, bool *ret_found);
/* The same row as it is, for hf_kv_add(). */
typedef struct hf_kv_row {
    int64_t k, v, tag;
    bool found;
} hf_kv_row;
bool hf_kv_look(hf_client *c, int64_t k, hf_kv_row *ret);
/* A row that was found becomes greater by so much.  `by_database`: it adds
 * that up, and the row's tag as well, if it is still the row that was seen;
 * else the transaction gives up.  A sum that is wrong is a tag that nobody
 * wrote. */
#define HF_KV_ADDS                                                             \
    {                                                                          \
        "adds", 0, 0, 1, "sums are computed by the database"                   \
    }
bool hf_kv_add(hf_client *c, const hf_kv_row *row, int64_t by,
               bool by_database);
bool hf_kv_insert(hf_client *c, int64_t k, int64_t v);
bool hf_kv_put(hf_client *c, int64_t k, int64_t v); /* there or not */
bool hf_kv_set(hf_client *c, int64_t k, int64_t v); /* if it is there */
/* A loaded row. */
hf_status hf_kv_load(hf_play *p, int64_t k, int64_t v, hf_error *err);

/* ---- choosing keys ------------------------------------------------------- */

/* Rows of an option table: the distribution and its parameters. */
#define HF_CHOOSER_OPTIONS(distribution, theta)                                \
    {"distribution", (distribution), 0, 3,                                     \
     "of keys: uniform, zipf, hotspot or exponential"},                        \
        {"theta", (theta), 0, 10, "of zipf; above 0 it is zipf"},              \
        {"hot-keys", 20, 0, 100, "hotspot: percent of the keys"},              \
    {                                                                          \
        "hot-operations", 80, 0, 100, "hotspot: percent that go to hot keys"   \
    }

typedef struct hf_chooser {
    int64_t n, hot;
    unsigned distribution; /* uniform, zipf, hotspot, exponential */
    double hot_percent;
    hf_zipf zipf;
} hf_chooser;

/* Keys 0 .. n-1 by the options of the play.  O(n) for zipf. */
void hf_chooser_init(hf_chooser *h, const hf_play *p, int64_t n);
int64_t hf_choose(const hf_chooser *h, hf_rng *r);
/* Different keys, as many of `n` as there are; returns how many. */
unsigned hf_choose_some(const hf_chooser *h, hf_rng *r, unsigned n,
                        int64_t *ret);

/* ---- values that tell their key ------------------------------------------ */

/* A value for key k of a table of n keys. */
int64_t hf_kv_value(hf_rng *r, int64_t k, int64_t n);
/* Breaches unless the value belongs to k. */
void hf_kv_judge(hf_play *p, const char *name, int64_t k, int64_t v, int64_t n);
/* Loads keys 0 .. n-1 with such values; checks them all at the end. */
hf_status hf_kv_load_all(hf_play *p, int64_t n, hf_error *err);
void hf_kv_check_all(hf_play *p, hf_client *c, int64_t n);

#endif

/* mixes.h: the histories of the black-box benches, made in memory.
 *
 * Three mixes of operations (those of King Cobra's evaluation), run by a
 * number of clients against the most permissive store that still keeps what
 * it promises: it refuses a transaction only where a cycle of dependencies
 * would come about.  So the order that explains the history is neither that
 * of the begins nor that of the commits, and has to be found.
 *
 * The file tells nothing about it: transactions are shuffled (of a session
 * only its own order is left), and values are scattered.
 */
#ifndef HF_MIXES_H
#define HF_MIXES_H

#include "base/str.h"
#include "history/history.h"

typedef enum hf_mix {
    HF_MIX_RMW = 0,     /* 25 % reads, 25 % writes, 50 % read-modify-writes */
    HF_MIX_READ_WRITE,  /* 50 % reads, 50 % writes */
    HF_MIX_HEAVY_WRITE, /* 10 % reads, 80 % writes, 10 % read-modify-writes */
    HF_MIX_COUNT
} hf_mix;

typedef enum hf_mix_store {
    /* Reads of the snapshot at begin, the first committer wins, no cycle:
     * serializable, and snapshot isolation as well. */
    HF_MIX_STORE_SNAPSHOT = 0,
    /* Reads of the latest committed version, no cycle: serializable. */
    HF_MIX_STORE_LATEST,
    /* As the first with cycles: snapshot isolation only. */
    HF_MIX_STORE_SKEWED,
    HF_MIX_STORE_COUNT
} hf_mix_store;

typedef struct hf_mix_options {
    hf_mix mix;
    hf_mix_store store;
    uint32_t transactions; /* that commit; the others are left out */
    uint32_t clients;
    uint32_t keys;
    uint32_t ops; /* of a transaction, each of another key; at most 32 */
    double theta; /* of Zipf's distribution of keys; 0: uniform */
    uint64_t seed;

    bool no_times;    /* drop begin and end of transactions */
    bool no_sessions; /* every transaction is a session of its own */
    double noise;     /* standard deviation added to the times, in units of
                         the mean time of an operation */
    /* Version order: this share of the versions, or of the keys, is in the
     * certificate; 0: none. */
    unsigned order_percent;
    bool order_by_key;
    uint32_t values; /* that a key can have; 0: each is written once */
    unsigned stale;  /* one read returns the version that many back; 0: none */
} hf_mix_options;

/* 20 clients, 8 operations, 1,000 keys. */
hf_mix_options hf_mix_defaults(hf_mix mix, hf_mix_store store,
                               uint32_t transactions);

/* Caller frees.  About 1 us an operation, and 40 bytes beyond the history.
 * Fails if the options make no sense. */
HF_MUST_USE hf_status hf_mix_make(const hf_mix_options *o, hf_history **ret_h,
                                  hf_error *err);

/* "rmw", "read-write", "heavy-write" */
const char *hf_mix_name(hf_mix mix);
bool hf_mix_find(hf_str name, hf_mix *ret_mix);

#endif

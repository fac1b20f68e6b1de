/* generate.h: histories made by driving the embedded store.
 *
 *     hf_generate_options o;
 *     hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, HF_BUG_NONE);
 *     o.transactions = 1000;
 *     o.seed = 7;
 *     hf_builder *b = hf_builder_new();
 *     hf_status st = hf_generate(&o, b, &err);
 *     if (st == HF_OK) st = hf_builder_finish(b, &h, &err);
 *     else hf_builder_free(b);
 *
 * A number of sessions each run one transaction at a time.  At every step
 * the seed picks a session, which executes its next operation; so the same
 * options give the same history, byte for byte.
 */
#ifndef HF_WORKLOAD_GENERATE_H
#define HF_WORKLOAD_GENERATE_H

#include "base/budget.h"
#include "history/builder.h"
#include "model/level.h"
#include "store/bugs.h"

typedef enum hf_workload {
    HF_WORKLOAD_REGISTER = 0,   /* reads and writes of single keys */
    HF_WORKLOAD_APPEND,         /* list appends and list reads, as Elle's */
    HF_WORKLOAD_PREDICATE,      /* rows; range reads, updates, deletes, sums */
    HF_WORKLOAD_EMME_ITEM,      /* the item mix of the Emme evaluation */
    HF_WORKLOAD_EMME_PREDICATE, /* and its predicate mix */
    HF_WORKLOAD_COUNT
} hf_workload;

typedef enum hf_distribution {
    HF_DISTRIBUTION_UNIFORM = 0,
    HF_DISTRIBUTION_ZIPF,        /* see theta */
    HF_DISTRIBUTION_HOTSPOT,     /* see hot_keys, hot_operations */
    HF_DISTRIBUTION_EXPONENTIAL, /* key i+1 is half as likely as key i */
    HF_DISTRIBUTION_COUNT
} hf_distribution;

/* How it is recorded what an operation over a condition looked at. */
typedef enum hf_version_sets {
    HF_VERSION_SETS_DEFAULT = 0, /* emme: by time if there is one snapshot */
    HF_VERSION_SETS_EXPLICIT,    /* a version of every key */
    HF_VERSION_SETS_TIME,        /* the time of a snapshot */
    HF_VERSION_SETS_IDS, /* the transactions it holds, PostgreSQL's way */
    HF_VERSION_SETS_COUNT
} hf_version_sets;

typedef struct hf_generate_options {
    hf_workload workload;
    uint64_t transactions;     /* of any outcome; at most 2^31 */
    uint32_t min_ops, max_ops; /* operations of a transaction, uniform */
    uint32_t keys;             /* append: keys in use at one time */
    uint32_t sessions;
    uint64_t seed;

    hf_distribution distribution;
    double theta;            /* zipf: 0 < theta; larger is more skewed */
    unsigned hot_keys;       /* hotspot: percent of the keys that are hot */
    unsigned hot_operations; /* and percent of the operations that go there */

    /* Percent of operations; the three add up to 100.  A read-modify-write
     * is a read and a write of one key and counts as one operation.  In the
     * append workload a write is an append, in the predicate workload an
     * insert, update or delete, in the emme workloads an insert or update. */
    unsigned read_percent, write_percent, rmw_percent;
    /* Predicate workloads: percent of reads and of writes (emme-predicate: of
     * updates) that are over a condition instead of one key; width of a range
     * in percent of all values; percent of the keys that exist at the start. */
    unsigned predicate_percent, range_percent, loaded_percent;
    /* Snapshots need a certificate and a level without replicas at which
     * nothing is read before it is committed. */
    hf_version_sets version_sets;
    /* Append: a key is replaced by a fresh one after this many appends; 0:
     * never. */
    uint32_t writes_per_key;

    hf_level level; /* what the store keeps (or claims to, see bug) */
    hf_store_bug bug;
    unsigned bug_percent; /* how often the bug strikes when it could */
    uint32_t replicas;    /* of levels that have replicas; 0: default */

    unsigned abort_percent;   /* transactions rolled back by the client */
    unsigned unknown_percent; /* commits whose answer never came */

    bool times;         /* begin and end of transactions (logical clock) */
    bool intervals;     /* start and end of operations, too */
    bool unique_values; /* no value twice; off: few values, many equal */
    bool certificate;   /* version order, timestamps, serial order */

    hf_budget *budget; /* borrowed; NULL: no limits */
} hf_generate_options;

/* Sensible values for a workload; with a bug, such that it shows: the level,
 * rate, aborts and mix its row asks for.  A bug that does not show in the
 * workload is accepted here and refused by hf_generate(). */
void hf_generate_defaults(hf_generate_options *o, hf_workload workload,
                          hf_store_bug bug);

/* The first workload a bug shows in. */
hf_workload hf_store_bug_workload(hf_store_bug bug);

/* Checks the options as hf_generate() does; HF_ERR_USAGE says what is wrong
 * in one line. */
HF_MUST_USE hf_status hf_generate_check(const hf_generate_options *o,
                                        hf_error *err);

/* Runs the workload and fills the builder, which stays the caller's, whatever
 * happens.  HF_ERR_USAGE: bad options; HF_ERR_LIMIT: the budget is spent. */
HF_MUST_USE hf_status hf_generate(const hf_generate_options *o, hf_builder *b,
                                  hf_error *err);

/* "register", "append", ...; "default", "explicit", "time", "ids"; "uniform",
 * "zipf", "hotspot", "exponential"; a line about each for help texts. */
const char *hf_workload_name(hf_workload workload);
const char *hf_workload_summary(hf_workload workload);
bool hf_workload_find(hf_str name, hf_workload *ret_workload);
const char *hf_version_sets_name(hf_version_sets sets);
bool hf_version_sets_find(hf_str name, hf_version_sets *ret_sets);
const char *hf_distribution_name(hf_distribution distribution);
bool hf_distribution_find(hf_str name, hf_distribution *ret_distribution);

#endif

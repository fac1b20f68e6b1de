/* history.h: the one data model.
 *
 * A history is a set of flat columns.  Keys, values and sessions are interned
 * to dense 32-bit ids when it is built, so that an engine never hashes: what
 * it needs to know about a read is an array access away.
 *
 *   transaction t    has the operations  op_first[t] .. op_first[t+1]-1,
 *                    in program order
 *   operation o      has a kind, a key and a value
 *   value v          is one value OF ONE KEY: two operations carry the same
 *                    value id exactly if they name the same key and an equal
 *                    value.  So "who wrote what this read returned" is one
 *                    lookup in an array indexed by value id.
 *
 * Duplicate writes of one value share a value id: a value id is not always
 * one version.  A list value is (longer list) = (shorter list) + element, so
 * that all the lists ever read of a key form a tree, and a list read costs
 * four bytes however long the list is.
 *
 * nil.  The value nil means "no row": the state of a key before anyone wrote
 * it, unless key_initial says otherwise, and what a delete installs.  The
 * empty list is nil as well.
 *
 * Order.  Transactions are numbered in the order of the file.  Transactions
 * of one session follow each other in that order; the CSR arrays
 * session_first / session_txns list them.
 *
 * Optional columns are NULL when no transaction or operation has them.
 * Nothing here changes once hf_builder_finish() has returned.
 */
#ifndef HF_HISTORY_H
#define HF_HISTORY_H

#include "holdfast.h"

#include "base/str.h"

/* Levels are numbered in model/level.h; a history only carries the number. */
#define HF_LEVEL_UNSET UINT8_MAX

typedef enum hf_time_unit {
    HF_TIME_UNIT_NONE = 0, /* no times in this history */
    HF_TIME_UNIT_NS,       /* nanoseconds of a client's clock */
    HF_TIME_UNIT_EVENT,    /* place in the file, a logical clock */
    HF_TIME_UNIT_COUNT
} hf_time_unit;

/* op_kind holds the kind in its low five bits and HF_OP_* flags above. */
#define HF_OP_KIND_MASK 31u

/* An interval that does not fit the two 32-bit columns. */
typedef struct hf_wide_interval {
    uint64_t start, end;
} hf_wide_interval;

/* What is known of the database's own order.  Each part may be missing. */
typedef struct hf_certificate {
    /* Version order: the transactions whose last write of key k was
     * installed, oldest first (the initial version is not listed):
     * order_txn[order_first[k] .. order_first[k+1]-1].  NULL: none.  A
     * transaction that installed k but is not listed has an unknown place. */
    uint64_t *order_first; /* n_keys + 1 entries */
    hf_txn_id *order_txn;
    /* Keys whose order was given and is empty, and whether the serial order
     * was: for certificate.h, which asks who is missing. */
    hf_key_id *empty_order;
    uint32_t n_empty;
    bool empty_serial;
    /* The database's own clock, per transaction (HF_TIME_NONE: unknown). */
    uint64_t *start_ts, *commit_ts;
    /* Expected serial order: committed transactions, first to last. */
    hf_txn_id *serial;
    uint32_t n_serial;
} hf_certificate;

struct hf_history {
    /* operations */
    uint32_t n_ops;
    uint8_t *op_kind;      /* hf_op_kind | flags */
    hf_key_id *op_key;     /* HF_NONE for operations without one key */
    hf_value_id *op_value; /* or an offset into `extra`; or HF_NONE */
    uint32_t *op_start;    /* optional: offset from txn_begin; UINT32_MAX: */
    uint32_t *op_length;   /* end - start; after UINT32_MAX a place in `wide`,
                              or UINT32_MAX for no interval */
    hf_wide_interval *wide;
    uint32_t n_wide;

    /* transactions */
    uint32_t n_txns;
    hf_op_id *op_first; /* n_txns + 1 entries */
    hf_session_id *txn_session;
    uint8_t *txn_outcome;
    uint8_t *txn_level;  /* optional: HF_LEVEL_UNSET where none */
    uint64_t *txn_begin; /* optional; HF_TIME_NONE where unknown */
    uint64_t *txn_end;   /* optional, with txn_begin */
    int64_t *txn_label;  /* optional: the number the file gave it */
    uint32_t *txn_line;  /* optional: where it stands in the file, from 1 */

    /* sessions */
    uint32_t n_sessions;
    hf_string_id *session_name;
    uint32_t *session_first; /* n_sessions + 1 entries */
    hf_txn_id *session_txns; /* n_txns entries */

    /* keys */
    uint32_t n_keys;
    uint8_t *key_type;        /* HF_INT or HF_TEXT */
    int64_t *key_data;        /* the number, or an hf_string_id */
    hf_string_id *key_table;  /* optional: HF_NONE for a plain key */
    hf_value_id *key_initial; /* optional: HF_NONE means nil */

    /* values: (key, type, data) are unique */
    uint32_t n_values;
    hf_key_id *value_key;
    uint8_t *value_type; /* hf_scalar_type */
    int64_t *value_data; /* number; hf_string_id; or see hf_list_parent() */

    /* strings, interned */
    uint32_t n_strings;
    uint64_t *string_first; /* n_strings + 1 entries */
    char *string_bytes;

    /* what does not fit three columns; read with extra.h */
    uint32_t *extra;
    uint32_t n_extra;

    hf_certificate cert;

    /* memory that several columns share, or NULL; kept by history/ */
    void *block;
    size_t block_size;

    /* about the history as a whole */
    hf_time_unit time_unit;
    bool unique_values;  /* the workload promises: no value twice */
    bool partial_orders; /* version orders may leave out writers */
    hf_string_id name;   /* HF_NONE, or what the producer called it */
    const char *format;  /* static: the format it was loaded from */
    uint64_t n_skipped;  /* input records that are no operations */
    bool cut_off;        /* the file ended early; this is its prefix */
    size_t bytes;        /* memory held, all columns together */
};

static inline hf_op_kind hf_op_kind_of(const hf_history *h, hf_op_id op)
{
    return (hf_op_kind)(h->op_kind[op] & HF_OP_KIND_MASK);
}

static inline unsigned hf_op_flags_of(const hf_history *h, hf_op_id op)
{
    return h->op_kind[op] & ~HF_OP_KIND_MASK;
}

/* A write, insert, delete or append: installs a version of op_key. */
static inline bool hf_op_installs(hf_op_kind kind)
{
    return kind == HF_OP_WRITE || kind == HF_OP_APPEND ||
           kind == HF_OP_INSERT || kind == HF_OP_DELETE ||
           kind == HF_OP_INCREMENT;
}

/* A read of one key. */
static inline bool hf_op_reads_item(hf_op_kind kind)
{
    return kind == HF_OP_READ || kind == HF_OP_READ_LIST;
}

/* A predicate operation or an aggregate: extra.h decodes it. */
static inline bool hf_op_has_predicate(hf_op_kind kind)
{
    return (kind >= HF_OP_PREDICATE_READ && kind <= HF_OP_COUNT_ROWS) ||
           kind == HF_OP_AVG;
}

/* Of these, those with one result. */
static inline bool hf_op_is_aggregate(hf_op_kind kind)
{
    return (kind >= HF_OP_MIN && kind <= HF_OP_COUNT_ROWS) || kind == HF_OP_AVG;
}

/* Operations whose op_value is an offset into `extra`. */
static inline bool hf_op_has_extra(hf_op_kind kind)
{
    return hf_op_has_predicate(kind) || kind == HF_OP_SQL ||
           kind == HF_OP_INCREMENT;
}

/* Flags of a statement: what it did to rows is recorded as operations beside
 * it, and those are judged.  A lock is of a read, so this is free. */
#define HF_OP_WITH_ITEMS (HF_OP_FOR_UPDATE | HF_OP_FOR_SHARE)

/* A statement that may have read and written what nobody knows of. */
static inline bool hf_op_is_opaque(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) == HF_OP_SQL &&
           !(h->op_kind[op] & HF_OP_FAILED) &&
           (h->op_kind[op] & HF_OP_WITH_ITEMS) != HF_OP_WITH_ITEMS;
}

/* The list a list value extends (HF_NONE: it has one element), and the value
 * id of its last element, which is the value of the append that made it. */
static inline hf_value_id hf_list_parent(const hf_history *h, hf_value_id v)
{
    return (hf_value_id)((uint64_t)h->value_data[v] >> 32);
}

static inline hf_value_id hf_list_last(const hf_history *h, hf_value_id v)
{
    return (hf_value_id)((uint64_t)h->value_data[v] & UINT32_MAX);
}

/* Fills ret_items (length entries) with the elements of list v, first to
 * last, and returns the length; ret_items may be NULL to ask for it. */
uint32_t hf_list_items(const hf_history *h, hf_value_id v,
                       hf_value_id *ret_items);

/* True if reading value v of `key` may mean reading its initial version. */
static inline bool hf_value_is_initial(const hf_history *h, hf_key_id key,
                                       hf_value_id v)
{
    hf_value_id initial = h->key_initial ? h->key_initial[key] : HF_NONE;

    return initial != HF_NONE ? v == initial : h->value_type[v] == HF_NIL;
}

/* The transaction of an operation: binary search, O(log n). */
hf_txn_id hf_op_txn(const hf_history *h, hf_op_id op);

/* The interval of an operation of transaction t; false if not recorded. */
bool hf_op_interval(const hf_history *h, hf_txn_id t, hf_op_id op,
                    uint64_t *ret_start, uint64_t *ret_end);

/* When the last call of t began, its commit or abort; where the times of calls
 * were not recorded, when t ended.
 *
 * Who stands in the way of another transaction has its locks until then, and
 * the other one is not that far yet: where locks are kept to the end, or the
 * second writer has to give up, conflicts are in this order. */
uint64_t hf_txn_last_call(const hf_history *h, hf_txn_id t);

static inline uint64_t hf_txn_begin_time(const hf_history *h, hf_txn_id t)
{
    return h->txn_begin ? h->txn_begin[t] : HF_TIME_NONE;
}

static inline uint64_t hf_txn_end_time(const hf_history *h, hf_txn_id t)
{
    return h->txn_end ? h->txn_end[t] : HF_TIME_NONE;
}

/* The level the transaction names, else `other`. */
static inline unsigned hf_txn_own_level(const hf_history *h, hf_txn_id t,
                                        unsigned other)
{
    return h->txn_level && h->txn_level[t] != HF_LEVEL_UNSET ? h->txn_level[t]
                                                             : other;
}

/* What a report calls the transaction: its label, else its id counted from
 * 1.  Printed as T7. */
static inline int64_t hf_txn_label(const hf_history *h, hf_txn_id t)
{
    return h->txn_label ? h->txn_label[t] : (int64_t)t + 1;
}

/* Is there a predicate operation or an aggregate? */
bool hf_has_predicates(const hf_history *h);

hf_str hf_string(const hf_history *h, hf_string_id id);

/* A value as a scalar (for a HF_LIST only the type is set). */
hf_scalar hf_value_scalar(const hf_history *h, hf_value_id v);

/* The same for a key. */
hf_scalar hf_key_scalar(const hf_history *h, hf_key_id key);

const char *hf_op_kind_name(hf_op_kind kind);
const char *hf_outcome_name(hf_outcome outcome);

#endif

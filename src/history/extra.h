/* extra.h: what an operation carries beyond a key and a value.
 *
 * Predicate operations, aggregates, increments and SQL statements keep their
 * parts in one array of 32-bit words, hf_history.extra; op_value is the
 * offset of the first.  This file is the only place that knows the layout.
 *
 * A scalar takes three words: type, then the number or string id in two.
 */
#ifndef HF_EXTRA_H
#define HF_EXTRA_H

#include "history/history.h"

/* How a version set was recorded, if not as a list (snapshot.h). */
typedef enum hf_snapshot_kind {
    HF_SNAPSHOT_NONE = 0,
    HF_SNAPSHOT_TIME, /* a time of the database's clock */
    HF_SNAPSHOT_IDS   /* the transactions that were visible */
} hf_snapshot_kind;

typedef struct hf_predicate {
    hf_string_id table;     /* HF_NONE: all plain keys */
    hf_string_id condition; /* the text, as a SQL expression */
    uint32_t n_columns;
    const uint32_t *columns; /* hf_string_id; for an aggregate the first */
    bool has_version_set;
    bool has_result_set; /* for an aggregate: has a result */
    uint32_t n_versions;
    const hf_version_ref *versions;
    uint32_t n_results;
    const hf_version_ref *results; /* the rows returned or changed */
    hf_scalar result;              /* of an aggregate */
    hf_snapshot_kind snapshot;     /* only without a version set */
    uint64_t snapshot_time;        /* by time */
    hf_string_id snapshot_ids;     /* by ids: the text */
} hf_predicate;

typedef struct hf_increment {
    int64_t amount;
    bool has_result;
    hf_value_id before, after; /* HF_NONE unless has_result */
} hf_increment;

/* Parameters and cells are read with hf_extra_scalar(). */
typedef struct hf_sql {
    hf_string_id text;
    uint32_t n_params;
    bool has_rows; /* the result was recorded */
    uint32_t n_rows, n_columns;
    uint64_t affected;      /* rows changed; UINT64_MAX: not recorded */
    const uint32_t *names;  /* n_columns string ids */
    const uint32_t *params; /* 3 words each */
    const uint32_t *cells;  /* 3 words each, row by row */
} hf_sql;

/* Each is O(1); the pointers are borrowed from the history. */
hf_predicate hf_op_predicate(const hf_history *h, hf_op_id op);
/* Parts of it, without the rest. */
uint32_t hf_op_n_versions(const hf_history *h, hf_op_id op);
uint64_t hf_op_n_refs(const hf_history *h, hf_op_id op); /* rows as well */
hf_snapshot_kind hf_op_snapshot_kind(const hf_history *h, hf_op_id op);
hf_increment hf_op_increment(const hf_history *h, hf_op_id op);
hf_sql hf_op_sql(const hf_history *h, hf_op_id op);
hf_scalar hf_extra_scalar(const hf_history *h, const uint32_t *words);

/* For an operation of a kind that has extra: are all its words in range? */
bool hf_extra_is_valid(const hf_history *h, hf_op_id op);
/* The words of a predicate become those of one with a version set of n entries
 * (or none), which follow its columns; it has no snapshot any more. */
void hf_extra_set_versions(uint32_t *words, bool has_versions, uint32_t n);
/* The words of a predicate that looked at the rows operation op returned, and
 * returned them, under the condition `true_text`; how many there are. */
#define HF_EXTRA_PREDICATE_HEAD 9u
uint32_t hf_extra_put_items(const hf_history *h, hf_op_id op,
                            hf_string_id true_text, uint32_t *ret);
/* Writers in a predicate's version set that do not exist become unknown; the
 * words need not be valid. */
void hf_extra_forget_writers(hf_history *h, hf_op_id op);

#endif

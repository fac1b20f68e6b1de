/* holdfast.h: the public interface of libholdfast.
 *
 * holdfast tells, with a proof that can be checked, whether a database keeps
 * the isolation level it promises.  A program using this header
 *
 *   1. gets a history: hf_load() reads a file in any known format, or
 *      hf_builder_*() builds one in memory, transaction by transaction;
 *   2. asks for a verdict: hf_check() against a level;
 *   3. reads the answer: hf_result_*(), as data or as JSON;
 *   4. may re-check the proof with hf_verify().
 *
 * All handles are opaque.  A handle belongs to the caller that received it
 * and is given back with its _free function, which accepts NULL.  A history
 * never changes after it was built, so several threads may read one.  No
 * function prints, exits or reads the environment; running out of memory
 * calls the handler of hf_set_out_of_memory().
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HF_API __attribute__((visibility("default")))
#define HF_MUST_USE __attribute__((warn_unused_result))

#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 1
#define HF_VERSION_PATCH 0
#define HF_VERSION_STRING "0.1.0"

/* ---- errors ------------------------------------------------------------ */

/* Whether the tool worked; what it found is an hf_verdict. */
typedef enum hf_status {
    HF_OK = 0,
    HF_ERR_INPUT,       /* the input is not what it claims to be */
    HF_ERR_IO,          /* the operating system refused */
    HF_ERR_USAGE,       /* the caller asked for something impossible */
    HF_ERR_LIMIT,       /* a limit of time or memory was reached */
    HF_ERR_UNSUPPORTED, /* understood, but this build cannot do it */
    HF_STATUS_COUNT
} hf_status;

/* Filled once, where the cause is known.  `line` is 1-based, `byte` is an
 * offset from 0; HF_NO_PLACE means "does not apply". */
#define HF_NO_PLACE UINT64_MAX
typedef struct hf_error {
    char text[480]; /* one line, lower case, no full stop */
    uint64_t line;
    uint64_t byte;
} hf_error;

/* Called when memory cannot be had; must not return.  NULL restores the
 * default, which prints one line and aborts. */
HF_API void hf_set_out_of_memory(void (*handler)(size_t wanted));

/* ---- words ------------------------------------------------------------- */

/* Dense ids, counted from 0.  HF_NONE is "no such thing". */
typedef uint32_t hf_txn_id;
typedef uint32_t hf_op_id;
typedef uint32_t hf_key_id;
typedef uint32_t hf_value_id; /* one value of one key, see hf_builder_int() */
typedef uint32_t hf_session_id;
typedef uint32_t hf_string_id;
#define HF_NONE UINT32_MAX

/* Nanoseconds (or any other rising count, see hf_time_unit). */
#define HF_TIME_NONE UINT64_MAX

typedef enum hf_verdict {
    HF_VALID = 0,
    HF_INVALID = 1,
    HF_UNKNOWN = 2,
    HF_VERDICT_COUNT
} hf_verdict;

typedef enum hf_outcome {
    HF_COMMITTED = 0,
    HF_ABORTED = 1,
    HF_UNKNOWN_OUTCOME = 2, /* a commit whose answer never came */
    HF_OUTCOME_COUNT
} hf_outcome;

typedef enum hf_op_kind {
    HF_OP_READ = 0,         /* key, value (HF_NONE: result not recorded) */
    HF_OP_WRITE,            /* key, value */
    HF_OP_APPEND,           /* key, element */
    HF_OP_READ_LIST,        /* key, list value */
    HF_OP_INSERT,           /* key, value: a write of a row that was absent */
    HF_OP_DELETE,           /* key; the value is nil */
    HF_OP_INCREMENT,        /* key, extra: amount and, if known, results */
    HF_OP_PREDICATE_READ,   /* extra: condition, version set, result set */
    HF_OP_PREDICATE_UPDATE, /* the same; its writes follow as writes */
    HF_OP_PREDICATE_DELETE, /* the same; its deletes follow as deletes */
    HF_OP_MIN,              /* extra: as predicate read, plus a result */
    HF_OP_MAX,
    HF_OP_SUM,
    HF_OP_COUNT_ROWS,
    HF_OP_BEGIN, /* these three matter for their interval only: */
    HF_OP_COMMIT,
    HF_OP_ABORT,
    HF_OP_SQL, /* extra: text, parameters, result rows */
    HF_OP_AVG, /* an aggregate, as HF_OP_SUM */
    HF_OP_KIND_COUNT
} hf_op_kind;

/* Flags of one operation. */
#define HF_OP_FOR_UPDATE (1u << 5) /* SELECT ... FOR UPDATE */
#define HF_OP_FOR_SHARE (1u << 6)  /* SELECT ... FOR SHARE */
#define HF_OP_FAILED (1u << 7)     /* the statement failed: no effect */

typedef enum hf_scalar_type {
    HF_NIL = 0, /* absent: unborn, deleted, SQL NULL, the empty list */
    HF_INT,     /* 64-bit signed */
    HF_TEXT,    /* bytes */
    HF_REAL,    /* a decimal or floating point number, as its text */
    HF_BOOL,    /* 0 or 1 */
    HF_ROW,     /* several columns, as the text of one JSON object */
    HF_LIST,    /* a list: built with hf_builder_list() */
    HF_SCALAR_TYPE_COUNT
} hf_scalar_type;

/* A value as seen from outside.  `text` is borrowed. */
typedef struct hf_scalar {
    hf_scalar_type type;
    int64_t number;   /* HF_INT, HF_BOOL */
    const char *text; /* HF_TEXT, HF_REAL, HF_ROW */
    size_t length;
} hf_scalar;

typedef struct hf_history hf_history;
typedef struct hf_builder hf_builder;
typedef struct hf_result hf_result;

/* Limits of one call; all zero: none. */
typedef struct hf_limits {
    double seconds; /* of wall-clock time; 0: no limit */
    size_t bytes;   /* of memory held by the process; 0: no limit */
    bool (*interrupted)(void *user); /* asked now and then; may be NULL */
    void *user;
} hf_limits;

HF_API const char *hf_version(void); /* "0.1.0" */

/* ---- building a history ------------------------------------------------- */

/* One transaction at a time:
 *
 *     hf_builder *b = hf_builder_new();
 *     hf_session_id s = hf_builder_session_number(b, 7);
 *     hf_key_id x = hf_builder_key_text(b, "x", 1);
 *     hf_txn_id t = hf_builder_txn(b, s);
 *     hf_builder_op(b, t, HF_OP_READ, x, hf_builder_nil(b, x));
 *     hf_builder_op(b, t, HF_OP_WRITE, x, hf_builder_int(b, x, 5));
 *     st = hf_builder_finish(b, &h, &err);
 *
 * Operations of several transactions may be added in any interleaving; each
 * transaction keeps its own in the order they were added.  Adding them one
 * transaction after the other costs nothing extra.
 *
 * Errors are sticky: an id that would overflow, or a limit that is reached,
 * is remembered, further calls do nothing harmful, and hf_builder_finish()
 * reports it.  Long loops may ask hf_builder_failed() and stop early. */
HF_API hf_builder *hf_builder_new(void);
HF_API void hf_builder_free(hf_builder *b);
HF_API bool hf_builder_failed(const hf_builder *b);

/* Names: the same arguments give the same id.  A fresh session has no name
 * and is never returned again. */
HF_API hf_session_id hf_builder_session_number(hf_builder *b, int64_t number);
HF_API hf_session_id hf_builder_session_text(hf_builder *b, const char *name,
                                             size_t length);
HF_API hf_session_id hf_builder_session_fresh(hf_builder *b);
HF_API hf_string_id hf_builder_string(hf_builder *b, const char *text,
                                      size_t length);
HF_API hf_key_id hf_builder_key_int(hf_builder *b, int64_t key);
HF_API hf_key_id hf_builder_key_text(hf_builder *b, const char *key,
                                     size_t length);
/* A row: the table's name and the primary key (HF_INT or HF_TEXT). */
HF_API hf_key_id hf_builder_key_row(hf_builder *b, hf_string_id table,
                                    hf_scalar key);

/* Values of a key. */
HF_API hf_value_id hf_builder_nil(hf_builder *b, hf_key_id key);
HF_API hf_value_id hf_builder_int(hf_builder *b, hf_key_id key, int64_t value);
HF_API hf_value_id hf_builder_value(hf_builder *b, hf_key_id key,
                                    hf_scalar value);
/* The list `shorter` + element, where `shorter` is a list value of the same
 * key, or the key's nil value or HF_NONE for the empty list; `element` is a
 * value of the same key. */
HF_API hf_value_id hf_builder_list(hf_builder *b, hf_key_id key,
                                   hf_value_id shorter, hf_value_id element);
/* This value is the key's initial version (default: nil). */
HF_API void hf_builder_initial(hf_builder *b, hf_key_id key, hf_value_id value);

/* A new transaction, outcome committed until told otherwise. */
HF_API hf_txn_id hf_builder_txn(hf_builder *b, hf_session_id session);
HF_API void hf_builder_outcome(hf_builder *b, hf_txn_id t, hf_outcome outcome);
/* Its own level, by any known name; fails if there is none. */
HF_API HF_MUST_USE hf_status hf_builder_level_name(hf_builder *b, hf_txn_id t,
                                                   const char *level,
                                                   hf_error *err);
/* Client-side time of begin and end (HF_TIME_NONE: unknown).  After the first
 * hf_builder_interval() of a transaction this works for the newest
 * transaction only. */
HF_API void hf_builder_times(hf_builder *b, hf_txn_id t, uint64_t begin,
                             uint64_t end);
/* The number reports give it, default its place counted from 1. */
HF_API void hf_builder_label(hf_builder *b, hf_txn_id t, int64_t label);

/* `kind` may have HF_OP_* flags added.  value HF_NONE: not recorded. */
HF_API hf_op_id hf_builder_op(hf_builder *b, hf_txn_id t, unsigned kind,
                              hf_key_id key, hf_value_id value);
/* The interval of the operation added last. */
HF_API void hf_builder_interval(hf_builder *b, uint64_t start, uint64_t end);
/* before and after HF_NONE: the results were not recorded. */
HF_API hf_op_id hf_builder_increment(hf_builder *b, hf_txn_id t, hf_key_id key,
                                     int64_t amount, hf_value_id before,
                                     hf_value_id after);

/* One entry of a version set or a result set.  `writer` tells versions with
 * equal values apart and is HF_NONE where the value is enough. */
#define HF_WRITER_INITIAL (HF_NONE - 1) /* the initial version */
typedef struct hf_version_ref {
    hf_value_id value;
    hf_txn_id writer;
} hf_version_ref;

/* Strings are copied. */
typedef struct hf_predicate_in {
    hf_scalar table;     /* HF_NIL: none */
    hf_scalar condition; /* HF_TEXT: a SQL expression */
    const hf_scalar *columns;
    uint32_t n_columns;
    bool has_version_set, has_result_set;
    const hf_version_ref *versions; /* what it looked at */
    uint32_t n_versions;
    const hf_version_ref *results; /* rows returned or changed */
    uint32_t n_results;
    hf_scalar result; /* of an aggregate; has_result_set says it is known */
    /* Instead of a version set: HF_INT, a time of the database's clock, or
     * HF_TEXT, "xmin:xmax:xid,xid" with the labels of transactions. */
    hf_scalar snapshot;
} hf_predicate_in;

typedef struct hf_sql_in {
    hf_scalar text;
    const hf_scalar *params;
    uint32_t n_params;
    bool has_rows;
    const hf_scalar *names; /* n_columns */
    uint32_t n_columns;
    const hf_scalar *cells; /* n_rows * n_columns */
    uint32_t n_rows;
    uint64_t affected; /* UINT64_MAX: not recorded */
} hf_sql_in;

/* A predicate operation or an aggregate; a whole SQL statement. */
HF_API hf_op_id hf_builder_predicate(hf_builder *b, hf_txn_id t, unsigned kind,
                                     const hf_predicate_in *predicate);
HF_API hf_op_id hf_builder_sql(hf_builder *b, hf_txn_id t,
                               const hf_sql_in *sql);

/* Certificate: t's last write of key is the next version in key's version
 * order; t is next in the expected serial order; the database's own clock.
 * The version order of key, or the serial order, was recorded and is empty: it
 * then leaves out whoever committed, unless entries are added as well. */
HF_API void hf_builder_order(hf_builder *b, hf_key_id key, hf_txn_id t);
HF_API void hf_builder_serial(hf_builder *b, hf_txn_id t);
HF_API void hf_builder_empty_order(hf_builder *b, hf_key_id key);
HF_API void hf_builder_empty_serial(hf_builder *b);
HF_API void hf_builder_timestamps(hf_builder *b, hf_txn_id t, uint64_t start,
                                  uint64_t commit);
/* The workload promises: no value is written twice to a key. */
HF_API void hf_builder_unique_values(hf_builder *b, bool promised);
/* A key's version order names all its committed writers, or nobody; unless
 * orders are announced to be partial: those left out have unknown places. */
HF_API void hf_builder_partial_orders(hf_builder *b, bool partial);
HF_API void hf_builder_name(hf_builder *b, const char *name, size_t length);

/* Hands over the history and frees the builder, whatever happens. */
HF_API HF_MUST_USE hf_status hf_builder_finish(hf_builder *b,
                                               hf_history **ret_h,
                                               hf_error *err);

/* ---- histories ---------------------------------------------------------- */

/* Reads a file ("-": standard input) or a directory.  format NULL: found by
 * content; limits NULL: none. */
HF_API HF_MUST_USE hf_status hf_load(const char *path, const char *format,
                                     const hf_limits *limits,
                                     hf_history **ret_h, hf_error *err);
/* The same for text or bytes in memory. */
HF_API HF_MUST_USE hf_status hf_load_memory(const void *bytes, size_t length,
                                            const char *format,
                                            const hf_limits *limits,
                                            hf_history **ret_h, hf_error *err);
/* Writes a file; format NULL: "jsonl". */
HF_API HF_MUST_USE hf_status hf_save(const hf_history *h, const char *path,
                                     const char *format, hf_error *err);
/* A history from the embedded store.  `options` is "name=value" words such as
 * "workload=append transactions=100 seed=7 level=snapshot-isolation
 * inject=lost-update"; the names are those of `holdfast gen`. */
HF_API HF_MUST_USE hf_status hf_generated(const char *options,
                                          hf_history **ret_h, hf_error *err);
HF_API void hf_history_free(hf_history *h);

typedef struct hf_counts {
    uint32_t transactions, committed, aborted, unknown;
    uint32_t operations, sessions, keys, values;
    size_t bytes; /* of memory held */
} hf_counts;
HF_API hf_counts hf_history_counts(const hf_history *h);

/* ---- checking ----------------------------------------------------------- */

/* Judges the history.  level: any known name; engine NULL: the best there
 * is.  A violation is no error: look at hf_result_verdict(). */
HF_API HF_MUST_USE hf_status hf_check(const hf_history *h, const char *level,
                                      const char *engine,
                                      const hf_limits *limits,
                                      hf_result **ret_r, hf_error *err);
HF_API void hf_result_free(hf_result *r);
HF_API hf_verdict hf_result_verdict(const hf_result *r);
/* For unknown: why; else NULL.  Borrowed. */
HF_API const char *hf_result_reason(const hf_result *r);
HF_API uint32_t hf_result_anomalies(const hf_result *r);
/* The name of anomaly i, such as "G-single-item".  Static. */
HF_API const char *hf_result_anomaly(const hf_result *r, uint32_t i);
/* The JSON object of docs/json.md, which includes the witness; the report
 * for people; a graph in the DOT language, for Graphviz.  All are given back
 * with hf_text_free(). */
HF_API char *hf_result_json(const hf_history *h, const hf_result *r);
HF_API char *hf_result_text(const hf_history *h, const hf_result *r);
HF_API char *hf_result_dot_text(const hf_history *h, const hf_result *r);
HF_API void hf_text_free(char *text);

/* Re-checks a witness (a JSON text as written by hf_result_json()) with the
 * independent checker.  *ret_accepted says whether it proves its verdict; if
 * not, err->text says what does not follow. */
HF_API HF_MUST_USE hf_status hf_verify(const hf_history *h, const char *json,
                                       size_t length, bool *ret_accepted,
                                       hf_error *err);

/* ---- names -------------------------------------------------------------- */

/* Canonical name of level i, NULL after the last. */
HF_API const char *hf_level_name(unsigned i);
/* Canonical name of anomaly i, NULL after the last. */
HF_API const char *hf_anomaly_name(unsigned i);
/* What a level or anomaly is, as text for people; NULL if the name is not
 * known.  Given back with hf_text_free(). */
HF_API char *hf_explain(const char *name);

#ifdef __cplusplus
}
#endif
#endif

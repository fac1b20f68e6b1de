/* jepsen.h: the events of a Jepsen history, and their pairing.
 *
 * A Jepsen history is a file of maps, one per event.  An invocation and the
 * completion that follows on the same process are one transaction:
 *
 *     ok     committed
 *     fail   aborted, for certain
 *     info   unknown; so is an invocation that never completes
 *
 * Transactions are built in the order of their completions, those that never
 * completed at the end in the order of their invocations; a process does one
 * thing at a time, so the order within a session is the order of invocation.
 * Events of processes that are no numbers (:nemesis) are skipped and counted.
 *
 * Time.  The file's order is real-time order.  The nanoseconds of :time are
 * taken if every event of a client has them and they rise strictly, else the
 * event's place among the clients' events.  An unknown transaction has no
 * end.  A file of completions only has no times at all.
 *
 * Without :process every operation is a session of its own, and a completion
 * belongs to the oldest open invocation of the same function and the same
 * writes.
 *
 * Labels are the :index of the completion, provided that indices rise
 * strictly through the file.
 */
#ifndef HF_JEPSEN_H
#define HF_JEPSEN_H

#include "base/map.h"
#include "base/vec.h"
#include "formats/format.h"
#include "formats/jread.h"

typedef enum hf_jepsen_type {
    HF_JEPSEN_INVOKE = 0,
    HF_JEPSEN_OK,
    HF_JEPSEN_FAIL,
    HF_JEPSEN_INFO,
    HF_JEPSEN_TYPE_COUNT
} hf_jepsen_type;

typedef enum hf_jepsen_f {
    HF_F_MISSING = 0,
    HF_F_TXN,
    HF_F_READ,
    HF_F_WRITE,
    HF_F_CAS,
    HF_F_ADD,
    HF_F_TRANSFER,
    HF_F_ACQUIRE,
    HF_F_RELEASE,
    HF_F_ENQUEUE,
    HF_F_DEQUEUE,
    HF_F_DRAIN,
    HF_F_OTHER,
    HF_F_COUNT
} hf_jepsen_f;

typedef struct hf_jepsen_event {
    const char *at; /* where its map begins in the input */
    uint64_t line;  /* the same as a line; set by hf_jepsen_feed() */
    hf_str value;   /* the text of :value; ptr NULL: missing */
    hf_str f_name;  /* valid until the next event is read */
    int64_t process, index, time;
    uint8_t type; /* hf_jepsen_type */
    uint8_t f;    /* hf_jepsen_f */
    bool is_client;
    bool has_process, has_index, has_time;
    bool has_type;
    bool has_position; /* :position or :link, of causal registers */
    bool is_parsed;    /* the format has read the value already */
} hf_jepsen_event;

/* ---- reading events ------------------------------------------------------ */

typedef struct hf_jepsen_file {
    hf_jread r;
    bool is_started, is_wrapped;
    bool is_type_optional; /* an event without one is ok */
} hf_jepsen_file;

void hf_jepsen_open(hf_jepsen_file *file, bool json, hf_str text);
void hf_jepsen_close(hf_jepsen_file *file);
/* False at the end or on failure: hf_jread_failed(&file->r) tells. */
bool hf_jepsen_next(hf_jepsen_file *file, hf_jepsen_event *ret_event);
hf_jepsen_f hf_jepsen_f_of(hf_str name);

/* ---- pairing ------------------------------------------------------------- */

typedef struct hf_jepsen hf_jepsen;

/* One finished transaction: completion is NULL if it never came, invocation
 * is NULL in files of completions. */
typedef struct hf_jepsen_done {
    const hf_jepsen_event *invocation, *completion;
    hf_outcome outcome;
} hf_jepsen_done;

/* Adds the operations of transaction t; returns HF_OK or fills j->err. */
typedef hf_status (*hf_jepsen_emit)(hf_jepsen *j, hf_txn_id t,
                                    const hf_jepsen_done *done);

typedef struct hf_jepsen_times {
    uint64_t begin, end; /* ordinals; HF_TIME_NONE */
    int64_t begin_ns, end_ns;
    int64_t label;
} hf_jepsen_times;

struct hf_jepsen {
    /* given by the caller */
    hf_builder *b;
    const hf_input *in;
    hf_error *err;
    bool json;
    hf_jepsen_emit emit;
    void *user;
    /* kept here */
    HF_VEC(hf_jepsen_event) open;      /* by session; at NULL: none open */
    HF_VEC(uint64_t) open_ordinal;     /* with it */
    HF_VEC(hf_jepsen_event) anonymous; /* invocations without a process */
    HF_VEC(uint64_t) anonymous_ordinal;
    HF_VEC(uint32_t) anonymous_next;
    hf_map anonymous_first, anonymous_last; /* by fingerprint */
    HF_VEC(hf_jepsen_times) times;          /* by transaction */
    uint64_t n_events;                      /* of clients */
    bool any_invoke, any_bare;
    bool times_rise, labels_rise;
    int64_t last_time, last_index;
    const char *line_at; /* lines are counted up to here */
    uint64_t line;
};

void hf_jepsen_init(hf_jepsen *j, const hf_input *in, hf_builder *b, bool json,
                    hf_error *err);
void hf_jepsen_release(hf_jepsen *j);
/* Takes the next event of the file. */
HF_MUST_USE hf_status hf_jepsen_feed(hf_jepsen *j, hf_jepsen_event *e);
/* After the last event: what never completed, times and labels. */
HF_MUST_USE hf_status hf_jepsen_finish(hf_jepsen *j);
/* Reads a whole file through hf_jepsen_next() and the two above. */
HF_MUST_USE hf_status hf_jepsen_import(hf_jepsen *j);

/* A reader over the value of an event. */
void hf_jepsen_value(const hf_jepsen *j, hf_jread *r, hf_str value);
/* Hands the reader's error over; closes it. */
hf_status hf_jepsen_value_done(const hf_jepsen *j, hf_jread *r);
/* Fails at the line of an event that was fed. */
hf_status hf_jepsen_refuse(const hf_jepsen *j, const hf_jepsen_event *e,
                           const char *text);

/* ---- telling the formats apart ------------------------------------------- */

/* What the first events of an input look like.  `events` is 0 if it is no
 * Jepsen history in this notation at all. */
typedef struct hf_jepsen_look {
    unsigned events;
    unsigned elle;     /* values are micro-operations r, w, append */
    unsigned viper;    /* ... among them range, i, d, or r with 4 parts */
    unsigned other;    /* values of other models */
    unsigned position; /* events with :position or :link */
    unsigned pairs;    /* reads and writes whose value is [key value] */
} hf_jepsen_look;

hf_jepsen_look hf_jepsen_look_at(const hf_input *in, bool json,
                                 bool type_optional);

#endif

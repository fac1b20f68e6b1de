/* event.h: what watch sees of a client: one call, and the times around it.
 *
 * A source (a file, a recorder, a socket) turns what it has into events; the
 * pipeline brings the events of all clients into the order of their `before`;
 * the mechanisms judge them in that order.  An event is a fixed number of
 * bytes and holds no pointers: buffers of them are flat arrays.
 *
 * Keys.  The source interns names: `key` is what was read or written (a row,
 * or one column of it), `row` is what a lock covers.  For whole rows the two
 * are the same.  Both are dense, and numbered apart; a key is always of the
 * same row.
 *
 * Values.  Two events of one key carry the same `value` exactly if they show
 * the same value; HF_EVENT_NO_ROW is the absence of the row.  Equal values of
 * different writes are allowed: who wrote what was read is then a choice.
 *
 * Statements.  Events of one call carry the same times and the same
 * `statement`, a number within the transaction: they share one snapshot where
 * the database takes one per statement.
 */
#ifndef HF_WATCH_EVENT_H
#define HF_WATCH_EVENT_H

#include <stdint.h>

typedef enum hf_event_kind {
    HF_EVENT_BEGIN,
    HF_EVENT_READ,   /* returned `value` of `key` */
    HF_EVENT_WRITE,  /* installs `value`, inserts and deletes included */
    HF_EVENT_SCAN,   /* a condition: extra names what it covers; the rows that
                        it returned follow as READs of the same statement,
                        with the same flags */
    HF_EVENT_COMMIT, /* the end; no answer: nobody knows */
    HF_EVENT_ABORT,
    HF_EVENT_KIND_COUNT
} hf_event_kind;

#define HF_EVENT_FOR_UPDATE (1u << 0) /* a read that locks as a writer */
#define HF_EVENT_FOR_SHARE (1u << 1)  /* a read that locks as a reader */
#define HF_EVENT_INSERT (1u << 2)     /* a write of a row that was not there */
#define HF_EVENT_DELETE (1u << 3)     /* a write of HF_EVENT_NO_ROW */
#define HF_EVENT_FAILED (1u << 4)     /* refused: it did nothing */
#define HF_EVENT_READ_ONLY (1u << 5)  /* BEGIN: it promises not to write */

#define HF_EVENT_WEAKER (1u << 6) /* BEGIN: at a weaker level than others */
#define HF_EVENT_FIRST (1u << 7)  /* the number is a new client's */

#define HF_EVENT_NO_ROW 0u

typedef struct hf_event {
    uint64_t before, after; /* ns; after UINT64_MAX: no answer came */
    uint64_t txn;           /* unique in the stream, below 2^59 */
    uint64_t value;
    uint32_t client; /* dense */
    uint32_t key, row;
    uint32_t extra; /* SCAN: which, as its source numbers them */
    uint32_t statement;
    uint8_t kind; /* hf_event_kind */
    uint8_t flags;
} hf_event;

/* A SCAN that returned one number for all of its rows (hf_watch_total()): the
 * number itself; `value` is how reports have it. */
static inline void hf_event_set_number(hf_event *e, int64_t number)
{
    e->key = (uint32_t)(uint64_t)number;
    e->row = (uint32_t)((uint64_t)number >> 32);
}

static inline int64_t hf_event_number(const hf_event *e)
{
    return (int64_t)((uint64_t)e->row << 32 | e->key);
}

#endif

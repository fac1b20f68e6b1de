/* translate.h: a history, or a piece of one, as events.
 *
 * All sources end here: files, a recorder's pieces, lines from a socket.
 *
 *     hf_translator_piece(&t, h);           its keys get numbers, or have them
 *     for each transaction: n = hf_translator_txn(&t, h, txn, &events);
 *
 * An operation without an interval has its transaction's.  Operations with the
 * same interval, if it is longer than nothing, are one statement.  A list is
 * its last element.  A row may be one key, or one for each column
 * (columns.h).  What a key was before anyone wrote it is known if someone
 * announced it, or, once anything was announced, by its absence from that;
 * else nobody knows (watch.h), and the first read shows it.  A predicate
 * operation is a SCAN and the rows it returned.  What cannot be said as events
 * is counted.
 */
#ifndef HF_WATCH_TRANSLATE_H
#define HF_WATCH_TRANSLATE_H

#include <stdatomic.h>

#include "base/vec.h"
#include "history/history.h"
#include "model/level.h"
#include "watch/columns.h"
#include "watch/key_names.h"
#include "watch/conditions.h"

/* A row with columns that was there, of a table that may yet turn out to be
 * read by column. */
typedef struct hf_initial_row {
    uint32_t key, table;
    size_t at, length; /* its text */
} hf_initial_row;

typedef struct hf_translator {
    hf_watch_names *names; /* borrowed, both */
    hf_watch_scans *scans;
    _Atomic(uint64_t) n_txns; /* others look at these */
    /* what was left out */
    _Atomic(uint64_t) no_times; /* transactions without any time */
    _Atomic(uint64_t) opaque;   /* statements that may have done anything */
    _Atomic(uint64_t)
        aggregates; /* sums and the like: no single row is returned */
    _Atomic(uint64_t) amounts;      /* increments without results */
    bool is_weaker[HF_LEVEL_COUNT]; /* transactions that name such a level are
                                       not promised what the profile is */
    hf_columns columns;
    bool is_announced; /* someone said what was there at the beginning */
    bool is_surveyed;  /* what was announced is kept until settle: */
    HF_VEC(hf_initial_row) initial_rows;
    HF_VEC(char) initial_texts;
    /* of the piece in hand; table_of_key: by the piece's keys */
    HF_VEC(uint32_t) keys, tables, table_of_key;
    HF_VEC(hf_event) events;
} hf_translator;

void hf_translator_release(hf_translator *t);
void hf_translator_piece(hf_translator *t, const hf_history *h);
/* Before all that, if the whole is there: each piece once (columns.h), then
 * settle. */
void hf_translator_survey(hf_translator *t, const hf_history *h);
void hf_translator_settle(hf_translator *t);

/* When a transaction begins; false: nobody knows. */
bool hf_translator_begin(const hf_history *h, hf_txn_id txn, uint64_t *ret);

/* The events of one transaction, without `client`, valid until the next call.
 * number: of the transaction in the stream.  part: see below. */
typedef struct hf_txn_part {
    uint64_t number;
    bool no_begin, no_end; /* more of it came before, or comes after */
    uint64_t last;         /* `before` of its last event, filled in */
    uint64_t answered;     /* when the last answer came, filled in */
    uint32_t statement;    /* the first free number; filled in */
} hf_txn_part;

size_t hf_translator_txn(hf_translator *t, const hf_history *h, hf_txn_id txn,
                         hf_txn_part *part, const hf_event **ret);

#endif

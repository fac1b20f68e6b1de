/* export.h: what exporters have in common: refusing, and naming.
 *
 * No other format can say all that a history can.  An exporter names what its
 * format can say; hf_export_check() finds the first thing beyond that.  What
 * happened (operations, values, outcomes, who ran it) is never dropped
 * silently.  What a format has no place for and what only adds evidence
 * (times, the certificate, labels, lines, names) is left out.
 */
#ifndef HF_EXPORT_H
#define HF_EXPORT_H

#include "history/history.h"

/* Every format can say: committed transactions with reads and writes of
 * integers 0 .. 2^63-1 on plain keys of the same kind.  Beyond that: */
#define HF_SAYS_ABORTED (1u << 0)
#define HF_SAYS_UNKNOWN (1u << 1)
#define HF_SAYS_EMPTY (1u << 2)     /* transactions without operations */
#define HF_SAYS_INITIAL (1u << 3)   /* reads of the initial version */
#define HF_SAYS_LISTS (1u << 4)     /* append and list reads of integers */
#define HF_SAYS_TEXT_KEYS (1u << 5) /* any bytes */
#define HF_SAYS_NEGATIVE (1u << 6)  /* negative keys and values */
/* Not an ability: a read of 0 is a read of the initial version unless the
 * history writes 0 to that key. */
#define HF_ZERO_IS_INITIAL (1u << 7)
/* With it: an initial version that is nil can be said as such. */
#define HF_NULL_IS_INITIAL (1u << 8)
/* The format names no values: any initial value will do. */
#define HF_SAYS_NO_VALUES (1u << 9)

HF_MUST_USE hf_status hf_export_check(const hf_history *h, const char *format,
                                      unsigned says, hf_error *err);

/* Refuses initial values other than nil and 0: formats have one of these two
 * for "nothing was written yet" and no way to say another.  Part of
 * hf_export_check(). */
HF_MUST_USE hf_status hf_export_check_initial(const hf_history *h,
                                              const char *format,
                                              hf_error *err);

/* A key or value for a message, on one line; returns `text`. */
#define HF_EXPORT_SHOWN 64
const char *hf_export_show(hf_scalar s, char text[HF_EXPORT_SHOWN]);

/* True for operations that an exporter passes over: begin, commit, abort. */
static inline bool hf_export_skips(hf_op_kind kind)
{
    return kind == HF_OP_BEGIN || kind == HF_OP_COMMIT || kind == HF_OP_ABORT;
}

/* Does a read of v read key's initial version? (v: a value of that key) */
static inline bool hf_export_initial(const hf_history *h, hf_value_id v)
{
    return hf_value_is_initial(h, h->value_key[v], v);
}

/* Numbers for sessions and transactions: those of the file the history came
 * from where they are numbers from 0 up and unique, else places. */
typedef struct hf_export_numbers {
    const hf_history *h;
    bool session_names, txn_labels;
} hf_export_numbers;

hf_export_numbers hf_export_number(const hf_history *h);
uint64_t hf_export_session(const hf_export_numbers *n, hf_session_id s);
uint64_t hf_export_txn(const hf_export_numbers *n, hf_txn_id t);

#endif

/* promises.h: does a history keep what every history promises?
 *
 * Ids in range are validated when a history is built (validate.c).  Here is
 * what makes no sense although every id does: nothing a database did can
 * explain it, only a mistake of the client or the recorder, so it is bad input
 * and never an isolation anomaly.
 *
 * A value written twice where unique values were promised is not here: it may
 * be the database's doing (a statement executed twice), so it is an anomaly.
 */
#ifndef HF_PROMISES_H
#define HF_PROMISES_H

#include "history/history.h"

/* Every key is a list or a plain value, not both, in what is appended,
 * written and read of it and in its initial value (nil fits both; failed
 * operations do not count); no operation's interval lies outside its
 * transaction's; no transaction commits, by the database's own clock, before
 * it starts; every version in a version set was written by somebody, of any
 * outcome, or is the initial one, and no version set has a key twice; a row
 * that names its writer is a version of that writer.  (Two versions among the
 * rows returned, and a row that nobody wrote, are anomalies.)
 *
 * HF_ERR_INPUT and the first contradiction otherwise; err->line is its line
 * where lines are known.  Linear; without lists, intervals, timestamps and
 * version sets it only looks at the kinds of the operations. */
HF_MUST_USE hf_status hf_promises_check(const hf_history *h, hf_error *err);

/* No transaction begins before the one before it in its session has ended,
 * as far as both times are known.  One of unknown outcome has no end: its
 * client went on without the answer.
 *
 * It is for the caller to say whether it matters: without session order and
 * real time a session is only a name.  Linear in the transactions. */
HF_MUST_USE hf_status hf_promises_check_sessions(const hf_history *h,
                                                 hf_error *err);

/* A key as messages name it, quoted: "x", "7", "accounts[7]". */
#define HF_KEY_WORDS 160u
const char *hf_key_words(const hf_history *h, hf_key_id key,
                         char ret[HF_KEY_WORDS]);

/* promises_counters.c: a part of it: a number in a key with increments without
 * results that is too long to be added to. */
HF_MUST_USE hf_status hf_promises_check_counters(const hf_history *h,
                                                 hf_error *err);

#endif

/* projection.h: rows of which some columns were recorded.
 *
 * SELECT a FROM t WHERE b = 4 returns {"a":3} of the row {"a":3,"b":4}.  Where
 * a predicate operation says by "columns" which columns it returned, such a
 * row becomes the version it is of: the one in the operation's version set, or
 * the only one of its key that has these values.  Engines then need not know
 * of projections.
 */
#ifndef HF_PROJECTION_H
#define HF_PROJECTION_H

#include "history/history.h"

/* Fails (HF_ERR_INPUT) if a row may be of several versions.  A row that is of
 * none stays as it is: nobody wrote it. */
HF_MUST_USE hf_status hf_history_project(hf_history *h, hf_error *err);

#endif

/* report.h: results in words and in JSON. */
#ifndef HF_REPORT_H
#define HF_REPORT_H

#include "base/json_out.h"
#include "base/vec.h"
#include "history/history.h"
#include "model/witness.h"

/* "T7" */
void hf_txn_print(const hf_history *h, hf_txn_id t, hf_out *out);
/* "x", "key 17", "accounts/4" */
void hf_key_print(const hf_history *h, hf_key_id key, hf_out *out);
/* "5", "nil", "[1 2 3]", "\"text\"" */
void hf_value_print(const hf_history *h, hf_value_id v, hf_out *out);
/* "read x = 1", "append 3 to y", "predicate read where value < 5: no rows" */
void hf_op_print(const hf_history *h, hf_op_id op, hf_out *out);
/* "T3 reads x = 1, which T2 overwrites with x = 2", no full stop. */
void hf_edge_print(const hf_history *h, const hf_edge *e, hf_out *out);

/* The transactions a witness of an invalid history speaks of, each once, in
 * the order of the cycle; the caller releases the list. */
typedef HF_VEC(hf_txn_id) hf_txn_list;
hf_txn_list hf_witness_txns(const hf_history *h, const hf_witness *w);

/* The terminal form: answer first, then the shortest evidence.  `color`:
 * with escape codes. */
void hf_result_print(const hf_history *h, const hf_result *r, bool color,
                     hf_out *out);
/* The JSON forms: docs/json.md. */
void hf_witness_write(const hf_history *h, hf_level level, hf_verdict verdict,
                      const hf_witness *w, hf_json *j);
void hf_result_write(const hf_history *h, const hf_result *r, hf_json *j);

#endif

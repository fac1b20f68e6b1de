/* report.h: results in words, in JSON and as a graph to draw. */
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

/* "the assumption per-key-linearizable and the recorded timestamps", for some
 * of HF_REST_*. */
void hf_rests_print(unsigned rests, hf_out *out);

/* The transactions a witness of an invalid history speaks of, each once, in
 * the order of the cycle; the caller releases the list. */
typedef HF_VEC(hf_txn_id) hf_txn_list;
hf_txn_list hf_witness_txns(const hf_history *h, const hf_witness *w);

/* How often each anomaly was found, worst first: the result's own groups, or
 * where the engine made none, its findings counted.  The caller releases the
 * list. */
typedef HF_VEC(hf_group) hf_group_list;
hf_group_list hf_result_groups(const hf_result *r);

/* Puts the `most` findings that are worth showing first, in their order: the
 * first of each anomaly is preferred over the second of another. */
void hf_result_arrange(hf_result *r, uint32_t most);

/* The terminal form: answer first, then what it rests on, how often each
 * anomaly was found, and the evidence of the first `most` findings.  `color`:
 * with escape codes. */
void hf_result_print(const hf_history *h, const hf_result *r, uint32_t most,
                     bool color, hf_out *out);

/* The JSON forms: docs/json.md. */
void hf_witness_write(const hf_history *h, hf_level level, hf_verdict verdict,
                      const hf_witness *w, hf_json *j);
void hf_result_write(const hf_history *h, const hf_result *r, hf_json *j);
/* With the first `most` findings only. */
void hf_result_write_first(const hf_history *h, const hf_result *r,
                           uint32_t most, hf_json *j);

/* The first `most` findings as one graph in the DOT language: transactions
 * with their operations, edges with their kind and key.  A valid result is
 * the beginning of its order, an unknown one its reason. */
void hf_result_dot(const hf_history *h, const hf_result *r, uint32_t most,
                   hf_out *out);

#endif

/* words.h: the words that sentences are made of, inside report/ only.
 *
 * Nothing here fails.  Operations, keys and values are ids of the history.
 */
#ifndef HF_REPORT_WORDS_H
#define HF_REPORT_WORDS_H

#include "report/report.h"

/* How a verb is used: "write", "writes", "wrote". */
typedef enum hf_verb_form {
    HF_VERB_BARE = 0,
    HF_VERB_PRESENT,
    HF_VERB_PAST,
    HF_VERB_FORM_COUNT
} hf_verb_form;

/* Of an operation on one item. */
const char *hf_verb(hf_op_kind kind, hf_verb_form form);
/* "x = 1" */
void hf_key_is_print(const hf_history *h, hf_key_id key, hf_value_id v,
                     hf_out *out);
/* "writes x = 1", "appended 3 to x", "increment x by 5 from 10 to 15". */
void hf_item_print(const hf_history *h, hf_op_id op, hf_verb_form form,
                   hf_out *out);
/* "predicate read of t where value < 5", without what it returned. */
void hf_predicate_print(const hf_history *h, hf_op_id op, hf_out *out);
/* The value of `key` that a read, predicate operation or increment saw;
 * HF_NONE if it is not there. */
hf_value_id hf_value_seen(const hf_history *h, hf_op_id op, hf_key_id key);

/* "T5", or "T5 (line 9)" where lines are known. */
void hf_txn_print_at(const hf_history *h, hf_txn_id t, hf_out *out);
/* "operation 2 of T5 (line 9)" */
void hf_op_print_place(const hf_history *h, hf_op_id op, hf_out *out);

/* "1,204 reads", "at least 17 components": one of the groups of `r`.  An
 * engine that makes groups counts the components that have a cycle; where
 * findings were counted they are cycles. */
void hf_group_count_print(const hf_result *r, const hf_group *group,
                          hf_out *out);

/* How an anomaly without a cycle reads: so many sentences, each without a
 * full stop, the last one the conclusion if there are several. */
uint32_t hf_sentence_count(const hf_witness *w);
void hf_sentence_print(const hf_history *h, const hf_witness *w, uint32_t i,
                       hf_out *out);

/* " has x = 2 of T2 (line 2); x = 1 is ...": what an expected order gives in
 * place of what an operation saw, and which transaction explains that;
 * with_source: also who wrote what was seen. */
void hf_state_print(const hf_history *h, const hf_state_view *s,
                    bool with_source, hf_out *out);
/* "; operation 2 fits until T2 (line 3) wrote x = 2", or nothing. */
void hf_state_fits_print(const hf_history *h, const hf_state_view *s,
                         hf_out *out);
/* The field "expected" of docs/json.md, if there are any. */
void hf_states_write(const hf_history *h, const hf_witness *w, hf_json *j);
/* "12", "\"text\"", "nil" */
void hf_scalar_print(const hf_scalar *s, hf_out *out);

/* The operations that a witness cites, ascending, each once; released with
 * hf_vec_release(). */
typedef HF_VEC(hf_op_id) hf_op_list;
hf_op_list hf_witness_cited(const hf_witness *w);
bool hf_op_list_has(const hf_op_list *list, hf_op_id op);

/* A transaction's operations, some left out where there are many: the next
 * one to show at or after `op` (the end if there is none), given that
 * `shown` were shown before.  What is cited is always shown. */
hf_op_id hf_next_shown(const hf_history *h, const hf_op_list *cited,
                       hf_txn_id t, hf_op_id op, uint32_t shown);

#endif

/* search.h: from events to predictions. */
#ifndef HF_PREDICT_SEARCH_H
#define HF_PREDICT_SEARCH_H

#include "predict/encode.h"

typedef HF_VEC(hf_prediction) hf_predictions;

/* How the search ended. */
typedef enum hf_search_end {
    HF_SEARCH_ALL,    /* nothing else exists */
    HF_SEARCH_ENOUGH, /* as many as were asked for */
    HF_SEARCH_LIMIT   /* the budget was spent */
} hf_search_end;

/* Predictions are pushed as they are found. */
HF_MUST_USE hf_status hf_search(const hf_events *e,
                                const hf_predict_options *options,
                                hf_predictions *ret, hf_predict_stats *stats,
                                hf_search_end *ret_end, hf_error *err);

/* shape.c: what tells predictions apart. */
typedef struct hf_shapes hf_shapes;
hf_shapes *hf_shapes_new(const hf_events *e);
void hf_shapes_free(hf_shapes *s);
/* The shape of a prediction: its cycle, with the kinds of its transactions and
 * the tables of its keys; without a cycle, its changed reads. */
uint64_t hf_shape_of(hf_shapes *s, const hf_prediction *p);
/* What the application does where read r takes source j: equal for the same
 * statement of the same kind of transaction, with the same kind of writer. */
uint64_t hf_shape_site(hf_shapes *s, uint32_t read, uint32_t source);

/* describe.c: an execution in the words of the history. */
void hf_prediction_fill(hf_prediction *p, const hf_events *e,
                        const hf_chosen *x, const uint32_t *place,
                        hf_boundary kind);
void hf_prediction_release(hf_prediction *p);

/* direct.c: one read that changes, if that is all it takes.  The execution, and
 * the places of all transactions in an order that the level allows; false:
 * that is not known here. */
bool hf_direct(const hf_events *e, hf_boundary boundary, hf_serial *serial,
               hf_chosen *x, uint32_t *ret_place);

/* paper.c: the same by the paper's constraints; at most one prediction. */
HF_MUST_USE hf_status hf_paper_search(const hf_events *e,
                                      const hf_predict_options *options,
                                      hf_predictions *ret,
                                      hf_predict_stats *stats,
                                      hf_search_end *ret_end, hf_error *err);

#endif

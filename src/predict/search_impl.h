/* search_impl.h: what search.c and search_size.c share. */
#ifndef HF_PREDICT_SEARCH_IMPL_H
#define HF_PREDICT_SEARCH_IMPL_H

#include "base/map.h"
#include "predict/search.h"

typedef struct hf_searcher {
    const hf_events *e;
    const hf_predict_options *options;
    hf_encoding c;
    hf_serial *serial;
    hf_shapes *shapes;
    hf_chosen x, y, z; /* z: of `first` */
    uint32_t *place;
    hf_predictions *found;
    hf_predict_stats *stats;
    bool exact;
    bool probing;        /* is there one at all? */
    bool cycling;        /* one with a cycle to show, encode_cycle.c */
    hf_prediction first; /* what probing found; no reads: nothing */
    bool has_first;
    const unsigned *wishes; /* those that are asked for now; the last is 0 */
    uint32_t answers;       /* to these wishes */
    uint32_t given_up;      /* sets of wishes that were too much effort */
    uint32_t again;         /* predictions in a row with a known shape */
    hf_map sites;           /* place of the application: index into site_lits */
    HF_VEC(int) site_lits;
    hf_others others; /* of q->x */
    bool ended;       /* nothing can be excluded any more */
} hf_searcher;

void hf_searcher_copy(hf_searcher *q, hf_chosen *to, const hf_chosen *from);
/* Is this another source than the observed one, for the application? */
bool hf_searcher_changed(const hf_searcher *q, uint32_t read, uint32_t source);
/* Does the strategy take it for not serializable? */
bool hf_searcher_is_one(const hf_searcher *q, hf_serial_answer a);
/* q->x is a prediction, and stays one. */
void hf_searcher_shrink(hf_searcher *q);
void hf_searcher_stretch(hf_searcher *q);

#endif

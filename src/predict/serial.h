/* serial.h: is a chosen execution serializable?
 *
 * First the least relation that every commit order must keep (the paper's
 * pco: session order, reads-from, and what follows from them by its two
 * rules) is computed on bit matrices; a cycle in it is an answer.  Else an
 * order is searched for (solver/order.h).
 */
#ifndef HF_PREDICT_SERIAL_H
#define HF_PREDICT_SERIAL_H

#include "predict/events.h"

/* One execution: what the solver, or a test, has chosen. */
typedef struct hf_chosen {
    uint32_t *cut;    /* per session: segments that are included */
    uint32_t *source; /* per read: which of its sources; HF_NONE: left out */
} hf_chosen;

void hf_chosen_init(hf_chosen *x, const hf_events *e);
void hf_chosen_release(hf_chosen *x);

static inline bool hf_chosen_has(const hf_events *e, const hf_chosen *x,
                                 uint32_t txn, uint32_t segment)
{
    uint32_t s = e->session_of[txn];

    return segment - e->sessions.at[s].segment < x->cut[s];
}

typedef enum hf_serial_answer {
    HF_SERIAL_ORDER,    /* serializable */
    HF_SERIAL_CYCLE,    /* no: a cycle of what every order must keep */
    HF_SERIAL_NO_ORDER, /* no: all orders were searched */
    HF_SERIAL_LIMIT
} hf_serial_answer;

typedef struct hf_serial hf_serial;
hf_serial *hf_serial_new(const hf_events *e);
void hf_serial_free(hf_serial *s);

/* After HF_SERIAL_ORDER the places of all transactions in it are in
 * ret_place (n entries, may be NULL). */
hf_serial_answer hf_serial_judge(hf_serial *s, const hf_chosen *x,
                                 hf_budget *budget, uint32_t *ret_place);

/* After HF_SERIAL_CYCLE: a shortest cycle among the edges found; at most `n`
 * of the history's transactions.  ret has room for e->n edges; returns how
 * many there are. */
uint32_t hf_serial_cycle(hf_serial *s, const hf_chosen *x,
                         hf_predicted_edge *ret);

#endif

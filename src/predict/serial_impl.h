/* serial_impl.h: what serial.c and serial_search.c share. */
#ifndef HF_PREDICT_SERIAL_IMPL_H
#define HF_PREDICT_SERIAL_IMPL_H

#include "predict/serial.h"

typedef struct hf_serial_pair {
    uint32_t b, c; /* c reads from b */
} hf_serial_pair;

typedef struct hf_serial_edge {
    uint32_t from, to;
    unsigned kind; /* hf_predicted_edge_kind */
    uint32_t pair; /* that makes it; HF_NONE: session order */
} hf_serial_edge;

struct hf_serial {
    const hf_events *e;
    uint32_t n, words;
    uint64_t *after, *before; /* closed: n rows of n bits */
    uint32_t *pair_of;        /* n * n; HF_NONE: no such pair */
    HF_VEC(hf_serial_pair) pairs;
    HF_VEC(uint64_t) sets; /* per pair: who must not be between */
    HF_VEC(hf_serial_edge) edges;
    bool cyclic; /* the last edge closes a cycle: nothing that follows from one
                    is an edge */
    HF_VEC(uint32_t) rows; /* reads with several versions outside */
};

static inline bool hf_bit_get(const uint64_t *row, uint32_t i)
{
    return row[i / 64] >> i % 64 & 1;
}

static inline void hf_bit_set(uint64_t *row, uint32_t i)
{
    row[i / 64] |= (uint64_t)1 << i % 64;
}

static inline uint64_t *hf_serial_after(const hf_serial *s, uint32_t t)
{
    return s->after + (size_t)t * s->words;
}

static inline uint64_t *hf_serial_before(const hf_serial *s, uint32_t t)
{
    return s->before + (size_t)t * s->words;
}

/* How many versions of its key a read could meet, judged or not. */
uint32_t hf_serial_versions(const hf_events *e, const hf_event_read *r);

/* An order that keeps all pairs and rows, of an execution whose forced order
 * has no cycle. */
hf_serial_answer hf_serial_search(hf_serial *s, const hf_chosen *x,
                                  hf_budget *budget, uint32_t *ret_place);

#endif

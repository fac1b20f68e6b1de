/* tpcc.h: what the parts of TPC-C share: tpcc.c and tpcc_order.c
 * (transactions), tpcc_load.c and tpcc_check.c.  Money is in cents, taxes and
 * discounts in 1/10000.
 */
#ifndef HF_WORKLOAD_TPCC_H
#define HF_WORKLOAD_TPCC_H

#include "workload/steps.h"

#define TPCC_MOST_LINES 15u
#define TPCC_CARRIERS 10u

enum {
    TPCC_NEW_ORDER = 0,
    TPCC_PAYMENT,
    TPCC_ORDER_STATUS,
    TPCC_DELIVERY,
    TPCC_STOCK_LEVEL
};

/* "log" is what was committed in this run; loaded rows are not in it unless
 * said. */
typedef struct tpcc_state {
    hf_count delivered;                   /* orders in the log */
    hf_count lines;                       /* of NewOrders in the log */
    hf_count carriers[TPCC_CARRIERS + 1]; /* orders each has; with loaded */
    hf_ledger district_delivered;         /* orders, per district */
    hf_ledger stock_ytd;                  /* quantity, per stock row */
    hf_ledger payments;                   /* how many, per customer; loaded */
    hf_ledger paid;                       /* cents, per customer; loaded */
    hf_memos notes;
} tpcc_state;

/* Sizes, from the options. */
typedef struct tpcc_scale {
    int64_t warehouses, districts, customers, items;
    int64_t first_new; /* first order that is not delivered yet */
    int64_t names;     /* last names that are asked for */
} tpcc_scale;

tpcc_scale hf_tpcc_scale(const hf_play *p);

/* Objects of the ledgers. */
static inline int64_t tpcc_district(int64_t w, int64_t d)
{
    return (w - 1) * 64 + d;
}

static inline int64_t tpcc_customer(const tpcc_scale *s, int64_t w, int64_t d,
                                    int64_t c)
{
    return ((w - 1) * s->districts + d - 1) * s->customers + c;
}

static inline int64_t tpcc_stock(const tpcc_scale *s, int64_t w, int64_t i)
{
    return (w - 1) * s->items + i;
}

/* Three syllables, of the digits of n < 1000. */
void hf_tpcc_last_name(int64_t n, char name[20]);

/* The terminal's warehouse, and another one if there is any. */
int64_t hf_tpcc_home(const tpcc_scale *s, const hf_client *c);
int64_t hf_tpcc_other(const tpcc_scale *s, hf_rng *r, int64_t w);

void hf_tpcc_draw_new_order(hf_play *p, hf_client *c, hf_drawn *ret);
void hf_tpcc_new_order(hf_play *p, hf_client *c, const hf_drawn *d);
/* A committed one; x: what was drawn. */
void hf_tpcc_count_order(tpcc_state *state, const tpcc_scale *s,
                         const int64_t *x, bool known);

extern const char *const hf_tpcc_tables[];
hf_status hf_tpcc_load(hf_play *p, hf_error *err);
void hf_tpcc_check(hf_play *p, hf_client *c);

#endif

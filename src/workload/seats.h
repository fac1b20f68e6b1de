/* seats.h: what the parts of SEATS share: seats.c and seats_find.c
 * (transactions), seats_load.c (tables, rows, invariants).  Money is in cents,
 * time in minutes.
 */
#ifndef HF_WORKLOAD_SEATS_H
#define HF_WORKLOAD_SEATS_H

#include "workload/steps.h"

#define SEATS_QUEUE 16u
#define SEATS_DAY 1440

enum {
    SEATS_FIND_FLIGHTS = 0,
    SEATS_FIND_OPEN_SEATS,
    SEATS_NEW_RESERVATION,
    SEATS_UPDATE_RESERVATION,
    SEATS_DELETE_RESERVATION,
    SEATS_UPDATE_CUSTOMER
};

/* A reservation that a client has made or wants to make. */
typedef struct seats_wish {
    int64_t id, customer, flight, seat, price;
} seats_wish;

typedef struct seats_queue {
    seats_wish at[SEATS_QUEUE];
    uint32_t first, n;
} seats_queue;

/* Only the client's own thread uses them. */
typedef struct seats_driver {
    seats_queue inserts, updates, deletes;
} seats_driver;

typedef struct seats_state {
    hf_ledger reservations; /* per customer: new - deleted */
    hf_ledger miles;        /* per customer and airline: the same */
    hf_ledger balance;      /* per customer: loaded - prices of deleted */
    hf_memos notes;
    seats_driver drivers[HF_MEMO_CLIENTS];
} seats_state;

/* A flight follows from its number, 0 .. flights-1; so do its keys. */
typedef struct seats_flight {
    int64_t id, airline, from, to, depart, arrive;
} seats_flight;

seats_flight hf_seats_flight(const hf_play *p, int64_t number);
/* c_id of customer 0 .. customers-1: home airport and number. */
int64_t hf_seats_customer(const hf_play *p, int64_t number);
/* c_id_str */
void hf_seats_customer_text(int64_t c_id, char text[65]);

static inline int64_t seats_miles(int64_t customer, int64_t airline)
{
    return (customer % 1000000000) * 7 + airline;
}

/* The client's queues; NULL: one client too many, it only looks. */
seats_driver *hf_seats_driver(hf_play *p, const hf_client *c);
void hf_seats_put(seats_queue *q, const seats_wish *w);
bool hf_seats_take(seats_queue *q, seats_wish *ret); /* false: empty */

int64_t hf_seats_any_customer(hf_play *p, hf_rng *r);
void hf_seats_draw_find_flights(hf_play *p, hf_client *c, hf_drawn *ret);
void hf_seats_draw_find_open_seats(hf_play *p, hf_client *c, hf_drawn *ret);
void hf_seats_find_flights(hf_play *p, hf_client *c, const hf_drawn *d);
void hf_seats_find_open_seats(hf_play *p, hf_client *c, const hf_drawn *d);
/* Reads it and its country; false: over. */
bool hf_seats_look_at_airport(hf_client *c, int64_t airport);

extern const char *const hf_seats_tables[];
hf_status hf_seats_load(hf_play *p, hf_error *err);
void hf_seats_check(hf_play *p, hf_client *c);

#endif

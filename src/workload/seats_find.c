/* seats_find.c: SEATS: FindFlights and FindOpenSeats, and the queues of
 * reservations that each client keeps.
 */
#include "workload/seats.h"

/* ---- steps --------------------------------------------------------------- */

static const hf_step near_airports = {
    "SELECT _tag, d_ap_id0, d_ap_id1, d_distance FROM airport_distance WHERE "
    "d_ap_id0 = $1 AND d_distance <= $2 ORDER BY d_distance",
    HF_STEP_SCAN, .table = "airport_distance", .keys = {2}};
static const hf_step flights_between = {
    "SELECT _tag, f_id, f_al_id, f_depart_ap_id, f_arrive_ap_id, f_seats_left, "
    "f_depart_time, f_arrive_time FROM flight WHERE f_depart_ap_id = $1 AND "
    "f_depart_time >= $2 AND f_depart_time <= $3 AND f_arrive_ap_id IN ($4, "
    "$5, $6)",
    HF_STEP_SCAN, .table = "flight", .keys = {1}};
static const hf_step read_airline = {
    "SELECT _tag, al_name FROM airline WHERE al_id = $1", HF_STEP_READ,
    .table = "airline", .keys = {1}};
static const hf_step read_airport = {
    "SELECT _tag, ap_co_id, ap_code, ap_name, ap_city FROM airport WHERE ap_id "
    "= $1",
    HF_STEP_READ, .table = "airport", .keys = {1}};
static const hf_step read_country = {
    "SELECT _tag, co_name, co_code_2, co_code_3 FROM country WHERE co_id = $1",
    HF_STEP_READ, .table = "country", .keys = {1}};

static const hf_step read_flight = {
    "SELECT _tag, f_al_id, f_status, f_base_price, f_seats_total, f_seats_left "
    "FROM flight WHERE f_id = $1",
    HF_STEP_READ, .table = "flight", .keys = {1}};
static const hf_step seats_of_flight = {
    "SELECT _tag, r_id, r_c_id, r_f_id, r_seat FROM reservation WHERE r_f_id = "
    "$1",
    HF_STEP_SCAN, .table = "reservation", .keys = {3}};

/* ---- queues -------------------------------------------------------------- */

/* NULL: one client too many; it only looks. */
seats_driver *hf_seats_driver(hf_play *p, const hf_client *c)
{
    seats_state *state = hf_play_state(p);
    unsigned number = hf_client_number(c);

    return number < HF_MEMO_CLIENTS ? &state->drivers[number] : NULL;
}

/* When it is full the oldest goes. */
void hf_seats_put(seats_queue *q, const seats_wish *w)
{
    if (q->n == SEATS_QUEUE) {
        q->first = (q->first + 1) % SEATS_QUEUE;
        q->n--;
    }
    q->at[(q->first + q->n++) % SEATS_QUEUE] = *w;
}

bool hf_seats_take(seats_queue *q, seats_wish *ret)
{
    if (q->n == 0)
        return false;
    *ret = q->at[q->first];
    q->first = (q->first + 1) % SEATS_QUEUE;
    q->n--;
    return true;
}

/* ---- parameters ---------------------------------------------------------- */

int64_t hf_seats_any_customer(hf_play *p, hf_rng *r)
{
    return hf_seats_customer(p,
                             hf_uniform(r, 0, hf_option(p, "customers") - 1));
}

static seats_flight any_flight(hf_play *p, hf_rng *r)
{
    return hf_seats_flight(p, hf_uniform(r, 0, hf_option(p, "flights") - 1));
}

/* numbers: from, to, earliest, latest, distance */
void hf_seats_draw_find_flights(hf_play *p, hf_client *c, hf_drawn *ret)
{
    static const int64_t distances[] = {5, 10, 25, 50, 100};
    int64_t airports = hf_option(p, "airports"), *x = ret->numbers;
    hf_rng *r = hf_client_rng(c);

    if (hf_coin(r, hf_play_option(p, "random-routes"))) {
        x[0] = hf_uniform(r, 1, airports);
        x[1] = (x[0] - 1 + hf_uniform(r, 1, airports - 1)) % airports + 1;
        x[2] = hf_uniform(r, 0, hf_option(p, "days") - 1) * SEATS_DAY;
        x[3] = x[2] + 2 * SEATS_DAY;
    } else {
        seats_flight f = any_flight(p, r);

        x[0] = f.from;
        x[1] = f.to;
        x[2] = f.depart - SEATS_DAY / 2;
        x[3] = f.depart + SEATS_DAY / 2;
    }
    x[4] = hf_coin(r, hf_play_option(p, "nearby"))
               ? distances[hf_uniform(r, 0, 4)]
               : 0;
    ret->n = 5;
}

/* numbers: flight, a random number */
void hf_seats_draw_find_open_seats(hf_play *p, hf_client *c, hf_drawn *ret)
{
    hf_rng *r = hf_client_rng(c);

    ret->type = SEATS_FIND_OPEN_SEATS;
    ret->numbers[0] = any_flight(p, r).id;
    ret->numbers[1] = (int64_t)(hf_rng_next(r) >> 2);
    ret->n = 2;
}

/* ---- looking ------------------------------------------------------------- */

bool hf_seats_look_at_airport(hf_client *c, int64_t airport)
{
    const hf_sql_result *rows;

    if (!hf_found(c, HF_STEP(c, read_airport, &rows, hf_i(airport)), &rows))
        return false;
    return HF_STEP(c, read_country, NULL, hf_i(hf_cell(rows, 0, 1)));
}

#define MOST_FLIGHTS 32u

void hf_seats_find_flights(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    int64_t to[3] = {x[1], x[1], x[1]}, found[MOST_FLIGHTS][3];
    const hf_sql_result *rows;
    uint64_t n;

    (void)p;
    if (x[4] > 0) {
        if (!HF_STEP(c, near_airports, &rows, hf_i(x[0]), hf_i(x[4])))
            return;
        for (uint64_t i = 0; i < 2 && i < rows->n_rows; i++)
            to[1 + i] = hf_cell(rows, i, 2);
    }
    if (!HF_STEP(c, flights_between, &rows, hf_i(x[0]), hf_i(x[2]), hf_i(x[3]),
                 hf_i(to[0]), hf_i(to[1]), hf_i(to[2])))
        return;
    n = rows->n_rows < MOST_FLIGHTS ? rows->n_rows : MOST_FLIGHTS;
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < 3; k++)
            found[i][k] = hf_cell(rows, i, 2 + k);
    for (uint64_t i = 0; i < n; i++)
        if (!HF_STEP(c, read_airline, NULL, hf_i(found[i][0])) ||
            !hf_seats_look_at_airport(c, found[i][1]) ||
            !hf_seats_look_at_airport(c, found[i][2]))
            return;
}

#define MOST_SEATS 1000u

/* A few of the free seats are what the client may want to reserve. */
static void wish(hf_play *p, hf_client *c, const hf_sql_result *rows,
                 seats_wish w, int64_t seats)
{
    seats_driver *driver = hf_seats_driver(p, c);
    hf_rng *r = hf_client_rng(c);
    bool taken[MOST_SEATS] = {false};
    int64_t base = w.price;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        int64_t seat = hf_cell(rows, i, 4);

        if (seat >= 0 && seat < (int64_t)MOST_SEATS)
            taken[seat] = true;
    }
    for (unsigned tries = 0; tries < 3 && driver; tries++) {
        w.seat = hf_uniform(r, 0, seats - 1);
        w.customer = hf_seats_any_customer(p, r);
        w.price = w.seat < 10 ? 2 * base : base;
        if (w.seat < (int64_t)MOST_SEATS && !taken[w.seat])
            hf_seats_put(&driver->inserts, &w);
    }
}

/* memo: 0 they differ, 1 seats left by the flight, 2 by the reservations */
void hf_seats_find_open_seats(hf_play *p, hf_client *c, const hf_drawn *d)
{
    seats_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    seats_wish w = {.flight = d->numbers[0]};
    const hf_sql_result *rows;
    int64_t base, total, left;

    if (!HF_STEP(c, read_flight, &rows, hf_i(w.flight)) || rows->n_rows == 0)
        return;
    base = hf_cell(rows, 0, 3);
    total = hf_cell(rows, 0, 4);
    left = hf_cell(rows, 0, 5);
    w.price = 2 * base - base * left / total;
    if (!HF_STEP(c, seats_of_flight, &rows, hf_i(w.flight)))
        return;
    notes[1] = left;
    notes[2] = total - (int64_t)rows->n_rows;
    notes[0] = notes[1] != notes[2];
    wish(p, c, rows, w, total);
}

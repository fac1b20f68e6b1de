/* seats.c: SEATS (WORKLOADS.md 8): an airline's reservations.
 *
 * The small preset is the default: 5 airports, 3 airlines, 40 customers, 10
 * flights of 20 seats (SEATS at scale 1: about 280, 1000, 100000, 75000 and
 * 150).
 *
 * Joins are done step by step, so that every row is recorded: flight and
 * airline, airport and country, customer and flight and reservation.
 *
 * Each client keeps queues of reservations it may make, change or delete; a
 * client whose queue is empty looks for open seats instead.  split-updates=1
 * turns x = x + 1 into a read and a write.
 */
#include "workload/seats.h"

static const hf_workload_option options[] = {
    {"airports", 5, 2, 999, "airports"},
    {"airlines", 3, 1, 999, "airlines"},
    {"customers", 40, 1, 1e8, "customers (SEATS: 100000)"},
    {"flights", 10, 1, 1e8, "flights (SEATS: about 75000)"},
    {"seats", 20, 1, 1000, "seats of a flight (SEATS: 150)"},
    {"days", 50, 1, 1000, "days over which the flights are spread"},
    {"taken", 1, 0, 100, "percent of seats that are taken at first"},
    {"by-text", 20, 0, 100, "percent of customers known by c_id_str"},
    {"by-flyer", 20, 0, 100, "percent of deletions by frequent flyer"},
    {"update-flyers", 25, 0, 100, "percent of UpdateCustomer with flyers"},
    {"nearby", 25, 0, 100, "percent of FindFlights with airports nearby"},
    {"random-routes", 10, 0, 100, "percent of FindFlights for any route"},
    {"again", 90, 0, 100, "percent of deleted ones that are made again"},
    {"split-updates", 0, 0, 1, "additions as a read and a write"},
};

/* ---- steps --------------------------------------------------------------- */

static const hf_step read_airline = {
    "SELECT _tag, al_name FROM airline WHERE al_id = $1", HF_STEP_READ,
    .table = "airline", .keys = {1}};
static const hf_step read_flight = {
    "SELECT _tag, f_al_id, f_status, f_base_price, f_seats_total, f_seats_left "
    "FROM flight WHERE f_id = $1",
    HF_STEP_READ, .table = "flight", .keys = {1}};
static const hf_step holder_of_seat = {
    "SELECT _tag, r_id, r_c_id, r_f_id FROM reservation WHERE r_f_id = $1 AND "
    "r_seat = $2",
    HF_STEP_SCAN, .table = "reservation", .keys = {3}};
static const hf_step reservation_of = {
    "SELECT _tag, r_id, r_c_id, r_f_id, r_price FROM reservation WHERE r_f_id "
    "= $1 AND r_c_id = $2",
    HF_STEP_SCAN, .table = "reservation", .keys = {3}};
static const hf_step read_customer = {
    "SELECT _tag, c_base_ap_id, c_balance, c_iattr00, c_iattr10, c_iattr11 "
    "FROM customer WHERE c_id = $1",
    HF_STEP_READ, .table = "customer", .keys = {1}};
static const hf_step customer_by_text = {
    "SELECT _tag, c_id FROM customer WHERE c_id_str = $1", HF_STEP_SCAN,
    .table = "customer", .keys = {1}};
static const hf_step flyer_by_text = {
    "SELECT _tag, ff_c_id, ff_al_id FROM frequent_flyer WHERE ff_c_id_str = $1 "
    "ORDER BY ff_al_id",
    HF_STEP_SCAN, .table = "frequent_flyer", .keys = {2}};
static const hf_step flyers_of = {
    "SELECT _tag, ff_c_id, ff_al_id FROM frequent_flyer WHERE ff_c_id = $1",
    HF_STEP_SCAN, .table = "frequent_flyer", .keys = {2}};

static const hf_step insert_reservation = {
    "INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price, "
    "r_iattr00, "
    "r_iattr01, r_iattr02, r_iattr03, r_iattr04, r_iattr05, r_iattr06, "
    "r_iattr07, r_iattr08, _tag) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
    "$10, $11, $12, $13, $14, $15)",
    HF_STEP_INSERT, .table = "reservation", .keys = {1, 2, 3}, .tag = 15};
static const hf_step add_seats = {
    "UPDATE flight SET f_seats_left = f_seats_left + $2, _tag = $3 WHERE f_id "
    "= $1",
    HF_STEP_UPDATE, .table = "flight", .keys = {1}, .tag = 3};
static const hf_step set_seats = {
    "UPDATE flight SET f_seats_left = $2, _tag = $3 WHERE f_id = $1",
    HF_STEP_UPDATE, .table = "flight", .keys = {1}, .tag = 3};
static const hf_step add_booked = {
    "UPDATE customer SET c_iattr10 = c_iattr10 + 1, c_iattr11 = c_iattr11 + 1, "
    "c_iattr12 = $2, c_iattr13 = $3, c_iattr14 = $4, c_iattr15 = $5, _tag = $6 "
    "WHERE c_id = $1",
    HF_STEP_UPDATE, .table = "customer", .keys = {1}, .tag = 6};
static const hf_step set_booked = {
    "UPDATE customer SET c_iattr10 = $7, c_iattr11 = $8, c_iattr12 = $2, "
    "c_iattr13 = $3, c_iattr14 = $4, c_iattr15 = $5, _tag = $6 WHERE c_id = $1",
    HF_STEP_UPDATE, .table = "customer", .keys = {1}, .tag = 6};
static const hf_step add_miles = {
    "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 + 1, ff_iattr11 = $3, "
    "ff_iattr12 = $4, ff_iattr13 = $5, ff_iattr14 = $6, _tag = $7 WHERE "
    "ff_c_id = $1 AND ff_al_id = $2",
    HF_STEP_UPDATE, .table = "frequent_flyer", .keys = {1, 2}, .tag = 7};
static const hf_step read_miles = {
    "SELECT _tag, ff_iattr10 FROM frequent_flyer WHERE ff_c_id = $1 AND "
    "ff_al_id = $2",
    HF_STEP_READ, .table = "frequent_flyer", .keys = {1, 2}};
static const hf_step set_miles = {
    "UPDATE frequent_flyer SET ff_iattr10 = $8, ff_iattr11 = $3, ff_iattr12 = "
    "$4, ff_iattr13 = $5, ff_iattr14 = $6, _tag = $7 WHERE ff_c_id = $1 AND "
    "ff_al_id = $2",
    HF_STEP_UPDATE, .table = "frequent_flyer", .keys = {1, 2}, .tag = 7};

#define SET_RESERVATION(attribute)                                             \
    {                                                                          \
        "UPDATE reservation SET r_seat = $4, " attribute                       \
        " = $5, _tag = $6 WHERE r_id = $1 AND r_c_id = $2 AND r_f_id = $3",    \
            HF_STEP_UPDATE, .table = "reservation", .keys = {1, 2, 3},         \
                            .tag = 6                                           \
    }
static const hf_step set_reservation[4] = {
    SET_RESERVATION("r_iattr00"), SET_RESERVATION("r_iattr01"),
    SET_RESERVATION("r_iattr02"), SET_RESERVATION("r_iattr03")};
static const hf_step delete_reservation = {
    "DELETE FROM reservation WHERE r_id = $1 AND r_c_id = $2 AND r_f_id = $3",
    HF_STEP_DELETE, .table = "reservation", .keys = {1, 2, 3}};
/* c_iattr11 first: some databases see the new c_iattr10 after its change. */
static const hf_step take_back = {
    "UPDATE customer SET c_balance = c_balance - $2, c_iattr00 = $3, c_iattr11 "
    "= c_iattr10 - 1, c_iattr10 = c_iattr10 - 1, _tag = $4 WHERE c_id = $1",
    HF_STEP_UPDATE, .table = "customer", .keys = {1}, .tag = 4};
static const hf_step set_back = {
    "UPDATE customer SET c_balance = $2, c_iattr00 = $3, c_iattr11 = $5, "
    "c_iattr10 = $6, _tag = $4 WHERE c_id = $1",
    HF_STEP_UPDATE, .table = "customer", .keys = {1}, .tag = 4};
static const hf_step less_miles = {
    "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 - 1, _tag = $3 WHERE "
    "ff_c_id = $1 AND ff_al_id = $2",
    HF_STEP_UPDATE, .table = "frequent_flyer", .keys = {1, 2}, .tag = 3};
static const hf_step set_less_miles = {
    "UPDATE frequent_flyer SET ff_iattr10 = $4, _tag = $3 WHERE ff_c_id = $1 "
    "AND ff_al_id = $2",
    HF_STEP_UPDATE, .table = "frequent_flyer", .keys = {1, 2}, .tag = 3};
static const hf_step set_flyer = {
    "UPDATE frequent_flyer SET ff_iattr00 = $3, ff_iattr01 = $4, _tag = $5 "
    "WHERE ff_c_id = $1 AND ff_al_id = $2",
    HF_STEP_UPDATE, .table = "frequent_flyer", .keys = {1, 2}, .tag = 5};
static const hf_step set_customer = {
    "UPDATE customer SET c_iattr00 = $2, c_iattr01 = $3, _tag = $4 WHERE c_id "
    "= $1",
    HF_STEP_UPDATE, .table = "customer", .keys = {1}, .tag = 4};

/* ---- parameters ---------------------------------------------------------- */

static void put_wish(int64_t *x, const seats_wish *w)
{
    x[0] = w->id;
    x[1] = w->customer;
    x[2] = w->flight;
    x[3] = w->seat;
    x[4] = w->price;
}

static seats_wish wish_of(const hf_drawn *d)
{
    const int64_t *x = d->numbers;

    return (seats_wish){x[0], x[1], x[2], x[3], x[4]};
}

/* numbers: the wish, 9 attributes */
static void draw_new_reservation(hf_play *p, hf_client *c, hf_drawn *ret)
{
    seats_driver *driver = hf_seats_driver(p, c);
    hf_rng *r = hf_client_rng(c);
    seats_wish w;

    if (!driver || !hf_seats_take(&driver->inserts, &w)) {
        hf_seats_draw_find_open_seats(p, c, ret);
        return;
    }
    w.id = hf_client_fresh(c);
    put_wish(ret->numbers, &w);
    for (unsigned i = 5; i < 14; i++)
        ret->numbers[i] = hf_uniform(r, 1, 100000);
    ret->n = 14;
}

/* numbers: the wish, new seat, attribute, value */
static void draw_update_reservation(hf_play *p, hf_client *c, hf_drawn *ret)
{
    seats_driver *driver = hf_seats_driver(p, c);
    hf_rng *r = hf_client_rng(c);
    seats_wish w;

    if (!driver || !hf_seats_take(&driver->updates, &w)) {
        hf_seats_draw_find_open_seats(p, c, ret);
        return;
    }
    put_wish(ret->numbers, &w);
    ret->numbers[5] = hf_uniform(r, 0, hf_option(p, "seats") - 1);
    ret->numbers[6] = hf_uniform(r, 0, 3);
    ret->numbers[7] = hf_uniform(r, 1, 100000);
    ret->n = 8;
}

/* How a customer is known. */
enum { BY_ID = 0, BY_TEXT, BY_FLYER };

/* numbers: the wish, how the customer is known */
static void draw_delete_reservation(hf_play *p, hf_client *c, hf_drawn *ret)
{
    double text = hf_play_option(p, "by-text"), percent;
    seats_driver *driver = hf_seats_driver(p, c);
    seats_wish w;

    if (!driver || !hf_seats_take(&driver->deletes, &w)) {
        hf_seats_draw_find_open_seats(p, c, ret);
        return;
    }
    put_wish(ret->numbers, &w);
    percent = hf_rng_unit(hf_client_rng(c)) * 100.0;
    ret->numbers[5] = BY_ID;
    if (percent < text)
        ret->numbers[5] = BY_TEXT;
    else if (percent < text + hf_play_option(p, "by-flyer"))
        ret->numbers[5] = BY_FLYER;
    ret->n = 6;
}

/* numbers: customer, how he is known, with flyers?, two attributes */
static void draw_update_customer(hf_play *p, hf_client *c, hf_drawn *ret)
{
    hf_rng *r = hf_client_rng(c);
    int64_t *x = ret->numbers;

    x[0] = hf_seats_any_customer(p, r);
    x[1] = hf_coin(r, hf_play_option(p, "by-text")) ? BY_TEXT : BY_ID;
    x[2] = hf_coin(r, hf_play_option(p, "update-flyers"));
    x[3] = hf_uniform(r, 1, 100000);
    x[4] = hf_uniform(r, 1, 100000);
    ret->n = 5;
}

/* ---- reserving ----------------------------------------------------------- */

/* One of the queries whether there is a reservation; false: over. */
static bool any(hf_client *c, const hf_step *step, int64_t flight, int64_t x,
                bool *ret)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, *step, &rows, hf_i(flight), hf_i(x)))
        return false;
    *ret = rows->n_rows > 0;
    return true;
}

/* f_seats_left + change; left: what was read. */
static bool change_seats(hf_play *p, hf_client *c, int64_t flight,
                         int64_t change, int64_t left)
{
    if (hf_play_option(p, "split-updates") != 0)
        return HF_STEP(c, set_seats, NULL, hf_i(flight), hf_i(left + change),
                       hf_tag());
    return HF_STEP(c, add_seats, NULL, hf_i(flight), hf_i(change), hf_tag());
}

static bool book(hf_play *p, hf_client *c, const int64_t *x,
                 const int64_t *counts)
{
    if (hf_play_option(p, "split-updates") != 0)
        return HF_STEP(c, set_booked, NULL, hf_i(x[1]), hf_i(x[5]), hf_i(x[6]),
                       hf_i(x[7]), hf_i(x[8]), hf_tag(), hf_i(counts[0] + 1),
                       hf_i(counts[1] + 1));
    return HF_STEP(c, add_booked, NULL, hf_i(x[1]), hf_i(x[5]), hf_i(x[6]),
                   hf_i(x[7]), hf_i(x[8]), hf_tag());
}

/* The frequent flyer's row, if there is one: ret says. */
static bool fly(hf_play *p, hf_client *c, const int64_t *x, int64_t airline,
                bool *ret)
{
    hf_sql_value customer = hf_i(x[1]), company = hf_i(airline);
    const hf_sql_result *rows;

    if (hf_play_option(p, "split-updates") == 0) {
        if (!HF_STEP(c, add_miles, &rows, customer, company, hf_i(x[9]),
                     hf_i(x[10]), hf_i(x[11]), hf_i(x[12]), hf_tag()))
            return false;
        *ret = rows->affected > 0;
        return true;
    }
    if (!HF_STEP(c, read_miles, &rows, customer, company))
        return false;
    *ret = rows->n_rows > 0;
    return !*ret || HF_STEP(c, set_miles, NULL, customer, company, hf_i(x[9]),
                            hf_i(x[10]), hf_i(x[11]), hf_i(x[12]), hf_tag(),
                            hf_i(hf_cell(rows, 0, 1) + 1));
}

/* May the seat be reserved?  False: over, or no. */
static bool may_reserve(hf_client *c, const int64_t *x, int64_t *ret_airline,
                        int64_t *ret_left)
{
    const hf_sql_result *rows;
    bool taken;

    if (!HF_STEP(c, read_flight, &rows, hf_i(x[2])) || rows->n_rows == 0)
        return false;
    *ret_airline = hf_cell(rows, 0, 1);
    *ret_left = hf_cell(rows, 0, 5);
    if (!HF_STEP(c, read_airline, NULL, hf_i(*ret_airline)) || *ret_left <= 0)
        return false;
    return any(c, &holder_of_seat, x[2], x[3], &taken) && !taken &&
           any(c, &reservation_of, x[2], x[1], &taken) && !taken;
}

/* memo: 0 reserved, 1 airline whose flyer's row was changed */
static void new_reservation(hf_play *p, hf_client *c, const hf_drawn *d)
{
    seats_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const int64_t *x = d->numbers;
    int64_t airline, left, counts[2];
    const hf_sql_result *rows;
    hf_sql_value row[15];
    bool flyer = false;

    if (!may_reserve(c, x, &airline, &left) ||
        !HF_STEP(c, read_customer, &rows, hf_i(x[1])) || rows->n_rows == 0)
        return;
    counts[0] = hf_cell(rows, 0, 4);
    counts[1] = hf_cell(rows, 0, 5);
    for (unsigned i = 0; i < 14; i++)
        row[i] = hf_i(x[i]);
    row[14] = hf_tag();
    if (!hf_client_step(c, &insert_reservation, row, 15, NULL) ||
        !change_seats(p, c, x[2], -1, left) || !book(p, c, x, counts) ||
        !fly(p, c, x, airline, &flyer))
        return;
    notes[0] = 1;
    notes[1] = flyer ? airline : 0;
}

static void update_reservation(hf_play *p, hf_client *c, const hf_drawn *d)
{
    seats_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    bool there;

    if (!any(c, &holder_of_seat, x[2], x[5], &there) || there ||
        !any(c, &reservation_of, x[2], x[1], &there) || !there)
        return;
    if (!HF_STEP(c, set_reservation[x[6]], &rows, hf_i(x[0]), hf_i(x[1]),
                 hf_i(x[2]), hf_i(x[5]), hf_i(x[7]), hf_tag()))
        return;
    if (rows->affected != 1)
        hf_client_give_up(c, "reservation is not there");
    else
        notes[0] = 1;
}

/* The customer, and the airline if he is known as its flyer.  False: over, or
 * there is none. */
static bool resolve(hf_client *c, int64_t how, int64_t customer, int64_t *ret,
                    int64_t *ret_airline)
{
    const hf_sql_result *rows;
    char text[65];

    *ret = customer;
    *ret_airline = 0;
    if (how == BY_ID)
        return true;
    hf_seats_customer_text(customer, text);
    if (how == BY_TEXT) {
        if (!HF_STEP(c, customer_by_text, &rows, hf_t(text)))
            return false;
    } else {
        if (!HF_STEP(c, flyer_by_text, &rows, hf_t(text)))
            return false;
        if (rows->n_rows > 0)
            *ret_airline = hf_cell(rows, 0, 2);
    }
    if (rows->n_rows > 0)
        *ret = hf_cell(rows, 0, 1);
    return rows->n_rows > 0;
}

/* The customer's counters and his money; read: c_balance, c_iattr00,
 * c_iattr10. */
static bool unbook(hf_play *p, hf_client *c, int64_t customer, int64_t price,
                   const int64_t *read)
{
    if (hf_play_option(p, "split-updates") != 0)
        return HF_STEP(c, set_back, NULL, hf_i(customer), hf_i(read[0] - price),
                       hf_i(read[1] + 1), hf_tag(), hf_i(read[2] - 1),
                       hf_i(read[2] - 1));
    return HF_STEP(c, take_back, NULL, hf_i(customer), hf_i(price),
                   hf_i(read[1] + 1), hf_tag());
}

static bool unfly(hf_play *p, hf_client *c, int64_t customer, int64_t airline)
{
    hf_sql_value id = hf_i(customer), company = hf_i(airline);
    const hf_sql_result *rows;

    if (hf_play_option(p, "split-updates") == 0)
        return HF_STEP(c, less_miles, NULL, id, company, hf_tag());
    return hf_found(c, HF_STEP(c, read_miles, &rows, id, company), &rows) &&
           HF_STEP(c, set_less_miles, NULL, id, company, hf_tag(),
                   hf_i(hf_cell(rows, 0, 1) - 1));
}

/* memo: 0 deleted, 1 airline, 2 price, 3 customer */
static void delete_one(hf_play *p, hf_client *c, const hf_drawn *d)
{
    seats_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    int64_t flight = d->numbers[2], read[3], customer, airline, left, id;
    int64_t price;
    const hf_sql_result *rows;

    if (!resolve(c, d->numbers[5], d->numbers[1], &customer, &airline) ||
        !HF_STEP(c, read_customer, &rows, hf_i(customer)) || rows->n_rows == 0)
        return;
    for (uint32_t i = 0; i < 3; i++)
        read[i] = hf_cell(rows, 0, 2 + i);
    if (!HF_STEP(c, read_flight, &rows, hf_i(flight)) || rows->n_rows == 0)
        return;
    left = hf_cell(rows, 0, 5);
    if (!HF_STEP(c, reservation_of, &rows, hf_i(flight), hf_i(customer)) ||
        rows->n_rows == 0)
        return;
    id = hf_cell(rows, 0, 1);
    price = hf_cell(rows, 0, 4);
    if (!HF_STEP(c, delete_reservation, NULL, hf_i(id), hf_i(customer),
                 hf_i(flight)) ||
        !change_seats(p, c, flight, 1, left) ||
        !unbook(p, c, customer, price, read) ||
        (airline && !unfly(p, c, customer, airline)))
        return;
    notes[0] = 1;
    notes[1] = airline;
    notes[2] = price;
    notes[3] = customer;
}

#define MOST_FLYERS 1000u

static bool update_flyers(hf_client *c, const int64_t *x, int64_t customer)
{
    const hf_sql_result *rows;
    int64_t airlines[MOST_FLYERS];
    uint64_t n;

    if (!HF_STEP(c, flyers_of, &rows, hf_i(customer)))
        return false;
    n = rows->n_rows < MOST_FLYERS ? rows->n_rows : MOST_FLYERS;
    for (uint64_t i = 0; i < n; i++)
        airlines[i] = hf_cell(rows, i, 2);
    for (uint64_t i = 0; i < n; i++)
        if (!HF_STEP(c, set_flyer, NULL, hf_i(customer), hf_i(airlines[i]),
                     hf_i(x[3]), hf_i(x[4]), hf_tag()))
            return false;
    return true;
}

static void update_customer(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    int64_t customer, ignored;

    (void)p;
    if (!resolve(c, x[1], x[0], &customer, &ignored) ||
        !HF_STEP(c, read_customer, &rows, hf_i(customer)) ||
        rows->n_rows == 0 ||
        !hf_seats_look_at_airport(c, hf_cell(rows, 0, 1)) ||
        (x[2] && !update_flyers(c, x, customer)))
        return;
    (void)HF_STEP(c, set_customer, NULL, hf_i(customer), hf_i(x[3]), hf_i(x[4]),
                  hf_tag());
}

/* ---- what was committed -------------------------------------------------- */

/* Back into one of the queues, if it is known to be there. */
static void requeue(hf_play *p, hf_client *c, const seats_wish *w)
{
    seats_driver *driver = hf_seats_driver(p, c);

    if (driver)
        hf_seats_put(hf_coin(hf_client_rng(c), 50) ? &driver->updates
                                                   : &driver->deletes,
                     w);
}

static void count_deleted(hf_play *p, const int64_t *notes, bool known)
{
    seats_state *state = hf_play_state(p);
    int64_t number = notes[3] % 1000000000;

    hf_count_add(hf_ledger_of(&state->reservations, number), -1, known);
    hf_count_add(hf_ledger_of(&state->balance, number), -notes[2], known);
    if (notes[1])
        hf_count_add(
            hf_ledger_of(&state->miles, seats_miles(notes[3], notes[1])), -1,
            known);
}

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    seats_state *state = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&state->notes, c);
    seats_driver *driver = hf_seats_driver(p, c);
    seats_wish w = wish_of(d);

    if (d->type == SEATS_FIND_OPEN_SEATS && known && notes[0] &&
        hf_memo_exact(c))
        hf_play_breach(p, "SE2",
                       "a read, f_seats_left of flight %lld: expected %lld, "
                       "found %lld",
                       (long long)d->numbers[0], (long long)notes[2],
                       (long long)notes[1]);
    if (d->type < SEATS_NEW_RESERVATION || d->type > SEATS_DELETE_RESERVATION ||
        !notes[0])
        return;
    if (d->type == SEATS_NEW_RESERVATION) {
        hf_count_add(
            hf_ledger_of(&state->reservations, w.customer % 1000000000), 1,
            known);
        if (notes[1])
            hf_count_add(
                hf_ledger_of(&state->miles, seats_miles(w.customer, notes[1])),
                1, known);
        requeue(p, c, &w);
    } else if (d->type == SEATS_UPDATE_RESERVATION) {
        w.seat = d->numbers[5];
        requeue(p, c, &w);
    } else {
        count_deleted(p, notes, known);
        if (driver && hf_coin(hf_client_rng(c), hf_play_option(p, "again")))
            hf_seats_put(&driver->inserts, &w);
    }
}

/* An empty queue makes another type of it (d->type). */
static void run(hf_play *p, hf_client *c, const hf_drawn *d)
{
    static void (*const all[])(hf_play *, hf_client *,
                               const hf_drawn *) = {hf_seats_find_flights,
                                                    hf_seats_find_open_seats,
                                                    new_reservation,
                                                    update_reservation,
                                                    delete_one,
                                                    update_customer};

    all[d->type](p, c, d);
}

static const hf_workload_type types[] = {
    {"find-flights", 10, true, hf_seats_draw_find_flights, run},
    {"find-open-seats", 35, true, hf_seats_draw_find_open_seats, run},
    {"new-reservation", 20, false, draw_new_reservation, run},
    {"update-reservation", 15, false, draw_update_reservation, run},
    {"delete-reservation", 10, false, draw_delete_reservation, run},
    {"update-customer", 10, false, draw_update_customer, run},
};

const hf_workload hf_workload_seats = {
    .name = "seats",
    .summary = "SEATS: seats of flights, reserved, changed and given back",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = hf_seats_tables,
    .load = hf_seats_load,
    .check = hf_seats_check,
    .done = done,
    .state_size = sizeof(seats_state),
};

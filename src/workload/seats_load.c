/* seats_load.c: the tables of SEATS, their rows, and its invariants
 * (WORKLOADS.md 8).
 *
 * Attributes that no transaction uses are left out, and so is UNIQUE(flight,
 * seat), which would hide SE1.  c_id and f_id are numbers that say what the
 * texts of the original say: home airport and number; airline, airports and
 * the place in time.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "workload/seats.h"

const char *const hf_seats_tables[] = {
    "CREATE TABLE country (co_id BIGINT PRIMARY KEY, co_name VARCHAR(64) NOT "
    "NULL, co_code_2 VARCHAR(2) NOT NULL, co_code_3 VARCHAR(3) NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE airport (ap_id BIGINT PRIMARY KEY, ap_code VARCHAR(3) NOT "
    "NULL, ap_name VARCHAR(64) NOT NULL, ap_city VARCHAR(64) NOT NULL, "
    "ap_co_id BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE airport_distance (d_ap_id0 BIGINT NOT NULL, d_ap_id1 BIGINT "
    "NOT NULL, d_distance BIGINT NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (d_ap_id0, d_ap_id1))",
    "CREATE TABLE airline (al_id BIGINT PRIMARY KEY, al_iata_code VARCHAR(3) "
    "NOT NULL, al_name VARCHAR(64) NOT NULL, al_co_id BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE customer (c_id BIGINT PRIMARY KEY, c_id_str VARCHAR(64) NOT "
    "NULL UNIQUE, c_base_ap_id BIGINT NOT NULL, c_balance BIGINT NOT NULL, "
    "c_iattr00 BIGINT NOT NULL, c_iattr01 BIGINT NOT NULL, "
    "c_iattr10 BIGINT NOT NULL, c_iattr11 BIGINT NOT NULL, "
    "c_iattr12 BIGINT NOT NULL, c_iattr13 BIGINT NOT NULL, "
    "c_iattr14 BIGINT NOT NULL, c_iattr15 BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE frequent_flyer (ff_c_id BIGINT NOT NULL, ff_al_id BIGINT NOT "
    "NULL, ff_c_id_str VARCHAR(64) NOT NULL, ff_iattr00 BIGINT NOT NULL, "
    "ff_iattr01 BIGINT NOT NULL, ff_iattr10 BIGINT NOT NULL, "
    "ff_iattr11 BIGINT NOT NULL, ff_iattr12 BIGINT NOT NULL, "
    "ff_iattr13 BIGINT NOT NULL, ff_iattr14 BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL, PRIMARY KEY (ff_c_id, ff_al_id))",
    "CREATE INDEX frequent_flyer_text ON frequent_flyer (ff_c_id_str)",
    "CREATE TABLE flight (f_id BIGINT PRIMARY KEY, f_al_id BIGINT NOT NULL, "
    "f_depart_ap_id BIGINT NOT NULL, f_depart_time BIGINT NOT NULL, "
    "f_arrive_ap_id BIGINT NOT NULL, f_arrive_time BIGINT NOT NULL, "
    "f_status BIGINT NOT NULL, f_base_price BIGINT NOT NULL, "
    "f_seats_total BIGINT NOT NULL, f_seats_left BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE INDEX flight_time ON flight (f_depart_time)",
    "CREATE TABLE reservation (r_id BIGINT NOT NULL, r_c_id BIGINT NOT NULL, "
    "r_f_id BIGINT NOT NULL, r_seat BIGINT NOT NULL, r_price BIGINT NOT NULL, "
    "r_iattr00 BIGINT NOT NULL, r_iattr01 BIGINT NOT NULL, "
    "r_iattr02 BIGINT NOT NULL, r_iattr03 BIGINT NOT NULL, "
    "r_iattr04 BIGINT NOT NULL, r_iattr05 BIGINT NOT NULL, "
    "r_iattr06 BIGINT NOT NULL, r_iattr07 BIGINT NOT NULL, "
    "r_iattr08 BIGINT NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (r_id, r_c_id, r_f_id))",
    "CREATE INDEX reservation_flight ON reservation (r_f_id, r_seat)",
    NULL};

/* ---- what follows from numbers ------------------------------------------- */

static int64_t pick(int64_t number, uint64_t what, int64_t n)
{
    return 1 + (int64_t)(hf_mix64((uint64_t)number * 16 + what) % (uint64_t)n);
}

static int64_t distance(int64_t a, int64_t b)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    int64_t miles = pick(low * 1000 + high, 1, 2500);

    /* some are near each other */
    return miles % 5 == 0 ? 5 + miles % 96 : 100 + miles;
}

seats_flight hf_seats_flight(const hf_play *p, int64_t number)
{
    int64_t airports = hf_option(p, "airports"), flights;
    int64_t minutes = hf_option(p, "days") * SEATS_DAY;
    seats_flight f;

    flights = hf_option(p, "flights");
    f.airline = pick(number, 2, hf_option(p, "airlines"));
    f.from = pick(number, 3, airports);
    f.to = (f.from - 1 + pick(number, 4, airports - 1)) % airports + 1;
    f.depart = (int64_t)((double)minutes * (double)number / (double)flights);
    f.arrive = f.depart + distance(f.from, f.to) * 60 / 570;
    f.id = ((f.airline * 1000 + f.from) * 1000 + f.to) * 1000000000 + number;
    return f;
}

int64_t hf_seats_customer(const hf_play *p, int64_t number)
{
    return pick(number, 5, hf_option(p, "airports")) * 1000000000 + number;
}

void hf_seats_customer_text(int64_t c_id, char text[65])
{
    snprintf(text, 65, "%064lld", (long long)c_id);
}

/* ---- loading ------------------------------------------------------------- */

static hf_status load_places(hf_play *p, hf_rng *r, hf_error *err)
{
    int64_t airports = hf_option(p, "airports");
    int64_t airlines = hf_option(p, "airlines");
    char a[65], b[65], c[65];
    hf_status st = HF_OK;

    for (int64_t i = 1; i <= 3 && st == HF_OK; i++)
        st = HF_LOAD(p, "country", err, hf_i(i),
                     hf_t(hf_letters(a, 12, hf_rng_next(r))),
                     hf_t(hf_letters(b, 2, hf_rng_next(r))),
                     hf_t(hf_letters(c, 3, hf_rng_next(r))), hf_tag());
    for (int64_t i = 1; i <= airports && st == HF_OK; i++) {
        st = HF_LOAD(p, "airport", err, hf_i(i),
                     hf_t(hf_letters(a, 3, hf_rng_next(r))),
                     hf_t(hf_letters(b, 12, hf_rng_next(r))),
                     hf_t(hf_letters(c, 12, hf_rng_next(r))),
                     hf_i(hf_uniform(r, 1, 3)), hf_tag());
        for (int64_t j = 1; j <= airports && st == HF_OK; j++)
            if (i != j)
                st = HF_LOAD(p, "airport_distance", err, hf_i(i), hf_i(j),
                             hf_i(distance(i, j)), hf_tag());
    }
    for (int64_t i = 1; i <= airlines && st == HF_OK; i++)
        st = HF_LOAD(p, "airline", err, hf_i(i),
                     hf_t(hf_letters(a, 3, hf_rng_next(r))),
                     hf_t(hf_letters(b, 12, hf_rng_next(r))),
                     hf_i(hf_uniform(r, 1, 3)), hf_tag());
    return st;
}

static hf_status load_customer(hf_play *p, hf_rng *r, int64_t number,
                               const hf_zipf *flyers, hf_error *err)
{
    seats_state *state = hf_play_state(p);
    int64_t airlines = hf_option(p, "airlines");
    int64_t c_id = hf_seats_customer(p, number);
    int64_t balance = 100 * hf_uniform(r, 1000, 10000);
    int64_t n = hf_zipf_draw(flyers, r);
    int64_t first = hf_uniform(r, 0, airlines - 1);
    hf_sql_value zero = hf_i(0);
    char text[65];
    hf_status st;

    hf_seats_customer_text(c_id, text);
    hf_count_add(hf_ledger_of(&state->balance, number), balance, true);
    st = HF_LOAD(p, "customer", err, hf_i(c_id), hf_t(text),
                 hf_i(c_id / 1000000000), hf_i(balance), zero, zero, zero, zero,
                 zero, zero, zero, zero, hf_tag());
    if (n > airlines)
        n = airlines;
    for (int64_t i = 0; i < n && st == HF_OK; i++)
        st = HF_LOAD(p, "frequent_flyer", err, hf_i(c_id),
                     hf_i((first + i) % airlines + 1), hf_t(text), zero, zero,
                     zero, zero, zero, zero, zero, hf_tag());
    return st;
}

/* Some seats are taken: each by another customer. */
static hf_status load_flight(hf_play *p, hf_rng *r, int64_t number,
                             int64_t *reservations, hf_error *err)
{
    seats_flight f = hf_seats_flight(p, number);
    int64_t seats = hf_option(p, "seats"), taken = 0;
    int64_t customers = hf_option(p, "customers");
    int64_t who = hf_uniform(r, 0, customers - 1);
    hf_sql_value zero = hf_i(0);
    hf_status st = HF_OK;

    for (int64_t seat = 0; seat < seats && st == HF_OK; seat++) {
        if (!hf_coin(r, hf_play_option(p, "taken")) || taken == customers)
            continue;
        st = HF_LOAD(p, "reservation", err, hf_i(-++*reservations),
                     hf_i(hf_seats_customer(p, (who + taken) % customers)),
                     hf_i(f.id), hf_i(seat),
                     hf_i(200 * hf_uniform(r, 100, 1000)), zero, zero, zero,
                     zero, zero, zero, zero, zero, zero, hf_tag());
        taken++;
    }
    if (st != HF_OK)
        return st;
    return HF_LOAD(p, "flight", err, hf_i(f.id), hf_i(f.airline), hf_i(f.from),
                   hf_i(f.depart), hf_i(f.to), hf_i(f.arrive), hf_i(0),
                   hf_i(100 * hf_uniform(r, 100, 1000)), hf_i(seats),
                   hf_i(seats - taken), hf_tag());
}

hf_status hf_seats_load(hf_play *p, hf_error *err)
{
    int64_t customers = hf_option(p, "customers");
    int64_t flights = hf_option(p, "flights"), reservations = 0;
    hf_zipf flyers;
    hf_status st;
    hf_rng r;

    hf_rng_seed(&r, 8);
    hf_zipf_init(&flyers, 11, 2.0);
    st = load_places(p, &r, err);
    for (int64_t i = 0; i < customers && st == HF_OK; i++)
        st = load_customer(p, &r, i, &flyers, err);
    for (int64_t i = 0; i < flights && st == HF_OK; i++)
        st = load_flight(p, &r, i, &reservations, err);
    return st;
}

/* ---- invariants ---------------------------------------------------------- */

static const hf_step all_flights = {
    "SELECT _tag, f_id, f_seats_total, f_seats_left FROM flight ORDER BY f_id",
    HF_STEP_SCAN, .table = "flight", .keys = {1}};
/* Sorted not by their key but by what has to be unique. */
static const hf_step by_seat = {
    "SELECT _tag, r_f_id, r_seat FROM reservation ORDER BY r_f_id, r_seat",
    HF_STEP_OTHER, .table = "reservation"};
static const hf_step by_customer = {
    "SELECT _tag, r_f_id, r_c_id FROM reservation ORDER BY r_f_id, r_c_id",
    HF_STEP_OTHER, .table = "reservation"};
static const hf_step all_customers = {
    "SELECT _tag, c_id, c_balance, c_iattr10, c_iattr01 FROM customer ORDER "
    "BY c_id",
    HF_STEP_SCAN, .table = "customer", .keys = {1}};
static const hf_step all_flyers = {
    "SELECT _tag, ff_c_id, ff_al_id, ff_iattr10, ff_iattr00, ff_iattr01 FROM "
    "frequent_flyer ORDER BY ff_c_id, ff_al_id",
    HF_STEP_SCAN, .table = "frequent_flyer", .keys = {2}};

static void check_unique(hf_play *p, const char *name, const hf_grid *g,
                         const char *what)
{
    for (uint64_t i = 0; i < g->n; i++) {
        const int64_t *row = hf_grid_row(g, i);
        uint64_t n = hf_grid_count(g, row + 1, 2);

        if (n > 1)
            hf_play_breach(p, name,
                           "reservations of flight %lld, %s %lld: expected at "
                           "most 1, found %llu",
                           (long long)row[1], what, (long long)row[2],
                           (unsigned long long)n);
        i += n - 1;
    }
}

static void check_flights(hf_play *p, const hf_grid *flights,
                          const hf_grid *reservations)
{
    for (uint64_t i = 0; i < flights->n; i++) {
        const int64_t *f = hf_grid_row(flights, i);
        int64_t n = (int64_t)hf_grid_count(reservations, f + 1, 1);

        if (f[3] != f[2] - n)
            hf_play_breach(p, "SE2",
                           "f_seats_left of flight %lld: expected %lld, found "
                           "%lld",
                           (long long)f[1], (long long)(f[2] - n),
                           (long long)f[3]);
        if (f[3] < 0)
            hf_play_breach(p, "SE4",
                           "f_seats_left of flight %lld: expected no less "
                           "than 0, found %lld",
                           (long long)f[1], (long long)f[3]);
    }
}

/* SE7: rows of one customer are always updated together; if every update is
 * one of them, the customer has the same. */
static void check_flyers(hf_play *p, const hf_grid *customers,
                         const hf_grid *flyers)
{
    bool always = hf_play_option(p, "update-flyers") >= 100;

    for (uint64_t i = 0; i < flyers->n; i++) {
        const int64_t *f = hf_grid_row(flyers, i);
        const int64_t *first =
            hf_grid_row(flyers, hf_grid_lower(flyers, f + 1, 1));
        const int64_t *c = hf_grid_find(customers, f + 1, 1);

        if (f[4] != first[4] || f[5] != first[5])
            hf_play_breach(p, "SE7",
                           "frequent_flyer %lld %lld: expected (%lld, %lld) "
                           "as in his other rows, found (%lld, %lld)",
                           (long long)f[1], (long long)f[2],
                           (long long)first[4], (long long)first[5],
                           (long long)f[4], (long long)f[5]);
        if (always && c && c[4] != f[5])
            hf_play_breach(p, "SE7",
                           "c_iattr01 of customer %lld: expected %lld as in "
                           "frequent_flyer, found %lld",
                           (long long)c[1], (long long)f[5], (long long)c[4]);
    }
}

static void check_log(hf_play *p, const hf_grid *customers,
                      const hf_grid *flyers)
{
    seats_state *state = hf_play_state(p);
    hf_ledger_sums *sums = HF_NEW_ZEROED(hf_ledger_sums, 3);

    for (uint64_t i = 0; i < customers->n; i++) {
        const int64_t *c = hf_grid_row(customers, i);

        hf_ledger_found(&sums[0], c[1] % 1000000000, c[3]);
        hf_ledger_found(&sums[1], c[1] % 1000000000, c[2]);
    }
    for (uint64_t i = 0; i < flyers->n; i++) {
        const int64_t *f = hf_grid_row(flyers, i);

        hf_ledger_found(&sums[2], seats_miles(f[1], f[2]), f[3]);
    }
    hf_ledger_expect(p, "SE5", &state->reservations, &sums[0],
                     "c_iattr10 of customer");
    hf_ledger_expect(p, "SE6", &state->balance, &sums[1],
                     "c_balance of customer");
    hf_ledger_expect(p, "SE5", &state->miles, &sums[2],
                     "ff_iattr10 of customer * 7 + airline");
    hf_free(sums);
}

void hf_seats_check(hf_play *p, hf_client *c)
{
    hf_grid flights = {0}, seats = {0}, people = {0};
    hf_grid customers = {0}, flyers = {0};

    if (hf_grid_read(c, &all_flights, &flights) &&
        hf_grid_read(c, &by_seat, &seats) &&
        hf_grid_read(c, &by_customer, &people) &&
        hf_grid_read(c, &all_customers, &customers) &&
        hf_grid_read(c, &all_flyers, &flyers)) {
        check_unique(p, "SE1", &seats, "seat");
        check_flights(p, &flights, &seats);
        check_unique(p, "SE3", &people, "customer");
        if (hf_memo_exact(c))
            check_log(p, &customers, &flyers);
        check_flyers(p, &customers, &flyers);
    }
    hf_grid_release(&flights);
    hf_grid_release(&seats);
    hf_grid_release(&people);
    hf_grid_release(&customers);
    hf_grid_release(&flyers);
}

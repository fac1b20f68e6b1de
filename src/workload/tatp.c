/* tatp.c: TATP (WORKLOADS.md 7): a telephone company's subscribers.
 *
 * Almost free of conflicts: a control that should find nothing.  500
 * subscribers by default (TATP: 100000 per scale factor), uniform as in
 * BenchBase; nurand=1 draws them as TATP does.  The steps are TATP's, not
 * BenchBase's where that has bugs.
 *
 * Differences: no foreign keys (InsertCallForwarding looks at the facilities
 * it has read), and GetNewDestination reads the facility, then the
 * forwardings, unless joins=1.
 */
#include <stdio.h>

#include "workload/steps.h"

enum {
    GET_SUBSCRIBER_DATA = 0,
    GET_ACCESS_DATA,
    GET_NEW_DESTINATION,
    UPDATE_SUBSCRIBER_DATA,
    UPDATE_LOCATION,
    INSERT_CALL_FORWARDING,
    DELETE_CALL_FORWARDING
};

typedef struct tatp_state {
    hf_count forwardings; /* rows, loaded ones too */
    hf_seen locations;    /* subscriber, vlr_location: loaded or written */
} tatp_state;

#define TEN(x)                                                                 \
    x "1, " x "2, " x "3, " x "4, " x "5, " x "6, " x "7, " x "8, " x "9, " x  \
      "10, "
#define INT10(x)                                                               \
    x "1 INT NOT NULL, " x "2 INT NOT NULL, " x "3 INT NOT NULL, " x           \
      "4 INT NOT NULL, " x "5 INT NOT NULL, " x "6 INT NOT NULL, " x           \
      "7 INT NOT NULL, " x "8 INT NOT NULL, " x "9 INT NOT NULL, " x           \
      "10 INT NOT NULL, "

static const char *const tables[] = {
    "CREATE TABLE subscriber (s_id BIGINT PRIMARY KEY, sub_nbr VARCHAR(15) "
    "NOT NULL UNIQUE, " INT10("bit_") INT10("hex_") INT10(
        "byte2_") "msc_location BIGINT NOT NULL, vlr_location BIGINT NOT NULL, "
                  "_tag BIGINT NOT NULL)",
    "CREATE TABLE access_info (s_id BIGINT NOT NULL, ai_type INT NOT NULL, "
    "data1 INT NOT NULL, data2 INT NOT NULL, data3 VARCHAR(3) NOT NULL, "
    "data4 VARCHAR(5) NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (s_id, ai_type))",
    "CREATE TABLE special_facility (s_id BIGINT NOT NULL, sf_type INT NOT "
    "NULL, is_active INT NOT NULL, error_cntrl INT NOT NULL, data_a INT NOT "
    "NULL, data_b VARCHAR(5) NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (s_id, sf_type))",
    "CREATE TABLE call_forwarding (s_id BIGINT NOT NULL, sf_type INT NOT NULL, "
    "start_time INT NOT NULL, end_time INT NOT NULL, numberx VARCHAR(15) NOT "
    "NULL, _tag BIGINT NOT NULL, PRIMARY KEY (s_id, sf_type, start_time))",
    "CREATE INDEX call_forwarding_s ON call_forwarding (s_id)",
    NULL};

static const hf_workload_option options[] = {
    {"subscribers", 500, 1, 1e8, "subscribers (TATP: 100000)"},
    {"active", 85, 0, 100, "percent of facilities that are active"},
    {"nurand", 0, 0, 1, "subscribers by TATP's NURand, not uniform"},
    {"joins", 0, 0, 1, "GetNewDestination as one join (not recorded)"},
};

static const hf_step read_subscriber = {
    "SELECT _tag, sub_nbr, " TEN("bit_") TEN("hex_") TEN(
        "byte2_") "msc_location, vlr_location FROM subscriber WHERE s_id = $1",
    HF_STEP_READ, .table = "subscriber", .keys = {1}};
static const hf_step read_access = {
    "SELECT _tag, data1, data2, data3, data4 FROM access_info WHERE s_id = $1 "
    "AND ai_type = $2",
    HF_STEP_READ, .table = "access_info", .keys = {1, 2}};
static const hf_step read_facility = {
    "SELECT _tag, is_active FROM special_facility WHERE s_id = $1 AND sf_type "
    "= $2",
    HF_STEP_READ, .table = "special_facility", .keys = {1, 2}};
static const hf_step forwardings_at = {
    "SELECT _tag, s_id, sf_type, start_time, numberx FROM call_forwarding "
    "WHERE s_id = $1 AND sf_type = $2 AND start_time <= $3 AND end_time > $4",
    HF_STEP_SCAN, .table = "call_forwarding", .keys = {3}};
static const hf_step join_destination = {
    "SELECT cf.numberx FROM special_facility sf, call_forwarding cf WHERE "
    "sf.s_id = $1 AND sf.sf_type = $2 AND sf.is_active = 1 AND cf.s_id = "
    "sf.s_id AND cf.sf_type = sf.sf_type AND cf.start_time <= $3 AND "
    "cf.end_time > $4",
    HF_STEP_OTHER, .table = "call_forwarding"};
static const hf_step set_bit = {
    "UPDATE subscriber SET bit_1 = $2, _tag = $3 WHERE s_id = $1",
    HF_STEP_UPDATE, .table = "subscriber", .keys = {1}, .tag = 3};
static const hf_step set_data_a = {
    "UPDATE special_facility SET data_a = $3, _tag = $4 WHERE s_id = $1 AND "
    "sf_type = $2",
    HF_STEP_UPDATE, .table = "special_facility", .keys = {1, 2}, .tag = 4};
static const hf_step by_number = {
    "SELECT _tag, s_id FROM subscriber WHERE sub_nbr = $1", HF_STEP_SCAN,
    .table = "subscriber", .keys = {1}};
static const hf_step set_location = {
    "UPDATE subscriber SET vlr_location = $2, _tag = $3 WHERE s_id = $1",
    HF_STEP_UPDATE, .table = "subscriber", .keys = {1}, .tag = 3};
static const hf_step facilities_of = {
    "SELECT _tag, s_id, sf_type FROM special_facility WHERE s_id = $1",
    HF_STEP_SCAN, .table = "special_facility", .keys = {2},
    .range = {.prefix = {1}, .lowest = 1, .highest = 4}};
static const hf_step insert_forwarding = {
    "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, "
    "numberx, _tag) VALUES ($1, $2, $3, $4, $5, $6)",
    HF_STEP_INSERT, .table = "call_forwarding", .keys = {1, 2, 3}, .tag = 6};
static const hf_step delete_forwarding = {
    "DELETE FROM call_forwarding WHERE s_id = $1 AND sf_type = $2 AND "
    "start_time = $3",
    HF_STEP_DELETE, .table = "call_forwarding", .keys = {1, 2, 3}};

static const hf_step all_subscribers = {
    "SELECT _tag, s_id, vlr_location FROM subscriber ORDER BY s_id",
    HF_STEP_SCAN, .table = "subscriber", .keys = {1}};
static const hf_step all_access = {
    "SELECT _tag, s_id, ai_type FROM access_info ORDER BY s_id, ai_type",
    HF_STEP_SCAN, .table = "access_info", .keys = {2}};
static const hf_step all_facilities = {
    "SELECT _tag, s_id, sf_type FROM special_facility ORDER BY s_id, sf_type",
    HF_STEP_SCAN, .table = "special_facility", .keys = {2}};
static const hf_step all_forwardings = {
    "SELECT _tag, s_id, sf_type, start_time FROM call_forwarding ORDER BY "
    "s_id, sf_type, start_time",
    HF_STEP_SCAN, .table = "call_forwarding", .keys = {3}};

static void number_of(int64_t s, char text[16])
{
    snprintf(text, 16, "%015llu", (unsigned long long)s % 1000000000000000u);
}

static const char *digits(char text[16], uint64_t seed)
{
    number_of((int64_t)(seed >> 1), text);
    return text;
}

/* ---- loading ------------------------------------------------------------- */

/* Some of the first n bits, at least `least` of them. */
static unsigned some(hf_rng *r, int64_t least, int64_t n)
{
    int64_t left = hf_uniform(r, least, n);
    unsigned set = 0;

    while (left > 0) {
        unsigned bit = 1u << hf_uniform(r, 0, n - 1);

        if (!(set & bit))
            left--;
        set |= bit;
    }
    return set;
}

static hf_status load_subscriber(hf_play *p, hf_rng *r, int64_t s,
                                 hf_error *err)
{
    tatp_state *state = hf_play_state(p);
    hf_sql_value row[35] = {hf_i(s)};
    int64_t location = hf_uniform(r, 0, INT32_MAX);
    char number[16];

    number_of(s, number);
    row[1] = hf_t(number);
    for (unsigned i = 0; i < 10; i++) {
        row[2 + i] = hf_i(hf_uniform(r, 0, 1));
        row[12 + i] = hf_i(hf_uniform(r, 0, 15));
        row[22 + i] = hf_i(hf_uniform(r, 0, 255));
    }
    row[32] = hf_i(hf_uniform(r, 0, INT32_MAX));
    row[33] = hf_i(location);
    row[34] = hf_tag();
    hf_seen_add(&state->locations, s, location);
    return hf_play_row(p, "subscriber", row, 35, err);
}

static hf_status load_access(hf_play *p, hf_rng *r, int64_t s, hf_error *err)
{
    unsigned which = some(r, 1, 4);
    hf_status st = HF_OK;
    char a[4], b[6];

    for (unsigned i = 0; i < 4 && st == HF_OK; i++)
        if (which >> i & 1)
            st = HF_LOAD(p, "access_info", err, hf_i(s), hf_i(i + 1),
                         hf_i(hf_uniform(r, 0, 255)),
                         hf_i(hf_uniform(r, 0, 255)),
                         hf_t(hf_letters(a, 3, hf_rng_next(r))),
                         hf_t(hf_letters(b, 5, hf_rng_next(r))), hf_tag());
    return st;
}

static hf_status load_forwardings(hf_play *p, hf_rng *r, int64_t s,
                                  int64_t facility, hf_error *err)
{
    tatp_state *state = hf_play_state(p);
    unsigned which = some(r, 0, 3);
    hf_status st = HF_OK;
    char number[16];

    for (int64_t i = 0; i < 3 && st == HF_OK; i++) {
        if (!(which >> i & 1))
            continue;
        st = HF_LOAD(p, "call_forwarding", err, hf_i(s), hf_i(facility),
                     hf_i(8 * i), hf_i(8 * i + hf_uniform(r, 1, 8)),
                     hf_t(digits(number, hf_rng_next(r))), hf_tag());
        hf_count_add(&state->forwardings, 1, true);
    }
    return st;
}

static hf_status load_facilities(hf_play *p, hf_rng *r, int64_t s,
                                 hf_error *err)
{
    unsigned which = some(r, 1, 4);
    hf_status st = HF_OK;
    char b[6];

    for (unsigned i = 0; i < 4 && st == HF_OK; i++) {
        if (!(which >> i & 1))
            continue;
        st = HF_LOAD(p, "special_facility", err, hf_i(s), hf_i(i + 1),
                     hf_i(hf_coin(r, hf_play_option(p, "active"))),
                     hf_i(hf_uniform(r, 0, 255)), hf_i(hf_uniform(r, 0, 255)),
                     hf_t(hf_letters(b, 5, hf_rng_next(r))), hf_tag());
        if (st == HF_OK)
            st = load_forwardings(p, r, s, i + 1, err);
    }
    return st;
}

static hf_status load(hf_play *p, hf_error *err)
{
    int64_t n = hf_option(p, "subscribers");
    hf_status st = HF_OK;
    hf_rng r;

    hf_rng_seed(&r, 7);
    for (int64_t s = 1; s <= n && st == HF_OK; s++) {
        st = load_subscriber(p, &r, s, err);
        if (st == HF_OK)
            st = load_access(p, &r, s, err);
        if (st == HF_OK)
            st = load_facilities(p, &r, s, err);
    }
    return st;
}

/* ---- transactions -------------------------------------------------------- */

/* numbers: subscriber, type of access or facility, start, end, value */
static void draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    int64_t n = hf_option(p, "subscribers");
    hf_rng *r = hf_client_rng(c);
    int64_t *x = ret->numbers;

    x[0] = hf_play_option(p, "nurand") != 0 ? hf_nurand(r, 65535, 1, n, 0)
                                            : hf_uniform(r, 1, n);
    x[1] = hf_uniform(r, 1, 4);
    x[2] = 8 * hf_uniform(r, 0, 2);
    x[3] = hf_uniform(r, 1, 24);
    x[4] = hf_uniform(r, 0, INT32_MAX);
    ret->n = 5;
}

static void get_subscriber_data(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)HF_STEP(c, read_subscriber, NULL, hf_i(d->numbers[0]));
}

static void get_access_data(hf_play *p, hf_client *c, const hf_drawn *d)
{
    (void)p;
    (void)HF_STEP(c, read_access, NULL, hf_i(d->numbers[0]),
                  hf_i(d->numbers[1]));
}

static void get_new_destination(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;

    if (hf_play_option(p, "joins") != 0) {
        (void)HF_STEP(c, join_destination, NULL, hf_i(x[0]), hf_i(x[1]),
                      hf_i(x[2]), hf_i(x[3]));
        return;
    }
    if (!HF_STEP(c, read_facility, &rows, hf_i(x[0]), hf_i(x[1])))
        return;
    if (rows->n_rows > 0 && hf_cell(rows, 0, 1) == 1)
        (void)HF_STEP(c, forwardings_at, NULL, hf_i(x[0]), hf_i(x[1]),
                      hf_i(x[2]), hf_i(x[3]));
}

static void update_subscriber_data(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;

    (void)p;
    if (!HF_STEP(c, set_bit, NULL, hf_i(x[0]), hf_i(x[4] & 1), hf_tag()) ||
        !HF_STEP(c, set_data_a, &rows, hf_i(x[0]), hf_i(x[1]),
                 hf_i(x[4] >> 1 & 255), hf_tag()))
        return;
    if (rows->affected == 0)
        hf_client_give_up(c, "no such facility");
}

/* The subscriber with the number that was drawn; false: over. */
static bool find(hf_client *c, const hf_drawn *d, hf_sql_value *ret)
{
    const hf_sql_result *rows;
    char number[16];

    number_of(d->numbers[0], number);
    if (!hf_found(c, HF_STEP(c, by_number, &rows, hf_t(number)), &rows))
        return false;
    *ret = hf_i(hf_cell(rows, 0, 1));
    return true;
}

static void update_location(hf_play *p, hf_client *c, const hf_drawn *d)
{
    hf_sql_value s;

    (void)p;
    if (find(c, d, &s))
        (void)HF_STEP(c, set_location, NULL, s, hf_i(d->numbers[4]), hf_tag());
}

static void insert_call_forwarding(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    bool there = false;
    char number[16];
    hf_sql_value s;

    (void)p;
    if (!find(c, d, &s) || !HF_STEP(c, facilities_of, &rows, s))
        return;
    for (uint64_t i = 0; i < rows->n_rows; i++)
        there |= hf_cell(rows, i, 2) == x[1];
    if (!there) {
        hf_client_give_up(c, "no such facility");
        return;
    }
    (void)HF_STEP(c, insert_forwarding, NULL, s, hf_i(x[1]), hf_i(x[2]),
                  hf_i(x[3]), hf_t(digits(number, (uint64_t)x[4])), hf_tag());
}

static void delete_call_forwarding(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    hf_sql_value s;

    (void)p;
    if (!find(c, d, &s) ||
        !HF_STEP(c, delete_forwarding, &rows, s, hf_i(x[1]), hf_i(x[2])))
        return;
    if (rows->affected == 0)
        hf_client_give_up(c, "no such forwarding");
}

/* ---- invariants ---------------------------------------------------------- */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    tatp_state *state = hf_play_state(p);

    (void)c;
    if (d->type == INSERT_CALL_FORWARDING)
        hf_count_add(&state->forwardings, 1, known);
    else if (d->type == DELETE_CALL_FORWARDING)
        hf_count_add(&state->forwardings, -1, known);
    else if (d->type == UPDATE_LOCATION)
        hf_seen_add(&state->locations, d->numbers[0], d->numbers[4]);
}

/* Every row's first k columns are the key of a row there. */
static void refer(hf_play *p, const hf_grid *from, const hf_grid *to,
                  uint32_t k, const char *what)
{
    for (uint64_t i = 0; i < from->n; i++) {
        const int64_t *row = hf_grid_row(from, i);

        if (!hf_grid_find(to, row + 1, k))
            hf_play_breach(p, "TA1",
                           "%s %lld %lld: expected 1 row it belongs to, "
                           "found 0",
                           what, (long long)row[1], (long long)row[2]);
    }
}

static void check_locations(hf_play *p, const hf_grid *subscribers)
{
    tatp_state *state = hf_play_state(p);

    for (uint64_t i = 0; i < subscribers->n; i++) {
        const int64_t *row = hf_grid_row(subscribers, i);

        if (!hf_seen_has(&state->locations, row[1], row[2]))
            hf_play_breach(p, "TA3",
                           "vlr_location of subscriber %lld: expected one "
                           "that was loaded or committed, found %lld",
                           (long long)row[1], (long long)row[2]);
    }
}

static void check(hf_play *p, hf_client *c)
{
    tatp_state *state = hf_play_state(p);
    hf_grid subscribers = {0}, access = {0}, facilities = {0}, calls = {0};

    if (hf_grid_read(c, &all_subscribers, &subscribers) &&
        hf_grid_read(c, &all_access, &access) &&
        hf_grid_read(c, &all_facilities, &facilities) &&
        hf_grid_read(c, &all_forwardings, &calls)) {
        refer(p, &access, &subscribers, 1, "access_info");
        refer(p, &facilities, &subscribers, 1, "special_facility");
        refer(p, &calls, &facilities, 2, "call_forwarding");
        hf_count_expect(p, "TA2", &state->forwardings, 0, (int64_t)calls.n,
                        "rows of call_forwarding");
        check_locations(p, &subscribers);
    }
    hf_grid_release(&subscribers);
    hf_grid_release(&access);
    hf_grid_release(&facilities);
    hf_grid_release(&calls);
}

static const hf_workload_type types[] = {
    {"get-subscriber-data", 35, true, draw, get_subscriber_data},
    {"get-access-data", 35, true, draw, get_access_data},
    {"get-new-destination", 10, true, draw, get_new_destination},
    {"update-subscriber-data", 2, false, draw, update_subscriber_data},
    {"update-location", 14, false, draw, update_location},
    {"insert-call-forwarding", 2, false, draw, insert_call_forwarding},
    {"delete-call-forwarding", 2, false, draw, delete_call_forwarding},
};

const hf_workload hf_workload_tatp = {
    .name = "tatp",
    .summary = "TATP: telephone subscribers, almost no conflicts",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .types = types,
    .n_types = sizeof(types) / sizeof(types[0]),
    .tables = tables,
    .load = load,
    .check = check,
    .done = done,
    .state_size = sizeof(tatp_state),
};

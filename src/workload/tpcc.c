/* tpcc.c: TPC-C (WORKLOADS.md 6): Payment, OrderStatus, Delivery and
 * StockLevel; NewOrder is in tpcc_order.c.
 *
 * Three sizes: tpcc (small: 30 customers per district and 100 items), the
 * standard's (--set customers=3000 --set items=100000), and tpcc-tiny
 * (Troubadour, MonkeyDB, IsoPredict: 2 districts, 3 customers, one item).  All
 * else is the same.
 *
 * What differs from the text, so that every row can be recorded: Delivery
 * stamps the lines of an order one by one and sums them up itself; the middle
 * customer of a name is chosen by the client (no database's order of texts
 * matters); StockLevel reads lines, then stock, unless joins=1.  Locking reads
 * only with for-update=1 (not every database has them).  split-updates=1 turns
 * x = x + e into a read and a write: Clotho's anomalies need that.
 */
#include "workload/tpcc.h"

#include <stdio.h>

/* ---- steps --------------------------------------------------------------- */

#define CUSTOMER_KEY " WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"
#define DISTRICT_KEY " WHERE d_w_id = $1 AND d_id = $2"
#define ORDER_KEY " WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3"
#define STOCK_KEY " WHERE s_w_id = $1 AND s_i_id = $2"

static const hf_step add_w_ytd = {
    "UPDATE warehouse SET w_ytd = w_ytd + $2, _tag = $3 WHERE w_id = $1",
    HF_STEP_UPDATE, .table = "warehouse", .keys = {1}, .tag = 3};
static const hf_step read_w_ytd = {
    "SELECT _tag, w_ytd FROM warehouse WHERE w_id = $1", HF_STEP_READ,
    .table = "warehouse", .keys = {1}};
static const hf_step set_w_ytd = {
    "UPDATE warehouse SET w_ytd = $2, _tag = $3 WHERE w_id = $1",
    HF_STEP_UPDATE, .table = "warehouse", .keys = {1}, .tag = 3};
static const hf_step read_warehouse = {
    "SELECT _tag, w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM "
    "warehouse WHERE w_id = $1",
    HF_STEP_READ, .table = "warehouse", .keys = {1}};
static const hf_step add_d_ytd = {
    "UPDATE district SET d_ytd = d_ytd + $3, _tag = $4" DISTRICT_KEY,
    HF_STEP_UPDATE, .table = "district", .keys = {1, 2}, .tag = 4};
static const hf_step read_d_ytd = {
    "SELECT _tag, d_ytd FROM district" DISTRICT_KEY, HF_STEP_READ,
    .table = "district", .keys = {1, 2}};
static const hf_step set_d_ytd = {
    "UPDATE district SET d_ytd = $3, _tag = $4" DISTRICT_KEY, HF_STEP_UPDATE,
    .table = "district", .keys = {1, 2}, .tag = 4};
static const hf_step read_district = {
    "SELECT _tag, d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM "
    "district" DISTRICT_KEY,
    HF_STEP_READ, .table = "district", .keys = {1, 2}};
/* Both forms have the same columns. */
#define CUSTOMER_ROW                                                           \
    "SELECT _tag, c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, "            \
    "c_payment_cnt, c_credit, c_first, c_middle, c_street_1, c_city, "         \
    "c_state, "                                                                \
    "c_zip, c_phone, c_credit_lim, c_discount, c_since FROM customer"
static const hf_step customer_by_id = {CUSTOMER_ROW CUSTOMER_KEY, HF_STEP_READ,
                                       .table = "customer", .keys = {1, 2, 3}};
static const hf_step customer_by_name = {
    CUSTOMER_ROW " WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3",
    HF_STEP_SCAN, .table = "customer", .keys = {3}};
static const hf_step read_data = {
    "SELECT _tag, c_data FROM customer" CUSTOMER_KEY, HF_STEP_READ,
    .table = "customer", .keys = {1, 2, 3}};
static const hf_step set_customer = {
    "UPDATE customer SET c_balance = $4, c_ytd_payment = $5, c_payment_cnt = "
    "$6, _tag = $7" CUSTOMER_KEY,
    HF_STEP_UPDATE, .table = "customer", .keys = {1, 2, 3}, .tag = 7};
static const hf_step set_customer_data = {
    "UPDATE customer SET c_balance = $4, c_ytd_payment = $5, c_payment_cnt = "
    "$6, c_data = $8, _tag = $7" CUSTOMER_KEY,
    HF_STEP_UPDATE, .table = "customer", .keys = {1, 2, 3}, .tag = 7};
static const hf_step insert_history = {
    "INSERT INTO history (h_id, h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, "
    "h_date, h_amount, h_data, _tag) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, "
    "$9, $10)",
    HF_STEP_INSERT, .table = "history", .keys = {1}, .tag = 10};

static const hf_step last_order = {
    "SELECT _tag, o_w_id, o_d_id, o_id, o_carrier_id, o_entry_d FROM oorder "
    "WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC "
    "LIMIT 1",
    HF_STEP_SCAN, .table = "oorder", .keys = {3}};
static const hf_step order_lines = {
    "SELECT _tag, ol_w_id, ol_d_id, ol_o_id, ol_number, ol_amount, ol_i_id, "
    "ol_supply_w_id, ol_quantity, ol_delivery_d FROM order_line WHERE ol_w_id "
    "= $1 AND ol_d_id = $2 AND ol_o_id = $3",
    HF_STEP_SCAN, .table = "order_line", .keys = {4},
    .range = {.prefix = {1, 2, 3}, .lowest = 1, .highest = TPCC_MOST_LINES}};

static const hf_step oldest_new_order = {
    "SELECT _tag, no_w_id, no_d_id, no_o_id FROM new_order WHERE no_w_id = $1 "
    "AND no_d_id = $2 ORDER BY no_o_id LIMIT 1",
    HF_STEP_SCAN, .table = "new_order", .keys = {3}};
static const hf_step delete_new_order = {
    "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = "
    "$3",
    HF_STEP_DELETE, .table = "new_order", .keys = {1, 2, 3}};
static const hf_step read_order = {
    "SELECT _tag, o_c_id, o_ol_cnt FROM oorder" ORDER_KEY, HF_STEP_READ,
    .table = "oorder", .keys = {1, 2, 3}};
static const hf_step set_carrier = {
    "UPDATE oorder SET o_carrier_id = $4, _tag = $5" ORDER_KEY, HF_STEP_UPDATE,
    .table = "oorder", .keys = {1, 2, 3}, .tag = 5};
static const hf_step set_delivered = {
    "UPDATE order_line SET ol_delivery_d = $5, _tag = $6 WHERE ol_w_id = $1 "
    "AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4",
    HF_STEP_UPDATE, .table = "order_line", .keys = {1, 2, 3, 4}, .tag = 6};
static const hf_step add_customer = {
    "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = "
    "c_delivery_cnt + 1, _tag = $5" CUSTOMER_KEY,
    HF_STEP_UPDATE, .table = "customer", .keys = {1, 2, 3}, .tag = 5};
static const hf_step read_delivery = {
    "SELECT _tag, c_balance, c_delivery_cnt FROM customer" CUSTOMER_KEY,
    HF_STEP_READ, .table = "customer", .keys = {1, 2, 3}};
static const hf_step set_delivery = {
    "UPDATE customer SET c_balance = $4, c_delivery_cnt = $5, _tag = "
    "$6" CUSTOMER_KEY,
    HF_STEP_UPDATE, .table = "customer", .keys = {1, 2, 3}, .tag = 6};

static const hf_step read_next = {
    "SELECT _tag, d_next_o_id FROM district" DISTRICT_KEY, HF_STEP_READ,
    .table = "district", .keys = {1, 2}};
static const hf_step recent_lines = {
    "SELECT _tag, ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id FROM "
    "order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND "
    "ol_o_id >= $4",
    HF_STEP_SCAN, .table = "order_line", .keys = {4}};
static const hf_step read_quantity = {
    "SELECT _tag, s_quantity FROM stock" STOCK_KEY, HF_STEP_READ,
    .table = "stock", .keys = {1, 2}};
static const hf_step count_low_stock = {
    "SELECT count(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = $1 "
    "AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $4 AND s_w_id = $5 AND "
    "s_i_id = ol_i_id AND s_quantity < $6",
    HF_STEP_OTHER, .table = "stock"};

/* ---- parameters ---------------------------------------------------------- */

/* numbers[at]: warehouse, district, then by name?, id or number of the name */
static void draw_customer(hf_play *p, const tpcc_scale *s, hf_rng *r,
                          int64_t *at)
{
    at[2] = hf_coin(r, hf_play_option(p, "by-name"));
    at[3] = at[2] ? hf_nurand(r, 255, 0, s->names - 1, 223)
                  : hf_nurand(r, 1023, 1, s->customers, 259);
}

/* numbers: w, d, amount, then the customer */
static void draw_payment(hf_play *p, hf_client *c, hf_drawn *ret)
{
    tpcc_scale s = hf_tpcc_scale(p);
    hf_rng *r = hf_client_rng(c);
    int64_t *x = ret->numbers;

    x[0] = hf_tpcc_home(&s, c);
    x[1] = hf_uniform(r, 1, s.districts);
    x[2] = hf_uniform(r, 100, 500000);
    x[3] = x[0];
    x[4] = x[1];
    if (hf_coin(r, hf_play_option(p, "remote-payments"))) {
        x[3] = hf_tpcc_other(&s, r, x[0]);
        x[4] = hf_uniform(r, 1, s.districts);
    }
    draw_customer(p, &s, r, x + 3);
    ret->n = 7;
}

static void draw_order_status(hf_play *p, hf_client *c, hf_drawn *ret)
{
    tpcc_scale s = hf_tpcc_scale(p);
    hf_rng *r = hf_client_rng(c);

    ret->numbers[0] = hf_tpcc_home(&s, c);
    ret->numbers[1] = hf_uniform(r, 1, s.districts);
    draw_customer(p, &s, r, ret->numbers);
    ret->n = 4;
}

static void draw_delivery(hf_play *p, hf_client *c, hf_drawn *ret)
{
    tpcc_scale s = hf_tpcc_scale(p);

    ret->numbers[0] = hf_tpcc_home(&s, c);
    ret->numbers[1] = hf_uniform(hf_client_rng(c), 1, TPCC_CARRIERS);
    ret->n = 2;
}

static void draw_stock_level(hf_play *p, hf_client *c, hf_drawn *ret)
{
    tpcc_scale s = hf_tpcc_scale(p);
    hf_rng *r = hf_client_rng(c);

    ret->numbers[0] = hf_tpcc_home(&s, c);
    ret->numbers[1] = hf_uniform(r, 1, s.districts);
    ret->numbers[2] = hf_uniform(r, 10, 20);
    ret->n = 3;
}

/* ---- customers ----------------------------------------------------------- */

/* What Payment and OrderStatus need of a customer. */
typedef struct customer {
    int64_t id, balance, ytd, payments;
    bool bad; /* credit */
} customer;

/* The row in the middle by first name: position n/2 rounded up, from 1. */
static uint64_t middle(const hf_sql_result *rows)
{
    uint64_t half = (rows->n_rows + 1) / 2;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        uint64_t before = 1;
        char mine[20], other[20];

        hf_cell_text(rows, i, 8, mine, sizeof(mine));
        for (uint64_t j = 0; j < rows->n_rows; j++) {
            int order;

            hf_cell_text(rows, j, 8, other, sizeof(other));
            order = strcmp(other, mine);
            before += order < 0 || (order == 0 && j < i);
        }
        if (before == half)
            return i;
    }
    return 0;
}

/* x: warehouse, district, by name?, id or number of the name. */
static bool find_customer(hf_client *c, const int64_t *x, customer *ret)
{
    const hf_sql_result *rows;
    char text[20];
    uint64_t i;
    bool went;

    if (x[2]) {
        hf_tpcc_last_name(x[3], text);
        went = HF_STEP(c, customer_by_name, &rows, hf_i(x[0]), hf_i(x[1]),
                       hf_t(text));
    } else {
        went = HF_STEP(c, customer_by_id, &rows, hf_i(x[0]), hf_i(x[1]),
                       hf_i(x[3]));
    }
    if (!hf_found(c, went, &rows))
        return false;
    i = middle(rows);
    ret->id = hf_cell(rows, i, 3);
    ret->balance = hf_cell(rows, i, 4);
    ret->ytd = hf_cell(rows, i, 5);
    ret->payments = hf_cell(rows, i, 6);
    hf_cell_text(rows, i, 7, text, sizeof(text));
    ret->bad = strcmp(text, "BC") == 0;
    return true;
}

/* ---- Payment ------------------------------------------------------------- */

static bool pay_warehouse(hf_play *p, hf_client *c, int64_t w, int64_t amount,
                          char name[11])
{
    const hf_sql_result *rows;
    bool went;

    if (hf_play_option(p, "split-updates") == 0) {
        went = HF_STEP(c, add_w_ytd, NULL, hf_i(w), hf_i(amount), hf_tag());
    } else {
        went = hf_found(c, HF_STEP(c, read_w_ytd, &rows, hf_i(w)), &rows) &&
               HF_STEP(c, set_w_ytd, NULL, hf_i(w),
                       hf_i(hf_cell(rows, 0, 1) + amount), hf_tag());
    }
    if (!went ||
        !hf_found(c, HF_STEP(c, read_warehouse, &rows, hf_i(w)), &rows))
        return false;
    hf_cell_text(rows, 0, 1, name, 11);
    return true;
}

static bool pay_district(hf_play *p, hf_client *c, const int64_t *x,
                         char name[11])
{
    hf_sql_value w = hf_i(x[0]), d = hf_i(x[1]);
    const hf_sql_result *rows;
    bool went;

    if (hf_play_option(p, "split-updates") == 0) {
        went = HF_STEP(c, add_d_ytd, NULL, w, d, hf_i(x[2]), hf_tag());
    } else {
        went = hf_found(c, HF_STEP(c, read_d_ytd, &rows, w, d), &rows) &&
               HF_STEP(c, set_d_ytd, NULL, w, d,
                       hf_i(hf_cell(rows, 0, 1) + x[2]), hf_tag());
    }
    if (!went || !hf_found(c, HF_STEP(c, read_district, &rows, w, d), &rows))
        return false;
    hf_cell_text(rows, 0, 1, name, 11);
    return true;
}

static bool pay_customer(hf_client *c, const int64_t *x, const customer *k)
{
    hf_sql_value w = hf_i(x[3]), d = hf_i(x[4]), id = hf_i(k->id);
    hf_sql_value balance = hf_i(k->balance - x[2]);
    hf_sql_value ytd = hf_i(k->ytd + x[2]), count = hf_i(k->payments + 1);
    const hf_sql_result *rows;
    char old[501], text[501];
    int n;

    if (!k->bad)
        return HF_STEP(c, set_customer, NULL, w, d, id, balance, ytd, count,
                       hf_tag());
    if (!hf_found(c, HF_STEP(c, read_data, &rows, w, d, id), &rows))
        return false;
    hf_cell_text(rows, 0, 1, old, sizeof(old));
    n = snprintf(text, sizeof(text), "%lld %lld %lld %lld %lld %lld | ",
                 (long long)k->id, (long long)x[4], (long long)x[3],
                 (long long)x[1], (long long)x[0], (long long)x[2]);
    /* cut to the width of the column */
    for (size_t i = 0; n < 500 && old[i] != '\0'; i++)
        text[n++] = old[i];
    text[n] = '\0';
    return HF_STEP(c, set_customer_data, NULL, w, d, id, balance, ytd, count,
                   hf_tag(), hf_t(text));
}

static void payment(hf_play *p, hf_client *c, const hf_drawn *d)
{
    tpcc_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    const int64_t *x = d->numbers;
    char w_name[11], d_name[11], data[32];
    customer k;

    if (!pay_warehouse(p, c, x[0], x[2], w_name) ||
        !pay_district(p, c, x, d_name) || !find_customer(c, x + 3, &k) ||
        !pay_customer(c, x, &k))
        return;
    notes[0] = k.id;
    snprintf(data, 25, "%s    %s", w_name, d_name);
    (void)HF_STEP(c, insert_history, NULL, hf_i(hf_client_fresh(c)), hf_i(k.id),
                  hf_i(x[4]), hf_i(x[3]), hf_i(x[1]), hf_i(x[0]),
                  hf_i((int64_t)hf_client_clock(c)), hf_i(x[2]), hf_t(data),
                  hf_tag());
}

/* ---- the others ---------------------------------------------------------- */

static void order_status(hf_play *p, hf_client *c, const hf_drawn *d)
{
    hf_sql_value w = hf_i(d->numbers[0]), district = hf_i(d->numbers[1]);
    const hf_sql_result *rows;
    customer k;

    (void)p;
    if (!find_customer(c, d->numbers, &k) ||
        !HF_STEP(c, last_order, &rows, w, district, hf_i(k.id)))
        return;
    if (rows->n_rows > 0)
        (void)HF_STEP(c, order_lines, NULL, w, district,
                      hf_i(hf_cell(rows, 0, 3)));
}

static bool credit(hf_play *p, hf_client *c, hf_sql_value w, hf_sql_value d,
                   hf_sql_value id, int64_t sum)
{
    const hf_sql_result *rows;

    if (hf_play_option(p, "split-updates") == 0)
        return HF_STEP(c, add_customer, NULL, w, d, id, hf_i(sum), hf_tag());
    return hf_found(c, HF_STEP(c, read_delivery, &rows, w, d, id), &rows) &&
           HF_STEP(c, set_delivery, NULL, w, d, id,
                   hf_i(hf_cell(rows, 0, 1) + sum),
                   hf_i(hf_cell(rows, 0, 2) + 1), hf_tag());
}

/* One district; false: over.  *ret: whether there was an order. */
static bool deliver(hf_play *p, hf_client *c, const int64_t *x,
                    int64_t district, bool *ret)
{
    hf_sql_value w = hf_i(x[0]), d = hf_i(district), o, id;
    const hf_sql_result *rows;
    int64_t lines, sum = 0;

    if (!HF_STEP(c, oldest_new_order, &rows, w, d))
        return false;
    *ret = rows->n_rows > 0;
    if (!*ret)
        return true;
    o = hf_i(hf_cell(rows, 0, 3));
    if (!HF_STEP(c, delete_new_order, &rows, w, d, o))
        return false;
    if (rows->affected == 0) {
        hf_client_give_up(c, "order was delivered by somebody else");
        return false;
    }
    if (!hf_found(c, HF_STEP(c, read_order, &rows, w, d, o), &rows))
        return false;
    id = hf_i(hf_cell(rows, 0, 1));
    lines = hf_cell(rows, 0, 2);
    if (!HF_STEP(c, set_carrier, NULL, w, d, o, hf_i(x[1]), hf_tag()))
        return false;
    for (int64_t i = 1; i <= lines; i++)
        if (!HF_STEP(c, set_delivered, NULL, w, d, o, hf_i(i),
                     hf_i((int64_t)hf_client_clock(c)), hf_tag()))
            return false;
    if (!HF_STEP(c, order_lines, &rows, w, d, o))
        return false;
    for (uint64_t i = 0; i < rows->n_rows; i++)
        sum += hf_cell(rows, i, 5);
    return credit(p, c, w, d, id, sum);
}

static void delivery(hf_play *p, hf_client *c, const hf_drawn *d)
{
    tpcc_state *state = hf_play_state(p);
    int64_t *notes = hf_memo_begin(&state->notes, c);
    int64_t districts = hf_option(p, "districts");

    for (int64_t i = 1; i <= districts; i++) {
        bool any = false;

        if (!deliver(p, c, d->numbers, i, &any))
            return;
        if (any)
            notes[0] |= (int64_t)1 << i;
    }
}

#define RECENT (20 * TPCC_MOST_LINES)

static uint32_t distinct_items(const hf_sql_result *rows, int64_t *items)
{
    uint32_t n = 0;

    for (uint64_t i = 0; i < rows->n_rows; i++) {
        int64_t item = hf_cell(rows, i, 5);
        uint32_t k = 0;

        while (k < n && items[k] != item)
            k++;
        if (k == n && n < RECENT)
            items[n++] = item;
    }
    return n;
}

static void stock_level(hf_play *p, hf_client *c, const hf_drawn *d)
{
    hf_sql_value w = hf_i(d->numbers[0]), district = hf_i(d->numbers[1]);
    const hf_sql_result *rows;
    int64_t items[RECENT], next;
    uint32_t n;

    if (!hf_found(c, HF_STEP(c, read_next, &rows, w, district), &rows))
        return;
    next = hf_cell(rows, 0, 1);
    if (hf_play_option(p, "joins") != 0) {
        (void)HF_STEP(c, count_low_stock, NULL, w, district, hf_i(next),
                      hf_i(next - 20), w, hf_i(d->numbers[2]));
        return;
    }
    if (!HF_STEP(c, recent_lines, &rows, w, district, hf_i(next),
                 hf_i(next - 20)))
        return;
    n = distinct_items(rows, items);
    for (uint32_t i = 0; i < n; i++)
        if (!HF_STEP(c, read_quantity, NULL, w, hf_i(items[i])))
            return;
}

/* ---- what was committed -------------------------------------------------- */

static void done(hf_play *p, hf_client *c, const hf_drawn *d, bool known)
{
    tpcc_state *state = hf_play_state(p);
    const int64_t *notes = hf_memo_of(&state->notes, c), *x = d->numbers;
    tpcc_scale s = hf_tpcc_scale(p);

    if (d->type == TPCC_NEW_ORDER) {
        hf_tpcc_count_order(state, &s, x, known);
    } else if (d->type == TPCC_PAYMENT) {
        int64_t object = tpcc_customer(&s, x[3], x[4], notes[0]);

        hf_count_add(hf_ledger_of(&state->payments, object), 1, known);
        hf_count_add(hf_ledger_of(&state->paid, object), x[2], known);
    } else if (d->type == TPCC_DELIVERY) {
        for (int64_t i = 1; i <= s.districts; i++) {
            int64_t object = tpcc_district(x[0], i);

            if (!(notes[0] >> i & 1))
                continue;
            hf_count_add(&state->delivered, 1, known);
            hf_count_add(&state->carriers[x[1]], 1, known);
            hf_count_add(hf_ledger_of(&state->district_delivered, object), 1,
                         known);
        }
    }
}

static const hf_workload_type types[] = {
    {"new-order", 45, false, hf_tpcc_draw_new_order, hf_tpcc_new_order},
    {"payment", 43, false, draw_payment, payment},
    {"order-status", 4, true, draw_order_status, order_status},
    {"delivery", 4, false, draw_delivery, delivery},
    {"stock-level", 4, true, draw_stock_level, stock_level},
};

#define OPTIONS(districts, customers, items)                                   \
    {                                                                          \
        {"warehouses", 1, 1, 10000, "scale factor"},                           \
            {"districts", districts, 1, 60, "per warehouse (standard 10)"},    \
            {"customers", customers, 1, 100000,                                \
             "per district (standard 3000)"},                                  \
            {"items", items, 1, 1e6, "items (standard 100000)"},               \
            {"first-new", 0, 0, 100000,                                        \
             "first order not delivered; 0: after 70 percent of them"},        \
            {"invalid", 1, 0, 100, "percent of NewOrders with a wrong item"},  \
            {"remote-lines", 1, 0, 100, "percent of lines from elsewhere"},    \
            {"remote-payments", 15, 0, 100, "percent paid elsewhere"},         \
            {"by-name", 60, 0, 100, "percent of customers asked by name"},     \
            {"split-updates", 0, 0, 1, "additions as a read and a write"},     \
            {"for-update", 0, 0, 1, "locking reads, where there are any"},     \
            {"joins", 0, 0, 1, "StockLevel as one join (not recorded)"},       \
    }

static const hf_workload_option small_options[] = OPTIONS(10, 30, 100);
static const hf_workload_option tiny_options[] = OPTIONS(2, 3, 1);

#define TPCC(called, words, with)                                              \
    {                                                                          \
        .name = (called), .summary = (words), .options = (with),               \
        .n_options = sizeof(with) / sizeof((with)[0]), .types = types,         \
        .n_types = sizeof(types) / sizeof(types[0]), .tables = hf_tpcc_tables, \
        .load = hf_tpcc_load, .check = hf_tpcc_check, .done = done,            \
        .state_size = sizeof(tpcc_state)                                       \
    }

const hf_workload hf_workload_tpcc =
    TPCC("tpcc", "TPC-C: orders, payments, deliveries; small", small_options);
const hf_workload hf_workload_tpcc_tiny = TPCC(
    "tpcc-tiny", "TPC-C with 2 districts, 3 customers, 1 item", tiny_options);

/* tpcc_order.c: TPC-C's NewOrder (WORKLOADS.md 6.3).
 *
 * Every line changes its stock and is inserted at once: an item that comes
 * twice is read as the transaction has left it.
 */
#include "workload/tpcc.h"

/* ---- steps --------------------------------------------------------------- */

#define CUSTOMER_KEY " WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"
#define DISTRICT_KEY " WHERE d_w_id = $1 AND d_id = $2"
#define STOCK_KEY " WHERE s_w_id = $1 AND s_i_id = $2"
#define DISTRICT_NEXT                                                          \
    "SELECT _tag, d_next_o_id, d_tax FROM district" DISTRICT_KEY
#define STOCK_ROW                                                              \
    "SELECT _tag, s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_data, "      \
    "s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, "       \
    "s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock" STOCK_KEY

static const hf_step read_customer = {
    "SELECT _tag, c_discount, c_last, c_credit FROM customer" CUSTOMER_KEY,
    HF_STEP_READ, .table = "customer", .keys = {1, 2, 3}};
static const hf_step read_tax = {
    "SELECT _tag, w_tax FROM warehouse WHERE w_id = $1", HF_STEP_READ,
    .table = "warehouse", .keys = {1}};
static const hf_step read_next[2] = {
    {DISTRICT_NEXT, HF_STEP_READ, .table = "district", .keys = {1, 2}},
    {DISTRICT_NEXT " FOR UPDATE", HF_STEP_READ, .table = "district",
     .keys = {1, 2}}};
static const hf_step add_next = {
    "UPDATE district SET d_next_o_id = d_next_o_id + 1, _tag = $3" DISTRICT_KEY,
    HF_STEP_UPDATE, .table = "district", .keys = {1, 2}, .tag = 3};
static const hf_step set_next = {
    "UPDATE district SET d_next_o_id = $3, _tag = $4" DISTRICT_KEY,
    HF_STEP_UPDATE, .table = "district", .keys = {1, 2}, .tag = 4};
static const hf_step insert_order = {
    "INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, "
    "o_all_local, o_entry_d, _tag) VALUES ($1, $2, $3, $4, NULL, $5, $6, $7, "
    "$8)",
    HF_STEP_INSERT, .table = "oorder", .keys = {1, 2, 3}, .tag = 8};
static const hf_step insert_new_order = {
    "INSERT INTO new_order (no_w_id, no_d_id, no_o_id, _tag) VALUES ($1, $2, "
    "$3, $4)",
    HF_STEP_INSERT, .table = "new_order", .keys = {1, 2, 3}, .tag = 4};
static const hf_step read_item = {
    "SELECT _tag, i_price, i_name, i_data FROM item WHERE i_id = $1",
    HF_STEP_READ, .table = "item", .keys = {1}};
static const hf_step read_stock[2] = {
    {STOCK_ROW, HF_STEP_READ, .table = "stock", .keys = {1, 2}},
    {STOCK_ROW " FOR UPDATE", HF_STEP_READ, .table = "stock", .keys = {1, 2}}};
static const hf_step add_stock = {
    "UPDATE stock SET s_quantity = $3, s_ytd = s_ytd + $4, s_order_cnt = "
    "s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $5, _tag = $6" STOCK_KEY,
    HF_STEP_UPDATE, .table = "stock", .keys = {1, 2}, .tag = 6};
static const hf_step set_stock = {
    "UPDATE stock SET s_quantity = $3, s_ytd = $4, s_order_cnt = $5, "
    "s_remote_cnt = $6, _tag = $7" STOCK_KEY,
    HF_STEP_UPDATE, .table = "stock", .keys = {1, 2}, .tag = 7};
static const hf_step insert_line = {
    "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, "
    "ol_delivery_d, ol_amount, ol_supply_w_id, ol_quantity, ol_dist_info, "
    "_tag) VALUES ($1, $2, $3, $4, $5, NULL, $6, $7, $8, $9, $10)",
    HF_STEP_INSERT, .table = "order_line", .keys = {1, 2, 3, 4}, .tag = 10};

/* ---- parameters ---------------------------------------------------------- */

int64_t hf_tpcc_home(const tpcc_scale *s, const hf_client *c)
{
    return 1 + hf_client_number(c) % s->warehouses;
}

int64_t hf_tpcc_other(const tpcc_scale *s, hf_rng *r, int64_t w)
{
    if (s->warehouses == 1)
        return w;
    return (w - 1 + hf_uniform(r, 1, s->warehouses - 1)) % s->warehouses + 1;
}

/* numbers: w, d, c, how many lines, then item, supply, quantity of each. */
enum { LINES = 3, FIRST_LINE = 4 };

void hf_tpcc_draw_new_order(hf_play *p, hf_client *c, hf_drawn *ret)
{
    tpcc_scale s = hf_tpcc_scale(p);
    hf_rng *r = hf_client_rng(c);
    int64_t w = hf_tpcc_home(&s, c), n = hf_uniform(r, 5, TPCC_MOST_LINES);
    int64_t *line = ret->numbers + FIRST_LINE;

    ret->numbers[0] = w;
    ret->numbers[1] = hf_uniform(r, 1, s.districts);
    ret->numbers[2] = hf_nurand(r, 1023, 1, s.customers, 259);
    ret->numbers[LINES] = n;
    for (int64_t i = 0; i < n; i++, line += 3) {
        line[0] = hf_nurand(r, 8191, 1, s.items, 7911);
        line[1] = hf_coin(r, hf_play_option(p, "remote-lines"))
                      ? hf_tpcc_other(&s, r, w)
                      : w;
        line[2] = hf_uniform(r, 1, 10);
    }
    if (hf_coin(r, hf_play_option(p, "invalid")))
        line[-3] = -12345;
    ret->n = (unsigned)(FIRST_LINE + 3 * n);
}

/* ---- NewOrder ------------------------------------------------------------ */

static bool update_stock(hf_play *p, hf_client *c, const int64_t *line,
                         const int64_t *stock, bool remote)
{
    int64_t left = stock[0] - line[2];
    hf_sql_value quantity = hf_i(left >= 10 ? left : left + 91);

    if (hf_play_option(p, "split-updates") != 0)
        return HF_STEP(c, set_stock, NULL, hf_i(line[1]), hf_i(line[0]),
                       quantity, hf_i(stock[1] + line[2]), hf_i(stock[2] + 1),
                       hf_i(stock[3] + remote), hf_tag());
    return HF_STEP(c, add_stock, NULL, hf_i(line[1]), hf_i(line[0]), quantity,
                   hf_i(line[2]), hf_i(remote), hf_tag());
}

static bool order_line(hf_play *p, hf_client *c, const hf_drawn *d,
                       int64_t order, int64_t i)
{
    const int64_t *x = d->numbers, *line = x + FIRST_LINE + 3 * i;
    bool locked = hf_play_option(p, "for-update") != 0;
    const hf_sql_result *rows;
    int64_t price, stock[4];
    char info[25];

    if (!HF_STEP(c, read_item, &rows, hf_i(line[0])))
        return false;
    if (rows->n_rows == 0) {
        hf_client_give_up(c, "item number is not valid");
        return false;
    }
    price = hf_cell(rows, 0, 1);
    if (!hf_found(
            c,
            HF_STEP(c, read_stock[locked], &rows, hf_i(line[1]), hf_i(line[0])),
            &rows))
        return false;
    for (uint32_t k = 0; k < 4; k++)
        stock[k] = hf_cell(rows, 0, 1 + k);
    hf_cell_text(rows, 0, 6 + (uint32_t)((x[1] - 1) % 10), info, sizeof(info));
    return update_stock(p, c, line, stock, line[1] != x[0]) &&
           HF_STEP(c, insert_line, NULL, hf_i(x[0]), hf_i(x[1]), hf_i(order),
                   hf_i(i + 1), hf_i(line[0]), hf_i(line[2] * price),
                   hf_i(line[1]), hf_i(line[2]), hf_t(info), hf_tag());
}

/* The number of the new order, and the next one is set; false: over. */
static bool take_number(hf_play *p, hf_client *c, int64_t w, int64_t d,
                        int64_t *ret)
{
    bool locked = hf_play_option(p, "for-update") != 0;
    const hf_sql_result *rows;

    if (!hf_found(c, HF_STEP(c, read_next[locked], &rows, hf_i(w), hf_i(d)),
                  &rows))
        return false;
    *ret = hf_cell(rows, 0, 1);
    if (hf_play_option(p, "split-updates") != 0)
        return HF_STEP(c, set_next, NULL, hf_i(w), hf_i(d), hf_i(*ret + 1),
                       hf_tag());
    return HF_STEP(c, add_next, NULL, hf_i(w), hf_i(d), hf_tag());
}

void hf_tpcc_new_order(hf_play *p, hf_client *c, const hf_drawn *d)
{
    const int64_t *x = d->numbers;
    const hf_sql_result *rows;
    bool local = true;
    int64_t order;

    for (int64_t i = 0; i < x[LINES]; i++)
        local &= x[FIRST_LINE + 3 * i + 1] == x[0];
    if (!hf_found(c,
                  HF_STEP(c, read_customer, &rows, hf_i(x[0]), hf_i(x[1]),
                          hf_i(x[2])),
                  &rows) ||
        !hf_found(c, HF_STEP(c, read_tax, &rows, hf_i(x[0])), &rows) ||
        !take_number(p, c, x[0], x[1], &order))
        return;
    if (!HF_STEP(c, insert_order, NULL, hf_i(x[0]), hf_i(x[1]), hf_i(order),
                 hf_i(x[2]), hf_i(x[LINES]), hf_i(local),
                 hf_i((int64_t)hf_client_clock(c)), hf_tag()) ||
        !HF_STEP(c, insert_new_order, NULL, hf_i(x[0]), hf_i(x[1]), hf_i(order),
                 hf_tag()))
        return;
    for (int64_t i = 0; i < x[LINES]; i++)
        if (!order_line(p, c, d, order, i))
            return;
}

void hf_tpcc_count_order(tpcc_state *state, const tpcc_scale *s,
                         const int64_t *x, bool known)
{
    hf_count_add(&state->lines, x[LINES], known);
    for (int64_t i = 0; i < x[LINES]; i++) {
        const int64_t *line = x + FIRST_LINE + 3 * i;

        hf_count_add(
            hf_ledger_of(&state->stock_ytd, tpcc_stock(s, line[1], line[0])),
            line[2], known);
    }
}

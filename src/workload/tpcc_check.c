/* tpcc_check.c: the consistency conditions of TPC-C (WORKLOADS.md 6.5).
 *
 * CR1 to CR12 are clauses 3.3.2.1 to 12 of the standard, NCR1 to NCR7 are
 * Clotho's.  Tables are read whole, sorted by their keys, and walked side by
 * side: O(rows * log rows).
 */
#include <stdio.h>

#include "base/mem.h"
#include "workload/tpcc.h"

static const hf_step all_warehouses = {
    "SELECT _tag, w_id, w_ytd FROM warehouse ORDER BY w_id", HF_STEP_SCAN,
    .table = "warehouse", .keys = {1}};
static const hf_step all_districts = {
    "SELECT _tag, d_w_id, d_id, d_ytd, d_next_o_id FROM district ORDER BY "
    "d_w_id, d_id",
    HF_STEP_SCAN, .table = "district", .keys = {2}};
static const hf_step all_customers = {
    "SELECT _tag, c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, "
    "c_payment_cnt, c_delivery_cnt FROM customer ORDER BY c_w_id, c_d_id, c_id",
    HF_STEP_SCAN, .table = "customer", .keys = {3}};
static const hf_step all_history = {
    "SELECT _tag, h_id, h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount "
    "FROM history",
    HF_STEP_SCAN, .table = "history", .keys = {1}};
static const hf_step all_orders = {
    "SELECT _tag, o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt FROM "
    "oorder ORDER BY o_w_id, o_d_id, o_id",
    HF_STEP_SCAN, .table = "oorder", .keys = {3}};
static const hf_step all_new_orders = {
    "SELECT _tag, no_w_id, no_d_id, no_o_id FROM new_order ORDER BY no_w_id, "
    "no_d_id, no_o_id",
    HF_STEP_SCAN, .table = "new_order", .keys = {3}};
static const hf_step all_lines = {
    "SELECT _tag, ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, "
    "ol_amount FROM order_line ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number",
    HF_STEP_SCAN, .table = "order_line", .keys = {4}};
static const hf_step all_stock = {
    "SELECT _tag, s_w_id, s_i_id, s_ytd, s_order_cnt FROM stock ORDER BY "
    "s_w_id, s_i_id",
    HF_STEP_SCAN, .table = "stock", .keys = {2}};

/* Columns of the grids after the keys. */
enum { D_YTD = 3, D_NEXT = 4 };
enum { C_BALANCE = 4, C_YTD, C_PAYMENTS, C_DELIVERIES };
enum { H_W = 2, H_D, H_C_W, H_C_D, H_C, H_AMOUNT };
enum { O_CUSTOMER = 4, O_CARRIER, O_LINES };
enum { OL_DELIVERED = 5, OL_AMOUNT };
enum { S_YTD = 3, S_ORDERS };

typedef struct book {
    hf_play *p;
    tpcc_state *state;
    tpcc_scale s;
    bool exact; /* the log is known */
    hf_grid warehouses, districts, customers, history, orders, new_orders;
    hf_grid lines, stock;
    int64_t *paid;      /* per row of customers: history amounts */
    int64_t *delivered; /* per row of customers: amounts of his lines */
} book;

static void unequal(book *b, const char *name, const int64_t *key, uint32_t k,
                    const char *what, int64_t expected, int64_t is)
{
    char where[80];
    int n = 0;

    if (expected == is)
        return;
    for (uint32_t i = 0; i < k; i++)
        n += snprintf(where + n, sizeof(where) - (size_t)n, "%s%lld",
                      i ? "/" : "", (long long)key[i]);
    hf_play_breach(b->p, name, "%s, at %s: expected %lld, found %lld", what,
                   where, (long long)expected, (long long)is);
}

/* The row of a customer; n of them: none. */
static uint64_t customer_row(const book *b, const int64_t *key)
{
    const int64_t *row = hf_grid_find(&b->customers, key, 3);

    return row ? (uint64_t)(row - b->customers.cells) / b->customers.columns
               : b->customers.n;
}

/* CR1, CR8: the warehouse against its districts and its history. */
static void check_warehouse(book *b, const int64_t *w)
{
    int64_t districts = 0, history = 0;

    for (uint64_t i = 0; i < b->districts.n; i++) {
        const int64_t *d = hf_grid_row(&b->districts, i);

        districts += d[1] == w[1] ? d[D_YTD] : 0;
    }
    for (uint64_t i = 0; i < b->history.n; i++) {
        const int64_t *h = hf_grid_row(&b->history, i);

        history += h[H_W] == w[1] ? h[H_AMOUNT] : 0;
    }
    unequal(b, "CR1", w + 1, 1, "w_ytd against sum of d_ytd", districts, w[2]);
    unequal(b, "CR8", w + 1, 1, "w_ytd against sum of history", history, w[2]);
}

/* CR2, CR3: the numbers of new orders. */
static void check_numbers(book *b, const int64_t *d, uint64_t first,
                          uint64_t last)
{
    uint64_t end = hf_grid_lower(&b->orders, (int64_t[]){d[1], d[2] + 1}, 2);
    int64_t most_new = hf_grid_row(&b->new_orders, last - 1)[3];
    int64_t least_new = hf_grid_row(&b->new_orders, first)[3];
    int64_t most = -1;

    if (end > 0 && hf_grid_row(&b->orders, end - 1)[1] == d[1] &&
        hf_grid_row(&b->orders, end - 1)[2] == d[2])
        most = hf_grid_row(&b->orders, end - 1)[3];
    unequal(b, "CR2", d + 1, 2, "largest o_id against d_next_o_id - 1",
            d[D_NEXT] - 1, most);
    unequal(b, "CR2", d + 1, 2, "largest no_o_id against d_next_o_id - 1",
            d[D_NEXT] - 1, most_new);
    unequal(b, "CR3", d + 1, 2, "count of new_order against its numbers",
            most_new - least_new + 1, (int64_t)(last - first));
}

/* CR2, CR3, CR4, CR9, CR11 */
static void check_district(book *b, const int64_t *d)
{
    int64_t from[2] = {d[1], d[2]}, to[2] = {d[1], d[2] + 1};
    uint64_t first = hf_grid_lower(&b->new_orders, from, 2);
    uint64_t last = hf_grid_lower(&b->new_orders, to, 2);
    uint64_t i = hf_grid_lower(&b->orders, from, 2);
    uint64_t end = hf_grid_lower(&b->orders, to, 2), orders = end - i;
    int64_t lines = 0, history = 0;

    if (last > first)
        check_numbers(b, d, first, last);
    for (; i < end; i++)
        lines += hf_grid_row(&b->orders, i)[O_LINES];
    unequal(b, "CR4", d + 1, 2, "count of order_line against sum o_ol_cnt",
            lines,
            (int64_t)(hf_grid_lower(&b->lines, to, 2) -
                      hf_grid_lower(&b->lines, from, 2)));
    for (i = 0; i < b->history.n; i++) {
        const int64_t *h = hf_grid_row(&b->history, i);

        if (h[H_W] == d[1] && h[H_D] == d[2])
            history += h[H_AMOUNT];
    }
    unequal(b, "CR9", d + 1, 2, "d_ytd against sum of history", history,
            d[D_YTD]);
    if (b->exact)
        hf_count_expect(b->p, "CR11",
                        hf_ledger_of(&b->state->district_delivered,
                                     tpcc_district(d[1], d[2])),
                        b->s.first_new - 1,
                        (int64_t)orders - (int64_t)(last - first),
                        "orders delivered of district %lld %lld",
                        (long long)d[1], (long long)d[2]);
}

/* CR5b, CR6, CR7; his delivered lines go to the customer's sum. */
static void check_order(book *b, const int64_t *o)
{
    uint64_t first = hf_grid_lower(&b->lines, o + 1, 3), i = first;
    int64_t customer[3] = {o[1], o[2], o[O_CUSTOMER]};
    uint64_t row = customer_row(b, customer);
    bool is_new = o[O_CARRIER] == HF_CELL_NULL;
    int64_t open = 0;

    for (; i < b->lines.n; i++) {
        const int64_t *l = hf_grid_row(&b->lines, i);

        if (l[1] != o[1] || l[2] != o[2] || l[3] != o[3])
            break;
        if (l[OL_DELIVERED] == HF_CELL_NULL)
            open++;
        else if (row < b->customers.n)
            b->delivered[row] += l[OL_AMOUNT];
    }
    unequal(b, "CR6", o + 1, 3, "lines of order against o_ol_cnt", o[O_LINES],
            (int64_t)(i - first));
    if (is_new) {
        unequal(b, "CR5b", o + 1, 3, "new_order rows of order without carrier",
                1, hf_grid_find(&b->new_orders, o + 1, 3) != NULL);
        unequal(b, "CR7b", o + 1, 3, "delivered lines of order without carrier",
                0, (int64_t)(i - first) - open);
    } else if (i > first && open == (int64_t)(i - first)) {
        unequal(b, "CR7a", o + 1, 3, "open lines of order with a carrier", 0,
                open);
    }
}

static void check_orders(book *b)
{
    for (uint64_t i = 0; i < b->orders.n; i++)
        check_order(b, hf_grid_row(&b->orders, i));
    for (uint64_t i = 0; i < b->new_orders.n; i++) {
        const int64_t *n = hf_grid_row(&b->new_orders, i);
        const int64_t *o = hf_grid_find(&b->orders, n + 1, 3);

        unequal(b, "CR5a", n + 1, 3, "orders without carrier of new_order", 1,
                o && o[O_CARRIER] == HF_CELL_NULL);
    }
}

/* CR10, CR12, NCR3 */
static void check_customers(book *b)
{
    bool never = b->exact && atomic_load(&b->state->delivered.high) == 0;

    for (uint64_t i = 0; i < b->history.n; i++) {
        const int64_t *h = hf_grid_row(&b->history, i);
        uint64_t row = customer_row(b, h + H_C_W);

        if (row < b->customers.n)
            b->paid[row] += h[H_AMOUNT];
    }
    for (uint64_t i = 0; i < b->customers.n; i++) {
        const int64_t *c = hf_grid_row(&b->customers, i);

        unequal(b, "CR10", c + 1, 3,
                "c_balance against delivered lines - history",
                b->delivered[i] - b->paid[i], c[C_BALANCE]);
        unequal(b, "CR12", c + 1, 3,
                "c_balance + c_ytd_payment against delivered lines",
                b->delivered[i], c[C_BALANCE] + c[C_YTD]);
        if (never)
            unequal(b, "NCR3", c + 1, 3,
                    "c_balance + c_ytd_payment without deliveries", 0,
                    c[C_BALANCE] + c[C_YTD]);
    }
}

/* NCR4, NCR5, NCR7 */
static void check_customer_log(book *b)
{
    hf_ledger_sums payments = {{0}}, paid = {{0}};
    int64_t deliveries = 0;

    for (uint64_t i = 0; i < b->customers.n; i++) {
        const int64_t *c = hf_grid_row(&b->customers, i);
        int64_t object = tpcc_customer(&b->s, c[1], c[2], c[3]);

        deliveries += c[C_DELIVERIES];
        hf_ledger_found(&payments, object, c[C_PAYMENTS]);
        hf_ledger_found(&paid, object, b->paid[i]);
    }
    hf_ledger_expect(b->p, "NCR4", &b->state->payments, &payments,
                     "c_payment_cnt of customer");
    hf_count_expect(b->p, "NCR5", &b->state->delivered, 0, deliveries,
                    "sum of c_delivery_cnt");
    hf_ledger_expect(b->p, "NCR7", &b->state->paid, &paid,
                     "sum of history of customer");
}

/* NCR1, NCR2, NCR6 */
static void check_order_log(book *b)
{
    hf_ledger_sums ytd = {{0}};
    int64_t orders = 0, carriers[TPCC_CARRIERS + 1] = {0};

    for (uint64_t i = 0; i < b->stock.n; i++) {
        const int64_t *s = hf_grid_row(&b->stock, i);

        orders += s[S_ORDERS];
        hf_ledger_found(&ytd, tpcc_stock(&b->s, s[1], s[2]), s[S_YTD]);
    }
    hf_ledger_expect(b->p, "NCR1", &b->state->stock_ytd, &ytd,
                     "s_ytd of stock");
    hf_count_expect(b->p, "NCR2", &b->state->lines, 0, orders,
                    "sum of s_order_cnt");
    for (uint64_t i = 0; i < b->orders.n; i++) {
        int64_t carrier = hf_grid_row(&b->orders, i)[O_CARRIER];

        if (carrier >= 1 && carrier <= (int64_t)TPCC_CARRIERS)
            carriers[carrier]++;
    }
    for (unsigned i = 1; i <= TPCC_CARRIERS; i++)
        hf_count_expect(b->p, "NCR6", &b->state->carriers[i], 0, carriers[i],
                        "orders of carrier %u", i);
}

static void check_book(book *b)
{
    b->paid = HF_NEW_ZEROED(int64_t, b->customers.n + 1);
    b->delivered = HF_NEW_ZEROED(int64_t, b->customers.n + 1);
    for (uint64_t i = 0; i < b->warehouses.n; i++)
        check_warehouse(b, hf_grid_row(&b->warehouses, i));
    for (uint64_t i = 0; i < b->districts.n; i++)
        check_district(b, hf_grid_row(&b->districts, i));
    check_orders(b);
    check_customers(b);
    if (b->exact) {
        check_customer_log(b);
        check_order_log(b);
    }
    hf_free(b->paid);
    hf_free(b->delivered);
}

void hf_tpcc_check(hf_play *p, hf_client *c)
{
    book b = {.p = p,
              .state = hf_play_state(p),
              .s = hf_tpcc_scale(p),
              .exact = hf_memo_exact(c)};

    if (hf_grid_read(c, &all_warehouses, &b.warehouses) &&
        hf_grid_read(c, &all_districts, &b.districts) &&
        hf_grid_read(c, &all_customers, &b.customers) &&
        hf_grid_read(c, &all_history, &b.history) &&
        hf_grid_read(c, &all_orders, &b.orders) &&
        hf_grid_read(c, &all_new_orders, &b.new_orders) &&
        hf_grid_read(c, &all_lines, &b.lines) &&
        hf_grid_read(c, &all_stock, &b.stock))
        check_book(&b);
    hf_grid_release(&b.warehouses);
    hf_grid_release(&b.districts);
    hf_grid_release(&b.customers);
    hf_grid_release(&b.history);
    hf_grid_release(&b.orders);
    hf_grid_release(&b.new_orders);
    hf_grid_release(&b.lines);
    hf_grid_release(&b.stock);
}

/* tpcc_load.c: the tables of TPC-C and their rows (WORKLOADS.md 6.1, 6.2).
 *
 * No foreign keys: they would lock what the transactions do not touch.
 * history has a surrogate key; loaded rows have negative ones.
 */
#include <stdio.h>

#include "base/mem.h"
#include "workload/tpcc.h"

const char *const hf_tpcc_tables[] = {
    "CREATE TABLE warehouse (w_id BIGINT PRIMARY KEY, w_ytd BIGINT NOT NULL, "
    "w_tax INT NOT NULL, w_name VARCHAR(10) NOT NULL, "
    "w_street_1 VARCHAR(20) NOT NULL, w_street_2 VARCHAR(20) NOT NULL, "
    "w_city VARCHAR(20) NOT NULL, w_state VARCHAR(2) NOT NULL, "
    "w_zip VARCHAR(9) NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE district (d_w_id BIGINT NOT NULL, d_id BIGINT NOT NULL, "
    "d_ytd BIGINT NOT NULL, d_tax INT NOT NULL, d_next_o_id BIGINT NOT NULL, "
    "d_name VARCHAR(10) NOT NULL, d_street_1 VARCHAR(20) NOT NULL, "
    "d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL, "
    "d_state VARCHAR(2) NOT NULL, d_zip VARCHAR(9) NOT NULL, "
    "_tag BIGINT NOT NULL, PRIMARY KEY (d_w_id, d_id))",
    "CREATE TABLE customer (c_w_id BIGINT NOT NULL, c_d_id BIGINT NOT NULL, "
    "c_id BIGINT NOT NULL, c_discount INT NOT NULL, "
    "c_credit VARCHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, "
    "c_first VARCHAR(16) NOT NULL, c_credit_lim BIGINT NOT NULL, "
    "c_balance BIGINT NOT NULL, c_ytd_payment BIGINT NOT NULL, "
    "c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL, "
    "c_street_1 VARCHAR(20) NOT NULL, c_street_2 VARCHAR(20) NOT NULL, "
    "c_city VARCHAR(20) NOT NULL, c_state VARCHAR(2) NOT NULL, "
    "c_zip VARCHAR(9) NOT NULL, c_phone VARCHAR(16) NOT NULL, "
    "c_since BIGINT NOT NULL, c_middle VARCHAR(2) NOT NULL, "
    "c_data VARCHAR(500) NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (c_w_id, c_d_id, c_id))",
    "CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first)",
    "CREATE TABLE history (h_id BIGINT PRIMARY KEY, h_c_id BIGINT NOT NULL, "
    "h_c_d_id BIGINT NOT NULL, h_c_w_id BIGINT NOT NULL, "
    "h_d_id BIGINT NOT NULL, h_w_id BIGINT NOT NULL, h_date BIGINT NOT NULL, "
    "h_amount BIGINT NOT NULL, h_data VARCHAR(24) NOT NULL, "
    "_tag BIGINT NOT NULL)",
    "CREATE TABLE oorder (o_w_id BIGINT NOT NULL, o_d_id BIGINT NOT NULL, "
    "o_id BIGINT NOT NULL, o_c_id BIGINT NOT NULL, o_carrier_id BIGINT, "
    "o_ol_cnt INT NOT NULL, o_all_local INT NOT NULL, "
    "o_entry_d BIGINT NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (o_w_id, o_d_id, o_id))",
    "CREATE UNIQUE INDEX oorder_customer ON oorder (o_w_id, o_d_id, o_c_id, "
    "o_id)",
    "CREATE TABLE new_order (no_w_id BIGINT NOT NULL, no_d_id BIGINT NOT NULL, "
    "no_o_id BIGINT NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
    "CREATE TABLE order_line (ol_w_id BIGINT NOT NULL, ol_d_id BIGINT NOT "
    "NULL, ol_o_id BIGINT NOT NULL, ol_number BIGINT NOT NULL, "
    "ol_i_id BIGINT NOT NULL, ol_delivery_d BIGINT, ol_amount BIGINT NOT NULL, "
    "ol_supply_w_id BIGINT NOT NULL, ol_quantity INT NOT NULL, "
    "ol_dist_info VARCHAR(24) NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
    "CREATE TABLE item (i_id BIGINT PRIMARY KEY, i_name VARCHAR(24) NOT NULL, "
    "i_price BIGINT NOT NULL, i_data VARCHAR(50) NOT NULL, "
    "i_im_id BIGINT NOT NULL, _tag BIGINT NOT NULL)",
    "CREATE TABLE stock (s_w_id BIGINT NOT NULL, s_i_id BIGINT NOT NULL, "
    "s_quantity INT NOT NULL, s_ytd BIGINT NOT NULL, "
    "s_order_cnt INT NOT NULL, s_remote_cnt INT NOT NULL, "
    "s_data VARCHAR(50) NOT NULL, s_dist_01 VARCHAR(24) NOT NULL, "
    "s_dist_02 VARCHAR(24) NOT NULL, s_dist_03 VARCHAR(24) NOT NULL, "
    "s_dist_04 VARCHAR(24) NOT NULL, s_dist_05 VARCHAR(24) NOT NULL, "
    "s_dist_06 VARCHAR(24) NOT NULL, s_dist_07 VARCHAR(24) NOT NULL, "
    "s_dist_08 VARCHAR(24) NOT NULL, s_dist_09 VARCHAR(24) NOT NULL, "
    "s_dist_10 VARCHAR(24) NOT NULL, _tag BIGINT NOT NULL, "
    "PRIMARY KEY (s_w_id, s_i_id))",
    NULL};

tpcc_scale hf_tpcc_scale(const hf_play *p)
{
    tpcc_scale s;

    s.warehouses = hf_option(p, "warehouses");
    s.districts = hf_option(p, "districts");
    s.customers = hf_option(p, "customers");
    s.items = hf_option(p, "items");
    s.first_new = hf_option(p, "first-new");
    if (s.first_new == 0)
        s.first_new = s.customers * 7 / 10 + 1;
    s.names = s.customers < 3000 ? s.customers / 3 : 1000;
    if (s.names < 1)
        s.names = 1;
    return s;
}

void hf_tpcc_last_name(int64_t n, char name[20])
{
    static const char *const syllables[] = {"BAR",   "OUGHT", "ABLE", "PRI",
                                            "PRES",  "ESE",   "ANTI", "CALLY",
                                            "ATION", "EING"};

    snprintf(name, 20, "%s%s%s", syllables[n / 100 % 10],
             syllables[n / 10 % 10], syllables[n % 10]);
}

/* What loading goes by. */
typedef struct loading {
    hf_play *p;
    tpcc_state *state;
    tpcc_scale s;
    hf_rng rng;
    int64_t history; /* rows so far */
    int64_t *order;  /* customers of a district in the order they order */
    hf_error *err;
} loading;

/* Random texts of fixed lengths; of one row. */
typedef struct texts {
    char of[16][51];
} texts;

static hf_sql_value text(loading *l, texts *t, unsigned i, size_t length)
{
    return hf_t(hf_letters(t->of[i], length, hf_rng_next(&l->rng)));
}

/* i_data and s_data: one in ten says it is original. */
static hf_sql_value data(loading *l, texts *t, unsigned i)
{
    size_t length = (size_t)hf_uniform(&l->rng, 26, 50);

    hf_letters(t->of[i], length, hf_rng_next(&l->rng));
    if (hf_coin(&l->rng, 10))
        memcpy(t->of[i] + hf_uniform(&l->rng, 0, (int64_t)length - 8),
               "ORIGINAL", 8);
    return hf_t(t->of[i]);
}

static hf_status load_items(loading *l)
{
    hf_status st = HF_OK;
    texts t;

    for (int64_t i = 1; i <= l->s.items && st == HF_OK; i++)
        st = HF_LOAD(l->p, "item", l->err, hf_i(i), text(l, &t, 0, 14),
                     hf_i(hf_uniform(&l->rng, 100, 10000)), data(l, &t, 1),
                     hf_i(hf_uniform(&l->rng, 1, 10000)), hf_tag());
    return st;
}

static hf_status load_stock(loading *l, int64_t w)
{
    hf_status st = HF_OK;
    texts t;

    for (int64_t i = 1; i <= l->s.items && st == HF_OK; i++) {
        hf_sql_value row[18] = {
            hf_i(w),       hf_i(i), hf_i(hf_uniform(&l->rng, 10, 100)),
            hf_i(0),       hf_i(0), hf_i(0),
            data(l, &t, 0)};

        for (unsigned d = 0; d < 10; d++)
            row[7 + d] = text(l, &t, 1 + d, 24);
        row[17] = hf_tag();
        st = hf_play_row(l->p, "stock", row, 18, l->err);
    }
    return st;
}

static hf_status load_customer(loading *l, int64_t w, int64_t d, int64_t c)
{
    int64_t object = tpcc_customer(&l->s, w, d, c);
    bool bad = hf_coin(&l->rng, 10);
    char last[20];
    hf_status st;
    texts t;

    hf_tpcc_last_name(
        c <= l->s.names ? c - 1 : hf_nurand(&l->rng, 255, 0, 999, 157), last);
    hf_count_add(hf_ledger_of(&l->state->payments, object), 1, true);
    hf_count_add(hf_ledger_of(&l->state->paid, object), 1000, true);
    st = HF_LOAD(l->p, "customer", l->err, hf_i(w), hf_i(d), hf_i(c),
                 hf_i(hf_uniform(&l->rng, 1, 5000)), hf_t(bad ? "BC" : "GC"),
                 hf_t(last), text(l, &t, 0, 12), hf_i(5000000), hf_i(-1000),
                 hf_i(1000), hf_i(1), hf_i(0), text(l, &t, 1, 15),
                 text(l, &t, 2, 15), text(l, &t, 3, 15), text(l, &t, 4, 2),
                 hf_t("123411111"), hf_t("0123456789012345"), hf_i(0),
                 hf_t("OE"), text(l, &t, 5, 50), hf_tag());
    if (st != HF_OK)
        return st;
    return HF_LOAD(l->p, "history", l->err, hf_i(-++l->history), hf_i(c),
                   hf_i(d), hf_i(w), hf_i(d), hf_i(w), hf_i(0), hf_i(1000),
                   text(l, &t, 6, 20), hf_tag());
}

static hf_status load_order(loading *l, int64_t w, int64_t d, int64_t o)
{
    bool is_new = o >= l->s.first_new;
    int64_t carrier = hf_uniform(&l->rng, 1, TPCC_CARRIERS);
    int64_t lines = hf_uniform(&l->rng, 5, TPCC_MOST_LINES);
    hf_sql_value null = hf_sql_null();
    hf_status st;
    texts t;

    if (!is_new)
        hf_count_add(&l->state->carriers[carrier], 1, true);
    st = HF_LOAD(l->p, "oorder", l->err, hf_i(w), hf_i(d), hf_i(o),
                 hf_i(l->order[o - 1]), is_new ? null : hf_i(carrier),
                 hf_i(lines), hf_i(1), hf_i(0), hf_tag());
    for (int64_t i = 1; i <= lines && st == HF_OK; i++)
        st = HF_LOAD(l->p, "order_line", l->err, hf_i(w), hf_i(d), hf_i(o),
                     hf_i(i), hf_i(hf_uniform(&l->rng, 1, l->s.items)),
                     is_new ? null : hf_i(0),
                     hf_i(is_new ? hf_uniform(&l->rng, 1, 999999) : 0), hf_i(w),
                     hf_i(5), text(l, &t, 0, 24), hf_tag());
    if (is_new && st == HF_OK)
        st = HF_LOAD(l->p, "new_order", l->err, hf_i(w), hf_i(d), hf_i(o),
                     hf_tag());
    return st;
}

static void shuffle(loading *l)
{
    int64_t n = l->s.customers;

    for (int64_t i = 0; i < n; i++)
        l->order[i] = i + 1;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = hf_uniform(&l->rng, 0, i), was = l->order[i];

        l->order[i] = l->order[j];
        l->order[j] = was;
    }
}

static hf_status load_district(loading *l, int64_t w, int64_t d)
{
    int64_t n = l->s.customers;
    hf_status st;
    texts t;

    st = HF_LOAD(l->p, "district", l->err, hf_i(w), hf_i(d), hf_i(1000 * n),
                 hf_i(hf_uniform(&l->rng, 0, 2000)), hf_i(n + 1),
                 text(l, &t, 0, 8), text(l, &t, 1, 15), text(l, &t, 2, 15),
                 text(l, &t, 3, 15), text(l, &t, 4, 2), hf_t("123411111"),
                 hf_tag());
    for (int64_t c = 1; c <= n && st == HF_OK; c++)
        st = load_customer(l, w, d, c);
    shuffle(l);
    for (int64_t o = 1; o <= n && st == HF_OK; o++)
        st = load_order(l, w, d, o);
    return st;
}

static hf_status load_warehouse(loading *l, int64_t w)
{
    hf_status st;
    texts t;

    st = HF_LOAD(l->p, "warehouse", l->err, hf_i(w),
                 hf_i(1000 * l->s.customers * l->s.districts),
                 hf_i(hf_uniform(&l->rng, 0, 2000)), text(l, &t, 0, 8),
                 text(l, &t, 1, 15), text(l, &t, 2, 15), text(l, &t, 3, 15),
                 text(l, &t, 4, 2), hf_t("123411111"), hf_tag());
    if (st == HF_OK)
        st = load_stock(l, w);
    for (int64_t d = 1; d <= l->s.districts && st == HF_OK; d++)
        st = load_district(l, w, d);
    return st;
}

hf_status hf_tpcc_load(hf_play *p, hf_error *err)
{
    loading l = {
        .p = p, .state = hf_play_state(p), .s = hf_tpcc_scale(p), .err = err};
    hf_status st;

    if (l.s.first_new > l.s.customers + 1)
        return hf_fail(err, HF_ERR_INPUT,
                       "option \"first-new\" is above the number of customers "
                       "per district, who have one order each");
    hf_rng_seed(&l.rng, 6);
    l.order = HF_NEW_ARRAY(int64_t, (size_t)l.s.customers);
    st = load_items(&l);
    for (int64_t w = 1; w <= l.s.warehouses && st == HF_OK; w++)
        st = load_warehouse(&l, w);
    hf_free(l.order);
    return st;
}

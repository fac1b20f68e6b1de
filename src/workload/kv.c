/* kv.c: one table of keys and values, see kv.h. */
#include "workload/kv.h"

#include <inttypes.h>
#include <math.h>

#include "workload/play.h"

#define MAX_BREACHES 20u /* of one check */

const char *const hf_kv_tables[] = {
    "CREATE TABLE kv (k BIGINT PRIMARY KEY, v BIGINT NOT NULL, "
    "_tag BIGINT NOT NULL)",
    NULL};

const hf_step hf_kv_read_step = {"SELECT _tag, v FROM kv WHERE k = $1",
                                 HF_STEP_READ, .table = "kv", .keys = {1}};
const hf_step hf_kv_insert_step = {
    "INSERT INTO kv (k, v, _tag) VALUES ($1, $2, $3)", HF_STEP_INSERT,
    .table = "kv", .keys = {1}, .tag = 3};
const hf_step hf_kv_upsert_step = {
    "INSERT INTO kv (k, v, _tag) VALUES ($1, $2, $3) "
    "ON CONFLICT (k) DO UPDATE SET v = $2, _tag = $3",
    HF_STEP_UPSERT,
    .table = "kv",
    .keys = {1},
    .tag = 3,
    .blind = true};
const hf_step hf_kv_update_step = {
    "UPDATE kv SET v = $2, _tag = $3 WHERE k = $1",
    HF_STEP_UPDATE,
    .table = "kv",
    .keys = {1},
    .tag = 3,
    .blind = true};
static const hf_step add_step = {
    "UPDATE kv SET _tag = _tag + $3, v = v + $2 WHERE k = $1 AND _tag = $4",
    HF_STEP_UPDATE,
    .table = "kv",
    .keys = {1},
    .tag = 3,
    .guard = 4};
const hf_step hf_kv_delete_step = {"DELETE FROM kv WHERE k = $1",
                                   HF_STEP_DELETE, .table = "kv", .keys = {1}};

bool hf_kv_look(hf_client *c, int64_t k, hf_kv_row *ret)
{
    const hf_sql_result *rows;

    if (!HF_STEP(c, hf_kv_read_step, &rows, hf_i(k)))
        return false;
    *ret = (hf_kv_row){.k = k, .found = rows->n_rows > 0};
    if (ret->found) {
        ret->tag = hf_cell(rows, 0, 0);
        ret->v = hf_cell(rows, 0, 1);
    }
    return true;
}

bool hf_kv_get(hf_client *c, int64_t k, int64_t *ret_v, bool *ret_found)
{
    hf_kv_row row;

    if (!hf_kv_look(c, k, &row))
        return false;
    *ret_found = row.found;
    *ret_v = row.v;
    return true;
}

bool hf_kv_add(hf_client *c, const hf_kv_row *row, int64_t by, bool by_database)
{
    const hf_sql_result *done;

    if (!by_database)
        return hf_kv_set(c, row->k, row->v + by);
    if (!HF_STEP(c, add_step, &done, hf_i(row->k), hf_i(by), hf_tag(),
                 hf_i(row->tag)))
        return false;
    if (done->affected == 0)
        hf_client_give_up(c, "another one wrote the row meanwhile");
    return done->affected > 0;
}

bool hf_kv_insert(hf_client *c, int64_t k, int64_t v)
{
    return HF_STEP(c, hf_kv_insert_step, NULL, hf_i(k), hf_i(v), hf_tag());
}

bool hf_kv_put(hf_client *c, int64_t k, int64_t v)
{
    return HF_STEP(c, hf_kv_upsert_step, NULL, hf_i(k), hf_i(v), hf_tag());
}

bool hf_kv_set(hf_client *c, int64_t k, int64_t v)
{
    return HF_STEP(c, hf_kv_update_step, NULL, hf_i(k), hf_i(v), hf_tag());
}

hf_status hf_kv_load(hf_play *p, int64_t k, int64_t v, hf_error *err)
{
    return HF_LOAD(p, "kv", err, hf_i(k), hf_i(v), hf_tag());
}

/* ---- choosing keys ------------------------------------------------------- */

enum { UNIFORM, ZIPF, HOTSPOT, EXPONENTIAL };

void hf_chooser_init(hf_chooser *h, const hf_play *p, int64_t n)
{
    double theta = hf_play_option(p, "theta");

    h->n = n;
    h->distribution = (unsigned)hf_option(p, "distribution");
    if (h->distribution == UNIFORM && theta > 0)
        h->distribution = ZIPF;
    h->hot = (int64_t)ceil((double)n * hf_play_option(p, "hot-keys") / 100);
    if (h->hot < 1)
        h->hot = 1;
    h->hot_percent = hf_play_option(p, "hot-operations");
    if (h->distribution == ZIPF)
        hf_zipf_init(&h->zipf, n, theta > 0 ? theta : 0.99);
}

int64_t hf_choose(const hf_chooser *h, hf_rng *r)
{
    switch (h->distribution) {
    case ZIPF:
        return hf_zipf_draw(&h->zipf, r);
    case HOTSPOT:
        if (h->hot >= h->n)
            break;
        return hf_coin(r, h->hot_percent) ? hf_uniform(r, 0, h->hot - 1)
                                          : hf_uniform(r, h->hot, h->n - 1);
    case EXPONENTIAL: /* key i+1 is half as likely as key i */
        for (;;) {
            int64_t k = __builtin_ctzll(hf_rng_next(r) | 1ull << 62);

            if (k < h->n)
                return k;
        }
    default:
        break;
    }
    return hf_uniform(r, 0, h->n - 1);
}

static bool is_in(const int64_t *keys, unsigned n, int64_t k)
{
    for (unsigned i = 0; i < n; i++)
        if (keys[i] == k)
            return true;
    return false;
}

unsigned hf_choose_some(const hf_chooser *h, hf_rng *r, unsigned n,
                        int64_t *ret)
{
    if ((int64_t)n > h->n)
        n = (unsigned)h->n;
    for (unsigned i = 0; i < n; i++) {
        int64_t k = hf_choose(h, r);

        for (unsigned tries = 0; tries < 20 && is_in(ret, i, k); tries++)
            k = hf_choose(h, r);
        while (is_in(ret, i, k)) /* a very uneven choice: the next that is
                                    free */
            k = (k + 1) % h->n;
        ret[i] = k;
    }
    return n;
}

/* ---- values that tell their key ------------------------------------------ */

int64_t hf_kv_value(hf_rng *r, int64_t k, int64_t n)
{
    return k % n + n * (int64_t)(hf_rng_next(r) >> 34);
}

void hf_kv_judge(hf_play *p, const char *name, int64_t k, int64_t v, int64_t n)
{
    if (v < 0 || v % n != k % n)
        hf_play_breach(p, name,
                       "key %" PRId64 ": expected a value that is %" PRId64
                       " modulo %" PRId64 ", found %" PRId64,
                       k, k % n, n, v);
}

hf_status hf_kv_load_all(hf_play *p, int64_t n, hf_error *err)
{
    hf_status st = HF_OK;

    for (int64_t k = 0; k < n && st == HF_OK; k++)
        st = hf_kv_load(p, k, k, err);
    return st;
}

void hf_kv_check_all(hf_play *p, hf_client *c, int64_t n)
{
    uint64_t before = hf_play_breaches(p);
    int64_t v;
    bool found;

    for (int64_t k = 0; k < n; k++) {
        if (hf_play_breaches(p) - before >= MAX_BREACHES ||
            !hf_kv_get(c, k, &v, &found))
            return;
        if (!found)
            hf_play_breach(p, "KV1",
                           "key %" PRId64 ": expected a row, found none", k);
        else
            hf_kv_judge(p, "KV2", k, v, n);
    }
}

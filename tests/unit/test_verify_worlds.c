/* Random tiny histories under random assumptions: what verify says of orders
 * is compared with the definitions, written down again here, and no history
 * may have both an order that is accepted and an anomaly that is.
 *
 * Values are unique, so that a witness needs no sources, and all orders of
 * the transactions can be tried. */
#include "base/rng.h"
#include "verify_ask.h"

#define MOST_TXNS 4
#define HISTORIES 1000

static hf_rng rng;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)(hf_rng_next(&rng) % n);
}

/* ---- histories ----------------------------------------------------------- */

typedef struct kit {
    hf_builder *b;
    hf_key_id keys[2];
    uint32_t n_keys, n_txns;
    bool lists;
    int64_t n_values;
    /* written so far, by key */
    hf_value_id written[2][32];
    uint32_t n_written[2];
    bool writes[MOST_TXNS][2];
    bool aborted[MOST_TXNS], any_aborted;
} kit;

static void add_write_to(kit *k, hf_txn_id t, uint32_t x)
{
    hf_value_id value = hf_builder_int(k->b, k->keys[x], ++k->n_values);

    hf_builder_op(k->b, t, k->lists ? HF_OP_APPEND : HF_OP_WRITE, k->keys[x],
                  value);
    k->written[x][k->n_written[x]++] = value;
    k->writes[t][x] = true;
}

static void add_write(kit *k, hf_txn_id t)
{
    add_write_to(k, t, pick(k->n_keys));
}

/* Values of all writes are known by now: reads come in a second round, in
 * transactions of their own or before the end of others. */
static void add_read(kit *k, hf_txn_id t)
{
    uint32_t x = pick(k->n_keys), n = k->n_written[x];
    hf_key_id key = k->keys[x];
    hf_value_id value = hf_builder_nil(k->b, key);

    if (k->lists) {
        uint32_t length = pick(n + 1), from = n > 0 ? pick(n) : 0;

        for (uint32_t i = 0; i < length; i++)
            value = hf_builder_list(k->b, key, value,
                                    k->written[x][(from + i) % n]);
        hf_builder_op(k->b, t, HF_OP_READ_LIST, key, value);
        return;
    }
    if (n > 0 && pick(3) > 0)
        value = k->written[x][pick(n)];
    hf_builder_op(k->b, t, HF_OP_READ, key, value);
}

static void add_recorded(kit *k)
{
    uint32_t at = pick(k->n_txns);

    if (pick(2) == 0)
        for (hf_txn_id t = 0; t < k->n_txns; t++) {
            uint64_t start = 1 + pick(6);

            if (pick(8) > 0)
                hf_builder_timestamps(
                    k->b, t, start,
                    start + (k->writes[t][0] || k->writes[t][1]) + pick(4));
        }
    for (uint32_t i = 0; i < k->n_txns && pick(3) > 0; i++)
        hf_builder_serial(k->b, (at + i) % k->n_txns);
    for (uint32_t x = 0; x < k->n_keys && pick(3) == 0; x++)
        for (uint32_t i = 0; i < k->n_txns; i++)
            if (k->writes[(at + i) % k->n_txns][x] && pick(4) > 0)
                hf_builder_order(k->b, k->keys[x], (at + i) % k->n_txns);
}

static void add_transaction(kit *k)
{
    hf_txn_id t =
        hf_builder_txn(k->b, hf_builder_session_number(k->b, pick(3)));
    uint32_t outcome = pick(10);
    uint64_t begin = pick(12);

    if (outcome < 2)
        hf_builder_outcome(k->b, t, outcome ? HF_ABORTED : HF_UNKNOWN_OUTCOME);
    k->aborted[t] = outcome == 1;
    k->any_aborted |= outcome == 1;
    if (pick(4) > 0)
        hf_builder_times(k->b, t, begin, begin + pick(6));
}

/* Anything may be read. */
static void fill_at_random(kit *k)
{
    for (hf_txn_id t = 0; t < k->n_txns; t++)
        for (uint32_t w = 0; w < 4 && pick(3) > 0; w++)
            add_write(k, t);
    for (uint32_t i = 0; i < 2 * k->n_txns; i++)
        add_read(k, pick(k->n_txns));
    for (hf_txn_id t = 0; t < k->n_txns && pick(2); t++)
        add_write(k, t);
}

/* One after the other, with a mistake now and then. */
static void fill_in_order(kit *k)
{
    hf_value_id state[2];

    for (uint32_t x = 0; x < k->n_keys; x++)
        state[x] = hf_builder_nil(k->b, k->keys[x]);
    for (hf_txn_id t = 0; t < k->n_txns; t++) {
        hf_value_id kept[2] = {state[0], state[k->n_keys - 1]};

        for (uint32_t i = pick(4); i < 4; i++) {
            uint32_t x = pick(k->n_keys), n = k->n_written[x];

            if (pick(2) == 0) {
                if (pick(16) > 0)
                    hf_builder_op(k->b, t,
                                  k->lists ? HF_OP_READ_LIST : HF_OP_READ,
                                  k->keys[x], state[x]);
                else
                    add_read(k, t);
                continue;
            }
            add_write_to(k, t, x);
            state[x] = k->lists ? hf_builder_list(k->b, k->keys[x], state[x],
                                                  k->written[x][n])
                                : k->written[x][n];
        }
        for (uint32_t x = 0; x < k->n_keys && k->aborted[t]; x++)
            state[x] = kept[x];
    }
}

static hf_history *random_history(void)
{
    kit k = {.b = hf_builder_new(), .n_keys = 1 + pick(2)};
    hf_history *h = NULL;
    hf_error err;

    k.lists = pick(3) == 0;
    k.n_txns = 2 + pick(MOST_TXNS - 1);
    for (uint32_t x = 0; x < k.n_keys; x++)
        k.keys[x] = hf_builder_key_int(k.b, x);
    for (uint32_t i = 0; i < k.n_txns; i++)
        add_transaction(&k);
    if (pick(2))
        fill_at_random(&k);
    else
        fill_in_order(&k);
    if (!k.any_aborted)
        add_recorded(&k);
    hf_builder_unique_values(k.b, pick(2));
    assert_int_equal(hf_builder_finish(k.b, &h, &err), HF_OK);
    return h;
}

/* ---- orders -------------------------------------------------------------- */

static bool accepts(const hf_history *h, const hf_claim *claim)
{
    hf_verification v;
    hf_error err;

    assert_int_equal(hf_verify_claim(h, claim, NULL, &v, &err), HF_OK);
    return v.accepted;
}

/* Calls `tell` for every order of the transactions that may have happened (of
 * their starts and commits, for snapshots); stops when it returns true. */
typedef struct orders {
    const hf_history *h;
    hf_claim claim;
    uint32_t order[2 * MOST_TXNS];
    unsigned in, started; /* sets of transactions */
    bool (*tell)(struct orders *o);
    uint32_t n_accepted;
} orders;

static bool each_order(orders *o, uint32_t n, unsigned left)
{
    bool events = o->claim.witness.kind == HF_WITNESS_SNAPSHOT;

    if (left == 0) {
        o->claim.witness.n_order = n;
        return o->tell(o);
    }
    for (hf_txn_id t = 0; t < o->h->n_txns; t++) {
        unsigned bit = 1u << t;
        bool start = events && !(o->started & bit);

        if (!(left & bit))
            continue;
        o->order[n] = events ? 2 * t + !start : t;
        o->started |= bit;
        if (each_order(o, n + 1, start ? left : left & ~bit))
            return true;
        if (start)
            o->started &= ~bit;
        else if (!events)
            o->started &= ~bit;
    }
    return false;
}

static bool each_world(orders *o)
{
    unsigned committed = 0, unknown = 0;

    for (hf_txn_id t = 0; t < o->h->n_txns; t++) {
        if (o->h->txn_outcome[t] == HF_COMMITTED)
            committed |= 1u << t;
        if (o->h->txn_outcome[t] == HF_UNKNOWN_OUTCOME)
            unknown |= 1u << t;
    }
    o->claim.verdict = HF_VALID;
    o->claim.witness.order = o->order;
    for (unsigned some = unknown;; some = (some - 1) & unknown) {
        o->in = committed | some;
        o->started = 0;
        if (each_order(o, 0, o->in))
            return true;
        if (some == 0)
            return false;
    }
}

static hf_witness_kind kind_for(hf_level level)
{
    switch (hf_level_get(level)->shape) {
    case HF_SHAPE_SNAPSHOT:
        return HF_WITNESS_SNAPSHOT;
    case HF_SHAPE_SERIAL:
    case HF_SHAPE_ITEM:
        return HF_WITNESS_SERIAL;
    default:
        return HF_WITNESS_COMMIT;
    }
}

static bool tell_accepted(orders *o)
{
    return accepts(o->h, &o->claim);
}

static bool has_order(const hf_history *h, hf_level level, unsigned rests)
{
    orders o = {.h = h,
                .claim = {.level = level, .witness = {.rests = rests}},
                .tell = tell_accepted};

    o.claim.witness.kind = kind_for(level);
    /* recorded timestamps say nothing about other orders */
    if (o.claim.witness.kind != HF_WITNESS_SNAPSHOT)
        o.claim.witness.rests &= ~HF_REST_TIMESTAMPS;
    return each_world(&o);
}

/* ---- the definitions again ----------------------------------------------- */

/* Versions are numbered by their writer's place in the order, from 1; the
 * initial one is 0; -1: none. */
typedef struct touch {
    hf_txn_id t;
    hf_key_id key;
    int version;
    bool read;
} touch;

typedef struct touches {
    touch at[64];
    uint32_t n;
    int place[MOST_TXNS];
} touches;

static bool is_write(const hf_history *h, hf_op_id op)
{
    return hf_op_installs(hf_op_kind_of(h, op));
}

static bool writes_between(const hf_history *h, hf_op_id from, hf_op_id to,
                           hf_key_id key)
{
    for (hf_op_id op = from; op < to; op++)
        if (h->op_key[op] == key && is_write(h, op))
            return true;
    return false;
}

/* The version whose value it is; lists: whose last element it ends in. */
static int version_of(const hf_history *h, const touches *s, hf_txn_id reader,
                      hf_value_id value)
{
    if (h->value_type[value] == HF_NIL)
        return 0;
    if (h->value_type[value] == HF_LIST)
        value = hf_list_last(h, value);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_txn_id t = hf_op_txn(h, op);

        if (is_write(h, op) && h->op_value[op] == value)
            return t == reader || writes_between(h, op + 1, h->op_first[t + 1],
                                                 h->op_key[op])
                       ? -1
                       : s->place[t];
    }
    return -1;
}

static void find_touches(const orders *o, touches *s)
{
    const hf_history *h = o->h;
    int n = 0;

    *s = (touches){.n = 0};
    for (hf_txn_id t = 0; t < MOST_TXNS; t++)
        s->place[t] = -1;
    for (uint32_t i = 0; i < o->claim.witness.n_order; i++) {
        bool events = o->claim.witness.kind == HF_WITNESS_SNAPSHOT;

        if (!events)
            s->place[o->order[i]] = ++n;
        else if (o->order[i] % 2)
            s->place[o->order[i] / 2] = ++n;
    }
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_txn_id t = hf_op_txn(h, op);
        hf_key_id key = h->op_key[op];
        int version = s->place[t];
        bool read = !is_write(h, op);

        if (version < 0 ||
            (read ? writes_between(h, h->op_first[t], op, key)
                  : writes_between(h, op + 1, h->op_first[t + 1], key)))
            continue;
        if (read)
            version = version_of(h, s, t, h->op_value[op]);
        if (version >= 0)
            s->at[s->n++] = (touch){t, key, version, read};
    }
}

static bool has_lists(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            return true;
    return false;
}

/* Is a's version before b's by one of the assumptions? */
static bool is_before(const hf_history *h, unsigned rests, const touch *a,
                      const touch *b)
{
    const hf_certificate *c = &h->cert;
    uint32_t place[2] = {HF_NONE, HF_NONE};

    if ((rests & HF_REST_LINEARIZABLE) && h->txn_begin &&
        h->txn_outcome[a->t] == HF_COMMITTED &&
        h->txn_end[a->t] != HF_TIME_NONE &&
        h->txn_begin[b->t] != HF_TIME_NONE &&
        h->txn_end[a->t] < h->txn_begin[b->t])
        return true;
    if ((rests & HF_REST_SEQUENTIAL) && a->t < b->t &&
        h->txn_session[a->t] == h->txn_session[b->t])
        return true;
    if ((rests & HF_REST_READS) && a->t == b->t && a->read && !b->read)
        return true;
    if (!(rests & HF_REST_ORDER) || a->read || b->read || has_lists(h) ||
        (c->order_first && c->order_first[a->key] < c->order_first[a->key + 1]))
        return false;
    for (uint32_t i = 0; i < c->n_serial; i++) {
        place[0] = c->serial[i] == a->t ? i : place[0];
        place[1] = c->serial[i] == b->t ? i : place[1];
    }
    if (c->n_serial > 0)
        return place[0] != HF_NONE && place[1] != HF_NONE &&
               place[0] < place[1];
    return c->commit_ts && c->commit_ts[a->t] != HF_TIME_NONE &&
           c->commit_ts[b->t] != HF_TIME_NONE &&
           c->commit_ts[a->t] < c->commit_ts[b->t];
}

static bool keeps(const orders *o, unsigned rests)
{
    touches s;

    find_touches(o, &s);
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t j = 0; j < s.n; j++)
            if (s.at[i].key == s.at[j].key &&
                s.at[i].version > s.at[j].version &&
                is_before(o->h, rests, &s.at[i], &s.at[j]))
                return false;
    return true;
}

/* With its assumptions an order is accepted exactly if it is without them
 * and keeps them. */
static bool tell_compared(orders *o)
{
    unsigned rests = o->claim.witness.rests;
    bool plain, with;

    o->claim.witness.rests = 0;
    plain = accepts(o->h, &o->claim);
    o->claim.witness.rests = rests;
    with = accepts(o->h, &o->claim);
    assert_int_equal(with, plain && keeps(o, rests));
    o->n_accepted += with;
    return false;
}

static void orders_keep_the_definitions(void **state)
{
    uint32_t n = 0;

    (void)state;
    hf_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        hf_history *h = random_history();
        orders o = {.h = h, .tell = tell_compared};

        o.claim.level =
            pick(2) ? (hf_level)pick(HF_LEVEL_COUNT) : HF_READ_UNCOMMITTED;
        o.claim.witness.kind = kind_for(o.claim.level);
        o.claim.witness.rests = 1u << pick(4) | 1u << pick(4);
        (void)each_world(&o);
        n += o.n_accepted > 0;
        hf_history_free(h);
    }
    assert_true(n > HISTORIES / 10);
}

/* ---- never both ---------------------------------------------------------- */

static bool shows(const hf_history *h, hf_level level, unsigned rests,
                  hf_anomaly anomaly, hf_op_id *ops, uint32_t n)
{
    hf_claim claim = {HF_INVALID,
                      level,
                      {.kind = HF_WITNESS_OPERATIONS,
                       .rests = rests,
                       .anomaly = anomaly,
                       .ops = ops,
                       .n_ops = n}};

    return accepts(h, &claim);
}

/* A circle of one or two pairs of operations. */
static bool has_circle(const hf_history *h, hf_level level, unsigned rests)
{
    hf_op_id ops[4];

    for (hf_op_id a = 0; a < h->n_ops; a++)
        for (hf_op_id b = 0; b < h->n_ops; b++) {
            ops[0] = a;
            ops[1] = b;
            if (h->op_key[a] != h->op_key[b])
                continue;
            if (shows(h, level, rests, HF_CYCLIC_VERSIONS, ops, 2))
                return true;
            for (uint32_t i = 0; i < 8; i++) {
                ops[2] = pick(h->n_ops);
                ops[3] = pick(h->n_ops);
                if (shows(h, level, rests, HF_CYCLIC_VERSIONS, ops, 4))
                    return true;
            }
        }
    return false;
}

static bool breaks_stamps(const hf_history *h, hf_level level)
{
    hf_op_id ops[2];

    for (hf_op_id a = 0; a < h->n_ops; a++)
        for (hf_op_id b = 0; b < h->n_ops; b++) {
            ops[0] = a;
            ops[1] = b;
            if (shows(h, level, HF_REST_TIMESTAMPS, HF_OUTSIDE_SNAPSHOT, ops,
                      2) ||
                shows(h, level, HF_REST_TIMESTAMPS, HF_CONCURRENT_WRITE, ops,
                      2))
                return true;
        }
    return false;
}

static bool random_edge(const hf_history *h, hf_edge *ret)
{
    static const hf_edge_kind kinds[] = {HF_EDGE_WW, HF_EDGE_WR, HF_EDGE_RW,
                                         HF_EDGE_WW};
    hf_op_id a = pick(h->n_ops), b = pick(h->n_ops);

    *ret = (hf_edge){
        kinds[pick(4)], hf_op_txn(h, a), hf_op_txn(h, b), h->op_key[a], a, b};
    return h->op_key[a] == h->op_key[b] && ret->from != ret->to &&
           is_write(h, a) == (ret->kind != HF_EDGE_RW) &&
           is_write(h, b) == (ret->kind != HF_EDGE_WR);
}

/* Two edges there and back, of the name they have. */
static bool has_cycle(const hf_history *h, hf_level level, unsigned rests)
{
    for (uint32_t i = 0; i < 400; i++) {
        hf_edge e[2];
        uint32_t anti, reads;
        hf_claim claim = {HF_INVALID,
                          level,
                          {.kind = HF_WITNESS_CYCLE,
                           .rests = rests,
                           .edges = e,
                           .n_edges = 2}};

        if (!random_edge(h, &e[0]) || !random_edge(h, &e[1]) ||
            e[0].from != e[1].to || e[0].to != e[1].from)
            continue;
        anti = (e[0].kind == HF_EDGE_RW) + (e[1].kind == HF_EDGE_RW);
        reads = (e[0].kind == HF_EDGE_WR) + (e[1].kind == HF_EDGE_WR);
        claim.witness.anomaly = anti == 2   ? HF_G2_ITEM
                                : anti == 1 ? HF_G_SINGLE_ITEM
                                : reads     ? HF_G1C
                                            : HF_G0;
        if (accepts(h, &claim))
            return true;
    }
    return false;
}

static void no_history_is_both(void **state)
{
    uint32_t n_valid = 0, n_circles = 0, n_cycles = 0, n_stamps = 0;

    (void)state;
    hf_rng_seed(&rng, 2);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        hf_history *h = random_history();
        hf_level level = pick(2)   ? (hf_level)pick(HF_LEVEL_COUNT)
                         : pick(2) ? HF_READ_UNCOMMITTED
                                   : HF_SNAPSHOT_ISOLATION;
        unsigned rests = pick(1u << HF_REST_COUNT);
        bool valid, circle, cycle, stamps;

        if (h->n_ops == 0) {
            hf_history_free(h);
            continue;
        }
        if (!h->cert.start_ts)
            rests &= ~HF_REST_TIMESTAMPS;
        valid = has_order(h, level, rests);
        circle = has_circle(h, level, rests);
        cycle = has_cycle(h, level, rests);
        stamps = (rests & HF_REST_TIMESTAMPS) && breaks_stamps(h, level);
        if (valid && (circle || cycle || stamps))
            fail_msg("history %u at %s, rests %x: valid and %s", (unsigned)i,
                     hf_level_get(level)->name, rests,
                     circle  ? "circle"
                     : cycle ? "cycle"
                             : "timestamps");
        n_valid += valid;
        n_circles += circle;
        n_cycles += cycle && !circle;
        n_stamps += stamps;
        hf_history_free(h);
    }
    assert_true(n_valid > 100);
    assert_true(n_circles > 50);
    assert_true(n_cycles > 20);
    assert_true(n_stamps > 10);
}

/* ---- timestamps decide --------------------------------------------------- */

/* Registers, all committed, at most one write of a key in a transaction, and
 * no read after it: the order of events by timestamps is accepted exactly if
 * no read is outside its snapshot and no two writes are concurrent. */
static hf_history *stamped_history(void)
{
    hf_builder *b = hf_builder_new();
    hf_key_id key = hf_builder_key_int(b, 0);
    uint32_t n = 2 + pick(MOST_TXNS - 1);
    hf_history *h = NULL;
    hf_error err;

    for (hf_txn_id i = 0; i < n; i++) {
        hf_txn_id t = hf_builder_txn(b, hf_builder_session_fresh(b));
        bool writes = pick(2) == 0;
        uint64_t start = 1 + pick(5);
        uint32_t from = pick(n + 1);

        hf_builder_timestamps(b, t, start, start + writes + pick(3));
        if (!writes || pick(2) == 0)
            hf_builder_op(b, t, HF_OP_READ, key,
                          from == n || from == t
                              ? hf_builder_nil(b, key)
                              : hf_builder_int(b, key, (int64_t)from + 1));
        if (writes)
            hf_builder_op(b, t, HF_OP_WRITE, key,
                          hf_builder_int(b, key, (int64_t)t + 1));
    }
    assert_int_equal(hf_builder_finish(b, &h, &err), HF_OK);
    return h;
}

static bool reads_garbage(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (shows(h, HF_SNAPSHOT_ISOLATION, 0, HF_GARBAGE_READ, &op, 1))
            return true;
    return false;
}

static void timestamps_decide(void **state)
{
    uint32_t n_valid = 0, n_broken = 0;

    (void)state;
    hf_rng_seed(&rng, 3);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        hf_history *h = stamped_history();

        if (!reads_garbage(h)) {
            bool valid =
                has_order(h, HF_SNAPSHOT_ISOLATION, HF_REST_TIMESTAMPS);

            assert_int_equal(valid, !breaks_stamps(h, HF_SNAPSHOT_ISOLATION));
            n_valid += valid;
            n_broken += !valid;
        }
        hf_history_free(h);
    }
    assert_true(n_valid > 100 && n_broken > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_keep_the_definitions),
        cmocka_unit_test(no_history_is_both),
        cmocka_unit_test(timestamps_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* mixes.c: King Cobra's three mixes against a store that tests for cycles.
 *
 * A simulation of events: every client has one open transaction, its next
 * operation comes after an exponentially distributed time, and its commit is
 * one more.  Reads are answered when they happen; writes are installed at the
 * commit, all at once.
 *
 * At the commit of T the committed transactions have a graph of dependencies
 * without a cycle.  T installs the latest versions, so its edges are few:
 *
 *   into T    from who wrote what it read or overwrites, from who read what
 *             it overwrites, and from the one before it in its session
 *   out of T  to who overwrote what it read, meanwhile
 *
 * T closes a cycle if one of the second can reach one of the first: a search
 * from the second, which mostly finds what committed since T began.  So the
 * cost of a commit grows with the number of clients, not with the history.
 *
 * Committed transactions are numbered in the order of their commits, and so
 * are versions: "at the time of my begin" is a comparison of numbers.
 */
#include "mixes.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "history/builder.h"
#include "workload/keys.h"

#define MOST_OPS 32u
#define UNIT_NS 1e6 /* mean time of an operation */

enum { DOES_READ = 1, DOES_WRITE = 2 };

typedef struct step {
    uint32_t key;
    uint32_t read;  /* version */
    uint32_t wrote; /* version; filled at the commit */
    uint32_t does;
} step;

typedef struct client {
    double now;    /* of its next event */
    double began;  /* its transaction */
    uint32_t seen; /* commits before that */
    uint32_t done; /* operations */
    uint32_t last; /* transaction it committed last; HF_NONE */
    step steps[MOST_OPS];
} client;

typedef struct version {
    uint32_t txn; /* HF_NONE: initial */
    uint32_t key;
    uint32_t older, newer; /* HF_NONE */
} version;

typedef struct link {
    uint32_t to, next;
} link;

typedef struct committed {
    double began, ended;
    uint32_t session;
    uint32_t links;   /* out of it; HF_NONE */
    uint32_t visited; /* by the search of this commit */
} committed;

typedef struct sim {
    const hf_mix_options *o;
    hf_rng rng;
    hf_keys keys;
    client *clients;
    uint32_t *heap; /* clients, the next event first */

    HF_VEC(committed) txns;
    HF_VEC(step) steps; /* o->ops of each */
    HF_VEC(version) versions;
    uint32_t *latest;  /* per key: version */
    uint32_t *readers; /* per key: of the latest version, in links */
    HF_VEC(link) links;

    HF_VEC(uint32_t) sources; /* of the transaction that commits */
    HF_VEC(uint32_t) targets;
    uint32_t search; /* number of the search */
} sim;

/* ---- names --------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned reads, writes; /* percent; the rest does both */
} mixes[HF_MIX_COUNT] = {
    [HF_MIX_RMW] = {"rmw", 25, 25},
    [HF_MIX_READ_WRITE] = {"read-write", 50, 50},
    [HF_MIX_HEAVY_WRITE] = {"heavy-write", 10, 80},
};

const char *hf_mix_name(hf_mix mix)
{
    return mixes[mix].name;
}

bool hf_mix_find(hf_str name, hf_mix *ret_mix)
{
    for (unsigned i = 0; i < HF_MIX_COUNT; i++)
        if (hf_str_eq(name, hf_str_of(mixes[i].name))) {
            *ret_mix = (hf_mix)i;
            return true;
        }
    return false;
}

hf_mix_options hf_mix_defaults(hf_mix mix, hf_mix_store store,
                               uint32_t transactions)
{
    return (hf_mix_options){.mix = mix,
                            .store = store,
                            .transactions = transactions,
                            .clients = 20,
                            .keys = 1000,
                            .ops = 8,
                            .seed = 1};
}

/* ---- events -------------------------------------------------------------- */

static void sift_down(sim *s, uint32_t at)
{
    uint32_t n = s->o->clients, c = s->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= n)
            break;
        if (child + 1 < n &&
            s->clients[s->heap[child + 1]].now < s->clients[s->heap[child]].now)
            child++;
        if (s->clients[s->heap[child]].now >= s->clients[c].now)
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = c;
}

static double later(sim *s)
{
    return -log(1 - hf_rng_unit(&s->rng));
}

static uint32_t draw_key(sim *s)
{
    return hf_keys_pick(&s->keys, (uint32_t)(hf_rng_next(&s->rng) >> 32),
                        &s->rng);
}

static uint32_t draw_does(sim *s)
{
    unsigned reads = mixes[s->o->mix].reads;
    unsigned writes = mixes[s->o->mix].writes;
    unsigned dice = hf_rng_below(&s->rng, 100);

    return dice < reads            ? DOES_READ
           : dice < reads + writes ? DOES_WRITE
                                   : DOES_READ | DOES_WRITE;
}

static void begin(sim *s, client *c)
{
    c->began = c->now;
    c->seen = (uint32_t)s->txns.n;
    c->done = 0;
    for (uint32_t i = 0; i < s->o->ops;) {
        uint32_t key = draw_key(s), j = 0;

        while (j < i && c->steps[j].key != key)
            j++;
        if (j == i)
            c->steps[i++] = (step){key, HF_NONE, HF_NONE, draw_does(s)};
    }
    c->now += later(s);
}

/* An operation happens: a read is answered. */
static void operate(sim *s, client *c)
{
    step *p = &c->steps[c->done++];
    const version *all = s->versions.at;
    uint32_t v = s->latest[p->key];

    if (s->o->store != HF_MIX_STORE_LATEST)
        while (all[v].txn != HF_NONE && all[v].txn >= c->seen)
            v = all[v].older;
    p->read = v;
    c->now += later(s);
}

/* ---- the test for cycles ------------------------------------------------- */

static void add_link(sim *s, uint32_t *list, uint32_t to)
{
    hf_vec_push(&s->links, (link){to, *list});
    *list = (uint32_t)s->links.n - 1;
}

/* Who comes before the transaction that commits, and who after it. */
static void find_neighbours(sim *s, const client *c)
{
    s->sources.n = s->targets.n = 0;
    if (c->last != HF_NONE)
        hf_vec_push(&s->sources, c->last);
    for (uint32_t i = 0; i < s->o->ops; i++) {
        const step *p = &c->steps[i];
        const version *all = s->versions.at;
        uint32_t latest = s->latest[p->key];

        if (p->does & DOES_READ) {
            if (all[p->read].txn != HF_NONE)
                hf_vec_push(&s->sources, all[p->read].txn);
            if (all[p->read].newer != HF_NONE)
                hf_vec_push(&s->targets, all[all[p->read].newer].txn);
        }
        if (!(p->does & DOES_WRITE))
            continue;
        if (all[latest].txn != HF_NONE)
            hf_vec_push(&s->sources, all[latest].txn);
        for (uint32_t l = s->readers[p->key]; l != HF_NONE;
             l = s->links.at[l].next)
            hf_vec_push(&s->sources, s->links.at[l].to);
    }
}

/* Can a target reach a source?  `targets` is the stack. */
static bool is_cycle(sim *s)
{
    committed *txns = s->txns.at;
    uint32_t wanted, seen;
    size_t n_targets = s->targets.n;

    if (n_targets == 0)
        return false;
    s->search += 2;
    wanted = s->search;
    seen = s->search + 1;
    for (size_t i = 0; i < s->sources.n; i++)
        txns[s->sources.at[i]].visited = wanted;
    for (size_t i = 0; i < n_targets; i++) {
        hf_vec_push(&s->targets, s->targets.at[i]);
        while (s->targets.n > n_targets) {
            uint32_t t = s->targets.at[--s->targets.n];

            if (txns[t].visited == wanted)
                return true;
            if (txns[t].visited == seen)
                continue;
            txns[t].visited = seen;
            for (uint32_t l = txns[t].links; l != HF_NONE;
                 l = s->links.at[l].next)
                if (txns[s->links.at[l].to].visited != seen)
                    hf_vec_push(&s->targets, s->links.at[l].to);
        }
    }
    s->targets.n = n_targets;
    return false;
}

static bool is_refused(sim *s, const client *c)
{
    if (s->o->store != HF_MIX_STORE_LATEST)
        for (uint32_t i = 0; i < s->o->ops; i++) {
            uint32_t t = s->versions.at[s->latest[c->steps[i].key]].txn;

            if (c->steps[i].does & DOES_WRITE && t != HF_NONE && t >= c->seen)
                return true;
        }
    if (s->o->store == HF_MIX_STORE_SKEWED)
        return false;
    find_neighbours(s, c);
    return is_cycle(s);
}

/* ---- commits ------------------------------------------------------------- */

static void install(sim *s, uint32_t t, step *p)
{
    uint32_t v = (uint32_t)s->versions.n, old = s->latest[p->key];

    hf_vec_push(&s->versions, (version){t, p->key, old, HF_NONE});
    s->versions.at[old].newer = v;
    s->latest[p->key] = p->wrote = v;
    s->readers[p->key] = HF_NONE;
}

static void commit(sim *s, client *c)
{
    uint32_t t = (uint32_t)s->txns.n, session = (uint32_t)(c - s->clients);

    if (is_refused(s, c))
        return;
    hf_vec_push(&s->txns, (committed){c->began, c->now, session, HF_NONE, 0});
    if (s->o->store != HF_MIX_STORE_SKEWED) {
        for (size_t i = 0; i < s->sources.n; i++)
            add_link(s, &s->txns.at[s->sources.at[i]].links, t);
        for (size_t i = 0; i < s->targets.n; i++)
            add_link(s, &s->txns.at[t].links, s->targets.at[i]);
    }
    for (uint32_t i = 0; i < s->o->ops; i++) {
        step *p = &c->steps[i];

        if (p->does & DOES_WRITE)
            install(s, t, p);
        else if (p->read == s->latest[p->key])
            add_link(s, &s->readers[p->key], t);
        hf_vec_push(&s->steps, *p);
    }
    c->last = t;
}

static void run(sim *s)
{
    uint32_t wanted = s->o->transactions;

    while (s->txns.n < wanted) {
        client *c = &s->clients[s->heap[0]];

        if (c->done < s->o->ops) {
            operate(s, c);
        } else {
            commit(s, c);
            c->now += 1 / UNIT_NS;
            begin(s, c);
        }
        sift_down(s, 0);
    }
}

static void open_sim(sim *s, const hf_mix_options *o)
{
    hf_generate_options g = {.keys = o->keys,
                             .distribution = o->theta > 0
                                                 ? HF_DISTRIBUTION_ZIPF
                                                 : HF_DISTRIBUTION_UNIFORM,
                             .theta = o->theta};

    memset(s, 0, sizeof(*s));
    s->o = o;
    hf_rng_seed(&s->rng, o->seed);
    hf_keys_init(&s->keys, &g);
    s->clients = HF_NEW_ZEROED(client, o->clients);
    s->heap = HF_NEW_ARRAY(uint32_t, o->clients);
    s->latest = HF_NEW_ARRAY(uint32_t, o->keys);
    s->readers = HF_NEW_ARRAY(uint32_t, o->keys);
    hf_vec_reserve(&s->txns, (size_t)o->transactions);
    hf_vec_reserve(&s->steps, (size_t)o->transactions * o->ops);
    for (uint32_t k = 0; k < o->keys; k++) {
        hf_vec_push(&s->versions, (version){HF_NONE, k, HF_NONE, HF_NONE});
        s->latest[k] = k;
        s->readers[k] = HF_NONE;
    }
    for (uint32_t i = 0; i < o->clients; i++) {
        s->clients[i].now = later(s);
        s->clients[i].last = HF_NONE;
        begin(s, &s->clients[i]);
        s->heap[i] = i;
    }
    for (uint32_t i = o->clients; i-- > 0;)
        sift_down(s, i);
}

static void close_sim(sim *s)
{
    hf_keys_release(&s->keys);
    hf_free(s->clients);
    hf_free(s->heap);
    hf_free(s->latest);
    hf_free(s->readers);
    hf_vec_release(&s->txns);
    hf_vec_release(&s->steps);
    hf_vec_release(&s->versions);
    hf_vec_release(&s->links);
    hf_vec_release(&s->sources);
    hf_vec_release(&s->targets);
}

/* ---- what goes wrong ----------------------------------------------------- */

/* One read of the later three quarters returns an old version.  There may be
 * none that could: then nothing happens. */
static void make_stale(sim *s)
{
    uint32_t n = s->o->transactions * s->o->ops, from = n / 4;

    for (uint32_t tries = 0; tries < 100 * s->o->ops; tries++) {
        step *p = &s->steps.at[from + hf_rng_below(&s->rng, n - from)];
        uint32_t v = p->read, back = 0;

        if (!(p->does & DOES_READ))
            continue;
        while (back < s->o->stale && s->versions.at[v].older != HF_NONE) {
            v = s->versions.at[v].older;
            back++;
        }
        if (back < s->o->stale)
            continue;
        p->read = v;
        return;
    }
}

/* ---- the history --------------------------------------------------------- */

static void shuffle(hf_rng *rng, uint32_t *at, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = hf_rng_below(rng, i), x = at[i - 1];

        at[i - 1] = at[j];
        at[j] = x;
    }
}

/* The transactions as the file has them: session after session, or any. */
static uint32_t *file_order(sim *s)
{
    uint32_t n = s->o->transactions, n_clients = s->o->clients, sum = 0;
    uint32_t *order = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    uint32_t *first, *sessions;

    if (s->o->no_sessions) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        shuffle(&s->rng, order, n);
        return order;
    }
    first = HF_NEW_ZEROED(uint32_t, n_clients);
    sessions = HF_NEW_ARRAY(uint32_t, n_clients);
    for (uint32_t i = 0; i < n_clients; i++)
        sessions[i] = i;
    shuffle(&s->rng, sessions, n_clients);
    for (uint32_t i = 0; i < n; i++)
        first[s->txns.at[i].session]++;
    for (uint32_t i = 0; i < n_clients; i++) {
        uint32_t size = first[sessions[i]];

        first[sessions[i]] = sum;
        sum += size;
    }
    for (uint32_t i = 0; i < n; i++)
        order[first[s->txns.at[i].session]++] = i;
    hf_free(first);
    hf_free(sessions);
    return order;
}

static void write_times(sim *s, hf_builder *b, hf_txn_id id, const committed *t)
{
    double shift = 0;

    if (s->o->no_times)
        return;
    if (s->o->noise > 0) { /* nearly Gaussian; never below zero */
        for (unsigned i = 0; i < 12; i++)
            shift += hf_rng_unit(&s->rng);
        shift *= s->o->noise;
    }
    hf_builder_times(b, id, (uint64_t)((t->began + shift) * UNIT_NS),
                     (uint64_t)((t->ended + shift) * UNIT_NS));
}

/* The value of a version: made when it is first met.  Values are scattered,
 * so that they tell nothing. */
static hf_value_id value_of(const sim *s, hf_builder *b, hf_value_id *values,
                            uint32_t v)
{
    if (values[v] == HF_NONE) {
        hf_key_id key = s->versions.at[v].key;
        uint32_t number = v * UINT32_C(2654435761);

        if (s->versions.at[v].txn == HF_NONE)
            values[v] = hf_builder_nil(b, key);
        else if (s->o->values > 0)
            values[v] = hf_builder_int(
                b, key, (int64_t)(hf_mix64(number) % s->o->values));
        else
            values[v] = hf_builder_int_fresh(b, key, (int64_t)number);
    }
    return values[v];
}

static void write_txn(sim *s, hf_builder *b, hf_value_id *values,
                      hf_session_id session, uint32_t t)
{
    hf_txn_id id = hf_builder_txn(b, session);
    const step *steps = s->steps.at + (size_t)t * s->o->ops;

    write_times(s, b, id, &s->txns.at[t]);
    for (uint32_t i = 0; i < s->o->ops; i++) {
        const step *p = &steps[i];

        if (p->does & DOES_READ)
            (void)hf_builder_op(b, id, HF_OP_READ, p->key,
                                value_of(s, b, values, p->read));
        if (p->does & DOES_WRITE)
            (void)hf_builder_op(b, id, HF_OP_WRITE, p->key,
                                value_of(s, b, values, p->wrote));
    }
}

/* `place`: per transaction, in the file. */
static void write_orders(sim *s, hf_builder *b, const uint32_t *place)
{
    unsigned percent = s->o->order_percent;
    uint8_t *kept;

    if (percent == 0)
        return;
    hf_builder_partial_orders(b, percent < 100 && !s->o->order_by_key);
    kept = HF_NEW_ARRAY(uint8_t, s->o->keys);
    for (uint32_t k = 0; k < s->o->keys; k++)
        kept[k] = !s->o->order_by_key || hf_rng_chance(&s->rng, percent);
    for (uint32_t v = s->o->keys; v < s->versions.n; v++) {
        const version *w = &s->versions.at[v];

        if (kept[w->key] &&
            (s->o->order_by_key || hf_rng_chance(&s->rng, percent)))
            hf_builder_order(b, w->key, place[w->txn]);
    }
    hf_free(kept);
}

static void write_history(sim *s, hf_builder *b)
{
    uint32_t n = s->o->transactions, *order = file_order(s);
    uint32_t *place = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    hf_value_id *values = HF_NEW_ARRAY(hf_value_id, s->versions.n);

    hf_builder_expect(b, (uint64_t)n * s->o->ops * 3 / 2, n, 0);
    hf_builder_unique_values(b, s->o->values == 0);
    for (uint32_t k = 0; k < s->o->keys; k++)
        (void)hf_builder_key_int(b, k);
    memset(values, 0xff, s->versions.n * sizeof(*values));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t session = s->txns.at[order[i]].session;

        place[order[i]] = i;
        write_txn(s, b, values,
                  s->o->no_sessions ? hf_builder_session_fresh(b)
                                    : hf_builder_session_number(b, session),
                  order[i]);
    }
    write_orders(s, b, place);
    hf_free(order);
    hf_free(place);
    hf_free(values);
}

hf_status hf_mix_make(const hf_mix_options *o, hf_history **ret_h,
                      hf_error *err)
{
    hf_builder *b;
    sim s;

    if (o->ops == 0 || o->ops > MOST_OPS || o->ops > o->keys ||
        o->clients == 0 || o->transactions == 0 ||
        o->transactions > HF_NONE / (4 * o->ops) || o->keys > 1u << 30)
        return hf_fail(err, HF_ERR_USAGE,
                       "could not make a mix: %u transactions of %u "
                       "operations over %u keys by %u clients",
                       o->transactions, o->ops, o->keys, o->clients);
    open_sim(&s, o);
    run(&s);
    if (o->stale > 0)
        make_stale(&s);
    b = hf_builder_new();
    hf_builder_time_unit(b, o->no_times ? HF_TIME_UNIT_NONE : HF_TIME_UNIT_NS);
    write_history(&s, b);
    close_sim(&s);
    return hf_builder_finish(b, ret_h, err);
}

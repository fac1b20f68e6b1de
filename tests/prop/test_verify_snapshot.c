/* Claims about histories whose version sets are snapshots.
 *
 * The same history with its version sets written out says the same, so verify
 * must give the same answers to the same claims: those of the reference, the
 * findings of it, claims with one thing changed, and random orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "check/check.h"
#include "history/builder.h"
#include "history/snapshot.h"
#include "history/text.h"
#include "verify/condition.h"
#include "verify/predicate.h"
#include "verify/verify.h"

#define MOST_TXNS 6
#define MOST_OPS 5

/* ---- random histories ---------------------------------------------------- */

typedef struct op {
    char kind; /* w, r, d(elete), p(redicate), c(ount), m(ax) */
    int key, value;
    unsigned condition;
    bool rows_known;
    char snapshot[40];
    char rows[200];
} op;

typedef struct txn {
    int n_ops, session;
    op ops[MOST_OPS];
    int commit_ts; /* 0: not recorded */
    const char *outcome;
} txn;

typedef struct plan {
    hf_rng rng;
    int n_txns, n_keys;
    txn txns[MOST_TXNS];
    bool by_ids, columns, listed, timed, initial;
    int order[MOST_TXNS]; /* of commits */
} plan;

static const char *const plain_conditions[] = {
    "value < 3",
    "value >= 2 AND value <= 3",
    "value = 1",
    "true",
    "value IN (1, 4)",
    "NOT value = 2",
    "value BETWEEN 2 AND 4 AND value <> 3",
    "value % 2 = 0",
    "value < 2 OR value > 3"};
static const char *const column_conditions[] = {"c < 3",
                                                "c >= 2 AND c <= 3",
                                                "c = 1",
                                                "true",
                                                "c IN (1, 4)",
                                                "d = 'b'",
                                                "c < 4 AND d = 'a'",
                                                "c + 1 = 3",
                                                "d = 'a' OR c = 4"};

static unsigned below(plan *p, unsigned n)
{
    return hf_rng_below(&p->rng, n);
}

static bool chance(plan *p, unsigned percent)
{
    return hf_rng_chance(&p->rng, percent);
}

static void plan_snapshot(plan *p, op *o)
{
    int at = (int)below(p, (unsigned)p->n_txns + 1);

    if (!p->by_ids) {
        snprintf(o->snapshot, sizeof(o->snapshot), "%d", 10 * at + 5);
        return;
    }
    snprintf(o->snapshot, sizeof(o->snapshot), "\"%d:%d:%s\"", 1, at + 1, "");
    if (chance(p, 40) && at > 0)
        snprintf(o->snapshot, sizeof(o->snapshot), "\"%d:%d:%d\"", 1, at + 1,
                 1 + (int)below(p, (unsigned)at));
}

static void plan_op(plan *p, txn *t, op *o)
{
    static const char kinds[] = "wwwwrrdpppppcm";

    o->kind = kinds[below(p, sizeof(kinds) - 1)];
    o->key = (int)below(p, (unsigned)p->n_keys);
    o->value = 1 + (int)below(p, 4);
    o->condition = below(p, 9);
    o->rows_known = !chance(p, 10);
    if (t->n_ops > 0 && t->ops[0].snapshot[0] && chance(p, 70))
        memcpy(o->snapshot, t->ops[0].snapshot, sizeof(o->snapshot));
    else
        plan_snapshot(p, o);
}

static void plan_history(plan *p, uint64_t seed)
{
    memset(p, 0, sizeof(*p));
    hf_rng_seed(&p->rng, seed);
    p->n_txns = 2 + (int)below(p, MOST_TXNS - 1);
    p->n_keys = 1 + (int)below(p, 3);
    p->by_ids = chance(p, 40);
    p->columns = chance(p, 50);
    p->timed = !p->by_ids || chance(p, 30);
    p->listed = p->by_ids ? !p->timed || chance(p, 60) : chance(p, 60);
    p->initial = chance(p, 40);
    for (int i = 0; i < p->n_txns; i++)
        p->order[i] = i;
    for (int i = p->n_txns; i-- > 1 && chance(p, 50);) {
        int j = (int)below(p, (unsigned)i + 1), swap = p->order[i];

        p->order[i] = p->order[j];
        p->order[j] = swap;
    }
    for (int i = 0; i < p->n_txns; i++) {
        txn *t = &p->txns[i];

        t->session = (int)below(p, 3);
        t->outcome = chance(p, 85)   ? "committed"
                     : chance(p, 50) ? "aborted"
                                     : "unknown";
        for (t->n_ops = 0; t->n_ops < 1 + (int)below(p, MOST_OPS);)
            plan_op(p, t, &t->ops[t->n_ops++]);
    }
    for (int i = 0; p->timed && i < p->n_txns; i++) {
        txn *t = &p->txns[p->order[i]];

        if (strcmp(t->outcome, "aborted") == 0 ||
            (strcmp(t->outcome, "unknown") == 0 && chance(p, 40)))
            continue;
        if (!chance(p, 3))
            t->commit_ts = chance(p, 95) ? 10 * i + 10 : 10;
    }
}

static int print_value(const plan *p, char *to, size_t size, int value)
{
    if (value == 0)
        return snprintf(to, size, "null");
    if (p->columns)
        return snprintf(to, size, "{\"c\":%d,\"d\":\"%c\"}", value,
                        value % 2 ? 'a' : 'b');
    return snprintf(to, size, "%d", value);
}

static void print_key(const plan *p, char *to, size_t size, int key)
{
    /* two keys of one table, one of another */
    if (p->columns)
        snprintf(to, size, "[\"%s\",\"k%d\"]", key == 2 ? "u" : "t", key);
    else
        snprintf(to, size, "\"k%d\"", key);
}

static int print_op(const plan *p, const op *o, char *to, size_t size)
{
    const char *where =
        (p->columns ? column_conditions : plain_conditions)[o->condition];
    const char *table = p->columns ? "\"table\":\"t\"," : "";
    char key[32], value[40];

    print_key(p, key, sizeof(key), o->key);
    print_value(p, value, sizeof(value), o->kind == 'd' ? 0 : o->value);
    switch (o->kind) {
    case 'w':
    case 'r':
        return snprintf(to, size, "[\"%c\",%s,%s]", o->kind, key, value);
    case 'd':
        return snprintf(to, size, "[\"delete\",%s]", key);
    case 'p':
        return snprintf(
            to, size, "{\"op\":\"pr\",%s\"where\":\"%s\",\"snapshot\":%s%s%s}",
            table, where, o->snapshot, o->rows_known ? ",\"rows\":" : "",
            o->rows_known ? o->rows : "");
    default:
        return snprintf(
            to, size,
            "{\"op\":\"%s\",%s\"where\":\"%s\",\"snapshot\":%s%s%s%s}",
            o->kind == 'c' ? "count" : "max", table, where, o->snapshot,
            p->columns && o->kind == 'm' ? ",\"column\":\"c\"" : "",
            o->rows_known ? ",\"value\":" : "", o->rows_known ? o->rows : "");
    }
}

static void print_history(const plan *p, char *to, size_t size)
{
    size_t n = 0;

    to[0] = '\0';
    for (int k = 0; p->initial && k < p->n_keys; k++) {
        char key[32], value[40];

        print_key(p, key, sizeof(key), k);
        print_value(p, value, sizeof(value), 1 + k);
        n += (size_t)snprintf(to + n, size - n, "{\"initial\":[[%s,%s]]}\n",
                              key, value);
    }
    for (int i = 0; i < p->n_txns; i++) {
        const txn *t = &p->txns[i];

        n += (size_t)snprintf(
            to + n, size - n,
            "{\"id\":%d,\"session\":\"s%d\",\"outcome\":\"%s\",", i + 1,
            t->session, t->outcome);
        if (t->commit_ts)
            n += (size_t)snprintf(to + n, size - n, "\"commit_ts\":%d,",
                                  t->commit_ts);
        n += (size_t)snprintf(to + n, size - n, "\"ops\":[");
        for (int j = 0; j < t->n_ops; j++) {
            n += (size_t)snprintf(to + n, size - n, "%s", j ? "," : "");
            n += (size_t)print_op(p, &t->ops[j], to + n, size - n);
        }
        n += (size_t)snprintf(to + n, size - n, "]}\n");
    }
    for (int k = 0; p->listed && k < p->n_keys; k++) {
        char key[32];
        bool first = true;

        print_key(p, key, sizeof(key), k);
        for (int i = 0; i < p->n_txns; i++) {
            const txn *t = &p->txns[p->order[i]];
            bool writes = false;

            for (int j = 0; j < t->n_ops; j++)
                writes |= (t->ops[j].kind == 'w' || t->ops[j].kind == 'd') &&
                          t->ops[j].key == k;
            if (!writes || strcmp(t->outcome, "aborted") == 0)
                continue;
            n += first
                     ? (size_t)snprintf(to + n, size - n, "{\"order\":[%s,[%d",
                                        key, p->order[i] + 1)
                     : (size_t)snprintf(to + n, size - n, ",%d",
                                        p->order[i] + 1);
            first = false;
        }
        if (!first)
            n += (size_t)snprintf(to + n, size - n, "]]}\n");
    }
    assert_true(n < size);
}

static hf_history *read_history(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("%s\n%s", err.text, text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s\n%s", err.text, text);
    return h;
}

/* Fills in what an operation should have returned, mostly. */
static void fill_rows(plan *p, const hf_history *x, hf_op_id id, op *o)
{
    hf_predicate q = hf_op_predicate(x, id);
    size_t n = 1;
    int count = 0, most = 0;
    hf_arena arena;
    const hf_condition *c;

    hf_arena_init(&arena);
    c = hf_condition_compile(&arena, hf_string(x, q.condition));
    o->rows[0] = '[';
    for (uint32_t i = 0; i < q.n_versions; i++) {
        hf_value_id v = q.versions[i].value;
        hf_scalar s = hf_value_scalar(x, v), column;
        char key[32], value[40];
        int number;

        if (hf_condition_holds(c, s) != HF_MATCH_YES || chance(p, 2))
            continue;
        assert_true(hf_condition_column(
            s, hf_str_of(p->columns ? "c" : "value"), &column));
        number = (int)column.number;
        count++;
        most = number > most ? number : most;
        s = hf_key_scalar(x, x->value_key[v]);
        print_key(p, key, sizeof(key), s.text[1] - '0');
        print_value(p, value, sizeof(value), number);
        n += (size_t)snprintf(o->rows + n, sizeof(o->rows) - n, "%s[%s,%s]",
                              n > 1 ? "," : "", key, value);
    }
    snprintf(o->rows + n, sizeof(o->rows) - n, "]");
    if (o->kind == 'c')
        snprintf(o->rows, sizeof(o->rows), "%d", count);
    if (o->kind == 'm' && count > 0)
        snprintf(o->rows, sizeof(o->rows), "%d", most);
    if (o->kind == 'm' && count == 0)
        snprintf(o->rows, sizeof(o->rows), "null");
    hf_arena_release(&arena);
}

/* Reads return a value that somebody wrote, mostly. */
static void fill_reads(plan *p)
{
    for (int i = 0; i < p->n_txns; i++)
        for (int j = 0; j < p->txns[i].n_ops; j++) {
            op *o = &p->txns[i].ops[j];

            if (o->kind != 'r' || chance(p, 5))
                continue;
            o->value = p->initial ? 1 + o->key : 0;
            for (int k = 0; k < p->n_txns; k++) {
                const txn *t = &p->txns[p->order[k]];

                for (int l = 0; l < t->n_ops; l++)
                    if (strcmp(t->outcome, "aborted") != 0 &&
                        t->ops[l].kind == 'w' && t->ops[l].key == o->key &&
                        chance(p, 50))
                        o->value = t->ops[l].value;
            }
        }
}

static hf_history *make(plan *p, char *text, size_t size)
{
    bool known[MOST_TXNS][MOST_OPS];
    hf_history *h, *x;
    hf_op_id id = 0;

    fill_reads(p);
    for (int i = 0; i < p->n_txns; i++)
        for (int j = 0; j < p->txns[i].n_ops; j++) {
            known[i][j] = p->txns[i].ops[j].rows_known;
            p->txns[i].ops[j].rows_known = false;
        }
    print_history(p, text, size);
    h = read_history(text);
    x = hf_snapshots_expand(h, NULL);
    for (int i = 0; i < p->n_txns; i++)
        for (int j = 0; j < p->txns[i].n_ops; j++, id++) {
            op *o = &p->txns[i].ops[j];

            o->rows_known = known[i][j];
            if (strchr("pcm", o->kind))
                fill_rows(p, x, id, o);
        }
    hf_snapshots_collapse(x);
    hf_history_free(h);
    print_history(p, text, size);
    return read_history(text);
}

/* ---- claims -------------------------------------------------------------- */

typedef enum answer { ACCEPTED, REFUSED, UNSUPPORTED } answer;

static const char *const answers[] = {"accepted", "refused", "unsupported"};

typedef struct pair {
    const hf_history *h, *x;
    bool has_gap; /* an entry of a snapshot is not known */
    hf_verify_session *in_h, *in_x;
    const char *text;
    unsigned long n[3];
    char why[512]; /* of the last answer */
} pair;

static answer ask(hf_verify_session *in, const hf_claim *claim, char *why,
                  size_t size)
{
    hf_verification v = {.accepted = false};
    hf_error err;
    hf_status st = hf_verify_claim_in(in, claim, NULL, &v, &err);

    snprintf(why, size, "%s", st == HF_OK ? v.reason : err.text);
    if (st != HF_OK)
        return UNSUPPORTED;
    return v.accepted ? ACCEPTED : REFUSED;
}

static answer compare(pair *p, const hf_claim *claim)
{
    char why[2][512];
    answer a = ask(p->in_h, claim, why[0], sizeof(why[0]));
    answer b = ask(p->in_x, claim, why[1], sizeof(why[1]));
    /* an order may be wrong in several ways: which is met first, and whether
     * that is a refusal, is not the same; and an operation without version
     * set may fit the state, where a snapshot is not asked */
    bool equal = a == b || (claim->verdict == HF_VALID && a != ACCEPTED &&
                            (b != ACCEPTED || p->has_gap));

    if (!equal)
        fail_msg("%s kind %d: snapshots %s (%s), version sets %s (%s)\n%s",
                 hf_level_get(claim->level)->name, (int)claim->witness.kind,
                 answers[a], why[0], answers[b], why[1], p->text);
    p->n[a]++;
    snprintf(p->why, sizeof(p->why), "%s", why[0]);
    return a;
}

static bool has_gap(const hf_history *x)
{
    for (hf_op_id o = 0; o < x->n_ops; o++)
        if (hf_op_has_predicate(hf_op_kind_of(x, o)) &&
            !hf_op_predicate(x, o).has_version_set)
            return true;
    return false;
}

static void ask_tampered(pair *p, hf_rng *rng, hf_claim claim)
{
    hf_edge edges[16];
    hf_op_id ops[16];
    hf_witness *w = &claim.witness;

    if (w->kind == HF_WITNESS_CYCLE && w->n_edges <= 16) {
        hf_edge *e = &edges[hf_rng_below(rng, w->n_edges)];

        memcpy(edges, w->edges, w->n_edges * sizeof(*edges));
        w->edges = edges;
        switch (hf_rng_below(rng, 4)) {
        case 0:
            e->kind = (hf_edge_kind)hf_rng_below(rng, HF_EDGE_KIND_COUNT);
            break;
        case 1:
            e->key = hf_rng_below(rng, p->h->n_keys);
            break;
        case 2:
            e->from_op = hf_rng_below(rng, p->h->n_ops);
            break;
        default:
            e->to_op = hf_rng_below(rng, p->h->n_ops);
        }
        (void)compare(p, &claim);
    } else if (w->kind == HF_WITNESS_OPERATIONS && w->n_ops <= 16) {
        memcpy(ops, w->ops, w->n_ops * sizeof(*ops));
        ops[hf_rng_below(rng, w->n_ops)] = hf_rng_below(rng, p->h->n_ops);
        w->ops = ops;
        (void)compare(p, &claim);
    }
}

/* The verdict of the reference about x, and all it found. */
static void ask_reference(pair *p, hf_rng *rng, hf_level level)
{
    const hf_engine *brute = hf_engine_find(HF_STR("brute"));
    hf_result *r = NULL;
    hf_claim claim;
    hf_error err;

    assert_int_equal(brute->check(p->x, level, NULL, NULL, &r, &err), HF_OK);
    claim = (hf_claim){r->verdict, level, r->witness};
    if (r->verdict != HF_UNKNOWN && claim.witness.n_sources == 0 &&
        compare(p, &claim) != ACCEPTED)
        fail_msg("the reference is refused at %s (%s, kind %d): %s\n%s",
                 hf_level_get(level)->name, hf_verdict_name(r->verdict),
                 (int)r->witness.kind, p->why, p->text);
    for (uint32_t i = 0; i < r->n_findings; i++) {
        claim.witness = r->findings[i].witness;
        if (claim.witness.n_sources > 0)
            continue;
        (void)compare(p, &claim);
        ask_tampered(p, rng, claim);
    }
    hf_result_free(r);
}

static uint32_t random_order(const hf_history *h, hf_rng *rng, uint32_t *order)
{
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_COMMITTED ||
            (h->txn_outcome[t] != HF_ABORTED && hf_rng_chance(rng, 50)))
            order[n++] = t;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t j = hf_rng_below(rng, i + 1), swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
    return n;
}

/* Starts just before their commits, or a little earlier. */
static uint32_t to_events(hf_rng *rng, uint32_t *order, uint32_t n)
{
    uint32_t events[2 * MOST_TXNS], at = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t start = at - (at > 0 ? hf_rng_below(rng, at + 1) : 0);

        memmove(events + start + 1, events + start,
                (at - start) * sizeof(*events));
        events[start] = 2 * order[i];
        events[at + 1] = 2 * order[i] + 1;
        at += 2;
    }
    memcpy(order, events, at * sizeof(*order));
    return at;
}

static void ask_orders(pair *p, hf_rng *rng, hf_level level)
{
    uint32_t order[2 * MOST_TXNS];
    hf_claim claim = {.verdict = HF_VALID, .level = level};

    for (int i = 0; i < 3; i++) {
        claim.witness =
            (hf_witness){.kind = HF_WITNESS_SERIAL + i, .order = order};
        claim.witness.n_order = random_order(p->h, rng, order);
        if (claim.witness.kind == HF_WITNESS_SNAPSHOT)
            claim.witness.n_order =
                to_events(rng, order, claim.witness.n_order);
        (void)compare(p, &claim);
    }
    claim.verdict = HF_INVALID;
    claim.witness.kind = HF_WITNESS_CORE;
    claim.witness.n_order = 1 + hf_rng_below(rng, 3);
    if (claim.witness.n_order > p->h->n_txns)
        claim.witness.n_order = p->h->n_txns;
    for (uint32_t i = 0; i < claim.witness.n_order; i++)
        order[i] = (hf_rng_below(rng, 2) + i) % p->h->n_txns;
    (void)compare(p, &claim);
}

static void run_one(uint64_t seed, unsigned long *n)
{
    char text[12000];
    plan *p = malloc(sizeof(*p));
    hf_history *h, *x;
    pair q = {.text = text};

    assert_non_null(p);
    plan_history(p, seed);
    h = make(p, text, sizeof(text));
    x = hf_snapshots_expand(h, NULL);
    q.h = h;
    q.x = x;
    q.has_gap = has_gap(x);
    q.in_h = hf_verify_open(h);
    q.in_x = hf_verify_open(x);
    for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
        ask_reference(&q, &p->rng, (hf_level)l);
        ask_orders(&q, &p->rng, (hf_level)l);
    }
    for (int i = 0; i < 3; i++)
        n[i] += q.n[i];
    hf_verify_close(q.in_h);
    hf_verify_close(q.in_x);
    hf_snapshots_collapse(x);
    hf_history_free(h);
    free(p);
}

static void snapshots_mean_their_version_sets(void **state)
{
    const char *count = getenv("HOLDFAST_SNAPSHOT_CASES");
    const char *seed = getenv("HOLDFAST_SNAPSHOT_SEED");
    unsigned long cases = count ? strtoul(count, NULL, 10) : 2000;
    unsigned long first = seed ? strtoul(seed, NULL, 10) : 1, n[3] = {0};

    (void)state;
    for (unsigned long i = 0; i < cases; i++)
        run_one(first + i, n);
    print_message("accepted %lu, refused %lu, unsupported %lu\n", n[0], n[1],
                  n[2]);
    assert_true(n[ACCEPTED] > cases && n[REFUSED] > cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_mean_their_version_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

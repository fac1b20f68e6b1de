/* test_predict_brute.c: predictions against enumeration.
 *
 *     test_predict_brute [EXECUTIONS [SEED]]
 *
 * On random tiny executions (2 to 5 transactions in 3 sessions, reads, locking
 * reads, writes, deletes, predicate reads, counts), for every level and
 * strategy:
 *
 *   - there is a prediction exactly if enumeration of all boundaries and all
 *     sources finds one (predict_model.c, which shares no code with it); and
 *     one in which transactions go on as observed exactly if it finds one;
 *   - every prediction, of all that are asked for, is allowed by the boundary
 *     rules, legal at the level and not serializable, by enumeration;
 *   - as a history, the engines of check say the same, of the level and of
 *     serializability;
 *   - as an observed history it is what enumeration says at every level
 *     (hf_predict_keeps());
 *   - who is said to have to go on otherwise has to, and nobody else;
 *   - its order runs sources before their readers, and sessions in order;
 *   - on some, the paper's encoding solved by Z3 says the same;
 *   - one called feasible for sure has nothing after a changed read, or only
 *     reads change that return nothing; its cycle is one.
 *
 * A level or strategy for which there was always or never a prediction was not
 * tested, which is a failure too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "predict_model.h"

#define SEEN_EVERY 7 /* executions: asked for what goes on as observed only */
/* Executions: the paper's encoding is asked as well, which takes as long as all
 * the rest; less often in long runs. */
#define PAPER_EVERY 25
#define PAPER_LATER 250
#define PAPER_MANY 500

#define MOST_ASKED 256 /* different predictions of an execution remembered */

typedef struct run {
    long executions, predictions, sure, changed, checked;
    long found[HF_PREDICT_TARGET_COUNT][HF_PREDICT_STRATEGY_COUNT][2];
    long direct; /* found without a solver */
    long otherwise[HF_PREDICT_TARGET_COUNT], rivals; /* predictions */
    long failures, paper, paper_unknown, kept[2];
    /* of this execution: what was asked about already, with the levels that
     * check was asked about */
    pm_execution asked[MOST_ASKED];
    unsigned asked_levels[MOST_ASKED];
    int n_asked;
    bool asks_paper; /* the predictions are its */
    uint64_t seed;
    const pm_history *m;
    hf_predict_target target;
    hf_predict_strategy strategy;
} run;

static void fail(run *q, const char *what)
{
    if (q->failures++ < 15) {
        printf("seed %" PRIu64 ", %s, %s: %s\n", q->seed,
               hf_predict_target_get(q->target)->name,
               hf_predict_strategy_name(q->strategy), what);
        pm_print(q->m);
    }
}

static pm_boundary boundary_of(hf_predict_strategy s)
{
    return s == HF_PREDICT_BEST             ? PM_BEST
           : s == HF_PREDICT_APPROX_RELAXED ? PM_RELAXED
                                            : PM_STRICT;
}

/* How many operations of the model there are before one of the history: not
 * statements, and not the row that is inserted in the end. */
static int number_of(const pm_history *m, const hf_history *h, hf_txn_id t,
                     hf_op_id op)
{
    int n = 0;

    for (hf_op_id o = h->op_first[t]; o < op; o++)
        n += hf_op_kind_of(h, o) != HF_OP_SQL;
    return n < m->txns[t].n_ops ? n : m->txns[t].n_ops;
}

/* The prediction in the words of the model. */
static pm_execution execution_of(const pm_history *m, const hf_history *h,
                                 const hf_prediction *p)
{
    pm_execution x;

    memset(&x, 0, sizeof x); /* compared as bytes */
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        const hf_predicted_session *s = NULL;

        for (uint32_t i = 0; i < p->n_sessions; i++)
            if (p->sessions[i].session == h->txn_session[t])
                s = &p->sessions[i];
        if (!s || s->txn == HF_NONE || t > s->txn)
            continue;
        x.n_ops[t] =
            number_of(m, h, t, t < s->txn ? h->op_first[t + 1] : s->last + 1);
    }
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];

        x.from[r->txn][number_of(m, h, r->txn, r->op)][r->key] =
            r->source == HF_NONE ? PM_INITIAL : (int)r->source;
    }
    return x;
}

/* Whether this is new; *ret_levels: the levels asked about before.  The same
 * prediction comes back at other levels and by other strategies. */
static bool is_new(run *q, const pm_execution *x, unsigned **ret_levels)
{
    static unsigned none;

    for (int i = 0; i < q->n_asked; i++)
        if (memcmp(&q->asked[i], x, sizeof(*x)) == 0) {
            *ret_levels = &q->asked_levels[i];
            return false;
        }
    none = 0;
    *ret_levels = &none;
    if (q->n_asked < MOST_ASKED) {
        *ret_levels = &q->asked_levels[q->n_asked];
        q->asked_levels[q->n_asked] = 0;
        q->asked[q->n_asked++] = *x;
    }
    return true;
}

/* By the engines of check, as a history. */
static void ask_check(run *q, const hf_history *h, const hf_prediction *p)
{
    const hf_predict_target_info *info = hf_predict_target_get(q->target);
    const hf_level levels[2] = {info->level, HF_STRONG_SESSION_SERIALIZABLE};
    const hf_verdict wanted[2] = {HF_VALID, HF_INVALID};
    hf_history *predicted = NULL;
    hf_error err;

    if (hf_prediction_history(h, p, &predicted, &err) != HF_OK) {
        fail(q, err.text);
        return;
    }
    for (int i = 0; i < 2; i++) {
        hf_result *r = NULL;

        if (hf_engine_ask(NULL, predicted, levels[i], NULL, NULL, &r, &err) !=
            HF_OK) {
            fail(q, err.text);
            break;
        }
        q->checked++;
        if (hf_result_verdict(r) != wanted[i])
            fail(q, i == 0 ? "check says that it is not legal"
                           : "check says that it is serializable");
        hf_result_free(r);
    }
    hf_history_free(predicted);
}

static bool has_edge(const hf_history *h, const hf_prediction *p,
                     const hf_predicted_edge *d)
{
    if (d->kind == HF_PREDICTED_SO)
        return d->from < d->to &&
               h->txn_session[d->from] == h->txn_session[d->to];
    for (uint32_t i = 0; d->kind == HF_PREDICTED_WR && i < p->n_reads; i++)
        if (p->reads[i].txn == d->to && p->reads[i].source == d->from &&
            p->reads[i].key == d->key)
            return true;
    return d->kind != HF_PREDICTED_WR;
}

static uint32_t place_in(const hf_prediction *p, hf_txn_id t)
{
    uint32_t i = 0;

    while (i < p->n_order && p->order[i] != t)
        i++;
    return i;
}

/* Its transactions can be run one after the other so that each read finds its
 * source. */
static bool can_be_run(const hf_history *h, const hf_prediction *p)
{
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];

        if (place_in(p, r->txn) == p->n_order ||
            (r->source != HF_NONE &&
             place_in(p, r->source) >= place_in(p, r->txn)))
            return false;
    }
    for (uint32_t i = 1; i < p->n_order; i++)
        for (uint32_t j = 0; j < i; j++)
            if (h->txn_session[p->order[j]] == h->txn_session[p->order[i]] &&
                p->order[j] > p->order[i])
                return false;
    return true;
}

static void look_at_parts(run *q, const hf_history *h, const hf_prediction *p)
{
    bool strict = true, unseen = true;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];
        const hf_predicted_session *s = NULL;

        changed += r->changed;
        for (uint32_t j = 0; j < p->n_sessions; j++)
            if (p->sessions[j].session == h->txn_session[r->txn])
                s = &p->sessions[j];
        if (!r->changed)
            continue;
        strict = strict && s && s->last == r->op;
        unseen =
            unseen &&
            q->m->txns[r->txn].ops[number_of(q->m, h, r->txn, r->op)].unseen;
    }
    if (p->is_sure && !strict && !unseen)
        fail(q, "feasible for sure, but something follows a changed read");
    if (!can_be_run(h, p))
        fail(q, "the order runs a read before its source");
    if (changed != p->n_changed)
        fail(q, "the number of changed reads is wrong");
    for (uint32_t i = 0; i < p->n_edges; i++)
        if (p->edges[i].to != p->edges[(i + 1) % p->n_edges].from ||
            !has_edge(h, p, &p->edges[i]))
            fail(q, "the cycle is none");
    if (p->n_edges == 0 && q->strategy != HF_PREDICT_BEST &&
        q->strategy != HF_PREDICT_EXACT_STRICT)
        fail(q, "an approximate prediction without a cycle");
}

/* Is there a write within the boundary that is not the last one of its key?  It
 * is a lock and an own version, but no version, and the history lacks it. */
static bool is_halfway(const pm_history *m, const pm_execution *x)
{
    for (int t = 0; t < m->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            if (pm_is_write(&m->txns[t].ops[op]) &&
                pm_write_before(m, t, m->txns[t].n_ops,
                                m->txns[t].ops[op].key) >= x->n_ops[t])
                return true;
    return false;
}

/* As a history, asked at every level. */
static void ask_keeps(run *q, const hf_history *h, const hf_prediction *p,
                      const pm_execution *x)
{
    hf_history *predicted = NULL;
    hf_error err;

    if (is_halfway(q->m, x))
        return;
    if (hf_prediction_history(h, p, &predicted, &err) != HF_OK) {
        fail(q, err.text);
        return;
    }
    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++) {
        bool legal = pm_legal(q->m, x, (hf_predict_target)t, PM_NOBODY);
        hf_verdict v = HF_UNKNOWN;

        if (hf_predict_keeps(predicted, (hf_predict_target)t, NULL, &v, &err) !=
            HF_OK)
            fail(q, err.text);
        else if (v != (legal ? HF_VALID : HF_INVALID))
            fail(q, hf_predict_target_get((hf_predict_target)t)->name);
        q->kept[legal]++;
    }
    hf_history_free(predicted);
}

/* With the others it is legal, with any of those as well it is not. */
static void look_at_others(run *q, const hf_prediction *p,
                           const pm_execution *x)
{
    unsigned not = 0;
    bool rivals = false;

    if (pm_legal_as_seen(q->m, x, q->target) != (p->n_others == 0))
        fail(q, p->n_others == 0 ? "somebody has to go on otherwise"
                                 : "nobody has to go on otherwise");
    for (uint32_t i = 0; i < p->n_others; i++) {
        if (p->others[i].rival != HF_NONE)
            rivals = true;
        else
            not |= 1u << p->others[i].txn;
    }
    q->rivals += rivals;
    q->otherwise[q->target] += p->n_others > 0;
    if (rivals != (pm_is_unique(q->target) && pm_has_rivals(q->m, x)))
        fail(q, "who inserts the same row is wrong");
    if (!pm_legal(q->m, x, q->target, PM_EVERYBODY & ~not ))
        fail(q, "others have to go on otherwise as well");
    for (int t = 0; t < q->m->n_txns; t++)
        if ((not >> t & 1) &&
            pm_legal(q->m, x, q->target, (PM_EVERYBODY & ~not ) | 1u << t))
            fail(q, "one of them does not have to go on otherwise");
}

static void look_at(run *q, const hf_history *h, const hf_prediction *p)
{
    pm_execution x = execution_of(q->m, h, p);
    unsigned *levels;
    bool new = is_new(q, &x, &levels);

    q->predictions++;
    q->sure += p->is_sure;
    q->changed += p->n_changed;
    look_at_parts(q, h, p);
    if (!pm_allowed(q->m, &x, boundary_of(q->strategy)))
        fail(q, "outside of the boundary");
    if (!pm_legal(q->m, &x, q->target, PM_NOBODY))
        fail(q, "not legal at the level");
    if (!q->asks_paper) /* which knows nothing of it */
        look_at_others(q, p, &x);
    if (pm_serializable(q->m, &x))
        fail(q, "serializable");
    if (!(*levels >> q->target & 1))
        ask_check(q, h, p);
    *levels |= 1u << q->target;
    if (new)
        ask_keeps(q, h, p, &x);
}

static bool exists(const run *q, const pm_answers *a, bool as_seen)
{
    bool forced = q->strategy == HF_PREDICT_APPROX_STRICT ||
                  q->strategy == HF_PREDICT_APPROX_RELAXED;
    pm_boundary b = boundary_of(q->strategy);

    return forced ? a->forced[as_seen][b][q->target]
                  : a->exact[as_seen][b][q->target];
}

/* Those that go on as observed come first. */
static void look_at_answer(run *q, const hf_predict_result *r,
                           const pm_answers *a)
{
    bool any = exists(q, a, r->options.as_seen), seen = exists(q, a, true);
    bool found = r->answer == HF_PREDICT_FOUND;

    if (r->answer == HF_PREDICT_UNKNOWN)
        fail(q, "unknown without a limit");
    if (found != any)
        fail(q, any ? "there is one" : "there is none");
    if (found && (r->predictions[0].n_others == 0) != seen)
        fail(q,
             seen ? "there is one as observed" : "there is none as observed");
    if (!seen && exists(q, a, false) && !r->stats.rests_on_writes)
        fail(q, "it does rest on what is beyond boundaries");
    for (uint32_t i = 1; i < r->n_predictions; i++)
        if (r->predictions[i - 1].n_others > 0 &&
            r->predictions[i].n_others == 0)
            fail(q, "one that does not go on as observed is not last");
}

static void ask(run *q, const hf_history *h, const pm_answers *a, bool as_seen)
{
    hf_predict_options o = {.target = q->target,
                            .strategy = q->strategy,
                            .as_seen = as_seen,
                            .most = q->seed % 4 == 0 ? 20 : 1};
    hf_predict_result *r = NULL;
    hf_error err;

    if (hf_predict(h, &o, &r, &err) != HF_OK) {
        fail(q, err.text);
        return;
    }
    look_at_answer(q, r, a);
    if (!as_seen)
        q->found[q->target][q->strategy][r->answer == HF_PREDICT_FOUND]++;
    q->direct += r->n_predictions > 0 && r->stats.variables == 0;
    for (uint32_t i = 0; i < r->n_predictions; i++)
        look_at(q, h, &r->predictions[i]);
    hf_predict_result_free(r);
}

/* The paper's own encoding says the same. */
static void ask_paper(run *q, const hf_history *h, const pm_answers *a)
{
    bool any = exists(q, a, false);
    hf_predict_options o = {.target = q->target,
                            .strategy = q->strategy,
                            .encoding = HF_PREDICT_PAPER};
    hf_predict_result *r = NULL;
    hf_error err;

    if (hf_predict(h, &o, &r, &err) != HF_OK) {
        fail(q, err.text);
        return;
    }
    q->paper++;
    q->asks_paper = true;
    if (r->answer == HF_PREDICT_UNKNOWN)
        q->paper_unknown++; /* "for all" is too much for Z3 now and then */
    else if ((r->answer == HF_PREDICT_FOUND) != any)
        fail(q, any ? "paper: there is one" : "paper: there is none");
    for (uint32_t i = 0; i < r->n_predictions; i++)
        look_at(q, h, &r->predictions[i]);
    q->asks_paper = false;
    hf_predict_result_free(r);
}

static bool is_paper(const run *q, bool has_rows)
{
    uint64_t every = q->executions < PAPER_MANY ? PAPER_EVERY : PAPER_LATER;

    return q->seed % every == 0 && !has_rows &&
           q->strategy != HF_PREDICT_BEST &&
           (q->target == HF_PREDICT_CAUSAL ||
            q->target == HF_PREDICT_READ_COMMITTED) &&
           hf_predict_available(HF_PREDICT_PAPER, NULL);
}

static void one(run *q)
{
    hf_rng r;
    pm_history m;
    pm_answers a;
    hf_history *h;
    hf_error err;
    bool has_rows = false;

    q->n_asked = 0;
    hf_rng_seed(&r, q->seed);
    m = pm_random(&r);
    q->m = &m;
    pm_enumerate(&m, &a);
    h = pm_build(&m, &err);
    if (!h) {
        fail(q, err.text);
        return;
    }
    for (int t = 0; t < m.n_txns; t++)
        for (int op = 0; op < m.txns[t].n_ops; op++)
            has_rows = has_rows || m.txns[t].ops[op].kind == PM_ROWS;
    q->executions++;
    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++)
        for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++) {
            q->target = (hf_predict_target)t;
            q->strategy = (hf_predict_strategy)s;
            ask(q, h, &a, false);
            if (q->seed % SEEN_EVERY == 0)
                ask(q, h, &a, true);
            if (is_paper(q, has_rows))
                ask_paper(q, h, &a);
        }
    hf_history_free(h);
}

static void report(run *q)
{
    printf("%ld executions, %ld predictions (%ld feasible for sure, %ld reads "
           "changed), %ld asked of check\n",
           q->executions, q->predictions, q->sure, q->changed, q->checked);
    printf("%ld asked of the paper's encoding, %ld of these unknown\n",
           q->paper, q->paper_unknown);
    printf("%ld that keep a level, %ld that do not\n", q->kept[1], q->kept[0]);
    if (q->executions >= 1000 && (q->kept[0] == 0 || q->kept[1] == 0))
        q->failures++;
    printf("%ld with rows that two would insert, %ld found without a solver\n",
           q->rivals, q->direct);
    if (q->executions >= 1000 && (q->rivals == 0 || q->direct == 0))
        q->failures++;
    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++) {
        printf("%-30s", hf_predict_target_get((hf_predict_target)t)->name);
        for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++) {
            printf("  %s %ld", hf_predict_strategy_name((hf_predict_strategy)s),
                   q->found[t][s][1]);
            if (q->executions >= 1000 &&
                (q->found[t][s][0] == 0 || q->found[t][s][1] == 0)) {
                printf(" (not tested)");
                q->failures++;
            }
        }
        printf("  not as observed %ld", q->otherwise[t]);
        /* rare where nothing conflicts */
        if (q->executions >= 1000 && q->otherwise[t] == 0 &&
            (q->executions >= 20000 || t > HF_PREDICT_PREFIX)) {
            printf(" (not tested)");
            q->failures++;
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *why;
    static run q;

    if (!hf_predict_available(HF_PREDICT_OWN, &why)) {
        printf("skipped: %s\n", why);
        return 77;
    }
    for (long i = 0; i < n; i++) {
        q.seed = seed + (uint64_t)i;
        one(&q);
    }
    report(&q);
    printf("%ld failures\n", q.failures);
    return q.failures > 0;
}

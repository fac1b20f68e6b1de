/* states.c: what is searched for, the witness, and what to say.
 *
 * At levels that are one order of whole transactions (the serializable forms,
 * repeatable read without conditions), or one of starts and commits (the forms
 * of snapshot isolation), the search decides; at read committed as well, where
 * there are no lists.  At other levels an order that it finds is a proof, and
 * that there is none says nothing.
 *
 * Valid: the order is the witness.  Invalid: transactions that are impossible
 * by themselves, by enumeration, by a proof, or because verify executes them
 * in every order as well.
 */
#include "check/states.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In turn: executed transactions, and seconds of a SAT solver; each round with
 * so many times as much. */
#define FIRST_STEPS 300000u
#define FIRST_SECONDS 4.0
#define MORE 4u
/* At levels where an order is only a guess at what there is. */
#define GUESS_STEPS 20000000u

typedef struct decision {
    const hf_history *h;
    const hf_level_info *level;
    hf_budget *budget;
    hf_result *r;
    hf_states s;
    hf_states_limit limit;
    uint64_t n_steps, n_states; /* of all searches */
    hf_states_order events;
    hf_states_model model;
    bool says_nothing; /* none was found, at a level that needs none */
} decision;

/* ---- an order to begin with ---------------------------------------------- */

/* Where an event stands by what was recorded. */
static uint64_t recorded(const decision *d, hf_txn_id t, bool commits)
{
    const hf_history *h = d->h;
    const uint64_t *ts = commits ? h->cert.commit_ts : h->cert.start_ts;

    if (h->cert.commit_ts && ts)
        return ts[t];
    return commits ? hf_txn_end_time(h, t) : hf_txn_begin_time(h, t);
}

/* Nothing was recorded: all sessions began and ended together, or so. */
static uint32_t *along_sessions(const hf_history *h)
{
    uint32_t *along = HF_NEW_ZEROED(uint32_t, (size_t)h->n_txns + 1);

    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        uint32_t first = h->session_first[s];
        uint64_t n = h->session_first[s + 1] - first;

        for (uint32_t i = 0; i < n; i++)
            along[h->session_txns[first + i]] =
                (uint32_t)(((uint64_t)i << 24) / n);
    }
    return along;
}

static uint32_t *rank_events(const decision *d)
{
    const hf_states *s = &d->s;
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, 2 * (size_t)s->n + 2);
    uint32_t *rank = HF_NEW_ARRAY(uint32_t, 2 * (size_t)s->n + 2);
    uint32_t *serial = NULL, *along;

    for (uint32_t i = 0; i < 2 * s->n; i++)
        all[i] = (hf_sortable){2 * (uint64_t)s->txn[i / 2] + (i & 1u), i};
    hf_sort(all, 2 * (size_t)s->n); /* as in the file */
    if (d->h->cert.n_serial > 0) {
        serial = HF_NEW_ZEROED(uint32_t, (size_t)d->h->n_txns + 1);
        for (uint32_t i = 0; i < d->h->cert.n_serial; i++)
            serial[d->h->cert.serial[i]] = i;
    }
    along = !serial && !d->h->txn_begin ? along_sessions(d->h) : NULL;
    for (uint32_t i = 0; i < 2 * s->n; i++) {
        hf_txn_id t = s->txn[all[i].value / 2];

        all[i].key = serial  ? serial[t]
                     : along ? along[t]
                             : recorded(d, t, all[i].value & 1u);
    }
    hf_sort(all, 2 * (size_t)s->n);
    hf_free(along);
    for (uint32_t i = 0; i < 2 * s->n; i++)
        rank[all[i].value] = i;
    hf_free(all);
    hf_free(serial);
    return rank;
}

/* ---- the witness --------------------------------------------------------- */

/* The parts were put in order one after the other.  If real time counts, each
 * transaction has a moment in its interval: not before that of those that
 * come before it in its part. */
static void merge_parts(decision *d)
{
    const hf_states *s = &d->s;
    size_t n = d->events.n;
    hf_sortable *all;
    uint64_t moment = 0;
    uint32_t p = 0;

    if (!s->times || s->n_parts < 2)
        return;
    all = HF_NEW_ARRAY(hf_sortable, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t node = d->events.at[i] / 2;

        if (node >= s->part_first[p + 1]) {
            moment = 0;
            while (node >= s->part_first[p + 1])
                p++;
        }
        if (s->begin[node] > moment)
            moment = s->begin[node];
        all[i] = (hf_sortable){moment, d->events.at[i]};
    }
    hf_sort(all, n);
    for (size_t i = 0; i < n; i++)
        d->events.at[i] = (uint32_t)all[i].value;
    hf_free(all);
}

typedef struct teller {
    const hf_history *h;
    uint32_t *n_writes; /* per value */
    uint8_t *is_list;   /* per key */
    uint8_t *is_counter;
    bool counters;      /* tell of these, too: no serial order does */
    hf_txn_id *writer;  /* per key, now */
    hf_states *s;       /* reads find what was there before, or NULL */
    hf_txn_id *maker;   /* ... per holding: who left it last */
    const hf_map *told; /* who wrote what was read, or NULL */
    HF_VEC(hf_source) sources;
} teller;

static bool own_write_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (h->op_key[o] == h->op_key[op] && hf_states_writes(h, o))
            return true;
    return false;
}

/* Whose version of the key of o it is. */
static hf_txn_id writer_of(const teller *w, hf_op_id o, hf_value_id v)
{
    hf_key_id key = w->h->op_key[o];

    if (w->told)
        return hf_map_get(w->told, (uint64_t)hf_op_txn(w->h, o) << 32 | key);
    return w->s ? w->maker[hf_states_plain(w->s, key, v)] : w->writer[key];
}

/* t reads: which of several writes it was. */
static void tell_reads(teller *w, hf_txn_id t)
{
    const hf_history *h = w->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_op_kind kind = hf_op_kind_of(h, o);
        hf_value_id v = HF_NONE;

        if (h->op_kind[o] & HF_OP_FAILED)
            continue;
        if (hf_op_reads_item(kind))
            v = h->op_value[o];
        else if (kind == HF_OP_INCREMENT)
            v = hf_op_increment(h, o).before;
        if (v == HF_NONE || w->is_list[h->op_key[o]] ||
            own_write_before(h, t, o))
            continue;
        if (w->is_counter[h->op_key[o]]
                ? w->counters
                : w->n_writes[v] + hf_value_is_initial(h, h->op_key[o], v) > 1)
            hf_vec_push(&w->sources, (hf_source){o, 0, writer_of(w, o, v)});
    }
}

static void tell_writes(teller *w, hf_txn_id t)
{
    const hf_history *h = w->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_states_writes(h, o))
            w->writer[h->op_key[o]] = t;
}

static int by_op(const void *a, const void *b)
{
    const hf_source *x = a, *y = b;

    return (x->op > y->op) - (x->op < y->op);
}

static void count_writes(teller *w)
{
    const hf_history *h = w->h;

    for (hf_op_id o = 0; o < h->n_ops; o++) {
        hf_value_id v;

        if (!hf_states_writes(h, o))
            continue;
        v = hf_op_kind_of(h, o) == HF_OP_INCREMENT ? hf_op_increment(h, o).after
                                                   : h->op_value[o];
        if (v != HF_NONE)
            w->n_writes[v]++;
        w->is_list[h->op_key[o]] |= hf_op_kind_of(h, o) == HF_OP_APPEND;
        w->is_counter[h->op_key[o]] |= v == HF_NONE;
    }
}

/* In the order found, with what every transaction leaves. */
static void tell_past(decision *d, teller *w)
{
    hf_run run;

    w->s = &d->s;
    w->maker = HF_NEW_ARRAY(hf_txn_id, (size_t)d->s.n_holdings + 1);
    memset(w->maker, 0xff, ((size_t)d->s.n_holdings + 1) * sizeof(hf_txn_id));
    hf_run_init(&run, &d->s);
    for (size_t i = 0; i < d->events.n; i++) {
        uint32_t node = d->events.at[i] / 2;

        if (!(d->events.at[i] & 1u)) {
            tell_reads(w, d->s.txn[node]);
            continue;
        }
        hf_run_do(&run, node, true, true);
        for (uint32_t e = d->s.effect_first[node];
             e < d->s.effect_first[node + 1]; e++) {
            hf_holding now = run.now[d->s.effects.at[e].cell];

            if (now != HF_OFF)
                w->maker[now] = d->s.txn[node];
        }
    }
    hf_run_release(&run);
    hf_free(w->maker);
}

/* The sources of reads that could come from several writes. */
static void set_sources(decision *d)
{
    const hf_history *h = d->h;
    hf_witness *w = &d->r->witness;
    teller x = {.h = h,
                .counters = w->kind != HF_WITNESS_SERIAL,
                .told = d->s.partial ? &d->model.sources : NULL};

    x.n_writes = HF_NEW_ZEROED(uint32_t, (size_t)h->n_values + 1);
    x.is_list = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    x.is_counter = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    x.writer = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_keys + 1);
    memset(x.writer, 0xff, ((size_t)h->n_keys + 1) * sizeof(*x.writer));
    count_writes(&x);
    if (d->s.past)
        tell_past(d, &x);
    for (size_t i = 0; i < d->events.n && !d->s.past; i++) {
        hf_txn_id t = d->s.txn[d->events.at[i] / 2];

        if (d->events.at[i] & 1u)
            tell_writes(&x, t);
        else
            tell_reads(&x, t);
    }
    if (x.sources.n > 1)
        qsort(x.sources.at, x.sources.n, sizeof(*x.sources.at), by_op);
    w->n_sources = (uint32_t)x.sources.n;
    w->sources = hf_arena_get(&d->r->arena,
                              hf_array_size(x.sources.n, sizeof(*w->sources)));
    if (x.sources.n > 0)
        memcpy(w->sources, x.sources.at, x.sources.n * sizeof(*w->sources));
    hf_vec_release(&x.sources);
    hf_free(x.n_writes);
    hf_free(x.is_list);
    hf_free(x.is_counter);
    hf_free(x.writer);
}

static void set_valid(decision *d)
{
    hf_level_shape shape = d->level->shape;
    hf_witness *w = &d->r->witness;

    merge_parts(d);
    *w = (hf_witness){.kind = HF_WITNESS_SERIAL};
    if (shape == HF_SHAPE_WW)
        w->kind = HF_WITNESS_COMMIT; /* reads do not matter */
    else if (d->s.past || d->s.partial)
        w->kind = HF_WITNESS_COMMIT;
    else if (d->s.snapshots)
        w->kind = shape == HF_SHAPE_SNAPSHOT ? HF_WITNESS_SNAPSHOT
                                             : HF_WITNESS_COMMIT;
    w->order = hf_arena_get(&d->r->arena,
                            hf_array_size(d->events.n, sizeof(*w->order)));
    for (size_t i = 0; i < d->events.n; i++) {
        uint32_t e = d->events.at[i];
        hf_txn_id t = d->s.txn[e / 2];

        if (w->kind == HF_WITNESS_SNAPSHOT)
            w->order[w->n_order++] = 2 * t + (e & 1u);
        else if (e & 1u)
            w->order[w->n_order++] = t;
    }
    if (shape != HF_SHAPE_WW)
        set_sources(d);
    d->r->verdict = HF_VALID;
    d->r->reason = NULL;
}

/* ---- invalid ------------------------------------------------------------- */

hf_budget hf_states_share(const hf_budget *b, double seconds)
{
    hf_budget share = {0};
    double gone;

    if (!b) {
        share.seconds = seconds;
        hf_budget_start(&share);
        return share;
    }
    share = *b;
    share.countdown = 0;
    gone = (double)(hf_clock_ns() - b->started_ns) / 1e9;
    if (b->seconds == 0 || gone + seconds < b->seconds)
        share.seconds = gone + seconds;
    return share;
}

static bool refute(decision *d, double seconds)
{
    const hf_states *s = &d->s;
    hf_states_form form = {.past = true};
    hf_txn_id *txns = HF_NEW_ARRAY(hf_txn_id, (size_t)d->h->n_txns + 1);
    uint32_t n = 0;
    bool found;
    uint8_t *in = HF_NEW_ZEROED(uint8_t, (size_t)d->h->n_txns + 1);

    if (!s->past) /* else that is by which it was refuted */
        (void)hf_states_decides(d->level, &form);
    /* those that could not have happened may still have been read from */
    memset(in, 1, d->h->n_txns);
    for (uint32_t i = 0; i < s->n; i++)
        in[s->txn[i]] = i >= s->part_first[d->limit.part] &&
                        i < s->part_first[d->limit.part + 1];
    for (hf_txn_id t = 0; t < d->h->n_txns; t++)
        if (in[t])
            txns[n++] = t;
    found = hf_states_refute(d->h, txns, n, form, d->limit.n_steps,
                             seconds > 1 ? seconds : 1, d->budget, d->r);
    hf_free(in);
    hf_free(txns);
    return found;
}

/* ---- all ----------------------------------------------------------------- */

static void release(decision *d)
{
    hf_states_release(&d->s);
    d->s = (hf_states){0};
    hf_vec_release(&d->events);
    d->events = (hf_states_order){0};
    hf_states_model_release(&d->model);
    hf_states_model_init(&d->model);
}

static hf_states_answer search(decision *d, hf_states_form form, uint64_t steps)
{
    hf_states_answer answer = HF_STATES_OPEN;
    uint32_t *rank;

    d->limit = (hf_states_limit){.steps = steps, .budget = d->budget};
    hf_states_build(&d->s, d->h, form, NULL);
    if (d->s.unfit)
        return HF_STATES_OPEN;
    rank = rank_events(d);
    answer = hf_states_search(&d->s, rank, &d->limit, &d->events);
    d->r->worlds += d->limit.n_states;
    d->n_steps += d->limit.n_steps;
    d->n_states += d->limit.n_states;
    hf_free(rank);
    return answer;
}

/* The same by a solver, for so many seconds. */
static hf_states_answer solve(decision *d, hf_states_form form, double seconds)
{
    hf_budget share = hf_states_share(d->budget, seconds);
    hf_states_answer answer;
    uint32_t *rank;

    hf_states_build(&d->s, d->h, form, NULL);
    if (d->s.unfit)
        return HF_STATES_OPEN;
    rank = rank_events(d);
    answer = hf_states_solve(&d->s, rank, &share, &d->model);
    d->limit.part = d->model.part;
    if (answer == HF_STATES_FOUND) {
        d->events = d->model.order;
        d->model.order = (hf_states_order){0};
    }
    hf_free(rank);
    return answer;
}

/* What ended it. */
static const char *limit_of(const decision *d)
{
    if (d->budget && d->budget->spent)
        return hf_budget_reason(d->budget);
    return "the limit of this search was reached";
}

static char *tell(decision *d, hf_states_answer answer)
{
    char text[400];

    if (d->s.unfit || d->says_nothing)
        return NULL;
    if (answer == HF_STATES_NONE)
        snprintf(text, sizeof(text),
                 "no order of the transactions explains what was read: a "
                 "search over states came to %" PRIu64
                 " that lead nowhere, and none is left; but few enough that "
                 "are impossible by themselves, to be checked again, were not "
                 "found; %s",
                 d->n_states, limit_of(d));
    else
        snprintf(text, sizeof(text),
                 "a search over states executed %" PRIu64
                 " transactions and found %" PRIu64
                 " states that lead nowhere, but no order of all, and no "
                 "contradiction; %s",
                 d->n_steps, d->n_states, limit_of(d));
    return hf_arena_text(&d->r->arena, text, strlen(text));
}

/* The strongest form of snapshot isolation that asks for no more than the
 * level does, if it proves the level. */
static bool snapshot_proves(const hf_level_info *level)
{
    hf_level form = level->real_time ? HF_STRICT_SNAPSHOT_ISOLATION
                    : level->session_order
                        ? HF_STRONG_SESSION_SNAPSHOT_ISOLATION
                        : HF_SNAPSHOT_ISOLATION;

    return hf_level_implies(form, level->level);
}

/* A shorter search first: an order that keeps what was recorded of sessions
 * and time, if the level does not ask for it.  There are fewer of these, and
 * often there is one. */
static bool find_stricter(decision *d, uint64_t steps)
{
    const hf_level_info *info = d->level;
    hf_states_form form = {.sessions = true, .times = d->h->txn_begin != NULL};
    uint64_t most = 20000 + 30 * (uint64_t)d->h->n_txns;
    hf_states_answer answer;

    if (info->session_order && (info->real_time || !form.times))
        return false;
    answer = search(d, form, steps < most ? steps : most);
    if (answer != HF_STATES_FOUND)
        release(d);
    return answer == HF_STATES_FOUND;
}

static bool has_kind(const decision *d, hf_cell_kind kind)
{
    for (hf_key_id k = 0; k < d->h->n_keys; k++)
        if (d->s.kind[k] == kind)
            return true;
    return false;
}

bool hf_states_decides(const hf_level_info *level, hf_states_form *ret)
{
    *ret = (hf_states_form){.sessions = level->session_order,
                            .times = level->real_time,
                            .snapshots = level->shape == HF_SHAPE_SNAPSHOT,
                            .past = level->level == HF_READ_COMMITTED,
                            .partial = level->shape == HF_SHAPE_SINGLE};
    return level->shape == HF_SHAPE_SERIAL || level->shape == HF_SHAPE_ITEM ||
           ret->snapshots || ret->past || ret->partial;
}

/* To the end: by states, and by a solver where there are counters, in turn. */
static hf_states_answer decide(decision *d, hf_states_form form)
{
    hf_states_answer answer = HF_STATES_OPEN;
    uint64_t steps = FIRST_STEPS;
    double seconds = FIRST_SECONDS;
    bool counters = has_kind(d, HF_CELL_COUNTER), helps = counters;

    if ((form.partial && !counters) ||
        ((form.past || form.partial) && has_kind(d, HF_CELL_LIST))) {
        d->says_nothing = true;
        return HF_STATES_OPEN;
    }
    while (answer == HF_STATES_OPEN && !hf_budget_spent(d->budget)) {
        release(d);
        if (helps) {
            answer = solve(d, form, seconds);
            helps = d->model.cut_short;
        }
        if (answer == HF_STATES_OPEN && !form.partial && !d->s.unfit &&
            !hf_budget_spent(d->budget)) {
            release(d);
            answer = search(d, form, steps);
        }
        d->says_nothing = form.partial && !helps && answer == HF_STATES_OPEN;
        if (d->s.unfit || d->says_nothing)
            break;
        steps *= MORE;
        seconds *= MORE;
    }
    return answer;
}

/* What read-committed forbids, no level that implies it allows: for those that
 * are no order of transactions that may be all that is soon said.  The search
 * is the one by which d is refuted then. */
static bool is_refuted_by_less(decision *d, uint64_t steps)
{
    hf_states_form form;

    if (d->level->level == HF_READ_COMMITTED ||
        !hf_level_implies(d->level->level, HF_READ_COMMITTED) ||
        (hf_states_decides(d->level, &form) &&
         (!form.partial || has_kind(d, HF_CELL_COUNTER))) ||
        d->s.unfit || has_kind(d, HF_CELL_LIST) || hf_budget_spent(d->budget))
        return false;
    release(d);
    form = (hf_states_form){.past = true};
    return search(d, form, steps) == HF_STATES_NONE;
}

/* An order that proves the level, whatever else there may be. */
static hf_states_answer guess(decision *d, uint64_t steps)
{
    const hf_level_info *info = d->level;
    hf_states_form form = {.sessions = info->session_order,
                           .times = info->real_time};
    hf_states_answer answer;

    if (find_stricter(d, steps))
        return HF_STATES_FOUND;
    if (info->shape == HF_SHAPE_SERIAL || info->shape == HF_SHAPE_ITEM)
        return search(d, form, steps);
    answer = search(d, form, steps < 1000000 ? steps / 2 : 500000);
    if (answer == HF_STATES_FOUND)
        return answer;
    if (info->shape != HF_SHAPE_WW && !d->s.unfit && snapshot_proves(info) &&
        !hf_budget_spent(d->budget)) {
        release(d);
        form.snapshots = true;
        answer = search(d, form, steps);
    }
    if (answer != HF_STATES_FOUND && info->level == HF_READ_COMMITTED &&
        !d->s.unfit && !has_kind(d, HF_CELL_LIST) &&
        !hf_budget_spent(d->budget)) {
        release(d);
        form.past = true;
        answer = search(d, form, steps);
    }
    /* of weaker levels that says nothing */
    if (answer == HF_STATES_NONE && info->shape != HF_SHAPE_SNAPSHOT &&
        !form.past) {
        answer = HF_STATES_OPEN;
        d->says_nothing = true;
    }
    if (answer == HF_STATES_OPEN && is_refuted_by_less(d, steps)) {
        answer = HF_STATES_NONE;
        d->says_nothing = false;
    }
    return answer;
}

bool hf_states_find(const hf_history *h, uint64_t steps, double seconds,
                    hf_budget *budget, hf_result *r, bool *ret_none)
{
    hf_budget share = hf_states_share(budget, seconds);
    decision d = {
        .h = h, .level = hf_level_get(r->level), .budget = &share, .r = r};
    hf_states_answer answer;
    bool found;

    hf_states_model_init(&d.model);
    answer = guess(&d, steps);
    found = answer == HF_STATES_FOUND;
    *ret_none = answer == HF_STATES_NONE;
    if (found)
        set_valid(&d);
    release(&d);
    hf_states_model_release(&d.model);
    return found;
}

bool hf_states_decide(const hf_history *h, hf_budget *budget, hf_result *r,
                      char **ret_reason)
{
    uint64_t start = hf_clock_ns();
    decision d = {
        .h = h, .level = hf_level_get(r->level), .budget = budget, .r = r};
    hf_states_form form;
    bool decides = hf_states_decides(d.level, &form), done;
    hf_states_answer answer;

    hf_states_model_init(&d.model);
    answer = guess(&d, decides ? FIRST_STEPS : GUESS_STEPS);
    if (answer == HF_STATES_OPEN && decides && !d.s.unfit &&
        !hf_budget_spent(budget)) {
        d.says_nothing = false;
        answer = decide(&d, form);
    }
    done = answer == HF_STATES_FOUND;
    if (done)
        set_valid(&d);
    else if (answer == HF_STATES_NONE)
        done = refute(&d, (double)(hf_clock_ns() - start) / 1e9);
    *ret_reason = done ? NULL : tell(&d, answer);
    release(&d);
    hf_states_model_release(&d.model);
    return done;
}

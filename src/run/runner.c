/* runner.c: the threads of a run.
 *
 * Each client is a thread of its own; the thread that called hf_run() watches
 * them: time, Ctrl-C, a failed write of the history.  When the run ends a
 * client may finish its transaction; one that takes too long is interrupted,
 * which makes a commit in hand one of unknown outcome.
 */
#include "run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/budget.h"
#include "base/error.h"
#include "base/mem.h"
#include "history/history.h"
#include "model/level.h"
#include "run/runner_impl.h"
#include "workload/play.h"

#define TICK 0.02
#define PROGRESS_NS 100000000u
#define FIRST_PAUSE 0.01 /* after a lost connection; doubles up to: */
#define LAST_PAUSE 0.5
#define PATIENCE_NS 2000000000u /* with clients that should end */
/* Connecting anew fails for so long: the server is gone for good. */
#define GONE_SECONDS 30.0
/* The same when the run is over. */
#define BACK_SECONDS 5.0
#define LOOKS_OF 4u    /* one of so many transactions */
#define CHECK_TRIES 5u /* at the invariants */

uint64_t hf_runner_now(const hf_runner *r)
{
    return hf_clock_ns() - r->epoch;
}

static void pause_for(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

bool hf_runner_sleep(hf_runner *r, double seconds)
{
    uint64_t until = hf_clock_ns() + (uint64_t)(seconds * 1e9);

    while (!atomic_load(&r->stop)) {
        uint64_t now = hf_clock_ns();
        double left = now < until ? (double)(until - now) / 1e9 : 0;

        if (left == 0)
            return true;
        pause_for(left < TICK ? left : TICK);
    }
    return false;
}

void hf_runner_note(hf_runner *r, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pthread_mutex_lock(&r->mutex);
    if (r->o->note)
        r->o->note(r->o->user, text);
    pthread_mutex_unlock(&r->mutex);
}

void hf_runner_fail(hf_runner *r, const hf_error *err)
{
    pthread_mutex_lock(&r->mutex);
    if (!r->failed)
        r->failure = *err;
    r->failed = true;
    pthread_mutex_unlock(&r->mutex);
    atomic_store(&r->stop, true);
}

static bool has_failed(hf_runner *r)
{
    bool failed;

    pthread_mutex_lock(&r->mutex);
    failed = r->failed;
    pthread_mutex_unlock(&r->mutex);
    return failed;
}

/* ---- a client ------------------------------------------------------------ */

static void count_latency(hf_worker *w, uint64_t ns)
{
    double bucket = ns < 2 ? 0 : 8 * log2((double)ns);
    unsigned i = (unsigned)bucket;

    if (i >= HF_LATENCY_BUCKETS)
        i = HF_LATENCY_BUCKETS - 1;
    atomic_fetch_add_explicit(&w->latency[i], 1, memory_order_relaxed);
}

static void count(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* Connects anew until it works.  False: the run ends. */
static bool connect_again(hf_worker *w, bool first)
{
    hf_runner *r = w->run;
    double pause = FIRST_PAUSE;
    uint64_t since = hf_clock_ns();
    hf_error err;

    if (!first) {
        count(&w->reconnects);
        if (w->client.log) {
            hf_log_flush(w->client.log);
            hf_log_new_session(w->client.log);
        }
    }
    while (!atomic_load(&r->stop)) {
        if (hf_client_connect(&w->client, &err) == HF_OK)
            return true;
        if (first || hf_clock_ns() - since > (uint64_t)(GONE_SECONDS * 1e9)) {
            hf_error_context(&err, "client %u", w->client.number);
            hf_runner_fail(r, &err);
            return false;
        }
        if (!hf_runner_sleep(r, pause))
            return false;
        pause = pause * 2 > LAST_PAUSE ? LAST_PAUSE : pause * 2;
    }
    return false;
}

static bool take_ticket(hf_runner *r)
{
    if (atomic_load(&r->stop))
        return false;
    return r->o->transactions == 0 || atomic_fetch_sub(&r->left, 1) > 0;
}

static void fail_client(hf_worker *w)
{
    const hf_db_answer *a = &w->client.answer;
    hf_error err;

    (void)hf_fail(&err, HF_ERR_IO, "client %u: %s%s%s%s", w->client.number,
                  a->text[0] ? a->text : "the database refused to go on",
                  a->code[0] ? " (" : "", a->code, a->code[0] ? ")" : "");
    hf_runner_fail(w->run, &err);
}

/* Do this client's readers go to a node that serves them alone? */
static bool goes_apart(const hf_worker *w)
{
    return w->run->o->db->driver->readers_apart && w->client.number % 2 == 1;
}

/* One transaction.  True: the database aborted it, worth another try. */
static bool run_once(hf_worker *w, const hf_drawn *d)
{
    hf_runner *r = w->run;
    hf_client *c = &w->client;
    const hf_workload *workload = hf_play_workload(r->o->play);
    const hf_workload_type *type = &workload->types[d->type];
    bool look = r->looks && !type->read_only && goes_apart(w) &&
                hf_rng_below(hf_client_rng(c), LOOKS_OF) == 0;
    uint64_t started = hf_clock_ns();
    hf_client_state state;
    hf_outcome outcome;

    if (look ? hf_client_begin_look(c, r->o->level)
             : hf_client_begin(c, r->o->level, type->read_only))
        type->run(r->o->play, c, d);
    if ((look || type->read_only) && goes_apart(w) && c->seen > 0)
        count(&r->reads);
    state = c->state; /* of the steps */
    outcome = hf_client_end(c);
    if (outcome == HF_COMMITTED) {
        count(&w->committed);
        count_latency(w, hf_clock_ns() - started);
    } else {
        count(outcome == HF_ABORTED ? &w->aborted : &w->unknown);
    }
    if (state == HF_CLIENT_GAVE_UP)
        count(&w->given_up);
    if (outcome != HF_ABORTED && workload->done && !look)
        workload->done(r->o->play, c, d, outcome == HF_COMMITTED);
    if (c->state == HF_CLIENT_FAILED)
        fail_client(w);
    if (c->state == HF_CLIENT_LOST || c->state == HF_CLIENT_FAILED)
        hf_client_disconnect(c);
    return c->state == HF_CLIENT_ABORTED;
}

static void *client_main(void *user)
{
    hf_worker *w = user;
    hf_runner *r = w->run;
    bool connected = w->client.session || connect_again(w, true);
    hf_drawn drawn;

    while (connected && take_ticket(r)) {
        hf_play_draw(r->o->play, &w->client, &drawn);
        for (unsigned tries = 0;; tries++) {
            bool again = run_once(w, &drawn);

            if (!w->client.session) {
                connected = connect_again(w, false);
                break;
            }
            if (!again || tries >= r->o->retries || !take_ticket(r))
                break;
            count(&w->retries);
        }
    }
    if (w->client.log)
        hf_log_flush(w->client.log);
    atomic_store(&w->ended, true);
    return NULL;
}

/* ---- watching ------------------------------------------------------------ */

/* The latency that a part of the transactions does not exceed. */
static double quantile(const uint64_t *buckets, double part)
{
    uint64_t all = 0, below = 0;

    for (unsigned i = 0; i < HF_LATENCY_BUCKETS; i++)
        all += buckets[i];
    for (unsigned i = 0; i < HF_LATENCY_BUCKETS && all > 0; i++) {
        below += buckets[i];
        if ((double)below >= part * (double)all)
            return exp2((i + 0.5) / 8) / 1e9;
    }
    return 0;
}

static void look(const hf_runner *r, hf_run_report *ret)
{
    uint64_t buckets[HF_LATENCY_BUCKETS] = {0};
    hf_run_progress *p = &ret->end;

    *p = (hf_run_progress){0};
    ret->given_up = ret->retries = ret->reconnects = 0;
    for (unsigned i = 0; i < r->o->clients; i++) {
        hf_worker *w = &r->workers[i];

        p->committed += atomic_load(&w->committed);
        p->aborted += atomic_load(&w->aborted);
        p->unknown += atomic_load(&w->unknown);
        ret->given_up += atomic_load(&w->given_up);
        ret->retries += atomic_load(&w->retries);
        ret->reconnects += atomic_load(&w->reconnects);
        for (unsigned k = 0; k < HF_LATENCY_BUCKETS; k++)
            buckets[k] += atomic_load(&w->latency[k]);
    }
    p->median = quantile(buckets, 0.5);
    p->slow = quantile(buckets, 0.99);
    p->seconds = (double)(hf_runner_now(r) - r->clients_epoch) / 1e9;
    p->bytes = r->recorder ? hf_recorder_bytes(r->recorder) : 0;
    ret->faults = atomic_load(&r->faults);
}

static bool all_ended(const hf_runner *r)
{
    for (unsigned i = 0; i < r->o->clients; i++)
        if (r->workers[i].started && !atomic_load(&r->workers[i].ended))
            return false;
    return true;
}

static bool should_stop(hf_runner *r, hf_run_report *ret)
{
    const hf_run_options *o = r->o;

    if (o->stop && o->stop(o->user)) {
        ret->stopped = true;
        return true;
    }
    if (r->recorder && hf_recorder_failed(r->recorder))
        return true;
    return o->seconds > 0 &&
           (double)(hf_runner_now(r) - r->clients_epoch) / 1e9 >= o->seconds;
}

static void interrupt_all(hf_runner *r)
{
    for (unsigned i = 0; i < r->o->clients; i++)
        if (r->workers[i].started && !atomic_load(&r->workers[i].ended))
            r->workers[i].cut |= hf_client_interrupt(&r->workers[i].client);
}

static void watch(hf_runner *r, hf_run_report *ret)
{
    uint64_t shown = 0, stopped = 0;

    while (!all_ended(r)) {
        uint64_t now = hf_clock_ns();

        pause_for(stopped ? TICK / 4 : TICK);
        if (should_stop(r, ret))
            atomic_store(&r->stop, true);
        if (atomic_load(&r->stop) && stopped == 0)
            stopped = now;
        if (stopped && now - stopped > PATIENCE_NS)
            interrupt_all(r);
        if (r->o->progress && now - shown > PROGRESS_NS) {
            look(r, ret);
            r->o->progress(r->o->user, &ret->end);
            shown = now;
        }
    }
}

/* ---- the run ------------------------------------------------------------- */

/* Where no transaction says that it only reads, a node that serves readers
 * would stand idle: some of those of odd clients only read then, what they read
 * before their first write. */
static void decide_looks(hf_runner *r)
{
    if (!r->o->db->driver->readers_apart || hf_play_reads(r->o->play))
        return;
    r->looks = true;
    hf_runner_note(r,
                   "no transaction of %s says that it only reads: one of %u of "
                   "odd clients ends before its first write, for the standby",
                   hf_play_workload(r->o->play)->name, LOOKS_OF);
}

static void warn_of_idle_nodes(hf_runner *r)
{
    if (r->o->db->driver->readers_apart && atomic_load(&r->reads) == 0)
        hf_runner_note(r, "the standby served no read: nothing is said about "
                          "it");
}

static hf_status start_clients(hf_runner *r, hf_error *err)
{
    hf_status st = HF_OK;

    /* one after the other, so that a refusal is one line */
    for (unsigned i = 0; i < r->o->clients && st == HF_OK; i++) {
        st = hf_client_connect(&r->workers[i].client, err);
        if (st != HF_OK && r->o->clients > 1)
            hf_error_context(err, "client %u", i);
    }
    decide_looks(r);
    r->clients_epoch = hf_runner_now(r);
    for (unsigned i = 0; i < r->o->clients && st == HF_OK; i++) {
        hf_worker *w = &r->workers[i];

        w->started = pthread_create(&w->thread, NULL, client_main, w) == 0;
        if (!w->started)
            st = hf_fail(err, HF_ERR_IO, "could not start thread %u", i);
    }
    if (st != HF_OK)
        atomic_store(&r->stop, true);
    return st;
}

static void join_clients(hf_runner *r)
{
    for (unsigned i = 0; i < r->o->clients; i++)
        if (r->workers[i].started)
            pthread_join(r->workers[i].thread, NULL);
}

/* One look at the invariants.  False: worth another one. */
static bool look_at_invariants(hf_runner *r, hf_client *c, hf_run_report *ret)
{
    hf_play *p = r->o->play;
    uint64_t before = hf_play_breaches(p);
    hf_error err;

    if (!c->session && hf_client_connect(c, &err) != HF_OK) {
        (void)snprintf(ret->unchecked, sizeof(ret->unchecked), "%.200s",
                       err.text);
        return true;
    }
    if (hf_client_begin(c, r->o->level, true))
        hf_play_check(p, c);
    (void)hf_client_end(c);
    ret->checked = c->state == HF_CLIENT_LIVE;
    if (ret->checked)
        return true;
    hf_play_forget(p, before);
    (void)snprintf(ret->unchecked, sizeof(ret->unchecked), "%s",
                   c->answer.text);
    if (c->state == HF_CLIENT_LOST)
        hf_client_disconnect(c);
    return c->state != HF_CLIENT_LOST && c->state != HF_CLIENT_ABORTED;
}

/* With a client that is not recorded.  A database may abort it, or be slow to
 * come back from what was done to it. */
static void check_invariants(hf_runner *r, hf_run_report *ret)
{
    hf_client c;

    hf_client_init(&c, r->o->db, 0, r->o->clients, r->o->seed);
    c.statements = &r->statements;
    c.epoch = r->epoch;
    for (unsigned tries = 0; tries < CHECK_TRIES; tries++) {
        if (look_at_invariants(r, &c, ret) ||
            (r->o->stop && r->o->stop(r->o->user)))
            break;
        pause_for(LAST_PAUSE / 4);
    }
    hf_client_release(&c);
}

/* When the time is over a client may be trying to connect anew: was that a
 * short break, or is the database gone?  All faults have ended.  Whom we
 * interrupted, as a call took long, says nothing about it. */
static hf_status look_for_database(hf_runner *r, hf_error *err)
{
    uint64_t since = hf_clock_ns();
    hf_client *lost = NULL;

    for (unsigned i = 0; i < r->o->clients && !lost; i++)
        if (!r->workers[i].client.session && !r->workers[i].cut)
            lost = &r->workers[i].client;
    while (lost && hf_client_connect(lost, err) != HF_OK) {
        if (hf_clock_ns() - since > (uint64_t)(BACK_SECONDS * 1e9) ||
            (r->o->stop && r->o->stop(r->o->user))) {
            hf_error_context(err, "the database is gone");
            return HF_ERR_IO;
        }
        pause_for(LAST_PAUSE / 4);
    }
    return HF_OK;
}

static hf_status run_clients(hf_runner *r, hf_run_report *ret, hf_error *err)
{
    hf_status st = start_clients(r, err);

    if (st == HF_OK)
        st = hf_faults_start(r, err);
    watch(r, ret);
    atomic_store(&r->stop, true);
    join_clients(r);
    warn_of_idle_nodes(r);
    look(r, ret);
    hf_faults_end(r);
    ret->faults = atomic_load(&r->faults);
    if (st == HF_OK && !ret->stopped && !has_failed(r))
        st = look_for_database(r, err);
    for (unsigned i = 0; i < r->o->clients; i++) {
        ret->scans += r->workers[i].client.scans;
        hf_client_disconnect(&r->workers[i].client);
    }
    if (st == HF_OK && has_failed(r)) {
        *err = r->failure;
        st = HF_ERR_IO;
    }
    if (st == HF_OK && hf_play_workload(r->o->play)->check)
        check_invariants(r, ret);
    return st;
}

static hf_status open_recorder(hf_runner *r, hf_error *err)
{
    const hf_run_options *o = r->o;

    if (!o->output)
        return HF_OK;
    return hf_recorder_open(&(hf_recorder_options){.path = o->output,
                                                   .text = o->text,
                                                   .replace = o->replace,
                                                   .name = o->name,
                                                   .clients = o->clients,
                                                   .label = o->label,
                                                   .piece = o->piece,
                                                   .user = o->piece_user},
                            &r->recorder, err);
}

/* Is what looks did not return left out? */
static bool is_weak(const hf_run_options *o)
{
    return hf_play_workload(o->play)->come_and_go &&
           o->label != HF_LEVEL_UNSET &&
           !hf_level_implies((hf_level)o->label, HF_SNAPSHOT_ISOLATION);
}

static void init(hf_runner *r)
{
    const hf_run_options *o = r->o;

    r->epoch = hf_clock_ns();
    pthread_mutex_init(&r->mutex, NULL);
    hf_statements_init(&r->statements);
    atomic_store(&r->left, (int64_t)o->transactions);
    r->workers = HF_NEW_ZEROED(hf_worker, o->clients);
    for (unsigned i = 0; i < o->clients; i++) {
        hf_client *c = &r->workers[i].client;

        r->workers[i].run = r;
        hf_client_init(c, o->db, i, o->clients, o->seed);
        c->statements = &r->statements;
        c->epoch = r->epoch;
        if (o->db->driver->clock_skew)
            c->epoch -= o->db->driver->clock_skew(o->db, i);
        c->sql = o->sql;
        c->no_cover = is_weak(o);
        if (r->recorder)
            c->log = hf_recorder_log(r->recorder, i);
    }
}

static void release(hf_runner *r)
{
    for (unsigned i = 0; i < r->o->clients; i++)
        hf_client_release(&r->workers[i].client);
    for (size_t i = 0; i < r->texts.n; i++)
        hf_free(r->texts.at[i]);
    hf_vec_release(&r->texts);
    hf_free(r->workers);
    hf_schema_release(&r->schema);
    hf_statements_release(&r->statements);
    pthread_mutex_destroy(&r->mutex);
}

hf_status hf_run(const hf_run_options *o, hf_run_report *ret, hf_error *err)
{
    hf_runner r = {.o = o};
    hf_status st = hf_faults_check(o, err), closed = HF_OK;
    hf_recorder_totals totals;
    bool ran = false;
    hf_error other;

    *ret = (hf_run_report){0};
    if (st == HF_OK)
        st = open_recorder(&r, err);
    if (st != HF_OK)
        return st;
    init(&r);
    st = hf_setup(&r, err);
    if (st == HF_OK) {
        st = run_clients(&r, ret, err);
        ran = ret->end.committed + ret->end.aborted + ret->end.unknown > 0;
    }
    if (r.recorder) {
        bool keep = ran || st == HF_OK;

        closed = hf_recorder_close(r.recorder, !keep, &totals, &other);
        ret->recorded = keep;
        ret->operations = totals.operations;
        ret->end.bytes = totals.bytes;
    }
    release(&r);
    if (st == HF_OK && closed != HF_OK) {
        *err = other;
        st = closed;
    }
    return st;
}

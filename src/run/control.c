/* control.c: an application run one transaction at a time, see control.h.
 *
 * No threads: a turn is one transaction of one client, from begin to end.
 */
#include "run/control.h"

#include <string.h>

#include "base/budget.h"
#include "base/error.h"
#include "run/control_impl.h"
#include "run/runner_impl.h"
#include "sql/value.h"

static const char *const divergences[HF_DIVERGENCE_COUNT] = {
    [HF_DIVERGED_KEY] = "reads another row",
    [HF_DIVERGED_WRITER] = "the writer did not write the row",
    [HF_DIVERGED_LEVEL] = "the read is not legal at the level",
    [HF_DIVERGED_ABORT] = "aborts",
    [HF_DIVERGED_COMMIT] = "would commit now, and is aborted as it was",
};

const char *hf_divergence_name(hf_divergence_kind kind)
{
    return kind < HF_DIVERGENCE_COUNT ? divergences[kind] : "?";
}

void hf_tape_free(hf_tape *t)
{
    if (!t)
        return;
    hf_free(t->at);
    hf_free(t);
}

void hf_control_report_release(hf_control_report *r)
{
    hf_history_free(r->history);
    hf_tape_free(r->tape);
    hf_vec_release(&r->broken);
    hf_vec_release(&r->divergences);
    hf_arena_release(&r->arena);
    *r = (hf_control_report){0};
}

/* ---- steps --------------------------------------------------------------- */

bool hf_step_locks(const hf_step *s)
{
    return s->kind == HF_STEP_UPDATE || s->kind == HF_STEP_DELETE ||
           s->kind == HF_STEP_INSERT || s->kind == HF_STEP_UPSERT ||
           strstr(s->sql, "FOR UPDATE") || strstr(s->sql, "FOR SHARE");
}

static void before_step(void *user, const hf_step *step)
{
    hf_controller *c = user;

    c->step = step;
    if (c->running)
        hf_legal_statement(c->legal, hf_step_locks(step));
    if (c->running)
        hf_vec_push(&c->events, (hf_event){.kind = HF_EVENT_SQL,
                                           .at = (uint32_t)c->told.n});
    if (c->running)
        hf_vec_push(&c->told, (hf_told_statement){0});
}

static hf_scalar scalar_of(hf_arena *arena, const hf_sql_value *v)
{
    hf_str s;

    if (v->type == HF_SQL_NULL)
        return (hf_scalar){.type = HF_NIL};
    if (v->type == HF_SQL_INT || v->type == HF_SQL_BOOL)
        return (hf_scalar){.type = v->type == HF_SQL_INT ? HF_INT : HF_BOOL,
                           .number = v->integer};
    s = hf_sql_print(v, HF_SQL_POSTGRES, arena);
    return (hf_scalar){.type = hf_sql_is_number(v) ? HF_REAL : HF_TEXT,
                       .text = hf_arena_text(arena, s.ptr, s.len),
                       .length = s.len};
}

static const hf_scalar *scalars_of(hf_arena *arena, const hf_sql_value *v,
                                   size_t n)
{
    hf_scalar *all = hf_arena_get(arena, (n + 1) * sizeof(*all));

    for (size_t i = 0; i < n; i++)
        all[i] = scalar_of(arena, &v[i]);
    return all;
}

static void after_step(void *user, hf_client *client, const hf_step *step)
{
    hf_controller *c = user;
    hf_arena *arena = &c->report->arena;
    const hf_sql_result *rows = &client->rows;
    bool answered = client->state == HF_CLIENT_LIVE;
    hf_told_statement *t;
    hf_scalar *names;

    c->step = NULL;
    if (!c->running)
        return;
    t = &c->told.at[c->told.n - 1];
    t->failed = !answered;
    t->in = (hf_sql_in){
        .text = {.type = HF_TEXT,
                 .text = step->sql,
                 .length = strlen(step->sql)},
        .params = scalars_of(arena, client->params.at, client->params.n),
        .n_params = (uint32_t)client->params.n,
        .affected = UINT64_MAX};
    if (!answered)
        return;
    if (rows->n_columns == 0) {
        t->in.affected = rows->affected;
        return;
    }
    names = hf_arena_get(arena, (rows->n_columns + 1) * sizeof(*names));
    for (uint32_t i = 0; i < rows->n_columns; i++)
        names[i] = (hf_scalar){.type = HF_TEXT,
                               .text = hf_arena_text(arena, rows->names[i].ptr,
                                                     rows->names[i].len),
                               .length = rows->names[i].len};
    t->in.has_rows = true;
    t->in.names = names;
    t->in.n_columns = rows->n_columns;
    t->in.n_rows = (uint32_t)rows->n_rows;
    t->in.cells =
        scalars_of(arena, rows->cells, (size_t)rows->n_rows * rows->n_columns);
}

static const hf_client_hooks hooks = {before_step, after_step};

/* ---- a transaction ------------------------------------------------------- */

static void note_commit(hf_controller *c, hf_told_txn *t)
{
    uint32_t number = (uint32_t)c->txns.n; /* it is added next */

    t->place = hf_legal_commit(c->legal, c->written.at, c->written.n);
    hf_vec_push(&c->by_place, number);
    for (size_t i = 0; i < c->written.n; i++)
        hf_map_set(&c->writer, hf_store_newest(c->store, c->written.at[i]),
                   number);
    c->report->committed++;
    c->report->read_only += c->written.n == 0;
    c->report->writes += c->written.n;
}

static hf_outcome run_steps(hf_controller *c, hf_client *client,
                            const hf_drawn *d)
{
    const hf_workload *w = c->o->workload;
    hf_outcome outcome;

    if (hf_client_begin(client, HF_DB_DEFAULT, w->types[d->type].read_only))
        w->types[d->type].run(c->play, client, d);
    if (client->state == HF_CLIENT_LIVE &&
        !hf_legal_may_commit(c->legal, c->written.at, c->written.n))
        client->state = HF_CLIENT_REFUSED; /* as a database would */
    /* what aborted is no part of the plan, and stays so: a database may abort
     * a transaction at any level */
    c->held = c->o->plan && c->o->plan->txns.at[c->place].aborts &&
              client->state == HF_CLIENT_LIVE;
    if (c->held)
        client->state = HF_CLIENT_REFUSED;
    c->running = false;
    outcome = hf_client_end(client);
    if (outcome == HF_COMMITTED && w->done)
        w->done(c->play, client, d, true);
    return outcome;
}

/* Runs the transaction; what it was about to do is on the tape. */
static hf_status run_txn(hf_controller *c, unsigned number, unsigned index,
                         const hf_taped *taped, hf_error *err)
{
    hf_client *client = &c->clients[number];
    hf_told_txn t = {.client = number,
                     .index = index,
                     .type = taped->drawn.type,
                     .first_event = (uint32_t)c->events.n,
                     .place = HF_NONE,
                     .known = (uint32_t)c->by_place.n};

    client->rng = taped->rng;
    client->fresh = taped->fresh;
    client->counter = taped->counter;
    client->frozen = 1000000u * (index + 1u) + 1000u * number;
    c->written.n = 0;
    c->running = true;
    hf_legal_begin(c->legal, number);
    t.outcome = run_steps(c, client, &taped->drawn);
    t.n_events = (uint32_t)c->events.n - t.first_event;
    if (client->state == HF_CLIENT_FAILED || client->state == HF_CLIENT_LOST)
        return hf_fail(err, HF_ERR_IO, "client %u: %s", number,
                       client->answer.text);
    if (t.outcome == HF_COMMITTED) {
        note_commit(c, &t);
    } else {
        c->report->aborted++;
        hf_legal_abort(c->legal);
    }
    hf_vec_push(&c->txns, t);
    if (c->o->stop && c->o->stop(c->o->user))
        return hf_fail(err, HF_ERR_LIMIT, "interrupted");
    return HF_OK;
}

/* ---- observed ------------------------------------------------------------ */

/* Whose turn it is: any client that has not finished. */
static unsigned draw_client(const unsigned *done, unsigned n, unsigned most,
                            hf_rng *rng)
{
    unsigned left = 0, chosen, i = 0;

    for (unsigned k = 0; k < n; k++)
        left += done[k] < most;
    chosen = hf_rng_below(rng, left);
    for (;; i++)
        if (done[i] < most && chosen-- == 0)
            return i;
}

/* What the client does next: its parameters, and its kind unless the paper's
 * harness has drawn that. */
static void draw_next(hf_controller *c, unsigned turn, unsigned index,
                      hf_drawn *ret)
{
    unsigned *types;

    if (!c->o->paper) {
        hf_play_draw(c->play, &c->clients[turn], ret);
        return;
    }
    types = HF_NEW_ARRAY(unsigned, index + 1u);
    hf_paper_draw(c->o->paper, c->o->seed, turn, index + 1u, types);
    hf_play_draw_type(c->play, &c->clients[turn], types[index], ret);
    hf_free(types);
}

static hf_status observe(hf_controller *c, hf_error *err)
{
    unsigned n = c->o->clients, most = c->o->transactions;
    unsigned *done = HF_NEW_ZEROED(unsigned, n);
    hf_tape *tape = HF_NEW(hf_tape);
    hf_status st = HF_OK;
    hf_rng rng;

    c->report->tape = tape;
    tape->per_client = most;
    tape->at = HF_NEW_ZEROED(hf_taped, (size_t)n * most + 1);
    hf_rng_seed(&rng, hf_mix64(c->o->seed ^ 0x70726564696374u));
    for (uint64_t i = 0; i < (uint64_t)n * most && st == HF_OK; i++) {
        unsigned turn =
            c->o->paper ? (unsigned)(i % n) : draw_client(done, n, most, &rng);
        hf_client *client = &c->clients[turn];
        hf_taped *taped = &tape->at[(size_t)turn * most + done[turn]];

        draw_next(c, turn, done[turn], &taped->drawn);
        taped->rng = client->rng;
        taped->fresh = client->fresh;
        taped->counter = client->counter;
        st = run_txn(c, turn, done[turn]++, taped, err);
    }
    hf_free(done);
    return st;
}

/* ---- a plan -------------------------------------------------------------- */

static void note_outcome(hf_controller *c, const hf_plan_txn *p)
{
    const hf_told_txn *t = &c->txns.at[c->txns.n - 1];
    hf_divergence d = {.place = c->place};

    if ((t->outcome == HF_COMMITTED) == !p->aborts && !c->held)
        return;
    d.kind = p->aborts ? HF_DIVERGED_COMMIT : HF_DIVERGED_ABORT;
    hf_vec_push(&c->report->divergences, d);
}

static hf_status carry_out(hf_controller *c, hf_error *err)
{
    const hf_plan *plan = c->o->plan;
    hf_status st = HF_OK;

    for (uint32_t i = 0; i < plan->keys.n; i++) {
        uint64_t hash = hf_controller_hash(plan->keys.at[i]);

        while (hf_map_get(&c->plan_keys, hash) != UINT32_MAX)
            hash++;
        hf_map_set(&c->plan_keys, hash, i);
    }
    for (c->place = 0; c->place < plan->txns.n && st == HF_OK; c->place++) {
        const hf_plan_txn *p = &plan->txns.at[c->place];

        if (p->session >= c->o->clients || p->index >= c->o->tape->per_client)
            return hf_fail(err, HF_ERR_USAGE,
                           "the plan is not of this execution");
        c->used.n = 0;
        for (uint32_t k = 0; k < p->n_reads; k++)
            hf_vec_push(&c->used, 0);
        st = run_txn(
            c, p->session, p->index,
            &c->o->tape
                 ->at[(size_t)p->session * c->o->tape->per_client + p->index],
            err);
        if (st != HF_OK)
            break;
        hf_vec_push(&c->ran, (uint32_t)c->txns.n - 1);
        note_outcome(c, p);
    }
    return st;
}

/* ---- before and after ---------------------------------------------------- */

static hf_status make_play(const hf_control_options *o, hf_play **ret,
                           hf_error *err)
{
    hf_play *p = hf_play_new(o->workload, o->clients, o->seed);
    hf_status st = HF_OK;

    for (unsigned i = 0; i < o->n_sets && st == HF_OK; i++)
        st = hf_play_set(p, hf_str_of(o->sets[i]), err);
    for (unsigned i = 0; i < o->n_mixes && st == HF_OK; i++)
        st = hf_play_weigh(p, hf_str_of(o->mixes[i]), err);
    *ret = p;
    return st;
}

/* Tables and rows, as for any run. */
static hf_status set_up(hf_controller *c, hf_error *err)
{
    hf_run_options run = {.db = c->db,
                          .play = c->play,
                          .clients = c->o->clients,
                          .seed = c->o->seed};
    hf_runner r = {.o = &run, .epoch = hf_clock_ns()};
    hf_status st;

    pthread_mutex_init(&r.mutex, NULL);
    hf_statements_init(&r.statements);
    st = hf_setup(&r, err);
    for (size_t i = 0; i < r.texts.n; i++)
        hf_free(r.texts.at[i]);
    hf_vec_release(&r.texts);
    hf_schema_release(&r.schema);
    hf_statements_release(&r.statements);
    pthread_mutex_destroy(&r.mutex);
    return st;
}

static hf_status connect_clients(hf_controller *c, hf_error *err)
{
    hf_status st = HF_OK;

    hf_statements_init(&c->statements);
    c->clients = HF_NEW_ZEROED(hf_client, c->o->clients);
    for (unsigned i = 0; i < c->o->clients; i++) {
        hf_client_init(&c->clients[i], c->db, i, c->o->clients, c->o->seed);
        c->clients[i].statements = &c->statements;
        c->clients[i].hooks = &hooks;
        c->clients[i].hooks_user = c;
        c->clients[i].epoch = hf_clock_ns();
    }
    for (unsigned i = 0; i < c->o->clients && st == HF_OK; i++)
        st = hf_client_connect(&c->clients[i], err);
    return st;
}

/* With a client that is not recorded, on the newest versions. */
static void check_invariants(hf_controller *c)
{
    hf_client *client = &c->clients[0];

    if (!c->o->workload->check)
        return;
    if (hf_client_begin(client, HF_DB_DEFAULT, true))
        hf_play_check(c->play, client);
    (void)hf_client_end(client);
    c->report->checked = client->state == HF_CLIENT_LIVE;
    c->report->n_broken = hf_play_breaches(c->play);
    for (unsigned i = 0; i < c->report->n_broken; i++) {
        const hf_breach *b = hf_play_breach_at(c->play, i);

        if (!b)
            break;
        hf_vec_push(&c->report->broken,
                    (hf_broken_invariant){
                        b->name, hf_arena_text(&c->report->arena, b->text,
                                               strlen(b->text))});
    }
}

static void release(hf_controller *c)
{
    for (unsigned i = 0; c->clients && i < c->o->clients; i++)
        hf_client_release(&c->clients[i]);
    if (c->clients)
        hf_statements_release(&c->statements);
    hf_free(c->clients);
    hf_legal_free(c->legal);
    hf_db_close(c->db);
    hf_play_free(c->play);
    hf_vec_release(&c->txns);
    hf_vec_release(&c->events);
    hf_vec_release(&c->told);
    hf_vec_release(&c->scans);
    hf_vec_release(&c->by_place);
    hf_vec_release(&c->written);
    hf_vec_release(&c->ran);
    hf_vec_release(&c->used);
    hf_vec_release(&c->key_of);
    hf_map_release(&c->writer);
    hf_map_release(&c->plan_keys);
}

static hf_status run(hf_controller *c, hf_error *err)
{
    hf_status st = make_play(c->o, &c->play, err);

    c->calls = hf_controller_calls;
    c->calls.user = c;
    if (st == HF_OK)
        st = hf_db_open("store",
                        &(hf_db_options){.clients = c->o->clients,
                                         .seed = c->o->seed,
                                         .level = HF_READ_COMMITTED,
                                         .variant = "controlled"},
                        &c->db, err);
    if (st == HF_OK)
        st = set_up(c, err);
    if (st == HF_OK)
        st = connect_clients(c, err);
    if (st == HF_OK)
        st = hf_db_control_set(c->db, &c->calls, err);
    if (st != HF_OK)
        return st;
    c->store = hf_db_control_store(c->db);
    c->legal = hf_legal_new(c->o->plan ? c->o->rule : HF_LEGAL_SERIALIZABLE);
    st = c->o->plan ? carry_out(c, err) : observe(c, err);
    if (st == HF_OK)
        check_invariants(c);
    if (st == HF_OK)
        st = hf_controller_history(c, &c->report->history, err);
    return st;
}

hf_status hf_control_run(const hf_control_options *o, hf_control_report *ret,
                         hf_error *err)
{
    hf_controller c = {.o = o, .report = ret};
    hf_status st;

    HF_ASSERT(o->clients > 0 && (!o->plan || o->tape));
    *ret = (hf_control_report){0};
    hf_arena_init(&ret->arena);
    hf_map_init(&c.writer);
    hf_map_init(&c.plan_keys);
    st = run(&c, err);
    release(&c);
    if (st != HF_OK)
        hf_control_report_release(ret);
    return st;
}

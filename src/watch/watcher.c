/* watcher.c: sessions, and the loop around the engine. */
#include "watch/watcher.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/level.h"
#include "watch/translate.h"

#define BATCH 4096u
#define LATE 64u
#define WAIT_NS 50000000u
#define TICK_NS 100000000u
#define NO_CLIENT UINT32_MAX

typedef struct session {
    uint32_t client; /* NO_CLIENT: it has left, or has not come */
    uint64_t left;   /* transactions still to come; UINT64_MAX: not known */
    uint64_t first;  /* COUNTED: nothing of it is earlier */
    bool open;       /* a part of a transaction came */
    hf_txn_part part;
} session;

struct hf_watcher {
    hf_watcher_options o;
    hf_watch *watch;
    hf_pipeline *pipeline;
    hf_watch_names *names;
    hf_watch_scans *scans;
    /* the source's */
    hf_translator translator;
    hf_watcher_sessions how;
    hf_watch_names *session_names;
    uint32_t no_table;
    HF_VEC(session) sessions;
    HF_VEC(uint32_t) of_piece; /* session of each session of the piece */
    uint32_t door;             /* a client that holds back the watermark */
    uint64_t newest;
    _Atomic(uint64_t) lost;
    atomic_bool hole;
    /* the consumer's */
    uint64_t doubt; /* what begins no later was judged without knowing all */
    uint64_t stalls;
    uint32_t n_keys, n_scans;
    hf_watch_name_list new_names;
    uint64_t last_tick, last_time;
    uint64_t told, doubted;
    bool stopped;
    hf_event batch[BATCH];
    hf_event late[LATE];
};

/* ---- life ---------------------------------------------------------------- */

void hf_watcher_hole(hf_watcher *w)
{
    atomic_store(&w->hole, true);
}

static bool has_hole(const hf_watcher *w)
{
    const hf_translator *t = &w->translator;

    return atomic_load(&w->hole) || t->no_times > 0 || t->opaque > 0 ||
           t->amounts > 0;
}

static void doubt(hf_watcher *w, uint64_t until)
{
    if (until > w->doubt)
        w->doubt = until;
}

/* Of a client that was passed by nobody knows what it did meanwhile. */
static void doubt_passed_by(hf_watcher *w)
{
    hf_pipeline_stats stats;

    hf_pipeline_look(w->pipeline, &stats);
    if (stats.passed == 0 && stats.stalls == w->stalls)
        return;
    w->stalls = stats.stalls;
    doubt(w, UINT64_MAX);
    if (stats.passed == 0) /* up to where the others are */
        w->doubt = hf_watch_reached(w->watch);
}

/* Does it rest on anything that was judged without knowing all? */
static bool is_doubted(const hf_watcher *w, const hf_violation *v)
{
    if (w->doubt == 0)
        return false;
    for (unsigned i = 0; i < v->n_parts; i++)
        if (v->parts[i].txn != HF_WATCH_NO_TXN &&
            v->parts[i].before <= w->doubt)
            return true;
    return v->parts_left_out > 0;
}

static bool on_violation(void *user, const hf_violation *v)
{
    hf_watcher *w = user;
    hf_violation told = *v;

    if (v->mechanism == HF_WATCH_CR && (has_hole(w) || is_doubted(w, v))) {
        w->doubted++;
        return true;
    }
    told.number = ++w->told;
    return !w->o.violation || w->o.violation(w->o.user, w, &told);
}

static void on_complaint(void *user, hf_watch_complaint c, const hf_event *e)
{
    hf_watcher *w = user;

    if (c == HF_COMPLAINT_BAD_EVENT)
        hf_watcher_hole(w);
    doubt(w, hf_watch_reached(w->watch));
    doubt(w, e->before);
    if (e->after != UINT64_MAX)
        doubt(w, e->after);
    if (w->o.complaint)
        w->o.complaint(w->o.user, w, c, e);
}

static hf_watch_match on_match(void *user, uint32_t scan, uint32_t key,
                               uint64_t value)
{
    hf_watcher *w = user;

    (void)key;
    return hf_watch_scans_match(w->scans, scan, value);
}

static hf_watch_match on_count(void *user, uint32_t scan, uint32_t key,
                               uint64_t value, int64_t *ret)
{
    hf_watcher *w = user;

    (void)key;
    return hf_watch_scans_counts(w->scans, scan, value, ret);
}

/* A source that is ahead judges, too. */
static bool on_spare(void *user)
{
    hf_watcher *w = user;

    return hf_watch_help(w->watch);
}

static void on_work(void *user)
{
    hf_watcher *w = user;

    hf_pipeline_nudge(w->pipeline);
}

hf_watcher *hf_watcher_new(const hf_watcher_options *o)
{
    hf_watcher *w = HF_NEW(hf_watcher);
    hf_watch_options watch = o->watch;
    hf_pipeline_options pipeline = o->pipeline;

    w->o = *o;
    w->names = hf_watch_names_new();
    w->scans = hf_watch_scans_new(o->watch.profile->texts_by_bytes);
    w->session_names = hf_watch_names_new();
    w->no_table = hf_watch_names_table(w->session_names, (hf_str){0});
    w->translator = (hf_translator){.names = w->names, .scans = w->scans};
    for (unsigned i = 0; i < HF_LEVEL_COUNT && !o->one_level; i++)
        w->translator.is_weaker[i] =
            !hf_profile_covers(o->watch.profile, (hf_level)i);
    if (o->starts_empty)
        hf_watch_names_all_absent(w->names);
    w->translator.is_announced = o->is_unknown || o->starts_empty;
    watch.violation = on_violation;
    watch.complaint = on_complaint;
    watch.matches = on_match;
    watch.counts = on_count;
    watch.user = w;
    if (o->source_helps) {
        watch.helpers = on_work;
        pipeline.help = on_spare;
        pipeline.user = w;
    }
    w->pipeline = hf_pipeline_new(&pipeline);
    w->watch = hf_watch_new(&watch);
    w->door = NO_CLIENT;
    return w;
}

void hf_watcher_free(hf_watcher *w)
{
    if (!w)
        return;
    hf_watch_free(w->watch);
    hf_pipeline_free(w->pipeline);
    hf_translator_release(&w->translator);
    hf_watch_names_free(w->names);
    hf_watch_names_free(w->session_names);
    hf_watch_scans_free(w->scans);
    hf_vec_release(&w->sessions);
    hf_vec_release(&w->of_piece);
    hf_vec_release(&w->new_names);
    hf_free(w);
}

/* ---- sessions ------------------------------------------------------------ */

/* 3.1 is 3, if that one is there. */
static hf_str first_name(const hf_watcher *w, hf_str name)
{
    size_t n = 0;

    if (!w->o.sessions_return)
        return name;
    while (n < name.len && name.ptr[n] >= '0' && name.ptr[n] <= '9')
        n++;
    return n > 0 && n < name.len && name.ptr[n] == '.' ? (hf_str){name.ptr, n}
                                                       : name;
}

uint32_t hf_watcher_session(hf_watcher *w, hf_str name)
{
    hf_str first = first_name(w, name);
    uint32_t s = hf_watch_names_key(
        w->session_names, w->no_table,
        (hf_scalar){.type = HF_TEXT, .text = first.ptr, .length = first.len});

    while (w->sessions.n <= s)
        hf_vec_push(&w->sessions, (session){.client = NO_CLIENT,
                                            .left = UINT64_MAX,
                                            .first = UINT64_MAX});
    return s;
}

void hf_watcher_expect(hf_watcher *w, hf_str name)
{
    uint32_t id = hf_watcher_session(w, name); /* the array may move */
    session *s = &w->sessions.at[id];

    if (s->client == NO_CLIENT)
        s->client = hf_pipeline_join(w->pipeline, 0);
}

/* A session that is not waited for before it begins keeps nobody else's events
 * waiting, however many there are. */
static void count_begins(const hf_history *h, uint32_t i, session *s)
{
    for (uint32_t t = h->session_first[i]; t < h->session_first[i + 1]; t++) {
        hf_txn_id txn = h->session_txns[t];
        uint64_t begin = 0;

        if (s->first > 0 && hf_translator_begin(h, txn, &begin) &&
            begin < s->first)
            s->first = begin;
    }
    if (s->first == UINT64_MAX)
        s->first = 0;
}

uint64_t hf_watcher_count(hf_watcher *w, const hf_history *h)
{
    uint64_t nameless = 0;

    for (uint32_t i = 0; i < h->n_sessions; i++) {
        uint64_t n = h->session_first[i + 1] - h->session_first[i];
        uint32_t id;
        session *s;

        if (h->session_name[i] == HF_NONE) {
            nameless += n;
            continue;
        }
        id = hf_watcher_session(w, hf_string(h, h->session_name[i]));
        s = &w->sessions.at[id];
        s->left = s->left == UINT64_MAX ? n : s->left + n;
        count_begins(h, i, s);
    }
    hf_translator_survey(&w->translator, h);
    if (h->key_initial)
        hf_translator_piece(&w->translator, h);
    return nameless;
}

void hf_watcher_begin(hf_watcher *w, hf_watcher_sessions how)
{
    w->how = how;
    hf_translator_settle(&w->translator);
    if (how != HF_SESSIONS_COUNTED) {
        w->door = hf_pipeline_join(w->pipeline, 0);
        hf_pipeline_stand_in(w->pipeline, w->door);
    }
    for (size_t i = 0; i < w->sessions.n; i++) {
        session *s = &w->sessions.at[i];

        if (how == HF_SESSIONS_COUNTED && s->left > 0)
            s->client = hf_pipeline_join(w->pipeline, s->first);
        else
            s->left = UINT64_MAX;
    }
}

/* The client of a session that has something to say; `from` is when. */
static uint32_t client_of(hf_watcher *w, session *s, uint64_t from)
{
    if (s->client != NO_CLIENT)
        return s->client;
    s->client = hf_pipeline_join(
        w->pipeline, w->how == HF_SESSIONS_LIVE ? from : UINT64_MAX);
    return s->client;
}

static void leave(hf_watcher *w, session *s)
{
    if (s->client != NO_CLIENT)
        hf_pipeline_leave(w->pipeline, s->client);
    s->client = NO_CLIENT;
}

/* Sessions that are not known yet may come with something from here on. */
static void move_door(hf_watcher *w)
{
    if (w->how == HF_SESSIONS_LIVE && w->newest > w->o.slack_ns)
        hf_pipeline_promise(w->pipeline, w->door, w->newest - w->o.slack_ns);
}

void hf_watcher_alive(hf_watcher *w, uint32_t id, uint64_t now)
{
    session *s = &w->sessions.at[id];

    if (now > w->newest)
        w->newest = now;
    if (s->client != NO_CLIENT)
        hf_pipeline_promise(w->pipeline, s->client, now);
    move_door(w);
}

void hf_watcher_gone(hf_watcher *w, uint32_t id)
{
    session *s = &w->sessions.at[id];

    if (s->open && s->client != NO_CLIENT) {
        hf_event e = {.kind = HF_EVENT_COMMIT,
                      .before = s->part.answered > s->part.last
                                    ? s->part.answered
                                    : s->part.last,
                      .after = UINT64_MAX,
                      .txn = s->part.number,
                      .statement = s->part.statement};

        (void)hf_pipeline_push(w->pipeline, s->client, &e, 1);
        w->lost++;
    }
    s->open = false;
    leave(w, s);
}

/* ---- pieces -------------------------------------------------------------- */

/* Names of the piece's sessions; NO_CLIENT: it has none. */
static void name_sessions(hf_watcher *w, const hf_history *h)
{
    w->of_piece.n = 0;
    hf_vec_reserve(&w->of_piece, h->n_sessions);
    for (uint32_t i = 0; i < h->n_sessions; i++)
        w->of_piece.at[w->of_piece.n++] =
            h->session_name[i] == HF_NONE
                ? NO_CLIENT
                : hf_watcher_session(w, hf_string(h, h->session_name[i]));
}

static bool push(hf_watcher *w, uint32_t client, const hf_event *e, size_t n)
{
    if (n > 0 && e[n - 1].before > w->newest)
        w->newest = e[n - 1].before;
    return w->how == HF_SESSIONS_COUNTED && w->o.pipeline.stall_ns == 0
               ? hf_pipeline_put(w->pipeline, client, e, n)
               : hf_pipeline_push(w->pipeline, client, e, n);
}

/* A transaction of a session without a name: a client of its own. */
static bool push_alone(hf_watcher *w, const hf_history *h, hf_txn_id t)
{
    hf_txn_part part = {.number = w->translator.n_txns + 1};
    const hf_event *events = NULL;
    size_t n = hf_translator_txn(&w->translator, h, t, &part, &events);
    uint32_t client;
    bool wanted;

    if (n == 0)
        return true;
    client = hf_pipeline_join(w->pipeline, UINT64_MAX);
    wanted = push(w, client, events, n);
    hf_pipeline_leave(w->pipeline, client);
    return wanted;
}

static bool push_named(hf_watcher *w, const hf_history *h, hf_txn_id t,
                       uint32_t id, bool more)
{
    session *s = &w->sessions.at[id];
    const hf_event *events = NULL;
    bool wanted = true;
    size_t n;

    if (!s->open)
        s->part = (hf_txn_part){.number = w->translator.n_txns + 1};
    s->part.no_begin = s->open;
    s->part.no_end = more;
    n = hf_translator_txn(&w->translator, h, t, &s->part, &events);
    s->open = more;
    if (n > 0)
        wanted = push(w, client_of(w, s, events[0].before), events, n);
    if (s->left != UINT64_MAX && s->left > 0 && !more && --s->left == 0)
        leave(w, s);
    return wanted;
}

static bool push_txn(hf_watcher *w, const hf_history *h, hf_txn_id t, bool more)
{
    uint32_t id = w->of_piece.at[h->txn_session[t]];

    return id == NO_CLIENT ? push_alone(w, h, t)
                           : push_named(w, h, t, id, more);
}

typedef struct by_begin {
    uint64_t begin;
    hf_txn_id txn;
} by_begin;

static int compare_begin(const void *a, const void *b)
{
    const by_begin *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->txn < y->txn ? -1 : x->txn > y->txn;
}

/* Of one session no transaction comes before an earlier one of the file, so
 * that what is wrong with its times is seen. */
static bool push_sorted(hf_watcher *w, const hf_history *h)
{
    by_begin *order = HF_NEW_ARRAY(by_begin, h->n_txns + 1);
    bool wanted = true;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin = hf_txn_begin_time(h, t), end;

        if (begin == HF_TIME_NONE &&
            (h->op_first[t] == h->op_first[t + 1] ||
             !hf_op_interval(h, t, h->op_first[t], &begin, &end)))
            begin = 0;
        order[t] = (by_begin){begin, t};
    }
    qsort(order, h->n_txns, sizeof(*order), compare_begin);
    for (uint32_t i = 0; i < h->n_txns && wanted; i++) {
        hf_pipeline_promise(w->pipeline, w->door, order[i].begin);
        wanted = push_txn(w, h, order[i].txn, false);
    }
    hf_free(order);
    return wanted;
}

bool hf_watcher_parts(hf_watcher *w, const hf_history *h, const uint8_t *more)
{
    bool wanted = true;

    if (w->how == HF_SESSIONS_SORTED) {
        hf_translator_survey(&w->translator, h);
        hf_translator_settle(&w->translator);
    }
    hf_translator_piece(&w->translator, h);
    name_sessions(w, h);
    if (w->how == HF_SESSIONS_SORTED)
        return push_sorted(w, h);
    for (hf_txn_id t = 0; t < h->n_txns && wanted; t++)
        wanted = push_txn(w, h, t, more && (more[t / 8] >> (t % 8) & 1) != 0);
    move_door(w);
    return wanted;
}

bool hf_watcher_piece(hf_watcher *w, const hf_history *h)
{
    return hf_watcher_parts(w, h, NULL);
}

void hf_watcher_end(hf_watcher *w)
{
    for (uint32_t i = 0; i < w->sessions.n; i++)
        hf_watcher_gone(w, i);
    hf_pipeline_end(w->pipeline);
}

/* ---- the consumer -------------------------------------------------------- */

static void announce_key(hf_watcher *w, const hf_watch_name *name)
{
    uint32_t key = w->n_keys++;

    hf_watch_key(w->watch, key,
                 name->initial == HF_EVENT_NO_ROW     ? HF_WATCH_INITIAL_ABSENT
                 : name->initial == HF_WATCH_NOT_SAID ? HF_WATCH_INITIAL_UNKNOWN
                                                      : HF_WATCH_INITIAL_VALUE,
                 name->initial);
    if (name->row == key)
        hf_watch_place(w->watch, key, key, name->table, name->place);
}

/* Keys and scans that came since, before the first event that names them. */
static void announce(hf_watcher *w)
{
    uint32_t scans = hf_watch_scans_count(w->scans);

    hf_watch_names_take(w->names, &w->new_names);
    for (size_t i = 0; i < w->new_names.n; i++)
        announce_key(w, &w->new_names.at[i]);
    for (; w->n_scans < scans; w->n_scans++)
        hf_watch_total(w->watch, w->n_scans,
                       hf_watch_scans_table(w->scans, w->n_scans), 0,
                       UINT64_MAX, hf_watch_scans_kind(w->scans, w->n_scans));
}

static void feed_late(hf_watcher *w)
{
    size_t n = hf_pipeline_take_late(w->pipeline, w->late, LATE);

    while (n > 0) {
        announce(w);
        hf_watch_feed_late(w->watch, w->late, n);
        n = hf_pipeline_take_late(w->pipeline, w->late, LATE);
    }
}

static bool tick(hf_watcher *w)
{
    uint64_t now = hf_clock_ns();

    if (!w->o.tick || now - w->last_tick < TICK_NS)
        return true;
    w->last_tick = now;
    return w->o.tick(w->o.user, w);
}

void hf_watcher_consume(hf_watcher *w)
{
    bool wanted = true;

    while (wanted && !hf_pipeline_is_done(w->pipeline)) {
        size_t n = hf_pipeline_take(w->pipeline, w->batch, BATCH, WAIT_NS);

        announce(w);
        doubt_passed_by(w);
        feed_late(w);
        if (n > 0) {
            wanted = hf_watch_feed(w->watch, w->batch, n);
            w->last_time = w->batch[n - 1].before;
        } else {
            wanted =
                hf_watch_advance(w->watch, hf_pipeline_reached(w->pipeline));
        }
        wanted = wanted && tick(w);
    }
    if (wanted)
        feed_late(w);
    w->stopped = !wanted;
    hf_pipeline_stop(w->pipeline);
    if (wanted)
        w->stopped = !hf_watch_finish(w->watch);
}

void hf_watcher_stop(hf_watcher *w)
{
    hf_pipeline_stop(w->pipeline);
}

void hf_watcher_look(hf_watcher *w, hf_watcher_stats *ret)
{
    const hf_translator *t = &w->translator;

    *ret = (hf_watcher_stats){.transactions = t->n_txns,
                              .no_times = t->no_times,
                              .opaque = t->opaque,
                              .aggregates = t->aggregates,
                              .amounts = t->amounts,
                              .lost = w->lost,
                              .last_time = w->last_time,
                              .stopped = w->stopped};
    ret->strange_conditions = hf_watch_scans_strange(w->scans);
    ret->keys = hf_watch_names_count(w->names);
    ret->name_bytes =
        hf_watch_names_bytes(w->names) + hf_watch_scans_bytes(w->scans);
    hf_watch_stats_get(w->watch, &ret->watch);
    ret->doubted = w->doubted;
    ret->watch.violations -= w->doubted;
    ret->watch.by_mechanism[HF_WATCH_CR] -= w->doubted;
    hf_pipeline_look(w->pipeline, &ret->pipeline);
}

hf_watch_names *hf_watcher_names(hf_watcher *w)
{
    return w->names;
}

hf_watch_scans *hf_watcher_scans(hf_watcher *w)
{
    return w->scans;
}

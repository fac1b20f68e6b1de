/* test_watch.c: the engine of watch on small traces, one claim each.
 *
 * tests/data/watch holds real bugs (named b1, b2, ... as in the catalogue of
 * bugs) with and without their fault, and traces that show one rule each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>

#include "base/rng.h"
#include "watch_text.h"

typedef struct outcome {
    char text[8][128];
    unsigned n;
    uint64_t complaints[HF_COMPLAINT_COUNT];
    hf_watch_stats stats;
    bool stops;
} outcome;

static bool keep(void *user, const hf_violation *v)
{
    outcome *o = user;

    if (o->n < 8)
        (void)snprintf(o->text[o->n], sizeof(o->text[0]), "%s %s T%lld T%lld",
                       hf_watch_mechanism_name(v->mechanism),
                       hf_watch_rule_name(v->rule), (long long)v->txn,
                       (long long)v->other);
    assert_true(v->n_parts > 0);
    assert_int_equal(v->number, o->n + 1);
    o->n++;
    return !o->stops;
}

static void count(void *user, hf_watch_complaint c, const hf_event *e)
{
    outcome *o = user;

    (void)e;
    o->complaints[c]++;
}

static void watch(const char *text, outcome *o, unsigned threads)
{
    watch_text t;
    const hf_profile *p;
    hf_watch *w;

    text_parse(&t, text);
    p = hf_profile_find(hf_str_of(t.profile), NULL);
    assert_non_null(p);
    w = hf_watch_new(&(hf_watch_options){.profile = p,
                                         .clock_error = t.clock_error,
                                         .threads = threads,
                                         .violation = keep,
                                         .complaint = count,
                                         .user = o});
    text_announce(&t, w);
    (void)hf_watch_feed(w, t.events.at, t.events.n);
    (void)hf_watch_finish(w);
    hf_watch_stats_get(w, &o->stats);
    hf_watch_free(w);
    hf_vec_release(&t.events);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = hf_alloc_zero(1, 1 << 16);

    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    (void)fclose(f);
    return text;
}

/* ---- fixtures ------------------------------------------------------------ */

static void check_fixture(const char *name)
{
    char path[512];
    char *text;
    watch_text t;
    outcome o = {0};

    (void)snprintf(path, sizeof(path), "%s/tests/data/watch/%s", HF_TEST_ROOT,
                   name);
    text = read_file(path);
    text_parse(&t, text);
    hf_vec_release(&t.events);
    watch(text, &o, 1);
    hf_free(text);
    if (strcmp(t.expect, "none") == 0) {
        if (o.n != 0)
            fail_msg("%s: %s", name, o.text[0]);
        return;
    }
    if (o.n == 0 || strncmp(o.text[0], t.expect, strlen(t.expect)) != 0)
        fail_msg("%s: found \"%s\", not \"%s\"", name, o.text[0], t.expect);
}

static void fixtures_are_judged_as_they_say(void **state)
{
    char path[512];
    DIR *d;
    unsigned n = 0;

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/tests/data/watch", HF_TEST_ROOT);
    d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!strstr(e->d_name, ".events"))
            continue;
        check_fixture(e->d_name);
        n++;
    }
    (void)closedir(d);
    assert_true(n >= 40);
}

/* A first statement that nobody answered leaves the snapshot to the next: what
 * that one read is judged then, and not at the end, when the versions of its
 * time are gone. */
static void an_unanswered_statement_keeps_no_read_waiting(void **state)
{
    hf_event first[] = {
        {.before = 10, .after = 11, .txn = 1, .kind = HF_EVENT_BEGIN},
        {.before = 12,
         .after = UINT64_MAX,
         .txn = 1,
         .statement = 1,
         .value = 5,
         .kind = HF_EVENT_WRITE},
        {.before = 14,
         .after = 15,
         .txn = 1,
         .statement = 2,
         .key = 1,
         .row = 1,
         .value = 1,
         .kind = HF_EVENT_READ},
        {.before = 16, .after = 17, .txn = 1, .kind = HF_EVENT_COMMIT}};
    outcome o = {0};
    hf_watch *w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/repeatable read"), NULL),
        .violation = keep,
        .user = &o,
        .batch = 1});

    (void)state;
    hf_watch_key(w, 0, HF_WATCH_INITIAL_VALUE, 1);
    hf_watch_key(w, 1, HF_WATCH_INITIAL_VALUE, 1);
    (void)hf_watch_feed(w, first, 4);
    for (uint64_t i = 2; i < 20; i++) {
        hf_event e[3] = {{.kind = HF_EVENT_BEGIN},
                         {.kind = HF_EVENT_WRITE,
                          .key = 1,
                          .row = 1,
                          .value = i,
                          .statement = 1},
                         {.kind = HF_EVENT_COMMIT}};

        for (uint64_t k = 0; k < 3; k++) {
            e[k].txn = e[k].client = (uint32_t)i;
            e[k].before = 100 * i + 10 * k;
            e[k].after = e[k].before + 1;
        }
        (void)hf_watch_feed(w, e, 3);
    }
    hf_watch_stats_get(w, &o.stats);
    assert_int_equal(o.stats.reads_judged, 1);
    (void)hf_watch_finish(w);
    hf_watch_free(w);
    if (o.n > 0)
        fail_msg("%s", o.text[0]);
}

/* A read that cannot be judged yet keeps its candidates, wherever batches
 * end. */
static void what_waits_is_not_forgotten(void **state)
{
    static const char text[] = "profile postgresql/repeatable read\n"
                               "clock-error 50\n"
                               "expect none\n"
                               "key x 1\n"
                               "1001 1001 c2 T2 begin\n"
                               "1002 1003 c2 T2 write x 2\n"
                               "1003 1004 c2 T2 commit\n"
                               "1009 1009 c1 T1 begin\n"
                               "1010 1011 c1 T1 read x 1\n"
                               "1012 1013 c1 T1 commit\n"
                               "1106 1106 c3 T3 begin\n"
                               "1107 1107 c3 T3 write x 3\n"
                               "1107 1107 c3 T3 commit\n"
                               "1300 1300 c4 T4 begin\n"
                               "1301 1301 c4 T4 read x 3\n"
                               "1302 1302 c4 T4 commit\n";

    (void)state;
    for (unsigned batch = 1; batch < 14; batch++) {
        outcome o = {0};
        watch_text t;
        hf_watch *w;

        text_parse(&t, text);
        w = hf_watch_new(&(hf_watch_options){
            .profile = hf_profile_find(hf_str_of(t.profile), NULL),
            .clock_error = t.clock_error,
            .violation = keep,
            .user = &o,
            .batch = batch});
        text_announce(&t, w);
        (void)hf_watch_feed(w, t.events.at, t.events.n);
        (void)hf_watch_finish(w);
        hf_watch_free(w);
        hf_vec_release(&t.events);
        assert_int_equal(o.n, 0);
    }
}

/* A statement that failed its transaction was never answered: it leaves nothing
 * behind, however many there are. */
static void aborted_statements_are_forgotten(void **state)
{
    outcome o = {0};
    hf_watch *w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/serializable"), NULL),
        .violation = keep,
        .user = &o,
        .batch = 16});

    (void)state;
    hf_watch_key(w, 0, HF_WATCH_INITIAL_VALUE, 1);
    for (uint64_t i = 1; i < 1000; i++) {
        hf_event e[3] = {{.kind = HF_EVENT_BEGIN},
                         {.kind = HF_EVENT_WRITE, .value = i, .statement = 1},
                         {.kind = HF_EVENT_ABORT}};

        for (uint64_t k = 0; k < 3; k++) {
            e[k].txn = i;
            e[k].client = (uint32_t)i % 4;
            e[k].before = 100 * i + 10 * k;
            e[k].after = k == 1 ? UINT64_MAX : e[k].before + 1;
        }
        (void)hf_watch_feed(w, e, 3);
    }
    hf_watch_stats_get(w, &o.stats);
    assert_in_range(o.stats.locks_kept, 0, 50);
    (void)hf_watch_finish(w);
    hf_watch_free(w);
    assert_int_equal(o.n, 0);
}

/* Someone who stays open keeps all versions of a row that others count up,
 * up to a limit: what comes then accuses nobody. */
static void a_hot_row_under_an_old_snapshot(void **state)
{
    outcome o = {0};
    hf_watch *w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("store/prefix"), NULL),
        .violation = keep,
        .user = &o});
    const uint64_t last = 66000;

    (void)state;
    hf_watch_key(w, 0, HF_WATCH_INITIAL_VALUE, 1);
    hf_watch_key(w, 1, HF_WATCH_INITIAL_VALUE, 1);
    for (uint64_t i = 0; i <= last; i++) {
        hf_event e[4] = {
            {.kind = HF_EVENT_BEGIN},
            {.kind = HF_EVENT_READ, .value = i == 0 ? 1 : i, .statement = 1},
            {.kind = HF_EVENT_WRITE, .value = i + 1, .statement = 2},
            {.kind = HF_EVENT_COMMIT}};
        uint64_t n = i == 0 ? 2 : 4; /* the first reads, and stays open */
        bool reads = i == 0 || i % 1000 == 0 || i > last - 100;

        for (uint64_t k = 0; k < n; k++) {
            e[k].txn = i;
            e[k].client = i > 0;
            e[k].key = e[k].row = i == 0 && k == 1;
            e[k].before = 100 * i + 10 * k;
            e[k].after = e[k].before + 1;
            if (k != 1 || reads)
                (void)hf_watch_feed(w, &e[k], 1);
        }
    }
    (void)hf_watch_finish(w);
    hf_watch_stats_get(w, &o.stats);
    hf_watch_free(w);
    assert_int_equal(o.n, 0);
    assert_in_range(o.stats.unjudged[HF_UNJUDGED_LIMIT], 1, 1000);
}

/* ---- bad input ----------------------------------------------------------- */

static void bad_events_are_counted_and_accuse_nobody(void **state)
{
    outcome o = {0};

    (void)state;
    watch("profile postgresql/read committed\n"
          "key x 1\n"
          "10 11 c1 T1 begin\n"
          "12 13 c1 T1 write x 2\n"
          "13 9 c1 T1 write x 3\n" /* ends before it begins */
          "14 15 c1 T1 commit\n"
          "20 21 c2 T7 read x 3\n" /* nobody began it */
          "22 23 c2 T7 commit\n"
          "24 25 c2 T7 write x 9\n" /* it has ended */
          "30 31 c3 T3 begin\n"
          "32 33 c3 T3 read x 9\n"
          "34 35 c3 T4 begin\n" /* while T3 runs */
          "36 37 c3 T4 read x 2\n"
          "38 39 c3 T4 commit\n",
          &o, 1);
    assert_int_equal(o.n, 0);
    assert_int_equal(o.complaints[HF_COMPLAINT_NEGATIVE], 1);
    assert_int_equal(o.complaints[HF_COMPLAINT_NO_BEGIN], 1);
    assert_int_equal(o.complaints[HF_COMPLAINT_ENDED], 1);
    assert_true(o.complaints[HF_COMPLAINT_NOT_ENDED] >= 1);
    assert_true(o.stats.unjudged[HF_UNJUDGED_SPOILED] >= 1);
    assert_true(o.stats.clock_jump > 0);
}

static void a_clock_that_jumps_back_widens_what_follows(void **state)
{
    /* c1's clock goes back by 90 between T1 and T2: T2's commit may be as
     * late as 90 after what is written, so nobody has to see it yet. */
    watch_text t;
    outcome o = {0};
    hf_watch *w;

    (void)state;
    text_parse(&t, "key x 1\n");
    hf_vec_push(&t.events,
                (hf_event){.before = 100, .after = 101, .txn = 1, .client = 1});
    hf_vec_push(&t.events, (hf_event){.before = 102,
                                      .after = 200,
                                      .txn = 1,
                                      .client = 1,
                                      .kind = HF_EVENT_COMMIT});
    hf_vec_push(&t.events,
                (hf_event){.before = 110, .after = 111, .txn = 2, .client = 1});
    hf_vec_push(&t.events,
                (hf_event){.before = 220, .after = 221, .txn = 3, .client = 1});
    hf_vec_push(&t.events, (hf_event){.before = 222,
                                      .after = 223,
                                      .txn = 3,
                                      .client = 1,
                                      .value = 2,
                                      .kind = HF_EVENT_WRITE});
    hf_vec_push(&t.events, (hf_event){.before = 224,
                                      .after = 225,
                                      .txn = 3,
                                      .client = 1,
                                      .kind = HF_EVENT_COMMIT});
    hf_vec_push(&t.events,
                (hf_event){.before = 230, .after = 231, .txn = 4, .client = 2});
    hf_vec_push(&t.events, (hf_event){.before = 232,
                                      .after = 233,
                                      .txn = 4,
                                      .client = 2,
                                      .value = 1,
                                      .kind = HF_EVENT_READ});
    w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/rc"), NULL),
        .violation = keep,
        .complaint = count,
        .user = &o});
    text_announce(&t, w);
    (void)hf_watch_feed(w, t.events.at, t.events.n);
    (void)hf_watch_finish(w);
    hf_watch_stats_get(w, &o.stats);
    hf_watch_free(w);
    hf_vec_release(&t.events);
    assert_int_equal(o.n, 0);
    assert_int_equal(o.complaints[HF_COMPLAINT_OUT_OF_ORDER], 1);
    assert_int_equal(o.stats.clock_jump, 90);
}

static void events_that_are_none_are_left_out(void **state)
{
    outcome o = {0};
    hf_watch *w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql"), NULL),
        .violation = keep,
        .complaint = count,
        .user = &o});
    hf_event bad[] = {
        {.before = 1, .after = 2, .kind = 99},
        {.before = 1, .after = 2, .kind = HF_EVENT_BEGIN, .client = UINT32_MAX},
        {.before = 1, .after = 2, .kind = HF_EVENT_BEGIN, .txn = UINT64_MAX},
        {.before = 1, .after = 2, .kind = HF_EVENT_READ, .key = UINT32_MAX},
    };

    (void)state;
    (void)hf_watch_feed(w, bad, 4);
    (void)hf_watch_finish(w);
    hf_watch_free(w);
    assert_int_equal(o.complaints[HF_COMPLAINT_BAD_EVENT], 4);
    assert_int_equal(o.n, 0);
}

/* The number of a client that left is used again. */
static void a_new_client_has_no_past(void **state)
{
    hf_event events[] = {
        {.before = 10, .after = 11, .txn = 1, .client = 1},
        {.before = 20,
         .after = 60,
         .txn = 1,
         .client = 1,
         .kind = HF_EVENT_COMMIT},
        {.before = 30,
         .after = 31,
         .txn = 2,
         .client = 1,
         .flags = HF_EVENT_FIRST},
    };

    (void)state;
    for (unsigned is_new = 0; is_new < 2; is_new++) {
        outcome o = {0};
        hf_watch *w = hf_watch_new(&(hf_watch_options){
            .profile = hf_profile_find(HF_STR("postgresql"), NULL),
            .violation = keep,
            .complaint = count,
            .user = &o});

        events[2].flags = is_new ? HF_EVENT_FIRST : 0;
        (void)hf_watch_feed(w, events, 3);
        (void)hf_watch_finish(w);
        hf_watch_free(w);
        assert_int_equal(o.complaints[HF_COMPLAINT_OUT_OF_ORDER], !is_new);
    }
}

static hf_event random_event(hf_rng *r, uint64_t *now)
{
    hf_event e = {.before = *now += hf_rng_below(r, 5),
                  .txn = hf_rng_below(r, 60),
                  .client = hf_rng_below(r, 6),
                  .key = hf_rng_below(r, 8),
                  .value = hf_rng_below(r, 6),
                  .extra = hf_rng_below(r, 4),
                  .statement = hf_rng_below(r, 4),
                  .kind = (uint8_t)hf_rng_below(r, HF_EVENT_KIND_COUNT + 1),
                  .flags = (uint8_t)hf_rng_next(r)};

    e.row = hf_rng_chance(r, 95) ? e.key : hf_rng_below(r, 8);
    e.after = e.before + hf_rng_below(r, 30);
    if (hf_rng_chance(r, 3))
        e.after = UINT64_MAX;
    if (hf_rng_chance(r, 3))
        e.before -= hf_rng_below(r, 50);
    if (hf_rng_chance(r, 1))
        e.key = (uint32_t)hf_rng_next(r) % 1000000;
    return e;
}

static void any_events_do_no_harm(void **state)
{
    hf_rng r;

    (void)state;
    hf_rng_seed(&r, 5);
    for (size_t i = 0; i < hf_profile_count(); i++) {
        uint64_t now = 1000;
        hf_watch_stats stats;
        hf_watch *w =
            hf_watch_new(&(hf_watch_options){.profile = hf_profile_at(i),
                                             .threads = 1 + (unsigned)i % 3,
                                             .clock_error = i % 4 == 0 ? 7 : 0,
                                             .batch = 1 + i});

        hf_watch_scan(w, 1, 0, 2, 5, true);
        hf_watch_scan(w, 2, 0, 0, UINT64_MAX, false);
        for (uint32_t k = 0; k < 8; k++)
            hf_watch_place(w, k, k, 0, k);
        for (int n = 0; n < 3000; n++) {
            hf_event e = random_event(&r, &now);

            (void)hf_watch_feed(w, &e, 1);
            if (n % 500 == 0)
                (void)hf_watch_advance(w, now);
            if (n % 700 == 0)
                hf_watch_lost(w, hf_rng_below(&r, 8));
        }
        (void)hf_watch_finish(w);
        hf_watch_stats_get(w, &stats);
        assert_int_equal(stats.events, 3000);
        hf_watch_free(w);
    }
}

/* ---- delivery ------------------------------------------------------------ */

#define STALE                                                                  \
    "profile postgresql/read committed\n"                                      \
    "key x 1\n"                                                                \
    "10 11 c1 T1 begin\n"                                                      \
    "12 13 c1 T1 write x 2\n"                                                  \
    "14 15 c1 T1 commit\n"                                                     \
    "20 21 c2 T2 begin\n"                                                      \
    "22 23 c2 T2 read x 1\n"                                                   \
    "24 25 c2 T2 read x 1\n"                                                   \
    "26 27 c2 T2 commit\n"

static void the_first_violation_can_be_the_last(void **state)
{
    outcome all = {0}, one = {.stops = true};

    (void)state;
    watch(STALE, &all, 1);
    watch(STALE, &one, 1);
    assert_int_equal(all.n, 2);
    assert_int_equal(one.n, 1);
}

static void advance_tells_at_once(void **state)
{
    watch_text t;
    outcome o = {0};
    hf_watch *w;

    (void)state;
    text_parse(&t, STALE);
    w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/rc"), NULL),
        .violation = keep,
        .user = &o});
    text_announce(&t, w);
    (void)hf_watch_feed(w, t.events.at, 5);
    (void)hf_watch_advance(w, 23);
    assert_int_equal(o.n, 0); /* a commit at 23 could still come */
    (void)hf_watch_advance(w, 24);
    assert_int_equal(o.n, 1);
    hf_watch_free(w);
    hf_vec_release(&t.events);
}

static void a_lost_client_may_have_committed(void **state)
{
    watch_text t;
    outcome o = {0};
    hf_watch *w;

    (void)state;
    text_parse(&t, "key x 1\n"
                   "10 11 c1 T1 begin\n"
                   "12 13 c1 T1 write x 2\n"
                   "20 21 c2 T2 begin\n"
                   "22 23 c2 T2 read x 2\n"
                   "26 27 c2 T2 commit\n");
    w = hf_watch_new(&(hf_watch_options){
        .profile = hf_profile_find(HF_STR("postgresql/rc"), NULL),
        .violation = keep,
        .user = &o});
    text_announce(&t, w);
    (void)hf_watch_feed(w, t.events.at, 2);
    hf_watch_lost(w, 1);
    (void)hf_watch_feed(w, t.events.at + 2, t.events.n - 2);
    (void)hf_watch_finish(w);
    hf_watch_free(w);
    hf_vec_release(&t.events);
    assert_int_equal(o.n, 0);
}

/* ---- profiles ------------------------------------------------------------ */

static void every_profile_is_found_by_its_name(void **state)
{
    char name[128];
    const char *hint;

    (void)state;
    assert_true(hf_profile_count() > 50);
    for (size_t i = 0; i < hf_profile_count(); i++) {
        const hf_profile *p = hf_profile_at(i);

        (void)snprintf(name, sizeof(name), "%s/%s", p->database, p->level);
        assert_ptr_equal(hf_profile_find(hf_str_of(name), NULL), p);
        assert_non_null(hf_profile_find(hf_str_of(p->database), NULL));
        assert_non_null(p->where);
        assert_non_null(p->note);
        assert_true(strlen(p->where) > 0);
    }
    assert_string_equal(hf_profile_find(HF_STR("postgres/ser"), NULL)->level,
                        "serializable");
    assert_null(hf_profile_find(HF_STR("postgrseql"), &hint));
    assert_string_equal(hint, "postgresql");
    assert_null(hf_profile_find(HF_STR("postgresql/serialisable"), &hint));
    assert_string_equal(hint, "serializable");
}

static void a_profile_can_be_written_by_anybody(void **state)
{
    static const char text[] = "# mine\n"
                               "[mydb/strict]\n"
                               "read = transaction\n"
                               "snapshot = begin\n"
                               "locks = ranges\n"
                               "first-updater-wins = yes\n"
                               "certifier = cycle\n"
                               "slack = 5ms\n"
                               "default = yes\n"
                               "where = https://example.org\n"
                               "[mydb/loose]\n";
    hf_profiles *rows = NULL;
    const hf_profile *p;
    char words[64];
    hf_error err;

    (void)state;
    assert_int_equal(hf_profiles_parse(hf_str_of(text), &rows, &err), HF_OK);
    assert_int_equal(hf_profiles_count(rows), 2);
    p = hf_profiles_find(rows, HF_STR("mydb"));
    assert_non_null(p);
    assert_string_equal(p->level, "strict");
    assert_int_equal(p->slack, 5000000);
    assert_string_equal(hf_profile_mechanisms(p, words, sizeof(words)),
                        "ME(ranges) CR-t FUW SC(cycle)");
    assert_non_null(hf_profiles_find(rows, HF_STR("mydb/loose")));
    assert_null(hf_profiles_find(rows, HF_STR("other")));
    hf_profiles_free(rows);
}

static void a_bad_profile_is_refused_by_its_line(void **state)
{
    static const struct {
        const char *text;
        uint64_t line;
    } cases[] = {
        {"", UINT64_MAX}, /* of no line */
        {"read = row\n", 1},
        {"[a/b]\nread = rows\n", 2},
        {"[a/b]\nsnapshot\n", 2},
        {"[a]\n", 1},
        {"[a/b\n", 1},
        {"[a/b]\nslack = 5 parsecs\n", 2},
        {"[a/b]\nslack = 99999999999999999999s\n", 2},
        {"[a/b]\ncolour = red\n", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_profiles *rows = NULL;
        hf_error err = {0};

        assert_int_not_equal(
            hf_profiles_parse(hf_str_of(cases[i].text), &rows, &err), HF_OK);
        assert_null(rows);
        assert_int_equal(err.line, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_are_judged_as_they_say),
        cmocka_unit_test(a_hot_row_under_an_old_snapshot),
        cmocka_unit_test(an_unanswered_statement_keeps_no_read_waiting),
        cmocka_unit_test(what_waits_is_not_forgotten),
        cmocka_unit_test(aborted_statements_are_forgotten),
        cmocka_unit_test(bad_events_are_counted_and_accuse_nobody),
        cmocka_unit_test(a_clock_that_jumps_back_widens_what_follows),
        cmocka_unit_test(events_that_are_none_are_left_out),
        cmocka_unit_test(a_new_client_has_no_past),
        cmocka_unit_test(any_events_do_no_harm),
        cmocka_unit_test(the_first_violation_can_be_the_last),
        cmocka_unit_test(advance_tells_at_once),
        cmocka_unit_test(a_lost_client_may_have_committed),
        cmocka_unit_test(every_profile_is_found_by_its_name),
        cmocka_unit_test(a_profile_can_be_written_by_anybody),
        cmocka_unit_test(a_bad_profile_is_refused_by_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

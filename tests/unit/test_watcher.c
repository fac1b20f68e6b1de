/* test_watcher.c: histories as events, pieces of files, lines of programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/rng.h"
#include "history/pieces.h"
#include "history/text.h"
#include "watch/lines.h"
#include "watch/translate.h"
#include "watch/value.h"

/* ---- values -------------------------------------------------------------- */

static void test_values(void **state)
{
    static const int64_t numbers[] = {
        0, 1, -1, 42, -77, ((int64_t)1 << 62) - 1, -((int64_t)1 << 62)};
    hf_scalar text = {.type = HF_TEXT, .text = "0", .length = 1};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t v = hf_watch_value_of(
            (hf_scalar){.type = HF_INT, .number = numbers[i]});

        assert_true(hf_watch_value_is_int(v));
        assert_int_equal(hf_watch_value_int(v), numbers[i]);
    }
    assert_false(hf_watch_value_is_int(hf_watch_value_of(text)));
    assert_int_equal(hf_watch_value_of((hf_scalar){.type = HF_NIL}),
                     HF_EVENT_NO_ROW);
    assert_true(hf_watch_value_of((hf_scalar){
                    .type = HF_INT, .number = INT64_MIN}) > HF_EVENT_NO_ROW);
}

/* ---- events -------------------------------------------------------------- */

static hf_history *history_of(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err = {0};

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

/* "B[1,2] R0=5[3,4]#1 C[7,8]": kind, key, value, interval, statement. */
static const char *events_of(const char *text, char *buffer, size_t size)
{
    static const char letters[] = "BRWSCA";
    hf_watch_names *names = hf_watch_names_new();
    hf_watch_scans *scans = hf_watch_scans_new(true);
    hf_translator t = {.names = names, .scans = scans};
    hf_history *h = history_of(text);
    size_t n = 0;

    hf_translator_piece(&t, h);
    for (hf_txn_id i = 0; i < h->n_txns; i++) {
        hf_txn_part part = {.number = i + 1};
        const hf_event *e = NULL;
        size_t count = hf_translator_txn(&t, h, i, &part, &e);

        for (size_t k = 0; k < count; k++, e++) {
            n += (size_t)snprintf(buffer + n, size - n, "%s%c", n ? " " : "",
                                  letters[e->kind]);
            if (e->kind == HF_EVENT_READ || e->kind == HF_EVENT_WRITE)
                n += (size_t)snprintf(buffer + n, size - n, "%u=%lld", e->key,
                                      (long long)hf_watch_value_int(e->value));
            n += (size_t)snprintf(buffer + n, size - n, "[%llu,%lld]",
                                  (unsigned long long)e->before,
                                  (long long)e->after);
        }
    }
    hf_history_free(h);
    hf_translator_release(&t);
    hf_watch_names_free(names);
    hf_watch_scans_free(scans);
    return buffer;
}

static void test_events_of_operations(void **state)
{
    char s[1000];

    (void)state;
    assert_string_equal(
        events_of("{\"session\":1,\"begin\":1,\"end\":20,\"ops\":["
                  "{\"op\":\"r\",\"key\":7,\"value\":3,\"at\":[2,4]},"
                  "{\"op\":\"w\",\"key\":8,\"value\":5,\"at\":[5,9]}]}",
                  s, sizeof s),
        "B[1,2] R0=3[2,4] W1=5[5,9] C[9,20]");
    /* lists are their last element; what was aborted may not have happened */
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":20,\"outcome\":\"aborted\",\"ops\":["
                  "{\"op\":\"r\",\"key\":7,\"value\":[1,2],\"at\":[2,4]},"
                  "{\"op\":\"append\",\"key\":7,\"value\":3,\"at\":[5,9]}]}",
                  s, sizeof s),
        "B[1,2] R0=2[2,4] W0=3[5,-1] A[9,20]");
    /* a commit without an answer; marks with times of their own */
    assert_string_equal(
        events_of("{\"begin\":1,\"outcome\":\"unknown\",\"ops\":["
                  "{\"op\":\"begin\",\"at\":[1,3]},"
                  "{\"op\":\"inc\",\"key\":7,\"by\":2,\"before\":1,\"after\":3,"
                  "\"at\":[4,6]},{\"op\":\"commit\",\"at\":[7,8]}]}",
                  s, sizeof s),
        "B[1,3] R0=1[4,6] W0=3[4,6] C[7,-1]");
    /* a condition, and the rows it returned */
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":9,\"ops\":[{\"op\":\"pr\",\"where\":"
                  "\"value < 5\",\"rows\":[[7,3]],\"at\":[2,4]}]}",
                  s, sizeof s),
        "B[1,2] S[2,4] R0=3[2,4] C[4,9]");
}

static void test_conditions(void **state)
{
    hf_watch_scans *s = hf_watch_scans_new(true);
    hf_scalar row = {.type = HF_ROW, .text = "{\"a\":4}", .length = 7};
    uint64_t v = hf_watch_value_of(row);
    uint32_t below = hf_watch_scans_add(s, 0, HF_STR("a < 5"));
    uint32_t plain = hf_watch_scans_add(s, 0, HF_STR("value > 2"));

    (void)state;
    assert_int_equal(hf_watch_scans_add(s, 0, HF_STR("a < 5")), below);
    assert_int_not_equal(hf_watch_scans_add(s, 1, HF_STR("a < 5")), below);
    assert_int_equal(hf_watch_scans_match(s, below, v), HF_MATCH_UNKNOWN);
    hf_watch_scans_row(s, v, row);
    assert_int_equal(hf_watch_scans_match(s, below, v), HF_MATCH_YES);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(
            hf_watch_scans_match(
                s, plain,
                hf_watch_value_of((hf_scalar){.type = HF_INT, .number = i})),
            i > 2 ? HF_MATCH_YES : HF_MATCH_NO);
    assert_int_equal(hf_watch_scans_match(s, plain, HF_EVENT_NO_ROW),
                     HF_MATCH_NO);
    (void)hf_watch_scans_add(s, 0, HF_STR("what is this"));
    assert_int_equal(hf_watch_scans_strange(s), 1);
    hf_watch_scans_free(s);
}

/* ---- pieces of files ----------------------------------------------------- */

/* Lines that come in two parts, with the cut anywhere. */
static void test_a_file_that_grows(void **state)
{
    static const char text[] =
        "{\"holdfast\":1,\"unique\":true}\n"
        "{\"session\":1,\"begin\":1,\"end\":4,\"ops\":[[\"w\",\"x\",1]]}\n"
        "{\"session\":2,\"begin\":2,\"end\":5,\"ops\":[[\"r\",\"x\",1]]}\n";

    (void)state;
    for (size_t cut = 0; cut < sizeof text; cut++) {
        FILE *f = tmpfile();
        hf_pieces *p = hf_pieces_new(fileno(f), true);
        uint32_t txns = 0;

        for (unsigned part = 0; part < 2; part++) {
            hf_history *h = NULL;
            hf_error err = {0};
            size_t from = part == 0 ? 0 : cut;
            size_t n = part == 0 ? cut : sizeof text - 1 - cut;

            if (part == 1 && cut > sizeof text - 1)
                n = 0;
            assert_int_equal(pwrite(fileno(f), text + from, n, (off_t)from),
                             (ssize_t)n);
            do {
                if (hf_pieces_next(p, &h, &err) != HF_OK)
                    fail_msg("cut at %zu: %s", cut, err.text);
                txns += h ? h->n_txns : 0;
                hf_history_free(h);
            } while (h);
            assert_false(hf_pieces_ended(p));
        }
        assert_int_equal(txns, 2);
        assert_true(hf_pieces_unique(p));
        hf_pieces_free(p);
        fclose(f);
    }
}

/* ---- lines --------------------------------------------------------------- */

typedef struct world {
    hf_watcher *w;
    hf_lines_hub hub;
    hf_lines a, b;
    uint64_t found;
    hf_watch_mechanism mechanism;
} world;

static bool found_one(void *user, hf_watcher *w, const hf_violation *v)
{
    world *x = user;

    (void)w;
    x->found++;
    x->mechanism = v->mechanism;
    return true;
}

static void begin(world *x)
{
    *x = (world){0};
    x->w = hf_watcher_new(&(hf_watcher_options){
        .watch = {.profile = hf_profile_find(
                      HF_STR("postgresql/repeatable-read"), NULL)},
        .pipeline = {.one_thread = true},
        .violation = found_one,
        .user = x});
    hf_watcher_begin(x->w, HF_SESSIONS_LIVE);
    x->hub.watcher = x->w;
    hf_lines_init(&x->a, &x->hub);
    hf_lines_init(&x->b, &x->hub);
}

/* Byte by byte: lines are put together whatever the reads cut. */
static void say(hf_lines *l, const char *text)
{
    for (; *text; text++)
        assert_true(hf_lines_feed(l, text, 1));
}

static hf_watcher_stats end(world *x)
{
    hf_watcher_stats s;

    hf_lines_release(&x->a);
    hf_lines_release(&x->b);
    hf_watcher_end(x->w);
    hf_watcher_consume(x->w);
    hf_watcher_look(x->w, &s);
    hf_lines_hub_release(&x->hub);
    hf_watcher_free(x->w);
    return s;
}

static void test_two_programs(void **state)
{
    hf_watcher_stats s;
    world x;

    (void)state;
    begin(&x);
    /* b reads what a has long overwritten */
    say(&x.a, "{\"session\":\"a\",\"ops\":[{\"op\":\"w\",\"key\":\"x\","
              "\"value\":1,\"at\":[10,11]}],\"begin\":9,\"more\":true}\n"
              "{\"session\":\"a\",\"ops\":[{\"op\":\"commit\",\"at\":[12,13]}"
              "]}\n");
    say(&x.a, "{\"session\":\"a\",\"begin\":20,\"end\":24,\"ops\":[{\"op\":"
              "\"w\",\"key\":\"x\",\"value\":2,\"at\":[21,22]}]}\n");
    say(&x.b, "\n{\"session\":7,\"begin\":30,\"end\":36,\"ops\":[{\"op\":"
              "\"r\",\"key\":\"x\",\"value\":1,\"at\":[31,32]}]}\n");
    s = end(&x);
    assert_int_equal(x.hub.bad_lines, 0);
    assert_int_equal(s.watch.transactions, 3);
    assert_int_equal(s.watch.committed, 3);
    assert_int_equal(x.found, 1);
    assert_int_equal(x.mechanism, HF_WATCH_CR);
}

/* Parts that have no times are of the transaction all the same. */
static void test_parts_without_times(void **state)
{
    hf_watcher_stats s;
    world x;

    (void)state;
    begin(&x);
    say(&x.a, "{\"session\":\"a\",\"ops\":[{\"op\":\"w\",\"key\":\"x\","
              "\"value\":1,\"at\":[10,11]}],\"begin\":9,\"more\":true}\n"
              "{\"session\":\"a\",\"ops\":[],\"more\":true}\n"
              "{\"session\":\"a\",\"ops\":[],\"end\":13}\n"
              "{\"session\":\"a\",\"begin\":20,\"ops\":[{\"op\":\"w\","
              "\"key\":\"x\",\"value\":2,\"at\":[21,22]}],\"more\":true}\n"
              "{\"session\":\"a\",\"ops\":[[\"commit\"]],\"end\":24}\n");
    say(&x.b, "{\"session\":7,\"begin\":30,\"end\":36,\"ops\":[{\"op\":"
              "\"r\",\"key\":\"x\",\"value\":1,\"at\":[31,32]}]}\n");
    s = end(&x);
    assert_int_equal(x.hub.bad_lines, 0);
    assert_int_equal(s.no_times, 0);
    assert_int_equal(s.watch.committed, 3);
    assert_int_equal(s.watch.complaints[HF_COMPLAINT_OUT_OF_ORDER], 0);
    assert_int_equal(x.found, 1);
}

static void test_bad_lines(void **state)
{
    static const char *const bad[] = {
        "nonsense\n",
        "{\"session\":\"b\"}\n",
        "{\"ops\":[],\"more\":true}\n",
        "{\"now\":5}\n",
        "{\"session\":\"a\",\"ops\":[]}\n", /* of the other connection */
        "{\"session\":\"b\",\"ops\":[[\"q\",1,2]]}\n",
        "{\"session\":\"b\",\"ops\":[],\"now\":4}\n",
        "{\"session\":\"b\",\"more\":7,\"ops\":[]}\n",
        "{\"session\":[],\"ops\":[]}\n"};
    const uint64_t n = sizeof bad / sizeof *bad;
    hf_watcher_stats s;
    world x;

    (void)state;
    begin(&x);
    say(&x.a, "{\"session\":\"a\",\"begin\":1,\"end\":2,\"ops\":[]}\n");
    for (size_t i = 0; i < n; i++) {
        say(&x.b, bad[i]);
        assert_int_equal(x.hub.bad_lines, i + 1);
    }
    assert_non_null(strstr(x.hub.first_bad.text, "connection 2, line 1"));
    /* they stopped nobody */
    say(&x.b, "{\"session\":\"b\",\"begin\":1,\"end\":2,\"ops\":[]}\n");
    s = end(&x);
    assert_int_equal(s.watch.transactions, 2);
    assert_int_equal(x.found, 0);
}

/* Its connection breaks after a write: it may have committed. */
static void test_a_program_that_dies(void **state)
{
    hf_watcher_stats s;
    world x;

    (void)state;
    begin(&x);
    say(&x.a, "{\"session\":\"a\",\"ops\":[{\"op\":\"w\",\"key\":\"x\","
              "\"value\":1,\"at\":[10,11]}],\"begin\":9,\"more\":true}\n");
    say(&x.b, "{\"session\":\"b\",\"begin\":30,\"end\":36,\"ops\":[{\"op\":"
              "\"r\",\"key\":\"x\",\"value\":1,\"at\":[31,32]}]}\n"
              "{\"session\":\"b\",\"now\":50}\n{\"session\":\"b\",\"bye\":true}"
              "\n");
    s = end(&x);
    assert_int_equal(s.lost, 1);
    assert_int_equal(s.watch.unknown, 1);
    assert_int_equal(x.found, 0);
}

/* A line without an end is not kept for ever. */
static void test_a_line_too_long(void **state)
{
    char *junk = hf_alloc(1 << 20);
    world x;

    (void)state;
    memset(junk, 'x', 1 << 20);
    begin(&x);
    for (unsigned i = 0; i < 20; i++)
        assert_true(hf_lines_feed(&x.a, junk, 1 << 20));
    assert_true(x.a.buffer.cap <= 2 * HF_LINE_BYTES);
    assert_int_equal(x.hub.bad_lines, 1);
    say(&x.a, "\n{\"session\":\"a\",\"begin\":1,\"end\":2,\"ops\":[]}\n");
    assert_int_equal(end(&x).watch.transactions, 1);
    hf_free(junk);
}

/* ---- whole files, and the same as a stream ------------------------------- */

typedef struct judged {
    uint64_t file, stream;  /* violations found */
    hf_watcher_stats stats; /* of the file */
    char first[80];         /* of the file: "FUW lost-update x" */
} judged;

typedef struct told {
    uint64_t n;
    char first[80];
} told;

static bool tell(void *user, hf_watcher *w, const hf_violation *v)
{
    told *x = user;
    hf_out name;

    if (x->n++ > 0)
        return true;
    hf_out_init_memory(&name);
    if (v->key != UINT32_MAX)
        hf_watch_names_print(hf_watcher_names(w), v->key, &name);
    (void)snprintf(x->first, sizeof x->first, "%s %s %.*s",
                   hf_watch_mechanism_name(v->mechanism),
                   hf_watch_rule_name(v->rule), (int)name.n, name.at);
    hf_out_release(&name);
    return true;
}

static judged judge_with(const char *profile, const char *text,
                         hf_watcher_options o)
{
    const hf_profile *p = hf_profile_find(hf_str_of(profile), NULL);
    hf_history *h = history_of(text);
    hf_lines_hub hub = {0};
    hf_lines lines;
    judged j = {0};
    told t = {0};
    hf_watcher *w;

    assert_non_null(p);
    o.watch.profile = p;
    o.pipeline.one_thread = true;
    o.violation = tell;
    o.user = &t;
    w = hf_watcher_new(&o);
    assert_int_equal(hf_watcher_count(w, h), 0);
    hf_watcher_begin(w, HF_SESSIONS_COUNTED);
    (void)hf_watcher_piece(w, h);
    hf_watcher_end(w);
    hf_watcher_consume(w);
    hf_watcher_look(w, &j.stats);
    hf_watcher_free(w);
    hf_history_free(h);
    j.file = t.n;
    memcpy(j.first, t.first, sizeof j.first);
    t = (told){0};
    hub.watcher = w = hf_watcher_new(&o);
    hf_watcher_begin(w, HF_SESSIONS_LIVE);
    hf_lines_init(&lines, &hub);
    (void)hf_lines_feed(&lines, text, strlen(text));
    hf_lines_release(&lines);
    hf_watcher_end(w);
    hf_watcher_consume(w);
    hf_watcher_free(w);
    hf_lines_hub_release(&hub);
    j.stream = t.n;
    return j;
}

static judged judge(const char *profile, const char *text)
{
    return judge_with(profile, text, (hf_watcher_options){0});
}

/* One transaction of one operation, as a line. */
#define LINE(session, begin, end, op)                                          \
    "{\"session\":\"" session "\",\"begin\":" #begin "0,\"end\":" #end         \
    "9,\"ops\":[{" op ",\"at\":[" #begin "1," #begin "2]},{\"op\":\"commit\"," \
    "\"at\":[" #end "0," #end "5]}]}\n"
#define WRITE(value) "\"op\":\"w\",\"key\":[\"t\",1],\"value\":" value
#define READ(value) "\"op\":\"r\",\"key\":[\"t\",1],\"value\":" value
#define START "{\"initial\":[[[\"t\",1],{\"a\":1,\"b\":1}]]}\n"

static void test_columns(void **state)
{
    judged j;

    (void)state;
    /* two set a column each; who reads sees both, or one of them */
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 2, WRITE("{\"a\":2}"))
                  LINE("2", 3, 4, WRITE("{\"b\":3}"))
                      LINE("3", 5, 6, READ("{\"a\":2,\"b\":3}"))
                          LINE("4", 5, 6, READ("{\"b\":3}")));
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stream, 0);
    assert_int_equal(j.stats.keys, 3);
    /* a column that was overwritten is stale, whatever the others are */
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 2, WRITE("{\"a\":2}"))
                  LINE("2", 3, 4, WRITE("{\"b\":3}"))
                      LINE("3", 5, 6, READ("{\"a\":2,\"b\":1}")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    assert_string_equal(j.first, "CR stale-read t/1.b");
    /* locks are of rows: two columns of one are one lock */
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 5, WRITE("{\"a\":2}"))
                  LINE("2", 3, 4, WRITE("{\"b\":3}")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    assert_string_equal(j.first, "ME locks-overlap t/1");
    /* a row that is gone has no columns; a new one has its own */
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 2, "\"op\":\"delete\",\"key\":[\"t\",1]")
                  LINE("2", 3, 4, READ("null"))
                      LINE("3", 5, 6, WRITE("{\"a\":null}"))
                          LINE("4", 7, 8, READ("{\"a\":null}")));
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stream, 0);
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 2, "\"op\":\"delete\",\"key\":[\"t\",1]")
                  LINE("2", 3, 4, READ("{\"b\":1}")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    /* rows that are always whole are one key each in a file */
    j = judge("postgresql/read-committed",
              START LINE("1", 1, 2, WRITE("{\"a\":2,\"b\":2}"))
                  LINE("2", 3, 4, READ("{\"b\":1,\"a\":1}")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stats.keys, 1);
    assert_string_equal(j.first, "CR stale-read t/1");
}

static void test_initial_values(void **state)
{
    static const char twice[] =
        LINE("1", 1, 2, READ("7")) LINE("2", 3, 4, READ("8"));
    judged j;

    (void)state;
    /* nobody said what was there: the first read shows it */
    j = judge("postgresql/read-committed", LINE("1", 1, 2, READ("7")));
    assert_int_equal(j.file + j.stream, 0);
    j = judge("postgresql/read-committed", twice);
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    assert_string_equal(j.first, "CR unexplained-read t/1");
    /* something was announced, and this was not */
    j = judge("postgresql/read-committed",
              "{\"initial\":[[\"x\",1]]}\n" LINE("1", 1, 2, READ("7")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    j = judge_with("postgresql/read-committed",
                   "{\"initial\":[[\"x\",1]]}\n" LINE("1", 1, 2, READ("7")),
                   (hf_watcher_options){.is_unknown = true});
    assert_int_equal(j.file + j.stream, 0);
    j = judge_with("postgresql/read-committed", LINE("1", 1, 2, READ("7")),
                   (hf_watcher_options){.starts_empty = true});
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
}

static void test_what_has_no_times(void **state)
{
    char s[1000];
    judged j;

    (void)state;
    /* a BEGIN without times is before what follows */
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":9,\"ops\":[[\"begin\"],{\"op\":\"w\","
                  "\"key\":7,\"value\":3,\"at\":[2,4]}]}",
                  s, sizeof s),
        "B[1,2] W0=3[2,4] C[4,9]");
    assert_string_equal(
        events_of("{\"end\":9,\"ops\":[[\"begin\"],{\"op\":\"w\",\"key\":7,"
                  "\"value\":3,\"at\":[2,4]},[\"commit\"]]}",
                  s, sizeof s),
        "B[2,2] W0=3[2,4] C[4,9]");
    /* what has no times is between the calls that have; the commit, too, may
     * have been at any time since */
    assert_string_equal(events_of("{\"begin\":1,\"end\":9,\"ops\":[[\"w\",7,"
                                  "3],[\"w\",8,4]]}",
                                  s, sizeof s),
                        "B[1,9] W0=3[1,-1] W1=4[1,-1] C[1,9]");
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":9,\"ops\":[[\"r\",7,3],[\"r\",8,4]]}",
                  s, sizeof s),
        "B[1,9] R0=3[1,9] R1=4[1,9] C[1,9]");
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":9,\"ops\":[[\"r\",7,3],{\"op\":\"w\","
                  "\"key\":7,\"value\":4,\"at\":[2,4]},[\"r\",8,5],[\"r\",9,"
                  "6],{\"op\":\"commit\",\"at\":[7,8]}]}",
                  s, sizeof s),
        "B[1,2] R0=3[1,2] W0=4[2,4] R1=5[4,7] R2=6[4,7] C[7,8]");
    assert_string_equal(
        events_of("{\"begin\":1,\"end\":9,\"ops\":[{\"op\":\"begin\",\"at\":"
                  "[1,3]}]}",
                  s, sizeof s),
        "B[1,3] C[3,9]");
    j = judge("postgresql/repeatable-read",
              "{\"initial\":[[\"x\",0]]}\n"
              "{\"session\":1,\"begin\":10,\"end\":100,\"ops\":[[\"w\",\"x\","
              "1]]}\n"
              "{\"session\":2,\"begin\":20,\"end\":50,\"ops\":[[\"r\",\"x\","
              "1]]}\n");
    assert_int_equal(j.file + j.stream, 0);
    assert_int_equal(j.stats.watch.reads_judged, 1);
    assert_int_equal(j.stats.no_times, 1);
    /* a write without an answer: the transaction may not have it */
    j = judge("postgresql/repeatable-read",
              "{\"initial\":[[\"x\",1]]}\n"
              "{\"session\":1,\"begin\":10,\"end\":60,\"ops\":[{\"op\":\"w\","
              "\"key\":\"x\",\"value\":2,\"at\":[11,null]},{\"op\":\"r\","
              "\"key\":\"x\",\"value\":1,\"at\":[20,21]},{\"op\":\"commit\","
              "\"at\":[50,55]}]}\n" LINE("2", 7, 8,
                                         "\"op\":\"r\",\"key\":\"x\","
                                         "\"value\":1")
                  LINE("3", 90, 91, "\"op\":\"r\",\"key\":\"x\",\"value\":2"));
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stream, 0);
    /* one that failed cleanly is no reason to complain of anything, nor is one
     * without times */
    j = judge("postgresql/repeatable-read",
              "{\"session\":1,\"begin\":10,\"end\":19,\"outcome\":\"aborted\","
              "\"ops\":[[\"w\",\"x\",2],[\"w\",\"y\",3]]}\n");
    for (unsigned c = 0; c < HF_COMPLAINT_COUNT; c++)
        assert_int_equal(j.stats.watch.complaints[c], 0);
    j = judge("postgresql/repeatable-read",
              "{\"initial\":[[\"x\",1]]}\n"
              "{\"session\":1,\"begin\":10,\"end\":19,\"outcome\":\"aborted\","
              "\"ops\":[{\"op\":\"w\",\"key\":\"x\",\"value\":2,\"at\":[11,"
              "12]},{\"op\":\"w\",\"key\":\"x\",\"value\":3,\"at\":[13,14]}]}"
              "\n" LINE("1", 2, 3, "\"op\":\"r\",\"key\":\"x\",\"value\":1"));
    assert_int_equal(j.file + j.stream, 0);
    for (unsigned c = 0; c < HF_COMPLAINT_COUNT; c++)
        assert_int_equal(j.stats.watch.complaints[c], 0);
}

/* Two transactions of different levels: the weaker one is not promised more
 * than its own. */
static void test_levels_of_transactions(void **state)
{
    static const char stale[] =
        "{\"initial\":[[\"x\",1],[\"y\",1]]}\n"
        "{\"session\":1,\"begin\":10,\"end\":60,\"level\":\"%s\",\"ops\":[{"
        "\"op\":\"r\",\"key\":\"y\",\"value\":1,\"at\":[11,12]},{\"op\":"
        "\"r\",\"key\":\"x\",\"value\":2,\"at\":[40,41]},{\"op\":\"w\","
        "\"key\":\"x\",\"value\":3,\"at\":[42,43]},{\"op\":\"commit\","
        "\"at\":[50,55]}]}\n"
        "{\"session\":2,\"begin\":20,\"end\":29,\"ops\":[{\"op\":\"w\","
        "\"key\":\"x\",\"value\":2,\"at\":[21,22]},{\"op\":\"commit\","
        "\"at\":[25,29]}]}\n";
    char text[2000];
    judged j;

    (void)state;
    (void)snprintf(text, sizeof text, stale, "serializable");
    j = judge("postgresql/serializable", text);
    assert_true(j.file > 0);
    assert_int_equal(j.file, j.stream);
    (void)snprintf(text, sizeof text, stale, "read-committed");
    j = judge("postgresql/serializable", text);
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stream, 0);
    assert_int_equal(j.stats.watch.unjudged[HF_UNJUDGED_LEVEL], 2);
    j = judge_with("postgresql/serializable", text,
                   (hf_watcher_options){.one_level = true});
    assert_true(j.file > 0);
    /* its own level is judged by its own profile */
    j = judge("postgresql/read-committed", text);
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stats.watch.unjudged[HF_UNJUDGED_LEVEL], 0);
}

/* "abc" is 'ABC' to some collations. */
static void test_collations(void **state)
{
    static const char text[] =
        "{\"initial\":[[[\"t\",1],{\"name\":\"abc\"}]]}\n" LINE(
            "1", 1, 2,
            "\"op\":\"pr\",\"table\":\"t\",\"where\":\"name = 'ABC'\","
            "\"rows\":[[[\"t\",1],{\"name\":\"abc\"}]]")
            LINE("1", 3, 4,
                 "\"op\":\"pr\",\"table\":\"t\",\"where\":\"name <> "
                 "'ABC'\",\"rows\":[]");
    judged j;

    (void)state;
    j = judge("mariadb/read-committed", text);
    assert_int_equal(j.file + j.stream, 0);
    j = judge("postgresql/read-committed", text);
    assert_int_equal(j.file, 2);
}

/* A complaint makes doubtful what was judged until then, not what comes. */
static void test_complaints_pass(void **state)
{
#define X(value) "\"op\":\"r\",\"key\":\"x\",\"value\":" value
    static const char bad[] =
        "{\"session\":\"9\",\"begin\":390,\"end\":399,\"ops\":[{\"op\":"
        "\"w\",\"key\":\"z\",\"value\":1,\"at\":[395,396]},{\"op\":\"w\","
        "\"key\":\"z\",\"value\":2,\"at\":[392,393]}]}\n";
    char text[4000];
    judged j;

    (void)state;
    /* the write is older than the complaint, and so may its time be wrong */
    (void)snprintf(text, sizeof text, "%s%s%s",
                   "{\"initial\":[[\"x\",1]]}\n" LINE(
                       "1", 10, 20, "\"op\":\"w\",\"key\":\"x\",\"value\":2"),
                   bad, LINE("2", 60, 70, X("1")));
    j = judge("postgresql/read-committed", text);
    assert_int_equal(j.file, 0);
    assert_true(j.stats.doubted > 0);
    assert_true(j.stats.watch.complaints[HF_COMPLAINT_OUT_OF_ORDER] +
                    j.stats.watch.complaints[HF_COMPLAINT_LATE] >
                0);
    /* all of it comes after the complaint */
    (void)snprintf(text, sizeof text, "%s%s%s", "{\"initial\":[[\"x\",1]]}\n",
                   bad,
                   LINE("1", 50, 60, "\"op\":\"w\",\"key\":\"x\",\"value\":2")
                       LINE("2", 70, 80, X("1")));
    j = judge("postgresql/read-committed", text);
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    assert_string_equal(j.first, "CR stale-read x");
    /* what the bad one wrote may be there or not */
    (void)snprintf(
        text, sizeof text, "%s%s%s", "{\"initial\":[[\"z\",0]]}\n", bad,
        LINE("1", 50, 60, "\"op\":\"r\",\"key\":\"z\",\"value\":2")
            LINE("2", 70, 80, "\"op\":\"r\",\"key\":\"z\",\"value\":0"));
    j = judge("postgresql/read-committed", text);
    assert_int_equal(j.file + j.stream, 0);
#undef X
}

/* With an index, a condition locks what satisfies it and no more. */
static void test_locks_of_conditions(void **state)
{
#define SCAN5                                                                  \
    "{\"initial\":[[[\"t\",1],1],[[\"t\",2],2]]}\n" LINE(                      \
        "1", 1, 8,                                                             \
        "\"op\":\"pr\",\"table\":\"t\",\"where\":\"value = 5\",\"rows\":[]")
    judged j;

    (void)state;
    j = judge("mysql/serializable", SCAN5 LINE("2", 3, 4, WRITE("7")));
    assert_int_equal(j.file + j.stream, 0);
    j = judge("mysql/serializable", SCAN5 LINE("2", 3, 4, WRITE("5")));
    assert_int_equal(j.file, 1);
    assert_int_equal(j.stream, 1);
    assert_string_equal(j.first, "ME locks-overlap t/1");
#undef SCAN5
    /* it wrote 5 when the scan's lock was gone, and something else before */
    j = judge(
        "mysql/serializable",
        "{\"initial\":[[[\"t\",1],1]]}\n"
        "{\"session\":\"1\",\"begin\":30,\"end\":60,\"ops\":[{\"op\":\"pr\","
        "\"table\":\"t\",\"where\":\"value = 5\",\"rows\":[],\"at\":[30,40]},"
        "{\"op\":\"commit\",\"at\":[50,60]}]}\n"
        "{\"session\":\"2\",\"begin\":10,\"end\":90,\"ops\":["
        "{\"op\":\"w\",\"key\":[\"t\",1],\"value\":2,\"at\":[10,20]},"
        "{\"op\":\"w\",\"key\":[\"t\",1],\"value\":5,\"at\":[70,75]},"
        "{\"op\":\"commit\",\"at\":[80,90]}]}\n");
    assert_int_equal(j.file + j.stream, 0);
}

#define AGGREGATE(op, value)                                                   \
    LINE("1", 5, 6,                                                            \
         "\"op\":\"" op "\",\"column\":\"value\",\"table\":\"t\",\"where\":"   \
         "\"value > 0\",\"value\":" value)

/* What an aggregate returned is that of some choice of the rows that may have
 * been there. */
static void test_aggregates(void **state)
{
#define LEVEL "postgresql/read-committed"
#define ROWS                                                                   \
    "{\"initial\":[[[\"t\",1],5],[[\"t\",2],9]]}\n" LINE("2", 3, 4, WRITE("4"))
#define OVERLAP                                                                \
    "{\"initial\":[[[\"t\",1],5],[[\"t\",2],9]]}\n" LINE("2", 3, 5, WRITE("4"))
    static const struct {
        const char *text;
        unsigned found;
        const char *first;
    } cases[] = {
        {ROWS AGGREGATE("min", "4"), 0, ""},
        /* the row was 4 by then; and none was 5 */
        {ROWS AGGREGATE("min", "5"), 2, "CR missing-row t/1"},
        {ROWS AGGREGATE("max", "9"), 0, ""},
        {ROWS AGGREGATE("max", "8"), 2, "CR missing-row t/2"},
        {ROWS AGGREGATE("max", "10"), 1, "CR wrong-total"},
        {ROWS AGGREGATE("sum", "null"), 2, "CR missing-row t/1"},
        {ROWS AGGREGATE("sum", "13"), 0, ""},
        {ROWS AGGREGATE("sum", "14"), 1, "CR wrong-total"},
        {OVERLAP AGGREGATE("sum", "13"), 0, ""},
        {OVERLAP AGGREGATE("sum", "14"), 0, ""},
        {OVERLAP AGGREGATE("sum", "12"), 1, "CR wrong-total"},
        {ROWS AGGREGATE("count", "2"), 0, ""},
        {ROWS AGGREGATE("count", "3"), 1, "CR wrong-total"},
        {ROWS AGGREGATE("count", "1"), 1, "CR wrong-total"},
    };
    judged j;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        j = judge(LEVEL, cases[i].text);
        if (j.file != cases[i].found || j.stream != cases[i].found ||
            (j.file > 0 &&
             strncmp(j.first, cases[i].first, strlen(cases[i].first)) != 0))
            fail_msg("%zu: %d and %d, not %u: %s", i, (int)j.file,
                     (int)j.stream, cases[i].found, j.first);
        assert_int_equal(j.stats.aggregates, 0);
        assert_int_equal(j.stats.watch.unjudged[HF_UNJUDGED_TOTAL], 0);
    }
    /* an average is no number of rows; what was there to begin with is not
     * known */
    j = judge(LEVEL, ROWS AGGREGATE("avg", "99"));
    assert_int_equal(j.file, 0);
    assert_int_equal(j.stats.aggregates, 1);
    j = judge(LEVEL, LINE("2", 3, 4, WRITE("4")) AGGREGATE("sum", "99"));
    assert_int_equal(j.file + j.stream, 0);
    assert_int_equal(j.stats.aggregates, 1);
#undef ROWS
#undef OVERLAP
#undef LEVEL
}

/* ---- a source that judges, too --------------------------------------------
 */

typedef struct helped {
    hf_watcher *w;
    const hf_history *h;
    uint64_t n, hash; /* of violations, in their order */
} helped;

static bool add_up(void *user, hf_watcher *w, const hf_violation *v)
{
    helped *x = user;

    (void)w;
    x->n++;
    x->hash = (x->hash ^ v->txn << 20 ^ v->key ^ (uint64_t)v->rule << 60) *
              0x9e3779b97f4a7c15u;
    return true;
}

static void *produce(void *user)
{
    const helped *x = user;

    (void)hf_watcher_piece(x->w, x->h);
    hf_watcher_end(x->w);
    return NULL;
}

/* Of eight sessions each writes rows of its own and reads those of the others,
 * now and then what is not there any more. */
static hf_history *many_transactions(unsigned n)
{
    hf_out text;
    hf_history *h;
    hf_rng r;
    unsigned newest[64] = {0};

    hf_out_init_memory(&text);
    hf_rng_seed(&r, 5);
    for (unsigned i = 1; i <= n; i++) {
        unsigned read = hf_rng_below(&r, 64), wrote = hf_rng_below(&r, 64);
        unsigned value = hf_rng_chance(&r, 1) && newest[read] > 0
                             ? newest[read] - 1
                             : newest[read];

        newest[wrote] = i;
        hf_out_format(&text,
                      "{\"session\":%u,\"begin\":%u0,\"end\":%u9,\"ops\":["
                      "{\"op\":\"r\",\"key\":%u,\"value\":%u,\"at\":[%u1,"
                      "%u2]},{\"op\":\"w\",\"key\":%u,\"value\":%u,\"at\":["
                      "%u3,%u4]},{\"op\":\"commit\",\"at\":[%u5,%u6]}]}\n",
                      i % 8, i, i, read, value, i, i, wrote, i, i, i, i, i);
    }
    hf_out_char(&text, '\0');
    h = history_of(text.at);
    hf_out_release(&text);
    return h;
}

static helped judge_helped(const hf_history *h, unsigned threads, bool helps)
{
    helped x = {.h = h};
    pthread_t source;

    x.w = hf_watcher_new(&(hf_watcher_options){
        .watch = {.profile = hf_profile_find(
                      HF_STR("postgresql/repeatable-read"), NULL),
                  .threads = threads,
                  .batch = 64},
        .pipeline = {.ahead = (size_t)1 << 17},
        .source_helps = helps,
        .starts_empty = false,
        .violation = add_up,
        .user = &x});
    assert_int_equal(hf_watcher_count(x.w, h), 0);
    hf_watcher_begin(x.w, HF_SESSIONS_COUNTED);
    pthread_create(&source, NULL, produce, &x);
    hf_watcher_consume(x.w);
    pthread_join(source, NULL);
    hf_watcher_free(x.w);
    return x;
}

static void test_a_source_that_judges(void **state)
{
    hf_history *h = many_transactions(20000);
    helped alone = judge_helped(h, 1, false);

    (void)state;
    assert_true(alone.n > 10);
    for (unsigned i = 0; i < 12; i++) {
        helped x = judge_helped(h, 1 + i % 3, i % 4 != 3);

        assert_int_equal(x.n, alone.n);
        assert_int_equal(x.hash, alone.hash);
    }
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_events_of_operations),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_a_file_that_grows),
        cmocka_unit_test(test_two_programs),
        cmocka_unit_test(test_parts_without_times),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_a_program_that_dies),
        cmocka_unit_test(test_a_line_too_long),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_what_has_no_times),
        cmocka_unit_test(test_levels_of_transactions),
        cmocka_unit_test(test_collations),
        cmocka_unit_test(test_complaints_pass),
        cmocka_unit_test(test_locks_of_conditions),
        cmocka_unit_test(test_aggregates),
        cmocka_unit_test(test_a_source_that_judges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

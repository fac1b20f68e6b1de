/* test_watcher.c: histories as events, pieces of files, lines of programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
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
    hf_watch_scans *scans = hf_watch_scans_new();
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
    hf_watch_scans *s = hf_watch_scans_new();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_events_of_operations),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_a_file_that_grows),
        cmocka_unit_test(test_two_programs),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_a_program_that_dies),
        cmocka_unit_test(test_a_line_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_formats_a.c: importers and exporters of register formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "formats_util.h"

/* ---- one good sample of each format -------------------------------------- */

static const char plume_sample[] = "w(1,10,0,0)\n"
                                   "r(2,0,0,0)\n"
                                   "w(2,11,1,1)\n"
                                   "r(1,10,1,1)\n"
                                   "w(1,12,0,-1)\n";

static const char awdit_sample[] = "w 0 1\nw 1 0\n-----\nr 1 2\n=====\n"
                                   "\nr 0 1\nw 1 2\n";

/* one session: a committed write of 1, an aborted read with a failed event */
static const char dbcop_sample[] =
    "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
    "\2\0\0\0\0\0\0\0"
    "\2\0\0\0\0\0\0\0PG\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\1\0\0\0\0\0\0\0" /* sessions */
    "\2\0\0\0\0\0\0\0" /* transactions */
    "\1\0\0\0\0\0\0\0\1\7\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\1"
    "\2\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
    "\1\7\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0\0";

static const char dbcop_json_sample[] =
    "{\"params\":{\"id\":0},\"info\":\"PG\",\"start\":\"\",\"end\":\"\",\n"
    "\"data\":[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":1}},"
    "{\"Read\":{\"variable\":3,\"version\":null}}],\"committed\":true}],\n"
    "[{\"events\":[{\"Read\":{\"variable\":0,\"version\":1}}],"
    "\"committed\":false}]]}\n";

static const char dbcop_old_json[] =
    "[[{\"events\":[{\"write\":true,\"variable\":0,\"value\":1,"
    "\"success\":true},{\"write\":false,\"variable\":3,\"value\":0,"
    "\"success\":true},{\"write\":true,\"variable\":3,\"value\":8,"
    "\"success\":false}],\"success\":true}],"
    "[{\"events\":[{\"write\":false,\"variable\":0,\"value\":1,"
    "\"success\":true}],\"success\":false}]]";

static const char dbcop_hist_sample[] = "// two sessions\n"
                                        "[x:=1 y==2 z==?]\n"
                                        "[x==1]! // aborted\n"
                                        "---\n"
                                        "[y:=2]\n";

#define COBRA_START "S\0\0\0\0\0\x10\0\x0b"
#define COBRA_END "C\0\0\0\0\0\x10\0\x0b"
static const char cobra_sample[] = COBRA_START
    "R\0\0\0\0\xbe\xbe\xeb\xee\0\0\0\0\xbe\xbe\xeb\xee\0\0\0\0\0\0\0\xa6"
    "\0\0\0\0\0\0\0\0"
    "W\0\0\0\0\0\1\x86\xa2\0\0\0\0\0\0\0\xa6\0\0\0\0\0\0\0\4" COBRA_END;

static const char polygraph_sample[] = "n:3\ne:0,1\ne:0,2\nc:1,2|2,1\n";

static const char isopredict_sample[] = "WRITE KEY[x] Txn(1, 0)\n"
                                        "READ KEY[x] Txn(2, 0) From(1, 0)\n"
                                        "READ KEY[y] Txn(2, 1) From(0, 0)\n"
                                        "\n";

static const char timekiller_sample[] =
    "[{\"tid\":2,\"sid\":8,\"sts\":{\"p\":\"110\",\"l\":0},"
    "\"cts\":{\"p\":112,\"l\":0},\"ops\":[{\"t\":\"r\",\"k\":3,\"v\":9}]},\n"
    "{\"tid\":1,\"sid\":8,\"sts\":{\"p\":100,\"l\":0},"
    "\"cts\":{\"p\":105,\"l\":0},"
    "\"ops\":[{\"t\":\"w\",\"k\":3,\"v\":9},{\"t\":\"READ\",\"k\":4,"
    "\"v\":0}]}]\n";

static const char arangodb_sample[] =
    "{\"tick\":\"74\",\"type\":1100,\"db\":\"d\",\"data\":{\"id\":\"94\"}}\n"
    "{\"tick\":\"94\",\"type\":2200,\"tid\":\"7\",\"db\":\"d\"}\n"
    "{\"tick\":\"99\",\"type\":2300,\"cuid\":\"c\",\"tid\":\"9\","
    "\"data\":{\"_key\":\"3\",\"_rev\":\"a\",\"rwAttr\":2}}\n"
    "{\"tick\":\"95\",\"type\":2300,\"cuid\":\"c\",\"tid\":\"7\","
    "\"data\":{\"_key\":\"3\",\"_rev\":\"b\",\"rwAttr\":1}}\n"
    "{\"tick\":\"97\",\"type\":2201,\"tid\":\"7\",\"db\":\"d\"}\n"
    "{\"tick\":\"98\",\"type\":2201,\"tid\":\"9\",\"db\":\"d\"}\n";

typedef struct sample {
    const char *format;
    const char *text;
    size_t length;
    bool exports; /* to one file */
} sample;

#define SAMPLE(name, text, exports)                                            \
    {                                                                          \
        name, text, sizeof(text) - 1, exports                                  \
    }
static const sample samples[] = {
    SAMPLE("plume-text", plume_sample, true),
    SAMPLE("awdit-test", awdit_sample, true),
    SAMPLE("dbcop-bincode", dbcop_sample, true),
    SAMPLE("dbcop-json", dbcop_json_sample, true),
    SAMPLE("dbcop-json", dbcop_old_json, true),
    SAMPLE("dbcop-hist", dbcop_hist_sample, true),
    SAMPLE("cobra-log-dir", cobra_sample, false),
    SAMPLE("cobra-polygraph", polygraph_sample, false),
    SAMPLE("isopredict-trace", isopredict_sample, true),
    SAMPLE("timekiller-json", timekiller_sample, true),
    SAMPLE("arangodb-wal-jsonl", arangodb_sample, false),
};
#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

/* ---- what is read -------------------------------------------------------- */

static void check_text(const char *format, const char *text, const char *wanted)
{
    hf_history *h = import_text(format, text);

    assert_history(h, wanted);
    hf_history_free(h);
}

static void plume_reads_operations(void **state)
{
    (void)state;
    check_text("plume-text", plume_sample,
               "s0 committed: write 1 10 | read 2 0*\n"
               "s1 committed: write 2 11 | read 1 10\n"
               "s0 aborted: write 1 12\n");
    check_text("plume-text", "\n\r\nr(1,0,3,4)", "s0 committed: read 1 0*\n");
    check_text("plume-text", "w(9223372036854775807,9223372036854775807,0,1)\n",
               "s0 committed: write 9223372036854775807 9223372036854775807\n");
}

static void plume_groups_by_transaction(void **state)
{
    hf_history *h;

    (void)state;
    h = import_text("plume-text", "w(1,1,0,77)\nw(2,1,1,5)\nr(2,1,0,77)\n"
                                  "w(1,2,0,3000000000)\nr(1,2,1,5)\n");
    assert_history(h, "s0 committed: write 1 1 | read 2 1\n"
                      "s1 committed: write 2 1 | read 1 2\n"
                      "s0 committed: write 1 2\n");
    assert_int_equal(hf_txn_label(h, 0), 77);
    assert_int_equal(hf_txn_label(h, 2), 3000000000);
    assert_int_equal(h->txn_line[2], 4);
    hf_history_free(h);
}

static void plume_aborted_lines_of_a_session_are_one_transaction(void **state)
{
    (void)state;
    check_text("plume-text",
               "w(1,1,0,-1)\nw(2,1,0,-1)\nw(3,1,1,-1)\nw(4,1,0,-1)\n",
               "s0 aborted: write 1 1 | write 2 1\n"
               "s1 aborted: write 3 1\n"
               "s0 aborted: write 4 1\n");
}

static void plume_zero_is_initial_unless_written(void **state)
{
    (void)state;
    check_text("plume-text", "r(1,0,0,0)\nr(2,0,0,0)\nw(2,0,1,1)\n",
               "s0 committed: read 1 0* | read 2 0\n"
               "s1 committed: write 2 0\n");
}

static void plume_reads_more_than_a_batch(void **state)
{
    hf_history *h;
    hf_out out;

    (void)state;
    hf_out_init_memory(&out);
    for (unsigned i = 0; i < 1000; i++)
        hf_out_format(&out, "%c(%u,%u,%u,%u)\n", i % 2 ? 'r' : 'w', i / 2 % 7,
                      i / 2 + 1, i / 10 % 3, i / 10);
    h = import_good("plume-text", out.at, out.n);
    assert_int_equal(h->n_ops, 1000);
    assert_int_equal(h->n_txns, 100);
    assert_int_equal(h->n_sessions, 3);
    assert_int_equal(h->n_keys, 7);
    assert_int_equal(h->n_values, 500);
    hf_history_free(h);
    hf_out_release(&out);
}

static void awdit_reads_sessions(void **state)
{
    (void)state;
    check_text("awdit-test", awdit_sample,
               "s0 committed: write 0 1 | write 1 0\n"
               "s0 committed: read 1 2\n"
               "s1 committed: read 0 1 | write 1 2\n");
    /* nothing is initial, not even 0 */
    check_text("awdit-test", "r 0 0", "s0 committed: read 0 0\n");
    check_text("awdit-test", "---\n===\n=\n-\nr 0 5\r\n",
               "s0 committed: read 0 5\n");
}

static void dbcop_reads_events(void **state)
{
    hf_history *h =
        import_good("dbcop-bincode", dbcop_sample, sizeof(dbcop_sample) - 1);

    (void)state;
    assert_history(h, "s0 committed: write 7 1\n"
                      "s0 aborted: read 7 0*\n");
    assert_int_equal(h->n_skipped, 1);
    assert_true(hf_str_eq(hf_string(h, h->name), HF_STR("PG")));
    hf_history_free(h);
}

static void dbcop_text_forms_agree(void **state)
{
    (void)state;
    check_text("dbcop-json", dbcop_json_sample,
               "s0 committed: write 0 1 | read 3 nil*\n"
               "s1 aborted: read 0 1\n");
    check_text("dbcop-json", dbcop_old_json,
               "s0 committed: write 0 1 | read 3 0*\n"
               "s1 aborted: read 0 1\n");
    check_text("dbcop-hist", dbcop_hist_sample,
               "s0 committed: write x 1 | read y 2 | read z nil*\n"
               "s0 aborted: read x 1\n"
               "s1 committed: write y 2\n");
    check_text("dbcop-hist", "--\n[\n 5:=1\n][]",
               "s0 committed: write 5 1\n"
               "s0 committed:\n");
}

static void cobra_reads_a_log(void **state)
{
    hf_history *h =
        import_good("cobra-log-dir", cobra_sample, sizeof(cobra_sample) - 1);

    (void)state;
    assert_history(h, "s0 committed: read 166 nil* | write 166 100002\n");
    assert_int_equal(hf_txn_label(h, 0), 0x10000b);
    hf_history_free(h);
}

static void isopredict_orders_by_index(void **state)
{
    (void)state;
    check_text("isopredict-trace", isopredict_sample,
               "s0 committed: write x 1\n"
               "s1 committed: read x 1\n"
               "s1 committed: read y nil*\n");
    /* (1, 1) stands before (1, 0); (3, 0) is only read from */
    check_text("isopredict-trace",
               "WRITE KEY[x] Txn(1, 1)\nREAD KEY[x] Txn(2, 0) From(1, 1)\n"
               "WRITE KEY[x] Txn(1, 0)\nREAD KEY[x] Txn(2, 0) From(3, 0)",
               "s0 committed: write x 1\n"
               "s1 committed: read x 3 | read x 4\n"
               "s0 committed: write x 3\n");
    /* the initial transaction may be a real one */
    check_text("isopredict-trace",
               "WRITE KEY[x] Txn(0, 0)\nREAD KEY[x] Txn(1, 0) From(0, 0)\n"
               "READ KEY[y] Txn(1, 0) From(0, 0)\n",
               "s0 committed: write x 1\n"
               "s1 committed: read x 1 | read y nil*\n");
}

static void isopredict_reads_sets(void **state)
{
    (void)state;
    check_text("isopredict-trace",
               "INSERT[k] to Set[s] Txn(1, 0)\n"
               "CONTAINS[k] in Set[s] From(1, 0) Txn(2, 0)\n"
               "DELETE KEY[k] From Set(s) Txn(3, 0)\n"
               "CONTAINS[k] in Set[s] From(3, 0) Txn(2, 1)\n",
               "s0 committed: insert s.k 1\n"
               "s1 committed: read s.k 1\n"
               "s2 committed: delete s.k nil\n"
               "s1 committed: read s.k nil*\n");
}

static void timekiller_orders_by_start(void **state)
{
    hf_history *h = import_text("timekiller-json", timekiller_sample);

    (void)state;
    assert_history(h, "s0 committed: write 3 9 | read 4 0*\n"
                      "s0 committed: read 3 9\n");
    assert_int_equal(h->cert.start_ts[0], 100);
    assert_int_equal(h->cert.commit_ts[1], 112);
    assert_int_equal(hf_txn_label(h, 0), 1);
    hf_history_free(h);
}

static void timekiller_reads_lists_and_logical_times(void **state)
{
    hf_history *h = import_text(
        "timekiller-json",
        "[{\"tid\":1,\"sid\":1,\"sts\":{\"p\":5,\"l\":1},"
        "\"cts\":{\"p\":5,\"l\":2},\"ops\":[{\"t\":\"a\",\"k\":\"x\",\"v\":1},"
        "{\"t\":\"r\",\"k\":\"x\",\"v\":[1,2]},{\"t\":\"r\",\"k\":\"x\"}]},"
        "{\"tid\":2,\"sid\":2,\"sts\":{\"p\":5,\"l\":0},"
        "\"cts\":{\"p\":6,\"l\":0},\"ops\":[]}]");

    (void)state;
    assert_history(h, "s0 committed: append x 1 | list read x [1 2] | "
                      "list read x nil*\n"
                      "s1 committed:\n");
    assert_true(h->cert.start_ts[1] < h->cert.start_ts[0]);
    assert_true(h->cert.start_ts[0] < h->cert.commit_ts[0]);
    assert_true(h->cert.commit_ts[0] < h->cert.commit_ts[1]);
    hf_history_free(h);
}

static void arangodb_gives_the_version_order(void **state)
{
    hf_history *h = import_text("arangodb-wal-jsonl", arangodb_sample);

    (void)state;
    assert_history(h, "s0 committed: write 3 1\ns1 committed: write 3 2\n");
    assert_non_null(h->cert.order_first);
    assert_int_equal(h->cert.order_first[1], 2);
    assert_int_equal(h->cert.order_txn[0], 0);
    assert_int_equal(h->cert.order_txn[1], 1);
    assert_int_equal(hf_txn_label(h, 0), 7);
    assert_int_equal(h->n_skipped, 1);
    hf_history_free(h);
}

static void arangodb_knows_outcomes(void **state)
{
    hf_history *h = import_text(
        "arangodb-wal-jsonl",
        "{\"tick\":\"1\",\"type\":2300,\"tid\":\"1\",\"data\":{\"_key\":\"a\","
        "\"v\":1}}\n"
        "{\"tick\":\"2\",\"type\":2300,\"tid\":\"2\",\"data\":{\"_key\":\"a\","
        "\"v\":2}}\n"
        "{\"tick\":\"3\",\"type\":2302,\"tid\":\"0\",\"data\":{\"_key\":"
        "\"a\"}}\n"
        "{\"tick\":\"4\",\"type\":2202,\"tid\":\"2\"}\n"
        "{\"tick\":\"5\",\"type\":2300,\"tid\":\"3\",\"cuid\":\"o\","
        "\"data\":{\"_key\":\"a\",\"v\":1,\"w\":2}}\n");

    (void)state;
    assert_history(h, "s0 unknown: write a 1\ns1 aborted: write a 2\n"
                      "s2 committed: delete a nil\n"
                      "s3 unknown: write \"o\".a "
                      "\"{\"_key\":\"a\",\"v\":1,\"w\":2}\"\n");
    assert_int_equal(h->cert.order_first[1], 1);
    assert_int_equal(h->cert.order_txn[0], 2);
    hf_history_free(h);
}

/* ---- what is refused ----------------------------------------------------- */

typedef struct bad {
    const char *format, *text;
    uint64_t line;
} bad;

static const bad bad_lines[] = {
    {"plume-text", "w(1,10,0,0)\nx(1,2,3,4)\n", 2},
    {"plume-text", "w(1,10,0,0)\nw(1,2,3,4", 2},
    {"plume-text", "w(1,10,0,0)\nw(1,2,3)\n", 2},
    {"plume-text", "\nw(1, 2,3,4)\n", 2},
    {"plume-text", "w(1,-2,3,4)\n", 1},
    {"plume-text", "w(1,2,3,-2)\n", 1},
    {"plume-text", "w(1,2,3,4) \n", 1},
    {"plume-text", "w(9223372036854775808,2,3,4)\n", 1},
    {"plume-text", "w(99999999999999999999999999,2,3,4)\n", 1},
    {"plume-text", "w(1,1,0,5)\nw(1,2,1,5)\n", 2},
    {"plume-text", "w(1,1,0,5)\n\0w(1,2,1,5)\n", 0},
    {"awdit-test", "w 0 1\nw 0\n", 2},
    {"awdit-test", "w 0 1\nr 0 1 2\n", 2},
    {"awdit-test", "w 0 1\nx 0 1\n", 2},
    {"awdit-test", "w 0 -1\n", 1},
    {"awdit-test", "w 0 9223372036854775808\n", 1},
    {"dbcop-hist", "[x:=1\n", 1},
    {"dbcop-hist", "[x:=1]\n[x:=?]\n", 2},
    {"dbcop-hist", "[x:=1]\ny\n", 2},
    {"dbcop-hist", "[x=1]\n", 1},
    {"dbcop-hist", "[x:=99999999999999999999]\n", 1},
    {"dbcop-hist", "[x:=1]!!\n", 1},
    {"dbcop-json", "{\"data\":[[{\"events\":[]}]\n", 2},
    {"dbcop-json", "[[{\"events\":\n[{\"Write\":{\"variable\":0}}]}]]", 2},
    {"dbcop-json", "[[{\"events\":[{\"Write\":{\"version\":0}}]}]]", 1},
    {"dbcop-json", "[[{}]]", 1},
    {"dbcop-json", "{}", 1},
    {"dbcop-json", "[] x", 1},
    {"cobra-polygraph", "", 1},
    {"cobra-polygraph", "n:x\n", 1},
    {"cobra-polygraph", "n:2\ne:0,2\n", 2},
    {"cobra-polygraph", "n:2\ne:0\n", 2},
    {"cobra-polygraph", "n:2\nc:0,1\n", 2},
    {"cobra-polygraph", "n:2\nc:0,1|1,0|\n", 2},
    {"cobra-polygraph", "n:4000000000\n", 1},
    {"isopredict-trace", "WRITE KEY[x] Txn(1, 0)\nWRITE KEY[x\n", 2},
    {"isopredict-trace", "READ KEY[x] Txn(1, 0)\n", 1},
    {"isopredict-trace", "WRITE KEY[x] Txn(1, 0) From(0, 0)\n", 1},
    {"isopredict-trace", "WRITE KEY[] Txn(1, 0)\n", 1},
    {"isopredict-trace", "WRITE KEY[x] Txn(1, 99999999999999999999)\n", 1},
    {"timekiller-json", "", 1},
    {"timekiller-json", "{}", 1},
    {"timekiller-json", "[\n{\"tid\":1}]", 2},
    {"timekiller-json",
     "[{\"tid\":1,\"sid\":7,\"sts\":{\"p\":1},\"cts\":{\"p\":2},\n\"ops\":["
     "{\"t\":\"x\",\"k\":1,\"v\":1}]}]",
     2},
    {"timekiller-json",
     "[{\"tid\":1,\"sid\":7,\"sts\":{\"p\":\"a\"},\"cts\":{\"p\":2},"
     "\"ops\":[]}]",
     1},
    {"timekiller-json",
     "[{\"tid\":1,\"sid\":7,\"sts\":{\"p\":1},\"cts\":{\"p\":2},\"ops\":[]},\n"
     "{\"tid\":1,\"sid\":7,\"sts\":{\"p\":1},\"cts\":{\"p\":2},\"ops\":[]}]",
     2},
    {"timekiller-json",
     "[{\"tid\":1,\"sid\":7,\"sts\":{\"p\":1},\"cts\":{\"p\":2},\"ops\":["
     "{\"t\":\"w\",\"k\":[1],\"v\":1}]}]",
     1},
    {"arangodb-wal-jsonl", "{\"tick\":\"1\"}\n", 1},
    {"arangodb-wal-jsonl", "{\"tick\":\"1\",\"type\":2200}\n{\n", 2},
    {"arangodb-wal-jsonl",
     "{\"tick\":\"1\",\"type\":2300,\"tid\":\"1\",\"data\":{}}", 1},
    {"arangodb-wal-jsonl",
     "{\"tick\":\"1\",\"type\":2300,\"tid\":\"1\",\"data\":{\"_key\":\"1\","
     "\"v\":[1]}}",
     1},
};

static void bad_lines_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        const bad *b = &bad_lines[i];
        hf_history *h = NULL;
        hf_error err;
        hf_status st;

        if (b->line == 0) /* a NUL inside: the rest counts, too */
            st =
                import_bytes(b->format, b->text, strlen(b->text) + 5, &h, &err);
        else
            st = import_bytes(b->format, b->text, strlen(b->text), &h, &err);
        if (st != HF_ERR_INPUT || err.line != (b->line ? b->line : 2) ||
            !err.text[0])
            fail_msg("%s: \"%s\": status %d, line %llu: %s", b->format, b->text,
                     (int)st, (unsigned long long)err.line, err.text);
        assert_null(h);
    }
}

/* Every prefix of a binary sample is refused, at a byte within it. */
static void check_prefixes(const char *format, const char *text, size_t length)
{
    for (size_t n = 0; n < length; n++) {
        hf_history *h = NULL;
        hf_error err;
        hf_status st = import_bytes(format, text, n, &h, &err);

        if (st == HF_OK)
            fail_msg("%s: a prefix of %zu bytes is taken", format, n);
        assert_int_equal(st, HF_ERR_INPUT);
        assert_true(err.byte <= n);
    }
}

static void truncated_binaries_are_refused(void **state)
{
    hf_history *h = NULL;
    hf_error err;

    (void)state;
    check_prefixes("dbcop-bincode", dbcop_sample, sizeof(dbcop_sample) - 1);
    assert_int_equal(import_bytes("cobra-log-dir", cobra_sample, 20, &h, &err),
                     HF_ERR_INPUT);
    assert_int_equal(err.byte, 9);
    /* something behind the end, too (the literal's own NUL) */
    assert_int_equal(import_bytes("dbcop-bincode", dbcop_sample,
                                  sizeof(dbcop_sample), &h, &err),
                     HF_ERR_INPUT);
    assert_int_equal(err.byte, sizeof(dbcop_sample) - 1);
}

static void cobra_refuses_records_out_of_place(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        uint64_t byte;
    } logs[] = {
        {COBRA_START, 9, 9},
        {COBRA_END, 9, 0},
        {COBRA_START COBRA_START, 18, 9},
        {COBRA_START "C\0\0\0\0\0\x10\0\x0c", 18, 9},
        {COBRA_START COBRA_END "x", 19, 18},
        {COBRA_START COBRA_END COBRA_START COBRA_END, 36, 18},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        hf_history *h = NULL;
        hf_error err;

        assert_int_equal(import_bytes("cobra-log-dir", logs[i].text,
                                      logs[i].length, &h, &err),
                         HF_ERR_INPUT);
        assert_int_equal(err.byte, logs[i].byte);
    }
}

/* Huge counts in a small file must not cost anything. */
static void dbcop_huge_counts_are_refused(void **state)
{
    size_t length = sizeof(dbcop_sample) - 1;
    static const size_t counts[] = {40, 50, 58, 66, 74, 82};
    char text[sizeof(dbcop_sample)];

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        hf_history *h = NULL;
        hf_error err;

        memcpy(text, dbcop_sample, length);
        memset(text + counts[i], 0xff, 7);
        assert_int_equal(import_bytes("dbcop-bincode", text, length, &h, &err),
                         HF_ERR_INPUT);
        assert_int_equal(err.byte, counts[i]);
    }
}

/* Damaged input of any kind ends in a history or an error, never a crash:
 * what this finds, a sanitizer reports. */
static void damaged_samples_do_no_harm(void **state)
{
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 7);
    for (unsigned round = 0; round < 2200; round++) {
        const sample *s = &samples[round % SAMPLE_COUNT];
        size_t length = s->length;
        char text[1024];
        hf_history *h = NULL;
        hf_error err;

        assert_true(length < sizeof(text));
        memcpy(text, s->text, length);
        for (unsigned n = 1 + hf_rng_below(&rng, 3); n > 0; n--) {
            size_t at = hf_rng_below(&rng, (uint32_t)length);

            if (hf_rng_chance(&rng, 30))
                length = at + 1;
            else if (hf_rng_chance(&rng, 50))
                text[at] = s->text[hf_rng_below(&rng, (uint32_t)s->length)];
            else
                text[at] = (char)hf_rng_next(&rng);
        }
        if (import_bytes(s->format, text, length, &h, &err) == HF_OK)
            hf_history_free(h);
        else
            assert_true(err.text[0] != '\0');
    }
}

/* ---- detection ----------------------------------------------------------- */

static void each_sample_is_recognized_by_its_format_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        const sample *s = &samples[i];
        hf_input in = {.path = "test", .text = s->text, .length = s->length};
        const hf_format *found = hf_format_detect(&in);

        assert_non_null(found);
        assert_string_equal(found->name, s->format);
        for (unsigned f = 0; hf_format_at(f); f++) {
            const hf_format *other = hf_format_at(f);
            int score = other->detect ? other->detect(&in) : 0;

            if (other != found && score > 0)
                fail_msg("%s takes a sample of %s, %d", other->name, s->format,
                         score);
        }
    }
}

/* The formats of this file do not take what belongs to others. */
static void strangers_are_not_recognized(void **state)
{
    static const char *const strangers[] = {
        "",
        "\n\n",
        "-----\n",
        "hello",
        "r",
        "w(",
        "w(1,2,3)",
        "r x y\n",
        "n: 3\n",
        "[",
        "[[",
        "[]",
        "{",
        "{\"ops\":[[\"w\",\"x\",1]]}\n",
        "{\"holdfast\":1}\n",
        "{:type :invoke, :process 0, :f :txn, :value [[:r 5 nil]]}\n",
        "[{:type :ok, :value [[:w x 1]]}]\n",
        "[{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",\"x\",1]]}]\n",
        "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",\"x\",1]]}\n",
        "setup { create table t (a int); }\n",
        "READ KEY\n",
        "SELECT 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
        for (size_t s = 0; s < SAMPLE_COUNT; s++) {
            hf_input in = {.path = "test",
                           .text = strangers[i],
                           .length = strlen(strangers[i])};

            if (format_named(samples[s].format)->detect(&in) != 0)
                fail_msg("%s takes \"%s\"", samples[s].format, strangers[i]);
        }
}

/* ---- export -------------------------------------------------------------- */

static void round_trips_keep_everything(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        hf_history *h, *again;

        if (!samples[i].exports)
            continue;
        h = import_good(samples[i].format, samples[i].text, samples[i].length);
        again = round_trip(samples[i].format, h);
        assert_same_history(h, again);
        assert_int_equal(h->n_sessions, again->n_sessions);
        assert_int_equal(h->n_keys, again->n_keys);
        hf_history_free(again);
        hf_history_free(h);
    }
}

/* From one format through another and back. */
static void formats_carry_each_others_histories(void **state)
{
    static const char plume[] = "w(1,10,4,0)\nr(2,0,4,0)\nw(1,12,4,9)\n"
                                "w(2,11,7,1)\nr(1,10,7,1)\n";
    static const char *const through[] = {"dbcop-bincode", "dbcop-json",
                                          "dbcop-hist", "plume-text", "jsonl"};
    hf_history *h = import_text("plume-text", plume);

    (void)state;
    for (size_t i = 0; i < sizeof(through) / sizeof(through[0]); i++) {
        hf_history *other = round_trip(through[i], h);
        hf_history *back = round_trip("plume-text", other);

        assert_same_history(h, other);
        assert_same_history(h, back);
        hf_history_free(back);
        hf_history_free(other);
    }
    hf_history_free(h);
}

static void plume_keeps_aborted_transactions_apart(void **state)
{
    hf_history *h = import_text(
        "dbcop-hist", "[1:=1]!\n[1:=2]!\n[1:=3]!\n[1:=4]\n---\n[1==4]\n"
                      "[1:=5]\n");
    hf_history *again = round_trip("plume-text", h);
    hf_error err;
    hf_out out;

    (void)state;
    assert_int_equal(again->n_txns, 6);
    assert_int_equal(again->n_ops, 6);
    hf_history_free(again);
    hf_history_free(h);
    h = import_text("dbcop-hist", "[1:=1]!\n[1:=2]!\n");
    assert_int_equal(export_memory("plume-text", h, &out, &err),
                     HF_ERR_UNSUPPORTED);
    hf_out_release(&out);
    hf_history_free(h);
}

typedef struct refusal {
    const char *format, *from, *text;
} refusal;

static const refusal refusals[] = {
    {"plume-text", "dbcop-hist", "[x:=1]"},         /* a text key */
    {"plume-text", "dbcop-hist", "[]"},             /* no operations */
    {"plume-text", "dbcop-hist", "[1==?]\n[1:=0]"}, /* 0 and initial */
    {"plume-text", "awdit-test", "r 1 0"},          /* 0, but not initial */
    {"plume-text", "jsonl", "{\"ops\":[[\"append\",1,3]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"r\",1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"delete\",1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"insert\",1,1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",1,-1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",-1,1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",1,\"a\"]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",[\"t\",1],1]]}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",1,1]],\"outcome\":\"unknown\"}"},
    {"plume-text", "jsonl", "{\"ops\":[[\"w\",1,1]],\"level\":\"SI\"}"},
    {"plume-text", "jsonl",
     "{\"ops\":[{\"op\":\"r\",\"key\":1,\"value\":2,\"lock\":\"update\"}]}"},
    {"plume-text", "jsonl",
     "{\"ops\":[{\"op\":\"w\",\"key\":1,\"value\":2,\"failed\":true}]}"},
    {"plume-text", "jsonl", "{\"initial\":[[1,5]]}\n{\"ops\":[[\"w\",1,5]]}"},
    {"awdit-test", "plume-text", "r(1,0,0,0)\n"},
    {"awdit-test", "plume-text", "w(1,1,0,-1)\n"},
    {"dbcop-bincode", "jsonl", "{\"ops\":[[\"append\",1,3]]}"},
    {"dbcop-json", "dbcop-hist", "[x:=1]"},
    {"dbcop-hist", "jsonl", "{\"ops\":[[\"w\",\"a b\",1]]}"},
    {"dbcop-hist", "jsonl", "{\"ops\":[[\"w\",\"7\",1]]}"},
    {"cobra-polygraph", "jsonl",
     "{\"ops\":[[\"w\",1,1]]}\n"
     "{\"ops\":[[\"w\",1,1]]}"},
    {"isopredict-trace", "plume-text", "r(1,5,0,0)\n"},
    {"isopredict-trace", "plume-text", "w(1,1,0,0)\nw(1,2,0,0)\nr(1,1,1,1)\n"},
    {"isopredict-trace", "plume-text", "w(1,1,0,0)\nw(1,1,1,1)\n"},
    {"isopredict-trace", "jsonl", "{\"ops\":[[\"w\",\"a]\",1]]}"},
    {"timekiller-json", "plume-text", "w(1,1,0,0)\n"}, /* no timestamps */
};

static void exporters_refuse_what_they_cannot_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const refusal *r = &refusals[i];
        hf_history *h = import_text(r->from, r->text);
        hf_error err;
        hf_out out;

        if (export_memory(r->format, h, &out, &err) != HF_ERR_UNSUPPORTED)
            fail_msg("%s takes %s", r->format, r->text);
        assert_true(err.text[0] != '\0');
        hf_out_release(&out);
        hf_history_free(h);
    }
}

/* An initial value that is neither nil nor 0, whether it is read or not. */
static void exporters_refuse_initial_values(void **state)
{
    static const char *const formats[] = {
        "plume-text", "awdit-test",         "dbcop-bincode",   "dbcop-json",
        "dbcop-hist", "isopredict-trace",   "timekiller-json", "elle-edn",
        "elle-json",  "causal-register-edn"};
    static const char *const texts[] = {
        "{\"initial\":[[1,7]]}\n{\"ops\":[[\"r\",1,7]]}\n",
        "{\"initial\":[[1,7]]}\n{\"ops\":[[\"w\",1,3]]}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (size_t k = 0; k < 2; k++) {
            hf_history *h = import_text("jsonl", texts[k]);
            hf_error err;
            hf_out out;

            if (export_memory(formats[i], h, &out, &err) != HF_ERR_UNSUPPORTED)
                fail_msg("%s takes %s", formats[i], texts[k]);
            if (!strstr(err.text, "initial value"))
                fail_msg("%s", err.text);
            assert_null(strchr(err.text, '\n'));
            hf_out_release(&out);
            hf_history_free(h);
        }
}

/* What begins with transactions without operations is still known. */
static void dbcop_hist_knows_empty_transactions(void **state)
{
    static const struct {
        const char *text;
        int score;
    } cases[] = {
        {"[]\n[x:=1]\n", 95},
        {"[]!\n---\n[ ] [\nx:=1]\n", 95},
        {"[]\n---\n[]\n", 60},
        {"[]!\n", 60},
        {"[]\n", 0},
        {"[]\n{\"type\":\"ok\"}\n", 0},
        {"[[],[]]\n", 0},
        {"[", 0},
        {"[][", 0},
    };
    hf_history *h, *again;
    hf_error err;
    hf_out out;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_input in = {.path = "test",
                       .text = cases[i].text,
                       .length = strlen(cases[i].text)};
        int score = format_named("dbcop-hist")->detect(&in);

        if (score != cases[i].score)
            fail_msg("%s: %d", cases[i].text, score);
    }
    h = import_text("jsonl", "{\"session\":1,\"ops\":[]}\n"
                             "{\"session\":2,\"ops\":[[\"w\",1,1]]}\n");
    assert_int_equal(export_memory("dbcop-hist", h, &out, &err), HF_OK);
    again = import_good(NULL, out.at, out.n);
    assert_string_equal(again->format, "dbcop-hist");
    assert_same_history(h, again);
    hf_out_release(&out);
    hf_history_free(again);
    hf_history_free(h);
}

/* ---- cobra directories --------------------------------------------------- */

static void remove_directory(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        char file[512];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        assert_int_equal(unlink(file), 0);
    }
    (void)closedir(dir);
    assert_int_equal(rmdir(path), 0);
}

static void check_cobra(const char *from, const char *text, const char *wanted)
{
    char base[] = P_tmpdir "/hf-test-XXXXXX", path[64];
    hf_history *h = import_text(from, text), *again = NULL;
    hf_error err;

    assert_non_null(mkdtemp(base));
    (void)snprintf(path, sizeof(path), "%s/logs", base);
    if (hf_save_history(h, path, format_named("cobra-log-dir"), &err) != HF_OK)
        fail_msg("%s", err.text);
    if (hf_load_history(path, NULL, NULL, &again, &err) != HF_OK)
        fail_msg("%s", err.text);
    assert_string_equal(again->format, "cobra-log-dir");
    assert_history(again, wanted);
    /* a directory that is there is not written into */
    assert_int_equal(
        hf_save_history(h, path, format_named("cobra-log-dir"), &err),
        HF_ERR_IO);
    hf_history_free(again);
    hf_history_free(h);
    remove_directory(path);
    assert_int_equal(rmdir(base), 0);
}

static void cobra_directories_round_trip(void **state)
{
    (void)state;
    check_cobra("plume-text",
                "w(1,10,3,0)\nr(2,0,3,0)\nw(2,11,12,1)\nr(1,10,12,1)\n"
                "r(1,99,12,2)\nw(1,12,3,-1)\n",
                "s0 committed: write 1 10 | read 2 nil*\n"
                "s0 aborted: write 1 12\n"
                "s1 committed: write 2 11 | read 1 10\n"
                "s1 committed: read 1 99\n");
    /* values that repeat on other keys, and values written twice */
    check_cobra("plume-text", "w(1,5,0,0)\nw(2,5,1,1)\nr(1,5,1,1)\n",
                "s0 committed: write 1 5\n"
                "s1 committed: write 2 5 | read 1 5\n");
    check_cobra("plume-text", "w(1,5,0,0)\nw(1,5,1,1)\nw(1,6,1,1)\n",
                "s0 committed: write 1 5\n"
                "s1 committed: write 1 5 | write 1 6\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plume_reads_operations),
        cmocka_unit_test(plume_groups_by_transaction),
        cmocka_unit_test(plume_aborted_lines_of_a_session_are_one_transaction),
        cmocka_unit_test(plume_zero_is_initial_unless_written),
        cmocka_unit_test(plume_reads_more_than_a_batch),
        cmocka_unit_test(awdit_reads_sessions),
        cmocka_unit_test(dbcop_reads_events),
        cmocka_unit_test(dbcop_text_forms_agree),
        cmocka_unit_test(cobra_reads_a_log),
        cmocka_unit_test(isopredict_orders_by_index),
        cmocka_unit_test(isopredict_reads_sets),
        cmocka_unit_test(timekiller_orders_by_start),
        cmocka_unit_test(timekiller_reads_lists_and_logical_times),
        cmocka_unit_test(arangodb_gives_the_version_order),
        cmocka_unit_test(arangodb_knows_outcomes),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(truncated_binaries_are_refused),
        cmocka_unit_test(cobra_refuses_records_out_of_place),
        cmocka_unit_test(dbcop_huge_counts_are_refused),
        cmocka_unit_test(damaged_samples_do_no_harm),
        cmocka_unit_test(each_sample_is_recognized_by_its_format_alone),
        cmocka_unit_test(strangers_are_not_recognized),
        cmocka_unit_test(round_trips_keep_everything),
        cmocka_unit_test(formats_carry_each_others_histories),
        cmocka_unit_test(plume_keeps_aborted_transactions_apart),
        cmocka_unit_test(exporters_refuse_what_they_cannot_say),
        cmocka_unit_test(exporters_refuse_initial_values),
        cmocka_unit_test(dbcop_hist_knows_empty_transactions),
        cmocka_unit_test(cobra_directories_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

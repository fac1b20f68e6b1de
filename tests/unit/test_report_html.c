/* The page: what is in the file.  What a browser makes of it is tested in
 * tests/browser. */
#include "report/html.h"

#include <stdio.h>

#include "base/mem.h"
#include "report/html_parts.h"
#include "report_util.h"

static char *page_of(const hf_report_input *in)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_report_html(in, &out);
    hf_out_char(&out, '\0');
    assert_int_equal(strlen(out.at), out.n - 1);
    return out.at;
}

static size_t occurs(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *c = text; (c = strstr(c, what)) != NULL; c++)
        n++;
    return n;
}

/* The markup that is ours is there once, the data has no markup, and is closed
 * in itself. */
static void is_sound(const char *page)
{
    const char *data = strstr(page, "id=\"data\">"), *end;
    int depth = 0;
    bool quoted = false;

    assert_int_equal(occurs(page, "<script"), 2);
    assert_int_equal(occurs(page, "</script"), 2);
    assert_int_equal(occurs(page, "<style"), 1);
    assert_int_equal(occurs(page, "<!--"), 0);
    assert_int_equal(occurs(page, "<img"), 0);
    assert_int_equal(occurs(page, "</h1"), 1);
    assert_int_equal(occurs(page, "</title"), 1);
    assert_non_null(data);
    data += strlen("id=\"data\">");
    end = strstr(data, "</script>");
    assert_non_null(end);
    for (const char *c = data; c < end; c++) {
        assert_true(*c != '<' && *c != '>' && *c != '&');
        assert_true((unsigned char)*c >= 32);
        if (quoted && *c == '\\')
            c++;
        else if (*c == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
        assert_true(depth > 0 || c + 1 == end);
    }
    assert_false(quoted);
    assert_int_equal(depth, 0);
}

static void the_policy_names_what_is_there(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();
    char *page = page_of(&(hf_report_input){.h = h, .r = r});

    (void)state;
    is_sound(page);
    assert_non_null(strstr(page, "default-src 'none'; script-src 'sha256-"));
    assert_int_equal(occurs(page, hf_page_script_hash), 1);
    assert_int_equal(occurs(page, hf_page_style_hash), 1);
    assert_non_null(strstr(page, hf_page_script));
    assert_null(strstr(page, "unsafe-"));
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url(http"));
    hf_free(page);
    hf_result_free(r);
    hf_history_free(h);
}

static void the_verdict_in_a_sentence(void **state)
{
    hf_history *h = history(skew);
    hf_result *r = skew_result();
    hf_report_input in = {.h = h, .r = r};
    char *page = page_of(&in);

    (void)state;
    assert_non_null(strstr(page, "<h1>This history is not serializable: write "
                                 "skew between T1 and T2.</h1>"));
    assert_non_null(strstr(page, "a circle")); /* as plain text */
    hf_free(page);
    in.database = "PostgreSQL 15.18";
    in.isolation = "repeatable-read";
    in.n_breaches = 1;
    in.breaches = (const hf_report_row[]){{"sum", "99 <> 100"}};
    page = page_of(&in);
    is_sound(page);
    assert_non_null(
        strstr(page, "<h1>This run of PostgreSQL 15.18 at repeatable-read is "
                     "not serializable: write skew between T1 and T2. An "
                     "invariant of the workload is broken.</h1>"));
    assert_non_null(strstr(page, "[[\"sum\",\"99 \\u003c\\u003e 100\"]]"));
    hf_free(page);
    r->level = HF_SNAPSHOT_ISOLATION;
    r->findings[0].alias = NULL;
    in = (hf_report_input){.h = h, .r = r};
    page = page_of(&in);
    assert_non_null(strstr(page, "does not keep snapshot isolation: G2-item "
                                 "between T1 and T2.</h1>"));
    hf_free(page);
    hf_result_free(r);
    hf_history_free(h);
}

static const char evil[] = "</script><img src=x onerror=alert(1)><!--";

static void nothing_becomes_markup(void **state)
{
    static const char text[] =
        "{\"holdfast\":1,\"name\":\"</title><img>\"}\n"
        "{\"session\":\"</script><!--\xff\",\"ops\":[[\"r\",\"x\",null],"
        "[\"r\",\"<img>\",null],[\"w\",\"x\",\"</h1><script>\"]]}\n"
        "{\"session\":\"b\",\"ops\":[[\"r\",\"x\",null],[\"r\",\"<img>\","
        "null],[\"w\",\"<img>\",\"&lt;\"]]}\n";
    hf_history *h = history(text);
    hf_result *r = skew_result();
    const hf_report_row row[] = {{evil, evil}};
    char *page = page_of(&(hf_report_input){.h = h,
                                            .r = r,
                                            .database = evil,
                                            .isolation = evil,
                                            .workload = "\xc3(\x01\x7f",
                                            .when = evil,
                                            .facts = row,
                                            .n_facts = 1,
                                            .breaches = row,
                                            .n_breaches = 1,
                                            .history = evil,
                                            .command = evil,
                                            .check = evil,
                                            .files = row,
                                            .n_files = 1,
                                            .versions = row,
                                            .n_versions = 1});

    (void)state;
    is_sound(page);
    assert_non_null(strstr(page, "&lt;/script&gt;&lt;img src=x"));
    hf_free(page);
    hf_result_free(r);
    hf_history_free(h);
}

static void other_verdicts(void **state)
{
    static uint32_t order[] = {1, 0};
    static uint32_t events[] = {0, 2, 1, 3};
    hf_history *h = history(skew);
    hf_result *r = hf_result_new(HF_SERIALIZABLE, "test");
    char *page;

    (void)state;
    r->verdict = HF_VALID;
    r->witness =
        (hf_witness){.kind = HF_WITNESS_SERIAL, .n_order = 2, .order = order};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_non_null(strstr(page, "<h1>This history is serializable.</h1>"));
    assert_non_null(strstr(page, "\"events\":[[1,\"T2\"],[0,\"T1\"]]"));
    hf_free(page);
    r->level = HF_SNAPSHOT_ISOLATION;
    r->witness = (hf_witness){
        .kind = HF_WITNESS_SNAPSHOT, .n_order = 4, .order = events};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_non_null(strstr(page, "keeps snapshot isolation.</h1>"));
    assert_non_null(strstr(page, "[[0,\"T1\",0],[1,\"T2\",0],[0,\"T1\",1]"));
    hf_free(page);
    r->verdict = HF_UNKNOWN;
    r->reason = (char *)(uintptr_t) "the read of \"<img>\" is open";
    r->witness = (hf_witness){0};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_non_null(strstr(page, "<h1>It is not known whether this history "
                                 "keeps snapshot isolation.</h1>"));
    assert_non_null(strstr(page, "The read of &quot;&lt;img&gt;&quot; is "
                                 "open."));
    hf_free(page);
    r->verdict = HF_INVALID;
    r->witness = (hf_witness){.kind = HF_WITNESS_CORE,
                              .anomaly = HF_NO_ORDER,
                              .n_order = 2,
                              .order = order,
                              .minimal = true};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_non_null(strstr(page, ": no order fits T2 and T1.</h1>"));
    assert_non_null(strstr(page, "and no fewer of them are"));
    hf_free(page);
    hf_result_free(r);
    hf_history_free(h);
}

/* Client i % 5 runs transaction i from 100 i to 100 i + 90; the skew is that of
 * two late ones. */
static char *long_history(uint32_t n)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_out_text(&out, "{\"holdfast\":1,\"time\":\"ns\"}\n");
    for (uint32_t i = 0; i < n; i++)
        hf_out_format(&out,
                      "{\"session\":%u,\"ops\":[[\"w\",\"k%u\",1]],\"begin\":"
                      "%u,\"end\":%u}\n",
                      i % 5, i, 1000 + 100 * i, 1090 + 100 * i);
    hf_out_format(&out,
                  "{\"session\":\"faults\",\"outcome\":\"aborted\",\"begin\":"
                  "5000,\"end\":6000,\"ops\":[{\"op\":\"sql\",\"text\":"
                  "\"-- fault: kill\"}]}\n");
    hf_out_char(&out, '\0');
    return out.at;
}

static uint64_t number_after(const char *page, const char *what)
{
    const char *at = strstr(page, what);
    uint64_t value = 0;

    assert_non_null(at);
    for (at += strlen(what); *at >= '0' && *at <= '9'; at++)
        value = 10 * value + (uint64_t)(*at - '0');
    return value;
}

static size_t entries_after(const char *page, const char *what)
{
    const char *at = strstr(page, what);
    size_t n = 1;

    assert_non_null(at);
    for (at += strlen(what); *at != ']'; at++)
        n += *at == ',';
    return n;
}

static void what_is_long_is_cut(void **state)
{
    char *text = long_history(9000), *page;
    hf_history *h = history(text);
    hf_result *r = skew_result();
    hf_edge *edges = r->findings[0].witness.edges;

    (void)state;
    edges[0] = (hf_edge){HF_EDGE_RT, 7000, 7010, HF_NONE, HF_NONE, HF_NONE};
    edges[1] = (hf_edge){HF_EDGE_SO, 7010, 7000, HF_NONE, HF_NONE, HF_NONE};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_int_equal(number_after(page, "\"all\":"), 9000);
    assert_in_range(entries_after(page, "\"bars\":{\"id\":["), 3900, 4000);
    assert_non_null(strstr(page, ",7000,7001,"));
    assert_int_equal(number_after(page, "\"committed\":9000,\"aborted\":"), 0);
    assert_int_equal(number_after(page, "\"allLanes\":"), 5);
    assert_int_equal(number_after(page, "\"span\":"), 100 * 8999 + 90);
    assert_non_null(strstr(page, "[[\"-- fault: kill\",4000,5000]]"));
    /* 2000 places before and after the evidence, as times */
    assert_in_range(number_after(page, "\"windows\":[["), 100 * 4990,
                    100 * 5030);
    assert_true(strlen(page) < 400000);
    hf_free(page);
    r->verdict = HF_VALID; /* then it is the faults that are looked at */
    r->witness = (hf_witness){0};
    page = page_of(&(hf_report_input){.h = h, .r = r});
    is_sound(page);
    assert_int_equal(number_after(page, "\"windows\":[["), 0);
    hf_free(page);
    hf_result_free(r);
    hf_history_free(h);
    hf_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_names_what_is_there),
        cmocka_unit_test(the_verdict_in_a_sentence),
        cmocka_unit_test(nothing_becomes_markup),
        cmocka_unit_test(other_verdicts),
        cmocka_unit_test(what_is_long_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

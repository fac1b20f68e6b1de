/* html.c: the page: see html.h.
 *
 * What must be readable without a script stands in the file as text: the
 * verdict, what it means, and the whole of the terminal form.  The rest is
 * data, which the script turns into text nodes; so nothing of the input is
 * ever read as markup.  In the text < > & and quotes are written as entities,
 * in the data < > & as \u00XX: "</script" or "<!--" cannot occur in it.
 */
#include "report/html_parts.h"

#include <stdlib.h>

#include "base/error.h"

#define FINDINGS_SHOWN 10
#define FINDINGS_MOST 40
#define EVIDENCE_SHOWN 400 /* transactions told in full */
#define ORDER_TOLD 100     /* of a valid history */

/* ---- text and data ------------------------------------------------------- */

static void put_escaped(hf_str text, hf_out *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '<')
            hf_out_text(out, "&lt;");
        else if (c == '>')
            hf_out_text(out, "&gt;");
        else if (c == '&')
            hf_out_text(out, "&amp;");
        else if (c == '"')
            hf_out_text(out, "&quot;");
        else if (c == '\'')
            hf_out_text(out, "&#39;");
        else if ((c < 32 && c != '\n') || c == 127)
            hf_out_char(out, '?');
        else
            hf_out_char(out, (char)c);
    }
}

/* JSON has these characters in strings only. */
static void put_data(hf_str json, hf_out *out)
{
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];

        if (c == '<' || c == '>' || c == '&')
            hf_out_format(out, "\\u%04x", (unsigned)c);
        else
            hf_out_char(out, c);
    }
}

/* ---- the parts of the data ----------------------------------------------- */

static void put_pair(const char *name, const char *value, hf_json *j)
{
    if (!value)
        return;
    hf_json_array(j);
    hf_json_text(j, name);
    hf_json_text(j, value);
    hf_json_end(j);
}

static void put_rows(const char *key, const hf_report_row *rows, uint32_t n,
                     hf_json *j)
{
    hf_json_key(j, key);
    hf_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        put_pair(rows[i].name, rows[i].value ? rows[i].value : "", j);
    hf_json_end(j);
}

static void put_facts(const hf_page *p, hf_json *j)
{
    const hf_report_input *in = p->in;

    hf_json_key(j, "facts");
    hf_json_array(j);
    put_pair("Database", in->database, j);
    put_pair("Isolation asked for", in->isolation, j);
    put_pair("Workload", in->workload, j);
    put_pair("When", in->when, j);
    for (uint32_t i = 0; i < in->n_facts; i++)
        put_pair(in->facts[i].name, in->facts[i].value, j);
    put_pair("History", in->history, j);
    hf_json_end(j);
}

static void put_run(const hf_page *p, hf_json *j)
{
    const hf_report_input *in = p->in;

    put_facts(p, j);
    hf_json_key(j, "checkedInvariants");
    hf_json_bool(j, in->checked_invariants);
    put_rows("breaches", in->breaches, in->n_breaches, j);
    hf_json_key(j, "allBreaches");
    hf_json_uint(j, in->all_breaches > in->n_breaches ? in->all_breaches
                                                      : in->n_breaches);
    hf_json_key(j, "command");
    hf_json_text(j, in->command);
    hf_json_key(j, "check");
    hf_json_text(j, in->check);
    put_rows("files", in->files, in->n_files, j);
    hf_json_key(j, "versions");
    hf_json_array(j);
    put_pair("holdfast", HF_VERSION_STRING, j);
    for (uint32_t i = 0; i < in->n_versions; i++)
        put_pair(in->versions[i].name, in->versions[i].value, j);
    hf_json_end(j);
}

static void put_verdict(const hf_page *p, hf_json *j)
{
    const hf_level_info *level = hf_level_get(p->r->level);

    hf_json_key(j, "schema");
    hf_json_int(j, 1);
    hf_json_key(j, "verdict");
    hf_json_text(j, hf_verdict_name(p->r->verdict));
    hf_json_key(j, "level");
    hf_json_text(j, level->name);
    hf_json_key(j, "definition");
    hf_json_text(j, level->definition);
    hf_json_key(j, "mixed");
    hf_json_bool(j, p->r->mixed);
    hf_json_key(j, "engine");
    hf_json_text(j, p->r->engine);
    hf_json_key(j, "seconds");
    hf_json_real(j, p->r->seconds);
}

static void put_json(const hf_page *p, hf_out *out)
{
    hf_out text;
    hf_json j;

    hf_out_init_memory(&text);
    hf_json_init(&j, &text);
    hf_json_object(&j);
    put_verdict(p, &j);
    put_run(p, &j);
    hf_page_evidence(p, &j);
    hf_page_times(p, &j);
    hf_json_end(&j);
    put_data(hf_out_view(&text), out);
    hf_out_release(&text);
}

/* ---- the page ------------------------------------------------------------ */

static void put_head(const hf_page *p, hf_str sentence, hf_out *out)
{
    hf_out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" "
                     "content=\"default-src 'none'; script-src '");
    hf_out_text(out, hf_page_script_hash);
    hf_out_text(out, "'; style-src '");
    hf_out_text(out, hf_page_style_hash);
    hf_out_text(out,
                "'; base-uri 'none'; form-action 'none'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                "<meta name=\"generator\" content=\"holdfast " HF_VERSION_STRING
                "\">\n<title>");
    hf_out_text(out, hf_verdict_name(p->r->verdict));
    hf_out_text(out, ": ");
    put_escaped(sentence, out);
    hf_out_text(out, "</title>\n<style>");
    hf_out_text(out, hf_page_style);
    hf_out_text(out, "</style>\n</head>\n");
}

/* The verdict and its promise, for readers with a script and without. */
static void put_top(const hf_page *p, hf_str sentence, hf_out *out)
{
    const hf_level_info *level = hf_level_get(p->r->level);
    hf_out text;

    hf_out_format(out,
                  "<body class=\"%s\">\n<header>\n"
                  "<p class=\"badge\">%s</p>\n<h1>",
                  hf_verdict_name(p->r->verdict),
                  hf_verdict_name(p->r->verdict));
    put_escaped(sentence, out);
    hf_out_text(out, "</h1>\n<p class=\"lede\">");
    hf_out_init_memory(&text);
    hf_page_meaning(p, &text);
    put_escaped(hf_out_view(&text), out);
    hf_out_release(&text);
    hf_out_text(out, "</p>\n<p class=\"promise\"><b>The promise that was "
                     "checked</b> ");
    if (p->r->mixed)
        hf_out_text(out, "each transaction at the level it names; where it "
                         "names none, ");
    hf_out_format(out, "<span class=\"level\">%s</span>: ", level->name);
    put_escaped(hf_str_of(level->summary), out);
    hf_out_text(out, ".</p>\n</header>\n");
}

/* All of the terminal form; the script closes it. */
static void put_plain(const hf_page *p, hf_out *out)
{
    hf_out text;

    hf_out_text(out, "<section id=\"plain\">\n<details open>\n"
                     "<summary>The same as plain text</summary>\n<pre>\n");
    hf_out_init_memory(&text);
    hf_result_print(p->h, p->r, p->n_shown, false, &text);
    put_escaped(hf_out_view(&text), out);
    hf_out_release(&text);
    hf_out_text(out, "</pre>\n</details>\n</section>\n");
}

/* ---- what it is made of -------------------------------------------------- */

/* Is it the record of what was done to the database? */
static bool is_fault_session(const hf_history *h, hf_session_id s)
{
    if (h->session_name[s] == HF_NONE ||
        !hf_str_eq(hf_string(h, h->session_name[s]), HF_STR("faults")))
        return false;
    for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++) {
        hf_txn_id t = h->session_txns[i];

        if (h->txn_outcome[t] != HF_ABORTED ||
            h->op_first[t + 1] - h->op_first[t] != 1 ||
            hf_op_kind_of(h, h->op_first[t]) != HF_OP_SQL)
            return false;
    }
    return true;
}

static void find_span(hf_page *p)
{
    const hf_history *h = p->h;
    uint64_t last = 0;

    p->start = HF_TIME_NONE;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin = hf_txn_begin_time(h, t), end = hf_txn_end_time(h, t);

        if (begin < p->start)
            p->start = begin;
        if (begin != HF_TIME_NONE && begin > last)
            last = begin;
        if (end != HF_TIME_NONE && end > last)
            last = end;
    }
    p->has_times = p->start != HF_TIME_NONE;
    p->span = p->has_times ? last - p->start : h->n_txns;
    if (!p->has_times)
        p->start = 0;
}

static void tell(hf_page *p, hf_txn_id t)
{
    if (p->is_shown[t] || p->told.n >= EVIDENCE_SHOWN)
        return;
    p->is_shown[t] = true;
    hf_vec_push(&p->told, t);
}

static int compare_ops(const void *left, const void *right)
{
    hf_op_id a = *(const hf_op_id *)left, b = *(const hf_op_id *)right;

    return (a > b) - (a < b);
}

/* The transactions and operations of the findings. */
static void gather(hf_page *p)
{
    for (uint32_t i = 0; i < p->n_shown; i++) {
        const hf_witness *w = &p->findings[i].witness;
        hf_txn_list txns = hf_witness_txns(p->h, w);
        hf_op_list cited = hf_witness_cited(w);

        for (size_t k = 0; k < txns.n; k++)
            tell(p, txns.at[k]);
        for (size_t k = 0; k < cited.n; k++)
            hf_vec_push(&p->cited, cited.at[k]);
        hf_vec_release(&txns);
        hf_vec_release(&cited);
    }
    if (p->cited.n > 0)
        qsort(p->cited.at, p->cited.n, sizeof(*p->cited.at), compare_ops);
    for (size_t i = 0; i < p->told.n; i++)
        hf_vec_push(&p->evidence, p->told.at[i]);
}

/* Of a valid history the first transactions of the order are told in full. */
static void gather_order(hf_page *p)
{
    const hf_witness *w = &p->r->witness;
    bool snapshot = w->kind == HF_WITNESS_SNAPSHOT;

    for (uint32_t i = 0; i < w->n_order && p->told.n < ORDER_TOLD; i++)
        tell(p, snapshot ? w->order[i] / 2 : w->order[i]);
    for (size_t i = 0; i < p->told.n; i++)
        p->is_shown[p->told.at[i]] = false; /* it is no evidence */
}

static void page_init(hf_page *p, const hf_report_input *in)
{
    const hf_result *r = in->r;
    uint32_t most = in->most ? in->most : FINDINGS_SHOWN;

    *p = (hf_page){.in = in, .h = in->h, .r = r, .faults = HF_NONE};
    p->findings = r->findings;
    p->n_shown = r->n_findings < most ? r->n_findings : most;
    if (p->n_shown > FINDINGS_MOST)
        p->n_shown = FINDINGS_MOST;
    if (r->verdict != HF_INVALID) {
        p->n_shown = 0;
    } else if (r->n_findings == 0 && r->witness.kind != HF_WITNESS_NONE) {
        p->only =
            (hf_finding){.anomaly = r->witness.anomaly, .witness = r->witness};
        if (r->witness.kind == HF_WITNESS_CORE ||
            r->witness.kind == HF_WITNESS_PROOF)
            p->only.anomaly = HF_NO_ORDER;
        p->findings = &p->only;
        p->n_shown = 1;
    }
    p->is_shown = HF_NEW_ZEROED(bool, (size_t)p->h->n_txns + 1);
    for (hf_session_id s = 0; s < p->h->n_sessions; s++)
        if (is_fault_session(p->h, s))
            p->faults = s;
    find_span(p);
    gather(p);
    if (r->verdict == HF_VALID)
        gather_order(p);
    p->session = hf_verify_open(p->h);
}

static void page_release(hf_page *p)
{
    hf_verify_close(p->session);
    hf_free(p->is_shown);
    hf_vec_release(&p->evidence);
    hf_vec_release(&p->told);
    hf_vec_release(&p->cited);
}

void hf_report_html(const hf_report_input *in, hf_out *out)
{
    hf_out sentence;
    hf_page p;

    page_init(&p, in);
    hf_out_init_memory(&sentence);
    hf_page_sentence(&p, &sentence);
    put_head(&p, hf_out_view(&sentence), out);
    put_top(&p, hf_out_view(&sentence), out);
    hf_out_release(&sentence);
    hf_out_text(out, "<main id=\"main\"></main>\n");
    put_plain(&p, out);
    hf_out_text(out, "<footer>Made by holdfast " HF_VERSION_STRING
                     ". This page is one file and needs no network.</footer>\n"
                     "<script type=\"application/json\" id=\"data\">");
    put_json(&p, out);
    hf_out_text(out, "</script>\n<script>");
    hf_out_text(out, hf_page_script);
    hf_out_text(out, "</script>\n</body>\n</html>\n");
    page_release(&p);
}

/* html_words.c: the page's sentences: the verdict, and what it means. */
#include "report/html_parts.h"

#include <inttypes.h>

#include "model/special.h"

#define NAME_SHOWN 60 /* bytes of a session's name */
#define NAMED 4       /* transactions of the sentence; more are counted */

void hf_page_finding_name(const hf_finding *f, hf_out *out)
{
    hf_out_text(out, hf_anomaly_get(f->anomaly)->name);
    if (f->alias)
        hf_out_format(out, " (%s)", f->alias);
}

/* The well-known form has words of its own; so has no order at all. */
hf_finding_words hf_page_finding_words(const hf_finding *f)
{
    hf_str alias = hf_str_of(f->alias ? f->alias : "");
    const hf_special_form *form = f->alias ? hf_special_find(alias) : NULL;
    hf_anomaly anomaly = f->anomaly;
    const hf_anomaly_info *info;
    hf_finding_words words;

    if (form)
        return (hf_finding_words){form->summary, form->meaning, form->remedy};
    if (f->alias && !hf_anomaly_find(alias, &anomaly, NULL))
        anomaly = f->anomaly;
    info = hf_anomaly_get(anomaly);
    words = (hf_finding_words){info->summary, info->meaning, info->remedy};
    if (f->anomaly == HF_NO_ORDER && f->witness.mixed)
        words.summary = "no order of the transactions satisfies their levels";
    else if (f->anomaly == HF_NO_ORDER && f->witness.kind == HF_WITNESS_PROOF)
        words.summary = "no order of the transactions satisfies the level";
    return words;
}

static bool is_number(hf_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

void hf_page_session_name(const hf_history *h, hf_session_id s, hf_out *out)
{
    hf_str name = HF_STR("");

    if (h->session_name[s] != HF_NONE)
        name = hf_string(h, h->session_name[s]);
    if (name.len > NAME_SHOWN)
        name.len = NAME_SHOWN;
    if (name.len == 0)
        hf_out_format(out, "session %" PRIu32, s + 1);
    else if (is_number(name))
        hf_out_format(out, "session %.*s", (int)name.len, name.ptr);
    else
        hf_out_str(out, name);
}

/* ---- the sentence -------------------------------------------------------- */

/* "This run of PostgreSQL 15.18 at repeatable-read" */
static void put_subject(const hf_page *p, bool begins, hf_out *out)
{
    hf_out_text(out, begins ? "This " : "this ");
    hf_out_text(out, p->in->database || p->in->workload ? "run" : "history");
    if (p->in->database)
        hf_out_format(out, " of %s", p->in->database);
    if (p->in->isolation &&
        !(p->in->database && strstr(p->in->database, p->in->isolation)))
        hf_out_format(out, " at %s", p->in->isolation);
}

/* "snapshot isolation" */
static void put_level(hf_level level, hf_out *out)
{
    for (const char *c = hf_level_get(level)->name; *c; c++)
        hf_out_char(out, *c == '-' ? ' ' : *c);
}

/* " is not serializable", " does not keep snapshot isolation" */
static void put_answer(const hf_page *p, bool keeps, hf_out *out)
{
    bool adjective = hf_level_get(p->r->level)->shape == HF_SHAPE_SERIAL;

    if (p->r->mixed) {
        hf_out_text(out, keeps ? " keeps" : " does not keep");
        hf_out_text(out, " the levels that its transactions name");
        return;
    }
    if (adjective)
        hf_out_text(out, keeps ? " is " : " is not ");
    else
        hf_out_text(out, keeps ? " keeps " : " does not keep ");
    put_level(p->r->level, out);
}

/* " between T1 and T2", " in T1", " among 7 transactions"; after "no order
 * fits" without a preposition. */
static void put_among(const hf_page *p, const hf_witness *w, bool is_order,
                      hf_out *out)
{
    hf_txn_list txns = hf_witness_txns(p->h, w);

    if (txns.n > NAMED)
        hf_out_format(out, "%s%zu transactions", is_order ? " " : " among ",
                      txns.n);
    else if (txns.n > 0)
        hf_out_text(out, is_order      ? " "
                         : txns.n == 1 ? " in "
                         : txns.n == 2 ? " between "
                                       : " among ");
    for (size_t i = 0; i < txns.n && txns.n <= NAMED; i++) {
        if (i > 0)
            hf_out_text(out, i + 1 < txns.n ? ", " : " and ");
        hf_txn_print(p->h, txns.at[i], out);
    }
    hf_vec_release(&txns);
}

static void put_breaches(const hf_page *p, hf_out *out)
{
    uint64_t n = p->in->all_breaches;

    if (n < p->in->n_breaches)
        n = p->in->n_breaches;
    if (n == 1)
        hf_out_text(out, " An invariant of the workload is broken.");
    else if (n > 1)
        hf_out_format(
            out, " Invariants of the workload are broken, %" PRIu64 " times.",
            n);
}

void hf_page_sentence(const hf_page *p, hf_out *out)
{
    const hf_finding *f = p->n_shown > 0 ? &p->findings[0] : NULL;

    if (p->r->verdict == HF_UNKNOWN) {
        hf_out_text(out, "It is not known whether ");
        put_subject(p, false, out);
        put_answer(p, true, out);
    } else {
        put_subject(p, true, out);
        put_answer(p, p->r->verdict == HF_VALID, out);
    }
    if (p->r->verdict == HF_INVALID && f) {
        bool is_order = f->anomaly == HF_NO_ORDER && !f->alias;

        hf_out_text(out, ": ");
        if (is_order)
            hf_out_text(out, "no order fits");
        else
            hf_out_text(out,
                        f->alias ? f->alias : hf_anomaly_get(f->anomaly)->name);
        put_among(p, &f->witness, is_order, out);
    }
    hf_out_char(out, '.');
    put_breaches(p, out);
}

/* ---- what it means ------------------------------------------------------- */

/* As a sentence: with a capital letter and a full stop. */
static void put_as_sentence(const char *text, hf_out *out)
{
    size_t n = strlen(text);

    if (n == 0)
        return;
    hf_out_char(out, text[0] >= 'a' && text[0] <= 'z'
                         ? (char)(text[0] - 'a' + 'A')
                         : text[0]);
    hf_out_text(out, text + 1);
    if (text[n - 1] != '.')
        hf_out_char(out, '.');
}

static void put_valid(const hf_page *p, hf_out *out)
{
    switch (p->r->witness.kind) {
    case HF_WITNESS_SERIAL:
        hf_out_text(out, "Its transactions could have run one after the "
                         "other: an order that explains every read was found "
                         "and checked.");
        return;
    case HF_WITNESS_SNAPSHOT:
        hf_out_text(out, "An order of snapshots and commits that explains "
                         "every read was found and checked.");
        return;
    case HF_WITNESS_COMMIT:
        hf_out_text(out, "An order of commits that explains every read was "
                         "found and checked.");
        return;
    default:
        hf_out_text(out, "Nothing in it contradicts the promise.");
    }
}

void hf_page_meaning(const hf_page *p, hf_out *out)
{
    if (p->r->verdict == HF_UNKNOWN)
        put_as_sentence(p->r->reason ? p->r->reason : "no reason was given",
                        out);
    else if (p->r->verdict == HF_VALID)
        put_valid(p, out);
    else if (p->n_shown > 0)
        put_as_sentence(hf_page_finding_words(&p->findings[0]).summary, out);
    if (p->r->verdict != HF_UNKNOWN && p->r->witness.rests) {
        hf_out_text(out, " The verdict rests on ");
        hf_rests_print(p->r->witness.rests, out);
        hf_out_char(out, '.');
    }
}

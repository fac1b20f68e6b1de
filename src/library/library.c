/* library.c: the public functions that join the parts.
 *
 * Thin on purpose: everything here could be written by a user of the parts,
 * and the program (src/cli) does so.  Names come in as text, budgets as
 * limits, and go to the tables and engines behind.
 */
#include "holdfast.h"

#include <string.h>

#include "base/error.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "check/check.h"
#include "formats/format.h"
#include "history/builder.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "model/special.h"
#include "report/report.h"
#include "verify/verify.h"

const char *hf_version(void)
{
    return HF_VERSION_STRING;
}

static hf_budget *begin_budget(hf_budget *b, const hf_limits *limits)
{
    if (!limits)
        return NULL;
    *b = (hf_budget){.seconds = limits->seconds,
                     .bytes = limits->bytes,
                     .interrupted = limits->interrupted,
                     .user = limits->user};
    hf_budget_start(b);
    return b;
}

static hf_status unknown_name(hf_error *err, const char *what, const char *name,
                              const char *near)
{
    char quoted[64];

    return hf_fail(err, HF_ERR_USAGE, "unknown %s \"%s\"%s%s%s", what,
                   hf_quote(quoted, sizeof(quoted), name, strlen(name)),
                   near ? ", did you mean \"" : "", near ? near : "",
                   near ? "\"" : "");
}

static hf_status find_level(const char *name, hf_level *ret, hf_error *err)
{
    const char *near = NULL;

    if (hf_level_find(hf_str_of(name), ret, &near))
        return HF_OK;
    return unknown_name(err, "level", name, near);
}

static hf_status find_format(const char *name, const hf_format **ret,
                             hf_error *err)
{
    *ret = name ? hf_format_find(hf_str_of(name)) : NULL;
    if (name && !*ret)
        return unknown_name(err, "format", name, NULL);
    return HF_OK;
}

/* A NUL-terminated copy of what was written, for the caller. */
static char *to_text(hf_out *out)
{
    hf_out_char(out, '\0');
    return out->at; /* released with hf_text_free() */
}

void hf_text_free(char *text)
{
    hf_free(text);
}

/* ---- histories ----------------------------------------------------------- */

hf_status hf_builder_level_name(hf_builder *b, hf_txn_id t, const char *level,
                                hf_error *err)
{
    hf_level found;
    hf_status st = find_level(level, &found, err);

    if (st == HF_OK)
        hf_builder_level(b, t, (uint8_t)found);
    return st;
}

hf_status hf_load(const char *path, const char *format, const hf_limits *limits,
                  hf_history **ret_h, hf_error *err)
{
    const hf_format *f;
    hf_budget budget;
    hf_status st = find_format(format, &f, err);

    if (st != HF_OK)
        return st;
    return hf_load_history(path, f, begin_budget(&budget, limits), ret_h, err);
}

hf_status hf_load_memory(const void *bytes, size_t length, const char *format,
                         const hf_limits *limits, hf_history **ret_h,
                         hf_error *err)
{
    const hf_format *f;
    hf_budget budget;
    hf_input in = {.path = "memory", .text = bytes, .length = length};
    hf_status st = find_format(format, &f, err);

    if (st != HF_OK)
        return st;
    in.budget = begin_budget(&budget, limits);
    return hf_import_history(&in, f, ret_h, err);
}

hf_status hf_save(const hf_history *h, const char *path, const char *format,
                  hf_error *err)
{
    const hf_format *f;
    hf_status st = find_format(format ? format : "jsonl", &f, err);

    return st == HF_OK ? hf_save_history(h, path, f, err) : st;
}

hf_counts hf_history_counts(const hf_history *h)
{
    hf_counts c = {.transactions = h->n_txns,
                   .operations = h->n_ops,
                   .sessions = h->n_sessions,
                   .keys = h->n_keys,
                   .values = h->n_values,
                   .bytes = h->bytes};

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        c.committed += h->txn_outcome[t] == HF_COMMITTED;
        c.aborted += h->txn_outcome[t] == HF_ABORTED;
        c.unknown += h->txn_outcome[t] == HF_UNKNOWN_OUTCOME;
    }
    return c;
}

/* ---- checking ------------------------------------------------------------ */

/* What was expected, where an anomaly is about that. */
static void explain(const hf_history *h, hf_result *r, hf_budget *budget)
{
    hf_verify_session *session = hf_verify_open(h);

    for (uint32_t i = 0; i < r->n_findings; i++)
        hf_verify_explain(session, r->level, budget, &r->arena,
                          &r->findings[i].witness);
    hf_verify_close(session);
}

hf_status hf_check(const hf_history *h, const char *level, const char *engine,
                   const hf_limits *limits, hf_result **ret_r, hf_error *err)
{
    const hf_engine *e = engine ? hf_engine_find(hf_str_of(engine)) : NULL;
    hf_budget budget;
    hf_level found;
    hf_status st;

    if (!level)
        return hf_fail(err, HF_ERR_USAGE, "a level must be named");
    st = find_level(level, &found, err);
    if (st != HF_OK)
        return st;
    if (engine && !e)
        return unknown_name(err, "engine", engine, NULL);
    st = hf_promises_check(h, err);
    if (st == HF_OK && hf_level_get(found)->session_order)
        st = hf_promises_check_sessions(h, err);
    if (st == HF_OK)
        st = hf_certificate_check(h, err);
    if (st != HF_OK)
        return st;
    st = hf_engine_ask(e, h, found, NULL, begin_budget(&budget, limits), ret_r,
                       err);
    if (st == HF_OK)
        explain(h, *ret_r, limits ? &budget : NULL);
    return st;
}

hf_verdict hf_result_verdict(const hf_result *r)
{
    return r->verdict;
}

const char *hf_result_reason(const hf_result *r)
{
    return r->verdict == HF_UNKNOWN ? r->reason : NULL;
}

uint32_t hf_result_anomalies(const hf_result *r)
{
    return r->n_findings;
}

const char *hf_result_anomaly(const hf_result *r, uint32_t i)
{
    return i < r->n_findings ? hf_anomaly_get(r->findings[i].anomaly)->name
                             : NULL;
}

char *hf_result_json(const hf_history *h, const hf_result *r)
{
    hf_json j;
    hf_out out;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_result_write(h, r, &j);
    return to_text(&out);
}

char *hf_result_text(const hf_history *h, const hf_result *r)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_result_print(h, r, UINT32_MAX, false, &out);
    return to_text(&out);
}

char *hf_result_dot_text(const hf_history *h, const hf_result *r)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_result_dot(h, r, UINT32_MAX, &out);
    return to_text(&out);
}

hf_status hf_verify(const hf_history *h, const char *json, size_t length,
                    bool *ret_accepted, hf_error *err)
{
    hf_verification v;
    hf_arena arena;
    hf_claim claim;
    hf_status st;

    hf_arena_init(&arena);
    st = hf_claim_read(h, json, length, &arena, &claim, err);
    if (st == HF_OK)
        st = hf_verify_claim(h, &claim, NULL, &v, err);
    hf_arena_release(&arena);
    if (st != HF_OK)
        return st;
    *ret_accepted = v.accepted;
    if (!v.accepted)
        (void)hf_fail(err, HF_OK, "%s", v.reason);
    return HF_OK;
}

/* ---- names --------------------------------------------------------------- */

const char *hf_level_name(unsigned i)
{
    return i < HF_LEVEL_COUNT ? hf_level_get((hf_level)i)->name : NULL;
}

const char *hf_anomaly_name(unsigned i)
{
    return i < HF_ANOMALY_COUNT ? hf_anomaly_get((hf_anomaly)i)->name : NULL;
}

static void explain_level(const hf_level_info *l, hf_out *out)
{
    hf_out_format(out, "%s (%s)\n\n%s\n\nDefinition: %s\n", l->name,
                  l->short_name, l->summary, l->definition);
}

static void explain_parts(const char *name, const char *summary,
                          const char *meaning, const char *example,
                          const char *remedy, hf_out *out)
{
    hf_out_format(out, "%s\n\n%s\n\n%s\n\nSmallest example:\n%s\n\n%s\n", name,
                  summary, meaning, example, remedy);
}

char *hf_explain(const char *name)
{
    hf_str wanted = hf_str_of(name);
    const hf_special_form *form;
    hf_anomaly anomaly;
    hf_level level;
    hf_out out;

    hf_out_init_memory(&out);
    if (hf_level_find(wanted, &level, NULL)) {
        explain_level(hf_level_get(level), &out);
    } else if ((form = hf_special_find(wanted)) != NULL) {
        explain_parts(form->name, form->summary, form->meaning, form->example,
                      form->remedy, &out);
    } else if (hf_anomaly_find(wanted, &anomaly, NULL)) {
        const hf_anomaly_info *a = hf_anomaly_get(anomaly);

        explain_parts(a->name, a->summary, a->meaning, a->example, a->remedy,
                      &out);
    } else {
        return NULL;
    }
    return to_text(&out);
}

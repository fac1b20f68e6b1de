/* watch_end.c: how a watch ended, in words and in JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/level.h"
#include "model/witness.h"
#include "report/watch.h"
#include "report/watch_parts.h"

/* What is not as it should be: the verdict cannot be "valid" then. */
typedef struct gap {
    const char *name; /* in JSON */
    const char *one, *many;
    uint64_t n;
} gap;

#define MOST_GAPS 24u

/* Where some transactions are at a weaker level the others were judged. */
static uint64_t all_weaker(const hf_watch_stats *s)
{
    return s->weaker == s->working ? s->weaker : 0;
}

static unsigned gaps_of(const hf_watch_ending *e, gap *ret)
{
    const hf_watcher_stats *s = e->stats;
    const gap own[] = {
        {"late", "event came too late", "events came too late",
         s->pipeline.late},
        {"disordered", "event goes back in its client's time",
         "events go back in their client's time", s->pipeline.disordered},
        {"no_times", "transaction has no times", "transactions have no times",
         s->no_times},
        {"opaque", "statement is not recorded as operations",
         "statements are not recorded as operations", s->opaque},
        {"amounts", "increment has no result", "increments have no result",
         s->amounts},
        {"bad_lines", "line could not be read", "lines could not be read",
         e->bad_lines},
        {"doubted", "read that what was not seen may explain",
         "reads that what was not seen may explain", s->doubted},
        {"lost", "transaction was open when its client was gone",
         "transactions were open when their clients were gone", s->lost},
        {"weaker", "transaction, all there is, names a weaker level",
         "transactions, all there are, name a weaker level",
         all_weaker(&s->watch)}};
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].n > 0)
            ret[n++] = own[i];
    for (unsigned c = 0; c < HF_COMPLAINT_COUNT; c++)
        if (s->watch.complaints[c] > 0 && c != HF_COMPLAINT_LATE)
            ret[n++] =
                (gap){NULL, hf_watch_complaint_text(c),
                      hf_watch_complaint_text(c), s->watch.complaints[c]};
    return n;
}

bool hf_watch_ending_is_whole(const hf_watch_ending *e)
{
    gap gaps[MOST_GAPS];
    unsigned n = gaps_of(e, gaps);

    for (unsigned i = 0; i < n; i++)
        if (!gaps[i].name || strcmp(gaps[i].name, "lost") != 0)
            return false;
    return !e->stopped && e->stats->watch.events > 0;
}

hf_verdict hf_watch_ending_verdict(const hf_watch_ending *e)
{
    if (e->stats->watch.violations > 0)
        return HF_INVALID;
    return hf_watch_ending_is_whole(e) ? HF_VALID : HF_UNKNOWN;
}

/* "invalid" is a level that was not kept, which only check can say: a
 * mechanism may break, and the level hold all the same, by luck. */
static const char *verdict_name(hf_verdict verdict)
{
    return verdict == HF_INVALID ? "broken" : hf_verdict_name(verdict);
}

static uint64_t sum(const uint64_t *n)
{
    return n[HF_WATCH_WW] + n[HF_WATCH_WR] + n[HF_WATCH_RW];
}

/* 12,345 */
static void put_number(uint64_t n, hf_out *out)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            hf_out_char(out, ',');
        hf_out_char(out, digits[i]);
    }
}

static void put_count(uint64_t n, const char *one, const char *many,
                      hf_out *out)
{
    put_number(n, out);
    hf_out_char(out, ' ');
    hf_out_text(out, n == 1 ? one : many);
}

static void put_answer(const hf_watch_ending *e, bool color, hf_out *out)
{
    const hf_watch_stats *s = &e->stats->watch;
    const hf_profile *p = e->profile;
    hf_verdict verdict = hf_watch_ending_verdict(e);
    const char *on = verdict == HF_INVALID ? "\033[1;31m" : "\033[1;32m";
    char mechanisms[100];

    hf_out_format(
        out, "%s%s%s: ", color ? verdict == HF_UNKNOWN ? "\033[1;33m" : on : "",
        verdict_name(verdict), color ? "\033[0m" : "");
    if (verdict == HF_INVALID)
        put_count(s->violations, "violation", "violations", out);
    else
        hf_out_text(out, verdict == HF_VALID
                             ? "no violation"
                             : "no violation in what could be judged");
    hf_out_text(out, " in ");
    put_count(s->transactions, "transaction", "transactions", out);
    hf_out_format(out, " by %s at %s: %s\n", p->database, p->level,
                  hf_profile_mechanisms(p, mechanisms, 100));
    if (e->stopped)
        hf_out_format(out, "  it was stopped: %s\n", e->stopped);
}

static void put_share(const hf_watch_stats *s, hf_out *out)
{
    uint64_t certain = sum(s->certain), deduced = sum(s->deduced);
    uint64_t uncertain = sum(s->uncertain);
    uint64_t all = certain + deduced + uncertain;
    double beta = all ? (double)(deduced + uncertain) / (double)all : 0;

    hf_out_text(out, "  ");
    put_count(all, "dependency", "dependencies", out);
    hf_out_format(out, ": %.4f%% overlap (beta), ", 100 * beta);
    if (deduced + uncertain == 0)
        hf_out_text(out, "nothing to deduce\n");
    else
        hf_out_format(out, "of which %.2f%% were deduced (%" PRIu64 ")\n",
                      100 * (double)deduced / (double)(deduced + uncertain),
                      deduced);
}

static void put_first(const hf_first_complaint *f, hf_out *out)
{
    hf_out_format(out, "  the first bad event: of T%" PRIu64 ", from %" PRIu64,
                  f->txn, f->before);
    if (f->after != UINT64_MAX)
        hf_out_format(out, " to %" PRIu64, f->after);
    hf_out_format(out, ": %s\n", hf_watch_complaint_text(f->what));
}

/* All of it is at a weaker level: which, and who promises that. */
static void put_weaker(const hf_watch_ending *e, hf_out *out)
{
    const hf_profile *p = e->profile;

    hf_out_format(out, "  %s promises %s, ", p->database, p->promise);
    if (e->level >= HF_LEVEL_COUNT) {
        hf_out_text(out, "they owe less: only locks were judged\n");
        return;
    }
    hf_out_format(out, "they name %s: only locks were judged\n",
                  hf_level_get((hf_level)e->level)->name);
    for (size_t i = 0; i < hf_profile_count(); i++) {
        const hf_profile *q = hf_profile_at(i);

        if (strcmp(q->database, p->database) != 0 ||
            !hf_profile_covers(q, (hf_level)e->level))
            continue;
        hf_out_format(out, "  for that level: --profile \"%s/%s\"\n",
                      q->database, q->level);
        return;
    }
}

void hf_watch_ending_print(const hf_watch_ending *e, bool color, hf_out *out)
{
    const hf_watch_stats *s = &e->stats->watch;
    gap gaps[MOST_GAPS];
    unsigned n = gaps_of(e, gaps);

    put_answer(e, color, out);
    hf_out_text(out, "  ");
    put_number(s->committed, out);
    hf_out_text(out, " committed, ");
    put_number(s->aborted, out);
    hf_out_text(out, " aborted, ");
    put_number(s->unknown, out);
    hf_out_text(out, " unknown; ");
    put_count(s->events, "event", "events", out);
    hf_out_text(out, " on ");
    put_count(e->stats->keys, "key", "keys", out);
    hf_out_char(out, '\n');
    for (unsigned m = 0; m < HF_WATCH_MECHANISM_COUNT; m++)
        if (s->by_mechanism[m] > 0) {
            hf_out_format(out, "  %s (%s): ",
                          hf_watch_mechanism_title((hf_watch_mechanism)m),
                          hf_watch_mechanism_name((hf_watch_mechanism)m));
            put_count(s->by_mechanism[m], "violation", "violations", out);
            hf_out_char(out, '\n');
        }
    if (s->violations > 0 && e->profile->promise[0])
        hf_out_format(out,
                      "  whether %s was kept all the same, \"holdfast check\" "
                      "tells\n",
                      e->profile->promise);
    put_share(s, out);
    for (unsigned i = 0; i < n; i++) {
        hf_out_text(out, "  not judged: ");
        if (gaps[i].name)
            put_count(gaps[i].n, gaps[i].one, gaps[i].many, out);
        else
            put_count(gaps[i].n, "event: ", "events: ", out);
        hf_out_format(out, "%s\n", gaps[i].name ? "" : gaps[i].one);
    }
    if (all_weaker(s) > 0)
        put_weaker(e, out);
    if (e->first.is_there)
        put_first(&e->first, out);
    for (unsigned u = 0; u < HF_UNJUDGED_COUNT; u++)
        if (s->unjudged[u] > 0) {
            hf_out_text(out, "  not judged: ");
            put_number(s->unjudged[u], out);
            hf_out_format(out, " %s\n",
                          hf_watch_unjudged_text((hf_watch_unjudged)u));
        }
    if (e->stats->aggregates > 0) {
        hf_out_text(out, "  not judged: ");
        put_count(e->stats->aggregates, "aggregate", "aggregates", out);
        hf_out_char(out, '\n');
    }
    if (e->stats->pipeline.stalls > 0) {
        hf_out_text(out, "  ");
        put_count(e->stats->pipeline.stalls,
                  "time a silent client was passed by",
                  "times a silent client was passed by", out);
        hf_out_char(out, '\n');
    }
}

static void write_counts(hf_json *j, const char *name, const uint64_t *n)
{
    hf_json_key(j, name);
    hf_json_object(j);
    for (unsigned i = 0; i < HF_WATCH_DEPENDENCY_COUNT; i++) {
        hf_json_key(j, hf_watch_dependency_names[i]);
        hf_json_uint(j, n[i]);
    }
    hf_json_end(j);
}

static void write_field(hf_json *j, const char *name, uint64_t n)
{
    hf_json_key(j, name);
    hf_json_uint(j, n);
}

static void write_gaps(hf_json *j, const hf_watch_ending *e)
{
    gap gaps[MOST_GAPS];
    unsigned n = gaps_of(e, gaps);
    const hf_watch_stats *s = &e->stats->watch;

    hf_json_key(j, "not_judged");
    hf_json_array(j);
    for (unsigned i = 0; i < n; i++) {
        hf_json_object(j);
        write_field(j, "n", gaps[i].n);
        hf_json_key(j, "what");
        hf_json_text(j, gaps[i].n == 1 ? gaps[i].one : gaps[i].many);
        hf_json_end(j);
    }
    for (unsigned u = 0; u < HF_UNJUDGED_COUNT; u++)
        if (s->unjudged[u] > 0) {
            hf_json_object(j);
            write_field(j, "n", s->unjudged[u]);
            hf_json_key(j, "what");
            hf_json_text(j, hf_watch_unjudged_text((hf_watch_unjudged)u));
            hf_json_end(j);
        }
    if (e->stats->aggregates > 0) {
        hf_json_object(j);
        write_field(j, "n", e->stats->aggregates);
        hf_json_key(j, "what");
        hf_json_text(j, "aggregates");
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void write_first(hf_json *j, const hf_first_complaint *f)
{
    hf_json_key(j, "first_bad_event");
    if (!f->is_there) {
        hf_json_null(j);
        return;
    }
    hf_json_object(j);
    write_field(j, "transaction", f->txn);
    write_field(j, "before", f->before);
    hf_json_key(j, "after");
    if (f->after == UINT64_MAX)
        hf_json_null(j);
    else
        hf_json_uint(j, f->after);
    hf_json_key(j, "what");
    hf_json_text(j, hf_watch_complaint_text(f->what));
    hf_json_end(j);
}

void hf_watch_ending_write(const hf_watch_ending *e, hf_out *out)
{
    const hf_watch_stats *s = &e->stats->watch;
    const hf_pipeline_stats *p = &e->stats->pipeline;
    uint64_t open = sum(s->deduced) + sum(s->uncertain);
    hf_json j;

    hf_watch_begin(&j, "watch", out);
    hf_json_key(&j, "verdict");
    hf_json_text(&j, verdict_name(hf_watch_ending_verdict(e)));
    hf_watch_write_promise(&j, e->profile);
    hf_json_key(&j, "stopped");
    hf_json_text(&j, e->stopped);
    write_field(&j, "violations", s->violations);
    hf_json_key(&j, "by_mechanism");
    hf_json_object(&j);
    for (unsigned m = 0; m < HF_WATCH_MECHANISM_COUNT; m++)
        write_field(&j, hf_watch_mechanism_name((hf_watch_mechanism)m),
                    s->by_mechanism[m]);
    hf_json_end(&j);
    write_field(&j, "transactions", s->transactions);
    write_field(&j, "committed", s->committed);
    write_field(&j, "aborted", s->aborted);
    write_field(&j, "unknown", s->unknown);
    write_field(&j, "events", s->events);
    write_field(&j, "keys", e->stats->keys);
    write_counts(&j, "certain", s->certain);
    write_counts(&j, "deduced", s->deduced);
    write_counts(&j, "uncertain", s->uncertain);
    hf_json_key(&j, "beta");
    hf_json_real(&j,
                 open ? (double)open / (double)(open + sum(s->certain)) : 0.0);
    hf_json_key(&j, "deduced_share");
    hf_json_real(&j, open ? (double)sum(s->deduced) / (double)open : 1.0);
    write_gaps(&j, e);
    write_first(&j, &e->first);
    write_field(&j, "stalls", p->stalls);
    write_field(&j, "late", p->late);
    write_field(&j, "spilled", p->spilled);
    write_field(&j, "engine_bytes", s->bytes);
    write_field(&j, "pipeline_bytes", p->bytes);
    hf_json_key(&j, "seconds");
    hf_json_real(&j, e->seconds);
    hf_json_key(&j, "cpu_seconds");
    hf_json_real(&j, e->cpu_seconds);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

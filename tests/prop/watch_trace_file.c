/* watch_trace_file.c: a trace as a file would have it, watched. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/out.h"
#include "history/text.h"
#include "watch/watcher.h"
#include "watch_trace.h"

static void put_value(hf_out *out, uint64_t value)
{
    if (value == HF_EVENT_NO_ROW)
        hf_out_text(out, "null");
    else
        hf_out_format(out, "%" PRIu64, value);
}

static void put_at(hf_out *out, const hf_event *e)
{
    if (e->after == UINT64_MAX)
        hf_out_format(out, ",\"at\":[%" PRIu64 ",null]}", e->before);
    else
        hf_out_format(out, ",\"at\":[%" PRIu64 ",%" PRIu64 "]}", e->before,
                      e->after);
}

/* The scan at e[0], and its rows; returns how many events it took. */
static size_t put_scan(hf_out *out, const trace *t, const hf_event *e, size_t n)
{
    static const char *const totals[] = {"", "count", "sum", "min", "max"};
    const trace_scan *s = &t->scans.at[e->extra];
    size_t i = 1;

    if (s->total) {
        hf_out_format(
            out,
            "{\"op\":\"%s\",\"column\":\"value\",\"where\":\"value >= "
            "%" PRId64 " and value <= %" PRId64 "\",\"value\":%" PRId64,
            totals[s->total], s->lo, s->hi, hf_event_number(e));
        put_at(out, e);
        return 1;
    }
    hf_out_format(out,
                  "{\"op\":\"pr\",\"where\":\"value >= %" PRId64
                  " and value <= %" PRId64 "\",\"rows\":[",
                  s->lo, s->hi);
    for (; i < n && e[i].txn == e->txn && e[i].kind == HF_EVENT_READ &&
           e[i].statement == e->statement;
         i++) {
        hf_out_format(out, "%s[%u,", i > 1 ? "," : "", e[i].key);
        put_value(out, e[i].value);
        hf_out_char(out, ']');
    }
    hf_out_char(out, ']');
    put_at(out, e);
    return i;
}

static size_t put_event(hf_out *out, const trace *t, const hf_event *e,
                        size_t n)
{
    static const char *const names[] = {"begin", "r",      "w",
                                        "pr",    "commit", "abort"};

    if (e->kind == HF_EVENT_SCAN)
        return put_scan(out, t, e, n);
    if (e->kind == HF_EVENT_WRITE && e->value == HF_EVENT_NO_ROW) {
        hf_out_format(out, "{\"op\":\"delete\",\"key\":%u", e->key);
    } else {
        hf_out_format(out, "{\"op\":\"%s\"", names[e->kind]);
        if (e->kind == HF_EVENT_READ || e->kind == HF_EVENT_WRITE) {
            hf_out_format(out, ",\"key\":%u,\"value\":", e->key);
            put_value(out, e->value);
        }
    }
    put_at(out, e);
    return 1;
}

/* One transaction: e[0] is its BEGIN, n events of its client follow. */
static size_t put_txn(hf_out *out, const trace *t, const hf_event *e, size_t n)
{
    size_t last = 0;

    while (last + 1 < n && e[last + 1].txn == e->txn)
        last++;
    hf_out_format(out, "{\"session\":\"%u\",\"begin\":%" PRIu64, e->client,
                  e->before);
    if (e[last].kind == HF_EVENT_ABORT)
        hf_out_text(out, ",\"outcome\":\"aborted\"");
    if (e[last].after == UINT64_MAX)
        hf_out_text(out, ",\"outcome\":\"unknown\"");
    else
        hf_out_format(out, ",\"end\":%" PRIu64, e[last].after);
    hf_out_text(out, ",\"ops\":[");
    for (size_t i = 0; i <= last;) {
        if (i > 0)
            hf_out_char(out, ',');
        i += put_event(out, t, &e[i], last + 1 - i);
    }
    hf_out_text(out, "]}\n");
    return last + 1;
}

static void put_trace(hf_out *out, const trace *t)
{
    HF_VEC(hf_event) own = {0};

    for (uint32_t k = 0; t->taste.loaded && k < t->taste.keys; k++)
        hf_out_format(out, "{\"initial\":[[%u,%u]]}\n", k,
                      t->taste.duplicates ? 1 : k + 1);
    for (uint32_t c = 0; c < t->taste.sessions; c++) {
        own.n = 0;
        for (size_t i = 0; i < t->events.n; i++)
            if (t->events.at[i].client == c)
                hf_vec_push(&own, t->events.at[i]);
        for (size_t i = 0; i < own.n;)
            i += put_txn(out, t, &own.at[i], own.n - i);
    }
    hf_vec_release(&own);
}

static bool keep(void *user, hf_watcher *w, const hf_violation *v)
{
    trace_verdict *x = user;

    (void)w;
    if (x->violations++ == 0)
        x->first = *v;
    x->by[v->mechanism]++;
    return true;
}

trace_verdict trace_watch_file(const trace *t, const hf_profile *profile)
{
    trace_verdict v = {0};
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_watcher_stats stats;
    hf_error err = {0};
    hf_watcher *w;
    hf_out text;

    hf_out_init_memory(&text);
    put_trace(&text, t);
    if (hf_text_read(text.at, text.n, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK) {
        fprintf(stderr, "%s\n%.*s", err.text, (int)text.n, text.at);
        abort();
    }
    w = hf_watcher_new(&(hf_watcher_options){.watch = {.profile = profile},
                                             .pipeline = {.one_thread = true},
                                             .starts_empty = true,
                                             .violation = keep,
                                             .user = &v});
    (void)hf_watcher_count(w, h);
    hf_watcher_begin(w, HF_SESSIONS_COUNTED);
    (void)hf_watcher_piece(w, h);
    hf_watcher_end(w);
    hf_watcher_consume(w);
    hf_watcher_look(w, &stats);
    v.stats = stats.watch;
    hf_watcher_free(w);
    hf_history_free(h);
    hf_out_release(&text);
    return v;
}

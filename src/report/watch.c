/* watch.c: violations of watch, in words and as a timeline in text.
 *
 *     violation 1: consistent read (CR): stale read
 *       T914 read x = 3
 *
 *       T904 wrote x = 3         [==]
 *       T904 commits                 [=]
 *       T907 wrote x = 5               [==]
 *       T907 commits                       [==]
 *       T914 takes its snapshot                    [====]
 *       T914 read x = 3                            [====]
 *                                0                      1.204 ms
 *
 *       the rule: ...
 *       the promise: ...
 */
#include "report/watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/watch_parts.h"

#define TIMELINE 48u
#define LABEL 64u

/* ---- the timeline -------------------------------------------------------- */

typedef struct scale {
    uint64_t first, last;
} scale;

static scale scale_of(const hf_violation *v)
{
    scale s = {UINT64_MAX, 0};

    for (unsigned i = 0; i < v->n_parts; i++) {
        const hf_violation_part *p = &v->parts[i];
        uint64_t end = p->after == UINT64_MAX ? p->before : p->after;

        if (p->txn == HF_WATCH_NO_TXN)
            continue;
        s.first = p->before < s.first ? p->before : s.first;
        s.last = end > s.last ? end : s.last;
    }
    if (s.first > s.last)
        s = (scale){0, 1};
    if (s.first == s.last)
        s.last++;
    return s;
}

static unsigned column_of(scale s, uint64_t t)
{
    if (t <= s.first)
        return 0;
    if (t >= s.last)
        return TIMELINE - 1;
    return (unsigned)((double)(t - s.first) / (double)(s.last - s.first) *
                      (TIMELINE - 1));
}

static void put_bar(scale s, const hf_violation_part *p, hf_out *out)
{
    bool open = p->after == UINT64_MAX;
    unsigned from = column_of(s, p->before);
    unsigned to = open ? TIMELINE : column_of(s, p->after);

    if (p->txn == HF_WATCH_NO_TXN) {
        hf_out_text(out, "(at the beginning)");
        return;
    }
    for (unsigned i = 0; i < from; i++)
        hf_out_char(out, ' ');
    if (from == to) {
        hf_out_char(out, '|');
        return;
    }
    hf_out_char(out, '[');
    for (unsigned i = from + 1; i < to; i++)
        hf_out_char(out, '=');
    hf_out_char(out, open ? '>' : ']');
}

static void put_duration(uint64_t ns, hf_out *out)
{
    if (ns < 10000)
        hf_out_format(out, "%" PRIu64 " ns", ns);
    else if (ns < 10000000)
        hf_out_format(out, "%.1f us", (double)ns / 1e3);
    else if (ns < 10000000000u)
        hf_out_format(out, "%.1f ms", (double)ns / 1e6);
    else
        hf_out_format(out, "%.1f s", (double)ns / 1e9);
}

static void put_txn(uint64_t txn, hf_out *out)
{
    if (txn == HF_WATCH_NO_TXN)
        hf_out_text(out, "the initial state");
    else
        hf_out_format(out, "T%" PRIu64, txn);
}

static void put_item(const hf_violation_part *p, const hf_watch_words *w,
                     hf_out *out)
{
    if (p->key == UINT32_MAX && p->has_value) {
        hf_out_text(out, "a total of ");
        hf_watch_scans_value_print(w->scans, p->value, out);
    }
    if (p->key == UINT32_MAX)
        return;
    hf_watch_names_print(w->names, p->key, out);
    if (p->any_value)
        hf_out_text(out, " = ?");
    else if (p->has_value) {
        hf_out_text(out, " = ");
        hf_watch_scans_value_print(w->scans, p->value, out);
    }
}

static void put_label(const hf_violation_part *p, const hf_watch_words *w,
                      hf_out *out)
{
    static const char *const verbs[HF_PART_COUNT] = {
        [HF_PART_READ] = " read ",
        [HF_PART_SNAPSHOT] = " took its snapshot",
        [HF_PART_WRITE] = " wrote ",
        [HF_PART_LOCK_READ] = " locked ",
        [HF_PART_COMMIT] = " committed ",
        [HF_PART_ABORT] = " aborted",
        [HF_PART_CANDIDATE] = " committed "};

    put_txn(p->txn, out);
    if (p->txn == HF_WATCH_NO_TXN)
        hf_out_text(out, ": ");
    else
        hf_out_text(out, p->part < HF_PART_COUNT ? verbs[p->part] : " ");
    if (p->part != HF_PART_SNAPSHOT && p->part != HF_PART_ABORT)
        put_item(p, w, out);
    if (p->part == HF_PART_CANDIDATE && p->txn != HF_WATCH_NO_TXN)
        hf_out_text(out, " (may be seen)");
    if (p->is_unknown)
        hf_out_text(out, " (or not)");
}

static void put_timeline(const hf_violation *v, const hf_watch_words *w,
                         hf_out *out)
{
    scale s = scale_of(v);
    size_t widest = 0;
    hf_out label;

    hf_out_init_memory(&label);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < v->n_parts; i++) {
            size_t n;

            label.n = 0;
            put_label(&v->parts[i], w, &label);
            n = label.n < LABEL ? label.n : LABEL;
            widest = pass == 0 && n > widest ? n : widest;
            if (pass == 0)
                continue;
            hf_out_format(out, "  %.*s%*s  ", (int)n, label.at,
                          (int)(widest - n), "");
            put_bar(s, &v->parts[i], out);
            hf_out_char(out, '\n');
        }
    hf_out_release(&label);
    if (v->parts_left_out > 0)
        hf_out_format(out, "  and %u more\n", v->parts_left_out);
    hf_out_format(out, "  %*s  from %" PRIu64 ", for ", (int)widest, "",
                  s.first);
    put_duration(s.last - s.first, out);
    hf_out_char(out, '\n');
}

/* ---- a violation --------------------------------------------------------- */

const char *const hf_watch_dependency_names[HF_WATCH_DEPENDENCY_COUNT] = {
    "ww", "wr", "rw"};

static void put_edges(const hf_violation *v, const hf_watch_words *w,
                      hf_out *out)
{
    for (unsigned i = 0; i < v->n_edges; i++) {
        const hf_violation_edge *e = &v->edges[i];

        hf_out_text(out, i == 0 ? "  depends: " : "           ");
        put_txn(e->from, out);
        hf_out_format(out, " -%s",
                      e->kind < HF_WATCH_DEPENDENCY_COUNT
                          ? hf_watch_dependency_names[e->kind]
                          : "");
        if (e->key != UINT32_MAX) {
            hf_out_char(out, ':');
            hf_watch_names_print(w->names, e->key, out);
        }
        hf_out_text(out, "-> ");
        put_txn(e->to, out);
        hf_out_char(out, '\n');
    }
}

static void put_words(const char *name, hf_out *out)
{
    for (; *name; name++)
        hf_out_char(out, *name == '-' ? ' ' : *name);
}

void hf_watch_violation_print(const hf_violation *v, const hf_watch_words *w,
                              hf_out *out)
{
    const hf_profile *p = v->profile;
    char mechanisms[100];

    hf_out_format(out,
                  "%sviolation %" PRIu64 "%s: ", w->color ? "\033[1;31m" : "",
                  v->number, w->color ? "\033[0m" : "");
    hf_out_format(out, "%s (%s): ", hf_watch_mechanism_title(v->mechanism),
                  hf_watch_mechanism_name(v->mechanism));
    put_words(hf_watch_rule_name(v->rule), out);
    hf_out_text(out, ", ");
    put_txn(v->txn, out);
    if (v->other != HF_WATCH_NO_TXN) {
        hf_out_text(out, " and ");
        put_txn(v->other, out);
    }
    if (v->key != UINT32_MAX) {
        hf_out_text(out, " on ");
        hf_watch_names_print(w->names, v->key, out);
    }
    hf_out_text(out, "\n\n");
    put_timeline(v, w, out);
    put_edges(v, w, out);
    hf_out_format(out, "\n  the rule: %s\n", hf_watch_rule_sentence(v->rule));
    hf_out_format(out, "  the promise: %s at %s, %s%s%s%s%s\n", p->database,
                  p->level, hf_profile_mechanisms(p, mechanisms, 100),
                  p->promise[0] ? ": " : "", p->promise,
                  p->where[0] ? "; " : "", p->where);
    if (v->clock_suspect)
        hf_out_text(out, "  a clock that jumped is involved: it may be that\n");
    hf_out_char(out, '\n');
}

static void write_time(hf_json *j, const char *key, uint64_t t)
{
    hf_json_key(j, key);
    if (t == UINT64_MAX)
        hf_json_null(j);
    else
        hf_json_uint(j, t);
}

static void write_txn(hf_json *j, const char *key, uint64_t txn)
{
    write_time(j, key, txn); /* none is null */
}

static void write_key(hf_json *j, uint32_t key, const hf_watch_words *w)
{
    hf_out text;

    hf_json_key(j, "key");
    if (key == UINT32_MAX) {
        hf_json_null(j);
        return;
    }
    hf_out_init_memory(&text);
    hf_watch_names_print(w->names, key, &text);
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
}

static void write_value(hf_json *j, uint64_t value, const hf_watch_words *w)
{
    hf_out text;

    hf_out_init_memory(&text);
    hf_watch_scans_value_print(w->scans, value, &text);
    hf_json_key(j, "value");
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
}

static void write_part(hf_json *j, const hf_violation_part *p,
                       const hf_watch_words *w)
{
    static const char *const names[HF_PART_COUNT] = {
        [HF_PART_READ] = "read",           [HF_PART_SNAPSHOT] = "snapshot",
        [HF_PART_WRITE] = "write",         [HF_PART_LOCK_READ] = "lock",
        [HF_PART_COMMIT] = "commit",       [HF_PART_ABORT] = "abort",
        [HF_PART_CANDIDATE] = "candidate",
    };

    hf_json_object(j);
    hf_json_key(j, "part");
    hf_json_text(j, p->part < HF_PART_COUNT ? names[p->part] : NULL);
    write_txn(j, "transaction", p->txn);
    write_key(j, p->key, w);
    if (p->has_value && !p->any_value)
        write_value(j, p->value, w);
    write_time(j, "before", p->before);
    write_time(j, "after", p->after);
    if (p->is_unknown) {
        hf_json_key(j, "unknown");
        hf_json_bool(j, true);
    }
    hf_json_end(j);
}

void hf_watch_write_promise(hf_json *j, const hf_profile *p)
{
    char mechanisms[100];

    hf_json_key(j, "profile");
    hf_json_object(j);
    hf_json_key(j, "database");
    hf_json_text(j, p->database);
    hf_json_key(j, "level");
    hf_json_text(j, p->level);
    hf_json_key(j, "mechanisms");
    hf_json_text(j, hf_profile_mechanisms(p, mechanisms, 100));
    hf_json_key(j, "promise");
    hf_json_text(j, p->promise[0] ? p->promise : NULL);
    hf_json_key(j, "where");
    hf_json_text(j, p->where);
    hf_json_end(j);
}

void hf_watch_begin(hf_json *j, const char *type, hf_out *out)
{
    hf_json_init(j, out);
    hf_json_object(j);
    hf_json_key(j, "type");
    hf_json_text(j, type);
    hf_json_key(j, "schema");
    hf_json_int(j, 1);
}

void hf_watch_violation_write(const hf_violation *v, const hf_watch_words *w,
                              hf_out *out)
{
    hf_json j;

    hf_watch_begin(&j, "violation", out);
    hf_json_key(&j, "number");
    hf_json_uint(&j, v->number);
    hf_json_key(&j, "mechanism");
    hf_json_text(&j, hf_watch_mechanism_name(v->mechanism));
    hf_json_key(&j, "rule");
    hf_json_text(&j, hf_watch_rule_name(v->rule));
    hf_json_key(&j, "says");
    hf_json_text(&j, hf_watch_rule_sentence(v->rule));
    write_txn(&j, "transaction", v->txn);
    write_txn(&j, "other", v->other);
    write_key(&j, v->key, w);
    write_time(&j, "time", v->time);
    hf_json_key(&j, "clock_suspect");
    hf_json_bool(&j, v->clock_suspect);
    hf_json_key(&j, "parts");
    hf_json_array(&j);
    for (unsigned i = 0; i < v->n_parts; i++)
        write_part(&j, &v->parts[i], w);
    hf_json_end(&j);
    hf_json_key(&j, "parts_left_out");
    hf_json_uint(&j, v->parts_left_out);
    hf_json_key(&j, "edges");
    hf_json_array(&j);
    for (unsigned i = 0; i < v->n_edges; i++) {
        hf_json_object(&j);
        write_txn(&j, "from", v->edges[i].from);
        write_txn(&j, "to", v->edges[i].to);
        hf_json_key(&j, "kind");
        hf_json_text(&j, v->edges[i].kind < HF_WATCH_DEPENDENCY_COUNT
                             ? hf_watch_dependency_names[v->edges[i].kind]
                             : NULL);
        write_key(&j, v->edges[i].key, w);
        hf_json_end(&j);
    }
    hf_json_end(&j);
    hf_watch_write_promise(&j, v->profile);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

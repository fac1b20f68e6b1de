/* watch_text.h: events for watch written as text, and what is expected.
 *
 *     profile postgresql/serializable
 *     clock-error 2
 *     expect SC dangerous-structure T1 T2     or: expect none
 *     key t.1 5 place=1            initial value; "-": no row, "?": not known
 *     key t.1:a 5                  a column: its row is t.1
 *     scan all 0 100               the places that it covers
 *     10 11 c1 T1 begin weaker     at a weaker level than the profile's
 *     10 11 c1 T1 begin            before, after ("?": no answer), client
 *     12 13 c1 T1 read t.1 5 for-update
 *     12 13 c1 T1 scan all
 *     14 15 c1 T1 write t.1 -      a delete
 *     14 15 c1 T1 write t.1 6 insert    there was no row
 *     16 17 c1 T1 commit
 *
 * Events need not be in order.  Calls of a transaction are statements of their
 * own, unless their times are the same, or statement=N says otherwise.
 */
#ifndef WATCH_TEXT_H
#define WATCH_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "watch/watch.h"

typedef struct text_key {
    char name[64];
    hf_watch_initial initial;
    uint64_t value;
    bool is_placed;
    uint64_t place;
} text_key;

typedef struct watch_text {
    char profile[256], expect[256];
    uint64_t clock_error;
    text_key keys[64];
    uint32_t n_keys;
    char values[128][32];
    uint32_t n_values;
    struct {
        char name[32];
        uint64_t first, last;
    } scans[8];
    uint32_t n_scans;
    HF_VEC(hf_event) events;
} watch_text;

static uint32_t text_key_of(watch_text *t, const char *name)
{
    uint32_t i = 0;

    while (i < t->n_keys && strcmp(t->keys[i].name, name) != 0)
        i++;
    if (i == t->n_keys) {
        t->keys[t->n_keys++] = (text_key){.initial = HF_WATCH_INITIAL_UNKNOWN};
        (void)snprintf(t->keys[i].name, sizeof(t->keys[i].name), "%s", name);
    }
    return i;
}

/* A column's row is the name before the colon. */
static uint32_t text_row_of(watch_text *t, const char *name)
{
    char row[64];
    const char *colon = strchr(name, ':');

    (void)snprintf(row, sizeof(row), "%.*s",
                   colon ? (int)(colon - name) : (int)strlen(name), name);
    return text_key_of(t, row);
}

static uint64_t text_value(watch_text *t, const char *text)
{
    uint32_t i = 0;

    if (strcmp(text, "-") == 0)
        return HF_EVENT_NO_ROW;
    while (i < t->n_values && strcmp(t->values[i], text) != 0)
        i++;
    if (i == t->n_values)
        (void)snprintf(t->values[t->n_values++], sizeof(t->values[0]), "%s",
                       text);
    return i + 1;
}

static void text_parse_key(watch_text *t, char **words, int n)
{
    text_key *k = &t->keys[text_key_of(t, words[1])];

    k->initial = words[2][0] == '?'           ? HF_WATCH_INITIAL_UNKNOWN
                 : strcmp(words[2], "-") == 0 ? HF_WATCH_INITIAL_ABSENT
                                              : HF_WATCH_INITIAL_VALUE;
    if (k->initial == HF_WATCH_INITIAL_VALUE)
        k->value = text_value(t, words[2]);
    if (n > 3 && strncmp(words[3], "place=", 6) == 0) {
        k->is_placed = true;
        k->place = strtoull(words[3] + 6, NULL, 10);
    }
}

static void text_parse_event(watch_text *t, char **words, int n)
{
    static const char *const kinds[HF_EVENT_KIND_COUNT] = {
        "begin", "read", "write", "scan", "commit", "abort"};
    hf_event e = {.before = strtoull(words[0], NULL, 10),
                  .after = words[1][0] == '?' ? UINT64_MAX
                                              : strtoull(words[1], NULL, 10),
                  .client = (uint32_t)strtoul(words[2] + 1, NULL, 10),
                  .txn = strtoull(words[3] + 1, NULL, 10),
                  .statement = (uint32_t)strtoul(words[0], NULL, 10)};
    int at = 5;

    while (strcmp(kinds[e.kind], words[4]) != 0)
        e.kind++;
    if (e.kind == HF_EVENT_READ || e.kind == HF_EVENT_WRITE) {
        e.key = text_key_of(t, words[5]);
        e.row = text_row_of(t, words[5]);
        e.value = text_value(t, words[6]);
        if (e.kind == HF_EVENT_WRITE && e.value == HF_EVENT_NO_ROW)
            e.flags |= HF_EVENT_DELETE;
        at = 7;
    } else if (e.kind == HF_EVENT_SCAN) {
        while (strcmp(t->scans[e.extra].name, words[5]) != 0)
            e.extra++;
        at = 6;
    }
    for (; at < n; at++) {
        if (strcmp(words[at], "for-update") == 0)
            e.flags |= HF_EVENT_FOR_UPDATE;
        if (strcmp(words[at], "for-share") == 0)
            e.flags |= HF_EVENT_FOR_SHARE;
        if (strcmp(words[at], "insert") == 0)
            e.flags |= HF_EVENT_INSERT;
        if (strcmp(words[at], "weaker") == 0)
            e.flags |= HF_EVENT_WEAKER;
        if (strcmp(words[at], "failed") == 0)
            e.flags |= HF_EVENT_FAILED;
        if (strncmp(words[at], "statement=", 10) == 0)
            e.statement = (uint32_t)strtoul(words[at] + 10, NULL, 10);
    }
    hf_vec_push(&t->events, e);
}

static void text_parse_line(watch_text *t, char *line)
{
    char *words[16], *at = line;
    int n = 0;

    if (line[0] == '#')
        return;
    if (strncmp(line, "profile ", 8) == 0) {
        (void)snprintf(t->profile, sizeof(t->profile), "%s", line + 8);
        return;
    }
    if (strncmp(line, "expect ", 7) == 0) {
        (void)snprintf(t->expect, sizeof(t->expect), "%s", line + 7);
        return;
    }
    while (n < 16) {
        at += strspn(at, " ");
        if (*at == '\0')
            break;
        words[n++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    if (n == 0)
        return;
    if (strcmp(words[0], "clock-error") == 0) {
        t->clock_error = strtoull(words[1], NULL, 10);
    } else if (strcmp(words[0], "key") == 0) {
        text_parse_key(t, words, n);
    } else if (strcmp(words[0], "scan") == 0) {
        (void)snprintf(t->scans[t->n_scans].name, sizeof(t->scans[0].name),
                       "%s", words[1]);
        t->scans[t->n_scans].first = strtoull(words[2], NULL, 10);
        t->scans[t->n_scans++].last = strtoull(words[3], NULL, 10);
    } else {
        text_parse_event(t, words, n);
    }
}

static void text_parse(watch_text *t, const char *text)
{
    *t = (watch_text){0};
    while (*text) {
        char line[256];
        size_t n = strcspn(text, "\n");

        (void)snprintf(line, sizeof(line), "%.*s", (int)n, text);
        text_parse_line(t, line);
        text += text[n] == '\n' ? n + 1 : n;
    }
    /* a stable sort by before */
    for (size_t i = 1; i < t->events.n; i++) {
        hf_event e = t->events.at[i];
        size_t k = i;

        for (; k > 0 && t->events.at[k - 1].before > e.before; k--)
            t->events.at[k] = t->events.at[k - 1];
        t->events.at[k] = e;
    }
}

/* Announces keys and scans. */
static void text_announce(watch_text *t, hf_watch *w)
{
    for (uint32_t k = 0; k < t->n_keys; k++) {
        hf_watch_key(w, k, t->keys[k].initial, t->keys[k].value);
        if (t->keys[k].is_placed)
            hf_watch_place(w, k, text_row_of(t, t->keys[k].name), 0,
                           t->keys[k].place);
    }
    for (uint32_t s = 0; s < t->n_scans; s++)
        hf_watch_scan(w, s, 0, t->scans[s].first, t->scans[s].last, false);
}

#endif

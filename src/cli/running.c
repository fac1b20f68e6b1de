/* running.c: a run as the command line asks for it. */
#include "cli/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/limits.h"
#include "history/history.h"
#include "store/bugs.h"
#include "workload/play.h"

#define DEFAULT_CLIENTS 10u
#define DEFAULT_RETRIES 3u
#define DEFAULT_FAULT_EVERY 3.0

/* ---- names --------------------------------------------------------------- */

const char *hf_choose_database(unsigned index)
{
    const hf_db_driver *d = hf_db_driver_at(index);

    return d ? d->name : NULL;
}

const char *hf_choose_running_workload(unsigned index)
{
    const hf_workload *w = hf_workload_at(index);

    return w ? w->name : NULL;
}

/* What databases call them, without "default". */
const char *hf_choose_isolation(unsigned index)
{
    return index + 1 < HF_DB_LEVEL_COUNT
               ? hf_db_level_name((hf_db_level)(index + 1))
               : NULL;
}

const char *hf_choose_bug(unsigned index)
{
    return index + 1 < HF_BUG_COUNT
               ? hf_store_bug_get((hf_store_bug)(index + 1))->name
               : NULL;
}

/* Each name once, whoever has it. */
const char *hf_choose_variant(unsigned index)
{
    const hf_db_driver *d;
    const char *seen[32];
    unsigned n = 0;

    for (unsigned i = 0; (d = hf_db_driver_at(i)) != NULL; i++)
        for (unsigned k = 0; d->variants && d->variants[k] && n < 32; k++) {
            unsigned same = 0;

            while (same < n && strcmp(seen[same], d->variants[k]) != 0)
                same++;
            if (same == n)
                seen[n++] = d->variants[k];
        }
    return index < n ? seen[index] : NULL;
}

static void suggest(const char *name, hf_choices choices, const char *other,
                    char *hint, size_t size)
{
    const char *near = hf_nearest(name, choices);

    if (near)
        (void)snprintf(hint, size, "did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, size, "%s", other);
}

/* ---- opening ------------------------------------------------------------- */

static const hf_db_driver *driver_named(const char *name)
{
    return hf_db_driver_find((hf_str){name, strcspn(name, ":")});
}

/* SmallBank; where rows can only be asked for by their keys the bank that asks
 * for none otherwise. */
static const char *default_workload(const hf_running_settings *set)
{
    const hf_db_driver *d = set->db ? driver_named(set->db) : NULL;

    return d && d->by_key ? "bank" : "smallbank";
}

static hf_status find_workload(hf_running *r, char *hint, size_t size,
                               hf_error *err)
{
    const char *name =
        r->set->workload ? r->set->workload : default_workload(r->set);
    char quoted[64];

    r->workload = hf_workload_named(hf_str_of(name));
    if (r->workload)
        return HF_OK;
    suggest(name, hf_choose_running_workload,
            "\"holdfast run --list\" lists the workloads", hint, size);
    return hf_fail(err, HF_ERR_USAGE, "unknown workload \"%s\"",
                   hf_quote(quoted, sizeof quoted, name, strlen(name)));
}

/* Each of the texts, which may have several parted by commas. */
static hf_status each_part(hf_play *p, const hf_texts *texts,
                           hf_status (*take)(hf_play *, hf_str, hf_error *),
                           hf_error *err)
{
    for (unsigned i = 0; i < texts->n; i++) {
        const char *at = texts->at[i];

        for (;;) {
            size_t n = strcspn(at, ",");
            hf_status st = take(p, (hf_str){at, n}, err);

            if (st != HF_OK)
                return st;
            if (at[n] == '\0')
                break;
            at += n + 1;
        }
    }
    return HF_OK;
}

static unsigned clients_of(const hf_running_settings *set)
{
    return set->clients.given ? (unsigned)set->clients.value : DEFAULT_CLIENTS;
}

static hf_status make_play(hf_running *r, hf_error *err)
{
    hf_status st;

    r->play = hf_play_new(r->workload, clients_of(r->set), r->seed);
    st = each_part(r->play, &r->set->set, hf_play_set, err);
    if (st == HF_OK)
        st = each_part(r->play, &r->set->mix, hf_play_weigh, err);
    return st;
}

/* The store keeps any of our levels, and has bugs. */
static hf_status settle_store(const hf_running *r, hf_db_options *o, char *hint,
                              size_t size, hf_error *err)
{
    const hf_running_settings *set = r->set;
    hf_store_bug bug = HF_BUG_NONE;
    const char *near = NULL;
    char quoted[64];

    o->level = HF_SERIALIZABLE;
    if (set->inject &&
        !hf_store_bug_find(hf_str_of(set->inject), &bug, &near)) {
        suggest(set->inject, hf_choose_bug,
                "\"holdfast gen --list-bugs\" lists the bugs", hint, size);
        return hf_fail(
            err, HF_ERR_USAGE, "unknown bug \"%s\"",
            hf_quote(quoted, sizeof quoted, set->inject, strlen(set->inject)));
    }
    if (set->inject) {
        o->level = hf_store_bug_get(bug)->shows_at;
        o->bug = set->inject;
        o->bug_percent = set->rate.given ? (unsigned)set->rate.value
                                         : hf_store_bug_get(bug)->percent;
    }
    if (set->isolation &&
        !hf_level_find(hf_str_of(set->isolation), &o->level, &near)) {
        suggest(set->isolation, hf_choose_level,
                "\"holdfast levels\" lists the levels", hint, size);
        return hf_fail(err, HF_ERR_USAGE, "unknown level \"%s\"",
                       hf_quote(quoted, sizeof quoted, set->isolation,
                                strlen(set->isolation)));
    }
    return HF_OK;
}

static bool is_store(const hf_db_driver *d)
{
    return strcmp(d->name, "store") == 0;
}

static hf_status unknown_database(const char *name, char *hint, size_t size,
                                  hf_error *err)
{
    size_t n = strcspn(name, ":="); /* an address may have a password */
    char start[32], quoted[40];

    (void)snprintf(start, sizeof start, "%.*s", (int)(n < 30 ? n : 30), name);
    if (name[n] == '=') {
        (void)snprintf(hint, size,
                       "an address is written as postgres://user:password@"
                       "host:port/database");
        return hf_fail(err, HF_ERR_USAGE,
                       "\"--db\" takes no words such as \"%s=\"",
                       hf_quote(quoted, sizeof quoted, start, strlen(start)));
    }
    suggest(start, hf_choose_database,
            "\"holdfast run --list\" lists the databases", hint, size);
    return hf_fail(err, HF_ERR_USAGE, "unknown database \"%s\"",
                   hf_quote(quoted, sizeof quoted, start, strlen(start)));
}

static void note(void *user, const char *text);

/* Where private servers and files go: TMPDIR, NULL for the system's own. */
static const char *temporary_directory(hf_running *r)
{
    const char *name = getenv("TMPDIR");
    const char *why;
    char text[300];

    if (!name || name[0] == '\0')
        return NULL;
    why = hf_db_directory_unfit(name);
    if (!why)
        return name;
    (void)snprintf(text, sizeof text, "TMPDIR \"%.120s\" %s: /tmp is used",
                   name, why);
    note(r, text);
    return NULL;
}

static hf_status open_database(hf_running *r, char *hint, size_t size,
                               hf_error *err)
{
    const hf_running_settings *set = r->set;
    const char *name = set->db ? set->db : "sqlite";
    const hf_db_driver *d = driver_named(name);
    hf_db_options o = {.schema = set->schema,
                       .keep = set->keep,
                       .clients = clients_of(set),
                       .call_seconds = set->deadline,
                       .seed = r->seed,
                       .variant = set->variant};
    hf_status st;

    if (!d)
        return unknown_database(name, hint, size, err);
    st = hf_running_check_options(set, d, err);
    if (st == HF_OK && is_store(d))
        st = settle_store(r, &o, hint, size, err);
    r->driver = d;
    if (st == HF_OK && d->heeds & HF_DB_HEEDS_KEEP && !strchr(name, ':'))
        o.directory = temporary_directory(r);
    if (st == HF_OK)
        st = hf_db_open(name, &o, &r->db, err);
    return st;
}

static hf_status no_such_level(const hf_running *r, hf_error *err)
{
    const hf_db_driver *d = r->driver;
    char quoted[64], names[200] = "";

    for (unsigned i = 0; i < d->n_promises; i++) {
        size_t n = strlen(names);

        (void)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                       hf_db_level_name(d->promises[i].level));
    }
    return hf_fail(err, HF_ERR_USAGE,
                   "%s has no isolation level \"%s\"; it has %s", d->name,
                   hf_quote(quoted, sizeof quoted, r->set->isolation,
                            strlen(r->set->isolation)),
                   names);
}

static hf_status find_isolation(hf_running *r, char *hint, size_t size,
                                hf_error *err)
{
    const char *name = r->set->isolation;
    const hf_db_promise *promise;

    r->level = HF_DB_SERIALIZABLE;
    if (is_store(r->driver))
        r->level = HF_DB_DEFAULT;
    else if (name && !hf_db_level_find(hf_str_of(name), &r->level))
        return no_such_level(r, err);
    promise = hf_db_promise_of(r->db, r->level);
    if (!promise && name)
        return no_such_level(r, err);
    if (!promise) {
        r->level = HF_DB_DEFAULT;
        promise = hf_db_promise_of(r->db, r->level);
    }
    if (!promise)
        return hf_fail(err, HF_ERR_USAGE, "%s promises no level",
                       r->driver->name);
    if (r->driver->by_key >> r->level & 1 && !r->workload->plain) {
        (void)snprintf(hint, size,
                       "\"holdfast run --list\" marks those that need no "
                       "conditions with *, such as bank; or choose another "
                       "--isolation");
        return hf_fail(err, HF_ERR_USAGE,
                       "workload \"%s\" asks for rows by conditions, which %s "
                       "cannot lock at %s",
                       r->workload->name, r->driver->name,
                       hf_db_level_name(r->level));
    }
    r->promised = promise->promised;
    (void)snprintf(r->where, sizeof r->where, "%s",
                   promise->where ? promise->where : "its documentation");
    return HF_OK;
}

static hf_status find_profile(hf_running *r, char *hint, size_t size,
                              hf_error *err)
{
    const hf_profile *p =
        is_store(r->driver)
            ? hf_watching_profile_of_store(r->promised)
            : hf_watching_profile_of(r->driver->name, r->set->variant,
                                     hf_running_isolation(r));

    r->watching = (hf_watching){.cli = r->cli,
                                .set = &r->set->watching,
                                .json = r->json,
                                .color = r->color,
                                .quiet = r->quiet};
    if (!r->set->watching.profile && !p)
        return hf_fail(err, HF_ERR_USAGE,
                       "no profile is known for %s at %s: name one with "
                       "--profile",
                       r->driver->name, hf_running_isolation(r));
    return hf_watching_find(&r->watching, p, hint, size, err);
}

hf_status hf_running_open(hf_running *r, char *hint, size_t hint_size,
                          hf_error *err)
{
    hf_status st;

    hf_limits_catch_end();
    hf_out_init_memory(&r->notes);
    r->seed = r->set->seed.given
                  ? r->set->seed.value
                  : (uint64_t)time(NULL) * 1000003u % 1000000007u;
    st = find_workload(r, hint, hint_size, err);
    if (st == HF_OK)
        st = make_play(r, err);
    if (st == HF_OK)
        st = open_database(r, hint, hint_size, err);
    if (st == HF_OK)
        st = find_isolation(r, hint, hint_size, err);
    if (st == HF_OK && r->set->watch)
        st = find_profile(r, hint, hint_size, err);
    if (st != HF_OK) {
        hf_running_close(r);
        return st;
    }
    r->driver->describe(r->db, &r->about);
    (void)snprintf(r->name, sizeof r->name, "%s, %s at %s", r->workload->name,
                   r->about.product, hf_running_isolation(r));
    return HF_OK;
}

void hf_running_close(hf_running *r)
{
    hf_watching_close(&r->watching);
    hf_db_close(r->db);
    hf_play_free(r->play);
    hf_out_release(&r->notes);
    r->db = NULL;
    r->play = NULL;
}

/* ---- running ------------------------------------------------------------- */

static bool asked_to_stop(void *user)
{
    hf_running *r = user;

    return hf_cli_interrupted() || atomic_load(&r->watching.enough);
}

static const char *size_words(uint64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes;
    unsigned unit = 0;

    for (; n >= 1024 && unit < 4; unit++)
        n /= 1024;
    (void)snprintf(buffer, size, unit == 0 ? "%.0f %s" : "%.1f %s", n,
                   units[unit]);
    return buffer;
}

static const char *time_words(double seconds, char *buffer, size_t size)
{
    if (seconds < 1e-3)
        (void)snprintf(buffer, size, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        (void)snprintf(buffer, size, "%.1f ms", seconds * 1e3);
    else
        (void)snprintf(buffer, size, "%.1f s", seconds);
    return buffer;
}

static uint64_t all_of(const hf_run_progress *p)
{
    return p->committed + p->aborted + p->unknown;
}

static void show(void *user, const hf_run_progress *p)
{
    hf_running *r = user;
    char line[240], size[32], median[32], slow[32];
    uint64_t all = all_of(p);

    (void)snprintf(
        line, sizeof line,
        "%.0f txn/s, %.1f%% aborted, %llu unknown, %s (99%%: %s), %s",
        p->seconds > 0 ? (double)all / p->seconds : 0,
        all ? 100.0 * (double)p->aborted / (double)all : 0,
        (unsigned long long)p->unknown,
        time_words(p->median, median, sizeof median),
        time_words(p->slow, slow, sizeof slow),
        size_words(p->bytes, size, sizeof size));
    hf_progress_update(&r->cli->progress, line, 0, 0);
}

static void note(void *user, const char *text)
{
    hf_running *r = user;

    hf_out_format(&r->notes, "%s\n", text);
    hf_progress_erase(&r->cli->progress);
    if (!r->quiet)
        hf_cli_note(r->cli, "%s", text);
}

/* What is written is judged as well; while that takes its time the recorder
 * waits, and the clients when its queue is full. */
static void watch_piece(void *user, const hf_history *h)
{
    hf_running *r = user;

    (void)hf_watcher_piece(r->watching.watcher, h);
}

static hf_status start_watching(hf_running *r, hf_error *err)
{
    hf_watching *w = &r->watching;
    char name[16];

    w->is_ours = true; /* the tables are ours, and what is loaded is said */
    hf_watching_open(w, false, true, 0);
    hf_watcher_begin(w->watcher, HF_SESSIONS_LIVE);
    for (unsigned i = 0; i < clients_of(r->set); i++) {
        (void)snprintf(name, sizeof name, "%u", i);
        hf_watcher_expect(w->watcher, hf_str_of(name));
    }
    return hf_watching_spawn(w, err);
}

hf_status hf_running_run(hf_running *r, const hf_running_output *out,
                         hf_error *err)
{
    const hf_running_settings *set = r->set;
    bool bounded = set->transactions.given || set->seconds > 0;
    hf_run_options o = {
        .db = r->db,
        .play = r->play,
        .level = r->level,
        .label = (uint8_t)r->promised,
        .clients = clients_of(set),
        .transactions = bounded ? set->transactions.value : out->transactions,
        .seconds = bounded ? set->seconds : out->seconds,
        .retries =
            set->retries.given ? (unsigned)set->retries.value : DEFAULT_RETRIES,
        .seed = r->seed,
        .output = out->path,
        .text = out->text,
        .replace = out->replace,
        .sql = set->sql,
        .name = r->name,
        .faults = set->faults,
        .fault_every =
            set->fault_every > 0 ? set->fault_every : DEFAULT_FAULT_EVERY,
        .stop = asked_to_stop,
        .progress = show,
        .note = note,
        .user = r};
    hf_status st = HF_OK;

    if (set->watch) {
        o.piece = watch_piece;
        o.piece_user = r;
        st = start_watching(r, err);
    }
    if (st != HF_OK)
        return st;
    hf_progress_begin(&r->cli->progress, "loading");
    st = hf_run(&o, &r->report, err);
    hf_progress_erase(&r->cli->progress);
    if (set->watch) {
        hf_watcher_end(r->watching.watcher);
        hf_watching_join(&r->watching);
    }
    return st;
}

int hf_running_watched(hf_running *r)
{
    int status;

    if (!r->watching.watcher)
        return HF_EXIT_VALID;
    hf_cli_flush(r->cli);
    status = hf_watching_end(&r->watching);
    hf_watching_close(&r->watching);
    return status;
}

/* ---- words --------------------------------------------------------------- */

static void print_more(hf_out *out, uint64_t n, const char *format)
{
    char number[32];

    if (n > 0)
        hf_out_format(out, format, hf_grouped(n, number, sizeof number));
}

static void print_counts(const hf_running *r, hf_out *out)
{
    const hf_run_report *report = &r->report;
    const hf_run_progress *p = &report->end;
    uint64_t all = all_of(p);
    char n[2][32], size[32], median[32], slow[32];

    hf_out_format(out, "%s %s in %.1f s (%.0f/s): %s committed",
                  hf_grouped(all, n[0], sizeof n[0]),
                  hf_plural(all, "transaction", "transactions"), p->seconds,
                  p->seconds > 0 ? (double)all / p->seconds : 0,
                  hf_grouped(p->committed, n[1], sizeof n[1]));
    hf_out_format(out, ", %s aborted",
                  hf_grouped(p->aborted, n[0], sizeof n[0]));
    print_more(out, report->given_up, " (%s by the application)");
    hf_out_format(out, ", %s unknown",
                  hf_grouped(p->unknown, n[0], sizeof n[0]));
    print_more(out, report->retries, "; tried again: %s");
    print_more(out, report->reconnects, "; connections lost: %s");
    print_more(out, report->faults, "; faults: %s");
    hf_out_format(out,
                  "\nlatency %s, 99 %% below %s; history %s, %s operations\n",
                  time_words(p->median, median, sizeof median),
                  time_words(p->slow, slow, sizeof slow),
                  size_words(p->bytes, size, sizeof size),
                  hf_grouped(report->operations, n[0], sizeof n[0]));
}

/* What the verdict cannot know. */
static void print_scans(const hf_run_report *report, hf_out *out)
{
    char n[32];

    if (report->scans > 0)
        hf_out_format(out,
                      "%s scans are recorded as reads of the rows they "
                      "returned: rows they missed (phantoms) are not judged\n",
                      hf_grouped(report->scans, n, sizeof n));
}

const char *hf_running_unchecked(const hf_running *r)
{
    if (!r->workload->check || r->report.checked)
        return NULL;
    return r->report.unchecked[0] ? r->report.unchecked
                                  : "the run did not end as asked";
}

static void print_breaches(const hf_running *r, hf_out *out)
{
    const hf_breach *b;
    uint64_t all = hf_play_breaches(r->play);
    unsigned i;

    if (hf_running_unchecked(r))
        hf_out_format(out, "invariants: not looked at: %s\n",
                      hf_running_unchecked(r));
    else if (r->workload->check && all == 0)
        hf_out_text(out, "invariants: all hold\n");
    for (i = 0; i < 5 && (b = hf_play_breach_at(r->play, i)) != NULL; i++)
        hf_out_format(out, "invariant %s does not hold: %s\n", b->name,
                      b->text);
    if (all > i)
        hf_out_format(out, "... and %llu more\n",
                      (unsigned long long)(all - i));
}

uint64_t hf_running_breaches(const hf_running *r)
{
    return hf_play_breaches(r->play);
}

bool hf_running_breach(const hf_running *r, unsigned i, const char **ret_name,
                       const char **ret_text)
{
    const hf_breach *b = hf_play_breach_at(r->play, i);

    if (!b)
        return false;
    *ret_name = b->name;
    *ret_text = b->text;
    return true;
}

unsigned hf_running_clients(const hf_running *r)
{
    return clients_of(r->set);
}

const char *hf_running_workload(const hf_running *r)
{
    return r->workload->name;
}

const char *hf_running_isolation(const hf_running *r)
{
    return is_store(r->driver) ? hf_level_get(r->promised)->name
                               : hf_db_level_name(r->level);
}

void hf_running_print(const hf_running *r, hf_out *out)
{
    hf_out_format(out, "%s, %u clients, seed %llu\n", r->name,
                  clients_of(r->set), (unsigned long long)r->seed);
    print_counts(r, out);
    print_scans(&r->report, out);
    print_breaches(r, out);
}

/* A word of a command line; quoted where a shell would take it apart. */
static void put_word(hf_out *out, const char *word)
{
    if (word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_=.,:/@+%") == strlen(word)) {
        hf_out_text(out, word);
        return;
    }
    hf_out_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            hf_out_text(out, "'\\''");
        else
            hf_out_char(out, *word);
    }
    hf_out_char(out, '\'');
}

static void put_option(hf_out *out, const char *name, const char *value)
{
    if (!value)
        return;
    hf_out_format(out, " --%s ", name);
    put_word(out, value);
}

static void put_number(hf_out *out, const char *name, hf_number n)
{
    if (n.given)
        hf_out_format(out, " --%s %llu", name, (unsigned long long)n.value);
}

static void put_seconds(hf_out *out, const char *name, double seconds)
{
    if (seconds > 0)
        hf_out_format(out, " --%s %.9gs", name, seconds);
}

/* "postgres://user:secret@host" without the secret. */
static void put_address(hf_out *out, const char *address)
{
    static const char hidden[] = "PASSWORD";
    char *shown = hf_alloc(sizeof hidden * (strlen(address) + 1));
    size_t from = 0, to = 0, at, n;

    while ((n = hf_find_secret(address, from, &at)) > 0) {
        memcpy(shown + to, address + from, at - from);
        to += at - from;
        memcpy(shown + to, hidden, sizeof hidden - 1);
        to += sizeof hidden - 1;
        from = at + n;
    }
    memcpy(shown + to, address + from, strlen(address + from) + 1);
    put_option(out, "db", shown);
    hf_free(shown);
}

void hf_running_words(const hf_running *r, hf_out *out)
{
    const hf_running_settings *set = r->set;

    if (set->db)
        put_address(out, set->db);
    put_option(out, "workload", r->workload->name);
    put_option(out, "isolation", set->isolation);
    put_option(out, "inject", set->inject);
    put_option(out, "variant", set->variant);
    put_option(out, "schema", set->schema);
    for (unsigned i = 0; i < set->set.n; i++)
        put_option(out, "set", set->set.at[i]);
    for (unsigned i = 0; i < set->mix.n; i++)
        put_option(out, "mix", set->mix.at[i]);
    put_number(out, "clients", set->clients);
    put_number(out, "transactions", set->transactions);
    put_seconds(out, "time", set->seconds);
    put_number(out, "retries", set->retries);
    put_number(out, "rate", set->rate);
    for (unsigned f = 0; f < HF_FAULT_COUNT; f++)
        if (set->faults & 1u << f)
            put_option(out, "faults", hf_fault_name(f));
    put_seconds(out, "fault-every", set->fault_every);
    put_seconds(out, "deadline", set->deadline);
    if (set->sql)
        hf_out_text(out, " --sql");
    hf_out_format(out, " --seed %llu", (unsigned long long)r->seed);
}

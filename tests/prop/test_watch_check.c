/* test_watch_check.c: watch against check, on the same recorded histories.
 *
 *     test_watch_check [HISTORIES [SEED]]
 *
 * Histories of the embedded store, sound or with a bug, with the times of
 * operations and the true certificate, judged by check at the level with real
 * time.  Of the sound store check says valid, and watch reports nothing.  Of
 * stores with bugs it is counted how often watch finds what check refutes, and
 * how often it reports a mechanism that is broken though the level is kept, by
 * luck: a commit that a certifier had to refuse need not be in a cycle.  What
 * is printed at the end calls that broken; "invalid" it says of nothing that
 * check finds kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "check/check.h"
#include "history/builder.h"
#include "report/watch.h"
#include "watch/watcher.h"
#include "workload/generate.h"

#define DEFAULT_HISTORIES 600

static const hf_store_bug bugs[] = {
    HF_BUG_NONE,           HF_BUG_LOST_UPDATE,
    HF_BUG_STALE_SNAPSHOT, HF_BUG_SNAPSHOT_PER_STATEMENT,
    HF_BUG_COMMIT_LOST,    HF_BUG_WRITE_SKEW,
    HF_BUG_LONG_FORK,      HF_BUG_CERTIFIER_FORGETS};
#define N_BUGS (sizeof(bugs) / sizeof(bugs[0]))

static bool count(void *user, hf_watcher *w, const hf_violation *v)
{
    uint64_t *n = user;

    (void)w;
    (void)v;
    ++*n;
    return true;
}

static hf_history *generate(const hf_generate_options *o)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_generate(o, b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK) {
        fprintf(stderr, "could not generate: %s\n", err.text);
        exit(2);
    }
    return h;
}

/* What is printed at the end, in JSON and in words. */
static void print_end(hf_watcher *w, const hf_profile *profile, hf_out *out)
{
    hf_watcher_stats stats;
    hf_watch_ending e = {.profile = profile, .stats = &stats};

    hf_watcher_look(w, &stats);
    hf_watch_ending_write(&e, out);
    hf_watch_ending_print(&e, false, out);
}

static bool says(hf_out *out, const char *what)
{
    hf_str text = hf_out_view(out);

    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

static uint64_t watch(const hf_history *h, const char *name, hf_out *out)
{
    uint64_t n = 0;
    const hf_profile *profile = hf_profile_find(hf_str_of(name), NULL);
    hf_watcher *w = hf_watcher_new(&(hf_watcher_options){
        .watch = {.profile = profile}, .violation = count, .user = &n});

    hf_watcher_begin(w, HF_SESSIONS_SORTED);
    (void)hf_watcher_piece(w, h);
    hf_watcher_end(w);
    hf_watcher_consume(w);
    print_end(w, profile, out);
    hf_watcher_free(w);
    return n;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_HISTORIES;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t valid = 0, invalid = 0, found = 0, lucky = 0, failures = 0;
    const hf_engine *graph = hf_engine_find(HF_STR("graph"));

    for (uint64_t i = 0; i < n; i++) {
        hf_generate_options o;
        hf_history *h;
        hf_result *r = NULL;
        hf_rng rng;
        hf_error err;
        hf_out end;
        bool serializable = i % 2 == 0;
        uint64_t told;

        hf_rng_seed(&rng, seed + i);
        hf_generate_defaults(&o, HF_WORKLOAD_REGISTER, bugs[i / 2 % N_BUGS]);
        o.level = serializable ? HF_SERIALIZABLE : HF_SNAPSHOT_ISOLATION;
        o.transactions = 10 + hf_rng_below(&rng, 120);
        o.keys = 2 + hf_rng_below(&rng, 12);
        o.sessions = 2 + hf_rng_below(&rng, 6);
        o.min_ops = 1;
        o.max_ops = 1 + hf_rng_below(&rng, 6);
        o.seed = seed + i;
        o.times = o.intervals = o.certificate = o.unique_values = true;
        h = generate(&o);
        if (graph->check(h,
                         serializable ? HF_STRICT_SERIALIZABLE
                                      : HF_STRICT_SNAPSHOT_ISOLATION,
                         NULL, NULL, &r, &err) != HF_OK) {
            fprintf(stderr, "check failed: %s\n", err.text);
            return 2;
        }
        hf_out_init_memory(&end);
        told = watch(h, serializable ? "store/serializable" : "store/si", &end);
        valid += r->verdict == HF_VALID;
        invalid += r->verdict == HF_INVALID;
        found += r->verdict == HF_INVALID && told > 0;
        if (told > 0 && r->verdict != HF_INVALID && o.bug != HF_BUG_NONE)
            lucky++;
        else if (told > 0 && r->verdict != HF_INVALID && failures++ < 5)
            fprintf(stderr,
                    "seed %" PRIu64 ", %s: watch reports what check does not "
                    "refute\n",
                    seed + i, hf_store_bug_get(o.bug)->name);
        if (r->verdict != HF_INVALID && says(&end, "invalid") && failures++ < 5)
            fprintf(stderr, "seed %" PRIu64 ": invalid, and check: kept\n",
                    seed + i);
        if ((told > 0) !=
                (says(&end, "\"verdict\":\"broken\"") &&
                 says(&end, "was kept all the same, \"holdfast check\"")) &&
            failures++ < 5)
            fprintf(stderr, "seed %" PRIu64 ": the end does not say so\n",
                    seed + i);
        hf_out_release(&end);
        hf_result_free(r);
        hf_history_free(h);
    }
    printf("%" PRIu64 " valid, %" PRIu64 " invalid, of these %" PRIu64
           " found by watch; %" PRIu64 " valid with a broken mechanism\n",
           valid, invalid, found, lucky);
    return failures > 0 || valid == 0 || found < invalid * 9 / 10;
}

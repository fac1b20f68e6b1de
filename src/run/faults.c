/* faults.c: what is done to the database while clients use it.
 *
 * One thread injects one fault at a time, chosen by the seed, about every so
 * many seconds; each lasts for a third of that and is ended before the next
 * and before the run ends.  All are notes in the history.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "run/runner_impl.h"

#define SHORTEST 0.05
#define LONGEST 3.0

static const char *const names[HF_FAULT_COUNT] = {
    [HF_FAULT_KILL] = "kill",           [HF_FAULT_PAUSE] = "pause",
    [HF_FAULT_RESTART] = "restart",     [HF_FAULT_CUT_CLIENT] = "cut-client",
    [HF_FAULT_PARTITION] = "partition",
};

const char *hf_fault_name(unsigned f)
{
    return f < HF_FAULT_COUNT ? names[f] : NULL;
}

hf_status hf_faults_check(const hf_run_options *o, hf_error *err)
{
    const hf_db_driver *d = o->db->driver;

    for (unsigned f = 0; f < HF_FAULT_COUNT; f++) {
        char why[200] = "";

        if (!(o->faults & 1u << f))
            continue;
        if (!d->fault || !d->can_fault)
            return hf_fail(err, HF_ERR_USAGE,
                           "%s has no faults that could be injected", d->name);
        if (!d->can_fault(o->db, (hf_db_fault)f, why, sizeof(why)))
            return hf_fail(err, HF_ERR_USAGE,
                           "fault \"%s\" is not possible with %s: %s", names[f],
                           d->name, why);
    }
    return HF_OK;
}

static hf_db_fault choose(const hf_runner *r, hf_rng *rng)
{
    unsigned n = 0, which;

    for (unsigned f = 0; f < HF_FAULT_COUNT; f++)
        n += (r->o->faults >> f) & 1u;
    which = hf_rng_below(rng, n);
    for (unsigned f = 0; f < HF_FAULT_COUNT; f++)
        if ((r->o->faults >> f) & 1u && which-- == 0)
            return (hf_db_fault)f;
    return HF_FAULT_CUT_CLIENT;
}

static double length_of(double every)
{
    double length = every / 3;

    if (length < SHORTEST)
        return SHORTEST;
    return length > LONGEST ? LONGEST : length;
}

/* "-- fault: kill, node 1", from its begin to its end. */
static void put_note(hf_runner *r, hf_db_fault f, uint64_t begin, uint64_t end)
{
    const char *whom = r->o->db->struck;
    size_t size = strlen(names[f]) + strlen(whom) + 20;
    char *text = hf_alloc(size);

    (void)snprintf(text, size, "-- fault: %s, %s", names[f], whom);
    hf_vec_push(&r->texts, text); /* now the runner's */
    hf_recorder_note(r->recorder, text, begin, end);
}

static void inject(hf_runner *r, hf_db_fault f, uint64_t seed)
{
    hf_db *db = r->o->db;
    uint64_t begin = hf_runner_now(r), end;
    hf_error err = {0};
    hf_status st = db->driver->fault(db, f, seed, true, &err);

    if (st == HF_OK) {
        hf_runner_note(r, "fault after %.1f s: %s, %s",
                       (double)(begin - r->clients_epoch) / 1e9, names[f],
                       db->struck);
        (void)hf_runner_sleep(r, length_of(r->o->fault_every));
        st = db->driver->fault(db, f, seed, false, &err);
    }
    end = hf_runner_now(r);
    if (r->recorder)
        put_note(r, f, begin, end);
    if (st != HF_OK) {
        hf_error_context(&err, "fault \"%s\"", names[f]);
        hf_runner_fail(r, &err);
        return;
    }
    atomic_fetch_add(&r->faults, 1);
}

static void *work(void *user)
{
    hf_runner *r = user;
    hf_rng rng;

    hf_rng_seed(&rng, hf_mix64(r->o->seed ^ 0x6661756c7473u));
    while (
        hf_runner_sleep(r, r->o->fault_every * (0.5 + hf_rng_unit(&rng) / 2))) {
        hf_db_fault f = choose(r, &rng);

        inject(r, f, hf_rng_next(&rng));
    }
    return NULL;
}

hf_status hf_faults_start(hf_runner *r, hf_error *err)
{
    if (r->o->faults == 0)
        return HF_OK;
    if (pthread_create(&r->fault_thread, NULL, work, r) != 0)
        return hf_fail(err, HF_ERR_IO, "could not start a thread");
    r->has_fault_thread = true;
    return HF_OK;
}

void hf_faults_end(hf_runner *r)
{
    if (r->has_fault_thread)
        pthread_join(r->fault_thread, NULL);
    r->has_fault_thread = false;
}

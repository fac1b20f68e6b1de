/* running_options.c: options of a run that would have no effect are refused,
 * before anything is started.
 *
 * What each database heeds is in its driver's table (db.h); the rest needs
 * another option to mean anything.
 */
#include "cli/running.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

/* An option, whether it was given, and what it needs. */
typedef struct row {
    const char *name;
    bool given;
    const char *needs; /* the other option */
    bool has;
} row;

static hf_status without(const row *rows, size_t n, hf_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].given && !rows[i].has)
            return hf_fail(err, HF_ERR_USAGE,
                           "option \"--%s\" has no effect without \"--%s\"",
                           rows[i].name, rows[i].needs);
    return HF_OK;
}

static hf_status check_pairs(const hf_running_settings *set, hf_error *err)
{
    const row rows[] = {
        {"rate", set->rate.given, "inject", set->inject != NULL},
        {"fault-every", set->fault_every > 0, "faults", set->faults != 0},
        {"profile", set->watching.profile != NULL, "watch", set->watch},
        {"clock-error", set->watching.clock_error > 0, "watch", set->watch},
        {"stop-on-violation", set->watching.stop, "watch", set->watch},
    };

    return without(rows, sizeof rows / sizeof rows[0], err);
}

static hf_status not_of(const hf_db_driver *d, const char *option,
                        const char *why, hf_error *err)
{
    return hf_fail(err, HF_ERR_USAGE, "option \"--%s\" has no effect on %s: %s",
                   option, d->name, why);
}

/* What only a private instance has. */
static hf_status check_address(const hf_running_settings *set,
                               const hf_db_driver *d, hf_error *err)
{
    const char *colon = set->db ? strchr(set->db, ':') : NULL;

    if (!colon)
        return HF_OK;
    if (!(d->heeds & HF_DB_HEEDS_ADDRESS))
        return hf_fail(err, HF_ERR_USAGE,
                       "%s is always private: it has no address; \"--db %s\" "
                       "is all there is to say",
                       d->name, d->name);
    if (colon[1] == '\0')
        return hf_fail(err, HF_ERR_USAGE,
                       "there is no address after \"%.*s:\"; \"--db %s\" "
                       "starts a private one",
                       (int)(colon - set->db), set->db, d->name);
    if (set->keep)
        return not_of(d, "keep", "nothing private is started at an address",
                      err);
    if (set->variant && d->heeds & HF_DB_HEEDS_PROGRAMS)
        return not_of(d, "variant",
                      "no programs are started for one with an address", err);
    return HF_OK;
}

static hf_status check_variant(const char *name, const hf_db_driver *d,
                               hf_error *err)
{
    char quoted[64], names[160] = "";

    if (!name || !d->variants)
        return HF_OK;
    for (unsigned i = 0; d->variants[i]; i++) {
        size_t n = strlen(names);

        if (hf_str_same_name(hf_str_of(name), hf_str_of(d->variants[i])))
            return HF_OK;
        (void)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                       d->variants[i]);
    }
    return hf_fail(err, HF_ERR_USAGE, "%s has no variant \"%s\"; it has %s",
                   d->name, hf_quote(quoted, sizeof quoted, name, strlen(name)),
                   names);
}

hf_status hf_running_check_options(const hf_running_settings *set,
                                   const hf_db_driver *d, hf_error *err)
{
    hf_status st = check_pairs(set, err);

    /* one that is not in this build says so itself */
    if (st != HF_OK || !d->connect)
        return st;
    if (set->inject && !(d->heeds & HF_DB_HEEDS_BUGS))
        return hf_fail(err, HF_ERR_USAGE,
                       "option \"--inject\" is of the store; this is %s",
                       d->name);
    if (set->schema && !(d->heeds & HF_DB_HEEDS_SCHEMA))
        return not_of(d, "schema", "it has no schemas", err);
    if (set->deadline > 0 && !(d->heeds & HF_DB_HEEDS_DEADLINE))
        return not_of(d, "deadline",
                      "its calls run in the client: none is given up", err);
    if (set->keep && !(d->heeds & HF_DB_HEEDS_KEEP))
        return not_of(d, "keep", "it has no files", err);
    st = check_variant(set->variant, d, err);
    return st == HF_OK ? check_address(set, d, err) : st;
}

hf_status hf_running_check_list(const hf_running_settings *set, hf_error *err)
{
    const row rows[] = {
        {"isolation", set->isolation != NULL, NULL, false},
        {"inject", set->inject != NULL, NULL, false},
        {"variant", set->variant != NULL, NULL, false},
        {"schema", set->schema != NULL, NULL, false},
        {"set", set->set.n > 0, NULL, false},
        {"mix", set->mix.n > 0, NULL, false},
        {"clients", set->clients.given, NULL, false},
        {"transactions", set->transactions.given, NULL, false},
        {"retries", set->retries.given, NULL, false},
        {"seed", set->seed.given, NULL, false},
        {"rate", set->rate.given, NULL, false},
        {"time", set->seconds > 0, NULL, false},
        {"fault-every", set->fault_every > 0, NULL, false},
        {"deadline", set->deadline > 0, NULL, false},
        {"faults", set->faults != 0, NULL, false},
        {"sql", set->sql, NULL, false},
        {"keep", set->keep, NULL, false},
        {"watch", set->watch, NULL, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given)
            return hf_fail(err, HF_ERR_USAGE,
                           "option \"--%s\" has no effect with \"--list\"",
                           rows[i].name);
    return check_pairs(set, err);
}

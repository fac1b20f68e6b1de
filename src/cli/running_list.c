/* running_list.c: the databases and workloads there are, as lists; and a run
 * as JSON. */
#include "cli/running.h"

#include "base/error.h"
#include "base/json_out.h"
#include "cli/help.h"
#include "cli/tables.h"
#include "workload/play.h"

/* ---- JSON ---------------------------------------------------------------- */

static void put_count(hf_json *j, const char *name, uint64_t n)
{
    hf_json_key(j, name);
    hf_json_uint(j, n);
}

static void put_breaches(const hf_running *r, hf_json *j)
{
    const hf_breach *b;

    put_count(j, "breaches", hf_play_breaches(r->play));
    hf_json_key(j, "invariants");
    hf_json_text(j, !r->workload->check         ? "none"
                    : !r->report.checked        ? "not looked at"
                    : hf_play_breaches(r->play) ? "broken"
                                                : "hold");
    hf_json_key(j, "broken");
    hf_json_array(j);
    for (unsigned i = 0; (b = hf_play_breach_at(r->play, i)) != NULL; i++) {
        hf_json_object(j);
        hf_json_key(j, "name");
        hf_json_text(j, b->name);
        hf_json_key(j, "text");
        hf_json_text(j, b->text);
        hf_json_end(j);
    }
    hf_json_end(j);
}

void hf_running_json(const hf_running *r, const char *history, hf_out *out)
{
    const hf_run_progress *p = &r->report.end;
    hf_json j;

    hf_json_begin(&j, "run", out);
    hf_json_key(&j, "history");
    hf_json_text(&j, history);
    hf_json_key(&j, "database");
    hf_json_text(&j, r->driver->name);
    hf_json_key(&j, "product");
    hf_json_text(&j, r->about.product);
    hf_json_key(&j, "workload");
    hf_json_text(&j, r->workload->name);
    hf_json_key(&j, "isolation");
    hf_json_text(&j, hf_db_level_name(r->level));
    hf_json_key(&j, "promised");
    hf_json_text(&j, hf_level_get(r->promised)->name);
    put_count(&j, "seed", r->seed);
    put_count(&j, "committed", p->committed);
    put_count(&j, "aborted", p->aborted);
    put_count(&j, "unknown", p->unknown);
    put_count(&j, "given_up", r->report.given_up);
    put_count(&j, "retries", r->report.retries);
    put_count(&j, "reconnects", r->report.reconnects);
    put_count(&j, "faults", r->report.faults);
    put_count(&j, "operations", r->report.operations);
    put_count(&j, "bytes", p->bytes);
    hf_json_key(&j, "seconds");
    hf_json_real(&j, p->seconds);
    hf_json_key(&j, "latency_median");
    hf_json_real(&j, p->median);
    hf_json_key(&j, "latency_99");
    hf_json_real(&j, p->slow);
    put_breaches(r, &j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

/* ---- lists --------------------------------------------------------------- */

static void list_database(const hf_db_driver *d, hf_out *out)
{
    hf_entry_print(d->name, "", d->summary, out);
    for (unsigned k = 0; k < d->n_promises; k++)
        hf_out_format(
            out, "      %s: %s%s\n", hf_db_level_name(d->promises[k].level),
            hf_level_get(d->promises[k].promised)->name,
            d->by_key >> d->promises[k].level & 1 ? " (rows by their keys only)"
                                                  : "");
    for (unsigned k = 0; d->variants && d->variants[k]; k++)
        hf_out_format(out, "%s%s", k ? ", " : "      --variant ",
                      d->variants[k]);
    if (d->variants)
        hf_out_char(out, '\n');
}

static void list_databases(hf_out *out)
{
    const hf_db_driver *d;

    hf_out_text(out, "databases (--db), and what they promise at which "
                     "--isolation:\n\n");
    for (unsigned i = 0; (d = hf_db_driver_at(i)) != NULL; i++)
        list_database(d, out);
}

static void list_workloads(hf_out *out)
{
    const hf_workload *w;

    hf_out_text(out, "\nworkloads (--workload), * where rows can be asked for "
                     "by their keys only:\n\n");
    for (unsigned i = 0; (w = hf_workload_at(i)) != NULL; i++)
        hf_entry_print(w->name, w->plain ? "*" : "", w->summary, out);
    hf_out_text(out, "\nmore about one: holdfast run --list --workload NAME\n");
}

static void list_one(const hf_workload *w, hf_out *out)
{
    double all = 0;

    hf_entry_print(w->name, w->plain ? "*" : "", w->summary, out);
    for (unsigned i = 0; i < w->n_types; i++)
        all += w->types[i].weight;
    hf_out_text(out, "\ntransactions (--mix NAME=WEIGHT):\n\n");
    for (unsigned i = 0; i < w->n_types; i++)
        hf_out_format(out, "  %-24s %g%s (%.1f %%)\n", w->types[i].name,
                      w->types[i].weight,
                      w->types[i].read_only ? ", reads only" : "",
                      all > 0 ? 100 * w->types[i].weight / all : 0);
    if (w->n_options > 0)
        hf_out_text(out, "\noptions (--set NAME=VALUE):\n\n");
    for (unsigned i = 0; i < w->n_options; i++) {
        const hf_workload_option *o = &w->options[i];
        const char *word = hf_option_word(o, (unsigned)o->value);

        hf_out_format(out, "  %-24s ", o->name);
        if (word)
            hf_out_text(out, word);
        else
            hf_out_format(out, "%g", o->value);
        hf_out_format(out, "  %s\n", o->summary);
    }
}

static int list_named(hf_cli *cli, const hf_running_settings *set,
                      hf_error *err)
{
    const hf_db_driver *d =
        set->db ? hf_db_driver_find(hf_str_of(set->db)) : NULL;
    const hf_workload *w =
        set->workload ? hf_workload_named(hf_str_of(set->workload)) : NULL;

    if (set->db && !d) {
        (void)hf_fail(err, HF_ERR_USAGE, "unknown database \"%.*s\"",
                      (int)strcspn(set->db, ":="), set->db);
        return hf_cli_fail(cli, HF_ERR_USAGE, err,
                           "\"holdfast run --list\" lists the databases");
    }
    if (set->workload && !w) {
        (void)hf_fail(err, HF_ERR_USAGE, "unknown workload \"%.60s\"",
                      set->workload);
        return hf_cli_fail(cli, HF_ERR_USAGE, err,
                           "\"holdfast run --list\" lists the workloads");
    }
    if (d)
        list_database(d, &cli->out);
    if (w)
        list_one(w, &cli->out);
    return HF_EXIT_VALID;
}

int hf_running_list(hf_cli *cli, const hf_running_settings *set)
{
    hf_error err;
    hf_status st = hf_running_check_list(set, &err);

    if (st != HF_OK)
        return hf_cli_fail(cli, st, &err, NULL);
    if (set->workload || set->db)
        return list_named(cli, set, &err);
    list_databases(&cli->out);
    list_workloads(&cli->out);
    return HF_EXIT_VALID;
}

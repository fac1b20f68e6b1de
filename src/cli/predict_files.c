/* predict_files.c: what `holdfast predict -o DIR` leaves behind. */
#include "cli/predicting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json_out.h"
#include "history/text.h"
#include "report/html.h"

#define PATH_SIZE 700
#define MOST_BREACHES 20u

typedef struct file {
    const hf_predicting *g;
    const hf_told_prediction *t; /* NULL: of the whole */
    uint32_t number;             /* of it, from 1 */
    const hf_history *h;
} file;

typedef void (*content)(const file *f, hf_out *out);

static hf_status write_file(const file *f, const char *name, content put,
                            hf_error *err)
{
    char path[PATH_SIZE];
    hf_status st;
    hf_out out;
    int fd;

    (void)snprintf(path, sizeof path, "%.500s/%s", f->g->set->output, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "could not write \"%.200s\": %s", path,
                       strerror(errno));
    hf_out_init_fd(&out, fd);
    put(f, &out);
    st = hf_out_close(&out, err);
    if (close(fd) != 0 && st == HF_OK)
        st = hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
    if (st != HF_OK)
        hf_error_context(err, "could not write \"%.200s\"", path);
    return st;
}

/* ---- contents ------------------------------------------------------------ */

static void put_history(const file *f, hf_out *out)
{
    hf_text_write(f->h, out);
}

static void put_plan(const file *f, hf_out *out)
{
    const hf_predicting *g = f->g;
    hf_plan plan;
    hf_json j;

    hf_prediction_plan(g->h, f->t->p, &plan);
    hf_json_init(&j, out);
    hf_json_object(&j);
    hf_json_key(&j, "type");
    hf_json_text(&j, "plan");
    hf_json_key(&j, "schema");
    hf_json_int(&j, 1);
    hf_json_key(&j, "level");
    hf_json_text(&j, g->target->name);
    if (g->app) {
        hf_json_key(&j, "workload");
        hf_json_text(&j, g->name);
        hf_json_key(&j, "seed");
        hf_json_uint(&j, g->app->options.seed);
        hf_json_key(&j, "sessions");
        hf_json_uint(&j, g->app->options.clients);
        hf_json_key(&j, "of");
        hf_json_uint(&j, g->app->options.transactions);
    }
    hf_plan_write(&plan, g->h, &j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
    hf_plan_release(&plan);
}

static void put_page(const file *f, hf_out *out)
{
    const hf_validated *v = &f->t->v;
    hf_report_row breaches[MOST_BREACHES];
    char changed[24], name[40], check[120];
    hf_report_row facts[] = {
        {"Predicted for", f->g->target->name},
        {"Reads that change", changed},
        {"Prediction", v->confirmed ? "confirmed" : "not confirmed"},
        {"Only if", "a transaction does something else than it was seen to"}};
    hf_report_input in = {.h = f->h,
                          .r = v->serial,
                          .database = "embedded store, under control",
                          .isolation = f->g->target->name,
                          .workload = f->g->name,
                          .facts = facts,
                          .n_facts = f->t->p->n_others > 0 ? 4 : 3,
                          .checked_invariants = v->run.checked,
                          .breaches = breaches,
                          .all_breaches = v->run.n_broken,
                          .history = name,
                          .check = check};

    (void)snprintf(changed, sizeof changed, "%u", f->t->p->n_changed);
    (void)snprintf(name, sizeof name, "validated-%u.jsonl", f->number);
    (void)snprintf(check, sizeof check,
                   "holdfast check --level strong-session-serializable %s",
                   name);
    for (size_t i = 0; i < v->run.broken.n && i < MOST_BREACHES; i++)
        breaches[in.n_breaches++] =
            (hf_report_row){v->run.broken.at[i].name, v->run.broken.at[i].text};
    hf_report_html(&in, out);
}

static void put_text(const file *f, hf_out *out)
{
    hf_predicting_print(f->g, false, out);
}

static void put_json(const file *f, hf_out *out)
{
    hf_predicting_json(f->g, out);
}

/* ---- all ----------------------------------------------------------------- */

static hf_status make_directory(const char *path, hf_error *err)
{
    struct stat st;

    if (mkdir(path, 0777) == 0)
        return HF_OK;
    if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return HF_OK;
    return hf_fail(err, HF_ERR_IO, "could not make directory \"%.200s\": %s",
                   path, strerror(errno));
}

static hf_status save_one(file *f, hf_error *err)
{
    char name[40];
    hf_status st;

    f->h = f->t->predicted;
    (void)snprintf(name, sizeof name, "predicted-%u.jsonl", f->number);
    st = write_file(f, name, put_history, err);
    (void)snprintf(name, sizeof name, "plan-%u.json", f->number);
    if (st == HF_OK)
        st = write_file(f, name, put_plan, err);
    if (st != HF_OK || !f->t->validated)
        return st;
    f->h = f->t->v.run.history;
    (void)snprintf(name, sizeof name, "validated-%u.jsonl", f->number);
    st = write_file(f, name, put_history, err);
    (void)snprintf(name, sizeof name, "report-%u.html", f->number);
    if (st == HF_OK)
        st = write_file(f, name, put_page, err);
    return st;
}

hf_status hf_predicting_save(const hf_predicting *g, hf_error *err)
{
    file f = {.g = g, .h = g->h};
    hf_status st = make_directory(g->set->output, err);

    if (st == HF_OK)
        st = write_file(&f, "observed.jsonl", put_history, err);
    if (st == HF_OK)
        st = write_file(&f, "report.txt", put_text, err);
    if (st == HF_OK)
        st = write_file(&f, "report.jsonl", put_json, err);
    for (uint32_t i = 0; i < g->told.n && st == HF_OK; i++) {
        f.t = &g->told.at[i];
        f.number = i + 1;
        st = save_one(&f, err);
    }
    return st;
}

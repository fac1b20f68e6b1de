/* check.h: the parts of `holdfast check`.
 *
 * cmd_check.c has the table, the files and the default level; judge.c asks
 * engines and re-checks what they say; cmd_check_auto.c asks at every level.
 */
#ifndef HF_CLI_CHECK_H
#define HF_CLI_CHECK_H

#include "check/check.h"
#include "cli/common.h"
#include "model/level.h"

typedef struct hf_check_settings {
    const char *level, *from, *witness, *dot, *html;
    unsigned assume; /* bits, by the place among what may be assumed */
    unsigned engine; /* 0, 1: auto, else 2 + the place in the table */
    bool json, quiet, ignore_certificate, no_predicates, mixed;
    unsigned dialect; /* 0: not known, else 1 + hf_sql_dialect */
    unsigned oracle;  /* 0: none, else by its place among them */
    unsigned order;   /* 0: as recorded, else 1 + the place in the choices */
    unsigned hint;    /* the same; an hf_hint */
    hf_number max, threads;
    hf_limits limits;
    unsigned color;
} hf_check_settings;

/* One file being checked. */
typedef struct hf_job {
    hf_cli *cli;
    const hf_check_settings *set;
    const char *path;
    bool several; /* files: then each answer names its own */
    bool color;
    bool auto_level;
    hf_level level;      /* unless auto_level; HF_LEVEL_COUNT: not known yet */
    const hf_history *h; /* NULL until it is loaded */
    hf_check_options options;
} hf_job;

/* Asks the engine (auto: each in turn until one knows; if none does, the
 * first that was asked says why) and re-checks the
 * answer with verify.  A witness that verify refuses is a bug and ends the
 * program; one that could not be re-checked within the limits makes the
 * verdict unknown; one that verify cannot judge is noted on standard error.
 * Caller frees *ret with hf_result_free(). */
HF_MUST_USE hf_status hf_job_judge(hf_job *job, hf_level level, hf_result **ret,
                                   hf_error *err);

/* Prints a result the way the settings ask for. */
void hf_job_print(const hf_job *job, const hf_result *r);
/* How many findings are shown, and so re-checked. */
uint32_t hf_job_findings(const hf_job *job);
/* Prints verdict unknown for a file that was not loaded. */
void hf_job_print_unknown(const hf_job *job, const char *reason, hf_out *out);
/* The same as JSON, whatever the settings ask for. */
void hf_job_write_unknown(const hf_job *job, const char *reason, hf_out *out);
/* "FILE: " where there are several. */
void hf_job_print_name(const hf_job *job, hf_out *out);

/* page.c: the page of --html. */
void hf_job_page(const hf_job *job, const hf_result *r, hf_out *out);
/* What --order may name; NULL after the last. */
const char *hf_choose_order(unsigned index);

int hf_exit_of_verdict(hf_verdict verdict);

/* --level auto; returns the exit status. */
int hf_job_auto(hf_job *job);

#endif

/* html.h: a result as one page that a browser shows without any network.
 *
 * The page has everything in it: style and script are written into the file
 * (page/ has their sources), and the data is JSON in a block that no browser
 * runs.  A Content-Security-Policy allows exactly this script and this style.
 * docs/report.md tells what is on the page.
 */
#ifndef HF_REPORT_HTML_H
#define HF_REPORT_HTML_H

#include "report/report.h"

/* Something to show as a row: "Clients", "10".  Both borrowed. */
typedef struct hf_report_row {
    const char *name, *value;
} hf_report_row;

/* What the page is about.  Only h and r are needed: every other pointer may be
 * NULL and every other number 0, and then the page does not speak of it.
 * Texts are UTF-8 and borrowed; they may have anything in them. */
typedef struct hf_report_input {
    const hf_history *h;
    const hf_result *r;
    uint32_t most; /* findings shown; 0: 10 */

    /* Of the run. */
    const char *database;       /* "PostgreSQL 15.18" */
    const char *isolation;      /* asked of it: "repeatable-read" */
    const char *workload;       /* "smallbank" */
    const char *when;           /* "2026-03-01 12:00:00 UTC" */
    const hf_report_row *facts; /* more: clients, seed, settings */
    uint32_t n_facts;
    bool checked_invariants;       /* at the end, and: */
    const hf_report_row *breaches; /* invariant, how it is broken; those kept */
    uint32_t n_breaches;
    uint64_t all_breaches; /* counted */

    /* How to do it again. */
    const char *history;        /* the name of the file */
    const char *command;        /* a command line that repeats the run */
    const char *check;          /* one that repeats the verdict */
    const hf_report_row *files; /* beside the page: name, what is in it */
    uint32_t n_files;
    const hf_report_row *versions; /* holdfast's own is there anyway */
    uint32_t n_versions;
} hf_report_input;

/* Linear in the history; the page is some hundred kilobytes at most, whatever
 * the size of the history, and says what it leaves out. */
void hf_report_html(const hf_report_input *in, hf_out *out);

#endif

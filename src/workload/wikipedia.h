/* wikipedia.h: what the parts of Wikipedia share: wikipedia.c (transactions)
 * and wikipedia_load.c (tables, rows, invariants).
 */
#ifndef HF_WORKLOAD_WIKIPEDIA_H
#define HF_WORKLOAD_WIKIPEDIA_H

#include "workload/steps.h"

#define WIKIPEDIA_TITLE 40u
#define WIKIPEDIA_TEXT 400u /* most bytes of a page */

typedef struct wikipedia_state {
    hf_zipf pages;
    hf_count updates; /* committed UpdatePages */
} wikipedia_state;

/* Namespace and title follow from the page's number, 1 .. pages. */
int64_t hf_wikipedia_namespace(int64_t page);
void hf_wikipedia_title(int64_t page, char title[WIKIPEDIA_TITLE]);

extern const char *const hf_wikipedia_tables[];
hf_status hf_wikipedia_load(hf_play *p, hf_error *err);
void hf_wikipedia_check(hf_play *p, hf_client *c);

#endif

/* predict_paper.h: the figures of IsoPredict's evaluation (tables 3, 4, 5). */
#ifndef BENCH_PREDICT_PAPER_H
#define BENCH_PREDICT_PAPER_H

#include "predict/predict.h"

/* Table 3, per execution. */
typedef struct paper_size {
    const char *workload;
    double reads, writes, committed, read_only;
} paper_size;

/* Tables 4 and 5, of 10 executions; seconds are averages, 0: there are none. */
typedef struct paper_row {
    const char *workload;
    bool large;
    hf_predict_target target;
    hf_predict_strategy strategy;
    unsigned unknown; /* or timed out after 24 hours */
    unsigned none, found, validated, diverged;
    double generate, solve_found, solve_none;
} paper_row;

const paper_size *paper_size_of(const char *workload, bool large);
const paper_row *paper_row_of(const char *workload, bool large,
                              hf_predict_target target,
                              hf_predict_strategy strategy); /* or NULL */

#endif

/* predict_paper.c: the figures of IsoPredict's evaluation, as printed. */
#include "predict_paper.h"

#include <stddef.h>
#include <string.h>

static const paper_size sizes[2][4] = {
    {{"smallbank", 669.7, 14.7, 11.0, 3.5},
     {"voter", 763.0, 6.0, 12.0, 11.0},
     {"tpcc", 3297.3, 763.0, 11.9, 0.9},
     {"wikipedia", 1067.7, 55.1, 9.9, 8.8}},
    {{"smallbank", 1271.3, 30.5, 20.3, 6.6},
     {"voter", 919.0, 6.0, 24.0, 23.0},
     {"tpcc", 7025.6, 1502.4, 23.8, 1.7},
     {"wikipedia", 2677.1, 111.1, 22.8, 20.6}},
};

#define CC HF_PREDICT_CAUSAL
#define RC HF_PREDICT_READ_COMMITTED
#define ES HF_PREDICT_EXACT_STRICT
#define AS HF_PREDICT_APPROX_STRICT
#define AR HF_PREDICT_APPROX_RELAXED

static const paper_row rows[] = {
    {"smallbank", false, CC, ES, 0, 6, 4, 4, 0, 8.8, 13.9, 11.3},
    {"smallbank", false, CC, AS, 0, 6, 4, 4, 1, 22.9, 1.0, 3.2},
    {"smallbank", false, CC, AR, 0, 0, 10, 9, 1, 22.9, 0.6, 0},
    {"voter", false, CC, ES, 0, 10, 0, 0, 0, 61.7, 0, 64.5},
    {"voter", false, CC, AS, 0, 10, 0, 0, 0, 131.7, 0, 10.4},
    {"voter", false, CC, AR, 0, 10, 0, 0, 0, 132.1, 0, 10.0},
    {"tpcc", false, CC, ES, 0, 1, 9, 9, 0, 220.4, 230.4, 752.3},
    {"tpcc", false, CC, AS, 0, 1, 9, 9, 0, 425.8, 35.1, 105.2},
    {"tpcc", false, CC, AR, 0, 0, 10, 10, 0, 425.5, 22.7, 0},
    {"wikipedia", false, CC, ES, 1, 9, 0, 0, 0, 13.9, 0, 24.0},
    {"wikipedia", false, CC, AS, 0, 10, 0, 0, 0, 36.3, 0, 1.3},
    {"wikipedia", false, CC, AR, 0, 8, 2, 2, 1, 36.3, 2.5, 1.0},

    {"smallbank", true, CC, ES, 4, 1, 5, 5, 1, 55.6, 8618.9, 2366.2},
    {"smallbank", true, CC, AS, 1, 0, 9, 9, 0, 121.0, 332.5, 0},
    {"smallbank", true, CC, AR, 0, 0, 10, 10, 0, 118.8, 19.3, 0},
    {"voter", true, CC, ES, 9, 1, 0, 0, 0, 235.1, 0, 5708.7},
    {"voter", true, CC, AS, 0, 10, 0, 0, 0, 490.5, 0, 47.2},
    {"voter", true, CC, AR, 0, 10, 0, 0, 0, 496.1, 0, 47.1},
    {"tpcc", true, CC, ES, 4, 3, 3, 3, 0, 1914.6, 30413.1, 24281.2},
    {"tpcc", true, CC, AS, 2, 0, 8, 8, 0, 3416.1, 1210.3, 0},
    {"tpcc", true, CC, AR, 0, 0, 10, 10, 2, 3332.3, 186.2, 0},
    {"wikipedia", true, CC, ES, 8, 1, 1, 1, 0, 111.9, 910.2, 1876.8},
    {"wikipedia", true, CC, AS, 0, 9, 1, 1, 0, 263.7, 15.6, 30.1},
    {"wikipedia", true, CC, AR, 0, 8, 2, 2, 2, 258.3, 20.3, 25.3},

    {"smallbank", false, RC, ES, 0, 0, 10, 10, 0, 10.0, 2.3, 0},
    {"smallbank", false, RC, AS, 0, 0, 10, 10, 0, 24.3, 0.8, 0},
    {"smallbank", false, RC, AR, 0, 0, 10, 10, 0, 24.4, 0.6, 0},
    {"voter", false, RC, ES, 0, 0, 10, 10, 2, 62.5, 12.9, 0},
    {"voter", false, RC, AS, 0, 0, 10, 10, 7, 133.0, 12.3, 0},
    {"voter", false, RC, AR, 0, 0, 10, 10, 10, 132.7, 12.7, 0},
    {"tpcc", false, RC, ES, 0, 0, 10, 10, 0, 359.0, 52.0, 0},
    {"tpcc", false, RC, AS, 0, 0, 10, 10, 0, 569.2, 27.2, 0},
    {"tpcc", false, RC, AR, 0, 0, 10, 10, 3, 588.9, 22.8, 0},
    {"wikipedia", false, RC, ES, 2, 1, 7, 7, 2, 15.4, 3.9, 8.0},
    {"wikipedia", false, RC, AS, 0, 3, 7, 7, 1, 38.3, 2.1, 0.5},
    {"wikipedia", false, RC, AR, 0, 3, 7, 7, 7, 38.1, 1.7, 0.5},

    {"smallbank", true, RC, ES, 0, 0, 10, 9, 1, 60.3, 624.6, 0},
    {"smallbank", true, RC, AS, 0, 0, 10, 10, 1, 124.5, 19.0, 0},
    {"smallbank", true, RC, AR, 0, 0, 10, 10, 1, 128.7, 51.7, 0},
    {"voter", true, RC, ES, 0, 0, 10, 10, 2, 255.7, 212.0, 0},
    {"voter", true, RC, AS, 0, 0, 10, 10, 6, 491.7, 76.2, 0},
    {"voter", true, RC, AR, 0, 0, 10, 10, 10, 495.2, 75.4, 0},
    {"tpcc", true, RC, ES, 0, 0, 10, 10, 2, 2571.0, 898.6, 0},
    {"tpcc", true, RC, AS, 0, 0, 10, 10, 2, 3981.9, 279.7, 0},
    {"tpcc", true, RC, AR, 0, 0, 10, 10, 4, 4040.4, 201.0, 0},
    {"wikipedia", true, RC, ES, 0, 0, 10, 10, 1, 124.6, 81.4, 0},
    {"wikipedia", true, RC, AS, 0, 0, 10, 10, 1, 272.8, 29.2, 0},
    {"wikipedia", true, RC, AR, 0, 0, 10, 9, 10, 272.9, 16.9, 0},
};

const paper_size *paper_size_of(const char *workload, bool large)
{
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(sizes[large][i].workload, workload) == 0)
            return &sizes[large][i];
    return NULL;
}

const paper_row *paper_row_of(const char *workload, bool large,
                              hf_predict_target target,
                              hf_predict_strategy strategy)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].workload, workload) == 0 && rows[i].large == large &&
            rows[i].target == target && rows[i].strategy == strategy)
            return &rows[i];
    return NULL;
}

/* summary.h: what a comparison of two engines prints at its end.
 *
 * A test that saw one side only, or none of what it is about, cannot fail: the
 * functions return how many such gaps they found, and name them.
 */
#ifndef HF_TEST_SUMMARY_H
#define HF_TEST_SUMMARY_H

#include "agreement.h"
#include "check/check.h"

/* Answers by the verdict of the engine, then of the reference. */
typedef long summary_counts[HF_VERDICT_COUNT][HF_VERDICT_COUNT];

/* Per level; loose (or NULL): unknown answers that may be so. */
int summary_levels(const summary_counts *counts, const long *loose);
/* Per anomaly: reported by the engine only, the reference only, both. */
void summary_anomalies(const long (*found)[3], const char *engine,
                       const char *reference);
/* How many histories have what. */
int summary_features(const char *const *names, const long *counts, int n);
/* Per kind of disagreement, how often. */
void summary_failures(const long *failures);

#endif

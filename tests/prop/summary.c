/* summary.c: see summary.h. */
#include "summary.h"

#include <stdio.h>

int summary_levels(const summary_counts *counts, const long *loose)
{
    int gaps = 0;

    printf("%-42s %7s %8s | unknown, but the reference says\n", "level",
           "valid", "invalid");
    printf("%-42s %7s %8s | %7s %8s %8s %6s\n", "", "", "", "valid", "invalid",
           "unknown", loose ? "loose" : "");
    for (int i = 0; i < HF_LEVEL_COUNT; i++) {
        const char *name = hf_level_get((hf_level)i)->name;
        const long *u = counts[i][HF_UNKNOWN];
        long valid = 0, invalid = 0;

        for (int v = 0; v < HF_VERDICT_COUNT; v++) {
            valid += counts[i][HF_VALID][v];
            invalid += counts[i][HF_INVALID][v];
        }
        printf("%-42s %7ld %8ld | %7ld %8ld %8ld", name, valid, invalid,
               u[HF_VALID], u[HF_INVALID], u[HF_UNKNOWN]);
        if (loose)
            printf(" %6ld", loose[i]);
        printf("\n");
        if (valid == 0 || invalid == 0) {
            printf("%s was never %s\n", name, valid ? "invalid" : "valid");
            gaps++;
        }
    }
    return gaps;
}

void summary_anomalies(const long (*found)[3], const char *engine,
                       const char *reference)
{
    printf("\n%-42s %7s %11s %10s\n", "anomalies reported by", "both", engine,
           reference);
    for (unsigned i = 0; i < HF_ANOMALY_COUNT; i++) {
        const long *n = found[i];

        if (n[0] || n[1] || n[2])
            printf("%-42s %7ld %11ld %10ld\n",
                   hf_anomaly_get((hf_anomaly)i)->name, n[2], n[0], n[1]);
    }
}

int summary_features(const char *const *names, const long *counts, int n)
{
    int gaps = 0;

    for (int i = 0; i < n; i++) {
        printf("%s %ld%s", names[i], counts[i],
               i + 1 == n   ? "\n"
               : i % 4 == 3 ? ",\n"
                            : ", ");
        if (counts[i] == 0) {
            printf("\nno history has %s\n", names[i]);
            gaps++;
        }
    }
    return gaps;
}

void summary_failures(const long *failures)
{
    for (unsigned i = 1; i < AGREEMENT_COUNT; i++)
        if (failures[i])
            printf("%ld times: %s\n", failures[i],
                   agreement_name((agreement)i));
}

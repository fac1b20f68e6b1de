/* measure.h: what one check of one mix costs, each in processes of its own.
 *
 * One process makes the history and writes a file, another loads it and
 * checks it some times: so making it counts for nothing, neither in time nor
 * in memory, and a check that hangs takes nothing with it.
 */
#ifndef HF_MEASURE_H
#define HF_MEASURE_H

#include "mixes.h"
#include "model/level.h"

typedef struct hf_measure_ask {
    hf_mix_options mix;
    hf_level level;
    double limit;    /* CPU seconds of a check */
    unsigned rounds; /* at most; few of what takes long */
    bool eager;      /* all pairs at once and plain pruning */
} hf_measure_ask;

typedef struct hf_measure {
    bool finished; /* else it was stopped by force, and there is no more */
    hf_verdict verdict;
    bool refused;     /* the proof is not one */
    double seconds;   /* CPU, of the best round */
    double load;      /* CPU seconds of loading the file */
    double mebibytes; /* resident at most, loading and proof included */
    uint32_t transactions, operations;
    char reason[512]; /* of unknown, or of the refusal */
} hf_measure;

/* Is there an engine to compare with? */
bool hf_measure_has_eager(void);

/* Ends the program if the history cannot be made. */
hf_measure hf_measure_mix(const hf_measure_ask *ask);

/* "valid", "invalid", "unknown", "stopped", "REFUSED" */
const char *hf_measure_word(const hf_measure *m);

#endif

/* watch.h: what watch found, in words, as a timeline in text, and in JSON. */
#ifndef HF_REPORT_WATCH_H
#define HF_REPORT_WATCH_H

#include "base/out.h"
#include "watch/watcher.h"

/* What the numbers of a violation are called. */
typedef struct hf_watch_words {
    hf_watch_names *names;
    hf_watch_scans *scans;
    bool color;
} hf_watch_words;

/* Answer first, then the operations with their intervals, then the rule and
 * the promise. */
void hf_watch_violation_print(const hf_violation *v, const hf_watch_words *w,
                              hf_out *out);
/* One line of JSON. */
void hf_watch_violation_write(const hf_violation *v, const hf_watch_words *w,
                              hf_out *out);

/* The first event that is not as it should be. */
typedef struct hf_first_complaint {
    bool is_there;
    hf_watch_complaint what;
    uint64_t txn, before, after;
} hf_first_complaint;

/* How it ended. */
typedef struct hf_watch_ending {
    const hf_profile *profile;
    const hf_watcher_stats *stats;
    const char *stopped; /* why before the end, or NULL */
    uint64_t bad_lines;  /* of input that could not be read */
    unsigned level;      /* that the input names, or HF_LEVEL_UNSET */
    hf_first_complaint first;
    double seconds, cpu_seconds; /* it took; of all threads */
} hf_watch_ending;

/* Was all of the input judged as far as it can be? */
bool hf_watch_ending_is_whole(const hf_watch_ending *e);
/* Of the mechanisms; what is printed calls HF_INVALID "broken". */
hf_verdict hf_watch_ending_verdict(const hf_watch_ending *e);
void hf_watch_ending_print(const hf_watch_ending *e, bool color, hf_out *out);
void hf_watch_ending_write(const hf_watch_ending *e, hf_out *out);

#endif

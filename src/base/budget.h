/* budget.h: limits of time and memory, interruption, and progress.
 *
 * Long work polls its budget at safe points.  When it is spent the work stops
 * and says so: verdict unknown, or HF_ERR_LIMIT while loading.  Polling costs
 * a decrement most of the time.
 *
 *     if (hf_budget_spent(budget)) return unknown(hf_budget_reason(budget));
 */
#ifndef HF_BUDGET_H
#define HF_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hf_budget {
    /* set by the caller; 0 means no limit */
    double seconds; /* of wall-clock time since hf_budget_start() */
    size_t bytes;   /* of memory held by the process */
    /* asked now and then; may be NULL.  True: stop, the user wants out. */
    bool (*interrupted)(void *user);
    /* told about ten times a second; may be NULL.  total 0: not known. */
    void (*progress)(void *user, const char *what, uint64_t done,
                     uint64_t total);
    void *user;

    /* kept by this module */
    uint32_t countdown;
    uint64_t started_ns, last_progress_ns;
    bool spent;
    char reason[96];
} hf_budget;

void hf_budget_start(hf_budget *b);
/* The slow part of hf_budget_spent(). */
bool hf_budget_look(hf_budget *b);

/* b may be NULL: no limits. */
static inline bool hf_budget_spent(hf_budget *b)
{
    if (!b)
        return false;
    if (b->countdown-- != 0)
        return b->spent;
    return hf_budget_look(b);
}

/* Would taking `bytes` more break the memory limit?  Then the budget is
 * spent. */
bool hf_budget_refuses(hf_budget *b, size_t bytes);
/* "time limit of 2 s reached", "memory limit of 64 MiB reached",
 * "interrupted". */
const char *hf_budget_reason(const hf_budget *b);
void hf_budget_progress(hf_budget *b, const char *what, uint64_t done,
                        uint64_t total);

uint64_t hf_clock_ns(void);     /* monotonic */
uint64_t hf_clock_cpu_ns(void); /* CPU time of this process */
size_t hf_memory_held(void);    /* resident bytes of this process */

#endif

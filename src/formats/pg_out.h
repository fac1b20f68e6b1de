/* pg_out.h: between the two files of pg-isolation-out. */
#ifndef HF_PG_OUT_H
#define HF_PG_OUT_H

#include "formats/scenario.h"

/* One execution of a step in one permutation. */
typedef struct hf_pg_run {
    hf_str name;
    uint32_t step; /* number of its name */
    hf_step what;  /* session is not set yet */
    bool is_waiting;
} hf_pg_run;

typedef struct hf_pg_out {
    uint32_t n_sessions; /* as the file says; 0: it does not */
    HF_VEC(hf_pg_run) runs;
    HF_VEC(uint32_t) ends;   /* of each permutation in `runs` */
    HF_VEC(hf_str) steps;    /* the names */
    HF_VEC(uint32_t) groups; /* by step: its session, numbered from 0 */
    bool is_known;           /* the sessions could be told */
} hf_pg_out;

/* Numbers the names of steps and finds out which steps are of one session:
 * the file does not say.  Fills steps, groups, is_known and runs[].step. */
void hf_pg_sessions(hf_pg_out *p);

#endif

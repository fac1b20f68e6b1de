/* runner_impl.h: one run, for runner.c, setup.c and faults.c. */
#ifndef HF_RUN_RUNNER_IMPL_H
#define HF_RUN_RUNNER_IMPL_H

#include "run/client_impl.h"
#include "run/run.h"
#include "run/schema.h"
#include "workload/play.h"

/* Latencies: buckets of a factor of 2^(1/8). */
#define HF_LATENCY_BUCKETS 320u

typedef struct hf_worker {
    struct hf_runner *run;
    pthread_t thread;
    bool started;
    bool cut; /* its last session was interrupted, as it would not end */
    atomic_bool ended;
    hf_client client;
    _Atomic(uint64_t) committed, aborted, unknown, given_up, retries,
        reconnects;
    _Atomic(uint32_t) latency[HF_LATENCY_BUCKETS];
} hf_worker;

typedef struct hf_runner {
    const hf_run_options *o;
    hf_recorder *recorder; /* NULL: nothing is recorded */
    hf_statements statements;
    hf_schema schema;
    hf_worker *workers;
    uint64_t epoch;         /* time 0 of the history */
    uint64_t clients_epoch; /* when the clients started */
    _Atomic(int64_t) left;  /* transactions that may still start */
    atomic_bool stop;
    _Atomic(uint64_t) faults;
    bool looks;              /* some of those that write only read instead */
    _Atomic(uint64_t) reads; /* transactions for nodes that serve readers */

    pthread_mutex_t mutex; /* of what follows, and of notes */
    bool failed;
    hf_error failure;
    HF_VEC(char *) texts; /* of statements for loading, then of notes */

    pthread_t fault_thread;
    bool has_fault_thread;
} hf_runner;

uint64_t hf_runner_now(const hf_runner *r);
void hf_runner_note(hf_runner *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The run ends; the first reason counts. */
void hf_runner_fail(hf_runner *r, const hf_error *err);
/* Waits, but not after the run was told to stop.  False: it was. */
bool hf_runner_sleep(hf_runner *r, double seconds);

/* setup.c: tables and rows; then until all nodes have them. */
HF_MUST_USE hf_status hf_setup(hf_runner *r, hf_error *err);

/* faults.c */
HF_MUST_USE hf_status hf_faults_check(const hf_run_options *o, hf_error *err);
HF_MUST_USE hf_status hf_faults_start(hf_runner *r, hf_error *err);
void hf_faults_end(hf_runner *r); /* the run was told to stop */

#endif

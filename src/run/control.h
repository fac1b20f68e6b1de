/* control.h: an application run one transaction at a time on the embedded
 * store, observed, or carried out as a plan says.
 *
 * Observed: the clients of a workload take turns, drawn from the seed, and
 * every read sees the newest version: a serializable execution, the same for
 * the same seed.  What each transaction was about to do (parameters, random
 * numbers, ids) is kept on a tape.
 *
 * Carried out (IsoPredict, section 5): the same transactions, from the tape,
 * in the order of a plan, each read from the writer that the plan names.  The
 * writer must have written the row, and reading it must be legal at the level
 * after all that has happened (legal.h); else the execution diverges there,
 * and the read sees the newest version that is legal.
 *
 * The history has a read for every row that a statement looked at: by key, or
 * by a scan each row of the table that could have been returned, absent ones
 * too; an INSERT reads that the row is absent.  Own writes are not read, an
 * UPDATE that does not depend on the row does not read it.  A version of a row
 * is named after the transaction that wrote it (its label; negative: it deleted
 * the row; 0: loaded), so that every read has one source.  The first operation
 * of a transaction is a statement that is a comment and names its kind.
 *
 * Complexity: each scan looks at all rows of its table; all else is linear in
 * the statements.  For executions of some thousand transactions at most.
 */
#ifndef HF_RUN_CONTROL_H
#define HF_RUN_CONTROL_H

#include "run/legal.h"
#include "run/plan.h"

typedef struct hf_workload hf_workload; /* workload/workload.h */

/* What a client's transactions are about to do. */
typedef struct hf_tape hf_tape;
void hf_tape_free(hf_tape *t); /* NULL: nothing */

/* What a transaction reads behind its boundary, where the plan says nothing. */
typedef enum hf_control_beyond {
    HF_BEYOND_OBSERVED, /* from whom it was observed to, if that is legal */
    HF_BEYOND_ALOOF,    /* what it sees without seeing anybody new */
    HF_BEYOND_NEWEST,   /* the newest that is legal */
    HF_BEYOND_COUNT
} hf_control_beyond;

typedef struct hf_control_options {
    const hf_workload *workload;
    const char *const *sets; /* "NAME=VALUE", as of --set; may be NULL */
    unsigned n_sets;
    const char *const *mixes; /* "TYPE=WEIGHT" */
    unsigned n_mixes;
    unsigned clients;
    unsigned transactions; /* of each client */
    uint64_t seed;
    /* Observed as the paper's harness does: the kinds of transactions as it
     * draws them, see below, and clients one after the other, as they come to
     * a server that runs one transaction at a time.  NULL: kinds by the mix,
     * turns by the seed. */
    const struct hf_paper_workload *paper;
    bool sql; /* statements with their results are recorded too */
    /* to carry out a plan; NULL: observe */
    const hf_plan *plan;
    const hf_tape *tape; /* of the observed execution */
    hf_legal_rule rule;
    hf_control_beyond beyond;
    bool (*stop)(void *user); /* asked between transactions; may be NULL */
    void *user;
} hf_control_options;

typedef enum hf_divergence_kind {
    HF_DIVERGED_KEY,    /* a read that is not part of the plan */
    HF_DIVERGED_WRITER, /* the writer did not write the row */
    HF_DIVERGED_LEVEL,  /* the read would not be legal */
    HF_DIVERGED_ABORT,  /* it was to commit, and aborted */
    HF_DIVERGED_COMMIT, /* it would have committed; it aborts, as observed */
    HF_DIVERGENCE_COUNT
} hf_divergence_kind;

const char *hf_divergence_name(hf_divergence_kind kind);

typedef struct hf_divergence {
    hf_divergence_kind kind;
    uint32_t place; /* in the plan */
    hf_str key;     /* in the report's arena; empty for abort and commit */
} hf_divergence;

/* An invariant of the application that does not hold at the end. */
typedef struct hf_broken_invariant {
    const char *name, *text; /* in the report's arena */
} hf_broken_invariant;

typedef struct hf_control_report {
    hf_arena arena;
    hf_history *history;                /* owned */
    hf_tape *tape;                      /* owned; of an observed execution */
    bool checked;                       /* the invariants were looked at */
    HF_VEC(hf_broken_invariant) broken; /* the first ones */
    uint64_t n_broken;                  /* all */
    uint64_t reads, writes;
    uint32_t committed, read_only, aborted;
    HF_VEC(hf_divergence) divergences;
    uint32_t n_changed_reads; /* of the plan, that were carried out */
} hf_control_report;

/* Not HF_OK: *ret needs no release. */
HF_MUST_USE hf_status hf_control_run(const hf_control_options *o,
                                     hf_control_report *ret, hf_error *err);
void hf_control_report_release(hf_control_report *r);

/* What the four workloads of the paper are here: name, options and mix.
 * size: 4 (small) or 8 (large) transactions of each of 3 sessions. */
typedef struct hf_paper_workload {
    const char *name;     /* "smallbank" */
    const char *workload; /* ours */
    const char *const *sets;
    unsigned n_sets;
    const char *const *mixes;
    unsigned n_mixes;
    /* the kinds of transactions in the order of its configuration, with
     * weights that add up to 100 */
    const struct hf_paper_kind {
        const char *name;
        unsigned weight;
    } * kinds;
} hf_paper_workload;

/* The paper's executions have seeds HF_PAPER_SEED, 2 * HF_PAPER_SEED, ... */
#define HF_PAPER_SEED 10000u

/* The kinds of the first n transactions of a session, as indices into the
 * workload's types (section 7.1: "a random number generator seed as a
 * parameter to each benchmark").  Its harness gives session i of an execution
 * the generator java.util.Random(seed + i) for these draws alone, so they are
 * known: with its ten seeds TPC-C has 0.9 and 1.7 read-only transactions on
 * average and SmallBank 3.6 and 6.6, as its table 3 (0.9, 1.7, 3.5, 6.6). */
void hf_paper_draw(const hf_paper_workload *p, uint64_t seed, unsigned session,
                   unsigned n, unsigned *ret_types);

const hf_paper_workload *hf_paper_workload_at(unsigned i); /* NULL: no more */
const hf_paper_workload *hf_paper_workload_named(hf_str name);

#endif

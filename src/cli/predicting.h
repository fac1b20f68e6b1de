/* predicting.h: the parts of `holdfast predict`.
 *
 * cmd_predict.c has the table, observes or loads, predicts and validates;
 * predict_fix.c asks what would have prevented it; predict_text.c and
 * predict_json.c tell it; predict_files.c writes the directory.
 */
#ifndef HF_CLI_PREDICTING_H
#define HF_CLI_PREDICTING_H

#include "cli/common.h"
#include "cli/validate.h"

typedef struct hf_predict_settings {
    const char *workload, *level, *strategy, *from, *output;
    hf_texts sets, mixes;
    hf_number seed, sessions, transactions, most;
    unsigned size, encoding, color; /* 0: not given, else 1 + the choice */
    bool all, paper, no_validate, as_seen, json, quiet;
    hf_limits limits;
} hf_predict_settings;

/* What kind of statement a read is part of. */
typedef enum hf_fix_statement {
    HF_FIX_SELECT,  /* or not known */
    HF_FIX_LOCKING, /* SELECT ... FOR UPDATE, FOR SHARE */
    HF_FIX_CHANGING /* UPDATE, DELETE, INSERT and the like */
} hf_fix_statement;

/* A read whose row could have been locked. */
typedef struct hf_fix_lock {
    hf_txn_id txn; /* of the observed history, like op and key */
    hf_op_id op;
    hf_key_id key;
    bool absent;   /* there was no row to lock */
    bool rewrites; /* the transaction writes the row as well */
    hf_fix_statement statement;
} hf_fix_lock;

#define HF_FIX_LEVELS 10u
typedef struct hf_fix {
    hf_level prevents[HF_FIX_LEVELS]; /* the weakest that forbid it */
    unsigned n_prevents;
    hf_level allows[HF_FIX_LEVELS]; /* the strongest that allow it */
    unsigned n_allows;
    HF_VEC(hf_fix_lock) locks;
} hf_fix;

typedef struct hf_told_prediction {
    const hf_prediction *p;
    hf_history *predicted; /* owned */
    bool validated;
    bool stopped; /* a limit came before it was carried out and judged */
    hf_validated v;
    hf_fix fix;
} hf_told_prediction;

/* One execution: of a workload, or a file. */
typedef struct hf_predicting {
    hf_cli *cli;
    const hf_predict_settings *set;
    hf_predict_options options;
    const hf_predict_target_info *target;
    const char *path;    /* of the file, or NULL */
    bool several;        /* files */
    hf_application *app; /* NULL: it is a file */
    const char *name;    /* of the workload, as it was named */
    hf_history *loaded;  /* owned; of a file */
    const hf_history *h; /* the observed execution */
    hf_predict_result *result;
    HF_VEC(hf_told_prediction) told;
} hf_predicting;

/* predict_fix.c */
HF_MUST_USE hf_status hf_fix_find(const hf_history *observed,
                                  const hf_told_prediction *t,
                                  hf_budget *budget, hf_fix *ret,
                                  hf_error *err);
/* The statement that an operation belongs to; HF_NONE: not recorded. */
hf_op_id hf_statement_before(const hf_history *h, hf_op_id op);
/* What the application calls the transaction ("smallbank: balance"), by a
 * first statement that is a comment; empty: it does not say. */
hf_str hf_txn_purpose(const hf_history *h, hf_txn_id t);
/* The text of a statement. */
hf_str hf_statement_text(const hf_history *h, hf_op_id sql);

/* predict_text.c */
void hf_predicting_print(const hf_predicting *g, bool color, hf_out *out);
/* predict_json.c: a line for each prediction, then one for the execution. */
void hf_predicting_json(const hf_predicting *g, hf_out *out);
/* A limit was reached before there was anything to tell. */
void hf_predicting_json_unknown(const hf_predicting *g, const char *reason,
                                hf_out *out);
/* predict_files.c */
HF_MUST_USE hf_status hf_predicting_save(const hf_predicting *g, hf_error *err);

/* How many were confirmed. */
uint32_t hf_predicting_confirmed(const hf_predicting *g);
/* Is there none in which transactions go on as they were observed to? */
bool hf_predicting_otherwise(const hf_predicting *g);

#endif

/* verify.h: the independent checker of witnesses.
 *
 * Reads a claim (verdict, level, witness) and the raw history and says
 * whether the one follows from the other.  Nothing here is shared with the
 * engines: the edges of a cycle are derived again from the operations, an
 * order is replayed against them, a core is enumerated with code of its own.
 * A bug in an engine therefore shows as a refused witness.
 */
#ifndef HF_VERIFY_H
#define HF_VERIFY_H

#include "base/budget.h"
#include "history/history.h"
#include "model/witness.h"
#include "sql/sql.h"

/* What a witness file says. */
typedef struct hf_claim {
    hf_verdict verdict;
    hf_level level;
    hf_witness witness; /* arrays live in the arena given to the reader */
} hf_claim;

/* Reads a witness object or a result object that contains one, in the form of
 * docs/json.md.  Checks the form, and that ids exist in h, not the truth. */
HF_MUST_USE hf_status hf_claim_read(const hf_history *h, const char *text,
                                    size_t length, hf_arena *arena,
                                    hf_claim *ret_claim, hf_error *err);

/* At least one. */
typedef struct hf_claim_list {
    hf_claim *at; /* in the arena, too */
    size_t n;
} hf_claim_list;

/* The same for one or more objects after one another, as "check --level auto
 * --json" prints them; those of type "levels" are passed over. */
HF_MUST_USE hf_status hf_claims_read(const hf_history *h, const char *text,
                                     size_t length, hf_arena *arena,
                                     hf_claim_list *ret, hf_error *err);

typedef struct hf_verification {
    bool accepted;
    char reason[320]; /* if refused: what does not follow, in one line */
} hf_verification;

/* Several claims about one history.  The tables about the history are made
 * once, by the first claim that needs them (they hold a few words for each
 * operation and value); a cycle or a few operations then cost no more than
 * the transactions, keys and lists they name.  One thread at a time. */
typedef struct hf_verifier hf_verify_session;

/* h must outlive the session.  Never NULL; O(1). */
hf_verify_session *hf_verify_open(const hf_history *h);
void hf_verify_close(hf_verify_session *session); /* NULL: nothing */
/* How conditions are meant; HF_SQL_ANY unless told otherwise, before the first
 * claim. */
void hf_verify_set_dialect(hf_verify_session *session, hf_sql_dialect dialect);
/* To compare: what pays only in large histories is done in any. */
void hf_verify_set_eager(hf_verify_session *session);

/* HF_ERR_LIMIT if the budget (may be NULL) ran out before an answer;
 * HF_ERR_UNSUPPORTED for a claim of verdict unknown (nothing to prove) or an
 * anomaly that needs what this build does not have.  The session can be asked
 * again after any of them. */
HF_MUST_USE hf_status hf_verify_claim_in(hf_verify_session *session,
                                         const hf_claim *claim,
                                         hf_budget *budget,
                                         hf_verification *ret, hf_error *err);

/* Adds what was expected instead, and where it would have fitted, to a witness
 * of HF_EXPECTED_STATE that was accepted; in the arena.  Others are left as
 * they are, and so is one for which the budget runs out. */
void hf_verify_explain(hf_verify_session *session, hf_level level,
                       hf_budget *budget, hf_arena *arena, hf_witness *w);

/* hf_verify_claim_in() for one claim alone. */
HF_MUST_USE hf_status hf_verify_claim(const hf_history *h,
                                      const hf_claim *claim, hf_budget *budget,
                                      hf_verification *ret, hf_error *err);

#endif

/* validate.h: a prediction carried out by the application, and judged.
 *
 * From the prediction a plan is made (run/plan.h), the observed application is
 * run again under control (run/control.h), and what really happened is judged
 * by the engines of check, whose witnesses verify re-checks.  Only if it is
 * legal at the target level and not serializable is the prediction confirmed.
 * Where check has only a weaker level than the target (a database's own), the
 * rules that predictions are made by judge it as well.
 */
#ifndef HF_CLI_VALIDATE_H
#define HF_CLI_VALIDATE_H

#include "predict/predict.h"
#include "run/control.h"

typedef struct hf_validated {
    hf_control_report run;
    hf_plan plan;
    hf_result *legal;  /* at the target's level; owned */
    hf_verdict keeps;  /* the target itself, where that level is a weaker one */
    hf_result *serial; /* at strong-session-serializable; owned */
    bool confirmed;
} hf_validated;

/* The application as it was observed, and what was observed. */
typedef struct hf_application {
    hf_control_options options;
    hf_control_report observed;
} hf_application;

/* Makes the plan alone; the caller releases it. */
void hf_prediction_plan(const hf_history *observed, const hf_prediction *p,
                        hf_plan *ret);

HF_MUST_USE hf_status hf_validate(const hf_application *a,
                                  hf_predict_target target,
                                  const hf_prediction *p, hf_budget *budget,
                                  hf_validated *ret, hf_error *err);
void hf_validated_release(hf_validated *v);

/* One level asked and the witness re-checked; a refused one is a bug and ends
 * the program.  The caller frees *ret. */
HF_MUST_USE hf_status hf_judged(const hf_history *h, hf_level level,
                                hf_budget *budget, hf_result **ret,
                                hf_error *err);

#endif

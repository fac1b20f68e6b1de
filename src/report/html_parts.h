/* html_parts.h: the parts of html.c, inside report/ only. */
#ifndef HF_REPORT_HTML_PARTS_H
#define HF_REPORT_HTML_PARTS_H

#include "report/html.h"
#include "report/words.h"
#include "verify/verify.h"

/* Made from page/ by scripts/embed-page. */
extern const char hf_page_style[];
extern const char hf_page_script[];
extern const char hf_page_style_hash[]; /* "sha256-..." */
extern const char hf_page_script_hash[];

/* A page being made. */
typedef struct hf_page {
    const hf_report_input *in;
    const hf_history *h;
    const hf_result *r;
    uint32_t n_shown; /* findings on the page */
    hf_finding only;  /* stands for the findings if there are none */
    const hf_finding *findings;
    bool *is_shown;             /* per transaction: evidence, or told in full */
    hf_txn_list evidence;       /* transactions of the findings, each once */
    hf_txn_list told;           /* transactions whose operations are given */
    hf_op_list cited;           /* operations of the findings, ascending */
    hf_session_id faults;       /* the session of injected faults, or HF_NONE */
    uint64_t start, span;       /* of time, if there are times */
    bool has_times;             /* else the place in the file is the time */
    hf_verify_session *session; /* for proofs */
} hf_page;

/* html_words.c: the verdict in one sentence, with a full stop; what it means;
 * the title of a finding.  All without markup. */
void hf_page_sentence(const hf_page *p, hf_out *out);
void hf_page_meaning(const hf_page *p, hf_out *out);
void hf_page_finding_name(const hf_finding *f, hf_out *out);
typedef struct hf_finding_words {
    const char *summary, *meaning, *remedy; /* may be NULL */
} hf_finding_words;
hf_finding_words hf_page_finding_words(const hf_finding *f);
void hf_page_session_name(const hf_history *h, hf_session_id s, hf_out *out);

/* html_evidence.c: "findings", "groups", "order", "txns". */
void hf_page_evidence(const hf_page *p, hf_json *j);

/* html_time.c: "time", "lanes", "bars", "windows", "overview", "stats",
 * "faults". */
void hf_page_times(const hf_page *p, hf_json *j);

/* When the transaction began and ended, from the start of the page's time;
 * false: not known.  *ret_end is HF_TIME_NONE if only that is not known. */
bool hf_page_interval(const hf_page *p, hf_txn_id t, uint64_t *ret_begin,
                      uint64_t *ret_end);

#endif

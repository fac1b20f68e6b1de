/* story.h: why a proof holds, as facts that force each other.  Inside report/
 * only.
 *
 * A proof is a list of clauses and resolutions; what a person wants to know is
 * which facts follow, each from which cycle, until one cycle has nothing left
 * to doubt.  So the resolutions are put aside and the clauses they use are
 * propagated again: a clause all of whose facts but one are refuted forces
 * that one.  Mostly this alone ends in a contradiction; else one fact is found
 * by which to tell two cases apart.
 */
#ifndef HF_REPORT_STORY_H
#define HF_REPORT_STORY_H

#include "report/words.h"
#include "verify/view.h"

typedef HF_VEC(uint32_t) hf_story_list;

typedef struct hf_story {
    const hf_history *h;
    const hf_witness *w;
    hf_proof_view view;
    hf_arena arena;
    bool is_there; /* the proof was accepted and the rest is filled */
    /* per step that the end needs: the literals that are not known */
    size_t *first;
    uint32_t *literals;
    uint32_t *n_false;
    /* per literal: the steps that have it */
    size_t *occurs_first;
    uint32_t *occurs;
    bool *told;       /* per fact: known, but the proof has a reason for it */
    int8_t *value;    /* per fact: 0 open, 1 true, -1 false */
    uint32_t *reason; /* per fact: the step, HF_NONE: assumed */
    hf_story_list trail;
    size_t head;
    uint32_t *number; /* per fact: as it was printed, 0 if it was not */
    uint32_t n_numbers;
} hf_story;

/* Checks the proof again, in a session about h: O(history) the first time,
 * and what the proof costs. */
void hf_story_init(hf_story *s, hf_verify_session *session, const hf_history *h,
                   hf_level level, const hf_witness *w);
void hf_story_release(hf_story *s);

/* Takes the literal for true, and what follows; the step whose facts are then
 * all refuted, or HF_NONE.  HF_NONE as literal: only what follows from
 * nothing. */
uint32_t hf_story_assume(hf_story *s, uint32_t literal);
/* Forgets what came after the trail had this length. */
void hf_story_undo(hf_story *s, size_t trail);

/* Is what the edge says taken for granted, and not known? */
bool hf_story_is_assumed(const hf_story *s, uint32_t edge);

/* proof.c: "these 5 transactions alone are impossible; ..." of a witness with
 * a core, without the end of the line. */
void hf_core_print(const hf_witness *w, hf_out *out);

/* proof.c: what it shows, which facts force each other, and how they end. */
void hf_proof_print(hf_verify_session *session, const hf_history *h,
                    hf_level level, const hf_witness *w, hf_out *out);

#endif

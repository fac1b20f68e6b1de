/* tables.h: what several claims about one history ask again.  Private to
 * verify/.
 *
 * Two kinds of tables.  Indexes of the history, each made in a pass or two
 * when it is first asked for and kept as long as the session.  And notes:
 * arrays as long as the history of which a claim uses a few entries; taking
 * one up is O(1), since an entry is valid only for the turn it was made in.
 */
#ifndef HF_TABLES_H
#define HF_TABLES_H

#include "history/history.h"

struct hf_verifier;

/* For each key a list: at[first[key] .. first[key + 1] - 1]. */
typedef struct hf_key_index {
    uint32_t *first;
    uint32_t *at;
} hf_key_index;

typedef enum hf_notes_kind {
    HF_NOTES_TXNS,
    HF_NOTES_KEYS,
    HF_NOTES_VALUES,
    HF_NOTES_ELEMENTS, /* values again, at the same time */
    HF_NOTES_KIND_COUNT
} hf_notes_kind;

/* One number for each transaction, key or value. */
typedef struct hf_notes {
    struct hf_note {
        uint32_t turn, number;
    } * at;
    uint32_t turn; /* entries of other turns are 0 */
    uint32_t n;
} hf_notes;

/* Each is NULL until it is asked for. */
typedef struct hf_tables {
    uint8_t *outcomes, *n_writers;
    hf_key_index *writers, *lists;
    uint64_t *ranks;            /* see hf_recorded_ranks() */
    struct hf_columns *columns; /* kept by columns.c */
    uint8_t *judged;            /* kept by sweep.c */
    struct hf_answer *answers;  /* this and the next two: kept by match.c */
    uint32_t n_answers, n_conditions;
    hf_notes notes[HF_NOTES_KIND_COUNT];
} hf_tables;

/* The four below are NULL if the budget is spent; facts must have been made.
 *
 * Per value the outcomes of those that write it, as bits 1u << outcome. */
const uint8_t *hf_writer_outcomes(struct hf_verifier *v);
/* Per value the number of transactions that write it, at most UINT8_MAX. */
const uint8_t *hf_writer_counts(struct hf_verifier *v);
/* The transactions, of any outcome, that write each key. */
const hf_key_index *hf_writers_of_keys(struct hf_verifier *v);
/* The lists of each key, shorter ones first. */
const hf_key_index *hf_lists_of_keys(struct hf_verifier *v);

/* Notes that are all 0; those of the same kind taken before are over. */
hf_notes *hf_notes_begin(struct hf_verifier *v, hf_notes_kind kind);

static inline uint32_t hf_note_of(const hf_notes *notes, uint32_t id)
{
    return notes->at[id].turn == notes->turn ? notes->at[id].number : 0;
}

static inline void hf_note(hf_notes *notes, uint32_t id, uint32_t number)
{
    notes->at[id].turn = notes->turn;
    notes->at[id].number = number;
}

#endif

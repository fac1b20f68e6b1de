/* text_reader.h: what the two halves of reading the text form share. */
#ifndef HF_TEXT_READER_H
#define HF_TEXT_READER_H

#include "base/json_in.h"
#include "history/builder_internal.h"

/* An integer operation waiting for its value id. */
typedef struct hf_staged {
    hf_op_id op;
    hf_key_id key;
    int64_t number;
} hf_staged;

/* A transaction number to be resolved when all are known. */
typedef struct hf_pending {
    uint64_t where; /* order: the key; version set: the index into extra */
    int64_t number;
    uint64_t line;
} hf_pending;

typedef struct hf_text_reader {
    hf_json_in j;
    hf_builder *b;
    uint64_t line;       /* of the object being read */
    const char *counted; /* lines before this are counted */
    bool is_part;        /* other lines come before and after */
    bool has_ids;
    bool ids_rise; /* every id is above the one before: no map needed */
    HF_VEC(hf_staged) staged;
    HF_VEC(hf_pending) order;
    HF_VEC(hf_pending) serial;
    HF_VEC(hf_pending) writers;
    HF_VEC(hf_version_ref) versions;
    HF_VEC(hf_pending) version_ids; /* where: index into versions */
    HF_VEC(hf_version_ref) rows;
    HF_VEC(hf_pending) row_ids;
    HF_VEC(hf_scalar) columns;
    HF_VEC(hf_scalar) params;
    HF_VEC(hf_scalar) cells;
    hf_arena scratch; /* strings that must outlive the reader's own */
    hf_map ids;
} hf_text_reader;

static inline bool is(hf_str key, const char *name)
{
    return hf_str_eq(key, hf_str_of(name));
}

/* Each consumes one thing; false and the reader's sticky error otherwise. */
bool hf_text_op(hf_text_reader *r, hf_txn_id t);
bool hf_text_key(hf_text_reader *r, hf_key_id *ret_key);
bool hf_text_value(hf_text_reader *r, hf_key_id key, hf_value_id *ret_value);
bool hf_text_snapshot(hf_text_reader *r, hf_scalar *ret_snapshot);
/* A field nobody knows: fails, unless it is one of the user's own. */
bool hf_text_unknown_field(hf_text_reader *r, hf_str key, const char *where);

#endif

/* jread.h: values that come as EDN or as JSON, read by one piece of code.
 *
 * Jepsen's histories exist in both notations: a keyword of one is a string of
 * the other.  This is a thin layer over edn.h and base/json_in.h; a map key
 * that is a number in EDN is a string of digits in JSON and comes as a number
 * here.
 */
#ifndef HF_JREAD_H
#define HF_JREAD_H

#include "base/json_in.h"
#include "formats/edn.h"

typedef enum hf_jkind {
    HF_J_END = 0, /* the end, a closing bracket, or failed */
    HF_J_NIL,
    HF_J_INT,
    HF_J_TEXT,   /* keyword, symbol or string */
    HF_J_SCALAR, /* boolean, character or another number */
    HF_J_SEQ,    /* vector, list or array */
    HF_J_SET,
    HF_J_MAP,
    HF_J_KIND_COUNT
} hf_jkind;

typedef struct hf_jread {
    bool json;
    union {
        hf_edn edn;
        hf_json_in in;
    } u;
} hf_jread;

/* Reads `text`, a part of an input that begins at `start` (lines count from
 * there). */
void hf_jread_init(hf_jread *r, bool json, const char *start, hf_str text);
void hf_jread_release(hf_jread *r);

bool hf_jread_failed(const hf_jread *r);
const hf_error *hf_jread_error(const hf_jread *r);
const char *hf_jread_at(const hf_jread *r);

hf_jkind hf_jread_peek(hf_jread *r);
bool hf_jread_open(hf_jread *r, hf_jkind kind);
/* In a sequence or set: is there another element? */
bool hf_jread_next(hf_jread *r);
/* In a map: the next key, its value is to be read then. */
bool hf_jread_next_key(hf_jread *r, hf_scalar *ret_key);
bool hf_jread_int(hf_jread *r, int64_t *ret_value);
bool hf_jread_nil(hf_jread *r);
bool hf_jread_name(hf_jread *r, hf_str *ret_name);
/* Not a collection. */
bool hf_jread_scalar(hf_jread *r, hf_scalar *ret_value);
bool hf_jread_skip(hf_jread *r, hf_str *ret_text);
/* Sticky errors at the current place; return false. */
bool hf_jread_expected(hf_jread *r, const char *what);
bool hf_jread_refuse(hf_jread *r, const char *text);

static inline bool hf_scalar_is(hf_scalar s, const char *text)
{
    return s.type == HF_TEXT &&
           hf_str_eq((hf_str){s.text, s.length}, hf_str_of(text));
}

#endif

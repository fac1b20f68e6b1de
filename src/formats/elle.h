/* elle.h: transactions of micro-operations, as Elle has them.
 *
 * A value is a sequence of [f key value] with f one of r, w, append.  A
 * history is of registers or of lists, never both; which one is settled by
 * the first micro-operation that tells (hf_elle_decide()), because the read
 * of nil does not.
 *
 *     ok     reads as they are; nil is the initial version; a read without a
 *            third part was not recorded
 *     fail   the same, but nil means not recorded
 *     info   from the invocation; no read is recorded
 *
 * Keys that are names must be of one kind in a file: :x, x and "x" become the
 * same key, so mixing them is refused.
 */
#ifndef HF_ELLE_H
#define HF_ELLE_H

#include "formats/jepsen.h"

typedef enum hf_elle_mode { HF_ELLE_REGISTER = 0, HF_ELLE_LIST } hf_elle_mode;

typedef struct hf_elle_op {
    uint32_t kind;
    hf_key_id key;
    hf_value_id value;
} hf_elle_op;

/* The longest list read of a key so far: its text in the input and, for each
 * element, where it ends in that text and the value id of the list up to it.
 * A list that continues, repeats or shortens it costs a comparison of bytes
 * instead of a parse. */
typedef struct hf_elle_list {
    const char *text;
    HF_VEC(uint32_t) ends;
    HF_VEC(hf_value_id) lists;
} hf_elle_list;

/* An element of a list being read: where it ends, and the list up to it. */
typedef struct hf_elle_tail {
    uint32_t end;
    hf_value_id list;
} hf_elle_tail;

typedef struct hf_elle {
    hf_jepsen j;
    hf_elle_mode mode;
    char name_kind; /* ':' keyword, '"' string, 's' symbol, 0: none yet */
    HF_VEC(hf_elle_op) ops;     /* of the transaction being read */
    HF_VEC(hf_elle_list) lists; /* by key */
    HF_VEC(hf_elle_tail) tail;
} hf_elle;

/* Decides the mode from the file, then is ready for hf_jepsen_feed(). */
void hf_elle_init(hf_elle *e, const hf_input *in, hf_builder *b, bool json,
                  hf_error *err);
void hf_elle_release(hf_elle *e);

/* Reads the micro-operations of a value into e->ops, as the outcome says. */
HF_MUST_USE hf_status hf_elle_parse(hf_elle *e, hf_str value,
                                    hf_outcome outcome);

/* A key; HF_NONE after an error of the reader. */
hf_key_id hf_elle_key(hf_elle *e, hf_jread *r);

/* The list whose text begins at p, after its bracket; *ret_list is its value.
 * Only for EDN, only lists of integers, and the text must end in a closing
 * bracket.  Returns the place after the list, or NULL if it is not that
 * simple. */
const char *hf_elle_list_text(hf_elle *e, hf_key_id key, const char *p,
                              const char *end, hf_value_id *ret_list);

/* ---- export -------------------------------------------------------------- */

HF_MUST_USE hf_status hf_elle_export(const hf_history *h, hf_out *out,
                                     bool json, hf_error *err);

#endif

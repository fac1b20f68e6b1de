/* builder.h: the only way to make a history.
 *
 * Importers, recorders, the generator and the library's users all build a
 * history through one interface.  What users need of it is in holdfast.h,
 * with its rules; here is the rest.
 */
#ifndef HF_BUILDER_H
#define HF_BUILDER_H

#include "base/budget.h"
#include "history/extra.h"

/* Poll this budget while building (borrowed, may be NULL). */
void hf_builder_set_budget(hf_builder *b, hf_budget *budget);

/* About how many operations, transactions and values will come: columns are
 * sized once instead of growing.  Optional; 0 is "no idea". */
void hf_builder_expect(hf_builder *b, uint64_t ops, uint64_t txns,
                       uint64_t values);

/* hf_builder_list() for an integer element; fast when the same lists are read
 * again and again. */
hf_value_id hf_builder_list_int(hf_builder *b, hf_key_id key,
                                hf_value_id shorter, int64_t element);
/* Tells the builder that hf_builder_int() will be called with these soon. */
void hf_builder_prefetch_int(const hf_builder *b, hf_key_id key, int64_t value);
/* The same as hf_builder_int() for a value that was never named before and
 * never will be through another call: skips the lookup.  For generators. */
hf_value_id hf_builder_int_fresh(hf_builder *b, hf_key_id key, int64_t value);

/* Has anyone written this value so far?  (Meaning: is there an operation of
 * an installing kind that carries it.) */
bool hf_builder_is_written(hf_builder *b, hf_value_id value);

/* The level as a number, see model/level.h. */
void hf_builder_level(hf_builder *b, hf_txn_id t, uint8_t level);
/* Adds HF_OP_* flags to the operation added last. */
void hf_builder_op_flags(hf_builder *b, unsigned flags);
/* A snapshot for a predicate operation that has neither one nor a version set
 * (hf_predicate_in.snapshot); HF_NIL does nothing. */
void hf_builder_snapshot(hf_builder *b, hf_op_id op, hf_scalar snapshot);
/* Where it stands in the file, from 1. */
void hf_builder_line(hf_builder *b, hf_txn_id t, uint64_t line);

void hf_builder_time_unit(hf_builder *b, hf_time_unit unit);
void hf_builder_format(hf_builder *b, const char *format); /* static text */
void hf_builder_skip(hf_builder *b, uint64_t records);

/* Checks what an engine relies on: every id in range, every value of the key
 * that uses it (certificate.h asks whether the certificate makes sense).
 * hf_builder_finish() and the loaders have done it already. */
HF_MUST_USE hf_status hf_history_validate(const hf_history *h, hf_error *err);

#endif

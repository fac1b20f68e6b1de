/* canonical.h: one spelling for each value.
 *
 * Values are compared by their spelling, so 1.50 and 1.5, 1.0 and 1, and
 * {"a":1,"b":2} and {"b":2,"a":1} have to be spelled alike when they come in.
 */
#ifndef HF_CANONICAL_H
#define HF_CANONICAL_H

#include "base/out.h"

/* A decimal without superfluous zeros, an HF_INT if it is whole and fits; a
 * row with its columns sorted and their values canonical.  Other types come
 * back as they are.  The text lives in `scratch` until its next use.  False:
 * the text is no number or no JSON object. */
bool hf_canonical(hf_scalar value, hf_out *scratch, hf_scalar *ret);

#endif

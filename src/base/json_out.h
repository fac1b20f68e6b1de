/* json_out.h: writing JSON; commas and quotes take care of themselves.
 *
 *     hf_json j; hf_json_init(&j, out);
 *     hf_json_object(&j);
 *       hf_json_key(&j, "verdict"); hf_json_text(&j, "valid");
 *       hf_json_key(&j, "transactions"); hf_json_array(&j); ...
 * hf_json_end(&j); hf_json_end(&j);
 */
#ifndef HF_JSON_OUT_H
#define HF_JSON_OUT_H

#include "base/out.h"

#define HF_JSON_DEPTH 32

typedef struct hf_json {
    hf_out *out;
    unsigned depth;
    bool first; /* nothing written yet at this depth */
    bool after_key;
    char closers[HF_JSON_DEPTH];
} hf_json;

void hf_json_init(hf_json *j, hf_out *out);
void hf_json_object(hf_json *j);
void hf_json_array(hf_json *j);
void hf_json_end(hf_json *j); /* the innermost object or array */
void hf_json_key(hf_json *j, const char *name);
void hf_json_key_str(hf_json *j, hf_str name);
void hf_json_text(hf_json *j, const char *c_string); /* NULL writes null */
void hf_json_str(hf_json *j, hf_str s); /* bytes that are no UTF-8 become
                                           U+FFFD */
void hf_json_int(hf_json *j, int64_t value);
void hf_json_uint(hf_json *j, uint64_t value);
void hf_json_real(hf_json *j, double value);
void hf_json_bool(hf_json *j, bool value);
void hf_json_null(hf_json *j);
void hf_json_raw(hf_json *j, hf_str json); /* already JSON */

#endif

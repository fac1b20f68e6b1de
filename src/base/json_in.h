/* json_in.h: reading JSON by pulling, without a tree.
 *
 * Our own because a loader must keep up with the disk: nothing is allocated
 * for what is only skipped or compared, integers go straight into columns.
 * The caller says what it expects and gets it or an error with the line:
 *
 *     hf_json_in j;
 *     hf_json_in_init(&j, text, length);
 *     hf_json_in_open(&j, '{');
 *     while (hf_json_in_next_key(&j, &key)) {
 *         if (hf_str_eq(key, HF_STR("tid"))) hf_json_in_int(&j, &tid);
 *         else hf_json_in_skip(&j);
 *     }
 *     if (j.failed) ...                  (sticky; j.err says what and where)
 *
 * Strings come as views: into the input where they hold no escape, else into
 * the reader's scratch buffer, valid until the next string is read.
 */
#ifndef HF_JSON_IN_H
#define HF_JSON_IN_H

#include "base/error.h"
#include "base/out.h"
#include "base/str.h"

typedef struct hf_json_in {
    const char *start, *at, *end;
    uint64_t first_line; /* line number of `start`, usually 1 */
    bool failed;
    hf_error err;
    unsigned depth;
    hf_out scratch[4]; /* unescaped strings, used in turn */
    unsigned next_scratch;
} hf_json_in;

void hf_json_in_init(hf_json_in *j, const char *text, size_t length);
void hf_json_in_release(hf_json_in *j);

char hf_json_in_peek_slow(hf_json_in *j);
/* Skips white space; the next character, or 0 at the end or on failure. */
static inline char hf_json_in_peek(hf_json_in *j)
{
    if (j->at < j->end && (unsigned char)*j->at > ' ')
        return *j->at;
    return hf_json_in_peek_slow(j);
}
/* Expects '{' or '['. */
bool hf_json_in_open(hf_json_in *j, char bracket);
/* In an object: true and the next key (its ':' consumed), false at '}' or on
 * failure.  In an array: true if there is another element, false at ']'.
 * Commas are taken care of. */
bool hf_json_in_next_key(hf_json_in *j, hf_str *ret_key);
bool hf_json_in_next_item(hf_json_in *j);
bool hf_json_in_string(hf_json_in *j, hf_str *ret_text);
bool hf_json_in_int(hf_json_in *j, int64_t *ret_value);
bool hf_json_in_uint(hf_json_in *j, uint64_t *ret_value);
bool hf_json_in_bool(hf_json_in *j, bool *ret_value);
/* Consumes null if it is next. */
bool hf_json_in_null(hf_json_in *j);
/* null, a number, a string, a boolean, or an object (as HF_ROW, its text as
 * it stands); arrays fail. */
bool hf_json_in_scalar(hf_json_in *j, hf_scalar *ret_value);
/* Passes over one value of any kind; ret_text (may be NULL) gets its text. */
bool hf_json_in_skip(hf_json_in *j, hf_str *ret_text);
/* Sets the sticky error at the current place. */
bool hf_json_in_fail(hf_json_in *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The line the reader stands on: counted when asked. */
uint64_t hf_json_in_line(const hf_json_in *j);

#endif

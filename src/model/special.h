/* special.h: famous forms of the anomaly classes.
 *
 * Write skew is a G2-item, but not every G2-item is a write skew.  A special
 * form is a well-known shape inside a class, with a name, an example and an
 * explanation of its own, and with levels of its own: a weak level may forbid
 * the form without forbidding the whole class.
 */
#ifndef HF_SPECIAL_H
#define HF_SPECIAL_H

#include "model/anomaly.h"

typedef struct hf_special_form {
    const char *name;             /* "write skew" */
    hf_anomaly anomaly;           /* the class it is a form of */
    const char *catalog;          /* "C11": its row in the catalog */
    const char *const *aliases;   /* NULL-terminated */
    const hf_level *forbidden_at; /* weakest levels, ended by LEVEL_COUNT */
    const char *summary;          /* one line */
    const char *meaning;          /* a paragraph: what a user would see */
    const char *example;          /* smallest history, native JSON Lines */
    const char *remedy;           /* a paragraph: what to do about it */
} hf_special_form;

/* NULL after the last. */
const hf_special_form *hf_special_at(unsigned index);

/* By name, row of the catalog or alias; NULL if there is none. */
const hf_special_form *hf_special_find(hf_str name);

/* Is this form an error at the level? */
bool hf_level_forbids_form(hf_level level, const hf_special_form *form);

#endif

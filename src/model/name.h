/* name.h: finding a row of a table by a name typed by a person.
 *
 * Levels, anomalies and special forms all have a name, a second name and
 * aliases.  hf_str_same_name() decides what is equal.
 */
#ifndef HF_NAME_H
#define HF_NAME_H

#include "base/str.h"

typedef struct hf_name_row {
    const char *name;
    const char *second;         /* "" or NULL: none */
    const char *const *aliases; /* NULL-terminated */
} hf_name_row;

/* Row `index` of a table; false after the last. */
typedef bool (*hf_name_table)(unsigned index, hf_name_row *ret_row);

bool hf_name_find(hf_name_table table, hf_str name, unsigned *ret_index);

/* The name or alias nearest to `name`, or NULL if none is near.  `distance`
 * (may be NULL) is in and out: only nearer ones count, and it becomes the
 * distance of the one returned, so that several tables can be asked. */
const char *hf_name_suggest(hf_name_table table, hf_str name,
                            unsigned *distance);

/* The distance to start with when `distance` is used. */
unsigned hf_name_far(hf_str name);

#endif

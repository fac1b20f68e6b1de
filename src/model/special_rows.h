/* special_rows.h: the table of special forms, inside model/ only. */
#ifndef HF_SPECIAL_ROWS_H
#define HF_SPECIAL_ROWS_H

#include "model/name.h"
#include "model/special.h"

#define HF_SPECIAL_COUNT 20

extern const hf_special_form hf_special_rows[HF_SPECIAL_COUNT];

/* The rows as what name.h searches. */
bool hf_special_names(unsigned index, hf_name_row *ret_row);

#endif

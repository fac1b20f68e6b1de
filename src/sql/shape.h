/* shape.h: conditions that differ in their numbers only; for src/sql. */
#ifndef HF_SQL_SHAPE_H
#define HF_SQL_SHAPE_H

#include "sql/tree.h"

#define HF_SHAPE_NUMBERS 16u
#define HF_SHAPE_LENGTH 240u

/* A text with its whole numbers taken out: "a >= $1 AND a <= $2". */
typedef struct hf_sql_shape {
    char text[HF_SHAPE_LENGTH];
    size_t length;
    uint32_t n;
    int64_t numbers[HF_SHAPE_NUMBERS];
} hf_sql_shape;

/* False: the text has none, too many, or something in it that might make
 * another thing of a parameter than of a number. */
bool hf_sql_shape_of(hf_str text, hf_sql_shape *ret);

#endif

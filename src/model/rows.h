/* rows.h: how the tables of this folder write lists inside a row. */
#ifndef HF_ROWS_H
#define HF_ROWS_H

#include "model/level.h"

#define HF_LEVELS(...) ((const hf_level[]){__VA_ARGS__, HF_LEVEL_COUNT})
#define HF_NO_LEVELS ((const hf_level[]){HF_LEVEL_COUNT})
#define HF_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HF_NO_NAMES ((const char *const[]){NULL})

#endif

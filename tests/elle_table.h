/* elle_table.h: the two tables that elle_verdicts.c compares with. */
#ifndef HF_ELLE_TABLE_H
#define HF_ELLE_TABLE_H

#include "base/vec.h"
#include "formats/format.h"
#include "model/anomaly.h"

#define HF_N_COMPUTED 9

/* The levels of the computed columns, and the columns' names. */
extern const hf_level hf_computed_level[HF_N_COMPUTED];
extern const char *const hf_computed_name[HF_N_COMPUTED];

/* A history of the index.  Text is borrowed from the input. */
typedef struct hf_index_row {
    hf_str path;
    hf_str computed[HF_N_COMPUTED]; /* "ok", "viol" or empty */
} hf_index_row;

typedef enum hf_elle_column {
    HF_ELLE_PATH,
    HF_ELLE_LEVEL,
    HF_ELLE_ASSUME,
    HF_ELLE_VERDICT,
    HF_ELLE_NAMED,
    HF_ELLE_OURS,
    HF_ELLE_NAMES,
    HF_ELLE_REMARK,
    HF_ELLE_COLUMN_COUNT
} hf_elle_column;

/* One line of the table.  Text is borrowed from the input. */
typedef struct hf_elle_row {
    hf_str cell[HF_ELLE_COLUMN_COUNT];
    hf_level level;
    unsigned assume; /* HF_REST_* */
    bool judged;     /* by Elle; false for '-' */
    bool seen;       /* it was compared */
} hf_elle_row;

typedef HF_VEC(hf_index_row) hf_index_rows;
typedef HF_VEC(hf_elle_row) hf_elle_rows;

/* A set of anomalies, one bit each. */
typedef uint64_t hf_anomaly_set;
_Static_assert(HF_ANOMALY_COUNT <= 62, "anomalies do not fit");
#define HF_SET_ANY UINT64_MAX           /* '-' in the table */
#define HF_SET_STRANGE (UINT64_MAX - 1) /* some name is none of ours */

/* "G1a+dirty-update": any spelling and alias will do. */
hf_anomaly_set hf_anomaly_set_read(hf_str list);
/* Is `piece` one of the parts of `list`, which `mark` separates? */
bool hf_str_lists(hf_str list, char mark, hf_str piece);

/* False if a column is missing. */
bool hf_index_read(const hf_input *in, hf_index_rows *rows);
/* False, and a line on standard error, if a line makes no sense. */
bool hf_elle_read(const char *path, const hf_input *in, hf_elle_rows *rows);

#endif

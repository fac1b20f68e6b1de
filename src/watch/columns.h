/* columns.h: rows whose columns are read and written one by one.
 *
 * A value of a history may be an object of columns.  An UPDATE that sets some
 * of them, or a SELECT of some, names only those: the others are somebody
 * else's.  Then each column is a key of its own, and the row is a key that
 * says whether it is there (HF_WATCH_PRESENT, or no row).
 *
 * A table whose rows always come whole, with the same columns, keeps one key
 * for each row: conditions over several columns can be evaluated there.
 * Whether that is so can be told of a file that is there from beginning to
 * end (hf_columns_survey()); of a stream nobody can know, and columns are
 * apart from the first row on.  It would not do to change one's mind: what
 * was written before would be missing among the versions of the columns.
 *
 * Both readings of "w x {a: 1}", "the row is now that" and "column a is now
 * 1", agree with what is judged: a read is of the columns that it names.
 */
#ifndef HF_WATCH_COLUMNS_H
#define HF_WATCH_COLUMNS_H

#include "base/json_in.h"
#include "base/vec.h"
#include "history/history.h"

/* Values that are no hash and no number (value.h). */
#define HF_WATCH_PRESENT 4u  /* of a row whose columns are keys */
#define HF_WATCH_NULL 6u     /* of a column: NULL */
#define HF_WATCH_NOT_SAID 8u /* initial: nobody announced it */

typedef enum hf_table_mode {
    HF_TABLE_NEW, /* no row with columns was met */
    HF_TABLE_WHOLE,
    HF_TABLE_COLUMNS
} hf_table_mode;

typedef struct hf_columns {
    struct {
        uint64_t names; /* a hash of those of its rows */
        uint8_t mode;   /* hf_table_mode */
    } * tables;         /* by number */
    uint32_t n_tables;
    bool is_survey; /* rows met are only looked at */
} hf_columns;

void hf_columns_release(hf_columns *c);
/* A row of a table (key_names.h) was met. */
hf_table_mode hf_columns_meet(hf_columns *c, uint32_t table, hf_scalar row);

/* Walks over the columns of a row: begin, next until false, end. */
typedef struct hf_column_walk {
    hf_json_in in;
    hf_str name;
    hf_scalar value; /* both until the next one */
} hf_column_walk;

void hf_column_walk_begin(hf_column_walk *w, hf_scalar row);
bool hf_column_walk_next(hf_column_walk *w);
void hf_column_walk_end(hf_column_walk *w);

#endif

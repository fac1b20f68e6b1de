/* sql.h: SQL conditions and statements, parsed once and evaluated on rows.
 *
 * The interpreter oracle: does this row satisfy that condition?  Texts are
 * parsed by libpg_query (see pg_*.c) into our own small tree, bound to
 * numbered columns and kept by text in a cache.  Statements and tables in
 * memory are in table.h and exec.h; asking a real database is oracle.h.
 *
 * Answers follow one dialect.  HF_SQL_ANY is "we do not know the database":
 * what databases disagree about (the order of texts, LIKE where the case of
 * letters decides, integer division with a rest, division by zero, overflow,
 * text against number) is then no answer but HF_SQL_ERROR with the reason.
 *
 * A cache and what it hands out belong to one thread at a time; testing a
 * condition only reads it, so several threads may do that at once.
 */
#ifndef HF_SQL_H
#define HF_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "holdfast.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hf_sql_dialect {
    HF_SQL_ANY = 0,  /* not known: only what all agree about */
    HF_SQL_POSTGRES, /* with collation C */
    HF_SQL_SQLITE,
    HF_SQL_DIALECT_COUNT
} hf_sql_dialect;

typedef enum hf_sql_type {
    HF_SQL_NULL = 0,
    HF_SQL_BOOL,
    HF_SQL_INT,
    HF_SQL_DECIMAL, /* exact: coefficient and scale */
    HF_SQL_REAL,
    HF_SQL_TEXT,
    HF_SQL_DATE,      /* days since 2000-01-01 in `integer` */
    HF_SQL_TIMESTAMP, /* microseconds since 2000-01-01 in `integer` */
    HF_SQL_TYPE_COUNT
} hf_sql_type;

/* What else is known about a value (hf_sql_value.note). */
#define HF_SQL_NOTE_INT4 1u    /* INT: 32 bits wide in the database */
#define HF_SQL_NOTE_INT8 2u    /* INT: 64 bits wide; neither: not known */
#define HF_SQL_NOTE_LITERAL 4u /* TEXT: a quoted literal, not yet of a type */

__extension__ typedef __int128 hf_int128;

/* One value.  Text is borrowed. */
typedef struct hf_sql_value {
    uint8_t type;    /* hf_sql_type */
    uint8_t scale;   /* DECIMAL: digits after the point */
    uint8_t note;    /* HF_SQL_NOTE_ */
    uint32_t length; /* TEXT: bytes */
    union {
        int64_t integer; /* BOOL (0, 1), INT, DATE, TIMESTAMP */
        double real;
        const char *text;
        hf_int128 decimal; /* coefficient: value * 10^scale */
    };
} hf_sql_value;

static inline hf_sql_value hf_sql_of_int(int64_t i)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = HF_SQL_INT;
    v.integer = i;
    return v;
}

static inline hf_sql_value hf_sql_of_text(hf_str s)
{
    hf_sql_value v;

    memset(&v, 0, sizeof(v));
    v.type = HF_SQL_TEXT;
    v.length = (uint32_t)s.len;
    v.text = s.ptr;
    return v;
}

/* HF_NIL is NULL, HF_REAL a DECIMAL (a REAL if it has an exponent or too many
 * digits).  A row or a list is NULL here: take its columns. */
hf_sql_value hf_sql_of_scalar(hf_scalar s);
/* Is a recorded result (of an aggregate, a cell) the computed one?  Numbers
 * by value, whatever their type. */
bool hf_sql_scalar_equal(hf_scalar recorded, const hf_sql_value *v);
/* Column `name` of a row: HF_ROW is the text of one JSON object; the only
 * column of any other scalar is "value".  A name that is not there as it is
 * spelled is looked for in any case of its letters.  False: no such column, or
 * it holds no plain value.  Text with escapes is copied into `arena`; without
 * an arena (NULL) such a column is "not there". */
bool hf_sql_row_column(hf_scalar row, hf_str name, hf_arena *arena,
                       hf_sql_value *ret);
/* A total order for indexes: null < booleans < numbers by value < texts by
 * bytes < dates < timestamps. */
int hf_sql_order(const hf_sql_value *a, const hf_sql_value *b);

/* ---- conditions --------------------------------------------------------- */

/* Parsed statements and conditions, by text.  Owns all it hands out. */
typedef struct hf_sql_cache hf_sql_cache;
hf_sql_cache *hf_sql_cache_new(hf_sql_dialect dialect);
void hf_sql_cache_free(hf_sql_cache *c);

typedef struct hf_sql_expr hf_sql_expr;

/* The condition with this text: a SQL boolean expression over the columns of
 * one row.  NULL: not understood, err names the construct.  Each text is
 * parsed once, whether it is understood or not.  O(length). */
const hf_sql_expr *hf_sql_condition(hf_sql_cache *c, hf_str text,
                                    hf_error *err);

/* The statement with this text: SELECT, INSERT, UPDATE or DELETE, with
 * parameters as $1, ? or :name.  To run it see exec.h. */
typedef struct hf_sql_statement hf_sql_statement;
const hf_sql_statement *hf_sql_parse(hf_sql_cache *c, hf_str text,
                                     hf_error *err);

/* The columns it uses, numbered from 0 for hf_sql_test().  Names are folded
 * to lower case unless they were quoted. */
uint32_t hf_sql_n_columns(const hf_sql_expr *e);
hf_str hf_sql_column_name(const hf_sql_expr *e, uint32_t column);

typedef enum hf_sql_truth {
    HF_SQL_FALSE = 0,
    HF_SQL_TRUE,
    HF_SQL_UNKNOWN, /* SQL's third truth value: no match */
    HF_SQL_ERROR    /* cannot be said, err says why */
} hf_sql_truth;

/* columns[i] is the row's value of column i.  err may be NULL. */
hf_sql_truth hf_sql_test(const hf_sql_expr *e, const hf_sql_value *columns,
                         hf_error *err);

/* One interval of values in hf_sql_order(), NULL never in it. */
typedef struct hf_sql_range {
    hf_sql_value low, high;
    bool has_low, has_high;   /* else without an end on that side */
    bool low_open, high_open; /* the end itself is not in it */
} hf_sql_range;

/* The condition is TRUE for no row whose column lies outside all of the
 * ranges (they are disjoint and ascending; none: never TRUE).  Only rows whose
 * column is of the ranges' class (numbers, texts, ...) or NULL are spoken of:
 * test the others.  exact: the condition is TRUE for every row inside, no
 * test needed; of the class, again. */
typedef struct hf_sql_bound {
    uint32_t column;
    uint32_t n_ranges;
    const hf_sql_range *ranges;
    hf_sql_type class_of; /* HF_SQL_INT stands for all numbers */
    bool exact;
} hf_sql_bound;

/* At most one for each column, the most telling (fewest, narrowest) first;
 * owned by e.  Returns how many. */
uint32_t hf_sql_bounds(const hf_sql_expr *e, const hf_sql_bound **ret);
/* There are some, and the condition is TRUE for every row that is inside all of
 * them; of their classes, again. */
bool hf_sql_bounds_say_all(const hf_sql_expr *e);

#ifdef __cplusplus
}
#endif

#endif

/* tree.h: our own small form of SQL expressions and statements.
 *
 * The parser (pg_*.c) makes these trees once for each text; they never change
 * afterwards.  Binding (bind.c) copies an expression and fills in what the
 * tables decide: slots of columns, static types, casts.  Everything lives in
 * arenas; nothing is freed one by one.
 */
#ifndef HF_SQL_TREE_H
#define HF_SQL_TREE_H

#include "sql/sql.h"

typedef enum hf_sql_kind {
    HF_N_CONST = 0,
    HF_N_COLUMN, /* table.name; bound: slot, depth */
    HF_N_PARAM,  /* slot: number, counted from 0 */
    HF_N_STAR,   /* name.* or *; only in a list of results */
    HF_N_DEFAULT,
    HF_N_ARITHMETIC, /* op: + - * / % */
    HF_N_NEGATE,
    HF_N_CONCAT,
    HF_N_COMPARE,  /* op: hf_sql_comparison */
    HF_N_DISTINCT, /* IS DISTINCT FROM; negated: IS NOT DISTINCT FROM */
    HF_N_AND,      /* two or more */
    HF_N_OR,
    HF_N_NOT,
    HF_N_IS_NULL,  /* negated: IS NOT NULL */
    HF_N_IS_TRUTH, /* op: hf_sql_truth; negated */
    HF_N_BETWEEN,  /* value, low, high; op 1: symmetric; negated */
    HF_N_IN,       /* args[0] in the others; negated */
    HF_N_LIKE,     /* text, pattern, escape; op 1: ILIKE; negated */
    HF_N_CASE,     /* op 1: args[0] is compared; then pairs, then the else */
    HF_N_COALESCE,
    HF_N_NULLIF,
    HF_N_GREATEST,  /* op 1: least */
    HF_N_CAST,      /* to type, note, modifier */
    HF_N_CALL,      /* op: hf_sql_function once bound; name before */
    HF_N_AGGREGATE, /* op: hf_sql_aggregate; distinct in flag; no args: * */
    HF_N_EXISTS,
    HF_N_IN_SELECT, /* args[0] in select; negated */
    HF_N_SCALAR_SELECT,
    HF_N_COUNT
} hf_sql_kind;

typedef enum hf_sql_comparison {
    HF_CMP_EQ = 0,
    HF_CMP_NE,
    HF_CMP_LT,
    HF_CMP_LE,
    HF_CMP_GT,
    HF_CMP_GE
} hf_sql_comparison;

typedef enum hf_sql_aggregate {
    HF_AGG_COUNT = 0,
    HF_AGG_SUM,
    HF_AGG_AVG,
    HF_AGG_MIN,
    HF_AGG_MAX
} hf_sql_aggregate;

/* A static type: hf_sql_type, or one of these. */
#define HF_SQL_TYPE_ANY 200u /* only known when there is a value */

/* SQLite's column affinities. */
typedef enum hf_sql_affinity {
    HF_AFFINITY_NONE = 0,
    HF_AFFINITY_TEXT,
    HF_AFFINITY_NUMERIC,
    HF_AFFINITY_INTEGER,
    HF_AFFINITY_REAL,
    HF_AFFINITY_UNSAID /* a column whose declaration is not known */
} hf_sql_affinity;

#define HF_NF_NEGATED 1u
#define HF_NF_DISTINCT 2u /* of an aggregate */
/* Beside another operator without parentheses, where databases differ about
 * which one comes first; taken as PostgreSQL does. */
#define HF_NF_LOOSE 4u

typedef struct hf_sql_node hf_sql_node;
typedef struct hf_sql_select hf_sql_select;
struct hf_sql_node {
    uint8_t kind; /* hf_sql_kind */
    uint8_t op;
    uint8_t flags;
    uint8_t type;     /* bound: static type; HF_N_CAST: the wanted one */
    uint8_t note;     /* bound: HF_SQL_NOTE_ of the type */
    uint8_t affinity; /* bound: hf_sql_affinity */
    uint16_t depth;   /* bound column: how many queries further out */
    uint32_t slot;
    int32_t modifier; /* HF_N_CAST: length, or precision << 16 | scale; -1 */
    uint32_t n;
    hf_sql_node **args;
    hf_str table, name;          /* as written */
    const hf_sql_select *select; /* HF_N_EXISTS and its like, parsed */
    void *plan;                  /* the same, bound (exec.c) */
    hf_sql_value value;          /* HF_N_CONST */
};

typedef struct hf_sql_target {
    hf_sql_node *node;
    hf_str name; /* AS name, or the column of an UPDATE; may be empty */
} hf_sql_target;

typedef struct hf_sql_sort {
    hf_sql_node *node;
    bool descending;
    uint8_t nulls; /* 0: the database's own way, 1: first, 2: last */
} hf_sql_sort;

typedef enum hf_sql_join {
    HF_JOIN_TABLE = 0, /* no join: a table */
    HF_JOIN_SELECT,    /* no join: (SELECT ...) AS alias */
    HF_JOIN_CROSS,
    HF_JOIN_INNER,
    HF_JOIN_LEFT
} hf_sql_join;

typedef struct hf_sql_from hf_sql_from;
struct hf_sql_from {
    hf_sql_join kind;
    hf_str name, alias;
    const hf_sql_select *select;
    hf_sql_from *left, *right;
    hf_sql_node *on;
    hf_str *using_names;
    uint32_t n_using;
};

struct hf_sql_select {
    bool distinct;
    bool locks; /* FOR UPDATE, FOR SHARE: of no meaning here */
    uint32_t n_targets, n_group, n_order, n_rows;
    hf_sql_target *targets;
    hf_sql_from *from; /* may be NULL */
    hf_sql_node *where, *having, *limit, *offset;
    hf_sql_node **group;
    hf_sql_sort *order;
    hf_sql_node ***rows; /* VALUES: n_rows rows of n_targets each */
};

typedef enum hf_sql_verb {
    HF_SQL_SELECT = 0,
    HF_SQL_INSERT,
    HF_SQL_UPDATE,
    HF_SQL_DELETE
} hf_sql_verb;

typedef enum hf_sql_conflict {
    HF_CONFLICT_ERROR = 0,
    HF_CONFLICT_NOTHING,
    HF_CONFLICT_UPDATE
} hf_sql_conflict;

struct hf_sql_statement {
    hf_sql_verb verb;
    const hf_sql_select *select; /* SELECT, and the source of an INSERT */
    hf_str table, alias;
    hf_str *columns; /* INSERT; none: all */
    uint32_t n_columns;
    hf_sql_target *sets; /* UPDATE, and ON CONFLICT DO UPDATE */
    uint32_t n_sets;
    hf_sql_node *where; /* UPDATE, DELETE, DO UPDATE ... WHERE */
    hf_sql_conflict conflict;
    hf_str *conflict_columns;
    uint32_t n_conflict_columns;
    hf_sql_target *returning;
    uint32_t n_returning;
    uint32_t n_params;
    const hf_str *param_names; /* of :name, else empty; n_params */
};

/* Parses one statement, or a condition (is_condition: the text is a boolean
 * expression, found in select->where afterwards).  NULL: err says why. */
const struct hf_sql_statement *hf_sql_parse_text(hf_arena *arena, hf_str text,
                                                 bool is_condition,
                                                 hf_error *err);

/* What the lexer found; all in the arena. */
typedef struct hf_sql_lexed {
    hf_str text; /* rewritten, ends in NUL */
    const hf_str *param_names;
    uint32_t n_params;
    const uint32_t *parens; /* where parentheses and brackets are in it, and */
    const uint16_t *depths; /* how deep it is after each */
    uint32_t n_parens;
} hf_sql_lexed;

/* The text with ? and :name as $1, $2, ..., == as = and `name` as "name";
 * false: too long, too deep or not closed, err says what. */
bool hf_sql_lex(hf_arena *arena, hf_str text, const char *prefix,
                hf_sql_lexed *ret, hf_error *err);
/* How many parentheses are open at this byte of the rewritten text. */
unsigned hf_sql_lexed_depth(const hf_sql_lexed *l, uint32_t at);

#endif

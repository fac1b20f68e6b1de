/* tiny.h: a history small enough to change by hand.
 *
 * The property tests make, corrupt and shrink histories; an hf_history cannot
 * be changed once it is built.  This is the mutable form: plain structs of
 * fixed size, copied by assignment.  tiny_build() makes the real thing,
 * tiny_print() shows it in the native text form, tiny_parse() reads the
 * one-line notation of the fixtures.
 */
#ifndef TINY_H
#define TINY_H

#include <stdbool.h>
#include <stdio.h>

#include "conditions.h"
#include "history/builder.h"

/* A test of larger ones is compiled with other sizes (tests/meson.build). */
#ifndef TINY_TXNS
#define TINY_TXNS 8
#define TINY_ITEMS 16
#endif
#define TINY_KEYS 4
#define TINY_OPS 10
#define TINY_ENTRIES (2 * TINY_KEYS)
#define TINY_NIL (-1)
#define TINY_UNRECORDED (-2)
#define TINY_AVERAGE 840 /* averages are in parts of this */

/* What a predicate operation saw of a key, and whether it returned it. */
typedef struct tiny_entry {
    int key, value;
    int writer; /* place from 1; 0: not recorded; TINY_INITIAL */
    bool returned;
    bool unlisted; /* only returned, not in the version set */
} tiny_entry;

#define TINY_INITIAL (-1)

/* How the version set of a predicate operation was recorded. */
typedef enum tiny_set {
    TINY_SET_LISTED = 0,
    TINY_SET_NONE,
    TINY_SET_TIME, /* `time` */
    TINY_SET_IDS   /* `ids` */
} tiny_set;

typedef struct tiny_op {
    hf_op_kind kind;
    bool failed;
    int key;
    int value;  /* TINY_NIL, TINY_UNRECORDED; increment: the value after */
    int before; /* increment */
    int n_items;
    int items[TINY_ITEMS]; /* list read */
    condition where;       /* predicate; an aggregate's result is `value` */
    bool on_rows;          /* the table's keys, not the plain ones */
    char column;           /* aggregate: 'v', 'a', 'b'; 0: none */
    bool no_rows;          /* what was returned was not recorded */
    tiny_set set;
    int time;
    char ids[160];
    unsigned seen; /* for the generator: the commits in its view */
    int n_entries;
    tiny_entry entries[TINY_ENTRIES];
} tiny_op;

#define TINY_BEGUN 2

typedef struct tiny_txn {
    int session; /* -1: a session of its own */
    hf_outcome outcome;
    int begin, end; /* -1: not recorded */
    int id;         /* 0: its place from 1 */
    int commit_ts;  /* 0: not recorded */
    int level;      /* 0: it names none, else 1 + hf_level */
    int n_ops;
    tiny_op ops[TINY_OPS];
} tiny_txn;

typedef struct tiny_history {
    int n_txns, n_keys;
    tiny_txn txns[TINY_TXNS];
    bool is_list[TINY_KEYS];
    bool is_row[TINY_KEYS]; /* of table t, values are rows (conditions.h) */
    int initial[TINY_KEYS]; /* TINY_NIL: none */
    /* lists: elements to begin with; what is read has them before its own */
    int n_begun[TINY_KEYS], begun[TINY_KEYS][TINY_BEGUN];
    int n_order[TINY_KEYS]; /* certificate; 0: none */
    int order[TINY_KEYS][TINY_TXNS];
    bool unique; /* the promise that no value is written twice */
} tiny_history;

/* An empty history: no transactions, register keys, nothing else. */
tiny_history tiny_empty(void);

/* The caller frees with hf_history_release(); NULL if the builder refuses
 * it, and the reason is in err. */
hf_history *tiny_build(const tiny_history *t, hf_error *err);
void tiny_free(hf_history *h);

/* The native text form (docs/format-text.md) of what tiny_build() makes. */
void tiny_print(const tiny_history *t, FILE *f);

/* Reads "a: wx1 ry0 | @3-5 wx2 rx2 !u | lx12 ax3 / x:12": transactions
 * between bars; "a:" is a session, "@3-5" the times, "!a" or "!u" the
 * outcome; operations are w(rite), r(ead), i(nsert), d(elete), a(ppend),
 * l(ist read) with a key of x, y, z, k and digits: the value (0 in a read: nil)
 * or the elements; "p<5(x1y0)x" is a predicate read ("u..." an update) with
 * its version set and the keys returned.  After a slash the version orders,
 * as the places of transactions from 1, initial values, "x=1", and "!" for the
 * promise that no value is written twice.  The keys are those that are named.
 * Stops the program on a mistake: fixtures only.
 */
tiny_history tiny_parse(const char *text);

/* Has it predicate operations? */
bool tiny_has_predicates(const tiny_history *t);

/* Without transaction or operation; what names it is adjusted. */
tiny_history tiny_without_txn(const tiny_history *t, int txn);
tiny_history tiny_without_op(const tiny_history *t, int txn, int op);

/* Makes *t smaller, by one change at a time, while `fails` stays true. */
void tiny_shrink(tiny_history *t,
                 bool (*fails)(const tiny_history *t, void *user), void *user);

#endif

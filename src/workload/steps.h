/* steps.h: what the relational workloads share: running a step in one line,
 * cells of results, whole tables as numbers, counting what was committed, and
 * the distributions of WORKLOADS.md 0.3.
 */
#ifndef HF_WORKLOAD_STEPS_H
#define HF_WORKLOAD_STEPS_H

#include <stdatomic.h>

#include "sql/value.h"
#include "workload/workload.h"

/* ---- steps --------------------------------------------------------------- */

/* Runs a step with these parameters:
 *     if (!HF_STEP(c, read_stock, &rows, hf_i(w), hf_i(item))) return;
 * A macro, because it counts them. */
#define HF_STEP(c, step, ret, ...)                                             \
    hf_client_step((c), &(step), (const hf_sql_value[]){__VA_ARGS__},          \
                   (uint32_t)(sizeof((const hf_sql_value[]){__VA_ARGS__}) /    \
                              sizeof(hf_sql_value)),                           \
                   (ret))
/* One row of a table while loading. */
#define HF_LOAD(p, table, err, ...)                                            \
    hf_play_row((p), (table), (const hf_sql_value[]){__VA_ARGS__},             \
                (uint32_t)(sizeof((const hf_sql_value[]){__VA_ARGS__}) /       \
                           sizeof(hf_sql_value)),                              \
                (err))

static inline hf_sql_value hf_i(int64_t i)
{
    return hf_sql_of_int(i);
}

/* The place of the tag (the client fills it), and of loaded rows: 0. */
static inline hf_sql_value hf_tag(void)
{
    return hf_sql_of_int(0);
}

static inline hf_sql_value hf_t(const char *c_string)
{
    return hf_sql_of_text(hf_str_of(c_string));
}

/* After a step that must find a row: false: the transaction is over.  Takes the
 * place of the rows because it is evaluated together with the step:
 *     if (!hf_found(c, HF_STEP(c, read_stock, &rows, ...), &rows)) return; */
static inline bool hf_found(hf_client *c, bool went,
                            const hf_sql_result *const *rows)
{
    if (went && (*rows)->n_rows == 0)
        hf_client_give_up(c, "row is missing");
    return went && (*rows)->n_rows > 0;
}

/* A cell as a number; NULL is HF_CELL_NULL, a text that is no number its
 * hash. */
#define HF_CELL_NULL INT64_MIN
int64_t hf_cell(const hf_sql_result *r, uint64_t row, uint32_t column);
/* The text of a cell, cut to size - 1 bytes. */
void hf_cell_text(const hf_sql_result *r, uint64_t row, uint32_t column,
                  char *buffer, size_t size);

/* ---- whole tables, for checks -------------------------------------------- */

/* All rows of a scan as numbers, in the order of the scan. */
typedef struct hf_grid {
    uint64_t n;
    uint32_t columns;
    int64_t *cells; /* owned */
} hf_grid;

/* False: the step failed; the grid is empty then. */
bool hf_grid_read(hf_client *c, const hf_step *step, hf_grid *ret);
void hf_grid_release(hf_grid *g);
static inline const int64_t *hf_grid_row(const hf_grid *g, uint64_t i)
{
    return g->cells + i * g->columns;
}
/* The first row whose columns 1..k are not less than `key`, of a grid that is
 * sorted by them; n: none.  O(k log n). */
uint64_t hf_grid_lower(const hf_grid *g, const int64_t *key, uint32_t k);
/* The row that has exactly this key; NULL: none. */
const int64_t *hf_grid_find(const hf_grid *g, const int64_t *key, uint32_t k);
/* How many rows have this key in columns 1..k. */
uint64_t hf_grid_count(const hf_grid *g, const int64_t *key, uint32_t k);

/* ---- counting ------------------------------------------------------------ */

/* A sum over committed transactions.  What nobody knows to be committed may
 * count or not: the sum lies between low and high. */
typedef struct hf_count {
    _Atomic(int64_t) low, high;
} hf_count;

void hf_count_add(hf_count *n, int64_t value, bool known);
/* Notes a breach unless base + n can be `found`.  The text is `what`, what
 * was expected, and what was found. */
void hf_count_expect(hf_play *p, const char *name, const hf_count *n,
                     int64_t base, int64_t found, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

/* What a transaction found while it ran, for done(): per client. */
#define HF_MEMO_SIZE 8u
#define HF_MEMO_CLIENTS 1024u
typedef struct hf_memos {
    int64_t of[HF_MEMO_CLIENTS][HF_MEMO_SIZE];
} hf_memos;
static inline int64_t *hf_memo_of(hf_memos *n, const hf_client *c)
{
    return n->of[hf_client_number(c) % HF_MEMO_CLIENTS];
}
/* The same, all zero: at the beginning of run(). */
int64_t *hf_memo_begin(hf_memos *n, const hf_client *c);
/* False: more clients than there is room for; counts mean nothing then. */
static inline bool hf_memo_exact(const hf_client *c)
{
    return hf_client_count(c) <= HF_MEMO_CLIENTS;
}

/* Sums per object (customer, item): exact while there are no more objects
 * than places, else per group of objects. */
#define HF_LEDGER 4096u
typedef struct hf_ledger {
    hf_count of[HF_LEDGER];
} hf_ledger;
static inline hf_count *hf_ledger_of(hf_ledger *l, int64_t object)
{
    return &l->of[(uint64_t)object % HF_LEDGER];
}
/* Found values summed as the ledger groups them: zeroed by the caller. */
typedef struct hf_ledger_sums {
    int64_t of[HF_LEDGER];
} hf_ledger_sums;
static inline void hf_ledger_found(hf_ledger_sums *s, int64_t object,
                                   int64_t value)
{
    s->of[(uint64_t)object % HF_LEDGER] += value;
}
/* A breach for every place where they differ; at most 5. */
void hf_ledger_expect(hf_play *p, const char *name, const hf_ledger *l,
                      const hf_ledger_sums *found, const char *what);

/* Pairs that were written by committed (or perhaps committed) transactions: a
 * Bloom filter.  What is not in it was never written; a few that were not may
 * seem to be. */
#define HF_SEEN_WORDS 16384u
typedef struct hf_seen {
    _Atomic(uint64_t) words[HF_SEEN_WORDS];
} hf_seen;
void hf_seen_add(hf_seen *s, int64_t a, int64_t b);
bool hf_seen_has(const hf_seen *s, int64_t a, int64_t b);

/* ---- chance -------------------------------------------------------------- */

static inline int64_t hf_option(const hf_play *p, const char *name)
{
    return (int64_t)hf_play_option(p, name);
}

/* low .. high, both included. */
int64_t hf_uniform(hf_rng *r, int64_t low, int64_t high);
/* TPC-C 2.1.6 */
int64_t hf_nurand(hf_rng *r, int64_t a, int64_t low, int64_t high, int64_t c);
static inline bool hf_coin(hf_rng *r, double percent)
{
    return hf_rng_unit(r) * 100.0 < percent;
}

/* Zipf over 0 .. n-1, 0 the most popular.  Below 1: Gray's formula; 0 is
 * uniform; from 1 on: inversion with rejection (Hoermann and Derflinger), so
 * no table is needed. */
typedef struct hf_zipf {
    int64_t n;
    double theta;
    double zeta, eta;          /* theta < 1 */
    double h_first, h_last, s; /* theta >= 1 */
} hf_zipf;
void hf_zipf_init(hf_zipf *z, int64_t n, double theta); /* O(n) */
int64_t hf_zipf_draw(const hf_zipf *z, hf_rng *r);

/* `length` letters and digits that follow from `seed`, and a NUL: buffer has
 * length + 1 bytes.  Returns buffer. */
char *hf_letters(char *buffer, size_t length, uint64_t seed);

#endif

/* witness.h: the proof that comes with a verdict.
 *
 * valid, with
 *   serial order   transactions one after the other; every read sees the
 *                  state at its place
 *   snapshot order starts and commits of transactions; every read sees the
 *                  state at its transaction's start, and two transactions
 *                  that write one key do not overlap
 *   commit order   an order in which the level's own condition holds (weak
 *                  levels, consistent view, parallel snapshot isolation)
 * In all three, committed transactions are all listed, aborted ones never,
 * and those of unknown outcome exactly if they are taken to have happened.
 * The version order of every key is the order of its writers in the list
 * (snapshot order: of their commits).  `sources` settles reads that could
 * come from several writes: where absent, a read's value has one writer.
 *
 * invalid, with
 *   cycle          edges, each justified by operations
 *   operations     the operations of an anomaly without a cycle
 *   core           transactions that are invalid by themselves: with all
 *                  others gone, and reads from those others unconstrained,
 *                  no order satisfies the level
 *   proof          steps that end in a contradiction; see hf_step.  If it
 *                  lists transactions they are a core, and it is a proof
 *                  about the history restricted to those
 *
 * These are types only.  report/ writes them, verify/ reads them back.
 */
#ifndef HF_WITNESS_H
#define HF_WITNESS_H

#include "base/mem.h"
#include "model/anomaly.h"

typedef enum hf_witness_kind {
    HF_WITNESS_NONE = 0, /* verdict unknown */
    HF_WITNESS_SERIAL,
    HF_WITNESS_SNAPSHOT,
    HF_WITNESS_COMMIT,
    HF_WITNESS_CYCLE,
    HF_WITNESS_OPERATIONS,
    HF_WITNESS_CORE,
    HF_WITNESS_PROOF,
    HF_WITNESS_KIND_COUNT
} hf_witness_kind;

typedef enum hf_edge_kind {
    HF_EDGE_WW = 0, /* from's version of key is before to's */
    HF_EDGE_WR,     /* to reads from's version of key */
    HF_EDGE_RW,     /* from reads a version of key that is before to's */
    HF_EDGE_PWR,    /* predicate read from */
    HF_EDGE_PRW,    /* predicate anti-dependency */
    HF_EDGE_SO,     /* session order */
    HF_EDGE_RT,     /* real time */
    HF_EDGE_KIND_COUNT
} hf_edge_kind;

/* from_op / to_op justify the edge: ww: the two writes; wr: the write and the
 * read; rw: the read and the overwriting write; pwr, prw: the write and the
 * predicate operation, in the edge's direction; so, rt: HF_NONE. */
typedef struct hf_edge {
    hf_edge_kind kind;
    hf_txn_id from, to;
    hf_key_id key; /* HF_NONE for so, rt */
    hf_op_id from_op, to_op;
} hf_edge;

/* Read `op` takes the version of `writer` (HF_NONE: the initial version).
 * `index` is 0 for an item read, else counts a predicate's version set, then
 * its rows, then, if it has no version set, the keys of the history. */
typedef struct hf_source {
    hf_op_id op;
    uint32_t index;
    hf_txn_id writer;
} hf_source;

/* What a verdict rests on besides the history itself: promises of the user
 * (--assume), or the database's own order of transactions. */
#define HF_REST_LINEARIZABLE (1u << 0) /* versions of a key keep real time */
#define HF_REST_SEQUENTIAL (1u << 1)   /* ... and session order */
#define HF_REST_READS (1u << 2)      /* a write comes after what its txn read */
#define HF_REST_ORDER (1u << 3)      /* recorded serial order or commit times */
#define HF_REST_TIMESTAMPS (1u << 4) /* recorded starts and commits */
/* The expected order of transactions: exactly one of them, and the verdict
 * speaks of that order only. */
#define HF_REST_BY_SERIAL (1u << 5) /* the recorded serial order */
#define HF_REST_BY_COMMIT (1u << 6) /* recorded commit times */
#define HF_REST_BY_START (1u << 7)  /* recorded start times */
#define HF_REST_BY_END (1u << 8)    /* ends, by the clients' clock */
#define HF_REST_BY_FILE (1u << 9)   /* the order of the file */
#define HF_REST_COUNT 10
#define HF_REST_EXPECTED                                                       \
    (HF_REST_BY_SERIAL | HF_REST_BY_COMMIT | HF_REST_BY_START |                \
     HF_REST_BY_END | HF_REST_BY_FILE)
#define HF_REST_ASSUMABLE                                                      \
    (HF_REST_LINEARIZABLE | HF_REST_SEQUENTIAL | HF_REST_READS)

/* One step of a proof that no world (docs/semantics.md) satisfies the level.
 * A step is a clause: some facts of which at least one holds in every world
 * that does.  The facts:
 *
 *   before(x, a, b)  a's version of key x is before b's; its negation is
 *                    before(x, b, a).  Where the level forbids lost updates,
 *                    a version and the one whose writer read and replaced it
 *                    are one: before(x, a, c) and before(x, b, c) are the
 *                    same fact if b read x from a and wrote it.
 *   from(r, w)       read r takes its value from w (HF_NONE: the initial
 *                    version); only where it could come from several
 *   happened(t)      t, of unknown outcome, happened
 *
 * CYCLE: `edges` are a cycle that the level forbids, if each is there.  The
 * clause says that one is not: for each edge that is not certain, the negation
 * of what it takes for granted: before(x, from, to) for a ww edge,
 * before(x, a, to) for an rw edge whose read returned a's version, from(r, a)
 * for a wr or rw edge of a read with several possible sources, and
 * happened(t) for each end that need not have happened.  Behind the edge that
 * closes the cycle there may be ww edges: orders of versions that an edge of a
 * condition rests on (docs/semantics.md, "Proofs").
 * SOURCES: read `op` has one of its possible sources, or its transaction did
 * not happen.
 * HAPPENED: if `op` reads from `writer`, and its transaction happened, so did
 * the writer.
 * LIST: what `op`, a list of key x, says of the order of those who appended to
 * x, `writer` being one of them (w).  The edges, ww, all from or to w, are
 * taken for granted, and so is that those before w happened; those of unknown
 * outcome that no edge names did not.  So w's elements stand behind all of
 * those before it.  If that contradicts the list, or the list must be longer
 * or shorter, the clause says that not all of this is so; if the list ends
 * with w's last element, that then from(op, w).  Without a writer it counts:
 * those named by edges, and the committed ones, did not append so many
 * elements.  Below read-committed the edges are the whole order instead, each
 * from where the one before ends, then what follows from it; without edges w
 * is alone; but as above, with w, if those who append what is in the list were
 * all committed.  Versions of a key of which a list is told are never one.
 * PROMISE: two edges, both from the transaction of one operation to that of
 * another, which touch versions of one key; the first tells what the one does,
 * the second what the other does: wr, it reads (what the edge takes it to
 * return), ww, it installs its transaction's version.  An assumption of the
 * witness puts the first version before the second.  The clause says that this
 * is so, or one did not happen, or a read came from elsewhere.
 * FAULT: `op` is wrong whatever else is so (an anomaly without a cycle, if its
 * transaction happened): that did not happen.  With a writer: with what that
 * one did; one of the two did not happen.
 * RESOLVE: from the clauses of the earlier steps `used`: the first one, then
 * resolved with each of the others in turn, on the one fact that stands in one
 * of the two and negated in the other.
 *
 * The last step is the empty clause. */
typedef enum hf_step_kind {
    HF_STEP_CYCLE = 0,
    HF_STEP_SOURCES,
    HF_STEP_HAPPENED,
    HF_STEP_RESOLVE,
    HF_STEP_LIST,    /* or a sum: of a key with increments without results */
    HF_STEP_PROMISE, /* what the user assumes of two versions */
    HF_STEP_FAULT,   /* an operation that is wrong, or two */
    HF_STEP_KIND_COUNT
} hf_step_kind;

typedef struct hf_step {
    hf_step_kind kind;
    uint32_t first, n; /* cycle, list, promise: in edges; resolve: in used */
    hf_op_id op;       /* sources, happened, list, fault */
    hf_txn_id writer;  /* happened, list; fault: or HF_NONE */
    /* sources, happened: of a predicate operation, whose version of this key
     * it looked at: key + 1; 0: of an item */
    hf_key_id entry;
} hf_step;

/* hf_witness.chosen: what the read of an edge is taken to return. */
#define HF_CHOSEN_ONLY 0u             /* the only thing it can */
#define HF_CHOSEN_INITIAL 0xffffffffu /* the initial version */
#define HF_CHOSEN(writer) ((writer) + 1u)

/* What an expected order of transactions gives where an operation saw
 * something else: for one key the version that is there and the one that was
 * seen.  HF_NONE: none, or for those who wrote them, nobody or not known. */
typedef struct hf_state_row {
    hf_key_id key;
    hf_value_id expected, seen;
    hf_txn_id expected_by, seen_by;
    bool seen_later; /* seen_by stands behind the reader in the order */
} hf_state_row;

#define HF_STATE_ROWS 5 /* of one operation; others are counted */

typedef struct hf_state_view {
    hf_op_id op;
    bool is_serial; /* no state but the last before its transaction counts */
    bool has_total; /* aggregates: total is what the state gives */
    hf_scalar total;
    bool has_rows; /* the keys that differ */
    uint32_t n_rows, more_rows;
    hf_state_row *rows;
    bool is_list; /* an item that is a list: its elements */
    uint32_t n_items;
    hf_value_id *items;
    /* the states of the order that the operation fits, the nearest of them:
     * from a write on, until another, HF_NONE: to either end */
    bool fits, fits_later; /* some do; they are behind the reader */
    bool fits_none;        /* all were tried, and none does */
    hf_op_id since, until;
} hf_state_view;

typedef struct hf_witness {
    hf_witness_kind kind;
    /* each transaction is judged by the level it names, if it names one;
     * valid: a snapshot order, see docs/semantics.md, "Mixed levels" */
    bool mixed;
    unsigned rests; /* HF_REST_* */
    /* serial, commit, core: transactions; so proof, or none.  snapshot:
     * events, 2*t for the start and 2*t+1 for the commit of transaction t. */
    uint32_t n_order;
    uint32_t *order;
    /* core; proof that has one: with any one of them left out the others are
     * valid; it was confirmed by enumeration that all are invalid */
    bool minimal, confirmed;
    uint32_t n_sources;
    hf_source *sources; /* ascending by op, then index */
    /* cycle, operations */
    hf_anomaly anomaly;
    uint32_t n_edges;
    hf_edge *edges; /* edges[i].to == edges[i+1].from, around */
    uint32_t n_ops;
    hf_op_id *ops;
    /* expected state mismatch: what was expected instead, for those who
     * explain it; made by hf_verify_explain(), else NULL */
    uint32_t n_states;
    hf_state_view *states;
    /* proof; its cycles are in edges, one after the other */
    uint32_t n_steps;
    hf_step *steps;
    uint32_t n_used;
    uint32_t *used;   /* numbers of steps */
    uint32_t *chosen; /* per edge; NULL: HF_CHOSEN_ONLY all */
} hf_witness;

/* One finding, as reported; `witness` proves it. */
typedef struct hf_finding {
    hf_anomaly anomaly;
    const char *alias; /* "write skew"; NULL if it has none; static */
    hf_witness witness;
} hf_finding;

/* How often an anomaly was found.  Operations: the places; cycles: the
 * components of the dependency graph that have one, or, where the level asks
 * about single reads, the transactions that read too old. */
typedef struct hf_group {
    hf_anomaly anomaly;
    uint64_t count;
    bool at_least; /* the search was cut short */
} hf_group;

struct hf_result {
    hf_verdict verdict;
    hf_level level;
    bool mixed;          /* it is that of transactions that name none */
    const char *engine;  /* static */
    char *reason;        /* for unknown: why; in the arena; else NULL */
    const char *open_to; /* the engine asked before, and what it left open; */
    char *open;          /* NULL: this one was the first, or the only one */
    char *chosen;        /* why it, if the choice was ours; in the arena */
    hf_witness witness;  /* of the verdict */
    uint32_t n_findings;
    hf_finding *findings; /* worst first; may be empty */
    uint32_t n_groups;
    hf_group *groups; /* in the order of their first finding; may be empty */
    uint64_t worlds;  /* how many possibilities were tried */
    /* unknown, though a search left nothing: it has no proof that could be
     * checked again */
    bool is_excluded;
    double seconds;
    hf_arena arena; /* owns everything above */
};

hf_result *hf_result_new(hf_level level, const char *engine);

/* A copy whose arrays are in the arena. */
void hf_witness_copy(const hf_witness *w, hf_arena *arena, hf_witness *ret);

/* How many of the edges of step `s` are its cycle. */
static inline uint32_t hf_step_cycle(const hf_witness *w, const hf_step *s)
{
    const hf_edge *e = w->edges + s->first;
    uint32_t n = 0;

    while (n < s->n && (n == 0 || e[n - 1].to != e[0].from))
        n++;
    return n;
}

/* "valid" for kinds that prove validity, and so on. */
hf_verdict hf_witness_proves(hf_witness_kind kind);

/* `order` is transactions that are impossible by themselves. */
static inline bool hf_witness_has_core(const hf_witness *w)
{
    return (w->kind == HF_WITNESS_CORE || w->kind == HF_WITNESS_PROOF) &&
           w->n_order > 0;
}

/* "per-key-linearizable" for one bit of HF_REST_*. */
const char *hf_rest_name(unsigned bit);
const char *hf_edge_kind_name(hf_edge_kind kind);
const char *hf_witness_kind_name(hf_witness_kind kind);
const char *hf_verdict_name(hf_verdict verdict);

#endif

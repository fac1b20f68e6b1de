/* graph_judge.h: one question to the graph engine, between the files that
 * answer it.  Inside check/ only.
 *
 *   graph_cycles.c    the walks that the level asks for; valid
 *   graph_accept.c    recorded orders that are right
 *   graph_complete.c  orders at hand, where some are open
 *   graph_decide.c    searches, where they are; what to say
 *   graph_record.c    sources that recorded times tell
 *   graph_world.c     one world of a search
 *   graph_engine.c    who is asked what
 */
#ifndef HF_GRAPH_JUDGE_H
#define HF_GRAPH_JUDGE_H

#include "check/graph.h"

typedef struct hf_judge {
    hf_graph g;
    hf_graph_report report;
    hf_result *r;
    hf_walk walk;    /* the one whose order is the witness */
    bool is_serial;  /* it has all edges: its order is a serial one */
    bool choose;     /* what is open is decided by a search: poly.h */
    bool impossible; /* a search over states came to its end */
} hf_judge;

/* graph_engine.c: all of it, but for what a record may tell. */
void hf_judge_run(hf_judge *e);

/* graph_cycles.c */
void hf_judge_unknown(hf_judge *e, const char *reason);
/* The order as a witness: of a split walk, events; for levels that want
 * commits, the commits among them. */
void hf_judge_order(hf_judge *e, const uint32_t *order, uint32_t n,
                    hf_witness_kind kind, bool commits_only);
void hf_judge_valid(hf_judge *e); /* by the walk at hand */
/* The sessions and times that a level has, as kinds of a walk. */
unsigned hf_judge_orders_mask(const hf_level_info *level);
/* Fills the report; false if the budget ran out. */
bool hf_judge_cycles(hf_judge *e);

/* graph_accept.c: true: the order is a proof, and the result has it. */
bool hf_judge_accept_order(hf_judge *e);
bool hf_judge_accept_times(hf_judge *e);

/* graph_complete.c: true if one of a few orders proves it valid. */
bool hf_judge_complete(hf_judge *e);
bool hf_judge_complete_with_predicates(hf_judge *e);
void hf_judge_clear(hf_judge *e); /* the report */
/* Transactions that happened: by recorded order or the time of their end,
 * where that is known; else in the order of the file. */
hf_txn_id *hf_graph_guess_order(const hf_graph *g, uint32_t *ret_n);
/* A list was read in which it is not known who appended what. */
bool hf_graph_is_murky(const hf_graph *g);
bool hf_graph_is_undecided(const hf_graph *g);

/* graph_decide.c: what the known edges leave open. */
void hf_judge_settle(hf_judge *e);

/* graph_record.c: what was not decided, by sources that times suggest. */
void hf_judge_by_record(hf_judge *e);

#endif

/* pred_sight.h: what transactions see through snapshots by time, inside
 * pred_sight.c and pred_visible.c only. */
#ifndef HF_PRED_SIGHT_H
#define HF_PRED_SIGHT_H

#include "check/pred.h"

/* A row that an operation returned, read as an item. */
typedef struct hf_sight_row {
    hf_key_id key;
    uint32_t ver;
} hf_sight_row;

struct hf_pred_sight {
    hf_graph_report *r;
    hf_graph *g;
    hf_pred *p;
    unsigned axiom;
    HF_VEC(hf_sight_row) rows; /* ascending by key, operation by operation */
    uint32_t *row_first;       /* per operation of hf_pred.ops, and one more */
    uint8_t *dead;             /* per operation: it has two versions of a key */
    uint32_t *place;           /* per transaction: in session_txns */
    /* per transaction, ranks + 1, 0: none; the greatest of those */
    uint32_t *most;  /* it reads from */
    uint32_t *wrote; /* before it in its session */
    uint32_t *saw;   /* these read from */
    uint32_t *via;   /* visible to who reads from it */
    uint32_t *reach; /* per event: `via` of its chain so far; may be NULL */
    /* the transaction at hand */
    hf_txn_id t3;
    uint32_t limit; /* ranks below this do not matter */
    hf_edge tail[3];
    uint32_t n_tail;           /* edges from who is looked through to t3 */
    uint32_t *tested, *passed; /* per transaction: a round */
    uint32_t round;
    hf_edge best[6];
    uint32_t n_best;
    hf_pred_source_work work; /* for others */
    void *user;
};

static inline uint32_t hf_sight_later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The writer's commit rank + 1. */
static inline uint32_t hf_sight_rank(const hf_pred_sight *s, uint32_t ver)
{
    hf_txn_id t = s->g->ver_txn[ver];

    return t == HF_NONE ? 0 : s->p->rank[t] + 1;
}

static inline uint32_t hf_sight_via(const hf_pred_sight *s, uint32_t ver)
{
    hf_txn_id t = s->g->ver_txn[ver];

    return t == HF_NONE ? 0 : s->via[t];
}

static inline hf_edge hf_sight_so(hf_txn_id first, hf_txn_id then)
{
    return (hf_edge){HF_EDGE_SO, first, then, HF_NONE, HF_NONE, HF_NONE};
}

/* Lists the rows that operations returned. */
void hf_sight_prepare(hf_pred_sight *s);
void hf_sight_release(hf_pred_sight *s);
/* `reach`, from `via`. */
void hf_sight_bound_chains(hf_pred_sight *s);

/* True: enough. */
typedef bool (*hf_sight_work)(hf_pred_sight *s, const hf_edge *edge);
/* Whom t reads from, as far as their ranks (or what is visible through them)
 * are above the limit; operation by operation, not always once. */
bool hf_sight_sources(hf_pred_sight *s, hf_txn_id t, bool via,
                      hf_sight_work work);
/* The edge leads from somebody visible; true: there is no shorter cycle than
 * the best so far. */
bool hf_sight_test(hf_pred_sight *s, const hf_edge *edge);

#endif

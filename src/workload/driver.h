/* driver.h: what the workloads share, for src/workload only.
 *
 * A workload is one function that runs the next operation of a session.
 * drive() is the loop around it; it is inlined into each workload, so that
 * the operation is no call through a pointer.
 */
#ifndef HF_WORKLOAD_DRIVER_H
#define HF_WORKLOAD_DRIVER_H

#include "base/error.h"
#include "base/out.h"
#include "base/vec.h"
#include "store/store.h"
#include "workload/generate.h"
#include "workload/keys.h"

#define N_BITS 256
/* emme.c: values of the column that conditions ask for are below this. */
#define HF_EMME_SPAN 1000

/* What every step needs comes first. */
typedef struct client {
    uint32_t left;    /* operations still to run */
    uint32_t rmw_key; /* to be written next, or HF_NONE */
    int64_t rmw_read; /* what was read there */
    uint64_t begin;   /* time of its begin */
    uint64_t skew;    /* how wrong its clock is */
    uint32_t number;  /* the store's, of its transaction */
    hf_session_id id;
    uint32_t seen; /* commits when it began */
    bool running;
    HF_VEC(uint64_t) ends;   /* of its operations, if asked for */
    HF_VEC(int64_t) amounts; /* of its increments */
    size_t n_amounts;        /* recorded */
} client;

typedef struct serial_entry {
    uint64_t place; /* twice the commit number; readers one more */
    hf_txn_id txn;
} serial_entry;

typedef struct generator {
    /* what every step needs */
    const hf_generate_options *o;
    hf_builder *b;
    hf_store *s;
    client *clients;
    uint32_t *active; /* clients that still have something to do */
    uint32_t n_active;
    unsigned next_bits; /* of `bits` */
    uint64_t clock;     /* counts events, by twos */
    int64_t last_value;
    hf_keys keys;
    bool intervals;  /* of operations are recorded */
    bool replicated; /* so is the store */

    bool few_values;    /* equal values are wanted */
    bool serial;        /* the store has a serial order */
    bool snapshots;     /* the store has these */
    bool needs_writers; /* keep txn_of */
    bool stopped;       /* the budget is spent, or the builder failed */
    uint64_t n_begun, n_ended;
    hf_rng rng;

    HF_VEC(hf_value_id) nil;  /* by key; HF_NONE: not made yet */
    HF_VEC(hf_txn_id) txn_of; /* by the store's number; if wanted */
    HF_VEC(serial_entry) serials;
    HF_VEC(hf_version_ref) refs; /* scratch */

    /* scans */
    hf_version_sets sets;            /* how they are recorded, never DEFAULT */
    const char *table, *column;      /* of keys and conditions; NULL: none */
    HF_VEC(uint64_t) commit_times;   /* by commit number */
    HF_VEC(uint32_t) commit_numbers; /* whose it was; HF_NONE: nobody's */
    HF_VEC(uint32_t) ids;            /* scratch */
    hf_out text;                     /* scratch */

    /* append */
    uint32_t *slot_key, *slot_writes;
    HF_VEC(hf_value_id) list_of; /* by version; HF_NONE: not made yet */
    HF_VEC(uint32_t) todo;       /* scratch */

    uint64_t bits[N_BITS]; /* random numbers, made many at a time */
} generator;

/* The workloads: run to the end (or until stopped). */
void hf_run_register(generator *g);
void hf_run_rows(generator *g); /* the same, see rows.c */
void hf_run_append(generator *g);
void hf_run_predicate(generator *g);
void hf_run_emme(generator *g); /* both mixes */

/* generate.c */
/* A client without operations to run ends its transaction and begins the
 * next one, or is done. */
void hf_client_turn(generator *g, uint32_t slot);
/* More random numbers. */
void hf_generate_bits(generator *g);
/* Notes when the operations of client i ended. */
void hf_client_tick(generator *g, uint32_t i);
/* Makes n more keys known to the store and the history, as numbers. */
void hf_generate_keys(generator *g, uint32_t n);

/* record.c */
hf_value_id hf_record_nil(generator *g, uint32_t key);
/* The history's name for what an operation read or wrote. */
static inline hf_value_id value_of(generator *g, const hf_store_op *op)
{
    return op->id != HF_NONE ? op->id : hf_record_nil(g, op->key);
}
/* Adds the ended transaction of client i to the history. */
void hf_record(generator *g, uint32_t i, hf_outcome outcome,
               const hf_store_end *end);
/* After the transaction of client i has ended: notes when. */
void hf_record_commit_time(generator *g, uint32_t i);
/* The parts of the certificate that are known at the end only. */
void hf_record_rest(generator *g);

/* Chooses the kind of the next operation by 16 random bits. */
typedef enum choice { CHOOSE_READ, CHOOSE_WRITE, CHOOSE_RMW } choice;
static inline choice choose(const generator *g, uint32_t bits)
{
    uint32_t x = (bits & 0xffff) * 100 >> 16;

    if (x < g->o->read_percent)
        return CHOOSE_READ;
    return x < g->o->read_percent + g->o->write_percent ? CHOOSE_WRITE
                                                        : CHOOSE_RMW;
}

/* One random number decides a step: its top 16 bits the client (unless there
 * are very many), the next 32 the key, the last 16 the kind. */
static inline uint64_t next_bits(generator *g)
{
    if (g->next_bits == N_BITS)
        hf_generate_bits(g);
    return g->bits[g->next_bits++];
}

static inline uint32_t pick_client(generator *g, uint32_t n, uint64_t bits)
{
    if (n > 1024)
        return hf_rng_below(&g->rng, n);
    return (uint32_t)((bits >> 48) * n >> 16);
}

static inline uint32_t pick_key(generator *g, uint64_t bits)
{
    return hf_keys_pick(&g->keys, (uint32_t)(bits >> 16), &g->rng);
}

/* An operation returns false if the store refused it. */
typedef bool operation(generator *g, client *c, uint32_t session,
                       uint64_t bits);

static inline __attribute__((always_inline)) void drive(generator *g,
                                                        operation *next)
{
    while (g->n_active > 0) {
        uint64_t bits = next_bits(g);
        uint32_t slot = pick_client(g, g->n_active, bits);
        uint32_t i = g->active[slot];
        client *c = &g->clients[i];

        g->clock += 2;
        if (c->left > 0) {
            if (!next(g, c, i, bits))
                c->left = 0; /* refused: all that is left is to end */
            if (g->intervals)
                hf_client_tick(g, i);
        } else {
            hf_client_turn(g, slot);
        }
        if (g->replicated)
            hf_store_deliver(g->s);
    }
}

#endif

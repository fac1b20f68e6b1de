/* control_impl.h: one controlled execution, for control*.c. */
#ifndef HF_RUN_CONTROL_IMPL_H
#define HF_RUN_CONTROL_IMPL_H

#include "base/map.h"
#include "db/control.h"
#include "run/client_impl.h"
#include "run/control.h"
#include "workload/play.h"

typedef enum hf_event_kind {
    HF_EVENT_READ,
    HF_EVENT_WRITE,
    HF_EVENT_DELETE,
    HF_EVENT_SQL,
    HF_EVENT_SCAN, /* until HF_EVENT_SCAN_END: what follows is of one scan */
    HF_EVENT_SCAN_END
} hf_event_kind;

typedef struct hf_event {
    hf_event_kind kind;
    uint32_t key;     /* of the store */
    uint32_t version; /* read: of the store, HF_NONE: the initial one */
    uint32_t at;      /* of statements, of scans */
    bool locks;       /* read: by a statement that changes or locks it */
} hf_event;

typedef struct hf_told_statement {
    hf_sql_in in; /* all in the arena */
    bool failed;
} hf_told_statement;

typedef struct hf_told_txn {
    unsigned client, index, type;
    uint32_t first_event, n_events;
    hf_outcome outcome;
    uint32_t place; /* in the commit order, HF_NONE: it did not commit */
    uint32_t known; /* commits there were when it began */
} hf_told_txn;

typedef struct hf_taped {
    hf_drawn drawn;
    hf_rng rng;
    uint32_t fresh, counter;
} hf_taped;

struct hf_tape {
    unsigned per_client;
    hf_taped *at; /* by client, then index */
};

typedef struct hf_controller {
    const hf_control_options *o;
    hf_control_report *report;
    hf_play *play;
    hf_db *db;
    hf_store *store;
    hf_legal *legal;
    hf_client *clients;
    hf_statements statements;
    hf_db_control calls;

    HF_VEC(hf_told_txn) txns;
    HF_VEC(hf_event) events;
    HF_VEC(hf_told_statement) told;
    HF_VEC(hf_db_asked) scans;
    hf_map writer;             /* by version: the transaction, of txns */
    HF_VEC(uint32_t) by_place; /* commit order: of txns */
    HF_VEC(uint32_t) written;  /* keys of the transaction in hand */

    /* carrying out a plan */
    uint32_t place;        /* of the plan */
    HF_VEC(uint32_t) ran;  /* by place of the plan: of txns */
    HF_VEC(uint32_t) used; /* reads of the plan's transaction: done */
    hf_map plan_keys;      /* by hash of the name: the plan's key */
    HF_VEC(uint32_t)
    key_of;              /* by key of the store: of the plan, HF_NONE
                            none, HF_NONE - 1 not looked up yet */
    bool held;           /* it would have committed, and was to abort */
    bool running;        /* a transaction that is recorded */
    const hf_step *step; /* in hand */
} hf_controller;

static inline uint64_t hf_controller_hash(hf_str s)
{
    uint64_t h = s.len;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (uint8_t)s.ptr[i]) * 0x100000001b3u;
    return hf_mix64(h);
}

/* control.c: a statement that reads what it changes or locks. */
bool hf_step_locks(const hf_step *s);

/* control_choose.c */
extern const hf_db_control hf_controller_calls; /* without its user */

/* control_history.c */
HF_MUST_USE hf_status hf_controller_history(hf_controller *c, hf_history **ret,
                                            hf_error *err);
/* The name of a row: "table/key"; and its parts. */
hf_str hf_controller_key_name(const hf_controller *c, uint32_t key,
                              hf_arena *arena);
/* The number reports give to a transaction: client and index. */
int64_t hf_controller_label(const hf_controller *c, const hf_told_txn *t);

#endif

/* watch.h: judges a stream of events while the database runs (Leopard).
 *
 * The engine mirrors the mechanisms of one profile (profile.h) on what the
 * clients saw.  It is given events in the order of their `before`, and speaks
 * only when no choice of instants inside the intervals, and no outcome of
 * transactions whose outcome is not known, explains them.
 *
 *     hf_watch *w = hf_watch_new(&(hf_watch_options){
 *         .profile = hf_profile_find(HF_STR("postgresql/serializable"), NULL),
 *         .violation = print, .user = out});
 *     hf_watch_key(w, 0, HF_WATCH_INITIAL_ABSENT, 0);   new names, as they come
 *     hf_watch_feed(w, events, n);                      as often as wanted
 *     hf_watch_advance(w, t);                           nothing older comes
 *     hf_watch_finish(w);
 *     hf_watch_stats_get(w, &stats);
 *     hf_watch_free(w);
 *
 * All calls come from one thread, but for hf_watch_help().  With
 * options.threads above 1 the engine has threads of its own; violations are
 * still delivered from inside the caller's calls, in the same order for any
 * number of threads and however the events are cut into calls.
 *
 * Time.  An event is judged when no commit that it might have seen can still
 * come: that is when an event with a later `before` was fed, or
 * hf_watch_advance() said so.  A live source calls advance now and then, so
 * that a violation is not held back by silence.
 *
 * Ends.  A transaction that has no COMMIT or ABORT has not called one: what
 * it wrote may not be seen.  So a source whose client called commit and never
 * heard must deliver a COMMIT with `after` UINT64_MAX, and one that lost
 * sight of a client must say so with hf_watch_lost().
 */
#ifndef HF_WATCH_H
#define HF_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/event.h"
#include "watch/profile.h"

typedef struct hf_watch hf_watch;

typedef enum hf_watch_mechanism {
    HF_WATCH_CR,  /* consistent read */
    HF_WATCH_ME,  /* mutual exclusion */
    HF_WATCH_FUW, /* first updater wins */
    HF_WATCH_SC,  /* serialization certifier */
    HF_WATCH_MECHANISM_COUNT
} hf_watch_mechanism;

/* What was broken, in words that do not depend on a database. */
typedef enum hf_watch_rule {
    HF_RULE_OWN_WRITE,    /* CR: a read returned other than its own write */
    HF_RULE_TWO_VERSIONS, /* CR: one statement returned a row twice, different
                           */
    HF_RULE_STALE,   /* CR: the value was overwritten before the snapshot */
    HF_RULE_FUTURE,  /* CR: its writer committed after the snapshot */
    HF_RULE_DIRTY,   /* CR: its writer had not called commit */
    HF_RULE_ABORTED, /* CR: its writer rolled back */
    HF_RULE_INTERMEDIATE, /* CR: its writer wrote the key again */
    HF_RULE_NEVER,        /* CR: nobody (still known) wrote that value */
    HF_RULE_MISSING_ROW,  /* CR: a scan left out a row that must be there */
    HF_RULE_WRONG_ROW,    /* CR: a scan returned a row not in its condition */
    HF_RULE_TOTAL,        /* CR: a sum, count, ... of no choice of versions */
    HF_RULE_SKEWED,       /* CR: no single instant explains several reads */
    HF_RULE_LOCKS,        /* ME: incompatible locks were held together */
    HF_RULE_LOST_UPDATE,  /* FUW: both wrote a row, neither saw the other */
    HF_RULE_PIVOT,        /* SC(SSI): two consecutive anti-dependencies */
    HF_RULE_TIMESTAMP,    /* SC(TO): no instant for a transaction */
    HF_RULE_OVERWRITTEN,  /* SC(OCC): what was read changed before commit */
    HF_RULE_CYCLE,        /* SC: a cycle of dependencies */
    HF_RULE_COUNT
} hf_watch_rule;

const char *hf_watch_mechanism_name(hf_watch_mechanism m); /* "CR" */
const char *hf_watch_mechanism_title(hf_watch_mechanism m);
const char *hf_watch_rule_name(hf_watch_rule r);     /* "stale-read" */
const char *hf_watch_rule_sentence(hf_watch_rule r); /* what must hold */

/* What one event or version of a violation has to do with it. */
typedef enum hf_watch_part {
    HF_PART_READ,      /* returned `value` */
    HF_PART_SNAPSHOT,  /* when the snapshot was taken; no key */
    HF_PART_WRITE,     /* acquired the lock, or wrote */
    HF_PART_LOCK_READ, /* a read that locked */
    HF_PART_COMMIT,
    HF_PART_ABORT,
    HF_PART_CANDIDATE, /* a version that could have been read: its writer's
                          commit */
    HF_PART_COUNT
} hf_watch_part;

typedef enum hf_watch_dependency {
    HF_WATCH_WW,
    HF_WATCH_WR,
    HF_WATCH_RW,
    HF_WATCH_DEPENDENCY_COUNT
} hf_watch_dependency;

/* A bar of the timeline: from no earlier than `before` to no later than
 * `after`, clock error included; UINT64_MAX: for ever. */
typedef struct hf_violation_part {
    uint64_t txn; /* HF_WATCH_NO_TXN: the state at the beginning */
    uint64_t value;
    uint64_t before, after;
    uint32_t key; /* UINT32_MAX: none */
    uint8_t part; /* hf_watch_part */
    bool has_value;
    bool any_value;  /* CANDIDATE: its value is not known */
    bool is_unknown; /* nobody knows whether it committed */
} hf_violation_part;

/* `from` comes before `to`, because of `key`. */
typedef struct hf_violation_edge {
    uint64_t from, to; /* transactions */
    uint32_t key;
    uint8_t kind; /* hf_watch_dependency */
} hf_violation_edge;

#define HF_WATCH_NO_TXN UINT64_MAX
#define HF_VIOLATION_PARTS 24u
#define HF_VIOLATION_EDGES 16u

/* Plain data, valid during the callback. */
typedef struct hf_violation {
    uint64_t number; /* counted from 1 */
    uint64_t time;   /* `before` of what it was found on */
    hf_watch_mechanism mechanism;
    hf_watch_rule rule;
    const hf_profile *profile; /* what was promised */
    uint64_t txn;              /* whose read, lock or commit it is about */
    uint64_t other;            /* the one it collides with, or NO_TXN */
    uint32_t key;              /* UINT32_MAX: none */
    uint64_t value;            /* read, where the rule is about a read */
    bool clock_suspect;        /* a clock that jumped is involved */
    unsigned n_parts, n_edges; /* what fits; parts_left_out: what does not */
    unsigned parts_left_out;
    hf_violation_part parts[HF_VIOLATION_PARTS];
    hf_violation_edge edges[HF_VIOLATION_EDGES];
} hf_violation;

/* What was fed in and is not as it should be. */
typedef enum hf_watch_complaint {
    HF_COMPLAINT_OUT_OF_ORDER, /* begins before the client's last one ended */
    HF_COMPLAINT_LATE,         /* before < what was said to be over */
    HF_COMPLAINT_NEGATIVE,     /* after < before */
    HF_COMPLAINT_NO_BEGIN,     /* operation of a transaction nobody began */
    HF_COMPLAINT_ENDED,        /* operation of one that has ended */
    HF_COMPLAINT_NOT_ENDED,    /* another began before it ended */
    HF_COMPLAINT_BAD_EVENT,    /* kind, key, client out of range */
    HF_COMPLAINT_COUNT
} hf_watch_complaint;

const char *hf_watch_complaint_text(hf_watch_complaint c);

/* Why something was not judged. */
typedef enum hf_watch_unjudged {
    HF_UNJUDGED_INITIAL,   /* reads that may be of an unknown initial value */
    HF_UNJUDGED_EQUAL,     /* reads that equal values of several writers */
    HF_UNJUDGED_SPOILED,   /* reads of transactions complained about */
    HF_UNJUDGED_CONDITION, /* rows whose condition nobody could evaluate */
    HF_UNJUDGED_LEVEL,     /* reads of transactions at a weaker level */
    HF_UNJUDGED_LIMIT,     /* pairs left out at a limit of the engine */
    HF_UNJUDGED_TOTAL,     /* sums and the like of rows not all known */
    HF_UNJUDGED_COUNT
} hf_watch_unjudged;

const char *hf_watch_unjudged_text(hf_watch_unjudged u);

typedef struct hf_watch_stats {
    uint64_t events, transactions, committed, aborted, unknown, running;
    uint64_t reads_judged, scans, violations;
    uint64_t working, weaker; /* transactions with operations; of them those at
                                 a weaker level than is promised */
    uint64_t by_mechanism[HF_WATCH_MECHANISM_COUNT];
    /* Dependencies by how they became known: intervals alone, deduced though
     * intervals overlap, or not at all (the paper's beta is
     * (deduced + uncertain) / all). */
    uint64_t certain[HF_WATCH_DEPENDENCY_COUNT];
    uint64_t deduced[HF_WATCH_DEPENDENCY_COUNT];
    uint64_t uncertain[HF_WATCH_DEPENDENCY_COUNT];
    /* By order of overlapping instants: kept now. */
    uint64_t keys, versions_kept, locks_kept, readers_kept;
    uint64_t transactions_kept, edges_kept;
    uint64_t complaints[HF_COMPLAINT_COUNT];
    uint64_t unjudged[HF_UNJUDGED_COUNT];
    uint64_t clock_jump; /* ns, the largest seen of a client */
    uint64_t watermark;
    size_t bytes; /* held by the engine */
} hf_watch_stats;

/* Whether a value of a key satisfies the condition of a scan. */
typedef enum hf_watch_match {
    HF_MATCH_NO,
    HF_MATCH_YES,
    HF_MATCH_UNKNOWN
} hf_watch_match;

/* What a scan may return instead of its rows. */
typedef enum hf_watch_total_kind {
    HF_TOTAL_NONE,
    HF_TOTAL_COUNT,
    HF_TOTAL_SUM,
    HF_TOTAL_MIN,
    HF_TOTAL_MAX
} hf_watch_total_kind;

typedef struct hf_watch_options {
    const hf_profile *profile; /* borrowed */
    unsigned threads;          /* 0 and 1: the caller's only */
    /* There is something for hf_watch_help() to do; NULL: nobody calls it. */
    void (*helpers)(void *user);
    uint64_t clock_error; /* ns, between any two clients */
    /* Each violation; may be NULL.  False: no more of them, and feed does
     * nothing from there on. */
    bool (*violation)(void *user, const hf_violation *v);
    /* Each complaint (the event is borrowed); may be NULL. */
    void (*complaint)(void *user, hf_watch_complaint c, const hf_event *e);
    /* Does `value` (never HF_EVENT_NO_ROW) of `key` satisfy the condition of
     * scan `extra`?  Called from the engine's threads, so it only reads what
     * was there when the scan's SCAN event or the value was fed.  NULL: scans
     * have no conditions, every row in the range is returned. */
    hf_watch_match (*matches)(void *user, uint32_t scan, uint32_t key,
                              uint64_t value);
    /* The same for a total: does it count, and with what number?  NULL: totals
     * are not judged. */
    hf_watch_match (*counts)(void *user, uint32_t scan, uint32_t key,
                             uint64_t value, int64_t *ret);
    void *user;
    size_t batch; /* events judged together; 0: the engine's choice */
} hf_watch_options;

hf_watch *hf_watch_new(const hf_watch_options *options);
void hf_watch_free(hf_watch *w); /* NULL is fine */

/* What was there before the first event. */
typedef enum hf_watch_initial {
    HF_WATCH_INITIAL_UNKNOWN, /* the default of keys never announced */
    HF_WATCH_INITIAL_ABSENT,  /* no row */
    HF_WATCH_INITIAL_VALUE
} hf_watch_initial;

/* Announces a key, before the first event that names it. */
void hf_watch_key(hf_watch *w, uint32_t key, hf_watch_initial initial,
                  uint64_t value);

/* Puts a key of a row where scans find it: at `place` in `group`, both the
 * source's choice (a table, or an index; the primary key as an ordered
 * number).  After hf_watch_key(), before the first event that names the key; a
 * key is in one group at most.  Of a row whose columns are keys, one key that
 * tells whether the row is there is placed. */
void hf_watch_place(hf_watch *w, uint32_t key, uint32_t row, uint32_t group,
                    uint64_t place);

/* Says what scan `scan` (hf_event.extra) covers: the keys of `group` placed
 * from `first` to `last`, of which it returns those that satisfy its
 * condition.  Before the SCAN event. */
void hf_watch_scan(hf_watch *w, uint32_t scan, uint32_t group, uint64_t first,
                   uint64_t last, bool has_condition);

/* The same for a scan that returns a total of the rows that satisfy its
 * condition (a SUM of none of them is no number, and no event).  Only where all
 * rows of the group that were there at the beginning have been announced. */
void hf_watch_total(hf_watch *w, uint32_t scan, uint32_t group, uint64_t first,
                    uint64_t last, hf_watch_total_kind what);

/* Events in the order of `before`.  False once the callback said stop. */
bool hf_watch_feed(hf_watch *w, const hf_event *events, size_t n);

/* Events that have lost their place: of times that were judged, or out of
 * their client's order.  They are complained about; what they wrote may be seen
 * by anybody, or not.  Nothing else is disturbed by them, but that `extra` (not
 * of a SCAN) may say by how many microseconds the client's clock went back. */
void hf_watch_feed_late(hf_watch *w, const hf_event *events, size_t n);

/* No event with before < t will come. */
bool hf_watch_advance(hf_watch *w, uint64_t t);

/* By any thread, between hf_watch_new() and hf_watch_free(), where
 * options.helpers is set: works on what is to be judged.  False: there is
 * nothing, until that is called. */
bool hf_watch_help(hf_watch *w);

/* Nobody will hear of this client again, or nobody knows: its running
 * transaction may have committed at any time since its last event. */
void hf_watch_lost(hf_watch *w, uint32_t client);

/* No event will come.  Judges what is left. */
bool hf_watch_finish(hf_watch *w);

/* The newest `before` that was fed. */
uint64_t hf_watch_reached(const hf_watch *w);

/* Judges what was handed over first. */
void hf_watch_stats_get(hf_watch *w, hf_watch_stats *ret);

#endif

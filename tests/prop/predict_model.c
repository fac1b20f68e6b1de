/* predict_model.c: see predict_model.h. */
#include "predict_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/builder.h"

/* ---- parts --------------------------------------------------------------- */

static bool writes(const pm_op *op, int key)
{
    return (op->kind == PM_WRITE || op->kind == PM_DELETE) && op->key == key;
}

/* The last write of the key in the whole transaction; -1: none. */
static int last_write(const pm_history *h, int t, int key)
{
    int last = -1;

    for (int i = 0; i < h->txns[t].n_ops; i++)
        if (writes(&h->txns[t].ops[i], key))
            last = i;
    return last;
}

bool pm_reads(const pm_history *h, int t, int op, int key)
{
    const pm_op *o = &h->txns[t].ops[op];

    if (o->kind == PM_WRITE || o->kind == PM_DELETE ||
        (o->kind != PM_ROWS && o->key != key))
        return false;
    for (int i = 0; i < op; i++)
        if (writes(&h->txns[t].ops[i], key))
            return false;
    return true;
}

static bool reads_any(const pm_history *h, int t, int op)
{
    for (int k = 0; k < h->n_keys; k++)
        if (pm_reads(h, t, op, k))
            return true;
    return false;
}

/* Does t's version of the key take place? */
static bool installs(const pm_history *h, const pm_execution *x, int t, int key)
{
    int last = last_write(h, t, key);

    return last >= 0 && last < x->n_ops[t];
}

static bool before_in_session(const pm_history *h, int a, int b)
{
    return a < b && h->txns[a].session == h->txns[b].session;
}

static bool matches(const pm_history *h, int key, int writer)
{
    int64_t v;

    if (writer == PM_INITIAL) {
        v = h->initial[key];
    } else {
        const pm_op *o = &h->txns[writer].ops[last_write(h, writer, key)];

        v = o->kind == PM_DELETE ? 0 : o->value;
    }
    return v != 0 && v < PM_MATCH;
}

/* For the application the same as what was observed. */
static bool as_before(const pm_history *h, const pm_execution *x, int t, int op,
                      int key)
{
    const pm_op *o = &h->txns[t].ops[op];
    int now = x->from[t][op][key];

    if (now == o->from[key])
        return true;
    return o->kind == PM_ROWS && !matches(h, key, now) &&
           !matches(h, key, o->from[key]);
}

static bool op_changed(const pm_history *h, const pm_execution *x, int t,
                       int op)
{
    for (int k = 0; k < h->n_keys; k++)
        if (pm_reads(h, t, op, k) && !as_before(h, x, t, op, k))
            return true;
    return false;
}

/* ---- boundaries ---------------------------------------------------------- */

static int last_txn(const pm_history *h, const pm_execution *x, int session)
{
    int last = -1;

    for (int t = 0; t < h->n_txns; t++)
        if (h->txns[t].session == session && x->n_ops[t] > 0)
            last = t;
    return last;
}

static bool is_whole(const pm_history *h, const pm_execution *x, int t)
{
    return x->n_ops[t] == h->txns[t].n_ops;
}

static bool session_ends(const pm_history *h, const pm_execution *x,
                         int session)
{
    for (int t = 0; t < h->n_txns; t++)
        if (h->txns[t].session == session && !is_whole(h, x, t))
            return false;
    return true;
}

/* Where the session stops is a place of that kind. */
static bool stop_allowed(const pm_history *h, const pm_execution *x,
                         int session, pm_boundary b)
{
    int t = last_txn(h, x, session);

    if (session_ends(h, x, session))
        return true;
    if (t < 0)
        return b == PM_BEST;
    if (b == PM_RELAXED)
        return is_whole(h, x, t);
    if (reads_any(h, t, x->n_ops[t] - 1))
        return true;
    return b == PM_BEST && is_whole(h, x, t);
}

static bool changes_allowed(const pm_history *h, const pm_execution *x,
                            pm_boundary b)
{
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++) {
            if (!op_changed(h, x, t, op))
                continue;
            if (last_txn(h, x, h->txns[t].session) != t)
                return false;
            if (b == PM_STRICT && op != x->n_ops[t] - 1)
                return false;
        }
    return true;
}

static bool source_allowed(const pm_history *h, const pm_execution *x, int t,
                           int key, int from, pm_boundary b)
{
    if (from == PM_INITIAL)
        return true;
    if (from == t || before_in_session(h, t, from) ||
        !installs(h, x, from, key))
        return false;
    for (int op = 0; op < x->n_ops[from]; op++)
        if (op_changed(h, x, from, op) &&
            (b == PM_RELAXED || op < last_write(h, from, key)))
            return false;
    return true;
}

bool pm_allowed(const pm_history *h, const pm_execution *x, pm_boundary b)
{
    for (int s = 0; s < PM_SESSIONS; s++)
        if (!stop_allowed(h, x, s, b))
            return false;
    if (!changes_allowed(h, x, b))
        return false;
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                if (pm_reads(h, t, op, k) &&
                    !source_allowed(h, x, t, k, x->from[t][op][k], b))
                    return false;
    return true;
}

/* ---- orders -------------------------------------------------------------- */

typedef bool (*pm_test)(const pm_history *h, const pm_execution *x,
                        const int *place, void *user);

static bool try_orders(const pm_history *h, const pm_execution *x, int *order,
                       int n, pm_test test, void *user)
{
    if (n == h->n_txns || n == PM_TXNS) {
        int place[PM_TXNS] = {0};

        for (int i = 0; i < n; i++)
            place[order[i]] = i;
        return test(h, x, place, user);
    }
    for (int i = n; i < h->n_txns; i++) {
        int swap = order[n];

        order[n] = order[i];
        order[i] = swap;
        if (try_orders(h, x, order, n + 1, test, user))
            return true;
        order[i] = order[n];
        order[n] = swap;
    }
    return false;
}

static bool some_order(const pm_history *h, const pm_execution *x, pm_test test,
                       void *user)
{
    int order[PM_TXNS];

    for (int i = 0; i < h->n_txns; i++)
        order[i] = i;
    return try_orders(h, x, order, 0, test, user);
}

static bool keeps_sessions(const pm_history *h, const int *place)
{
    for (int a = 0; a < h->n_txns; a++)
        for (int b = a + 1; b < h->n_txns; b++)
            if (before_in_session(h, a, b) && place[a] > place[b])
                return false;
    return true;
}

static int place_of(const int *place, int t)
{
    return t == PM_INITIAL ? -1 : place[t];
}

static bool keeps_reads(const pm_history *h, const pm_execution *x,
                        const int *place)
{
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                if (pm_reads(h, t, op, k) &&
                    place_of(place, x->from[t][op][k]) >= place[t])
                    return false;
    return true;
}

/* The last version of the key before a place. */
static int newest(const pm_history *h, const pm_execution *x, const int *place,
                  int key, int before, int not )
{
    int found = PM_INITIAL;

    for (int t = 0; t < h->n_txns; t++)
        if (t != not &&installs(h, x, t, key) && place[t] < before &&
            place[t] > place_of(place, found))
            found = t;
    return found;
}

static bool is_serial(const pm_history *h, const pm_execution *x,
                      const int *place, void *user)
{
    (void)user;
    if (!keeps_sessions(h, place))
        return false;
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++) {
                int from = x->from[t][op][k], last;

                if (!pm_reads(h, t, op, k))
                    continue;
                last = newest(h, x, place, k, place[t], t);
                if (last == from)
                    continue;
                if (h->txns[t].ops[op].kind != PM_ROWS || matches(h, k, from) ||
                    matches(h, k, last))
                    return false;
            }
    return true;
}

bool pm_serializable(const pm_history *h, const pm_execution *x)
{
    return some_order(h, x, is_serial, NULL);
}

/* ---- levels by axiom ----------------------------------------------------- */

typedef bool relation[PM_TXNS][PM_TXNS];

static void base_relation(const pm_history *h, const pm_execution *x,
                          relation r)
{
    memset(r, 0, sizeof(relation));
    for (int t = 0; t < h->n_txns; t++) {
        for (int a = 0; a < t; a++)
            r[a][t] = before_in_session(h, a, t);
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                if (pm_reads(h, t, op, k) && x->from[t][op][k] != PM_INITIAL)
                    r[x->from[t][op][k]][t] = true;
    }
}

static void close(const pm_history *h, relation r)
{
    for (int m = 0; m < h->n_txns; m++)
        for (int a = 0; a < h->n_txns; a++)
            for (int b = 0; b < h->n_txns; b++)
                r[a][b] = r[a][b] || (r[a][m] && r[m][b]);
}

static bool saw_before(const pm_history *h, const pm_execution *x, int t,
                       int op, int a)
{
    for (int i = 0; i < op; i++)
        for (int k = 0; k < h->n_keys; k++)
            if (pm_reads(h, t, i, k) && x->from[t][i][k] == a)
                return true;
    return false;
}

static bool is_visible(const pm_history *h, const pm_execution *x,
                       const int *place, relation base, relation closed,
                       hf_predict_target target, const int at[2], int a)
{
    int t = at[0];

    switch (target) {
    case HF_PREDICT_READ_COMMITTED:
        return saw_before(h, x, t, at[1], a);
    case HF_PREDICT_READ_ATOMIC:
        return base[a][t];
    case HF_PREDICT_CAUSAL:
        return closed[a][t];
    default: /* prefix */
        for (int d = 0; d < h->n_txns; d++)
            if (base[d][t] && place[a] <= place[d])
                return true;
        return false;
    }
}

typedef struct axiom {
    hf_predict_target target;
    relation base, closed;
} axiom;

static bool keeps_axiom(const pm_history *h, const pm_execution *x,
                        const int *place, void *user)
{
    axiom *q = user;

    if (!keeps_sessions(h, place) || !keeps_reads(h, x, place))
        return false;
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                for (int a = 0; pm_reads(h, t, op, k) && a < h->n_txns; a++)
                    if (a != t && a != x->from[t][op][k] &&
                        installs(h, x, a, k) &&
                        is_visible(h, x, place, q->base, q->closed, q->target,
                                   (int[]){t, op}, a) &&
                        place[a] > place_of(place, x->from[t][op][k]))
                        return false;
    return true;
}

/* ---- levels by dependencies (Adya) --------------------------------------- */

static bool reads_agree(const pm_history *h, const pm_execution *x)
{
    for (int t = 0; t < h->n_txns; t++)
        for (int k = 0; k < h->n_keys; k++) {
            int first = -2;

            for (int op = 0; op < x->n_ops[t]; op++) {
                if (!pm_reads(h, t, op, k))
                    continue;
                if (first != -2 && first != x->from[t][op][k])
                    return false;
                first = x->from[t][op][k];
            }
        }
    return true;
}

static bool has_cycle(const pm_history *h, relation r)
{
    close(h, r);
    for (int t = 0; t < h->n_txns; t++)
        if (r[t][t])
            return true;
    return false;
}

/* The order is taken as the order of versions of every key. */
static bool keeps_snapshots(const pm_history *h, const pm_execution *x,
                            const int *place, void *user)
{
    const hf_predict_target *target = user;
    relation w, a, both;

    base_relation(h, x, w);
    memset(a, 0, sizeof a);
    for (int t = 0; t < h->n_txns; t++)
        for (int k = 0; k < h->n_keys; k++)
            for (int u = 0; u < h->n_txns; u++) {
                if (u == t || !installs(h, x, u, k))
                    continue;
                if (installs(h, x, t, k) && place[t] < place[u])
                    w[t][u] = true;
                for (int op = 0; op < x->n_ops[t]; op++)
                    if (pm_reads(h, t, op, k) && x->from[t][op][k] != u &&
                        place_of(place, x->from[t][op][k]) < place[u])
                        a[t][u] = true;
            }
    memcpy(both, w, sizeof both);
    if (*target == HF_PREDICT_PARALLEL_SNAPSHOT) {
        if (has_cycle(h, both))
            return false;
        for (int t = 0; t < h->n_txns; t++)
            for (int u = 0; u < h->n_txns; u++)
                if (a[t][u] && both[u][t])
                    return false;
        return true;
    }
    for (int t = 0; t < h->n_txns; t++)
        for (int m = 0; m < h->n_txns; m++)
            for (int u = 0; u < h->n_txns; u++)
                both[t][u] = both[t][u] || (w[t][m] && a[m][u]);
    return !has_cycle(h, both);
}

/* ---- levels of databases, as they work ------------------------------------
 */

/* Earliest snapshot: after the transaction before it in the session. */
static int least_snapshot(const pm_history *h, const int *place, int t)
{
    int least = -1;

    for (int a = 0; a < t; a++)
        if (before_in_session(h, a, t) && place[a] > least)
            least = place[a];
    return least;
}

static bool served(const pm_history *h, const pm_execution *x, const int *place,
                   int t, int op, int snapshot)
{
    for (int k = 0; k < h->n_keys; k++)
        if (pm_reads(h, t, op, k) &&
            newest(h, x, place, k, snapshot + 1, t) != x->from[t][op][k])
            return false;
    return true;
}

static bool is_locked(const pm_history *h, int t, int op)
{
    return h->txns[t].ops[op].kind == PM_LOCK ||
           h->txns[t].ops[op].kind == PM_WRITE ||
           h->txns[t].ops[op].kind == PM_DELETE;
}

/* A lock of operation op: whoever wrote the key before t committed did so
 * before the lock, so that what reads later sees it. */
static int lock_shows(const pm_history *h, const pm_execution *x,
                      const int *place, int t, int op)
{
    return place_of(place,
                    newest(h, x, place, h->txns[t].ops[op].key, place[t], t));
}

static bool lock_reads_newest(const pm_history *h, const pm_execution *x,
                              const int *place, int t, int op)
{
    int key = h->txns[t].ops[op].key;

    return h->txns[t].ops[op].kind != PM_LOCK || !pm_reads(h, t, op, key) ||
           x->from[t][op][key] == newest(h, x, place, key, place[t], t);
}

/* Does the write count (its version takes place)? */
static bool lock_counts(const pm_history *h, const pm_execution *x, int t,
                        int op)
{
    return h->txns[t].ops[op].kind == PM_LOCK ||
           last_write(h, t, h->txns[t].ops[op].key) >= 0 ||
           installs(h, x, t, h->txns[t].ops[op].key);
}

static bool keeps_statements(const pm_history *h, const pm_execution *x,
                             const int *place, void *user)
{
    (void)user;
    if (!keeps_sessions(h, place) || !keeps_reads(h, x, place))
        return false;
    for (int t = 0; t < h->n_txns; t++) {
        int least = least_snapshot(h, place, t);

        for (int op = 0; op < x->n_ops[t]; op++) {
            bool found = h->txns[t].ops[op].kind == PM_WRITE ||
                         h->txns[t].ops[op].kind == PM_DELETE ||
                         h->txns[t].ops[op].kind == PM_LOCK;

            if (!lock_reads_newest(h, x, place, t, op))
                return false;
            for (int s = least; !found && s < place[t]; s++)
                if (served(h, x, place, t, op, s)) {
                    found = true;
                    least = s;
                }
            if (!found)
                return false;
            if (is_locked(h, t, op) && lock_counts(h, x, t, op) &&
                lock_shows(h, x, place, t, op) > least)
                least = lock_shows(h, x, place, t, op);
        }
    }
    return true;
}

/* One snapshot for plain reads, taken by the first of them. */
static bool keeps_mariadb(const pm_history *h, const pm_execution *x,
                          const int *place, void *user)
{
    (void)user;
    if (!keeps_sessions(h, place) || !keeps_reads(h, x, place))
        return false;
    for (int t = 0; t < h->n_txns; t++) {
        int least = least_snapshot(h, place, t);
        bool plain = false, found = false;

        for (int op = 0; op < x->n_ops[t]; op++) {
            if (!lock_reads_newest(h, x, place, t, op))
                return false;
            if (!is_locked(h, t, op))
                plain = plain || reads_any(h, t, op);
            else if (!plain && lock_shows(h, x, place, t, op) > least)
                least = lock_shows(h, x, place, t, op);
        }
        for (int s = least; !found && s < place[t]; s++) {
            found = true;
            for (int op = 0; op < x->n_ops[t]; op++)
                if (!is_locked(h, t, op) && !served(h, x, place, t, op, s))
                    found = false;
        }
        if (!found)
            return false;
    }
    return true;
}

/* First updater wins, and locked rows stay as they are. */
static bool keeps_repeatable(const pm_history *h, const pm_execution *x,
                             const int *place, void *user)
{
    (void)user;
    if (!keeps_sessions(h, place) || !keeps_reads(h, x, place))
        return false;
    for (int t = 0; t < h->n_txns; t++) {
        bool found = false;

        for (int s = least_snapshot(h, place, t); !found && s < place[t]; s++) {
            found = true;
            for (int op = 0; op < x->n_ops[t]; op++) {
                int key = h->txns[t].ops[op].key;
                bool lock = h->txns[t].ops[op].kind == PM_LOCK &&
                            pm_reads(h, t, op, key);

                if (!served(h, x, place, t, op, s) ||
                    ((lock ||
                      (is_locked(h, t, op) && installs(h, x, t, key))) &&
                     place_of(place, newest(h, x, place, key, place[t], t)) >
                         s))
                    found = false;
            }
        }
        if (!found)
            return false;
    }
    return true;
}

bool pm_legal(const pm_history *h, const pm_execution *x,
              hf_predict_target target)
{
    axiom q = {.target = target};

    switch (target) {
    case HF_PREDICT_SNAPSHOT:
    case HF_PREDICT_PARALLEL_SNAPSHOT:
        return reads_agree(h, x) && some_order(h, x, keeps_snapshots, &target);
    case HF_PREDICT_POSTGRES_READ_COMMITTED:
        return some_order(h, x, keeps_statements, NULL);
    case HF_PREDICT_MARIADB_REPEATABLE_READ:
        return some_order(h, x, keeps_mariadb, NULL);
    case HF_PREDICT_POSTGRES_REPEATABLE_READ:
        return some_order(h, x, keeps_repeatable, NULL);
    default:
        if (target != HF_PREDICT_READ_COMMITTED && !reads_agree(h, x))
            return false;
        base_relation(h, x, q.base);
        memcpy(q.closed, q.base, sizeof q.closed);
        close(h, q.closed);
        return some_order(h, x, keeps_axiom, &q);
    }
}

/* ---- forced order -------------------------------------------------------- */

#define NO_PAIR (-2)
/* Whom the read is certainly from, for the forced order.  A row outside of a
 * result is from the only version that is outside, if there is one only; else
 * nothing is certain. */
static int certain_source(const pm_history *h, const pm_execution *x, int t,
                          int op, int key)
{
    int from = x->from[t][op][key], outside = 0, inside = 0, only = NO_PAIR;

    if (h->txns[t].ops[op].kind != PM_ROWS || matches(h, key, from))
        return from;
    for (int b = PM_INITIAL; b < h->n_txns; b++) {
        if (b != PM_INITIAL &&
            (b == t || before_in_session(h, t, b) || !installs(h, x, b, key)))
            continue;
        if (matches(h, key, b)) {
            inside++;
        } else {
            outside++;
            only = b;
        }
    }
    return inside > 0 && outside == 1 ? only : NO_PAIR;
}

static void certain_relation(const pm_history *h, const pm_execution *x,
                             relation r)
{
    memset(r, 0, sizeof(relation));
    for (int t = 0; t < h->n_txns; t++) {
        for (int a = 0; a < t; a++)
            r[a][t] = before_in_session(h, a, t);
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++) {
                int b = pm_reads(h, t, op, k) ? certain_source(h, x, t, op, k)
                                              : NO_PAIR;

                if (b >= 0)
                    r[b][t] = true;
            }
    }
}

bool pm_forced(const pm_history *h, const pm_execution *x)
{
    relation r;
    bool more = true;

    certain_relation(h, x, r);
    while (more) {
        relation old;

        close(h, r);
        memcpy(old, r, sizeof old);
        for (int t = 0; t < h->n_txns; t++)
            for (int op = 0; op < x->n_ops[t]; op++)
                for (int k = 0; k < h->n_keys; k++) {
                    int b = pm_reads(h, t, op, k)
                                ? certain_source(h, x, t, op, k)
                                : NO_PAIR;

                    for (int a = 0; b != NO_PAIR && a < h->n_txns; a++) {
                        if (a == t || a == b || !installs(h, x, a, k))
                            continue;
                        if (b != PM_INITIAL && r[a][t])
                            r[a][b] = true;
                        if (b == PM_INITIAL || r[b][a])
                            r[t][a] = true;
                    }
                }
        close(h, r);
        more = memcmp(old, r, sizeof old) != 0;
    }
    return has_cycle(h, r);
}

/* ---- enumeration --------------------------------------------------------- */

typedef struct walk {
    const pm_history *h;
    pm_answers *ret;
    pm_execution x;
    int n_reads;
    int reads[PM_READS][3]; /* transaction, operation, key */
} walk;

static void judge(walk *w)
{
    bool allowed[PM_BOUNDARIES], any = false, wanted = false;

    for (int b = 0; b < PM_BOUNDARIES; b++) {
        allowed[b] = pm_allowed(w->h, &w->x, (pm_boundary)b);
        any = any || allowed[b];
        for (int l = 0; allowed[b] && l < HF_PREDICT_TARGET_COUNT; l++)
            wanted = wanted || !w->ret->exact[b][l] || !w->ret->forced[b][l];
    }
    if (!any)
        return;
    w->ret->executions++;
    if (!wanted || pm_serializable(w->h, &w->x))
        return;
    for (int l = 0; l < HF_PREDICT_TARGET_COUNT; l++) {
        bool forced, needed = false;

        for (int b = 0; b < PM_BOUNDARIES; b++)
            needed =
                needed ||
                (allowed[b] && (!w->ret->exact[b][l] || !w->ret->forced[b][l]));
        if (!needed || !pm_legal(w->h, &w->x, (hf_predict_target)l))
            continue;
        forced = pm_forced(w->h, &w->x);
        for (int b = 0; b < PM_BOUNDARIES; b++) {
            w->ret->exact[b][l] = w->ret->exact[b][l] || allowed[b];
            w->ret->forced[b][l] =
                w->ret->forced[b][l] || (allowed[b] && forced);
        }
    }
}

static void choose_sources(walk *w, int i)
{
    int t, op, key;

    if (i == w->n_reads) {
        judge(w);
        return;
    }
    t = w->reads[i][0];
    op = w->reads[i][1];
    key = w->reads[i][2];
    for (int from = PM_INITIAL; from < w->h->n_txns; from++) {
        if (from != PM_INITIAL &&
            (from == t || before_in_session(w->h, t, from) ||
             !installs(w->h, &w->x, from, key)))
            continue;
        w->x.from[t][op][key] = from;
        /* only the last transaction of a session may change */
        if (last_txn(w->h, &w->x, w->h->txns[t].session) != t &&
            !as_before(w->h, &w->x, t, op, key))
            continue;
        choose_sources(w, i + 1);
    }
}

static void list_reads(walk *w)
{
    w->n_reads = 0;
    for (int t = 0; t < w->h->n_txns; t++)
        for (int op = 0; op < w->x.n_ops[t]; op++)
            for (int k = 0; k < w->h->n_keys; k++)
                if (pm_reads(w->h, t, op, k)) {
                    w->reads[w->n_reads][0] = t;
                    w->reads[w->n_reads][1] = op;
                    w->reads[w->n_reads++][2] = k;
                }
}

static void choose_stops(walk *w, int session)
{
    int total = 0;

    if (session == PM_SESSIONS) {
        list_reads(w);
        choose_sources(w, 0);
        return;
    }
    for (int t = 0; t < w->h->n_txns; t++)
        if (w->h->txns[t].session == session)
            total += w->h->txns[t].n_ops;
    for (int stop = 0; stop <= total; stop++) {
        int left = stop;
        bool good = false;

        for (int t = 0; t < w->h->n_txns; t++) {
            int n = w->h->txns[t].n_ops;

            if (w->h->txns[t].session != session)
                continue;
            w->x.n_ops[t] = left < n ? left : n;
            left -= w->x.n_ops[t];
        }
        for (int b = 0; b < PM_BOUNDARIES; b++)
            good = good || stop_allowed(w->h, &w->x, session, (pm_boundary)b);
        if (good)
            choose_stops(w, session + 1);
    }
}

void pm_enumerate(const pm_history *h, pm_answers *ret)
{
    walk w = {.h = h, .ret = ret};

    memset(ret, 0, sizeof(*ret));
    choose_stops(&w, 0);
}

/* ---- random executions --------------------------------------------------- */

static pm_op random_op(const pm_history *h, hf_rng *r, int serial)
{
    pm_op o = {.kind = PM_WRITE,
               .key = (int)hf_rng_below(r, (uint32_t)h->n_keys)};
    uint32_t what = hf_rng_below(r, 100);

    if (what < 48)
        o.kind = PM_READ;
    else if (what < 55)
        o.kind = PM_LOCK;
    else if (h->rows && what < 68)
        o.kind = PM_ROWS;
    else if (what < 72)
        o.kind = PM_DELETE;
    o.value = serial + (h->rows && hf_rng_chance(r, 50) ? PM_MATCH : 0);
    return o;
}

/* Each read finds what stands before it in the file. */
static void execute(pm_history *h)
{
    int newest_of[PM_KEYS];

    for (int k = 0; k < PM_KEYS; k++)
        newest_of[k] = PM_INITIAL;
    for (int t = 0; t < h->n_txns; t++) {
        for (int op = 0; op < h->txns[t].n_ops; op++)
            memcpy(h->txns[t].ops[op].from, newest_of, sizeof newest_of);
        for (int k = 0; k < h->n_keys; k++)
            if (last_write(h, t, k) >= 0)
                newest_of[k] = t;
    }
}

static int count_reads(const pm_history *h)
{
    int n = 0;

    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < h->txns[t].n_ops; op++)
            for (int k = 0; k < h->n_keys; k++)
                n += pm_reads(h, t, op, k);
    return n;
}

pm_history pm_random(hf_rng *r)
{
    pm_history h;
    int serial = 1;

    do {
        h = (pm_history){.n_txns = 2 + (int)hf_rng_below(r, PM_TXNS - 1),
                         .n_keys = 1 + (int)hf_rng_below(r, PM_KEYS),
                         .rows = hf_rng_chance(r, 30)};
        for (int k = 0; k < h.n_keys; k++)
            if (hf_rng_chance(r, 30))
                h.initial[k] =
                    500 + k + (h.rows && hf_rng_chance(r, 50) ? PM_MATCH : 0);
        for (int t = 0; t < h.n_txns; t++) {
            h.txns[t].session = (int)hf_rng_below(r, PM_SESSIONS);
            h.txns[t].n_ops = 1 + (int)hf_rng_below(r, PM_OPS);
            for (int op = 0; op < h.txns[t].n_ops; op++)
                h.txns[t].ops[op] = random_op(&h, r, serial++);
        }
    } while (count_reads(&h) > 8);
    execute(&h);
    return h;
}

static hf_value_id value_id(hf_builder *b, hf_key_id key, int64_t v)
{
    return v == 0 ? hf_builder_nil(b, key) : hf_builder_int(b, key, v);
}

static int64_t value_seen(const pm_history *h, int t, int op, int key)
{
    const pm_op *o = &h->txns[t].ops[op];
    int from = o->from[key];

    for (int i = op - 1; i >= 0; i--)
        if (writes(&h->txns[t].ops[i], key))
            return h->txns[t].ops[i].kind == PM_DELETE
                       ? 0
                       : h->txns[t].ops[i].value;
    if (from == PM_INITIAL)
        return h->initial[key];
    o = &h->txns[from].ops[last_write(h, from, key)];
    return o->kind == PM_DELETE ? 0 : o->value;
}

static void build_rows(const pm_history *h, hf_builder *b, hf_txn_id id,
                       const hf_key_id *keys, int t, int op)
{
    hf_version_ref results[PM_KEYS], versions[PM_KEYS];
    hf_predicate_in p = {
        .table = {.type = HF_TEXT, .text = "t", .length = 1},
        .condition = {.type = HF_TEXT, .text = "value < 1000", .length = 12},
        .has_result_set = true,
        .results = results,
        .versions = versions,
        .has_version_set = (t + op) % 2 == 0};

    for (int k = 0; k < h->n_keys; k++) {
        int64_t v = value_seen(h, t, op, k);
        bool own = !pm_reads(h, t, op, k);
        hf_version_ref ref = {value_id(b, keys[k], v), HF_NONE};

        if (p.has_version_set) {
            ref.writer = own ? id
                         : h->txns[t].ops[op].from[k] == PM_INITIAL
                             ? HF_WRITER_INITIAL
                             : (hf_txn_id)h->txns[t].ops[op].from[k];
            versions[p.n_versions++] = ref;
        }
        if (v != 0 && v < PM_MATCH)
            results[p.n_results++] = ref;
    }
    /* every other one with a version set counts what it found */
    if ((t + op) % 4 == 0) {
        p.result = (hf_scalar){.type = HF_INT, .number = p.n_results};
        p.n_results = 0;
    }
    (void)hf_builder_predicate(
        b, id, (t + op) % 4 == 0 ? HF_OP_COUNT_ROWS : HF_OP_PREDICATE_READ, &p);
}

static void build_op(const pm_history *h, hf_builder *b, hf_txn_id id,
                     const hf_key_id *keys, int t, int op)
{
    const pm_op *o = &h->txns[t].ops[op];
    hf_key_id key = keys[o->key];

    switch (o->kind) {
    case PM_WRITE:
        (void)hf_builder_op(b, id, HF_OP_WRITE, key,
                            hf_builder_int(b, key, o->value));
        break;
    case PM_DELETE:
        (void)hf_builder_op(b, id, HF_OP_DELETE, key, hf_builder_nil(b, key));
        break;
    case PM_ROWS:
        build_rows(h, b, id, keys, t, op);
        break;
    default:
        (void)hf_builder_op(
            b, id, HF_OP_READ | (o->kind == PM_LOCK ? HF_OP_FOR_UPDATE : 0u),
            key, value_id(b, key, value_seen(h, t, op, o->key)));
    }
}

hf_history *pm_build(const pm_history *h, hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_string_id table = hf_builder_string(b, "t", 1);
    hf_key_id keys[PM_KEYS];
    hf_txn_id ids[PM_TXNS];
    hf_history *ret = NULL;

    for (int s = 0; s < PM_SESSIONS; s++)
        (void)hf_builder_session_number(b, s);
    for (int k = 0; k < h->n_keys; k++) {
        hf_scalar name = {.type = HF_INT, .number = k};

        keys[k] = h->rows ? hf_builder_key_row(b, table, name)
                          : hf_builder_key_int(b, k);
        if (h->initial[k])
            hf_builder_initial(b, keys[k], value_id(b, keys[k], h->initial[k]));
    }
    for (int t = 0; t < h->n_txns; t++)
        ids[t] =
            hf_builder_txn(b, hf_builder_session_number(b, h->txns[t].session));
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < h->txns[t].n_ops; op++)
            build_op(h, b, ids[t], keys, t, op);
    return hf_builder_finish(b, &ret, err) == HF_OK ? ret : NULL;
}

void pm_print(const pm_history *h)
{
    static const char letters[] = "rlpwd";

    printf("  %d keys%s, initial", h->n_keys, h->rows ? " (rows)" : "");
    for (int k = 0; k < h->n_keys; k++)
        printf(" %lld", (long long)h->initial[k]);
    printf("\n");
    for (int t = 0; t < h->n_txns; t++) {
        printf("  T%d session %d:", t, h->txns[t].session);
        for (int op = 0; op < h->txns[t].n_ops; op++) {
            const pm_op *o = &h->txns[t].ops[op];

            printf(" %c%d", letters[o->kind], o->kind == PM_ROWS ? 0 : o->key);
            if (o->kind == PM_WRITE)
                printf("=%lld", (long long)o->value);
            else if (o->kind != PM_ROWS && o->kind != PM_DELETE)
                printf("<T%d", o->from[o->key]);
        }
        printf("\n");
    }
}

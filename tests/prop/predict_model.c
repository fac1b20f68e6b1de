/* predict_model.c: see predict_model.h. */
#include "predict_model.h"

#include <string.h>

/* ---- parts --------------------------------------------------------------- */

bool pm_is_write(const pm_op *op)
{
    return op->kind == PM_WRITE || op->kind == PM_DELETE;
}

int pm_write_before(const pm_history *h, int t, int end, int key)
{
    int last = end - 1;

    while (last >= 0 && (!pm_is_write(&h->txns[t].ops[last]) ||
                         h->txns[t].ops[last].key != key))
        last--;
    return last;
}

/* The last write of the key in the whole transaction; -1: none. */
static int last_write(const pm_history *h, int t, int key)
{
    return pm_write_before(h, t, h->txns[t].n_ops, key);
}

static int64_t written(const pm_op *op)
{
    return op->kind == PM_DELETE ? 0 : op->value;
}

int64_t pm_version(const pm_history *h, int writer, int key)
{
    if (writer == PM_INITIAL)
        return h->initial[key];
    return written(&h->txns[writer].ops[last_write(h, writer, key)]);
}

bool pm_reads(const pm_history *h, int t, int op, int key)
{
    const pm_op *o = &h->txns[t].ops[op];

    return !pm_is_write(o) && (o->kind == PM_ROWS || o->key == key) &&
           pm_write_before(h, t, op, key) < 0;
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

    if (x->commits >> t & 1)
        return last >= 0 && x->n_ops[t] > 0;
    return last >= 0 && last < x->n_ops[t];
}

static bool before_in_session(const pm_history *h, int a, int b)
{
    return a < b && h->txns[a].session == h->txns[b].session;
}

static bool matches(const pm_history *h, int key, int writer)
{
    int64_t v = pm_version(h, writer, key);

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

#define NO_PAIR (-2)
/* Whom a read is from; NO_PAIR: that is not certain. */
typedef int (*pm_source)(const pm_history *h, const pm_execution *x, int t,
                         int op, int key);

static int chosen_source(const pm_history *h, const pm_execution *x, int t,
                         int op, int key)
{
    return pm_reads(h, t, op, key) ? x->from[t][op][key] : NO_PAIR;
}

/* Session order, and who reads from whom. */
static void relate(const pm_history *h, const pm_execution *x, pm_source source,
                   relation r)
{
    memset(r, 0, sizeof(relation));
    for (int t = 0; t < h->n_txns; t++) {
        for (int a = 0; a < t; a++)
            r[a][t] = before_in_session(h, a, t);
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++) {
                int from = source(h, x, t, op, k);

                if (from >= 0)
                    r[from][t] = true;
            }
    }
}

static void close(const pm_history *h, relation r)
{
    for (int m = 0; m < h->n_txns; m++)
        for (int a = 0; a < h->n_txns; a++)
            for (int b = 0; b < h->n_txns; b++)
                r[a][b] = r[a][b] || (r[a][m] && r[m][b]);
}

/* Does a's version satisfy the condition where the one before it does not, or
 * the reverse? */
static bool changes_matches(const pm_history *h, const pm_execution *x,
                            const int *place, int key, int a)
{
    int last = newest(h, x, place, key, place[a], a);

    return installs(h, x, a, key) &&
           matches(h, key, a) != matches(h, key, last);
}

/* Does the operation depend on a for this key?  On whom it reads from; of a
 * row outside of a result, also on whoever changed the matches up to there. */
static bool depends(const pm_history *h, const pm_execution *x,
                    const int *place, const int at[2], int key, int a)
{
    int t = at[0], op = at[1], from;

    if (!pm_reads(h, t, op, key))
        return false;
    from = x->from[t][op][key];
    if (from == a)
        return true;
    return h->txns[t].ops[op].kind == PM_ROWS && !matches(h, key, from) &&
           from != PM_INITIAL && a != t && place[a] < place[from] &&
           changes_matches(h, x, place, key, a);
}

static void relate_rows(const pm_history *h, const pm_execution *x,
                        const int *place, relation r)
{
    for (int t = 0; h->rows && t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                for (int a = 0; a < h->n_txns; a++)
                    r[a][t] =
                        r[a][t] || depends(h, x, place, (int[]){t, op}, k, a);
}

static bool saw_before(const pm_history *h, const pm_execution *x,
                       const int *place, const int at[2], int a)
{
    pm_execution without = *x;

    without.commits = PM_NOBODY;
    for (int i = 0; i < at[1]; i++)
        for (int k = 0; k < h->n_keys; k++)
            if (depends(h, x, place, (int[]){at[0], i}, k, a) ||
                depends(h, &without, place, (int[]){at[0], i}, k, a))
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
        return saw_before(h, x, place, at, a);
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
    relation reads; /* session order, and who reads from whom */
} axiom;

static bool keeps_relation(const pm_history *h, const int *place, relation r)
{
    for (int a = 0; a < h->n_txns; a++)
        for (int b = 0; b < h->n_txns; b++)
            if (r[a][b] && place[a] >= place[b])
                return false;
    return true;
}

static bool keeps_axiom(const pm_history *h, const pm_execution *x,
                        const int *place, void *user)
{
    axiom *q = user;
    relation base, closed;
    pm_execution without = *x;

    without.commits = PM_NOBODY;
    if (!keeps_relation(h, place, q->reads))
        return false;
    memcpy(base, q->reads, sizeof base);
    relate_rows(h, x, place, base);
    relate_rows(h, &without, place, base);
    if (!keeps_relation(h, place, base))
        return false;
    memcpy(closed, base, sizeof closed);
    close(h, closed);
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int k = 0; k < h->n_keys; k++)
                for (int a = 0; pm_reads(h, t, op, k) && a < h->n_txns; a++)
                    if (a != t && a != x->from[t][op][k] &&
                        installs(h, x, a, k) &&
                        is_visible(h, x, place, base, closed, q->target,
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

/* The order is taken as the order of versions of every key.  Rows count with
 * what is written behind boundaries, and without. */
static bool keeps_snapshots(const pm_history *h, const pm_execution *x,
                            const int *place, void *user)
{
    const hf_predict_target *target = user;
    relation w, a, both;

    pm_execution without = *x;

    without.commits = PM_NOBODY;
    relate(h, x, chosen_source, w);
    relate_rows(h, x, place, w);
    relate_rows(h, &without, place, w);
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
           pm_is_write(&h->txns[t].ops[op]);
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

static bool keeps_statements(const pm_history *h, const pm_execution *x,
                             const int *place, void *user)
{
    (void)user;
    if (!keeps_sessions(h, place) || !keeps_reads(h, x, place))
        return false;
    for (int t = 0; t < h->n_txns; t++) {
        int least = least_snapshot(h, place, t);

        for (int op = 0; op < x->n_ops[t]; op++) {
            bool found = is_locked(h, t, op);

            if (!lock_reads_newest(h, x, place, t, op))
                return false;
            for (int s = least; !found && s < place[t]; s++)
                if (served(h, x, place, t, op, s)) {
                    found = true;
                    least = s;
                }
            if (!found)
                return false;
            if (is_locked(h, t, op) && lock_shows(h, x, place, t, op) > least)
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

/* Has somebody else changed what t changes, behind its snapshot? */
static bool is_refused(const pm_history *h, const pm_execution *x,
                       const int *place, int t, int snapshot)
{
    for (int k = 0; k < h->n_keys; k++)
        for (int u = 0; u < h->n_txns; u++)
            if (u != t && installs(h, x, t, k) && installs(h, x, u, k) &&
                place[u] > snapshot && place[u] < place[t])
                return true;
    return false;
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
            found = !is_refused(h, x, place, t, s);
            for (int op = 0; op < x->n_ops[t]; op++) {
                int key = h->txns[t].ops[op].key;
                bool lock = h->txns[t].ops[op].kind == PM_LOCK &&
                            pm_reads(h, t, op, key);

                if (!served(h, x, place, t, op, s) ||
                    (lock && place_of(place, newest(h, x, place, key, place[t],
                                                    t)) > s))
                    found = false;
            }
        }
        if (!found)
            return false;
    }
    return true;
}

bool pm_is_unique(hf_predict_target target)
{
    return target == HF_PREDICT_SNAPSHOT ||
           target == HF_PREDICT_POSTGRES_READ_COMMITTED ||
           target == HF_PREDICT_POSTGRES_REPEATABLE_READ ||
           target == HF_PREDICT_MARIADB_REPEATABLE_READ;
}

/* Did u, which has begun, name its row by that version? */
static bool named_by(const pm_history *h, const pm_execution *x, int u,
                     int version)
{
    for (int op = 0; x->n_ops[u] > 0 && op < h->txns[u].n_ops; op++)
        if (h->txns[u].ops[op].names && h->txns[u].ops[op].from[0] == version)
            return true;
    return false;
}

bool pm_has_rivals(const pm_history *h, const pm_execution *x)
{
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < x->n_ops[t]; op++)
            for (int u = 0; h->txns[t].ops[op].names && u < h->n_txns; u++)
                if (u != t && named_by(h, x, u, x->from[t][op][0]))
                    return true;
    return false;
}

bool pm_legal(const pm_history *h, const pm_execution *x,
              hf_predict_target target, unsigned commits)
{
    axiom q = {.target = target};
    pm_execution all = *x;

    all.commits = commits;
    switch (target) {
    case HF_PREDICT_SNAPSHOT:
    case HF_PREDICT_PARALLEL_SNAPSHOT:
        return reads_agree(h, x) &&
               some_order(h, &all, keeps_snapshots, &target);
    case HF_PREDICT_POSTGRES_READ_COMMITTED:
        return some_order(h, &all, keeps_statements, NULL);
    case HF_PREDICT_MARIADB_REPEATABLE_READ:
        return some_order(h, &all, keeps_mariadb, NULL);
    case HF_PREDICT_POSTGRES_REPEATABLE_READ:
        return some_order(h, &all, keeps_repeatable, NULL);
    default:
        if (target != HF_PREDICT_READ_COMMITTED && !reads_agree(h, x))
            return false;
        relate(h, x, chosen_source, q.reads);
        return some_order(h, &all, keeps_axiom, &q);
    }
}

bool pm_legal_as_seen(const pm_history *h, const pm_execution *x,
                      hf_predict_target target)
{
    return pm_legal(h, x, target, PM_EVERYBODY) &&
           !(pm_is_unique(target) && pm_has_rivals(h, x));
}

/* ---- forced order -------------------------------------------------------- */

/* Whom the read is certainly from, for the forced order.  A row outside of a
 * result is from the only version that is outside, if there is one only; else
 * nothing is certain. */
static int certain_source(const pm_history *h, const pm_execution *x, int t,
                          int op, int key)
{
    int from = x->from[t][op][key], outside = 0, inside = 0, only = NO_PAIR;

    if (!pm_reads(h, t, op, key))
        return NO_PAIR;
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

bool pm_forced(const pm_history *h, const pm_execution *x)
{
    relation r;
    bool more = true;

    relate(h, x, certain_source, r);
    while (more) {
        relation old;

        close(h, r);
        memcpy(old, r, sizeof old);
        for (int t = 0; t < h->n_txns; t++)
            for (int op = 0; op < x->n_ops[t]; op++)
                for (int k = 0; k < h->n_keys; k++) {
                    int b = certain_source(h, x, t, op, k);

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

/* Is there something left to find within the boundary? */
static bool is_wanted(const walk *w, int b, int target)
{
    for (int seen = 0; seen < 2; seen++)
        if (!w->ret->exact[seen][b][target] || !w->ret->forced[seen][b][target])
            return true;
    return false;
}

static void note(walk *w, const bool *allowed, int target, int seen)
{
    bool forced = pm_forced(w->h, &w->x);

    for (int b = 0; b < PM_BOUNDARIES; b++) {
        bool *exact = &w->ret->exact[seen][b][target];
        bool *by_force = &w->ret->forced[seen][b][target];

        *exact = *exact || allowed[b];
        *by_force = *by_force || (allowed[b] && forced);
    }
}

static void judge(walk *w)
{
    bool allowed[PM_BOUNDARIES], any = false, wanted = false;

    for (int b = 0; b < PM_BOUNDARIES; b++) {
        allowed[b] = pm_allowed(w->h, &w->x, (pm_boundary)b);
        any = any || allowed[b];
        for (int l = 0; allowed[b] && l < HF_PREDICT_TARGET_COUNT; l++)
            wanted = wanted || is_wanted(w, b, l);
    }
    if (!any)
        return;
    w->ret->executions++;
    if (!wanted || pm_serializable(w->h, &w->x))
        return;
    for (int l = 0; l < HF_PREDICT_TARGET_COUNT; l++) {
        hf_predict_target target = (hf_predict_target)l;
        bool needed = false;

        for (int b = 0; b < PM_BOUNDARIES; b++)
            needed = needed || (allowed[b] && is_wanted(w, b, l));
        if (!needed || !pm_legal(w->h, &w->x, target, PM_NOBODY))
            continue;
        note(w, allowed, l, 0);
        if (pm_legal_as_seen(w->h, &w->x, target))
            note(w, allowed, l, 1);
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

/* watch_oracle.c: see watch_oracle.h. */
#include "watch_oracle.h"

#include <string.h>

#define MOST_INSTANTS 48
#define MOST_STEPS 400000

typedef enum instant_kind { SNAP, LOCK, END } instant_kind;

typedef struct look {
    unsigned key;
    uint64_t value;
    bool unseen;        /* by a scan: it had no row that satisfies */
    unsigned condition; /* of that scan */
    int total;          /* of which of its totals; 0: none */
    /* filled when the snapshot is taken: version of the key, 0: initial */
    unsigned version;
    bool done;
} look;

typedef struct instant {
    instant_kind kind;
    uint64_t lo, hi;
    int txn;
    unsigned row;       /* LOCK */
    unsigned key;       /* LOCK: of what was written */
    bool exclusive;     /* LOCK */
    bool writes;        /* LOCK */
    uint64_t value;     /* LOCK: written */
    unsigned condition; /* LOCK: only against writes that satisfy it */
    bool is_txn;        /* SNAP: the transaction's snapshot */
    int first, n;       /* SNAP: looks of the transaction */
    bool done;
} instant;

typedef struct txn {
    uint64_t id, begin_lo, begin_hi, first_lo, last_ok;
    uint64_t end_lo, end_hi;
    bool has_begin, has_first, has_end, committed, unknown;
    bool weaker;              /* only its locks count */
    bool locked[ORACLE_KEYS]; /* by a write that was answered */
    bool doubt[ORACLE_KEYS];  /* nobody knows what it wrote there */
    uint64_t doubt_lo;        /* of its first call without an answer */
    look looks[48];
    int n_looks;
    struct {
        unsigned scan, n_own;
        int64_t number;
        uint64_t own[ORACLE_KEYS];
    } totals[8];
    int n_totals;
    bool wrote[ORACLE_KEYS];
    uint64_t written[ORACLE_KEYS];
    uint8_t first_flags[ORACLE_KEYS]; /* by row: of its first write */
    bool wrote_row[ORACLE_KEYS];
    int n_wrote;
    /* while executing */
    int snapped, ended; /* step, -1: not yet */
} txn;

typedef struct version {
    int txn; /* -1: initial */
    uint64_t value;
    int step;
} version;

typedef struct oracle {
    const hf_profile *p;
    unsigned keys;
    unsigned row[ORACLE_KEYS];
    txn txns[ORACLE_TXNS];
    int n_txns;
    instant instants[MOST_INSTANTS];
    int n_instants;
    version versions[ORACLE_KEYS][ORACLE_TXNS + 1];
    int n_versions[ORACLE_KEYS];
    int step;
    long steps;
    bool impossible; /* whatever the instants */
    bool fuw;
    unsigned dropped; /* bits: writes without an answer that never were */
    int n_doubts;
} oracle;

bool oracle_total(unsigned scan, const uint64_t *values, unsigned n,
                  int64_t *ret)
{
    unsigned what = scan / ORACLE_CONDITIONS;
    int64_t count = 0, sum = 0, least = INT64_MAX, greatest = 0;

    for (unsigned i = 0; i < n; i++) {
        int64_t x = (int64_t)values[i];

        if (x == 0 || !oracle_matches(scan, values[i]))
            continue;
        count++;
        sum += x;
        least = x < least ? x : least;
        greatest = x > greatest ? x : greatest;
    }
    *ret = what == HF_TOTAL_COUNT ? count
           : what == HF_TOTAL_SUM ? sum
           : what == HF_TOTAL_MIN ? least
                                  : greatest;
    return what == HF_TOTAL_COUNT || count > 0;
}

bool oracle_matches(unsigned scan, uint64_t value)
{
    switch (scan % ORACLE_CONDITIONS) {
    case 1:
        return value % 2 == 1;
    case 2:
        return value % 2 == 0;
    case 3:
        return value > 10;
    default:
        return true;
    }
}

/* ---- what there is ------------------------------------------------------- */

static instant *add_instant(oracle *o, instant_kind kind, int t, uint64_t lo,
                            uint64_t hi)
{
    instant *x = &o->instants[o->n_instants++];

    *x = (instant){.kind = kind, .txn = t, .lo = lo, .hi = hi};
    return x;
}

static txn *txn_of(oracle *o, uint64_t id, int *ret)
{
    for (*ret = 0; *ret < o->n_txns; (*ret)++)
        if (o->txns[*ret].id == id)
            return &o->txns[*ret];
    o->txns[o->n_txns++] = (txn){.id = id, .snapped = -1, .ended = -1};
    return &o->txns[*ret];
}

static bool is_locking(const hf_event *e)
{
    return e->flags & (HF_EVENT_FOR_UPDATE | HF_EVENT_FOR_SHARE);
}

static instant *txn_snapshot(oracle *o, int t)
{
    for (int i = 0; i < o->n_instants; i++)
        if (o->instants[i].kind == SNAP && o->instants[i].txn == t &&
            o->instants[i].is_txn)
            return &o->instants[i];
    return NULL;
}

static instant *add_lock(oracle *o, int t, unsigned row, bool exclusive,
                         const hf_event *e)
{
    instant *x;

    if (o->p->lock == HF_WATCH_LOCK_NONE)
        return NULL;
    if (o->p->one_writer && e->kind != HF_EVENT_WRITE)
        return NULL;
    x = add_instant(o, LOCK, t, e->before, e->after);
    x->row = o->p->one_writer ? 0 : row;
    x->key = e->key;
    x->exclusive = exclusive;
    x->writes = e->kind == HF_EVENT_WRITE;
    x->value = e->flags & HF_EVENT_DELETE ? HF_EVENT_NO_ROW : e->value;
    return x;
}

static void add_snapshot(oracle *o, int t, const hf_event *e)
{
    txn *x = &o->txns[t];
    instant *s;

    if (o->p->read != HF_WATCH_READ_TRANSACTION && !o->fuw)
        return;
    if (o->p->snapshot == HF_WATCH_AT_ANY || txn_snapshot(o, t))
        return;
    if (o->p->snapshot == HF_WATCH_AT_READ &&
        (e->kind == HF_EVENT_WRITE || is_locking(e)))
        return;
    if (o->p->snapshot != HF_WATCH_AT_BEGIN &&
        (e->after == UINT64_MAX || (e->flags & HF_EVENT_FAILED))) {
        /* that one may have taken it, or one that comes */
        if (x->doubt_lo == 0)
            x->doubt_lo = e->before + 1;
        return;
    }
    s = add_instant(o, SNAP, t, e->before, e->after);
    if (x->doubt_lo > 0)
        s->lo = x->doubt_lo - 1;
    if (o->p->snapshot == HF_WATCH_AT_BEGIN) {
        s->lo = x->begin_lo;
        s->hi = x->begin_hi;
    } else if (o->p->snapshot == HF_WATCH_BY_FIRST) {
        s->lo = x->begin_lo;
    }
    s->is_txn = true;
}

static bool wrote_row(const oracle *o, const txn *x, const hf_event *e)
{
    for (unsigned k = 0; k < o->keys; k++)
        if (x->wrote[k] && k != e->key && o->row[k] == e->row)
            return e->kind == HF_EVENT_READ;
    return false;
}

/* Looks first .. of t are made by one snapshot. */
static void add_looks(oracle *o, int t, const hf_event *e, int first)
{
    txn *x = &o->txns[t];
    bool newest =
        o->p->read == HF_WATCH_READ_ROW ||
        (is_locking(e) && (o->p->read == HF_WATCH_READ_STATEMENT ||
                           o->p->locked_reads_newest || !txn_snapshot(o, t)));
    bool any = o->p->read == HF_WATCH_READ_TRANSACTION &&
               o->p->snapshot == HF_WATCH_AT_ANY;
    instant *s;

    if (x->n_looks == first)
        return;
    if (o->p->read == HF_WATCH_READ_NONE) {
        x->n_looks = first;
        return;
    }
    if (!newest && !any && o->p->read == HF_WATCH_READ_TRANSACTION && !o->fuw &&
        wrote_row(o, x, e)) {
        /* its own version of the row has what others had written by then */
        s = add_instant(o, SNAP, t, txn_snapshot(o, t)->lo, e->after);
        s->first = first;
        s->n = 1;
        return;
    }
    if (newest || any) {
        for (int i = first; i < x->n_looks; i++) {
            s = add_instant(o, SNAP, t, any ? x->first_lo : e->before,
                            e->after);
            s->first = i;
            s->n = 1;
        }
        return;
    }
    if (o->p->read == HF_WATCH_READ_STATEMENT) {
        s = add_instant(o, SNAP, t, e->before, e->after);
        s->first = first;
        s->n = x->n_looks - first;
    }
    /* else they belong to the transaction's snapshot, which asks for all */
}

static void take_read(oracle *o, int t, const hf_event *e)
{
    txn *x = &o->txns[t];

    if (x->doubt[e->key])
        return;
    if (x->wrote[e->key]) {
        if (x->written[e->key] != e->value && !o->p->locks_at_commit)
            o->impossible = true;
        return;
    }
    if (x->weaker) {
        if (is_locking(e) && e->value != HF_EVENT_NO_ROW)
            (void)add_lock(o, t, e->row, (e->flags & HF_EVENT_FOR_UPDATE) != 0,
                           e);
        return;
    }
    x->looks[x->n_looks++] = (look){.key = e->key, .value = e->value};
    if (is_locking(e) || o->p->lock == HF_WATCH_LOCK_RANGES ||
        (o->p->lock == HF_WATCH_LOCK_ROWS && e->value != HF_EVENT_NO_ROW))
        (void)add_lock(o, t, e->row, (e->flags & HF_EVENT_FOR_UPDATE) != 0, e);
}

/* A row that a scan did not return. */
static void miss_row(oracle *o, int t, const hf_event *e, unsigned k)
{
    txn *x = &o->txns[t];
    instant *lock;

    if (x->wrote[k] && !x->doubt[k]) {
        if (x->written[k] != HF_EVENT_NO_ROW && !o->p->locks_at_commit &&
            oracle_matches(e->extra, x->written[k]))
            o->impossible = true;
    } else if (!x->doubt[k]) {
        x->looks[x->n_looks++] =
            (look){.key = k, .unseen = true, .condition = e->extra};
    }
    if (o->p->lock != HF_WATCH_LOCK_RANGES)
        return;
    lock = add_lock(o, t, o->row[k], (e->flags & HF_EVENT_FOR_UPDATE) != 0, e);
    if (lock)
        lock->condition = e->extra;
}

/* A total: what its rows were is asked when all is over. */
static void take_total(oracle *o, int t, const hf_event *e)
{
    txn *x = &o->txns[t];
    int i = x->n_totals;

    if (x->weaker || o->p->read == HF_WATCH_READ_NONE)
        return;
    for (unsigned k = 0; k < o->keys; k++)
        if (x->doubt[k] || (x->wrote[k] && o->p->locks_at_commit))
            return;
    x->totals[i].scan = e->extra;
    x->totals[i].number = hf_event_number(e);
    x->n_totals++;
    for (unsigned k = 0; k < o->keys; k++)
        if (x->wrote[k])
            x->totals[i].own[x->totals[i].n_own++] = x->written[k];
        else
            x->looks[x->n_looks++] = (look){.key = k, .total = i + 1};
}

static bool totals_hold(const oracle *o)
{
    for (int t = 0; t < o->n_txns; t++) {
        const txn *x = &o->txns[t];

        for (int i = 0; i < x->n_totals; i++) {
            uint64_t values[ORACLE_KEYS];
            unsigned n = x->totals[i].n_own;
            int64_t number;

            memcpy(values, x->totals[i].own, sizeof(values));
            for (int k = 0; k < x->n_looks; k++)
                if (x->looks[k].total == i + 1)
                    values[n++] =
                        o->versions[x->looks[k].key][x->looks[k].version].value;
            if (!oracle_total(x->totals[i].scan, values, n, &number) ||
                number != x->totals[i].number)
                return false;
        }
    }
    return true;
}

/* The scan at events[i]; returns the number of its rows. */
static size_t take_scan(oracle *o, int t, const hf_event *e, size_t n)
{
    txn *x = &o->txns[t];
    bool seen[ORACLE_KEYS] = {false};
    size_t rows = 0;

    while (rows + 1 < n && e[rows + 1].txn == e->txn &&
           e[rows + 1].statement == e->statement &&
           e[rows + 1].kind == HF_EVENT_READ) {
        const hf_event *row = &e[++rows];

        seen[row->key] = true;
        if (!x->weaker && row->value != HF_EVENT_NO_ROW &&
            !oracle_matches(e->extra, row->value))
            o->impossible = true;
        take_read(o, t, row);
    }
    for (unsigned k = 0; k < o->keys && !x->weaker; k++)
        if (!seen[k])
            miss_row(o, t, e, k);
    return rows;
}

static void take_write(oracle *o, int t, const hf_event *e)
{
    txn *x = &o->txns[t];

    if (e->after == UINT64_MAX) {
        x->doubt[e->key] = true;
        if (o->dropped >> o->n_doubts++ & 1)
            return;
    }
    /* what is written again may be in the range of a condition only now */
    if (!o->p->locks_at_commit &&
        (!x->wrote[e->key] ||
         (e->after != UINT64_MAX &&
          (!x->locked[e->key] || o->p->lock == HF_WATCH_LOCK_RANGES))))
        (void)add_lock(o, t, e->row, true, e);
    x->locked[e->key] |= e->after != UINT64_MAX;
    x->n_wrote += !x->wrote[e->key];
    x->wrote[e->key] = true;
    if (!x->wrote_row[e->row])
        x->first_flags[e->row] = e->flags;
    x->wrote_row[e->row] = true;
    x->written[e->key] =
        e->flags & HF_EVENT_DELETE ? HF_EVENT_NO_ROW : e->value;
}

static void take(oracle *o, const hf_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hf_event *e = &events[i];
        int t, first;
        txn *x = txn_of(o, e->txn, &t);

        switch (e->kind) {
        case HF_EVENT_BEGIN:
            x->begin_lo = x->last_ok = e->before;
            x->begin_hi = e->after;
            x->weaker = (e->flags & HF_EVENT_WEAKER) != 0;
            continue;
        case HF_EVENT_COMMIT:
        case HF_EVENT_ABORT:
            x->has_end = true;
            x->end_lo = e->before;
            x->end_hi = e->after;
            x->committed = e->kind == HF_EVENT_COMMIT;
            x->unknown = x->committed && e->after == UINT64_MAX;
            continue;
        default:
            break;
        }
        if (!x->has_first)
            x->first_lo = e->before;
        x->has_first = true;
        first = x->n_looks;
        add_snapshot(o, t, e);
        if (e->flags & HF_EVENT_FAILED)
            continue;
        if (e->after != UINT64_MAX)
            x->last_ok = e->before;
        if (e->after == UINT64_MAX && e->kind != HF_EVENT_WRITE)
            continue;
        if (e->kind == HF_EVENT_SCAN && e->extra >= ORACLE_CONDITIONS)
            take_total(o, t, e);
        else if (e->kind == HF_EVENT_SCAN)
            i += take_scan(o, t, e, n - i);
        else if (e->kind == HF_EVENT_READ)
            take_read(o, t, e);
        else
            take_write(o, t, e);
        add_looks(o, t, e, first);
    }
}

/* ---- certifiers, when all is over ---------------------------------------- */

typedef struct edges {
    bool any[ORACLE_TXNS][ORACLE_TXNS];
    bool rw[ORACLE_TXNS][ORACLE_TXNS];
} edges;

/* SSI looks at those at its own level only; to the others a write is one,
 * whoever made it. */
static bool counts(const oracle *o, int t)
{
    return t >= 0 && o->txns[t].committed && o->txns[t].has_end &&
           (!o->txns[t].weaker || o->p->certifier != HF_WATCH_SC_SSI);
}

static void put(edges *e, const oracle *o, int from, int to, bool rw)
{
    if (from == to || !counts(o, from) || !counts(o, to))
        return;
    e->any[from][to] = true;
    if (rw)
        e->rw[from][to] = true;
}

static edges find_edges(const oracle *o)
{
    edges e;

    memset(&e, 0, sizeof(e));
    for (unsigned k = 0; k < o->keys; k++)
        for (int i = 1; i < o->n_versions[k]; i++)
            put(&e, o, o->versions[k][i - 1].txn, o->versions[k][i].txn, false);
    for (int t = 0; t < o->n_txns; t++)
        for (int i = 0; i < o->txns[t].n_looks; i++) {
            const look *l = &o->txns[t].looks[i];
            const version *v = o->versions[l->key];
            int next = (int)l->version + 1;

            if (l->total)
                continue;
            put(&e, o, v[l->version].txn, t, false);
            if (l->unseen && o->p->certifier == HF_WATCH_SC_OCC_ITEMS)
                continue;
            while (l->unseen && next < o->n_versions[l->key] &&
                   (v[next].value == HF_EVENT_NO_ROW ||
                    !oracle_matches(l->condition, v[next].value)))
                next++;
            if (next < o->n_versions[l->key])
                put(&e, o, t, v[next].txn, true);
        }
    return e;
}

static bool ssi_holds(const oracle *o, const edges *e)
{
    for (int a = 0; a < o->n_txns; a++)
        for (int b = 0; b < o->n_txns; b++)
            for (int c = 0; c < o->n_txns; c++) {
                const txn *x = &o->txns[a], *y = &o->txns[b], *z = &o->txns[c];

                if (!e->rw[a][b] || !e->rw[b][c])
                    continue;
                if (z->ended > y->ended || (a != c && z->ended > x->ended))
                    continue;
                if (x->ended < y->snapped)
                    continue; /* not concurrent */
                if (x->n_wrote == 0 && z->ended > x->snapped)
                    continue;
                return false;
            }
    return true;
}

static bool occ_holds(const oracle *o, const edges *e)
{
    for (int a = 0; a < o->n_txns; a++)
        for (int b = 0; b < o->n_txns; b++)
            if (e->rw[a][b] && o->txns[a].n_wrote > 0 && !o->txns[a].weaker &&
                o->txns[b].ended < o->txns[a].ended)
                return false;
    return true;
}

/* One instant for each transaction; untimed: any. */
static bool serial_holds(const oracle *o, const edges *e, bool timed)
{
    uint64_t lo[ORACLE_TXNS];
    bool placed[ORACLE_TXNS] = {false};

    for (int t = 0; t < o->n_txns; t++)
        lo[t] = timed ? o->txns[t].first_lo : 0;
    for (int n = 0; n < o->n_txns; n++) {
        int t = 0;

        for (; t < o->n_txns; t++) {
            bool free = !placed[t];

            for (int u = 0; u < o->n_txns; u++)
                if (!placed[u] && e->any[u][t])
                    free = false;
            if (free)
                break;
        }
        if (t == o->n_txns)
            return false;
        placed[t] = true;
        if (timed && counts(o, t) && lo[t] > o->txns[t].end_hi)
            return false;
        for (int u = 0; u < o->n_txns; u++)
            if (e->any[t][u] && lo[u] < lo[t])
                lo[u] = lo[t];
    }
    return true;
}

static bool certified(const oracle *o)
{
    edges e = find_edges(o);

    switch (o->p->certifier) {
    case HF_WATCH_SC_SSI:
        return ssi_holds(o, &e);
    case HF_WATCH_SC_OCC:
    case HF_WATCH_SC_OCC_ITEMS:
        return occ_holds(o, &e);
    case HF_WATCH_SC_TO:
        return serial_holds(o, &e, true);
    case HF_WATCH_SC_CYCLE:
        return serial_holds(o, &e, false);
    default:
        return true;
    }
}

/* ---- execution ----------------------------------------------------------- */

static bool look_fits(oracle *o, look *l)
{
    unsigned newest = (unsigned)o->n_versions[l->key] - 1;
    uint64_t value = o->versions[l->key][newest].value;

    if (!l->total && (l->unseen ? value != HF_EVENT_NO_ROW &&
                                      oracle_matches(l->condition, value)
                                : value != l->value))
        return false;
    l->version = newest;
    return true;
}

static bool run_snap(oracle *o, const instant *x)
{
    txn *t = &o->txns[x->txn];
    int first = x->is_txn ? 0 : x->first;
    int n = x->is_txn ? t->n_looks : x->n;

    if (x->is_txn && o->p->read != HF_WATCH_READ_TRANSACTION)
        n = 0;
    for (int i = first; i < first + n; i++) {
        if (x->is_txn) {
            bool own = true; /* unless it has an instant of its own */

            for (int k = 0; k < o->n_instants; k++)
                if (o->instants[k].kind == SNAP && !o->instants[k].is_txn &&
                    o->instants[k].txn == x->txn && o->instants[k].first <= i &&
                    i < o->instants[k].first + o->instants[k].n)
                    own = false;
            if (!own)
                continue;
        }
        if (!look_fits(o, &t->looks[i]))
            return false;
    }
    if (x->is_txn)
        t->snapped = o->step;
    return true;
}

/* A lock of what satisfies a condition is against writes that do. */
static bool is_in_range(const instant *lock, const instant *other)
{
    return lock->condition == 0 ||
           (other->writes && other->value != HF_EVENT_NO_ROW &&
            oracle_matches(lock->condition, other->value));
}

static bool run_lock(const oracle *o, const instant *x)
{
    for (int i = 0; i < o->n_instants; i++) {
        const instant *y = &o->instants[i];

        if (y->kind == LOCK && y->done && y->txn != x->txn &&
            y->row == x->row && (y->exclusive || x->exclusive) &&
            is_in_range(x, y) && is_in_range(y, x) && o->txns[y->txn].ended < 0)
            return false;
    }
    return true;
}

/* Locks that the commit takes, if it does. */
static bool locks_free(const oracle *o, int t)
{
    for (unsigned k = 0; o->p->locks_at_commit && k < o->keys; k++) {
        instant x = {
            .kind = LOCK, .txn = t, .row = o->row[k], .key = k, .writes = true};

        x.value = o->txns[t].written[k];
        x.exclusive = true;
        if (o->txns[t].wrote[k] && !run_lock(o, &x))
            return false;
    }
    return true;
}

/* First updater wins for the row of key k: has anyone? */
static bool is_first(const oracle *o, const txn *t, unsigned k)
{
    unsigned flags = t->first_flags[o->row[k]];
    bool emptied = false, changed = false;

    for (unsigned m = 0; m < o->keys; m++) {
        if (o->row[m] != o->row[k] && !o->p->one_writer)
            continue;
        for (int i = 1; i < o->n_versions[m]; i++) {
            if (o->versions[m][i].step <= t->snapped)
                continue;
            changed = true;
            emptied |= m == k && o->versions[m][i].value == HF_EVENT_NO_ROW;
        }
    }
    if (!changed)
        return true;
    if (o->p->inserts_conflict || o->p->one_writer)
        return false;
    return (flags & HF_EVENT_INSERT) || (emptied && !(flags & HF_EVENT_DELETE));
}

static bool run_end(oracle *o, const instant *x)
{
    txn *t = &o->txns[x->txn];

    for (int i = 0; i < o->n_instants; i++)
        if (o->instants[i].txn == x->txn && !o->instants[i].done &&
            o->instants[i].kind != END)
            return false; /* it ends last */
    if (t->committed) {
        if (!locks_free(o, x->txn))
            return false;
        for (unsigned k = 0; k < o->keys; k++)
            if (o->fuw && !t->weaker && t->snapped >= 0 && t->wrote[k] &&
                !is_first(o, t, k))
                return false;
        for (unsigned k = 0; k < o->keys; k++)
            if (t->wrote[k])
                o->versions[k][o->n_versions[k]++] =
                    (version){x->txn, t->written[k], o->step};
    }
    t->ended = o->step;
    return true;
}

static void undo(oracle *o, const instant *x)
{
    txn *t = &o->txns[x->txn];

    if (x->kind == SNAP && x->is_txn)
        t->snapped = -1;
    if (x->kind != END)
        return;
    t->ended = -1;
    for (unsigned k = 0; k < o->keys; k++)
        if (o->n_versions[k] > 1 &&
            o->versions[k][o->n_versions[k] - 1].txn == x->txn)
            o->n_versions[k]--;
}

static bool search(oracle *o, uint64_t now, int left)
{
    uint64_t least = UINT64_MAX;

    if (left == 0)
        return totals_hold(o) && certified(o);
    if (++o->steps > MOST_STEPS)
        return false;
    for (int i = 0; i < o->n_instants; i++)
        if (!o->instants[i].done && o->instants[i].hi < least)
            least = o->instants[i].hi;
    for (int i = 0; i < o->n_instants; i++) {
        instant *x = &o->instants[i];
        uint64_t at = x->lo > now ? x->lo : now;
        bool fine;

        if (x->done || at > least)
            continue;
        o->step++;
        fine = x->kind == SNAP   ? run_snap(o, x)
               : x->kind == LOCK ? run_lock(o, x)
                                 : run_end(o, x);
        if (fine) {
            x->done = true;
            if (search(o, at, left - 1))
                return true;
            x->done = false;
            undo(o, x);
        }
        o->step--;
    }
    return false;
}

/* Outcomes from transaction t on. */
static bool outcomes(oracle *o, int t)
{
    while (t < o->n_txns && !o->txns[t].unknown)
        t++;
    if (t == o->n_txns) {
        int n = o->n_instants;
        bool found;

        for (int i = 0; i < o->n_txns; i++) {
            const txn *x = &o->txns[i];

            if (x->has_end)
                (void)add_instant(o, END, i,
                                  x->committed ? x->end_lo : x->last_ok,
                                  x->end_hi);
        }
        found = search(o, 0, o->n_instants);
        o->n_instants = n;
        return found;
    }
    for (int committed = 0; committed < 2; committed++) {
        o->txns[t].committed = committed;
        if (outcomes(o, t + 1))
            return true;
    }
    return false;
}

static bool explain(const oracle_question *q, const hf_event *events,
                    unsigned dropped, oracle *o)
{
    long steps = o->steps;

    memset(o, 0, sizeof(*o));
    o->steps = steps;
    o->dropped = dropped;
    o->p = q->profile;
    o->keys = q->keys;
    o->fuw = q->profile->first_updater_wins ||
             q->profile->certifier == HF_WATCH_SC_PERCOLATOR;
    for (unsigned k = 0; k < q->keys; k++) {
        o->row[k] = k;
        o->versions[k][0] = (version){-1, q->initial[k], -1};
        o->n_versions[k] = 1;
    }
    for (size_t i = 0; i < q->n; i++)
        if (events[i].kind == HF_EVENT_READ || events[i].kind == HF_EVENT_WRITE)
            o->row[events[i].key] = events[i].row;
    take(o, events, q->n);
    if (o->impossible)
        return false;
    for (int i = 0; i < o->n_instants; i++)
        o->instants[i].done = false;
    return outcomes(o, 0);
}

oracle_answer oracle_ask(const oracle_question *q)
{
    static oracle o;
    hf_event events[ORACLE_EVENTS];
    unsigned doubts = 0;

    for (size_t i = 0; i < q->n; i++) {
        hf_event *e = &events[i];

        *e = q->events[i];
        e->before -= e->before < q->error ? e->before : q->error;
        if (e->after != UINT64_MAX)
            e->after += q->error;
        doubts += e->kind == HF_EVENT_WRITE && e->after == UINT64_MAX &&
                  !(e->flags & HF_EVENT_FAILED);
    }
    o.steps = 0;
    for (unsigned dropped = 0; dropped >> doubts == 0; dropped++)
        if (explain(q, events, dropped, &o))
            return ORACLE_POSSIBLE;
    return o.steps > MOST_STEPS ? ORACLE_TOO_LONG : ORACLE_IMPOSSIBLE;
}

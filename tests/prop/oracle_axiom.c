/* oracle_axiom.c: levels that are defined by a commit order and an axiom.
 *
 * Every order of the committed transactions that keeps session order,
 * reads-from and the certificate is tried.  In each the axiom is read word by
 * word: if t3 reads x from t1, another t2 writes x, and t2 is visible to t3
 * in the sense of the level, then t2 comes before t1.
 */
#include "oracle_model.h"

/* One commit order with all that follows from it. */
typedef struct commits {
    const o_world *w;
    const o_reads *registers;
    o_reads reads; /* registers and lists */
    o_orders orders;
    int n;
    int at[O_TXNS];
    int place[O_TXNS]; /* -1: not yet placed */
    o_levels wanted, found;
} commits;

static bool reads_from(const commits *c, const o_read *r, int t)
{
    int p = o_place(&c->orders, r->key, t);

    return p >= 0 && t != r->txn && o_reads_from(c->w, &c->orders, r, p);
}

static bool wr(const commits *c, int a, int b)
{
    for (int i = 0; i < c->reads.n; i++)
        if (c->reads.at[i].txn == b && reads_from(c, &c->reads.at[i], a))
            return true;
    return false;
}

static bool so(const commits *c, int a, int b)
{
    return o_session_before(c->w, a, b);
}

/* a (so + wr)+ b, by walking forward. */
static bool causal(const commits *c, int a, int b)
{
    if (so(c, a, b) || wr(c, a, b))
        return true;
    for (int m = 0; m < c->w->m->n_txns; m++)
        /* Both relations agree with the order, so m gets ever later. */
        if (m != a && (so(c, a, m) || wr(c, a, m)) && causal(c, m, b))
            return true;
    return false;
}

static bool read_earlier(const commits *c, int t2, const o_read *r)
{
    for (int i = 0; i < c->reads.n; i++)
        if (c->reads.at[i].txn == r->txn && c->reads.at[i].step < r->step &&
            reads_from(c, &c->reads.at[i], t2))
            return true;
    return false;
}

static bool prefix(const commits *c, int t2, int t3)
{
    for (int m = 0; m < c->n; m++) {
        int t = c->at[m];

        if ((t == t2 || c->place[t2] < c->place[t]) &&
            (so(c, t, t3) || wr(c, t, t3)))
            return true;
    }
    return false;
}

/* first(a, m) and second(m, b) for some m. */
static bool then(const commits *c, int a, int b,
                 bool (*first)(const commits *, int, int),
                 bool (*second)(const commits *, int, int))
{
    for (int m = 0; m < c->w->m->n_txns; m++)
        if (first(c, a, m) && second(c, m, b))
            return true;
    return false;
}

static bool so_then_wr(const commits *c, int a, int b)
{
    return then(c, a, b, so, wr);
}

static bool visible(const commits *c, hf_level level, int t2, const o_read *r)
{
    int t3 = r->txn;

    switch (level) {
    case HF_READ_COMMITTED_AXIOMATIC:
        return read_earlier(c, t2, r);
    case HF_READ_ATOMIC:
        return so(c, t2, t3) || wr(c, t2, t3);
    case HF_READ_YOUR_WRITES:
        return so(c, t2, t3);
    case HF_MONOTONIC_READS:
        return then(c, t2, t3, wr, so);
    case HF_MONOTONIC_WRITES:
        return so_then_wr(c, t2, t3);
    case HF_WRITES_FOLLOW_READS:
        return then(c, t2, t3, wr, wr) || then(c, t2, t3, wr, so_then_wr);
    case HF_PRAM:
        return so(c, t2, t3) || then(c, t2, t3, wr, so) ||
               so_then_wr(c, t2, t3);
    case HF_CAUSAL:
        return causal(c, t2, t3);
    case HF_PREFIX:
        return prefix(c, t2, t3);
    default:
        return true;
    }
}

static bool axiom_holds(const commits *c, hf_level level)
{
    for (int i = 0; i < c->reads.n; i++) {
        const o_read *r = &c->reads.at[i];

        for (int t2 = 0; t2 < c->w->m->n_txns; t2++)
            if (c->w->in[t2] && t2 != r->source && t2 != r->txn &&
                o_misses(c->w, &c->orders, r,
                         o_place(&c->orders, r->key, t2)) &&
                visible(c, level, t2, r))
                return false;
    }
    return true;
}

static const struct {
    hf_level level;
    bool repeatable;
} levels[] = {
    {HF_READ_COMMITTED_AXIOMATIC, false},
    {HF_READ_ATOMIC, true},
    {HF_READ_YOUR_WRITES, false},
    {HF_MONOTONIC_READS, false},
    {HF_MONOTONIC_WRITES, false},
    {HF_WRITES_FOLLOW_READS, false},
    {HF_PRAM, false},
    {HF_CAUSAL, true},
    {HF_PREFIX, true},
};

#define N_LEVELS (sizeof(levels) / sizeof(levels[0]))

/* The order is complete: what does it satisfy? */
static void judge(commits *c)
{
    c->orders = (o_orders){.n = {0}};
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->w->m->n_keys; k++)
            if (o_writes(c->w->m, c->at[i], k))
                c->orders.at[k][c->orders.n[k]++] = c->at[i];
    c->reads = *c->registers;
    for (int k = 0; k < c->w->m->n_keys; k++)
        if (!o_lists_fit(c->w, k, &c->orders, false, &c->reads))
            return;
    if (!o_counts_fit(c->w, &c->orders, c->registers))
        return;
    for (int i = 0; i < c->reads.n; i++)
        for (int t = 0; t < c->w->m->n_txns; t++)
            if (reads_from(c, &c->reads.at[i], t) &&
                c->place[t] > c->place[c->reads.at[i].txn])
                return;

    bool repeatable = o_repeatable(c->w, &c->reads);

    for (size_t i = 0; i < N_LEVELS; i++)
        if ((c->wanted & ~c->found & O_LEVEL(levels[i].level)) &&
            (repeatable || !levels[i].repeatable) &&
            axiom_holds(c, levels[i].level))
            c->found |= O_LEVEL(levels[i].level);
}

static bool may_follow(const commits *c, int t)
{
    if (c->w->fixed && c->w->commit_at[t] != c->n)
        return false;
    for (int a = 0; a < c->w->m->n_txns; a++)
        if (c->w->in[a] && c->place[a] < 0 &&
            (so(c, a, t) || o_certified_before(c->w, a, t)))
            return false;
    for (int i = 0; i < c->registers->n; i++) {
        const o_read *r = &c->registers->at[i];

        if (r->txn == t && !r->view && r->source != O_INITIAL &&
            c->place[r->source] < 0)
            return false;
    }
    return true;
}

static void extend(commits *c, int n_in)
{
    if (c->n == n_in) {
        judge(c);
        return;
    }
    for (int t = 0; t < c->w->m->n_txns && c->found != c->wanted; t++) {
        if (!c->w->in[t] || c->place[t] >= 0 || !may_follow(c, t))
            continue;
        c->place[t] = c->n;
        c->at[c->n++] = t;
        extend(c, n_in);
        c->n--;
        c->place[t] = -1;
    }
}

o_levels o_axiom_levels(const o_world *w, const o_reads *reads, o_levels wanted)
{
    commits c = {.w = w, .registers = reads};
    int n_in = 0;

    for (size_t i = 0; i < N_LEVELS; i++)
        c.wanted |= wanted & O_LEVEL(levels[i].level);
    for (int t = 0; t < w->m->n_txns; t++) {
        c.place[t] = -1;
        n_in += w->in[t];
    }
    if (c.wanted)
        extend(&c, n_in);
    return c.found;
}

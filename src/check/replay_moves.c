/* replay_moves.c: which keys come under a condition, or leave it, in a time.
 *
 * For a recorded snapshot that is older than the place of its operation: only
 * keys of which a version that satisfies the condition was installed, or
 * replaced, between the two states can be looked at otherwise.
 *
 * Every version enters its rank of a column at one state and leaves it at
 * another.  These moves, in the order of states, are kept as a wavelet matrix
 * over the ranks: one vector of bits for each binary digit of a rank, by which
 * the moves are parted again and again.  Moves of a stretch of states and a
 * range of ranks are found in O(log ranks) for each of them, whatever else
 * happened in that time and whatever other conditions ask.  A matrix takes
 * O(versions log ranks) bits and is made once for each column.
 *
 * Where a condition says more than its ranges, or bounds nothing, moves must
 * be tested; when that has cost as much as testing every version once, the
 * moves of the condition itself are made (replay_times.c) and used from there
 * on, as equal conditions share them.
 */
#include "check/replay.h"

#include "base/error.h"
#include "base/sort.h"

typedef struct move {
    uint32_t q; /* the first state that has it, or has it no more */
    hf_key_id key;
    hf_value_id value;
    uint32_t rank;
} move;

struct hf_replay_moves {
    uint32_t table, column;
    bool open; /* there are versions that are not known */
    uint32_t n;
    move *at; /* by state */
    unsigned depth;
    uint64_t *bits[32];   /* of the digits, the highest first */
    uint32_t *before[32]; /* ones before each word */
    uint32_t zeros[32];
    uint32_t *leaf; /* moves in the order of the last parting */
};

/* ---- making -------------------------------------------------------------- */

typedef struct gatherer {
    hf_replay *p;
    struct hf_replay_moves *m;
    const hf_ranked *k;
    HF_VEC(move) found;
    HF_VEC(hf_sortable) order;
} gatherer;

static void add_move(gatherer *g, uint32_t q, hf_key_id key, hf_value_id value)
{
    const hf_replay_rows *rows = g->p->rows;

    if (value == HF_REPLAY_OPEN)
        g->m->open = true;
    if (value >= HF_REPLAY_OPEN || rows->local[value] == HF_NONE)
        return; /* no row */
    hf_vec_push(&g->order, (hf_sortable){q, g->found.n});
    hf_vec_push(&g->found,
                (move){q, key, value, g->k->rank[rows->local[value]]});
}

static void gather(gatherer *g)
{
    const hf_rows_table *t = &g->p->rows->tables.at[g->m->table];
    struct hf_replay_moves *m = g->m;

    for (uint32_t i = 0; i < t->n_keys; i++) {
        const hf_replay_version *at;
        uint32_t n = hf_replay_versions_of(g->p, t->keys[i], &at);

        for (uint32_t j = 1; j < n; j++) {
            add_move(g, at[j].birth, t->keys[i], at[j - 1].value);
            add_move(g, at[j].birth, t->keys[i], at[j].value);
        }
    }
    hf_sort(g->order.at, g->order.n);
    m->n = (uint32_t)g->order.n;
    m->at = HF_NEW_ARRAY(move, (size_t)m->n + 1);
    for (uint32_t i = 0; i < m->n; i++)
        m->at[i] = g->found.at[g->order.at[i].value];
    hf_vec_release(&g->order);
    hf_vec_release(&g->found);
}

/* Parts the moves, as they stand in `now`, by one digit. */
static void part(struct hf_replay_moves *m, unsigned level, uint32_t **now,
                 uint32_t **next)
{
    size_t words = (size_t)m->n / 64 + 1;
    uint64_t *bits = HF_NEW_ZEROED(uint64_t, words);
    uint32_t *before = HF_NEW_ARRAY(uint32_t, words);
    uint32_t ones = 0, zeros = 0, *spare = *now;

    for (uint32_t i = 0; i < m->n; i++) {
        uint64_t digit = m->at[(*now)[i]].rank >> (m->depth - 1 - level) & 1;

        if (i % 64 == 0)
            before[i / 64] = ones;
        bits[i / 64] |= digit << i % 64;
        ones += (uint32_t)digit;
        if (!digit)
            (*next)[zeros++] = (*now)[i];
    }
    if (m->n % 64 == 0)
        before[m->n / 64] = ones;
    m->zeros[level] = zeros;
    for (uint32_t i = 0; i < m->n; i++)
        if (bits[i / 64] >> i % 64 & 1)
            (*next)[zeros++] = (*now)[i];
    m->bits[level] = bits;
    m->before[level] = before;
    *now = *next;
    *next = spare;
}

static void make_matrix(struct hf_replay_moves *m, uint32_t n_ranks)
{
    uint32_t *now = HF_NEW_ARRAY(uint32_t, (size_t)m->n + 1);
    uint32_t *next = HF_NEW_ARRAY(uint32_t, (size_t)m->n + 1);

    while (m->depth < 32 && n_ranks >> m->depth > 0)
        m->depth++; /* ranks up to n_ranks itself: no such column */
    for (uint32_t i = 0; i < m->n; i++)
        now[i] = i;
    for (unsigned level = 0; level < m->depth; level++)
        part(m, level, &now, &next);
    m->leaf = now;
    hf_free(next);
}

static struct hf_replay_moves *moves_of(hf_replay *p, uint32_t table,
                                        uint32_t column)
{
    struct hf_replay_moves *m;
    gatherer g = {.p = p};

    for (size_t i = 0; i < p->moves.n; i++)
        if (p->moves.at[i]->table == table && p->moves.at[i]->column == column)
            return p->moves.at[i];
    m = HF_NEW_ZEROED(struct hf_replay_moves, 1);
    m->table = table;
    m->column = column;
    g.m = m;
    g.k = &p->rows->tables.at[table].columns.at[column];
    gather(&g);
    make_matrix(m, g.k->n_ranks);
    hf_vec_push(&p->moves, m);
    return m;
}

void hf_replay_moves_free(hf_replay *p)
{
    for (size_t i = 0; i < p->moves.n; i++) {
        struct hf_replay_moves *m = p->moves.at[i];

        for (unsigned level = 0; level < m->depth; level++) {
            hf_free(m->bits[level]);
            hf_free(m->before[level]);
        }
        hf_free(m->leaf);
        hf_free(m->at);
        hf_free(m);
    }
    hf_vec_release(&p->moves);
}

/* ---- asking -------------------------------------------------------------- */

typedef struct question {
    hf_replay *p;
    hf_rows_condition *c;
    const struct hf_replay_moves *m;
    hf_rank_range range;
    bool sure; /* moves in the range satisfy the condition */
    bool done;
    hf_rows_visit visit;
    void *user;
} question;

static uint32_t ones_to(const struct hf_replay_moves *m, unsigned level,
                        uint32_t i)
{
    uint64_t rest = m->bits[level][i / 64] & (((uint64_t)1 << i % 64) - 1);

    return m->before[level][i / 64] + (uint32_t)__builtin_popcountll(rest);
}

static void meet(question *x, const move *e)
{
    hf_sql_truth truth = HF_SQL_TRUE;

    if (!x->sure) {
        x->c->moves_tested++;
        truth = hf_rows_test(x->p->rows, x->c, e->value);
    }
    if (truth == HF_SQL_ERROR)
        hf_replay_undecided(x->p, HF_REPLAY_BETWEEN);
    if (truth == HF_SQL_TRUE)
        x->done = !x->visit(x->user, e->key);
}

/* The moves from `low` to `high` of a node whose ranks begin with `rank`. */
static void descend(question *x, unsigned level, uint32_t low, uint32_t high,
                    uint32_t rank)
{
    const struct hf_replay_moves *m = x->m;
    uint64_t end = (uint64_t)rank + ((uint64_t)1 << (m->depth - level));
    uint32_t ones_low, ones_high;

    if (low >= high || x->done || rank >= x->range.end || end <= x->range.first)
        return;
    if (level == m->depth) {
        for (uint32_t i = low; i < high && !x->done; i++)
            meet(x, &m->at[m->leaf[i]]);
        return;
    }
    ones_low = ones_to(m, level, low);
    ones_high = ones_to(m, level, high);
    descend(x, level + 1, low - ones_low, high - ones_high, rank);
    descend(x, level + 1, m->zeros[level] + ones_low,
            m->zeros[level] + ones_high,
            rank | (uint32_t)1 << (m->depth - 1 - level));
}

/* The first move after state q. */
static uint32_t first_after(const struct hf_replay_moves *m, uint32_t q)
{
    uint32_t low = 0, high = m->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (m->at[middle].q <= q)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool ask_times(question *x, uint32_t from, uint32_t end)
{
    const hf_replay_times *t = hf_replay_times_of(x->p, x->c);
    uint32_t last = hf_replay_events_to(t, end);

    if (t->unsaid || t->open)
        return false;
    for (uint32_t i = hf_replay_events_to(t, from); i < last && !x->done; i++)
        x->done = !x->visit(x->user, t->at[i].key);
    return true;
}

bool hf_replay_moves_each(hf_replay *p, hf_rows_condition *c, uint32_t from,
                          uint32_t end, hf_rows_visit visit, void *user)
{
    question x = {.p = p, .c = c, .visit = visit, .user = user};
    uint32_t low, high;

    if (c->bound == HF_NONE)
        return ask_times(&x, from, end);
    x.m = moves_of(p, c->table, c->bound);
    if (x.m->open)
        return false;
    if (c->moves_tested > x.m->n && ask_times(&x, from, end))
        return true;
    low = first_after(x.m, from);
    high = first_after(x.m, end);
    for (uint32_t i = 0; i < c->n_ranges && !x.done; i++) {
        x.range = c->ranges[i];
        x.sure = c->exact && i < c->n_sure;
        descend(&x, 0, low, high, 0);
    }
    return true;
}

/* replay_weak.c: levels below serializable, by states of the order.
 *
 * After Crooks, Pu, Alvisi and Clement, "Seeing is Believing": a level is a
 * test of the states that precede a transaction in the order, here for the
 * one order that is expected.
 *
 *   read-committed      each statement is explained by some state before T
 *   read-atomic         besides, T sees all or nothing of every transaction
 *                       it reads from, and what its session wrote before
 *   snapshot isolation  one state explains all of T's statements, and from it
 *                       up to T nobody writes what T writes; the session and
 *                       strict forms let it hold what came before T
 *
 * The last state that explains all statements is found by going down from
 * state to state: each statement is asked for the last one not after the
 * current candidate, until all agree.  What a valid answer needs is chosen
 * here (snapshots, sources), so that the witness is an ordinary one.
 *
 * Cost: the statements' questions (replay_states.c), seldom more than twice
 * for each; read-atomic adds the writes of the transactions read from, for
 * those transactions that no single state explains.
 */
#include "check/replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

typedef struct weak {
    hf_replay *p;
    uint32_t *state;     /* per operation: the one chosen */
    uint32_t *snapshot;  /* per place: of the transaction there */
    uint32_t *last_of;   /* per session: after its last transaction so far */
    uint32_t *time_last; /* real time: ends ascending, and after which place */
    uint64_t *time_end;
    uint32_t n_times;
    hf_map session_writes; /* session and key -> birth of its last version */
    uint32_t *visible;     /* per key, for the transaction in hand */
    hf_op_id *visible_op;  /* the read that makes it so */
    hf_txn_id *visible_for;
} weak;

bool hf_replay_has_states(const hf_level_info *level)
{
    return level->shape == HF_SHAPE_SNAPSHOT ||
           level->level == HF_READ_COMMITTED || level->level == HF_READ_ATOMIC;
}

/* ---- least states -------------------------------------------------------- */

/* Ends of committed transactions, with the greatest place so far. */
static void sort_ends(weak *x)
{
    const hf_replay *p = x->p;
    hf_sortable *all =
        hf_alloc_large(hf_array_size((size_t)p->order.n + 1, sizeof(*all)));
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->order.n; i++) {
        hf_txn_id t = p->order.at[i];

        if (p->h->txn_outcome[t] == HF_COMMITTED &&
            hf_txn_end_time(p->h, t) != HF_TIME_NONE)
            all[n++] = (hf_sortable){hf_txn_end_time(p->h, t), i};
    }
    hf_sort(all, n);
    x->n_times = n;
    x->time_end = HF_NEW_ARRAY(uint64_t, (size_t)n + 1);
    x->time_last = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t after = (uint32_t)all[i].value + 1;

        x->time_end[i] = all[i].key;
        x->time_last[i] =
            i > 0 && x->time_last[i - 1] > after ? x->time_last[i - 1] : after;
    }
    hf_free(all);
}

static uint32_t least_by_time(const weak *x, hf_txn_id t)
{
    uint64_t begin = hf_txn_begin_time(x->p->h, t);
    uint32_t low = 0, high = x->n_times;

    if (begin == HF_TIME_NONE)
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (x->time_end[middle] < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? x->time_last[low - 1] : 0;
}

/* After the last other that wrote a key that t writes. */
static uint32_t least_by_writes(const weak *x, hf_txn_id t, uint32_t place)
{
    const hf_history *h = x->p->h;
    uint32_t least = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        const hf_replay_version *at;
        uint32_t n, birth;

        if (!hf_replay_writes(h, o))
            continue;
        n = hf_replay_versions_of(x->p, h->op_key[o], &at);
        birth = at[hf_replay_version_at(at, n, place)].birth;
        if (birth > least)
            least = birth;
    }
    return least;
}

static uint32_t least_by_order(const weak *x, hf_txn_id t)
{
    const hf_level_info *level = x->p->level;
    uint32_t least = 0;

    if (level->session_order)
        least = x->last_of[x->p->h->txn_session[t]];
    if (level->real_time && least_by_time(x, t) > least)
        least = least_by_time(x, t);
    return least;
}

/* ---- one state for all --------------------------------------------------- */

/* The last state that explains the operations; HF_NONE; HF_REPLAY_OPEN. */
static uint32_t common_state(const weak *x, hf_txn_id t, const hf_op_id *ops,
                             uint32_t n, uint32_t least, uint32_t most)
{
    uint32_t agreed = 0, i = 0;
    bool open = false;

    if (least > most)
        return HF_NONE;
    while (agreed < n) {
        uint32_t q = hf_replay_state_of(x->p, t, ops[i], least, most);

        if (q == HF_NONE)
            return HF_NONE;
        open |= q == HF_REPLAY_OPEN;
        if (q == HF_REPLAY_OPEN || q == most) {
            agreed++;
        } else {
            most = q;
            agreed = 1;
        }
        i = i + 1 < n ? i + 1 : 0;
    }
    return open ? HF_REPLAY_OPEN : most;
}

typedef HF_VEC(hf_op_id) op_list;

/* The operations that say something about states; those that are wrong by
 * themselves are noted and left out. */
static void reads_of(hf_replay *p, hf_txn_id t, op_list *ret)
{
    const hf_history *h = p->h;

    ret->n = 0;
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        hf_anomaly fault = HF_ANOMALY_COUNT;

        hf_replay_check_plain(p, t, o);
        if (!hf_replay_looks(h, o))
            continue;
        if (hf_op_has_predicate(hf_op_kind_of(h, o)))
            fault = hf_replay_set_fault(p, o);
        if (fault != HF_ANOMALY_COUNT)
            hf_replay_note(p, fault, &o, 1);
        else
            hf_vec_push(ret, o);
    }
}

static void cannot_say(hf_replay *p, hf_txn_id t)
{
    hf_replay_undecided(p,
                        "it cannot be said which states explain what T%" PRId64
                        " saw (a condition that cannot be evaluated, a value "
                        "that is not known, or a snapshot that is no state of "
                        "the order)",
                        hf_txn_label(p->h, t));
}

static void choose(const weak *x, const op_list *reads, uint32_t q)
{
    for (size_t i = 0; i < reads->n; i++)
        x->state[reads->at[i]] = q;
}

/* ---- read committed ------------------------------------------------------ */

/* Each by itself; false if one is not explained or cannot be. */
static bool judge_statements(const weak *x, hf_txn_id t, uint32_t place,
                             const op_list *reads)
{
    bool fine = true;

    for (size_t i = 0; i < reads->n; i++) {
        uint32_t q = hf_replay_state_of(x->p, t, reads->at[i], 0, place);

        x->state[reads->at[i]] = q;
        if (q == HF_REPLAY_OPEN)
            cannot_say(x->p, t);
        else if (q == HF_NONE)
            hf_replay_note(x->p, HF_EXPECTED_STATE, &reads->at[i], 1);
        fine &= q < HF_REPLAY_OPEN;
    }
    return fine;
}

/* ---- read atomic --------------------------------------------------------- */

typedef struct item {
    hf_key_id key;
    hf_value_id value;
} item;

/* What an operation read of items; the rows of a predicate are some. */
static uint32_t n_items(const hf_history *h, hf_op_id op)
{
    return hf_op_has_predicate(hf_op_kind_of(h, op))
               ? hf_op_predicate(h, op).n_results
               : 1;
}

static item item_at(const hf_history *h, hf_op_id op, uint32_t i)
{
    hf_value_id value = h->op_value[op];

    if (hf_op_has_predicate(hf_op_kind_of(h, op)))
        value = hf_op_predicate(h, op).results[i].value;
    else if (hf_op_kind_of(h, op) == HF_OP_INCREMENT)
        value = hf_op_increment(h, op).before;
    if (h->value_type[value] == HF_LIST) /* known by its last element */
        return (item){h->value_key[value], hf_list_last(h, value)};
    return (item){h->value_key[value], value};
}

/* The version that the read took, if it is of another. */
static bool version_read(const weak *x, hf_txn_id t, hf_op_id op, item it,
                         hf_replay_version *ret, bool *ret_only)
{
    hf_replay *p = x->p;
    const hf_replay_version *at;
    uint32_t n, i;

    if (hf_replay_last_write(p->h, t, it.key, op) != HF_NONE)
        return false;
    n = hf_replay_versions_of(p, it.key, &at);
    *ret = at[hf_replay_version_at(at, n, x->state[op])];
    i = hf_replay_candidate(p, it.key, it.value, HF_NONE);
    *ret_only =
        i != HF_NONE && hf_replay_candidate(p, it.key, it.value, i) == HF_NONE;
    return true;
}

/* Whoever t reads from becomes visible with all its writes. */
static void see_writer(weak *x, hf_txn_id t, hf_op_id op, uint32_t birth)
{
    const hf_history *h = x->p->h;
    hf_txn_id u = x->p->order.at[birth - 1];

    for (hf_op_id o = h->op_first[u]; o < h->op_first[u + 1]; o++) {
        hf_key_id key = h->op_key[o];

        if (!hf_replay_writes(h, o) ||
            (x->visible_for[key] == t && x->visible[key] >= birth))
            continue;
        x->visible_for[key] = t;
        x->visible[key] = birth;
        x->visible_op[key] = op;
    }
}

static void note_torn(weak *x, hf_op_id op, hf_key_id key, uint32_t birth,
                      hf_op_id by)
{
    hf_txn_id u = x->p->order.at[birth - 1];
    hf_op_id ops[3] = {op, hf_replay_last_write(x->p->h, u, key, HF_NONE), by};

    hf_replay_note(x->p, HF_EXPECTED_STATE, ops, 3);
}

static uint32_t session_birth(const weak *x, hf_txn_id t, hf_key_id key)
{
    uint32_t birth = hf_map_get(&x->session_writes,
                                (uint64_t)x->p->h->txn_session[t] << 32 | key);

    return birth == UINT32_MAX ? 0 : birth;
}

/* The birth of the last version before t that the item may be. */
static uint32_t newest_birth(const weak *x, hf_txn_id t, item it)
{
    const hf_replay_version *at;
    uint32_t i = HF_NONE, place = x->p->order.place[t];

    (void)hf_replay_versions_of(x->p, it.key, &at);
    do
        i = hf_replay_candidate(x->p, it.key, it.value, i);
    while (i != HF_NONE && at[i].birth > place);
    return i == HF_NONE ? 0 : at[i].birth;
}

/* The item is older than what is visible of its key?  False: or so it may
 * be, but that is not certain. */
static bool judge_item(weak *x, hf_txn_id t, hf_op_id op, item it)
{
    uint32_t session = session_birth(x, t, it.key);
    uint32_t newest = newest_birth(x, t, it);
    hf_replay_version v;
    bool only;

    if (!version_read(x, t, op, it, &v, &only))
        return true;
    if (x->visible_for[it.key] == t && x->visible[it.key] > newest)
        note_torn(x, op, it.key, x->visible[it.key], x->visible_op[it.key]);
    else if (session > newest)
        note_torn(x, op, it.key, session, HF_NONE);
    else
        return session <= v.birth &&
               (x->visible_for[it.key] != t || x->visible[it.key] <= v.birth);
    return true;
}

static void look_for_older(weak *x, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = x->p->h;

    for (uint32_t i = 0; i < n_items(h, op); i++)
        if (!judge_item(x, t, op, item_at(h, op, i)))
            cannot_say(x->p, t);
    /* whom else the condition makes visible is not gone into */
    if (hf_op_has_predicate(hf_op_kind_of(h, op)))
        cannot_say(x->p, t);
}

static void judge_atomic(weak *x, hf_txn_id t, uint32_t place,
                         const op_list *reads)
{
    hf_replay *p = x->p;
    uint32_t q = common_state(x, t, reads->at, (uint32_t)reads->n,
                              least_by_order(x, t), place);
    bool sure = true;

    if (q < HF_REPLAY_OPEN) {
        choose(x, reads, q);
        return;
    }
    if (!judge_statements(x, t, place, reads))
        return;
    for (size_t i = 0; i < reads->n; i++)
        for (uint32_t j = 0; j < n_items(p->h, reads->at[i]); j++) {
            hf_replay_version v;
            bool only;

            if (!version_read(x, t, reads->at[i],
                              item_at(p->h, reads->at[i], j), &v, &only) ||
                v.birth == 0)
                continue;
            sure &= only;
            see_writer(x, t, reads->at[i], v.birth);
        }
    if (!sure) {
        cannot_say(p, t); /* one of several writers, who knows which */
        return;
    }
    for (size_t i = 0; i < reads->n; i++)
        look_for_older(x, t, reads->at[i]);
}

static void remember_writes(weak *x, hf_txn_id t, uint32_t place)
{
    const hf_history *h = x->p->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_replay_writes(h, o))
            hf_map_set(&x->session_writes,
                       (uint64_t)h->txn_session[t] << 32 | h->op_key[o],
                       place + 1);
}

/* ---- snapshot isolation -------------------------------------------------- */

/* Does no state explain these, and these writes? */
static bool is_proof(const weak *x, hf_txn_id t, uint32_t place,
                     const hf_op_id *ops, uint32_t n)
{
    const hf_history *h = x->p->h;
    uint32_t least = least_by_order(x, t), n_reads = 0;
    hf_op_id *reads = HF_NEW_ARRAY(hf_op_id, (size_t)n + 1);
    bool proof;

    for (uint32_t i = 0; i < n; i++) {
        if (hf_replay_looks(h, ops[i]))
            reads[n_reads++] = ops[i];
        if (hf_replay_writes(h, ops[i])) {
            const hf_replay_version *at;
            uint32_t m = hf_replay_versions_of(x->p, h->op_key[ops[i]], &at);
            uint32_t birth = at[hf_replay_version_at(at, m, place)].birth;

            if (birth > least)
                least = birth;
        }
    }
    proof = n_reads > 0 &&
            common_state(x, t, reads, n_reads, least, place) == HF_NONE;
    hf_free(reads);
    return proof;
}

#define TRIED 48u

/* The operations that no state explains together, as few as go by leaving
 * out one after the other. */
static void note_snapshot(const weak *x, hf_txn_id t, uint32_t place,
                          const op_list *reads)
{
    const hf_history *h = x->p->h;
    op_list ops = {0};
    uint32_t most = x->p->options.most ? x->p->options.most : 100;
    size_t next = 0;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        bool read = next < reads->n && reads->at[next] == o;

        next += read;
        if (read || hf_replay_writes(h, o))
            hf_vec_push(&ops, o);
    }
    for (size_t i = ops.n; i-- > 0 && ops.n <= TRIED && ops.n > 1 &&
                           x->p->count[HF_EXPECTED_STATE] < most;) {
        hf_op_id out = ops.at[i];

        memmove(ops.at + i, ops.at + i + 1, (ops.n - i - 1) * sizeof(*ops.at));
        ops.n--;
        if (is_proof(x, t, place, ops.at, (uint32_t)ops.n))
            continue;
        memmove(ops.at + i + 1, ops.at + i, (ops.n - i) * sizeof(*ops.at));
        ops.at[i] = out;
        ops.n++;
    }
    hf_replay_note(x->p, HF_EXPECTED_STATE, ops.at, (uint32_t)ops.n);
    hf_vec_release(&ops);
}

static void judge_snapshot(const weak *x, hf_txn_id t, uint32_t place,
                           const op_list *reads)
{
    uint32_t least = least_by_order(x, t);
    uint32_t writes = least_by_writes(x, t, place), q;

    if (writes > least)
        least = writes;
    q = common_state(x, t, reads->at, (uint32_t)reads->n, least, place);
    x->snapshot[place] = q;
    if (q == HF_REPLAY_OPEN)
        cannot_say(x->p, t);
    else if (q == HF_NONE)
        note_snapshot(x, t, place, reads);
    else
        choose(x, reads, q);
}

/* ---- witnesses ----------------------------------------------------------- */

/* Starts of those on state q, then the commit of the one at place q. */
static void write_events(const weak *x, hf_witness *w)
{
    const hf_expected *e = &x->p->order;
    uint32_t *first = HF_NEW_ZEROED(uint32_t, (size_t)e->n + 2);
    uint32_t *start = HF_NEW_ARRAY(uint32_t, (size_t)e->n + 1);

    for (uint32_t i = 0; i < e->n; i++)
        first[x->snapshot[i] + 1]++;
    for (uint32_t q = 0; q < e->n; q++)
        first[q + 1] += first[q];
    for (uint32_t i = 0; i < e->n; i++)
        start[first[x->snapshot[i]]++] = e->at[i];
    w->kind = HF_WITNESS_SNAPSHOT;
    w->order = hf_arena_get(x->p->arena,
                            hf_array_size(2 * (size_t)e->n, sizeof(uint32_t)));
    for (uint32_t q = 0, i = 0; q < e->n; q++) {
        for (; i < first[q]; i++) /* moved on to the end of q's */
            w->order[w->n_order++] = 2 * start[i];
        w->order[w->n_order++] = 2 * e->at[q] + 1;
    }
    hf_free(first);
    hf_free(start);
}

static void write_commits(const weak *x, hf_witness *w)
{
    const hf_expected *e = &x->p->order;

    w->kind = HF_WITNESS_COMMIT;
    w->n_order = e->n;
    w->order = hf_arena_get(x->p->arena, hf_array_size(e->n, sizeof(uint32_t)));
    if (e->n > 0)
        memcpy(w->order, e->at, e->n * sizeof(uint32_t));
}

/* ---- all ----------------------------------------------------------------- */

static uint32_t *filled(size_t n)
{
    uint32_t *a = hf_alloc_large(hf_array_size(n + 1, sizeof(*a)));

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

static void open_weak(weak *x)
{
    hf_replay *p = x->p;
    const hf_history *h = p->h;

    hf_replay_link_values(p);
    p->key_use = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    for (hf_op_id o = 0; o < h->n_ops; o++) {
        hf_key_id key = h->op_key[o];

        if (hf_op_kind_of(h, o) == HF_OP_APPEND)
            p->key_use[key] |= HF_REPLAY_LIST;
        if (hf_replay_writes(h, o) && hf_replay_written(h, o) == HF_REPLAY_OPEN)
            p->key_use[key] |= HF_REPLAY_BLIND;
        if (key != HF_NONE && p->key_use[key] && p->rows &&
            p->rows->table_of[key] != HF_NONE)
            p->rows->tables.at[p->rows->table_of[key]].odd = true;
    }
    x->state = filled(h->n_ops);
    x->snapshot = filled(p->order.n);
    x->last_of = HF_NEW_ZEROED(uint32_t, (size_t)h->n_sessions + 1);
    if (p->level->real_time)
        sort_ends(x);
    hf_map_init(&x->session_writes);
    if (p->level->level == HF_READ_ATOMIC) {
        x->visible = filled(h->n_keys);
        x->visible_op = filled(h->n_keys);
        x->visible_for = filled(h->n_keys);
    }
}

static void close_weak(weak *x)
{
    hf_free(x->state);
    hf_free(x->snapshot);
    hf_free(x->last_of);
    hf_free(x->time_last);
    hf_free(x->time_end);
    hf_free(x->visible);
    hf_free(x->visible_op);
    hf_free(x->visible_for);
    hf_map_release(&x->session_writes);
}

static void judge_one(weak *x, uint32_t place, op_list *reads)
{
    hf_replay *p = x->p;
    hf_txn_id t = p->order.at[place];

    reads_of(p, t, reads);
    if (p->level->shape == HF_SHAPE_SNAPSHOT) {
        judge_snapshot(x, t, place, reads);
    } else if (p->level->level == HF_READ_ATOMIC) {
        judge_atomic(x, t, place, reads);
        remember_writes(x, t, place);
    } else {
        (void)judge_statements(x, t, place, reads);
    }
    if (x->last_of[p->h->txn_session[t]] <= place)
        x->last_of[p->h->txn_session[t]] = place + 1;
}

bool hf_replay_weak(hf_replay *p, hf_witness *ret)
{
    weak x = {.p = p};
    op_list reads = {0};

    open_weak(&x);
    for (uint32_t i = 0; i < p->order.n && !p->stopped; i++) {
        judge_one(&x, i, &reads);
        if ((i & 0xff) == 0 && !hf_replay_spent(p))
            hf_budget_progress(p->budget, "replaying", i, p->order.n);
    }
    if (!p->stopped && p->noted == 0 && !p->undecided[0]) {
        if (p->level->shape == HF_SHAPE_SNAPSHOT)
            write_events(&x, ret);
        else
            write_commits(&x, ret);
        hf_replay_sources(p, x.state, ret);
    }
    hf_vec_release(&reads);
    close_weak(&x);
    return !p->stopped;
}

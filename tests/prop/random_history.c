/* random_history.c: a small store with too many modes, and its recorder. */
#include "random_store.h"

#include <string.h>

#include "model/level.h"

const random_taste random_any = {.fixtures = 25,
                                 .few = 40,
                                 .predicates = 20,
                                 .lists = 35,
                                 .certificates = 30,
                                 .complete = 50,
                                 .unique = 10};

const random_taste random_predicates = {.fixtures = 10,
                                        .few = 25,
                                        .weak = 60,
                                        .dirty = 6,
                                        .rich = 100,
                                        .predicates = 100,
                                        .certificates = 75,
                                        .complete = 80,
                                        .rmw = 10,
                                        .unique = 10,
                                        .odd = 2};

const random_taste random_unlisted = {.few = 25,
                                      .weak = 60,
                                      .dirty = 6,
                                      .rich = 100,
                                      .predicates = 100,
                                      .certificates = 40,
                                      .complete = 50,
                                      .rmw = 10,
                                      .unlisted = 60};

const random_taste random_items = {.fixtures = 20,
                                   .few = 30,
                                   .weak = 40,
                                   .lists = 40,
                                   .certificates = 60,
                                   .complete = 75,
                                   .rmw = 20,
                                   .last_read = 60,
                                   .unique = 15};

const random_taste random_choices = {.fixtures = 15,
                                     .few = 20,
                                     .weak = 35,
                                     .lists = 30,
                                     .certificates = 25,
                                     .complete = 30,
                                     .rmw = 25,
                                     .last_read = 25,
                                     .unique = 8,
                                     .duplicates = 45,
                                     .unknown = 55};

static mode random_mode(const random_taste *taste, hf_rng *r)
{
    static const unsigned weights[VIEW_COUNT] = {25, 15, 30, 23, 7};
    unsigned pick = hf_rng_below(r, 100), v = 0;
    mode m = {0};

    while (pick >= weights[v])
        pick -= weights[v++];
    m.view = (view)v;
    m.atomic = hf_rng_chance(r, 15);
    m.per_read =
        m.view != VIEW_CAUSAL ? hf_rng_chance(r, 30) : hf_rng_chance(r, 10);
    m.check_writes = hf_rng_chance(r, 50);
    m.check_reads = hf_rng_chance(r, 25);
    m.sessions = hf_rng_chance(r, 60);
    m.duplicates = hf_rng_chance(r, 25);
    m.predicates = hf_rng_chance(r, taste->predicates);
    m.rich = taste->rich > 0 && hf_rng_chance(r, taste->rich);
    m.predicates |= m.rich;
    m.abort = hf_rng_chance(r, 40) ? 20 : 0;
    m.unknown = hf_rng_chance(r, 35) ? 25 : 0;
    m.rmw = taste->rmw > 0 && hf_rng_chance(r, taste->rmw);
    if (taste->weak > 0 && hf_rng_chance(r, taste->weak)) {
        m.view = hf_rng_chance(r, 40) ? VIEW_PREFIX : VIEW_CAUSAL;
        m.atomic = m.per_read = m.check_reads = m.duplicates = false;
    }
    if (taste->dirty > 0 && hf_rng_chance(r, taste->dirty))
        m.view = VIEW_DIRTY;
    if (taste->duplicates > 0)
        m.duplicates = hf_rng_chance(r, taste->duplicates);
    if (taste->unknown > 0)
        m.unknown = hf_rng_chance(r, taste->unknown) ? 35 : 0;
    return m;
}

/* ---- what is there to read ----------------------------------------------- */

bool store_writes(const tiny_txn *x, int key)
{
    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].key == key && !x->ops[i].failed &&
            hf_op_installs(x->ops[i].kind))
            return true;
    return false;
}

static void add_items(const tiny_txn *x, int key, tiny_op *op)
{
    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].kind == HF_OP_APPEND && x->ops[i].key == key &&
            !x->ops[i].failed && op->n_items < TINY_ITEMS)
            op->items[op->n_items++] = x->ops[i].value;
}

static int last_value(const tiny_txn *x, int key)
{
    int v = TINY_NIL;

    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].key == key && !x->ops[i].failed &&
            hf_op_installs(x->ops[i].kind))
            v = x->ops[i].value;
    return v;
}

unsigned store_view(store *s, int txn)
{
    unsigned all = 0, past = 0, v = 0;
    int limit = (int)hf_rng_below(s->r, (uint32_t)s->n_commits + 1);

    for (int i = 0; i < s->n_commits; i++) {
        int c = s->commits[i];
        bool mine = s->t->txns[c].session == s->t->txns[txn].session &&
                    s->t->txns[c].session >= 0;

        all |= 1u << c;
        if (mine && s->mode.sessions)
            past |= 1u << c;
        if (s->mode.view == VIEW_PREFIX ? i < limit : hf_rng_chance(s->r, 55))
            v |= 1u << c;
    }
    if (s->mode.view == VIEW_ALL || s->mode.view == VIEW_DIRTY)
        return all;
    v |= past;
    if (s->mode.view == VIEW_CAUSAL)
        for (int c = 0; c < s->t->n_txns; c++)
            if (v & (1u << c))
                v |= s->depends[c];
    return v;
}

/* The newest version of the key in the view; -1: the initial one. */
static int visible_writer(const store *s, int key, unsigned v)
{
    for (int i = s->n_commits - 1; i >= 0; i--)
        if ((v & (1u << s->commits[i])) &&
            store_writes(&s->t->txns[s->commits[i]], key))
            return s->commits[i];
    return -1;
}

static void read_list(const store *s, int txn, int key, int writer, tiny_op *op)
{
    if (writer >= 0 && !s->ended[writer] && writer != txn) {
        for (int i = 0; i < s->n_commits; i++)
            add_items(&s->t->txns[s->commits[i]], key, op);
        add_items(&s->t->txns[writer], key, op);
    } else {
        for (int i = 0; writer >= 0 && i < s->n_commits; i++) {
            add_items(&s->t->txns[s->commits[i]], key, op);
            if (s->commits[i] == writer)
                break;
        }
    }
    add_items(&s->t->txns[txn], key, op);
}

int store_read(store *s, int txn, int key, tiny_op *op)
{
    tiny_txn *x = &s->t->txns[txn];
    int writer;

    if (s->mode.per_read)
        s->seen[txn] = store_view(s, txn);
    writer = visible_writer(s, key, s->seen[txn]);
    if (s->mode.view == VIEW_DIRTY && s->last_writer[key] >= 0 &&
        hf_rng_chance(s->r, 60))
        writer = s->last_writer[key];
    op->key = key;
    op->kind = s->t->is_list[key] ? HF_OP_READ_LIST : HF_OP_READ;
    op->value = TINY_NIL;
    if (s->t->is_list[key]) {
        read_list(s, txn, key, writer, op);
    } else if (store_writes(x, key)) {
        op->value = last_value(x, key);
        return txn;
    } else {
        op->value = writer >= 0 ? last_value(&s->t->txns[writer], key)
                                : s->t->initial[key];
    }
    if (writer >= 0)
        s->depends[txn] |= 1u << writer | s->depends[writer];
    return writer;
}

int store_new_value(store *s, int key)
{
    if (s->mode.duplicates && hf_rng_chance(s->r, 60))
        return 1 + (int)hf_rng_below(s->r, 2);
    return ++s->next_value[key];
}

/* ---- running a program --------------------------------------------------- */

static void write_key(store *s, int txn, int key, tiny_op *op)
{
    tiny_op now = {0};

    op->key = key;
    op->value = store_new_value(s, key);
    if (s->t->is_list[key]) {
        op->kind = HF_OP_APPEND;
        return;
    }
    op->kind = HF_OP_WRITE;
    if (hf_rng_chance(s->r, 25)) {
        store_read(s, txn, key, &now);
        if (now.value == TINY_NIL) {
            op->kind = HF_OP_INSERT;
        } else if (hf_rng_chance(s->r, 40)) {
            op->kind = HF_OP_DELETE;
            op->value = TINY_NIL;
        } else if (!s->t->is_row[key]) {
            op->kind = HF_OP_INCREMENT;
            op->before = now.value;
            if (s->mode.duplicates)
                op->value = now.value + 1;
            if (!s->mode.predicates && hf_rng_chance(s->r, 4))
                op->value = TINY_UNRECORDED;
        }
    }
    op->failed = op->kind == HF_OP_WRITE && hf_rng_chance(s->r, 3);
}

/* A read of (nearly) all keys with a condition; each key is looked at by
 * itself. */
static void read_predicate(store *s, int txn, tiny_op *op)
{
    op->kind =
        hf_rng_chance(s->r, 80) ? HF_OP_PREDICATE_READ : HF_OP_PREDICATE_UPDATE;
    op->where.form = "<>=t"[hf_rng_below(s->r, 4)];
    op->where.p = 1 + (int)hf_rng_below(s->r, 4);
    for (int k = 0; k < s->t->n_keys; k++) {
        tiny_entry *e = &op->entries[op->n_entries];
        tiny_op read = {0};

        if (hf_rng_chance(s->r, 8))
            continue;
        op->n_entries++;
        store_read(s, txn, k, &read);
        e->key = k;
        e->value = read.value;
        e->returned =
            e->value != TINY_NIL &&
            condition_holds(op->where,
                            (hf_scalar){.type = HF_INT, .number = e->value});
    }
}

static bool has_touched(const tiny_txn *x, int key)
{
    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].key == key && !x->ops[i].failed)
            return true;
    return false;
}

/* Shall it write what it has just written once more?  Then what others saw
 * of it was intermediate. */
static bool overwrites(const store *s, const tiny_txn *x)
{
    return s->mode.rich && x->n_ops > 0 &&
           hf_op_installs(x->ops[x->n_ops - 1].kind) && hf_rng_chance(s->r, 30);
}

static void run_op(store *s, int txn)
{
    tiny_txn *x = &s->t->txns[txn];
    int key = (int)hf_rng_below(s->r, (uint32_t)s->t->n_keys);
    tiny_op op = {0};

    if (x->n_ops + 2 > TINY_OPS)
        return;
    if (s->mode.rich && hf_rng_chance(s->r, 55)) {
        store_run_predicate(s, txn);
        return;
    }
    if (overwrites(s, x)) {
        key = x->ops[x->n_ops - 1].key;
        write_key(s, txn, key, &op);
    } else if (hf_rng_chance(s->r, s->reads[txn])) {
        if (s->mode.predicates && !s->mode.rich && hf_rng_chance(s->r, 60))
            read_predicate(s, txn, &op);
        else
            store_read(s, txn, key, &op);
        if (hf_rng_chance(s->r, 3))
            op.value = TINY_UNRECORDED;
    } else {
        if (s->mode.rmw && !has_touched(x, key)) {
            store_read(s, txn, key, &op);
            x->ops[x->n_ops++] = op;
            op = (tiny_op){0};
        }
        write_key(s, txn, key, &op);
    }
    if (hf_op_installs(op.kind) && !op.failed)
        s->last_writer[key] = txn;
    x->ops[x->n_ops++] = op;
}

/* Something it wrote (or read) has a version that it did not see. */
static bool is_stale(const store *s, int txn)
{
    const tiny_txn *x = &s->t->txns[txn];
    unsigned all = ~0u;

    for (int i = 0; i < x->n_ops; i++) {
        bool write = hf_op_installs(x->ops[i].kind);
        int k = x->ops[i].key;

        if ((write ? s->mode.check_writes : s->mode.check_reads) &&
            visible_writer(s, k, all) != visible_writer(s, k, s->seen[txn]))
            return true;
    }
    return false;
}

static void end_txn(store *s, int txn)
{
    tiny_txn *x = &s->t->txns[txn];
    bool commit = !is_stale(s, txn) && !hf_rng_chance(s->r, s->mode.abort);

    x->outcome = commit ? HF_COMMITTED : HF_ABORTED;
    if (hf_rng_chance(s->r, s->mode.unknown)) {
        x->outcome = HF_UNKNOWN_OUTCOME;
        commit = commit && hf_rng_chance(s->r, 70);
    }
    if (commit) {
        s->commits[s->n_commits++] = txn;
        s->depends[txn] |= s->mode.sessions ? s->seen[txn] : 0;
    }
    s->ended[txn] = true;
    x->end = s->clock;
}

static void step(store *s, int txn)
{
    s->clock++;
    if (s->next_op[txn] < 0) {
        s->t->txns[txn].begin = s->clock;
        s->seen[txn] = store_view(s, txn);
        s->next_op[txn] = 0;
    } else if (s->next_op[txn] < s->planned[txn]) {
        run_op(s, txn);
        s->next_op[txn]++;
    } else {
        end_txn(s, txn);
    }
}

/* The next transaction of its session that has not ended, or -1. */
static int ready(const store *s, int txn)
{
    if (s->ended[txn])
        return -1;
    for (int a = 0; a < txn; a++)
        if (!s->ended[a] && s->t->txns[a].session == s->t->txns[txn].session &&
            s->t->txns[a].session >= 0)
            return -1;
    return txn;
}

static void run(store *s)
{
    int left = s->t->n_txns;

    while (left > 0) {
        int txn = ready(s, (int)hf_rng_below(s->r, (uint32_t)s->t->n_txns));

        if (txn < 0)
            continue;
        do
            step(s, txn);
        while (s->mode.atomic && !s->ended[txn]);
        left -= s->ended[txn];
    }
}

/* One more transaction, which reads all lists as they are now. */
static void read_all_lists(store *s)
{
    tiny_txn *x = &s->t->txns[s->t->n_txns];

    *x = (tiny_txn){.session = -1, .begin = s->clock + 1, .end = s->clock + 2};
    for (int k = 0; k < s->t->n_keys; k++) {
        tiny_op *op = &x->ops[x->n_ops];

        if (!s->t->is_list[k])
            continue;
        *op = (tiny_op){.kind = HF_OP_READ_LIST, .key = k, .value = TINY_NIL};
        for (int i = 0; i < s->n_commits; i++)
            add_items(&s->t->txns[s->commits[i]], k, op);
        x->n_ops++;
    }
    if (x->n_ops > 0)
        s->t->n_txns++;
}

/* ---- what is recorded ---------------------------------------------------- */

static void record_certificate(store *s)
{
    unsigned keep = hf_rng_chance(s->r, s->taste->complete) ? 100 : 60;

    for (int k = 0; k < s->t->n_keys; k++)
        for (int i = 0; i < s->n_commits; i++)
            if (store_writes(&s->t->txns[s->commits[i]], k) &&
                hf_rng_chance(s->r, keep))
                s->t->order[k][s->t->n_order[k]++] = s->commits[i];
}

static void record_times(store *s)
{
    bool any = hf_rng_chance(s->r, 65);
    unsigned stretch = hf_rng_chance(s->r, 50) ? 3 : 0;

    for (int i = 0; i < s->t->n_txns; i++) {
        tiny_txn *x = &s->t->txns[i];

        x->begin = 10 + x->begin - (int)hf_rng_below(s->r, stretch + 1);
        x->end = 10 + x->end + (int)hf_rng_below(s->r, stretch + 1);
        if (!any || hf_rng_chance(s->r, 8))
            x->begin = -1;
        if (!any || hf_rng_chance(s->r, 8))
            x->end = -1;
    }
}

/* ---- the whole ----------------------------------------------------------- */

/* How many writes may be the source of the read; at least 1. */
static int count_sources(const tiny_history *t, int key, int value)
{
    int n = t->initial[key] == value;

    for (int i = 0; i < t->n_txns; i++)
        n += store_writes(&t->txns[i], key) &&
             last_value(&t->txns[i], key) == value;
    return n > 1 ? n : 1;
}

static int count_ways(const tiny_history *t, const tiny_op *op)
{
    int ways = 1;

    if (op->kind == HF_OP_READ)
        return count_sources(t, op->key, op->value);
    for (int i = 0; i < op->n_entries; i++)
        if (op->entries[i].writer == 0)
            ways *= count_sources(t, op->entries[i].key, op->entries[i].value);
    return ways;
}

static bool is_too_open(const tiny_history *t)
{
    int ways = 1;

    for (int i = 0; i < t->n_txns; i++) {
        if (t->txns[i].outcome == HF_UNKNOWN_OUTCOME)
            ways *= 2;
        for (int j = 0; j < t->txns[i].n_ops && ways <= 64; j++)
            ways *= count_ways(t, &t->txns[i].ops[j]);
    }
    return ways > 64;
}

static void plan(store *s)
{
    tiny_history *t = s->t;
    uint32_t n_sessions = 1 + hf_rng_below(s->r, 4);
    bool own = hf_rng_chance(s->r, 20);
    unsigned rows = s->mode.rich ? 50 * hf_rng_below(s->r, 3) : 0;

    t->n_txns = hf_rng_chance(s->r, s->taste->few)
                    ? 2 + (int)hf_rng_below(s->r, 2)
                    : 4 + (int)hf_rng_below(s->r, 3);
    t->n_keys = 1 + (int)hf_rng_below(s->r, 3);
    if (s->mode.rich && t->n_txns > 5)
        t->n_txns = 5;
    if (s->taste->most > 0)
        t->n_txns =
            (int)(s->taste->most / 2 + hf_rng_below(s->r, s->taste->most / 2));
    if (s->mode.rich && hf_rng_chance(s->r, 15))
        t->n_keys = TINY_KEYS;
    t->unique = hf_rng_chance(s->r, s->taste->unique);
    for (int k = 0; k < t->n_keys; k++) {
        t->is_list[k] =
            !s->mode.predicates && hf_rng_chance(s->r, s->taste->lists);
        t->is_row[k] = s->mode.rich && hf_rng_chance(s->r, rows);
        s->last_writer[k] = -1;
        if (!t->is_list[k] && hf_rng_chance(s->r, 30))
            t->initial[k] = s->mode.duplicates ? 1 : ++s->next_value[k];
    }
    for (int i = 0; i < t->n_txns; i++) {
        t->txns[i].session = own ? -1 : (int)hf_rng_below(s->r, n_sessions);
        s->next_op[i] = -1;
        s->planned[i] = 1 + (int)hf_rng_below(s->r, 4);
        s->reads[i] = 10 + 40 * hf_rng_below(s->r, 3);
    }
}

static tiny_history run_store(const random_taste *taste, hf_rng *r)
{
    tiny_history t = tiny_empty();
    store s = {.taste = taste, .r = r, .t = &t};

    s.mode = random_mode(taste, r);
    plan(&s);
    run(&s);
    if (taste->last_read > 0 && hf_rng_chance(r, taste->last_read))
        read_all_lists(&s);
    if (hf_rng_chance(r, taste->certificates))
        record_certificate(&s);
    record_times(&s);
    if (s.mode.rich)
        store_record_sets(&s);
    if (s.mode.rich && hf_rng_chance(r, 15))
        random_corrupt_predicate(&t, r);
    if (hf_rng_chance(r, s.mode.rich ? 8 : 30))
        random_corrupt(&t, r);
    return t;
}

static bool taste_is_any(const random_taste *taste)
{
    return taste->predicates > 0 && taste->rich == 0;
}

/* What a taste without predicates does not want, and what no checker takes:
 * certificates that list aborted transactions. */
static bool is_refused(const random_taste *taste, const tiny_history *t)
{
    if (taste->predicates == 0 && tiny_has_predicates(t))
        return true;
    for (int k = 0; !taste_is_any(taste) && k < t->n_keys; k++)
        for (int i = 0; i < t->n_order[k]; i++)
            if (t->txns[t->order[k][i]].outcome == HF_ABORTED)
                return true;
    return taste->most == 0 && is_too_open(t);
}

tiny_history random_history_of(const random_taste *taste, hf_rng *r)
{
    tiny_history t;

    do {
        t = hf_rng_chance(r, taste->fixtures) ? random_fixture(r)
                                              : run_store(taste, r);
        if (hf_rng_chance(r, taste->rich > 0 ? 3 : 8))
            random_corrupt(&t, r);
    } while (is_refused(taste, &t));
    return t;
}

tiny_history random_history(hf_rng *r)
{
    return random_history_of(&random_any, r);
}

void random_levels(tiny_history *t, hf_rng *r)
{
    int few[3], n = 1 + (int)hf_rng_below(r, 3);

    for (int i = 0; i < n; i++)
        few[i] = 1 + (int)hf_rng_below(r, HF_LEVEL_COUNT);
    for (int i = 0; i < t->n_txns; i++)
        t->txns[i].level =
            hf_rng_chance(r, 15) ? 0 : few[hf_rng_below(r, (uint32_t)n)];
}

/* suspects.c: keys that a snapshot may see otherwise than an order does.
 *
 * In an order the reads of a transaction should see the versions of those
 * before its place; its snapshot holds those before a place in the timeline
 * (entries.h).  Where, for some key, the two differ by versions that matter to
 * the condition, the key is a suspect: world.c then looks at it closely.  All
 * other entries are current as far as the condition can tell.
 *
 * For one condition the versions that matter are those that satisfy it, or
 * may, and the next version after each.  Suppose an entry and the current
 * version of its key differ.  The versions after the older of the two, up to
 * the newer, are in the one and not in the other.  If the entry satisfies the
 * condition, or one of these changes the matches, then one of these matters:
 * the first of them, or one that satisfies it, or the one after that.
 *
 * So: the versions that matter are sorted by the timeline, with a tree over
 * their places in the order.  A snapshot asks for those before its place in
 * the timeline that are not before it in the order, and the reverse.  In a
 * right order there are none, however far the two places are apart.
 *
 * That argument needs a snapshot to hold the first few versions of a key.
 * Where that is not certain more is asked for: doubtful keys and keys whose
 * versions stand otherwise in the order are always suspects, and so are the
 * writes of those that a snapshot by ids lists as active, and the own writes
 * (changes by oneself make no edges, so two entries may differ by them);
 * versions of those that are not in the order always matter, and versions
 * after one that became visible later (by ids; or one without a commit time).
 *
 * There are two ways to have these trees.  Conditions that many operations
 * share get one each.  Others share one with all conditions that bound the same
 * column: there all its versions are taken for ones that matter, and of those
 * that are found it is asked whether they do (in an exact bound all do).  The
 * tree is then over the order of the column, and the timeline is gone through
 * (crossings.h).
 *
 * Cost: for each column the versions, for each operation, and each version
 * found, the logarithm of them, times the intervals of a space if it is in
 * one; and for each condition that is not exactly the ranges of some columns
 * and that more than a few operations share, the versions in its bound, sorted.
 */
#include "base/sort.h"
#include "base/vec.h"
#include "verify/crossings.h"
#include "verify/world.h"

/* So many operations are too few for a tree of their condition. */
#define FEW 4
/* So many versions have 32-bit nodes in a shared tree. */
#define MOST_SHARED (UINT32_MAX / 16)

/* A version that matters. */
typedef struct element {
    uint32_t place; /* of its writer in the order; UINT32_MAX: not in it */
    hf_key_id key;
} element;

typedef HF_VEC(hf_sortable) pair_list;

typedef struct finder {
    hf_verifier *v;
    hf_world *w;
    hf_snapshot_kind kind;
    const hf_timeline *line;
    const hf_doubt *doubt;
    pair_list always; /* timeline place, slot: matter to any condition */
    hf_key_index odd; /* by table: keys that are always suspects */
    pair_list found;  /* operation, key */
    hf_op_id *met;    /* per key: the last operation it was found for */
    /* in the order: per key its first slot, per slot the next of its key */
    uint32_t *first, *next;
    /* the condition in hand: (timeline place, slot), sorted; what they are;
     * and trees, where the children of node i are 2i and 2i + 1 and the
     * leaves begin at `leaves` */
    pair_list matter;
    HF_VEC(element) elements;
    HF_VEC(uint32_t) least, most;
    uint32_t leaves;
    /* operations whose conditions share trees: (index of the column, timeline
     * place), operation */
    HF_VEC(const hf_column *) columns;
    pair_list shared;
    hf_search search; /* of the operation in hand */
} finder;

/* ---- what matters -------------------------------------------------------- */

static void add_slot(finder *f, uint32_t slot)
{
    hf_txn_id t = f->v->facts.write_txn[slot];

    hf_vec_push(&f->matter, ((hf_sortable){f->line->index[t], slot}));
}

/* The first version of each key, and the one after each version. */
static void follow_versions(finder *f)
{
    const hf_facts *facts = &f->v->facts;
    uint32_t *last = hf_nones(f->v, f->v->h->n_keys, sizeof(*last));

    if (f->next)
        return;
    f->first = hf_nones(f->v, f->v->h->n_keys, sizeof(*f->first));
    f->next = hf_nones(f->v, hf_n_slots(f->v), sizeof(*f->next));
    for (uint32_t i = 0; i < f->w->n; i++) {
        hf_txn_id t = f->w->at[i];

        for (uint32_t s = facts->write_first[t]; s < facts->write_first[t + 1];
             s++) {
            hf_key_id key = facts->write_key[s];

            if (last[key] == HF_NONE)
                f->first[key] = s;
            else
                f->next[last[key]] = s;
            last[key] = s;
        }
    }
}

static void add_version(finder *f, uint32_t version)
{
    bool initial = hf_is_initial_version(f->v, version);
    uint32_t next =
        initial ? f->first[hf_version_key(f->v, version)] : f->next[version];

    if (!initial)
        add_slot(f, version);
    if (next != HF_NONE)
        add_slot(f, next);
}

static void collect_matter(finder *f, hf_string_id table,
                           const hf_condition *condition)
{
    const hf_column *c = hf_column_for(f->v, table, condition);
    const hf_search *found = &f->search;

    hf_column_search(f->v, c, condition, &f->search);
    f->matter.n = 0;
    for (size_t i = 0; i < found->list.n; i++)
        for (uint32_t x = found->list.at[i].from; x < found->list.at[i].to; x++)
            if (i < found->n_exact ||
                hf_predicate_match(f->v, condition,
                                   hf_version_value(f->v, c->version[x])) !=
                    HF_MATCH_NO)
                add_version(f, c->version[x]);
    for (size_t i = 0; i < f->always.n; i++) {
        uint32_t slot = (uint32_t)f->always.at[i].value;

        if (hf_table_of(f->v->h, f->v->facts.write_key[slot]) == table)
            hf_vec_push(&f->matter, f->always.at[i]);
    }
    hf_sort(f->matter.at, f->matter.n);
}

/* ---- trees --------------------------------------------------------------- */

static void plant(finder *f)
{
    uint32_t n = (uint32_t)f->matter.n;

    for (f->leaves = 1; f->leaves < n;)
        f->leaves *= 2;
    f->elements.n = f->least.n = f->most.n = 0;
    for (uint32_t i = 0; i < 2 * f->leaves; i++) {
        hf_vec_push(&f->least, UINT32_MAX);
        hf_vec_push(&f->most, 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        element e = {f->w->place[f->line->txn[f->matter.at[i].key]],
                     f->v->facts.write_key[f->matter.at[i].value]};

        hf_vec_push(&f->elements, e);
        f->least.at[f->leaves + i] = e.place;
        f->most.at[f->leaves + i] = e.place;
    }
    for (uint32_t i = f->leaves; i-- > 1;) {
        uint32_t a = 2 * i, b = 2 * i + 1;

        f->least.at[i] =
            f->least.at[a] < f->least.at[b] ? f->least.at[a] : f->least.at[b];
        f->most.at[i] =
            f->most.at[a] > f->most.at[b] ? f->most.at[a] : f->most.at[b];
    }
}

static void find(finder *f, hf_op_id op, hf_key_id key)
{
    if (f->met[key] == op)
        return;
    f->met[key] = op;
    hf_vec_push(&f->found, ((hf_sortable){op, key}));
}

/* Elements from .. to-1 that are not before `now` in the order (late), or
 * are. */
typedef struct question {
    hf_op_id op;
    uint32_t from, to, now;
    bool late;
} question;

static void search(finder *f, const question *q, uint32_t node, uint32_t first,
                   uint32_t n)
{
    if (first >= q->to || first + n <= q->from ||
        (q->late ? f->most.at[node] < q->now : f->least.at[node] >= q->now))
        return;
    if (n == 1) {
        if (first < f->elements.n)
            find(f, q->op, f->elements.at[first].key);
        return;
    }
    search(f, q, 2 * node, first, n / 2);
    search(f, q, 2 * node + 1, first + n / 2, n / 2);
}

/* The first element at or after a place of the timeline. */
static uint32_t element_from(const finder *f, uint32_t place)
{
    uint32_t low = 0, high = (uint32_t)f->matter.n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (f->matter.at[middle].key < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- operations ---------------------------------------------------------- */

static void find_writes(finder *f, hf_txn_id t, hf_op_id op, hf_string_id table)
{
    const hf_facts *facts = &f->v->facts;

    for (uint32_t s = facts->write_first[t]; s < facts->write_first[t + 1]; s++)
        if (hf_table_of(f->v->h, facts->write_key[s]) == table)
            find(f, op, facts->write_key[s]);
}

static void find_listed(finder *f, const hf_key_index *keys, hf_op_id op,
                        hf_string_id table)
{
    uint32_t at = hf_table_place(f->v->h, table);

    for (uint32_t i = keys->first[at]; i < keys->first[at + 1]; i++)
        find(f, op, keys->at[i]);
}

/* Whatever the condition. */
static void find_exceptions(finder *f, hf_op_id op, hf_string_id table)
{
    hf_txn_id t = hf_op_txn(f->v->h, op), active;
    size_t at = 0;

    while (hf_next_active(f->line, f->v, op, &at, &active))
        find_writes(f, active, op, table);
    find_writes(f, t, op, table);
    find_listed(f, &f->doubt->keys, op, table);
    find_listed(f, &f->odd, op, table);
}

static void ask(finder *f, hf_op_id op, hf_string_id table)
{
    hf_txn_id t = hf_op_txn(f->v->h, op);
    uint32_t place = hf_timeline_place(f->line, f->v, op);
    uint32_t middle = element_from(f, place);
    question q = {op, 0, middle, f->w->now[t], true};

    search(f, &q, 1, 0, f->leaves);
    q = (question){op, middle, (uint32_t)f->matter.n, f->w->now[t], false};
    search(f, &q, 1, 0, f->leaves);
    find_exceptions(f, op, table);
}

/* ---- shared trees -------------------------------------------------------- */

/* Of the version of rank r the elements are 2r, itself, and 2r + 1, the next
 * of its key; then come those that always matter. */
static void add_element(finder *f, hf_crossings *x, uint32_t i, uint32_t slot)
{
    hf_txn_id t = f->v->facts.write_txn[slot];

    hf_crossings_add(x, i, f->line->index[t], f->w->place[t]);
}

static hf_crossings *cross(finder *f, const hf_column *c)
{
    hf_crossings *x = hf_crossings_new(2 * c->n + (uint32_t)f->always.n);

    for (uint32_t r = 0; r < c->n; r++) {
        uint32_t version = c->version[r];
        bool initial = hf_is_initial_version(f->v, version);
        uint32_t next = initial ? f->first[hf_version_key(f->v, version)]
                                : f->next[version];

        if (!initial)
            add_element(f, x, 2 * r, version);
        if (next != HF_NONE)
            add_element(f, x, 2 * r + 1, next);
    }
    for (uint32_t i = 0; i < f->always.n; i++) {
        uint32_t slot = (uint32_t)f->always.at[i].value;

        if (hf_table_of(f->v->h, f->v->facts.write_key[slot]) == c->table)
            add_element(f, x, 2 * c->n + i, slot);
    }
    return x;
}

static bool is_exact(const finder *f, const hf_column *c,
                     const hf_condition *condition)
{
    const hf_bounds *b = hf_predicate_bounds(f->v, condition);

    return c->n_axes > 0 || (c->name.len > 0 && b->exact && b->n == 1);
}

/* One operation, in one of the two passes. */
static void ask_shared(finder *f, const hf_crossings *x, const hf_column *c,
                       hf_op_id op)
{
    const hf_condition *condition = hf_predicate_condition(f->v, op);
    uint32_t now = f->w->now[hf_op_txn(f->v->h, op)];
    uint32_t end = 2 * c->n + (uint32_t)f->always.n;
    const hf_search *found = &f->search;

    hf_column_search(f->v, c, condition, &f->search);
    for (size_t i = 0; i < found->list.n; i++)
        for (uint32_t from = 2 * found->list.at[i].from,
                      to = 2 * found->list.at[i].to,
                      e = hf_crossings_next(x, from, to, now);
             e != HF_NONE; e = hf_crossings_next(x, e + 1, to, now))
            if (i < found->n_exact ||
                hf_predicate_match(f->v, condition,
                                   hf_version_value(f->v, c->version[e / 2])) !=
                    HF_MATCH_NO)
                find(f, op, hf_version_key(f->v, c->version[e / 2]));
    for (uint32_t e = hf_crossings_next(x, 2 * c->n, end, now); e != HF_NONE;
         e = hf_crossings_next(x, e + 1, end, now))
        find(f, op, f->v->facts.write_key[f->always.at[e - 2 * c->n].value]);
}

/* Does a change count that a snapshot missed?  All that read-committed asks of
 * a commit order is that nobody reads from one who comes later. */
static bool missed_count(const hf_verifier *v)
{
    return v->w->kind != HF_WITNESS_COMMIT || v->info->shape != HF_SHAPE_W ||
           v->info->internal || v->w->mixed;
}

/* The operations that share the trees of one column, by the timeline. */
static bool ask_column(finder *f, const hf_column *c, const hf_sortable *ops,
                       size_t n)
{
    hf_crossings *x = cross(f, c);
    int last = missed_count(f->v) ? 0 : 1;
    bool fine = true;

    for (int late = 1; late >= last; late--) {
        hf_crossings_begin(x, late);
        for (size_t i = 0; i < n && fine; i++) {
            const hf_sortable *at = late ? &ops[i] : &ops[n - 1 - i];

            hf_crossings_move(x, (uint32_t)at->key);
            ask_shared(f, x, c, (hf_op_id)at->value);
            if (late)
                find_exceptions(f, (hf_op_id)at->value, c->table);
            fine = (i & 0xf) != 0 || !hf_out_of_budget(f->v);
        }
    }
    hf_crossings_free(x);
    return fine;
}

static bool ask_all_shared(finder *f)
{
    size_t end;
    bool fine = true;

    hf_sort(f->shared.at, f->shared.n);
    for (size_t i = 0; i < f->shared.n && fine; i = end) {
        uint64_t column = f->shared.at[i].key >> 32;

        for (end = i;
             end < f->shared.n && f->shared.at[end].key >> 32 == column;)
            end++;
        fine = ask_column(f, f->columns.at[column], &f->shared.at[i], end - i);
    }
    return fine;
}

/* Operations of one condition: true if they are to share trees with others. */
static bool share(finder *f, const hf_sortable *ops, uint32_t n)
{
    hf_op_id op = (hf_op_id)ops[0].value;
    const hf_condition *condition = hf_predicate_condition(f->v, op);
    const hf_column *c =
        hf_column_for(f->v, hf_op_predicate(f->v->h, op).table, condition);
    uint64_t column = 0;

    if ((n > FEW && !is_exact(f, c, condition)) ||
        c->n + f->always.n > MOST_SHARED)
        return false;
    while (column < f->columns.n && f->columns.at[column] != c)
        column++;
    if (column == f->columns.n)
        hf_vec_push(&f->columns, c);
    for (uint32_t i = 0; i < n; i++) {
        op = (hf_op_id)ops[i].value;
        hf_vec_push(
            &f->shared,
            ((hf_sortable){column << 32 | hf_timeline_place(f->line, f->v, op),
                           op}));
    }
    return true;
}

/* ---- irregular keys ------------------------------------------------------ */

/* Do the versions of the key stand in the order as the snapshots see them? */
static bool is_odd(const finder *f, hf_key_id key)
{
    const hf_history *h = f->v->h;
    const hf_world *w = f->w;
    const uint64_t *order = h->cert.order_first;
    uint64_t last = 0;

    if (f->kind == HF_SNAPSHOT_IDS && order && order[key] < order[key + 1])
        return false; /* the order keeps the certificate */
    for (uint32_t i = w->writer_first[key];
         h->cert.commit_ts && i < w->writer_first[key + 1]; i++) {
        uint64_t time = h->cert.commit_ts[w->writers[i]];

        if (time == HF_TIME_NONE)
            continue;
        if (time < last)
            return true;
        last = time;
    }
    return false;
}

static void find_odd_keys(finder *f)
{
    const hf_history *h = f->v->h;
    bool *odd = hf_zeros(f->v, h->n_keys, sizeof(*odd));
    uint32_t *next = hf_zeros(f->v, (size_t)h->n_strings + 1, sizeof(*next));
    uint32_t *first = hf_zeros(f->v, (size_t)h->n_strings + 2, sizeof(*first));

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        odd[k] = is_odd(f, k);
        first[hf_table_place(h, hf_table_of(h, k)) + 1] += odd[k];
    }
    for (uint32_t i = 0; i <= h->n_strings; i++) {
        next[i] = first[i];
        first[i + 1] += first[i];
    }
    f->odd.first = first;
    f->odd.at = hf_zeros(f->v, first[h->n_strings + 1], sizeof(uint32_t));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (odd[k])
            f->odd.at[next[hf_table_place(h, hf_table_of(h, k))]++] = k;
}

/* Versions of those that are not in the order, and those that come after one
 * that is later in the timeline. */
static void find_always(finder *f)
{
    const hf_facts *facts = &f->v->facts;
    uint32_t *greatest = hf_zeros(f->v, f->v->h->n_keys, sizeof(*greatest));

    for (uint32_t i = 0; i < f->line->n; i++) {
        hf_txn_id t = f->line->txn[i];

        for (uint32_t s = facts->write_first[t];
             f->w->place[t] == HF_NONE && s < facts->write_first[t + 1]; s++)
            hf_vec_push(&f->always, ((hf_sortable){i, s}));
    }
    for (uint32_t i = 0; i < f->w->n; i++) {
        hf_txn_id t = f->w->at[i];

        for (uint32_t s = facts->write_first[t]; s < facts->write_first[t + 1];
             s++) {
            uint32_t *most = &greatest[facts->write_key[s]];

            if (f->line->index[t] < *most)
                hf_vec_push(&f->always, ((hf_sortable){f->line->index[t], s}));
            else
                *most = f->line->index[t];
        }
    }
}

/* ---- all ----------------------------------------------------------------- */

/* The operations of one kind, those with equal conditions together: first by
 * condition, then by table, both stable. */
static uint32_t collect(finder *f, hf_sortable *ret)
{
    const hf_history *h = f->v->h;
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             f->w->place[t] != HF_NONE && op < h->op_first[t + 1]; op++) {
            hf_predicate p;

            if (!hf_op_has_predicate(hf_op_kind_of(h, op)) ||
                !hf_op_counts(h, op))
                continue;
            p = hf_op_predicate(h, op);
            if (p.snapshot == f->kind)
                ret[n++] =
                    (hf_sortable){(uint64_t)p.table << 32 | p.condition, op};
        }
    hf_sort(ret, n);
    return n;
}

/* The operations of one condition, with a tree of their own. */
static bool ask_alone(finder *f, const hf_sortable *ops, uint32_t n)
{
    hf_op_id first = (hf_op_id)ops[0].value;
    hf_string_id table = hf_op_predicate(f->v->h, first).table;

    collect_matter(f, table, hf_predicate_condition(f->v, first));
    plant(f);
    for (uint32_t i = 0; i < n; i++) {
        ask(f, (hf_op_id)ops[i].value, table);
        if ((i & 0xf) == 0 && hf_out_of_budget(f->v))
            return false;
    }
    return true;
}

static bool find_all(finder *f)
{
    hf_verifier *v = f->v;
    hf_sortable *ops = hf_zeros(v, v->h->n_ops, sizeof(*ops));
    uint32_t n;

    n = collect(f, ops);
    if (n == 0)
        return true;
    f->line = hf_timeline_of(v, f->kind);
    f->doubt = hf_doubt_of(v, f->kind);
    f->met = hf_nones(v, v->h->n_keys, sizeof(*f->met));
    follow_versions(f);
    find_odd_keys(f);
    find_always(f);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ops[end].key == ops[i].key;)
            end++;
        if (!share(f, &ops[i], end - i) && !ask_alone(f, &ops[i], end - i))
            return false;
    }
    return ask_all_shared(f);
}

/* Sorted by operation, each key once. */
static void keep_found(finder *f)
{
    hf_op_id *met = hf_nones(f->v, f->v->h->n_keys, sizeof(*met));
    hf_world *w = f->w;

    hf_sort(f->found.at, f->found.n);
    w->suspects = hf_zeros(f->v, f->found.n, sizeof(*w->suspects));
    w->n_suspects = 0;
    for (size_t i = 0; i < f->found.n; i++) {
        hf_sortable *at = &f->found.at[i];

        if (met[at->value] != at->key)
            w->suspects[w->n_suspects++] = *at;
        met[at->value] = (hf_op_id)at->key;
    }
}

bool hf_world_find_suspects(hf_verifier *v, hf_world *w)
{
    finder f = {.v = v, .w = w};
    bool fine = true;

    for (int by_ids = 0; by_ids < 2 && fine; by_ids++) {
        f.kind = by_ids ? HF_SNAPSHOT_IDS : HF_SNAPSHOT_TIME;
        f.always.n = f.shared.n = 0;
        fine = find_all(&f);
    }
    keep_found(&f);
    hf_vec_release(&f.always);
    hf_vec_release(&f.found);
    hf_vec_release(&f.matter);
    hf_vec_release(&f.elements);
    hf_vec_release(&f.least);
    hf_vec_release(&f.most);
    hf_vec_release(&f.columns);
    hf_vec_release(&f.shared);
    hf_search_release(&f.search);
    return fine;
}

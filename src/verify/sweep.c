/* sweep.c: the results of all snapshots, whatever the order; and of conditions
 * without version set, by the states of an order.
 *
 * The snapshots of one kind (by time, by ids) are places in a timeline
 * (entries.h).  They are visited in that order, while the versions come into
 * being: `now` holds the newest version of each key so far.  The entries that
 * satisfy a condition are found among the versions that are there now and lie
 * in the condition's bound, through a bit for each version in the order of the
 * column (columns.h).  What is now there is the entry of every key but a few:
 * the own writes of the transaction, the writes of ids that are listed as
 * active, and doubtful keys.  Those are asked for one by one.
 *
 * The states of an order are gone through in the same way: what is there now
 * is what the transactions up to a place have written.  Whether an operation
 * fits the state that it should see is all that is asked; if not, or it is not
 * known, expected_fits.c looks closely.
 *
 * Where the bounds are exact, or there is no condition, nobody inside is looked
 * at: their number, sum, least and greatest are known (totals.h).  Of rows
 * that were returned it is enough that each of them is there, inside, and that
 * there are no more.
 *
 * Cost: once in a session, the logarithm of the versions for each write and
 * column, and for each operation the same, the rows it lists, and those few
 * keys; in a space (columns.h) the logarithm times its intervals; if the bounds
 * are not exact also what is in the best of them.  A condition that bounds no
 * column looks at every key of its table.
 */
#include "base/sort.h"
#include "base/vec.h"
#include "verify/expected.h"
#include "verify/ranks.h"
#include "verify/totals.h"

/* ---- what is there now --------------------------------------------------- */

/* Of one column; more are not made. */
#define MOST_TOTALS 8
/* What is narrower is gone through. */
#define NARROW 4

typedef struct watched {
    const hf_column *column;
    hf_ranks there; /* ranks of the newest versions */
    hf_totals *totals[MOST_TOTALS];
    uint32_t n_totals;
} watched;

typedef struct sweep {
    hf_verifier *v;
    const hf_world *world; /* whose states are gone through, or NULL */
    hf_snapshot_kind kind;
    const hf_timeline *line; /* else this */
    const hf_doubt *doubt;
    uint32_t place;        /* of the timeline: those before it are there */
    uint32_t *now;         /* per key: its newest version */
    uint32_t *certificate; /* per slot: its place in the key's order */
    HF_VEC(watched) columns;
    hf_op_id *asked; /* per key: the operation that asked for it by name */
    hf_op_id *met;   /* per key: the operation that returned it */
    HF_VEC(hf_key_id) exceptions; /* asked for by the operation in hand */
    hf_string_id table;           /* of the operation in hand */
    uint8_t *fault;               /* per operation */
    hf_search search;             /* of the operation in hand */
} sweep;

static void show(watched *w, uint32_t rank, bool there)
{
    if (rank == HF_NONE)
        return;
    if (there)
        hf_ranks_put(&w->there, rank);
    else
        hf_ranks_take(&w->there, rank);
    for (uint32_t i = 0; i < w->n_totals; i++)
        hf_totals_update(w->totals[i], rank);
}

static void replace(sweep *s, hf_key_id key, uint32_t version)
{
    for (size_t i = 0; i < s->columns.n; i++) {
        watched *w = &s->columns.at[i];

        show(w, w->column->rank[s->now[key]], false);
        show(w, w->column->rank[version], true);
    }
    s->now[key] = version;
}

/* By ids the newest is the last in the order of the key's versions: by the
 * certificate, else by commit times. */
static bool is_newer(const sweep *s, hf_key_id key, uint32_t slot, hf_txn_id t)
{
    const hf_history *h = s->v->h;
    uint32_t old = s->now[key];

    if (s->world || s->kind == HF_SNAPSHOT_TIME ||
        hf_is_initial_version(s->v, old))
        return true;
    if (s->certificate && s->certificate[slot] != HF_NONE &&
        s->certificate[old] != HF_NONE)
        return s->certificate[slot] > s->certificate[old];
    return h->cert.commit_ts &&
           h->cert.commit_ts[t] > h->cert.commit_ts[s->v->facts.write_txn[old]];
}

static void move_to(sweep *s, uint32_t place)
{
    const hf_facts *f = &s->v->facts;

    for (; s->place < place; s->place++) {
        hf_txn_id t =
            s->world ? s->world->at[s->place] : s->line->txn[s->place];

        for (uint32_t w = f->write_first[t]; w < f->write_first[t + 1]; w++)
            if (is_newer(s, f->write_key[w], w, t))
                replace(s, f->write_key[w], w);
    }
}

static watched *watch(sweep *s, const hf_column *column)
{
    watched w = {.column = column};

    for (size_t i = 0; i < s->columns.n; i++)
        if (s->columns.at[i].column == column)
            return &s->columns.at[i];
    hf_ranks_open(s->v, &w.there, column->n);
    for (hf_key_id k = 0; k < s->v->h->n_keys; k++)
        if (column->rank[s->now[k]] != HF_NONE)
            hf_ranks_put(&w.there, column->rank[s->now[k]]);
    hf_vec_push(&s->columns, w);
    return &s->columns.at[s->columns.n - 1];
}

/* ---- one operation ------------------------------------------------------- */

static void ask(sweep *s, hf_txn_id t, hf_op_id op, hf_key_id key,
                hf_tally *tally)
{
    hf_item_read entry;

    if (s->asked[key] == op || hf_table_of(s->v->h, key) != s->table)
        return;
    s->asked[key] = op;
    hf_vec_push(&s->exceptions, key);
    if (hf_entry_of(s->v, t, op, key, &entry))
        hf_tally_add(s->v, &entry, tally);
}

static void ask_writes(sweep *s, hf_txn_id writer, hf_txn_id t, hf_op_id op,
                       hf_tally *tally)
{
    const hf_facts *f = &s->v->facts;

    for (uint32_t w = f->write_first[writer]; w < f->write_first[writer + 1];
         w++)
        ask(s, t, op, f->write_key[w], tally);
}

static void ask_exceptions(sweep *s, hf_txn_id t, hf_op_id op, hf_tally *tally)
{
    const hf_key_index *doubtful = &s->doubt->keys;
    uint32_t table = hf_table_place(s->v->h, s->table);
    size_t at = 0;
    hf_txn_id active;

    s->exceptions.n = 0;
    ask_writes(s, t, t, op, tally);
    while (hf_next_active(s->line, s->v, op, &at, &active))
        ask_writes(s, active, t, op, tally);
    for (uint32_t i = doubtful->first[table]; i < doubtful->first[table + 1];
         i++)
        ask(s, t, op, doubtful->at[i], tally);
}

/* In a state: the keys that t wrote itself, before. */
static void ask_own(sweep *s, hf_txn_id t, hf_op_id op, hf_tally *tally)
{
    const hf_history *h = s->v->h;
    const hf_facts *f = &s->v->facts;

    s->exceptions.n = 0;
    for (uint32_t w = f->write_first[t]; w < f->write_first[t + 1]; w++) {
        hf_item_read entry = {f->write_key[w], HF_NONE, t, op};
        hf_op_id own = hf_own_write_before(h, f, t, op, entry.key);

        if (own == HF_NONE || hf_table_of(h, entry.key) != s->table)
            continue;
        s->asked[entry.key] = op;
        hf_vec_push(&s->exceptions, entry.key);
        entry.value = hf_op_written(h, own);
        if (entry.value != HF_NONE && h->value_type[entry.value] != HF_NIL)
            hf_tally_add(s->v, &entry, tally);
    }
}

/* A version that is there now. */
static void add_version(sweep *s, hf_op_id op, uint32_t version,
                        hf_tally *tally)
{
    hf_item_read entry = {.key = hf_version_key(s->v, version),
                          .value = hf_version_value(s->v, version),
                          .writer = HF_WRITER_INITIAL,
                          .op = op};

    if (s->asked[entry.key] == op)
        return;
    if (!hf_is_initial_version(s->v, version))
        entry.writer = s->v->facts.write_txn[version];
    hf_tally_add(s->v, &entry, tally);
}

static void add_interval(sweep *s, const watched *w, hf_op_id op,
                         hf_interval part, hf_tally *tally)
{
    for (uint32_t x = hf_ranks_next(&w->there, part.from, part.to);
         x != HF_NONE; x = hf_ranks_next(&w->there, x + 1, part.to))
        add_version(s, op, w->column->version[x], tally);
}

/* ---- all of an interval at once ------------------------------------------ */

static hf_totals *totals_of(sweep *s, watched *w, hf_str adds)
{
    for (uint32_t i = 0; i < w->n_totals; i++)
        if (hf_str_eq(hf_totals_column(w->totals[i]), adds))
            return w->totals[i];
    if (w->n_totals == MOST_TOTALS)
        return NULL;
    w->totals[w->n_totals] =
        hf_totals_new(s->v, w->column, adds, w->there.level[0]);
    return w->totals[w->n_totals++];
}

/* Of all exact intervals, without those that were asked for by name. */
static hf_total total_of(sweep *s, watched *w, hf_totals *totals)
{
    hf_total total = {0};

    for (size_t i = 0; i < s->exceptions.n; i++)
        show(w, w->column->rank[s->now[s->exceptions.at[i]]], false);
    for (uint32_t i = 0; i < s->search.n_exact; i++) {
        hf_total part = hf_totals_between(totals, s->search.list.at[i].from,
                                          s->search.list.at[i].to);

        hf_total_add(&total, &part);
    }
    for (size_t i = 0; i < s->exceptions.n; i++)
        show(w, w->column->rank[s->now[s->exceptions.at[i]]], true);
    return total;
}

/* Can the sum not leave the range of integers, in whatever order? */
static bool is_small(const hf_total *total, const hf_tally *t)
{
    hf_wide least = total->least, most = total->most, sum = t->sum;
    hf_wide size = -least > most ? -least : most;

    if (total->n == 0)
        return true;
    size = ((size < 0 ? -size : size) + HF_DECIMAL_ONE - 1) / HF_DECIMAL_ONE *
           total->n;
    return size <= INT64_MAX && !t->overflow &&
           (sum < 0 ? -sum : sum) <= (INT64_MAX - size) * HF_DECIMAL_ONE;
}

/* False: they must be looked at one by one. */
static bool add_total(hf_op_kind kind, const hf_total *total, hf_tally *t)
{
    hf_wide least = total->least, most = total->most;

    if (kind != HF_OP_COUNT_ROWS && (total->others > 0 || !is_small(total, t)))
        return false;
    t->all += total->rows;
    t->incomplete |= total->missing > 0;
    if (total->n > total->others) {
        t->least = t->n == 0 || least < t->least ? least : t->least;
        t->most = t->n == 0 || most > t->most ? most : t->most;
    }
    t->n += total->n;
    t->decimal |= total->decimals > 0;
    if (kind != HF_OP_COUNT_ROWS)
        t->sum += total->sum * HF_DECIMAL_ONE + total->parts;
    return true;
}

/* The rows that op returned, as far as they are there and inside. */
static uint32_t add_rows(sweep *s, const watched *w, hf_op_id op,
                         hf_tally *tally)
{
    hf_predicate p = hf_op_predicate(s->v->h, op);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p.n_results; i++) {
        hf_key_id key = s->v->h->value_key[p.results[i].value];
        uint32_t rank = w->column->rank[s->now[key]];

        if (s->met[key] == op || s->asked[key] == op ||
            !hf_search_has(&s->search, rank))
            continue;
        s->met[key] = op;
        add_version(s, op, s->now[key], tally);
        n++;
    }
    return n;
}

/* All that are there in the exact intervals satisfy the condition: adds them.
 * False: they must be looked at one by one. */
static bool add_exact(sweep *s, watched *w, hf_op_id op, hf_tally *tally)
{
    hf_predicate p = hf_op_predicate(s->v->h, op);
    hf_op_kind kind = hf_op_kind_of(s->v->h, op);
    bool adds = hf_op_is_aggregate(kind) && p.has_result_set;
    hf_str name = {"", 0};
    hf_totals *totals;
    hf_total total;

    if (s->search.n_exact == 0 || hf_search_size(&s->search) <= NARROW)
        return false;
    if (adds)
        name = p.n_columns > 0 ? hf_string(s->v->h, p.columns[0])
                               : HF_STR("value");
    if (adds && kind == HF_OP_COUNT_ROWS && p.n_columns == 0)
        name.len = 0;
    totals = totals_of(s, w, name);
    if (!totals)
        return false;
    total = total_of(s, w, totals);
    if (total.unknown > 0)
        return false;
    if (adds)
        return add_total(kind, &total, tally);
    if (p.has_result_set && !hf_op_is_aggregate(kind))
        tally->mismatch |= add_rows(s, w, op, tally) < total.rows;
    return true;
}

/* ---- the rest ------------------------------------------------------------ */

/* The least or the greatest of the numbers that satisfy the condition is
 * enough: goes through them in that order.  Whether those beyond it satisfy
 * the condition need not be known.  Returns where the rest begins. */
static uint32_t add_extreme(sweep *s, const watched *w, hf_op_id op,
                            hf_interval part, hf_tally *tally)
{
    bool least = hf_op_kind_of(s->v->h, op) == HF_OP_MIN;
    uint32_t end =
        part.to < w->column->n_numbers ? part.to : w->column->n_numbers;
    uint32_t from = part.from;
    int64_t n = tally->n;

    while (tally->n == n) {
        uint32_t x = least ? hf_ranks_next(&w->there, from, end)
                           : hf_ranks_last(&w->there, from, end);

        if (x == HF_NONE)
            break;
        add_version(s, op, w->column->version[x], tally);
        if (least)
            from = x + 1;
        else
            end = x;
    }
    end = part.to < w->column->n_numbers ? part.to : w->column->n_numbers;
    return part.from > end ? part.from : end;
}

/* More than are gone through without a thought. */
#define MANY 64

/* Does the column leave so many, that must be looked at one by one? */
static bool leaves_many(sweep *s, const hf_column *c,
                        const hf_condition *condition)
{
    if (c->name.len == 0 && c->n_axes == 0)
        return true;
    hf_column_search(s->v, c, condition, &s->search);
    return s->search.n_exact == 0 && hf_search_size(&s->search) > MANY;
}

/* The column to search.  For the least or greatest of a column the rows are
 * taken in the order of that column, unless another leaves few, or is exact:
 * that one's totals know them. */
static const hf_column *column_of(sweep *s, hf_op_id op,
                                  const hf_condition *condition,
                                  bool *ret_extreme)
{
    hf_predicate p = hf_op_predicate(s->v->h, op);
    hf_op_kind kind = hf_op_kind_of(s->v->h, op);
    const hf_column *c = hf_column_for(s->v, p.table, condition);
    hf_str name =
        p.n_columns > 0 ? hf_string(s->v->h, p.columns[0]) : HF_STR("value");

    s->table = p.table;
    *ret_extreme = kind == HF_OP_MIN || kind == HF_OP_MAX;
    if (*ret_extreme && leaves_many(s, c, condition))
        c = hf_column_named(s->v, p.table, name);
    *ret_extreme &= hf_str_eq(c->name, name);
    return c;
}

static void judge(sweep *s, hf_op_id op)
{
    hf_txn_id t = hf_op_txn(s->v->h, op);
    const hf_condition *condition = hf_predicate_condition(s->v, op);
    hf_tally tally;
    bool extreme;
    watched *w = watch(s, column_of(s, op, condition, &extreme));
    size_t i = 0;

    hf_column_search(s->v, w->column, condition, &s->search);
    hf_tally_begin(s->v, op, &tally);
    tally.gap = !s->world && !hf_is_whole(s->v, t, op);
    if (s->world)
        ask_own(s, t, op, &tally);
    else if (!tally.gap)
        ask_exceptions(s, t, op, &tally);
    if (!extreme && !tally.gap && add_exact(s, w, op, &tally))
        i = s->search.n_exact;
    for (; i < s->search.list.n && !tally.gap; i++) {
        hf_interval part = s->search.list.at[i];

        if (extreme)
            part.from = add_extreme(s, w, op, part, &tally);
        add_interval(s, w, op, part, &tally);
    }
    s->fault[op] = (uint8_t)hf_tally_end(s->v, &tally);
}

/* ---- all ----------------------------------------------------------------- */

static void place_certificate(sweep *s)
{
    const hf_certificate *c = &s->v->h->cert;

    if (s->kind != HF_SNAPSHOT_IDS || !c->order_first)
        return;
    s->certificate = hf_nones(s->v, hf_n_slots(s->v), sizeof(uint32_t));
    for (hf_key_id k = 0; k < s->v->h->n_keys; k++)
        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            uint32_t slot = hf_facts_slot(&s->v->facts, c->order_txn[i], k);

            if (slot != HF_NONE)
                s->certificate[slot] = (uint32_t)(i - c->order_first[k]);
        }
}

/* The snapshots of one kind, by their place; aborted ones are not judged. */
static uint32_t collect(sweep *s, hf_sortable *ret)
{
    const hf_history *h = s->v->h;
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             h->txn_outcome[t] != HF_ABORTED && op < h->op_first[t + 1]; op++)
            if (hf_op_has_predicate(hf_op_kind_of(h, op)) &&
                hf_op_counts(h, op) &&
                hf_op_predicate(h, op).snapshot == s->kind)
                ret[n++] =
                    (hf_sortable){hf_timeline_place(s->line, s->v, op), op};
    hf_sort(ret, n);
    return n;
}

/* The operations are sorted by their place. */
static bool judge_all(sweep *s, const hf_sortable *ops, uint32_t n)
{
    hf_verifier *v = s->v;

    if (n == 0)
        return true;
    s->now = hf_zeros(v, v->h->n_keys, sizeof(*s->now));
    s->asked = hf_nones(v, v->h->n_keys, sizeof(*s->asked));
    s->met = hf_nones(v, v->h->n_keys, sizeof(*s->met));
    for (hf_key_id k = 0; k < v->h->n_keys; k++)
        s->now[k] = hf_n_slots(v) + k;
    for (uint32_t i = 0; i < n; i++) {
        move_to(s, (uint32_t)ops[i].key);
        judge(s, (hf_op_id)ops[i].value);
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

static bool judge_kind(hf_verifier *v, hf_snapshot_kind kind, uint8_t *fault)
{
    sweep s = {.v = v, .kind = kind, .fault = fault};
    hf_sortable *ops = hf_zeros(v, v->h->n_ops, sizeof(*ops));
    uint32_t n;
    bool done;

    s.line = hf_timeline_of(v, kind);
    s.doubt = hf_doubt_of(v, kind);
    n = collect(&s, ops);
    if (n > 0)
        place_certificate(&s);
    done = judge_all(&s, ops, n);
    hf_vec_release(&s.columns);
    hf_vec_release(&s.exceptions);
    hf_search_release(&s.search);
    return done;
}

const uint8_t *hf_judge_snapshots(hf_verifier *v)
{
    uint8_t *fault = v->tables.judged;

    if (fault)
        return fault;
    fault = hf_kept_zeros(v, v->h->n_ops, sizeof(*fault));
    if (!judge_kind(v, HF_SNAPSHOT_TIME, fault) ||
        !judge_kind(v, HF_SNAPSHOT_IDS, fault))
        return NULL;
    v->tables.judged = fault;
    return fault;
}

/* ---- states -------------------------------------------------------------- */

/* Per table: has it keys whose values are not all known? */
static bool *find_strange(hf_verifier *v)
{
    const hf_history *h = v->h;
    bool *strange = hf_zeros(v, (size_t)h->n_strings + 1, sizeof(*strange));

    for (hf_key_id k = 0; k < h->n_keys; k++)
        if (v->facts.key_use[k] & (HF_KEY_BLIND | HF_KEY_LIST))
            strange[hf_table_place(h, hf_table_of(h, k))] = true;
    return strange;
}

/* The operations whose results the states must say. */
static uint32_t collect_open(hf_verifier *v, const hf_world *w,
                             hf_sortable *ret)
{
    const hf_history *h = v->h;
    bool *strange = find_strange(v);
    uint32_t n = 0;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t];
             w->place[t] != HF_NONE && op < h->op_first[t + 1]; op++) {
            hf_predicate p;

            if (!hf_op_has_predicate(hf_op_kind_of(h, op)) ||
                !hf_op_counts(h, op))
                continue;
            p = hf_op_predicate(h, op);
            if (!p.has_version_set && p.has_result_set &&
                p.snapshot == HF_SNAPSHOT_NONE &&
                !strange[hf_table_place(h, p.table)])
                ret[n++] = (hf_sortable){w->now[t], op};
        }
    hf_sort(ret, n);
    return n;
}

bool hf_judge_states(hf_verifier *v, const hf_world *w, uint8_t *fault)
{
    sweep s = {.v = v, .world = w, .fault = fault};
    hf_sortable *ops = hf_zeros(v, v->h->n_ops, sizeof(*ops));
    bool done;

    memset(fault, HF_SET_OPEN, v->h->n_ops);
    done = judge_all(&s, ops, collect_open(v, w, ops));
    hf_vec_release(&s.columns);
    hf_vec_release(&s.exceptions);
    hf_search_release(&s.search);
    return done;
}

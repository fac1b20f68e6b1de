/* pred_looks.c: predicate operations whose version set is listed.
 *
 * Or can be: a snapshot is listed here for one operation at a time, never for
 * all.  Each entry is turned into a version; then the result is compared with
 * what the condition gives, rows become reads of items, and the rest edges
 * to the nearest versions that change the matches.
 *
 * O(entries * log of the versions that satisfy the condition).
 */
#include "check/pred.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/promises.h"

/* ---- what is wrong, what is not known ------------------------------------ */

void hf_pred_mismatch(hf_pred *p, const hf_pred_op *o)
{
    hf_graph_note(p->g, HF_RESULT_SET_MISMATCH, o->op, HF_NONE, HF_NONE,
                  HF_NONE);
}

void hf_pred_unclear(hf_pred *p, const hf_pred_op *o, bool everywhere,
                     const char *why)
{
    char text[48];
    hf_str c = hf_string(p->g->h, p->conditions.at[o->condition].text);

    if (!everywhere && p->g->own && !hf_graph_reads_matter(p->g, o->txn))
        return;
    hf_graph_undecided(p->g, everywhere, "\"%s\" in T%lld: %s",
                       hf_quote(text, sizeof(text), c.ptr, c.len),
                       (long long)hf_txn_label(p->g->h, o->txn),
                       why ? why : "the condition cannot be evaluated");
}

/* ---- own writes ---------------------------------------------------------- */

bool hf_pred_own_write(const hf_history *h, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_op_id *ret_write)
{
    for (hf_op_id o = op; o-- > h->op_first[t];)
        if (h->op_key[o] == key && hf_graph_writes(h, o)) {
            *ret_write = o;
            return true;
        }
    return false;
}

/* The entry must be the own last write. */
static void check_own(hf_pred *p, const hf_pred_op *o, hf_op_id own,
                      hf_version_ref ref)
{
    hf_graph *g = p->g;

    if (hf_graph_written(g->h, own) == ref.value &&
        (ref.writer == HF_NONE || ref.writer == o->txn))
        return;
    hf_graph_note(g, HF_INTERNAL, own, o->op, HF_NONE, HF_NONE);
    if (ref.writer == HF_NONE && g->value[ref.value].ver == HF_VER_NOBODY &&
        !hf_value_is_initial(g->h, g->h->value_key[ref.value], ref.value))
        hf_graph_note(g, HF_GARBAGE_READ, o->op, HF_NONE, HF_NONE, HF_NONE);
}

/* ---- versions ------------------------------------------------------------ */

/* The last write of value v of key in transaction w; HF_NONE: none. */
static hf_op_id write_of(const hf_history *h, hf_txn_id w, hf_key_id key,
                         hf_value_id v)
{
    for (hf_op_id o = h->op_first[w + 1]; o-- > h->op_first[w];)
        if (h->op_key[o] == key && hf_graph_writes(h, o) &&
            hf_graph_written(h, o) == v)
            return o;
    return HF_NONE;
}

static hf_op_id last_write(const hf_history *h, hf_txn_id w, hf_key_id key)
{
    hf_op_id o = HF_NONE;

    (void)hf_pred_own_write(h, w, h->op_first[w + 1], key, &o);
    return o;
}

/* A version whose writer is named. */
static uint32_t version_by(hf_pred *p, const hf_pred_op *o, hf_version_ref ref,
                           bool quiet)
{
    hf_graph *g = p->g;
    const hf_history *h = g->h;
    hf_key_id key = h->value_key[ref.value];
    hf_op_id w = write_of(h, ref.writer, key, ref.value), last;

    if (w == HF_NONE) {
        if (!quiet)
            hf_graph_note(g, HF_GARBAGE_READ, o->op, HF_NONE, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    last = last_write(h, ref.writer, key);
    if (h->txn_outcome[ref.writer] == HF_ABORTED) {
        if (!quiet)
            hf_graph_note(g, HF_G1A, w, o->op, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    if (ref.writer == o->txn) {
        if (!quiet)
            hf_graph_note(g, HF_FUTURE_READ, o->op, w, HF_NONE, HF_NONE);
        return HF_NONE;
    }
    if (hf_graph_written(h, last) != ref.value) {
        if (!quiet)
            hf_graph_note(g, HF_G1B, w, last, o->op, HF_NONE);
        return HF_NONE;
    }
    if (!g->happened[ref.writer]) {
        if (!quiet && g->reads_matter)
            hf_pred_unclear(p, o, false,
                            "it looked at a version of a transaction of "
                            "unknown outcome");
        return HF_NONE;
    }
    return hf_graph_version_of(g, ref.writer, key);
}

uint32_t hf_pred_told(const hf_graph *g, hf_op_id op, hf_key_id key)
{
    uint32_t told = g->world.entries
                        ? hf_map_get(g->world.entries, (uint64_t)op << 32 | key)
                        : UINT32_MAX;

    if (told == UINT32_MAX)
        return HF_NONE;
    return told == 0 ? g->ver_first[key]
                     : hf_graph_version_of(g, told - 1, key);
}

uint32_t hf_pred_version(hf_pred *p, const hf_pred_op *o, hf_version_ref ref,
                         bool quiet)
{
    hf_graph *g = p->g;
    hf_key_id key = g->h->value_key[ref.value];
    uint32_t ver = g->value[ref.value].ver, told;

    if (ref.writer == HF_WRITER_INITIAL)
        return g->ver_first[key];
    if (ref.writer != HF_NONE)
        return version_by(p, o, ref, quiet);
    if (g->key_use[key] & HF_USE_LIST) {
        if (!quiet)
            hf_pred_unclear(p, o, true, "it looked at a list");
        return HF_NONE;
    }
    if (g->key_use[key] & HF_USE_BLIND) {
        if (!quiet)
            hf_pred_unclear(p, o, true,
                            "it looked at a key that has increments without "
                            "results");
        return HF_NONE;
    }
    told = hf_pred_told(g, o->op, key);
    if (told != HF_NONE && (o->q.snapshot == HF_SNAPSHOT_NONE || o->unlisted))
        return told;
    if (!quiet)
        return hf_graph_take_value(g, o->txn, o->op, key, ref.value);
    if (ver < HF_VER_MOST)
        return g->ver_txn[ver] == o->txn ? HF_NONE : ver;
    return ver == HF_VER_NOBODY && hf_value_is_initial(g->h, key, ref.value)
               ? g->ver_first[key]
               : HF_NONE;
}

/* ---- rows ---------------------------------------------------------------- */

static int by_key(const void *a, const void *b, void *keys)
{
    const hf_key_id *key = keys;
    hf_key_id x = key[((const hf_version_ref *)a)->value];
    hf_key_id y = key[((const hf_version_ref *)b)->value];

    return (x > y) - (x < y);
}

static bool same_version(const hf_version_ref *a, const hf_version_ref *b)
{
    return a->value == b->value &&
           (a->writer == b->writer || a->writer == HF_NONE ||
            b->writer == HF_NONE);
}

bool hf_pred_sort_rows(hf_pred *p, const hf_predicate *q)
{
    const hf_history *h = p->g->h;
    size_t n = 0;

    p->rows.n = 0;
    for (uint32_t i = 0; i < q->n_results; i++)
        hf_vec_push(&p->rows, q->results[i]);
    if (p->rows.n > 1)
        qsort_r(p->rows.at, p->rows.n, sizeof(hf_version_ref), by_key,
                h->value_key);
    for (size_t i = 0; i < p->rows.n; i++) {
        const hf_version_ref *row = &p->rows.at[i];

        if (n > 0 &&
            h->value_key[p->rows.at[n - 1].value] == h->value_key[row->value]) {
            if (!same_version(&p->rows.at[n - 1], row))
                return false;
            continue;
        }
        p->rows.at[n++] = *row;
    }
    p->rows.n = n;
    return true;
}

const hf_version_ref *hf_pred_row_of(const hf_pred *p, hf_key_id key)
{
    size_t low = 0, high = p->rows.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        hf_key_id at = p->g->h->value_key[p->rows.at[middle].value];

        if (at == key)
            return &p->rows.at[middle];
        if (at < key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- entries ------------------------------------------------------------- */

hf_sql_truth hf_pred_matches(hf_pred *p, const hf_pred_op *o,
                             const hf_pred_entry *e)
{
    const hf_pred_condition *c = &p->conditions.at[o->condition];

    if (e->value == HF_NONE)
        return e->own ? HF_SQL_ERROR : HF_SQL_FALSE;
    if (e->ver == HF_NONE || !c->judged || p->table_of_key[e->key] != c->table)
        return hf_pred_test_value(p, o->condition, e->value);
    if (hf_pred_holds(p, c, e->ver))
        return HF_SQL_TRUE;
    return hf_pred_has(&c->odd, e->ver) ? HF_SQL_ERROR : HF_SQL_FALSE;
}

static int entries_by_key(const void *a, const void *b)
{
    const hf_pred_entry *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static void list_explicit(hf_pred *p, const hf_pred_op *o,
                          const hf_predicate *q, bool quiet,
                          hf_pred_entries *ret)
{
    const hf_history *h = p->g->h;
    size_t n = 0;

    for (uint32_t i = 0; i < q->n_versions; i++)
        hf_vec_push(ret,
                    (hf_pred_entry){.key = h->value_key[q->versions[i].value],
                                    .value = q->versions[i].value,
                                    .writer = q->versions[i].writer,
                                    .ver = HF_NONE});
    if (ret->n > 1)
        qsort(ret->at, ret->n, sizeof(hf_pred_entry), entries_by_key);
    for (size_t i = 0; i < ret->n; i++)
        if (n == 0 || ret->at[n - 1].key != ret->at[i].key)
            ret->at[n++] = ret->at[i];
    ret->n = n;
    for (size_t i = 0; i < n; i++) {
        hf_pred_entry *e = &ret->at[i];
        hf_version_ref ref = {e->value, e->writer};
        hf_op_id own;

        e->own = hf_pred_own_write(h, o->txn, o->op, e->key, &own);
        if (!e->own)
            e->ver = hf_pred_version(p, o, ref, quiet);
        else if (!quiet)
            check_own(p, o, own, ref);
    }
}

/* Without a version set rows are a choice of versions, a result is not. */
#define AGGREGATE_NEEDS ", which an aggregate needs"

/* Says what the certificate lacks for a snapshot, if one was recorded: the
 * first key of which it does not know the version. */
static void unclear_snapshot(hf_pred *p, const hf_pred_op *o)
{
    const hf_history *h = p->g->h;
    const hf_snapshots *snapshots = hf_pred_snapshots(p);
    const hf_key_id *keys = NULL;
    uint32_t n = hf_snapshot_keys(snapshots, o->q.table, &keys), i = 0;
    hf_snapshot_lack lack;
    char name[HF_KEY_WORDS], why[HF_KEY_WORDS + 240];
    size_t used;
    long long first, second;

    if (p->g->undecided[0])
        return; /* the first reason stays */
    while (i < n &&
           !hf_snapshot_lacks(snapshots, o->txn, o->op, keys[i], &lack))
        i++;
    if (i == n) { /* lists, increments without results */
        hf_pred_unclear(
            p, o, false,
            "its snapshot has a list, or a value that was not recorded");
        return;
    }
    (void)hf_key_words(h, keys[i], name);
    first = (long long)hf_txn_label(h, lack.first);
    second =
        lack.second == HF_NONE ? 0 : (long long)hf_txn_label(h, lack.second);
    if (lack.second == HF_NONE)
        (void)snprintf(why, sizeof(why),
                       "its snapshot does not say which version of key %s it "
                       "looked at: T%lld wrote it and has no commit_ts",
                       name, first);
    else if (lack.time != HF_TIME_NONE)
        (void)snprintf(why, sizeof(why),
                       "its snapshot does not say which version of key %s it "
                       "looked at: T%lld and T%lld both have commit_ts %llu",
                       name, first, second, (unsigned long long)lack.time);
    else
        (void)snprintf(why, sizeof(why),
                       "its snapshot does not say which version of key %s it "
                       "looked at: neither its order nor commit_ts say which "
                       "of T%lld and T%lld is newer",
                       name, first, second);
    used = strlen(why);
    if (o->aggregate)
        (void)snprintf(why + used, sizeof(why) - used, "%s", AGGREGATE_NEEDS);
    hf_pred_unclear(p, o, false, why);
}

/* Writes the snapshot out; false if the certificate does not say enough. */
static bool list_snapshot(hf_pred *p, const hf_pred_op *o,
                          const hf_predicate *q, bool quiet,
                          hf_pred_entries *ret)
{
    hf_graph *g = p->g;
    const hf_history *h = g->h;
    const hf_key_id *keys = NULL;
    const hf_snapshots *snapshots = hf_pred_snapshots(p);
    uint32_t n = hf_snapshot_keys(snapshots, q->table, &keys);

    for (uint32_t i = 0; i < n; i++) {
        hf_op_id w = hf_snapshot_version(snapshots, o->txn, o->op, keys[i]);
        hf_pred_entry e = {.key = keys[i], .ver = HF_NONE};

        if (w == HF_NONE || (g->key_use[keys[i]] & HF_USE_LIST))
            return false;
        if (w == HF_WRITER_INITIAL) {
            e.writer = HF_WRITER_INITIAL;
            e.value = h->key_initial ? h->key_initial[e.key] : HF_NONE;
            e.ver = g->ver_first[e.key];
        } else {
            e.own = w >= h->op_first[o->txn] && w < o->op;
            e.value = hf_graph_written(h, w);
            e.writer = e.own ? o->txn : hf_op_txn(h, w);
            if (!e.own && e.value == HF_NONE)
                return false;
            if (!e.own)
                e.ver = hf_pred_version(
                    p, o, (hf_version_ref){e.value, e.writer}, quiet);
        }
        hf_vec_push(ret, e);
    }
    return true;
}

/* Without a version set rows speak of every other key of the table: some
 * version was looked at that does not satisfy the condition.  Aggregates might
 * have looked at anything, and without rows nothing is said. */
static bool speaks_of_table(const hf_pred_op *o)
{
    return !o->aggregate && o->q.has_result_set;
}

/* Does a version of the key satisfy the condition, or may it? */
static bool is_asked(hf_pred *p, const hf_pred_condition *c, hf_key_id key)
{
    const hf_graph *g = p->g;
    uint32_t first = g->ver_first[key], end = g->ver_end[key];

    return (g->key_use[key] & (HF_USE_LIST | HF_USE_BLIND)) ||
           hf_pred_is_odd(p, c, key) ||
           hf_pred_below(&c->match, end) > hf_pred_below(&c->match, first);
}

/* Keys of which no version satisfies the condition say nothing: whichever it
 * was.  O(keys). */
static void list_unlisted(hf_pred *p, const hf_pred_op *o, hf_pred_entries *ret)
{
    const hf_graph *g = p->g;
    const hf_pred_condition *c = hf_pred_sets(p, o->condition);

    for (hf_key_id key = 0; key < g->h->n_keys; key++) {
        hf_pred_entry e = {.key = key,
                           .value = HF_NONE,
                           .writer = HF_NONE,
                           .ver = HF_NONE,
                           .unlisted = true};
        hf_op_id own;

        if (p->table_of_key[key] != c->table || hf_pred_row_of(p, key))
            continue;
        e.own = hf_pred_own_write(g->h, o->txn, o->op, key, &own);
        if (e.own)
            e.value = hf_graph_written(g->h, own);
        else if (c->judged && !is_asked(p, c, key))
            continue;
        else
            e.ver = hf_pred_told(g, o->op, key);
        if (e.ver != HF_NONE)
            e.value = hf_pred_value_of(g, e.ver);
        hf_vec_push(ret, e);
    }
}

/* Of the version set, or the snapshot. */
static bool list_recorded(hf_pred *p, const hf_pred_op *o, bool quiet,
                          hf_pred_entries *ret)
{
    ret->n = 0;
    if (o->q.has_version_set)
        list_explicit(p, o, &o->q, quiet, ret);
    else if (o->q.snapshot == HF_SNAPSHOT_NONE ||
             !list_snapshot(p, o, &o->q, quiet, ret))
        return false;
    return true;
}

/* *ret_recorded: they are those of the version set, or the snapshot. */
static bool list_entries(hf_pred *p, const hf_pred_op *o, bool quiet,
                         hf_pred_entries *ret, bool *ret_recorded)
{
    hf_predicate q = o->q;
    bool recorded = list_recorded(p, o, quiet, ret);

    *ret_recorded = recorded;
    (void)hf_pred_sort_rows(p, &q);
    if (!recorded) {
        ret->n = 0;
        if (!p->g->world.entries || !speaks_of_table(o))
            return false;
        list_unlisted(p, o, ret);
    }
    for (size_t i = 0; recorded && i < ret->n; i++) {
        hf_pred_entry *e = &ret->at[i];

        if (!o->aggregate && q.has_result_set)
            e->returned = hf_pred_row_of(p, e->key) != NULL;
        else
            e->returned = hf_pred_matches(p, o, e) == HF_SQL_TRUE;
    }
    return true;
}

bool hf_pred_entries_of(hf_pred *p, const hf_pred_op *o, bool quiet,
                        hf_pred_entries *ret)
{
    bool recorded;

    return list_entries(p, o, quiet, ret, &recorded);
}

/* ---- results ------------------------------------------------------------- */

const hf_pred_entry *hf_pred_entry_of(const hf_pred_entries *all, hf_key_id key)
{
    hf_pred_entry wanted = {.key = key};

    if (all->n == 0)
        return NULL;
    return bsearch(&wanted, all->at, all->n, sizeof(wanted), entries_by_key);
}

/* The rows against the entries: wrong, unclear, or neither. */
static void judge_rows(hf_pred *p, const hf_pred_op *o,
                       const hf_pred_entries *all)
{
    bool unclear = false;

    for (size_t i = 0; i < p->rows.n; i++) {
        const hf_version_ref *row = &p->rows.at[i];
        hf_sql_truth m = hf_pred_test_value(p, o->condition, row->value);
        const hf_pred_entry *e =
            hf_pred_entry_of(all, p->g->h->value_key[row->value]);
        hf_version_ref seen = {HF_NONE, HF_NONE};

        if (e)
            seen = (hf_version_ref){e->value, e->writer};
        unclear |= m == HF_SQL_ERROR;
        if (m == HF_SQL_FALSE || m == HF_SQL_UNKNOWN ||
            (e && !same_version(&seen, row))) {
            hf_pred_mismatch(p, o);
            return;
        }
    }
    for (size_t i = 0; i < all->n; i++) {
        hf_sql_truth m = hf_pred_matches(p, o, &all->at[i]);

        if (all->at[i].unlisted)
            continue; /* its own write: a matter of choices */
        unclear |= m == HF_SQL_ERROR;
        if (m == HF_SQL_TRUE && !hf_pred_row_of(p, all->at[i].key)) {
            hf_pred_mismatch(p, o);
            return;
        }
    }
    if (unclear)
        hf_pred_unclear(p, o, true, p->conditions.at[o->condition].why);
}

static void judge_aggregate(hf_pred *p, const hf_pred_op *o,
                            const hf_predicate *q, const hf_pred_entries *all)
{
    const hf_history *h = p->g->h;
    hf_str name =
        q->n_columns > 0 ? hf_string(h, q->columns[0]) : HF_STR("value");
    hf_pred_total t = {0};

    for (size_t i = 0; i < all->n; i++) {
        hf_sql_truth m = hf_pred_matches(p, o, &all->at[i]);
        hf_sql_value v = {0};
        bool missing;

        if (m == HF_SQL_ERROR) {
            hf_pred_unclear(p, o, true, p->conditions.at[o->condition].why);
            return;
        }
        if (m != HF_SQL_TRUE)
            continue;
        missing = !hf_sql_row_column(hf_value_scalar(h, all->at[i].value), name,
                                     &p->arena, &v);
        hf_pred_add(&t, &v, missing);
    }
    hf_pred_judge_total(p, o, q, &t);
}

/* ---- all ----------------------------------------------------------------- */

/* Can every version of the keys looked at be judged, in a known order? */
static bool is_decidable(hf_pred *p, const hf_pred_op *o,
                         const hf_pred_entries *all,
                         char text[HF_KEY_WORDS + 64], const char **ret_why)
{
    char name[HF_KEY_WORDS];
    const hf_graph *g = p->g;
    const hf_pred_condition *c = hf_pred_sets(p, o->condition);

    *ret_why = c->why;
    if (!c->judged)
        return false;
    for (size_t i = 0; i < all->n; i++) {
        hf_key_id key = all->at[i].key;
        uint32_t first = g->ver_first[key], end = g->ver_end[key];

        if (all->at[i].unlisted &&
            (g->key_use[key] & (HF_USE_LIST | HF_USE_BLIND))) {
            *ret_why = g->key_use[key] & HF_USE_LIST
                           ? "there is a list in its table"
                           : "there is a key in its table that has increments "
                             "without results";
            return false;
        }
        if (p->table_of_key[key] != c->table) {
            *ret_why = "a key of another table is in its version set";
            return false;
        }
        if (hf_pred_is_odd(p, c, key) ||
            hf_pred_matches(p, o, &all->at[i]) == HF_SQL_ERROR)
            return false;
        if (g->open_key[key] && !all->at[i].own &&
            hf_pred_below(&c->match, end) > hf_pred_below(&c->match, first)) {
            (void)snprintf(text, HF_KEY_WORDS + 64,
                           "the order of versions of key %s is not known",
                           hf_key_words(g->h, key, name));
            *ret_why = text;
            return false;
        }
    }
    return true;
}

/* Rows of keys that the version set does not list. */
static void take_other_rows(hf_pred *p, const hf_pred_op *o,
                            const hf_pred_entries *all)
{
    const hf_history *h = p->g->h;

    for (size_t i = 0; i < p->rows.n; i++) {
        hf_key_id key = h->value_key[p->rows.at[i].value];
        hf_op_id own;

        if (hf_pred_entry_of(all, key))
            continue;
        if (hf_pred_own_write(h, o->txn, o->op, key, &own))
            check_own(p, o, own, p->rows.at[i]);
        else
            hf_pred_item(p, o, key,
                         hf_pred_version(p, o, p->rows.at[i], false));
    }
}

void hf_pred_look(hf_pred *p, hf_pred_op *o)
{
    hf_predicate q = o->q;
    hf_pred_entries *all = &p->entries;
    const char *why = NULL;
    char text[HF_KEY_WORDS + 64];
    bool has_set;

    if (!hf_pred_sort_rows(p, &q)) {
        hf_graph_note(p->g, HF_TWO_VERSIONS, o->op, HF_NONE, HF_NONE, HF_NONE);
        return;
    }
    has_set = list_entries(p, o, false, all, &o->known);
    o->unlisted = !o->known;
    p->has_unlisted |= o->unlisted && speaks_of_table(o);
    if (q.has_result_set && !o->aggregate)
        judge_rows(p, o, all);
    else if (q.has_result_set && has_set)
        judge_aggregate(p, o, &q, all);
    if (!has_set && !q.has_result_set)
        ; /* it says nothing */
    else if (!has_set && q.snapshot != HF_SNAPSHOT_NONE)
        unclear_snapshot(p, o);
    else if (!has_set)
        hf_pred_unclear(p, o, false,
                        o->aggregate
                            ? "no version set was recorded" AGGREGATE_NEEDS
                            : "no version set was recorded");
    else if (!is_decidable(p, o, all, text, &why))
        hf_pred_unclear(p, o, false, why);
    for (size_t i = 0; i < all->n; i++) {
        const hf_pred_entry *e = &all->at[i];

        if (e->own || e->ver == HF_NONE)
            continue;
        if (e->returned) {
            hf_pred_item(p, o, e->key, e->ver);
        } else {
            hf_pred_flip_edges(p, o, e->key, e->ver);
            hf_pred_note_absent(p, o, e->key);
        }
    }
    if (!o->aggregate)
        take_other_rows(p, o, all);
}

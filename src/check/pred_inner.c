/* pred_inner.c: what the operations of one transaction say of each other.
 *
 * An entry that was not returned says that its version does not satisfy the
 * condition; so an item that the same transaction read, of the same key, must
 * not satisfy it either.  Nearly always such a contradiction is a cycle as
 * well.  The rest (the transaction itself wrote the version in between) is
 * proved by enumerating the writers of the key, or if they are many by a step
 * of a proof that names the operation.
 *
 * The same condition read twice, once with a row and once without, has a name
 * of its own: phantom.
 *
 * O(items * operations) for each transaction, with a binary search for each.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#include "check/brute.h"

void hf_pred_note_absent(hf_pred *p, const hf_pred_op *o, hf_key_id key)
{
    if (hf_graph_is_internal(p->g, o->txn) &&
        !hf_pred_is_odd(p, &p->conditions.at[o->condition], key))
        hf_vec_push(&p->seen,
                    (hf_pred_seen){key, HF_NONE, o->condition, o->op});
}

static int by_key(const void *a, const void *b)
{
    const hf_pred_seen *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* Items that the operations of the history itself name. */
static void add_items(hf_pred *p, hf_txn_id t)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;

    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
        uint32_t ver = hf_graph_source(g, o);

        if (ver != HF_NONE)
            hf_vec_push(&p->seen,
                        (hf_pred_seen){h->op_key[o], ver, HF_NONE, o});
    }
}

static void note_conflict(hf_pred *p, const hf_pred_seen *item, hf_op_id op)
{
    hf_pred_seen c = *item;

    if (p->conflicts.n > 0 || p->conflicts.n >= 100)
        if (p->conflicts.at[p->conflicts.n - 1].op == op)
            return;
    c.condition = op; /* who did not return it */
    hf_vec_push(&p->conflicts, c);
}

static bool satisfies(const hf_pred *p, uint32_t condition,
                      const hf_pred_seen *item)
{
    const hf_pred_condition *c = &p->conditions.at[condition];

    return p->table_of_key[item->key] == c->table &&
           hf_pred_holds(p, c, item->ver);
}

/* Entries of one key, the items among them against the absent ones. */
static void compare_key(hf_pred *p, const hf_pred_seen *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i].ver == HF_NONE)
            continue;
        for (size_t j = 0; j < n; j++)
            if (s[j].ver == HF_NONE && s[j].op != s[i].op &&
                satisfies(p, s[j].condition, &s[i]))
                note_conflict(p, &s[i], s[j].op);
    }
}

/* Operations with a snapshot by time leave none (compare_timed()). */
static bool any_absent(const hf_pred *p)
{
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.at[i].ver == HF_NONE)
            return true;
    return false;
}

static void compare_keys(hf_pred *p)
{
    size_t from = 0;

    qsort(p->seen.at, p->seen.n, sizeof(hf_pred_seen), by_key);
    for (size_t i = 0; i < p->seen.n; i++)
        if (i + 1 == p->seen.n || p->seen.at[i + 1].key != p->seen.at[i].key) {
            compare_key(p, p->seen.at + from, i + 1 - from);
            from = i + 1;
        }
}

/* Is the version the one that the snapshot of the operation holds? */
static bool is_entry(const hf_pred *p, const hf_pred_op *o, hf_key_id key,
                     uint32_t ver)
{
    const hf_graph *g = p->g;
    const uint64_t *commit = p->commit;

    return (g->ver_txn[ver] == HF_NONE || commit[g->ver_txn[ver]] <= o->time) &&
           (ver + 1 == g->ver_end[key] ||
            commit[g->ver_txn[ver + 1]] > o->time);
}

/* An operation with a snapshot by time has no list of what it did not
 * return. */
static void compare_timed(hf_pred *p, const hf_pred_op *o)
{
    const hf_history *h = p->g->h;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    bool sorted = false;

    for (size_t i = 0; i < p->seen.n; i++) {
        const hf_pred_seen *s = &p->seen.at[i];
        hf_op_id w;

        if (s->ver == HF_NONE || s->op == o->op ||
            p->table_of_key[s->key] != c->table ||
            is_entry(p, o, s->key, s->ver) || /* then the result is wrong */
            !hf_pred_holds(p, c, s->ver) ||
            hf_pred_own_write(h, o->txn, o->op, s->key, &w))
            continue;
        if (!o->all && !sorted) {
            hf_predicate q = o->q;

            sorted = true;
            (void)hf_pred_sort_rows(p, &q);
        }
        if (!o->all) {
            if (!hf_pred_row_of(p, s->key))
                note_conflict(p, s, o->op);
            continue;
        }
        if (!hf_pred_holds(p, c, hf_pred_version_at(p, o, s->key)))
            note_conflict(p, s, o->op);
    }
}

/* ---- phantoms ------------------------------------------------------------ */

static bool writes_before(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    for (hf_op_id o = h->op_first[t]; o < op; o++)
        if (hf_op_installs(hf_op_kind_of(h, o)))
            return true;
    return false;
}

static bool writes_key(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    hf_op_id w;

    return hf_pred_own_write(h, t, h->op_first[t + 1], key, &w);
}

/* Is the key in the version set of the operation? */
static bool looks_at(const hf_history *h, const hf_predicate *q, hf_key_id key)
{
    for (uint32_t i = 0; i < q->n_versions; i++)
        if (h->value_key[q->versions[i].value] == key)
            return true;
    return q->snapshot != HF_SNAPSHOT_NONE &&
           (h->key_table ? h->key_table[key] : HF_NONE) == q->table;
}

static bool has_row(const hf_history *h, const hf_predicate *q, hf_key_id key)
{
    for (uint32_t i = 0; i < q->n_results; i++)
        if (h->value_key[q->results[i].value] == key)
            return true;
    return false;
}

/* A row of a that b looked at and did not return. */
static bool is_phantom(const hf_history *h, hf_txn_id t, const hf_predicate *a,
                       const hf_predicate *b)
{
    for (uint32_t i = 0; i < a->n_results; i++) {
        hf_key_id key = h->value_key[a->results[i].value];

        if (looks_at(h, a, key) && looks_at(h, b, key) && !has_row(h, b, key) &&
            !writes_key(h, t, key))
            return true;
    }
    return false;
}

static void find_phantoms(hf_pred *p, hf_txn_id t)
{
    const hf_history *h = p->g->h;

    for (uint32_t j = p->op_first[t]; j < p->op_first[t + 1]; j++) {
        const hf_pred_op *b = &p->ops.at[j];

        for (uint32_t i = j; i-- > p->op_first[t];) {
            const hf_pred_op *a = &p->ops.at[i];
            hf_predicate q, r;

            if (!a->known || !b->known || a->condition != b->condition ||
                hf_op_kind_of(h, a->op) != HF_OP_PREDICATE_READ ||
                hf_op_kind_of(h, b->op) != HF_OP_PREDICATE_READ)
                continue;
            q = b->q;
            r = a->q;
            if (!r.has_result_set)
                continue;
            if (!q.has_result_set || writes_before(h, t, b->op))
                break;
            if (is_phantom(h, t, &r, &q) || is_phantom(h, t, &q, &r))
                hf_graph_note(p->g, HF_PHANTOM, a->op, b->op, HF_NONE, HF_NONE);
            break;
        }
    }
}

/* ---- lost updates -------------------------------------------------------- */

static int by_version(const void *a, const void *b)
{
    const hf_pred_seen *x = a, *y = b;

    if (x->ver != y->ver)
        return x->ver < y->ver ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* Item reads by themselves of versions that a predicate operation read. */
static void add_plain_reads(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    size_t n = p->renewed.n;
    uint8_t *wanted = HF_NEW_ZEROED(uint8_t, (size_t)g->n_versions + 1);

    for (size_t i = 0; i < n; i++)
        wanted[p->renewed.at[i].ver] = 1;
    for (hf_txn_id t = 0; n > 0 && t < h->n_txns; t++)
        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++) {
            uint32_t ver = hf_graph_source(g, o);

            if (ver != HF_NONE && wanted[ver] &&
                hf_graph_version_of(g, t, h->op_key[o]) != HF_NONE)
                hf_vec_push(&p->renewed,
                            (hf_pred_seen){h->op_key[o], ver, HF_NONE, o});
        }
    hf_free(wanted);
}

static hf_op_id own_version(const hf_graph *g, hf_op_id op, hf_key_id key)
{
    hf_txn_id t = hf_op_txn(g->h, op);

    return g->ver_op[hf_graph_version_of(g, t, key)];
}

void hf_pred_lost_updates(hf_pred *p)
{
    const hf_graph *g = p->g;
    const hf_history *h = g->h;
    size_t first = 0;

    add_plain_reads(p);
    if (p->renewed.n > 1)
        qsort(p->renewed.at, p->renewed.n, sizeof(hf_pred_seen), by_version);
    for (size_t i = 1; i < p->renewed.n; i++) {
        const hf_pred_seen *a = &p->renewed.at[first], *b = &p->renewed.at[i];

        if (a->ver != b->ver) {
            first = i;
            continue;
        }
        if (hf_op_txn(h, b->op) == hf_op_txn(h, b[-1].op) ||
            (hf_graph_source(g, a->op) != HF_NONE &&
             hf_graph_source(g, b->op) != HF_NONE))
            continue; /* one transaction; or noted as items */
        hf_graph_note(p->g, HF_LOST_UPDATE, a->op,
                      own_version(g, a->op, a->key), b->op,
                      own_version(g, b->op, b->key));
    }
}

/* ---- all ----------------------------------------------------------------- */

void hf_pred_compare(hf_pred *p, hf_txn_id t)
{
    uint32_t first = p->op_first[t], end = p->op_first[t + 1];

    if (p->op_first[t] == end)
        return;
    find_phantoms(p, t);
    if (!hf_graph_is_internal(p->g, t))
        return;
    add_items(p, t);
    for (uint32_t i = first; i < end; i++)
        if (p->ops.at[i].timed)
            compare_timed(p, &p->ops.at[i]);
    if (any_absent(p))
        compare_keys(p);
    p->seen.n = 0;
}

/* The reader and everybody who wrote the key. */
static uint32_t core_of(const hf_history *h, hf_txn_id reader, hf_key_id key,
                        hf_txn_id *core)
{
    uint32_t n = 0;

    core[n++] = reader;
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (t != reader && writes_key(h, t, key)) {
            if (n == HF_BRUTE_NODES)
                return 0;
            core[n++] = t;
        }
    return n;
}

bool hf_pred_can_tell(const hf_pred *p, const hf_pred_seen *conflict)
{
    return !(p->g->key_use[conflict->key] & (HF_USE_LIST | HF_USE_BLIND));
}

/* One step, where nobody has to be enumerated. */
static void report_fault(hf_graph_report *r, hf_op_id op)
{
    hf_finding f = {.anomaly = HF_NO_ORDER,
                    .witness = {.kind = HF_WITNESS_PROOF,
                                .anomaly = HF_NO_ORDER,
                                .n_steps = 1}};

    f.witness.steps = hf_arena_get(r->arena, sizeof(hf_step));
    f.witness.steps[0] =
        (hf_step){.kind = HF_STEP_FAULT, .op = op, .writer = HF_NONE};
    r->count[HF_NO_ORDER]++;
    hf_vec_push(&r->found, f);
}

void hf_pred_report_conflicts(hf_graph_report *r)
{
    const hf_pred *p = r->g->pred;
    const hf_history *h = r->g->h;
    hf_txn_id core[HF_BRUTE_NODES];

    for (size_t i = 0; i < p->conflicts.n && r->found.n == 0; i++) {
        const hf_pred_seen *c = &p->conflicts.at[i];
        uint32_t n = core_of(h, hf_op_txn(h, c->op), c->key, core);

        if (n > 0)
            hf_report_core(r, core, n);
        else if (h->txn_outcome[hf_op_txn(h, c->op)] == HF_COMMITTED &&
                 hf_pred_can_tell(p, c))
            report_fault(r, c->condition);
    }
    if (r->found.n == 0 && p->conflicts.n > 0)
        hf_graph_undecided(
            r->g, false,
            "T%lld saw a row satisfy a condition that did not "
            "return it, and too many wrote the row to prove "
            "that",
            (long long)hf_txn_label(h, hf_op_txn(h, p->conflicts.at[0].op)));
}

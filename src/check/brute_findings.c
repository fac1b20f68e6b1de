/* brute_findings.c: anomalies without a cycle, where they are certain.
 *
 * Looks at the operations of transactions that surely happened.  A read is
 * used only if one version is all it can come from, so what is found is there
 * in every world, and forbids the history at every level that forbids the
 * anomaly.  O(operations) but for the lists.
 */
#include "check/brute.h"

#include <string.h>

#define MAX_FINDINGS 1000u

typedef struct finder {
    const hf_brute_case *c;
    const hf_brute_levels *levels;
    hf_arena *arena;
    hf_brute_findings *found;
    uint8_t sure;
} finder;

/* `nodes`: whose anomaly it is; empty: of the whole history. */
static bool is_forbidden(const finder *f, hf_anomaly anomaly, unsigned nodes)
{
    if (nodes == 0)
        return hf_level_forbids(f->levels->all->level, anomaly);
    for (unsigned i = 0; i < f->c->n_nodes; i++)
        if ((nodes >> i & 1u) &&
            !hf_level_forbids(f->levels->own[i]->level, anomaly))
            return false;
    return true;
}

static void report(finder *f, hf_anomaly anomaly, unsigned nodes, unsigned n,
                   const hf_op_id *ops)
{
    hf_finding finding = {.anomaly = anomaly,
                          .witness = {.kind = HF_WITNESS_OPERATIONS,
                                      .mixed = f->levels->mixed,
                                      .anomaly = anomaly}};

    if (!is_forbidden(f, anomaly, nodes) || f->found->n == MAX_FINDINGS)
        return;
    finding.witness.n_ops = n;
    finding.witness.ops = hf_arena_get(f->arena, n * sizeof(*ops));
    memcpy(finding.witness.ops, ops, n * sizeof(*ops));
    hf_vec_push(f->found, finding);
}

static bool is_sure(const finder *f, unsigned node)
{
    return node < HF_BRUTE_NODES && (f->sure >> node & 1u);
}

/* Committed, as recorded. */
static bool is_committed(const finder *f, unsigned node)
{
    return node < HF_BRUTE_NODES && !(f->c->maybe >> node & 1u);
}

static const hf_brute_write *write_at(const finder *f, uint32_t i)
{
    return &f->c->writes.at[i];
}

static hf_op_id last_write(const finder *f, hf_key_id key, unsigned node)
{
    return write_at(f, f->c->keys[key].last[node])->op;
}

/* ---- single reads ------------------------------------------------------- */

/* The last write of the key in the transaction that w belongs to; it need not
 * have happened. */
static hf_op_id overwriting(const finder *f, const hf_brute_write *w)
{
    hf_op_id op = HF_NONE;

    for (uint32_t i = 0; i < f->c->writes.n; i++)
        if (write_at(f, i)->txn == w->txn && write_at(f, i)->key == w->key)
            op = write_at(f, i)->op;
    return op;
}

static void report_source(finder *f, const hf_brute_read *r,
                          const hf_brute_write *w)
{
    if (w->node == HF_BRUTE_UNSET) {
        report(f, HF_G1A, 1u << r->node, 2, (hf_op_id[]){w->op, r->op});
    } else if (w->node == r->node) {
        if (w->op >= r->op)
            report(f, HF_FUTURE_READ, 1u << r->node, 2,
                   (hf_op_id[]){r->op, w->op});
    } else if (!w->last && is_committed(f, w->node)) {
        report(f, HF_G1B, 1u << r->node, 3,
               (hf_op_id[]){w->op, overwriting(f, w), r->op});
    }
}

/* An aborted element, and a committed one built upon it. */
static void report_aborted_elements(finder *f, const hf_brute_read *r)
{
    const hf_brute_element *e = hf_brute_elements(f->c, r);
    const hf_brute_write *aborted = NULL;

    for (uint32_t i = 0; i < r->n_elements; i++) {
        const hf_brute_write *w;

        if (e[i].write == HF_NONE)
            continue;
        w = write_at(f, e[i].write);
        if (w->node == HF_BRUTE_UNSET) {
            if (!aborted && i + 1 < r->n_elements)
                report(f, HF_G1A, 1u << r->node, 2, (hf_op_id[]){w->op, r->op});
            aborted = aborted ? aborted : w;
        } else if (aborted && is_committed(f, w->node)) {
            report(f, HF_DIRTY_UPDATE, 1u << r->node, 3,
                   (hf_op_id[]){aborted->op, w->op, r->op});
            return;
        }
    }
}

static void look_at_reads(finder *f)
{
    for (size_t i = 0; i < f->c->reads.n; i++) {
        const hf_brute_read *r = &f->c->reads.at[i];

        if (!is_sure(f, r->node))
            continue;
        if (r->n_candidates == 1 && r->only_write != HF_NONE)
            report_source(f, r, write_at(f, r->only_write));
        if (r->list)
            report_aborted_elements(f, r);
    }
}

/* ---- two reads of one transaction --------------------------------------- */

static void look_at_repeated(finder *f)
{
    const hf_history *h = f->c->h;

    for (size_t i = 0; i < f->c->reads.n; i++) {
        const hf_brute_read *r = &f->c->reads.at[i], *p;

        if (!is_sure(f, r->node) || r->previous == HF_NONE)
            continue;
        p = &f->c->reads.at[r->previous];
        if (r->value != p->value &&
            !(r->counted && hf_amount_eq(hf_amount_of(h, r->value),
                                         hf_amount_of(h, p->value))) &&
            hf_op_reads_item(hf_op_kind_of(h, r->op)) &&
            hf_op_reads_item(hf_op_kind_of(h, p->op)))
            report(f, HF_NON_REPEATABLE_READ, 1u << r->node, 2,
                   (hf_op_id[]){p->op, r->op});
    }
}

static bool same_condition(const hf_history *h, hf_op_id a, hf_op_id b)
{
    hf_predicate p = hf_op_predicate(h, a), q = hf_op_predicate(h, b);

    return hf_op_kind_of(h, a) == HF_OP_PREDICATE_READ &&
           hf_op_kind_of(h, b) == HF_OP_PREDICATE_READ &&
           p.condition == q.condition && p.table == q.table;
}

/* Did the transaction write anything before this read? */
static bool has_written(const finder *f, const hf_brute_read *r)
{
    for (hf_op_id op = f->c->h->op_first[f->c->txn[r->node]]; op < r->op; op++)
        if (hf_op_installs(hf_op_kind_of(f->c->h, op)))
            return true;
    return false;
}

/* One condition, read twice, once with the row and once without.  The
 * transaction itself must not write the row at all. */
static void look_at_phantoms(finder *f)
{
    hf_op_id last = HF_NONE;

    for (size_t i = 0; i < f->c->reads.n; i++) {
        const hf_brute_read *r = &f->c->reads.at[i], *p;

        if (!is_sure(f, r->node) || r->previous == HF_NONE || r->op == last ||
            (f->c->keys[r->key].writers >> r->node & 1u) || has_written(f, r))
            continue;
        p = &f->c->reads.at[r->previous];
        if (!r->predicate || !p->predicate || r->item == p->item ||
            !same_condition(f->c->h, r->op, p->op))
            continue;
        report(f, HF_PHANTOM, 1u << r->node, 2, (hf_op_id[]){p->op, r->op});
        last = r->op;
    }
}

/* ---- two transactions --------------------------------------------------- */

/* The version that a read with one candidate comes from, numbered: the writes
 * first, then the initial versions of the keys. */
static uint32_t version_read(const hf_brute_case *c, const hf_brute_read *r)
{
    return r->only_write != HF_NONE ? r->only_write
                                    : (uint32_t)c->writes.n + r->key;
}

/* Does r read the installed version of one that happened, and its transaction
 * write the key as well? */
static bool is_update(const finder *f, const hf_brute_read *r)
{
    const hf_brute_write *w = NULL;

    if (r->only_write != HF_NONE)
        w = write_at(f, r->only_write);
    return is_sure(f, r->node) && r->item && r->n_candidates == 1 &&
           r->own_before == 0 && (f->c->keys[r->key].writers >> r->node & 1u) &&
           !(w && (w->node == r->node || !w->last || !is_sure(f, w->node)));
}

/* Two that read one version of a key and both write it.  One finding for a
 * version and a later transaction. */
static void look_at_lost_updates(finder *f)
{
    const hf_brute_case *c = f->c;
    size_t n = c->writes.n + c->h->n_keys + 1u;
    uint32_t *first = HF_NEW_ARRAY(uint32_t, n);
    uint8_t *told = HF_NEW_ZEROED(uint8_t, n);

    memset(first, 0xff, n * sizeof(*first));
    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i], *p;
        uint32_t v;

        if (!is_update(f, r))
            continue;
        v = version_read(c, r);
        if (first[v] == HF_NONE) {
            first[v] = i;
            told[v] = (uint8_t)(1u << r->node);
        }
        p = &c->reads.at[first[v]];
        if ((told[v] >> r->node & 1u) || p->value != r->value)
            continue; /* two lists may end in one element */
        told[v] |= (uint8_t)(1u << r->node);
        report(f, HF_LOST_UPDATE, 1u << p->node | 1u << r->node, 4,
               (hf_op_id[]){p->op, last_write(f, p->key, p->node), r->op,
                            last_write(f, r->key, r->node)});
    }
    hf_free(first);
    hf_free(told);
}

/* Is every append of the element by a committed transaction? */
static bool is_solid(const finder *f, const hf_brute_element *e)
{
    for (uint32_t i = f->c->first_equal[e->value]; i != HF_NONE;
         i = write_at(f, i)->next_equal)
        if (!is_committed(f, write_at(f, i)->node))
            return false;
    return true;
}

/* Two lists, of which only elements of committed transactions count: is
 * neither a prefix of the other? */
static bool is_incompatible(const finder *f, const hf_brute_read *a,
                            const hf_brute_read *b)
{
    const hf_brute_element *x = hf_brute_elements(f->c, a);
    const hf_brute_element *y = hf_brute_elements(f->c, b);
    uint32_t i = 0, j = 0;

    for (;;) {
        while (i < a->n_elements && !is_solid(f, &x[i]))
            i++;
        while (j < b->n_elements && !is_solid(f, &y[j]))
            j++;
        if (i == a->n_elements || j == b->n_elements)
            return false;
        if (x[i++].value != y[j++].value)
            return true;
    }
}

static void look_at_lists(finder *f)
{
    const hf_brute_case *c = f->c;
    uint32_t *longest = HF_NEW_ARRAY(uint32_t, c->h->n_keys + 1u);

    memset(longest, 0xff, (c->h->n_keys + 1u) * sizeof(*longest));
    for (uint32_t i = 0; i < c->reads.n; i++) {
        const hf_brute_read *r = &c->reads.at[i], *p;

        if (!r->list || !is_sure(f, r->node))
            continue;
        p = longest[r->key] == HF_NONE ? r : &c->reads.at[longest[r->key]];
        if (is_incompatible(f, p, r))
            report(f, HF_INCOMPATIBLE_ORDER, 0, 2, (hf_op_id[]){p->op, r->op});
        else if (p == r || r->n_elements > p->n_elements)
            longest[r->key] = i;
    }
    hf_free(longest);
}

/* ---- all of them -------------------------------------------------------- */

/* Worst first: wrong at every level, then dirty reads, then the rest. */
static unsigned rank(hf_anomaly anomaly)
{
    static const hf_anomaly order[] = {
        HF_GARBAGE_READ,       HF_INTERNAL,
        HF_DUPLICATE_WRITE,    HF_TWO_VERSIONS,
        HF_SEMANTIC_ERROR,     HF_RESULT_SET_MISMATCH,
        HF_INCOMPATIBLE_ORDER, HF_G1A,
        HF_DIRTY_UPDATE,       HF_G1B,
        HF_FUTURE_READ,        HF_LOST_UPDATE,
        HF_NON_REPEATABLE_READ};
    unsigned i = 0;

    while (i < sizeof(order) / sizeof(order[0]) && order[i] != anomaly)
        i++;
    return i;
}

static void sort_by_rank(hf_brute_findings *found)
{
    for (size_t i = 1; i < found->n; i++) {
        hf_finding moving = found->at[i];
        size_t at = i;

        while (at > 0 &&
               rank(found->at[at - 1].anomaly) > rank(moving.anomaly)) {
            found->at[at] = found->at[at - 1];
            at--;
        }
        found->at[at] = moving;
    }
}

void hf_brute_find_operations(const hf_brute_case *c,
                              const hf_brute_levels *levels, hf_arena *arena,
                              hf_brute_findings *findings)
{
    finder f = {.c = c,
                .levels = levels,
                .arena = arena,
                .found = findings,
                .sure = hf_brute_sure(c, levels->readers)};

    for (size_t i = 0; i < c->faults.n; i++)
        if (c->faults.at[i].node == HF_BRUTE_UNSET ||
            is_sure(&f, c->faults.at[i].node))
            report(&f, c->faults.at[i].anomaly, 0, c->faults.at[i].n_ops,
                   c->faults.at[i].ops);
    look_at_lists(&f);
    look_at_reads(&f);
    look_at_repeated(&f);
    look_at_lost_updates(&f);
    look_at_phantoms(&f);
    sort_by_rank(findings);
}

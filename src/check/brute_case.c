/* brute_case.c: the digest of a history that the reference engine judges.
 *
 * One pass over all operations collects the writes, of transactions of every
 * outcome, because any of them may be what somebody read.  A second pass over
 * the transactions that may have happened finds for every read where it may
 * come from.  What is wrong whatever the world is noted as a fault at once:
 * garbage reads, own writes that are not seen, elements that are there twice.
 *
 * A case may be restricted to some transactions, as the text on cores in
 * docs/semantics.md says; what depends on the others is left out.
 *
 * O(operations), times the number of equal values for each read.
 */
#include "check/brute.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/ratio.h"

static bool is_kept(const hf_brute_case *c, hf_txn_id t)
{
    return !c->kept || c->kept[t];
}

static uint32_t *filled(hf_arena *arena, size_t n, uint32_t with)
{
    uint32_t *at = hf_arena_get(arena, hf_array_size(n, sizeof(uint32_t)));

    for (size_t i = 0; i < n; i++)
        at[i] = with;
    return at;
}

void hf_brute_fault_add(hf_brute_case *c, hf_anomaly anomaly, uint8_t node,
                        unsigned n_ops, const hf_op_id *ops)
{
    hf_brute_fault f = {
        .anomaly = anomaly, .node = node, .n_ops = (uint8_t)n_ops};

    memcpy(f.ops, ops, n_ops * sizeof(*ops));
    hf_vec_push(&c->faults, f);
    if (node == HF_BRUTE_UNSET)
        c->refused = true;
    else
        c->broken |= (uint8_t)(1u << node);
}

void hf_brute_undecided(hf_brute_case *c, bool reads_only, const char *format,
                        ...)
{
    char **reason = reads_only ? &c->undecided_reads : &c->undecided;
    char text[256];
    va_list args;

    if (*reason)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *reason = hf_arena_text(&c->arena, text, strlen(text));
}

/* ---- transactions ------------------------------------------------------- */

static void add_nodes(hf_brute_case *c)
{
    const hf_history *h = c->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        c->node_of[t] = HF_BRUTE_UNSET;
        if (!is_kept(c, t) || h->txn_outcome[t] == HF_ABORTED)
            continue;
        if (c->n_nodes == HF_BRUTE_NODES)
            HF_BUG("the reference engine was given too many transactions");
        if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME)
            c->maybe |= (uint8_t)(1u << c->n_nodes);
        c->node_of[t] = (uint8_t)c->n_nodes;
        c->txn[c->n_nodes++] = t;
    }
}

/* Session order and real time between nodes, all taken to have happened. */
static void add_orders(hf_brute_case *c)
{
    const hf_history *h = c->h;

    for (unsigned i = 0; i < c->n_nodes; i++) {
        for (unsigned j = 0; j < c->n_nodes; j++) {
            hf_txn_id a = c->txn[i], b = c->txn[j];
            uint64_t end = hf_txn_end_time(h, a);
            uint64_t begin = hf_txn_begin_time(h, b);

            if (i == j)
                continue;
            if (a < b && h->txn_session[a] == h->txn_session[b])
                hf_relation_add(&c->so, i, j);
            if (end != HF_TIME_NONE && begin != HF_TIME_NONE && end < begin &&
                h->txn_outcome[a] == HF_COMMITTED)
                hf_relation_add(&c->rt, i, j);
        }
    }
}

/* ---- writes ------------------------------------------------------------- */

/* The value an operation installs; false if it installs nothing. */
static bool installed_value(const hf_history *h, hf_op_id op,
                            hf_value_id *ret_value)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_installs(kind) || (hf_op_flags_of(h, op) & HF_OP_FAILED))
        return false;
    if (kind == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(h, op);

        *ret_value = inc.has_result ? inc.after : HF_NONE;
    } else {
        *ret_value = h->op_value[op];
    }
    return true;
}

static hf_status add_write(hf_brute_case *c, hf_txn_id t, hf_op_id op,
                           hf_value_id value, hf_error *err)
{
    const hf_history *h = c->h;
    hf_brute_write w = {.op = op,
                        .txn = t,
                        .key = h->op_key[op],
                        .value = value,
                        .node = c->node_of[t],
                        .kept = is_kept(c, t),
                        .append = hf_op_kind_of(h, op) == HF_OP_APPEND,
                        .next_equal = HF_NONE};
    hf_brute_key *k = &c->keys[w.key];
    uint32_t *link;

    if (k->written && k->list != w.append)
        return hf_fail(err, HF_ERR_INPUT,
                       "T%lld mixes appends and other writes on one key",
                       (long long)hf_txn_label(h, t));
    k->written = true;
    k->list = w.append;
    if (value == HF_NONE)
        k->opaque = true;
    if (!w.kept)
        k->removed_writer = true;
    if (value != HF_NONE) {
        link = &c->first_equal[value];
        w.next_equal = *link;
        *link = (uint32_t)c->writes.n;
    }
    hf_vec_push(&c->writes, w);
    return HF_OK;
}

static hf_status add_writes(hf_brute_case *c, hf_error *err)
{
    const hf_history *h = c->h;
    hf_value_id value;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_status st;

            if (!installed_value(h, op, &value))
                continue;
            st = add_write(c, t, op, value, err);
            if (st != HF_OK)
                return st;
        }
    }
    return HF_OK;
}

/* Marks last writes, walking backwards, and tells the keys who wrote them. */
static void mark_last(hf_brute_case *c)
{
    uint32_t *seen = filled(&c->arena, c->h->n_keys, HF_NONE);

    for (size_t i = c->writes.n; i-- > 0;) {
        hf_brute_write *w = &c->writes.at[i];
        hf_brute_key *k = &c->keys[w->key];

        w->last = seen[w->key] != w->txn;
        seen[w->key] = w->txn;
        if (w->node == HF_BRUTE_UNSET)
            continue;
        if (w->last) {
            k->writers |= (uint8_t)(1u << w->node);
            k->last[w->node] = (uint32_t)i;
        }
        k->n_writes[w->node]++;
    }
}

/* For lists: the writes of each node, gathered key by key. */
static void gather_appends(hf_brute_case *c)
{
    uint32_t at = 0;
    hf_arena *arena = &c->arena;

    c->appends =
        hf_arena_get(arena, hf_array_size(c->writes.n, sizeof(uint32_t)));
    c->appended =
        hf_arena_get(arena, hf_array_size(c->h->n_keys, sizeof(hf_key_id)));
    for (hf_key_id k = 0; k < c->h->n_keys; k++) {
        if (!c->keys[k].list)
            continue;
        c->appended[c->n_appended++] = k;
        for (unsigned i = 0; i < c->n_nodes; i++) {
            c->keys[k].first_write[i] = at;
            at += c->keys[k].n_writes[i];
            c->keys[k].n_writes[i] = 0;
        }
    }
    for (uint32_t i = 0; i < c->writes.n; i++) {
        hf_brute_write *w = &c->writes.at[i];
        hf_brute_key *k = &c->keys[w->key];

        if (w->append && w->node != HF_BRUTE_UNSET)
            c->appends[k->first_write[w->node] + k->n_writes[w->node]++] = i;
    }
}

/* The certificate, as far as it speaks of nodes that wrote the key. */
static void add_certificate(hf_brute_case *c)
{
    const hf_certificate *cert = &c->h->cert;

    if (!cert->order_first)
        return;
    for (hf_key_id k = 0; k < c->h->n_keys; k++) {
        hf_brute_key *key = &c->keys[k];
        uint8_t listed = 0;

        for (uint64_t i = cert->order_first[k]; i < cert->order_first[k + 1];
             i++) {
            uint8_t node = c->node_of[cert->order_txn[i]];

            if (node == HF_BRUTE_UNSET || !((key->writers >> node) & 1u) ||
                ((listed >> node) & 1u))
                continue;
            for (unsigned j = 0; j < key->n_listed; j++)
                hf_relation_add(&c->listed, key->listed[j], node);
            listed |= (uint8_t)(1u << node);
            key->listed[key->n_listed++] = node;
        }
    }
}

/* The version orders of a world are those of the sets of writers. */
static void gather_writers(hf_brute_case *c)
{
    bool seen[1u << HF_BRUTE_NODES] = {false};

    for (hf_key_id k = 0; k < c->h->n_keys; k++) {
        uint8_t writers = c->keys[k].writers;

        if (!seen[writers])
            hf_vec_push(&c->written, writers);
        seen[writers] = true;
    }
}

/* What the promise of unique values covers. */
static bool is_promised_unique(const hf_brute_case *c, const hf_brute_write *w)
{
    return w->kept && w->value != HF_NONE &&
           c->h->value_type[w->value] != HF_NIL;
}

/* Two writes of one value, whatever became of their transactions. */
static void find_duplicate_writes(hf_brute_case *c)
{
    for (uint32_t i = 0; c->h->unique_values && i < c->writes.n; i++) {
        const hf_brute_write *w = &c->writes.at[i];
        uint32_t j = w->next_equal; /* the chain goes back in the file */

        if (!is_promised_unique(c, w))
            continue;
        while (j != HF_NONE && !is_promised_unique(c, &c->writes.at[j]))
            j = c->writes.at[j].next_equal;
        if (j != HF_NONE)
            hf_brute_fault_add(c, HF_DUPLICATE_WRITE, HF_BRUTE_UNSET, 2,
                               (hf_op_id[]){c->writes.at[j].op, w->op});
    }
}

/* ---- reads -------------------------------------------------------------- */

/* Fills sources and candidates; false if a transaction that is not kept may
 * be the source, so that nothing is known about this read.  An increment by
 * nothing writes what it read, but did not read that: it only makes the value
 * one of several, so that no single operation shows where it came from. */
static bool find_candidates(const hf_brute_case *c, hf_brute_read *r)
{
    bool again = false;

    r->n_candidates = 0;
    r->only_write = HF_NONE;
    r->sources = 0;
    for (uint32_t i = c->first_equal[r->value]; i != HF_NONE;
         i = c->writes.at[i].next_equal) {
        const hf_brute_write *w = &c->writes.at[i];

        again |= w->op == r->op;
        if (w->append || w->op == r->op ||
            (r->writer != HF_NONE && r->writer != w->txn))
            continue;
        if (!w->kept)
            return false;
        r->n_candidates++;
        r->only_write = i;
        if (w->node != HF_BRUTE_UNSET && w->last && w->node != r->node)
            r->sources |= (uint16_t)(1u << w->node);
    }
    if (hf_value_is_initial(c->h, r->key, r->value) &&
        (r->writer == HF_NONE || r->writer == HF_WRITER_INITIAL)) {
        r->n_candidates++;
        r->only_write = HF_NONE;
        r->sources |= (uint16_t)(1u << HF_BRUTE_INITIAL);
    }
    r->n_candidates += again && r->n_candidates > 0;
    if (r->n_candidates > 1)
        r->only_write = HF_NONE;
    return true;
}

/* A key whose values cannot be known: the read is left out. */
static bool is_opaque(hf_brute_case *c, const hf_brute_read *r)
{
    if (!c->keys[r->key].opaque)
        return false;
    hf_brute_undecided(c, false,
                       "T%lld reads a key that has increments without "
                       "recorded results",
                       (long long)hf_txn_label(c->h, c->txn[r->node]));
    return true;
}

void hf_brute_push_read(hf_brute_case *c, hf_brute_read r,
                        const hf_brute_own *own)
{
    r.previous = own->read[r.key];
    own->read[r.key] = (uint32_t)c->reads.n;
    hf_vec_push(&c->reads, r);
}

void hf_brute_add_read(hf_brute_case *c, hf_brute_read r,
                       const hf_brute_own *own)
{
    uint32_t mine = own->write[r.key];
    const hf_brute_write *w;

    if (c->keys[r.key].opaque && !c->keys[r.key].list && r.item &&
        !hf_op_has_predicate(hf_op_kind_of(c->h, r.op))) {
        hf_brute_add_counted_read(c, r, own);
        return;
    }
    if (is_opaque(c, &r) || !find_candidates(c, &r))
        return;
    if (r.n_candidates == 0) {
        hf_brute_fault_add(c, HF_GARBAGE_READ, r.node, 1, &r.op);
        return;
    }
    if (mine == HF_NONE) {
        hf_brute_push_read(c, r, own);
        return;
    }
    /* after an own write: it must be seen, and makes no edge */
    w = &c->writes.at[mine];
    if (w->value != r.value || (r.writer != HF_NONE && r.writer != w->txn)) {
        hf_op_id ops[2] = {w->op, r.op};

        hf_brute_fault_add(c, HF_INTERNAL, r.node, 2, ops);
    }
}

/* ---- the operations of one transaction ---------------------------------- */

static void add_item_read(hf_brute_case *c, uint8_t node, hf_op_id op,
                          hf_value_id value, const hf_brute_own *own)
{
    hf_brute_read r = {.op = op,
                       .key = c->h->op_key[op],
                       .value = value,
                       .writer = HF_NONE,
                       .node = node,
                       .item = true};
    uint8_t type;

    if (value == HF_NONE)
        return;
    type = c->h->value_type[value];
    if (c->keys[r.key].list && (type == HF_LIST || type == HF_NIL))
        hf_brute_add_list_read(c, r, own);
    else
        hf_brute_add_read(c, r, own);
}

static void note_write(hf_brute_case *c, hf_op_id op, uint32_t *next_write,
                       const hf_brute_own *own)
{
    hf_key_id key;

    if (*next_write == c->writes.n || c->writes.at[*next_write].op != op)
        return;
    key = c->writes.at[*next_write].key;
    own->write[key] = (*next_write)++;
    own->count[key]++;
}

/* An increment with results reads `before`, and must have added up. */
static void add_increment(hf_brute_case *c, uint8_t node, hf_op_id op,
                          const hf_brute_own *own)
{
    const hf_history *h = c->h;
    hf_increment inc = hf_op_increment(h, op);

    if (!inc.has_result)
        return;
    if (!hf_increment_fits(hf_value_scalar(h, inc.before), inc.amount,
                           hf_value_scalar(h, inc.after)))
        hf_brute_fault_add(c, HF_SEMANTIC_ERROR, node, 1, &op);
    add_item_read(c, node, op, inc.before, own);
}

static void add_operation(hf_brute_case *c, uint8_t node, hf_op_id op,
                          const hf_brute_own *own)
{
    const hf_history *h = c->h;
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return;
    if (hf_op_reads_item(kind)) {
        add_item_read(c, node, op, h->op_value[op], own);
    } else if (hf_op_has_predicate(kind)) {
        hf_brute_add_predicate(c, node, op, own);
    } else if (kind == HF_OP_INCREMENT) {
        add_increment(c, node, op, own);
    } else if (hf_op_is_opaque(h, op)) {
        hf_brute_undecided(c, false,
                           "engine brute does not judge SQL statements, T%lld "
                           "has one",
                           (long long)hf_txn_label(h, c->txn[node]));
    }
}

static void add_reads(hf_brute_case *c)
{
    const hf_history *h = c->h;
    uint32_t next_write = 0;

    for (uint8_t node = 0; node < c->n_nodes; node++) {
        hf_txn_id t = c->txn[node];
        hf_brute_own own = {.write = filled(&c->arena, h->n_keys, HF_NONE),
                            .read = filled(&c->arena, h->n_keys, HF_NONE),
                            .count = filled(&c->arena, h->n_keys, 0)};

        while (next_write < c->writes.n && c->writes.at[next_write].txn < t)
            next_write++;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            add_operation(c, node, op, &own);
            note_write(c, op, &next_write, &own);
        }
    }
}

hf_status hf_brute_case_init(hf_brute_case *c, const hf_history *h,
                             const uint8_t *kept, hf_sql_cache *sql,
                             hf_error *err)
{
    hf_status st;

    *c = (hf_brute_case){.h = h, .kept = kept, .sql = sql};
    hf_arena_init(&c->arena);
    c->node_of = hf_arena_get(&c->arena, h->n_txns);
    c->keys =
        hf_arena_get(&c->arena, hf_array_size(h->n_keys, sizeof(*c->keys)));
    c->first_equal = filled(&c->arena, h->n_values, HF_NONE);
    c->read_by = filled(&c->arena, h->n_values, HF_NONE);
    add_nodes(c);
    add_orders(c);
    st = add_writes(c, err);
    if (st != HF_OK) {
        hf_brute_case_release(c);
        return st;
    }
    mark_last(c);
    gather_appends(c);
    add_certificate(c);
    gather_writers(c);
    find_duplicate_writes(c);
    for (hf_key_id k = 0; k < h->n_keys && !c->counters; k++)
        if (c->keys[k].opaque)
            c->counters = hf_counters_new(h);
    add_reads(c);
    return HF_OK;
}

void hf_brute_case_release(hf_brute_case *c)
{
    hf_counters_free(c->counters);
    hf_vec_release(&c->written);
    hf_vec_release(&c->writes);
    hf_vec_release(&c->reads);
    hf_vec_release(&c->elements);
    hf_vec_release(&c->faults);
    hf_arena_release(&c->arena);
}

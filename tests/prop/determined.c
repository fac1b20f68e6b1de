/* determined.c: candidates counted, writers of a key compared with orders.
 *
 * O(operations + elements of all lists read + keys * transactions in the
 * worst case), on histories of a few thousand transactions at most.
 */
#include "determined.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "history/extra.h"
#include "history/snapshot.h"

typedef HF_VEC(hf_txn_id) txn_list;

typedef struct digest {
    const hf_history *h;
    uint32_t *writers;      /* of each value: how many operations wrote it */
    hf_txn_id *writer;      /* one of them */
    uint8_t *counts;        /* of each transaction: it may have happened */
    uint8_t *surely;        /* committed, or read by one of these */
    txn_list *writers_of;   /* of each key: those that count, once each */
    uint32_t *mark, marked; /* of each transaction: seen in this round */
} digest;

/* ---- operations ---------------------------------------------------------- */

static bool is_live(const hf_history *h, hf_op_id op)
{
    return !(hf_op_flags_of(h, op) & HF_OP_FAILED);
}

/* What the operation writes, or HF_NONE. */
static hf_value_id written_value(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!is_live(h, op) || !hf_op_installs(kind))
        return HF_NONE;
    return kind == HF_OP_INCREMENT ? hf_op_increment(h, op).after
                                   : h->op_value[op];
}

/* What it reads, or HF_NONE. */
static hf_value_id read_value(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!is_live(h, op))
        return HF_NONE;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).before;
    return hf_op_reads_item(kind) ? h->op_value[op] : HF_NONE;
}

static bool is_plain(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!is_live(h, op))
        return true;
    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).has_result;
    return !hf_op_has_extra(kind) || hf_op_has_predicate(kind);
}

/* ---- sources ------------------------------------------------------------- */

/* The transaction's own last write of the key before op, or HF_NONE. */
static hf_value_id own_value(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    hf_value_id v = HF_NONE;

    for (hf_op_id i = h->op_first[t]; i < op; i++)
        if (h->op_key[i] == h->op_key[op] && written_value(h, i) != HF_NONE)
            v = written_value(h, i);
    return v;
}

static bool has_one_source(const digest *d, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = d->h;
    hf_value_id v = read_value(h, op);

    if (v == HF_NONE)
        return true;
    if (hf_op_kind_of(h, op) == HF_OP_READ_LIST) {
        for (; v != HF_NONE && h->value_type[v] == HF_LIST;
             v = hf_list_parent(h, v))
            if (d->writers[hf_list_last(h, v)] > 1)
                return false;
        return true;
    }
    return d->writers[v] + hf_value_is_initial(h, h->op_key[op], v) <= 1 ||
           own_value(h, t, op) == v;
}

/* ---- predicates ---------------------------------------------------------- */

/* The transaction's own write of the key before op. */
static bool has_own_write(const hf_history *h, hf_txn_id t, hf_op_id op,
                          hf_key_id key)
{
    for (hf_op_id i = h->op_first[t]; i < op; i++)
        if (h->op_key[i] == key && is_live(h, i) &&
            hf_op_installs(hf_op_kind_of(h, i)))
            return true;
    return false;
}

/* How many writes of the value the entry may mean. */
static uint32_t count_candidates(const digest *d, const hf_version_ref *ref)
{
    const hf_history *h = d->h;
    bool initial = hf_value_is_initial(h, h->value_key[ref->value], ref->value);
    uint32_t n = 0;

    if (ref->writer == HF_NONE)
        return d->writers[ref->value] + initial;
    if (ref->writer == HF_WRITER_INITIAL)
        return initial;
    for (hf_op_id op = h->op_first[ref->writer];
         op < h->op_first[ref->writer + 1]; op++)
        n += written_value(h, op) == ref->value;
    return n;
}

static bool are_known(const digest *d, hf_txn_id t, hf_op_id op,
                      const hf_version_ref *refs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (count_candidates(d, &refs[i]) > 1 &&
            !has_own_write(d->h, t, op, d->h->value_key[refs[i].value]))
            return false;
    return true;
}

/* Is one of unknown outcome, of which it is not known that it happened, among
 * the writers of the key?  Then it is open which versions change the matches,
 * and leaving it out may make things worse. */
static bool is_written_perhaps(const digest *d, hf_key_id key)
{
    const hf_history *h = d->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (h->txn_outcome[t] != HF_UNKNOWN_OUTCOME || d->surely[t])
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (h->op_key[op] == key && is_live(h, op) &&
                hf_op_installs(hf_op_kind_of(h, op)))
                return true;
    }
    return false;
}

/* The version set was recorded, and of each entry where it comes from. */
static bool is_predicate_known(const digest *d, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = d->h;
    hf_predicate p;

    if (!hf_op_has_predicate(hf_op_kind_of(h, op)) || !is_live(h, op))
        return true;
    p = hf_op_predicate(h, op);
    if (!p.has_version_set || !are_known(d, t, op, p.versions, p.n_versions) ||
        !are_known(d, t, op, p.results, p.n_results))
        return false;
    for (uint32_t i = 0; i < p.n_versions; i++)
        if (is_written_perhaps(d, h->value_key[p.versions[i].value]))
            return false;
    return true;
}

/* ---- who happened -------------------------------------------------------- */

/* Transactions read from count, and those they read from. */
static void follow_reads(const digest *d, uint8_t *counts)
{
    const hf_history *h = d->h;
    bool again = true;

    while (again) {
        again = false;
        for (hf_txn_id t = 0; t < h->n_txns; t++) {
            if (!counts[t])
                continue;
            for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
                hf_value_id v = read_value(h, op);

                while (v != HF_NONE) {
                    bool list = h->value_type[v] == HF_LIST;
                    hf_txn_id w = d->writer[list ? hf_list_last(h, v) : v];

                    if (w != HF_NONE && !counts[w] &&
                        h->txn_outcome[w] == HF_UNKNOWN_OUTCOME)
                        counts[w] = again = true;
                    v = list ? hf_list_parent(h, v) : HF_NONE;
                }
            }
        }
    }
}

static void digest_writes(digest *d, bool unread_happened)
{
    const hf_history *h = d->h;

    memset(d->writer, 0xff, (h->n_values + 1u) * sizeof(*d->writer));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        d->surely[t] = h->txn_outcome[t] == HF_COMMITTED;
        d->counts[t] = unread_happened ? h->txn_outcome[t] != HF_ABORTED
                                       : h->txn_outcome[t] == HF_COMMITTED;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = written_value(h, op);

            if (v != HF_NONE) {
                d->writers[v]++;
                d->writer[v] = t;
            }
        }
    }
    follow_reads(d, d->counts);
    follow_reads(d, d->surely);
}

static bool sources_are_known(const digest *d)
{
    const hf_history *h = d->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (!is_plain(h, op) ||
                (d->counts[t] &&
                 (!has_one_source(d, t, op) || !is_predicate_known(d, t, op))))
                return false;
    return true;
}

/* ---- orders -------------------------------------------------------------- */

static void list_writers(digest *d)
{
    const hf_history *h = d->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (!d->counts[t])
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            txn_list *list;

            if (!is_live(h, op) || !hf_op_installs(hf_op_kind_of(h, op)))
                continue;
            list = &d->writers_of[h->op_key[op]];
            if (list->n == 0 || list->at[list->n - 1] != t)
                hf_vec_push(list, t);
        }
    }
}

/* Whatever list() marks: how many writers of the key are marked? */
static size_t count_marked(const digest *d, hf_key_id key)
{
    const txn_list *list = &d->writers_of[key];
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += d->mark[list->at[i]] == d->marked;
    return n;
}

static bool certificate_lists_all(digest *d, hf_key_id key)
{
    const hf_certificate *c = &d->h->cert;

    if (!c->order_first)
        return false;
    d->marked++;
    for (uint64_t i = c->order_first[key]; i < c->order_first[key + 1]; i++)
        d->mark[c->order_txn[i]] = d->marked;
    return count_marked(d, key) == d->writers_of[key].n;
}

/* The value id of the longest list of each key that a committed transaction
 * read; of equally long ones the first. */
static void find_longest(const hf_history *h, hf_value_id *longest,
                         uint32_t *length)
{
    memset(longest, 0xff, (h->n_keys + 1u) * sizeof(*longest));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (h->txn_outcome[t] != HF_COMMITTED)
            continue;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = read_value(h, op);
            uint32_t n;

            if (v == HF_NONE || h->value_type[v] != HF_LIST)
                continue;
            n = hf_list_items(h, v, NULL);
            if (n > length[h->op_key[op]]) {
                length[h->op_key[op]] = n;
                longest[h->op_key[op]] = v;
            }
        }
    }
}

static bool list_shows_all(digest *d, hf_key_id key, hf_value_id v)
{
    const hf_history *h = d->h;

    d->marked++;
    for (; v != HF_NONE && h->value_type[v] == HF_LIST;
         v = hf_list_parent(h, v)) {
        hf_txn_id t = d->writer[hf_list_last(h, v)];

        if (t != HF_NONE)
            d->mark[t] = d->marked;
    }
    return count_marked(d, key) + 1 >= d->writers_of[key].n;
}

static bool orders_are_known(digest *d)
{
    const hf_history *h = d->h;
    hf_value_id *longest = HF_NEW_ARRAY(hf_value_id, h->n_keys + 1u);
    uint32_t *length = HF_NEW_ZEROED(uint32_t, h->n_keys + 1u);
    bool known = true;

    list_writers(d);
    find_longest(h, longest, length);
    for (hf_key_id k = 0; known && k < h->n_keys; k++)
        known = d->writers_of[k].n <= 1 || certificate_lists_all(d, k) ||
                (longest[k] != HF_NONE && list_shows_all(d, k, longest[k]));
    hf_free(longest);
    hf_free(length);
    return known;
}

static bool digest_is_determined(const hf_history *h, bool unread_happened)
{
    digest d = {.h = h};
    bool known;

    d.writers = HF_NEW_ZEROED(uint32_t, h->n_values + 1u);
    d.writer = HF_NEW_ARRAY(hf_txn_id, h->n_values + 1u);
    d.counts = HF_NEW_ZEROED(uint8_t, h->n_txns + 1u);
    d.surely = HF_NEW_ZEROED(uint8_t, h->n_txns + 1u);
    d.mark = HF_NEW_ZEROED(uint32_t, h->n_txns + 1u);
    d.writers_of = HF_NEW_ZEROED(txn_list, h->n_keys + 1u);
    digest_writes(&d, unread_happened);
    known = sources_are_known(&d) && orders_are_known(&d);
    for (hf_key_id k = 0; k < h->n_keys; k++)
        hf_vec_release(&d.writers_of[k]);
    hf_free(d.writers_of);
    hf_free(d.mark);
    hf_free(d.surely);
    hf_free(d.counts);
    hf_free(d.writer);
    hf_free(d.writers);
    return known;
}

bool is_determined(const hf_history *h, bool unread_happened)
{
    hf_history *plain;
    bool known;

    if (h->n_extra == 0)
        return digest_is_determined(h, unread_happened);
    plain = hf_snapshots_expand(h, NULL);
    known = digest_is_determined(plain, unread_happened);
    hf_snapshots_collapse(plain);
    return known;
}

bool lacks_version_sets(const hf_history *h)
{
    hf_history *plain = hf_snapshots_expand(h, NULL);
    bool lacks = false;

    for (hf_op_id op = 0; op < h->n_ops && !lacks; op++)
        lacks = hf_op_has_predicate(hf_op_kind_of(h, op)) &&
                !hf_op_predicate(plain, op).has_version_set;
    hf_snapshots_collapse(plain);
    return lacks;
}

/* certain.c: see certain.h.
 *
 * Built in O(operations + values); a question about two transactions costs
 * their operations, and where lists contradict each other the lists of a key.
 *
 * A value that several wrote still has one possible source if all but one
 * aborted, or wrote it over: from read-committed up that is certain.
 */
#include "verify/certain.h"

#include <stdlib.h>

#include "base/vec.h"
#include "verify/rests.h"
#include "verify/sources.h"

bool hf_op_is_of(const hf_history *h, hf_op_id op, hf_txn_id t)
{
    return op >= h->op_first[t] && op < h->op_first[t + 1];
}

bool hf_session_before(const hf_history *h, hf_txn_id first, hf_txn_id second)
{
    return first < second && h->txn_session[first] == h->txn_session[second];
}

bool hf_time_before(const hf_history *h, hf_txn_id first, hf_txn_id second)
{
    uint64_t end = hf_txn_end_time(h, first);
    uint64_t begin = hf_txn_begin_time(h, second);

    return h->txn_outcome[first] == HF_COMMITTED && end != HF_TIME_NONE &&
           begin != HF_TIME_NONE && end < begin;
}

/* As hf_facts_origin(), and what only one can have written so that it may be
 * read. */
static hf_origin origin_of(hf_verifier *v, hf_txn_id t,
                           const hf_item_read *read, hf_txn_id *ret_writer)
{
    hf_origin origin = hf_facts_origin(v->h, &v->facts, read, ret_writer);
    const hf_sources *s;
    hf_choice choice;

    if (origin != HF_FROM_SEVERAL || !hf_reads_matter_to(v, t) ||
        hf_op_has_predicate(hf_op_kind_of(v->h, read->op)))
        return origin;
    s = hf_sources_get(v);
    if (!s || !hf_choice_of(v, s, t, read->op, &choice) ||
        !hf_choice_only(t, &choice, ret_writer))
        return origin;
    return *ret_writer == HF_NONE ? HF_FROM_INITIAL : HF_FROM_TXN;
}

/* ---- who happened -------------------------------------------------------- */

typedef struct spread {
    hf_certain *c;
    hf_txn_id *stack;
    uint32_t n_stack;
    hf_txn_id *own_stamp;   /* per key: the last transaction that wrote it */
    bool *list_done;        /* per list value */
    HF_VEC(hf_txn_id) open; /* see list_open() */
} spread;

static void meet(spread *s, hf_txn_id writer)
{
    if (writer >= HF_SEVERAL || s->c->happened[writer] ||
        s->c->v->h->txn_outcome[writer] == HF_ABORTED)
        return;
    s->c->happened[writer] = true;
    s->stack[s->n_stack++] = writer;
}

static void meet_list(spread *s, hf_value_id list)
{
    const hf_verifier *v = s->c->v;

    while (list != HF_NONE && !s->list_done[list]) {
        s->list_done[list] = true;
        meet(s, v->facts.writer[hf_list_last(v->h, list)]);
        list = hf_list_parent(v->h, list);
    }
}

/* Those of unknown outcome whose versions a snapshot may hold: few, since the
 * certificate must say that they committed. */
static void list_open(spread *s)
{
    const hf_verifier *v = s->c->v;
    const hf_history *h = v->h;

    for (hf_txn_id t = 0; v->entries && t < h->n_txns; t++)
        if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME &&
            (h->cert.order_first ||
             (h->cert.commit_ts && h->cert.commit_ts[t] != HF_TIME_NONE)))
            hf_vec_push(&s->open, t);
}

/* Whose versions the snapshot holds, returned or not. */
static void meet_entries(spread *s, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = s->c->v;
    const hf_facts *f = &v->facts;

    for (size_t i = 0; i < s->open.n; i++) {
        hf_txn_id u = s->open.at[i];
        hf_item_read entry;

        for (uint32_t w = f->write_first[u];
             !s->c->happened[u] && w < f->write_first[u + 1]; w++)
            if (hf_entry_of(v, t, op, f->write_key[w], &entry) &&
                entry.writer == u)
                meet(s, u);
        if (s->c->happened[u])
            s->open.at[i--] = s->open.at[--s->open.n];
    }
}

static void meet_sources(spread *s, hf_txn_id t)
{
    hf_verifier *v = s->c->v;
    const hf_history *h = v->h;

    if (!hf_reads_matter_to(v, t))
        return;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        uint32_t n = hf_item_reads(h, op);

        for (uint32_t i = 0; i < n; i++) {
            hf_item_read read = hf_read_at(v, op, i);
            hf_txn_id writer;

            /* a list shows others' elements before own ones, too */
            if ((v->facts.key_use[read.key] & HF_KEY_LIST) &&
                h->value_type[read.value] == HF_LIST)
                meet_list(s, read.value);
            else if (s->own_stamp[read.key] != t &&
                     origin_of(v, t, &read, &writer) == HF_FROM_TXN)
                meet(s, writer);
        }
        if (s->open.n > 0 && hf_op_counts(h, op) && hf_has_snapshot(v, op))
            meet_entries(s, t, op);
        if (hf_op_writes(h, op))
            s->own_stamp[h->op_key[op]] = t;
    }
}

static bool find_happened(hf_verifier *v, hf_certain *c)
{
    const hf_history *h = v->h;
    spread s = {.c = c};
    bool any_unknown = false, fine = true;

    c->happened = hf_kept_zeros(v, h->n_txns, sizeof(bool));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        c->happened[t] = h->txn_outcome[t] == HF_COMMITTED;
        any_unknown |= h->txn_outcome[t] == HF_UNKNOWN_OUTCOME;
    }
    if (!any_unknown || !hf_reads_matter(v))
        return true;
    s.stack = hf_nones(v, h->n_txns, sizeof(*s.stack));
    s.own_stamp = hf_nones(v, h->n_keys, sizeof(*s.own_stamp));
    s.list_done = hf_zeros(v, h->n_values, sizeof(bool));
    list_open(&s);
    for (hf_txn_id t = 0; t < h->n_txns && fine; t++) {
        if (h->txn_outcome[t] == HF_COMMITTED)
            meet_sources(&s, t);
        fine = (t & 0xff) != 0 || !hf_out_of_budget(v);
    }
    while (s.n_stack > 0 && fine)
        meet_sources(&s, s.stack[--s.n_stack]);
    hf_vec_release(&s.open);
    return fine;
}

/* ---- tables -------------------------------------------------------------- */

static void place_certificate(hf_verifier *v, hf_certain *c)
{
    const hf_history *h = v->h;

    if (!h->cert.order_first)
        return;
    c->certificate = hf_kept_nones(v, v->facts.write_first[h->n_txns],
                                   sizeof(*c->certificate));
    c->key_placed = hf_kept_zeros(v, h->n_keys, sizeof(*c->key_placed));
}

/* The versions of one key, when it is first asked about. */
static void place_key(const hf_certain *c, hf_key_id key)
{
    const hf_certificate *cert = &c->v->h->cert;
    uint64_t first = cert->order_first[key];

    c->key_placed[key] = true;
    for (uint64_t i = first; i < cert->order_first[key + 1]; i++) {
        uint32_t slot = hf_facts_slot(&c->v->facts, cert->order_txn[i], key);

        if (slot != HF_NONE && c->certificate[slot] == HF_NONE)
            c->certificate[slot] = (uint32_t)(i - first);
    }
}

uint32_t hf_certificate_place(const hf_certain *c, uint32_t slot)
{
    hf_key_id key = c->v->facts.write_key[slot];

    if (!c->certificate)
        return HF_NONE;
    if (!c->key_placed[key])
        place_key(c, key);
    return c->certificate[slot];
}

/* a and b are slots of one key. */
static bool before_by_certificate(const hf_certain *c, uint32_t a, uint32_t b)
{
    uint32_t first = hf_certificate_place(c, a);
    uint32_t second = hf_certificate_place(c, b);

    return first != HF_NONE && second != HF_NONE && first < second;
}

/* The place of the table for the claim in hand. */
static unsigned which_certain(const hf_verifier *v)
{
    return v->w->mixed ? 2 + (unsigned)v->level : hf_reads_matter(v);
}

const hf_certain *hf_certain_get(hf_verifier *v)
{
    unsigned which = which_certain(v);
    hf_certain *c = v->certain[which];

    if (c)
        return c;
    c = hf_kept_zeros(v, 1, sizeof(*c));
    c->v = v;
    c->rests = hf_rests_new(v);
    if (!find_happened(v, c))
        return NULL;
    place_certificate(v, c);
    if (!hf_certain_place_lists(v, c))
        return NULL;
    v->certain[which] = c;
    return c;
}

/* ---- questions ----------------------------------------------------------- */

bool hf_certain_source(const hf_certain *c, hf_txn_id t, hf_op_id op,
                       hf_key_id key, hf_txn_id *ret_source)
{
    return hf_certain_look(c, t, op, key, HF_LOOK_ITEM, ret_source);
}

bool hf_certain_look(const hf_certain *c, hf_txn_id t, hf_op_id op,
                     hf_key_id key, hf_look_kind look, hf_txn_id *ret_source)
{
    hf_verifier *v = c->v;
    hf_item_read read;
    hf_txn_id writer;
    hf_value_id value;

    if (!hf_read_of_key(v, op, key, &read) ||
        hf_own_write_before(v->h, &v->facts, t, op, key) != HF_NONE ||
        hf_look_at_key(v, op, key) != look)
        return false;
    switch (origin_of(v, t, &read, &writer)) {
    case HF_FROM_INITIAL:
        *ret_source = HF_NONE;
        return true;
    case HF_FROM_TXN:
        break;
    default:
        return false;
    }
    value = read.value;
    if (v->facts.key_use[key] & HF_KEY_LIST)
        value = hf_list_last(v->h, value);
    if (writer == t || v->h->txn_outcome[writer] == HF_ABORTED ||
        !hf_facts_is_last(v->h, &v->facts, writer, value))
        return false;
    *ret_source = writer;
    return true;
}

/* Through an entry of the snapshot op: of the keys that `source` writes. */
static bool snapshot_reads_from(const hf_certain *c, hf_txn_id t, hf_op_id op,
                                hf_txn_id source, hf_key_id key)
{
    const hf_facts *f = &c->v->facts;

    for (uint32_t s = f->write_first[source]; s < f->write_first[source + 1];
         s++) {
        hf_txn_id writer;

        if ((key == HF_NONE || f->write_key[s] == key) &&
            hf_certain_source(c, t, op, f->write_key[s], &writer) &&
            writer == source)
            return true;
    }
    return false;
}

/* Is source among those that t was listed to read from? */
static bool is_listed(const hf_certain *c, hf_txn_id t, hf_txn_id source)
{
    uint32_t low = c->read_first[t], high = c->read_first[t + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (c->read_from[middle] < source)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->read_first[t + 1] && c->read_from[low] == source;
}

/* Does t certainly read the last version of key (HF_NONE: of some key) from
 * `source`? */
static bool reads_from(const hf_certain *c, hf_txn_id t, hf_txn_id source,
                       hf_key_id key)
{
    const hf_history *h = c->v->h;

    if (key == HF_NONE && c->read_first)
        return is_listed(c, t, source);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        uint32_t n = hf_item_reads(h, op);

        if (hf_has_snapshot(c->v, op)) {
            if (snapshot_reads_from(c, t, op, source, key))
                return true;
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            hf_item_read read = hf_item_read_at(h, op, i);
            hf_txn_id writer;

            /* the cheap questions first: most reads are from elsewhere */
            if ((key == HF_NONE || read.key == key) &&
                origin_of(c->v, t, &read, &writer) == HF_FROM_TXN &&
                writer == source &&
                hf_certain_source(c, t, op, read.key, &writer) &&
                writer == source)
                return true;
        }
    }
    return false;
}

static int by_id(const void *left, const void *right)
{
    hf_txn_id a = *(const hf_txn_id *)left, b = *(const hf_txn_id *)right;

    return (a > b) - (a < b);
}

typedef HF_VEC(hf_txn_id) txn_list;

/* Adds those that t certainly reads from. */
static void list_sources(const hf_certain *c, const hf_sources *s, hf_txn_id t,
                         txn_list *ret)
{
    hf_verifier *v = c->v;
    const hf_history *h = v->h;
    size_t first = ret->n;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        bool condition = hf_op_has_predicate(hf_op_kind_of(h, op));
        uint32_t n = condition ? hf_item_reads(h, op) : 0;
        hf_txn_id writer;
        hf_choice choice;

        if (hf_choice_of(v, s, t, op, &choice) &&
            hf_choice_only(t, &choice, &writer) && writer != HF_NONE)
            hf_vec_push(ret, writer);
        for (uint32_t i = 0; i < n; i++)
            if (hf_certain_source(c, t, op, hf_item_read_at(h, op, i).key,
                                  &writer) &&
                writer != HF_NONE)
                hf_vec_push(ret, writer);
    }
    if (ret->n - first > 1)
        qsort(ret->at + first, ret->n - first, sizeof(*ret->at), by_id);
}

bool hf_certain_index_reads(const hf_certain *certain)
{
    hf_verifier *v = certain->v;
    hf_certain *c = v->certain[which_certain(v)];
    const hf_sources *s;
    uint32_t *read_first;
    txn_list list = {0};
    bool fine = true;

    if (c->read_first || v->entries || !hf_reads_matter(v))
        return true;
    s = hf_sources_get(v);
    if (!s)
        return false;
    read_first = hf_kept_zeros(v, (size_t)v->h->n_txns + 1, sizeof(uint32_t));
    for (hf_txn_id t = 0; t < v->h->n_txns && fine; t++) {
        list_sources(c, s, t, &list);
        read_first[t + 1] = (uint32_t)list.n;
        fine = (t & 0xff) != 0 || !hf_out_of_budget(v);
    }
    if (fine) {
        c->read_from = hf_kept_zeros(v, list.n, sizeof(*c->read_from));
        if (list.n > 0)
            memcpy(c->read_from, list.at, list.n * sizeof(*list.at));
        c->read_first = read_first;
    }
    hf_vec_release(&list);
    return fine;
}

/* From what the level, or the witness, says of transactions. */
static bool before_by_order(const hf_certain *c, hf_txn_id first,
                            hf_txn_id second, hf_key_id key)
{
    const hf_verifier *v = c->v;
    const hf_level_info *info = hf_level_of(v, second);

    if (info->shape != HF_SHAPE_WW &&
        ((info->session_order && hf_session_before(v->h, first, second)) ||
         (info->real_time && hf_time_before(v->h, first, second)) ||
         reads_from(c, second, first, HF_NONE)))
        return true;
    return ((v->w->rests & HF_REST_READS) && c->happened[first] &&
            reads_from(c, second, first, key)) ||
           hf_rests_before(c, first, second, key);
}

bool hf_before_if_both(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                       hf_key_id key)
{
    const hf_verifier *v = c->v;
    uint32_t a, b = hf_facts_slot(&v->facts, second, key);

    if (first == second || b == HF_NONE ||
        v->h->txn_outcome[second] == HF_ABORTED)
        return false;
    if (first == HF_NONE)
        return true;
    a = hf_facts_slot(&v->facts, first, key);
    if (a == HF_NONE || v->h->txn_outcome[first] == HF_ABORTED)
        return false;
    return before_by_certificate(c, a, b) ||
           hf_before_by_longest(c, first, second, key) ||
           before_by_order(c, first, second, key) ||
           hf_before_by_lists(c, first, second, key);
}

bool hf_certainly_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                         hf_key_id key)
{
    return c->happened[second] && hf_before_if_both(c, first, second, key);
}

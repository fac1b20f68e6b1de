/* rests.c: what the assumptions of a witness say in every world.
 *
 * For each version the transactions that certainly touch it are listed; the
 * list is in the order of the history, so within a session in its order.
 * Which of two versions is the older is then a question about two lists.
 *
 * That a reader's own version comes after the one it read needs no table: see
 * hf_certainly_before().
 */
#include "verify/rests.h"

struct hf_rests {
    /* who touches the version of slot s: touch_first[s] .. [s + 1] - 1 */
    uint32_t *touch_first;
    hf_txn_id *touch;
    /* per session: the first of a list, where the stamp is the question */
    uint32_t *asked_at;
    hf_txn_id *first_of;
    uint32_t asked;
    bool is_collected; /* the lists are whole */
};

struct hf_rests *hf_rests_new(hf_verifier *v)
{
    return hf_kept_zeros(v, 1, sizeof(struct hf_rests));
}

/* ---- recorded order ------------------------------------------------------ */

const uint64_t *hf_recorded_ranks(hf_verifier *v)
{
    const hf_certificate *cert = &v->h->cert;
    uint64_t *ranks = v->tables.ranks;

    if (cert->n_serial == 0)
        return cert->commit_ts;
    if (ranks)
        return ranks;
    v->tables.ranks = ranks = hf_kept_nones(v, v->h->n_txns, sizeof(*ranks));
    for (uint32_t i = 0; i < cert->n_serial; i++)
        ranks[cert->serial[i]] = i;
    return ranks;
}

bool hf_is_unordered(const hf_verifier *v, hf_key_id key)
{
    const uint64_t *first = v->h->cert.order_first;

    return !(v->facts.key_use[key] & HF_KEY_LIST) &&
           (!first || first[key] == first[key + 1]);
}

bool hf_recorded_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                        hf_key_id key)
{
    const uint64_t *ranks;

    if (!(c->v->w->rests & HF_REST_ORDER) || !hf_is_unordered(c->v, key))
        return false;
    ranks = hf_recorded_ranks(c->v);
    return ranks && ranks[first] != HF_TIME_NONE &&
           ranks[second] != HF_TIME_NONE && ranks[first] < ranks[second];
}

/* ---- touches ------------------------------------------------------------- */

bool hf_certainly_touches(const hf_verifier *v, hf_txn_id t,
                          const hf_item_read *read, hf_txn_id *ret_writer)
{
    hf_value_id value = read->value;
    hf_origin origin = hf_facts_origin(v->h, &v->facts, read, ret_writer);

    if (origin != HF_FROM_TXN)
        return origin == HF_FROM_INITIAL;
    if (*ret_writer == t || v->h->txn_outcome[*ret_writer] == HF_ABORTED)
        return false;
    if (v->facts.key_use[read->key] & HF_KEY_LIST) {
        value = hf_list_last(v->h, value);
        if (v->facts.is_repeated[value])
            return false;
    }
    return hf_facts_is_last(v->h, &v->facts, *ret_writer, value);
}

/* The slot of the version that the read certainly takes from another, or
 * HF_NONE. */
static uint32_t slot_read(const hf_certain *c, hf_txn_id t,
                          const hf_item_read *read)
{
    hf_txn_id writer;

    return hf_certainly_touches(c->v, t, read, &writer) && writer != HF_NONE
               ? hf_facts_slot(&c->v->facts, writer, read->key)
               : HF_NONE;
}

typedef struct collector {
    const hf_certain *c;
    hf_txn_id *own_stamp; /* per key: the last transaction that wrote it */
    uint32_t *next;       /* per slot; NULL while counting */
} collector;

static void add(collector *k, uint32_t slot, hf_txn_id t)
{
    struct hf_rests *r = k->c->rests;

    if (k->next)
        r->touch[k->next[slot]++] = t;
    else
        r->touch_first[slot + 1]++;
}

static void add_read(collector *k, hf_txn_id t, const hf_item_read *read)
{
    uint32_t slot;

    if (k->own_stamp[read->key] == t)
        return;
    slot = slot_read(k->c, t, read);
    if (slot != HF_NONE)
        add(k, slot, t);
}

/* The rows that an aggregate adds up; of a snapshot they are not listed. */
static void add_entries(collector *k, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = k->c->v;
    const hf_key_id *keys = NULL;
    uint32_t n = hf_snapshot_keys(v->entries->snapshots,
                                  hf_op_predicate(v->h, op).table, &keys);

    for (uint32_t i = 0; i < n; i++) {
        hf_item_read entry;

        if (hf_look_at_key(v, op, keys[i]) == HF_LOOK_ITEM &&
            hf_entry_of(v, t, op, keys[i], &entry))
            add_read(k, t, &entry);
    }
}

static void add_touches(collector *k, hf_txn_id t)
{
    hf_verifier *v = k->c->v;
    const hf_history *h = v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        uint32_t n = hf_item_reads(h, op);

        for (uint32_t i = 0; i < n; i++) {
            hf_item_read read = hf_read_at(v, op, i);

            if (hf_look_at(v, op, i) == HF_LOOK_ITEM)
                add_read(k, t, &read);
        }
        if (n == 0 && hf_op_counts(h, op) && hf_has_snapshot(v, op))
            add_entries(k, t, op);
        if (hf_op_writes(h, op))
            k->own_stamp[h->op_key[op]] = t;
    }
    for (uint32_t s = v->facts.write_first[t]; s < v->facts.write_first[t + 1];
         s++)
        add(k, s, t);
}

static bool add_all(collector *k)
{
    hf_verifier *v = k->c->v;

    k->own_stamp = hf_nones(v, v->h->n_keys, sizeof(*k->own_stamp));
    for (hf_txn_id t = 0; t < v->h->n_txns; t++) {
        if (k->c->happened[t])
            add_touches(k, t);
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

static bool collect(const hf_certain *c)
{
    hf_verifier *v = c->v;
    struct hf_rests *r = c->rests;
    uint32_t n_slots = v->facts.write_first[v->h->n_txns];
    collector k = {.c = c};

    if (r->is_collected || v->status != HF_OK)
        return v->status == HF_OK;
    r->touch_first = hf_kept_zeros(v, (size_t)n_slots + 1, sizeof(uint32_t));
    if (!add_all(&k))
        return false;
    k.next = hf_zeros(v, n_slots, sizeof(*k.next));
    for (uint32_t s = 0; s < n_slots; s++) {
        k.next[s] = r->touch_first[s];
        r->touch_first[s + 1] += r->touch_first[s];
    }
    r->touch = hf_kept_zeros(v, r->touch_first[n_slots], sizeof(*r->touch));
    r->asked_at = hf_kept_zeros(v, v->h->n_sessions, sizeof(*r->asked_at));
    r->first_of = hf_kept_nones(v, v->h->n_sessions, sizeof(*r->first_of));
    r->asked = 0;
    r->is_collected = add_all(&k);
    return r->is_collected;
}

/* ---- questions ----------------------------------------------------------- */

/* One of a ended before one of b began. */
static bool before_in_time(const hf_certain *c, uint32_t a, uint32_t b)
{
    const hf_history *h = c->v->h;
    const struct hf_rests *r = c->rests;
    uint64_t end = HF_TIME_NONE, begin = 0;

    for (uint32_t i = r->touch_first[a]; i < r->touch_first[a + 1]; i++) {
        hf_txn_id t = r->touch[i];

        if (h->txn_outcome[t] == HF_COMMITTED && hf_txn_end_time(h, t) < end)
            end = hf_txn_end_time(h, t);
    }
    for (uint32_t i = r->touch_first[b]; i < r->touch_first[b + 1]; i++) {
        uint64_t time = hf_txn_begin_time(h, r->touch[i]);

        if (time != HF_TIME_NONE && time > begin)
            begin = time;
    }
    return end < begin;
}

/* One of a is before one of b in a session. */
static bool before_in_session(const hf_certain *c, uint32_t a, uint32_t b)
{
    const hf_session_id *session = c->v->h->txn_session;
    struct hf_rests *r = c->rests;

    if (++r->asked == 0) { /* once around */
        memset(r->asked_at, 0, c->v->h->n_sessions * sizeof(*r->asked_at));
        r->asked = 1;
    }
    for (uint32_t i = r->touch_first[a]; i < r->touch_first[a + 1]; i++) {
        hf_session_id s = session[r->touch[i]];

        if (r->asked_at[s] == r->asked)
            continue;
        r->asked_at[s] = r->asked;
        r->first_of[s] = r->touch[i];
    }
    for (uint32_t i = r->touch_first[b]; i < r->touch_first[b + 1]; i++) {
        hf_session_id s = session[r->touch[i]];

        if (r->asked_at[s] == r->asked && r->first_of[s] < r->touch[i])
            return true;
    }
    return false;
}

bool hf_rests_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                     hf_key_id key)
{
    unsigned rests = c->v->w->rests;
    uint32_t a, b;

    /* as a certificate's order, it speaks of whoever of these happened */
    if (hf_recorded_before(c, first, second, key))
        return true;
    if (!rests || !c->happened[first] || !c->happened[second])
        return false;
    if (!(rests & (HF_REST_LINEARIZABLE | HF_REST_SEQUENTIAL)) || !collect(c))
        return false;
    a = hf_facts_slot(&c->v->facts, first, key);
    b = hf_facts_slot(&c->v->facts, second, key);
    if (a == HF_NONE || b == HF_NONE)
        return false;
    return ((rests & HF_REST_LINEARIZABLE) && before_in_time(c, a, b)) ||
           ((rests & HF_REST_SEQUENTIAL) && before_in_session(c, a, b));
}

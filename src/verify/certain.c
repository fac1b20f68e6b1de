/* certain.c: see certain.h.
 *
 * Built in O(operations + values); a question about two transactions costs
 * their operations, and where lists contradict each other the lists of a key.
 */
#include "verify/certain.h"

#include "base/vec.h"
#include "verify/rests.h"

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
                     hf_facts_origin(h, &v->facts, &read, &writer) ==
                         HF_FROM_TXN)
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

/* The longest list that t read of each key. */
static void offer_lists(hf_certain *c, hf_txn_id t, const uint32_t *length)
{
    const hf_history *h = c->v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];
        hf_value_id value = h->op_value[op];

        if (!hf_op_reads_item(hf_op_kind_of(h, op)) || !hf_op_counts(h, op) ||
            value == HF_NONE || h->value_type[value] != HF_LIST)
            continue;
        c->is_shown[value] = true;
        if (c->longest[key] == HF_NONE ||
            length[value] > length[c->longest[key]])
            c->longest[key] = value;
    }
}

static bool place_lists(hf_verifier *v, hf_certain *c)
{
    const hf_history *h = v->h;
    uint32_t *length;

    if (!v->facts.has_lists)
        return true;
    length = hf_zeros(v, h->n_values, sizeof(*length));
    c->longest = hf_kept_nones(v, h->n_keys, sizeof(*c->longest));
    c->index = hf_kept_nones(v, h->n_values, sizeof(*c->index));
    c->is_shown = hf_kept_zeros(v, h->n_values, sizeof(*c->is_shown));
    c->met = hf_kept_zeros(v, h->n_values, sizeof(*c->met));
    for (hf_value_id x = 0; x < h->n_values; x++)
        if (h->value_type[x] == HF_LIST)
            length[x] = 1 + (hf_list_parent(h, x) == HF_NONE
                                 ? 0
                                 : length[hf_list_parent(h, x)]);
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        if (c->happened[t])
            offer_lists(c, t, length);
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    for (hf_key_id k = 0; k < h->n_keys; k++)
        for (hf_value_id x = c->longest[k]; x != HF_NONE;
             x = hf_list_parent(h, x))
            c->index[hf_list_last(h, x)] = length[x] - 1;
    return true;
}

const hf_certain *hf_certain_get(hf_verifier *v)
{
    unsigned which = hf_reads_matter(v);
    hf_certain *c = v->certain[which];

    if (c)
        return c;
    c = hf_kept_zeros(v, 1, sizeof(*c));
    c->v = v;
    c->rests = hf_rests_new(v);
    if (!find_happened(v, c))
        return NULL;
    place_certificate(v, c);
    if (!place_lists(v, c))
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
    switch (hf_facts_origin(v->h, &v->facts, &read, &writer)) {
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

/* t's first element in the longest list of key; *ret_sure is false if it may
 * have one more there than is certain. */
static uint32_t list_place(const hf_certain *c, hf_txn_id t, hf_key_id key,
                           bool *ret_sure)
{
    const hf_history *h = c->v->h;
    uint32_t first = HF_NONE;

    *ret_sure = true;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_value_id value;

        if (h->op_key[op] != key || !hf_op_writes(h, op))
            continue;
        value = hf_op_written(h, op);
        if (c->index[value] == HF_NONE)
            continue;
        if (c->v->facts.writer[value] != t)
            *ret_sure = false;
        else if (c->index[value] < first)
            first = c->index[value];
    }
    return first;
}

static bool before_by_longest(const hf_certain *c, hf_txn_id first,
                              hf_txn_id second, hf_key_id key)
{
    bool sure;
    uint32_t a, b;

    if (!(c->v->facts.key_use[key] & HF_KEY_LIST))
        return false;
    a = list_place(c, first, key, &sure);
    if (a == HF_NONE)
        return false;
    b = list_place(c, second, key, &sure);
    return sure && (b == HF_NONE || a < b);
}

/* What a list shows, from its first element to its last. */
#define MET_FIRST 1u  /* one of the two was met */
#define MET_SECOND 2u /* the other was */
#define MET_SHOWN 4u
#define MET_DOUBT 8u /* it shows nothing */

/* Does a list of key that shows it, without doubt, belong to somebody who
 * happened?  Fills c->met of the key's lists with `next`, shorter ones first.
 */
typedef unsigned (*met_next)(const hf_certain *c, unsigned met,
                             hf_value_id element, uint32_t first,
                             uint32_t second);

static bool some_list_shows(const hf_certain *c, hf_key_id key, met_next next,
                            uint32_t first, uint32_t second)
{
    const hf_history *h = c->v->h;
    const hf_key_index *lists = hf_lists_of_keys(c->v);

    if (!lists)
        return false;
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++) {
        hf_value_id x = lists->at[i], up = hf_list_parent(h, x);

        c->met[x] = (uint8_t)next(c, up == HF_NONE ? 0 : c->met[up],
                                  hf_list_last(h, x), first, second);
        if (c->is_shown[x] &&
            (c->met[x] & (MET_SHOWN | MET_DOUBT)) == MET_SHOWN)
            return true;
    }
    return false;
}

/* An element of `first` and none of `second` before it. */
static unsigned met_writer(const hf_certain *c, unsigned met,
                           hf_value_id element, uint32_t first, uint32_t second)
{
    hf_txn_id writer = c->v->facts.writer[element];

    if (writer == HF_SEVERAL)
        return MET_DOUBT;
    if (writer == second)
        return met | MET_SECOND;
    if (writer == first)
        return met | (met & MET_SECOND ? MET_DOUBT : MET_SHOWN);
    return met;
}

static unsigned met_element(const hf_certain *c, unsigned met,
                            hf_value_id element, uint32_t first,
                            uint32_t second)
{
    (void)c;
    if (element == second && (met & MET_FIRST))
        return met | MET_SHOWN;
    return element == first ? met | MET_FIRST : met;
}

/* Any list read will do.  Asked only if the longest does not show it, which
 * happens where lists contradict each other. */
static bool before_by_lists(const hf_certain *c, hf_txn_id first,
                            hf_txn_id second, hf_key_id key)
{
    return (c->v->facts.key_use[key] & HF_KEY_LIST) &&
           some_list_shows(c, key, met_writer, first, second);
}

bool hf_list_has_before(const hf_certain *c, hf_key_id key, hf_value_id first,
                        hf_value_id second)
{
    if (!(c->v->facts.key_use[key] & HF_KEY_LIST) || first == second)
        return false;
    if (c->index[first] != HF_NONE && c->index[second] != HF_NONE &&
        c->index[first] < c->index[second])
        return true;
    return some_list_shows(c, key, met_element, first, second);
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

/* Does t certainly read the last version of key (HF_NONE: of some key) from
 * `source`? */
static bool reads_from(const hf_certain *c, hf_txn_id t, hf_txn_id source,
                       hf_key_id key)
{
    const hf_history *h = c->v->h;

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
                hf_facts_origin(h, &c->v->facts, &read, &writer) ==
                    HF_FROM_TXN &&
                writer == source &&
                hf_certain_source(c, t, op, read.key, &writer) &&
                writer == source)
                return true;
        }
    }
    return false;
}

/* From what the level, or the witness, says of transactions. */
static bool before_by_order(const hf_certain *c, hf_txn_id first,
                            hf_txn_id second, hf_key_id key)
{
    const hf_verifier *v = c->v;

    if (hf_reads_matter(v) &&
        ((v->info->session_order && hf_session_before(v->h, first, second)) ||
         (v->info->real_time && hf_time_before(v->h, first, second)) ||
         reads_from(c, second, first, HF_NONE)))
        return true;
    return ((v->w->rests & HF_REST_READS) && c->happened[first] &&
            reads_from(c, second, first, key)) ||
           hf_rests_before(c, first, second, key);
}

bool hf_certainly_before(const hf_certain *c, hf_txn_id first, hf_txn_id second,
                         hf_key_id key)
{
    const hf_verifier *v = c->v;
    uint32_t a, b = hf_facts_slot(&v->facts, second, key);

    if (first == second || b == HF_NONE || !c->happened[second])
        return false;
    if (first == HF_NONE)
        return true;
    a = hf_facts_slot(&v->facts, first, key);
    if (a == HF_NONE || v->h->txn_outcome[first] == HF_ABORTED)
        return false;
    return before_by_certificate(c, a, b) ||
           before_by_longest(c, first, second, key) ||
           before_by_order(c, first, second, key) ||
           before_by_lists(c, first, second, key);
}

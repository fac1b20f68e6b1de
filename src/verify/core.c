/* core.c: the history restricted to a core.
 *
 * All other transactions are gone.  A read is dropped if it might have come
 * from one of them; a list loses their elements, and is dropped if it then no
 * longer ends as it did, or if an element might be one of theirs.  Dropping
 * only takes demands away, so what is invalid here is invalid in the whole.
 * Reads of keys with increments of unknown result are dropped for the same
 * reason.  A row that a condition did not return is dropped if a removed
 * transaction wrote its key: what changes the matches is then not known.
 * Statements, and conditions that cannot be evaluated, are dropped too, but for
 * who wrote what these looked at; if that leaves a valid rest the answer is
 * "unsupported", not "refused".
 *
 * What is wrong in one transaction whatever the others do (garbage, an own
 * write not seen, an element too often in a list) is settled here; the rest is
 * the search of core_search.c.  O(operations of the history) once in a
 * session; then the operations of the core, the lists they read and the
 * versions of their keys.
 */
#include "verify/core.h"

#include "verify/counters.h"
#include "verify/execute.h"
#include "verify/rests.h"

typedef struct cutter {
    hf_core *c;
    hf_verifier *v;
    hf_notes *local;        /* per key: its local number + 1 */
    hf_key_id *keys;        /* by local number */
    hf_notes *inside;       /* per value: those kept that write it */
    const uint8_t *writers; /* per value: how many write it */
} cutter;

static bool pick(hf_verifier *v, hf_core *c)
{
    const hf_witness *w = v->w;
    hf_notes *kept = hf_notes_begin(v, HF_NOTES_TXNS);

    if (w->n_order == 0)
        return hf_refuse(v, "the core is empty");
    if (w->n_order > HF_CORE_MOST)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "a core of more than %d transactions is not "
                          "enumerated",
                          HF_CORE_MOST);
    for (uint32_t i = 0; i < w->n_order; i++) {
        hf_txn_id t = w->order[i];

        if (hf_note_of(kept, t))
            return hf_refuse(v, "%s is in the core twice",
                             hf_label_txn(v->h, t).text);
        hf_note(kept, t, 1);
        c->txns[i].id = t;
        if (v->h->txn_outcome[t] == HF_COMMITTED)
            c->committed |= 1u << i;
        if (v->h->txn_outcome[t] == HF_UNKNOWN_OUTCOME)
            c->unknown |= 1u << i;
    }
    c->n = w->n_order;
    return true;
}

static uint32_t number_in_core(const hf_core *c, hf_txn_id t)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->txns[i].id == t)
            return i;
    return HF_NONE;
}

/* Does a transaction that is not kept write the value? */
static bool is_outside(const cutter *k, hf_value_id value)
{
    uint32_t n = 0;

    for (unsigned inside = hf_note_of(k->inside, value); inside;
         inside &= inside - 1)
        n++;
    return k->writers[value] > n;
}

/* Does one that is not kept write the key, of whatever outcome? */
static bool is_shared(const cutter *k, hf_key_id key)
{
    const hf_key_index *all = hf_writers_of_keys(k->v);

    for (uint32_t i = all ? all->first[key] : 0; all && i < all->first[key + 1];
         i++)
        if (number_in_core(k->c, all->at[i]) == HF_NONE)
            return true;
    return false;
}

static uint32_t local_of(const cutter *k, hf_key_id key)
{
    return hf_note_of(k->local, key) - 1;
}

static void number_key(cutter *k, hf_key_id key)
{
    if (hf_note_of(k->local, key))
        return;
    k->keys[k->c->n_keys++] = key;
    hf_note(k->local, key, k->c->n_keys);
}

/* Reads that are listed, and operations that may look at every key. */
static uint32_t count_reads(const hf_verifier *v, hf_txn_id t,
                            uint32_t *ret_snapshots)
{
    const hf_history *h = v->h;
    uint32_t n = 0;

    *ret_snapshots = 0;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        n += hf_item_reads(h, op);
        *ret_snapshots += hf_op_has_predicate(hf_op_kind_of(h, op));
    }
    return n;
}

/* Local numbers for the keys the core uses, and who writes what. */
static void number_keys(cutter *k)
{
    const hf_history *h = k->v->h;
    hf_core *c = k->c;
    uint32_t snapshots;
    size_t most = 0;

    for (uint32_t i = 0; i < c->n; i++)
        most += (size_t)count_reads(k->v, c->txns[i].id, &snapshots) +
                h->op_first[c->txns[i].id + 1] - h->op_first[c->txns[i].id];
    k->keys = hf_nones(k->v, most, sizeof(*k->keys));
    for (uint32_t i = 0; i < c->n; i++)
        for (hf_op_id op = h->op_first[c->txns[i].id];
             op < h->op_first[c->txns[i].id + 1]; op++) {
            uint32_t n = hf_item_reads(h, op);

            if (h->op_key[op] != HF_NONE)
                number_key(k, h->op_key[op]);
            for (uint32_t j = 0; j < n; j++)
                number_key(k, hf_item_read_at(h, op, j).key);
            if (hf_op_writes(h, op) && hf_op_written(h, op) != HF_NONE)
                hf_note(k->inside, hf_op_written(h, op),
                        hf_note_of(k->inside, hf_op_written(h, op)) | 1u << i);
        }
    c->writers = hf_zeros(k->v, c->n_keys, sizeof(*c->writers));
}

/* Two writes of one value against the promise of unique values, whoever
 * committed. */
static void keep_promise(cutter *k)
{
    const hf_history *h = k->v->h;
    hf_notes *met = hf_notes_begin(k->v, HF_NOTES_ELEMENTS);

    for (uint32_t i = 0; h->unique_values && i < k->c->n; i++)
        for (hf_op_id op = h->op_first[k->c->txns[i].id];
             op < h->op_first[k->c->txns[i].id + 1]; op++) {
            hf_value_id value;

            if (!hf_op_writes(h, op))
                continue;
            value = hf_op_written(h, op);
            if (value == HF_NONE || h->value_type[value] == HF_NIL)
                continue;
            k->c->broken |= hf_note_of(met, value) > 0;
            hf_note(met, value, 1);
        }
}

/* A read whose writer was recorded; false if it is dropped or wrong. */
static bool named_read(cutter *k, uint32_t i, const hf_item_read *read,
                       hf_core_read *ret)
{
    const hf_history *h = k->v->h;
    bool fine;

    if (read->writer == HF_WRITER_INITIAL) {
        fine = ret->initial;
    } else {
        uint32_t w = number_in_core(k->c, read->writer);

        if (w == HF_NONE)
            return false;
        fine = hf_facts_installs(h, read->writer, read->value);
        ret->initial = false;
    }
    k->c->txns[i].broken |= !fine;
    return fine;
}

/* False if the read is dropped, says nothing, or is wrong by itself. */
static bool register_read(cutter *k, uint32_t i, const hf_item_read *read,
                          hf_op_id own_write, hf_core_read *ret)
{
    const hf_history *h = k->v->h;
    unsigned inside = hf_note_of(k->inside, read->value);
    bool named = read->writer != HF_NONE;

    /* an increment cannot have read its own result */
    if (inside == 1u << i && !k->v->facts.is_repeated[read->value] &&
        hf_op_writes(h, read->op) && hf_op_written(h, read->op) == read->value)
        inside = 0;
    if (own_write != HF_NONE && hf_op_written(h, own_write) == read->value &&
        (!named || read->writer == k->c->txns[i].id))
        return false;
    if (!named && is_outside(k, read->value))
        return false;
    if (own_write != HF_NONE || (!named && !ret->initial && !inside)) {
        k->c->txns[i].broken = true;
        return false;
    }
    return !named || named_read(k, i, read, ret);
}

/* How often the element was appended, by transactions of any outcome. */
static uint32_t count_appends(cutter *k, hf_value_id element)
{
    const hf_history *h = k->v->h;
    uint32_t n = 0;

    if (!k->v->facts.is_repeated[element])
        return k->writers[element] > 0;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        n += hf_op_writes(h, op) && hf_op_written(h, op) == element;
    return n;
}

/* Removes what others appended; false if the read is dropped. */
static bool cut_list(cutter *k, uint32_t i, hf_core_read *r)
{
    const hf_history *h = k->v->h;
    uint32_t length = hf_list_items(h, r->value, NULL), n = 0;
    hf_value_id *items = hf_zeros(k->v, length, sizeof(*items));
    hf_notes *met = hf_notes_begin(k->v, HF_NOTES_ELEMENTS);
    bool keep = !is_outside(k, hf_list_last(h, r->value));

    hf_list_items(h, r->value, items);
    for (uint32_t j = 0; j < length; j++) {
        hf_value_id x = items[j];
        bool inside = hf_note_of(k->inside, x) > 0;

        hf_note(met, x, hf_note_of(met, x) + 1);
        if (hf_note_of(met, x) > count_appends(k, x))
            k->c->txns[i].broken = true;
        if (k->writers[x] > 1 && is_outside(k, x))
            keep = false;
        if (inside)
            items[n++] = x;
    }
    r->items = items;
    r->n_items = n;
    return keep;
}

static hf_match version_match(cutter *k, const hf_condition *condition,
                              hf_txn_id t, hf_key_id key)
{
    const hf_history *h = k->v->h;
    const hf_facts *f = &k->v->facts;
    uint32_t slot;

    if (t == HF_NONE) {
        hf_value_id initial = h->key_initial ? h->key_initial[key] : HF_NONE;

        return initial == HF_NONE
                   ? HF_MATCH_NO
                   : hf_predicate_match(k->v, condition, initial);
    }
    slot = hf_facts_slot(f, t, key);
    return slot == HF_NONE
               ? HF_MATCH_NO
               : hf_predicate_match(k->v, condition,
                                    hf_op_written(h, f->write_op[slot]));
}

/* Which versions of the key satisfy the condition of a view; false if that
 * is not known: then none does, and nobody changes the matches. */
static bool fill_matches(cutter *k, hf_key_id key, hf_core_read *r)
{
    hf_match m = version_match(k, r->view, HF_NONE, key);
    bool known = m != HF_MATCH_UNKNOWN;

    r->initial_matches = m == HF_MATCH_YES;
    for (uint32_t i = 0; i < k->c->n; i++) {
        if (!((k->c->committed | k->c->unknown) & 1u << i))
            continue; /* an aborted version is none */
        m = version_match(k, r->view, k->c->txns[i].id, key);
        known &= m != HF_MATCH_UNKNOWN;
        r->matches |= (unsigned)(m == HF_MATCH_YES) << i;
    }
    if (!known) {
        r->blank = true;
        r->matches = 0;
        r->initial_matches = false;
    }
    k->c->has_views = true;
    k->c->dropped_predicate |= !known;
    return known;
}

/* A sum says something only if all who added to it are kept. */
static bool sum_read(cutter *k, uint32_t i, const hf_item_read *read,
                     hf_core_read *r)
{
    const hf_history *h = k->v->h;
    hf_counted own = hf_count_of(h, k->c->txns[i].id, read->key, read->op);
    hf_held wanted = hf_held_of(h, read->value);

    if (is_shared(k, read->key))
        return false;
    if (own.sets ? !hf_held_is_same(own.held, wanted)
                 : !hf_counter_reaches(k->v, read->key, read->value))
        k->c->txns[i].broken = true;
    r->whole = read->key;
    r->initial = hf_held_is_same(
        hf_held_of(h, h->key_initial ? h->key_initial[read->key] : HF_NONE),
        wanted);
    return !own.sets;
}

/* own_write, own: the last own write of the key before, and their number. */
static void add_read(cutter *k, uint32_t i, const hf_item_read *read,
                     hf_op_id own_write, uint32_t own, bool view)
{
    const hf_history *h = k->v->h;
    hf_core_txn *t = &k->c->txns[i];
    unsigned use = k->v->facts.key_use[read->key];
    uint8_t type = h->value_type[read->value];
    hf_core_read r = {.key = local_of(k, read->key),
                      .value = read->value,
                      .writer = read->writer,
                      .op = read->op,
                      .initial = hf_value_is_initial(h, read->key, read->value),
                      .own = own};

    r.is_list = use & HF_KEY_LIST;
    r.is_sum = hf_is_counter(&k->v->facts, read->key) && !view &&
               !hf_op_has_predicate(hf_op_kind_of(h, read->op));
    if (r.is_sum && sum_read(k, i, read, &r))
        t->reads[t->n_reads++] = r;
    if ((use & HF_KEY_BLIND) ||
        (r.is_list && type != HF_LIST && type != HF_NIL) ||
        (view && (r.is_list || is_shared(k, read->key))))
        return;
    if (!r.is_list && !register_read(k, i, read, own_write, &r))
        return;
    if (r.is_list && type == HF_LIST && !cut_list(k, i, &r))
        return;
    r.view = view ? hf_predicate_condition(k->v, read->op) : NULL;
    if (view)
        (void)fill_matches(k, read->key, &r);
    r.touches = hf_certainly_touches(k->v, t->id, read, &r.touched);
    t->reads[t->n_reads++] = r;
}

static void add_write(cutter *k, uint32_t i, hf_op_id op)
{
    const hf_history *h = k->v->h;
    hf_core_txn *t = &k->c->txns[i];
    uint32_t key = local_of(k, h->op_key[op]);

    t->last[key] = hf_op_written(h, op);
    k->c->writers[key] |= 1u << i;
    if (hf_op_kind_of(h, op) == HF_OP_APPEND)
        t->appends[t->n_appends++] =
            (hf_core_append){key, hf_op_written(h, op)};
}

/* What one transaction wrote so far, per local key. */
typedef struct progress {
    hf_op_id *write; /* the last, or HF_NONE */
    uint32_t *count;
} progress;

/* The entries of a snapshot, of the keys that the core uses: that of another
 * says nothing about these transactions. */
static void cut_entries(cutter *k, uint32_t i, hf_op_id op, const progress *own)
{
    for (uint32_t local = 0; local < k->c->n_keys; local++) {
        hf_look_kind look = hf_look_at_key(k->v, op, k->keys[local]);
        hf_item_read entry;

        if (look != HF_LOOK_SKIP &&
            hf_entry_of(k->v, k->c->txns[i].id, op, k->keys[local], &entry))
            add_read(k, i, &entry, own->write[local], own->count[local],
                     look == HF_LOOK_VIEW);
    }
}

/* What an operation without version set saw of a key that it did not return:
 * some version that does not satisfy its condition, or its own write. */
static void add_unlisted(cutter *k, uint32_t i, hf_op_id op, hf_key_id key,
                         const progress *own)
{
    uint32_t local = local_of(k, key);
    hf_core_txn *t = &k->c->txns[i];
    hf_core_read r = {.key = local,
                      .value = HF_NONE,
                      .writer = HF_NONE,
                      .op = op,
                      .view = hf_predicate_condition(k->v, op),
                      .unlisted = true};

    if (is_shared(k, key))
        return;
    if ((k->v->facts.key_use[key] & (HF_KEY_LIST | HF_KEY_BLIND)) || !r.view) {
        k->c->dropped_predicate = true;
        return;
    }
    if (local == HF_NONE) { /* nobody writes it */
        hf_match m = version_match(k, r.view, HF_NONE, key);

        t->broken |= m == HF_MATCH_YES && hf_reads_matter_to(k->v, t->id);
        k->c->dropped_predicate |= m == HF_MATCH_UNKNOWN;
        return;
    }
    if (own->write[local] != HF_NONE) {
        hf_match m = hf_predicate_match(
            k->v, r.view, hf_op_written(k->v->h, own->write[local]));

        t->broken |= m == HF_MATCH_YES && hf_reads_matter_to(k->v, t->id);
        k->c->dropped_predicate |= m == HF_MATCH_UNKNOWN;
        return;
    }
    if (!fill_matches(k, key, &r))
        return;
    r.initial = !r.initial_matches;
    t->reads[t->n_reads++] = r;
}

/* The keys of its table. */
static void cut_unlisted(cutter *k, uint32_t i, hf_op_id op,
                         const hf_predicate *q, const progress *own)
{
    const hf_history *h = k->v->h;

    for (hf_key_id key = 0; key < h->n_keys; key++) {
        bool returned = false;

        if ((h->key_table ? h->key_table[key] : HF_NONE) != q->table)
            continue;
        for (uint32_t j = 0; j < q->n_results && !returned; j++)
            returned = h->value_key[q->results[j].value] == key;
        if (!returned)
            add_unlisted(k, i, op, key, own);
    }
}

/* An operation of which something is not known.  What it returned was read all
 * the same. */
static void cut_open(cutter *k, uint32_t i, hf_op_id op, const progress *own)
{
    hf_predicate q = hf_op_predicate(k->v->h, op);

    if (q.has_version_set ||
        (hf_op_is_aggregate(hf_op_kind_of(k->v->h, op)) && q.has_result_set))
        k->c->dropped_predicate = true;
    else if (q.has_result_set)
        cut_unlisted(k, i, op, &q, own);
}

static void cut_reads(cutter *k, uint32_t i, hf_op_id op, const progress *own)
{
    const hf_history *h = k->v->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    uint32_t n = hf_item_reads(h, op);
    bool is_open = false;

    if (hf_op_is_opaque(h, op))
        k->c->dropped_predicate = true;
    if (kind == HF_OP_INCREMENT && !hf_increment_adds_up(h, op))
        k->c->txns[i].broken = true;
    if (hf_op_has_predicate(kind)) {
        switch (hf_predicate_judge(k->v, op)) {
        case HF_SET_FINE:
            break;
        case HF_SET_OPEN:
            cut_open(k, i, op, own);
            is_open = true;
            break;
        case HF_SET_UNKNOWN:
            k->c->dropped_predicate = true;
            break;
        default:
            k->c->txns[i].broken = true;
            return;
        }
    }
    if (hf_has_snapshot(k->v, op) && !is_open)
        cut_entries(k, i, op, own);
    for (uint32_t j = 0; j < n; j++) {
        hf_item_read read = hf_item_read_at(h, op, j), entry;
        hf_look_kind look = hf_look_at(k->v, op, j);
        uint32_t key = local_of(k, read.key);

        if (look != HF_LOOK_SKIP &&
            (!hf_has_snapshot(k->v, op) || is_open ||
             !hf_entry_of(k->v, k->c->txns[i].id, op, read.key, &entry)))
            add_read(k, i, &read, own->write[key], own->count[key],
                     look == HF_LOOK_VIEW);
    }
}

/* INT between items and rows that a condition did not return: the item must
 * not satisfy it.  That is the same in all worlds. */
static void compare_views(cutter *k, hf_core_txn *t)
{
    bool internal = hf_level_of(k->v, t->id)->internal;

    for (uint32_t i = 0; internal && i < t->n_reads; i++)
        for (uint32_t j = 0;
             t->reads[i].view && !t->reads[i].blank && j < t->n_reads; j++)
            if (!t->reads[j].view && t->reads[j].key == t->reads[i].key &&
                hf_predicate_match(k->v, t->reads[i].view, t->reads[j].value) ==
                    HF_MATCH_YES)
                t->broken = true;
}

static bool cut_transaction(cutter *k, uint32_t i)
{
    const hf_history *h = k->v->h;
    hf_core_txn *t = &k->c->txns[i];
    hf_op_id first = h->op_first[t->id], end = h->op_first[t->id + 1];
    uint32_t n, snapshots;
    progress own = {.write = hf_nones(k->v, k->c->n_keys, sizeof(*own.write)),
                    .count = hf_zeros(k->v, k->c->n_keys, sizeof(*own.count))};

    n = count_reads(k->v, t->id, &snapshots);
    t->reads =
        hf_zeros(k->v, n + (size_t)snapshots * k->c->n_keys, sizeof(*t->reads));
    t->appends = hf_zeros(k->v, end - first, sizeof(*t->appends));
    t->last = hf_nones(k->v, k->c->n_keys, sizeof(*t->last));
    for (hf_op_id op = first; op < end; op++) {
        if (hf_op_counts(h, op) && h->txn_outcome[t->id] != HF_ABORTED)
            cut_reads(k, i, op, &own);
        if (hf_op_writes(h, op)) {
            uint32_t key = local_of(k, h->op_key[op]);

            add_write(k, i, op);
            own.write[key] = op;
            own.count[key]++;
        }
        if (hf_out_of_budget(k->v))
            return false;
    }
    compare_views(k, t);
    return true;
}

/* ---- demands on the order ------------------------------------------------ */

static void keep_certificate(cutter *k)
{
    const hf_history *h = k->v->h;
    hf_core *c = k->c;

    for (uint32_t local = 0; h->cert.order_first && local < c->n_keys;
         local++) {
        unsigned writers = c->writers[local], before = 0;
        hf_key_id key = k->keys[local];

        if (!(writers & (writers - 1))) /* fewer than two */
            continue;
        for (uint64_t p = h->cert.order_first[key];
             p < h->cert.order_first[key + 1]; p++) {
            uint32_t i = number_in_core(c, h->cert.order_txn[p]);

            if (i == HF_NONE || !(writers & 1u << i))
                continue;
            c->txns[i].before |= before & ~(1u << i);
            before |= 1u << i;
        }
    }
}

static bool precedes_in_time(const hf_history *h, hf_txn_id a, hf_txn_id b)
{
    uint64_t end = hf_txn_end_time(h, a), begin = hf_txn_begin_time(h, b);

    return h->txn_outcome[a] == HF_COMMITTED && end != HF_TIME_NONE &&
           begin != HF_TIME_NONE && end < begin;
}

static void keep_order(hf_core *c)
{
    const hf_history *h = c->v->h;

    for (uint32_t i = 0; i < c->n; i++) {
        const hf_level_info *info = hf_level_of(c->v, c->txns[i].id);

        for (uint32_t j = 0; j < c->n; j++) {
            hf_txn_id a = c->txns[j].id, b = c->txns[i].id;

            if (info->session_order && a < b &&
                h->txn_session[a] == h->txn_session[b])
                c->txns[i].session |= 1u << j;
            if (info->real_time && precedes_in_time(h, a, b))
                c->txns[i].follows |= 1u << j;
        }
        c->txns[i].follows |= c->txns[i].session;
        c->txns[i].before |= c->txns[i].follows;
    }
}

bool hf_core_build(hf_verifier *v, hf_core *ret)
{
    cutter k = {.c = ret, .v = v};

    *ret = (hf_core){.v = v};
    if (!pick(v, ret))
        return false;
    k.local = hf_notes_begin(v, HF_NOTES_KEYS);
    k.inside = hf_notes_begin(v, HF_NOTES_VALUES);
    k.writers = hf_writer_counts(v);
    if (!k.writers)
        return false;
    number_keys(&k);
    keep_promise(&k);
    for (uint32_t i = 0; i < ret->n; i++)
        if (!cut_transaction(&k, i))
            return false;
    keep_certificate(&k);
    keep_order(ret);
    return true;
}

bool hf_verify_core(hf_verifier *v)
{
    hf_core *c = hf_zeros(v, 1, sizeof(*c));

    if (v->w->n_order > HF_CORE_MOST)
        return hf_verify_executed(v);
    if (!hf_core_build(v, c))
        return false;
    if (!hf_core_has_order(c))
        return v->status == HF_OK && hf_verify_small(v);
    if (c->dropped_predicate)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "the core has predicate operations or statements, "
                          "whose conditions are not evaluated");
    return hf_refuse(v, "these transactions alone are valid at %s",
                     v->w->mixed ? "their levels" : v->info->name);
}

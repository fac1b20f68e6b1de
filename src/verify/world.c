/* world.c: settles every read of the transactions in an order.
 *
 * One pass over the operations of the transactions in the witness, in the
 * order of the history.  What a transaction wrote so far is kept in arrays
 * indexed by key, stamped with the transaction, so nothing is cleared between
 * transactions.  O(operations), plus a binary search for each read whose
 * value was written more than once.
 */
#include "base/sort.h"
#include "verify/counters.h"
#include "verify/expected.h"
#include "verify/reader.h"
#include "verify/rests.h"
#include "verify/sources.h"

static bool refuse_read(hf_verifier *v, hf_txn_id t, hf_key_id key,
                        const char *what)
{
    return hf_refuse(v, "%s reads %s of key %s", hf_label_txn(v->h, t).text,
                     what, hf_label_key(v->h, key).text);
}

/* The entry of `sources` for a read, or NULL. */
static const hf_source *entry_of(const hf_verifier *v, hf_op_id op,
                                 uint32_t index)
{
    uint32_t low = 0, high = v->w->n_sources;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const hf_source *s = &v->w->sources[middle];

        if (s->op < op || (s->op == op && s->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == v->w->n_sources || v->w->sources[low].op != op ||
        v->w->sources[low].index != index)
        return NULL;
    return &v->w->sources[low];
}

/* Of rows without a version set: it names a version of the key. */
static bool is_look(hf_verifier *v, const hf_source *s)
{
    uint32_t n = hf_item_reads(v->h, s->op);
    hf_key_id key = s->index - n;

    return s->index >= n && key < v->h->n_keys &&
           hf_is_unlisted(v, hf_op_txn(v->h, s->op), s->op, key) &&
           (s->writer == HF_NONE || hf_facts_writes(&v->facts, s->writer, key));
}

/* `sources` is sorted and each entry names a write of the value read. */
static bool check_entries(hf_verifier *v)
{
    const hf_history *h = v->h;
    const hf_source *s = v->w->sources;

    for (uint32_t i = 0; i < v->w->n_sources; i++) {
        hf_item_read read;
        hf_value_id value;
        bool real;

        if (i > 0 && (s[i].op < s[i - 1].op ||
                      (s[i].op == s[i - 1].op && s[i].index <= s[i - 1].index)))
            return hf_refuse(v, "the sources are not in ascending order");
        if (is_look(v, &s[i]))
            continue;
        if (s[i].index >= hf_item_reads(h, s[i].op))
            return hf_refuse(v,
                             "source %u is about operation %u, which "
                             "does not read that much",
                             (unsigned)i, (unsigned)s[i].op);
        read = hf_item_read_at(h, s[i].op, s[i].index);
        value = read.value;
        if ((v->facts.key_use[read.key] & HF_KEY_LIST) &&
            h->value_type[value] == HF_LIST)
            value = hf_list_last(h, value);
        if (hf_is_counter(&v->facts, read.key))
            real = s[i].writer == HF_NONE ||
                   hf_facts_writes(&v->facts, s[i].writer, read.key);
        else if (s[i].writer == HF_NONE)
            real = hf_value_is_initial(h, read.key, value);
        else
            real = hf_facts_is_last(h, &v->facts, s[i].writer, value) ||
                   hf_facts_installs(h, s[i].writer, value);
        if (!real)
            return hf_refuse(v,
                             "source %u names a transaction that did not "
                             "write the value of operation %u",
                             (unsigned)i, (unsigned)s[i].op);
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* The source of a register read of others, from read-committed up. */
static bool settle(hf_reader *r, hf_txn_id t, hf_op_id op, uint32_t index,
                   const hf_item_read *read, hf_txn_id *ret_source)
{
    hf_verifier *v = r->v;
    const hf_source *entry = entry_of(v, op, index);
    hf_txn_id writer;
    hf_origin origin = hf_facts_origin(v->h, &v->facts, read, &writer);

    if (origin == HF_FROM_NOBODY)
        return refuse_read(v, t, read->key, "a value that nobody wrote");
    if (origin == HF_FROM_SEVERAL) {
        if (!entry)
            return refuse_read(v, t, read->key,
                               "a value that several wrote, and the witness "
                               "does not say which,");
        writer = entry->writer;
    } else if (entry && entry->writer != writer) {
        return hf_refuse(v,
                         "the witness names a source for operation %u "
                         "that the history contradicts",
                         (unsigned)op);
    }
    *ret_source = writer;
    if (writer == HF_NONE)
        return true;
    if (writer == t)
        return refuse_read(v, t, read->key, "its own later write");
    if (r->w->place[writer] == HF_NONE)
        return refuse_read(v, t, read->key,
                           "the version of a transaction that is not in the "
                           "order (aborted read)");
    if (!hf_facts_is_last(v->h, &v->facts, writer, read->value))
        return refuse_read(v, t, read->key,
                           "a version that its writer overwrote itself "
                           "(intermediate read)");
    return true;
}

/* The same at read-uncommitted, where a read may come from anywhere: the
 * version it certainly touches if there is one, else HF_SEVERAL.  Only an
 * assumption asks for it. */
static bool settle_loosely(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                           hf_txn_id *ret_source)
{
    hf_verifier *v = r->v;
    hf_txn_id writer;

    if (hf_facts_origin(v->h, &v->facts, read, &writer) == HF_FROM_NOBODY)
        return refuse_read(v, t, read->key, "a value that nobody wrote");
    if ((v->w->rests & HF_REST_TOUCHES) &&
        hf_certainly_touches(v, t, read, &writer) &&
        (writer == HF_NONE || r->w->place[writer] != HF_NONE))
        *ret_source = writer;
    return true;
}

/* A read after an own write; registers only. */
static bool check_own(hf_reader *r, hf_txn_id t, const hf_item_read *read)
{
    hf_verifier *v = r->v;

    if (hf_op_written(v->h, r->own_op[read->key]) == read->value &&
        (read->writer == HF_NONE || read->writer == t))
        return true;
    return refuse_read(v, t, read->key, "something else than its own write");
}

void hf_world_add_read(hf_world *w, hf_world_read read)
{
    if (w->n_reads == w->cap_reads)
        hf_vec_grow((void **)&w->reads, &w->cap_reads, w->n_reads + 1,
                    sizeof(*w->reads));
    w->reads[w->n_reads++] = read;
}

/* The source is settled: INT, and what it means for the order. */
static bool keep(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                 hf_txn_id source, bool view)
{
    if (hf_level_of(r->v, t)->internal &&
        !hf_reader_see(r, t, read, source,
                       view ? hf_predicate_condition(r->v, read->op) : NULL))
        return false;
    if (view)
        return hf_reader_view(r, t, read, source);
    hf_world_add_read(r->w, (hf_world_read){.key = read->key,
                                            .source = source,
                                            .op = read->op,
                                            .kind = HF_READ_ITEM});
    return true;
}

static bool take_list(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                      uint32_t index, hf_txn_id *ret_source)
{
    const hf_source *entry = entry_of(r->v, read->op, index);
    bool own = r->own_stamp[read->key] == t;

    if (!hf_world_read_list(r->v, r->w, t, read,
                            own ? r->own_count[read->key] : 0, ret_source))
        return false;
    if (*ret_source != HF_SEVERAL && entry && entry->writer != *ret_source)
        return hf_refuse(r->v,
                         "the witness names a source for operation %u that "
                         "its order contradicts",
                         (unsigned)read->op);
    return true;
}

/* index: of the witness's sources; HF_NONE if the writer is known. */
static bool take_read(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                      uint32_t index, bool view)
{
    hf_verifier *v = r->v;
    unsigned use = v->facts.key_use[read->key];
    hf_txn_id source = HF_SEVERAL;

    if (hf_is_counter(&v->facts, read->key) &&
        !hf_op_has_predicate(hf_op_kind_of(v->h, read->op))) {
        if (r->own_stamp[read->key] == t)
            return hf_world_read_own(v, r->w, t, read);
        return hf_world_read_counter(v, r->w, t, read,
                                     entry_of(v, read->op, index), &source) &&
               (source == HF_SEVERAL || keep(r, t, read, source, view));
    }
    if (use & HF_KEY_BLIND)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "key %s is read and has increments without results",
                          hf_label_key(v->h, read->key).text);
    if (use & HF_KEY_LIST) {
        if (!take_list(r, t, read, index, &source))
            return false;
    } else if (r->own_stamp[read->key] == t) {
        return check_own(r, t, read);
    } else if (hf_reads_matter_to(v, t)) {
        if (!settle(r, t, read->op, index, read, &source))
            return false;
    } else if (!settle_loosely(r, t, read, &source)) {
        return false;
    }
    if (source == HF_SEVERAL || (view && !hf_reads_matter_to(v, t)))
        return true;
    return keep(r, t, read, source, view);
}

/* ---- predicates ---------------------------------------------------------- */

/* Neither a version set nor a result. */
static bool says_nothing(hf_verifier *v, hf_txn_id t, hf_op_id op)
{
    hf_predicate q = hf_op_predicate(v->h, op);

    return !q.has_version_set && !q.has_result_set &&
           (q.snapshot == HF_SNAPSHOT_NONE ||
            (hf_has_snapshot(v, op) && !hf_is_whole(v, t, op)));
}

static const hf_source *look_of(const hf_verifier *v, hf_op_id op,
                                hf_key_id key)
{
    return entry_of(v, op, hf_item_reads(v->h, op) + key);
}

/* Does the witness say of every key of which it matters what rows without a
 * version set looked at?  O(versions of the table), where no order tells it. */
static bool is_told(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = r->v;
    bool any = v->w->mixed || (v->w->kind == HF_WITNESS_COMMIT &&
                               v->level != HF_READ_COMMITTED);

    if (!hf_has_open_table(v, t, op))
        return false;
    for (hf_key_id key = 0; key < v->h->n_keys && !any; key++)
        any = look_of(v, op, key) != NULL;
    for (hf_key_id key = 0; key < v->h->n_keys && any; key++)
        if (hf_is_unlisted(v, t, op, key) && r->own_stamp[key] != t &&
            !look_of(v, op, key) && hf_unlisted_any(v, op, key) != HF_MATCH_NO)
            return false;
    return any && !hf_out_of_budget(v);
}

/* ... and then it is as if they were listed. */
static bool take_unlisted(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = r->v;

    for (hf_key_id key = 0; key < v->h->n_keys; key++) {
        const hf_source *look = look_of(v, op, key);
        hf_item_read read = {key, HF_NONE, HF_NONE, op};
        bool own = r->own_stamp[key] == t, missed;

        if ((!look && !own) || !hf_is_unlisted(v, t, op, key))
            continue;
        if (look && look->writer != HF_NONE &&
            (look->writer == t || r->w->place[look->writer] == HF_NONE))
            return refuse_read(v, t, key,
                               "the version of a transaction that is not in "
                               "the order (aborted read)");
        missed =
            own ? hf_predicate_match(v, hf_predicate_condition(v, op),
                                     hf_op_written(v->h, r->own_op[key])) !=
                      HF_MATCH_NO
                : hf_unlisted_match(v, op, key, look->writer) != HF_MATCH_NO;
        if (missed)
            return hf_refuse(v,
                             "operation %u of %s does not return key %s, and "
                             "looked at a version that may satisfy its "
                             "condition",
                             (unsigned)(op - v->h->op_first[t] + 1),
                             hf_label_txn(v->h, t).text,
                             hf_label_key(v->h, key).text);
        if (!own && !keep(r, t, &read, look->writer, true))
            return false;
    }
    return true;
}

static bool accept_sets(hf_reader *r, hf_txn_id t, hf_op_id op,
                        hf_set_fault fault)
{
    hf_verifier *v = r->v;

    switch (fault) {
    case HF_SET_TWO_VERSIONS:
        return hf_refuse(v, "operation %u of %s has two versions of one key",
                         (unsigned)(op - v->h->op_first[t] + 1),
                         hf_label_txn(v->h, t).text);
    case HF_SET_MISMATCH:
        return hf_refuse(v,
                         "operation %u of %s does not return what its "
                         "condition gives",
                         (unsigned)(op - v->h->op_first[t] + 1),
                         hf_label_txn(v->h, t).text);
    case HF_SET_UNKNOWN:
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "operation %u of %s has a condition that cannot be "
                          "evaluated, or a result that cannot be computed",
                          (unsigned)(op - v->h->op_first[t] + 1),
                          hf_label_txn(v->h, t).text);
    case HF_SET_OPEN: /* the witness, or the state, must say it, then */
        if (!hf_reads_matter_to(v, t) || says_nothing(v, t, op))
            return true;
        if (is_told(r, t, op))
            return take_unlisted(r, t, op);
        if (v->w->mixed)
            return hf_give_up(v, HF_ERR_UNSUPPORTED,
                              "the witness does not say what a condition "
                              "without version set looked at");
        return hf_expected_open(v, r->w, t, op);
    default:
        return true;
    }
}

/* An entry of a snapshot that is no row. */
static bool take_entry(hf_reader *r, hf_txn_id t, hf_op_id op, hf_key_id key)
{
    hf_look_kind look = hf_look_at_key(r->v, op, key);
    hf_item_read entry;

    return look == HF_LOOK_SKIP || !hf_entry_of(r->v, t, op, key, &entry) ||
           take_read(r, t, &entry, HF_NONE, look == HF_LOOK_VIEW);
}

static bool take_all_entries(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = r->v;
    const hf_key_id *keys = NULL;
    uint32_t n = hf_snapshot_keys(v->entries->snapshots,
                                  hf_op_predicate(v->h, op).table, &keys);

    for (uint32_t i = 0; i < n; i++) {
        if (!take_entry(r, t, op, keys[i]))
            return false;
        if ((i & 0xfff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* Those that may be another than is current; all, if all views are wanted. */
static bool take_entries(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    const hf_world *w = r->w;

    if (!hf_reads_matter_to(r->v, t))
        return true;
    if (w->is_full && (!w->wanted || w->wanted[t]))
        return take_all_entries(r, t, op);
    while (r->suspect < w->n_suspects && w->suspects[r->suspect].key < op)
        r->suspect++;
    for (; r->suspect < w->n_suspects && w->suspects[r->suspect].key == op;
         r->suspect++)
        if (!take_entry(r, t, op, (hf_key_id)w->suspects[r->suspect].value))
            return false;
    return true;
}

static bool take_predicate(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = r->v;
    uint32_t n = hf_item_reads(v->h, op);
    uint32_t n_versions = hf_op_predicate(v->h, op).n_versions;
    bool snapshot = hf_has_snapshot(v, op);
    const uint8_t *judged = snapshot ? hf_judge_snapshots(v) : NULL;

    if (snapshot && !judged)
        return false;
    if (!accept_sets(r, t, op,
                     snapshot ? (hf_set_fault)judged[op]
                              : hf_predicate_judge(v, op)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        hf_look_kind look = hf_look_at(v, op, i);
        hf_item_read read = hf_read_at(v, op, i);

        /* where reads do not matter, every version must still exist */
        if (look == HF_LOOK_SKIP && i < n_versions && !hf_reads_matter_to(v, t))
            look = HF_LOOK_VIEW;
        if (look != HF_LOOK_SKIP &&
            !take_read(r, t, &read, i, look == HF_LOOK_VIEW))
            return false;
    }
    return !snapshot || take_entries(r, t, op);
}

/* ---- operations ---------------------------------------------------------- */

static bool take_operation(hf_reader *r, hf_txn_id t, hf_op_id op)
{
    hf_verifier *v = r->v;
    hf_op_kind kind = hf_op_kind_of(v->h, op);
    hf_item_read read;

    if (!hf_op_counts(v->h, op))
        return true;
    if (hf_op_is_opaque(v->h, op))
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "%s has a SQL statement, which is not judged",
                          hf_label_txn(v->h, t).text);
    if (kind == HF_OP_INCREMENT && !hf_increment_adds_up(v->h, op))
        return refuse_read(v, t, v->h->op_key[op],
                           "and writes values that do not add up");
    if (hf_op_has_predicate(kind))
        return take_predicate(r, t, op);
    if (hf_item_reads(v->h, op) == 0)
        return true;
    read = hf_item_read_at(v->h, op, 0);
    return take_read(r, t, &read, 0, false);
}

static bool take_transaction(hf_reader *r, hf_txn_id t)
{
    const hf_history *h = r->v->h;

    r->seen.n = 0;
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];

        if (!take_operation(r, t, op))
            return false;
        if (!hf_op_writes(h, op))
            continue;
        if (r->own_stamp[key] != t)
            r->own_count[key] = 0;
        r->own_stamp[key] = t;
        r->own_op[key] = op;
        r->own_count[key]++;
    }
    return !r->v->entries || !hf_level_of(r->v, t)->internal ||
           hf_reader_compare(r, t);
}

static bool take_all(hf_reader *r)
{
    const hf_history *h = r->v->h;
    hf_world *w = r->w;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        w->read_first[t] = (uint32_t)w->n_reads;
        if (w->place[t] != HF_NONE && !take_transaction(r, t))
            return false;
        if (w->n_reads >= HF_NONE)
            return hf_give_up(r->v, HF_ERR_LIMIT, "more than 2^32 reads");
        if ((t & 0xff) == 0 && hf_out_of_budget(r->v))
            return false;
    }
    w->read_first[h->n_txns] = (uint32_t)w->n_reads;
    return true;
}

/* Only a condition can make more than one read of an operation. */
static void make_room(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;

    w->reads_grow = v->facts.has_predicates;
    if (w->reads_grow)
        return; /* what is there from before is used again */
    w->cap_reads = 0;
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        w->cap_reads += hf_op_reads_item(kind) || kind == HF_OP_INCREMENT;
    }
    w->reads = hf_zeros(v, w->cap_reads, sizeof(*w->reads));
}

static bool take_reads(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;
    hf_reader r = {.v = v, .w = w};
    bool fine;

    make_room(v, w);
    if (v->facts.has_predicates)
        hf_world_collect_writers(v, w);
    if ((!w->is_full || w->wanted) && v->entries && hf_reads_matter(v) &&
        !hf_world_find_suspects(v, w))
        return false;
    w->read_first = hf_zeros(v, (size_t)h->n_txns + 1, sizeof(uint32_t));
    r.own_stamp = hf_nones(v, h->n_keys, sizeof(hf_txn_id));
    r.own_op = hf_nones(v, h->n_keys, sizeof(hf_op_id));
    r.own_count = hf_zeros(v, h->n_keys, sizeof(uint32_t));
    r.seen_stamp = hf_nones(v, h->n_keys, sizeof(hf_txn_id));
    r.seen_last = hf_nones(v, h->n_keys, sizeof(uint32_t));
    fine = take_all(&r);
    hf_vec_release(&r.seen);
    return fine;
}

void hf_world_release(hf_world *w)
{
    if (w->reads_grow)
        hf_free(w->reads);
    w->reads = NULL;
    w->n_reads = w->cap_reads = 0;
}

/* ---- writers ------------------------------------------------------------- */

void hf_world_collect_writers(hf_verifier *v, hf_world *w)
{
    const hf_facts *f = &v->facts;
    uint32_t n_keys = v->h->n_keys;
    uint32_t *next;

    if (w->writers)
        return;
    next = hf_zeros(v, n_keys, sizeof(*next));
    w->writer_first = hf_zeros(v, (size_t)n_keys + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t s = f->write_first[w->at[i]];
             s < f->write_first[w->at[i] + 1]; s++)
            w->writer_first[f->write_key[s] + 1]++;
    for (hf_key_id k = 0; k < n_keys; k++) {
        w->writer_first[k + 1] += w->writer_first[k];
        next[k] = w->writer_first[k];
    }
    w->writers = hf_nones(v, w->writer_first[n_keys], sizeof(*w->writers));
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t s = f->write_first[w->at[i]];
             s < f->write_first[w->at[i] + 1]; s++)
            w->writers[next[f->write_key[s]]++] = w->at[i];
}

uint32_t hf_world_writer_from(const hf_world *w, hf_key_id key, int64_t place)
{
    uint32_t low = w->writer_first[key], high = w->writer_first[key + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((int64_t)w->place[w->writers[middle]] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the rest ------------------------------------------------------------ */

/* Moves on past the entries of key that are not in the world, to one that is,
 * or, if `t` is next, past that. */
static void move_on(const hf_verifier *v, const hf_world *w, hf_key_id key,
                    hf_txn_id t, uint64_t *next)
{
    const hf_certificate *c = &v->h->cert;

    for (; next[key] < c->order_first[key + 1]; next[key]++) {
        hf_txn_id listed = c->order_txn[next[key]];

        if (listed == t) {
            next[key]++;
            return;
        }
        if (w->place[listed] != HF_NONE &&
            hf_facts_writes(&v->facts, listed, key))
            return;
    }
}

/* A version that did not come when it was next came before the one before. */
static bool refuse_version(hf_verifier *v, const hf_world *w, hf_key_id key,
                           uint64_t at)
{
    const hf_certificate *c = &v->h->cert;
    hf_txn_id early = c->order_txn[at], late;

    do
        late = c->order_txn[--at];
    while (w->place[late] == HF_NONE || !hf_facts_writes(&v->facts, late, key));
    return hf_refuse(v,
                     "the certificate puts %s before %s in the versions of "
                     "key %s",
                     hf_label_txn(v->h, late).text,
                     hf_label_txn(v->h, early).text,
                     hf_label_key(v->h, key).text);
}

/* Along the order, each version that is next in the certificate moves its key
 * on; if one is left over, it came too early. */
static bool keeps_certificate(hf_verifier *v, const hf_world *w)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    uint64_t *next;

    if (!h->cert.order_first)
        return true;
    next = hf_zeros(v, h->n_keys, sizeof(*next));
    memcpy(next, h->cert.order_first, h->n_keys * sizeof(*next));
    for (uint32_t i = 0; i < w->n; i++) {
        hf_txn_id t = w->at[i];

        for (uint32_t s = f->write_first[t]; s < f->write_first[t + 1]; s++)
            move_on(v, w, f->write_key[s], t, next);
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        move_on(v, w, k, HF_NONE, next);
        if (next[k] < h->cert.order_first[k + 1])
            return refuse_version(v, w, k, next[k]);
    }
    return true;
}

static bool keeps_promise(hf_verifier *v)
{
    hf_value_id value = v->facts.repeated;

    return !v->h->unique_values || value == HF_NONE ||
           hf_refuse(v,
                     "a value of key %s is written twice, against the "
                     "promise of unique values",
                     hf_label_key(v->h, v->h->value_key[value]).text);
}

bool hf_world_read_again(hf_verifier *v, hf_world *w, uint32_t *now)
{
    w->n_reads = 0;
    w->now = now;
    return take_reads(v, w);
}

bool hf_world_read_fully(hf_verifier *v, hf_world *w, const bool *wanted)
{
    w->n_reads = 0;
    w->is_full = true;
    w->wanted = wanted;
    return take_reads(v, w);
}

bool hf_world_build(hf_verifier *v, hf_world *w)
{
    /* an aggregate touches every row that it adds up; with mixed levels the
     * views of one may matter to another */
    w->is_full = (v->w->rests & HF_REST_TOUCHES) || v->w->mixed;
    return check_entries(v) && keeps_promise(v) && keeps_certificate(v, w) &&
           hf_world_build_lists(v, w) && hf_world_count(v, w) &&
           take_reads(v, w);
}

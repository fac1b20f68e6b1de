/* part_conditions.c: what is left of a predicate operation in a part.
 *
 * An entry of the version set stays if its version is one of the part and
 * nobody who is gone wrote the key, for then what changed the matches is not
 * known any more; one that was returned stays as the read it is.  Its row stays
 * or goes with it.  An aggregate of which something is gone says nothing about
 * its result, but it did look at what is left.  Without a version set, rows
 * speak of every other key of the table: they do in the part as well if nobody
 * who is gone wrote one of these and all rows are left, and else of themselves
 * alone, which a version set says.
 *
 * O(entries and rows); a snapshot has an entry for each key of its table.
 */
#include "base/map.h"
#include "history/part_cut.h"

typedef HF_VEC(hf_version_ref) ref_list;

/* What a condition looked at of one key. */
typedef struct entry {
    hf_key_id key;
    hf_value_id value; /* of the whole; HF_NONE: nil */
    hf_txn_id writer;
} entry;

/* A condition that is cut. */
typedef struct looker {
    const hf_cut *c;
    hf_op_id op; /* of the whole */
    hf_op_kind kind;
    hf_predicate q;
    bool aggregate, has_set;
    const hf_key_id *keys;   /* of a snapshot */
    uint32_t n_entries;      /* of the version set, or the snapshot */
    hf_map rows, entries;    /* by key: their numbers; entries of a list */
    ref_list versions, left; /* entries and rows that stay, of the part */
} looker;

static entry entry_of(const hf_cut *c, hf_version_ref ref)
{
    return (entry){c->h->value_key[ref.value], ref.value, ref.writer};
}

/* What the snapshot holds; writer HF_NONE: the certificate does not say. */
static entry snapshot_entry(const hf_cut *c, hf_op_id op, hf_key_id key)
{
    hf_op_id from =
        hf_snapshot_version(c->p->snapshots, hf_op_txn(c->h, op), op, key);
    entry e = {key, HF_NONE, HF_WRITER_INITIAL};

    if (from == HF_NONE) {
        e.writer = HF_NONE;
    } else if (from == HF_WRITER_INITIAL) {
        e.value = c->h->key_initial ? c->h->key_initial[key] : HF_NONE;
    } else {
        e.writer = hf_op_txn(c->h, from);
        (void)hf_part_writes(c->h, from, &e.value);
    }
    return e;
}

/* Does the certificate say of every key what the snapshot holds?  Else the
 * operation has no version set.  Found out once. */
static bool is_snapshot_known(const looker *l)
{
    enum { NOT_ASKED, KNOWN, NOT_KNOWN };
    uint8_t *known = &l->c->p->known[l->op];

    for (uint32_t i = 0; *known == NOT_ASKED && i < l->n_entries; i++) {
        entry e = snapshot_entry(l->c, l->op, l->keys[i]);

        if (e.writer == HF_NONE ||
            (e.writer != HF_WRITER_INITIAL && e.value == HF_NONE))
            *known = NOT_KNOWN;
    }
    if (*known == NOT_ASKED)
        *known = KNOWN;
    return *known == KNOWN;
}

static looker look_at(const hf_cut *c, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(c->h, op);
    looker l = {.c = c,
                .op = op,
                .kind = kind,
                .q = hf_op_predicate(c->h, op),
                .aggregate = hf_op_is_aggregate(kind)};

    hf_map_init(&l.rows);
    hf_map_init(&l.entries);
    for (uint32_t i = 0; i < l.q.n_results; i++)
        (void)hf_map_add(&l.rows, c->h->value_key[l.q.results[i].value], i);
    l.has_set = l.q.has_version_set;
    l.n_entries = l.q.n_versions;
    if (l.q.snapshot != HF_SNAPSHOT_NONE) {
        l.n_entries = hf_snapshot_keys(c->p->snapshots, l.q.table, &l.keys);
        l.has_set = is_snapshot_known(&l);
        if (!l.has_set)
            l.n_entries = 0;
    } else if (l.q.n_results > 0) {
        for (uint32_t i = 0; i < l.q.n_versions; i++)
            (void)hf_map_add(&l.entries, c->h->value_key[l.q.versions[i].value],
                             i);
    }
    return l;
}

static void look_away(looker *l)
{
    hf_map_release(&l->rows);
    hf_map_release(&l->entries);
    hf_vec_release(&l->versions);
    hf_vec_release(&l->left);
}

/* Is the version one of the part? */
static bool is_left(const hf_cut *c, const entry *e)
{
    if (c->p->blind[e->key] || c->p->lists[e->key])
        return false;
    if (e->writer == HF_NONE)
        return !hf_cut_is_outside(c, e->value);
    return e->writer == HF_WRITER_INITIAL || c->p->kept[e->writer];
}

/* Entry i; false: it does not stay. */
static bool entry_stays(const looker *l, uint32_t i, entry *ret)
{
    hf_key_id key =
        l->keys ? l->keys[i] : l->c->h->value_key[l->q.versions[i].value];
    bool returned = !l->aggregate && hf_map_get(&l->rows, key) != UINT32_MAX;

    if (!returned && hf_cut_is_shared(l->c, key))
        return false;
    *ret = l->keys ? snapshot_entry(l->c, l->op, key)
                   : entry_of(l->c, l->q.versions[i]);
    return is_left(l->c, ret);
}

/* A row stays with its entry, if it has one. */
static bool row_stays(const looker *l, uint32_t i, entry *ret)
{
    entry e = entry_of(l->c, l->q.results[i]);
    uint32_t at = hf_map_get(&l->entries, e.key);

    *ret = e;
    if (l->has_set && l->keys)
        e = snapshot_entry(l->c, l->op, e.key);
    else if (at != UINT32_MAX)
        e = entry_of(l->c, l->q.versions[at]);
    return is_left(l->c, &e);
}

static bool is_of_table(const looker *l, hf_key_id key)
{
    const hf_history *h = l->c->h;

    return (h->key_table ? h->key_table[key] : HF_NONE) == l->q.table;
}

/* No version set, but rows that speak of the whole table. */
static bool is_unlisted(const looker *l)
{
    return !l->has_set && !l->aggregate && l->q.has_result_set;
}

/* ... in the part as well. */
static bool speaks_of_all(const looker *l)
{
    entry e;

    for (uint32_t i = 0; i < l->q.n_results; i++)
        if (!row_stays(l, i, &e))
            return false;
    for (hf_key_id key = 0; key < l->c->h->n_keys; key++)
        if (is_of_table(l, key) && hf_cut_is_shared(l->c, key) &&
            hf_map_get(&l->rows, key) == UINT32_MAX)
            return false;
    return true;
}

void hf_cut_condition_keys(const hf_cut *c, hf_op_id op, hf_cut_keys *ret)
{
    looker l = look_at(c, op);
    entry e;

    for (uint32_t i = 0; i < l.n_entries; i++)
        if (entry_stays(&l, i, &e))
            hf_vec_push(ret, e.key);
    for (uint32_t i = 0; i < l.q.n_results; i++)
        if (row_stays(&l, i, &e))
            hf_vec_push(ret, e.key);
    if (is_unlisted(&l) && speaks_of_all(&l))
        for (hf_key_id key = 0; key < c->h->n_keys; key++)
            if (is_of_table(&l, key))
                hf_vec_push(ret, key);
    look_away(&l);
}

static void add_ref(hf_cut *c, const entry *e, ref_list *ret)
{
    hf_key_id own = hf_cut_find(c->ret->keys, c->n_keys, e->key);
    hf_version_ref ref = {.writer = e->writer};

    if (ref.writer < HF_WRITER_INITIAL)
        ref.writer = hf_cut_find(c->ret->txns, c->n_txns, ref.writer);
    ref.value = e->value == HF_NONE
                    ? hf_builder_value(c->b, own, (hf_scalar){.type = HF_NIL})
                    : hf_cut_add_value(c, own, e->value);
    hf_vec_push(ret, ref);
}

/* False: nothing is left. */
static bool cut_refs(hf_cut *c, looker *l)
{
    bool whole = true;
    entry e;

    for (uint32_t i = 0; i < l->n_entries; i++)
        if (entry_stays(l, i, &e))
            add_ref(c, &e, &l->versions);
        else
            whole = false;
    for (uint32_t i = 0; i < l->q.n_results; i++)
        if (row_stays(l, i, &e))
            add_ref(c, &e, &l->left);
        else
            whole = false;
    if (l->aggregate && !whole) {
        l->kind = HF_OP_PREDICATE_READ;
        l->q.n_columns = 0;
        l->q.has_result_set = false;
        l->q.result = (hf_scalar){.type = HF_NIL};
        l->left.n = 0;
    }
    if (is_unlisted(l) && !speaks_of_all(l)) {
        for (size_t i = 0; i < l->left.n; i++)
            hf_vec_push(&l->versions, l->left.at[i]);
        l->has_set = true;
    }
    /* a result over nothing at all may be wrong too */
    return l->versions.n > 0 || l->left.n > 0 || !l->has_set ||
           (l->aggregate && l->q.has_result_set);
}

static hf_scalar text_of(const hf_history *h, hf_string_id id)
{
    hf_str s;

    if (id == HF_NONE)
        return (hf_scalar){.type = HF_NIL};
    s = hf_string(h, id);
    return (hf_scalar){.type = HF_TEXT, .text = s.ptr, .length = s.len};
}

bool hf_cut_add_condition(hf_cut *c, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = c->h;
    looker l = look_at(c, op);
    bool left = cut_refs(c, &l);
    hf_scalar *columns = HF_NEW_ARRAY(hf_scalar, (size_t)l.q.n_columns + 1);

    for (uint32_t i = 0; i < l.q.n_columns; i++)
        columns[i] = text_of(h, l.q.columns[i]);
    if (left)
        (void)hf_builder_predicate(
            c->b, t, (unsigned)l.kind | hf_op_flags_of(h, op),
            &(hf_predicate_in){.table = text_of(h, l.q.table),
                               .condition = text_of(h, l.q.condition),
                               .columns = columns,
                               .n_columns = l.q.n_columns,
                               .has_version_set = l.has_set,
                               .has_result_set = l.q.has_result_set,
                               .versions = l.versions.at,
                               .n_versions = (uint32_t)l.versions.n,
                               .results = l.left.at,
                               .n_results = (uint32_t)l.left.n,
                               .result = l.q.result});
    hf_free(columns);
    look_away(&l);
    return left;
}

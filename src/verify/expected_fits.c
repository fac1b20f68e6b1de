/* expected_fits.c: does an operation fit a state?
 *
 * An item read returns the value that is there, or the own last write before
 * it.  A predicate operation without version set, or with a snapshot, returns
 * what its condition gives on the whole table; the entries of its version set
 * are the versions that are there, or were not returned and no version of
 * their key from the one to the other satisfies the condition.  Of a listed
 * version set only the keys listed count.
 *
 * O(1) for an item; O(keys of the table) for a predicate, and the versions in
 * between for each entry that differs.  Of valid claims those that fit are
 * found together (sweep.c).
 */
#include "verify/expected.h"

static bool is_nil(const hf_history *h, hf_value_id v)
{
    return v == HF_NONE || h->value_type[v] == HF_NIL;
}

static bool is_equal(const hf_history *h, hf_value_id a, hf_value_id b)
{
    return a == b || (is_nil(h, a) && is_nil(h, b));
}

static hf_value_id slot_value(const hf_verifier *v, hf_key_id key,
                              uint32_t slot)
{
    if (slot == HF_NONE)
        return v->h->key_initial ? v->h->key_initial[key] : HF_NONE;
    return hf_op_written(v->h, v->facts.write_op[slot]);
}

/* The slot of the key's version, and its writer. */
static uint32_t slot_now(const hf_scene *s, hf_key_id key,
                         hf_txn_id *ret_writer)
{
    const hf_verifier *v = s->v;
    const hf_world *w = s->world;
    uint32_t at, slot;

    if (!w) {
        slot = s->now[key];
        if (slot != HF_NONE)
            *ret_writer = hf_op_txn(v->h, v->facts.write_op[slot]);
        return slot;
    }
    at = hf_world_writer_from(w, key, (int64_t)s->q);
    if (at == w->writer_first[key])
        return HF_NONE;
    *ret_writer = w->writers[at - 1];
    return hf_facts_slot(&v->facts, w->writers[at - 1], key);
}

hf_item_read hf_scene_sight(const hf_scene *s, hf_op_id op, hf_key_id key)
{
    const hf_verifier *v = s->v;
    const hf_facts *f = &v->facts;
    hf_item_read read = {key, HF_NONE, HF_WRITER_INITIAL, op};
    hf_op_id own = HF_NONE;
    uint32_t slot;

    if (f->write_first[s->t] < f->write_first[s->t + 1])
        own = hf_own_write_before(v->h, f, s->t, op, key);
    if (own != HF_NONE) {
        read.value = hf_op_written(v->h, own);
        read.writer = s->t;
        return read;
    }
    slot = slot_now(s, key, &read.writer);
    read.value = slot_value(v, key, slot);
    return read;
}

hf_value_id hf_scene_value(const hf_scene *s, hf_op_id op, hf_key_id key)
{
    return hf_scene_sight(s, op, key).value;
}

/* ---- entries ------------------------------------------------------------- */

/* Is it, as recorded, the version that is there? */
static bool is_there(const hf_scene *s, hf_op_id op, const hf_item_read *e)
{
    hf_item_read now = hf_scene_sight(s, op, e->key);

    return is_equal(s->v->h, now.value, e->value) &&
           (e->writer == HF_NONE || e->writer == now.writer);
}

typedef struct strip {
    const hf_scene *s;
    hf_key_id key;
    hf_op_id op;
    uint32_t n;
    uint32_t *slots; /* of the key's versions; [0] is HF_NONE, the initial */
} strip;

static uint32_t place_of(const strip *x, uint32_t i)
{
    const hf_verifier *v = x->s->v;

    return x->s->place[hf_op_txn(v->h, v->facts.write_op[x->slots[i]])];
}

/* The versions of the key in the order. */
static strip versions_of(const hf_scene *s, hf_op_id op, hf_key_id key)
{
    hf_verifier *v = s->v;
    const hf_key_index *writers = hf_writers_of_keys(v);
    strip x = {.s = s, .key = key, .op = op};
    uint32_t first, end;

    if (!writers)
        return x;
    first = writers->first[key];
    end = writers->first[key + 1];
    x.slots = hf_nones(v, (size_t)end - first + 1, sizeof(*x.slots));
    x.n = 1;
    for (uint32_t i = first; i < end; i++) {
        hf_txn_id w = writers->at[i];
        uint32_t j = x.n;

        if (s->place[w] == HF_NONE)
            continue;
        for (; j > 1 && place_of(&x, j - 1) > s->place[w]; j--)
            x.slots[j] = x.slots[j - 1];
        x.slots[j] = hf_facts_slot(&v->facts, w, key);
        x.n++;
    }
    return x;
}

static hf_match matches(const strip *x, uint32_t i)
{
    hf_verifier *v = x->s->v;
    hf_value_id value = slot_value(v, x->key, x->slots[i]);

    if (is_nil(v->h, value))
        return HF_MATCH_NO;
    return hf_predicate_match(v, hf_predicate_condition(v, x->op), value);
}

/* No version from i to j satisfies the condition. */
static hf_fit is_quiet(const strip *x, uint32_t i, uint32_t j)
{
    uint32_t last = i < j ? j : i;
    hf_fit fit = HF_FITS;

    for (uint32_t k = i < j ? i : j; k <= last; k++) {
        hf_match m = matches(x, k);

        if (m == HF_MATCH_YES)
            return HF_DIFFERS;
        if (m == HF_MATCH_UNKNOWN)
            fit = HF_FIT_UNKNOWN;
    }
    return fit;
}

static bool may_be(const strip *x, uint32_t i, const hf_item_read *e)
{
    const hf_verifier *v = x->s->v;

    if (!is_equal(v->h, slot_value(v, x->key, x->slots[i]), e->value) ||
        (i > 0 && place_of(x, i) == x->s->place[x->s->t]))
        return false; /* another value, or T's own later write */
    if (e->writer == HF_NONE)
        return true;
    if (i == 0)
        return e->writer == HF_WRITER_INITIAL;
    return e->writer == hf_op_txn(v->h, v->facts.write_op[x->slots[i]]);
}

hf_fit hf_scene_entry_fits(const hf_scene *s, hf_op_id op,
                           const hf_item_read *e)
{
    const hf_verifier *v = s->v;
    hf_fit fit = HF_DIFFERS;
    uint32_t now = 0;
    strip x;

    if (v->facts.key_use[e->key] & (HF_KEY_BLIND | HF_KEY_LIST))
        return HF_FIT_UNKNOWN;
    if (is_there(s, op, e))
        return HF_FITS;
    if (hf_own_write_before(v->h, &v->facts, s->t, op, e->key) != HF_NONE)
        return HF_DIFFERS;
    x = versions_of(s, op, e->key);
    while (now + 1 < x.n && place_of(&x, now + 1) < s->q)
        now++;
    for (uint32_t i = 0; i < x.n && fit != HF_FITS; i++) {
        hf_fit quiet = may_be(&x, i, e) ? is_quiet(&x, i, now) : HF_DIFFERS;

        if (quiet != HF_DIFFERS)
            fit = quiet;
    }
    return fit;
}

/* ---- predicates ---------------------------------------------------------- */

/* Of a listed version set its entries, and rows of other keys as items. */
static hf_fit listed_fits(const hf_scene *s, hf_op_id op, const hf_predicate *q)
{
    const hf_history *h = s->v->h;
    hf_fit fit = HF_FITS;

    for (uint32_t i = 0; i < q->n_versions; i++) {
        hf_item_read e = {h->value_key[q->versions[i].value],
                          q->versions[i].value, q->versions[i].writer, op};
        hf_fit one = hf_scene_entry_fits(s, op, &e);

        if (one == HF_DIFFERS)
            return one;
        if (one == HF_FIT_UNKNOWN)
            fit = one;
    }
    for (uint32_t i = 0; i < q->n_results; i++) {
        hf_item_read e = {h->value_key[q->results[i].value],
                          q->results[i].value, q->results[i].writer, op};

        if (s->v->facts.key_use[e.key] & (HF_KEY_BLIND | HF_KEY_LIST))
            fit = HF_FIT_UNKNOWN;
        else if (!is_there(s, op, &e))
            return HF_DIFFERS;
    }
    return fit;
}

/* What the condition gives on the table. */
static hf_fit table_fits(const hf_scene *s, hf_op_id op, const hf_predicate *q)
{
    hf_verifier *v = s->v;
    hf_tally t;
    hf_set_fault fault;

    hf_tally_begin(v, op, &t);
    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        hf_item_read e;

        if (hf_table_of(v->h, k) != q->table)
            continue;
        if (v->facts.key_use[k] & (HF_KEY_BLIND | HF_KEY_LIST))
            return HF_FIT_UNKNOWN;
        e = hf_scene_sight(s, op, k);
        if (!is_nil(v->h, e.value))
            hf_tally_add(v, &e, &t);
    }
    fault = hf_tally_end(v, &t);
    if (fault == HF_SET_FINE)
        return HF_FITS;
    return fault == HF_SET_UNKNOWN || fault == HF_SET_OPEN ? HF_FIT_UNKNOWN
                                                           : HF_DIFFERS;
}

static hf_fit snapshot_fits(const hf_scene *s, hf_op_id op,
                            const hf_predicate *q)
{
    hf_verifier *v = s->v;
    hf_fit fit = HF_FITS;

    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        hf_item_read e;
        hf_fit one;

        if (hf_table_of(v->h, k) != q->table)
            continue;
        if (!hf_entry_of(v, s->t, op, k, &e))
            return HF_FITS; /* it counts as one without version set */
        one = hf_scene_entry_fits(s, op, &e);
        if (one == HF_DIFFERS)
            fit = one;
        if (one == HF_FIT_UNKNOWN && fit == HF_FITS)
            fit = one;
    }
    return fit;
}

static hf_fit predicate_fits(const hf_scene *s, hf_op_id op)
{
    hf_predicate q = hf_op_predicate(s->v->h, op);
    hf_fit fit = HF_FITS, more = HF_FITS;

    if (q.has_version_set) {
        hf_set_fault fault = hf_predicate_judge(s->v, op);

        if (fault == HF_SET_MISMATCH || fault == HF_SET_TWO_VERSIONS)
            return HF_DIFFERS;
        return listed_fits(s, op, &q);
    }
    if (q.has_result_set)
        fit = table_fits(s, op, &q);
    if (fit != HF_DIFFERS && hf_has_snapshot(s->v, op))
        more = snapshot_fits(s, op, &q);
    return more != HF_FITS ? more : fit;
}

/* ---- lists --------------------------------------------------------------- */

/* The elements of the list, without the tail of T's own appends before op;
 * false if it does not end in those. */
static bool cut_own(const hf_history *h, hf_txn_id t, hf_op_id op,
                    hf_value_id *list)
{
    for (hf_op_id o = op; o-- > h->op_first[t];) {
        if (h->op_key[o] != h->op_key[op] || !hf_op_writes(h, o))
            continue;
        if (*list == HF_NONE || hf_list_last(h, *list) != h->op_value[o])
            return false;
        *list = hf_list_parent(h, *list);
    }
    return true;
}

static void open_list(hf_verifier *v, const hf_expectation *e, hf_txn_id t,
                      hf_probe *p)
{
    const hf_history *h = v->h;
    hf_value_id list = h->op_value[p->op], *items;

    p->is_list = true;
    if (h->value_type[list] != HF_LIST)
        list = HF_NONE;
    p->is_prefix = cut_own(h, t, p->op, &list);
    p->wanted = list == HF_NONE ? 0 : hf_list_items(h, list, NULL);
    items = hf_zeros(v, p->wanted, sizeof(*items));
    if (list != HF_NONE)
        hf_list_items(h, list, items);
    p->element_place = hf_zeros(v, h->n_ops, sizeof(*p->element_place));
    for (uint32_t i = 0; i < e->place[t]; i++) {
        hf_txn_id u = e->at[i];

        for (hf_op_id o = h->op_first[u]; o < h->op_first[u + 1]; o++) {
            if (h->op_key[o] != p->key || !hf_op_writes(h, o))
                continue;
            if (p->n_elements < p->wanted)
                p->is_prefix &= items[p->n_elements] == h->op_value[o];
            p->element_place[p->n_elements++] = i;
        }
    }
    p->is_prefix &= p->wanted <= p->n_elements;
    /* own elements stand after all that came before T */
    if (hf_own_write_before(h, &v->facts, t, p->op, p->key) != HF_NONE)
        p->is_prefix &= p->wanted == p->n_elements;
}

static hf_fit list_fits(const hf_scene *s, const hf_probe *p)
{
    uint32_t n = 0;

    while (n < p->n_elements && p->element_place[n] < s->q)
        n++;
    return p->is_prefix && n == p->wanted ? HF_FITS : HF_DIFFERS;
}

/* ---- probes -------------------------------------------------------------- */

bool hf_probe_open(hf_verifier *v, const hf_expectation *e, hf_txn_id t,
                   hf_op_id op, hf_probe *ret)
{
    const hf_history *h = v->h;
    hf_op_kind kind = hf_op_kind_of(h, op);

    *ret = (hf_probe){.op = op, .kind = kind, .key = h->op_key[op]};
    if (hf_op_has_predicate(kind)) {
        ret->key = HF_NONE;
        return true;
    }
    if (hf_item_reads(h, op) == 0)
        return hf_refuse(v, "operation %u says nothing about a state",
                         (unsigned)op);
    if ((v->facts.key_use[ret->key] & HF_KEY_LIST) && h->key_initial &&
        h->key_initial[ret->key] != HF_NONE)
        return hf_give_up(v, HF_ERR_UNSUPPORTED,
                          "a list that has an initial value");
    if (v->facts.key_use[ret->key] & HF_KEY_LIST)
        open_list(v, e, t, ret);
    return true;
}

hf_fit hf_probe_fits(const hf_scene *s, const hf_probe *p)
{
    hf_item_read read;

    if (p->key == HF_NONE)
        return predicate_fits(s, p->op);
    if (p->is_list)
        return list_fits(s, p);
    if (s->v->facts.key_use[p->key] & HF_KEY_BLIND)
        return HF_FIT_UNKNOWN;
    if (p->kind == HF_OP_INCREMENT && !hf_increment_adds_up(s->v->h, p->op))
        return HF_DIFFERS;
    read = hf_item_read_at(s->v->h, p->op, 0);
    return is_equal(s->v->h, hf_scene_value(s, p->op, p->key), read.value)
               ? HF_FITS
               : HF_DIFFERS;
}

/* ---- valid claims -------------------------------------------------------- */

static bool give_up(hf_verifier *v, hf_txn_id t, hf_op_id op)
{
    return hf_give_up(v, HF_ERR_UNSUPPORTED,
                      "operation %u of %s has no version set, or a condition "
                      "that cannot be evaluated, or a result that cannot be "
                      "computed",
                      (unsigned)(op - v->h->op_first[t] + 1),
                      hf_label_txn(v->h, t).text);
}

/* Does op fit the state at w->now?  Not known, if not. */
static bool is_known_to_fit(hf_verifier *v, hf_world *w, hf_op_id op)
{
    if (w->open_now != w->now) {
        if (!w->open_fault)
            w->open_fault = hf_zeros(v, v->h->n_ops, sizeof(*w->open_fault));
        if (!hf_judge_states(v, w, w->open_fault))
            return false;
        w->open_now = w->now;
    }
    return w->open_fault[op] == HF_SET_FINE;
}

/* A later write of its own to the table may be the last that changed the
 * matches: what was looked at can then be another's version behind it, if there
 * is one, and no state shows that. */
static bool may_look_behind(const hf_scene *s, hf_op_id op,
                            const hf_predicate *q)
{
    const hf_history *h = s->v->h;
    const hf_world *w = s->world;

    while (++op < h->op_first[s->t + 1]) {
        hf_key_id key = h->op_key[op];

        if (!hf_op_writes(h, op))
            continue;
        if (key == HF_NONE)
            return true;
        if ((h->key_table ? h->key_table[key] : HF_NONE) == q->table &&
            hf_world_writer_from(w, key, (int64_t)w->place[s->t] + 1) <
                w->writer_first[key + 1])
            return true;
    }
    return false;
}

bool hf_expected_open(hf_verifier *v, hf_world *w, hf_txn_id t, hf_op_id op)
{
    hf_predicate q = hf_op_predicate(v->h, op);
    hf_scene s = {
        .v = v, .place = w->place, .t = t, .q = w->now[t], .world = w};
    /* any state before T will do at read-committed; else the one it sees */
    uint32_t least = v->level == HF_READ_COMMITTED ? 0 : s.q;
    /* ... or no state at all */
    bool is_loose =
        v->level == HF_READ_COMMITTED || v->info->shape == HF_SHAPE_ITEM;

    if (q.has_version_set ||
        (v->w->kind == HF_WITNESS_COMMIT && v->level != HF_READ_COMMITTED))
        return give_up(v, t, op);
    if (!q.has_result_set)
        return true;
    if (is_known_to_fit(v, w, op))
        return true;
    if (hf_out_of_budget(v))
        return false;
    hf_world_collect_writers(v, w);
    for (;; s.q--) {
        hf_fit fit = table_fits(&s, op, &q);

        if (fit == HF_FITS)
            return true;
        if (fit == HF_FIT_UNKNOWN ||
            (s.q == least && (is_loose || may_look_behind(&s, op, &q))))
            return give_up(v, t, op);
        if (s.q == least)
            return hf_refuse(v,
                             "operation %u of %s does not return what its "
                             "condition gives on the state it sees",
                             (unsigned)(op - v->h->op_first[t] + 1),
                             hf_label_txn(v->h, t).text);
        if (hf_out_of_budget(v))
            return false;
    }
}

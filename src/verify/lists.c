/* lists.c: list reads against the order of a witness.
 *
 * The elements of a key stand in one sequence: its writers in version order,
 * each with its appends in program order.  All lists read of a key form a
 * tree (longer list = shorter list + element), so one pass over the list
 * values, shorter ones first, says of each how much of the sequence it
 * matches.  At read-uncommitted, elements of transactions that did not happen
 * are left out of a list; above that they make it wrong.
 *
 * An element is compared with what stands at its place, so it does not matter
 * how often it was appended.  Only at read-uncommitted it may be open whether
 * an element was appended by one that happened or by one that did not: then
 * what does not match at once is matched in every way.
 *
 * O(values + appends), and at read-uncommitted the elements of a list times
 * its length, where that is open.
 */
#include "verify/rests.h"

static void count_appends(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;

    for (uint32_t i = 0; i < w->n; i++)
        for (hf_op_id op = h->op_first[w->at[i]];
             op < h->op_first[w->at[i] + 1]; op++)
            if (hf_op_writes(h, op) && hf_op_kind_of(h, op) == HF_OP_APPEND)
                w->seq_first[h->op_key[op] + 1]++;
    for (hf_key_id k = 0; k < h->n_keys; k++)
        w->seq_first[k + 1] += w->seq_first[k];
}

static void add_appends(hf_verifier *v, hf_world *w, hf_txn_id t,
                        uint32_t *next)
{
    const hf_history *h = v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_key_id key = h->op_key[op];
        hf_value_id value;
        uint32_t slot, at;

        if (!hf_op_writes(h, op) || hf_op_kind_of(h, op) != HF_OP_APPEND)
            continue;
        value = hf_op_written(h, op);
        slot = hf_facts_slot(&v->facts, t, key);
        at = next[key]++;
        w->seq_owner[at] = t;
        w->seq_value[at] = value;
        if (w->run_start[slot] == HF_NONE)
            w->run_start[slot] = at - w->seq_first[key];
    }
}

/* Is there a transaction to which reads do not matter? */
static bool some_are_loose(const hf_verifier *v)
{
    hf_txn_id t = 0;

    while (v->w->mixed && t < v->h->n_txns && hf_reads_matter_to(v, t))
        t++;
    return v->w->mixed ? t < v->h->n_txns : !hf_reads_matter(v);
}

/* Notes the elements of transactions that are not in the world; only
 * read-uncommitted asks for them. */
static void mark_aborted(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;
    bool loose = some_are_loose(v);

    w->is_aborted = hf_zeros(v, h->n_values, sizeof(*w->is_aborted));
    w->times = hf_zeros(v, h->n_values, sizeof(*w->times));
    for (hf_txn_id t = 0; t < h->n_txns && loose; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_writes(h, op) && hf_op_kind_of(h, op) == HF_OP_APPEND) {
                w->is_aborted[hf_op_written(h, op)] |= w->place[t] == HF_NONE;
                w->times[hf_op_written(h, op)]++;
            }
}

/* Is the element at this place of the sequence of its key? */
static bool stands_at(const hf_history *h, const hf_world *w,
                      hf_value_id element, uint32_t place)
{
    hf_key_id key = h->value_key[element];
    uint32_t at = w->seq_first[key] + place;

    return at < w->seq_first[key + 1] && w->seq_value[at] == element;
}

static void match_list(hf_verifier *v, hf_world *w, hf_value_id value)
{
    const hf_history *h = v->h;
    hf_value_id up = hf_list_parent(h, value);
    hf_value_id element = hf_list_last(h, value);
    uint32_t before = up == HF_NONE ? 0 : w->list_match[up];

    if (before == HF_NONE)
        return;
    w->list_dirty[value] = up == HF_NONE ? HF_NONE : w->list_dirty[up];
    if (stands_at(h, w, element, before)) {
        w->list_match[value] = before + 1;
    } else if (w->is_aborted[element]) {
        w->list_match[value] = before;
        w->list_dirty[value] = value;
    }
}

/* Where some elements may be left out: can so many places of the sequence be
 * matched, the last of them by the last element?  `places` HF_NONE: any number,
 * whatever the list ends in. */
static bool can_match(hf_verifier *v, const hf_world *w, hf_value_id list,
                      uint32_t places)
{
    const hf_history *h = v->h;
    uint32_t n = hf_list_items(h, list, NULL);
    hf_value_id *items = hf_zeros(v, n, sizeof(*items));
    bool *can = hf_zeros(v, (size_t)n + 1, sizeof(*can)); /* match so many */
    bool last = false;

    (void)hf_list_items(h, list, items);
    can[0] = true;
    for (uint32_t i = 0; i < n && !hf_out_of_budget(v); i++) {
        bool may_skip = w->is_aborted[items[i]];

        last = places != HF_NONE && places > 0 && places <= i + 1 &&
               can[places - 1] && stands_at(h, w, items[i], places - 1);
        for (uint32_t k = i + 1; k-- > 0;) {
            bool next = can[k] && stands_at(h, w, items[i], k);

            can[k + 1] |= next;
            if (!may_skip)
                can[k] = false;
        }
    }
    for (uint32_t k = 0; places == HF_NONE && k <= n; k++)
        last |= can[k];
    return last;
}

bool hf_world_build_lists(hf_verifier *v, hf_world *w)
{
    const hf_history *h = v->h;
    uint32_t *next;

    if (!v->facts.has_lists)
        return true;
    w->seq_first = hf_zeros(v, (size_t)h->n_keys + 1, sizeof(uint32_t));
    count_appends(v, w);
    w->seq_owner = hf_nones(v, w->seq_first[h->n_keys], sizeof(*w->seq_owner));
    w->seq_value = hf_nones(v, w->seq_first[h->n_keys], sizeof(*w->seq_value));
    w->list_match = hf_nones(v, h->n_values, sizeof(uint32_t));
    w->list_dirty = hf_nones(v, h->n_values, sizeof(uint32_t));
    w->run_start =
        hf_nones(v, v->facts.write_first[h->n_txns], sizeof(uint32_t));
    mark_aborted(v, w);
    next = hf_zeros(v, h->n_keys, sizeof(uint32_t));
    for (hf_key_id k = 0; k < h->n_keys; k++)
        next[k] = w->seq_first[k];
    for (uint32_t i = 0; i < w->n; i++) {
        add_appends(v, w, w->at[i], next);
        if ((i & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    for (hf_value_id x = 0; x < h->n_values; x++) {
        if (h->value_type[x] == HF_LIST &&
            (v->facts.key_use[h->value_key[x]] & HF_KEY_LIST))
            match_list(v, w, x);
        if ((x & 0xfff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* No element is in the list more often than it was appended, by whomever.
 * Where all of it is matched that goes without saying. */
static bool is_possible(hf_verifier *v, const hf_world *w, hf_value_id list)
{
    const hf_history *h = v->h;
    hf_notes *met = hf_notes_begin(v, HF_NOTES_VALUES);

    for (hf_value_id x = list; x != HF_NONE; x = hf_list_parent(h, x)) {
        hf_value_id e = hf_list_last(h, x);

        hf_note(met, e, hf_note_of(met, e) + 1);
        if (hf_note_of(met, e) > w->times[e])
            return false;
    }
    return true;
}

/* The read follows `own` own appends: it must end with the last of them. */
static bool read_own(hf_verifier *v, const hf_world *w, hf_txn_id t,
                     const hf_item_read *read, uint32_t own)
{
    uint32_t slot = hf_facts_slot(&v->facts, t, read->key);
    bool is_list = v->h->value_type[read->value] == HF_LIST;

    if (is_list && w->list_dirty[read->value] != read->value &&
        w->list_match[read->value] == w->run_start[slot] + own)
        return true;
    if (is_list && !hf_reads_matter_to(v, t) &&
        can_match(v, w, read->value, w->run_start[slot] + own))
        return true;
    return hf_refuse(v,
                     "%s reads a list of key %s that does not end with its "
                     "own last append before the read",
                     hf_label_txn(v->h, t).text,
                     hf_label_key(v->h, read->key).text);
}

/* A list that matches: who appended its last element? */
static bool last_element(hf_verifier *v, const hf_world *w, hf_txn_id t,
                         const hf_item_read *read, hf_txn_id *ret_source)
{
    uint32_t end = w->seq_first[read->key + 1];
    uint32_t at = w->seq_first[read->key] + w->list_match[read->value] - 1;
    hf_txn_id owner = w->seq_owner[at];

    if (at + 1 < end && w->seq_owner[at + 1] == owner)
        return hf_refuse(v,
                         "%s reads an intermediate list of key %s: %s "
                         "appends more after it",
                         hf_label_txn(v->h, t).text,
                         hf_label_key(v->h, read->key).text,
                         hf_label_txn(v->h, owner).text);
    *ret_source = owner;
    return true;
}

/* At read-uncommitted: whose version the list certainly is, HF_SEVERAL if
 * nobody's. */
static hf_txn_id touched_by(const hf_verifier *v, const hf_world *w,
                            hf_txn_id t, const hf_item_read *read)
{
    hf_txn_id writer;

    return hf_certainly_touches(v, t, read, &writer) &&
                   (writer == HF_NONE || w->place[writer] != HF_NONE)
               ? writer
               : HF_SEVERAL;
}

bool hf_world_read_list(hf_verifier *v, const hf_world *w, hf_txn_id t,
                        const hf_item_read *read, uint32_t own,
                        hf_txn_id *ret_source)
{
    const hf_history *h = v->h;
    uint32_t slot = hf_facts_slot(&v->facts, t, read->key);
    bool is_list = h->value_type[read->value] == HF_LIST;
    bool strict = hf_reads_matter_to(v, t);

    *ret_source = HF_SEVERAL;
    if (is_list && (strict ? w->list_match[read->value] == HF_NONE ||
                                 w->list_dirty[read->value] != HF_NONE
                           : !is_possible(v, w, read->value) ||
                                 (w->list_match[read->value] == HF_NONE &&
                                  !can_match(v, w, read->value, HF_NONE))))
        return hf_refuse(v,
                         "%s reads a list of key %s that is no prefix of the "
                         "elements in the order of the witness",
                         hf_label_txn(h, t).text,
                         hf_label_key(h, read->key).text);
    if (!is_list && h->value_type[read->value] != HF_NIL)
        return hf_refuse(v, "%s reads key %s, a list, as a single value",
                         hf_label_txn(h, t).text,
                         hf_label_key(h, read->key).text);
    if (own > 0)
        return read_own(v, w, t, read, own);
    if (!strict) {
        if (v->w->rests & HF_REST_TOUCHES)
            *ret_source = touched_by(v, w, t, read);
        return true;
    }
    if (!is_list) {
        *ret_source = HF_NONE;
        return true;
    }
    if (slot != HF_NONE && w->list_match[read->value] > w->run_start[slot])
        return hf_refuse(v, "%s reads its own later append to key %s",
                         hf_label_txn(h, t).text,
                         hf_label_key(h, read->key).text);
    return last_element(v, w, t, read, ret_source);
}

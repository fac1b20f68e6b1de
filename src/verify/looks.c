/* looks.c: repeated looks at a key, and rows that were not returned.
 *
 * A view (a version looked at and not returned) makes edges by its condition
 * alone: reads-from edges from the writers of versions up to it that change
 * the matches, an anti-dependency to the writers of later ones that do.  Of
 * the latter only the first matters: the others are reached from it along the
 * version order.  So do of the former only the last, except where a level
 * asks what exactly a transaction read from; then all are listed.
 *
 * A view that looked at the version current at its place, or at one between
 * which and that one nothing changes the matches, says nothing that an order
 * could contradict.  Unless all are wanted only the others are listed.
 *
 * Cost of a view: the versions of the key between the one looked at and the
 * current one; if all are wanted those before it (up to the last change, or
 * all) and after it up to the next change.
 */
#include "verify/reader.h"

/* ---- INT ----------------------------------------------------------------- */

/* An item of this value was seen, and a row not returned by a condition. */
static bool fits(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                 const hf_condition *condition, hf_value_id item)
{
    switch (hf_predicate_match(r->v, condition, item)) {
    case HF_MATCH_NO:
        return true;
    case HF_MATCH_YES:
        return hf_refuse(r->v,
                         "%s reads a version of key %s, and does not get it "
                         "from a condition that it satisfies",
                         hf_label_txn(r->v->h, t).text,
                         hf_label_key(r->v->h, read->key).text);
    default:
        return hf_give_up(r->v, HF_ERR_UNSUPPORTED,
                          "a condition on key %s cannot be evaluated",
                          hf_label_key(r->v->h, read->key).text);
    }
}

/* Against the looks before: items up to the last, which was compared with
 * those before it; two views are not compared. */
static bool agrees(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                   const hf_seen *now)
{
    for (uint32_t i = now->previous; i != HF_NONE; i = r->seen.at[i].previous) {
        const hf_seen *before = &r->seen.at[i];

        if (before->condition) {
            if (!now->condition &&
                !fits(r, t, read, before->condition, now->value))
                return false;
            continue;
        }
        if (now->condition)
            return fits(r, t, read, now->condition, before->value);
        return before->source == now->source ||
               hf_refuse(r->v, "%s reads two versions of key %s",
                         hf_label_txn(r->v->h, t).text,
                         hf_label_key(r->v->h, read->key).text);
    }
    return true;
}

bool hf_reader_see(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                   hf_txn_id source, const hf_condition *condition)
{
    hf_key_id key = read->key;
    hf_seen now = {key, read->value, source, condition, HF_NONE};

    if (r->seen_stamp[key] == t)
        now.previous = r->seen_last[key];
    r->seen_stamp[key] = t;
    r->seen_last[key] = (uint32_t)r->seen.n;
    if (!agrees(r, t, read, &now))
        return false;
    hf_vec_push(&r->seen, now);
    return true;
}

/* One item against one snapshot of the same transaction. */
static bool compare_entry(hf_reader *r, hf_txn_id t, hf_op_id op,
                          const hf_seen *item)
{
    hf_verifier *v = r->v;
    hf_item_read entry;
    hf_txn_id writer;

    if (hf_own_write_before(v->h, &v->facts, t, op, item->key) != HF_NONE ||
        !hf_entry_of(v, t, op, item->key, &entry))
        return true;
    writer = entry.writer == HF_WRITER_INITIAL ? HF_NONE : entry.writer;
    if (writer == item->source)
        return true;
    switch (hf_look_at_key(v, op, item->key)) {
    case HF_LOOK_VIEW:
        return fits(r, t, &entry, hf_predicate_condition(v, op), item->value);
    case HF_LOOK_ITEM:
        return hf_refuse(v, "%s reads two versions of key %s",
                         hf_label_txn(v->h, t).text,
                         hf_label_key(v->h, item->key).text);
    default:
        return true;
    }
}

bool hf_reader_compare(hf_reader *r, hf_txn_id t)
{
    const hf_history *h = r->v->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (!hf_op_counts(h, op) || !hf_has_snapshot(r->v, op))
            continue;
        for (size_t i = 0; i < r->seen.n; i++)
            if (!r->seen.at[i].condition &&
                !compare_entry(r, t, op, &r->seen.at[i]))
                return false;
    }
    return true;
}

/* ---- views --------------------------------------------------------------- */

typedef struct view {
    hf_reader *r;
    hf_txn_id reader;
    hf_key_id key;
    hf_op_id op;
    const hf_condition *condition;
    bool unknown;
} view;

/* Does the version of writer (HF_NONE: the initial one) satisfy it? */
static bool satisfies(view *x, hf_txn_id writer)
{
    hf_verifier *v = x->r->v;
    hf_value_id value;
    hf_match m;

    if (writer == HF_NONE) {
        value = v->h->key_initial ? v->h->key_initial[x->key] : HF_NONE;
        if (value == HF_NONE)
            return false;
    } else {
        value = hf_op_written(
            v->h, v->facts.write_op[hf_facts_slot(&v->facts, writer, x->key)]);
    }
    m = hf_predicate_match(v, x->condition, value);
    x->unknown |= m == HF_MATCH_UNKNOWN;
    return m == HF_MATCH_YES;
}

/* From the version at index `at` of the key's writers (or the initial one)
 * back to the first: the writers that change the matches. */
static void add_sources(view *x, uint32_t at, bool all)
{
    hf_world *w = x->r->w;
    uint32_t first = w->writer_first[x->key];
    bool now = satisfies(x, at == HF_NONE ? HF_NONE : w->writers[at]);

    while (at != HF_NONE) {
        uint32_t before = at == first ? HF_NONE : at - 1;
        bool then =
            satisfies(x, before == HF_NONE ? HF_NONE : w->writers[before]);

        if (now != then && w->writers[at] != x->reader) {
            hf_world_add_read(w, (hf_world_read){.key = x->key,
                                                 .source = w->writers[at],
                                                 .op = x->op,
                                                 .kind = HF_READ_FROM});
            if (!all)
                return;
        }
        now = then;
        at = before;
    }
}

/* The first later version that changes the matches, or HF_NONE. */
static hf_txn_id next_change(view *x, uint32_t at)
{
    const hf_world *w = x->r->w;
    uint32_t next = at == HF_NONE ? w->writer_first[x->key] : at + 1;
    bool now = satisfies(x, at == HF_NONE ? HF_NONE : w->writers[at]);

    for (; next < w->writer_first[x->key + 1]; next++)
        if (satisfies(x, w->writers[next]) != now)
            return w->writers[next];
    return HF_NONE;
}

/* The view with all its sources, or the last, and the next change. */
static void add_view(view *x, hf_txn_id source, bool all)
{
    hf_world *w = x->r->w;
    uint32_t at = HF_NONE;

    if (source != HF_NONE)
        at = hf_world_writer_from(w, x->key, (int64_t)w->place[source]);
    add_sources(x, at, all);
    hf_world_add_read(w, (hf_world_read){.key = x->key,
                                         .source = source,
                                         .op = x->op,
                                         .change = next_change(x, at),
                                         .kind = HF_READ_VIEW});
}

/* The view as far as it differs from what is current at its place.  Indexes
 * count the versions of the key from 1; 0 is the initial one. */
static void add_difference(view *x, hf_txn_id source)
{
    hf_world *w = x->r->w;
    uint32_t first = w->writer_first[x->key];
    uint32_t now = hf_world_writer_from(w, x->key, w->now[x->reader]) - first;
    uint32_t at =
        source == HF_NONE
            ? 0
            : hf_world_writer_from(w, x->key, w->place[source]) + 1 - first;
    uint32_t low = at < now ? at : now, high = at < now ? now : at;
    hf_world_read r = {.key = x->key,
                       .source = source,
                       .op = x->op,
                       .change = HF_NONE,
                       .kind = HF_READ_VIEW};
    bool before;

    if (at == now)
        return;
    before = satisfies(x, low == 0 ? HF_NONE : w->writers[first + low - 1]);
    for (uint32_t i = low; i < high; i++) {
        hf_txn_id writer = w->writers[first + i];
        bool after = satisfies(x, writer);

        if (before != after && at < now) {
            r.change = writer;
            break;
        }
        if (before != after && writer != x->reader) {
            r.kind = HF_READ_FROM;
            r.source = writer;
        }
        before = after;
    }
    if (r.kind == HF_READ_FROM || r.change != HF_NONE)
        hf_world_add_read(w, r);
}

static bool is_wanted(const hf_reader *r, hf_txn_id t)
{
    return r->w->is_full && (!r->w->wanted || r->w->wanted[t]);
}

bool hf_reader_view(hf_reader *r, hf_txn_id t, const hf_item_read *read,
                    hf_txn_id source)
{
    hf_level_shape shape = r->v->info->shape;
    view x = {.r = r,
              .reader = t,
              .key = read->key,
              .op = read->op,
              .condition = hf_predicate_condition(r->v, read->op)};

    if (is_wanted(r, t))
        add_view(&x, source,
                 shape == HF_SHAPE_AXIOM || shape == HF_SHAPE_OTV ||
                     r->v->w->mixed);
    else
        add_difference(&x, source);
    return !x.unknown || hf_give_up(r->v, HF_ERR_UNSUPPORTED,
                                    "a condition on key %s cannot be evaluated",
                                    hf_label_key(r->v->h, read->key).text);
}

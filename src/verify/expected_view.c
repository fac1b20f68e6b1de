/* expected_view.c: what was expected where an operation saw something else.
 *
 * For a witness that was accepted: what the state before T gives in place of
 * each operation's result (an item, the rows that differ, a total), and the
 * states nearest to it in the order that would have given what was seen.
 * Those begin with a write of one transaction and end with one of another,
 * which explain the value.
 *
 * Only transactions that write a key which the operation looks at change
 * anything.  As many of them before and after T are tried as WORK allows, so a
 * finding costs O(writes of the order) + WORK however long the history.
 */
#include "verify/expected.h"

#include <string.h>

#define WORK (1u << 18) /* versions looked at for one operation */

typedef struct explainer {
    hf_verifier *v;
    const hf_expectation *e;
    hf_txn_id t;
    hf_arena *arena;
    hf_probe probe;
    bool *watched;  /* per key */
    uint32_t *seen; /* per key: the value returned or looked at */
    uint32_t place; /* of t */
    hf_scene scene;
} explainer;

/* ---- rows ---------------------------------------------------------------- */

static hf_txn_id writer_of(const explainer *x, hf_value_id value,
                           hf_txn_id recorded)
{
    hf_txn_id w = recorded;

    if (w == HF_NONE && value != HF_NONE)
        w = x->v->facts.writer[value];
    return w >= HF_WRITER_INITIAL ? HF_NONE : w;
}

static bool is_nil(const hf_history *h, hf_value_id v)
{
    return v == HF_NONE || h->value_type[v] == HF_NIL;
}

/* seen: HF_NONE: nothing was. */
static void add_row(explainer *x, hf_key_id key, hf_value_id seen,
                    hf_txn_id seen_by, hf_state_view *ret)
{
    const uint32_t *place = x->e->place;
    hf_item_read now = hf_scene_sight(&x->scene, x->probe.op, key);
    hf_state_row *row;

    if (ret->n_rows == HF_STATE_ROWS) {
        ret->more_rows++;
        return;
    }
    row = &ret->rows[ret->n_rows++];
    *row = (hf_state_row){
        .key = key,
        .expected = now.value,
        .expected_by = now.writer >= HF_WRITER_INITIAL ? HF_NONE : now.writer,
        .seen = seen,
        .seen_by = writer_of(x, seen, seen_by)};
    row->seen_later = row->seen_by != HF_NONE && row->seen_by != x->t &&
                      place[row->seen_by] != HF_NONE &&
                      place[row->seen_by] > x->place;
}

/* What was looked at, entry by entry. */
static void listed_rows(explainer *x, const hf_predicate *q, hf_state_view *ret)
{
    const hf_history *h = x->v->h;

    for (uint32_t i = 0; i < q->n_versions + q->n_results; i++) {
        bool row = i >= q->n_versions;
        const hf_version_ref *r =
            row ? &q->results[i - q->n_versions] : &q->versions[i];
        hf_item_read e = {h->value_key[r->value], r->value, r->writer,
                          x->probe.op};

        if (x->seen[e.key] != HF_NONE)
            continue;
        x->seen[e.key] = e.value;
        if (hf_scene_entry_fits(&x->scene, x->probe.op, &e) == HF_DIFFERS)
            add_row(x, e.key, e.value, e.writer, ret);
    }
}

static void snapshot_rows(explainer *x, const hf_predicate *q,
                          hf_state_view *ret)
{
    hf_verifier *v = x->v;

    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        hf_item_read e;

        if (hf_table_of(v->h, k) != q->table)
            continue;
        if (!hf_entry_of(v, x->t, x->probe.op, k, &e))
            return;
        if (hf_scene_entry_fits(&x->scene, x->probe.op, &e) == HF_DIFFERS)
            add_row(x, k, e.value, e.writer, ret);
    }
}

/* Rows that the condition gives and that were not returned, or returned and
 * are not there. */
static void table_rows(explainer *x, const hf_predicate *q, hf_state_view *ret)
{
    hf_verifier *v = x->v;
    const hf_condition *c = hf_predicate_condition(v, x->probe.op);

    for (uint32_t i = 0; i < q->n_results; i++)
        x->seen[v->h->value_key[q->results[i].value]] = i;
    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        bool returned = x->seen[k] != HF_NONE;
        hf_item_read now;
        bool match;

        if (hf_table_of(v->h, k) != q->table)
            continue;
        now = hf_scene_sight(&x->scene, x->probe.op, k);
        match = !is_nil(v->h, now.value) &&
                hf_predicate_match(v, c, now.value) == HF_MATCH_YES;
        if (match && !returned) {
            add_row(x, k, HF_NONE, HF_NONE, ret);
        } else if (returned) {
            const hf_version_ref *row = &q->results[x->seen[k]];

            if (row->value != now.value ||
                (row->writer != HF_NONE && row->writer != now.writer))
                add_row(x, k, row->value, row->writer, ret);
        }
    }
}

static void table_total(explainer *x, const hf_predicate *q, hf_state_view *ret)
{
    hf_verifier *v = x->v;
    hf_tally t;

    hf_tally_begin(v, x->probe.op, &t);
    for (hf_key_id k = 0; k < v->h->n_keys; k++) {
        hf_item_read e;

        if (hf_table_of(v->h, k) != q->table)
            continue;
        e = hf_scene_sight(&x->scene, x->probe.op, k);
        if (!is_nil(v->h, e.value))
            hf_tally_add(v, &e, &t);
    }
    /* an equal result, but of other versions: these are told */
    ret->has_total =
        hf_tally_total(v, x->probe.op, &t, x->arena, &ret->total) &&
        hf_tally_end(v, &t) != HF_SET_FINE;
}

static void list_items(explainer *x, hf_state_view *ret)
{
    const hf_history *h = x->v->h;

    ret->is_list = true;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i <= x->place; i++) {
            hf_txn_id u = x->e->at[i];
            hf_op_id end = u == x->t ? x->probe.op : h->op_first[u + 1];

            for (hf_op_id o = h->op_first[u]; o < end; o++) {
                if (h->op_key[o] != x->probe.key || !hf_op_writes(h, o))
                    continue;
                if (pass == 1)
                    ret->items[n] = h->op_value[o];
                n++;
            }
        }
        if (pass == 0)
            ret->items = hf_arena_get(
                x->arena, hf_array_size((size_t)n + 1, sizeof(*ret->items)));
        ret->n_items = n;
    }
}

/* The state before T, against what the operation says. */
static void tell_expected(explainer *x, hf_state_view *ret)
{
    const hf_history *h = x->v->h;
    hf_predicate q;

    ret->rows = hf_arena_get(x->arena, HF_STATE_ROWS * sizeof(*ret->rows));
    if (x->probe.is_list) {
        list_items(x, ret);
        return;
    }
    if (x->probe.key != HF_NONE) {
        ret->has_rows = true;
        add_row(x, x->probe.key, hf_item_read_at(h, x->probe.op, 0).value,
                HF_NONE, ret);
        return;
    }
    q = hf_op_predicate(h, x->probe.op);
    x->seen = hf_nones(x->v, h->n_keys, sizeof(*x->seen));
    if (q.has_version_set)
        listed_rows(x, &q, ret);
    else if (q.has_result_set && hf_op_is_aggregate(x->probe.kind))
        table_total(x, &q, ret);
    else if (q.has_result_set)
        table_rows(x, &q, ret);
    if (ret->n_rows == 0 && !q.has_version_set &&
        hf_has_snapshot(x->v, ret->op))
        snapshot_rows(x, &q, ret);
    ret->has_rows = ret->n_rows > 0;
}

/* ---- states that fit ----------------------------------------------------- */

/* Transactions that change what is looked at; [0 .. here - 1] are before T. */
typedef struct changes {
    uint32_t n, here, least; /* [least ..] are tried */
    uint32_t *place;
    hf_op_id *op; /* a write that matters; from least on */
    bool *fits;   /* per number of changes made; from least on */
    bool whole;   /* these are all there are */
} changes;

static bool changes_watched(const explainer *x, hf_txn_id u)
{
    const hf_facts *f = &x->v->facts;

    for (uint32_t s = f->write_first[u]; s < f->write_first[u + 1]; s++)
        if (x->watched[f->write_key[s]])
            return true;
    return false;
}

static changes find_changes(explainer *x)
{
    hf_verifier *v = x->v;
    uint32_t n_watched = 0, most;
    changes c = {.whole = true};

    for (hf_key_id k = 0; k < v->h->n_keys; k++)
        n_watched += x->watched[k];
    most = WORK / (n_watched + 1) + 4;
    c.place = hf_zeros(v, x->e->n, sizeof(*c.place));
    for (uint32_t i = 0; i < x->e->n; i++) {
        if (i >= x->place && (x->probe.is_list || c.n - c.here >= most))
            break;
        if (!changes_watched(x, x->e->at[i]))
            continue;
        c.place[c.n++] = i;
        c.here += i < x->place;
    }
    c.whole = c.here <= most && c.n - c.here < most;
    c.least = c.here > most ? c.here - most : 0;
    c.op = hf_nones(v, c.n, sizeof(*c.op));
    c.fits = hf_zeros(v, (size_t)c.n + 1, sizeof(*c.fits));
    return c;
}

static bool is_match(const explainer *x, hf_value_id value)
{
    hf_verifier *v = x->v;

    return !is_nil(v->h, value) &&
           hf_predicate_match(v, hf_predicate_condition(v, x->probe.op),
                              value) == HF_MATCH_YES;
}

/* u's writes; returns one that matters: of a predicate, one whose row
 * satisfies the condition before or after it. */
static hf_op_id make_change(explainer *x, hf_txn_id u, bool look)
{
    const hf_verifier *v = x->v;
    const hf_facts *f = &v->facts;
    hf_op_id best = HF_NONE;
    bool found = false;

    for (uint32_t s = f->write_first[u]; s < f->write_first[u + 1]; s++) {
        hf_key_id key = f->write_key[s];
        hf_value_id before;

        if (!x->watched[key])
            continue;
        if (look && !found) {
            before = hf_scene_sight(&x->scene, x->probe.op, key).value;
            found = x->probe.key != HF_NONE || is_match(x, before) ||
                    is_match(x, hf_op_written(v->h, f->write_op[s]));
            if (found || best == HF_NONE)
                best = f->write_op[s];
        }
        x->scene.now[key] = s;
    }
    return best;
}

/* The nearest states that fit: those before T first. */
static void nearest(const changes *c, hf_state_view *ret)
{
    uint32_t k = c->here, first, last;

    while (k > c->least && !c->fits[k])
        k--;
    if (!c->fits[k])
        for (k = c->here; k < c->n && !c->fits[k];)
            k++;
    ret->fits = c->fits[k];
    ret->fits_later = k > c->here;
    ret->fits_none = !ret->fits && c->whole;
    if (!ret->fits)
        return;
    for (first = k; first > c->least && c->fits[first - 1];)
        first--;
    for (last = k; last < c->n && c->fits[last + 1] && last != c->here;)
        last++;
    if (first > c->least)
        ret->since = c->op[first - 1];
    if (last < c->n && last != c->here)
        ret->until = c->op[last];
}

/* Executes the order, telling what is expected on the way. */
static bool explain(explainer *x, hf_state_view *ret)
{
    changes c = find_changes(x);

    for (uint32_t i = 0; i <= c.n; i++) {
        x->scene.q = i == c.here ? x->place : i > 0 ? c.place[i - 1] + 1 : 0;
        if (i == c.here)
            tell_expected(x, ret);
        if (i >= c.least)
            c.fits[i] = hf_probe_fits(&x->scene, &x->probe) == HF_FITS;
        if (i < c.n)
            c.op[i] = make_change(x, x->e->at[c.place[i]], i >= c.least);
        if (hf_out_of_budget(x->v))
            return false;
    }
    nearest(&c, ret);
    return true;
}

/* ---- all ----------------------------------------------------------------- */

static bool explain_op(hf_verifier *v, const hf_expectation *e, hf_op_id op,
                       hf_arena *arena, hf_state_view *ret)
{
    explainer x = {.v = v, .e = e, .t = hf_op_txn(v->h, op), .arena = arena};

    *ret = (hf_state_view){.op = op,
                           .is_serial = v->info->shape == HF_SHAPE_SERIAL,
                           .since = HF_NONE,
                           .until = HF_NONE};
    if (!hf_probe_open(v, e, x.t, op, &x.probe))
        return false;
    x.place = e->place[x.t];
    x.watched = hf_zeros(v, v->h->n_keys, sizeof(*x.watched));
    hf_probe_watch(v->h, &x.probe, x.watched);
    x.scene = (hf_scene){.v = v, .place = e->place, .t = x.t};
    x.scene.now = hf_nones(v, v->h->n_keys, sizeof(*x.scene.now));
    return explain(&x, ret);
}

/* Operations that say something about a state; those of other transactions
 * are named to explain. */
static bool is_asked(const hf_verifier *v, const hf_witness *w, uint32_t i)
{
    const hf_history *h = v->h;

    if (i > 0 && (hf_op_txn(h, w->ops[i]) != hf_op_txn(h, w->ops[0]) ||
                  v->info->shape == HF_SHAPE_SERIAL))
        return false;
    return hf_op_counts(h, w->ops[i]) &&
           (hf_op_has_predicate(hf_op_kind_of(h, w->ops[i])) ||
            hf_item_reads(h, w->ops[i]) > 0);
}

void hf_expected_explain(hf_verifier *v, hf_arena *arena, hf_witness *w)
{
    const hf_expectation *e = hf_expectation_get(v, w->rests);
    bool reversed = w->n_ops == 3 && w->ops[0] == w->ops[2];
    hf_state_view *states;
    uint32_t n = 0;

    if (!e || w->n_ops == 0 || reversed ||
        e->place[hf_op_txn(v->h, w->ops[0])] == HF_NONE)
        return;
    states = hf_arena_get(arena, hf_array_size(w->n_ops, sizeof(*states)));
    for (uint32_t i = 0; i < w->n_ops; i++)
        if (is_asked(v, w, i) &&
            !explain_op(v, e, w->ops[i], arena, &states[n++]))
            return;
    w->n_states = n;
    w->states = states;
}

/* control_choose.c: what each read of a controlled execution sees.
 *
 * The rules of IsoPredict's query engine (section 5): the read is part of the
 * plan, its writer has written the row, reading it is legal; else the
 * execution diverges and the newest legal version is read.
 */
#include "base/error.h"
#include "run/control_impl.h"

#define NOT_ASKED (HF_NONE - 1)

/* ---- versions ------------------------------------------------------------ */

/* Who wrote a version, of txns; HF_NONE: nobody, it is the initial one. */
static uint32_t writer_of(const hf_controller *c, uint32_t version)
{
    return version == HF_NONE ? HF_NONE : hf_map_get(&c->writer, version);
}

static uint32_t place_of(const hf_controller *c, uint32_t version)
{
    uint32_t t = writer_of(c, version);

    return t == HF_NONE ? HF_NONE : c->txns.at[t].place;
}

static uint32_t older(const hf_controller *c, uint32_t version)
{
    return hf_store_version_at(c->store, version)->prev;
}

/* The version of the key that a transaction left; false: none. */
static bool find_version(const hf_controller *c, uint32_t key, uint32_t txn,
                         uint32_t *ret)
{
    uint32_t v = hf_store_newest(c->store, key);

    while (v != HF_NONE && writer_of(c, v) != txn)
        v = older(c, v);
    *ret = v;
    return v != HF_NONE || txn == HF_NONE;
}

static uint32_t version_at(const hf_controller *c, uint32_t key, uint32_t place)
{
    uint32_t v = HF_NONE;
    uint32_t txn = place == HF_NONE ? HF_NONE : c->by_place.at[place];

    (void)find_version(c, key, txn, &v);
    return v;
}

static uint32_t newest_legal(const hf_controller *c, uint32_t key)
{
    uint32_t v = hf_store_newest(c->store, key);

    for (; v != HF_NONE; v = older(c, v))
        if (hf_legal_may_read(c->legal, key, place_of(c, v)))
            return v;
    return version_at(c, key, hf_legal_view(c->legal, key));
}

/* ---- the plan ------------------------------------------------------------ */

static uint32_t plan_key(hf_controller *c, uint32_t key)
{
    hf_str name;
    uint64_t hash;

    while (c->key_of.n <= key)
        hf_vec_push(&c->key_of, NOT_ASKED);
    if (c->key_of.at[key] != NOT_ASKED)
        return c->key_of.at[key];
    name = hf_controller_key_name(c, key, &c->report->arena);
    for (hash = hf_controller_hash(name);; hash++) {
        uint32_t found = hf_map_get(&c->plan_keys, hash);

        c->key_of.at[key] = found;
        if (found == HF_NONE || hf_str_eq(c->o->plan->keys.at[found], name))
            return found;
    }
}

static void diverge(hf_controller *c, hf_divergence_kind kind, uint32_t key)
{
    hf_divergence d = {.kind = kind, .place = c->place};

    d.key = hf_controller_key_name(c, key, &c->report->arena);
    hf_vec_push(&c->report->divergences, d);
}

/* The next read of this key that the plan has for the transaction. */
static const hf_plan_read *next_read(hf_controller *c, uint32_t key)
{
    const hf_plan *p = c->o->plan;
    const hf_plan_txn *t = &p->txns.at[c->place];
    uint32_t wanted = plan_key(c, key);

    for (uint32_t i = 0; i < t->n_reads && wanted != HF_NONE; i++) {
        const hf_plan_read *r = &p->reads.at[t->first_read + i];

        if (r->key != wanted || c->used.at[i])
            continue;
        c->used.at[i] = true;
        return r;
    }
    return NULL;
}

/* Is what the plan says of this transaction behind us? */
static bool is_beyond(const hf_controller *c)
{
    const hf_plan *p = c->o->plan;
    const hf_plan_txn *t = &p->txns.at[c->place];

    if (t->aborts)
        return true;
    for (uint32_t i = 0; i < t->n_reads && t->cut; i++)
        if (!c->used.at[i] &&
            p->reads.at[t->first_read + i].wish != HF_PLAN_BEYOND)
            return false;
    return t->cut;
}

/* HF_DIVERGENCE_COUNT: none, *ret is the version. */
static hf_divergence_kind find_planned(hf_controller *c, uint32_t key,
                                       const hf_plan_read *r, uint32_t *ret)
{
    uint32_t txn = HF_NONE;

    if (r->source != HF_NONE) {
        if (r->source >= c->ran.n)
            return HF_DIVERGED_WRITER;
        txn = c->ran.at[r->source];
    }
    if (!find_version(c, key, txn, ret))
        return HF_DIVERGED_WRITER;
    return hf_legal_may_read(c->legal, key, place_of(c, *ret))
               ? HF_DIVERGENCE_COUNT
               : HF_DIVERGED_LEVEL;
}

static uint32_t choose_planned(hf_controller *c, uint32_t key)
{
    const hf_plan_read *r = next_read(c, key);
    hf_divergence_kind kind = HF_DIVERGED_KEY;
    bool tolerated = r ? r->wish == HF_PLAN_BEYOND : is_beyond(c);
    uint32_t v = HF_NONE;

    if (tolerated && c->o->beyond == HF_BEYOND_ALOOF)
        return version_at(c, key, hf_legal_view(c->legal, key));
    if (tolerated && c->o->beyond == HF_BEYOND_NEWEST)
        return newest_legal(c, key);
    if (r)
        kind = find_planned(c, key, r, &v);
    if (kind == HF_DIVERGENCE_COUNT) {
        c->report->n_changed_reads += r->wish == HF_PLAN_CHANGED;
        return v;
    }
    if (!tolerated)
        diverge(c, kind, key);
    return newest_legal(c, key);
}

/* An INSERT looks whether the row is there: as planned, or else at what the
 * transaction sees, or at the newest version where the database has to.  That
 * it looks at another row than observed is no divergence of its own. */
static uint32_t look(hf_controller *c, uint32_t key)
{
    const hf_plan_read *r;
    uint32_t v;

    if (!c->o->plan || hf_legal_unique(c->o->rule) ||
        c->o->plan->txns.at[c->place].aborts)
        return hf_store_newest(c->store, key);
    r = next_read(c, key);
    if (r && find_planned(c, key, r, &v) == HF_DIVERGENCE_COUNT)
        return v;
    return version_at(c, key, hf_legal_view(c->legal, key));
}

/* ---- calls of the store -------------------------------------------------- */

static uint32_t choose(void *user, uint32_t key, bool check)
{
    hf_controller *c = user;
    uint32_t v;

    if (!c->running || (!check && c->step && c->step->blind))
        return hf_store_newest(c->store, key);
    if (check)
        v = look(c, key);
    else if (c->o->plan)
        v = choose_planned(c, key);
    else
        v = hf_store_newest(c->store, key);
    /* only where a row that is not seen is refused: then it is no read */
    if (check && !hf_legal_may_read(c->legal, key, place_of(c, v)))
        return v;
    hf_legal_read(c->legal, key, place_of(c, v));
    hf_vec_push(&c->events,
                (hf_event){.kind = HF_EVENT_READ,
                           .key = key,
                           .version = v,
                           .locks = c->step && hf_step_locks(c->step)});
    return v;
}

static void wrote(void *user, uint32_t key, hf_op_kind kind)
{
    hf_controller *c = user;
    size_t i = 0;

    if (!c->running)
        return;
    while (i < c->written.n && c->written.at[i] != key)
        i++;
    if (i == c->written.n)
        hf_vec_push(&c->written, key);
    hf_vec_push(&c->events,
                (hf_event){.kind = kind == HF_OP_DELETE ? HF_EVENT_DELETE
                                                        : HF_EVENT_WRITE,
                           .key = key});
}

static void scan(void *user, const hf_db_asked *asked)
{
    hf_controller *c = user;
    hf_event e = {.kind = HF_EVENT_SCAN_END, .at = (uint32_t)c->scans.n};
    hf_db_term *terms;

    if (!c->running)
        return;
    if (asked) {
        e.kind = HF_EVENT_SCAN;
        terms = hf_arena_get(&c->report->arena,
                             (asked->n_terms + 1) * sizeof(*terms));
        for (uint32_t i = 0; i < asked->n_terms; i++) {
            terms[i] = asked->terms[i];
            if (terms[i].value.type == HF_SQL_TEXT)
                terms[i].value.text =
                    hf_arena_text(&c->report->arena, terms[i].value.text,
                                  terms[i].value.length);
        }
        hf_vec_push(&c->scans,
                    (hf_db_asked){asked->table, asked->n_terms, terms});
    }
    hf_vec_push(&c->events, e);
}

const hf_db_control hf_controller_calls = {NULL, choose, wrote, scan};

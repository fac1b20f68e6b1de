/* explain.c: violations as data: their parts, and what a bad read saw.
 *
 * Only what was found wrong comes here, so nothing in this file is fast.
 */
#include "watch/inside.h"

void hf_watch_part_add(hf_violation *v, hf_violation_part part)
{
    if (v->n_parts < HF_VIOLATION_PARTS)
        v->parts[v->n_parts++] = part;
    else
        v->parts_left_out++;
}

void hf_watch_edge_add(hf_violation *v, uint64_t from, uint64_t to,
                       uint32_t key, hf_watch_dependency kind)
{
    if (v->n_edges < HF_VIOLATION_EDGES)
        v->edges[v->n_edges++] =
            (hf_violation_edge){from, to, key, (uint8_t)kind};
}

void hf_watch_past_add(hf_watch *w, past_write p)
{
    w->past[w->n_past++ % PAST_WRITES] = p;
}

static void saw(hf_violation *v, hf_watch_rule rule, uint64_t txn,
                hf_violation_part part)
{
    v->rule = rule;
    v->other = txn;
    part.txn = txn;
    part.key = v->key;
    part.value = v->value;
    part.has_value = true;
    hf_watch_part_add(v, part);
}

/* A committed version of the key that is no candidate. */
static bool saw_version(const hf_watch *w, hf_violation *v, span snapshot,
                        span read)
{
    const watch_key *k = key_at(w, v->key);
    const watch_version *at = k->n == 1 ? &k->one : k->many;

    for (unsigned i = k->n; i-- > 0;) {
        hf_watch_rule rule = HF_RULE_STALE;

        if (at[i].value != v->value || (at[i].ref & VERSION_WILD))
            continue;
        if (at[i].at.lo > snapshot.hi)
            rule = at[i].at.lo > read.hi ? HF_RULE_DIRTY : HF_RULE_FUTURE;
        saw(v, rule, version_txn(&at[i]),
            (hf_violation_part){.before = at[i].at.lo,
                                .after = at[i].at.hi,
                                .part = HF_PART_COMMIT});
        return true;
    }
    return false;
}

static bool saw_dropped(const hf_watch *w, hf_violation *v)
{
    const watch_shard *s = &w->shards[key_at(w, v->key)->row % SHARDS];
    uint64_t n = s->n_dropped < DROPPED ? s->n_dropped : DROPPED;

    for (uint64_t i = 1; i <= n; i++) {
        const dropped_version *d = &s->dropped[(s->n_dropped - i) % DROPPED];

        if (d->key != v->key || d->version.value != v->value ||
            (d->version.ref & VERSION_WILD))
            continue;
        saw(v, HF_RULE_STALE, version_txn(&d->version),
            (hf_violation_part){.before = d->version.at.lo,
                                .after = d->version.at.hi,
                                .part = HF_PART_COMMIT});
        return true;
    }
    return false;
}

static bool saw_running(const hf_watch *w, hf_violation *v)
{
    for (size_t i = 0; i < w->txns.n; i++) {
        const watch_txn *t = &w->txns.at[i];

        for (size_t j = 0; t->is_running && j < t->writes.n; j++) {
            const own_write *o = &t->writes.at[j];

            if (o->key != v->key || o->value != v->value || t->id == v->txn)
                continue;
            saw(v, HF_RULE_DIRTY, t->id,
                (hf_violation_part){.before = o->at.lo,
                                    .after = o->at.hi,
                                    .part = HF_PART_WRITE});
            return true;
        }
    }
    return false;
}

static bool saw_past(const hf_watch *w, hf_violation *v)
{
    uint64_t n = w->n_past < PAST_WRITES ? w->n_past : PAST_WRITES;

    for (uint64_t i = 1; i <= n; i++) {
        const past_write *p = &w->past[(w->n_past - i) % PAST_WRITES];

        if (p->key != v->key || p->value != v->value || p->txn == v->txn)
            continue;
        saw(v, p->is_aborted ? HF_RULE_ABORTED : HF_RULE_INTERMEDIATE, p->txn,
            (hf_violation_part){
                .before = p->at.lo, .after = p->at.hi, .part = HF_PART_WRITE});
        if (p->is_aborted)
            saw(v, v->rule, p->txn,
                (hf_violation_part){.before = p->end.lo,
                                    .after = p->end.hi,
                                    .part = HF_PART_ABORT});
        return true;
    }
    return false;
}

void hf_watch_explain_read(hf_watch *w, hf_violation *v)
{
    span snapshot = {v->parts[0].before, v->parts[0].after};
    span read = {v->parts[1].before, v->parts[1].after};

    if (v->rule != HF_RULE_NEVER)
        return;
    if (!saw_version(w, v, snapshot, read) && !saw_dropped(w, v) &&
        !saw_running(w, v))
        (void)saw_past(w, v);
}

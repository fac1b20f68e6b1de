/* poly_entries.c: version sets whose entries several may have written.
 *
 * Which of several equal versions a condition looked at is a choice, as the
 * source of a read is (poly_choices.c), but it makes no edges by itself: an
 * entry that was not returned says something about the changes of the matches
 * around it, and that is a matter of the whole order.  So while nothing else
 * is known an entry is the newest before its reader, and it is chosen only
 * when a cycle rests on it (poly_conditions.c).
 *
 * So it is with rows of which no version set was recorded: of every other key
 * of the table some version was looked at that does not satisfy the condition.
 * One that the transaction wrote itself before, and that does, is a choice of
 * nothing.
 *
 * The entries of all version sets; without those the versions of the table.
 */
#include "check/poly_worlds.h"

/* ---- what was looked at -------------------------------------------------- */

static bool is_listed(const hf_pred_entries *all, hf_key_id key)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].key == key)
            return true;
    return false;
}

void hf_looks_add(hf_pred *p, const hf_pred_op *o, hf_looks *ret)
{
    const hf_history *h = p->g->h;
    hf_pred_entries *all = &p->entries;
    hf_op_id own;

    if (!hf_pred_sort_rows(p, &o->q))
        return;
    (void)hf_pred_entries_of(p, o, true, all);
    for (size_t i = 0; i < all->n; i++) {
        const hf_pred_entry *e = &all->at[i];

        if (!e->own || (e->unlisted && hf_pred_matches(p, o, e) == HF_SQL_TRUE))
            hf_vec_push(ret, (hf_look){o->op,
                                       e->key,
                                       e->ver,
                                       e->returned ? HF_NONE : o->condition,
                                       {e->value, e->writer},
                                       e->unlisted,
                                       e->own});
    }
    for (size_t i = 0; !o->aggregate && i < p->rows.n; i++) {
        hf_version_ref row = p->rows.at[i];
        hf_key_id key = h->value_key[row.value];

        if (!is_listed(all, key) &&
            !hf_pred_own_write(h, o->txn, o->op, key, &own))
            hf_vec_push(ret,
                        (hf_look){o->op, key, hf_pred_version(p, o, row, true),
                                  HF_NONE, row, false, false});
    }
}

uint64_t hf_worlds_n_unlisted(const hf_worlds *w)
{
    const hf_pred *p = w->pred;
    uint64_t n = 0;

    for (size_t i = 0; p->has_unlisted && i < p->ops.n; i++)
        if (p->ops.at[i].unlisted && !p->ops.at[i].aggregate)
            n += p->tables.at[p->conditions.at[p->ops.at[i].condition].table].n;
    return n;
}

static void list_looks(hf_worlds *w, hf_txn_id t, hf_looks *ret)
{
    hf_pred *p = w->pred;

    for (uint32_t i = p->op_first[t]; i < p->op_first[t + 1]; i++)
        hf_looks_add(p, &p->ops.at[i], ret);
}

/* ---- choices ------------------------------------------------------------- */

/* Several may have written it, and it is not said who did. */
static bool is_open(const hf_graph *g, const hf_look *l)
{
    if (l->unlisted)
        return !(g->key_use[l->key] & (HF_USE_LIST | HF_USE_BLIND));
    return l->ref.writer == HF_NONE && l->ref.value != HF_NONE &&
           g->value[l->ref.value].ver == HF_VER_SEVERAL &&
           !(g->key_use[l->key] & (HF_USE_LIST | HF_USE_BLIND));
}

void hf_worlds_choose_entries(hf_worlds *w, hf_txn_id t)
{
    hf_poly *p = &w->p;
    hf_looks looks = {0};

    if (!hf_graph_reads_matter(w->g, t))
        return;
    list_looks(w, t, &looks);
    for (size_t i = 0; i < looks.n; i++) {
        const hf_look *l = &looks.at[i];
        hf_poly_choice c = {.op = l->op,
                            .reader = t,
                            .key = l->key,
                            .first = (uint32_t)p->candidates.n,
                            .entry = true};

        if (!is_open(w->g, l))
            continue;
        hf_map_set(&p->entry_of, (uint64_t)l->op << 32 | l->key,
                   (uint32_t)p->choices.n);
        hf_vec_push(&p->choices, c);
        if (!l->unlisted)
            hf_worlds_add_candidates(w, l->ref.value);
        else if (!l->own)
            hf_worlds_add_unlisted(w, l->condition);
    }
    hf_vec_release(&looks);
}

void hf_worlds_bind_entries(hf_worlds *w, hf_txn_id t)
{
    hf_looks looks = {0};

    if (!hf_graph_reads_matter(w->g, t))
        return;
    list_looks(w, t, &looks);
    for (size_t i = 0; i < looks.n; i++)
        if (looks.at[i].ver != HF_NONE && !is_open(w->g, &looks.at[i]))
            hf_worlds_add_outcome(
                w, t,
                (hf_poly_clause){.kind = HF_STEP_HAPPENED,
                                 .op = looks.at[i].op,
                                 .writer = w->g->ver_txn[looks.at[i].ver],
                                 .entry = looks.at[i].key + 1});
    hf_vec_release(&looks);
}

void hf_worlds_set_entries(hf_worlds *w)
{
    const hf_poly *p = &w->p;

    for (uint32_t i = 0; i < p->choices.n; i++) {
        const hf_poly_choice *c = &p->choices.at[i];
        uint32_t taken;
        hf_txn_id from;

        if (!c->entry || !w->happened[c->reader])
            continue;
        taken = hf_poly_taken(p, i);
        if (taken == HF_NONE)
            taken = hf_poly_told(p, i);
        from = p->candidates.at[c->first + taken].writer;
        hf_map_set(&w->entries, (uint64_t)c->op << 32 | c->key, from + 1);
    }
}

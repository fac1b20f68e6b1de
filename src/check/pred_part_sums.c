/* pred_part_sums.c: aggregates of conditions that are put together from parts.
 *
 * As in pred_sums.c the versions are gone through by commit time, once for all
 * aggregates of one column, and each operation adds up what its parts have when
 * its snapshot is reached.  Every part keeps a running total of those of its
 * versions that are the newest of their keys: a version is added when it comes
 * and taken away when the next one does, in all parts that have it.  Where the
 * least and the greatest are asked for, a part also has its versions in the
 * order of the column, with a bit for each that is there (base/bits.h).
 *
 * O(entries + covers of the operations) where an entry is a version in a part
 * (pred_parts.c); times a logarithm to sort them for the extremes.
 */
#include "check/pred.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* A part that some of the questions are about. */
typedef struct ledger {
    hf_pred_total total;
    uint32_t odd[3];
    uint32_t part;
    size_t first; /* in sums.sorted */
    hf_bits there;
} ledger;

/* A version in a part. */
typedef struct entry {
    uint32_t ledger;
    uint32_t at; /* its bit; HF_NONE: it has none */
} entry;

typedef struct sums {
    hf_pred *p;
    uint32_t table;
    const hf_pred_table *t;
    const hf_pred_column *of;
    bool extremes;       /* are asked for */
    uint32_t *ledger_of; /* per part; HF_NONE */
    HF_VEC(ledger) ledgers;
    uint32_t *first; /* per version of the table, and one more */
    entry *entries;
    uint32_t *sorted; /* places, ledger by ledger */
    uint32_t *now;    /* per key: its newest version */
    uint32_t done;    /* ticks */
    hf_pred_keys keys;
} sums;

/* ---- entries ------------------------------------------------------------- */

static const uint32_t *versions_of(const sums *s, const ledger *l, uint32_t *n)
{
    const hf_pred_part *part = &s->p->parts.at[l->part];

    *n = part->n;
    return s->p->part_vers.at + part->first;
}

/* The parts of all questions. */
static void open_ledgers(sums *s, const hf_pred_question *all, size_t n)
{
    const hf_pred *p = s->p;

    s->ledgers.n = 0;
    for (size_t i = 0; i < n; i++) {
        const hf_pred_condition *c =
            &p->conditions.at[p->ops.at[all[i].op].condition];

        for (uint32_t k = 0; k < c->n_covers[1]; k++) {
            uint32_t part =
                p->chain.at[p->covers.at[c->cover_first[1] + k]].part;

            if (s->ledger_of[part] != HF_NONE)
                continue;
            s->ledger_of[part] = (uint32_t)s->ledgers.n;
            hf_vec_push(&s->ledgers, ((ledger){.part = part}));
        }
    }
}

/* The bits of a part's versions, in the order of the column. */
static void order_ledger(sums *s, ledger *l, uint32_t *bit, size_t *room)
{
    uint32_t n, n_ordered = 0;
    const uint32_t *ver = versions_of(s, l, &n);
    hf_sortable *all = HF_NEW_ARRAY(hf_sortable, (size_t)n + 1);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = s->p->ver_place[ver[i]];

        bit[place] = HF_NONE;
        if (!s->of->missing[place] && s->of->value[place].type != HF_SQL_NULL)
            all[n_ordered++] = (hf_sortable){s->of->number[place], place};
    }
    hf_sort(all, n_ordered);
    l->first = *room;
    for (uint32_t i = 0; i < n_ordered; i++) {
        bit[all[i].value] = i;
        s->sorted[(*room)++] = (uint32_t)all[i].value;
    }
    hf_bits_init(&l->there, n_ordered);
    hf_free(all);
}

static void list_entries(sums *s)
{
    uint32_t *bit = HF_NEW_ARRAY(uint32_t, (size_t)s->t->n + 1);
    size_t total = 0, room = 0;
    uint32_t n;

    s->first = HF_NEW_ZEROED(uint32_t, (size_t)s->t->n + 3);
    for (size_t i = 0; i < s->ledgers.n; i++) {
        const uint32_t *ver = versions_of(s, &s->ledgers.at[i], &n);

        for (uint32_t k = 0; k < n; k++)
            s->first[s->p->ver_place[ver[k]] + 2]++;
    }
    for (uint32_t i = 0; i < s->t->n; i++)
        s->first[i + 2] += s->first[i + 1];
    total = s->first[s->t->n + 1];
    s->entries = hf_alloc_large(hf_array_size(total + 1, sizeof(entry)));
    s->sorted = hf_alloc_large(
        hf_array_size(s->extremes ? total + 1 : 1, sizeof(uint32_t)));
    memset(bit, 0xff, ((size_t)s->t->n + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < s->ledgers.n; i++) {
        const uint32_t *ver = versions_of(s, &s->ledgers.at[i], &n);

        if (s->extremes)
            order_ledger(s, &s->ledgers.at[i], bit, &room);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t place = s->p->ver_place[ver[k]];

            s->entries[s->first[place + 1]++] =
                (entry){(uint32_t)i, bit[place]};
        }
    }
    hf_free(bit);
}

/* ---- over time ----------------------------------------------------------- */

/* The version comes (1), or goes (-1). */
static void change(sums *s, uint32_t ver, int sign)
{
    uint32_t place = s->p->ver_place[ver];

    for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
        ledger *l = &s->ledgers.at[s->entries[i].ledger];

        hf_pred_count_value(&l->total, l->odd, &s->of->value[place],
                            s->of->missing[place], sign);
        if (s->entries[i].at == HF_NONE)
            continue;
        if (sign > 0)
            hf_bits_add(&l->there, s->entries[i].at);
        else
            hf_bits_remove(&l->there, s->entries[i].at);
    }
}

static void begin(sums *s, const hf_pred_question *all, size_t n)
{
    const hf_graph *g = s->p->g;

    s->table = all[0].table;
    s->t = &s->p->tables.at[s->table];
    hf_pred_sort_column(s->p, s->table, all[0].column);
    hf_pred_number_column(s->p, s->table, all[0].column);
    s->of = &s->t->columns.at[all[0].column];
    s->extremes = false;
    s->done = 0;
    for (size_t i = 0; i < n; i++) {
        hf_op_kind kind = hf_op_kind_of(g->h, s->p->ops.at[all[i].op].op);

        s->extremes |= kind == HF_OP_MIN || kind == HF_OP_MAX;
    }
    /* of decimals the largest says how far a sum may have been rounded */
    for (uint32_t i = 0; i < s->t->n && !s->extremes; i++)
        s->extremes = s->of->value[i].type == HF_SQL_DECIMAL;
    open_ledgers(s, all, n);
    list_entries(s);
    for (uint32_t i = 0; i < s->t->n; i++)
        if (g->ver_txn[s->t->ver[i]] == HF_NONE) {
            s->now[s->p->ver_key[s->t->ver[i]]] = s->t->ver[i];
            change(s, s->t->ver[i], 1);
        }
}

static void end(sums *s)
{
    for (size_t i = 0; i < s->ledgers.n; i++) {
        s->ledger_of[s->ledgers.at[i].part] = HF_NONE;
        hf_bits_release(&s->ledgers.at[i].there);
    }
    hf_free(s->first);
    hf_free(s->entries);
    hf_free(s->sorted);
}

/* What was committed by the snapshot. */
static void advance(sums *s, uint32_t ticks)
{
    const hf_pred *p = s->p;

    for (; s->done < ticks; s->done++) {
        uint32_t ver = p->tick_ver[s->done];
        hf_key_id key = p->ver_key[ver];

        if (p->table_of_key[key] != s->table)
            continue;
        change(s, s->now[key], -1);
        change(s, ver, 1);
        s->now[key] = ver;
    }
}

static void add_ledger(const sums *s, const ledger *l, hf_pred_total *sum)
{
    hf_pred_total t = l->total;
    uint32_t least = HF_BITS_NONE, most;

    hf_pred_note_odd(&t, l->odd);
    if (s->extremes)
        least = hf_bits_up(&l->there, 0);
    t.has_extremes = least != HF_BITS_NONE;
    if (t.has_extremes) {
        most = hf_bits_down(&l->there, l->there.n);
        t.min = s->of->value[s->sorted[l->first + least]];
        t.max = s->of->value[s->sorted[l->first + most]];
    }
    hf_pred_join(sum, &t);
}

static void ask(sums *s, const hf_pred_op *o)
{
    hf_pred *p = s->p;
    const hf_pred_condition *c = &p->conditions.at[o->condition];
    hf_pred_total total = {0}, own;

    hf_pred_own_total(p, o, s->of->name, &s->keys, &own);
    for (size_t i = 0; i < s->keys.n; i++)
        change(s, s->now[s->keys.at[i]], -1);
    for (uint32_t i = 0; i < c->n_covers[1]; i++) {
        uint32_t part = p->chain.at[p->covers.at[c->cover_first[1] + i]].part;

        add_ledger(s, &s->ledgers.at[s->ledger_of[part]], &total);
    }
    for (size_t i = 0; i < s->keys.n; i++)
        change(s, s->now[s->keys.at[i]], 1);
    hf_pred_join(&total, &own);
    hf_pred_judge_total(p, o, &o->q, &total);
}

/* ---- all ----------------------------------------------------------------- */

/* Questions are told apart by the aggregate's column. */
static void answer(void *user, const hf_pred_question *all, size_t n)
{
    sums *s = user;

    begin(s, all, n);
    for (size_t i = 0; i < n && !hf_graph_spent(s->p->g); i++) {
        advance(s, all[i].ticks);
        ask(s, &s->p->ops.at[all[i].op]);
    }
    end(s);
}

void hf_pred_part_totals(hf_pred *p)
{
    hf_pred_questions all = {0};
    sums s = {.p = p};

    for (uint32_t i = 0; i < p->ops.n; i++) {
        const hf_pred_op *o = &p->ops.at[i];
        const hf_pred_condition *c = &p->conditions.at[o->condition];

        if (o->timed && o->aggregate && o->q.has_result_set && c->n_axes > 1)
            hf_vec_push(&all, ((hf_pred_question){
                                  c->table, hf_pred_total_column(p, o, &o->q),
                                  HF_NONE, o->ticks, i}));
    }
    if (all.n == 0)
        return;
    s.now = HF_NEW_ARRAY(uint32_t, (size_t)p->g->h->n_keys + 1);
    s.ledger_of = HF_NEW_ARRAY(uint32_t, p->parts.n + 1);
    memset(s.ledger_of, 0xff, (p->parts.n + 1) * sizeof(uint32_t));
    hf_pred_ask_in_turn(p, &all, answer, &s);
    hf_vec_release(&all);
    hf_vec_release(&s.ledgers);
    hf_vec_release(&s.keys);
    hf_free(s.ledger_of);
    hf_free(s.now);
}

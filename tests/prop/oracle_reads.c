/* oracle_reads.c: what a list read says about the order of its writers, and
 * which writes a register read may come from.
 */
#include "oracle_model.h"

/* ---- lists --------------------------------------------------------------- */

/* One element of the sequence of all committed elements of a key. */
typedef struct element {
    uint32_t value;
    int txn;
    int number; /* of its transaction's appends to the key, from 0 */
    bool last;  /* of them */
} element;

static int sequence_of(const o_world *w, int key, const o_orders *o,
                       element *ret)
{
    int n = 0;

    for (int i = 0; i < o->n[key]; i++) {
        int t = o->at[key][i], number = 0;

        for (int s = 0; s < w->m->txns[t].n_steps; s++) {
            const o_step *step = &w->m->txns[t].steps[s];

            if (step->kind == O_APPEND && step->key == key)
                ret[n++] = (element){step->value, t, number++, false};
        }
        if (number)
            ret[n - 1].last = true;
    }
    return n;
}

static int appends_before(const o_world *w, int txn, int key, int step)
{
    int n = 0;

    for (int i = 0; i < step; i++) {
        const o_step *s = &w->m->txns[txn].steps[i];

        n += s->kind == O_APPEND && s->key == key;
    }
    return n;
}

/* Someone whose outcome is aborted (in this world) appended the value. */
static bool appended_by_aborted(const o_world *w, int key, uint32_t value)
{
    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; !w->in[t] && i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];

            if (s->kind == O_APPEND && s->key == key && s->value == value)
                return true;
        }
    return false;
}

/* Can the items be made seq[0 .. n-1] by leaving out aborted elements? */
static bool thins_to(const o_world *w, int key, const uint32_t *items,
                     int n_items, const element *seq, int n)
{
    if (n_items == 0)
        return n == 0;
    if (n > 0 && items[0] == seq[0].value &&
        thins_to(w, key, items + 1, n_items - 1, seq + 1, n - 1))
        return true;
    return appended_by_aborted(w, key, items[0]) &&
           thins_to(w, key, items + 1, n_items - 1, seq, n);
}

/* At read-uncommitted only the own appends and the order count. */
static bool fits_uncommitted(const o_world *w, int txn, int step,
                             const element *seq, int n)
{
    const o_step *s = &w->m->txns[txn].steps[step];
    int own = appends_before(w, txn, s->key, step);

    for (int len = 0; len <= n; len++) {
        if (!own) {
            if (thins_to(w, s->key, s->items, s->n_items, seq, len))
                return true;
        } else if (len > 0 && seq[len - 1].txn == txn &&
                   seq[len - 1].number == own - 1 && s->n_items > 0 &&
                   s->items[s->n_items - 1] == seq[len - 1].value) {
            return thins_to(w, s->key, s->items, s->n_items - 1, seq, len - 1);
        }
    }
    return false;
}

static bool fits(const o_world *w, int txn, int step, const element *seq, int n,
                 o_reads *reads)
{
    const o_step *s = &w->m->txns[txn].steps[step];
    int own = appends_before(w, txn, s->key, step), seen = 0;

    if (s->n_items > n)
        return false;
    for (int i = 0; i < s->n_items; i++) {
        if (s->items[i] != seq[i].value)
            return false;
        seen += seq[i].txn == txn;
    }
    if (seen != own)
        return false;
    if (own)
        return seq[s->n_items - 1].txn == txn;
    if (s->n_items && !seq[s->n_items - 1].last)
        return false;
    if (reads)
        reads->at[reads->n++] = (o_read){
            .txn = txn,
            .step = step,
            .key = s->key,
            .source = s->n_items ? seq[s->n_items - 1].txn : O_INITIAL};
    return true;
}

bool o_lists_fit(const o_world *w, int key, const o_orders *o, bool uncommitted,
                 o_reads *reads)
{
    element seq[O_TXNS * O_STEPS];
    int n = sequence_of(w, key, o, seq);

    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; w->in[t] && i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];

            if (s->kind != O_LIST || s->key != key)
                continue;
            if (uncommitted ? !fits_uncommitted(w, t, i, seq, n)
                            : !fits(w, t, i, seq, n, reads))
                return false;
        }
    return true;
}

/* ---- registers ----------------------------------------------------------- */

/* May read r take the version of transaction t, at a level that has no dirty
 * and no intermediate reads? */
static bool is_source(const o_world *w, const o_read *r, int t)
{
    uint32_t v = r->value, last;

    if (r->unlisted && t == O_INITIAL)
        v = w->m->initial[r->key];
    else if (r->unlisted &&
             !o_own_write(w->m, t, r->key, w->m->txns[t].n_steps, &v))
        return false;
    if (r->unlisted && o_matches(w->m, &w->m->txns[r->txn].steps[r->step], v))
        return false;
    if (r->writer != O_ANY_WRITER && r->writer != t)
        return false;
    if (w->m->txns[r->txn].steps[r->step].kind == O_COUNT)
        return t == O_INITIAL ||
               (w->in[t] && t != r->txn && o_writes(w->m, t, r->key));
    if (t == O_INITIAL)
        return w->m->initial[r->key] == v;
    return w->in[t] && t != r->txn &&
           o_own_write(w->m, t, r->key, w->m->txns[t].n_steps, &last) &&
           last == v;
}

static o_levels choose(const o_world *w, o_reads *reads, int i, o_levels wanted,
                       o_sources_body body)
{
    o_levels found = 0;

    if (i == reads->n)
        return body(w, reads, wanted);

    o_read *r = &reads->at[i];

    for (int t = O_INITIAL; t < w->m->n_txns && found != wanted; t++) {
        if (!is_source(w, r, t))
            continue;
        r->source = t;
        found |= choose(w, reads, i + 1, wanted & ~found, body);
    }
    return found;
}

/* Adds the read unless it is of an own write; false if it should be. */
static bool add_read(const o_world *w, o_read r, o_reads *reads)
{
    uint32_t own;

    if (o_own_write(w->m, r.txn, r.key, r.step, &own)) {
        if (!r.unlisted)
            return w->m->txns[r.txn].steps[r.step].kind == O_COUNT ||
                   (own == r.value &&
                    (r.writer == O_ANY_WRITER || r.writer == r.txn));
        if (!o_matches(w->m, &w->m->txns[r.txn].steps[r.step], own))
            return true;
        r.writer = r.txn; /* it should have seen that: nobody's version */
    }
    reads->at[reads->n++] = r;
    return true;
}

bool o_register_reads(const o_world *w, o_reads *reads)
{
    bool ok = true;

    for (int t = 0; t < w->m->n_txns; t++)
        for (int i = 0; w->in[t] && i < w->m->txns[t].n_steps; i++) {
            const o_step *s = &w->m->txns[t].steps[i];
            o_read r = {t,     i,    s->key, O_INITIAL, s->value, O_ANY_WRITER,
                        false, false};

            if (s->kind == O_READ || s->kind == O_COUNT)
                ok = add_read(w, r, reads) && ok;
            for (int e = 0; s->kind == O_PREDICATE && e < s->n_entries; e++) {
                r.key = s->entries[e].key;
                r.value = s->entries[e].value;
                r.writer = s->entries[e].writer;
                r.view = !s->entries[e].matches;
                r.unlisted = s->entries[e].unlisted;
                ok = add_read(w, r, reads) && ok;
            }
        }
    return ok;
}

o_levels o_each_sources(const o_world *w, o_levels wanted, o_sources_body body)
{
    o_reads reads = {0};

    if (!o_register_reads(w, &reads))
        return 0;
    return choose(w, &reads, 0, wanted, body);
}

/* Two looks at one key by one transaction, neither after an own write: both
 * see one version, or, if one is only a view, the other is no match there. */
static bool agree(const o_world *w, const o_read *a, const o_read *b)
{
    if (a->view && b->view)
        return true;
    if (a->view)
        return !o_matches(w->m, &w->m->txns[a->txn].steps[a->step], b->value);
    if (b->view)
        return agree(w, b, a);
    return a->source == b->source;
}

bool o_repeatable(const o_world *w, const o_reads *reads)
{
    for (int i = 0; i < reads->n; i++)
        for (int j = 0; j < i; j++)
            if (reads->at[i].txn == reads->at[j].txn &&
                reads->at[i].key == reads->at[j].key &&
                !agree(w, &reads->at[i], &reads->at[j]))
                return false;
    return true;
}

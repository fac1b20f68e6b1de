/* chain_order.c: which of two chains is known to be the earlier one.
 *
 * The versions of a chain stand next to each other, so what is certain of one
 * version of each is certain of all.  There can be many pairs; instead of
 * asking about each, each reason is asked about all at once: the first of the
 * one chain by the certificate or in time against the last of the other, the
 * first of it in each session, and whether somebody of the other reads from
 * somebody of it.  In lists the first versions tell: whoever appended to a
 * list read it before, so if a version of a chain is in a list the first one
 * is.
 */
#include "base/map.h"
#include "verify/sources.h"

static bool by_certificate(const hf_certain *c, const hf_chains *chains,
                           uint32_t a, uint32_t b)
{
    uint32_t first = HF_NONE, last = HF_NONE;

    for (; a != HF_NONE; a = chains->next[a]) {
        uint32_t place = hf_certificate_place(c, a);

        first = place < first ? place : first;
    }
    for (; b != HF_NONE; b = chains->next[b]) {
        uint32_t place = hf_certificate_place(c, b);

        if (place != HF_NONE && (last == HF_NONE || place > last))
            last = place;
    }
    return first != HF_NONE && last != HF_NONE && first < last;
}

static bool by_time(const hf_certain *c, const hf_chains *chains, uint32_t a,
                    uint32_t b)
{
    const hf_history *h = c->v->h;
    const hf_txn_id *txn = c->v->facts.write_txn;
    hf_txn_id first = HF_NONE, last = HF_NONE;

    for (; a != HF_NONE; a = chains->next[a])
        if (h->txn_outcome[txn[a]] == HF_COMMITTED &&
            (first == HF_NONE ||
             hf_txn_end_time(h, txn[a]) < hf_txn_end_time(h, first)))
            first = txn[a];
    for (; b != HF_NONE; b = chains->next[b])
        if (hf_level_of(c->v, txn[b])->real_time &&
            hf_txn_begin_time(h, txn[b]) != HF_TIME_NONE &&
            (last == HF_NONE ||
             hf_txn_begin_time(h, txn[b]) > hf_txn_begin_time(h, last)))
            last = txn[b];
    return first != HF_NONE && last != HF_NONE &&
           hf_time_before(h, first, last);
}

static bool by_session(const hf_certain *c, const hf_chains *chains, uint32_t a,
                       uint32_t b)
{
    const hf_history *h = c->v->h;
    const hf_txn_id *txn = c->v->facts.write_txn;
    bool found = false;
    hf_map first;

    hf_map_init(&first);
    for (; a != HF_NONE; a = chains->next[a]) {
        hf_session_id s = h->txn_session[txn[a]];

        if (txn[a] < hf_map_get(&first, s))
            hf_map_set(&first, s, txn[a]);
    }
    for (; b != HF_NONE && !found; b = chains->next[b])
        found = hf_level_of(c->v, txn[b])->session_order &&
                hf_map_get(&first, h->txn_session[txn[b]]) < txn[b];
    hf_map_release(&first);
    return found;
}

static bool by_reads(const hf_certain *c, const hf_chains *chains, uint32_t a,
                     uint32_t b)
{
    const hf_txn_id *txn = c->v->facts.write_txn;
    hf_notes *marked;

    if (!c->read_first)
        return false;
    marked = hf_notes_begin(c->v, HF_NOTES_TXNS);
    for (; a != HF_NONE; a = chains->next[a])
        hf_note(marked, txn[a], 1);
    for (; b != HF_NONE; b = chains->next[b])
        for (uint32_t i = c->read_first[txn[b]]; i < c->read_first[txn[b] + 1];
             i++)
            if (hf_reads_matter_to(c->v, txn[b]) &&
                hf_note_of(marked, c->read_from[i]))
                return true;
    return false;
}

bool hf_chain_before(const hf_certain *c, const hf_chains *chains, uint32_t a,
                     uint32_t b)
{
    const hf_verifier *v = c->v;
    const hf_facts *f = &v->facts;

    return chains->leads[a] ||
           hf_before_if_both(c, f->write_txn[a], f->write_txn[b],
                             f->write_key[a]) ||
           by_certificate(c, chains, a, b) ||
           ((v->w->mixed || v->info->session_order) &&
            by_session(c, chains, a, b)) ||
           ((v->w->mixed || v->info->real_time) && by_time(c, chains, a, b)) ||
           by_reads(c, chains, a, b);
}

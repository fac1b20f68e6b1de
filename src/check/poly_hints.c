/* poly_hints.c: orders to begin a search with.
 *
 * They change how long it takes and not what comes out.
 */
#include "check/poly_stages.h"

#include <string.h>

#include "base/sort.h"

bool hf_poly_has_times(const hf_history *h)
{
    return h->cert.commit_ts != NULL ||
           (h->txn_begin != NULL && h->txn_end != NULL);
}

bool hf_poly_has_commits(const hf_history *h)
{
    return !h->cert.commit_ts && h->op_start && h->txn_begin && h->txn_end;
}

static void times_of(const hf_history *h, hf_txn_id t, hf_hint kind,
                     uint64_t *begin, uint64_t *end)
{
    if (kind == HF_HINT_FILE) {
        *begin = *end = t;
        return;
    }
    if (h->cert.commit_ts) {
        *end = h->cert.commit_ts[t];
        *begin = h->cert.start_ts ? h->cert.start_ts[t] : *end;
    } else {
        *end = hf_txn_end_time(h, t);
        *begin = hf_txn_begin_time(h, t);
    }
    if (kind == HF_HINT_COMMIT)
        *end = hf_txn_last_call(h, t);
    else if (kind == HF_HINT_END)
        *begin = *end;
    else if (kind == HF_HINT_BEGIN)
        *end = *begin;
    else if (kind == HF_HINT_MIDDLE && *begin <= *end)
        *begin = *end = *begin + (*end - *begin) / 2;
}

/* Places in the recorded serial order; those that are not in it come last. */
static uint32_t *serial_places(const hf_history *h)
{
    uint32_t *place = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);

    memset(place, 0xff, ((size_t)h->n_txns + 1) * sizeof(*place));
    for (uint32_t i = 0; i < h->cert.n_serial; i++)
        place[h->cert.serial[i]] = i;
    return place;
}

/* Nodes in between come where they are needed, so last. */
uint32_t *hf_poly_hint(const hf_poly *p, hf_hint kind)
{
    const hf_history *h = p->g->h;
    uint32_t n = hf_poly_n_nodes(p), at = 0;
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)n + 1);
    uint32_t *hint = HF_NEW_ARRAY(uint32_t, (size_t)n + 1);

    uint32_t *serial = kind == HF_HINT_SERIAL ? serial_places(h) : NULL;

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin, end;

        if (serial)
            begin = end = serial[t];
        else
            times_of(h, t, kind, &begin, &end);
        if (p->walk.form != HF_WALK_PLAIN || p->events)
            s[at++] = (hf_sortable){begin, 2 * t};
        s[at++] = (hf_sortable){end, hf_poly_commit(p, t)};
    }
    hf_free(serial);
    hf_sort(s, at);
    for (uint32_t i = 0; i < at; i++)
        hint[i] = (uint32_t)s[i].value;
    for (uint32_t i = at; i < n; i++)
        hint[i] = i;
    hf_free(s);
    return hint;
}

hf_txn_id *hf_poly_by_middle(const hf_history *h)
{
    hf_sortable *s = HF_NEW_ARRAY(hf_sortable, (size_t)h->n_txns + 1);
    hf_txn_id *order = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_txns + 1);

    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t begin, end;

        times_of(h, t, HF_HINT_MIDDLE, &begin, &end);
        s[t] = (hf_sortable){end, t};
    }
    hf_sort(s, h->n_txns);
    for (uint32_t i = 0; i < h->n_txns; i++)
        order[i] = (hf_txn_id)s[i].value;
    hf_free(s);
    return order;
}

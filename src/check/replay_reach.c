/* replay_reach.c: see replay_reach.h. */
#include "check/replay_reach.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/sort.h"

#define NEVER UINT64_MAX

/* Times, or ids, of the transactions in the order. */
struct hf_replay_span {
    uint32_t n, size; /* places; leaves of the trees, a power of two */
    uint64_t *most;   /* node i is above 2i and 2i + 1; leaves from `size` on */
    uint64_t *least;
    hf_sortable *by_id; /* id and place, ascending; snapshots by ids only */
    uint32_t n_ids;
    HF_VEC(uint64_t) ids; /* of the reach in hand */
    HF_VEC(uint32_t) gone;
};

/* ---- trees --------------------------------------------------------------- */

static uint64_t biased(int64_t id)
{
    return (uint64_t)id ^ (uint64_t)1 << 63;
}

static bool writes_something(const hf_history *h, hf_txn_id t)
{
    for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
        if (hf_replay_writes(h, o))
            return true;
    return false;
}

static void fill_leaves(const hf_replay *p, bool by_id,
                        struct hf_replay_span *s)
{
    const hf_history *h = p->h;

    for (uint32_t i = 0; i < s->size; i++) {
        hf_txn_id t = i < s->n ? p->order.at[i] : HF_NONE;
        uint64_t of =
            h->cert.commit_ts && t != HF_NONE ? h->cert.commit_ts[t] : NEVER;

        s->most[s->size + i] = 0;
        s->least[s->size + i] = NEVER;
        if (t == HF_NONE || !writes_something(h, t))
            continue;
        if (by_id) {
            of = biased(hf_txn_label(h, t));
            s->by_id[s->n_ids++] = (hf_sortable){of, i};
        }
        s->most[s->size + i] = s->least[s->size + i] = of;
    }
}

static struct hf_replay_span *make_span(const hf_replay *p, bool by_id)
{
    struct hf_replay_span *s = HF_NEW_ZEROED(struct hf_replay_span, 1);

    s->n = p->order.n;
    for (s->size = 1; s->size < s->n;)
        s->size *= 2;
    s->most = HF_NEW_ARRAY(uint64_t, 2 * (size_t)s->size);
    s->least = HF_NEW_ARRAY(uint64_t, 2 * (size_t)s->size);
    if (by_id)
        s->by_id = HF_NEW_ARRAY(hf_sortable, (size_t)s->n + 1);
    fill_leaves(p, by_id, s);
    for (uint32_t i = s->size - 1; i > 0; i--) {
        const uint64_t *most = &s->most[2 * (size_t)i];
        const uint64_t *least = &s->least[2 * (size_t)i];

        s->most[i] = most[0] > most[1] ? most[0] : most[1];
        s->least[i] = least[0] < least[1] ? least[0] : least[1];
    }
    hf_sort(s->by_id, s->n_ids);
    return s;
}

void hf_replay_span_free(struct hf_replay_span *s)
{
    if (!s)
        return;
    hf_free(s->most);
    hf_free(s->least);
    hf_free(s->by_id);
    hf_vec_release(&s->ids);
    hf_vec_release(&s->gone);
    hf_free(s);
}

/* Is there a leaf of at least `bound` (above), or of less, below the node? */
static bool has(const struct hf_replay_span *s, size_t node, bool above,
                uint64_t bound)
{
    return above ? s->most[node] >= bound : s->least[node] < bound;
}

/* The first such place from `from` on, before `end`; else `end`. */
static uint32_t next_place(const struct hf_replay_span *s, uint32_t from,
                           uint32_t end, bool above, uint64_t bound)
{
    size_t node = (size_t)s->size + from;

    if (from >= end || from >= s->n)
        return end;
    while (!has(s, node, above, bound)) {
        while (node % 2 == 1) /* nothing to the right below its parent */
            node /= 2;
        if (node <= 1)
            return end;
        node++;
    }
    while (node < s->size) {
        node *= 2;
        node += !has(s, node, above, bound);
    }
    node -= s->size;
    return node < end ? (uint32_t)node : end;
}

uint32_t hf_reach_end(const hf_reach *r)
{
    const struct hf_replay_span *s = r->s;
    size_t node = 1;

    if (!has(s, node, false, r->max))
        return 0;
    while (node < s->size) {
        node = 2 * node + 1;
        node -= !has(s, node, false, r->max);
    }
    return (uint32_t)(node - s->size) + 1;
}

/* ---- one snapshot -------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The number at the start of *text, and what follows its separator. */
static int64_t take_number(hf_str *text)
{
    hf_str digits = *text;
    int64_t n = 0;

    digits.len = 0;
    while (digits.len < text->len && digits.ptr[digits.len] != ':' &&
           digits.ptr[digits.len] != ',')
        digits.len++;
    (void)hf_str_to_int(digits, &n);
    text->ptr += digits.len;
    text->len -= digits.len;
    if (text->len > 0) {
        text->ptr++;
        text->len--;
    }
    return n;
}

static void find_gone(struct hf_replay_span *s, uint64_t id)
{
    uint32_t low = 0, high = s->n_ids;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->by_id[middle].key < id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->n_ids && s->by_id[low].key == id; low++)
        hf_vec_push(&s->gone, (uint32_t)s->by_id[low].value);
}

static void take_ids(struct hf_replay_span *s, hf_str text, hf_reach *r)
{
    s->ids.n = s->gone.n = 0;
    while (text.len > 0) {
        uint64_t id = biased(take_number(&text));

        if (id < r->min || id >= r->max)
            continue; /* said already */
        hf_vec_push(&s->ids, id);
        find_gone(s, id);
    }
    if (s->ids.n > 1)
        qsort(s->ids.at, s->ids.n, sizeof(*s->ids.at), by_number);
    if (s->gone.n > 1)
        qsort(s->gone.at, s->gone.n, sizeof(*s->gone.at), by_place);
    r->ids = s->ids.at;
    r->gone = s->gone.at;
    r->n_ids = (uint32_t)s->ids.n;
    r->n_gone = (uint32_t)s->gone.n;
}

hf_reach hf_reach_of(hf_replay *p, const hf_predicate *q)
{
    hf_reach r = {0};
    hf_str text;

    if (q->snapshot == HF_SNAPSHOT_TIME) {
        if (!p->by_time)
            p->by_time = make_span(p, false);
        r.s = p->by_time;
        r.min = r.max = q->snapshot_time + 1;
        return r;
    }
    if (!p->by_id)
        p->by_id = make_span(p, true);
    r.s = p->by_id;
    text = hf_string(p->h, q->snapshot_ids);
    r.min = biased(take_number(&text));
    r.max = biased(take_number(&text));
    take_ids(p->by_id, text, &r);
    return r;
}

static bool is_listed(const hf_reach *r, uint32_t place)
{
    uint64_t id = r->s->least[(size_t)r->s->size + place];

    return r->n_ids > 0 &&
           bsearch(&id, r->ids, r->n_ids, sizeof(id), by_number);
}

uint32_t hf_reach_next_held(const hf_reach *r, uint32_t from, uint32_t end)
{
    uint32_t i = next_place(r->s, from, end, false, r->max);

    while (i < end && is_listed(r, i))
        i = next_place(r->s, i + 1, end, false, r->max);
    return i;
}

uint32_t hf_reach_next_missed(const hf_reach *r, uint32_t from, uint32_t end)
{
    uint32_t i = next_place(r->s, from, end, true, r->max);
    uint32_t low = 0, high = r->n_gone;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (r->gone[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_gone && r->gone[low] < i ? r->gone[low] : i;
}

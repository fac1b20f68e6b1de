/* legal.c: which reads a level allows, see legal.h.
 *
 * Two kinds of levels.  Those of sets: a transaction sees a set of others (a
 * row of bits), which grows with its reads.  Those of prefixes: it sees the
 * first p transactions, and every read bounds p from below (its writer is
 * among them) and from above (the next writer of the key is not).
 */
#include "run/legal.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"

typedef struct seen_read {
    uint32_t key, writer;
} seen_read;

typedef struct place {
    size_t bits; /* in `sets`: whom it saw */
    size_t n_words;
    uint32_t before; /* the one before it in its session, or HF_NONE */
    uint32_t low;    /* prefixes: how many it saw, at least */
} place;

typedef HF_VEC(uint32_t) places_of;
typedef HF_VEC(uint64_t) bits;

struct hf_legal {
    hf_legal_rule rule;
    HF_VEC(places_of) writers; /* by key, ascending */
    HF_VEC(place) places;
    bits sets;
    HF_VEC(uint32_t) last; /* by session: its last place, or HF_NONE */
    /* of the transaction in hand */
    bits sees;
    bits would; /* scratch: what it sees if it reads once more */
    HF_VEC(seen_read) reads;
    uint32_t session;
    uint32_t low, high; /* of its prefix */
    bool current;       /* the statement */
};

/* ---- rules --------------------------------------------------------------- */

static const struct {
    const char *level;
    hf_legal_rule rule;
} names[] = {
    {"read-committed-axiomatic", HF_LEGAL_READ_COMMITTED},
    {"read-atomic", HF_LEGAL_READ_ATOMIC},
    {"causal", HF_LEGAL_CAUSAL},
    {"parallel-snapshot-isolation", HF_LEGAL_PARALLEL},
    {"strong-session-parallel-snapshot-isolation", HF_LEGAL_PARALLEL},
    {"prefix", HF_LEGAL_PREFIX},
    {"snapshot-isolation", HF_LEGAL_SNAPSHOT},
    {"strong-session-snapshot-isolation", HF_LEGAL_SNAPSHOT},
    {"postgresql-repeatable-read", HF_LEGAL_SNAPSHOT},
    {"postgresql-read-committed", HF_LEGAL_STATEMENT},
    {"mariadb-repeatable-read", HF_LEGAL_LOCKING},
    {"serializable", HF_LEGAL_SERIALIZABLE},
    {"strong-session-serializable", HF_LEGAL_SERIALIZABLE},
};

bool hf_legal_find(hf_str level, hf_legal_rule *ret)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (hf_str_eq(level, hf_str_of(names[i].level))) {
            *ret = names[i].rule;
            return true;
        }
    return false;
}

bool hf_legal_unique(hf_legal_rule rule)
{
    return rule == HF_LEGAL_SNAPSHOT || rule == HF_LEGAL_SERIALIZABLE ||
           rule == HF_LEGAL_STATEMENT || rule == HF_LEGAL_LOCKING;
}

static bool has_prefix(hf_legal_rule rule)
{
    return rule == HF_LEGAL_PREFIX || rule == HF_LEGAL_SNAPSHOT ||
           rule == HF_LEGAL_STATEMENT || rule == HF_LEGAL_LOCKING;
}

/* ---- life ---------------------------------------------------------------- */

hf_legal *hf_legal_new(hf_legal_rule rule)
{
    hf_legal *l = HF_NEW(hf_legal);

    HF_ASSERT(rule < HF_LEGAL_COUNT);
    l->rule = rule;
    return l;
}

void hf_legal_free(hf_legal *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->writers.n; i++)
        hf_vec_release(&l->writers.at[i]);
    hf_vec_release(&l->writers);
    hf_vec_release(&l->places);
    hf_vec_release(&l->sets);
    hf_vec_release(&l->last);
    hf_vec_release(&l->sees);
    hf_vec_release(&l->would);
    hf_vec_release(&l->reads);
    hf_free(l);
}

/* ---- sets ---------------------------------------------------------------- */

static void need_words(bits *b, size_t n)
{
    while (b->n < n)
        hf_vec_push(b, 0);
}

static bool has(const bits *b, uint32_t i)
{
    return i / 64 < b->n && (b->at[i / 64] >> (i % 64) & 1);
}

static void add(bits *b, uint32_t i)
{
    need_words(b, i / 64 + 1);
    b->at[i / 64] |= (uint64_t)1 << (i % 64);
}

/* What it sees by seeing `writer`. */
static void add_seen(const hf_legal *l, bits *b, uint32_t writer)
{
    const place *w = &l->places.at[writer];

    add(b, writer);
    if (l->rule == HF_LEGAL_READ_ATOMIC)
        return;
    need_words(b, w->n_words);
    for (size_t i = 0; i < w->n_words; i++)
        b->at[i] |= l->sets.at[w->bits + i];
}

static const places_of *writers_of(const hf_legal *l, uint32_t key)
{
    static const places_of nobody = {0};

    return key < l->writers.n ? &l->writers.at[key] : &nobody;
}

static uint32_t last_writer(const hf_legal *l, uint32_t key)
{
    const places_of *w = writers_of(l, key);

    return w->n > 0 ? w->at[w->n - 1] : HF_NONE;
}

/* The last writer of the key in the set. */
static uint32_t last_in(const hf_legal *l, const bits *b, uint32_t key)
{
    const places_of *w = writers_of(l, key);

    for (size_t i = w->n; i-- > 0;)
        if (has(b, w->at[i]))
            return w->at[i];
    return HF_NONE;
}

/* The last writer of the key among the first `n`. */
static uint32_t last_below(const hf_legal *l, uint32_t n, uint32_t key)
{
    const places_of *w = writers_of(l, key);

    for (size_t i = w->n; i-- > 0;)
        if (w->at[i] < n)
            return w->at[i];
    return HF_NONE;
}

/* Is the set of `would` in order with what was read, and with this read? */
static bool set_allows(hf_legal *l, uint32_t key, uint32_t writer)
{
    bool more = writer != HF_NONE && !has(&l->sees, writer);

    l->would.n = 0;
    need_words(&l->would, l->sees.n);
    if (l->sees.n > 0)
        memcpy(l->would.at, l->sees.at, l->sees.n * sizeof(*l->sees.at));
    if (more)
        add_seen(l, &l->would, writer);
    if (last_in(l, &l->would, key) != writer)
        return false;
    for (size_t i = 0; i < l->reads.n && more; i++)
        if (last_in(l, &l->would, l->reads.at[i].key) != l->reads.at[i].writer)
            return false;
    return true;
}

/* Only whom an earlier read was from counts. */
static bool committed_allows(const hf_legal *l, uint32_t key, uint32_t writer)
{
    const places_of *w = writers_of(l, key);

    for (size_t i = w->n; i-- > 0;) {
        if (w->at[i] == writer)
            return true;
        for (size_t k = 0; k < l->reads.n; k++)
            if (l->reads.at[k].writer == w->at[i])
                return false;
    }
    return true;
}

/* ---- prefixes ------------------------------------------------------------ */

/* The bounds that reading the key from the writer sets. */
static void bounds_of(const hf_legal *l, uint32_t key, uint32_t writer,
                      uint32_t *low, uint32_t *high)
{
    const places_of *w = writers_of(l, key);

    if (writer != HF_NONE && writer + 1 > *low)
        *low = writer + 1;
    for (size_t i = 0; i < w->n; i++)
        if (writer == HF_NONE || w->at[i] > writer) {
            *high = w->at[i] < *high ? w->at[i] : *high;
            break;
        }
}

static bool reads_current(const hf_legal *l)
{
    return l->current &&
           (l->rule == HF_LEGAL_STATEMENT || l->rule == HF_LEGAL_LOCKING);
}

static bool prefix_allows(const hf_legal *l, uint32_t key, uint32_t writer)
{
    uint32_t low = l->low, high = l->high;

    bounds_of(l, key, writer, &low, &high);
    return low <= high;
}

/* ---- a transaction ------------------------------------------------------- */

void hf_legal_begin(hf_legal *l, uint32_t session)
{
    uint32_t before;

    while (l->last.n <= session)
        hf_vec_push(&l->last, HF_NONE);
    before = l->last.at[session];
    l->session = session;
    l->reads.n = l->sees.n = 0;
    l->low = 0;
    l->high = (uint32_t)l->places.n;
    l->current = false;
    if (before == HF_NONE)
        return;
    l->low = before + 1;
    /* what the last one saw contains the rest of the session; read atomic
     * goes no further than the session itself */
    if (l->rule != HF_LEGAL_READ_ATOMIC)
        add_seen(l, &l->sees, before);
    for (; l->rule == HF_LEGAL_READ_ATOMIC && before != HF_NONE;
         before = l->places.at[before].before)
        add(&l->sees, before);
}

void hf_legal_statement(hf_legal *l, bool current)
{
    l->current = current;
    if (l->rule == HF_LEGAL_STATEMENT)
        l->high = (uint32_t)l->places.n;
}

bool hf_legal_may_read(hf_legal *l, uint32_t key, uint32_t writer)
{
    if (l->rule == HF_LEGAL_SERIALIZABLE || reads_current(l))
        return writer == last_writer(l, key);
    if (l->rule == HF_LEGAL_READ_COMMITTED)
        return committed_allows(l, key, writer);
    if (has_prefix(l->rule))
        return prefix_allows(l, key, writer);
    return set_allows(l, key, writer);
}

void hf_legal_read(hf_legal *l, uint32_t key, uint32_t writer)
{
    if (has_prefix(l->rule) && !reads_current(l))
        bounds_of(l, key, writer, &l->low, &l->high);
    else if (l->rule == HF_LEGAL_STATEMENT && writer != HF_NONE &&
             writer + 1 > l->low)
        l->low = writer + 1; /* the next statement begins after it */
    if (writer != HF_NONE && !has(&l->sees, writer))
        add_seen(l, &l->sees, writer);
    hf_vec_push(&l->reads, (seen_read){key, writer});
}

uint32_t hf_legal_view(const hf_legal *l, uint32_t key)
{
    if (l->rule == HF_LEGAL_SERIALIZABLE || reads_current(l))
        return last_writer(l, key);
    if (has_prefix(l->rule))
        return last_below(l, l->low, key);
    return last_in(l, &l->sees, key);
}

bool hf_legal_may_commit(hf_legal *l, const uint32_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const places_of *w = writers_of(l, keys[i]);

        if (w->n == 0)
            continue;
        if (l->rule == HF_LEGAL_SNAPSHOT && w->at[w->n - 1] >= l->high)
            return false;
        for (size_t k = 0; k < w->n && l->rule == HF_LEGAL_PARALLEL; k++)
            if (!has(&l->sees, w->at[k]))
                return false;
    }
    return true;
}

uint32_t hf_legal_commit(hf_legal *l, const uint32_t *keys, size_t n)
{
    uint32_t at = (uint32_t)l->places.n;
    place p = {.bits = l->sets.n,
               .n_words = l->sees.n,
               .before = l->last.at[l->session],
               .low = l->low};

    for (size_t i = 0; i < l->sees.n; i++)
        hf_vec_push(&l->sets, l->sees.at[i]);
    hf_vec_push(&l->places, p);
    l->last.at[l->session] = at;
    for (size_t i = 0; i < n; i++) {
        while (l->writers.n <= keys[i])
            hf_vec_push(&l->writers, (places_of){0});
        hf_vec_push(&l->writers.at[keys[i]], at);
    }
    return at;
}

void hf_legal_abort(hf_legal *l)
{
    l->reads.n = l->sees.n = 0;
}

uint32_t hf_legal_seen(const hf_legal *l, uint32_t place_at, uint32_t key)
{
    const place *p = &l->places.at[place_at];
    bits set = {.at = l->sets.at + p->bits, .n = p->n_words};

    if (l->rule == HF_LEGAL_SERIALIZABLE)
        return last_below(l, place_at, key);
    if (has_prefix(l->rule))
        return last_below(l, p->low, key);
    return last_in(l, &set, key);
}

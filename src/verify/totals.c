/* totals.c: see totals.h.
 *
 * What each version has in the column is read once.  The ranks go by words of
 * 64, as the bits do; a tree over the words has the total of what is there in
 * each and in each half, quarter and so on.  A change adds up one word again
 * and the nodes above it; a question takes at most two words bit by bit, and
 * between them a node or two of each height.
 *
 * Integers are added up apart from decimals, which are counted in units of
 * HF_DECIMAL_ONE: so neither sum can overflow.
 *
 * Memory: 17 bytes for each version, and a node for each 32.
 */
#include "verify/totals.h"

typedef enum kind { NUL, INTEGER, DECIMAL, OTHER, MISSING, UNKNOWN } kind;

/* Of 2^32 decimals below this, in units, the sum is no more than 2^127. */
#define MOST_UNITS (HF_DECIMAL_ONE * 10000000000)

struct hf_totals {
    const uint64_t *there;
    hf_str adds;
    uint8_t *kinds;           /* per rank: what it has in the column */
    hf_wide *number;          /* in units */
    uint32_t n_words, leaves; /* the leaves are nodes leaves .. */
    hf_total *nodes;          /* the children of i are 2i and 2i + 1 */
};

/* ---- adding -------------------------------------------------------------- */

void hf_total_add(hf_total *a, const hf_total *b)
{
    bool none = a->n == a->others;

    if (b->n > b->others) {
        a->least = none || b->least < a->least ? b->least : a->least;
        a->most = none || b->most > a->most ? b->most : a->most;
    }
    a->rows += b->rows;
    a->n += b->n;
    a->missing += b->missing;
    a->decimals += b->decimals;
    a->others += b->others;
    a->unknown += b->unknown;
    a->sum += b->sum;
    a->parts += b->parts;
}

static void add_rank(const hf_totals *t, uint32_t rank, hf_total *a)
{
    hf_total one = {.rows = 1};

    switch ((kind)t->kinds[rank]) {
    case INTEGER:
        one.least = one.most = t->number[rank];
        one.sum = t->number[rank] / HF_DECIMAL_ONE;
        one.n = 1;
        break;
    case DECIMAL:
        one.least = one.most = one.parts = t->number[rank];
        one.n = one.decimals = 1;
        break;
    case OTHER:
        one.n = one.others = 1;
        break;
    case MISSING:
        one.missing = 1;
        break;
    case UNKNOWN:
        one.unknown = 1;
        break;
    default:
        break;
    }
    hf_total_add(a, &one);
}

/* Those of one word that are in the mask. */
static void add_word(const hf_totals *t, uint32_t word, uint64_t mask,
                     hf_total *a)
{
    for (uint64_t rest = t->there[word] & mask; rest; rest &= rest - 1)
        add_rank(t, word * 64 + (uint32_t)__builtin_ctzll(rest), a);
}

static void join(hf_totals *t, uint32_t node)
{
    t->nodes[node] = t->nodes[(size_t)2 * node];
    hf_total_add(&t->nodes[node], &t->nodes[(size_t)2 * node + 1]);
}

/* ---- making -------------------------------------------------------------- */

static kind look(hf_verifier *v, uint32_t version, hf_str adds, hf_wide *ret)
{
    hf_value_id value = hf_version_value(v, version);
    hf_scalar row, x;

    if (value == HF_NONE)
        return UNKNOWN;
    row = hf_value_scalar(v->h, value);
    if (row.type == HF_LIST)
        return UNKNOWN;
    if (adds.len == 0)
        return NUL;
    if (!hf_condition_column(row, adds, &x))
        return MISSING;
    if (x.type == HF_NIL)
        return NUL;
    if (!hf_decimal_of(x, ret))
        return OTHER;
    if (x.type == HF_INT)
        return INTEGER;
    return *ret<MOST_UNITS && * ret> - MOST_UNITS ? DECIMAL : OTHER;
}

hf_totals *hf_totals_new(hf_verifier *v, const hf_column *c, hf_str adds,
                         const uint64_t *there)
{
    hf_totals *t = hf_zeros(v, 1, sizeof(*t));

    t->there = there;
    t->adds = adds;
    t->n_words = c->n / 64 + 1;
    t->kinds = hf_zeros(v, c->n, sizeof(*t->kinds));
    t->number = hf_zeros(v, c->n, sizeof(*t->number));
    for (uint32_t i = 0; i < c->n; i++)
        t->kinds[i] = (uint8_t)look(v, c->version[i], adds, &t->number[i]);
    for (t->leaves = 1; t->leaves < t->n_words;)
        t->leaves *= 2;
    t->nodes = hf_zeros(v, (size_t)2 * t->leaves, sizeof(*t->nodes));
    for (uint32_t i = 0; i < t->n_words; i++)
        add_word(t, i, UINT64_MAX, &t->nodes[t->leaves + i]);
    for (uint32_t i = t->leaves; i-- > 1;)
        join(t, i);
    return t;
}

hf_str hf_totals_column(const hf_totals *t)
{
    return t->adds;
}

/* ---- changes and questions ----------------------------------------------- */

void hf_totals_update(hf_totals *t, uint32_t rank)
{
    uint32_t node = t->leaves + rank / 64;

    t->nodes[node] = (hf_total){0};
    add_word(t, rank / 64, UINT64_MAX, &t->nodes[node]);
    while (node /= 2)
        join(t, node);
}

hf_total hf_totals_between(const hf_totals *t, uint32_t from, uint32_t to)
{
    uint32_t first = from / 64, last = to / 64;
    uint64_t above = UINT64_MAX << (from % 64);
    uint64_t below = (UINT64_C(1) << (to % 64)) - 1;
    hf_total sum = {0};

    if (from >= to)
        return sum;
    if (first == last) {
        add_word(t, first, above & below, &sum);
        return sum;
    }
    add_word(t, first, above, &sum);
    add_word(t, last, below, &sum); /* to may be the end: a word of nobody */
    for (uint32_t a = t->leaves + first + 1, b = t->leaves + last; a < b;
         a /= 2, b /= 2) {
        if (a % 2)
            hf_total_add(&sum, &t->nodes[a++]);
        if (b % 2)
            hf_total_add(&sum, &t->nodes[--b]);
    }
    return sum;
}

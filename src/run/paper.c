/* paper.c: the workloads of IsoPredict's evaluation, as ours.
 *
 * Section 7.1 and MonkeyDB's ports (WORKLOADS: SmallBank with 5 customers and
 * a mix that conserves money, Voter with one phone, TPC-C with 2 districts, 3
 * customers and 1 item, Wikipedia with 2 users and 2 pages).
 */
#include "run/control.h"

#include <string.h>

#include "base/error.h"
#include "workload/workload.h"

static const char *const smallbank_sets[] = {"accounts=5", "least=2500",
                                             "most=2500"};
static const char *const smallbank_mixes[] = {
    "amalgamate=30",      "balance=30",         "send-payment=40",
    "deposit-checking=0", "transact-savings=0", "write-check=0"};
static const char *const wikipedia_sets[] = {"users=2", "pages=2"};

#define LIST(of) (of), sizeof(of) / sizeof((of)[0])

static const struct hf_paper_kind smallbank_kinds[] = {
    {"amalgamate", 30}, {"balance", 30}, {"send-payment", 40}};
static const struct hf_paper_kind voter_kinds[] = {{"vote", 100}};
static const struct hf_paper_kind tpcc_kinds[] = {{"new-order", 45},
                                                  {"payment", 43},
                                                  {"order-status", 4},
                                                  {"delivery", 4},
                                                  {"stock-level", 4}};
static const struct hf_paper_kind wikipedia_kinds[] = {
    {"add-watch-list", 1},
    {"remove-watch-list", 1},
    {"update-page", 7},
    {"get-page-anonymous", 90},
    {"get-page-authenticated", 1}};

static const hf_paper_workload workloads[] = {
    {"smallbank", "smallbank", LIST(smallbank_sets), LIST(smallbank_mixes),
     smallbank_kinds},
    {"voter", "voter-tiny", NULL, 0, NULL, 0, voter_kinds},
    {"tpcc", "tpcc-tiny", NULL, 0, NULL, 0, tpcc_kinds},
    {"wikipedia", "wikipedia", LIST(wikipedia_sets), NULL, 0, wikipedia_kinds},
};

const hf_paper_workload *hf_paper_workload_at(unsigned i)
{
    return i < sizeof(workloads) / sizeof(workloads[0]) ? &workloads[i] : NULL;
}

const hf_paper_workload *hf_paper_workload_named(hf_str name)
{
    for (unsigned i = 0; hf_paper_workload_at(i); i++)
        if (hf_str_eq(name, hf_str_of(workloads[i].name)))
            return &workloads[i];
    return NULL;
}

/* ---- the paper's draws --------------------------------------------------- */

/* java.util.Random, whose formula is part of its documentation: a linear
 * congruential generator of 48 bits. */
#define JAVA_FACTOR 0x5deece66dull
#define JAVA_MASK ((1ull << 48) - 1)

static uint32_t java_bits(uint64_t *state, unsigned bits)
{
    *state = (*state * JAVA_FACTOR + 11) & JAVA_MASK;
    return (uint32_t)(*state >> (48 - bits));
}

/* From 0 to 99, each as likely as the others: what the last part of the
 * numbers would favour is drawn again. */
static unsigned java_percent(uint64_t *state)
{
    uint32_t drawn, rest;

    do {
        drawn = java_bits(state, 31);
        rest = drawn % 100;
    } while (drawn - rest > INT32_MAX - 99);
    return rest;
}

static unsigned type_named(const hf_workload *w, const char *name)
{
    unsigned i = 0;

    while (i < w->n_types && strcmp(w->types[i].name, name) != 0)
        i++;
    HF_ASSERT(i < w->n_types);
    return i;
}

void hf_paper_draw(const hf_paper_workload *p, uint64_t seed, unsigned session,
                   unsigned n, unsigned *ret_types)
{
    const hf_workload *w = hf_workload_named(hf_str_of(p->workload));
    uint64_t state = ((seed + session) ^ JAVA_FACTOR) & JAVA_MASK;

    for (unsigned i = 0; i < n; i++) {
        unsigned left = java_percent(&state);
        const struct hf_paper_kind *k = p->kinds;

        for (; left >= k->weight; k++)
            left -= k->weight;
        ret_types[i] = type_named(w, k->name);
    }
}

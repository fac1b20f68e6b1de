/* paper.c: the workloads of IsoPredict's evaluation, as ours.
 *
 * Section 7.1 and MonkeyDB's ports (WORKLOADS: SmallBank with 5 customers and
 * a mix that conserves money, Voter with one phone, TPC-C with 2 districts, 3
 * customers and 1 item, Wikipedia with 2 users and 2 pages).
 */
#include "run/control.h"

static const char *const smallbank_sets[] = {"accounts=5", "least=2500",
                                             "most=2500"};
static const char *const smallbank_mixes[] = {
    "amalgamate=30",      "balance=30",         "send-payment=40",
    "deposit-checking=0", "transact-savings=0", "write-check=0"};
static const char *const wikipedia_sets[] = {"users=2", "pages=2"};

#define LIST(of) (of), sizeof(of) / sizeof((of)[0])

static const hf_paper_workload workloads[] = {
    {"smallbank", "smallbank", LIST(smallbank_sets), LIST(smallbank_mixes)},
    {"voter", "voter-tiny", NULL, 0, NULL, 0},
    {"tpcc", "tpcc-tiny", NULL, 0, NULL, 0},
    {"wikipedia", "wikipedia", LIST(wikipedia_sets), NULL, 0},
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

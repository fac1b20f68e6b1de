/* check.c: the table of engines. */
#include "check/check.h"

#include "check/brute_engine.h"
#include "check/graph_engine.h"
#include "check/replay_engine.h"

static bool has_items_only(const hf_history *h)
{
    return !hf_has_predicates(h);
}

/* Its invalid speaks of one order only. */
static bool only_if_asked(const hf_history *h)
{
    (void)h;
    return false;
}

static const hf_engine engines[] = {
    {"graph",
     "dependency graphs, at any size, where versions have a known order",
     hf_graph_check, has_items_only},
    {"certificate",
     "the same with predicates: version orders and version sets are recorded",
     hf_certificate_engine, hf_has_predicates},
    {"replay",
     "the expected order of transactions, executed: serial order, commits",
     hf_replay_check, only_if_asked},
    {"brute",
     "the definition of every level by enumeration, up to 8 transactions",
     hf_brute_check, NULL},
};

const hf_engine *hf_engine_at(unsigned index)
{
    return index < sizeof(engines) / sizeof(engines[0]) ? &engines[index]
                                                        : NULL;
}

const hf_engine *hf_engine_find(hf_str name)
{
    for (unsigned i = 0; hf_engine_at(i); i++)
        if (hf_str_same_name(name, hf_str_of(engines[i].name)))
            return &engines[i];
    return NULL;
}

/* Does a second opinion count?  An engine that knows nothing of assumptions
 * can still find what contradicts the level without them. */
static bool counts(const hf_result *r, const hf_check_options *options)
{
    if (r->verdict == HF_UNKNOWN)
        return false;
    return r->verdict == HF_INVALID || !options || options->assume == 0;
}

hf_status hf_engine_ask(const hf_engine *engine, const hf_history *h,
                        hf_level level, const hf_check_options *options,
                        hf_budget *budget, hf_result **ret, hf_error *err)
{
    hf_result *kept = NULL;

    if (engine)
        return engine->check(h, level, options, budget, ret, err);
    for (unsigned i = 0; hf_engine_at(i); i++) {
        hf_result *r = NULL;
        hf_status st;

        if (engines[i].suits && !engines[i].suits(h))
            continue;
        st = engines[i].check(h, level, options, budget, &r, err);
        if (st != HF_OK) {
            hf_result_free(kept);
            return st;
        }
        if (kept && !counts(r, options)) {
            hf_result_free(r);
        } else {
            hf_result_free(kept);
            kept = r;
        }
        if (kept->verdict != HF_UNKNOWN || (budget && budget->spent))
            break;
    }
    *ret = kept;
    return HF_OK;
}

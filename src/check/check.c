/* check.c: the table of engines. */
#include "check/check.h"

#include <stdio.h>
#include <string.h>

#include "check/brute_engine.h"
#include "check/graph_engine.h"
#include "check/poly_core.h"
#include "check/replay_engine.h"
#include "check/weak_engine.h"
#include "history/bare_lists.h"

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
    {.name = "graph",
     .summary =
         "dependency graphs, at any size, where versions have a known order",
     .check = hf_graph_check,
     .suits = has_items_only},
    {.name = "certificate",
     .summary = "the same with predicates: version orders and version sets "
                "are recorded",
     .check = hf_certificate_engine,
     .suits = hf_has_predicates},
    {.name = "weak",
     .summary =
         "causal and the levels below it, at any size, without version orders",
     .check = hf_weak_check,
     .suits = has_items_only},
    {.name = "polygraph",
     .summary =
         "what is not known is decided by a search, with a proof either way",
     .check = hf_polygraph_check,
     .mixed = true,
     .last_word = true},
    {.name = "replay",
     .summary =
         "the expected order of transactions, executed: serial order, commits",
     .check = hf_replay_check,
     .suits = only_if_asked},
    {.name = "brute",
     .summary =
         "the definition of every level by enumeration, up to 8 transactions",
     .check = hf_brute_check,
     .mixed = true},
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

/* Unknown, of an engine that judges all by one level. */
static hf_result *not_mixed(const hf_engine *engine, hf_level level)
{
    hf_result *r = hf_result_new(level, engine->name);
    char text[96];
    int n = snprintf(text, sizeof(text),
                     "engine %s judges all transactions by one level",
                     engine->name);

    r->mixed = true;
    r->reason = hf_arena_text(&r->arena, text, (size_t)n);
    return r;
}

static hf_status ask(const hf_engine *engine, const hf_history *h,
                     hf_level level, const hf_check_options *options,
                     hf_budget *budget, hf_result **ret, hf_error *err)
{
    if (!options || !options->mixed || engine->mixed)
        return engine->check(h, level, options, budget, ret, err);
    *ret = not_mixed(engine, level);
    return HF_OK;
}

/* The answer that stays, with what the one before it did not know. */
static hf_result *better(hf_result *old, hf_result *r, bool last_word)
{
    if (!old)
        return r;
    if (r->verdict == HF_UNKNOWN && !(last_word && r->reason && old->reason &&
                                      strcmp(r->reason, old->reason) != 0)) {
        hf_result_free(r);
        return old;
    }
    if (old->reason) {
        r->open_to = old->engine;
        r->open = hf_arena_text(&r->arena, old->reason, strlen(old->reason));
    }
    hf_result_free(old);
    return r;
}

/* ---- why that engine ----------------------------------------------------- */

static bool has_appends(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_APPEND)
            return true;
    return false;
}

/* What a history has that makes it one for graphs. */
static const char *what_is_known(const hf_history *h, hf_level level)
{
    const hf_certificate *c = &h->cert;

    if (hf_has_predicates(h))
        return c->order_first ? "there are conditions, and version orders are "
                                "recorded"
                              : "there are conditions";
    if (hf_level_get(level)->shape == HF_SHAPE_SNAPSHOT && c->start_ts &&
        c->commit_ts)
        return "timestamps are recorded";
    if (c->order_first && c->order_first[h->n_keys] > 0)
        return "version orders are recorded";
    return has_appends(h) ? "lists show the order of versions"
                          : "there are single values only";
}

/* One sentence, without its subject: "graph: ...". */
static void tell_choice(const hf_history *h, const hf_check_options *options,
                        hf_result *r)
{
    const char *name = r->engine;
    bool valid = r->verdict == HF_VALID;
    char text[400];

    if (r->verdict == HF_UNKNOWN)
        return;
    if (strcmp(name, "graph") == 0 || strcmp(name, "certificate") == 0)
        (void)snprintf(text, sizeof(text), "%s, and %s",
                       what_is_known(h, r->level),
                       valid ? "an order that fits needed no search"
                             : "what is certain contradicts the level");
    else if (strcmp(name, "weak") == 0)
        (void)snprintf(text, sizeof(text),
                       "the order of versions is open, and %s is decided "
                       "without one",
                       hf_level_get(r->level)->name);
    else if (strcmp(name, "brute") == 0)
        (void)snprintf(text, sizeof(text),
                       "so few transactions can be enumerated");
    else if (strcmp(name, "replay") == 0)
        (void)snprintf(text, sizeof(text),
                       "an order that is at hand explains every result");
    else
        (void)snprintf(text, sizeof(text), "%s",
                       options && options->mixed
                           ? "transactions have levels of their own"
                           : "what is open takes a search");
    r->chosen = hf_arena_text(&r->arena, text, strlen(text));
}

/* ---- asking -------------------------------------------------------------- */

/* Conditions without version sets say nothing about dependencies, but an order
 * in which the transactions return what they returned is a proof all the same.
 * The recorded ones, that of the ends and that of the file are tried. */
static hf_result *try_orders(const hf_history *h, hf_level level,
                             const hf_check_options *options, hf_budget *budget)
{
    static const unsigned orders[] = {HF_REST_BY_SERIAL, HF_REST_BY_COMMIT,
                                      HF_REST_BY_END, HF_REST_BY_FILE};
    hf_check_options o = {0};

    if (options)
        o = *options;
    if (!hf_has_predicates(h) || o.mixed || o.assume ||
        hf_level_get(level)->shape == HF_SHAPE_WW)
        return NULL;
    for (unsigned i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        hf_result *r = NULL;

        o.order = orders[i];
        if (budget && budget->spent)
            return NULL;
        if (hf_replay_check(h, level, &o, budget, &r, NULL) != HF_OK)
            continue; /* it was not recorded */
        if (r->verdict == HF_VALID && r->witness.kind == HF_WITNESS_SERIAL &&
            r->witness.rests == 0)
            return r;
        hf_result_free(r);
    }
    return NULL;
}

static hf_status ask_in_turn(const hf_engine *engine, const hf_history *h,
                             hf_level level, const hf_check_options *options,
                             hf_budget *budget, hf_result **ret, hf_error *err)
{
    hf_result *kept = NULL;

    if (engine) {
        hf_status st = ask(engine, h, level, options, budget, ret, err);

        if (st == HF_OK)
            hf_poly_shrink(h, options, budget, *ret);
        return st;
    }
    for (unsigned i = 0; hf_engine_at(i); i++) {
        hf_result *r = NULL;
        hf_status st;

        if ((engines[i].suits && !engines[i].suits(h)) ||
            (options && options->mixed && !engines[i].mixed))
            continue;
        st = engines[i].check(h, level, options, budget, &r, err);
        if (st != HF_OK) {
            hf_result_free(kept);
            return st;
        }
        kept = better(kept, r, engines[i].last_word);
        if (kept->verdict != HF_UNKNOWN || (budget && budget->spent))
            break;
    }
    if (kept && kept->verdict == HF_UNKNOWN) {
        hf_result *r = try_orders(h, level, options, budget);

        if (r)
            kept = better(kept, r, false);
    }
    if (kept) {
        hf_poly_shrink(h, options, budget, kept);
        tell_choice(h, options, kept);
    }
    *ret = kept;
    return HF_OK;
}

/* Elements that a list had to begin with are no question for an engine.  Only
 * the reference looks at the history as it is. */
hf_status hf_engine_ask(const hf_engine *engine, const hf_history *h,
                        hf_level level, const hf_check_options *options,
                        hf_budget *budget, hf_result **ret, hf_error *err)
{
    bool as_it_is = engine && engine->check == hf_brute_check;
    hf_history *bare = as_it_is ? NULL : hf_bare_lists(h);
    hf_status st =
        ask_in_turn(engine, bare ? bare : h, level, options, budget, ret, err);

    hf_bare_lists_free(bare);
    return st;
}

/* targets.c: the levels that executions are predicted for.
 *
 * Each is a commit order that keeps session order and "reads from", and a
 * notion of what is visible to a read: if c reads key x from b, and another
 * writer a of x is visible, then a comes before b.  docs/predict.md says what
 * the rules of each row mean.
 */
#include "predict/targets.h"

typedef struct target_row {
    hf_predict_target_info info;
    hf_target_rules rules;
} target_row;

static const target_row rows[] = {
    [HF_PREDICT_READ_COMMITTED] =
        {{"read-committed-axiomatic",
          "a read sees what earlier reads of its transaction saw",
          HF_READ_COMMITTED_AXIOMATIC, true},
         {.view = HF_VIEW_READS}},
    [HF_PREDICT_READ_ATOMIC] =
        {{"read-atomic", "all or nothing of each transaction is seen",
          HF_READ_ATOMIC, true},
         {.view = HF_VIEW_TXN, .sessions = true, .internal = true}},
    [HF_PREDICT_CAUSAL] =
        {{"causal", "what a transaction saw is seen by those who see it",
          HF_CAUSAL, true},
         {.view = HF_VIEW_TXN,
          .sessions = true,
          .causal = true,
          .internal = true}},
    [HF_PREDICT_PREFIX] =
        {{"prefix", "each transaction sees a prefix of one commit order",
          HF_PREFIX, true},
         {.view = HF_VIEW_TXN,
          .sessions = true,
          .prefix = true,
          .internal = true}},
    [HF_PREDICT_PARALLEL_SNAPSHOT] =
        {{"parallel-snapshot-isolation",
          "causal, and writers of one key see each other",
          HF_STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION, true},
         {.view = HF_VIEW_TXN,
          .sessions = true,
          .causal = true,
          .conflict = true,
          .internal = true}},
    [HF_PREDICT_SNAPSHOT] = {{"snapshot-isolation",
                              "prefix, and writers of one key see each other",
                              HF_STRONG_SESSION_SNAPSHOT_ISOLATION, true},
                             {.view = HF_VIEW_TXN,
                              .sessions = true,
                              .prefix = true,
                              .conflict = true,
                              .internal = true}},
    [HF_PREDICT_POSTGRES_READ_COMMITTED] =
        {{"postgresql-read-committed",
          "each statement sees a prefix of one commit order; row locks",
          HF_READ_COMMITTED_AXIOMATIC, false},
         {.view = HF_VIEW_STATEMENT,
          .sessions = true,
          .prefix = true,
          .locks = true}},
    [HF_PREDICT_POSTGRES_REPEATABLE_READ] =
        {{"postgresql-repeatable-read",
          "snapshot isolation; rows read with a lock stay as they are",
          HF_STRONG_SESSION_SNAPSHOT_ISOLATION, false},
         {.view = HF_VIEW_TXN,
          .sessions = true,
          .prefix = true,
          .conflict = true,
          .locks = true,
          .internal = true}},
    [HF_PREDICT_MARIADB_REPEATABLE_READ] =
        {{"mariadb-repeatable-read",
          "plain reads see one prefix of the commit order, writes and locking "
          "reads the newest rows",
          HF_READ_COMMITTED, false},
         {.view = HF_VIEW_TXN,
          .sessions = true,
          .prefix = true,
          .locks = true,
          .internal = true}},
};

const hf_predict_target_info *hf_predict_target_get(hf_predict_target target)
{
    return &rows[target].info;
}

const hf_target_rules *hf_target_rules_of(hf_predict_target target)
{
    return &rows[target].rules;
}

/* Names of the abstract levels are those of the level table, with aliases. */
static bool find_level(hf_str name, hf_predict_target *ret,
                       const char **ret_near)
{
    hf_level level;

    if (!hf_level_find(name, &level, ret_near))
        return false;
    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++)
        if (rows[t].info.is_exact && rows[t].info.level == level) {
            *ret = (hf_predict_target)t;
            return true;
        }
    switch (level) {
    case HF_READ_COMMITTED: /* as the paper calls it */
        *ret = HF_PREDICT_READ_COMMITTED;
        return true;
    case HF_PARALLEL_SNAPSHOT_ISOLATION:
        *ret = HF_PREDICT_PARALLEL_SNAPSHOT;
        return true;
    case HF_SNAPSHOT_ISOLATION:
        *ret = HF_PREDICT_SNAPSHOT;
        return true;
    default:
        return false;
    }
}

bool hf_predict_target_find(hf_str name, hf_predict_target *ret_target,
                            const char **ret_near)
{
    const char *near = NULL;
    unsigned best = 4;

    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++)
        if (hf_str_same_name(name, hf_str_of(rows[t].info.name))) {
            *ret_target = (hf_predict_target)t;
            return true;
        }
    if (find_level(name, ret_target, NULL))
        return true;
    for (unsigned t = 0; t < HF_PREDICT_TARGET_COUNT; t++) {
        unsigned d = hf_str_distance(name, hf_str_of(rows[t].info.name), 3);

        if (d < best) {
            best = d;
            near = rows[t].info.name;
        }
    }
    if (ret_near)
        *ret_near = near;
    return false;
}

static const char *const strategies[] = {
    [HF_PREDICT_BEST] = "best",
    [HF_PREDICT_EXACT_STRICT] = "exact-strict",
    [HF_PREDICT_APPROX_STRICT] = "approx-strict",
    [HF_PREDICT_APPROX_RELAXED] = "approx-relaxed",
};

const char *hf_predict_strategy_name(hf_predict_strategy strategy)
{
    return strategies[strategy];
}

bool hf_predict_strategy_find(hf_str name, hf_predict_strategy *ret_strategy)
{
    for (unsigned s = 0; s < HF_PREDICT_STRATEGY_COUNT; s++)
        if (hf_str_same_name(name, hf_str_of(strategies[s]))) {
            *ret_strategy = (hf_predict_strategy)s;
            return true;
        }
    return false;
}

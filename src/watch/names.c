/* names.c: what the engine's enumerations are called. */
#include "base/error.h"
#include "watch/watch.h"

static const struct {
    const char *name, *title;
} mechanisms[HF_WATCH_MECHANISM_COUNT] = {
    [HF_WATCH_CR] = {"CR", "consistent read"},
    [HF_WATCH_ME] = {"ME", "mutual exclusion"},
    [HF_WATCH_FUW] = {"FUW", "first updater wins"},
    [HF_WATCH_SC] = {"SC", "serialization certifier"},
};

static const struct {
    const char *name, *sentence;
} rules[HF_RULE_COUNT] = {
    [HF_RULE_OWN_WRITE] = {"own-write-missed",
                           "a transaction reads what it wrote itself"},
    [HF_RULE_TWO_VERSIONS] = {"two-versions",
                              "a statement returns one version of a row"},
    [HF_RULE_STALE] = {"stale-read",
                       "a read returns the newest version committed before "
                       "its snapshot, not one that was overwritten by then"},
    [HF_RULE_FUTURE] = {"future-read",
                        "a read returns nothing that was committed after its "
                        "snapshot"},
    [HF_RULE_DIRTY] = {"dirty-read", "a read returns committed data only"},
    [HF_RULE_ABORTED] = {"aborted-read",
                         "a read returns nothing that was rolled back"},
    [HF_RULE_INTERMEDIATE] = {"intermediate-read",
                              "a read returns a transaction's last write of "
                              "the key, not one before"},
    [HF_RULE_NEVER] = {"unexplained-read",
                       "a read returns a version that was installed"},
    [HF_RULE_MISSING_ROW] = {"missing-row",
                             "a scan returns every row in its range that "
                             "satisfies its condition"},
    [HF_RULE_WRONG_ROW] = {"wrong-row",
                           "a scan returns only rows that satisfy its "
                           "condition"},
    [HF_RULE_TOTAL] = {"wrong-total",
                       "a sum, count, minimum or maximum is that of versions "
                       "of its snapshot"},
    [HF_RULE_SKEWED] = {"skewed-read",
                        "reads of one snapshot are of one instant"},
    [HF_RULE_LOCKS] = {"locks-overlap",
                       "incompatible locks of a row are not held at the same "
                       "time"},
    [HF_RULE_LOST_UPDATE] = {"lost-update",
                             "of two transactions that wrote a row, one "
                             "committed before the other's snapshot"},
    [HF_RULE_PIVOT] = {"dangerous-structure",
                       "no transaction has anti-dependencies both in and out, "
                       "between concurrent transactions, where the last "
                       "committed first"},
    [HF_RULE_TIMESTAMP] = {"no-timestamp",
                           "all of a transaction happens at one instant "
                           "between its first call and its commit"},
    [HF_RULE_OVERWRITTEN] = {"overwritten-read",
                             "nothing that a transaction read was overwritten "
                             "before it committed"},
    [HF_RULE_CYCLE] = {"cycle", "dependencies do not form a cycle"},
};

static const char *const complaints[HF_COMPLAINT_COUNT] = {
    [HF_COMPLAINT_OUT_OF_ORDER] =
        "begins before the client's last call ended (a clock went back?)",
    [HF_COMPLAINT_LATE] = "came after later events of others were judged",
    [HF_COMPLAINT_NEGATIVE] = "ends before it begins",
    [HF_COMPLAINT_NO_BEGIN] = "is of a transaction that nobody began",
    [HF_COMPLAINT_ENDED] = "is of a transaction that has ended",
    [HF_COMPLAINT_NOT_ENDED] = "began while the client's last was running",
    [HF_COMPLAINT_BAD_EVENT] = "is no event",
};

static const char *const reasons[HF_UNJUDGED_COUNT] = {
    [HF_UNJUDGED_INITIAL] =
        "reads that may be of an initial value nobody knows",
    [HF_UNJUDGED_EQUAL] = "reads of a value that several had written",
    [HF_UNJUDGED_SPOILED] = "reads of transactions with bad events",
    [HF_UNJUDGED_CONDITION] = "rows whose condition could not be evaluated",
    [HF_UNJUDGED_LEVEL] = "reads of transactions at a weaker level",
    [HF_UNJUDGED_LIMIT] =
        "versions of a key beyond the most that are kept, and reads of them",
    [HF_UNJUDGED_TOTAL] = "sums and the like of rows that are not all known",
};

const char *hf_watch_mechanism_name(hf_watch_mechanism m)
{
    HF_ASSERT((unsigned)m < HF_WATCH_MECHANISM_COUNT);
    return mechanisms[m].name;
}

const char *hf_watch_mechanism_title(hf_watch_mechanism m)
{
    HF_ASSERT((unsigned)m < HF_WATCH_MECHANISM_COUNT);
    return mechanisms[m].title;
}

const char *hf_watch_rule_name(hf_watch_rule r)
{
    HF_ASSERT((unsigned)r < HF_RULE_COUNT);
    return rules[r].name;
}

const char *hf_watch_rule_sentence(hf_watch_rule r)
{
    HF_ASSERT((unsigned)r < HF_RULE_COUNT);
    return rules[r].sentence;
}

const char *hf_watch_complaint_text(hf_watch_complaint c)
{
    HF_ASSERT((unsigned)c < HF_COMPLAINT_COUNT);
    return complaints[c];
}

const char *hf_watch_unjudged_text(hf_watch_unjudged u)
{
    HF_ASSERT((unsigned)u < HF_UNJUDGED_COUNT);
    return reasons[u];
}

/* running.h: what `run` and `test` share: the options of a run, opening the
 * database, running the workload on it, and saying what came of it.
 */
#ifndef HF_CLI_RUNNING_H
#define HF_CLI_RUNNING_H

#include "cli/common.h"
#include "cli/watching.h"
#include "run/run.h"

typedef struct hf_workload hf_workload; /* workload/workload.h */

typedef struct hf_running_settings {
    const char *db, *workload, *isolation, *inject, *variant, *schema;
    hf_texts set, mix;
    hf_number clients, transactions, retries, seed, rate;
    double seconds, fault_every, deadline;
    unsigned faults; /* set of hf_db_fault */
    bool sql, keep, list, watch;
    hf_watching_settings watching;
} hf_running_settings;

/* One run. */
typedef struct hf_running {
    hf_cli *cli;
    const hf_running_settings *set;
    bool quiet, json, color;
    const hf_workload *workload;
    hf_play *play;
    hf_db *db; /* NULL: closed */
    const hf_db_driver *driver;
    hf_db_level level;
    hf_level promised; /* by the database at this level, and where: */
    char where[200];
    hf_db_description about;
    uint64_t seed;
    char name[200]; /* of the history: "sqlite, smallbank" */
    hf_run_report report;
    hf_out notes;         /* lines, as on standard error */
    hf_watching watching; /* with --watch */
} hf_running;

/* Finds the workload and its options, opens the database, finds the level.
 * On failure nothing is left, err is one line and hint may be another; else
 * hf_running_close(). */
HF_MUST_USE hf_status hf_running_open(hf_running *r, char *hint,
                                      size_t hint_size, hf_error *err);
void hf_running_close(hf_running *r);

/* Runs and records.  `seconds` and `transactions`: where neither is asked
 * for. */
typedef struct hf_running_output {
    const char *path;
    bool text, replace;
    double seconds;
    uint64_t transactions;
} hf_running_output;
HF_MUST_USE hf_status hf_running_run(hf_running *r, const hf_running_output *o,
                                     hf_error *err);

/* With --watch: prints what it found at the end; returns the exit status.
 * Without: HF_EXIT_VALID. */
int hf_running_watched(hf_running *r);

/* How often invariants did not hold. */
uint64_t hf_running_breaches(const hf_running *r);
/* Why the workload's invariants were not looked at; NULL: they were, or it has
 * none. */
const char *hf_running_unchecked(const hf_running *r);
/* Those that were kept; false: no more. */
bool hf_running_breach(const hf_running *r, unsigned i, const char **ret_name,
                       const char **ret_text);
unsigned hf_running_clients(const hf_running *r);
const char *hf_running_workload(const hf_running *r);
const char *hf_running_isolation(const hf_running *r); /* as was asked for */
/* What ran, in some lines for people; breaches of invariants as well. */
void hf_running_print(const hf_running *r, hf_out *out);
/* One object, "type":"run". */
void hf_running_json(const hf_running *r, const char *history, hf_out *out);
/* The options of the run as words of a command line, the seed included. */
void hf_running_words(const hf_running *r, hf_out *out);

/* running_options.c: options that would have no effect are refused. */
HF_MUST_USE hf_status hf_running_check_options(const hf_running_settings *set,
                                               const hf_db_driver *d,
                                               hf_error *err);
HF_MUST_USE hf_status hf_running_check_list(const hf_running_settings *set,
                                            hf_error *err);

/* --list: databases and workloads, or one workload. */
int hf_running_list(hf_cli *cli, const hf_running_settings *set);

const char *hf_choose_database(unsigned index);
const char *hf_choose_running_workload(unsigned index);
const char *hf_choose_isolation(unsigned index);
const char *hf_choose_bug(unsigned index);
const char *hf_choose_variant(unsigned index);

#define HF_RUNNING_NUMBER(NAME, LETTER, FIELD, MIN, MAX, SUMMARY, EXAMPLE)     \
    {                                                                          \
        .name = NAME, .letter = LETTER, .argument = "N",                       \
        .type = HF_OPTION_NUMBER,                                              \
        .offset = offsetof(hf_running_settings, FIELD), .min = MIN,            \
        .max = MAX, .summary = SUMMARY, .example = EXAMPLE                     \
    }
#define HF_RUNNING_TEXT(NAME, LETTER, ARGUMENT, FIELD, CHOICES, SUMMARY,       \
                        DETAIL, EXAMPLE)                                       \
    {                                                                          \
        .name = NAME, .letter = LETTER, .argument = ARGUMENT,                  \
        .type = HF_OPTION_TEXT,                                                \
        .offset = offsetof(hf_running_settings, FIELD), .choices = CHOICES,    \
        .summary = SUMMARY, .detail = DETAIL, .example = EXAMPLE               \
    }
#define HF_RUNNING_FLAG(NAME, FIELD, SUMMARY, DETAIL)                          \
    {                                                                          \
        .name = NAME, .type = HF_OPTION_FLAG,                                  \
        .offset = offsetof(hf_running_settings, FIELD), .summary = SUMMARY,    \
        .detail = DETAIL, .example = "--" NAME                                 \
    }

/* The rows of both tables; hf_running_settings must come first in the
 * settings. */
#define HF_RUNNING_ROWS                                                        \
    HF_RUNNING_TEXT(                                                           \
        "db", 'd', "DB", db, hf_choose_database,                               \
        "the database, or its address (default: sqlite)",                      \
        "A name alone starts a private instance from the installed programs "  \
        "and removes it at the end; --list has the names. An address, such "   \
        "as postgres://user@host/name, is used as it is: only a schema of "    \
        "our own is touched there.",                                           \
        "--db postgres"),                                                      \
        HF_RUNNING_TEXT("workload", 'w', "NAME", workload,                     \
                        hf_choose_running_workload,                            \
                        "what the transactions do (default: smallbank)",       \
                        "For rocksdb bank, which asks for rows by their keys " \
                        "only. --list has them; with --workload NAME its "     \
                        "transactions and options.",                           \
                        "--workload bank"),                                    \
        HF_RUNNING_TEXT(                                                       \
            "isolation", 'i', "NAME", isolation, hf_choose_isolation,          \
            "the isolation level that transactions ask the database for",      \
            "As the database calls it; the store takes any level of "          \
            "\"holdfast levels\". Without this option it is serializable, or " \
            "else what the database does by default.",                         \
            "--isolation read-committed"),                                     \
        HF_RUNNING_NUMBER("clients", 'c', clients, 1, 1000,                    \
                          "how many clients at a time (default: 10)", "-c 4"), \
        HF_RUNNING_NUMBER("transactions", 'n', transactions, 1,                \
                          (uint64_t)1 << 40,                                   \
                          "stop after so many, of any outcome", "-n 1000"),    \
        {.name = "time",                                                       \
         .letter = 't',                                                        \
         .argument = "TIME",                                                   \
         .type = HF_OPTION_SECONDS,                                            \
         .offset = offsetof(hf_running_settings, seconds),                     \
         .summary = "stop after this time: 500ms, 10s, 2m, 1h",                \
         .example = "--time 30s"},                                             \
        HF_RUNNING_NUMBER("retries", 0, retries, 0, 1000,                      \
                          "try again so often after an abort (default: 3)",    \
                          "--retries 0"),                                      \
        HF_RUNNING_NUMBER("seed", 0, seed, 0, 0,                               \
                          "decides what is drawn, and the faults",             \
                          "--seed 7"),                                         \
        {.name = "set",                                                        \
         .argument = "NAME=VALUE",                                             \
         .type = HF_OPTION_LIST,                                               \
         .offset = offsetof(hf_running_settings, set),                         \
         .summary = "an option of the workload; may be repeated",              \
         .example = "--set accounts=1000"},                                    \
        {.name = "mix",                                                        \
         .argument = "TYPE=WEIGHT",                                            \
         .type = HF_OPTION_LIST,                                               \
         .offset = offsetof(hf_running_settings, mix),                         \
         .summary = "how often this kind of transaction; may be repeated",     \
         .example = "--mix balance=50"},                                       \
        HF_RUNNING_FLAG("sql", sql,                                            \
                        "record statements with their results as well",        \
                        "The history has both then: what each statement did "  \
                        "to rows, and its text, parameters and result."),      \
        {.name = "faults",                                                     \
         .argument = "NAMES",                                                  \
         .type = HF_OPTION_SET,                                                \
         .offset = offsetof(hf_running_settings, faults),                      \
         .choices = hf_fault_name,                                             \
         .summary = "what is done to the database meanwhile",                  \
         .detail = "Parted by commas: kill (-9, and started again), pause, "   \
                   "restart, cut-client, partition. Each is noted in the "     \
                   "history, as an aborted transaction of session faults. "    \
                   "One that the database or the system does not allow is "    \
                   "refused with the reason.",                                 \
         .example = "--faults kill,cut-client"},                               \
        {.name = "fault-every",                                                \
         .argument = "TIME",                                                   \
         .type = HF_OPTION_SECONDS,                                            \
         .offset = offsetof(hf_running_settings, fault_every),                 \
         .summary = "about how often (default: 3s)",                           \
         .example = "--fault-every 10s"},                                      \
        {.name = "deadline",                                                   \
         .argument = "TIME",                                                   \
         .type = HF_OPTION_SECONDS,                                            \
         .offset = offsetof(hf_running_settings, deadline),                    \
         .summary = "a call that takes longer is lost (default: 10s)",         \
         .example = "--deadline 2s"},                                          \
        HF_RUNNING_TEXT(                                                       \
            "variant", 0, "NAME", variant, hf_choose_variant,                  \
            "a variant of the database",                                       \
            "sqlite: wal, rollback, shared-cache, wal-deferred, "              \
            "rollback-deferred; sqlite-processes: the same but for "           \
            "shared-cache; rocksdb: pessimistic, optimistic; store: yielding " \
            "(a client may be interrupted after each statement), eager; "      \
            "mariadb and galera: snapshot (innodb_snapshot_isolation); "       \
            "private postgres and postgres-standby: the directory of its "     \
            "programs, such as /usr/lib/postgresql/15/bin.",                   \
            "--variant rollback"),                                             \
        HF_RUNNING_TEXT("schema", 0, "NAME", schema, NULL,                     \
                        "the schema that is used (default: holdfast)", NULL,   \
                        "--schema scratch"),                                   \
        HF_RUNNING_TEXT("inject", 0, "BUG", inject, hf_choose_bug,             \
                        "store: a bug; \"holdfast gen --list-bugs\" names "    \
                        "them",                                                \
                        "The level is then one at which the bug shows, "       \
                        "unless --isolation names another.",                   \
                        "--inject lost-update"),                               \
        HF_RUNNING_NUMBER("rate", 0, rate, 1, 100,                             \
                          "store: in percent, how often the bug strikes",      \
                          "--rate 10"),                                        \
        HF_RUNNING_FLAG("watch", watch,                                        \
                        "judge while it runs, by the database's mechanisms",   \
                        "As \"holdfast watch\" does; a violation is printed "  \
                        "at once. The exit status is 1 if there is one."),     \
        HF_WATCHING_PROFILE_ROWS(hf_running_settings),                         \
        HF_RUNNING_FLAG("keep", keep,                                          \
                        "leave the private database's files behind", NULL),    \
        HF_RUNNING_FLAG("list", list,                                          \
                        "list databases and workloads, and stop", NULL)

#endif

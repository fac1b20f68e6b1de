/* testing.h: the parts of `holdfast test`.
 *
 * cmd_test.c runs and checks; testing.c writes the files of the directory.
 */
#ifndef HF_CLI_TESTING_H
#define HF_CLI_TESTING_H

#include "cli/check.h"
#include "cli/running.h"

#define HF_TESTING_PATH 600

typedef struct hf_test_settings {
    hf_running_settings running; /* first */
    const char *output, *level;
    unsigned expect, engine, color;
    hf_number max;
    bool json, quiet;
    double check_seconds;
    size_t check_bytes;
} hf_test_settings;

/* One test. */
typedef struct hf_testing {
    hf_running running;
    const hf_test_settings *set;
    hf_level level;
    int watched; /* exit status of --watch */
    char directory[HF_TESTING_PATH - 80];
    bool made; /* the directory */
    hf_check_settings check;
    hf_job job;
    hf_history *h;
    hf_result *result;
    hf_result *explained; /* owns some of its findings; may be NULL */
} hf_testing;

/* The path of a file in the directory; buffer has HF_TESTING_PATH bytes. */
const char *hf_testing_path(const hf_testing *t, const char *name,
                            char *buffer);
/* All files but the history, as far as there is something to say. */
HF_MUST_USE hf_status hf_testing_write(const hf_testing *t, hf_error *err);
HF_MUST_USE hf_status hf_testing_write_log(const hf_testing *t, hf_error *err);
/* explaining.c: names for a verdict that has none. */
void hf_testing_explain(hf_testing *t);
/* One line: what the database promises. */
void hf_testing_promise(const hf_testing *t, hf_out *out);

#endif

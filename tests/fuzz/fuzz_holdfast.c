/* fuzz_holdfast.c: one libFuzzer target for everything that is parsed.
 *
 * The environment variable HF_FUZZ_TARGET chooses: the name of a format, or
 * "detect" (any format, found by content), "witness" (a claim about a fixed
 * small history), "sql" (fuzz_sql.c), or "watch-..." (fuzz_watch.c).  What an
 * importer accepts must survive the way through both native forms unchanged,
 * and be judged without a crash.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "check/check.h"
#include "formats/format.h"
#include "history/binary.h"
#include "history/certificate.h"
#include "history/promises.h"
#include "history/text.h"
#include "verify/verify.h"

void hf_fuzz_sql(const uint8_t *data, size_t size); /* fuzz_sql.c */
/* fuzz_watch.c */
void hf_fuzz_watch(const char *target, const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const hf_format *format;
static hf_history *fixed; /* for witnesses */
static bool is_sql;
static const char *watch_target; /* NULL: another */
static char directory[] = "/tmp/hf-fuzz-XXXXXX";

static hf_history *load_text(const char *text, size_t length)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;

    if (hf_text_read(text, length, b, NULL) != HF_OK) {
        hf_builder_free(b);
        return NULL;
    }
    return hf_builder_finish(b, &h, NULL) == HF_OK ? h : NULL;
}

static void clean_up(void)
{
    char path[64];

    hf_history_free(fixed);
    (void)snprintf(path, sizeof(path), "%s/T1.log", directory);
    (void)unlink(path);
    (void)rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char text[] =
        "{\"session\":1,\"ops\":[[\"r\",\"x\",null],[\"w\",\"y\",1]]}\n"
        "{\"session\":2,\"ops\":[[\"r\",\"y\",null],[\"w\",\"x\",1]]}\n"
        "{\"ops\":[[\"append\",\"l\",1],[\"r\",\"l\",[1]]]}\n"
        "{\"ops\":[[\"w\",\"z\",3]],\"outcome\":\"aborted\"}\n";
    const char *name = getenv("HF_FUZZ_TARGET");

    (void)argc;
    (void)argv;
    if (!name)
        name = "detect";
    is_sql = strcmp(name, "sql") == 0;
    if (strncmp(name, "watch-", 6) == 0)
        watch_target = name;
    if (strcmp(name, "witness") == 0)
        fixed = load_text(text, sizeof(text) - 1);
    else if (strcmp(name, "detect") != 0 && !is_sql && !watch_target)
        format = hf_format_find(hf_str_of(name));
    if (!fixed && !format && !is_sql && !watch_target &&
        strcmp(name, "detect") != 0) {
        fprintf(stderr, "unknown target \"%s\"\n", name);
        exit(2);
    }
    if (!mkdtemp(directory))
        exit(2);
    atexit(clean_up);
    return 0;
}

static void fuzz_witness(const uint8_t *data, size_t size)
{
    hf_verification v;
    hf_arena arena;
    hf_claim claim;
    hf_budget budget = {.seconds = 0.2};

    hf_budget_start(&budget);
    hf_arena_init(&arena);
    if (hf_claim_read(fixed, (const char *)data, size, &arena, &claim, NULL) ==
        HF_OK)
        (void)hf_verify_claim(fixed, &claim, &budget, &v, NULL);
    hf_arena_release(&arena);
}

static void judge(const hf_history *h)
{
    static const hf_level levels[] = {HF_SERIALIZABLE, HF_CAUSAL,
                                      HF_STRICT_SNAPSHOT_ISOLATION};

    if (h->n_txns > 5 || h->n_ops > 24 || hf_promises_check(h, NULL) != HF_OK ||
        hf_certificate_check(h, NULL) != HF_OK)
        return;
    for (int i = 0; i < 6; i++) {
        hf_budget budget = {.seconds = 0.05};
        hf_result *r = NULL;

        hf_budget_start(&budget);
        if (hf_engine_at((unsigned)i / 3)
                    ->check(h, levels[i % 3], NULL, &budget, &r, NULL) ==
                HF_OK &&
            r->verdict != HF_UNKNOWN) {
            hf_claim claim = {r->verdict, r->level, r->witness};
            hf_verification v;

            if (hf_verify_claim(h, &claim, &budget, &v, NULL) == HF_OK &&
                !v.accepted)
                HF_BUG(v.reason);
        }
        hf_result_free(r);
    }
}

/* Text and binary must give back what they were given. */
static void round_trip(const hf_history *h)
{
    hf_out first, second;
    hf_history *again = NULL;
    hf_error err;

    hf_out_init_memory(&first);
    hf_binary_write(h, &first);
    if (hf_binary_read(first.at, first.n, NULL, &again, &err) != HF_OK)
        HF_BUG(err.text);
    hf_out_init_memory(&second);
    hf_binary_write(again, &second);
    if (!hf_str_eq(hf_out_view(&first), hf_out_view(&second)))
        HF_BUG("the binary form changed on the way");
    first.n = 0;
    hf_text_write(h, &first);
    hf_history_free(again);
    again = load_text(first.at, first.n);
    if (again && (again->n_ops != h->n_ops || again->n_txns != h->n_txns))
        HF_BUG("the text form lost something");
    hf_history_free(again);
    hf_out_release(&first);
    hf_out_release(&second);
}

/* A format that is a directory gets one file in one. */
static void put_file(hf_input *in, const uint8_t *data, size_t size)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/T1.log", directory);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) < 0)
        exit(2);
    close(fd);
    in->path = directory;
    in->is_directory = true;
    in->text = "";
    in->length = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_input in = {.path = "fuzz", .text = (const char *)data, .length = size};
    hf_history *h = NULL;
    hf_error err;

    if (is_sql) {
        hf_fuzz_sql(data, size);
        return 0;
    }
    if (watch_target) {
        hf_fuzz_watch(watch_target, data, size);
        return 0;
    }
    if (fixed) {
        fuzz_witness(data, size);
        return 0;
    }
    if (format && format->export_directory)
        put_file(&in, data, size);
    if (hf_import_history(&in, format, &h, &err) != HF_OK)
        return 0;
    round_trip(h);
    judge(h);
    hf_history_free(h);
    return 0;
}

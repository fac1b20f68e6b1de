/* fixture_util.h: the catalog's fixtures, their table of verdicts, and proofs,
 * for the tests that go through all of them. */
#ifndef HF_FIXTURE_UTIL_H
#define HF_FIXTURE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "history/builder.h"
#include "history/text.h"
#include "report/report.h"
#include "verify/verify.h"

#ifndef HF_TEST_ROOT
#define HF_TEST_ROOT "."
#endif
#define FOLDER HF_TEST_ROOT "/tests/data/fixtures/"
#define MAX_TEXT (1u << 16)

/* The caller frees it. */
static inline char *read_file(const char *path, size_t *ret_length)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(MAX_TEXT);

    if (!f)
        fail_msg("could not open %s", path);
    assert_non_null(text);
    *ret_length = fread(text, 1, MAX_TEXT - 1, f);
    assert_true(*ret_length < MAX_TEXT - 1);
    text[*ret_length] = '\0';
    (void)fclose(f);
    return text;
}

static inline hf_history *parse(const char *name, const char *text,
                                size_t length)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, length, b, &err) != HF_OK) {
        hf_builder_free(b);
        fail_msg("%s: %s", name, err.text);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s: %s", name, err.text);
    return h;
}

static inline hf_history *load(const char *file)
{
    hf_history *h;
    size_t length;
    char path[512], *text;

    (void)snprintf(path, sizeof(path), FOLDER "%s", file);
    text = read_file(path, &length);
    h = parse(file, text, length);
    free(text);
    return h;
}

static inline bool has_predicates(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)))
            return true;
    return false;
}

/* Cuts the next field off *at, at a tab or the end of the line. */
static inline char *next_field(char **at)
{
    char *field = *at;
    size_t n = strcspn(field, "\t\n");

    *at = field + n + (field[n] != '\0');
    field[n] = '\0';
    return field;
}

/* A row of EXPECT.tsv. */
typedef struct row {
    const char *file;
    char verdicts[HF_LEVEL_COUNT]; /* F, dot or ? */
} row;

/* Calls look() for each row; returns how many there are. */
static inline unsigned for_rows(void (*look)(const row *r))
{
    hf_level columns[HF_LEVEL_COUNT];
    size_t length;
    char *text = read_file(FOLDER "EXPECT.tsv", &length), *at = text;
    unsigned n = 0;

    while (*at == '#')
        at += strcspn(at, "\n") + 1;
    assert_string_equal(next_field(&at), "file");
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        assert_true(
            hf_level_find(hf_str_of(next_field(&at)), &columns[i], NULL));
    while (*at) {
        char *line = at;
        row r = {0};

        at += strcspn(at, "\n");
        at += *at != '\0';
        r.file = next_field(&line);
        for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
            r.verdicts[columns[i]] = *next_field(&line);
        look(&r);
        n++;
    }
    free(text);
    return n;
}

/* Is a proof, as JSON and back, accepted?  Prints why not. */
static inline bool is_accepted(const char *name, const hf_history *h,
                               const hf_result *r, const hf_witness *w)
{
    hf_verification v = {0};
    hf_claim claim;
    hf_arena arena;
    hf_error err;
    hf_status st;
    hf_out out;
    hf_json j;

    hf_out_init_memory(&out);
    hf_json_init(&j, &out);
    hf_witness_write(h, r->level, r->verdict, w, &j);
    hf_arena_init(&arena);
    st = hf_claim_read(h, out.at, out.n, &arena, &claim, &err);
    if (st == HF_OK)
        st = hf_verify_claim(h, &claim, NULL, &v, &err);
    if (st != HF_OK || !v.accepted)
        print_message("%s at %s: %s\n", name, hf_level_get(r->level)->name,
                      st != HF_OK ? err.text : v.reason);
    hf_arena_release(&arena);
    hf_out_release(&out);
    return st == HF_OK && v.accepted;
}

#endif

/* test_input.c: opening, decompressing, recognizing, saving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hf_config.h"

#ifdef HF_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HF_HAVE_ZSTD
#include <zstd.h>
#endif

#include "formats_util.h"

static const char plume[] = "w(1,10,0,0)\nr(1,10,1,1)\n";
#define PLUME_BYTES (sizeof(plume) - 1)

/* ---- a directory of our own ---------------------------------------------- */

typedef struct place {
    char directory[32], file[64];
} place;

static int set_up(void **state)
{
    place *p = calloc(1, sizeof(*p));

    if (!p)
        return -1;
    (void)snprintf(p->directory, sizeof(p->directory),
                   P_tmpdir "/hf-test-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    (void)snprintf(p->file, sizeof(p->file), "%s/input", p->directory);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    place *p = *state;
    int failed;

    (void)unlink(p->file);
    failed = rmdir(p->directory); /* fails if a test left something */
    free(p);
    return failed;
}

static void write_file(const place *p, const void *bytes, size_t n)
{
    FILE *f = fopen(p->file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void check_two_operations(const char *path)
{
    hf_history *h = NULL;
    hf_error err;

    if (hf_load_history(path, NULL, NULL, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    assert_string_equal(h->format, "plume-text");
    assert_history(h, "s0 committed: write 1 10\ns1 committed: read 1 10\n");
    hf_history_free(h);
}

static hf_status load_error(const place *p, hf_budget *budget, hf_error *err)
{
    hf_history *h = NULL;
    hf_status st = hf_load_history(p->file, NULL, budget, &h, err);

    assert_null(h);
    return st;
}

/* ---- plain --------------------------------------------------------------- */

static void plain_files_are_read(void **state)
{
    const place *p = *state;

    write_file(p, plume, PLUME_BYTES);
    check_two_operations(p->file);
    write_file(p, plume, PLUME_BYTES - 1); /* no last newline */
    check_two_operations(p->file);
}

static void standard_input_is_read(void **state)
{
    const place *p = *state;
    int saved = dup(STDIN_FILENO), ends[2];

    write_file(p, plume, PLUME_BYTES);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], plume, PLUME_BYTES), PLUME_BYTES);
    assert_int_equal(close(ends[1]), 0);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    assert_int_equal(close(ends[0]), 0);
    check_two_operations("-");
    /* a file, from where it stands */
    ends[0] = open(p->file, O_RDONLY);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    assert_int_equal(close(ends[0]), 0);
    check_two_operations("-");
    if (saved >= 0) {
        assert_true(dup2(saved, STDIN_FILENO) >= 0);
        (void)close(saved);
    }
}

static void a_missing_file_is_an_io_error(void **state)
{
    const place *p = *state;
    hf_error err;

    assert_int_equal(load_error(p, NULL, &err), HF_ERR_IO);
    assert_non_null(strstr(err.text, p->file));
}

/* ---- compressed ---------------------------------------------------------- */

#ifdef HF_HAVE_ZLIB
/* One gzip member; the caller frees. */
static char *gzip(const void *bytes, size_t n, size_t *ret_n)
{
    size_t room = n / 500 + 1000;
    char *packed = malloc(room);
    z_stream z = {.next_in = (z_const Bytef *)bytes,
                  .avail_in = (uInt)n,
                  .next_out = (Bytef *)packed,
                  .avail_out = (uInt)room};

    assert_non_null(packed);
    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *ret_n = z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return packed;
}

static void gzip_is_read(void **state)
{
    const place *p = *state;
    size_t n;
    char *packed = gzip(plume, PLUME_BYTES, &n);

    write_file(p, packed, n);
    check_two_operations(p->file);
    free(packed);
}

static void gzip_members_follow_each_other(void **state)
{
    const place *p = *state;
    size_t first, second;
    char *one = gzip(plume, 15, &first);
    char *two = gzip(plume + 15, PLUME_BYTES - 15, &second);
    char *both = malloc(first + second + 512);

    assert_non_null(both);
    memcpy(both, one, first);
    memcpy(both + first, two, second);
    memset(both + first + second, 0, 512); /* padding is no member */
    write_file(p, both, first + second);
    check_two_operations(p->file);
    write_file(p, both, first + second + 512);
    check_two_operations(p->file);
    both[first + second + 100] = 'x';
    write_file(p, both, first + second + 512);
    {
        hf_error err;

        assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
        assert_int_equal(err.byte, first + second);
    }
    free(one);
    free(two);
    free(both);
}

static void truncated_gzip_is_refused(void **state)
{
    const place *p = *state;
    size_t n;
    char *packed = gzip(plume, PLUME_BYTES, &n);

    for (size_t cut = 3; cut < n; cut++) {
        hf_error err;

        write_file(p, packed, cut);
        assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
        assert_int_equal(err.byte, cut);
    }
    free(packed);
}

static void damaged_gzip_is_refused(void **state)
{
    const place *p = *state;
    size_t n;
    char *packed = gzip(plume, PLUME_BYTES, &n);
    hf_error err;

    packed[n - 6] ^= 1; /* the checksum */
    write_file(p, packed, n);
    assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
    assert_true(err.byte <= n);
    free(packed);
}

/* 1 GiB of zeros in 1 MB: the memory limit ends it. */
static void a_zip_bomb_stops_at_the_limit(void **state)
{
    const place *p = *state;
    size_t size = (size_t)16 << 20, n;
    void *zeros = calloc(1, size);
    char *packed;
    FILE *f;
    hf_budget budget = {.bytes = hf_memory_held() + ((size_t)96 << 20)};
    hf_error err;

    assert_non_null(zeros);
    packed = gzip(zeros, size, &n);
    free(zeros);
    f = fopen(p->file, "wb");
    assert_non_null(f);
    for (int i = 0; i < 64; i++)
        assert_int_equal(fwrite(packed, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    free(packed);
    hf_budget_start(&budget);
    assert_int_equal(load_error(p, &budget, &err), HF_ERR_LIMIT);
}
#endif

#ifdef HF_HAVE_ZSTD
static void zstd_is_read(void **state)
{
    const place *p = *state;
    char packed[256];
    size_t n = ZSTD_compress(packed, sizeof(packed), plume, 15, 3), all;

    assert_false(ZSTD_isError(n));
    all = n + ZSTD_compress(packed + n, sizeof(packed) - n, plume + 15,
                            PLUME_BYTES - 15, 3);
    write_file(p, packed, all);
    check_two_operations(p->file); /* two frames */
    for (size_t cut = 4; cut < all; cut++) {
        hf_error err;

        if (cut == n)
            continue; /* one whole frame, a history that ends early */
        write_file(p, packed, cut);
        assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
        assert_true(err.byte <= cut);
    }
}

static void damaged_zstd_is_refused(void **state)
{
    const place *p = *state;
    char packed[256];
    size_t n = ZSTD_compress(packed, sizeof(packed), plume, PLUME_BYTES, 3);
    hf_error err;

    packed[n] = 'x';
    write_file(p, packed, n + 1);
    assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
    packed[4] ^= 0x18; /* reserved bits of the frame header */
    write_file(p, packed, n);
    assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
}
#endif

/* ---- unrecognized -------------------------------------------------------- */

static void check_unrecognized(const place *p, const char *bytes, size_t n,
                               const char *word)
{
    hf_error err;

    write_file(p, bytes, n);
    assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
    if (!strstr(err.text, word) || !strstr(err.text, "--from") ||
        !strstr(err.text, p->file))
        fail_msg("%s", err.text);
    assert_null(strchr(err.text, '\n'));
}

static void what_is_unrecognized_is_described(void **state)
{
    const place *p = *state;

    check_unrecognized(p, "", 0, "empty");
    check_unrecognized(p, " \n\n", 3, "white space");
    check_unrecognized(p,
                       "\x7f"
                       "ELF\2\1\1\0\0",
                       9, "7f 45 4c 46");
    check_unrecognized(p, "\n\nLorem ipsum\ndolor", 19, "\"Lorem ipsum\"");
}

static void a_directory_without_logs_is_described(void **state)
{
    const place *p = *state;
    hf_history *h = NULL;
    hf_error err;

    assert_int_equal(hf_load_history(p->directory, NULL, NULL, &h, &err),
                     HF_ERR_INPUT);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(hf_load_history(p->directory, format_named("plume-text"),
                                     NULL, &h, &err),
                     HF_ERR_INPUT);
    assert_int_equal(hf_load_history(p->directory,
                                     format_named("cobra-log-dir"), NULL, &h,
                                     &err),
                     HF_ERR_INPUT);
}

static void errors_name_file_and_line(void **state)
{
    const place *p = *state;
    char wanted[128];
    hf_error err;

    write_file(p, "w(1,1,0,0)\nw(1,2,0\n", 19);
    assert_int_equal(load_error(p, NULL, &err), HF_ERR_INPUT);
    (void)snprintf(wanted, sizeof(wanted),
                   "could not read history \"%s\": line 2: ", p->file);
    assert_int_equal(strncmp(err.text, wanted, strlen(wanted)), 0);
}

/* A budget that is spent stops a long import. */
static void a_time_limit_stops_loading(void **state)
{
    const place *p = *state;
    hf_budget budget = {.seconds = 1e-9};
    hf_error err;
    FILE *f = fopen(p->file, "wb");

    assert_non_null(f);
    for (unsigned i = 0; i < 20000; i++)
        (void)fprintf(f, "w(%u,%u,%u,%u)\n", i % 10, i + 1, i % 3, i);
    assert_int_equal(fclose(f), 0);
    hf_budget_start(&budget);
    assert_int_equal(load_error(p, &budget, &err), HF_ERR_LIMIT);
}

/* ---- the table ----------------------------------------------------------- */

static void formats_are_found_by_name(void **state)
{
    (void)state;
    for (unsigned i = 0; hf_format_at(i); i++) {
        const hf_format *f = hf_format_at(i);

        assert_ptr_equal(hf_format_find(hf_str_of(f->name)), f);
        assert_non_null(f->summary);
        assert_non_null(f->detect);
    }
    assert_null(hf_format_find(HF_STR("plume-texts")));
    assert_non_null(hf_format_find(HF_STR("Plume Text")));
}

/* ---- saving -------------------------------------------------------------- */

static void saving_replaces_the_file_when_complete(void **state)
{
    const place *p = *state;
    hf_history *h = import_text("plume-text", plume);
    hf_error err;

    write_file(p, "old", 3);
    assert_int_equal(
        hf_save_history(h, p->file, format_named("plume-text"), &err), HF_OK);
    check_two_operations(p->file);
    hf_history_free(h);
}

/* What cannot be said leaves the old file, and no temporary one. */
static void a_refused_export_changes_nothing(void **state)
{
    const place *p = *state;
    hf_history *h = import_text("dbcop-hist", "[x:=1]");
    struct stat info;
    hf_error err;

    write_file(p, "old", 3);
    assert_int_equal(
        hf_save_history(h, p->file, format_named("plume-text"), &err),
        HF_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, p->file));
    assert_int_equal(stat(p->file, &info), 0);
    assert_int_equal(info.st_size, 3);
    hf_history_free(h);
}

static void impossible_targets_are_errors(void **state)
{
    const place *p = *state;
    hf_history *h = import_text("plume-text", plume);
    char missing[128];
    hf_error err;

    (void)snprintf(missing, sizeof(missing), "%s/no/where", p->directory);
    assert_int_equal(
        hf_save_history(h, missing, format_named("plume-text"), &err),
        HF_ERR_IO);
    assert_int_equal(
        hf_save_history(h, p->directory, format_named("plume-text"), &err),
        HF_ERR_IO);
    assert_int_equal(
        hf_save_history(h, "-", format_named("cobra-log-dir"), &err),
        HF_ERR_USAGE);
    assert_int_equal(
        hf_save_history(h, p->file, format_named("arangodb-wal-jsonl"), &err),
        HF_ERR_UNSUPPORTED);
    assert_int_equal(
        hf_save_history(h, "/dev/full", format_named("plume-text"), &err),
        HF_ERR_IO);
    hf_history_free(h);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plain_files_are_read),
        TEST(standard_input_is_read),
        TEST(a_missing_file_is_an_io_error),
#ifdef HF_HAVE_ZLIB
        TEST(gzip_is_read),
        TEST(gzip_members_follow_each_other),
        TEST(truncated_gzip_is_refused),
        TEST(damaged_gzip_is_refused),
        TEST(a_zip_bomb_stops_at_the_limit),
#endif
#ifdef HF_HAVE_ZSTD
        TEST(zstd_is_read),
        TEST(damaged_zstd_is_refused),
#endif
        TEST(what_is_unrecognized_is_described),
        TEST(a_directory_without_logs_is_described),
        TEST(errors_name_file_and_line),
        TEST(a_time_limit_stops_loading),
        TEST(formats_are_found_by_name),
        TEST(saving_replaces_the_file_when_complete),
        TEST(a_refused_export_changes_nothing),
        TEST(impossible_targets_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

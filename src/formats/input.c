/* input.c: opening what a history is read from.
 *
 * A plain file is mapped; standard input, pipes and devices are read to their
 * end; gzip and zstd are recognized by their first bytes and decompressed
 * into memory, several members or frames after each other included.  Every
 * growth of a buffer asks the budget, so a small file that expands without
 * end stops at the memory limit with HF_ERR_LIMIT.
 *
 * A directory is only noted: its format opens the files inside.
 *
 * Not done: compression inside compression.
 */
#include "formats/format.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hf_config.h"

#ifdef HF_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HF_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"

#define STEP ((size_t)1 << 18) /* bytes between two looks at the budget */

/* A buffer that grows within the budget. */
typedef struct growing {
    char *at;
    size_t n, cap;
    hf_budget *budget;
} growing;

static hf_status fail_limit(const hf_budget *budget, hf_error *err)
{
    return hf_fail(err, HF_ERR_LIMIT, "%s", hf_budget_reason(budget));
}

static hf_status fail_errno(hf_error *err)
{
    return hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
}

/* Room for at least one more byte; asks the budget either way. */
static hf_status grow(growing *g, hf_error *err)
{
    size_t cap = g->cap < STEP ? STEP : g->cap + g->cap / 2;

    if (g->budget && hf_budget_look(g->budget))
        return fail_limit(g->budget, err);
    if (g->n < g->cap)
        return HF_OK;
    if (hf_budget_refuses(g->budget, cap - g->cap))
        return fail_limit(g->budget, err);
    g->at = hf_realloc(g->at, cap);
    g->cap = cap;
    return HF_OK;
}

/* The buffer becomes the input's text. */
static void give(growing *g, hf_input *in)
{
    in->owned = g->at;
    in->text = g->at ? g->at : "";
    in->length = g->n;
    g->at = NULL;
}

static size_t at_most(size_t n, size_t limit)
{
    return n < limit ? n : limit;
}

/* ---- gzip ---------------------------------------------------------------- */

static bool is_gzip(const char *text, size_t n)
{
    return n >= 3 && memcmp(text, "\x1f\x8b\x08", 3) == 0;
}

#ifdef HF_HAVE_ZLIB
/* One call of inflate; *ret_code is its answer. */
static hf_status inflate_step(z_stream *z, const char *text, size_t length,
                              growing *g, int *ret_code, hf_error *err)
{
    hf_status st = grow(g, err);
    size_t done = (size_t)((const char *)z->next_in - text), in, out;

    if (st != HF_OK)
        return st;
    in = at_most(length - done, STEP);
    out = at_most(g->cap - g->n, STEP);
    z->avail_in = (uInt)in;
    z->next_out = (Bytef *)(g->at + g->n);
    z->avail_out = (uInt)out;
    *ret_code = inflate(z, Z_NO_FLUSH);
    g->n += out - z->avail_out;
    done += in - z->avail_in;
    if (*ret_code == Z_DATA_ERROR || *ret_code == Z_NEED_DICT)
        return hf_fail_byte(err, done, "the gzip data is damaged: %s",
                            z->msg ? z->msg : "it needs a dictionary");
    if (*ret_code == Z_MEM_ERROR)
        return hf_fail(err, HF_ERR_LIMIT, "no memory to decompress");
    if (*ret_code != Z_STREAM_END && done == length && z->avail_out == out)
        return hf_fail_byte(err, length,
                            "expected more gzip data, found the end of the "
                            "file: it is truncated");
    return HF_OK;
}

static bool all_zero(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != 0)
            return false;
    return true;
}

static hf_status inflate_all(z_stream *z, const char *text, size_t length,
                             growing *g, hf_error *err)
{
    int code = Z_OK;

    for (;;) {
        hf_status st = inflate_step(z, text, length, g, &code, err);
        size_t done = (size_t)((const char *)z->next_in - text);

        if (st != HF_OK)
            return st;
        if (code != Z_STREAM_END)
            continue;
        if (all_zero(text + done, length - done))
            return HF_OK; /* the end, or padding of a tape or disk block */
        if (!is_gzip(text + done, length - done))
            return hf_fail_byte(err, done,
                                "expected another gzip member or the end of "
                                "the file");
        (void)inflateReset(z);
    }
}

static hf_status read_gzip(const char *text, size_t length, growing *g,
                           hf_error *err)
{
    z_stream z = {.next_in = (z_const Bytef *)text};
    hf_status st;

    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return hf_fail(err, HF_ERR_LIMIT, "no memory to decompress");
    st = inflate_all(&z, text, length, g, err);
    (void)inflateEnd(&z);
    return st;
}
#else
static hf_status read_gzip(const char *text, size_t length, growing *g,
                           hf_error *err)
{
    (void)text, (void)length, (void)g;
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "this build cannot read gzip: it was made without zlib");
}
#endif

/* ---- zstd ---------------------------------------------------------------- */

static bool is_zstd(const char *text, size_t n)
{
    return n >= 4 && (memcmp(text, "\x28\xb5\x2f\xfd", 4) == 0 ||
                      (memcmp(text + 1, "\x2a\x4d\x18", 3) == 0 &&
                       ((unsigned char)text[0] & 0xf0) == 0x50));
}

#ifdef HF_HAVE_ZSTD
static hf_status decompress_all(ZSTD_DStream *z, const char *text,
                                size_t length, growing *g, hf_error *err)
{
    ZSTD_inBuffer from = {text, 0, 0};
    size_t code = 1;

    while (from.pos < length || code != 0) {
        hf_status st = grow(g, err);
        ZSTD_outBuffer to;
        size_t before = from.pos;

        if (st != HF_OK)
            return st;
        to = (ZSTD_outBuffer){g->at + g->n, at_most(g->cap - g->n, STEP), 0};
        from.size = from.pos + at_most(length - from.pos, STEP);
        code = ZSTD_decompressStream(z, &to, &from);
        g->n += to.pos;
        if (ZSTD_isError(code))
            return hf_fail_byte(err, before, "the zstd data is damaged: %s",
                                ZSTD_getErrorName(code));
        if (code != 0 && from.pos == length && to.pos < to.size)
            return hf_fail_byte(err, length,
                                "expected more zstd data, found the end of "
                                "the file: it is truncated");
    }
    return HF_OK;
}

static hf_status read_zstd(const char *text, size_t length, growing *g,
                           hf_error *err)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    hf_status st;

    if (!z)
        return hf_fail(err, HF_ERR_LIMIT, "no memory to decompress");
    st = decompress_all(z, text, length, g, err);
    (void)ZSTD_freeDStream(z);
    return st;
}
#else
static hf_status read_zstd(const char *text, size_t length, growing *g,
                           hf_error *err)
{
    (void)text, (void)length, (void)g;
    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   "this build cannot read zstd: it was made without libzstd");
}
#endif

/* ---- opening ------------------------------------------------------------- */

/* Reads a descriptor that cannot be mapped to its end. */
static hf_status read_all(int fd, growing *g, hf_error *err)
{
    for (;;) {
        hf_status st = grow(g, err);
        ssize_t got;

        if (st != HF_OK)
            return st;
        got = read(fd, g->at + g->n, at_most(g->cap - g->n, STEP));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(err);
        if (got == 0)
            return HF_OK;
        g->n += (size_t)got;
    }
}

static hf_status map_file(hf_input *in, int fd, size_t length, hf_error *err)
{
    void *map;

    in->text = "";
    if (length == 0)
        return HF_OK;
    map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return fail_errno(err);
    (void)madvise(map, length, MADV_SEQUENTIAL);
    in->map = map;
    in->map_length = length;
    in->text = map;
    in->length = length;
    return HF_OK;
}

static hf_status open_fd(hf_input *in, int fd, hf_error *err)
{
    struct stat info;
    growing g = {.budget = in->budget};
    hf_status st;

    if (fstat(fd, &info) != 0)
        return fail_errno(err);
    if (S_ISDIR(info.st_mode)) {
        in->is_directory = true;
        return HF_OK;
    }
    /* Files of size 0 may be those of /proc, which have something to say. */
    if (S_ISREG(info.st_mode) && info.st_size > 0 && fd != STDIN_FILENO)
        return map_file(in, fd, (size_t)info.st_size, err);
    st = read_all(fd, &g, err);
    if (st == HF_OK)
        give(&g, in);
    hf_free(g.at);
    return st;
}

/* Replaces compressed text by what it holds. */
static hf_status decompress(hf_input *in, hf_error *err)
{
    growing g = {.budget = in->budget};
    bool gzip = is_gzip(in->text, in->length);
    hf_status st;

    if (!gzip && !is_zstd(in->text, in->length))
        return HF_OK;
    st = gzip ? read_gzip(in->text, in->length, &g, err)
              : read_zstd(in->text, in->length, &g, err);
    if (st == HF_OK) {
        hf_input packed = *in;

        in->map = NULL;
        in->map_length = 0;
        give(&g, in);
        hf_input_close(&packed);
    }
    hf_free(g.at);
    return st;
}

hf_status hf_input_open(hf_input *in, const char *path, hf_budget *budget,
                        hf_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    hf_status st;
    int fd;

    *in = (hf_input){.path = path, .text = "", .budget = budget};
    fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err);
    st = open_fd(in, fd, err);
    if (!standard)
        (void)close(fd);
    if (st == HF_OK)
        st = decompress(in, err);
    if (st == HF_OK && in->length >= 3 &&
        memcmp(in->text, "\xef\xbb\xbf", 3) == 0) {
        in->text += 3; /* a byte order mark says nothing in UTF-8 */
        in->length -= 3;
    }
    if (st != HF_OK)
        hf_input_close(in);
    return st;
}

void hf_input_close(hf_input *in)
{
    if (in->map)
        (void)munmap(in->map, in->map_length);
    hf_free(in->owned);
    in->map = NULL;
    in->owned = NULL;
    in->text = "";
    in->length = 0;
}

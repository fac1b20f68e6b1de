/* pack.c: gzip and zstd, streaming: memory does not grow with the output. */
#include "formats/pack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hf_config.h"
#ifdef HF_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HF_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"

#define BUFFER ((size_t)1 << 16)

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n > m && memcmp(path + n - m, ending, m) == 0;
}

hf_packing hf_packing_of(const char *path)
{
    if (ends_in(path, ".gz"))
        return HF_PACKING_GZIP;
    return ends_in(path, ".zst") ? HF_PACKING_ZSTD : HF_PACKING_NONE;
}

#if defined(HF_HAVE_ZLIB) || defined(HF_HAVE_ZSTD)
static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(fd, bytes, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        bytes += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}
#endif

/* ---- gzip --------------------------------------------------------------- */

#ifdef HF_HAVE_ZLIB
static int gzip_some(hf_packer *p, const void *bytes, size_t n, bool last)
{
    z_stream *z = p->stream;

    z->next_in = (Bytef *)(uintptr_t)bytes; /* zlib does not write to it */
    do {
        size_t part = n < BUFFER ? n : BUFFER;
        int code = Z_OK, failed;

        z->avail_in = (uInt)part;
        n -= part;
        do {
            z->next_out = (Bytef *)p->buffer;
            z->avail_out = (uInt)BUFFER;
            code = deflate(z, last && n == 0 ? Z_FINISH : Z_NO_FLUSH);
            if (code == Z_STREAM_ERROR)
                return EIO;
            failed = write_all(p->fd, p->buffer, BUFFER - z->avail_out);
            if (failed)
                return failed;
        } while (z->avail_out == 0);
    } while (n > 0);
    return 0;
}

static bool gzip_begin(hf_packer *p)
{
    z_stream *z = HF_NEW(z_stream);

    p->stream = z;
    /* 16: with a gzip header */
    if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return true;
    hf_free(z);
    p->stream = NULL;
    return false;
}

static void gzip_release(hf_packer *p)
{
    if (p->stream)
        (void)deflateEnd(p->stream);
    hf_free(p->stream);
}
#else
static int gzip_some(hf_packer *p, const void *bytes, size_t n, bool last)
{
    (void)p, (void)bytes, (void)n, (void)last;
    return ENOSYS;
}

static bool gzip_begin(hf_packer *p)
{
    (void)p;
    return false;
}

static void gzip_release(hf_packer *p)
{
    (void)p;
}
#endif

/* ---- zstd --------------------------------------------------------------- */

#ifdef HF_HAVE_ZSTD
static int zstd_some(hf_packer *p, const void *bytes, size_t n, bool last)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left;

    do {
        ZSTD_outBuffer out = {p->buffer, BUFFER, 0};
        int failed;

        left = ZSTD_compressStream2(p->stream, &out, &in,
                                    last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return EIO;
        failed = write_all(p->fd, p->buffer, out.pos);
        if (failed)
            return failed;
    } while (in.pos < in.size || (last && left > 0));
    return 0;
}

static bool zstd_begin(hf_packer *p)
{
    p->stream = ZSTD_createCCtx();
    if (!p->stream)
        return false;
    (void)ZSTD_CCtx_setParameter(p->stream, ZSTD_c_checksumFlag, 1);
    return true;
}

static void zstd_release(hf_packer *p)
{
    (void)ZSTD_freeCCtx(p->stream);
}
#else
static int zstd_some(hf_packer *p, const void *bytes, size_t n, bool last)
{
    (void)p, (void)bytes, (void)n, (void)last;
    return ENOSYS;
}

static bool zstd_begin(hf_packer *p)
{
    (void)p;
    return false;
}

static void zstd_release(hf_packer *p)
{
    (void)p;
}
#endif

/* ---- either ------------------------------------------------------------- */

static int pack(hf_packer *p, const void *bytes, size_t n, bool last)
{
    return p->packing == HF_PACKING_GZIP ? gzip_some(p, bytes, n, last)
                                         : zstd_some(p, bytes, n, last);
}

static int sink(void *user, const void *bytes, size_t n)
{
    return pack(user, bytes, n, false);
}

hf_status hf_packer_begin(hf_packer *p, hf_packing packing, hf_out *out,
                          hf_error *err)
{
    bool can;

    *p = (hf_packer){.packing = packing, .fd = out->fd};
    if (packing == HF_PACKING_NONE)
        return HF_OK;
    can = packing == HF_PACKING_GZIP ? gzip_begin(p) : zstd_begin(p);
    if (!can) {
        p->packing = HF_PACKING_NONE;
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "this build has no %s compression",
                       packing == HF_PACKING_GZIP ? "gzip" : "zstd");
    }
    p->buffer = hf_alloc(BUFFER);
    out->sink = sink;
    out->sink_user = p;
    return HF_OK;
}

hf_status hf_packer_end(hf_packer *p, hf_error *err)
{
    int failed = p->packing == HF_PACKING_NONE ? 0 : pack(p, "", 0, true);

    hf_packer_release(p);
    if (failed)
        return hf_fail(err, HF_ERR_IO, "could not write: %s", strerror(failed));
    return HF_OK;
}

void hf_packer_release(hf_packer *p)
{
    if (p->packing == HF_PACKING_GZIP)
        gzip_release(p);
    else if (p->packing == HF_PACKING_ZSTD)
        zstd_release(p);
    hf_free(p->buffer);
    *p = (hf_packer){0};
}

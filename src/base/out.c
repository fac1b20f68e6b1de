/* out.c: buffered output. */
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

#define FD_BUFFER ((size_t)1 << 18)

void hf_out_init_memory(hf_out *out)
{
    *out = (hf_out){.fd = -1};
}

void hf_out_init_fd(hf_out *out, int fd)
{
    *out = (hf_out){.fd = fd, .cap = FD_BUFFER};
    out->at = hf_alloc(FD_BUFFER);
}

static void write_all(hf_out *out, const char *bytes, size_t n)
{
    if (out->sink && n > 0 && out->write_errno == 0) {
        out->write_errno = out->sink(out->sink_user, bytes, n);
        out->flushed += n;
        return;
    }
    while (n > 0 && out->write_errno == 0) {
        ssize_t wrote = write(out->fd, bytes, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            out->write_errno = wrote < 0 ? errno : EIO;
            return;
        }
        bytes += wrote;
        n -= (size_t)wrote;
        out->flushed += (uint64_t)wrote;
    }
}

static void drain(hf_out *out)
{
    write_all(out, out->at, out->n);
    out->n = 0;
}

/* Room for n more bytes in the buffer; false if they should go straight to
 * the file because they are too many. */
static bool make_room(hf_out *out, size_t n)
{
    if (out->cap - out->n >= n)
        return true;
    if (out->fd >= 0) {
        drain(out);
        return n <= out->cap;
    }
    size_t next = out->cap + out->cap / 2;

    if (next < out->n + n)
        next = out->n + n;
    if (next < 256)
        next = 256;
    out->at = hf_realloc(out->at, next);
    out->cap = next;
    return true;
}

void hf_out_bytes(hf_out *out, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (!make_room(out, n)) {
        write_all(out, bytes, n);
        return;
    }
    memcpy(out->at + out->n, bytes, n);
    out->n += n;
}

void hf_out_str(hf_out *out, hf_str s)
{
    hf_out_bytes(out, s.ptr, s.len);
}

void hf_out_text(hf_out *out, const char *c_string)
{
    hf_out_bytes(out, c_string, strlen(c_string));
}

void hf_out_char(hf_out *out, char c)
{
    (void)make_room(out, 1);
    out->at[out->n++] = c;
}

void hf_out_uint(hf_out *out, uint64_t value)
{
    char digits[20];
    size_t i = sizeof(digits);

    do {
        digits[--i] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    hf_out_bytes(out, digits + i, sizeof(digits) - i);
}

void hf_out_int(hf_out *out, int64_t value)
{
    if (value < 0)
        hf_out_char(out, '-');
    hf_out_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void hf_out_format(hf_out *out, const char *format, ...)
{
    char small[512];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof(small)) {
        hf_out_bytes(out, small, (size_t)n);
        return;
    }
    char *big = hf_alloc((size_t)n + 1);

    va_start(args, format);
    (void)vsnprintf(big, (size_t)n + 1, format, args);
    va_end(args);
    hf_out_bytes(out, big, (size_t)n);
    hf_free(big);
}

hf_status hf_out_flush(hf_out *out, hf_error *err)
{
    if (out->fd >= 0)
        drain(out);
    if (out->write_errno != 0)
        return hf_fail(err, HF_ERR_IO, "could not write: %s",
                       strerror(out->write_errno));
    return HF_OK;
}

hf_status hf_out_close(hf_out *out, hf_error *err)
{
    hf_status st = hf_out_flush(out, err);

    hf_out_release(out);
    return st;
}

void hf_out_release(hf_out *out)
{
    hf_free(out->at);
    *out = (hf_out){.fd = -1};
}

/* error.c: error texts. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(hf_error *err, const char *format, va_list args)
{
    if (!err)
        return;
    (void)vsnprintf(err->text, sizeof(err->text), format, args);
    err->line = err->byte = HF_NO_PLACE;
}

hf_status hf_fail(hf_error *err, hf_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, format, args);
    va_end(args);
    return status;
}

hf_status hf_fail_line(hf_error *err, uint64_t line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, format, args);
    va_end(args);
    if (err)
        err->line = line;
    return HF_ERR_INPUT;
}

hf_status hf_fail_byte(hf_error *err, uint64_t byte, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, format, args);
    va_end(args);
    if (err)
        err->byte = byte;
    return HF_ERR_INPUT;
}

void hf_error_context(hf_error *err, const char *format, ...)
{
    char front[sizeof(err->text)], both[2 * sizeof(err->text) + 4];
    va_list args;

    if (!err)
        return;
    va_start(args, format);
    (void)vsnprintf(front, sizeof(front), format, args);
    va_end(args);
    (void)snprintf(both, sizeof(both), "%s: %s", front, err->text);
    both[sizeof(err->text) - 1] = '\0';
    memcpy(err->text, both, sizeof(err->text));
}

const char *hf_quote(char *buffer, size_t size, const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (n + 8 > size) {
            memcpy(buffer + n, "...", 3);
            n += 3;
            break;
        }
        if (c >= 32 && c < 127) {
            buffer[n++] = (char)c;
        } else {
            buffer[n++] = '\\';
            buffer[n++] = 'x';
            buffer[n++] = hex[c >> 4];
            buffer[n++] = hex[c & 15];
        }
    }
    buffer[n] = '\0';
    return buffer;
}

void hf_broken(const char *file, int line, const char *text)
{
    fprintf(stderr, "holdfast: internal error at %s:%d: %s\n", file, line,
            text);
    abort();
}

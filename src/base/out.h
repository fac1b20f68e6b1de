/* out.h: text and bytes going out, buffered, to a file or into memory.
 *
 * Write errors are sticky and reported by hf_out_close().
 */
#ifndef HF_OUT_H
#define HF_OUT_H

#include "base/error.h"
#include "base/str.h"

typedef struct hf_out {
    char *at;
    size_t n, cap;
    int fd;           /* -1: memory only */
    int write_errno;  /* first failure, 0 if none */
    uint64_t flushed; /* bytes already written */
    /* If set, takes the bytes instead of fd; returns 0 or an errno value.
     * Set after hf_out_init_fd(). */
    int (*sink)(void *user, const void *bytes, size_t n);
    void *sink_user;
} hf_out;

void hf_out_init_memory(hf_out *out);
void hf_out_init_fd(hf_out *out, int fd); /* borrowed */

void hf_out_bytes(hf_out *out, const void *bytes, size_t n);
void hf_out_str(hf_out *out, hf_str s);
void hf_out_text(hf_out *out, const char *c_string);
void hf_out_char(hf_out *out, char c);
void hf_out_int(hf_out *out, int64_t value);
void hf_out_uint(hf_out *out, uint64_t value);
void hf_out_format(hf_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is buffered (memory: all of it). */
static inline hf_str hf_out_view(const hf_out *out)
{
    return (hf_str){out->at, out->n};
}

/* Writes the buffer out; memory: nothing to do. */
HF_MUST_USE hf_status hf_out_flush(hf_out *out, hf_error *err);
/* Flushes, frees the buffer, reports the first failure. */
HF_MUST_USE hf_status hf_out_close(hf_out *out, hf_error *err);
void hf_out_release(hf_out *out); /* frees without writing */

#endif

/* pack.h: output compressed on its way to a file.
 *
 *     hf_packer p;
 *     hf_out out;
 *     hf_out_init_fd(&out, fd);
 *     st = hf_packer_begin(&p, hf_packing_of(path), &out, err);
 *     ... write to out, hf_out_flush() ...
 *     st = hf_packer_end(&p, err);        (after the last flush)
 */
#ifndef HF_PACK_H
#define HF_PACK_H

#include "base/out.h"

typedef enum hf_packing {
    HF_PACKING_NONE = 0,
    HF_PACKING_GZIP,
    HF_PACKING_ZSTD,
    HF_PACKING_COUNT
} hf_packing;

/* By the ending of a file's name: .gz, .zst. */
hf_packing hf_packing_of(const char *path);

typedef struct hf_packer {
    hf_packing packing;
    int fd;       /* that of the output */
    void *stream; /* of the library that compresses */
    char *buffer;
} hf_packer;

/* From now on what `out` writes to its file is compressed.  Fails with
 * HF_ERR_UNSUPPORTED if this build cannot; nothing to end then. */
HF_MUST_USE hf_status hf_packer_begin(hf_packer *p, hf_packing packing,
                                      hf_out *out, hf_error *err);
/* Writes what is left and frees; `out` must have been flushed. */
HF_MUST_USE hf_status hf_packer_end(hf_packer *p, hf_error *err);
/* Frees without writing. */
void hf_packer_release(hf_packer *p);

#endif

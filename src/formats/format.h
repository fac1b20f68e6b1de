/* format.h: the table of file formats.
 *
 * Each format is one file with one hf_format; format.c lists them.  A format
 * gets the whole input in memory (mapped, or decompressed) and fills a
 * builder; what it cannot read it refuses with line or byte, what was
 * expected and what is there instead.
 */
#ifndef HF_FORMAT_H
#define HF_FORMAT_H

#include "base/out.h"
#include "history/builder.h"

/* One input.  For a directory `is_directory` is set, text is empty and
 * `path` is to be used.  The text is not NUL-terminated. */
typedef struct hf_input {
    const char *path; /* as given; "-" for standard input */
    const char *text;
    size_t length;
    bool is_directory;
    hf_budget *budget; /* may be NULL */
    /* kept by input.c */
    void *map;
    size_t map_length;
    char *owned;
} hf_input;

typedef struct hf_format {
    const char *name;      /* "plume-text" */
    const char *summary;   /* one line, for help */
    const char *extension; /* ".txt": for output names only, never to detect */
    /* How sure: 0 no, 100 certain.  Looks at the first 64 KiB at most (and,
     * for directories, at the names in it). */
    int (*detect)(const hf_input *in);
    /* NULL: cannot be imported / exported. */
    hf_status (*import)(const hf_input *in, hf_builder *b, hf_error *err);
    /* For a format that needs no builder (the binary form): used instead of
     * import where it is not NULL. */
    hf_status (*load)(const hf_input *in, hf_history **ret_h, hf_error *err);
    /* Refuses (HF_ERR_UNSUPPORTED) what the format cannot say, naming it,
     * rather than dropping it silently. */
    hf_status (*export_)(const hf_history *h, hf_out *out, hf_error *err);
    /* For formats that are directories: writes into the directory `path`,
     * which it creates. */
    hf_status (*export_directory)(const hf_history *h, const char *path,
                                  hf_error *err);
} hf_format;

/* NULL after the last. */
const hf_format *hf_format_at(unsigned index);
const hf_format *hf_format_find(hf_str name);
/* The best detector's answer, or NULL if none is sure at all. */
const hf_format *hf_format_detect(const hf_input *in);

/* Opens a file, directory or "-"; gzip and zstd are recognized by content and
 * decompressed.  Empty input is fine here. */
HF_MUST_USE hf_status hf_input_open(hf_input *in, const char *path,
                                    hf_budget *budget, hf_error *err);
void hf_input_close(hf_input *in);

/* Detect (if format is NULL), import, finish: for input that is open. */
HF_MUST_USE hf_status hf_import_history(const hf_input *in,
                                        const hf_format *format,
                                        hf_history **ret_h, hf_error *err);
/* Open, detect (if format is NULL), import, finish; errors carry the path and
 * place: could not read history "a.txt": line 41: ... */
HF_MUST_USE hf_status hf_load_history(const char *path, const hf_format *format,
                                      hf_budget *budget, hf_history **ret_h,
                                      hf_error *err);
/* Writes to the file `path` ("-": standard output) through a temporary file
 * that is renamed when complete. */
HF_MUST_USE hf_status hf_save_history(const hf_history *h, const char *path,
                                      const hf_format *format, hf_error *err);

#endif

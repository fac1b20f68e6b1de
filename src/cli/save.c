/* save.c: choosing the format of an output file, and writing it. */
#include "cli/save.h"

#include <stdio.h>

#include "base/error.h"

/* The last extension of path, without .gz and .zst: ".jsonl", or "". */
static hf_str extension_of(const char *path)
{
    hf_str s = hf_str_of(path);
    static const hf_str packed[] = {{".gz", 3}, {".zst", 4}};

    for (unsigned i = 0; i < 2; i++) {
        size_t n = packed[i].len;

        if (s.len > n && hf_str_eq((hf_str){s.ptr + s.len - n, n}, packed[i])) {
            s.len -= n;
            break;
        }
    }
    for (size_t i = s.len; i-- > 0 && s.ptr[i] != '/';)
        if (s.ptr[i] == '.')
            return (hf_str){s.ptr + i, s.len - i};
    return HF_STR("");
}

static bool can_write(const hf_format *f)
{
    return f->export_ || f->export_directory;
}

/* The only format that uses the extension, or the native one among them. */
static hf_status by_extension(hf_str extension, const hf_format **ret,
                              char *hint, size_t hint_size, hf_error *err)
{
    const hf_format *f, *found = NULL;
    unsigned n = 0;
    size_t at = 0;

    at += (size_t)snprintf(hint, hint_size, "name one with --to:");
    for (unsigned i = 0; (f = hf_format_at(i)) != NULL; i++) {
        if (!can_write(f) || !f->extension || extension.len == 0 ||
            !hf_str_eq(hf_str_of(f->extension), extension))
            continue;
        if (i < 2) { /* ours */
            *ret = f;
            hint[0] = '\0';
            return HF_OK;
        }
        found = f;
        n++;
        if (at < hint_size)
            at += (size_t)snprintf(hint + at, hint_size - at, "%s %s",
                                   n > 1 ? "," : "", f->name);
    }
    if (n == 1) {
        *ret = found;
        hint[0] = '\0';
        return HF_OK;
    }
    if (n > 1)
        return hf_fail(err, HF_ERR_USAGE, "\"%.*s\" files are of %u formats",
                       (int)extension.len, extension.ptr, n);
    (void)snprintf(hint, hint_size,
                   "name it with --to; \"holdfast convert "
                   "--list\" lists the formats");
    return hf_fail(err, HF_ERR_USAGE,
                   "the name of the output does not say its format");
}

hf_status hf_cli_output_format(const char *name, const char *path,
                               const hf_format **ret, char *hint,
                               size_t hint_size, hf_error *err)
{
    if (name)
        return hf_cli_format(name, true, ret, hint, hint_size, err);
    if (strcmp(path, "-") == 0) {
        *ret = hf_format_at(0);
        return HF_OK;
    }
    return by_extension(extension_of(path), ret, hint, hint_size, err);
}

hf_status hf_cli_save(hf_cli *cli, const hf_history *h, const char *path,
                      const hf_format *format, hf_error *err)
{
    hf_status st;

    if (strcmp(path, "-") != 0)
        return hf_save_history(h, path, format, err);
    if (!format->export_)
        return hf_fail(err, HF_ERR_USAGE,
                       "format \"%s\" is a directory and cannot go to "
                       "standard output",
                       format->name);
    st = format->export_(h, &cli->out, err);
    if (st != HF_OK && cli->out.write_errno != 0)
        return HF_OK; /* hf_cli_end() speaks about it */
    if (st != HF_OK)
        hf_error_context(err, "could not write the history");
    return st;
}

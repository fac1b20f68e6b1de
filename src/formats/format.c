/* format.c: the table of formats; finding one by name or by content; loading
 * and saving.
 *
 * Detection asks every format's detector and takes the surest answer; of two
 * equally sure ones the first in the table wins.  Detectors look at the first
 * 64 KiB, so the cost does not depend on the input's size.
 */
#include "formats/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "formats/formats_all.h"
#include "formats/pack.h"
#include "history/projection.h"

static const hf_format *const formats[] = {
    &hf_format_text,           &hf_format_binary,
    &hf_format_plume,          &hf_format_awdit,
    &hf_format_dbcop,          &hf_format_dbcop_json,
    &hf_format_dbcop_hist,     &hf_format_cobra,
    &hf_format_polygraph,      &hf_format_isopredict,
    &hf_format_timekiller,     &hf_format_arangodb,
    &hf_format_elle_edn,       &hf_format_elle_json,
    &hf_format_jepsen_edn,     &hf_format_jepsen_json,
    &hf_format_viper,          &hf_format_causal_register,
    &hf_format_jepsen_results, &hf_format_pg_spec,
    &hf_format_pg_out,         &hf_format_hermitage,
    &hf_format_troc,           &hf_format_leopard,
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const hf_format *hf_format_at(unsigned index)
{
    return index < FORMAT_COUNT ? formats[index] : NULL;
}

const hf_format *hf_format_find(hf_str name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (hf_str_same_name(hf_str_of(formats[i]->name), name))
            return formats[i];
    return NULL;
}

const hf_format *hf_format_detect(const hf_input *in)
{
    const hf_format *best = NULL;
    int best_score = 0;

    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        int score = formats[i]->detect ? formats[i]->detect(in) : 0;

        if (score > best_score) {
            best = formats[i];
            best_score = score;
        }
    }
    return best;
}

/* ---- loading ------------------------------------------------------------- */

static bool is_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127)
            return false;
    }
    return true;
}

/* No format recognized the input: say what it looks like. */
static hf_status fail_unrecognized(const hf_input *in, hf_error *err)
{
    static const char hint[] = "name its format with --from";
    char quoted[64];
    size_t skip = 0, n = 0, look = in->length < 512 ? in->length : 512;

    if (in->is_directory)
        return hf_fail(err, HF_ERR_INPUT,
                       "unrecognized format: a directory without files "
                       "T<number>.log; %s",
                       hint);
    while (skip < in->length && (unsigned char)in->text[skip] <= ' ')
        skip++;
    if (in->length == 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "unrecognized format: the input is empty; %s", hint);
    if (!is_text(in->text, look)) {
        char bytes[3 * 8 + 1];

        for (n = 0; n < 8 && n < in->length; n++)
            (void)snprintf(bytes + 3 * n, 4, " %02x",
                           (unsigned)(unsigned char)in->text[n]);
        return hf_fail(err, HF_ERR_INPUT,
                       "unrecognized format: binary data starting with%s; %s",
                       bytes, hint);
    }
    if (skip == in->length)
        return hf_fail(err, HF_ERR_INPUT,
                       "unrecognized format: nothing but white space; %s",
                       hint);
    while (skip + n < in->length && n < 40 && in->text[skip + n] != '\n' &&
           in->text[skip + n] != '\r')
        n++;
    return hf_fail(err, HF_ERR_INPUT,
                   "unrecognized format: text starting with \"%s\"; %s",
                   hf_quote(quoted, sizeof(quoted), in->text + skip, n), hint);
}

/* The place goes in front of the text, the file in front of that. */
static void add_place(hf_error *err, const char *path)
{
    char quoted[160];

    if (!err)
        return;
    if (err->line != HF_NO_PLACE)
        hf_error_context(err, "line %llu", (unsigned long long)err->line);
    else if (err->byte != HF_NO_PLACE)
        hf_error_context(err, "byte %llu", (unsigned long long)err->byte);
    hf_error_context(err, "could not read history \"%s\"",
                     hf_quote(quoted, sizeof(quoted), path, strlen(path)));
}

static hf_status build_history(const hf_input *in, const hf_format *format,
                               hf_history **ret_h, hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_status st;

    hf_builder_set_budget(b, in->budget);
    hf_builder_format(b, format->name);
    st = format->import(in, b, err);
    if (st != HF_OK) {
        hf_builder_free(b);
        return st;
    }
    return hf_builder_finish(b, ret_h, err);
}

/* Nothing to judge is no history: an empty file must not pass as valid. */
static hf_status refuse_empty(const hf_input *in, hf_history *h, hf_error *err)
{
    bool cut_off = h->cut_off;

    if (h->n_txns > 0)
        return HF_OK;
    hf_history_free(h);
    if (cut_off)
        return hf_fail_byte(err, in->length,
                            "the file ends before its first transaction");
    return hf_fail(err, HF_ERR_INPUT, "expected transactions, found none%s",
                   in->length == 0 && !in->is_directory ? ": it is empty" : "");
}

hf_status hf_import_history(const hf_input *in, const hf_format *format,
                            hf_history **ret_h, hf_error *err)
{
    hf_history *h = NULL;
    hf_status st;

    if (!format)
        format = hf_format_detect(in);
    if (!format)
        return fail_unrecognized(in, err);
    if (in->is_directory && !format->export_directory)
        return hf_fail(err, HF_ERR_INPUT,
                       "expected a file of format %s, found a directory",
                       format->name);
    if (!format->load && !format->import)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "%s cannot be imported",
                       format->name);
    st = format->load ? format->load(in, &h, err)
                      : build_history(in, format, &h, err);
    if (st == HF_OK)
        st = refuse_empty(in, h, err);
    if (st == HF_OK) {
        st = hf_history_project(h, err);
        if (st != HF_OK)
            hf_history_free(h);
    }
    if (st == HF_OK)
        *ret_h = h;
    return st;
}

hf_status hf_load_history(const char *path, const hf_format *format,
                          hf_budget *budget, hf_history **ret_h, hf_error *err)
{
    hf_error own;
    hf_input in;
    hf_status st;

    if (!err)
        err = &own;
    st = hf_input_open(&in, path, budget, err);
    if (st == HF_OK) {
        st = hf_import_history(&in, format, ret_h, err);
        hf_input_close(&in);
    }
    if (st != HF_OK)
        add_place(err, path);
    return st;
}

/* ---- saving -------------------------------------------------------------- */

/* `path` says by its ending whether to compress. */
static hf_status export_to_fd(const hf_history *h, int fd, const char *path,
                              const hf_format *format, hf_error *err)
{
    hf_packer packer;
    hf_out out;
    hf_status st;

    hf_out_init_fd(&out, fd);
    st = hf_packer_begin(&packer, hf_packing_of(path), &out, err);
    if (st == HF_OK)
        st = format->export_(h, &out, err);
    if (st == HF_OK)
        st = hf_out_flush(&out, err);
    if (st == HF_OK)
        st = hf_packer_end(&packer, err);
    else
        hf_packer_release(&packer);
    hf_out_release(&out);
    return st;
}

static hf_status fail_errno(hf_error *err, const char *what)
{
    return hf_fail(err, HF_ERR_IO, "%s: %s", what, strerror(errno));
}

/* Writes beside the target and renames when all is written. */
static hf_status save_file(const hf_history *h, const char *path,
                           const hf_format *format, hf_error *err)
{
    size_t size = strlen(path) + 32;
    char *temporary = hf_alloc(size);
    hf_status st;
    int fd;

    (void)snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        st = fail_errno(err, "could not create a temporary file beside it");
        hf_free(temporary);
        return st;
    }
    st = export_to_fd(h, fd, path, format, err);
    if (close(fd) != 0 && st == HF_OK)
        st = fail_errno(err, "could not close the temporary file");
    if (st == HF_OK && rename(temporary, path) != 0)
        st = fail_errno(err, "could not rename the temporary file");
    if (st != HF_OK)
        (void)unlink(temporary);
    hf_free(temporary);
    return st;
}

/* A pipe or a device: there is nothing to rename. */
static hf_status save_direct(const hf_history *h, const char *path,
                             const hf_format *format, hf_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    hf_status st;

    if (fd < 0)
        return fail_errno(err, "could not open it");
    st = export_to_fd(h, fd, path, format, err);
    if (close(fd) != 0 && st == HF_OK)
        st = fail_errno(err, "could not close it");
    return st;
}

static hf_status save(const hf_history *h, const char *path,
                      const hf_format *format, hf_error *err)
{
    struct stat info;

    if (!format->export_ && !format->export_directory)
        return hf_fail(err, HF_ERR_UNSUPPORTED, "%s can only be imported",
                       format->name);
    if (!format->export_) {
        if (strcmp(path, "-") == 0)
            return hf_fail(err, HF_ERR_USAGE,
                           "%s is a directory and cannot go to standard "
                           "output",
                           format->name);
        return format->export_directory(h, path, err);
    }
    if (strcmp(path, "-") == 0)
        return export_to_fd(h, STDOUT_FILENO, path, format, err);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode))
            return hf_fail(err, HF_ERR_IO, "it is a directory");
        return save_direct(h, path, format, err);
    }
    return save_file(h, path, format, err);
}

hf_status hf_save_history(const hf_history *h, const char *path,
                          const hf_format *format, hf_error *err)
{
    hf_status st = save(h, path, format, err);
    char quoted[160];

    if (st != HF_OK)
        hf_error_context(err, "could not write history \"%s\"",
                         hf_quote(quoted, sizeof(quoted), path, strlen(path)));
    return st;
}

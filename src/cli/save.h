/* save.h: writing a history where a command was told to. */
#ifndef HF_CLI_SAVE_H
#define HF_CLI_SAVE_H

#include "cli/common.h"

/* The format for the file `path`: the one called `name`, else the one that
 * the file's extension means (a last .gz or .zst set aside), else, for
 * standard output, the native text form. */
HF_MUST_USE hf_status hf_cli_output_format(const char *name, const char *path,
                                           const hf_format **ret, char *hint,
                                           size_t hint_size, hf_error *err);

/* Writes h.  Standard output goes through cli->out, whose end reports what
 * went wrong with it. */
HF_MUST_USE hf_status hf_cli_save(hf_cli *cli, const hf_history *h,
                                  const char *path, const hf_format *format,
                                  hf_error *err);

#endif

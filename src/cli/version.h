/* version.h: which version this is, and what was built into it. */
#ifndef HF_CLI_VERSION_H
#define HF_CLI_VERSION_H

#include "base/out.h"

void hf_version_print(hf_out *out);

#endif

/* version.c: holdfast --version. */
#include "cli/version.h"

#include "holdfast.h"

#if defined(__has_include)
#if __has_include("hf_config.h")
#include "hf_config.h"
#endif
#endif

typedef struct part {
    const char *name;
    const char *gives; /* what it is for */
    bool built;
} part;

static const part parts[] = {
#ifdef HF_HAVE_ZLIB
    {"zlib", "gzip files", true},
#else
    {"zlib", "gzip files", false},
#endif
#ifdef HF_HAVE_ZSTD
    {"zstd", "zstd files", true},
#else
    {"zstd", "zstd files", false},
#endif
#ifdef HF_HAVE_Z3
    {"z3", "predictions by the paper's encoding", true},
#else
    {"z3", "predictions by the paper's encoding", false},
#endif
#ifdef HF_HAVE_CADICAL
    {"cadical", "predictions", true},
#else
    {"cadical", "predictions", false},
#endif
#ifdef HF_HAVE_LIBPQ
    {"libpq", "PostgreSQL", true},
#else
    {"libpq", "PostgreSQL", false},
#endif
};

void hf_version_print(hf_out *out)
{
    hf_out_format(out, "holdfast %s\n", HF_VERSION_STRING);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        hf_out_format(out, "  %-7s %-4s %s\n", parts[i].name,
                      parts[i].built ? "yes" : "no", parts[i].gives);
}

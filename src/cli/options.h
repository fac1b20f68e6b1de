/* options.h: one table per command.
 *
 * A command is one hf_command: its words for help, the table of its options,
 * and the function that runs it.  The same table is read by the parser
 * (options.c), by -h and --help (help.c), by the man page (manual.c) and by
 * the shell completions (completion.c), so that none of them can lag behind.
 *
 * Parsing fills the command's own settings struct, zeroed before, through
 * the offset in each row:
 *
 *     {.name = "time", .argument = "TIME", .type = HF_OPTION_SECONDS,
 *      .offset = offsetof(settings, seconds), .summary = "..."}
 */
#ifndef HF_OPTIONS_H
#define HF_OPTIONS_H

#include "base/out.h"

typedef enum hf_option_type {
    HF_OPTION_FLAG = 0, /* bool, takes no argument */
    HF_OPTION_TEXT,     /* const char *, borrowed from argv */
    HF_OPTION_LIST,     /* hf_texts: the option may be repeated */
    HF_OPTION_CHOICE,   /* unsigned: 1 + the index among the choices */
    HF_OPTION_SET,      /* unsigned: 1u << index for each of the choices named;
                           parted by commas, and the option may be repeated */
    HF_OPTION_NUMBER,   /* hf_number; suffixes k, M, G are thousands ... */
    HF_OPTION_REAL,     /* double */
    HF_OPTION_SECONDS,  /* double: 10, 10s, 500ms, 2m, 1h */
    HF_OPTION_BYTES,    /* size_t: 4096, 512K, 64M, 2G */
    HF_OPTION_TYPE_COUNT
} hf_option_type;

typedef struct hf_number {
    bool given;
    uint64_t value;
} hf_number;

/* Borrowed from argv. */
#define HF_TEXTS 32u
typedef struct hf_texts {
    const char *at[HF_TEXTS];
    unsigned n;
} hf_texts;

/* The i-th thing an argument may be, counted from 0; NULL after the last. */
typedef const char *(*hf_choices)(unsigned index);

typedef struct hf_option {
    const char *name;     /* without dashes; NULL ends a table */
    char letter;          /* 0: no short form */
    const char *argument; /* "FILE"; NULL for a flag */
    hf_option_type type;
    size_t offset;       /* into the settings */
    hf_choices choices;  /* what completion offers; CHOICE, SET: all there is */
    uint64_t min, max;   /* NUMBER; max 0: no bound */
    const char *summary; /* one line */
    const char *detail;  /* more, for --help; may be NULL */
    const char *example; /* "--time 30s" */
    bool completes_files; /* the argument is a file */
} hf_option;

typedef struct hf_example {
    const char *line; /* the whole command */
    const char *says; /* what it does */
} hf_example;

typedef struct hf_cli hf_cli;

/* Operands of a command line, borrowed from argv. */
typedef struct hf_operands {
    const char **at;
    unsigned n;
} hf_operands;

typedef struct hf_command {
    const char *name;
    const char *operands; /* "FILE...": as the usage line shows it */
    unsigned min_operands, max_operands;
    hf_choices operand_choices; /* what completion offers; NULL: files */
    const char *summary;        /* one line */
    const char *description;    /* paragraphs, parted by empty lines */
    const hf_option *options;   /* ended by a row without a name */
    const hf_example *examples; /* ended by a row without a line */
    const char *status;         /* what its exit statuses mean */
    size_t settings_size;
    /* Returns the exit status. */
    int (*run)(hf_cli *cli, const void *settings, const hf_operands *operands);
} hf_command;

/* What was asked instead of running the command. */
typedef enum hf_help_kind {
    HF_HELP_NONE = 0,
    HF_HELP_SHORT, /* -h */
    HF_HELP_LONG,  /* --help */
    HF_HELP_KIND_COUNT
} hf_help_kind;

typedef struct hf_parsed {
    void *settings; /* owned; see hf_parsed_release() */
    hf_operands operands;
    hf_help_kind help;
    char hint[160]; /* after an error: what to try; or "" */
} hf_parsed;

/* Parses argv[0 .. argc-1], the words after the command's name.  On failure
 * (HF_ERR_USAGE) err has the line to print and ret->hint a hint; ret is to be
 * released in any case.  `--` ends options; `--opt=value`, `--opt value`,
 * `-x value`, `-xvalue` and `-abc` are understood.  A request for help wins
 * over missing operands but not over a wrong option before it. */
HF_MUST_USE hf_status hf_options_parse(const hf_command *command, int argc,
                                       char **argv, hf_parsed *ret,
                                       hf_error *err);
void hf_parsed_release(hf_parsed *parsed);

/* -h and --help, which every table has without naming them; ended by a row
 * without a name. */
const hf_option *hf_help_options(void);

/* "10s" and "64M"; false if the text is something else. */
bool hf_parse_seconds(const char *text, double *ret_seconds);
bool hf_parse_bytes(const char *text, size_t *ret_bytes);
/* "2000", "20k", "3M", "1G": thousands. */
bool hf_parse_count(const char *text, uint64_t *ret_number);

/* The nearest of some names, or NULL if none is near. */
const char *hf_nearest(const char *name, hf_choices choices);

#endif

/* mixes_main.c: writes one of the histories of the black-box benches.
 *
 *   mixes FILE [NAME=VALUE | NAME]...
 *
 * The names are those of struct hf_mix_options; store is 0, 1 or 2.  A file
 * whose name ends in .jsonl is text, any other binary.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "mixes.h"

static int usage(void)
{
    fprintf(stderr,
            "usage: mixes FILE [NAME=VALUE | NAME]...\n"
            "  mix=rmw|read-write|heavy-write  store=0|1|2\n"
            "    store 0: snapshot reads, first committer wins, no cycles\n"
            "          1: reads of the latest version, no cycles\n"
            "          2: as 0 with cycles (write skew)\n"
            "  transactions=N clients=N keys=N ops=N theta=X seed=N\n"
            "  no-times  no-sessions  noise=X (in operation times)\n"
            "  order=PERCENT of the versions in the certificate; by-key:\n"
            "    of the keys\n"
            "  values=N: that a key can have (default: each written once)\n"
            "  stale=N: one read returns the version N back\n"
            "a file that ends in .jsonl is text, any other binary\n");
    return 2;
}

static bool set_number(hf_mix_options *o, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint32_t *to;
    } numbers[] = {{"transactions", &o->transactions},
                   {"clients", &o->clients},
                   {"keys", &o->keys},
                   {"ops", &o->ops},
                   {"order", &o->order_percent},
                   {"stale", &o->stale},
                   {"values", &o->values}};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].to = (uint32_t)strtoul(value, NULL, 10);
            return true;
        }
    return false;
}

static bool set_option(hf_mix_options *o, const char *name, const char *value)
{
    if (strcmp(name, "mix") == 0)
        return hf_mix_find(hf_str_of(value), &o->mix);
    if (strcmp(name, "store") == 0) {
        o->store = (hf_mix_store)strtoul(value, NULL, 10);
        return o->store < HF_MIX_STORE_COUNT;
    }
    if (strcmp(name, "seed") == 0)
        o->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "theta") == 0)
        o->theta = strtod(value, NULL);
    else if (strcmp(name, "noise") == 0)
        o->noise = strtod(value, NULL);
    else
        return set_number(o, name, value);
    return true;
}

static bool set_flag(hf_mix_options *o, const char *name)
{
    if (strcmp(name, "no-times") == 0)
        o->no_times = true;
    else if (strcmp(name, "no-sessions") == 0)
        o->no_sessions = true;
    else if (strcmp(name, "by-key") == 0)
        o->order_by_key = true;
    else
        return false;
    return true;
}

static bool parse(hf_mix_options *o, char *word)
{
    char *equals = strchr(word, '=');

    if (!equals)
        return set_flag(o, word);
    *equals = '\0';
    return set_option(o, word, equals + 1);
}

int main(int argc, char **argv)
{
    hf_mix_options o = hf_mix_defaults(HF_MIX_RMW, HF_MIX_STORE_SNAPSHOT, 0);
    size_t length = argc > 1 ? strlen(argv[1]) : 0;
    bool text = length > 6 && strcmp(argv[1] + length - 6, ".jsonl") == 0;
    hf_history *h = NULL;
    hf_error err;

    o.transactions = 10000;
    o.keys = 0;
    for (int i = 2; i < argc; i++)
        if (!parse(&o, argv[i]))
            return usage();
    if (argc < 2)
        return usage();
    if (o.keys == 0)
        o.keys = hf_mix_defaults(o.mix, o.store, o.transactions).keys;
    if (hf_mix_make(&o, &h, &err) != HF_OK ||
        hf_save_history(h, argv[1],
                        hf_format_find(hf_str_of(text ? "jsonl" : "binary")),
                        &err) != HF_OK) {
        fprintf(stderr, "mixes: %s\n", err.text);
        return 2;
    }
    hf_history_free(h);
    return 0;
}

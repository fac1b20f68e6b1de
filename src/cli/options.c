/* options.c: reading a command line by its table.
 *
 * Two words of policy: an option may be written in full only (no
 * abbreviations, so that new options never change the meaning of a script),
 * and a wrong word is answered with the nearest right one.
 */
#include "cli/options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

/* Names further apart than this are not suggested. */
#define NEAR 3

static const hf_option help_options[] = {
    {.name = "help",
     .letter = 'h',
     .type = HF_OPTION_FLAG,
     .summary = "show help; -h is short, --help is long"},
    {0},
};

const hf_option *hf_help_options(void)
{
    return help_options;
}

/* ---- values ------------------------------------------------------------- */

/* A non-negative decimal number at the start of text; *ret_rest is what
 * follows it.  Neither signs, blanks, hexadecimal, "inf" nor "nan". */
static bool scan_number(const char *text, double *ret, const char **ret_rest)
{
    char *rest;

    if (!(text[0] >= '0' && text[0] <= '9') &&
        !(text[0] == '.' && text[1] >= '0' && text[1] <= '9'))
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    *ret = strtod(text, &rest);
    *ret_rest = rest;
    return isfinite(*ret);
}

bool hf_parse_seconds(const char *text, double *ret_seconds)
{
    static const struct {
        const char *suffix;
        double factor;
    } units[] = {{"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6},
                 {"m", 60}, {"min", 60}, {"h", 3600},  {"ns", 1e-9}};
    const char *rest;
    double number;

    if (!scan_number(text, &number, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].suffix) != 0)
            continue;
        *ret_seconds = number * units[i].factor;
        return *ret_seconds > 0 && *ret_seconds < 1e9;
    }
    return false;
}

/* The power in the suffix K, M, G or T, or -1.  Binary sizes may be followed
 * by "B" or "iB". */
static int suffix_power(const char *rest, bool binary)
{
    static const char letters[] = "KMGT";
    const char *found;
    int power;

    if (rest[0] == '\0' || (binary && strcmp(rest, "B") == 0))
        return 0;
    found = strchr(letters, rest[0] == 'k' ? 'K' : rest[0]);
    if (!found)
        return -1;
    power = (int)(found - letters) + 1;
    if (rest[1] == '\0')
        return power;
    if (binary && (strcmp(rest + 1, "B") == 0 || strcmp(rest + 1, "iB") == 0))
        return power;
    return -1;
}

static bool parse_scaled(const char *text, bool binary, uint64_t *ret)
{
    const char *rest;
    double number;
    int power;

    if (!scan_number(text, &number, &rest))
        return false;
    power = suffix_power(rest, binary);
    if (power < 0)
        return false;
    if (power == 0) { /* exact, beyond the 53 bits of a double */
        int64_t exact;
        hf_str digits = {text, (size_t)(rest - text)};

        if (!hf_str_to_int(digits, &exact) || exact < 0)
            return false;
        *ret = (uint64_t)exact;
        return true;
    }
    number *= pow(binary ? 1024 : 1000, power);
    if (number >= 9.2e18 || number != floor(number))
        return false;
    *ret = (uint64_t)number;
    return true;
}

bool hf_parse_bytes(const char *text, size_t *ret_bytes)
{
    uint64_t bytes;

    if (!parse_scaled(text, true, &bytes) || bytes == 0 || bytes > SIZE_MAX)
        return false;
    *ret_bytes = (size_t)bytes;
    return true;
}

bool hf_parse_count(const char *text, uint64_t *ret_number)
{
    return parse_scaled(text, false, ret_number);
}

const char *hf_nearest(const char *name, hf_choices choices)
{
    const char *best = NULL;
    unsigned best_distance = NEAR + 1;
    hf_str wanted = hf_str_of(name);

    for (unsigned i = 0; choices(i); i++) {
        hf_str choice = hf_str_of(choices(i));
        unsigned d = hf_str_distance(wanted, choice, NEAR);

        /* a few letters must not turn into any other few letters */
        if (d < best_distance && d * 2 <= choice.len) {
            best = choices(i);
            best_distance = d;
        }
    }
    return best;
}

/* ---- storing one value -------------------------------------------------- */

typedef struct parser {
    const hf_command *command;
    hf_parsed *out;
    hf_error *err;
    int argc;
    char **argv;
    int at; /* the next word */
} parser;

static hf_status refuse_part(const parser *p, const char *option,
                             const char *expected, hf_str value)
{
    char quoted[64];

    return hf_fail(p->err, HF_ERR_USAGE,
                   "option \"%s\" expects %s, found \"%s\"", option, expected,
                   hf_quote(quoted, sizeof quoted, value.ptr, value.len));
}

static hf_status refuse(const parser *p, const char *option,
                        const char *expected, const char *value)
{
    return refuse_part(p, option, expected, hf_str_of(value));
}

/* The index among the choices; refused if there is no such. */
static hf_status find_choice(parser *p, const hf_option *o, const char *name,
                             hf_str value, unsigned *ret)
{
    char expected[200] = "one of";
    char copy[64];
    const char *near = NULL;

    for (unsigned i = 0; o->choices(i); i++) {
        size_t n = strlen(expected);

        if (hf_str_same_name(value, hf_str_of(o->choices(i)))) {
            *ret = i;
            return HF_OK;
        }
        (void)snprintf(expected + n, sizeof expected - n, "%s %s",
                       i > 0 ? "," : "", o->choices(i));
    }
    if (value.len < sizeof copy) { /* names are shorter */
        memcpy(copy, value.ptr, value.len);
        copy[value.len] = '\0';
        near = hf_nearest(copy, o->choices);
    }
    if (near)
        (void)snprintf(p->out->hint, sizeof p->out->hint,
                       "did you mean \"%s\"?", near);
    return refuse_part(p, name, expected, value);
}

static hf_status store_choice(parser *p, const hf_option *o, const char *name,
                              const char *value, void *slot)
{
    unsigned index;
    hf_status st = find_choice(p, o, name, hf_str_of(value), &index);

    if (st == HF_OK)
        *(unsigned *)slot = index + 1;
    return st;
}

/* Adds to what earlier ones have set. */
static hf_status store_set(parser *p, const hf_option *o, const char *name,
                           const char *value, void *slot)
{
    for (;;) {
        size_t n = strcspn(value, ",");
        unsigned index;
        hf_status st = find_choice(p, o, name, (hf_str){value, n}, &index);

        if (st != HF_OK)
            return st;
        HF_ASSERT(index < sizeof(unsigned) * CHAR_BIT);
        *(unsigned *)slot |= 1u << index;
        if (value[n] == '\0')
            return HF_OK;
        value += n + 1;
    }
}

static hf_status store_number(parser *p, const hf_option *o, const char *name,
                              const char *value, void *slot)
{
    char expected[100];
    uint64_t number;

    if (hf_parse_count(value, &number) && number >= o->min &&
        (o->max == 0 || number <= o->max)) {
        *(hf_number *)slot = (hf_number){true, number};
        return HF_OK;
    }
    if (o->max != 0)
        (void)snprintf(expected, sizeof expected, "a number from %llu to %llu",
                       (unsigned long long)o->min, (unsigned long long)o->max);
    else
        (void)snprintf(expected, sizeof expected,
                       "a number that is at least %llu",
                       (unsigned long long)o->min);
    return refuse(p, name, expected, value);
}

static hf_status store_list(const parser *p, const char *name,
                            const char *value, void *slot)
{
    hf_texts *list = slot;

    if (list->n == HF_TEXTS)
        return hf_fail(p->err, HF_ERR_USAGE,
                       "option \"%s\" is given more than %u times", name,
                       HF_TEXTS);
    list->at[list->n++] = value;
    return HF_OK;
}

static hf_status store(parser *p, const hf_option *o, const char *name,
                       const char *value)
{
    void *slot = (char *)p->out->settings + o->offset;
    const char *rest;

    switch (o->type) {
    case HF_OPTION_FLAG:
        *(bool *)slot = true;
        return HF_OK;
    case HF_OPTION_TEXT:
        *(const char **)slot = value;
        return HF_OK;
    case HF_OPTION_LIST:
        return store_list(p, name, value, slot);
    case HF_OPTION_CHOICE:
        return store_choice(p, o, name, value, slot);
    case HF_OPTION_SET:
        return store_set(p, o, name, value, slot);
    case HF_OPTION_NUMBER:
        return store_number(p, o, name, value, slot);
    case HF_OPTION_REAL:
        if (scan_number(value, slot, &rest) && *rest == '\0')
            return HF_OK;
        return refuse(p, name, "a number", value);
    case HF_OPTION_SECONDS:
        if (hf_parse_seconds(value, slot))
            return HF_OK;
        return refuse(p, name, "a time such as 500ms, 10s, 2m or 1h", value);
    case HF_OPTION_BYTES:
        if (hf_parse_bytes(value, slot))
            return HF_OK;
        return refuse(p, name, "a size such as 512M or 2G", value);
    case HF_OPTION_TYPE_COUNT:
        break;
    }
    HF_BUG("option of no type");
}

/* ---- words -------------------------------------------------------------- */

static const hf_option *find_long(const parser *p, hf_str name)
{
    for (const hf_option *o = p->command->options; o->name; o++)
        if (hf_str_eq(hf_str_of(o->name), name))
            return o;
    if (hf_str_eq(HF_STR("help"), name))
        return help_options;
    return NULL;
}

static const hf_option *find_letter(const parser *p, char letter)
{
    for (const hf_option *o = p->command->options; o->name; o++)
        if (o->letter == letter)
            return o;
    return letter == 'h' ? help_options : NULL;
}

static hf_status unknown_option(parser *p, const char *word, hf_str name)
{
    const char *best = NULL;
    unsigned best_distance = NEAR + 1;
    const hf_option *tables[] = {p->command->options, help_options};
    char quoted[64];

    for (unsigned t = 0; t < 2; t++) {
        for (const hf_option *o = tables[t]; o->name; o++) {
            unsigned d = hf_str_distance(name, hf_str_of(o->name), NEAR);

            if (d < best_distance && d * 2 <= strlen(o->name)) {
                best = o->name;
                best_distance = d;
            }
        }
    }
    if (best)
        (void)snprintf(p->out->hint, sizeof p->out->hint,
                       "did you mean \"--%s\"?", best);
    else
        (void)snprintf(p->out->hint, sizeof p->out->hint,
                       "\"holdfast %s -h\" lists its options",
                       p->command->name);
    return hf_fail(p->err, HF_ERR_USAGE, "unknown option \"%s\" of %s",
                   hf_quote(quoted, sizeof quoted, word, strlen(word)),
                   p->command->name);
}

static hf_status missing_argument(parser *p, const hf_option *o,
                                  const char *name)
{
    if (o->example)
        (void)snprintf(p->out->hint, sizeof p->out->hint, "for example: %s",
                       o->example);
    return hf_fail(p->err, HF_ERR_USAGE, "option \"%s\" needs an argument %s",
                   name, o->argument);
}

static hf_status parse_long(parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    hf_str name = {word + 2,
                   equals ? (size_t)(equals - word - 2) : strlen(word + 2)};
    const hf_option *o = find_long(p, name);
    char shown[40];

    if (!o)
        return unknown_option(p, word, name);
    (void)snprintf(shown, sizeof shown, "--%s", o->name);
    if (o->type == HF_OPTION_FLAG) {
        if (equals)
            return hf_fail(p->err, HF_ERR_USAGE,
                           "option \"%s\" takes no argument", shown);
        if (o == help_options)
            p->out->help = HF_HELP_LONG;
        else
            return store(p, o, shown, NULL);
        return HF_OK;
    }
    if (equals)
        return store(p, o, shown, equals + 1);
    if (p->at == p->argc)
        return missing_argument(p, o, shown);
    return store(p, o, shown, p->argv[p->at++]);
}

/* "-qj", "-o FILE", "-oFILE", "-qoFILE". */
static hf_status parse_letters(parser *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        const hf_option *o = find_letter(p, *c);
        char shown[3] = {'-', *c, '\0'};
        hf_status st = HF_OK;

        if (!o)
            return unknown_option(p, c == word + 1 && !c[1] ? word : shown,
                                  (hf_str){c, c == word + 1 ? strlen(c) : 1});
        if (o == help_options) {
            if (p->out->help == HF_HELP_NONE)
                p->out->help = HF_HELP_SHORT;
        } else if (o->type == HF_OPTION_FLAG) {
            st = store(p, o, shown, NULL);
        } else if (c[1]) {
            return store(p, o, shown, c + 1);
        } else if (p->at == p->argc) {
            return missing_argument(p, o, shown);
        } else {
            return store(p, o, shown, p->argv[p->at++]);
        }
        if (st != HF_OK)
            return st;
    }
    return HF_OK;
}

static hf_status check_operands(parser *p)
{
    const hf_command *c = p->command;
    unsigned n = p->out->operands.n;
    char quoted[64];
    const char *extra;

    if (p->out->help != HF_HELP_NONE ||
        (n >= c->min_operands && n <= c->max_operands))
        return HF_OK;
    (void)snprintf(p->out->hint, sizeof p->out->hint,
                   "usage: holdfast %s [options]%s%s", c->name,
                   c->operands[0] ? " " : "", c->operands);
    if (n < c->min_operands)
        return hf_fail(p->err, HF_ERR_USAGE, "%s needs %s", c->name,
                       c->operands);
    extra = p->out->operands.at[c->max_operands];
    return hf_fail(p->err, HF_ERR_USAGE, "unexpected argument \"%s\" of %s",
                   hf_quote(quoted, sizeof quoted, extra, strlen(extra)),
                   c->name);
}

hf_status hf_options_parse(const hf_command *command, int argc, char **argv,
                           hf_parsed *ret, hf_error *err)
{
    parser p = {command, ret, err, argc, argv, 0};
    bool only_operands = false;

    *ret = (hf_parsed){0};
    ret->settings = hf_alloc_zero(1, command->settings_size + 1);
    ret->operands.at = HF_NEW_ZEROED(const char *, (size_t)argc + 1);
    while (p.at < argc) {
        const char *word = argv[p.at++];
        hf_status st = HF_OK;

        if (only_operands || word[0] != '-' || word[1] == '\0')
            ret->operands.at[ret->operands.n++] = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            st = parse_long(&p, word);
        else
            st = parse_letters(&p, word);
        if (st != HF_OK)
            return st;
    }
    return check_operands(&p);
}

void hf_parsed_release(hf_parsed *parsed)
{
    hf_free(parsed->settings);
    hf_free(parsed->operands.at);
    *parsed = (hf_parsed){0};
}

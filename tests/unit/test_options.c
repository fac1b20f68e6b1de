/* test_options.c: parsing a command line by a table; help from the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/help.h"
#include "cli/options.h"

typedef struct settings {
    bool flag, other;
    const char *text;
    unsigned choice, set;
    hf_number number;
    double real, seconds;
    size_t bytes;
} settings;

static const char *colors(unsigned i)
{
    static const char *const names[] = {"red", "green", "dark-blue"};

    return i < 3 ? names[i] : NULL;
}

static const hf_option options[] = {
    {.name = "flag",
     .letter = 'f',
     .offset = offsetof(settings, flag),
     .summary = "a flag"},
    {.name = "other",
     .letter = 'o',
     .offset = offsetof(settings, other),
     .summary = "another"},
    {.name = "text",
     .letter = 't',
     .argument = "TEXT",
     .type = HF_OPTION_TEXT,
     .offset = offsetof(settings, text),
     .summary = "some text",
     .example = "--text abc"},
    {.name = "choice",
     .argument = "COLOR",
     .type = HF_OPTION_CHOICE,
     .offset = offsetof(settings, choice),
     .choices = colors,
     .summary = "a color"},
    {.name = "paint",
     .letter = 'p',
     .argument = "COLORS",
     .type = HF_OPTION_SET,
     .offset = offsetof(settings, set),
     .choices = colors,
     .summary = "some colors"},
    {.name = "number",
     .letter = 'n',
     .argument = "N",
     .type = HF_OPTION_NUMBER,
     .offset = offsetof(settings, number),
     .min = 2,
     .max = 5000,
     .summary = "a number"},
    {.name = "real",
     .argument = "X",
     .type = HF_OPTION_REAL,
     .offset = offsetof(settings, real),
     .summary = "a real number"},
    {.name = "time",
     .argument = "TIME",
     .type = HF_OPTION_SECONDS,
     .offset = offsetof(settings, seconds),
     .summary = "a time"},
    {.name = "memory",
     .argument = "SIZE",
     .type = HF_OPTION_BYTES,
     .offset = offsetof(settings, bytes),
     .summary = "a size"},
    {0},
};

static const hf_example examples[] = {{"holdfast try -f a", "Tries"}, {0}};

static const hf_command command = {
    .name = "try",
    .operands = "A [B]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "try things",
    .description = "One.\n\nTwo.",
    .options = options,
    .examples = examples,
    .status = "0 always",
    .settings_size = sizeof(settings),
};

#define MOST_WORDS 12
typedef struct outcome {
    hf_status status;
    hf_parsed parsed;
    hf_error err;
    settings s;
} outcome;

/* Parses the words; NULL ends them. */
static outcome parse(const char *const *words)
{
    outcome o = {0};
    char *argv[MOST_WORDS];
    int argc = 0;

    while (words[argc]) {
        assert_true(argc < MOST_WORDS);
        argv[argc] = (char *)(uintptr_t)words[argc];
        argc++;
    }
    o.status = hf_options_parse(&command, argc, argv, &o.parsed, &o.err);
    o.s = *(const settings *)o.parsed.settings;
    return o;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void every_form_sets_the_same(void **state)
{
    outcome forms[] = {
        PARSE("--text", "abc", "--flag", "a"),
        PARSE("--text=abc", "-f", "a"),
        PARSE("-t", "abc", "a", "-f"),
        PARSE("-tabc", "a", "--flag"),
        PARSE("-ft", "abc", "a"),
        PARSE("-ftabc", "--", "a"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assert_int_equal(forms[i].status, HF_OK);
        assert_string_equal(forms[i].s.text, "abc");
        assert_true(forms[i].s.flag);
        assert_false(forms[i].s.other);
        assert_int_equal(forms[i].parsed.operands.n, 1);
        assert_string_equal(forms[i].parsed.operands.at[0], "a");
        hf_parsed_release(&forms[i].parsed);
    }
}

static void two_dashes_end_options(void **state)
{
    outcome o = PARSE("-f", "--", "-o", "--text");

    (void)state;
    assert_int_equal(o.status, HF_OK);
    assert_true(o.s.flag);
    assert_false(o.s.other);
    assert_int_equal(o.parsed.operands.n, 2);
    assert_string_equal(o.parsed.operands.at[0], "-o");
    hf_parsed_release(&o.parsed);

    o = PARSE("-", "-f"); /* one dash is an operand */
    assert_int_equal(o.status, HF_OK);
    assert_string_equal(o.parsed.operands.at[0], "-");
    hf_parsed_release(&o.parsed);
}

static void values_are_read(void **state)
{
    outcome o = PARSE("a", "--choice", "Dark_Blue", "--number=2k", "--real",
                      ".25", "--time=1.5m", "--memory", "2G");

    (void)state;
    assert_int_equal(o.status, HF_OK);
    assert_int_equal(o.s.choice, 3);
    assert_true(o.s.number.given);
    assert_int_equal(o.s.number.value, 2000);
    assert_true(o.s.real == 0.25);
    assert_true(o.s.seconds == 90.0);
    assert_true(o.s.bytes == (size_t)2 << 30);
    hf_parsed_release(&o.parsed);
    o = PARSE("a");
    assert_false(o.s.number.given);
    assert_int_equal(o.s.choice, 0);
    hf_parsed_release(&o.parsed);
}

static void sets_add_up(void **state)
{
    static const struct {
        const char *first, *second;
        unsigned set;
    } cases[] = {
        {"--flag", "--flag", 0},
        {"--paint=red", "--flag", 1},
        {"--paint=red", "-pred", 1},
        {"-pGREEN", "--paint=Dark_Blue", 6},
        {"--paint=dark-blue,red", "--flag", 5},
        {"--paint=dark-blue,red", "-pgreen,red", 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome o = PARSE(cases[i].first, "a", cases[i].second);

        assert_int_equal(o.status, HF_OK);
        assert_int_equal(o.s.set, cases[i].set);
        assert_int_equal(o.s.choice, 0);
        hf_parsed_release(&o.parsed);
    }
}

static void expect_refusal(outcome o, const char *text, const char *hint)
{
    assert_int_equal(o.status, HF_ERR_USAGE);
    assert_string_equal(o.err.text, text);
    assert_string_equal(o.parsed.hint, hint);
    hf_parsed_release(&o.parsed);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    expect_refusal(PARSE("a", "--flga"), "unknown option \"--flga\" of try",
                   "did you mean \"--flag\"?");
    expect_refusal(PARSE("a", "--txet=1"), "unknown option \"--txet=1\" of try",
                   "did you mean \"--text\"?");
    expect_refusal(PARSE("a", "-fz"), "unknown option \"-z\" of try",
                   "\"holdfast try -h\" lists its options");
    expect_refusal(PARSE("a", "--text"),
                   "option \"--text\" needs an argument TEXT",
                   "for example: --text abc");
    expect_refusal(PARSE("a", "--flag=1"),
                   "option \"--flag\" takes no argument", "");
    expect_refusal(PARSE("a", "--choice", "gren"),
                   "option \"--choice\" expects one of red, green, dark-blue, "
                   "found \"gren\"",
                   "did you mean \"green\"?");
    expect_refusal(PARSE("a", "--paint", "red,gren"),
                   "option \"--paint\" expects one of red, green, dark-blue, "
                   "found \"gren\"",
                   "did you mean \"green\"?");
    static const char *const no_set[] = {"", ",", "red,", ",red", "red,,green"};

    for (size_t i = 0; i < sizeof no_set / sizeof *no_set; i++)
        expect_refusal(PARSE("a", "-p", no_set[i]),
                       "option \"-p\" expects one of red, green, dark-blue, "
                       "found \"\"",
                       "");
    expect_refusal(PARSE("a", "-n", "1"),
                   "option \"-n\" expects a number from 2 to 5000, found "
                   "\"1\"",
                   "");
    expect_refusal(PARSE("a", "-n5001"),
                   "option \"-n\" expects a number from 2 to 5000, found "
                   "\"5001\"",
                   "");
    expect_refusal(PARSE("-f"), "try needs A [B]",
                   "usage: holdfast try [options] A [B]");
    expect_refusal(PARSE("a", "b", "c"), "unexpected argument \"c\" of try",
                   "usage: holdfast try [options] A [B]");
    expect_refusal(PARSE("a", "--\033[31m"),
                   "unknown option \"--\\x1b[31m\" of try",
                   "\"holdfast try -h\" lists its options");
}

static void help_wins_over_missing_operands(void **state)
{
    outcome o = PARSE("-h");

    (void)state;
    assert_int_equal(o.status, HF_OK);
    assert_int_equal(o.parsed.help, HF_HELP_SHORT);
    hf_parsed_release(&o.parsed);
    o = PARSE("-fh", "--help", "a", "b", "c");
    assert_int_equal(o.status, HF_OK);
    assert_int_equal(o.parsed.help, HF_HELP_LONG);
    hf_parsed_release(&o.parsed);
}

static void numbers_with_units(void **state)
{
    double s = 0;
    size_t b = 0;
    uint64_t n = 0;

    (void)state;
    assert_true(hf_parse_seconds("250ms", &s) && s == 0.25);
    assert_true(hf_parse_seconds("10", &s) && s == 10.0);
    assert_true(hf_parse_seconds("1us", &s) && s == 1e-6);
    assert_true(hf_parse_seconds("1ns", &s) && s == 1e-9);
    assert_true(hf_parse_seconds("2h", &s) && s == 7200.0);
    static const char *const no_time[] = {"",    "s",   "-1",  "0",   "1d",
                                          "nan", "inf", "0x1", "1 s", "1e30"};

    for (size_t i = 0; i < sizeof no_time / sizeof *no_time; i++)
        assert_false(hf_parse_seconds(no_time[i], &s));
    assert_true(hf_parse_bytes("512M", &b) && b == (size_t)512 << 20);
    assert_true(hf_parse_bytes("1.5K", &b) && b == 1536);
    assert_true(hf_parse_bytes("64MiB", &b) && b == (size_t)64 << 20);
    static const char *const no_size[] = {"",    "M",  "0",   "-1M",      "1.3",
                                          "1MM", "1Q", "inf", "99999999T"};

    for (size_t i = 0; i < sizeof no_size / sizeof *no_size; i++)
        assert_false(hf_parse_bytes(no_size[i], &b));
    assert_true(hf_parse_count("9007199254740993", &n) &&
                n == 9007199254740993u);
    assert_true(hf_parse_count("0", &n) && n == 0);
    assert_true(hf_parse_count("3M", &n) && n == 3000000);
    assert_false(hf_parse_count("18446744073709551616", &n));
    assert_false(hf_parse_count("1KiB", &n));
}

static void text_is_wrapped(void **state)
{
    char long_text[400];
    hf_out out;

    (void)state;
    for (size_t i = 0; i < sizeof long_text - 1; i++)
        long_text[i] = i % 5 == 4 ? ' ' : 'x';
    long_text[sizeof long_text - 1] = '\0';
    hf_out_init_memory(&out);
    hf_wrap(long_text, 6, &out);
    for (size_t i = 0, column = 0; i < out.n; i++) {
        column = out.at[i] == '\n' ? 0 : column + 1;
        assert_true(column <= HF_HELP_WIDTH);
        assert_true(column == 0 || column > 6 || out.at[i] == ' ');
    }
    out.n = 0;
    hf_wrap("one\ntwo\n\n  kept  as it is\nthree", 2, &out);
    hf_out_char(&out, '\0');
    assert_string_equal(out.at, "  one two\n\n    kept  as it is\n  three\n");
    hf_out_release(&out);
}

static bool has(const hf_out *out, const char *needle)
{
    size_t n = strlen(needle);

    for (size_t i = 0; i + n <= out->n; i++)
        if (memcmp(out->at + i, needle, n) == 0)
            return true;
    return false;
}

/* No text made from the table may forget an option. */
static void every_text_has_every_option(void **state)
{
    const hf_command *const commands[] = {&command, NULL};

    (void)state;
    for (unsigned kind = 0; kind < 6; kind++) {
        hf_out out;

        hf_out_init_memory(&out);
        if (kind == 0)
            hf_help_short(&command, &out);
        else if (kind == 1)
            hf_help_long(&command, &out);
        else if (kind == 2)
            hf_manual_write(commands, &out);
        else
            hf_completion_write(commands, kind - 3, &out);
        for (const hf_option *o = options; o->name; o++)
            assert_true(has(&out, o->name));
        assert_true(kind == 0 || kind == 2 || has(&out, "dark-blue"));
        hf_out_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_sets_the_same),
        cmocka_unit_test(two_dashes_end_options),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(sets_add_up),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(help_wins_over_missing_operands),
        cmocka_unit_test(numbers_with_units),
        cmocka_unit_test(text_is_wrapped),
        cmocka_unit_test(every_text_has_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

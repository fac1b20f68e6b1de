/* edn.c: reading EDN by pulling.
 *
 * Grammar: the published description of EDN, and of Clojure's printer what
 * Jepsen files contain: ratios, ##Inf, 7N and 7M, records (#a.b.C{...}).  Not
 * supported, and refused: metadata (^), quoted forms, regular expressions.
 *
 * Recursion happens for discarded forms only and is bounded, as is nesting.
 * Every function is linear in the bytes it passes over.
 */
#include "formats/edn.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t hf_line_of(const char *start, const char *at)
{
    uint64_t line = 1;

    for (const char *p = start; p < at; p++) {
        p = memchr(p, '\n', (size_t)(at - p));
        if (!p)
            break;
        line++;
    }
    return line;
}

void hf_edn_init(hf_edn *e, const char *text, size_t length)
{
    e->start = e->at = text;
    e->end = text + length;
    e->failed = false;
    e->seen = e->seen_end = NULL;
    e->seen_kind = HF_EDN_END;
    e->depth = 0;
    e->next_scratch = 0;
    for (int i = 0; i < 4; i++)
        hf_out_init_memory(&e->scratch[i]);
}

void hf_edn_release(hf_edn *e)
{
    for (int i = 0; i < 4; i++)
        hf_out_release(&e->scratch[i]);
}

bool hf_edn_fail(hf_edn *e, const char *format, ...)
{
    char text[sizeof(e->err.text)];
    va_list args;

    if (e->failed)
        return false;
    e->failed = true;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)hf_fail_line(&e->err, hf_line_of(e->start, e->at), "%s", text);
    e->at = e->end; /* nothing more will be read */
    e->seen = NULL;
    return false;
}

bool hf_edn_expected(hf_edn *e, const char *what)
{
    char quoted[48];
    size_t left = (size_t)(e->end - e->at), n = 0;

    if (left == 0)
        return hf_edn_fail(e, "expected %s, found the end of the input", what);
    while (n < left && n < 24 && e->at[n] != '\n')
        n++;
    if (n == 0)
        return hf_edn_fail(e, "expected %s, found the end of the line", what);
    return hf_edn_fail(e, "expected %s, found \"%s\"", what,
                       hf_quote(quoted, sizeof(quoted), e->at, n));
}

/* Classes of bytes; the others are parts of tokens. */
#define SPACE 1u
#define DELIMITER 2u
#define DIGIT 4u
#define LETTER 8u

#define NUMERAL(c) [(c)] = DIGIT
#define FIVE_LETTERS(c)                                                        \
    [(c)] = LETTER, [(c) + 1] = LETTER, [(c) + 2] = LETTER,                    \
    [(c) + 3] = LETTER, [(c) + 4] = LETTER

static const uint8_t classes[256] = {
    [' '] = SPACE,     ['\n'] = SPACE,    [','] = SPACE,     ['\t'] = SPACE,
    ['\r'] = SPACE,    ['\f'] = SPACE,    ['['] = DELIMITER, [']'] = DELIMITER,
    ['{'] = DELIMITER, ['}'] = DELIMITER, ['('] = DELIMITER, [')'] = DELIMITER,
    ['"'] = DELIMITER, [';'] = DELIMITER, NUMERAL('0'),      NUMERAL('1'),
    NUMERAL('2'),      NUMERAL('3'),      NUMERAL('4'),      NUMERAL('5'),
    NUMERAL('6'),      NUMERAL('7'),      NUMERAL('8'),      NUMERAL('9'),
    FIVE_LETTERS('a'), FIVE_LETTERS('f'), FIVE_LETTERS('k'), FIVE_LETTERS('p'),
    FIVE_LETTERS('u'), ['z'] = LETTER,    FIVE_LETTERS('A'), FIVE_LETTERS('F'),
    FIVE_LETTERS('K'), FIVE_LETTERS('P'), FIVE_LETTERS('U'), ['Z'] = LETTER,
};

static inline bool is_space(char c)
{
    return classes[(unsigned char)c] & SPACE;
}

/* Ends a number, a keyword or a symbol. */
static inline bool is_delimiter(char c)
{
    return classes[(unsigned char)c] & (SPACE | DELIMITER);
}

static inline bool is_letter(char c)
{
    return classes[(unsigned char)c] & LETTER;
}

static inline bool is_digit(char c)
{
    return classes[(unsigned char)c] & DIGIT;
}

static inline hf_str token(const hf_edn *e, const char *from)
{
    const char *p = from;

    while (p < e->end && !is_delimiter(*p))
        p++;
    return (hf_str){from, (size_t)(p - from)};
}

static bool skip_value(hf_edn *e);

static bool discard(hf_edn *e)
{
    bool ok;

    if (e->depth >= HF_EDN_DEPTH)
        return hf_edn_fail(e, "values are nested more than %d deep",
                           HF_EDN_DEPTH);
    e->at += 2;
    e->closers[e->depth++] = 0; /* nothing closes a discarded form */
    ok = skip_value(e);
    e->depth--;
    return ok;
}

/* White space, comments, discarded forms and tags. */
static void skip_ignored(hf_edn *e)
{
    while (e->at < e->end) {
        char c = *e->at, d = e->at + 1 < e->end ? e->at[1] : 0;

        if (is_space(c)) {
            e->at++;
        } else if (c == ';') {
            const char *p = memchr(e->at, '\n', (size_t)(e->end - e->at));

            e->at = p ? p + 1 : e->end;
        } else if (c == '#' && d == '_') {
            if (!discard(e))
                return;
        } else if (c == '#' && is_letter(d)) {
            e->at += 1 + token(e, e->at + 1).len;
        } else {
            return;
        }
    }
}

static hf_edn_kind number_kind(hf_str t)
{
    size_t i = t.ptr[0] == '-' || t.ptr[0] == '+';
    int64_t value;

    if (t.ptr[0] == '+') {
        t.ptr++;
        t.len--;
        i = 0;
    }
    for (; i < t.len; i++)
        if (!is_digit(t.ptr[i]))
            break;
    if (i == t.len && t.len <= 18)
        return HF_EDN_INT;
    if (i == t.len || (i == t.len - 1 && t.ptr[i] == 'N')) {
        t.len = i;
        return hf_str_to_int(t, &value) ? HF_EDN_INT : HF_EDN_REAL;
    }
    return HF_EDN_REAL;
}

static hf_edn_kind word_kind(hf_str t)
{
    char c = t.ptr[0];

    if (is_digit(c) ||
        ((c == '-' || c == '+') && t.len > 1 && is_digit(t.ptr[1])))
        return number_kind(t);
    if (t.len == 3 && memcmp(t.ptr, "nil", 3) == 0)
        return HF_EDN_NIL;
    if (hf_str_eq(t, HF_STR("true")) || hf_str_eq(t, HF_STR("false")))
        return HF_EDN_BOOL;
    return HF_EDN_SYMBOL;
}

static hf_edn_kind refuse(hf_edn *e)
{
    (void)hf_edn_expected(e, "a value");
    return HF_EDN_END;
}

/* What a byte that begins no token begins; the others are left to the
 * caller. */
static hf_edn_kind bracket_kind(char c)
{
    switch (c) {
    case ']':
    case ')':
    case '}':
        return HF_EDN_CLOSE;
    case '[':
        return HF_EDN_VECTOR;
    case '(':
        return HF_EDN_LIST;
    case '{':
        return HF_EDN_MAP;
    case '"':
        return HF_EDN_STRING;
    default:
        return HF_EDN_END;
    }
}

static hf_edn_kind token_kind(hf_edn *e)
{
    char c = *e->at, d = e->end - e->at > 1 ? e->at[1] : 0;
    hf_str t;

    if (c == '\\')
        return HF_EDN_CHAR;
    if (c == '#') {
        if (d == '{')
            return HF_EDN_SET;
        if (e->end - e->at > 2 && d == '#' && is_letter(e->at[2]))
            return HF_EDN_REAL;
        return refuse(e);
    }
    if (c == '^' || c == '@' || c == '`' || c == '~' || c == '\'' ||
        (unsigned char)c < 0x20 || c == 0x7f)
        return refuse(e);
    t = token(e, e->at);
    e->seen_end = t.ptr + t.len;
    if (c == ':')
        return t.len > 1 ? HF_EDN_KEYWORD : refuse(e);
    return word_kind(t);
}

hf_edn_kind hf_edn_peek(hf_edn *e)
{
    hf_edn_kind kind;

    if (e->at == e->seen)
        return e->seen_kind;
    skip_ignored(e);
    if (e->at >= e->end)
        return HF_EDN_END;
    if (e->at == e->seen)
        return e->seen_kind;
    kind = bracket_kind(*e->at);
    if (kind == HF_EDN_END)
        kind = token_kind(e);
    if (!e->failed) {
        e->seen = e->at;
        e->seen_kind = kind;
    }
    return kind;
}

static bool is_collection(hf_edn_kind kind)
{
    return kind >= HF_EDN_LIST;
}

static const char *collection_name(hf_edn_kind kind)
{
    return kind == HF_EDN_MAP   ? "a map"
           : kind == HF_EDN_SET ? "a set"
                                : "a vector";
}

/* The bracket of a collection was seen. */
static bool enter(hf_edn *e, hf_edn_kind kind)
{
    if (e->depth >= HF_EDN_DEPTH)
        return hf_edn_fail(e, "values are nested more than %d deep",
                           HF_EDN_DEPTH);
    e->at += kind == HF_EDN_SET ? 2 : 1;
    e->closers[e->depth++] = kind == HF_EDN_LIST     ? ')'
                             : kind == HF_EDN_VECTOR ? ']'
                                                     : '}';
    return true;
}

bool hf_edn_open(hf_edn *e, hf_edn_kind kind)
{
    hf_edn_kind found = hf_edn_peek(e);

    if (e->failed)
        return false;
    if (found != kind && !(kind == HF_EDN_VECTOR && found == HF_EDN_LIST))
        return hf_edn_expected(e, collection_name(kind));
    return enter(e, found);
}

static bool leave(hf_edn *e)
{
    char what[8];
    char closer = e->depth > 0 ? e->closers[e->depth - 1] : 0;

    if (closer == *e->at) {
        e->at++;
        e->depth--;
        return true;
    }
    if (closer == 0)
        return hf_edn_expected(e, "a value");
    (void)snprintf(what, sizeof(what), "\"%c\"", closer);
    return hf_edn_expected(e, what);
}

bool hf_edn_next(hf_edn *e)
{
    hf_edn_kind kind = hf_edn_peek(e);
    char what[24];

    if (e->failed)
        return false;
    if (kind == HF_EDN_CLOSE) {
        (void)leave(e);
        return false;
    }
    if (kind == HF_EDN_END) {
        char closer = e->depth > 0 ? e->closers[e->depth - 1] : 0;

        (void)snprintf(what, sizeof(what), "\"%c\"", closer ? closer : '?');
        return hf_edn_expected(e, what);
    }
    return true;
}

/* ---- scalars ------------------------------------------------------------- */

/* The token that was seen: a number, keyword or symbol. */
static hf_str take_token(hf_edn *e)
{
    hf_str t = {e->at, (size_t)(e->seen_end - e->at)};

    e->at = e->seen_end;
    return t;
}

bool hf_edn_int(hf_edn *e, int64_t *ret_value)
{
    hf_str t;

    if (hf_edn_peek(e) != HF_EDN_INT)
        return e->failed ? false : hf_edn_expected(e, "an integer of 64 bits");
    t = take_token(e);
    if (t.len <= 18 && is_digit(t.ptr[0]) && is_digit(t.ptr[t.len - 1])) {
        int64_t n = 0;

        for (size_t i = 0; i < t.len; i++)
            n = n * 10 + (t.ptr[i] - '0');
        *ret_value = n;
        return true;
    }
    if (t.ptr[0] == '+') {
        t.ptr++;
        t.len--;
    }
    if (t.ptr[t.len - 1] == 'N')
        t.len--;
    return hf_str_to_int(t, ret_value);
}

static void put_utf8(hf_out *out, uint32_t c)
{
    if (c < 0x80) {
        hf_out_char(out, (char)c);
    } else if (c < 0x800) {
        hf_out_char(out, (char)(0xc0 | c >> 6));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        hf_out_char(out, (char)(0xe0 | c >> 12));
        hf_out_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        hf_out_char(out, (char)(0xf0 | c >> 18));
        hf_out_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        hf_out_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* `count` digits of base 8 or 16 at e->at. */
static bool code_point(hf_edn *e, unsigned base, unsigned count,
                       uint32_t *ret_code)
{
    uint32_t code = 0;
    unsigned n = 0;

    for (; n < count && e->at < e->end; n++, e->at++) {
        char c = *e->at;
        unsigned digit = is_digit(c)            ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 99;

        if (digit >= base)
            break;
        code = code * base + digit;
    }
    if (n == 0 || (base == 16 && n < count))
        return hf_edn_expected(e, "digits of a character code");
    *ret_code = code;
    return true;
}

/* After \u and its four digits: joins the halves of a surrogate pair. */
static bool unicode(hf_edn *e, uint32_t *ret_code)
{
    uint32_t high = 0, low = 0;

    if (!code_point(e, 16, 4, &high))
        return false;
    *ret_code = high;
    if (high < 0xd800 || high > 0xdfff)
        return true;
    if (high > 0xdbff || e->end - e->at < 2 || e->at[0] != '\\' ||
        e->at[1] != 'u')
        return hf_edn_fail(e, "half of a surrogate pair stands alone");
    e->at += 2;
    if (!code_point(e, 16, 4, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return hf_edn_fail(e, "half of a surrogate pair stands alone");
    *ret_code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* e->at is after a backslash in a string. */
static bool escape(hf_edn *e, hf_out *out)
{
    static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
    char c = e->at < e->end ? *e->at : 0;
    const char *which = c ? strchr(from, c) : NULL;
    uint32_t code = 0;

    if (which) {
        e->at++;
        hf_out_char(out, to[which - from]);
        return true;
    }
    if (c == 'u') {
        e->at++;
        if (!unicode(e, &code))
            return false;
    } else if (c >= '0' && c <= '7') {
        if (!code_point(e, 8, 3, &code))
            return false;
    } else {
        return hf_edn_expected(e, "an escape such as \\n or \\u0041");
    }
    put_utf8(out, code);
    return true;
}

static bool escaped_string(hf_edn *e, const char *begin, hf_str *ret_text)
{
    hf_out *out = &e->scratch[e->next_scratch++ % 4];

    out->n = 0;
    hf_out_bytes(out, begin, (size_t)(e->at - begin));
    while (e->at < e->end && *e->at != '"') {
        if (*e->at != '\\') {
            hf_out_char(out, *e->at++);
            continue;
        }
        e->at++;
        if (!escape(e, out))
            return false;
    }
    if (e->at >= e->end)
        return hf_edn_expected(e, "the end of a string");
    e->at++;
    *ret_text = hf_out_view(out);
    return true;
}

/* e->at is on the opening quote. */
static bool read_string(hf_edn *e, hf_str *ret_text)
{
    const char *begin = ++e->at;

    while (e->at < e->end && *e->at != '"' && *e->at != '\\')
        e->at++;
    if (e->at < e->end && *e->at == '"') {
        *ret_text = (hf_str){begin, (size_t)(e->at - begin)};
        e->at++;
        return true;
    }
    return escaped_string(e, begin, ret_text);
}

/* \c, \newline, \u0041, \o101: e->at is on the backslash. */
static bool read_char(hf_edn *e, hf_str *ret_text)
{
    static const struct {
        const char *name;
        const char *text;
    } named[] = {{"newline", "\n"}, {"space", " "},      {"tab", "\t"},
                 {"return", "\r"},  {"backspace", "\b"}, {"formfeed", "\f"}};
    hf_str t;

    if (e->end - e->at < 2 || (unsigned char)e->at[1] <= ' ')
        return hf_edn_expected(e, "a character");
    t = token(e, e->at + 2); /* the first may be a delimiter */
    t = (hf_str){e->at + 1, t.len + 1};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (hf_str_eq(t, hf_str_of(named[i].name))) {
            e->at += 1 + t.len;
            *ret_text = hf_str_of(named[i].text);
            return true;
        }
    if (t.len > 1 && (t.ptr[0] == 'u' || t.ptr[0] == 'o')) {
        hf_out *out = &e->scratch[e->next_scratch++ % 4];
        uint32_t code = 0;

        e->at += 2;
        if (!(t.ptr[0] == 'u' ? unicode(e, &code) : code_point(e, 8, 3, &code)))
            return false;
        out->n = 0;
        put_utf8(out, code);
        *ret_text = hf_out_view(out);
        return true;
    }
    if (t.len > 1 && (unsigned char)t.ptr[0] < 0x80)
        return hf_edn_expected(e, "a character");
    e->at += 1 + t.len;
    *ret_text = t;
    return true;
}

bool hf_edn_name(hf_edn *e, hf_str *ret_name)
{
    hf_edn_kind kind = hf_edn_peek(e);

    if (kind == HF_EDN_STRING)
        return read_string(e, ret_name);
    if (kind != HF_EDN_KEYWORD && kind != HF_EDN_SYMBOL)
        return e->failed ? false : hf_edn_expected(e, "a keyword");
    *ret_name = take_token(e);
    if (kind == HF_EDN_KEYWORD) {
        ret_name->ptr++;
        ret_name->len--;
    }
    return true;
}

bool hf_edn_nil(hf_edn *e)
{
    if (hf_edn_peek(e) != HF_EDN_NIL)
        return false;
    e->at += 3;
    return true;
}

/* [-+]digits with an optional fraction, exponent, M, N or /digits */
static bool is_number(hf_str s)
{
    size_t i = s.ptr[0] == '-' || s.ptr[0] == '+', digits = 0;

    for (; i < s.len && is_digit(s.ptr[i]); i++)
        digits++;
    if (i + 1 < s.len && s.ptr[i] == '/') {
        for (i++; i < s.len && is_digit(s.ptr[i]); i++)
            ;
        return digits > 0 && i == s.len;
    }
    if (i < s.len && s.ptr[i] == '.')
        for (i++; i < s.len && is_digit(s.ptr[i]); i++)
            ;
    if (i < s.len && (s.ptr[i] | 32) == 'e') {
        size_t before;

        i++;
        i += i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-');
        for (before = i; i < s.len && is_digit(s.ptr[i]); i++)
            ;
        if (before == i)
            return false;
    }
    if (i < s.len && (s.ptr[i] == 'M' || s.ptr[i] == 'N'))
        i++;
    return digits > 0 && i == s.len;
}

static bool read_real(hf_edn *e, hf_scalar *ret_value)
{
    hf_str t;

    if (*e->at == '#') {
        t = token(e, e->at + 2);
        e->at += 2;
        if (!hf_str_eq(t, HF_STR("Inf")) && !hf_str_eq(t, HF_STR("-Inf")) &&
            !hf_str_eq(t, HF_STR("NaN")))
            return hf_edn_expected(e, "Inf or NaN");
    } else {
        t = token(e, e->at);
        if (!is_number(t))
            return hf_edn_expected(e, "a number");
    }
    e->at += t.len;
    *ret_value = (hf_scalar){.type = HF_REAL, .text = t.ptr, .length = t.len};
    return true;
}

static bool as_text(bool ok, hf_str text, hf_scalar *ret_value)
{
    if (ok)
        *ret_value =
            (hf_scalar){.type = HF_TEXT, .text = text.ptr, .length = text.len};
    return ok;
}

bool hf_edn_scalar(hf_edn *e, hf_scalar *ret_value)
{
    hf_edn_kind kind = hf_edn_peek(e);
    hf_str text = {NULL, 0};

    *ret_value = (hf_scalar){.type = HF_NIL};
    switch (kind) {
    case HF_EDN_NIL:
        return hf_edn_nil(e);
    case HF_EDN_INT:
        ret_value->type = HF_INT;
        return hf_edn_int(e, &ret_value->number);
    case HF_EDN_BOOL:
        *ret_value =
            (hf_scalar){.type = HF_BOOL, .number = *e->at == 't' ? 1 : 0};
        e->at += *e->at == 't' ? 4 : 5;
        return true;
    case HF_EDN_REAL:
        return read_real(e, ret_value);
    case HF_EDN_STRING:
    case HF_EDN_KEYWORD:
    case HF_EDN_SYMBOL:
        return as_text(hf_edn_name(e, &text), text, ret_value);
    case HF_EDN_CHAR:
        return as_text(read_char(e, &text), text, ret_value);
    default:
        return e->failed ? false : hf_edn_expected(e, "a value");
    }
}

/* ---- skipping ------------------------------------------------------------ */

/* Parity of the elements of the open collections below `base`: a map must
 * have a value for each key. */
typedef struct skip_frame {
    bool is_map;
    bool odd;
} skip_frame;

static bool skip_value(hf_edn *e)
{
    skip_frame frames[HF_EDN_DEPTH + 1];
    unsigned base = e->depth;
    hf_scalar scalar;

    for (;;) {
        hf_edn_kind kind = hf_edn_peek(e);

        if (e->failed)
            return false;
        if (kind == HF_EDN_END || (kind == HF_EDN_CLOSE && e->depth == base))
            return hf_edn_expected(e, "a value");
        if (is_collection(kind)) {
            if (!enter(e, kind))
                return false;
            frames[e->depth] = (skip_frame){kind == HF_EDN_MAP, false};
            continue;
        }
        if (kind == HF_EDN_CLOSE) {
            if (frames[e->depth].is_map && frames[e->depth].odd)
                return hf_edn_expected(e, "the value of a key");
            if (!leave(e))
                return false;
        } else if (kind == HF_EDN_KEYWORD || kind == HF_EDN_SYMBOL ||
                   kind == HF_EDN_INT || kind == HF_EDN_NIL) {
            e->at = e->seen_end;
        } else if (!hf_edn_scalar(e, &scalar)) {
            return false;
        }
        if (e->depth == base)
            return true;
        frames[e->depth].odd = !frames[e->depth].odd;
    }
}

bool hf_edn_skip(hf_edn *e, hf_str *ret_text)
{
    const char *begin;

    (void)hf_edn_peek(e);
    begin = e->at;
    if (!skip_value(e))
        return false;
    if (ret_text)
        *ret_text = (hf_str){begin, (size_t)(e->at - begin)};
    return true;
}

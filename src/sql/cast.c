/* cast.c: one type into another, by the rules of each dialect. */
#include "sql/eval.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"

static bool bad_cast(hf_sql_eval *ev, const hf_sql_value *v, unsigned type,
                     unsigned note)
{
    return hf_sql_refuse(ev, "no cast from %s to %s",
                         hf_sql_type_name(v->type, v->note),
                         hf_sql_type_name(type, note));
}

static bool bad_text(hf_sql_eval *ev, const hf_sql_value *v, unsigned type,
                     unsigned note)
{
    char quoted[80];

    return hf_sql_refuse(ev, "\"%s\" is no %s",
                         hf_quote(quoted, sizeof(quoted), v->text, v->length),
                         hf_sql_type_name(type, note));
}

/* ---- PostgreSQL, and what all agree about ------------------------------- */

static bool to_int(hf_sql_eval *ev, hf_sql_value v, unsigned note,
                   hf_sql_value *ret)
{
    hf_sql_value whole = v;
    bool is_whole;

    switch (v.type) {
    case HF_SQL_BOOL:
        if (note == HF_SQL_NOTE_INT8)
            return bad_cast(ev, &v, HF_SQL_INT, note);
        break;
    case HF_SQL_INT:
        break;
    case HF_SQL_DECIMAL:
        if (!hf_sql_decimal_round(v, 0, HF_SQL_ROUND_HALF_AWAY, &whole))
            return hf_sql_unsaid(ev, "a decimal has too many digits");
        if (ev->dialect == HF_SQL_ANY &&
            hf_sql_decimal_compare(&whole, &v) != 0)
            return hf_sql_unsaid(ev, "databases differ about rounding here");
        if (whole.decimal > INT64_MAX || whole.decimal < INT64_MIN)
            return hf_sql_refuse(ev, "integer out of range");
        whole = hf_sql_of_int((int64_t)whole.decimal);
        break;
    case HF_SQL_REAL:
        if (ev->dialect == HF_SQL_ANY && v.real != rint(v.real))
            return hf_sql_unsaid(ev, "databases differ about rounding here");
        if (!(rint(v.real) >= -9223372036854775808.0 &&
              rint(v.real) < 9223372036854775808.0))
            return hf_sql_refuse(ev, "integer out of range");
        whole = hf_sql_of_int((int64_t)rint(v.real));
        break;
    case HF_SQL_TEXT:
        (void)hf_sql_number_length(hf_sql_text_of(&v), &is_whole);
        if (!is_whole || !hf_sql_number(hf_sql_text_of(&v), &whole) ||
            whole.type != HF_SQL_INT)
            return bad_text(ev, &v, HF_SQL_INT, note);
        break;
    default:
        return bad_cast(ev, &v, HF_SQL_INT, note);
    }
    if (note == HF_SQL_NOTE_INT4 && ev->dialect == HF_SQL_POSTGRES &&
        whole.integer != (int32_t)whole.integer)
        return hf_sql_raise(ev, "integer out of range");
    *ret = hf_sql_of_int(whole.integer);
    ret->note = (uint8_t)note;
    return true;
}

/* numeric(precision, scale) */
static bool fit_decimal(hf_sql_eval *ev, hf_sql_value v, int32_t modifier,
                        hf_sql_value *ret)
{
    hf_sql_value limit = hf_sql_of_decimal(1, 0), ten = hf_sql_of_int(10);
    int precision, scale;

    *ret = v;
    if (modifier < 0)
        return true;
    precision = modifier >> 16;
    scale = modifier & 0xffff;
    if (precision - scale > (int)HF_SQL_MAX_SCALE - 1 || scale > precision)
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    if (!hf_sql_decimal_round(v, scale, HF_SQL_ROUND_HALF_AWAY, ret))
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    for (int i = scale; i < precision; i++)
        (void)hf_sql_decimal_mul(limit, ten, &limit);
    v = *ret;
    if (v.decimal < 0)
        v.decimal = -v.decimal;
    if (hf_sql_decimal_compare(&v, &limit) >= 0)
        return hf_sql_raise(ev, "numeric field overflow");
    return true;
}

static bool to_decimal(hf_sql_eval *ev, hf_sql_value v, int32_t modifier,
                       hf_sql_value *ret)
{
    hf_sql_value d = v;
    char text[40];
    int n;

    switch (v.type) {
    case HF_SQL_INT:
        d = hf_sql_to_decimal(v);
        break;
    case HF_SQL_DECIMAL:
        break;
    case HF_SQL_REAL:
        if (ev->dialect == HF_SQL_ANY || !isfinite(v.real))
            return hf_sql_unsaid(ev, "databases differ about rounding here");
        n = snprintf(text, sizeof(text), "%.15g", v.real);
        if (!hf_sql_number((hf_str){text, (size_t)n}, &d))
            return hf_sql_unsaid(ev, "a decimal has too many digits");
        break;
    case HF_SQL_TEXT:
        if (!hf_sql_number(hf_sql_text_of(&v), &d))
            return bad_text(ev, &v, HF_SQL_DECIMAL, 0);
        break;
    default:
        return bad_cast(ev, &v, HF_SQL_DECIMAL, 0);
    }
    d = hf_sql_to_decimal(d);
    if (d.type == HF_SQL_REAL)
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    return fit_decimal(ev, d, modifier, ret);
}

static bool to_real(hf_sql_eval *ev, hf_sql_value v, hf_sql_value *ret)
{
    hf_sql_value n = v;

    if (v.type == HF_SQL_TEXT && !hf_sql_number(hf_sql_text_of(&v), &n))
        return bad_text(ev, &v, HF_SQL_REAL, 0);
    if (!hf_sql_is_number(&n))
        return bad_cast(ev, &v, HF_SQL_REAL, 0);
    *ret = hf_sql_of_real(hf_sql_to_real(&n));
    if (isinf(ret->real))
        return hf_sql_refuse(ev, "floating point overflow");
    return true;
}

/* The first n characters of text. */
static hf_str first_chars(hf_str s, size_t n)
{
    size_t i = 0;

    for (; i < s.len; i++)
        if (((unsigned char)s.ptr[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return (hf_str){s.ptr, i};
}

static bool only_blanks(hf_str s, size_t from)
{
    for (size_t i = from; i < s.len; i++)
        if (s.ptr[i] != ' ')
            return false;
    return true;
}

static bool to_text(hf_sql_eval *ev, hf_sql_value v, int32_t modifier,
                    bool assign, hf_sql_value *ret)
{
    hf_str s, cut;

    if (ev->dialect == HF_SQL_ANY && v.type != HF_SQL_INT &&
        v.type != HF_SQL_TEXT)
        return hf_sql_unsaid(ev, "databases print %s differently",
                             hf_sql_type_name(v.type, v.note));
    s = v.type == HF_SQL_TEXT
            ? hf_sql_text_of(&v)
            : hf_sql_print(&v, ev->dialect, hf_sql_scratch(ev));
    if (modifier >= 0) {
        cut = first_chars(s, (size_t)modifier);
        if (assign && cut.len < s.len && !only_blanks(s, cut.len))
            return hf_sql_raise(ev, "value too long for character varying(%d)",
                                (int)modifier);
        s = cut;
    }
    *ret = hf_sql_of_text(s);
    return true;
}

/* Any beginning of these words that is not the other's. */
static bool to_bool(hf_sql_eval *ev, hf_sql_value v, hf_sql_value *ret)
{
    static const struct {
        const char *word;
        unsigned least;
        bool truth;
    } words[] = {{"true", 1, true}, {"false", 1, false}, {"yes", 1, true},
                 {"no", 1, false},  {"on", 2, true},     {"off", 2, false},
                 {"1", 1, true},    {"0", 1, false}};
    char lower[8];
    hf_str s;

    if (v.type == HF_SQL_INT && ev->dialect == HF_SQL_POSTGRES &&
        v.note != HF_SQL_NOTE_INT8) {
        *ret = hf_sql_of_bool(v.integer != 0);
        return true;
    }
    if (v.type != HF_SQL_TEXT)
        return bad_cast(ev, &v, HF_SQL_BOOL, 0);
    s = hf_sql_text_of(&v);
    while (s.len > 0 && isspace((unsigned char)s.ptr[s.len - 1]))
        s.len--;
    while (s.len > 0 && isspace((unsigned char)s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    for (size_t i = 0; s.len < sizeof(lower) && i < s.len; i++)
        lower[i] = (char)tolower((unsigned char)s.ptr[i]);
    for (size_t i = 0; s.len < sizeof(lower) && i < 8; i++)
        if (s.len >= words[i].least && s.len <= strlen(words[i].word) &&
            memcmp(lower, words[i].word, s.len) == 0) {
            *ret = hf_sql_of_bool(words[i].truth);
            return true;
        }
    return bad_text(ev, &v, HF_SQL_BOOL, 0);
}

static bool to_time(hf_sql_eval *ev, hf_sql_value v, unsigned type,
                    hf_sql_value *ret)
{
    const int64_t day = 86400000000;
    int64_t n;

    if (v.type == HF_SQL_TEXT) {
        if (!hf_sql_timestamp(hf_sql_text_of(&v), &n))
            /* other spellings of dates are many; they may know this one */
            return hf_sql_unsaid(ev, "a date is not written as 2024-12-31");
        v = hf_sql_of_time(HF_SQL_TIMESTAMP, n);
    } else if (v.type == HF_SQL_DATE) {
        v = hf_sql_of_time(HF_SQL_TIMESTAMP, v.integer * day);
    } else if (v.type != HF_SQL_TIMESTAMP) {
        return bad_cast(ev, &v, type, 0);
    }
    n = v.integer;
    if (type == HF_SQL_DATE)
        n = n / day - (n % day < 0);
    *ret = hf_sql_of_time((hf_sql_type)type, n);
    return true;
}

/* ---- SQLite ------------------------------------------------------------- */

hf_sql_value hf_sqlite_storage(hf_sql_value v)
{
    if (v.type == HF_SQL_BOOL)
        return hf_sql_of_int(v.integer);
    if (v.type == HF_SQL_DECIMAL)
        return hf_sql_of_real(hf_sql_to_real(&v));
    return v;
}

/* A number that the text begins with, else 0. */
hf_sql_value hf_sqlite_number(const hf_sql_value *v)
{
    hf_sql_value n = hf_sqlite_storage(*v);
    bool whole;
    hf_str s;

    if (n.type != HF_SQL_TEXT)
        return n;
    s = hf_sql_text_of(&n);
    s.len = hf_sql_number_length(s, &whole);
    if (s.len == 0 || !hf_sql_number(s, &n))
        return hf_sql_of_int(0);
    return hf_sqlite_storage(n);
}

/* A real that is whole becomes an integer where that loses nothing. */
static hf_sql_value whole_if_exact(hf_sql_value v)
{
    if (v.type == HF_SQL_REAL && v.real == floor(v.real) &&
        v.real >= -2251799813685248.0 && v.real <= 2251799813685248.0)
        return hf_sql_of_int((int64_t)v.real);
    return v;
}

hf_sql_value hf_sqlite_affinity(hf_sql_value v, hf_sql_affinity affinity,
                                hf_arena *arena)
{
    hf_sql_value n;

    v = hf_sqlite_storage(v);
    if (v.type == HF_SQL_NULL)
        return v;
    if (affinity == HF_AFFINITY_TEXT && v.type != HF_SQL_TEXT)
        return hf_sql_of_text(hf_sql_print(&v, HF_SQL_SQLITE, arena));
    if (affinity < HF_AFFINITY_NUMERIC || affinity == HF_AFFINITY_UNSAID)
        return v;
    if (v.type == HF_SQL_TEXT) {
        if (!hf_sql_number(hf_sql_text_of(&v), &n))
            return v;
        v = hf_sqlite_storage(n);
    }
    v = whole_if_exact(v); /* a REAL column too stores whole numbers so */
    if (affinity == HF_AFFINITY_REAL)
        return hf_sql_of_real(hf_sql_to_real(&v));
    return v;
}

static bool sqlite_cast(hf_sql_eval *ev, hf_sql_value v, unsigned type,
                        hf_sql_value *ret)
{
    hf_sql_value n;

    switch (type) {
    case HF_SQL_TEXT:
        *ret = hf_sqlite_affinity(v, HF_AFFINITY_TEXT, hf_sql_scratch(ev));
        return true;
    case HF_SQL_INT:
        n = hf_sqlite_number(&v);
        if (v.type == HF_SQL_TEXT && n.type == HF_SQL_REAL) {
            bool whole;
            hf_str s = hf_sql_text_of(&v);

            /* only the digits before a point count */
            (void)hf_sql_number_length(s, &whole);
            if (!whole &&
                (memchr(s.ptr, 'e', s.len) || memchr(s.ptr, 'E', s.len)))
                return hf_sql_unsaid(ev, "a text with an exponent as integer");
        }
        if (n.type == HF_SQL_REAL)
            n = hf_sql_of_int(n.real >= 9223372036854775808.0 ? INT64_MAX
                              : n.real < -9223372036854775808.0
                                  ? INT64_MIN
                                  : (int64_t)n.real);
        *ret = n;
        return true;
    case HF_SQL_REAL:
        n = hf_sqlite_number(&v);
        *ret = hf_sql_of_real(hf_sql_to_real(&n));
        return true;
    case HF_SQL_DECIMAL:
        n = hf_sqlite_number(&v);
        *ret = v.type == HF_SQL_TEXT ? whole_if_exact(n) : n;
        return true;
    default:
        return hf_sql_unsaid(ev, "SQLite has no type %s",
                             hf_sql_type_name(type, 0));
    }
}

/* ---- the entries -------------------------------------------------------- */

bool hf_sql_cast(hf_sql_eval *ev, hf_sql_value v, unsigned type, unsigned note,
                 int32_t modifier, bool assign, hf_sql_value *ret)
{
    if (v.type == HF_SQL_NULL) {
        *ret = v;
        return true;
    }
    if (ev->dialect == HF_SQL_SQLITE)
        return sqlite_cast(ev, v, type, ret);
    switch (type) {
    case HF_SQL_BOOL:
        if (v.type == HF_SQL_BOOL) {
            *ret = v;
            return true;
        }
        return to_bool(ev, v, ret);
    case HF_SQL_INT:
        return to_int(ev, v, note, ret);
    case HF_SQL_DECIMAL:
        return to_decimal(ev, v, modifier, ret);
    case HF_SQL_REAL:
        return to_real(ev, v, ret);
    case HF_SQL_TEXT:
        return to_text(ev, v, modifier, assign, ret);
    default:
        return to_time(ev, v, type, ret);
    }
}

bool hf_sql_literal_as(hf_sql_eval *ev, const hf_sql_value *like,
                       hf_sql_value *literal)
{
    unsigned note = like->note & (HF_SQL_NOTE_INT4 | HF_SQL_NOTE_INT8);

    if (like->type == HF_SQL_TEXT || like->type == HF_SQL_NULL)
        return true;
    return hf_sql_cast(ev, *literal, like->type, note, -1, false, literal);
}

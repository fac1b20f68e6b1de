/* call.c: the functions.
 *
 * One table says who has them and with how many arguments.  Characters are
 * those of UTF-8; the case of letters is changed for ASCII only, as SQLite
 * and PostgreSQL with collation C do.
 */
#include "sql/eval.h"

#include <ctype.h>
#include <math.h>

#include "base/error.h"

#define ANY_DB (1u << HF_SQL_ANY)
#define PG (1u << HF_SQL_POSTGRES)
#define LITE (1u << HF_SQL_SQLITE)

static const struct {
    const char *name;
    hf_sql_function function;
    uint8_t least, most;
    uint8_t dialects;
} functions[] = {
    {"abs", HF_F_ABS, 1, 1, ANY_DB | PG | LITE},
    {"lower", HF_F_LOWER, 1, 1, ANY_DB | PG | LITE},
    {"upper", HF_F_UPPER, 1, 1, ANY_DB | PG | LITE},
    {"length", HF_F_LENGTH, 1, 1, ANY_DB | PG | LITE},
    {"char_length", HF_F_LENGTH, 1, 1, ANY_DB | PG},
    {"character_length", HF_F_LENGTH, 1, 1, ANY_DB | PG},
    {"round", HF_F_ROUND, 1, 2, ANY_DB | PG | LITE},
    {"ceil", HF_F_CEIL, 1, 1, ANY_DB | PG | LITE},
    {"ceiling", HF_F_CEIL, 1, 1, ANY_DB | PG | LITE},
    {"floor", HF_F_FLOOR, 1, 1, ANY_DB | PG | LITE},
    {"trunc", HF_F_TRUNC, 1, 2, PG},
    {"trunc", HF_F_TRUNC, 1, 1, LITE},
    {"sign", HF_F_SIGN, 1, 1, ANY_DB | PG | LITE},
    {"mod", HF_F_MOD, 2, 2, ANY_DB | PG},
    {"substr", HF_F_SUBSTR, 2, 3, ANY_DB | PG | LITE},
    {"substring", HF_F_SUBSTR, 2, 3, ANY_DB | PG | LITE},
    {"trim", HF_F_TRIM, 1, 2, LITE},
    {"btrim", HF_F_TRIM, 1, 2, ANY_DB | PG | LITE},
    {"ltrim", HF_F_LTRIM, 1, 2, ANY_DB | PG | LITE},
    {"rtrim", HF_F_RTRIM, 1, 2, ANY_DB | PG | LITE},
    {"replace", HF_F_REPLACE, 3, 3, ANY_DB | PG | LITE},
    {"strpos", HF_F_POSITION, 2, 2, PG},
    {"position", HF_F_POSITION, 2, 2, ANY_DB | PG},
    {"instr", HF_F_POSITION, 2, 2, LITE},
    {"left", HF_F_LEFT, 2, 2, PG},
    {"right", HF_F_RIGHT, 2, 2, PG},
};

hf_sql_function hf_sql_function_of(hf_str name, uint32_t n_args,
                                   hf_sql_dialect dialect)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (hf_str_eq(name, hf_str_of(functions[i].name)) &&
            n_args >= functions[i].least && n_args <= functions[i].most &&
            functions[i].dialects & 1u << dialect)
            return functions[i].function;
    return HF_F_NONE;
}

/* ---- numbers ------------------------------------------------------------ */

static bool not_a_number(hf_sql_eval *ev, const hf_sql_value *v)
{
    /* a literal here has a type that overloading decides */
    if (v->note & HF_SQL_NOTE_LITERAL)
        return hf_sql_unsaid(ev, "a quoted literal where a number is wanted");
    return hf_sql_refuse(ev, "%s is no number",
                         hf_sql_type_name(v->type, v->note));
}

static bool absolute(hf_sql_eval *ev, hf_sql_value v, hf_sql_value *ret)
{
    if (ev->dialect == HF_SQL_SQLITE) {
        v = hf_sqlite_storage(v);
        if (v.type == HF_SQL_TEXT) {
            v = hf_sqlite_number(&v);
            v = hf_sql_of_real(hf_sql_to_real(&v));
        }
        if (v.type == HF_SQL_INT && v.integer == INT64_MIN)
            return hf_sql_raise(ev, "integer overflow");
    }
    switch (v.type) {
    case HF_SQL_INT:
        return v.integer < 0 ? hf_sql_negate(ev, v, ret) : (*ret = v, true);
    case HF_SQL_DECIMAL:
        *ret = v;
        if (v.decimal < 0)
            ret->decimal = -v.decimal;
        return true;
    case HF_SQL_REAL:
        /* SQLite keeps the sign of a zero */
        *ret = hf_sql_of_real(ev->dialect == HF_SQL_SQLITE && v.real == 0
                                  ? v.real
                                  : fabs(v.real));
        return true;
    default:
        return not_a_number(ev, &v);
    }
}

static bool round_decimal(hf_sql_eval *ev, hf_sql_function f, hf_sql_value v,
                          int places, hf_sql_value *ret)
{
    static const hf_sql_rounding ways[HF_F_COUNT] = {
        [HF_F_ROUND] = HF_SQL_ROUND_HALF_AWAY,
        [HF_F_CEIL] = HF_SQL_ROUND_CEILING,
        [HF_F_FLOOR] = HF_SQL_ROUND_FLOOR,
        [HF_F_TRUNC] = HF_SQL_ROUND_DOWN,
    };

    if (!hf_sql_decimal_round(v, places, ways[f], ret))
        return hf_sql_unsaid(ev, "a decimal has too many digits");
    return true;
}

static bool round_real(hf_sql_function f, double r, hf_sql_value *ret)
{
    r = f == HF_F_CEIL    ? ceil(r)
        : f == HF_F_FLOOR ? floor(r)
        : f == HF_F_TRUNC ? trunc(r)
                          : rint(r);
    *ret = hf_sql_of_real(r);
    return true;
}

/* round(x, n) of SQLite: by its own printing with n digits. */
static bool sqlite_round(hf_sql_eval *ev, hf_sql_value *v, uint32_t n,
                         hf_sql_value *ret)
{
    hf_sql_value x = hf_sqlite_number(&v[0]);
    hf_sql_value places = n == 2 ? hf_sqlite_number(&v[1]) : hf_sql_of_int(0);
    double r = hf_sql_to_real(&x);

    if (places.type != HF_SQL_INT || places.integer > 0) {
        if (x.type == HF_SQL_INT) {
            *ret = hf_sql_of_real(r);
            return true;
        }
        return hf_sql_unsaid(ev, "round() of SQLite to so many digits");
    }
    if (r < -4503599627370496.0 || r > 4503599627370496.0)
        *ret = hf_sql_of_real(r);
    else
        *ret = hf_sql_of_real((double)(int64_t)(r + (r < 0 ? -0.5 : +0.5)));
    return true;
}

static bool sqlite_whole(hf_sql_function f, hf_sql_value v, hf_sql_value *ret)
{
    hf_sql_value n = hf_sqlite_storage(v);

    if (n.type == HF_SQL_TEXT && !hf_sql_number(hf_sql_text_of(&v), &n)) {
        *ret = hf_sql_null();
        return true;
    }
    n = hf_sqlite_storage(n);
    if (n.type == HF_SQL_INT) {
        *ret = n;
        return true;
    }
    return round_real(f, n.real, ret);
}

static bool rounding(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *v,
                     uint32_t n, hf_sql_value *ret)
{
    if (ev->dialect == HF_SQL_SQLITE)
        return f == HF_F_ROUND ? sqlite_round(ev, v, n, ret)
                               : sqlite_whole(f, v[0], ret);
    if (!hf_sql_is_number(&v[0]))
        return not_a_number(ev, &v[0]);
    if (n == 2 && v[1].type != HF_SQL_INT)
        return not_a_number(ev, &v[1]);
    if (ev->dialect == HF_SQL_ANY) {
        if (v[0].type != HF_SQL_INT || n == 2)
            return hf_sql_unsaid(ev, "databases differ about rounding here");
        *ret = v[0];
        return true;
    }
    if (n == 2) {
        if (v[0].type == HF_SQL_REAL)
            return hf_sql_raise(ev, "no function of double precision and "
                                    "integer");
        if (v[1].integer > 30 || v[1].integer < -30)
            return hf_sql_unsaid(ev, "a decimal has too many digits");
        return round_decimal(ev, f, v[0], (int)v[1].integer, ret);
    }
    if (v[0].type == HF_SQL_DECIMAL)
        return round_decimal(ev, f, v[0], 0, ret);
    return round_real(f, hf_sql_to_real(&v[0]), ret);
}

static bool sign(hf_sql_eval *ev, hf_sql_value v, hf_sql_value *ret)
{
    hf_sql_value zero = hf_sql_of_int(0);
    int s;

    if (ev->dialect == HF_SQL_SQLITE) {
        v = hf_sqlite_storage(v);
        if (v.type == HF_SQL_TEXT && !hf_sql_number(hf_sql_text_of(&v), &v)) {
            *ret = hf_sql_null();
            return true;
        }
    }
    if (!hf_sql_is_number(&v))
        return not_a_number(ev, &v);
    s = hf_sql_compare_numbers(&v, &zero);
    if (ev->dialect != HF_SQL_POSTGRES)
        *ret = hf_sql_of_int(s);
    else if (v.type == HF_SQL_DECIMAL)
        *ret = hf_sql_of_decimal(s, 0);
    else
        *ret = hf_sql_of_real(s);
    return true;
}

/* ---- texts -------------------------------------------------------------- */

static bool want_text(hf_sql_eval *ev, hf_sql_value *v)
{
    if (v->type == HF_SQL_TEXT)
        return true;
    if (ev->dialect == HF_SQL_SQLITE) {
        *v = hf_sqlite_affinity(*v, HF_AFFINITY_TEXT, hf_sql_scratch(ev));
        return true;
    }
    return hf_sql_refuse(ev, "%s is no text",
                         hf_sql_type_name(v->type, v->note));
}

static bool is_ascii(hf_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] >= 0x80)
            return false;
    return true;
}

static bool starts_char(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static int64_t count_chars(hf_str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += starts_char(s.ptr[i]);
    return n;
}

/* Characters from .. to-1, counted from 0; ends outside are cut. */
static hf_str chars_between(hf_str s, int64_t from, int64_t to)
{
    size_t i = 0, start;
    int64_t n = 0;

    while (i < s.len && n < from) {
        i++;
        while (i < s.len && !starts_char(s.ptr[i]))
            i++;
        n++;
    }
    start = i;
    while (i < s.len && n < to) {
        i++;
        while (i < s.len && !starts_char(s.ptr[i]))
            i++;
        n++;
    }
    return (hf_str){s.ptr + start, i - start};
}

static bool change_case(hf_sql_eval *ev, hf_sql_function f, hf_str s,
                        hf_sql_value *ret)
{
    char *copy = hf_arena_text(hf_sql_scratch(ev), s.ptr, s.len);

    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)copy[i] < 0x80)
            copy[i] = (char)(f == HF_F_LOWER ? tolower((unsigned char)copy[i])
                                             : toupper((unsigned char)copy[i]));
    *ret = hf_sql_of_text((hf_str){copy, s.len});
    return true;
}

static bool want_int(hf_sql_eval *ev, hf_sql_value *v, int64_t *ret)
{
    if (ev->dialect == HF_SQL_SQLITE) {
        *v = hf_sqlite_number(v);
        if (v->type == HF_SQL_REAL)
            *v = hf_sql_of_int((int64_t)fmax(fmin(v->real, 1e15), -1e15));
    }
    if (v->type != HF_SQL_INT)
        return not_a_number(ev, v);
    if (v->integer > INT32_MAX || v->integer < -INT32_MAX)
        return hf_sql_unsaid(ev, "a place in a text so far away");
    *ret = v->integer;
    return true;
}

/* SQLite's places: negative ones from the end, 0 before the first, and a
 * negative length takes what is before. */
static void sqlite_places(int64_t length, bool has_count, int64_t *from,
                          int64_t *count)
{
    bool before = has_count && *count < 0;

    if (before)
        *count = -*count;
    if (*from < 0) {
        *from += length;
        if (*from < 0) {
            *count += *from;
            if (*count < 0)
                *count = 0;
            *from = 0;
        }
    } else if (*from > 0) {
        (*from)--;
    } else if (*count > 0) {
        (*count)--;
    }
    if (before) {
        *from -= *count;
        if (*from < 0) {
            *count += *from;
            *from = 0;
        }
    }
}

static bool substring(hf_sql_eval *ev, hf_sql_value *v, uint32_t n,
                      hf_sql_value *ret)
{
    int64_t from, count = INT32_MAX;
    hf_str s = hf_sql_text_of(&v[0]);

    if (!want_int(ev, &v[1], &from) || (n == 3 && !want_int(ev, &v[2], &count)))
        return false;
    if (ev->dialect == HF_SQL_SQLITE) {
        sqlite_places(count_chars(s), n == 3, &from, &count);
        *ret = hf_sql_of_text(chars_between(s, from, from + count));
        return true;
    }
    if (ev->dialect == HF_SQL_ANY && (from < 1 || count < 0))
        return hf_sql_unsaid(ev, "databases differ about such places");
    if (count < 0)
        return hf_sql_raise(ev, "negative substring length not allowed");
    count += from;
    *ret = hf_sql_of_text(
        chars_between(s, from < 1 ? 0 : from - 1, count < 1 ? 0 : count - 1));
    return true;
}

static bool in_set(hf_str set, const char *at, size_t n)
{
    return memmem(set.ptr, set.len, at, n) != NULL;
}

static bool trim(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *v,
                 uint32_t n, hf_sql_value *ret)
{
    hf_str s = hf_sql_text_of(&v[0]);
    hf_str set = n == 2 ? hf_sql_text_of(&v[1]) : HF_STR(" ");

    if (!is_ascii(set) || (ev->dialect == HF_SQL_ANY && n == 2))
        return hf_sql_unsaid(ev, "trimming of such characters");
    while (f != HF_F_RTRIM && s.len > 0 && in_set(set, s.ptr, 1)) {
        s.ptr++;
        s.len--;
    }
    while (f != HF_F_LTRIM && s.len > 0 && in_set(set, s.ptr + s.len - 1, 1))
        s.len--;
    *ret = hf_sql_of_text(s);
    return true;
}

#define MAX_TEXT (64u << 20)

static bool replace(hf_sql_eval *ev, hf_sql_value *v, hf_sql_value *ret)
{
    hf_str s = hf_sql_text_of(&v[0]), old = hf_sql_text_of(&v[1]),
           new = hf_sql_text_of(&v[2]);
    const char *at = s.ptr, *end = s.ptr + s.len, *hit;
    size_t hits = 0, n = 0;
    char *out;

    if (old.len == 0) {
        *ret = v[0];
        return true;
    }
    for (; (hit = memmem(at, (size_t)(end - at), old.ptr, old.len)); hits++)
        at = hit + old.len;
    if (s.len + hits * new.len > MAX_TEXT)
        return hf_sql_unsaid(ev, "a text so long");
    out = hf_arena_get(hf_sql_scratch(ev), s.len + hits * new.len + 1);
    for (at = s.ptr; (hit = memmem(at, (size_t)(end - at), old.ptr, old.len));
         at = hit + old.len) {
        memcpy(out + n, at, (size_t)(hit - at));
        n += (size_t)(hit - at);
        memcpy(out + n, new.ptr, new.len);
        n += new.len;
    }
    memcpy(out + n, at, (size_t)(end - at));
    n += (size_t)(end - at);
    *ret = hf_sql_of_text((hf_str){out, n});
    return true;
}

static void position(hf_str s, hf_str part, hf_sql_value *ret)
{
    const char *hit =
        part.len == 0 ? s.ptr : memmem(s.ptr, s.len, part.ptr, part.len);

    *ret = hf_sql_of_int(0);
    if (hit)
        ret->integer = count_chars((hf_str){s.ptr, (size_t)(hit - s.ptr)}) + 1;
    ret->note = HF_SQL_NOTE_INT4;
}

static bool end_part(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *v,
                     hf_sql_value *ret)
{
    hf_str s = hf_sql_text_of(&v[0]);
    int64_t n, length = count_chars(s);

    if (!want_int(ev, &v[1], &n))
        return false;
    if (n < 0)
        n = length + n < 0 ? 0 : length + n;
    if (n > length)
        n = length;
    *ret =
        hf_sql_of_text(f == HF_F_LEFT ? chars_between(s, 0, n)
                                      : chars_between(s, length - n, length));
    return true;
}

static bool text_call(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *v,
                      uint32_t n, hf_sql_value *ret)
{
    uint32_t texts =
        f == HF_F_SUBSTR || f == HF_F_LEFT || f == HF_F_RIGHT ? 1 : n;

    for (uint32_t i = 0; i < texts; i++) {
        if (!want_text(ev, &v[i]))
            return false;
        if (ev->dialect == HF_SQL_ANY && !is_ascii(hf_sql_text_of(&v[i])))
            return hf_sql_unsaid(ev, "databases differ about letters beyond "
                                     "ASCII");
    }
    switch (f) {
    case HF_F_LOWER:
    case HF_F_UPPER:
        return change_case(ev, f, hf_sql_text_of(&v[0]), ret);
    case HF_F_LENGTH:
        *ret = hf_sql_of_int(count_chars(hf_sql_text_of(&v[0])));
        ret->note = HF_SQL_NOTE_INT4;
        return true;
    case HF_F_SUBSTR:
        return substring(ev, v, n, ret);
    case HF_F_TRIM:
    case HF_F_LTRIM:
    case HF_F_RTRIM:
        return trim(ev, f, v, n, ret);
    case HF_F_REPLACE:
        return replace(ev, v, ret);
    case HF_F_POSITION:
        position(hf_sql_text_of(&v[0]), hf_sql_text_of(&v[1]), ret);
        return true;
    default:
        return end_part(ev, f, v, ret);
    }
}

bool hf_sql_call(hf_sql_eval *ev, hf_sql_function f, hf_sql_value *args,
                 uint32_t n, hf_sql_value *ret)
{
    HF_ASSERT(n >= 1 && n <= 3);
    if (f == HF_F_REPLACE && ev->dialect == HF_SQL_SQLITE &&
        args[0].type != HF_SQL_NULL && args[1].type == HF_SQL_TEXT &&
        args[1].length == 0) { /* as it is: a number stays one */
        *ret = hf_sqlite_storage(args[0]);
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        if (args[i].type == HF_SQL_NULL) {
            *ret = hf_sql_null();
            return true;
        }
    switch (f) {
    case HF_F_ABS:
        return absolute(ev, args[0], ret);
    case HF_F_ROUND:
    case HF_F_CEIL:
    case HF_F_FLOOR:
    case HF_F_TRUNC:
        return rounding(ev, f, args, n, ret);
    case HF_F_SIGN:
        return sign(ev, args[0], ret);
    case HF_F_MOD:
        return hf_sql_arithmetic(ev, '%', args[0], args[1], ret);
    default:
        return text_call(ev, f, args, n, ret);
    }
}

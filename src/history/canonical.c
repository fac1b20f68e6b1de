/* canonical.c: one spelling for each value. */
#include "history/canonical.h"

#include <stdlib.h>

#include "base/json_in.h"
#include "base/json_out.h"
#include "base/vec.h"

#define EXPONENT_MAX 400 /* beyond it a number keeps its spelling */

/* ---- decimals ------------------------------------------------------------ */

/* digits * 10^exponent, with no zero at either end of the digits. */
typedef struct decimal {
    bool negative;
    HF_VEC(char) digits;
    int64_t exponent;
} decimal;

static bool read_exponent(hf_str s, int64_t *exponent)
{
    int64_t e;

    if (s.len > 0 && s.ptr[0] == '+')
        s = (hf_str){s.ptr + 1, s.len - 1};
    if (!hf_str_to_int(s, &e) || e > EXPONENT_MAX || e < -EXPONENT_MAX)
        return false;
    *exponent += e;
    return true;
}

static bool read_decimal(hf_str s, decimal *d)
{
    size_t i = s.len > 0 && s.ptr[0] == '-';
    bool fraction = false, any = false;

    d->negative = i == 1;
    for (; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '.' && !fraction) {
            fraction = true;
        } else if ((c | 32) == 'e' && any) {
            if (!read_exponent((hf_str){s.ptr + i + 1, s.len - i - 1},
                               &d->exponent))
                return false;
            break;
        } else if (c >= '0' && c <= '9') {
            any = true;
            d->exponent -= fraction;
            if (c != '0' || d->digits.n > 0)
                hf_vec_push(&d->digits, c);
        } else {
            return false;
        }
    }
    while (d->digits.n > 0 && d->digits.at[d->digits.n - 1] == '0') {
        d->digits.n--;
        d->exponent++;
    }
    return any;
}

static void write_decimal(const decimal *d, hf_out *out)
{
    int64_t n = (int64_t)d->digits.n, point = n + d->exponent;

    if (d->negative)
        hf_out_char(out, '-');
    if (d->exponent >= 0 || point < -EXPONENT_MAX) {
        hf_out_bytes(out, d->digits.at, d->digits.n);
        if (d->exponent != 0)
            hf_out_format(out, "e%lld", (long long)d->exponent);
        return;
    }
    if (point <= 0)
        hf_out_text(out, "0.");
    for (int64_t i = point; i < 0; i++)
        hf_out_char(out, '0');
    for (int64_t i = 0; i < n; i++) {
        if (i == point && i > 0)
            hf_out_char(out, '.');
        hf_out_char(out, d->digits.at[i]);
    }
}

static bool whole_number(const decimal *d, int64_t *ret)
{
    char text[24];
    size_t n = 0;

    if (d->digits.n == 0) {
        *ret = 0;
        return true;
    }
    if (d->exponent < 0 || (int64_t)d->digits.n + d->exponent > 19)
        return false;
    if (d->negative)
        text[n++] = '-';
    memcpy(text + n, d->digits.at, d->digits.n);
    n += d->digits.n;
    for (int64_t i = 0; i < d->exponent; i++)
        text[n++] = '0';
    return hf_str_to_int((hf_str){text, n}, ret);
}

static bool canonical_real(hf_scalar value, hf_out *out, hf_scalar *ret)
{
    decimal d = {0};
    bool ok = read_decimal((hf_str){value.text, value.length}, &d);
    int64_t number;

    if (ok && whole_number(&d, &number)) {
        *ret = (hf_scalar){.type = HF_INT, .number = number};
    } else if (ok) {
        out->n = 0;
        write_decimal(&d, out);
        *ret = (hf_scalar){.type = HF_REAL, .text = out->at, .length = out->n};
    }
    hf_vec_release(&d.digits);
    return ok;
}

/* ---- rows ---------------------------------------------------------------- */

typedef struct column {
    hf_str name, value; /* the value as JSON text */
} column;

typedef struct row {
    HF_VEC(column) columns;
    hf_arena text;
} row;

static int by_name(const void *a, const void *b)
{
    hf_str x = ((const column *)a)->name, y = ((const column *)b)->name;
    int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);

    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

/* A number is spelled canonically, anything else stays as it is. */
static hf_str column_value(row *r, hf_str json)
{
    bool number = json.len > 0 &&
                  (*json.ptr == '-' || (*json.ptr >= '0' && *json.ptr <= '9'));
    hf_out scratch, out;
    hf_scalar s;

    if (!number)
        return json;
    hf_out_init_memory(&scratch);
    hf_out_init_memory(&out);
    if (canonical_real((hf_scalar){HF_REAL, 0, json.ptr, json.len}, &scratch,
                       &s)) {
        if (s.type == HF_INT)
            hf_out_int(&out, s.number);
        else
            hf_out_bytes(&out, s.text, s.length);
        json = (hf_str){hf_arena_text(&r->text, out.at, out.n), out.n};
    }
    hf_out_release(&scratch);
    hf_out_release(&out);
    return json;
}

static bool read_row(hf_scalar value, row *r)
{
    hf_json_in j;
    hf_str name, json;
    bool ok;

    hf_json_in_init(&j, value.text, value.length);
    if (hf_json_in_open(&j, '{'))
        while (hf_json_in_next_key(&j, &name)) {
            column c;

            c.name =
                (hf_str){hf_arena_text(&r->text, name.ptr, name.len), name.len};
            if (!hf_json_in_skip(&j, &json))
                break;
            c.value = column_value(r, json);
            hf_vec_push(&r->columns, c);
        }
    ok = hf_json_in_peek(&j) == 0 && !j.failed;
    hf_json_in_release(&j);
    return ok;
}

static bool canonical_row(hf_scalar value, hf_out *out, hf_scalar *ret)
{
    row r = {0};
    hf_json j;
    bool ok = read_row(value, &r);

    if (ok) {
        if (r.columns.n > 1)
            qsort(r.columns.at, r.columns.n, sizeof(column), by_name);
        out->n = 0;
        hf_json_init(&j, out);
        hf_json_object(&j);
        for (size_t i = 0; i < r.columns.n; i++) {
            hf_json_key_str(&j, r.columns.at[i].name);
            hf_json_raw(&j, r.columns.at[i].value);
        }
        hf_json_end(&j);
        *ret = (hf_scalar){.type = HF_ROW, .text = out->at, .length = out->n};
    }
    hf_vec_release(&r.columns);
    hf_arena_release(&r.text);
    return ok;
}

bool hf_canonical(hf_scalar value, hf_out *scratch, hf_scalar *ret)
{
    if (value.type == HF_REAL)
        return canonical_real(value, scratch, ret);
    if (value.type == HF_ROW)
        return canonical_row(value, scratch, ret);
    *ret = value;
    return true;
}

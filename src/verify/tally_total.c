/* tally_total.c: what an aggregate is, to be told; see predicate.h. */
#include "verify/predicate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AVERAGE_DIGITS 6u

static hf_scalar integer(int64_t n)
{
    return (hf_scalar){.type = HF_INT, .number = n};
}

/* Units of HF_DECIMAL_ONE as a number without zeros at its end. */
static hf_scalar decimal(hf_wide units, hf_arena *arena)
{
    hf_wide size = units < 0 ? -units : units;
    hf_wide whole = size / HF_DECIMAL_ONE, rest = size % HF_DECIMAL_ONE;
    char text[64];
    int n;

    if (rest == 0 && whole <= INT64_MAX)
        return integer((int64_t)(units / HF_DECIMAL_ONE));
    n = snprintf(text, sizeof(text), "%s%" PRIu64 ".%018" PRIu64,
                 units < 0 ? "-" : "", (uint64_t)whole, (uint64_t)rest);
    while (n > 1 && text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    return (hf_scalar){.type = HF_REAL,
                       .text = hf_arena_text(arena, text, (size_t)n),
                       .length = (size_t)n};
}

/* Rounded: nobody compares with it. */
static hf_scalar average(const hf_tally *t, hf_arena *arena)
{
    hf_wide step = HF_DECIMAL_ONE, half, units = t->sum / t->n;

    for (unsigned i = 0; i < AVERAGE_DIGITS; i++)
        step /= 10;
    half = units < 0 ? -step / 2 : step / 2;
    return decimal((units + half) / step * step, arena);
}

static hf_scalar text_of(hf_str s)
{
    return (hf_scalar){.type = HF_TEXT, .text = s.ptr, .length = s.len};
}

bool hf_tally_total(hf_verifier *v, hf_op_id op, const hf_tally *t,
                    hf_arena *arena, hf_scalar *ret)
{
    hf_op_kind kind = hf_op_kind_of(v->h, op);
    bool end = kind == HF_OP_MIN || kind == HF_OP_MAX;
    bool counts_column = hf_op_predicate(v->h, op).n_columns > 0;

    if (t->unknown || t->gap ||
        (t->incomplete && (kind != HF_OP_COUNT_ROWS || counts_column)))
        return false;
    if (kind == HF_OP_COUNT_ROWS) {
        *ret = integer(counts_column ? t->n : t->all);
        return true;
    }
    if (t->n == 0) {
        *ret = (hf_scalar){.type = HF_NIL};
        return true;
    }
    if (end && t->n_texts == t->n && v->dialect != HF_SQL_ANY) {
        *ret = text_of(kind == HF_OP_MIN ? t->first : t->last);
        return true;
    }
    if (t->mixed || (t->overflow && !end))
        return false;
    *ret = kind == HF_OP_AVG ? average(t, arena)
           : end ? decimal(kind == HF_OP_MIN ? t->least : t->most, arena)
                 : decimal(t->sum, arena);
    return true;
}

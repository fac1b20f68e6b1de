/* schema.c: reading CREATE TABLE.
 *
 * The workloads' own statements are simple: names without quotes, one column
 * after the other, PRIMARY KEY behind a column or at the end.  What is not
 * understood is refused, not guessed.
 */
#include "run/schema.h"

#include <ctype.h>

#include "base/mem.h"

typedef struct words {
    hf_str text;
    size_t at;
} words;

/* A name, or one character; empty at the end. */
static hf_str next(words *w)
{
    const char *p = w->text.ptr;
    size_t from;

    while (w->at < w->text.len && isspace((unsigned char)p[w->at]))
        w->at++;
    from = w->at;
    while (w->at < w->text.len &&
           (isalnum((unsigned char)p[w->at]) || p[w->at] == '_'))
        w->at++;
    if (w->at == from && from < w->text.len)
        w->at++;
    return (hf_str){p + from, w->at - from};
}

static bool is(hf_str word, const char *other)
{
    return hf_str_same_name(word, hf_str_of(other));
}

static hf_status unclear(const hf_schema_table *t, hf_error *err)
{
    return hf_fail(err, HF_ERR_USAGE,
                   "the definition of table \"%.*s\" is not understood",
                   (int)t->name.len, t->name.ptr);
}

static hf_status add_key(hf_schema_table *t, hf_str column, hf_error *err)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (hf_str_same_name(t->columns[i], column) &&
            t->n_keys < HF_SCHEMA_KEYS) {
            t->keys[t->n_keys++] = i;
            return HF_OK;
        }
    return unclear(t, err);
}

/* "(a, b)" after PRIMARY KEY. */
static hf_status read_key(hf_schema_table *t, words *w, hf_error *err)
{
    hf_status st = HF_OK;
    hf_str word;

    if (!is(next(w), "("))
        return unclear(t, err);
    do {
        st = add_key(t, next(w), err);
        word = next(w);
    } while (st == HF_OK && is(word, ","));
    return st == HF_OK && !is(word, ")") ? unclear(t, err) : st;
}

/* The rest of a column or constraint, up to the comma or parenthesis that
 * ends it. */
static hf_status read_rest(hf_schema_table *t, words *w, bool column,
                           hf_str *ret_end, hf_error *err)
{
    unsigned depth = 0;

    for (;;) {
        hf_str word = next(w);

        if (word.len == 0)
            return unclear(t, err);
        if (depth == 0 && (is(word, ",") || is(word, ")"))) {
            *ret_end = word;
            return HF_OK;
        }
        if (is(word, "("))
            depth++;
        else if (is(word, ")"))
            depth--;
        else if (is(word, "PRIMARY") && column) {
            hf_status st = add_key(t, t->columns[t->n_columns - 1], err);

            if (st != HF_OK)
                return st;
        }
    }
}

static bool is_constraint(hf_str word)
{
    return is(word, "UNIQUE") || is(word, "CHECK") || is(word, "FOREIGN") ||
           is(word, "CONSTRAINT");
}

static hf_status read_part(hf_schema_table *t, words *w, hf_str *ret_end,
                           hf_error *err)
{
    hf_str word = next(w);
    hf_status st;

    if (is(word, "PRIMARY")) {
        (void)next(w); /* KEY */
        st = read_key(t, w, err);
        return st == HF_OK ? read_rest(t, w, false, ret_end, err) : st;
    }
    if (is_constraint(word))
        return read_rest(t, w, false, ret_end, err);
    if (word.len == 0 || t->n_columns == HF_SCHEMA_COLUMNS)
        return unclear(t, err);
    t->columns[t->n_columns++] = word;
    return read_rest(t, w, true, ret_end, err);
}

static hf_status read_table(hf_schema_table *t, words *w, hf_error *err)
{
    hf_str end;
    hf_status st;

    t->name = next(w);
    if (!is(next(w), "("))
        return unclear(t, err);
    do
        st = read_part(t, w, &end, err);
    while (st == HF_OK && is(end, ","));
    for (t->tag = 0; t->tag < t->n_columns; t->tag++)
        if (is(t->columns[t->tag], "_tag"))
            break;
    return st == HF_OK && t->n_keys == 0 ? unclear(t, err) : st;
}

hf_status hf_schema_read(hf_schema *ret, const char *const *statements,
                         hf_error *err)
{
    uint32_t n = 0;
    hf_status st = HF_OK;

    while (statements && statements[n])
        n++;
    *ret = (hf_schema){.tables = HF_NEW_ZEROED(hf_schema_table, n + 1)};
    for (uint32_t i = 0; i < n && st == HF_OK; i++) {
        words w = {hf_str_of(statements[i]), 0};

        if (is(next(&w), "CREATE") && is(next(&w), "TABLE"))
            st = read_table(&ret->tables[ret->n_tables++], &w, err);
    }
    if (st != HF_OK)
        hf_schema_release(ret);
    return st;
}

hf_status hf_schema_rekey(hf_schema *s, const char *text, hf_error *err)
{
    words w = {hf_str_of(text), 0};
    hf_str name = next(&w);

    for (uint32_t i = 0; i < s->n_tables; i++)
        if (hf_str_eq(s->tables[i].name, name)) {
            s->tables[i].n_keys = 0;
            return read_key(&s->tables[i], &w, err);
        }
    return hf_fail(err, HF_ERR_USAGE, "there is no table \"%.*s\"",
                   (int)name.len, name.ptr);
}

void hf_schema_release(hf_schema *s)
{
    hf_free(s->tables);
    *s = (hf_schema){0};
}

const hf_schema_table *hf_schema_find(const hf_schema *s, hf_str name)
{
    for (uint32_t i = 0; i < s->n_tables; i++)
        if (hf_str_eq(s->tables[i].name, name))
            return &s->tables[i];
    return NULL;
}

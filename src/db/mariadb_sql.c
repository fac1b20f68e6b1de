/* mariadb_sql.c: from the SQL that all databases share to MariaDB's.
 *
 * Word by word; texts and quoted names are left alone:
 *
 *   $1                           ?, and a note which parameter that is
 *   ON CONFLICT (k) DO UPDATE SET c = EXCLUDED.c
 *                                ON DUPLICATE KEY UPDATE c = VALUES(c)
 *   ON CONFLICT (k) DO NOTHING   ON DUPLICATE KEY UPDATE k = k
 *   TEXT in CREATE TABLE         LONGTEXT, as others' TEXT has no limit
 *   CAST(x AS BIGINT), ... TEXT  CAST(x AS SIGNED), ... CHAR
 *
 * || and "names" need nothing: the session's sql_mode understands them.
 */
#include "db/mariadb.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

typedef HF_VEC(char) text_vec;

typedef struct rewriting {
    const char *at; /* what is left */
    text_vec out;
    HF_VEC(uint32_t) places;
    bool create; /* CREATE TABLE */
    bool upsert;
    unsigned rows; /* of VALUES */
} rewriting;

static void put(rewriting *r, const char *text, size_t n)
{
    hf_vec_reserve(&r->out, n + 1);
    memcpy(r->out.at + r->out.n, text, n);
    r->out.n += n;
}

static void put_text(rewriting *r, const char *text)
{
    put(r, text, strlen(text));
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *at)
{
    size_t n = 0;

    while (in_word(at[n]))
        n++;
    return n;
}

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(at, word, n) == 0;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Do these words, with blanks between, come next?  Past them, or NULL. */
static const char *follows(const char *at, const char *const *words)
{
    for (; *words; words++) {
        size_t n;

        at = skip_blanks(at);
        n = word_length(at);
        if (!is_word(at, n, *words))
            return NULL;
        at += n;
    }
    return at;
}

/* 'text' or "name": as it is. */
static void copy_quoted(rewriting *r)
{
    const char *end = r->at + 1;

    while (*end && (*end != *r->at || end[1] == *r->at))
        end += *end == *r->at ? 2 : 1;
    end += *end != '\0';
    put(r, r->at, (size_t)(end - r->at));
    r->at = end;
}

static void take_parameter(rewriting *r)
{
    uint32_t n = 0;

    for (r->at++; isdigit((unsigned char)*r->at); r->at++)
        n = n < 100000 ? n * 10 + (uint32_t)(*r->at - '0') : n;
    put_text(r, "?");
    hf_vec_push(&r->places, n - 1);
}

/* After ON; false: it is about something else. */
static bool take_conflict(rewriting *r)
{
    static const char *const conflict[] = {"CONFLICT", NULL};
    static const char *const update[] = {"DO", "UPDATE", "SET", NULL};
    static const char *const nothing[] = {"DO", "NOTHING", NULL};
    const char *at = follows(r->at, conflict), *key = NULL, *end;
    size_t n = 0;

    if (!at)
        return false;
    at = skip_blanks(at);
    if (*at == '(') {
        key = skip_blanks(at + 1);
        n = word_length(key);
        at = strchr(at, ')');
        if (!at)
            return false;
        at++;
    }
    end = follows(at, update);
    if (end) {
        put_text(r, "ON DUPLICATE KEY UPDATE");
    } else {
        end = follows(at, nothing);
        if (!end || n == 0)
            return false;
        put_text(r, "ON DUPLICATE KEY UPDATE ");
        put(r, key, n);
        put_text(r, " = ");
        put(r, key, n);
    }
    r->upsert = true;
    r->at = end;
    return true;
}

/* EXCLUDED.c */
static void take_excluded(rewriting *r)
{
    size_t n;

    r->at++; /* the point */
    n = word_length(r->at);
    put_text(r, "VALUES(");
    put(r, r->at, n);
    put_text(r, ")");
    r->at += n;
}

/* After AS: the type of a CAST, if it is one. */
static void take_type(rewriting *r)
{
    static const char *const types[][2] = {{"BIGINT", "SIGNED"},
                                           {"INT", "SIGNED"},
                                           {"INTEGER", "SIGNED"},
                                           {"TEXT", "CHAR"}};
    const char *at = skip_blanks(r->at);
    size_t n = word_length(at);

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (is_word(at, n, types[i][0]) && *skip_blanks(at + n) == ')') {
            put_text(r, " ");
            put_text(r, types[i][1]);
            r->at = at + n;
            return;
        }
}

/* Rows after VALUES, counted by their parentheses. */
static unsigned count_rows(const char *at)
{
    unsigned n = 0, depth = 0;

    for (at = skip_blanks(at); *at; at++) {
        if (*at == '\'') {
            at = strchr(at + 1, '\'');
            if (!at)
                break;
        } else if (*at == '(') {
            n += depth++ == 0;
        } else if (*at == ')') {
            depth--;
        } else if (depth == 0 && *at != ',' && !isspace((unsigned char)*at)) {
            break;
        }
    }
    return n;
}

/* In CREATE TABLE: does a name of a column stand before this word? */
static bool is_type(const rewriting *r)
{
    size_t n = r->out.n;

    while (n > 0 && isspace((unsigned char)r->out.at[n - 1]))
        n--;
    return n > 0 && r->out.at[n - 1] != '(' && r->out.at[n - 1] != ',' &&
           memchr(r->out.at, '(', n);
}

static void take_word(rewriting *r)
{
    static const char *const table[] = {"TABLE", NULL};
    const char *word = r->at;
    size_t n = word_length(word);

    r->at += n;
    if (is_word(word, n, "CREATE") && follows(r->at, table))
        r->create = true;
    if (is_word(word, n, "VALUES"))
        r->rows = count_rows(r->at);
    if (is_word(word, n, "ON") && take_conflict(r))
        return;
    if (is_word(word, n, "EXCLUDED") && *r->at == '.') {
        take_excluded(r);
        return;
    }
    if (r->create && is_word(word, n, "TEXT") && is_type(r))
        put_text(r, "LONG");
    put(r, word, n);
    if (is_word(word, n, "AS"))
        take_type(r);
}

void hf_my_rewrite(const char *sql, hf_my_sql *ret)
{
    rewriting r = {.at = sql};

    while (*r.at) {
        if (*r.at == '\'' || *r.at == '"')
            copy_quoted(&r);
        else if (*r.at == '$' && isdigit((unsigned char)r.at[1]))
            take_parameter(&r);
        else if (in_word(*r.at))
            take_word(&r);
        else
            put(&r, r.at++, 1);
    }
    put(&r, "", 1);
    ret->text = r.out.at;
    ret->places = r.places.at;
    ret->n_places = (uint32_t)r.places.n;
    ret->upsert = r.upsert && r.rows == 1;
}

void hf_my_sql_release(hf_my_sql *s)
{
    hf_free(s->text);
    hf_free(s->places);
    memset(s, 0, sizeof(*s));
}

/* alike.c: what the results of statements tell about what the application does
 * with them.
 *
 * Other versions that a statement would return the same for:
 *
 * A read that changes need not change what the application gets: SELECT w_tax
 * returns the same whichever payment wrote the row last.  Versions are not
 * recorded with all their columns, but results are: if the same statement with
 * the same parameters read the same row from that other writer somewhere else
 * in the execution, its result is what would be returned here.  Or all who
 * wrote the row between the two versions, as observed, did so by UPDATEs of
 * columns that the statement does not name.  The column _tag, by which our own
 * recorder tells versions apart, is not for the application.
 *
 * Only statements that read one row and write nothing; only where results were
 * recorded.  What is not found here may still be the same: nothing rests on it
 * but which prediction is asked for first.
 *
 * What results name is in names.c; here those who were seen to ask the same
 * are found.
 *
 * O(reads + choices), and the lengths of results.
 */
#include "predict/events.h"

#include <string.h>
#include <strings.h>

#include "base/map.h"

typedef struct finder {
    hf_events *e;
    hf_map by_name;   /* of statement, row and writer: statement */
    hf_op_id *sql;    /* per seen: the statement, HF_NONE: not to be used */
    uint8_t *differs; /* per source: some read of it gets something else */
} finder;

/* The statement that an operation alone belongs to. */
static hf_op_id statement_of(const hf_history *h, hf_txn_id t, hf_op_id op)
{
    hf_op_id sql = op - 1;
    hf_sql q;

    if (op == h->op_first[t] || hf_op_kind_of(h, sql) != HF_OP_SQL ||
        hf_op_is_opaque(h, sql) || (hf_op_flags_of(h, sql) & HF_OP_FAILED))
        return HF_NONE;
    if (op + 1 < h->op_first[t + 1] && hf_op_kind_of(h, op + 1) != HF_OP_SQL &&
        hf_op_kind_of(h, op + 1) != HF_OP_COMMIT)
        return HF_NONE;
    q = hf_op_sql(h, sql);
    return q.has_rows ? sql : HF_NONE;
}

static uint64_t hash_scalar(hf_scalar s)
{
    uint64_t hash = hf_mix64((uint64_t)s.type << 60 ^ (uint64_t)s.number);

    for (size_t i = 0; s.text && i < s.length; i++)
        hash = (hash ^ (uint8_t)s.text[i]) * 0x100000001b3u;
    return hf_mix64(hash);
}

static bool same_scalar(hf_scalar a, hf_scalar b)
{
    if (a.type != b.type)
        return false;
    if (!a.text || !b.text)
        return !a.text && !b.text && a.number == b.number;
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static uint64_t name_of(const hf_history *h, hf_op_id sql, hf_key_id key,
                        uint32_t writer)
{
    hf_sql q = hf_op_sql(h, sql);
    uint64_t hash = hf_mix64((uint64_t)key << 32 | writer) ^ q.text;

    for (uint32_t i = 0; i < q.n_params; i++)
        hash =
            hf_mix64(hash * 31 +
                     hash_scalar(hf_extra_scalar(h, q.params + (size_t)3 * i)));
    return hash;
}

static bool same_question(const hf_history *h, const hf_sql *a, const hf_sql *b)
{
    if (a->text != b->text || a->n_params != b->n_params)
        return false;
    for (uint32_t i = 0; i < a->n_params; i++)
        if (!same_scalar(hf_extra_scalar(h, a->params + (size_t)3 * i),
                         hf_extra_scalar(h, b->params + (size_t)3 * i)))
            return false;
    return true;
}

static bool same_result(const hf_history *h, hf_op_id x, hf_op_id y)
{
    hf_sql a = hf_op_sql(h, x), b = hf_op_sql(h, y);

    if (a.n_rows != b.n_rows || a.n_columns != b.n_columns)
        return false;
    for (uint32_t i = 0; i < a.n_rows * a.n_columns; i++) {
        hf_str name = hf_string(h, a.names[i % a.n_columns]);

        if (!hf_str_eq(name, HF_STR("_tag")) &&
            !same_scalar(hf_extra_scalar(h, a.cells + (size_t)3 * i),
                         hf_extra_scalar(h, b.cells + (size_t)3 * i)))
            return false;
    }
    return true;
}

static void list_statements(finder *f)
{
    const hf_events *e = f->e;

    for (size_t i = 0; i < e->seen.n; i++) {
        const hf_event_seen *s = &e->seen.at[i];

        f->sql[i] =
            s->is_row ? HF_NONE : statement_of(e->h, e->txn_of[s->txn], s->op);
        if (f->sql[i] != HF_NONE)
            hf_map_set(&f->by_name,
                       name_of(e->h, f->sql[i], s->key, s->observed),
                       f->sql[i]);
    }
}

/* The statement by which somebody was seen to ask the same of `writer`'s
 * version; HF_NONE: nobody was. */
static hf_op_id asked_too(const finder *f, size_t seen, uint32_t writer)
{
    const hf_history *h = f->e->h;
    hf_op_id sql = f->sql[seen], other;
    hf_sql a, b;

    if (sql == HF_NONE)
        return HF_NONE;
    other = hf_map_get(&f->by_name,
                       name_of(h, sql, f->e->seen.at[seen].key, writer));
    if (other == HF_NONE)
        return HF_NONE;
    a = hf_op_sql(h, sql);
    b = hf_op_sql(h, other);
    return same_question(h, &a, &b) ? other : HF_NONE;
}

/* Would this read get the same from there? */
static bool gets_same(const finder *f, size_t seen, uint32_t writer)
{
    hf_op_id other = asked_too(f, seen, writer);

    return other != HF_NONE && same_result(f->e->h, f->sql[seen], other);
}

/* ---- columns -------------------------------------------------------------
 */

static bool is_name_char(char c)
{
    return c == '_' || c == '$' || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* The next name at or after `at`; empty: there is none. */
static hf_str next_name(hf_str text, size_t at)
{
    size_t end;

    while (at < text.len && !is_name_char(text.ptr[at]))
        at++;
    for (end = at; end < text.len && is_name_char(text.ptr[end]);)
        end++;
    return (hf_str){text.ptr + at, end - at};
}

static bool is_word(hf_str name, const char *word)
{
    return name.len == strlen(word) &&
           strncasecmp(name.ptr, word, name.len) == 0;
}

static bool has_name(hf_str text, hf_str name)
{
    for (hf_str n = next_name(text, 0); n.len > 0;
         n = next_name(text, (size_t)(n.ptr - text.ptr) + n.len))
        if (n.len == name.len && strncasecmp(n.ptr, name.ptr, n.len) == 0)
            return true;
    return false;
}

/* Does the UPDATE leave alone all that the query names?  Told by the columns
 * before "=" of its SET part: any doubt is a no. */
static bool leaves_alone(hf_str update, hf_str query)
{
    hf_str n = next_name(update, 0);
    bool set = false;

    if (!is_word(n, "update") || memchr(query.ptr, '*', query.len))
        return false;
    for (; n.len > 0 && !is_word(n, "where");) {
        size_t end = (size_t)(n.ptr - update.ptr) + n.len;

        while (end < update.len && update.ptr[end] == ' ')
            end++;
        if (set && end < update.len && update.ptr[end] == '=' &&
            !is_word(n, "_tag") && has_name(query, n))
            return false;
        set = set || is_word(n, "set");
        n = next_name(update, end);
    }
    return set;
}

/* Every write of the key by t is an UPDATE that leaves the query alone. */
static bool all_leave_alone(const hf_history *h, hf_txn_id t, hf_key_id key,
                            hf_str query)
{
    hf_op_id sql = HF_NONE;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        if (hf_op_kind_of(h, op) == HF_OP_SQL)
            sql = op;
        else if (hf_op_installs(hf_op_kind_of(h, op)) && h->op_key[op] == key &&
                 (sql == HF_NONE ||
                  !leaves_alone(hf_string(h, hf_op_sql(h, sql).text), query)))
            return false;
    }
    return true;
}

/* Between the version of `writer` and the one observed nothing has changed that
 * the statement names. */
static bool is_untouched(const finder *f, size_t seen, uint32_t writer)
{
    const hf_events *e = f->e;
    const hf_event_seen *s = &e->seen.at[seen];
    uint32_t low = writer < s->observed ? writer : s->observed;
    uint32_t high = writer < s->observed ? s->observed : writer;
    hf_str query;

    if (f->sql[seen] == HF_NONE)
        return false;
    query = hf_string(e->h, hf_op_sql(e->h, f->sql[seen]).text);
    for (uint32_t i = e->write_first[s->key]; i < e->write_first[s->key + 1];
         i++) {
        uint32_t t = e->writes.at[i].txn;

        if (t > low && t <= high &&
            !all_leave_alone(e->h, e->txn_of[t], s->key, query))
            return false;
    }
    return true;
}

/* ---- results that name rows ----------------------------------------------
 */

static void find_names(finder *f)
{
    hf_events *e = f->e;

    if (!hf_target_is_unique(e->rules))
        return;
    for (size_t i = 0; i < e->seen.n; i++) {
        const hf_event_seen *s = &e->seen.at[i];
        hf_event_read *r = s->read != HF_NONE ? &e->reads.at[s->read] : NULL;

        if (!r || f->sql[i] == HF_NONE ||
            !hf_names_rows(e->h, e->txn_of[s->txn], f->sql[i]))
            continue;
        r->names = true;
        for (uint32_t j = r->source; j < r->source + r->n_sources; j++) {
            hf_op_id other = asked_too(f, i, e->sources.at[j].txn);

            if (other != HF_NONE && hf_names_same(e, f->sql[i], other))
                e->sources.at[j].rival = e->number[hf_op_txn(e->h, other)];
        }
    }
}

void hf_events_find_alike(hf_events *e)
{
    finder f = {.e = e};

    hf_map_init(&f.by_name);
    f.sql = HF_NEW_ARRAY(hf_op_id, e->seen.n + 1);
    f.differs = HF_NEW_ZEROED(uint8_t, e->sources.n + 1);
    list_statements(&f);
    find_names(&f);
    for (size_t i = 0; i < e->seen.n; i++) {
        const hf_event_read *r;

        if (e->seen.at[i].read == HF_NONE)
            continue;
        r = &e->reads.at[e->seen.at[i].read];
        for (uint32_t j = r->source; j < r->source + r->n_sources; j++)
            f.differs[j] |= !gets_same(&f, i, e->sources.at[j].txn) &&
                            !is_untouched(&f, i, e->sources.at[j].txn);
    }
    for (size_t j = 0; j < e->sources.n; j++)
        e->sources.at[j].alike = !f.differs[j];
    hf_map_release(&f.by_name);
    hf_free(f.sql);
    hf_free(f.differs);
}

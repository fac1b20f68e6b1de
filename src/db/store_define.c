/* store_define.c: CREATE TABLE and its like, for the embedded store.
 *
 * A small reader of what workloads say: columns with a type, NOT NULL and
 * PRIMARY KEY, table constraints PRIMARY KEY and UNIQUE.  Only the primary key
 * is kept unique; indexes and UNIQUE are read and of no effect.  Defaults,
 * checks and foreign keys are refused rather than ignored.
 */
#include "db/store_db.h"

#include "base/error.h"

typedef struct reader {
    const char *at;
    hf_str word; /* the token the reader stands at; empty: the end */
} reader;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

static void next(reader *r)
{
    const char *c = r->at;
    size_t n = 0;

    while (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r')
        c++;
    while (is_letter(c[n]))
        n++;
    if (n == 0 && *c)
        n = 1;
    r->word = (hf_str){c, n};
    r->at = c + n;
}

static bool at_word(const reader *r, const char *word)
{
    return r->word.len > 0 && hf_str_same_name(r->word, hf_str_of(word));
}

static bool take(reader *r, const char *word)
{
    if (!at_word(r, word))
        return false;
    next(r);
    return true;
}

static hf_status unexpected(const reader *r, hf_error *err)
{
    char text[60];

    return hf_fail(err, HF_ERR_UNSUPPORTED,
                   r->word.len ? "the store does not understand \"%s\" here"
                               : "the statement ends too soon%s",
                   hf_quote(text, sizeof(text), r->word.ptr, r->word.len));
}

/* A name in lower case; empty: there is none. */
static hf_str take_name(reader *r, hf_arena *arena)
{
    hf_str name = {"", 0};
    char *copy;

    if (r->word.len == 0 || !is_letter(r->word.ptr[0]))
        return name;
    copy = hf_arena_text(arena, r->word.ptr, r->word.len);
    for (char *c = copy; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    name = (hf_str){copy, r->word.len};
    next(r);
    return name;
}

/* ---- columns ------------------------------------------------------------- */

typedef struct table_reader {
    reader r;
    hf_store_space *p;
    HF_VEC(hf_sql_column) columns;
    HF_VEC(uint32_t) key;
    hf_error *err;
} table_reader;

typedef struct type_name {
    const char *name;
    hf_sql_type type;
    uint8_t note;
} type_name;

static const type_name type_names[] = {
    {"int", HF_SQL_INT, HF_SQL_NOTE_INT4},
    {"integer", HF_SQL_INT, HF_SQL_NOTE_INT4},
    {"smallint", HF_SQL_INT, HF_SQL_NOTE_INT4},
    {"bigint", HF_SQL_INT, HF_SQL_NOTE_INT8},
    {"decimal", HF_SQL_DECIMAL, 0},
    {"numeric", HF_SQL_DECIMAL, 0},
    {"real", HF_SQL_REAL, 0},
    {"double", HF_SQL_REAL, 0},
    {"float", HF_SQL_REAL, 0},
    {"varchar", HF_SQL_TEXT, 0},
    {"char", HF_SQL_TEXT, 0},
    {"text", HF_SQL_TEXT, 0},
    {"boolean", HF_SQL_BOOL, 0},
    {"bool", HF_SQL_BOOL, 0},
};

static bool take_number(reader *r, int64_t *ret)
{
    if (!hf_str_to_int(r->word, ret) || *ret < 0 || *ret > 10000000)
        return false;
    next(r);
    return true;
}

/* (n) or (p,s): as the tree has it, see hf_sql_node.modifier. */
static bool take_modifier(reader *r, hf_sql_column *c)
{
    int64_t first, second = 0;

    c->modifier = -1;
    if (!take(r, "("))
        return true;
    if (!take_number(r, &first))
        return false;
    if (take(r, ",") && !take_number(r, &second))
        return false;
    c->modifier =
        (int32_t)(c->type == HF_SQL_DECIMAL ? first << 16 | second : first);
    return take(r, ")");
}

static hf_status take_column(table_reader *t, hf_str name)
{
    hf_sql_column c = {.name = name};
    const type_name *type = NULL;

    for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++)
        if (at_word(&t->r, type_names[i].name))
            type = &type_names[i];
    if (!type)
        return unexpected(&t->r, t->err);
    next(&t->r);
    (void)take(&t->r, "precision");
    c.type = type->type;
    c.note = type->note;
    if (!take_modifier(&t->r, &c))
        return unexpected(&t->r, t->err);
    for (;;) {
        if (take(&t->r, "not") && take(&t->r, "null")) {
            c.not_null = true;
        } else if (take(&t->r, "primary") && take(&t->r, "key")) {
            c.not_null = true;
            hf_vec_push(&t->key, (uint32_t)t->columns.n);
        } else if (!take(&t->r, "unique") && !take(&t->r, "null")) {
            break;
        }
    }
    hf_vec_push(&t->columns, c);
    return HF_OK;
}

/* (a, b): into the key if `is_key`. */
static hf_status take_columns(table_reader *t, bool is_key)
{
    if (!take(&t->r, "("))
        return unexpected(&t->r, t->err);
    do {
        hf_str name = take_name(&t->r, &t->p->arena);
        size_t i = 0;

        while (i < t->columns.n && !hf_str_eq(t->columns.at[i].name, name))
            i++;
        if (i == t->columns.n)
            return hf_fail(t->err, HF_ERR_INPUT, "there is no column \"%.*s\"",
                           (int)name.len, name.ptr);
        if (is_key) {
            t->columns.at[i].not_null = true;
            hf_vec_push(&t->key, (uint32_t)i);
        }
    } while (take(&t->r, ","));
    return take(&t->r, ")") ? HF_OK : unexpected(&t->r, t->err);
}

static hf_status take_part(table_reader *t)
{
    hf_str name;

    if (take(&t->r, "primary"))
        return take(&t->r, "key") ? take_columns(t, true)
                                  : unexpected(&t->r, t->err);
    if (take(&t->r, "unique"))
        return take_columns(t, false);
    name = take_name(&t->r, &t->p->arena);
    if (name.len == 0)
        return unexpected(&t->r, t->err);
    return take_column(t, name);
}

/* ---- tables -------------------------------------------------------------- */

/* By what most scans speak of: the beginning of a key of several columns, else
 * the first column that is not the key. */
static void choose_spread(hf_store_table *t)
{
    uint32_t first = 0;

    if (t->n_key > 1) {
        t->spread = HF_SPREAD_HASH;
        t->n_spread = t->n_key > 2 ? 2 : 1;
        for (uint32_t i = 0; i < t->n_spread; i++)
            t->spread_columns[i] = t->key[i];
        return;
    }
    while (first < t->n_columns &&
           (first == t->key[0] ||
            hf_str_eq(t->columns[first].name, HF_STR("_tag"))))
        first++;
    if (first == t->n_columns)
        return;
    if (t->columns[first].type == HF_SQL_INT)
        t->spread = HF_SPREAD_ORDER;
    else if (t->columns[first].type == HF_SQL_TEXT)
        t->spread = HF_SPREAD_HASH;
    else
        return;
    t->n_spread = 1;
    t->spread_columns[0] = first;
}

static void add_table(table_reader *r, hf_str name)
{
    hf_store_space *p = r->p;
    hf_store_table *t = hf_arena_get(&p->arena, sizeof(*t));

    t->name = name;
    t->number = (uint32_t)p->tables.n;
    t->n_columns = (uint32_t)r->columns.n;
    t->n_key = (uint32_t)r->key.n;
    t->columns = hf_arena_get(&p->arena, r->columns.n * sizeof(*t->columns));
    memcpy(t->columns, r->columns.at, r->columns.n * sizeof(*t->columns));
    t->key = hf_arena_get(&p->arena, r->key.n * sizeof(*t->key));
    memcpy(t->key, r->key.at, r->key.n * sizeof(*t->key));
    choose_spread(t);
    hf_vec_push(&p->tables, t);
    p->generation++;
}

static hf_status create_table(table_reader *t)
{
    bool may_exist = false;
    hf_status status = HF_OK;
    hf_str name;

    if (take(&t->r, "if"))
        may_exist = take(&t->r, "not") && take(&t->r, "exists");
    name = take_name(&t->r, &t->p->arena);
    if (name.len == 0 || !take(&t->r, "("))
        return unexpected(&t->r, t->err);
    if (hf_store_table_find(t->p, name))
        return may_exist ? HF_OK
                         : hf_fail(t->err, HF_ERR_INPUT,
                                   "the table \"%.*s\" is there already",
                                   (int)name.len, name.ptr);
    do
        status = take_part(t);
    while (status == HF_OK && take(&t->r, ","));
    if (status != HF_OK)
        return status;
    if (!take(&t->r, ")") || (t->r.word.len > 0 && !at_word(&t->r, ";")))
        return unexpected(&t->r, t->err);
    if (t->key.n == 0)
        return hf_fail(t->err, HF_ERR_UNSUPPORTED,
                       "the table \"%.*s\" needs a primary key", (int)name.len,
                       name.ptr);
    if (t->key.n > HF_STORE_KEY_COLUMNS)
        return hf_fail(t->err, HF_ERR_UNSUPPORTED,
                       "a primary key of more than %u columns",
                       HF_STORE_KEY_COLUMNS);
    add_table(t, name);
    return HF_OK;
}

static hf_status drop_table(table_reader *t)
{
    bool may_miss = take(&t->r, "if") && take(&t->r, "exists");
    hf_str name = take_name(&t->r, &t->p->arena);
    hf_store_table *table = hf_store_table_find(t->p, name);

    if (!table)
        return may_miss
                   ? HF_OK
                   : hf_fail(t->err, HF_ERR_INPUT, "there is no table \"%.*s\"",
                             (int)name.len, name.ptr);
    table->name.len = 0;
    t->p->generation++;
    return HF_OK;
}

bool hf_store_is_definition(const char *sql)
{
    reader r = {.at = sql};

    next(&r);
    return at_word(&r, "create") || at_word(&r, "drop");
}

hf_status hf_store_define(hf_store_space *p, const char *sql, hf_error *err)
{
    table_reader t = {.r = {.at = sql}, .p = p, .err = err};
    hf_status status;
    bool create;

    next(&t.r);
    create = take(&t.r, "create");
    if (!create)
        next(&t.r);
    (void)take(&t.r, "unique");
    if (take(&t.r, "table"))
        status = create ? create_table(&t) : drop_table(&t);
    else if (at_word(&t.r, "index"))
        status = HF_OK;
    else
        status = unexpected(&t.r, err);
    hf_vec_release(&t.columns);
    hf_vec_release(&t.key);
    return status;
}

/* cache.c: conditions and statements, parsed once for each text.
 *
 * A hash of the text leads to a chain of entries; failures are kept like
 * results, so a text that is not understood costs one parse as well.
 */
#include "sql/cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "sql/shape.h"

typedef enum entry_kind {
    STATEMENT,
    CONDITION,
    SHAPE /* a condition with parameters for its numbers (shape.h) */
} entry_kind;

typedef struct entry {
    hf_str text;
    uint32_t next; /* same hash; UINT32_MAX: none */
    entry_kind kind;
    const hf_sql_expr *expr;
    const hf_sql_statement *statement;
    hf_error *err; /* if neither */
} entry;

typedef HF_VEC(hf_str) column_list;

struct hf_sql_cache {
    hf_sql_dialect dialect;
    hf_arena arena;
    column_list names; /* scratch: of the condition that is being made */
    hf_map by_hash;    /* to the first entry */
    HF_VEC(entry) entries;
};

hf_sql_cache *hf_sql_cache_new(hf_sql_dialect dialect)
{
    hf_sql_cache *c = HF_NEW(hf_sql_cache);

    c->dialect = dialect;
    hf_arena_init(&c->arena);
    hf_map_init(&c->by_hash);
    return c;
}

void hf_sql_cache_free(hf_sql_cache *c)
{
    if (!c)
        return;
    hf_map_release(&c->by_hash);
    hf_vec_release(&c->entries);
    hf_vec_release(&c->names);
    hf_arena_release(&c->arena);
    hf_free(c);
}

hf_sql_dialect hf_sql_cache_dialect(const hf_sql_cache *c)
{
    return c->dialect;
}

/* ---- a condition -------------------------------------------------------- */

/* Columns are numbered as they are met; their types are not known. */
static bool number_column(hf_sql_binder *b, hf_str table, hf_str name,
                          hf_sql_column_info *ret)
{
    column_list *names = b->user;
    size_t i = 0;

    (void)table; /* there is one row only */
    while (i < names->n && !hf_str_eq(names->at[i], name))
        i++;
    if (i == names->n)
        hf_vec_push(names, name);
    *ret = (hf_sql_column_info){
        .slot = (uint32_t)i,
        .type = HF_SQL_TYPE_ANY,
        .affinity = HF_AFFINITY_UNSAID,
    };
    return true;
}

/* `shape`: gives the values of parameters; or NULL. */
static const hf_sql_expr *make_expr(hf_sql_cache *c, const hf_sql_node *where,
                                    const hf_sql_shape *shape, hf_error *err)
{
    hf_sql_value numbers[HF_SHAPE_NUMBERS];
    hf_sql_binder b = {.dialect = c->dialect,
                       .arena = &c->arena,
                       .column = number_column,
                       .params = numbers,
                       .n_params = shape ? shape->n : 0,
                       .user = &c->names};
    hf_sql_expr *e = hf_arena_get(&c->arena, sizeof(*e));

    for (uint32_t i = 0; shape && i < shape->n; i++) {
        numbers[i] = hf_sql_of_int(shape->numbers[i]);
        numbers[i].note = HF_SQL_NOTE_INT4;
    }

    c->names.n = 0;
    b.err = err;
    e->root = hf_sql_bind_truth(&b, where);
    if (e->root) {
        e->dialect = c->dialect;
        e->n_columns = (uint32_t)c->names.n;
        e->columns = hf_arena_get(&c->arena, (c->names.n + 1) * sizeof(hf_str));
        if (c->names.n > 0)
            memcpy(e->columns, c->names.at, c->names.n * sizeof(hf_str));
        hf_sql_find_bounds(e, &c->arena);
    }
    return e->root ? e : NULL;
}

/* ---- looking up --------------------------------------------------------- */

static const entry *look_up(hf_sql_cache *c, hf_str text, entry_kind kind);

/* A condition whose shape is known: NULL if it has none, or if that is not
 * understood. */
static const hf_sql_expr *fill_shape(hf_sql_cache *c, hf_str text)
{
    hf_sql_shape shape;
    const entry *e;
    hf_error err;

    if (!hf_sql_shape_of(text, &shape))
        return NULL;
    e = look_up(c, (hf_str){shape.text, shape.length}, SHAPE);
    if (!e->statement)
        return NULL;
    return make_expr(c, e->statement->select->where, &shape, &err);
}

static void parse_into(hf_sql_cache *c, entry *e)
{
    hf_error err = {.text = "not understood"};
    const hf_sql_statement *s;

    if (e->kind == CONDITION && (e->expr = fill_shape(c, e->text)))
        return;
    s = hf_sql_parse_text(&c->arena, e->text, e->kind != STATEMENT, &err);
    if (s && e->kind == CONDITION)
        e->expr = make_expr(c, s->select->where, NULL, &err);
    else
        e->statement = s;
    if (!e->expr && !e->statement) {
        e->err = hf_arena_get(&c->arena, sizeof(err));
        *e->err = err;
    }
}

static const entry *look_up(hf_sql_cache *c, hf_str text, entry_kind kind)
{
    uint64_t hash = XXH3_64bits(text.ptr, text.len) ^ kind;
    uint32_t first = hf_map_get(&c->by_hash, hash);
    entry made = {.next = first, .kind = kind};

    for (uint32_t i = first; i != UINT32_MAX; i = c->entries.at[i].next)
        if (c->entries.at[i].kind == kind &&
            hf_str_eq(c->entries.at[i].text, text))
            return &c->entries.at[i];
    made.text =
        (hf_str){hf_arena_text(&c->arena, text.ptr, text.len), text.len};
    parse_into(c, &made);
    hf_vec_push(&c->entries, made);
    hf_map_set(&c->by_hash, hash, (uint32_t)c->entries.n - 1);
    return &c->entries.at[c->entries.n - 1];
}

const hf_sql_expr *hf_sql_condition(hf_sql_cache *c, hf_str text, hf_error *err)
{
    const entry *e = look_up(c, text, CONDITION);

    if (!e->expr && err)
        *err = *e->err;
    return e->expr;
}

const hf_sql_statement *hf_sql_parse(hf_sql_cache *c, hf_str text,
                                     hf_error *err)
{
    const entry *e = look_up(c, text, STATEMENT);

    if (!e->statement && err)
        *err = *e->err;
    return e->statement;
}

/* ---- using a condition -------------------------------------------------- */

uint32_t hf_sql_n_columns(const hf_sql_expr *e)
{
    return e->n_columns;
}

hf_str hf_sql_column_name(const hf_sql_expr *e, uint32_t column)
{
    HF_ASSERT(column < e->n_columns);
    return e->columns[column];
}

hf_sql_truth hf_sql_test(const hf_sql_expr *e, const hf_sql_value *columns,
                         hf_error *err)
{
    hf_sql_eval ev;
    hf_sql_truth t;

    ev.dialect = e->dialect;
    ev.strict = false;
    ev.frame.row = columns;
    ev.frame.outer = NULL;
    ev.arena = NULL;
    ev.has_own = false;
    ev.err = err;
    ev.status = HF_OK;
    ev.subquery = NULL;
    t = hf_sql_truth_of(&ev, e->root);
    if (ev.has_own)
        hf_arena_release(&ev.own);
    return t;
}

/* extra.c: the layout of hf_history.extra.
 *
 *   predicate  flags, table, condition, n_columns, n_versions, n_results,
 *              result (3), columns, versions (2 each), results (2 each),
 *              snapshot (2, if the flags say so): a time, or the id of a text
 *   increment  amount low, amount high, has_result, before, after
 *   sql        text, n_params, has_rows, n_rows, n_columns, affected low,
 *              affected high, names, params (3 each), cells (3 each)
 */
#include "history/extra.h"

#include <string.h>

#include "base/error.h"
#include "history/builder_internal.h"
#include "history/snapshot.h"

#define PREDICATE_HEAD HF_EXTRA_PREDICATE_HEAD
#define INCREMENT_HEAD 5
#define SQL_HEAD 7
#define HAS_VERSIONS 1u
#define HAS_RESULTS 2u
#define HAS_ROOM 4u /* for a snapshot: the last two words */
#define BY_TIME 8u
#define BY_IDS 16u

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

hf_predicate hf_op_predicate(const hf_history *h, hf_op_id op)
{
    const uint32_t *w = h->extra + h->op_value[op];
    uint32_t flags = w[0];
    hf_predicate p = {
        .table = w[1],
        .condition = w[2],
        .n_columns = w[3],
        .columns = w + PREDICATE_HEAD,
        .has_version_set = flags & HAS_VERSIONS,
        .has_result_set = (flags & HAS_RESULTS) != 0,
        .n_versions = w[4],
        .n_results = w[5],
        .result = hf_extra_scalar(h, w + 6),
    };

    w += PREDICATE_HEAD + p.n_columns;
    p.versions = (const hf_version_ref *)(const void *)w;
    p.results = p.versions + p.n_versions;
    p.snapshot_ids = HF_NONE;
    if (flags & (BY_TIME | BY_IDS)) {
        w += 2 * ((size_t)p.n_versions + p.n_results);
        p.snapshot = flags & BY_TIME ? HF_SNAPSHOT_TIME : HF_SNAPSHOT_IDS;
        if (flags & BY_TIME)
            p.snapshot_time = join(w[0], w[1]);
        else
            p.snapshot_ids = w[0];
    }
    return p;
}

uint32_t hf_op_n_versions(const hf_history *h, hf_op_id op)
{
    return h->extra[h->op_value[op] + 4];
}

uint64_t hf_op_n_refs(const hf_history *h, hf_op_id op)
{
    const uint32_t *w = h->extra + h->op_value[op];

    return (uint64_t)w[4] + w[5];
}

hf_snapshot_kind hf_op_snapshot_kind(const hf_history *h, hf_op_id op)
{
    uint32_t flags = h->extra[h->op_value[op]];

    if (flags & BY_TIME)
        return HF_SNAPSHOT_TIME;
    return flags & BY_IDS ? HF_SNAPSHOT_IDS : HF_SNAPSHOT_NONE;
}

hf_increment hf_op_increment(const hf_history *h, hf_op_id op)
{
    const uint32_t *w = h->extra + h->op_value[op];

    return (hf_increment){.amount = (int64_t)join(w[0], w[1]),
                          .has_result = w[2] != 0,
                          .before = w[3],
                          .after = w[4]};
}

hf_sql hf_op_sql(const hf_history *h, hf_op_id op)
{
    const uint32_t *w = h->extra + h->op_value[op];
    hf_sql s = {
        .text = w[0],
        .n_params = w[1],
        .has_rows = w[2] != 0,
        .n_rows = w[3],
        .n_columns = w[4],
        .affected = join(w[5], w[6]),
        .names = w + SQL_HEAD,
    };

    s.params = s.names + s.n_columns;
    s.cells = s.params + 3 * (size_t)s.n_params;
    return s;
}

hf_scalar hf_extra_scalar(const hf_history *h, const uint32_t *words)
{
    hf_scalar s = {.type = (hf_scalar_type)words[0]};

    if (s.type == HF_INT || s.type == HF_BOOL) {
        s.number = (int64_t)join(words[1], words[2]);
    } else if (s.type != HF_NIL) {
        hf_str text = hf_string(h, words[1]);

        s.text = text.ptr;
        s.length = text.len;
    }
    return s;
}

/* ---- building ------------------------------------------------------------ */

static void put(hf_builder *b, uint32_t word)
{
    hf_vec_push(&b->extra, word);
}

static void put_string(hf_builder *b, hf_scalar s)
{
    put(b, s.type == HF_NIL ? HF_NONE : hf_builder_string(b, s.text, s.length));
}

static void put_scalar(hf_builder *b, hf_scalar s)
{
    uint64_t data = (uint64_t)s.number;

    if (s.type == HF_NIL)
        data = 0;
    else if (s.type != HF_INT && s.type != HF_BOOL)
        data = hf_builder_string(b, s.text, s.length);
    put(b, (uint32_t)s.type);
    put(b, (uint32_t)data);
    put(b, (uint32_t)(data >> 32));
}

static void put_versions(hf_builder *b, const hf_version_ref *refs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put(b, refs[i].value);
        put(b, refs[i].writer);
    }
}

/* The offset the next words will have; fails the builder if there is no room
 * for `words` more. */
static uint32_t begin_extra(hf_builder *b, uint64_t words)
{
    if (b->extra.n + words >= HF_NONE) {
        hf_builder_fail(b, HF_ERR_LIMIT,
                        "more than 2^32 words of predicates and statements");
        return HF_NONE;
    }
    if (hf_builder_grow_refused(b, words * sizeof(uint32_t)))
        return HF_NONE;
    return (uint32_t)b->extra.n;
}

hf_op_id hf_builder_increment(hf_builder *b, hf_txn_id t, hf_key_id key,
                              int64_t amount, hf_value_id before,
                              hf_value_id after)
{
    uint32_t at = begin_extra(b, INCREMENT_HEAD);
    bool known = before != HF_NONE && after != HF_NONE;

    if (at == HF_NONE)
        return HF_NONE;
    put(b, (uint32_t)(uint64_t)amount);
    put(b, (uint32_t)((uint64_t)amount >> 32));
    put(b, known);
    put(b, known ? before : HF_NONE);
    put(b, known ? after : HF_NONE);
    return hf_builder_op(b, t, HF_OP_INCREMENT, key, at);
}

static uint64_t predicate_words(const uint32_t *w)
{
    return PREDICATE_HEAD + (uint64_t)w[3] + 2 * ((uint64_t)w[4] + w[5]) +
           (w[0] & HAS_ROOM ? 2 : 0);
}

void hf_builder_snapshot(hf_builder *b, hf_op_id op, hf_scalar snapshot)
{
    uint32_t *w, *place;
    uint64_t data = (uint64_t)snapshot.number;

    if (snapshot.type == HF_NIL || hf_builder_failed(b))
        return;
    w = b->extra.at + b->h->op_value[op];
    if (w[0] & (HAS_VERSIONS | BY_TIME | BY_IDS))
        return;
    if (snapshot.type == HF_TEXT) {
        if (!hf_snapshot_text_ok((hf_str){snapshot.text, snapshot.length})) {
            hf_builder_fail(b, HF_ERR_INPUT,
                            "a snapshot is not of the form xmin:xmax:xid,xid");
            return;
        }
        data = hf_builder_string(b, snapshot.text, snapshot.length);
    } else if (snapshot.type != HF_INT || snapshot.number < 0) {
        hf_builder_fail(b, HF_ERR_INPUT,
                        "a snapshot is neither a time nor a text");
        return;
    }
    place = w + predicate_words(w) - 2;
    w[0] |= snapshot.type == HF_TEXT ? BY_IDS : BY_TIME;
    place[0] = (uint32_t)data;
    place[1] = (uint32_t)(data >> 32);
}

/* count(*) has no column. */
static uint32_t columns_of(unsigned kind, const hf_predicate_in *p)
{
    bool star = (kind & HF_OP_KIND_MASK) == HF_OP_COUNT_ROWS &&
                p->n_columns == 1 && p->columns[0].type == HF_TEXT &&
                p->columns[0].length == 1 && p->columns[0].text[0] == '*';

    return star ? 0 : p->n_columns;
}

hf_op_id hf_builder_predicate(hf_builder *b, hf_txn_id t, unsigned kind,
                              const hf_predicate_in *p)
{
    uint32_t n_columns = columns_of(kind, p);
    uint64_t words = PREDICATE_HEAD + (uint64_t)n_columns +
                     2 * ((uint64_t)p->n_versions + p->n_results) + 2;
    uint32_t at = begin_extra(b, words);
    hf_op_id op;

    if (at == HF_NONE)
        return HF_NONE;
    put(b, HAS_ROOM | (p->has_version_set ? HAS_VERSIONS : 0) |
               (p->has_result_set ? HAS_RESULTS : 0));
    put_string(b, p->table);
    put_string(b, p->condition);
    put(b, n_columns);
    put(b, p->n_versions);
    put(b, p->n_results);
    put_scalar(b, p->result);
    for (uint32_t i = 0; i < n_columns; i++)
        put_string(b, p->columns[i]);
    put_versions(b, p->versions, p->n_versions);
    put_versions(b, p->results, p->n_results);
    put(b, 0);
    put(b, 0);
    op = hf_builder_op(b, t, kind, HF_NONE, at);
    if (op != HF_NONE)
        hf_builder_snapshot(b, op, p->snapshot);
    return op;
}

hf_op_id hf_builder_sql(hf_builder *b, hf_txn_id t, const hf_sql_in *s)
{
    uint64_t cells = (uint64_t)s->n_rows * s->n_columns;
    uint64_t words =
        SQL_HEAD + (uint64_t)s->n_columns + 3 * (s->n_params + cells);
    uint32_t at = begin_extra(b, words);

    if (at == HF_NONE)
        return HF_NONE;
    put_string(b, s->text);
    put(b, s->n_params);
    put(b, s->has_rows);
    put(b, s->n_rows);
    put(b, s->n_columns);
    put(b, (uint32_t)s->affected);
    put(b, (uint32_t)(s->affected >> 32));
    for (uint32_t i = 0; i < s->n_columns; i++)
        put_string(b, s->names[i]);
    for (uint32_t i = 0; i < s->n_params; i++)
        put_scalar(b, s->params[i]);
    for (uint64_t i = 0; i < cells; i++)
        put_scalar(b, s->cells[i]);
    return hf_builder_op(b, t, HF_OP_SQL, HF_NONE, at);
}

/* ---- checking ------------------------------------------------------------ */

static bool string_ok(const hf_history *h, uint32_t id)
{
    return id == HF_NONE || id < h->n_strings;
}

static bool scalar_ok(const hf_history *h, const uint32_t *w)
{
    if (w[0] == HF_NIL || w[0] == HF_INT || w[0] == HF_BOOL)
        return true;
    return w[0] < HF_LIST && w[1] < h->n_strings;
}

static bool versions_ok(const hf_history *h, const uint32_t *w, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, w += 2)
        if (w[0] >= h->n_values ||
            (w[1] < HF_WRITER_INITIAL && w[1] >= h->n_txns))
            return false;
    return true;
}

static bool snapshot_ok(const hf_history *h, const uint32_t *w,
                        const uint32_t *place)
{
    switch (w[0] & (HAS_VERSIONS | HAS_ROOM | BY_TIME | BY_IDS)) {
    case 0:
    case HAS_VERSIONS:
    case HAS_ROOM:
    case HAS_VERSIONS | HAS_ROOM:
        return true;
    case HAS_ROOM | BY_TIME:
        return place[1] >> 31 == 0;
    case HAS_ROOM | BY_IDS:
        return place[0] < h->n_strings &&
               hf_snapshot_text_ok(hf_string(h, place[0]));
    default:
        return false;
    }
}

static bool predicate_ok(const hf_history *h, const uint32_t *w, uint64_t left)
{
    uint64_t words;

    if (left < PREDICATE_HEAD)
        return false;
    words = predicate_words(w);
    if (words > left || !string_ok(h, w[1]) || w[2] >= h->n_strings ||
        !scalar_ok(h, w + 6) || !snapshot_ok(h, w, w + words - 2))
        return false;
    for (uint32_t i = 0; i < w[3]; i++)
        if (w[PREDICATE_HEAD + i] >= h->n_strings)
            return false;
    return versions_ok(h, w + PREDICATE_HEAD + w[3], (uint64_t)w[4] + w[5]);
}

static bool increment_ok(const hf_history *h, const uint32_t *w, uint64_t left,
                         hf_key_id key)
{
    if (left < INCREMENT_HEAD)
        return false;
    if (w[2] == 0)
        return w[3] == HF_NONE && w[4] == HF_NONE;
    return w[3] < h->n_values && w[4] < h->n_values &&
           h->value_key[w[3]] == key && h->value_key[w[4]] == key;
}

/* Rows without columns take no room in the file: a small one could claim
 * thousands of millions. */
#define BARE_ROWS 4096u

static bool sql_ok(const hf_history *h, const uint32_t *w, uint64_t left)
{
    uint64_t words, scalars;

    if (left < SQL_HEAD || (w[4] == 0 && w[3] > BARE_ROWS))
        return false;
    scalars = w[1] + (uint64_t)w[3] * w[4];
    if (scalars > left)
        return false;
    words = SQL_HEAD + (uint64_t)w[4] + 3 * scalars;
    if (words > left || w[0] >= h->n_strings)
        return false;
    for (uint32_t i = 0; i < w[4]; i++)
        if (w[SQL_HEAD + i] >= h->n_strings)
            return false;
    for (uint64_t i = 0; i < scalars; i++)
        if (!scalar_ok(h, w + SQL_HEAD + w[4] + 3 * i))
            return false;
    return true;
}

bool hf_extra_is_valid(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    uint32_t at = h->op_value[op];
    uint64_t left;

    if (at >= h->n_extra)
        return false;
    left = h->n_extra - at;
    if (kind == HF_OP_SQL)
        return sql_ok(h, h->extra + at, left);
    if (kind == HF_OP_INCREMENT)
        return increment_ok(h, h->extra + at, left, h->op_key[op]);
    return predicate_ok(h, h->extra + at, left);
}

void hf_extra_forget_writers(hf_history *h, hf_op_id op)
{
    uint64_t at = h->op_value[op], n;
    const uint32_t *w = h->extra + at;

    if (at + PREDICATE_HEAD > h->n_extra)
        return;
    n = (uint64_t)w[4] + w[5];
    at += PREDICATE_HEAD + (uint64_t)w[3];
    if (at + 2 * n > h->n_extra)
        return;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t *writer = &h->extra[at + 2 * i + 1];

        if (*writer >= h->n_txns && *writer < HF_WRITER_INITIAL)
            *writer = HF_NONE;
    }
}

void hf_extra_set_versions(uint32_t *words, bool has_versions, uint32_t n)
{
    words[0] &= ~(HAS_ROOM | BY_TIME | BY_IDS | HAS_VERSIONS);
    words[0] |= has_versions ? HAS_VERSIONS : 0;
    words[4] = n;
}

uint32_t hf_extra_put_items(const hf_history *h, hf_op_id op,
                            hf_string_id true_text, uint32_t *ret)
{
    hf_predicate p = hf_op_predicate(h, op);
    bool aggregate = hf_op_is_aggregate(hf_op_kind_of(h, op));
    uint32_t n = aggregate ? 0 : p.n_results, at = PREDICATE_HEAD;

    memset(ret, 0, PREDICATE_HEAD * sizeof(*ret));
    ret[0] = HAS_VERSIONS | (aggregate ? 0 : HAS_RESULTS);
    ret[1] = p.table;
    ret[2] = true_text;
    ret[4] = ret[5] = n;
    ret[6] = HF_NIL;
    for (uint32_t i = 0; i < 2 * n; i++) {
        ret[at++] = p.results[i % n].value;
        ret[at++] = p.results[i % n].writer;
    }
    return at;
}

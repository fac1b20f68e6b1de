/* tiny.c: building, printing, parsing and shrinking tiny histories. */
#include "tiny.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/text.h"

static const char key_names[] = "xyzk";

tiny_history tiny_empty(void)
{
    tiny_history t;

    memset(&t, 0, sizeof(t));
    t.n_keys = TINY_KEYS;
    for (int k = 0; k < TINY_KEYS; k++)
        t.initial[k] = TINY_NIL;
    return t;
}

/* ---- building ------------------------------------------------------------ */

typedef struct making {
    const tiny_history *t;
    hf_builder *b;
    hf_key_id keys[TINY_KEYS];
} making;

static hf_scalar text_of(const char *text)
{
    return (hf_scalar){HF_TEXT, 0, text, strlen(text)};
}

static hf_value_id value_of(const making *m, int key, int value)
{
    hf_key_id k = m->keys[key];
    char text[80];

    if (value == TINY_UNRECORDED)
        return HF_NONE;
    if (value == TINY_NIL)
        return hf_builder_nil(m->b, k);
    if (!m->t->is_row[key])
        return hf_builder_int(m->b, k, value);
    row_text(value, text, sizeof(text));
    return hf_builder_value(m->b, k,
                            (hf_scalar){HF_ROW, 0, text, strlen(text)});
}

/* What the list has to begin with. */
static hf_value_id begun_list(const making *m, int k)
{
    hf_value_id list = hf_builder_nil(m->b, m->keys[k]);

    for (int i = 0; i < m->t->n_begun[k]; i++)
        list = hf_builder_list(
            m->b, m->keys[k], list,
            hf_builder_int(m->b, m->keys[k], m->t->begun[k][i]));
    return list;
}

static hf_value_id list_of(const making *m, const tiny_op *op)
{
    hf_key_id key = m->keys[op->key];
    hf_value_id list = begun_list(m, op->key);

    for (int i = 0; i < op->n_items; i++)
        list = hf_builder_list(m->b, key, list,
                               hf_builder_int(m->b, key, op->items[i]));
    return list;
}

static bool is_aggregate(const tiny_op *op)
{
    return hf_op_is_aggregate(op->kind);
}

static hf_scalar result_of(const tiny_op *op, char *text, size_t size)
{
    int n;

    if (op->kind != HF_OP_AVG)
        return (hf_scalar){.type = HF_INT, .number = op->value};
    n = snprintf(text, size, "%.6f", (double)op->value / TINY_AVERAGE);
    return (hf_scalar){HF_REAL, 0, text, (uint64_t)n};
}

static void build_sets(const making *m, const tiny_op *op,
                       hf_version_ref *versions, hf_version_ref *results,
                       hf_predicate_in *p)
{
    p->versions = versions;
    p->results = results;
    p->has_version_set = op->set == TINY_SET_LISTED;
    p->has_result_set =
        is_aggregate(op) ? op->value != TINY_UNRECORDED : !op->no_rows;
    for (int i = 0; i < op->n_entries; i++) {
        const tiny_entry *e = &op->entries[i];
        hf_version_ref ref = {value_of(m, e->key, e->value), HF_NONE};

        if (e->writer != 0)
            ref.writer = e->writer == TINY_INITIAL ? HF_WRITER_INITIAL
                                                   : (hf_txn_id)e->writer - 1;
        if (p->has_version_set && !e->unlisted)
            versions[p->n_versions++] = ref;
        ref.writer = HF_NONE;
        if (!is_aggregate(op) && !op->no_rows && e->returned)
            results[p->n_results++] = ref;
    }
}

static void build_predicate(const making *m, hf_txn_id id, const tiny_op *op)
{
    hf_version_ref versions[TINY_ENTRIES], results[TINY_ENTRIES];
    char number[40], text[80], name[2] = {op->column, '\0'};
    hf_scalar column = text_of(op->column == 'v' ? "value" : name);
    hf_predicate_in p = {.columns = &column, .n_columns = op->column != 0};

    condition_text(op->where, text, sizeof(text));
    p.condition = text_of(text);
    if (op->on_rows)
        p.table = text_of("t");
    build_sets(m, op, versions, results, &p);
    if (is_aggregate(op) && op->value >= 0)
        p.result = result_of(op, number, sizeof(number));
    if (op->set == TINY_SET_TIME)
        p.snapshot = (hf_scalar){.type = HF_INT, .number = op->time};
    else if (op->set == TINY_SET_IDS)
        p.snapshot = text_of(op->ids);
    (void)hf_builder_predicate(m->b, id, op->kind, &p);
}

static void build_op(const making *m, hf_txn_id id, const tiny_op *op)
{
    unsigned kind = (unsigned)op->kind | (op->failed ? HF_OP_FAILED : 0);
    hf_key_id key = m->keys[op->key];

    if (hf_op_has_predicate(op->kind)) {
        build_predicate(m, id, op);
    } else if (op->kind == HF_OP_INCREMENT) {
        bool known = op->value != TINY_UNRECORDED;

        (void)hf_builder_increment(
            m->b, id, key, known ? op->value - op->before : 1,
            known ? value_of(m, op->key, op->before) : HF_NONE,
            value_of(m, op->key, op->value));
    } else if (op->kind == HF_OP_READ_LIST) {
        (void)hf_builder_op(m->b, id, kind, key,
                            op->value == TINY_UNRECORDED ? HF_NONE
                                                         : list_of(m, op));
    } else {
        (void)hf_builder_op(m->b, id, kind, key,
                            value_of(m, op->key, op->value));
    }
}

static void build_txn(const making *m, const tiny_txn *x)
{
    hf_session_id s = x->session < 0
                          ? hf_builder_session_fresh(m->b)
                          : hf_builder_session_number(m->b, x->session);
    hf_txn_id id = hf_builder_txn(m->b, s);

    hf_builder_outcome(m->b, id, x->outcome);
    if (x->begin >= 0 || x->end >= 0)
        hf_builder_times(m->b, id,
                         x->begin < 0 ? HF_TIME_NONE : (uint64_t)x->begin,
                         x->end < 0 ? HF_TIME_NONE : (uint64_t)x->end);
    if (x->id != 0)
        hf_builder_label(m->b, id, x->id);
    if (x->level != 0)
        hf_builder_level(m->b, id, (uint8_t)(x->level - 1));
    if (x->commit_ts != 0)
        hf_builder_timestamps(m->b, id, HF_TIME_NONE, (uint64_t)x->commit_ts);
    for (int i = 0; i < x->n_ops; i++)
        build_op(m, id, &x->ops[i]);
}

static hf_key_id build_key(const making *m, int k)
{
    hf_scalar number = {.type = HF_INT, .number = k + 1};

    return m->t->is_row[k] ? hf_builder_key_row(
                                 m->b, hf_builder_string(m->b, "t", 1), number)
                           : hf_builder_key_text(m->b, key_names + k, 1);
}

hf_history *tiny_build(const tiny_history *t, hf_error *err)
{
    making m = {.t = t, .b = hf_builder_new()};
    hf_history *h = NULL;

    for (int k = 0; k < t->n_keys; k++) {
        m.keys[k] = build_key(&m, k);
        if (t->initial[k] != TINY_NIL)
            hf_builder_initial(m.b, m.keys[k], value_of(&m, k, t->initial[k]));
        if (t->n_begun[k] > 0)
            hf_builder_initial(m.b, m.keys[k], begun_list(&m, k));
    }
    for (int i = 0; i < t->n_txns; i++)
        build_txn(&m, &t->txns[i]);
    for (int k = 0; k < t->n_keys; k++)
        for (int i = 0; i < t->n_order[k]; i++)
            hf_builder_order(m.b, m.keys[k], (hf_txn_id)t->order[k][i]);
    hf_builder_partial_orders(m.b, true);
    hf_builder_unique_values(m.b, t->unique);
    if (hf_builder_finish(m.b, &h, err) != HF_OK)
        return NULL;
    return h;
}

void tiny_free(hf_history *h)
{
    hf_history_free(h);
}

void tiny_print(const tiny_history *t, FILE *f)
{
    hf_error err;
    hf_history *h = tiny_build(t, &err);
    hf_out out;

    if (!h) {
        fprintf(f, "not built: %s\n", err.text);
        return;
    }
    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    fprintf(f, "%.*s", (int)out.n, out.at);
    hf_out_release(&out);
    tiny_free(h);
}

/* ---- the notation of the fixtures ---------------------------------------- */

static void bad_fixture(const char *text, const char *at)
{
    fprintf(stderr, "bad fixture \"%s\" at \"%s\"\n", text, at);
    exit(2);
}

static int key_of(const char *text, const char *at)
{
    const char *p = *at ? strchr(key_names, *at) : NULL;

    if (!p)
        bad_fixture(text, at);
    return (int)(p - key_names);
}

/* "p<5(x1y0)x" */
static tiny_op parse_predicate(const char *text, const char **at)
{
    tiny_op op = {.value = TINY_NIL};

    op.kind = **at == 'p' ? HF_OP_PREDICATE_READ : HF_OP_PREDICATE_UPDATE;
    op.where.form = *++*at;
    if (op.where.form != 't')
        op.where.p = *++*at - '0';
    *at += 2;
    for (; **at && **at != ')'; *at += 2) {
        tiny_entry *e = &op.entries[op.n_entries++];

        e->key = key_of(text, *at);
        e->value = (*at)[1] == '0' ? TINY_NIL : (*at)[1] - '0';
    }
    while (*++*at && **at != ' ')
        for (int i = 0; i < op.n_entries; i++)
            if (op.entries[i].key == key_of(text, *at))
                op.entries[i].returned = true;
    return op;
}

/* One operation at *at; moves *at behind it. */
static tiny_op parse_op(const char *text, const char **at, bool *is_list)
{
    static const char letters[] = "rwidal";
    static const hf_op_kind kinds[] = {HF_OP_READ,   HF_OP_WRITE,
                                       HF_OP_INSERT, HF_OP_DELETE,
                                       HF_OP_APPEND, HF_OP_READ_LIST};
    const char *letter = strchr(letters, **at);
    tiny_op op = {0};

    if (**at == 'p' || **at == 'u')
        return parse_predicate(text, at);
    if (!letter)
        bad_fixture(text, *at);
    op.kind = kinds[letter - letters];
    op.key = key_of(text, *at + 1);
    *at += 2;
    if (op.kind == HF_OP_READ_LIST) {
        while (isdigit((unsigned char)**at))
            op.items[op.n_items++] = *(*at)++ - '0';
        op.value = TINY_NIL;
    } else {
        op.value = TINY_NIL;
        if (isdigit((unsigned char)**at))
            op.value = *(*at)++ - '0';
        if (op.kind == HF_OP_READ && op.value == 0)
            op.value = TINY_NIL;
    }
    if (op.kind == HF_OP_APPEND || op.kind == HF_OP_READ_LIST)
        is_list[op.key] = true;
    return op;
}

static const char *parse_txn(const char *text, const char *at, tiny_history *t)
{
    tiny_txn *x = &t->txns[t->n_txns++];

    x->session = x->begin = x->end = -1;
    while (*at && *at != '|' && *at != '/') {
        if (*at == ' ') {
            at++;
        } else if (at[1] == ':') {
            x->session = *at - 'a';
            at += 2;
        } else if (*at == '@') {
            char *end;

            x->begin = (int)strtol(at + 1, &end, 10);
            x->end = (int)strtol(end + 1, &end, 10);
            at = end;
        } else if (*at == '!') {
            x->outcome = at[1] == 'a' ? HF_ABORTED : HF_UNKNOWN_OUTCOME;
            at += 2;
        } else {
            x->ops[x->n_ops++] = parse_op(text, &at, t->is_list);
        }
    }
    return at;
}

tiny_history tiny_parse(const char *text)
{
    tiny_history t = tiny_empty();
    const char *at = text;

    for (t.n_keys = TINY_KEYS; t.n_keys > 1; t.n_keys--)
        if (strchr(text, key_names[t.n_keys - 1]))
            break;
    while (*at && *at != '/') {
        at = parse_txn(text, at, &t);
        if (*at == '|')
            at++;
    }
    while (*at) {
        if (*at == ' ' || *at == '/') {
            at++;
            continue;
        }
        if (*at == '!') { /* no value twice */
            t.unique = true;
            at++;
            continue;
        }
        int k = key_of(text, at);

        if (at[1] == '=') {
            t.initial[k] = at[2] - '0';
            at += 3;
            continue;
        }
        for (at += 2; isdigit((unsigned char)*at); at++)
            t.order[k][t.n_order[k]++] = *at - '1';
    }
    return t;
}

bool tiny_has_predicates(const tiny_history *t)
{
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++)
            if (hf_op_has_predicate(t->txns[i].ops[j].kind))
                return true;
    return false;
}

/* ---- shrinking ----------------------------------------------------------- */

static bool writes_key(const tiny_txn *x, int key)
{
    for (int i = 0; i < x->n_ops; i++)
        if (x->ops[i].key == key && !x->ops[i].failed &&
            hf_op_installs(x->ops[i].kind))
            return true;
    return false;
}

/* Takes transactions that no longer write the key out of its order. */
static void clean_orders(tiny_history *t)
{
    for (int k = 0; k < t->n_keys; k++) {
        int n = 0;

        for (int i = 0; i < t->n_order[k]; i++)
            if (writes_key(&t->txns[t->order[k][i]], k))
                t->order[k][n++] = t->order[k][i];
        t->n_order[k] = n;
    }
}

static bool tiny_has_ids(const tiny_history *t)
{
    for (int i = 0; i < t->n_txns; i++)
        for (int j = 0; j < t->txns[i].n_ops; j++)
            if (t->txns[i].ops[j].set == TINY_SET_IDS)
                return true;
    return false;
}

/* Places from 1. */
static void forget_writer(tiny_op *op, int place)
{
    for (int i = 0; i < op->n_entries; i++) {
        tiny_entry *e = &op->entries[i];

        if (e->writer == place)
            e->writer = 0;
        else if (e->writer > place)
            e->writer--;
    }
}

tiny_history tiny_without_txn(const tiny_history *t, int txn)
{
    tiny_history s = *t;

    for (int i = 0; i < s.n_txns; i++)
        if (tiny_has_ids(&s) && s.txns[i].id == 0)
            s.txns[i].id = i + 1; /* snapshots name them so */
    s.n_txns--;
    for (int i = txn; i < s.n_txns; i++)
        s.txns[i] = s.txns[i + 1];
    for (int i = 0; i < s.n_txns; i++)
        for (int j = 0; j < s.txns[i].n_ops; j++)
            forget_writer(&s.txns[i].ops[j], txn + 1);
    for (int k = 0; k < s.n_keys; k++) {
        int n = 0;

        for (int i = 0; i < s.n_order[k]; i++)
            if (s.order[k][i] != txn) {
                int o = s.order[k][i];

                s.order[k][n++] = o > txn ? o - 1 : o;
            }
        s.n_order[k] = n;
    }
    return s;
}

tiny_history tiny_without_op(const tiny_history *t, int txn, int op)
{
    tiny_history s = *t;
    tiny_txn *x = &s.txns[txn];

    x->n_ops--;
    for (int i = op; i < x->n_ops; i++)
        x->ops[i] = x->ops[i + 1];
    clean_orders(&s);
    return s;
}

/* One of the small simplifications of a transaction; false if there is no
 * such one. */
static bool simplify_txn(tiny_history *s, int txn, int which)
{
    tiny_txn *x = &s->txns[txn];

    switch (which) {
    case 0:
        if (x->outcome == HF_COMMITTED)
            return false;
        x->outcome = HF_COMMITTED;
        return true;
    case 1:
        if (x->session < 0)
            return false;
        x->session = -1;
        return true;
    case 2:
        if (x->begin < 0 && x->end < 0)
            return false;
        x->begin = x->end = -1;
        return true;
    default:
        return false;
    }
}

static bool simplify_key(tiny_history *s, int key, int which)
{
    if (which == 0 && s->n_order[key] > 0) {
        s->n_order[key] = 0;
        return true;
    }
    if (which == 1 && s->initial[key] != TINY_NIL) {
        s->initial[key] = TINY_NIL;
        return true;
    }
    return false;
}

/* Takes one entry out of a predicate operation, or keeps the entry and
 * forgets its writer; false if there is no such one. */
static bool simplify_op(tiny_op *op, int which)
{
    int i = which / 2;

    if (i >= op->n_entries)
        return false;
    if (which % 2) {
        if (op->entries[i].writer == 0)
            return false;
        op->entries[i].writer = 0;
        return true;
    }
    op->n_entries--;
    for (; i < op->n_entries; i++)
        op->entries[i] = op->entries[i + 1];
    return true;
}

/* The next smaller history, by number; false when there are no more. */
static bool candidate(const tiny_history *t, int number, tiny_history *ret,
                      bool *ret_applies)
{
    *ret_applies = true;
    if (number < t->n_txns) {
        *ret = tiny_without_txn(t, number);
        return true;
    }
    number -= t->n_txns;
    for (int i = 0; i < t->n_txns; i++) {
        if (number < t->txns[i].n_ops) {
            *ret = tiny_without_op(t, i, number);
            return true;
        }
        number -= t->txns[i].n_ops;
    }
    *ret = *t;
    for (int i = 0; i < t->n_txns; i++) {
        int n = 2 * TINY_ENTRIES * t->txns[i].n_ops;

        if (number < n) {
            *ret_applies =
                simplify_op(&ret->txns[i].ops[number / (2 * TINY_ENTRIES)],
                            number % (2 * TINY_ENTRIES));
            return true;
        }
        number -= n;
    }
    if (number < 3 * t->n_txns) {
        *ret_applies = simplify_txn(ret, number / 3, number % 3);
        return true;
    }
    number -= 3 * t->n_txns;
    if (number < 2 * t->n_keys) {
        *ret_applies = simplify_key(ret, number / 2, number % 2);
        return true;
    }
    number -= 2 * t->n_keys;
    *ret_applies = t->unique;
    ret->unique = false;
    return number == 0;
}

void tiny_shrink(tiny_history *t,
                 bool (*fails)(const tiny_history *t, void *user), void *user)
{
    tiny_history s;
    bool applies;

    for (int i = 0; candidate(t, i, &s, &applies);) {
        if (applies && fails(&s, user)) {
            *t = s;
            i = 0;
        } else {
            i++;
        }
    }
}

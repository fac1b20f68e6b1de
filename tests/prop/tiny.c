/* tiny.c: building, printing, parsing and shrinking tiny histories. */
#include "tiny.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char key_names[] = "xyz";

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

static hf_value_id value_of(hf_builder *b, hf_key_id key, int value)
{
    if (value == TINY_UNRECORDED)
        return HF_NONE;
    if (value == TINY_NIL)
        return hf_builder_nil(b, key);
    return hf_builder_int(b, key, value);
}

static hf_value_id list_of(hf_builder *b, hf_key_id key, const tiny_op *op)
{
    hf_value_id list = hf_builder_nil(b, key);

    for (int i = 0; i < op->n_items; i++)
        list =
            hf_builder_list(b, key, list, hf_builder_int(b, key, op->items[i]));
    return list;
}

/* The condition as text, in `text`. */
static void condition_of(const tiny_op *op, char *text, size_t size)
{
    if (op->comparison == 't')
        snprintf(text, size, "true");
    else
        snprintf(text, size, "value %c %d", op->comparison, op->bound);
}

static void build_predicate(hf_builder *b, hf_txn_id id, const hf_key_id *keys,
                            const tiny_op *op)
{
    hf_version_ref versions[TINY_KEYS + 1], results[TINY_KEYS + 1];
    hf_predicate_in p = {.has_version_set = true,
                         .has_result_set = true,
                         .versions = versions,
                         .results = results};
    char text[32];

    condition_of(op, text, sizeof(text));
    p.condition = (hf_scalar){HF_TEXT, 0, text, strlen(text)};
    for (int i = 0; i < op->n_entries; i++) {
        const tiny_entry *e = &op->entries[i];

        versions[i].value = value_of(b, keys[e->key], e->value);
        versions[i].writer = HF_NONE;
        if (e->returned)
            results[p.n_results++] = versions[i];
    }
    p.n_versions = (uint32_t)op->n_entries;
    (void)hf_builder_predicate(b, id, op->kind, &p);
}

static void build_op(hf_builder *b, hf_txn_id id, const hf_key_id *keys,
                     const tiny_op *op)
{
    unsigned kind = (unsigned)op->kind | (op->failed ? HF_OP_FAILED : 0);
    hf_key_id key = keys[op->key];

    if (hf_op_has_predicate(op->kind)) {
        build_predicate(b, id, keys, op);
    } else if (op->kind == HF_OP_INCREMENT) {
        bool known = op->value != TINY_UNRECORDED;

        (void)hf_builder_increment(
            b, id, key, known ? op->value - op->before : 1,
            known ? value_of(b, key, op->before) : HF_NONE,
            value_of(b, key, op->value));
    } else if (op->kind == HF_OP_READ_LIST) {
        (void)hf_builder_op(b, id, kind, key,
                            op->value == TINY_UNRECORDED ? HF_NONE
                                                         : list_of(b, key, op));
    } else {
        (void)hf_builder_op(b, id, kind, key, value_of(b, key, op->value));
    }
}

static void build_txn(hf_builder *b, const hf_key_id *keys, const tiny_txn *x)
{
    hf_session_id s = x->session < 0 ? hf_builder_session_fresh(b)
                                     : hf_builder_session_number(b, x->session);
    hf_txn_id id = hf_builder_txn(b, s);

    hf_builder_outcome(b, id, x->outcome);
    if (x->begin >= 0 || x->end >= 0)
        hf_builder_times(b, id,
                         x->begin < 0 ? HF_TIME_NONE : (uint64_t)x->begin,
                         x->end < 0 ? HF_TIME_NONE : (uint64_t)x->end);
    for (int i = 0; i < x->n_ops; i++)
        build_op(b, id, keys, &x->ops[i]);
}

hf_history *tiny_build(const tiny_history *t, hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_key_id keys[TINY_KEYS];
    hf_history *h = NULL;

    for (int k = 0; k < t->n_keys; k++) {
        keys[k] = hf_builder_key_text(b, key_names + k, 1);
        if (t->initial[k] != TINY_NIL)
            hf_builder_initial(b, keys[k], value_of(b, keys[k], t->initial[k]));
    }
    for (int i = 0; i < t->n_txns; i++)
        build_txn(b, keys, &t->txns[i]);
    for (int k = 0; k < t->n_keys; k++)
        for (int i = 0; i < t->n_order[k]; i++)
            hf_builder_order(b, keys[k], (hf_txn_id)t->order[k][i]);
    hf_builder_unique_values(b, t->unique);
    if (hf_builder_finish(b, &h, err) != HF_OK)
        return NULL;
    return h;
}

void tiny_free(hf_history *h)
{
    hf_history_free(h);
}

/* ---- printing ------------------------------------------------------------ */

static void print_value(int value, FILE *f)
{
    if (value == TINY_NIL)
        fputs("null", f);
    else
        fprintf(f, "%d", value);
}

static void print_short(const tiny_op *op, FILE *f)
{
    static const char *const names[HF_OP_KIND_COUNT] = {
        [HF_OP_READ] = "r",        [HF_OP_READ_LIST] = "r",
        [HF_OP_WRITE] = "w",       [HF_OP_APPEND] = "append",
        [HF_OP_INSERT] = "insert", [HF_OP_DELETE] = "delete"};

    fprintf(f, "[\"%s\",\"%c\"", names[op->kind], key_names[op->key]);
    if (op->kind == HF_OP_READ_LIST && op->value != TINY_UNRECORDED) {
        fputs(",[", f);
        for (int i = 0; i < op->n_items; i++)
            fprintf(f, "%s%d", i ? "," : "", op->items[i]);
        fputs("]", f);
    } else if (op->kind != HF_OP_DELETE && op->value != TINY_UNRECORDED) {
        fputs(",", f);
        print_value(op->value, f);
    }
    fputs("]", f);
}

static void print_entries(const tiny_op *op, bool all, FILE *f)
{
    const char *comma = "";

    for (int i = 0; i < op->n_entries; i++) {
        const tiny_entry *e = &op->entries[i];

        if (!all && !e->returned)
            continue;
        fprintf(f, "%s[\"%c\",", comma, key_names[e->key]);
        print_value(e->value, f);
        fputs("]", f);
        comma = ",";
    }
}

static void print_predicate(const tiny_op *op, FILE *f)
{
    char text[32];

    condition_of(op, text, sizeof(text));
    fprintf(f, "{\"op\":\"%s\",\"where\":\"%s\",\"versions\":[",
            op->kind == HF_OP_PREDICATE_READ ? "pr" : "pu", text);
    print_entries(op, true, f);
    fputs("],\"rows\":[", f);
    print_entries(op, false, f);
    fputs("]}", f);
}

static void print_op(const tiny_op *op, FILE *f)
{
    if (hf_op_has_predicate(op->kind)) {
        print_predicate(op, f);
    } else if (op->kind == HF_OP_INCREMENT) {
        bool known = op->value != TINY_UNRECORDED;

        fprintf(f, "{\"op\":\"inc\",\"key\":\"%c\",\"by\":%d",
                key_names[op->key], known ? op->value - op->before : 1);
        if (known)
            fprintf(f, ",\"before\":%d,\"after\":%d", op->before, op->value);
        fprintf(f, "}");
    } else if (op->failed) {
        fprintf(f, "{\"op\":\"%s\",\"key\":\"%c\",\"value\":",
                op->kind == HF_OP_READ     ? "r"
                : op->kind == HF_OP_APPEND ? "append"
                                           : "w",
                key_names[op->key]);
        print_value(op->value, f);
        fprintf(f, ",\"failed\":true}");
    } else {
        print_short(op, f);
    }
}

static void print_txn(const tiny_txn *x, FILE *f)
{
    fputs("{", f);
    if (x->session >= 0)
        fprintf(f, "\"session\":%d,", x->session);
    fputs("\"ops\":[", f);
    for (int i = 0; i < x->n_ops; i++) {
        fputs(i ? "," : "", f);
        print_op(&x->ops[i], f);
    }
    fputs("]", f);
    if (x->outcome != HF_COMMITTED)
        fprintf(f, ",\"outcome\":\"%s\"",
                x->outcome == HF_ABORTED ? "aborted" : "unknown");
    if (x->begin >= 0)
        fprintf(f, ",\"begin\":%d", x->begin);
    if (x->end >= 0)
        fprintf(f, ",\"end\":%d", x->end);
    fputs("}\n", f);
}

void tiny_print(const tiny_history *t, FILE *f)
{
    fprintf(f, "{\"holdfast\":1%s}\n", t->unique ? ",\"unique\":true" : "");
    for (int i = 0; i < t->n_txns; i++)
        print_txn(&t->txns[i], f);
    for (int k = 0; k < t->n_keys; k++) {
        if (t->initial[k] != TINY_NIL)
            fprintf(f, "{\"initial\":[[\"%c\",%d]]}\n", key_names[k],
                    t->initial[k]);
        if (t->n_order[k]) {
            fprintf(f, "{\"order\":[\"%c\",[", key_names[k]);
            for (int i = 0; i < t->n_order[k]; i++)
                fprintf(f, "%s%d", i ? "," : "", t->order[k][i] + 1);
            fputs("]]}\n", f);
        }
    }
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
    op.comparison = *++*at;
    if (op.comparison != 't')
        op.bound = *++*at - '0';
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

tiny_history tiny_without_txn(const tiny_history *t, int txn)
{
    tiny_history s = *t;

    s.n_txns--;
    for (int i = txn; i < s.n_txns; i++)
        s.txns[i] = s.txns[i + 1];
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

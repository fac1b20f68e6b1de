/* isopredict.c: isopredict-trace, the traces of IsoPredict and MonkeyDB.
 *
 *     WRITE KEY[x] Txn(1, 0)
 *     READ KEY[x] Txn(2, 0) From(1, 0)
 *     INSERT[k] to Set[s] Txn(1, 0)
 *     CONTAINS[k] in Set[s] From(1, 0) Txn(2, 0)
 *     DELETE KEY[k] From Set(s) Txn(1, 0)
 *
 * Txn(s, i) is the i-th transaction of session s, whatever the order of the
 * lines; within a transaction the lines are in program order.  The trace has
 * no values: a read names the transaction it reads from.  Here the value of a
 * write is the number of its transaction, counted from 1 in the history, and
 * numbers above stand for transactions that are only read from.  From(0, 0)
 * is the initial version unless Txn(0, 0) writes that key.
 *
 * An element of a set is a row: the table is the set, the key the element.
 *
 * O(n log n) for sorting the transactions of a session by i.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

typedef struct name {
    uint64_t session, index;
} name;

typedef struct step {
    hf_op_kind kind;
    hf_str key, set; /* set.ptr NULL: a plain key */
    uint32_t txn, from;
    uint64_t line;
} step;

typedef struct txn {
    name name;
    uint64_t line;   /* of its first step; 0: only read from */
    uint32_t number; /* place in the history, from 1 */
    hf_txn_id id;
} txn;

typedef struct trace {
    hf_builder *b;
    hf_error *err;
    HF_VEC(step) steps;
    HF_VEC(txn) txns;     /* in order of first mention */
    HF_VEC(hf_map) index; /* by session, as `sessions` numbers them */
    hf_map sessions;
    hf_map written; /* (key, transaction) pairs that a step writes */
} trace;

/* ---- parsing ------------------------------------------------------------- */

/* What stands at *at is consumed if it is `text`. */
static bool take(hf_str *s, hf_str text)
{
    if (!hf_str_starts(*s, text))
        return false;
    s->ptr += text.len;
    s->len -= text.len;
    return true;
}

/* Up to and with the closing bracket. */
static bool take_until(hf_str *s, char closer, hf_str *ret_text)
{
    const char *end = s->len > 0 ? memchr(s->ptr, closer, s->len) : NULL;

    if (!end || end == s->ptr)
        return false;
    *ret_text = (hf_str){s->ptr, (size_t)(end - s->ptr)};
    s->len -= ret_text->len + 1;
    s->ptr = end + 1;
    return true;
}

/* "(1, 0)" */
static bool take_name(hf_str *s, name *ret_name)
{
    const char *at, *end = s->ptr + s->len;

    if (!take(s, HF_STR("(")))
        return false;
    at = s->ptr;
    if (!hf_scan_uint_until(&at, end, &ret_name->session) || at == end ||
        *at++ != ',')
        return false;
    while (at < end && *at == ' ')
        at++;
    if (!hf_scan_uint_until(&at, end, &ret_name->index))
        return false;
    *s = (hf_str){at, (size_t)(end - at)};
    return take(s, HF_STR(")"));
}

/* "[k] to Set[s] Txn(1, 0)" and the like: the part behind the first word. */
static bool take_set_step(hf_str *s, step *st, hf_str link, char open,
                          name *ret_txn, name *ret_from)
{
    return take_until(s, ']', &st->key) && take(s, link) &&
           take(s, (hf_str){&open, 1}) &&
           take_until(s, open == '[' ? ']' : ')', &st->set) &&
           (st->kind != HF_OP_READ ||
            (take(s, HF_STR(" From")) && take_name(s, ret_from))) &&
           take(s, HF_STR(" Txn")) && take_name(s, ret_txn);
}

static bool take_key_step(hf_str *s, step *st, name *ret_txn, name *ret_from)
{
    return take_until(s, ']', &st->key) && take(s, HF_STR(" Txn")) &&
           take_name(s, ret_txn) &&
           (st->kind != HF_OP_READ ||
            (take(s, HF_STR(" From")) && take_name(s, ret_from)));
}

static bool parse_step(hf_str s, step *st, name *ret_txn, name *ret_from)
{
    bool good;

    *st = (step){.kind = HF_OP_READ};
    if (take(&s, HF_STR("READ KEY["))) {
        good = take_key_step(&s, st, ret_txn, ret_from);
    } else if (take(&s, HF_STR("WRITE KEY["))) {
        st->kind = HF_OP_WRITE;
        good = take_key_step(&s, st, ret_txn, ret_from);
    } else if (take(&s, HF_STR("INSERT["))) {
        st->kind = HF_OP_INSERT;
        good = take_set_step(&s, st, HF_STR(" to Set"), '[', ret_txn, ret_from);
    } else if (take(&s, HF_STR("CONTAINS["))) {
        good = take_set_step(&s, st, HF_STR(" in Set"), '[', ret_txn, ret_from);
    } else if (take(&s, HF_STR("DELETE KEY["))) {
        st->kind = HF_OP_DELETE;
        good =
            take_set_step(&s, st, HF_STR(" From Set"), '(', ret_txn, ret_from);
    } else {
        return false;
    }
    return good && s.len == 0;
}

/* ---- import -------------------------------------------------------------- */

static uint32_t find_txn(trace *t, name n)
{
    uint32_t session = (uint32_t)t->index.n, place = (uint32_t)t->txns.n;

    session = hf_map_add(&t->sessions, n.session, session);
    if (session == t->index.n) {
        hf_map map;

        hf_map_init(&map);
        hf_vec_push(&t->index, map);
    }
    place = hf_map_add(&t->index.at[session], n.index, place);
    if (place == t->txns.n)
        hf_vec_push(&t->txns, (txn){.name = n});
    return place;
}

static hf_status parse(trace *t, const hf_input *in)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    hf_str line;

    while (hf_lines_next(&lines, &line)) {
        name of, from = {0, 0};
        char quoted[80];
        step s;

        line = hf_str_trim(line);
        if (line.len == 0)
            continue;
        if (!parse_step(line, &s, &of, &from))
            return hf_fail_line(
                t->err, lines.number,
                "expected \"READ KEY[k] Txn(s, i) From(s, i)\", \"WRITE "
                "KEY[k] Txn(s, i)\" or a set operation, found \"%s\"",
                hf_quote(quoted, sizeof(quoted), line.ptr, line.len));
        s.line = lines.number;
        s.txn = find_txn(t, of);
        if (t->txns.at[s.txn].line == 0)
            t->txns.at[s.txn].line = lines.number;
        s.from = s.kind == HF_OP_READ ? find_txn(t, from) : HF_NONE;
        hf_vec_push(&t->steps, s);
        if (t->txns.n >= HF_NONE - 1 || t->steps.n >= HF_NONE - 1)
            return hf_fail_line(t->err, lines.number,
                                "more than 2^32 - 2 operations");
        if (in->budget && hf_budget_spent(in->budget))
            return hf_fail(t->err, HF_ERR_LIMIT, "%s",
                           hf_budget_reason(in->budget));
    }
    return HF_OK;
}

/* An entry of the two lists that number_txns() sorts. */
typedef struct slot {
    uint64_t session, order; /* order: of lines, or index in the session */
    uint32_t txn;
} slot;

static int by_order(const void *a, const void *b)
{
    const slot *x = a, *y = b;

    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_line(const void *a, const void *b)
{
    const slot *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

/* Numbers the transactions by their first lines, then hands the places of
 * each session to its transactions in the order of their index. */
static void number_txns(trace *t)
{
    size_t n = t->txns.n, used = 0;
    slot *places = HF_NEW_ARRAY(slot, n), *order = HF_NEW_ARRAY(slot, n);
    uint32_t next;

    for (uint32_t i = 0; i < n; i++) {
        const txn *x = &t->txns.at[i];

        if (x->line == 0)
            continue;
        places[used] = (slot){x->name.session, x->line, i};
        order[used++] = (slot){x->name.session, x->name.index, i};
    }
    qsort(places, used, sizeof(slot), by_line);
    for (uint32_t i = 0; i < used; i++) {
        places[i].txn = i + 1; /* now the number of the place */
        places[i].order = i;
    }
    qsort(places, used, sizeof(slot), by_order);
    qsort(order, used, sizeof(slot), by_order);
    for (size_t i = 0; i < used; i++)
        t->txns.at[order[i].txn].number = places[i].txn;
    next = (uint32_t)used + 1;
    for (size_t i = 0; i < n; i++)
        if (t->txns.at[i].line == 0)
            t->txns.at[i].number = next++;
    hf_free(places);
    hf_free(order);
}

static void add_txns(trace *t)
{
    size_t n = t->txns.n;
    uint32_t *by_number = HF_NEW_ARRAY(uint32_t, n + 2);

    for (uint32_t i = 0; i < n; i++)
        by_number[t->txns.at[i].number] = i;
    for (size_t number = 1; number <= n; number++) {
        txn *x = &t->txns.at[by_number[number]];

        if (x->line == 0)
            break; /* those that are only read from come last */
        x->id = hf_builder_txn(
            t->b, hf_builder_session_number(t->b, (int64_t)x->name.session));
        hf_builder_line(t->b, x->id, x->line);
    }
    hf_free(by_number);
}

static hf_key_id key_of(trace *t, const step *s)
{
    hf_scalar key = {.type = HF_TEXT, .text = s->key.ptr, .length = s->key.len};

    if (!s->set.ptr)
        return hf_builder_key_text(t->b, s->key.ptr, s->key.len);
    return hf_builder_key_row(
        t->b, hf_builder_string(t->b, s->set.ptr, s->set.len), key);
}

static uint64_t pair(hf_key_id key, uint32_t place)
{
    return (uint64_t)key << 32 | place;
}

/* The value a step reads or writes. */
static hf_value_id value_of(trace *t, const step *s, hf_key_id key)
{
    uint32_t from = s->kind == HF_OP_READ ? s->from : s->txn, kind;
    const txn *x = &t->txns.at[from];

    if (s->kind == HF_OP_DELETE)
        return hf_builder_nil(t->b, key);
    if (s->kind == HF_OP_READ) {
        kind = hf_map_get(&t->written, pair(key, from));
        if (kind == HF_OP_DELETE ||
            (kind == UINT32_MAX && x->name.session == 0 && x->name.index == 0))
            return hf_builder_nil(t->b, key);
    }
    return hf_builder_int(t->b, key, x->number);
}

static void add_steps(trace *t)
{
    for (size_t i = 0; i < t->steps.n && !hf_builder_failed(t->b); i++) {
        const step *s = &t->steps.at[i];

        if (s->kind != HF_OP_READ)
            hf_map_set(&t->written, pair(key_of(t, s), s->txn), s->kind);
    }
    for (size_t i = 0; i < t->steps.n && !hf_builder_failed(t->b); i++) {
        const step *s = &t->steps.at[i];
        hf_key_id key = key_of(t, s);

        (void)hf_builder_op(t->b, t->txns.at[s->txn].id, s->kind, key,
                            value_of(t, s, key));
    }
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    trace t = {.b = b, .err = err};
    hf_status st;

    hf_map_init(&t.sessions);
    hf_map_init(&t.written);
    st = parse(&t, in);
    if (st == HF_OK) {
        number_txns(&t);
        add_txns(&t);
        add_steps(&t);
    }
    for (size_t i = 0; i < t.index.n; i++)
        hf_map_release(&t.index.at[i]);
    hf_vec_release(&t.index);
    hf_vec_release(&t.txns);
    hf_vec_release(&t.steps);
    hf_map_release(&t.sessions);
    hf_map_release(&t.written);
    return st;
}

static int detect(const hf_input *in)
{
    hf_lines lines =
        hf_lines_of(in->text, in->length < 4096 ? in->length : 4096);
    hf_str line;
    name of, from;
    step s;

    while (hf_lines_next(&lines, &line)) {
        line = hf_str_trim(line);
        if (line.len > 0)
            return parse_step(line, &s, &of, &from) ? 98 : 0;
    }
    return 0;
}

/* ---- export -------------------------------------------------------------- */

typedef struct writer {
    const hf_history *h;
    hf_out *out;
    hf_export_numbers numbers;
    uint64_t shift;       /* added to session numbers: 0 stays free */
    hf_txn_id *writer_of; /* by value; HF_NONE: nobody */
    uint32_t *index_of;   /* by transaction: place in its session */
} writer;

static hf_status find_writers(writer *w, hf_error *err)
{
    const hf_history *h = w->h;

    memset(w->writer_of, 0xff, h->n_values * sizeof(*w->writer_of));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_txn_id *of;

            if (hf_op_kind_of(h, op) != HF_OP_WRITE)
                continue;
            of = &w->writer_of[h->op_value[op]];
            if (*of != HF_NONE && *of != t)
                return hf_fail(err, HF_ERR_UNSUPPORTED,
                               "T%lld and T%lld write the same value, which "
                               "isopredict-trace cannot express",
                               (long long)hf_txn_label(h, *of),
                               (long long)hf_txn_label(h, t));
            *of = t;
        }
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s]; i < h->session_first[s + 1]; i++)
            w->index_of[h->session_txns[i]] = i - h->session_first[s];
    return HF_OK;
}

/* A value that its transaction writes over can be told from no other. */
static hf_status check_reads(const writer *w, hf_error *err)
{
    const hf_history *h = w->h;
    hf_value_id *last = HF_NEW_ARRAY(hf_value_id, h->n_keys);
    uint8_t *lost = HF_NEW_ZEROED(uint8_t, h->n_values);
    hf_status st = HF_OK;

    memset(last, 0xff, h->n_keys * sizeof(*last));
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_key_id key = h->op_key[op];

        if (hf_op_kind_of(h, op) != HF_OP_WRITE)
            continue;
        if (last[key] != HF_NONE && last[key] != h->op_value[op] &&
            w->writer_of[last[key]] == w->writer_of[h->op_value[op]])
            lost[last[key]] = 1;
        last[key] = h->op_value[op];
    }
    for (hf_op_id op = 0; op < h->n_ops && st == HF_OK; op++) {
        hf_value_id v = h->op_value[op];

        if (hf_op_kind_of(h, op) == HF_OP_READ && !hf_export_initial(h, v) &&
            (lost[v] || w->writer_of[v] == HF_NONE))
            st = hf_fail(err, HF_ERR_UNSUPPORTED,
                         "T%lld reads %s, which isopredict-trace cannot "
                         "express",
                         (long long)hf_txn_label(h, hf_op_txn(h, op)),
                         lost[v] ? "a value that its writer wrote over"
                                 : "a value that nobody wrote");
    }
    hf_free(last);
    hf_free(lost);
    return st;
}

static void put_name(const writer *w, const char *word, hf_txn_id t)
{
    hf_out_text(w->out, word);
    if (t == HF_NONE) {
        hf_out_text(w->out, "(0, 0)");
        return;
    }
    hf_out_char(w->out, '(');
    hf_out_uint(w->out, w->shift + hf_export_session(&w->numbers,
                                                     w->h->txn_session[t]));
    hf_out_text(w->out, ", ");
    hf_out_uint(w->out, w->index_of[t]);
    hf_out_char(w->out, ')');
}

static void write_txn(const writer *w, hf_txn_id t)
{
    const hf_history *h = w->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_scalar key;

        if (hf_export_skips(kind))
            continue;
        key = hf_key_scalar(h, h->op_key[op]);
        hf_out_text(w->out, kind == HF_OP_READ ? "READ KEY[" : "WRITE KEY[");
        if (key.type == HF_INT)
            hf_out_int(w->out, key.number);
        else
            hf_out_bytes(w->out, key.text, key.length);
        put_name(w, "] Txn", t);
        if (kind == HF_OP_READ)
            put_name(w, " From", w->writer_of[h->op_value[op]]);
        hf_out_char(w->out, '\n');
    }
}

/* Keys are read back as text: 5 and "5" must not both be there, and a text
 * must end where its bracket does. */
static hf_status check_keys(const hf_history *h, hf_error *err)
{
    bool numbers = false, texts = false;

    for (hf_key_id k = 0; k < h->n_keys; k++) {
        hf_scalar key = hf_key_scalar(h, k);

        numbers = numbers || key.type == HF_INT;
        texts = texts || key.type == HF_TEXT;
        if (key.type == HF_TEXT &&
            (key.length == 0 || memchr(key.text, ']', key.length) ||
             memchr(key.text, '\n', key.length)))
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "a key that is empty or holds \"]\" or a newline "
                           "cannot be expressed in isopredict-trace");
    }
    if (numbers && texts)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "keys that are numbers and keys that are text cannot "
                       "be told apart in isopredict-trace");
    return HF_OK;
}

static bool uses_initial_session(const writer *w)
{
    const hf_history *h = w->h;

    for (hf_session_id s = 0; s < h->n_sessions; s++)
        if (hf_export_session(&w->numbers, s) == 0)
            return true;
    return false;
}

/* Reading from (0, 0) is reading the initial version only where the first
 * transaction of session 0 does not write: numbers are shifted if it could.
 */
static bool reads_initial(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_READ &&
            hf_export_initial(h, h->op_value[op]))
            return true;
    return false;
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    writer w = {.h = h, .out = out, .numbers = hf_export_number(h)};
    hf_status st = hf_export_check(
        h, "isopredict-trace",
        HF_SAYS_INITIAL | HF_SAYS_TEXT_KEYS | HF_SAYS_NEGATIVE, err);

    if (st == HF_OK)
        st = check_keys(h, err);
    if (st != HF_OK)
        return st;
    w.shift = reads_initial(h) && uses_initial_session(&w);
    w.writer_of = HF_NEW_ARRAY(hf_txn_id, h->n_values);
    w.index_of = HF_NEW_ARRAY(uint32_t, h->n_txns);
    st = find_writers(&w, err);
    if (st == HF_OK)
        st = check_reads(&w, err);
    for (hf_txn_id t = 0; st == HF_OK && t < h->n_txns; t++)
        write_txn(&w, t);
    hf_free(w.writer_of);
    hf_free(w.index_of);
    return st;
}

const hf_format hf_format_isopredict = {
    .name = "isopredict-trace",
    .summary = "READ KEY[k] Txn(s, i) From(s, i) lines: IsoPredict, MonkeyDB",
    .extension = ".txt",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

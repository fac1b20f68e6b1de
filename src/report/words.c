/* words.c: transactions, keys, values, operations and edges in words.
 *
 * What comes from the input is made safe for a terminal and cut where it is
 * long: a person wants to recognize it, the JSON forms have all of it.
 */
#include "report/words.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "history/extra.h"

#define TEXT_SHOWN 48 /* bytes of a text */
#define CONDITION_SHOWN 96
#define LIST_SHOWN 12 /* elements of a list */
#define ROWS_SHOWN 8  /* rows of a result */

static void print_cut(hf_str s, size_t shown, hf_out *out)
{
    char buffer[CONDITION_SHOWN + 8];

    HF_ASSERT(shown + 8 <= sizeof(buffer));
    hf_out_text(out, hf_quote(buffer, shown + 8, s.ptr, s.len));
}

void hf_scalar_print(const hf_scalar *s, hf_out *out)
{
    switch (s->type) {
    case HF_INT:
        hf_out_int(out, s->number);
        return;
    case HF_BOOL:
        hf_out_text(out, s->number ? "true" : "false");
        return;
    case HF_TEXT:
        hf_out_char(out, '"');
        print_cut((hf_str){s->text, s->length}, TEXT_SHOWN, out);
        hf_out_char(out, '"');
        return;
    case HF_REAL:
    case HF_ROW:
        print_cut((hf_str){s->text, s->length}, TEXT_SHOWN, out);
        return;
    case HF_NIL:
    case HF_LIST:
    case HF_SCALAR_TYPE_COUNT:
        break;
    }
    hf_out_text(out, "nil");
}

void hf_txn_print(const hf_history *h, hf_txn_id t, hf_out *out)
{
    hf_out_format(out, "T%" PRId64, hf_txn_label(h, t));
}

void hf_key_print(const hf_history *h, hf_key_id key, hf_out *out)
{
    hf_scalar s = hf_key_scalar(h, key);

    if (h->key_table && h->key_table[key] != HF_NONE) {
        print_cut(hf_string(h, h->key_table[key]), TEXT_SHOWN, out);
        hf_out_char(out, '/');
    } else if (s.type == HF_INT) {
        hf_out_text(out, "key "); /* a number alone reads like a value */
    }
    if (s.type == HF_INT)
        hf_out_int(out, s.number);
    else
        print_cut((hf_str){s.text, s.length}, TEXT_SHOWN, out);
}

static void print_list(const hf_history *h, hf_value_id v, hf_out *out)
{
    uint32_t n = hf_list_items(h, v, NULL);
    hf_value_id *items = HF_NEW_ARRAY(hf_value_id, n);

    (void)hf_list_items(h, v, items);
    hf_out_char(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        hf_scalar s;

        if (n > LIST_SHOWN && i == LIST_SHOWN / 2) {
            hf_out_format(out, " ... %" PRIu32 " more ...", n - LIST_SHOWN);
            i = n - LIST_SHOWN / 2;
        }
        if (i > 0)
            hf_out_char(out, ' ');
        s = hf_value_scalar(h, items[i]);
        hf_scalar_print(&s, out);
    }
    hf_out_char(out, ']');
    hf_free(items);
}

void hf_value_print(const hf_history *h, hf_value_id v, hf_out *out)
{
    hf_scalar s;

    if (v == HF_NONE) {
        hf_out_text(out, "?");
    } else if (h->value_type[v] == HF_LIST) {
        print_list(h, v, out);
    } else {
        s = hf_value_scalar(h, v);
        hf_scalar_print(&s, out);
    }
}

/* ---- operations ---------------------------------------------------------- */

const char *hf_verb(hf_op_kind kind, hf_verb_form form)
{
    static const char *const verbs[][HF_VERB_FORM_COUNT] = {
        [HF_OP_READ] = {"read", "reads", "read"},
        [HF_OP_WRITE] = {"write", "writes", "wrote"},
        [HF_OP_APPEND] = {"append", "appends", "appended"},
        [HF_OP_READ_LIST] = {"read", "reads", "read"},
        [HF_OP_INSERT] = {"insert", "inserts", "inserted"},
        [HF_OP_DELETE] = {"delete", "deletes", "deleted"},
        [HF_OP_INCREMENT] = {"increment", "increments", "incremented"},
    };

    HF_ASSERT((size_t)kind < sizeof(verbs) / sizeof(verbs[0]));
    return verbs[kind][form];
}

void hf_key_is_print(const hf_history *h, hf_key_id key, hf_value_id v,
                     hf_out *out)
{
    hf_key_print(h, key, out);
    hf_out_text(out, " = ");
    hf_value_print(h, v, out);
}

void hf_item_print(const hf_history *h, hf_op_id op, hf_verb_form form,
                   hf_out *out)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_key_id key = h->op_key[op];

    hf_out_text(out, hf_verb(kind, form));
    hf_out_char(out, ' ');
    if (kind == HF_OP_APPEND) {
        hf_value_print(h, h->op_value[op], out);
        hf_out_text(out, " to ");
        hf_key_print(h, key, out);
    } else if (kind == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(h, op);

        hf_key_print(h, key, out);
        hf_out_format(out, " by %" PRId64, inc.amount);
        if (inc.has_result) {
            hf_out_text(out, " from ");
            hf_value_print(h, inc.before, out);
            hf_out_text(out, " to ");
            hf_value_print(h, inc.after, out);
        }
    } else if (kind == HF_OP_DELETE || h->op_value[op] == HF_NONE) {
        hf_key_print(h, key, out);
        if (kind != HF_OP_DELETE)
            hf_out_text(out, " (result not recorded)");
    } else {
        hf_key_is_print(h, key, h->op_value[op], out);
    }
}

/* ": x = 1, y = 2" or ": no rows" */
static void print_rows(const hf_history *h, const hf_predicate *p, hf_out *out)
{
    if (p->n_results == 0)
        hf_out_text(out, ": no rows");
    for (uint32_t i = 0; i < p->n_results; i++) {
        hf_value_id v = p->results[i].value;

        if (i == ROWS_SHOWN) {
            hf_out_format(out, ", ... %" PRIu32 " more", p->n_results - i);
            return;
        }
        hf_out_text(out, i == 0 ? ": " : ", ");
        hf_key_is_print(h, h->value_key[v], v, out);
    }
}

/* "predicate read of t where value < 5", "sum(value) where true"; with
 * `result` also what it returned. */
static void print_predicate(const hf_history *h, hf_op_id op, bool result,
                            hf_out *out)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_predicate p = hf_op_predicate(h, op);

    hf_out_text(out, hf_op_kind_name(kind));
    if (hf_op_is_aggregate(kind)) {
        hf_out_char(out, '(');
        if (p.n_columns > 0)
            print_cut(hf_string(h, p.columns[0]), TEXT_SHOWN, out);
        else
            hf_out_char(out, '*');
        hf_out_char(out, ')');
    }
    if (p.table != HF_NONE) {
        hf_out_text(out, " of ");
        print_cut(hf_string(h, p.table), TEXT_SHOWN, out);
    }
    hf_out_text(out, " where ");
    print_cut(hf_string(h, p.condition), CONDITION_SHOWN, out);
    if (!result || !p.has_result_set)
        return;
    if (!hf_op_is_aggregate(kind)) {
        print_rows(h, &p, out);
    } else {
        hf_out_text(out, " = ");
        hf_scalar_print(&p.result, out);
    }
}

void hf_predicate_print(const hf_history *h, hf_op_id op, hf_out *out)
{
    print_predicate(h, op, false, out);
}

void hf_op_print(const hf_history *h, hf_op_id op, hf_out *out)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    unsigned flags = hf_op_flags_of(h, op);

    if (hf_op_has_predicate(kind)) {
        print_predicate(h, op, true, out);
    } else if (kind == HF_OP_SQL) {
        hf_out_text(out, "sql ");
        print_cut(hf_string(h, hf_op_sql(h, op).text), CONDITION_SHOWN, out);
    } else if (kind >= HF_OP_BEGIN) {
        hf_out_text(out, hf_op_kind_name(kind));
    } else {
        hf_item_print(h, op, HF_VERB_BARE, out);
    }
    if (flags & HF_OP_FOR_UPDATE)
        hf_out_text(out, " for update");
    if (flags & HF_OP_FOR_SHARE)
        hf_out_text(out, " for share");
    if (flags & HF_OP_FAILED)
        hf_out_text(out, " (failed)");
}

/* ---- edges --------------------------------------------------------------- */

hf_value_id hf_value_seen(const hf_history *h, hf_op_id op, hf_key_id key)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_predicate p;

    if (kind == HF_OP_INCREMENT)
        return hf_op_increment(h, op).before;
    if (!hf_op_has_predicate(kind))
        return h->op_value[op];
    p = hf_op_predicate(h, op);
    for (uint32_t i = 0; i < p.n_results; i++) {
        if (h->value_key[p.results[i].value] == key)
            return p.results[i].value;
    }
    for (uint32_t i = 0; i < p.n_versions; i++) {
        if (h->value_key[p.versions[i].value] == key)
            return p.versions[i].value;
    }
    return HF_NONE;
}

/* "T2's predicate read where value < 5" */
static void print_owned(const hf_history *h, hf_txn_id t, hf_op_id op,
                        hf_out *out)
{
    hf_txn_print(h, t, out);
    hf_out_text(out, "'s ");
    if (op == HF_NONE)
        hf_out_text(out, "operation");
    else if (hf_op_has_predicate(hf_op_kind_of(h, op)))
        print_predicate(h, op, false, out);
    else
        hf_op_print(h, op, out);
}

/* "T1 reads x = 1", "T1's predicate read where value < 5 returns x = 1". */
static void print_reader(const hf_history *h, hf_txn_id t, hf_op_id op,
                         hf_key_id key, hf_out *out)
{
    if (op != HF_NONE && hf_op_has_predicate(hf_op_kind_of(h, op))) {
        print_owned(h, t, op, out);
        hf_out_text(out, " returns ");
    } else {
        hf_txn_print(h, t, out);
        hf_out_text(out, " reads ");
    }
    if (op != HF_NONE && hf_value_seen(h, op, key) != HF_NONE)
        hf_key_is_print(h, key, hf_value_seen(h, op, key), out);
    else
        hf_key_print(h, key, out);
}

/* "T1 writes x = 1" */
static void print_writer(const hf_history *h, hf_txn_id t, hf_op_id op,
                         hf_key_id key, hf_out *out)
{
    hf_txn_print(h, t, out);
    hf_out_char(out, ' ');
    if (op != HF_NONE) {
        hf_item_print(h, op, HF_VERB_PRESENT, out);
    } else {
        hf_out_text(out, "writes ");
        hf_key_print(h, key, out);
    }
}

/* The value that t last wrote to the key, HF_NONE if none. */
static hf_value_id last_written(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    for (hf_op_id o = h->op_first[t + 1]; o-- > h->op_first[t];)
        if (h->op_key[o] == key && hf_op_kind_of(h, o) != HF_OP_INCREMENT &&
            hf_op_installs(hf_op_kind_of(h, o)))
            return h->op_value[o];
    return HF_NONE;
}

/* Does the certificate put another version between the one the edge starts
 * from and the one it leads to? */
static bool skips_versions(const hf_history *h, const hf_edge *e)
{
    const hf_certificate *c = &h->cert;
    uint64_t at, end;

    if (!c->order_first)
        return false;
    at = c->order_first[e->key];
    end = c->order_first[e->key + 1];
    while (at < end && c->order_txn[at] != e->to)
        at++;
    if (at == end)
        return false;
    if (e->kind == HF_EDGE_WW)
        return at > c->order_first[e->key] && c->order_txn[at - 1] != e->from;
    if (e->from_op == HF_NONE || at == c->order_first[e->key])
        return false;
    return hf_value_seen(h, e->from_op, e->key) !=
           last_written(h, c->order_txn[at - 1], e->key);
}

/* What the write `op` of transaction t does to the version just spoken of. */
static void print_overwrite(const hf_history *h, const hf_edge *e, hf_out *out)
{
    hf_op_kind kind =
        e->to_op == HF_NONE ? HF_OP_WRITE : hf_op_kind_of(h, e->to_op);

    if (kind == HF_OP_APPEND && e->kind == HF_EDGE_RW) {
        hf_out_text(out, ", to which ");
        hf_txn_print(h, e->to, out);
        hf_out_text(out, " appends ");
        hf_value_print(h, h->op_value[e->to_op], out);
    } else if (kind == HF_OP_APPEND || kind == HF_OP_INSERT ||
               kind == HF_OP_INCREMENT) {
        hf_out_text(out, ", before ");
        print_writer(h, e->to, e->to_op, e->key, out);
    } else if (kind == HF_OP_WRITE && e->to_op != HF_NONE &&
               skips_versions(h, e)) {
        hf_out_text(out, ", an older version than ");
        hf_key_is_print(h, e->key, h->op_value[e->to_op], out);
        hf_out_text(out, " of ");
        hf_txn_print(h, e->to, out);
    } else {
        hf_out_text(out, ", which ");
        hf_txn_print(h, e->to, out);
        hf_out_text(out, kind == HF_OP_DELETE ? " deletes" : " overwrites");
        if (kind == HF_OP_WRITE && e->to_op != HF_NONE) {
            hf_out_text(out, " with ");
            hf_key_is_print(h, e->key, h->op_value[e->to_op], out);
        }
    }
}

static void print_origin(const hf_history *h, const hf_edge *e, hf_out *out)
{
    hf_op_kind kind =
        e->from_op == HF_NONE ? HF_OP_WRITE : hf_op_kind_of(h, e->from_op);

    if (kind == HF_OP_APPEND)
        hf_out_text(out, ", whose last element ");
    else if (kind == HF_OP_DELETE)
        hf_out_text(out, ", because ");
    else
        hf_out_text(out, ", which ");
    hf_txn_print(h, e->from, out);
    hf_out_char(out, ' ');
    hf_out_text(out, kind == HF_OP_INCREMENT ? "wrote"
                                             : hf_verb(kind, HF_VERB_PAST));
    if (kind == HF_OP_DELETE)
        hf_out_text(out, " it");
}

static void print_session_edge(const hf_history *h, const hf_edge *e,
                               hf_out *out)
{
    hf_string_id name = h->session_name[h->txn_session[e->from]];

    hf_txn_print(h, e->from, out);
    hf_out_text(out, " comes before ");
    hf_txn_print(h, e->to, out);
    hf_out_text(out, " in ");
    if (name == HF_NONE) {
        hf_out_text(out, "their session");
    } else {
        hf_out_text(out, "session ");
        print_cut(hf_string(h, name), TEXT_SHOWN, out);
    }
}

static void print_time_edge(const hf_history *h, const hf_edge *e, hf_out *out)
{
    hf_txn_print(h, e->from, out);
    hf_out_format(out, " ended at %" PRIu64 ", before ",
                  hf_txn_end_time(h, e->from));
    hf_txn_print(h, e->to, out);
    hf_out_format(out, " began at %" PRIu64, hf_txn_begin_time(h, e->to));
}

void hf_edge_print(const hf_history *h, const hf_edge *e, hf_out *out)
{
    switch (e->kind) {
    case HF_EDGE_WW:
        print_writer(h, e->from, e->from_op, e->key, out);
        print_overwrite(h, e, out);
        return;
    case HF_EDGE_WR:
        print_reader(h, e->to, e->to_op, e->key, out);
        print_origin(h, e, out);
        return;
    case HF_EDGE_RW:
        print_reader(h, e->from, e->from_op, e->key, out);
        print_overwrite(h, e, out);
        return;
    case HF_EDGE_PWR:
        print_owned(h, e->to, e->to_op, out);
        hf_out_text(out, " already sees ");
        print_owned(h, e->from, e->from_op, out);
        hf_out_text(out, ", which changes what matches");
        return;
    case HF_EDGE_PRW:
        print_owned(h, e->from, e->from_op, out);
        hf_out_text(out, " does not yet see ");
        print_owned(h, e->to, e->to_op, out);
        hf_out_text(out, ", which changes what matches");
        return;
    case HF_EDGE_SO:
        print_session_edge(h, e, out);
        return;
    case HF_EDGE_RT:
        print_time_edge(h, e, out);
        return;
    case HF_EDGE_KIND_COUNT:
        break;
    }
    HF_BUG("edge without a kind");
}

/* export.c: refusing what a format cannot say.  One pass over the operations.
 */
#include "formats/export.h"

#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"

typedef struct checker {
    const hf_history *h;
    const char *format;
    unsigned says;
    hf_txn_id txn;
    hf_error *err;
} checker;

static hf_status refuse(const checker *c, const char *what)
{
    return hf_fail(c->err, HF_ERR_UNSUPPORTED,
                   "T%lld has %s, which %s cannot "
                   "express",
                   (long long)hf_txn_label(c->h, c->txn), what, c->format);
}

static hf_status check_key(const checker *c, hf_key_id key)
{
    const hf_history *h = c->h;

    if (h->key_table && h->key_table[key] != HF_NONE)
        return refuse(c, "a key with a table");
    if (h->key_type[key] == HF_TEXT && !(c->says & HF_SAYS_TEXT_KEYS))
        return refuse(c, "a key that is no number");
    if (h->key_type[key] == HF_INT && h->key_data[key] < 0 &&
        !(c->says & HF_SAYS_NEGATIVE))
        return refuse(c, "a negative key");
    return HF_OK;
}

static hf_status check_int(const checker *c, hf_value_id v)
{
    if (c->h->value_type[v] != HF_INT)
        return refuse(c, "a value that is no integer");
    if (c->h->value_data[v] < 0 && !(c->says & HF_SAYS_NEGATIVE))
        return refuse(c, "a negative value");
    return HF_OK;
}

static hf_status check_list(const checker *c, hf_value_id v)
{
    hf_status st = HF_OK;

    if (c->h->value_type[v] == HF_NIL)
        return HF_OK;
    if (c->h->value_type[v] != HF_LIST)
        return refuse(c, "a list read that returns no list");
    for (; v != HF_NONE && st == HF_OK; v = hf_list_parent(c->h, v))
        st = check_int(c, hf_list_last(c->h, v));
    return st;
}

static hf_status check_value(const checker *c, hf_op_kind kind, hf_value_id v)
{
    const hf_history *h = c->h;

    if (v == HF_NONE)
        return refuse(c, "a read whose result was not recorded");
    if (kind == HF_OP_READ_LIST)
        return check_list(c, v);
    if (kind == HF_OP_READ && hf_export_initial(h, v))
        return c->says & HF_SAYS_INITIAL
                   ? HF_OK
                   : refuse(c, "a read of the initial value");
    if (kind != HF_OP_READ && h->key_initial &&
        h->key_initial[h->value_key[v]] == v)
        return refuse(c, "a write of the value the key had at first");
    return check_int(c, v);
}

static hf_status check_op(const checker *c, hf_op_id op)
{
    const hf_history *h = c->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_status st;

    if (hf_export_skips(kind))
        return HF_OK;
    if (kind > HF_OP_READ_LIST ||
        (kind >= HF_OP_APPEND && !(c->says & HF_SAYS_LISTS))) {
        return hf_fail(c->err, HF_ERR_UNSUPPORTED,
                       "T%lld has the operation %s, which %s cannot express",
                       (long long)hf_txn_label(h, c->txn),
                       hf_op_kind_name(kind), c->format);
    }
    if (hf_op_flags_of(h, op) & HF_OP_FAILED)
        return refuse(c, "a statement that failed");
    if (hf_op_flags_of(h, op))
        return refuse(c, "a locking read");
    st = check_key(c, h->op_key[op]);
    return st == HF_OK ? check_value(c, kind, h->op_value[op]) : st;
}

static hf_status check_txn(const checker *c)
{
    const hf_history *h = c->h;
    hf_txn_id t = c->txn;
    bool empty = true;
    hf_status st = HF_OK;

    if (h->txn_level && h->txn_level[t] != HF_LEVEL_UNSET)
        return refuse(c, "a level of its own");
    if (h->txn_outcome[t] == HF_ABORTED && !(c->says & HF_SAYS_ABORTED))
        return refuse(c, "been aborted");
    if (h->txn_outcome[t] == HF_UNKNOWN_OUTCOME && !(c->says & HF_SAYS_UNKNOWN))
        return refuse(c, "an unknown outcome");
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1] && st == HF_OK;
         op++) {
        empty = empty && hf_export_skips(hf_op_kind_of(h, op));
        st = check_op(c, op);
    }
    if (st == HF_OK && empty && !(c->says & HF_SAYS_EMPTY))
        return refuse(c, "no operations");
    return st;
}

/* ---- initial values ------------------------------------------------------ */

const char *hf_export_show(hf_scalar s, char text[HF_EXPORT_SHOWN])
{
    char quoted[HF_EXPORT_SHOWN - 8];

    switch (s.type) {
    case HF_INT:
        (void)snprintf(text, HF_EXPORT_SHOWN, "%lld", (long long)s.number);
        break;
    case HF_BOOL:
        (void)snprintf(text, HF_EXPORT_SHOWN, s.number ? "true" : "false");
        break;
    case HF_TEXT:
        (void)hf_quote(quoted, sizeof(quoted), s.text, s.length);
        (void)snprintf(text, HF_EXPORT_SHOWN, "\"%s\"", quoted);
        break;
    case HF_REAL:
        (void)hf_quote(text, HF_EXPORT_SHOWN, s.text, s.length);
        break;
    default:
        (void)snprintf(text, HF_EXPORT_SHOWN,
                       s.type == HF_LIST  ? "[...]"
                       : s.type == HF_ROW ? "{...}"
                                          : "nil");
        break;
    }
    return text;
}

hf_status hf_export_check_initial(const hf_history *h, const char *format,
                                  hf_error *err)
{
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++) {
        hf_value_id v = h->key_initial[k];
        char key[HF_EXPORT_SHOWN], value[HF_EXPORT_SHOWN];

        if (v == HF_NONE || h->value_type[v] == HF_NIL ||
            (h->value_type[v] == HF_INT && h->value_data[v] == 0))
            continue;
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "key %s has the initial value %s, which %s cannot "
                       "express",
                       hf_export_show(hf_key_scalar(h, k), key),
                       hf_export_show(hf_value_scalar(h, v), value), format);
    }
    return HF_OK;
}

/* ---- where 0 stands for the initial value -------------------------------- */

#define READS_INITIAL 1u
#define READS_ZERO 2u /* a value 0 that is not the initial one */
#define WRITES_ZERO 4u

static unsigned zero_use(const checker *c, hf_op_id op)
{
    const hf_history *h = c->h;
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_value_id v = h->op_value[op];

    if (kind == HF_OP_READ && hf_export_initial(h, v))
        return h->value_type[v] == HF_NIL && (c->says & HF_NULL_IS_INITIAL)
                   ? 0
                   : READS_INITIAL;
    if (h->value_type[v] != HF_INT || h->value_data[v] != 0)
        return 0;
    return kind == HF_OP_READ ? READS_ZERO : WRITES_ZERO;
}

/* The zeros of each key must mean the same when they are read back. */
static hf_status check_zeros(checker *c)
{
    const hf_history *h = c->h;
    uint8_t *uses = HF_NEW_ZEROED(uint8_t, h->n_keys);
    hf_status st = HF_OK;

    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) <= HF_OP_WRITE)
            uses[h->op_key[op]] |= (uint8_t)zero_use(c, op);
    for (hf_op_id op = 0; op < h->n_ops && st == HF_OK; op++) {
        unsigned use;

        if (hf_op_kind_of(h, op) > HF_OP_WRITE)
            continue;
        use = uses[h->op_key[op]];
        c->txn = hf_op_txn(h, op);
        if ((use & READS_INITIAL) && (use & (READS_ZERO | WRITES_ZERO)))
            st = refuse(c, "a key that is both 0 and initial");
        else if ((use & READS_ZERO) && !(use & WRITES_ZERO))
            st = refuse(c, "a read of 0 that is not initial");
    }
    hf_free(uses);
    return st;
}

hf_status hf_export_check(const hf_history *h, const char *format,
                          unsigned says, hf_error *err)
{
    checker c = {.h = h, .format = format, .says = says, .err = err};

    for (c.txn = 0; c.txn < h->n_txns; c.txn++) {
        hf_status st = check_txn(&c);

        if (st != HF_OK)
            return st;
    }
    if (!(says & HF_SAYS_NO_VALUES)) {
        hf_status st = hf_export_check_initial(h, format, err);

        if (st != HF_OK)
            return st;
    }
    return says & HF_ZERO_IS_INITIAL ? check_zeros(&c) : HF_OK;
}

/* ---- numbers ------------------------------------------------------------- */

/* "0" or digits that do not begin with 0: what hf_out_uint() writes. */
static bool canonical(hf_str s, uint64_t *ret_number)
{
    int64_t n;

    if (s.len == 0 || (s.ptr[0] == '0' && s.len > 1) || s.ptr[0] < '0' ||
        s.ptr[0] > '9' || !hf_str_to_int(s, &n))
        return false;
    *ret_number = (uint64_t)n;
    return true;
}

hf_export_numbers hf_export_number(const hf_history *h)
{
    hf_export_numbers n = {h, true, h->txn_label != NULL};
    hf_map seen;
    uint64_t number;

    /* names are interned: canonical numbers are different if they are */
    for (hf_session_id s = 0; s < h->n_sessions && n.session_names; s++)
        n.session_names = h->session_name[s] != HF_NONE &&
                          canonical(hf_string(h, h->session_name[s]), &number);
    hf_map_init(&seen);
    for (hf_txn_id t = 0; n.txn_labels && t < h->n_txns; t++)
        n.txn_labels = h->txn_outcome[t] == HF_ABORTED ||
                       (h->txn_label[t] >= 0 &&
                        hf_map_add(&seen, (uint64_t)h->txn_label[t], t) == t);
    hf_map_release(&seen);
    return n;
}

uint64_t hf_export_session(const hf_export_numbers *n, hf_session_id s)
{
    uint64_t number = s;

    if (n->session_names)
        (void)canonical(hf_string(n->h, n->h->session_name[s]), &number);
    return number;
}

uint64_t hf_export_txn(const hf_export_numbers *n, hf_txn_id t)
{
    return n->txn_labels ? (uint64_t)n->h->txn_label[t] : t;
}

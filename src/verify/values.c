/* values.c: orders of plain histories, executed on values.
 *
 * Where a history only reads and writes whole values of keys, or only appends
 * to lists and reads them, an order can be tried out: keep the current value
 * of each key and let the transactions run.  If each read returns the value
 * that is there, the version with that value is a source of the read that
 * fits, whoever else wrote an equal one; no table of writers is needed.  A
 * serial execution is also a commit order with no stale reads, which every
 * level allows.
 *
 * This is the short way to "accepted".  What it does not accept, and what it
 * does not know (conditions, increments, assumptions about versions), is left
 * to the long way through world.c, which also finds the reason.
 *
 * Lists.  The value of a key is the longest list known to be a prefix of it,
 * and a tail: the elements after that, newest first.  A list that is read
 * must end in those and begin with that list; it then takes its place, so
 * that an element is looked at once, however long the list.  An element that
 * is appended twice is left to the long way.
 *
 * Certificate.  Per key a place in its version order.  A version that is next
 * moves it on; if any is left over at the end, some version came too early.
 *
 * One pass over the operations in the order of the witness (snapshots: two),
 * one over their kinds, and one if unique values were promised.
 */
#include "verify/world.h"

#define MARKS (1u << HF_OP_BEGIN | 1u << HF_OP_COMMIT | 1u << HF_OP_ABORT)
#define READS (1u << HF_OP_READ | 1u << HF_OP_READ_LIST)
#define WRITES (1u << HF_OP_WRITE | 1u << HF_OP_INSERT | 1u << HF_OP_DELETE)
#define APPENDS (1u << HF_OP_APPEND)

typedef struct cell {
    hf_value_id value;  /* current; HF_NONE: the initial one */
    hf_value_id tail;   /* lists: the last element after it, or HF_NONE */
    uint32_t written;   /* last, by this transaction or at this event */
    uint32_t next, end; /* in the certificate's version order */
} cell;

/* What a transaction itself wrote, for snapshots. */
typedef struct own_cell {
    hf_txn_id writer;
    hf_value_id value; /* lists: the tail of its own elements */
} own_cell;

typedef struct store {
    const hf_history *h;
    const hf_world *w;
    cell *cells;   /* per key */
    own_cell *own; /* per key; snapshots only */
    bool lists;
    /* lists only, per value: the element before it in its tail; is it in one,
     * or was it? */
    hf_value_id *before;
    bool *appended;
} store;

/* ---- may it be done this way? -------------------------------------------- */

static bool is_plain(const hf_verifier *v, bool *ret_lists)
{
    const hf_history *h = v->h;
    const hf_certificate *cert = &h->cert;
    uint32_t kinds = 0;

    if (v->w->n_sources > 0 || (v->w->rests & ~HF_REST_TIMESTAMPS) ||
        (cert->order_first && cert->order_first[h->n_keys] >= HF_NONE))
        return false;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        kinds |= 1u << (h->op_kind[op] & HF_OP_KIND_MASK);
    *ret_lists = kinds & APPENDS;
    return !(kinds & ~(READS | WRITES | MARKS)) ||
           (!(kinds & ~(READS | APPENDS | MARKS)) && !h->key_initial);
}

static bool is_write(uint8_t kind)
{
    return ((WRITES | APPENDS) >> (kind & HF_OP_KIND_MASK) & 1) &&
           !(kind & HF_OP_FAILED);
}

static bool is_read(uint8_t kind)
{
    return (READS >> (kind & HF_OP_KIND_MASK) & 1) && !(kind & HF_OP_FAILED);
}

/* No value but nil is written twice, by transactions of any outcome. */
static bool keeps_promise(hf_verifier *v)
{
    const hf_history *h = v->h;
    uint64_t *met;

    if (!h->unique_values)
        return true;
    met = hf_zeros(v, (size_t)h->n_values / 64 + 1, sizeof(*met));
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        /* no jumps: which are writes cannot be foretold */
        uint8_t kind = h->op_kind[op];
        uint32_t write = (WRITES | APPENDS) >> (kind & HF_OP_KIND_MASK) & 1u &
                         !(kind & HF_OP_FAILED);
        hf_value_id value = h->op_value[op] & (0u - write);
        uint64_t bit = (uint64_t)write << (value % 64);

        if ((met[value / 64] & bit) && h->value_type[value] != HF_NIL)
            return false;
        met[value / 64] |= bit;
        if ((op & 0xfffff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

/* False if the history is not plain. */
static bool open_store(hf_verifier *v, const hf_world *w, store *ret)
{
    const hf_history *h = v->h;
    const hf_certificate *cert = &h->cert;

    *ret = (store){.h = h, .w = w};
    if (!is_plain(v, &ret->lists))
        return false;
    if (ret->lists) {
        ret->before = hf_zeros(v, h->n_values, sizeof(*ret->before));
        ret->appended = hf_zeros(v, h->n_values, sizeof(*ret->appended));
    }
    ret->cells = hf_nones(v, h->n_keys, sizeof(*ret->cells));
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        cell *c = &ret->cells[k];

        c->next = cert->order_first ? (uint32_t)cert->order_first[k] : 0;
        c->end = cert->order_first ? (uint32_t)cert->order_first[k + 1] : 0;
    }
    return true;
}

/* ---- values -------------------------------------------------------------- */

static bool holds(const store *x, hf_key_id key, hf_value_id value)
{
    hf_value_id current = x->cells[key].value;

    return current == HF_NONE ? hf_value_is_initial(x->h, key, value)
                              : current == value;
}

/* ---- lists --------------------------------------------------------------- */

/* False if it was appended before. */
static bool append(const store *x, hf_value_id element, hf_value_id *tail)
{
    if (x->appended[element])
        return false;
    x->appended[element] = true;
    x->before[element] = *tail;
    *tail = element;
    return true;
}

/* Removes a tail from the list; false if the list does not end so. */
static bool cut_tail(const store *x, hf_value_id tail, hf_value_id *list)
{
    for (; tail != HF_NONE; tail = x->before[tail]) {
        if (*list == HF_NONE || hf_list_last(x->h, *list) != tail)
            return false;
        *list = hf_list_parent(x->h, *list);
    }
    return true;
}

/* Is the list, without the tail of own elements, the current one? */
static bool holds_list(const store *x, hf_key_id key, hf_value_id value,
                       hf_value_id own)
{
    cell *c = &x->cells[key];
    hf_value_id list = value, prefix;

    if (x->h->value_type[value] != HF_LIST) {
        if (x->h->value_type[value] != HF_NIL)
            return false;
        list = HF_NONE;
    }
    if (!cut_tail(x, own, &list))
        return false;
    prefix = list;
    if (!cut_tail(x, c->tail, &prefix) || prefix != c->value)
        return false;
    c->value = list;
    c->tail = HF_NONE;
    return true;
}

/* ---- the certificate ----------------------------------------------------- */

/* t's version of a key is the next: those that did not happen are skipped. */
static void move_on(const store *x, cell *c, hf_txn_id t)
{
    for (; c->next < c->end; c->next++) {
        hf_txn_id listed = x->h->cert.order_txn[c->next];

        if (listed == t) {
            c->next++;
            return;
        }
        if (x->w->place[listed] != HF_NONE)
            return;
    }
}

static bool keeps_certificate(const store *x)
{
    for (hf_key_id k = 0; k < x->h->n_keys; k++) {
        move_on(x, &x->cells[k], HF_NONE);
        if (x->cells[k].next < x->cells[k].end)
            return false;
    }
    return true;
}

/* ---- serial -------------------------------------------------------------- */

static bool run_transaction(const store *x, hf_txn_id t)
{
    const hf_history *h = x->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_value_id value = h->op_value[op];
        hf_key_id key = h->op_key[op];
        cell *c;

        if (is_read(h->op_kind[op])) {
            if (value != HF_NONE &&
                !(x->lists ? holds_list(x, key, value, HF_NONE)
                           : holds(x, key, value)))
                return false;
            continue;
        }
        if (!is_write(h->op_kind[op]))
            continue;
        c = &x->cells[key];
        if (!x->lists)
            c->value = value;
        else if (!append(x, value, &c->tail))
            return false;
        if (c->written != t)
            move_on(x, c, t);
        c->written = t;
    }
    return true;
}

bool hf_values_run_serial(hf_verifier *v, const hf_world *w)
{
    store x;

    if (!open_store(v, w, &x))
        return false;
    for (uint32_t i = 0; i < w->n; i++) {
        if (!run_transaction(&x, w->at[i]))
            return false;
        if ((i & 0xfff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return keeps_certificate(&x) && keeps_promise(v);
}

/* ---- snapshots ----------------------------------------------------------- */

/* t starts: what it reads is current, or its own. */
static bool run_reads(const store *x, hf_txn_id t)
{
    const hf_history *h = x->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_value_id value = h->op_value[op];
        hf_key_id key = h->op_key[op];

        if (is_write(h->op_kind[op]))
            x->own[key] = (own_cell){t, value};
        else if (is_read(h->op_kind[op]) && value != HF_NONE &&
                 (x->own[key].writer == t ? x->own[key].value != value
                                          : !holds(x, key, value)))
            return false;
    }
    return true;
}

static bool run_list_reads(const store *x, hf_txn_id t)
{
    const hf_history *h = x->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_value_id value = h->op_value[op];
        hf_key_id key = h->op_key[op];

        if (is_write(h->op_kind[op])) {
            if (x->own[key].writer != t)
                x->own[key] = (own_cell){t, HF_NONE};
            if (!append(x, value, &x->own[key].value))
                return false;
        } else if (is_read(h->op_kind[op]) && value != HF_NONE) {
            bool own = x->own[key].writer == t;

            if (!holds_list(x, key, value, own ? x->own[key].value : HF_NONE))
                return false;
        }
    }
    return true;
}

/* t commits, at event `now`; nobody may have written its keys since its
 * start. */
static bool run_writes(const store *x, hf_txn_id t, uint32_t start,
                       uint32_t now)
{
    const hf_history *h = x->h;

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        cell *c;

        if (!is_write(h->op_kind[op]))
            continue;
        c = &x->cells[h->op_key[op]];
        if (x->lists) { /* from the own tail to this */
            x->before[h->op_value[op]] = c->tail;
            c->tail = h->op_value[op];
        } else {
            c->value = h->op_value[op];
        }
        if (c->written == now)
            continue;
        if (c->written != HF_NONE && c->written > start)
            return false;
        c->written = now;
        move_on(x, c, t);
    }
    return true;
}

bool hf_values_run_events(hf_verifier *v, const hf_world *w,
                          const uint32_t *start)
{
    store x;

    if (!open_store(v, w, &x))
        return false;
    x.own = hf_nones(v, v->h->n_keys, sizeof(*x.own));
    for (uint32_t i = 0; i < v->w->n_order; i++) {
        hf_txn_id t = v->w->order[i] / 2;
        bool fine;

        if (v->w->order[i] % 2 == 1)
            fine = run_writes(&x, t, start[t], i);
        else
            fine = x.lists ? run_list_reads(&x, t) : run_reads(&x, t);
        if (!fine)
            return false;
        if ((i & 0xfff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return keeps_certificate(&x) && keeps_promise(v);
}

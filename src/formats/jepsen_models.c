/* jepsen_models.c: bank, counter, set, register, mutex, queue and long-fork
 * histories of Jepsen and Knossos.
 *
 * What an operation of each model becomes here:
 *
 *   bank       transfer      increment of both accounts
 *              read          a read of each account
 *   counter    add n         increment of the key "counter", initially 0
 *              read n        read of it
 *   set        add x         insert of the row x (value x)
 *              read          predicate read "true", its rows the elements
 *   set-full   the same with values [key element]: the key is the table
 *   comments   write x       as add of a set; read as of a set
 *   register   write v       write of the key "register"
 *              read v        read of it; nil is its initial version
 *              cas [old new] read of old, write of new
 *   ... with independent keys: values are [key value], the key is that
 *   mutex      acquire       cas 0 to 1 of the key "mutex", initially 0
 *              release       cas 1 to 0
 *   queue      enqueue x     insert of the row x
 *              dequeue x     read and delete of the row x
 *              drain         the same for each element
 *   long-fork  read, write   the micro-operations [:r k v], [:w k v]
 *   multi-register           [:read k v], [:write k v], keys initially 0
 *
 * Values repeat in most of these, so uniqueness is not promised.  fail makes
 * an aborted transaction; what it read is not recorded (a cas that failed
 * because the comparison did not hold is aborted, too: what it saw instead is
 * not in the file).  Unknown transactions have the effect of the invocation;
 * a cas that may have happened read its old value if it did, a dequeue that
 * may have happened is a predicate delete without result.
 *
 * No bank history tells the opening balances.  An account that no transfer of
 * the file names, whatever its outcome, never changes: it begins as what the
 * first read shows, and if two reads differ no other beginning would explain
 * them either.  For all other accounts nothing is assumed.
 *
 * The file is read twice: first to tell the model, as far as that takes.
 * Linear.
 */
#include "formats/jepsen_models.h"

#include <stdio.h>

typedef struct account {
    hf_value_id first; /* the first balance read; HF_NONE: none */
    bool is_moved;     /* a transfer names it */
} account;

typedef struct models {
    hf_jepsen j;
    hf_jepsen_model model;
    bool is_keyed;            /* values are [key value] */
    bool zero_initial;        /* MODEL_TXN: registers begin as 0 */
    HF_VEC(bool) known;       /* by key: its initial value is set */
    HF_VEC(account) accounts; /* by key; bank only */
    HF_VEC(hf_version_ref) rows;
} models;

/* ---- parts of values ----------------------------------------------------- */

/* A key in a table (HF_NONE: plain); anything but numbers by its text. */
static hf_key_id key_of(models *m, hf_string_id table, hf_scalar s)
{
    char word[8];

    if (s.type == HF_BOOL || s.type == HF_NIL) {
        (void)snprintf(word, sizeof(word), "%s",
                       s.type == HF_NIL ? "nil"
                       : s.number       ? "true"
                                        : "false");
        s.text = word;
        s.length = strlen(word);
    }
    if (s.type != HF_INT)
        s.type = HF_TEXT;
    return hf_builder_key_row(m->j.b, table, s);
}

static hf_string_id table_of(models *m, hf_scalar s)
{
    char digits[24];

    if (s.type != HF_INT)
        return hf_builder_string(m->j.b, s.text ? s.text : "", s.length);
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)s.number);
    return hf_builder_string(m->j.b, digits, strlen(digits));
}

static hf_key_id named_key(models *m, const char *name)
{
    return hf_builder_key_text(m->j.b, name, strlen(name));
}

/* The key begins as an integer; told to the builder once. */
static void begins_as(models *m, hf_key_id key, int64_t value)
{
    while (m->known.n <= key)
        hf_vec_push(&m->known, false);
    if (m->known.at[key])
        return;
    m->known.at[key] = true;
    hf_builder_initial(m->j.b, key, hf_builder_int(m->j.b, key, value));
}

static void add_cas(models *m, hf_txn_id t, hf_key_id key, hf_value_id old,
                    hf_value_id new)
{
    (void)hf_builder_op(m->j.b, t, HF_OP_READ, key, old);
    (void)hf_builder_op(m->j.b, t, HF_OP_WRITE, key, new);
}

static void add_row(models *m, hf_txn_id t, unsigned kind, hf_string_id table,
                    hf_scalar element)
{
    hf_key_id key = key_of(m, table, element);

    (void)hf_builder_op(m->j.b, t, kind, key,
                        hf_builder_value(m->j.b, key, element));
}

/* ---- bank ---------------------------------------------------------------- */

/* JSON writes accounts as texts where they are names in a map, so a text
 * that is a number is that number. */
static hf_key_id account_key(models *m, hf_scalar name)
{
    if (name.type == HF_TEXT &&
        hf_str_to_int((hf_str){name.text, name.length}, &name.number))
        name.type = HF_INT;
    return key_of(m, HF_NONE, name);
}

static account *account_of(models *m, hf_key_id key)
{
    while (m->accounts.n <= key)
        hf_vec_push(&m->accounts, (account){.first = HF_NONE});
    return &m->accounts.at[key];
}

static void add_move(models *m, hf_txn_id t, hf_scalar name, int64_t amount)
{
    hf_key_id key = account_key(m, name);

    account_of(m, key)->is_moved = true;
    (void)hf_builder_increment(m->j.b, t, key, amount, HF_NONE, HF_NONE);
}

static bool add_transfer(models *m, hf_jread *r, hf_txn_id t)
{
    hf_scalar key, from = {.type = HF_NIL}, to = {.type = HF_NIL};
    int64_t amount = 0;
    unsigned parts = 0;

    if (!hf_jread_open(r, HF_J_MAP))
        return false;
    while (hf_jread_next_key(r, &key)) {
        bool ok;

        if (hf_scalar_is(key, "from") && ++parts)
            ok = hf_jread_scalar(r, &from);
        else if (hf_scalar_is(key, "to") && ++parts)
            ok = hf_jread_scalar(r, &to);
        else if (hf_scalar_is(key, "amount") && ++parts)
            ok = hf_jread_int(r, &amount);
        else
            ok = hf_jread_skip(r, NULL);
        if (!ok)
            return false;
    }
    if (hf_jread_failed(r))
        return false;
    if (parts != 3 || amount == INT64_MIN)
        return hf_jread_expected(r, "from, to and amount of a transfer "
                                    "before this");
    add_move(m, t, from, -amount);
    add_move(m, t, to, amount);
    return true;
}

static bool add_balances(models *m, hf_jread *r, hf_txn_id t)
{
    hf_scalar name, balance;
    account *a;

    if (hf_jread_peek(r) == HF_J_NIL)
        return hf_jread_nil(r);
    if (!hf_jread_open(r, HF_J_MAP))
        return false;
    while (hf_jread_next_key(r, &name)) {
        hf_key_id key = account_key(m, name);
        hf_value_id value;

        if (!hf_jread_scalar(r, &balance))
            return false;
        value = hf_builder_value(m->j.b, key, balance);
        (void)hf_builder_op(m->j.b, t, HF_OP_READ, key, value);
        a = account_of(m, key);
        if (a->first == HF_NONE)
            a->first = value;
    }
    return !hf_jread_failed(r);
}

/* After the last event: accounts that never change. */
static void set_openings(models *m)
{
    for (hf_key_id key = 0; key < m->accounts.n; key++) {
        const account *a = &m->accounts.at[key];

        if (!a->is_moved && a->first != HF_NONE)
            hf_builder_initial(m->j.b, key, a->first);
    }
}

/* ---- sets and queues ----------------------------------------------------- */

/* Reads elements into m->rows, as rows of `table`. */
static bool read_elements(models *m, hf_jread *r, hf_string_id table)
{
    hf_jkind kind = hf_jread_peek(r);
    hf_scalar element;

    m->rows.n = 0;
    if (kind == HF_J_NIL)
        return hf_jread_nil(r);
    if (!hf_jread_open(r, kind == HF_J_SET ? HF_J_SET : HF_J_SEQ))
        return false;
    while (hf_jread_next(r)) {
        hf_key_id key;

        if (!hf_jread_scalar(r, &element))
            return false;
        key = key_of(m, table, element);
        hf_vec_push(
            &m->rows,
            (hf_version_ref){hf_builder_value(m->j.b, key, element), HF_NONE});
    }
    return !hf_jread_failed(r);
}

/* The predicate "true" over the whole set, with m->rows if has_rows. */
static void add_predicate(models *m, hf_txn_id t, unsigned kind,
                          hf_scalar table, bool has_rows)
{
    hf_predicate_in in = {
        .table = table,
        .condition = {.type = HF_TEXT, .text = "true", .length = 4},
        .has_result_set = has_rows,
        .results = m->rows.at,
        .n_results = has_rows ? (uint32_t)m->rows.n : 0};

    (void)hf_builder_predicate(m->j.b, t, kind, &in);
}

/* [key ...]: reads the key and stands before what follows it. */
static bool open_keyed(hf_jread *r, hf_scalar *ret_key)
{
    return hf_jread_open(r, HF_J_SEQ) &&
           (hf_jread_next(r) || hf_jread_expected(r, "a key before this")) &&
           hf_jread_scalar(r, ret_key) &&
           (hf_jread_next(r) || hf_jread_expected(r, "a value before this"));
}

static bool close_keyed(hf_jread *r)
{
    return !hf_jread_next(r) ? !hf_jread_failed(r)
                             : hf_jread_expected(r, "the end of a pair");
}

static bool add_element(models *m, hf_jread *r, hf_txn_id t)
{
    hf_string_id table = HF_NONE;
    hf_scalar element, key;

    if (m->is_keyed) {
        if (!open_keyed(r, &key))
            return false;
        table = table_of(m, key);
    }
    if (!hf_jread_scalar(r, &element))
        return false;
    add_row(m, t, HF_OP_INSERT, table, element);
    return m->is_keyed ? close_keyed(r) : true;
}

/* The set a read is about: its key as a table's name. */
typedef struct set_name {
    hf_scalar name; /* HF_NIL: the only set there is */
    hf_string_id table;
    char digits[24];
} set_name;

static void name_set(models *m, hf_scalar key, set_name *ret)
{
    ret->table = table_of(m, key);
    ret->name = key;
    if (key.type == HF_INT) {
        (void)snprintf(ret->digits, sizeof(ret->digits), "%lld",
                       (long long)key.number);
        ret->name = (hf_scalar){.type = HF_TEXT,
                                .text = ret->digits,
                                .length = strlen(ret->digits)};
    }
}

/* [key elements], as against just the elements? */
static bool is_nested(const models *m, hf_str value)
{
    hf_jkind kind = HF_J_END;
    hf_scalar key;
    hf_jread r;
    bool nested;

    hf_jepsen_value(&m->j, &r, value);
    nested = hf_jread_peek(&r) == HF_J_SEQ && open_keyed(&r, &key);
    if (nested)
        kind = hf_jread_peek(&r);
    hf_jread_release(&r);
    return nested && (kind == HF_J_SEQ || kind == HF_J_SET || kind == HF_J_NIL);
}

/* The elements of an ok read; `set` is that of the invocation. */
static hf_status add_set_result(models *m, hf_txn_id t, hf_str value,
                                set_name *set)
{
    bool nested = m->is_keyed && is_nested(m, value), ok = true;
    hf_scalar key;
    hf_jread r;

    hf_jepsen_value(&m->j, &r, value);
    if (nested) {
        ok = open_keyed(&r, &key);
        if (ok)
            name_set(m, key, set);
    }
    if (ok && read_elements(m, &r, set->table)) {
        add_predicate(m, t, HF_OP_PREDICATE_READ, set->name, true);
        if (nested)
            (void)close_keyed(&r);
    }
    return hf_jepsen_value_done(&m->j, &r);
}

static hf_status add_set_read(models *m, hf_txn_id t,
                              const hf_jepsen_done *done)
{
    const hf_jepsen_event *i = done->invocation, *e = done->completion;
    bool is_keyed = m->is_keyed && i && i->value.ptr;
    set_name set = {.name = {.type = HF_NIL}, .table = HF_NONE};
    hf_status st = HF_OK;
    hf_scalar key;
    hf_jread r;

    if (is_keyed) {
        hf_jepsen_value(&m->j, &r, i->value);
        if (hf_jread_peek(&r) == HF_J_SEQ && open_keyed(&r, &key))
            name_set(m, key, &set);
    }
    if (done->outcome == HF_COMMITTED && e->value.ptr) {
        st = add_set_result(m, t, e->value, &set);
    } else {
        m->rows.n = 0;
        add_predicate(m, t, HF_OP_PREDICATE_READ, set.name, false);
    }
    if (is_keyed)
        hf_jread_release(&r);
    return st;
}

static void dequeue(models *m, hf_txn_id t, hf_scalar element)
{
    hf_key_id key = key_of(m, HF_NONE, element);

    (void)hf_builder_op(m->j.b, t, HF_OP_READ, key,
                        hf_builder_value(m->j.b, key, element));
    (void)hf_builder_op(m->j.b, t, HF_OP_DELETE, key,
                        hf_builder_nil(m->j.b, key));
}

/* dequeue or drain, committed; nil: the queue was empty. */
static bool add_dequeued(models *m, hf_jread *r, hf_txn_id t)
{
    hf_jkind kind = hf_jread_peek(r);
    hf_scalar element;

    if (kind == HF_J_NIL) {
        m->rows.n = 0;
        add_predicate(m, t, HF_OP_PREDICATE_READ, (hf_scalar){.type = HF_NIL},
                      true);
        return hf_jread_nil(r);
    }
    if (kind != HF_J_SEQ && kind != HF_J_SET) {
        if (!hf_jread_scalar(r, &element))
            return false;
        dequeue(m, t, element);
        return true;
    }
    if (!hf_jread_open(r, kind))
        return false;
    while (hf_jread_next(r)) {
        if (!hf_jread_scalar(r, &element))
            return false;
        dequeue(m, t, element);
    }
    return !hf_jread_failed(r);
}

/* ---- registers ----------------------------------------------------------- */

static bool add_register_op(models *m, hf_jread *r, hf_txn_id t,
                            const hf_jepsen_done *done, hf_jepsen_f f)
{
    hf_scalar name, value, new;
    hf_key_id key;
    bool reads = done->outcome == HF_COMMITTED;

    if (m->is_keyed) {
        if (!open_keyed(r, &name))
            return false;
        key = key_of(m, HF_NONE, name);
    } else {
        key = named_key(m, "register");
    }
    if (f == HF_F_CAS) {
        if (!open_keyed(r, &value) || !hf_jread_scalar(r, &new) ||
            !close_keyed(r))
            return false;
        add_cas(m, t, key,
                done->outcome == HF_ABORTED
                    ? HF_NONE
                    : hf_builder_value(m->j.b, key, value),
                hf_builder_value(m->j.b, key, new));
    } else {
        if (!hf_jread_scalar(r, &value))
            return false;
        (void)hf_builder_op(
            m->j.b, t, f == HF_F_WRITE ? HF_OP_WRITE : HF_OP_READ, key,
            f == HF_F_READ && !reads ? HF_NONE
                                     : hf_builder_value(m->j.b, key, value));
    }
    return m->is_keyed ? close_keyed(r) : true;
}

static void add_mutex_op(models *m, hf_txn_id t, bool acquire, bool aborted)
{
    hf_key_id key = named_key(m, "mutex");
    hf_value_id free_ = hf_builder_int(m->j.b, key, 0);
    hf_value_id held = hf_builder_int(m->j.b, key, 1);

    begins_as(m, key, 0);
    add_cas(m, t, key,
            aborted   ? HF_NONE
            : acquire ? free_
                      : held,
            acquire ? held : free_);
}

static bool add_counter_op(models *m, hf_jread *r, hf_txn_id t,
                           const hf_jepsen_done *done, hf_jepsen_f f)
{
    hf_key_id key = named_key(m, "counter");
    hf_scalar value;
    int64_t amount;

    begins_as(m, key, 0);
    if (f == HF_F_ADD) {
        if (!hf_jread_int(r, &amount))
            return false;
        (void)hf_builder_increment(m->j.b, t, key, amount, HF_NONE, HF_NONE);
        return true;
    }
    if (!hf_jread_scalar(r, &value))
        return false;
    (void)hf_builder_op(m->j.b, t, HF_OP_READ, key,
                        done->outcome != HF_COMMITTED || value.type == HF_NIL
                            ? HF_NONE
                            : hf_builder_value(m->j.b, key, value));
    return true;
}

/* ---- micro-operations ---------------------------------------------------- */

static bool add_micro_op(models *m, hf_jread *r, hf_txn_id t,
                         hf_outcome outcome)
{
    hf_scalar name, value = {.type = HF_NIL};
    hf_value_id v = HF_NONE;
    hf_key_id key;
    hf_str f;
    bool is_read;

    if (!hf_jread_open(r, HF_J_SEQ) || !hf_jread_next(r) ||
        hf_jread_peek(r) != HF_J_TEXT || !hf_jread_name(r, &f))
        return hf_jread_expected(r, "a micro-operation");
    is_read = hf_str_eq(f, HF_STR("r")) || hf_str_eq(f, HF_STR("read"));
    if (!is_read && !hf_str_eq(f, HF_STR("w")) &&
        !hf_str_eq(f, HF_STR("write")))
        return hf_jread_expected(r, "a read or write before");
    if (!hf_jread_next(r))
        return hf_jread_expected(r, "a key before this");
    if (!hf_jread_scalar(r, &name))
        return false;
    key = key_of(m, HF_NONE, name);
    if (m->zero_initial)
        begins_as(m, key, 0);
    if (hf_jread_next(r)) {
        if (!hf_jread_scalar(r, &value))
            return false;
        if (!is_read || (outcome == HF_COMMITTED &&
                         !(m->zero_initial && value.type == HF_NIL)))
            v = hf_builder_value(m->j.b, key, value);
        if (hf_jread_next(r))
            return hf_jread_expected(r, "the end of a micro-operation");
    } else if (!is_read) {
        return hf_jread_expected(r, "a value before this");
    }
    (void)hf_builder_op(m->j.b, t, is_read ? HF_OP_READ : HF_OP_WRITE, key, v);
    return !hf_jread_failed(r);
}

static bool add_micro_ops(models *m, hf_jread *r, hf_txn_id t,
                          hf_outcome outcome)
{
    if (hf_jread_peek(r) == HF_J_NIL)
        return hf_jread_nil(r);
    if (!hf_jread_open(r, HF_J_SEQ))
        return false;
    while (hf_jread_next(r))
        if (!add_micro_op(m, r, t, outcome))
            return false;
    return !hf_jread_failed(r);
}

/* ---- one transaction ----------------------------------------------------- */

static bool add_value(models *m, hf_jread *r, hf_txn_id t,
                      const hf_jepsen_done *done, hf_jepsen_f f)
{
    bool committed = done->outcome == HF_COMMITTED;

    switch (m->model) {
    case HF_MODEL_BANK:
        if (f == HF_F_TRANSFER)
            return add_transfer(m, r, t);
        return committed ? add_balances(m, r, t) : true;
    case HF_MODEL_COUNTER:
        return add_counter_op(m, r, t, done, f);
    case HF_MODEL_SET:
        return add_element(m, r, t);
    case HF_MODEL_REGISTER:
        return add_register_op(m, r, t, done, f);
    case HF_MODEL_QUEUE:
        if (f != HF_F_ENQUEUE)
            return add_dequeued(m, r, t);
        return add_element(m, r, t);
    case HF_MODEL_TXN:
        return add_micro_ops(m, r, t, done->outcome);
    default:
        return true;
    }
}

static bool fits(hf_jepsen_model model, hf_jepsen_f f)
{
    switch (model) {
    case HF_MODEL_BANK:
        return f == HF_F_READ || f == HF_F_TRANSFER;
    case HF_MODEL_COUNTER:
        return f == HF_F_READ || f == HF_F_ADD;
    case HF_MODEL_SET:
        return f == HF_F_READ || f == HF_F_ADD || f == HF_F_WRITE;
    case HF_MODEL_REGISTER:
        return f == HF_F_READ || f == HF_F_WRITE || f == HF_F_CAS;
    case HF_MODEL_MUTEX:
        return f == HF_F_ACQUIRE || f == HF_F_RELEASE;
    case HF_MODEL_QUEUE:
        return f == HF_F_ENQUEUE || f == HF_F_DEQUEUE || f == HF_F_DRAIN;
    case HF_MODEL_TXN:
        return f == HF_F_READ || f == HF_F_WRITE || f == HF_F_TXN ||
               f == HF_F_MISSING;
    default:
        return false;
    }
}

/* A transaction whose event has no value at all. */
static hf_status without_value(models *m, hf_txn_id t,
                               const hf_jepsen_event *from, hf_outcome outcome)
{
    bool committed = outcome == HF_COMMITTED;
    hf_jepsen_f f = (hf_jepsen_f)from->f;

    if (f == HF_F_READ && m->model == HF_MODEL_REGISTER && !m->is_keyed)
        (void)hf_builder_op(m->j.b, t, HF_OP_READ, named_key(m, "register"),
                            HF_NONE);
    else if (committed && f != HF_F_READ && f != HF_F_DEQUEUE &&
             f != HF_F_DRAIN)
        return hf_jepsen_refuse(&m->j, from,
                                "expected the value of a committed "
                                "operation, found none");
    else if (outcome == HF_UNKNOWN_OUTCOME && f == HF_F_TRANSFER)
        return hf_jepsen_refuse(&m->j, from,
                                "expected the value of a transfer that may "
                                "have happened, found none");
    return HF_OK;
}

static hf_status emit(hf_jepsen *j, hf_txn_id t, const hf_jepsen_done *done)
{
    models *m = j->user;
    const hf_jepsen_event *from = done->completion;
    bool committed = done->outcome == HF_COMMITTED;
    hf_jepsen_f f;
    hf_jread r;

    if (done->invocation && !committed)
        from = done->invocation; /* a failure's value may be its reason */
    f = (hf_jepsen_f)from->f;
    if (!fits(m->model, f))
        return hf_jepsen_refuse(j, from,
                                "an operation that does not belong to the "
                                "model of this history");
    if (m->model == HF_MODEL_MUTEX) {
        add_mutex_op(m, t, f == HF_F_ACQUIRE, done->outcome == HF_ABORTED);
        return HF_OK;
    }
    if (m->model == HF_MODEL_SET && f == HF_F_READ)
        return add_set_read(m, t, done);
    if (m->model == HF_MODEL_QUEUE && f != HF_F_ENQUEUE && !committed) {
        m->rows.n = 0;
        add_predicate(m, t, HF_OP_PREDICATE_DELETE, (hf_scalar){.type = HF_NIL},
                      false);
        return HF_OK;
    }
    if (!from->value.ptr)
        return without_value(m, t, from, done->outcome);
    hf_jepsen_value(j, &r, from->value);
    (void)add_value(m, &r, t, done, f);
    return hf_jepsen_value_done(j, &r);
}

hf_status hf_jepsen_models_import(const hf_input *in, hf_builder *b, bool json,
                                  hf_error *err)
{
    models m = {.model = HF_MODEL_NONE};
    hf_status st;

    hf_jepsen_init(&m.j, in, b, json, err);
    m.j.emit = emit;
    m.j.user = &m;
    m.model = hf_jepsen_tell(&m.j, &m.is_keyed, &m.zero_initial);
    st = hf_jepsen_import(&m.j);
    if (st == HF_OK)
        set_openings(&m);
    hf_vec_release(&m.known);
    hf_vec_release(&m.accounts);
    hf_vec_release(&m.rows);
    hf_jepsen_release(&m.j);
    return st;
}

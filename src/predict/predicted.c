/* predicted.c: a prediction becomes a history.
 *
 * Transactions of the observed history up to the boundaries, in its order;
 * reads have the values of their sources.  Certificates and times are not
 * carried over: they tell of a run that took place.
 *
 * Sources must be seen in the values.  Where two versions of a key have equal
 * values (or one was deleted, which looks like the state before all), each
 * gets its writer's label; or, where conditions are asked about the key's
 * table, which need the values, a second key beside it has the labels: whoever
 * writes the row writes it, whoever reads the row as an item reads it.  Appends
 * and increments are a read and a write. Writes that a transaction writes over
 * later, behind its boundary, are left out: only last writes are events.
 *
 * A predicate operation has its version set.  One thing that does not say: a
 * transaction that saw a version outside of its result and writes the row
 * later comes after the writer of that version.  By the orders of versions
 * alone its own write might be the one that put the row outside
 * (docs/semantics.md), so that is said by a key of these two.
 */
#include "predict/predict.h"

#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "history/builder.h"

typedef struct maker {
    const hf_history *h;
    const hf_prediction *p;
    hf_builder *b;
    bool whole;             /* with the writes after a boundary */
    hf_key_id *key;         /* per key: in the new history; HF_NONE: not yet */
    hf_session_id *session; /* per session */
    hf_txn_id *txn;         /* per transaction */
    uint8_t *relabel;       /* per key */
    uint8_t *beside;        /* per key: it has a second one */
    hf_op_id *last_write;   /* per key: of the transaction under way */
    hf_value_id *own;       /* per key: its last value, if ... */
    hf_txn_id *own_of;      /* ... this is the transaction */
    hf_map installed;       /* transaction and key: its last write */
    size_t at;              /* in p->reads */
    HF_VEC(hf_version_ref) versions;
    HF_VEC(hf_version_ref) results;
    hf_out text;
} maker;

/* ---- names --------------------------------------------------------------- */

static hf_key_id key_of(maker *m, hf_key_id k)
{
    hf_scalar s;

    if (m->key[k] != HF_NONE)
        return m->key[k];
    s = hf_key_scalar(m->h, k);
    if (m->h->key_table && m->h->key_table[k] != HF_NONE) {
        hf_str table = hf_string(m->h, m->h->key_table[k]);

        m->key[k] = hf_builder_key_row(
            m->b, hf_builder_string(m->b, table.ptr, table.len), s);
    } else if (s.type == HF_INT) {
        m->key[k] = hf_builder_key_int(m->b, s.number);
    } else {
        m->key[k] = hf_builder_key_text(m->b, s.text, s.length);
    }
    return m->key[k];
}

/* The second key, which says who wrote the row. */
static hf_key_id key_beside(maker *m, hf_key_id k)
{
    hf_str table = hf_string(m->h, m->h->key_table[k]);
    hf_string_id name;

    m->text.n = 0;
    hf_out_str(&m->text, table);
    hf_out_text(&m->text, " (writer)");
    name = hf_builder_string(m->b, m->text.at, m->text.n);
    return hf_builder_key_row(m->b, name, hf_key_scalar(m->h, k));
}

static hf_session_id session_of(maker *m, hf_session_id s)
{
    if (m->session[s] == HF_NONE) {
        hf_string_id name = m->h->session_name[s];

        if (name == HF_NONE)
            m->session[s] = hf_builder_session_fresh(m->b);
        else
            m->session[s] = hf_builder_session_text(
                m->b, hf_string(m->h, name).ptr, hf_string(m->h, name).len);
    }
    return m->session[s];
}

/* ---- values -------------------------------------------------------------- */

static bool is_write(const hf_history *h, hf_op_id op)
{
    return hf_op_installs(hf_op_kind_of(h, op)) &&
           !(hf_op_flags_of(h, op) & HF_OP_FAILED);
}

static hf_value_id written(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) == HF_OP_INCREMENT
               ? hf_op_increment(h, op).after
               : h->op_value[op];
}

static hf_scalar scalar_of(const hf_history *h, hf_value_id v)
{
    hf_scalar absent = {.type = HF_NIL};

    return v == HF_NONE ? absent : hf_value_scalar(h, v);
}

/* The value of the new history's key as text, with the label of who wrote
 * it. */
static hf_value_id labelled(maker *m, hf_key_id key, hf_scalar s, hf_txn_id t,
                            uint32_t part)
{
    hf_scalar text = {.type = HF_TEXT};

    m->text.n = 0;
    if (s.type == HF_INT || s.type == HF_BOOL)
        hf_out_int(&m->text, s.number);
    else if (s.type == HF_NIL)
        hf_out_text(&m->text, "nil");
    else if (s.text)
        hf_out_bytes(&m->text, s.text, s.length);
    hf_out_format(&m->text, " (T%lld", (long long)hf_txn_label(m->h, t));
    if (part > 0)
        hf_out_format(&m->text, ".%u", part);
    hf_out_char(&m->text, ')');
    text.text = m->text.at;
    text.length = m->text.n;
    return hf_builder_value(m->b, key, text);
}

/* What the write puts there; part 0: the last one of its transaction. */
static hf_value_id value_of(maker *m, hf_op_id op, hf_txn_id t, uint32_t part)
{
    hf_key_id k = m->h->op_key[op];
    hf_scalar s = scalar_of(m->h, written(m->h, op));

    if (m->relabel[k])
        return labelled(m, key_of(m, k), s, t, part);
    if (s.type == HF_NIL)
        return hf_builder_nil(m->b, key_of(m, k));
    return hf_builder_value(m->b, key_of(m, k), s);
}

static hf_value_id initial_of(maker *m, hf_key_id k)
{
    hf_value_id v = m->h->key_initial ? m->h->key_initial[k] : HF_NONE;

    if (v == HF_NONE || m->h->value_type[v] == HF_LIST)
        return hf_builder_nil(m->b, key_of(m, k));
    return hf_builder_value(m->b, key_of(m, k), hf_value_scalar(m->h, v));
}

/* The version of k that transaction t installed; HF_NONE: the initial one. */
static hf_value_id version_of(maker *m, hf_key_id k, hf_txn_id t)
{
    uint32_t op;

    if (t == HF_NONE)
        return initial_of(m, k);
    op = hf_map_get(&m->installed, (uint64_t)t << 32 | k);
    HF_ASSERT(op != UINT32_MAX);
    return value_of(m, op, t, 0);
}

/* Keys whose versions cannot be told apart by value. */
static void find_equal(maker *m)
{
    const hf_history *h = m->h;
    hf_txn_id *by = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);

    memset(by, 0xff, h->n_values * sizeof(*by));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v;

            if (!is_write(h, op))
                continue;
            v = written(h, op);
            if (v == HF_NONE || hf_value_is_initial(h, h->op_key[op], v) ||
                h->value_type[v] == HF_NIL || (by[v] != HF_NONE && by[v] != t))
                m->relabel[h->op_key[op]] = 1;
            else
                by[v] = t;
        }
    hf_free(by);
    /* a labelled text has to differ from what the key had at first */
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_string_id table;

        if (!hf_op_has_predicate(kind))
            continue;
        table = hf_op_predicate(h, op).table;
        for (hf_key_id k = 0; k < h->n_keys; k++)
            if ((h->key_table ? h->key_table[k] : HF_NONE) == table &&
                m->relabel[k]) {
                m->relabel[k] = 0;
                m->beside[k] = table != HF_NONE;
            }
    }
}

static void find_installed(maker *m)
{
    const hf_history *h = m->h;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (is_write(h, op))
                hf_map_set(&m->installed, (uint64_t)t << 32 | h->op_key[op],
                           op);
}

/* ---- operations ---------------------------------------------------------- */

static const hf_predicted_session *boundary_of(const maker *m, hf_txn_id t)
{
    for (uint32_t s = 0; s < m->p->n_sessions; s++)
        if (m->p->sessions[s].session == m->h->txn_session[t])
            return &m->p->sessions[s];
    return NULL;
}

/* The reads of this operation in the prediction. */
static uint32_t reads_of(maker *m, hf_op_id op,
                         const hf_predicted_read **ret_first)
{
    uint32_t n = 0;

    while (m->at < m->p->n_reads && m->p->reads[m->at].op < op)
        m->at++;
    *ret_first = m->p->reads + m->at;
    while (m->at + n < m->p->n_reads && m->p->reads[m->at + n].op == op)
        n++;
    return n;
}

static void put_write(maker *m, hf_txn_id t, hf_op_id op, hf_op_id last)
{
    hf_key_id k = m->h->op_key[op];
    hf_op_id final = hf_map_get(&m->installed, (uint64_t)t << 32 | k);
    unsigned kind = hf_op_kind_of(m->h, op);

    if (final > last)
        return;
    if (kind == HF_OP_APPEND || kind == HF_OP_INCREMENT ||
        (kind == HF_OP_DELETE && m->relabel[k]))
        kind = HF_OP_WRITE;
    m->own[k] = value_of(m, op, t, op == final ? 0 : final - op);
    m->own_of[k] = t;
    (void)hf_builder_op(m->b, m->txn[t], kind, key_of(m, k), m->own[k]);
    if (m->beside[k]) {
        hf_key_id second = key_beside(m, k);

        (void)hf_builder_op(m->b, m->txn[t], HF_OP_WRITE, second,
                            labelled(m, second, (hf_scalar){.type = HF_NIL}, t,
                                     op == final ? 0 : final - op));
    }
}

/* Who wrote the row, of a key that has a second one. */
static void put_beside(maker *m, hf_txn_id t, hf_key_id k, hf_txn_id source)
{
    hf_key_id second;

    if (!m->beside[k])
        return;
    second = key_beside(m, k);
    (void)hf_builder_op(
        m->b, m->txn[t], HF_OP_READ, second,
        source == HF_NONE
            ? hf_builder_nil(m->b, second)
            : labelled(m, second, (hf_scalar){.type = HF_NIL}, source, 0));
}

static void put_item(maker *m, hf_txn_id t, hf_op_id op)
{
    hf_key_id k = m->h->op_key[op];
    unsigned flags = hf_op_flags_of(m->h, op);
    const hf_predicted_read *r;

    if (reads_of(m, op, &r) > 0) {
        (void)hf_builder_op(m->b, m->txn[t], HF_OP_READ | flags, key_of(m, k),
                            version_of(m, k, r->source));
        put_beside(m, t, k, r->source);
    } else if (hf_op_reads_item(hf_op_kind_of(m->h, op)) && m->own_of[k] == t)
        (void)hf_builder_op(m->b, m->txn[t], HF_OP_READ | flags, key_of(m, k),
                            m->own[k]);
}

static void put_refs(maker *m, hf_txn_id t, hf_op_id op)
{
    const hf_predicted_read *r;
    uint32_t n = reads_of(m, op, &r);
    hf_string_id table = hf_op_predicate(m->h, op).table;

    m->versions.n = m->results.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        hf_version_ref ref = {version_of(m, r[i].key, r[i].source),
                              r[i].source == HF_NONE ? HF_WRITER_INITIAL
                                                     : m->txn[r[i].source]};

        hf_vec_push(&m->versions, ref);
        if (r[i].matches)
            hf_vec_push(&m->results, ref);
    }
    for (hf_op_id w = m->h->op_first[t]; w < op; w++) {
        hf_key_id k = m->h->op_key[w];

        if (!is_write(m->h, w) || m->last_write[k] != w || m->own_of[k] != t ||
            (m->h->key_table ? m->h->key_table[k] : HF_NONE) != table)
            continue;
        hf_vec_push(&m->versions, (hf_version_ref){m->own[k], m->txn[t]});
    }
}

static hf_scalar text_of(const hf_history *h, hf_string_id id)
{
    hf_scalar s = {.type = id == HF_NONE ? HF_NIL : HF_TEXT};

    if (id != HF_NONE) {
        s.text = hf_string(h, id).ptr;
        s.length = hf_string(h, id).len;
    }
    return s;
}

/* What of the result was its own rows is not known any more: then the result
 * set is left out. */
static bool sees_own(const maker *m, hf_txn_id t)
{
    for (size_t i = 0; i < m->versions.n; i++)
        if (m->versions.at[i].writer == m->txn[t])
            return true;
    return false;
}

/* The key by which reader t says that it has seen a row of the writer's. */
static hf_key_id key_seen(maker *m, hf_txn_id writer, hf_txn_id t)
{
    hf_scalar name = {.type = HF_TEXT};
    hf_string_id table = hf_builder_string(m->b, "(seen)", 6);

    m->text.n = 0;
    hf_out_format(&m->text, "T%lld by T%lld",
                  (long long)hf_txn_label(m->h, writer),
                  (long long)hf_txn_label(m->h, t));
    name.text = m->text.at;
    name.length = m->text.n;
    return hf_builder_key_row(m->b, table, name);
}

/* Does t, which looked at a row and did not get it, write that row itself?
 * Then the order of versions cannot say that it looked first. */
static bool is_own_later(const maker *m, hf_txn_id t,
                         const hf_predicted_read *r)
{
    return r->is_row && !r->matches && r->source != HF_NONE &&
           hf_map_get(&m->installed, (uint64_t)t << 32 | r->key) != UINT32_MAX;
}

static void put_seen(maker *m, hf_txn_id t, const hf_predicted_read *r)
{
    hf_key_id k;

    if (!is_own_later(m, t, r))
        return;
    k = key_seen(m, r->source, t);
    (void)hf_builder_op(m->b, m->txn[t], HF_OP_READ, k,
                        hf_builder_int(m->b, k, 1));
}

/* What put_seen() of the others reads. */
static void put_to_be_seen(maker *m, hf_txn_id writer)
{
    hf_txn_id last = HF_NONE;

    for (uint32_t i = 0; i < m->p->n_reads; i++) {
        const hf_predicted_read *r = &m->p->reads[i];
        hf_key_id k;

        if (r->source != writer || r->txn == last ||
            !is_own_later(m, r->txn, r))
            continue;
        last = r->txn; /* one reader's reads stand together */
        k = key_seen(m, writer, r->txn);
        (void)hf_builder_op(m->b, m->txn[writer], HF_OP_WRITE, k,
                            hf_builder_int(m->b, k, 1));
    }
}

static void put_predicate(maker *m, hf_txn_id t, hf_op_id op)
{
    const hf_history *h = m->h;
    hf_predicate q = hf_op_predicate(h, op);
    hf_predicate_in in = {.table = text_of(h, q.table),
                          .condition = text_of(h, q.condition)};
    hf_scalar *columns = HF_NEW_ARRAY(hf_scalar, q.n_columns + 1u);
    const hf_predicted_read *r;
    uint32_t n = reads_of(m, op, &r);

    if (n > 0 && !r->is_row) {
        for (uint32_t i = 0; i < n; i++)
            (void)hf_builder_op(m->b, m->txn[t], HF_OP_READ,
                                key_of(m, r[i].key),
                                version_of(m, r[i].key, r[i].source));
    } else if (n > 0) {
        put_refs(m, t, op);
        for (uint32_t i = 0; i < q.n_columns; i++)
            columns[i] = text_of(h, q.columns[i]);
        in.columns = columns;
        in.n_columns = q.n_columns;
        in.has_version_set = true;
        in.versions = m->versions.at;
        in.n_versions = (uint32_t)m->versions.n;
        in.has_result_set =
            !hf_op_is_aggregate(hf_op_kind_of(h, op)) && !sees_own(m, t);
        in.results = m->results.at;
        in.n_results = in.has_result_set ? (uint32_t)m->results.n : 0;
        (void)hf_builder_predicate(m->b, m->txn[t], h->op_kind[op], &in);
        for (uint32_t i = 0; i < n; i++)
            put_seen(m, t, &r[i]);
    }
    hf_free(columns);
}

static void put_sql(maker *m, hf_txn_id t, hf_op_id op)
{
    hf_sql q = hf_op_sql(m->h, op);
    hf_scalar *params = HF_NEW_ARRAY(hf_scalar, q.n_params + 1u);
    hf_sql_in in = {.text = text_of(m->h, q.text),
                    .params = params,
                    .n_params = q.n_params,
                    .affected = UINT64_MAX};

    for (uint32_t i = 0; i < q.n_params; i++)
        params[i] = hf_extra_scalar(m->h, q.params + (size_t)3 * i);
    (void)hf_builder_sql(m->b, m->txn[t], &in);
    hf_builder_op_flags(m->b, HF_OP_WITH_ITEMS);
    hf_free(params);
}

static void put_op(maker *m, hf_txn_id t, hf_op_id op, hf_op_id last)
{
    hf_op_kind kind = hf_op_kind_of(m->h, op);

    if (hf_op_flags_of(m->h, op) & HF_OP_FAILED &&
        (hf_op_flags_of(m->h, op) & HF_OP_WITH_ITEMS) != HF_OP_WITH_ITEMS)
        return;
    if (hf_op_has_predicate(kind)) {
        put_predicate(m, t, op);
    } else if (kind == HF_OP_SQL) {
        if (!hf_op_is_opaque(m->h, op))
            put_sql(m, t, op);
    } else if (hf_op_reads_item(kind)) {
        put_item(m, t, op);
    } else if (hf_op_installs(kind)) {
        if (kind == HF_OP_APPEND || kind == HF_OP_INCREMENT)
            put_item(m, t, op);
        put_write(m, t, op, last);
        m->last_write[m->h->op_key[op]] = op;
    }
}

static void put_txn(maker *m, hf_txn_id t)
{
    const hf_predicted_session *s = boundary_of(m, t);
    hf_op_id end = m->h->op_first[t + 1], last = end - 1;

    if (!s || s->txn == HF_NONE || t > s->txn)
        return;
    if (t == s->txn)
        last = s->last;
    for (hf_op_id op = m->h->op_first[t]; op < end && op <= last; op++)
        put_op(m, t, op, m->whole ? end : last);
    for (hf_op_id op = last + 1; m->whole && op < end; op++)
        if (is_write(m->h, op) && !hf_op_has_predicate(hf_op_kind_of(m->h, op)))
            put_write(m, t, op, end);
    put_to_be_seen(m, t);
}

/* Everybody is named before anyone is read from. */
static void put_all(maker *m)
{
    uint8_t *in = HF_NEW_ZEROED(uint8_t, m->h->n_txns + 1u);

    for (uint32_t i = 0; i < m->p->n_order; i++)
        in[m->p->order[i]] = 1;
    for (hf_txn_id t = 0; t < m->h->n_txns; t++)
        if (in[t]) {
            m->txn[t] =
                hf_builder_txn(m->b, session_of(m, m->h->txn_session[t]));
            hf_builder_label(m->b, m->txn[t], hf_txn_label(m->h, t));
        }
    for (hf_txn_id t = 0; t < m->h->n_txns; t++)
        if (in[t])
            put_txn(m, t);
    hf_free(in);
}

static uint32_t *none(size_t n)
{
    uint32_t *a = HF_NEW_ARRAY(uint32_t, n + 1);

    memset(a, 0xff, (n + 1) * sizeof(*a));
    return a;
}

static hf_status make(const hf_history *h, const hf_prediction *p, bool whole,
                      hf_history **ret, hf_error *err)
{
    maker m = {.h = h, .p = p, .whole = whole, .b = hf_builder_new()};

    m.key = none(h->n_keys);
    m.session = none(h->n_sessions);
    m.txn = none(h->n_txns);
    m.last_write = none(h->n_keys);
    m.own = none(h->n_keys);
    m.own_of = none(h->n_keys);
    m.relabel = HF_NEW_ZEROED(uint8_t, h->n_keys + 1u);
    m.beside = HF_NEW_ZEROED(uint8_t, h->n_keys + 1u);
    hf_map_init(&m.installed);
    hf_out_init_memory(&m.text);
    find_equal(&m);
    find_installed(&m);
    hf_builder_format(m.b, "predicted");
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE &&
            h->value_type[h->key_initial[k]] != HF_LIST)
            hf_builder_initial(m.b, key_of(&m, k), initial_of(&m, k));
    put_all(&m);
    hf_free(m.key);
    hf_free(m.session);
    hf_free(m.txn);
    hf_free(m.last_write);
    hf_free(m.own);
    hf_free(m.own_of);
    hf_free(m.relabel);
    hf_free(m.beside);
    hf_map_release(&m.installed);
    hf_vec_release(&m.versions);
    hf_vec_release(&m.results);
    hf_out_release(&m.text);
    return hf_builder_finish(m.b, ret, err);
}

hf_status hf_prediction_history(const hf_history *observed,
                                const hf_prediction *p, hf_history **ret,
                                hf_error *err)
{
    return make(observed, p, false, ret, err);
}

hf_status hf_prediction_whole(const hf_history *observed,
                              const hf_prediction *p, hf_history **ret,
                              hf_error *err)
{
    return make(observed, p, true, ret, err);
}

/* piece.c: transactions out of logs become a history of their own. */
#include "run/log.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

typedef struct maker {
    const hf_recorder *r;
    hf_builder *b;
    const hf_chunk *c; /* of the transaction in hand */
    const char *table; /* the last one, and its id */
    hf_string_id table_id;
} maker;

static hf_session_id session_of(maker *m, const hf_log *l, uint32_t session)
{
    char name[40];
    int n;

    if (l->client == m->r->clients)
        return hf_builder_session_text(m->b, "faults", 6);
    if (l->client > m->r->clients)
        return hf_builder_session_text(m->b, "load", 4);
    if (session == 0)
        return hf_builder_session_number(m->b, l->client);
    n = snprintf(name, sizeof(name), "%u.%u", l->client, session);
    return hf_builder_session_text(m->b, name, (size_t)n);
}

static hf_key_id key_of(maker *m, const hf_log_op *op)
{
    hf_scalar key = {.type = HF_INT, .number = op->key};

    if (m->table != op->table) {
        m->table = op->table;
        m->table_id = hf_builder_string(m->b, op->table, strlen(op->table));
    }
    if (op->text_key)
        key = (hf_scalar){.type = HF_TEXT,
                          .text = m->c->bytes.at + op->key,
                          .length = op->key_length};
    return hf_builder_key_row(m->b, m->table_id, key);
}

static hf_value_id list_of(maker *m, hf_key_id key, const hf_log_op *op)
{
    hf_value_id list = HF_NONE;

    for (uint32_t i = 0; i < op->n; i++)
        list = hf_builder_list_int(m->b, key, list,
                                   m->c->numbers.at[op->value + i]);
    return op->n == 0 ? hf_builder_nil(m->b, key) : list;
}

static hf_scalar scalar_of(const hf_chunk *c, const hf_log_cell *cell)
{
    bool text = cell->type == HF_TEXT || cell->type == HF_REAL;

    return (hf_scalar){.type = (hf_scalar_type)cell->type,
                       .number = text ? 0 : cell->number,
                       .text = text ? c->bytes.at + cell->number : NULL,
                       .length = text ? cell->length : 0};
}

static void put_sql(maker *m, hf_txn_id t, const hf_log_op *op)
{
    const hf_log_statement *s = &m->c->statements.at[op->value];
    size_t n = s->n_columns + s->n_params + (size_t)s->n_rows * s->n_columns;
    hf_scalar *all = HF_NEW_ARRAY(hf_scalar, n + 1);

    for (size_t i = 0; i < n; i++)
        all[i] = scalar_of(m->c, &m->c->cells.at[s->cells + i]);
    (void)hf_builder_sql(
        m->b, t,
        &(hf_sql_in){
            .text = {.type = HF_TEXT, .text = s->sql, .length = strlen(s->sql)},
            .names = all,
            .n_columns = s->n_columns,
            .params = all + s->n_columns,
            .n_params = s->n_params,
            .has_rows = s->has_rows,
            .cells = all + s->n_columns + s->n_params,
            .n_rows = s->n_rows,
            .affected = s->affected});
    hf_builder_op_flags(m->b, op->kind & ~HF_OP_KIND_MASK);
    hf_free(all);
}

static void put_op(maker *m, hf_txn_id t, const hf_log_op *op)
{
    hf_key_id key;

    switch ((hf_log_type)op->type) {
    case HF_LOG_NONE:
        (void)hf_builder_op(m->b, t, op->kind, HF_NONE, HF_NONE);
        break;
    case HF_LOG_SQL:
        put_sql(m, t, op);
        break;
    case HF_LOG_NIL:
        key = key_of(m, op);
        (void)hf_builder_op(m->b, t, op->kind, key, hf_builder_nil(m->b, key));
        break;
    case HF_LOG_TAG:
        key = key_of(m, op);
        (void)hf_builder_op(m->b, t, op->kind, key,
                            hf_builder_int(m->b, key, op->value));
        break;
    case HF_LOG_LIST:
        key = key_of(m, op);
        (void)hf_builder_op(m->b, t, op->kind, key, list_of(m, key, op));
        break;
    }
    hf_builder_interval(m->b, op->at.start, op->at.end);
}

static void put_txn(maker *m, const hf_chosen *chosen)
{
    const hf_log_txn *txn = chosen->txn;
    hf_txn_id t =
        hf_builder_txn(m->b, session_of(m, chosen->log, txn->session));

    m->c = chosen->chunk;
    hf_builder_outcome(m->b, t, (hf_outcome)txn->outcome);
    hf_builder_times(m->b, t, txn->at.start, txn->at.end);
    if (m->r->label != HF_LEVEL_UNSET)
        hf_builder_level(m->b, t, m->r->label);
    for (uint32_t i = 0; i < txn->n_ops; i++)
        put_op(m, t, &m->c->ops.at[txn->first_op + i]);
}

void hf_piece_initial(hf_builder *b, const hf_chunk *c, const hf_log_op *op)
{
    maker m = {.b = b, .c = c};
    hf_key_id key = key_of(&m, op);

    hf_builder_initial(b, key, hf_builder_int(b, key, 0));
}

hf_status hf_piece_make(const hf_recorder *r, const hf_chosen *chosen, size_t n,
                        hf_history **ret, hf_error *err)
{
    maker m = {.r = r, .b = hf_builder_new()};
    uint64_t ops = 0;

    for (size_t i = 0; i < n; i++)
        ops += chosen[i].txn->n_ops;
    hf_builder_expect(m.b, ops, n, ops);
    hf_builder_time_unit(m.b, HF_TIME_UNIT_NS);
    for (size_t i = 0; i < n; i++)
        put_txn(&m, &chosen[i]);
    return hf_builder_finish(m.b, ret, err);
}

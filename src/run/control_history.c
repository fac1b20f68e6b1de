/* control_history.c: what was seen of a controlled execution, as a history. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "history/builder.h"
#include "run/control_impl.h"
#include "sql/value.h"

typedef struct maker {
    const hf_controller *c;
    hf_builder *b;
    hf_arena arena;
    HF_VEC(uint32_t) group; /* keys that a scan read */
    HF_VEC(uint32_t) from;  /* beside it: versions */
} maker;

/* Some digits for the client, some for its transaction. */
int64_t hf_controller_label(const hf_controller *c, const hf_told_txn *t)
{
    int64_t unit = 100;

    while (unit <= c->o->transactions)
        unit *= 10;
    return (int64_t)(t->client + 1) * unit + t->index + 1;
}

/* ---- keys ---------------------------------------------------------------- */

static void put_part(hf_out *out, const hf_sql_value *v, bool several)
{
    hf_arena arena;
    hf_str s = HF_STR("null");

    hf_arena_init(&arena);
    if (v->type != HF_SQL_NULL)
        s = hf_sql_print(v, HF_SQL_POSTGRES, &arena);
    for (size_t i = 0; i < s.len; i++) {
        if (several && (s.ptr[i] == ':' || s.ptr[i] == '\\'))
            hf_out_char(out, '\\');
        hf_out_char(out, s.ptr[i]);
    }
    hf_arena_release(&arena);
}

/* As the recorder names rows: a number, or its parts with ':' between. */
static hf_scalar key_scalar(const hf_controller *c, uint32_t key,
                            hf_arena *arena)
{
    uint32_t n;
    const hf_sql_value *parts = hf_db_control_key(c->db, key, &n);
    hf_scalar s = {.type = HF_TEXT};
    hf_out out;

    if (n == 1 && (parts[0].type == HF_SQL_INT || parts[0].type == HF_SQL_BOOL))
        return (hf_scalar){.type = HF_INT, .number = parts[0].integer};
    hf_out_init_memory(&out);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            hf_out_char(&out, ':');
        put_part(&out, &parts[i], n > 1);
    }
    s.length = hf_out_view(&out).len;
    s.text = hf_arena_text(arena, hf_out_view(&out).ptr, s.length);
    hf_out_release(&out);
    return s;
}

hf_str hf_controller_key_name(const hf_controller *c, uint32_t key,
                              hf_arena *arena)
{
    hf_str table =
        hf_db_control_table_name(c->db, hf_db_control_table(c->db, key));
    hf_scalar k = key_scalar(c, key, arena);
    hf_str name;
    hf_out out;

    hf_out_init_memory(&out);
    hf_out_str(&out, table);
    hf_out_char(&out, '/');
    if (k.type == HF_INT)
        hf_out_int(&out, k.number);
    else
        hf_out_str(&out, (hf_str){k.text, k.length});
    name.len = hf_out_view(&out).len;
    name.ptr = hf_arena_text(arena, hf_out_view(&out).ptr, name.len);
    hf_out_release(&out);
    return name;
}

static hf_key_id key_id(maker *m, uint32_t key)
{
    hf_str table =
        hf_db_control_table_name(m->c->db, hf_db_control_table(m->c->db, key));

    return hf_builder_key_row(m->b,
                              hf_builder_string(m->b, table.ptr, table.len),
                              key_scalar(m->c, key, &m->arena));
}

/* ---- operations ---------------------------------------------------------- */

static hf_value_id value_of(maker *m, hf_key_id id, uint32_t version)
{
    const hf_controller *c = m->c;
    uint32_t t = version == HF_NONE ? HF_NONE : hf_map_get(&c->writer, version);
    int64_t label;

    if (version == HF_NONE)
        return hf_builder_nil(m->b, id);
    if (t == HF_NONE)
        return hf_builder_int(m->b, id, 0);
    label = hf_controller_label(c, &c->txns.at[t]);
    return hf_builder_int(
        m->b, id, hf_store_is_deletion(c->store, version) ? -label : label);
}

static void put_read(maker *m, hf_txn_id t, uint32_t key, uint32_t version,
                     bool locks)
{
    hf_key_id id = key_id(m, key);

    (void)hf_builder_op(m->b, t, HF_OP_READ | (locks ? HF_OP_FOR_UPDATE : 0),
                        id, value_of(m, id, version));
    m->c->report->reads++;
}

/* What the transaction wrote last counts, and is written once; in the order
 * of these last writes. */
static bool is_last_write(const hf_controller *c, const hf_told_txn *t,
                          uint32_t at)
{
    for (uint32_t i = at + 1; i < t->first_event + t->n_events; i++)
        if ((c->events.at[i].kind == HF_EVENT_WRITE ||
             c->events.at[i].kind == HF_EVENT_DELETE) &&
            c->events.at[i].key == c->events.at[at].key)
            return false;
    return true;
}

static void put_write(maker *m, hf_txn_id t, const hf_told_txn *told,
                      uint32_t at)
{
    const hf_event *e = &m->c->events.at[at];
    int64_t label = hf_controller_label(m->c, told);
    hf_key_id id;

    if (!is_last_write(m->c, told, at))
        return;
    id = key_id(m, e->key);
    (void)hf_builder_op(
        m->b, t, HF_OP_WRITE, id,
        hf_builder_int(m->b, id, e->kind == HF_EVENT_DELETE ? -label : label));
}

static void put_sql(maker *m, hf_txn_id t, const hf_told_statement *s)
{
    if (!m->c->o->sql)
        return;
    (void)hf_builder_sql(m->b, t, &s->in);
    hf_builder_op_flags(m->b, s->failed ? HF_OP_FAILED : HF_OP_WITH_ITEMS);
}

static void put_type(maker *m, hf_txn_id t, const hf_told_txn *told)
{
    const hf_workload *w = m->c->o->workload;
    char text[120];
    int n = snprintf(text, sizeof(text), "/* %s: %s */", w->name,
                     w->types[told->type].name);

    (void)hf_builder_sql(
        m->b, t,
        &(hf_sql_in){
            .text = {.type = HF_TEXT, .text = text, .length = (size_t)n},
            .affected = UINT64_MAX});
    hf_builder_op_flags(m->b, HF_OP_WITH_ITEMS);
}

/* ---- scans --------------------------------------------------------------- */

static bool wrote_before(const hf_controller *c, const hf_told_txn *t,
                         uint32_t until, uint32_t key)
{
    for (uint32_t i = t->first_event; i < until; i++)
        if (c->events.at[i].kind != HF_EVENT_READ &&
            c->events.at[i].kind != HF_EVENT_SQL &&
            c->events.at[i].key == key &&
            (c->events.at[i].kind == HF_EVENT_WRITE ||
             c->events.at[i].kind == HF_EVENT_DELETE))
            return true;
    return false;
}

/* The version that the transaction sees of a row which nobody had given a
 * version that matches when it looked. */
static uint32_t unseen_version(const hf_controller *c, const hf_told_txn *t,
                               uint32_t key)
{
    uint32_t place = hf_legal_seen(c->legal, t->place, key);
    uint32_t txn = place == HF_NONE ? HF_NONE : c->by_place.at[place];
    uint32_t v = hf_store_newest(c->store, key);

    while (v != HF_NONE && hf_map_get(&c->writer, v) != txn)
        v = hf_store_version_at(c->store, v)->prev;
    return v;
}

/* Rows that could be returned by later versions: the scan saw that they were
 * absent, or something else. */
static void complete_scan(maker *m, const hf_told_txn *t, const hf_event *e,
                          uint32_t at)
{
    const hf_controller *c = m->c;

    for (uint32_t key = 0; key < hf_db_control_keys(c->db); key++) {
        bool there = false;

        if (!hf_db_control_matches(c->db, &c->scans.at[e->at], key))
            continue;
        for (size_t i = 0; i < m->group.n && !there; i++)
            there = m->group.at[i] == key;
        if (there || wrote_before(c, t, at, key))
            continue;
        hf_vec_push(&m->group, key);
        hf_vec_push(&m->from, unseen_version(c, t, key));
    }
}

static void sort_group(maker *m)
{
    for (size_t i = 1; i < m->group.n; i++) {
        uint32_t key = m->group.at[i], from = m->from.at[i];
        size_t k = i;

        for (; k > 0 &&
               hf_db_control_compare(m->c->db, key, m->group.at[k - 1]) < 0;
             k--) {
            m->group.at[k] = m->group.at[k - 1];
            m->from.at[k] = m->from.at[k - 1];
        }
        m->group.at[k] = key;
        m->from.at[k] = from;
    }
}

/* Returns the place after the scan. */
static uint32_t put_scan(maker *m, hf_txn_id id, const hf_told_txn *t,
                         uint32_t at)
{
    const hf_controller *c = m->c;
    const hf_event *e = &c->events.at[at];
    uint32_t i = at + 1;
    bool locks = false;

    m->group.n = m->from.n = 0;
    for (; c->events.at[i].kind != HF_EVENT_SCAN_END; i++) {
        hf_vec_push(&m->group, c->events.at[i].key);
        hf_vec_push(&m->from, c->events.at[i].version);
        locks = c->events.at[i].locks;
    }
    if (t->outcome == HF_COMMITTED)
        complete_scan(m, t, e, at);
    sort_group(m);
    for (size_t k = 0; k < m->group.n; k++)
        put_read(m, id, m->group.at[k], m->from.at[k], locks);
    return i + 1;
}

/* ---- all ----------------------------------------------------------------- */

static void put_txn(maker *m, const hf_told_txn *t)
{
    const hf_controller *c = m->c;
    hf_txn_id id =
        hf_builder_txn(m->b, hf_builder_session_number(m->b, t->client));
    uint32_t end = t->first_event + t->n_events;

    hf_builder_outcome(m->b, id, t->outcome);
    hf_builder_label(m->b, id, hf_controller_label(c, t));
    put_type(m, id, t);
    for (uint32_t i = t->first_event; i < end;) {
        const hf_event *e = &c->events.at[i];

        if (e->kind == HF_EVENT_SCAN) {
            i = put_scan(m, id, t, i);
            continue;
        }
        if (e->kind == HF_EVENT_READ)
            put_read(m, id, e->key, e->version, e->locks);
        else if (e->kind == HF_EVENT_SQL)
            put_sql(m, id, &c->told.at[e->at]);
        else
            put_write(m, id, t, i);
        i++;
    }
}

/* Rows that were loaded have version 0 to begin with. */
static void put_initial(maker *m)
{
    const hf_controller *c = m->c;

    for (uint32_t key = 0; key < hf_db_control_keys(c->db); key++) {
        uint32_t v = hf_store_newest(c->store, key);

        while (v != HF_NONE && hf_map_get(&c->writer, v) != HF_NONE)
            v = hf_store_version_at(c->store, v)->prev;
        if (v != HF_NONE) {
            hf_key_id id = key_id(m, key);

            hf_builder_initial(m->b, id, hf_builder_int(m->b, id, 0));
        }
    }
}

hf_status hf_controller_history(hf_controller *c, hf_history **ret,
                                hf_error *err)
{
    maker m = {.c = c, .b = hf_builder_new()};
    hf_status st;

    hf_arena_init(&m.arena);
    hf_builder_name(m.b, c->o->workload->name, strlen(c->o->workload->name));
    hf_builder_unique_values(m.b, true);
    for (unsigned i = 0; i < c->o->clients; i++)
        (void)hf_builder_session_number(m.b, i);
    put_initial(&m);
    for (size_t i = 0; i < c->txns.n; i++)
        put_txn(&m, &c->txns.at[i]);
    st = hf_builder_finish(m.b, ret, err);
    hf_vec_release(&m.group);
    hf_vec_release(&m.from);
    hf_arena_release(&m.arena);
    return st;
}

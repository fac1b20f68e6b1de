/* predict_random.c: executions for predict_model.h, drawn, built, printed. */
#include "predict_model.h"

#include <stdio.h>
#include <string.h>

#include "history/builder.h"

#define PM_ROW 900 /* and the version by which it is named */

/* ---- random executions --------------------------------------------------- */

static pm_op random_op(const pm_history *h, hf_rng *r, int serial)
{
    pm_op o = {.kind = PM_WRITE,
               .key = (int)hf_rng_below(r, (uint32_t)h->n_keys)};
    uint32_t what = hf_rng_below(r, 100);

    if (what < 48)
        o.kind = PM_READ;
    else if (what < 55)
        o.kind = PM_LOCK;
    else if (h->rows && what < 68)
        o.kind = PM_ROWS;
    else if (what < 72)
        o.kind = PM_DELETE;
    o.value = serial + (h->rows && hf_rng_chance(r, 50) ? PM_MATCH : 0);
    return o;
}

/* Now and then two operations are an UPDATE: a lock, and a write of what it
 * read. */
static void join_some(pm_history *h, hf_rng *r)
{
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op + 1 < h->txns[t].n_ops; op++) {
            pm_op *o = &h->txns[t].ops[op];

            if (!hf_rng_chance(r, 40))
                continue;
            o[1] = (pm_op){.kind = PM_WRITE,
                           .key = o->key,
                           .value = o[1].value,
                           .joined = true};
            o->kind = PM_LOCK;
            op++;
        }
}

/* Each read finds what stands before it in the file. */
static void execute(pm_history *h)
{
    int newest_of[PM_KEYS];

    for (int k = 0; k < PM_KEYS; k++)
        newest_of[k] = PM_INITIAL;
    for (int t = 0; t < h->n_txns; t++) {
        for (int op = 0; op < h->txns[t].n_ops; op++)
            memcpy(h->txns[t].ops[op].from, newest_of, sizeof newest_of);
        for (int k = 0; k < h->n_keys; k++)
            if (pm_write_before(h, t, h->txns[t].n_ops, k) >= 0)
                newest_of[k] = t;
    }
}

/* A transaction whose first read is of key 0 names by its result the row that
 * it inserts, if nobody was before it to do so. */
static void name_some(pm_history *h)
{
    bool named[PM_TXNS + 1] = {false};

    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < h->txns[t].n_ops; op++) {
            pm_op *o = &h->txns[t].ops[op];

            if (pm_is_write(o))
                continue;
            if (o->kind != PM_ROWS && o->key == 0 && pm_reads(h, t, op, 0) &&
                !(op + 1 < h->txns[t].n_ops && o[1].joined) &&
                !named[o->from[0] + 1])
                o->names = named[o->from[0] + 1] = true;
            break;
        }
}

static int count_reads(const pm_history *h)
{
    int n = 0;

    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < h->txns[t].n_ops; op++)
            for (int k = 0; k < h->n_keys; k++)
                n += pm_reads(h, t, op, k);
    return n;
}

pm_history pm_random(hf_rng *r)
{
    pm_history h;
    int serial = 1;

    do {
        h = (pm_history){.n_txns = 2 + (int)hf_rng_below(r, PM_TXNS - 1),
                         .n_keys = 1 + (int)hf_rng_below(r, PM_KEYS),
                         .rows = hf_rng_chance(r, 30),
                         .statements = hf_rng_chance(r, 30)};
        for (int k = 0; k < h.n_keys; k++)
            if (hf_rng_chance(r, 30))
                h.initial[k] =
                    500 + k + (h.rows && hf_rng_chance(r, 50) ? PM_MATCH : 0);
        for (int t = 0; t < h.n_txns; t++) {
            h.txns[t].session = (int)hf_rng_below(r, PM_SESSIONS);
            h.txns[t].n_ops = 1 + (int)hf_rng_below(r, PM_OPS);
            for (int op = 0; op < h.txns[t].n_ops; op++)
                h.txns[t].ops[op] = random_op(&h, r, serial++);
        }
        h.sql = !h.statements && hf_rng_chance(r, 40);
        if (h.statements || h.sql)
            join_some(&h, r);
    } while (count_reads(&h) > 8);
    execute(&h);
    if (h.sql && hf_rng_chance(r, 60))
        name_some(&h);
    for (int t = 0; h.sql && t < h.n_txns; t++)
        for (int op = 0; op + 1 < h.txns[t].n_ops; op++)
            h.txns[t].ops[op].unseen =
                h.txns[t].ops[op + 1].joined && !h.txns[t].ops[op].names;
    return h;
}

static hf_value_id value_id(hf_builder *b, hf_key_id key, int64_t v)
{
    return v == 0 ? hf_builder_nil(b, key) : hf_builder_int(b, key, v);
}

static int64_t value_seen(const pm_history *h, int t, int op, int key)
{
    int own = pm_write_before(h, t, op, key);
    const pm_op *o = &h->txns[t].ops[own >= 0 ? own : op];

    if (own < 0)
        return pm_version(h, o->from[key], key);
    return o->kind == PM_DELETE ? 0 : o->value;
}

static void build_rows(const pm_history *h, hf_builder *b, hf_txn_id id,
                       const hf_key_id *keys, int t, int op)
{
    hf_version_ref results[PM_KEYS], versions[PM_KEYS];
    hf_predicate_in p = {
        .table = {.type = HF_TEXT, .text = "t", .length = 1},
        .condition = {.type = HF_TEXT, .text = "value < 1000", .length = 12},
        .has_result_set = true,
        .results = results,
        .versions = versions,
        .has_version_set = (t + op) % 2 == 0};

    for (int k = 0; k < h->n_keys; k++) {
        int64_t v = value_seen(h, t, op, k);
        bool own = !pm_reads(h, t, op, k);
        hf_version_ref ref = {value_id(b, keys[k], v), HF_NONE};

        if (p.has_version_set) {
            ref.writer = own ? id
                         : h->txns[t].ops[op].from[k] == PM_INITIAL
                             ? HF_WRITER_INITIAL
                             : (hf_txn_id)h->txns[t].ops[op].from[k];
            versions[p.n_versions++] = ref;
        }
        if (v != 0 && v < PM_MATCH)
            results[p.n_results++] = ref;
    }
    /* every other one with a version set counts what it found */
    if ((t + op) % 4 == 0) {
        p.result = (hf_scalar){.type = HF_INT, .number = p.n_results};
        p.n_results = 0;
    }
    (void)hf_builder_predicate(
        b, id, (t + op) % 4 == 0 ? HF_OP_COUNT_ROWS : HF_OP_PREDICATE_READ, &p);
}

static void build_op(const pm_history *h, hf_builder *b, hf_txn_id id,
                     const hf_key_id *keys, int t, int op)
{
    const pm_op *o = &h->txns[t].ops[op];
    hf_key_id key = keys[o->key];

    switch (o->kind) {
    case PM_WRITE:
        (void)hf_builder_op(b, id, HF_OP_WRITE, key,
                            hf_builder_int(b, key, o->value));
        break;
    case PM_DELETE:
        (void)hf_builder_op(b, id, HF_OP_DELETE, key, hf_builder_nil(b, key));
        break;
    case PM_ROWS:
        build_rows(h, b, id, keys, t, op);
        break;
    default:
        (void)hf_builder_op(
            b, id, HF_OP_READ | (o->kind == PM_LOCK ? HF_OP_FOR_UPDATE : 0u),
            key, value_id(b, key, value_seen(h, t, op, o->key)));
    }
}

/* The statement of the operation that comes next.  What it returned of a
 * version is told by the version alone, and two statements return nothing in
 * common. */
static void build_sql(hf_builder *b, hf_txn_id id, const char *text,
                      int64_t result)
{
    static const hf_scalar name = {.type = HF_TEXT, .text = "n", .length = 1};
    hf_scalar cell = {.type = HF_INT, .number = result};

    (void)hf_builder_sql(
        b, id,
        &(hf_sql_in){.text = {.type = HF_TEXT,
                              .text = text,
                              .length = (uint32_t)strlen(text)},
                     .has_rows = true,
                     .n_rows = 1,
                     .n_columns = 1,
                     .names = &name,
                     .cells = &cell,
                     .affected = UINT64_MAX});
    hf_builder_op_flags(b, HF_OP_WITH_ITEMS);
}

static const char *statement_of(const pm_op *o)
{
    return o->names ? "SELECT n FROM t WHERE id = 0 FOR UPDATE"
           : pm_is_write(o) || o->unseen ? "UPDATE t SET n = ?"
           : o->kind == PM_ROWS          ? "SELECT n FROM t"
                                         : "SELECT n FROM t WHERE id = ?";
}

static void build_statement(hf_builder *b, hf_txn_id id, const pm_op *o)
{
    build_sql(b, id, statement_of(o),
              o->names ? PM_ROW + o->from[0]
                       : 100 * (int)o->kind + 10 * o->key + o->from[o->key]);
}

/* The row that is named by what an operation found. */
static void build_named(const pm_history *h, hf_builder *b, hf_txn_id id, int t)
{
    hf_string_id table = hf_builder_string(b, "named", 5);

    for (int op = 0; op < h->txns[t].n_ops; op++) {
        const pm_op *o = &h->txns[t].ops[op];
        hf_key_id key;

        if (!o->names)
            continue;
        key = hf_builder_key_row(
            b, table,
            (hf_scalar){.type = HF_INT, .number = PM_ROW + o->from[0]});
        build_sql(b, id, "INSERT INTO named VALUES (?)", 0);
        (void)hf_builder_op(b, id, HF_OP_WRITE, key, hf_builder_int(b, key, t));
    }
}

hf_history *pm_build(const pm_history *h, hf_error *err)
{
    hf_builder *b = hf_builder_new();
    hf_string_id table = hf_builder_string(b, "t", 1);
    hf_key_id keys[PM_KEYS];
    hf_txn_id ids[PM_TXNS];
    hf_history *ret = NULL;

    for (int s = 0; s < PM_SESSIONS; s++)
        (void)hf_builder_session_number(b, s);
    for (int k = 0; k < h->n_keys; k++) {
        hf_scalar name = {.type = HF_INT, .number = k};

        keys[k] = h->rows ? hf_builder_key_row(b, table, name)
                          : hf_builder_key_int(b, k);
        if (h->initial[k])
            hf_builder_initial(b, keys[k], value_id(b, keys[k], h->initial[k]));
    }
    for (int t = 0; t < h->n_txns; t++)
        ids[t] =
            hf_builder_txn(b, hf_builder_session_number(b, h->txns[t].session));
    for (int t = 0; t < h->n_txns; t++)
        for (int op = 0; op < h->txns[t].n_ops; op++) {
            uint64_t begin = 10u * (unsigned)(t * PM_OPS + op);

            if (h->sql && !h->txns[t].ops[op].joined)
                build_statement(b, ids[t], &h->txns[t].ops[op]);
            build_op(h, b, ids[t], keys, t, op);
            if (h->txns[t].ops[op].joined)
                begin -= 10; /* one statement, one interval */
            if (h->statements)
                hf_builder_interval(b, begin, begin + 5);
            if (op + 1 == h->txns[t].n_ops)
                build_named(h, b, ids[t], t);
        }
    return hf_builder_finish(b, &ret, err) == HF_OK ? ret : NULL;
}

void pm_print(const pm_history *h)
{
    static const char letters[] = "rlpwd";

    printf("  %d keys%s, initial", h->n_keys, h->rows ? " (rows)" : "");
    for (int k = 0; k < h->n_keys; k++)
        printf(" %lld", (long long)h->initial[k]);
    printf("\n");
    for (int t = 0; t < h->n_txns; t++) {
        printf("  T%d session %d:", t, h->txns[t].session);
        for (int op = 0; op < h->txns[t].n_ops; op++) {
            const pm_op *o = &h->txns[t].ops[op];

            printf("%s%s%c%d", o->joined ? "+" : " ",
                   o->names    ? "names:"
                   : o->unseen ? "unseen:"
                               : "",
                   letters[o->kind], o->kind == PM_ROWS ? 0 : o->key);
            if (o->kind == PM_WRITE)
                printf("=%lld", (long long)o->value);
            else if (o->kind != PM_ROWS && o->kind != PM_DELETE)
                printf("<T%d", o->from[o->key]);
        }
        printf("\n");
    }
}

/* store_control.c: the store asks somebody what a read is to see (control.h).
 *
 * A scan costs the keys of the store and, of those of its table, their
 * versions: executions under control are small.
 */
#include "db/control.h"

#include "base/error.h"
#include "db/drivers.h"
#include "db/store_db.h"
#include "sql/value.h"

static const hf_store_space *space_of(const hf_db *db)
{
    return hf_store_space_of((hf_db *)(uintptr_t)db);
}

hf_store *hf_db_control_store(hf_db *db)
{
    return hf_store_space_of(db)->store;
}

uint32_t hf_db_control_keys(const hf_db *db)
{
    return (uint32_t)space_of(db)->key_table.n;
}

uint32_t hf_db_control_table(const hf_db *db, uint32_t key)
{
    return space_of(db)->key_table.at[key];
}

hf_str hf_db_control_table_name(const hf_db *db, uint32_t table)
{
    return space_of(db)->tables.at[table]->name;
}

const hf_sql_value *hf_db_control_key(const hf_db *db, uint32_t key,
                                      uint32_t *ret_n)
{
    const hf_store_space *p = space_of(db);

    *ret_n = p->tables.at[p->key_table.at[key]]->n_key;
    return p->key_values.at[key];
}

int hf_db_control_compare(const hf_db *db, uint32_t a, uint32_t b)
{
    uint32_t n;
    const hf_sql_value *x = hf_db_control_key(db, a, &n);
    const hf_sql_value *y = hf_db_control_key(db, b, &n);

    for (uint32_t i = 0; i < n; i++) {
        int order = hf_sql_order(&x[i], &y[i]);

        if (order != 0)
            return order;
    }
    return 0;
}

/* ---- what a scan asks for ------------------------------------------------ */

/* May the row be returned?  In doubt it may. */
static bool term_holds(const hf_db_term *t, const hf_sql_value *row)
{
    const hf_sql_value *v = &row[t->column];
    int order;

    if (v->type == HF_SQL_NULL || t->value.type == HF_SQL_NULL)
        return false;
    if (v->type != t->value.type &&
        !(hf_sql_is_number(v) && hf_sql_is_number(&t->value)))
        return true;
    order = hf_sql_order(v, &t->value);
    switch ((hf_sql_comparison)t->comparison) {
    case HF_CMP_EQ:
        return order == 0;
    case HF_CMP_NE:
        return order != 0;
    case HF_CMP_LT:
        return order < 0;
    case HF_CMP_LE:
        return order <= 0;
    case HF_CMP_GT:
        return order > 0;
    case HF_CMP_GE:
        return order >= 0;
    }
    return true;
}

static bool row_matches(const hf_db_asked *asked, const hf_sql_value *row)
{
    for (uint32_t i = 0; i < asked->n_terms; i++)
        if (!term_holds(&asked->terms[i], row))
            return false;
    return true;
}

bool hf_db_control_matches(const hf_db *db, const hf_db_asked *asked,
                           uint32_t key)
{
    const hf_store_space *p = space_of(db);
    uint32_t v = hf_store_newest(p->store, key);

    if (p->key_table.at[key] != asked->table)
        return false;
    while (v != HF_NONE) {
        const hf_store_version *version = hf_store_version_at(p->store, v);

        if (!hf_store_is_deletion(p->store, v) &&
            row_matches(asked, p->rows.at[version->id]))
            return true;
        v = version->prev;
    }
    return false;
}

void hf_store_control_rows(hf_store_space *p, uint32_t session,
                           const hf_db_asked *asked, hf_store_keys *ret)
{
    ret->n = 0;
    for (uint32_t key = 0; key < p->key_table.n; key++)
        if (p->key_table.at[key] == asked->table &&
            (hf_db_control_matches(p->db, asked, key) ||
             hf_store_has_written(p->store, session, key)))
            hf_vec_push(ret, key);
    for (size_t i = 1; i < ret->n; i++) { /* they are nearly in order */
        uint32_t key = ret->at[i];
        size_t k = i;

        for (; k > 0 && hf_db_control_compare(p->db, key, ret->at[k - 1]) < 0;
             k--)
            ret->at[k] = ret->at[k - 1];
        ret->at[k] = key;
    }
}

/* ---- asking -------------------------------------------------------------- */

static uint32_t choose(void *user, uint32_t session, uint32_t key, bool check)
{
    const hf_store_space *p = user;

    (void)session;
    return p->control->choose(p->control->user, key, check);
}

static void wrote(void *user, uint32_t session, uint32_t key, hf_op_kind kind)
{
    const hf_store_space *p = user;

    (void)session;
    p->control->wrote(p->control->user, key, kind);
}

hf_status hf_db_control_set(hf_db *db, const hf_db_control *c, hf_error *err)
{
    hf_store_space *p;

    if (db->driver != &hf_db_store || !hf_store_space_of(db)->can_be_controlled)
        return hf_fail(err, HF_ERR_UNSUPPORTED,
                       "only the embedded store, opened for it, can be told "
                       "what reads see");
    hf_store_end_loading(db);
    p = hf_store_space_of(db);
    p->db = db;
    p->control = c;
    p->commander = (hf_store_commander){p, choose, wrote};
    hf_store_command(p->store, c ? &p->commander : NULL);
    return HF_OK;
}

/* append.c: the list-append workload, as Elle's.
 *
 * A pool of keys is in use; a key that has taken its share of appends is
 * replaced by a fresh one, so that lists do not grow without bound.
 *
 * A list is known to the history as "a shorter list and one more element",
 * and to the store as a version and the version it was appended to.  The two
 * are matched when a list is read, each version once.
 */
#include "history/bulk.h"
#include "workload/driver.h"

/* The history's name for the list that ends in version v. */
static hf_value_id list_of(generator *g, uint32_t key, uint32_t v)
{
    hf_value_id list = HF_NONE;

    while (v != HF_NONE) {
        while (g->list_of.n <= v)
            hf_vec_push(&g->list_of, HF_NONE);
        if (g->list_of.at[v] != HF_NONE) {
            list = g->list_of.at[v];
            break;
        }
        hf_vec_push(&g->todo, v);
        v = hf_store_version_at(g->s, v)->base;
    }
    while (g->todo.n > 0) {
        v = g->todo.at[--g->todo.n];
        list =
            hf_builder_list(g->b, key, list, hf_store_version_at(g->s, v)->id);
        g->list_of.at[v] = list;
    }
    return list;
}

/* A slot whose key has had its appends gets a fresh key. */
static void use_up(generator *g, uint32_t slot)
{
    if (g->o->writes_per_key == 0 ||
        ++g->slot_writes[slot] < g->o->writes_per_key)
        return;
    g->slot_writes[slot] = 0;
    g->slot_key[slot] = (uint32_t)g->nil.n;
    hf_generate_keys(g, 1);
}

static bool append(generator *g, uint32_t session, uint32_t key)
{
    hf_store_value element = {.number = ++g->last_value};

    element.id = hf_bulk_int_fresh(g->b, key, element.number);
    return hf_store_append(g->s, session, key, element);
}

static inline bool next(generator *g, client *c, uint32_t session,
                        uint64_t bits)
{
    uint32_t key = c->rmw_key, slot;
    hf_store_op *op;
    choice what;

    if (key != HF_NONE) {
        c->rmw_key = HF_NONE;
        c->left--;
        return append(g, session, key);
    }
    slot = pick_key(g, bits);
    key = g->slot_key[slot];
    what = choose(g, (uint32_t)bits);
    if (what != CHOOSE_READ)
        use_up(g, slot);
    if (what == CHOOSE_WRITE) {
        c->left--;
        return append(g, session, key);
    }
    op = hf_store_read_list(g->s, session, key);
    op->id = list_of(g, key, op->version);
    if (what == CHOOSE_READ)
        c->left--;
    else
        c->rmw_key = key;
    return true;
}

void hf_run_append(generator *g)
{
    hf_generate_keys(g, g->o->keys);
    g->slot_key = HF_NEW_ARRAY(uint32_t, g->o->keys);
    g->slot_writes = HF_NEW_ZEROED(uint32_t, g->o->keys);
    for (uint32_t i = 0; i < g->o->keys; i++)
        g->slot_key[i] = i;
    drive(g, next);
    hf_free(g->slot_key);
    hf_free(g->slot_writes);
}

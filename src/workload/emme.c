/* emme.c: the workloads of the evaluation of Emme and Enne (Clark et al.).
 *
 * One table t with a primary key and two columns: c0, a number that no other
 * statement writes, and c1, a number below 1,000 that conditions ask for.  It
 * is empty at first; keys come to exist by inserts and never go.
 *
 *   item mix        40 % reads, 30 % updates, 10 % inserts (which overwrite),
 *                   20 % increments of c1: a read and, in a statement of its
 *                   own, an update
 *   predicate mix   10 % inserts; half of the rest reads, half updates, of
 *                   which a part is over a condition: reads of a range of c1,
 *                   its least and its greatest value in equal parts, updates
 *                   of a range
 *
 * An update or increment of a row that does not exist changes nothing and is
 * recorded as a read.  A range takes 1 % of the values.  By an index of the
 * store its cost does not depend on the number of keys; with explicit version
 * sets, replicas or bugs every scan looks at every key, as does any certificate
 * then.
 */
#include <stdint.h>

#include "history/bulk.h"
#include "workload/driver.h"

#define FEW 16

/* ---- rows ---------------------------------------------------------------- */

static char *put_number(char *at, uint64_t n)
{
    char digits[20];
    unsigned length = 0;

    do
        digits[length++] = (char)('0' + n % 10);
    while (n /= 10);
    while (length > 0)
        *at++ = digits[--length];
    return at;
}

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

/* {"c0":tag,"c1":number}, as the builder would spell it.  A tag is written to
 * a key once, so that the value is known to be new. */
static hf_store_value row_of(generator *g, uint32_t key, int64_t tag,
                             int64_t number)
{
    char text[64], *end = put_text(text, "{\"c0\":");
    hf_history *h = g->b->h;
    hf_value_id v = h->n_values;
    hf_string_id string;

    end = put_text(put_number(end, (uint64_t)tag), ",\"c1\":");
    end = put_text(put_number(end, (uint64_t)number), "}");
    if (g->few_values || v >= g->b->cap_values || hf_builder_failed(g->b))
        return (hf_store_value){
            number,
            hf_builder_value(g->b, key,
                             (hf_scalar){.type = HF_ROW,
                                         .text = text,
                                         .length = (size_t)(end - text)})};
    string = hf_builder_string(g->b, text, (size_t)(end - text));
    h->value_key[v] = key;
    h->value_type[v] = HF_ROW;
    h->value_data[v] = string;
    h->n_values = v + 1;
    return (hf_store_value){number, v};
}

static int64_t new_tag(generator *g)
{
    return g->few_values ? (int64_t)hf_rng_below(&g->rng, FEW)
                         : ++g->last_value;
}

static int64_t new_number(generator *g)
{
    return (int64_t)hf_rng_below(&g->rng, HF_EMME_SPAN);
}

/* ---- statements on one row ----------------------------------------------- */

static bool insert(generator *g, uint32_t session, uint32_t key)
{
    hf_store_value row = row_of(g, key, new_tag(g), new_number(g));
    int64_t old;

    return hf_store_peek(g->s, session, key, &old)
               ? hf_store_write(g->s, session, key, row)
               : hf_store_upsert(g->s, session, key, row);
}

static bool update(generator *g, uint32_t session, uint32_t key)
{
    int64_t old;

    if (hf_store_peek(g->s, session, key, &old))
        return hf_store_write(g->s, session, key,
                              row_of(g, key, new_tag(g), new_number(g)));
    (void)hf_store_read(g->s, session, key);
    return true;
}

/* The read of an increment; the update is the next statement. */
static void begin_increment(generator *g, client *c, uint32_t session,
                            uint32_t key)
{
    const hf_store_op *op = hf_store_read(g->s, session, key);

    if (op->id == HF_NONE) {
        c->left--; /* no row */
        return;
    }
    c->rmw_key = key;
    c->rmw_read = op->version == HF_NONE
                      ? 0
                      : hf_store_version_at(g->s, op->version)->number;
}

static bool end_increment(generator *g, client *c, uint32_t session)
{
    uint32_t key = c->rmw_key;

    c->rmw_key = HF_NONE;
    c->left--;
    return hf_store_write(g->s, session, key,
                          row_of(g, key, new_tag(g), c->rmw_read + 1));
}

/* ---- statements over a condition ----------------------------------------- */

static const hf_store_scanned *scan_range(generator *g, uint32_t session,
                                          hf_op_kind kind)
{
    uint32_t width = HF_EMME_SPAN * g->o->range_percent / 100;
    int64_t low;

    if (width < 1)
        width = 1;
    low = hf_rng_below(&g->rng, HF_EMME_SPAN - width + 1);
    return hf_store_scan(g->s, session, kind, low, low + width - 1);
}

static void read_condition(generator *g, uint32_t session)
{
    uint32_t what = hf_rng_below(&g->rng, 3);

    if (what == 0)
        (void)scan_range(g, session, HF_OP_PREDICATE_READ);
    else
        (void)hf_store_scan(g->s, session, what == 1 ? HF_OP_MIN : HF_OP_MAX,
                            INT64_MIN, INT64_MAX);
}

static bool update_range(generator *g, uint32_t session)
{
    const hf_store_scanned *found =
        scan_range(g, session, HF_OP_PREDICATE_UPDATE);
    size_t first = found->first_row, n = found->n_rows;
    int64_t tag = new_tag(g), number = new_number(g);

    for (size_t i = first; i < first + n; i++) {
        const hf_store_row *row = &hf_store_rows(g->s, session)[i];
        uint32_t key = row->key;

        if (row->returned && row->in_set &&
            !hf_store_write(g->s, session, key, row_of(g, key, tag, number)))
            return false;
    }
    return true;
}

/* ---- the mixes ----------------------------------------------------------- */

/* Of the writes: 10 of 40 percent, or of 55, are inserts. */
static bool is_insert(generator *g)
{
    bool items = g->o->workload == HF_WORKLOAD_EMME_ITEM;

    return hf_rng_below(&g->rng, items ? 4 : 11) < (items ? 1u : 2u);
}

static bool is_over_condition(generator *g)
{
    return g->o->workload == HF_WORKLOAD_EMME_PREDICATE &&
           hf_rng_chance(&g->rng, g->o->predicate_percent);
}

static bool write(generator *g, uint32_t session, uint32_t key)
{
    if (is_insert(g))
        return insert(g, session, key);
    return is_over_condition(g) ? update_range(g, session)
                                : update(g, session, key);
}

static inline bool next(generator *g, client *c, uint32_t session,
                        uint64_t bits)
{
    uint32_t key = pick_key(g, bits);
    choice what;

    if (c->rmw_key != HF_NONE)
        return end_increment(g, c, session);
    what = choose(g, (uint32_t)bits);
    if (what == CHOOSE_RMW) {
        begin_increment(g, c, session, key);
        return true;
    }
    c->left--;
    if (what == CHOOSE_WRITE)
        return write(g, session, key);
    if (is_over_condition(g))
        read_condition(g, session);
    else
        (void)hf_store_read(g->s, session, key);
    return true;
}

void hf_run_emme(generator *g)
{
    hf_generate_keys(g, g->o->keys);
    for (uint32_t key = 0; key < g->o->keys; key++) {
        hf_store_value row;

        if (!hf_rng_chance(&g->rng, g->o->loaded_percent))
            continue;
        row = row_of(g, key, new_tag(g), new_number(g));
        hf_store_load(g->s, key, row);
        hf_builder_initial(g->b, key, row.id);
    }
    drive(g, next);
}

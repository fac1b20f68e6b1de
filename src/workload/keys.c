/* keys.c: tables for choosing keys by a distribution.
 *
 * Walker's alias method, built as Vose does it: columns that are too low are
 * filled up from columns that are too high.  Linear in the number of keys.
 */
#include "workload/keys.h"

#include <math.h>

#include "base/mem.h"

/* The weight of key i, up to a constant factor. */
static double weight(const hf_generate_options *o, uint32_t i)
{
    switch (o->distribution) {
    case HF_DISTRIBUTION_ZIPF:
        return pow((double)i + 1, -o->theta);
    case HF_DISTRIBUTION_EXPONENTIAL:
        return ldexp(1.0, i < 1000 ? -(int)i : -1000);
    case HF_DISTRIBUTION_HOTSPOT: {
        double hot = ceil((double)o->keys * o->hot_keys / 100);

        if (hot < 1)
            hot = 1;
        if (hot >= o->keys)
            return 1;
        return i < hot ? o->hot_operations / hot
                       : (100.0 - o->hot_operations) / (o->keys - hot);
    }
    default:
        return 1;
    }
}

/* Sets column i to its share `p` of a full column, the rest from `other`. */
static void set_column(hf_key_column *c, double p, uint32_t other)
{
    double scaled = p * 4294967296.0;

    c->threshold = scaled >= 4294967295.0 ? UINT32_MAX : (uint32_t)scaled;
    c->other = other;
}

static void fill(hf_key_column *table, double *share, uint32_t n)
{
    uint32_t *todo = HF_NEW_ARRAY(uint32_t, n);
    uint32_t low = 0, high = n; /* low columns first, high ones last */

    for (uint32_t i = 0; i < n; i++)
        if (share[i] < 1)
            todo[low++] = i;
        else
            todo[--high] = i;
    while (low > 0 && high < n) {
        uint32_t small = todo[--low], large = todo[high];

        set_column(&table[small], share[small], large);
        share[large] -= 1 - share[small];
        if (share[large] < 1) {
            high++;
            todo[low++] = large;
        }
    }
    while (low > 0) {
        low--;
        set_column(&table[todo[low]], 1, todo[low]);
    }
    for (; high < n; high++)
        set_column(&table[todo[high]], 1, todo[high]);
    hf_free(todo);
}

void hf_keys_init(hf_keys *k, const hf_generate_options *o)
{
    double *share, sum = 0;

    k->n = o->keys;
    k->table = NULL;
    if (o->distribution == HF_DISTRIBUTION_UNIFORM || o->keys == 1)
        return;
    share = HF_NEW_ARRAY(double, o->keys);
    for (uint32_t i = 0; i < o->keys; i++)
        sum += share[i] = weight(o, i);
    for (uint32_t i = 0; i < o->keys; i++)
        share[i] *= o->keys / sum;
    k->table = HF_NEW_ARRAY(hf_key_column, o->keys);
    fill(k->table, share, o->keys);
    hf_free(share);
}

void hf_keys_release(hf_keys *k)
{
    hf_free(k->table);
    k->table = NULL;
}

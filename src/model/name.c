/* name.c: finding a row of a table by a name typed by a person.
 *
 * A near name is one within a few typing mistakes, fewer for short names; a
 * name of which the text is the beginning counts as one more than the
 * largest allowed number of mistakes, so it wins only where nothing else is
 * near.  Linear in the size of the table.
 */
#include "model/name.h"

static bool row_has(const hf_name_row *row, hf_str name)
{
    if (hf_str_same_name(hf_str_of(row->name), name))
        return true;
    if (row->second && row->second[0] &&
        hf_str_same_name(hf_str_of(row->second), name))
        return true;
    for (const char *const *a = row->aliases; *a; a++) {
        if (hf_str_same_name(hf_str_of(*a), name))
            return true;
    }
    return false;
}

bool hf_name_find(hf_name_table table, hf_str name, unsigned *ret_index)
{
    hf_name_row row;

    for (unsigned i = 0; table(i, &row); i++) {
        if (row_has(&row, name)) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

unsigned hf_name_far(hf_str name)
{
    unsigned mistakes = name.len < 4 ? 1 : name.len < 8 ? 2 : 3;

    return mistakes + 2;
}

/* How far `candidate` is from `name`; `best` if it is not near. */
static unsigned distance_to(const char *candidate, hf_str name, unsigned best)
{
    hf_str c = hf_str_of(candidate);
    unsigned far = hf_name_far(name);
    unsigned d = hf_str_distance(c, name, far - 2);

    if (d <= far - 2)
        return d;
    if (name.len >= 3 && c.len > name.len &&
        hf_str_same_name((hf_str){c.ptr, name.len}, name))
        return far - 1;
    return best;
}

const char *hf_name_suggest(hf_name_table table, hf_str name,
                            unsigned *distance)
{
    unsigned best = distance ? *distance : hf_name_far(name);
    const char *found = NULL;
    hf_name_row row;

    /* Longer texts are no name; do not spend time on them. */
    if (name.len == 0 || name.len > 64)
        return NULL;
    for (unsigned i = 0; table(i, &row); i++) {
        bool two = row.second && row.second[0];
        const char *const own[] = {row.name, two ? row.second : NULL, NULL};
        const char *const *lists[] = {own, row.aliases};

        for (unsigned k = 0; k < 2; k++) {
            for (const char *const *a = lists[k]; *a; a++) {
                unsigned d = distance_to(*a, name, best);

                if (d < best) {
                    best = d;
                    found = *a;
                }
            }
        }
    }
    if (distance)
        *distance = best;
    return found;
}

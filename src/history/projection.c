/* projection.c: see projection.h.
 *
 * A pass over the kinds decides whether there are predicate operations at
 * all, one over those whether some row needs it: a row that has the columns
 * listed and no others, and is no version itself.  Only then the versions of
 * each key are listed.  Rows are texts in one form (canonical.c), so columns
 * are compared as texts.
 *
 * O(operations), and O(columns) for each version of the key of such a row.
 */
#include "history/projection.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json_in.h"
#include "base/mem.h"
#include "history/extra.h"
#include "history/promises.h"

typedef struct finder {
    hf_history *h;
    hf_op_id op;
    hf_predicate q;
    uint8_t *is_version; /* per value: somebody wrote it, or it is initial */
    uint32_t *first;     /* per key: its versions in `at`; NULL: not yet */
    hf_value_id *at;
} finder;

/* ---- columns ------------------------------------------------------------- */

static bool is_listed(const finder *f, hf_str name)
{
    for (uint32_t i = 0; i < f->q.n_columns; i++)
        if (hf_str_eq(hf_string(f->h, f->q.columns[i]), name))
            return true;
    return false;
}

/* Has the row all columns that are listed, and no others? */
static bool is_projected(const finder *f, hf_scalar row)
{
    uint32_t n = 0;
    bool fits = true;
    hf_json_in j;
    hf_str name;

    hf_json_in_init(&j, row.text, row.length);
    if (hf_json_in_open(&j, '{'))
        while (fits && hf_json_in_next_key(&j, &name)) {
            fits = is_listed(f, name) && hf_json_in_skip(&j, NULL);
            n++;
        }
    hf_json_in_release(&j);
    return fits && n == f->q.n_columns;
}

static bool has_column(hf_scalar row, hf_str name, hf_str value)
{
    bool found = false, same = false;
    hf_json_in j;
    hf_str key, text;

    hf_json_in_init(&j, row.text, row.length);
    if (hf_json_in_open(&j, '{'))
        while (!found && hf_json_in_next_key(&j, &key)) {
            found = hf_str_eq(key, name);
            same =
                hf_json_in_skip(&j, &text) && found && hf_str_eq(text, value);
        }
    hf_json_in_release(&j);
    return found && same;
}

/* Is `part` some columns of `whole`? */
static bool is_part(hf_scalar part, hf_scalar whole)
{
    bool fits = whole.type == HF_ROW;
    hf_json_in j;
    hf_str name, value;

    hf_json_in_init(&j, part.text, part.length);
    if (hf_json_in_open(&j, '{'))
        while (fits && hf_json_in_next_key(&j, &name)) {
            fits =
                hf_json_in_skip(&j, &value) && has_column(whole, name, value);
        }
    hf_json_in_release(&j);
    return fits;
}

/* ---- versions ------------------------------------------------------------ */

static hf_value_id written_by(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_installs(kind))
        return HF_NONE;
    return kind == HF_OP_INCREMENT ? hf_op_increment(h, op).after
                                   : h->op_value[op];
}

static void find_versions(finder *f)
{
    const hf_history *h = f->h;

    f->is_version = HF_NEW_ZEROED(uint8_t, (size_t)h->n_values + 1);
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        hf_value_id v = written_by(h, op);

        if (v != HF_NONE)
            f->is_version[v] = 1;
    }
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        if (h->key_initial[k] != HF_NONE)
            f->is_version[h->key_initial[k]] = 1;
}

static void list_versions(finder *f)
{
    const hf_history *h = f->h;
    uint32_t *next = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 2);

    f->first = HF_NEW_ZEROED(uint32_t, (size_t)h->n_keys + 2);
    for (hf_value_id v = 0; v < h->n_values; v++)
        f->first[h->value_key[v] + 1] += f->is_version[v];
    for (hf_key_id k = 0; k < h->n_keys; k++) {
        f->first[k + 1] += f->first[k];
        next[k] = f->first[k];
    }
    f->at = HF_NEW_ARRAY(hf_value_id, (size_t)f->first[h->n_keys] + 1);
    for (hf_value_id v = 0; v < h->n_values; v++)
        if (f->is_version[v])
            f->at[next[h->value_key[v]]++] = v;
    hf_free(next);
}

/* Can it be the recorded writer's? */
static bool is_by(const hf_history *h, hf_txn_id writer, hf_value_id v)
{
    hf_key_id key = h->value_key[v];

    if (writer == HF_NONE)
        return true;
    if (writer == HF_WRITER_INITIAL)
        return h->key_initial && h->key_initial[key] == v;
    for (hf_op_id op = h->op_first[writer]; op < h->op_first[writer + 1]; op++)
        if (written_by(h, op) == v)
            return true;
    return false;
}

/* ---- rows ---------------------------------------------------------------- */

static hf_status fail_open(const finder *f, hf_value_id row, hf_error *err)
{
    const hf_history *h = f->h;
    hf_txn_id t = hf_op_txn(h, f->op);
    hf_scalar s = hf_value_scalar(h, row);
    char key[HF_KEY_WORDS], text[80], line[32] = "";

    if (h->txn_line)
        (void)snprintf(line, sizeof(line),
                       "line %lu: ", (unsigned long)h->txn_line[t]);
    return hf_fail(err, HF_ERR_INPUT,
                   "%sT%" PRId64 " returned some columns of row %s, %s, which "
                   "several of its versions have: record whole rows, or "
                   "\"versions\"",
                   line, hf_txn_label(h, t),
                   hf_key_words(h, h->value_key[row], key),
                   hf_quote(text, sizeof(text), s.text, s.length));
}

/* The version that a row is of; HF_NONE: of none. */
static hf_status find_version(finder *f, const hf_version_ref *row,
                              hf_value_id *ret, hf_error *err)
{
    const hf_history *h = f->h;
    hf_key_id key = h->value_key[row->value];
    hf_scalar part = hf_value_scalar(h, row->value);

    *ret = HF_NONE;
    for (uint32_t i = 0; i < f->q.n_versions; i++) {
        hf_value_id v = f->q.versions[i].value;

        if (h->value_key[v] != key)
            continue;
        if (h->value_type[v] == HF_ROW && is_part(part, hf_value_scalar(h, v)))
            *ret = v;
        return HF_OK;
    }
    if (!f->first)
        list_versions(f);
    for (uint32_t i = f->first[key]; i < f->first[key + 1]; i++) {
        hf_value_id v = f->at[i];

        if (h->value_type[v] != HF_ROW || !is_by(h, row->writer, v) ||
            !is_part(part, hf_value_scalar(h, v)))
            continue;
        if (*ret != HF_NONE)
            return fail_open(f, row->value, err);
        *ret = v;
    }
    return HF_OK;
}

static hf_status project_op(finder *f, hf_op_id op, hf_error *err)
{
    hf_history *h = f->h;
    hf_status st = HF_OK;

    f->op = op;
    f->q = hf_op_predicate(h, op);
    for (uint32_t i = 0; f->q.n_columns > 0 && i < f->q.n_results; i++) {
        const hf_version_ref *row = &f->q.results[i];
        hf_value_id v;

        if (h->value_type[row->value] != HF_ROW)
            continue;
        if (!f->is_version)
            find_versions(f);
        if (f->is_version[row->value] ||
            !is_projected(f, hf_value_scalar(h, row->value)))
            continue;
        st = find_version(f, row, &v, err);
        if (st != HF_OK)
            return st;
        if (v != HF_NONE) /* its words are in the history's extra */
            h->extra[(const uint32_t *)&row->value - h->extra] = v;
    }
    return st;
}

hf_status hf_history_project(hf_history *h, hf_error *err)
{
    finder f = {.h = h};
    hf_status st = HF_OK;

    for (hf_op_id op = 0; op < h->n_ops && st == HF_OK; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);

        if (hf_op_has_predicate(kind) && !hf_op_is_aggregate(kind))
            st = project_op(&f, op, err);
    }
    hf_free(f.is_version);
    hf_free(f.first);
    hf_free(f.at);
    return st;
}

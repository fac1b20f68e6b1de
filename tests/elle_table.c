/* elle_table.c: reading the tables of elle_verdicts.c. */
#include "elle_table.h"

#include <stdio.h>

#include "formats/scan.h"
#include "model/witness.h"

const char *const hf_computed_name[HF_N_COMPUTED] = {
    "c_RC",  "c_RA",   "c_CC",  "c_SI",   "c_SER",
    "c_SI0", "c_SER0", "c_SSI", "c_SSER",
};

const hf_level hf_computed_level[HF_N_COMPUTED] = {
    HF_READ_COMMITTED_AXIOMATIC,
    HF_READ_ATOMIC,
    HF_CAUSAL,
    HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
    HF_STRONG_SESSION_SERIALIZABLE,
    HF_SNAPSHOT_ISOLATION,
    HF_SERIALIZABLE,
    HF_STRICT_SNAPSHOT_ISOLATION,
    HF_STRICT_SERIALIZABLE,
};

/* The text up to the next `mark`, which `rest` is shortened by; false after
 * the last piece. */
static bool take(hf_str *rest, char mark, hf_str *ret_piece)
{
    const char *at;

    if (!rest->ptr)
        return false;
    at = rest->len > 0 ? memchr(rest->ptr, mark, rest->len) : NULL;
    *ret_piece = (hf_str){rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len};
    *rest = at ? (hf_str){at + 1, rest->len - ret_piece->len - 1}
               : (hf_str){NULL, 0};
    return true;
}

bool hf_str_lists(hf_str list, char mark, hf_str piece)
{
    hf_str part;

    while (take(&list, mark, &part))
        if (hf_str_eq(part, piece))
            return true;
    return false;
}

/* Where the columns stand: the computed ones, then the path. */
#define N_PLACES (HF_N_COMPUTED + 1)

static bool find_columns(hf_str line, int *places)
{
    hf_str cell;
    int found = 0;

    for (int place = 0; take(&line, '\t', &cell); place++)
        for (int c = 0; c < N_PLACES; c++)
            if (hf_str_eq(cell, c < HF_N_COMPUTED
                                    ? hf_str_of(hf_computed_name[c])
                                    : HF_STR("path"))) {
                places[c] = place;
                found++;
            }
    return found == N_PLACES;
}

bool hf_index_read(const hf_input *in, hf_index_rows *rows)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    int places[N_PLACES] = {0};
    hf_str line, cell;

    if (!hf_lines_next(&lines, &line) || !find_columns(line, places))
        return false;
    while (hf_lines_next(&lines, &line)) {
        hf_index_row r = {0};

        for (int place = 0; take(&line, '\t', &cell); place++) {
            if (place == places[HF_N_COMPUTED])
                r.path = cell;
            for (int c = 0; c < HF_N_COMPUTED; c++)
                if (place == places[c])
                    r.computed[c] = cell;
        }
        if (r.path.len > 0)
            hf_vec_push(rows, r);
    }
    return true;
}

/* "per-key-linearizable+writes-follow-reads"; false: an unknown name. */
static bool read_assume(hf_str names, unsigned *ret_bits)
{
    hf_str name;

    *ret_bits = 0;
    if (hf_str_eq(names, HF_STR("-")))
        return true;
    while (take(&names, '+', &name)) {
        unsigned bit = 1;

        while (bit < 1u << HF_REST_COUNT &&
               !(bit & HF_REST_ASSUMABLE &&
                 hf_str_eq(name, hf_str_of(hf_rest_name(bit)))))
            bit <<= 1;
        if (bit == 1u << HF_REST_COUNT)
            return false;
        *ret_bits |= bit;
    }
    return true;
}

hf_anomaly_set hf_anomaly_set_read(hf_str list)
{
    hf_anomaly_set set = 0;
    hf_anomaly anomaly;
    hf_str name;

    if (hf_str_eq(list, HF_STR("-")))
        return HF_SET_ANY;
    while (take(&list, '+', &name)) {
        if (!hf_anomaly_find(name, &anomaly, NULL))
            return HF_SET_STRANGE;
        set |= (hf_anomaly_set)1 << anomaly;
    }
    return set;
}

/* Do its two sides agree, or is there a remark? */
static bool is_explained(const hf_elle_row *r)
{
    hf_anomaly_set named = hf_anomaly_set_read(r->cell[HF_ELLE_NAMED]);
    bool same = r->judged &&
                hf_str_eq(r->cell[HF_ELLE_VERDICT], r->cell[HF_ELLE_OURS]) &&
                (named == HF_SET_ANY ||
                 named == hf_anomaly_set_read(r->cell[HF_ELLE_NAMES]));

    return same || !hf_str_eq(r->cell[HF_ELLE_REMARK], HF_STR("-"));
}

/* What is wrong with the line, or NULL. */
static const char *parse_row(hf_str line, hf_elle_row *r)
{
    int n = 0;

    *r = (hf_elle_row){.seen = false};
    for (hf_str cell; take(&line, '\t', &cell); n++) {
        if (n >= HF_ELLE_COLUMN_COUNT || cell.len == 0)
            return "expected 8 cells, none of them empty";
        r->cell[n] = cell;
    }
    if (n != HF_ELLE_COLUMN_COUNT)
        return "expected 8 cells";
    if (!hf_level_find(r->cell[HF_ELLE_LEVEL], &r->level, NULL))
        return "unknown level";
    r->judged = !hf_str_eq(r->cell[HF_ELLE_VERDICT], HF_STR("-"));
    if (!read_assume(r->cell[HF_ELLE_ASSUME], &r->assume))
        return "unknown assumption";
    if (hf_anomaly_set_read(r->cell[HF_ELLE_NAMES]) == HF_SET_STRANGE)
        return "unknown anomaly";
    return is_explained(r) ? NULL : "a difference without a remark";
}

bool hf_elle_read(const char *path, const hf_input *in, hf_elle_rows *rows)
{
    hf_lines lines = hf_lines_of(in->text, in->length);
    unsigned number = 0;
    hf_str line;

    while (hf_lines_next(&lines, &line)) {
        const char *wrong;
        hf_elle_row r;

        number++;
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        wrong = parse_row(line, &r);
        if (wrong) {
            fprintf(stderr, "elle_verdicts: %s: line %u: %s\n", path, number,
                    wrong);
            return false;
        }
        hf_vec_push(rows, r);
    }
    return true;
}

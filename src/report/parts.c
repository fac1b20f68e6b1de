/* parts.c: places, counts, assumptions; which operations and findings to
 * show when there are many.
 */
#include "report/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define OPS_SHOWN 16

/* ---- places -------------------------------------------------------------- */

void hf_txn_print_at(const hf_history *h, hf_txn_id t, hf_out *out)
{
    hf_txn_print(h, t, out);
    if (h->txn_line)
        hf_out_format(out, " (line %" PRIu32 ")", h->txn_line[t]);
}

void hf_op_print_place(const hf_history *h, hf_op_id op, hf_out *out)
{
    hf_txn_id t = hf_op_txn(h, op);

    hf_out_format(out, "operation %" PRIu32 " of ", op - h->op_first[t] + 1);
    hf_txn_print_at(h, t, out);
}

/* ---- assumptions --------------------------------------------------------- */

static const char *rest_words(unsigned bit)
{
    switch (bit) {
    case HF_REST_ORDER:
        return "the recorded order of transactions";
    case HF_REST_TIMESTAMPS:
        return "the recorded timestamps";
    case HF_REST_BY_SERIAL:
        return "the recorded serial order as the expected one";
    case HF_REST_BY_COMMIT:
        return "the order of commit times as the expected one";
    case HF_REST_BY_START:
        return "the order of start times as the expected one";
    case HF_REST_BY_END:
        return "the order of ends as the expected one";
    case HF_REST_BY_FILE:
        return "the order of the file as the expected one";
    default:
        return NULL;
    }
}

void hf_rests_print(unsigned rests, hf_out *out)
{
    unsigned said = 0;

    for (unsigned i = 0; i < HF_REST_COUNT; i++) {
        unsigned bit = 1u << i;

        if (!(rests & bit))
            continue;
        if (said++ > 0)
            hf_out_text(out, rests >> (i + 1) != 0 ? ", " : " and ");
        if (rest_words(bit))
            hf_out_text(out, rest_words(bit));
        else
            hf_out_format(out, "the assumption %s", hf_rest_name(bit));
    }
}

/* ---- groups -------------------------------------------------------------- */

typedef struct noun {
    hf_anomaly anomaly;
    const char *one, *many;
} noun;

/* What the count of a group counts. */
static const char *noun_of(hf_anomaly anomaly, uint64_t n)
{
    static const noun nouns[] = {
        {HF_GARBAGE_READ, "read", "reads"},
        {HF_INTERNAL, "read", "reads"},
        {HF_NON_REPEATABLE_READ, "pair of reads", "pairs of reads"},
        {HF_DUPLICATE_WRITE, "value", "values"},
        {HF_G1A, "read", "reads"},
        {HF_G1B, "read", "reads"},
        {HF_DIRTY_UPDATE, "update", "updates"},
        {HF_FUTURE_READ, "read", "reads"},
        {HF_INCOMPATIBLE_ORDER, "pair of reads", "pairs of reads"},
        {HF_CYCLIC_VERSIONS, "key", "keys"},
        {HF_RESULT_SET_MISMATCH, "statement", "statements"},
        {HF_TWO_VERSIONS, "statement", "statements"},
        {HF_SEMANTIC_ERROR, "operation", "operations"},
        {HF_LOST_UPDATE, "update", "updates"},
        {HF_PHANTOM, "pair of reads", "pairs of reads"},
        {HF_OUTSIDE_SNAPSHOT, "read", "reads"},
        {HF_CONCURRENT_WRITE, "pair of writes", "pairs of writes"},
        {HF_EXPECTED_STATE, "operation", "operations"},
    };

    for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]); i++)
        if (nouns[i].anomaly == anomaly)
            return n == 1 ? nouns[i].one : nouns[i].many;
    return n == 1 ? "place" : "places";
}

/* "1,204" */
static void print_grouped(uint64_t n, hf_out *out)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            hf_out_char(out, ',');
        hf_out_char(out, digits[i]);
    }
}

/* At the weak levels an anti-dependency is found, and counted, by the
 * transaction that reads too old. */
static bool is_by_reader(const hf_result *r, hf_anomaly anomaly)
{
    const hf_level_info *level = hf_level_get(r->level);

    return anomaly >= HF_G_SINGLE_ITEM &&
           (level->shape == HF_SHAPE_OTV ||
            (level->shape == HF_SHAPE_AXIOM &&
             !(level->axiom & (HF_AXIOM_CAUSAL | HF_AXIOM_PREFIX))));
}

void hf_group_count_print(const hf_result *r, const hf_group *group,
                          hf_out *out)
{
    bool one = group->count == 1;

    if (group->at_least)
        hf_out_text(out, "at least ");
    print_grouped(group->count, out);
    hf_out_char(out, ' ');
    if (!hf_anomaly_get(group->anomaly)->cycle)
        hf_out_text(out, noun_of(group->anomaly, group->count));
    else if (r->n_groups > 0 && is_by_reader(r, group->anomaly))
        hf_out_text(out, one ? "transaction" : "transactions");
    else if (r->n_groups > 0)
        hf_out_text(out, one ? "component" : "components");
    else
        hf_out_text(out, one ? "cycle" : "cycles");
}

static hf_group *group_of(hf_group_list *list, hf_anomaly anomaly)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].anomaly == anomaly)
            return &list->at[i];
    return NULL;
}

hf_group_list hf_result_groups(const hf_result *r)
{
    hf_group_list list = {0};

    for (uint32_t i = 0; i < r->n_groups; i++)
        hf_vec_push(&list, r->groups[i]);
    if (r->n_groups > 0)
        return list;
    for (uint32_t i = 0; i < r->n_findings; i++) {
        hf_anomaly anomaly = r->findings[i].anomaly;
        hf_group *g = group_of(&list, anomaly);

        if (!g) {
            hf_vec_push(&list, (hf_group){.anomaly = anomaly});
            g = &list.at[list.n - 1];
        }
        g->count++;
    }
    return list;
}

/* ---- which findings ------------------------------------------------------ */

void hf_result_arrange(hf_result *r, uint32_t most)
{
    bool met[HF_ANOMALY_COUNT] = {false};
    uint32_t n = r->n_findings, chosen = 0, front = 0, back;
    bool *wanted;
    hf_finding *copy;

    if (n <= most)
        return;
    wanted = HF_NEW_ZEROED(bool, n);
    copy = HF_NEW_ARRAY(hf_finding, n);
    for (uint32_t i = 0; i < n && chosen < most; i++) {
        wanted[i] = !met[r->findings[i].anomaly];
        met[r->findings[i].anomaly] = true;
        chosen += wanted[i];
    }
    for (uint32_t i = 0; i < n && chosen < most; i++) {
        chosen += !wanted[i];
        wanted[i] = true;
    }
    back = chosen;
    for (uint32_t i = 0; i < n; i++)
        copy[wanted[i] ? front++ : back++] = r->findings[i];
    memcpy(r->findings, copy, n * sizeof(*copy));
    hf_free(copy);
    hf_free(wanted);
}

/* ---- which operations ---------------------------------------------------- */

static int compare_ops(const void *left, const void *right)
{
    hf_op_id a = *(const hf_op_id *)left, b = *(const hf_op_id *)right;

    return (a > b) - (a < b);
}

hf_op_list hf_witness_cited(const hf_witness *w)
{
    hf_op_list list = {0};
    size_t n = 0;

    for (uint32_t i = 0; i < w->n_edges; i++) {
        if (w->edges[i].from_op != HF_NONE)
            hf_vec_push(&list, w->edges[i].from_op);
        if (w->edges[i].to_op != HF_NONE)
            hf_vec_push(&list, w->edges[i].to_op);
    }
    for (uint32_t i = 0; i < w->n_ops; i++)
        hf_vec_push(&list, w->ops[i]);
    if (list.n > 0)
        qsort(list.at, list.n, sizeof(*list.at), compare_ops);
    for (size_t i = 0; i < list.n; i++)
        if (n == 0 || list.at[n - 1] != list.at[i])
            list.at[n++] = list.at[i];
    list.n = n;
    return list;
}

/* The place of the first one that is not before op. */
static size_t place_of(const hf_op_list *list, hf_op_id op)
{
    size_t low = 0, high = list->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->at[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hf_op_list_has(const hf_op_list *list, hf_op_id op)
{
    size_t at = place_of(list, op);

    return at < list->n && list->at[at] == op;
}

hf_op_id hf_next_shown(const hf_history *h, const hf_op_list *cited,
                       hf_txn_id t, hf_op_id op, uint32_t shown)
{
    hf_op_id first = h->op_first[t], end = h->op_first[t + 1];
    size_t at;

    if (op >= end)
        return end;
    if (end - first <= OPS_SHOWN || shown < OPS_SHOWN / 2)
        return op;
    at = place_of(cited, op);
    return at < cited->n && cited->at[at] < end ? cited->at[at] : end;
}

/* text.c: a result on the terminal.
 *
 * The answer comes first, on a line of its own; then the anomaly in plain
 * sentences, one an edge, with the lines of the input; then the transactions
 * concerned.  Long things are cut, and the text says how much is left out:
 * the JSON form has all of it.
 */
#include "report/report.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/special.h"

#define TXNS_SHOWN 12
#define OPS_SHOWN 16
#define EDGES_SHOWN 24
#define ORDER_SHOWN 100
#define WIDTH 78

typedef struct page {
    const hf_history *h;
    hf_out *out;
    bool color;
} page;

static void style(const page *p, const char *code)
{
    if (p->color)
        hf_out_format(p->out, "\033[%sm", code);
}

static bool list_has(const hf_txn_list *list, hf_txn_id t)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i] == t)
            return true;
    }
    return false;
}

hf_txn_list hf_witness_txns(const hf_history *h, const hf_witness *w)
{
    hf_txn_list list = {0};

    for (uint32_t i = 0; i < w->n_edges; i++)
        hf_vec_push(&list, w->edges[i].from);
    for (uint32_t i = 0; i < w->n_ops; i++) {
        hf_txn_id t = hf_op_txn(h, w->ops[i]);

        if (!list_has(&list, t))
            hf_vec_push(&list, t);
    }
    if (w->kind == HF_WITNESS_CORE) {
        for (uint32_t i = 0; i < w->n_order; i++)
            hf_vec_push(&list, w->order[i]);
    }
    return list;
}

/* "... and 7 more", if there are more. */
static void print_rest(const page *p, size_t n, size_t shown, const char *what)
{
    if (n > shown)
        hf_out_format(p->out, "  ... and %zu more %s\n", n - shown, what);
}

/* ---- transactions -------------------------------------------------------- */

static void print_txn_place(const page *p, hf_txn_id t)
{
    const hf_history *h = p->h;
    hf_string_id session = h->session_name[h->txn_session[t]];
    const char *before = " (";
    char buffer[56];

    if (h->txn_line) {
        hf_out_format(p->out, "%sline %" PRIu32, before, h->txn_line[t]);
        before = ", ";
    }
    if (session != HF_NONE) {
        hf_str name = hf_string(h, session);

        hf_out_format(p->out, "%ssession %s", before,
                      hf_quote(buffer, sizeof(buffer), name.ptr, name.len));
        before = ", ";
    }
    if (h->txn_outcome[t] != HF_COMMITTED) {
        hf_out_format(p->out, "%s%s%s", before,
                      h->txn_outcome[t] == HF_ABORTED ? "" : "outcome ",
                      hf_outcome_name((hf_outcome)h->txn_outcome[t]));
        before = ", ";
    }
    if (before[0] == ',')
        hf_out_char(p->out, ')');
}

/* "  T1 (line 2, session a): read x = nil; write x = 1" */
static void print_txn_line(const page *p, hf_txn_id t)
{
    const hf_history *h = p->h;
    hf_op_id first = h->op_first[t], end = h->op_first[t + 1];

    hf_out_text(p->out, "  ");
    style(p, "1");
    hf_txn_print(h, t, p->out);
    style(p, "0");
    print_txn_place(p, t);
    hf_out_char(p->out, ':');
    for (hf_op_id op = first; op < end; op++) {
        if (op - first == OPS_SHOWN) {
            hf_out_format(p->out, "; ... and %" PRIu32 " more", end - op);
            break;
        }
        hf_out_text(p->out, op == first ? " " : "; ");
        hf_op_print(h, op, p->out);
    }
    if (first == end)
        hf_out_text(p->out, " no operations");
    hf_out_char(p->out, '\n');
}

static void print_txns(const page *p, const hf_witness *w)
{
    hf_txn_list list = hf_witness_txns(p->h, w);

    for (size_t i = 0; i < list.n && i < TXNS_SHOWN; i++)
        print_txn_line(p, list.at[i]);
    print_rest(p, list.n, TXNS_SHOWN, "transactions");
    hf_vec_release(&list);
}

/* ---- invalid ------------------------------------------------------------- */

/* " (line 2, line 3)", in the order of the edge. */
static void print_edge_lines(const page *p, const hf_edge *e)
{
    const uint32_t *line = p->h->txn_line;

    hf_out_format(p->out, " [%s", hf_edge_kind_name(e->kind));
    if (line)
        hf_out_format(p->out, ", line %" PRIu32 " to line %" PRIu32,
                      line[e->from], line[e->to]);
    hf_out_char(p->out, ']');
}

static void print_cycle(const page *p, const hf_witness *w)
{
    for (uint32_t i = 0; i < w->n_edges && i < EDGES_SHOWN; i++) {
        hf_out_format(p->out, "  %" PRIu32 ". ", i + 1);
        hf_edge_print(p->h, &w->edges[i], p->out);
        print_edge_lines(p, &w->edges[i]);
        hf_out_char(p->out, '\n');
    }
    print_rest(p, w->n_edges, EDGES_SHOWN, "edges");
    hf_out_text(p->out, "  so ");
    for (uint32_t i = 0; i < w->n_edges && i < EDGES_SHOWN; i++) {
        hf_txn_print(p->h, w->edges[i].from, p->out);
        hf_out_text(p->out, " before ");
    }
    if (w->n_edges > EDGES_SHOWN)
        hf_out_text(p->out, "... before ");
    hf_txn_print(p->h, w->edges[0].from, p->out);
    hf_out_text(p->out, ": a circle\n\n");
}

static void print_ops(const page *p, const hf_witness *w)
{
    for (uint32_t i = 0; i < w->n_ops && i < OPS_SHOWN; i++) {
        hf_txn_id t = hf_op_txn(p->h, w->ops[i]);

        hf_out_format(p->out, "  %" PRIu32 ". ", i + 1);
        hf_txn_print(p->h, t, p->out);
        hf_out_text(p->out, ": ");
        hf_op_print(p->h, w->ops[i], p->out);
        if (p->h->txn_line)
            hf_out_format(p->out, " [line %" PRIu32 "]", p->h->txn_line[t]);
        hf_out_char(p->out, '\n');
    }
    print_rest(p, w->n_ops, OPS_SHOWN, "operations");
    hf_out_char(p->out, '\n');
}

static void print_proof(const page *p, const hf_witness *w)
{
    if (w->kind == HF_WITNESS_CYCLE && w->n_edges > 0)
        print_cycle(p, w);
    else if (w->kind == HF_WITNESS_OPERATIONS)
        print_ops(p, w);
    else if (w->kind == HF_WITNESS_CORE)
        hf_out_text(p->out, "  no order of these transactions satisfies the "
                            "level, even with all others gone:\n\n");
    print_txns(p, w);
}

/* "G2-item (write skew)" */
static void print_finding_name(const page *p, const hf_finding *f)
{
    style(p, "1");
    hf_out_text(p->out, hf_anomaly_get(f->anomaly)->name);
    if (f->alias)
        hf_out_format(p->out, " (%s)", f->alias);
    style(p, "0");
}

static void print_finding(const page *p, const hf_finding *f)
{
    const hf_special_form *form =
        f->alias ? hf_special_find(hf_str_of(f->alias)) : NULL;
    const hf_anomaly_info *info = hf_anomaly_get(f->anomaly);

    print_finding_name(p, f);
    hf_out_format(p->out, ": %s\n\n", form ? form->summary : info->summary);
    print_proof(p, &f->witness);
    hf_out_format(p->out, "\n  more: holdfast explain \"%s\"\n",
                  f->alias ? f->alias : info->name);
}

static void print_invalid(const page *p, const hf_result *r)
{
    hf_out_char(p->out, '\n');
    for (uint32_t i = 0; i < r->n_findings; i++) {
        hf_out_text(p->out, "\n");
        print_finding(p, &r->findings[i]);
    }
    if (r->n_findings == 0) {
        hf_out_char(p->out, '\n');
        print_proof(p, &r->witness);
    }
}

/* ---- valid --------------------------------------------------------------- */

static void print_order(const page *p, const hf_witness *w)
{
    size_t column = 2;

    hf_out_char(p->out, ' ');
    for (uint32_t i = 0; i < w->n_order && i < ORDER_SHOWN; i++) {
        bool snapshot = w->kind == HF_WITNESS_SNAPSHOT;
        hf_out one;

        hf_out_init_memory(&one);
        if (snapshot)
            hf_out_text(&one, w->order[i] % 2 ? "commit " : "start ");
        hf_txn_print(p->h, snapshot ? w->order[i] / 2 : w->order[i], &one);
        if (snapshot && i + 1 < w->n_order)
            hf_out_char(&one, ',');
        if (column + one.n + 1 > WIDTH) {
            hf_out_text(p->out, "\n ");
            column = 2;
        }
        hf_out_char(p->out, ' ');
        hf_out_str(p->out, hf_out_view(&one));
        column += one.n + 1;
        hf_out_release(&one);
    }
    hf_out_char(p->out, '\n');
    print_rest(p, w->n_order, ORDER_SHOWN,
               w->kind == HF_WITNESS_SNAPSHOT ? "events" : "transactions");
}

static void print_valid(const page *p, const hf_witness *w)
{
    hf_out_char(p->out, '\n');
    if (w->kind == HF_WITNESS_NONE)
        return;
    if (w->n_order == 0) {
        hf_out_text(p->out, "no transaction was committed\n");
        return;
    }
    if (w->kind == HF_WITNESS_SERIAL)
        hf_out_text(p->out, "as if one after the other, in this order:\n");
    else if (w->kind == HF_WITNESS_SNAPSHOT)
        hf_out_text(p->out, "with snapshots and commits in this order:\n");
    else
        hf_out_text(p->out, "with commits in this order:\n");
    print_order(p, w);
    if (w->n_sources > 0)
        hf_out_format(p->out,
                      "  %" PRIu32 " reads of values that were written more "
                      "than once are settled in the witness\n",
                      w->n_sources);
}

void hf_result_print(const hf_history *h, const hf_result *r, bool color,
                     hf_out *out)
{
    static const char *const codes[HF_VERDICT_COUNT] = {"1;32", "1;31", "1;33"};
    page p = {.h = h, .out = out, .color = color};

    style(&p, codes[r->verdict]);
    hf_out_text(out, hf_verdict_name(r->verdict));
    style(&p, "0");
    hf_out_format(out, " at %s", hf_level_get(r->level)->name);
    if (r->verdict == HF_INVALID)
        print_invalid(&p, r);
    else if (r->verdict == HF_VALID)
        print_valid(&p, &r->witness);
    else
        hf_out_format(out, ": %s\n", r->reason ? r->reason : "no reason given");
}

/* text.c: a result on the terminal.
 *
 * The answer comes first, on a line of its own; then the anomaly in plain
 * sentences, one an edge, with the lines of the input; then the transactions
 * concerned.  Long things are cut, and the text says how much is left out:
 * the JSON form has all of it.
 */
#include "report/story.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/special.h"

#define TXNS_SHOWN 12
#define EDGES_SHOWN 24
#define ORDER_SHOWN 100
#define PLACES_SHOWN 8
#define WIDTH 78

typedef struct page {
    const hf_history *h;
    hf_out *out;
    bool color;
    hf_level level;
    hf_verify_session *session; /* for proofs */
} page;

static void style(const page *p, const char *code)
{
    if (p->color)
        hf_out_format(p->out, "\033[%sm", code);
}

static void list_once(hf_txn_list *list, bool *met, hf_txn_id t)
{
    if (!met[t])
        hf_vec_push(list, t);
    met[t] = true;
}

hf_txn_list hf_witness_txns(const hf_history *h, const hf_witness *w)
{
    hf_txn_list list = {0};
    bool *met;

    if (w->kind == HF_WITNESS_CYCLE && w->n_ops == 0) {
        for (uint32_t i = 0; i < w->n_edges; i++)
            hf_vec_push(&list, w->edges[i].from);
        return list;
    }
    met = HF_NEW_ZEROED(bool, h->n_txns + 1);
    for (uint32_t i = 0; i < w->n_edges; i++)
        list_once(&list, met, w->edges[i].from);
    for (uint32_t i = 0; i < w->n_ops; i++)
        list_once(&list, met, hf_op_txn(h, w->ops[i]));
    for (uint32_t i = 0; i < w->n_steps; i++)
        if (w->steps[i].kind == HF_STEP_PROMISE)
            list_once(&list, met, w->edges[w->steps[i].first].to);
        else if (w->steps[i].kind == HF_STEP_SOURCES ||
                 w->steps[i].kind == HF_STEP_HAPPENED ||
                 w->steps[i].kind == HF_STEP_LIST ||
                 w->steps[i].kind == HF_STEP_FAULT)
            list_once(&list, met, hf_op_txn(h, w->steps[i].op));
    for (uint32_t i = 0; hf_witness_has_core(w) && i < w->n_order; i++)
        list_once(&list, met, w->order[i]);
    hf_free(met);
    return list;
}

/* "... and 7 more", if there are more. */
static void print_rest(const page *p, size_t n, size_t shown, const char *what)
{
    if (n > shown)
        hf_out_format(p->out, "  ... and %zu more %s\n", n - shown, what);
}

/* Text in lines of at most WIDTH columns, of which the first has begun:
 * `column` columns of it are written.  Later lines follow `indent` blanks.
 * What is no character becomes one. */
static void print_wrapped(hf_out *out, hf_str text, size_t column,
                          size_t indent)
{
    size_t at = 0;
    bool fresh = true; /* nothing of the text stands in this line */

    while (at < text.len) {
        size_t word = at;

        while (word < text.len && text.ptr[word] != ' ' &&
               text.ptr[word] != '\n')
            word++;
        if (!fresh && column + 1 + (word - at) > WIDTH) {
            hf_out_format(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!fresh) {
            hf_out_char(out, ' ');
            column++;
        }
        for (; at < word; at++, column++)
            hf_out_char(out,
                        (unsigned char)text.ptr[at] < 32 || text.ptr[at] == 127
                            ? '?'
                            : text.ptr[at]);
        fresh = false;
        if (at < text.len && text.ptr[at] == '\n') {
            hf_out_format(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        at++;
    }
    hf_out_char(out, '\n');
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

/* " read x = nil; write x = 1"; of many operations the first and those that
 * are cited. */
static void print_txn_ops(const page *p, hf_txn_id t, const hf_op_list *cited)
{
    const hf_history *h = p->h;
    hf_op_id first = h->op_first[t], end = h->op_first[t + 1], op = first;
    uint32_t shown = 0;

    if (first == end)
        hf_out_text(p->out, " no operations");
    while (op < end) {
        hf_op_id next = hf_next_shown(h, cited, t, op, shown);

        if (next > op)
            hf_out_format(p->out, "; ... %" PRIu32 " more", next - op);
        if (next == end)
            return;
        hf_out_text(p->out, next == first ? " " : "; ");
        hf_op_print(h, next, p->out);
        op = next + 1;
        shown++;
    }
}

/* "  T1 (line 2, session a): read x = nil; write x = 1" */
static void print_txn_line(const page *p, hf_txn_id t, const hf_op_list *cited)
{
    hf_out_text(p->out, "  ");
    style(p, "1");
    hf_txn_print(p->h, t, p->out);
    style(p, "0");
    print_txn_place(p, t);
    hf_out_char(p->out, ':');
    print_txn_ops(p, t, cited);
    hf_out_char(p->out, '\n');
}

static void print_txns(const page *p, const hf_witness *w)
{
    hf_txn_list list = hf_witness_txns(p->h, w);
    hf_op_list cited = hf_witness_cited(w);

    for (size_t i = 0; i < list.n && i < TXNS_SHOWN; i++)
        print_txn_line(p, list.at[i], &cited);
    print_rest(p, list.n, TXNS_SHOWN, "transactions");
    hf_vec_release(&list);
    hf_vec_release(&cited);
}

/* ---- invalid ------------------------------------------------------------- */

/* "     rw on x: operation 2 of T1 (line 2), operation 1 of T2 (line 3)" */
static void print_edge_place(const page *p, const hf_edge *e)
{
    hf_out_format(p->out, "     %s", hf_edge_kind_name(e->kind));
    if (e->key != HF_NONE) {
        hf_out_text(p->out, " on ");
        hf_key_print(p->h, e->key, p->out);
    }
    hf_out_text(p->out, ": ");
    if (e->from_op != HF_NONE)
        hf_op_print_place(p->h, e->from_op, p->out);
    else
        hf_txn_print_at(p->h, e->from, p->out);
    hf_out_text(p->out, ", ");
    if (e->to_op != HF_NONE)
        hf_op_print_place(p->h, e->to_op, p->out);
    else
        hf_txn_print_at(p->h, e->to, p->out);
    hf_out_char(p->out, '\n');
}

/* Two transactions, one of which read what the other wrote after its end. */
static bool is_from_future(const hf_witness *w)
{
    return w->n_edges == 2 &&
           ((w->edges[0].kind == HF_EDGE_RT &&
             w->edges[1].kind == HF_EDGE_WR) ||
            (w->edges[0].kind == HF_EDGE_WR && w->edges[1].kind == HF_EDGE_RT));
}

static void print_cycle(const page *p, const hf_witness *w)
{
    for (uint32_t i = 0; i < w->n_edges && i < EDGES_SHOWN; i++) {
        hf_out_format(p->out, "  %" PRIu32 ". ", i + 1);
        hf_edge_print(p->h, &w->edges[i], p->out);
        hf_out_char(p->out, '\n');
        print_edge_place(p, &w->edges[i]);
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
    hf_out_text(p->out, ": a circle\n");
    if (is_from_future(w))
        hf_out_text(p->out,
                    "  hint: a read from the future may only mean that the "
                    "clocks of the clients\n        disagree; compare them "
                    "before you blame the database\n");
    hf_out_char(p->out, '\n');
}

/* "operations 1, 3 of T1 (line 1)": those of one transaction that follow each
 * other among the witness's; returns the place after them. */
static uint32_t put_places(const page *p, const hf_witness *w, uint32_t i,
                           hf_out *text)
{
    hf_txn_id t = hf_op_txn(p->h, w->ops[i]);
    hf_op_id first = p->h->op_first[t], end = p->h->op_first[t + 1];
    uint32_t last = i;

    while (last + 1 < w->n_ops && w->ops[last + 1] >= first &&
           w->ops[last + 1] < end)
        last++;
    hf_out_text(text, last > i ? "operations" : "operation");
    for (; i <= last; i++)
        hf_out_format(text, " %" PRIu32 "%s", w->ops[i] - first + 1,
                      i < last ? "," : "");
    hf_out_text(text, " of ");
    hf_txn_print_at(p->h, t, text);
    return last + 1;
}

/* "  seen in operation 1 of T1 (line 1), operation 1 of T2 (line 2)" */
static void print_ops_places(const page *p, const hf_witness *w)
{
    uint32_t i = 0;
    hf_out text;

    hf_out_init_memory(&text);
    hf_out_text(&text, "seen in ");
    while (i < w->n_ops && i < PLACES_SHOWN) {
        hf_out_text(&text, i > 0 ? ", " : "");
        i = put_places(p, w, i, &text);
    }
    if (i < w->n_ops)
        hf_out_format(&text, " and %" PRIu32 " more", w->n_ops - i);
    hf_out_text(p->out, "  ");
    print_wrapped(p->out, hf_out_view(&text), 2, 2);
    hf_out_release(&text);
}

static void print_ops(const page *p, const hf_witness *w)
{
    uint32_t n = hf_sentence_count(w);

    for (uint32_t i = 0; i < n; i++) {
        if (i == EDGES_SHOWN && n > EDGES_SHOWN + 1) {
            print_rest(p, n - 1, EDGES_SHOWN, "steps");
            i = n - 1; /* the conclusion */
        }
        hf_out_text(p->out, "  ");
        if (n > 1 && i + 1 < n)
            hf_out_format(p->out, "%" PRIu32 ". ", i + 1);
        hf_sentence_print(p->h, w, i, p->out);
        hf_out_char(p->out, '\n');
    }
    print_ops_places(p, w);
    hf_out_char(p->out, '\n');
}

static void print_core(const page *p, const hf_witness *w)
{
    hf_core_print(w, p->out);
    hf_out_text(p->out,
                w->confirmed ? ";\n  confirmed by enumeration:\n\n" : ":\n\n");
}

static void print_proof(const page *p, const hf_witness *w)
{
    if (w->kind == HF_WITNESS_CYCLE && w->n_edges > 0)
        print_cycle(p, w);
    else if (w->kind == HF_WITNESS_OPERATIONS)
        print_ops(p, w);
    else if (w->kind == HF_WITNESS_CORE)
        print_core(p, w);
    else if (w->kind == HF_WITNESS_PROOF)
        hf_proof_print(p->session, p->h, p->level, w, p->out);
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

/* What it means, in one line: of the well-known form if it is one. */
static const char *summary_of(const hf_finding *f)
{
    hf_str alias = hf_str_of(f->alias ? f->alias : "");
    const hf_special_form *form = f->alias ? hf_special_find(alias) : NULL;
    hf_anomaly anomaly = f->anomaly;

    if (form)
        return form->summary;
    /* a proof may be one cycle, and mixed levels have no cycles but those */
    if (f->anomaly == HF_NO_ORDER && f->witness.mixed)
        return "no order of the transactions satisfies their levels";
    if (f->anomaly == HF_NO_ORDER && f->witness.kind == HF_WITNESS_PROOF)
        return "no order of the transactions satisfies the level";
    if (f->alias && !hf_anomaly_find(alias, &anomaly, NULL))
        anomaly = f->anomaly;
    return hf_anomaly_get(anomaly)->summary;
}

static void print_finding(const page *p, const hf_finding *f, unsigned rests)
{
    const hf_anomaly_info *info = hf_anomaly_get(f->anomaly);

    print_finding_name(p, f);
    hf_out_format(p->out, ": %s\n", summary_of(f));
    if (f->witness.rests != rests) {
        hf_out_text(p->out, f->witness.rests ? "  this one rests on "
                                             : "  this one rests on nothing "
                                               "but the history");
        hf_rests_print(f->witness.rests, p->out);
        hf_out_char(p->out, '\n');
    }
    hf_out_char(p->out, '\n');
    print_proof(p, &f->witness);
    hf_out_format(p->out, "\n  more: holdfast explain \"%s\"\n",
                  f->alias ? f->alias : info->name);
}

/* "  G1a: 1,204 reads, 5 shown" */
static void print_group(const page *p, const hf_result *r, uint32_t most,
                        const hf_group *group)
{
    bool cycle = hf_anomaly_get(group->anomaly)->cycle;
    uint64_t shown = 0;

    for (uint32_t i = 0; i < r->n_findings && i < most; i++)
        shown += r->findings[i].anomaly == group->anomaly;
    hf_out_text(p->out, "  ");
    style(p, "1");
    hf_out_text(p->out, hf_anomaly_get(group->anomaly)->name);
    style(p, "0");
    hf_out_text(p->out, ": ");
    hf_group_count_print(r, group, p->out);
    if (shown == 0)
        hf_out_text(p->out, ", none shown");
    else if (cycle && shown == 1 && group->count > 1)
        hf_out_text(p->out, ", shortest shown");
    else if (shown < group->count)
        hf_out_format(p->out, ", %" PRIu64 "%s shown", shown,
                      cycle ? " shortest" : "");
    hf_out_char(p->out, '\n');
}

/* What was found, if it is more than one thing. */
static void print_groups(const page *p, const hf_result *r, uint32_t most)
{
    hf_group_list groups = hf_result_groups(r);

    if (groups.n > 1 || (groups.n == 1 && groups.at[0].count > 1)) {
        hf_out_text(p->out,
                    groups.n > 1 ? "\nfound, worst first:\n" : "\nfound:\n");
        for (size_t i = 0; i < groups.n; i++)
            print_group(p, r, most, &groups.at[i]);
    }
    hf_vec_release(&groups);
}

static void print_invalid(const page *p, const hf_result *r, uint32_t most)
{
    print_groups(p, r, most);
    for (uint32_t i = 0; i < r->n_findings && i < most; i++) {
        hf_out_text(p->out, "\n");
        print_finding(p, &r->findings[i], r->witness.rests);
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
                      "  reads of values that were written more than once, "
                      "settled in the witness: %" PRIu32 "\n",
                      w->n_sources);
}

/* ---- any verdict --------------------------------------------------------- */

/* ", each transaction at its own level (3 at serializable, 1 at ...)" */
static void print_levels(const page *p, hf_level other)
{
    uint32_t count[HF_LEVEL_COUNT] = {0};
    const char *before = " (";

    for (hf_txn_id t = 0; t < p->h->n_txns; t++)
        count[hf_txn_own_level(p->h, t, other)] +=
            p->h->txn_outcome[t] != HF_ABORTED;
    hf_out_text(p->out, ", each transaction at its own level");
    for (unsigned i = HF_LEVEL_COUNT; i-- > 0;) {
        if (count[i] == 0)
            continue;
        hf_out_format(p->out, "%s%" PRIu32 " at %s", before, count[i],
                      hf_level_get((hf_level)i)->name);
        before = ", ";
    }
    hf_out_text(p->out, before[0] == ',' ? ")" : "");
}

static void print_verdict(const page *p, const hf_result *r)
{
    static const char *const codes[HF_VERDICT_COUNT] = {"1;32", "1;31", "1;33"};

    style(p, codes[r->verdict]);
    hf_out_text(p->out, hf_verdict_name(r->verdict));
    style(p, "0");
    if (r->mixed)
        print_levels(p, r->level);
    else
        hf_out_format(p->out, " at %s", hf_level_get(r->level)->name);
}

/* The reason may be long: it names keys and reads. */
static void print_unknown(const page *p, const hf_result *r)
{
    const char *reason = r->reason ? r->reason : "no reason given";
    size_t column = strlen(hf_verdict_name(r->verdict)) + strlen(" at : ") +
                    strlen(hf_level_get(r->level)->name);

    hf_out_text(p->out, r->mixed ? ":\n  " : ": ");
    print_wrapped(p->out, hf_str_of(reason), r->mixed ? 2 : column, 2);
}

void hf_result_print(const hf_history *h, const hf_result *r, uint32_t most,
                     bool color, hf_out *out)
{
    page p = {.h = h, .out = out, .color = color, .level = r->level};

    print_verdict(&p, r);
    if (r->verdict == HF_UNKNOWN) {
        print_unknown(&p, r);
        return;
    }
    hf_out_char(out, '\n');
    if (r->witness.rests) {
        hf_out_text(out, "rests on ");
        hf_rests_print(r->witness.rests, out);
        hf_out_char(out, '\n');
    }
    if (r->verdict == HF_INVALID) {
        p.session = hf_verify_open(h);
        print_invalid(&p, r, most);
        hf_verify_close(p.session);
    } else {
        print_valid(&p, &r->witness);
    }
}

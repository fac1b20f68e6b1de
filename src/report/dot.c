/* dot.c: a result as a graph in the DOT language, for Graphviz.
 *
 * Each finding is a cluster.  A transaction is a record: its name and place
 * on top, its operations below (fields of a
 * record stand one below the other where the graph runs from left to right),
 * those that make an edge (or the anomaly) marked with a star.  An edge goes
 * from operation to operation and is labelled with its kind and key; kinds have
 * colours, but also styles of their own, so that a print without colour can be
 * read: session order is dashed, real time dotted, anti-dependencies have an
 * open head, write dependencies a thick line.  Of a proof, what is not
 * certain is dashed as well.
 *
 * All text from the input comes through the words of words.c, which leave
 * only printable ASCII; here the characters that mean something in a label
 * are escaped.  Long transactions show the operations that matter, long
 * orders their beginning; what is left out is counted.
 */
#include "report/story.h"

#include <inttypes.h>

#include "base/map.h"

#define TXNS_SHOWN 50
#define EDGES_SHOWN 200

/* How a kind of edge is drawn. */
static const char *const looks[HF_EDGE_KIND_COUNT] = {
    [HF_EDGE_WW] = "color=\"#8a4b00\", style=bold",
    [HF_EDGE_WR] = "color=\"#1f4fa3\", style=solid",
    [HF_EDGE_RW] = "color=\"#b00020\", style=solid, arrowhead=empty",
    [HF_EDGE_PWR] = "color=\"#1f4fa3\", style=solid, arrowhead=normalodot",
    [HF_EDGE_PRW] = "color=\"#b00020\", style=solid, arrowhead=emptyodot",
    [HF_EDGE_SO] = "color=\"#444444\", style=dashed",
    [HF_EDGE_RT] = "color=\"#666666\", style=dotted",
};

/* ---- text ---------------------------------------------------------------- */

/* One line of a label inside double quotes; in a record more characters have
 * a meaning. */
static void put_text(hf_str text, bool record, hf_out *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '"' || c == '\\' || (record && strchr("{}|<>", c) != NULL))
            hf_out_char(out, '\\');
        if (c == '&')
            hf_out_text(out, "&amp;");
        else
            hf_out_char(out, (unsigned char)c < 32 || c == 127 ? '?' : c);
    }
}

/* Writes what was gathered in `line` and empties it. */
static void put_line(hf_out *line, bool record, hf_out *out)
{
    put_text(hf_out_view(line), record, out);
    hf_out_text(out, "\\l");
    line->n = 0;
}

/* Long text as lines of about 70 columns, broken at blanks. */
static void put_paragraph(hf_str text, hf_out *out)
{
    size_t at = 0;

    while (at < text.len) {
        size_t n = text.len - at;
        size_t end = at;

        for (size_t i = at; i < text.len && i - at <= 70; i++)
            if (text.ptr[i] == ' ')
                end = i;
        if (n <= 70 || end == at)
            end = n <= 70 ? text.len : at + 70;
        put_text((hf_str){text.ptr + at, end - at}, false, out);
        hf_out_text(out, "\\l");
        at = end;
        while (at < text.len && text.ptr[at] == ' ')
            at++;
    }
}

static void put_start(const hf_result *r, hf_out *out)
{
    hf_out_text(out, "digraph holdfast {\n"
                     "  graph [fontname=\"Helvetica\", rankdir=LR, "
                     "labelloc=t, labeljust=l];\n"
                     "  node [fontname=\"Helvetica\", fontsize=11, "
                     "shape=record];\n"
                     "  edge [fontname=\"Helvetica\", fontsize=11];\n");
    hf_out_format(out, "  label=\"%s at %s%s\\l", hf_verdict_name(r->verdict),
                  r->mixed ? "own levels, else " : "",
                  hf_level_get(r->level)->name);
    if (r->verdict != HF_UNKNOWN && r->witness.rests) {
        hf_out_text(out, "rests on ");
        hf_rests_print(r->witness.rests, out);
        hf_out_text(out, "\\l");
    }
}

/* ---- invalid ------------------------------------------------------------- */

/* "T1 (line 2, aborted)" */
static void txn_title(const hf_history *h, hf_txn_id t, hf_out *line)
{
    hf_txn_print_at(h, t, line);
    if (h->txn_outcome[t] != HF_COMMITTED)
        hf_out_format(line, ", %s%s",
                      h->txn_outcome[t] == HF_ABORTED ? "" : "outcome ",
                      hf_outcome_name((hf_outcome)h->txn_outcome[t]));
}

/* The fields of a record, one for each operation shown: "|<o3> * read ..." */
static void put_ops(const hf_history *h, hf_txn_id t, const hf_op_list *cited,
                    hf_out *out)
{
    hf_op_id end = h->op_first[t + 1], op = h->op_first[t];
    uint32_t shown = 0;
    hf_out line;

    hf_out_init_memory(&line);
    while (op < end) {
        hf_op_id next = hf_next_shown(h, cited, t, op, shown);

        if (next > op) {
            hf_out_format(&line, "... %" PRIu32 " more", next - op);
            hf_out_char(out, '|');
            put_line(&line, true, out);
        }
        if (next == end)
            break;
        hf_out_text(&line, hf_op_list_has(cited, next) ? "* " : "");
        hf_op_print(h, next, &line);
        hf_out_format(out, "|<o%" PRIu32 "> ", next);
        put_line(&line, true, out);
        op = next + 1;
        shown++;
    }
    hf_out_release(&line);
}

static void put_txn(const hf_history *h, uint32_t cluster, hf_txn_id t,
                    const hf_op_list *cited, hf_out *out)
{
    hf_out line;

    hf_out_init_memory(&line);
    txn_title(h, t, &line);
    hf_out_format(out, "    f%" PRIu32 "_t%" PRIu32 " [label=\"", cluster, t);
    put_line(&line, true, out);
    put_ops(h, t, cited, out);
    hf_out_text(out, "\"];\n");
    hf_out_release(&line);
}

static void put_end(uint32_t cluster, hf_txn_id t, hf_op_id op, hf_out *out)
{
    hf_out_format(out, "f%" PRIu32 "_t%" PRIu32, cluster, t);
    if (op != HF_NONE)
        hf_out_format(out, ":o%" PRIu32, op);
}

/* assumed: it is not certain, a step of a proof takes it for granted. */
static void put_edge(const hf_history *h, uint32_t cluster, const hf_edge *e,
                     bool assumed, hf_out *out)
{
    hf_out line;

    hf_out_init_memory(&line);
    hf_out_text(&line, hf_edge_kind_name(e->kind));
    if (e->key != HF_NONE) {
        hf_out_char(&line, ' ');
        hf_key_print(h, e->key, &line);
    }
    hf_out_text(out, "    ");
    put_end(cluster, e->from, e->from_op, out);
    hf_out_text(out, " -> ");
    put_end(cluster, e->to, e->to_op, out);
    hf_out_text(out, " [label=\"");
    put_text(hf_out_view(&line), false, out);
    hf_out_format(out, "\", %s%s];\n", looks[e->kind],
                  assumed ? ", style=\"dashed\"" : "");
    hf_out_release(&line);
}

/* "G1a, 1,204 reads", and what happened. */
static void put_title(const hf_history *h, const hf_result *r,
                      const hf_finding *f, hf_out *out)
{
    hf_group_list groups = hf_result_groups(r);
    uint32_t n = hf_sentence_count(&f->witness);
    hf_out line;

    hf_out_init_memory(&line);
    hf_out_text(&line, hf_anomaly_get(f->anomaly)->name);
    if (f->alias)
        hf_out_format(&line, " (%s)", f->alias);
    for (size_t i = 0; i < groups.n; i++) {
        if (groups.at[i].anomaly == f->anomaly && groups.at[i].count > 1) {
            hf_out_text(&line, ", ");
            hf_group_count_print(r, &groups.at[i], &line);
        }
    }
    put_line(&line, false, out);
    for (uint32_t i = 0; i < n && i < EDGES_SHOWN; i++) {
        hf_sentence_print(h, &f->witness, i, &line);
        put_paragraph(hf_out_view(&line), out);
        line.n = 0;
    }
    hf_out_release(&line);
    hf_vec_release(&groups);
}

/* What is left out of a cluster, as a node. */
static void put_rest(uint32_t cluster, size_t n, const char *what, hf_out *out)
{
    hf_out_format(out,
                  "    f%" PRIu32 "_%s [label=\"... and %zu more %s\", "
                  "shape=plaintext];\n",
                  cluster, what, n, what);
}

/* Has the transaction a node?  A cycle's first edges end at those of the
 * first transactions, and the last one closes at the first. */
static bool is_drawn(const hf_txn_list *txns, size_t drawn, hf_txn_id t)
{
    for (size_t i = 0; i < drawn; i++)
        if (txns->at[i] == t)
            return true;
    return false;
}

/* Has an edge like it been drawn?  The cycles of a proof share some. */
static bool is_new_edge(hf_map *drawn, const hf_edge *e)
{
    uint64_t hash = hf_mix64((uint64_t)e->from << 32 | e->to);

    hash = hf_mix64(hash ^ ((uint64_t)e->from_op << 32 | e->to_op));
    hash = hf_mix64(hash ^ ((uint64_t)e->kind << 32 | e->key));
    if (hf_map_get(drawn, hash) != UINT32_MAX)
        return false;
    hf_map_set(drawn, hash, 0);
    return true;
}

static void put_edges(const hf_history *h, const hf_story *story,
                      const hf_witness *w, const hf_txn_list *txns,
                      size_t n_txns, uint32_t cluster, hf_out *out)
{
    uint32_t shown = 0;
    hf_map drawn;

    hf_map_init(&drawn);
    for (uint32_t i = 0; i < w->n_edges && shown < EDGES_SHOWN; i++)
        if (is_drawn(txns, n_txns, w->edges[i].from) &&
            is_drawn(txns, n_txns, w->edges[i].to) &&
            is_new_edge(&drawn, &w->edges[i])) {
            put_edge(h, cluster, &w->edges[i],
                     story && hf_story_is_assumed(story, i), out);
            shown++;
        }
    hf_map_release(&drawn);
}

static void put_finding(hf_verify_session *session, const hf_history *h,
                        const hf_result *r, const hf_finding *f,
                        uint32_t cluster, hf_out *out)
{
    const hf_witness *w = &f->witness;
    hf_txn_list txns = hf_witness_txns(h, w);
    hf_op_list cited = hf_witness_cited(w);
    size_t drawn = txns.n < TXNS_SHOWN ? txns.n : TXNS_SHOWN;
    bool proof = w->kind == HF_WITNESS_PROOF;
    hf_story story;

    if (proof)
        hf_story_init(&story, session, h, r->level, w);
    hf_out_format(out, "  subgraph cluster_%" PRIu32 " {\n    label=\"",
                  cluster);
    put_title(h, r, f, out);
    if (proof)
        hf_out_text(out, "dashed: not certain, taken for granted in a step of "
                         "the proof\\l");
    hf_out_text(out, "\";\n");
    for (size_t i = 0; i < drawn; i++)
        put_txn(h, cluster, txns.at[i], &cited, out);
    put_edges(h, proof ? &story : NULL, w, &txns, drawn, cluster, out);
    if (txns.n > drawn)
        put_rest(cluster, txns.n - drawn, "transactions", out);
    hf_out_text(out, "  }\n");
    if (proof)
        hf_story_release(&story);
    hf_vec_release(&txns);
    hf_vec_release(&cited);
}

static void put_invalid(const hf_history *h, const hf_result *r, uint32_t most,
                        hf_out *out)
{
    hf_finding only = {.anomaly = r->witness.anomaly, .witness = r->witness};
    hf_verify_session *session = hf_verify_open(h); /* for proofs */

    if (r->witness.kind == HF_WITNESS_CORE ||
        r->witness.kind == HF_WITNESS_PROOF)
        only.anomaly = HF_NO_ORDER;
    hf_out_text(out, "* operations that show it\\l\";\n");
    for (uint32_t i = 0; i < r->n_findings && i < most; i++)
        put_finding(session, h, r, &r->findings[i], i, out);
    if (r->n_findings == 0 && r->witness.kind != HF_WITNESS_NONE)
        put_finding(session, h, r, &only, 0, out);
    hf_verify_close(session);
}

/* ---- valid --------------------------------------------------------------- */

static void put_valid(const hf_history *h, const hf_witness *w, hf_out *out)
{
    bool snapshot = w->kind == HF_WITNESS_SNAPSHOT;
    uint32_t n = w->n_order < TXNS_SHOWN ? w->n_order : TXNS_SHOWN;

    hf_out_text(out, snapshot ? "starts and commits in order\\l\";\n"
                              : "transactions in order\\l\";\n");
    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t = snapshot ? w->order[i] / 2 : w->order[i];

        hf_out_format(out, "  n%" PRIu32 " [label=\"", i);
        if (snapshot)
            hf_out_text(out, w->order[i] % 2 ? "commit " : "start ");
        hf_txn_print_at(h, t, out);
        hf_out_text(out, "\"];\n");
        if (i > 0)
            hf_out_format(out, "  n%" PRIu32 " -> n%" PRIu32 ";\n", i - 1, i);
    }
    if (w->n_order > n)
        hf_out_format(out,
                      "  n%" PRIu32 " [label=\"... and %" PRIu32
                      " more\", shape=plaintext];\n"
                      "  n%" PRIu32 " -> n%" PRIu32 ";\n",
                      n, w->n_order - n, n - 1, n);
}

void hf_result_dot(const hf_history *h, const hf_result *r, uint32_t most,
                   hf_out *out)
{
    put_start(r, out);
    if (r->verdict == HF_INVALID) {
        put_invalid(h, r, most, out);
    } else if (r->verdict == HF_VALID) {
        put_valid(h, &r->witness, out);
    } else {
        put_paragraph(hf_str_of(r->reason ? r->reason : "no reason given"),
                      out);
        hf_out_text(out, "\";\n");
    }
    hf_out_text(out, "}\n");
}

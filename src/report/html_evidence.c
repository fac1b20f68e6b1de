/* html_evidence.c: the evidence as data for the page's script.
 *
 * Each finding has its transactions and edges (few: a witness is a cycle, a
 * core or some operations), in the words of the terminal form; transactions
 * come once, with their operations.  What is left out is counted.
 */
#include "report/html_parts.h"

#include <inttypes.h>

#include "base/map.h"
#include "report/story.h"

#define EDGES_SHOWN 200 /* of a finding */
#define NODES_SHOWN 40  /* of a finding */
#define OPS_SHOWN 60    /* of a transaction; and those that are cited */
#define SENTENCES_SHOWN 60
#define ORDER_SHOWN 400

static void put_text(hf_json *j, const char *key, hf_out *text)
{
    hf_json_key(j, key);
    hf_json_str(j, hf_out_view(text));
    text->n = 0;
}

static void put_optional(hf_json *j, const char *key, const char *text)
{
    if (!text)
        return;
    hf_json_key(j, key);
    hf_json_text(j, text);
}

static void put_uint(hf_json *j, const char *key, uint64_t value)
{
    hf_json_key(j, key);
    hf_json_uint(j, value);
}

static void put_id(hf_json *j, const char *key, uint32_t id)
{
    if (id != HF_NONE)
        put_uint(j, key, id);
}

/* ---- transactions -------------------------------------------------------- */

/* [place, text, cited, start, end]; times from the start of the page's. */
static void put_op(const hf_page *p, hf_txn_id t, hf_op_id op, hf_out *text,
                   hf_json *j)
{
    uint64_t start, end;

    hf_op_print(p->h, op, text);
    hf_json_array(j);
    hf_json_uint(j, op - p->h->op_first[t] + 1);
    hf_json_str(j, hf_out_view(text));
    hf_json_uint(j, hf_op_list_has(&p->cited, op));
    if (p->has_times && hf_op_interval(p->h, t, op, &start, &end) &&
        start >= p->start) {
        hf_json_uint(j, start - p->start);
        if (end != HF_TIME_NONE && end >= start)
            hf_json_uint(j, end - p->start);
    }
    hf_json_end(j);
    text->n = 0;
}

static void put_ops(const hf_page *p, hf_txn_id t, hf_out *text, hf_json *j)
{
    hf_op_id first = p->h->op_first[t], end = p->h->op_first[t + 1];

    put_uint(j, "n", end - first);
    hf_json_key(j, "ops");
    hf_json_array(j);
    for (hf_op_id op = first; op < end; op++)
        if (op - first < OPS_SHOWN || hf_op_list_has(&p->cited, op))
            put_op(p, t, op, text, j);
    hf_json_end(j);
}

static void put_txn(const hf_page *p, hf_txn_id t, hf_out *text, hf_json *j)
{
    const hf_history *h = p->h;
    unsigned level = hf_txn_own_level(h, t, HF_LEVEL_COUNT);
    uint64_t begin, end;

    hf_json_object(j);
    put_uint(j, "id", t);
    hf_txn_print(h, t, text);
    put_text(j, "name", text);
    hf_page_session_name(h, h->txn_session[t], text);
    put_text(j, "session", text);
    put_uint(j, "outcome", h->txn_outcome[t]);
    if (level < HF_LEVEL_COUNT)
        put_optional(j, "level", hf_level_get((hf_level)level)->name);
    if (h->txn_line)
        put_uint(j, "line", h->txn_line[t]);
    if (p->has_times && hf_page_interval(p, t, &begin, &end)) {
        put_uint(j, "begin", begin);
        if (end != HF_TIME_NONE)
            put_uint(j, "end", end);
    }
    put_uint(j, "first", h->op_first[t]);
    put_ops(p, t, text, j);
    hf_json_end(j);
}

static void put_txns(const hf_page *p, hf_out *text, hf_json *j)
{
    hf_json_key(j, "txns");
    hf_json_array(j);
    for (size_t i = 0; i < p->told.n; i++)
        put_txn(p, p->told.at[i], text, j);
    hf_json_end(j);
}

/* ---- findings ------------------------------------------------------------ */

/* Has an edge like it been written?  The cycles of a proof share some. */
static bool is_new_edge(hf_map *written, const hf_edge *e)
{
    uint64_t hash = hf_mix64((uint64_t)e->from << 32 | e->to);

    hash = hf_mix64(hash ^ ((uint64_t)e->from_op << 32 | e->to_op));
    hash = hf_mix64(hash ^ ((uint64_t)e->kind << 32 | e->key));
    if (hf_map_get(written, hash) != UINT32_MAX)
        return false;
    hf_map_set(written, hash, 0);
    return true;
}

static void put_edge(const hf_page *p, const hf_edge *e, bool assumed,
                     hf_out *text, hf_json *j)
{
    hf_json_object(j);
    put_optional(j, "kind", hf_edge_kind_name(e->kind));
    put_uint(j, "from", e->from);
    put_uint(j, "to", e->to);
    if (e->key != HF_NONE) {
        hf_key_print(p->h, e->key, text);
        put_text(j, "key", text);
    }
    put_id(j, "fromOp", e->from_op);
    put_id(j, "toOp", e->to_op);
    hf_edge_print(p->h, e, text);
    put_text(j, "because", text);
    if (assumed)
        put_uint(j, "assumed", 1);
    hf_json_end(j);
}

static bool has_node(const hf_txn_list *txns, hf_txn_id t)
{
    for (size_t i = 0; i < txns->n && i < NODES_SHOWN; i++)
        if (txns->at[i] == t)
            return true;
    return false;
}

static void put_edges(const hf_page *p, const hf_witness *w,
                      const hf_txn_list *txns, hf_out *text, hf_json *j)
{
    bool proof = w->kind == HF_WITNESS_PROOF;
    uint32_t shown = 0;
    hf_story story;
    hf_map written;

    if (proof)
        hf_story_init(&story, p->session, p->h, p->r->level, w);
    hf_map_init(&written);
    hf_json_key(j, "edges");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_edges && shown < EDGES_SHOWN; i++) {
        const hf_edge *e = &w->edges[i];

        if (!has_node(txns, e->from) || !has_node(txns, e->to) ||
            !is_new_edge(&written, e))
            continue;
        put_edge(p, e, proof && hf_story_is_assumed(&story, i), text, j);
        shown++;
    }
    hf_json_end(j);
    hf_map_release(&written);
    if (proof)
        hf_story_release(&story);
}

/* What happened, in sentences; a proof or a core: as lines. */
static void put_story(const hf_page *p, const hf_witness *w, hf_out *text,
                      hf_json *j)
{
    uint32_t n = hf_sentence_count(w);

    if (w->kind == HF_WITNESS_PROOF) {
        hf_proof_print(p->session, p->h, p->r->level, w, text);
        put_text(j, "story", text);
    } else if (w->kind == HF_WITNESS_CORE) {
        hf_core_print(w, text);
        hf_out_text(text, w->confirmed ? "; confirmed by enumeration" : "");
        put_text(j, "story", text);
    }
    if (n == 0 || w->kind != HF_WITNESS_OPERATIONS)
        return;
    hf_json_key(j, "sentences");
    hf_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        if (i == SENTENCES_SHOWN && n > SENTENCES_SHOWN + 1) {
            hf_out_format(text, "... %" PRIu32 " more", n - 1 - i);
            hf_json_str(j, hf_out_view(text));
            text->n = 0;
            i = n - 1; /* the conclusion */
        }
        hf_sentence_print(p->h, w, i, text);
        hf_json_str(j, hf_out_view(text));
        text->n = 0;
    }
    hf_json_end(j);
}

static void put_finding(const hf_page *p, const hf_finding *f, hf_out *text,
                        hf_json *j)
{
    const hf_witness *w = &f->witness;
    hf_finding_words words = hf_page_finding_words(f);
    hf_txn_list txns = hf_witness_txns(p->h, w);

    hf_json_object(j);
    hf_page_finding_name(f, text);
    put_text(j, "name", text);
    put_optional(j, "kind", hf_witness_kind_name(w->kind));
    put_optional(j, "summary", words.summary);
    put_optional(j, "meaning", words.meaning);
    put_optional(j, "remedy", words.remedy);
    put_optional(j, "explain",
                 f->alias ? f->alias : hf_anomaly_get(f->anomaly)->name);
    if (w->rests != p->r->witness.rests) {
        hf_out_text(text, w->rests ? "" : "nothing but the history");
        hf_rests_print(w->rests, text);
        put_text(j, "rests", text);
    }
    hf_json_key(j, "txns");
    hf_json_array(j);
    for (size_t i = 0; i < txns.n && i < NODES_SHOWN; i++)
        hf_json_uint(j, txns.at[i]);
    hf_json_end(j);
    put_uint(j, "allTxns", txns.n);
    put_uint(j, "allEdges", w->n_edges);
    put_edges(p, w, &txns, text, j);
    put_story(p, w, text, j);
    hf_json_end(j);
    hf_vec_release(&txns);
}

static void put_groups(const hf_page *p, hf_out *text, hf_json *j)
{
    hf_group_list groups = hf_result_groups(p->r);

    hf_json_key(j, "groups");
    hf_json_array(j);
    for (size_t i = 0; i < groups.n; i++) {
        hf_json_object(j);
        put_optional(j, "name", hf_anomaly_get(groups.at[i].anomaly)->name);
        hf_group_count_print(p->r, &groups.at[i], text);
        put_text(j, "count", text);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_vec_release(&groups);
}

/* ---- valid --------------------------------------------------------------- */

/* Transactions; of a snapshot order 2*t for a start, 2*t+1 for a commit. */
static void put_order(const hf_page *p, hf_out *text, hf_json *j)
{
    const hf_witness *w = &p->r->witness;
    bool snapshot = w->kind == HF_WITNESS_SNAPSHOT;

    hf_json_key(j, "order");
    hf_json_object(j);
    put_optional(j, "kind", hf_witness_kind_name(w->kind));
    put_uint(j, "n", w->n_order);
    hf_json_key(j, "events");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_order && i < ORDER_SHOWN; i++) {
        hf_txn_id t = snapshot ? w->order[i] / 2 : w->order[i];

        hf_json_array(j);
        hf_json_uint(j, t);
        hf_txn_print(p->h, t, text);
        hf_json_str(j, hf_out_view(text));
        if (snapshot)
            hf_json_uint(j, w->order[i] % 2);
        text->n = 0;
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_json_end(j);
}

void hf_page_evidence(const hf_page *p, hf_json *j)
{
    hf_out text;

    hf_out_init_memory(&text);
    hf_json_key(j, "findings");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_shown; i++)
        put_finding(p, &p->findings[i], &text, j);
    hf_json_end(j);
    put_uint(j, "allFindings", p->r->n_findings);
    put_groups(p, &text, j);
    if (p->r->verdict == HF_VALID && p->r->witness.kind != HF_WITNESS_NONE)
        put_order(p, &text, j);
    put_txns(p, &text, j);
    hf_out_release(&text);
}

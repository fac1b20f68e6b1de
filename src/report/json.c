/* json.c: results and witnesses as JSON, in the form of docs/json.md. */
#include "report/words.h"

#include "base/vec.h"
#include "history/extra.h"

static void write_head(const char *type, hf_verdict verdict, hf_level level,
                       hf_json *j)
{
    hf_json_key(j, "type");
    hf_json_text(j, type);
    hf_json_key(j, "schema");
    hf_json_int(j, 1);
    hf_json_key(j, "verdict");
    hf_json_text(j, hf_verdict_name(verdict));
    hf_json_key(j, "level");
    hf_json_text(j, hf_level_get(level)->name);
}

static void write_id(uint32_t id, hf_json *j)
{
    if (id == HF_NONE)
        hf_json_null(j);
    else
        hf_json_uint(j, id);
}

/* As in the native text form: a number, a string, or [table, key]. */
static void write_key(const hf_history *h, hf_key_id key, hf_json *j)
{
    bool row = key != HF_NONE && h->key_table && h->key_table[key] != HF_NONE;
    hf_scalar s;

    if (key == HF_NONE) {
        hf_json_null(j);
        return;
    }
    if (row) {
        hf_json_array(j);
        hf_json_str(j, hf_string(h, h->key_table[key]));
    }
    s = hf_key_scalar(h, key);
    if (s.type == HF_INT)
        hf_json_int(j, s.number);
    else
        hf_json_str(j, (hf_str){s.text, s.length});
    if (row)
        hf_json_end(j);
}

static void write_mixed(bool mixed, hf_json *j)
{
    if (!mixed)
        return;
    hf_json_key(j, "mixed");
    hf_json_bool(j, true);
}

/* What a verdict rests on, if it is anything. */
static void write_rests(unsigned rests, hf_json *j)
{
    if (rests == 0)
        return;
    hf_json_key(j, "rests");
    hf_json_array(j);
    for (unsigned i = 0; i < HF_REST_COUNT; i++)
        if (rests & 1u << i)
            hf_json_text(j, hf_rest_name(1u << i));
    hf_json_end(j);
}

/* For people: the sentence and the places. */
static void write_because(const hf_history *h, const hf_edge *e, hf_json *j)
{
    hf_out text;

    hf_out_init_memory(&text);
    hf_edge_print(h, e, &text);
    hf_json_key(j, "because");
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
    if (h->txn_line) {
        hf_json_key(j, "from_line");
        hf_json_uint(j, h->txn_line[e->from]);
        hf_json_key(j, "to_line");
        hf_json_uint(j, h->txn_line[e->to]);
    }
}

/* What the read of an edge is taken to return, where it could be several. */
static void write_chosen(uint32_t chosen, hf_json *j)
{
    if (chosen == HF_CHOSEN_ONLY)
        return;
    hf_json_key(j, "source");
    if (chosen == HF_CHOSEN_INITIAL)
        hf_json_text(j, "initial");
    else
        hf_json_uint(j, chosen - 1);
}

static void write_edge(const hf_history *h, const hf_edge *e, uint32_t chosen,
                       bool because, hf_json *j)
{
    hf_json_object(j);
    hf_json_key(j, "kind");
    hf_json_text(j, hf_edge_kind_name(e->kind));
    hf_json_key(j, "from");
    hf_json_uint(j, e->from);
    hf_json_key(j, "to");
    hf_json_uint(j, e->to);
    hf_json_key(j, "key");
    write_key(h, e->key, j);
    hf_json_key(j, "from_op");
    write_id(e->from_op, j);
    hf_json_key(j, "to_op");
    write_id(e->to_op, j);
    write_chosen(chosen, j);
    if (because)
        write_because(h, e, j);
    hf_json_end(j);
}

static void write_edges(const hf_history *h, const hf_witness *w, bool because,
                        hf_json *j)
{
    hf_json_key(j, "edges");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_edges; i++)
        write_edge(h, &w->edges[i], HF_CHOSEN_ONLY, because, j);
    hf_json_end(j);
}

static void write_order(const hf_witness *w, hf_json *j)
{
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_order; i++) {
        if (w->kind != HF_WITNESS_SNAPSHOT) {
            hf_json_uint(j, w->order[i]);
            continue;
        }
        hf_json_array(j);
        hf_json_uint(j, w->order[i] / 2);
        hf_json_text(j, w->order[i] % 2 ? "commit" : "start");
        hf_json_end(j);
    }
    hf_json_end(j);
}

/* Of rows without a version set: the key. */
static bool is_unlisted(const hf_history *h, hf_op_id op, uint32_t index,
                        uint32_t *ret_n)
{
    hf_predicate q;

    if (!hf_op_has_predicate(hf_op_kind_of(h, op)))
        return false;
    q = hf_op_predicate(h, op);
    *ret_n = q.n_versions + q.n_results;
    return index >= *ret_n;
}

static void write_sources(const hf_history *h, const hf_witness *w, hf_json *j)
{
    uint32_t n;

    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_sources; i++) {
        hf_json_array(j);
        hf_json_uint(j, w->sources[i].op);
        if (is_unlisted(h, w->sources[i].op, w->sources[i].index, &n)) {
            hf_json_object(j);
            hf_json_key(j, "key");
            write_key(h, w->sources[i].index - n, j);
            hf_json_end(j);
        } else {
            hf_json_uint(j, w->sources[i].index);
        }
        write_id(w->sources[i].writer, j);
        hf_json_end(j);
    }
    hf_json_end(j);
}

/* The place of the key in the version set, then in the rows. */
static uint32_t entry_index(const hf_history *h, const hf_step *s)
{
    hf_predicate q = hf_op_predicate(h, s->op);
    uint32_t i = 0;

    while (i < q.n_versions + q.n_results &&
           h->value_key[i < q.n_versions ? q.versions[i].value
                                         : q.results[i - q.n_versions].value] !=
               s->entry - 1)
        i++;
    return i;
}

static void write_step(const hf_history *h, const hf_witness *w,
                       const hf_step *s, hf_json *j)
{
    static const char *const names[HF_STEP_KIND_COUNT] = {
        "cycle", "sources", "happened", "resolve", "list", "promise", "fault"};
    uint32_t n;

    hf_json_object(j);
    hf_json_key(j, names[s->kind]);
    if (s->kind == HF_STEP_CYCLE || s->kind == HF_STEP_RESOLVE ||
        s->kind == HF_STEP_PROMISE) {
        hf_json_array(j);
        for (uint32_t i = s->first; i < s->first + s->n; i++)
            if (s->kind == HF_STEP_RESOLVE)
                hf_json_uint(j, w->used[i]);
            else
                write_edge(h, &w->edges[i],
                           w->chosen ? w->chosen[i] : HF_CHOSEN_ONLY, false, j);
        hf_json_end(j);
    } else {
        hf_json_uint(j, s->op);
    }
    if (s->entry && is_unlisted(h, s->op, entry_index(h, s), &n)) {
        hf_json_key(j, "key");
        write_key(h, s->entry - 1, j);
    } else if (s->entry) {
        hf_json_key(j, "entry");
        hf_json_uint(j, entry_index(h, s));
    }
    if (s->kind == HF_STEP_HAPPENED ||
        ((s->kind == HF_STEP_LIST || s->kind == HF_STEP_FAULT) &&
         s->writer != HF_NONE)) {
        hf_json_key(j, "writer");
        hf_json_uint(j, s->writer);
    }
    if (s->kind == HF_STEP_LIST) {
        hf_json_key(j, "orders");
        hf_json_array(j);
        for (uint32_t i = s->first; i < s->first + s->n; i++)
            write_edge(h, &w->edges[i], HF_CHOSEN_ONLY, false, j);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void write_steps(const hf_history *h, const hf_witness *w, hf_json *j)
{
    hf_json_key(j, "steps");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_steps; i++)
        write_step(h, w, &w->steps[i], j);
    hf_json_end(j);
}

/* The core that a proof is about, and what is known of a core. */
static void write_core(const hf_witness *w, hf_json *j)
{
    if (w->kind == HF_WITNESS_PROOF) {
        hf_json_key(j, "core");
        write_order(w, j);
    }
    hf_json_key(j, "minimal");
    hf_json_bool(j, w->minimal);
    hf_json_key(j, "confirmed");
    hf_json_text(j, w->confirmed ? "enumeration" : NULL);
}

static void write_proof(const hf_history *h, const hf_witness *w, hf_json *j)
{
    if (hf_witness_proves(w->kind) == HF_VALID) {
        hf_json_key(j, "order");
        write_order(w, j);
        hf_json_key(j, "sources");
        write_sources(h, w, j);
        return;
    }
    if (w->kind == HF_WITNESS_CORE) {
        hf_json_key(j, "transactions");
        write_order(w, j);
        write_core(w, j);
        return;
    }
    if (w->kind == HF_WITNESS_PROOF) {
        if (w->n_order > 0)
            write_core(w, j);
        write_steps(h, w, j);
        return;
    }
    hf_json_key(j, "anomaly");
    hf_json_text(j, hf_anomaly_get(w->anomaly)->name);
    if (w->kind == HF_WITNESS_CYCLE) {
        write_edges(h, w, false, j);
        return;
    }
    hf_json_key(j, "operations");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_ops; i++)
        hf_json_uint(j, w->ops[i]);
    hf_json_end(j);
}

void hf_witness_write(const hf_history *h, hf_level level, hf_verdict verdict,
                      const hf_witness *w, hf_json *j)
{
    if (w->kind == HF_WITNESS_NONE) {
        hf_json_null(j);
        return;
    }
    hf_json_object(j);
    write_head("witness", verdict, level, j);
    hf_json_key(j, "kind");
    hf_json_text(j, hf_witness_kind_name(w->kind));
    write_mixed(w->mixed, j);
    write_rests(w->rests, j);
    write_proof(h, w, j);
    hf_json_end(j);
}

/* ---- anomalies ----------------------------------------------------------- */

static void write_txn(const hf_history *h, hf_txn_id t, hf_json *j)
{
    hf_string_id session = h->session_name[h->txn_session[t]];

    hf_json_object(j);
    hf_json_key(j, "id");
    hf_json_uint(j, t);
    hf_json_key(j, "label");
    hf_json_int(j, hf_txn_label(h, t));
    if (session != HF_NONE) {
        hf_json_key(j, "session");
        hf_json_str(j, hf_string(h, session));
    }
    if (h->txn_line) {
        hf_json_key(j, "line");
        hf_json_uint(j, h->txn_line[t]);
    }
    hf_json_end(j);
}

static void write_op(const hf_history *h, hf_op_id op, hf_json *j)
{
    hf_txn_id t = hf_op_txn(h, op);
    hf_out text;

    hf_out_init_memory(&text);
    hf_op_print(h, op, &text);
    hf_json_object(j);
    hf_json_key(j, "id");
    hf_json_uint(j, op);
    hf_json_key(j, "transaction");
    hf_json_uint(j, t);
    hf_json_key(j, "text");
    hf_json_str(j, hf_out_view(&text));
    if (h->txn_line) {
        hf_json_key(j, "line");
        hf_json_uint(j, h->txn_line[t]);
    }
    hf_json_end(j);
    hf_out_release(&text);
}

static void write_ops(const hf_history *h, const hf_witness *w, hf_json *j)
{
    hf_json_key(j, "operations");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_ops; i++)
        write_op(h, w->ops[i], j);
    hf_json_end(j);
}

/* Of an anomaly without a cycle, where edges have no say. */
static void write_explanation(const hf_history *h, const hf_witness *w,
                              hf_json *j)
{
    uint32_t n = hf_sentence_count(w);
    hf_out text;

    if (n == 0)
        return;
    hf_out_init_memory(&text);
    for (uint32_t i = 0; i < n; i++) {
        hf_out_text(&text, i > 0 ? "; " : "");
        hf_sentence_print(h, w, i, &text);
    }
    hf_json_key(j, "explanation");
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
}

static void write_finding(const hf_history *h, const hf_finding *f, hf_json *j)
{
    hf_txn_list txns = hf_witness_txns(h, &f->witness);

    hf_json_object(j);
    hf_json_key(j, "name");
    hf_json_text(j, hf_anomaly_get(f->anomaly)->name);
    if (f->alias) {
        hf_json_key(j, "alias");
        hf_json_text(j, f->alias);
    }
    hf_json_key(j, "transactions");
    hf_json_array(j);
    for (size_t i = 0; i < txns.n; i++)
        write_txn(h, txns.at[i], j);
    hf_json_end(j);
    if (f->witness.kind == HF_WITNESS_PROOF) { /* the witness has it all */
        hf_json_key(j, "edges");
        hf_json_array(j);
        hf_json_end(j);
    } else {
        write_edges(h, &f->witness, true, j);
    }
    write_ops(h, &f->witness, j);
    write_explanation(h, &f->witness, j);
    hf_states_write(h, &f->witness, j);
    write_rests(f->witness.rests, j);
    hf_json_end(j);
    hf_vec_release(&txns);
}

static void write_groups(const hf_result *r, hf_json *j)
{
    hf_group_list groups = hf_result_groups(r);

    hf_json_key(j, "groups");
    hf_json_array(j);
    for (size_t i = 0; i < groups.n; i++) {
        hf_json_object(j);
        hf_json_key(j, "name");
        hf_json_text(j, hf_anomaly_get(groups.at[i].anomaly)->name);
        hf_json_key(j, "count");
        hf_json_uint(j, groups.at[i].count);
        hf_json_key(j, "at_least");
        hf_json_bool(j, groups.at[i].at_least);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_vec_release(&groups);
}

static void write_stats(const hf_history *h, const hf_result *r, hf_json *j)
{
    hf_json_key(j, "stats");
    hf_json_object(j);
    hf_json_key(j, "transactions");
    hf_json_uint(j, h->n_txns);
    hf_json_key(j, "operations");
    hf_json_uint(j, h->n_ops);
    hf_json_key(j, "worlds");
    hf_json_uint(j, r->worlds);
    hf_json_key(j, "seconds");
    hf_json_real(j, r->seconds);
    hf_json_end(j);
}

/* Why this engine, and why the one asked before was not the last. */
static void write_choice(const hf_result *r, hf_json *j)
{
    if (r->chosen) {
        hf_json_key(j, "chosen");
        hf_json_text(j, r->chosen);
    }
    if (!r->open)
        return;
    hf_json_key(j, "left_open");
    hf_json_object(j);
    hf_json_key(j, "engine");
    hf_json_text(j, r->open_to);
    hf_json_key(j, "reason");
    hf_json_text(j, r->open);
    hf_json_end(j);
}

void hf_result_write(const hf_history *h, const hf_result *r, hf_json *j)
{
    hf_result_write_first(h, r, UINT32_MAX, j);
}

void hf_result_write_first(const hf_history *h, const hf_result *r,
                           uint32_t most, hf_json *j)
{
    hf_json_object(j);
    write_head("result", r->verdict, r->level, j);
    write_mixed(r->mixed, j);
    if (r->verdict == HF_UNKNOWN && r->reason) {
        hf_json_key(j, "reason");
        hf_json_text(j, r->reason);
    }
    hf_json_key(j, "engine");
    hf_json_text(j, r->engine);
    write_choice(r, j);
    write_rests(r->witness.rests, j);
    write_groups(r, j);
    hf_json_key(j, "anomalies");
    hf_json_array(j);
    for (uint32_t i = 0; i < r->n_findings && i < most; i++)
        write_finding(h, &r->findings[i], j);
    hf_json_end(j);
    hf_json_key(j, "witness");
    hf_witness_write(h, r->level, r->verdict, &r->witness, j);
    write_stats(h, r, j);
    hf_json_end(j);
}

/* predict_json.c: predictions for programs; docs/json.md has the fields. */
#include "base/json_out.h"
#include "cli/predicting.h"
#include "cli/tables.h"
#include "report/report.h"

static void put_txn(const hf_predicting *g, hf_txn_id t, hf_json *j)
{
    if (t == HF_NONE)
        hf_json_null(j);
    else
        hf_json_int(j, hf_txn_label(g->h, t));
}

static void put_key(const hf_predicting *g, hf_key_id key, hf_json *j)
{
    hf_out text;

    if (key == HF_NONE) {
        hf_json_null(j);
        return;
    }
    hf_out_init_memory(&text);
    hf_key_print(g->h, key, &text);
    hf_json_str(j, hf_out_view(&text));
    hf_out_release(&text);
}

static void put_sql(const hf_predicting *g, hf_op_id op, hf_json *j)
{
    hf_op_id sql = hf_statement_before(g->h, op);

    if (sql == HF_NONE)
        return;
    hf_json_key(j, "sql");
    hf_json_str(j, hf_statement_text(g->h, sql));
}

static void put_others(const hf_predicting *g, const hf_prediction *p,
                       hf_json *j)
{
    hf_json_key(j, "only_if");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_others; i++) {
        hf_json_object(j);
        hf_json_key(j, "transaction");
        put_txn(g, p->others[i].txn, j);
        hf_json_key(j, "what");
        hf_json_text(j, p->others[i].rival == HF_NONE ? "writes-other"
                                                      : "inserts-other");
        if (p->others[i].rival != HF_NONE) {
            hf_json_key(j, "than");
            put_txn(g, p->others[i].rival, j);
        }
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_transactions(const hf_predicting *g, const hf_prediction *p,
                             hf_json *j)
{
    hf_json_key(j, "order");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_order; i++) {
        hf_str purpose = hf_txn_purpose(g->h, p->order[i]);

        hf_json_object(j);
        hf_json_key(j, "transaction");
        put_txn(g, p->order[i], j);
        hf_json_key(j, "session");
        hf_json_uint(j, g->h->txn_session[p->order[i]]);
        if (purpose.len > 0) {
            hf_json_key(j, "purpose");
            hf_json_str(j, purpose);
        }
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_boundaries(const hf_predicting *g, const hf_prediction *p,
                           hf_json *j)
{
    hf_json_key(j, "boundaries");
    hf_json_array(j);
    for (uint32_t s = 0; s < p->n_sessions; s++) {
        const hf_predicted_session *b = &p->sessions[s];

        hf_json_object(j);
        hf_json_key(j, "session");
        hf_json_uint(j, b->session);
        hf_json_key(j, "transaction");
        put_txn(g, b->txn, j);
        hf_json_key(j, "operation");
        if (b->last == HF_NONE)
            hf_json_null(j);
        else
            hf_json_uint(j, b->last);
        hf_json_key(j, "cut");
        hf_json_bool(j, b->cut);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_changed(const hf_predicting *g, const hf_prediction *p,
                        hf_json *j)
{
    hf_json_key(j, "changed");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_reads; i++) {
        const hf_predicted_read *r = &p->reads[i];

        if (!r->changed)
            continue;
        hf_json_object(j);
        hf_json_key(j, "transaction");
        put_txn(g, r->txn, j);
        hf_json_key(j, "operation");
        hf_json_uint(j, r->op);
        hf_json_key(j, "key");
        put_key(g, r->key, j);
        hf_json_key(j, "observed");
        put_txn(g, r->observed, j);
        hf_json_key(j, "predicted");
        put_txn(g, r->source, j);
        put_sql(g, r->op, j);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_cycle(const hf_predicting *g, const hf_prediction *p,
                      hf_json *j)
{
    static const char *const kinds[HF_PREDICTED_EDGE_KIND_COUNT] = {
        [HF_PREDICTED_SO] = "so",
        [HF_PREDICTED_WR] = "wr",
        [HF_PREDICTED_WW] = "ww",
        [HF_PREDICTED_RW] = "rw",
    };

    hf_json_key(j, "cycle");
    hf_json_array(j);
    for (uint32_t i = 0; i < p->n_edges; i++) {
        hf_json_object(j);
        hf_json_key(j, "kind");
        hf_json_text(j, kinds[p->edges[i].kind]);
        hf_json_key(j, "from");
        put_txn(g, p->edges[i].from, j);
        hf_json_key(j, "to");
        put_txn(g, p->edges[i].to, j);
        hf_json_key(j, "key");
        put_key(g, p->edges[i].key, j);
        hf_json_end(j);
    }
    hf_json_end(j);
}

/* ---- carried out --------------------------------------------------------- */

static void put_divergences(const hf_predicting *g, const hf_validated *v,
                            hf_json *j)
{
    hf_json_key(j, "divergences");
    hf_json_array(j);
    for (size_t i = 0; i < v->run.divergences.n; i++) {
        const hf_divergence *d = &v->run.divergences.at[i];

        hf_json_object(j);
        hf_json_key(j, "transaction");
        put_txn(g, v->plan.txns.at[d->place].txn, j);
        hf_json_key(j, "key");
        if (d->key.len > 0)
            hf_json_str(j, d->key);
        else
            hf_json_null(j);
        hf_json_key(j, "because");
        hf_json_text(j, hf_divergence_name(d->kind));
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_invariants(const hf_validated *v, hf_json *j)
{
    hf_json_key(j, "invariants");
    hf_json_array(j);
    for (size_t i = 0; i < v->run.broken.n; i++) {
        const hf_broken_invariant *b = &v->run.broken.at[i];

        hf_json_object(j);
        hf_json_key(j, "name");
        hf_json_text(j, b->name);
        hf_json_key(j, "text");
        hf_json_text(j, b->text);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_validation(const hf_predicting *g, const hf_told_prediction *t,
                           hf_json *j)
{
    hf_json_key(j, "validation");
    if (!t->validated) {
        hf_json_null(j);
        return;
    }
    hf_json_object(j);
    hf_json_key(j, "confirmed");
    hf_json_bool(j, t->v.confirmed);
    hf_json_key(j, "committed");
    hf_json_uint(j, t->v.run.committed);
    hf_json_key(j, "level");
    hf_json_text(j, hf_level_get(t->v.legal->level)->name);
    hf_json_key(j, "verdict");
    hf_json_text(j, hf_verdict_name(t->v.legal->verdict));
    hf_json_key(j, "keeps");
    hf_json_text(j, hf_verdict_name(t->v.keeps));
    hf_json_key(j, "serializable");
    hf_json_text(j, hf_verdict_name(t->v.serial->verdict));
    put_divergences(g, &t->v, j);
    put_invariants(&t->v, j);
    hf_json_end(j);
}

/* ---- the fix ------------------------------------------------------------- */

static void put_levels(const char *key, const hf_level *levels, unsigned n,
                       hf_json *j)
{
    hf_json_key(j, key);
    hf_json_array(j);
    for (unsigned i = 0; i < n; i++)
        hf_json_text(j, hf_level_get(levels[i])->name);
    hf_json_end(j);
}

static void put_fix(const hf_predicting *g, const hf_fix *f, hf_json *j)
{
    hf_json_key(j, "fix");
    hf_json_object(j);
    put_levels("forbidden_by", f->prevents, f->n_prevents, j);
    put_levels("allowed_by", f->allows, f->n_allows, j);
    hf_json_key(j, "locks");
    hf_json_array(j);
    for (size_t i = 0; i < f->locks.n; i++) {
        const hf_fix_lock *l = &f->locks.at[i];

        hf_json_object(j);
        hf_json_key(j, "transaction");
        put_txn(g, l->txn, j);
        hf_json_key(j, "key");
        put_key(g, l->key, j);
        hf_json_key(j, "absent");
        hf_json_bool(j, l->absent);
        hf_json_key(j, "rewrites");
        hf_json_bool(j, l->rewrites);
        hf_json_key(j, "statement");
        hf_json_text(j, l->statement == HF_FIX_SELECT    ? "select"
                        : l->statement == HF_FIX_LOCKING ? "locking"
                                                         : "changing");
        put_sql(g, l->op, j);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_json_end(j);
}

/* ---- all ----------------------------------------------------------------- */

static void put_about(const hf_predicting *g, hf_json *j)
{
    if (g->app) {
        hf_json_key(j, "workload");
        hf_json_text(j, g->set->workload);
        hf_json_key(j, "seed");
        hf_json_uint(j, g->app->options.seed);
    } else {
        hf_json_key(j, "file");
        hf_json_text(j, g->path);
    }
    hf_json_key(j, "level");
    hf_json_text(j, g->target->name);
    hf_json_key(j, "strategy");
    hf_json_text(j, hf_predict_strategy_name(g->options.strategy));
}

static void put_prediction(const hf_predicting *g, uint32_t i, hf_out *out)
{
    const hf_told_prediction *t = &g->told.at[i];
    hf_json j;

    hf_json_begin(&j, "prediction", out);
    put_about(g, &j);
    hf_json_key(&j, "number");
    hf_json_uint(&j, i + 1);
    hf_json_key(&j, "sure");
    hf_json_bool(&j, t->p->is_sure);
    hf_json_key(&j, "finishes");
    hf_json_bool(&j, t->p->finishes);
    put_others(g, t->p, &j);
    put_transactions(g, t->p, &j);
    put_boundaries(g, t->p, &j);
    put_changed(g, t->p, &j);
    put_cycle(g, t->p, &j);
    put_validation(g, t, &j);
    put_fix(g, &t->fix, &j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

static void put_stats(const hf_predict_stats *s, hf_json *j)
{
    hf_json_key(j, "stats");
    hf_json_object(j);
    hf_json_key(j, "transactions");
    hf_json_uint(j, s->transactions);
    hf_json_key(j, "reads");
    hf_json_uint(j, s->reads);
    hf_json_key(j, "writes");
    hf_json_uint(j, s->writes);
    hf_json_key(j, "choices");
    hf_json_uint(j, s->choices);
    hf_json_key(j, "variables");
    hf_json_uint(j, s->variables);
    hf_json_key(j, "clauses");
    hf_json_uint(j, s->clauses);
    hf_json_key(j, "iterations");
    hf_json_uint(j, s->iterations);
    hf_json_key(j, "encode_seconds");
    hf_json_real(j, s->encode_seconds);
    hf_json_key(j, "solve_seconds");
    hf_json_real(j, s->solve_seconds);
    hf_json_end(j);
}

void hf_predicting_json_unknown(const hf_predicting *g, const char *reason,
                                hf_out *out)
{
    hf_json j;

    hf_json_begin(&j, "predict", out);
    put_about(g, &j);
    hf_json_key(&j, "answer");
    hf_json_text(&j, "unknown");
    hf_json_key(&j, "predictions");
    hf_json_uint(&j, 0);
    hf_json_key(&j, "confirmed");
    hf_json_null(&j);
    hf_json_key(&j, "complete");
    hf_json_bool(&j, false);
    hf_json_key(&j, "statement");
    hf_json_text(&j, reason);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

void hf_predicting_json(const hf_predicting *g, hf_out *out)
{
    static const char *const answers[] = {"found", "none", "unknown"};
    hf_json j;

    for (uint32_t i = 0; i < g->told.n; i++)
        put_prediction(g, i, out);
    hf_json_begin(&j, "predict", out);
    put_about(g, &j);
    hf_json_key(&j, "answer");
    hf_json_text(&j, answers[g->result->answer]);
    hf_json_key(&j, "predictions");
    hf_json_uint(&j, g->told.n);
    hf_json_key(&j, "confirmed");
    if (g->app && !g->set->no_validate)
        hf_json_uint(&j, hf_predicting_confirmed(g));
    else
        hf_json_null(&j);
    hf_json_key(&j, "complete");
    hf_json_bool(&j, g->result->is_complete);
    hf_json_key(&j, "statement");
    hf_json_text(&j, g->result->statement);
    put_stats(&g->result->stats, &j);
    hf_json_end(&j);
    hf_out_char(out, '\n');
}

/* predict_text.c: predictions for people.
 *
 * The answer first; then for each prediction the transactions that matter,
 * observed and predicted side by side, the cycle, what happened when it was
 * carried out, the statements, and what would have prevented it.
 */
#include "cli/predicting.h"

#include <stdio.h>

#include "base/error.h"
#include "report/report.h"

#define READS_SHOWN 12u
#define DIVERGENCES_SHOWN 3u
#define BREACHES_SHOWN 3u
#define STATEMENTS_SHOWN 8u

typedef struct teller {
    const hf_predicting *g;
    const hf_told_prediction *t;
    const hf_history *h;
    hf_out *out;
    bool color;
} teller;

static void put_color(const teller *x, const char *code)
{
    if (x->color)
        hf_out_format(x->out, "\033[%sm", code);
}

static void put_txn(const teller *x, hf_txn_id t)
{
    if (t == HF_NONE)
        hf_out_text(x->out, "the initial state");
    else
        hf_txn_print(x->h, t, x->out);
}

/* ---- side by side -------------------------------------------------------- */

static bool on_cycle(const hf_prediction *p, hf_txn_id t)
{
    for (uint32_t i = 0; i < p->n_edges; i++)
        if (p->edges[i].from == t || p->edges[i].to == t)
            return true;
    return false;
}

static bool key_on_cycle(const hf_prediction *p, hf_key_id key)
{
    for (uint32_t i = 0; i < p->n_edges; i++)
        if (p->edges[i].key == key)
            return true;
    return false;
}

static bool has_changed(const hf_prediction *p, hf_txn_id t)
{
    for (uint32_t i = 0; i < p->n_reads; i++)
        if (p->reads[i].txn == t && p->reads[i].changed)
            return true;
    return false;
}

/* Padded to a width, at least one space. */
static void put_padded(const teller *x, hf_str s, size_t width)
{
    hf_out_str(x->out, s);
    for (size_t n = s.len; n == s.len || n < width; n++)
        hf_out_char(x->out, ' ');
}

static void put_source(const teller *x, hf_txn_id t, size_t width)
{
    hf_out text;
    teller other = *x;

    hf_out_init_memory(&text);
    other.out = &text;
    hf_out_text(&text, "from ");
    put_txn(&other, t);
    if (width > 0)
        put_padded(x, hf_out_view(&text), width);
    else
        hf_out_str(x->out, hf_out_view(&text));
    hf_out_release(&text);
}

/* The same key from the same transactions, by another operation. */
static bool same_read(const hf_predicted_read *a, const hf_predicted_read *b)
{
    return a->txn == b->txn && a->key == b->key && a->source == b->source &&
           a->observed == b->observed && a->changed == b->changed;
}

/* How often; 0: it was told before. */
static unsigned times_read(const hf_prediction *p, uint32_t i)
{
    unsigned n = 0;

    for (uint32_t k = 0; k < p->n_reads; k++) {
        if (!same_read(&p->reads[k], &p->reads[i]))
            continue;
        if (k < i)
            return 0;
        n++;
    }
    return n;
}

static void put_read(const teller *x, const hf_predicted_read *r,
                     unsigned times)
{
    hf_out key;

    hf_out_init_memory(&key);
    hf_out_text(&key, "    reads ");
    hf_key_print(x->h, r->key, &key);
    if (times > 1)
        hf_out_format(&key, " (%u times)", times);
    put_padded(x, hf_out_view(&key), 34);
    hf_out_release(&key);
    put_source(x, r->observed, 26);
    if (!r->changed) {
        hf_out_text(x->out, "the same\n");
        return;
    }
    put_color(x, "1;31");
    put_source(x, r->source, 0);
    put_color(x, "0");
    hf_out_text(x->out, "   <- changed\n");
}

static bool shows_read(const hf_prediction *p, const hf_predicted_read *r)
{
    return r->changed || key_on_cycle(p, r->key);
}

static void put_writes(const teller *x, hf_txn_id t)
{
    const hf_prediction *p = x->t->p;
    hf_op_id last = HF_NONE;
    unsigned shown = 0;

    for (uint32_t s = 0; s < p->n_sessions; s++)
        if (p->sessions[s].txn == t && p->sessions[s].cut)
            last = p->sessions[s].last;
    for (hf_op_id o = x->h->op_first[t]; o < x->h->op_first[t + 1]; o++) {
        if (!hf_op_installs(hf_op_kind_of(x->h, o)) ||
            !key_on_cycle(p, x->h->op_key[o]) || shown++ >= READS_SHOWN)
            continue;
        hf_out_text(x->out, "    writes ");
        hf_key_print(x->h, x->h->op_key[o], x->out);
        hf_out_text(x->out, last != HF_NONE && o > last
                                ? " (after the boundary)\n"
                                : "\n");
    }
}

static void put_column(const teller *x, hf_txn_id t)
{
    const hf_prediction *p = x->t->p;
    hf_str purpose = hf_txn_purpose(x->h, t);
    unsigned shown = 0, hidden = 0;

    hf_out_text(x->out, "  ");
    put_color(x, "1");
    hf_txn_print(x->h, t, x->out);
    put_color(x, "0");
    if (purpose.len > 0)
        hf_out_format(x->out, "  %.*s", (int)purpose.len, purpose.ptr);
    hf_out_format(x->out, "  (session %u)\n", x->h->txn_session[t]);
    for (uint32_t i = 0; i < p->n_reads; i++) {
        unsigned times;

        if (p->reads[i].txn != t)
            continue;
        times = shows_read(p, &p->reads[i]) ? times_read(p, i) : 1;
        if (shows_read(p, &p->reads[i]) && times > 0 && shown++ < READS_SHOWN)
            put_read(x, &p->reads[i], times);
        else
            hidden += times > 0;
    }
    if (hidden > 0)
        hf_out_format(x->out, "    and %u other %s as observed\n", hidden,
                      hf_plural(hidden, "read", "reads"));
    put_writes(x, t);
}

static void put_columns(const teller *x)
{
    const hf_prediction *p = x->t->p;

    hf_out_format(x->out, "\n  %-32s%-26s%s\n", "", "observed", "predicted");
    for (uint32_t i = 0; i < p->n_order; i++)
        if (on_cycle(p, p->order[i]) || has_changed(p, p->order[i]))
            put_column(x, p->order[i]);
}

/* ---- the cycle ----------------------------------------------------------- */

static void put_edge(const teller *x, const hf_predicted_edge *e)
{
    hf_out_text(x->out, "    ");
    put_txn(x, e->from);
    switch (e->kind) {
    case HF_PREDICTED_SO:
        hf_out_text(x->out, " comes before ");
        put_txn(x, e->to);
        hf_out_text(x->out, " in their session\n");
        return;
    case HF_PREDICTED_WR:
        hf_out_text(x->out, " writes ");
        hf_key_print(x->h, e->key, x->out);
        hf_out_text(x->out, ", which ");
        put_txn(x, e->to);
        hf_out_text(x->out, " reads\n");
        return;
    case HF_PREDICTED_WW:
        hf_out_text(x->out, " writes ");
        hf_key_print(x->h, e->key, x->out);
        hf_out_text(x->out, " before ");
        put_txn(x, e->to);
        hf_out_text(x->out, ", whose version is read later\n");
        return;
    default:
        hf_out_text(x->out, " reads ");
        hf_key_print(x->h, e->key, x->out);
        hf_out_text(x->out, " as it was before ");
        put_txn(x, e->to);
        hf_out_text(x->out, " writes it\n");
    }
}

static void put_cycle(const teller *x)
{
    const hf_prediction *p = x->t->p;

    if (p->n_edges == 0) {
        hf_out_text(x->out, "\n  No order of the transactions explains all "
                            "reads; no single cycle shows it.\n");
        return;
    }
    hf_out_text(x->out, "\n  No serial order has all of\n");
    for (uint32_t i = 0; i < p->n_edges; i++)
        put_edge(x, &p->edges[i]);
}

/* ---- carried out --------------------------------------------------------- */

static void put_divergences(const teller *x)
{
    const hf_validated *v = &x->t->v;
    size_t n = v->run.divergences.n;

    if (n == 0) {
        hf_out_text(x->out, ", every read as predicted\n");
        return;
    }
    hf_out_format(x->out, ", diverged in %zu %s\n", n,
                  hf_plural(n, "place", "places"));
    for (size_t i = 0; i < n && i < DIVERGENCES_SHOWN; i++) {
        const hf_divergence *d = &v->run.divergences.at[i];

        hf_out_text(x->out, "    ");
        hf_txn_print(x->h, v->plan.txns.at[d->place].txn, x->out);
        if (d->key.len > 0)
            hf_out_format(x->out, " at %.*s: %s\n", (int)d->key.len, d->key.ptr,
                          hf_divergence_name(d->kind));
        else
            hf_out_format(x->out, " %s\n", hf_divergence_name(d->kind));
    }
    if (n > DIVERGENCES_SHOWN)
        hf_out_format(x->out, "    and %zu more\n", n - DIVERGENCES_SHOWN);
}

static void put_verdict(const teller *x, const hf_result *r)
{
    hf_out_format(x->out, "    %s at %s", hf_verdict_name(r->verdict),
                  hf_level_get(r->level)->name);
    if (r->verdict == HF_UNKNOWN && r->reason)
        hf_out_format(x->out, ": %s", r->reason);
    hf_out_char(x->out, '\n');
}

static void put_breaches(const teller *x)
{
    const hf_control_report *r = &x->t->v.run;
    uint64_t n = r->n_broken;

    if (n == 0) {
        if (x->t->v.run.checked)
            hf_out_text(x->out, "    the invariants of the workload hold all "
                                "the same\n");
        return;
    }
    for (size_t i = 0; i < r->broken.n && i < BREACHES_SHOWN; i++) {
        const hf_broken_invariant *b = &r->broken.at[i];

        hf_out_text(x->out, "    ");
        put_color(x, "1;31");
        hf_out_format(x->out, "invariant %s is broken", b->name);
        put_color(x, "0");
        hf_out_format(x->out, ": %s\n", b->text);
    }
    if (n > BREACHES_SHOWN)
        hf_out_format(x->out, "    and %llu more\n",
                      (unsigned long long)(n - BREACHES_SHOWN));
}

static void put_validation(const teller *x)
{
    const hf_validated *v = &x->t->v;

    if (!x->t->validated)
        return;
    hf_out_format(x->out, "\n  Carried out by the application: %u %s committed",
                  v->run.committed,
                  hf_plural(v->run.committed, "transaction", "transactions"));
    put_divergences(x);
    put_verdict(x, v->legal);
    if (!x->g->target->is_exact)
        hf_out_format(x->out, "    %s at %s\n", hf_verdict_name(v->keeps),
                      x->g->target->name);
    put_verdict(x, v->serial);
    put_breaches(x);
}

/* ---- statements and the fix ---------------------------------------------- */

/* Is it one of those to show, and not of a statement that was shown? */
static hf_op_id statement_to_show(const teller *x, uint32_t i, bool changed)
{
    const hf_prediction *p = x->t->p;
    const hf_predicted_read *r = &p->reads[i];
    hf_op_id sql;

    if (r->changed != changed ||
        !(changed || (on_cycle(p, r->txn) && key_on_cycle(p, r->key))))
        return HF_NONE;
    sql = hf_statement_before(x->h, r->op);
    for (uint32_t k = 0; sql != HF_NONE && k < p->n_reads; k++)
        if (p->reads[k].txn == r->txn &&
            ((p->reads[k].changed && !changed) ||
             (k < i && p->reads[k].changed == changed &&
              (changed || key_on_cycle(p, p->reads[k].key)))) &&
            hf_statement_before(x->h, p->reads[k].op) == sql)
            return HF_NONE;
    return sql;
}

/* Those whose reads change first. */
static void put_statements(const teller *x)
{
    const hf_prediction *p = x->t->p;
    unsigned shown = 0;

    for (uint32_t k = 0; k < 2 * p->n_reads; k++) {
        bool changed = k < p->n_reads;
        uint32_t i = changed ? k : k - p->n_reads;
        hf_op_id sql = statement_to_show(x, i, changed);
        hf_str text;

        if (sql == HF_NONE)
            continue;
        if (shown++ == 0)
            hf_out_text(x->out, "\n  Statements that read\n");
        if (shown > STATEMENTS_SHOWN)
            continue;
        text = hf_statement_text(x->h, sql);
        hf_out_text(x->out, "    ");
        hf_txn_print(x->h, p->reads[i].txn, x->out);
        hf_out_format(x->out, "  %.*s%s\n", (int)text.len, text.ptr,
                      changed ? "   <- changed" : "");
    }
    if (shown > STATEMENTS_SHOWN)
        hf_out_format(x->out, "    and %u more\n", shown - STATEMENTS_SHOWN);
}

static void put_levels(const teller *x, const hf_level *levels, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hf_out_format(x->out, "%s%s",
                      i == 0       ? ""
                      : i + 1 == n ? " and "
                                   : ", ",
                      hf_level_get(levels[i])->name);
}

static void put_lock(const teller *x, const hf_fix_lock *l)
{
    hf_op_id sql = hf_statement_before(x->h, l->op);

    hf_out_text(x->out, "    or ");
    if (l->absent) {
        hf_txn_print(x->h, l->txn, x->out);
        hf_out_text(x->out, " and who writes ");
        hf_key_print(x->h, l->key, x->out);
        hf_out_text(x->out, " update one more row, that is always there: this "
                            "one is absent and cannot be locked\n");
        return;
    }
    hf_txn_print(x->h, l->txn, x->out);
    hf_out_text(x->out, l->statement == HF_FIX_SELECT ? " locks " : " reads ");
    hf_key_print(x->h, l->key, x->out);
    if (l->statement == HF_FIX_CHANGING)
        hf_out_text(x->out, " where row locks are kept: they are taken by the "
                            "statement as it is");
    else if (l->statement == HF_FIX_LOCKING)
        hf_out_text(x->out, " where row locks are kept: it asks for one");
    else
        hf_out_text(x->out, " when it reads it (FOR UPDATE)");
    if (l->statement == HF_FIX_SELECT && l->rewrites)
        hf_out_text(x->out, ", or computes the new value in the UPDATE");
    if (sql != HF_NONE) {
        hf_str text = hf_statement_text(x->h, sql);

        hf_out_format(x->out, ":\n      %.*s", (int)text.len, text.ptr);
    }
    hf_out_char(x->out, '\n');
}

static void put_fix(const teller *x)
{
    const hf_fix *f = &x->t->fix;

    hf_out_text(x->out, "\n  What would prevent it\n");
    if (f->n_prevents > 0) {
        hf_out_text(x->out, "    ");
        put_levels(x, f->prevents, f->n_prevents);
        hf_out_text(x->out, f->n_prevents > 1 ? " forbid it" : " forbids it");
        if (f->n_allows > 0) {
            hf_out_text(x->out, "; ");
            put_levels(x, f->allows, f->n_allows);
            hf_out_text(x->out, f->n_allows > 1 ? " do not" : " does not");
        }
        hf_out_char(x->out, '\n');
    }
    for (size_t i = 0; i < f->locks.n; i++)
        put_lock(x, &f->locks.at[i]);
}

/* ---- all ----------------------------------------------------------------- */

/* What has to be otherwise than it was seen to be. */
static void put_others(const teller *x)
{
    const hf_prediction *p = x->t->p;

    for (uint32_t i = 0; i < p->n_others; i++) {
        if (i == 0 && x->t->validated && x->t->v.confirmed)
            hf_out_text(x->out, "exactly so ");
        hf_out_text(x->out, i == 0 ? "only if " : "and only if ");
        put_txn(x, p->others[i].txn);
        if (p->others[i].rival == HF_NONE) {
            hf_out_text(x->out, ", cut short, writes something else than it "
                                "was seen to, or nothing\n");
            continue;
        }
        hf_out_text(x->out, " inserts another row than ");
        put_txn(x, p->others[i].rival);
        hf_out_text(x->out, ", though it gets the same result\n");
    }
}

static void put_prediction(teller *x, uint32_t number)
{
    const hf_prediction *p = x->t->p;

    hf_out_format(x->out, "\nprediction %u of %zu: ", number + 1, x->g->told.n);
    if (x->t->validated) {
        put_color(x, x->t->v.confirmed ? "1;31" : "1");
        hf_out_text(x->out, x->t->v.confirmed ? "confirmed" : "not confirmed");
        put_color(x, "0");
        hf_out_text(x->out, ", ");
    } else if (x->t->stopped && x->g->app && !x->g->set->no_validate) {
        hf_out_text(x->out, "not carried out, a limit was reached, ");
    }
    hf_out_format(x->out, "%u %s, %s\n", p->n_changed,
                  hf_plural(p->n_changed, "read changes", "reads change"),
                  p->n_others > 0 ? "what follows is not as observed"
                  : p->is_unseen  ? "but in no result that the application gets"
                  : p->is_strict  ? "only an abort can make it diverge"
                  : p->n_changed == 1 ? "what follows it is taken to be as "
                                        "observed"
                                      : "what follows them is taken to be as "
                                        "observed");
    put_others(x);
    if (!p->finishes && p->n_others == 0 &&
        x->g->options.encoding == HF_PREDICT_OWN)
        hf_out_format(x->out,
                      "if what is behind a boundary is written as observed, %s "
                      "does not allow it\n",
                      x->g->target->name);
    put_columns(x);
    put_cycle(x);
    put_validation(x);
    put_statements(x);
    put_fix(x);
}

static void put_execution(const hf_predicting *g, hf_out *out)
{
    const hf_predict_stats *s = &g->result->stats;

    if (g->app) {
        const hf_control_report *r = &g->app->observed;

        hf_out_format(out,
                      "%s, seed %llu: %u sessions of %u transactions, %u "
                      "committed, %llu reads, %llu writes\n",
                      g->name, (unsigned long long)g->app->options.seed,
                      g->app->options.clients, g->app->options.transactions,
                      r->committed, (unsigned long long)r->reads,
                      (unsigned long long)r->writes);
        return;
    }
    hf_out_format(out,
                  "%s: %u sessions, %u transactions, %u reads, %u writes\n",
                  g->path, s->sessions, s->transactions, s->reads, s->writes);
}

static void put_answer(const hf_predicting *g, hf_out *out)
{
    const hf_predict_result *r = g->result;

    switch (r->answer) {
    case HF_PREDICT_NONE:
        hf_out_format(out, "no prediction exists at %s\n", g->target->name);
        break;
    case HF_PREDICT_UNKNOWN:
        hf_out_format(out, "unknown whether a prediction exists at %s\n",
                      g->target->name);
        break;
    default:
        hf_out_format(
            out, "at %s it could have gone wrong%s: %zu %s", g->target->name,
            hf_predicting_otherwise(g) && hf_predicting_confirmed(g) == 0
                ? " only if a transaction does something else than "
                  "it was seen to"
                : "",
            g->told.n, hf_plural(g->told.n, "prediction", "predictions"));
        if (g->app && !g->set->no_validate)
            hf_out_format(out, ", %u confirmed", hf_predicting_confirmed(g));
        hf_out_char(out, '\n');
    }
    if (r->statement[0])
        hf_out_format(out, "  %s\n", r->statement);
}

void hf_predicting_print(const hf_predicting *g, bool color, hf_out *out)
{
    teller x = {.g = g, .h = g->h, .out = out, .color = color};

    put_execution(g, out);
    put_answer(g, out);
    for (uint32_t i = 0; i < g->told.n; i++) {
        x.t = &g->told.at[i];
        put_prediction(&x, i);
    }
}

/* proof.c: a proof in words.
 *
 * The facts that lead to the contradiction are numbered, what they rest on
 * first, each with the cycle that there would be otherwise:
 *
 *   1. T2 before T1 on x: otherwise T3 -rw x-> T2 -wr y-> T3
 *
 * then the step that has nothing left.  Where facts do not force each other
 * to the end two cases are told.  What is not told is counted; the JSON form
 * has all of it, and verify checks it.
 */
#include "report/story.h"

#include <inttypes.h>

#define FACTS_SHOWN 24
#define EDGES_SHOWN 10
#define SPLITS_TRIED 200

/* ---- words --------------------------------------------------------------- */

/* "T2 before T1 on x", "T3 reads x = 7 from T1", "T4 did not happen" */
static void put_fact(const hf_story *s, uint32_t literal, hf_out *out)
{
    const hf_fact *f = &s->view.facts[literal / 2];
    bool negated = literal % 2;

    switch (f->kind) {
    case HF_FACT_BEFORE:
        hf_txn_print(s->h, negated ? f->b : f->a, out);
        hf_out_text(out, " before ");
        hf_txn_print(s->h, negated ? f->a : f->b, out);
        hf_out_text(out, " on ");
        hf_key_print(s->h, f->key, out);
        return;
    case HF_FACT_FROM:
        hf_txn_print(s->h, f->b, out);
        hf_out_text(out, negated ? " does not read " : " reads ");
        hf_key_is_print(s->h, f->key, hf_value_seen(s->h, f->op, f->key), out);
        hf_out_text(out, " from ");
        if (f->a == HF_NONE)
            hf_out_text(out, "the initial version");
        else
            hf_txn_print(s->h, f->a, out);
        return;
    case HF_FACT_HAPPENED:
        hf_txn_print(s->h, f->a, out);
        hf_out_text(out, negated ? " did not happen" : " happened");
        return;
    }
}

/* ", with T1 before T2 on x, T2 before T4 on x": what makes a version the one
 * that changes the matches of a condition. */
static void put_orders(const hf_story *s, const hf_step *step, uint32_t from,
                       hf_out *out)
{
    for (uint32_t i = from; i < step->n; i++) {
        const hf_edge *e = &s->w->edges[step->first + i];

        if (i == from + EDGES_SHOWN) {
            hf_out_format(out, " and %" PRIu32 " more", step->n - i);
            return;
        }
        hf_out_text(out, i == from ? ", with " : ", ");
        hf_txn_print(s->h, e->from, out);
        hf_out_text(out, " before ");
        hf_txn_print(s->h, e->to, out);
        hf_out_text(out, " on ");
        hf_key_print(s->h, e->key, out);
    }
}

/* "T3 -rw x-> T2 -wr y-> T3" */
static void put_cycle(const hf_story *s, const hf_step *step, hf_out *out)
{
    uint32_t n = hf_step_cycle(s->w, step);

    for (uint32_t i = 0; i < n; i++) {
        const hf_edge *e = &s->w->edges[step->first + i];

        if (i == EDGES_SHOWN) {
            hf_out_format(out, "... %" PRIu32 " more -> ", n - i);
            break;
        }
        hf_txn_print(s->h, e->from, out);
        hf_out_format(out, " -%s", hf_edge_kind_name(e->kind));
        if (e->key != HF_NONE) {
            hf_out_char(out, ' ');
            hf_key_print(s->h, e->key, out);
        }
        hf_out_text(out, "-> ");
    }
    hf_txn_print(s->h, s->w->edges[step->first].from, out);
    put_orders(s, step, n, out);
}

/* Is it about increments without results, and no list? */
static bool is_sum(const hf_story *s, const hf_step *step)
{
    hf_value_id v = s->h->op_value[step->op];

    return hf_op_kind_of(s->h, step->op) == HF_OP_INCREMENT ||
           (v != HF_NONE && s->h->value_type[v] == HF_INT);
}

/* "read x = [1, 2] of T3, with T1 before T2 on x" */
static void put_list(const hf_story *s, const hf_step *step, hf_out *out)
{
    hf_op_print(s->h, step->op, out);
    hf_out_text(out, " of ");
    hf_txn_print(s->h, hf_op_txn(s->h, step->op), out);
    put_orders(s, step, 0, out);
}

/* "read x = 1 of T3 and write x = 2 of T1" */
static void put_promise(const hf_story *s, const hf_step *step, hf_out *out)
{
    const hf_edge *e = &s->w->edges[step->first];

    hf_op_print(s->h, e->from_op, out);
    hf_out_text(out, " of ");
    hf_txn_print(s->h, e->from, out);
    hf_out_text(out, " and ");
    hf_op_print(s->h, e->to_op, out);
    hf_out_text(out, " of ");
    hf_txn_print(s->h, e->to, out);
}

/* "rx1 is wrong by itself", or with what another did. */
static void put_fault(const hf_story *s, const hf_step *step, bool whose,
                      hf_out *out)
{
    hf_op_print(s->h, step->op, out);
    if (whose || step->writer != HF_NONE) {
        hf_out_text(out, " of ");
        hf_txn_print(s->h, hf_op_txn(s->h, step->op), out);
    }
    if (step->writer == HF_NONE) {
        hf_out_text(out, " is wrong by itself");
        return;
    }
    hf_out_text(out, " contradicts what ");
    hf_txn_print(s->h, step->writer, out);
    hf_out_text(out, " did");
}

/* " (by 1, 4)": the facts that refute the others of the step. */
static void put_citations(const hf_story *s, uint32_t step, uint32_t fact,
                          hf_out *out)
{
    const char *before = " (by ";

    for (size_t k = s->first[step]; k < s->first[step + 1]; k++) {
        uint32_t other = s->literals[k] / 2;

        if (other == fact || s->number[other] == 0)
            continue;
        hf_out_format(out, "%s%" PRIu32, before, s->number[other]);
        before = ", ";
    }
    if (before[0] == ',')
        hf_out_char(out, ')');
}

/* "  1. T2 before T1 on x: otherwise T3 -rw x-> T2 -wr y-> T3 (by 4)" */
static void put_line(const hf_story *s, uint32_t fact, hf_out *out)
{
    const hf_step *step = &s->w->steps[s->reason[fact]];

    hf_out_format(out, "  %" PRIu32 ". ", s->number[fact]);
    put_fact(s, 2 * fact + (s->value[fact] < 0), out);
    if (step->kind == HF_STEP_CYCLE) {
        hf_out_text(out, ": otherwise ");
        put_cycle(s, step, out);
    } else if (step->kind == HF_STEP_SOURCES) {
        hf_out_text(out, ": nothing else is left");
    } else if (step->kind == HF_STEP_FAULT) {
        hf_out_text(out, ": ");
        put_fault(s, step, false, out);
    } else if (step->kind == HF_STEP_PROMISE) {
        hf_out_text(out, ": as assumed of ");
        put_promise(s, step, out);
    } else if (step->kind == HF_STEP_LIST) {
        hf_out_text(out, ": otherwise not ");
        put_list(s, step, out);
    } else {
        hf_out_text(out, ": ");
        hf_txn_print(s->h, hf_op_txn(s->h, step->op), out);
        hf_out_text(out, " reads from ");
        hf_txn_print(s->h, step->writer, out);
    }
    put_citations(s, s->reason[fact], fact, out);
    hf_out_char(out, '\n');
}

/* ---- what a step rests on ------------------------------------------------ */

typedef struct visit {
    uint32_t step;
    size_t next; /* in its literals */
} visit;

/* Numbers the facts that refute the step, what they rest on first; those that
 * have a number keep it. */
static void number_facts(hf_story *s, uint32_t refuted, hf_story_list *ret)
{
    HF_VEC(visit) stack = {0};

    hf_vec_push(&stack, (visit){refuted, s->first[refuted]});
    while (stack.n > 0) {
        visit *top = &stack.at[stack.n - 1];
        uint32_t fact;

        if (top->next == s->first[top->step + 1]) {
            stack.n--;
            if (stack.n == 0)
                break;
            fact = s->literals[stack.at[stack.n - 1].next - 1] / 2;
            s->number[fact] = ++s->n_numbers;
            hf_vec_push(ret, fact);
            continue;
        }
        fact = s->literals[top->next++] / 2;
        if (s->number[fact] == 0 && s->value[fact] != 0 &&
            s->reason[fact] != HF_NONE && s->reason[fact] != top->step)
            hf_vec_push(&stack,
                        (visit){s->reason[fact], s->first[s->reason[fact]]});
    }
    hf_vec_release(&stack);
}

/* The edges of the last circle, in sentences. */
static void put_sentences(const hf_story *s, const hf_step *step, hf_out *out)
{
    for (uint32_t i = 0; i < hf_step_cycle(s->w, step) && i < EDGES_SHOWN;
         i++) {
        hf_out_text(out, "     ");
        hf_edge_print(s->h, &s->w->edges[step->first + i], out);
        hf_out_char(out, '\n');
    }
}

/* The step of which nothing is left. */
static void put_last(const hf_story *s, uint32_t refuted, hf_out *out)
{
    const hf_step *step = &s->w->steps[refuted];

    hf_out_text(out, "  so ");
    if (step->kind == HF_STEP_CYCLE) {
        put_cycle(s, step, out);
        hf_out_text(out, ": a circle");
    } else if (step->kind == HF_STEP_SOURCES) {
        hf_op_print(s->h, step->op, out);
        hf_out_text(out, " of ");
        hf_txn_print(s->h, hf_op_txn(s->h, step->op), out);
        hf_out_text(out, " comes from nowhere");
    } else if (step->kind == HF_STEP_FAULT) {
        put_fault(s, step, true, out);
    } else if (step->kind == HF_STEP_PROMISE) {
        put_promise(s, step, out);
        hf_out_text(out, " are not as assumed");
    } else if (step->kind == HF_STEP_LIST) {
        hf_out_text(out, is_sum(s, step)
                             ? "no order of those who added to it gives "
                             : "no order of those who appended gives ");
        put_list(s, step, out);
    } else {
        hf_txn_print(s->h, step->writer, out);
        hf_out_text(out, " did not happen, and was read from");
    }
    put_citations(s, refuted, HF_NONE, out);
    hf_out_char(out, '\n');
    if (step->kind == HF_STEP_CYCLE)
        put_sentences(s, step, out);
}

/* The facts that lead to it, and the step. */
static void put_end(hf_story *s, uint32_t refuted, hf_out *out)
{
    hf_story_list facts = {0};
    size_t skipped;

    number_facts(s, refuted, &facts);
    skipped = facts.n > FACTS_SHOWN ? facts.n - FACTS_SHOWN : 0;
    if (skipped > 0)
        hf_out_format(out, "  ... %zu facts come first\n", skipped);
    for (size_t i = skipped; i < facts.n; i++)
        put_line(s, facts.at[i], out);
    put_last(s, refuted, out);
    hf_vec_release(&facts);
}

/* ---- cases --------------------------------------------------------------- */

/* A fact of which neither answer goes; HF_NONE if none is found soon. */
static uint32_t find_split(hf_story *s)
{
    uint32_t tried = 0;

    for (uint32_t fact = 0; fact < s->view.n_facts; fact++) {
        size_t trail = s->trail.n;
        uint32_t refuted;

        if (s->value[fact] != 0 || s->view.known[fact] != HF_OPEN)
            continue;
        if (++tried > SPLITS_TRIED)
            break;
        refuted = hf_story_assume(s, 2 * fact);
        hf_story_undo(s, trail);
        if (refuted == HF_NONE)
            continue;
        refuted = hf_story_assume(s, 2 * fact + 1);
        hf_story_undo(s, trail);
        if (refuted != HF_NONE)
            return fact;
    }
    return HF_NONE;
}

/* Numbers given after `n` are taken back: they hold in one case only. */
static void forget_numbers(hf_story *s, uint32_t n)
{
    for (uint32_t i = 0; i < s->view.n_facts; i++)
        if (s->number[i] > n)
            s->number[i] = 0;
    s->n_numbers = n;
}

static void put_cases(hf_story *s, uint32_t fact, hf_out *out)
{
    for (unsigned negated = 0; negated < 2; negated++) {
        size_t trail = s->trail.n;
        uint32_t literal = 2 * fact + negated;
        uint32_t refuted = hf_story_assume(s, literal);

        hf_out_text(out, negated ? "  or " : "  either ");
        put_fact(s, literal, out);
        hf_out_text(out, ":\n");
        put_end(s, refuted, out);
        forget_numbers(s, 0);
        hf_story_undo(s, trail);
    }
}

/* ---- the proof ----------------------------------------------------------- */

/* Does an edge rest on a fact about other versions, of the same chains? */
static bool has_chains(const hf_story *s)
{
    for (uint32_t i = 0; i < s->w->n_edges; i++) {
        uint32_t literal = s->view.edge_before[i];
        const hf_fact *f;

        if (literal == HF_NONE || s->w->edges[i].kind != HF_EDGE_WW)
            continue;
        f = &s->view.facts[literal / 2];
        if (f->a != s->w->edges[i].from && f->b != s->w->edges[i].from)
            return true;
    }
    return false;
}

static void put_cut(const hf_story *s, hf_out *out)
{
    uint32_t cycles = 0;

    for (uint32_t i = 0; i < s->w->n_steps; i++)
        cycles += s->w->steps[i].kind == HF_STEP_CYCLE;
    hf_out_format(out,
                  "  it goes through many cases: %" PRIu32
                  " circles that cannot be, combined in %" PRIu32 " steps\n",
                  cycles, s->w->n_steps - cycles);
}

void hf_core_print(const hf_witness *w, hf_out *out)
{
    if (w->n_order == 1)
        hf_out_text(out, "  this transaction alone is impossible");
    else
        hf_out_format(out,
                      "  these %" PRIu32 " transactions alone are impossible",
                      w->n_order);
    if (w->n_order > 1 && !w->minimal)
        hf_out_text(out, "; perhaps fewer of them are");
    else if (w->n_order > 1)
        hf_out_text(out, ", and no fewer of them are");
}

/* What the proof is about, and how long it is. */
static void put_head(const hf_history *h, const hf_witness *w, hf_out *out)
{
    const char *steps = w->n_steps == 1 ? "step" : "steps";
    hf_txn_list txns;

    if (hf_witness_has_core(w)) {
        hf_core_print(w, out);
        hf_out_format(out, ";\n  %sproved in %" PRIu32 " %s:\n",
                      w->confirmed ? "confirmed by enumeration, " : "",
                      w->n_steps, steps);
        return;
    }
    txns = hf_witness_txns(h, w);
    hf_out_format(out,
                  "  no order of the versions explains this history: %zu "
                  "transactions, %" PRIu32 " %s\n",
                  txns.n, w->n_steps, steps);
    hf_vec_release(&txns);
}

void hf_proof_print(hf_verify_session *session, const hf_history *h,
                    hf_level level, const hf_witness *w, hf_out *out)
{
    uint32_t refuted, fact = HF_NONE;
    hf_story s;

    put_head(h, w, out);
    hf_story_init(&s, session, h, level, w);
    if (s.is_there) {
        refuted = hf_story_assume(&s, HF_NONE);
        if (refuted == HF_NONE)
            fact = find_split(&s);
        if (refuted != HF_NONE)
            put_end(&s, refuted, out);
        else if (fact != HF_NONE)
            put_cases(&s, fact, out);
        else
            put_cut(&s, out);
        if (has_chains(&s))
            hf_out_text(out, "  (versions that were read and replaced, one "
                             "after the other, count as one)\n");
    }
    hf_out_char(out, '\n');
    hf_story_release(&s);
}

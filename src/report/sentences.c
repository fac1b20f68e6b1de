/* sentences.c: anomalies without a cycle, in plain sentences.
 *
 * Which operations an anomaly is shown by is the contract with the engines
 * (verify/operations.c has the list); here each becomes a sentence that says
 * what happened, to which transactions, and where they stand in the input.
 * An anomaly whose operations are not as expected is told operation by
 * operation, so nothing is ever left untold.
 *
 * Versions in a circle (cyclic versions) come in pairs of operations: the
 * version that the first touches is before the one that the second touches.
 * Each pair is a sentence, and a last one concludes.
 */
#include "report/words.h"

#include <inttypes.h>

#include "base/error.h"
#include "history/extra.h"

typedef struct tale {
    const hf_history *h;
    const hf_witness *w;
    const hf_op_id *ops;
    hf_out *out;
} tale;

/* ---- parts --------------------------------------------------------------- */

static void say(const tale *s, const char *text)
{
    hf_out_text(s->out, text);
}

static hf_txn_id txn(const tale *s, uint32_t i)
{
    return hf_op_txn(s->h, s->ops[i]);
}

static hf_op_kind kind(const tale *s, uint32_t i)
{
    return hf_op_kind_of(s->h, s->ops[i]);
}

/* "T5 (line 9)" */
static void who(const tale *s, uint32_t i)
{
    hf_txn_print_at(s->h, txn(s, i), s->out);
}

/* The key that operations speak of: that of the first that has one. */
static hf_key_id key(const tale *s)
{
    for (uint32_t i = 0; i < s->w->n_ops; i++)
        if (s->h->op_key[s->ops[i]] != HF_NONE)
            return s->h->op_key[s->ops[i]];
    return HF_NONE;
}

/* "x = 1" as operation i saw it; what it returned where no key is known. */
static void seen(const tale *s, uint32_t i)
{
    hf_op_id op = s->ops[i];

    if (key(s) != HF_NONE)
        hf_key_is_print(s->h, key(s), hf_value_seen(s->h, op, key(s)), s->out);
    if (hf_op_has_predicate(kind(s, i))) {
        say(s, key(s) != HF_NONE ? " by its " : "by its ");
        if (key(s) != HF_NONE)
            hf_predicate_print(s->h, op, s->out);
        else
            hf_op_print(s->h, op, s->out);
    }
}

/* "T5 (line 9) reads x = 3" */
static void reads(const tale *s, uint32_t i)
{
    who(s, i);
    say(s, " reads ");
    seen(s, i);
}

/* "writes x = 1" */
static void does(const tale *s, uint32_t i, hf_verb_form form)
{
    if (hf_op_installs(kind(s, i)))
        hf_item_print(s->h, s->ops[i], form, s->out);
    else
        hf_op_print(s->h, s->ops[i], s->out);
}

static void value_of(const tale *s, uint32_t i)
{
    hf_value_print(s->h, s->h->op_value[s->ops[i]], s->out);
}

static void print_key(const tale *s)
{
    if (key(s) != HF_NONE)
        hf_key_print(s->h, key(s), s->out);
    else
        say(s, "a key");
}

/* ---- one reader ---------------------------------------------------------- */

/* The list that was there to begin with is not how it begins. */
static bool begins_wrong(const tale *s)
{
    const hf_history *h = s->h;
    hf_key_id k = h->op_key[s->ops[0]];
    hf_value_id initial =
        h->key_initial && k != HF_NONE ? h->key_initial[k] : HF_NONE;
    hf_value_id v = h->op_value[s->ops[0]];

    if (kind(s, 0) != HF_OP_READ_LIST || initial == HF_NONE ||
        h->value_type[initial] != HF_LIST)
        return false;
    while (v != HF_NONE && v != initial)
        v = h->value_type[v] == HF_LIST ? hf_list_parent(h, v) : HF_NONE;
    return v == HF_NONE;
}

static void tell_garbage(const tale *s)
{
    reads(s, 0);
    say(s, begins_wrong(s)
               ? ", which does not begin with what was there to begin with"
           : kind(s, 0) == HF_OP_READ_LIST
               ? ", in which an element was never appended by anybody"
               : ", which nobody ever wrote");
}

static void tell_internal(const tale *s)
{
    who(s, 0);
    hf_out_char(s->out, ' ');
    does(s, 0, HF_VERB_PRESENT);
    say(s, " and then reads ");
    seen(s, 1);
    say(s, ", not its own write");
}

static void tell_non_repeatable(const tale *s)
{
    reads(s, 0);
    say(s, " and later ");
    seen(s, 1);
    say(s, " without writing it in between");
}

static void tell_duplicate_element(const tale *s)
{
    reads(s, 0);
    say(s, ", which has an element more often than it was appended");
}

static void tell_duplicate(const tale *s)
{
    if (s->w->n_ops == 1) {
        tell_duplicate_element(s);
        return;
    }
    say(s, "the workload promised unique values, but ");
    who(s, 0);
    hf_out_char(s->out, ' ');
    does(s, 0, HF_VERB_PRESENT);
    if (txn(s, 0) == txn(s, 1)) {
        say(s, " twice");
    } else {
        say(s, " and so does ");
        who(s, 1);
    }
    say(s, ": a broken promise, not an isolation anomaly");
}

static void tell_aborted(const tale *s)
{
    hf_op_kind write = kind(s, 0);

    reads(s, 1);
    if (write == HF_OP_APPEND) {
        say(s, ", with the element ");
        value_of(s, 0);
        say(s, " that ");
    } else {
        say(s, write == HF_OP_DELETE ? ", because " : ", which ");
    }
    who(s, 0);
    hf_out_format(s->out, " %s%s and then aborted",
                  write == HF_OP_INCREMENT ? "wrote"
                                           : hf_verb(write, HF_VERB_PAST),
                  write == HF_OP_DELETE ? " it" : "");
}

static void tell_intermediate(const tale *s)
{
    reads(s, 2);
    say(s, kind(s, 0) == HF_OP_APPEND ? ", whose last element " : ", which ");
    who(s, 0);
    say(s, kind(s, 0) == HF_OP_APPEND ? " appended" : " wrote");
    if (kind(s, 1) == HF_OP_APPEND) {
        say(s, " before it appended ");
        value_of(s, 1);
        say(s, " as well");
        return;
    }
    say(s, " before its own later version (");
    does(s, 1, HF_VERB_BARE);
    hf_out_char(s->out, ')');
}

static void tell_dirty_update(const tale *s)
{
    who(s, 1);
    hf_out_char(s->out, ' ');
    does(s, 1, HF_VERB_PRESENT);
    say(s, " on top of ");
    value_of(s, 0);
    say(s, ", which ");
    who(s, 0);
    say(s, " appended and then aborted: ");
    reads(s, 2);
}

static void tell_future(const tale *s)
{
    reads(s, 0);
    say(s, " before it ");
    does(s, 1, HF_VERB_PRESENT);
    say(s, " itself");
}

static void tell_mismatch(const tale *s)
{
    who(s, 0);
    say(s, ": ");
    hf_op_print(s->h, s->ops[0], s->out);
    say(s, ", but the condition, on the versions it looked at, gives "
           "something else");
}

static void tell_two_versions(const tale *s)
{
    who(s, 0);
    say(s, ": ");
    hf_op_print(s->h, s->ops[0], s->out);
    say(s, ", which is two versions of one key");
}

static void tell_arithmetic(const tale *s)
{
    who(s, 0);
    hf_out_char(s->out, ' ');
    does(s, 0, HF_VERB_PRESENT);
    say(s, ", which does not add up");
}

static void tell_phantom(const tale *s)
{
    who(s, 0);
    say(s, ": ");
    hf_op_print(s->h, s->ops[0], s->out);
    say(s, "; and later, without a write in between, ");
    hf_op_print(s->h, s->ops[1], s->out);
}

/* ---- two transactions ---------------------------------------------------- */

static void tell_incompatible(const tale *s)
{
    reads(s, 0);
    say(s, " and ");
    reads(s, 1);
    say(s, ", and neither list continues the other");
}

static void tell_lost_update(const tale *s)
{
    who(s, 0);
    say(s, " and ");
    who(s, 2);
    say(s, " both read ");
    seen(s, 0);
    say(s, "; then ");
    hf_txn_print(s->h, txn(s, 1), s->out);
    hf_out_char(s->out, ' ');
    does(s, 1, HF_VERB_PRESENT);
    say(s, " and ");
    hf_txn_print(s->h, txn(s, 3), s->out);
    hf_out_char(s->out, ' ');
    does(s, 3, HF_VERB_PRESENT);
    say(s, ", neither knowing of the other");
}

/* ---- recorded timestamps ------------------------------------------------- */

static uint64_t stamp(const uint64_t *stamps, hf_txn_id t)
{
    return stamps ? stamps[t] : HF_TIME_NONE;
}

/* " of 5", or nothing where it was not recorded. */
static void at_time(const tale *s, const char *word, uint64_t time)
{
    if (time != HF_TIME_NONE)
        hf_out_format(s->out, " %s %" PRIu64, word, time);
}

/* Did the read return what the write installed? */
static bool is_source(const tale *s, uint32_t read, uint32_t write)
{
    hf_value_id v =
        key(s) == HF_NONE ? HF_NONE : hf_value_seen(s->h, s->ops[read], key(s));
    hf_value_id w = s->h->op_value[s->ops[write]];

    if (v == HF_NONE)
        return false;
    if (s->h->value_type[v] == HF_LIST && kind(s, write) == HF_OP_APPEND)
        return hf_list_last(s->h, v) == w;
    if (kind(s, write) == HF_OP_INCREMENT)
        return hf_op_increment(s->h, s->ops[write]).after == v;
    return v == w;
}

/* Of a snapshot only rows have values that were seen. */
static bool is_missed(const tale *s, uint32_t read)
{
    return hf_op_has_predicate(kind(s, read)) && key(s) != HF_NONE &&
           hf_value_seen(s->h, s->ops[read], key(s)) == HF_NONE;
}

/* A read and the write that it should have seen, or should not. */
static void tell_outside_snapshot(const tale *s)
{
    uint32_t n = s->w->n_ops, r = 0, w;
    uint64_t start, commit;

    while (r + 1 < n && hf_op_installs(kind(s, r)) &&
           kind(s, r) != HF_OP_INCREMENT)
        r++;
    w = r == n - 1 ? n - 2 : n - 1;
    start = stamp(s->h->cert.start_ts, txn(s, r));
    commit = stamp(s->h->cert.commit_ts, txn(s, w));
    if (is_missed(s, r))
        who(s, r);
    else
        reads(s, r);
    say(s, " at its snapshot");
    at_time(s, "of", start);
    if (is_missed(s, r)) {
        say(s, " does not return ");
        print_key(s);
        say(s, " (");
        hf_op_print(s->h, s->ops[r], s->out);
        say(s, ")");
    }
    say(s, ", but ");
    who(s, w);
    say(s, commit > start ? " committed that version only"
                          : " had already committed ");
    if (commit <= start) {
        if (kind(s, w) == HF_OP_APPEND)
            does(s, w, HF_VERB_BARE);
        else
            seen(s, w);
    }
    at_time(s, "at", commit);
}

static void tell_concurrent_write(const tale *s)
{
    const uint64_t *commits = s->h->cert.commit_ts;
    uint32_t first = 0, second = 1;

    if (stamp(commits, txn(s, 1)) < stamp(commits, txn(s, 0))) {
        first = 1;
        second = 0;
    }
    who(s, first);
    say(s, " and ");
    who(s, second);
    say(s, " both wrote ");
    print_key(s);
    say(s, "; ");
    hf_txn_print(s->h, txn(s, second), s->out);
    say(s, " started");
    at_time(s, "at", stamp(s->h->cert.start_ts, txn(s, second)));
    say(s, ", before ");
    hf_txn_print(s->h, txn(s, first), s->out);
    say(s, " committed");
    at_time(s, "at", stamp(commits, txn(s, first)));
}

/* ---- versions in a circle ------------------------------------------------ */

/* "x = 1": the version that operation i of the pair touches.  An increment
 * that is both sides leads from the one to the other. */
static void version(const tale *s, uint32_t i)
{
    hf_op_id op = s->ops[i];
    bool both = s->ops[i & ~1u] == s->ops[i | 1u];
    hf_value_id v = s->h->op_value[op];

    if (kind(s, i) == HF_OP_INCREMENT) {
        hf_increment inc = hf_op_increment(s->h, op);

        v = both && i % 2 == 0 ? inc.before : inc.after;
    } else if (hf_op_has_predicate(kind(s, i))) {
        v = hf_value_seen(s->h, op, key(s));
    }
    hf_key_is_print(s->h, key(s), v, s->out);
}

static void touched(const tale *s, uint32_t i)
{
    if (hf_op_installs(kind(s, i)) || hf_op_reads_item(kind(s, i)))
        hf_item_print(s->h, s->ops[i], HF_VERB_PAST, s->out);
    else
        hf_op_print(s->h, s->ops[i], s->out);
}

static bool by_time(const tale *s, hf_txn_id a, hf_txn_id b)
{
    uint64_t end = hf_txn_end_time(s->h, a), begin = hf_txn_begin_time(s->h, b);

    return (s->w->rests & HF_REST_LINEARIZABLE) && end != HF_TIME_NONE &&
           begin != HF_TIME_NONE && end < begin;
}

/* "T1 (line 1) wrote x = 1 and ended at 5, before T2 (line 2) began at 7 and
 * read x = nil" */
static void tell_pair(const tale *s, uint32_t i)
{
    hf_txn_id a = txn(s, i), b = txn(s, i + 1);
    bool time = by_time(s, a, b);

    who(s, i);
    hf_out_char(s->out, ' ');
    touched(s, i);
    if (s->ops[i] == s->ops[i + 1])
        return;
    if (a == b) {
        say(s, " and then ");
    } else if (time) {
        at_time(s, "and ended at", hf_txn_end_time(s->h, a));
        say(s, ", before ");
        hf_txn_print_at(s->h, b, s->out);
        at_time(s, "began at", hf_txn_begin_time(s->h, b));
        say(s, " and ");
    } else {
        say(s, ", before ");
        hf_txn_print_at(s->h, b, s->out);
        say(s, s->h->txn_session[a] == s->h->txn_session[b] &&
                       (s->w->rests & HF_REST_SEQUENTIAL)
                   ? ", later in the same session, "
               : s->w->rests & HF_REST_ORDER ? ", later in the recorded order, "
                                             : " ");
    }
    touched(s, i + 1);
}

static void tell_cyclic(const tale *s, uint32_t i)
{
    if (2 * i >= s->w->n_ops) {
        say(s, "so the versions of ");
        print_key(s);
        say(s, " would have to be in a circle");
        return;
    }
    tell_pair(s, 2 * i);
    say(s, ": so ");
    version(s, 2 * i);
    say(s, " comes before ");
    version(s, 2 * i + 1);
}

/* ---- the expected order -------------------------------------------------- */

/* Where the transaction stands in the order; HF_TIME_NONE: nowhere. */
static uint64_t place(const tale *s, hf_txn_id t)
{
    const hf_certificate *c = &s->h->cert;

    if (s->w->rests & HF_REST_BY_COMMIT)
        return stamp(c->commit_ts, t);
    if (s->w->rests & HF_REST_BY_START)
        return stamp(c->start_ts, t);
    if (s->w->rests & HF_REST_BY_END)
        return hf_txn_end_time(s->h, t);
    if (s->w->rests & HF_REST_BY_FILE)
        return t;
    for (uint32_t i = 0; i < c->n_serial; i++)
        if (c->serial[i] == t)
            return i;
    return HF_TIME_NONE;
}

/* ", which T3 (line 3) wrote, later in the order" */
static void tell_source(const tale *s, uint32_t w)
{
    uint64_t now = place(s, txn(s, 0)), then = place(s, txn(s, w));

    if (hf_op_has_predicate(kind(s, 0))) {
        say(s, ", of which ");
        if (kind(s, w) == HF_OP_INCREMENT)
            does(s, w, HF_VERB_BARE);
        else
            hf_key_is_print(s->h, s->h->op_key[s->ops[w]],
                            s->h->op_value[s->ops[w]], s->out);
        say(s, " is of ");
        who(s, w);
    } else {
        say(s,
            kind(s, w) == HF_OP_APPEND ? ", whose last element " : ", which ");
        who(s, w);
        say(s, kind(s, w) == HF_OP_APPEND   ? " appended"
               : kind(s, w) == HF_OP_DELETE ? " left by deleting it"
                                            : " wrote");
    }
    if (s->h->txn_outcome[txn(s, w)] == HF_ABORTED)
        say(s, hf_op_has_predicate(kind(s, 0)) ? ", which aborted"
                                               : " and then aborted");
    else if (txn(s, w) != txn(s, 0) && then != HF_TIME_NONE && then > now)
        say(s, ", later in the order");
}

/* A read, the write that it should have seen, the one that it saw. */
static void tell_state(const tale *s)
{
    uint32_t expected = 0, source = 0;

    for (uint32_t i = 1; i < s->w->n_ops; i++) {
        if (is_source(s, 0, i))
            source = i;
        else
            expected = i;
    }
    who(s, 0);
    say(s, ": ");
    hf_op_print(s->h, s->ops[0], s->out);
    if (source)
        tell_source(s, source);
    if (s->w->n_states == 1 && (!expected || hf_op_has_predicate(kind(s, 0)))) {
        say(s, s->w->states->is_serial
                   ? "; the state before it in the order"
                   : "; no state before it in the order fits: the last one");
        hf_state_print(s->h, s->w->states, !source, s->out);
        return;
    }
    if (!expected) {
        say(s, source ? "; the state before it in the order has something else"
                      : ", which is not what the order gives");
        return;
    }
    say(s, "; in the order ");
    who(s, expected);
    hf_out_char(s->out, ' ');
    does(s, expected, HF_VERB_PRESENT);
    if (source && txn(s, expected) != txn(s, 0) &&
        place(s, txn(s, source)) < place(s, txn(s, expected)))
        say(s, " in between");
    else
        say(s, " before it");
}

/* A read, a write of its key by another, a read from that. */
static void tell_torn(const tale *s)
{
    who(s, 2);
    say(s, ": ");
    hf_op_print(s->h, s->ops[2], s->out);
    say(s, ", from ");
    who(s, 1);
    say(s, ", which also ");
    does(s, 1, HF_VERB_PRESENT);
    say(s, "; but ");
    hf_op_print(s->h, s->ops[0], s->out);
    say(s, " is older in the order");
}

static void tell_expected(const tale *s)
{
    uint32_t own = 0;

    for (uint32_t i = 0; i < s->w->n_ops; i++)
        own += txn(s, i) == txn(s, 0);
    if (own == s->w->n_ops && own > 1) {
        who(s, 0);
        for (uint32_t i = 0; i < s->w->n_ops; i++) {
            say(s, i > 0 ? "; " : ": ");
            hf_op_print(s->h, s->ops[i], s->out);
        }
        say(s, "; no state before it in the order gives all of this");
        for (uint32_t i = 0; i < s->w->n_states; i++)
            hf_state_fits_print(s->h, &s->w->states[i], s->out);
    } else if (s->w->n_ops == 3 && s->ops[0] == s->ops[2]) {
        who(s, 0);
        say(s, " is before ");
        who(s, 1);
        say(s, txn(s, 0) < txn(s, 1) && s->h->txn_session[txn(s, 0)] ==
                                            s->h->txn_session[txn(s, 1)]
                   ? " in their session"
                   : " in time");
        say(s, ", and after it in the order");
    } else if (s->w->n_ops == 3 && own == 2) {
        tell_torn(s);
    } else {
        tell_state(s);
    }
}

/* ---- all of them --------------------------------------------------------- */

typedef struct form {
    hf_anomaly anomaly;
    uint32_t least, most; /* operations */
    void (*tell)(const tale *s);
} form;

static const form forms[] = {
    {HF_GARBAGE_READ, 1, 1, tell_garbage},
    {HF_INTERNAL, 2, 2, tell_internal},
    {HF_NON_REPEATABLE_READ, 2, 2, tell_non_repeatable},
    {HF_DUPLICATE_WRITE, 1, 2, tell_duplicate},
    {HF_G1A, 2, 2, tell_aborted},
    {HF_G1B, 3, 3, tell_intermediate},
    {HF_DIRTY_UPDATE, 3, 3, tell_dirty_update},
    {HF_FUTURE_READ, 2, 2, tell_future},
    {HF_INCOMPATIBLE_ORDER, 2, 2, tell_incompatible},
    {HF_RESULT_SET_MISMATCH, 1, 1, tell_mismatch},
    {HF_TWO_VERSIONS, 1, 1, tell_two_versions},
    {HF_SEMANTIC_ERROR, 1, 1, tell_arithmetic},
    {HF_LOST_UPDATE, 4, 4, tell_lost_update},
    {HF_PHANTOM, 2, 2, tell_phantom},
    {HF_OUTSIDE_SNAPSHOT, 2, 3, tell_outside_snapshot},
    {HF_CONCURRENT_WRITE, 2, 2, tell_concurrent_write},
    {HF_EXPECTED_STATE, 1, UINT32_MAX, tell_expected},
};

/* The operations as they are. */
static void tell_plainly(const tale *s)
{
    for (uint32_t i = 0; i < s->w->n_ops; i++) {
        say(s, i > 0 ? "; " : "");
        who(s, i);
        say(s, ": ");
        hf_op_print(s->h, s->ops[i], s->out);
    }
}

/* Is operation i what the sentence takes it for: a write of one key? */
static bool is_item(const hf_history *h, hf_op_id op)
{
    return hf_op_kind_of(h, op) <= HF_OP_INCREMENT;
}

/* Do the operations have the kinds that the sentence speaks of?  All that are
 * verbs in it are operations on one item; reads may be predicate ones. */
static bool fits(const hf_history *h, const form *f, const hf_witness *w)
{
    if (w->n_ops < f->least || w->n_ops > f->most)
        return false;
    for (uint32_t i = 0; i < w->n_ops; i++)
        if (!is_item(h, w->ops[i]) &&
            !hf_op_has_predicate(hf_op_kind_of(h, w->ops[i])))
            return false;
    if (f->anomaly == HF_G1A || f->anomaly == HF_G1B ||
        f->anomaly == HF_DIRTY_UPDATE || f->anomaly == HF_INTERNAL)
        return is_item(h, w->ops[0]);
    return true;
}

static bool is_circle(const hf_witness *w)
{
    return w->anomaly == HF_CYCLIC_VERSIONS && w->n_ops >= 2 &&
           w->n_ops % 2 == 0;
}

uint32_t hf_sentence_count(const hf_witness *w)
{
    if (w->kind != HF_WITNESS_OPERATIONS || w->n_ops == 0)
        return 0;
    return is_circle(w) ? w->n_ops / 2 + 1 : 1;
}

void hf_sentence_print(const hf_history *h, const hf_witness *w, uint32_t i,
                       hf_out *out)
{
    tale s = {.h = h, .w = w, .ops = w->ops, .out = out};

    HF_ASSERT(i < hf_sentence_count(w));
    if (is_circle(w) && key(&s) != HF_NONE) {
        tell_cyclic(&s, i);
        return;
    }
    if (i > 0)
        return;
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        if (forms[f].anomaly == w->anomaly && fits(h, &forms[f], w)) {
            forms[f].tell(&s);
            return;
        }
    }
    tell_plainly(&s);
}

/* promises.c: contradictions inside a history.
 *
 * This runs before every check, so it must cost next to nothing where there is
 * nothing to look at: a pass over the one-byte kinds decides whether lists and
 * plain values both occur, and only then every operation marks its key as the
 * one or the other.  Times are looked at where their columns exist, version
 * sets where there are any: one more pass over the operations, and over all
 * entries.
 *
 * Only the first contradiction is reported, and only then is it found out who
 * the other party was: a second scan up to the operation that contradicts.
 */
#include "history/promises.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "history/extra.h"

/* ---- words --------------------------------------------------------------- */

typedef struct words {
    char text[HF_KEY_WORDS];
} words;

static unsigned long long number(uint64_t n)
{
    return (unsigned long long)n;
}

const char *hf_key_words(const hf_history *h, hf_key_id key,
                         char ret[HF_KEY_WORDS])
{
    hf_scalar s = hf_key_scalar(h, key);
    char part[48], table[48];

    if (s.type == HF_INT)
        (void)snprintf(part, sizeof(part), "%lld", (long long)s.number);
    else
        (void)hf_quote(part, sizeof(part), s.text, s.length);
    if (h->key_table && h->key_table[key] != HF_NONE) {
        hf_str name = hf_string(h, h->key_table[key]);

        (void)snprintf(ret, HF_KEY_WORDS, "\"%s[%s]\"",
                       hf_quote(table, sizeof(table), name.ptr, name.len),
                       part);
    } else {
        (void)snprintf(ret, HF_KEY_WORDS, "\"%s\"", part);
    }
    return ret;
}

static words key_words(const hf_history *h, hf_key_id key)
{
    words w = {{0}};

    (void)hf_key_words(h, key, w.text);
    return w;
}

/* T7, or T7 (line 12) */
static words other_words(const hf_history *h, hf_txn_id t)
{
    long long label = (long long)hf_txn_label(h, t);
    words w;

    if (h->txn_line && h->txn_line[t] > 0)
        (void)snprintf(w.text, sizeof(w.text), "T%lld (line %u)", label,
                       h->txn_line[t]);
    else
        (void)snprintf(w.text, sizeof(w.text), "T%lld", label);
    return w;
}

/* The contradiction is in transaction t. */
static hf_status place(const hf_history *h, hf_txn_id t, hf_error *err)
{
    if (err && h->txn_line && h->txn_line[t] > 0)
        err->line = h->txn_line[t];
    return HF_ERR_INPUT;
}

/* ---- lists and plain values ---------------------------------------------- */

#define USED_AS_LIST 1u
#define USED_AS_PLAIN 2u

/* As what a value shows its key; nil is both the absent row and the empty
 * list. */
static unsigned use_of_value(const hf_history *h, hf_value_id v)
{
    if (v == HF_NONE || h->value_type[v] == HF_NIL)
        return 0;
    return h->value_type[v] == HF_LIST ? USED_AS_LIST : USED_AS_PLAIN;
}

/* As what an item operation uses its key. */
static unsigned use_of_item(const hf_history *h, hf_op_id op)
{
    switch (hf_op_kind_of(h, op)) {
    case HF_OP_READ:
    case HF_OP_READ_LIST:
        return use_of_value(h, h->op_value[op]);
    case HF_OP_APPEND:
        return USED_AS_LIST;
    case HF_OP_WRITE:
    case HF_OP_INSERT:
    case HF_OP_DELETE:
    case HF_OP_INCREMENT:
        return USED_AS_PLAIN;
    default:
        return 0;
    }
}

/* Which of the two kinds of use occur at all; may say so where they do not.
 * Predicates and initial values may be both. */
static unsigned uses_by_kind(const hf_history *h)
{
    uint8_t list = 0, plain = 0, predicate = 0;

    for (hf_op_id op = 0; op < h->n_ops; op++) {
        uint8_t kind = h->op_kind[op] & HF_OP_KIND_MASK;

        list |= (uint8_t)(kind - HF_OP_APPEND) <=
                (uint8_t)(HF_OP_READ_LIST - HF_OP_APPEND);
        plain |=
            (kind == HF_OP_WRITE) | ((uint8_t)(kind - HF_OP_INSERT) <=
                                     (uint8_t)(HF_OP_INCREMENT - HF_OP_INSERT));
        predicate |= ((uint8_t)(kind - HF_OP_PREDICATE_READ) <=
                      (uint8_t)(HF_OP_COUNT_ROWS - HF_OP_PREDICATE_READ)) |
                     (kind == HF_OP_AVG);
    }
    if (predicate || h->key_initial)
        return USED_AS_LIST | USED_AS_PLAIN;
    return (list ? USED_AS_LIST : 0) | (plain ? USED_AS_PLAIN : 0);
}

/* In a history of lists, plain reads are of nil as a rule. */
static bool has_plain_reads(const hf_history *h)
{
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_READ && use_of_item(h, op))
            return true;
    return false;
}

static bool may_be_mixed(const hf_history *h)
{
    unsigned used = uses_by_kind(h);

    return (used & USED_AS_LIST) &&
           ((used & USED_AS_PLAIN) || has_plain_reads(h));
}

/* What is known of each key so far. */
typedef struct uses {
    const hf_history *h;
    uint8_t *of; /* by key: USED_AS_* */
} uses;

/* False if the key is now both. */
static inline bool add_use(uses *u, hf_key_id key, unsigned use)
{
    u->of[key] |= (uint8_t)use;
    return u->of[key] != (USED_AS_LIST | USED_AS_PLAIN);
}

/* The entries of a version set or a result set.  Returns the first key that
 * is now both, or HF_NONE. */
static hf_key_id add_refs(uses *u, const hf_version_ref *refs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hf_value_id v = refs[i].value;

        if (v != HF_NONE &&
            !add_use(u, u->h->value_key[v], use_of_value(u->h, v)))
            return u->h->value_key[v];
    }
    return HF_NONE;
}

/* The same for an operation of any kind. */
static hf_key_id add_op(uses *u, hf_op_id op)
{
    const hf_history *h = u->h;
    hf_key_id both = HF_NONE;

    if (h->op_kind[op] & HF_OP_FAILED)
        return HF_NONE;
    if (hf_op_has_predicate(hf_op_kind_of(h, op))) {
        hf_predicate p;

        if (hf_op_n_refs(h, op) == 0)
            return HF_NONE;
        p = hf_op_predicate(h, op);
        both = add_refs(u, p.versions, p.n_versions);
        return both != HF_NONE ? both : add_refs(u, p.results, p.n_results);
    }
    if (h->op_key[op] != HF_NONE &&
        !add_use(u, h->op_key[op], use_of_item(h, op)))
        both = h->op_key[op];
    return both;
}

static const char *use_words(const hf_history *h, hf_op_id op)
{
    switch (hf_op_kind_of(h, op)) {
    case HF_OP_READ:
        return "reads a plain value";
    case HF_OP_READ_LIST:
        return "reads a list";
    case HF_OP_APPEND:
        return "appends to it";
    case HF_OP_WRITE:
        return "writes it";
    case HF_OP_INSERT:
        return "inserts it";
    case HF_OP_DELETE:
        return "deletes it";
    case HF_OP_INCREMENT:
        return "increments it";
    default:
        return "looks at such a version";
    }
}

/* The first operation that uses the key as `use`; HF_NONE: the initial value
 * does. */
static hf_op_id first_use(const hf_history *h, hf_key_id key, unsigned use,
                          uint8_t *scratch)
{
    uses u = {h, scratch};

    if (h->key_initial && use_of_value(h, h->key_initial[key]) == use)
        return HF_NONE;
    for (hf_op_id op = 0; op < h->n_ops; op++) {
        scratch[key] = 0;
        (void)add_op(&u, op);
        if (scratch[key] & use)
            return op;
    }
    return HF_NONE;
}

static hf_status list_and_plain(const hf_history *h, hf_op_id op, hf_key_id key,
                                uint8_t *scratch, hf_error *err)
{
    hf_op_id list = first_use(h, key, USED_AS_LIST, scratch);
    hf_op_id plain = first_use(h, key, USED_AS_PLAIN, scratch);
    hf_op_id other = list == op ? plain : list;
    hf_txn_id t = hf_op_txn(h, op), before;
    const char *is = list == op ? "a list" : "a plain value";
    const char *was = list == op ? "a plain value" : "a list";

    if (other == HF_NONE) {
        (void)hf_fail(err, HF_ERR_INPUT,
                      "key %s is %s to T%lld, which %s, but %s at the start",
                      key_words(h, key).text, is, (long long)hf_txn_label(h, t),
                      use_words(h, op), was);
        return place(h, t, err);
    }
    before = hf_op_txn(h, other);
    (void)hf_fail(err, HF_ERR_INPUT,
                  "key %s is %s to T%lld, which %s, but %s to %s, which %s",
                  key_words(h, key).text, is, (long long)hf_txn_label(h, t),
                  use_words(h, op), was,
                  before == t ? "the same transaction"
                              : other_words(h, before).text,
                  use_words(h, other));
    return place(h, t, err);
}

static hf_status check_lists(const hf_history *h, hf_error *err)
{
    hf_status st = HF_OK;
    uses u = {.h = h};

    if (!may_be_mixed(h))
        return HF_OK;
    u.of = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    for (hf_key_id k = 0; h->key_initial && k < h->n_keys; k++)
        u.of[k] = (uint8_t)use_of_value(h, h->key_initial[k]);
    for (hf_op_id op = 0; op < h->n_ops && st == HF_OK; op++) {
        hf_key_id both = add_op(&u, op);

        if (both != HF_NONE)
            st = list_and_plain(h, op, both, u.of, err);
    }
    hf_free(u.of);
    return st;
}

/* ---- intervals ----------------------------------------------------------- */

/* "read of key "x"", or "commit"; returns `buffer` */
static const char *op_words(const hf_history *h, hf_op_id op, char *buffer,
                            size_t size)
{
    const char *name = hf_op_kind_name(hf_op_kind_of(h, op));

    if (h->op_key[op] == HF_NONE)
        (void)snprintf(buffer, size, "%s", name);
    else
        (void)snprintf(buffer, size, "%s of key %s", name,
                       key_words(h, h->op_key[op]).text);
    return buffer;
}

static hf_status check_interval(const hf_history *h, hf_txn_id t, hf_op_id op,
                                hf_error *err)
{
    uint64_t start, end, begin = h->txn_begin[t], last = h->txn_end[t];
    long long label = (long long)hf_txn_label(h, t);
    char what[200];

    if (!hf_op_interval(h, t, op, &start, &end))
        return HF_OK;
    if (begin != HF_TIME_NONE && start < begin)
        (void)hf_fail(err, HF_ERR_INPUT,
                      "T%lld begins at %llu, but its %s starts at %llu", label,
                      number(begin), op_words(h, op, what, sizeof(what)),
                      number(start));
    else if (last != HF_TIME_NONE && end != HF_TIME_NONE && end > last)
        (void)hf_fail(err, HF_ERR_INPUT,
                      "T%lld ends at %llu, but its %s ends at %llu", label,
                      number(last), op_words(h, op, what, sizeof(what)),
                      number(end));
    else
        return HF_OK;
    return place(h, t, err);
}

static hf_status check_intervals(const hf_history *h, hf_error *err)
{
    for (hf_txn_id t = 0; h->op_start && h->txn_begin && t < h->n_txns; t++) {
        uint64_t length =
            h->txn_begin[t] == HF_TIME_NONE || h->txn_end[t] == HF_TIME_NONE
                ? UINT64_MAX
                : h->txn_end[t] - h->txn_begin[t];

        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_status st = HF_OK;

            /* offsets are never before the begin; UINT32_MAX is special */
            if (h->op_start[op] == UINT32_MAX ||
                (uint64_t)h->op_start[op] + h->op_length[op] > length)
                st = check_interval(h, t, op, err);
            if (st != HF_OK)
                return st;
        }
    }
    return HF_OK;
}

static hf_status check_timestamps(const hf_history *h, hf_error *err)
{
    const uint64_t *start = h->cert.start_ts, *commit = h->cert.commit_ts;

    for (hf_txn_id t = 0; start && t < h->n_txns; t++) {
        if (start[t] == HF_TIME_NONE || commit[t] >= start[t])
            continue; /* unknown is the largest of all */
        (void)hf_fail(err, HF_ERR_INPUT,
                      "T%lld commits at timestamp %llu, before its start at "
                      "timestamp %llu",
                      (long long)hf_txn_label(h, t), number(commit[t]),
                      number(start[t]));
        return place(h, t, err);
    }
    return HF_OK;
}

/* ---- version sets -------------------------------------------------------- */

/* Who wrote what, and what the version set at hand says of each key. */
typedef struct written {
    const hf_history *h;
    hf_txn_id *by;         /* per value: one that wrote it, HF_NONE: nobody */
    uint8_t *opaque;       /* per key: increments without results */
    hf_op_id *set_of;      /* per key: the last version set that has it, ... */
    hf_version_ref *entry; /* ... and its entry */
} written;

static hf_value_id value_written(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_installs(kind) || (h->op_kind[op] & HF_OP_FAILED))
        return HF_NONE;
    return kind == HF_OP_INCREMENT ? hf_op_increment(h, op).after
                                   : h->op_value[op];
}

static void gather_written(written *w)
{
    const hf_history *h = w->h;

    memset(w->by, 0xff, h->n_values * sizeof(*w->by));
    memset(w->set_of, 0xff, h->n_keys * sizeof(*w->set_of));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = value_written(h, op);

            if (v != HF_NONE)
                w->by[v] = t;
            else if (hf_op_kind_of(h, op) == HF_OP_INCREMENT)
                w->opaque[h->op_key[op]] = 1;
        }
}

static bool writes_value(const hf_history *h, hf_txn_id t, hf_value_id v)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (value_written(h, op) == v)
            return true;
    return false;
}

/* Is there such a version?  Whether its writer committed is not asked. */
static bool exists(const written *w, const hf_version_ref *ref)
{
    const hf_history *h = w->h;
    hf_key_id key = h->value_key[ref->value];

    if (h->value_type[ref->value] == HF_LIST || w->opaque[key])
        return true;
    if ((ref->writer == HF_NONE || ref->writer == HF_WRITER_INITIAL) &&
        hf_value_is_initial(h, key, ref->value))
        return true;
    if (ref->writer == HF_WRITER_INITIAL || w->by[ref->value] == HF_NONE)
        return false;
    return ref->writer == HF_NONE || w->by[ref->value] == ref->writer ||
           writes_value(h, ref->writer, ref->value);
}

static bool writes_key(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (h->op_key[op] == key && hf_op_installs(hf_op_kind_of(h, op)) &&
            !(h->op_kind[op] & HF_OP_FAILED))
            return true;
    return false;
}

static bool is_same(const hf_version_ref *a, const hf_version_ref *b)
{
    return a->value == b->value &&
           (a->writer == b->writer || a->writer == HF_NONE ||
            b->writer == HF_NONE);
}

static hf_status bad_entry(const hf_history *h, hf_txn_id t, const char *has,
                           hf_key_id key, const char *which, hf_error *err)
{
    (void)hf_fail(err, HF_ERR_INPUT,
                  "the certificate contradicts the history: a version set of "
                  "T%lld has %s of key %s%s",
                  (long long)hf_txn_label(h, t), has, key_words(h, key).text,
                  which);
    return place(h, t, err);
}

static hf_status bad_row(const hf_history *h, hf_txn_id t,
                         const hf_version_ref *row, hf_error *err)
{
    hf_key_id key = h->value_key[row->value];
    words writer = {"the initial version"};

    if (row->writer != HF_WRITER_INITIAL)
        writer = other_words(h, row->writer);
    (void)hf_fail(err, HF_ERR_INPUT,
                  "the certificate contradicts the history: a row that T%lld "
                  "returned, of key %s, is said to be from %s, which %s",
                  (long long)hf_txn_label(h, t), key_words(h, key).text,
                  writer.text,
                  row->writer == HF_WRITER_INITIAL  ? "is another"
                  : writes_key(h, row->writer, key) ? "wrote other values of it"
                                                    : "did not write it");
    return place(h, t, err);
}

/* A row that names its writer is a version of that writer; of one whose
 * columns are not all there only the key is compared.  (A row of a version
 * that nobody wrote is an anomaly.) */
static hf_status check_rows(const written *w, hf_txn_id t,
                            const hf_predicate *p, hf_error *err)
{
    for (uint32_t i = 0; i < p->n_results; i++) {
        const hf_version_ref *row = &p->results[i];
        bool known = row->writer != HF_NONE && row->writer != HF_WRITER_INITIAL;

        if (row->writer == HF_NONE ||
            (p->n_columns > 0 &&
             (!known ||
              writes_key(w->h, row->writer, w->h->value_key[row->value]))))
            continue;
        if (!exists(w, row))
            return bad_row(w->h, t, row, err);
    }
    return HF_OK;
}

static hf_status check_version_set(written *w, hf_txn_id t, hf_op_id op,
                                   hf_error *err)
{
    const hf_history *h = w->h;
    hf_predicate p = hf_op_predicate(h, op);

    for (uint32_t i = 0; i < p.n_versions; i++) {
        hf_key_id key = h->value_key[p.versions[i].value];

        if (!exists(w, &p.versions[i]))
            return bad_entry(h, t, "a version", key,
                             p.versions[i].writer == HF_NONE
                                 ? " that nobody wrote"
                                 : " that its writer did not write",
                             err);
        if (w->set_of[key] == op && is_same(&w->entry[key], &p.versions[i]))
            return bad_entry(h, t, "one version", key, " twice", err);
        if (w->set_of[key] == op)
            return bad_entry(h, t, "two versions", key, "", err);
        w->set_of[key] = op;
        w->entry[key] = p.versions[i];
    }
    return check_rows(w, t, &p, err);
}

static bool has_refs(const hf_history *h, hf_op_id op)
{
    return hf_op_has_predicate(hf_op_kind_of(h, op)) &&
           !(h->op_kind[op] & HF_OP_FAILED) && hf_op_n_refs(h, op) > 0;
}

/* Every version in a version set was written, none has a key twice, and rows
 * that name their writers are right about them. */
static hf_status check_version_sets(const hf_history *h, hf_error *err)
{
    written w = {.h = h};
    hf_status st = HF_OK;
    hf_op_id first = 0;

    while (h->n_extra > 0 && first < h->n_ops && !has_refs(h, first))
        first++;
    if (h->n_extra == 0 || first == h->n_ops)
        return HF_OK;
    w.by = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_values + 1);
    w.opaque = HF_NEW_ZEROED(uint8_t, (size_t)h->n_keys + 1);
    w.set_of = HF_NEW_ARRAY(hf_op_id, (size_t)h->n_keys + 1);
    w.entry = HF_NEW_ARRAY(hf_version_ref, (size_t)h->n_keys + 1);
    gather_written(&w);
    for (hf_txn_id t = 0; t < h->n_txns && st == HF_OK; t++)
        for (hf_op_id op = h->op_first[t];
             op < h->op_first[t + 1] && st == HF_OK; op++)
            if (has_refs(h, op))
                st = check_version_set(&w, t, op, err);
    hf_free(w.by);
    hf_free(w.opaque);
    hf_free(w.set_of);
    hf_free(w.entry);
    return st;
}

hf_status hf_promises_check(const hf_history *h, hf_error *err)
{
    hf_status st = check_lists(h, err);

    if (st == HF_OK)
        st = check_intervals(h, err);
    if (st == HF_OK)
        st = check_timestamps(h, err);
    if (st == HF_OK)
        st = check_version_sets(h, err);
    if (st == HF_OK)
        st = hf_promises_check_counters(h, err);
    return st;
}

/* ---- sessions ------------------------------------------------------------ */

static hf_status overlap(const hf_history *h, hf_txn_id earlier,
                         hf_txn_id later, hf_error *err)
{
    hf_string_id id = h->session_name[h->txn_session[later]];
    hf_str name = hf_string(h, id);
    char session[64] = "its session", quoted[48];

    if (id != HF_NONE)
        (void)snprintf(session, sizeof(session), "session \"%s\"",
                       hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
    (void)hf_fail(err, HF_ERR_INPUT,
                  "T%lld begins at %llu, before %s, which is before it in "
                  "%s, ends at %llu",
                  (long long)hf_txn_label(h, later),
                  number(h->txn_begin[later]), other_words(h, earlier).text,
                  session, number(h->txn_end[earlier]));
    return place(h, later, err);
}

hf_status hf_promises_check_sessions(const hf_history *h, hf_error *err)
{
    hf_status st = HF_OK;
    hf_txn_id *latest; /* by session: the transaction with the latest end */

    if (!h->txn_begin)
        return HF_OK;
    latest = HF_NEW_ARRAY(hf_txn_id, (size_t)h->n_sessions + 1);
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        latest[s] = HF_NONE;
    for (hf_txn_id t = 0; t < h->n_txns && st == HF_OK; t++) {
        hf_txn_id *last = &latest[h->txn_session[t]];
        uint64_t end = h->txn_end[t];

        if (*last != HF_NONE && h->txn_begin[t] < h->txn_end[*last])
            st = overlap(h, *last, t, err);
        if (end != HF_TIME_NONE && h->txn_outcome[t] != HF_UNKNOWN_OUTCOME &&
            (*last == HF_NONE || end >= h->txn_end[*last]))
            *last = t;
    }
    hf_free(latest);
    return st;
}

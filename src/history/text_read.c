/* text_read.c: reading the native text form.
 *
 * One pass over the text with the pull reader; operations go straight into
 * the builder.  Integer values of one transaction are staged first, so that
 * the index slots they need are on their way from memory while the rest of
 * the line is parsed.  Numbers of transactions (in certificates and version
 * sets) may be used before their line: they are noted and resolved at the
 * end.
 */
#include "history/text.h"

#include "history/text_reader.h"
#include "model/level.h"

/* ---- lines --------------------------------------------------------------- */

typedef struct txn_fields {
    hf_txn_id txn; /* HF_NONE: no "ops" yet */
    bool has_session, has_id, has_times, has_ts, has_outcome, other;
    bool users; /* fields that are not ours */
    hf_session_id session;
    hf_outcome outcome;
    uint8_t level;
    int64_t id;
    uint64_t begin, end, start_ts, commit_ts;
    const char *snapshot; /* where it stands */
} txn_fields;

static bool read_ops(hf_text_reader *r, txn_fields *f)
{
    hf_json_in *j = &r->j;

    if (f->txn != HF_NONE)
        return hf_json_in_fail(j, "\"ops\" is there twice");
    f->txn = hf_builder_txn(r->b, 0);
    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        if (!hf_text_op(r, f->txn))
            return false;
    }
    return !j->failed;
}

static bool read_session(hf_text_reader *r, txn_fields *f)
{
    hf_scalar s;

    if (!hf_json_in_scalar(&r->j, &s))
        return false;
    if (s.type == HF_INT)
        f->session = hf_builder_session_number(r->b, s.number);
    else if (s.type == HF_TEXT)
        f->session = hf_builder_session_text(r->b, s.text, s.length);
    else
        return hf_json_in_fail(&r->j,
                               "expected a number or a string as session");
    f->has_session = true;
    return true;
}

static bool read_outcome(hf_text_reader *r, txn_fields *f)
{
    char quoted[48];
    hf_str name;

    if (!hf_json_in_string(&r->j, &name))
        return false;
    for (int i = 0; i < HF_OUTCOME_COUNT; i++)
        if (is(name, hf_outcome_name((hf_outcome)i))) {
            f->outcome = (hf_outcome)i;
            f->has_outcome = true;
            return true;
        }
    return hf_json_in_fail(
        &r->j,
        "expected \"committed\", \"aborted\" or \"unknown\", found \"%s\"",
        hf_quote(quoted, sizeof(quoted), name.ptr, name.len));
}

static bool read_level(hf_text_reader *r, txn_fields *f)
{
    char quoted[48];
    const char *near = NULL;
    hf_level level;
    hf_str name;

    if (!hf_json_in_string(&r->j, &name))
        return false;
    if (hf_level_find(name, &level, &near)) {
        f->level = (uint8_t)level;
        return true;
    }
    return hf_json_in_fail(&r->j, "unknown level \"%s\"%s%s%s",
                           hf_quote(quoted, sizeof(quoted), name.ptr, name.len),
                           near ? ", did you mean \"" : "", near ? near : "",
                           near ? "\"" : "");
}

static bool read_header(hf_text_reader *r)
{
    int64_t version;

    if (!hf_json_in_int(&r->j, &version))
        return false;
    if (version != 1)
        return hf_json_in_fail(&r->j,
                               "this is version %lld of the format, known is 1",
                               (long long)version);
    return true;
}

static bool read_time_unit(hf_text_reader *r)
{
    hf_str unit;

    if (!hf_json_in_string(&r->j, &unit))
        return false;
    if (is(unit, "ns"))
        hf_builder_time_unit(r->b, HF_TIME_UNIT_NS);
    else if (is(unit, "events"))
        hf_builder_time_unit(r->b, HF_TIME_UNIT_EVENT);
    else
        return hf_json_in_fail(&r->j, "expected \"ns\" or \"events\"");
    return true;
}

static bool read_initial(hf_text_reader *r)
{
    hf_json_in *j = &r->j;

    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        hf_key_id key;
        hf_value_id value;

        if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j) ||
            !hf_text_key(r, &key) || !hf_json_in_next_item(j) ||
            !hf_text_value(r, key, &value) || hf_json_in_next_item(j) ||
            j->failed)
            return hf_json_in_fail(j, "expected [key, value]");
        hf_builder_initial(r->b, key, value);
    }
    return !j->failed;
}

/* [id, id, ...] */
static bool read_numbers(hf_text_reader *r, bool serial, hf_key_id key)
{
    hf_json_in *j = &r->j;
    bool empty = true;

    if (!hf_json_in_open(j, '['))
        return false;
    while (hf_json_in_next_item(j)) {
        hf_pending p = {.where = key, .line = r->line};

        if (!hf_json_in_int(j, &p.number))
            return false;
        empty = false;
        if (serial)
            hf_vec_push(&r->serial, p);
        else
            hf_vec_push(&r->order, p);
    }
    if (empty && serial)
        hf_builder_empty_serial(r->b);
    else if (empty)
        hf_builder_empty_order(r->b, key);
    return !j->failed;
}

static bool read_order(hf_text_reader *r)
{
    hf_json_in *j = &r->j;
    hf_key_id key;

    if (!hf_json_in_open(j, '[') || !hf_json_in_next_item(j) ||
        !hf_text_key(r, &key) || !hf_json_in_next_item(j) ||
        !read_numbers(r, false, key) || hf_json_in_next_item(j))
        return hf_json_in_fail(j, "expected [key, [id, id, ...]]");
    return !j->failed;
}

/* Whether a version order names every writer of its key. */
static bool read_orders(hf_text_reader *r)
{
    hf_str text;

    if (!hf_json_in_string(&r->j, &text))
        return false;
    if (!is(text, "partial") && !is(text, "complete"))
        return hf_json_in_fail(&r->j,
                               "orders must be \"complete\" or \"partial\"");
    hf_builder_partial_orders(r->b, is(text, "partial"));
    return true;
}

static bool other_field(hf_text_reader *r, txn_fields *f, hf_str name)
{
    bool promise, other = f->other;
    hf_str text;

    if (hf_str_starts(name, HF_STR("x-"))) {
        f->users = true; /* on any line */
        return hf_text_unknown_field(r, name, "a line");
    }
    f->other = true;
    if (is(name, "holdfast"))
        return read_header(r);
    if (is(name, "name")) {
        if (!hf_json_in_string(&r->j, &text))
            return false;
        hf_builder_name(r->b, text.ptr, text.len);
        return true;
    }
    if (is(name, "time"))
        return read_time_unit(r);
    if (is(name, "unique")) {
        if (!hf_json_in_bool(&r->j, &promise))
            return false;
        hf_builder_unique_values(r->b, promise);
        return true;
    }
    if (is(name, "orders"))
        return read_orders(r);
    if (r->is_part && is(name, "more")) {
        f->other = other; /* of a transaction; who asks for lines knows */
        return hf_json_in_bool(&r->j, &promise);
    }
    if (is(name, "initial"))
        return read_initial(r);
    if (is(name, "order"))
        return read_order(r);
    if (is(name, "serial"))
        return read_numbers(r, true, 0);
    return hf_text_unknown_field(r, name, "a line");
}

static bool line_field(hf_text_reader *r, txn_fields *f, hf_str name)
{
    hf_json_in *j = &r->j;

    if (is(name, "ops"))
        return read_ops(r, f);
    if (is(name, "session"))
        return read_session(r, f);
    if (is(name, "outcome"))
        return read_outcome(r, f);
    if (is(name, "begin"))
        return f->has_times = true, hf_json_in_uint(j, &f->begin);
    if (is(name, "end"))
        return f->has_times = true, hf_json_in_uint(j, &f->end);
    if (is(name, "level"))
        return read_level(r, f);
    if (is(name, "id"))
        return f->has_id = true, hf_json_in_int(j, &f->id);
    if (is(name, "start_ts"))
        return f->has_ts = true, hf_json_in_uint(j, &f->start_ts);
    if (is(name, "commit_ts"))
        return f->has_ts = true, hf_json_in_uint(j, &f->commit_ts);
    if (is(name, "snapshot")) {
        (void)hf_json_in_peek(j);
        f->snapshot = j->at;
        return hf_json_in_skip(j, NULL);
    }
    return other_field(r, f, name);
}

/* The snapshot of all predicate operations that have none of their own. */
static bool place_snapshot(hf_text_reader *r, const txn_fields *f)
{
    const hf_history *h = r->b->h;
    const char *back = r->j.at;
    hf_scalar snapshot;

    if (!f->snapshot)
        return true;
    r->j.at = f->snapshot;
    if (!hf_text_snapshot(r, &snapshot))
        return false;
    r->j.at = back;
    for (hf_op_id op = h->op_first[f->txn]; op < h->n_ops; op++)
        if (hf_op_has_predicate(hf_op_kind_of(h, op)))
            hf_builder_snapshot(r->b, op, snapshot);
    hf_arena_reset(&r->scratch);
    return true;
}

static void place_staged(hf_text_reader *r)
{
    for (size_t i = 0; i < r->staged.n; i++) {
        hf_staged *s = &r->staged.at[i];
        hf_value_id value = hf_builder_int(r->b, s->key, s->number);

        if (!hf_builder_failed(r->b))
            r->b->h->op_value[s->op] = value;
    }
    r->staged.n = 0;
}

static bool note_id(hf_text_reader *r, const txn_fields *f)
{
    const hf_history *h = r->b->h;

    if (!f->has_id) {
        if (r->has_ids)
            return hf_json_in_fail(&r->j,
                                   "this transaction has no \"id\", others "
                                   "have");
        return true;
    }
    if (!r->has_ids && f->txn > 0)
        return hf_json_in_fail(
            &r->j, "this transaction has an \"id\", others have none");
    r->has_ids = true;
    if (f->txn > 0 && hf_txn_label(h, f->txn - 1) >= f->id)
        r->ids_rise = false;
    if (f->id != (int64_t)f->txn + 1 || h->txn_label)
        hf_builder_label(r->b, f->txn, f->id);
    return true;
}

/* A transaction that says ["abort"] aborted; nothing follows its end. */
static bool settle_outcome(hf_text_reader *r, txn_fields *f)
{
    const hf_history *h = r->b->h;

    for (hf_op_id op = h->op_first[f->txn]; op < h->n_ops; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        bool failed = (hf_op_flags_of(h, op) & HF_OP_FAILED) != 0;

        if ((kind != HF_OP_COMMIT && kind != HF_OP_ABORT) || failed)
            continue;
        if (op + 1 < h->n_ops)
            return hf_json_in_fail(&r->j, "an operation comes after %s",
                                   hf_op_kind_name(kind));
        if (kind == HF_OP_COMMIT)
            continue;
        if (f->has_outcome && f->outcome == HF_COMMITTED)
            return hf_json_in_fail(
                &r->j, "a transaction aborts, but its outcome is committed");
        if (!f->has_outcome)
            f->outcome = HF_ABORTED;
    }
    return true;
}

static bool finish_line(hf_text_reader *r, txn_fields *f)
{
    hf_builder *b = r->b;

    if (f->txn == HF_NONE) {
        if (f->has_session || f->has_id || f->has_times || f->has_ts ||
            f->snapshot || !(f->other || f->users))
            return hf_json_in_fail(&r->j, "expected \"ops\" in the line");
        return true;
    }
    if (f->other)
        return hf_json_in_fail(&r->j,
                               "a transaction and something else on one line");
    if (f->begin != HF_TIME_NONE && f->end != HF_TIME_NONE &&
        f->begin > f->end && !r->is_part)
        return hf_json_in_fail(&r->j, "a transaction ends before it begins");
    place_staged(r);
    if (hf_builder_failed(b))
        return true; /* finish reports it */
    if (!settle_outcome(r, f) || !place_snapshot(r, f))
        return false;
    b->h->txn_session[f->txn] =
        f->has_session ? f->session : hf_builder_session_fresh(b);
    hf_builder_outcome(b, f->txn, f->outcome);
    if (f->level != HF_LEVEL_UNSET)
        hf_builder_level(b, f->txn, f->level);
    if (f->has_times)
        hf_builder_times(b, f->txn, f->begin, f->end);
    if (f->has_ts)
        hf_builder_timestamps(b, f->txn, f->start_ts, f->commit_ts);
    hf_builder_line(b, f->txn, r->line);
    return note_id(r, f);
}

static bool read_line(hf_text_reader *r)
{
    txn_fields f = {.txn = HF_NONE,
                    .outcome = HF_COMMITTED,
                    .level = HF_LEVEL_UNSET,
                    .begin = HF_TIME_NONE,
                    .end = HF_TIME_NONE,
                    .start_ts = HF_TIME_NONE,
                    .commit_ts = HF_TIME_NONE};
    hf_str name;

    if (!hf_json_in_open(&r->j, '{'))
        return false;
    while (hf_json_in_next_key(&r->j, &name))
        if (!line_field(r, &f, name))
            return false;
    return !r->j.failed && finish_line(r, &f);
}

/* ---- numbers of transactions --------------------------------------------- */

static bool index_ids(hf_text_reader *r, hf_error *err)
{
    const hf_history *h = r->b->h;

    if (!r->has_ids || r->ids_rise)
        return true;
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        int64_t id = hf_txn_label(h, t);

        if (hf_map_add(&r->ids, (uint64_t)id, t) != t) {
            (void)hf_fail_line(err, h->txn_line ? h->txn_line[t] : 0,
                               "the id %lld is there twice", (long long)id);
            return false;
        }
    }
    return true;
}

static hf_txn_id find_id(const hf_text_reader *r, int64_t id)
{
    const hf_history *h = r->b->h;
    uint32_t low = 0, high = h->n_txns;

    if (!r->has_ids)
        return id >= 1 && (uint64_t)id <= h->n_txns ? (hf_txn_id)(id - 1)
                                                    : HF_NONE;
    if (!r->ids_rise)
        return hf_map_get(&r->ids, (uint64_t)id);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (hf_txn_label(h, middle) <= id)
            low = middle;
        else
            high = middle;
    }
    return h->n_txns > 0 && hf_txn_label(h, low) == id ? low : HF_NONE;
}

static hf_status no_such_id(const hf_pending *p, hf_error *err)
{
    return hf_fail_line(err, p->line, "there is no transaction with id %lld",
                        (long long)p->number);
}

static hf_status resolve(hf_text_reader *r, hf_error *err)
{
    if (!r->is_part && !index_ids(r, err))
        return HF_ERR_INPUT;
    for (size_t i = 0; i < r->writers.n && r->is_part; i++)
        r->b->extra.at[r->writers.at[i].where] = HF_NONE;
    if (r->is_part)
        return HF_OK;
    for (size_t i = 0; i < r->order.n; i++) {
        hf_txn_id t = find_id(r, r->order.at[i].number);

        if (t == HF_NONE)
            return no_such_id(&r->order.at[i], err);
        hf_builder_order(r->b, (hf_key_id)r->order.at[i].where, t);
    }
    for (size_t i = 0; i < r->serial.n; i++) {
        hf_txn_id t = find_id(r, r->serial.at[i].number);

        if (t == HF_NONE)
            return no_such_id(&r->serial.at[i], err);
        hf_builder_serial(r->b, t);
    }
    for (size_t i = 0; i < r->writers.n; i++) {
        const hf_pending *p = &r->writers.at[i];
        hf_txn_id t = find_id(r, p->number);

        if (t == HF_NONE && p->number == 0)
            t = HF_WRITER_INITIAL;
        if (t == HF_NONE)
            return no_such_id(p, err);
        r->b->extra.at[p->where] = t;
    }
    return HF_OK;
}

/* ---- the whole ----------------------------------------------------------- */

static void count_lines(hf_text_reader *r)
{
    const char *p = r->counted;

    while (p < r->j.at &&
           (p = memchr(p, '\n', (size_t)(r->j.at - p))) != NULL) {
        r->line++;
        p++;
    }
    r->counted = r->j.at;
}

static void release(hf_text_reader *r)
{
    hf_json_in_release(&r->j);
    hf_vec_release(&r->staged);
    hf_vec_release(&r->order);
    hf_vec_release(&r->serial);
    hf_vec_release(&r->writers);
    hf_vec_release(&r->versions);
    hf_vec_release(&r->version_ids);
    hf_vec_release(&r->rows);
    hf_vec_release(&r->row_ids);
    hf_vec_release(&r->columns);
    hf_vec_release(&r->params);
    hf_vec_release(&r->cells);
    hf_arena_release(&r->scratch);
    hf_map_release(&r->ids);
}

static hf_status read_all(hf_text_reader *r, size_t length, hf_error *err)
{
    const char *text = r->counted;
    hf_builder *b = r->b;
    hf_status st = HF_OK;

    hf_json_in_init(&r->j, text, length);
    r->j.first_line = r->line;
    hf_arena_init(&r->scratch);
    hf_map_init(&r->ids);
    hf_builder_expect(b, length / 24, length / 128, length / 64);
    while (hf_json_in_peek(&r->j) != 0 && !hf_builder_failed(b)) {
        count_lines(r);
        if (!read_line(r))
            break;
        if (b->h->n_txns % 1024 == 0)
            hf_budget_progress(b->budget, "reading", (uint64_t)(r->j.at - text),
                               length);
    }
    if (r->j.failed) {
        if (err)
            *err = r->j.err;
        st = HF_ERR_INPUT;
    } else if (!hf_builder_failed(b)) {
        st = resolve(r, err);
    }
    release(r);
    return st;
}

hf_status hf_text_read(const char *text, size_t length, hf_builder *b,
                       hf_error *err)
{
    hf_text_reader r = {.b = b, .line = 1, .counted = text, .ids_rise = true};

    return read_all(&r, length, err);
}

hf_status hf_text_read_lines(const char *text, size_t length, uint64_t line,
                             hf_builder *b, hf_error *err)
{
    hf_text_reader r = {.b = b,
                        .line = line,
                        .counted = text,
                        .ids_rise = true,
                        .is_part = true};

    b->any_times = true;
    return read_all(&r, length, err);
}

/* jepsen.c: reading events and pairing them into transactions.
 *
 * Each event costs a look-up of its session; nothing else is hashed unless
 * processes are missing.  Linear in the file.
 */
#include "formats/jepsen.h"

#include <stdlib.h>

#define NO_ENTRY (UINT32_MAX - 1)

/* ---- reading events ------------------------------------------------------ */

void hf_jepsen_open(hf_jepsen_file *file, bool json, hf_str text)
{
    hf_jread_init(&file->r, json, text.ptr, text);
    file->is_started = file->is_wrapped = false;
    file->is_type_optional = false;
}

void hf_jepsen_close(hf_jepsen_file *file)
{
    hf_jread_release(&file->r);
}

hf_jepsen_f hf_jepsen_f_of(hf_str name)
{
    static const char *const names[HF_F_OTHER] = {
        [HF_F_MISSING] = "",          [HF_F_TXN] = "txn",
        [HF_F_READ] = "read",         [HF_F_WRITE] = "write",
        [HF_F_CAS] = "cas",           [HF_F_ADD] = "add",
        [HF_F_TRANSFER] = "transfer", [HF_F_ACQUIRE] = "acquire",
        [HF_F_RELEASE] = "release",   [HF_F_ENQUEUE] = "enqueue",
        [HF_F_DEQUEUE] = "dequeue",   [HF_F_DRAIN] = "drain",
    };

    for (int i = HF_F_TXN; i < HF_F_OTHER; i++)
        if (hf_str_eq(name, hf_str_of(names[i])))
            return (hf_jepsen_f)i;
    return HF_F_OTHER;
}

static bool read_type(hf_jread *r, hf_jepsen_event *e)
{
    hf_str name;

    if (hf_jread_peek(r) != HF_J_TEXT)
        return hf_jread_expected(r, "invoke, ok, fail or info");
    if (!hf_jread_name(r, &name))
        return false;
    e->has_type = true;
    if (hf_str_eq(name, HF_STR("invoke")))
        e->type = HF_JEPSEN_INVOKE;
    else if (hf_str_eq(name, HF_STR("ok")))
        e->type = HF_JEPSEN_OK;
    else if (hf_str_eq(name, HF_STR("fail")))
        e->type = HF_JEPSEN_FAIL;
    else if (hf_str_eq(name, HF_STR("info")))
        e->type = HF_JEPSEN_INFO;
    else
        return hf_jread_expected(r, "invoke, ok, fail or info before this");
    return true;
}

static bool read_process(hf_jread *r, hf_jepsen_event *e)
{
    hf_jkind kind = hf_jread_peek(r);

    if (kind == HF_J_INT) {
        e->has_process = true;
        return hf_jread_int(r, &e->process);
    }
    if (kind == HF_J_NIL)
        return hf_jread_nil(r);
    e->is_client = false;
    return hf_jread_skip(r, NULL);
}

/* An integer, or anything else, which counts as missing. */
static bool read_number(hf_jread *r, int64_t *number, bool *has)
{
    *has = hf_jread_peek(r) == HF_J_INT;
    return *has ? hf_jread_int(r, number) : hf_jread_skip(r, NULL);
}

static bool read_f(hf_jread *r, hf_jepsen_event *e)
{
    if (hf_jread_peek(r) != HF_J_TEXT) {
        e->f = hf_jread_peek(r) == HF_J_NIL ? HF_F_MISSING : HF_F_OTHER;
        return hf_jread_skip(r, &e->f_name);
    }
    if (!hf_jread_name(r, &e->f_name))
        return false;
    e->f = (uint8_t)hf_jepsen_f_of(e->f_name);
    return true;
}

static bool read_pair(hf_jread *r, hf_scalar key, hf_jepsen_event *e)
{
    if (hf_scalar_is(key, "type"))
        return read_type(r, e);
    if (hf_scalar_is(key, "process"))
        return read_process(r, e);
    if (hf_scalar_is(key, "f"))
        return read_f(r, e);
    if (hf_scalar_is(key, "value"))
        return hf_jread_skip(r, &e->value);
    if (hf_scalar_is(key, "time"))
        return read_number(r, &e->time, &e->has_time);
    if (hf_scalar_is(key, "index"))
        return read_number(r, &e->index, &e->has_index);
    if (hf_scalar_is(key, "position") || hf_scalar_is(key, "link"))
        e->has_position = true;
    return hf_jread_skip(r, NULL);
}

/* Stands before the next map?  Deals with the brackets around all. */
static bool find_map(hf_jepsen_file *file)
{
    hf_jread *r = &file->r;
    hf_jkind kind = hf_jread_peek(r);

    if (!file->is_started && kind == HF_J_SEQ) {
        file->is_wrapped = true;
        if (!hf_jread_open(r, HF_J_SEQ))
            return false;
    }
    file->is_started = true;
    if (file->is_wrapped) {
        if (hf_jread_next(r))
            return true;
        file->is_wrapped = false; /* the end: nothing may follow */
        if (!hf_jread_failed(r) && hf_jread_at(r) &&
            (hf_jread_peek(r) != HF_J_END ||
             hf_jread_at(r) < (r->json ? r->u.in.end : r->u.edn.end)))
            (void)hf_jread_expected(r, "the end of the input");
        return false;
    }
    if (kind == HF_J_END && !hf_jread_failed(r) &&
        hf_jread_at(r) < (r->json ? r->u.in.end : r->u.edn.end))
        return hf_jread_expected(r, "a map"); /* a bracket too many */
    return kind != HF_J_END;
}

bool hf_jepsen_next(hf_jepsen_file *file, hf_jepsen_event *ret_event)
{
    hf_jread *r = &file->r;
    hf_jepsen_event e = {.is_client = true};
    hf_scalar key;

    if (!find_map(file))
        return false;
    if (hf_jread_peek(r) != HF_J_MAP)
        return hf_jread_expected(r, "the map of an event");
    e.at = hf_jread_at(r);
    if (!hf_jread_open(r, HF_J_MAP))
        return false;
    while (hf_jread_next_key(r, &key))
        if (!read_pair(r, key, &e))
            return false;
    if (hf_jread_failed(r))
        return false;
    if (!e.has_type && !file->is_type_optional)
        return hf_jread_expected(r, "a type in the event before this");
    if (!e.has_type)
        e.type = HF_JEPSEN_OK;
    *ret_event = e;
    return true;
}

/* ---- life ---------------------------------------------------------------- */

void hf_jepsen_init(hf_jepsen *j, const hf_input *in, hf_builder *b, bool json,
                    hf_error *err)
{
    *j = (hf_jepsen){.b = b,
                     .in = in,
                     .err = err,
                     .json = json,
                     .times_rise = true,
                     .labels_rise = true,
                     .last_time = -1,
                     .last_index = INT64_MIN,
                     .line_at = in->text,
                     .line = 1};
    hf_map_init(&j->anonymous_first);
    hf_map_init(&j->anonymous_last);
}

void hf_jepsen_release(hf_jepsen *j)
{
    hf_vec_release(&j->open);
    hf_vec_release(&j->open_ordinal);
    hf_vec_release(&j->anonymous);
    hf_vec_release(&j->anonymous_ordinal);
    hf_vec_release(&j->anonymous_next);
    hf_vec_release(&j->times);
    hf_map_release(&j->anonymous_first);
    hf_map_release(&j->anonymous_last);
}

void hf_jepsen_value(const hf_jepsen *j, hf_jread *r, hf_str value)
{
    hf_jread_init(r, j->json, j->in->text, value);
}

hf_status hf_jepsen_value_done(const hf_jepsen *j, hf_jread *r)
{
    hf_status st = HF_OK;

    if (hf_jread_failed(r)) {
        st = HF_ERR_INPUT;
        if (j->err)
            *j->err = *hf_jread_error(r);
    }
    hf_jread_release(r);
    return st;
}

hf_status hf_jepsen_refuse(const hf_jepsen *j, const hf_jepsen_event *e,
                           const char *text)
{
    return hf_fail_line(j->err, e->line, "%s", text);
}

/* ---- transactions -------------------------------------------------------- */

/* Either event may be NULL; ordinals are HF_TIME_NONE with it. */
static hf_status add_txn(hf_jepsen *j, hf_session_id session,
                         const hf_jepsen_event *invocation, uint64_t begin,
                         const hf_jepsen_event *completion, uint64_t end)
{
    static const hf_outcome outcomes[HF_JEPSEN_TYPE_COUNT] = {
        [HF_JEPSEN_INVOKE] = HF_UNKNOWN_OUTCOME,
        [HF_JEPSEN_OK] = HF_COMMITTED,
        [HF_JEPSEN_FAIL] = HF_ABORTED,
        [HF_JEPSEN_INFO] = HF_UNKNOWN_OUTCOME};
    const hf_jepsen_event *last = completion ? completion : invocation;
    hf_jepsen_done done = {invocation, completion, HF_UNKNOWN_OUTCOME};
    hf_jepsen_times times = {.begin = begin, .end = end};
    hf_txn_id t = hf_builder_txn(j->b, session);

    if (!last)
        HF_BUG("a transaction without an event");
    done.outcome = outcomes[last->type];
    if (hf_builder_failed(j->b))
        return HF_OK; /* hf_builder_finish() reports it */
    hf_builder_outcome(j->b, t, done.outcome);
    hf_builder_line(j->b, t, last->line);
    times.begin_ns = invocation ? invocation->time : 0;
    times.end_ns = completion ? completion->time : 0;
    times.label = last->index;
    if (done.outcome == HF_UNKNOWN_OUTCOME)
        times.end = HF_TIME_NONE;
    hf_vec_push(&j->times, times);
    return j->emit(j, t, &done);
}

static hf_status bare_completion(hf_jepsen *j, const hf_jepsen_event *e)
{
    hf_session_id session;

    if (j->any_invoke)
        return hf_jepsen_refuse(j, e,
                                "a completion without an invocation before it");
    j->any_bare = true;
    session = e->has_process ? hf_builder_session_number(j->b, e->process)
                             : hf_builder_session_fresh(j->b);
    return add_txn(j, session, NULL, HF_TIME_NONE, e, HF_TIME_NONE);
}

/* ---- events with a process ----------------------------------------------- */

static hf_status second_invocation(const hf_jepsen *j,
                                   const hf_jepsen_event *first,
                                   const hf_jepsen_event *second)
{
    return hf_fail_line(
        j->err, second->line,
        "process %lld invokes again before its operation of line %llu "
        "completed",
        (long long)second->process, (unsigned long long)first->line);
}

static hf_status feed_process(hf_jepsen *j, const hf_jepsen_event *e)
{
    hf_session_id s = hf_builder_session_number(j->b, e->process);
    hf_jepsen_event *open;

    if (hf_builder_failed(j->b))
        return HF_OK;
    while (j->open.n <= s) {
        hf_vec_push(&j->open, (hf_jepsen_event){.at = NULL});
        hf_vec_push(&j->open_ordinal, 0);
    }
    open = &j->open.at[s];
    if (e->type == HF_JEPSEN_INVOKE) {
        if (open->at)
            return second_invocation(j, open, e);
        *open = *e;
        j->open_ordinal.at[s] = j->n_events;
        return HF_OK;
    }
    if (open->at) {
        hf_status st =
            add_txn(j, s, open, j->open_ordinal.at[s], e, j->n_events);

        j->open.at[s].at = NULL;
        return st;
    }
    return bare_completion(j, e);
}

/* ---- events without a process -------------------------------------------- */

static uint64_t hash_text(uint64_t hash, hf_str s)
{
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

/* One micro-operation: function and key, and the value unless it is a read. */
static uint64_t hash_micro_op(hf_jread *r, uint64_t hash)
{
    hf_str part;
    bool is_read = false;

    if (!hf_jread_open(r, HF_J_SEQ))
        return hash;
    for (unsigned i = 0; hf_jread_next(r); i++) {
        if (!hf_jread_skip(r, &part))
            break;
        if (i == 0)
            is_read = part.len > 1 && (part.ptr[1] == 'r');
        if (i < 2 || !is_read)
            hash = hash_text(hash, part);
    }
    return hash_text(hash, HF_STR("/"));
}

/* What an invocation and its completion have in common. */
static uint64_t fingerprint(const hf_jepsen *j, const hf_jepsen_event *e)
{
    uint64_t hash = 0xcbf29ce484222325u + e->f;
    hf_jread r;
    hf_str text;

    if (!e->value.ptr || e->f == HF_F_READ)
        return hash;
    hf_jepsen_value(j, &r, e->value);
    if (hf_jread_peek(&r) != HF_J_SEQ) {
        if (hf_jread_skip(&r, &text))
            hash = hash_text(hash, text);
    } else if (hf_jread_open(&r, HF_J_SEQ)) {
        while (hf_jread_next(&r)) {
            if (hf_jread_peek(&r) == HF_J_SEQ)
                hash = hash_micro_op(&r, hash);
            else if (hf_jread_skip(&r, &text))
                hash = hash_text(hash, text);
        }
    }
    hf_jread_release(&r);
    return hash;
}

static void open_anonymous(hf_jepsen *j, const hf_jepsen_event *e)
{
    uint64_t print = fingerprint(j, e);
    uint32_t id = (uint32_t)j->anonymous.n;
    uint32_t first = hf_map_get(&j->anonymous_first, print);

    if (id >= NO_ENTRY)
        return;
    hf_vec_push(&j->anonymous, *e);
    hf_vec_push(&j->anonymous_ordinal, j->n_events);
    hf_vec_push(&j->anonymous_next, NO_ENTRY);
    if (first == UINT32_MAX || first == NO_ENTRY)
        hf_map_set(&j->anonymous_first, print, id);
    else
        j->anonymous_next.at[hf_map_get(&j->anonymous_last, print)] = id;
    hf_map_set(&j->anonymous_last, print, id);
}

static hf_status feed_anonymous(hf_jepsen *j, const hf_jepsen_event *e)
{
    hf_jepsen_event invocation;
    uint64_t print;
    uint32_t id;

    if (e->type == HF_JEPSEN_INVOKE) {
        open_anonymous(j, e);
        return HF_OK;
    }
    print = fingerprint(j, e);
    id = hf_map_get(&j->anonymous_first, print);
    if (id == UINT32_MAX || id == NO_ENTRY)
        return bare_completion(j, e);
    hf_map_set(&j->anonymous_first, print, j->anonymous_next.at[id]);
    invocation = j->anonymous.at[id];
    j->anonymous.at[id].at = NULL;
    return add_txn(j, hf_builder_session_fresh(j->b), &invocation,
                   j->anonymous_ordinal.at[id], e, j->n_events);
}

/* ---- the whole ----------------------------------------------------------- */

hf_status hf_jepsen_feed(hf_jepsen *j, hf_jepsen_event *e)
{
    j->line += hf_line_of(j->line_at, e->at) - 1;
    j->line_at = e->at;
    e->line = j->line;
    if (!e->is_client) {
        hf_builder_skip(j->b, 1);
        return HF_OK;
    }
    if (!e->has_time || e->time <= j->last_time)
        j->times_rise = false;
    if (!e->has_index || e->index <= j->last_index)
        j->labels_rise = false;
    j->last_time = e->time;
    j->last_index = e->index;
    j->n_events++;
    if (e->type == HF_JEPSEN_INVOKE) {
        if (j->any_bare)
            return hf_jepsen_refuse(
                j, e, "an invocation in a file that began with completions");
        j->any_invoke = true;
    }
    return e->has_process ? feed_process(j, e) : feed_anonymous(j, e);
}

typedef struct leftover {
    uint64_t ordinal;
    hf_session_id session; /* HF_NONE: without a process */
    const hf_jepsen_event *event;
} leftover;

static int by_ordinal(const void *a, const void *b)
{
    uint64_t x = ((const leftover *)a)->ordinal;
    uint64_t y = ((const leftover *)b)->ordinal;

    return x < y ? -1 : x > y;
}

static hf_status add_leftovers(hf_jepsen *j)
{
    HF_VEC(leftover) rest = {0};
    hf_status st = HF_OK;

    for (size_t s = 0; s < j->open.n; s++)
        if (j->open.at[s].at)
            hf_vec_push(&rest, (leftover){j->open_ordinal.at[s],
                                          (hf_session_id)s, &j->open.at[s]});
    for (size_t i = 0; i < j->anonymous.n; i++)
        if (j->anonymous.at[i].at)
            hf_vec_push(&rest, (leftover){j->anonymous_ordinal.at[i], HF_NONE,
                                          &j->anonymous.at[i]});
    if (rest.n > 0)
        qsort(rest.at, rest.n, sizeof(*rest.at), by_ordinal);
    for (size_t i = 0; i < rest.n && st == HF_OK; i++) {
        hf_session_id s = rest.at[i].session;

        if (s == HF_NONE)
            s = hf_builder_session_fresh(j->b);
        st = add_txn(j, s, rest.at[i].event, rest.at[i].ordinal, NULL,
                     HF_TIME_NONE);
    }
    hf_vec_release(&rest);
    return st;
}

static void set_times(hf_jepsen *j)
{
    if (!j->any_invoke)
        return;
    hf_builder_time_unit(j->b,
                         j->times_rise ? HF_TIME_UNIT_NS : HF_TIME_UNIT_EVENT);
    for (size_t t = 0; t < j->times.n; t++) {
        hf_jepsen_times x = j->times.at[t];

        if (j->times_rise) {
            x.begin = (uint64_t)x.begin_ns;
            if (x.end != HF_TIME_NONE)
                x.end = (uint64_t)x.end_ns;
        }
        hf_builder_times(j->b, (hf_txn_id)t, x.begin, x.end);
    }
}

hf_status hf_jepsen_finish(hf_jepsen *j)
{
    hf_status st = add_leftovers(j);

    if (st != HF_OK)
        return st;
    if (j->n_events == 0)
        return hf_fail(j->err, HF_ERR_INPUT,
                       "expected the events of a history, found none of a "
                       "client");
    set_times(j);
    for (size_t t = 0; j->labels_rise && t < j->times.n; t++)
        hf_builder_label(j->b, (hf_txn_id)t, j->times.at[t].label);
    return HF_OK;
}

hf_status hf_jepsen_import(hf_jepsen *j)
{
    hf_jepsen_file file;
    hf_jepsen_event e;
    hf_status st = HF_OK;

    hf_jepsen_open(&file, j->json, (hf_str){j->in->text, j->in->length});
    while (st == HF_OK && !hf_builder_failed(j->b) && hf_jepsen_next(&file, &e))
        st = hf_jepsen_feed(j, &e);
    if (st == HF_OK && hf_jread_failed(&file.r)) {
        st = HF_ERR_INPUT;
        if (j->err)
            *j->err = *hf_jread_error(&file.r);
    }
    hf_jepsen_close(&file);
    return st == HF_OK ? hf_jepsen_finish(j) : st;
}

/* ---- telling the formats apart ------------------------------------------- */

#define LOOK_BYTES ((size_t)64 << 10)
#define LOOK_EVENTS 200

/* A micro-operation begins with a name: r, w, append and so on. */
static void look_at_micro_op(hf_jread *r, hf_jepsen_look *look)
{
    hf_str name = {NULL, 0};
    unsigned parts = 0;

    if (!hf_jread_open(r, HF_J_SEQ))
        return;
    while (hf_jread_next(r)) {
        if (parts++ == 0 && hf_jread_peek(r) == HF_J_TEXT)
            (void)hf_jread_name(r, &name);
        else if (!hf_jread_skip(r, NULL))
            return;
    }
    if (hf_str_eq(name, HF_STR("range")) || hf_str_eq(name, HF_STR("i")) ||
        hf_str_eq(name, HF_STR("d")) ||
        (parts > 3 &&
         (hf_str_eq(name, HF_STR("r")) || hf_str_eq(name, HF_STR("w")))))
        look->viper++;
    else if (hf_str_eq(name, HF_STR("r")) || hf_str_eq(name, HF_STR("w")) ||
             hf_str_eq(name, HF_STR("append")))
        look->elle++;
    else
        look->other++;
}

static void look_at_value(const hf_jepsen_event *e, hf_jread *r,
                          hf_jepsen_look *look)
{
    unsigned parts = 0, nested = 0;

    if (e->f != HF_F_TXN && e->f != HF_F_MISSING &&
        (e->f != HF_F_READ && e->f != HF_F_WRITE)) {
        look->other++;
        return;
    }
    if (hf_jread_peek(r) != HF_J_SEQ) {
        if (e->f == HF_F_READ || e->f == HF_F_WRITE)
            look->other += hf_jread_peek(r) != HF_J_NIL;
        return;
    }
    if (!hf_jread_open(r, HF_J_SEQ))
        return;
    while (hf_jread_next(r)) {
        hf_jkind kind = hf_jread_peek(r);

        parts++;
        if (kind == HF_J_SEQ && e->f <= HF_F_TXN) {
            look_at_micro_op(r, look);
        } else if (!hf_jread_skip(r, NULL)) {
            return;
        }
        nested += kind == HF_J_SEQ || kind == HF_J_MAP || kind == HF_J_SET;
    }
    if (e->f == HF_F_READ || e->f == HF_F_WRITE) {
        if (parts == 2 && nested == 0)
            look->pairs++;
        else
            look->other++;
    } else if (parts > 0 && nested == 0) {
        look->other++;
    }
}

hf_jepsen_look hf_jepsen_look_at(const hf_input *in, bool json,
                                 bool type_optional)
{
    size_t length = in->length < LOOK_BYTES ? in->length : LOOK_BYTES;
    hf_jepsen_look look = {0};
    hf_jepsen_file file;
    hf_jepsen_event e;

    if (in->is_directory || length == 0)
        return look;
    hf_jepsen_open(&file, json, (hf_str){in->text, length});
    file.is_type_optional = type_optional;
    while (look.events < LOOK_EVENTS && hf_jepsen_next(&file, &e)) {
        look.events++;
        look.position += e.has_position;
        if (e.is_client && e.value.ptr) {
            hf_jread r;

            hf_jread_init(&r, json, in->text, e.value);
            look_at_value(&e, &r, &look);
            hf_jread_release(&r);
        }
    }
    hf_jepsen_close(&file);
    return look;
}

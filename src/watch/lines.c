/* lines.c: lines of other programs, as pieces of a history. */
#include "watch/lines.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json_in.h"
#include "history/text.h"

/* What a line is, by its fields. */
typedef struct line {
    hf_str text;
    bool has_ops, more, bye, has_now;
    uint64_t now;
    uint32_t session; /* UINT32_MAX: none named */
} line;

void hf_lines_hub_release(hf_lines_hub *hub)
{
    hf_vec_release(&hub->owners);
}

void hf_lines_init(hf_lines *l, hf_lines_hub *hub)
{
    *l = (hf_lines){
        .hub = hub, .number = ++hub->n_connections, .unit = HF_TIME_UNIT_NS};
}

void hf_lines_release(hf_lines *l)
{
    for (size_t i = 0; i < l->sessions.n; i++) {
        hf_watcher_gone(l->hub->watcher, l->sessions.at[i]);
        l->hub->owners.at[l->sessions.at[i]] = 0;
    }
    hf_vec_release(&l->sessions);
    hf_vec_release(&l->buffer);
}

static void bad(hf_lines *l, const hf_error *err)
{
    hf_watcher_hole(l->hub->watcher);
    if (l->hub->bad_lines++ > 0)
        return;
    l->hub->first_bad = *err;
    if (l->hub->is_file) {
        l->hub->first_bad.line = l->line;
        return;
    }
    hf_error_context(&l->hub->first_bad, "connection %u, line %llu", l->number,
                     (unsigned long long)l->line);
}

void hf_lines_refused(hf_lines_hub *hub)
{
    hf_lines l;
    hf_error err;

    hf_lines_init(&l, hub);
    (void)hf_fail(&err, HF_ERR_LIMIT, "there are too many connections");
    bad(&l, &err);
}

/* ---- sessions ------------------------------------------------------------ */

/* This connection's from now on; false: it is another's. */
static bool own(hf_lines *l, hf_str name, uint32_t *ret)
{
    uint32_t id = hf_watcher_session(l->hub->watcher, name);

    while (l->hub->owners.n <= id)
        hf_vec_push(&l->hub->owners, 0);
    *ret = id;
    if (l->hub->owners.at[id] == l->number)
        return true;
    if (l->hub->owners.at[id] != 0)
        return false;
    l->hub->owners.at[id] = l->number;
    hf_vec_push(&l->sessions, id);
    return true;
}

static bool take_session(hf_lines *l, hf_json_in *j, line *ret)
{
    char digits[24];
    hf_scalar s;
    hf_str name;

    if (!hf_json_in_scalar(j, &s))
        return false;
    name = (hf_str){s.text, s.length};
    if (s.type == HF_INT) {
        int n = snprintf(digits, sizeof digits, "%lld", (long long)s.number);

        name = (hf_str){digits, (size_t)n};
    } else if (s.type != HF_TEXT) {
        return hf_json_in_fail(j, "expected a number or a string as session");
    }
    if (!own(l, name, &ret->session))
        return hf_json_in_fail(j, "the session is another connection's");
    return true;
}

/* ---- lines --------------------------------------------------------------- */

static bool look_at_fields(hf_lines *l, hf_json_in *j, line *ret)
{
    hf_str key;

    if (!hf_json_in_open(j, '{'))
        return false;
    while (hf_json_in_next_key(j, &key)) {
        bool fine;

        if (hf_str_eq(key, HF_STR("session")))
            fine = take_session(l, j, ret);
        else if (hf_str_eq(key, HF_STR("more")))
            fine = hf_json_in_bool(j, &ret->more);
        else if (hf_str_eq(key, HF_STR("bye")))
            fine = hf_json_in_bool(j, &ret->bye);
        else if (hf_str_eq(key, HF_STR("now")))
            fine = ret->has_now = hf_json_in_uint(j, &ret->now);
        else {
            ret->has_ops |= hf_str_eq(key, HF_STR("ops"));
            fine = hf_json_in_skip(j, NULL);
        }
        if (!fine)
            return false;
    }
    if (ret->has_ops && (ret->has_now || ret->bye))
        return hf_json_in_fail(j, "a transaction and something else on one "
                                  "line");
    if ((ret->more || ret->has_now || ret->bye) && ret->session == UINT32_MAX)
        return hf_json_in_fail(j, "expected \"session\" in the line");
    return !j->failed;
}

static bool look_at(hf_lines *l, line *ret)
{
    hf_json_in j;
    bool fine;

    hf_json_in_init(&j, ret->text.ptr, ret->text.len);
    fine = look_at_fields(l, &j, ret);
    if (!fine) {
        j.err.line = 0;
        bad(l, &j.err);
    }
    hf_json_in_release(&j);
    return fine;
}

static bool take_history(hf_lines *l, const line *in)
{
    hf_builder *b = hf_builder_new();
    uint8_t more = in->more ? 1 : 0;
    hf_history *h = NULL;
    hf_error err;
    hf_status st;
    bool wanted;

    hf_builder_time_unit(b, l->unit);
    st = hf_text_read_lines(in->text.ptr, in->text.len, 1, b, &err);
    if (st == HF_OK)
        st = hf_builder_finish(b, &h, &err);
    else
        hf_builder_free(b);
    if (st != HF_OK) {
        err.line = 0;
        bad(l, &err);
        return true;
    }
    l->unit = h->time_unit;
    wanted = hf_watcher_parts(l->hub->watcher, h, &more);
    hf_history_free(h);
    return wanted;
}

static bool is_blank(hf_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] > ' ')
            return false;
    return true;
}

static bool take_line(hf_lines *l, hf_str text)
{
    line in = {.text = text, .session = UINT32_MAX};

    l->line++;
    if (is_blank(text) || !look_at(l, &in))
        return true;
    if (in.has_now)
        hf_watcher_alive(l->hub->watcher, in.session, in.now);
    else if (in.bye)
        hf_watcher_gone(l->hub->watcher, in.session);
    else
        return take_history(l, &in);
    return true;
}

/* ---- bytes --------------------------------------------------------------- */

static void keep(hf_lines *l, const char *bytes, size_t n)
{
    hf_error err;

    if (l->too_long || n == 0)
        return;
    if (l->buffer.n + n > HF_LINE_BYTES) {
        l->too_long = true;
        l->buffer.n = 0;
        l->line++;
        (void)hf_fail(&err, HF_ERR_INPUT, "the line is too long");
        bad(l, &err);
        return;
    }
    hf_vec_reserve(&l->buffer, n);
    memcpy(l->buffer.at + l->buffer.n, bytes, n);
    l->buffer.n += n;
}

bool hf_lines_feed(hf_lines *l, const char *bytes, size_t n)
{
    const char *end = bytes + n, *stop;
    bool wanted = true;

    while (wanted && (stop = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        hf_str whole = {bytes, (size_t)(stop - bytes)};

        if (l->buffer.n > 0 || l->too_long) {
            keep(l, bytes, whole.len);
            whole = (hf_str){l->buffer.at, l->buffer.n};
        }
        if (!l->too_long)
            wanted = take_line(l, whole);
        l->buffer.n = 0;
        l->too_long = false;
        bytes = stop + 1;
    }
    keep(l, bytes, (size_t)(end - bytes));
    return wanted;
}

void hf_lines_close(hf_lines *l)
{
    if (l->buffer.n > 0)
        (void)hf_lines_feed(l, "\n", 1);
    hf_lines_release(l);
}

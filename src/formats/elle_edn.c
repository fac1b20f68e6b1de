/* elle_edn.c: Elle's histories in EDN, as Jepsen writes them.
 *
 *     {:index 2, :type :ok, :process 3, :f :txn, :time 150,
 *      :value [[:r 5 [1 2]] [:append 6 1]]}
 *
 * Two readers.  The fast one is written for the usual shape: keywords and
 * integers, micro-operations [:r k v], [:w k v], [:append k v].  Where it
 * meets anything else it gives up the event without harm and the general
 * reader (jepsen.c, elle.c) takes it from its beginning, so that the fast one
 * never has to judge what is an error.
 *
 * The fast reader does not look for the end of the input: it runs only if
 * the last byte that is no white space is a closing bracket, at which every
 * one of its loops stops, and it looks for the end after each bracket.
 *
 * Invocations are checked but not interned: their values matter only if the
 * transaction's outcome stays unknown, and are read again then.  Lists are
 * read by comparing their text with the longest list known (elle.h).
 */
#include "formats/elle.h"

#include "formats/formats_all.h"
#include "formats/scan.h"

typedef struct fast {
    hf_elle *e;
    const char *end; /* after the last closing bracket */
    hf_edn skipper;  /* for what is only passed over */
    char closer;     /* of the bracket around all; 0: none */
} fast;

static inline bool is_blank(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r';
}

static inline const char *skip_blanks(const char *p)
{
    while (is_blank(*p))
        p++;
    return p;
}

static inline bool ends_token(char c)
{
    return is_blank(c) || c == ']' || c == '}' || c == '[' || c == ')';
}

/* An integer and the end of its token, or NULL. */
static inline const char *scan_int(const char *p, int64_t *ret_value)
{
    bool negative = *p == '-';
    uint64_t value;

    p += negative;
    if (!hf_scan_uint(&p, &value) || !ends_token(*p))
        return NULL;
    *ret_value = negative ? -(int64_t)value : (int64_t)value;
    return p;
}

/* The end of a keyword's name; p is after the colon. */
static inline const char *scan_name(const char *p)
{
    while ((*p >= 'a' && *p <= 'z') || *p == '-' || *p == '_' ||
           (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || *p == '/' ||
           *p == '.' || *p == '?' || *p == '!')
        p++;
    return p;
}

/* ---- micro-operations ---------------------------------------------------- */

/* Reads the third part of [:r k v]; keep: intern it. */
static inline const char *read_result(const fast *f, const char *p, bool keep,
                                      bool nil_counts, hf_elle_op *op)
{
    hf_elle *e = f->e;
    int64_t value;

    if (*p == ']')
        return p; /* not recorded */
    if (p[0] == 'n' && p[1] == 'i' && p[2] == 'l' && ends_token(p[3])) {
        if (keep && nil_counts) {
            op->kind = e->mode == HF_ELLE_LIST ? HF_OP_READ_LIST : HF_OP_READ;
            op->value = hf_builder_nil(e->j.b, op->key);
        }
        return p + 3;
    }
    if (*p == '[') {
        if (!keep || e->mode != HF_ELLE_LIST)
            return NULL;
        op->kind = HF_OP_READ_LIST;
        return hf_elle_list_text(e, op->key, p + 1, f->end, &op->value);
    }
    if (e->mode == HF_ELLE_LIST)
        return NULL;
    p = scan_int(p, &value);
    if (p && keep)
        op->value = hf_builder_int(e->j.b, op->key, value);
    return p;
}

static inline const char *read_key(const fast *f, const char *p, bool keep,
                                   hf_key_id *ret_key)
{
    hf_elle *e = f->e;
    const char *name;
    int64_t key;

    if (*p != ':') {
        p = scan_int(p, &key);
        if (p && keep)
            *ret_key = hf_builder_key_int(e->j.b, key);
        return p;
    }
    name = p + 1;
    p = scan_name(name);
    if (p == name || !ends_token(*p) ||
        (e->name_kind != ':' && e->name_kind != 0))
        return NULL;
    e->name_kind = ':';
    if (keep)
        *ret_key = hf_builder_key_text(e->j.b, name, (size_t)(p - name));
    return p;
}

/* One micro-operation; p is after its bracket. */
static inline const char *read_micro_op(fast *f, const char *p, bool keep,
                                        bool nil_counts)
{
    hf_elle *e = f->e;
    hf_elle_op op = {.kind = HF_OP_READ, .key = 0, .value = HF_NONE};
    int64_t value;

    p = skip_blanks(p);
    if (*p++ != ':')
        return NULL;
    if (*p == 'a' && p[1] == 'p' && p[2] == 'p' && p[3] == 'e' && p[4] == 'n' &&
        p[5] == 'd' && p[6] == ' ') {
        op.kind = HF_OP_APPEND;
        p += 7;
    } else if (*p == 'w' && p[1] == ' ') {
        op.kind = HF_OP_WRITE;
        p += 2;
    } else if (*p == 'r' && p[1] == ' ') {
        p += 2;
    } else {
        return NULL;
    }
    p = read_key(f, skip_blanks(p), keep, &op.key);
    if (!p)
        return NULL;
    p = skip_blanks(p);
    if (op.kind == HF_OP_READ) {
        p = read_result(f, p, keep, nil_counts, &op);
    } else {
        if ((op.kind == HF_OP_APPEND) != (e->mode == HF_ELLE_LIST))
            return NULL;
        p = scan_int(p, &value);
        if (p && keep)
            op.value = hf_builder_int(e->j.b, op.key, value);
    }
    if (!p || p >= f->end)
        return NULL;
    p = skip_blanks(p);
    if (*p != ']')
        return NULL;
    if (keep)
        hf_vec_push(&e->ops, op);
    return p + 1;
}

/* The micro-operations whose outer bracket is at p. */
static inline const char *read_value(fast *f, const char *p, bool keep,
                                     bool nil_counts)
{
    if (*p++ != '[')
        return NULL;
    if (keep)
        f->e->ops.n = 0;
    for (;;) {
        if (p >= f->end)
            return NULL;
        p = skip_blanks(p);
        if (*p == ']')
            return p + 1;
        if (*p != '[')
            return NULL;
        p = read_micro_op(f, p + 1, keep, nil_counts);
        if (!p)
            return NULL;
    }
}

/* ---- events -------------------------------------------------------------- */

static const char *read_type(const char *p, hf_jepsen_event *e)
{
    const char *name = p + 1;

    if (*p != ':')
        return NULL;
    p = scan_name(name);
    e->has_type = true;
    if (p - name == 6 && memcmp(name, "invoke", 6) == 0)
        e->type = HF_JEPSEN_INVOKE;
    else if (p - name == 2 && memcmp(name, "ok", 2) == 0)
        e->type = HF_JEPSEN_OK;
    else if (p - name == 4 && memcmp(name, "fail", 4) == 0)
        e->type = HF_JEPSEN_FAIL;
    else if (p - name == 4 && memcmp(name, "info", 4) == 0)
        e->type = HF_JEPSEN_INFO;
    else
        return NULL;
    return ends_token(*p) ? p : NULL;
}

/* Any value, passed over by the general reader; NULL if it is malformed. */
static const char *pass_over(fast *f, const char *p)
{
    hf_edn *s = &f->skipper;

    s->at = p;
    s->depth = 0;
    if (!hf_edn_skip(s, NULL)) {
        s->failed = false;
        return NULL;
    }
    return s->at;
}

static const char *read_event_value(fast *f, const char *p, hf_jepsen_event *e)
{
    const char *q = NULL;

    if (e->has_type && e->is_client && e->type == HF_JEPSEN_OK)
        q = read_value(f, p, true, true);
    else if (e->has_type && e->is_client && e->type == HF_JEPSEN_FAIL)
        q = read_value(f, p, true, false);
    if (q)
        e->is_parsed = true;
    else
        q = read_value(f, p, false, false);
    if (!q)
        q = pass_over(f, p);
    if (q)
        e->value = (hf_str){p, (size_t)(q - p)};
    return q;
}

static const char *read_number(fast *f, const char *p, int64_t *number,
                               bool *has)
{
    const char *q = scan_int(p, number);

    *has = q != NULL;
    return q ? q : pass_over(f, p);
}

static const char *read_f(const char *p, hf_jepsen_event *e)
{
    const char *name = p + 1;

    if (*p != ':')
        return NULL;
    p = scan_name(name);
    e->f_name = (hf_str){name, (size_t)(p - name)};
    e->f = p - name == 3 && memcmp(name, "txn", 3) == 0 ? HF_F_TXN : HF_F_OTHER;
    return p > name && ends_token(*p) ? p : NULL;
}

static const char *read_process(const char *p, hf_jepsen_event *e)
{
    if (*p == ':') {
        const char *name = p + 1;

        e->is_client = false;
        p = scan_name(name);
        return p > name && ends_token(*p) ? p : NULL;
    }
    p = scan_int(p, &e->process);
    e->has_process = p != NULL;
    return p;
}

/* The value of the key `name`, which is at p. */
static const char *read_pair(fast *f, hf_str name, const char *p,
                             hf_jepsen_event *e)
{
    switch (name.len) {
    case 1:
        if (name.ptr[0] == 'f')
            return read_f(p, e);
        break;
    case 4:
        if (memcmp(name.ptr, "type", 4) == 0)
            return read_type(p, e);
        if (memcmp(name.ptr, "time", 4) == 0)
            return read_number(f, p, &e->time, &e->has_time);
        break;
    case 5:
        if (memcmp(name.ptr, "value", 5) == 0)
            return read_event_value(f, p, e);
        if (memcmp(name.ptr, "index", 5) == 0)
            return read_number(f, p, &e->index, &e->has_index);
        break;
    case 7:
        if (memcmp(name.ptr, "process", 7) == 0)
            return read_process(p, e);
        break;
    default:
        break;
    }
    return pass_over(f, p);
}

/* The event whose brace is at p; NULL: left to the general reader. */
static const char *read_event(fast *f, const char *p, hf_jepsen_event *ret)
{
    hf_jepsen_event e = {.at = p, .is_client = true};

    p++;
    for (;;) {
        hf_str name;

        if (p >= f->end)
            return NULL;
        p = skip_blanks(p);
        if (*p == '}')
            break;
        if (*p != ':')
            return NULL;
        name.ptr = p + 1;
        p = scan_name(p + 1);
        name.len = (size_t)(p - name.ptr);
        if (name.len == 0 || !is_blank(*p))
            return NULL;
        p = read_pair(f, name, skip_blanks(p), &e);
        if (!p)
            return NULL;
    }
    if (!e.has_type)
        return NULL;
    if (!e.is_parsed && e.value.ptr && e.is_client &&
        (e.type == HF_JEPSEN_OK || e.type == HF_JEPSEN_FAIL))
        e.is_parsed =
            read_value(f, e.value.ptr, true, e.type == HF_JEPSEN_OK) != NULL;
    *ret = e;
    return p + 1;
}

/* ---- the file ------------------------------------------------------------ */

/* The general reader, for the one event at *at. */
static hf_status general_event(fast *f, const char **at,
                               hf_jepsen_event *ret_event)
{
    const hf_jepsen *j = &f->e->j;
    hf_jepsen_file file;
    hf_status st = HF_OK;

    hf_jread_init(&file.r, false, j->in->text,
                  (hf_str){*at, (size_t)(f->end - *at)});
    file.is_started = true;
    file.is_wrapped = file.is_type_optional = false;
    if (hf_jepsen_next(&file, ret_event)) {
        *at = hf_jread_at(&file.r);
    } else {
        if (!hf_jread_failed(&file.r))
            (void)hf_jread_expected(&file.r, "the map of an event");
        st = HF_ERR_INPUT;
        if (j->err)
            *j->err = *hf_jread_error(&file.r);
    }
    hf_jepsen_close(&file);
    return st;
}

/* White space, comments and discarded forms between events; NULL and an
 * error if they are malformed. */
static const char *pass_gap(fast *f, const char *p, hf_error *err)
{
    hf_edn *s = &f->skipper;

    while (p < f->end && is_blank(*p))
        p++;
    if (p >= f->end || *p == '{' || *p == ']' || *p == ')')
        return p;
    s->at = p;
    s->depth = 0;
    (void)hf_edn_peek(s);
    if (s->failed) {
        if (err)
            *err = s->err;
        return NULL;
    }
    return s->at;
}

/* After the last event: the bracket that closes all, and nothing more. */
static hf_status check_end(fast *f, const char *p)
{
    const hf_jepsen *j = &f->e->j;

    if (f->closer != 0) {
        if (p >= f->end || *p != f->closer)
            return hf_fail_line(
                j->err, hf_line_of(j->in->text, p),
                "expected \"%c\" after all events, found %s", f->closer,
                p >= f->end ? "the end of the input" : "another bracket");
        p = pass_gap(f, p + 1, j->err);
        if (!p)
            return HF_ERR_INPUT;
    }
    if (p < f->end)
        return hf_fail_line(j->err, hf_line_of(j->in->text, p),
                            "expected the end of the input after the last "
                            "event");
    return HF_OK;
}

static hf_status read_events(fast *f, const char *p)
{
    hf_jepsen *j = &f->e->j;

    while (!hf_builder_failed(j->b)) {
        hf_jepsen_event event;
        const char *next;
        hf_status st;

        p = pass_gap(f, p, j->err);
        if (!p)
            return HF_ERR_INPUT;
        if (p >= f->end || *p == ']' || *p == ')')
            return check_end(f, p);
        next = *p == '{' ? read_event(f, p, &event) : NULL;
        if (next) {
            p = next;
        } else {
            st = general_event(f, &p, &event);
            if (st != HF_OK)
                return st;
        }
        st = hf_jepsen_feed(j, &event);
        if (st != HF_OK)
            return st;
    }
    return HF_OK;
}

static hf_status import_fast(hf_elle *e, const char *end)
{
    const hf_input *in = e->j.in;
    fast f = {.e = e, .end = end};
    const char *p;
    hf_status st;

    hf_edn_init(&f.skipper, in->text, (size_t)(end - in->text));
    p = pass_gap(&f, in->text, e->j.err);
    st = p ? HF_OK : HF_ERR_INPUT;
    if (p && p < end && (*p == '[' || *p == '(')) {
        f.closer = *p == '[' ? ']' : ')';
        p++;
    }
    if (st == HF_OK)
        st = read_events(&f, p);
    hf_edn_release(&f.skipper);
    return st == HF_OK ? hf_jepsen_finish(&e->j) : st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    const char *end = in->text + in->length;
    hf_status st;
    hf_elle e;

    hf_elle_init(&e, in, b, false, err);
    while (end > in->text && is_blank(end[-1]))
        end--;
    /* about 20 bytes a micro-operation, each written twice */
    hf_builder_expect(b, in->length / 64, in->length / 400, in->length / 100);
    if (end > in->text && (end[-1] == '}' || end[-1] == ']' || end[-1] == ')'))
        st = import_fast(&e, end);
    else
        st = hf_jepsen_import(&e.j);
    hf_elle_release(&e);
    return st;
}

static int detect(const hf_input *in)
{
    hf_jepsen_look look = hf_jepsen_look_at(in, false, false);

    if (look.elle == 0 || look.other > 0 || look.viper > 0)
        return look.events > 0 && look.elle > look.other + look.viper ? 40 : 0;
    return 95;
}

static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    return hf_elle_export(h, out, false, err);
}

const hf_format hf_format_elle_edn = {
    .name = "elle-edn",
    .summary = "Jepsen and Elle: transactions of registers or lists, EDN",
    .extension = ".edn",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

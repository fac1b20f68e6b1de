/* elle.c: micro-operations, in EDN or JSON.
 *
 * The general way, for any notation and any shape; elle_edn.c has a fast one
 * for the usual shape.  Linear in the text, except that a list of n elements
 * that was not read before costs n look-ups.
 */
#include "formats/elle.h"

#include "formats/scan.h"

/* ---- life ---------------------------------------------------------------- */

/* What one micro-operation tells about the mode: -1 nothing. */
static int mode_of_micro_op(hf_jread *r)
{
    hf_str f;
    int mode = -1;

    if (!hf_jread_open(r, HF_J_SEQ) || !hf_jread_next(r) ||
        hf_jread_peek(r) != HF_J_TEXT || !hf_jread_name(r, &f))
        return -1;
    if (hf_str_eq(f, HF_STR("append")))
        return HF_ELLE_LIST;
    if (hf_str_eq(f, HF_STR("w")))
        return HF_ELLE_REGISTER;
    for (unsigned i = 1; hf_jread_next(r); i++) {
        hf_jkind kind = hf_jread_peek(r);

        if (i == 2 && kind == HF_J_SEQ)
            mode = HF_ELLE_LIST;
        else if (i == 2 && kind != HF_J_NIL)
            mode = HF_ELLE_REGISTER;
        if (!hf_jread_skip(r, NULL))
            return -1;
    }
    return mode;
}

static int mode_of_value(const hf_elle *e, hf_str value)
{
    int mode = -1;
    hf_jread r;

    hf_jepsen_value(&e->j, &r, value);
    if (hf_jread_peek(&r) == HF_J_SEQ && hf_jread_open(&r, HF_J_SEQ))
        while (mode < 0 && hf_jread_next(&r)) {
            if (hf_jread_peek(&r) != HF_J_SEQ)
                break;
            mode = mode_of_micro_op(&r);
        }
    hf_jread_release(&r);
    return mode;
}

/* Reads events until one tells; what is wrong with the file is found and
 * reported by the pass that follows. */
static hf_elle_mode decide(const hf_elle *e)
{
    const hf_input *in = e->j.in;
    hf_jepsen_file file;
    hf_jepsen_event event;
    int mode = -1;

    hf_jepsen_open(&file, e->j.json, (hf_str){in->text, in->length});
    while (mode < 0 && hf_jepsen_next(&file, &event))
        if (event.is_client && event.value.ptr)
            mode = mode_of_value(e, event.value);
    hf_jepsen_close(&file);
    return mode < 0 ? HF_ELLE_REGISTER : (hf_elle_mode)mode;
}

static hf_status emit(hf_jepsen *j, hf_txn_id t, const hf_jepsen_done *done);

void hf_elle_init(hf_elle *e, const hf_input *in, hf_builder *b, bool json,
                  hf_error *err)
{
    *e = (hf_elle){.mode = HF_ELLE_REGISTER};
    hf_jepsen_init(&e->j, in, b, json, err);
    e->j.emit = emit;
    e->j.user = e;
    e->mode = decide(e);
    hf_builder_unique_values(b, true);
}

void hf_elle_release(hf_elle *e)
{
    for (size_t i = 0; i < e->lists.n; i++) {
        hf_vec_release(&e->lists.at[i].ends);
        hf_vec_release(&e->lists.at[i].lists);
    }
    hf_vec_release(&e->lists);
    hf_vec_release(&e->ops);
    hf_vec_release(&e->tail);
    hf_jepsen_release(&e->j);
}

/* ---- parsing ------------------------------------------------------------- */

hf_key_id hf_elle_key(hf_elle *e, hf_jread *r)
{
    hf_jkind kind = hf_jread_peek(r);
    hf_str name;
    int64_t number;
    char first;

    if (kind == HF_J_INT)
        return hf_jread_int(r, &number) ? hf_builder_key_int(e->j.b, number)
                                        : HF_NONE;
    if (kind != HF_J_TEXT) {
        (void)hf_jread_expected(r, "a key: an integer or a name");
        return HF_NONE;
    }
    first = *hf_jread_at(r);
    if (first != ':' && first != '"')
        first = 's';
    if (e->name_kind != 0 && e->name_kind != first) {
        (void)hf_jread_expected(r, "a key of the same kind as those before");
        return HF_NONE;
    }
    e->name_kind = first;
    if (!hf_jread_name(r, &name))
        return HF_NONE;
    return hf_builder_key_text(e->j.b, name.ptr, name.len);
}

static hf_value_id read_list(hf_elle *e, hf_jread *r, hf_key_id key)
{
    hf_builder *b = e->j.b;
    hf_value_id list = HF_NONE;
    hf_scalar element;

    if (!hf_jread_open(r, HF_J_SEQ))
        return HF_NONE;
    while (hf_jread_next(r)) {
        if (!hf_jread_scalar(r, &element))
            return HF_NONE;
        if (element.type == HF_NIL) {
            (void)hf_jread_expected(r, "an element that is not nil before "
                                       "this");
            return HF_NONE;
        }
        list = hf_builder_list(b, key, list, hf_builder_value(b, key, element));
    }
    return list == HF_NONE ? hf_builder_nil(b, key) : list;
}

static bool read_read(hf_elle *e, hf_jread *r, hf_outcome outcome,
                      hf_elle_op *op)
{
    hf_jkind kind = hf_jread_peek(r);
    hf_builder *b = e->j.b;
    hf_scalar value;

    if (outcome == HF_UNKNOWN_OUTCOME ||
        (outcome == HF_ABORTED && kind == HF_J_NIL)) {
        op->kind = HF_OP_READ;
        return hf_jread_skip(r, NULL);
    }
    op->kind = e->mode == HF_ELLE_LIST ? HF_OP_READ_LIST : HF_OP_READ;
    if (kind == HF_J_NIL) {
        op->value = hf_builder_nil(b, op->key);
        return hf_jread_nil(r);
    }
    if (e->mode == HF_ELLE_LIST) {
        if (kind != HF_J_SEQ)
            return hf_jread_expected(r, "a list, as in the reads before");
        op->value = read_list(e, r, op->key);
        return !hf_jread_failed(r);
    }
    if (kind == HF_J_SEQ)
        return hf_jread_expected(r, "a value of a register, no list");
    if (!hf_jread_scalar(r, &value))
        return false;
    op->value = hf_builder_value(b, op->key, value);
    return true;
}

static bool read_write(hf_elle *e, hf_jread *r, bool append, hf_elle_op *op)
{
    hf_scalar value;

    if (append != (e->mode == HF_ELLE_LIST))
        return hf_jread_refuse(
            r, append ? "expected no append in a history of registers, "
                        "found one"
                      : "expected no write in a history of lists, found one");
    if (!hf_jread_next(r))
        return hf_jread_failed(r) ? false
                                  : hf_jread_expected(r, "a value written "
                                                         "before this");
    if (!hf_jread_scalar(r, &value))
        return false;
    if (append && value.type == HF_NIL)
        return hf_jread_expected(r, "an element that is not nil before this");
    op->kind = append ? HF_OP_APPEND : HF_OP_WRITE;
    op->value = hf_builder_value(e->j.b, op->key, value);
    return !hf_jread_next(r); /* nothing may follow: checked by the caller */
}

static bool read_micro_op(hf_elle *e, hf_jread *r, hf_outcome outcome)
{
    hf_elle_op op = {.value = HF_NONE, .kind = HF_OP_READ};
    bool is_append, is_read;
    hf_str f;

    if (!hf_jread_open(r, HF_J_SEQ) || !hf_jread_next(r))
        return hf_jread_failed(r)
                   ? false
                   : hf_jread_expected(r, "a micro-operation before this");
    if (hf_jread_peek(r) != HF_J_TEXT)
        return hf_jread_expected(r, "r, w or append");
    if (!hf_jread_name(r, &f))
        return false;
    is_append = hf_str_eq(f, HF_STR("append"));
    is_read = hf_str_eq(f, HF_STR("r"));
    if (!is_append && !is_read && !hf_str_eq(f, HF_STR("w")))
        return hf_jread_expected(r, "r, w or append before");
    if (!hf_jread_next(r))
        return hf_jread_failed(r) ? false
                                  : hf_jread_expected(r, "a key before this");
    op.key = hf_elle_key(e, r);
    if (hf_jread_failed(r))
        return false;
    if (!is_read) {
        if (!read_write(e, r, is_append, &op))
            return hf_jread_failed(r)
                       ? false
                       : hf_jread_expected(r, "the end of a micro-operation");
    } else if (hf_jread_next(r)) {
        if (!read_read(e, r, outcome, &op))
            return false;
        if (hf_jread_next(r))
            return hf_jread_expected(r, "the end of a micro-operation");
    }
    if (hf_jread_failed(r))
        return false;
    hf_vec_push(&e->ops, op);
    return true;
}

hf_status hf_elle_parse(hf_elle *e, hf_str value, hf_outcome outcome)
{
    hf_jread r;

    e->ops.n = 0;
    hf_jepsen_value(&e->j, &r, value);
    if (hf_jread_peek(&r) != HF_J_NIL && hf_jread_open(&r, HF_J_SEQ))
        while (hf_jread_next(&r))
            if (!read_micro_op(e, &r, outcome))
                break;
    return hf_jepsen_value_done(&e->j, &r);
}

static hf_status emit(hf_jepsen *j, hf_txn_id t, const hf_jepsen_done *done)
{
    hf_elle *e = j->user;
    const hf_jepsen_event *from = done->completion;
    hf_status st;

    if (done->outcome == HF_UNKNOWN_OUTCOME && done->invocation)
        from = done->invocation;
    else if (done->outcome == HF_ABORTED && !from->value.ptr &&
             done->invocation)
        from = done->invocation;
    if (from->f != HF_F_TXN && from->f != HF_F_MISSING)
        return hf_jepsen_refuse(j, from,
                                "expected an event whose f is txn, found "
                                "another one");
    if (!from->value.ptr && done->outcome == HF_COMMITTED)
        return hf_jepsen_refuse(j, from,
                                "a committed transaction without a value");
    if (!(from == done->completion && from->is_parsed)) {
        e->ops.n = 0;
        st = from->value.ptr ? hf_elle_parse(e, from->value, done->outcome)
                             : HF_OK;
        if (st != HF_OK)
            return st;
    }
    for (size_t i = 0; i < e->ops.n; i++)
        (void)hf_builder_op(j->b, t, e->ops.at[i].kind, e->ops.at[i].key,
                            e->ops.at[i].value);
    return HF_OK;
}

/* ---- lists by their text ------------------------------------------------- */

/* How many bytes are equal, at most n. */
static size_t common_prefix(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t x, y;

        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            break;
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static inline bool ends_element(char c)
{
    return c == ' ' || c == ']' || c == ',' || c == '\n' || c == '\t' ||
           c == '\r';
}

/* How many elements of the known list stand complete at p. */
static size_t known_elements(const hf_elle_list *known, const char *p,
                             const char *end)
{
    size_t length = known->ends.at[known->ends.n - 1];
    size_t left = (size_t)(end - p), same, low = 0, high = known->ends.n;

    same = common_prefix(known->text, p, length < left ? length : left);
    if (same == length && same < left && ends_element(p[same]))
        return known->ends.n;
    while (low < high) { /* the first element that ends after `same` */
        size_t middle = low + (high - low) / 2;

        if (known->ends.at[middle] <= same)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && known->ends.at[low - 1] == same &&
        (same == left || !ends_element(p[same])))
        low--; /* 12 is no 123 */
    return low;
}

static hf_elle_list *list_of(hf_elle *e, hf_key_id key)
{
    while (e->lists.n <= key)
        hf_vec_push(&e->lists, (hf_elle_list){.text = NULL});
    return &e->lists.at[key];
}

/* The list at `text` is longer than the one known: it takes its place.  They
 * have the first n elements in common, e->tail has the others. */
static void remember(hf_elle *e, hf_elle_list *known, const char *text,
                     size_t n)
{
    if (n + e->tail.n <= known->ends.n)
        return;
    known->text = text;
    known->ends.n = known->lists.n = n;
    for (size_t i = 0; i < e->tail.n; i++) {
        hf_vec_push(&known->ends, e->tail.at[i].end);
        hf_vec_push(&known->lists, e->tail.at[i].list);
    }
}

const char *hf_elle_list_text(hf_elle *e, hf_key_id key, const char *p,
                              const char *end, hf_value_id *ret_list)
{
    hf_elle_list *known = list_of(e, key);
    const char *start = p;
    hf_value_id list = HF_NONE;
    size_t n = 0;

    if (known->ends.n > 0 && (n = known_elements(known, p, end)) > 0) {
        p += known->ends.at[n - 1];
        list = known->lists.at[n - 1];
    }
    e->tail.n = 0;
    for (;;) {
        const char *digits;
        uint64_t value;

        while (*p == ' ' || *p == ',' || *p == '\n')
            p++;
        if (*p == ']')
            break;
        digits = p + (*p == '-');
        if (!hf_scan_uint(&digits, &value) || !ends_element(*digits))
            return NULL;
        list = hf_builder_list_int(
            e->j.b, key, list, *p == '-' ? -(int64_t)value : (int64_t)value);
        p = digits;
        if (p - start < (ptrdiff_t)UINT32_MAX)
            hf_vec_push(&e->tail, (hf_elle_tail){(uint32_t)(p - start), list});
    }
    if (e->tail.n > 0)
        remember(e, known, start, n);
    *ret_list = list == HF_NONE ? hf_builder_nil(e->j.b, key) : list;
    return p + 1;
}

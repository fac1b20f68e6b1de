/* timekiller.c: timekiller-json, the histories of Chronos and Aion.
 *
 *     [{"tid":1,"sid":7,"sts":{"p":100,"l":0},"cts":{"p":105,"l":0},
 *       "ops":[{"t":"w","k":3,"v":9},{"t":"r","k":4,"v":0}]}, ...]
 *
 * Committed transactions in any order.  sts and cts are the database's start
 * and commit timestamps, compared as (p, l); they become the certificate's.
 * Where every l is 0 the timestamp is p, else its rank among all of them.
 * The order of a session is that of sts.
 *
 * The initial version is read as null, as nothing, as the empty list, or as 0
 * where 0 is not written to that key.
 *
 * Two passes: the first finds the timestamps and the places of the operations,
 * the second reads those in the order of the history.  O(n log n).
 * timekiller_out.c writes the format.
 */
#include "formats/timekiller.h"

#include <stdlib.h>

#include "base/json_in.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/formats_all.h"
#include "formats/scan.h"
#include "formats/zeros.h"

typedef struct stamp {
    int64_t p, l;
} stamp;

typedef struct entry {
    int64_t tid, sid;
    stamp start, commit;
    hf_str ops;     /* in the input */
    uint32_t place; /* in the file */
} entry;

typedef struct reader {
    hf_json_in j;
    hf_builder *b;
    hf_error *err;
    HF_VEC(entry) entries;
    hf_map tids;
    bool lists;   /* some operation is about a list */
    bool logical; /* some l is not 0 */
    hf_zeros zeros;
    HF_VEC(uint8_t) nil_read; /* by key */
} reader;

/* ---- first pass ---------------------------------------------------------- */

/* An integer, or a string that holds one. */
static bool take_number(hf_json_in *j, int64_t *ret_value)
{
    hf_str text;

    if (hf_json_in_peek(j) != '"')
        return hf_json_in_int(j, ret_value);
    return hf_json_in_string(j, &text) &&
           (hf_str_to_int(text, ret_value) ||
            hf_json_in_fail(j, "expected an integer of 64 bits in a string"));
}

static bool take_stamp(hf_json_in *j, stamp *ret_stamp)
{
    bool has_p = false;
    hf_str key;

    *ret_stamp = (stamp){0, 0};
    if (hf_json_in_peek(j) != '{')
        return take_number(j, &ret_stamp->p);
    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("p")))
            has_p = take_number(j, &ret_stamp->p);
        else if (hf_str_eq(key, HF_STR("l")))
            (void)take_number(j, &ret_stamp->l);
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (!j->failed && (!has_p || ret_stamp->p < 0 || ret_stamp->l < 0))
        return hf_json_in_fail(j, "expected a timestamp with \"p\" and \"l\" "
                                  "from 0 up");
    return !j->failed;
}

#define HAS_TID 1u
#define HAS_SID 2u
#define HAS_START 4u
#define HAS_COMMIT 8u
#define HAS_OPS 16u

static void take_entry(reader *r)
{
    entry e = {.place = (uint32_t)r->entries.n};
    hf_json_in *j = &r->j;
    unsigned has = 0;
    hf_str key;

    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("tid")) && take_number(j, &e.tid))
            has |= HAS_TID;
        else if (hf_str_eq(key, HF_STR("sid")) && take_number(j, &e.sid))
            has |= HAS_SID;
        else if (hf_str_eq(key, HF_STR("sts")) && take_stamp(j, &e.start))
            has |= HAS_START;
        else if (hf_str_eq(key, HF_STR("cts")) && take_stamp(j, &e.commit))
            has |= HAS_COMMIT;
        else if (hf_str_eq(key, HF_STR("ops")) && hf_json_in_peek(j) == '[' &&
                 hf_json_in_skip(j, &e.ops))
            has |= HAS_OPS;
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (!j->failed && has != 31u)
        (void)hf_json_in_fail(j,
                              "expected a transaction with tid, sid, sts, "
                              "cts and ops, found one without %s",
                              !(has & HAS_TID)      ? "tid"
                              : !(has & HAS_SID)    ? "sid"
                              : !(has & HAS_START)  ? "sts"
                              : !(has & HAS_COMMIT) ? "cts"
                                                    : "ops");
    r->logical = r->logical || e.start.l != 0 || e.commit.l != 0;
    if (j->failed)
        return;
    if (hf_map_add(&r->tids, (uint64_t)e.tid, e.place) != e.place)
        (void)hf_json_in_fail(j,
                              "expected a transaction with a tid of its "
                              "own, found %lld again",
                              (long long)e.tid);
    hf_vec_push(&r->entries, e);
}

/* ---- operations ---------------------------------------------------------- */

typedef struct operation {
    char type;     /* 'r', 'w', 'a'; 0: not said yet */
    hf_key_id key; /* HF_NONE: not said yet; 0 if nobody wants to know */
    char value;    /* 'i' integer, 'n' null or none, 'l' list */
    int64_t number;
    hf_str list; /* its text, in the input */
} operation;

static bool take_type(hf_json_in *j, char *ret_type)
{
    static const struct {
        hf_str word;
        char type;
    } words[] = {{{"r", 1}, 'r'},     {{"read", 4}, 'r'}, {{"w", 1}, 'w'},
                 {{"write", 5}, 'w'}, {{"a", 1}, 'a'},    {{"append", 6}, 'a'}};
    char quoted[32];
    hf_str text;

    if (!hf_json_in_string(j, &text))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (hf_str_same_name(text, words[i].word)) {
            *ret_type = words[i].type;
            return true;
        }
    return hf_json_in_fail(
        j, "expected an operation r, w or a, found \"%s\"",
        hf_quote(quoted, sizeof(quoted), text.ptr, text.len));
}

static void take_value(hf_json_in *j, operation *o)
{
    if (hf_json_in_peek(j) == '[') {
        o->value = 'l';
        (void)hf_json_in_skip(j, &o->list);
    } else if (!hf_json_in_null(j)) {
        o->value = 'i';
        (void)hf_json_in_int(j, &o->number);
    }
}

/* The key is interned at once: its text may be gone with the next string.  A
 * NULL builder only looks. */
static bool take_key(hf_json_in *j, hf_builder *b, hf_key_id *ret_key)
{
    hf_scalar key;

    if (!hf_json_in_scalar(j, &key))
        return false;
    if (key.type != HF_INT && key.type != HF_TEXT)
        return hf_json_in_fail(j, "expected a key that is a number or a "
                                  "string");
    *ret_key = b ? hf_builder_key_row(b, HF_NONE, key) : 0;
    return true;
}

static bool take_operation(hf_json_in *j, hf_builder *b, operation *o)
{
    hf_str key;

    *o = (operation){.value = 'n', .key = HF_NONE};
    (void)hf_json_in_open(j, '{');
    while (hf_json_in_next_key(j, &key)) {
        if (hf_str_eq(key, HF_STR("t")))
            (void)take_type(j, &o->type);
        else if (hf_str_eq(key, HF_STR("k")))
            (void)take_key(j, b, &o->key);
        else if (hf_str_eq(key, HF_STR("v")))
            take_value(j, o);
        else
            (void)hf_json_in_skip(j, NULL);
    }
    if (j->failed)
        return false;
    if (!o->type)
        return hf_json_in_fail(j, "expected an operation with \"t\"");
    if (o->key == HF_NONE)
        return hf_json_in_fail(j, "expected an operation with a key \"k\"");
    if (o->type != 'r' && o->value != 'i')
        return hf_json_in_fail(j, "expected an integer to write as \"v\"");
    return true;
}

/* The list of a read, element by element. */
static hf_value_id list_value(reader *r, hf_json_in *j, hf_key_id key,
                              const operation *o)
{
    hf_value_id list = hf_builder_nil(r->b, key);
    hf_json_in items = *j;
    int64_t element;

    items.at = o->list.ptr;
    (void)hf_json_in_open(&items, '[');
    while (hf_json_in_next_item(&items)) {
        if (!hf_json_in_int(&items, &element))
            break;
        list = hf_builder_list_int(r->b, key, list, element);
        if (hf_builder_failed(r->b))
            break;
    }
    if (items.failed) {
        j->failed = true;
        j->err = items.err;
        j->at = j->end;
    }
    return list;
}

static hf_value_id nil_value(reader *r, hf_key_id key)
{
    while (r->nil_read.n <= key)
        hf_vec_push(&r->nil_read, 0);
    r->nil_read.at[key] = 1;
    return hf_builder_nil(r->b, key);
}

static void add_operation(reader *r, hf_json_in *j, hf_txn_id t,
                          const operation *o)
{
    hf_key_id key = o->key;
    hf_op_kind kind = o->type == 'w'                ? HF_OP_WRITE
                      : o->type == 'a'              ? HF_OP_APPEND
                      : r->lists && o->value != 'i' ? HF_OP_READ_LIST
                                                    : HF_OP_READ;
    hf_value_id value;

    if (o->value == 'l')
        value = list_value(r, j, key, o);
    else if (o->value == 'n')
        value = nil_value(r, key);
    else if (o->type == 'a')
        value = hf_builder_int(r->b, key, o->number);
    else
        value = hf_zeros_int(&r->zeros, r->b, key, o->number, o->type == 'w');
    (void)hf_builder_op(r->b, t, kind, key, value);
}

/* Does the history have lists?  Then null is the empty list. */
static void look_for_lists(reader *r, const entry *e)
{
    hf_json_in j = r->j;
    operation o;

    j.at = e->ops.ptr;
    j.end = e->ops.ptr + e->ops.len;
    (void)hf_json_in_open(&j, '[');
    while (hf_json_in_next_item(&j) && take_operation(&j, NULL, &o))
        r->lists = r->lists || o.type == 'a' || o.value == 'l';
    for (int i = 0; i < 4; i++)
        r->j.scratch[i] = j.scratch[i];
    if (j.failed) {
        r->j.failed = true;
        r->j.err = j.err;
    }
}

static void add_operations(reader *r, hf_txn_id t, const entry *e)
{
    hf_json_in *j = &r->j;
    const char *end = j->end;
    operation o;

    j->at = e->ops.ptr;
    j->end = e->ops.ptr + e->ops.len;
    (void)hf_json_in_open(j, '[');
    while (!hf_builder_failed(r->b) && hf_json_in_next_item(j) &&
           take_operation(j, r->b, &o))
        add_operation(r, j, t, &o);
    j->end = end;
}

/* ---- order --------------------------------------------------------------- */

static int compare_stamps(stamp a, stamp b)
{
    if (a.p != b.p)
        return a.p < b.p ? -1 : 1;
    return (a.l > b.l) - (a.l < b.l);
}

static int by_session(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order;

    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    order = compare_stamps(x->start, y->start);
    if (order == 0)
        order = compare_stamps(x->commit, y->commit);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_session_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Reorders the entries: the places a session has in the file stay, its
 * transactions take them in the order of sts. */
static void order_entries(reader *r)
{
    size_t n = r->entries.n;
    entry *by_place, *sorted;

    if (n == 0)
        return;
    by_place = HF_NEW_ARRAY(entry, n);
    sorted = HF_NEW_ARRAY(entry, n);
    memcpy(by_place, r->entries.at, n * sizeof(entry));
    memcpy(sorted, r->entries.at, n * sizeof(entry));
    qsort(by_place, n, sizeof(entry), by_session_place);
    qsort(sorted, n, sizeof(entry), by_session);
    for (size_t i = 0; i < n; i++)
        r->entries.at[by_place[i].place] = sorted[i];
    hf_free(by_place);
    hf_free(sorted);
}

static int by_stamp(const void *a, const void *b)
{
    return compare_stamps(*(const stamp *)a, *(const stamp *)b);
}

/* All timestamps, sorted; the caller frees them. */
static stamp *sorted_stamps(const reader *r)
{
    size_t n = r->entries.n;
    stamp *all = HF_NEW_ARRAY(stamp, 2 * n);

    for (size_t i = 0; i < n; i++) {
        all[2 * i] = r->entries.at[i].start;
        all[2 * i + 1] = r->entries.at[i].commit;
    }
    qsort(all, 2 * n, sizeof(stamp), by_stamp);
    return all;
}

/* The number of timestamps before s. */
static uint64_t rank_of(const stamp *all, size_t n, stamp s)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_stamps(all[middle], s) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- import -------------------------------------------------------------- */

static void add_entries(reader *r)
{
    stamp *all = r->logical ? sorted_stamps(r) : NULL;
    size_t n = r->entries.n;

    for (size_t i = 0; i < n && !r->j.failed && !hf_builder_failed(r->b); i++) {
        const entry *e = &r->entries.at[i];
        hf_txn_id t =
            hf_builder_txn(r->b, hf_builder_session_number(r->b, e->sid));

        hf_builder_label(r->b, t, e->tid);
        if (all)
            hf_builder_timestamps(r->b, t, rank_of(all, 2 * n, e->start),
                                  rank_of(all, 2 * n, e->commit));
        else
            hf_builder_timestamps(r->b, t, (uint64_t)e->start.p,
                                  (uint64_t)e->commit.p);
        add_operations(r, t, e);
    }
    hf_free(all);
}

/* 0 and null cannot both be the initial version of one key. */
static hf_status check_initial(const reader *r)
{
    for (size_t k = 0; k < r->zeros.keys.n && k < r->nil_read.n; k++)
        if (r->nil_read.at[k] && r->zeros.keys.at[k].value != HF_NONE &&
            !r->zeros.keys.at[k].written)
            return hf_fail(r->err, HF_ERR_INPUT,
                           "expected one initial value for each key, found a "
                           "key that is read both as null and as 0, and 0 is "
                           "never written to it");
    return HF_OK;
}

static hf_status read_all(reader *r, const hf_input *in)
{
    hf_json_in *j = &r->j;
    hf_status st;

    (void)hf_json_in_open(j, '[');
    while (hf_json_in_next_item(j)) {
        take_entry(r);
        if (in->budget && hf_budget_spent(in->budget))
            return hf_fail(r->err, HF_ERR_LIMIT, "%s",
                           hf_budget_reason(in->budget));
    }
    if (!j->failed && hf_json_in_peek(j) != 0)
        (void)hf_json_in_fail(j, "expected nothing after the array");
    for (size_t i = 0; i < r->entries.n && !j->failed && !r->lists; i++)
        look_for_lists(r, &r->entries.at[i]);
    if (!j->failed) {
        order_entries(r);
        add_entries(r);
    }
    if (j->failed) {
        if (r->err)
            *r->err = j->err;
        return HF_ERR_INPUT;
    }
    st = check_initial(r);
    if (st == HF_OK)
        hf_zeros_finish(&r->zeros, r->b);
    return st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    reader r = {.b = b, .err = err};
    hf_status st;

    hf_json_in_init(&r.j, in->text, in->length);
    hf_map_init(&r.tids);
    st = read_all(&r, in);
    hf_json_in_release(&r.j);
    hf_map_release(&r.tids);
    hf_zeros_release(&r.zeros);
    hf_vec_release(&r.nil_read);
    hf_vec_release(&r.entries);
    return st;
}

static int detect(const hf_input *in)
{
    hf_json_in j;
    char open;
    bool empty;

    hf_json_in_init(&j, in->text,
                    in->length < HF_DETECT_BYTES ? in->length
                                                 : HF_DETECT_BYTES);
    open = hf_json_in_peek(&j);
    (void)hf_json_in_open(&j, '[');
    empty = hf_json_in_peek(&j) != '{';
    hf_json_in_release(&j);
    if (open != '[' || empty)
        return 0;
    return hf_has_text(in->text, in->length, "\"ops\"") &&
                   (hf_has_text(in->text, in->length, "\"sts\"") ||
                    hf_has_text(in->text, in->length, "\"cts\""))
               ? 97
               : 0;
}

const hf_format hf_format_timekiller = {
    .name = "timekiller-json",
    .summary = "a JSON array of transactions with timestamps: Chronos, Aion",
    .extension = ".json",
    .detect = detect,
    .import = import,
    .export_ = hf_timekiller_export,
};

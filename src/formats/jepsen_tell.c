/* jepsen_tell.c: which of Jepsen's models a history is of.
 *
 * No file says.  The functions that occur and the shapes of their values
 * decide; where they leave doubt (adds without any read) values that repeat
 * mean a counter, values that do not mean a set.  One pass, linear.
 */
#include "formats/jepsen_models.h"

typedef struct features {
    bool f[HF_F_COUNT];
    bool map_read, collection_read, scalar_read, micro_ops, long_names;
    bool add_repeats, any_invoke, any_cas, keyed_cas;
    uint64_t changes, paired_changes; /* add and write */
    uint64_t reads, paired_reads;
    hf_map added;
} features;

/* A sequence of exactly two; what they are is told. */
static bool is_pair(hf_jread *r, hf_jkind *ret_kinds)
{
    unsigned n = 0;

    if (hf_jread_peek(r) != HF_J_SEQ || !hf_jread_open(r, HF_J_SEQ))
        return false;
    for (; hf_jread_next(r); n++) {
        if (n < 2)
            ret_kinds[n] = hf_jread_peek(r);
        if (!hf_jread_skip(r, NULL))
            return false;
    }
    return n == 2;
}

/* Is the value a sequence of sequences that begin with a name? */
static bool has_micro_ops(const hf_jepsen *j, hf_str value, bool *long_names)
{
    bool found = false;
    hf_jread r;
    hf_str name;

    hf_jepsen_value(j, &r, value);
    if (hf_jread_peek(&r) == HF_J_SEQ && hf_jread_open(&r, HF_J_SEQ) &&
        hf_jread_next(&r) && hf_jread_peek(&r) == HF_J_SEQ &&
        hf_jread_open(&r, HF_J_SEQ) && hf_jread_next(&r) &&
        hf_jread_peek(&r) == HF_J_TEXT && hf_jread_name(&r, &name)) {
        found = true;
        if (hf_str_eq(name, HF_STR("read")) || hf_str_eq(name, HF_STR("write")))
            *long_names = true;
    }
    hf_jread_release(&r);
    return found;
}

static void note_added(const hf_jepsen *j, hf_str value, features *x)
{
    hf_jread r;
    int64_t number;

    hf_jepsen_value(j, &r, value);
    if (hf_jread_peek(&r) == HF_J_INT && hf_jread_int(&r, &number)) {
        if (hf_map_get(&x->added, (uint64_t)number) != UINT32_MAX)
            x->add_repeats = true;
        hf_map_set(&x->added, (uint64_t)number, 0);
    }
    hf_jread_release(&r);
}

static void note_event(const hf_jepsen *j, const hf_jepsen_event *e,
                       features *x)
{
    hf_jkind kind, parts[2] = {HF_J_END, HF_J_END};
    hf_jread r;
    bool pair;

    x->f[e->f] = true;
    x->any_invoke |= e->type == HF_JEPSEN_INVOKE;
    if (!e->value.ptr)
        return;
    if (has_micro_ops(j, e->value, &x->long_names)) {
        x->micro_ops = true;
        return;
    }
    hf_jepsen_value(j, &r, e->value);
    kind = hf_jread_peek(&r);
    pair = is_pair(&r, parts) && parts[0] != HF_J_SEQ && parts[0] != HF_J_MAP;
    hf_jread_release(&r);
    if (e->f == HF_F_CAS) {
        x->any_cas = true;
        x->keyed_cas = pair && parts[1] == HF_J_SEQ;
    }
    if (e->f == HF_F_READ && kind != HF_J_NIL) {
        x->reads++;
        x->paired_reads += pair;
        if (e->type == HF_JEPSEN_OK) {
            x->map_read |= kind == HF_J_MAP;
            x->collection_read |= kind == HF_J_SEQ || kind == HF_J_SET;
            x->scalar_read |=
                kind == HF_J_INT || kind == HF_J_SCALAR || kind == HF_J_TEXT;
        }
    } else if (e->f == HF_F_ADD || e->f == HF_F_WRITE) {
        x->changes++;
        x->paired_changes += pair;
        if (e->f == HF_F_ADD && !pair &&
            (e->type == HF_JEPSEN_INVOKE || !x->any_invoke))
            note_added(j, e->value, x);
    }
}

static hf_jepsen_model tell(const features *x, bool *ret_keyed)
{
    bool keyed_changes = x->changes > 0 && x->paired_changes == x->changes;
    bool keyed_reads = x->reads > 0 && x->paired_reads == x->reads;

    *ret_keyed = false;
    if (x->f[HF_F_TRANSFER] || x->map_read)
        return HF_MODEL_BANK;
    if (x->f[HF_F_ACQUIRE] || x->f[HF_F_RELEASE])
        return HF_MODEL_MUTEX;
    if (x->f[HF_F_ENQUEUE] || x->f[HF_F_DEQUEUE] || x->f[HF_F_DRAIN])
        return HF_MODEL_QUEUE;
    if (x->f[HF_F_TXN] || x->micro_ops)
        return HF_MODEL_TXN;
    if (x->f[HF_F_ADD]) {
        *ret_keyed = keyed_changes;
        if (keyed_changes || x->collection_read)
            return HF_MODEL_SET;
        return x->scalar_read || x->add_repeats ? HF_MODEL_COUNTER
                                                : HF_MODEL_SET;
    }
    *ret_keyed = x->any_cas ? x->keyed_cas
                            : keyed_changes || (x->changes == 0 && keyed_reads);
    if (x->f[HF_F_CAS] || *ret_keyed)
        return HF_MODEL_REGISTER;
    if (x->f[HF_F_WRITE] || x->f[HF_F_READ])
        return x->collection_read ? HF_MODEL_SET : HF_MODEL_REGISTER;
    return HF_MODEL_NONE;
}

/* Nothing that follows can change the answer. */
static bool is_settled(const features *x)
{
    return x->f[HF_F_TRANSFER] || x->map_read || x->f[HF_F_ACQUIRE] ||
           x->f[HF_F_RELEASE] || x->f[HF_F_ENQUEUE] || x->f[HF_F_DEQUEUE] ||
           x->f[HF_F_DRAIN] || x->micro_ops || x->any_cas;
}

hf_jepsen_model hf_jepsen_tell(const hf_jepsen *j, bool *ret_keyed,
                               bool *ret_zero)
{
    features x = {0};
    hf_jepsen_file file;
    hf_jepsen_event e;

    hf_map_init(&x.added);
    hf_jepsen_open(&file, j->json, (hf_str){j->in->text, j->in->length});
    while (!is_settled(&x) && hf_jepsen_next(&file, &e))
        if (e.is_client)
            note_event(j, &e, &x);
    hf_jepsen_close(&file);
    hf_map_release(&x.added);
    *ret_zero = x.long_names;
    return tell(&x, ret_keyed);
}

int hf_jepsen_models_detect(const hf_input *in, bool json)
{
    hf_jepsen_look look = hf_jepsen_look_at(in, json, false);

    if (look.events == 0)
        return 0;
    if (look.elle > 0 && look.other == 0)
        return 30;
    return look.other > 0 ? 90 : 60;
}

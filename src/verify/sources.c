/* sources.c: see sources.h. */
#include "verify/sources.h"

#include "verify/counters.h"
#include "verify/predicate.h"

static void list_writers(hf_verifier *v, hf_sources *s)
{
    const hf_history *h = v->h;
    const hf_facts *f = &v->facts;
    uint32_t n_slots = f->write_first[h->n_txns], *next;

    s->first = hf_kept_zeros(v, (size_t)h->n_values + 1, sizeof(*s->first));
    s->writer = hf_kept_zeros(v, n_slots, sizeof(*s->writer));
    next = hf_zeros(v, h->n_values, sizeof(*next));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t slot = 0; slot < n_slots; slot++) {
            hf_value_id value = hf_op_written(h, f->write_op[slot]);
            hf_txn_id t = f->write_txn[slot];

            if (value == HF_NONE || h->txn_outcome[t] == HF_ABORTED)
                continue;
            if (pass == 0)
                s->first[value + 1]++;
            else
                s->writer[next[value]++] = t;
        }
        for (hf_value_id x = 0; pass == 0 && x < h->n_values; x++) {
            next[x] = s->first[x];
            s->first[x + 1] += s->first[x];
        }
    }
}

/* What an operation read of its key, if that is one key. */
static hf_value_id value_read(const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);

    if (!hf_op_counts(h, op))
        return HF_NONE;
    if (hf_op_reads_item(kind))
        return h->op_value[op];
    return kind == HF_OP_INCREMENT ? hf_op_increment(h, op).before : HF_NONE;
}

static bool find_first_reads(hf_verifier *v, hf_sources *s)
{
    const hf_history *h = v->h;
    hf_txn_id *own = hf_nones(v, h->n_keys, sizeof(*own));
    hf_op_id *read = hf_nones(v, h->n_keys, sizeof(*read));

    s->first_read = hf_kept_nones(v, h->n_ops, sizeof(*s->first_read));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_key_id key = h->op_key[op];

            if (key == HF_NONE)
                continue;
            if (own[key] != t && value_read(h, op) != HF_NONE) {
                if (read[key] == HF_NONE || read[key] < h->op_first[t])
                    read[key] = op;
                s->first_read[op] = read[key];
            }
            if (hf_op_writes(h, op))
                own[key] = t;
        }
        if ((t & 0xff) == 0 && hf_out_of_budget(v))
            return false;
    }
    return true;
}

const hf_sources *hf_sources_get(hf_verifier *v)
{
    hf_sources *s = v->sources;

    if (s || hf_out_of_budget(v))
        return s;
    s = hf_kept_zeros(v, 1, sizeof(*s));
    list_writers(v, s);
    if (!find_first_reads(v, s))
        return NULL;
    v->sources = s;
    return s;
}

/* Of a key with increments without results: everybody who only adds to it, and
 * those who leave what was read whatever was there before. */
static bool choice_of_counter(hf_verifier *v, hf_txn_id t, hf_op_id op,
                              hf_choice *ret)
{
    const hf_history *h = v->h;
    const hf_key_index *all = hf_writers_of_keys(v);
    hf_key_id key = h->op_key[op];
    hf_sources *s = v->sources;
    uint32_t first, n = 0;

    if (!all || !s || (v->facts.key_use[key] & HF_KEY_LIST))
        return false;
    first = all->first[key];
    if (!s->counted) {
        s->counted = hf_kept_zeros(v, h->n_ops, sizeof(*s->counted));
        s->n_counted = hf_kept_zeros(v, h->n_ops, sizeof(*s->n_counted));
    }
    if (!s->counted[op]) {
        s->counted[op] = hf_kept_zeros(v, all->first[key + 1] - first + 1u,
                                       sizeof(hf_txn_id));
        for (uint32_t i = first; i < all->first[key + 1]; i++)
            if (all->at[i] != t && h->txn_outcome[all->at[i]] != HF_ABORTED &&
                (i == first || all->at[i] != all->at[i - 1]) &&
                hf_may_count_to(h, all->at[i], key, value_read(h, op)))
                s->counted[op][n++] = all->at[i];
        s->n_counted[op] = n;
    }
    ret->value = HF_NONE;
    ret->initial = hf_held_is_same(
        hf_held_of(h, value_read(h, op)),
        hf_held_of(h, h->key_initial ? h->key_initial[key] : HF_NONE));
    ret->at = s->counted[op];
    ret->n_at = s->n_counted[op];
    ret->n = ret->initial + ret->n_at;
    return true;
}

bool hf_choice_of(hf_verifier *v, const hf_sources *s, hf_txn_id t, hf_op_id op,
                  hf_choice *ret)
{
    const hf_history *h = v->h;
    hf_key_id key = h->op_key[op];
    hf_value_id value;

    if (s->first_read[op] == HF_NONE)
        return false;
    if (v->facts.key_use[key] & HF_KEY_BLIND) {
        *ret = (hf_choice){0};
        return choice_of_counter(v, t, op, ret);
    }
    value = value_read(h, op);
    *ret = (hf_choice){.initial = hf_value_is_initial(h, key, value),
                       .value = value};
    if (v->facts.key_use[key] & HF_KEY_LIST) {
        if (h->value_type[value] == HF_LIST) {
            ret->value = hf_list_last(h, value);
            ret->initial = false;
        } else {
            ret->value = HF_NONE; /* the empty list, or garbage */
        }
    }
    ret->n = ret->initial;
    if (ret->value == HF_NONE)
        return true;
    ret->at = s->writer + s->first[ret->value];
    ret->n_at = s->first[ret->value + 1] - s->first[ret->value];
    ret->n += ret->n_at;
    if (h->txn_outcome[t] != HF_ABORTED &&
        hf_facts_is_last(h, &v->facts, t, ret->value))
        ret->n--; /* the reader's own, later write */
    return true;
}

bool hf_choice_has(const hf_verifier *v, hf_txn_id t, hf_op_id op,
                   const hf_choice *choice, hf_txn_id writer)
{
    uint32_t slot;

    if (writer == HF_NONE)
        return choice->initial;
    if (hf_is_counter(&v->facts, v->h->op_key[op])) {
        for (uint32_t i = 0; i < choice->n_at; i++)
            if (choice->at[i] == writer)
                return true;
        return false;
    }
    if (writer == t || choice->value == HF_NONE ||
        v->h->txn_outcome[writer] == HF_ABORTED)
        return false;
    slot = hf_facts_slot(&v->facts, writer, v->h->op_key[op]);
    return slot != HF_NONE &&
           hf_op_written(v->h, v->facts.write_op[slot]) == choice->value;
}

bool hf_choice_of_entry(hf_verifier *v, const hf_sources *s, hf_txn_id t,
                        hf_op_id op, hf_key_id key, hf_choice *ret)
{
    const hf_history *h = v->h;
    hf_item_read read;

    if (hf_is_unlisted(v, t, op, key))
        return hf_unlisted_choice(v, t, op, key, ret);
    if (!hf_op_has_predicate(hf_op_kind_of(h, op)) || !hf_op_counts(h, op) ||
        (hf_has_snapshot(v, op) && hf_is_whole(v, t, op)) ||
        !hf_read_of_key(v, op, key, &read) ||
        hf_own_write_before(h, &v->facts, t, op, key) != HF_NONE ||
        hf_look_at_key(v, op, key) == HF_LOOK_SKIP ||
        (v->facts.key_use[key] & (HF_KEY_LIST | HF_KEY_BLIND)))
        return false;
    *ret = (hf_choice){.initial = hf_value_is_initial(h, key, read.value),
                       .value = read.value,
                       .at = s->writer + s->first[read.value],
                       .n_at = s->first[read.value + 1] - s->first[read.value]};
    if (read.writer != HF_NONE) { /* it is said who wrote it */
        ret->initial = ret->initial && read.writer == HF_WRITER_INITIAL;
        while (ret->n_at > 0 && ret->at[0] != read.writer) {
            ret->at++;
            ret->n_at--;
        }
        ret->n_at = ret->n_at > 0;
    }
    ret->n = ret->initial + ret->n_at;
    for (uint32_t i = 0; i < ret->n_at; i++)
        ret->n -= ret->at[i] == t;
    return true;
}

bool hf_choice_has_entry(hf_txn_id t, const hf_choice *choice, hf_txn_id writer)
{
    if (writer == HF_NONE)
        return choice->initial;
    for (uint32_t i = 0; i < choice->n_at; i++)
        if (choice->at[i] == writer)
            return writer != t;
    return false;
}

bool hf_choice_only(hf_txn_id t, const hf_choice *choice, hf_txn_id *ret)
{
    if (choice->n != 1)
        return false;
    *ret = HF_NONE;
    if (!choice->initial)
        *ret = choice->at[choice->at[0] == t];
    return true;
}

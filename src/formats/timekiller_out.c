/* timekiller_out.c: a history as timekiller-json; see timekiller.c.
 *
 * Timestamps come from the certificate, as p with l = 0; without them there
 * is nothing to write.  Linear.
 */
#include "formats/timekiller.h"

#include "base/json_out.h"
#include "base/mem.h"
#include "formats/export.h"

static void put_stamp(hf_json *j, const char *name, uint64_t at)
{
    hf_json_key(j, name);
    hf_json_object(j);
    hf_json_key(j, "p");
    hf_json_uint(j, at);
    hf_json_key(j, "l");
    hf_json_uint(j, 0);
    hf_json_end(j);
}

static void put_value(hf_json *j, const hf_history *h, hf_op_kind kind,
                      hf_value_id v)
{
    if (kind == HF_OP_READ_LIST) {
        uint32_t n =
            h->value_type[v] == HF_LIST ? hf_list_items(h, v, NULL) : 0;
        hf_value_id *items = HF_NEW_ARRAY(hf_value_id, n);

        if (n > 0)
            (void)hf_list_items(h, v, items);
        hf_json_array(j);
        for (uint32_t i = 0; i < n; i++)
            hf_json_int(j, h->value_data[items[i]]);
        hf_json_end(j);
        hf_free(items);
    } else if (hf_export_initial(h, v) && h->value_type[v] != HF_INT) {
        hf_json_null(j);
    } else {
        hf_json_int(j, hf_export_initial(h, v) ? 0 : h->value_data[v]);
    }
}

static void put_op(hf_json *j, const hf_history *h, hf_op_id op)
{
    hf_op_kind kind = hf_op_kind_of(h, op);
    hf_scalar key = hf_key_scalar(h, h->op_key[op]);

    hf_json_object(j);
    hf_json_key(j, "t");
    hf_json_text(j, kind == HF_OP_WRITE    ? "w"
                    : kind == HF_OP_APPEND ? "a"
                                           : "r");
    hf_json_key(j, "k");
    if (key.type == HF_INT)
        hf_json_int(j, key.number);
    else
        hf_json_str(j, (hf_str){key.text, key.length});
    hf_json_key(j, "v");
    put_value(j, h, kind, h->op_value[op]);
    hf_json_end(j);
}

static void put_txn(hf_json *j, const hf_history *h,
                    const hf_export_numbers *numbers, hf_txn_id t)
{
    hf_json_object(j);
    hf_json_key(j, "tid");
    hf_json_uint(j, hf_export_txn(numbers, t));
    hf_json_key(j, "sid");
    hf_json_uint(j, hf_export_session(numbers, h->txn_session[t]));
    put_stamp(j, "sts", h->cert.start_ts[t]);
    put_stamp(j, "cts", h->cert.commit_ts[t]);
    hf_json_key(j, "ops");
    hf_json_array(j);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (!hf_export_skips(hf_op_kind_of(h, op)))
            put_op(j, h, op);
    hf_json_end(j);
    hf_json_end(j);
}

/* Every transaction needs both, and a session must be in their order. */
static hf_status check_stamps(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (!c->start_ts || c->start_ts[t] > INT64_MAX ||
            c->commit_ts[t] > INT64_MAX)
            return hf_fail(err, HF_ERR_UNSUPPORTED,
                           "T%lld has no start and commit timestamps, which "
                           "timekiller-json needs",
                           (long long)hf_txn_label(h, t));
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        for (uint32_t i = h->session_first[s] + 1; i < h->session_first[s + 1];
             i++) {
            hf_txn_id before = h->session_txns[i - 1], t = h->session_txns[i];

            if (c->start_ts[before] > c->start_ts[t] ||
                (c->start_ts[before] == c->start_ts[t] &&
                 c->commit_ts[before] > c->commit_ts[t]))
                return hf_fail(err, HF_ERR_UNSUPPORTED,
                               "T%lld starts before T%lld of its session by "
                               "their timestamps, which timekiller-json "
                               "cannot express",
                               (long long)hf_txn_label(h, t),
                               (long long)hf_txn_label(h, before));
        }
    return HF_OK;
}

hf_status hf_timekiller_export(const hf_history *h, hf_out *out, hf_error *err)
{
    hf_export_numbers numbers = hf_export_number(h);
    hf_status st = hf_export_check(
        h, "timekiller-json",
        HF_SAYS_EMPTY | HF_SAYS_INITIAL | HF_SAYS_LISTS | HF_SAYS_TEXT_KEYS |
            HF_SAYS_NEGATIVE | HF_ZERO_IS_INITIAL | HF_NULL_IS_INITIAL,
        err);

    if (st == HF_OK)
        st = check_stamps(h, err);
    if (st != HF_OK)
        return st;
    hf_out_text(out, "[");
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        hf_json j;

        hf_json_init(&j, out);
        hf_out_text(out, t > 0 ? ",\n" : "");
        put_txn(&j, h, &numbers, t);
    }
    hf_out_text(out, "]\n");
    return HF_OK;
}

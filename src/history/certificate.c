/* certificate.c: a certificate against its history. */
#include "history/certificate.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static bool writes_key(const hf_history *h, hf_txn_id t, hf_key_id key)
{
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
        if (h->op_key[op] == key && hf_op_installs(hf_op_kind_of(h, op)) &&
            !(hf_op_flags_of(h, op) & HF_OP_FAILED))
            return true;
    return false;
}

static hf_status contradiction(const hf_history *h, hf_txn_id t,
                               const char *what, hf_error *err)
{
    return hf_fail(err, HF_ERR_INPUT,
                   "the certificate contradicts the history: %s lists "
                   "transaction %lld, which %s",
                   what, (long long)hf_txn_label(h, t),
                   h->txn_outcome[t] == HF_ABORTED ? "aborted"
                                                   : "it lists already");
}

static hf_status check_order(const hf_history *h, uint32_t *seen, hf_error *err)
{
    const hf_certificate *c = &h->cert;

    for (hf_key_id k = 0; c->order_first && k < h->n_keys; k++)
        for (uint64_t i = c->order_first[k]; i < c->order_first[k + 1]; i++) {
            hf_txn_id t = c->order_txn[i];

            if (h->txn_outcome[t] == HF_ABORTED || seen[t] == k)
                return contradiction(h, t, "a version order", err);
            if (!writes_key(h, t, k))
                return hf_fail(err, HF_ERR_INPUT,
                               "the certificate contradicts the history: a "
                               "version order lists transaction %lld, which "
                               "does not write the key",
                               (long long)hf_txn_label(h, t));
            seen[t] = k;
        }
    return HF_OK;
}

hf_status hf_certificate_check(const hf_history *h, hf_error *err)
{
    const hf_certificate *c = &h->cert;
    uint32_t *seen;
    hf_status st;

    if (!c->order_first && c->n_serial == 0)
        return HF_OK;
    seen = HF_NEW_ARRAY(uint32_t, (size_t)h->n_txns + 1);
    memset(seen, 0xff, ((size_t)h->n_txns + 1) * sizeof(*seen));
    st = check_order(h, seen, err);
    memset(seen, 0xff, ((size_t)h->n_txns + 1) * sizeof(*seen));
    for (uint32_t i = 0; i < c->n_serial && st == HF_OK; i++) {
        hf_txn_id t = c->serial[i];

        if (h->txn_outcome[t] == HF_ABORTED || seen[t] == 0)
            st = contradiction(h, t, "the serial order", err);
        seen[t] = 0;
    }
    hf_free(seen);
    return st;
}

/* cycle_name.c: see cycle_name.h.  Linear in the length, for each form. */
#include "check/cycle_name.h"

#include <string.h>

static bool is_anti(hf_edge_kind kind)
{
    return kind == HF_EDGE_RW || kind == HF_EDGE_PRW;
}

static bool is_wr(hf_edge_kind kind)
{
    return kind == HF_EDGE_WR || kind == HF_EDGE_PWR;
}

static uint32_t count_kind(const hf_edge *e, uint32_t n, hf_edge_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += e[i].kind == kind;
    return count;
}

static bool has_adjacent_anti(const hf_edge *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_anti(e[i].kind) && is_anti(e[(i + 1) % n].kind))
            return true;
    return false;
}

hf_anomaly hf_cycle_name(const hf_edge *e, uint32_t n)
{
    uint32_t prw = count_kind(e, n, HF_EDGE_PRW);
    uint32_t anti = count_kind(e, n, HF_EDGE_RW) + prw;
    hf_anomaly base;

    if (anti == 0)
        base = count_kind(e, n, HF_EDGE_WR) + count_kind(e, n, HF_EDGE_PWR)
                   ? HF_G1C
                   : HF_G0;
    else if (anti == 1)
        base = prw ? HF_G_SINGLE : HF_G_SINGLE_ITEM;
    else if (!has_adjacent_anti(e, n))
        base = prw ? HF_G_NONADJACENT : HF_G_NONADJACENT_ITEM;
    else
        base = prw ? HF_G2 : HF_G2_ITEM;
    if (count_kind(e, n, HF_EDGE_RT) > 0)
        return (hf_anomaly)(base + 2);
    return count_kind(e, n, HF_EDGE_SO) > 0 ? (hf_anomaly)(base + 1) : base;
}

/* ---- aliases ------------------------------------------------------------- */

/* The cycle as kinds in a row, begun at each edge in turn: does it read like
 * this?  Letters: W ww, R wr or pwr, A rw or prw, S so, T rt. */
static bool reads_like(const hf_edge *e, uint32_t n, const char *pattern)
{
    static const char letters[HF_EDGE_KIND_COUNT] = {
        [HF_EDGE_WW] = 'W',  [HF_EDGE_WR] = 'R',  [HF_EDGE_RW] = 'A',
        [HF_EDGE_PWR] = 'R', [HF_EDGE_PRW] = 'A', [HF_EDGE_SO] = 'S',
        [HF_EDGE_RT] = 'T'};

    if (strlen(pattern) != n)
        return false;
    for (uint32_t start = 0; start < n; start++) {
        uint32_t i = 0;

        while (i < n && letters[e[(start + i) % n].kind] == pattern[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

bool hf_cycle_is_otv(const hf_edge *e, uint32_t n)
{
    const hf_edge *rw, *wr;

    if (n != 2 || is_anti(e[0].kind) == is_anti(e[1].kind))
        return false;
    rw = is_anti(e[0].kind) ? &e[0] : &e[1];
    wr = rw == &e[0] ? &e[1] : &e[0];
    return is_wr(wr->kind) && wr->to_op < rw->from_op;
}

bool hf_cycle_is_lost_update(const hf_edge *e, uint32_t n)
{
    return (reads_like(e, n, "AW") || reads_like(e, n, "AA")) &&
           e[0].key == e[1].key;
}

static bool has_reader_only(const hf_history *h, const hf_edge *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hf_txn_id t = e[i].from;
        bool writes = false;

        for (hf_op_id o = h->op_first[t]; o < h->op_first[t + 1]; o++)
            writes |= hf_op_installs(hf_op_kind_of(h, o)) &&
                      !(h->op_kind[o] & HF_OP_FAILED);
        if (!writes)
            return true;
    }
    return false;
}

static const char *plain_alias(const hf_history *h, const hf_edge *e,
                               uint32_t n, hf_anomaly name)
{
    switch (name) {
    case HF_G_SINGLE_ITEM:
        if (hf_cycle_is_lost_update(e, n))
            return "lost update";
        if (hf_cycle_is_otv(e, n))
            return "OTV";
        if (reads_like(e, n, "AR"))
            return "read skew";
        return count_kind(e, n, HF_EDGE_WR) + count_kind(e, n, HF_EDGE_PWR) >= 2
                   ? "causality violation"
                   : NULL;
    case HF_G_SINGLE:
        return n == 2 ? "phantom" : NULL;
    case HF_G_NONADJACENT_ITEM:
        return reads_like(e, n, "ARAR") ? "long fork" : NULL;
    case HF_G_NONADJACENT:
        return reads_like(e, n, "ARAR") ? "predicate long fork" : NULL;
    case HF_G2_ITEM:
        if (hf_cycle_is_lost_update(e, n))
            return "lost update";
        if (n == 2)
            return "write skew";
        return has_reader_only(h, e, n) ? "read-only anomaly" : NULL;
    case HF_G2:
        return n == 2 ? "predicate write skew" : NULL;
    default:
        return NULL;
    }
}

/* The famous forms of session and real-time cycles; items only. */
const char *hf_cycle_alias(const hf_history *h, const hf_edge *edges,
                           uint32_t n)
{
    static const struct {
        hf_anomaly name;
        const char *pattern, *alias;
    } forms[] = {
        {HF_G_SINGLE_ITEM_SESSION, "AS", "read-your-writes violation"},
        {HF_G_SINGLE_ITEM_SESSION, "ARS", "monotonic-reads violation"},
        {HF_G_SINGLE_ITEM_SESSION, "ASR", "monotonic-writes violation"},
        {HF_G_SINGLE_ITEM_SESSION, "ARSR", "writes-follow-reads violation"},
        {HF_G_NONADJACENT_ITEM_SESSION, "ASAS", "session long fork"},
        {HF_G_SINGLE_ITEM_REALTIME, "AT", "stale read"},
        {HF_G_SINGLE_REALTIME, "AT", "stale read"},
        {HF_G_SINGLE_ITEM_REALTIME, "ATR", "causal reverse"},
        {HF_G2_ITEM_REALTIME, "AAT", "two-ids"},
    };
    hf_anomaly name = hf_cycle_name(edges, n);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].name == name && reads_like(edges, n, forms[i].pattern))
            return forms[i].alias;
    return plain_alias(h, edges, n, name);
}

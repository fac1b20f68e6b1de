/* html_time.c: what happened when, as data for the page's script.
 *
 * The whole run is cut into equal parts, each with its counts and latencies
 * (a histogram with sixteen steps an octave, so that a percentile is right to
 * some per cent).  Single transactions are given for the ones nearest in time
 * to the evidence, at most BARS in all, in windows that the page names; where
 * there is no evidence, to the faults; and without these the first.  A client
 * that connected again has sessions "3", "3.1", "3.2", ...: they share a lane.
 *
 * Linear in the history, but for the sorting of transactions by begin.
 */
#include "report/html_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sort.h"
#include "history/extra.h"

#define BARS 4000
#define LANES 64
#define PARTS 160
#define FAULTS 200
#define STEPS 1024 /* of a histogram */

typedef struct histogram {
    uint32_t at[STEPS];
} histogram;

typedef struct part {
    uint64_t by_outcome[HF_OUTCOME_COUNT];
    histogram latency; /* of committed transactions */
} part;

typedef HF_VEC(size_t) place_list;

typedef struct plan {
    const hf_page *p;
    uint32_t *lane; /* per session: HF_NONE if it is not shown */
    hf_session_id *lane_session;
    uint32_t n_lanes, all_lanes;
    hf_sortable *by_begin; /* transactions of the lanes */
    size_t n;
    bool *is_chosen; /* per place in by_begin */
} plan;

bool hf_page_interval(const hf_page *p, hf_txn_id t, uint64_t *ret_begin,
                      uint64_t *ret_end)
{
    uint64_t begin = t, end = (uint64_t)t + 1;

    if (p->has_times) {
        begin = hf_txn_begin_time(p->h, t);
        end = hf_txn_end_time(p->h, t);
        if (begin == HF_TIME_NONE || begin < p->start)
            return false;
        begin -= p->start;
        end = end == HF_TIME_NONE || end - p->start < begin ? HF_TIME_NONE
                                                            : end - p->start;
    }
    *ret_begin = begin;
    *ret_end = end;
    return true;
}

static bool is_fault(const hf_page *p, hf_txn_id t)
{
    return p->faults != HF_NONE && p->h->txn_session[t] == p->faults;
}

/* ---- histograms ---------------------------------------------------------- */

static unsigned step_of(uint64_t value)
{
    unsigned octave;

    if (value < 16)
        return (unsigned)value;
    octave = 63u - (unsigned)__builtin_clzll(value);
    return (octave - 3) * 16 + (unsigned)(value >> (octave - 4) & 15);
}

/* The middle of the values that have this step. */
static uint64_t value_of(unsigned step)
{
    unsigned octave = step / 16 + 3;

    if (step < 16)
        return step;
    return ((uint64_t)(16 + step % 16) << (octave - 4)) +
           ((uint64_t)1 << (octave - 4)) / 2;
}

static void put_percentile(const histogram *h, double share, hf_json *j)
{
    uint64_t n = 0, seen = 0;

    for (unsigned i = 0; i < STEPS; i++)
        n += h->at[i];
    for (unsigned i = 0; i < STEPS && n > 0; i++) {
        seen += h->at[i];
        if ((double)seen >= share * (double)n) {
            hf_json_uint(j, value_of(i));
            return;
        }
    }
    hf_json_null(j);
}

/* ---- lanes --------------------------------------------------------------- */

/* The session that a later one of the same client goes with: "3" of "3.1". */
static hf_session_id first_session(const hf_history *h, hf_session_id s)
{
    hf_str name, other;
    size_t dot = 0;

    if (h->session_name[s] == HF_NONE)
        return s;
    name = hf_string(h, h->session_name[s]);
    while (dot < name.len && name.ptr[dot] >= '0' && name.ptr[dot] <= '9')
        dot++;
    if (dot == 0 || dot == name.len || name.ptr[dot] != '.' || dot > 9)
        return s;
    for (hf_session_id i = 0; i < h->n_sessions && i < 4096; i++) {
        if (h->session_name[i] == HF_NONE)
            continue;
        other = hf_string(h, h->session_name[i]);
        if (hf_str_eq(other, (hf_str){name.ptr, dot}))
            return i;
    }
    return s;
}

static void give_lane(plan *l, hf_session_id s)
{
    if (l->n_lanes == LANES || l->lane[s] != HF_NONE || s == l->p->faults ||
        l->p->h->session_first[s] == l->p->h->session_first[s + 1])
        return;
    l->lane[s] = l->n_lanes;
    l->lane_session[l->n_lanes++] = s;
}

/* Sessions of the evidence first, then the others as they come. */
static void choose_lanes(plan *l)
{
    const hf_history *h = l->p->h;
    hf_session_id *first = HF_NEW_ARRAY(hf_session_id, h->n_sessions + 1);

    l->lane = HF_NEW_ARRAY(uint32_t, h->n_sessions + 1);
    l->lane_session = HF_NEW_ARRAY(hf_session_id, LANES);
    for (hf_session_id s = 0; s < h->n_sessions; s++) {
        l->lane[s] = HF_NONE;
        first[s] = first_session(h, s);
        l->all_lanes += first[s] == s && s != l->p->faults &&
                        h->session_first[s] < h->session_first[s + 1];
    }
    for (size_t i = 0; i < l->p->evidence.n; i++)
        give_lane(l, first[h->txn_session[l->p->evidence.at[i]]]);
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        give_lane(l, first[s]);
    for (hf_session_id s = 0; s < h->n_sessions; s++)
        l->lane[s] = l->lane[first[s]];
    hf_free(first);
}

static void put_lanes(const plan *l, hf_json *j)
{
    hf_out text;

    hf_out_init_memory(&text);
    hf_json_key(j, "lanes");
    hf_json_array(j);
    for (uint32_t i = 0; i < l->n_lanes; i++) {
        hf_page_session_name(l->p->h, l->lane_session[i], &text);
        hf_json_str(j, hf_out_view(&text));
        text.n = 0;
    }
    hf_json_end(j);
    hf_json_key(j, "allLanes");
    hf_json_uint(j, l->all_lanes);
    hf_out_release(&text);
}

/* ---- bars ---------------------------------------------------------------- */

static void sort_by_begin(plan *l)
{
    const hf_history *h = l->p->h;
    uint64_t begin, end;

    l->by_begin = hf_alloc_large(
        hf_array_size((size_t)h->n_txns + 1, sizeof(hf_sortable)));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        if (!is_fault(l->p, t) && l->lane[h->txn_session[t]] != HF_NONE &&
            hf_page_interval(l->p, t, &begin, &end))
            l->by_begin[l->n++] = (hf_sortable){begin, t};
    hf_sort(l->by_begin, l->n);
}

static void choose_around(plan *l, size_t place, size_t many)
{
    size_t first = place > many / 2 ? place - many / 2 : 0;
    size_t end = first + many < l->n ? first + many : l->n;

    for (size_t i = first; i < end; i++)
        l->is_chosen[i] = true;
}

/* How many there are if each focus has `many` around it. */
static size_t count_around(const plan *l, const size_t *focus, size_t n,
                           size_t many)
{
    size_t end = 0, sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t first = focus[i] > many / 2 ? focus[i] - many / 2 : 0;
        size_t last = first + many < l->n ? first + many : l->n;

        if (first < end)
            first = end;
        if (last > first)
            sum += last - first;
        if (last > end)
            end = last;
    }
    return sum;
}

/* The most that each focus may have around it. */
static size_t find_share(const plan *l, const size_t *focus, size_t n)
{
    size_t low = 1, high = BARS;

    while (low < high) {
        size_t many = (low + high + 1) / 2;

        if (count_around(l, focus, n, many) <= BARS)
            low = many;
        else
            high = many - 1;
    }
    return low;
}

/* The place of the first transaction that began at that time or later. */
static size_t place_at(const plan *l, uint64_t time)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->by_begin[middle].key < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The evidence; where there is none, what surrounds the faults. */
static void find_focus(const plan *l, place_list *ret)
{
    const hf_page *p = l->p;
    uint64_t begin, end;

    for (size_t i = 0; i < l->n; i++)
        if (p->is_shown[l->by_begin[i].value])
            hf_vec_push(ret, i);
    if (ret->n > 0 || p->faults == HF_NONE)
        return;
    for (uint32_t i = p->h->session_first[p->faults];
         i < p->h->session_first[p->faults + 1] && ret->n < FAULTS; i++)
        if (hf_page_interval(p, p->h->session_txns[i], &begin, &end) &&
            (ret->n == 0 || place_at(l, begin) >= ret->at[ret->n - 1]))
            hf_vec_push(ret, place_at(l, begin));
}

/* All if they are few, else those near a focus, else the first. */
static void choose_bars(plan *l)
{
    place_list focus = {0};
    size_t many = 0;

    l->is_chosen = HF_NEW_ZEROED(bool, l->n + 1);
    find_focus(l, &focus);
    if (l->n <= BARS || focus.n == 0)
        choose_around(l, 0, BARS);
    else
        many = find_share(l, focus.at, focus.n);
    for (size_t i = 0; i < focus.n && many > 0; i++)
        choose_around(l, focus.at[i], many);
    hf_vec_release(&focus);
}

/* Columns: id, label, lane, begin, length (-1: no end), outcome, operations;
 * the places that `is_chosen` has. */
typedef enum column {
    COLUMN_ID = 0,
    COLUMN_LABEL,
    COLUMN_LANE,
    COLUMN_BEGIN,
    COLUMN_LENGTH,
    COLUMN_OUTCOME,
    COLUMN_OPS,
    COLUMN_COUNT
} column;

/* A script's numbers have 53 bits. */
static void put_label(int64_t label, hf_json *j)
{
    char digits[24];

    if (label > -((int64_t)1 << 53) && label < (int64_t)1 << 53) {
        hf_json_int(j, label);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%" PRId64, label);
    hf_json_text(j, digits);
}

static void put_cell(const plan *l, hf_txn_id t, column c, hf_json *j)
{
    const hf_history *h = l->p->h;
    uint64_t begin = 0, end = HF_TIME_NONE;

    (void)hf_page_interval(l->p, t, &begin, &end);
    switch (c) {
    case COLUMN_ID:
        hf_json_uint(j, t);
        return;
    case COLUMN_LABEL:
        put_label(hf_txn_label(h, t), j);
        return;
    case COLUMN_LANE:
        hf_json_uint(j, l->lane[h->txn_session[t]]);
        return;
    case COLUMN_BEGIN:
        hf_json_uint(j, begin);
        return;
    case COLUMN_LENGTH:
        if (end == HF_TIME_NONE)
            hf_json_int(j, -1);
        else
            hf_json_uint(j, end - begin);
        return;
    case COLUMN_OUTCOME:
        hf_json_uint(j, h->txn_outcome[t]);
        return;
    case COLUMN_OPS:
        hf_json_uint(j, h->op_first[t + 1] - h->op_first[t]);
        return;
    case COLUMN_COUNT:
        break;
    }
}

static void put_bars(const plan *l, hf_json *j)
{
    static const char *const names[COLUMN_COUNT] = {
        "id", "label", "lane", "begin", "length", "outcome", "ops"};

    hf_json_key(j, "bars");
    hf_json_object(j);
    for (unsigned c = 0; c < COLUMN_COUNT; c++) {
        hf_json_key(j, names[c]);
        hf_json_array(j);
        for (size_t i = 0; i < l->n; i++)
            if (l->is_chosen[i])
                put_cell(l, (hf_txn_id)l->by_begin[i].value, (column)c, j);
        hf_json_end(j);
    }
    hf_json_key(j, "all");
    hf_json_uint(j, l->n);
    hf_json_end(j);
}

/* The times between which every transaction that began has a bar. */
static void put_windows(const plan *l, hf_json *j)
{
    hf_json_key(j, "windows");
    hf_json_array(j);
    for (size_t i = 0; i < l->n; i++) {
        size_t last = i;

        if (!l->is_chosen[i])
            continue;
        while (last + 1 < l->n && l->is_chosen[last + 1])
            last++;
        hf_json_array(j);
        hf_json_uint(j, i == 0 ? 0 : l->by_begin[i].key);
        hf_json_uint(j, last + 1 == l->n ? l->p->span : l->by_begin[last].key);
        hf_json_end(j);
        i = last;
    }
    hf_json_end(j);
}

/* ---- the whole run ------------------------------------------------------- */

static void count_parts(const hf_page *p, part *parts, histogram *all,
                        uint64_t *ret_slowest)
{
    uint64_t width = p->span / PARTS + 1;

    for (hf_txn_id t = 0; t < p->h->n_txns; t++) {
        unsigned outcome = p->h->txn_outcome[t];
        uint64_t begin, end, at;

        if (is_fault(p, t) || !hf_page_interval(p, t, &begin, &end))
            continue;
        at = (end == HF_TIME_NONE || !p->has_times ? begin : end) / width;
        if (at >= PARTS)
            at = PARTS - 1;
        parts[at].by_outcome[outcome]++;
        if (end == HF_TIME_NONE || outcome != HF_COMMITTED)
            continue;
        parts[at].latency.at[step_of(end - begin)]++;
        all->at[step_of(end - begin)]++;
        if (end - begin > *ret_slowest)
            *ret_slowest = end - begin;
    }
}

static void put_latencies(const part *parts, double share, const char *name,
                          hf_json *j)
{
    hf_json_key(j, name);
    hf_json_array(j);
    for (unsigned i = 0; i < PARTS; i++)
        put_percentile(&parts[i].latency, share, j);
    hf_json_end(j);
}

static void put_summary(const histogram *all, uint64_t slowest, hf_json *j)
{
    static const struct {
        const char *name;
        double share;
    } shares[] = {{"median", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

    hf_json_key(j, "latency");
    hf_json_object(j);
    for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        hf_json_key(j, shares[i].name);
        put_percentile(all, shares[i].share, j);
    }
    hf_json_key(j, "most");
    hf_json_uint(j, slowest);
    hf_json_end(j);
}

static void put_overview(const hf_page *p, hf_json *j)
{
    part *parts = HF_NEW_ZEROED(part, PARTS);
    histogram *all = HF_NEW_ZEROED(histogram, 1);
    uint64_t slowest = 0;

    count_parts(p, parts, all, &slowest);
    hf_json_key(j, "overview");
    hf_json_object(j);
    hf_json_key(j, "width");
    hf_json_uint(j, p->span / PARTS + 1);
    for (unsigned o = 0; o < HF_OUTCOME_COUNT; o++) {
        hf_json_key(j, hf_outcome_name((hf_outcome)o));
        hf_json_array(j);
        for (unsigned i = 0; i < PARTS; i++)
            hf_json_uint(j, parts[i].by_outcome[o]);
        hf_json_end(j);
    }
    if (p->has_times && p->h->time_unit == HF_TIME_UNIT_NS) {
        put_latencies(parts, 0.5, "median", j);
        put_latencies(parts, 0.99, "p99", j);
        put_summary(all, slowest, j);
    }
    hf_json_end(j);
    hf_free(parts);
    hf_free(all);
}

/* ---- counts and faults --------------------------------------------------- */

static void put_kinds(const uint64_t *by_kind, hf_json *j)
{
    hf_json_key(j, "kinds");
    hf_json_array(j);
    for (unsigned k = 0; k < HF_OP_KIND_COUNT; k++) {
        if (by_kind[k] == 0)
            continue;
        hf_json_array(j);
        hf_json_text(j, hf_op_kind_name((hf_op_kind)k));
        hf_json_uint(j, by_kind[k]);
        hf_json_end(j);
    }
    hf_json_end(j);
}

static void put_stats(const hf_page *p, hf_json *j)
{
    uint64_t by_outcome[HF_OUTCOME_COUNT] = {0},
             by_kind[HF_OP_KIND_COUNT] = {0};
    uint64_t ops = 0, begin, end, timeless = 0;

    for (hf_txn_id t = 0; t < p->h->n_txns; t++) {
        if (is_fault(p, t))
            continue;
        by_outcome[p->h->txn_outcome[t]]++;
        timeless += !hf_page_interval(p, t, &begin, &end);
        for (hf_op_id o = p->h->op_first[t]; o < p->h->op_first[t + 1]; o++)
            by_kind[hf_op_kind_of(p->h, o)]++;
        ops += p->h->op_first[t + 1] - p->h->op_first[t];
    }
    hf_json_key(j, "stats");
    hf_json_object(j);
    for (unsigned o = 0; o < HF_OUTCOME_COUNT; o++) {
        hf_json_key(j, hf_outcome_name((hf_outcome)o));
        hf_json_uint(j, by_outcome[o]);
    }
    hf_json_key(j, "ops");
    hf_json_uint(j, ops);
    hf_json_key(j, "keys");
    hf_json_uint(j, p->h->n_keys);
    hf_json_key(j, "timeless");
    hf_json_uint(j, timeless);
    hf_json_key(j, "cutOff");
    hf_json_bool(j, p->h->cut_off);
    put_kinds(by_kind, j);
    hf_json_end(j);
}

static void put_fault(const hf_page *p, hf_txn_id t, hf_json *j)
{
    hf_op_id op = p->h->op_first[t];
    uint64_t begin, end;

    if (!hf_page_interval(p, t, &begin, &end))
        return;
    hf_json_array(j);
    hf_json_str(j, hf_string(p->h, hf_op_sql(p->h, op).text));
    hf_json_uint(j, begin);
    if (end != HF_TIME_NONE)
        hf_json_uint(j, end);
    hf_json_end(j);
}

static void put_faults(const hf_page *p, hf_json *j)
{
    const hf_history *h = p->h;
    uint32_t first, n = 0;

    hf_json_key(j, "faults");
    hf_json_array(j);
    if (p->faults != HF_NONE) {
        first = h->session_first[p->faults];
        n = h->session_first[p->faults + 1] - first;
        for (uint32_t i = 0; i < n && i < FAULTS; i++)
            put_fault(p, h->session_txns[first + i], j);
    }
    hf_json_end(j);
    hf_json_key(j, "allFaults");
    hf_json_uint(j, n);
}

static void put_time(const hf_page *p, hf_json *j)
{
    bool ns = p->has_times && p->h->time_unit == HF_TIME_UNIT_NS;

    hf_json_key(j, "time");
    hf_json_object(j);
    hf_json_key(j, "unit");
    hf_json_text(j, ns ? "ns" : p->has_times ? "event" : "file");
    hf_json_key(j, "span");
    hf_json_uint(j, p->span);
    hf_json_end(j);
}

void hf_page_times(const hf_page *p, hf_json *j)
{
    plan l = {.p = p};

    put_time(p, j);
    choose_lanes(&l);
    put_lanes(&l, j);
    sort_by_begin(&l);
    choose_bars(&l);
    put_bars(&l, j);
    put_windows(&l, j);
    put_overview(p, j);
    put_stats(p, j);
    put_faults(p, j);
    hf_free(l.lane);
    hf_free(l.lane_session);
    hf_free(l.by_begin);
    hf_free(l.is_chosen);
}

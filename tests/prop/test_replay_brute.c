/* test_replay_brute.c: the replay engine against a model of its own.
 *
 *     test_replay_brute [N [SEED]]
 *
 * Tiny random histories with an expected order are executed by a model that
 * keeps all states in full and asks of each level what it says, straight from
 * the definition.  The engine must agree, every witness must be accepted by
 * verify, and what is valid here must not be invalid for engine brute.
 *
 * Some histories are padded: after each transaction of the order others write
 * to another table, which changes no answer, and makes old snapshots so old
 * that the engine looks at them in another way.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/out.h"
#include "base/rng.h"
#include "check/check.h"
#include "history/promises.h"
#include "history/text.h"
#include "verify/verify.h"

#define KEYS 3
#define TXNS 5
#define OPS 4
#define NIL INT32_MIN /* no row */
#define BASE 64       /* lists: elements are digits of a number */
#define PADS 40       /* transactions after each, if padded */

typedef enum kind { GET, PUT, DEL, ROWS, COUNT, SUM, MIN, MAX, AVG, INC } kind;
typedef enum how { NO_SET, LISTED, TIMED, BY_IDS } how;

typedef struct op {
    kind kind;
    int key;
    int64_t value; /* INC: value is `after`, before is in `from` */
    int from;      /* INC */
    int cond, c;   /* condition and its number */
    int row[KEYS]; /* value returned, or NIL */
    int result;    /* aggregates, averages in sixths; NIL: none */
    how how;
    int entry[KEYS]; /* writer: -1 initial, -2 not listed, else txn */
    bool ids;        /* writers are written down */
    int time;        /* TIMED */
    unsigned held;   /* BY_IDS: transactions, as bits */
} op;

typedef struct txn {
    int n;
    op ops[OPS];
    int outcome; /* 0 committed, 1 aborted, 2 unknown */
    bool happened;
    int place, time, session;
} txn;

typedef struct model {
    int n, n_happened;
    txn t[TXNS];
    int at[TXNS]; /* place -> txn */
    int initial[KEYS];
    int64_t state[TXNS + 1][KEYS];
    int writer[TXNS + 1][KEYS]; /* -1: initial */
    bool by_serial, tabled, lists, padded;
} model;

static hf_rng rng;

static int below(int n)
{
    return (int)hf_rng_below(&rng, (uint32_t)n);
}

static bool chance(int percent)
{
    return below(100) < percent;
}

/* ---- conditions ---------------------------------------------------------- */

static bool holds(int cond, int c, int v)
{
    if (v == NIL)
        return false;
    switch (cond) {
    case 0:
        return true;
    case 1:
        return v < c;
    case 2:
        return v >= c;
    case 3:
        return v == c;
    case 4:
        return v >= c && v <= c + 2;
    case 5:
        return v % 3 == 1;
    case 6:
        return v == c || v == c + 3;
    case 7:
        return v < c || v > c + 3;
    default:
        return v != c;
    }
}

static void print_condition(hf_out *o, const op *p, const char *col)
{
    char text[80];

    if (p->cond == 4)
        (void)snprintf(text, sizeof text, "%s between %d and %d", col, p->c,
                       p->c + 2);
    else if (p->cond == 6)
        (void)snprintf(text, sizeof text, "%s in (%d, %d)", col, p->c,
                       p->c + 3);
    else if (p->cond == 7)
        (void)snprintf(text, sizeof text, "%s < %d or %s > %d", col, p->c, col,
                       p->c + 3);
    else if (p->cond == 0)
        (void)snprintf(text, sizeof text, "true");
    else if (p->cond == 5)
        (void)snprintf(text, sizeof text, "%s %% 3 = 1", col);
    else if (p->cond == 3)
        (void)snprintf(text, sizeof text, "%s = %d", col, p->c);
    else if (p->cond == 1)
        (void)snprintf(text, sizeof text, "%s < %d", col, p->c);
    else if (p->cond == 2)
        (void)snprintf(text, sizeof text, "%s >= %d", col, p->c);
    else
        (void)snprintf(text, sizeof text, "not (%s = %d)", col, p->c);
    hf_out_text(o, text);
}

/* ---- states -------------------------------------------------------------- */

/* What t sees of a key at its operation number `at` on state q. */
static int64_t seen(const model *m, int t, int at, int key, int q)
{
    int64_t list = m->state[q][key];

    if (m->lists) {
        for (int i = 0; i < at; i++)
            if (m->t[t].ops[i].kind == PUT && m->t[t].ops[i].key == key)
                list = (list == NIL ? 0 : list * BASE) + m->t[t].ops[i].value;
        return list;
    }
    for (int i = at; i-- > 0;) {
        const op *p = &m->t[t].ops[i];

        if ((p->kind == PUT || p->kind == INC) && p->key == key)
            return p->value;
        if (p->kind == DEL && p->key == key)
            return NIL;
    }
    return list;
}

static bool wrote(const model *m, int t, int at, int key)
{
    for (int i = at; i-- > 0;) {
        const op *p = &m->t[t].ops[i];

        if ((p->kind == PUT || p->kind == DEL || p->kind == INC) &&
            p->key == key)
            return true;
    }
    return false;
}

static void apply(model *m, int q, int t)
{
    memcpy(m->state[q + 1], m->state[q], sizeof m->state[q]);
    memcpy(m->writer[q + 1], m->writer[q], sizeof m->writer[q]);
    for (int k = 0; k < KEYS; k++)
        if (wrote(m, t, m->t[t].n, k)) {
            m->state[q + 1][k] = seen(m, t, m->t[t].n, k, q);
            m->writer[q + 1][k] = t;
        }
}

static int aggregate(const op *p, const int *values)
{
    int n = 0, sum = 0, least = 0, most = 0;

    for (int k = 0; k < KEYS; k++) {
        int v = values[k];

        if (!holds(p->cond, p->c, v))
            continue;
        sum += v;
        least = n == 0 || v < least ? v : least;
        most = n == 0 || v > most ? v : most;
        n++;
    }
    if (p->kind == COUNT)
        return n;
    if (n == 0)
        return NIL;
    if (p->kind == AVG)
        return sum * 6 / n;
    return p->kind == SUM ? sum : p->kind == MIN ? least : most;
}

static bool same_result(const op *p, int expected)
{
    if (p->kind != COUNT && expected == NIL)
        return p->result == NIL || (p->kind == SUM && p->result == 0);
    return p->result == expected;
}

/* ---- making -------------------------------------------------------------- */

static void random_predicate(op *p)
{
    p->cond = below(9);
    p->c = below(8);
}

/* The entry of key k in the version set of the operation. */
static int timed_entry(const model *m, int t, const op *p, int k)
{
    int best = -1, time = 0;

    for (int u = 0; u < m->n; u++)
        if (u != t && m->t[u].happened &&
            (p->how == BY_IDS ? (p->held >> u & 1) != 0
                              : m->t[u].time <= p->time) &&
            m->t[u].time > time && wrote(m, u, m->t[u].n, k)) {
            best = u;
            time = m->t[u].time;
        }
    return best;
}

static int value_of(const model *m, int writer, int k)
{
    return writer < 0 ? m->initial[k]
                      : (int)seen(m, writer, m->t[writer].n, k, 0);
}

static void fill_set(model *m, int t, int at, op *p, int q)
{
    p->how = chance(40)   ? NO_SET
             : chance(45) ? LISTED
             : chance(60) ? TIMED
                          : BY_IDS;
    p->ids = chance(40);
    for (int k = 0; k < KEYS; k++) {
        p->entry[k] = m->writer[q][k];
        if (chance(8))
            p->entry[k] = m->writer[below(q + 1)][k];
        if (chance(8))
            p->entry[k] = -2;
        if (wrote(m, t, at, k))
            p->entry[k] = -2;
    }
    p->time = 0;
    for (int i = 0; i < q; i++)
        if (m->t[m->at[i]].time > p->time)
            p->time = m->t[m->at[i]].time;
    if (chance(5))
        p->time = below(20);
    p->held = 0;
    for (int i = 0; i < q; i++)
        p->held |= 1u << m->at[i];
    if (chance(8))
        p->held ^= 1u << below(m->n);
}

static void random_op(model *m, int t, int at, int q)
{
    op *p = &m->t[t].ops[at];
    int what = below(100);

    *p = (op){.key = below(KEYS), .how = NO_SET, .result = NIL};
    p->kind = what < 30   ? GET
              : what < 50 ? PUT
              : what < 55 ? DEL
              : what < 60 ? INC
              : what < 82 ? ROWS
              : what < 87 ? COUNT
              : what < 91 ? SUM
              : what < 94 ? MIN
              : what < 97 ? MAX
                          : AVG;
    if (m->lists)
        p->kind = chance(60) ? GET : PUT;
    if (p->kind == INC && m->tabled)
        p->kind = PUT;
    if (p->kind == PUT)
        p->value = m->lists     ? t * OPS + at + 1
                   : chance(70) ? 100 * (t + 1) + 10 * at + below(8)
                                : below(10);
    if (p->kind == GET)
        p->value = seen(m, t, at, p->key, q);
    if (p->kind == INC) {
        p->from = (int)seen(m, t, at, p->key, q);
        if (p->from == NIL)
            p->kind = GET;
        p->value = p->kind == GET ? NIL : p->from + 1;
    }
    if (p->kind < ROWS || p->kind == INC)
        return;
    random_predicate(p);
    fill_set(m, t, at, p, q);
    {
        int values[KEYS];

        for (int k = 0; k < KEYS; k++) {
            values[k] = (int)seen(m, t, at, k, q);
            p->row[k] = holds(p->cond, p->c, values[k]) ? values[k] : NIL;
        }
        p->result = aggregate(p, values);
    }
}

static void tamper(const model *m, op *p)
{
    if (p->kind == GET)
        p->value =
            chance(30) ? NIL : m->state[below(m->n_happened + 1)][p->key];
    if (p->kind == ROWS)
        p->row[p->key] =
            chance(50) ? NIL : (int)m->state[below(m->n_happened + 1)][p->key];
    if (p->kind > ROWS && p->kind != INC)
        p->result = below(4);
}

static void random_model(model *m)
{
    int left[TXNS], times[TXNS];

    memset(m, 0, sizeof *m);
    m->n = 2 + below(TXNS - 1);
    m->by_serial = chance(40);
    m->tabled = chance(40);
    m->lists = chance(15);
    m->padded = chance(5);
    for (int t = 0; t < m->n; t++) {
        int x = below(100);

        m->t[t].outcome = x < 82 ? 0 : x < 92 ? 1 : 2;
        m->t[t].happened =
            m->t[t].outcome == 0 || (m->t[t].outcome == 2 && chance(50));
        m->t[t].n = 1 + below(OPS);
        m->t[t].session = below(2);
        left[t] = t;
        times[t] = t + 1;
    }
    for (int i = 0; i < m->n; i++) { /* a random order of those */
        int j = i + below(m->n - i), t = left[j];

        left[j] = left[i];
        left[i] = t;
        m->t[t].place = -1;
        if (m->t[t].happened) {
            m->t[t].place = m->n_happened;
            m->at[m->n_happened++] = t;
        }
    }
    /* commit times: as the order, or, if that is recorded, sometimes not */
    for (int i = 0; i < m->n_happened; i++) {
        int j = m->by_serial && chance(20) ? i + below(m->n_happened - i) : i;
        int x = times[j];

        times[j] = times[i];
        times[i] = x;
        m->t[m->at[i]].time = x * 3;
    }
    for (int k = 0; k < KEYS; k++) {
        m->initial[k] = m->lists || chance(50) ? NIL : below(10);
        m->state[0][k] = m->initial[k];
        m->writer[0][k] = -1;
    }
    for (int q = 0; q < m->n_happened; q++) {
        int t = m->at[q], style = below(100);
        int on = style < 60 ? q : below(q + 1);

        for (int i = 0; i < m->t[t].n; i++)
            random_op(m, t, i, style < 85 ? on : below(q + 1));
        apply(m, q, t);
    }
    for (int t = 0; t < m->n; t++)
        for (int i = 0; i < m->t[t].n; i++) {
            if (!m->t[t].happened) {
                m->t[t].ops[i] = (op){
                    .kind = PUT, .key = below(KEYS), .value = 900 + 10 * t + i};
                continue;
            }
            if (chance(4))
                tamper(m, &m->t[t].ops[i]);
        }
}

/* ---- judging ------------------------------------------------------------- */

/* From the version the state has to the entry, does nothing satisfy it? */
static bool is_quiet(const model *m, const op *p, int k, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;

    for (int q = low; q <= high; q++)
        if (holds(p->cond, p->c, (int)m->state[q][k]))
            return false;
    return true;
}

/* A state in which version w of k is there; -1: none. */
static int state_with(const model *m, int k, int w)
{
    for (int q = 0; q <= m->n_happened; q++)
        if (m->writer[q][k] == w)
            return q;
    return -1;
}

/* Is the entry (its writer known, or any with the value) fine on state q? */
static bool entry_fits(const model *m, int t, const op *p, int k, int q,
                       int entry, bool known)
{
    int value = value_of(m, entry, k);

    if (m->writer[q][k] == entry)
        return true;
    if (!known && m->state[q][k] == value)
        return true;
    for (int w = -1; w < m->n; w++) {
        int from;

        if (w == t || (known && w != entry) ||
            (from = state_with(m, k, w)) < 0 || value_of(m, w, k) != value)
            continue;
        /* the last state that has it, if it comes before */
        while (from < q && from < m->n_happened && m->writer[from + 1][k] == w)
            from++;
        if (is_quiet(m, p, k, from, q))
            return true;
    }
    return false;
}

static bool listed_fits(const model *m, int t, int at, int q)
{
    const op *p = &m->t[t].ops[at];
    int values[KEYS];

    for (int k = 0; k < KEYS; k++) {
        int v = p->entry[k] == -2 ? NIL : value_of(m, p->entry[k], k);

        values[k] = v;
        if (p->entry[k] == -2) { /* a row of it is an item */
            if (p->kind == ROWS && p->row[k] != NIL &&
                (!holds(p->cond, p->c, p->row[k]) ||
                 seen(m, t, at, k, q) != p->row[k]))
                return false;
            continue;
        }
        if (p->kind == ROWS && p->row[k] != (holds(p->cond, p->c, v) ? v : NIL))
            return false;
        if (wrote(m, t, at, k)
                ? seen(m, t, at, k, q) != v
                : !entry_fits(m, t, p, k, q, p->entry[k], p->ids))
            return false;
    }
    return p->kind == ROWS || same_result(p, aggregate(p, values));
}

static bool fits(const model *m, int t, int at, int q)
{
    const op *p = &m->t[t].ops[at];
    int values[KEYS];

    if (p->kind == PUT || p->kind == DEL)
        return true;
    if (p->kind == GET && m->lists && wrote(m, t, at, p->key) &&
        m->state[q][p->key] != m->state[m->t[t].place][p->key])
        return false; /* own elements stand after all that came before */
    if (p->kind == GET)
        return seen(m, t, at, p->key, q) == p->value;
    if (p->kind == INC)
        return seen(m, t, at, p->key, q) == p->from;
    if (p->how == LISTED)
        return listed_fits(m, t, at, q);
    for (int k = 0; k < KEYS; k++) {
        values[k] = (int)seen(m, t, at, k, q);
        if (p->kind == ROWS &&
            p->row[k] != (holds(p->cond, p->c, values[k]) ? values[k] : NIL))
            return false;
        if ((p->how == TIMED || p->how == BY_IDS) && !wrote(m, t, at, k) &&
            !entry_fits(m, t, p, k, q, timed_entry(m, t, p, k), true))
            return false;
    }
    return p->kind == ROWS || same_result(p, aggregate(p, values));
}

static bool serial_fits(const model *m)
{
    for (int i = 0; i < m->n_happened; i++)
        for (int o = 0; o < m->t[m->at[i]].n; o++)
            if (!fits(m, m->at[i], o, i))
                return false;
    return true;
}

static bool committed_fits(const model *m)
{
    for (int i = 0; i < m->n_happened; i++)
        for (int o = 0; o < m->t[m->at[i]].n; o++) {
            bool any = false;

            for (int q = 0; q <= i && !any; q++)
                any = fits(m, m->at[i], o, q);
            if (!any)
                return false;
        }
    return true;
}

static bool snapshot_fits(const model *m, bool sessions)
{
    for (int i = 0; i < m->n_happened; i++) {
        int t = m->at[i];
        bool any = false;

        for (int q = 0; q <= i && !any; q++) {
            any = true;
            for (int o = 0; o < m->t[t].n && any; o++)
                any = fits(m, t, o, q);
            for (int k = 0; k < KEYS && any; k++)
                any = !wrote(m, t, m->t[t].n, k) ||
                      m->writer[q][k] == m->writer[i][k];
            for (int j = q; j < i && any && sessions; j++)
                any = m->t[m->at[j]].session != m->t[t].session;
        }
        if (!any)
            return false;
    }
    return true;
}

static bool keeps_sessions(const model *m)
{
    for (int i = 0; i < m->n_happened; i++)
        for (int j = i + 1; j < m->n_happened; j++)
            if (m->t[m->at[i]].session == m->t[m->at[j]].session &&
                m->at[i] > m->at[j])
                return false;
    return true;
}

/* ---- text ---------------------------------------------------------------- */

static void print_key(hf_out *o, const model *m, int k)
{
    hf_out_format(o, m->tabled ? "[\"t\",\"%c\"]" : "\"%c\"", 'a' + k);
}

static void print_elements(hf_out *o, int64_t list)
{
    if (list >= BASE) {
        print_elements(o, list / BASE);
        hf_out_char(o, ',');
    }
    hf_out_int(o, list % BASE);
}

static void print_value(hf_out *o, const model *m, int64_t v)
{
    if (v == NIL)
        hf_out_text(o, "null");
    else
        hf_out_format(o, m->tabled ? "{\"v\":%d}" : "%d", (int)v);
}

static void print_set(hf_out *o, const model *m, const op *p)
{
    const char *comma = "";

    if (p->how == TIMED)
        hf_out_format(o, ",\"snapshot\":%d",
                      m->padded ? p->time * 100 + 99 : p->time);
    if (p->how == BY_IDS) {
        hf_out_format(o, ",\"snapshot\":\"1:%d:", m->n + 1);
        for (int u = 0; u < m->n; u++)
            if (!(p->held >> u & 1)) {
                hf_out_format(o, "%s%d", comma, u + 1);
                comma = ",";
            }
        hf_out_char(o, '"');
    }
    if (p->how != LISTED)
        return;
    hf_out_text(o, ",\"versions\":[");
    for (int k = 0; k < KEYS; k++) {
        if (p->entry[k] == -2)
            continue;
        hf_out_format(o, "%s[", comma);
        print_key(o, m, k);
        hf_out_char(o, ',');
        print_value(o, m, value_of(m, p->entry[k], k));
        if (p->ids)
            hf_out_format(o, ",%d", p->entry[k] + 1);
        hf_out_char(o, ']');
        comma = ",";
    }
    hf_out_char(o, ']');
}

static void print_predicate(hf_out *o, const model *m, const op *p)
{
    static const char *const names[] = {"pr",  "count", "sum",
                                        "min", "max",   "avg"};
    const char *col = m->tabled ? "v" : "value", *comma = "";

    hf_out_format(o, "{\"op\":\"%s\"", names[p->kind - ROWS]);
    if (p->kind > COUNT)
        hf_out_format(o, ",\"column\":\"%s\"", col);
    if (m->tabled)
        hf_out_text(o, ",\"table\":\"t\"");
    hf_out_text(o, ",\"where\":\"");
    print_condition(o, p, col);
    hf_out_char(o, '"');
    print_set(o, m, p);
    if (p->kind == ROWS) {
        hf_out_text(o, ",\"rows\":[");
        for (int k = 0; k < KEYS; k++) {
            if (p->row[k] == NIL)
                continue;
            hf_out_format(o, "%s[", comma);
            print_key(o, m, k);
            hf_out_char(o, ',');
            print_value(o, m, p->row[k]);
            hf_out_char(o, ']');
            comma = ",";
        }
        hf_out_text(o, "]}");
    } else if (p->result == NIL) {
        hf_out_text(o, ",\"value\":null}");
    } else if (p->kind == AVG) {
        hf_out_format(o, ",\"value\":%.*f}", 4 + p->c, p->result / 6.0);
    } else {
        hf_out_format(o, ",\"value\":%d}", p->result);
    }
}

static void print_op(hf_out *o, const model *m, const op *p)
{
    if (p->kind >= ROWS && p->kind <= AVG) {
        print_predicate(o, m, p);
        return;
    }
    if (p->kind == INC) {
        hf_out_text(o, "{\"op\":\"inc\",\"key\":");
        print_key(o, m, p->key);
        hf_out_format(o, ",\"by\":1,\"before\":%d,\"after\":%d}", p->from,
                      (int)p->value);
        return;
    }
    hf_out_format(o, "[\"%s\",",
                  p->kind == GET   ? "r"
                  : p->kind == DEL ? "delete"
                  : m->lists       ? "append"
                                   : "w");
    print_key(o, m, p->key);
    if (m->lists && p->kind == GET && p->value != NIL) {
        hf_out_text(o, ",[");
        print_elements(o, p->value);
        hf_out_text(o, "]]");
        return;
    }
    if (m->lists && p->kind == PUT) {
        hf_out_format(o, ",%d]", (int)p->value);
        return;
    }
    if (p->kind != DEL) {
        hf_out_char(o, ',');
        print_value(o, m, p->value);
    }
    hf_out_char(o, ']');
}

static void print_pads(hf_out *o, const model *m)
{
    for (int i = 0; i < m->n_happened; i++)
        for (int j = 0; j < PADS; j++)
            hf_out_format(o,
                          "{\"session\":\"p\",\"commit_ts\":%d,\"ops\":"
                          "[[\"w\",[\"p\",%d],{\"v\":%d}]]}\n",
                          m->t[m->at[i]].time * 100 + 1 + j, j, i);
}

static void print_serial(hf_out *o, const model *m)
{
    hf_out_text(o, "{\"serial\":[");
    for (int i = 0; i < m->n_happened; i++) {
        hf_out_format(o, "%s%d", i ? "," : "", m->at[i] + 1);
        for (int j = 0; m->padded && j < PADS; j++)
            hf_out_format(o, ",%d", m->n + 1 + i * PADS + j);
    }
    hf_out_text(o, "]}\n");
}

static void print_model(hf_out *o, const model *m)
{
    static const char *const outcomes[] = {"committed", "aborted", "unknown"};

    hf_out_text(o, "{\"holdfast\":1}\n");
    for (int k = 0; k < KEYS; k++)
        if (m->initial[k] != NIL) {
            hf_out_text(o, "{\"initial\":[[");
            print_key(o, m, k);
            hf_out_char(o, ',');
            print_value(o, m, m->initial[k]);
            hf_out_text(o, "]]}\n");
        }
    for (int t = 0; t < m->n; t++) {
        hf_out_format(o, "{\"session\":\"%c\",\"outcome\":\"%s\"",
                      's' + m->t[t].session, outcomes[m->t[t].outcome]);
        if (m->t[t].happened)
            hf_out_format(o, ",\"commit_ts\":%d",
                          m->padded ? m->t[t].time * 100 : m->t[t].time);
        hf_out_text(o, ",\"ops\":[");
        for (int i = 0; i < m->t[t].n; i++) {
            if (i > 0)
                hf_out_char(o, ',');
            print_op(o, m, &m->t[t].ops[i]);
        }
        hf_out_text(o, "]}\n");
    }
    if (m->padded)
        print_pads(o, m);
    if (m->by_serial)
        print_serial(o, m);
}

/* ---- comparing ----------------------------------------------------------- */

static struct {
    uint64_t histories, valid, invalid, unknown, unsupported, refused_input;
    uint64_t by_level[HF_LEVEL_COUNT][3];
} seen_so_far;

static void die(const char *what, const char *text, hf_level level,
                const char *more)
{
    fprintf(stderr, "%s at %s: %s\n%s", what, hf_level_get(level)->name, more,
            text);
    exit(1);
}

static hf_history *parse(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        die("bad text", text, HF_SERIALIZABLE, err.text);
    return h;
}

static void verify(const hf_history *h, const hf_result *r, const hf_witness *w,
                   const char *text)
{
    hf_claim claim = {r->verdict, r->level, *w};
    hf_verification v;
    hf_error err;
    hf_status st = hf_verify_claim(h, &claim, NULL, &v, &err);

    if (st == HF_ERR_UNSUPPORTED && w->kind == HF_WITNESS_COMMIT) {
        seen_so_far.unsupported++;
        return;
    }
    if (st != HF_OK)
        die("verify failed", text, r->level, err.text);
    if (!v.accepted)
        die(r->verdict == HF_VALID ? "valid refused" : "invalid refused", text,
            r->level, v.reason);
}

/* expected: 0 no, 1 yes, -1 not said. */
static void compare(const hf_history *h, const char *text, hf_level level,
                    int expected, bool may_be_unknown)
{
    hf_result *r = NULL, *b = NULL;
    hf_error err;

    if (hf_engine_ask(hf_engine_find(HF_STR("replay")), h, level, NULL, NULL,
                      &r, &err) != HF_OK)
        die("failed", text, level, err.text);
    seen_so_far.by_level[level][r->verdict]++;
    if (r->verdict == HF_UNKNOWN && !may_be_unknown)
        die("unknown", text, level, r->reason);
    if (r->verdict != HF_UNKNOWN && expected >= 0 &&
        (r->verdict == HF_VALID) != (expected == 1))
        die("disagree", text, level,
            expected ? "the model says valid" : "the model says invalid");
    if (r->verdict != HF_UNKNOWN)
        verify(h, r, &r->witness, text);
    for (uint32_t i = 0; i < r->n_findings; i++)
        verify(h, r, &r->findings[i].witness, text);
    if (r->verdict == HF_VALID && h->n_txns <= TXNS) {
        if (hf_engine_ask(hf_engine_find(HF_STR("brute")), h, level, NULL, NULL,
                          &b, &err) != HF_OK)
            die("brute failed", text, level, err.text);
        if (b->verdict == HF_INVALID)
            die("brute says invalid", text, level, "replay says valid");
        hf_result_free(b);
    }
    hf_result_free(r);
}

static bool has_sets(const model *m, how kind_of_set)
{
    for (int i = 0; i < m->n_happened; i++)
        for (int o = 0; o < m->t[m->at[i]].n; o++)
            if (m->t[m->at[i]].ops[o].how == kind_of_set)
                return true;
    return false;
}

/* Somebody of unknown outcome, without a place: what a snapshot by ids holds
 * of its keys is not known. */
static bool is_doubtful(const model *m)
{
    for (int t = 0; t < m->n && has_sets(m, BY_IDS); t++)
        if (m->t[t].outcome == 2 && !m->t[t].happened)
            return true;
    return false;
}

static void compare_levels(const model *m, const hf_history *h,
                           const char *text)
{
    bool snapshots = has_sets(m, TIMED) || has_sets(m, BY_IDS);
    bool keeps = keeps_sessions(m), serial = serial_fits(m);
    bool known = !is_doubtful(m);

    compare(h, text, HF_SERIALIZABLE, known ? serial : -1, false);
    compare(h, text, HF_STRONG_SESSION_SERIALIZABLE,
            known ? serial && keeps : -1, false);
    compare(h, text, HF_SNAPSHOT_ISOLATION,
            known ? snapshot_fits(m, false) : -1, snapshots);
    compare(h, text, HF_STRONG_SESSION_SNAPSHOT_ISOLATION,
            !keeps  ? 0
            : known ? snapshot_fits(m, true)
                    : -1,
            snapshots);
    compare(h, text, HF_READ_COMMITTED, known ? committed_fits(m) : -1,
            snapshots);
    compare(h, text, HF_READ_ATOMIC, -1, true);
    compare(h, text, HF_CAUSAL, -1, true);
    compare(h, text, HF_REPEATABLE_READ, -1, true);
}

static void compare_all(const model *m)
{
    hf_history *h;
    hf_error err;
    hf_out o;

    hf_out_init_memory(&o);
    print_model(&o, m);
    hf_out_char(&o, '\0');
    h = parse(o.at);
    if (hf_promises_check(h, &err) == HF_OK) {
        compare_levels(m, h, o.at);
        seen_so_far.histories++;
    } else {
        seen_so_far.refused_input++; /* a set with what nobody wrote */
    }
    hf_history_free(h);
    hf_out_release(&o);
}

int main(int argc, char **argv)
{
    static const hf_level levels[] = {HF_SERIALIZABLE, HF_SNAPSHOT_ISOLATION,
                                      HF_READ_COMMITTED, HF_READ_ATOMIC};
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    long seed = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

    for (long i = 0; i < n; i++) {
        model m;

        hf_rng_seed(&rng, (uint64_t)(seed * 1000003 + i));
        random_model(&m);
        compare_all(&m);
    }
    printf("%" PRIu64 " histories, %" PRIu64 " refused as input, %" PRIu64
           " witnesses not judged\n",
           seen_so_far.histories, seen_so_far.refused_input,
           seen_so_far.unsupported);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        const uint64_t *c = seen_so_far.by_level[levels[i]];

        printf("%-20s %8" PRIu64 " valid %8" PRIu64 " invalid %8" PRIu64
               " unknown\n",
               hf_level_get(levels[i])->name, c[HF_VALID], c[HF_INVALID],
               c[HF_UNKNOWN]);
        /* a test that sees one side only cannot fail */
        if (n >= 1000 && (c[HF_VALID] < (uint64_t)n / 50 ||
                          c[HF_INVALID] < (uint64_t)n / 50 ||
                          c[HF_UNKNOWN] > (uint64_t)n * (i < 3 ? 1 : 14) / 20))
            return 1;
    }
    return 0;
}

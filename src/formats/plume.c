/* plume.c: plume-text, one operation a line.
 *
 *     w(KEY,VALUE,SESSION,TXN)      r(KEY,VALUE,SESSION,TXN)
 *
 * also known as PolySI's text form, IsoVista's read-write registers and the
 * text form of GRAIL.  Lines with one TXN are one transaction, wherever they
 * stand; the order of first lines is the session order.  TXN -1 is an
 * operation of an aborted transaction: such lines of one session that follow
 * each other directly are taken as one transaction.
 *
 * Reading 0 is reading the initial version, unless the file writes 0 to that
 * key: then that write is an ordinary one and what is read.
 *
 * Speed.  Lines are read in batches: first the numbers of all lines, telling
 * the builder which values will be looked up, then the look-ups, which by
 * then are in the cache.  Linear.
 *
 * Not accepted though some tools write it: spaces, comments, a header.
 */
#include "base/vec.h"
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/idmap.h"
#include "formats/scan.h"
#include "formats/zeros.h"

#define BATCH 48
#define ABORTED UINT64_MAX /* TXN -1 */

typedef struct record {
    uint64_t value, session, txn;
    hf_key_id key;
    uint8_t kind;
} record;

typedef struct owner {
    uint64_t session, line;
} owner;

typedef struct plume {
    hf_builder *b;
    hf_error *err;
    hf_idmap keys, txns;
    hf_zeros zeros;
    HF_VEC(owner) owners; /* by transaction */
    record batch[BATCH];
    unsigned n_batch;
    uint64_t line; /* the line after the batch */
    /* the transaction of the line before */
    uint64_t txn_number, session_number;
    hf_txn_id txn;
    int64_t n_aborted;
    hf_session_id session;
    uint64_t session_known; /* number that `session` stands for */
    bool has_session;
} plume;

/* ---- import -------------------------------------------------------------- */

static hf_key_id new_key(plume *p, uint64_t number)
{
    hf_key_id key = hf_builder_key_int(p->b, (int64_t)number);

    hf_idmap_set(&p->keys, number, key);
    return key;
}

/* One line; *at is moved behind its newline.  False if it is none of ours. */
static inline bool parse_line(plume *p, const char **at, record *r)
{
    const char *c = *at;
    uint64_t key;

    if ((*c != 'r' && *c != 'w') || c[1] != '(')
        return false;
    r->kind = *c == 'r' ? HF_OP_READ : HF_OP_WRITE;
    c += 2;
    if (!hf_scan_uint(&c, &key) || *c++ != ',' ||
        !hf_scan_uint(&c, &r->value) || *c++ != ',' ||
        !hf_scan_uint(&c, &r->session) || *c++ != ',')
        return false;
    if (*c == '-') {
        if (c[1] != '1' || c[2] != ')')
            return false;
        c += 2;
        r->txn = ABORTED;
    } else if (!hf_scan_uint(&c, &r->txn)) {
        return false;
    }
    if (*c++ != ')')
        return false;
    c += *c == '\r';
    if (*c++ != '\n')
        return false;
    r->key = hf_idmap_get(&p->keys, key);
    if (r->key == HF_NONE)
        r->key = new_key(p, key);
    *at = c;
    return true;
}

static hf_session_id session_of(plume *p, uint64_t number)
{
    if (!p->has_session || p->session_known != number) {
        p->session = hf_builder_session_number(p->b, (int64_t)number);
        p->session_known = number;
        p->has_session = true;
    }
    return p->session;
}

/* Makes the transaction of r, which is not that of the line before, current.
 */
static hf_status switch_txn(plume *p, const record *r, uint64_t line)
{
    hf_txn_id t = r->txn == ABORTED ? HF_NONE : hf_idmap_get(&p->txns, r->txn);

    if (t == HF_NONE) {
        t = hf_builder_txn(p->b, session_of(p, r->session));
        hf_builder_line(p->b, t, line);
        if (hf_builder_failed(p->b))
            return HF_OK; /* reported when the builder finishes */
        if (r->txn == ABORTED) {
            hf_builder_outcome(p->b, t, HF_ABORTED);
            hf_builder_label(p->b, t, --p->n_aborted);
        } else {
            hf_builder_label(p->b, t, (int64_t)r->txn);
            hf_idmap_set(&p->txns, r->txn, t);
        }
        hf_vec_push(&p->owners, (owner){r->session, line});
    } else if (p->owners.at[t].session != r->session) {
        return hf_fail_line(p->err, line,
                            "expected transaction %llu in session %llu, as on "
                            "line %llu, found session %llu",
                            (unsigned long long)r->txn,
                            (unsigned long long)p->owners.at[t].session,
                            (unsigned long long)p->owners.at[t].line,
                            (unsigned long long)r->session);
    }
    p->txn = t;
    p->txn_number = r->txn;
    p->session_number = r->session;
    return HF_OK;
}

/* Hands the batch to the builder. */
static hf_status flush(plume *p)
{
    uint64_t line = p->line - p->n_batch;

    for (unsigned i = 0; i < p->n_batch; i++, line++) {
        const record *r = &p->batch[i];
        hf_value_id value;

        if (r->txn != p->txn_number || r->session != p->session_number ||
            p->owners.n == 0) {
            hf_status st = switch_txn(p, r, line);

            if (st != HF_OK)
                return st;
        }
        value = hf_zeros_int(&p->zeros, p->b, r->key, (int64_t)r->value,
                             r->kind == HF_OP_WRITE);
        (void)hf_builder_op(p->b, p->txn, r->kind, r->key, value);
    }
    p->n_batch = 0;
    return HF_OK;
}

static hf_status fail_parse(plume *p, const char *at, size_t left)
{
    char quoted[64];
    size_t n = 0;

    while (n < left && n < 60 && at[n] != '\n' && at[n] != '\r')
        n++;
    return hf_fail_line(p->err, p->line,
                        "expected r(KEY,VALUE,SESSION,TXN) or w(...) with "
                        "numbers below 2^63, found \"%s\"",
                        hf_quote(quoted, sizeof(quoted), at, n));
}

/* Passes over an empty line. */
static bool skip_blank(const char **at)
{
    const char *c = *at;

    c += *c == '\r';
    if (*c != '\n')
        return false;
    *at = c + 1;
    return true;
}

/* All lines of the text, which ends in a newline. */
static hf_status parse_lines(plume *p, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    hf_status st = HF_OK;

    while (at < end && st == HF_OK && !hf_builder_failed(p->b)) {
        while (at < end && p->n_batch < BATCH) {
            record *r = &p->batch[p->n_batch];

            if (!parse_line(p, &at, r))
                break;
            hf_builder_prefetch_int(p->b, r->key, (int64_t)r->value);
            p->n_batch++;
            p->line++;
        }
        if (p->n_batch > 0)
            st = flush(p);
        else if (skip_blank(&at))
            p->line++;
        else
            st = fail_parse(p, at, (size_t)(end - at));
    }
    return st;
}

/* The last line if it has no newline. */
static hf_status parse_rest(plume *p, const char *text, size_t length)
{
    char line[128];

    if (length == 0 || hf_builder_failed(p->b))
        return HF_OK;
    if (length > sizeof(line) - 1)
        return fail_parse(p, text, length);
    memcpy(line, text, length);
    line[length] = '\n';
    return parse_lines(p, line, length + 1);
}

/* Tells the builder about how much will come, from the first lines. */
static void expect(plume *p, const hf_input *in)
{
    size_t sample = in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES;
    uint64_t lines = 1, ops;

    for (size_t i = 0; i < sample; i++)
        lines += in->text[i] == '\n';
    ops = in->length / (sample / lines + 1);
    hf_builder_expect(p->b, ops, 0, ops / 2);
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    plume p = {.b = b, .err = err, .line = 1};
    size_t whole = in->length;
    hf_status st;

    /* Every newline-terminated line first: no end of text to watch for. */
    while (whole > 0 && in->text[whole - 1] != '\n')
        whole--;
    hf_idmap_init(&p.keys, in->length / 4 + 1024);
    hf_idmap_init(&p.txns, in->length / 4 + 1024);
    expect(&p, in);
    st = parse_lines(&p, in->text, whole);
    if (st == HF_OK)
        st = parse_rest(&p, in->text + whole, in->length - whole);
    if (st == HF_OK)
        hf_zeros_finish(&p.zeros, b);
    hf_idmap_release(&p.keys);
    hf_idmap_release(&p.txns);
    hf_zeros_release(&p.zeros);
    hf_vec_release(&p.owners);
    return st;
}

/* ---- detect -------------------------------------------------------------- */

static bool scan_field(const char **at, const char *end, char after)
{
    uint64_t number;

    if (!hf_scan_uint_until(at, end, &number) || *at == end || **at != after)
        return false;
    ++*at;
    return true;
}

static int detect(const hf_input *in)
{
    hf_lines lines = hf_lines_of(
        in->text, in->length < HF_DETECT_BYTES ? in->length : HF_DETECT_BYTES);
    hf_str line;
    const char *at, *end;

    do {
        if (!hf_lines_next(&lines, &line))
            return 0;
    } while (line.len == 0);
    at = line.ptr + 2;
    end = line.ptr + line.len;
    if (line.len < 10 || (line.ptr[0] != 'r' && line.ptr[0] != 'w') ||
        line.ptr[1] != '(' || !scan_field(&at, end, ',') ||
        !scan_field(&at, end, ',') || !scan_field(&at, end, ','))
        return 0;
    at += *at == '-';
    return scan_field(&at, end, ')') && at == end ? 98 : 0;
}

/* ---- export -------------------------------------------------------------- */

typedef struct writer {
    const hf_history *h;
    hf_out *out;
    hf_export_numbers numbers;
    hf_txn_id last; /* written last, HF_NONE at first */
} writer;

static void write_txn(writer *w, hf_txn_id t)
{
    const hf_history *h = w->h;
    uint64_t session = hf_export_session(&w->numbers, h->txn_session[t]);

    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_value_id v = h->op_value[op];

        if (hf_export_skips(kind))
            continue;
        hf_out_text(w->out, kind == HF_OP_READ ? "r(" : "w(");
        hf_out_int(w->out, h->key_data[h->op_key[op]]);
        hf_out_char(w->out, ',');
        hf_out_int(w->out, hf_export_initial(h, v) ? 0 : h->value_data[v]);
        hf_out_char(w->out, ',');
        hf_out_uint(w->out, session);
        hf_out_char(w->out, ',');
        if (h->txn_outcome[t] == HF_ABORTED)
            hf_out_text(w->out, "-1");
        else
            hf_out_uint(w->out, hf_export_txn(&w->numbers, t));
        hf_out_text(w->out, ")\n");
    }
    w->last = t;
}

/* Would t run into the transaction written last?  Only aborted transactions
 * do: they have no number. */
static bool would_merge(const writer *w, hf_txn_id t)
{
    const hf_history *h = w->h;

    return w->last != HF_NONE && h->txn_outcome[t] == HF_ABORTED &&
           h->txn_outcome[w->last] == HF_ABORTED &&
           h->txn_session[t] == h->txn_session[w->last];
}

/* Aborted transactions that would run into each other are held back and put
 * between others: their place in the session means nothing. */
static hf_status export_(const hf_history *h, hf_out *out, hf_error *err)
{
    writer w = {h, out, hf_export_number(h), HF_NONE};
    HF_VEC(hf_txn_id) held = {0};
    size_t next = 0;
    hf_status st = hf_export_check(
        h, "plume-text", HF_SAYS_ABORTED | HF_SAYS_INITIAL | HF_ZERO_IS_INITIAL,
        err);

    for (hf_txn_id t = 0; st == HF_OK && t < h->n_txns; t++) {
        if (would_merge(&w, t)) {
            hf_vec_push(&held, t);
            continue;
        }
        write_txn(&w, t);
        if (next < held.n && !would_merge(&w, held.at[next]))
            write_txn(&w, held.at[next++]);
    }
    while (st == HF_OK && next < held.n && !would_merge(&w, held.at[next]))
        write_txn(&w, held.at[next++]);
    if (st == HF_OK && next < held.n)
        st = hf_fail(err, HF_ERR_UNSUPPORTED,
                     "T%lld is aborted and so is the transaction before it in "
                     "its session, which plume-text cannot tell apart",
                     (long long)hf_txn_label(h, held.at[next]));
    hf_vec_release(&held);
    return st;
}

const hf_format hf_format_plume = {
    .name = "plume-text",
    .summary = "one operation a line, r(key,value,session,txn): Plume, "
               "PolySI, IsoVista, GRAIL",
    .extension = ".txt",
    .detect = detect,
    .import = import,
    .export_ = export_,
};

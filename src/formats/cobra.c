/* cobra.c: cobra-log-dir, the client logs of Cobra, PolySI and VeriStrong.
 *
 * A directory; each T<number>.log in it is one session (compressed ones are
 * read, too); other files are ignored.  A log is a sequence of records, all
 * integers 8 bytes, big-endian, signed:
 *
 *     'S' txn                                  starts
 *     'R' writer_txn write_id key value        reads
 *     'W' write_id key value                   writes
 *     'C' txn      'A' txn                     committed; aborted
 *
 * A write id is unique over the history and so is taken as the value written.
 * VeriStrong's logs reuse write ids on purpose: there a version is the pair
 * of write id and value, and if all write ids are the same, the value.  Such
 * logs are recognized by a write id used twice or by their constant
 * writer_txn.  Some writer_txn stand for the initial version: see is_initial.
 *
 * A read from a transaction that is not in the logs becomes a read of a value
 * that nobody wrote.  Linear.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"
#include "formats/export.h"
#include "formats/formats_all.h"
#include "formats/scan.h"

#define ID_INITIAL INT64_C(0xBEBEEBEE)
#define ID_ABSENT INT64_C(0xDEADBEEF)
#define ID_DELETED INT64_C(0xABCDEFAB)
#define ID_SHARED INT64_C(0xABDDEFEE) /* writer_txn of VeriStrong */

/* A read whose writer_txn is one of these sees no row.  (For garbage
 * collection Cobra reads flags with the initial writer and an odd write id:
 * those are initial as well.) */
static bool is_initial(int64_t writer)
{
    return writer == ID_INITIAL || writer == ID_ABSENT || writer == ID_DELETED;
}

/* ---- the names in a directory -------------------------------------------- */

typedef struct log_name {
    uint64_t number;
    char *path; /* owned */
} log_name;

typedef HF_VEC(log_name) log_names;

/* T<number>.log, .log.gz or .log.zst */
static bool is_log_name(const char *name, uint64_t *ret_number)
{
    const char *at = name + 1;

    return name[0] == 'T' &&
           hf_scan_uint_until(&at, name + strlen(name), ret_number) &&
           (strcmp(at, ".log") == 0 || strcmp(at, ".log.gz") == 0 ||
            strcmp(at, ".log.zst") == 0);
}

static int by_number(const void *a, const void *b)
{
    const log_name *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static void release_names(log_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        hf_free(names->at[i].path);
    hf_vec_release(names);
}

static char *join(const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = hf_alloc(size);

    (void)snprintf(path, size, "%s/%s", directory, name);
    return path;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static hf_status list_names(const char *directory, log_names *names,
                            hf_error *err)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    uint64_t number;

    if (!dir)
        return hf_fail(err, HF_ERR_IO, "%s", strerror(errno));
    while ((entry = readdir(dir)))
        if (is_log_name(entry->d_name, &number))
            hf_vec_push(names,
                        (log_name){number, join(directory, entry->d_name)});
    (void)closedir(dir);
    if (names->n == 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "expected files T<number>.log in the directory, found "
                       "none");
    qsort(names->at, names->n, sizeof(*names->at), by_number);
    for (size_t i = 1; i < names->n; i++)
        if (names->at[i].number == names->at[i - 1].number)
            return hf_fail(err, HF_ERR_INPUT,
                           "expected one log for session %llu, found two",
                           (unsigned long long)names->at[i].number);
    return HF_OK;
}

/* ---- records ------------------------------------------------------------- */

typedef struct record {
    char type;
    int64_t n[4];
} record;

typedef struct cursor {
    const unsigned char *at, *start, *end;
} cursor;

static cursor cursor_of(const hf_input *in)
{
    const unsigned char *text = (const unsigned char *)in->text;

    return (cursor){text, text, text + in->length};
}

static size_t numbers_of(unsigned char type)
{
    switch (type) {
    case 'S':
    case 'C':
    case 'A':
        return 1;
    case 'W':
        return 3;
    case 'R':
        return 4;
    default:
        return 0;
    }
}

static hf_status next_record(cursor *c, record *r, hf_error *err)
{
    uint64_t place = (uint64_t)(c->at - c->start);
    size_t count = numbers_of(*c->at);

    if (count == 0)
        return hf_fail_byte(err, place,
                            "expected a record S, R, W, C or A, found byte "
                            "0x%02x",
                            *c->at);
    if ((size_t)(c->end - c->at) < 1 + 8 * count)
        return hf_fail_byte(err, place,
                            "expected %zu bytes of record %c, found the end "
                            "of the input after %zu",
                            1 + 8 * count, *c->at, (size_t)(c->end - c->at));
    r->type = (char)*c->at++;
    for (size_t i = 0; i < count; i++) {
        uint64_t n = 0;

        for (int byte = 0; byte < 8; byte++)
            n = n << 8 | *c->at++;
        r->n[i] = (int64_t)n;
    }
    return HF_OK;
}

/* ---- import -------------------------------------------------------------- */

typedef struct cobra {
    hf_builder *b;
    hf_error *err;
    hf_map write_ids; /* seen in writes */
    hf_map txn_ids;
    bool shared; /* write ids do not tell versions apart */
    hf_txn_id txn;
    int64_t txn_id;
    bool open;
} cobra;

/* First pass: is every record whole, are write ids shared? */
static hf_status survey(cobra *c, const hf_input *in)
{
    cursor at = cursor_of(in);
    record r = {0};

    while (at.at < at.end) {
        hf_status st = next_record(&at, &r, c->err);

        if (st != HF_OK)
            return st;
        if (r.type == 'R' && r.n[0] == ID_SHARED)
            c->shared = true;
        if (r.type == 'W') {
            uint32_t known = (uint32_t)c->write_ids.n;

            if (hf_map_add(&c->write_ids, (uint64_t)r.n[0], known) != known)
                c->shared = true;
        }
        if (in->budget && hf_budget_spent(in->budget))
            return hf_fail(c->err, HF_ERR_LIMIT, "%s",
                           hf_budget_reason(in->budget));
    }
    return HF_OK;
}

static hf_value_id value_of(cobra *c, hf_key_id key, int64_t write_id,
                            int64_t value)
{
    char pair[48];
    int n;

    if (!c->shared)
        return hf_builder_int(c->b, key, write_id);
    if (c->write_ids.n <= 1)
        return hf_builder_int(c->b, key, value);
    n = snprintf(pair, sizeof(pair), "%lld/%lld", (long long)write_id,
                 (long long)value);
    return hf_builder_value(
        c->b, key,
        (hf_scalar){.type = HF_TEXT, .text = pair, .length = (size_t)n});
}

static void add_op(cobra *c, const record *r)
{
    hf_key_id key = hf_builder_key_int(c->b, r->n[r->type == 'R' ? 2 : 1]);
    hf_value_id value;

    if (r->type == 'W')
        value = value_of(c, key, r->n[0], r->n[2]);
    else if (is_initial(r->n[0]))
        value = hf_builder_nil(c->b, key);
    else
        value = value_of(c, key, r->n[1], r->n[3]);
    (void)hf_builder_op(c->b, c->txn, r->type == 'W' ? HF_OP_WRITE : HF_OP_READ,
                        key, value);
}

static hf_status add_record(cobra *c, const record *r, hf_session_id session,
                            uint64_t place)
{
    if (c->open != (r->type != 'S'))
        return hf_fail_byte(c->err, place, "expected %s, found record %c",
                            c->open
                                ? "the end of the transaction before a new one"
                                : "the start of a transaction",
                            r->type);
    if (r->type == 'S') {
        c->txn = hf_builder_txn(c->b, session);
        hf_builder_label(c->b, c->txn, r->n[0]);
        if (hf_map_add(&c->txn_ids, (uint64_t)r->n[0], c->txn) != c->txn)
            return hf_fail_byte(c->err, place,
                                "expected a transaction with an id of its "
                                "own, found %lld again",
                                (long long)r->n[0]);
        c->txn_id = r->n[0];
        c->open = true;
    } else if (r->type == 'R' || r->type == 'W') {
        add_op(c, r);
    } else if (r->n[0] != c->txn_id) {
        return hf_fail_byte(c->err, place,
                            "expected the end of transaction %lld, found that "
                            "of %lld",
                            (long long)c->txn_id, (long long)r->n[0]);
    } else {
        if (r->type == 'A')
            hf_builder_outcome(c->b, c->txn, HF_ABORTED);
        c->open = false;
    }
    return HF_OK;
}

static hf_status add_log(cobra *c, const hf_input *in, hf_session_id session)
{
    cursor at = cursor_of(in);
    hf_status st = HF_OK;

    c->open = false;
    while (st == HF_OK && at.at < at.end && !hf_builder_failed(c->b)) {
        uint64_t place = (uint64_t)(at.at - at.start);
        record r = {0};

        st = next_record(&at, &r, c->err);
        if (st == HF_OK)
            st = add_record(c, &r, session, place);
    }
    if (st == HF_OK && c->open && !hf_builder_failed(c->b))
        st = hf_fail_byte(c->err, in->length,
                          "expected the end of transaction %lld, found the "
                          "end of the input",
                          (long long)c->txn_id);
    return st;
}

/* The name of the log stands where the path of a single file would. */
static hf_status in_log(hf_status st, const char *path, hf_error *err)
{
    if (st == HF_OK || !err)
        return st;
    if (err->byte != HF_NO_PLACE)
        hf_error_context(err, "byte %llu", (unsigned long long)err->byte);
    hf_error_context(err, "\"%s\"", base_name(path));
    err->byte = HF_NO_PLACE;
    return st;
}

static hf_status import_logs(cobra *c, const log_names *names, hf_input *logs,
                             hf_budget *budget)
{
    hf_status st = HF_OK;

    for (size_t i = 0; i < names->n && st == HF_OK; i++) {
        st = hf_input_open(&logs[i], names->at[i].path, budget, c->err);
        if (st == HF_OK)
            st = survey(c, &logs[i]);
        (void)in_log(st, names->at[i].path, c->err);
    }
    for (size_t i = 0; i < names->n && st == HF_OK; i++) {
        hf_session_id session =
            hf_builder_session_number(c->b, (int64_t)names->at[i].number);

        st = in_log(add_log(c, &logs[i], session), names->at[i].path, c->err);
        hf_input_close(&logs[i]);
    }
    return st;
}

static hf_status import_directory(cobra *c, const hf_input *in)
{
    log_names names = {0};
    hf_status st = list_names(in->path, &names, c->err);

    if (st == HF_OK) {
        hf_input *logs = HF_NEW_ZEROED(hf_input, names.n);

        st = import_logs(c, &names, logs, in->budget);
        for (size_t i = 0; i < names.n; i++)
            hf_input_close(&logs[i]);
        hf_free(logs);
    }
    release_names(&names);
    return st;
}

static hf_status import(const hf_input *in, hf_builder *b, hf_error *err)
{
    cobra c = {.b = b, .err = err};
    hf_status st;

    hf_map_init(&c.write_ids);
    hf_map_init(&c.txn_ids);
    if (in->is_directory) {
        st = import_directory(&c, in);
    } else {
        st = survey(&c, in);
        if (st == HF_OK)
            st = add_log(&c, in, hf_builder_session_number(b, 0));
    }
    hf_map_release(&c.write_ids);
    hf_map_release(&c.txn_ids);
    return st;
}

/* A directory with a log in it; or one log, whose first transaction is whole.
 */
static int detect(const hf_input *in)
{
    cursor at = cursor_of(in);
    record first, r = {0};
    int steps = 0;

    if (in->is_directory) {
        log_names names = {0};
        bool found = list_names(in->path, &names, NULL) == HF_OK;

        found = found || names.n > 0;
        release_names(&names);
        return found ? 97 : 0;
    }
    if (in->length < 18 || in->text[0] != 'S' ||
        next_record(&at, &first, NULL) != HF_OK)
        return 0;
    while (at.at < at.end && steps++ < 1000) {
        if (next_record(&at, &r, NULL) != HF_OK || r.type == 'S')
            return 0;
        if (r.type == 'C' || r.type == 'A')
            return r.n[0] == first.n[0] ? 90 : 0;
    }
    return 0;
}

/* ---- export -------------------------------------------------------------- */

typedef struct writer {
    const hf_history *h;
    hf_export_numbers numbers;
    hf_txn_id *writer_of; /* by value: HF_NONE if nobody writes it */
    bool shared;          /* as VeriStrong does */
    uint64_t nobody;      /* a transaction number that is not in the logs */
} writer;

/* Who writes what; whether a number is written twice. */
static void find_writers(writer *w)
{
    const hf_history *h = w->h;
    hf_map numbers;

    hf_map_init(&numbers);
    w->writer_of = HF_NEW_ARRAY(hf_txn_id, h->n_values);
    memset(w->writer_of, 0xff, h->n_values * sizeof(*w->writer_of));
    for (hf_txn_id t = 0; t < h->n_txns; t++) {
        uint64_t number = hf_export_txn(&w->numbers, t);

        w->nobody = number >= w->nobody ? number + 1 : w->nobody;
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            hf_value_id v = h->op_value[op];

            if (hf_op_kind_of(h, op) != HF_OP_WRITE)
                continue;
            w->writer_of[v] = t;
            if (hf_map_add(&numbers, (uint64_t)h->value_data[v], op) != op)
                w->shared = true;
        }
    }
    hf_map_release(&numbers);
}

static void put(hf_out *out, int64_t number)
{
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)((uint64_t)number >> (56 - 8 * i));
    hf_out_bytes(out, bytes, 8);
}

static void write_read(const writer *w, hf_value_id v, hf_out *out)
{
    hf_txn_id from = w->writer_of[v];

    if (hf_export_initial(w->h, v)) {
        put(out, ID_INITIAL);
        put(out, ID_INITIAL);
    } else if (w->shared) {
        put(out, ID_SHARED);
        put(out, 1);
    } else {
        put(out, (int64_t)(from == HF_NONE ? w->nobody
                                           : hf_export_txn(&w->numbers, from)));
        put(out, w->h->value_data[v]);
    }
}

static void write_txn(const writer *w, hf_txn_id t, hf_out *out)
{
    const hf_history *h = w->h;
    int64_t number = (int64_t)hf_export_txn(&w->numbers, t);

    hf_out_char(out, 'S');
    put(out, number);
    for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
        hf_op_kind kind = hf_op_kind_of(h, op);
        hf_value_id v = h->op_value[op];

        if (hf_export_skips(kind))
            continue;
        hf_out_char(out, kind == HF_OP_READ ? 'R' : 'W');
        if (kind == HF_OP_READ)
            write_read(w, v, out);
        else
            put(out, w->shared ? 1 : h->value_data[v]);
        put(out, h->key_data[h->op_key[op]]);
        put(out, hf_export_initial(h, v) ? 0 : h->value_data[v]);
    }
    hf_out_char(out, h->txn_outcome[t] == HF_COMMITTED ? 'C' : 'A');
    put(out, number);
}

static hf_status write_log(const writer *w, const char *directory,
                           hf_session_id s, hf_error *err)
{
    char name[32];
    char *path;
    hf_out out;
    hf_status st;
    int fd;

    (void)snprintf(name, sizeof(name), "T%llu.log",
                   (unsigned long long)hf_export_session(&w->numbers, s));
    path = join(directory, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    hf_free(path);
    if (fd < 0)
        return hf_fail(err, HF_ERR_IO, "\"%s\": %s", name, strerror(errno));
    hf_out_init_fd(&out, fd);
    for (uint32_t i = w->h->session_first[s]; i < w->h->session_first[s + 1];
         i++)
        write_txn(w, w->h->session_txns[i], &out);
    st = hf_out_close(&out, err);
    if (close(fd) != 0 && st == HF_OK)
        st = hf_fail(err, HF_ERR_IO, "\"%s\": %s", name, strerror(errno));
    return st;
}

static hf_status export_directory(const hf_history *h, const char *path,
                                  hf_error *err)
{
    writer w = {.h = h, .numbers = hf_export_number(h), .nobody = 1};
    hf_status st = hf_export_check(h, "cobra-log-dir",
                                   HF_SAYS_ABORTED | HF_SAYS_EMPTY |
                                       HF_SAYS_INITIAL | HF_SAYS_NEGATIVE,
                                   err);

    if (st != HF_OK)
        return st;
    for (hf_txn_id t = 0; w.numbers.txn_labels && t < h->n_txns; t++)
        w.numbers.txn_labels = h->txn_label[t] >= 0 &&
                               !is_initial(h->txn_label[t]) &&
                               h->txn_label[t] != ID_SHARED;
    if (mkdir(path, 0777) != 0)
        return hf_fail(err, HF_ERR_IO, "could not make the directory: %s",
                       strerror(errno));
    find_writers(&w);
    for (hf_session_id s = 0; s < h->n_sessions && st == HF_OK; s++)
        st = write_log(&w, path, s, err);
    hf_free(w.writer_of);
    return st;
}

const hf_format hf_format_cobra = {
    .name = "cobra-log-dir",
    .summary = "a directory of client logs T<number>.log: Cobra, PolySI, "
               "VeriStrong",
    .extension = "",
    .detect = detect,
    .import = import,
    .export_directory = export_directory,
};

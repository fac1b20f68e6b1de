/* test_stream.c: the binary form in pieces, and the recorder that writes it:
 * what a killed writer leaves behind is a history in which every read has its
 * write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/rng.h"
#include "history/binary.h"
#include "history/binary_layout.h"
#include "history/binary_stream.h"
#include "history/pieces.h"
#include "history/text.h"
#include "run/recorder.h"
#include "run/tag.h"

/* ---- pieces -------------------------------------------------------------- */

/* Every kind of operation, in two pieces that share keys, values, lists and
 * sessions. */
static const char *const pieces[] = {
    "{\"initial\":[[\"x\",10],[[\"t\",\"a:b\"],0]]}\n"
    "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",10],[\"w\",\"x\",2],[\"append\","
    "\"l\",3],[\"r\",\"l\",[1,2,3]],[\"r\",\"l\",[]],[\"insert\",[\"t\",7],"
    "{\"owner\":\"bo\",\"sum\":100}],[\"delete\",\"x\"],[\"inc\",\"x\",5],"
    "{\"op\":\"inc\",\"key\":\"x\",\"by\":5,\"before\":10,\"after\":15,\"at\":"
    "[120,130]}],\"begin\":100,\"end\":250,\"level\":\"serializable\"}\n"
    "{\"session\":7,\"ops\":[{\"op\":\"r\",\"key\":\"x\",\"value\":5,\"lock\":"
    "\"update\"},{\"op\":\"w\",\"key\":\"x\",\"value\":6,\"failed\":true},[\"r"
    "\",\"x\"],[\"r\",-3,true],[\"w\",12345678901,2.5],{\"op\":\"commit\","
    "\"at\":[240,null]}],\"outcome\":\"unknown\",\"begin\":50}\n",
    "{\"session\":7,\"ops\":[{\"op\":\"pr\",\"table\":\"t\",\"where\":"
    "\"value < 5\",\"columns\":[\"value\"],\"versions\":[[\"x\",2],[\"y\",null"
    ",0]],\"rows\":[[\"x\",2]]},{\"op\":\"sum\",\"where\":\"true\",\"columns\""
    ":[\"value\"],\"versions\":[[\"x\",100],[\"y\",110]],\"value\":210},"
    "{\"op\":\"pu\",\"where\":\"value = 1\",\"rows\":[]},{\"op\":\"max\","
    "\"where\":\"true\",\"value\":null}],\"begin\":300,\"end\":400}\n"
    "{\"session\":\"a\",\"ops\":[[\"r\",\"l\",[1,2,3,4]],{\"op\":\"sql\","
    "\"text\":\"select v from t\",\"params\":[7,\"a\\nb\",1.5,null,true],"
    "\"columns\":[\"v\"],\"rows\":[[100]],\"items\":true},[\"r\",\"x\",2]],"
    "\"outcome\":\"aborted\",\"begin\":300,\"end\":5000000000000}\n"};

static hf_history *parse(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;
    hf_status st = hf_text_read(text, strlen(text), b, &err);

    if (st == HF_OK)
        st = hf_builder_finish(b, &h, &err);
    else
        hf_builder_free(b);
    if (st != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static char *print(const hf_history *h)
{
    hf_out out;

    hf_out_init_memory(&out);
    hf_text_write(h, &out);
    hf_out_char(&out, '\0');
    return out.at;
}

static void write_pieces(hf_out *out)
{
    uint64_t txns = 0, ops = 0;

    hf_out_init_memory(out);
    hf_stream_begin(out, &(hf_stream_about){.time_unit = HF_TIME_UNIT_NS,
                                            .unique_values = true,
                                            .name = HF_STR("two pieces")});
    for (unsigned i = 0; i < 2; i++) {
        hf_history *h = parse(pieces[i]);

        hf_stream_piece(out, h);
        txns += h->n_txns;
        ops += h->n_ops;
        hf_history_free(h);
    }
    hf_stream_end(out, txns, ops);
}

static void test_pieces_make_the_whole(void **state)
{
    hf_history *whole = NULL, *expected;
    char all[8192], *a, *b;
    hf_out out;
    hf_error err;

    (void)state;
    (void)snprintf(all, sizeof(all),
                   "{\"holdfast\":1,\"name\":\"two pieces\",\"time\":\"ns\","
                   "\"unique\":true}\n%s%s",
                   pieces[0], pieces[1]);
    write_pieces(&out);
    if (hf_binary_read(out.at, out.n, NULL, &whole, &err) != HF_OK)
        fail_msg("%s", err.text);
    assert_false(whole->cut_off);
    assert_int_equal(whole->n_sessions, 2);
    expected = parse(all);
    a = print(whole);
    b = print(expected);
    assert_string_equal(a, b);
    hf_free(a);
    hf_free(b);
    hf_history_free(whole);
    hf_history_free(expected);
    hf_out_release(&out);
}

static void test_every_prefix_is_readable(void **state)
{
    uint32_t last = 0;
    hf_out out;

    (void)state;
    write_pieces(&out);
    for (size_t n = 16; n < out.n; n++) {
        char *copy = malloc(n); /* so that reading beyond it is seen */
        hf_history *h = NULL;
        hf_error err;

        assert_non_null(copy);
        memcpy(copy, out.at, n);
        if (hf_binary_read(copy, n, NULL, &h, &err) != HF_OK)
            fail_msg("%zu bytes: %s", n, err.text);
        assert_true(h->cut_off);
        assert_true(h->n_txns >= last);
        last = h->n_txns;
        hf_history_free(h);
        free(copy);
    }
    assert_int_equal(last, 4);
    hf_out_release(&out);
}

static void test_damage_is_an_error(void **state)
{
    unsigned refused = 0, tried = 0;
    hf_out out;

    (void)state;
    write_pieces(&out);
    for (size_t n = 16; n < out.n; n += 7, tried++) {
        hf_history *h = NULL;
        hf_error err;

        out.at[n] ^= 0x20;
        if (hf_binary_read(out.at, out.n, NULL, &h, &err) != HF_OK)
            refused++;
        hf_history_free(h);
        out.at[n] ^= 0x20;
    }
    assert_int_equal(refused, tried);
    hf_out_release(&out);
}

/* ---- skimming ------------------------------------------------------------ */

/* No rows with columns, no initial values: sessions are enough; but the last
 * transaction's begin is its operation's. */
static const char *const light[] = {
    "{\"session\":\"a\",\"ops\":[[\"w\",\"x\",1],[\"w\",\"y\",2]],\"begin\":"
    "100,"
    "\"end\":150}\n"
    "{\"session\":\"b\",\"ops\":[],\"begin\":70,\"end\":150}\n"
    "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",1]],\"begin\":200,\"end\":250}\n",
    "{\"session\":\"b\",\"ops\":[{\"op\":\"w\",\"key\":\"x\",\"value\":3,"
    "\"at\":"
    "[300,310]}]}\n"};

static int light_and_full(hf_out *out)
{
    const char *texts[] = {light[0], pieces[0], light[1], pieces[1], light[0]};
    FILE *file = tmpfile();
    uint64_t txns = 0, ops = 0;

    hf_out_init_memory(out);
    hf_stream_begin(out, &(hf_stream_about){.time_unit = HF_TIME_UNIT_NS});
    for (unsigned i = 0; i < 5; i++) {
        hf_history *h = parse(texts[i]);

        hf_stream_piece(out, h);
        txns += h->n_txns;
        ops += h->n_ops;
        hf_history_free(h);
    }
    hf_stream_end(out, txns, ops);
    assert_non_null(file);
    return fileno(file); /* goes with the process */
}

static void put_file(int fd, const char *bytes, size_t n)
{
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bytes, n, 0), (ssize_t)n);
}

typedef hf_status (*next_piece)(hf_pieces *p, hf_history **ret, hf_error *err);

/* Sessions and what is known of begins, as text; how many had no operations. */
static hf_status sessions_of(int fd, next_piece next, char *to, size_t size,
                             unsigned *ret_light)
{
    hf_pieces *p;
    hf_status st = HF_OK;
    size_t at = 0;
    hf_error err;

    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    p = hf_pieces_new(fd, false);
    *ret_light = 0;
    to[0] = '\0';
    while (st == HF_OK && !hf_pieces_ended(p)) {
        hf_history *h = NULL;

        st = next(p, &h, &err);
        for (hf_txn_id t = 0; h && t < h->n_txns; t++) {
            hf_string_id id = h->session_name[h->txn_session[t]];
            hf_str name = id == HF_NONE ? HF_STR("?") : hf_string(h, id);
            uint64_t begin = h->txn_begin ? h->txn_begin[t] : 0;

            at += at >= size
                      ? 0
                      : (size_t)snprintf(to + at, size - at, "%.*s %llu, ",
                                         (int)name.len, name.ptr,
                                         (unsigned long long)begin);
        }
        *ret_light += h && h->n_ops == 0 && h->n_txns > 0;
        hf_history_free(h);
    }
    hf_pieces_free(p);
    return st;
}

static void test_skimming_tells_the_same_of_sessions(void **state)
{
    char skimmed[2000], read[2000];
    hf_out out;
    int fd = light_and_full(&out);
    unsigned n, none;

    (void)state;
    for (size_t length = 16; length <= out.n; length++) {
        hf_status st;

        put_file(fd, out.at, length);
        st = sessions_of(fd, hf_pieces_next, read, sizeof read, &none);
        assert_int_equal(
            sessions_of(fd, hf_pieces_skim, skimmed, sizeof skimmed, &n), st);
        assert_string_equal(skimmed, read);
    }
    assert_int_equal(n, 3); /* two need their initial values, or operations */
    assert_int_equal(none, 0);
    hf_out_release(&out);
}

static void test_skimming_survives_damage(void **state)
{
    char text[4000];
    hf_out out;
    int fd = light_and_full(&out);
    hf_rng rng;
    unsigned n;

    (void)state;
    hf_rng_seed(&rng, 7);
    for (unsigned i = 0; i < 3000; i++) {
        size_t at = hf_rng_below(&rng, (uint32_t)out.n);
        char was = out.at[at];

        out.at[at] = (char)hf_rng_below(&rng, 256);
        put_file(fd, out.at, out.n);
        out.at[at] = was;
        (void)sessions_of(fd, hf_pieces_skim, text, sizeof text, &n);
    }
    hf_out_release(&out);
}

static void test_pieces_of_pieces_are_refused(void **state)
{
    hf_history *h = NULL;
    hf_out inner, outer;
    hf_error err;

    (void)state;
    write_pieces(&inner);
    hf_out_init_memory(&outer);
    hf_stream_begin(&outer, &(hf_stream_about){0});
    hf_frame_put(&outer, HF_FRAME_PIECE, hf_out_view(&inner));
    assert_int_equal(hf_binary_read(outer.at, outer.n, NULL, &h, &err),
                     HF_ERR_INPUT);
    assert_non_null(strstr(err.text, "a piece is made of pieces"));
    hf_out_release(&inner);
    hf_out_release(&outer);
}

/* ---- a recorder that is killed ------------------------------------------- */

#define CLIENTS 4u
#define KEYS 6u
#define KILLS 25

/* The "database": rows that all clients read and write without any isolation,
 * so that they see what others have not finished. */
static _Atomic int64_t rows[KEYS]; /* tag; -1: absent */
/* Rows that are inserted once and deleted once, in about this order. */
#define SLOTS 200000u
static _Atomic int64_t slots[SLOTS]; /* 0: not yet; tag; -1: deleted */
static _Atomic uint32_t newest;

typedef struct sham {
    hf_recorder *recorder;
    unsigned number;
} sham;

static void log_seen(hf_log *l, const hf_log_key *key, int64_t seen,
                     uint64_t now)
{
    if (seen <= 0)
        hf_log_absent(l, HF_OP_READ, key, (hf_span){now, hf_clock_ns()});
    else
        hf_log_value(l, HF_OP_READ, key, seen, (hf_span){now, hf_clock_ns()});
}

/* Reads a young slot; fills it if it is new, else may empty it. */
static void one_slot(hf_log *l, unsigned client, uint32_t *counter, hf_rng *rng)
{
    uint32_t at = newest, slot = at - hf_rng_below(rng, at < 8 ? at + 1 : 8);
    hf_sql_value part = hf_sql_of_int(slot);
    hf_log_key key = {"u", &part, 1};
    uint64_t now = hf_clock_ns();
    int64_t seen = slots[slot], none = 0;

    log_seen(l, &key, seen, now);
    now = hf_clock_ns();
    if (seen == 0) {
        hf_log_issued(l, ++*counter);
        if (!atomic_compare_exchange_strong(&slots[slot], &none,
                                            hf_tag_of(client, *counter)))
            return;
        hf_log_value(l, HF_OP_INSERT, &key, hf_tag_of(client, *counter),
                     (hf_span){now, hf_clock_ns()});
        if (newest + 1 < SLOTS)
            newest++;
    } else if (seen > 0 && hf_rng_chance(rng, 30)) {
        hf_log_deleting(l, &key, now);
        if (atomic_compare_exchange_strong(&slots[slot], &seen, -1))
            hf_log_delete(l, &key, (hf_span){now, hf_clock_ns()});
    }
}

static void one_transaction(hf_log *l, unsigned client, uint32_t *counter,
                            hf_rng *rng)
{
    hf_log_begin(l, hf_clock_ns());
    for (unsigned i = 0; i < 3; i++) {
        unsigned k = hf_rng_below(rng, KEYS);
        hf_sql_value part = hf_sql_of_int(k);
        hf_log_key key = {"t", &part, 1};
        uint64_t now = hf_clock_ns();
        int64_t seen = rows[k];

        if (seen == 0)
            hf_log_value(l, HF_OP_READ, &key, 0, (hf_span){now, hf_clock_ns()});
        else
            log_seen(l, &key, seen, now);
        if (hf_rng_chance(rng, 15)) {
            now = hf_clock_ns();
            hf_log_deleting(l, &key, now);
            rows[k] = -1;
            hf_log_delete(l, &key, (hf_span){now, hf_clock_ns()});
        } else if (hf_rng_chance(rng, 60)) {
            hf_log_issued(l, ++*counter);
            now = hf_clock_ns();
            rows[k] = hf_tag_of(client, *counter);
            hf_log_value(l, HF_OP_WRITE, &key, hf_tag_of(client, *counter),
                         (hf_span){now, hf_clock_ns()});
        }
        one_slot(l, client, counter, rng);
        if (hf_rng_chance(rng, 2))
            (void)usleep(hf_rng_below(rng, 30000));
    }
    hf_log_end(l, HF_COMMITTED, hf_clock_ns());
}

static void *sham_client(void *user)
{
    sham *s = user;
    hf_log *l = hf_recorder_log(s->recorder, s->number);
    uint32_t counter = 0;
    hf_rng rng;

    hf_rng_seed(&rng, s->number + (uint64_t)getpid() * 17);
    for (;;) {
        one_transaction(l, s->number, &counter, &rng);
        if (hf_rng_chance(&rng, 20))
            (void)usleep(200);
    }
    return NULL;
}

static void record_until_killed(const char *path)
{
    hf_recorder_options o = {.path = path,
                             .clients = CLIENTS,
                             .label = HF_LEVEL_UNSET,
                             .name = "sham"};
    hf_recorder *r = NULL;
    pthread_t thread;
    sham shams[CLIENTS];
    hf_error err;

    if (hf_recorder_open(&o, &r, &err) != HF_OK)
        _exit(3);
    for (unsigned k = 0; k < KEYS; k++) {
        hf_sql_value part = hf_sql_of_int(k);

        hf_recorder_initial(r, "t", &part, 1);
    }
    hf_recorder_loaded(r);
    for (unsigned i = 0; i < CLIENTS; i++) {
        shams[i] = (sham){r, i};
        if (pthread_create(&thread, NULL, sham_client, &shams[i]) != 0)
            _exit(3);
    }
    for (;;)
        (void)pause();
}

/* Who finds a row of "u" absent after it was there has its delete. */
static void expect_deletes(const hf_history *h)
{
    uint64_t *there = HF_NEW_ARRAY(uint64_t, h->n_keys);
    uint8_t *deleted = HF_NEW_ZEROED(uint8_t, h->n_keys);
    uint64_t start, end;

    memset(there, 0xff, h->n_keys * sizeof(*there));
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++) {
            if (hf_op_kind_of(h, op) == HF_OP_INSERT &&
                hf_op_interval(h, t, op, &start, &end))
                there[h->op_key[op]] = end;
            if (hf_op_kind_of(h, op) == HF_OP_DELETE)
                deleted[h->op_key[op]] = 1;
        }
    for (hf_txn_id t = 0; t < h->n_txns; t++)
        for (hf_op_id op = h->op_first[t]; op < h->op_first[t + 1]; op++)
            if (hf_op_kind_of(h, op) == HF_OP_READ &&
                h->value_type[h->op_value[op]] == HF_NIL &&
                hf_op_interval(h, t, op, &start, &end) &&
                start > there[h->op_key[op]] && !deleted[h->op_key[op]])
                fail_msg("operation %u of %u misses a row that nobody deleted",
                         op, h->n_ops);
    hf_free(there);
    hf_free(deleted);
}

/* Every read has its write. */
static void expect_closed(const hf_history *h)
{
    uint8_t *written = HF_NEW_ZEROED(uint8_t, h->n_values);

    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_installs(hf_op_kind_of(h, op)))
            written[h->op_value[op]] = 1;
    for (hf_op_id op = 0; op < h->n_ops; op++)
        if (hf_op_kind_of(h, op) == HF_OP_READ && !written[h->op_value[op]] &&
            !hf_value_is_initial(h, h->op_key[op], h->op_value[op]))
            fail_msg("operation %u of %u reads what nobody wrote", op,
                     h->n_ops);
    hf_free(written);
}

static hf_history *read_file(const char *path)
{
    hf_history *h = NULL;
    struct stat st;
    hf_error err;
    char *bytes;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    assert_true(read(fd, bytes, (size_t)st.st_size) == st.st_size);
    (void)close(fd);
    if (hf_binary_read(bytes, (size_t)st.st_size, NULL, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    free(bytes);
    return h;
}

static void wait_for_bytes(const char *path, off_t bytes)
{
    struct stat st;

    for (int i = 0; i < 5000; i++) {
        if (stat(path, &st) == 0 && st.st_size > bytes)
            return;
        (void)usleep(1000);
    }
    fail_msg("nothing was written");
}

static void test_killed_recorder_leaves_a_closed_history(void **state)
{
    char directory[] = "/tmp/hf-stream-XXXXXX", path[64];
    uint64_t txns = 0;
    hf_rng rng;

    (void)state;
    hf_rng_seed(&rng, 7);
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/h.hf", directory);
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        hf_history *h;

        assert_true(child >= 0);
        if (child == 0)
            record_until_killed(path);
        wait_for_bytes(path, 1000);
        (void)usleep(hf_rng_below(&rng, 150000));
        assert_int_equal(kill(child, SIGKILL), 0);
        (void)waitpid(child, NULL, 0);
        h = read_file(path);
        assert_true(h->cut_off);
        expect_closed(h);
        expect_deletes(h);
        txns += h->n_txns;
        hf_history_free(h);
        (void)unlink(path);
    }
    assert_true(txns > KILLS * 20);
    (void)rmdir(directory);
}

/* ---- a client that does not end ------------------------------------------ */

static _Atomic uint64_t busy_txns;
static _Atomic bool busy_may_end;

/* Reads what the other has not committed, over and over. */
static void *busy_client(void *user)
{
    hf_log *l = hf_recorder_log(user, 1);
    hf_sql_value part = hf_sql_of_int(1);
    hf_log_key key = {"t", &part, 1};

    while (!busy_may_end) {
        hf_log_begin(l, 1);
        for (unsigned i = 0; i < 200; i++)
            hf_log_value(l, HF_OP_READ, &key, hf_tag_of(0, 1), (hf_span){1, 2});
        hf_log_end(l, HF_COMMITTED, 3);
        busy_txns++;
    }
    hf_log_flush(l);
    return NULL;
}

/* Until the other client is held back. */
static void wait_for_standstill(void)
{
    uint64_t before = UINT64_MAX;

    for (int i = 0; i < 600 && before != busy_txns; i++) {
        before = busy_txns;
        (void)usleep(100000);
    }
    if (before != busy_txns)
        fail_msg("memory grows without end");
}

/* However much waits for one transaction, nothing is written that needs it,
 * and memory does not grow: the others wait. */
static void test_one_that_does_not_end_holds_the_others_back(void **state)
{
    char path[] = "/tmp/hf-stuck-XXXXXX";
    hf_recorder_options o = {
        .path = path, .clients = 2, .replace = true, .label = HF_LEVEL_UNSET};
    hf_sql_value part = hf_sql_of_int(1);
    hf_recorder_totals totals;
    hf_recorder *r = NULL;
    uint64_t held_back;
    pthread_t thread;
    hf_history *h;
    hf_error err;
    hf_log *l;

    (void)state;
    (void)close(mkstemp(path));
    assert_int_equal(hf_recorder_open(&o, &r, &err), HF_OK);
    l = hf_recorder_log(r, 0);
    hf_log_begin(l, 1);
    hf_log_issued(l, 1);
    assert_int_equal(pthread_create(&thread, NULL, busy_client, r), 0);
    wait_for_standstill();
    held_back = busy_txns;
    assert_true(held_back > 1000 && held_back < 20000);
    h = read_file(path); /* as kill -9 would leave it */
    expect_closed(h);
    assert_int_equal(h->n_txns, 0);
    hf_history_free(h);
    busy_may_end = true;
    hf_log_value(l, HF_OP_WRITE, &(hf_log_key){"t", &part, 1}, hf_tag_of(0, 1),
                 (hf_span){1, 2});
    hf_log_end(l, HF_COMMITTED, 4);
    hf_log_flush(l);
    pthread_join(thread, NULL);
    assert_int_equal(hf_recorder_close(r, false, &totals, &err), HF_OK);
    assert_int_equal(totals.transactions, busy_txns + 1);
    (void)unlink(path);
}

static void test_full_disk_is_said(void **state)
{
    hf_recorder_options o = {.path = "/dev/full",
                             .clients = 1,
                             .replace = true,
                             .label = HF_LEVEL_UNSET};
    hf_recorder_totals totals;
    hf_recorder *r = NULL;
    hf_sql_value part = hf_sql_of_int(1);
    hf_error err;
    hf_log *l;

    (void)state;
    if (hf_recorder_open(&o, &r, &err) != HF_OK)
        skip();
    l = hf_recorder_log(r, 0);
    hf_log_begin(l, 1);
    hf_log_value(l, HF_OP_WRITE, &(hf_log_key){"t", &part, 1}, 1,
                 (hf_span){1, 2});
    hf_log_end(l, HF_COMMITTED, 2);
    assert_int_equal(hf_recorder_close(r, false, &totals, &err), HF_ERR_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_make_the_whole),
        cmocka_unit_test(test_every_prefix_is_readable),
        cmocka_unit_test(test_damage_is_an_error),
        cmocka_unit_test(test_pieces_of_pieces_are_refused),
        cmocka_unit_test(test_skimming_tells_the_same_of_sessions),
        cmocka_unit_test(test_skimming_survives_damage),
        cmocka_unit_test(test_killed_recorder_leaves_a_closed_history),
        cmocka_unit_test(test_one_that_does_not_end_holds_the_others_back),
        cmocka_unit_test(test_full_disk_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

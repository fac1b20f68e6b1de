/* watch_source.c: files that are watched, finished or still growing.
 *
 * A finished file in our own forms is read twice, piece by piece: first
 * sessions are counted, so that it is known whom to wait for (of most pieces
 * that takes a few bytes in a hundred, skim.h), then it is judged.  Other
 * formats, and histories without names of sessions, are loaded as a whole and
 * played in the order of begins.
 */
#include "cli/watch_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define DETECT_BYTES 65536
#define IDLE_NS 20000000

/* ---- opening ------------------------------------------------------------- */

static hf_status no_file(const hf_watch_source *s, hf_error *err)
{
    char quoted[160];

    return hf_fail(err, HF_ERR_IO, "could not open history \"%s\": %s",
                   hf_quote(quoted, sizeof quoted, s->path, strlen(s->path)),
                   strerror(errno));
}

static bool is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Are these the first bytes of one of our own forms? */
static bool is_native(const hf_watch_source *s)
{
    static char bytes[DETECT_BYTES];
    ssize_t n = pread(s->fd, bytes, sizeof bytes, 0);
    hf_input in = {
        .path = s->path, .text = bytes, .length = n > 0 ? (size_t)n : 0};
    const hf_format *f = s->format ? s->format : hf_format_detect(&in);

    return f &&
           (strcmp(f->name, "jsonl") == 0 || strcmp(f->name, "binary") == 0);
}

static uint8_t level_of(const hf_history *h)
{
    return h->n_txns > 0 && h->txn_level ? h->txn_level[0] : HF_LEVEL_UNSET;
}

static hf_status load_whole(hf_watch_source *s, hf_error *err)
{
    return hf_cli_load(s->watching->cli, s->path, s->format, &s->whole, err);
}

/* Up to the first transaction; the file stands at its beginning again. */
static hf_status peek(hf_watch_source *s, hf_source_about *ret, hf_error *err)
{
    hf_pieces *p = hf_pieces_new(s->fd, false);
    hf_pieces_kind kind = HF_PIECES_EMPTY;
    hf_status st = hf_pieces_look(p, &kind, err);

    while (st == HF_OK && !hf_pieces_ended(p)) {
        hf_history *h = NULL;
        bool some;

        st = hf_pieces_next(p, &h, err);
        some = h && h->n_txns > 0;
        ret->is_known |= some;
        if (some)
            ret->level = level_of(h);
        hf_history_free(h);
        if (some)
            break;
    }
    (void)snprintf(ret->name, sizeof ret->name, "%s", hf_pieces_name(p));
    hf_pieces_free(p);
    if (lseek(s->fd, 0, SEEK_SET) < 0)
        return no_file(s, err);
    /* what is followed may have lines that a history has not (docs/watch.md),
     * and will be read line by line */
    if (s->follow && kind == HF_PIECES_LINES)
        st = HF_OK;
    if (st != HF_OK)
        hf_cli_place("could not read history", s->path, err);
    return st;
}

static hf_status open_file(hf_watch_source *s, hf_source_about *ret,
                           hf_error *err)
{
    hf_pieces_kind kind = HF_PIECES_OTHER;
    hf_status st = HF_OK;

    if (is_native(s)) {
        hf_pieces *p = hf_pieces_new(s->fd, false);

        st = hf_pieces_look(p, &kind, err);
        hf_pieces_free(p);
        if (lseek(s->fd, 0, SEEK_SET) < 0)
            return no_file(s, err);
    }
    if (st != HF_OK)
        return st;
    if (kind == HF_PIECES_STREAM || kind == HF_PIECES_LINES)
        return peek(s, ret, err);
    st = load_whole(s, err);
    if (st != HF_OK)
        return st;
    ret->is_known = true;
    ret->level = level_of(s->whole);
    if (s->whole->name != HF_NONE) {
        hf_str name = hf_string(s->whole, s->whole->name);

        (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)name.len,
                       name.ptr);
    }
    return HF_OK;
}

hf_status hf_source_open(hf_watch_source *s, hf_source_about *ret,
                         hf_error *err)
{
    s->listener = -1;
    s->fd = strcmp(s->path, "-") == 0 ? dup(STDIN_FILENO)
                                      : open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return no_file(s, err);
    if (s->follow)
        return is_regular(s->fd) && lseek(s->fd, 0, SEEK_END) > 0 &&
                       lseek(s->fd, 0, SEEK_SET) == 0
                   ? peek(s, ret, err)
                   : HF_OK;
    if (is_regular(s->fd))
        return open_file(s, ret, err);
    s->follow = true; /* a pipe ends by itself */
    return HF_OK;
}

/* ---- counting ------------------------------------------------------------ */

static hf_status count(hf_watch_source *s, uint64_t *ret_nameless,
                       hf_error *err)
{
    hf_cli *cli = s->watching->cli;
    hf_pieces *p = hf_pieces_new(s->fd, false);
    uint64_t size = (uint64_t)lseek(s->fd, 0, SEEK_END);
    hf_status st = lseek(s->fd, 0, SEEK_SET) == 0 ? HF_OK : no_file(s, err);

    while (st == HF_OK && !hf_pieces_ended(p)) {
        hf_history *h = NULL;

        st = hf_pieces_skim(p, &h, err);
        if (h)
            *ret_nameless += hf_watcher_count(s->watching->watcher, h);
        hf_history_free(h);
        hf_budget_progress(&cli->budget, "counting", hf_pieces_bytes(p), size);
        if (st == HF_OK && hf_budget_look(&cli->budget))
            st = hf_fail(err, HF_ERR_LIMIT, "%s",
                         hf_budget_reason(&cli->budget));
    }
    if (st == HF_OK && hf_pieces_cut_off(p))
        hf_cli_note(cli, "\"%.200s\" was cut off while it was written",
                    s->path);
    hf_pieces_free(p);
    if (st != HF_OK && st != HF_ERR_LIMIT)
        hf_cli_place("could not read history", s->path, err);
    return st;
}

hf_status hf_source_prepare(hf_watch_source *s, hf_error *err)
{
    hf_watcher *w = s->watching->watcher;
    uint64_t nameless = 0;
    hf_status st = HF_OK;

    if (s->follow) {
        hf_watcher_begin(w, HF_SESSIONS_LIVE);
        s->pieces = hf_pieces_new(s->fd, is_regular(s->fd));
        return HF_OK;
    }
    if (!s->whole)
        st = count(s, &nameless, err);
    if (st == HF_OK && nameless > 0)
        st = load_whole(s, err);
    if (st != HF_OK)
        return st;
    hf_watcher_begin(w, s->whole ? HF_SESSIONS_SORTED : HF_SESSIONS_COUNTED);
    if (s->whole)
        return HF_OK;
    if (lseek(s->fd, 0, SEEK_SET) < 0)
        return no_file(s, err);
    s->pieces = hf_pieces_new(s->fd, false);
    return HF_OK;
}

/* ---- reading ------------------------------------------------------------- */

/* A file that is shorter than what was read of it was begun anew: what it
 * says now nobody would hear. */
static bool is_cut(const hf_watch_source *s)
{
    struct stat st;

    return fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size < lseek(s->fd, 0, SEEK_CUR);
}

/* Nothing more is there yet. */
static void idle(hf_watch_source *s)
{
    struct timespec t = {.tv_nsec = IDLE_NS};

    if (is_cut(s))
        s->status = hf_fail(&s->err, HF_ERR_INPUT,
                            "it became shorter while it was followed");
    else
        (void)nanosleep(&t, NULL);
}

static void read_pieces(hf_watch_source *s)
{
    hf_watcher *w = s->watching->watcher;
    bool wanted = true;

    while (wanted && s->status == HF_OK && !hf_pieces_ended(s->pieces) &&
           !atomic_load(&s->stop)) {
        hf_history *h = NULL;

        s->status = hf_pieces_next(s->pieces, &h, &s->err);
        if (h)
            wanted = hf_watcher_piece(w, h);
        else if (s->status == HF_OK && !hf_pieces_ended(s->pieces))
            idle(s);
        hf_history_free(h);
    }
    if (s->status != HF_OK)
        hf_cli_place("could not read history", s->path, &s->err);
}

/* Text that comes in is read line by line, and may say all that a socket may.
 */
static void read_lines(hf_watch_source *s)
{
    hf_lines lines;
    bool wanted = true;

    s->hub.watcher = s->watching->watcher;
    s->hub.is_file = true;
    hf_lines_init(&lines, &s->hub);
    while (wanted && s->status == HF_OK && !hf_pieces_ended(s->pieces) &&
           !atomic_load(&s->stop)) {
        hf_str bytes = {0};

        s->status = hf_pieces_next_bytes(s->pieces, &bytes, &s->err);
        if (bytes.len > 0)
            wanted = hf_lines_feed(&lines, bytes.ptr, bytes.len);
        else if (s->status == HF_OK && hf_pieces_ended(s->pieces))
            wanted = hf_lines_feed(&lines, "\n", 1);
        else if (s->status == HF_OK)
            idle(s);
        if (s->hub.bad_lines > 0 && s->status == HF_OK) {
            s->status = HF_ERR_INPUT;
            s->err = s->hub.first_bad;
            s->hub.bad_lines = 0;
        }
    }
    if (!hf_pieces_ended(s->pieces))
        hf_watcher_hole(s->watching->watcher); /* there would be more */
    hf_lines_release(&lines);
    if (s->status != HF_OK)
        hf_cli_place("could not read history", s->path, &s->err);
}

/* What comes in is text; waits until there is something to tell it by. */
static bool is_text(hf_watch_source *s)
{
    hf_pieces_kind kind = HF_PIECES_EMPTY;
    struct stat st;

    if (!s->follow)
        return false;
    while (s->status == HF_OK && kind == HF_PIECES_EMPTY &&
           !atomic_load(&s->stop)) {
        s->status = hf_pieces_look(s->pieces, &kind, &s->err);
        if (s->status != HF_OK || kind != HF_PIECES_EMPTY)
            break;
        if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode))
            break; /* a pipe has ended */
        idle(s);
    }
    return s->status == HF_OK && kind == HF_PIECES_LINES;
}

static void *read_all(void *source)
{
    hf_watch_source *s = source;

    if (!s->whole && is_text(s))
        read_lines(s);
    else if (s->whole)
        (void)hf_watcher_piece(s->watching->watcher, s->whole);
    else
        read_pieces(s);
    hf_watcher_end(s->watching->watcher);
    return NULL;
}

hf_status hf_source_start(hf_watch_source *s, hf_error *err)
{
    if (pthread_create(&s->thread, NULL,
                       s->listener >= 0 ? hf_source_serve : read_all, s) != 0)
        return hf_fail(err, HF_ERR_IO, "could not start a thread");
    s->has_thread = true;
    return HF_OK;
}

hf_status hf_source_end(hf_watch_source *s, hf_error *err)
{
    atomic_store(&s->stop, true);
    if (s->watching->watcher)
        hf_watcher_stop(s->watching->watcher);
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    s->has_thread = false;
    if (s->status != HF_OK)
        *err = s->err;
    return s->status;
}

void hf_source_close(hf_watch_source *s)
{
    hf_pieces_free(s->pieces);
    hf_history_free(s->whole);
    hf_lines_hub_release(&s->hub);
    if (s->fd >= 0)
        (void)close(s->fd);
    if (s->listener >= 0) {
        (void)close(s->listener);
        (void)unlink(s->path);
    }
}

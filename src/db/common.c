/* common.c: see common.h. */
#include "db/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"

/* ---- answers ------------------------------------------------------------- */

void hf_db_answer_ok(hf_db_answer *a)
{
    a->status = HF_DB_OK;
    a->code[0] = '\0';
    a->text[0] = '\0';
}

void hf_db_answer_set(hf_db_answer *a, hf_db_status status, const char *code,
                      const char *format, ...)
{
    va_list args;

    a->status = status;
    (void)snprintf(a->code, sizeof(a->code), "%s", code);
    va_start(args, format);
    (void)vsnprintf(a->text, sizeof(a->text), format, args);
    va_end(args);
    for (char *c = a->text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

static bool stands_for_password(const char *text, const char *at, size_t n)
{
    static const char word[] = "password=";
    const char *before = at;

    if (at > text && at[-1] == ':' && at[n] == '@')
        return true;
    if (at > text && at[-1] == at[n] && (at[n] == '\'' || at[n] == '"'))
        return true;
    if (before > text && (before[-1] == '\'' || before[-1] == '"'))
        before--;
    return (size_t)(before - text) >= sizeof(word) - 1 &&
           memcmp(before - (sizeof(word) - 1), word, sizeof(word) - 1) == 0;
}

void hf_db_hide(char *text, const char *password)
{
    size_t n = password ? strlen(password) : 0;
    char *at = text && n > 0 ? strstr(text, password) : NULL;

    while (at) {
        bool hide = stands_for_password(text, at, n);

        if (hide)
            memset(at, '*', n);
        at = strstr(at + (hide ? n : 1), password);
    }
}

/* ---- results ------------------------------------------------------------- */

void hf_db_rows_start(hf_sql_result *rows, uint32_t n_columns)
{
    hf_arena_reset(&rows->arena);
    rows->n_columns = n_columns;
    rows->names =
        hf_arena_get(&rows->arena, ((size_t)n_columns + 1) * sizeof(hf_str));
    rows->n_rows = 0;
    rows->cells = NULL;
    rows->affected = 0;
}

hf_sql_value *hf_db_rows_add(hf_sql_result *rows, uint64_t *room)
{
    size_t width = (size_t)rows->n_columns * sizeof(hf_sql_value);

    if (rows->n_rows == *room) {
        uint64_t more = *room ? *room * 2 : 4;
        hf_sql_value *cells = hf_arena_get(&rows->arena, more * width);

        if (rows->n_rows > 0)
            memcpy(cells, rows->cells, rows->n_rows * width);
        rows->cells = cells;
        *room = more;
    }
    return rows->cells + rows->n_rows++ * rows->n_columns;
}

/* ---- time ---------------------------------------------------------------- */

uint64_t hf_db_clock(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void hf_db_sleep(uint64_t nanoseconds)
{
    struct timespec t = {(time_t)(nanoseconds / 1000000000u),
                         (long)(nanoseconds % 1000000000u)};

    (void)nanosleep(&t, NULL);
}

uint64_t hf_db_deadline(const hf_db *db)
{
    double seconds = db->options.call_seconds;

    return hf_db_clock() + (uint64_t)((seconds > 0 ? seconds : 10) * 1e9);
}

/* ---- private directories ------------------------------------------------- */

/* What stands in the directory `at`, then the entry `name` of it. */
static void remove_at(int at, const char *name, unsigned depth)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *e;

    if (!d) {
        if (fd >= 0)
            (void)close(fd);
        (void)unlinkat(at, name, 0);
        return;
    }
    while (depth < 20 && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_at(fd, e->d_name, depth + 1);
    (void)closedir(d);
    (void)unlinkat(at, name, AT_REMOVEDIR);
}

void hf_db_remove_tree(const char *path)
{
    remove_at(AT_FDCWD, path, 0);
}

hf_status hf_db_directory_make(hf_db_directory *d, const char *product,
                               const char *parent, bool keep, hf_error *err)
{
    const hf_server_options o = {
        .name = product, .parent = parent, .keep = keep};

    return hf_server_new(&o, &d->keeper, err);
}

const char *hf_db_directory_path(const hf_db_directory *d)
{
    return d->keeper ? hf_server_directory(d->keeper) : NULL;
}

void hf_db_directory_close(hf_db_directory *d)
{
    hf_server_free(d->keeper);
    d->keeper = NULL;
}

/* ---- sessions that can be cut -------------------------------------------- */

void hf_db_roster_init(hf_db_roster *r)
{
    (void)pthread_mutex_init(&r->mutex, NULL);
    r->members.at = NULL;
    r->members.n = r->members.cap = 0;
}

void hf_db_roster_release(hf_db_roster *r)
{
    hf_vec_release(&r->members);
    (void)pthread_mutex_destroy(&r->mutex);
}

void hf_db_roster_join(hf_db_roster *r, hf_db_member *m)
{
    (void)pthread_mutex_lock(&r->mutex);
    hf_vec_push(&r->members, m);
    (void)pthread_mutex_unlock(&r->mutex);
}

void hf_db_roster_leave(hf_db_roster *r, hf_db_member *m)
{
    (void)pthread_mutex_lock(&r->mutex);
    for (size_t i = 0; i < r->members.n; i++)
        if (r->members.at[i] == m) {
            r->members.at[i] = r->members.at[--r->members.n];
            break;
        }
    (void)pthread_mutex_unlock(&r->mutex);
}

void hf_db_roster_cut(hf_db_roster *r, hf_db *db, uint64_t seed)
{
    (void)snprintf(db->struck, sizeof(db->struck), "nobody");
    (void)pthread_mutex_lock(&r->mutex);
    if (r->members.n > 0) {
        hf_db_member *m = r->members.at[hf_mix64(seed + 1) % r->members.n];

        (void)snprintf(db->struck, sizeof(db->struck), "client %u", m->client);
        atomic_store(&m->cut, true);
        if (m->wake)
            m->wake(m);
    }
    (void)pthread_mutex_unlock(&r->mutex);
}

bool hf_db_only_cuts(hf_db_fault f, const char *product, char *why, size_t size)
{
    if (f == HF_FAULT_CUT_CLIENT)
        return true;
    (void)snprintf(why, size,
                   f == HF_FAULT_PARTITION
                       ? "%s has one node: there is nothing to part"
                       : "%s runs inside the clients: there is no server to "
                         "kill, stop or start",
                   product);
    return false;
}

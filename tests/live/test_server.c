/* test_server.c: private servers start, or say why not, and leave nothing.
 *
 * Whoever is killed: the program that uses the server, at any moment, or the
 * process that keeps it.
 */
#include "live_util.h"

#include <signal.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "db/server.h"

static const hf_db_options short_calls = {.clients = 8, .call_seconds = 2};

static void missing_programs_have_a_package(void **state)
{
    const hf_server_program p = {"initdb", "pg_config --bindir", NULL, NULL,
                                 "postgresql"};
    char path[300], *saved = strdup(getenv("PATH"));
    hf_db_options o = short_calls;
    hf_error err = {0};
    hf_db *other;

    (void)state;
    assert_non_null(saved);
    assert_int_equal(hf_server_find(&p, path, sizeof(path), &err), HF_OK);
    (void)setenv("PATH", "/nonexistent", 1);
    assert_int_equal(hf_server_find(&p, path, sizeof(path), &err),
                     HF_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "could not find the program \"initdb\": "
                                  "install the Debian package postgresql");
    o.variant = "/nonexistent";
    assert_int_equal(hf_db_open("postgres", &o, &other, &err), HF_ERR_USAGE);
    assert_non_null(strstr(err.text, "\"/nonexistent\""));
    (void)setenv("PATH", saved, 1);
    free(saved);
    o.variant = NULL;
    o.directory = "/nonexistent";
    assert_int_equal(hf_db_open("postgres", &o, &other, &err), HF_ERR_IO);
    assert_non_null(strstr(err.text, "\"/nonexistent\""));
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static void failed_starts_say_why(void **state)
{
    const hf_server_options o = {.name = "Thing"};
    const char *const bad[] = {"/bin/sh", "-c",
                               "echo first; echo ERROR: no luck; echo end; "
                               "exit 3",
                               NULL};
    const char *const full[] = {"/bin/sh", "-c",
                                "echo no size: probably out of disk space; "
                                "echo ERROR: Generic error; exit 1",
                                NULL};
    const char *const slow[] = {"/bin/sleep", "60", NULL};
    char directory[200];
    hf_error err = {0};
    hf_server *s;

    (void)state;
    live_ok(hf_server_new(&o, &s, &err), &err);
    assert_int_equal(hf_server_run(s, full, 5, &err), HF_ERR_IO);
    assert_string_equal(err.text,
                        "\"sh\" failed: no size: probably out of disk space");
    hf_server_free(s);
    live_ok(hf_server_new(&o, &s, &err), &err);
    (void)snprintf(directory, sizeof(directory), "%s", hf_server_directory(s));
    assert_int_equal(hf_server_run(s, bad, 5, &err), HF_ERR_IO);
    assert_string_equal(err.text, "\"sh\" failed: ERROR: no luck");
    assert_int_equal(hf_server_run(s, slow, 0.2, &err), HF_ERR_LIMIT);
    live_ok(hf_server_start(s, 0, bad, SIGTERM, &err), &err);
    assert_int_equal(hf_server_wait(s, 0, never, NULL, 5, &err), HF_ERR_IO);
    assert_string_equal(err.text, "Thing did not start: ERROR: no luck");
    live_ok(hf_server_start(s, 0, slow, SIGTERM, &err), &err);
    assert_int_equal(hf_server_wait(s, 0, never, NULL, 0.2, &err),
                     HF_ERR_LIMIT);
    hf_server_pause(s, 0, true); /* a stopped one ends as well */
    hf_server_free(s);
    live_nothing_left(directory, 0);
}

/* Pieces of shared memory that nobody uses. */
static unsigned left_memory(void)
{
    struct shm_info info;
    struct shmid_ds s;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
    unsigned n = 0;

    for (int i = 0; i <= last; i++)
        n += shmctl(i, SHM_STAT, &s) >= 0 && s.shm_nattch == 0 &&
             kill(s.shm_cpid, 0) != 0;
    return n;
}

/* In a process of its own: opens a database, tells its directory, waits. */
static pid_t open_elsewhere(const char *name, char *directory, size_t size)
{
    int tell[2];
    pid_t child;
    ssize_t n;

    assert_int_equal(pipe(tell), 0);
    child = fork();
    if (child == 0) {
        hf_error err = {0};
        hf_db *mine;
        char where[200];

        (void)close(tell[0]);
        (void)setpgid(0, 0);
        if (hf_db_open(name, &short_calls, &mine, &err) != HF_OK)
            _exit(1);
        live_directory(mine, where, sizeof(where));
        if (write(tell[1], where, strlen(where) + 1) < 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(tell[1]);
    n = read(tell[0], directory, size);
    (void)close(tell[0]);
    assert_true(n > 5);
    return child;
}

static void nothing_is_left_when_we_are_killed(void **state)
{
    /* kill -9, and Ctrl-C, which goes to the whole group */
    static const int signals[] = {SIGKILL, -SIGINT, SIGTERM};
    char directory[200];
    unsigned before = left_memory();

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        pid_t child = open_elsewhere("postgres", directory, sizeof(directory));

        assert_true(live_processes(directory) > 3);
        if (signals[i] < 0)
            (void)kill(-child, -signals[i]);
        else
            (void)kill(child, signals[i]);
        (void)waitpid(child, NULL, 0);
        live_nothing_left(directory, 10);
    }
    assert_true(left_memory() <= before);
}

/* The one child of ours. */
static pid_t find_keeper(void)
{
    char path[64], text[64] = "";
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children",
                   (int)getpid());
    f = fopen(path, "r");
    if (f) {
        (void)fgets(text, sizeof(text), f);
        (void)fclose(f);
    }
    return (pid_t)strtol(text, NULL, 10);
}

static void nothing_is_left_when_the_keeper_is_killed(void **state)
{
    char directory[200];
    hf_error err = {0};
    live_session a;
    hf_db *db;
    pid_t keeper;
    double until;

    (void)state;
    live_ok(hf_db_open("postgres", &short_calls, &db, &err), &err);
    live_directory(db, directory, sizeof(directory));
    live_connect(&a, db, 0);
    keeper = find_keeper();
    if (keeper > 0) {
        (void)kill(keeper, SIGKILL);
        until = live_seconds() + 10;
        while (live_processes(directory) > 0 && live_seconds() < until)
            hf_db_sleep(20u * 1000 * 1000);
        LIVE_IS(&a, LIVE_DO(&a, "SELECT 1"), HF_DB_LOST);
        assert_int_equal(db->driver->fault(db, HF_FAULT_KILL, 0, false, &err),
                         HF_ERR_IO);
        assert_non_null(strstr(err.text, "has ended"));
    }
    live_disconnect(&a);
    hf_db_close(db);
    live_nothing_left(directory, 0);
}

static bool is_empty(const char *directory)
{
    DIR *d = opendir(directory);
    const struct dirent *e;
    unsigned n = 0;

    assert_non_null(d);
    while ((e = readdir(d)))
        n += e->d_name[0] != '.';
    (void)closedir(d);
    return n == 0;
}

static void nothing_is_left_when_killed_while_starting(void **state)
{
    char parent[] = "/tmp/hf-test-XXXXXX";
    hf_db_options o = short_calls;
    unsigned before = left_memory();
    double until;

    (void)state;
    o.directory = mkdtemp(parent);
    assert_non_null(o.directory);
    assert_int_equal(chmod(parent, 0711), 0); /* the server's user goes in */
    for (unsigned i = 0; i < 5; i++) {
        pid_t child = fork();

        if (child == 0) {
            hf_db *mine;

            if (hf_db_open("postgres", &o, &mine, NULL) != HF_OK)
                _exit(1);
            for (;;)
                (void)pause();
        }
        hf_db_sleep((30u + 300u * i) * 1000u * 1000u);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
    }
    until = live_seconds() + 10;
    while ((!is_empty(parent) || live_processes(parent) > 0) &&
           live_seconds() < until)
        hf_db_sleep(20u * 1000 * 1000);
    assert_true(is_empty(parent));
    assert_int_equal(live_processes(parent), 0);
    assert_true(left_memory() <= before);
    (void)rmdir(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_programs_have_a_package),
        cmocka_unit_test(failed_starts_say_why),
        cmocka_unit_test(nothing_is_left_when_we_are_killed),
        cmocka_unit_test(nothing_is_left_when_the_keeper_is_killed),
        cmocka_unit_test(nothing_is_left_when_killed_while_starting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

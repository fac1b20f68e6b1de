/* The last words of work that does not notice its end: what is known by then,
 * and the status that goes with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/limits.h"

static char *own(const char *text)
{
    char *copy = HF_NEW_ARRAY(char, strlen(text) + 1);

    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

/* In a process of its own; it has something new to say, or NULL. */
static void work(int out, const char *later, int status)
{
    (void)dup2(out, STDOUT_FILENO);
    hf_limits_arm(0.01, own("nothing\n"), 0, NULL);
    if (later)
        hf_limits_say(own(later), NULL, status);
    for (;;)
        (void)pause();
}

static void expect(const char *later, int status, const char *words)
{
    char got[100] = "";
    size_t n = 0;
    ssize_t more;
    int ends[2], ended;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        work(ends[1], later, status);
    (void)close(ends[1]);
    while (n < sizeof(got) - 1 &&
           (more = read(ends[0], got + n, sizeof(got) - 1 - n)) > 0)
        n += (size_t)more;
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_string_equal(got, words);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), status);
}

static void what_was_said_at_first_is_said(void **state)
{
    (void)state;
    expect(NULL, 3, "nothing\n");
}

static void what_is_known_by_then_is_said(void **state)
{
    (void)state;
    expect("refused\nundecided\n", 1, "refused\nundecided\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_at_first_is_said),
        cmocka_unit_test(what_is_known_by_then_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_progress.c: the progress line comes late and leaves no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "cli/progress.h"

typedef struct screen {
    int ends[2];
    char text[1000];
} screen;

static void open_screen(screen *s)
{
    assert_int_equal(pipe(s->ends), 0);
    assert_true(fcntl(s->ends[0], F_SETFL, O_NONBLOCK) == 0);
}

/* What was written since the last look. */
static const char *look(screen *s)
{
    ssize_t n = read(s->ends[0], s->text, sizeof s->text - 1);

    s->text[n > 0 ? n : 0] = '\0';
    return s->text;
}

static void close_screen(screen *s)
{
    (void)close(s->ends[0]);
    (void)close(s->ends[1]);
}

static void nothing_in_the_first_second(void **state)
{
    screen s;
    hf_progress p;

    (void)state;
    open_screen(&s);
    hf_progress_init(&p, s.ends[1], true);
    hf_progress_begin(&p, "reading");
    hf_progress_update(&p, "reading", 1, 2);
    hf_progress_erase(&p);
    assert_string_equal(look(&s), "");
    close_screen(&s);
}

static void shown_then_erased(void **state)
{
    screen s;
    hf_progress p;

    (void)state;
    open_screen(&s);
    hf_progress_init(&p, s.ends[1], true);
    hf_progress_begin(&p, "reading");
    p.started_ns -= 3000000000u; /* three seconds ago */
    hf_progress_update(&p, "reading", 1, 4);
    assert_string_equal(look(&s), "\r\033[Kreading: 25% (3 s)");
    hf_progress_update(&p, "reading", 2, 4); /* too soon to draw again */
    assert_string_equal(look(&s), "");
    p.shown_ns -= 200000000u;
    hf_progress_tick(&p);
    assert_string_equal(look(&s), "\r\033[Kreading: 50% (3 s)");
    hf_progress_erase(&p);
    assert_string_equal(look(&s), "\r\033[K");
    hf_progress_erase(&p);
    assert_string_equal(look(&s), "");
    close_screen(&s);
}

static void never_where_nobody_watches(void **state)
{
    screen s;
    hf_progress p;

    (void)state;
    open_screen(&s);
    hf_progress_init(&p, s.ends[1], false);
    hf_progress_begin(&p, "reading");
    p.started_ns -= 3000000000u;
    hf_progress_update(&p, "reading", 1, 4);
    hf_progress_tick(&p);
    hf_progress_erase(&p);
    assert_string_equal(look(&s), "");
    close_screen(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_the_first_second),
        cmocka_unit_test(shown_then_erased),
        cmocka_unit_test(never_where_nobody_watches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

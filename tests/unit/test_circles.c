/* Recorded orders that go in a circle with one of unknown outcome: it did not
 * happen, then.  Asked in clauses, by check and by verify.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/states.h"
#include "history/builder.h"
#include "history/text.h"
#include "solver/sat.h"
#include "verify/verify.h"

/* More than are enumerated. */
#define ADDS                                                                   \
    "{\"id\":3,\"ops\":[[\"inc\",\"x\",1],[\"r\",\"p\",1]]}\n"                 \
    "{\"id\":4,\"ops\":[[\"inc\",\"x\",2]]}\n"                                 \
    "{\"id\":5,\"ops\":[[\"inc\",\"x\",4]]}\n"                                 \
    "{\"id\":6,\"ops\":[[\"inc\",\"x\",8]]}\n"                                 \
    "{\"id\":7,\"ops\":[[\"inc\",\"x\",16]]}\n"                                \
    "{\"id\":8,\"ops\":[[\"inc\",\"x\",32]]}\n"                                \
    "{\"id\":9,\"ops\":[[\"r\",\"x\",21]]}\n"                                  \
    "{\"order\":[\"p\",[1,2]]}\n{\"order\":[\"q\",[2,1]]}\n"

#define FIRST "{\"id\":1,\"ops\":[[\"w\",\"p\",1],[\"w\",\"q\",1]]}\n"
#define SECOND "{\"id\":2,\"ops\":[[\"w\",\"p\",2],[\"w\",\"q\",2]]"

static const char unknown[] = FIRST SECOND ",\"outcome\":\"unknown\"}\n" ADDS;
static const char committed[] = FIRST SECOND "}\n" ADDS;

static const hf_level levels[] = {HF_SERIALIZABLE,
                                  HF_REPEATABLE_READ,
                                  HF_SNAPSHOT_ISOLATION,
                                  HF_CONSISTENT_VIEW,
                                  HF_PARALLEL_SNAPSHOT_ISOLATION,
                                  HF_READ_COMMITTED};

static hf_history *history(const char *text)
{
    hf_builder *b = hf_builder_new();
    hf_history *h = NULL;
    hf_error err;

    if (hf_text_read(text, strlen(text), b, &err) != HF_OK ||
        hf_builder_finish(b, &h, &err) != HF_OK)
        fail_msg("%s", err.text);
    return h;
}

static hf_states_answer solve(const hf_history *h, hf_level level)
{
    hf_states_answer answer;
    hf_states_model model;
    hf_states_form form;
    uint32_t *rank;
    hf_states s;

    assert_true(hf_states_decides(hf_level_get(level), &form));
    hf_states_build(&s, h, form, NULL);
    rank = HF_NEW_ARRAY(uint32_t, 2 * (size_t)s.n + 1);
    for (uint32_t i = 0; i < 2 * s.n; i++)
        rank[i] = i;
    hf_states_model_init(&model);
    answer = hf_states_solve(&s, rank, NULL, &model);
    hf_states_model_release(&model);
    hf_free(rank);
    hf_states_release(&s);
    return answer;
}

/* Is it accepted that all are impossible by themselves? */
static bool is_accepted(const hf_history *h, hf_level level)
{
    hf_verify_session *session = hf_verify_open(h);
    hf_verification v = {.accepted = false};
    hf_txn_id all[16];
    hf_claim claim = {.verdict = HF_INVALID,
                      .level = level,
                      .witness = {.kind = HF_WITNESS_CORE,
                                  .anomaly = HF_NO_ORDER,
                                  .order = all,
                                  .n_order = h->n_txns}};
    hf_error err;

    for (hf_txn_id t = 0; t < h->n_txns; t++)
        all[t] = t;
    hf_verify_set_eager(session);
    assert_int_equal(hf_verify_claim_in(session, &claim, NULL, &v, &err),
                     HF_OK);
    hf_verify_close(session);
    return v.accepted;
}

static void one_that_did_not_happen_closes_no_circle(void **state)
{
    hf_history *h = history(unknown);

    (void)state;
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        if (hf_sat_available())
            assert_int_equal(solve(h, levels[i]), HF_STATES_FOUND);
        assert_false(is_accepted(h, levels[i]));
    }
    hf_history_free(h);
}

static void one_that_happened_does(void **state)
{
    hf_history *h = history(committed);

    (void)state;
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        if (hf_sat_available())
            assert_int_equal(solve(h, levels[i]), HF_STATES_NONE);
        assert_true(is_accepted(h, levels[i]));
    }
    hf_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_did_not_happen_closes_no_circle),
        cmocka_unit_test(one_that_happened_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

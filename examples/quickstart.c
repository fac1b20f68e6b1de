/* quickstart.c: a history built in memory, checked, its proof printed.
 *
 * Two doctors look whether the other is on call, and each goes home: write
 * skew.  Snapshot isolation lets it happen, serializability does not.
 *
 *     cc quickstart.c $(pkg-config --cflags --libs holdfast) && ./a.out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <holdfast.h>

static void die(const hf_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(2);
}

static hf_history *two_doctors(void)
{
    static const char *const names[] = {"alice", "bob"};
    hf_builder *b = hf_builder_new();
    hf_history *h;
    hf_error err;

    for (int me = 0; me < 2; me++) {
        hf_session_id session =
            hf_builder_session_text(b, names[me], strlen(names[me]));
        hf_txn_id t = hf_builder_txn(b, session);

        for (int i = 0; i < 2; i++) { /* both still on call: no value yet */
            hf_key_id key = hf_builder_key_text(b, names[i], strlen(names[i]));

            hf_builder_op(b, t, HF_OP_READ, key, hf_builder_nil(b, key));
        }
        hf_key_id mine = hf_builder_key_text(b, names[me], strlen(names[me]));

        hf_builder_op(
            b, t, HF_OP_WRITE, mine,
            hf_builder_value(
                b, mine,
                (hf_scalar){.type = HF_TEXT, .text = "gone", .length = 4}));
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK)
        die(&err);
    return h;
}

static void check(const hf_history *h, const char *level)
{
    static const char *const verdicts[] = {"valid", "invalid", "unknown"};
    hf_result *r;
    hf_error err;
    bool accepted;
    char *json;

    if (hf_check(h, level, NULL, NULL, &r, &err) != HF_OK)
        die(&err);
    printf("%s: %s", level, verdicts[hf_result_verdict(r)]);
    for (uint32_t i = 0; i < hf_result_anomalies(r); i++)
        printf("%s %s", i ? "," : ":", hf_result_anomaly(r, i));
    printf("\n");
    json = hf_result_json(h, r);
    if (hf_verify(h, json, strlen(json), &accepted, &err) != HF_OK)
        die(&err);
    printf("the proof is %s by the independent checker\n",
           accepted ? "accepted" : "refused");
    if (hf_result_verdict(r) == HF_INVALID) {
        char *text = hf_result_text(h, r);

        printf("\n%s", text);
        hf_text_free(text);
    }
    hf_text_free(json);
    hf_result_free(r);
}

int main(void)
{
    hf_history *h = two_doctors();

    check(h, "snapshot-isolation");
    check(h, "serializable");
    hf_history_free(h);
    return 0;
}

/* test_oracle_matrix.c: the oracle against the catalog.
 *
 * Each fixture of the catalog that needs no predicates, with the row of the
 * matrix that says which levels forbid it.  Before the oracle judges others
 * it has to agree with this.
 */
#include <stdio.h>

#include "fixtures.h"
#include "oracle.h"
#include "tiny.h"

static bool agrees(const char *name, const char *text, const char *row)
{
    tiny_history t = tiny_parse(text);
    hf_verdict verdicts[HF_LEVEL_COUNT];
    hf_error err;
    hf_history *h = tiny_build(&t, &err);
    bool ok = true;
    int level = 0;

    if (!h) {
        printf("%s: %s\n", name, err.text);
        return false;
    }
    oracle_check_all(h, verdicts);
    for (const char *p = row; *p; p++) {
        if (*p == ' ')
            continue;
        if (verdicts[level] != (*p == 'F' ? HF_INVALID : HF_VALID)) {
            printf("%s: %s: the catalog says %s, the oracle does not\n", name,
                   hf_level_get((hf_level)level)->name,
                   *p == 'F' ? "invalid" : "valid");
            ok = false;
        }
        if (oracle_check(h, (hf_level)level) != verdicts[level]) {
            printf("%s: one level and all levels disagree\n", name);
            ok = false;
        }
        level++;
    }
    tiny_free(h);
    return ok && level == HF_LEVEL_COUNT;
}

int main(void)
{
    int passed = 0, failed = 0;
    const fixture *f;

    for (unsigned i = 0; (f = fixture_at(i)); i++)
        if (agrees(f->name, f->text, f->row))
            passed++;
        else
            failed++;
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

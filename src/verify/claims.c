/* claims.c: several claims in one text, one JSON object after the other.
 *
 * The text is cut at the objects' ends, wherever its lines end; each piece is
 * then read by hf_claim_read().  Two passes over the text.
 */
#include "verify/verify.h"

#include "base/json_in.h"
#include "base/vec.h"

typedef HF_VEC(hf_claim) claim_vec;

/* Its "type" is "levels": which levels hold, without a proof. */
static bool is_summary(hf_str object)
{
    hf_json_in j;
    hf_str key, type;
    bool found = false;

    hf_json_in_init(&j, object.ptr, object.len);
    (void)hf_json_in_open(&j, '{');
    while (hf_json_in_next_key(&j, &key)) {
        if (hf_str_eq(key, HF_STR("type")) && hf_json_in_peek(&j) == '"') {
            found = hf_json_in_string(&j, &type) &&
                    hf_str_eq(type, HF_STR("levels"));
            break;
        }
        (void)hf_json_in_skip(&j, NULL);
    }
    hf_json_in_release(&j);
    return found;
}

/* One piece, which begins on `line`. */
static hf_status add(const hf_history *h, hf_str piece, uint64_t line,
                     hf_arena *arena, claim_vec *claims, hf_error *err)
{
    hf_claim claim;
    hf_status st = hf_claim_read(h, piece.ptr, piece.len, arena, &claim, err);

    if (st == HF_OK)
        hf_vec_push(claims, claim);
    else if (err && err->line != HF_NO_PLACE)
        err->line += line - 1;
    return st;
}

static hf_status read_all(const hf_history *h, hf_json_in *j, hf_arena *arena,
                          claim_vec *claims, hf_error *err)
{
    hf_status st = HF_OK;

    while (st == HF_OK && hf_json_in_peek(j) == '{') {
        uint64_t line = hf_json_in_line(j);
        const char *from = j->at;
        hf_str object;

        /* what is wrong with it is better said by the one that knows it */
        if (!hf_json_in_skip(j, &object))
            object = (hf_str){from, (size_t)(j->end - from)};
        if (j->failed || !is_summary(object))
            st = add(h, object, line, arena, claims, err);
        if (st == HF_OK && j->failed) {
            if (err)
                *err = j->err;
            return HF_ERR_INPUT;
        }
    }
    if (st == HF_OK && (hf_json_in_peek(j) != 0 || claims->n == 0))
        st = add(h, (hf_str){j->at, (size_t)(j->end - j->at)},
                 hf_json_in_line(j), arena, claims, err);
    if (st == HF_OK && j->failed) {
        if (err)
            *err = j->err;
        return HF_ERR_INPUT;
    }
    return st;
}

hf_status hf_claims_read(const hf_history *h, const char *text, size_t length,
                         hf_arena *arena, hf_claim_list *ret, hf_error *err)
{
    claim_vec claims = {0};
    hf_json_in j;
    hf_status st;

    hf_json_in_init(&j, text, length);
    st = read_all(h, &j, arena, &claims, err);
    hf_json_in_release(&j);
    if (st == HF_OK) {
        size_t size = claims.n * sizeof(*claims.at);

        ret->n = claims.n;
        ret->at = hf_arena_get(arena, size);
        memcpy(ret->at, claims.at, size);
    }
    hf_vec_release(&claims);
    return st;
}

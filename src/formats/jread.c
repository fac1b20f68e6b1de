/* jread.c: one reader over EDN and JSON. */
#include "formats/jread.h"

void hf_jread_init(hf_jread *r, bool json, const char *start, hf_str text)
{
    size_t length = (size_t)(text.ptr - start) + text.len;

    r->json = json;
    if (json) {
        hf_json_in_init(&r->u.in, start, length);
        r->u.in.at = text.ptr;
    } else {
        hf_edn_init(&r->u.edn, start, length);
        r->u.edn.at = text.ptr;
    }
}

void hf_jread_release(hf_jread *r)
{
    if (r->json)
        hf_json_in_release(&r->u.in);
    else
        hf_edn_release(&r->u.edn);
}

bool hf_jread_failed(const hf_jread *r)
{
    return r->json ? r->u.in.failed : r->u.edn.failed;
}

const hf_error *hf_jread_error(const hf_jread *r)
{
    return r->json ? &r->u.in.err : &r->u.edn.err;
}

const char *hf_jread_at(const hf_jread *r)
{
    return r->json ? r->u.in.at : r->u.edn.at;
}

static bool json_expected(hf_json_in *j, const char *what)
{
    char quoted[48];
    size_t n = 0, left;

    (void)hf_json_in_peek(j);
    left = (size_t)(j->end - j->at);
    while (n < left && n < 24 && j->at[n] != '\n')
        n++;
    if (n == 0)
        return hf_json_in_fail(j, "expected %s, found the end of the input",
                               what);
    return hf_json_in_fail(j, "expected %s, found \"%s\"", what,
                           hf_quote(quoted, sizeof(quoted), j->at, n));
}

bool hf_jread_expected(hf_jread *r, const char *what)
{
    return r->json ? json_expected(&r->u.in, what)
                   : hf_edn_expected(&r->u.edn, what);
}

bool hf_jread_refuse(hf_jread *r, const char *text)
{
    return r->json ? hf_json_in_fail(&r->u.in, "%s", text)
                   : hf_edn_fail(&r->u.edn, "%s", text);
}

static hf_jkind json_kind(hf_json_in *j)
{
    char c = hf_json_in_peek(j);
    const char *p = j->at;

    switch (c) {
    case 0:
    case ']':
    case '}':
        return HF_J_END;
    case '[':
        return HF_J_SEQ;
    case '{':
        return HF_J_MAP;
    case '"':
        return HF_J_TEXT;
    case 'n':
        return HF_J_NIL;
    case 't':
    case 'f':
        return HF_J_SCALAR;
    default:
        break;
    }
    p += *p == '-';
    while (p < j->end && *p >= '0' && *p <= '9')
        p++;
    return p < j->end && (*p == '.' || (*p | 32) == 'e') ? HF_J_SCALAR
                                                         : HF_J_INT;
}

hf_jkind hf_jread_peek(hf_jread *r)
{
    static const hf_jkind kinds[HF_EDN_KIND_COUNT] = {
        [HF_EDN_END] = HF_J_END,      [HF_EDN_CLOSE] = HF_J_END,
        [HF_EDN_NIL] = HF_J_NIL,      [HF_EDN_BOOL] = HF_J_SCALAR,
        [HF_EDN_INT] = HF_J_INT,      [HF_EDN_REAL] = HF_J_SCALAR,
        [HF_EDN_CHAR] = HF_J_SCALAR,  [HF_EDN_STRING] = HF_J_TEXT,
        [HF_EDN_KEYWORD] = HF_J_TEXT, [HF_EDN_SYMBOL] = HF_J_TEXT,
        [HF_EDN_LIST] = HF_J_SEQ,     [HF_EDN_VECTOR] = HF_J_SEQ,
        [HF_EDN_MAP] = HF_J_MAP,      [HF_EDN_SET] = HF_J_SET,
    };

    return r->json ? json_kind(&r->u.in) : kinds[hf_edn_peek(&r->u.edn)];
}

bool hf_jread_open(hf_jread *r, hf_jkind kind)
{
    if (r->json)
        return hf_json_in_open(&r->u.in, kind == HF_J_MAP ? '{' : '[');
    return hf_edn_open(&r->u.edn, kind == HF_J_MAP   ? HF_EDN_MAP
                                  : kind == HF_J_SET ? HF_EDN_SET
                                                     : HF_EDN_VECTOR);
}

bool hf_jread_next(hf_jread *r)
{
    return r->json ? hf_json_in_next_item(&r->u.in) : hf_edn_next(&r->u.edn);
}

bool hf_jread_next_key(hf_jread *r, hf_scalar *ret_key)
{
    hf_str name;
    int64_t number;

    if (!r->json)
        return hf_edn_next(&r->u.edn) && hf_edn_scalar(&r->u.edn, ret_key);
    if (!hf_json_in_next_key(&r->u.in, &name))
        return false;
    if (hf_str_to_int(name, &number))
        *ret_key = (hf_scalar){.type = HF_INT, .number = number};
    else
        *ret_key =
            (hf_scalar){.type = HF_TEXT, .text = name.ptr, .length = name.len};
    return true;
}

bool hf_jread_int(hf_jread *r, int64_t *ret_value)
{
    return r->json ? hf_json_in_int(&r->u.in, ret_value)
                   : hf_edn_int(&r->u.edn, ret_value);
}

bool hf_jread_nil(hf_jread *r)
{
    return r->json ? hf_json_in_null(&r->u.in) : hf_edn_nil(&r->u.edn);
}

bool hf_jread_name(hf_jread *r, hf_str *ret_name)
{
    return r->json ? hf_json_in_string(&r->u.in, ret_name)
                   : hf_edn_name(&r->u.edn, ret_name);
}

bool hf_jread_scalar(hf_jread *r, hf_scalar *ret_value)
{
    if (!r->json)
        return hf_edn_scalar(&r->u.edn, ret_value);
    if (hf_json_in_peek(&r->u.in) == '{')
        return json_expected(&r->u.in, "a value");
    return hf_json_in_scalar(&r->u.in, ret_value);
}

bool hf_jread_skip(hf_jread *r, hf_str *ret_text)
{
    return r->json ? hf_json_in_skip(&r->u.in, ret_text)
                   : hf_edn_skip(&r->u.edn, ret_text);
}

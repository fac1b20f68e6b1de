/* json_out.c: writing JSON. */
#include "base/json_out.h"

void hf_json_init(hf_json *j, hf_out *out)
{
    *j = (hf_json){.out = out, .first = true};
}

static void before_value(hf_json *j)
{
    if (j->after_key)
        j->after_key = false;
    else if (j->depth > 0 && !j->first)
        hf_out_char(j->out, ',');
    j->first = false;
}

static void open_bracket(hf_json *j, char opener, char closer)
{
    if (j->depth >= HF_JSON_DEPTH)
        HF_BUG("JSON output nested too deeply");
    before_value(j);
    hf_out_char(j->out, opener);
    j->closers[j->depth++] = closer;
    j->first = true;
}

void hf_json_object(hf_json *j)
{
    open_bracket(j, '{', '}');
}

void hf_json_array(hf_json *j)
{
    open_bracket(j, '[', ']');
}

void hf_json_end(hf_json *j)
{
    HF_ASSERT(j->depth > 0);
    hf_out_char(j->out, j->closers[--j->depth]);
    j->first = false;
}

/* Length of the well-formed UTF-8 sequence at s, 0 if it is none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80                    ? 1
               : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
               : (s[0] & 0xf0) == 0xe0        ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;

    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void write_string(hf_out *out, hf_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    hf_out_char(out, '"');
    while (i < s.len) {
        size_t n = utf8_length(p + i, s.len - i);

        if (n == 0) {
            hf_out_text(out, "\\ufffd");
            i++;
        } else if (p[i] == '"' || p[i] == '\\') {
            hf_out_char(out, '\\');
            hf_out_char(out, (char)p[i++]);
        } else if (p[i] == '\n' || p[i] == '\t') {
            hf_out_text(out, p[i++] == '\n' ? "\\n" : "\\t");
        } else if (p[i] < 0x20 || p[i] == 0x7f) {
            hf_out_format(out, "\\u%04x", p[i++]);
        } else {
            hf_out_bytes(out, p + i, n);
            i += n;
        }
    }
    hf_out_char(out, '"');
}

void hf_json_key_str(hf_json *j, hf_str name)
{
    before_value(j);
    write_string(j->out, name);
    hf_out_char(j->out, ':');
    j->after_key = true;
}

void hf_json_key(hf_json *j, const char *name)
{
    hf_json_key_str(j, hf_str_of(name));
}

void hf_json_text(hf_json *j, const char *c_string)
{
    if (c_string)
        hf_json_str(j, hf_str_of(c_string));
    else
        hf_json_null(j);
}

void hf_json_str(hf_json *j, hf_str s)
{
    before_value(j);
    write_string(j->out, s);
}

void hf_json_int(hf_json *j, int64_t value)
{
    before_value(j);
    hf_out_int(j->out, value);
}

void hf_json_uint(hf_json *j, uint64_t value)
{
    before_value(j);
    hf_out_uint(j->out, value);
}

void hf_json_real(hf_json *j, double value)
{
    before_value(j);
    hf_out_format(j->out, "%.9g", value);
}

void hf_json_bool(hf_json *j, bool value)
{
    before_value(j);
    hf_out_text(j->out, value ? "true" : "false");
}

void hf_json_null(hf_json *j)
{
    before_value(j);
    hf_out_text(j->out, "null");
}

void hf_json_raw(hf_json *j, hf_str json)
{
    before_value(j);
    hf_out_str(j->out, json);
}

/* profile_parse.c: profiles that a user wrote; the form is in profile.h. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "watch/profile.h"

struct hf_profiles {
    HF_VEC(hf_profile) rows;
    hf_arena texts;
};

typedef struct parser {
    hf_profiles *out;
    hf_profile *row; /* the one being filled */
    uint64_t line;
    hf_error *err;
} parser;

#define MOST_PROFILES 1000u

static hf_str trim(hf_str s)
{
    while (s.len > 0 && strchr(" \t\r", s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && strchr(" \t\r", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static hf_status fail(const parser *p, const char *what, hf_str text)
{
    char quoted[80];

    return hf_fail_line(p->err, p->line, "%s \"%s\"", what,
                        hf_quote(quoted, sizeof(quoted), text.ptr, text.len));
}

static const char *keep(const parser *p, hf_str s)
{
    return hf_arena_text(&p->out->texts, s.ptr, s.len);
}

static hf_status parse_head(parser *p, hf_str line)
{
    hf_str database, level;

    if (line.len < 3 || line.ptr[line.len - 1] != ']')
        return fail(p, "expected \"[database/level]\", found", line);
    hf_profile_split(trim((hf_str){line.ptr + 1, line.len - 2}), &database,
                     &level);
    if (database.len == 0 || level.len == 0)
        return fail(p, "expected \"[database/level]\", found", line);
    if (p->out->rows.n >= MOST_PROFILES)
        return fail(p, "too many profiles at", line);
    hf_vec_push(&p->out->rows, (hf_profile){.database = keep(p, database),
                                            .level = keep(p, level),
                                            .promise = "",
                                            .where = "",
                                            .note = ""});
    p->row = &p->out->rows.at[p->out->rows.n - 1];
    return HF_OK;
}

/* One of n words, by its place. */
static hf_status parse_word(const parser *p, hf_str value,
                            const char *(*name)(unsigned), unsigned n,
                            unsigned *ret)
{
    for (unsigned i = 0; i < n; i++)
        if (hf_str_same_name(value, hf_str_of(name(i)))) {
            *ret = i;
            return HF_OK;
        }
    return fail(p, "unrecognized value", value);
}

static const char *read_name(unsigned i)
{
    return hf_watch_read_name((hf_watch_read)i);
}

static const char *snapshot_name(unsigned i)
{
    return hf_watch_snapshot_name((hf_watch_snapshot)i);
}

static const char *lock_name(unsigned i)
{
    return hf_watch_lock_name((hf_watch_lock)i);
}

static const char *certifier_name(unsigned i)
{
    return hf_watch_certifier_name((hf_watch_certifier)i);
}

static const char *yes_name(unsigned i)
{
    return i ? "yes" : "no";
}

static const char *newest_name(unsigned i)
{
    return i ? "newest" : "snapshot";
}

static const char *late_name(unsigned i)
{
    return i ? "commit" : "write";
}

static const char *conflict_name(unsigned i)
{
    return i ? "conflict" : "free";
}

static const char *bytes_name(unsigned i)
{
    return i ? "bytes" : "any";
}

static const char *writers_name(unsigned i)
{
    return i ? "one" : "many";
}

static hf_status parse_slack(const parser *p, hf_str value)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    int64_t number;
    size_t i = 0;

    while (i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9')
        i++;
    if (!hf_str_to_int((hf_str){value.ptr, i}, &number) || number > 3600000)
        return fail(p, "expected a time such as \"500ms\", found", value);
    for (size_t u = 0; u < 4; u++)
        if (hf_str_eq(trim((hf_str){value.ptr + i, value.len - i}),
                      hf_str_of(units[u].unit))) {
            p->row->slack = (uint64_t)number * units[u].ns;
            return HF_OK;
        }
    return fail(p, "expected a time such as \"500ms\", found", value);
}

static hf_status parse_text(const parser *p, hf_str name, hf_str value)
{
    if (hf_str_eq(name, HF_STR("promise")))
        p->row->promise = keep(p, value);
    else if (hf_str_eq(name, HF_STR("where")))
        p->row->where = keep(p, value);
    else if (hf_str_eq(name, HF_STR("note")))
        p->row->note = keep(p, value);
    else if (hf_str_eq(name, HF_STR("slack")))
        return parse_slack(p, value);
    else
        return fail(p, "unrecognized setting", name);
    return HF_OK;
}

static void set(hf_profile *row, unsigned field, unsigned value)
{
    switch (field) {
    case 0:
        row->read = (hf_watch_read)value;
        break;
    case 1:
        row->snapshot = (hf_watch_snapshot)value;
        break;
    case 2:
        row->lock = (hf_watch_lock)value;
        break;
    case 3:
        row->certifier = (hf_watch_certifier)value;
        break;
    case 4:
        row->first_updater_wins = value;
        break;
    case 5:
        row->is_default = value;
        break;
    case 6:
        row->locked_reads_newest = value;
        break;
    case 7:
        row->locks_at_commit = value;
        break;
    case 8:
        row->inserts_conflict = value;
        break;
    case 9:
        row->texts_by_bytes = value;
        break;
    default:
        row->one_writer = value;
    }
}

static hf_status parse_setting(parser *p, hf_str line)
{
    static const struct {
        const char *name;
        const char *(*word)(unsigned);
        unsigned n;
    } words[] = {
        {"read", read_name, HF_WATCH_READ_COUNT},
        {"snapshot", snapshot_name, HF_WATCH_SNAPSHOT_COUNT},
        {"locks", lock_name, HF_WATCH_LOCK_COUNT},
        {"certifier", certifier_name, HF_WATCH_SC_COUNT},
        {"first-updater-wins", yes_name, 2},
        {"default", yes_name, 2},
        {"locked-reads", newest_name, 2},
        {"write-locks", late_name, 2},
        {"inserts", conflict_name, 2},
        {"texts", bytes_name, 2},
        {"writers", writers_name, 2},
    };
    const char *equals = memchr(line.ptr, '=', line.len);
    hf_str name, value;

    if (!equals)
        return fail(p, "expected \"name = value\", found", line);
    if (!p->row)
        return fail(p, "no \"[database/level]\" before", line);
    name = trim((hf_str){line.ptr, (size_t)(equals - line.ptr)});
    value =
        trim((hf_str){equals + 1, line.len - (size_t)(equals + 1 - line.ptr)});
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        unsigned found = 0;
        hf_status st;

        if (!hf_str_eq(name, hf_str_of(words[i].name)))
            continue;
        st = parse_word(p, value, words[i].word, words[i].n, &found);
        if (st == HF_OK)
            set(p->row, i, found);
        return st;
    }
    return parse_text(p, name, value);
}

hf_status hf_profiles_parse(hf_str text, hf_profiles **ret_rows, hf_error *err)
{
    hf_profiles *out = HF_NEW(hf_profiles);
    parser p = {.out = out, .err = err};
    hf_status st = HF_OK;

    hf_arena_init(&out->texts);
    while (st == HF_OK && text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len;
        hf_str line = trim((hf_str){text.ptr, n});

        p.line++;
        text.ptr += end ? n + 1 : n;
        text.len -= end ? n + 1 : n;
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        st =
            line.ptr[0] == '[' ? parse_head(&p, line) : parse_setting(&p, line);
    }
    if (st == HF_OK && out->rows.n == 0)
        st = hf_fail(err, HF_ERR_INPUT, "there is no profile");
    if (st != HF_OK) {
        hf_profiles_free(out);
        return st;
    }
    *ret_rows = out;
    return HF_OK;
}

void hf_profiles_free(hf_profiles *rows)
{
    if (!rows)
        return;
    hf_vec_release(&rows->rows);
    hf_arena_release(&rows->texts);
    hf_free(rows);
}

size_t hf_profiles_count(const hf_profiles *rows)
{
    return rows->rows.n;
}

const hf_profile *hf_profiles_at(const hf_profiles *rows, size_t i)
{
    HF_ASSERT(i < rows->rows.n);
    return &rows->rows.at[i];
}

const hf_profile *hf_profiles_find(const hf_profiles *rows, hf_str name)
{
    hf_str database, level;

    hf_profile_split(name, &database, &level);
    for (size_t i = 0; i < rows->rows.n; i++)
        if (hf_profile_is_named(&rows->rows.at[i], database, level))
            return &rows->rows.at[i];
    return NULL;
}

/* generated.c: hf_generated(), the generator behind one line of text. */
#include "holdfast.h"

#include <string.h>

#include "base/error.h"
#include "workload/generate.h"

/* Takes the next word of the options, parted by white space. */
static bool next_word(const char **at, hf_str *ret_name, hf_str *ret_value)
{
    const char *word = *at + strspn(*at, " \t\n"), *equals;
    size_t length = strcspn(word, " \t\n");

    if (length == 0)
        return false;
    equals = memchr(word, '=', length);
    *ret_name = (hf_str){word, equals ? (size_t)(equals - word) : length};
    *ret_value =
        equals ? (hf_str){equals + 1, length - (size_t)(equals - word) - 1}
               : HF_STR("");
    *at = word + length;
    return true;
}

static hf_status bad_value(hf_error *err, hf_str name, hf_str value)
{
    return hf_fail(err, HF_ERR_USAGE, "option \"%.*s\" cannot be \"%.*s\"",
                   (int)name.len, name.ptr, (int)value.len, value.ptr);
}

/* Options that are whole numbers. */
static bool set_number(hf_generate_options *o, hf_str name, uint64_t n)
{
    struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"keys", &o->keys},
        {"sessions", &o->sessions},
        {"hot-keys", &o->hot_keys},
        {"hot-operations", &o->hot_operations},
        {"reads", &o->read_percent},
        {"writes", &o->write_percent},
        {"read-modify-writes", &o->rmw_percent},
        {"predicates", &o->predicate_percent},
        {"range", &o->range_percent},
        {"loaded", &o->loaded_percent},
        {"writes-per-key", &o->writes_per_key},
        {"rate", &o->bug_percent},
        {"replicas", &o->replicas},
        {"aborts", &o->abort_percent},
        {"unknown", &o->unknown_percent},
        {"min-ops", &o->min_ops},
        {"max-ops", &o->max_ops},
    };

    if (hf_str_eq(name, HF_STR("transactions"))) {
        o->transactions = n;
        return true;
    }
    if (hf_str_eq(name, HF_STR("seed"))) {
        o->seed = n;
        return true;
    }
    if (hf_str_eq(name, HF_STR("ops"))) {
        o->min_ops = o->max_ops = (uint32_t)n;
        return n <= UINT32_MAX;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (hf_str_eq(name, hf_str_of(fields[i].name)) && n <= UINT32_MAX) {
            *fields[i].field = (uint32_t)n;
            return true;
        }
    return false;
}

static hf_status set_option(hf_generate_options *o, hf_str name, hf_str value,
                            hf_error *err)
{
    int64_t number;
    bool ok = false;

    if (hf_str_eq(name, HF_STR("workload")) ||
        hf_str_eq(name, HF_STR("inject")))
        return HF_OK; /* taken before the others */
    if (hf_str_eq(name, HF_STR("level")))
        ok = hf_level_find(value, &o->level, NULL);
    else if (hf_str_eq(name, HF_STR("distribution")))
        ok = hf_distribution_find(value, &o->distribution);
    else if (hf_str_eq(name, HF_STR("version-sets")))
        ok = hf_version_sets_find(value, &o->version_sets);
    else if (hf_str_eq(name, HF_STR("no-times")))
        ok = true, o->times = false;
    else if (hf_str_eq(name, HF_STR("intervals")))
        ok = true, o->intervals = true;
    else if (hf_str_eq(name, HF_STR("duplicates")))
        ok = true, o->unique_values = false;
    else if (hf_str_eq(name, HF_STR("no-certificate")))
        ok = true, o->certificate = false;
    else if (hf_str_to_int(value, &number) && number >= 0)
        ok = set_number(o, name, (uint64_t)number);
    return ok ? HF_OK : bad_value(err, name, value);
}

/* Workload and bug decide the defaults of everything else. */
static hf_status set_defaults(hf_generate_options *o, const char *options,
                              hf_error *err)
{
    hf_workload workload = HF_WORKLOAD_REGISTER;
    hf_store_bug bug = HF_BUG_NONE;
    bool has_workload = false;
    hf_str name, value;

    while (next_word(&options, &name, &value)) {
        if (hf_str_eq(name, HF_STR("workload"))) {
            has_workload = true;
            if (!hf_workload_find(value, &workload))
                return bad_value(err, name, value);
        } else if (hf_str_eq(name, HF_STR("inject")) &&
                   !hf_store_bug_find(value, &bug, NULL)) {
            return bad_value(err, name, value);
        }
    }
    hf_generate_defaults(
        o, has_workload ? workload : hf_store_bug_workload(bug), bug);
    return HF_OK;
}

hf_status hf_generated(const char *options, hf_history **ret_h, hf_error *err)
{
    const char *at = options;
    hf_generate_options o;
    hf_str name, value;
    hf_builder *b;
    hf_status st = set_defaults(&o, options, err);

    while (st == HF_OK && next_word(&at, &name, &value))
        st = set_option(&o, name, value, err);
    if (st != HF_OK)
        return st;
    b = hf_builder_new();
    st = hf_generate(&o, b, err);
    if (st == HF_OK)
        return hf_builder_finish(b, ret_h, err);
    hf_builder_free(b);
    return st;
}

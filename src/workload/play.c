/* play.c: one run of a workload: its options, mix, state and breaches.
 *
 * Options and weights are set before the clients start and only read after
 * that.  The workload's own state is shared by all clients without a lock of
 * ours; breaches have one.  Choosing a type is linear in their number.
 */
#include "workload/play.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

#define MAX_KEPT 200u

struct hf_play {
    const hf_workload *workload;
    unsigned clients;
    uint64_t seed;
    double *options; /* by number; owned, as all below */
    double *weights; /* by type */
    void *state;
    hf_play_sink sink; /* while loading */
    void *user;
    pthread_mutex_t lock; /* of what follows, and hf_play_lock() */
    HF_VEC(hf_breach) kept;
    uint64_t n_breaches;
};

/* ---- making -------------------------------------------------------------- */

hf_play *hf_play_new(const hf_workload *w, unsigned clients, uint64_t seed)
{
    hf_play *p = HF_NEW(hf_play);

    p->workload = w;
    p->clients = clients;
    p->seed = seed;
    p->options = HF_NEW_ZEROED(double, w->n_options + 1);
    p->weights = HF_NEW_ZEROED(double, w->n_types + 1);
    for (unsigned i = 0; i < w->n_options; i++)
        p->options[i] = w->options[i].value;
    for (unsigned i = 0; i < w->n_types; i++)
        p->weights[i] = w->types[i].weight;
    p->state = hf_alloc_zero(1, w->state_size + 1);
    pthread_mutex_init(&p->lock, NULL);
    /* never moved: others may hold pointers to those that are there */
    hf_vec_reserve(&p->kept, MAX_KEPT);
    return p;
}

void hf_play_free(hf_play *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    hf_vec_release(&p->kept);
    hf_free(p->state);
    hf_free(p->weights);
    hf_free(p->options);
    hf_free(p);
}

const hf_workload *hf_play_workload(const hf_play *p)
{
    return p->workload;
}

uint64_t hf_play_seed(const hf_play *p)
{
    return p->seed;
}

unsigned hf_play_clients(const hf_play *p)
{
    return p->clients;
}

void *hf_play_state(hf_play *p)
{
    return p->state;
}

void hf_play_lock(hf_play *p)
{
    pthread_mutex_lock(&p->lock);
}

void hf_play_unlock(hf_play *p)
{
    pthread_mutex_unlock(&p->lock);
}

/* ---- options and weights ------------------------------------------------- */

/* Words that stand for the values 0, 1, ... of options of this name. */
typedef struct option_words {
    const char *name;
    const char *words[5]; /* ends with NULL */
} option_words;

static const option_words words[] = {
    {"distribution", {"uniform", "zipf", "hotspot", "exponential", NULL}},
    {"range-unit", {"operation", "transaction", NULL}},
    {"dialect", {"original", "benchbase", NULL}},
};

const char *hf_option_word(const hf_workload_option *o, unsigned value)
{
    if (value > 4)
        return NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].name, o->name) == 0) {
            for (unsigned w = 0; w < value; w++)
                if (!words[i].words[w])
                    return NULL;
            return words[i].words[value];
        }
    return NULL;
}

static bool number_of(hf_str s, double *ret)
{
    char text[64], *end;

    if (s.len == 0 || s.len >= sizeof(text))
        return false;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    *ret = strtod(text, &end);
    return end == text + s.len && isfinite(*ret);
}

static bool value_of(const hf_workload_option *o, hf_str s, double *ret)
{
    const char *word;

    for (unsigned i = 0; (word = hf_option_word(o, i)); i++)
        if (hf_str_same_name(s, hf_str_of(word))) {
            *ret = i;
            return true;
        }
    if (o->least == 0 && o->most == 1) {
        bool yes = hf_str_same_name(s, HF_STR("yes")) ||
                   hf_str_same_name(s, HF_STR("on")) ||
                   hf_str_same_name(s, HF_STR("true"));
        bool no = hf_str_same_name(s, HF_STR("no")) ||
                  hf_str_same_name(s, HF_STR("off")) ||
                  hf_str_same_name(s, HF_STR("false"));

        *ret = yes;
        if (yes || no)
            return true;
    }
    return number_of(s, ret);
}

/* "NAME=VALUE" in two. */
static hf_status parts_of(hf_str text, hf_str *ret_name, hf_str *ret_value,
                          hf_error *err)
{
    const char *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;
    char quoted[80];

    if (!equals || equals == text.ptr)
        return hf_fail(err, HF_ERR_INPUT,
                       "\"%s\" is not of the form NAME=VALUE",
                       hf_quote(quoted, sizeof(quoted), text.ptr, text.len));
    ret_name->ptr = text.ptr;
    ret_name->len = (size_t)(equals - text.ptr);
    ret_value->ptr = equals + 1;
    ret_value->len = text.len - ret_name->len - 1;
    return HF_OK;
}

/* " (there are: a, b, c)" */
static void list_names(char *buffer, size_t size, unsigned n,
                       const char *(*name)(const hf_workload *w, unsigned i),
                       const hf_workload *w)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (unsigned i = 0; i < n && used < size; i++) {
        int more = snprintf(buffer + used, size - used, "%s%s",
                            i ? ", " : "; it has ", name(w, i));

        if (more < 0)
            return;
        used += (size_t)more;
    }
}

static const char *option_name(const hf_workload *w, unsigned i)
{
    return w->options[i].name;
}

static const char *type_name(const hf_workload *w, unsigned i)
{
    return w->types[i].name;
}

static hf_status set_option(hf_play *p, unsigned i, hf_str value, hf_error *err)
{
    const hf_workload_option *o = &p->workload->options[i];
    char quoted[80];
    double number;

    if (!value_of(o, value, &number))
        return hf_fail(err, HF_ERR_INPUT, "\"%s\" is no value of option \"%s\"",
                       hf_quote(quoted, sizeof(quoted), value.ptr, value.len),
                       o->name);
    if (number < o->least || number > o->most)
        return hf_fail(err, HF_ERR_INPUT,
                       "option \"%s\" must be from %.15g to %.15g, not %.15g",
                       o->name, o->least, o->most, number);
    p->options[i] = number;
    return HF_OK;
}

hf_status hf_play_set(hf_play *p, hf_str text, hf_error *err)
{
    const hf_workload *w = p->workload;
    char quoted[80], names[300];
    hf_str name = {0}, value = {0};
    hf_status st = parts_of(text, &name, &value, err);

    if (st != HF_OK)
        return st;
    for (unsigned i = 0; i < w->n_options; i++)
        if (hf_str_same_name(name, hf_str_of(w->options[i].name)))
            return set_option(p, i, value, err);
    list_names(names, sizeof(names), w->n_options, option_name, w);
    return hf_fail(err, HF_ERR_INPUT, "workload \"%s\" has no option \"%s\"%s",
                   w->name,
                   hf_quote(quoted, sizeof(quoted), name.ptr, name.len), names);
}

hf_status hf_play_weigh(hf_play *p, hf_str text, hf_error *err)
{
    const hf_workload *w = p->workload;
    char quoted[80], names[300];
    hf_str name = {0}, value = {0};
    double weight;
    hf_status st = parts_of(text, &name, &value, err);

    if (st != HF_OK)
        return st;
    if (!number_of(value, &weight) || weight < 0 || weight > 1e9)
        return hf_fail(err, HF_ERR_INPUT,
                       "\"%s\" is no weight: a number from 0 on is",
                       hf_quote(quoted, sizeof(quoted), value.ptr, value.len));
    for (unsigned i = 0; i < w->n_types; i++)
        if (hf_str_same_name(name, hf_str_of(w->types[i].name))) {
            p->weights[i] = weight;
            return HF_OK;
        }
    list_names(names, sizeof(names), w->n_types, type_name, w);
    return hf_fail(err, HF_ERR_INPUT,
                   "workload \"%s\" has no transaction \"%s\"%s", w->name,
                   hf_quote(quoted, sizeof(quoted), name.ptr, name.len), names);
}

double hf_play_option(const hf_play *p, const char *name)
{
    const hf_workload *w = p->workload;

    for (unsigned i = 0; i < w->n_options; i++)
        if (strcmp(w->options[i].name, name) == 0)
            return p->options[i];
    HF_BUG("a workload asks for an option that it does not have");
}

/* ---- running ------------------------------------------------------------- */

static double sum_of_weights(const hf_play *p)
{
    double sum = 0;

    for (unsigned i = 0; i < p->workload->n_types; i++)
        sum += p->weights[i];
    return sum;
}

hf_status hf_play_load(hf_play *p, hf_play_sink sink, void *user, hf_error *err)
{
    hf_status st = HF_OK;

    if (sum_of_weights(p) <= 0)
        return hf_fail(err, HF_ERR_INPUT,
                       "the mix of workload \"%s\" has no transaction of a "
                       "weight above 0",
                       p->workload->name);
    p->sink = sink;
    p->user = user;
    if (p->workload->load)
        st = p->workload->load(p, err);
    p->sink = NULL;
    p->user = NULL;
    return st;
}

hf_status hf_play_row(hf_play *p, const char *table, const hf_sql_value *row,
                      uint32_t n, hf_error *err)
{
    HF_ASSERT(p->sink);
    return p->sink(p->user, table, row, n, err);
}

void hf_play_draw(hf_play *p, hf_client *c, hf_drawn *ret)
{
    const hf_workload *w = p->workload;
    double left = hf_rng_unit(hf_client_rng(c)) * sum_of_weights(p);
    unsigned type = w->n_types;

    for (unsigned i = 0; i < w->n_types; i++) {
        if (p->weights[i] <= 0)
            continue;
        type = i; /* the last, if rounding leaves something */
        if (left < p->weights[i])
            break;
        left -= p->weights[i];
    }
    hf_play_draw_type(p, c, type, ret);
}

void hf_play_draw_type(hf_play *p, hf_client *c, unsigned type, hf_drawn *ret)
{
    const hf_workload *w = p->workload;

    HF_ASSERT(type < w->n_types);
    memset(ret, 0, sizeof(*ret));
    ret->type = type;
    if (w->types[type].draw)
        w->types[type].draw(p, c, ret);
    HF_ASSERT(ret->type < w->n_types);
    HF_ASSERT(ret->n <= sizeof(ret->numbers) / sizeof(*ret->numbers));
}

bool hf_play_reads(const hf_play *p)
{
    for (unsigned i = 0; i < p->workload->n_types; i++)
        if (p->workload->types[i].read_only && p->weights[i] > 0)
            return true;
    return false;
}

void hf_play_check(hf_play *p, hf_client *c)
{
    if (p->workload->check)
        p->workload->check(p, c);
}

/* ---- breaches ------------------------------------------------------------ */

void hf_play_breach(hf_play *p, const char *name, const char *format, ...)
{
    hf_breach breach;
    va_list list;

    breach.name = name;
    va_start(list, format);
    vsnprintf(breach.text, sizeof(breach.text), format, list);
    va_end(list);
    pthread_mutex_lock(&p->lock);
    p->n_breaches++;
    if (p->kept.n < MAX_KEPT)
        hf_vec_push(&p->kept, breach);
    pthread_mutex_unlock(&p->lock);
}

void hf_play_forget(hf_play *p, uint64_t n)
{
    pthread_mutex_lock(&p->lock);
    if (p->n_breaches > n)
        p->n_breaches = n;
    if (p->kept.n > n)
        p->kept.n = (size_t)n;
    pthread_mutex_unlock(&p->lock);
}

uint64_t hf_play_breaches(const hf_play *p)
{
    hf_play *mine = (hf_play *)p; /* only its lock is touched */
    uint64_t n;

    pthread_mutex_lock(&mine->lock);
    n = p->n_breaches;
    pthread_mutex_unlock(&mine->lock);
    return n;
}

const hf_breach *hf_play_breach_at(const hf_play *p, unsigned i)
{
    hf_play *mine = (hf_play *)p;
    const hf_breach *breach;

    pthread_mutex_lock(&mine->lock);
    breach = i < p->kept.n ? &p->kept.at[i] : NULL;
    pthread_mutex_unlock(&mine->lock);
    return breach;
}

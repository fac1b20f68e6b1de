/* expected.c: what an expected order gives where something else was seen.
 *
 * The states that verify/ put into a witness (hf_state_view), as parts of a
 * sentence and as JSON.
 */
#include "report/words.h"

#include <inttypes.h>

#include "history/extra.h"

typedef struct teller {
    const hf_history *h;
    const hf_state_view *s;
    hf_out *out;
} teller;

static void say(const teller *t, const char *text)
{
    hf_out_text(t->out, text);
}

/* ---- the state ----------------------------------------------------------- */

/* "x = 2 of T2 (line 2)" */
static void tell_version(const teller *t, hf_key_id key, hf_value_id value,
                         hf_txn_id by)
{
    hf_key_is_print(t->h, key, value, t->out);
    if (by == HF_NONE)
        return;
    say(t, " of ");
    hf_txn_print_at(t->h, by, t->out);
}

static bool is_there(const teller *t, hf_value_id v)
{
    return v != HF_NONE && t->h->value_type[v] != HF_NIL;
}

/* "t/2 = 9 of T2 (line 3) as well, no t/3" */
static void tell_rows(const teller *t)
{
    bool item = !hf_op_has_predicate(hf_op_kind_of(t->h, t->s->op));

    say(t, " has ");
    for (uint32_t i = 0; i < t->s->n_rows; i++) {
        const hf_state_row *r = &t->s->rows[i];

        say(t, i > 0 ? ", " : "");
        if (!item && !is_there(t, r->expected)) {
            say(t, "no ");
            hf_key_print(t->h, r->key, t->out);
            continue;
        }
        if (r->expected == HF_NONE) {
            hf_key_print(t->h, r->key, t->out);
            say(t, " = nil");
            continue;
        }
        tell_version(t, r->key, r->expected, r->expected_by);
        if (!item && r->seen == HF_NONE)
            say(t, " as well");
    }
    if (t->s->more_rows > 0)
        hf_out_format(t->out, ", and %" PRIu32 " more %s", t->s->more_rows,
                      t->s->more_rows == 1 ? "differs" : "differ");
}

static void tell_list(const teller *t)
{
    say(t, " has ");
    hf_key_print(t->h, t->h->op_key[t->s->op], t->out);
    say(t, " = [");
    for (uint32_t i = 0; i < t->s->n_items; i++) {
        if (i == HF_STATE_ROWS * 2) {
            hf_out_format(t->out, " ... %" PRIu32 " more", t->s->n_items - i);
            break;
        }
        say(t, i > 0 ? " " : "");
        hf_value_print(t->h, t->s->items[i], t->out);
    }
    say(t, "]");
}

/* ---- who explains -------------------------------------------------------- */

/* ", later in the order" */
static void tell_standing(const teller *t, hf_txn_id by, bool later)
{
    if (t->h->txn_outcome[by] == HF_ABORTED)
        say(t, ", which aborted");
    else if (later)
        say(t, ", later in the order");
}

/* The rows that were seen, where they come from. */
static bool tell_sources(const teller *t)
{
    bool any = false;

    for (uint32_t i = 0; i < t->s->n_rows; i++) {
        const hf_state_row *r = &t->s->rows[i];

        if (r->seen_by == HF_NONE || r->seen_by == hf_op_txn(t->h, t->s->op))
            continue;
        say(t, "; ");
        hf_key_is_print(t->h, r->key, r->seen, t->out);
        say(t, " is of ");
        hf_txn_print_at(t->h, r->seen_by, t->out);
        tell_standing(t, r->seen_by, r->seen_later);
        any = true;
    }
    return any;
}

static void tell_write(const teller *t, hf_op_id op)
{
    hf_txn_print_at(t->h, hf_op_txn(t->h, op), t->out);
    say(t, " ");
    hf_item_print(t->h, op, HF_VERB_PAST, t->out);
}

/* "; that is what it gave before T2 (line 3) wrote t/2 = 9" */
static void tell_fits(const teller *t)
{
    const hf_state_view *s = t->s;

    if (s->fits_none)
        say(t, s->is_serial ? "; no state of the order fits"
                            : "; nor does a later one");
    if (!s->fits || (s->since == HF_NONE && s->until == HF_NONE))
        return;
    if (s->fits_later) {
        say(t, "; what was seen fits only once ");
        tell_write(t, s->since);
        say(t, ", later in the order");
        return;
    }
    if (s->until == HF_NONE) {
        say(t, "; what was seen fits only since ");
        tell_write(t, s->since);
        return;
    }
    say(t, "; what was seen fits the state before ");
    tell_write(t, s->until);
}

void hf_state_print(const hf_history *h, const hf_state_view *s,
                    bool with_source, hf_out *out)
{
    teller t = {h, s, out};
    bool told = false;

    if (s->has_total) {
        say(&t, " gives ");
        hf_scalar_print(&s->total, out);
    } else if (s->is_list) {
        tell_list(&t);
    } else if (s->n_rows > 0) {
        tell_rows(&t);
        told = !with_source || tell_sources(&t);
    } else {
        say(&t, " gives something else");
    }
    if (!told || !s->fits_later)
        tell_fits(&t);
}

void hf_state_fits_print(const hf_history *h, const hf_state_view *s,
                         hf_out *out)
{
    teller t = {h, s, out};

    if (!s->fits || (s->since == HF_NONE && s->until == HF_NONE))
        return;
    hf_out_format(out, "; operation %" PRIu32 " fits ",
                  s->op - h->op_first[hf_op_txn(h, s->op)] + 1);
    if (s->since != HF_NONE) {
        say(&t, "once ");
        tell_write(&t, s->since);
    }
    if (s->until != HF_NONE) {
        say(&t, s->since != HF_NONE ? " and until " : "until ");
        tell_write(&t, s->until);
    }
}

/* ---- JSON ---------------------------------------------------------------- */

static void write_id(const char *name, uint32_t id, hf_json *j)
{
    hf_json_key(j, name);
    if (id == HF_NONE)
        hf_json_null(j);
    else
        hf_json_uint(j, id);
}

static void write_printed(const char *name, hf_out *text, hf_json *j)
{
    hf_json_key(j, name);
    hf_json_str(j, hf_out_view(text));
    text->n = 0;
}

static void write_value(const hf_history *h, const char *name, hf_value_id v,
                        hf_out *text, hf_json *j)
{
    if (v == HF_NONE) {
        hf_json_key(j, name);
        hf_json_null(j);
        return;
    }
    hf_value_print(h, v, text);
    write_printed(name, text, j);
}

static void write_rows(const hf_history *h, const hf_state_view *s,
                       hf_out *text, hf_json *j)
{
    hf_json_key(j, "rows");
    hf_json_array(j);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        const hf_state_row *r = &s->rows[i];

        hf_json_object(j);
        hf_key_print(h, r->key, text);
        write_printed("key", text, j);
        write_value(h, "expected", r->expected, text, j);
        write_id("expected_by", r->expected_by, j);
        write_value(h, "seen", r->seen, text, j);
        write_id("seen_by", r->seen_by, j);
        hf_json_end(j);
    }
    hf_json_end(j);
    hf_json_key(j, "rows_left_out");
    hf_json_uint(j, s->more_rows);
}

static void write_fits(const hf_history *h, const hf_state_view *s, hf_json *j)
{
    hf_json_key(j, "fits");
    if (!s->fits) {
        hf_json_null(j);
        return;
    }
    hf_json_object(j);
    write_id("since", s->since == HF_NONE ? HF_NONE : hf_op_txn(h, s->since),
             j);
    write_id("since_op", s->since, j);
    write_id("until", s->until == HF_NONE ? HF_NONE : hf_op_txn(h, s->until),
             j);
    write_id("until_op", s->until, j);
    hf_json_key(j, "later");
    hf_json_bool(j, s->fits_later);
    hf_json_end(j);
}

static void write_state(const hf_history *h, const hf_state_view *s, hf_json *j)
{
    hf_out text;

    hf_out_init_memory(&text);
    hf_json_object(j);
    write_id("operation", s->op, j);
    if (s->has_total) {
        hf_scalar_print(&s->total, &text);
        write_printed("value", &text, j);
    }
    if (s->has_rows)
        write_rows(h, s, &text, j);
    if (s->is_list) {
        hf_json_key(j, "list");
        hf_json_array(j);
        for (uint32_t i = 0; i < s->n_items; i++) {
            hf_value_print(h, s->items[i], &text);
            hf_json_str(j, hf_out_view(&text));
            text.n = 0;
        }
        hf_json_end(j);
    }
    write_fits(h, s, j);
    hf_json_end(j);
    hf_out_release(&text);
}

void hf_states_write(const hf_history *h, const hf_witness *w, hf_json *j)
{
    if (w->n_states == 0)
        return;
    hf_json_key(j, "expected");
    hf_json_array(j);
    for (uint32_t i = 0; i < w->n_states; i++)
        write_state(h, &w->states[i], j);
    hf_json_end(j);
}

/* pages.c: docs/levels.md and docs/anomalies.md, written from the tables.
 *
 * Only the drawing of the lattice and the introductions are fixed text; the
 * list of arrows beside the drawing comes from the table.  Paragraphs are
 * one line each, as Markdown likes it.
 */
#include "model/pages.h"

#include "model/special.h"

static const hf_level_info *level_at(unsigned i)
{
    return hf_level_get((hf_level)i);
}

const char *hf_levels_diagram(void)
{
    return "                 SERr\n"
           "                /    \\\n"
           "            SERs      SIr\n"
           "           /    \\    /\n"
           "        SER      SIs\n"
           "       /   \\    / | \\\n"
           "      /     \\  /  |  \\\n"
           "    RR       SI PSIs  PC\n"
           "    |         \\ /  \\  /\n"
           "    |         PSI   CC\n"
           "    |          |   / | \\\n"
           "    |          |  /  |  \\\n"
           "    |         CV RA  |   +-----+\n"
           "    |          | | \\ +---+     |\n"
           "    |          | |  \\    |     |\n"
           "    |          | |   \\  pram   |\n"
           "    |          | |    \\ / | \\  |\n"
           "    |          | RCa  ryw mr mw wfr\n"
           "    |          |/      |  |  |  |\n"
           "    |         MAV      |  |  |  |\n"
           "    |          |       |  |  |  |\n"
           "    +----------+-------+--+--+--+\n"
           "               |\n"
           "               RC\n"
           "               |\n"
           "               RU\n";
}

/* "a, b, c", or "none". */
static void print_names(const char *const *names, hf_out *out)
{
    if (!*names)
        hf_out_text(out, "none");
    for (const char *const *n = names; *n; n++)
        hf_out_format(out, "%s%s", n == names ? "" : ", ", *n);
}

/* Each level as a link into levels.md (`page` is "" inside it). */
static void print_levels(const hf_level *list, const char *page, hf_out *out)
{
    if (*list == HF_LEVEL_COUNT)
        hf_out_text(out, "none");
    for (const hf_level *l = list; *l != HF_LEVEL_COUNT; l++) {
        const char *name = hf_level_get(*l)->name;

        hf_out_format(out, "%s[%s](%s#%s)", l == list ? "" : ", ", name, page,
                      name);
    }
}

/* ---- levels -------------------------------------------------------------- */

static const char levels_intro[] =
    "# Isolation levels\n"
    "\n"
    "This page is written from the table in `src/model/level.c` by "
    "`holdfast levels --markdown`; change the table, not the page.\n"
    "\n"
    "A level is a condition on histories. It is strictly stronger than the "
    "levels it implies: every history that is valid at it is valid at them. "
    "Plain levels know no session order; `strong-session-` levels add the "
    "order of each session's transactions; `strict-` levels add real time as "
    "well.\n"
    "\n"
    "## What implies what\n"
    "\n"
    "A line leads down from a level to one that it implies.\n"
    "\n";

static const char levels_words[] =
    "\n"
    "## How definitions are written\n"
    "\n"
    "- ww, wr and rw are the write, read and anti-dependencies between "
    "transactions; pwr and prw are the same through a condition; so is "
    "session order; rt is real time. See [anomalies](anomalies.md).\n"
    "- W is ww + wr + pwr; A is rw + prw. acyclic(R): R has no cycle. R;S?: "
    "one R, then perhaps one S.\n"
    "- INT: inside a transaction a read returns the transaction's own last "
    "write of the key, or else the same version as its read before.\n"
    "- Sane values: no garbage read, no value written twice that was promised "
    "to be unique, one order of the versions of each key.\n"
    "- A commit order co *with the condition* c: co contains wr, the version "
    "order of every key, and session order; and if t3 reads x from t1, "
    "another t2 also writes x, and t2 c t3, then t2 co t1.\n"
    "\n"
    "Names are compared without regard to case, and a space or `_` counts as "
    "`-`. An alias that starts with the name of a product says what to check "
    "that product's level as: `postgresql-repeatable-read` is snapshot "
    "isolation.\n"
    "\n"
    "## The levels\n"
    "\n"
    "| short | level | in one line |\n"
    "|---|---|---|\n";

static void print_level(const hf_level_info *level, hf_out *out)
{
    hf_out_format(out, "\n### %s\n\n%s: %s.\n\n", level->name,
                  level->short_name, level->summary);
    hf_out_format(out, "- Definition: %s.\n- Implies: ", level->definition);
    print_levels(level->implies, "", out);
    hf_out_text(out, ".\n- Also called: ");
    print_names(level->aliases, out);
    hf_out_text(out, ".\n- Forbids, beyond what it implies: ");
}

/* Does the level forbid what none of the levels it implies forbids? */
static bool newly(const hf_level_info *level, const hf_level *forbidden_at)
{
    for (const hf_level *f = forbidden_at; *f != HF_LEVEL_COUNT; f++) {
        if (*f == level->level)
            return true;
    }
    return false;
}

static void print_forbidden(const hf_level_info *level, hf_out *out)
{
    const hf_special_form *form;
    const char *comma = "";

    for (unsigned a = 0; a < HF_ANOMALY_COUNT; a++) {
        const hf_anomaly_info *info = hf_anomaly_get((hf_anomaly)a);

        if (a != HF_NO_ORDER && newly(level, info->forbidden_at)) {
            hf_out_format(out, "%s%s", comma, info->name);
            comma = ", ";
        }
    }
    for (unsigned i = 0; (form = hf_special_at(i)); i++) {
        if (newly(level, form->forbidden_at)) {
            hf_out_format(out, "%s%s", comma, form->name);
            comma = ", ";
        }
    }
    hf_out_text(out, comma[0] ? ".\n" : "nothing with a name of its own.\n");
}

void hf_levels_page(hf_out *out)
{
    hf_out_text(out, levels_intro);
    hf_out_text(out, "```\n");
    hf_out_text(out, hf_levels_diagram());
    hf_out_text(out, "```\n\n| level | implies directly |\n|---|---|\n");
    for (unsigned i = HF_LEVEL_COUNT; i-- > 0;) {
        hf_out_format(out, "| %s | ", level_at(i)->short_name);
        for (const hf_level *l = level_at(i)->implies; *l != HF_LEVEL_COUNT;
             l++)
            hf_out_format(out, "%s%s", l == level_at(i)->implies ? "" : ", ",
                          hf_level_get(*l)->short_name);
        hf_out_text(out, " |\n");
    }
    hf_out_text(out, levels_words);
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        hf_out_format(out, "| %s | [%s](#%s) | %s |\n", level_at(i)->short_name,
                      level_at(i)->name, level_at(i)->name,
                      level_at(i)->summary);
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++) {
        print_level(level_at(i), out);
        print_forbidden(level_at(i), out);
    }
}

/* ---- anomalies ----------------------------------------------------------- */

static const char anomalies_intro[] =
    "# Anomalies\n"
    "\n"
    "This page is written from the tables in `src/model/` by `holdfast "
    "anomalies --markdown`; change the tables, not the page. `holdfast "
    "explain NAME` prints one entry; any name or alias will do.\n"
    "\n"
    "An anomaly is either a fact about a few operations, or a cycle of "
    "dependencies: an order in which every transaction of the cycle would "
    "have to come before itself. A cycle is named by its edges.\n"
    "\n"
    "| edge | from T1 to T2, when |\n"
    "|---|---|\n"
    "| ww | T2's version of a key comes after T1's |\n"
    "| wr | T2 reads a version that T1 wrote |\n"
    "| rw | T1 reads a version that T2 overwrites: an anti-dependency |\n"
    "| pwr | a condition of T2 sees a change of T1 that makes a row match or "
    "stop matching |\n"
    "| prw | a condition of T1 does not see such a change of T2: a predicate "
    "anti-dependency |\n"
    "| so | T1 comes before T2 in their session |\n"
    "| rt | T1 ended before T2 began |\n"
    "\n"
    "| name | edges of the cycle |\n"
    "|---|---|\n"
    "| G0 | ww only |\n"
    "| G1c | ww, wr, pwr; at least one wr or pwr |\n"
    "| G-single | exactly one rw or prw |\n"
    "| G-nonadjacent | two or more rw or prw, no two of them adjacent |\n"
    "| G2 | two or more rw or prw, some adjacent |\n"
    "\n"
    "`-item` says that no prw is among them. `-session` and `-realtime` say "
    "that so or rt edges are needed to close the cycle.\n"
    "\n"
    "## Which level forbids what\n"
    "\n"
    "`F`: an error at this level. `some`: some forms of it are; they have "
    "rows of their own below, under *Special forms*. `.`: allowed. Levels "
    "are explained in [levels](levels.md).\n"
    "\n";

static const char special_intro[] =
    "\n"
    "## Special forms\n"
    "\n"
    "Famous shapes inside the classes above. A level may forbid the shape "
    "without forbidding its whole class.\n";

static void print_matrix_head(const char *first, hf_out *out)
{
    hf_out_format(out, "| %s |", first);
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        hf_out_format(out, " %s |", level_at(i)->short_name);
    hf_out_text(out, "\n|---|");
    for (unsigned i = 0; i < HF_LEVEL_COUNT; i++)
        hf_out_text(out, ":-:|");
    hf_out_char(out, '\n');
}

static void print_matrix(hf_out *out)
{
    const hf_special_form *form;

    print_matrix_head("anomaly", out);
    for (unsigned a = 0; a < HF_NO_ORDER; a++) {
        hf_out_format(out, "| %s |", hf_anomaly_get((hf_anomaly)a)->name);
        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++) {
            bool all = hf_level_forbids((hf_level)l, (hf_anomaly)a);
            bool some = hf_level_forbids_partly((hf_level)l, (hf_anomaly)a);

            hf_out_format(out, " %s |", all ? "F" : some ? "some" : ".");
        }
        hf_out_char(out, '\n');
    }
    hf_out_char(out, '\n');
    print_matrix_head("special form", out);
    for (unsigned i = 0; (form = hf_special_at(i)); i++) {
        hf_out_format(out, "| %s |", form->name);
        for (unsigned l = 0; l < HF_LEVEL_COUNT; l++)
            hf_out_text(out, hf_level_forbids_form((hf_level)l, form) ? " F |"
                                                                      : " . |");
        hf_out_char(out, '\n');
    }
}

/* The parts of one entry; `class` is NULL for a class itself. */
static void print_entry(const hf_special_form *form, const char *class,
                        hf_out *out)
{
    hf_out_format(out, "\n### %s\n\n", form->name);
    if (class)
        hf_out_format(out, "A form of %s. ", class);
    hf_out_format(out, "In one line: %s.\n\n%s\n\n```json\n%s```\n\n",
                  form->summary, form->meaning, form->example);
    hf_out_format(out,
                  "**What to do.** %s\n\n- Weakest levels that forbid "
                  "it: ",
                  form->remedy);
    print_levels(form->forbidden_at, "levels.md", out);
    hf_out_text(out, ".\n- Also called: ");
    print_names(form->aliases, out);
    hf_out_text(out, ".\n");
}

static void print_anomaly(const hf_anomaly_info *info, hf_out *out)
{
    hf_special_form entry = {
        .name = info->name,
        .aliases = info->aliases,
        .forbidden_at = info->forbidden_at,
        .summary = info->summary,
        .meaning = info->meaning,
        .example = info->example,
        .remedy = info->remedy,
    };

    print_entry(&entry, NULL, out);
    if (info->partly_at[0] != HF_LEVEL_COUNT) {
        hf_out_text(out, "- Weakest levels that forbid some forms of it: ");
        print_levels(info->partly_at, "levels.md", out);
        hf_out_text(out, ".\n");
    }
}

void hf_anomalies_page(hf_out *out)
{
    const hf_special_form *form;

    hf_out_text(out, anomalies_intro);
    print_matrix(out);
    hf_out_text(out, "\n## Anomalies without a cycle\n");
    for (unsigned a = 0; a < HF_ANOMALY_COUNT; a++) {
        if (a == HF_G0)
            hf_out_text(out, "\n## Cycles\n");
        print_anomaly(hf_anomaly_get((hf_anomaly)a), out);
    }
    hf_out_text(out, special_intro);
    for (unsigned i = 0; (form = hf_special_at(i)); i++)
        print_entry(form, hf_anomaly_get(form->anomaly)->name, out);
}

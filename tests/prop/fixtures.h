/* fixtures.h: the catalog's item fixtures.
 *
 * `row` has one letter for each level in the order of hf_level, blanks aside:
 * F is forbidden, a dot is allowed.  `text` is for tiny_parse().
 */
#ifndef FIXTURES_H
#define FIXTURES_H

typedef struct fixture {
    const char *name, *text, *row;
} fixture;

/* NULL after the last. */
const fixture *fixture_at(unsigned index);

#endif

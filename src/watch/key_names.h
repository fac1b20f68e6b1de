/* key_names.h: keys of a stream, as dense numbers, exactly.
 *
 * The one thing of watch that grows, and only with the number of different
 * keys: a key's table, its number or text.  One thread adds; others may print
 * names of keys that were added before (there is a mutex).
 */
#ifndef HF_WATCH_KEY_NAMES_H
#define HF_WATCH_KEY_NAMES_H

#include "base/out.h"
#include "base/vec.h"
#include "holdfast.h"

typedef struct hf_watch_names hf_watch_names;

hf_watch_names *hf_watch_names_new(void);
void hf_watch_names_free(hf_watch_names *n);

/* table.ptr NULL: a plain key. */
uint32_t hf_watch_names_table(hf_watch_names *n, hf_str table);
/* HF_INT or HF_TEXT. */
uint32_t hf_watch_names_key(hf_watch_names *n, uint32_t table, hf_scalar key);
/* The same for some keys at once, which is faster. */
#define HF_WATCH_NAMES_MOST 64u
void hf_watch_names_keys(hf_watch_names *n, const uint32_t *tables,
                         const hf_scalar *keys, uint32_t count, uint32_t *ret);
/* A column of the row that `key` is: a key too. */
uint32_t hf_watch_names_column(hf_watch_names *n, uint32_t key, hf_str column);
/* The columns of a row met so far: the first one, the one after it; NO_KEY. */
#define HF_WATCH_NO_KEY UINT32_MAX
uint32_t hf_watch_names_first_column(hf_watch_names *n, uint32_t key);
uint32_t hf_watch_names_next_column(hf_watch_names *n, uint32_t column);
/* What keys that come from now on are before anyone writes them, unless it is
 * said; without this, HF_WATCH_NOT_SAID. */
void hf_watch_names_all_absent(hf_watch_names *n);
/* Are they absent? */
bool hf_watch_names_are_absent(hf_watch_names *n);
/* What the key is before anyone writes it, as an event has it. */
void hf_watch_names_initial(hf_watch_names *n, uint32_t key, uint64_t value);

typedef struct hf_watch_name {
    uint32_t table; /* NO_KEY: it is a column */
    uint32_t row;   /* the key itself, or the column's row */
    uint64_t initial;
    uint64_t place; /* in its table: numbers in their order, texts by their
                       first bytes */
} hf_watch_name;

typedef HF_VEC(hf_watch_name) hf_watch_name_list;

/* All that is known of the keys so far has been said: others may know them. */
void hf_watch_names_complete(hf_watch_names *n);
/* Those that are complete. */
uint32_t hf_watch_names_count(hf_watch_names *n);
uint32_t hf_watch_names_tables(hf_watch_names *n);
/* Those that became complete since, in the order of their numbers, in the place
 * of what is in the list; by one thread. */
void hf_watch_names_take(hf_watch_names *n, hf_watch_name_list *list);
/* x, accounts/7, key 7; as reports do. */
void hf_watch_names_print(hf_watch_names *n, uint32_t key, hf_out *out);
/* The table ("" for plain keys), and the key; the texts are copied to out. */
void hf_watch_names_table_print(hf_watch_names *n, uint32_t table, hf_out *out);
size_t hf_watch_names_bytes(hf_watch_names *n);

#endif

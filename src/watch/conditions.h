/* conditions.h: conditions of a stream, and the rows they are asked about.
 *
 * A condition is compiled once for each text.  Rows that are whole numbers
 * are in their event; the texts of others are kept for as long as there is
 * room: two generations, of which the older one is dropped when the newer is
 * full.  A row that is not there any more is "not known", and not judged.
 *
 * One thread adds; any thread asks (there is a mutex).
 */
#ifndef HF_WATCH_CONDITIONS_H
#define HF_WATCH_CONDITIONS_H

#include "base/out.h"
#include "holdfast.h"
#include "watch/watch.h"

typedef struct hf_watch_scans hf_watch_scans;

/* by_bytes: texts are equal if their bytes are.  Else a condition that looks at
 * a text cannot be evaluated: collations may say that "a" is "A". */
hf_watch_scans *hf_watch_scans_new(bool by_bytes);
void hf_watch_scans_free(hf_watch_scans *s);

/* The scan of a table (key_names.h) under a condition; numbered from 0. */
uint32_t hf_watch_scans_add(hf_watch_scans *s, uint32_t table,
                            hf_str condition);
/* A total of the rows under a condition; `column` is what is summed up, and
 * what is null does not count ("": rows are counted). */
uint32_t hf_watch_scans_total(hf_watch_scans *s, uint32_t table,
                              hf_str condition, hf_str column,
                              hf_watch_total_kind what);
/* A row that may be asked about. */
void hf_watch_scans_row(hf_watch_scans *s, uint64_t value, hf_scalar row);

uint32_t hf_watch_scans_count(hf_watch_scans *s);
uint32_t hf_watch_scans_table(hf_watch_scans *s, uint32_t scan);
hf_watch_total_kind hf_watch_scans_kind(hf_watch_scans *s, uint32_t scan);
hf_watch_match hf_watch_scans_match(hf_watch_scans *s, uint32_t scan,
                                    uint64_t value);
/* Does it count for a total, and with what number? */
hf_watch_match hf_watch_scans_counts(hf_watch_scans *s, uint32_t scan,
                                     uint64_t value, int64_t *ret);
/* A value as people read it: 5, "text", nil; #1a2b where its text is gone. */
void hf_watch_scans_value_print(hf_watch_scans *s, uint64_t value, hf_out *out);
void hf_watch_scans_print(hf_watch_scans *s, uint32_t scan, hf_out *out);
/* Conditions that were not understood. */
uint32_t hf_watch_scans_strange(hf_watch_scans *s);
size_t hf_watch_scans_bytes(hf_watch_scans *s);

#endif

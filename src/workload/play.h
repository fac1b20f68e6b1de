/* play.h: one run of a workload, as the runner sees it (play.c).
 *
 *     hf_play *p = hf_play_new(workload, clients, seed);
 *     hf_play_set(p, HF_STR("keys=1000"), &err);      // --set
 *     hf_play_weigh(p, HF_STR("payment=50"), &err);   // --mix
 *     hf_play_load(p, take_row, user, &err);
 *     type = hf_play_draw(p, client, &drawn);         // each client
 *     w->types[drawn.type].run(p, client, &drawn);
 *     hf_play_check(p, unrecorded_client);
 *     for (i = 0; i < hf_play_breaches(p); i++) hf_play_breach_at(p, i);
 */
#ifndef HF_PLAY_H
#define HF_PLAY_H

#include "workload/workload.h"

/* Takes one loaded row; what it returns ends the loading unless HF_OK. */
typedef hf_status (*hf_play_sink)(void *user, const char *table,
                                  const hf_sql_value *row, uint32_t n,
                                  hf_error *err);

hf_play *hf_play_new(const hf_workload *w, unsigned clients, uint64_t seed);
void hf_play_free(hf_play *p); /* NULL: nothing */
const hf_workload *hf_play_workload(const hf_play *p);

/* "NAME=VALUE" of an option, "TYPE=WEIGHT" of a kind of transaction.  Unknown
 * names, values out of range and a mix of nothing but zeros: one clear line. */
HF_MUST_USE hf_status hf_play_set(hf_play *p, hf_str text, hf_error *err);
HF_MUST_USE hf_status hf_play_weigh(hf_play *p, hf_str text, hf_error *err);

/* Calls the workload's load(): each hf_play_row() goes to the sink. */
HF_MUST_USE hf_status hf_play_load(hf_play *p, hf_play_sink sink, void *user,
                                   hf_error *err);
/* Chooses a type by the weights and draws its parameters. */
void hf_play_draw(hf_play *p, hf_client *c, hf_drawn *ret);
/* The same for a type that is given. */
void hf_play_draw_type(hf_play *p, hf_client *c, unsigned type, hf_drawn *ret);
/* Calls the workload's check(), if it has one. */
void hf_play_check(hf_play *p, hf_client *c);

/* Breaches so far; may be noted by any client at any time.  At most some
 * hundred are kept, all are counted. */
/* Is there, in the mix, a type that only reads? */
bool hf_play_reads(const hf_play *p);
uint64_t hf_play_breaches(const hf_play *p);
/* All but the first n: the look at the end that found them did not end well. */
void hf_play_forget(hf_play *p, uint64_t n);
const hf_breach *hf_play_breach_at(const hf_play *p, unsigned i); /* or NULL */

#endif

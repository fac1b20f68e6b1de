/* limits.h: interruption, and limits kept even when nobody looks.
 *
 * Work polls its budget.  Where it does not (a blocked read, one long
 * allocation) the kernel steps in: a timer, and a limit on memory that can be
 * written to.  Both end the program with prepared last words.
 */
#ifndef HF_LIMITS_H
#define HF_LIMITS_H

#include <stddef.h>

/* From now on the first SIGINT asks for an end and a later one is one (twice at
 * once counts once), and running out of memory is one line and a status. */
void hf_limits_init(void);

/* From now on SIGTERM and SIGHUP ask for an end as well: for work that has
 * something to put away. */
void hf_limits_catch_end(void);

/* Arms both, from now; the texts are owned from here on and may be NULL.
 * 0 means no limit.  Arming again replaces what was armed. */
void hf_limits_arm(double seconds, char *time_words, size_t bytes,
                   char *memory_words);
void hf_limits_disarm(void);
/* Other last words and another status for what is armed; as above. */
void hf_limits_say(char *time_words, char *memory_words, int status);

#endif

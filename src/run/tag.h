/* tag.h: the number that each write carries (workload/client.h).
 *
 * client * 2^32 + counter, the counter from 1: never 0, which is what loaded
 * rows have.
 */
#ifndef HF_RUN_TAG_H
#define HF_RUN_TAG_H

#include <stdint.h>

static inline int64_t hf_tag_of(unsigned client, uint32_t counter)
{
    return (int64_t)((uint64_t)client << 32 | counter);
}

static inline unsigned hf_tag_client(int64_t tag)
{
    return (unsigned)((uint64_t)tag >> 32);
}

static inline uint32_t hf_tag_counter(int64_t tag)
{
    return (uint32_t)tag;
}

#endif

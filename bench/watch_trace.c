/* watch_trace.c: events of a database that is always right. */
#include "watch_trace.h"

#include "base/mem.h"

#define ROUND_NS 1000u

void trace_maker_init(trace_maker *m, uint64_t seed)
{
    *m = (trace_maker){.round = 1, .next_txn = 1, .next_value = 3};
    hf_rng_seed(&m->rng, seed);
    m->values = HF_NEW_ARRAY(uint64_t, TRACE_KEYS);
    for (unsigned k = 0; k < TRACE_KEYS; k++)
        m->values[k] = TRACE_INITIAL;
}

void trace_maker_release(trace_maker *m)
{
    hf_free(m->values);
}

/* The next client that runs in this round. */
static unsigned next_client(trace_maker *m)
{
    unsigned c;

    do {
        if (m->client == TRACE_CLIENTS) {
            m->client = 0;
            m->round++;
        }
        c = m->client++;
    } while (c % 5 == 4 && (m->round + c) % 10 != 0);
    return c;
}

size_t trace_maker_next(trace_maker *m, hf_event *ret)
{
    unsigned c = next_client(m), n = 0;
    unsigned writes = (unsigned)hf_rng_below(&m->rng, 3);
    uint64_t at = m->round * ROUND_NS + hf_rng_below(&m->rng, 300);
    unsigned place = (unsigned)((c + m->round) % TRACE_CLIENTS);
    uint32_t key[2];

    for (unsigned i = 0; i < 2; i++)
        key[i] = (uint32_t)(hf_rng_below(&m->rng, TRACE_KEYS / 32) * 32 +
                            16 * i + place);
    for (unsigned i = 0; i < 4 + writes; i++) {
        hf_event e = {.txn = m->next_txn,
                      .client = c,
                      .statement = (uint16_t)i,
                      .kind = HF_EVENT_BEGIN};

        if (i == 3 + writes) {
            e.kind = HF_EVENT_COMMIT;
        } else if (i > 0) {
            e.kind = i > 2 ? HF_EVENT_WRITE : HF_EVENT_READ;
            e.key = e.row = key[(i - 1) % 2];
            if (i > 2) {
                m->values[e.key] = m->next_value;
                m->next_value += 2;
            }
            e.value = m->values[e.key];
        }
        e.before = at;
        e.after = at + 10 + hf_rng_below(&m->rng, 70);
        at = e.after + hf_rng_below(&m->rng, 20);
        ret[n++] = e;
    }
    m->next_txn++;
    return n;
}

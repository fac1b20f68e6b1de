/* bench_gen.c: what it costs to generate a history.
 *
 * Prints nanoseconds an operation for each workload, generation and building
 * of the history together, and the ratio to the plainest run of all (register
 * at read committed) in the same process.  Fixed seeds; the best of three
 * rounds of CPU time.
 *
 *     bench_gen [millions of operations]      default 2
 */
#include <stdio.h>
#include <stdlib.h>

#include "workload/generate.h"

#define ROUNDS 3

typedef struct bench_case {
    const char *name;
    hf_workload workload;
    hf_level level;
    uint32_t keys;
    hf_distribution distribution;
    unsigned share; /* of the operations asked for, in percent */
} bench_case;

static const bench_case cases[] = {
    {"register, read committed", HF_WORKLOAD_REGISTER, HF_READ_COMMITTED, 1000,
     HF_DISTRIBUTION_UNIFORM, 100},
    {"register, snapshot isolation", HF_WORKLOAD_REGISTER,
     HF_SNAPSHOT_ISOLATION, 1000, HF_DISTRIBUTION_UNIFORM, 100},
    {"register, serializable", HF_WORKLOAD_REGISTER, HF_SERIALIZABLE, 1000,
     HF_DISTRIBUTION_UNIFORM, 100},
    {"register, serializable, zipf", HF_WORKLOAD_REGISTER, HF_SERIALIZABLE,
     1000, HF_DISTRIBUTION_ZIPF, 100},
    {"register, serializable, 100000 keys", HF_WORKLOAD_REGISTER,
     HF_SERIALIZABLE, 100000, HF_DISTRIBUTION_UNIFORM, 100},
    {"register, causal", HF_WORKLOAD_REGISTER, HF_CAUSAL, 1000,
     HF_DISTRIBUTION_UNIFORM, 100},
    {"append, serializable", HF_WORKLOAD_APPEND, HF_SERIALIZABLE, 1000,
     HF_DISTRIBUTION_UNIFORM, 50},
    {"predicate, serializable", HF_WORKLOAD_PREDICATE, HF_SERIALIZABLE, 20,
     HF_DISTRIBUTION_UNIFORM, 10},
};

/* Nanoseconds an operation; fills *ret_ops and *ret_bytes. */
static double run(const bench_case *c, double millions, uint32_t *ret_ops,
                  size_t *ret_bytes)
{
    hf_generate_options o;
    hf_builder *b = hf_builder_new();
    hf_history *h;
    hf_error err;
    uint64_t begin = hf_clock_cpu_ns(), end;
    double ns;

    hf_generate_defaults(&o, c->workload, HF_BUG_NONE);
    o.level = c->level;
    o.keys = c->keys;
    o.distribution = c->distribution;
    o.min_ops = o.max_ops = 5;
    o.read_percent = o.write_percent = 50;
    o.rmw_percent = 0;
    o.transactions = (uint64_t)(millions * 1e6 * c->share / 100 / 5);
    if (hf_generate(&o, b, &err) != HF_OK) {
        fprintf(stderr, "bench_gen: %s\n", err.text);
        exit(2);
    }
    if (hf_builder_finish(b, &h, &err) != HF_OK) {
        fprintf(stderr, "bench_gen: %s\n", err.text);
        exit(2);
    }
    end = hf_clock_cpu_ns();
    ns = (double)(end - begin) / (h->n_ops ? h->n_ops : 1);
    *ret_ops = h->n_ops;
    *ret_bytes = h->bytes;
    hf_history_free(h);
    return ns;
}

int main(int argc, char **argv)
{
    double millions = argc > 1 ? strtod(argv[1], NULL) : 2, first = 0;

    if (!(millions > 0 && millions <= 1000)) {
        fprintf(stderr, "usage: bench_gen [millions of operations]\n");
        return 2;
    }
    printf("%-38s %10s %9s %9s %7s\n", "generate", "operations", "ns/op",
           "bytes/op", "ratio");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t ops;
        size_t bytes;
        double ns = run(&cases[i], millions, &ops, &bytes);

        for (int round = 1; round < ROUNDS; round++) {
            double again = run(&cases[i], millions, &ops, &bytes);

            ns = again < ns ? again : ns;
        }
        if (i == 0)
            first = ns;
        printf("%-38s %10u %9.1f %9.1f %7.2f\n", cases[i].name, ops, ns,
               (double)bytes / ops, ns / first);
    }
    return 0;
}

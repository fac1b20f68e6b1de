/* proof_facts.c: the facts of a proof, numbered.
 *
 * Facts that are one get one number:
 *
 *   - before(x, a, b) and before(x, b, a) are each other's negations;
 *   - versions of a chain (chains.c) are one, seen from outside; inside it
 *     their order is known;
 *   - at levels with INT, reads of one key by a transaction that has not
 *     written it return one version, so they are one read.
 *
 * Whether the order of two versions is known is asked once for each two that
 * a cycle names, and found by any two of the same chains.  Each fact costs a
 * look into a hash table, and what certain.h costs when it is new.
 */
#include "verify/proof.h"

static uint32_t number(hf_proof *p, hf_map *map, uint64_t key, hf_fact fact)
{
    uint32_t n = hf_map_add(map, key, (uint32_t)p->facts.n);

    if (n == p->facts.n) {
        hf_vec_push(&p->facts, fact);
        hf_vec_push(&p->known, HF_OPEN);
        hf_vec_push(&p->slots, key);
    }
    return n;
}

static uint64_t pair_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* Literals of both directions have the smaller slot first. */
static uint32_t literal_before(hf_proof *p, uint32_t a, uint32_t b)
{
    const hf_facts *f = &p->v->facts;
    bool turned = a > b;
    uint32_t low = turned ? b : a, high = turned ? a : b;
    hf_fact fact = {HF_FACT_BEFORE, f->write_key[low], f->write_txn[low],
                    f->write_txn[high], HF_NONE};

    return 2 * number(p, &p->before, pair_of(low, high), fact) + turned;
}

static void learn(hf_proof *p, uint32_t literal)
{
    p->known.at[literal / 2] |= literal % 2 ? HF_KNOWN_FALSE : HF_KNOWN_TRUE;
}

/* Where lists are told each version counts by itself; what chains say of their
 * order is known all the same. */
static bool are_one(const hf_proof *p, uint32_t slot)
{
    return p->chains && !(p->told && p->told[p->v->facts.write_key[slot]]);
}

/* The two versions as literals see them; false if they are of one chain. */
static bool heads_of(const hf_proof *p, uint32_t *a, uint32_t *b)
{
    if (are_one(p, *a)) {
        *a = p->chains->head[*a];
        *b = p->chains->head[*b];
    }
    return *a != *b;
}

uint32_t hf_fact_before_known(hf_proof *p, uint32_t a, uint32_t b)
{
    uint32_t literal;

    if (!heads_of(p, &a, &b))
        return HF_NONE;
    literal = literal_before(p, a, b);
    learn(p, literal);
    return literal;
}

/* By other versions of the chains; longer ones are asked about only if it
 * matters in the end. */
#define SHORT_CHAINS 64

static void ask_chains(hf_proof *p, uint32_t a, uint32_t b, uint32_t literal)
{
    uint32_t n = p->chains->length[a] + p->chains->length[b];

    if (n == 2 || n > SHORT_CHAINS)
        return;
    if (hf_chain_before(p->c, p->chains, a, b))
        learn(p, literal);
    if (hf_chain_before(p->c, p->chains, b, a))
        learn(p, literal ^ 1);
}

bool hf_fact_is_refuted(const hf_proof *p, uint32_t literal)
{
    uint64_t slots = p->slots.at[literal / 2];
    uint32_t a = (uint32_t)(slots >> 32), b = (uint32_t)slots;

    if (p->facts.at[literal / 2].kind != HF_FACT_BEFORE || !are_one(p, a) ||
        p->chains->head[a] != a || p->chains->head[b] != b)
        return false;
    return literal % 2 ? hf_chain_before(p->c, p->chains, a, b)
                       : hf_chain_before(p->c, p->chains, b, a);
}

/* The one whose version of key t reads, if that is certain in every good
 * world in which t happened; else HF_NONE. */
static hf_txn_id source_of(const hf_proof *p, hf_txn_id t, hf_key_id key)
{
    hf_verifier *v = p->v;
    hf_txn_id source;
    hf_choice choice;

    for (hf_op_id op = v->h->op_first[t];
         hf_reads_matter_to(v, t) && op < v->h->op_first[t + 1]; op++)
        if (v->h->op_key[op] == key &&
            hf_choice_of(v, p->sources, t, op, &choice) &&
            hf_choice_only(t, &choice, &source))
            return source;
    return HF_NONE;
}

/* Does `second` read, by way of some who need not have happened but did if it
 * did, what `first` wrote?  Then its version comes after: from read-committed
 * up there is no cycle of wr edges and one ww edge. */
#define MOST_STEPS 1000

static bool reads_through(const hf_proof *p, hf_txn_id first, hf_txn_id second,
                          hf_key_id key)
{
    const hf_facts *f = &p->v->facts;

    for (unsigned i = 0; i < MOST_STEPS && !p->c->happened[second]; i++) {
        uint32_t a, b;

        second = source_of(p, second, key);
        if (second == HF_NONE || second == first)
            return second == first;
        a = hf_facts_slot(f, first, key);
        b = hf_facts_slot(f, second, key);
        if (hf_before_if_both(p->c, first, second, key) ||
            (p->chains && p->chains->head[a] == p->chains->head[b] &&
             p->chains->place[a] < p->chains->place[b]))
            return true;
    }
    return false;
}

uint32_t hf_fact_before(hf_proof *p, uint32_t a, uint32_t b)
{
    const hf_facts *f = &p->v->facts;
    hf_txn_id first = f->write_txn[a], second = f->write_txn[b];
    hf_key_id key = f->write_key[a];
    uint32_t head_a = a, head_b = b;
    bool apart = heads_of(p, &head_a, &head_b);
    /* inside a chain it is a fact of its own */
    uint32_t literal =
        apart ? literal_before(p, head_a, head_b) : literal_before(p, a, b);

    if (hf_map_get(&p->asked, pair_of(a, b)) != UINT32_MAX)
        return literal;
    hf_map_set(&p->asked, pair_of(a, b), 0);
    hf_map_set(&p->asked, pair_of(b, a), 0);
    if (p->chains) {
        head_a = p->chains->head[a];
        head_b = p->chains->head[b];
    }
    if (p->chains && head_a != head_b)
        ask_chains(p, head_a, head_b, literal);
    if (head_a == head_b)
        learn(p, p->chains->place[a] < p->chains->place[b] ? literal
                                                           : literal ^ 1);
    if (hf_before_if_both(p->c, first, second, key) ||
        reads_through(p, first, second, key) ||
        (head_a != head_b && p->chains && p->chains->leads[a]))
        learn(p, literal);
    if (hf_before_if_both(p->c, second, first, key) ||
        reads_through(p, second, first, key) ||
        (head_a != head_b && p->chains && p->chains->leads[b]))
        learn(p, literal ^ 1);
    return literal;
}

uint32_t hf_fact_from(hf_proof *p, hf_txn_id t, hf_op_id op,
                      const hf_choice *choice, hf_txn_id writer)
{
    bool internal = hf_level_of(p->v, t)->internal;
    hf_op_id read = internal ? p->sources->first_read[op] : op;
    hf_fact fact = {HF_FACT_FROM, p->v->h->op_key[op], writer, t, read};
    uint32_t literal = 2 * number(p, &p->from, pair_of(read, writer), fact);

    if (choice->n == 1)
        learn(p, literal);
    return literal;
}

uint32_t hf_fact_from_entry(hf_proof *p, hf_txn_id t, hf_op_id op,
                            hf_key_id key, const hf_choice *choice,
                            hf_txn_id writer)
{
    hf_fact fact = {HF_FACT_FROM, key, writer, t, op};
    uint32_t n_ops = p->v->h->n_ops; /* numbers that no operation has */
    uint32_t entry = hf_map_add(&p->entries, pair_of(op, key), p->n_entries);
    uint32_t literal;

    p->n_entries += entry == p->n_entries;
    literal = 2 * number(p, &p->from, pair_of(n_ops + entry, writer), fact);
    if (choice->n == 1)
        learn(p, literal);
    return literal;
}

uint32_t hf_fact_happened(hf_proof *p, hf_txn_id t)
{
    hf_fact fact = {HF_FACT_HAPPENED, HF_NONE, t, HF_NONE, HF_NONE};
    uint32_t literal;

    if (p->v->h->txn_outcome[t] == HF_COMMITTED)
        return HF_NONE;
    literal = 2 * number(p, &p->happened, t, fact);
    if (p->c->happened[t])
        learn(p, literal);
    return literal;
}

/* replica.c: several copies of the store, and commits on their way.
 *
 * A commit is visible at the replica where it was made at once and is sent
 * to the others as a parcel.  Each replica applies a parcel as a whole and
 * counts what it has applied; the count is the time its snapshots are made
 * of.  The version order of a key is the order of commits everywhere, so
 * replicas agree in the end (the last writer wins).
 *
 * What a parcel must wait for is the level's choice: nothing, the earlier
 * commits of its origin, or all that its origin had applied.  If conditions
 * or lists are read, also for the older versions of the keys it writes, and
 * a commit first fetches what it needs for that.
 *
 * An inbox is short: when it is full its oldest parcel, which never has to
 * wait for another, is applied.  So every cost is bounded by its size.
 */
#include "store/store_impl.h"

void hf_store_replicas_init(hf_store *s, uint32_t wanted)
{
    uint32_t n = wanted > 0 ? wanted : 3;

    if (n > HF_STORE_REPLICAS)
        n = HF_STORE_REPLICAS;
    s->n_replicas = n < 2 ? 2 : n;
}

static void free_parcel(parcel *p)
{
    hf_vec_release(&p->writes);
    hf_free(p);
}

void hf_store_replicas_release(hf_store *s)
{
    for (size_t i = 0; i < s->spare_parcels.n; i++)
        free_parcel(s->spare_parcels.at[i]);
    hf_vec_release(&s->spare_parcels);
    for (uint32_t r = 0; r < s->n_replicas; r++)
        for (unsigned i = 0; i < s->replicas[r].n_inbox; i++)
            if (--s->replicas[r].inbox[i]->waiting == 0)
                free_parcel(s->replicas[r].inbox[i]);
}

static bool share_a_key(const parcel *a, const parcel *b)
{
    for (size_t i = 0; i < a->writes.n; i++)
        for (size_t j = 0; j < b->writes.n; j++)
            if (a->writes.at[i].key == b->writes.at[j].key)
                return true;
    return false;
}

/* Must `earlier`, an older commit, be applied before p? */
static bool waits_for(const hf_store *s, const parcel *p, const parcel *earlier)
{
    switch (s->policy.order) {
    case DELIVER_CAUSAL:
        return earlier->index <= p->depends[earlier->origin];
    case DELIVER_ORIGIN_ORDER:
        if (p->origin == earlier->origin)
            return true;
        break;
    case DELIVER_ANY_ORDER:
        break;
    }
    return s->whole_orders && share_a_key(p, earlier);
}

/* Applies the i-th parcel of a replica's inbox. */
static void apply(hf_store *s, uint32_t site, unsigned i)
{
    replica *r = &s->replicas[site];
    parcel *p = r->inbox[i];

    r->applied++;
    for (size_t w = 0; w < p->writes.n; w++)
        s->applied.at[(size_t)p->writes.at[w].version * s->n_replicas + site] =
            r->applied;
    if (r->known[p->origin] < p->index)
        r->known[p->origin] = p->index;
    for (r->n_inbox--; i < r->n_inbox; i++)
        r->inbox[i] = r->inbox[i + 1];
    if (--p->waiting == 0)
        hf_vec_push(&s->spare_parcels, p);
}

/* How often, in percent, nothing travels.  Bugs about replicas show more
 * readily when these are slow. */
static unsigned idleness(const hf_store *s)
{
    return s->bug == HF_BUG_LONG_FORK || s->bug == HF_BUG_LOST_CAUSALITY ? 80
                                                                         : 50;
}

void hf_store_deliver(hf_store *s)
{
    uint32_t site;
    const replica *r;
    unsigned i;

    if (s->n_replicas == 1)
        return;
    site = hf_rng_below(&s->rng, s->n_replicas);
    r = &s->replicas[site];
    if (r->n_inbox == 0 || hf_rng_chance(&s->rng, idleness(s)))
        return;
    i = hf_rng_below(&s->rng, r->n_inbox);
    if (s->bug == HF_BUG_LOST_CAUSALITY)
        i = r->n_inbox - 1; /* the newest first, to be sure it shows */
    for (unsigned j = 0; j < i; j++)
        if (waits_for(s, r->inbox[i], r->inbox[j]))
            return;
    apply(s, site, i);
}

static bool writes_key_of(const parcel *p, const store_txn *t)
{
    for (size_t i = 0; i < t->writes.n; i++)
        for (size_t w = 0; w < p->writes.n; w++)
            if (p->writes.at[w].key == t->writes.at[i].key)
                return true;
    return false;
}

void hf_store_replica_prepare(hf_store *s, const store_txn *t)
{
    replica *r = &s->replicas[t->replica];
    bool needed[INBOX_SIZE];
    unsigned n = r->n_inbox, done = 0;

    if (!s->whole_orders)
        return;
    for (unsigned i = n; i-- > 0;) {
        needed[i] = writes_key_of(r->inbox[i], t);
        for (unsigned j = i + 1; j < n && !needed[i]; j++)
            needed[i] = needed[j] && waits_for(s, r->inbox[j], r->inbox[i]);
    }
    for (unsigned i = 0; i < n; i++)
        if (needed[i])
            apply(s, t->replica, i - done++);
}

static parcel *new_parcel(hf_store *s)
{
    parcel *p;

    if (s->spare_parcels.n == 0)
        return HF_NEW(parcel);
    p = s->spare_parcels.at[--s->spare_parcels.n];
    p->writes.n = 0;
    return p;
}

static void put_in_inbox(hf_store *s, uint32_t site, parcel *p)
{
    replica *r = &s->replicas[site];

    if (r->n_inbox == INBOX_SIZE)
        apply(s, site, 0);
    r->inbox[r->n_inbox++] = p;
}

void hf_store_replica_commit(hf_store *s, const store_txn *t)
{
    replica *home = &s->replicas[t->replica];
    parcel *p = new_parcel(s);

    p->origin = t->replica;
    p->index = ++home->commits;
    for (uint32_t r = 0; r < s->n_replicas; r++)
        p->depends[r] = home->known[r];
    home->known[t->replica] = p->index;
    home->applied++;
    for (size_t i = 0; i < t->writes.n; i++) {
        uint32_t v = t->writes.at[i].version;
        uint32_t *applied = s->applied.at + (size_t)v * s->n_replicas;

        hf_vec_push(&p->writes, t->writes.at[i]);
        for (uint32_t r = 0; r < s->n_replicas; r++)
            applied[r] = INVISIBLE;
        applied[t->replica] = home->applied;
    }
    p->waiting = s->n_replicas - 1;
    for (uint32_t r = 0; r < s->n_replicas; r++)
        if (r != t->replica)
            put_in_inbox(s, r, p);
}

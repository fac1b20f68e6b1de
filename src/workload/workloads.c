/* workloads.c: the list of workloads.  A new one is one line here and one in
 * workloads.h. */
#include "workload/workloads.h"

static const hf_workload *const list[] = {
    &hf_workload_blindw_w,
    &hf_workload_blindw_rw,
    &hf_workload_blindw_rm,
    &hf_workload_blindw_rw_plus,
    &hf_workload_king_cobra_rmw,
    &hf_workload_king_cobra_rw,
    &hf_workload_king_cobra_heavy,
    &hf_workload_item_mix,
    &hf_workload_predicate_mix,
    &hf_workload_ycsb_a,
    &hf_workload_ycsb_b,
    &hf_workload_ycsb_c,
    &hf_workload_ycsb_d,
    &hf_workload_ycsb_e,
    &hf_workload_ycsb_f,
    &hf_workload_ycsb_all,
    &hf_workload_ycsb_t,
    &hf_workload_list_append,
    &hf_workload_rw_register,
    &hf_workload_bank,
    &hf_workload_bank_scan,
    &hf_workload_bank_server,
    &hf_workload_long_fork,
    &hf_workload_g2,
    &hf_workload_write_skew,
    &hf_workload_ro_anomaly,
    &hf_workload_wo_ro_anomaly,
    &hf_workload_on_call,
    &hf_workload_lost_update,
    &hf_workload_dirty_read,
    &hf_workload_tokens,
    &hf_workload_rooms,
    &hf_workload_queues,
    &hf_workload_smallbank,
    &hf_workload_tpcc,
    &hf_workload_tpcc_tiny,
    &hf_workload_tatp,
    &hf_workload_voter,
    &hf_workload_voter_tiny,
    &hf_workload_seats,
    &hf_workload_twitter,
    &hf_workload_twitter_oltp,
    &hf_workload_rubis,
    &hf_workload_wikipedia,
};

const hf_workload *hf_workload_at(unsigned i)
{
    return i < sizeof(list) / sizeof(*list) ? list[i] : NULL;
}

const hf_workload *hf_workload_named(hf_str name)
{
    for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (hf_str_same_name(name, hf_str_of(list[i]->name)))
            return list[i];
    return NULL;
}

#include "predict/search.h"
#include "base/error.h"
hf_status hf_paper_search(const hf_events *e, const hf_predict_options *options,
                          hf_predictions *ret, hf_predict_stats *stats,
                          hf_search_end *ret_end, hf_error *err)
{
    (void)e;
    (void)options;
    (void)ret;
    (void)stats;
    (void)ret_end;
    return hf_fail(err, HF_ERR_UNSUPPORTED, "not here yet");
}

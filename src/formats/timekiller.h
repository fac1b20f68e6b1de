/* timekiller.h: the two halves of the timekiller-json format. */
#ifndef HF_TIMEKILLER_H
#define HF_TIMEKILLER_H

#include "formats/format.h"

hf_status hf_timekiller_export(const hf_history *h, hf_out *out, hf_error *err);

#endif

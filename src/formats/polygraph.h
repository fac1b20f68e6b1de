/* polygraph.h: the two halves of the cobra-polygraph format. */
#ifndef HF_POLYGRAPH_H
#define HF_POLYGRAPH_H

#include "formats/format.h"

hf_status hf_polygraph_export(const hf_history *h, hf_out *out, hf_error *err);

#endif

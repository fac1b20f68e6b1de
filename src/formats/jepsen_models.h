/* jepsen_models.h: Jepsen's histories that are not of Elle's kind. */
#ifndef HF_JEPSEN_MODELS_H
#define HF_JEPSEN_MODELS_H

#include "formats/jepsen.h"

typedef enum hf_jepsen_model {
    HF_MODEL_NONE = 0,
    HF_MODEL_BANK,
    HF_MODEL_COUNTER,
    HF_MODEL_SET,
    HF_MODEL_REGISTER,
    HF_MODEL_MUTEX,
    HF_MODEL_QUEUE,
    HF_MODEL_TXN
} hf_jepsen_model;

/* Reads the file until it is settled, which may be all of it; what is wrong
 * with it is left to a second pass.
 * *ret_keyed: values are [key value].  *ret_zero: registers begin as 0. */
hf_jepsen_model hf_jepsen_tell(const hf_jepsen *j, bool *ret_keyed,
                               bool *ret_zero);

/* Looks through the file to tell the model, then builds the history.  The
 * mapping is described in jepsen_models.c. */
HF_MUST_USE hf_status hf_jepsen_models_import(const hf_input *in, hf_builder *b,
                                              bool json, hf_error *err);

/* How sure that an input is such a history. */
int hf_jepsen_models_detect(const hf_input *in, bool json);

#endif

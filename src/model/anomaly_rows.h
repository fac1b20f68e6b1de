/* anomaly_rows.h: the parts of the anomaly table, inside model/ only. */
#ifndef HF_ANOMALY_ROWS_H
#define HF_ANOMALY_ROWS_H

#include "model/anomaly.h"
#include "model/rows.h"

#define HF_ANOMALY_PLAIN_COUNT ((unsigned)HF_G0)
#define HF_ANOMALY_CYCLE_COUNT ((unsigned)HF_ANOMALY_COUNT - HF_G0)

extern const hf_anomaly_info hf_anomaly_plain[HF_ANOMALY_PLAIN_COUNT];
extern const hf_anomaly_info hf_anomaly_cycles[HF_ANOMALY_CYCLE_COUNT];

#endif

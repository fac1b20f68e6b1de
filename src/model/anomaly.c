/* anomaly.c: questions asked of the table of anomalies.
 *
 * The rows are in anomaly_plain.c and anomaly_cycles.c.  A level forbids an
 * anomaly if it implies one of the weakest levels that do, so that what a
 * weak level forbids every stronger one forbids too.
 */
#include "model/anomaly.h"

#include "base/error.h"
#include "model/anomaly_rows.h"
#include "model/name.h"
#include "model/special_rows.h"

const hf_anomaly_info *hf_anomaly_get(hf_anomaly anomaly)
{
    const hf_anomaly_info *info;

    HF_ASSERT((unsigned)anomaly < HF_ANOMALY_COUNT);
    info = anomaly < HF_G0 ? &hf_anomaly_plain[anomaly]
                           : &hf_anomaly_cycles[anomaly - HF_G0];
    HF_ASSERT(info->anomaly == anomaly);
    return info;
}

static bool anomaly_names(unsigned index, hf_name_row *ret_row)
{
    const hf_anomaly_info *info;

    if (index >= HF_ANOMALY_COUNT)
        return false;
    info = hf_anomaly_get((hf_anomaly)index);
    ret_row->name = info->name;
    ret_row->second = info->catalog;
    ret_row->aliases = info->aliases;
    return true;
}

/* The nearest name of both tables. */
static const char *suggest(hf_str name)
{
    unsigned distance = hf_name_far(name);
    const char *class = hf_name_suggest(anomaly_names, name, &distance);
    const char *form = hf_name_suggest(hf_special_names, name, &distance);

    return form ? form : class;
}

bool hf_anomaly_find(hf_str name, hf_anomaly *ret_anomaly,
                     const char **ret_suggestion)
{
    const hf_special_form *form;
    unsigned index;

    if (hf_name_find(anomaly_names, name, &index)) {
        *ret_anomaly = (hf_anomaly)index;
        return true;
    }
    form = hf_special_find(name);
    if (form) {
        *ret_anomaly = form->anomaly;
        return true;
    }
    if (ret_suggestion)
        *ret_suggestion = suggest(name);
    return false;
}

/* Does `level` imply one of the listed levels? */
static bool implies_any(hf_level level, const hf_level *list)
{
    for (; *list != HF_LEVEL_COUNT; list++) {
        if (hf_level_implies(level, *list))
            return true;
    }
    return false;
}

bool hf_level_forbids(hf_level level, hf_anomaly anomaly)
{
    return implies_any(level, hf_anomaly_get(anomaly)->forbidden_at);
}

bool hf_level_forbids_partly(hf_level level, hf_anomaly anomaly)
{
    return !hf_level_forbids(level, anomaly) &&
           implies_any(level, hf_anomaly_get(anomaly)->partly_at);
}

/* tables.h: what levels, anomalies and explain share. */
#ifndef HF_CLI_TABLES_H
#define HF_CLI_TABLES_H

#include "base/json_out.h"
#include "cli/options.h"
#include "model/special.h"

/* Settings and options of `levels` and `anomalies`. */
typedef struct hf_table_settings {
    bool markdown, json;
} hf_table_settings;

extern const hf_option hf_table_options[];

/* One entry of a list for people: name, second name, summary. */
void hf_entry_print(const char *name, const char *second, const char *summary,
                    hf_out *out);

/* One row as a line of JSON. */
void hf_level_write(const hf_level_info *l, hf_out *out);
void hf_anomaly_write(const hf_anomaly_info *a, hf_out *out);
void hf_special_write(const hf_special_form *f, hf_out *out);

/* Parts of such lines: the head, names, names of levels. */
void hf_json_begin(hf_json *j, const char *type, hf_out *out);
void hf_json_names(hf_json *j, const char *key, const char *const *names);
void hf_json_levels(hf_json *j, const char *key, const hf_level *levels);

#endif

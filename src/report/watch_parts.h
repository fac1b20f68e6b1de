/* watch_parts.h: what watch.c and watch_end.c share. */
#ifndef HF_REPORT_WATCH_PARTS_H
#define HF_REPORT_WATCH_PARTS_H

#include "base/json_out.h"
#include "watch/watch.h"

extern const char *const hf_watch_dependency_names[HF_WATCH_DEPENDENCY_COUNT];

/* The head of a line of JSON. */
void hf_watch_begin(hf_json *j, const char *type, hf_out *out);
/* The field "profile". */
void hf_watch_write_promise(hf_json *j, const hf_profile *p);

#endif

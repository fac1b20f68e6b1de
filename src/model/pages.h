/* pages.h: the tables of levels and anomalies as pages of documentation. */
#ifndef HF_PAGES_H
#define HF_PAGES_H

#include "base/out.h"

/* docs/levels.md and docs/anomalies.md, as Markdown. */
void hf_levels_page(hf_out *out);
void hf_anomalies_page(hf_out *out);

/* How the levels imply each other, as lines of text with short names. */
const char *hf_levels_diagram(void);

#endif

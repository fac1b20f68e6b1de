/* formats_all.h: every format there is; format.c lists them.
 *
 * A new format is one file that defines its hf_format, one line here and one
 * row in format.c.
 */
#ifndef HF_FORMATS_ALL_H
#define HF_FORMATS_ALL_H

#include "formats/format.h"

/* our own */
extern const hf_format hf_format_text;   /* jsonl */
extern const hf_format hf_format_binary; /* binary */

/* registers */
extern const hf_format hf_format_plume;      /* plume-text */
extern const hf_format hf_format_awdit;      /* awdit-test */
extern const hf_format hf_format_dbcop;      /* dbcop-bincode */
extern const hf_format hf_format_dbcop_json; /* dbcop-json */
extern const hf_format hf_format_dbcop_hist; /* dbcop-hist */
extern const hf_format hf_format_cobra;      /* cobra-log-dir */
extern const hf_format hf_format_polygraph;  /* cobra-polygraph */
extern const hf_format hf_format_isopredict; /* isopredict-trace */
extern const hf_format hf_format_timekiller; /* timekiller-json */
extern const hf_format hf_format_arangodb;   /* arangodb-wal-jsonl */

/* Jepsen and its relatives */
extern const hf_format hf_format_elle_edn;
extern const hf_format hf_format_elle_json;
extern const hf_format hf_format_jepsen_edn;
extern const hf_format hf_format_jepsen_json;
extern const hf_format hf_format_causal_register;
extern const hf_format hf_format_jepsen_results;
extern const hf_format hf_format_viper;

/* SQL scenarios */
extern const hf_format hf_format_pg_spec;
extern const hf_format hf_format_pg_out;
extern const hf_format hf_format_hermitage;
extern const hf_format hf_format_troc;
extern const hf_format hf_format_leopard;

#endif

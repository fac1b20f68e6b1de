/* binary_layout.h: what stands where in the binary form.
 *
 * Both directions walk the same list of columns, so they cannot disagree.
 * Everything is little-endian; every column starts at a multiple of 8.
 */
#ifndef HF_BINARY_LAYOUT_H
#define HF_BINARY_LAYOUT_H

#include "base/out.h"
#include "history/history.h"

#define HF_BINARY_VERSION 1
#define HF_BINARY_HEAD 16 /* magic, version u32, zero u32 */

typedef enum hf_frame_type {
    HF_FRAME_ABOUT = 1,  /* hf_about, then the name */
    HF_FRAME_BATCH = 2,  /* hf_batch, then columns */
    HF_FRAME_ORDER = 3,  /* hf_order, then run keys, run lengths, txns */
    HF_FRAME_SERIAL = 4, /* transactions */
    HF_FRAME_END = 5,    /* hf_end */
    HF_FRAME_PIECE = 6   /* a whole binary history, see binary_stream.h */
} hf_frame_type;

#define HF_FRAME_MAGIC 0x72664648u /* "HFfr" */

typedef struct hf_frame {
    uint32_t magic, type;
    uint64_t length;        /* of the payload, a multiple of 8 */
    uint64_t checksum;      /* XXH3, 64 bits, of the payload */
    uint64_t head_checksum; /* XXH3 of the 24 bytes before */
} hf_frame;

typedef struct hf_about {
    uint32_t time_unit;
    uint32_t flags; /* HF_ABOUT_... */
    uint64_t n_skipped;
    uint64_t name_length; /* UINT64_MAX: no name */
} hf_about;

#define HF_ABOUT_UNIQUE (1u << 0)         /* values are promised unique */
#define HF_ABOUT_PARTIAL_ORDERS (1u << 1) /* writers may be left out */

/* Optional columns, as bits of hf_batch.columns. */
#define HF_HAS_TABLE (1u << 0)
#define HF_HAS_INITIAL (1u << 1)
#define HF_HAS_LEVEL (1u << 2)
#define HF_HAS_TIMES (1u << 3)
#define HF_HAS_LABEL (1u << 4)
#define HF_HAS_LINE (1u << 5)
#define HF_HAS_TIMESTAMPS (1u << 6)
#define HF_HAS_INTERVALS (1u << 7)
#define HF_HAS_ALL 0xffu

/* How many of each are new in this batch. */
typedef struct hf_batch {
    uint32_t n_strings, n_sessions, n_keys, n_values;
    uint32_t n_txns, n_ops, n_extra, n_wide;
    uint64_t string_bytes;
    uint32_t columns, zero;
} hf_batch;

typedef struct hf_order {
    uint32_t n_runs, n_entries;
} hf_order;

typedef struct hf_end {
    uint64_t n_txns, n_ops;
} hf_end;

/* One column of a batch. */
typedef struct hf_column {
    unsigned needs;     /* HF_HAS_* bit, 0: always there */
    unsigned char unit; /* bytes an entry */
    uint8_t fill;       /* every byte, where a batch lacks it */
    size_t count;       /* offset in hf_batch of the number of entries */
    size_t place;       /* offset in hf_history of the column's pointer */
    bool wide_count;    /* the count is 64 bits */
} hf_column;

/* In the order of the file.  Two columns need more than copying: string
 * lengths and operations per transaction become offsets in memory. */
typedef enum hf_column_id {
    HF_COLUMN_STRING_LENGTH = 0,
    HF_COLUMN_OP_COUNT = 9,
    HF_COLUMN_COUNT = 25
} hf_column_id;

extern const hf_column hf_columns[HF_COLUMN_COUNT];

static inline uint64_t hf_batch_count(const hf_batch *b, const hf_column *c)
{
    const char *at = (const char *)b + c->count;

    return c->wide_count ? *(const uint64_t *)(const void *)at
                         : *(const uint32_t *)(const void *)at;
}

static inline bool hf_batch_has(const hf_batch *b, const hf_column *c)
{
    return c->needs == 0 || (b->columns & c->needs) != 0;
}

static inline uint64_t hf_padded(uint64_t bytes)
{
    return (bytes + 7) & ~(uint64_t)7;
}

/* Bytes of a batch's payload; UINT64_MAX if the counts cannot be. */
uint64_t hf_batch_bytes(const hf_batch *b);

/* Writes one frame, padded. */
void hf_frame_put(hf_out *out, hf_frame_type type, hf_str payload);
/* Is there a whole frame at `at`?  Its head goes to *ret_frame.  A head that
 * is damaged is an error, one that is cut off is not. */
HF_MUST_USE hf_status hf_frame_next(const char *bytes, uint64_t at,
                                    size_t length, hf_frame *ret_frame,
                                    bool *ret_whole, hf_error *err);
bool hf_checksum_holds(const char *bytes, size_t n, uint64_t checksum);

#endif

/* mem.h: memory that is there or the program is not, and an arena.
 *
 * Allocation never returns NULL: running out of memory calls one handler
 * (hf_set_out_of_memory()).  Limits set by the user are another matter: they
 * are budgets, see budget.h.
 */
#ifndef HF_MEM_H
#define HF_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast.h"

void *hf_alloc(size_t size); /* contents undefined */
void *hf_alloc_zero(size_t count, size_t size);
/* At a multiple of a power of two; size is not 0. */
void *hf_alloc_aligned(size_t alignment, size_t size);
void *hf_realloc(void *p, size_t size); /* size 0 frees and returns NULL */
void hf_free(void *p);
/* As hf_alloc(); asks for huge pages when it is many megabytes. */
void *hf_alloc_large(size_t size);
void *hf_realloc_large(void *p, size_t size);

/* count * size, or the out-of-memory handler if that overflows. */
size_t hf_array_size(size_t count, size_t size);

#define HF_NEW(type) ((type *)hf_alloc_zero(1, sizeof(type)))
#define HF_NEW_ARRAY(type, count)                                              \
    ((type *)hf_alloc(hf_array_size((count), sizeof(type))))
#define HF_NEW_ZEROED(type, count)                                             \
    ((type *)hf_alloc_zero((count), sizeof(type)))

/* For a program that is about to use much memory, again and again: all threads
 * share one heap, which begins with `room` bytes on huge pages and gives
 * nothing back before the end.  Only a hint. */
void hf_heap_prepare(size_t room);

/* Zeroed memory straight from the system, on huge pages where it is large;
 * given back with the same size. */
void *hf_pages_get(size_t size);
void hf_pages_release(void *p, size_t size);

/* Everything taken from an arena is given back at once. */
typedef struct hf_arena_block hf_arena_block;
typedef struct hf_arena {
    hf_arena_block *blocks; /* newest first */
    size_t used;            /* bytes handed out since init or reset */
} hf_arena;

void hf_arena_init(hf_arena *a);
void *hf_arena_get(hf_arena *a, size_t size); /* 16-byte aligned, zeroed */
char *hf_arena_text(hf_arena *a, const char *text, size_t length); /* + NUL */
void hf_arena_reset(hf_arena *a); /* keeps one block */
void hf_arena_release(hf_arena *a);

#endif

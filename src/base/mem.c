/* mem.c: allocation that does not fail, and the arena. */
#include "base/mem.h"

#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void default_handler(size_t wanted)
{
    fprintf(stderr, "holdfast: out of memory (%zu bytes wanted)\n", wanted);
    abort();
}

/* Set once at start-up by a program that wants something else. */
static void (*out_of_memory)(size_t) = default_handler;

void hf_set_out_of_memory(void (*handler)(size_t wanted))
{
    out_of_memory = handler ? handler : default_handler;
}

static void *must(void *p, size_t size)
{
    if (!p && size > 0) {
        out_of_memory(size);
        abort(); /* the handler must not return */
    }
    return p;
}

size_t hf_array_size(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        out_of_memory(SIZE_MAX);
        abort();
    }
    return bytes;
}

void *hf_alloc(size_t size)
{
    return must(malloc(size ? size : 1), size);
}

void *hf_alloc_zero(size_t count, size_t size)
{
    size_t bytes = hf_array_size(count, size);

    return must(calloc(1, bytes ? bytes : 1), bytes);
}

void *hf_alloc_aligned(size_t alignment, size_t size)
{
    return must(
        aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1)),
        size);
}

void *hf_realloc(void *p, size_t size)
{
    if (size == 0) {
        free(p);
        return NULL;
    }
    return must(realloc(p, size), size);
}

void hf_free(void *p)
{
    free(p);
}

#define HUGE_PAGE ((uintptr_t)1 << 21)

/* Asks for huge pages where whole ones fit. */
static void want_huge_pages(void *p, size_t size)
{
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t to = ((uintptr_t)p + size) & ~(HUGE_PAGE - 1);

    if (to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void *hf_alloc_large(size_t size)
{
    char *p = hf_alloc(size);

    if (size >= 4 * HUGE_PAGE)
        want_huge_pages(p, size);
    return p;
}

void *hf_realloc_large(void *p, size_t size)
{
    p = hf_realloc(p, size);
    if (size >= 4 * HUGE_PAGE)
        want_huge_pages(p, size);
    return p;
}

void hf_heap_prepare(size_t room)
{
#ifdef __GLIBC__
    char *from, *end;

    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_TOP_PAD, (int)room);
    from = malloc(HUGE_PAGE); /* the heap grows by that and the room */
    end = sbrk(0);
    if (from && from < end && (size_t)(end - from) <= 2 * room)
        want_huge_pages(from, (size_t)(end - from));
    free(from);
    (void)mallopt(M_TOP_PAD, (int)HUGE_PAGE);
#else
    (void)room;
#endif
}

void *hf_pages_get(size_t size)
{
    void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                   /* cppcheck-suppress invalidFunctionArg ; -1: no file */
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return must(NULL, size ? size : 1);
    want_huge_pages(p, size);
    return p;
}

void hf_pages_release(void *p, size_t size)
{
    if (p)
        (void)munmap(p, size ? size : 1);
}

/* ---- arena --------------------------------------------------------------- */

struct hf_arena_block {
    hf_arena_block *next;
    size_t size, used;
    /* the bytes follow, 16-byte aligned */
};

#define BLOCK_HEAD ((sizeof(hf_arena_block) + 15) & ~(size_t)15)
#define BLOCK_MIN ((size_t)16384)

void hf_arena_init(hf_arena *a)
{
    *a = (hf_arena){0};
}

void *hf_arena_get(hf_arena *a, size_t size)
{
    hf_arena_block *block = a->blocks;
    size_t need = (hf_array_size(size, 1) + 15) & ~(size_t)15;
    char *p;

    if (!block || block->size - block->used < need) {
        size_t room = need > BLOCK_MIN ? need : BLOCK_MIN;

        block = hf_alloc(BLOCK_HEAD + room);
        *block = (hf_arena_block){.next = a->blocks, .size = room};
        a->blocks = block;
    }
    p = (char *)block + BLOCK_HEAD + block->used;
    block->used += need;
    a->used += need;
    memset(p, 0, need);
    return p;
}

char *hf_arena_text(hf_arena *a, const char *text, size_t length)
{
    char *copy = hf_arena_get(a, length + 1);

    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

void hf_arena_reset(hf_arena *a)
{
    hf_arena_block *keep = a->blocks;

    if (keep) {
        a->blocks = keep->next;
        hf_arena_release(a);
        keep->next = NULL;
        keep->used = 0;
        a->blocks = keep;
    }
    a->used = 0;
}

void hf_arena_release(hf_arena *a)
{
    if (!a)
        return;
    while (a->blocks) {
        hf_arena_block *next = a->blocks->next;

        free(a->blocks);
        a->blocks = next;
    }
    a->used = 0;
}

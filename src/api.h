/* The allocation functions under nacre's own names; names.h gives them the C
 * library's.
 *
 * Contract of each: as ISO C and POSIX say for the name without nc_. Every
 * pointer is aligned to 16 bytes; a size of 0 gets a block of its own; sizes
 * above PTRDIFF_MAX give NULL and ENOMEM. Frees keep errno. Any thread may
 * free any block. Wrong calls end the process (docs/reports.md).
 * Call tree of the fast paths:
 *   nc_malloc -> direct page's head -> decode, live bit, canary
 *             -> nc_malloc_next   the list ends here: next list of the page
 *             -> nc_malloc_slow   no list left, no page, no heap, or large
 *   nc_free   -> page map, index, owner, live bit, canary, push
 *             -> nc_free_slow     NULL, not ours, not plain, wrong, or last
 */
#ifndef NC_API_H
#define NC_API_H

#include "base.h"

void *nc_malloc(size_t bytes);
void *nc_calloc(size_t count, size_t bytes);
void *nc_realloc(void *p, size_t bytes);
void *nc_reallocarray(void *p, size_t count, size_t bytes);
void nc_free(void *p);
/* align is a power of two, else NULL and EINVAL. */
void *nc_memalign(size_t align, size_t bytes);
/* 0, or EINVAL or ENOMEM with *out untouched; errno is kept. */
int nc_posix_memalign(void **out, size_t align, size_t bytes);
/* Bytes that the caller may use of the block; 0 for NULL. */
size_t nc_usable_size(void *p);
/* Frees that are told what the block was asked for with. */
void nc_free_sized(void *p, size_t bytes);
void nc_free_aligned_sized(void *p, size_t align, size_t bytes);

/* Give memory that is kept for reuse back; true if there was any. */
bool nc_trim(void);

#endif

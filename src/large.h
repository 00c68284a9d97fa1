/* Large blocks: one to a run of slices or to a mapping, between guards.
 *
 * Owns: their memory, and a small cache of freed ones. A freed block keeps its
 * place in the page map while it is cached, so that a second free is found.
 * Locks: nc_core_lock inside; callers hold nothing.
 */
#ifndef NC_LARGE_H
#define NC_LARGE_H

#include "page.h"

/* bytes asked for, align a power of two. zero may be NULL; else the block shall be zero,
 * and *zero tells whether it is. NULL: no memory. */
void *nc_large_take(size_t bytes, size_t align, bool *zero);
/* Whether the block, which was just taken, reads as zero; false for small ones. */
bool nc_large_reads_zero(const struct nc_page *page);
/* Whether nothing behind the block's end was written, as far as that is not a guard's. */
bool nc_large_is_intact(const struct nc_page *page);
/* Bytes of the live block that the program may use. */
size_t nc_large_usable(const struct nc_page *page);
/* The block gets another size that it has room for. */
void *nc_large_resize_in_place(struct nc_page *page, size_t bytes);
/* Free the block p of a page of kind LARGE; reports a second free. */
void nc_large_give(struct nc_page *page, const void *p);
/* Another size for the block; may move. NULL: no memory, nothing changed. */
void *nc_large_resize(struct nc_page *page, size_t bytes);
/* Give the cache's memory back. */
void nc_large_trim(void);

struct nc_large_figures {
	size_t live_blocks, live_bytes, cached_bytes, mapped_bytes;
};
void nc_large_figures_locked(struct nc_large_figures *out);

#endif

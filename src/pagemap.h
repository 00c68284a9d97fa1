/* The page map: from any address to the page that holds it.
 *
 * Two levels. An entry is a difference to the map itself, so that zeroed
 * memory means "the empty leaf" and "no page" and the look-up needs no test:
 * an address of nobody gives a description with no blocks.
 *
 * Owns: the map. Does not own: pages. Locks: writers hold nc_core_lock;
 * readers need none.
 * Bits of an address above NC_ADDR_BITS are ignored here; the check of the
 * pointer against its page (nc_page_index) rejects them.
 */
#ifndef NC_PAGEMAP_H
#define NC_PAGEMAP_H

#include "atomic.h"

#define NC_PAGEMAP_NONE_BYTES 512

struct nc_pagemap {
	/* The description with no blocks: all zero. */
	_Alignas(NC_CACHE_LINE) unsigned char none[NC_PAGEMAP_NONE_BYTES];
	/* The leaf of addresses that have none: all zero. */
	uintptr_t x_empty_leaf[(size_t)1 << NC_LEAF_BITS];
	/* Leaf's address, less that of x_empty_leaf. */
	uintptr_t x_root[(size_t)1 << NC_ROOT_BITS];
};

extern NC_HIDDEN struct nc_pagemap nc_pagemap;

NC_INLINE uintptr_t nc_pagemap_root_idx(uintptr_t a)
{
	return a >> (NC_SLICE_SHIFT + NC_LEAF_BITS) &
	       (((uintptr_t)1 << NC_ROOT_BITS) - 1);
}

NC_INLINE uintptr_t nc_pagemap_leaf_idx(uintptr_t a)
{
	/* 32-bit instructions cut the upper half off by themselves. */
	if (NC_SLICE_SHIFT + NC_LEAF_BITS == 32)
		return (uint32_t)a >> NC_SLICE_SHIFT;
	return a >> NC_SLICE_SHIFT & (((uintptr_t)1 << NC_LEAF_BITS) - 1);
}

/* The description for an address; &nc_pagemap.none when there is none. */
NC_INLINE void *nc_pagemap_find(const void *p)
{
	uintptr_t map = (uintptr_t)&nc_pagemap, a = (uintptr_t)p;
	uintptr_t root_at = nc_pagemap_root_idx(a) * sizeof(uintptr_t);
	uintptr_t leaf_at = nc_pagemap_leaf_idx(a) * sizeof(uintptr_t);
	uintptr_t leaf =
		map + nc_load_acquire((uintptr_t *)(map + root_at +
	                                            offsetof(struct nc_pagemap, x_root)));

	__asm__("" : "+r"(leaf)); /* else the sum is made in one step more */
	return (void *)(map + nc_load_acquire((uintptr_t *)(leaf + leaf_at +
	                                                    offsetof(struct nc_pagemap,
	                                                             x_empty_leaf))));
}

#define NC_LEAF_BYTES (sizeof(uintptr_t) << NC_LEAF_BITS)
/* Zeroed memory of NC_LEAF_BYTES for the first leaf: the one for base. */
void nc_pagemap_seed_locked(void *leaf, const void *base);
/* Make the leaves for a range exist; false when there is no memory. */
bool nc_pagemap_grow_locked(const void *base, size_t bytes);
/* Enter `what` for the slices of a range that was grown; NULL clears them. */
void nc_pagemap_set_locked(const void *base, size_t slice_count, const void *what);

#endif

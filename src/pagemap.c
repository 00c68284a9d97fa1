#include "pagemap.h"
#include "port.h"

struct nc_pagemap nc_pagemap;

#define LEAF_SPAN_SHIFT (NC_SLICE_SHIFT + NC_LEAF_BITS)

static void set_leaf(uintptr_t root_idx, const void *leaf)
{
	nc_store_release(&nc_pagemap.x_root[root_idx],
	                 (uintptr_t)leaf - (uintptr_t)nc_pagemap.x_empty_leaf);
}

void nc_pagemap_seed_locked(void *leaf, const void *base)
{
	set_leaf(nc_pagemap_root_idx((uintptr_t)base), leaf);
}

bool nc_pagemap_grow_locked(const void *base, size_t bytes)
{
	uintptr_t first = (uintptr_t)base >> LEAF_SPAN_SHIFT;
	uintptr_t last = ((uintptr_t)base + bytes - 1) >> LEAF_SPAN_SHIFT;

	for (uintptr_t i = first; i <= last; i++) {
		if (nc_load_relaxed(&nc_pagemap.x_root[i]))
			continue;
		void *leaf = nc_port_map(nc_align_up(NC_LEAF_BYTES, nc_os_page));
		if (!leaf)
			return false;
		set_leaf(i, leaf);
	}
	return true;
}

void nc_pagemap_set_locked(const void *base, size_t slice_count, const void *what)
{
	uintptr_t entry = what ? (uintptr_t)what - (uintptr_t)&nc_pagemap : 0;

	for (size_t i = 0; i < slice_count; i++) {
		uintptr_t a = (uintptr_t)base + i * NC_SLICE_BYTES;
		uintptr_t *leaf =
			(uintptr_t *)((uintptr_t)nc_pagemap.x_empty_leaf +
		                      nc_pagemap.x_root[nc_pagemap_root_idx(a)]);
		nc_store_release(&leaf[nc_pagemap_leaf_idx(a)], entry);
	}
}

/* The page map: any 64-bit value has an answer, read without a lock. */
#include "unit.h"

#include "meta.h"
#include "pagemap.h"

#define NONE ((void *)&nc_pagemap)

static const void *find(uintptr_t address)
{
	return nc_pagemap_find((const void *)address);
}

START_TEST(an_empty_map_knows_nobody)
{
	uintptr_t address = 1;

	for (int i = 0; i < 1000000; i++) {
		if (find(address) != NONE)
			ck_abort_msg("%#zx is somebody's", (size_t)address);
		address = address * 6364136223846793005u + 1442695040888963407u;
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		ck_assert_ptr_eq(find((uintptr_t)1 << bit), NONE);
		ck_assert_ptr_eq(find(-((uintptr_t)1 << bit)), NONE);
	}
}
END_TEST

/* A range that crosses a leaf's border. */
START_TEST(entries_are_set_and_cleared)
{
	const uintptr_t border = (uintptr_t)5 << (NC_SLICE_SHIFT + NC_LEAF_BITS);
	const uintptr_t base = border - 3 * NC_SLICE_BYTES;
	const size_t count = 7;
	static int page, other;

	nc_port_init();
	nc_lock_take(&nc_core_lock);
	ck_assert(nc_pagemap_grow_locked((void *)base, count * NC_SLICE_BYTES));
	ck_assert_ptr_eq(find(base), NONE);
	nc_pagemap_set_locked((void *)base, count, &page);
	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_eq(find(base + i * NC_SLICE_BYTES), &page);
		ck_assert_ptr_eq(find(base + (i + 1) * NC_SLICE_BYTES - 1), &page);
	}
	ck_assert_ptr_eq(find(base - 1), NONE);
	ck_assert_ptr_eq(find(base + count * NC_SLICE_BYTES), NONE);
	nc_pagemap_set_locked((void *)border, 1, &other);
	ck_assert_ptr_eq(find(border + 100), &other);
	ck_assert_ptr_eq(find(border - 1), &page);
	nc_pagemap_set_locked((void *)base, count, NULL);
	ck_assert_ptr_eq(find(base), NONE);
	ck_assert_ptr_eq(find(border), NONE);
	/* Growing what is there changes nothing. */
	nc_pagemap_set_locked((void *)base, count, &page);
	ck_assert(nc_pagemap_grow_locked((void *)base, count * NC_SLICE_BYTES));
	ck_assert_ptr_eq(find(base), &page);
	nc_pagemap_set_locked((void *)base, count, NULL);
	nc_lock_give(&nc_core_lock);
}
END_TEST

/* Bits above the address space must not make an address somebody else's page's
 * block: the map may answer, the check of the index refuses (test_page). */
START_TEST(the_ends_of_the_address_space)
{
	const uintptr_t last = ((uintptr_t)1 << NC_ADDR_BITS) - NC_SLICE_BYTES;
	static int page;

	nc_port_init();
	nc_lock_take(&nc_core_lock);
	ck_assert(nc_pagemap_grow_locked((void *)last, NC_SLICE_BYTES));
	nc_pagemap_set_locked((void *)last, 1, &page);
	ck_assert_ptr_eq(find(last), &page);
	ck_assert_ptr_eq(find(last + NC_SLICE_BYTES - 1), &page);
	ck_assert_ptr_eq(find(last - 1), NONE);
	nc_pagemap_set_locked((void *)last, 1, NULL);
	nc_lock_give(&nc_core_lock);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, an_empty_map_knows_nobody);
	UNIT_ADD(suite, entries_are_set_and_cleared);
	UNIT_ADD(suite, the_ends_of_the_address_space);
}

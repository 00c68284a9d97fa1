/* Large blocks: their place between guards, the cache, growth. */
#include "unit.h"

#include <signal.h>

#include "large.h"
#include "meta.h"

#define MIB ((size_t)1 << 20)

static const size_t sizes[] = { 70000, 100000,  131072,  500000,
	                        MIB,   MIB + 1, 3 * MIB, 40 * MIB };
#define SIZES (sizeof sizes / sizeof *sizes)

static struct nc_large_figures figures(void)
{
	struct nc_large_figures out;

	nc_lock_take(&nc_core_lock);
	nc_large_figures_locked(&out);
	nc_lock_give(&nc_core_lock);
	return out;
}

static uint8_t *take(size_t bytes, size_t align)
{
	bool zero;
	uint8_t *block;

	nc_port_init();
	block = nc_large_take(bytes, align, &zero);
	ck_assert_ptr_nonnull(block);
	for (size_t i = 0; zero && i < bytes; i += 4096)
		if (block[i])
			ck_abort_msg("byte %zu of a block that reads as zero is not", i);
	return block;
}

static void give(uint8_t *block)
{
	nc_large_give(nc_page_find(block), block);
}

START_TEST(blocks_are_whole_and_counted)
{
	uint8_t *blocks[SIZES];
	size_t total = 0;

	for (size_t i = 0; i < SIZES; i++) {
		struct nc_page *page;

		blocks[i] = take(sizes[i], NC_GRAIN);
		page = nc_page_find(blocks[i]);
		ck_assert_ptr_eq(page->start, blocks[i]);
		ck_assert_uint_ge(nc_large_usable(page), sizes[i]);
		ck_assert_ptr_eq(nc_page_find(blocks[i] + sizes[i] - 1), page);
		memset(blocks[i], 0x5a, nc_large_usable(page));
		total += page->block_bytes;
	}
	ck_assert_uint_eq(figures().live_blocks, SIZES);
	ck_assert_uint_eq(figures().live_bytes, total);
	for (size_t i = 0; i < SIZES; i++)
		give(blocks[i]);
	ck_assert_uint_eq(figures().live_blocks, 0);
	ck_assert_uint_eq(figures().live_bytes, 0);
}
END_TEST

/* What need not be zero comes from arenas, where freed memory serves again whatever
 * the sizes. */
START_TEST(blocks_of_arenas_reuse_memory)
{
	uint8_t *blocks[8] = { 0 };
	uint32_t draw = 1;

	nc_port_init();
	for (size_t round = 0; round < 400; round++) {
		size_t at = round % 8, bytes;
		struct nc_page *page;

		draw = draw * 1664525 + 1013904223;
		bytes = (size_t)70000 << (draw >> 24) % 8;
		bytes += draw % bytes;
		if (blocks[at]) {
			page = nc_page_find(blocks[at]);
			ck_assert_uint_eq(blocks[at][0], at);
			ck_assert_uint_eq(blocks[at][nc_large_usable(page) - 1], at);
			give(blocks[at]);
		}
		blocks[at] = nc_large_take(bytes, NC_GRAIN, NULL);
		ck_assert_ptr_nonnull(blocks[at]);
		page = nc_page_find(blocks[at]);
		ck_assert(!page->own_map);
		memset(blocks[at], (int)at, nc_large_usable(page));
	}
	ck_assert_uint_eq(figures().mapped_bytes, 0);
	for (size_t i = 0; i < 8; i++)
		give(blocks[i]);
	ck_assert_uint_eq(figures().live_bytes, 0);
}
END_TEST

/* A block of an arena that cannot grow there becomes a mapping. */
START_TEST(growing_out_of_an_arena)
{
	nc_port_init();
	uint8_t *block = nc_large_take(20 * MIB, NC_GRAIN, NULL);
	ck_assert(!nc_page_find(block)->own_map);
	memset(block, 7, 20 * MIB);
	block = nc_large_resize(nc_page_find(block), 30 * MIB);
	ck_assert(nc_page_find(block)->own_map);
	for (size_t i = 0; i < 20 * MIB; i += 512)
		ck_assert_uint_eq(block[i], 7);
	memset(block, 8, 30 * MIB);
	give(block);
	ck_assert_uint_eq(figures().live_bytes, 0);
}
END_TEST

START_TEST(alignments)
{
	for (size_t align = NC_GRAIN; align <= 16 * MIB; align *= 2)
		for (size_t i = 0; i < SIZES; i += 3) {
			uint8_t *block = take(sizes[i], align);

			ck_assert_uint_eq((uintptr_t)block % align, 0);
			block[0] = block[sizes[i] - 1] = 1;
			give(block);
		}
}
END_TEST

/* A small block with a large alignment is large, too. */
START_TEST(small_sizes_with_large_alignments)
{
	static const size_t small[] = { 0, 1, 100, 4096, 60000 };

	for (size_t align = 65536; align <= 4 * MIB; align *= 2)
		for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
			uint8_t *block = take(small[i], align);

			ck_assert_uint_eq((uintptr_t)block % align, 0);
			memset(block, 1, nc_large_usable(nc_page_find(block)));
			give(block);
		}
}
END_TEST

START_TEST(the_cache_is_bounded_and_trimmed)
{
	static uint8_t *blocks[100];

	for (size_t i = 0; i < 100; i++)
		blocks[i] = take((i % 20 + 1) * 100000, NC_GRAIN);
	for (size_t i = 0; i < 100; i++) {
		struct nc_large_figures now;

		give(blocks[i]);
		now = figures();
		ck_assert(now.cached_bytes <= NC_LARGE_CACHE_BYTES ||
		          now.cached_bytes <= now.live_bytes >> 4);
	}
	ck_assert_uint_gt(figures().cached_bytes, 0);
	nc_large_trim();
	ck_assert_uint_eq(figures().cached_bytes, 0);
	ck_assert_uint_eq(figures().mapped_bytes, 0);
}
END_TEST

START_TEST(a_freed_block_comes_again_from_the_cache)
{
	uint8_t *block = take(3 * MIB, NC_GRAIN);
	size_t cached;

	if (NC_GUARD_FREED)
		return;
	/* The first time it is past the bound, which its return then raises. */
	give(block);
	ck_assert_uint_eq(figures().cached_bytes, 0);
	block = take(3 * MIB, NC_GRAIN);
	give(block);
	cached = figures().cached_bytes;
	ck_assert_uint_ge(cached, 3 * MIB);
	block = take(3 * MIB, NC_GRAIN);
	ck_assert_uint_lt(figures().cached_bytes, cached);
	give(block);
}
END_TEST

START_TEST(resizing_keeps_contents)
{
	for (size_t from = 0; from < SIZES; from++)
		for (size_t to = 0; to < SIZES; to++) {
			size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
			uint8_t *block = take(sizes[from], NC_GRAIN);

			for (size_t i = 0; i < sizes[from]; i += 997)
				block[i] = (uint8_t)(i / 997);
			block = nc_large_resize(nc_page_find(block), sizes[to]);
			ck_assert_ptr_nonnull(block);
			ck_assert_uint_ge(nc_large_usable(nc_page_find(block)),
			                  sizes[to]);
			for (size_t i = 0; i < kept; i += 997)
				if (block[i] != (uint8_t)(i / 997))
					ck_abort_msg("byte %zu lost from %zu to %zu", i,
					             sizes[from], sizes[to]);
			block[sizes[to] - 1] = 1;
			give(block);
		}
	ck_assert_uint_eq(figures().live_blocks, 0);
}
END_TEST

/* Two blocks in turn, past the size from which on they are mappings. */
START_TEST(growing_keeps_contents_and_moves_seldom)
{
	uint8_t *blocks[2] = { take(70000, NC_GRAIN), take(70000, NC_GRAIN) };
	size_t bytes = 70000, moves = 0;

	memset(blocks[0], 1, bytes);
	memset(blocks[1], 2, bytes);
	while (bytes < 8 * MIB) {
		size_t more = bytes + 10000;

		for (size_t b = 0; b < 2; b++) {
			uint8_t *old = blocks[b];
			struct nc_page *page;

			blocks[b] = nc_large_resize(nc_page_find(old), more);
			ck_assert_ptr_nonnull(blocks[b]);
			page = nc_page_find(blocks[b]);
			ck_assert_ptr_eq(page->start, blocks[b]);
			ck_assert_uint_ge(nc_large_usable(page), more);
			ck_assert_uint_lt(page->block_bytes, more + more / 4 + 8192);
			ck_assert_ptr_eq(nc_page_find(blocks[b] + more - 1), page);
			ck_assert(page->guarded || !NC_GUARD);
			memset(blocks[b] + bytes, (int)b + 1,
			       nc_large_usable(page) - bytes);
			moves += blocks[b] != old;
		}
		bytes = more;
	}
	ck_assert_uint_le(moves, 24);
	for (size_t b = 0; b < 2; b++) {
		for (size_t i = 0; i < bytes; i++)
			if (blocks[b][i] != b + 1)
				ck_abort_msg("byte %zu is lost", i);
		give(blocks[b]);
	}
	ck_assert_uint_eq(figures().live_blocks, 0);
	ck_assert_uint_eq(figures().live_bytes, 0);
}
END_TEST

START_TEST(where_a_block_was_is_marked_as_freed)
{
	uint8_t *block = take(70000, NC_GRAIN), *old = block;

	block = nc_large_resize(nc_page_find(block), 300000);
	ck_assert_ptr_eq(block, old);
	block = nc_large_resize(nc_page_find(block), 3 * MIB);
	ck_assert_ptr_ne(block, old);
	/* What a free of the old address meets: the dead block, or the mark. */
	ck_assert(!nc_page_is_live(nc_page_find(old), 0));
	nc_large_trim();
	ck_assert_ptr_eq(nc_page_find(old), &nc_page_freed);
	give(block);
	nc_large_trim();
	ck_assert_ptr_eq(nc_page_find(block), &nc_page_freed);
}
END_TEST

START_TEST(with_guards_a_freed_block_waits)
{
	uint8_t *first, *block;

	if (!NC_GUARD_FREED)
		return;
	first = take(3 * MIB, NC_GRAIN);
	give(first);
	for (size_t bytes = 3 * MIB; bytes + 4 * MIB < NC_LARGE_CACHE_BYTES;
	     bytes += 4 * MIB) {
		ck_assert(!nc_page_is_live(nc_page_find(first), 0));
		block = take(3 * MIB, NC_GRAIN);
		ck_assert(block + 3 * MIB <= first || first + 3 * MIB <= block);
		give(block);
	}
	ck_assert_uint_le(figures().cached_bytes, NC_LARGE_CACHE_BYTES);
	nc_large_trim();
	ck_assert_uint_eq(figures().cached_bytes, 0);
}
END_TEST

START_TEST(resizing_too_far_changes_nothing)
{
	uint8_t *block = take(100000, NC_GRAIN);
	bool zero;

	memset(block, 7, 100000);
	ck_assert_ptr_null(nc_large_resize(nc_page_find(block), (size_t)PTRDIFF_MAX));
	ck_assert_ptr_null(nc_large_resize(nc_page_find(block), SIZE_MAX / 2 - MIB));
	ck_assert_ptr_null(nc_large_take((size_t)1 << 62, NC_GRAIN, &zero));
	ck_assert_ptr_null(nc_large_take(100, (size_t)1 << 62, &zero));
	ck_assert_int_eq(block[99999], 7);
	ck_assert_uint_eq(figures().live_blocks, 1);
	give(block);
}
END_TEST

START_TEST(a_second_free_is_reported)
{
	for (size_t i = 0; i < 6; i++) {
		uint8_t *block = take(sizes[i], NC_GRAIN);
		struct nc_page *page = nc_page_find(block);

		unit_expect_reports();
		nc_large_give(page, page->start);
		ck_assert_uint_eq(unit_reports, 0);
		ck_assert_ptr_eq(nc_page_find(block), page);
		nc_large_give(page, page->start);
		unit_assert_reported("double-free");
	}
	ck_assert_uint_eq(figures().live_blocks, 0);
}
END_TEST

#if NC_GUARD
START_TEST(a_guard_behind)
{
	volatile uint8_t *block = take(sizes[_i], NC_GRAIN);

	for (size_t i = 0; i < sizes[_i] * 2 + 65536; i++)
		block[i] = 1;
}
END_TEST

/* The guards of its smaller sizes are gone, that of its last one is there. */
START_TEST(a_guard_behind_what_grew)
{
	volatile uint8_t *block = take(70000, NC_GRAIN);

	for (size_t bytes = 80000; bytes < sizes[_i]; bytes += 20000)
		block = nc_large_resize(nc_page_find((uint8_t *)block), bytes);
	size_t usable = nc_large_usable(nc_page_find((uint8_t *)block));
	for (size_t i = 0; i < usable; i++)
		block[i] = 1;
	for (size_t i = 0; i < 4096; i++)
		block[usable + i] = 1;
}
END_TEST

START_TEST(a_guard_before)
{
	volatile uint8_t *block = take(sizes[_i], NC_GRAIN);

	block[-1] = 1;
}
END_TEST
#endif

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, blocks_are_whole_and_counted);
	UNIT_ADD(suite, blocks_of_arenas_reuse_memory);
	UNIT_ADD(suite, growing_out_of_an_arena);
	UNIT_ADD(suite, alignments);
	UNIT_ADD(suite, small_sizes_with_large_alignments);
	UNIT_ADD(suite, the_cache_is_bounded_and_trimmed);
	UNIT_ADD(suite, a_freed_block_comes_again_from_the_cache);
	UNIT_ADD(suite, resizing_keeps_contents);
	UNIT_ADD(suite, growing_keeps_contents_and_moves_seldom);
	UNIT_ADD(suite, where_a_block_was_is_marked_as_freed);
	UNIT_ADD(suite, with_guards_a_freed_block_waits);
	UNIT_ADD(suite, resizing_too_far_changes_nothing);
	UNIT_ADD(suite, a_second_free_is_reported);
#if NC_GUARD
	if (unit_forks()) {
		TCase *deaths = tcase_create("deaths");

		tcase_add_loop_test_raise_signal(deaths, a_guard_behind, SIGSEGV, 0,
		                                 (int)SIZES - 1);
		tcase_add_loop_test_raise_signal(deaths, a_guard_before, SIGSEGV, 0,
		                                 (int)SIZES - 1);
		tcase_add_loop_test_raise_signal(deaths, a_guard_behind_what_grew,
		                                 SIGSEGV, 2, (int)SIZES);
		suite_add_tcase(suite, deaths);
	}
#endif
}

/* The allocation functions under nacre's own names. */
#include "unit.h"

#include <errno.h>

#include "api.h"

static const size_t sizes[] = { 0,     1,     12,     13,      16,     48,
	                        100,   1000,  4000,   8192,    20000,  60000,
	                        65532, 65536, 100000, 1 << 20, 3 << 20 };
#define SIZES (sizeof sizes / sizeof *sizes)

static void *filled(size_t size)
{
	unsigned char *block = nc_malloc(size);

	ck_assert_ptr_nonnull(block);
	for (size_t i = 0; i < size; i++)
		block[i] = (unsigned char)(i * 31 + 7);
	return block;
}

static void assert_filled(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (block[i] != (unsigned char)(i * 31 + 7))
			ck_abort_msg("byte %zu of %zu changed", i, size);
}

START_TEST(blocks_are_aligned_and_as_large_as_asked)
{
	for (size_t i = 0; i < SIZES; i++) {
		void *block = nc_malloc(sizes[i]);

		ck_assert_ptr_nonnull(block);
		ck_assert_uint_eq((uintptr_t)block % 16, 0);
		ck_assert_uint_ge(nc_usable_size(block), sizes[i]);
		memset(block, 0xff, nc_usable_size(block));
		nc_free(block);
	}
}
END_TEST

START_TEST(live_blocks_do_not_overlap)
{
	static unsigned char *blocks[2000];

	for (size_t i = 0; i < 2000; i++) {
		size_t size = sizes[i % 11];

		blocks[i] = nc_malloc(size);
		memset(blocks[i], (int)(i % 251), nc_usable_size(blocks[i]));
	}
	for (size_t i = 0; i < 2000; i++) {
		for (size_t k = 0; k < nc_usable_size(blocks[i]); k++)
			if (blocks[i][k] != i % 251)
				ck_abort_msg("byte %zu of block %zu changed", k, i);
		nc_free(blocks[i]);
	}
}
END_TEST

START_TEST(calloc_gives_zeros_on_reused_memory)
{
	for (size_t i = 0; i < SIZES; i++)
		for (int round = 0; round < 20; round++) {
			unsigned char *block = nc_calloc(sizes[i], 1);

			ck_assert_ptr_nonnull(block);
			for (size_t k = 0; k < sizes[i]; k++)
				if (block[k])
					ck_abort_msg("byte %zu of %zu is not 0", k,
					             sizes[i]);
			memset(block, 0xa5, nc_usable_size(block));
			nc_free(block);
		}
}
END_TEST

START_TEST(realloc_keeps_contents)
{
	for (size_t from = 0; from < SIZES; from++)
		for (size_t to = 1; to < SIZES; to++) {
			size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
			void *block = nc_realloc(filled(sizes[from]), sizes[to]);

			ck_assert_ptr_nonnull(block);
			ck_assert_uint_ge(nc_usable_size(block), sizes[to]);
			assert_filled(block, kept);
			nc_free(block);
		}
}
END_TEST

/* The promise is "as rarely as glibc, and 30 times more": glibc may not move at all. With
 * exact sizes a block has no room that it was not given for growth. */
START_TEST(growing_by_little_moves_seldom)
{
	static const size_t steps[] = { 1, 16, 24, 1000, 4096 };

	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		uint8_t *block = nc_malloc(1);
		size_t moves = 0, bytes = 1;

		for (size_t i = 0; bytes < (steps[k] < 100 ? 100000u : 50000000u); i++) {
			uint8_t *old = block;

			bytes += steps[k];
			block = nc_realloc(old, bytes);
			ck_assert_ptr_nonnull(block);
			block[bytes - 1] = (uint8_t)bytes;
			moves += block != old;
		}
		for (size_t i = 1 + steps[k]; i <= bytes; i += steps[k])
			ck_assert_uint_eq(block[i - 1], (uint8_t)i);
		if (moves > (NC_SLACK ? 34 : 30))
			ck_abort_msg("%zu moves in steps of %zu", moves, steps[k]);
		nc_free_sized(block, bytes);
	}
}
END_TEST

/* A block that was left larger than asked for is freed with its size as any other,
 * and a wrong size is found on the pages that hold no such block. */
START_TEST(sizes_after_growth)
{
	for (size_t from = 1; from < 70000; from += from / 3 + 1)
		for (size_t to = from + 1; to < from * 2; to += from / 7 + 1) {
			void *block = nc_malloc(from);

			block = nc_realloc(block, to);
			ck_assert_uint_ge(nc_usable_size(block), to);
			nc_free_sized(nc_realloc(block, to - 1), to - 1);
		}
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

START_TEST(zero_sizes_behave_as_in_glibc)
{
	void *one = nc_malloc(0), *two = nc_malloc(0);

	ck_assert_ptr_nonnull(one);
	ck_assert_ptr_nonnull(two);
	ck_assert_ptr_ne(one, two);
	ck_assert_ptr_null(nc_realloc(one, 0));
	nc_free(two);
	nc_free(NULL);
	ck_assert_uint_eq(nc_usable_size(NULL), 0);
	one = nc_realloc(NULL, 0);
	ck_assert_ptr_nonnull(one);
	nc_free(one);
	one = nc_calloc(0, 0);
	ck_assert_ptr_nonnull(one);
	nc_free(one);
}
END_TEST

START_TEST(too_large_requests_change_nothing)
{
	const size_t huge[] = { PTRDIFF_MAX,     (size_t)PTRDIFF_MAX + 1,
		                SIZE_MAX,        SIZE_MAX - 4,
		                SIZE_MAX - 4096, SIZE_MAX / 2 - 65536 };
	void *block = filled(1000);

	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		errno = 0;
		ck_assert_ptr_null(nc_malloc(huge[i]));
		ck_assert_int_eq(errno, ENOMEM);
		errno = 0;
		ck_assert_ptr_null(nc_realloc(block, huge[i]));
		ck_assert_int_eq(errno, ENOMEM);
		errno = 0;
		ck_assert_ptr_null(nc_calloc(huge[i], 1));
		ck_assert_int_eq(errno, ENOMEM);
		errno = 0;
		ck_assert_ptr_null(nc_memalign(4096, huge[i]));
		ck_assert_int_eq(errno, ENOMEM);
		assert_filled(block, 1000);
	}
	errno = 0;
	ck_assert_ptr_null(nc_calloc(SIZE_MAX / 2, 3));
	ck_assert_int_eq(errno, ENOMEM);
	nc_free(block);
}
END_TEST

START_TEST(memalign_aligns)
{
	for (size_t align = 1; align <= (size_t)1 << 20; align *= 2)
		for (size_t i = 0; i < SIZES; i++) {
			void *block = nc_memalign(align, sizes[i]);

			ck_assert_ptr_nonnull(block);
			ck_assert_uint_eq((uintptr_t)block % align, 0);
			ck_assert_uint_ge(nc_usable_size(block), sizes[i]);
			memset(block, 1, sizes[i]);
			nc_free(block);
		}
}
END_TEST

START_TEST(free_keeps_errno)
{
	for (size_t i = 0; i < SIZES; i++) {
		void *block = nc_malloc(sizes[i]);

		errno = 4321;
		nc_free(block);
		ck_assert_int_eq(errno, 4321);
	}
}
END_TEST

START_TEST(sized_frees_take_what_was_asked_for)
{
	for (size_t i = 0; i < SIZES; i++) {
		nc_free_sized(nc_malloc(sizes[i]), sizes[i]);
		nc_free_sized(nc_calloc(1, sizes[i]), sizes[i]);
		for (size_t align = 1; align <= 65536; align *= 2)
			nc_free_aligned_sized(nc_memalign(align, sizes[i]), align,
			                      sizes[i]);
	}
	nc_free_sized(NULL, 10);
	nc_free_aligned_sized(NULL, 64, 10);
}
END_TEST

START_TEST(wrong_pointers_are_reported_and_change_nothing)
{
	unsigned char *block = filled(48);

	unit_expect_reports();
	nc_free(block + 8);
	unit_assert_reported("invalid-pointer");
	ck_assert_ptr_null(nc_realloc(block + 1, 100));
	unit_assert_reported("invalid-pointer");
	nc_usable_size(block + 16);
	unit_assert_reported("invalid-pointer");
	nc_free((void *)(uintptr_t)8);
	unit_assert_reported("invalid-pointer");
	assert_filled(block, 48);
	nc_free(block);
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

START_TEST(freed_blocks_are_reported)
{
	void *block = nc_malloc(48), *other = nc_malloc(48);

	nc_free(block);
	unit_expect_reports();
	nc_free(block);
	unit_assert_reported("double-free");
	ck_assert_ptr_null(nc_realloc(block, 100));
	unit_assert_reported("use-after-free");
	nc_usable_size(block);
	unit_assert_reported("use-after-free");
	nc_free(other);
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

/* Whether the block is freed all the same is not promised. */
START_TEST(wrong_sizes_and_overflows_are_reported)
{
	unsigned char *block = nc_malloc(48);

	unit_expect_reports();
	nc_free_sized(nc_malloc(48), 4000);
	unit_assert_reported("size-mismatch");
	nc_free_aligned_sized(nc_memalign(64, 48), 64, 4000);
	unit_assert_reported("size-mismatch");
	block[nc_usable_size(block)]++;
	nc_free(block);
	unit_assert_reported("overflow");
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, blocks_are_aligned_and_as_large_as_asked);
	UNIT_ADD(suite, live_blocks_do_not_overlap);
	UNIT_ADD(suite, calloc_gives_zeros_on_reused_memory);
	UNIT_ADD(suite, realloc_keeps_contents);
	UNIT_ADD(suite, growing_by_little_moves_seldom);
	UNIT_ADD(suite, sizes_after_growth);
	UNIT_ADD(suite, zero_sizes_behave_as_in_glibc);
	UNIT_ADD(suite, too_large_requests_change_nothing);
	UNIT_ADD(suite, memalign_aligns);
	UNIT_ADD(suite, free_keeps_errno);
	UNIT_ADD(suite, sized_frees_take_what_was_asked_for);
	UNIT_ADD(suite, wrong_pointers_are_reported_and_change_nothing);
	UNIT_ADD(suite, freed_blocks_are_reported);
	UNIT_ADD(suite, wrong_sizes_and_overflows_are_reported);
}

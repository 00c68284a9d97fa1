/* Arenas: runs of slices, their guards, what is kept and what is given back. */
#include "unit.h"

#include <sys/mman.h>

#include "arena.h"
#include "meta.h"

#define RUNS 300

static struct nc_arena_figures figures(void)
{
	struct nc_arena_figures out;

	nc_lock_take(&nc_core_lock);
	nc_arena_figures_locked(&out);
	nc_lock_give(&nc_core_lock);
	return out;
}

/* Without the guard at its end. */
static size_t usable_bytes(size_t count)
{
	return count * NC_SLICE_BYTES - (NC_GUARD ? nc_os_page : 0);
}

START_TEST(runs_are_aligned_and_apart)
{
	static uint8_t *runs[RUNS];
	struct nc_run_state state;

	nc_port_init();
	for (size_t i = 0; i < RUNS; i++) {
		size_t count = i % 7 + 1;

		runs[i] = nc_arena_take(count, &state);
		ck_assert_ptr_nonnull(runs[i]);
		ck_assert_uint_eq((uintptr_t)runs[i] % NC_SLICE_BYTES, 0);
		for (size_t k = 0; k < usable_bytes(count); k += 4096)
			runs[i][k] = (uint8_t)(i % 255 + 1);
	}
	for (size_t i = 0; i < RUNS; i++) {
		for (size_t k = 0; k < usable_bytes(i % 7 + 1); k += 4096)
			if (runs[i][k] != i % 255 + 1)
				ck_abort_msg("run %zu overlaps another", i);
		nc_arena_give(runs[i], i % 7 + 1, true);
	}
	ck_assert_uint_eq(figures().used_bytes, 0);
}
END_TEST

START_TEST(zero_means_zero)
{
	struct nc_run_state state;

	nc_port_init();
	for (int round = 0; round < 500; round++) {
		size_t count = (size_t)(round * 7 % 40 + 1);
		uint8_t *run = nc_arena_take(count, &state);

		ck_assert_ptr_nonnull(run);
		for (size_t k = 0; state.zero && k < usable_bytes(count); k += 512)
			if (run[k])
				ck_abort_msg(
					"byte %zu of a run that reads as zero is not", k);
		memset(run, 0xa5, usable_bytes(count));
		nc_arena_give(run, count, true);
		if (round % 100 == 99)
			nc_arena_trim();
	}
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
	static void *runs[RUNS];
	struct nc_run_state state;

	nc_port_init();
	for (size_t i = 0; i < RUNS; i++) {
		runs[i] = nc_arena_take(4, &state);
		memset(runs[i], 1, usable_bytes(4));
	}
	ck_assert_uint_eq(figures().used_bytes, RUNS * 4 * NC_SLICE_BYTES);
	for (size_t i = 0; i < RUNS; i++) {
		nc_arena_give(runs[i], 4, true);
		struct nc_arena_figures now = figures();
		ck_assert_uint_le(now.dirty_bytes,
		                  NC_DIRTY_MIN_BYTES +
		                          (now.used_bytes >> NC_DIRTY_SHIFT) +
		                          4 * NC_SLICE_BYTES);
	}
	nc_arena_trim();
	ck_assert_uint_eq(figures().dirty_bytes, 0);
}
END_TEST

/* Takes runs for `bytes` and gives them back; returns what is kept then. */
static size_t wave(size_t bytes)
{
	static void *runs[RUNS * 4];
	size_t count = bytes / (4 * NC_SLICE_BYTES);
	struct nc_run_state state;

	for (size_t i = 0; i < count; i++)
		memset(runs[i] = nc_arena_take(4, &state), 1, usable_bytes(4));
	for (size_t i = 0; i < count; i++)
		nc_arena_give(runs[i], 4, true);
	return figures().dirty_bytes;
}

START_TEST(what_is_missed_is_kept)
{
	size_t small = NC_DIRTY_MIN_BYTES * 2, kept = 0;

	nc_port_init();
	ck_assert_uint_le(wave(small), NC_DIRTY_MIN_BYTES);
	for (int i = 0; i < 30; i++)
		kept = wave(small);
	/* All of it: the next wave needs nothing new. */
	ck_assert_uint_ge(kept, small - 4 * NC_SLICE_BYTES);
	/* More than that is never needed, however large the waves become. */
	for (int i = 0; i < 30; i++)
		kept = wave(NC_DIRTY_EXTRA_BYTES * 2);
	ck_assert_uint_le(kept, NC_DIRTY_MIN_BYTES + NC_DIRTY_EXTRA_BYTES);
	/* Who is told to trim forgets. */
	nc_arena_trim();
	ck_assert_uint_eq(figures().dirty_bytes, 0);
	ck_assert_uint_le(wave(small), NC_DIRTY_MIN_BYTES);
}
END_TEST

START_TEST(a_run_gets_longer_while_the_slices_behind_it_are_free)
{
	struct nc_run_state state;
	bool guarded;

	nc_port_init();
	/* Behind one another: nothing was given back yet. */
	uint8_t *run = nc_arena_take(2, &state);
	uint8_t *between = nc_arena_take(3, &state);
	uint8_t *behind = nc_arena_take(1, &state);
	ck_assert_ptr_eq(between, run + 2 * NC_SLICE_BYTES);
	ck_assert_ptr_eq(behind, run + 5 * NC_SLICE_BYTES);
	memset(run, 1, usable_bytes(2));
	ck_assert(!nc_arena_extend(run, 2, 1, &guarded));
	nc_arena_give(between, 3, true);
	size_t used = figures().used_bytes;
	ck_assert(!nc_arena_extend(run, 2, 4, &guarded));
	ck_assert_uint_eq(figures().used_bytes, used);
	ck_assert(nc_arena_extend(run, 2, 1, &guarded));
	ck_assert(nc_arena_extend(run, 3, 2, &guarded));
	ck_assert_uint_eq(figures().used_bytes, used + 3 * NC_SLICE_BYTES);
	for (size_t i = 0; i < usable_bytes(2); i++)
		if (run[i] != 1)
			ck_abort_msg("byte %zu changed", i);
	memset(run, 2, usable_bytes(5));
	ck_assert(!nc_arena_extend(run, 5, 1, &guarded));
	nc_arena_give(run, 5, true);
	nc_arena_give(behind, 1, true);
	ck_assert_uint_eq(figures().used_bytes, 0);
	run = nc_arena_take(1, &state);
	ck_assert(!nc_arena_extend(run, 1, figures().reserved_bytes, &guarded));
	nc_arena_give(run, 1, true);
}
END_TEST

/* A long run that no stretch of resident slices can hold lies where most of it is. */
START_TEST(long_runs_lie_on_resident_slices)
{
	struct nc_run_state state;

	nc_port_init();
	uint8_t *run = nc_arena_take(30, &state);
	memset(run, 1, usable_bytes(30));
	nc_arena_give(run, 30, true);
	ck_assert_uint_eq(figures().dirty_bytes, 30 * NC_SLICE_BYTES);
	uint8_t *longer = nc_arena_take(40, &state);
	ck_assert_ptr_eq(longer, run);
	ck_assert(!state.zero);
	ck_assert_uint_eq(figures().dirty_bytes, 0);
	nc_arena_give(longer, 40, true);
}
END_TEST

START_TEST(the_map_follows_a_run)
{
	struct nc_run_state state;
	static int page, left;
	uint8_t *run;

	nc_port_init();
	run = nc_arena_take(3, &state);
	nc_arena_publish(run, 3, &page);
	ck_assert_ptr_eq(nc_pagemap_find(run), &page);
	ck_assert_ptr_eq(nc_pagemap_find(run + 3 * NC_SLICE_BYTES - 1), &page);
	nc_arena_publish(run, 3, &left);
	nc_arena_give(run, 3, true);
	ck_assert_ptr_eq(nc_pagemap_find(run + NC_SLICE_BYTES), &left);
}
END_TEST

static size_t visited;

static void count_visit(void *page, void *with)
{
	ck_assert_ptr_eq(with, &visited);
	ck_assert_ptr_nonnull(page);
	visited++;
}

START_TEST(the_walk_sees_each_run_once)
{
	static int pages[20];
	struct nc_run_state state;

	nc_port_init();
	for (size_t i = 0; i < 20; i++)
		nc_arena_publish(nc_arena_take(i % 3 + 1, &state), i % 3 + 1, &pages[i]);
	nc_lock_take(&nc_core_lock);
	nc_arena_walk_locked(count_visit, &visited);
	nc_lock_give(&nc_core_lock);
	ck_assert_uint_eq(visited, 20);
}
END_TEST

/* A run that is larger than any step the arenas grow by. */
START_TEST(a_huge_run_gets_an_arena)
{
	struct nc_run_state state;
	size_t count = NC_ARENA_MIN_BYTES * 3 / NC_SLICE_BYTES;
	uint8_t *run;

	nc_port_init();
	run = nc_arena_take(count, &state);
	ck_assert_ptr_nonnull(run);
	run[0] = run[usable_bytes(count) - 1] = 1;
	nc_arena_give(run, count, true);
	ck_assert_ptr_null(nc_arena_take((size_t)1 << 40, &state));
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, runs_are_aligned_and_apart);
	UNIT_ADD(suite, zero_means_zero);
	UNIT_ADD(suite, what_is_kept_is_bounded);
	UNIT_ADD(suite, what_is_missed_is_kept);
	UNIT_ADD(suite, a_run_gets_longer_while_the_slices_behind_it_are_free);
	UNIT_ADD(suite, long_runs_lie_on_resident_slices);
	UNIT_ADD(suite, the_map_follows_a_run);
	UNIT_ADD(suite, the_walk_sees_each_run_once);
	UNIT_ADD(suite, a_huge_run_gets_an_arena);
}

/* Frees by other threads, one kind of page's owner after the other: what becomes
 * of the block and the page, and that a second free is reported in each. */
#include "unit.h"

#include <pthread.h>

#include "api.h"
#include "heap.h"
#include "nacre.h"

#define COUNT 600 /* of 1000 bytes: some pages */

static void *blocks[COUNT];

static void *free_one(void *block)
{
	nc_free(block);
	return NULL;
}

static void free_elsewhere(void *block)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, free_one, block), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static void *make_all(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < COUNT; i++)
		blocks[i] = nc_malloc(1000);
	return NULL;
}

static void *free_all(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < COUNT; i++)
		nc_free(blocks[i]);
	return NULL;
}

static void run_thread(void *(*work)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static uintptr_t kind_of(const void *block)
{
	return nc_page_find(block)->x_owner & NC_OWNER_KINDS;
}

static bool is_claimed(const void *block)
{
	const struct nc_page *page = nc_page_find(block);

	return nc_page_is_claimed(page, nc_page_index(page, block));
}

/* The first block whose page is of the kind. */
static void *block_of_kind(uintptr_t kind)
{
	for (size_t i = 0; i < COUNT; i++)
		if (kind_of(blocks[i]) == kind)
			return blocks[i];
	ck_abort_msg("no page of kind %zu", (size_t)kind);
}

static size_t live_blocks(void)
{
	struct nacre_stats out;

	ck_assert_int_eq(nacre_get_stats(&out, sizeof out), 0);
	return out.live_blocks;
}

static void expect_double_free_by_all(void *block)
{
	unit_expect_reports();
	nc_free(block);
	unit_assert_reported("double-free");
	free_elsewhere(block);
	unit_assert_reported("double-free");
	ck_assert_ptr_null(nc_realloc(block, 2000));
	unit_assert_reported("use-after-free");
}

START_TEST(in_an_owned_page)
{
	void *block = nc_malloc(1000), *other = nc_malloc(1000);

	ck_assert_uint_eq(kind_of(block), NC_OWNED);
	free_elsewhere(block);
	ck_assert_uint_eq(kind_of(block), NC_NOTED);
	ck_assert(is_claimed(block));
	ck_assert_uint_eq(live_blocks(), 1);
	expect_double_free_by_all(block);
	/* The owner's frees in a page with a note are slow, and right. */
	nc_free(other);
	ck_assert_uint_eq(unit_reports, 0);
	ck_assert_uint_eq(live_blocks(), 0);
	expect_double_free_by_all(other);
}
END_TEST

START_TEST(in_a_parked_page)
{
	void *block;

	make_all(NULL);
	block = block_of_kind(NC_PARKED);
	free_elsewhere(block);
	ck_assert_uint_eq(kind_of(block), NC_PENDING);
	ck_assert(is_claimed(block));
	expect_double_free_by_all(block);
	nc_heap_drain(nc_heap_of_word(nc_port_self_get()));
	ck_assert_uint_eq(kind_of(block), NC_OWNED);
	ck_assert(!is_claimed(block));
	expect_double_free_by_all(block);
	nacre_check_heap();
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

/* The owner frees in a parked page, with and without another's claim there. */
START_TEST(by_the_owner_in_a_parked_page)
{
	for (int with_claim = 0; with_claim < 2; with_claim++) {
		struct nc_page *page;
		void *first, *second = NULL;

		make_all(NULL);
		first = block_of_kind(NC_PARKED);
		page = nc_page_find(first);
		for (size_t i = 0; i < COUNT; i++)
			if (nc_page_find(blocks[i]) == page && blocks[i] != first)
				second = blocks[i];
		ck_assert_ptr_nonnull(second);
		if (with_claim)
			free_elsewhere(first);
		nc_free(second);
		nacre_check_heap();
		expect_double_free_by_all(second);
		if (with_claim)
			expect_double_free_by_all(first);
		else
			nc_free(first);
		ck_assert_uint_eq(unit_reports, 0);
		for (size_t i = 0; i < COUNT; i++)
			if (blocks[i] != first && blocks[i] != second)
				nc_free(blocks[i]);
		ck_assert_uint_eq(unit_reports, 0);
		ck_assert_uint_eq(live_blocks(), 0);
		nacre_check_heap();
	}
}
END_TEST

START_TEST(in_an_abandoned_page)
{
	void *block;

	nc_free(nc_malloc(1));
	run_thread(make_all);
	block = block_of_kind(NC_ABANDONED);
	nc_free(block);
	ck_assert_uint_eq(kind_of(block), NC_ABANDONED);
	ck_assert(is_claimed(block));
	expect_double_free_by_all(block);
	ck_assert_uint_eq(live_blocks(), COUNT - 1);
	/* The page finds an owner, and the block is found free. */
	for (size_t i = 0; i < COUNT && is_claimed(block); i++)
		nc_malloc(1000);
	ck_assert(!is_claimed(block));
}
END_TEST

START_TEST(the_last_free_of_a_pending_page_gives_it_back)
{
	struct nc_page *page;
	size_t freed = 0;
	void *last;

	make_all(NULL);
	last = block_of_kind(NC_PARKED);
	page = nc_page_find(last);
	for (size_t i = 0; i < COUNT; i++)
		if (nc_page_find(blocks[i]) == page) {
			free_elsewhere(blocks[i]);
			freed++;
		}
	ck_assert_uint_gt(freed, 10);
	ck_assert_ptr_eq(nc_page_find(last), &nc_page_freed);
	ck_assert_uint_eq(live_blocks(), COUNT - freed);
	unit_expect_reports();
	nc_free(last);
	unit_assert_reported("double-free");
	nc_heap_drain(nc_heap_of_word(nc_port_self_get()));
	nacre_check_heap();
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

START_TEST(the_last_free_of_an_abandoned_page_gives_it_back)
{
	nc_free(nc_malloc(1));
	run_thread(make_all);
	run_thread(free_all);
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_ptr_eq(nc_page_find(blocks[i]), &nc_page_freed);
	ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(of_large_blocks)
{
	for (size_t bytes = 100000; bytes < (size_t)50 << 20; bytes *= 7) {
		void *block = nc_malloc(bytes);

		unit_expect_reports();
		free_elsewhere(block);
		ck_assert_uint_eq(unit_reports, 0);
		ck_assert_uint_eq(live_blocks(), 0);
		nc_free(block);
		unit_assert_reported("double-free");
		free_elsewhere(block);
		unit_assert_reported("double-free");
	}
}
END_TEST

START_TEST(with_a_canary_crossed)
{
	unsigned char *block = nc_malloc(1000);

	if (!NC_CANARY)
		return;
	block[nc_usable_size(block)]++;
	unit_expect_reports();
	free_elsewhere(block);
	ck_assert_str_eq(unit_kind, "overflow");
	ck_assert_uint_eq(unit_reports, 1);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, in_an_owned_page);
	UNIT_ADD(suite, in_a_parked_page);
	UNIT_ADD(suite, by_the_owner_in_a_parked_page);
	UNIT_ADD(suite, in_an_abandoned_page);
	UNIT_ADD(suite, the_last_free_of_a_pending_page_gives_it_back);
	UNIT_ADD(suite, the_last_free_of_an_abandoned_page_gives_it_back);
	UNIT_ADD(suite, of_large_blocks);
	UNIT_ADD(suite, with_a_canary_crossed);
}

/* Heaps: which page serves a class, full and empty pages, and what happens to a
 * page that others free in. */
#include "unit.h"

#include <pthread.h>

#include "api.h"
#include "heap.h"
#include "nacre.h"

static struct nc_heap *own_heap(void)
{
	nc_free(nc_malloc(1));
	return nc_heap_of_word(nc_port_self_get());
}

static struct nacre_stats stats(void)
{
	struct nacre_stats out;

	ck_assert_int_eq(nacre_get_stats(&out, sizeof out), 0);
	return out;
}

static size_t list_length(const struct nc_page *page)
{
	size_t n = 0;

	for (; page; page = page->next)
		n++;
	return n;
}

static void run_thread(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

#define BLOCKS 4000 /* of 1000 bytes: many pages */
static void *blocks[BLOCKS];

static void fill_pages(void)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = nc_malloc(1000);
		ck_assert_ptr_nonnull(blocks[i]);
	}
}

static void *free_all(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < BLOCKS; i++)
		nc_free(blocks[i]);
	return NULL;
}

static void *free_odd(void *unused)
{
	(void)unused;
	for (size_t i = 1; i < BLOCKS; i += 2)
		nc_free(blocks[i]);
	return NULL;
}

START_TEST(a_heap_has_a_current_page_a_class)
{
	struct nc_heap *heap = own_heap();

	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		size_t bytes = nc_class_bytes(c);
		void *block = nc_malloc(bytes - NC_CANARY_BYTES);
		struct nc_page *page = nc_page_find(block);

		ck_assert_ptr_eq(heap->pages[c], page);
		ck_assert(page->current);
		ck_assert_uint_eq(page->block_bytes, bytes);
		if (bytes <= NC_DIRECT_BYTES)
			ck_assert_ptr_eq(heap->direct[bytes / NC_GRAIN], page);
		nc_free(block);
	}
	ck_assert_uint_gt(nc_heap_check(heap), 0);
}
END_TEST

START_TEST(full_pages_are_parked_and_come_back)
{
	struct nc_heap *heap = own_heap();
	unsigned c = nc_class_of(1000 + NC_CANARY_BYTES);

	fill_pages();
	ck_assert_uint_gt(list_length(heap->parked), BLOCKS / 64 - 2);
	nc_heap_check(heap);
	free_odd(NULL);
	ck_assert_uint_gt(list_length(heap->avail[c]), 10);
	nc_heap_check(heap);
	for (size_t i = 1; i < BLOCKS; i += 2)
		blocks[i] = nc_malloc(1000);
	nc_heap_check(heap);
	free_all(NULL);
	nc_heap_check(heap);
	ck_assert_uint_eq(list_length(heap->parked), 0);
}
END_TEST

/* Holes are used before new pages are. */
START_TEST(freed_blocks_are_reused)
{
	size_t before;

	fill_pages();
	before = stats().page_bytes;
	for (int round = 0; round < 20; round++) {
		free_odd(NULL);
		for (size_t i = 1; i < BLOCKS; i += 2)
			blocks[i] = nc_malloc(1000);
	}
	ck_assert_uint_le(stats().page_bytes, before + before / 10);
	free_all(NULL);
}
END_TEST

START_TEST(empty_pages_are_given_back)
{
	size_t full;

	fill_pages();
	full = stats().page_bytes;
	ck_assert_uint_ge(full, BLOCKS * 1000);
	free_all(NULL);
	ck_assert_uint_le(stats().page_bytes, NC_HEAP_EMPTY_BYTES + 4 * NC_SLICE_BYTES);
	nc_heap_trim(own_heap());
	ck_assert_uint_le(stats().page_bytes, 4 * NC_SLICE_BYTES);
	ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(what_others_free_is_collected)
{
	size_t before = stats().live_blocks;
	size_t pages;

	fill_pages();
	pages = stats().page_bytes;
	run_thread(free_odd, NULL);
	ck_assert_uint_eq(stats().live_blocks, before + BLOCKS / 2);
	for (size_t i = 1; i < BLOCKS; i += 2)
		blocks[i] = nc_malloc(1000);
	nc_heap_check(own_heap());
	ck_assert_uint_le(stats().page_bytes, pages + pages / 10);
	free_all(NULL);
	ck_assert_uint_eq(stats().live_blocks, before);
}
END_TEST

/* A thread that only frees gives memory back without the owner's doing. */
START_TEST(a_freeing_thread_gives_pages_back)
{
	size_t full;

	fill_pages();
	full = stats().page_bytes;
	run_thread(free_all, NULL);
	ck_assert_uint_le(stats().page_bytes, full / 8);
	nc_heap_drain(own_heap());
	nc_heap_check(own_heap());
}
END_TEST

START_TEST(the_claims_of_a_full_page_bring_it_to_the_inbox)
{
	struct nc_heap *heap = own_heap();
	struct nc_page *page;

	fill_pages();
	page = heap->parked;
	ck_assert_ptr_nonnull(page);
	for (size_t i = 0; i < BLOCKS; i++)
		if (nc_page_find(blocks[i]) == page) {
			blocks[0] = blocks[i];
			break;
		}
	run_thread((void *(*)(void *))(void (*)(void))nc_free, blocks[0]);
	ck_assert_uint_eq(page->x_owner & NC_OWNER_KINDS, NC_PENDING);
	ck_assert_uint_eq(heap->x_inbox, (uintptr_t)page);
	nc_heap_drain(heap);
	ck_assert_uint_eq(heap->x_inbox, 0);
	ck_assert_uint_eq(page->x_owner, nc_heap_word(heap) | NC_OWNED);
	nc_heap_check(heap);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, a_heap_has_a_current_page_a_class);
	UNIT_ADD(suite, full_pages_are_parked_and_come_back);
	UNIT_ADD(suite, freed_blocks_are_reused);
	UNIT_ADD(suite, empty_pages_are_given_back);
	UNIT_ADD(suite, what_others_free_is_collected);
	UNIT_ADD(suite, a_freeing_thread_gives_pages_back);
	UNIT_ADD(suite, the_claims_of_a_full_page_bring_it_to_the_inbox);
}

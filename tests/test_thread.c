/* Threads: a heap's way from its first thread to the next, abandoned pages, and
 * fork. */
#include "unit.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "nacre.h"
#include "port_hooks.h"
#include "thread.h"

#define BLOCKS 3000

static void *blocks[BLOCKS];

static struct nacre_stats stats(void)
{
	struct nacre_stats out;

	ck_assert_int_eq(nacre_get_stats(&out, sizeof out), 0);
	return out;
}

static void run_thread(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static void *make_blocks(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = nc_malloc(i % 1500);
	return NULL;
}

static void *free_blocks(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < BLOCKS; i++)
		nc_free(blocks[i]);
	return NULL;
}

static void *note_heap(void *out)
{
	nc_free(nc_malloc(10));
	*(uintptr_t *)out = nc_port_self_get();
	return NULL;
}

START_TEST(each_thread_has_a_heap_of_its_own)
{
	uintptr_t other = 0;

	ck_assert_uint_eq(nc_port_self_get(), 0);
	nc_free(nc_malloc(10));
	ck_assert_uint_ne(nc_port_self_get(), 0);
	run_thread(note_heap, &other);
	ck_assert_uint_ne(other, 0);
	ck_assert_uint_ne(other, nc_port_self_get());
}
END_TEST

START_TEST(a_heap_serves_the_next_thread)
{
	uintptr_t first = 0, second = 0;
	size_t heaps;

	nc_free(nc_malloc(10));
	heaps = stats().heaps;
	run_thread(note_heap, &first);
	run_thread(note_heap, &second);
	ck_assert_uint_eq(first, second);
	ck_assert_uint_eq(stats().heaps, heaps);
}
END_TEST

START_TEST(pages_of_an_ended_thread_are_adopted)
{
	size_t bytes;

	nc_free(nc_malloc(10));
	run_thread(make_blocks, NULL);
	bytes = stats().page_bytes;
	ck_assert_uint_eq(stats().live_blocks, BLOCKS);
	for (size_t i = 0; i < BLOCKS; i += 2)
		nc_free(blocks[i]);
	for (size_t i = 0; i < BLOCKS; i += 2)
		blocks[i] = nc_malloc(i % 1500);
	ck_assert_uint_le(stats().page_bytes, bytes + bytes / 4);
	nacre_check_heap();
	free_blocks(NULL);
	ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(pages_of_an_ended_thread_are_given_back_by_who_frees)
{
	nc_free(nc_malloc(10));
	run_thread(make_blocks, NULL);
	run_thread(free_blocks, NULL);
	ck_assert_uint_eq(stats().live_blocks, 0);
	ck_assert_uint_eq(stats().remote_blocks, 0);
	ck_assert_uint_le(stats().page_bytes, 4 * NC_SLICE_BYTES);
}
END_TEST

static void *take_one(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		ck_assert_ptr_nonnull(nc_malloc(40));
	size_t parked = 0;
	for (struct nc_page *page = nc_heap_of_word(nc_port_self_get())->parked; page;
	     page = page->next)
		parked++;
	ck_assert_uint_le(parked, 2);
	return NULL;
}

static void *make_many(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < 100000; i++)
		ck_assert_ptr_nonnull(nc_malloc(40));
	return NULL;
}

/* Full pages of an ended thread are no burden for the next ones. */
START_TEST(full_pages_are_not_taken_over)
{
	nc_free(nc_malloc(10));
	run_thread(make_many, NULL);
	run_thread(take_one, NULL);
	run_thread(take_one, NULL);
}
END_TEST

static void *from_destructor;

static void allocate_late(void *unused)
{
	(void)unused;
	/* More rounds than POSIX promises go by in a real exit; a direct call of
	 * the hand-over leaves the thread past its end at once. */
	for (int i = 0; i < 6; i++)
		nc_heap_thread_exit(nc_port_self_get());
	from_destructor = nc_malloc(100);
	nc_free(nc_malloc(200000));
	nc_free(nc_malloc(48));
}

static void *end_early(void *own)
{
	nc_free(own);
	own = nc_malloc(50);
	allocate_late(NULL);
	nc_free(own);
	return NULL;
}

/* Blocks asked for and freed after the hand-over are still served. */
START_TEST(a_thread_past_its_exit_is_served)
{
	void *block = nc_malloc(70);

	run_thread(end_early, block);
	ck_assert_ptr_nonnull(from_destructor);
	memset(from_destructor, 1, 100);
	nc_free(from_destructor);
	ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

static int stop;

static void *churn(void *unused)
{
	void *own[50] = { NULL };

	(void)unused;
	for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		nc_free(own[i % 50]);
		own[i % 50] = nc_malloc(i % 2000);
	}
	for (size_t i = 0; i < 50; i++)
		nc_free(own[i]);
	return NULL;
}

static void child(void)
{
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < BLOCKS; i++) {
			nc_free(blocks[i]);
			blocks[i] = nc_malloc((i + (size_t)round) % 1500);
		}
		if (!nacre_check_heap())
			_exit(2);
	}
	_exit(0);
}

/* The other threads are gone in the child; their pages are found again. */
START_TEST(a_forked_child_is_sound)
{
	pthread_t threads[2];

	make_blocks(NULL);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (int i = 0; i < unit_rounds(50); i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			child();
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	free_blocks(NULL);
	ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, each_thread_has_a_heap_of_its_own);
	UNIT_ADD(suite, a_heap_serves_the_next_thread);
	UNIT_ADD(suite, pages_of_an_ended_thread_are_adopted);
	UNIT_ADD(suite, pages_of_an_ended_thread_are_given_back_by_who_frees);
	UNIT_ADD(suite, full_pages_are_not_taken_over);
	UNIT_ADD(suite, a_thread_past_its_exit_is_served);
	UNIT_ADD(suite, a_forked_child_is_sound);
}

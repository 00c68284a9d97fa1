/* The contract with the host. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "port.h"

static uint8_t *map(size_t pages)
{
	uint8_t *p;

	nc_port_init();
	p = nc_port_map(pages * nc_os_page);
	ck_assert_ptr_nonnull(p);
	return p;
}

static void assert_zero(const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			ck_abort_msg("byte %zu is %d", i, p[i]);
}

START_TEST(the_page_size_is_the_systems)
{
	nc_port_init();
	ck_assert_uint_eq(nc_os_page, (size_t)sysconf(_SC_PAGESIZE));
	nc_port_init();
	ck_assert_uint_eq(nc_os_page, (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(maps_are_zero_and_low)
{
	uint8_t *p = map(10);

	ck_assert_uint_lt((uintptr_t)p, (uintptr_t)1 << NC_ADDR_BITS);
	ck_assert_uint_eq((uintptr_t)p % nc_os_page, 0);
	assert_zero(p, 10 * nc_os_page);
	memset(p, 1, 10 * nc_os_page);
	ck_assert(nc_port_unmap(p, 10 * nc_os_page));
	ck_assert_ptr_null(nc_port_map((size_t)1 << 62));
}
END_TEST

START_TEST(purged_memory_reads_as_zero)
{
	uint8_t *p = map(4);

	memset(p, 1, 4 * nc_os_page);
	ck_assert(nc_port_purge(p + nc_os_page, 2 * nc_os_page));
	assert_zero(p + nc_os_page, 2 * nc_os_page);
	ck_assert_int_eq(p[0], 1);
	ck_assert_int_eq(p[3 * nc_os_page], 1);
	p[nc_os_page] = 2;
}
END_TEST

START_TEST(guards_come_and_go)
{
	uint8_t *p = map(3);
	enum nc_guard kind;

	memset(p, 1, 3 * nc_os_page);
	kind = nc_port_guard(p + nc_os_page, nc_os_page);
	ck_assert_int_ne(kind, NC_GUARD_NONE);
	p[0] = p[2 * nc_os_page] = 2;
	ck_assert(nc_port_unguard(p + nc_os_page, nc_os_page, kind));
	p[nc_os_page] = 3;
	ck_assert_int_eq(p[0], 2);
	ck_assert_uint_eq(nc_port_guards_dropped(), 0);
}
END_TEST

START_TEST(a_guard_stops_a_write)
{
	uint8_t *p = map(3);

	ck_assert_int_ne(nc_port_guard(p + nc_os_page, nc_os_page), NC_GUARD_NONE);
	*(volatile uint8_t *)(p + nc_os_page) = 1;
}
END_TEST

START_TEST(a_guard_stops_a_read)
{
	uint8_t *p = map(3);

	ck_assert_int_ne(nc_port_guard(p + nc_os_page, nc_os_page), NC_GUARD_NONE);
	if (*(volatile uint8_t *)(p + nc_os_page))
		_exit(3);
}
END_TEST

/* Or stay, where the system refuses (valgrind does). */
START_TEST(pages_move_with_their_contents)
{
	uint8_t *from = map(5), *to = map(8);

	memset(from, 7, 5 * nc_os_page);
	memset(to, 1, 8 * nc_os_page);
	bool moved = nc_port_move(from, 5 * nc_os_page, to, 8 * nc_os_page);
	for (size_t i = 0; i < 5 * nc_os_page; i++)
		ck_assert_int_eq((moved ? to : from)[i], 7);
	to[8 * nc_os_page - 1] = 2;
}
END_TEST

START_TEST(entropy_differs)
{
	uint8_t one[32] = { 0 }, two[32] = { 0 };

	nc_port_init();
	nc_port_entropy(one, sizeof one);
	nc_port_entropy(two, sizeof two);
	ck_assert_mem_ne(one, two, sizeof one);
}
END_TEST

static struct nc_lock lock;
static size_t counter;

static void *count(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100000; i++) {
		nc_lock_take(&lock);
		counter++;
		nc_lock_give(&lock);
	}
	return NULL;
}

START_TEST(the_lock_excludes)
{
	pthread_t threads[4];

	nc_port_init();
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(counter, 400000);
	ck_assert_uint_eq(lock.x_state, 0);
}
END_TEST

static void *own_word(void *out)
{
	*(uintptr_t *)out = nc_port_self_get();
	nc_port_self_set(5);
	return NULL;
}

START_TEST(each_thread_has_its_word)
{
	uintptr_t other = 99;
	pthread_t thread;

	nc_port_self_set(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, own_word, &other), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(other, 0);
	ck_assert_uint_eq(nc_port_self_get(), 0);
}
END_TEST

START_TEST(writing_writes_all)
{
	static char text[50000], back[50000];
	size_t done = 0;
	int ends[2];

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i % 127);
	ck_assert_int_eq(pipe(ends), 0);
	nc_port_write(ends[1], text, sizeof text);
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], back + done, sizeof back - done)) > 0;)
		done += (size_t)n;
	ck_assert_uint_eq(done, sizeof text);
	ck_assert_mem_eq(back, text, sizeof text);
	nc_port_write(-1, text, 10); /* nothing happens */
}
END_TEST

START_TEST(abort_cannot_be_ignored)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGABRT, SIG_IGN);
	nc_port_abort();
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, the_page_size_is_the_systems);
	UNIT_ADD(suite, maps_are_zero_and_low);
	UNIT_ADD(suite, purged_memory_reads_as_zero);
	UNIT_ADD(suite, guards_come_and_go);
	UNIT_ADD(suite, pages_move_with_their_contents);
	UNIT_ADD(suite, entropy_differs);
	UNIT_ADD(suite, the_lock_excludes);
	UNIT_ADD(suite, each_thread_has_its_word);
	UNIT_ADD(suite, writing_writes_all);
	if (unit_forks()) {
		TCase *deaths = tcase_create("deaths");

		tcase_add_test_raise_signal(deaths, a_guard_stops_a_write, SIGSEGV);
		tcase_add_test_raise_signal(deaths, a_guard_stops_a_read, SIGSEGV);
		tcase_add_test_raise_signal(deaths, abort_cannot_be_ignored, SIGABRT);
		suite_add_tcase(suite, deaths);
	}
}

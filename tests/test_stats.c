/* Statistics, and the public functions beside the C library's. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "api.h"
#include "nacre.h"
#include "sizeclass.h"

static struct nacre_stats stats(void)
{
	struct nacre_stats out;

	ck_assert_int_eq(nacre_get_stats(&out, sizeof out), 0);
	return out;
}

START_TEST(nothing_is_live_at_first)
{
	struct nacre_stats now = stats();

	ck_assert_uint_eq(now.live_blocks, 0);
	ck_assert_uint_eq(now.live_bytes, 0);
	ck_assert_uint_eq(now.heaps, 0);
	ck_assert_uint_eq(now.guards_dropped, 0);
}
END_TEST

START_TEST(figures_are_exact)
{
	static const size_t sizes[] = { 1, 48, 1000, 30000, 65000, 100000, 3 << 20 };
	void *blocks[7];
	size_t bytes = 0, large = 0;

	for (size_t i = 0; i < 7; i++) {
		blocks[i] = nc_malloc(sizes[i]);
		if (sizes[i] > NC_SMALL_BYTES)
			large += nc_large_bytes(sizes[i] + NC_CANARY_BYTES);
		else
			bytes += nc_class_bytes(nc_class_of(sizes[i] + NC_CANARY_BYTES));
		ck_assert_uint_eq(stats().live_blocks, i + 1);
		ck_assert_uint_eq(stats().live_bytes, bytes + large);
		ck_assert_uint_eq(stats().large_bytes, large);
	}
	ck_assert_uint_eq(stats().heaps, 1);
	ck_assert_uint_ge(stats().reserved_bytes, stats().page_bytes + large);
	ck_assert_uint_gt(stats().metadata_bytes, 0);
	for (size_t i = 0; i < 7; i++)
		nc_free(blocks[i]);
	ck_assert_uint_eq(stats().live_blocks, 0);
	ck_assert_uint_eq(stats().live_bytes, 0);
	ck_assert_uint_gt(stats().cached_bytes, 0);
	nc_trim();
	ck_assert_uint_eq(stats().cached_bytes, 0);
}
END_TEST

static void *free_it(void *block)
{
	nc_free(block);
	return NULL;
}

START_TEST(remote_frees_are_counted_until_collected)
{
	void *block = nc_malloc(48), *other = nc_malloc(48);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, free_it, block), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(stats().remote_blocks, 1);
	ck_assert_uint_eq(stats().live_blocks, 1);
	for (size_t i = 0; i < 10000 && stats().remote_blocks; i++)
		nc_malloc(48);
	ck_assert_uint_eq(stats().remote_blocks, 0);
	nc_free(other);
}
END_TEST

START_TEST(a_caller_of_an_older_library_gets_less)
{
	struct nacre_stats out;

	memset(&out, 0xee, sizeof out);
	ck_assert_int_eq(nacre_get_stats(&out, sizeof(size_t)), 0);
	ck_assert_uint_eq(out.reserved_bytes, stats().reserved_bytes);
	ck_assert_uint_eq(out.metadata_bytes, (size_t)-1 / 255 * 0xee);
	errno = 0;
	ck_assert_int_eq(nacre_get_stats(&out, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(a_newer_caller_gets_what_there_is)
{
	char room[sizeof(struct nacre_stats) + 64];

	memset(room, 0xee, sizeof room);
	ck_assert_int_eq(nacre_get_stats((struct nacre_stats *)(void *)room, sizeof room),
	                 0);
	ck_assert_int_eq((unsigned char)room[sizeof(struct nacre_stats)], 0xee);
}
END_TEST

START_TEST(the_text_has_every_figure)
{
	char text[2000] = "";
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	nacre_print_stats(ends[1]);
	close(ends[1]);
	ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 100);
	ck_assert_ptr_nonnull(strstr(text, nacre_version()));
	ck_assert_ptr_nonnull(strstr(text, "live blocks"));
	ck_assert_ptr_nonnull(strstr(text, "guards dropped"));
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, nothing_is_live_at_first);
	UNIT_ADD(suite, figures_are_exact);
	UNIT_ADD(suite, remote_frees_are_counted_until_collected);
	UNIT_ADD(suite, a_caller_of_an_older_library_gets_less);
	UNIT_ADD(suite, a_newer_caller_gets_what_there_is);
	UNIT_ADD(suite, the_text_has_every_figure);
}

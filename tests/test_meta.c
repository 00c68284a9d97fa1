/* Memory for descriptions: separate, guarded, never unmapped. */
#include "unit.h"

#include <signal.h>

#include "meta.h"

static void *take(size_t bytes)
{
	void *slot;

	nc_port_init();
	nc_lock_take(&nc_core_lock);
	slot = nc_meta_take_locked(bytes);
	nc_lock_give(&nc_core_lock);
	ck_assert_ptr_nonnull(slot);
	return slot;
}

START_TEST(slots_are_zeroed_aligned_and_apart)
{
	static const size_t sizes[] = { 1,    100,  256,  257,    400,
		                        1000, 4096, 5000, 100000, 400000 };
	static char *slots[200];

	for (size_t i = 0; i < 200; i++) {
		size_t bytes = sizes[i % 10];

		slots[i] = take(bytes);
		ck_assert_uint_eq((uintptr_t)slots[i] % 256, 0);
		for (size_t k = 0; k < bytes; k++)
			if (slots[i][k])
				ck_abort_msg("byte %zu of slot %zu is %d", k, i,
				             slots[i][k]);
		memset(slots[i], (int)i + 1, bytes);
	}
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < sizes[i % 10]; k++)
			if ((unsigned char)slots[i][k] != i + 1)
				ck_abort_msg("slot %zu overlaps another", i);
}
END_TEST

START_TEST(bytes_are_counted)
{
	size_t before;

	take(100);
	before = nc_meta_bytes_locked();
	ck_assert_uint_ge(before, 100);
	for (int i = 0; i < 100; i++)
		take(10000);
	ck_assert_uint_ge(nc_meta_bytes_locked(), 100 * 10000);
}
END_TEST

#if NC_GUARD
/* A write that runs on stops at the area's end. */
START_TEST(an_area_ends_in_a_guard)
{
	volatile char *byte = take(256);

	for (size_t i = 0; i < (size_t)1 << 21; i++)
		byte[i] = 1;
}
END_TEST

START_TEST(an_area_begins_behind_a_guard)
{
	volatile char *byte = take(256);

	for (size_t i = 0; i < (size_t)1 << 21; i++)
		*byte-- = 1;
}
END_TEST
#endif

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, slots_are_zeroed_aligned_and_apart);
	UNIT_ADD(suite, bytes_are_counted);
#if NC_GUARD
	if (unit_forks()) {
		TCase *deaths = tcase_create("deaths");

		tcase_add_test_raise_signal(deaths, an_area_ends_in_a_guard, SIGSEGV);
		tcase_add_test_raise_signal(deaths, an_area_begins_behind_a_guard,
		                            SIGSEGV);
		suite_add_tcase(suite, deaths);
	}
#endif
}

/* Size classes, and the sizes of large blocks. */
#include "unit.h"

#include "port.h"
#include "sizeclass.h"

START_TEST(every_class_is_the_least_that_fits)
{
	for (size_t bytes = 1; bytes <= NC_SMALL_BYTES; bytes++) {
		unsigned c = nc_class_of(bytes);

		if (c >= NC_CLASS_COUNT || nc_class_bytes(c) < bytes ||
		    (c && nc_class_bytes(c - 1) >= bytes))
			ck_abort_msg("%zu bytes are in class %u of %zu", bytes, c,
			             nc_class_bytes(c));
	}
}
END_TEST

START_TEST(classes_grow_in_steps_of_the_grain)
{
	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		ck_assert_uint_eq(nc_class_bytes(c) % NC_GRAIN, 0);
		if (c)
			ck_assert_uint_gt(nc_class_bytes(c), nc_class_bytes(c - 1));
	}
	ck_assert_uint_eq(nc_class_bytes(0), NC_GRAIN);
	ck_assert_uint_eq(nc_class_bytes(NC_CLASS_COUNT - 1), NC_SMALL_BYTES);
	ck_assert_uint_eq(nc_class_bytes(NC_CLASS_DIRECT_COUNT - 1), NC_DIRECT_BYTES);
}
END_TEST

/* At most a quarter is lost above the first classes. */
START_TEST(classes_waste_little)
{
	for (unsigned c = 4; c < NC_CLASS_COUNT; c++)
		ck_assert_uint_le(nc_class_bytes(c), nc_class_bytes(c - 1) * 5 / 4);
}
END_TEST

START_TEST(large_sizes_are_whole_pages)
{
	nc_port_init();
	for (size_t bytes = NC_SMALL_BYTES; bytes < (size_t)1 << 40;
	     bytes += bytes / 3 + 1) {
		size_t whole = nc_large_bytes(bytes);

		ck_assert_uint_ge(whole, bytes);
		ck_assert_uint_eq(whole % nc_os_page, 0);
		ck_assert_uint_le(whole, bytes + bytes / 8 + nc_os_page);
	}
}
END_TEST

START_TEST(too_large_is_zero)
{
	nc_port_init();
	ck_assert_uint_eq(nc_large_bytes((size_t)PTRDIFF_MAX), 0);
	ck_assert_uint_eq(nc_large_bytes((size_t)PTRDIFF_MAX + 1), 0);
	ck_assert_uint_eq(nc_large_bytes(SIZE_MAX), 0);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, every_class_is_the_least_that_fits);
	UNIT_ADD(suite, classes_grow_in_steps_of_the_grain);
	UNIT_ADD(suite, classes_waste_little);
	UNIT_ADD(suite, large_sizes_are_whole_pages);
	UNIT_ADD(suite, too_large_is_zero);
}

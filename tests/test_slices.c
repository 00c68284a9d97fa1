/* The slices of an arena against an array of bytes. */
#include "unit.h"

#include "slices.h"

#define COUNT 150 /* more than two words, and not whole ones */
#define STEPS 20000

enum { TAKEN, CLEAN, DIRTY };

static uintptr_t words[NC_SLICES_MAPS * ((COUNT + 31) / 32)];
static char model[COUNT];

static void start(struct nc_slices *s)
{
	memset(words, 0, sizeof words);
	memset(model, CLEAN, sizeof model);
	nc_slices_init(s, COUNT, words, nc_slices_words(COUNT));
}

static bool is_run(size_t at, size_t count, bool dirty)
{
	for (size_t i = at; i < at + count; i++)
		if (i >= COUNT || model[i] == TAKEN || (dirty && model[i] != DIRTY))
			return false;
	return true;
}

static size_t count_of(size_t at, size_t count, char what)
{
	size_t n = 0;

	for (size_t i = at; i < at + count; i++)
		n += model[i] == what;
	return n;
}

static void check_finds(const struct nc_slices *s, size_t count)
{
	for (int dirty = 0; dirty < 2; dirty++) {
		size_t first = 0, at = nc_slices_find(s, dirty, count);
		while (first < COUNT && !is_run(first, count, dirty))
			first++;
		ck_assert_uint_eq(at, first);
	}
	size_t best = 0, at = COUNT;
	if (nc_slices_find_better(s, count, &best, &at)) {
		ck_assert(is_run(at, count, false));
		ck_assert_uint_eq(count_of(at, count, DIRTY), best);
		ck_assert_uint_gt(best, 0);
	}
}

START_TEST(as_an_array_of_bytes)
{
	struct nc_slices s;

	start(&s);
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		size_t at = (size_t)rand() % COUNT, count = 1 + (size_t)rand() % 9;
		size_t most = (size_t)rand() % 12;

		ck_assert_int_eq(nc_slices_are_free(&s, at, count),
		                 is_run(at, count, false));
		check_finds(&s, count);
		if (is_run(at, count, false)) {
			ck_assert_uint_eq(nc_slices_take(&s, at, count),
			                  count_of(at, count, DIRTY));
			memset(model + at, TAKEN, count);
		} else if (at + count <= COUNT && !count_of(at, count, CLEAN) &&
		           !count_of(at, count, DIRTY)) {
			bool dirty = rand() % 2;
			nc_slices_put(&s, at, count, dirty);
			memset(model + at, dirty ? DIRTY : CLEAN, count);
		} else if (most && step % 7 == 0) {
			size_t n = nc_slices_take_dirty(&s, most, &at);
			ck_assert_uint_le(n, most);
			ck_assert_int_eq(n == 0, count_of(0, COUNT, DIRTY) == 0);
			ck_assert_uint_eq(count_of(at, n, DIRTY), n);
			memset(model + at, TAKEN, n);
		}
		ck_assert_uint_eq(s.dirty_count, count_of(0, COUNT, DIRTY));
		ck_assert_uint_eq(s.free_count, COUNT - count_of(0, COUNT, TAKEN));
	}
}
END_TEST

START_TEST(guards_are_each_slices_own)
{
	struct nc_slices s;

	start(&s);
	for (size_t i = 0; i < COUNT; i++)
		nc_slices_set_guard(&s, i, (enum nc_guard)(i % 3));
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_int_eq(nc_slices_guard(&s, i), (int)(i % 3));
	ck_assert(nc_slices_are_free(&s, 0, COUNT));
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, as_an_array_of_bytes);
	UNIT_ADD(suite, guards_are_each_slices_own);
}

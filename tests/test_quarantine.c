/* The quarantine: who comes in goes out once, not soon, and at no moment to be told. */
#include "unit.h"

#include "mit_quarantine.h"

#define LENGTH 64
#define COUNT 200000

static char blocks[COUNT];
static unsigned gone_at[COUNT];

static struct nc_quarantine *make(void)
{
	static uint64_t memory[2 + 2 * LENGTH];
	struct nc_quarantine *q = (struct nc_quarantine *)memory;

	ck_assert_uint_le(sizeof *q, 2 * sizeof *memory);
	memset(memory, 0, sizeof memory);
	q->mask = LENGTH - 1;
	q->state = 42;
	return q;
}

static void note(void *out, unsigned now)
{
	size_t i = (size_t)((char *)out - blocks);

	ck_assert_uint_lt(i, COUNT);
	ck_assert_uint_eq(gone_at[i], 0);
	gone_at[i] = now;
}

START_TEST(waits_are_long_and_random)
{
	struct nc_quarantine *q = make();
	unsigned long sum = 0;
	unsigned soon = 0, gone = 0;

	memset(gone_at, 0, sizeof gone_at);
	for (unsigned i = 0; i < COUNT; i++) {
		void *out = nc_quarantine_pass(q, 0, &blocks[i]);
		if (out)
			note(out, i + 1);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		if (!gone_at[i])
			continue;
		unsigned wait = gone_at[i] - 1 - i;
		ck_assert_uint_gt(wait, LENGTH);
		soon += wait <= LENGTH + LENGTH / 4;
		sum += wait;
		gone++;
	}
	/* A wait is LENGTH, and a geometric one of that mean: in its first quarter
	 * 22.1 % end. Six deviations either way. */
	ck_assert_uint_gt(gone, COUNT - 100 * LENGTH);
	ck_assert_double_eq_tol((double)sum / gone, 2 * LENGTH, 1);
	ck_assert_double_eq_tol((double)soon / gone, 0.221, 0.006);
}
END_TEST

START_TEST(drained_whole)
{
	struct nc_quarantine *q = make();
	uint32_t from = 0;
	void *out;

	memset(gone_at, 0, sizeof gone_at);
	for (unsigned i = 0; i < 10 * LENGTH; i++)
		if ((out = nc_quarantine_pass(q, 0, &blocks[i])))
			note(out, 1);
	while ((out = nc_quarantine_drain(q, &from)))
		note(out, 1);
	for (unsigned i = 0; i < 10 * LENGTH; i++)
		ck_assert_uint_eq(gone_at[i], 1);
}
END_TEST

START_TEST(lengths_keep_the_budget)
{
	ck_assert_uint_eq(nc_quarantine_length(16, 1 << 20), NC_QUARANTINE_LENGTH_MAX);
	ck_assert_uint_eq(nc_quarantine_length(1024, 64 << 10), 32);
	ck_assert_uint_eq(nc_quarantine_length(32 << 10, 64 << 10), 1);
	ck_assert_uint_eq(nc_quarantine_length((32 << 10) + 16, 64 << 10), 0);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, waits_are_long_and_random);
	UNIT_ADD(suite, drained_whole);
	UNIT_ADD(suite, lengths_keep_the_budget);
}

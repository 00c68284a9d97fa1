/* The random stream. */
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

/* ChaCha8 of an all-zero key, block 0 (draft-strombergson-chacha-test-vectors,
 * TC1, 256-bit key, 8 rounds): the first half of the block becomes the next key,
 * the second half is output. */
START_TEST(the_stream_is_chacha8)
{
	static const uint8_t block[64] = {
		0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8,
		0xe8, 0x1f, 0x09, 0xa5, 0xa1, 0x2c, 0x84, 0x0e, 0xc3, 0xce, 0x9a,
		0x7f, 0x3b, 0x18, 0x1b, 0xe1, 0x88, 0xef, 0x71, 0x1a, 0x1e, 0x98,
		0x4c, 0xe1, 0x72, 0xb9, 0x21, 0x6f, 0x41, 0x9f, 0x44, 0x53, 0x67,
		0x45, 0x6d, 0x56, 0x19, 0x31, 0x4a, 0x42, 0xa3, 0xda, 0x86, 0xb0,
		0x01, 0x38, 0x7b, 0xfd, 0xb8, 0x0e, 0x0c, 0xfe, 0x42,
	};
	const uint8_t *at = block + 32;
	struct nc_random random;

	nc_port_init();
	nc_random_init(&random);
	memset(random.key, 0, sizeof random.key);
	random.at = NC_RANDOM_WORDS;
	for (int i = 0; i < 8; i++, at += 4)
		ck_assert_uint_eq(nc_random_u32(&random), at[0] | (uint32_t)at[1] << 8 |
		                                                  (uint32_t)at[2] << 16 |
		                                                  (uint32_t)at[3] << 24);
	/* The key is stored in the machine's byte order. */
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(random.key[i],
		                  block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
		                          (uint32_t)block[4 * i + 2] << 16 |
		                          (uint32_t)block[4 * i + 3] << 24);
}
END_TEST

START_TEST(states_differ)
{
	struct nc_random one, two;
	unsigned equal = 0;

	nc_port_init();
	nc_random_init(&one);
	nc_random_init(&two);
	for (int n = 0; n < 1000; n++)
		equal += nc_random_u32(&one) == nc_random_u32(&two);
	ck_assert_uint_le(equal, 3);
}
END_TEST

START_TEST(below_is_even)
{
	struct nc_random random;
	unsigned counts[7] = { 0 };

	nc_port_init();
	nc_random_init(&random);
	for (int n = 0; n < 70000; n++) {
		uint32_t draw = nc_random_below(&random, 7);

		ck_assert_uint_lt(draw, 7);
		counts[draw]++;
	}
	for (int i = 0; i < 7; i++) {
		ck_assert_uint_gt(counts[i], 9400);
		ck_assert_uint_lt(counts[i], 10600);
	}
	for (int n = 0; n < 100; n++)
		ck_assert_uint_eq(nc_random_below(&random, 1), 0);
}
END_TEST

START_TEST(bits_are_even)
{
	struct nc_random random;
	unsigned ones[64] = { 0 };

	nc_port_init();
	nc_random_init(&random);
	for (int n = 0; n < 20000; n++) {
		uint64_t draw = nc_random_u64(&random);

		for (int i = 0; i < 64; i++)
			ones[i] += draw >> i & 1;
	}
	for (int i = 0; i < 64; i++) {
		ck_assert_uint_gt(ones[i], 9500);
		ck_assert_uint_lt(ones[i], 10500);
	}
}
END_TEST

/* A copy of the state goes on as the original did, but not after a fork. */
START_TEST(a_fork_keys_anew)
{
	struct nc_random random, copy;

	nc_port_init();
	nc_random_init(&random);
	nc_random_u32(&random);
	copy = random;
	ck_assert_uint_eq(nc_random_u64(&random), nc_random_u64(&copy));
	copy = random;
	nc_port_forked();
	ck_assert_uint_ne(nc_random_u64(&random), nc_random_u64(&copy));
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, the_stream_is_chacha8);
	UNIT_ADD(suite, states_differ);
	UNIT_ADD(suite, below_is_even);
	UNIT_ADD(suite, bits_are_even);
	UNIT_ADD(suite, a_fork_keys_anew);
}

/* Bit counting, rotation, inverses, and the two mitigations that are arithmetic
 * alone: links and canaries. */
#include "unit.h"

#include "bits.h"
#include "mit_canary.h"
#include "mit_link.h"

static uint64_t state = 88172645463325252u;

/* xorshift64, George Marsaglia. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

START_TEST(counts_and_logarithms)
{
	for (unsigned i = 0; i < NC_WORD_BITS; i++) {
		uintptr_t bit = (uintptr_t)1 << i;

		ck_assert_uint_eq(nc_ctz(bit), i);
		ck_assert_uint_eq(nc_log2(bit), i);
		ck_assert_uint_eq(nc_log2(bit | (bit - 1)), i);
		ck_assert_uint_eq(nc_popcount(bit | 1), i ? 2 : 1);
		ck_assert_uint_eq(nc_rotate_right(bit, i), 1);
		ck_assert_uint_eq(nc_rotate_right(1, i),
		                  i ? (uintptr_t)1 << (NC_WORD_BITS - i) : 1);
	}
}
END_TEST

START_TEST(bits_are_set_and_cleared)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < 32; i++) {
		ck_assert(!nc_bit_set(&word, i));
		ck_assert(nc_bit_set(&word, i));
	}
	ck_assert_uint_eq(word, 0xffffffffu);
	for (uint32_t i = 0; i < 32; i += 2) {
		ck_assert(nc_bit_clear(&word, i));
		ck_assert(!nc_bit_clear(&word, i));
	}
	ck_assert_uint_eq(word, 0xaaaaaaaau);
}
END_TEST

START_TEST(inverses_of_odd_numbers)
{
	for (int n = 0; n < 100000; n++) {
		uintptr_t odd = (uintptr_t)next_random() | 1;

		ck_assert_uint_eq(odd * nc_odd_inverse(odd), 1);
	}
}
END_TEST

START_TEST(alignment)
{
	ck_assert_uint_eq(nc_align_up(0, 16), 0);
	ck_assert_uint_eq(nc_align_up(1, 16), 16);
	ck_assert_uint_eq(nc_align_up(16, 16), 16);
	ck_assert_uint_eq(nc_align_down(31, 16), 16);
}
END_TEST

#if NC_LINK_ENCODE
static struct nc_link_keys random_keys(void)
{
	struct nc_link_keys keys;

	keys.mask = (uintptr_t)next_random();
	keys.factor = (uintptr_t)next_random() | 1;
	keys.inverse = nc_odd_inverse(keys.factor);
	return keys;
}

START_TEST(links_decode_to_what_was_encoded)
{
	for (int n = 0; n < 100000; n++) {
		struct nc_link_keys keys = random_keys();
		void *at = (void *)(uintptr_t)(next_random() & 0x7ffffffffff0u);
		uintptr_t ref = (uintptr_t)next_random() & 0xffff;

		ck_assert_uint_eq(nc_link_decode(&keys, at,
		                                 nc_link_encode(&keys, at, ref)),
		                  ref);
	}
}
END_TEST

/* A changed byte or bit, a link of another place, a pointer: all decode to what
 * is no index. By chance one in 2^48 does. */
START_TEST(forged_links_decode_out_of_range)
{
	for (int n = 0; n < 20000; n++) {
		struct nc_link_keys keys = random_keys();
		char *at = (char *)(uintptr_t)(next_random() & 0x7ffffffffff0u);
		uintptr_t ref = (uintptr_t)next_random() & 0xfff;
		uintptr_t link = nc_link_encode(&keys, at, ref);

		for (unsigned bit = 0; bit < NC_WORD_BITS; bit++)
			ck_assert_uint_gt(nc_link_decode(&keys, at,
			                                 link ^ (uintptr_t)1 << bit),
			                  0xffff);
		ck_assert_uint_gt(nc_link_decode(&keys, at, 0), 0xffff);
		ck_assert_uint_gt(nc_link_decode(&keys, at, (uintptr_t)at), 0xffff);
		ck_assert_uint_gt(nc_link_decode(&keys, at + 64, link), 0xffff);
		struct nc_link_keys other = random_keys();
		ck_assert_uint_gt(nc_link_decode(&other, at, link), 0xffff);
	}
}
END_TEST
#endif

START_TEST(canaries_hold_and_notice_each_byte)
{
	static uint8_t block[64] __attribute__((aligned(16)));

	for (int n = 0; n < 10000; n++) {
		uint32_t key = (uint32_t)next_random();

		nc_canary_set(block, sizeof block, key);
		ck_assert(nc_canary_holds(block, sizeof block, key));
		ck_assert_uint_eq(block[60], 0);
		for (size_t i = 60; i < 64; i++) {
			block[i] ^= (uint8_t)(1 << n % 8);
			ck_assert(!nc_canary_holds(block, sizeof block, key));
			block[i] ^= (uint8_t)(1 << n % 8);
		}
	}
}
END_TEST

/* Bound to the page's key and to the block's address. */
START_TEST(canaries_differ)
{
	unsigned equal = 0;

	for (int n = 0; n < 10000; n++) {
		uint32_t key = (uint32_t)next_random(), other = (uint32_t)next_random();
		const char *block =
			(const char *)(uintptr_t)(next_random() & 0x7ffffffffff0u);

		equal += nc_canary_value(block, key) == nc_canary_value(block, other);
		equal += nc_canary_value(block, key) == nc_canary_value(block + 64, key);
	}
	ck_assert_uint_le(equal, 20);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, counts_and_logarithms);
	UNIT_ADD(suite, bits_are_set_and_cleared);
	UNIT_ADD(suite, inverses_of_odd_numbers);
	UNIT_ADD(suite, alignment);
#if NC_LINK_ENCODE
	UNIT_ADD(suite, links_decode_to_what_was_encoded);
	UNIT_ADD(suite, forged_links_decode_out_of_range);
#endif
	UNIT_ADD(suite, canaries_hold_and_notice_each_byte);
	UNIT_ADD(suite, canaries_differ);
}

/* The exact canary: every byte between the size asked for and the block's end.
 *
 *     | the program's | 0 | filler ... | length, 3 bytes |
 *
 * The bytes are bound to the block's address and to a key of its page. No byte of the
 * filler is zero and only its first neighbour is, so a changed length never finds a
 * zero where it leads to: any change of any byte is noticed
 * (docs/mitigations/slack.md). Blocks are multiples of NC_GRAIN bytes and lie at such.
 */
#ifndef NC_MIT_SLACK_H
#define NC_MIT_SLACK_H

#include "base.h"

#define NC_SLACK_BROKEN SIZE_MAX
#define NC_SLACK_LENGTH_SHIFT 40

/* Sixteen bytes; as words the first in memory is lowest. */
typedef uint64_t nc_slack_t __attribute__((vector_size(16), may_alias));
typedef nc_slack_t nc_slack_any_t __attribute__((aligned(1)));

/* At byte n begin sixteen of which the last n are set. */
static const uint8_t nc_slack_masks[32] __attribute__((unused)) = {
	0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
	0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

NC_INLINE nc_slack_t nc_slack_mask(size_t n)
{
	return *(const nc_slack_any_t *)(nc_slack_masks + n);
}

NC_INLINE uint64_t nc_slack_word(uint64_t x)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

NC_INLINE uint64_t nc_slack_filler(const void *block, uint64_t key)
{
	return ((uintptr_t)block ^ key) | 0x0101010101010101u;
}

/* The block's last sixteen bytes, of which `tail` or all are slack. */
NC_INLINE nc_slack_t nc_slack_last(uint64_t filler, size_t tail)
{
	uint64_t last = filler ^ (uint64_t)tail << NC_SLACK_LENGTH_SHIFT;

	return (nc_slack_t){ nc_slack_word(filler), nc_slack_word(last) };
}

/* Fill what lies behind `requested` bytes; at least 4 do. What lies before them in the
 * same sixteen becomes zero, unless `keep`. */
NC_INLINE void nc_slack_set(uint8_t *block, size_t block_bytes, size_t requested,
                            uint64_t key, bool keep)
{
	size_t tail = block_bytes - requested;
	uint64_t filler = nc_slack_filler(block, key);
	nc_slack_t word = nc_slack_last(filler, tail);
	nc_slack_t *p = (nc_slack_t *)(block + block_bytes) - 1;

	for (; tail > 16; tail -= 16) {
		*p-- = word;
		word[1] = word[0];
	}
	word &= nc_slack_mask(tail - 1);
	if (keep)
		word |= *p & ~nc_slack_mask(tail);
	*p = word;
}

/* Whether nothing changed; *out is the length of what lies behind the bytes asked for. */
NC_INLINE bool nc_slack_holds(const uint8_t *block, size_t block_bytes, uint64_t key,
                              size_t *out)
{
	const nc_slack_t *p = (const nc_slack_t *)(block + block_bytes) - 1;
	uint64_t filler = nc_slack_filler(block, key);
	uint64_t length = nc_slack_word(((const nc_word64_t *)p)[1]) ^ filler;
	size_t tail = (size_t)(length >> NC_SLACK_LENGTH_SHIFT), rest = tail - 1;
	nc_slack_t word = nc_slack_last(filler, tail), wrong = { 0 };

	*out = tail;
	if (NC_UNLIKELY(rest >= block_bytes))
		return false;
	for (; rest >= 16; rest -= 16) {
		wrong |= *p-- ^ word;
		word[1] = word[0];
	}
	wrong |= (*p & nc_slack_mask(rest + 1)) ^ (word & nc_slack_mask(rest));
	return NC_LIKELY(!(wrong[0] | wrong[1]));
}

/* The same where each sixteen bytes may be zero still, as while malloc fills them. */
NC_INLINE bool nc_slack_may_hold(const uint8_t *block, size_t block_bytes, uint64_t key)
{
	const uint8_t *end = block + block_bytes;
	uint64_t filler = nc_slack_filler(block, key),
		 last = ((const nc_word64_t *)end)[-1];
	size_t tail = (size_t)((nc_slack_word(last) ^ filler) >> NC_SLACK_LENGTH_SHIFT);
	nc_slack_t words = nc_slack_last(filler, tail);
	bool full = true, zero = true;

	if (!last)
		return true;
	if (tail - 1 >= block_bytes)
		return false;
	for (size_t d = 1; d <= tail; d++) {
		full &= end[-d] ==
		        (d < tail ? ((const uint8_t *)&words)[15 - (d - 1) % 16] : 0);
		zero &= !end[-d];
		if (d % 16 && d < tail)
			continue;
		if (!full && !zero)
			return false;
		full = zero = true;
		words[1] = words[0];
	}
	return true;
}

/* The bytes that were asked for; NC_SLACK_BROKEN when any behind them changed. */
NC_INLINE size_t nc_slack_requested(const uint8_t *block, size_t block_bytes,
                                    uint64_t key)
{
	size_t tail;

	return nc_slack_holds(block, block_bytes, key, &tail) ? block_bytes - tail
	                                                      : NC_SLACK_BROKEN;
}

#endif

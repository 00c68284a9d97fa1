/* The exact canary: every byte between the size asked for and the block's end.
 *
 *     | the program's | 0 | filler ... | length, 3 bytes |
 *
 * The bytes are bound to the block's address and to the key of its page. No byte of
 * the filler is zero and only its first neighbour is, so a changed length never
 * finds a zero where it leads to: any change of any byte is noticed
 * (docs/mitigations/slack.md).
 */
#ifndef NC_MIT_SLACK_H
#define NC_MIT_SLACK_H

#include "base.h"

#define NC_SLACK_BROKEN SIZE_MAX
#define NC_SLACK_LENGTH_SHIFT 40

/* Eight bytes, the first in memory lowest. */
NC_INLINE uint64_t nc_slack_load(const uint8_t *p)
{
	uint64_t x = *(const nc_u64_any_t *)p;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

NC_INLINE void nc_slack_store(uint8_t *p, uint64_t x)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	*(nc_u64_any_t *)p = x;
}

NC_INLINE uint64_t nc_slack_filler(const void *block, uint32_t key)
{
	uint64_t x = ((uintptr_t)block ^ (uint64_t)key << 13) * 0x9e3779b97f4a7c15u;

	return (x ^ x >> 32) | 0x0101010101010101u;
}

/* Of a word whose last `tail` bytes (1 to 8) are slack: those but the first. */
NC_INLINE uint64_t nc_slack_mask(size_t tail)
{
	return UINT64_MAX << (64 - 8 * tail) << 8; /* 64 at once would be undefined */
}

/* Fill what lies behind `requested` bytes; at least 4 do. */
NC_INLINE void nc_slack_set(uint8_t *block, size_t block_bytes, size_t requested,
                            uint32_t key)
{
	uint64_t filler = nc_slack_filler(block, key);
	size_t tail = block_bytes - requested;
	uint64_t word = filler ^ (uint64_t)tail << NC_SLACK_LENGTH_SHIFT;
	uint8_t *p = block + block_bytes - 8;

	for (; tail > 8; tail -= 8, p -= 8, word = filler)
		nc_slack_store(p, word);
	uint64_t kept = nc_slack_load(p) & (((uint64_t)1 << (64 - 8 * tail)) - 1);
	nc_slack_store(p, (word & nc_slack_mask(tail)) | kept);
}

/* The bytes that were asked for; NC_SLACK_BROKEN when any behind them changed. */
NC_INLINE size_t nc_slack_requested(const uint8_t *block, size_t block_bytes, uint32_t key)
{
	uint64_t filler = nc_slack_filler(block, key);
	const uint8_t *p = block + block_bytes - 8;
	size_t tail = (size_t)((nc_slack_load(p) ^ filler) >> NC_SLACK_LENGTH_SHIFT);
	size_t requested = block_bytes - tail;
	uint64_t word = filler ^ (uint64_t)tail << NC_SLACK_LENGTH_SHIFT;

	if (NC_UNLIKELY(tail > block_bytes || tail < 4))
		return NC_SLACK_BROKEN;
	for (; tail > 8; tail -= 8, p -= 8, word = filler) {
		if (NC_UNLIKELY(nc_slack_load(p) != word))
			return NC_SLACK_BROKEN;
	}
	/* The first of the tail's bytes is compared with zero, those before it
	 * are shifted out. */
	if (NC_UNLIKELY((nc_slack_load(p) ^ (word & nc_slack_mask(tail))) >> (64 - 8 * tail)))
		return NC_SLACK_BROKEN;
	return requested;
}

#endif

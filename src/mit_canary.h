/* The end canary: four bytes at a block's end, bound to its address and to the
 * key of its page. The lowest byte in memory is zero, so that a string that
 * runs to the block's end stops before the rest (docs/mitigations/canary.md).
 */
#ifndef NC_MIT_CANARY_H
#define NC_MIT_CANARY_H

#include "base.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NC_CANARY_MASK 0x00ffffffu
#else
#define NC_CANARY_MASK 0xffffff00u
#endif

NC_INLINE uint32_t nc_canary_value(const void *block, uint32_t key)
{
	return ((uint32_t)(uintptr_t)block ^ key) * 0x9e3779b1u & NC_CANARY_MASK;
}

NC_INLINE void nc_canary_set(uint8_t *block, size_t block_bytes, uint32_t key)
{
	*(nc_u32_any_t *)(block + block_bytes - 4) = nc_canary_value(block, key);
}

NC_INLINE bool nc_canary_holds(const uint8_t *block, size_t block_bytes, uint32_t key)
{
	return *(const nc_u32_any_t *)(block + block_bytes - 4) ==
	       nc_canary_value(block, key);
}

#endif

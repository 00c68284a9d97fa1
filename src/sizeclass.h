/* Size classes: block sizes that pages are made for.
 *
 * Steps of 16 bytes to 256, eight a doubling to 1 KiB, four a doubling to
 * 64 KiB. All sizes here are block sizes, canary included.
 * Invariants: nc_class_bytes(nc_class_of(b)) >= b, and it is the least such.
 */
#ifndef NC_SIZECLASS_H
#define NC_SIZECLASS_H

#include "bits.h"

#define NC_CLASS_COUNT 56
#define NC_CLASS_DIRECT_COUNT 32 /* classes of blocks up to NC_DIRECT_BYTES */

/* 1 <= bytes <= NC_SMALL_BYTES. */
NC_INLINE unsigned nc_class_of(size_t bytes)
{
	size_t last = bytes - 1;

	if (bytes <= 256)
		return (unsigned)(last / NC_GRAIN);
	unsigned log = nc_log2(last);
	if (bytes <= NC_DIRECT_BYTES)
		return 16 + (log - 8) * 8 + (unsigned)(last >> (log - 3)) - 8;
	return 32 + (log - 10) * 4 + (unsigned)(last >> (log - 2)) - 4;
}

NC_INLINE size_t nc_class_bytes(unsigned class_idx)
{
	if (class_idx < 16)
		return (class_idx + 1) * (size_t)NC_GRAIN;
	if (class_idx < 32)
		return (size_t)(class_idx % 8 + 9) << ((class_idx - 16) / 8 + 5);
	return (size_t)(class_idx % 4 + 5) << ((class_idx - 32) / 4 + 8);
}

/* Block size of a large block: its bytes, rounded up to an eighth of its
 * power of two and to pages of the system, so that it grows in place at times;
 * 0 when it is too large for any address space. */
size_t nc_large_bytes(size_t bytes);

#endif

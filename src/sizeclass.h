/* Size classes: block sizes that pages are made for.
 *
 * Steps of 16 bytes to 256, eight a doubling to 1 KiB, then four a doubling and
 * one of 16 bytes above each power of two: requests for 4096 bytes and the like
 * are common, and a canary comes on top. Sizes here are block sizes, canary
 * included.
 * Invariants: nc_class_bytes(nc_class_of(b)) >= b, and it is the least such.
 */
#ifndef NC_SIZECLASS_H
#define NC_SIZECLASS_H

#include "bits.h"

#define NC_CLASS_COUNT 63
#define NC_CLASS_DIRECT_COUNT 33 /* classes of blocks up to NC_DIRECT_BYTES */

/* 1 <= bytes <= NC_SMALL_BYTES. */
NC_INLINE unsigned nc_class_of(size_t bytes)
{
	size_t last = bytes - 1;

	if (bytes <= 256)
		return (unsigned)(last / NC_GRAIN);
	unsigned log = nc_log2(last);
	if (bytes <= 1024)
		return 16 + (log - 8) * 8 + (unsigned)(last >> (log - 3)) - 8;
	if (bytes <= ((size_t)1 << log) + NC_GRAIN)
		return 32 + (log - 10) * 5;
	return 33 + (log - 10) * 5 + (unsigned)(last >> (log - 2)) - 4;
}

NC_INLINE size_t nc_class_bytes(unsigned class_idx)
{
	if (class_idx < 16)
		return (class_idx + 1) * (size_t)NC_GRAIN;
	if (class_idx < 32)
		return (size_t)(class_idx % 8 + 9) << ((class_idx - 16) / 8 + 5);
	unsigned log = 10 + (class_idx - 32) / 5, step = (class_idx - 32) % 5;
	return step ? (size_t)(step + 4) << (log - 2) : ((size_t)1 << log) + NC_GRAIN;
}

/* Block size of a large block: its bytes, rounded up to an eighth of its
 * power of two and to pages of the system, so that it grows in place at times;
 * 0 when it is too large for any address space. */
size_t nc_large_bytes(size_t bytes);

#endif

/* Size classes: block sizes that pages are made for.
 *
 * Steps of 16 bytes to 256, eight a doubling to 8 KiB, four a doubling to 64
 * KiB; and from 1 KiB on a class 16 bytes above each power of two, since
 * requests for 4096 bytes and the like are common and a canary comes on top.
 * Sizes here are block sizes, canary included.
 * Invariants: nc_class_bytes(nc_class_of(b)) >= b, and it is the least such.
 */
#ifndef NC_SIZECLASS_H
#define NC_SIZECLASS_H

#include "bits.h"

#define NC_CLASS_COUNT 75
/* What has no blocks of a class: */
#define NC_CLASS_LARGE NC_CLASS_COUNT
#define NC_CLASS_ZERO (NC_CLASS_COUNT + 1)
#define NC_CLASS_DIRECT_COUNT 33 /* classes of blocks up to NC_DIRECT_BYTES */

/* From here on: first class of the doubling after 2^log, and its steps. */
#define NC_CLASS_FINE_LOG 10
#define NC_CLASS_COARSE_LOG 13
NC_INLINE unsigned nc_class_base(unsigned log)
{
	return log < NC_CLASS_COARSE_LOG ? 32 + (log - NC_CLASS_FINE_LOG) * 9
	                                 : 59 + (log - NC_CLASS_COARSE_LOG) * 5;
}

NC_INLINE unsigned nc_class_step_log(unsigned log)
{
	return log < NC_CLASS_COARSE_LOG ? 3 : 2;
}

/* 1 <= bytes <= NC_SMALL_BYTES. */
NC_INLINE unsigned nc_class_of(size_t bytes)
{
	size_t last = bytes - 1;

	if (bytes <= 256)
		return (unsigned)(last / NC_GRAIN);
	unsigned log = nc_log2(last);
	if (log < NC_CLASS_FINE_LOG)
		return 16 + (log - 8) * 8 + (unsigned)(last >> (log - 3)) - 8;
	unsigned base = nc_class_base(log), step_log = nc_class_step_log(log);
	if (bytes <= ((size_t)1 << log) + NC_GRAIN)
		return base;
	return base + 1 + (unsigned)(last >> (log - step_log)) - (1u << step_log);
}

NC_INLINE size_t nc_class_bytes(unsigned class_idx)
{
	if (class_idx < 16)
		return (class_idx + 1) * (size_t)NC_GRAIN;
	if (class_idx < 32)
		return (size_t)(class_idx % 8 + 9) << ((class_idx - 16) / 8 + 5);
	unsigned log = class_idx < 59 ? NC_CLASS_FINE_LOG + (class_idx - 32) / 9
	                              : NC_CLASS_COARSE_LOG + (class_idx - 59) / 5;
	unsigned step = class_idx - nc_class_base(log), step_log = nc_class_step_log(log);
	return step ? (size_t)(step + (1u << step_log)) << (log - step_log)
	            : ((size_t)1 << log) + NC_GRAIN;
}

/* Block size of a large block: its bytes, rounded up to an eighth of its
 * power of two and to pages of the system, so that it grows in place at times (with
 * NC_SLACK, which writes all behind the bytes, to pages alone); 0 when it is too large for any address space. */
size_t nc_large_bytes(size_t bytes);

#endif

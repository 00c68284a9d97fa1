/* Bit counting and rotation for words of pointer size. */
#ifndef NC_BITS_H
#define NC_BITS_H

#include "base.h"

#define NC_WORD_BITS ((unsigned)(8 * sizeof(uintptr_t)))

/* x is not 0. */
NC_INLINE unsigned nc_ctz(uintptr_t x)
{
	return sizeof(x) == 8 ? (unsigned)__builtin_ctzll(x) : (unsigned)__builtin_ctz((unsigned)x);
}

/* x is not 0; index of the highest bit. */
NC_INLINE unsigned nc_log2(uintptr_t x)
{
	return sizeof(x) == 8 ? 63u - (unsigned)__builtin_clzll(x)
	                      : 31u - (unsigned)__builtin_clz((unsigned)x);
}

NC_INLINE unsigned nc_popcount(uintptr_t x)
{
	return (unsigned)__builtin_popcountll(x);
}

NC_INLINE uintptr_t nc_rotate_right(uintptr_t x, unsigned n)
{
	return x >> (n & (NC_WORD_BITS - 1)) | x << (-n & (NC_WORD_BITS - 1));
}

/* The inverse of an odd number modulo the word, by Newton's iteration: each
 * step doubles the number of right bits, from 3. */
NC_INLINE uintptr_t nc_odd_inverse(uintptr_t odd)
{
	uintptr_t inv = odd;

	for (int i = 0; i < 5; i++)
		inv *= 2 - odd * inv;
	return inv;
}

#endif

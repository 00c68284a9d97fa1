/* Bit counting and rotation for words of pointer size. */
#ifndef NC_BITS_H
#define NC_BITS_H

#include "base.h"

#define NC_WORD_BITS ((unsigned)(8 * sizeof(uintptr_t)))

/* x is not 0. */
NC_INLINE unsigned nc_ctz(uintptr_t x)
{
	return sizeof(x) == 8 ? (unsigned)__builtin_ctzll(x)
	                      : (unsigned)__builtin_ctz((unsigned)x);
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

/* Set or clear bit i of *word, i below 32; the bit as it was. On x86 the
 * compiler does not find the one instruction that does both. */
NC_INLINE bool nc_bit_set(uint32_t *word, uint32_t i)
{
	bool was;

#if defined(__x86_64__) || defined(__i386__)
	__asm__("btsl %2, %0" : "+r"(*word), "=@ccc"(was) : "r"(i) : "cc");
#else
	was = *word >> i & 1;
	*word |= (uint32_t)1 << i;
#endif
	return was;
}

NC_INLINE bool nc_bit_clear(uint32_t *word, uint32_t i)
{
	bool was;

#if defined(__x86_64__) || defined(__i386__)
	__asm__("btrl %2, %0" : "+r"(*word), "=@ccc"(was) : "r"(i) : "cc");
#else
	was = *word >> i & 1;
	*word &= ~((uint32_t)1 << i);
#endif
	return was;
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

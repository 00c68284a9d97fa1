/* Freed blocks are zero, and are looked at when they are handed out again
 * (docs/mitigations/wipe.md). Blocks are multiples of NC_GRAIN bytes and lie at such.
 */
#ifndef NC_MIT_WIPE_H
#define NC_MIT_WIPE_H

#include "base.h"

/* What the baseline of each processor does in one step, or in a few. */
typedef uintptr_t nc_vector_t __attribute__((vector_size(NC_GRAIN), may_alias));

NC_INLINE void nc_wipe(void *block, size_t bytes)
{
	nc_vector_t *p = block, *end = (nc_vector_t *)((char *)block + bytes);
	const nc_vector_t zero = { 0 };

	if (bytes & sizeof *p)
		*p++ = zero;
	if (bytes & 2 * sizeof *p) {
		p[0] = p[1] = zero;
		p += 2;
	}
	for (; p < end; p += 4)
		p[0] = p[1] = p[2] = p[3] = zero;
}

/* Whether all but the first word is zero. */
NC_INLINE bool nc_wipe_holds(const void *block, size_t bytes)
{
	const nc_vector_t *p = block;
	const nc_vector_t *end = (const nc_vector_t *)((const char *)block + bytes);
	size_t rest = bytes - sizeof *p;
	nc_vector_t any = *p++, more = { 0 };

	any[0] = 0;
	if (rest & sizeof *p)
		more = *p++;
	if (rest & 2 * sizeof *p) {
		any |= p[0];
		more |= p[1];
		p += 2;
	}
	for (; p < end; p += 4) {
		any |= p[0] | p[2];
		more |= p[1] | p[3];
	}
	any |= more;
	uintptr_t word = 0;
	for (size_t i = 0; i < sizeof any / sizeof word; i++)
		word |= any[i];
	return !word;
}

#endif

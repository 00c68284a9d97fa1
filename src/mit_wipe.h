/* Freed blocks are zero, and are looked at when they are handed out again
 * (docs/mitigations/wipe.md). Blocks are multiples of NC_GRAIN bytes and lie at such.
 */
#ifndef NC_MIT_WIPE_H
#define NC_MIT_WIPE_H

#include "base.h"

/* What the baseline of each processor does in one step, or in a few. */
typedef unsigned long long nc_vector_t
	__attribute__((vector_size(NC_GRAIN), may_alias));

NC_INLINE void nc_wipe(void *block, size_t bytes)
{
	nc_vector_t *p = block, *end = (nc_vector_t *)((char *)block + bytes);
	const nc_vector_t zero = { 0 };

	for (; (size_t)((char *)end - (char *)p) >= 4 * sizeof *p; p += 4)
		p[0] = p[1] = p[2] = p[3] = zero;
	for (; p < end; p++)
		*p = zero;
}

/* Whether all is zero. */
NC_INLINE bool nc_wipe_holds(const void *block, size_t bytes)
{
	const nc_vector_t *p = block;
	const nc_vector_t *end = (const nc_vector_t *)((const char *)block + bytes);
	nc_vector_t any = { 0 };

	for (; (size_t)((const char *)end - (const char *)p) >= 4 * sizeof *p; p += 4)
		any |= p[0] | p[1] | p[2] | p[3];
	for (; p < end; p++)
		any |= *p;
	return !(any[0] | any[1]);
}

/* Where the first byte lies that is not zero, and behind the last such; 0 and 0 when
 * there is none. */
void nc_wipe_find(const void *block, size_t bytes, size_t *from, size_t *to);

#endif

/* Freed blocks wait before they are used again: each takes a random place, and who was
 * there waits on in a queue (docs/mitigations/quarantine.md).
 */
#ifndef NC_MIT_QUARANTINE_H
#define NC_MIT_QUARANTINE_H

#include "base.h"

/* Places of either part. */
#define NC_QUARANTINE_LENGTH_MAX 64

struct nc_quarantine {
	uint64_t state; /* chooses the place */
	uint32_t mask;  /* places of either part, a power of two, less one */
	uint32_t at;    /* the queue's oldest */
	void *places[]; /* the random part, then the queue */
};

/* Blocks of this size that either part holds, within a budget for both; 0: none. */
NC_INLINE uint32_t nc_quarantine_length(size_t block_bytes, size_t budget)
{
	uint32_t length = NC_QUARANTINE_LENGTH_MAX;

	while (length && length * block_bytes > budget / 2)
		length /= 2;
	return length;
}

NC_INLINE void *nc_quarantine_exchange(void **place, void *block)
{
	void *out = *place;

	*place = block;
	return out;
}

/* One block comes, one goes; NULL is none. Any of the random bits are new now and then. */
NC_INLINE void *nc_quarantine_pass(struct nc_quarantine *q, uint64_t random, void *block)
{
	uint32_t at = q->at;

	/* Knuth's generator, whose high bits are the good ones. */
	q->state = (q->state ^ random) * 6364136223846793005u + 1442695040888963407u;
	block = nc_quarantine_exchange(&q->places[(q->state >> 48) & q->mask], block);
	q->at = (at + 1) & q->mask;
	return nc_quarantine_exchange(&q->places[q->mask + 1 + at], block);
}

NC_INLINE void nc_quarantine_forget(struct nc_quarantine *q)
{
	__builtin_memset(q->places, 0, 2 * (q->mask + 1) * sizeof *q->places);
}

/* Any block of it; NULL: it is empty. *from goes up to its places. */
NC_INLINE void *nc_quarantine_drain(struct nc_quarantine *q, uint32_t *from)
{
	void *out = NULL;

	while (!out && *from < 2 * (q->mask + 1))
		out = nc_quarantine_exchange(&q->places[(*from)++], NULL);
	return out;
}

#endif

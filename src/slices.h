/* The slices of one arena: which are free, which of those are resident (dirty), and which
 * end in a guard.
 *
 * Owns: the bit maps and their counts. Does not own: addresses, memory, and how much of it
 * stays resident.
 * Locks: nc_core_lock is the caller's; a guard's bits belong to whoever has the slice.
 */
#ifndef NC_SLICES_H
#define NC_SLICES_H

#include "port.h"

struct nc_slices {
	size_t count, free_count;
	size_t dirty_count; /* of the free ones */
	size_t word_count;  /* of each bit map */
	uintptr_t *free, *dirty;
	/* Slices that end in a guard, and in one that is a mapping; written without
	 * the lock. */
	uintptr_t *x_guarded, *x_mapped;
};

#define NC_SLICES_MAPS 4
/* Words of each bit map for so many slices. */
size_t nc_slices_words(size_t count);
/* All free, none dirty; words are NC_SLICES_MAPS * word_count, zero. */
void nc_slices_init(struct nc_slices *s, size_t count, uintptr_t *words,
                    size_t word_count);

/* Whether all of them are free. */
bool nc_slices_are_free(const struct nc_slices *s, size_t at, size_t count);
/* The first run of count slices that are free (and dirty, if asked); s->count: none. */
size_t nc_slices_find(const struct nc_slices *s, bool dirty, size_t count);
/* A free run of count slices of which more than *best are resident. False: none. */
bool nc_slices_find_better(const struct nc_slices *s, size_t count, size_t *best,
                           size_t *at);
/* Free ones are taken; returns how many of them were dirty. */
size_t nc_slices_take(struct nc_slices *s, size_t at, size_t count);
/* A run of at most `most` dirty ones is taken; its count, 0 if there are none. */
size_t nc_slices_take_dirty(struct nc_slices *s, size_t most, size_t *at);
/* Taken ones are free. */
void nc_slices_put(struct nc_slices *s, size_t at, size_t count, bool dirty);

/* Any thread, for a slice that is its own. */
enum nc_guard nc_slices_guard(const struct nc_slices *s, size_t i);
void nc_slices_set_guard(const struct nc_slices *s, size_t i, enum nc_guard kind);

#endif

/* Arenas: address space in slices, taken and given back in runs.
 *
 * Owns: the slices, which of them are resident (dirty) and which end in a
 * guard. Does not own: what lies in a run that is taken.
 * Locks: nc_core_lock inside; callers hold nothing. System calls are made
 * after it is let go.
 * Invariant: dirty bytes kept for reuse <= NC_DIRTY_MIN_BYTES + slices in use
 * >> NC_DIRTY_SHIFT + what was learnt to be missed, NC_DIRTY_EXTRA_BYTES at most;
 * what would go past it is given to the system at once. And while there are many, what
 * is in use and they together do not grow.
 */
#ifndef NC_ARENA_H
#define NC_ARENA_H

#include "pagemap.h"

struct nc_run_state {
	bool zero;    /* it reads as zero */
	bool guarded; /* its last system page is a guard */
};
/* Must be called before the first description is taken; more often is cheap. */
void nc_arena_init(void);
/* A run of count slices that ends in a guard (where the system gives one), or
 * NULL. */
void *nc_arena_take(size_t count, struct nc_run_state *state);
/* Make a run of count slices longer by those behind it, if they are free. False:
 * nothing changed. *guarded tells of its new last page. */
bool nc_arena_extend(void *run, size_t count, size_t more, bool *guarded);
/* The last system page of a slice of a run that is about to be given back becomes a
 * guard, until the slice is taken again. */
void nc_arena_seal(void *slice);
/* Give a whole run back, which reads as zero if it is not dirty. Nothing may refer to
 * it; its entries in the page map stay as they are. */
void nc_arena_give(void *run, size_t count, bool dirty);

/* Slices in use that hold no memory: they are counted as if they were not in use, so that
 * they let no freed memory stay; and again, before they are given. */
void nc_arena_uncount(size_t count);
void nc_arena_recount(size_t count);

/* Unmap the arenas that nothing uses: the system refused more address space.
 * False: there was none. */
bool nc_arena_shrink(void);

/* What the page map says of a run. */
void nc_arena_publish(void *run, size_t count, const void *page);

struct nc_arena_figures {
	size_t reserved_bytes, used_bytes, dirty_bytes;
};
void nc_arena_figures_locked(struct nc_arena_figures *out);
/* Give all kept memory to the system. */
void nc_arena_trim(void);
/* Call visit for every used slice run's page in address order; the core lock
 * is held. The page is what the page map says. */
void nc_arena_walk_locked(void (*visit)(void *page, void *with), void *with);

#endif

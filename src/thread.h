/* Threads: who has which heap, from first use through exit and fork.
 *
 * Owns: the list of heaps, and the thread's word. Locks: nc_core_lock for the
 * list; the late lock for the heap of threads that are past their exit.
 */
#ifndef NC_THREAD_H
#define NC_THREAD_H

#include "heap.h"

/* The calling thread's heap; made on first use. NULL when there is no memory,
 * or when the thread is past its exit: then use nc_heap_late_take. */
struct nc_heap *nc_heap_enter(void);
/* The heap shared by threads that are past their exit; NULL: no memory. Held
 * until nc_heap_late_give, which is called in either case. */
struct nc_heap *nc_heap_late_take(void);
void nc_heap_late_give(void);

/* In a fork's child: pages of threads that are gone go to the abandoned lists,
 * before any thread there can have to do with them: called where a class runs
 * dry and at every free that is not the owner's. Once; otherwise nothing. */
void nc_heap_reap_slow(void);
/* The calling thread's heap, if no other thread has one; else NULL. Takes no lock. */
struct nc_heap *nc_heap_only(void);
/* Count of heaps that threads have; the core lock is held. */
size_t nc_heap_count_locked(void);

#endif

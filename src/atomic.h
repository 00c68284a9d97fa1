/* The atomic operations that nacre uses: at most pointer size, with the order
 * in the name. Fields that another thread may write begin with x_ and are
 * touched only through these (docs/concurrency.md lists them).
 */
#ifndef NC_ATOMIC_H
#define NC_ATOMIC_H

#include "base.h"

#define nc_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define nc_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define nc_load_seq(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define nc_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define nc_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define nc_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define nc_fetch_add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)

/* Stores before it are done before those after it, as a signal handler of the thread sees
 * them. No instruction. */
#define nc_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Compare and swap; *expected gets what was found on failure. */
NC_INLINE bool nc_cas(uintptr_t *p, uintptr_t *expected, uintptr_t desired)
{
	return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,
	                                   __ATOMIC_SEQ_CST);
}

#endif

/* The whole contract with the host: memory, guards, entropy, identity of the
 * thread, a lock, writing a line and dying.
 *
 * Owns: every system call and every libc symbol that the core uses.
 * Does not own: who holds which lock.
 * errno: functions here may change it; the core's entry points restore it
 * where the interface demands.
 */
#ifndef NC_PORT_H
#define NC_PORT_H

#include "port_self.h"

/* Bytes in a page of the system's memory; set by nc_port_init. */
extern NC_HIDDEN size_t nc_os_page;

/* Must be called once before the other functions; more often is harmless. */
void nc_port_init(void);

/* Fresh zeroed private memory, or NULL. bytes is a multiple of nc_os_page. */
void *nc_port_map(size_t bytes);
/* The same without huge pages, which would make small heaps big; but only once
 * nc_port_no_huge was called, before it is touched. A guard made in between
 * may spare that a system call. */
void *nc_port_map_small(size_t bytes);
void nc_port_no_huge(void *p, size_t bytes);
/* Returns false when the system refuses (it may: a hole can need a mapping). */
bool nc_port_unmap(void *p, size_t bytes);
/* What an inaccessible range is made by: nothing (it is accessible), a mark of the
 * kernel's, or a mapping of its own, of which there is a bounded number. */
enum nc_guard { NC_GUARD_NONE, NC_GUARD_MARK, NC_GUARD_MAPPING };
enum nc_guard nc_port_guard(void *p, size_t bytes);
/* Make it accessible again; the content may be gone or not. False: it stays. */
bool nc_port_unguard(void *p, size_t bytes, enum nc_guard kind);
/* It was unmapped with what it guarded. */
void nc_port_guard_gone(enum nc_guard kind);
/* Guards that the system did not give since the start. */
size_t nc_port_guards_dropped(void);
/* Give the memory back and keep the address range: reads as zero if true is
 * returned, and keeps its content otherwise. */
bool nc_port_purge(void *p, size_t bytes);
/* Whole system pages of [p, p + bytes) get memory at once, where the system has a
 * call for that: cheaper than a fault for each. */
void nc_port_populate(void *p, size_t bytes);
/* Move the pages of [from, from + bytes) to `to`, where a mapping of at least
 * to_bytes is replaced; the old range is gone. False: nothing changed. */
bool nc_port_move(void *from, size_t bytes, void *to, size_t to_bytes);

/* Fill buf with random bytes; never fails (a weak source is used last). */
void nc_port_entropy(void *buf, size_t bytes);

/* Write to a descriptor, in full where it can be; no errors. */
void nc_port_write(int fd, const char *s, size_t bytes);
NC_NORETURN void nc_port_abort(void);
/* True when the first three descriptors are worth writing to. */
int nc_port_report_fd(void);

/* A lock that sleeps in the kernel when it is held; zero is unlocked. Around a
 * fork the forking thread lends it to itself: fork handlers of others, which
 * run while our own hold it, may allocate. */
struct nc_lock {
	uint32_t x_state;     /* 0 free, 1 held, 2 held and somebody sleeps */
	uint32_t depth;       /* takes by the borrower, under the lock */
	uintptr_t x_borrower; /* the forking thread, else 0 */
};

void nc_lock_take_slow(struct nc_lock *lock);
void nc_lock_give_slow(struct nc_lock *lock);
/* Take for a fork, and give afterwards in the parent. */
void nc_lock_take_for_fork(struct nc_lock *lock);
void nc_lock_give_after_fork(struct nc_lock *lock);
/* In the child, where nobody else holds it or waits for it. */
void nc_lock_init(struct nc_lock *lock);
/* The process is a fork's child; called before anything else there. */
void nc_port_forked(void);
/* Whose the heap is: set in a fork's child, known from the second thread on. By it a
 * child that was made without fork knows that a lock's holder is not here. */
void nc_port_process_set(void);
void nc_port_process_known(void);
bool nc_port_process_is(uint32_t pid);

NC_INLINE void nc_lock_take(struct nc_lock *lock)
{
	uint32_t free_state = 0;

	if (!__atomic_compare_exchange_n(&lock->x_state, &free_state, 1, false,
	                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		nc_lock_take_slow(lock);
}

NC_INLINE void nc_lock_give(struct nc_lock *lock)
{
	if (nc_load_relaxed(&lock->x_borrower) ||
	    __atomic_exchange_n(&lock->x_state, 0, __ATOMIC_RELEASE) == 2)
		nc_lock_give_slow(lock);
}

/* The calling thread as the kernel names it. */
uint32_t nc_port_tid(void);
/* Whether no thread of the process has that name. The process is what
 * nc_port_tids_hold said: 0 in a child that was made without fork, where the names
 * are the parent's, and where every thread's end is told; then do not ask. */
uint32_t nc_port_tids_hold(void);
bool nc_port_tid_gone(uint32_t process, uint32_t tid);

/* Have nc_heap_thread_exit(self) called when the calling thread ends, if that can
 * be; not for a self of 0. May allocate: call it with a working heap and no lock
 * held. */
void nc_port_thread_register(uintptr_t self);
/* Have nc_heap_fork_prepare, _parent and _child called around fork. The earlier
 * this is done, the later come our own: after the handlers of others, which may
 * wait for threads that allocate. */
void nc_port_fork_register(void);

#endif

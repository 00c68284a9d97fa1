/* The thread, inside libc: its word lies in musl's thread structure, one load
 * away. The first thread's structure moves once, when the program starts, and is
 * zeroed then.
 */
#ifndef NC_PORT_SELF_H
#define NC_PORT_SELF_H

#include "pthread_impl.h"

#include "atomic.h"

/* libc calls after the last destructor. */
#define NC_EXIT_ROUNDS 0
#define NC_FIRST_THREAD_MOVES 1

/* The thread's word: 0 until it is set, in every thread. */
NC_INLINE uintptr_t nc_port_self_get(void)
{
#if defined(__x86_64__)
	uintptr_t word;

	/* Volatile: it changes with nc_port_self_set. */
	__asm__ volatile("mov %%fs:%c1, %0"
	                 : "=r"(word)
	                 : "i"(offsetof(struct pthread, malloc_tls)));
	return word;
#else
	return (uintptr_t)__pthread_self()->malloc_tls;
#endif
}

NC_INLINE void nc_port_self_set(uintptr_t self)
{
	__pthread_self()->malloc_tls = (void *)self;
}

/* A number, not 0, that no other living thread has; a later one may have it. */
NC_INLINE uintptr_t nc_port_thread(void)
{
	return (uintptr_t)__pthread_self()->tid;
}

/* Whether the calling thread is the process's first one, of this tid, that lost
 * its word: that happens while it is alone. */
NC_INLINE bool nc_port_is_again(uint32_t tid)
{
	return tid == (uint32_t)__pthread_self()->tid && !libc.threads_minus_1;
}

/* Differs in a fork's child from what it was in the parent: fork does not tell
 * in a process with one thread. */
NC_INLINE uint32_t nc_port_fork_mark(void)
{
	return (uint32_t)__pthread_self()->tid;
}

#endif

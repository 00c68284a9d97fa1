/* The thread, as a POSIX libc's program has it: a word of its own in thread-local
 * storage. Inside libc another file of this name takes its place.
 *
 * Owns: the thread's word and name, the mark of the process.
 */
#ifndef NC_PORT_SELF_H
#define NC_PORT_SELF_H

#include "atomic.h"

/* Rounds of thread-exit destructors before a heap is handed over, so that the
 * destructors of others, which free and allocate, find it. POSIX promises four
 * rounds; the hand-over is in the one after these. The thread sanitizer ends
 * its own part of a thread in the fourth. */
#if defined(__SANITIZE_THREAD__)
#define NC_EXIT_ROUNDS 2
#else
#define NC_EXIT_ROUNDS 3
#endif

/* 1 where the first thread may lose its word before the program starts. */
#define NC_FIRST_THREAD_MOVES 0

#ifndef NC_PORT_TLS_MODEL
#define NC_PORT_TLS_MODEL "initial-exec"
#endif
extern NC_HIDDEN __thread uintptr_t nc_port_self
	__attribute__((tls_model(NC_PORT_TLS_MODEL)));
extern NC_HIDDEN uint32_t x_nc_port_forks;

/* The thread's word: 0 until it is set, in every thread. */
NC_INLINE uintptr_t nc_port_self_get(void)
{
	return nc_port_self;
}

NC_INLINE void nc_port_self_set(uintptr_t self)
{
	nc_port_self = self;
}

/* A number, not 0, that no other living thread has; a later one may have it. */
NC_INLINE uintptr_t nc_port_thread(void)
{
	return (uintptr_t)&nc_port_self;
}

/* Whether the calling thread is the process's first one, of this tid, that lost
 * its word. */
NC_INLINE bool nc_port_is_again(uint32_t tid)
{
	(void)tid;
	return false;
}

/* Differs in a fork's child from what it was in the parent. */
NC_INLINE uint32_t nc_port_fork_mark(void)
{
	return nc_load_relaxed(&x_nc_port_forks);
}

#endif
